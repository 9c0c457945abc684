"""Local connections: a convolution whose kernel is another one at each place.

Each window of the input is laid out as a row (`Patches`); what is left is for each place a product
of two matrices, rows by kernel, which `BatchDot` computes with the places as its batch.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, parametric
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.convolution_shapes import sizes_along_axes
from kerascope.backend.ops.linalg import BatchDot
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.backend.ops.pooling_windows import places_of_cells, pooled_shape
from kerascope.backend.ops.shaping import permute_dimensions, reshape
from kerascope.backend.shapes import merge_shapes, product
from kerascope.errors import ShapeError

__all__ = ["local_conv1d", "local_conv2d"]


@parametric
class PatchOp(Op):
    """An op on the windows of images (batch, places..., channels)."""

    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]

    def patches_shape(self, shape):
        """Return (batch, windows..., cells of a window, channels)."""
        windows = pooled_shape(shape, self.kernel_size, self.strides, "valid", 1, self.name)
        return (*windows[:-1], product(self.kernel_size), shape[-1])

    def places(self, shape):
        """Yield for each cell of a window its number and its places in the input."""
        found = places_of_cells(shape[1:-1], self.kernel_size, self.strides, "valid", 1)
        return enumerate(place.cells for place in found)


class Patches(PatchOp):
    """The windows of `x`, each with its cells in one axis, row by row."""

    def infer_shape(self, x):
        return self.patches_shape(x.shape)

    def perform(self, x):
        patches = np.empty(self.patches_shape(x.shape), x.dtype)
        self.compute(patches, x)
        return patches

    def kernel(self, inputs, outputs):
        return self.compute

    def compute(self, out, x):
        """Lay out the windows."""
        for number, cells in self.places(x.shape):
            out[..., number, :] = x[cells]

    def grad(self, inputs, outputs, output_grads):
        return [SumPatches(self.kernel_size, self.strides)(output_grads[0], inputs[0])]


class SumPatches(PatchOp):
    """Windows laid back into zeros with the shape of `like`; where they overlap, they add up."""

    def infer_shape(self, patches, like):
        return like.shape

    def perform(self, patches, like):
        total = np.empty(like.shape, patches.dtype)
        self.compute(total, patches, like)
        return total

    def kernel(self, inputs, outputs):
        return self.compute

    def compute(self, out, patches, like):
        """Add the windows up."""
        out.fill(0)
        for number, cells in self.places(like.shape):
            out[cells] += patches[..., number, :]

    def grad(self, inputs, outputs, output_grads):
        return [Patches(self.kernel_size, self.strides)(output_grads[0]), None]


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """Return for each window of sequences its product with a kernel of its own.

    Parameters
    ----------
    inputs : Tensor, shape (batch, steps, channels) or (batch, channels, steps)
    kernel : Tensor, shape (windows, kernel_size * channels, filters)
        The middle axis counts cell by cell, in each the channels; with "channels_first" channel
        by channel, in each the cells.
    kernel_size : int or tuple of 1 int
    strides : int or tuple of 1 int
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, windows, filters) or (batch, filters, windows)

    Raises
    ------
    ShapeError
        The kernel has another number of windows, or of numbers in each, than the input.
    """
    sizes = sizes_along_axes(kernel_size, 1, "K.local_conv1d: kernel_size")
    steps = sizes_along_axes(strides, 1, "K.local_conv1d: strides")
    return _local("K.local_conv1d", inputs, kernel, sizes, steps, data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """Return for each window of images its product with a kernel of its own.

    Parameters
    ----------
    inputs : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    kernel : Tensor, shape (windows, kernel_size[0] * kernel_size[1] * channels, filters)
        Windows row by row. The middle axis counts cell by cell, in each the channels; with
        "channels_first" channel by channel, in each the cells.
    kernel_size, strides : tuple of 2 int
    output_shape : tuple of 2 int
        Rows and columns of windows.
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, rows, columns, filters) or (batch, filters, rows, columns)

    Raises
    ------
    ShapeError
        The kernel has another number of windows, or of numbers in each, than the input; or
        `output_shape` is wrong.
    """
    sizes = sizes_along_axes(kernel_size, 2, "K.local_conv2d: kernel_size")
    steps = sizes_along_axes(strides, 2, "K.local_conv2d: strides")
    return _local("K.local_conv2d", inputs, kernel, sizes, steps, data_format, output_shape)


def _local(where, inputs, kernel, kernel_size, strides, data_format, output_shape=None):
    inputs, kernel = promoted(inputs, kernel)
    ndim = len(kernel_size) + 2
    if inputs.ndim != ndim or kernel.ndim != 3:
        raise ShapeError(
            f"{where}: inputs of shape {inputs.shape}, kernel of shape {kernel.shape}; expected "
            f"{ndim} and 3 axes.",
            subject=inputs,
        )
    channels_first = normalize_data_format(data_format) == "channels_first"
    if channels_first:
        inputs = permute_dimensions(inputs, (0, *range(2, ndim), 1))
    patches = Patches(kernel_size, strides)(inputs)
    windows = patches.shape[1:-2]
    filters = kernel.shape[-1]
    cells = (*range(ndim, ndim - 2, -1),) if channels_first else (ndim - 1, ndim)
    by_window = permute_dimensions(patches, (*range(1, ndim - 1), 0, *cells))
    wanted = (product(windows), product(patches.shape[-2:]), filters)
    given = kernel.shape[:1] if output_shape is None else tuple(output_shape)
    if merge_shapes(windows, given) is None:
        raise ShapeError(
            f"{where}: output_shape is {given}; expected {windows}: the windows of size "
            f"{kernel_size}, strides {strides}, in inputs of shape {inputs.shape}.",
            subject=inputs,
        )
    if merge_shapes(kernel.shape, wanted) is None:
        raise ShapeError(
            f"{where}: kernel of shape {kernel.shape} for {windows} windows; expected {wanted}.",
            subject=kernel,
        )
    rows = reshape(by_window, (kernel.shape[0], -1, kernel.shape[1]))
    products = BatchDot((2,), (1,))(rows, kernel)
    output = reshape(products, (*given, -1, filters))
    places = range(len(given))
    if channels_first:
        return permute_dimensions(output, (ndim - 2, ndim - 1, *places))
    return permute_dimensions(output, (ndim - 2, *places, ndim - 1))
