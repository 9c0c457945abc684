"""Functions of `keras.ops` on each number, and on whole axes of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import as_tensor
from kerascope.backend.ops import control, elementwise
from kerascope.backend.ops.broadcasting import promoted
from kerascope.compat.on_anything import on_anything
from kerascope.errors import ArgumentError

__all__ = [
    "argmax",
    "argmin",
    "cast",
    "clip",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "expm1",
    "gelu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "isnan",
    "leaky_relu",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "logaddexp",
    "logical_xor",
    "moments",
    "norm",
    "normalize",
    "reciprocal",
    "relu6",
    "round",
    "rsqrt",
    "selu",
    "silu",
    "sinh",
    "swish",
    "tan",
    "where",
]


@on_anything
def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """Return x between x_min and x_max."""
    return K.clip(x, x_min, x_max)


@on_anything
def cast(x: Any, dtype: str) -> Any:
    """Return x in another type."""
    return K.cast(x, dtype)


@on_anything
def reciprocal(x: Any) -> Any:
    """Return 1 / x."""
    return 1.0 / as_tensor(x)


@on_anything
def rsqrt(x: Any) -> Any:
    """Return 1 / sqrt(x)."""
    return 1.0 / K.sqrt(x)


@on_anything
def log1p(x: Any) -> Any:
    """Return log(1 + x), exactly for small x too."""
    return elementwise.log1p(x)


@on_anything
def log2(x: Any) -> Any:
    """Return the logarithm to the base 2."""
    return K.log(x) / math.log(2.0)


@on_anything
def log10(x: Any) -> Any:
    """Return the logarithm to the base 10."""
    return K.log(x) / math.log(10.0)


@on_anything
def expm1(x: Any) -> Any:
    """Return exp(x) - 1, exactly for small x too, where exp(x) is rounded to 1."""
    x = as_tensor(x)
    return K.tanh(x / 2.0) * (K.exp(x) + 1.0)


@on_anything
def tan(x: Any) -> Any:
    """Return the tangent."""
    return K.sin(x) / K.cos(x)


@on_anything
def sinh(x: Any) -> Any:
    """Return (exp(x) - exp(-x)) / 2, exactly for small x too, where both are rounded to 1."""
    x = as_tensor(x)
    return K.tanh(x) * (K.exp(x) + K.exp(-x)) / 2.0


@on_anything
def cosh(x: Any) -> Any:
    """Return (exp(x) + exp(-x)) / 2."""
    return (K.exp(x) + K.exp(-as_tensor(x))) / 2.0


@on_anything
def logaddexp(x1: Any, x2: Any) -> Any:
    """Return log(exp(x1) + exp(x2)), without overflow."""
    x1, x2 = promoted(x1, x2)
    return K.maximum(x1, x2) + K.softplus(-K.abs(x1 - x2))


@on_anything
def logical_xor(x1: Any, x2: Any) -> Any:
    """Return whether exactly one of the two is true."""
    return K.not_equal(K.cast(x1, "bool"), K.cast(x2, "bool"))


@on_anything
def where(condition: Any, x1: Any, x2: Any) -> Any:
    """Return x1 where the condition is true, else x2; all three are broadcast."""
    return control.Where()(as_tensor(condition), *promoted(x1, x2))


@on_anything
def isnan(x: Any) -> Any:
    """Return where x is no number."""
    x = as_tensor(x)
    return K.not_equal(x, x)


@on_anything
def round(x: Any, decimals: int = 0) -> Any:
    """Return x rounded to so many decimals, halves to the even one."""
    scale = 10.0**decimals
    return K.round(x) if decimals == 0 else K.round(as_tensor(x) * scale) / scale


# --- activations ----------------------------------------------------------------------------------


@on_anything
def relu6(x: Any) -> Any:
    """Return x between 0 and 6."""
    return K.relu(x, max_value=6.0)


@on_anything
def silu(x: Any) -> Any:
    """Return x * sigmoid(x)."""
    x = as_tensor(x)
    return x * K.sigmoid(x)


swish = silu


@on_anything
def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return x where it is positive, else negative_slope * x."""
    return K.relu(x, alpha=negative_slope)


@on_anything
def hard_sigmoid(x: Any) -> Any:
    """Return x / 6 + 0.5, between 0 and 1."""
    return K.clip(as_tensor(x) / 6.0 + 0.5, 0.0, 1.0)


@on_anything
def hard_silu(x: Any) -> Any:
    """Return x * hard_sigmoid(x)."""
    return as_tensor(x) * K.clip(as_tensor(x) / 6.0 + 0.5, 0.0, 1.0)


hard_swish = hard_silu


@on_anything
def hard_tanh(x: Any) -> Any:
    """Return x between -1 and 1."""
    return K.clip(x, -1.0, 1.0)


@on_anything
def log_sigmoid(x: Any) -> Any:
    """Return log(sigmoid(x))."""
    return -K.softplus(-as_tensor(x))


@on_anything
def selu(x: Any) -> Any:
    """Return the scaled exponential linear unit."""
    return 1.0507009873554805 * K.elu(x, 1.6732632423543772)


@on_anything
def gelu(x: Any, approximate: bool = True) -> Any:
    """Return the Gaussian error linear unit, exactly or by its approximation with tanh."""
    x = as_tensor(x)
    if not approximate:
        return 0.5 * x * (1.0 + K.erf(x / math.sqrt(2.0)))
    return 0.5 * x * (1.0 + K.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


# --- whole axes -----------------------------------------------------------------------------------


@on_anything
def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the place of the largest entry; without an axis, in the flat array."""
    return _place(K.argmax, x, axis, keepdims)


@on_anything
def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the place of the smallest entry; without an axis, in the flat array."""
    return _place(K.argmin, x, axis, keepdims)


def _place(function: Callable[..., Any], x: Any, axis: int | None, keepdims: bool) -> Any:
    x = as_tensor(x)
    if axis is None:
        place = function(K.reshape(x, (-1,)), 0)
        return K.reshape(place, (1,) * x.ndim) if keepdims else place
    place = K.cast(function(x, axis), "int32")
    return K.expand_dims(place, axis) if keepdims else place


@on_anything
def cumsum(x: Any, axis: int | None = None) -> Any:
    """Return the sums up to each entry; without an axis, of the flat array."""
    return K.cumsum(x, axis) if axis is not None else K.cumsum(K.reshape(x, (-1,)), 0)


@on_anything
def cumprod(x: Any, axis: int | None = None) -> Any:
    """Return the products up to each entry; without an axis, of the flat array."""
    return K.cumprod(x, axis) if axis is not None else K.cumprod(K.reshape(x, (-1,)), 0)


@on_anything
def count_nonzero(x: Any, axis: Any = None) -> Any:
    """Return how many entries differ from zero."""
    return K.sum(K.cast(K.not_equal(x, 0), "int32"), axis=axis)


@on_anything
def moments(x: Any, axes: Any, keepdims: bool = False) -> tuple[Any, Any]:
    """Return mean and variance."""
    return K.mean(x, axes, keepdims), K.var(x, axes, keepdims)


@on_anything
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the Euclidean norm.

    Raises
    ------
    ArgumentError
        `ord` asks for another norm.
    """
    if ord not in (None, 2, "fro"):
        raise ArgumentError(f"keras.ops.norm: ord={ord!r}; only the Euclidean norm is here yet.")
    return K.sqrt(K.sum(K.square(x), axis, keepdims))


@on_anything
def normalize(x: Any, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Any:
    """Return x divided by its Euclidean norm along an axis; below epsilon that counts as epsilon.

    Raises
    ------
    ArgumentError
        `order` asks for another norm.
    """
    if order != 2:
        raise ArgumentError(f"keras.ops.normalize: order={order!r}; only order 2 is here yet.")
    x, least = as_tensor(x), K.epsilon() if epsilon is None else epsilon
    squares = K.sum(K.square(x), axis, keepdims=True)
    return x / K.sqrt(K.maximum(squares, least * least))
