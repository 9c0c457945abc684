"""Broadcasting of shapes and promotion of dtypes, and the sums that undo a broadcast in gradients.

A shape may contain None. Then the axes over which a gradient must be summed are known only at run
time, so `SumTo` takes the tensor with the target shape as a second input.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope.backend.dtypes import checked_dtype, common_dtype, is_float
from kerascope.backend.graph import Op, ShapeOfFirst, ShapeOfLast, as_tensor, parametric
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.ops import templates
from kerascope.backend.shapes import broadcast_shapes, reduced_shape
from kerascope.backend.types import (
    Gradients,
    Kernel,
    Shape,
    Spec,
    Specs,
    Tensor,
    TensorLike,
    Tensors,
)

__all__ = ["cast", "ones_like", "zeros_like"]


class Elementwise(Op):
    """An op that computes a function of each element, with its inputs broadcast to one shape.

    If NumPy has a ufunc for the function, a subclass only sets `ufunc`.
    """

    def infer_shape(self, *inputs: Tensor) -> Shape:
        return broadcast_shapes(*(x.shape for x in inputs), where=self.name)

    def perform(self, *arrays: Any) -> Any:
        if self.ufunc is None:
            return super().perform(*arrays)
        return self.ufunc(*arrays)


@parametric
class Cast(ShapeOfFirst):
    """Convert `x` to another element type."""

    dtype: str

    def infer_dtype(self, x: Tensor) -> str:
        return self.dtype

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.asarray(x).astype(self.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return "np.copyto({out}, {0}, 'unsafe')"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [cast(output_grads[0], inputs[0].dtype) if is_float(inputs[0].dtype) else None]


def cast(x: TensorLike, dtype: str) -> Tensor:
    """Convert a tensor to another element type; the same type returns `x` itself.

    Parameters
    ----------
    x : Tensor
    dtype : str
        "float32", "int64", "bool", ...

    Raises
    ------
    DtypeError
        `dtype` is not a numeric type.
    """
    x, dtype = as_tensor(x), checked_dtype(dtype)
    return x if x.dtype == dtype else Cast(dtype)(x)


def promoted(*values: TensorLike) -> list[Tensor]:
    """Convert the values to tensors of their common dtype: floats win over integers.

    A Python number takes the dtype of the other values: with an int8 tensor it becomes int8.
    """
    first = next((v for v in values if isinstance(v, Tensor)), None)
    if first is None and any(map(_is_number, values)):
        first = next((as_tensor(v) for v in values if not _is_number(v)), None)
    tensors = [as_tensor(value, like=first) for value in values]
    dtype = common_dtype(*(x.dtype for x in tensors))
    return [cast(x, dtype) for x in tensors]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, (bool, np.generic))


@parametric
class FullLike(ShapeOfFirst):
    """A tensor filled with one value, with the shape of `x`."""

    needs_only_shapes = True

    value: float
    dtype: str

    def infer_dtype(self, x: Tensor) -> str:
        return self.dtype

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.full(np.shape(x), self.value, self.dtype)


def zeros_like(x: TensorLike, dtype: str | None = None, name: str | None = None) -> Tensor:
    """Return zeros with the shape of `x` (and its dtype, unless another is given)."""
    x = as_tensor(x)
    return FullLike(0.0, checked_dtype(dtype or x.dtype))(x, name=name or "zeros_like")


def ones_like(x: TensorLike, dtype: str | None = None, name: str | None = None) -> Tensor:
    """Return ones with the shape of `x` (and its dtype, unless another is given)."""
    x = as_tensor(x)
    return FullLike(1.0, checked_dtype(dtype or x.dtype))(x, name=name or "ones_like")


def is_sum_of_rows(x: np.ndarray | Spec, axes: tuple[int, ...]) -> bool:
    """Return whether a sum over `axes` adds up the rows of `x`, a matrix of floats.

    The gradient of a bias is a sum of rows. It is the product of a vector of ones with the matrix.
    BLAS computes this product two to three times as fast as `np.sum` adds the rows; if the rows are
    long, both take equally long.

    Parameters
    ----------
    x : array or Spec
    axes : tuple of int
    """
    return len(x.shape) == 2 and is_sum_of_all_rows(x, axes)


def is_sum_of_all_rows(x: np.ndarray | Spec, axes: tuple[int, ...]) -> bool:
    """Return whether `x` holds floats and `axes` are all of its axes except the last.

    Such an array can be reshaped to a matrix whose rows are added; see `is_sum_of_rows`.
    """
    n = len(x.shape)
    return n > 1 and axes == tuple(range(n - 1)) and x.dtype in (np.float32, np.float64)


class SumTo(ShapeOfLast):
    """The sum of `x` over the axes along which `like` was broadcast; it has the shape of `like`."""

    inputs_read_by_shape = frozenset({1})

    def may_share(self, inputs, outputs):
        return FIRST_INPUT if inputs[0].shape == inputs[1].shape else ()

    def perform(self, x: np.ndarray, like: np.ndarray) -> np.ndarray:
        if x.shape == like.shape:
            return x
        axes = stretched_axes(x.shape, like.shape)
        if like.ndim == 1 and is_sum_of_rows(x, axes):
            return np.dot(np.ones(len(x), x.dtype), x)
        return x.sum(axis=axes, keepdims=True, dtype=x.dtype).reshape(like.shape)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        x, like = inputs
        if x.shape == like.shape:
            return templates.COPY
        axes = stretched_axes(x.shape, like.shape)
        if len(like.shape) == 1 and is_sum_of_rows(x, axes):
            return templates.sum_of_rows(x.shape[0])
        text = templates.reduction("np.add", axes, keepdims=True)
        extra = len(x.shape) - len(like.shape)
        return text.replace("{out}", f"{{out}}[{'None, ' * extra}...]") if extra else text

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [BroadcastLike(None)(output_grads[0], inputs[0]), None]


def stretched_axes(shape: tuple[int, ...], original: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of `shape` along which an array of shape `original` was broadcast."""
    extra = len(shape) - len(original)
    longer = (a for a, n in enumerate(original, start=extra) if n == 1 != shape[a])
    return (*range(extra), *longer)


@parametric
class BroadcastLike(ShapeOfLast):
    """`x` broadcast to the shape of `like`: the gradient of a sum.

    `axes` are the axes that the sum removed from `like`. They are inserted into `x` before it is
    broadcast. None means that the sum kept all axes.
    """

    axes: tuple[int, ...] | None
    is_view = True
    inputs_read_by_shape = frozenset({1})

    def perform(self, x: np.ndarray, like: np.ndarray, xp: Any = np) -> np.ndarray:
        x = xp.asarray(x)
        if self.axes is not None:
            x = xp.expand_dims(x, self.axes)
        return xp.broadcast_to(x, like.shape)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, _ = inputs
        if self.axes is None:
            return [unbroadcast(output_grads[0], x, outputs[0]), None]
        return [Sum(self.axes)(output_grads[0]), None]


@parametric
class Stretch(Op):
    """`x` repeated `rows` times along a new first axis, copied rather than a view."""

    rows: int

    def infer_shape(self, x: Tensor) -> Shape:
        return (self.rows, *x.shape)

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.broadcast_to(x, (self.rows, *x.shape)).copy()

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return "np.copyto({out}, {0}[..., None, :])"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Sum((0,))(output_grads[0])]


@parametric
class Sum(Op):
    """The sum of `x` over `axes` (sorted, not negative), kept with size 1 if `keepdims`."""

    axes: tuple[int, ...]
    keepdims: bool = False

    def infer_shape(self, x: Tensor) -> Shape:
        return reduced_shape(x.shape, self.axes, keepdims=self.keepdims)

    def perform(self, x: np.ndarray) -> np.ndarray:
        if not self.keepdims and is_sum_of_all_rows(x, self.axes):
            rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
            return np.dot(np.ones(len(rows), x.dtype), rows)
        return x.sum(axis=self.axes, keepdims=self.keepdims, dtype=x.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        if not self.keepdims and is_sum_of_all_rows(inputs[0], self.axes):
            return templates.sum_of_rows(*inputs[0].shape)
        return templates.reduction("np.add", self.axes, self.keepdims)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        dropped = None if self.keepdims else self.axes
        return [BroadcastLike(dropped)(output_grads[0], inputs[0])]


def unbroadcast(gradient: Tensor, x: Tensor, *others: Tensor) -> Tensor:
    """Return `gradient` summed to the shape of `x`, which was broadcast against the `others`.

    If the static shapes show that no axis of `x` was stretched, only the leading axes that `x`
    lacks are summed. Otherwise `SumTo` compares the shapes at run time.
    """
    extra = gradient.ndim - x.ndim
    if any(_may_be_stretched(x, axis, others) for axis in range(-x.ndim, 0)):
        return SumTo()(gradient, x)
    return Sum(tuple(range(extra)))(gradient) if extra else gradient


def _may_be_stretched(x: Tensor, axis: int, others: Tensors) -> bool:
    """Return whether another operand may be longer than `x` along `axis`, counted from the end."""
    if x.shape[axis] not in (1, None):
        return False
    return any(other.ndim >= -axis and other.shape[axis] != 1 for other in others)
