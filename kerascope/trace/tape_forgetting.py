"""What a tape forgets: the oldest stretches of what ran; the names at their end stay.

In the place of a stretch lies one event of the kind "forgotten". Its time is the last one of the
stretch, and its deltas say everything about it that is needed to go on from there: with which time
it begins, which spans are open where it ends, and the names in each of them. So the times of all
other events stay what they were, and the names at them are right.

What was built and compiled is forgotten last: it is little, and pictures are drawn from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kerascope.trace.events import FORGOTTEN, INSTANT, Delta, Event, first_time
from kerascope.trace.tape_budget import bytes_of
from kerascope.trace.tape_names import Scopes

_MADE_IN_ACTS = ("build", "compile")
_MADE_IN_PHASES = ("gradients", "get_updates")


def is_of_a_run(event: Event) -> bool:
    """Return whether an event tells of something that ran, not of what was built or compiled."""
    return event.act not in _MADE_IN_ACTS and event.phase not in _MADE_IN_PHASES


def what_to_forget(events: Sequence[Event], excess: int) -> tuple[int, Callable[[Event], bool]]:
    """Return which events have to go to save so many bytes: how many from the first, and a test.

    These are the oldest of what ran; where that is not enough, the oldest of all.
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
    return True


def forget(events: Iterable[Event], is_to_go: Callable[[Event], bool]) -> list[Event]:
    """Return the beginning of a tape with one mark for each stretch of events that go."""
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
    """Return the event that stands for a stretch, behind whose last event the scopes are."""
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


def told_of(mark: Event) -> str:
    """Return what to say when somebody asks for what is forgotten."""
    return (
        f"{mark.name} are forgotten: the history was full. To keep more, begin with "
        "`set history 1GB`"
    )
