"""Sizes and positions of windows: the kernels of convolutions, and the windows of pooling.

The functions compute with plain ints, and a size may be None. The ops and layers of convolution and
pooling use them. `conv_output_length`, `conv_input_length` and `deconv_length` have the names and
arguments of the functions in `keras.utils.conv_utils`.

A *dilated* kernel of size k covers (k - 1) * dilation + 1 places. The paddings are:

- "valid": no zeros, so the kernel stays inside the input;
- "same": zeros on both sides, so that the output has length ceil(size / stride). If their number is
  odd, there is one more at the end than at the beginning, as in TensorFlow;
- "causal": zeros only in front, so that an output does not depend on later inputs;
- "full": zeros on both sides, so that the kernel overlaps the input in at least one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from kerascope.backend.shapes import Shape, Size
from kerascope.errors import ArgumentError, ShapeError
from kerascope.settings import config
from kerascope.spellings import VALUES

# --- sizes of convolutions ------------------------------------------------------------------------


PADDINGS = ("valid", "same", "causal", "full")
Sizes = int | Sequence[int]  # one for each spatial axis, or one for all


def dilated_size(kernel_size: int, dilation: int) -> int:
    """Return the number of places that a dilated kernel covers.

    Examples
    --------
    >>> dilated_size(3, 2)
    5
    """
    return (kernel_size - 1) * dilation + 1


def conv_output_length(
    input_length: Size, filter_size: Size, padding: str, stride: int, dilation: int = 1
) -> Size:
    """Return the length of a convolution's output along one axis.

    Parameters
    ----------
    input_length : int or None
    filter_size : int or None
        Size of the kernel along this axis.
    padding : {"valid", "same", "causal", "full"}
    stride, dilation : int

    Returns
    -------
    int or None
        None if a required length is None. Less than 1 if the kernel does not fit into the input.

    Notes
    -----
    ceil(places / stride), where `places` is the number of positions of the kernel at stride 1:
    n - k + 1 for "valid", n for "same" and "causal", n + k - 1 for "full", with the dilated size k.

    Examples
    --------
    >>> conv_output_length(28, 3, "valid", 1), conv_output_length(28, 3, "same", 2)
    (26, 14)
    """
    checked_padding(padding, "conv_output_length", PADDINGS)
    if input_length is None:
        return None
    if padding in ("same", "causal"):
        return -(-input_length // stride)
    if filter_size is None:
        return None
    extra = dilated_size(filter_size, dilation) - 1
    places = input_length - extra if padding == "valid" else input_length + extra
    return -(-places // stride)


def conv_input_length(output_length: Size, filter_size: int, padding: str, stride: int) -> Size:
    """Return the length of a convolution's shortest input for an output of this length.

    Parameters
    ----------
    output_length : int or None
        If it is None, so is the result.
    filter_size : int
        Size of the kernel along this axis.
    padding : {"valid", "same", "full"}
        For "same" and a kernel of even size, the result is 1 less than the shortest length, as in
        Keras.
    stride : int

    Examples
    --------
    >>> conv_input_length(13, 3, "valid", 2)
    27
    """
    checked_padding(padding, "conv_input_length", ("valid", "same", "full"))
    if output_length is None:
        return None
    return (output_length - 1) * stride - 2 * _half_padding(filter_size, padding) + filter_size


def deconv_length(
    dim_size: Size,
    stride_size: int,
    kernel_size: int,
    padding: str,
    output_padding: int | None,
    dilation: int = 1,
) -> Size:
    """Return the length of a transposed convolution's output along one axis.

    Parameters
    ----------
    dim_size : int or None
        Length of the input.
    stride_size, kernel_size : int
    padding : {"valid", "same", "full"}
    output_padding : int or None
        How much longer the output is than the shortest possible one. None means the default
        length: for "same" that is n * stride.
    dilation : int

    Notes
    -----
    A convolution with a stride maps inputs of several lengths to the same output length, so the
    length of a transposed convolution is a choice. With `output_padding` p it is
    (n - 1) * stride + k - 2 * half + p, where half is 0 for "valid", k // 2 for "same" and k - 1
    for "full".

    Examples
    --------
    >>> deconv_length(14, 2, 3, "same", None), deconv_length(14, 2, 3, "same", 0)
    (28, 27)
    """
    checked_padding(padding, "deconv_length", ("valid", "same", "full"))
    if dim_size is None:
        return None
    kernel_size = dilated_size(kernel_size, dilation)
    if output_padding is not None:
        half = _half_padding(kernel_size, padding)
        return (dim_size - 1) * stride_size + kernel_size - 2 * half + output_padding
    if padding == "same":
        return dim_size * stride_size
    if padding == "full":
        return dim_size * stride_size - (stride_size + kernel_size - 2)
    return dim_size * stride_size + max(kernel_size - stride_size, 0)


def _half_padding(kernel_size: int, padding: str) -> int:
    return {"valid": 0, "same": kernel_size // 2, "full": kernel_size - 1}[padding]


def zeros_around(
    size: int, kernel_size: int, padding: str, stride: int, dilation: int
) -> tuple[int, int]:
    """Return how many zeros the padding adds (before, after) an axis of this size.

    Examples
    --------
    >>> zeros_around(28, 3, "same", 1, 1), zeros_around(28, 3, "same", 2, 1)
    ((1, 1), (0, 1))
    """
    extra = dilated_size(kernel_size, dilation) - 1
    if padding == "valid":
        return 0, 0
    if padding == "causal":
        return extra, 0
    if padding == "full":
        return extra, extra
    last_start = (-(-size // stride) - 1) * stride
    total = max(last_start + extra + 1 - size, 0)
    return total // 2, total - total // 2


def checked_padding(padding: Any, where: str, allowed: Iterable[str] = PADDINGS) -> str:
    """Return `padding` in lower case.

    Raises
    ------
    ArgumentError
        The padding is not one of `allowed`.
    """
    word = padding.lower() if isinstance(padding, str) else padding
    allowed = tuple(allowed)
    if word not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ArgumentError(f"{where}: unknown padding {padding!r}. Use one of {listed}.")
    return word


def sizes_along_axes(value: Any, count: int, where: str, least: int | None = 1) -> tuple[int, ...]:
    """Return an integer for each of `count` axes as a tuple; a single integer is repeated.

    Parameters
    ----------
    value : int or iterable of int
    count : int
    where : str
        The beginning of the error message, such as "Conv2D: kernel_size".
    least : int, optional
        Smallest allowed number; None allows any.

    Raises
    ------
    ArgumentError
        The number of values is not `count`, or a value is not an integer or is too small.

    Examples
    --------
    >>> sizes_along_axes(3, 2, "Conv2D: kernel_size"), sizes_along_axes([3, 5], 2, "Conv2D: ...")
    ((3, 3), (3, 5))
    """
    numbers: tuple[Any, ...] = ()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        numbers = tuple(value)
    elif value is not None:
        numbers = (value,) * count
    if len(numbers) != count or not all(is_whole(n, least) for n in numbers):
        kind = {None: "a whole number", 1: "a whole number above 0"}.get(
            least, f"a whole number from {least} on"
        )
        several = f" or {count} of them" if count > 1 else ""
        raise ArgumentError(f"{where}: expected {kind}{several}, got {value!r}.")
    return tuple(int(n) for n in numbers)


def is_whole(value: Any, least: int | None) -> bool:
    """Return whether a value is a whole number, such as 3 or 3.0, of at least `least`.

    If `least` is None, every whole number is accepted.

    Examples
    --------
    >>> is_whole(3, 1), is_whole(0, 1), is_whole(1.5, 1), is_whole("3", None)
    (True, False, False, False)
    """
    try:
        whole = not isinstance(value, (str, bytes)) and int(value) == value
    except (TypeError, ValueError, OverflowError):
        return False
    return whole and (least is None or value >= least)


_OF_KERAS_1 = VALUES["dim_ordering"]


def normalize_data_format(value):
    """Return the layout of images, "channels_last" or "channels_first"; None means the default.

    The values "tf", "th" and "default" of Keras 1 are also accepted.

    Raises
    ------
    ArgumentError
        The value is neither "channels_last" nor "channels_first".
    """
    value = _OF_KERAS_1.get(value, value) if isinstance(value, str) else value
    value = config.image_data_format if value is None else str(value).lower()
    if value not in ("channels_last", "channels_first"):
        raise ArgumentError(
            f"data_format: expected 'channels_last' or 'channels_first', got {value!r}."
        )
    return value


# --- windows of pooling ---------------------------------------------------------------------------
#
# A window of `size` cells moves over an axis in steps of `stride`. With "valid" padding it stays
# inside the input. With "same" padding it may extend beyond both ends, so that there is a window
# for every `stride`-th cell; if the number of cells outside is odd, one more is at the end. Cells
# outside of the input are ignored by a maximum and not counted by an average.
#
# The loops run over the cells of a window, not over the windows: cell 0 of all windows is one
# strided slice of the input, cell 1 is another one, and so on.


class Place(NamedTuple):
    """One cell of a window, such as the first, for all windows of an input at once.

    Attributes
    ----------
    cells : slice, or tuple of slice
        The elements of the input at this cell of each window in `windows`.
    windows : slice, or tuple of slice
        The windows whose cell is inside the input. With padding, a cell of a window may be outside.
    """

    cells: Any
    windows: Any


def places_along(length: int, size: int, stride: int, padding: str) -> list[Place]:
    """Return a `Place` for each cell of a window along one axis, from the first to the last cell.

    A cell that is outside of the input for every window is omitted.

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
    """Yield a `Place` for each cell of a window, row by row; `axis` is the first pooled axis."""
    before = (slice(None),) * axis
    axes = zip(lengths, sizes, strides, strict=True)
    for places in product(*(places_along(*facts, padding) for facts in axes)):
        cells, windows = zip(*places, strict=True)
        yield Place((*before, *cells), (*before, *windows))


def pooled_shape(
    shape: Shape, sizes: Sequence[int], strides: Sequence[int], padding: str, axis: int, where: str
) -> Shape:
    """Return the shape of an input after pooling: one axis for each size, beginning with `axis`.

    Raises
    ------
    ShapeError
        The padding is "valid" and a window is longer than its axis.

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
                f"{where}: expected a window of at most {length} for an axis of input {shape}, got "
                f"{size} in window {tuple(sizes)}. Use a smaller window, or fewer poolings before."
            )
        counts.append(conv_output_length(length, size, padding, stride))
    return (*shape[:axis], *counts, *shape[end:])
