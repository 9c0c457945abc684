"""The folder of a backup: one file that is whole or not there, and a lock.

The file is a zip archive: `state.json` has everything but the arrays, which lie in `arrays/` as
`.npy`. Nothing is compressed, everything has a checksum, and no byte of it is ever run. It is
written beside the old one and takes its place when it is on the disk.

A run holds the folder by a lock of the operating system, which ends with the process, however that
ends: no lock is ever stale.
"""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerascope.callbacks.plain_data import as_plain, from_plain
from kerascope.callers import warn
from kerascope.errors import ConfigError, KerascopeError, UnavailableError
from kerascope.files import replacing

FORMAT = "kerascope backup of training 1"
NAME, PREVIOUS, DAMAGED = "training.zip", "training.previous.zip", "training.damaged.zip"
LOCK = "training.lock"
_STATE = "state.json"
_MADE_ON = (1980, 1, 1, 0, 0, 0)  # the same file for the same state
_held: dict[str, int] = {}  # the folders that runs of this process hold, and its number
_finished: dict[str, int] = {}  # how many runs of this process came to their end with a folder


class Found(NamedTuple):
    """A backup that was read: its file, and what is in it."""

    path: Path
    state: Any


class BackupFolder:
    """Where one run keeps its backup.

    Parameters
    ----------
    path : path
    keeps_previous : bool
        Keep the file before the last one, too.
    """

    def __init__(self, path: str | os.PathLike[str], keeps_previous: bool = False) -> None:
        self.path = Path(os.path.abspath(path))  # a script may change its folder meanwhile
        self.keeps_previous = keeps_previous
        self._lock: int | None = None
        self._is_deleted = False

    @property
    def file(self) -> Path:
        """Where the backup is written."""
        return self.path / NAME

    @property
    def finished(self) -> int:
        """How many runs of this process have come to their end with this folder."""
        return _finished.get(self._key, 0)

    def count_finished(self) -> None:
        """Note that a run has come to its end."""
        _finished[self._key] = self.finished + 1

    @property
    def _key(self) -> str:
        return str(self.path.resolve())

    # --- the lock ---------------------------------------------------------------------------------

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, and hold it: no other run may use it inside the block.

        Raises
        ------
        UnavailableError
            Another run holds it, or it cannot be made.
        """
        try:
            key, self._is_deleted = self._key, False
        except (OSError, RuntimeError) as error:  # links that lead in a circle
            raise self._is_unusable(error) from error
        if _held.get(key) == os.getpid():
            raise self._is_held("another fit of this process")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
        except OSError as error:
            raise self._is_unusable(error) from error
        _held[key] = os.getpid()
        try:
            yield
        finally:
            del _held[key]
            os.close(self._lock)
            self._lock = None
            if self._is_deleted and os.name == "nt":  # where an open file cannot be removed
                self.delete()

    def _locked(self) -> int:
        """Return the open file of the lock, which nobody else has locked."""
        while True:
            number = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _try_lock(number):
                    raise self._is_held("another process")
                with suppress(FileNotFoundError):  # who held it before may have removed it
                    if os.path.samestat(os.fstat(number), os.stat(self.path / LOCK)):
                        return number
            except BaseException:
                os.close(number)
                raise
            os.close(number)

    def _is_held(self, by: str) -> UnavailableError:
        return UnavailableError(
            f"BackupAndRestore: the folder {str(self.path)!r} is in use by {by}; expected a folder "
            "of this run alone. Wait for the other run, or choose another backup_dir."
        )

    def _is_unusable(self, error: Exception) -> Exception:
        if isinstance(error, KerascopeError):
            return error
        return UnavailableError(
            f"BackupAndRestore: cannot use the folder {str(self.path)!r}: "
            f"{getattr(error, 'strerror', None) or error}."
        )

    # --- files ------------------------------------------------------------------------------------

    def write(self, state: Any) -> None:
        """Write a backup; whatever happens, there is a whole one afterwards, the old or the new.

        Raises
        ------
        UnavailableError
            It cannot be written, or the disk is full.
        """
        self._make_again()
        with replacing(self.file) as unfinished:
            with unfinished.open("wb") as file:
                write_state(file, state)
                file.flush()
                os.fsync(file.fileno())
            if self.keeps_previous and self.file.exists():
                os.replace(self.file, self.path / PREVIOUS)
        _to_disk(self.path)

    def _make_again(self) -> None:
        """Make the folder again, and hold it, if somebody removed it while training went on."""
        if self._lock is None or (self.path / LOCK).exists():
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = self._locked()
        except OSError as error:
            raise self._is_unusable(error) from error
        os.close(self._lock)
        self._lock = lock

    def read(self) -> Found | None:
        """Return the last backup, or None if there is none.

        If it is damaged, the one before it is taken, if there is one, and the damaged one is put
        aside.

        Raises
        ------
        ConfigError
            It is damaged. Its file stays as it is.

        Warns
        -----
        KerascopeWarning
            The one before was taken.
        """
        previous = self.path / PREVIOUS
        if not self.file.exists():
            return Found(previous, read_state(previous)) if previous.exists() else None
        try:
            return Found(self.file, read_state(self.file))
        except ConfigError as error:
            if not previous.exists():
                raise
            found = Found(previous, read_state(previous))
            os.replace(self.file, self.path / DAMAGED)
            warn(f"{error} The backup before it, {str(previous)!r}, is taken instead.")
            return found

    def delete(self) -> None:
        """Remove the backup, and the folder if nothing else is in it."""
        self._is_deleted = True
        for name in (NAME, PREVIOUS, LOCK):
            with suppress(OSError):  # Windows keeps an open file: the lock
                (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()


def _try_lock(number: int) -> bool:
    """Lock an open file for this process; tell whether that was possible."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            # Not `flock`: a forked child would hold that on after our death.
            fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        warn(
            f"BackupAndRestore: the folder cannot be locked here ({error.strerror or error}). Make "
            "sure that no other run uses it."
        )
    return True


def _to_disk(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows does so by itself."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


# --- the format -----------------------------------------------------------------------------------


def write_state(file: Any, state: Any) -> None:
    """Write plain data into an open file."""
    import zipfile  # only a run with a backup needs it

    arrays: list[np.ndarray] = []
    content = {"format": FORMAT, "state": as_plain(state, arrays)}
    content["arrays"] = [[array.dtype.str, list(array.shape)] for array in arrays]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_STATE, _MADE_ON), json.dumps(content))
        for number, array in enumerate(arrays):
            data = _header(array.dtype, array.shape) + array.tobytes()
            archive.writestr(zipfile.ZipInfo(_member(number), _MADE_ON), data)


def read_state(path: Path) -> Any:
    """Return the plain data of a file.

    Raises
    ------
    ConfigError
        It is damaged, or no backup.
    UnavailableError
        It cannot be read.
    """
    import zipfile

    damaged = (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError)
    wrong = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
    if path.exists() and not path.is_file():  # a pipe would be waited for for ever
        raise UnavailableError(
            f"BackupAndRestore: {str(path)!r} is no file; expected a backup. Move it away, or "
            "choose another backup_dir."
        )
    try:
        file = path.open("rb")
    except OSError as error:
        raise UnavailableError(
            f"BackupAndRestore: cannot read {str(path)!r}: {error.strerror or error}."
        ) from error
    try:
        with file, zipfile.ZipFile(file) as archive:
            return _state_in(archive, path.stat().st_size)
    except (*damaged, *wrong) as error:
        raise ConfigError(
            f"BackupAndRestore: {str(path)!r} is damaged, or no backup ({error}); nothing was "
            "changed. To begin anew, move it away."
        ) from None


def _state_in(archive: Any, size: int) -> Any:
    members = archive.infolist()
    if any(member.compress_type or member.file_size > size for member in members):
        raise ValueError("a member is compressed, or larger than the file")
    content = json.loads(archive.read(_STATE))
    if content["format"] != FORMAT:
        raise ValueError(f"its format is {content['format']!r}; expected {FORMAT!r}")
    listed = content["arrays"]
    names = [_STATE, *(_member(number) for number in range(len(listed)))]
    if [member.filename for member in members] != names:
        raise ValueError("its members are not those that it lists")
    arrays = [_array(archive.read(_member(i)), *one) for i, one in enumerate(listed)]
    return from_plain(content["state"], arrays)


def _array(data: bytes, type_name: str, shape: Sequence[int]) -> np.ndarray:
    dtype = np.dtype(type_name)
    if dtype.hasobject or dtype.names or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"no array has the type {type_name} and the shape {shape}")
    header = _header(dtype, tuple(shape))
    if not data.startswith(header):
        raise ValueError("an array is not what the list says")
    return np.frombuffer(data, dtype, offset=len(header)).reshape(tuple(shape))


def _member(number: int) -> str:
    return f"arrays/{number}.npy"


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return what a .npy file of such an array begins with."""
    file = io.BytesIO()
    described = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


@contextmanager
def reading(found: Found) -> Iterator[None]:
    """Say of which file it is that something in it cannot be right."""
    try:
        yield
    except KerascopeError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise ConfigError(
            f"BackupAndRestore: {str(found.path)!r} holds what no backup has "
            f"({type(error).__name__}: {error}). To begin anew, move it away."
        ) from error
