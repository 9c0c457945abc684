"""Operations of `keras.ops` with the names of NumPy functions: see `keras_ops`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import mul
from types import SimpleNamespace
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.dtypes import is_float
from kerascope.backend.eager import value_of
from kerascope.backend.graph import Constant, Op, Tensor, TensorLike, as_tensor
from kerascope.backend.ops import elementwise
from kerascope.backend.ops import mathematics as m
from kerascope.backend.ops import places as p
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import countable, floating
from kerascope.backend.ops.image import Pad
from kerascope.backend.ops.shaping import shape_vector
from kerascope.backend.shapes import normalize_axis
from kerascope.errors import ArgumentError, RefusedError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.keras_ops import Axes
from kerascope.layers.ops.rows import CORE, MATH, NUMPY, public, row

_OTHERS = {*globals()}  # names that are not operations


# --- elementwise functions ------------------------------------------------------------------------


Treat = Callable[[Any], Tensor]


def _of_one(treat: Treat, kind: type[Op]) -> Callable[..., Any]:
    """Return a function that converts its input with `treat` and applies an op class to it."""

    def call(x: TensorLike) -> Any:
        return kind()(treat(x))

    return call


def _of_two(treat: Treat, kind: type[Op]) -> Callable[..., Any]:
    """Return a function that converts two inputs with `treat` and applies an op class to them."""

    def call(x1: TensorLike, x2: TensorLike) -> Any:
        return kind()(*(treat(one) for one in promoted(x1, x2)))

    return call


def _of_bits(treat: Treat, kind: type[Op]) -> Callable[..., Any]:
    """Return a function of x and y that applies a bitwise op class."""

    def call(x: TensorLike, y: TensorLike) -> Any:
        return kind()(*(treat(one) for one in promoted(x, y)))

    return call


# Operations that are single ops: the module in Keras 3, a function that makes the operation's
# function, the conversion of the arguments, and the names of the operations and their op classes.
_OPS: tuple[tuple[str, Callable[..., Any], Treat, str], ...] = (
    (NUMPY, _of_one, floating, """arccos=Arccos arccosh=Arccosh arcsin=Arcsin arcsinh=Arcsinh
        arctan=Arctan arctanh=Arctanh cbrt=CubeRoot ceil=Ceil exp2=Exp2 fabs=Abs floor=Floor
        i0=BesselI0 sinc=Sinc"""),
    (MATH, _of_one, floating, "erfc=Erfc erfinv=Erfinv"),
    (NUMPY, _of_one, as_tensor, """bitwise_invert=BitwiseInvert bitwise_not=BitwiseInvert
        isfinite=IsFinite isinf=IsInf signbit=SignBit trunc=Trunc"""),
    (NUMPY, _of_two, floating, """arctan2=Arctan2 heaviside=Heaviside hypot=Hypot
        nextafter=NextAfter"""),
    (NUMPY, _of_two, countable, """floor_divide=FloorDivide fmod=Fmod gcd=GreatestDivisor
        lcm=LeastMultiple mod=Mod"""),
    (NUMPY, _of_bits, as_tensor, """bitwise_and=BitwiseAnd bitwise_or=BitwiseOr
        bitwise_xor=BitwiseXor"""),
    (NUMPY, _of_bits, countable, """bitwise_left_shift=LeftShift left_shift=LeftShift
        bitwise_right_shift=RightShift right_shift=RightShift"""),
)  # fmt: skip
_KINDS = SimpleNamespace(**{**vars(elementwise), **vars(m)})

globals().update(
    ops.one_to_one(
        [(home, _KINDS, partial(make, treat), names) for home, make, treat, names in _OPS], row
    )
)


@row(NUMPY)
def copy(x: TensorLike) -> Any:
    """Return a copy of x."""
    return K.identity(x)


@row(NUMPY)
def deg2rad(x: TensorLike) -> Any:
    """Return x converted from degrees to radians."""
    return floating(x) * (math.pi / 180)


@row(NUMPY)
def rad2deg(x: TensorLike) -> Any:
    """Return x converted from radians to degrees."""
    return floating(x) * (180 / math.pi)


@row(NUMPY)
def isneginf(x: TensorLike) -> Any:
    """Return a bool tensor: True where x is minus infinity."""
    return K.logical_and(m.IsInf()(x), K.less(x, 0))


@row(NUMPY)
def isposinf(x: TensorLike) -> Any:
    """Return a bool tensor: True where x is plus infinity."""
    return K.logical_and(m.IsInf()(x), K.greater(x, 0))


@row(NUMPY)
def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Return a bool tensor: True where |x1 - x2| is at most atol + rtol * |x2|."""
    x1, x2 = (floating(x) for x in promoted(x1, x2))
    near = K.less_equal(K.abs(x1 - x2), atol + rtol * K.abs(x2))
    close = K.logical_or(K.equal(x1, x2), K.logical_and(near, m.IsFinite()(x2)))
    both = K.logical_and(K.not_equal(x1, x1), K.not_equal(x2, x2))
    return K.logical_or(close, both) if equal_nan else close


@row(NUMPY, "AllClose")
def allclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Return whether `isclose` is True for all entries."""
    return K.all(isclose(x1, x2, rtol, atol, equal_nan))


@row(NUMPY)
def divide_no_nan(x1: Any, x2: Any) -> Any:
    """Return x1 / x2, or 0 where x2 is 0."""
    x1, x2 = (floating(x) for x in promoted(x1, x2))
    is_zero = K.equal(x2, 0)
    return Where()(is_zero, as_tensor(0, like=x1), x1 / Where()(is_zero, as_tensor(1, like=x2), x2))


def _not_nan(x1: Any, x2: Any, chosen: Callable[[Any, Any], Any]) -> Any:
    x1, x2 = promoted(x1, x2)
    x1_if_nan, x2_if_nan = Where()(_is_nan(x1), x2, x1), Where()(_is_nan(x2), x1, x2)
    return chosen(x1_if_nan, x2_if_nan)


@row(NUMPY)
def fmax(x1: TensorLike, x2: TensorLike) -> Any:
    """Return the elementwise maximum of x1 and x2. If one of them is NaN, return the other."""
    return _not_nan(x1, x2, K.maximum)


@row(NUMPY)
def fmin(x1: TensorLike, x2: TensorLike) -> Any:
    """Return the elementwise minimum of x1 and x2. If one of them is NaN, return the other."""
    return _not_nan(x1, x2, K.minimum)


@row(NUMPY)
def ldexp(x1: TensorLike, x2: TensorLike) -> Any:
    """Return x1 * 2 ** x2."""
    x1 = floating(x1)
    return Where()(K.equal(x1, 0), x1, x1 * m.Exp2()(K.cast(x2, x1.dtype)))


@row(NUMPY)
def logaddexp2(x1: TensorLike, x2: TensorLike) -> Any:
    """Return log2(2 ** x1 + 2 ** x2), without overflow."""
    x1, x2 = (floating(x) for x in promoted(x1, x2))
    two = math.log(2)
    return ops.logaddexp(two * x1, two * x2) / two


@row(NUMPY)
def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Return x with NaN replaced, by default by 0, and infinities by the limits of the dtype."""
    x = as_tensor(x)
    if not is_float(x.dtype):
        return x
    greatest = np.finfo(x.dtype).max
    high, low = (greatest if posinf is None else posinf), (-greatest if neginf is None else neginf)
    for where, value in [(_is_nan(x), nan), (isposinf(x), high), (isneginf(x), low)]:
        x = Where()(where, as_tensor(float(value), like=x), x)
    return x


def _is_nan(x: Tensor) -> Any:
    return K.not_equal(x, x)


@row(CORE)
def saturate_cast(x: TensorLike, dtype: str) -> Any:
    """Return x clipped to the range of `dtype` and converted to it."""
    x = as_tensor(x)
    if is_float(dtype) or dtype == "bool":
        return K.cast(x, dtype)
    limits = np.iinfo(dtype)
    wide = K.cast(x, "float64") if is_float(x.dtype) else K.cast(x, "int64")
    return K.cast(K.clip(wide, limits.min, limits.max), dtype)


@row(NUMPY)
def view(x: TensorLike, dtype: str | None = None) -> Any:
    """Return the bytes of x interpreted as values of another dtype of the same size.

    Raises
    ------
    ArgumentError
        The dtypes have different sizes.
    """
    x = as_tensor(x)
    dtype = dtype or x.dtype
    if np.dtype(dtype).itemsize != np.dtype(x.dtype).itemsize:
        raise ArgumentError(
            f"keras.ops.view: expected a dtype of the size of {x.dtype}, got {dtype}."
        )
    return m.ViewAs(dtype)(x)


# --- complex numbers: all tensors here are real ---------------------------------------------------


@row(NUMPY)
def real(x: TensorLike) -> Any:
    """Return the real part of x, which is x itself because all tensors are real."""
    return as_tensor(x)


@row(NUMPY)
def imag(x: TensorLike) -> Any:
    """Return the imaginary part of x, which is 0 because all tensors are real."""
    return K.zeros_like(x)


@row(NUMPY)
def conj(x: TensorLike) -> Any:
    """Return the complex conjugate of x, which is x itself because all tensors are real."""
    return as_tensor(x)


@row(NUMPY)
def conjugate(x: TensorLike) -> Any:
    """Return the complex conjugate of x, which is x itself because all tensors are real."""
    return as_tensor(x)


@row(NUMPY)
def isreal(x: TensorLike) -> Any:
    """Return True for each entry, because all tensors are real."""
    return K.ones_like(x, dtype="bool")


@row(NUMPY)
def angle(x: TensorLike) -> Any:
    """Return the angle of real numbers: pi if x is negative (or -0.0), otherwise 0."""
    x = floating(x)
    found = Where()(m.SignBit()(x), as_tensor(math.pi, like=x), K.zeros_like(x))
    return Where()(_is_nan(x), x, found)


# --- reductions -----------------------------------------------------------------------------------


def _without_nan(x: TensorLike, value: float) -> Any:
    x = as_tensor(x)
    return Where()(_is_nan(x), as_tensor(value, like=x), x) if is_float(x.dtype) else x


def _numbers(x: TensorLike, axis: Axes | None, keepdims: bool) -> Any:
    """Return, as a float, how many entries along axes are not NaN."""
    x = as_tensor(x)
    return K.sum(K.cast(K.equal(x, x), floating(x).dtype), axis, keepdims)


@row(NUMPY)
def nansum(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the sum along axes, in which NaN counts as 0."""
    return K.sum(_without_nan(x, 0), axis, keepdims)


@row(NUMPY)
def nanprod(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the product along axes, in which NaN counts as 1."""
    return K.prod(_without_nan(x, 1), axis, keepdims)


@row(NUMPY)
def nanmean(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the mean along axes, ignoring NaN."""
    return nansum(floating(x), axis, keepdims) / _numbers(x, axis, keepdims)


@row(NUMPY)
def nanvar(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the variance along axes, ignoring NaN."""
    x = floating(x)
    squares = K.square(x - nanmean(x, axis, True))
    counted = Where()(_is_nan(x), as_tensor(0, like=x), squares)
    return K.sum(counted, axis, keepdims) / _numbers(x, axis, keepdims)


@row(NUMPY)
def nanstd(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the standard deviation along axes, ignoring NaN."""
    return K.sqrt(nanvar(x, axis, keepdims))


@row(NUMPY)
def nanmax(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the largest entry along axes. NaN is ignored, unless all entries are NaN."""
    return _extreme(x, axis, keepdims, K.max, -math.inf)


@row(NUMPY)
def nanmin(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the smallest entry along axes. NaN is ignored, unless all entries are NaN."""
    return _extreme(x, axis, keepdims, K.min, math.inf)


def _extreme(x: Any, axis: Any, keepdims: bool, function: Any, least: float) -> Any:
    found = function(_without_nan(x, least), axis, keepdims)
    if not is_float(found.dtype):
        return found
    nothing = K.equal(_numbers(x, axis, keepdims), 0)
    return Where()(nothing, as_tensor(math.nan, like=found), found)


@row(NUMPY)
def nanargmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the largest entry, ignoring NaN; -1 if all entries are NaN."""
    found = ops.argmax(_without_nan(x, -math.inf), axis, keepdims)
    return Where()(K.equal(_numbers(x, axis, keepdims), 0), as_tensor(-1, like=found), found)


@row(NUMPY)
def nanargmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest entry, ignoring NaN; -1 if all entries are NaN."""
    found = ops.argmin(_without_nan(x, math.inf), axis, keepdims)
    return Where()(K.equal(_numbers(x, axis, keepdims), 0), as_tensor(-1, like=found), found)


@row(NUMPY)
def nancumsum(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the cumulative sums along an axis, in which NaN counts as 0."""
    return ops.cumsum(_without_nan(x, 0), axis, dtype)


@row(NUMPY)
def nancumprod(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Any:
    """Return the cumulative products along an axis, in which NaN counts as 1."""
    return ops.cumprod(_without_nan(x, 1), axis, dtype)


@row(NUMPY)
def ptp(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the range of the entries along axes: the maximum minus the minimum."""
    return K.max(x, axis, keepdims) - K.min(x, axis, keepdims)


@row(NUMPY)
def average(x: TensorLike, axis: Axes | None = None, weights: Any = None) -> Any:
    """Return the mean along axes, weighted if `weights` are given."""
    x = floating(x)
    if weights is None:
        return K.mean(x, axis)
    weights = K.cast(as_tensor(weights), x.dtype)
    if isinstance(axis, int) and weights.ndim == 1 < x.ndim:
        shape = [1] * x.ndim
        shape[axis] = -1
        weights = K.reshape(weights, shape)
    return K.sum(x * weights, axis) / K.sum(weights * K.ones_like(x), axis)


@row(NUMPY)
def trapezoid(y: TensorLike, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral along an axis by the trapezoidal rule."""
    y = floating(y)
    widths = dx
    if x is not None:
        x = as_tensor(x)
        widths = diff(K.reshape(x, _line(y.ndim, axis)) if x.ndim == 1 else x, 1, axis)
    before, after = _but_one(y, axis)
    return K.sum((before + after) * widths / 2.0, axis)


def _line(ndim: int, axis: int) -> list[int]:
    """Return a shape with -1 at the given axis and 1 at all others, for example [1, -1, 1]."""
    shape = [1] * ndim
    shape[axis] = -1
    return shape


def _but_one(x: Tensor, axis: int) -> tuple[Any, Any]:
    """Return x without its last entry along an axis, and x without its first entry."""
    before = (slice(None),) * (axis % x.ndim)
    return x[(*before, slice(None, -1))], x[(*before, slice(1, None))]


@row(NUMPY)
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Return the differences of neighbouring entries along an axis, taken n times in a row."""
    a = as_tensor(a)
    for _ in range(n):
        before, after = _but_one(a, axis)
        a = K.not_equal(before, after) if a.dtype == "bool" else after - before
    return a


# --- sorting, searching, quantiles ----------------------------------------------------------------


def _ordered(x: TensorLike, axis: int | None, name: str) -> tuple[Tensor, int]:
    x = as_tensor(x)
    if axis is None or not x.ndim:
        return K.reshape(x, (-1,)), 0
    return x, normalize_axis(axis, x.ndim, f"keras.ops.{name}")


@row(NUMPY)
def argsort(x: TensorLike, axis: int | None = -1) -> Any:
    """Return the indices that sort the entries in ascending order. The sort is stable."""
    x, axis = _ordered(x, axis, "argsort")
    return p.ArgSort(axis)(x)


@row(NUMPY)
def argpartition(x: TensorLike, kth: int, axis: int | None = -1) -> Any:
    """Return indices that put entry k at its sorted position. They sort all other entries too."""
    x, axis = _ordered(x, axis, "argpartition")
    return p.ArgSort(axis)(x)


@row(NUMPY)
def sort(x: TensorLike, axis: int | None = -1) -> Any:
    """Return the entries sorted in ascending order along an axis."""
    x, axis = _ordered(x, axis, "sort")
    return p.TakeAlongAxis(axis)(x, p.ArgSort(axis)(x))


@row(MATH, "TopK")
def top_k(x: TensorLike, k: int, sorted: bool = True) -> Any:
    """Return the k largest entries along the last axis, in descending order, and their indices."""
    x = as_tensor(x)
    places = p.ArgSort(x.ndim - 1, True)(x)[..., :k]
    return p.TakeAlongAxis(x.ndim - 1)(x, places), places


@row(NUMPY)
def take_along_axis(x: TensorLike, indices: Any, axis: int | None = None) -> Any:
    """Return the entries at `indices` along an axis; without an axis, of the flattened array."""
    x, line = _ordered(x, axis, "take_along_axis")
    indices = as_tensor(indices)
    indices = K.reshape(indices, (-1,)) if axis is None else indices
    if x.ndim == indices.ndim:
        pairs = list(zip(x.shape, indices.shape, strict=True))
        if any(1 in pair and pair != (1, 1) for n, pair in enumerate(pairs) if n != line):
            x, indices = _stretched_but(line, x, indices)
    return p.TakeAlongAxis(line)(x, indices)


def _stretched_but(axis: int, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors broadcast to a common shape, except along one axis."""
    for pair in ((x, y), (y, x)):
        one, other = pair
        sizes: list[Any] = list(ops.shape(one))
        for n, size in enumerate(ops.shape(other)):
            if n != axis and one.shape[n] == 1:
                sizes[n] = size
        if pair[0] is x:
            x = ops.broadcast_to(x, sizes)
        else:
            y = ops.broadcast_to(y, sizes)
    return x, y


@row(NUMPY, "SearchSorted")
def searchsorted(sorted_sequence: TensorLike, values: Any, side: str = "left") -> Any:
    """Return the index at which each value would be inserted into a sorted vector."""
    if side not in ("left", "right"):
        raise ArgumentError(f"keras.ops.searchsorted: side={side!r}. Use 'left' or 'right'.")
    return p.SearchSorted(side)(*promoted(sorted_sequence, values))


@row(NUMPY)
def digitize(x: TensorLike, bins: Any) -> Any:
    """Return, for each number in x, the index of its interval between the ascending `bins`."""
    x, bins = promoted(x, bins)
    return p.SearchSorted("right")(bins, x)


def _at_quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool, skips_nan: bool) -> Any:
    x, q = floating(x), as_tensor(q)
    q = K.cast(q, x.dtype)
    axes = list(range(x.ndim)) if axis is None else [a % x.ndim for a in ops._listed(axis)]
    rest = [a for a in range(x.ndim) if a not in axes]
    line = K.permute_dimensions(x, (*rest, *axes))
    sizes = ops.shape(x)
    line = K.reshape(line, [*(sizes[a] for a in rest), reduce(mul, [sizes[a] for a in axes], 1)])
    last = line.ndim - 1
    numbers = K.sum(K.cast(K.equal(line, line), x.dtype), last, True)
    count = numbers if skips_nan else K.sum(K.ones_like(line), last, True)
    place = K.maximum(K.reshape(q, (*(1,) * last, -1)) * (count - 1), 0)
    low, high = m.Floor()(place), m.Ceil()(place)
    if method in ("lower", "higher", "nearest"):
        nearest = Where()(K.less_equal(place - low, 0.5), low, high)
        low = high = {"lower": low, "higher": high, "nearest": nearest}[method]
    elif method not in ("linear", "midpoint"):
        raise ArgumentError(
            f"keras.ops.quantile: expected method 'linear', 'lower', 'higher', 'midpoint' or "
            f"'nearest', got {method!r}."
        )
    ordered = p.TakeAlongAxis(last)(line, p.ArgSort(last)(line))
    below, above = (p.TakeAlongAxis(last)(ordered, K.cast(at, "int32")) for at in (low, high))
    share = place - low if method == "linear" else as_tensor(0.5, like=place)
    between = below + (above - below) * share
    found = Where()(K.equal(low, high), below, between)  # exact also next to an infinite entry
    if not skips_nan:
        found = Where()(K.equal(numbers, count), found, as_tensor(math.nan, like=found))
    found = K.permute_dimensions(found, (last, *range(last)))
    kept = [1 if a in axes else sizes[a] for a in range(x.ndim) if keepdims or a in rest]
    return K.reshape(found, [*q.shape, *kept])


@row(NUMPY)
def quantile(
    x: TensorLike, q: Any, axis: Axes | None = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Return the q-quantile along axes: the value below which a fraction q of the entries is."""
    return _at_quantile(x, q, axis, method, keepdims, False)


@row(NUMPY)
def nanquantile(
    x: TensorLike, q: Any, axis: Axes | None = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Return the q-quantile along axes, ignoring NaN."""
    return _at_quantile(x, q, axis, method, keepdims, True)


def _shares(q: Any) -> Any:
    return as_tensor(q, like=K.constant(0.0)) / 100.0


@row(NUMPY)
def percentile(
    x: TensorLike, q: Any, axis: Axes | None = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Return the percentile along axes: the value below which q percent of the entries are."""
    return _at_quantile(x, _shares(q), axis, method, keepdims, False)


@row(NUMPY)
def nanpercentile(
    x: TensorLike, q: Any, axis: Axes | None = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """Return the percentile along axes, ignoring NaN."""
    return _at_quantile(x, _shares(q), axis, method, keepdims, True)


@row(NUMPY)
def median(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the median along axes."""
    return _at_quantile(x, 0.5, axis, "linear", keepdims, False)


@row(NUMPY)
def nanmedian(x: TensorLike, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the median along axes, ignoring NaN."""
    return _at_quantile(x, 0.5, axis, "linear", keepdims, True)


# --- counting and sets ----------------------------------------------------------------------------


@row(NUMPY)
def nonzero(x: TensorLike) -> Any:
    """Return the indices of the nonzero entries, as one vector for each axis."""
    x = as_tensor(x)
    places = p.Nonzero()(x)
    return tuple(places[axis] for axis in range(x.ndim))


@row(NUMPY)
def bincount(x: TensorLike, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """Return how often 0, 1, 2, ... occur along the last axis; with `weights`, the sums of weights.

    The length of the result is known only at run time: it is the largest number plus 1, but at
    least `minlength`.

    Raises
    ------
    RefusedError
        `sparse` is true, which is not supported.
    """
    if sparse:
        raise RefusedError("keras.ops.bincount: sparse=True is not supported here.")
    further = [] if weights is None else [as_tensor(weights)]
    return p.Bincount(int(minlength))(x, *further)


@row(NUMPY)
def histogram(x: TensorLike, bins: int = 10, range: Any = None) -> Any:
    """Return the number of entries in each of `bins` equal intervals, and the interval bounds."""
    x = floating(x)
    low, high = (K.min(x), K.max(x)) if range is None else range
    low, high = (as_tensor(border, like=x) for border in (low, high))
    is_one = K.cast(K.equal(low, high), x.dtype) * 0.5
    low, high = low - is_one, high + is_one
    share = as_tensor(np.linspace(0, 1, int(bins) + 1), like=x)
    borders = low * (1.0 - share) + high * share
    return p.Histogram()(x, borders), borders


@row(NUMPY)
def unique(
    x: TensorLike,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the distinct entries, sorted; optionally with their indices and counts.

    The number of distinct entries is known only at run time. If `size` is given, the result has
    this size, and is padded with `fill_value`, by default the minimum. The operation has no
    gradient.
    """
    x = as_tensor(x)
    asked = (return_index, return_inverse, return_counts)
    names = ("return_index", "return_inverse", "return_counts")
    further = tuple(name for name, is_asked in zip(names, asked, strict=True) if is_asked)
    axis = None if axis is None else normalize_axis(axis, x.ndim, "keras.ops.unique")
    found = p.Unique(axis, further, size, fill_value)(x)
    return tuple(found) if further else found


@row(NUMPY, "IsIn")
def isin(x1: Any, x2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Return a bool tensor: True where an entry of x1 is contained in x2."""
    x1, x2 = promoted(x1, x2)
    found = K.any(K.equal(K.expand_dims(x1, -1), K.reshape(x2, (-1,))), -1)
    return K.logical_not(found) if invert else found


@row(NUMPY)
def unravel_index(indices: Any, shape: Sequence[int]) -> Any:
    """Return indices in a flat array, converted to one index for each axis of `shape`."""
    indices, found = as_tensor(indices), []
    for size in reversed(list(shape)):
        found.append(elementwise.Mod()(*promoted(indices, size)))
        indices = elementwise.FloorDivide()(*promoted(indices, size))
    return tuple(found[::-1])


# --- shapes, slices, grids ------------------------------------------------------------------------

_REPEATING = ("edge", "reflect", "symmetric", "wrap")


@row(NUMPY)
def pad(x: TensorLike, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """Return x padded with constants, or with its own entries as in `numpy.pad`.

    Raises
    ------
    ArgumentError
        The mode is not "constant", "edge", "reflect", "symmetric" or "wrap", or constants are given
        for a mode other than "constant".
    """
    x = as_tensor(x)
    widths = np.broadcast_to(np.asarray(pad_width, "int64"), (x.ndim, 2)).tolist()
    if mode == "constant":
        padding = tuple((before, after) for before, after in widths)
        padded = Pad(padding)(x)
        if constant_values is None:
            return padded
        inside = Pad(padding)(K.ones_like(x, dtype="bool"))
        return Where()(inside, padded, K.cast(as_tensor(constant_values, like=x), x.dtype))
    if mode not in _REPEATING or constant_values is not None:
        raise ArgumentError(
            f"keras.ops.pad: mode={mode!r} with constant_values={constant_values!r}. Use mode "
            f"'constant', or without constants one of {', '.join(map(repr, _REPEATING))}."
        )
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = ops.take(x, p.PlacesWithPadding(before, after, mode)(K.shape(x)[axis]), axis)
    return x


@row(NUMPY)
def roll(x: TensorLike, shift: Any, axis: Axes | None = None) -> Any:
    """Return x shifted along axes; entries shifted beyond the end reappear at the beginning."""
    x = as_tensor(x)
    if axis is None:
        flat = p.Roll((int(np.sum(shift)),), (0,))(K.reshape(x, (-1,)))
        return K.reshape(flat, K.shape(x) if None in x.shape else x.shape)
    axes = tuple(normalize_axis(a, x.ndim, "keras.ops.roll") for a in ops._listed(axis))
    shifts = np.broadcast_to(np.asarray(shift, "int64"), (len(axes),))
    return p.Roll(tuple(map(int, shifts)), axes)(x)


@row(NUMPY)
def rot90(array: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Return x rotated by k * 90 degrees in the plane of two axes."""
    x: Any = as_tensor(array)
    first, second = (axis % x.ndim for axis in axes)
    turned = {
        0: lambda: x,
        1: lambda: ops.swapaxes(K.reverse(x, second), first, second),
        2: lambda: K.reverse(x, [first, second]),
        3: lambda: K.reverse(ops.swapaxes(x, first, second), second),
    }
    return turned[k % 4]()


@row(NUMPY)
def flipud(x: TensorLike) -> Any:
    """Return x with its rows in reverse order."""
    return K.reverse(as_tensor(x), 0)


@row(NUMPY)
def fliplr(x: TensorLike) -> Any:
    """Return x with its columns in reverse order."""
    return K.reverse(as_tensor(x), 1)


@row(NUMPY)
def append(x1: Any, x2: Any, axis: int | None = None) -> Any:
    """Return x1 and x2 joined along an axis; without an axis, joined as vectors."""
    x1, x2 = promoted(x1, x2)
    if axis is None:
        x1, x2, axis = K.reshape(x1, (-1,)), K.reshape(x2, (-1,)), 0
    return K.concatenate([x1, x2], axis)


def _at_least(x: TensorLike, ndim: int) -> Tensor:
    x = as_tensor(x)
    if ndim == 3:
        x = K.expand_dims(_at_least(x, 2), -1) if x.ndim < 3 else x
    while x.ndim < ndim:
        x = K.expand_dims(x, 0)
    return x


@row(NUMPY)
def hstack(xs: Sequence[Any]) -> Any:
    """Return tensors joined along the second axis; vectors are joined along their only axis."""
    tensors = [_at_least(x, 1) for x in xs]
    return K.concatenate(tensors, 0 if tensors[0].ndim == 1 else 1)


@row(NUMPY)
def vstack(xs: Sequence[Any]) -> Any:
    """Return tensors joined along the first axis, after extending them to at least two axes."""
    return K.concatenate([_at_least(x, 2) for x in xs], 0)


@row(NUMPY)
def dstack(xs: Sequence[Any]) -> Any:
    """Return tensors joined along the third axis, after extending them to at least three axes."""
    return K.concatenate([_at_least(x, 3) for x in xs], 2)


@row(NUMPY)
def hsplit(x: TensorLike, indices_or_sections: Any) -> Any:
    """Split x along the second axis (a vector along its only axis); return the list of parts."""
    x = as_tensor(x)
    return ops.split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


@row(NUMPY)
def vsplit(x: TensorLike, indices_or_sections: Any) -> Any:
    """Split x along the first axis, into equal parts or at indices; return the list of parts."""
    return ops.split(x, indices_or_sections, 0)


@row(NUMPY)
def dsplit(x: TensorLike, indices_or_sections: Any) -> Any:
    """Split x along the third axis, into equal parts or at indices; return the list of parts."""
    return ops.split(x, indices_or_sections, 2)


@row(NUMPY)
def array_split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> Any:
    """Split x along an axis, into n parts (the first parts may be longer by 1) or at indices."""
    x = as_tensor(x)
    cuts = indices_or_sections
    if isinstance(cuts, int):
        size = x.shape[axis]
        if size is None:
            raise ArgumentError(f"keras.ops.array_split: the size of axis {axis} must be known.")
        cuts = np.cumsum([len(part) for part in np.array_split(np.empty(size), cuts)])[:-1].tolist()
    return ops.split(x, list(cuts), axis)


@row(NUMPY)
def meshgrid(*x: TensorLike, indexing: str = "xy") -> Any:
    """Return a grid for each vector: the vector repeated along the axes of the other vectors."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"keras.ops.meshgrid: indexing={indexing!r}. Use 'xy' or 'ij'.")
    vectors = [K.reshape(as_tensor(one), (-1,)) for one in x]
    sizes: Any = [ops.shape(one)[0] for one in vectors]
    grids = [
        ops.broadcast_to(K.reshape(one, _line(len(vectors), axis)), sizes)
        for axis, one in enumerate(vectors)
    ]
    if indexing == "xy" and len(grids) > 1:
        grids = [ops.swapaxes(grid, 0, 1) for grid in grids]
    return grids


@row(NUMPY)
def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonal of the matrices that two axes of x form, as a new last axis."""
    x = ops.moveaxis(as_tensor(x), (axis1, axis2), (-2, -1))
    rows, columns = ops.shape(x)[-2:]
    down, right = max(-offset, 0), max(offset, 0)
    count = _least(_minus(rows, down), _minus(columns, right))
    places = ops.arange(count) * (columns + 1) + (down * columns + right)
    flat = K.reshape(x, [*ops.shape(x)[:-2], rows * columns])
    return ops.take(flat, places, axis=-1)


def _minus(size: Any, number: int) -> Any:
    return size - number if isinstance(size, Tensor) else max(size - number, 0)


def _least(a: Any, b: Any) -> Any:
    return K.minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


@row(NUMPY)
def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the sum of the diagonal of the matrices that two axes of x form."""
    return K.sum(diagonal(x, offset, axis1, axis2), -1)


@row(NUMPY)
def diag(x: TensorLike, k: int = 0) -> Any:
    """Return the k-th diagonal of a matrix x; for a vector x, a matrix with x as k-th diagonal."""
    x = as_tensor(x)
    if x.ndim > 1:
        return diagonal(x, k)
    padded = Pad(((max(-k, 0), max(k, 0)),))(x)
    places = K.arange(K.shape(padded)[0])
    there = K.equal(K.expand_dims(places, 1) + k, places)
    zero = as_tensor(x.dtype != "bool" and 0, like=x)
    return Where()(there, K.expand_dims(padded, 1), zero)


@row(NUMPY)
def diagflat(x: TensorLike, k: int = 0) -> Any:
    """Return the matrix whose k-th diagonal contains all entries of x."""
    return diag(K.reshape(x, (-1,)), k)


@row(NUMPY)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Return, for each element, the first choice whose condition is true; `default` if none is."""
    first = next((c for c in choicelist if not np.isscalar(c)), choicelist[0])
    like = as_tensor(first)
    pairs = list(zip(condlist, choicelist, strict=True))[::-1]
    last = as_tensor(default, like=like)
    return reduce(
        lambda rest, pair: Where()(as_tensor(pair[0]), *promoted(pair[1], rest)), pairs, last
    )


# --- products -------------------------------------------------------------------------------------


@row(NUMPY)
def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """Return the cross-correlation of two vectors: their dot product at each shift.

    Raises
    ------
    ArgumentError
        The mode is not "full", "same" or "valid", or a length is unknown.
    """
    x1, x2 = (floating(x) for x in promoted(x1, x2))
    n, count = x1.shape[0], x2.shape[0]
    if mode not in ("full", "same", "valid") or n is None or count is None:
        raise ArgumentError(
            f"keras.ops.correlate: expected mode 'full', 'same' or 'valid' and vectors of known "
            f"lengths, got mode={mode!r} and shapes {x1.shape} and {x2.shape}."
        )
    if n < count:
        return K.reverse(correlate(x2, x1, mode), 0)
    before = {"full": count - 1, "same": count // 2, "valid": 0}[mode]
    after = {"full": count - 1, "same": count - 1 - count // 2, "valid": 0}[mode]
    padded = K.reshape(Pad(((before, after),))(x1), (1, -1, 1))
    found = K.conv1d(padded, K.reshape(x2, (-1, 1, 1)), data_format="channels_last")
    return K.reshape(found, (-1,))


@row(NUMPY)
def corrcoef(x: TensorLike) -> Any:
    """Return the matrix of correlation coefficients of the rows of x."""
    x = floating(x)
    x = K.reshape(x, (1, -1)) if x.ndim < 2 else x
    centered = x - K.mean(x, -1, True)
    products = K.dot(centered, K.transpose(centered))
    scale = K.sqrt(diagonal(products))
    found = K.clip(products / K.expand_dims(scale, 1) / scale, -1.0, 1.0)
    return K.reshape(found, ()) if found.shape == (1, 1) else found


@row(NUMPY)
def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Any:
    """Return the Vandermonde matrix: the powers of a vector's entries, the highest one first."""
    x = countable(x)
    number = x.shape[0] if N is None else N
    if number is None:
        raise ArgumentError("keras.ops.vander: the length of x is unknown. Give N.")
    rising = [K.ones_like(x)]
    for _ in range(number - 1):
        rising.append(rising[-1] * x)
    return K.stack(rising if increasing else rising[::-1], -1)


# --- new arrays -----------------------------------------------------------------------------------


def dtype(x: TensorLike) -> str:
    """Return the name of the dtype of x."""
    return as_tensor(x).dtype if isinstance(x, Tensor) else np.asarray(x).dtype.name


def empty(shape: Sequence[Any], dtype: str | None = None) -> Any:
    """Return an array of zeros with the given shape. In Keras the values are arbitrary."""
    return ops.zeros(shape, dtype)


@row(NUMPY)
def empty_like(x: TensorLike, dtype: str | None = None) -> Any:
    """Return a tensor of zeros with the shape of x. In Keras the values are arbitrary."""
    return K.zeros_like(x, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: str | None = None) -> Any:
    """Return an N x M matrix with ones on and below the k-th diagonal, zeros above."""
    return ops._ones_where(K.less_equal, N, M, k, dtype)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: str | None = None,
    axis: int = 0,
) -> Any:
    """Return `num` numbers from base ** start to base ** stop, evenly spaced on a log scale."""
    ends = [_number(x) for x in (start, stop)]
    start, stop = map(np.asarray, ends)
    found = np.logspace(start, stop, num, endpoint, base, axis=axis)
    return found.astype(dtype or ops._type_of_ends(*ends))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: str | None = None,
    axis: int = 0,
) -> Any:
    """Return `num` numbers from start to stop in a geometric progression."""
    ends = [_number(x) for x in (start, stop)]
    start, stop = map(np.asarray, ends)
    found = np.geomspace(start, stop, num, endpoint, axis=axis)
    return found.astype(dtype or ops._type_of_ends(*ends))


def _number(x: Any) -> Any:
    return value_of(x) if isinstance(x, Tensor) else x


def _window(function: Callable[..., np.ndarray], x: Any, *further: Any) -> np.ndarray:
    return function(int(_number(x)), *map(_number, further)).astype(K.floatx())


def bartlett(x: Any) -> np.ndarray:
    """Return the Bartlett (triangular) window of x numbers."""
    return _window(np.bartlett, x)


def blackman(x: Any) -> np.ndarray:
    """Return the Blackman window of x numbers."""
    return _window(np.blackman, x)


def hamming(x: Any) -> np.ndarray:
    """Return the Hamming window of x numbers."""
    return _window(np.hamming, x)


def hanning(x: Any) -> np.ndarray:
    """Return the Hann window of x numbers."""
    return _window(np.hanning, x)


def kaiser(x: Any, beta: Any) -> np.ndarray:
    """Return the Kaiser window of x numbers."""
    return _window(np.kaiser, x, beta)


# --- scattering and updating ----------------------------------------------------------------------


@row(CORE)
def scatter(indices: TensorLike, values: Any, shape: Sequence[Any]) -> Any:
    """Return a tensor of zeros to which each value is added at its index.

    `indices` has shape (..., n). Its last axis contains indices for the first n axes of the result.
    """
    sizes = shape_vector(shape)
    return p.Scatter()(as_tensor(values), as_tensor(indices), _as_sizes(sizes))


def _as_sizes(sizes: Any) -> Tensor:
    return sizes if isinstance(sizes, Tensor) else Constant(sizes, "int32")


@row(CORE)
def scatter_update(
    inputs: TensorLike, indices: Any, updates: Any, reduction: str | None = None
) -> Any:
    """Return the inputs with `updates` written at `indices`, whose format is that of `scatter`.

    Parameters
    ----------
    reduction : {None, "add", "max", "min", "mul"}
        How updates are combined with the old values; None replaces the old values. Only None and
        "add" have a gradient.
    """
    if reduction not in (None, "add", "max", "min", "mul"):
        raise ArgumentError(
            f"keras.ops.scatter_update: expected reduction None, 'add', 'max', 'min' or 'mul', "
            f"got {reduction!r}."
        )
    inputs = as_tensor(inputs)
    updates = K.cast(as_tensor(updates, like=inputs), inputs.dtype)
    return p.UpdatePlaces(reduction or "set")(inputs, as_tensor(indices), updates)


@row(CORE)
def slice_update(inputs: TensorLike, start_indices: Any, updates: Any) -> Any:
    """Return the inputs with the block `updates` written at `start_indices`."""
    inputs = as_tensor(inputs)
    start = shape_vector(start_indices)
    updates = K.cast(as_tensor(updates, like=inputs), inputs.dtype)
    return p.UpdateSlice()(inputs, _as_sizes(start), updates)


__all__ = public(globals(), _OTHERS)
