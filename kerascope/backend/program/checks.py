"""Checks shared by programs and loops: equal arrays, checked loops, and where an error came from.

When fast code falls back to slow code after an error, it must not swallow errors that come from
outside: those raised by a signal handler, such as a timeout, or by another thread.

In most cases the place where the error was raised decides. A program calls only kerascope, NumPy
and the standard library, and through these only the code of custom ops. The code of a signal
handler is none of these. An exception that another thread raises inside a program cannot be
recognized. So a possible failure of the program is computed again, to see whether the error is
reproducible.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from kerascope.backend.graph import Op

# --- errors from outside --------------------------------------------------------------------------


def _folder(path: str) -> str:
    return os.path.join(path, "")


# `sysconfig` would take as long to import as thirty modules of kerascope.
_PYTHON, _INSTALLED = _folder(os.path.dirname(traceback.__file__)), _folder("site-packages")
_OURS = (
    *("<kerascope ", "<frozen ", "<__array_function__ "),  # code without a file
    _folder(str(Path(__file__).parents[2])),
    _folder(str(Path(np.__file__).parent)),
)


def own_failure(compute: Callable[[], object], error: Exception) -> Exception:
    """Return the error that `compute` raises when it is called again after it failed.

    Raises
    ------
    Exception
        The first error, if it was raised outside of the code that programs call, or if
        `compute` does not raise the same error at the same line again.

    Examples
    --------
    >>> def divide():
    ...     return 1 / 0
    >>> try:
    ...     divide()
    ... except ZeroDivisionError as error:
    ...     failure = own_failure(np.log, error)
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """
    if is_from_outside(error):
        raise error
    try:
        compute()
    except Exception as failure:
        if type(failure) is type(error) and _end_of(failure) == _end_of(error):
            return failure
        if is_from_outside(failure):
            raise
        raise error from failure
    raise error


def is_from_outside(error: Exception) -> bool:
    """Return whether an error was raised by code that programs do not call: a signal handler."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    below = frames[1:]  # the first one caught the error
    handlers = _handlers()
    if any(frame.f_code in handlers for frame in below):
        return True
    first = next((frame for frame in below if not _is_called_by_programs(frame)), None)
    return first is not None and not _is_of_an_op(first)


def _handlers() -> set[CodeType]:
    """Return the code objects of all current signal handlers."""
    found = (getattr(signal.getsignal(n), "__code__", None) for n in signal.valid_signals())
    return {code for code in found if code is not None}


def _is_of_an_op(frame: FrameType) -> bool:
    """Return whether a Python frame runs a method of an op, or a function made by its `kernel`."""
    names = frame.f_code.co_qualname.split(".")
    if "perform" in names or "kernel" in names:
        return True
    return any(isinstance(value, Op) for value in list(frame.f_locals.values()))


def _is_called_by_programs(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(_OURS) or (file.startswith(_PYTHON) and _INSTALLED not in file)


def _end_of(error: Exception) -> object:
    """Return the code object and the line number that raised an error."""
    last = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        last = frame.f_code, line
    return last


# --- whether loops are checked while they run: see `loops/run.py` ---------------------------------


ARE_CHECKED: ContextVar[bool] = ContextVar("loops_are_checked", default=False)


@contextmanager
def checked_loops(are_checked: bool = True) -> Iterator[None]:
    """Return a context manager that sets whether loops are also computed op by op and compared."""
    token = ARE_CHECKED.set(are_checked)
    try:
        yield
    finally:
        ARE_CHECKED.reset(token)


# --- comparing arrays -----------------------------------------------------------------------------


def are_same(one: Any, other: Any) -> bool:
    """Return whether two arrays have equal dtype, shape and bits; all NaN count as equal.

    Examples
    --------
    >>> are_same(np.array([0.0, np.nan]), np.array([0.0, -np.nan])), are_same(0.0, -0.0)
    (True, False)
    """
    x, y = np.asarray(one), np.asarray(other)
    return x.dtype == y.dtype and x.shape == y.shape and not differing(x, y).any()


def differing(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return a flat array that marks where two arrays of the same shape and dtype differ.

    Examples
    --------
    >>> differing(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]]))
    array([False,  True])
    """
    x, y = x.reshape(-1), y.reshape(-1)
    if x.dtype.kind != "f":
        return np.asarray(x != y)
    whole = f"u{x.itemsize}"  # compare bits: subnormal numbers would equal 0
    return np.asarray((x.view(whole) != y.view(whole)) & ~(np.isnan(x) & np.isnan(y)))
