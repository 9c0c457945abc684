"""Functions of `keras.ops` that change the shape of a tensor, or take parts of it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.compat.on_anything import on_anything
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.operation_table import OPERATIONS

__all__ = [
    "broadcast_to",
    "concatenate",
    "expand_dims",
    "flip",
    "get_item",
    "moveaxis",
    "ndim",
    "one_hot",
    "ravel",
    "repeat",
    "reshape",
    "shape",
    "size",
    "slice",
    "split",
    "squeeze",
    "swapaxes",
    "take",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unstack",
]


def shape(x: Any) -> tuple[Any, ...]:
    """Return the shape; a size that is known at run time only is a scalar tensor."""
    if not isinstance(x, Tensor):
        return np.shape(x)
    return tuple(K.shape(x)[i] if size is None else size for i, size in enumerate(x.shape))


@on_anything
def size(x: Any) -> Any:
    """Return the number of entries."""
    return K.prod(K.shape(x))


def ndim(x: Any) -> int:
    """Return the number of axes."""
    return len(x.shape) if isinstance(x, Tensor) else np.ndim(x)


@on_anything
def expand_dims(x: Any, axis: Any) -> Any:
    """Return x with an axis of size 1 put in, or several."""
    return OPERATIONS["ExpandDims"][1](as_tensor(x), axis)


@on_anything
def squeeze(x: Any, axis: Any = None) -> Any:
    """Return x without an axis of size 1, or without all of them."""
    x = as_tensor(x)
    axes = [i for i, n in enumerate(x.shape) if n == 1] if axis is None else axis
    axes = [axes] if isinstance(axes, int) else axes
    for one in sorted((axis % x.ndim for axis in axes), reverse=True):
        x = K.squeeze(x, one)
    return x


@on_anything
def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """Return x with its axes in another order; by default turned round."""
    return K.transpose(x) if axes is None else K.permute_dimensions(x, tuple(axes))


@on_anything
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Return x with two axes exchanged."""
    x = as_tensor(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return K.permute_dimensions(x, tuple(order))


@on_anything
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Return x with an axis, or each of several, moved to another place."""
    x = as_tensor(x)
    moved, places = (
        [axis % x.ndim for axis in ([axes] if isinstance(axes, int) else axes)]
        for axes in (source, destination)
    )
    order = [axis for axis in range(x.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return K.permute_dimensions(x, tuple(order))


@on_anything
def ravel(x: Any) -> Any:
    """Return x as a vector."""
    return K.reshape(x, (-1,))


@on_anything
def flip(x: Any, axis: Any = None) -> Any:
    """Return x turned round along an axis, or all."""
    x = as_tensor(x)
    return K.reverse(x, list(range(x.ndim)) if axis is None else axis)


@on_anything
def concatenate(xs: Sequence[Any], axis: int = 0) -> Any:
    """Return the tensors behind one another along an axis."""
    return K.concatenate(list(xs), axis)


@on_anything
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Return the parts of x along an axis: so many equal ones, or cut at these places.

    Raises
    ------
    ArgumentError
        The axis has no known size, or is not divisible.
    """
    x = as_tensor(x)
    axis %= x.ndim
    length = x.shape[axis]
    if length is None:
        raise ArgumentError(f"keras.ops.split: the size of axis {axis} is not known.")
    cuts = indices_or_sections
    if isinstance(cuts, int):
        if length % cuts:
            raise ArgumentError(f"keras.ops.split: {length} entries are no {cuts} equal parts.")
        cuts = range(length // cuts, length, length // cuts)
    ends = [0, *cuts, length]
    before = (_cut(None),) * axis
    return [x[(*before, _cut(a, b))] for a, b in pairwise(ends)]


@on_anything
def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    """Return the entries of x along an axis, each without it."""
    x = as_tensor(x)
    axis %= x.ndim
    number = x.shape[axis] if num is None else num
    return [x[(*(_cut(None),) * axis, i)] for i in range(number or 0)]


@on_anything
def reshape(x: Any, newshape: Sequence[Any]) -> Any:
    """Return x in another shape; -1 stands for the size that is left over."""
    return K.reshape(x, tuple(newshape))


@on_anything
def tile(x: Any, repeats: Any) -> Any:
    """Return x repeated as a whole, so often along each axis."""
    x = as_tensor(x)
    times = [repeats] if isinstance(repeats, int) else list(repeats)
    while x.ndim < len(times):
        x = K.expand_dims(x, 0)
    return K.tile(x, [1] * (x.ndim - len(times)) + times)


@on_anything
def repeat(x: Any, repeats: int, axis: int | None = None) -> Any:
    """Return x with each entry repeated along an axis."""
    return K.repeat_elements(K.reshape(x, (-1,)) if axis is None else x, repeats, axis or 0)


@on_anything
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the entries of x with these numbers along an axis; without one, of the flat array."""
    if axis is None:
        return K.gather(K.reshape(x, (-1,)), indices)
    x = as_tensor(x)
    axis %= x.ndim
    if axis == 0:
        return K.gather(x, indices)
    order = (axis, *(i for i in range(x.ndim) if i != axis))
    taken = K.gather(K.permute_dimensions(x, order), indices)
    new = taken.ndim - x.ndim + 1
    back = (*range(new, new + axis), *range(new), *range(new + axis, taken.ndim))
    return K.permute_dimensions(taken, back)


@on_anything
def get_item(x: Any, key: Any) -> Any:
    """Return x[key]."""
    return as_tensor(x)[key]


@on_anything
def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Return x repeated to a shape."""
    x = as_tensor(x)
    return x * K.constant(np.ones(shape), dtype=x.dtype)


@on_anything
def one_hot(x: Any, num_classes: int, axis: int = -1, dtype: str | None = None) -> Any:
    """Return for each class number a row with a single one."""
    rows = K.cast(K.one_hot(K.cast(x, "int32"), num_classes), dtype or K.floatx())
    return rows if axis in (-1, rows.ndim - 1) else moveaxis(rows, -1, axis)


@on_anything
def tril(x: Any, k: int = 0) -> Any:
    """Return x with zeros above its k-th diagonal."""
    return _triangle(x, k, np.tril)


@on_anything
def triu(x: Any, k: int = 0) -> Any:
    """Return x with zeros below its k-th diagonal."""
    return _triangle(x, k, np.triu)


def _triangle(x: Any, k: int, part: Callable[..., Any]) -> Any:
    x = as_tensor(x)
    rows, columns = x.shape[-2:]
    if rows is None or columns is None:
        raise ShapeError(f"keras.ops.{part.__name__}: shape {x.shape}; expected known sizes.")
    return x * K.constant(part(np.ones((rows, columns)), k), dtype=x.dtype)


@on_anything
def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """Return the part of a shape that begins at these indices."""
    return K.slice(inputs, start_indices, shape)


def _cut(first: int | None, last: int | None = None) -> Any:
    """Return Python's own slice, whose name is Keras's in this module."""
    return builtins.slice(first, last)
