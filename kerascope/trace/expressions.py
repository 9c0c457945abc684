"""Expressions: Python that a user types, evaluated over the names at an event.

Conditions and watched expressions are compiled once. They may use the names of the Keras source,
which the tape provides, and the names of the event itself (`names_of_event`).

A tensor, a layer or a weight may be named as `set` names it: `norm(dense_1/kernel) > 3`, `watch
dense_1/kernel`, `p input_1`. In Python `dense_1/kernel` is a division, and it is evaluated as one
if both names have values. Otherwise it means the array of that name (`values_named`). With spaces,
`a / b` is always a division.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Protocol

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, FORGOTTEN, Event
from kerascope.trace.history import OF_THE_OUTPUT, History, before, value_of_event
from kerascope.trace.selectors import FORWARD_KINDS, LOSS_NAMES, OP_KINDS
from kerascope.trace.snapshots import REFS
from kerascope.trace.statistics import has_nan, norm

# --- names of tensors in a text -------------------------------------------------------------------
# A name of a tensor is recognized by a character that Python names do not have: / @ ~.


_STRING = r"""[rbfuRBFU]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_TENSOR = r"(?<![\w.])(?P<name>[^\W\d]\w*(?:[/@~]\w+)+)"
_TOKENS = re.compile(f"{_STRING}|{_TENSOR}", re.DOTALL)
_STAND_IN = "_tensor_named_"


def tensor_names_in(text: str) -> list[str]:
    """Return all possible tensor names in a text: each name with slashes, then its prefixes.

    Examples
    --------
    >>> tensor_names_in("norm(dense_1/kernel/2) + len('a/b')")
    ['dense_1/kernel/2', 'dense_1/kernel']
    """
    found: dict[str, None] = {}
    for token in _TOKENS.finditer(text):
        if token["name"]:
            found.update(dict.fromkeys(_beginnings(token["name"])))
    return list(found)


def _beginnings(name: str) -> Iterator[str]:
    """Yield a possible tensor name and its prefixes, because "/x" may also be a division by `x`."""
    parts = re.split(r"([/@~])", name)
    for last in range(len(parts), 2, -2):
        yield "".join(parts[:last])


def with_stand_ins(text: str, is_there: Callable[[str], bool]) -> tuple[str, dict[str, str]]:
    """Replace each existing tensor's name by a Python name; return the text and the replacements.

    Examples
    --------
    >>> with_stand_ins("d/kernel.sum() / lr", {"d/kernel"}.__contains__)
    ('_tensor_named_0.sum() / lr', {'d/kernel': '_tensor_named_0'})
    """
    known: dict[str, str] = {}

    def replaced(token: re.Match[str]) -> str:
        for name in _beginnings(token["name"] or ""):
            if name and is_there(name):
                stand_in = known.setdefault(name, f"{_STAND_IN}{len(known)}")
                return stand_in + token["name"][len(name) :]
        return token[0]

    return _TOKENS.sub(replaced, text), known


def _is_python(name: str, names: Mapping[str, Any]) -> bool:
    """Return whether all parts of a possible tensor name are Python names that have values."""
    if "~" in name or re.search(r"@\d", name):
        return False
    parts = [part for part in re.split("[/@]", name) if not part[0].isdigit()]
    return all(part in names or hasattr(builtins, part) for part in parts)


def values_named(
    text: str, asked: frozenset[str], names: Mapping[str, Any], find: Callable[[str], Any]
) -> dict[str, Any]:
    """Return the values of the tensors, layers and weights that a text names.

    Parameters
    ----------
    text : str
    asked : frozenset of str
        The Python names in the text, which may also be names of layers.
    names : mapping
        The names that have values already, for which `find` is not called.
    find : callable
        Returns the value of a tensor, layer or weight by its name; None if there is no value.
    """
    found: dict[str, Any] = {}
    parts: set[str] = set()
    for name in tensor_names_in(text):
        if not _is_python(name, names) and (value := find(name)) is not None:
            found[name] = value
            parts.update(re.split("[/@~]", name))
    for name in asked - parts:
        if name not in names and not hasattr(builtins, name):
            value = find(name)
            if value is not None:
                found[name] = value
    return found


class NamedEvents(History, Protocol):
    """A history that also returns the names at each time."""

    def names_at(self, t: int) -> Mapping[str, Any]:
        """Return the names of the Keras source at time `t`, with their values."""


def value_named(
    events: NamedEvents, name: str, t: int, weights: Mapping[str, Any] | None = None
) -> Any:
    """Return the array of a tensor, layer output or weight at time `t`; None if there is none.

    Parameters
    ----------
    events : NamedEvents
    name : str
        As for `set`: "dense_1/kernel", "dense_1", "input_1", "dense_1/relu", "loss".
    t : int
    weights : mapping, optional
        Weights that replace those on the tape.
    """
    if t < 0:
        return None
    names = events.names_at(t)
    for container in (weights or names.get("weights"), names.get("overridden")):
        if container and name in container:
            return container[name]
    if name in (names.get("tensor_map") or ()):
        return _alone(names["tensor_map"][name])
    if name in LOSS_NAMES and names.get("total_loss") is not None:
        return names["total_loss"]
    for event in before(events, t + 1):
        if event.kind == FORGOTTEN:
            return None
        value = _value_in(event, name)
        if value is not None or (event.kind == "function" and event.ph == BEGIN):
            return value
    return None


def _value_in(event: Event, name: str) -> Any:
    """Return the value of a tensor or a layer in the deltas of an event; None if it is missing."""
    if event.ph == BEGIN:
        if event.kind != "function":
            return None
        fed = value_of_event(event, "feed_names") or ()
        arrays = value_of_event(event, "inputs") or ()
        return dict(zip(fed, arrays, strict=False)).get(name)
    is_of_layer = event.kind in FORWARD_KINDS and event.phase != "backward"
    if event.name == name and (is_of_layer or event.kind in OP_KINDS):
        return value_of_event(event, *OF_THE_OUTPUT)
    for own, key, value in event.deltas:
        if own == "tensor_map" and key == name:
            return _alone(value)
        if own == "total_loss" and name in LOSS_NAMES:
            return value
    return None


def _alone(value: Any) -> Any:
    """Return the array of a pair (array, mask); return other values unchanged."""
    return value[0] if isinstance(value, tuple) and len(value) == 2 else value


def weights_written(events: NamedEvents, t: int) -> Mapping[str, Any] | None:
    """Return the values of all weights at a time inside a commit; None at other times.

    A commit writes all weights at once, but the tape has one event for each update. In the result,
    weights whose update comes later in the tape still have their old values.
    """
    done: dict[str, Any] = {}
    for event in before(events, t + 1):
        if event.phase != "commit" or event.kind == FORGOTTEN:
            return None
        if event.kind == "commit":
            if event.ph != BEGIN or not done:
                return None
            return {**events.names_at(event.t).get("weights", {}), **done}
        if event.kind == "update.apply":
            done.setdefault(event.name, value_of_event(event, "new"))
    return None


# --- expressions ----------------------------------------------------------------------------------


OF_THE_EVENT = ("e", "t", "ins", *OF_THE_OUTPUT)
OF_CODE = frozenset({"np", "norm", "has_nan"})
BY_KEY = ("weights", "tensor_map", "overridden")
ENOUGH_OF_THE_EVENT = frozenset({"e", "t", "out", "np", "norm", "has_nan"})


@dataclass(frozen=True)
class Expression:
    """A Python expression that a user typed, compiled to be evaluated at many events.

    Attributes
    ----------
    text : str
        The expression as it was typed.
    names : frozenset of str
        The Python names in the expression.
    code : code object
    tensors : tuple of str
        Possible names of tensors in the expression.
    """

    text: str
    names: frozenset[str]
    code: CodeType
    tensors: tuple[str, ...] = ()

    @property
    def is_of_the_event(self) -> bool:
        """Whether the expression uses only names of the event itself, as `has_nan(out)` does."""
        return self.names <= ENOUGH_OF_THE_EVENT

    def is_of_the_loss(self, others: Container[str] = ()) -> bool:
        """Return whether the value of the expression depends only on the loss of a call.

        Parameters
        ----------
        others : container of str
            Other existing names, whose values may change at any time.

        Examples
        --------
        >>> parse_expression("loss > 1000", "break").is_of_the_loss()
        True
        >>> parse_expression("loss > limit", "break").is_of_the_loss(["limit"])
        False
        """
        rest = self.names.difference(LOSS_NAMES)
        is_constant = all(hasattr(builtins, name) and name not in others for name in rest - OF_CODE)
        return len(rest) < len(self.names) and not self.tensors and is_constant

    def may_hold_for(self, loss: Any) -> bool:
        """Return whether the expression is true, or raises an error, if the loss has this value."""
        names = {"np": np, "norm": norm, "has_nan": has_nan, **dict.fromkeys(LOSS_NAMES, loss)}
        try:
            return bool(eval(self.code, names))  # the expression names no tensors
        except Exception:
            return True

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the value of the expression, computed with the given values of names.

        Names of tensors, such as "dense_1/kernel", are allowed. Errors are not caught.
        """
        code, space = self.code, dict(names)
        if any(name in names for name in self.tensors):
            text, known = with_stand_ins(self.text, names.__contains__)
            code = compile(text, "<expression>", "eval")
            space.update((stand_in, names[name]) for name, stand_in in known.items())
        # One dict instead of globals and locals, because a comprehension sees only globals.
        return eval(code, space)

    def concerns(self, event: Event) -> bool:
        """Return whether the value of the expression may change at an event."""
        asked = {*self.names, *self.tensors}
        asked.update(["total_loss"] if "loss" in asked else ())
        for name, key, value in event.deltas:
            if name == "weights" and event.kind == "update.apply" and key != event.name:
                continue  # the update of each weight has an event of its own
            if name in asked or (key in asked and name in BY_KEY):
                return True
            is_whole = key is None and name in BY_KEY and isinstance(value, Mapping)
            if is_whole and not asked.isdisjoint(value):
                return True
        is_its_end = event.name in asked and _value_in(event, event.name) is not None
        return is_its_end or bool(asked & {*OF_THE_EVENT})

    def lacks_numbers(self, names: Mapping[str, Any], error: Exception) -> bool:
        """Return whether evaluation failed because the model has not computed a value yet.

        Either a name in the expression is None or symbolic, or the loss or a tensor has no value.
        """
        if isinstance(error, NameError):
            parts = {part for name in self.tensors for part in re.split("[/@~]", name)}
            return error.name in parts.union(LOSS_NAMES)
        asked = (names.get(name) for name in (*self.names, *self.tensors) if name in names)
        return any(value is None or isinstance(value, REFS) for value in asked)


def parse_expression(text: str, where: str) -> Expression:
    """Compile an expression.

    Parameters
    ----------
    text : str
        A Python expression.
    where : str
        The command that an error message names: "condition".

    Raises
    ------
    ArgumentError
        The text is not an expression.

    Examples
    --------
    >>> parse_expression("norm(out) > 2", "break").value({"out": [3.0], "norm": norm})
    True
    >>> parse_expression("norm(out", "break")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: break: 'norm(out' is not a Python expression: '(' was never ...
    """
    tensors = tuple(tensor_names_in(text))
    plain, _ = with_stand_ins(text.strip(), lambda name: "~" in name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(plain, "<expression>", "eval")
            code = compile(tree, "<expression>", "eval")
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        raise ArgumentError(f"{where}: {text!r} is not a Python expression: {why}.") from None
    return Expression(text.strip(), frozenset(names), code, tensors)


def split_at_comma(text: str, where: str) -> tuple[str, str]:
    """Split a text at its comma into a Python expression and a condition ("" without a comma).

    A comma inside brackets belongs to the expression.

    Examples
    --------
    >>> split_at_comma("max(a, b), t > 3", "watch")
    ('max(a, b)', 't > 3')
    """
    text = text.strip()
    parse_expression(text, where)
    body = ast.parse(text.replace("~", "_"), mode="eval").body  # a tensor is named "mean~2"
    if not isinstance(body, ast.Tuple) or not body.elts or body.elts[0].col_offset > 0:
        return text, ""
    pieces = [ast.get_source_segment(text, piece) or "" for piece in body.elts]
    if len(pieces) != 2:
        raise ArgumentError(
            f"{where}: expected one expression, or one and a condition, got {len(pieces)}: "
            f"{text!r}. Put brackets around a tuple: (a, b)."
        )
    return pieces[0], pieces[1]


def names_of_event(event: Event | None) -> dict[str, Any]:
    """Return the names that an expression may use at an event, with their values.

    Returns
    -------
    dict
        `e` is the event, `t` its time, `ins` the input arrays and `out` the output; None if the
        event has no value. Without an event, `t` is -1. `np` is NumPy. `norm` and `has_nan` are
        the functions of `statistics.py`.
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


def error_text(error: BaseException) -> str:
    """Return an error as pdb shows it: "NameError: name 'x' is not defined"."""
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name
