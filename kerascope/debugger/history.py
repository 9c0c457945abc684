"""What was typed at the prompt, kept from one session to the next in `~/.kscope_history`.

`readline` has one list of lines for the whole process, and the program that is debugged may use it
too. So ours is put in its place while the prompt is open, and then the program's own is put back.
Nothing here ever disturbs: a file that cannot be read or written is as good as none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

FILE = ".kscope_history"
LONGEST = 1000  # lines that are kept
LARGEST = 1_000_000  # bytes; more than that nobody has typed


class History:
    """The lines that were typed.

    Parameters
    ----------
    readline : module or None
        Python's; None where there is none.
    path : Path, optional
        By default the file in the home directory.

    Attributes
    ----------
    lines : list of str or None
        None until the file was read.
    """

    def __init__(self, readline: ModuleType | None, path: Path | None = None) -> None:
        self.readline = readline
        self.lines: list[str] | None = None
        self._path = path

    @property
    def path(self) -> Path | None:
        """The file; None if nobody has a home here."""
        if self._path is None:
            with suppress(RuntimeError):
                return Path.home() / FILE
        return self._path

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the arrow keys find our lines inside the block, and the program's behind it."""
        if self.readline is None:
            yield
            return
        theirs = _listed(self.readline)
        _put(self.readline, self._known())
        try:
            yield
        finally:
            _put(self.readline, theirs)

    def _known(self) -> list[str]:
        if self.lines is None:
            self.lines = self._read()
        return self.lines

    def note(self, line: str) -> None:
        """Keep a line that was typed, unless it is the last one again."""
        lines = self._known()
        if not line.strip() or not line.isprintable() or lines[-1:] == [line]:
            return
        lines.append(line)
        del lines[:-LONGEST]
        self._write(line)

    def forget_last(self) -> None:
        """Take what was typed last from the arrow keys: an answer is no command."""
        if self.readline is not None:
            with suppress(ValueError):
                self.readline.remove_history_item(self.readline.get_current_history_length() - 1)

    def _read(self) -> list[str]:
        path = self.path
        with suppress(OSError):
            if path is not None and path.is_file():
                with path.open("rb") as stream:
                    stream.seek(max(path.stat().st_size - LARGEST, 0))
                    text = stream.read().decode("utf-8", "replace")
                lines = [line for line in text.split("\n") if line.strip() and line.isprintable()]
                if len(lines) > LONGEST:
                    self._shorten(path, lines[-LONGEST:])
                return lines[-LONGEST:]
        return []

    def _write(self, line: str) -> None:
        """Add a line to the file; another session may add its own meanwhile."""
        path = self.path
        with suppress(OSError, UnicodeEncodeError):
            if path is not None and (path.is_file() or not path.exists()):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                descriptor = os.open(path, flags, 0o600)  # commands may name what is private
                with os.fdopen(descriptor, "a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")

    @staticmethod
    def _shorten(path: Path, lines: list[str]) -> None:
        with suppress(OSError):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _listed(readline: ModuleType) -> list[str]:
    count = readline.get_current_history_length()
    items = (readline.get_history_item(place) for place in range(1, count + 1))
    return [item for item in items if item is not None]


def _put(readline: ModuleType, lines: list[str]) -> None:
    readline.clear_history()
    for line in lines:
        readline.add_history(line)
