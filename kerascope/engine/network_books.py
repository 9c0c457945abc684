"""The losses, updates and weights of a network: those of its layers, inside its own graph.

A layer that is shared with another model has made losses and updates there too; only the calls that
lie in this graph count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.at_once import reset_together
from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.state import batch_get_value, batch_set_value
from kerascope.engine.nesting import to_list
from kerascope.engine.network_facts import NetworkFacts
from kerascope.engine.per_input import PerInput
from kerascope.errors import ArgumentError

_WHOLE = {
    "get_losses_for": "losses",
    "get_updates_for": "updates",
    "get_state_updates_for": "state_updates",
}


class Runs(dict[Any, list[Any]]):
    """What came out of a network for inputs on which it was run, in the order of the runs."""

    def forget_after(self, number: int) -> None:
        """Take out all that came after the first `number` runs."""
        while len(self) > number:
            self.popitem()


class NetworkBooks(NetworkFacts):
    """The part of `Network` that collects penalties, update pairs and weights."""

    _is_part = True
    _output_tensor_cache: Runs
    _output_mask_cache: Runs

    @property
    def _books(self) -> tuple[Any, ...]:
        if not self._is_graph_network:
            return super()._books
        return (*super()._books, self._output_tensor_cache, self._output_mask_cache)

    @property
    def losses(self) -> list[Tensor]:
        """Penalties of the layers, as far as they belong to this graph's own calls."""
        return self._collected("get_losses_for", self._losses)

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """Update pairs of the layers, as far as they belong to this graph's own calls."""
        if not self.trainable:
            return self.state_updates
        return self._collected("get_updates_for", self._updates)

    @property
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """Those update pairs of the graph's own calls that carry a state from batch to batch."""
        return self._collected("get_state_updates_for", PerInput())

    def get_losses_for(self, inputs: Any = None) -> list[Tensor]:
        """Return the penalties for exactly these inputs; None gives the unconditional ones."""
        return self._items_for(inputs, "get_losses_for", self._losses)

    def get_updates_for(self, inputs: Any = None) -> list[tuple[Variable, Any]]:
        """Return the update pairs for exactly these inputs; None gives the unconditional ones."""
        if not self.trainable:
            return self.get_state_updates_for(inputs)
        return self._items_for(inputs, "get_updates_for", self._updates)

    def get_state_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return those of `state_updates` for exactly these inputs."""
        return self._items_for(inputs, "get_state_updates_for", PerInput())

    def _collected(self, getter: str, own: PerInput) -> list[Any]:
        """Collect over this graph's calls, then what holds for every call, then the own items."""
        if not self._is_graph_network:
            whole = _WHOLE[getter]
            return own.all() + [item for layer in self._sublayers for item in getattr(layer, whole)]
        found = self._of_own_calls(getter) + self._items_for(None, getter, own)
        # Two calls on one tensor share its entry: what they made must not count twice.
        unique = {id(item): item for item in [*found, *own.of(self.inputs)]}
        return list(unique.values())

    def _of_own_calls(self, getter: str) -> list[Any]:
        nodes = [node for node in self.graph_map.nodes_in_decreasing_depth if not node.is_input]
        return [
            item
            for node in nodes
            for item in getattr(node.outbound_layer, getter)(node.input_tensors)
        ]

    def _items_for(self, inputs: Any, getter: str, own: PerInput) -> list[Any]:
        if self._is_graph_network and inputs is not None and to_list(inputs) == self.inputs:
            return own.of(inputs) + self._of_own_calls(getter)
        return own.of(inputs) + self._of_inner_layers(getter, inputs)

    @property
    def uses_learning_phase(self) -> bool:
        """Tell whether an output differs between training and test."""
        return any(x._uses_learning_phase for x in self.outputs)

    @property
    def stateful(self) -> bool:
        """Whether a layer, however deep inside, keeps a state from batch to batch."""
        return self._is_stateful or any(layer.stateful for layer in self._sublayers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        self._is_stateful = bool(value)

    def reset_states(self) -> None:
        """Reset the states of all stateful layers, of those in networks inside too."""
        reset_together(self._resets_inside(), "reset_states")

    def _resets_inside(self) -> list[Any]:
        stateful = [layer for layer in self._sublayers if layer.stateful]
        return [layer for layer in stateful if hasattr(layer, "reset_states")]

    # --- weights, layer by layer ------------------------------------------------------------------

    def get_weights(self) -> list[np.ndarray]:
        """Return the numbers of all weights, layer by layer."""
        return batch_get_value(self._weights_by_layer())

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the numbers of all weights, given layer by layer; or raise and replace none."""
        own = self._weights_by_layer()
        if len(weights) != len(own):
            raise ArgumentError(
                f"{self.label}: set_weights got {len(weights)} arrays; expected {len(own)}.",
                subject=self,
            )
        batch_set_value(zip(own, weights, strict=True))

    def _weights_by_layer(self) -> list[Variable]:
        by_layer = [w for layer in self._sublayers for w in layer.weights]
        return list(dict.fromkeys([*by_layer, *self.weights]))
