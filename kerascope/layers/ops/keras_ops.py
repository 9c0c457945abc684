"""The operations of Keras 3: the functions of `keras.ops`, and the classes that its files name.

This file is a table with one function, a *row*, for each operation. A row has the arguments of
Keras 3, in their order and with their defaults, and consists of K functions. The decorator `row`
uses the function twice: it makes `keras.ops.round`, which accepts arrays, tensors and outputs of
layers (see `on_anything`). If Keras 3 also has a class for the operation, it enters the function in
`OPERATIONS` under the name of this class, which files contain. Layers of type `Operation` call the
functions in `OPERATIONS`, so scripts and files give the same results. Operations of Keras 3 without
a row are listed in `missing_names`.

This file contains the operations that most models need. The modules in `_LATER` contain the other
operations, and are imported when a name that is not here is first requested.

If Keras 2 and Keras 3 compute different functions under one name, this file contains the function
of Keras 3. For example, `hard_sigmoid` is less steep in Keras 3.
"""

from __future__ import annotations

import builtins  # this module defines its own `any`, `all` and `slice`
import math
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kerascope import activations
from kerascope import backend as K
from kerascope.backend.dtypes import is_float
from kerascope.backend.eager import value_of
from kerascope.backend.graph import Constant, Tensor, TensorLike, as_tensor
from kerascope.backend.ops import control, elementwise, linalg
from kerascope.backend.ops.broadcasting import BroadcastLike, promoted
from kerascope.backend.ops.indexing import sizes_from
from kerascope.backend.ops.shaping import Full, shape_vector
from kerascope.errors import ArgumentError
from kerascope.layers.arguments import Sizes
from kerascope.layers.ops.element_types import own_types, typed
from kerascope.layers.ops.on_anything import on_anything
from kerascope.nested_values import found_in

_OTHERS = {
    *globals(),
    "row",
    "one_to_one",
    "class_name",
    "every_operation",
}  # names that are not operations: imports, and the functions that make the rows

Axes = int | Sequence[int]

P = ParamSpec("P")
R = TypeVar("R")

CORE, NUMPY, NN = "keras.src.ops.core", "keras.src.ops.numpy", "keras.src.ops.nn"
MATH = "keras.src.ops.math"

# Keras 3's class of an operation -> its module in Keras 3, and the function that computes it.
OPERATIONS: dict[str, tuple[str, Callable[..., Any]]] = {}


def row(
    home: str, kind: str = "", callable_as: Callable[[str, Any], Any] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that adds a function to the table `OPERATIONS`.

    Parameters
    ----------
    home : str
        The module that contains the operation's class in Keras 3.
    kind : str, optional
        The name of the class. Default: `class_name` of the function's name, such as "LogSoftmax".
    callable_as : callable, optional
        Takes the name of the class and the function, and returns the function that users call.
        Default: `on_anything` of the function.
    """

    def enter(function: Callable[P, R]) -> Callable[P, R]:
        name = kind or class_name(function.__name__)
        entered = typed(name, function)
        OPERATIONS[name] = (home, entered)
        return on_anything(entered) if callable_as is None else callable_as(name, entered)

    return enter


def class_name(name: str) -> str:
    """Return the class name of an operation, such as "LogSoftmax" for "log_softmax"."""
    return "".join(word.capitalize() for word in name.split("_"))


# A table of operations that are one function or op of kerascope. Each row contains the module of
# the classes in Keras 3, the module of kerascope, a function that adapts the arguments (or None),
# and the names: `cos`, or `absolute=abs` if the name in kerascope is different.
OneToOne = Sequence[tuple[str, Any, Callable[[Any], Callable[..., Any]] | None, str]]


def one_to_one(
    table: OneToOne, enter: Callable[[str, str], Callable[[Any], Any]] = row
) -> dict[str, Callable[..., Any]]:
    """Apply the decorator `enter` to each function in `table`, and return the results by name."""
    found = {}
    for home, module, make, names in table:
        for item in names.split():
            name, _, own = item.partition("=")
            function = ours = getattr(module, own or name)
            if make is not None:
                function = make(ours)
                function.__name__, function.__doc__ = name, ours.__doc__
            found[name] = enter(home, class_name(name))(function)
    return found


def _of_two(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a function of (x1, x2) that calls a K function on them after dtype promotion."""

    def call(x1: TensorLike, x2: TensorLike) -> Any:
        return function(*promoted(x1, x2))

    return call


_ONE_TO_ONE: OneToOne = (
    (NUMPY, K, None, """abs absolute=abs all amax=max amin=min any cos exp log logical_not mean
        sign sin square stack std sum tanh var"""),
    (MATH, K, None, "erf logsumexp"),
    (NN, K, None, """binary_crossentropy categorical_crossentropy elu log_softmax sigmoid softplus
        softsign sparse_categorical_crossentropy"""),
    (NUMPY, K, _of_two, """equal greater greater_equal less less_equal logical_and logical_or
        maximum minimum not_equal"""),
    (NUMPY, elementwise, _of_two, "add divide multiply subtract true_divide=divide"),
    (NUMPY, elementwise, None, "negative sqrt=square_root"),
)  # fmt: skip

globals().update(one_to_one(_ONE_TO_ONE))


# --- elementwise functions ------------------------------------------------------------------------


@row(NUMPY)
def power(x1: TensorLike, x2: TensorLike) -> Any:
    """Return x1 ** x2. For integers and a negative x2 the result is 0, unless |x1| is 1."""
    x1, x2 = (elementwise.countable(x) for x in promoted(x1, x2))
    if not x1.dtype.startswith("int"):
        return K.pow(x1, x2)
    is_whole = K.logical_or(K.greater_equal(x2, 0), K.equal(K.abs(x1), 1))
    exponents = control.Where()(K.less(x2, 0), elementwise.mod(x2, 2), x2)
    return K.pow(x1, exponents) * K.cast(is_whole, x1.dtype)


@row(NUMPY)
def clip(x: TensorLike, x_min: Any, x_max: Any) -> Any:
    """Return x clipped to [x_min, x_max]; where x_max is below x_min, return x_max."""
    x, bounds = as_tensor(x), (x_min, x_max)
    if is_float(x.dtype) and not found_in(bounds, (Tensor, np.ndarray)):
        return K.clip(x, builtins.min(bounds), x_max)
    return K.minimum(K.maximum(x, x_min), x_max)


@row(CORE)
def cast(x: TensorLike, dtype: str) -> Any:
    """Return x converted to `dtype`."""
    return K.cast(x, dtype)


@row(NUMPY)
def reciprocal(x: TensorLike) -> Any:
    """Return 1 / x."""
    return 1.0 / as_tensor(x)


@row(MATH)
def rsqrt(x: TensorLike) -> Any:
    """Return 1 / sqrt(x)."""
    return 1.0 / elementwise.square_root(x)


@row(NUMPY)
def log1p(x: TensorLike) -> Any:
    """Return log(1 + x), without rounding errors for x near 0."""
    return elementwise.log1p(x)


@row(NUMPY)
def log2(x: TensorLike) -> Any:
    """Return the logarithm of x to the base 2."""
    return K.log(x) / math.log(2.0)


@row(NUMPY)
def log10(x: TensorLike) -> Any:
    """Return the logarithm of x to the base 10."""
    return K.log(x) / math.log(10.0)


@row(NUMPY)
def expm1(x: TensorLike) -> Any:
    """Return exp(x) - 1, without rounding errors for x near 0."""
    x = as_tensor(x)
    return K.tanh(x / 2.0) * (K.exp(x) + 1.0)


@row(NUMPY)
def tan(x: TensorLike) -> Any:
    """Return the tangent of x, an angle in radians."""
    return K.sin(x) / K.cos(x)


@row(NUMPY)
def sinh(x: TensorLike) -> Any:
    """Return the hyperbolic sine, (exp(x) - exp(-x)) / 2, without rounding errors near 0."""
    x = as_tensor(x)
    return K.tanh(x) * (K.exp(x) + K.exp(-x)) / 2.0


@row(NUMPY)
def cosh(x: TensorLike) -> Any:
    """Return the hyperbolic cosine, (exp(x) + exp(-x)) / 2."""
    return (K.exp(x) + K.exp(-as_tensor(x))) / 2.0


@row(NUMPY)
def logaddexp(x1: Any, x2: Any) -> Any:
    """Return log(exp(x1) + exp(x2)), without overflow."""
    x1, x2 = (elementwise.floating(x) for x in promoted(x1, x2))
    largest, far = K.maximum(x1, x2), K.abs(x1 - x2)
    far = control.Where()(K.equal(far, far), far, as_tensor(0, like=far))  # inf - inf
    return largest + K.softplus(-far)


@row(NUMPY)
def logical_xor(x1: TensorLike, x2: TensorLike) -> Any:
    """Return a bool tensor: True where exactly one of x1 and x2 is true."""
    return K.not_equal(K.cast(x1, "bool"), K.cast(x2, "bool"))


@row(NUMPY)
def where(condition: TensorLike, x1: Any = None, x2: Any = None) -> Any:
    """Return x1 where the condition is true, x2 elsewhere. The three arguments are broadcast.

    Without x1 and x2, return the indices where the condition is true, as `nonzero` does.
    """
    if x1 is None and x2 is None:
        return __getattr__("nonzero")(condition)
    return control.Where()(as_tensor(condition), *promoted(x1, x2))


@row(NUMPY)
def isnan(x: TensorLike) -> Any:
    """Return a bool tensor: True where x is NaN."""
    x = as_tensor(x)
    return K.not_equal(x, x)


@row(NUMPY)
def round(x: TensorLike, decimals: int = 0) -> Any:
    """Return x rounded to `decimals` decimals; halves are rounded to the even digit."""
    x, scale = as_tensor(x), 10.0**decimals
    if decimals == 0 or (decimals > 0 and not is_float(x.dtype)):
        return K.round(x)
    found = K.round(x * scale) / scale
    return found if is_float(x.dtype) else __getattr__("saturate_cast")(found, x.dtype)


@row(CORE)
def stop_gradient(variable: TensorLike) -> Any:
    """Return a copy of the tensor `variable` through which no gradient flows."""
    return K.stop_gradient(variable)


# --- activations ----------------------------------------------------------------------------------


@row(NN)
def relu(x: TensorLike) -> Any:
    """Return max(x, 0). The result for integers is of an integer dtype."""
    x = elementwise.countable(x)
    return K.relu(x) if is_float(x.dtype) else K.maximum(x, 0)


@row(NN)
def softmax(x: TensorLike, axis: Axes = -1) -> Any:
    """Return the softmax along an axis, or over several axes together."""
    if isinstance(axis, int):
        return K.softmax(x, axis)
    x = as_tensor(x)
    return K.exp(x - K.logsumexp(x, _listed(axis), keepdims=True))


@row(NN)
def relu6(x: TensorLike) -> Any:
    """Return x clipped to [0, 6]."""
    return K.relu(x, max_value=6.0)


@row(NN)
def silu(x: TensorLike) -> Any:
    """Return x * sigmoid(x)."""
    x = as_tensor(x)
    return x * K.sigmoid(x)


swish = silu


@row(NN)
def leaky_relu(x: TensorLike, negative_slope: float = 0.2) -> Any:
    """Return x where x is positive, and negative_slope * x elsewhere."""
    return K.relu(x, alpha=negative_slope)


@row(NN)
def hard_sigmoid(x: TensorLike) -> Any:
    """Return x / 6 + 0.5, clipped to [0, 1]."""
    return K.clip(as_tensor(x) / 6.0 + 0.5, 0.0, 1.0)


@row(NN)
def hard_silu(x: TensorLike) -> Any:
    """Return x * hard_sigmoid(x)."""
    return as_tensor(x) * K.clip(as_tensor(x) / 6.0 + 0.5, 0.0, 1.0)


hard_swish = hard_silu


@row(NN)
def hard_tanh(x: TensorLike) -> Any:
    """Return x clipped to [-1, 1]. The result for integers is of an integer dtype."""
    x = elementwise.countable(x)
    return K.clip(x, -1.0, 1.0) if is_float(x.dtype) else clip(x, -1, 1)


@row(NN)
def log_sigmoid(x: TensorLike) -> Any:
    """Return log(sigmoid(x))."""
    return -K.softplus(-as_tensor(x))


@row(NN)
def selu(x: TensorLike) -> Any:
    """Return the scaled exponential linear unit (SELU) of x."""
    return activations.selu(x)


@row(NN)
def gelu(x: TensorLike, approximate: bool = True) -> Any:
    """Return the Gaussian error linear unit (GELU) of x, by default approximated with tanh."""
    x = as_tensor(x)
    if not approximate:
        return 0.5 * x * (1.0 + K.erf(x / math.sqrt(2.0)))
    return 0.5 * x * (1.0 + K.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


# --- reductions -----------------------------------------------------------------------------------


@row(NUMPY)
def max(
    x: TensorLike, axis: Axes | None = None, keepdims: bool = False, initial: Any = None
) -> Any:
    """Return the largest entry along axes, or `initial` if it is greater."""
    largest = K.max(x, axis, keepdims)
    return largest if initial is None else K.maximum(largest, initial)


@row(NUMPY)
def min(
    x: TensorLike, axis: Axes | None = None, keepdims: bool = False, initial: Any = None
) -> Any:
    """Return the smallest entry along axes, or `initial` if it is smaller."""
    smallest = K.min(x, axis, keepdims)
    return smallest if initial is None else K.minimum(smallest, initial)


@row(NUMPY)
def prod(
    x: TensorLike, axis: Axes | None = None, keepdims: bool = False, dtype: str | None = None
) -> Any:
    """Return the product along axes, computed in `dtype`."""
    return K.prod(x if dtype is None else K.cast(x, dtype), axis, keepdims)


@on_anything
def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the largest entry along an axis; by default, in the flattened array."""
    return K.cast(_argmax(x, axis, keepdims), "int32")


@on_anything
def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest entry along an axis; by default, in the flattened array."""
    return K.cast(_argmin(x, axis, keepdims), "int32")


# Files use these two classes for K.argmax and K.argmin too, whose results are int64.
@row(NUMPY, "Argmax")
def _argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    return _place(K.argmax, as_tensor(x), axis, keepdims)


@row(NUMPY, "Argmin")
def _argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    return _place(K.argmin, as_tensor(x), axis, keepdims)


def _place(function: Callable[..., Any], x: Tensor, axis: int | None, keepdims: bool) -> Any:
    place = function(K.reshape(x, (-1,)), 0) if axis is None else function(x, axis)
    if not keepdims:
        return place
    return K.reshape(place, (1,) * x.ndim) if axis is None else K.expand_dims(place, axis)


@row(NUMPY)
def cumsum(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the cumulative sums along an axis; by default, those of the flattened array."""
    x = x if dtype is None else K.cast(x, dtype)
    return K.cumsum(x, axis) if axis is not None else K.cumsum(K.reshape(x, (-1,)), 0)


@row(NUMPY)
def cumprod(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the cumulative products along an axis; by default, those of the flattened array."""
    x = x if dtype is None else K.cast(x, dtype)
    return K.cumprod(x, axis) if axis is not None else K.cumprod(K.reshape(x, (-1,)), 0)


@row(NUMPY)
def count_nonzero(x: TensorLike, axis: Axes | None = None) -> Any:
    """Return the number of nonzero entries along axes."""
    return K.sum(K.cast(K.not_equal(x, 0), "int32"), axis=axis)


@on_anything
def moments(
    x: TensorLike, axes: Axes, keepdims: bool = False, synchronized: bool = False
) -> tuple[Any, Any]:
    """Return the pair (mean, variance) along axes. The argument `synchronized` is ignored."""
    return K.mean(x, axes, keepdims), K.var(x, axes, keepdims)


@row(NN)
def normalize(x: TensorLike, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Any:
    """Return x divided by its norm along an axis, or by epsilon if the norm is smaller."""
    x, least = as_tensor(x), K.epsilon() if epsilon is None else epsilon
    if order != 2:
        return x / K.maximum(__getattr__("norm")(x, order, axis, True), least)
    squares = K.sum(K.square(x), axis if x.ndim else None, keepdims=True)
    return x / K.sqrt(K.maximum(squares, least * least))


# --- shapes and slices ----------------------------------------------------------------------------


def shape(x: TensorLike) -> tuple[Any, ...]:
    """Return the shape of x as a tuple, in which an unknown size is a scalar tensor."""
    if not isinstance(x, Tensor):
        return np.shape(x)
    return tuple(K.shape(x)[i] if size is None else size for i, size in enumerate(x.shape))


@on_anything
def size(x: TensorLike) -> Any:
    """Return the number of entries of x."""
    return K.prod(K.shape(x))


def ndim(x: TensorLike) -> int:
    """Return the number of axes of x."""
    return len(x.shape) if isinstance(x, Tensor) else np.ndim(x)


@row(NUMPY)
def expand_dims(x: TensorLike, axis: Axes) -> Any:
    """Return x with one or several new axes of size 1."""
    x, axes = as_tensor(x), _listed(axis)
    for one in sorted(a % (x.ndim + len(axes)) for a in axes):
        x = K.expand_dims(x, one)
    return x


@row(NUMPY)
def squeeze(x: TensorLike, axis: Axes | None = None) -> Any:
    """Return x without the given axes, which have size 1; by default, without all such axes."""
    x = as_tensor(x)
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else _listed(axis)
    for one in sorted((a % x.ndim for a in axes), reverse=True):
        x = K.squeeze(x, one)
    return x


@row(NUMPY)
def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Any:
    """Return x with its axes in the order `axes`; by default in reverse order."""
    return K.transpose(x) if axes is None else K.permute_dimensions(x, tuple(axes))


@row(NUMPY)
def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Any:
    """Return x with two axes exchanged."""
    x = as_tensor(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return K.permute_dimensions(x, tuple(order))


@row(NUMPY)
def moveaxis(x: TensorLike, source: Axes, destination: Axes) -> Any:
    """Return x with one or several axes moved to other positions."""
    x = as_tensor(x)
    moved, places = ([axis % x.ndim for axis in _listed(axes)] for axes in (source, destination))
    order = [axis for axis in range(x.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return K.permute_dimensions(x, tuple(order))


@row(NUMPY)
def ravel(x: TensorLike) -> Any:
    """Return x flattened to one axis."""
    return K.reshape(x, (-1,))


@row(NUMPY)
def flip(x: TensorLike, axis: Axes | None = None) -> Any:
    """Return x in reverse order along the given axes; by default, along all axes."""
    x = as_tensor(x)
    return K.reverse(x, list(range(x.ndim)) if axis is None else _listed(axis))


@row(NUMPY)
def concatenate(xs: Sequence[Any], axis: int = 0) -> Any:
    """Return the tensors joined along an axis."""
    return K.concatenate(list(xs), axis)


@row(NUMPY)
def split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return the list of parts of x along an axis: n equal parts, or parts split at indices.

    Raises
    ------
    ArgumentError
        A number of parts is given, and the size of the axis is unknown or not divisible by this
        number.
    """
    x = as_tensor(x)
    axis %= x.ndim
    length = x.shape[axis]
    cuts = indices_or_sections
    if isinstance(cuts, int):
        if length is None:
            raise ArgumentError(f"keras.ops.split: the size of axis {axis} must be known.")
        if length % cuts:
            raise ArgumentError(
                f"keras.ops.split: expected an axis whose size is a multiple of {cuts}, got "
                f"{length}."
            )
        cuts = range(length // cuts, length, length // cuts)
    before = (_cut(None),) * axis
    return [x[(*before, _cut(a, b))] for a, b in pairwise([0, *cuts, None])]


@row(CORE)
def unstack(x: TensorLike, num: int | None = None, axis: int = 0) -> list[Any]:
    """Return the list of entries of x along an axis. The entries lack this axis."""
    x = as_tensor(x)
    axis %= x.ndim
    number = x.shape[axis] if num is None else num
    return [x[(*(_cut(None),) * axis, i)] for i in range(number or 0)]


@row(NUMPY)
def reshape(x: TensorLike, newshape: Sequence[Any]) -> Any:
    """Return x in another shape; a size of -1 or None is inferred."""
    return K.reshape(x, tuple(-1 if size is None else size for size in newshape))


@row(NUMPY)
def tile(x: Any, repeats: Any) -> Any:
    """Return x repeated as a whole, `repeats[n]` times along axis n."""
    x = as_tensor(x)
    if isinstance(repeats, Tensor) and repeats.ndim:
        repeats = [repeats[i] for i in range(len(sizes_from(repeats, "tile: repeats")))]
    times = [repeats] if isinstance(repeats, Tensor) else _listed(repeats)
    while x.ndim < len(times):
        x = K.expand_dims(x, 0)
    return K.tile(x, [1] * (x.ndim - len(times)) + times)


@row(NUMPY)
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return x with each entry along an axis repeated `repeats` (or `repeats[n]`) times."""
    x, axis = (K.reshape(x, (-1,)), 0) if axis is None else (as_tensor(x), axis % ndim(x))
    if isinstance(repeats, Tensor) and not repeats.ndim:
        sizes = list(shape(x))
        line = K.expand_dims(x, axis + 1)
        line = broadcast_to(line, [*sizes[: axis + 1], repeats, *sizes[axis + 1 :]])
        return K.reshape(line, [*sizes[:axis], -1, *sizes[axis + 1 :]])
    size, times = x.shape[axis], np.asarray(repeats)
    if times.size == 1 and times.ndim < 2:
        return K.repeat_elements(x, int(times.reshape(())), axis)
    if times.ndim != 1 or len(times) != size:
        raise ArgumentError(
            f"keras.ops.repeat: expected repeats to be a number, or one for each of the {size} "
            f"entries along axis {axis}, got shape {times.shape}."
        )
    return take(x, np.repeat(np.arange(size), times), axis)


@row(NUMPY)
def take(x: TensorLike, indices: Any, axis: int | None = None) -> Any:
    """Return the entries of x at `indices` along an axis; by default, of the flattened array."""
    indices = as_tensor(indices)
    if not indices.dtype.startswith(("int", "uint")):
        indices = K.cast(indices, "int32")
    x, axis = (K.reshape(x, (-1,)), 0) if axis is None else (as_tensor(x), axis % ndim(x))
    if isinstance(indices, Constant) and (indices.value < 0).any():  # counted from the end
        numbers, size = indices.value.astype("int32"), x.shape[axis]
        size = K.cast(K.shape(x)[axis], "int32") if size is None else size
        indices = as_tensor(numbers + size * (numbers < 0).astype("int32"))
    if axis == 0:
        return K.gather(x, indices)
    order = (axis, *(i for i in range(x.ndim) if i != axis))
    taken = K.gather(K.permute_dimensions(x, order), indices)
    new = taken.ndim - x.ndim + 1
    back = (*range(new, new + axis), *range(new), *range(new + axis, taken.ndim))
    return K.permute_dimensions(taken, back)


@row(NUMPY)
def get_item(x: TensorLike, key: Any) -> Any:
    """Return x[key]. If the key comes from a file, slices and `...` may be dicts."""
    keys = key if isinstance(key, (list, tuple)) else [key]
    return as_tensor(x)[tuple(_part_of_key(part) for part in keys)]


def _part_of_key(part: Any) -> Any:
    """Return an item of a key; if it is a dict from a file, return its `slice` or `...`."""
    if isinstance(part, dict) and part.get("class_name") == "__slice__":
        return builtins.slice(*(part["config"][name] for name in ("start", "stop", "step")))
    if isinstance(part, dict) and part.get("class_name") == "__ellipsis__":
        return Ellipsis
    return part


@row(NUMPY)
def broadcast_to(x: TensorLike, shape: Any) -> Any:
    """Return x broadcast to a shape, whose sizes may be tensors."""
    return BroadcastLike(None)(x, Full(0, "bool")(as_tensor(shape_vector(shape))))


@row(NN)
def one_hot(
    x: TensorLike, num_classes: int, axis: int = -1, dtype: str | None = None, sparse: bool = False
) -> Any:
    """Return the one-hot vector of each class number. The argument `sparse` is ignored."""
    rows = K.cast(K.one_hot(K.cast(x, "int32"), num_classes), dtype or K.floatx())
    return rows if axis in (-1, rows.ndim - 1) else moveaxis(rows, -1, axis)


@row(NUMPY)
def tril(x: TensorLike, k: int = 0) -> Any:
    """Return x with zeros above its k-th diagonal."""
    return _triangle(x, k, K.less_equal)


@row(NUMPY)
def triu(x: TensorLike, k: int = 0) -> Any:
    """Return x with zeros below its k-th diagonal."""
    return _triangle(x, k, K.greater_equal)


def _triangle(x: TensorLike, k: int, part: Callable[[Any, Any], Any]) -> Any:
    x = as_tensor(x)
    sizes = K.shape(x)
    rows, columns = K.arange(sizes[x.ndim - 2]), K.arange(sizes[x.ndim - 1])
    inside = part(K.expand_dims(columns, 0), K.expand_dims(rows, 1) + k)
    return control.Where()(inside, x, as_tensor(x.dtype != "bool" and 0, like=x))


@row(CORE)
def slice(inputs: TensorLike, start_indices: Any, shape: Any) -> Any:
    """Return the part of the inputs that begins at `start_indices` and has the shape `shape`."""
    return K.slice(inputs, start_indices, shape)


def _listed(axis: Axes) -> list[int]:
    return [axis] if isinstance(axis, int) else list(axis)


def _cut(first: int | None, last: int | None = None) -> Any:
    """Return a Python `slice`, since the name `slice` is an operation in this module."""
    return builtins.slice(first, last)


# --- new arrays -----------------------------------------------------------------------------------


def convert_to_tensor(
    x: TensorLike, dtype: str | None = None, sparse: Any = None, ragged: Any = None
) -> Any:
    """Return x converted to `dtype`: a tensor if x is a tensor, otherwise an array."""
    x = x.value if isinstance(x, K.Variable) else x  # its current value
    if isinstance(x, Tensor):
        return x if dtype is None else K.cast(x, dtype)
    array = np.asarray(x, dtype=dtype)
    if dtype is None and array.dtype in (np.float64, np.int64):
        return np.array(value_of(x))
    return array


OPERATIONS["ConvertToTensor"] = (CORE, convert_to_tensor)


def array(x: TensorLike, dtype: str | None = None) -> Any:
    """Return x converted to `dtype`: a tensor if x is a tensor, otherwise an array."""
    return convert_to_tensor(x, dtype)


def convert_to_numpy(x: TensorLike) -> np.ndarray:
    """Return the value of a tensor as an array.

    Raises
    ------
    DtypeError
        The tensor has no value, because it is a placeholder or is computed from one.
    """
    return np.asarray(K.eval(x) if isinstance(x, Tensor) else x)


def is_tensor(x: TensorLike) -> bool:
    """Return whether x is a tensor or an array."""
    return isinstance(x, (Tensor, np.ndarray))


def full(shape: Any, fill_value: Any, dtype: str | None = None) -> Any:
    """Return an array filled with one value; a tensor if a size or the value is a tensor."""
    if found_in((shape, fill_value), Tensor):
        return broadcast_to(K.cast(as_tensor(fill_value), dtype or K.floatx()), shape)
    return np.full(shape, fill_value, dtype or K.floatx())


def zeros(shape: Any, dtype: str | None = None) -> Any:
    """Return an array of zeros; a tensor if a size of the shape is a tensor."""
    return full(shape, 0.0, dtype or K.floatx())


def ones(shape: Any, dtype: str | None = None) -> Any:
    """Return an array of ones; a tensor if a size of the shape is a tensor."""
    return full(shape, 1.0, dtype or K.floatx())


def eye(N: Any, M: Any = None, k: int = 0, dtype: str | None = None) -> Any:
    """Return an N x M matrix with ones on the k-th diagonal."""
    return _ones_where(K.equal, N, M, k, dtype)


def _ones_where(compare: Callable[[Any, Any], Any], N: Any, M: Any, k: int, dtype: Any) -> Any:
    """Return an N x M matrix: 1 where `compare(column, row + k)` is true, 0 elsewhere."""
    rows, columns = arange(N), arange(N if M is None else M)
    compared = on_anything(compare)(columns, rows[:, None] + k)
    return cast(compared, dtype or K.floatx())


def identity(n: Any, dtype: str | None = None) -> Any:
    """Return the identity matrix of n rows."""
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: str | None = None) -> Any:
    """Return the numbers from start to stop (excluded); without `stop`, from 0 up to start."""
    first, last, distance = (0 if stop is None else start), (start if stop is None else stop), step
    distance = 1 if step is None else step
    if builtins.any(isinstance(value, Tensor) for value in (first, last, distance)):
        return K.arange(first, last, distance, dtype or "int32")
    kind = promoted(*own_types((first, last, distance)))[0].dtype
    return np.arange(first, last, distance, dtype=dtype or kind)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: str | None = None,
    axis: int = 0,
) -> Any:
    """Return `num` numbers at equal distances from start to stop, by default including both."""
    dtype = dtype or _type_of_ends(start, stop)
    if not found_in((start, stop), Tensor):
        found, step = np.linspace(start, stop, num, endpoint, True, dtype, axis)  # type: ignore[call-overload]
        return (found, np.asarray(step, dtype)) if retstep else found
    start, stop = (elementwise.floating(x) for x in promoted(start, stop))
    step = (stop - start) / builtins.max(num - bool(endpoint), 1)
    numbers = np.arange(num).reshape(-1, *(1,) * builtins.max(start.ndim, stop.ndim))
    found = cast(moveaxis(start + step * numbers, 0, axis), dtype)
    return (found, step) if retstep else found


def _type_of_ends(start: Any, stop: Any) -> str:
    """Return the float dtype to which the dtypes of `start` and `stop` are promoted."""
    return elementwise.floating(promoted(*own_types((start, stop)))[0]).dtype


@row(NUMPY)
def zeros_like(x: TensorLike, dtype: str | None = None) -> Any:
    """Return a tensor of zeros with the shape of x."""
    return K.zeros_like(x, dtype=dtype)


@row(NUMPY)
def ones_like(x: TensorLike, dtype: str | None = None) -> Any:
    """Return a tensor of ones with the shape of x."""
    return K.ones_like(x, dtype=dtype)


@row(NUMPY)
def full_like(x: TensorLike, fill_value: Any, dtype: str | None = None) -> Any:
    """Return a tensor filled with one value; shape and dtype are by default those of x."""
    ones = K.ones_like(x, dtype=dtype)
    return ones * K.cast(as_tensor(fill_value), ones.dtype)


# --- choices --------------------------------------------------------------------------------------


@row(MATH, "InTopK")
def in_top_k(targets: TensorLike, predictions: TensorLike, k: int) -> Any:
    """Return, for each row, whether the target class is among the k largest predictions."""
    return K.in_top_k(predictions, targets, k)


# --- products, convolutions -----------------------------------------------------------------------


@on_anything
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """Return the sum of products given by subscripts such as "ij,jk->ik"."""
    return K.einsum(subscripts, *_without_int8(operands))


def _without_int8(operands: Sequence[Any]) -> list[Tensor]:
    """Return the operands as tensors. If all are int8, cast them to int32 to avoid overflow."""
    tensors = [as_tensor(x) for x in operands]
    narrow = builtins.all(x.dtype == "int8" for x in tensors)
    return [K.cast(x, "int32") for x in tensors] if narrow else tensors


@row(NUMPY)
def matmul(x1: TensorLike, x2: TensorLike) -> Any:
    """Return the matrix product of x1 and x2. Its dtype is int32 if both are int8."""
    return linalg.matmul(*promoted(*_without_int8((x1, x2))))


# Keras 3's class `Einsum` takes the subscripts in its constructor, not in its call.
OPERATIONS["Einsum"] = (NUMPY, lambda *operands, subscripts: einsum(subscripts, *operands))


@row(NUMPY)
def dot(x1: Any, x2: Any) -> Any:
    """Return the dot product over the last axis of x1 and the second-to-last axis of x2."""
    x1, x2 = promoted(x1, x2)
    return K.dot(x1, x2) if x1.ndim and x2.ndim else x1 * x2


@row(NUMPY)
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Return the product of two tensors summed over `axes`: n axes, or a list for each tensor."""
    x1, x2 = promoted(x1, x2)
    if isinstance(axes, int):
        axes = [list(range(x1.ndim - axes, x1.ndim)), list(range(axes))]
    first, second = (_listed(one) for one in axes)
    return linalg.TensorDot(
        tuple(axis % x1.ndim for axis in first), tuple(axis % x2.ndim for axis in second)
    )(x1, x2)


@row(NUMPY)
def outer(x1: Any, x2: Any) -> Any:
    """Return the matrix of the products of each entry of x1 with each entry of x2."""
    x1, x2 = promoted(x1, x2)
    return K.expand_dims(K.reshape(x1, (-1,)), 1) * K.reshape(x2, (1, -1))


def _by_rank(
    x: TensorLike, functions: dict[int, Callable[..., Any]], name: str
) -> Callable[..., Any]:
    rank = as_tensor(x).ndim - 2
    if rank not in functions:
        raise ArgumentError(f"keras.ops.{name}: expected an input with "
              f"{' or '.join(str(n + 2) for n in functions)} axes, got {rank + 2}.")  # fmt: skip
    return functions[rank]


def _each(value: Any, rank: int) -> Any:
    return (value,) * rank if isinstance(value, int) and rank > 1 else value


@row(NN)
def conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Any:
    """Return the convolution of inputs and kernel over one, two or three spatial axes."""
    function = _by_rank(inputs, {1: K.conv1d, 2: K.conv2d, 3: K.conv3d}, "conv")
    rank = as_tensor(inputs).ndim - 2
    steps, dilation = _each(strides, rank), _each(dilation_rate, rank)
    return function(inputs, kernel, steps, padding, data_format, dilation)


@row(NN)
def max_pool(
    inputs: TensorLike,
    pool_size: Sizes,
    strides: Sizes | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the largest entry of each window."""
    return _pool(inputs, pool_size, strides, padding, data_format, "max")


@row(NN)
def average_pool(
    inputs: TensorLike,
    pool_size: Sizes,
    strides: Sizes | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return the mean of each window."""
    return _pool(inputs, pool_size, strides, padding, data_format, "avg")


def _pool(x: TensorLike, size: Any, strides: Any, padding: str, data_format: Any, mode: str) -> Any:
    function = _by_rank(x, {1: K.pool1d, 2: K.pool2d, 3: K.pool3d}, f"{mode}_pool")
    rank = as_tensor(x).ndim - 2
    window = _each(size, rank)
    return function(x, window, _each(strides, rank) or window, padding, data_format, mode)


@row(NN)
def depthwise_conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Any:
    """Return the convolution of each channel of the inputs with its own filters."""
    _by_rank(inputs, {2: K.depthwise_conv2d}, "depthwise_conv")
    steps, dilation = _each(strides, 2), _each(dilation_rate, 2)
    return K.depthwise_conv2d(inputs, kernel, steps, padding, data_format, dilation)


@on_anything
def layer_normalization(
    x: TensorLike,
    gamma: TensorLike | None = None,
    beta: TensorLike | None = None,
    axis: Axes = -1,
    epsilon: float | None = None,
) -> Any:
    """Return x normalised to mean 0 and variance 1 along an axis, then scaled and shifted."""
    x, epsilon = elementwise.floating(x), K.epsilon() if epsilon is None else epsilon
    wide = _in_float32(x)
    normal = (wide - K.mean(wide, axis, True)) / K.sqrt(K.var(wide, axis, True) + epsilon)
    normal = normal if gamma is None else normal * _along(wide, gamma, axis)
    normal = normal if beta is None else normal + _along(wide, beta, axis)
    return K.cast(normal, x.dtype)


def _in_float32(x: Tensor) -> Tensor:
    """Return a tensor, cast from float16 to float32 so that squares do not overflow."""
    return K.cast(x, "float32") if x.dtype == "float16" else x


def _along(x: Tensor, weights: TensorLike, axis: Axes) -> Tensor:
    """Return weights in the dtype of x, reshaped to broadcast along the axes in `axis`."""
    weights, axes = K.cast(as_tensor(weights), x.dtype), {n % x.ndim for n in _listed(axis)}
    if weights.ndim != len(axes) or axes == {x.ndim - 1}:
        return weights
    sizes = iter(weights.shape)
    return K.reshape(weights, [next(sizes) if n in axes else 1 for n in range(x.ndim)])


@on_anything
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    axis: int,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    epsilon: float = 1e-3,
) -> Any:
    """Return x normalised by a given mean and variance; NaN where the variance is negative."""
    deviation = elementwise.square_root(as_tensor(variance) + epsilon)
    spread = K.square(deviation)
    return K.batch_normalization(x, mean, spread, offset, scale, axis, 0.0)


# --- operations in other modules ------------------------------------------------------------------

# All public lower-case names that this file defines are operations.
_HERE = sorted(name for name in {*globals()} - _OTHERS if name.islower() and name[0] != "_")

# The modules with the other operations. Most models do not need them, nor their imports.
_LATER = ("numpy", "core", "linalg", "nn")


def every_operation() -> dict[str, tuple[str, Callable[..., Any]]]:
    """Import all modules with operations, and return `OPERATIONS`."""
    for name in (*_LATER, "image"):  # functions of "image" are in keras.ops.image only
        import_module(f"kerascope.layers.ops.{name}")
    return OPERATIONS


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = [import_module(f"kerascope.layers.ops.{module}") for module in _LATER]
    if name == "__all__":
        return sorted({*_HERE, *(one for module in modules for one in module.__all__)})
    for module in modules:
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
