"""Watches: an expression whose value should not change unseen.

`watch weight:dense_1*` stops where such a weight gets a new value, with the old one, the new one
and the relative change. `watch EXPR` evaluates a Python expression over the names of the Keras
source, and stops where its value is another than at the event before: `watch list(tensor_map)`.
Values are compared by what they hold, arrays number by number.

Whether a value changed at an event depends on nothing but the event and the names before and at
it. So a watch stops at the same events forward, backward and in a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError
from kerascope.trace.contents import is_data, relative_change
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.expressions import (
    OF_THE_EVENT,
    Expression,
    parse_expression,
    split_at_comma,
    told,
    value_of_event,
)
from kerascope.trace.snapshots import same

WEIGHT = "weight:"
OF_TYPE = "of type "
CHANGING_KINDS = ("update.apply", "weight.set")
Names = Callable[[Expression], Mapping[str, Any]]


@dataclass(frozen=True)
class Unknown:
    """The value of an expression that has none yet, and why."""

    reason: str

    def __repr__(self) -> str:
        return f"<{self.reason}>"


NOTHING = Unknown("no value yet")


class Change(NamedTuple):
    """A watched value is another now.

    Attributes
    ----------
    watch : Watch
    name : str
        The weight, or the expression.
    old, new : object
        `Unknown` where there was or is no value.
    relative : float or None
        ‖new - old‖ / ‖old‖, for numbers and arrays.
    added, removed : tuple
        Keys of a dict, or elements of a list or a set.
    error : str
        What the watch's condition raised, if it did.
    """

    watch: Watch
    name: str
    old: Any
    new: Any
    relative: float | None = None
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    error: str = ""


class WatchRow(NamedTuple):
    """One row of the table of watches."""

    number: int
    enabled: bool
    expression: str
    condition: str
    hits: int
    first: Any


@dataclass
class Watch:
    """One watch.

    Attributes
    ----------
    number : int
    text : str
        The expression, or "weight:" and a glob.
    expression : Expression or None
        None for weights.
    condition : Expression or None
        Over the names at the event, and `old`, `new` and `relative`.
    first : object
        The value when the watch was set.
    enabled : bool
    hits : int
    """

    number: int
    text: str
    expression: Expression | None
    condition: Expression | None = None
    first: Any = NOTHING
    enabled: bool = True
    hits: int = 0

    def concerns(self, event: Event) -> bool:
        """Return whether the value can have changed at an event."""
        if self.expression is None:
            pattern = self.text.removeprefix(WEIGHT)
            is_change = event.kind in CHANGING_KINDS and event.ph != BEGIN
            return is_change and fnmatchcase(event.name, pattern)
        names = self.expression.names
        if any(delta.name in names for delta in event.deltas):
            return True
        return any(name in names for name in OF_THE_EVENT)

    def change(self, event: Event, before: Names, now: Names) -> Change | None:
        """Return the change at an event that concerns it, if there is one."""
        name = event.name if self.expression is None else self.text
        if self.expression is None:
            old, new = value_of_event(event, "old"), value_of_event(event, "new")
            old = NOTHING if old is None else old
            if new is None:
                told_of = [d.value for d in event.deltas if d[:2] == ("weights", event.name)]
                new = told_of[0] if told_of else None
        else:
            old, new = value_of(self.expression, before), value_of(self.expression, now)
        if (new is None and self.expression is None) or same(old, new):
            return None
        return Change(self, name, old, new, relative_change(old, new), *_keys(old, new))


def value_of(expression: Expression, names: Names) -> Any:
    """Return an expression's value; `Unknown` if it has none, or one that is no data."""
    try:
        value = expression.value(names(expression))
    except NameError:
        return NOTHING
    except Exception as error:
        return Unknown(told(error))
    return value if is_data(value) else Unknown(f"{OF_TYPE}{type(value).__name__}")


def _keys(old: Any, new: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return which keys or elements only the new value has, and which only the old one."""
    both_dicts = isinstance(old, Mapping) and isinstance(new, Mapping)
    collections = (list, tuple, set, frozenset)
    if not both_dicts and not (isinstance(old, collections) and isinstance(new, collections)):
        return (), ()
    mine, theirs = list(old), list(new)
    added = tuple(key for key in theirs if not any(same(key, other) for other in mine))
    return added, tuple(key for key in mine if not any(same(key, other) for other in theirs))


class Watches:
    """The watches of a session.

    Parameters
    ----------
    numbers : iterator of int, optional
        Where the numbers come from; shared with the breakpoints.

    Examples
    --------
    >>> watches = Watches()
    >>> watches.add("weight:*_W, relative > 0.1").condition.text
    'relative > 0.1'
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self._numbers = numbers or count(1)
        self._watches: dict[int, Watch] = {}

    def __iter__(self) -> Iterator[Watch]:
        return iter(self._watches.values())

    def __len__(self) -> int:
        return len(self._watches)

    def add(self, text: str, names: Names = lambda expression: {}) -> Watch:
        """Watch "EXPR", "EXPR, condition" or "weight:GLOB".

        Parameters
        ----------
        text : str
        names : callable
            Gives the names now that an expression asks for. The value may be missing yet; it is
            reported when it comes.

        Raises
        ------
        ArgumentError
            No expression, or its value is no data.
        """
        text = text.strip()
        expression, condition = None, ""
        if text.startswith(WEIGHT):
            text, _, condition = (piece.strip() for piece in text.partition(","))
            if text == WEIGHT:
                raise ArgumentError("watch: behind 'weight:' a name is missing: weight:dense_1*.")
        else:
            text, condition = split_at_comma(text, "watch")
            expression = parse_expression(text, "watch")
        asked = parse_expression(condition, "watch") if condition else None
        first = value_of(expression, names) if expression else NOTHING
        if isinstance(first, Unknown) and first.reason.startswith(OF_TYPE):
            raise ArgumentError(
                f"watch: {text} is {first.reason}; a watch compares data: numbers, texts, arrays "
                "and containers of them. Watch something that it holds."
            )
        made = Watch(next(self._numbers), text, expression, asked, first)
        self._watches[made.number] = made
        return made

    def remove(self, *numbers: int) -> list[Watch]:
        """Remove some, or all; return them."""
        chosen = self._chosen(numbers)
        for watch in chosen:
            del self._watches[watch.number]
        return chosen

    def set_enabled(self, is_enabled: bool, *numbers: int) -> list[Watch]:
        """Let some, or all, stop or not; return them."""
        chosen = self._chosen(numbers)
        for watch in chosen:
            watch.enabled = is_enabled
        return chosen

    def _chosen(self, numbers: tuple[int, ...]) -> list[Watch]:
        for number in numbers:
            if number not in self._watches:
                listed = ", ".join(map(str, self._watches)) or "none"
                raise ArgumentError(f"watch: no watch {number}; there are: {listed}.")
        return [self._watches[number] for number in dict.fromkeys(numbers or [*self._watches])]

    def rows(self) -> list[WatchRow]:
        """Return the table of watches."""
        return [
            WatchRow(
                watch.number,
                watch.enabled,
                watch.text,
                watch.condition.text if watch.condition else "",
                watch.hits,
                watch.first,
            )
            for watch in self
        ]

    def changes(self, event: Event, before: Names, now: Names) -> list[Change]:
        """Return what changed at an event; watches whose condition is false say nothing.

        Parameters
        ----------
        event : Event
        before, now : callable
            Give the names at the event before, and at this one, that an expression asks for.
        """
        found = []
        for watch in self._watches.values():
            if not watch.enabled or not watch.concerns(event):
                continue
            change = watch.change(event, before, now)
            change = _asked(change, now) if change else None
            if change:
                watch.hits += 1
                found.append(change)
        return found


def _asked(change: Change, now: Names) -> Change | None:
    """Return a change if its watch's condition holds; with its error if it raises."""
    if change.watch.condition is None:
        return change
    told_of = {"old": change.old, "new": change.new, "relative": change.relative}
    try:
        names = {**now(change.watch.condition), **told_of}
        return change if change.watch.condition.value(names) else None
    except Exception as error:
        return change._replace(error=told(error))
