"""Atomic writes: variables that change together change all at once, or not at all.

This holds for other threads and for interrupts. A training step computes new values from old ones,
so it holds one lock, `LOCKS.steps`, from its first read of a variable until all writes are done.
All variables share this lock: two models may have variables in common, as those of a GAN do, and a
single lock cannot deadlock. Readers such as `predict` do not take the lock. They check afterwards
whether a variable changed, and recompute from copies if one did. Only the write itself, a single
call into C, excludes all other threads: `LOCKS.writing`.

Both are reentrant locks that are written in C. Always enter them by `with`: no interrupt can come
between the lock and the block, so no lock stays locked. No lock is held while a stage is paused: a
call that is stepped through reads its variables at one moment and writes them at one moment. If two
such calls overlap, the later write replaces the other, as a whole.

Ctrl-C, other signal handlers and exceptions raised from another thread arrive between two bytecode
instructions, never inside a call into C. So the writes that belong together are prepared one by
one, as calls that run no Python code, and then made by a single call into C (`at_once`). An
exception before that call leaves all old values, an exception after it leaves all new ones.

A signal handler may raise, record, read and save at any moment: it sees all variables of one step.
What it sets or trains in the middle of a step is not ordered with that step.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import call, itemgetter
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np

# --- threads: who may read and who may write variables, and when ----------------------------------


MOST_WRITERS = 512  # sets of variables whose last write is remembered

# In a `try`, `(taken,) = map(lock.acquire, WITHOUT_WAITING)` takes a lock if it is free and stores
# whether it did, with no call in between. So `finally` knows what to release after any interrupt.
WITHOUT_WAITING = (False,)


class Locks:
    """The locks that all variables share.

    Attributes
    ----------
    steps : RLock
        Held while new values are computed from old ones, and while `lend` makes an array
        read-only.
    writing : RLock
        Held while variables are written or copied.
    writes : int
        How often variables were written.
    moves : object
        A new object each time a variable gets another array, or lends its array to a caller
        (`lend`). When it has changed, a program looks up the arrays of its variables again.
    calls : int
        How many calls that write in place are running, in the thread that holds `steps`.
    """

    def __init__(self) -> None:
        self.writes = 0
        self.moves: object = object()
        self.calls = 0
        self._last: dict[frozenset[int], int] = {}  # variables written together: when
        self._forgotten = 0  # writes up to this count are no longer stored one by one
        self._renew()

    def _renew(self) -> None:
        self.steps: Any = threading.RLock()
        self.writing: Any = threading.RLock()

    def note(self, ids: frozenset[int]) -> None:
        """Record that variables with these ids will be written. `LOCKS.writing` must be held."""
        number = self.writes = self.writes + 1
        if len(self._last) > MOST_WRITERS:
            self._forget_half()
        self._last[ids] = number

    def _forget_half(self) -> None:
        """Delete the records of the older half of the writes, to limit memory."""
        by_time = sorted(self._last.items(), key=itemgetter(1))
        older, newer = by_time[: len(by_time) // 2], by_time[len(by_time) // 2 :]
        self._last, self._forgotten = dict(newer), older[-1][1]

    def has_changed(self, ids: set[int], since: int) -> bool:
        """Return whether any of these variables was written since `LOCKS.writes` was `since`.

        Writes by the current thread count too, because a signal handler or an op may write.
        """
        return bool(self.changed(ids, since))

    def changed(self, ids: Iterable[int], since: int) -> set[int]:
        """Return those of `ids` whose variables were written since `LOCKS.writes` was `since`.

        If `since` is older than the recorded writes, return all ids.
        """
        with self.writing:
            if since < self._forgotten:
                return set(ids)
            written = (own for own, number in self._last.items() if number > since)
            return set().union(*written).intersection(ids)

    # --- a process that is forked -----------------------------------------------------------------

    def before_fork(self) -> None:
        """Before the process forks, wait until no thread is writing variables."""
        self.writing.acquire()

    def after_fork(self) -> None:
        """After the fork, release the lock that `before_fork` took, in the parent process."""
        self.writing.release()

    def after_fork_in_child(self) -> None:
        """After the fork, make new locks in the child, which lacks the threads that held them."""
        if not self.steps.acquire(blocking=False):
            self.calls = 0
        self._renew()
        for one in list(_exclusives):
            one.lock = threading.Lock()


class Exclusive:
    """Base class of objects that one call at a time may use; the call must hold their `lock`."""

    lock: Any

    def __init__(self) -> None:
        self.lock = threading.Lock()
        _exclusives.add(self)


_exclusives: WeakSet[Exclusive] = WeakSet()
LOCKS = Locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LOCKS.before_fork,
        after_in_parent=LOCKS.after_fork,
        after_in_child=LOCKS.after_fork_in_child,
    )


# --- many writes as one ---------------------------------------------------------------------------


Call = Callable[[], object]

_take_all: Callable[[Iterable[object]], None] = deque[object](maxlen=0).extend


class Writable(Protocol):
    """The interface of a variable that can be written, and can lend its array to a caller."""

    @property
    def room(self) -> np.ndarray:
        """The array of the variable."""

    @property
    def is_lent(self) -> bool:
        """Whether callers or observers may hold the variable's array."""

    def _checked(self, value: Any) -> np.ndarray:
        """Return a value as an array of the variable's shape and dtype, or raise ShapeError."""

    def _calls_to_set(self, array: np.ndarray) -> list[Call]:
        """Return the calls, to be made by `at_once`, that copy an array into the variable."""

    def _calls_to_have(self, array: np.ndarray, *, is_shared: bool) -> list[Call]:
        """Return the calls, to be made by `at_once`, that make `array` the variable's own array."""


def at_once(calls: Iterable[Call]) -> None:
    """Make calls one after the other, without an interrupt or another thread between them.

    Parameters
    ----------
    calls : iterable of callable
        Each runs no Python code: `functools.partial` of a ufunc, `setattr`, `operator.setitem`.
        The iterable runs none either: use a list, or lists joined by `itertools`.

    Examples
    --------
    >>> from functools import partial
    >>> x, y = np.zeros(2), np.ones(2)
    >>> at_once([partial(np.add, x, y, x), partial(np.add, x, y, x)])
    >>> x.tolist()
    [2.0, 2.0]
    """
    _take_all(map(call, calls))


def write(calls: Iterable[Call], ids: frozenset[int]) -> None:
    """Execute `calls`, which write the variables with these ids; other threads are excluded."""
    with LOCKS.writing:
        LOCKS.note(ids)
        at_once(calls)


def set_values(pairs: Iterable[tuple[Writable, Any]]) -> None:
    """Write new values into variables: into all of them, or into none if a value does not fit.

    Parameters
    ----------
    pairs : iterable of (Variable, array_like)
        If a variable is given twice, its last value counts.
    """
    checked = [(variable, variable._checked(value)) for variable, value in pairs]
    ids = frozenset(id(variable) for variable, _ in checked)
    with LOCKS.steps:
        LOCKS.calls += 1  # borrowers get a copy meanwhile
        try:
            write([one for v, array in checked for one in v._calls_to_set(array)], ids)
        finally:
            LOCKS.calls -= 1


def lend(variable: Writable) -> np.ndarray:
    """Make the array of a variable read-only and return it. `LOCKS.steps` must be held."""
    array = variable.room
    if not variable.is_lent:
        LOCKS.moves = object()
        array.flags.writeable = False
    # The handler of a signal may have given the variable another array meanwhile.
    return array if variable.room is array else lend(variable)


def move(variable: Writable, room: np.ndarray) -> None:
    """Copy the value of a variable to another array, and make that array the variable's own.

    `LOCKS.steps` must be held.
    """
    room[...] = variable.room
    at_once(variable._calls_to_have(room, is_shared=False))


def reset_together(things: Iterable[Any], *methods: str) -> None:
    """Reset several objects that have a state, such as metrics, all of them at once.

    Each object has a method `_resets`, which returns (variable, value) pairs, or a method
    `_resets_inside`, which returns other objects to reset. If a subclass has overridden one of the
    public `methods`, the first of `methods` is called instead.

    Parameters
    ----------
    things : iterable
        The objects to reset.
    *methods : str
        The names of the reset method in the different versions of Keras.
    """
    set_values(list(_resets_of(things, methods)))


def _resets_of(
    things: Iterable[Any], methods: tuple[str, ...]
) -> Iterator[tuple[Writable, np.ndarray]]:
    wanted = ("_resets", "_resets_inside", *methods)
    for thing in things:
        said = next(name for kind in type(thing).__mro__ for name in wanted if name in vars(kind))
        if said == "_resets":
            yield from thing._resets()
        elif said == "_resets_inside":
            yield from _resets_of(thing._resets_inside(), methods)
        else:
            getattr(thing, methods[0])()


def replace_arrays(pairs: Iterable[tuple[Writable, np.ndarray]]) -> None:
    """Replace the arrays of variables, all at once, by arrays of the same shapes and dtypes."""
    pairs = [(variable, np.require(array, requirements="C")) for variable, array in pairs]
    with LOCKS.steps:
        calls = [one for v, array in pairs for one in v._calls_to_have(array, is_shared=True)]
        write(calls, frozenset(id(variable) for variable, _ in pairs))
