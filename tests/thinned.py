"""Rows that prove the same of many things: the default set takes some of each kind.

A table that asks one question of hundreds of rows takes the default set minutes. What an edit
breaks, it nearly always breaks for every row of a kind: so the first row of each kind, and some of
its others, are asked by default; all others are marked `slow` and asked by `dev.py rest`.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def thinned(rows: Iterable[Any], kind: Callable[[Any], Hashable], every: int = 3) -> list[Any]:
    """Return rows for `pytest.mark.parametrize`, of which the default set takes some.

    Parameters
    ----------
    rows : iterable
        Each is one argument of the test.
    kind : callable
        From a row to what it is of: an op, a layer, a chapter.
    every : int
        The first row of each kind is in the default set, then every so manieth of that kind.

    Returns
    -------
    list
        All rows in their order; those that are left out by default have the mark `slow`.
    """
    seen: Counter[Hashable] = Counter()
    found = []
    for row in rows:
        of = kind(row)
        found.append(pytest.param(row, marks=[pytest.mark.slow] if seen[of] % every else []))
        seen[of] += 1
    return found
