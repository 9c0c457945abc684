"""Float settings while a function computes: subnormal numbers are zero, no NaN warnings.

NumPy's warnings about infinities and NaN are off, because the training loop reports these numbers.

Below 1.2e-38 a float32 no longer has full precision: it is *subnormal*, and processors compute with
such numbers 35 to 70 times slower. A vanishing gradient or a decaying moment gets there after some
hundred steps, and training becomes slower for no visible reason. So the processor is set to treat
subnormal numbers as 0, as TensorFlow does.

This is done only on x86-64 with the GNU C library, because only there the function `fesetenv` is
known to set this.
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
MXCSR = 7  # its index in the GNU C library's fenv_t, in units of 4 bytes


@cache
def _library() -> Any:
    """Return the C library's `libm`; None if it cannot make the processor flush subnormals."""
    if platform.machine() not in ("x86_64", "AMD64") or platform.libc_ver()[0] != "glibc":
        return None
    try:
        library = ctypes.PyDLL("libm.so.6")  # the call is too short to release Python's lock
        return library if hasattr(library, "fesetenv") else None
    except OSError:
        return None


class _Switch(threading.local):
    """The processor's float settings in one thread: those outside of a call, and those during it.

    Only a call at `depth` 0 switches the settings, so nested calls do not. If the settings cannot
    be switched at all, `depth` is never 0.
    """

    def __init__(self) -> None:
        library = _library()
        self.depth = 0 if library is not None else 1  # 1: nothing to switch
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
    """Call `compute` with the float settings of a function, and return its result.

    The previous settings are restored afterwards, also after an exception.

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
