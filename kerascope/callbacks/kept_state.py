"""The state of a callback or a source of batches, as plain data for a backup.

Users write callbacks, Sequences and iterators without thinking of backups. So the state of an
object consists of its attributes that are plain data (`backup_folder.py`). A constructor argument
that training did not change keeps the value that the script sets in the new process.

An object with other state defines `get_state()`, which returns plain data, and `set_state(state)`.
For a callback, this state is stored in addition to its attributes. For a source of batches, it
replaces them.
"""

from __future__ import annotations

import types
import weakref
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.callbacks.backup_folder import as_plain, set_state_of_generator, state_of_generator
from kerascope.configurable import configured_names
from kerascope.errors import ConfigError, DataError, DtypeError, KerascopeError
from kerascope.user_frames import warn

LARGE = 2**20  # bytes; for larger attributes that did not change, only the checksum is stored
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, tuple, np.generic)
_HEAP_TYPE = 1 << 9  # the bit of `type.__flags__` for classes defined by a `class` statement

_WITHOUT_STATE = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type),
    *(np.dtype, np.ufunc),
)


class ObjectState:
    """The state of one object, as it changes during a run.

    Parameters
    ----------
    subject : object
        The object: a callback, or a source of batches such as a Sequence or an iterator.
    where : str
        The name of the object in messages.
    left_out : iterable of str
        Attributes that are stored elsewhere.
    is_source : bool
        Whether the object produces batches. Then its other attributes must be the same in the
        continued run, and `get_state` returns the whole state.
    """

    def __init__(
        self, subject: Any, where: str, left_out: Iterable[str] = (), is_source: bool = False
    ) -> None:
        self.subject = subject
        self.where = where
        self.is_source = is_source
        self._left_out = frozenset(left_out)
        self._warned: set[str] = set()
        self._parameters = frozenset(configured_names(type(subject)))
        self._by_attributes = not (is_source and keeps_state(subject))
        self._first = {**self._named(), **self._arguments_at_first()}
        self._first_sums = {name: checksum(value) for name, value in self._first.items()}

    def _arguments_at_first(self) -> dict[str, Any]:
        """Return the object's constructor arguments, except mutable ones.

        They have the values of the object's first run in this process.
        """
        now = {k: v for k, v in self._named().items() if self._is_configuration(k, v)}
        key = id(self.subject)
        if key not in _arguments_of:
            try:
                weakref.finalize(self.subject, _arguments_of.pop, key, None).atexit = False
            except TypeError:  # an object without weak references
                return now
            _arguments_of[key] = now
        return _arguments_of[key]

    # --- reading the state ------------------------------------------------------------------------

    def take(self) -> dict[str, Any]:
        """Return the object's state as plain data, for a backup."""
        values: dict[str, Any] = {}
        unchanged: dict[str, Any] = {}
        for name, value in self._named().items():
            total = checksum(value)
            if total is None:
                self._warn_of(name, value)
            elif self._is_text_argument(name, value):
                unchanged[name] = None
                if total != self._first_sums.get(name):
                    self._warn_of(name, value)
            elif total != self._first_sums.get(name):
                values[name] = value
            elif self._is_configuration(name, value):
                unchanged[name] = value if _is_number(value) else None
            elif total[0] > LARGE:
                unchanged[name] = total
            else:
                values[name] = value
        state = {"values": values, "unchanged": unchanged}
        if keeps_state(self.subject):
            state["own"] = self._own_state()
        return state

    def _named(self) -> dict[str, Any]:
        if not self._by_attributes:
            return {}
        attributes = attributes_of(self.subject).items()
        return {name: value for name, value in attributes if name not in self._left_out}

    def _own_state(self) -> Any:
        state = self.subject.get_state()
        if checksum(state) is None:
            raise DtypeError(
                f"{self.where}: get_state() must return plain data: numbers, texts, arrays, and "
                "lists, tuples or dicts of them.",
                subject=self.subject,
            )
        return state

    def _is_configuration(self, name: str, value: Any) -> bool:
        """Return whether an attribute is a constructor argument with an immutable value."""
        return name in self._parameters and isinstance(value, _IMMUTABLE)

    def _is_text_argument(self, name: str, value: Any) -> bool:
        """Return whether an attribute is a constructor argument that is a text or a path."""
        return name in self._parameters and isinstance(value, (str, bytes, Path))

    def _warn_of(self, name: str, value: Any) -> None:
        """Warn once that an attribute is not in the backup, unless its value needs no backup."""
        is_known = name in self._first and self._first[name] is value
        if name in self._warned or (is_known and (self.is_source or _has_no_state(value))):
            return
        if keeps_state(self.subject) or _has_no_state(value):
            return
        self._warned.add(name)
        warn(
            f"BackupAndRestore: {self.where}: its attribute {name!r} is a {type(value).__name__}, "
            "which is not in the backup, so a continued run starts with a new one. If it has a "
            f"state, give {type(self.subject).__name__} the methods get_state() and "
            "set_state(state)."
        )

    # --- restoring the state ----------------------------------------------------------------------

    def check(self, state: Any) -> None:
        """Raise ConfigError if a Sequence or iterator differs from that of the backed-up run."""
        if not self.is_source:
            return
        for name, was in state["unchanged"].items():
            value = self._first.get(name)
            if isinstance(was, list | tuple):
                if checksum(self._named().get(name)) != tuple(was):
                    raise ConfigError(
                        f"{self.where}: its attribute {name!r} differs from the backed-up run. "
                        "Create it as in that run, in a new process."
                    )
            elif was is not None and value != was and not _are_both_nan(value, was):
                raise ConfigError(
                    f"{self.where}: expected {name}={was!r} as in the backed-up run, got {value!r}."
                )

    def restore(self, state: Any) -> None:
        """Restore the state of the object.

        Raises
        ------
        ConfigError
            The object's `set_state` failed.
        """
        for name, value in state["values"].items():
            current = getattr(self.subject, name, None)
            if callable(current) or name.startswith("__") or name in self._left_out:
                raise ConfigError(f"{self.where}: a backup must not set the attribute {name!r}.")
            if self._is_text_argument(name, current):
                continue
            if type(current) is type(value) and state_of_generator(value) is not None:
                set_state_of_generator(current, state_of_generator(value))
            else:
                setattr(self.subject, name, value)
        for name in state["unchanged"]:  # an earlier run in this process may have changed it
            if name in self._first and self._is_configuration(name, self._first[name]):
                setattr(self.subject, name, self._first[name])
        if "own" not in state:
            return
        try:
            self.subject.set_state(state["own"])
        except KerascopeError:
            raise
        except Exception as error:
            raise ConfigError(
                f"{self.where}: set_state failed: {type(error).__name__}: {error}. Its argument "
                "must be a result of get_state."
            ) from error


def keeps_state(subject: Any) -> bool:
    """Return whether an object has both `get_state` and `set_state`.

    Examples
    --------
    >>> from kerascope.callbacks import CSVLogger, EarlyStopping
    >>> keeps_state(CSVLogger("log.csv")), keeps_state(EarlyStopping())
    (True, False)
    """
    return callable(getattr(subject, "get_state", None)) and callable(
        getattr(subject, "set_state", None)
    )


def attributes_of(subject: Any) -> dict[str, Any]:
    """Return the attributes of an object by name, including those in `__slots__`."""
    slots = [getattr(cls, "__slots__", ()) for cls in type(subject).__mro__]
    names = [name for slot in slots for name in ([slot] if isinstance(slot, str) else slot)]
    found = {name: getattr(subject, name) for name in names if hasattr(subject, name)}
    found.pop("__dict__", None)
    found.pop("__weakref__", None)
    return {**found, **getattr(subject, "__dict__", {})}


def checksum(value: Any) -> tuple[int, int] | None:
    """Return the size and the checksum of plain data, or None for other data.

    Examples
    --------
    >>> checksum([1, 2]) == checksum([1, 2]), checksum([1, 2]) == checksum([2, 1])
    (True, False)
    >>> checksum(object()) is None
    True
    """
    arrays: list[np.ndarray] = []
    try:
        text = repr(as_plain(value, arrays)).encode("utf-8", "surrogatepass")
    except DtypeError:
        return None
    size, total = len(text), zlib.crc32(text)
    for array in arrays:
        total = zlib.crc32(repr((array.dtype.str, array.shape)).encode(), total)
        total = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, total)
        size += array.nbytes
    return size, total


def is_in_its_attributes(subject: Any) -> bool:
    """Return whether the whole state of an object is in attributes with plain data.

    Examples
    --------
    >>> class Counter:
    ...     def __init__(self):
    ...         self.number = 0
    >>> is_in_its_attributes(Counter()), is_in_its_attributes(iter([1, 2]))
    (True, False)
    """
    is_written_in_python = bool(type(subject).__flags__ & _HEAP_TYPE)
    return is_written_in_python and all(
        isinstance(value, _WITHOUT_STATE) or checksum(value) is not None
        for value in attributes_of(subject).values()
    )


def _has_no_state(value: Any) -> bool:
    """Return whether an object needs no backup, because a new process creates an equal object."""
    if isinstance(value, _WITHOUT_STATE):
        return True
    is_ours = type(value).__module__.startswith("kerascope.")
    return is_ours and not hasattr(value, "get_weights") and not hasattr(value, "set_value")


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def _are_both_nan(first: Any, second: Any) -> bool:
    return _is_number(first) and _is_number(second) and first != first and second != second


_arguments_of: dict[int, dict[str, Any]] = {}  # id of an object in a run -> its arguments


# --- feeds ----------------------------------------------------------------------------------------
# A backup contains the place of each feed of `fit` (`engine/feeds.py`). The next process has the
# arrays again. The state of a Sequence or an iterator is in the backup.


class FeedStates:
    """The positions of a run's feeds in their data, with the states of Sequences and iterators.

    Parameters
    ----------
    feeds : dict of str to feed
        The feeds "training" and "validation".
    read_forward : bool
        Whether an iterator whose position is unknown may be read from its beginning up to the
        position in the backup.

    Raises
    ------
    DataError
        The position of a feed cannot be restored.
    """

    def __init__(self, feeds: dict[str, Any], read_forward: bool) -> None:
        self.feeds = feeds
        self._read_forward = {
            name for name, feed in feeds.items() if read_forward and not _is_known(feed)
        }
        for name, feed in feeds.items():
            if name not in self._read_forward:
                _check_source(name, feed)
        self._sources = {
            name: ObjectState(feed.source, f"the {name} data", is_source=True)
            for name, feed in feeds.items()
            if hasattr(feed, "source") and name not in self._read_forward
        }
        self._noted: dict[str, Any] = {}
        self._has_warned = False

    # --- backups ----------------------------------------------------------------------------------

    def note(self) -> None:
        """Store checksums of the Sequences before workers prefetch batches."""
        self._noted = {
            name: checksum(kept.take())
            for name, kept in self._sources.items()
            if self.feeds[name].has_workers
        }

    def is_known(self) -> bool:
        """Return whether a backup can be written within an epoch. Otherwise warn once.

        Warns
        -----
        KerascopeWarning
            Workers, which prefetch batches, changed a Sequence.
        """
        changed = [
            name
            for name, total in self._noted.items()
            if checksum(self._sources[name].take()) != total
        ]
        if changed and not self._has_warned:
            self._has_warned = True
            name = changed[0]
            warn(
                f"BackupAndRestore: the {name} data: producing a batch changes the "
                f"{type(self._sources[name].subject).__name__}, and workers are ahead of the "
                "training, so its state at this batch is unknown. Backups are written at the ends "
                "of epochs instead. For backups within an epoch, give fit workers=0."
            )
        return not changed

    def take(self) -> dict[str, Any]:
        """Return the positions of all feeds and the states of what they read, as plain data."""
        return {
            name: {
                "place": feed.place(),
                "source": self._sources[name].take() if name in self._sources else None,
            }
            for name, feed in self.feeds.items()
        }

    # --- restoring --------------------------------------------------------------------------------

    def check(self, taken: dict[str, Any]) -> None:
        """Raise if positions and states from a backup do not fit these feeds. Nothing is changed.

        Raises
        ------
        ConfigError
            The data differ from those of the backed-up run.
        DataError
            A generator that must be read from its beginning was already used.
        """
        if not all(isinstance(taken[name]["place"], dict) for name in self.feeds):
            raise ConfigError("BackupAndRestore: expected a place for each source of data.")
        for name, kept in self._sources.items():
            kept.check(taken[name]["source"])
        for name in self._read_forward:
            if not self.feeds[name].is_fresh:
                raise DataError(
                    f"BackupAndRestore: the {name} data: expected a new generator, got a used "
                    "generator. Create it again."
                )

    def restore(self, taken: dict[str, Any]) -> None:
        """Restore each feed's position and the state of its source (a generator or a Sequence)."""
        for name, feed in self.feeds.items():
            place = taken[name]["place"]
            if name in self._read_forward:
                feed.read_forward(place)
                continue
            if name in self._sources:
                self._sources[name].restore(taken[name]["source"])
            feed.go_to(place)
        if self._noted:
            self.note()


def _is_known(feed: Any) -> bool:
    """Return whether a feed can continue at its position without reading the earlier batches."""
    if not hasattr(feed, "source") or feed.is_sequence:
        return True
    return not feed.has_workers and (keeps_state(feed.source) or is_in_its_attributes(feed.source))


def _check_source(name: str, feed: Any) -> None:
    """Raise DataError if a feed cannot continue at its position in a new process."""
    if _is_known(feed):
        return
    label = type(feed.source).__name__
    if feed.has_workers:
        raise DataError(
            f"BackupAndRestore: the {name} data: workers prefetch from the {label}, so its place "
            "differs from the place of the training. Give fit workers=0, or a Sequence."
        )
    raise DataError(
        f"BackupAndRestore: the {name} data: the place of a {label} cannot be stored. Use a "
        "Sequence, or give it get_state() and set_state(state). If its batches are equal in each "
        "run, use BackupAndRestore(..., read_forward=True), which reads it up to its place."
    )
