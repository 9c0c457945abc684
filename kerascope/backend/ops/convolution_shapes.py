"""Sizes of convolutions: how long the output is, how many zeros go before and behind.

Plain arithmetic on numbers, in which a size may be None. The ops and layers of convolution ask it,
and so does pooling; Keras calls the three functions of lengths `keras.utils.conv_utils`.

Words: a *dilated* kernel of size k covers (k - 1) * dilation + 1 places. The paddings:

- "valid": no zeros, so the kernel stays inside the input;
- "same": as many zeros as make the output ceil(size / stride) long. If their number is odd, the odd
  one goes behind. This is TensorFlow's rule;
- "causal": zeros only in front, so that an output sees nothing later than itself;
- "full": zeros on both sides until the kernel touches the input by a single place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kerascope.backend.shapes import Size
from kerascope.errors import ArgumentError

PADDINGS = ("valid", "same", "causal", "full")


def dilated_size(kernel_size: int, dilation: int) -> int:
    """Return how many places a kernel covers.

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
        None if a length that it depends on is. Less than 1 if a kernel does not fit in.

    Notes
    -----
    ceil(places / stride), where `places` is the number of positions that a kernel can take at
    stride 1: n - k + 1 for "valid", n for "same" and "causal", n + k - 1 for "full", with the
    dilated size k.

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
    """Return the shortest input that gives an output of this length.

    Parameters
    ----------
    output_length : int or None
    filter_size : int
    padding : {"valid", "same", "full"}
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
        Length of its input.
    stride_size, kernel_size : int
    padding : {"valid", "same", "full"}
    output_padding : int or None
        How much longer than the shortest the output shall be; None means the length that suits the
        stride best: n * stride for "same".
    dilation : int

    Notes
    -----
    A convolution with a stride gives the same length for several inputs, so the way back has a
    choice. With `output_padding` p the length is (n - 1) * stride + k - 2 * half + p, where half is
    0 for "valid", k // 2 for "same" and k - 1 for "full".

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
    """Return how many zeros go before and behind an input of this size.

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
    """Return a padding in lower case.

    Raises
    ------
    ArgumentError
        It is none of those that are allowed here.
    """
    word = padding.lower() if isinstance(padding, str) else padding
    allowed = tuple(allowed)
    if word not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ArgumentError(f"{where}: padding is {padding!r}; expected one of {listed}.")
    return word


def sizes_along_axes(value: Any, count: int, where: str, least: int | None = 1) -> tuple[int, ...]:
    """Return one whole number for each of `count` axes; a single one counts for all.

    Parameters
    ----------
    value : int or iterable of int
    count : int
    where : str
        What the numbers are; the error begins with it.
    least : int, optional
        The smallest that is allowed; None allows any.

    Raises
    ------
    ArgumentError
        There are too many or too few, or one is no whole number or too small.

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
    """Tell whether a value is a whole number, and not below `least`.

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
