"""What the operations of Keras 3 compute: its name of each, its module there, a function here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kerascope import activations
from kerascope import backend as K
from kerascope.backend.graph import as_tensor
from kerascope.backend.ops import (
    comparison,
    control,
    elementwise,
    joining,
    linalg,
    nn,
)
from kerascope.backend.ops.broadcasting import promoted
from kerascope.errors import ShapeError

__all__: list[str] = []


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(x: Any, axis: Any = None, keepdims: bool = False, **others: Any) -> Any:
        return getattr(K, name)(x, axis=axis, keepdims=keepdims)

    return reduce


def _along(name: str) -> Callable[..., Any]:
    """Return a function along one axis; without an axis, along `x` as a vector."""

    def along(x: Any, axis: int | None = None, keepdims: bool = False, **others: Any) -> Any:
        result = getattr(K, name)(*((K.flatten(x), 0) if axis is None else (x, axis)))
        if not keepdims:
            return result
        return K.reshape(result, (1,) * x.ndim) if axis is None else K.expand_dims(result, axis)

    return along


def _repeat(x: Any, repeats: int, axis: int | None = None) -> Any:
    return K.repeat_elements(*((K.flatten(x), repeats, 0) if axis is None else (x, repeats, axis)))


def _of_one(name: str) -> Callable[..., Any]:
    return lambda x: getattr(K, name)(x)


def _of_two(name: str) -> Callable[..., Any]:
    return lambda x, y: getattr(K, name)(x, y)


def _get_item(x: Any, key: Any) -> Any:
    keys = [_slice(item) for item in key] if isinstance(key, list) else [_slice(key)]
    return x[tuple(keys)]


def _slice(key: Any) -> Any:
    """Return a part of an index as Python has it."""
    if isinstance(key, dict) and key.get("class_name") == "__slice__":
        return slice(*(key["config"][part] for part in ("start", "stop", "step")))
    if isinstance(key, dict) and key.get("class_name") == "__ellipsis__":
        return Ellipsis
    return key


def _reshape(x: Any, newshape: Any) -> Any:
    return K.reshape(x, tuple(-1 if size is None else size for size in newshape))


def _squeeze(x: Any, axis: Any = None) -> Any:
    axes = [i for i, size in enumerate(x.shape) if size == 1] if axis is None else _listed(axis)
    for one in sorted((one % x.ndim for one in axes), reverse=True):
        x = K.squeeze(x, one)
    return x


def _expand_dims(x: Any, axis: Any) -> Any:
    axes = _listed(axis)
    for one in sorted(a % (x.ndim + len(axes)) for a in axes):
        x = K.expand_dims(x, one)
    return x


def _tile(x: Any, repeats: Any) -> Any:
    times = _listed(repeats)
    for _ in range(len(times) - x.ndim):
        x = K.expand_dims(x, 0)
    return joining.Tile((*(1,) * (x.ndim - len(times)), *times))(x)


def _softmax(x: Any, axis: Any = -1) -> Any:
    """Return the softmax along an axis, or over several together."""
    if isinstance(axis, int):
        return K.softmax(x, axis)
    x = as_tensor(x)
    return K.exp(x - K.logsumexp(x, _listed(axis), keepdims=True))


def _flip(x: Any, axis: Any = None) -> Any:
    return K.reverse(x, list(range(x.ndim)) if axis is None else _listed(axis))


def _listed(axis: Any) -> list[int]:
    return [axis] if isinstance(axis, int) else list(axis)


def _where(condition: Any, x: Any, y: Any) -> Any:
    return control.Where()(condition, *promoted(x, y))


def _take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the entries at these places along an axis; without axis, of `x` as a vector."""
    indices = K.cast(indices, "int32")
    if axis is None:
        return K.gather(K.flatten(x), indices)
    axis %= x.ndim
    in_front = [axis, *(i for i in range(x.ndim) if i != axis)]
    taken = K.gather(x if axis == 0 else K.permute_dimensions(x, in_front), indices)
    new = list(range(K.ndim(indices)))
    rest = list(range(len(new), taken.ndim))
    pattern = [*rest[:axis], *new, *rest[axis:]]
    return taken if axis == 0 else K.permute_dimensions(taken, pattern)


def _tensordot(x: Any, y: Any, axes: Any) -> Any:
    x, y = promoted(x, y)
    if isinstance(axes, int):
        axes = [list(range(x.ndim - axes, x.ndim)), list(range(axes))]
    x_axes, y_axes = (_listed(one) for one in axes)
    x_axes, y_axes = [a % x.ndim for a in x_axes], [b % y.ndim for b in y_axes]
    return linalg.TensorDot(tuple(x_axes), tuple(y_axes))(x, y)


def _dot(x: Any, y: Any) -> Any:
    """Return NumPy's dot: over the last axis of `x` and the last but one of `y`."""
    x, y = promoted(x, y)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return _tensordot(x, y, [x.ndim - 1, max(y.ndim - 2, 0)])


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return the parts of `x` along an axis: so many equal ones, or between these places."""
    axis, length = axis % x.ndim, x.shape[axis]
    cuts = indices_or_sections
    if isinstance(cuts, int):
        if length is None or length % cuts:
            raise ShapeError(
                f"Split: {length} entries along axis {axis} of '{x.name}'; expected a multiple of "
                f"{cuts}.",
                subject=x,
            )
        cuts = range(length // cuts, length, length // cuts)
    before = (slice(None),) * axis
    return [x[(*before, slice(*span))] for span in pairwise([0, *cuts, None])]


def _swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    pattern = list(range(x.ndim))
    pattern[axis1], pattern[axis2] = pattern[axis2], pattern[axis1]
    return K.permute_dimensions(x, pattern)


def _transpose(x: Any, axes: Any = None) -> Any:
    return K.permute_dimensions(x, tuple(range(x.ndim)[::-1] if axes is None else axes))


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Return `x` with an axis, or each of several, moved to another place."""
    moved, places = ([axis % x.ndim for axis in _listed(axes)] for axes in (source, destination))
    order = [axis for axis in range(x.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return K.permute_dimensions(x, tuple(order))


def _round(x: Any, decimals: int = 0) -> Any:
    scale = 10.0**decimals
    return K.round(x * scale) / scale if decimals else K.round(x)


def _one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: str | None = None, sparse: bool = False
) -> Any:
    codes = K.one_hot(x, num_classes)
    codes = codes if dtype is None else K.cast(codes, dtype)
    if axis in (-1, codes.ndim - 1):
        return codes
    order = list(range(codes.ndim - 1))
    order.insert(axis % codes.ndim, codes.ndim - 1)
    return K.permute_dimensions(codes, order)


def _gelu(x: Any, approximate: bool = True) -> Any:
    if approximate:
        return 0.5 * x * (1.0 + K.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + elementwise.erf(x / 1.4142135623730951))


def _relu6(x: Any) -> Any:
    return K.relu(x, max_value=6.0)


_NUMPY, _NN = "keras.src.ops.numpy", "keras.src.ops.nn"
_CORE, _MATH = "keras.src.ops.core", "keras.src.ops.math"

# Keras 3's class -> its module and what it computes.
OPERATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "Add": (_NUMPY, lambda x, y: x + y),
    "Subtract": (_NUMPY, lambda x, y: x - y),
    "Multiply": (_NUMPY, lambda x, y: x * y),
    "Divide": (_NUMPY, lambda x, y: x / y),
    "TrueDivide": (_NUMPY, lambda x, y: x / y),
    "Power": (_NUMPY, _of_two("pow")),
    "Negative": (_NUMPY, lambda x: -x),
    "Matmul": (_NUMPY, lambda x, y: linalg.matmul(x, y)),
    "Maximum": (_NUMPY, _of_two("maximum")),
    "Minimum": (_NUMPY, _of_two("minimum")),
    "Equal": (_NUMPY, _of_two("equal")),
    "NotEqual": (_NUMPY, _of_two("not_equal")),
    "Greater": (_NUMPY, _of_two("greater")),
    "GreaterEqual": (_NUMPY, _of_two("greater_equal")),
    "Less": (_NUMPY, _of_two("less")),
    "LessEqual": (_NUMPY, _of_two("less_equal")),
    "LogicalAnd": (_NUMPY, lambda x, y: comparison.logical_and(x, y)),
    "LogicalOr": (_NUMPY, lambda x, y: comparison.logical_or(x, y)),
    "LogicalNot": (_NUMPY, lambda x: comparison.logical_not(x)),
    "Where": (_NUMPY, _where),
    "Mean": (_NUMPY, _reduction("mean")),
    "Sum": (_NUMPY, _reduction("sum")),
    "Max": (_NUMPY, _reduction("max")),
    "Min": (_NUMPY, _reduction("min")),
    "Prod": (_NUMPY, _reduction("prod")),
    "Any": (_NUMPY, _reduction("any")),
    "All": (_NUMPY, _reduction("all")),
    "Var": (_NUMPY, _reduction("var")),
    "Std": (_NUMPY, _reduction("std")),
    "Logsumexp": (_MATH, _reduction("logsumexp")),
    "Argmax": (_NUMPY, _along("argmax")),
    "Argmin": (_NUMPY, _along("argmin")),
    "Cumsum": (_NUMPY, _along("cumsum")),
    "Cumprod": (_NUMPY, _along("cumprod")),
    "Abs": (_NUMPY, _of_one("abs")),
    "Absolute": (_NUMPY, _of_one("abs")),
    "Exp": (_NUMPY, _of_one("exp")),
    "Log": (_NUMPY, _of_one("log")),
    "Sqrt": (_NUMPY, _of_one("sqrt")),
    "Square": (_NUMPY, _of_one("square")),
    "Sin": (_NUMPY, _of_one("sin")),
    "Cos": (_NUMPY, _of_one("cos")),
    "Tanh": (_NUMPY, _of_one("tanh")),
    "Sign": (_NUMPY, _of_one("sign")),
    "Reciprocal": (_NUMPY, lambda x: 1 / x),
    "Rsqrt": (_MATH, lambda x: 1 / K.sqrt(x)),
    "Log1p": (_NUMPY, lambda x: elementwise.log1p(x)),
    "Round": (_NUMPY, _round),
    "Erf": (_MATH, lambda x: elementwise.erf(x)),
    "Clip": (_NUMPY, lambda x, x_min, x_max: K.clip(x, x_min, x_max)),
    "ZerosLike": (_NUMPY, lambda x, dtype=None: K.zeros_like(x, dtype)),
    "OnesLike": (_NUMPY, lambda x, dtype=None: K.ones_like(x, dtype)),
    "Concatenate": (_NUMPY, lambda xs, axis=-1: K.concatenate(xs, axis=axis)),
    "Stack": (_NUMPY, lambda xs, axis=0: K.stack(xs, axis=axis)),
    "Transpose": (_NUMPY, _transpose),
    "Moveaxis": (_NUMPY, _moveaxis),
    "Reshape": (_NUMPY, _reshape),
    "ExpandDims": (_NUMPY, _expand_dims),
    "Squeeze": (_NUMPY, _squeeze),
    "Flip": (_NUMPY, _flip),
    "Repeat": (_NUMPY, _repeat),
    "Tile": (_NUMPY, _tile),
    "GetItem": (_NUMPY, _get_item),
    "Take": (_NUMPY, _take),
    "Split": (_NUMPY, _split),
    "Swapaxes": (_NUMPY, _swapaxes),
    "Ravel": (_NUMPY, _of_one("flatten")),
    "Dot": (_NUMPY, _dot),
    "Einsum": (_NUMPY, lambda *xs, subscripts: linalg.einsum(subscripts, *xs)),
    "Tensordot": (_NUMPY, _tensordot),
    "Cast": (_CORE, lambda x, dtype: K.cast(x, dtype)),
    "ConvertToTensor": (
        _CORE,
        lambda x, dtype=None, **others: x if dtype is None else K.cast(x, dtype),
    ),
    "StopGradient": (_CORE, lambda x: K.stop_gradient(x)),
    "OneHot": (_NN, _one_hot),
    "Relu": (_NN, _of_one("relu")),
    "Relu6": (_NN, _relu6),
    "LeakyRelu": (_NN, lambda x, negative_slope=0.2: K.relu(x, alpha=negative_slope)),
    "Sigmoid": (_NN, _of_one("sigmoid")),
    "HardSigmoid": (_NN, lambda x: _relu6(x + 3.0) / 6.0),
    "LogSigmoid": (_NN, lambda x: -K.softplus(-x)),
    "Silu": (_NN, lambda x: x * K.sigmoid(x)),
    "Gelu": (_NN, _gelu),
    "Softmax": (_NN, _softmax),
    "LogSoftmax": (_NN, lambda x, axis=-1: nn.log_softmax(x, axis)),
    "Softplus": (_NN, _of_one("softplus")),
    "Softsign": (_NN, _of_one("softsign")),
    "Elu": (_NN, lambda x, alpha=1.0: K.elu(x, alpha)),
    "Selu": (_NN, lambda x: activations.selu(x)),
}
