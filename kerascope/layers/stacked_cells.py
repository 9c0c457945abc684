"""StackedRNNCells: several cells as one, the output of each being the input of the next."""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.engine.arguments import accepts
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError
from kerascope.layers.inner_layers import build_inside
from kerascope.layers.one_step import OneStep
from kerascope.layers.recurrent_arguments import size_of_output, sizes_of_states
from kerascope.registry import custom_object_scope


class StackedRNNCells(OneStep):
    """Cells on top of each other: in each time step the output of one goes into the next.

    Parameters
    ----------
    cells : list of Layer or object
        The first one gets the input. Each has `call(inputs, states)` and `state_size`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A cell has no `call` or no `state_size`.

    Notes
    -----
    `RNN([LSTMCell(8), LSTMCell(4)])` makes the stack by itself. The states are listed from the last
    cell to the first, as in Keras 2: `[h2, c2, h1, c1]`, so that the first one is as large as the
    output.

    Examples
    --------
    >>> from kerascope.layers import GRUCell, LSTMCell
    >>> StackedRNNCells([LSTMCell(8), GRUCell(4)]).state_size
    (4, 8, 8)
    """

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)
        for cell in self.cells:
            for needed in ("call", "state_size"):
                if not hasattr(cell, needed):
                    raise ArgumentError(
                        f"{self.label}: cell {cell!r} has no attribute {needed!r}; expected "
                        f"objects with call(inputs, states) and state_size.",
                        subject=self,
                    )

    @property
    def state_size(self) -> tuple[Any, ...]:
        """Sizes of the states of all cells, from the last cell to the first."""
        sizes: list[Any] = []
        for cell in reversed(self.cells):
            sizes += cell.state_size if isinstance(cell.state_size, (list, tuple)) else []
            sizes += [] if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
        return tuple(sizes)

    @property
    def output_size(self) -> Any:
        """Size of the output of the last cell."""
        size = size_of_output(self.cells[-1])
        return size[0] if len(size) == 1 else size

    def build(self, input_shape: Any) -> None:
        """Make the weights of each cell, for what the cell before it gives."""
        several = isinstance(input_shape, list)
        shape, constants = (input_shape[0], input_shape[1:]) if several else (input_shape, [])
        for cell in self.cells:
            takes_constants = constants and accepts(cell.call, "constants")
            build_inside(cell, [shape, *constants] if takes_constants else shape)
            shape = (shape[0], *size_of_output(cell))
        self.built = True

    def call(
        self,
        inputs: Any,
        states: list[Tensor] | None = None,
        training: Any = None,
        constants: Any = None,
        masks: Any = None,
    ) -> Any:
        """Compute one time step of every cell; the arguments are those of a cell's `call`."""
        if states is None:
            return self.flat_step(inputs, training)
        masks = self.dropout_masks(inputs, training) if masks is None else masks
        parts = self._parts(states)
        new_states: list[Tensor] = []
        for cell, own_states, own_masks in zip(self.cells, parts, masks, strict=True):
            known = {"training": training, "constants": constants, "masks": own_masks}
            keywords = {name: v for name, v in known.items() if accepts(cell.call, name)}
            inputs, own_new_states = cell.call(inputs, own_states, **keywords)
            new_states = [*own_new_states, *new_states]
        return inputs, new_states

    def _parts(self, states: list[Tensor]) -> list[list[Tensor]]:
        """Return the states of each cell, from the first cell to the last."""
        parts, rest = [], list(states)
        for cell in self.cells:
            first = len(rest) - len(sizes_of_states(cell))
            parts.append(rest[first:])
            rest = rest[:first]
        return parts

    def dropout_masks(self, inputs: Tensor, training: Any = None) -> list[Any]:
        """Draw the dropout masks of each cell; None for a cell that has none."""
        masks = []
        for cell in self.cells:
            draws = hasattr(cell, "dropout_masks")
            masks.append(cell.dropout_masks(inputs, training) if draws else None)
            if inputs.ndim == 2:
                inputs = K.tile(K.zeros_like(inputs[:, :1]), (1, *size_of_output(cell)))
        return masks

    def get_config(self) -> dict[str, Any]:
        """Return the configurations of the cells, ready for JSON."""
        cells = [layer_registry.serialize(cell) for cell in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> StackedRNNCells:
        """Make the stack from what `get_config` returned."""
        with custom_object_scope(custom_objects or {}):
            cells = [layer_registry.deserialize(cell) for cell in config["cells"]]
        return cls(**{**config, "cells": cells})
