"""Repeats: where a sequence says the same thing several times in a row."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

# A block of more parts than this is not looked for: the time grows with it.
LONGEST_PERIOD = 48


class Repeat(NamedTuple):
    """A part of a sequence: `copies` equal pieces of `period` items each, from `start` on."""

    start: int
    period: int
    copies: int

    @property
    def stop(self) -> int:
        """Index behind the last item."""
        return self.start + self.period * self.copies


def repeats(
    tokens: Sequence[int],
    sizes: Sequence[int],
    score: Callable[[int, int], tuple[int, ...]] = lambda start, period: (0,),
    longest: int = LONGEST_PERIOD,
) -> list[Repeat]:
    """Return repeats that do not overlap, those first chosen that hide the most boxes.

    Parameters
    ----------
    tokens : sequence of int
        Items that are equal have equal tokens. A negative one is equal to nothing.
    sizes : sequence of int
        Number of boxes in each item.
    score : callable
        From (start, period) to how well a piece may begin there. Three and a half pieces can begin
        at several places; the best is taken, of equal ones the first.
    longest : int
        Longest period that is looked for.

    Returns
    -------
    list of Repeat
        By their starts.

    Notes
    -----
    `tokens[i] == tokens[i + period]` for a stretch of i is a run of that period. Of runs that hide
    equally many boxes the shortest period wins: AAAA is four A, not two AA. A run that overlaps a
    better one is cut to what is left of it, and waits for its turn again.

    Examples
    --------
    >>> repeats([7, 1, 2, 1, 2, 1, 2, 9, 9], [1] * 9)
    [Repeat(start=1, period=2, copies=3), Repeat(start=7, period=1, copies=2)]
    """
    before = np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).tolist()

    def entry(start: int, stop: int, period: int) -> tuple[int, int, int, int]:
        whole = (stop - start) // period * period
        return before[start] - before[start + whole], period, start, stop

    waiting = [entry(*run) for run in _runs(np.asarray(tokens, dtype=np.int64), longest)]
    heapify(waiting)
    chosen: list[Repeat] = []
    while waiting:
        _, period, start, stop = heappop(waiting)
        free = _free_parts(chosen, start, stop)
        if free == [(start, stop)]:
            insort(chosen, _aligned(start, stop, period, score))
            continue
        for left, right in free:
            if right - left >= 2 * period:
                heappush(waiting, entry(left, right, period))
    return chosen


def _runs(tokens: np.ndarray, longest: int) -> list[tuple[int, int, int]]:
    """Return (start, stop, period) of every stretch that repeats with a period, at least twice."""
    runs = []
    for period in range(1, min(longest, len(tokens) // 2) + 1):
        equal = (tokens[:-period] == tokens[period:]) & (tokens[period:] >= 0)
        turns = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
        starts, stops = turns[::2], turns[1::2]
        long_enough = stops - starts >= period
        for start, stop in zip(starts[long_enough], stops[long_enough], strict=True):
            runs.append((int(start), int(stop) + period, period))
    return runs


def _free_parts(chosen: list[Repeat], start: int, stop: int) -> list[tuple[int, int]]:
    """Return the parts of a stretch that no chosen repeat covers."""
    free = []
    number = max(0, bisect_left(chosen, Repeat(start, 0, 0)) - 1)
    while number < len(chosen) and chosen[number].start < stop:
        if chosen[number].stop > start:
            if chosen[number].start > start:
                free.append((start, chosen[number].start))
            start = chosen[number].stop
        number += 1
    return [*free, (start, stop)] if start < stop else free


def _aligned(
    start: int, stop: int, period: int, score: Callable[[int, int], tuple[int, ...]]
) -> Repeat:
    copies, spare = divmod(stop - start, period)
    best = max(range(start, start + spare + 1), key=lambda at: (score(at, period), -at))
    return Repeat(best, period, copies)
