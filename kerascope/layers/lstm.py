"""LSTM: a recurrent layer with a memory that three gates guard.

S. Hochreiter, J. Schmidhuber: Long short-term memory. Neural Computation 9 (1997).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import activations
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.layers.gates import NO_MASKS, DropoutMasks, GatedCell, StepResult
from kerascope.layers.layer_of_cell import LayerOfCell
from kerascope.spellings import default_by_dialect


class LSTMCell(GatedCell):
    """One time step of an LSTM.

    Parameters
    ----------
    units : int
        Size of the output and of the memory.
    activation : str or callable
        Of the candidates for the memory, and of the memory when it is shown.
    recurrent_activation : str or callable
        Of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        First values of the weights.
    unit_forget_bias : bool
        Whether the bias of the forget gate begins at 1, so that at first little is forgotten.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    dropout, recurrent_dropout : float
        Shares of the features, and of the state, that are dropped in training.
    implementation : {1, 2}
        With 1 each gate has dropout masks of its own, with 2 all gates share them. Without dropout
        there is no difference. (0, an old value, is taken as 1.)
    **kwargs
        As for `Layer`.

    Notes
    -----
    Four gates, whose matrices stand side by side in `kernel`, `recurrent_kernel` and `bias` in the
    order i, f, c, o. With a_g = dot(inputs, kernel_g) + dot(h, recurrent_kernel_g) + bias_g:

        i = recurrent_activation(a_i)       input gate: how much of the candidate is written
        f = recurrent_activation(a_f)       forget gate: how much of the memory is kept
        c = f * c + i * activation(a_c)     the new memory
        o = recurrent_activation(a_o)       output gate: how much of the memory is shown
        h = o * activation(c)               the output; the states are [h, c]
    """

    gates = 4

    @default_by_dialect
    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
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
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = bool(unit_forget_bias)
        self.implementation = implementation or 1
        self.state_size = (self.units, self.units)

    def first_bias(self, shape: Shape, dtype: str | None = None) -> Any:
        """Return the first values of `bias`; with `unit_forget_bias` ones for the forget gate."""
        first = np.array(self.bias_initializer(shape, dtype=dtype))
        if self.unit_forget_bias:
            first[self.units : 2 * self.units] = 1
        return first

    def step(
        self, projected: Tensor, states: list[Tensor], masks: DropoutMasks = NO_MASKS
    ) -> StepResult:
        """Return the output h and the new states [h, c]."""
        h, c = states
        sums = projected + self.product(h, self.recurrent_kernel, masks.states)
        stacked = self.stacked_gates(sums, 4)
        i, f, _, o = self.opened(stacked, 4)
        c = f * c + i * self.activation(stacked[2])
        h = o * self.activation(c)
        return h, [h, c]


class LSTM(LayerOfCell):
    """Long short-term memory: what is kept, forgotten and shown is decided by gates.

    Parameters
    ----------
    units : int
        Size of the output and of the memory.
    activation : str or callable
        Of the candidates for the memory, and of the memory when it is shown.
    recurrent_activation : str or callable
        Of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        First values of the weights.
    unit_forget_bias : bool
        Whether the bias of the forget gate begins at 1, so that at first little is forgotten.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        What the optimizer applies to each new value.
    dropout, recurrent_dropout : float
        Shares of the features, and of the state, that are dropped in training, the same ones in
        all time steps of a call.
    implementation : {1, 2}
        With 1 each gate has dropout masks of its own, with 2 all gates share them. Without dropout
        there is no difference. (0, an old value, is taken as 1.)
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units); the formulas are
    those of `LSTMCell`. The states are h, which is the output, and the memory c.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = LSTM(32, return_state=True)
    >>> [y.shape for y in layer(Input(shape=(10, 8)))]
    [(None, 32), (None, 32), (None, 32)]
    >>> [(w.name.split("/")[-1], w.shape) for w in layer.weights]
    [('kernel', (8, 128)), ('recurrent_kernel', (32, 128)), ('bias', (128,))]
    """

    @default_by_dialect
    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = LSTMCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            **self.cell_keywords(kwargs),
        )
        loop = (return_sequences, return_state, go_backwards, stateful, unroll)
        super().__init__(cell, *loop, activity_regularizer=activity_regularizer, **kwargs)
