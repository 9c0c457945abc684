"""The source lines of ops: the user's line that made an op, and the code that computes it.

`backend/provenance.py` finds the user's line; this module puts it into the `Where` of an event. An
op's own code is its `perform`, not the loop that calls the `perform` of all ops.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable
from typing import Any

from kerascope.backend.graph import Apply, Op
from kerascope.backend.provenance import Line, provenance_of
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.trace.event_writer import short
from kerascope.trace.events import Made, Where

NO_CODE = ("", 0, "")
METHODS = ("perform", "compute")  # the methods of an op class that compute the op


def place_of_op(where: Where, apply: Apply) -> Where:
    """Return a copy of `where` with the user's line that made an op, and the op's own code."""
    found = provenance_of(apply)
    code = code_of(type(apply.op))
    if found is None:
        return where._replace(made=Made(code=code))
    made = Made(
        found.line.function,
        found.role,
        found.gradient_of,
        _plain(found.made_by),
        _plain(found.called_from),
        code,
    )
    return where._replace(user_file=found.line.file, user_line=found.line.line, made=made)


def place_of_layer(where: Where, layer: Layer) -> Where:
    """Return a copy of `where` with the line that made a layer, and the place of its `call`."""
    made_on = layer._made_on or Line("", 0, "")
    code = _code_in(type(layer).call, f"{type(layer).__name__}.call")
    made = Made(made_on.function, f"made {layer.name}", code=code)
    return where._replace(user_file=made_on.file, user_line=made_on.line, made=made)


def place_of_call(where: Where, node: Node) -> Where:
    """Return a copy of `where` with the lines that made and called a Node's layer.

    The place of the layer's `call` is included, too.
    """
    place = place_of_layer(where, node.outbound_layer)
    called = _plain(node.called_at.lines[:1])
    return place._replace(made=place.made and place.made._replace(called_from=called))


def place_of_ops(where: Where, applies: Iterable[Apply]) -> Where:
    """Return a copy of `where` with the user's lines that made these ops, if there are any."""
    own = dict.fromkeys(line for apply in applies for line in apply.frames.lines)
    return where._replace(made=Made(made_by=_plain(own))) if own else where


def _plain(lines: Iterable[Line]) -> tuple[tuple[str, int, str], ...]:
    return tuple(line[:3] for line in lines)


_codes: dict[type[Op], tuple[str, int, str]] = {}


def code_of(kind: type[Op]) -> tuple[str, int, str]:
    """Return (file, line, name) of the code that computes the ops of a class.

    For a class without Python code, return `NO_CODE`.

    Examples
    --------
    >>> from kerascope.backend.ops.elementwise import Log
    >>> file, line, name = code_of(Log)
    >>> file, name
    ('kerascope/backend/ops/elementwise.py', 'Log')
    """
    if kind not in _codes:
        _codes[kind] = _code_of(kind)
    return _codes[kind]


def _code_of(kind: type[Op]) -> tuple[str, int, str]:
    for cls in kind.__mro__:
        own = vars(cls)
        for method in METHODS:
            if hasattr(own.get(method), "__code__"):
                return _code_in(own[method], f"{kind.__name__}.{method}")
        if own.get("ufunc") is not None:
            return _line_of_ufunc(cls)
    return NO_CODE


def _code_in(function: Any, name: str) -> tuple[str, int, str]:
    """Return (file, line, name) of the body of a function; `NO_CODE` if it is not in Python."""
    code = getattr(function, "__code__", None)
    if code is None:
        return NO_CODE
    lines = sorted({line for *_, line in code.co_lines() if line is not None})
    body = [line for line in lines if line > code.co_firstlineno] or lines
    return short(code.co_filename), body[0], name


def _line_of_ufunc(cls: type[Any]) -> tuple[str, int, str]:
    """Return (file, line, name) where an op class names its NumPy ufunc; `NO_CODE` if not found."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    lines = linecache.getlines(file) if file else []
    begun = False
    for number, line in enumerate(lines, 1):
        begun = begun or re.match(rf"\s*class {cls.__name__}\b", line) is not None
        if begun and re.match(r"\s+ufunc\b", line):
            return short(file), number, cls.__name__
    return NO_CODE
