"""A tape compared with what the same script tells when it runs again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kerascope.debugger.outputs import with_figures
from kerascope.debugger.rendering import short_text
from kerascope.trace.events import Event
from kerascope.trace.statistics import Statistics
from kerascope.trace.tape_store import Difference, difference

WORDS = {"B": "the begin of ", "E": "the end of "}


def first_difference(recorded: Sequence[Event], told: Sequence[Event]) -> str:
    """Return what differs first, and in both; "" if nothing does.

    Arrays are compared bit for bit, and by their figures where the tape has kept these alone.

    Parameters
    ----------
    recorded, told : sequence of Event
        Of the tape, and of the script.

    Examples
    --------
    >>> one = Event(0, "", "", "op", "E", 0, "op", "d/out")
    >>> print(first_difference([one], []))
    t=0: the end of op d/out was recorded; the script ends before it
    """
    pairs = list(_comparable(recorded, told))
    mine, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    mine += recorded[len(pairs) :]
    theirs += told[len(pairs) :]
    other = next((t for t, pair in enumerate(pairs) if _what(pair[0]) != _what(pair[1])), None)
    found = difference(mine, theirs)
    if other is not None and (found.t is None or other <= found.t):
        return f"t={other}: {_named(mine[other])} was recorded; now it is {_named(theirs[other])}"
    if found.t is not None and found.t < len(pairs):
        return _told(found)
    if len(mine) > len(theirs):
        return (
            f"t={len(theirs)}: {_named(mine[len(theirs)])} was recorded; the script ends before it"
        )
    return ""


def _told(found: Difference) -> str:
    before, now = found.values
    words = [str(found), f"   recorded: {short_text(before)}", f"   now:      {short_text(now)}"]
    words += [
        f"   {name}: {short_text(a)} -> {short_text(b)}" for name, (a, b) in found.last.items()
    ]
    return "\n".join(words)


def _comparable(one: Sequence[Event], two: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Yield pairs of events, both with the figures of arrays if one of them has no arrays."""
    for mine, theirs in zip(one, two, strict=False):
        if _has_figures(mine) or _has_figures(theirs):
            yield with_figures(mine), with_figures(theirs)
        else:
            yield mine, theirs


def _has_figures(event: Event) -> bool:
    return any(_holds_figures(delta.value) for delta in event.deltas)


def _holds_figures(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_figures, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_figures, value))
    return isinstance(value, (Statistics, np.generic))


def _what(event: Event) -> tuple[str, str, str]:
    return event.kind, event.name, event.ph


def _named(event: Event) -> str:
    return f"{WORDS.get(event.ph, '')}{event.kind} {event.name}".rstrip()
