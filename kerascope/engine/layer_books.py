"""The losses and updates of a layer, each under the call that it belongs to.

A penalty on a weight holds whatever the layer is called on; the moving averages of
BatchNormalization belong to one call. See `per_input.py`.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.eager import is_eager, value_of
from kerascope.backend.graph import Tensor, Variable
from kerascope.engine.nesting import to_list
from kerascope.engine.node_access import NodeAccess
from kerascope.engine.per_input import PerInput


class LayerBooks(NodeAccess):
    """The part of `Layer` that keeps penalties and update pairs."""

    trainable: bool
    stateful: bool
    _losses: PerInput
    _updates: PerInput

    @property
    def _sublayers(self) -> list[Any]:
        """Layers that this one holds as attributes, alone or in lists and dicts."""
        found: dict[Any, None] = {}
        for value in vars(self).values():
            items = value.values() if isinstance(value, dict) else value
            for item in (
                items if isinstance(items, (list, tuple)) or items is not value else [items]
            ):
                if isinstance(item, LayerBooks) and item is not self:
                    found[item] = None
        return list(found)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar penalties; those that depend on `inputs` belong to the call on them."""
        self._losses.add(losses, inputs)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add pairs `(variable, new_value)`, run with each train step that contains this call."""
        pairs = [updates] if isinstance(updates, tuple) else to_list(updates)
        if is_eager():
            _commit_at_once(pairs)
        else:
            self._updates.add(pairs, inputs)

    @property
    def losses(self) -> list[Tensor]:
        """All penalties of the layer and of layers inside it."""
        return self._losses.all() + [loss for layer in self._sublayers for loss in layer.losses]

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """All update pairs of the layer; none when it is frozen."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates.all() + [pair for layer in self._sublayers for pair in layer.updates]

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """Return the penalties for exactly these inputs; None gives the unconditional ones."""
        return self._losses.of(inputs) + [
            loss for layer in self._sublayers for loss in layer.get_losses_for(inputs)
        ]

    def get_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return the update pairs for exactly these inputs; None gives the unconditional ones."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates.of(inputs) + [
            pair for layer in self._sublayers for pair in layer.get_updates_for(inputs)
        ]

    @property
    def uses_learning_phase(self) -> bool:
        """Tell whether an output differs between training and test."""
        return any(
            y._uses_learning_phase for node in self.inbound_nodes for y in node.output_tensors
        )


def _commit_at_once(updates: list[Any]) -> None:
    """Write update pairs at once; new values are computed before any is written."""
    computed = [(v, value_of(nv)) for v, nv in updates]
    for v, array in computed:
        v.set_value(array)
