"""Pooling: each window of an image becomes one number, its maximum or its mean.

Maxima and sums can be taken axis by axis: the maximum of a window is that of the maxima of its
rows. That is how `MaxPool` and `AveragePool` compute. The gradient of a mean goes to all cells of
the window in equal parts, that of a maximum to the first cell that holds it.

Where the windows lie is worked out in `pooling_windows.py`; the numbers are made in
`pooling_kernels.py`.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, parametric
from kerascope.backend.ops import pooling_kernels as kernels
from kerascope.backend.ops.convolution_shapes import checked_padding, sizes_along_axes
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.backend.ops.pooling_windows import pooled_shape
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["pool1d", "pool2d", "pool3d"]


@parametric
class WindowOp(Op):
    """An op on the windows over the axes of `x` from `axis` on."""

    pool_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: str
    axis: int

    def pooled_shape(self, shape):
        """Return the shape with the windows counted instead of the cells."""
        return pooled_shape(shape, self.pool_size, self.strides, self.padding, self.axis, self.name)

    @property
    def windows(self):
        """Where the windows lie."""
        return kernels.Windows(self.pool_size, self.strides, self.padding, self.axis)


# --- maxima ---------------------------------------------------------------------------------------


class MaxPool(WindowOp):
    """The maximum of each window of `x`."""

    def infer_shape(self, x):
        return self.pooled_shape(x.shape)

    def perform(self, x):
        y = np.empty(self.pooled_shape(x.shape), x.dtype)
        kernels.fold_into(np.maximum, x.shape, x.dtype, self.windows)(y, x)
        return y

    def kernel(self, inputs, outputs):
        shape, dtype = inputs[0]
        return kernels.fold_into(np.maximum, shape, dtype, self.windows)

    def grad(self, inputs, outputs, output_grads):
        place = PutAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [place(output_grads[0], inputs[0], outputs[0])]


class PutAtMaximum(WindowOp):
    """Zeros with the shape of `x`, and each number of `g` at the first maximum of its window."""

    def infer_shape(self, g, x, y):
        return x.shape

    def perform(self, g, x, y):
        result = np.empty(x.shape, g.dtype)
        kernels.put_at_maximum_into(x.shape, g.dtype, self.windows)(result, g, x, y)
        return result

    def kernel(self, inputs, outputs):
        shape, dtype = outputs[0]
        return kernels.put_at_maximum_into(shape, dtype, self.windows)

    def grad(self, inputs, outputs, output_grads):
        take = TakeAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [take(output_grads[0], inputs[1], inputs[2]), None, None]


class TakeAtMaximum(WindowOp):
    """The number of `g` that lies where each window of `x` has its first maximum."""

    def infer_shape(self, g, x, y):
        return y.shape

    def perform(self, g, x, y):
        result = np.zeros(y.shape, g.dtype)
        places, rooms = self.windows.places(x.shape), np.empty((2, *y.shape), bool)
        for (cells, windows), hit in kernels.hits(x, y, places, rooms):
            result[windows] += g[cells] * hit
        return result

    def grad(self, inputs, outputs, output_grads):
        put = PutAtMaximum(self.pool_size, self.strides, self.padding, self.axis)
        return [put(output_grads[0], inputs[1], inputs[2]), None, None]


# --- means ----------------------------------------------------------------------------------------


class AveragePool(WindowOp):
    """The mean of each window of `x`: of the cells that lie inside `x`."""

    def infer_shape(self, x):
        return self.pooled_shape(x.shape)

    def perform(self, x):
        y = np.empty(self.pooled_shape(x.shape), x.dtype)
        kernels.average_into(x.shape, x.dtype, self.windows)(y, x)
        return y

    def kernel(self, inputs, outputs):
        shape, dtype = inputs[0]
        return kernels.average_into(shape, dtype, self.windows)

    def grad(self, inputs, outputs, output_grads):
        spread = SpreadAverage(self.pool_size, self.strides, self.padding, self.axis)
        return [spread(output_grads[0], inputs[0])]


class SpreadAverage(WindowOp):
    """Zeros with the shape of `like`, and each number of `g` in equal parts on its window."""

    def infer_shape(self, g, like):
        return like.shape

    def perform(self, g, like):
        result = np.empty(like.shape, g.dtype)
        kernels.spread_average_into(like.shape, g.dtype, self.windows)(result, g, like)
        return result

    def kernel(self, inputs, outputs):
        shape, dtype = outputs[0]
        return kernels.spread_average_into(shape, dtype, self.windows)

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
