"""Breakpoints: where the program should stop, with numbers, conditions and counts as pdb has them.

An event that a breakpoint's selector matches, and for which its condition holds, is a hit. The
first breakpoint that is hit and not ignored stops. A condition that raises stops too, with its
error, as in pdb. What is passed on the way back in time counts like what is passed on the way on.

pdb counts a hit even where the condition is false; here `break *, has_nan(out)` counts the NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError
from kerascope.trace.events import Event
from kerascope.trace.expressions import OF_THE_OUTPUT, Expression, parse_expression, told
from kerascope.trace.selectors import NOTHING_KNOWN, KnownNames, Selector, parse_selector
from kerascope.trace.sources import History

Names = Callable[[Expression], Mapping[str, Any]]


@dataclass
class Breakpoint:
    """One breakpoint.

    Attributes
    ----------
    number : int
    selector : Selector
    condition : Expression or None
    temporary : bool
        Whether it is gone after it has stopped once.
    enabled : bool
    ignore : int
        How many hits will not stop.
    hits : int
        How often it was hit, ignored hits among them.
    commands : list of str
        What the debugger does when it stops here.
    """

    number: int
    selector: Selector
    condition: Expression | None = None
    temporary: bool = False
    enabled: bool = True
    ignore: int = 0
    hits: int = 0
    commands: list[str] = field(default_factory=list)

    def matches(self, event: Event, events: History = ()) -> bool:
        """Return whether an event is one of its selector; the condition is not asked."""
        selector = self.selector
        if self.condition and not selector.at_end and self.condition.names & {*OF_THE_OUTPUT}:
            selector = selector.at_the_end()  # only there is an output to speak of
        return selector.matches(event, events)


class BreakpointRow(NamedTuple):
    """One row of the table of breakpoints."""

    number: int
    disposition: str
    enabled: bool
    selector: str
    condition: str
    ignore: int
    hits: int
    commands: tuple[str, ...]


class Hit(NamedTuple):
    """A breakpoint that stops, and the error of its condition if that is why."""

    breakpoint: Breakpoint
    error: str = ""


class Breakpoints:
    """The breakpoints of a session.

    Parameters
    ----------
    numbers : iterator of int, optional
        Where the numbers come from; what shares them never shows one number twice.

    Examples
    --------
    >>> breakpoints = Breakpoints()
    >>> breakpoints.add("op:dot, norm(out) > 2").number
    1
    >>> breakpoints.rows()[0].condition
    'norm(out) > 2'
    """

    def __init__(self, numbers: Iterator[int] | None = None) -> None:
        self._numbers = numbers or count(1)
        self._breakpoints: dict[int, Breakpoint] = {}

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(self._breakpoints.values())

    def __len__(self) -> int:
        return len(self._breakpoints)

    def add(
        self, text: str, known: KnownNames = NOTHING_KNOWN, *, temporary: bool = False
    ) -> Breakpoint:
        """Make a breakpoint of "SEL" or "SEL, condition".

        Raises
        ------
        ArgumentError
            The selector or the condition is nonsense; nothing was made.
        """
        where = "tbreak" if temporary else "break"
        chosen, comma, condition = text.partition(",")
        if comma and not condition.strip():
            raise ArgumentError(f"{where}: behind the comma of {text!r} a condition is missing.")
        selector = parse_selector(chosen, known, where)
        expression = parse_expression(condition, where) if comma else None
        made = Breakpoint(next(self._numbers), selector, expression, temporary)
        self._breakpoints[made.number] = made
        return made

    def get(self, number: int, where: str = "break") -> Breakpoint:
        """Return a breakpoint by its number.

        Raises
        ------
        ArgumentError
            There is none of this number.
        """
        if number not in self._breakpoints:
            listed = ", ".join(str(other) for other in self._breakpoints)
            there = f"there are {listed}" if listed else "there are none yet"
            raise ArgumentError(f"{where}: no breakpoint {number}; {there}.")
        return self._breakpoints[number]

    def enable(self, *numbers: int) -> list[Breakpoint]:
        """Let some stop again, or all; return them."""
        return self._switch(numbers, True, "enable")

    def disable(self, *numbers: int) -> list[Breakpoint]:
        """Let some not stop, or all; return them."""
        return self._switch(numbers, False, "disable")

    def _switch(self, numbers: tuple[int, ...], enabled: bool, where: str) -> list[Breakpoint]:
        chosen = self._chosen(numbers, where)
        for breakpoint in chosen:
            breakpoint.enabled = enabled
        return chosen

    def clear(self, *numbers: int) -> list[Breakpoint]:
        """Remove some, or all; return them."""
        chosen = self._chosen(numbers, "clear")
        for breakpoint in chosen:
            self._breakpoints.pop(breakpoint.number, None)
        return chosen

    def _chosen(self, numbers: tuple[int, ...], where: str) -> list[Breakpoint]:
        return [self.get(number, where) for number in numbers] if numbers else list(self)

    def set_ignore(self, number: int, hits: int = 0) -> Breakpoint:
        """Let the next hits of a breakpoint not stop; 0 lets all stop."""
        if hits < 0:
            raise ArgumentError(f"ignore: got {hits}; expected how many hits, 0 or more.")
        chosen = self.get(number, "ignore")
        chosen.ignore = hits
        return chosen

    def set_condition(self, number: int, text: str = "") -> Breakpoint:
        """Give a breakpoint a condition; "" takes it away."""
        chosen = self.get(number, "condition")
        chosen.condition = parse_expression(text, "condition") if text.strip() else None
        return chosen

    def set_commands(self, number: int, commands: list[str]) -> Breakpoint:
        """Give a breakpoint the commands that the debugger does when it stops there."""
        chosen = self.get(number, "commands")
        chosen.commands = list(commands)
        return chosen

    def hit(self, event: Event, names: Names, events: History = ()) -> Hit | None:
        """Count the hits of an event; return the first that stops.

        Parameters
        ----------
        event : Event
        names : callable
            Gives the names at the event for an expression.
        events : History
            The events before, for selectors that ask for the begin of a span.
        """
        for breakpoint in self._breakpoints.values():
            if not breakpoint.enabled or not breakpoint.matches(event, events):
                continue
            try:
                if breakpoint.condition and not breakpoint.condition.value(
                    names(breakpoint.condition)
                ):
                    continue
            except Exception as error:
                breakpoint.hits += 1  # it stops whatever is ignored, and stays: its text is wrong
                return Hit(breakpoint, told(error))
            breakpoint.hits += 1
            if breakpoint.ignore:
                breakpoint.ignore -= 1
                continue
            if breakpoint.temporary:
                del self._breakpoints[breakpoint.number]
            return Hit(breakpoint)
        return None

    def rows(self) -> list[BreakpointRow]:
        """Return the table of breakpoints."""
        return [
            BreakpointRow(
                breakpoint.number,
                "del" if breakpoint.temporary else "keep",
                breakpoint.enabled,
                breakpoint.selector.text,
                breakpoint.condition.text if breakpoint.condition else "",
                breakpoint.ignore,
                breakpoint.hits,
                tuple(breakpoint.commands),
            )
            for breakpoint in self
        ]
