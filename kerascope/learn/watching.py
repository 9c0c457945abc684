"""Waiting for a file to change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.3


def changes_of(path: Path, wait: float = SECONDS_BETWEEN_LOOKS) -> Iterator[None]:
    """Yield whenever a file has other contents; editors that write a new file are understood.

    The first time is when it differs from what it is now: a file that nobody touches yields never.
    """
    before = _state(path)
    while True:
        time.sleep(wait)
        now = _state(path)
        if now is not None and now != before:
            time.sleep(wait / 3)  # let an editor finish
            before = _state(path)
            yield


def _state(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size
