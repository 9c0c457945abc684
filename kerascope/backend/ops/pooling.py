"""Pooling: each window of an image becomes one number, its maximum or its mean.

Maxima and sums can be computed axis by axis: the maximum of a window is the maximum of the maxima
of its rows. `MaxPool` and `AveragePool` compute in this way. The gradient of a mean is shared
equally by all cells of the window. The gradient of a maximum goes to the first cell that contains
it. `windows.py` computes the positions of the windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Op, ShapeOfLast, parametric
from kerascope.backend.ops.convolution_kernels import (
    BLOCK_BYTES,
    Routine,
    Sizes,
    equal_parts,
    scratch_array,
)
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.into_memory import IntoMemory
from kerascope.backend.ops.windows import (
    Place,
    checked_padding,
    normalize_data_format,
    places_along,
    places_of_cells,
    pooled_shape,
    sizes_along_axes,
)
from kerascope.backend.types import Gradients, Kernel, Shape, Specs, Tensor, Tensors
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["pool1d", "pool2d", "pool3d"]


# --- routines for pooling and its gradients, which write into a given array -----------------------
#
# Pooling does little work for each number, so the time of memory access dominates. A few images are
# processed completely before the next ones, so that results of the first pass are still in the
# processor's second-level cache in the second pass.
#
# As in `convolution_kernels.py`, functions ending in `_into` take the shapes and return a routine
# (out, *inputs). An op calls it at once (`perform`), and a compiled function keeps it (`kernel`).


@parametric
class WindowOp(Op):
    """Base class of ops on pooling windows along consecutive axes, of which `axis` is the first."""

    pool_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    axis: int

    def pooled_shape(self, shape, where="pooling"):
        """Return the shape of the result of pooling an input of this shape."""
        return pooled_shape(shape, self.pool_size, self.strides, self.padding, self.axis, where)

    def lengths(self, shape: Sizes) -> Sizes:
        """Return the lengths of the pooled axes."""
        return shape[self.axis : self.axis + len(self.pool_size)]

    def along(self, shape: Sizes) -> Iterator[tuple[int, list[Place]]]:
        """Yield each pooled axis with a list: a `Place` for each cell of a window along it."""
        facts = zip(self.lengths(shape), self.pool_size, self.strides, strict=True)
        for axis, (length, size, stride) in enumerate(facts, start=self.axis):
            yield axis, places_along(length, size, stride, self.padding)

    def places(self, shape: Sizes) -> list[Place]:
        """Return a `Place` for each cell of a window, row by row, for an input of this shape."""
        lengths = self.lengths(shape)
        return list(places_of_cells(lengths, self.pool_size, self.strides, self.padding, self.axis))

    def are_apart(self) -> bool:
        """Return whether windows do not overlap."""
        return all(size <= step for size, step in zip(self.pool_size, self.strides, strict=True))

    def cover_all(self, shape: Sizes) -> bool:
        """Return whether the windows cover each cell of an input of this shape."""
        return all(
            len({i for p in places for i in range(p.cells.start, p.cells.stop, p.cells.step)})
            == shape[axis]
            for axis, places in self.along(shape)
        )


def image_blocks(shape: Sizes, itemsize: int) -> list[slice]:
    """Split a batch into slices of at most `BLOCK_BYTES`, or of one image if it is larger."""
    per_image = max(1, prod(shape[1:]) * itemsize)
    return list(equal_parts(shape[0], max(1, BLOCK_BYTES // per_image)))


def longest(blocks: Iterable[slice]) -> int:
    """Return the length of the longest slice; 0 for an empty list."""
    return max((block.stop - block.start for block in blocks), default=0)


# --- reducing windows, axis by axis ---------------------------------------------------------------


class Fold(NamedTuple):
    """A plan to reduce all windows of an input along one axis, each to one element.

    Attributes
    ----------
    first : tuple of slice
        The slices of the input that select one cell of all windows. This cell is inside the input
        in every window.
    others : list of Place
        The other cells of a window, with slices for this axis and all axes before it.
    shape : tuple of int
        Shape of the result, without the batch.
    """

    first: tuple[slice, ...]
    others: list[Place]
    shape: Sizes


def folds_of(windows: WindowOp, shape: Sizes) -> list[Fold]:
    """Return the `Fold` of each pooled axis, for inputs of this shape."""
    found, pooled = [], windows.pooled_shape(shape)
    for axis, places in windows.along(shape):
        before = (slice(None),) * axis
        full = max(
            places,
            key=lambda place: place.windows.stop - place.windows.start,
            default=Place(slice(0, 0), slice(0, 0)),
        )
        others = [
            Place((*before, place.cells), (*before, place.windows))
            for place in places
            if place is not full
        ]
        found.append(
            Fold((*before, full.cells), others, (*pooled[1 : axis + 1], *shape[axis + 1 :]))
        )
    return found


def fold(function: np.ufunc, x: np.ndarray, step: Fold, out: np.ndarray) -> None:
    """Reduce each window of `x` along one axis to one element of `out`, with a binary ufunc."""
    others = iter(step.others)
    second = next(others, None)
    if second is not None and out[second.windows].shape == out.shape:
        function(x[step.first], x[second.cells], out=out)
    else:
        np.copyto(out, x[step.first])
        others = iter(step.others)
    for place in others:
        part = out[place.windows]
        function(part, x[place.cells], out=part)


def fold_into(function: np.ufunc, shape: Sizes, dtype: np.dtype, windows: WindowOp) -> Routine:
    """Return a function (out, x) that reduces each window to one element with a ufunc."""
    steps = folds_of(windows, shape)
    blocks = image_blocks(shape, dtype.itemsize)
    shapes = [(longest(blocks), *step.shape) for step in steps[:-1]]

    def fold_all(out: np.ndarray, x: np.ndarray) -> None:
        buffers = [scratch_array(f"fold {n}", shape, dtype) for n, shape in enumerate(shapes)]
        for images in blocks:
            part = x[images]
            results = [buffer[: len(part)] for buffer in buffers]
            for step, result in zip(steps, [*results, out[images]], strict=True):
                fold(function, part, step, result)
                part = result

    return fold_all


def average_into(shape: Sizes, dtype: np.dtype, windows: WindowOp) -> Routine:
    """Return a function (out, x) that computes the mean of each window.

    float16 is summed in float32, because the sums may overflow.
    """
    summed_in = np.result_type(dtype, np.float32)
    counts = cell_counts(windows, shape, summed_in)
    add_up = fold_into(np.add, shape, summed_in, windows)
    if summed_in == dtype:

        def average(out: np.ndarray, x: np.ndarray) -> None:
            add_up(out, x)
            np.divide(out, counts, out=out)

        return average

    pooled = windows.pooled_shape(shape)

    def average_wide(out: np.ndarray, x: np.ndarray) -> None:
        wide = scratch_array("wide", shape, summed_in)
        total = scratch_array("wide total", pooled, summed_in)
        np.copyto(wide, x)
        add_up(total, wide)
        np.divide(total, counts, out=total)
        np.copyto(out, total, casting="unsafe")

    return average_wide


def cell_counts(windows: WindowOp, shape: Sizes, dtype: Any) -> np.ndarray:
    """Return the number of input cells in each window; a scalar if all numbers are equal."""
    after = len(shape) - windows.axis - len(windows.pool_size)
    ones = np.ones((*(1,) * windows.axis, *windows.lengths(shape), *(1,) * after), dtype)
    counts = np.empty(windows.pooled_shape(ones.shape), dtype)
    fold_into(np.add, ones.shape, ones.dtype, windows)(counts, ones)
    alike = counts.size > 0 and bool((counts == counts.flat[0]).all())
    return np.asarray(counts.flat[0]) if alike else counts


# --- gradients ------------------------------------------------------------------------------------


def hits(
    x: np.ndarray, y: np.ndarray, places: Sequence[Place], buffers: np.ndarray
) -> Iterator[tuple[Place, np.ndarray]]:
    """Yield each cell of a window, and a boolean array: in which windows it is the first maximum.

    Parameters
    ----------
    x, y : numpy.ndarray
        The input of the pooling, and the maxima.
    places : list of Place
        The cells.
    buffers : numpy.ndarray of bool, shape (2, *y.shape)
        Scratch memory. Each boolean array overwrites the previous one.
    """
    waiting, buffer = buffers  # waiting: windows whose maximum was not found yet
    waiting.fill(True)
    for place in places:
        still = waiting[place.windows]
        hit = buffer[tuple(slice(0, n) for n in still.shape)]
        np.equal(x[place.cells], y[place.windows], out=hit)
        np.logical_and(hit, still, out=hit)
        np.logical_xor(still, hit, out=still)
        yield place, hit


def put_at_maximum_into(shape: Sizes, dtype: np.dtype, windows: WindowOp) -> Routine:
    """Return a function (out, g, x, y) that computes the gradient of a maximum pooling in `out`.

    `x` is the input of the pooling, and `y` are the maxima. The output gradient `g` of a window is
    added to `out` at the window's first maximum. All other elements are 0.

    Parameters
    ----------
    shape : tuple of int
        Shape of `x` and `out`.
    dtype : numpy.dtype
        Dtype of `g` and `out`.
    """
    places, pooled = windows.places(shape), windows.pooled_shape(shape)
    apart, covered = windows.are_apart(), windows.cover_all(shape)
    blocks = image_blocks(shape, dtype.itemsize)
    block = (longest(blocks), *pooled[1:])

    def put(out: np.ndarray, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        buffers = scratch_array("hits", (2, *block), np.dtype(bool))
        products = scratch_array("product", block, dtype)
        if not (apart and covered):
            out.fill(0)
        for images in blocks:
            own = buffers[:, : images.stop - images.start]
            came, result = g[images], out[images]
            for place, hit in hits(x[images], y[images], places, own):
                target = result[place.cells]
                if apart:  # no cell is in two windows, so nothing is added up
                    np.multiply(came[place.windows], hit, out=target)
                else:
                    product = products[tuple(slice(0, n) for n in hit.shape)]
                    np.multiply(came[place.windows], hit, out=product)
                    np.add(target, product, out=target)

    return put


def spread_average_into(shape: Sizes, dtype: np.dtype, windows: WindowOp) -> Routine:
    """Return a function (out, g, like) that divides each `g` equally among its window's cells."""
    places, pooled = windows.places(shape), windows.pooled_shape(shape)
    apart, covered = windows.are_apart(), windows.cover_all(shape)
    counts = cell_counts(windows, shape, dtype)
    blocks = image_blocks(shape, dtype.itemsize)
    block = (longest(blocks), *pooled[1:])

    def spread(out: np.ndarray, g: np.ndarray, like: np.ndarray) -> None:
        buffer = scratch_array("product", block, dtype)
        if not (apart and covered):
            out.fill(0)
        for images in blocks:
            parts, result = buffer[: images.stop - images.start], out[images]
            np.divide(g[images], counts, out=parts)
            for place in places:
                target = result[place.cells]
                if apart:
                    np.copyto(target, parts[place.windows])
                else:
                    np.add(target, parts[place.windows], out=target)

    return spread


# --- maxima ---------------------------------------------------------------------------------------


class MaxPool(WindowOp, IntoMemory):
    """The maximum of each window of `x`."""

    def infer_shape(self, x: Tensor) -> Shape:
        return self.pooled_shape(x.shape, self.name)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        shape, dtype = inputs[0]
        return fold_into(np.maximum, shape, dtype, self)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [PutAtMaximum(**self.parameters)(output_grads[0], inputs[0], outputs[0])]


class PutAtMaximum(WindowOp, IntoMemory):
    """The gradient of `MaxPool`: each output gradient goes to the first maximum of its window."""

    def infer_shape(self, g: Tensor, x: Tensor, y: Tensor) -> Shape:
        return x.shape

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        shape, dtype = outputs[0]
        return put_at_maximum_into(shape, dtype, self)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        take = TakeAtMaximum(**self.parameters)
        return [take(output_grads[0], *inputs[1:]), None, None]


class TakeAtMaximum(WindowOp):
    """For each window, the element of `g` where the window has its first maximum in `x`."""

    def infer_shape(self, g: Tensor, x: Tensor, y: Tensor) -> Shape:
        return y.shape

    def perform(self, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = np.zeros(y.shape, g.dtype)
        places, buffers = self.places(x.shape), np.empty((2, *y.shape), bool)
        for (cells, windows), hit in hits(x, y, places, buffers):
            result[windows] += g[cells] * hit
        return result

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        put = PutAtMaximum(**self.parameters)
        return [put(output_grads[0], inputs[1], inputs[2]), None, None]


# --- means ----------------------------------------------------------------------------------------


class AveragePool(WindowOp, IntoMemory):
    """The mean of each window of `x`; cells outside of `x` are not counted."""

    def infer_shape(self, x: Tensor) -> Shape:
        return self.pooled_shape(x.shape, self.name)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        shape, dtype = inputs[0]
        return average_into(shape, dtype, self)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SpreadAverage(**self.parameters)(output_grads[0], inputs[0])]


class SpreadAverage(ShapeOfLast, WindowOp, IntoMemory):
    """The gradient of `AveragePool`: each output gradient is divided among its window's cells."""

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        shape, dtype = outputs[0]
        return spread_average_into(shape, dtype, self)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [AveragePool(**self.parameters)(output_grads[0]), None]


# --- the functions of K ---------------------------------------------------------------------------

PADDINGS = ("valid", "same")
_MODES = {"max": MaxPool, "avg": AveragePool}


def _pool(where, axes, x, pool_size, strides, padding, data_format, pool_mode):
    """Return `x` pooled along its `axes` axes between the batch and the channels."""
    x = floating(x)
    if x.ndim != axes + 2:
        raise ShapeError(
            f"{where}: expected x with {axes + 2} axes (batch and channels, and {axes} to pool), "
            f"got {x.shape}.",
            subject=x,
        )
    if pool_mode not in _MODES:
        raise ArgumentError(f"{where}: expected pool_mode 'max' or 'avg', got {pool_mode!r}.")
    sizes = sizes_along_axes(pool_size, axes, f"{where}: pool_size")
    steps = sizes if strides is None else sizes_along_axes(strides, axes, f"{where}: strides")
    padding = checked_padding(padding, where, PADDINGS)
    first_axis = 1 if normalize_data_format(data_format) == "channels_last" else 2
    return _MODES[pool_mode](sizes, steps, padding, first_axis)(x)


def pool1d(x, pool_size, strides=1, padding="valid", data_format=None, pool_mode="max"):
    """Return the maximum or the mean of each window of sequences; see `pool2d`.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, channels) or (batch, channels, steps)
    pool_size : int
    strides : int, optional
    padding : {"valid", "same"}
    data_format : {"channels_last", "channels_first"}, optional
    pool_mode : {"max", "avg"}
    """
    return _pool("K.pool1d", 1, x, pool_size, strides, padding, data_format, pool_mode)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Return the maximum or the mean of each window of images.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    pool_size : tuple of 2 int, or int
        Rows and columns of a window.
    strides : tuple of 2 int, or int, optional
        Distance from one window to the next. None means `pool_size`, so that windows do not
        overlap.
    padding : {"valid", "same"}
        "valid": windows stay inside the image. "same": one window for each `strides`-th cell;
        windows may extend beyond the edges.
    data_format : {"channels_last", "channels_first"}, optional
        Layout of `x`; default `K.image_data_format()`.
    pool_mode : {"max", "avg"}

    Returns
    -------
    Tensor
        Rows and columns: (n - pool_size) // strides + 1 for "valid", n / strides rounded up for
        "same".

    Raises
    ------
    ShapeError
        A window is larger than the image and the padding is "valid".

    Notes
    -----
    If a window extends beyond the edge, only the cells inside count for the mean. The gradient of
    a maximum goes to the first cell, row by row, that contains it.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> image = K.reshape(K.arange(16, dtype="float32"), (1, 4, 4, 1))
    >>> K.eval(K.pool2d(image, (2, 2), strides=None))[0, :, :, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    return _pool("K.pool2d", 2, x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Return the maximum or the mean of each window of volumes: `pool2d` with one more axis.

    Parameters
    ----------
    x : Tensor, shape (batch, depth, rows, columns, channels) or with the channels second
    pool_size : tuple of 3 int, or int
    strides : tuple of 3 int, or int, optional
    padding : {"valid", "same"}
    data_format : {"channels_last", "channels_first"}, optional
    pool_mode : {"max", "avg"}
    """
    return _pool("K.pool3d", 3, x, pool_size, strides, padding, data_format, pool_mode)
