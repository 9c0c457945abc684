"""Which event produced a name: what `origin` tells.

`out` is no name of the tape but that of the event at the stop: what `p out` shows. All other names
are looked for on the tape, from the stop back.
"""

from __future__ import annotations

from typing import Any

from kerascope.debugger.names import LIVES_IN
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event, first_time
from kerascope.trace.history import OF_THE_OUTPUT, value_of_event
from kerascope.trace.tape_store import Tape


def origin_at(session: Session, name: str, t: int | None) -> Event | None:
    """Return the event that produced a name, as it is known at a stop; None if none did.

    Raises
    ------
    ArgumentError
        The name is known, and nothing has produced it so far.
    """
    tape = session.tape
    t = len(tape) - 1 if t is None else min(t, len(tape) - 1)
    if t >= 0 and name in OF_THE_OUTPUT:
        return _origin_of_output(tape, tape[t], name)
    if t >= 0 and name in tape.names_at(t):
        made = _last_given(tape, name, t)
        if made is not None:
            return made
    found = tape.origin(name, t)
    is_of_source = any(name in names.split() for names in LIVES_IN.values())
    if is_of_source and (found is None or not _gives(found, name)):
        where = next(scope for scope, names in LIVES_IN.items() if name in names.split())
        raise ArgumentError(
            f"origin: {name!r} has not been computed up to here. It lives in {where}."
        )
    return found


def _gives(event: Event, name: str) -> bool:
    return any(delta.name == name for delta in event.deltas)


def _last_given(tape: Tape, name: str, t: int) -> Event | None:
    """Return the last event that gave a name of the source its value, whatever layers are called.

    Where that is forgotten, the tape itself has to answer.
    """
    for event in _backward(tape, t):
        if event.kind == FORGOTTEN:
            return None
        if _gives(event, name):
            return event
    return None


def _origin_of_output(tape: Tape, event: Event, name: str) -> Event:
    """Return the innermost event with the value that comes out at an event."""
    value = value_of_event(event, *OF_THE_OUTPUT)
    if value is None or event.ph == BEGIN:
        raise ArgumentError(
            f"origin: {name!r} is None here: nothing has come out yet; `r` goes on."
        )
    found = event
    for earlier in _backward(tape, event.t):
        if earlier.ph == BEGIN and earlier.depth <= event.depth:
            break
        if earlier.ph == END and _alone(value_of_event(earlier, *OF_THE_OUTPUT)) is _alone(value):
            found = earlier
    return found


def _alone(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _backward(tape: Tape, t: int) -> Any:
    """Yield the events from a time back to the first."""
    while t >= 0:
        yield tape[t]
        t = first_time(tape[t]) - 1
