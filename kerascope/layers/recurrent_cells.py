"""Cells: the computation of one time step of a recurrent layer.

A cell has `call(inputs, states)`, which returns an output and the new states; `recurrent.py` has
the loop over time steps. SimpleRNNCell, GRUCell and LSTMCell compute a step in two parts. The first
part is the product of the input with `kernel`, which does not depend on the state. A recurrent
layer computes this part for all time steps at once, in one large product. The second part depends
on the state and is computed step by step. A cell with several gates keeps their kernels side by
side in one matrix.

The base class `GatedCell` contains weights, dropout, and the products with both kernels. The
formula of each cell is its method `step`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend import Tensor, Variable
from kerascope.backend.shapes import Shape, Shapes, Size
from kerascope.configurable import by_name
from kerascope.engine.arguments import accepts, to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.builders import make_layer
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import (
    Identifier,
    Tensors,
    Training,
    fraction,
    make_weight,
    positive_int,
)
from kerascope.layers.inner_layers import build_inside
from kerascope.registry import custom_object_scope
from kerascope.spellings import default_by_dialect, dialect_options

StepResult = tuple[Tensor, list[Tensor]]  # the output of a step, and the new states


class OneStep(Layer):
    """Base class of cells that can be called on an input and states."""

    _is_part = True

    def __call__(self, inputs: Tensors, *args: Any, **kwargs: Any) -> Any:
        """Return the output and the new states of one time step.

        Parameters
        ----------
        inputs : Tensor or array_like, shape (batch, features)
        *args, **kwargs
            The states, a list of tensors or arrays, then the other arguments of `call`: `training`.

        Returns
        -------
        output : Tensor or np.ndarray
        states : list of Tensor or of np.ndarray
        """
        states = args[0] if args else kwargs.pop("states", None)
        if states is None:
            return super().__call__(inputs, **kwargs)
        # Pass one list, so that the states are inputs of the Node too.
        output, *new_states = super().__call__([inputs, *to_list(states)], **kwargs)
        return output, new_states

    def flat_step(self, inputs: Tensors, training: Training = None) -> list[Any]:
        """Compute one time step for the list `[inputs, *states]`; return `[output, *new_states]`.

        Raises
        ------
        ArgumentError
            The number of states is 0, or is not the cell's number of states.
        """
        inputs, *states = to_list(inputs)
        if not states:
            raise ArgumentError(
                f"{self.label}: expected an input and states, since a cell computes one time step, "
                f"got no states. Call cell(x, [h, ...]). For a sequence, make a layer of it with "
                "RNN(cell).",
                subject=self,
            )
        check_states(self, states, sizes_of_states(self))
        output, new_states = self.call(inputs, states, training=training)
        return [output, *[K.identity(y) if y is output else y for y in new_states]]


# --- cells with gates -----------------------------------------------------------------------------

# Elementwise activations, which can be applied to all gates at once.
ELEMENTWISE = (
    activations.sigmoid,
    activations.hard_sigmoid,
    activations.hard_sigmoid_of_keras_2,
    activations.hard_sigmoid_of_keras_3,
    activations.tanh,
    activations.relu,
)


class DropoutMasks(NamedTuple):
    """Dropout factors of inputs and of states: a list with one tensor, or one for each gate.

    None replaces the list if there is no dropout.
    """

    inputs: list[Tensor] | None
    states: list[Tensor] | None


NO_MASKS = DropoutMasks(None, None)


class GatedCell(OneStep):
    """Base class of kerascope's cells; a subclass computes a time step in `step`.

    For the arguments see the subclasses. `gates` is the number of matrices side by side in `kernel`
    and in `recurrent_kernel`.
    """

    _is_part = True
    gates = 1
    gates_in_keras_1: tuple[int, ...] = ()  # Keras 1's order of the gates: the index of each here
    implementation: int
    recurrent_activation: activations.Activation  # of the gates, if there are several
    bias: Any = None
    channel_axis = -1  # the axis of the units in inputs and states

    def __init__(
        self,
        units: int,
        *,
        activation: Identifier,
        use_bias: bool,
        kernel_initializer: Identifier,
        recurrent_initializer: Identifier,
        bias_initializer: Identifier,
        kernel_regularizer: Identifier,
        recurrent_regularizer: Identifier,
        bias_regularizer: Identifier,
        kernel_constraint: Identifier,
        recurrent_constraint: Identifier,
        bias_constraint: Identifier,
        dropout: float,
        recurrent_dropout: float,
        recurrent_activation: Identifier = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = positive_int(units, f"{self.label}: units")
        self.activation = activations.get(activation)
        self.recurrent_activation = activations.get(recurrent_activation)
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
        self.dropout = fraction(dropout, f"{self.label}: dropout")
        self.recurrent_dropout = fraction(recurrent_dropout, f"{self.label}: recurrent_dropout")
        self.implementation = implementation or 1
        self.state_size: Any = self.units

    def build(self, input_shape: Shapes) -> None:
        """Make `kernel`, `recurrent_kernel` and `bias` for inputs of shape (batch, features)."""
        self.kernel = make_weight(self, "kernel", self.kernel_shape(first_shape(input_shape)[-1]))
        self.recurrent_kernel = make_weight(
            self, "recurrent_kernel", self.kernel_shape(self.units), of="recurrent"
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

    def add_weight(self, *args: Any, regularizer: Any = None, **kwargs: Any) -> Variable:
        """Make a weight. In dialect "1.2" each gate's part of the weight has its own penalty."""
        penalty: Any = regularizers.get(regularizer)
        is_packed = self.gates == 1 or self.implementation == 2 or not dialect_options().gates_apart

        def of_each_gate(weight: Variable) -> list[Any]:
            return [penalty(part) for part in split(weight, self.gates, self.units)]

        whole_or_parts = penalty if penalty is None or is_packed else of_each_gate
        return super().add_weight(*args, regularizer=whole_or_parts, **kwargs)

    def kernel_shape(self, features: Size) -> Shape:
        """Return the shape of a kernel for inputs with this number of features."""
        return (features, self.gates * self.units)

    @property
    def bias_shape(self) -> Shape:
        """Shape of `bias`: one number for each unit of each gate."""
        return (self.gates * self.units,)

    def first_bias(self, shape: Shape, dtype: str | None = None) -> Any:
        """Return the initial values of `bias`."""
        return self.bias_initializer(shape, dtype=dtype)

    # --- a time step ------------------------------------------------------------------------------

    def call(
        self,
        inputs: Any,
        states: list[Tensor] | None = None,
        training: Training = None,
        masks: DropoutMasks | None = None,
    ) -> Any:
        """Return the output and the new states of one time step.

        Parameters
        ----------
        inputs : Tensor, shape (batch, features)
        states : list of Tensor, each of shape (batch, units)
            The states after the previous step.
        training : bool or Tensor, optional
            Whether dropout acts; by default the learning phase decides.
        masks : DropoutMasks, optional
            The result of `dropout_masks`; by default, the call draws new masks.

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
        """Return inputs · kernel + bias, of shape (batch, ..., gates * units).

        The shape of the inputs is (batch, features) for one time step, or (batch, time, features).
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
        """Return the output and the new states of a time step, given inputs · kernel + bias."""
        raise NotImplementedError

    def product(
        self,
        x: Tensor,
        kernel: Tensor,
        factors: list[Tensor] | None,
        multiply: Callable[[Tensor, Tensor], Tensor] = K.dot,
    ) -> Tensor:
        """Return x · kernel, with x multiplied by dropout factors, which may differ by gate."""
        if factors is None:
            return multiply(x, kernel)
        if len(factors) == 1:
            return multiply(x * factors[0], kernel)
        parts = zip(factors, split(kernel, len(factors), self.units), strict=True)
        return K.concatenate(
            [multiply(x * factor, part) for factor, part in parts], axis=self.channel_axis
        )

    def stacked_gates(self, x: Tensor, number: int) -> Any:
        """Split the columns of `x` by gate; return a tensor with the gates along its first axis.

        So the numbers of each gate are contiguous in memory. If `x` does not have two axes, return
        a list with a tensor for each gate.
        """
        if x.ndim != 2:
            return split(x, number, self.units, self.channel_axis)
        return K.permute_dimensions(K.reshape(x, (-1, number, self.units)), (1, 0, 2))

    def opened(self, stacked: Any, number: int) -> list[Tensor]:
        """Apply the recurrent activation to the arguments of all gates; return a list of gates.

        An elementwise activation is applied to all gates at once.
        """
        activation = self.recurrent_activation
        if isinstance(stacked, Tensor) and activation in ELEMENTWISE:
            stacked, activation = activation(stacked), activations.linear
        return [activation(stacked[gate]) for gate in range(number)]

    # --- dropout ----------------------------------------------------------------------------------

    def dropout_masks(self, inputs: Tensor, training: Training = None) -> DropoutMasks:
        """Return random dropout masks of inputs and states, used in all time steps of a call.

        Parameters
        ----------
        inputs : Tensor, shape (batch, features)
            Inputs of any time step; only their shape and dtype are used.
        training : bool or Tensor, optional
            Whether dropout acts; by default the learning phase decides.
        """
        return DropoutMasks(
            self._draw_factors(K.ones_like(inputs), self.dropout, training),
            self._draw_factors(self.zero_state(inputs) + 1, self.recurrent_dropout, training),
        )

    def zero_state(self, inputs: Tensor) -> Tensor:
        """Return a state of zeros for each sample; `inputs` are the inputs of one time step."""
        return K.tile(K.zeros_like(inputs[:, :1]), (1, self.units))

    def _draw_factors(self, ones: Tensor, rate: float, training: Training) -> list[Tensor] | None:
        """Return dropout factors: 0 or 1 / (1 - rate) in training, 1 in test; None for rate 0."""
        if rate == 0:
            return None
        number = self.gates if self.implementation == 1 else 1
        return [
            K.in_train_phase(lambda: K.dropout(ones, rate), ones, training) for _ in range(number)
        ]


class SimpleRNNCell(GatedCell):
    """A cell that computes one time step of a SimpleRNN.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Applied to the output.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training.
    **kwargs
        As for `Layer`.

    Notes
    -----
    `output = state = activation(dot(inputs, kernel) + dot(state, recurrent_kernel) + bias)`

    with `kernel` of shape (features, units) and `recurrent_kernel` of shape (units, units).

    Examples
    --------
    With weights of 1 and no activation, the output is the sum of the inputs so far:

    >>> import numpy as np
    >>> from kerascope.layers import RNN
    >>> cell = SimpleRNNCell(1, "linear", kernel_initializer="ones", recurrent_initializer="ones")
    >>> RNN(cell, return_sequences=True)(np.array([[[1.0], [2.0], [3.0]]])).ravel().tolist()
    [1.0, 3.0, 6.0]
    """

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))

    def step(
        self, projected: Tensor, states: list[Tensor], masks: DropoutMasks = NO_MASKS
    ) -> StepResult:
        """Return the output, which is also the new state."""
        recurrent = self.product(states[0], self.recurrent_kernel, masks.states)
        output = self.activation(projected + recurrent)
        return output, [output]


class LSTMCell(GatedCell):
    """A cell that computes one time step of an LSTM.

    Parameters
    ----------
    units : int
        Size of the output and of the memory.
    activation : str or callable
        Activation of the candidates for the memory, and of the memory in the output.
    recurrent_activation : str or callable
        Activation of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    unit_forget_bias : bool
        Whether the bias of the forget gate starts at 1, so that little is forgotten at first.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training.
    implementation : {1, 2}
        With 1 each gate has its own dropout masks, with 2 all gates share them. Without dropout
        both values give the same result. (0, an old value, means 1.)
    **kwargs
        As for `Layer`.

    Notes
    -----
    Four gates, whose matrices are side by side in `kernel`, `recurrent_kernel` and `bias` in the
    order i, f, c, o. With a_g = dot(inputs, kernel_g) + dot(h, recurrent_kernel_g) + bias_g::

        i = recurrent_activation(a_i)       input gate: how much of the candidate is written
        f = recurrent_activation(a_f)       forget gate: how much of the memory is kept
        c = f * c + i * activation(a_c)     the new memory
        o = recurrent_activation(a_o)       output gate: how much of the memory is output
        h = o * activation(c)               the output; the states are [h, c]

    Examples
    --------
    >>> from kerascope.layers import RNN, Input
    >>> cell = LSTMCell(8)
    >>> RNN(cell)(Input((5, 3))).shape
    (None, 8)
    >>> cell.state_size, cell.kernel.shape  # [h, c]; four gates
    ((8, 8), (3, 32))
    """

    gates = 4
    gates_in_keras_1 = (0, 2, 1, 3)

    @default_by_dialect
    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "unit_forget_bias"))
        self.unit_forget_bias = bool(unit_forget_bias)
        self.state_size = (self.units, self.units)

    def first_bias(self, shape: Shape, dtype: str | None = None) -> Any:
        """Return the initial values of `bias`: with `unit_forget_bias`, 1 for the forget gate."""
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


class GRUCell(GatedCell):
    """A cell that computes one time step of a GRU.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Activation of the candidates for the state.
    recurrent_activation : str or callable
        Activation of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training.
    implementation : {1, 2}
        With 1 each gate has its own dropout masks, with 2 all gates share them. Without dropout
        both values give the same result. (0, an old value, means 1.)
    reset_after : bool
        Whether the reset gate acts after the product: see the notes. Default True in dialect "3".
    **kwargs
        As for `Layer`.

    Notes
    -----
    Three gates, whose matrices are side by side in the order z, r, h::

        z = recurrent_activation(x_z + dot(h, recurrent_kernel_z))   update gate: how much is kept
        r = recurrent_activation(x_r + dot(h, recurrent_kernel_r))   reset gate
        candidate = activation(x_h + dot(r * h, recurrent_kernel_h))
        h = z * h + (1 - z) * candidate                              output and state

    where x_g = dot(inputs, kernel_g) + bias_g. With `reset_after` the reset gate acts after the
    product, as in NVIDIA's cuDNN: candidate = activation(x_h + r * dot(h, recurrent_kernel_h)). The
    recurrent products then have biases of their own: `bias` is of shape (2, 3 * units).

    Examples
    --------
    >>> from kerascope.layers import RNN, Input
    >>> cell = GRUCell(8)
    >>> RNN(cell)(Input((5, 3))).shape
    (None, 8)
    >>> cell.state_size, cell.kernel.shape  # h alone; three gates
    (8, (3, 24))
    """

    gates = 3
    gates_in_keras_1 = (0, 1, 2)

    @default_by_dialect
    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "reset_after"))
        self.reset_after = bool(reset_after)

    @property
    def bias_shape(self) -> Shape:
        """Shape of `bias`. With `reset_after` it has a second row, for the recurrent products."""
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
        z, candidate = candidate_of(self._split_gates(projected), h, masks.states)
        h = z * h + (1 - z) * candidate
        return h, [h]

    def _reset_after(
        self, inputs: list[Tensor], h: Tensor, factors: list[Tensor] | None
    ) -> tuple[Tensor, Tensor]:
        """Return the update gate and the candidate; the reset gate acts after the product."""
        for_gates, for_candidate = inputs
        recurrent = self.product(h, self.recurrent_kernel, factors)
        recurrent = recurrent + self.bias[1] if self.use_bias else recurrent
        of_gates, of_candidate = self._split_gates(recurrent)
        z, r = self.opened(self.stacked_gates(for_gates + of_gates, 2), 2)
        return z, self.activation(for_candidate + r * of_candidate)

    def _reset_before(
        self, inputs: list[Tensor], h: Tensor, factors: list[Tensor] | None
    ) -> tuple[Tensor, Tensor]:
        """Return the update gate and the candidate; the reset gate acts before the product."""
        for_gates, for_candidate = inputs
        of_gates, of_candidate = self._split_gates(self.recurrent_kernel)
        two_factors, last_factor = (factors[:2], factors[-1:]) if factors else (None, None)
        sums = for_gates + self.product(h, of_gates, two_factors)
        z, r = self.opened(self.stacked_gates(sums, 2), 2)
        return z, self.activation(for_candidate + self.product(r * h, of_candidate, last_factor))

    def _split_gates(self, x: Tensor) -> list[Tensor]:
        """Return two parts of x: the columns of the gates z and r, and those of the candidate."""
        both = 2 * self.units
        return [x[:, :both], x[:, both:]]


def split(x: Tensor, number: int, size: int, axis: int = -1) -> list[Tensor]:
    """Return the first `number` parts of `x`, each of `size` entries along `axis` (negative).

    Examples
    --------
    >>> [K.eval(part).tolist() for part in split(K.constant([[1, 2, 3, 4]]), 2, 2)]
    [[[1.0, 2.0]], [[3.0, 4.0]]]
    """
    behind = [slice(None)] * (-axis - 1)
    return [x[(..., slice(i * size, (i + 1) * size), *behind)] for i in range(number)]


def factors_for(inputs: Tensor, factors: list[Tensor] | None) -> list[Tensor] | None:
    """Return dropout factors, with a time axis if the inputs have one; None without dropout."""
    if factors is None or inputs.ndim == factors[0].ndim:
        return factors
    return [K.expand_dims(factor, 1) for factor in factors]


# --- several cells as one -------------------------------------------------------------------------


class StackedRNNCells(OneStep):
    """A stack of cells: in each time step, the output of a cell is the input of the next cell.

    Parameters
    ----------
    cells : list of Layer or object
        The first cell receives the input. Each cell has `call(inputs, states)` and `state_size`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A cell has no `call` or no `state_size`.

    Notes
    -----
    `RNN([LSTMCell(8), LSTMCell(4)])` makes this stack automatically. The states are listed from the
    first cell to the last, as in Keras 2.2.4 and 3: `[h1, c1, h2, c2]`.

    Examples
    --------
    >>> from kerascope.layers import GRUCell, LSTMCell
    >>> StackedRNNCells([LSTMCell(8), GRUCell(4)]).state_size
    (8, 8, 4)
    """

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)
        for cell in self.cells:
            for needed in ("call", "state_size"):
                if not hasattr(cell, needed):
                    raise ArgumentError(
                        f"{self.label}: expected cells with call(inputs, states) and state_size, "
                        f"got {cell!r}, which has no {needed!r}.",
                        subject=self,
                    )

    @property
    def state_size(self) -> tuple[Any, ...]:
        """Sizes of the states of all cells, from the first cell to the last."""
        sizes: list[Any] = []
        for cell in self.cells:
            sizes += cell.state_size if isinstance(cell.state_size, (list, tuple)) else []
            sizes += [] if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
        return tuple(sizes)

    @property
    def output_size(self) -> Any:
        """Size of the output of the last cell."""
        size = size_of_output(self.cells[-1])
        return size[0] if len(size) == 1 else size

    def build(self, input_shape: Any) -> None:
        """Make the weights of each cell, for the output of the cell before it."""
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
        training: Training = None,
        constants: Tensors | None = None,
        masks: Any = None,
    ) -> Any:
        """Return the last cell's output, and all new states; arguments as for a cell's `call`."""
        if states is None:
            return self.flat_step(inputs, training)
        masks = self.dropout_masks(inputs, training) if masks is None else masks
        parts = self._parts(states)
        new_states: list[Tensor] = []
        for cell, own_states, own_masks in zip(self.cells, parts, masks, strict=True):
            known = {"training": training, "constants": constants, "masks": own_masks}
            keywords = {name: v for name, v in known.items() if accepts(cell.call, name)}
            inputs, own_new_states = cell.call(inputs, own_states, **keywords)
            new_states += own_new_states
        return inputs, new_states

    def _parts(self, states: list[Tensor]) -> list[list[Tensor]]:
        """Split the states of the stack into one list for each cell, from first to last."""
        parts, rest = [], list(states)
        for cell in self.cells:
            count = len(sizes_of_states(cell))
            parts.append(rest[:count])
            rest = rest[count:]
        return parts

    def dropout_masks(self, inputs: Tensor, training: Training = None) -> list[Any]:
        """Return the random dropout masks of each cell; None for a cell without dropout masks."""
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
        """Make the stack from the configuration that `get_config` returned."""
        with custom_object_scope(custom_objects or {}):
            cells = [make_layer(cell) for cell in config["cells"]]
        return cls(**{**config, "cells": cells})


# --- shapes and states of any cell ----------------------------------------------------------------


def first_shape(input_shape: Any) -> Shape:
    """Return the shape of the sequence, which is the first of a list of shapes."""
    several = bool(input_shape) and isinstance(input_shape[0], (list, tuple))
    return tuple(input_shape[0] if several else input_shape)


def sizes_of_states(cell: Any) -> list[Shape]:
    """Return the shape of each state, without the batch: `[(32,), (32,)]` for an LSTM(32)."""
    sizes = cell.state_size
    sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
    return [tuple(size) if isinstance(size, (list, tuple)) else (int(size),) for size in sizes]


def size_of_output(cell: Any) -> Shape:
    """Return the shape of a cell's output, without the batch.

    If the cell has no `output_size`, return the shape of its first state.
    """
    size = getattr(cell, "output_size", None)
    if size is None:
        return sizes_of_states(cell)[0]
    return tuple(size) if isinstance(size, (list, tuple)) else (int(size),)


def check_states(layer: Layer, states: Sequence[Tensor], sizes: Sequence[Shape]) -> None:
    """Check the number and the shapes of the states that a layer is called with.

    Raises
    ------
    ArgumentError
        The number of states is wrong.
    ShapeError
        The shape of a state is not that of the cell's `state_size`.
    """
    if len(states) != len(sizes):
        raise ArgumentError(
            f"{layer.label}: expected {len(sizes)} states in one list, got {len(states)}. Use "
            f"states of shapes {', '.join(str((None, *size)) for size in sizes)}.",
            subject=layer,
        )
    for index, (state, size) in enumerate(zip(states, sizes, strict=True)):
        own = state.shape[1:]
        fits = len(own) == len(size) and all(
            a is None or b is None or a == b for a, b in zip(own, size, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"{layer.label}: expected state {index} to have the shape {(None, *size)} of the "
                f"cell's state_size, got {state.shape}.",
                subject=layer,
            )


# --- time steps as samples of a larger batch, and back --------------------------------------------


def join_steps(x: Tensor) -> Tensor:
    """Return (batch, time, ...) as (batch * time, ...).

    Examples
    --------
    >>> join_steps(K.placeholder((None, 5, 4))).shape
    (None, 4)
    """
    sizes = [K.shape(x)[axis + 2] if n is None else n for axis, n in enumerate(x.shape[2:])]
    return K.reshape(x, (-1, *sizes))


def split_steps(x: Tensor, like: Tensor) -> Tensor:
    """Return (batch * time, ...) as (batch, time, ...), with the first two sizes of `like`.

    Examples
    --------
    >>> x = K.placeholder((None, 5, 4))
    >>> split_steps(join_steps(x), like=x).shape
    (None, 5, 4)
    """
    sizes = [K.shape(x)[axis + 1] if n is None else n for axis, n in enumerate(x.shape[1:])]
    batch, time = like.shape[:2]
    if time is not None:
        return K.reshape(x, (-1 if batch is None else batch, time, *sizes))
    # With no time steps, the number of samples cannot be computed by division.
    batch = K.shape(like)[0] if batch is None else batch
    return K.reshape(x, (batch, K.shape(like)[1], *sizes))
