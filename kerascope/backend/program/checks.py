"""What every check of a fast road asks: what is equal, are loops checked, whose error is this.

Where a fast road falls back to a slow one after an error, it must not swallow an error that comes
from outside, which is meant for somebody else: what the handler of a signal raises, because the
time that an alarm gave is up, or another thread.

Where an error was raised tells most of them apart. What a program calls is ours, NumPy's or
Python's own, and below that only what an op of somebody else's computes. A handler stands anywhere
else. Nothing tells an exception that another thread raises here: of what may be the program's own
failure it is asked whether it comes again.
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

# --- errors that come from outside ----------------------------------------------------------------


def _folder(path: str) -> str:
    return os.path.join(path, "")


# Not asked of sysconfig: importing that takes as long as thirty modules of ours.
_PYTHON, _INSTALLED = _folder(os.path.dirname(traceback.__file__)), _folder("site-packages")
_OURS = (
    *("<kerascope ", "<frozen ", "<__array_function__ "),  # texts that lie in no file
    _folder(str(Path(__file__).parents[2])),
    _folder(str(Path(np.__file__).parent)),
)


def own_failure(compute: Callable[[], object], error: Exception) -> Exception:
    """Return why `compute` fails: it has raised an error, and is asked once more.

    Raises
    ------
    Exception
        The error itself, if it was raised where no program fails, or if `compute` does not fail
        again in the same way at the same place: then it came from outside.

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
    """Tell whether an error was raised where nothing is that a program calls."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    below = frames[1:]  # the first one has caught it
    handlers = _handlers()
    if any(frame.f_code in handlers for frame in below):
        return True
    first = next((frame for frame in below if not _is_called_by_programs(frame)), None)
    return first is not None and not _is_of_an_op(first)


def _handlers() -> set[CodeType]:
    """Return the code of all functions that handle signals now."""
    found = (getattr(signal.getsignal(n), "__code__", None) for n in signal.valid_signals())
    return {code for code in found if code is not None}


def _is_of_an_op(frame: FrameType) -> bool:
    """Tell whether an op computes there: by a method, or a function that its `kernel` has made."""
    names = frame.f_code.co_qualname.split(".")
    if "perform" in names or "kernel" in names:
        return True
    return any(isinstance(value, Op) for value in list(frame.f_locals.values()))


def _is_called_by_programs(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(_OURS) or (file.startswith(_PYTHON) and _INSTALLED not in file)


def _end_of(error: Exception) -> object:
    """Return the code and the line that raised an error."""
    last = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        last = frame.f_code, line
    return last


# --- whether loops are checked as they are performed: see `loops/run.py` ------------------------


ARE_CHECKED: ContextVar[bool] = ContextVar("loops_are_checked", default=False)


@contextmanager
def checked_loops(are_checked: bool = True) -> Iterator[None]:
    """Check every loop that is performed inside the `with` block, or none."""
    token = ARE_CHECKED.set(are_checked)
    try:
        yield
    finally:
        ARE_CHECKED.reset(token)


# --- when two arrays are the same -----------------------------------------------------------------


def are_same(one: Any, other: Any) -> bool:
    """Tell whether two arrays have the same type, shape and bits; one NaN is like another.

    Examples
    --------
    >>> are_same(np.array([0.0, np.nan]), np.array([0.0, -np.nan])), are_same(0.0, -0.0)
    (True, False)
    """
    x, y = np.asarray(one), np.asarray(other)
    return x.dtype == y.dtype and x.shape == y.shape and not differing(x, y).any()


def differing(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tell of each number, in a row, whether it differs; types and shapes are the same.

    Examples
    --------
    >>> differing(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]]))
    array([False,  True])
    """
    x, y = x.reshape(-1), y.reshape(-1)
    if x.dtype.kind != "f":
        return np.asarray(x != y)
    whole = f"u{x.itemsize}"  # while a function computes, 1e-45 equals 0
    return np.asarray((x.view(whole) != y.view(whole)) & ~(np.isnan(x) & np.isnan(y)))
