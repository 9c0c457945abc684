"""Ops that take entries at indices, write to indices, search and count. The indices are tensors.

The gradient of an op that takes entries is an op that adds to zeros at the same indices, and vice
versa. An entry that was taken twice gets the sum of both gradients. Sorting takes the entries at
the indices of `ArgSort`, so it has the same gradient.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.graph import Op, ShapeOfFirst, ShapeOfLast, Tensor, parametric
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.indexing import known_values, sizes_from
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.types import Gradients, Shape, Tensors
from kerascope.errors import DataError, GradientError, ShapeError

__all__: list[str] = []  # K exports none of these functions

# --- along one axis -------------------------------------------------------------------------------


@parametric
class ArgSort(ShapeOfFirst):
    """The indices that sort `x` along `axis`; equal elements keep their order."""

    axis: int
    descending: bool = False

    def infer_dtype(self, x: Tensor) -> str:
        return "int32"

    def perform(self, x: np.ndarray) -> np.ndarray:
        if not self.descending:
            return np.argsort(x, self.axis, kind="stable").astype("int32")
        order = np.argsort(np.flip(x, self.axis), self.axis, kind="stable")
        return (x.shape[self.axis] - 1 - np.flip(order, self.axis)).astype("int32")


@parametric
class AlongAxis(Op):
    """Base class of ops with an input of indices along `axis`, as in `take_along_axis`."""

    axis: int

    def places(self, indices: np.ndarray, size: int) -> np.ndarray:
        """Return the indices, with `size` added if negative; raise DataError if out of range."""
        if indices.size and not (-size <= indices.min() and indices.max() < size):
            wrong = indices[(indices < -size) | (indices >= size)].flat[0]
            raise DataError(
                f"{self.name}: expected indices from {-size} to {size - 1}, got {wrong}."
            )
        return np.where(indices < 0, indices + size, indices)


class TakeAlongAxis(AlongAxis):
    """The entries of `x` at `indices` along `axis`: NumPy's `take_along_axis`."""

    may_refuse = True

    def infer_shape(self, x: Tensor, indices: Tensor) -> Shape:
        size = indices.shape[self.axis]
        shapes = [(*s[: self.axis], size, *s[self.axis + 1 :]) for s in (x.shape, indices.shape)]
        merged = merge_shapes(*shapes)
        if merged is None:
            raise ShapeError(
                f"{self.name}: expected equal sizes except along axis {self.axis}, got x "
                f"{x.shape} and indices {indices.shape}.",
                subject=indices,
            )
        return merged

    def perform(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, self.places(indices, x.shape[self.axis]), self.axis)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [AddAlongAxis(self.axis)(output_grads[0], inputs[1], inputs[0]), None]


class AddAlongAxis(ShapeOfLast, AlongAxis):
    """Zeros with the shape of `like`, with each entry of `x` added at its index along `axis`."""

    may_refuse = True
    inputs_read_by_shape = frozenset({2})

    def perform(self, x: np.ndarray, indices: np.ndarray, like: np.ndarray) -> np.ndarray:
        out = np.zeros(like.shape, x.dtype)
        where: list[Any] = list(np.indices(indices.shape, sparse=True))
        where[self.axis] = self.places(indices, like.shape[self.axis])
        np.add.at(out, tuple(where), x)
        return out

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [TakeAlongAxis(self.axis)(output_grads[0], inputs[1]), None, None]


@parametric
class Roll(ShapeOfFirst):
    """`x` shifted along axes; entries shifted beyond the end reappear at the beginning."""

    shift: tuple[int, ...]
    axes: tuple[int, ...]

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.roll(x, self.shift, self.axes)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Roll(tuple(-n for n in self.shift), self.axes)(output_grads[0])]


@parametric
class PlacesWithPadding(Op):
    """The indices 0, 1, ... along an axis, extended at both ends as `numpy.pad` extends an array.

    `mode` is a mode of `numpy.pad` that repeats entries: "reflect", "symmetric", "edge" or "wrap".
    Taking the entries at these indices pads a tensor.
    """

    before: int
    after: int
    mode: str

    def infer_shape(self, size: Tensor) -> Shape:
        known = known_values(size)
        return (None if known is None else self.before + known + self.after,)

    def infer_dtype(self, size: Tensor) -> str:
        return "int32"

    def perform(self, size: Any) -> np.ndarray:
        places = np.arange(int(size), dtype="int32")
        return np.pad(places, (self.before, self.after), self.mode)  # type: ignore[call-overload]


# --- index vectors: each selects an entry, or a slice if it has fewer numbers than there are axes -


class PlaceOp(Op):
    """Base class of ops with an input of index vectors, shape (..., n).

    Each vector contains an index for each of the first n axes of another input or of the result.
    """

    may_refuse: ClassVar[bool] = True

    def where(self, indices: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """Return index vectors as one index array for each axis; raise if one is out of range."""
        first = np.array(sizes[: indices.shape[-1]])
        if indices.size and not ((-first <= indices) & (indices < first)).all():
            raise DataError(f"{self.name}: an index is out of range for shape {sizes}.")
        return tuple(np.moveaxis(indices, -1, 0))


@parametric
class TakePlaces(PlaceOp):
    """The entries or slices of `x` at index vectors for its first `axes` axes."""

    axes: int

    def infer_shape(self, x: Tensor, indices: Tensor) -> Shape:
        return (*indices.shape[:-1], *x.shape[self.axes :])

    def perform(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return np.array(x[self.where(indices, x.shape)])

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [AddAtPlaces()(output_grads[0], inputs[1], inputs[0]), None]


def _at_places(x: Tensor, indices: Tensor, like: Tensor) -> Tensor:
    """Return the slices of `x` at index vectors, as one tensor.

    The vectors are indices along the first axes of `x`. How many axes these are follows from
    `like`, because the result has as many axes as `like`.
    """
    return TakePlaces(x.ndim - (like.ndim - indices.ndim + 1))(x, indices)


class AddAtPlaces(ShapeOfLast, PlaceOp):
    """Zeros with the shape of `like`, with each slice of `x` added at its index vector."""

    inputs_read_by_shape = frozenset({2})

    def perform(self, x: np.ndarray, indices: np.ndarray, like: np.ndarray) -> np.ndarray:
        out = np.zeros(like.shape, x.dtype)
        np.add.at(out, self.where(indices, like.shape), x)
        return out

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [_at_places(output_grads[0], inputs[1], inputs[0]), None, None]


class Scatter(PlaceOp):
    """Zeros of the shape in the third input, with each slice of `x` added at its index vector."""

    def infer_shape(self, x: Tensor, indices: Tensor, shape: Tensor) -> Shape:
        return sizes_from(shape, "scatter: the shape")

    def perform(self, x: np.ndarray, indices: np.ndarray, shape: np.ndarray) -> np.ndarray:
        sizes = tuple(map(int, shape))
        out = np.zeros(sizes, x.dtype)
        np.add.at(out, self.where(indices, sizes), x)
        return out

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [_at_places(output_grads[0], inputs[1], inputs[0]), None, None]


_UPDATES: dict[str, Any] = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


@parametric
class UpdatePlaces(ShapeOfFirst, PlaceOp):
    """`x` with updates at index vectors, combined with the old values by `reduction`.

    `reduction` is "set", "add", "max", "min" or "mul". If "set" writes one place several times, the
    last value remains.
    """

    reduction: str

    def perform(self, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        out = np.array(x)
        where = self.where(indices, x.shape)
        if self.reduction == "set":
            out[where] = updates
        else:
            _UPDATES[self.reduction].at(out, where, updates.astype(x.dtype))
        return out

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        _, indices, updates = inputs
        g = output_grads[0]
        to_updates = _at_places(g, indices, updates)
        if self.reduction == "add":
            return [g, None, to_updates]
        if self.reduction != "set":
            raise GradientError(
                f"scatter_update: reduction={self.reduction!r} has no gradient here. Use None or "
                f"'add'."
            )
        kept = UpdatePlaces("set")(g, indices, 0 * updates)
        return [kept, None, to_updates if is_float(updates.dtype) else None]


class UpdateSlice(ShapeOfFirst):
    """`x` with the block `updates` written at `start`, a vector with an index for each axis."""

    may_refuse = True

    def perform(self, x: np.ndarray, start: np.ndarray, updates: np.ndarray) -> np.ndarray:
        out = np.array(x)
        sizes = zip(start, updates.shape, x.shape, strict=True)
        if any(not 0 <= first <= size - count for first, count, size in sizes):
            raise DataError(
                f"slice_update: updates of shape {updates.shape} at {start.tolist()} must stay "
                f"inside of shape {x.shape}."
            )
        out[self._inside(start, updates)] = updates
        return out

    @staticmethod
    def _inside(start: np.ndarray, updates: np.ndarray) -> tuple[slice, ...]:
        pairs = zip(start, updates.shape, strict=True)
        return tuple(slice(int(first), int(first) + count) for first, count in pairs)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        _, start, updates = inputs
        kept = UpdateSlice()(output_grads[0], start, cast(0 * updates, output_grads[0].dtype))
        return [kept, None, SliceLike()(output_grads[0], start, updates)]


class SliceLike(ShapeOfLast):
    """The block of `x` with the shape of `like` that begins at `start`, an index for each axis."""

    inputs_read_by_shape = frozenset({2})

    def may_share(self, inputs, outputs):
        return ((0, 0),)

    def perform(self, x: np.ndarray, start: np.ndarray, like: np.ndarray) -> np.ndarray:
        return x[UpdateSlice._inside(start, like)]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, start, _ = inputs
        return [UpdateSlice()(0 * x, start, output_grads[0]), None, None]


# --- searching and counting -----------------------------------------------------------------------


@parametric
class SearchSorted(Op):
    """The index at which each value would be inserted into a sorted vector.

    `side` "left" inserts before equal entries, "right" after them.
    """

    side: str

    def infer_shape(self, sequence: Tensor, values: Tensor) -> Shape:
        if sequence.ndim != 1:
            raise ShapeError(
                f"searchsorted: expected a sequence with 1 axis, got {sequence.shape}.",
                subject=sequence,
            )
        return values.shape

    def infer_dtype(self, sequence: Tensor, values: Tensor) -> str:
        return "int32"

    def perform(self, sequence: np.ndarray, values: np.ndarray, xp: Any = np) -> np.ndarray:
        found = xp.searchsorted(sequence, values, self.side)  # type: ignore[call-overload]
        return xp.asarray(found).astype("int32")


class Nonzero(Op):
    """The indices of the entries that are not 0, shape (ndim, n): a row for each axis."""

    def infer_shape(self, x: Tensor) -> Shape:
        return (x.ndim, None)

    def infer_dtype(self, x: Tensor) -> str:
        return "int32"

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.array(np.nonzero(np.atleast_1d(x))[: np.ndim(x)], "int32").reshape(np.ndim(x), -1)


@parametric
class Bincount(Op):
    """How often each of 0, 1, ... occurs along the last axis; with weights, their sum for each."""

    minlength: int
    may_refuse = True

    def infer_shape(self, x: Tensor, *weights: Tensor) -> Shape:
        return (*x.shape[:-1], None)

    def infer_dtype(self, x: Tensor, *weights: Tensor) -> str:
        return weights[0].dtype if weights else "int32"

    def perform(self, x: np.ndarray, *weights: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.int64)
        if x.size and x.min() < 0:
            raise DataError(f"bincount: expected whole numbers >= 0, got {x.min()}.")
        length = max(self.minlength, int(x.max(initial=-1)) + 1)
        out = np.zeros((*x.shape[:-1], length), weights[0].dtype if weights else np.int32)
        rows = np.indices(x.shape, sparse=True)[:-1]
        np.add.at(out, (*rows, x), weights[0] if weights else 1)
        return out

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, *weights = inputs
        to_weights = [TakeAlongAxis(x.ndim - 1)(output_grads[0], x) for _ in weights]
        return [None, *to_weights]


class Histogram(Op):
    """The number of entries of `x` between neighbouring `borders`, which are ascending."""

    def infer_shape(self, x: Tensor, borders: Tensor) -> Shape:
        size = borders.shape[0]
        return (None if size is None else size - 1,)

    def perform(self, x: np.ndarray, borders: np.ndarray) -> np.ndarray:
        bins = max(len(borders) - 1, 0)
        inside = x[(x >= borders[0]) & (x <= borders[-1])] if bins else x[:0]
        places = np.searchsorted(borders, inside, "right") - 1
        return np.bincount(np.clip(places, 0, bins - 1), minlength=bins).astype(x.dtype)


@parametric
class Unique(Op):
    """The distinct entries of `x`, sorted; optionally with their indices and counts.

    If `size` is not None, the result has this many entries. Surplus entries are omitted. Missing
    entries are filled with `fill_value`, or with the first entry if `fill_value` is None.
    """

    axis: int | None
    further: tuple[str, ...]  # some of "return_index", "return_inverse", "return_counts"
    size: int | None = None
    fill_value: float | None = None

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """The number of outputs: the distinct entries, and one for each name in `further`."""
        return 1 + len(self.further)

    def infer_shape(self, x: Tensor) -> Any:
        rest = () if self.axis is None else (x.shape[: self.axis], x.shape[self.axis + 1 :])
        values = (*rest[0], self.size, *rest[1]) if rest else (self.size,)
        inverse = x.shape if self.axis is None else (x.shape[self.axis],)
        others = [inverse if name == "return_inverse" else (self.size,) for name in self.further]
        return (values, *others) if others else values

    def infer_dtype(self, x: Tensor) -> Any:
        return (x.dtype, *("int32",) * len(self.further)) if self.further else x.dtype

    def perform(self, x: np.ndarray) -> Any:
        wanted = dict.fromkeys(self.further, True)
        found: Any = np.unique(x, axis=self.axis, **wanted)  # type: ignore[call-overload]
        if not self.further:
            return self._fitted(found, self.axis or 0)
        others = zip(self.further, found[1:], strict=True)
        return (
            self._fitted(found[0], self.axis or 0),
            *(self._other(x, name, numbers) for name, numbers in others),
        )

    def _other(self, x: np.ndarray, name: str, numbers: np.ndarray) -> np.ndarray:
        if name == "return_inverse":
            shape = x.shape if self.axis is None else (-1,)
            return numbers.reshape(shape).astype("int32")
        fill = 0 if name == "return_counts" else numbers[0] if len(numbers) else 0
        return self._fitted(numbers, 0, fill).astype("int32")

    def _fitted(self, values: np.ndarray, axis: int, fill: Any = None) -> np.ndarray:
        """Return the first `size` values; if there are fewer, fill values are appended."""
        if self.size is None:
            return values
        missing = self.size - values.shape[axis]
        if missing <= 0:
            return np.take(values, range(self.size), axis)
        first = np.take(values, [0], axis)
        value = self.fill_value if fill is None else fill
        further = np.repeat(first if value is None else np.full_like(first, value), missing, axis)
        return np.concatenate([values, further], axis)
