"""Zeros around images, sequences and volumes."""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, as_tensor, parametric
from kerascope.backend.ops.convolution_shapes import is_whole
from kerascope.backend.ops.indexing import GetItem, Span
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["spatial_2d_padding", "spatial_3d_padding", "temporal_padding"]


@parametric
class Pad(Op):
    """`x` with zeros around it: `padding` has for each axis how many before and after."""

    padding: tuple[tuple[int, int], ...]

    def infer_shape(self, x):
        return tuple(
            None if size is None else before + size + after
            for size, (before, after) in zip(x.shape, self.padding, strict=True)
        )

    def perform(self, x):
        padded = np.empty(self.infer_shape(x), x.dtype)
        self.compute(padded, x)
        return padded

    def kernel(self, inputs, outputs):
        return self.compute

    def compute(self, out, x):
        """Fill `out` with zeros, and `x` among them."""
        out.fill(0)
        inside = zip(x.shape, self.padding, strict=True)
        out[tuple(slice(before, before + size) for size, (before, _) in inside)] = x

    def grad(self, inputs, outputs, output_grads):
        inside = (Span(before, -after if after else None) for before, after in self.padding)
        return [GetItem(tuple(inside))(output_grads[0])]


def temporal_padding(x, padding=(1, 1), data_format="channels_last"):
    """Return sequences with zeros before and after.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, features) or (batch, features, steps)
    padding : tuple of 2 int
        How many steps of zeros before and after.
    data_format : {"channels_last", "channels_first"}
        Where the features of `x` lie.

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
        Where the channels of `x` lie; default `K.image_data_format()`.

    Raises
    ------
    ArgumentError
        `padding` is not of that form, or a number in it is below 0.
    """
    return _padded("K.spatial_2d_padding", x, padding, data_format)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Return volumes with zeros around them; `spatial_2d_padding` with one axis more.

    Parameters
    ----------
    x : Tensor, shape (batch, depth, rows, columns, channels) or with the channels second
    padding : tuple of 3 tuples of 2 int
    data_format : {"channels_last", "channels_first"}, optional
    """
    return _padded("K.spatial_3d_padding", x, padding, data_format)


def _padded(where, x, padding, data_format):
    """Pad the axes of places, whose number is that of the pairs in `padding`."""
    x, pairs = as_tensor(x), _pairs(where, padding)
    if x.ndim != len(pairs) + 2 or not pairs:
        raise ShapeError(
            f"{where}: x has shape {x.shape}, padding {padding!r}; expected a pair for each axis "
            f"but the batch and the channels.",
            subject=x,
        )
    same = ((0, 0),)
    if normalize_data_format(data_format) == "channels_last":
        return Pad((*same, *pairs, *same))(x)
    return Pad((*same, *same, *pairs))(x)


def _pairs(where, padding):
    """Return the padding as a tuple of pairs of ints, checked."""
    try:
        pairs = tuple((before, after) for before, after in padding)
    except (TypeError, ValueError):
        pairs = ((None, None),)
    if not all(is_whole(number, 0) for pair in pairs for number in pair):
        raise ArgumentError(
            f"{where}: padding {padding!r}; expected pairs of whole numbers >= 0: before, after."
        )
    return tuple((int(before), int(after)) for before, after in pairs)
