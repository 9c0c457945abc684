"""Commands for files: `record` and `replay` a tape, `export` the run.

This module also writes the recorded events of a session as one text, and compares two recordings.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.debugger.changing import go_to
from kerascope.debugger.commands import command
from kerascope.debugger.other import tape_of_file
from kerascope.debugger.rendering import entry_that_differs, short_text
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell
from kerascope.debugger.tables import lines_of_table, picture_of
from kerascope.errors import ArgumentError
from kerascope.files import write_whole
from kerascope.nested_values import found_in, replaced
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, GRAINS, Delta, Event
from kerascope.trace.statistics import Statistics, statistics_of
from kerascope.trace.tape_memory import without_arrays
from kerascope.trace.tape_names import OF_THE_END
from kerascope.trace.tape_store import Difference, Tape, difference

FORMATS = ("md", "txt", "html", "svg")
PLAYING = "kerascope.player.playing"  # imported late, because it imports the drawing code
COLUMNS = ("t", "ph", "kind", "name", "engine", "user", "changes")


@command("record", group="all of it")
def record(debugger: Shell, words: str) -> None:
    """Write the tape so far into a file, and its arrays into an .npz file next to it.

    Usage: record FILE
    Example: record t.jsonl
    """
    path, tape = _path(words, "record", "t.jsonl"), debugger.session.tape
    tape.save(path)
    arrays = path.with_suffix(".npz")
    with_arrays = f" and {arrays}" if tape.bytes else ""
    debugger.say(f"{path}{with_arrays} written: {len(tape)} events")


@command("replay", group="all of it")
def replay(debugger: Shell, words: str) -> None:
    """Read a recorded tape as a new timeline; no code is executed.

    Usage: replay FILE
    Example: replay t.jsonl

    `diff 1 2` then compares it with the current run, and `timeline 1` goes back.
    """
    path = _path(words, "replay", "t.jsonl")
    tape = tape_of_file(path)
    made = debugger.session.timelines.fork(0, [], tape)
    debugger.say(f"timeline {made.number}: {len(tape)} events of {path}")
    go_to(debugger, made, 0)


@command("export", group="all of it", completes=FORMATS)
def export(debugger: Shell, words: str) -> None:
    """Write the events as a table or a page that plays them, or the graph as a picture.

    Usage: export md | txt | html | svg FILE
    Example: export html run.html
    """
    form, _, file = words.strip().partition(" ")
    writers: dict[str, Callable[[], str]] = {
        "md": lambda: markdown_of(debugger.session.tape),
        "txt": lambda: text_of(debugger.session.tape),
        "html": lambda: page_of_session(debugger.session, debugger.session.tape.whole(), file),
        "svg": lambda: picture_of(debugger.session).svg,
    }
    if form not in writers:
        near = did_you_mean(form, FORMATS) if form else ""
        raise ArgumentError(f"export: unknown format {form!r}. {near}Use {', '.join(FORMATS)}.")
    path = _path(file, f"export {form}", f"run.{form}")
    text = writers[form]()
    write_whole(path, text.encode("utf-8", "replace"))
    debugger.say(f"{path} written")


def _path(words: str, command: str, example: str) -> Path:
    if not words.strip():
        raise ArgumentError(f"{command}: expected a file. For example: `{command} {example}`.")
    path = Path(words.strip()).expanduser()
    if command != "replay" and not path.absolute().parent.is_dir():
        raise ArgumentError(f"{command}: there is no folder {str(path.parent)!r}.")
    return path


def rows_of(tape: Tape) -> list[tuple[str, ...]]:
    """Return the rows of a table with one event per row; the first row is the header."""
    rows = [tuple(str(row[column]) for column in COLUMNS) for row in tape.to_table()]
    return [COLUMNS, *rows]


def text_of(tape: Tape) -> str:
    r"""Return the events as a plain-text table.

    Examples
    --------
    >>> text_of(Tape())
    't  ph  kind  name  engine  user  changes\n'
    """
    return "\n".join([*lines_of_table(rows_of(tape)), ""])


def markdown_of(tape: Tape) -> str:
    """Return the events as a Markdown table."""
    header, *rows = rows_of(tape)
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(["| " + " | ".join(map(_escaped, line)) + " |" for line in lines]) + "\n"


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def page_of(tape: Tape, title: str, model: Any = None) -> str:
    """Return the HTML page that plays a tape, with a picture if its model still exists."""
    drawn = model if getattr(model, "outputs", None) else None
    page: str = import_module(PLAYING).play(tape, title=title, graph=drawn).html
    return page


# --- a session's output or recording as one text --------------------------------------------------


def page_of_stops(title: str, about: str, stops: str) -> str:
    """Return a Markdown page whose fenced block shows the printed stops of a run.

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
    """Return the text of a tape file, as `record` writes it, with statistics in place of arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        Tape((with_figures(event) for event in events), None).save(path)
        return path.read_bytes().decode("utf-8", "surrogatepass")


def with_figures(event: Event) -> Event:
    """Return an event with its arrays replaced by their statistics."""
    deltas = tuple(
        Delta(d.name, d.key, replaced(without_arrays(d.value), np.generic, _plain))
        for d in event.deltas
    )
    return _with(event, event.t, event.depth, deltas)


def _plain(number: np.generic) -> Any:
    """Return a number unchanged; if JSON cannot express it, such as NaN, return its statistics."""
    is_plain = number.dtype.kind not in "fc" or np.isfinite(number)
    return number if is_plain else statistics_of(number)


def at_grain(events: Iterable[Event], grain: str) -> Iterator[Event]:
    """Yield the events of a grain and of coarser grains, with their times and depths renumbered.

    Values recorded by finer events are added to the next coarser event, as if the recorder had
    used this grain.
    """
    finest = GRAINS.index(grain)
    waiting: list[Delta] = []
    t = hidden = 0  # hidden: open spans of finer events
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
    return Event(
        t, event.act, event.phase, event.kind, event.ph, depth, *facts, deltas, event.facts
    )


def page_of_session(session: Session, events: Iterable[Event], title: str) -> str:
    """Return the HTML page that plays events of a session, as `export html` writes it."""
    return page_of(Tape(events, None), title, session.model)


# --- a tape compared with a new run of the same script --------------------------------------------


WORDS = {"B": "the begin of ", "E": "the end of "}


def first_difference(recorded: Sequence[Event], new: Sequence[Event]) -> str:
    """Return the first difference between two runs as text; "" if the runs are equal.

    Arrays are compared bit for bit, or by their statistics if one tape has only statistics.

    Parameters
    ----------
    recorded, new : sequence of Event
        The events on the tape, and those of the new run.

    Examples
    --------
    >>> one = Event(0, "", "", "op", "E", 0, "op", "d/out")
    >>> print(first_difference([one], []))
    t=0: the end of op d/out was recorded; the script ends before it
    """
    pairs = list(_comparable(recorded, new))
    mine, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    mine += recorded[len(pairs) :]
    theirs += new[len(pairs) :]
    other = next((t for t, pair in enumerate(pairs) if _key(pair[0]) != _key(pair[1])), None)
    found = difference(mine, theirs)
    if other is not None and (found.t is None or other <= found.t):
        return f"t={other}: {_named(mine[other])} was recorded; now it is {_named(theirs[other])}"
    if found.t is not None and found.t < len(pairs):
        return _difference_text(found)
    if len(mine) > len(theirs):
        return (
            f"t={len(theirs)}: {_named(mine[len(theirs)])} was recorded; the script ends before it"
        )
    return ""


def _difference_text(found: Difference) -> str:
    entry, before, now = entry_that_differs(*found.values)
    words = [str(found), f"   recorded: {entry}{short_text(before)}"]
    words.append(f"   now:      {entry}{short_text(now)}")
    words += [
        f"   {name}: {short_text(a)} -> {short_text(b)}" for name, (a, b) in found.last.items()
    ]
    return "\n".join(words)


def _comparable(one: Sequence[Event], two: Sequence[Event]) -> Iterator[tuple[Event, Event]]:
    """Yield the events of two runs in pairs, in a form in which they can be compared.

    If one event of a pair has statistics in place of an array, the array of the other event is
    replaced by its statistics too.
    """
    for mine, theirs in zip(one, two, strict=False):
        if _has_figures(mine) or _has_figures(theirs):
            yield with_figures(mine), with_figures(theirs)
        else:
            yield mine, theirs


def _has_figures(event: Event) -> bool:
    return any(found_in(delta.value, (Statistics, np.generic)) for delta in event.deltas)


def _key(event: Event) -> tuple[str, str, str]:
    return event.kind, event.name, event.ph


def _named(event: Event) -> str:
    return f"{WORDS.get(event.ph, '')}{event.kind} {event.name}".rstrip()
