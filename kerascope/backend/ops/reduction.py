"""Reductions along axes (sums, means, extremes, ...) and cumulative sums and products.

`axis` is None (all axes), an int or a list of ints, and may be negative. With `keepdims` the
reduced axes are kept with size 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import ClassVar

import numpy as np

from kerascope.backend.graph import Op, ShapeOfFirst, as_tensor, parametric
from kerascope.backend.ops.broadcasting import BroadcastLike, Sum, cast
from kerascope.backend.ops.comparison import equal
from kerascope.backend.ops.elementwise import countable, exp, floating, sqrt, square
from kerascope.backend.ops.templates import number, reduction
from kerascope.backend.shapes import normalize_axes, normalize_axis, product, reduced_shape
from kerascope.backend.types import (
    Axes,
    Gradients,
    Kernel,
    Shape,
    Spec,
    Specs,
    Tensor,
    TensorLike,
    Tensors,
)

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


# --- cumulative sums and products -----------------------------------------------------------------


@parametric
class CumulativeSum(ShapeOfFirst):
    """The cumulative sum along `axis`, from the first element or (`from_end`) from the last."""

    axis: int
    from_end: bool = False

    def perform(self, x: np.ndarray) -> np.ndarray:
        if not self.from_end:
            return np.cumsum(x, self.axis, dtype=x.dtype)
        sums = np.empty(x.shape, x.dtype)
        np.cumsum(np.flip(x, self.axis), self.axis, out=np.flip(sums, self.axis))
        return sums

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        turned = f"[{':, ' * self.axis}::-1]" if self.from_end else ""
        return f"np.add.accumulate({{0}}{turned}, {self.axis}, None, {{out}}{turned})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [CumulativeSum(self.axis, not self.from_end)(output_grads[0])]


@parametric
class CumulativeProduct(ShapeOfFirst):
    """The cumulative product along `axis`. Its gradient is NaN where an element is 0."""

    axis: int

    def perform(self, x: np.ndarray, xp: ModuleType = np) -> np.ndarray:
        return xp.cumprod(x, self.axis, dtype=x.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return f"np.multiply.accumulate({{0}}, {self.axis}, None, {{out}})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [CumulativeSum(self.axis, True)(output_grads[0] * outputs[0]) / inputs[0]]


# --- sums, means, extremes ------------------------------------------------------------------------


@parametric
class Reduction(Op):
    """Base class of ops that reduce `axes`, a sorted tuple of ints >= 0; for example `Sum`.

    A subclass whose result is the `reduce` of a binary ufunc sets only `of_two`, the ufunc.
    """

    axes: tuple[int, ...]
    keepdims: bool
    of_two: ClassVar[np.ufunc]

    def infer_shape(self, x: Tensor) -> Shape:
        return reduced_shape(x.shape, self.axes, keepdims=self.keepdims)

    def perform(self, x: np.ndarray) -> np.ndarray:
        kind = self.infer_dtype(x)
        return self.of_two.reduce(x, axis=self.axes, dtype=kind, keepdims=self.keepdims)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return reduction(f"np.{self.of_two.__name__}", self.axes, self.keepdims)

    def spread(self, y: Tensor, x: Tensor) -> Tensor:
        """Return `y`, which has the shape of the result, broadcast to the shape of `x`."""
        return BroadcastLike(None if self.keepdims else self.axes)(y, x)


def empty_reduced(spec: Spec, axes: Sequence[int]) -> np.ndarray:
    """Return an uninitialized array for a reduction over `axes`, which are kept with size 1."""
    shape = [1 if axis in axes else size for axis, size in enumerate(spec.shape)]
    return np.empty(shape, spec.dtype)


def _reduce(op_class, x, axis, keepdims):
    x = as_tensor(x)
    axes = normalize_axes(axis, x.ndim, f"K.{op_class.__name__.lower()}")
    return op_class(axes, bool(keepdims))(x)


def sum(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the sum over `axis`; True counts as 1.

    Parameters
    ----------
    x : Tensor
    axis : int, list of int or None
        None means all axes.
    keepdims : bool
        Whether to keep the axes, with size 1.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.sum(K.constant([[1, 2], [3, 4]]), axis=-1)).tolist()
    [3.0, 7.0]
    """
    return _reduce(Sum, countable(x), axis, keepdims)


@parametric
class CountOver(Op):
    """The number of elements of `x` along `axes`, as a scalar."""

    axes: tuple[int, ...]
    dtype: str
    needs_only_shapes = True

    def infer_shape(self, x: Tensor) -> Shape:
        return ()

    def infer_dtype(self, x: Tensor) -> str:
        return self.dtype

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(product(x.shape[axis] for axis in self.axes), self.dtype)


class Mean(Reduction):
    """The arithmetic mean over `axes`."""

    def perform(self, x: np.ndarray, xp: ModuleType = np) -> np.ndarray:
        # float16 would lose half of its digits in the sum.
        wide = np.result_type(x.dtype, np.float32)
        total = x.sum(axis=self.axes, keepdims=self.keepdims, dtype=wide)
        return xp.divide(total, self._count(x)).astype(x.dtype, copy=False)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        x, total = inputs[0], reduction("np.add", self.axes, self.keepdims)
        if x.dtype == np.float16:
            return None
        if self._count(x) == 1:  # the mean of one number; adding 0 copies it
            return f"np.add({{0}}.reshape({outputs[0].shape}), {number(0)}, {{out}})"
        return f"np.divide({total}, {number(self._count(x))}, {{out}})"

    def _count(self, x):
        return math.prod(x.shape[axis] for axis in self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x = inputs[0]
        count = product(x.shape[axis] for axis in self.axes)
        if count is None:
            count = CountOver(self.axes, x.dtype)(x)
        return [self.spread(output_grads[0] / count, x)]


def mean(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the mean over `axis`; integers and booleans are cast to `floatx` first.

    The arguments are those of `sum`.
    """
    return _reduce(Mean, floating(x), axis, keepdims)


def var(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the variance over `axis`: the mean of the squared distances from the mean."""
    x = floating(x)
    return mean(square(x - mean(x, axis, keepdims=True)), axis, keepdims)


def std(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation over `axis`: the square root of `var`."""
    return sqrt(var(x, axis, keepdims))


class Prod(Reduction):
    """The product over `axes`."""

    of_two = np.multiply

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x = inputs[0]
        return [self.spread(output_grads[0], x) * ProductOfOthers(self.axes)(x)]


@parametric
class ProductOfOthers(Op):
    """For each element, the product of all other elements along `axes`; exact also with zeros.

    It is the gradient of a product. Its own gradient divides by the elements, so it is defined only
    if no element is 0.
    """

    axes: tuple[int, ...]

    def infer_shape(self, x: Tensor) -> Shape:
        return x.shape

    def perform(self, x: np.ndarray) -> np.ndarray:
        last = np.moveaxis(x, self.axes, range(x.ndim - len(self.axes), x.ndim))
        rows = last.reshape(*last.shape[: x.ndim - len(self.axes)], -1)
        before, after = np.ones_like(rows), np.ones_like(rows)
        np.cumprod(rows[..., :-1], axis=-1, out=before[..., 1:])
        np.cumprod(rows[..., :0:-1], axis=-1, out=after[..., -2::-1])
        others = (before * after).reshape(last.shape)
        return np.moveaxis(others, range(x.ndim - len(self.axes), x.ndim), self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x = inputs[0]
        sent = output_grads[0] * outputs[0]
        return [(sum(sent, self.axes, keepdims=True) - sent) / x]


def prod(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the product over `axis`."""
    return _reduce(Prod, countable(x), axis, keepdims)


class Extreme(Reduction):
    """Base class of `Max` and `Min`. Elements that share the extreme share its gradient equally."""

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x = inputs[0]
        chosen = cast(equal(x, self.spread(outputs[0], x)), x.dtype)
        share = output_grads[0] / Sum(self.axes, self.keepdims)(chosen)
        return [self.spread(share, x) * chosen]


class Max(Extreme):
    """The maximum along `axes`."""

    of_two = np.maximum


def max(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the maximum over `axis`. Elements that share it share its gradient equally."""
    return _reduce(Max, x, axis, keepdims)


class Min(Extreme):
    """The minimum along `axes`."""

    of_two = np.minimum


def min(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the minimum over `axis`. Elements that share it share its gradient equally."""
    return _reduce(Min, x, axis, keepdims)


class Any(Reduction):
    """Whether at least one element along `axes` is true."""

    of_two = np.logical_or

    def infer_dtype(self, x: Tensor) -> str:
        return "bool"


def any(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether at least one element over `axis` is true (not 0)."""
    return _reduce(Any, x, axis, keepdims)


class All(Reduction):
    """Whether every element along `axes` is true."""

    of_two = np.logical_and

    def infer_dtype(self, x: Tensor) -> str:
        return "bool"


def all(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether every element over `axis` is true (not 0)."""
    return _reduce(All, x, axis, keepdims)


def greatest(x: np.ndarray, axes: int | tuple[int, ...]) -> np.ndarray:
    """Return the maximum along axes, which are kept with size 1; -inf for an empty float array."""
    least = -np.inf if x.dtype.kind == "f" else None
    return np.maximum.reduce(x, axes, keepdims=True, initial=least)


class LogSumExp(Reduction):
    """`log(sum(exp(x)))` over `axes`; the maximum is subtracted first, to avoid overflow."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        top = greatest(x, self.axes)
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
        powers = np.exp(np.subtract(x, top, order="C"))  # the order fixes the order of the sum
        total = powers.sum(axis=self.axes, keepdims=True)
        result = np.log(total) + top
        return result if self.keepdims else np.squeeze(result, self.axes)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        axes, powers = self.axes, np.empty(*inputs[0])
        top, total = empty_reduced(inputs[0], axes), empty_reduced(inputs[0], axes)
        is_endless = np.empty(top.shape, "bool")

        def compute(out: np.ndarray, x: np.ndarray) -> None:
            np.maximum.reduce(x, axes, None, top, keepdims=True, initial=-np.inf)
            np.isfinite(top, is_endless)
            np.logical_not(is_endless, is_endless)
            np.copyto(top, 0, where=is_endless)
            np.subtract(x, top, powers)
            np.exp(powers, powers)
            np.add.reduce(powers, axes, None, total, keepdims=True)
            np.log(total, total)
            np.add(total, top, out.reshape(top.shape))

        return compute

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x = inputs[0]
        return [self.spread(output_grads[0], x) * exp(x - self.spread(outputs[0], x))]


def logsumexp(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return log(sum(exp(x))) over `axis`, without overflow.

    Notes
    -----
    With m = max(x):  log(sum(exp(x))) = m + log(sum(exp(x - m))).
    """
    return _reduce(LogSumExp, floating(x), axis, keepdims)


@parametric
class ArgExtreme(Op):
    """Base class of `Argmax` and `Argmin`. Of equal elements, the first counts."""

    axis: int
    of_numpy: ClassVar[Callable]

    def infer_shape(self, x: Tensor) -> Shape:
        return reduced_shape(x.shape, (self.axis,), keepdims=False)

    def infer_dtype(self, x: Tensor) -> str:
        return "int64"

    def perform(self, x: np.ndarray) -> np.ndarray:
        return self.of_numpy(x, self.axis).astype("int64", copy=False)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return f"np.{self.of_numpy.__name__}({{0}}, {self.axis}, {{out}})"


class Argmax(ArgExtreme):
    """The index of the maximum along `axis`."""

    of_numpy = staticmethod(np.argmax)


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the index of the maximum along `axis`, as int64."""
    x = as_tensor(x)
    return Argmax(normalize_axis(axis, x.ndim, "K.argmax"))(x)


class Argmin(ArgExtreme):
    """The index of the minimum along `axis`."""

    of_numpy = staticmethod(np.argmin)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the index of the minimum along `axis`, as int64."""
    x = as_tensor(x)
    return Argmin(normalize_axis(axis, x.ndim, "K.argmin"))(x)


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """Return the cumulative sum along `axis`: each element plus all before it.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.cumsum(K.constant([1, 2, 3]))).tolist()
    [1.0, 3.0, 6.0]
    """
    x = countable(x)
    return CumulativeSum(normalize_axis(axis, x.ndim, "K.cumsum"))(x)


def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    """Return the cumulative product along `axis`: each element times all before it.

    Notes
    -----
    The gradient divides by the elements, so it is NaN where an element is 0.
    """
    x = countable(x)
    return CumulativeProduct(normalize_axis(axis, x.ndim, "K.cumprod"))(x)
