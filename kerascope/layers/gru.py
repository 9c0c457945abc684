"""GRU: a recurrent layer whose state is renewed in part, as a gate decides.

K. Cho et al.: Learning phrase representations using RNN encoder-decoder for statistical machine
translation. EMNLP 2014.
"""

from __future__ import annotations

from typing import Any

from kerascope import activations
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.layers.gates import NO_MASKS, DropoutMasks, GatedCell, StepResult
from kerascope.layers.layer_of_cell import LayerOfCell
from kerascope.spellings import default_by_dialect


class GRUCell(GatedCell):
    """One time step of a GRU.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Of the candidates for the state.
    recurrent_activation : str or callable
        Of the gates; in dialect "3" the default is "sigmoid".
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
    implementation : {1, 2}
        With 1 each gate has dropout masks of its own, with 2 all gates share them. Without dropout
        there is no difference. (0, an old value, is taken as 1.)
    reset_after : bool
        Where the reset gate acts: see the notes. In dialect "3" the default is True.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Three gates, whose matrices stand side by side in the order z, r, h:

        z = recurrent_activation(x_z + dot(h, recurrent_kernel_z))   update gate: what is kept
        r = recurrent_activation(x_r + dot(h, recurrent_kernel_r))   reset gate
        candidate = activation(x_h + dot(r * h, recurrent_kernel_h))
        h = z * h + (1 - z) * candidate                              output and state

    where x_g = dot(inputs, kernel_g) + bias_g. With `reset_after` the reset gate acts after the
    product, as in NVIDIA's cuDNN: candidate = activation(x_h + r * dot(h, recurrent_kernel_h)). The
    recurrent products then have biases of their own: `bias` is of shape (2, 3 * units).
    """

    gates = 3

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
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
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
        self.implementation = implementation or 1
        self.reset_after = bool(reset_after)

    @property
    def bias_shape(self) -> Shape:
        """Shape of `bias`: two rows if the recurrent products have a bias too."""
        width = 3 * self.units
        return (2, width) if self.reset_after else (width,)

    @property
    def input_bias(self) -> Any:
        """The bias that is added to inputs · kernel."""
        return self.bias[0] if self.reset_after else self.bias

    def step(
        self, projected: Tensor, states: list[Tensor], masks: DropoutMasks = NO_MASKS
    ) -> StepResult:
        """Return the output h and the new states [h]."""
        (h,) = states
        candidate_of = self._reset_after if self.reset_after else self._reset_before
        z, candidate = candidate_of(self._parted(projected), h, masks.states)
        h = z * h + (1 - z) * candidate
        return h, [h]

    def _reset_after(
        self, inputs: list[Tensor], h: Tensor, factors: list[Tensor] | None
    ) -> tuple[Tensor, Tensor]:
        """Return the update gate and the candidate; the reset gate acts on the product."""
        for_gates, for_candidate = inputs
        recurrent = self.product(h, self.recurrent_kernel, factors)
        recurrent = recurrent + self.bias[1] if self.use_bias else recurrent
        of_gates, of_candidate = self._parted(recurrent)
        z, r = self.opened(self.stacked_gates(for_gates + of_gates, 2), 2)
        return z, self.activation(for_candidate + r * of_candidate)

    def _reset_before(
        self, inputs: list[Tensor], h: Tensor, factors: list[Tensor] | None
    ) -> tuple[Tensor, Tensor]:
        """Return the update gate and the candidate; the reset gate acts on the state."""
        for_gates, for_candidate = inputs
        of_gates, of_candidate = self._parted(self.recurrent_kernel)
        two_factors, last_factor = (factors[:2], factors[-1:]) if factors else (None, None)
        sums = for_gates + self.product(h, of_gates, two_factors)
        z, r = self.opened(self.stacked_gates(sums, 2), 2)
        return z, self.activation(for_candidate + self.product(r * h, of_candidate, last_factor))

    def _parted(self, x: Tensor) -> list[Tensor]:
        """Return the columns of z and r, side by side, and those of the candidate."""
        both = 2 * self.units
        return [x[:, :both], x[:, both:]]


class GRU(LayerOfCell):
    """The gated recurrent unit: in each step a part of the state is replaced.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Of the candidates for the state.
    recurrent_activation : str or callable
        Of the gates; in dialect "3" the default is "sigmoid".
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
    implementation : {1, 2}
        With 1 each gate has dropout masks of its own, with 2 all gates share them. Without dropout
        there is no difference. (0, an old value, is taken as 1.)
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    reset_after : bool
        Where the reset gate acts: see the notes. In dialect "3" the default is True.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units); the formulas are
    those of `GRUCell`. The state is the output.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = GRU(4, reset_after=True, return_sequences=True)
    >>> layer(Input(shape=(None, 8))).shape
    (None, None, 4)
    >>> [(w.name.split("/")[-1], w.shape) for w in layer.weights]
    [('kernel', (8, 12)), ('recurrent_kernel', (4, 12)), ('bias', (2, 12))]
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
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = GRUCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
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
            implementation=implementation,
            reset_after=reset_after,
            **self.cell_keywords(kwargs),
        )
        loop = (return_sequences, return_state, go_backwards, stateful, unroll)
        super().__init__(cell, *loop, activity_regularizer=activity_regularizer, **kwargs)
