"""How numbers are computed while a function computes: tiny ones are zero, and NaN is no warning.

Infinities and NaN come without a warning of NumPy: the training loop reports them.

Below 1.2e-38 a float32 has no full precision any more: it is *subnormal*, and processors compute
with such numbers 35 to 70 times slower. A gradient that vanishes, or a moment that decays, gets
there after some hundred steps, and training that slows down for no visible reason is the result. So
the processor is told to take them as 0, as TensorFlow tells it.

That is done where C's `fesetenv` is known to hold the switch: on x86-64 with the GNU C library.
Elsewhere nothing is done.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")

FLUSH = 0x8040  # in the MXCSR register: results become 0, and operands count as 0
MXCSR = 7  # its place in the GNU C library's fenv_t, in units of 4 bytes


@cache
def _library() -> Any:
    """Return the C library's mathematics; None where the register cannot be reached."""
    if platform.machine() not in ("x86_64", "AMD64") or platform.libc_ver()[0] != "glibc":
        return None
    try:
        library = ctypes.PyDLL("libm.so.6")  # so short a call need not give up Python's lock
        return library if hasattr(library, "fesetenv") else None
    except OSError:
        return None


class _Switch(threading.local):
    """The state of one thread: its settings outside and inside, and how deep it is inside."""

    def __init__(self) -> None:
        library = _library()
        self.depth = 0 if library is not None else 1  # where nothing can be done, always inside
        self.outside = (ctypes.c_uint32 * 8)()
        if library is not None:
            self.set = library.fesetenv
            library.fegetenv(self.outside)
        self.inside = (ctypes.c_uint32 * 8).from_buffer_copy(self.outside)
        self.inside[MXCSR] |= FLUSH
        self.to_inside, self.to_outside = map(ctypes.byref, (self.inside, self.outside))


_switch = _Switch()


@np.errstate(all="ignore")
def with_float_settings(compute: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a call computes, with the settings of a function.

    What was before comes back, whatever interrupts.

    Examples
    --------
    >>> tiny = np.array([1e-40], "float32")
    >>> bool(with_float_settings(np.multiply, tiny, 1) == 0), bool(tiny * 1 == 0)
    (True, False)
    """
    switch = _switch
    depth = switch.depth
    try:
        if not depth:
            switch.depth = 1
            switch.set(switch.to_inside)
        return compute(*arguments)
    finally:
        switch.depth = depth
        if not depth:
            switch.set(switch.to_outside)
