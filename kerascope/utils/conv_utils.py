"""Lengths, paddings and kernels of convolutions: Keras's `keras.utils.conv_utils`.

The functions for lengths come from `kerascope.backend.ops.windows`, which the ops use too. This
module adds Keras's checks of arguments.
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
    """Return a tuple of `n` integers. A single integer is repeated.

    Parameters
    ----------
    value : int or iterable of int
    n : int
        The number of integers.
    name : str
        The name of the argument in the message.

    Raises
    ------
    ArgumentError
        There are not `n` values, or a value is not an integer.

    Examples
    --------
    >>> normalize_tuple(3, 2, "kernel_size"), normalize_tuple([3, 5], 2, "kernel_size")
    ((3, 3), (3, 5))
    """
    return sizes_along_axes(value, n, f"argument {name!r}", least=None)


def normalize_padding(value: Any) -> str:
    """Return the name of a padding in lower case.

    Raises
    ------
    ArgumentError
        The padding is not "valid", "same" or "causal".

    Examples
    --------
    >>> normalize_padding("SAME")
    'same'
    """
    return checked_padding(value, "normalize_padding", ("valid", "same", "causal"))


def convert_kernel(kernel: ArrayLike) -> np.ndarray:
    """Flip a kernel: convert it between the convolutions of Theano and of TensorFlow.

    Theano flips the kernel before it slides it over the image, as in mathematics. TensorFlow does
    not. Kernels of one library must be flipped for the other.

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
        The kernel has fewer than 3 axes or more than 5.

    Examples
    --------
    >>> convert_kernel([[[1.0]], [[2.0]], [[3.0]]])[:, 0, 0].tolist()
    [3.0, 2.0, 1.0]
    """
    array = np.asarray(kernel)
    if not 3 <= array.ndim <= 5:
        raise ShapeError(
            f"convert_kernel: expected a kernel with 3 to 5 axes (one to three sizes, channels, "
            f"filters), got shape {array.shape}."
        )
    return np.array(np.flip(array, tuple(range(array.ndim - 2))))
