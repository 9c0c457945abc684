"""Helpers for plain arrays: shape and dtype, aligned memory, and how numbers are printed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Spec(NamedTuple):
    """The shape and the dtype of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """The number of elements of the array."""
        return math.prod(self.shape)

    @property
    def n_bytes(self) -> int:
        """The size of the array in bytes."""
        return self.size * self.dtype.itemsize


ALIGNMENT = 64  # bytes; NumPy's vector loops are fastest on whole cache lines


def aligned(n_bytes: int) -> np.ndarray:
    """Return `n_bytes` bytes of memory that begin on a cache line.

    Examples
    --------
    >>> block = aligned(100)
    >>> block.nbytes, block.ctypes.data % ALIGNMENT
    (100, 0)
    """
    room = np.zeros(n_bytes + ALIGNMENT, np.uint8)
    skipped = -room.ctypes.data % ALIGNMENT
    return room[skipped : skipped + n_bytes]


def room(spec: Spec) -> np.ndarray:
    """Return a new array of this shape and dtype whose memory begins on a cache line."""
    return np.ndarray(spec.shape, spec.dtype, buffer=aligned(max(spec.n_bytes, 1)).data)


# --- how a tensor with numbers is printed: in eager mode that is every tensor ---------------------


MOST_IN_A_LINE = 12


def name_of_numbers(array: np.ndarray) -> str:
    """Return the default name of a constant: its value if it is a scalar, otherwise its shape.

    Examples
    --------
    >>> name_of_numbers(np.array(2.5)), name_of_numbers(np.zeros((2, 3)))
    ('2.5', 'constant[2, 3]')
    """
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    return f"constant{list(array.shape)}"


def with_numbers(name: str, array: np.ndarray) -> str:
    """Return an array as text: name, shape and elements. NumPy shortens large arrays.

    Examples
    --------
    >>> print(with_numbers("sum", np.array(6.0)))
    <sum: 6.0>
    >>> print(with_numbers("mul", np.arange(4).reshape(2, 2)))
    <mul (2, 2): [[0 1]
                  [2 3]]>
    """
    if array.ndim == 0:
        return name if name == name_of_numbers(array) else f"<{name}: {array[()]!s}>"
    begin = f"{_begin(name, array)}: "
    return f"{begin}{np.array2string(array, prefix=begin)}>"


def with_few_numbers(name: str, array: np.ndarray) -> str:
    """Return an array as one line of text: name, shape and, if there are few, its elements.

    Examples
    --------
    >>> with_few_numbers("mul", np.arange(4).reshape(2, 2))
    '<mul (2, 2): [[0 1] [2 3]]>'
    >>> with_few_numbers("mul", np.zeros((20, 30)))
    '<mul (20, 30)>'
    """
    if array.size > MOST_IN_A_LINE:
        return f"{_begin(name, array)}>"
    return " ".join(with_numbers(name, array).split())


def _begin(name: str, array: np.ndarray) -> str:
    named = "constant" if name == name_of_numbers(array) else name
    return f"<{named} {array.shape}"
