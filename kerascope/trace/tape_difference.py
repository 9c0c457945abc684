"""The first difference of two tapes, and how much differs in all: what `diff 1 2` says.

Two timelines need not have the same times: an event is compared with the one of the same kind and
name that comes as the same-numbered one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kerascope.trace.events import BEGIN, FORGOTTEN, Event
from kerascope.trace.snapshots import same

Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Difference:
    """How a second tape differs from a first one.

    Attributes
    ----------
    name : str
        Of the first event, by its time in the first tape, that differs: "dense_2/out". Empty if
        none does.
    t : int or None
        Its time in the first tape, or of an event that only the second has its time there.
    values : tuple
        What it said in the first and in the second tape; None where it is missing.
    counts : dict of str to (int, int)
        For each kind of event how many differ, of how many. Spans count once.
    last : dict of str to tuple
        For each name of a single value (`total_loss`), its last values, if they differ.
    """

    name: str = ""
    t: int | None = None
    values: tuple[Any, Any] = (None, None)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    last: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.t is not None

    def __str__(self) -> str:
        if self.t is None:
            return "no difference"
        words = [f"first difference {self.name} t={self.t}"]
        words += [f"{n} of {all_} {kind} differ" for kind, (n, all_) in self.counts.items() if n]
        return "; ".join(words)


def difference(first: Sequence[Event], second: Sequence[Event]) -> Difference:
    """Compare two lists of events."""
    first, second = _where_both_are_whole(first, second)
    mine, theirs = _numbered(first), _numbered(second)
    differing: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    found: tuple[Event, Any, Any] | None = None
    for key in dict.fromkeys([*mine, *theirs]):
        one, two = mine.get(key), theirs.get(key)
        event: Any = one or two
        counted = event.ph != BEGIN
        totals[event.kind] += counted
        before, after = _values(one, two)
        if one is not None and two is not None and same(before, after):
            continue
        differing[event.kind] += counted
        if found is None or event.t < found[0].t:
            found = (event, before, after)
    if found is None:
        return Difference()
    counts = {kind: (differing[kind], totals[kind]) for kind in totals}
    event, before, after = found
    return Difference(event.name, event.t, (before, after), counts, _last(first, second))


def _where_both_are_whole(
    first: Sequence[Event], second: Sequence[Event]
) -> tuple[Sequence[Event], Sequence[Event]]:
    """Leave out what lies before the end of a forgotten stretch: events could not be counted."""
    marks = [event.t for event in (*first, *second) if event.kind == FORGOTTEN]
    if not marks:
        return first, second
    last = max(marks)
    return [e for e in first if e.t > last], [e for e in second if e.t > last]


def _numbered(events: Sequence[Event]) -> dict[Key, Event]:
    seen: Counter[tuple[str, str, str]] = Counter()
    found = {}
    for event in events:
        key = (event.kind, event.name, event.ph)
        found[(*key, seen[key])] = event
        seen[key] += 1
    return found


def _values(one: Event | None, two: Event | None) -> tuple[Any, Any]:
    """Return what two events say: the whole, or the result alone if both have one."""
    said = [None if e is None else tuple((d.name, d.key, d.value) for d in e.deltas)
            for e in (one, two)]  # fmt: skip
    results = [next((v for name, _, v in s or () if name == "result"), None) for s in said]
    if None not in [said[0], said[1]] and not any(r is None for r in results):
        return results[0], results[1]
    return said[0], said[1]


def _last(first: Sequence[Event], second: Sequence[Event]) -> dict[str, tuple[Any, Any]]:
    ends: list[dict[str, Any]] = []
    for events in (first, second):
        values: dict[str, Any] = {}
        for event in events:
            for delta in event.deltas:
                if delta.name == "total_loss" and delta.value is not None:
                    values[delta.name] = delta.value
        ends.append(values)
    mine, theirs = ends
    return {n: (mine[n], theirs[n]) for n in mine if n in theirs and not same(mine[n], theirs[n])}
