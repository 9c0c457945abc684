"""Python expressions that a user writes behind `break`, `condition` and `watch`, and their names.

An expression is compiled once and evaluated over the names at an event: those of the Keras source
that the tape gives back, and those of the event itself (`names_of_event`).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.contents import has_nan, norm
from kerascope.trace.events import Event

OF_THE_OUTPUT = ("out", "result")
OF_THE_EVENT = ("e", "t", "ins", *OF_THE_OUTPUT)
ENOUGH_OF_THE_EVENT = frozenset({"e", "t", "out", "np", "norm", "has_nan"})


@dataclass(frozen=True)
class Expression:
    """A compiled expression.

    Attributes
    ----------
    text : str
        As it was written.
    names : frozenset of str
        The names that it asks for.
    code : code object
    """

    text: str
    names: frozenset[str]
    code: CodeType

    @property
    def is_of_the_event(self) -> bool:
        """True if the event alone has all names that it asks for; `has_nan(out)` is such a one."""
        return self.names <= ENOUGH_OF_THE_EVENT

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the value over some names; whatever Python raises is raised."""
        # One dict, not globals and locals: a comprehension sees nothing but globals.
        return eval(self.code, dict(names))


def parse_expression(text: str, where: str) -> Expression:
    """Return an expression, compiled.

    Parameters
    ----------
    text : str
        A Python expression.
    where : str
        The command that is told in an error: "condition".

    Raises
    ------
    ArgumentError
        It is no expression.

    Examples
    --------
    >>> parse_expression("norm(out) > 2", "break").value({"out": [3.0], "norm": norm})
    True
    >>> parse_expression("norm(out", "break")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: break: 'norm(out' is no Python expression: '(' was never closed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), "<expression>", "eval")
            code = compile(tree, "<expression>", "eval")
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        told = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        raise ArgumentError(f"{where}: {text!r} is no Python expression: {told}.") from None
    return Expression(text.strip(), frozenset(names), code)


def split_at_comma(text: str, where: str) -> tuple[str, str]:
    """Return a Python expression and the condition behind its comma; "" where there is none.

    A comma inside brackets belongs to the expression.

    Examples
    --------
    >>> split_at_comma("max(a, b), t > 3", "watch")
    ('max(a, b)', 't > 3')
    """
    text = text.strip()
    parse_expression(text, where)
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Tuple) or not body.elts or body.elts[0].col_offset > 0:
        return text, ""
    pieces = [ast.get_source_segment(text, piece) or "" for piece in body.elts]
    if len(pieces) != 2:
        raise ArgumentError(
            f"{where}: got {len(pieces)} expressions in {text!r}; expected one, or one and a "
            "condition. Put brackets around a tuple: (a, b)."
        )
    return pieces[0], pieces[1]


def value_of_event(event: Event, *names: str) -> Any:
    """Return the value that an event gives to the first of some names that it has, else None."""
    deltas = event.deltas
    if deltas:
        for wanted in names:
            for name, key, value in deltas:
                if name == wanted and key is None:
                    return value
    return None


def names_of_event(event: Event | None) -> dict[str, Any]:
    """Return what can be said of one event; of None, where there is none, nothing.

    Returns
    -------
    dict
        `e` the event, `t` its time, `ins` the arrays that went in, `out` the array that came out
        (both None where the event has none), and `np`, `norm`, `has_nan`.
    """
    out = value_of_event(event, *OF_THE_OUTPUT) if event else None
    if isinstance(out, list | tuple) and len(out) == 1:
        out = out[0]
    ins = value_of_event(event, "inputs") if event else None
    return {
        "e": event,
        "t": event.t if event else -1,
        "ins": ins,
        "out": out,
        "np": np,
        "norm": norm,
        "has_nan": has_nan,
    }


def told(error: BaseException) -> str:
    """Return an error as pdb shows it: "NameError: name 'x' is not defined"."""
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name
