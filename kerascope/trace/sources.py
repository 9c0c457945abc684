"""Where a stepper's events come from: a tape, and perhaps a program that makes it grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from kerascope.trace.events import BEGIN, FORGOTTEN, Event, first_time


class History(Protocol):
    """Events by their time."""

    def __getitem__(self, t: int, /) -> Event: ...


def begin_of(event: Event, events: History) -> Event | None:
    """Return the begin of the span that an event ends."""
    for earlier in before(events, event.t):
        if earlier.kind == FORGOTTEN:  # the spans that were open there are known still
            spans: list[Event] = next(d.value for d in earlier.deltas if d.name == "spans")
            if event.depth < len(spans):
                return spans[event.depth]
        if earlier.depth <= event.depth:
            return earlier if earlier.ph == BEGIN else None
    return None


def before(events: History, t: int) -> Iterator[Event]:
    """Yield the events before a time, the last first; of a forgotten stretch its mark, once."""
    while t > 0:
        event = events[t - 1]
        t = first_time(event)
        yield event


class Events(History, Protocol):
    """What a tape is to the stepper."""

    def __len__(self) -> int: ...

    def names_at(self, t: int) -> Mapping[str, Any]:
        """Return the names at a time."""
        ...


class EventSource(Protocol):
    """Where events come from."""

    @property
    def tape(self) -> Events:
        """The events so far; event t has place t."""
        ...

    @property
    def ended(self) -> bool:
        """Whether no more can come."""
        ...

    def advance(self) -> bool:
        """Let the program run to its next event; return whether there is one now."""
        ...


class Recording:
    """A source that has ended: a tape that was recorded."""

    ended = True

    def __init__(self, tape: Events) -> None:
        self.tape = tape

    def advance(self) -> bool:
        """Return False: nothing more comes."""
        return False


class Running:
    """A source that grows by itself: the program runs, and calls a `LiveDriver` at each event."""

    def __init__(self, tape: Events) -> None:
        self.tape = tape
        self.ended = False

    def advance(self) -> bool:
        """Return False: what comes next, the program decides."""
        return False
