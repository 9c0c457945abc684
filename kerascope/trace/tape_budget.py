"""How many bytes the arrays of a tape hold, and what falls to statistics when that is too much."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from kerascope.trace.events import Delta, Event
from kerascope.trace.statistics import statistics_of

_CONTAINERS = (tuple, list, dict)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays that a delta's value holds, alone or in containers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)


class Budget:
    """Counts the bytes of arrays, each array once however many events hold it.

    Parameters
    ----------
    limit : int or None
        Bytes; None is no limit.

    Attributes
    ----------
    bytes : int
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.bytes = 0
        self._holders: dict[int, int] = {}  # id of an array -> how many deltas hold it
        self._queue: deque[int] = deque()  # times of the events that hold arrays

    def take(self, event: Event) -> bool:
        """Count an event's arrays; return whether there are too many bytes now."""
        found = False
        for _, _, value in event.deltas:
            kind = value.__class__
            if kind is np.ndarray:
                found = True
                self._hold(value)
            elif kind is tuple:
                for item in value:
                    if item.__class__ is np.ndarray:
                        found = True
                        self._hold(item)
                    elif item.__class__ in _CONTAINERS:
                        found = self._hold_all(item) or found
            elif kind is dict or kind is list:
                found = self._hold_all(value) or found
        if found:
            self._queue.append(event.t)
        return self.limit is not None and self.bytes > self.limit

    def _hold(self, array: np.ndarray) -> None:
        holders, place = self._holders, id(array)
        if place in holders:
            holders[place] += 1
        else:
            holders[place] = 1
            self.bytes += _size(array)

    def _hold_all(self, container: Any) -> bool:
        arrays = list(arrays_in(container))
        for array in arrays:
            self._hold(array)
        return bool(arrays)

    def oldest(self) -> int | None:
        """Return the time of the oldest event that holds arrays, and forget it."""
        return self._queue.popleft() if self._queue else None

    def fallen(self, event: Event) -> Event:
        """Return the event with statistics in the place of its arrays, and let go of these."""
        for delta in event.deltas:
            for array in arrays_in(delta.value):
                self._release(array)
        deltas = tuple(Delta(d.name, d.key, without_arrays(d.value)) for d in event.deltas)
        return _with_deltas(event, deltas)

    def _release(self, array: np.ndarray) -> None:
        number = self._holders[id(array)] - 1
        if number:
            self._holders[id(array)] = number
        else:
            del self._holders[id(array)]
            self.bytes -= _size(array)


def _size(array: np.ndarray) -> int:
    """Return the bytes that an array keeps alive: a view keeps the whole of what it looks at."""
    base = array.base
    return base.nbytes if isinstance(base, np.ndarray) else array.nbytes


def without_arrays(value: Any) -> Any:
    """Return a delta's value with the statistics of each array in its place."""
    if isinstance(value, np.ndarray):
        if not value.ndim:
            return value[()]
        return statistics_of(value) if value.dtype.kind in "fiub" else str(value.dtype)
    if isinstance(value, dict):
        return {key: without_arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(without_arrays(item) for item in value)
    return value


def _with_deltas(event: Event, deltas: tuple[Delta, ...]) -> Event:
    facts = (event.kind, event.ph, event.depth, event.grain, event.name, event.where)
    return Event(event.t, event.act, event.phase, *facts, deltas)
