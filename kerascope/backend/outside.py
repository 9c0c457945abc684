"""Errors that come from outside: what the handler of a signal raises, or another thread.

Where a fast road falls back to a slow one after an error, it must not swallow such an error, which
is meant for somebody else: the time that an alarm gave is up.
"""

from __future__ import annotations

from collections.abc import Callable


def own_failure(compute: Callable[[], object], error: Exception) -> Exception:
    """Return why `compute` fails: it has raised an error, and is asked once more.

    Raises
    ------
    Exception
        The error itself, if `compute` does not fail again: then it came from outside.

    Examples
    --------
    >>> own_failure(lambda: 1 / 0, ZeroDivisionError())
    ZeroDivisionError('division by zero')
    >>> own_failure(lambda: 1 / 2, TimeoutError("too late"))
    Traceback (most recent call last):
        ...
    TimeoutError: too late
    """
    try:
        compute()
    except Exception as failure:
        return failure
    raise error
