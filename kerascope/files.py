"""Writing files so that they are there whole, or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    _remove_leftovers(target)
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        if isinstance(error, KerascopeError):
            raise
        raise UnavailableError(f"cannot write {str(target)!r}: {_reason(error)}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that it is there whole, or not at all; a text in UTF-8, as it is.

    Raises
    ------
    ArgumentError, UnavailableError
        See `replacing`.
    """
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def comes_from_the_system(error: BaseException) -> bool:
    """Tell whether an OSError is of the system, and none that a library raises for a damaged file.

    Examples
    --------
    >>> comes_from_the_system(TimeoutError("no answer")), comes_from_the_system(OSError("no HDF5"))
    (True, False)
    """
    if not isinstance(error, OSError):
        return False
    return type(error) is not OSError or error.errno not in (None, errno.EINVAL)


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that are no more left of writing this file."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d+)\.unfinished")
    try:
        names = os.listdir(target.parent)
    except OSError:
        return  # a folder may be written to and yet not be listed
    for match in filter(None, map(pattern.fullmatch, names)):
        path, process = target.with_name(match[0]), int(match[1])
        with suppress(OSError):  # it has just been renamed, or Windows finds it open
            if process != os.getpid() and not _may_hold(process, path.stat().st_mtime):
                path.unlink()


def _may_hold(process: int, written: float) -> bool:
    """Tell whether a process lives that may be the one that wrote a file at this time."""
    if not (_lives_on_windows(process) if os.name == "nt" else _lives(process)):
        return False
    begun = _begun(process)
    return begun is None or begun <= written + 2  # seconds; else the number was given anew


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing; on Windows it would be Ctrl-C
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True


def _lives_on_windows(process: int) -> bool:
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(_MAY_BE_ASKED, False, process)
    if not handle:
        return bool(kernel.GetLastError() == _ACCESS_DENIED)
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == _STILL_ACTIVE


_MAY_BE_ASKED, _ACCESS_DENIED, _STILL_ACTIVE = 0x1000, 5, 259  # of Windows


def _begun(process: int) -> float | None:
    """Return when a process began, in seconds; None where the system does not tell."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        lines = Path("/proc/stat").read_text().splitlines()
        booted = next(float(line.split()[1]) for line in lines if line.startswith("btime"))
        return booted + int(facts[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def why_missing(path: Path, hint: Callable[[Path], str]) -> str:
    """Return why a path leads to no file and no folder, "" if it does.

    Parameters
    ----------
    path : Path
    hint : callable
        Returns which other file may have been meant, where there is nothing of this name.
    """
    try:
        if path.is_file() or path.is_dir():
            return ""
        if path.exists():
            return f"{str(path)!r} is a device or a pipe; expected a file."
        if path.is_symlink():
            return f"{str(path)!r} is a link to {os.readlink(path)!r}, which does not exist."
    except OSError as error:
        return f"there is no file {str(path)[:60] + '...'!r}: {(error.strerror or '').lower()}."
    return f"there is no file {str(path)!r}. {hint(path)}".rstrip()


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
