"""The memory of a tape: its size in bytes, and what is removed when the limit is exceeded.

First the arrays of the oldest events are replaced by their statistics. The events themselves, a few
hundred bytes each, may take half of the limit. If they need more, the oldest events are forgotten,
which means that they are removed from the tape.

A mark, an event of kind "forgotten", replaces consecutive forgotten events. The mark has the time
of the last of these events. Its deltas are the time of the first event, the spans that are open
after the last event, and the names in each of these spans. So all other events keep their times,
and the names at later times can still be rebuilt.

Events of building and compiling are forgotten last, because they are few and pictures need them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kerascope.nested_values import replaced
from kerascope.trace.events import BEGIN, FORGOTTEN, INSTANT, SKIPPED, Delta, Event, first_time
from kerascope.trace.statistics import statistics_of
from kerascope.trace.tape_names import Scopes

# --- the budget -----------------------------------------------------------------------------------


# Measured on training loops: the size of an event, of a delta, and of an array's header.
EVENT_BYTES, DELTA_BYTES, ITEM_BYTES, HEAD_BYTES = 240, 180, 64, 112
LEAST_FOR_EVENTS = 4 * 2**20  # bytes of events that are always kept
STARTS = ("function", "update.apply", "weight.create", "weight.set")
LONGER = 4  # how much longer the inputs and variables of a call are kept
_CONTAINERS = (tuple, list, dict)


def bytes_of(event: Event) -> int:
    """Return the approximate size of an event in bytes, without arrays and items of containers."""
    return EVENT_BYTES + DELTA_BYTES * len(event.deltas)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in the value of a delta, also from inside containers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)


class Budget:
    """Counts the bytes of events and arrays. An array in several events counts once.

    Parameters
    ----------
    limit : int or None
        The limit in bytes for events and arrays together; None for unlimited.

    Attributes
    ----------
    bytes : int
        The bytes of array data.
    bytes_of_events, most_for_events : int
        The bytes of the events without their arrays, and the limit for these bytes.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.bytes = self.bytes_of_events = 0
        self.most_for_events = max((limit or 0) // 2, LEAST_FOR_EVENTS)
        self._holders: dict[int, int] = {}  # by array id: the number of deltas with the array
        self._figures: dict[int, Any] = {}  # by array id: statistics that replaced the array
        self._queue: deque[int] = deque()  # times of the events with arrays, the oldest first
        self._starts: deque[int] = deque()  # the same for events that start a call
        self._now = 0

    @property
    def held(self) -> int:
        """The bytes of the events, of their arrays, and of the headers of the arrays."""
        return self.bytes_of_events + self.bytes + HEAD_BYTES * len(self._holders)

    @property
    def has_too_many_events(self) -> bool:
        """Whether the events without their arrays need more than `most_for_events` bytes."""
        return self.limit is not None and self.bytes_of_events > self.most_for_events

    @property
    def has_too_many_arrays(self) -> bool:
        """Whether the arrays need more bytes than the limit leaves after the events."""
        if self.limit is None:
            return False
        arrays = self.bytes + HEAD_BYTES * len(self._holders)
        return arrays > self.limit - min(self.bytes_of_events, self.limit // 2)

    def take(self, events: Iterable[Event]) -> bool:
        """Add the bytes of new events and their arrays; return whether a limit is exceeded."""
        size, holders, sizes = 0, self._holders, self.bytes
        for event in events:
            deltas = event.deltas
            size += EVENT_BYTES + DELTA_BYTES * len(deltas)
            found = False
            for _, _, value in deltas:
                kind = value.__class__
                if kind is tuple or kind is np.ndarray:
                    for item in value if kind is tuple else (value,):
                        if item.__class__ is np.ndarray:
                            found, place = True, id(item)
                            if place in holders:
                                holders[place] += 1
                            else:
                                holders[place] = 1
                                sizes += _size(item)
                        elif item.__class__ in _CONTAINERS:
                            for array in arrays_in(item):
                                found = True
                                sizes += self._hold(array)
                elif kind is dict or kind is list:
                    size += ITEM_BYTES * len(value)
                    for array in arrays_in(value):
                        found = True
                        sizes += self._hold(array)
            if found and event.kind != FORGOTTEN:  # the names in a mark still have arrays
                self._now = event.t
                is_start = event.kind in STARTS and (event.ph == BEGIN or event.kind != "function")
                (self._starts if is_start else self._queue).append(event.t)
        self.bytes, self.bytes_of_events = sizes, self.bytes_of_events + size
        return self.limit is not None and (self.has_too_many_events or self.held > self.limit)

    def let_go(self, event: Event) -> None:
        """Subtract the bytes of an event and its arrays from those of the tape."""
        deltas = event.deltas
        self.bytes_of_events -= EVENT_BYTES + DELTA_BYTES * len(deltas)
        for _, _, value in deltas:
            kind = value.__class__
            if kind is np.ndarray:
                self._release(value)
            elif kind in _CONTAINERS:
                if kind is not tuple:
                    self.bytes_of_events -= ITEM_BYTES * len(value)
                for item in value if kind is tuple else arrays_in(value):
                    if item.__class__ is np.ndarray:
                        self._release(item)
                    elif item.__class__ in _CONTAINERS:
                        for array in arrays_in(item):
                            self._release(array)

    def oldest(self) -> int | None:
        """Return the time of the next event whose arrays are to be replaced; None if there is none.

        Each event is returned once. It is the oldest event with arrays. Only events with the inputs
        and variables at the start of a call are kept longer, so that the arrays of the call can be
        computed again.
        """
        queue, starts = self._queue, self._starts
        if starts and (not queue or self._now - starts[0] > LONGER * (self._now - queue[0])):
            return starts.popleft()
        return queue.popleft() if queue else None

    def forget_times(self, is_gone: Callable[[int], bool]) -> None:
        """Remove the times of forgotten events from the queues of events with arrays."""
        self._queue = deque(t for t in self._queue if not is_gone(t))
        self._starts = deque(t for t in self._starts if not is_gone(t))

    def with_statistics(self, event: Event) -> Event:
        """Return an event with statistics in place of arrays; subtract the bytes from the count."""
        left_of = self._summary_of
        deltas = tuple(
            [Delta(d.name, d.key, replaced(d.value, np.ndarray, left_of)) for d in event.deltas]
        )
        for delta in event.deltas:
            for array in arrays_in(delta.value):
                self._release(array)
        return event._replace(deltas=deltas)

    def _summary_of(self, array: np.ndarray) -> Any:
        """Return the statistics of an array, computed once for all events with this array."""
        place = id(array)
        if place not in self._figures:
            self._figures[place] = _summary_of(array)
        return self._figures[place]

    def _hold(self, array: np.ndarray) -> int:
        """Count one more use of an array. Return its bytes if it is the first use, otherwise 0."""
        holders, place = self._holders, id(array)
        holders[place] = holders.get(place, 0) + 1
        return _size(array) if holders[place] == 1 else 0

    def _release(self, array: np.ndarray) -> None:
        place = id(array)
        number = self._holders[place] - 1
        if number:
            self._holders[place] = number
        else:
            del self._holders[place]
            self._figures.pop(place, None)
            self.bytes -= _size(array)


def _size(array: np.ndarray) -> int:
    """Return the bytes of memory that an array holds. A view holds the memory of its base."""
    base = array.base
    return base.nbytes if isinstance(base, np.ndarray) else array.nbytes


def without_arrays(value: Any) -> Any:
    """Return a delta's value in which statistics replace the arrays."""
    return replaced(value, np.ndarray, _summary_of)


def _summary_of(array: np.ndarray) -> Any:
    """Return the statistics of an array, the number in an array without axes, or a dtype's name.

    The name of the dtype stands for arrays of texts or objects, which have no statistics.
    """
    if not array.ndim:
        return array[()]
    return statistics_of(array) if array.dtype.kind in "fiub" else str(array.dtype)


# --- forgetting -----------------------------------------------------------------------------------


_MADE_IN_ACTS = ("build", "compile")
_MADE_IN_PHASES = ("gradients", "get_updates")


def is_of_a_run(event: Event) -> bool:
    """Return whether an event may be forgotten first.

    Events of building or compiling a model are forgotten later, and marks of calls without events
    are never forgotten.
    """
    is_made = event.act in _MADE_IN_ACTS or event.phase in _MADE_IN_PHASES
    return not is_made and event.kind != SKIPPED


def what_to_forget(events: Sequence[Event], excess: int) -> tuple[int, Callable[[Event], bool]]:
    """Return how many of the first events to examine, and a function that selects those to forget.

    The function selects events that are not of building or compiling a model. If forgetting them
    does not free `excess` bytes, it selects events of any kind.
    """
    for is_to_go in (is_of_a_run, _always):
        missing = excess
        for place, event in enumerate(events):
            if event.kind != FORGOTTEN and is_to_go(event):
                missing -= bytes_of(event)
                if missing <= 0:
                    return place + 1, is_to_go
    return len(events), _always


def _always(event: Event) -> bool:
    return event.kind != SKIPPED  # a mark takes almost no memory


def forget(events: Iterable[Event], is_to_go: Callable[[Event], bool]) -> list[Event]:
    """Return the events, with a mark in place of each series that `is_to_go` selects.

    `events` must begin with the first event of the tape.
    """
    kept: list[Event] = []
    scopes = Scopes()
    first: int | None = None
    last: Event | None = None
    for event in events:
        if event.kind == FORGOTTEN or is_to_go(event):
            first = first_time(event) if first is None else first
            last = event
        else:
            if first is not None and last is not None:
                kept.append(_mark(first, last, scopes))
            first = None
            kept.append(event)
        scopes.feed(event)
    if first is not None and last is not None:
        kept.append(_mark(first, last, scopes))
    return kept


def _mark(first: int, last: Event, scopes: Scopes) -> Event:
    """Return the mark that replaces forgotten events, with the open spans and names after them."""
    spans, names = scopes.contents()
    deltas = (
        Delta("first", None, first),
        Delta("spans", None, spans),
        Delta("scopes", None, names),
    )
    depth, name = len(spans), f"t={first} to {last.t}"
    return Event(
        last.t, last.act, last.phase, FORGOTTEN, INSTANT, depth, "act", name, deltas=deltas
    )


def describe_mark(mark: Event) -> str:
    """Return the error text for a time whose event was dropped from the full history."""
    return (
        f"{mark.name} are forgotten: the history was full. To keep more, begin with "
        "`set history 1GB`"
    )
