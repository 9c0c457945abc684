"""Writing files completely or not at all."""

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
    """Yield the path of a temporary file, which is renamed to `path` if the block succeeds.

    If the block raises, the temporary file is removed and an existing file stays unchanged.

    Raises
    ------
    ArgumentError
        If the folder does not exist, or the file exists and `overwrite` is False.
    UnavailableError
        If permissions forbid writing, or the disk is full.

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
        raise ArgumentError(f"{str(target)!r} exists. Give a new name, or pass overwrite=True.")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    _remove_leftovers(target)
    try:
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        if isinstance(error, KerascopeError):
            raise
        raise UnavailableError(f"Cannot write {str(target)!r}: {_reason(error)}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file completely or not at all. Text is encoded as UTF-8; line breaks are kept.

    Raises
    ------
    ArgumentError, UnavailableError
        See `replacing`.
    """
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def comes_from_the_system(error: BaseException) -> bool:
    """Return whether an OSError comes from the system rather than from a damaged file.

    Examples
    --------
    >>> comes_from_the_system(TimeoutError("no answer")), comes_from_the_system(OSError("no HDF5"))
    (True, False)
    """
    if not isinstance(error, OSError):
        return False
    return type(error) is not OSError or error.errno not in (None, errno.EINVAL)


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files for `target` that ended processes left behind."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d+)\.unfinished")
    try:
        names = os.listdir(target.parent)
    except OSError:
        return  # a writable folder may not be listable
    for match in filter(None, map(pattern.fullmatch, names)):
        path, process = target.with_name(match[0]), int(match[1])
        with suppress(OSError):  # the file was just renamed, or is open (Windows)
            if process != os.getpid() and not _may_hold(process, path.stat().st_mtime):
                path.unlink()


def _may_hold(process: int, written: float) -> bool:
    """Return whether the process that wrote a file at the time `written` may still be running."""
    if not (_lives_on_windows(process) if os.name == "nt" else _lives(process)):
        return False
    begun = _begun(process)
    return begun is None or begun <= written + 2  # seconds; a later start means a reused number


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing; on Windows it would be Ctrl-C
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # another user's process
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


_MAY_BE_ASKED, _ACCESS_DENIED, _STILL_ACTIVE = 0x1000, 5, 259  # a constant of Windows


def _begun(process: int) -> float | None:
    """Return the start time of a process in seconds; None if the system does not provide it."""
    try:
        facts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        lines = Path("/proc/stat").read_text().splitlines()
        booted = next(float(line.split()[1]) for line in lines if line.startswith("btime"))
        return booted + int(facts[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def why_missing(path: Path, hint: Callable[[Path], str]) -> str:
    """Return why a path is neither a file nor a folder; "" if it is a file or a folder.

    Parameters
    ----------
    path : Path
    hint : callable
        Returns a suggestion if nothing of this name exists.
    """
    try:
        if path.is_file() or path.is_dir():
            return ""
        if path.exists():
            return f"{str(path)!r} is a device or a pipe. Give a file."
        if path.is_symlink():
            return f"{str(path)!r} is a link to {os.readlink(path)!r}, which does not exist."
    except OSError as error:
        return f"there is no file {str(path)[:60] + '...'!r}: {(error.strerror or '').lower()}."
    return f"there is no file {str(path)!r}. {hint(path)}".rstrip()


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to be written, after checking the folder and the permissions.

    Raises
    ------
    ArgumentError
        If the folder does not exist, or the path is itself a folder.
    UnavailableError
        If the folder is not writable.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise ArgumentError(
            f"Cannot write {str(target)!r}: the folder {str(target.parent)!r} does not exist. "
            f"Create it first."
        )
    if target.is_dir():
        raise ArgumentError(f"Cannot write {str(target)!r}: expected a file, got a folder.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise UnavailableError(f"Cannot write {str(target)!r}: permission denied.")
    return target


def _reason(error: OSError) -> str:
    """Return the operating system's description of an error, without the name of a file."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def cache_folder(cache_subdir: str = "datasets", cache_dir: str | Path | None = None) -> Path:
    """Return the folder for downloaded files.

    Parameters
    ----------
    cache_subdir : str
        Folder inside the cache, or an absolute path of any folder.
    cache_dir : path, optional
        The cache. Default: the environment variable KERAS_HOME, or `~/.keras`.

    Returns
    -------
    Path
        The folder. It may not exist yet.
    """
    home = cache_dir or os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    return Path(home).expanduser() / cache_subdir
