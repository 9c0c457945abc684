"""The states of a recurrent layer from batch to batch: the part of `RNN` that keeps them.

A stateful layer takes each batch as the continuation of the one before: sample i of a batch goes on
where sample i of the last batch ended. Its states are variables; every run of the model updates
them, and `reset_states` sets them back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.eager import graph_mode
from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape
from kerascope.engine.arguments import accepts, to_list
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.recurrent_arguments import sizes_of_states
from kerascope.limits import current_budget


class KeepsStates(Layer):
    """The part of `RNN` that knows where the first states of a batch come from."""

    _is_part = True

    cell: Any
    states: list[Variable | None]

    def shapes_of_states(self, input_shape: Shape) -> list[Shape]:
        """Return the shape of a sample of each state, for a sequence of this shape."""
        return sizes_of_states(self.cell)

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """Return zeros for each state, one row for each sample of `inputs`."""
        own = getattr(self.cell, "get_initial_state", None)
        if own is not None:  # whose arguments differ from one Keras to the next
            known = {"inputs": inputs, "batch_size": K.shape(inputs)[0], "dtype": K.dtype(inputs)}
            return to_list(own(**{name: v for name, v in known.items() if accepts(own, name)}))
        first_numbers = K.zeros_like(inputs[:, :1, :1])
        zeros = K.sum(first_numbers, axis=(1, 2))
        return [self._repeated(zeros, size) for size in sizes_of_states(self.cell)]

    @staticmethod
    def _repeated(zeros: Tensor, size: Shape) -> Tensor:
        """Return a vector, (batch,), as (batch, *size)."""
        for _ in size:
            zeros = K.expand_dims(zeros, -1)
        return K.tile(zeros, (1, *size))

    def first_states(self, sequence: Tensor) -> list[Any]:
        """Return the states that a batch begins with, if the call gives none.

        Raises
        ------
        ShapeError
            The layer is stateful and the batch is not as large as those before.
        """
        if not self.stateful:
            return self.get_initial_state(sequence)
        state = self.states[0]
        if state is None:
            self.make_states(sequence.shape)
        elif sequence.shape[0] not in (None, state.shape[0]):
            raise ShapeError(
                f"{self.label}: is stateful for batches of {state.shape[0]} samples; "
                f"{sequence.shape[0]} came. Pass a number of samples that its batch size divides.",
                subject=self,
            )
        return list(self.states)

    def make_states(self, input_shape: Shape) -> None:
        """Make the variables of the states, all 0.

        Raises
        ------
        ShapeError
            The batch size is not known.
        """
        if input_shape[0] is None:
            raise ShapeError(
                f"{self.label}: If a RNN is stateful, it needs to know its batch size; input has "
                f"shape {input_shape}. Give batch_input_shape=(batch, time, features) to the first "
                "layer, or Input(batch_shape=...).",
                subject=self,
            )
        shapes = [(input_shape[0], *size) for size in self.shapes_of_states(input_shape)]
        with graph_mode():
            self.states = [
                K.variable(self._zeros(shape, index), self.dtype, f"{self.name}/state_{index}")
                for index, shape in enumerate(shapes)
            ]

    def _zeros(self, shape: Shape, index: int) -> np.ndarray:
        budget = current_budget() or self._budget
        if budget is not None:
            budget.take_numbers(shape, f"a state {index} in {self.label}")
        return np.zeros([size or 0 for size in shape])

    def reset_states(self, states: Any = None) -> None:
        """Set the states of a stateful layer to 0, or to the arrays that are given.

        Parameters
        ----------
        states : np.ndarray or list of np.ndarray, optional
            One array for each state, of shape (batch, units).

        Raises
        ------
        ArgumentError
            The layer is not stateful, has not been called, or has another number of states.
        ShapeError
            An array has another shape than its state.
        """
        K.batch_set_value(self._resets(states))

    def _resets(self, states: Any = None) -> list[tuple[Variable, Any]]:
        """Return what each state becomes."""
        if not self.stateful:
            raise ArgumentError(
                f"{self.label}: Layer must be stateful to reset its states. Make it with "
                "stateful=True.",
                subject=self,
            )
        variables = [state for state in self.states if state is not None]
        if len(variables) != len(self.states):
            if states is None:
                return []  # nothing was kept yet
            raise ArgumentError(
                f"{self.label}: has no states yet; expected to be called before states are set.",
                subject=self,
            )
        arrays = (
            [np.zeros_like(K.get_value(v)) for v in variables]
            if states is None
            else to_list(states)
        )
        if len(arrays) != len(variables):
            raise ArgumentError(
                f"{self.label}: reset_states got {len(arrays)} arrays; expected {len(variables)}, "
                f"one for each state.",
                subject=self,
            )
        return list(zip(variables, arrays, strict=True))
