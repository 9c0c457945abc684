"""The layers that only Keras 1 has: TimeDistributedDense, Highway, MaxoutDense, SReLU and others.

The layers take the arguments of Keras 1 under their old names, as in `legacy.layers` of Keras 2.
`kerascope.layers` imports this module when one of them is first used. Layers that were only renamed
after Keras 1 (`Convolution2D`) are in `kerascope.spellings`.
"""

from __future__ import annotations

from typing import Any

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend import Tensor, Variable
from kerascope.backend.ops.windows import conv_output_length
from kerascope.backend.shapes import Shape, Shapes
from kerascope.configurable import by_name
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import NotBuiltError
from kerascope.layers.advanced_activations import LearntActivation
from kerascope.layers.arguments import Identifier, positive_int
from kerascope.layers.convolutional_recurrent import ConvRNN2D
from kerascope.layers.core import Dense
from kerascope.layers.recurrent import RNN, LayerOfCell

__all__ = [
    "ConvRecurrent2D",
    "Highway",
    "MaxoutDense",
    "ParametricSoftplus",
    "Recurrent",
    "SReLU",
    "TimeDistributedDense",
    "time_distributed_dense",
]


class TimeDistributedDense(Dense):
    """A `Dense` for every time step: input (batch, time, features), output (batch, time, units).

    Takes the arguments of `Dense`; source: `keras.layers.core.TimeDistributedDense` of Keras 1.2.
    """

    def build(self, input_shape: Shape) -> None:
        """Make `kernel` and `bias`."""
        super().build(input_shape)
        self.input_spec = InputSpec(ndim=3, axes={-1: input_shape[-1]})


class _WithoutInitialWeights(Layer):
    """A layer whose configuration does not contain the argument `weights`."""

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, without initial weights."""
        config = super().get_config()
        config.pop("weights", None)
        return config


class _WithWeights(_WithoutInitialWeights):
    """Base class of Keras 1's dense layers: stores the arguments of their kernels and biases."""

    def __init__(
        self,
        *,
        init: Identifier,
        W_regularizer: Identifier,
        b_regularizer: Identifier,
        W_constraint: Identifier,
        b_constraint: Identifier,
        bias: bool,
        input_dim: int | None,
        **kwargs: Any,
    ) -> None:
        if input_dim is not None:
            kwargs["input_dim"] = input_dim
        super().__init__(**kwargs)
        self.init = init
        initializers.get(init)  # an unknown name raises here, in the line that makes the layer
        self.W_regularizer = regularizers.get(W_regularizer)
        self.b_regularizer = regularizers.get(b_regularizer)
        self.W_constraint = constraints.get(W_constraint)
        self.b_constraint = constraints.get(b_constraint)
        self.bias = bool(bias)
        self.input_spec = InputSpec(ndim=2)

    def _kernel(self, name: str, shape: Shape) -> Variable:
        return self.add_weight(name, shape, initializer=self.init, **self._rules(name, "W"))

    def _bias(self, name: str, shape: Shape, first: Identifier = "zeros") -> Variable:
        return self.add_weight(name, shape, initializer=first, **self._rules(name, "b"))

    def _rules(self, name: str, word: str) -> dict[str, Any]:
        """Return a dict with a weight's regularizer and constraint; {} for Highway's carry gate."""
        if name.endswith("carry"):
            return {}
        return {
            "regularizer": getattr(self, f"{word}_regularizer"),
            "constraint": getattr(self, f"{word}_constraint"),
        }

    def _remember_input(self, input_shape: Shape) -> None:
        self.input_spec = InputSpec(ndim=2, axes={-1: input_shape[-1]})
        self.built = True


class Highway(_WithWeights):
    """A dense layer that mixes its output with its input, in trained proportions.

    Parameters
    ----------
    init : str, callable or object
        Initial values of `W` and `W_carry`.
    activation : str or callable, optional
        Activation of the dense part; None is `linear`.
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    W_regularizer, b_regularizer : str, callable or object, optional
        Penalties on kernel and bias of the dense part.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    W_constraint, b_constraint : str, callable or object, optional
        Applied by the optimizer to each new value of kernel and bias of the dense part.
    bias : bool
        Whether biases are added.
    input_dim : int, optional
        Number of features, if the layer is the first in a Sequential.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, n). With `t = sigmoid(inputs . W_carry + b_carry)`:

        output = t * activation(inputs . W + b) + (1 - t) * inputs

    `b_carry` starts at -2, so that most of the input passes at first.

    References
    ----------
    1. Srivastava, Greff, Schmidhuber: Highway Networks, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> Highway()(np.ones((2, 3))).shape
    (2, 3)
    """

    def __init__(
        self,
        init: Identifier = "glorot_uniform",
        activation: Identifier = None,
        weights: Any = None,
        W_regularizer: Identifier = None,
        b_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        W_constraint: Identifier = None,
        b_constraint: Identifier = None,
        bias: bool = True,
        input_dim: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "activation"))
        self.activation = activations.get(activation)

    def build(self, input_shape: Shape) -> None:
        """Make `W`, `W_carry`, and with `bias` also `b` and `b_carry`."""
        size = input_shape[-1]
        self.W = self._kernel("W", (size, size))
        self.W_carry = self._kernel("W_carry", (size, size))
        if self.bias:
            self.b = self._bias("b", (size,))
            self.b_carry = self._bias("b_carry", (size,), initializers.Constant(-2.0))
        self._remember_input(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the sum of the dense part and the inputs, weighted by the carry gate."""
        dense, share = K.dot(inputs, self.W), K.dot(inputs, self.W_carry)
        if self.bias:
            dense, share = dense + self.b, share + self.b_carry
        share = activations.sigmoid(share)
        return share * self.activation(dense) + (1.0 - share) * inputs

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class MaxoutDense(_WithWeights):
    """The maximum of several dense layers, unit by unit: a convex function of the inputs.

    Parameters
    ----------
    output_dim : int
        Number of outputs.
    nb_feature : int
        Number of dense layers.
    init, weights, W_regularizer, ..., input_dim, **kwargs
        As for `Highway`.

    Notes
    -----
    Input (batch, n), output (batch, output_dim), `W` (nb_feature, n, output_dim) and `b`
    (nb_feature, output_dim): output = max over k of (inputs . W[k] + b[k]).

    References
    ----------
    1. Goodfellow et al.: Maxout Networks, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> MaxoutDense(3, nb_feature=2)(np.ones((5, 4))).shape
    (5, 3)
    """

    def __init__(
        self,
        output_dim: int,
        nb_feature: int = 4,
        init: Identifier = "glorot_uniform",
        weights: Any = None,
        W_regularizer: Identifier = None,
        b_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        W_constraint: Identifier = None,
        b_constraint: Identifier = None,
        bias: bool = True,
        input_dim: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals(), "output_dim", "nb_feature"))
        self.output_dim = positive_int(output_dim, f"{self.label}: output_dim")
        self.nb_feature = positive_int(nb_feature, f"{self.label}: nb_feature")

    def build(self, input_shape: Shape) -> None:
        """Make `W` and, with `bias`, `b`."""
        self.W = self._kernel("W", (self.nb_feature, input_shape[-1], self.output_dim))
        if self.bias:
            self.b = self._bias("b", (self.nb_feature, self.output_dim))
        self._remember_input(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Return, for each unit, the maximum of the outputs of the dense layers."""
        outputs = K.dot(inputs, self.W)
        return K.max(outputs + self.b if self.bias else outputs, axis=1)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (batch, output_dim)."""
        return (input_shape[0], self.output_dim)


# --- activations with weights ---------------------------------------------------------------------


class ParametricSoftplus(_WithoutInitialWeights, LearntActivation):
    """A softplus with trained height and steepness: alpha * log(1 + exp(beta * x)).

    Parameters
    ----------
    alpha_init, beta_init : float
        Initial values of the weights `alpha` and `beta`.
    weights : list of np.ndarray, optional
        Values for `alpha` and `beta` when they are made.
    shared_axes : list of int, optional
        Axes along which a parameter is shared, counted from 1.
    **kwargs
        As for `Layer`.

    References
    ----------
    1. McFarland et al.: Inferring Nonlinear Neuronal Computation Based on Physiologically Plausible
       Inputs, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> ParametricSoftplus(1.0, 1.0)(np.zeros((1, 1))).round(4)
    array([[0.6931]], dtype=float32)
    """

    def __init__(
        self,
        alpha_init: float = 0.2,
        beta_init: float = 5.0,
        weights: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(shared_axes=shared_axes, weights=weights, **kwargs)
        self.alpha_init = float(alpha_init)
        self.beta_init = float(beta_init)

    def build(self, input_shape: Shape) -> None:
        """Make `alpha` and `beta`."""
        shape = self._shape_of_parameters(input_shape)
        self.alpha = self.add_weight(
            "alpha", shape, initializer=initializers.Constant(self.alpha_init)
        )
        self.beta = self.add_weight(
            "beta", shape, initializer=initializers.Constant(self.beta_init)
        )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return alpha * softplus(beta * inputs)."""
        return self.alpha * K.softplus(self.beta * inputs)


class SReLU(LearntActivation):
    """A piecewise linear function of three pieces, with trained corners and outer slopes.

    Parameters
    ----------
    t_left_init, t_right_init : str, callable or object
        Initial position of the left corner, and initial distance between the two corners.
    a_left_init, a_right_init : str, callable or object
        Initial slopes on the left and on the right.
    shared_axes : list of int, optional
        Axes along which a parameter is shared, counted from 1.
    **kwargs
        As for `Layer`.

    Notes
    -----
    With right = t_left + |t_right|:

        output = t_left + a_left * (x - t_left)     where x < t_left
                 right + a_right * (x - right)      where x > right
                 x                                  between

    References
    ----------
    1. Jin et al.: Deep Learning with S-shaped Rectified Linear Activation Units, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> layer = SReLU(a_left_init="zeros", t_right_init="ones")
    >>> layer(np.array([[-3.0]])).tolist(), len(layer.weights)
    ([[0.0]], 4)
    """

    def __init__(
        self,
        t_left_init: Identifier = "zero",
        a_left_init: Identifier = "glorot_uniform",
        t_right_init: Identifier = "glorot_uniform",
        a_right_init: Identifier = "one",
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(shared_axes=shared_axes, **kwargs)
        self.t_left_init = t_left_init
        self.a_left_init = a_left_init
        self.t_right_init = t_right_init
        self.a_right_init = a_right_init

    def build(self, input_shape: Shape) -> None:
        """Make `t_left`, `a_left`, `t_right` and `a_right`."""
        shape = self._shape_of_parameters(input_shape)
        self.t_left, self.a_left, self.t_right, self.a_right = (
            self.add_weight(word, shape, initializer=getattr(self, f"{word}_init"))
            for word in ("t_left", "a_left", "t_right", "a_right")
        )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the piecewise linear function of the inputs."""
        width = K.abs(self.t_right)
        above = inputs - self.t_left  # the left corner
        left = K.switch(K.greater(above, 0.0), above, self.a_left * above)
        beyond = K.relu(above - width)  # the right corner
        return self.t_left + K.minimum(left, width) + self.a_right * beyond


# --- recurrent layers with their time step as a method --------------------------------------------
#
# Since Keras 2.1 a cell computes the step, and `RNN` has the loop. Older scripts derive from
# `Recurrent`. LSTM, GRU and SimpleRNN have the methods of `Recurrent` too (`LayerOfCell`).


class _StepOfLayer:
    """A cell that computes a time step by the method `step` of its layer."""

    implementation = 1

    def __init__(self, layer: Recurrent) -> None:
        self.layer = layer

    def call(self, inputs: Tensor, states: list[Tensor]) -> Any:
        """Return the output and the new states of one time step."""
        return self.layer.step(inputs, states)

    @property
    def state_size(self) -> list[Any]:
        """Shapes of the states, without the batch; in Keras 1, all have the shape of the output."""
        layer = self.layer
        if "states" not in vars(layer):  # during construction: one state, of any size
            return [1]
        return [layer.size_of_states()] * len(layer.states)


class Recurrent(_WithoutInitialWeights, LayerOfCell):
    """Base class of recurrent layers that compute a time step in their own method `step`.

    A subclass has the attribute `output_dim`. Its `build` makes the weights and sets `states` to a
    list with one None for each state. It defines `step(x, states)`, and may define
    `preprocess_input(x)`, `get_constants(x)` and `get_initial_states(x)` too.

    Parameters
    ----------
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    return_sequences, go_backwards, stateful, unroll : bool
        As for `RNN`.
    consume_less : {"cpu", "mem", "gpu"}
        Stored for subclasses; it has no effect on this class.
    input_dim, input_length : int, optional
        Number of features and of time steps, if the layer is the first in a Sequential.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, output_dim) or, with `return_sequences`, (batch,
    time, output_dim). `step` receives one step of the result of `preprocess_input`, and a list: the
    states, then the constants. Source: `keras.layers.recurrent.Recurrent` of Keras 1.2.

    Examples
    --------
    >>> import numpy as np
    >>> class Sum(Recurrent):
    ...     output_dim = 1
    ...     def step(self, x, states):
    ...         output = states[0] + x
    ...         return output, [output]
    >>> Sum(return_sequences=True)(np.array([[[1.0], [2.0], [3.0]]])).tolist()
    [[[1.0], [3.0], [6.0]]]
    """

    output_dim: int

    def __init__(
        self,
        weights: Any = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        consume_less: str = "cpu",
        input_dim: int | None = None,
        input_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        first = {"weights": weights, "input_dim": input_dim, "input_length": input_length}
        kwargs.update({name: value for name, value in first.items() if value is not None})
        RNN.__init__(
            self,
            _StepOfLayer(self),
            return_sequences=return_sequences,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            **kwargs,
        )
        self.consume_less = consume_less
        self.input_dim, self.input_length = input_dim, input_length

    def build(self, input_shape: Shapes, constants_shape: Any = None) -> None:
        """Create no weights; a subclass creates its own weights."""
        self.built = True

    def step(self, x: Tensor, states: list[Any]) -> tuple[Tensor, list[Tensor]]:
        """Return the output and the new states of one time step; a subclass must define `step`.

        Raises
        ------
        NotImplementedError
            The subclass does not define `step`.
        """
        raise NotImplementedError(
            f"{self.label}: has no step. Write step(self, x, states), which returns the output and "
            "the new states."
        )

    def preprocess_input(self, x: Tensor) -> Tensor:
        """Return the sequence whose time steps `step` receives; by default, the input itself."""
        return x

    def get_constants(self, x: Tensor) -> list[Any]:
        """Return the constants passed to `step` after the states; the base class has none."""
        return []

    def size_of_states(self) -> Any:
        """Return the shape of a state, without the batch; the output has the same shape.

        Raises
        ------
        NotBuiltError
            The subclass has no `output_dim`.
        """
        if not hasattr(self, "output_dim"):
            raise NotBuiltError(
                f"{self.label}: expected an attribute output_dim, the number of outputs. Set "
                "self.output_dim in its __init__.",
                subject=self,
            )
        return self.output_dim


class ConvRecurrent2D(Recurrent, ConvRNN2D):
    """Base class of recurrent layers whose inputs and states are images; see `Recurrent`.

    Parameters
    ----------
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    nb_row, nb_col : int
        Rows and columns of the kernels.
    nb_filter : int
        Number of channels of the output and of the states.
    return_sequences, go_backwards, stateful : bool
        As for `RNN`.
    dim_ordering : {"tf", "th", "default"}
        Position of the channel axis: "tf" at the end, "th" before the rows.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, rows, columns, channels), with "th" (batch, time, channels, rows, columns).
    A subclass has the attributes `border_mode` ("valid" or "same") and `subsample` (a pair), which
    determine the size of the output. Source: Keras 1.2,
    `keras.layers.convolutional_recurrent.ConvRecurrent2D`.
    """

    border_mode = "valid"
    subsample: tuple[int, int] = (1, 1)

    def __init__(
        self,
        weights: Any = None,
        nb_row: int | None = None,
        nb_col: int | None = None,
        nb_filter: int | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dim_ordering: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            weights,
            return_sequences=return_sequences,
            go_backwards=go_backwards,
            stateful=stateful,
            **kwargs,
        )
        self.nb_row, self.nb_col, self.nb_filter = nb_row, nb_col, nb_filter
        self.dim_ordering = dim_ordering
        self.data_format = K.normalize_data_format(dim_ordering)

    def get_initial_states(self, x: Tensor) -> list[Tensor]:
        """Return zeros for each state, with the shape of an output."""
        shape = self.shape_of_output(x.shape)
        zeros = K.sum(K.zeros_like(x), axis=(1, 2, 3, 4))
        return [self._repeated(zeros, shape) for _ in self.states]

    def shapes_of_states(self, input_shape: Shape) -> list[Shape]:
        """Return the shape of each state, without the batch."""
        if not (self.nb_row and self.nb_col and self.nb_filter):
            raise NotBuiltError(
                f"{self.label}: expected nb_row, nb_col and nb_filter for the shape of its states, "
                f"got {self.nb_row}, {self.nb_col}, {self.nb_filter}.",
                subject=self,
            )
        is_first = self.data_format == "channels_first"
        places = input_shape[3:] if is_first else input_shape[2:4]
        kernel = (self.nb_row, self.nb_col)
        sizes = [
            conv_output_length(places[i], kernel[i], self.border_mode, self.subsample[i])
            for i in range(2)
        ]
        shape = (self.nb_filter, *sizes) if is_first else (*sizes, self.nb_filter)
        return [shape for _ in self.states]


def time_distributed_dense(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    dropout: float | None = None,
    input_dim: int | None = None,
    output_dim: int | None = None,
    timesteps: int | None = None,
) -> Tensor:
    """Return x . w + b for each time step.

    Parameters
    ----------
    x : Tensor, shape (batch, time, features)
    w : Tensor, shape (features, units)
    b : Tensor, shape (units,), optional
    dropout : float, optional
        Fraction of the features that is dropped in training, the same in all time steps.
    input_dim, output_dim, timesteps : int, optional
        Ignored, because the shapes of the tensors contain these sizes.

    Returns
    -------
    Tensor, shape (batch, time, units)
    """
    if dropout:
        ones = K.ones_like(x[:, :1])
        x = x * K.in_train_phase(lambda: K.dropout(ones, dropout), ones)
    products = K.dot(x, w)
    return products if b is None else K.bias_add(products, b, "channels_last")
