"""Zero padding of sequences, images and volumes, and their enlargement by whole factors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kerascope.backend.graph import as_tensor, parametric
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.indexing import GetItem, Span
from kerascope.backend.ops.into_memory import IntoMemory
from kerascope.backend.ops.joining import repeat_elements
from kerascope.backend.ops.windows import Sizes, is_whole, normalize_data_format, sizes_along_axes
from kerascope.backend.types import Gradients, Shape, Tensor, TensorLike, Tensors
from kerascope.errors import ArgumentError, ShapeError

__all__ = [
    "resize_images",
    "resize_volumes",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "temporal_padding",
]


# --- zeros around ---------------------------------------------------------------------------------


@parametric
class Pad(IntoMemory):
    """`x` with zeros around it; `padding` contains (before, after) for each axis."""

    padding: tuple[tuple[int, int], ...]

    def infer_shape(self, x: Tensor) -> Shape:
        return tuple(
            None if size is None else before + size + after
            for size, (before, after) in zip(x.shape, self.padding, strict=True)
        )

    def compute(self, out: np.ndarray, x: np.ndarray) -> None:
        """Fill `out` with zeros and copy `x` into it."""
        out.fill(0)
        inside = zip(x.shape, self.padding, strict=True)
        out[tuple(slice(before, before + size) for size, (before, _) in inside)] = x

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        inside = (Span(before, -after if after else None) for before, after in self.padding)
        return [GetItem(tuple(inside))(output_grads[0])]


def temporal_padding(x, padding=(1, 1), data_format="channels_last"):
    """Return sequences with zeros before and after.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, features) or (batch, features, steps)
    padding : tuple of 2 int
        Number of zero steps before and after.
    data_format : {"channels_last", "channels_first"}
        "channels_last" if the features are the last axis of `x`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.temporal_padding(K.ones((1, 2, 1)), (1, 2))).ravel().tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    """
    return _padded("K.temporal_padding", x, (padding,), data_format)


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Return images with zeros around them.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    padding : tuple of 2 tuples of 2 int
        ((above, below), (left, right)).
    data_format : {"channels_last", "channels_first"}, optional
        Layout of `x`; default `K.image_data_format()`.

    Raises
    ------
    ArgumentError
        `padding` does not have that form or contains a negative number.
    """
    return _padded("K.spatial_2d_padding", x, padding, data_format)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Return volumes with zeros around them, like `spatial_2d_padding` with one more axis.

    Parameters
    ----------
    x : Tensor, shape (batch, depth, rows, columns, channels) or with the channels second
    padding : tuple of 3 tuples of 2 int
    data_format : {"channels_last", "channels_first"}, optional
    """
    return _padded("K.spatial_3d_padding", x, padding, data_format)


def _padded(where, x, padding, data_format):
    """Return `x` with zeros around all axes but batch and channels; `padding` has their numbers."""
    x, pairs = as_tensor(x), _pairs(where, padding)
    if x.ndim != len(pairs) + 2 or not pairs:
        raise ShapeError(
            f"{where}: expected a pair of padding for each axis between batch and channels, got "
            f"padding {padding!r} for shape {x.shape}.",
            subject=x,
        )
    same = ((0, 0),)
    if normalize_data_format(data_format) == "channels_last":
        return Pad((*same, *pairs, *same))(x)
    return Pad((*same, *same, *pairs))(x)


def _pairs(where, padding):
    """Return `padding` as a tuple of int pairs (before, after), or raise ArgumentError."""
    try:
        pairs = tuple((before, after) for before, after in padding)
    except (TypeError, ValueError):
        pairs = ((None, None),)
    if not all(is_whole(number, 0) for pair in pairs for number in pair):
        raise ArgumentError(
            f"{where}: expected padding in pairs (before, after) of ints >= 0, got {padding!r}."
        )
    return tuple((int(before), int(after)) for before, after in pairs)


# --- larger by whole factors ----------------------------------------------------------------------
#
# "nearest" repeats each pixel. "bilinear" interpolates linearly between the centres of pixels,
# first along the columns, then along the rows; outside of the outermost centres it repeats the
# edge. The centre is the middle of the pixel, as in Keras 3. (TensorFlow 1, on which Keras 2.2 ran,
# used the corner, which moved the image by half a pixel.)


def shares(size: int, factor: int) -> Iterator[tuple[float, slice, slice]]:
    """Yield (weight, slice of the result, slice of the input) to interpolate along an axis.

    The result is the sum of all slices of the input, times their weights. A pixel of the result
    that has the distance d from the centre of the input pixel that contains it is 1 - |d| times
    this input pixel, plus |d| times its neighbour on the same side.
    """
    for phase in range(factor):
        distance = (phase + 0.5) / factor - 0.5
        share = abs(distance)
        yield 1 - share, slice(phase, None, factor), slice(None)
        if distance < 0:
            yield share, slice(phase + factor, None, factor), slice(0, size - 1)
            yield share, slice(phase, phase + 1), slice(0, 1)  # the edge is its own neighbour
        elif distance > 0:
            last = (size - 1) * factor + phase
            yield share, slice(phase, last, factor), slice(1, size)
            yield share, slice(last, last + 1), slice(size - 1, size)


@parametric
class Interpolation(IntoMemory):
    """Base class of `Interpolate` and its gradient; `axis` becomes `factor` times as long."""

    factor: int
    axis: int


class Interpolate(Interpolation):
    """`x` enlarged by `factor` along `axis`, interpolated linearly between pixel centres."""

    def infer_shape(self, x: Tensor) -> Shape:
        size = x.shape[self.axis]
        stretched = None if size is None else size * self.factor
        return (*x.shape[: self.axis], stretched, *x.shape[self.axis + 1 :])

    def compute(self, out: np.ndarray, x: np.ndarray) -> None:
        """Compute the weighted sums of neighbouring pixels of `x` into `out`."""
        out.fill(0)
        before = (slice(None),) * self.axis
        for weight, there, here in shares(x.shape[self.axis], self.factor):
            out[(*before, there)] += x[(*before, here)] * x.dtype.type(weight)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumInterpolated(self.factor, self.axis)(output_grads[0])]


class SumInterpolated(Interpolation):
    """The gradient of `Interpolate`: for each input pixel, a weighted sum of output gradients."""

    def infer_shape(self, x: Tensor) -> Shape:
        size = x.shape[self.axis]
        shrunk = None if size is None else size // self.factor
        return (*x.shape[: self.axis], shrunk, *x.shape[self.axis + 1 :])

    def compute(self, out: np.ndarray, x: np.ndarray) -> None:
        """Compute the weighted sums of the output gradients `x` into `out`."""
        out.fill(0)
        before = (slice(None),) * self.axis
        for weight, there, here in shares(out.shape[self.axis], self.factor):
            out[(*before, here)] += x[(*before, there)] * x.dtype.type(weight)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Interpolate(self.factor, self.axis)(output_grads[0])]


INTERPOLATIONS = ("nearest", "bilinear")


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Return images enlarged by whole factors along rows and columns.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    height_factor, width_factor : int
    data_format : {"channels_last", "channels_first"}
        Layout of `x`; None means `K.image_data_format()`.
    interpolation : {"nearest", "bilinear"}
        "nearest" repeats each pixel. "bilinear" interpolates linearly between pixel centres.

    Raises
    ------
    ArgumentError
        A factor is not a positive whole number, or the interpolation is unknown.

    Notes
    -----
    Row i of the "bilinear" result corresponds to row (i + 0.5) / height_factor - 0.5 of `x`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> row = K.reshape(K.constant([0.0, 4.0]), (1, 1, 2, 1))
    >>> K.eval(K.resize_images(row, 1, 2, "channels_last"))[0, 0, :, 0].tolist()
    [0.0, 0.0, 4.0, 4.0]
    >>> K.eval(K.resize_images(row, 1, 2, "channels_last", "bilinear"))[0, 0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    if interpolation not in INTERPOLATIONS:
        raise ArgumentError(
            f"K.resize_images: expected interpolation 'nearest' or 'bilinear', got "
            f"{interpolation!r}."
        )
    factors = (height_factor, width_factor)
    if interpolation == "nearest":
        return _repeated("K.resize_images", x, factors, data_format)
    axes = _stretched_axes("K.resize_images", x, factors, data_format)
    x = floating(x)
    for axis, factor in axes:
        x = Interpolate(factor, axis)(x)
    return x


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Return volumes enlarged by whole factors; each voxel is repeated along three axes.

    Parameters
    ----------
    x : Tensor, shape (batch, depth, rows, columns, channels) or with the channels second
    depth_factor, height_factor, width_factor : int
    data_format : {"channels_last", "channels_first"}
        Layout of `x`; None means `K.image_data_format()`.
    """
    factors = (depth_factor, height_factor, width_factor)
    return _repeated("K.resize_volumes", x, factors, data_format)


def _repeated(where: str, x: TensorLike, factors: Sizes, data_format: str | None) -> Tensor:
    x = as_tensor(x)
    for axis, factor in _stretched_axes(where, x, factors, data_format):
        x = repeat_elements(x, factor, axis)
    return x


def _stretched_axes(where, x, factors, data_format):
    """Return the pair (axis, factor) for each axis with a factor above 1, last axis first."""
    x, factors = as_tensor(x), sizes_along_axes(factors, len(factors), f"{where}: factors")
    if x.ndim != len(factors) + 2:
        raise ShapeError(
            f"{where}: expected {len(factors) + 2} axes, got {x.ndim} {x.shape}.", subject=x
        )
    first = 1 if normalize_data_format(data_format) == "channels_last" else 2
    grown = [(axis, n) for axis, n in enumerate(factors, start=first) if n > 1]
    return grown[::-1]
