"""The losses, updates and weights of a network: those of its layers, inside its own graph.

A layer that is shared with another model has made losses and updates there too; only the calls that
lie in this graph count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.state import batch_get_value, batch_set_value
from kerascope.engine.nesting import to_list
from kerascope.engine.network_facts import NetworkFacts
from kerascope.engine.per_input import PerInput
from kerascope.errors import ArgumentError


class NetworkBooks(NetworkFacts):
    """The part of `Network` that collects penalties, update pairs and weights."""

    _is_part = True

    @property
    def losses(self) -> list[Tensor]:
        """Penalties of the layers, as far as they belong to this graph's own calls."""
        return self._collected("get_losses_for", self._losses)

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """Update pairs of the layers, as far as they belong to this graph's own calls."""
        if not self.trainable and not self.stateful:
            return []
        return self._collected("get_updates_for", self._updates)

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """Return the penalties for exactly these inputs; None gives the unconditional ones."""
        return self._items_for(inputs, "get_losses_for", self._losses)

    def get_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return the update pairs for exactly these inputs; None gives the unconditional ones."""
        if not self.trainable and not self.stateful:
            return []
        return self._items_for(inputs, "get_updates_for", self._updates)

    def _collected(self, getter: str, own: PerInput) -> list[Any]:
        """Collect over this graph's calls, then what holds for every call, then the own items."""
        if not self._is_graph_network:
            whole = "losses" if getter == "get_losses_for" else "updates"
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
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """Update pairs of the stateful layers: they run in test mode too."""
        return [pair for layer in self._sublayers if layer.stateful for pair in layer.updates]

    def reset_states(self) -> None:
        """Reset the states of all stateful layers."""
        for layer in self._sublayers:
            if layer.stateful and hasattr(layer, "reset_states"):
                layer.reset_states()

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
