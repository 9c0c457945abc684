"""Sizes of convolutions under the names of Keras's `utils.conv_utils`.

The arithmetic of lengths stands in `kerascope.backend.ops.windows`, where the ops use
it; this module adds Keras's checks of arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kerascope.backend.ops.windows import (
    checked_padding,
    conv_input_length,
    conv_output_length,
    deconv_length,
    sizes_along_axes,
)
from kerascope.errors import ShapeError

__all__ = [
    "conv_input_length",
    "conv_output_length",
    "convert_kernel",
    "deconv_length",
    "normalize_padding",
    "normalize_tuple",
]


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Return `n` whole numbers; a single one stands for all.

    Parameters
    ----------
    value : int or iterable of int
    n : int
        How many there must be.
    name : str
        What they are; appears in the message.

    Raises
    ------
    ArgumentError
        There are too many or too few, or one is no whole number.

    Examples
    --------
    >>> normalize_tuple(3, 2, "kernel_size"), normalize_tuple([3, 5], 2, "kernel_size")
    ((3, 3), (3, 5))
    """
    return sizes_along_axes(value, n, f"argument {name!r}", least=None)


def normalize_padding(value: Any) -> str:
    """Return a padding in lower case.

    Raises
    ------
    ArgumentError
        It is neither "valid", "same" nor "causal".

    Examples
    --------
    >>> normalize_padding("SAME")
    'same'
    """
    return checked_padding(value, "normalize_padding", ("valid", "same", "causal"))


def convert_kernel(kernel: ArrayLike) -> np.ndarray:
    """Turn a kernel round, between the convolution of Theano and that of TensorFlow.

    Theano turns the kernel round before it slides it over the image, as mathematicians do;
    TensorFlow does not. Weights from the one must be turned for the other.

    Parameters
    ----------
    kernel : array_like, shape (sizes of one to three axes, channels, filters)

    Returns
    -------
    np.ndarray
        A new array of the same shape.

    Raises
    ------
    ShapeError
        It has fewer than 3 axes or more than 5.

    Examples
    --------
    >>> convert_kernel([[[1.0]], [[2.0]], [[3.0]]])[:, 0, 0].tolist()
    [3.0, 2.0, 1.0]
    """
    array = np.asarray(kernel)
    if not 3 <= array.ndim <= 5:
        raise ShapeError(
            f"convert_kernel: kernel has shape {array.shape}; expected 3 to 5 axes: one to three "
            f"sizes, channels, filters."
        )
    return np.array(np.flip(array, tuple(range(array.ndim - 2))))
