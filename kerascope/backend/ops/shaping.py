"""Reshaping, transposing and reversing tensors; and tensors filled with one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.dtypes import checked_dtype
from kerascope.backend.graph import Op, ShapeOfFirst, ShapeOfLast, as_tensor, parametric
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.ops.indexing import known_values, sizes_from
from kerascope.backend.ops.joining import stack
from kerascope.backend.ops.templates import number
from kerascope.backend.shapes import normalize_axes, normalize_axis, product, reshaped_shape
from kerascope.backend.types import Gradients, Kernel, Shape, Specs, Tensor, TensorLike, Tensors
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError, ShapeError
from kerascope.settings import config

__all__ = [
    "batch_flatten",
    "expand_dims",
    "eye",
    "flatten",
    "ones",
    "permute_dimensions",
    "reshape",
    "reverse",
    "squeeze",
    "transpose",
    "zeros",
]


class Reshaping(Op):
    """Base class of ops that return their first input in another shape, as a view if possible."""

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return f"np.copyto({{out}}, {{0}}.reshape({outputs[0].shape}))"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [ReshapeLike()(output_grads[0], inputs[0]), *(None for _ in inputs[1:])]


@parametric
class Reshape(Reshaping):
    """`x` in another shape, with its elements in order; one size may be -1 and is inferred."""

    shape: tuple[int, ...]

    def infer_shape(self, x: Tensor) -> Shape:
        return reshaped_shape(x.shape, self.shape)

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.reshape(x, self.shape)


class ReshapeTo(Reshaping):
    """`x` in another shape. The shape is an input tensor, computed at run time."""

    def infer_shape(self, x: Tensor, shape: Tensor) -> Shape:
        return reshaped_shape(x.shape, sizes_from(shape, "reshape: the target shape"))

    def perform(self, x: np.ndarray, shape: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.reshape(x, tuple(shape))


class ReshapeLike(ShapeOfLast, Reshaping):
    """`x` in the shape of `like`, with its elements in order."""

    inputs_read_by_shape = frozenset({1})

    def perform(self, x: np.ndarray, like: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.reshape(x, like.shape)


def reshape(x, shape):
    """Return `x` in another shape, with its elements in the same order.

    Parameters
    ----------
    x : Tensor
    shape : tuple of int or scalar int Tensor, or int Tensor of shape (ndim,)
        One size may be -1; it is inferred from the number of elements.

    Raises
    ------
    ShapeError
        The shape has a different number of elements than `x`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.reshape(K.placeholder((None, 4, 6)), (-1, 3, 8)).shape
    (None, 3, 8)
    """
    target = shape_vector(shape)
    return ReshapeTo()(x, target) if isinstance(target, Tensor) else Reshape(target)(x)


def shape_vector(shape):
    """Return a shape as a tuple of ints, or as an int tensor if one of its sizes is a tensor."""
    if isinstance(shape, Tensor):
        return shape
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(isinstance(size, Tensor) for size in sizes):
        return stack(list(sizes))
    if any(size is None for size in sizes):
        raise ArgumentError(
            f"shape {sizes}: sizes must be whole numbers, -1 for the rest, or tensors such as "
            f"K.shape(x)[0], not None."
        )
    return tuple(int(size) for size in sizes)


class BatchFlatten(Reshaping):
    """`x` reshaped to a matrix with one row for each sample."""

    def infer_shape(self, x: Tensor) -> Shape:
        if not x.ndim:
            raise ShapeError(
                f"batch_flatten: expected (batch, ...), got the scalar '{x.name}'.", subject=x
            )
        return (x.shape[0], product(x.shape[1:]))

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.reshape(x, (len(x), math.prod(x.shape[1:])))


def batch_flatten(x: TensorLike) -> Tensor:
    """Reshape a tensor of shape (batch, a, b, ...) to a matrix of shape (batch, a * b * ...)."""
    return BatchFlatten()(x)


def flatten(x: TensorLike) -> Tensor:
    """Reshape a tensor of shape (a, b, ...) to a vector of shape (a * b * ...,)."""
    return Reshape((-1,))(x)


@parametric
class ExpandDims(Op):
    """`x` with new axes of size 1, at the indices `axes` of the result."""

    axes: tuple[int, ...]
    is_view = True

    def infer_shape(self, x: Tensor) -> Shape:
        ndim = x.ndim + len(self.axes)
        if any(axis >= ndim for axis in self.axes):
            raise ShapeError(
                f"expand_dims: expected new axes below {ndim} for '{x.name}' of shape {x.shape}, "
                f"got {self.axes}.",
                subject=x,
            )
        sizes = iter(x.shape)
        return tuple(1 if axis in self.axes else next(sizes) for axis in range(ndim))

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.expand_dims(x, self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Squeeze(self.axes)(output_grads[0])]

    def known_values(self, x):
        return None if x.ndim else (known_values(x),)


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """Return `x` with a new axis of size 1, which is axis `axis` of the result."""
    x = as_tensor(x)
    return ExpandDims((normalize_axis(axis, x.ndim + 1, "K.expand_dims"),))(x)


@parametric
class Squeeze(Op):
    """`x` without `axes`, whose size must be 1."""

    axes: tuple[int, ...]
    is_view = True

    def infer_shape(self, x: Tensor) -> Shape:
        if any(x.shape[axis] not in (1, None) for axis in self.axes):
            raise ShapeError(
                f"squeeze: expected size 1 at axes {self.axes}, got {x.shape}.", subject=x
            )
        return tuple(size for axis, size in enumerate(x.shape) if axis not in self.axes)

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.squeeze(x, self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [ExpandDims(self.axes)(output_grads[0])]


def squeeze(x: TensorLike, axis: int) -> Tensor:
    """Return `x` without `axis`, whose size must be 1.

    Raises
    ------
    ShapeError
        The size of the axis is not 1.
    """
    x = as_tensor(x)
    return Squeeze((normalize_axis(axis, x.ndim, "K.squeeze"),))(x)


@parametric
class Reverse(ShapeOfFirst):
    """`x` with its elements in reverse order along `axes`."""

    axes: tuple[int, ...]
    is_view = True

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.flip(x, self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Reverse(self.axes)(output_grads[0])]


def reverse(x, axes):
    """Return `x` with its elements in reverse order along one axis or several."""
    x = as_tensor(x)
    return Reverse(normalize_axes(axes, x.ndim, "K.reverse"))(x)


@parametric
class Transpose(Op):
    """`x` with its axes in the order of `pattern`."""

    pattern: tuple[int, ...]
    is_view = True

    def infer_shape(self, x: Tensor) -> Shape:
        return tuple(x.shape[axis] for axis in self.pattern)

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.transpose(x, self.pattern)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        back = tuple(self.pattern.index(axis) for axis in range(len(self.pattern)))
        return [Transpose(back)(output_grads[0])]


def permute_dimensions(x, pattern):
    """Return `x` with its axes in another order.

    Parameters
    ----------
    x : Tensor
    pattern : tuple of int
        Axes of `x` that become axes 0, 1, ... of the result, such as (0, 2, 1).
    """
    x = as_tensor(x)
    axes = tuple(normalize_axis(int(a), x.ndim, "K.permute_dimensions") for a in pattern)
    if sorted(axes) != list(range(x.ndim)):
        raise ArgumentError(
            f"K.permute_dimensions: expected a pattern with each of {x.ndim} axes once, got "
            f"{tuple(pattern)} for shape {x.shape}."
        )
    return Transpose(axes)(x)


def transpose(x: TensorLike) -> Tensor:
    """Return `x` with its axes in reverse order; for a matrix, this is its transpose."""
    x = as_tensor(x)
    return Transpose(tuple(reversed(range(x.ndim))))(x)


# --- tensors filled with one number, and the identity matrix --------------------------------------
#
# They are variables, unless their shape is known only at run time: `K.zeros((K.shape(x)[0], 3))`,
# such as the initial states of a recurrent network for a batch of any size, is the output of an op.


Sizes = int | Sequence[int | Tensor] | Tensor


@parametric
class Full(Op):
    """A tensor filled with `value`; its shape is the input, a vector of ints."""

    value: float
    dtype: str

    def infer_shape(self, shape: Tensor) -> Shape:
        return sizes_from(shape, "full: the shape")

    def infer_dtype(self, shape: Tensor) -> str:
        return self.dtype

    def perform(self, shape: np.ndarray) -> np.ndarray:
        return np.full(tuple(shape), self.value, self.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return f"{{out}}.fill({number(self.value)})"


def zeros(shape: Sizes, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable full of zeros.

    Parameters
    ----------
    shape : tuple of int or scalar int Tensor, or int Tensor of shape (ndim,)
        If it contains a tensor, the result is not a variable but a tensor whose shape is computed
        at run time.
    dtype : str, optional
        Default `floatx()`.
    name : str, optional

    Raises
    ------
    ArgumentError
        A size is None.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.get_value(K.zeros((1, 3))).tolist()
    [[0.0, 0.0, 0.0]]
    >>> x = K.placeholder((None, 7))
    >>> K.zeros((K.shape(x)[0], 3)).shape
    (None, 3)
    """
    return _filled(0.0, shape, dtype, name)


def ones(shape: Sizes, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable full of ones; arguments as for `zeros`."""
    return _filled(1.0, shape, dtype, name)


def _filled(value, shape, dtype, name):
    sizes = shape_vector(shape)
    if isinstance(sizes, Tensor):
        return Full(value, checked_dtype(dtype or config.floatx))(sizes, name=name)
    return Variable(np.full(sizes, value), dtype, name)


def eye(size: int, dtype: str | None = None, name: str | None = None) -> Variable:
    """Return a variable with the identity matrix of `size` rows."""
    return Variable(np.eye(size), dtype, name)
