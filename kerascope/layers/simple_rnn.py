"""SimpleRNN: the plainest recurrent layer, whose output is also its state."""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.layers.gates import NO_MASKS, DropoutMasks, GatedCell, StepResult
from kerascope.layers.layer_of_cell import LayerOfCell


class SimpleRNNCell(GatedCell):
    """One time step of a SimpleRNN.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Applied to the output.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        First values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    dropout, recurrent_dropout : float
        Shares of the features, and of the state, that are dropped in training.
    **kwargs
        As for `Layer`.

    Notes
    -----
        output = state = activation(dot(inputs, kernel) + dot(state, recurrent_kernel) + bias)

    with `kernel` of shape (features, units) and `recurrent_kernel` of shape (units, units).
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **kwargs,
        )

    def step(
        self, projected: Tensor, states: list[Tensor], masks: DropoutMasks = NO_MASKS
    ) -> StepResult:
        """Return the output, which is the new state too."""
        recurrent = self.product(states[0], self.recurrent_kernel, masks.states)
        output = self.activation(projected + recurrent)
        return output, [output]


class SimpleRNN(LayerOfCell):
    """The recurrent layer whose output goes back into it in the next time step.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Applied to the output.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        First values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    dropout, recurrent_dropout : float
        Shares of the features, and of the state, that are dropped in training, the same ones in
        all time steps of a call.
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units). In each step

        output = state = activation(dot(inputs, kernel) + dot(state, recurrent_kernel) + bias)

    Examples
    --------
    >>> import numpy as np
    >>> layer = SimpleRNN(1, activation="linear", kernel_initializer="ones",
    ...                   recurrent_initializer="ones", return_sequences=True)
    >>> layer(np.array([[[1.0], [2.0], [3.0]]])).tolist()
    [[[1.0], [3.0], [6.0]]]
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("implementation", None)  # Keras 1 has it for all recurrent layers
        cell = SimpleRNNCell(
            units,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **self.cell_keywords(kwargs),
        )
        loop = (return_sequences, return_state, go_backwards, stateful, unroll)
        super().__init__(cell, *loop, activity_regularizer=activity_regularizer, **kwargs)
