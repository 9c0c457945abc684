"""What belongs together changes together, or not at all: for other threads, and for interrupts.

A step computes new values from old ones. So from its first look at a variable until all is written
it holds one lock, `LOCKS.steps`; all variables have the same one, for two models may share some of
them, as those of a GAN do, and one lock cannot be waited for crosswise. Who only reads, such as
`predict`, does not wait for it: it looks whether its variables were written meanwhile, and if so
computes once more, on copies that belong to one step. Only the writing itself, a single call into
C, keeps everybody out: `LOCKS.writing`.

Both are locks of C that the same thread may enter again. Always enter them by `with`: between the
entering and the block no interrupt can come, so no lock stays locked. Nothing holds one while a
stage waits for who walks through it: a call that is stepped through reads its variables at once,
and writes at once; of two that overlap, the last one counts, as a whole.

Ctrl-C, any other signal's handler and an exception that another thread raises here all come between
two steps of Python's own machine, never inside a call of C. So the writes that belong together are
prepared one by one, as calls that run no Python code, and then made by a single call into C
(`at_once`). What is raised before it finds nothing written, what is raised after it finds all.

A signal handler may raise, note something, read and save at any moment: it sees all variables of
one step. What it sets or trains in the middle of a step is not ordered with that step.
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


MOST_WRITERS = 512  # that are remembered at the same time

# `(taken,) = map(lock.acquire, WITHOUT_WAITING)` in a `try` takes a lock if it is free, and notes
# whether it did, with no call in between; so `finally` knows what to release, whatever interrupts.
WITHOUT_WAITING = (False,)


class Locks:
    """The locks that all variables share.

    Attributes
    ----------
    steps : RLock
        Of whoever computes new values from old ones, and of whoever borrows an array.
    writing : RLock
        Of whoever writes, and of whoever copies.
    writes : int
        How often variables were written.
    moves : int
        How often an array of a variable was replaced or lent: a program that saw another count
        looks where its variables lie.
    calls : int
        How many calls that will write in place are under way, in the thread that holds `steps`.
    """

    def __init__(self) -> None:
        self.writes = 0
        self.moves = 0
        self.calls = 0
        self._last: dict[frozenset[int], int] = {}  # when which variables were written
        self._forgotten = 0  # who has looked before that is told that something has changed
        self._renew()

    def _renew(self) -> None:
        self.steps: Any = threading.RLock()
        self.writing: Any = threading.RLock()

    def note(self, ids: frozenset[int]) -> None:
        """Note that variables are going to be written; `writing` is held."""
        number = self.writes = self.writes + 1
        if len(self._last) > MOST_WRITERS:
            self._forget_half()
        self._last[ids] = number

    def _forget_half(self) -> None:
        """Forget the writers that have not written for longest."""
        by_time = sorted(self._last.items(), key=itemgetter(1))
        older, newer = by_time[: len(by_time) // 2], by_time[len(by_time) // 2 :]
        self._last, self._forgotten = dict(newer), older[-1][1]

    def has_changed(self, ids: set[int], since: int) -> bool:
        """Tell whether one of these variables was written since a count.

        By another thread, or by this one: by the handler of a signal, or by an op.
        """
        return bool(self.changed(ids, since))

    def changed(self, ids: Iterable[int], since: int) -> set[int]:
        """Return which of these variables were written since a count; all if that is forgotten."""
        with self.writing:
            if since < self._forgotten:
                return set(ids)
            written = (own for own, number in self._last.items() if number > since)
            return set().union(*written).intersection(ids)

    # --- a process that is forked -----------------------------------------------------------------

    def before_fork(self) -> None:
        """Let nobody be writing while the process is copied."""
        self.writing.acquire()

    def after_fork(self) -> None:
        """Go on, in the process that was copied."""
        self.writing.release()

    def after_fork_in_child(self) -> None:
        """Make new locks: who holds the old ones may be a thread that is not there any more."""
        if not self.steps.acquire(blocking=False):
            self.calls = 0
        self._renew()
        for owner in list(_owners):
            owner.lock = threading.Lock()


class Owned:
    """Something that one call at a time may use; `lock` tells whether it is in use."""

    lock: Any

    def __init__(self) -> None:
        self.lock = threading.Lock()
        _owners.add(self)


_owners: WeakSet[Owned] = WeakSet()
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
    """What is asked of a variable that is to be written or lent."""

    @property
    def room(self) -> np.ndarray:
        """The array itself."""

    @property
    def is_lent(self) -> bool:
        """Whether somebody else may hold the array."""

    def _checked(self, value: Any) -> np.ndarray:
        """Return a value as an array that fits, or raise."""

    def _calls_to_set(self, array: np.ndarray) -> list[Call]:
        """Return the calls by which an array's numbers become those of the variable."""

    def _calls_to_have(self, array: np.ndarray, *, is_shared: bool) -> list[Call]:
        """Return the calls by which the array itself becomes that of the variable."""


def at_once(calls: Iterable[Call]) -> None:
    """Make calls one after the other, with nothing in between.

    Parameters
    ----------
    calls : iterable of callable
        Each runs no Python code: `functools.partial` of a ufunc, `setattr`, `operator.setitem`.
        The iterable too: a list, or what `itertools` makes of lists.

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
    """Make the calls that write variables, whose ids are given, while no other thread looks."""
    with LOCKS.writing:
        LOCKS.note(ids)
        at_once(calls)


def set_values(pairs: Iterable[tuple[Writable, Any]]) -> None:
    """Give variables new numbers: all of them, or none if a value does not fit.

    Parameters
    ----------
    pairs : iterable of (Variable, array_like)
        If a variable comes twice, its last value counts.
    """
    checked = [(variable, variable._checked(value)) for variable, value in pairs]
    ids = frozenset(id(variable) for variable, _ in checked)
    with LOCKS.steps:
        LOCKS.calls += 1  # whoever borrows meanwhile gets a copy
        try:
            write([one for v, array in checked for one in v._calls_to_set(array)], ids)
        finally:
            LOCKS.calls -= 1


def lend(variable: Writable) -> np.ndarray:
    """Return the array of a variable, which nobody writes from then on; `LOCKS.steps` is held."""
    array = variable.room
    if not variable.is_lent:
        LOCKS.moves += 1
        array.flags.writeable = False
    # The handler of a signal may have given the variable another array meanwhile.
    return array if variable.room is array else lend(variable)


def move(variable: Writable, room: np.ndarray) -> None:
    """Let the numbers of a variable lie in another array; `LOCKS.steps` is held."""
    room[...] = variable.room
    at_once(variable._calls_to_have(room, is_shared=False))


def reset_together(things: Iterable[Any], *methods: str) -> None:
    """Reset several things that keep a state, all of them at once.

    One says by `_resets()` which variable becomes what, or by `_resets_inside()` what there is to
    reset inside of it. Where a subclass writes one of the methods anew, that is called instead.

    Parameters
    ----------
    things : iterable
    *methods : str
        The names of the method that resets; the first is called.
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


def take_over(pairs: Iterable[tuple[Writable, np.ndarray]]) -> None:
    """Let arrays of the right shapes and types be those of variables: all of them at once."""
    pairs = [(variable, np.require(array, requirements="C")) for variable, array in pairs]
    with LOCKS.steps:
        calls = [one for v, array in pairs for one in v._calls_to_have(array, is_shared=True)]
        write(calls, frozenset(id(variable) for variable, _ in pairs))
