"""Breakpoints at a line of the script that makes layers: one stop for one execution of it.

What a line builds is told by many events: a layer is there, it is called, built, gets a node. And
of `Sequential([` the lines below it are told in between, since each layer is called when the list
is whole::

    4  model = Sequential([       input, call of dense_1, call of dense_2
    5      Dense(64),             dense_1 is there
    6      Dense(1),              dense_2 is there
    7  ])

pdb stops at line 4 once, and so does this debugger.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

from kerascope.debugger.places import path_of
from kerascope.trace.breakpoints import Breakpoint
from kerascope.trace.events import Event
from kerascope.trace.history import History, before
from kerascope.trace.selectors import Selector

NEW = "layer.init"  # a layer that was not there before: its line is being executed
MAKING = (NEW, "layer.call", "layer.build", "node.create")
INSIDE = (*MAKING, "op.create", "weight.create")


@dataclass(frozen=True)
class OnceALine(Selector):
    """A selector of a line that means only the first of what one execution of the line builds."""

    def matches(self, event: Event, events: History = ()) -> bool:
        """Return whether an event is meant."""
        return super().matches(event, events) and not self._has_been_told(event, events)

    def _has_been_told(self, event: Event, events: History) -> bool:
        """Return whether an earlier event tells of the same execution of the line.

        A new layer begins another one, and so does what happens a second time: in a loop the same
        layer is called again.
        """
        where = event.where
        if event.kind not in MAKING or event.kind == NEW or where.user_line != self.number:
            return False
        statement = lines_of_statement(where.user_file, self.number)
        told = [
            (other.kind, other.name)
            for other in _run_of(event, events, statement)
            if super(OnceALine, self).matches(other, events)
        ]
        return bool(told) and (event.kind, event.name) not in told


def _run_of(event: Event, events: History, statement: range) -> Iterator[Event]:
    """Yield the events before one, as far back as they build what its statement makes."""
    for other in before(events, event.t) if events else ():
        where = other.where
        if other.kind not in INSIDE or where.user_file != event.where.user_file:
            return
        if where.user_line not in statement:
            return
        yield other


def stop_once_a_line(breakpoint: Breakpoint) -> None:
    """Let a breakpoint at a line stop once for each execution of it.

    One with a condition is asked at every event of the line: the condition chooses among them.
    """
    selector = breakpoint.selector
    if selector.what == "line":
        kind = OnceALine if breakpoint.condition is None else Selector
        breakpoint.selector = kind(*(getattr(selector, own.name) for own in fields(selector)))


def lines_of_statement(file: str, line: int) -> range:
    """Return the lines of the statement that a line belongs to; of a loop those of its head."""
    return _statement("".join(linecache.getlines(path_of(file))), line)


@lru_cache(maxsize=64)
def _statement(source: str, line: int) -> range:
    r"""Return the lines of a statement.

    Examples
    --------
    >>> _statement("if x:\n    y = [\n        1,\n    ]\n", 3)
    range(2, 5)
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return range(line, line + 1)
    found = range(line, line + 1)
    for node in ast.walk(tree):  # from the outermost to the innermost
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            last = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            found = range(node.lineno, max(last, node.lineno + 1))
    return found if line in found else range(line, line + 1)
