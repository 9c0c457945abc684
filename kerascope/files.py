"""Writing files so that they are there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kerascope.errors import ArgumentError, KerascopeError, UnavailableError


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Give a new file beside `path` to write to, and rename it to `path` when all went well.

    If the block raises, the new file is removed and an old one stays as it was.

    Raises
    ------
    ArgumentError
        The folder does not exist, or the file exists and `overwrite` is False.
    UnavailableError
        It may not be written, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "notes.txt") as unfinished:
    ...     _ = unfinished.write_text("done", encoding="utf-8")
    >>> (folder / "notes.txt").read_text(encoding="utf-8")
    'done'
    """
    target = check_writable(path)
    if target.exists() and not overwrite:
        raise ArgumentError(
            f"{str(target)!r} exists; expected a new file, since overwrite is False."
        )
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        if isinstance(error, KerascopeError):
            raise
        raise UnavailableError(f"cannot write {str(target)!r}: {_reason(error)}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that is to be written, if it looks as if that could be done.

    Raises
    ------
    ArgumentError
        The folder does not exist, or the path is itself a folder.
    UnavailableError
        Nobody may write into the folder.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise ArgumentError(
            f"cannot write {str(target)!r}; expected an existing folder, "
            f"got {str(target.parent)!r}. Make it first."
        )
    if target.is_dir():
        raise ArgumentError(f"cannot write {str(target)!r}; expected a file, got a folder.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise UnavailableError(f"cannot write {str(target)!r}: permission denied.")
    return target


def _reason(error: OSError) -> str:
    """Return why in the words of the system, without the name of the unfinished file."""
    return os.strerror(error.errno).lower() if error.errno else str(error)
