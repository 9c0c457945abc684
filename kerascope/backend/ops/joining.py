"""Joining tensors (concatenate, stack) and repeating them (tile, repeat)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Op, ShapeOfLast, as_tensor, parametric
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import promoted, zeros_like
from kerascope.backend.ops.indexing import GetItem, Span, known_values
from kerascope.backend.ops.templates import reduction
from kerascope.backend.shapes import concatenated_shape, merge_shapes, normalize_axis
from kerascope.backend.types import Gradients, Kernel, Shape, Specs, Tensor, TensorLike, Tensors
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["concatenate", "repeat", "repeat_elements", "stack", "tile"]


@parametric
class Concatenate(Op):
    """Tensors joined along `axis`."""

    axis: int

    def infer_shape(self, *inputs: Tensor) -> Shape:
        return concatenated_shape([x.shape for x in inputs], self.axis, "concatenate")

    def perform(self, *inputs: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.concatenate(inputs, self.axis)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        listed = "".join(f"{{{i}}}, " for i in range(len(inputs)))
        return f"np.concatenate(({listed}), {self.axis}, {{out}})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Part(self.axis, i)(output_grads[0], *inputs) for i in range(len(inputs))]

    def known_values(self, *inputs):
        parts = [known_values(x) for x in inputs]
        return None if None in parts else tuple(value for part in parts for value in part)


@parametric
class Part(Op):
    """The part of `whole`, a concatenation of tensors, that came from tensor number `position`."""

    axis: int
    position: int
    is_view = True

    def infer_shape(self, whole: Tensor, *inputs: Tensor) -> Shape:
        return inputs[self.position].shape

    def perform(self, whole: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
        start = sum(x.shape[self.axis] for x in inputs[: self.position])
        stop = start + inputs[self.position].shape[self.axis]
        return whole[(*(slice(None),) * self.axis, slice(start, stop))]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        parts = [zeros_like(x) for x in inputs[1:]]
        parts[self.position] = output_grads[0]
        return [Concatenate(self.axis)(*parts), *(None for _ in parts)]


def concatenate(tensors, axis=-1):
    """Return tensors joined along an axis.

    Parameters
    ----------
    tensors : list of Tensor
        Their shapes are equal except along `axis`.
    axis : int

    Raises
    ------
    ShapeError
        The shapes differ along an axis other than `axis`.
    """
    tensors = promoted(*_listed("K.concatenate", tensors))
    return Concatenate(normalize_axis(axis, tensors[0].ndim, "K.concatenate"))(*tensors)


def _listed(where, tensors):
    """Return `tensors`, or raise ArgumentError if it is not a list or is empty."""
    if isinstance(tensors, Tensor) or not len(tensors):
        raise ArgumentError(f"{where}: expected a list of tensors [x, y], got {tensors!r}.")
    return tensors


@parametric
class Stack(Op):
    """Tensors of one shape, joined along the new axis `axis`."""

    axis: int

    def infer_shape(self, *inputs: Tensor) -> Shape:
        merged = inputs[0].shape
        for x in inputs[1:]:
            both = merge_shapes(merged, x.shape)
            if both is None:
                listed = ", ".join(str(x.shape) for x in inputs)
                raise ShapeError(f"stack: expected tensors of equal shapes, got {listed}.")
            merged = both
        return (*merged[: self.axis], len(inputs), *merged[self.axis :])

    def perform(self, *inputs: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.stack(inputs, self.axis)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        new_axis = f"[{':, ' * self.axis}None]"  # `np.stack` is slow: it loops in Python
        listed = "".join(f"{{{i}}}{new_axis}, " for i in range(len(inputs)))
        return f"np.concatenate(({listed}), {self.axis}, {{out}})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        before, after = (Span(),) * self.axis, (Span(),) * (inputs[0].ndim - self.axis)
        return [GetItem((*before, i, *after))(output_grads[0]) for i in range(len(inputs))]

    def known_values(self, *inputs):
        return tuple(known_values(x) for x in inputs)


def stack(x: TensorLike, axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis.

    Parameters
    ----------
    x : list of Tensor
    axis : int
        Index of the new axis in the result.
    """
    tensors = promoted(*_listed("K.stack", x))
    return Stack(normalize_axis(axis, tensors[0].ndim + 1, "K.stack"))(*tensors)


@parametric
class Tile(Op):
    """`x` repeated `repeats[axis]` times along each axis, as tiles."""

    repeats: tuple[int, ...]

    def infer_shape(self, x: Tensor) -> Shape:
        return tuple(
            None if n is None else n * r for n, r in zip(x.shape, self.repeats, strict=True)
        )

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.tile(x, self.repeats)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return _copy_tiles(inputs[0].shape, self.repeats)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumTiles(self.repeats)(output_grads[0])]


@parametric
class SumTiles(Op):
    """The sum of the tiles of `x`: the gradient of `Tile`."""

    repeats: tuple[int, ...]

    def infer_shape(self, x: Tensor) -> Shape:
        return tuple(
            None if n is None else n // r for n, r in zip(x.shape, self.repeats, strict=True)
        )

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        split = xp.reshape(x, _split(x.shape, self.repeats))
        return split.sum(axis=tuple(range(0, 2 * x.ndim, 2)), dtype=x.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return _sum_tiles(inputs[0].shape, self.repeats)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Tile(self.repeats)(output_grads[0])]


def _split(shape: Sequence[int], repeats: Sequence[int]) -> tuple[int, ...]:
    """Return the shape with each axis split into two: the number of tiles, and a tile's size."""
    pairs = ((r, n // r) for n, r in zip(shape, repeats, strict=True))
    return tuple(size for pair in pairs for size in pair)


def _copy_tiles(shape: Sequence[int], repeats: Sequence[int]) -> str:
    tiled = [n * r for n, r in zip(shape, repeats, strict=True)]
    there, here = _split(tiled, repeats), _split(shape, (1,) * len(shape))
    return f"np.copyto({{out}}.reshape({there}), {{0}}.reshape({here}))"


def _sum_tiles(shape: Sequence[int], repeats: Sequence[int]) -> str:
    split = f"{{0}}.reshape({_split(shape, repeats)})"
    return reduction("np.add", range(0, 2 * len(shape), 2), x=split)


class TileAtRunTime(Op):
    """Base class of ops that repeat `x` as tiles; how often is known only at run time."""

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        small, large = inputs[0].shape, outputs[0].shape
        if 0 in small:
            return None
        return _copy_tiles(small, [n // m for n, m in zip(large, small, strict=True)])

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumTilesLike()(output_grads[0], inputs[0]), None]


class TileBy(TileAtRunTime):
    """`x` repeated as tiles, `repeats[i]` times along axis i, where `repeats` is a vector."""

    def infer_shape(self, x: Tensor, repeats: Tensor) -> Shape:
        times = known_values(repeats)
        if times is None or len(times) != x.ndim:
            raise ShapeError(
                f"K.tile: expected {x.ndim} numbers for x of shape {x.shape}, got n "
                f"'{repeats.name}' of shape {repeats.shape}.",
                subject=repeats,
            )
        pairs = zip(x.shape, times, strict=True)
        return tuple(None if None in pair else pair[0] * pair[1] for pair in pairs)

    def perform(self, x: np.ndarray, repeats: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.tile(x, tuple(repeats))


class TileLike(ShapeOfLast, TileAtRunTime):
    """`x` repeated as tiles to fill the shape of `like`."""

    def perform(self, x: np.ndarray, like: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.tile(x, [n // m for n, m in zip(like.shape, x.shape, strict=True)])


class SumTilesLike(ShapeOfLast):
    """The sum of the tiles of `x`, each of the shape of `like`: the gradient of `TileLike`."""

    def perform(self, x: np.ndarray, like: np.ndarray, xp: Any = np) -> np.ndarray:
        repeats = tuple(n // m for n, m in zip(x.shape, like.shape, strict=True))
        return SumTiles(repeats).perform(x, xp=xp)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        large, small = inputs[0].shape, inputs[1].shape
        if 0 in small:
            return None
        return _sum_tiles(large, [n // m for n, m in zip(large, small, strict=True)])

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [TileLike()(output_grads[0], inputs[0]), None]


def tile(x, n):
    """Return `x` repeated several times along each axis.

    Parameters
    ----------
    x : Tensor
    n : int or tuple of int or scalar int Tensor, or int Tensor of shape (ndim,)
        Number of repetitions along each axis. A shorter tuple applies to the last axes.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.tile(K.constant([[1, 2]]), (2, 2))).tolist()
    [[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]
    """
    x = as_tensor(x)
    if isinstance(n, Tensor) and n.ndim == 1:
        return TileBy()(x, n)
    repeats = (n,) if isinstance(n, (int, np.integer, Tensor)) else tuple(n)
    computed = any(isinstance(r, Tensor) for r in repeats)
    if len(repeats) > x.ndim or not (computed or all(r >= 1 for r in repeats)):
        raise ArgumentError(
            f"K.tile: expected at most {x.ndim} numbers >= 1 for shape {x.shape}, got n = {n!r}."
        )
    repeats = (*(1,) * (x.ndim - len(repeats)), *repeats)
    return TileBy()(x, stack(repeats)) if computed else Tile(tuple(map(int, repeats)))(x)


def repeat(x, n):
    """Repeat a tensor of shape (batch, features) to a tensor of shape (batch, n, features)."""
    x = as_tensor(x)
    if x.ndim != 2:
        raise ShapeError(f"K.repeat: expected x with 2 axes, got {x.shape}.", subject=x)
    return tile(x[:, None], (1, n, 1))


@parametric
class RepeatElements(Op):
    """Each element along `axis` repeated `times` times in a row."""

    times: int
    axis: int

    def infer_shape(self, x: Tensor) -> Shape:
        size = x.shape[self.axis]
        stretched = None if size is None else size * self.times
        return (*x.shape[: self.axis], stretched, *x.shape[self.axis + 1 :])

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.repeat(x, self.times, self.axis)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        before, after = inputs[0].shape[: self.axis + 1], inputs[0].shape[self.axis + 1 :]
        split = (*before, self.times, *after)
        new_axis = f"[{':, ' * (self.axis + 1)}None]"
        return f"np.copyto({{out}}.reshape({split}), {{0}}{new_axis})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumRepeated(self.times, self.axis)(output_grads[0])]


@parametric
class SumRepeated(Op):
    """The gradient of `RepeatElements`: sums of each `times` neighbouring elements along `axis`."""

    times: int
    axis: int

    def infer_shape(self, x: Tensor) -> Shape:
        size = x.shape[self.axis]
        shrunk = None if size is None else size // self.times
        return (*x.shape[: self.axis], shrunk, *x.shape[self.axis + 1 :])

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.reshape(x, self._blocks(x)).sum(axis=self.axis + 1, dtype=x.dtype)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        split = f"{{0}}.reshape({self._blocks(inputs[0])})"
        return reduction("np.add", (self.axis + 1,), x=split)

    def _blocks(self, x):
        size = x.shape[self.axis] // self.times
        return (*x.shape[: self.axis], size, self.times, *x.shape[self.axis + 1 :])

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [RepeatElements(self.times, self.axis)(output_grads[0])]


def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    """Return a tensor in which each element along `axis` is repeated `rep` times in a row.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.repeat_elements(K.constant([1, 2]), 2, axis=0)).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    x = as_tensor(x)
    return RepeatElements(int(rep), normalize_axis(axis, x.ndim, "K.repeat_elements"))(x)


OPERATORS.update(stack=stack)
