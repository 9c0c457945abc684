"""A list of events by their time, in which stretches may be forgotten.

A time that lies in a forgotten stretch gives the mark of that stretch (`tape_forgetting.py`), whose
own time is the last one of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.trace.events import FORGOTTEN, Event, first_time
from kerascope.trace.tape_forgetting import forget


class EventList:
    """Events in order.

    Attributes
    ----------
    kept : list of Event
        Those that are there, marks among them.
    lost : int
        How many more times there are than events.
    """

    def __init__(self) -> None:
        self.kept: list[Event] = []
        self.lost = 0
        self._solid_from = 0  # from this time on nothing is lost

    def append(self, event: Event) -> None:
        """Add an event, or the mark of a stretch, at the end."""
        kept = self.kept
        if event.t != len(kept) + self.lost:
            self._check_mark(event)
            self._solid_from, self.lost = event.t, event.t - len(kept)
        kept.append(event)

    def _check_mark(self, event: Event) -> None:
        expected = len(self)
        if event.kind != FORGOTTEN or first_time(event) != expected:
            raise ArgumentError(f"tape: event of t={event.t}; expected t={expected}.")

    def __len__(self) -> int:
        return len(self.kept) + self.lost

    def __iter__(self) -> Iterator[Event]:
        return iter(self.kept)

    def place(self, t: int) -> int:
        """Return the place of a time among what is kept; of a forgotten time that of its mark."""
        return t - self.lost if t >= self._solid_from else bisect_left(self.kept, (t,))

    def __getitem__(self, t: Any) -> Any:
        if t.__class__ is slice:
            return self._between(t)
        if t < 0:
            return self.kept[t]
        return self.kept[t - self.lost if t >= self._solid_from else self.place(t)]

    def _between(self, times: slice) -> list[Event]:
        """Return the events in a span of time; of each stretch that reaches into it the mark."""
        if not self.lost:
            return self.kept[times]
        start, stop, step = times.indices(len(self))
        return self.kept[self.place(start) : self.place(stop)][::step]

    def marks_between(self, first: int, last: int) -> list[int]:
        """Return the places of marks from one place to another, both included."""
        if not self.lost or first > self.place(self._solid_from):
            return []
        return [i for i in range(first, last + 1) if self.kept[i].kind == FORGOTTEN]

    def put(self, event: Event) -> None:
        """Put an event in the place of that of the same time."""
        self.kept[self.place(event.t)] = event

    def forget(self, number: int, is_to_go: Callable[[Event], bool]) -> list[Event]:
        """Put marks in the place of those of the first events that are to go; return the marks."""
        beginning = forget(self.kept[:number], is_to_go)
        marks = [event for event in beginning if event.kind == FORGOTTEN]
        lost = self.lost + min(number, len(self.kept)) - len(beginning)
        solid_from = max([self._solid_from, *(mark.t for mark in marks)])
        # No call comes between these, so no interrupt either: all three change, or none.
        self.lost, self._solid_from, self.kept[:number] = lost, solid_from, beginning
        return marks
