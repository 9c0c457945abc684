"""What every cell of this package can do: compute one time step by itself.

In a recurrent layer a cell is only a part, whose `call(inputs, states)` the loop uses. By itself it
can be called like a layer: `cell(x, [h, c])` returns `(output, [new_h, new_c])`.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError
from kerascope.layers.recurrent_arguments import check_states, sizes_of_states


class OneStep(Layer):
    """Base of cells that can be called on an input and states."""

    _is_part = True

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute one time step.

        Parameters
        ----------
        inputs : Tensor or array_like, shape (batch, features)
        *args, **kwargs
            The states, a list of tensors or arrays, then what `call` takes: `training`.

        Returns
        -------
        output : Tensor or np.ndarray
        states : list of Tensor or of np.ndarray
        """
        states = args[0] if args else kwargs.pop("states", None)
        if states is None:
            return super().__call__(inputs, **kwargs)
        # In one list, so that a Node knows the states as inputs too.
        output, *new_states = super().__call__([inputs, *to_list(states)], **kwargs)
        return output, new_states

    def flat_step(self, inputs: Any, training: Any = None) -> list[Any]:
        """Return `[output, *new_states]`, for `[inputs, *states]`.

        Raises
        ------
        ArgumentError
            There are no states, or not as many as the cell has.
        """
        inputs, *states = to_list(inputs)
        if not states:
            raise ArgumentError(
                f"{self.label}: is a cell, which computes one time step from an input and states; "
                f"got no states. Call cell(x, [h, ...]); for a sequence make a layer of it, "
                "RNN(cell).",
                subject=self,
            )
        check_states(self, states, sizes_of_states(self))
        output, new_states = self.call(inputs, states, training=training)
        return [output, *[K.identity(y) if y is output else y for y in new_states]]
