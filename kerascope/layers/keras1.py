"""The layers that only Keras 1 has: TimeDistributedDense, Highway, MaxoutDense, SReLU and so on.

They have Keras 1's arguments under Keras 1's words, as Keras 2 kept them in its `legacy.layers`.
They are loaded when they are first asked for. What Keras 1 called otherwise (`Convolution2D`) is
not here but in `kerascope.spellings`.
"""

from __future__ import annotations

from typing import Any

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape
from kerascope.configured import by_name
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.layers.advanced_activations import LearntActivation
from kerascope.layers.arguments import Identifier, positive_int
from kerascope.layers.core import Dense

__all__ = ["Highway", "MaxoutDense", "ParametricSoftplus", "SReLU", "TimeDistributedDense"]


class TimeDistributedDense(Dense):
    """A `Dense` for every time step: input (batch, time, features), output (batch, time, units).

    Takes the arguments of `Dense`; source: `keras.layers.core.TimeDistributedDense` of Keras 1.2.
    """

    def build(self, input_shape: Shape) -> None:
        """Make `kernel` and `bias`."""
        super().build(input_shape)
        self.input_spec = InputSpec(ndim=3, axes={-1: input_shape[-1]})


class _WithWeights(Layer):
    """Base of the dense layers: the arguments for kernels and biases in Keras 1's words."""

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
        initializers.get(init)  # a slip shows here, in the line that made it
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
        """Return penalty and constraint; those of the carry gate of a Highway have none."""
        if name.endswith("carry"):
            return {}
        return {
            "regularizer": getattr(self, f"{word}_regularizer"),
            "constraint": getattr(self, f"{word}_constraint"),
        }

    def _remember_input(self, input_shape: Shape) -> None:
        self.input_spec = InputSpec(ndim=2, axes={-1: input_shape[-1]})
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; initial weights are no part of it."""
        config = super().get_config()
        config.pop("weights", None)
        return config


class Highway(_WithWeights):
    """A dense layer that lets a share of its input pass, and learns which share.

    Parameters
    ----------
    init : str, callable or object
        First values of both kernels.
    activation : str or callable, optional
        Of the dense part; None is `linear`.
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    W_regularizer, b_regularizer : str, callable or object, optional
        Penalties on kernel and bias of the dense part.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    W_constraint, b_constraint : str, callable or object, optional
        What the optimizer applies to each new value of kernel and bias of the dense part.
    bias : bool
        Whether biases are added.
    input_dim : int, optional
        Number of features, if it is the first layer of a Sequential.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, n). With `t = sigmoid(inputs . W_carry + b_carry)`:

        output = t * activation(inputs . W + b) + (1 - t) * inputs

    `b_carry` begins with -2: at first most of the input passes.

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
        """Return the mixture of the dense part and the inputs."""
        dense, share = K.dot(inputs, self.W), K.dot(inputs, self.W_carry)
        if self.bias:
            dense, share = dense + self.b, share + self.b_carry
        share = activations.sigmoid(share)
        return share * self.activation(dense) + (1.0 - share) * inputs

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class MaxoutDense(_WithWeights):
    """The greatest of several dense layers, unit by unit: a convex function that is learnt.

    Parameters
    ----------
    output_dim : int
        Number of outputs.
    nb_feature : int
        How many dense layers.
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
        """Return the greatest of the dense layers' outputs."""
        outputs = K.dot(inputs, self.W)
        return K.max(outputs + self.b if self.bias else outputs, axis=1)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, output_dim)."""
        return (input_shape[0], self.output_dim)


# --- activations with weights ---------------------------------------------------------------------


class ParametricSoftplus(LearntActivation):
    """A softplus whose height and steepness are learnt: alpha * log(1 + exp(beta * x)).

    Parameters
    ----------
    alpha_init, beta_init : float
        First values of the weights `alpha` and `beta`.
    weights : list of np.ndarray, optional
        Values for them when they are made.
    shared_axes : list of int, optional
        Axes along which one number counts for all places, counted from 1.
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

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; initial weights are no part of it."""
        config = super().get_config()
        config.pop("weights", None)
        return config


class SReLU(LearntActivation):
    """A unit of three straight pieces whose corners and outer slopes are learnt.

    Parameters
    ----------
    t_left_init, t_right_init : str, callable or object
        First place of the left corner, and of the right one's distance from it.
    a_left_init, a_right_init : str, callable or object
        First slopes on the left and on the right.
    shared_axes : list of int, optional
        Axes along which one number counts for all places, counted from 1.
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
        """Return the inputs along three straight pieces."""
        width = K.abs(self.t_right)
        above = inputs - self.t_left  # the left corner
        left = K.switch(K.greater(above, 0.0), above, self.a_left * above)
        beyond = K.relu(above - width)  # the right corner
        return self.t_left + K.minimum(left, width) + self.a_right * beyond
