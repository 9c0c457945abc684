"""Rebuild the calls of a foreign model from the events of a tape, such as a loaded tape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kerascope.foreign.records import Call, Frame, Recorded
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.snapshots import LayerRef
from kerascope.trace.statistics import Statistics

_KIND = re.compile(r"(?P<letter>[a-z]+?)(?P<bits>\d*)\[(?P<sizes>[\d,]*)\]")
_WORDS = {"f": "float", "i": "int", "u": "uint", "bool": "bool", "c": "complex"}


def calls_on_tape(events: Iterable[Event]) -> tuple[list[Call], list[Frame]]:
    """Return the calls and the enclosing frames of the last batch in a sequence of events.

    The lists are empty if no foreign model ran. A call that has not returned has no outputs.

    Parameters
    ----------
    events : iterable of Event

    Examples
    --------
    >>> from kerascope.foreign.records import Value
    >>> from kerascope.foreign.writer import TapeWriter
    >>> writer, x = TapeWriter(), Value("x", (2,), "float32", lambda: np.ones(2, "float32"))
    >>> name = writer.call("x", [], [x], op="Input", kind="input")
    >>> name = writer.call("act", [x], [], op="ReLU", kind="activation")
    >>> [(call.id, call.op, len(call.inputs)) for call in calls_on_tape(writer.tape)[0]]
    [('x', 'Input', 0), ('act', 'ReLU', 1)]
    """
    calls: list[Call] = []
    frames: list[Frame] = []
    spans: list[Event] = []
    for event in events:
        if event.ph == BEGIN:
            if event.kind == "batch":
                calls, frames = [], []
            spans.append(event)
            layer = value_of_event(event, "layer")
            if event.kind == "node" and isinstance(layer, LayerRef):
                outer = next((one.name for one in reversed(spans[:-1]) if _is_frame(one)), "")
                if _is_frame(event):
                    frames.append(Frame(event.name, layer.name, layer.kind, outer))
                elif value_of_event(event, "sources") is not None:
                    calls.append(_call(event, layer, outer))
        elif event.ph == END and spans:
            begin = spans.pop()
            if calls and begin.name == calls[-1].id and begin.kind == "node":
                calls[-1] = _returned(calls[-1], value_of_event(event, "result"))
    return calls, frames


def states_on_tape(events: Iterable[Event]) -> dict[str, str]:
    """Return the state of each call of the last batch, by the name of the call.

    "current" is the call that is running, and "done" a call that has ended. "nan" means that one
    of the call's numbers is not finite, and "gradient" that the gradient of its output is computed.

    Parameters
    ----------
    events : iterable of Event
        The events before the time for which the states are returned.
    """
    states: dict[str, str] = {}
    spans: list[Event] = []
    for event in events:
        if event.ph == BEGIN:
            if event.kind == "batch":
                states = {}
            spans.append(event)
        elif event.ph == END and spans:
            begin = spans.pop()
            if begin.kind != "node" or _is_frame(begin):
                continue
            is_sound = all(_is_sound(one) for one in _listed(value_of_event(event, "result")))
            done = "gradient" if begin.phase == "backward" else "done"
            if states.get(begin.name) != "nan":
                states[begin.name] = done if is_sound else "nan"
    states.update((span.name, "current") for span in spans[-1:] if span.kind == "node")
    return states


def _listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _is_sound(value: Any) -> bool:
    if isinstance(value, Statistics):
        return value.is_sound
    is_float = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"
    return not is_float or bool(np.isfinite(value).all())


def _is_frame(event: Event) -> bool:
    return (
        event.kind == "node"
        and event.phase != "backward"
        and value_of_event(event, "node") is not None
        and value_of_event(event, "kind") is None
    )


def _call(event: Event, layer: LayerRef, frame: str) -> Call:
    given = value_of_event(event, "inputs") or ()
    sources: Sequence[str] = value_of_event(event, "sources")
    inputs = tuple(
        _recorded(source or f"{event.name} reads {place}", array)
        for place, (source, array) in enumerate(zip(sources, given, strict=True))
    )
    where = event.where
    line = None
    if where.user_file:
        line = (where.user_file, where.user_line, where.made.function if where.made else "")
    kind = str(value_of_event(event, "kind"))
    return Call(event.name, layer.name, layer.kind, kind, inputs, (), frame, line)


def _returned(call: Call, result: Any) -> Call:
    arrays = result if isinstance(result, list) else [result]
    outputs = tuple(
        _recorded(call.id if not number else f"{call.id}[{number}]", array)
        for number, array in enumerate(arrays)
    )
    return Call(call.id, call.name, call.op, call.kind, call.inputs, outputs, call.frame, call.line)


def _recorded(token: str, array: Any) -> Recorded:
    """Return the `Recorded` for an array that a tape contains, or for statistics of an array."""
    if isinstance(array, (np.ndarray, np.generic)):
        return Recorded(token, array.shape, str(array.dtype), np.asarray(array))
    found = _KIND.fullmatch(array.kind) if isinstance(array, Statistics) else None
    if found is None:
        return Recorded(token, (), "", None)
    sizes = tuple(int(size) for size in found["sizes"].split(",") if size)
    dtype = _WORDS.get(found["letter"], found["letter"]) + found["bits"]
    return Recorded(token, sizes, dtype, array)
