"""The folder of a backup. It contains one file, which is complete or absent, and a lock.

The file contains plain data: numbers, texts, arrays, random generators, and containers of them. It
is an archive of JSON text and arrays. It contains no pickles, so reading a file never runs code
from it.
"""

from __future__ import annotations

import base64
import errno
import io
import json
import os
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ConfigError, DtypeError, KerascopeError, UnavailableError
from kerascope.files import replacing
from kerascope.user_frames import warn

# --- the folder -----------------------------------------------------------------------------------

FORMAT = "kerascope backup of training 1"
NAME, PREVIOUS, DAMAGED = "training.zip", "training.previous.zip", "training.damaged.zip"
LOCK = "training.lock"
_STATE = "state.json"
_MADE_ON = (1980, 1, 1, 0, 0, 0)  # equal states give equal files
_held: dict[str, int] = {}  # folders locked by runs of this process -> process id
_finished: dict[str, int] = {}  # folder -> number of runs of this process that finished with it


class Backup(NamedTuple):
    """A backup that was read: the path of its file, and the state that the file contains."""

    path: Path
    state: Any


class BackupFolder:
    """The folder with the backup of one run.

    Parameters
    ----------
    path : path
        The path of the folder.
    keeps_previous : bool
        Whether to keep the previous file as well.
    """

    def __init__(self, path: str | os.PathLike[str], keeps_previous: bool = False) -> None:
        self.path = Path(os.path.abspath(path))  # the working folder may change during the run
        self.keeps_previous = keeps_previous
        self._lock: int | None = None
        self._is_deleted = False

    @property
    def file(self) -> Path:
        """The path of the backup."""
        return self.path / NAME

    @property
    def finished(self) -> int:
        """The number of finished runs of this process that used this folder."""
        return _finished.get(self._key, 0)

    def count_finished(self) -> None:
        """Add 1 to the number of finished runs of this process that used this folder."""
        _finished[self._key] = self.finished + 1

    @property
    def _key(self) -> str:
        return str(self.path.resolve())

    # --- the lock ---------------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create and lock the folder, so that no other run can use it inside the `with` block.

        Raises
        ------
        UnavailableError
            Another run has locked the folder, or it cannot be created.
        """
        try:
            key, self._is_deleted = self._key, False
        except (OSError, RuntimeError) as error:  # a circle of links
            raise self._unusable(error) from error
        if _held.get(key) == os.getpid():
            raise self._in_use("another fit of this process")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked_file()
        except OSError as error:
            raise self._unusable(error) from error
        _held[key] = os.getpid()
        try:
            yield
        finally:
            del _held[key]
            os.close(self._lock)
            self._lock = None
            if self._is_deleted and os.name == "nt":  # Windows cannot remove an open file
                self.delete()

    def _locked_file(self) -> int:
        """Return the open lock file, locked by this process."""
        while True:
            number = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _try_lock(number):
                    raise self._in_use("another process")
                with suppress(FileNotFoundError):  # the previous run may have removed it
                    if os.path.samestat(os.fstat(number), os.stat(self.path / LOCK)):
                        return number
            except BaseException:
                os.close(number)
                raise
            os.close(number)

    def _in_use(self, by: str) -> UnavailableError:
        return UnavailableError(
            f"BackupAndRestore: the folder {str(self.path)!r} is in use by {by}. Wait for the "
            "other run, or choose another backup_dir."
        )

    def _unusable(self, error: Exception) -> Exception:
        if isinstance(error, KerascopeError):
            return error
        return UnavailableError(
            f"BackupAndRestore: cannot use the folder {str(self.path)!r}: "
            f"{getattr(error, 'strerror', None) or error}."
        )

    # --- files ------------------------------------------------------------------------------------

    def write(self, state: Any) -> None:
        """Write a backup. If this fails, the old file remains complete.

        Raises
        ------
        UnavailableError
            The file cannot be written, or the disk is full.
        """
        self._recreate()
        with replacing(self.file) as unfinished:
            with unfinished.open("wb") as file:
                write_state(file, state)
                file.flush()
                os.fsync(file.fileno())
            if self.keeps_previous and self.file.exists():
                os.replace(self.file, self.path / PREVIOUS)
        _to_disk(self.path)

    def _recreate(self) -> None:
        """Create and lock the folder again if it was removed during training."""
        if self._lock is None or (self.path / LOCK).exists():
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = self._locked_file()
        except OSError as error:
            raise self._unusable(error) from error
        os.close(self._lock)
        self._lock = lock

    def read(self) -> Backup | None:
        """Return the last backup, or None if there is none.

        If the last backup is damaged, return the previous backup if it exists. The damaged file
        is renamed.

        Raises
        ------
        ConfigError
            The backup is damaged, and a previous one does not exist. The file is not changed.

        Warns
        -----
        KerascopeWarning
            The previous backup is used.
        """
        previous = self.path / PREVIOUS
        if not self.file.exists():
            return Backup(previous, read_state(previous)) if previous.exists() else None
        try:
            return Backup(self.file, read_state(self.file))
        except ConfigError as error:
            if not previous.exists():
                raise
            found = Backup(previous, read_state(previous))
            os.replace(self.file, self.path / DAMAGED)
            warn(f"{error} Instead, the previous backup is used: {str(previous)!r}.")
            return found

    def delete(self) -> None:
        """Delete the backup. Then delete the folder if the folder is empty."""
        self._is_deleted = True
        for name in (NAME, PREVIOUS, LOCK):
            with suppress(OSError):  # Windows cannot remove an open file
                (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()


def _try_lock(number: int) -> bool:
    """Lock an open file for this process. Return False if another process has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            # With `flock`, a forked child would keep the lock after this process ends.
            fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        warn(
            f"BackupAndRestore: the folder cannot be locked ({error.strerror or error}). Make sure "
            "that no other run uses it."
        )
    return True


def _to_disk(folder: Path) -> None:
    """Wait until the entries of a folder are on disk. On Windows, this is not needed."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


# --- the file -------------------------------------------------------------------------------------


def write_state(file: Any, state: Any) -> None:
    """Write the state of a training, as plain data, into an open backup file."""
    import zipfile  # imported here, because only backups need it

    arrays: list[np.ndarray] = []
    content = {"format": FORMAT, "state": as_plain(state, arrays)}
    content["arrays"] = [[array.dtype.str, list(array.shape)] for array in arrays]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_STATE, _MADE_ON), json.dumps(content))
        for number, array in enumerate(arrays):
            data = _header(array.dtype, array.shape) + array.tobytes()
            archive.writestr(zipfile.ZipInfo(_member(number), _MADE_ON), data)


def read_state(path: Path) -> Any:
    """Return the state of the training that a backup file contains.

    Raises
    ------
    ConfigError
        The file is damaged, or is not a backup.
    UnavailableError
        The file cannot be read.
    """
    import zipfile

    damaged = (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError)
    wrong = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
    if path.exists() and not path.is_file():  # opening a pipe would block
        raise UnavailableError(
            f"BackupAndRestore: {str(path)!r} is not a file. Move it away, or choose another "
            "backup_dir."
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
            f"BackupAndRestore: {str(path)!r} is damaged or not a backup: "
            f"{str(error).rstrip('.')}. Nothing was changed. To start again, move it away."
        ) from None


def _state_in(archive: Any, size: int) -> Any:
    members = archive.infolist()
    if any(member.compress_type or member.file_size > size for member in members):
        raise ValueError("member: expected no compression and a size within the file.")
    content = json.loads(archive.read(_STATE))
    if content["format"] != FORMAT:
        raise ValueError(f"format: expected {FORMAT!r}, got {content['format']!r}.")
    listed = content["arrays"]
    names = [_STATE, *(_member(number) for number in range(len(listed)))]
    if [member.filename for member in members] != names:
        raise ValueError("members: expected the files of its list.")
    arrays = [_array(archive.read(_member(i)), *one) for i, one in enumerate(listed)]
    return from_plain(content["state"], arrays)


def _array(data: bytes, type_name: str, shape: Sequence[int]) -> np.ndarray:
    dtype = np.dtype(type_name)
    if dtype.hasobject or dtype.names or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"array: expected a dtype and shape, got {type_name} {shape}.")
    header = _header(dtype, tuple(shape))
    if not data.startswith(header):
        raise ValueError("array: expected the header of its dtype and shape.")
    return np.frombuffer(data, dtype, offset=len(header)).reshape(tuple(shape))


def _member(number: int) -> str:
    return f"arrays/{number}.npy"


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of a .npy file for an array with this dtype and shape."""
    file = io.BytesIO()
    described = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


@contextmanager
def reading(found: Backup) -> Iterator[None]:
    """Turn errors about wrong contents inside the `with` block into errors that name the file."""
    try:
        yield
    except KerascopeError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise ConfigError(
            f"BackupAndRestore: {str(found.path)!r} is damaged ({type(error).__name__}: {error}). "
            "To start again, move it away."
        ) from error


# --- plain data as text and arrays, and back again ------------------------------------------------

DEEPEST = 200  # nested containers; a dict counts twice
_KINDS = "biufcSUmM"  # the dtype kinds of arrays without objects
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
_AS_THEY_ARE = (type(None), bool, int, float, str)


def _pairs(value: dict[Any, Any]) -> list[list[Any]]:
    return [list(pair) for pair in value.items()]


# Type -> its name in the file, a function that splits a value, and a function that builds it again.
_FORMS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    dict: ("dict", _pairs, dict),
    OrderedDict: ("ordered", _pairs, OrderedDict),
    tuple: ("tuple", list, tuple),
    set: ("set", list, set),
    frozenset: ("frozenset", list, frozenset),
    range: ("range", lambda r: [r.start, r.stop, r.step], lambda parts: range(*parts)),
    deque: ("deque", lambda q: [list(q), q.maxlen], lambda parts: deque(*parts)),
    complex: ("complex", lambda z: [z.real, z.imag], lambda parts: complex(*parts)),
    bytes: ("bytes", lambda data: base64.b64encode(data).decode(), base64.b64decode),
}
_MADE_BY_NAME = {name: made for name, _, made in _FORMS.values()}


def as_plain(value: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """Return `value` as JSON data, and append its arrays to `arrays`.

    Raises
    ------
    DtypeError
        The value is not plain data. The message contains its type.

    Examples
    --------
    >>> arrays = []
    >>> as_plain({"best": 0.5, "seen": (1, 2), "order": np.arange(3)}, arrays)
    {'dict': [['best', 0.5], ['seen', {'tuple': [1, 2]}], ['order', {'array': 0}]]}
    >>> from_plain({"tuple": [1, {"array": 0}]}, arrays)
    (1, array([0, 1, 2]))
    """
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if depth > DEEPEST:
        raise DtypeError(f"plain data: expected at most {DEEPEST} nested containers.")
    if kind is list:
        return [as_plain(item, arrays, depth + 1) for item in value]
    if kind in _FORMS:
        name, parts, _ = _FORMS[kind]
        return {name: as_plain(parts(value), arrays, depth)}
    return _less_common(value, arrays, depth)


def _less_common(value: Any, arrays: list[np.ndarray], depth: int) -> Any:
    if type(value) is np.ndarray and value.dtype.kind in _KINDS:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return {"scalar": [value.dtype.str, base64.b64encode(value.tobytes()).decode()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    state = state_of_generator(value)
    if state is not None:
        return {type(value).__name__: as_plain(state, arrays, depth + 1)}
    raise DtypeError(
        f"plain data: expected numbers, texts, arrays, and lists, tuples, sets or dicts of them, "
        f"got {type(value).__name__}.",
        subject=value,
    )


def from_plain(data: Any, arrays: Sequence[np.ndarray]) -> Any:
    """Return the value that `as_plain` converted. Its arrays are writable copies.

    Raises
    ------
    ConfigError
        `data` is not a result of `as_plain`.
    """
    try:
        return _read(data, arrays)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"plain data: cannot be read: {error}.") from None


def _read(data: Any, arrays: Sequence[np.ndarray]) -> Any:
    if type(data) in _AS_THEY_ARE:
        return data
    if type(data) is list:
        return [_read(item, arrays) for item in data]
    ((kind, content),) = data.items()
    if kind == "array":
        if type(content) is not int or content < 0:
            raise ConfigError(f"plain data: there is no array {content!r}.")
        return np.array(arrays[content])
    if kind == "scalar":
        dtype = np.dtype(content[0])
        if dtype.kind not in _KINDS:
            raise ConfigError(f"plain data: expected the dtype of a number, got {dtype}.")
        return np.frombuffer(base64.b64decode(content[1]), dtype, 1)[0]
    if kind == "path":
        return Path(content)
    inner = _read(content, arrays)
    if kind in _MADE_BY_NAME:
        return _MADE_BY_NAME[kind](inner)
    return _generator(kind, inner)


def state_of_generator(value: Any) -> Any:
    """Return the state of a random generator, or None for any other value."""
    if type(value) is np.random.Generator:
        name = type(value.bit_generator).__name__
        return value.bit_generator.state if name in _BIT_GENERATORS else None
    if type(value) is np.random.RandomState:
        return value.get_state(legacy=False)
    return value.getstate() if type(value) is random.Random else None


def set_state_of_generator(generator: Any, state: Any) -> None:
    """Set the state of a random generator, as returned by `state_of_generator`.

    Raises
    ------
    ConfigError
        The state belongs to another kind of generator than `generator`.
    """
    try:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = _checked_state(state)
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(_checked_state(state))
        else:
            generator.setstate(state)
    except (TypeError, ValueError, LookupError) as error:
        raise ConfigError(
            f"{type(generator).__name__}: expected the state of this kind of generator, got: "
            f"{str(error).rstrip('.')}."
        ) from None


def state_of_global_generators() -> dict[str, Any]:
    """Return the states of the global random generators of `np.random` and `random`."""
    return {"numpy": np.random.get_state(legacy=False), "python": random.getstate()}  # noqa: NPY002


def set_state_of_global_generators(state: dict[str, Any]) -> None:
    """Set the global random generators to the states in a backup."""
    np.random.set_state(_checked_state(state["numpy"]))  # noqa: NPY002
    random.setstate(state["python"])


def _checked_state(state: Any) -> Any:
    """Return the state of a NumPy generator after checks that are stricter than NumPy's."""
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ValueError(f"random generator: expected a known kind, got {name!r}.")
    _check_like(state, getattr(np.random, name)(0).state, "")
    return state


def _check_like(state: Any, usual: Any, name: str) -> None:
    """Raise ValueError if a state has another type or shape than `usual`, or is out of range."""
    if isinstance(usual, dict):
        for key, value in usual.items():
            _check_like(state[key], value, key)
    elif isinstance(usual, np.ndarray):
        if getattr(state, "shape", None) != usual.shape or state.dtype != usual.dtype:
            raise ValueError(f"random generator: {name!r} needs the shape {usual.shape}.")
    elif isinstance(usual, int):
        most = _LARGEST.get(name, 2**128)
        if type(state) is not int or not 0 <= state <= most:
            raise ValueError(f"random generator: expected 0 to {most} as {name!r}, got {state!r}.")


def _generator(kind: str, state: Any) -> Any:
    """Return a new random generator of the class `kind`, with this state."""
    made: Any
    if kind == "Generator" and state["bit_generator"] in _BIT_GENERATORS:
        made = np.random.Generator(getattr(np.random, state["bit_generator"])())
    elif kind == "RandomState" and state["bit_generator"] in _BIT_GENERATORS:
        made = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    elif kind == "Random":
        made = random.Random()
    else:
        raise ConfigError(f"plain data: there is no {kind!r}.")
    set_state_of_generator(made, state)
    return made
