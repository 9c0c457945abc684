"""Threads: who may read and who may write variables, and when.

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
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

MOST_WRITERS = 64  # that are remembered at the same time

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
    is_in_place : bool
        Whether the thread that holds `steps` is going to write into the arrays of variables.
    writes : int
        How often variables were written.
    undisturbed : dict of object to set of int
        Calls that are under way and going to write, each with the variables that it needs. Who
        writes one of these takes the call out: only the handler of a signal, or an op, can.
    """

    def __init__(self) -> None:
        self.writes = 0
        self.is_in_place = False
        self.undisturbed: dict[object, frozenset[int]] = {}
        self._last: dict[frozenset[int], int] = {}  # when which variables were written
        self._forgotten = 0  # who has looked before that is told that something has changed
        self._renew()

    def _renew(self) -> None:
        self.steps: Any = threading.RLock()
        self.writing: Any = threading.RLock()

    def note(self, ids: frozenset[int], own: object = None) -> None:
        """Note that variables are going to be written, by a call or not; `writing` is held."""
        if len(self.undisturbed) != 1 or own not in self.undisturbed:
            for call, needed in list(self.undisturbed.items()):
                if call is not own and not needed.isdisjoint(ids):
                    self.undisturbed.pop(call, None)
        number = self.writes = self.writes + 1
        if len(self._last) > MOST_WRITERS:
            self._last.clear()
            self._forgotten = number
        self._last[ids] = number

    def has_changed(self, ids: set[int], since: int) -> bool:
        """Tell whether one of these variables was written since a count.

        By another thread, or by this one: by the handler of a signal, or by an op.
        """
        with self.writing:
            return since < self._forgotten or any(
                number > since and not ids.isdisjoint(written)
                for written, number in self._last.items()
            )

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
            self.is_in_place = False
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
