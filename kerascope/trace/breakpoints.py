"""Breakpoints and watches: where the program stops, and which values are watched for changes.

An event is a hit if the selector of a breakpoint matches it and the condition holds. The first hit
that is not ignored stops the program. A condition that raises an error stops too and shows the
error, as in pdb. But if a name in the condition is None or still symbolic, the condition counts as
false, because it has no value yet. Hits are counted when the debugger moves forward and backward.
Unlike in pdb, an event for which the condition is false is not a hit. So the hits of `break *,
has_nan(out)` are the outputs with NaN.

`watch weight:dense_1*` stops when a matching weight gets a new value, and shows the old value, the
new value and the relative change. `watch EXPR` evaluates a Python expression over the names of the
Keras source and stops when its value differs from the value at the event before: `watch
list(tensor_map)`. Values are compared by content, arrays number by number. Whether a value changed
at an event depends only on the event and on the names before and at it. So a watch stops at the
same events forward, backward and in a replay.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.expressions import Expression, error_text, parse_expression, split_at_comma
from kerascope.trace.history import OF_THE_OUTPUT, History, value_of_event
from kerascope.trace.selectors import NOTHING_KNOWN, KnownNames, Selector, parse_selector
from kerascope.trace.snapshots import REFS, same
from kerascope.trace.statistics import COLLECTIONS, NUMBERS, Statistics, relative_change

Names = Callable[[Expression], Mapping[str, Any]]


# --- numbered items: breakpoints and watches ------------------------------------------------------


class HasNumber(Protocol):
    """What `Numbered` requires of a breakpoint or a watch: a number, and whether it is enabled."""

    number: int
    enabled: bool


Item = TypeVar("Item", bound=HasNumber)


class Numbered(Generic[Item]):
    """The breakpoints, or the watches, of a session, stored by number."""

    what: ClassVar[str]

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self._numbers = numbers or count(1)
        self._items: dict[int, Item] = {}

    def __iter__(self) -> Iterator[Item]:
        return iter([*self._items.values()])

    def __len__(self) -> int:
        return len(self._items)

    def _enter(self, made: Item) -> Item:
        self._items[made.number] = made
        return made

    def get(self, number: int, where: str = "break") -> Item:
        """Return the breakpoint or watch that has the given number.

        Raises
        ------
        ArgumentError
            No breakpoint or watch of the session has this number.
        """
        if number not in self._items:
            listed = ", ".join(map(str, self._items))
            use = f"Use one of: {listed}" if listed else "None is set yet"
            raise ArgumentError(f"{where}: there is no {self.what} {number}. {use}.")
        return self._items[number]

    def set_enabled(self, is_enabled: bool, *numbers: int) -> list[Item]:
        """Enable or disable the given breakpoints or watches, by default all; return them."""
        chosen = self._chosen(numbers, "enable" if is_enabled else "disable")
        for one in chosen:
            one.enabled = is_enabled
        return chosen

    def clear(self, *numbers: int) -> list[Item]:
        """Remove the breakpoints or watches with these numbers, by default all; return them."""
        chosen = self._chosen(numbers, "clear")
        for one in chosen:
            self._items.pop(one.number, None)
        return chosen

    def _chosen(self, numbers: tuple[int, ...], where: str) -> list[Item]:
        return [self.get(number, where) for number in numbers] if numbers else list(self)


# --- breakpoints ----------------------------------------------------------------------------------


@dataclass
class Breakpoint:
    """A condition that stops the program: a selector of events, and an optional expression.

    Attributes
    ----------
    number : int
    selector : Selector
    condition : Expression or None
    temporary : bool
        Whether the breakpoint is removed after its first stop.
    enabled : bool
    ignore : int
        The number of further hits that do not stop the program.
    hits : int
        The number of hits so far, including ignored ones.
    commands : list of str
        Debugger commands that run when the breakpoint stops the program.
    lacking : str
        Why the condition had no result at the last matching event, for example because a name
        had no value; "" if it had a result.
    """

    number: int
    selector: Selector
    condition: Expression | None = None
    temporary: bool = False
    enabled: bool = True
    ignore: int = 0
    hits: int = 0
    commands: list[str] = field(default_factory=list)
    lacking: str = ""

    def matches(self, event: Event, events: History = ()) -> bool:
        """Return whether the selector matches an event. The condition is not evaluated."""
        selector = self.selector
        if isinstance(selector, ConditionSelector):
            return self.condition is not None and self.condition.concerns(event)
        if self.condition and not selector.at_end and self.condition.names & {*OF_THE_OUTPUT}:
            selector = selector.at_the_end()  # the output exists only there
        return selector.matches(event, events)


@dataclass(frozen=True)
class ConditionSelector(Selector):
    """The selector of a breakpoint that is only a condition.

    It matches the events that set a name used in the condition.
    """


def loss_conditions(
    breakpoints: Iterable[Breakpoint], sample: Iterable[Event], others: Container[str]
) -> dict[int, Expression]:
    """Return the conditions that depend only on the loss of a training call, by breakpoint number.

    Parameters
    ----------
    breakpoints : iterable of Breakpoint
    sample : iterable of Event
        The events of one batch or call. If these events contain no loss, the conditions cannot
        become true, and the result is empty.
    others : container of str
        The names whose values may change at any time. A condition with such a name does not
        depend only on the loss.
    """
    sample = list(sample)
    return {
        one.number: one.condition
        for one in breakpoints
        if isinstance(one.selector, ConditionSelector)
        and one.enabled
        and one.condition is not None
        and one.condition.is_of_the_loss(others)
        and any(one.condition.concerns(event) for event in sample)
    }


def batches_to_stop_in(
    breakpoints: Iterable[Breakpoint], sample: Iterable[Event], events: History
) -> frozenset[int] | None:
    """Return the batch numbers at which a breakpoint may stop; None if every number is possible.

    Parameters
    ----------
    breakpoints : iterable of Breakpoint
    sample : iterable of Event
        The events of one batch or call. All other batches are assumed to have the same events,
        except "weight.set".
    events : History
        The history that contains the sample.
    """
    sample, numbers = list(sample), set()
    for one in breakpoints:
        selector = one.selector
        if not one.enabled:
            continue
        if isinstance(selector, ConditionSelector) or selector.what in ("weight", "all"):
            return None
        if selector.what == "event" and fnmatchcase("weight.set", selector.pattern):
            return None
        if selector.what == "batch":
            numbers.add(selector.number)
        elif any(one.matches(event, events) for event in sample):
            return None
    return frozenset(numbers)


class Hit(NamedTuple):
    """A breakpoint that stops the program, with the error of its condition ("" for none)."""

    breakpoint: Breakpoint
    error: str = ""


class Breakpoints(Numbered[Breakpoint]):
    """The breakpoints of a session.

    Parameters
    ----------
    numbers : iterator of int, optional
        The source of numbers. Breakpoints and watches that share it have different numbers.

    Examples
    --------
    >>> breakpoints = Breakpoints()
    >>> breakpoints.add("op:dot, norm(out) > 2").number
    1
    >>> breakpoints.get(1).condition.text
    'norm(out) > 2'
    """

    what = "breakpoint"

    def add(
        self, text: str, known: KnownNames = NOTHING_KNOWN, *, temporary: bool = False
    ) -> Breakpoint:
        """Add a breakpoint from "SEL", "SEL, condition" or a condition alone: "loss > 1000".

        Raises
        ------
        ArgumentError
            The selector or the condition is invalid; nothing was added.
        """
        where = "tbreak" if temporary else "break"
        alone = _condition_alone(text, where)
        if alone is not None:
            coming = ConditionSelector(alone.text, "value")
            return self._enter(Breakpoint(next(self._numbers), coming, alone, temporary))
        chosen, comma, condition = text.partition(",")
        if comma and not condition.strip():
            raise ArgumentError(f"{where}: a condition is missing after the comma of {text!r}.")
        selector = parse_selector(chosen, known, where)
        expression = parse_expression(condition, where) if comma else None
        return self._enter(Breakpoint(next(self._numbers), selector, expression, temporary))

    def hit(self, event: Event, names: Names, events: History = ()) -> Hit | None:
        """Count the hits at an event. Return the first hit that stops the program, else None.

        Parameters
        ----------
        event : Event
        names : callable
            Takes an expression and returns the names that it uses, with their values at the event.
        events : History
            The earlier events, because some selectors read the start of a span.
        """
        for breakpoint in self:
            if not breakpoint.enabled or not breakpoint.matches(event, events):
                continue
            try:
                there = names(breakpoint.condition) if breakpoint.condition else {}
                is_met = not breakpoint.condition or breakpoint.condition.value(there)
                breakpoint.lacking = ""
                if not is_met:
                    continue
            except Exception as error:
                if breakpoint.condition and breakpoint.condition.lacks_numbers(there, error):
                    breakpoint.lacking = error_text(error)
                    continue
                breakpoint.hits += 1  # its text is wrong: stop despite `ignore`, and keep it
                return Hit(breakpoint, error_text(error))
            breakpoint.hits += 1
            if breakpoint.ignore:
                breakpoint.ignore -= 1
                continue
            if breakpoint.temporary:
                self.clear(breakpoint.number)
            return Hit(breakpoint)
        return None


def _condition_alone(text: str, where: str) -> Expression | None:
    """Return the compiled expression if a text is a condition without a selector; else None.

    Such a condition is a comparison, a call, or an expression with `not`, `and` or `or`.
    """
    try:
        expression = parse_expression(text, where)
        body = ast.parse(expression.text.replace("~", "_"), mode="eval").body
    except (ArgumentError, SyntaxError):
        return None
    is_one = isinstance(body, ast.Compare | ast.BoolOp | ast.Call)
    is_not = isinstance(body, ast.UnaryOp) and isinstance(body.op, ast.Not)
    return expression if is_one or is_not else None


# --- watches --------------------------------------------------------------------------------------


WEIGHT = "weight:"
OF_TYPE = "of type "
CHANGING_KINDS = ("update.apply", "weight.set")


@dataclass(frozen=True)
class Unknown:
    """Stands for the value of an expression that cannot be evaluated, with the reason."""

    reason: str

    def __repr__(self) -> str:
        return f"<{self.reason}>"


NOTHING = Unknown("no value yet")


class Change(NamedTuple):
    """A change of a watched value.

    Attributes
    ----------
    watch : Watch
    name : str
        The name of the weight, or the text of the expression.
    old, new : object
        The values before and after the change; `Unknown` if there was or is no value.
    relative : float or None
        ‖new - old‖ / ‖old‖, for numbers and arrays.
    added, removed : tuple
        The keys of a dict, or the elements of a list or a set, that were added and removed.
    error : str
        The error that the watch's condition raised, else "".
    """

    watch: Watch
    name: str
    old: Any
    new: Any
    relative: float | None = None
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    error: str = ""


@dataclass
class Watch:
    """A watched weight or expression.

    Attributes
    ----------
    number : int
    text : str
        The expression, or "weight:" and a glob.
    expression : Expression or None
        None for weights.
    condition : Expression or None
        Evaluated with the names at the event, and with `old`, `new` and `relative` of the `Change`.
    first : object
        The value when the watch was set.
    enabled : bool
    hits : int
        The number of changes reported so far.
    """

    number: int
    text: str
    expression: Expression | None
    condition: Expression | None = None
    first: Any = NOTHING
    enabled: bool = True
    hits: int = 0

    def concerns(self, event: Event) -> bool:
        """Return whether the watched value may have changed at an event."""
        if self.expression is None:
            pattern = self.text.removeprefix(WEIGHT)
            is_change = event.kind in CHANGING_KINDS and event.ph != BEGIN
            return is_change and fnmatchcase(event.name, pattern)
        return self.expression.concerns(event)

    def change(self, event: Event, before: Names, now: Names) -> Change | None:
        """Return the change of the watched value at an event; None if the value is the same."""
        name = event.name if self.expression is None else self.text
        if self.expression is None:
            old, new = value_of_event(event, "old"), value_of_event(event, "new")
            old = NOTHING if old is None else old
            if new is None:
                values = [d.value for d in event.deltas if d[:2] == ("weights", event.name)]
                new = values[0] if values else None
        else:
            old, new = value_of(self.expression, before), value_of(self.expression, now)
        if (new is None and self.expression is None) or same(old, new):
            return None
        if self.expression is not None and not _is_worth_a_stop(old, new):
            return None
        return Change(self, name, old, new, relative_change(old, new), *_keys(old, new))


def value_of(expression: Expression, names: Names) -> Any:
    """Return the value of an expression; `Unknown` if it raises an error or its value is not data.

    Data are numbers, text, arrays, and containers of these (`is_data`).
    """
    there: Mapping[str, Any] = {}
    try:
        there = names(expression)
        value = expression.value(there)
    except NameError:
        return NOTHING
    except Exception as error:
        return NOTHING if expression.lacks_numbers(there, error) else Unknown(error_text(error))
    return value if is_data(value) else Unknown(f"{OF_TYPE}{type(value).__name__}")


def _is_worth_a_stop(old: Any, new: Any) -> bool:
    """Return whether the program stops at this change of an expression's value.

    It stops at every change, with two exceptions: a comparison is false when it gets its first
    value, or a comparison no longer has a value. So `watch total_loss > 1000` stops when the
    comparison becomes true, and when it becomes false again.
    """
    if isinstance(old, Unknown) and isinstance(new, bool | np.bool_):
        return bool(new)
    return not (isinstance(new, Unknown) and isinstance(old, bool | np.bool_))


def _keys(old: Any, new: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the keys or elements that only the new container has, and those only the old has."""
    both_dicts = isinstance(old, Mapping) and isinstance(new, Mapping)
    if not both_dicts and not (isinstance(old, COLLECTIONS) and isinstance(new, COLLECTIONS)):
        return (), ()
    mine, theirs = list(old), list(new)
    added = tuple(key for key in theirs if not any(same(key, other) for other in mine))
    return added, tuple(key for key in mine if not any(same(key, other) for other in theirs))


class Watches(Numbered[Watch]):
    """The watches of a session.

    Parameters
    ----------
    numbers : iterator of int, optional
        The source of numbers, shared with the breakpoints.

    Examples
    --------
    >>> watches = Watches()
    >>> watches.add("weight:*_W, relative > 0.1").condition.text
    'relative > 0.1'
    """

    what = "watch"

    def add(self, text: str, names: Names = lambda expression: {}) -> Watch:
        """Add a watch from "EXPR", "EXPR, condition" or "weight:GLOB".

        Parameters
        ----------
        text : str
        names : callable
            Takes an expression and returns the current names that it needs, with their values. If a
            name has no value yet, the watch reports the value when it appears.

        Raises
        ------
        ArgumentError
            The text is not an expression, or its value is not data (numbers, text, arrays, or
            containers of these).
        """
        text = text.strip()
        expression, condition = None, ""
        if text.startswith(WEIGHT):
            text, _, condition = (piece.strip() for piece in text.partition(","))
            if text == WEIGHT:
                raise ArgumentError("watch: add a name after 'weight:', as weight:dense_1*.")
        else:
            text, condition = split_at_comma(text, "watch")
            expression = parse_expression(text, "watch")
        asked = parse_expression(condition, "watch") if condition else None
        first = value_of(expression, names) if expression else NOTHING
        if isinstance(first, Unknown) and first.reason.startswith(OF_TYPE):
            raise ArgumentError(
                f"watch: {text} is {first.reason}. A watch compares data: numbers, texts, arrays "
                "and containers of them. Watch something that it holds."
            )
        return self._enter(Watch(next(self._numbers), text, expression, asked, first))

    def changes(self, event: Event, before: Names, now: Names) -> list[Change]:
        """Return the changes of watched values at an event, for watches whose condition holds.

        Parameters
        ----------
        event : Event
        before, now : callable
            Each takes an expression and returns the names that it uses, with their values: `before`
            at the previous event, `now` at this event.
        """
        found = []
        for watch in self:
            if not watch.enabled or not watch.concerns(event):
                continue
            change = watch.change(event, before, now)
            change = _asked(change, now) if change else None
            if change:
                watch.hits += 1
                found.append(change)
        return found


def _asked(change: Change, now: Names) -> Change | None:
    """Return `change` if the condition of its watch holds or raises an error; otherwise None."""
    if change.watch.condition is None:
        return change
    values = {"old": change.old, "new": change.new, "relative": change.relative}
    try:
        names = {**now(change.watch.condition), **values}
        return change if change.watch.condition.value(names) else None
    except Exception as error:
        return change._replace(error=error_text(error))


PLAIN = (type(None), str, bytes, Statistics, *NUMBERS, *REFS)


def is_data(value: Any) -> bool:
    """Return whether a value is data: numbers, text, arrays, and containers of these.

    Descriptions of tensors, layers and Nodes (`snapshots.py`) are data as well.

    Examples
    --------
    >>> is_data({"a": [1, np.ones(2)]}), is_data([print])
    (True, False)
    """
    if isinstance(value, PLAIN):
        return True
    if isinstance(value, Mapping):
        return all(is_data(item) for item in value.values())
    return isinstance(value, COLLECTIONS) and all(is_data(item) for item in value)
