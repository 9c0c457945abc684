"""The data of one side of a player, made from a tape: its steps, and the changes at each step.

Only the changes of the state are stored. The script applies them from the beginning, so that it can
go to any step. Texts and values are stored once in a list, and are referred to by their numbers.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from operator import is_
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np

from kerascope.debugger.places import function_around, path_of, shown_file
from kerascope.debugger.rendering import label, sentence
from kerascope.player.captions import Narrator, sources_of
from kerascope.player.flows import Flows, Spec
from kerascope.player.picture import BoxStates
from kerascope.trace.events import END, Event
from kerascope.trace.snapshots import TensorRef
from kerascope.trace.statistics import Statistics, figure, kind_of, statistics_of
from kerascope.trace.tape_store import Tape, text_of

# --- values: one line for a table, and a longer text for details ----------------------------------
# A small array is shown completely, a larger one by its statistics and a corner. Numbers have at
# most four digits, so that a stored player is the same on another machine.


FEW = 4  # numbers of an array that fit in a line of a table
WHOLE = 12  # numbers of an array that is shown completely
CORNER = 3  # rows and columns of the corner of a larger array
LONGEST_LINE = 90  # characters of a line in a table


class Shown(NamedTuple):
    """A value as text: in one line, and completely.

    Attributes
    ----------
    short : str
        The value in one line.
    full : str
        A longer text for details, or "" if it is not longer than `short`.
    """

    short: str
    full: str = ""


def shown_value(value: Any) -> Shown:
    r"""Return a value as text.

    Examples
    --------
    >>> shown_value(np.array([[0.0, 1.5], [2.0, 3.0]], "float32"))
    Shown(short='f32[2,2] [[0 1.5] [2 3]]', full='f32[2,2]\n[[  0 1.5]\n [  2   3]]')
    >>> shown_value(("dense_1", None))
    Shown(short="('dense_1', None)", full='')
    """
    if isinstance(value, tuple) and len(value) == 2 and value[1] is None and _is_tensor(value[0]):
        value = value[0]  # in tensor_map: a tensor without a mask
    if _is_numbers(value):
        return _shown_array(np.asarray(value))
    if isinstance(value, Statistics):
        return Shown(" ".join(value.short_cells), "\n".join(value.cells))
    text = text_of(value, _number_text)
    return Shown(text) if len(text) <= LONGEST_LINE else Shown(f"{text[: LONGEST_LINE - 1]}…", text)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "fiub"


def _is_tensor(value: Any) -> bool:
    return _is_numbers(value) or isinstance(value, (TensorRef, Statistics))


def _number_text(value: Any) -> str | None:
    """Return a number as text, an array as its dtype and shape, and None for other values."""
    if _is_numbers(value):
        return kind_of(value) if np.ndim(value) else figure(value)
    if isinstance(value, Statistics):
        return value.kind
    return figure(value) if isinstance(value, float) else None


def _shown_array(array: np.ndarray) -> Shown:
    figures = statistics_of(array)
    short = " ".join(figures.short_cells)
    if not array.ndim:
        return Shown(short)
    if array.size <= WHOLE:
        if 0 < array.size <= FEW and figures.is_sound:
            words = np.array([figure(x) for x in array.astype("float64").ravel()], dtype=object)
            inside = " ".join(_nested(words.reshape(array.shape), "").split())
            short = f"{kind_of(array)} {inside}"
        return Shown(short, f"{kind_of(array)}\n{_grid(array)}")
    corner = array[tuple([0] * max(array.ndim - 2, 0))][tuple([slice(CORNER)] * min(array.ndim, 2))]
    before = "".join("0, " for _ in range(array.ndim - 2))
    place = ", ".join(f":{min(size, CORNER)}" for size in array.shape[-2:])
    return Shown(short, "\n".join([*figures.cells, f"[{before}{place}] =", _grid(corner)]))


def _grid(array: np.ndarray) -> str:
    """Return all elements of an array as text, in columns."""
    words = [figure(number) for number in np.asarray(array, "float64").ravel()]
    wide = max(map(len, words), default=0)
    padded = np.array([word.rjust(wide) for word in words], dtype=object).reshape(array.shape)
    return _nested(padded, "")


def _nested(words: np.ndarray, indent: str) -> str:
    if words.ndim == 1:
        return f"[{' '.join(words)}]"
    rows = [_nested(row, f"{indent} ") for row in words]
    return "[" + f"\n{indent} ".join(rows) + "]"


# --- source lines of the script and of kerascope --------------------------------------------------
# A short script is stored completely, otherwise the function around the line. Line numbers in
# kerascope's own files are written like `kerascope/engine/node.py:93`, so that a stored player
# stays valid if code above has moved the lines.


MOST_LINES = 40  # lines of one piece
AROUND = 8  # lines before and after, in a longer piece


class Sources:
    """Pieces of source code that the page shows. Each piece is stored once.

    Attributes
    ----------
    pieces : list of dict
        The lines of each piece, and its file and the number of its first line.
    """

    def __init__(self) -> None:
        self.pieces: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._found: dict[tuple[str, int], tuple[int, int] | None] = {}

    def place(self, file: str, line: int) -> tuple[int, int] | None:
        """Return where the page has a line of a file; None if the file cannot be read.

        The result is the number of a piece in `pieces`, and the index of the line in this piece.
        """
        if not file or not line:
            return None
        if (file, line) not in self._found:
            self._found[file, line] = self._look_up(file, line)
        return self._found[file, line]

    def _look_up(self, file: str, line: int) -> tuple[int, int] | None:
        lines = linecache.getlines(path_of(file))
        if not 0 < line <= len(lines):
            return None
        first, last = _extent(lines, line)
        if (file, first) not in self._numbers:
            self._numbers[file, first] = len(self.pieces)
            text = dedent("".join(lines[first - 1 : last]))
            lines = text.rstrip("\n").split("\n")
            self.pieces.append({"place": f"{shown_file(file)}:{first}", "lines": lines})
        return self._numbers[file, first], line - first


def _extent(lines: list[str], line: int) -> tuple[int, int]:
    """Return the first and the last line to show around a line, counted from 1."""
    if len(lines) <= MOST_LINES:
        return 1, len(lines)
    first, last = function_around("".join(lines), line) or (1, len(lines))
    if last - first >= MOST_LINES:
        first, last = max(first, line - AROUND), min(last, line + AROUND)
    return first, last


# --- steps ----------------------------------------------------------------------------------------


LONGEST = 110  # characters in the text of a step
NAMES = ""  # the table of names that are not containers
FRACTION = re.compile(r"\d\.\d|\de")
SIGNS = {"B": "▸", "E": "◂", "I": "·"}  # about to happen, done, at once
HIDDEN = ("_keras_history",)


class Pool:
    """A list in which each item is stored once and is referred to by its number."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, item: Any) -> int:
        """Return the number of an item, after adding it if it is new."""
        if item not in self._numbers:
            self._numbers[item] = len(self.items)
            self.items.append(item)
        return self._numbers[item]


class Tables:
    """The local names of each step with their values, as tables of which only changes are stored.

    A name whose value is a dict or a list has its own table. All other names are in one table.
    """

    def __init__(self) -> None:
        self.names = Pool()
        self.keys = Pool()
        self.values = Pool()
        self._last: dict[int, dict[int, int]] = {}
        self._rows: dict[int, dict[Any, Any]] = {}  # the rows of each table
        self._texts: dict[int, tuple[Any, int]] = {}  # by id, with the value to keep it alive

    def changes(self, names: dict[str, Any]) -> list[list[int]]:
        """Return the changes from the tables of the previous step to those of the given names.

        `[table, key, value]` sets a value, `[table, key]` removes it, `[table]` removes a table,
        and `[table, -1, -1]` creates an empty one.
        """
        now = self._tables(names)
        found: list[list[int]] = []
        for table, rows in self._last.items():
            if table not in now:
                found.append([table])
            elif now[table] is not rows:
                found += [[table, key] for key in rows if key not in now[table]]
        for table, rows in now.items():
            if not rows and self._last.get(table) != {}:
                found.append([table, -1, -1])
            before = self._last.get(table, {})
            if rows is before:
                continue
            found += [[table, k, v] for k, v in rows.items() if before.get(k) != v]
        self._last = now
        return found

    def _tables(self, names: dict[str, Any]) -> dict[int, dict[int, int]]:
        found: dict[int, dict[Any, Any]] = {}
        for name, value in names.items():
            if name in HIDDEN:
                continue
            if isinstance(value, dict):
                found[self.names.number(name)] = value
            elif isinstance(value, list):
                found[self.names.number(name)] = dict(enumerate(value))
            else:
                found.setdefault(self.names.number(NAMES), {})[name] = value
        tables: dict[int, dict[int, int]] = {}
        for number, rows in found.items():
            if _are_the_same(rows, self._rows.get(number)):
                tables[number] = self._last[number]
            else:
                tables[number] = {
                    self.keys.number(str(key)): self._number_of(item) for key, item in rows.items()
                }
        self._rows = found
        return tables

    def _number_of(self, value: Any) -> int:
        """Return the number of a value in the page's list of values.

        Values with the same text share a number, unless the text contains fractions. Whether two
        such texts are equal depends on the machine, and a stored player must be the same on all.
        """
        known = self._texts.get(id(value))
        if known is None:
            shown = shown_value(value)
            apart = len(self.values.items) if FRACTION.search(shown.short + shown.full) else None
            known = self._texts[id(value)] = (value, self.values.number((*shown, apart)))
        return known[1]


def _are_the_same(rows: dict[Any, Any], before: dict[Any, Any] | None) -> bool:
    """Return whether a table has the same keys and identical values as at the step before."""
    if before is None or len(rows) != len(before):
        return False
    return all(map(is_, rows.values(), before.values())) and rows.keys() == before.keys()


def side_data(
    tape: Tape, events: Sequence[Event], states: BoxStates | None, flows: Flows
) -> tuple[dict[str, Any], list[str]]:
    """Return the data of one side of the page for JSON, and a line of text for each step.

    Parameters
    ----------
    tape : Tape
    events : sequence of Event
        The events to show, in order.
    states : BoxStates or None
        The states of the picture's boxes before the first event, or None without a picture.
    flows : Flows
        The values on the arrows before the first event.
    """
    tables, sources, words = Tables(), Sources(), Pool()
    first = events[0]
    before = tables.changes(tape.names_at(first.t - 1) if first.t else {})
    boxes = _Boxes(tape, states, flows)
    start_states, start_flows = boxes.changes_until(first.t), boxes.flows()
    calls: dict[str, tuple[str, int]] = {}
    steps = []
    for event in events:
        user = sources.place(*_users_line(event, calls))
        engine = sources.place(*_own_line(event))
        changed = boxes.changes_until(event.t + 1)
        steps.append(
            [
                event.t,
                event.ph,
                event.depth,
                words.number(event.kind),
                words.number(label(event)),
                user or 0,
                engine or 0,
                tables.changes(tape.names_at(event.t)),
                changed,
                boxes.focus,
                boxes.flows(),
                boxes.caption,
            ]
        )
    data = {
        "around": [label(span) for span in _around(tape, first)],
        "startTables": before,
        "startStates": start_states,
        "startFlows": start_flows,
        "words": words.items,
        "tables": tables.names.items,
        "keys": tables.keys.items,
        "sources": sources.pieces,
        "values": [[short, full] if full else [short] for short, full, _ in tables.values.items],
        "steps": steps,
    }
    return data, [_step_text(event) for event in events]


def _users_line(event: Event, calls: dict[str, tuple[str, int]]) -> tuple[str, int]:
    """Return the user's line of an event: where a layer was called, not where it was created.

    These two lines differ if a function of the user creates layers. `calls` keeps the lines by the
    names of events, for the backward pass.
    """
    where, made = event.where, event.where.made
    if made is not None and made.called_from and made.role.startswith("made "):
        calls[event.name] = made.called_from[0][:2]
    elif made is not None or event.kind != "node" or event.name not in calls:
        return where.user_file, where.user_line
    return calls[event.name]


def _own_line(event: Event) -> tuple[str, int]:
    """Return the line of code that an event shows, in addition to the user's line.

    It is the line of the op's or layer's own code if this is recorded, otherwise the line of
    kerascope's source at which the event happened.
    """
    made = event.where.made
    if event.kind in ("op", "node") and made is not None and made.code[0]:
        return made.code[0], made.code[1]
    return event.where.file, event.where.line


class _Boxes:
    """Passes the events of a tape to the page's observers, and returns changes of the picture.

    Attributes
    ----------
    caption : list of str
        The caption of the last event.
    """

    def __init__(self, tape: Tape, states: BoxStates | None, flows: Flows) -> None:
        # In the order of the page: boxes, then frames.
        self._places = {name: place for place, name in enumerate(states.now)} if states else {}
        self._flows = flows
        self._flowed: dict[tuple[str, int], Spec] = {}
        self._narrator = Narrator(sources_of(states.arrows) if states else None)
        self.caption: list[str] = []
        self._tape = tape
        self._states = states
        self._last = dict(states.now) if states else {}
        self._fed = 0

    def changes_until(self, t: int) -> list[list[int]]:
        """Observe the events before `t`, and return [box, state] for each changed box.

        The changes are those since the previous call of this method. Before the first call, every
        box is in the state "to do".
        """
        for event in self._tape[self._fed : t]:
            self.caption = self._narrator.tell(event)
            self._flows.feed(event)
            if self._states is not None:
                self._states.feed(event)
        self._fed = max(self._fed, t)
        if self._states is None:
            return []
        now = self._states.now
        found = [
            [place, state]
            for place, (name, state) in enumerate(now.items())
            if self._last[name] != state
        ]
        self._last = dict(now)
        return found

    @property
    def focus(self) -> int:
        """The number of the current box (see `BoxStates.focus`), or -1 if there is none yet."""
        return self._places.get(self._states.focus, -1) if self._states else -1

    def flows(self) -> list[list[Any]]:
        """Return the changed values on arrows as [box, direction, value].

        [box, direction] removes the value.
        """
        now, before = self._flows.now, self._flowed
        found: list[list[Any]] = [
            [self._places[b], way] for b, way in before if (b, way) not in now
        ]
        for (box, way), spec in now.items():
            if before.get((box, way)) is not spec:
                found.append([self._places[box], way, spec])
        self._flowed = dict(now)
        return found


def _around(tape: Tape, event: Event) -> list[Event]:
    """Return the open spans around an event."""
    spans = tape.spans_at(event.t)
    return spans[:-1] if event.ph == "B" else spans


def _step_text(event: Event) -> str:
    deltas = {(d.name, d.key): d for d in event.deltas if d.name != "result"}
    text = f"{SIGNS[event.ph]} {sentence(event._replace(deltas=tuple(deltas.values())))}"
    for delta in event.deltas:
        if delta.name == "result" and event.ph == END:
            text += f" -> {shown_value(delta.value).short}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
