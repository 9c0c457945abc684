"""Activation functions: functions that a layer applies to its outputs.

`Dense(10, activation="softmax")` finds an activation by name through `get`; None is `linear`. Each
activation is a function from a tensor to a tensor, so you can also call it directly. Keras has them
under the same names in `keras.activations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import floating, square_root
from kerascope.backend.shapes import normalize_axis
from kerascope.errors import ShapeError
from kerascope.registry import Registry
from kerascope.settings import config
from kerascope.spellings import DIALECTS, dialect_options
from kerascope.user_frames import warn

_registry = Registry("activation")

Activation = Callable[..., Tensor]

# Klambauer et al. chose these constants so that mean 0 and variance 1 are a fixed point of a layer.
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


@_registry.register
@at_once_on_arrays
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return positive numbers that sum to 1 along an axis.

    Parameters
    ----------
    x : Tensor, at least 2 axes, float
        In dialect "3", one axis is enough.
    axis : int
        The axis of the classes.

    Returns
    -------
    Tensor
        A tensor of the same shape as `x`.

    Raises
    ------
    ShapeError
        If `x` has too few axes.

    Notes
    -----
    softmax(x)_i = exp(x_i) / sum_j exp(x_j), with the greatest x_j subtracted first so that exp
    cannot overflow.
    On an axis of size 1, the softmax is always 1 and its gradient is 0: such a layer never learns.
    Use `sigmoid` there.

    Examples
    --------
    >>> K.eval(softmax(K.constant([[0.0, 0.0], [1000.0, 0.0]]))).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    if K.ndim(x) < 1 + (not dialect_options().wraps_operations):
        raise ShapeError(
            f"softmax: expected at least 2 axes, got shape {K.int_shape(x)}. "
            f"Cannot apply softmax to a tensor that is {K.ndim(x)}D: add a batch axis.",
            subject=x,
        )
    return K.softmax(x, axis=axis)


@_registry.register
@at_once_on_arrays
def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return x where x is positive, otherwise `alpha * (exp(x) - 1)`.

    References
    ----------
    1. Clevert, Unterthiner, Hochreiter: Fast and Accurate Deep Network Learning by Exponential
       Linear Units, 2015.
    """
    return K.elu(x, alpha)


@_registry.register
@at_once_on_arrays
def selu(x: Tensor) -> Tensor:
    """Return `scale * elu(x, alpha)`, with constants that keep the mean 0 and the variance 1.

    Use it with the initializer "lecun_normal" and `AlphaDropout`.

    References
    ----------
    1. Klambauer, Unterthiner, Mayr, Hochreiter: Self-Normalizing Neural Networks, 2017.
    """
    return SELU_SCALE * K.elu(x, SELU_ALPHA)


@_registry.register
@at_once_on_arrays
def softplus(x: Tensor) -> Tensor:
    """Return `log(1 + exp(x))`, a smooth `relu`."""
    return K.softplus(x)


@_registry.register
@at_once_on_arrays
def softsign(x: Tensor) -> Tensor:
    """Return `x / (1 + |x|)`."""
    return K.softsign(x)


@_registry.register
@at_once_on_arrays
def relu(
    x: Tensor, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Tensor:
    """Return x where x is positive, otherwise 0, with optional slope, bound and threshold.

    Parameters
    ----------
    x : Tensor, float
    alpha : float
        Slope below the threshold.
    max_value : float, optional
        Upper bound of the result.
    threshold : float
        Where x is below the threshold, the result is `alpha * (x - threshold)`.

    Examples
    --------
    >>> K.eval(relu(K.constant([-2.0, 0.5, 9.0]), alpha=0.5, max_value=6.0)).tolist()
    [-1.0, 0.5, 6.0]
    """
    return K.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


@_registry.register
@at_once_on_arrays
def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent, between -1 and 1."""
    return K.tanh(x)


@_registry.register
@at_once_on_arrays
def sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))`, between 0 and 1."""
    return K.sigmoid(x)


@_registry.register
@at_once_on_arrays
def hard_sigmoid(x: Tensor) -> Tensor:
    """Return `0.2 * x + 0.5` cut off at 0 and 1: a sigmoid made of three straight lines.

    Notes
    -----
    In Keras 3 the middle line is `x / 6 + 0.5`. In dialect "3" this function is
    `hard_sigmoid_of_keras_3`.
    """
    return hard_sigmoid_of_keras_3(x) if dialect_options().has_other_slope else K.hard_sigmoid(x)


def hard_sigmoid_of_keras_2(x: Tensor) -> Tensor:
    """Return `0.2 * x + 0.5` cut off at 0 and 1: the "hard_sigmoid" of Keras 2's files."""
    return K.hard_sigmoid(x)


hard_sigmoid_of_keras_2.__name__ = "hard_sigmoid"  # its name in configurations


@_registry.register
@at_once_on_arrays
def hard_sigmoid_of_keras_3(x: Tensor) -> Tensor:
    """Return `x / 6 + 0.5` cut off at 0 and 1.

    Examples
    --------
    >>> K.eval(hard_sigmoid_of_keras_3(K.constant([-4.0, 0.0, 1.5, 4.0]))).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    return K.clip(x / 6.0 + 0.5, 0.0, 1.0)


@_registry.register
@at_once_on_arrays
def exponential(x: Tensor) -> Tensor:
    """Return `exp(x)`."""
    return K.exp(x)


@_registry.register
@at_once_on_arrays
def linear(x: Tensor) -> Tensor:
    """Return x itself."""
    return x


# --- names that came with Keras 3 -----------------------------------------------------------------


@_registry.register
@at_once_on_arrays
def leaky_relu(x: Tensor, negative_slope: float = 0.2) -> Tensor:
    """Return x where x is positive, otherwise `negative_slope * x`."""
    return K.relu(x, alpha=negative_slope)


@_registry.register
@at_once_on_arrays
def relu6(x: Tensor) -> Tensor:
    """Return x cut off at 0 and 6."""
    return K.relu(x, max_value=6.0)


@_registry.register
@at_once_on_arrays
def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """Return x times the probability that a standard normal variable is below x.

    Parameters
    ----------
    x : Tensor, float
    approximate : bool
        Whether to approximate the probability with a formula with tanh.

    References
    ----------
    1. Hendrycks, Gimpel: Gaussian Error Linear Units, 2016.
    """
    if approximate:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * K.square(x))
        return 0.5 * x * (1.0 + K.tanh(inner))
    return 0.5 * x * (1.0 + K.erf(x / math.sqrt(2.0)))


@_registry.alias("swish")
@at_once_on_arrays
def silu(x: Tensor) -> Tensor:
    """Return `x * sigmoid(x)`, also called swish."""
    return x * K.sigmoid(x)


@_registry.alias("hard_swish")
@at_once_on_arrays
def hard_silu(x: Tensor) -> Tensor:
    """Return x times a sigmoid of three straight lines: `x / 6 + 0.5` cut off at 0 and 1."""
    return x * K.clip(x / 6.0 + 0.5, 0.0, 1.0)


@_registry.register
@at_once_on_arrays
def mish(x: Tensor) -> Tensor:
    """Return `x * tanh(softplus(x))`."""
    return x * K.tanh(K.softplus(x))


@_registry.register
@at_once_on_arrays
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return x where x is positive, otherwise `alpha * (exp(x / alpha) - 1)`."""
    return K.elu(x / alpha, 1.0) * alpha


@_registry.register
@at_once_on_arrays
def glu(x: Tensor, axis: int = -1) -> Tensor:
    """Return the first half of x along an axis times the sigmoid of the second half.

    Raises
    ------
    ShapeError
        If the size of the axis is odd or unknown.
    """
    axis = normalize_axis(axis, K.ndim(x), "glu")
    size = K.int_shape(x)[axis]
    if size is None or size % 2:
        raise ShapeError(f"glu: expected a known even size of axis {axis}, got {K.int_shape(x)}.")
    before = (slice(None),) * axis
    return x[(*before, slice(0, size // 2))] * K.sigmoid(x[(*before, slice(size // 2, None))])


@_registry.register
@at_once_on_arrays
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return the logarithm of `softmax`, accurate even where `softmax` rounds to 0."""
    return K.log_softmax(x, axis=axis)


@_registry.register
@at_once_on_arrays
def log_sigmoid(x: Tensor) -> Tensor:
    """Return the logarithm of `sigmoid`, accurate even where `sigmoid` rounds to 0."""
    return -K.softplus(-x)


@_registry.register
@at_once_on_arrays
def hard_tanh(x: Tensor) -> Tensor:
    """Return x cut off at -1 and 1."""
    return K.clip(x, -1.0, 1.0)


@_registry.register
@at_once_on_arrays
def tanh_shrink(x: Tensor) -> Tensor:
    """Return `x - tanh(x)`."""
    return x - K.tanh(x)


@_registry.register
@at_once_on_arrays
def hard_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """Return 0 where `|x|` is at most `threshold`, otherwise x."""
    x = floating(x)
    return K.switch(K.greater(K.abs(x), threshold), x, K.zeros_like(x))


@_registry.register
@at_once_on_arrays
def soft_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """Return 0 where `|x|` is below `threshold`, otherwise x moved towards 0 by `threshold`."""
    x = floating(x)
    nearer = x - threshold * K.sign(x)
    return K.switch(K.greater(K.abs(x), threshold), nearer, K.zeros_like(x))


@_registry.register
@at_once_on_arrays
def squareplus(x: Tensor, b: float = 4.0) -> Tensor:
    """Return `(x + sqrt(x^2 + b)) / 2`, a `softplus` without exponentials."""
    return (x + square_root(K.square(x) + b)) / 2.0


@_registry.register
@at_once_on_arrays
def sparse_plus(x: Tensor) -> Tensor:
    """Return 0 for x <= -1, x for x >= 1, and a parabola in between."""
    x = floating(x)
    return K.square(K.clip(x, -1.0, 1.0) + 1.0) / 4.0 + K.maximum(x - 1.0, 0.0)


@_registry.register
@at_once_on_arrays
def sparse_sigmoid(x: Tensor) -> Tensor:
    """Return 0 for x <= -1, 1 for x >= 1, and a straight line in between."""
    return (K.clip(floating(x), -1.0, 1.0) + 1.0) / 2.0


_SORTING = "kerascope.backend.ops.places"  # imported late: only this activation sorts


@_registry.register
@at_once_on_arrays
def sparsemax(x: Tensor, axis: int = -1) -> Tensor:
    """Return the projection of x onto the simplex: numbers that sum to 1, many exactly 0.

    References
    ----------
    1. Martins, Astudillo: From Softmax to Sparsemax, 2016.
    """
    places: Any = import_module(_SORTING)
    x = floating(x)
    axis = normalize_axis(axis, x.ndim, "sparsemax")
    falling = places.TakeAlongAxis(axis)(x, places.ArgSort(axis, True)(x))
    number = K.cumsum(K.ones_like(x), axis)
    inside = K.cast(K.greater(1.0 + number * falling, K.cumsum(falling, axis)), x.dtype)
    level = (K.sum(inside * falling, axis, True) - 1.0) / K.sum(inside, axis, True)
    return K.maximum(x - level, 0.0)


@_registry.register
@at_once_on_arrays
def threshold(x: Tensor, threshold: float, default_value: float) -> Tensor:
    """Return x where x is above `threshold`, otherwise `default_value`."""
    x, default = promoted(x, default_value)
    return Where()(K.greater(x, threshold), x, default)


swish = silu
hard_swish = hard_silu


def serialize(activation: Any) -> Any:
    """Convert a function to its name, and an activation object to {"class_name", "config"}."""
    return _registry.serialize(activation)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Activation:
    """Return the activation that is described by a name or a configuration.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message suggests the most similar one.
    """
    return _registry.deserialize(name, custom_objects)


def get(identifier: Any) -> Activation:
    """Return an activation by name; None is `linear`, and callables are returned unchanged.

    In dialect "3", "hard_sigmoid" is the function of Keras 3, but while a configuration is read,
    it is the function of Keras 2. In dialect "2.2", a layer as the activation causes a warning,
    as in Keras 2.2.4.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message suggests the most similar one.

    Examples
    --------
    >>> get(None).__name__, get("relu").__name__
    ('linear', 'relu')
    """
    named = isinstance(identifier, str) and identifier == "hard_sigmoid"
    if (named or identifier is hard_sigmoid) and DIALECTS[config.dialect].has_other_slope:
        has_own = dialect_options().has_other_slope
        return hard_sigmoid_of_keras_3 if has_own else hard_sigmoid_of_keras_2
    is_layer = hasattr(identifier, "compute_output_shape") and not isinstance(identifier, type)
    if is_layer and not dialect_options().activates_by_layers:
        warn(
            f"activation: do not pass a layer, here a {type(identifier).__name__}, as one; Keras 2 "
            "neither trains nor saves it there. Put it behind the other one, as a layer of its own."
        )
    return linear if identifier is None else _registry.get(identifier)
