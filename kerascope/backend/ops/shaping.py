"""Other shapes for the same numbers: reshape, join, repeat, turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kerascope.backend.graph import Op, Tensor, as_tensor
from kerascope.backend.ops.broadcasting import promoted, zeros_like
from kerascope.backend.ops.indexing import GetItem, Span
from kerascope.backend.ops.sizes import known_values
from kerascope.backend.shapes import (
    concatenated_shape,
    merge_shapes,
    normalize_axes,
    normalize_axis,
    product,
    reshaped_shape,
)
from kerascope.errors import ArgumentError, ShapeError

__all__ = [
    "batch_flatten",
    "concatenate",
    "expand_dims",
    "flatten",
    "permute_dimensions",
    "repeat",
    "repeat_elements",
    "reshape",
    "reverse",
    "squeeze",
    "stack",
    "tile",
    "transpose",
]


@dataclass(frozen=True)
class Reshape(Op):
    """The numbers of `x`, in order, in another shape; one size may be -1, "what is left"."""

    shape: tuple[int, ...]

    def infer_shape(self, x):
        return reshaped_shape(x.shape, self.shape)

    def perform(self, x):
        return np.reshape(x, self.shape)

    def grad(self, inputs, outputs, output_grads):
        return [ReshapeLike()(output_grads[0], inputs[0])]


@dataclass(frozen=True)
class ReshapeTo(Op):
    """The numbers of `x` in a shape that is a tensor itself."""

    def infer_shape(self, x, shape):
        target = known_values(shape)
        if target is None:
            raise ShapeError(
                f"reshape: the target shape '{shape.name}' has an unknown number of sizes; "
                f"expected a vector of known length.",
                subject=shape,
            )
        return reshaped_shape(x.shape, target)

    def perform(self, x, shape):
        return np.reshape(x, tuple(shape))

    def grad(self, inputs, outputs, output_grads):
        return [ReshapeLike()(output_grads[0], inputs[0]), None]


@dataclass(frozen=True)
class ReshapeLike(Op):
    """The numbers of `x` in the shape of `like`."""

    def infer_shape(self, x, like):
        return like.shape

    def perform(self, x, like):
        return np.reshape(x, like.shape)

    def grad(self, inputs, outputs, output_grads):
        return [ReshapeLike()(output_grads[0], inputs[0]), None]


def reshape(x, shape):
    """Return the numbers of `x`, in order, in another shape.

    Parameters
    ----------
    x : Tensor
    shape : tuple of int or scalar int Tensor, or int Tensor of shape (ndim,)
        One size may be -1: what is left.

    Raises
    ------
    ShapeError
        The numbers of elements differ.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.reshape(K.placeholder((None, 4, 6)), (-1, 3, 8)).shape
    (None, 3, 8)
    """
    target = shape_vector(shape)
    return ReshapeTo()(x, target) if isinstance(target, Tensor) else Reshape(target)(x)


def shape_vector(shape):
    """Return a shape as a tuple of ints, or as a vector if one of its sizes is a tensor."""
    if isinstance(shape, Tensor):
        return shape
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(isinstance(size, Tensor) for size in sizes):
        return stack(list(sizes))
    if any(size is None for size in sizes):
        raise ArgumentError(
            f"shape {sizes}: None is no size; expected whole numbers, -1 for what is left, "
            f"or tensors such as K.shape(x)[0]."
        )
    return tuple(int(size) for size in sizes)


@dataclass(frozen=True)
class BatchFlatten(Op):
    """Each sample of `x` in one row."""

    def infer_shape(self, x):
        return (x.shape[0], product(x.shape[1:]))

    def perform(self, x):
        return np.reshape(x, (len(x), product(x.shape[1:])))

    def grad(self, inputs, outputs, output_grads):
        return [ReshapeLike()(output_grads[0], inputs[0])]


def batch_flatten(x):
    """Return a tensor of shape (batch, a, b, ...) as one of shape (batch, a * b * ...)."""
    return BatchFlatten()(x)


def flatten(x):
    """Return all numbers of a tensor in one axis."""
    return Reshape((-1,))(x)


@dataclass(frozen=True)
class ExpandDims(Op):
    """`x` with new axes of size 1, at these places of the result."""

    axes: tuple[int, ...]

    def infer_shape(self, x):
        sizes = iter(x.shape)
        return tuple(
            1 if axis in self.axes else next(sizes) for axis in range(x.ndim + len(self.axes))
        )

    def perform(self, x):
        return np.expand_dims(x, self.axes)

    def grad(self, inputs, outputs, output_grads):
        return [Squeeze(self.axes)(output_grads[0])]


def expand_dims(x, axis=-1):
    """Return `x` with a new axis of size 1 at place `axis` of the result."""
    x = as_tensor(x)
    return ExpandDims((normalize_axis(axis, x.ndim + 1, "K.expand_dims"),))(x)


@dataclass(frozen=True)
class Squeeze(Op):
    """`x` without these axes, whose size is 1."""

    axes: tuple[int, ...]

    def infer_shape(self, x):
        if any(x.shape[axis] not in (1, None) for axis in self.axes):
            raise ShapeError(
                f"squeeze: axes {self.axes} of shape {x.shape}; expected size 1.", subject=x
            )
        return tuple(size for axis, size in enumerate(x.shape) if axis not in self.axes)

    def perform(self, x):
        return np.squeeze(x, self.axes)

    def grad(self, inputs, outputs, output_grads):
        return [ExpandDims(self.axes)(output_grads[0])]


def squeeze(x, axis):
    """Return `x` without an axis, whose size is 1.

    Raises
    ------
    ShapeError
        The axis is longer.
    """
    x = as_tensor(x)
    return Squeeze((normalize_axis(axis, x.ndim, "K.squeeze"),))(x)


@dataclass(frozen=True)
class Concatenate(Op):
    """Tensors one after the other along `axis`."""

    axis: int

    def infer_shape(self, *inputs):
        return concatenated_shape([x.shape for x in inputs], self.axis, "concatenate")

    def perform(self, *inputs):
        return np.concatenate(inputs, self.axis)

    def grad(self, inputs, outputs, output_grads):
        return [Part(self.axis, i)(output_grads[0], *inputs) for i in range(len(inputs))]

    def known_values(self, *inputs):
        parts = [known_values(x) for x in inputs]
        return None if None in parts else tuple(value for part in parts for value in part)


@dataclass(frozen=True)
class Part(Op):
    """The part of `whole` where input number `position` of a concatenation along `axis` lies."""

    axis: int
    position: int

    def infer_shape(self, whole, *inputs):
        return inputs[self.position].shape

    def perform(self, whole, *inputs):
        start = sum(x.shape[self.axis] for x in inputs[: self.position])
        stop = start + inputs[self.position].shape[self.axis]
        return whole[(*(slice(None),) * self.axis, slice(start, stop))]

    def grad(self, inputs, outputs, output_grads):
        parts = [zeros_like(x) for x in inputs[1:]]
        parts[self.position] = output_grads[0]
        return [Concatenate(self.axis)(*parts), *(None for _ in parts)]


def concatenate(tensors, axis=-1):
    """Return tensors joined along an axis.

    Parameters
    ----------
    tensors : list of Tensor
        Equal in every other axis.
    axis : int

    Raises
    ------
    ShapeError
        Two tensors differ in another axis.
    """
    tensors = promoted(*tensors)
    return Concatenate(normalize_axis(axis, tensors[0].ndim, "K.concatenate"))(*tensors)


@dataclass(frozen=True)
class Stack(Op):
    """Tensors of one shape, side by side along a new axis."""

    axis: int

    def infer_shape(self, *inputs):
        merged = inputs[0].shape
        for x in inputs[1:]:
            both = merge_shapes(merged, x.shape)
            if both is None:
                listed = ", ".join(str(x.shape) for x in inputs)
                raise ShapeError(f"stack: shapes {listed} differ; expected equal ones.")
            merged = both
        return (*merged[: self.axis], len(inputs), *merged[self.axis :])

    def perform(self, *inputs):
        return np.stack(inputs, self.axis)

    def grad(self, inputs, outputs, output_grads):
        before, after = (Span(),) * self.axis, (Span(),) * (inputs[0].ndim - self.axis)
        return [GetItem((*before, i, *after))(output_grads[0]) for i in range(len(inputs))]

    def known_values(self, *inputs):
        return tuple(known_values(x) for x in inputs)


def stack(x, axis=0):
    """Return tensors of one shape side by side along a new axis.

    Parameters
    ----------
    x : list of Tensor
    axis : int
        Place of the new axis in the result.
    """
    tensors = promoted(*x)
    return Stack(normalize_axis(axis, tensors[0].ndim + 1, "K.stack"))(*tensors)


@dataclass(frozen=True)
class Tile(Op):
    """`x` laid out `repeats[axis]` times along each axis."""

    repeats: tuple[int, ...]

    def infer_shape(self, x):
        return tuple(
            None if n is None else n * r for n, r in zip(x.shape, self.repeats, strict=True)
        )

    def perform(self, x):
        return np.tile(x, self.repeats)

    def grad(self, inputs, outputs, output_grads):
        return [SumTiles(self.repeats)(output_grads[0])]


@dataclass(frozen=True)
class SumTiles(Op):
    """The sum of the tiles that `x` consists of."""

    repeats: tuple[int, ...]

    def infer_shape(self, x):
        return tuple(
            None if n is None else n // r for n, r in zip(x.shape, self.repeats, strict=True)
        )

    def perform(self, x):
        pairs = [(r, n // r) for n, r in zip(x.shape, self.repeats, strict=True)]
        split = np.reshape(x, [size for pair in pairs for size in pair])
        return split.sum(axis=tuple(range(0, 2 * x.ndim, 2)))

    def grad(self, inputs, outputs, output_grads):
        return [Tile(self.repeats)(output_grads[0])]


def tile(x, n):
    """Return `x` laid out several times along each axis.

    Parameters
    ----------
    x : Tensor
    n : int or tuple of int
        Times along each axis; a shorter tuple speaks of the last axes.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.tile(K.constant([[1, 2]]), (2, 2))).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    x = as_tensor(x)
    repeats = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
    if len(repeats) > x.ndim or any(r < 1 for r in repeats):
        raise ArgumentError(
            f"K.tile: n = {n!r} for shape {x.shape}; expected at most {x.ndim} numbers >= 1."
        )
    return Tile((*(1,) * (x.ndim - len(repeats)), *map(int, repeats)))(x)


def repeat(x, n):
    """Return a tensor of shape (batch, features) as one of shape (batch, n, features)."""
    x = as_tensor(x)
    if x.ndim != 2:
        raise ShapeError(f"K.repeat: x has shape {x.shape}; expected 2 axes.", subject=x)
    return Tile((1, int(n), 1))(ExpandDims((1,))(x))


@dataclass(frozen=True)
class RepeatElements(Op):
    """Each element along `axis` `times` times, one after the other."""

    times: int
    axis: int

    def infer_shape(self, x):
        size = x.shape[self.axis]
        stretched = None if size is None else size * self.times
        return (*x.shape[: self.axis], stretched, *x.shape[self.axis + 1 :])

    def perform(self, x):
        return np.repeat(x, self.times, self.axis)

    def grad(self, inputs, outputs, output_grads):
        return [SumRepeated(self.times, self.axis)(output_grads[0])]


@dataclass(frozen=True)
class SumRepeated(Op):
    """The sum of each `times` neighbours along `axis`."""

    times: int
    axis: int

    def infer_shape(self, x):
        size = x.shape[self.axis]
        shrunk = None if size is None else size // self.times
        return (*x.shape[: self.axis], shrunk, *x.shape[self.axis + 1 :])

    def perform(self, x):
        size = x.shape[self.axis] // self.times
        blocks = (*x.shape[: self.axis], size, self.times, *x.shape[self.axis + 1 :])
        return np.reshape(x, blocks).sum(axis=self.axis + 1)

    def grad(self, inputs, outputs, output_grads):
        return [RepeatElements(self.times, self.axis)(output_grads[0])]


def repeat_elements(x, rep, axis):
    """Return a tensor in which each element along an axis comes `rep` times in a row.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.repeat_elements(K.constant([1, 2]), 2, axis=0)).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    x = as_tensor(x)
    return RepeatElements(int(rep), normalize_axis(axis, x.ndim, "K.repeat_elements"))(x)


@dataclass(frozen=True)
class Reverse(Op):
    """`x` back to front along `axes`."""

    axes: tuple[int, ...]

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.flip(x, self.axes)

    def grad(self, inputs, outputs, output_grads):
        return [Reverse(self.axes)(output_grads[0])]


def reverse(x, axes):
    """Return `x` back to front along an axis or several."""
    x = as_tensor(x)
    return Reverse(normalize_axes(axes, x.ndim, "K.reverse"))(x)


@dataclass(frozen=True)
class Transpose(Op):
    """`x` with its axes in the order of `pattern`."""

    pattern: tuple[int, ...]

    def infer_shape(self, x):
        return tuple(x.shape[axis] for axis in self.pattern)

    def perform(self, x):
        return np.transpose(x, self.pattern)

    def grad(self, inputs, outputs, output_grads):
        back = tuple(self.pattern.index(axis) for axis in range(len(self.pattern)))
        return [Transpose(back)(output_grads[0])]


def permute_dimensions(x, pattern):
    """Return `x` with its axes in another order.

    Parameters
    ----------
    x : Tensor
    pattern : tuple of int
        Axis of `x` that becomes axis 0, 1, ... of the result: (0, 2, 1).
    """
    x = as_tensor(x)
    axes = tuple(normalize_axis(int(a), x.ndim, "K.permute_dimensions") for a in pattern)
    if sorted(axes) != list(range(x.ndim)):
        raise ArgumentError(
            f"K.permute_dimensions: pattern {tuple(pattern)} for shape {x.shape}; "
            f"expected each of {x.ndim} axes once."
        )
    return Transpose(axes)(x)


def transpose(x):
    """Return `x` with its axes in the opposite order; of a matrix, the transposed one."""
    x = as_tensor(x)
    return Transpose(tuple(reversed(range(x.ndim))))(x)
