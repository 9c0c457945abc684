"""The texts of programs, where debuggers and tracebacks look for the lines of a file: `linecache`.

Used by `program.py` and `loop.py`. An entry without a time of change is never compared with a disk.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

_gone: list[str] = []


def show(file: str, text: str, lines: Sequence[str]) -> None:
    """Show the lines of a program, and forget those of programs that are gone."""
    while _gone:
        linecache.cache.pop(_gone.pop(), None)
    shown: Any = lines  # a list is expected, but whatever has lines will do
    linecache.cache[file] = (len(text), None, shown, file)


def hide(file: str) -> None:
    """Show nothing of a program any more.

    Garbage is collected at any moment, also while somebody goes through linecache's entries, as
    `linecache.checkcache()` does. So the entry itself stays, empty, until another is shown.
    """
    if file in linecache.cache:
        linecache.cache[file] = (0, None, [], file)
        _gone.append(file)
