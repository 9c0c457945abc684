"""Whether loops are checked as they are performed; `ops/scan_checked.py` says how."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ARE_CHECKED: ContextVar[bool] = ContextVar("loops_are_checked", default=False)


@contextmanager
def checked_loops(are_checked: bool = True) -> Iterator[None]:
    """Check every loop that is performed inside the `with` block, or none."""
    token = ARE_CHECKED.set(are_checked)
    try:
        yield
    finally:
        ARE_CHECKED.reset(token)
