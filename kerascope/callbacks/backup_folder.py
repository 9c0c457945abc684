"""The folder of a backup: one file, which is complete or absent, and a lock.

The file contains plain data: numbers, texts, arrays, random generators, and containers of them.
They are written as JSON, with the arrays beside it. There is no pickle in it, so reading a file
never runs code that the file chooses.
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


class Found(NamedTuple):
    """A backup that was read: its file and its state."""

    path: Path
    state: Any


class BackupFolder:
    """The folder with the backup of one run.

    Parameters
    ----------
    path : path
    keeps_previous : bool
        Keep the previous file as well.
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
        """The number of runs of this process that finished with this folder."""
        return _finished.get(self._key, 0)

    def count_finished(self) -> None:
        """Count a finished run."""
        _finished[self._key] = self.finished + 1

    @property
    def _key(self) -> str:
        return str(self.path.resolve())

    # --- the lock ---------------------------------------------------------------------------------

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make and lock the folder; no other run may use it inside the `with` block.

        Raises
        ------
        UnavailableError
            Another run has locked it, or it cannot be made.
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
        """Return the open lock file, locked by this process."""
        while True:
            number = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _try_lock(number):
                    raise self._is_held("another process")
                with suppress(FileNotFoundError):  # the previous run may have removed it
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
        """Write a backup. Whatever happens, a complete file remains: the old or the new one.

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
        """Make and lock the folder again if it was removed during training."""
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

        If it is damaged, the previous one is returned if it exists, and the damaged file is
        renamed.

        Raises
        ------
        ConfigError
            The backup is damaged, and there is no previous one. The file is not changed.

        Warns
        -----
        KerascopeWarning
            The previous backup is used.
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
        """Remove the backup, and the folder if it is empty then."""
        self._is_deleted = True
        for name in (NAME, PREVIOUS, LOCK):
            with suppress(OSError):  # Windows keeps an open file: the lock
                (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()


def _try_lock(number: int) -> bool:
    """Lock an open file for this process; return False if another process has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            # Not `flock`: a forked child would keep that lock after this process ends.
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
    """Wait until the names in a folder are on disk. Windows does this itself."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


# --- the file -------------------------------------------------------------------------------------


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
        The file is damaged, or is not a backup.
    UnavailableError
        The file cannot be read.
    """
    import zipfile

    damaged = (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError)
    wrong = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
    if path.exists() and not path.is_file():  # opening a pipe would block
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
    """Return the header of a .npy file for such an array."""
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
    """Turn errors about wrong contents inside the `with` block into one that names the file."""
    try:
        yield
    except KerascopeError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise ConfigError(
            f"BackupAndRestore: {str(found.path)!r} holds what no backup has "
            f"({type(error).__name__}: {error}). To begin anew, move it away."
        ) from error


# --- plain data as text and arrays, and back again ------------------------------------------------

DEEPEST = 200  # nested containers; a dict counts twice
_KINDS = "biufcSUmM"  # of arrays that hold no objects
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
_AS_THEY_ARE = (type(None), bool, int, float, str)


def _pairs(value: dict[Any, Any]) -> list[list[Any]]:
    return [list(pair) for pair in value.items()]


# Type -> its name in a file, a function that returns its parts, and one that builds it from them.
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
        The value is not plain data; the message names its type.

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
        raise DtypeError(f"plain data: more than {DEEPEST} containers inside each other.")
    if kind is list:
        return [as_plain(item, arrays, depth + 1) for item in value]
    if kind in _FORMS:
        name, parts, _ = _FORMS[kind]
        return {name: as_plain(parts(value), arrays, depth)}
    return _less_usual(value, arrays, depth)


def _less_usual(value: Any, arrays: list[np.ndarray], depth: int) -> Any:
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
        f"plain data: cannot hold a {type(value).__name__}; expected numbers, texts, arrays, and "
        "lists, tuples, sets or dicts of them.",
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
        raise ConfigError(f"plain data: cannot be read ({error}).") from None


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
            raise ConfigError(f"plain data: no number of the type {dtype}.")
        return np.frombuffer(base64.b64decode(content[1]), dtype, 1)[0]
    if kind == "path":
        return Path(content)
    inner = _read(content, arrays)
    if kind in _MADE_BY_NAME:
        return _MADE_BY_NAME[kind](inner)
    return _generator(kind, inner)


def state_of_generator(value: Any) -> Any:
    """Return the state of a random generator; None for any other value."""
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
        It is the state of another kind of generator.
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
            f"a {type(generator).__name__} cannot take up the state of another kind of generator "
            f"({error})."
        ) from None


def state_of_global_generators() -> dict[str, Any]:
    """Return the states of the global generators of `np.random` and `random`."""
    return {"numpy": np.random.get_state(legacy=False), "python": random.getstate()}  # noqa: NPY002


def set_state_of_global_generators(state: dict[str, Any]) -> None:
    """Set the global generators to states that `state_of_global_generators` returned."""
    np.random.set_state(_checked_state(state["numpy"]))  # noqa: NPY002
    random.setstate(state["python"])


def _checked_state(state: Any) -> Any:
    """Return the state of a NumPy generator, after checks that NumPy does not make."""
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ValueError(f"there is no generator of random numbers {name!r}.")
    _check_like(state, getattr(np.random, name)(0).state, "")
    return state


def _check_like(state: Any, usual: Any, name: str) -> None:
    """Raise ValueError if a part of a state has another type, shape or range than in `usual`."""
    if isinstance(usual, dict):
        for key, value in usual.items():
            _check_like(state[key], value, key)
    elif isinstance(usual, np.ndarray):
        if getattr(state, "shape", None) != usual.shape or state.dtype != usual.dtype:
            raise ValueError(f"the {name!r} of a generator of random numbers has another shape.")
    elif isinstance(usual, int):
        most = _LARGEST.get(name, 2**128)
        if type(state) is not int or not 0 <= state <= most:
            raise ValueError(f"the {name!r} of a generator of random numbers is {state!r}.")


def _generator(kind: str, state: Any) -> Any:
    """Return a new random generator of this kind in this state."""
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
