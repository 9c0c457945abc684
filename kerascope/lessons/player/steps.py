"""From a tape to the data of one side of a player: its steps, and what changes at each.

The state at a step is not written down, only what changes: the script plays the changes from the
beginning, and so it can go anywhere. All texts and values stand once in a list and are named by
their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kerascope.debugger.rendering import label, sentence
from kerascope.lessons.player.sources import Sources
from kerascope.lessons.player.states import BoxStates
from kerascope.lessons.player.values import shown_value
from kerascope.trace.events import END, Event
from kerascope.trace.tape_store import Tape

LONGEST = 110  # characters of what a step says
NAMES = ""  # the table of names that hold no container
FRACTION = re.compile(r"\d\.\d|\de")
SIGNS = {"B": "▸", "E": "◂", "I": "·"}  # about to happen, done, at once
HIDDEN = ("_keras_history",)


class Pool:
    """Texts, each once, and their numbers."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, item: Any) -> int:
        """Return the number of an item; it gets one if it is new."""
        if item not in self._numbers:
            self._numbers[item] = len(self.items)
            self.items.append(item)
        return self._numbers[item]


class Tables:
    """The names at a time as tables, and what has changed in them."""

    def __init__(self) -> None:
        self.names = Pool()
        self.keys = Pool()
        self.values = Pool()
        self._last: dict[int, dict[int, int]] = {}
        self._texts: dict[int, tuple[Any, int]] = {}  # by id; the value is kept alive beside it

    def changes(self, names: dict[str, Any]) -> list[list[int]]:
        """Return what must be done to the tables before so that they are those of these names.

        `[table, key, value]` sets, `[table, key]` removes, `[table]` removes a table, and
        `[table, -1, -1]` makes an empty one.
        """
        now = self._tables(names)
        found: list[list[int]] = []
        for table, rows in self._last.items():
            if table not in now:
                found.append([table])
            else:
                found += [[table, key] for key in rows if key not in now[table]]
        for table, rows in now.items():
            if not rows and self._last.get(table) != {}:
                found.append([table, -1, -1])
            before = self._last.get(table, {})
            found += [[table, k, v] for k, v in rows.items() if before.get(k) != v]
        self._last = now
        return found

    def _tables(self, names: dict[str, Any]) -> dict[int, dict[int, int]]:
        tables: dict[int, dict[int, int]] = {}
        for name, value in names.items():
            if name in HIDDEN:
                continue
            rows: dict[Any, Any] = {name: value}
            table = NAMES
            if isinstance(value, dict):
                table, rows = name, value
            elif isinstance(value, list):
                table, rows = name, dict(enumerate(value))
            number = self.names.number(table)
            kept = tables.setdefault(number, {})
            for key, item in rows.items():
                kept[self.keys.number(str(key))] = self._number_of(item)
        return tables

    def _number_of(self, value: Any) -> int:
        """Return the number of a value.

        Values with the same text are one, but not if there are fractions in it: whether two such
        texts are the same depends on the machine, and a stored player shall hold on others too.
        """
        known = self._texts.get(id(value))
        if known is None:
            shown = shown_value(value)
            apart = len(self.values.items) if FRACTION.search(shown.short + shown.full) else None
            known = self._texts[id(value)] = (value, self.values.number((*shown, apart)))
        return known[1]


def side_data(
    tape: Tape, events: Sequence[Event], states: BoxStates | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the data of one side, as JSON knows it, and what each step says.

    Parameters
    ----------
    tape : Tape
    events : sequence of Event
        Those that are shown, in order.
    states : BoxStates or None
        Of the picture, fed with nothing yet; None if there is no picture.
    """
    tables, sources, words = Tables(), Sources(), Pool()
    first = events[0]
    before = tables.changes(tape.names_at(first.t - 1) if first.t else {})
    boxes = _Boxes(tape, states)
    start_states = boxes.changes_until(first.t)
    steps = []
    for event in events:
        user = sources.place(event.where.user_file, event.where.user_line)
        engine = sources.place(event.where.file, event.where.line)
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
                boxes.changes_until(event.t + 1),
            ]
        )
    data = {
        "around": [label(span) for span in _around(tape, first)],
        "boxes": [node.id for node in states.graph.nodes] if states else [],
        "startTables": before,
        "startStates": start_states,
        "words": words.items,
        "tables": tables.names.items,
        "keys": tables.keys.items,
        "sources": sources.pieces,
        "values": [[short, full] if full else [short] for short, full, _ in tables.values.items],
        "steps": steps,
    }
    return data, [_told(event) for event in events]


class _Boxes:
    """Feeds the states of the boxes, and tells which have changed."""

    def __init__(self, tape: Tape, states: BoxStates | None) -> None:
        self._tape = tape
        self._states = states
        self._last = dict(states.now) if states else {}
        self._fed = 0

    def changes_until(self, t: int) -> list[list[int]]:
        """Return [box, state] for each box whose state is another before `t` than when asked last.

        At the beginning every box is to be done.
        """
        if self._states is None:
            return []
        for event in self._tape[self._fed : t]:
            self._states.feed(event)
        self._fed = max(self._fed, t)
        now = self._states.now
        found = [
            [place, state]
            for place, (name, state) in enumerate(now.items())
            if self._last[name] != state
        ]
        self._last = dict(now)
        return found


def _around(tape: Tape, event: Event) -> list[Event]:
    """Return the spans that are open around an event."""
    spans = tape.spans_at(event.t)
    return spans[:-1] if event.ph == "B" else spans


def _told(event: Event) -> str:
    deltas = {(d.name, d.key): d for d in event.deltas if d.name != "result"}
    text = f"{SIGNS[event.ph]} {sentence(event._replace(deltas=tuple(deltas.values())))}"
    for delta in event.deltas:
        if delta.name == "result" and event.ph == END:
            text += f" -> {shown_value(delta.value).short}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
