"""Pooling: each window of an image becomes one number, its maximum or its mean.

Maxima and sums can be taken axis by axis: the maximum of a window is that of the maxima of its
rows. That is how `MaxPool` and `AveragePool` compute. The gradient of a mean goes to all cells of
the window in equal parts, that of a maximum to the first cell that holds it.

Where the windows lie is worked out in `pooling_windows.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.ops.convolution_shapes import checked_padding, sizes_along_axes
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.backend.ops.pooling_windows import places_along, places_of_cells, pooled_shape
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["pool1d", "pool2d", "pool3d"]


@dataclass(frozen=True)
class WindowOp(Op):
    """An op on the windows over the axes of `x` from `axis` on."""

    pool_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    axis: int

    def pooled_shape(self, shape):
        """Return the shape with the windows counted instead of the cells."""
        return pooled_shape(shape, self.pool_size, self.strides, self.padding, self.axis, self.name)

    def places(self, shape):
        """Yield for each cell of a window its places in an input of this shape."""
        lengths = shape[self.axis : self.axis + len(self.pool_size)]
        return places_of_cells(lengths, self.pool_size, self.strides, self.padding, self.axis)

    def folded(self, function, x):
        """Return each window of `x` brought down to one number, by a function of two arrays."""
        self.pooled_shape(x.shape)  # says so if a window is too large
        facts = zip(self.pool_size, self.strides, strict=True)
        for axis, (size, stride) in enumerate(facts, start=self.axis):
            places = places_along(x.shape[axis], size, stride, self.padding)
            x = _folded_along(function, x, axis, places)
        return x


def _folded_along(function, x, axis, places):
    """Fold the windows along one axis: cell after cell onto one that every window has."""
    if not places:  # an axis without cells has no windows
        return x.copy()
    before = (slice(None),) * axis
    full = max(places, key=lambda place: place.windows.stop - place.windows.start)
    result = x[(*before, full.cells)].copy()
    for place in places:
        if place is not full:
            part = result[(*before, place.windows)]
            function(part, x[(*before, place.cells)], out=part)
    return result


# --- maxima ---------------------------------------------------------------------------------------


class MaxPool(WindowOp):
    """The maximum of each window of `x`."""

    def infer_shape(self, x):
        return self.pooled_shape(x.shape)

    def perform(self, x):
        return self.folded(np.maximum, x)

    def grad(self, inputs, outputs, output_grads):
        place = PutAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [place(output_grads[0], inputs[0], outputs[0])]


class AtMaximum(WindowOp):
    """What lies at the first maximum of each window of `x`; `y` has the maxima."""

    def hits(self, x, y):
        """Yield each cell's places, and in which windows it is the first that equals `y`."""
        waiting = np.ones(y.shape, bool)  # windows whose maximum has not come yet
        for cells, windows in self.places(x.shape):
            hit = x[cells] == y[windows]
            hit &= waiting[windows]
            waiting[windows] ^= hit
            yield cells, windows, hit


class PutAtMaximum(AtMaximum):
    """Zeros with the shape of `x`, and each number of `g` at the first maximum of its window."""

    def infer_shape(self, g, x, y):
        return x.shape

    def perform(self, g, x, y):
        result = np.zeros(x.shape, g.dtype)
        apart = all(n <= step for n, step in zip(self.pool_size, self.strides, strict=True))
        for cells, windows, hit in self.hits(x, y):
            if apart:  # no cell lies in two windows: nothing to add up
                np.multiply(g[windows], hit, out=result[cells])
            else:
                result[cells] += g[windows] * hit
        return result

    def grad(self, inputs, outputs, output_grads):
        take = TakeAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [take(output_grads[0], inputs[1], inputs[2]), None, None]


class TakeAtMaximum(AtMaximum):
    """The number of `g` that lies where each window of `x` has its first maximum."""

    def infer_shape(self, g, x, y):
        return y.shape

    def perform(self, g, x, y):
        result = np.zeros(y.shape, g.dtype)
        for cells, windows, hit in self.hits(x, y):
            result[windows] += g[cells] * hit
        return result

    def grad(self, inputs, outputs, output_grads):
        put = PutAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [put(output_grads[0], inputs[1], inputs[2]), None, None]


# --- means ----------------------------------------------------------------------------------------


class Averaging(WindowOp):
    """An op that knows how many cells each window has."""

    def cell_counts(self, shape, dtype):
        """Return how many cells of an input of this shape each window covers."""
        lengths = shape[self.axis : self.axis + len(self.pool_size)]
        ones = np.ones((*(1,) * self.axis, *lengths, *(1,) * (len(shape) - self.end)), dtype)
        return self.folded(np.add, ones)

    @property
    def end(self):
        """The axis after the last one that is pooled."""
        return self.axis + len(self.pool_size)


class AveragePool(Averaging):
    """The mean of each window of `x`: of the cells that lie inside `x`."""

    def infer_shape(self, x):
        return self.pooled_shape(x.shape)

    def perform(self, x):
        summed_in = np.result_type(x.dtype, np.float32)  # sums would soon be too large for float16
        total = self.folded(np.add, x.astype(summed_in, copy=False))
        total /= self.cell_counts(x.shape, summed_in)
        return total.astype(x.dtype, copy=False)

    def grad(self, inputs, outputs, output_grads):
        spread = SpreadAverage(self.pool_size, self.strides, self.padding, self.axis)
        return [spread(output_grads[0], inputs[0])]


class SpreadAverage(Averaging):
    """Zeros with the shape of `like`, and each number of `g` in equal parts on its window."""

    def infer_shape(self, g, like):
        return like.shape

    def perform(self, g, like):
        result = np.zeros(like.shape, g.dtype)
        parts = g / self.cell_counts(like.shape, g.dtype)
        for cells, windows in self.places(like.shape):
            result[cells] += parts[windows]
        return result

    def grad(self, inputs, outputs, output_grads):
        pool = AveragePool(self.pool_size, self.strides, self.padding, self.axis)
        return [pool(output_grads[0]), None]


# --- the functions of K ---------------------------------------------------------------------------

PADDINGS = ("valid", "same")
_MODES = {"max": MaxPool, "avg": AveragePool}


def _pool(where, axes, x, pool_size, strides, padding, data_format, pool_mode):
    """Pool over this number of axes."""
    x = floating(x)
    if x.ndim != axes + 2:
        raise ShapeError(
            f"{where}: x has shape {x.shape}; expected {axes + 2} axes: the batch, {axes} of "
            f"places and the channels.",
            subject=x,
        )
    if pool_mode not in _MODES:
        raise ArgumentError(f"{where}: pool_mode {pool_mode!r}; expected 'max' or 'avg'.")
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
        How far it is from one window to the next; None is `pool_size`, so that they do not
        overlap.
    padding : {"valid", "same"}
        "valid": windows lie inside. "same": one window for each `strides`-th cell; windows may
        reach over the edges.
    data_format : {"channels_last", "channels_first"}, optional
        Where the channels of `x` lie; default `K.image_data_format()`.
    pool_mode : {"max", "avg"}

    Returns
    -------
    Tensor
        With (n - pool_size) // strides + 1 rows and columns where the padding is "valid", with
        n / strides, rounded up, where it is "same".

    Raises
    ------
    ShapeError
        A window is larger than the image and the padding "valid".

    Notes
    -----
    Where a window reaches over the edge, the mean is that of the cells inside. The gradient of a
    maximum goes to the first cell, row by row, that holds it.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> image = K.reshape(K.arange(16, dtype="float32"), (1, 4, 4, 1))
    >>> K.eval(K.pool2d(image, (2, 2), strides=None))[0, :, :, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    return _pool("K.pool2d", 2, x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Return the maximum or the mean of each window of volumes; `pool2d` with one axis more.

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
