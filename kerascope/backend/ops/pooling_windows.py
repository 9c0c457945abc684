"""Where the windows of a pooling lie: how many there are, and which cells each one covers.

A window of `size` cells moves over an axis in steps of `stride`. With "valid" padding it stays
inside. With "same" padding it may reach over both ends, so that every `stride`-th cell gets its
window; TensorFlow's rule puts the odd cell at the end. What reaches over is no cell: it is neither
compared by a maximum nor counted by an average.

NumPy walks over the cells of a window, not over the windows: cell 0 of all windows is one strided
slice of the input, so is cell 1, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from kerascope.backend.ops.convolution_shapes import conv_output_length, zeros_around
from kerascope.backend.shapes import Shape
from kerascope.errors import ShapeError


class Place(NamedTuple):
    """One cell of the windows: where it lies in the input, and which windows have it.

    Attributes
    ----------
    cells : slice, or tuple of slice
        The places in the input.
    windows : slice, or tuple of slice
        The windows that have such a cell; not those in which it reaches over an end.
    """

    cells: Any
    windows: Any


def places_along(length: int, size: int, stride: int, padding: str) -> list[Place]:
    """Return the places of cell 0, 1, ... of the windows along one axis.

    Examples
    --------
    >>> for place in places_along(4, 3, 1, "same"):
    ...     print(place.cells, place.windows)
    slice(0, 3, 1) slice(1, 4, None)
    slice(0, 4, 1) slice(0, 4, None)
    slice(1, 4, 1) slice(0, 3, None)
    """
    count = conv_output_length(length, size, padding, stride) or 0
    before, _ = zeros_around(length, size, padding, stride, 1)
    places = []
    for cell in range(size):
        shift = cell - before  # window w has this cell at w * stride + shift
        first = max(-(shift // stride), 0)
        last = min((length - 1 - shift) // stride, count - 1)
        if first <= last:
            start, stop = first * stride + shift, last * stride + shift + 1
            places.append(Place(slice(start, stop, stride), slice(first, last + 1)))
    return places


def places_of_cells(
    lengths: Sequence[int], sizes: Sequence[int], strides: Sequence[int], padding: str, axis: int
) -> Iterator[Place]:
    """Yield the places of every cell of windows over several axes, from `axis` on, row by row."""
    before = (slice(None),) * axis
    axes = zip(lengths, sizes, strides, strict=True)
    for places in product(*(places_along(*facts, padding) for facts in axes)):
        cells, windows = zip(*places, strict=True)
        yield Place((*before, *cells), (*before, *windows))


def pooled_shape(
    shape: Shape, sizes: Sequence[int], strides: Sequence[int], padding: str, axis: int, where: str
) -> Shape:
    """Return the shape of an input whose axes, from `axis` on, are pooled.

    Raises
    ------
    ShapeError
        The padding is "valid" and a window longer than its axis.

    Examples
    --------
    >>> pooled_shape((None, 7, 7, 3), (2, 2), (2, 2), "valid", 1, "pool2d")
    (None, 3, 3, 3)
    """
    end = axis + len(sizes)
    counts = []
    for length, size, stride in zip(shape[axis:end], sizes, strides, strict=True):
        if length is not None and length < size and padding == "valid":
            raise ShapeError(
                f"{where}: a window of size {tuple(sizes)} in an input of shape {shape}; expected "
                f"at most {length} where it has {size}. Take a smaller window, or shrink the input "
                f"less before."
            )
        counts.append(conv_output_length(length, size, padding, stride))
    return (*shape[:axis], *counts, *shape[end:])
