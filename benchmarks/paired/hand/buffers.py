"""Makes arrays that begin at multiples of 64 bytes, and turns off slow subnormal numbers."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import platform

import numpy as np

ALIGNMENT = 64
"""Bytes: a cache line, and the widest register of x86."""


def empty(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Return an uninitialized array that begins at a multiple of 64 bytes.

    Element-wise functions run up to twice as fast on such arrays as on NumPy's own arrays, which
    begin at multiples of 16 bytes.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(size + ALIGNMENT, "uint8")
    begin = -raw.ctypes.data % ALIGNMENT
    return raw[begin : begin + size].view(dtype).reshape(shape)


def zeros(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Return an array of zeros that begins at a multiple of 64 bytes, which is faster."""
    array = empty(shape, dtype)
    array.fill(0)
    return array


def ones(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Return an array of ones that begins at a multiple of 64 bytes, which is faster."""
    array = empty(shape, dtype)
    array.fill(1)
    return array


def number(value: float = 0.0) -> np.ndarray:
    """Return an array without axes for one number: a constant, or the result of a sum."""
    return np.array(value, "float32")


def flush_subnormals() -> bool:
    """Let this thread replace numbers below 1e-38 by zero; return whether this is possible.

    Sums with such small numbers take 35 to 70 times as long. It is possible on x86-64 with the GNU
    C library, by two bits of the control register, which is the last word that `fegetenv` fills.
    """
    library = ctypes.util.find_library("m")
    if platform.machine() not in ("x86_64", "AMD64") or not library:
        return False
    mathematics = ctypes.CDLL(library)
    environment = (ctypes.c_uint32 * 8)()
    if not hasattr(mathematics, "fegetenv") or mathematics.fegetenv(environment):
        return False
    environment[7] |= 0x8040
    return bool(mathematics.fesetenv(environment) == 0)
