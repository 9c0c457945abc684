"""What a session wrote or recorded, as one text: a page, the lines of a tape, a picture."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.debugger.files import page_of
from kerascope.debugger.pictures import picture_of
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, GRAINS, Delta, Event
from kerascope.trace.statistics import statistics_of
from kerascope.trace.tape_memory import without_arrays
from kerascope.trace.tape_names import OF_THE_END
from kerascope.trace.tape_store import Tape


def page_of_stops(title: str, about: str, stops: str) -> str:
    """Return a Markdown page with stops in a fenced block.

    Examples
    --------
    >>> print(page_of_stops("train.py", "Every stop of grain node.", "--Call-- fit"))
    # train.py
    <BLANKLINE>
    Every stop of grain node.
    <BLANKLINE>
    ```text
    --Call-- fit
    ```
    <BLANKLINE>
    """
    longest = max(map(len, re.findall("`+", stops)), default=0)
    fence = "`" * max(3, longest + 1)
    body = stops.rstrip("\n")
    return f"# {title}\n\n{about}\n\n{fence}text\n{body}\n{fence}\n"


def lines_of_tape(events: Iterable[Event]) -> str:
    """Return the lines that `record` writes, with the figures of arrays in their place."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        Tape((with_figures(event) for event in events), None).save(path)
        return path.read_bytes().decode("utf-8", "surrogatepass")


def with_figures(event: Event) -> Event:
    """Return an event that holds the figures of arrays, and no arrays."""
    deltas = tuple(Delta(d.name, d.key, _plain(without_arrays(d.value))) for d in event.deltas)
    return _with(event, event.t, event.depth, deltas)


def _plain(value: Any) -> Any:
    """Return a value without the NumPy numbers that only a file of arrays could hold."""
    if isinstance(value, np.generic) and value.dtype.kind in "fc" and not np.isfinite(value):
        return statistics_of(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_plain(item) for item in value)
    return value


def at_grain(events: Iterable[Event], grain: str) -> Iterator[Event]:
    """Yield the events of a grain and of coarser ones, as a tape of its own.

    The names that finer events brought come with the next event, as a recorder of that level tells
    them.
    """
    finest = GRAINS.index(grain)
    waiting: list[Delta] = []
    t = hidden = 0  # hidden: open spans that are left out
    for event in events:
        if GRAINS.index(event.grain) <= finest:
            yield _with(event, t, event.depth - hidden, (*waiting, *event.deltas))
            waiting.clear()
            t += 1
        elif event.ph == BEGIN:
            hidden += 1
            waiting += [delta for delta in event.deltas if delta.key is not None]
        elif event.ph == END:
            hidden -= 1
            waiting += [delta for delta in event.deltas if delta.name not in OF_THE_END]
        else:
            waiting += event.deltas


def _with(event: Event, t: int, depth: int, deltas: tuple[Delta, ...]) -> Event:
    facts = (event.grain, event.name, event.where)
    return Event(t, event.act, event.phase, event.kind, event.ph, depth, *facts, deltas)


def page_of_session(session: Session, events: Iterable[Event]) -> str:
    """Return the page that `export html` writes, of some events of a session."""
    try:
        picture = picture_of(session, with_numbers=True).svg
    except ArgumentError:
        picture = ""  # nothing is there to be drawn
    return page_of(Tape(events, None), picture)
