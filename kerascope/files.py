"""Writing files so that they are there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kerascope.errors import ArgumentError


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """Give a new file beside `path` to write to, and rename it to `path` when all went well.

    If the block raises, the new file is removed and an old one stays as it was.

    Raises
    ------
    ArgumentError
        The folder does not exist, or the file exists and `overwrite` is False.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "notes.txt") as unfinished:
    ...     _ = unfinished.write_text("done", encoding="utf-8")
    >>> (folder / "notes.txt").read_text(encoding="utf-8")
    'done'
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise ArgumentError(
            f"cannot write {str(target)!r}; expected an existing folder, "
            f"got {str(target.parent)!r}. Make it first."
        )
    if target.exists() and not overwrite:
        raise ArgumentError(
            f"{str(target)!r} exists; expected a new file, since overwrite is False."
        )
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
