"""Timelines: the histories of one session, when its past was changed.

`set` in the past does not rewrite history: it forks a new timeline, and the old one is kept. Here
is the bookkeeping; who runs the model again is the debugger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.tape_store import Difference, Tape


class Override(NamedTuple):
    """A name that was given another value: when, which, what, and the text of the command."""

    t: int
    name: str
    value: Any
    text: str = ""


@dataclass(frozen=True, eq=False)
class Timeline:
    """One history.

    Attributes
    ----------
    number : int
        From 1; the first is what really happened.
    tape : Tape
    parent : Timeline or None
        From which it was forked.
    forked_at : int or None
        The first time that is its own; what lies before it is its parent's.
    overrides : tuple of Override
        What was changed, its parents' changes before `forked_at` among them.
    """

    number: int
    tape: Tape
    parent: Timeline | None = None
    forked_at: int | None = None
    overrides: tuple[Override, ...] = ()


class TimelineRow(NamedTuple):
    """One row of the table of timelines."""

    number: int
    is_current: bool
    parent: int | None
    forked_at: int | None
    overrides: tuple[str, ...]
    events: int


class Timelines:
    """All timelines of a session, and which one the debugger is on.

    Parameters
    ----------
    tape : Tape
        Of the first timeline.

    Attributes
    ----------
    current : Timeline

    Examples
    --------
    >>> timelines = Timelines(Tape())
    >>> timelines.fork(0, [Override(0, "dense_2/out", 0.0)], Tape()).number
    2
    >>> timelines.switch(1).number, len(timelines)
    (1, 2)
    """

    def __init__(self, tape: Tape) -> None:
        self._timelines = [Timeline(1, tape)]
        self.current = self._timelines[0]

    def __iter__(self) -> Iterator[Timeline]:
        return iter(self._timelines)

    def __len__(self) -> int:
        return len(self._timelines)

    def get(self, number: int, where: str = "timeline") -> Timeline:
        """Return a timeline by its number.

        Raises
        ------
        ArgumentError
            There is none of this number.
        """
        if not 1 <= number <= len(self):
            there = "there is only 1" if len(self) == 1 else f"there are 1 to {len(self)}"
            raise ArgumentError(f"{where}: no timeline {number}; {there}. `set` makes a new one.")
        return self._timelines[number - 1]

    def fork(
        self, t: int, overrides: list[Override] | tuple[Override, ...], tape: Tape
    ) -> Timeline:
        """Leave the current timeline at a time, and be on the new one.

        Parameters
        ----------
        t : int
            The first time of its own.
        overrides : sequence of Override
            What is changed; none is allowed, and gives the same history again.
        tape : Tape
            Where the new history is written, the past that both share at its beginning.

        Raises
        ------
        ArgumentError
            The current timeline has no such time.
        """
        parent = self.current
        last = len(parent.tape)
        if not 0 <= t <= last:
            raise ArgumentError(f"set: timeline {parent.number} has no t={t}; it ends at {last}.")
        inherited = tuple(override for override in parent.overrides if override.t < t)
        made = Timeline(len(self) + 1, tape, parent, t, (*inherited, *overrides))
        self._timelines.append(made)
        self.current = made
        return made

    def complete(self, tape: Tape) -> Timeline:
        """Give the current timeline a tape on which it goes on as if nothing had been changed."""
        made = replace(self.current, tape=tape)
        self._timelines[made.number - 1] = self.current = made
        return made

    def switch(self, number: int) -> Timeline:
        """Be on another timeline."""
        self.current = self.get(number)
        return self.current

    def rows(self) -> list[TimelineRow]:
        """Return the table of timelines."""
        return [
            TimelineRow(
                timeline.number,
                timeline is self.current,
                timeline.parent.number if timeline.parent else None,
                timeline.forked_at,
                tuple(o.text or o.name for o in timeline.overrides),
                len(timeline.tape),
            )
            for timeline in self
        ]

    def difference(self, one: int, other: int) -> TimelineDifference:
        """Compare two timelines."""
        first, second = self.get(one, "diff"), self.get(other, "diff")
        found = first.tape.diff(second.tape)
        return TimelineDifference(one, other, found)


class TimelineDifference(NamedTuple):
    """How a timeline differs from another: what `diff 1 2` shows.

    Attributes
    ----------
    one, other : int
        Their numbers.
    found : Difference
    """

    one: int
    other: int
    found: Difference

    @property
    def ops(self) -> tuple[int, int]:
        """How many ops differ, of how many."""
        return self.found.counts.get("op", (0, 0))

    def __bool__(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        if not self:
            return f"timelines {self.one} and {self.other} are the same"
        differ, of_all = self.ops
        words = [f"first difference {self.found.name} t={self.found.t}"]
        words.append(f"{differ} of {of_all} ops differ")
        words += [f"{name} {_text(a)} -> {_text(b)}" for name, (a, b) in self.found.last.items()]
        return "; ".join(words)


def _text(value: Any) -> str:
    """Return a number with four digits, anything else as it shows itself."""
    if isinstance(value, int | float | np.number | np.ndarray) and np.size(value) == 1:
        return f"{float(np.asarray(value).item()):.4f}"
    return repr(value)
