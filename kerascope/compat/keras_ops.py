"""`keras.ops`: the functions of Keras 3 that have K functions behind them, by Keras 3's arguments.

Those that have none stand in `not_yet` and say so. Every function takes tensors, arrays and results
of layers; see `on_anything`. Where Keras 3 computes another thing under a name of Keras 2 (its
`hard_sigmoid` is steeper), Keras 3's is meant here.
"""

# ruff: noqa: F403 (each module's __all__ says which names it has)

from __future__ import annotations

import builtins  # this module has an `any` and an `all` of its own
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.ops import elementwise, linalg
from kerascope.backend.ops.broadcasting import promoted
from kerascope.compat import keras_ops_numbers, keras_ops_shapes
from kerascope.compat.keras_ops_numbers import *
from kerascope.compat.keras_ops_shapes import *
from kerascope.compat.on_anything import on_anything
from kerascope.errors import ArgumentError
from kerascope.layers.operation_table import OPERATIONS

# Keras 3's name -> the K function with the same arguments.
SAME: dict[str, Callable[..., Any]] = {
    "abs": K.abs, "absolute": K.abs, "all": K.all, "any": K.any, "amax": K.max, "amin": K.min,
    "binary_crossentropy": K.binary_crossentropy, "cos": K.cos,
    "categorical_crossentropy": K.categorical_crossentropy, "einsum": K.einsum, "elu": K.elu,
    "erf": K.erf, "exp": K.exp, "log": K.log, "log_softmax": K.log_softmax,
    "logical_not": K.logical_not, "logsumexp": K.logsumexp, "max": K.max, "mean": K.mean,
    "min": K.min, "negative": elementwise.negative, "prod": K.prod, "relu": K.relu,
    "sigmoid": K.sigmoid, "sign": K.sign, "sin": K.sin, "softmax": OPERATIONS["Softmax"][1],
    "softplus": K.softplus, "softsign": K.softsign,
    "sparse_categorical_crossentropy": K.sparse_categorical_crossentropy,
    "sqrt": K.sqrt, "square": K.square, "stack": K.stack, "std": K.std,
    "stop_gradient": K.stop_gradient, "sum": K.sum, "tanh": K.tanh, "var": K.var,
}  # fmt: skip

# The same for functions of (x1, x2), which K calls x and y.
OF_TWO: dict[str, Callable[..., Any]] = {
    "add": elementwise.add, "divide": elementwise.divide, "equal": K.equal, "greater": K.greater,
    "greater_equal": K.greater_equal, "less": K.less, "less_equal": K.less_equal,
    "logical_and": K.logical_and, "logical_or": K.logical_or, "matmul": linalg.matmul,
    "maximum": K.maximum, "minimum": K.minimum, "multiply": elementwise.multiply,
    "not_equal": K.not_equal, "power": K.pow, "subtract": elementwise.subtract,
    "true_divide": elementwise.divide,
}  # fmt: skip


def _of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    @on_anything
    @wraps(function)
    def call(x1: Any, x2: Any) -> Any:
        return function(*promoted(x1, x2))

    return call


globals().update({name: on_anything(function) for name, function in SAME.items()})
globals().update({name: _of_two(function) for name, function in OF_TWO.items()})


# --- new arrays -----------------------------------------------------------------------------------


def convert_to_tensor(x: Any, dtype: str | None = None, sparse: Any = None) -> Any:
    """Return x as an array of a type; a tensor as a tensor."""
    if isinstance(x, Tensor):
        return x if dtype is None else K.cast(x, dtype)
    array = np.asarray(x, dtype=dtype)
    return array.astype(K.floatx()) if dtype is None and array.dtype == np.float64 else array


array = convert_to_tensor


def convert_to_numpy(x: Any) -> np.ndarray:
    """Return the numbers of a tensor.

    Raises
    ------
    DtypeError
        It is a placeholder, or computed from one: it has no numbers.
    """
    return np.asarray(K.eval(x) if isinstance(x, Tensor) else x)


def is_tensor(x: Any) -> bool:
    """Tell whether x is a tensor, or an array, which stands for one."""
    return isinstance(x, (Tensor, np.ndarray))


def full(shape: Sequence[int], fill_value: Any, dtype: str | None = None) -> np.ndarray:
    """Return an array of one number."""
    return np.full(shape, fill_value, dtype=dtype or K.floatx())


def zeros(shape: Sequence[int], dtype: str | None = None) -> np.ndarray:
    """Return an array of zeros."""
    return np.zeros(shape, dtype=dtype or K.floatx())


def ones(shape: Sequence[int], dtype: str | None = None) -> np.ndarray:
    """Return an array of ones."""
    return np.ones(shape, dtype=dtype or K.floatx())


def eye(N: int, M: int | None = None, k: int = 0, dtype: str | None = None) -> np.ndarray:
    """Return an array with ones on a diagonal."""
    return np.eye(N, M, k, dtype=dtype or K.floatx())


def identity(n: int, dtype: str | None = None) -> np.ndarray:
    """Return the identity matrix."""
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: str | None = None) -> Any:
    """Return numbers at equal distances; from 0, if there is no `stop`."""
    first, last, distance = (0 if stop is None else start), (start if stop is None else stop), step
    distance = 1 if step is None else step
    if builtins.any(isinstance(value, Tensor) for value in (first, last, distance)):
        return K.arange(first, last, distance, dtype or "int32")
    given = (first, last, distance)
    is_whole = builtins.all(isinstance(value, (int, np.integer)) for value in given)
    return np.arange(first, last, distance, dtype=dtype or ("int32" if is_whole else K.floatx()))


def linspace(start: Any, stop: Any, num: int = 50, dtype: str | None = None) -> np.ndarray:
    """Return so many numbers at equal distances, both ends among them."""
    return np.linspace(start, stop, num, dtype=dtype or K.floatx())


@on_anything
def zeros_like(x: Any, dtype: str | None = None) -> Any:
    """Return zeros of the shape of x."""
    return K.zeros_like(x, dtype=dtype)


@on_anything
def ones_like(x: Any, dtype: str | None = None) -> Any:
    """Return ones of the shape of x."""
    return K.ones_like(x, dtype=dtype)


@on_anything
def full_like(x: Any, fill_value: Any, dtype: str | None = None) -> Any:
    """Return one number in the shape of x."""
    return K.ones_like(x, dtype=dtype) * fill_value


# --- choices --------------------------------------------------------------------------------------


@on_anything
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return what one of two functions returns, as a scalar says at run time."""
    return K.switch(pred, true_fn, false_fn)


@on_anything
def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    """Return whether each target is among the k largest predictions of its row."""
    return K.in_top_k(predictions, targets, k)


@on_anything
def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Return what a function makes of each entry along the first axis, stacked."""
    return K.map_fn(f, xs)


# --- products, convolutions -----------------------------------------------------------------------


@on_anything
def dot(x1: Any, x2: Any) -> Any:
    """Return the product along the last axis of x1 and the last but one of x2."""
    x1, x2 = promoted(x1, x2)
    return K.dot(x1, x2) if x1.ndim and x2.ndim else x1 * x2


@on_anything
def outer(x1: Any, x2: Any) -> Any:
    """Return all products of an entry of x1 and one of x2."""
    return K.expand_dims(K.reshape(x1, (-1,)), 1) * K.reshape(x2, (1, -1))


def _by_rank(x: Any, functions: dict[int, Callable[..., Any]], name: str) -> Callable[..., Any]:
    rank = as_tensor(x).ndim - 2
    if rank not in functions:
        raise ArgumentError(f"keras.ops.{name}: input of {rank + 2} axes; expected "
                            f"{' or '.join(str(n + 2) for n in functions)}.")  # fmt: skip
    return functions[rank]


def _each(value: Any, rank: int) -> Any:
    return (value,) * rank if isinstance(value, int) and rank > 1 else value


@on_anything
def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return the convolution over one, two or three axes of space."""
    function = _by_rank(inputs, {1: K.conv1d, 2: K.conv2d, 3: K.conv3d}, "conv")
    rank = as_tensor(inputs).ndim - 2
    steps, dilation = _each(strides, rank), _each(dilation_rate, rank)
    return function(inputs, kernel, steps, padding, data_format, dilation)


@on_anything
def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the largest entry of each window."""
    return _pool(inputs, pool_size, strides, padding, data_format, "max")


@on_anything
def average_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the mean of each window."""
    return _pool(inputs, pool_size, strides, padding, data_format, "avg")


def _pool(x: Any, size: Any, strides: Any, padding: str, data_format: Any, mode: str) -> Any:
    function = _by_rank(x, {1: K.pool1d, 2: K.pool2d, 3: K.pool3d}, f"{mode}_pool")
    rank = as_tensor(x).ndim - 2
    window = _each(size, rank)
    return function(x, window, _each(strides, rank) or window, padding, data_format, mode)


@on_anything
def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """Return for each channel its own convolutions over two axes of space."""
    _by_rank(inputs, {2: K.depthwise_conv2d}, "depthwise_conv")
    steps, dilation = _each(strides, 2), _each(dilation_rate, 2)
    return K.depthwise_conv2d(inputs, kernel, steps, padding, data_format, dilation)


@on_anything
def layer_normalization(
    x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: float | None = None
) -> Any:
    """Return x with mean 0 and variance 1 along an axis, then scaled and shifted."""
    x = as_tensor(x)
    epsilon = K.epsilon() if epsilon is None else epsilon
    normal = (x - K.mean(x, axis, True)) / K.sqrt(K.var(x, axis, True) + epsilon)
    normal = normal if gamma is None else normal * gamma
    return normal if beta is None else normal + beta


@on_anything
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """Return x shifted and scaled by given statistics."""
    return K.batch_normalization(x, mean, variance, offset, scale, axis, epsilon)


_OWN = """
    arange array average_pool batch_normalization cond conv convert_to_numpy convert_to_tensor dot
    depthwise_conv eye full full_like identity in_top_k is_tensor layer_normalization linspace map
    max_pool ones ones_like outer zeros
    zeros_like"""

__all__ = sorted(
    {*SAME, *OF_TWO, *_OWN.split(), *keras_ops_numbers.__all__, *keras_ops_shapes.__all__}
)
