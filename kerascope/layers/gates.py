"""What SimpleRNNCell, GRUCell and LSTMCell have in common: weights, dropout, two kinds of products.

A cell computes one time step. Its work has two parts: the product of the input with `kernel`, which
does not depend on the state, and the rest, which does. A recurrent layer does the first part for
all time steps at once, in one great product, and only the rest step by step. A cell with several
gates keeps their kernels side by side in one matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, Size
from kerascope.layers.arguments import positive_int, share
from kerascope.layers.one_step import OneStep
from kerascope.layers.recurrent_arguments import first_shape

StepResult = tuple[Tensor, list[Tensor]]  # the output of a step, and the new states

# Activations that act on each number by itself.
ELEMENTWISE = (
    activations.sigmoid,
    activations.hard_sigmoid,
    activations.hard_sigmoid_of_keras_3,
    activations.tanh,
    activations.relu,
)


class DropoutMasks(NamedTuple):
    """Factors for the inputs and for the state of a cell: for each gate, one for all, or None."""

    inputs: list[Tensor] | None
    states: list[Tensor] | None


NO_MASKS = DropoutMasks(None, None)


class GatedCell(OneStep):
    """Base of the cells of this package; a subclass says in `step` what happens in a time step.

    The arguments are those of the subclasses. `gates` is the number of matrices that stand side by
    side in `kernel` and in `recurrent_kernel`.
    """

    _is_part = True
    gates = 1
    implementation = 1
    recurrent_activation: Any = None  # of the gates, if there are several
    bias: Any = None
    channel_axis = -1  # where the numbers of the units lie in inputs and states

    def __init__(
        self,
        units: int,
        *,
        activation: Any,
        use_bias: bool,
        kernel_initializer: Any,
        recurrent_initializer: Any,
        bias_initializer: Any,
        kernel_regularizer: Any,
        recurrent_regularizer: Any,
        bias_regularizer: Any,
        kernel_constraint: Any,
        recurrent_constraint: Any,
        bias_constraint: Any,
        dropout: float,
        recurrent_dropout: float,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = positive_int(units, f"{self.label}: units")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout = share(dropout, f"{self.label}: dropout")
        self.recurrent_dropout = share(recurrent_dropout, f"{self.label}: recurrent_dropout")
        self.state_size: Any = self.units

    def build(self, input_shape: Any) -> None:
        """Make `kernel`, `recurrent_kernel` and `bias` for inputs of shape (batch, features)."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=self.kernel_shape(first_shape(input_shape)[-1]),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=self.kernel_shape(self.units),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=self.bias_shape,
                initializer=self.first_bias,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def kernel_shape(self, features: Size) -> Shape:
        """Return the shape of a kernel for inputs, or states, of so many features."""
        return (features, self.gates * self.units)

    @property
    def bias_shape(self) -> Shape:
        """Shape of `bias`: one number for each unit of each gate."""
        return (self.gates * self.units,)

    def first_bias(self, shape: Shape, dtype: str | None = None) -> Any:
        """Return the first values of `bias`."""
        return self.bias_initializer(shape, dtype=dtype)

    # --- a time step ------------------------------------------------------------------------------

    def call(
        self,
        inputs: Any,
        states: list[Tensor] | None = None,
        training: Any = None,
        masks: DropoutMasks | None = None,
    ) -> Any:
        """Compute one time step.

        Parameters
        ----------
        inputs : Tensor, shape (batch, features)
        states : list of Tensor, each of shape (batch, units)
            What the step before has left.
        training : bool or Tensor, optional
            Whether dropout acts; by default the learning phase says.
        masks : DropoutMasks, optional
            What `dropout_masks` returned; by default it is asked now.

        Returns
        -------
        output : Tensor, shape (batch, units)
        states : list of Tensor
        """
        if states is None:
            return self.flat_step(inputs, training)
        masks = self.dropout_masks(inputs, training) if masks is None else masks
        return self.step(self.project_inputs(inputs, masks), states, masks)

    def project_inputs(self, inputs: Tensor, masks: DropoutMasks = NO_MASKS) -> Tensor:
        """Return inputs · kernel + bias, of one time step or of all of them: (batch, ..., units).

        The shape of the inputs is (batch, features) or (batch, time, features).
        """
        projected = self.product(inputs, self.kernel, factors_for(inputs, masks.inputs))
        if not self.use_bias:
            return projected
        return K.bias_add(projected, self.input_bias, data_format="channels_last")

    @property
    def input_bias(self) -> Any:
        """The bias that is added to inputs · kernel."""
        return self.bias

    def step(
        self, projected: Tensor, states: list[Tensor], masks: DropoutMasks = NO_MASKS
    ) -> StepResult:
        """Return the output and the new states, from `project_inputs` of one time step."""
        raise NotImplementedError

    def product(
        self,
        x: Tensor,
        kernel: Tensor,
        factors: list[Tensor] | None,
        multiply: Callable[[Tensor, Tensor], Tensor] = K.dot,
    ) -> Tensor:
        """Return x · kernel; where each gate has dropout factors of its own, gate by gate."""
        if factors is None:
            return multiply(x, kernel)
        if len(factors) == 1:
            return multiply(x * factors[0], kernel)
        parts = zip(factors, split(kernel, len(factors), self.units), strict=True)
        return K.concatenate(
            [multiply(x * factor, part) for factor, part in parts], axis=self.channel_axis
        )

    def stacked_gates(self, x: Tensor, number: int) -> Any:
        """Return the parts of `x` that belong to so many gates: a list, or a tensor of all.

        In a tensor the gates are the first axis, so each lies in one piece when something is
        computed of it.
        """
        if x.ndim != 2:
            return split(x, number, self.units, self.channel_axis)
        parts = K.reshape(x, (-1, number, self.units))
        return K.permute_dimensions(parts, (1, 0, 2))

    def opened(self, stacked: Any, number: int) -> list[Tensor]:
        """Return the recurrent activation of stacked gates.

        One that acts on each number by itself takes all gates in one go.
        """
        activation: Any = self.recurrent_activation
        if isinstance(stacked, Tensor) and activation in ELEMENTWISE:
            stacked, activation = activation(stacked), activations.linear
        return [activation(stacked[gate]) for gate in range(number)]

    # --- dropout ----------------------------------------------------------------------------------

    def dropout_masks(self, inputs: Tensor, training: Any = None) -> DropoutMasks:
        """Draw which features and which states are dropped in all time steps of a call.

        Parameters
        ----------
        inputs : Tensor, shape (batch, features)
            Of any time step; only its shape counts.
        training : bool or Tensor, optional
        """
        return DropoutMasks(
            self._drawn(K.ones_like(inputs), self.dropout, training),
            self._drawn(self.zero_state(inputs) + 1, self.recurrent_dropout, training),
        )

    def zero_state(self, inputs: Tensor) -> Tensor:
        """Return zeros of a state's shape, for inputs of one time step."""
        return K.tile(K.zeros_like(inputs[:, :1]), (1, self.units))

    def _drawn(self, ones: Tensor, rate: float, training: Any) -> list[Tensor] | None:
        """Return factors: in training 0 for what is dropped, 1 / (1 - rate) else; in test 1."""
        if rate == 0:
            return None
        number = self.gates if self.implementation == 1 else 1
        return [
            K.in_train_phase(lambda: K.dropout(ones, rate), ones, training) for _ in range(number)
        ]


def split(x: Tensor, number: int, size: int, axis: int = -1) -> list[Tensor]:
    """Return parts of `x` along an axis, counted from behind, each of this size.

    Examples
    --------
    >>> [K.eval(part).tolist() for part in split(K.constant([[1, 2, 3, 4]]), 2, 2)]
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    """
    behind = [slice(None)] * (-axis - 1)
    return [x[(..., slice(i * size, (i + 1) * size), *behind)] for i in range(number)]


def factors_for(inputs: Tensor, factors: list[Tensor] | None) -> list[Tensor] | None:
    """Return dropout factors of a time step so that they fit one time step or all of them."""
    if factors is None or inputs.ndim == factors[0].ndim:
        return factors
    return [K.expand_dims(factor, 1) for factor in factors]
