"""When equal lines are worth one call: how many, how small, and whether they lie regularly."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

FEWEST = 8  # lines
LARGEST = 1 << 14  # numbers in an array; with more a call costs little beside its arithmetic


def longest_run(gaps: Iterable[Any]) -> tuple[int, int]:
    """Return start and length of the longest run of things with equal gaps between them.

    Examples
    --------
    >>> longest_run([5, 2, 2, 2, None, None, None, None])  # None: there is no such gap
    (1, 4)
    >>> longest_run([])
    (0, 0)
    """
    best, start = (0, 0), 0
    for gap, equal in itertools.groupby(gaps):
        count = len(list(equal))
        if gap is not None and count + 1 > best[1]:
            best = start, count + 1
        start += count
    return best
