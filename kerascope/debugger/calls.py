"""The calls of the model at a time, and how far each is: what the glyph row of a stop shows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kerascope.debugger.session import Session
from kerascope.engine.node_ids import calls_in
from kerascope.errors import KerascopeError
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event
from kerascope.trace.expressions import value_of_event
from kerascope.trace.statistics import Statistics
from kerascope.trace.train_facts import quietly

RUNS = ("function", "run_internal_graph", "gradients", "build_map", "build")
_NODE = re.compile(r"_ib-\d+$")


def calls_at(session: Session, event: Event) -> list[tuple[str, str]]:
    """Return (call, state) for the calls of the model around an event, inputs first.

    The states are names of `theme.STATES`: done, current, pending, nan, gradient,
    failed.
    """
    spans = session.tape.spans_at(event.t)
    if event.ph == END:
        spans = [*spans, event]
    runs = [span for span in spans if span.kind in RUNS]
    run = runs[-1] if runs else None
    names = _names_of_calls(session, event)
    if run is None or not names:
        return []
    if event.kind == FORGOTTEN:
        return _states_left(session, event, names)
    before = "done" if run.kind == "gradients" else "pending"
    states = dict.fromkeys(names, before)
    start = run.t if run.ph == BEGIN else _begin_of(session, run)
    bad: set[str] = set()  # what a NaN came out of stays so, until the next call of the function
    for t in range(start, event.t + 1):
        _put_states(states, session.tape[t])
        for name in bad & states.keys():
            states[name] = "nan" if states[name] in ("done", "gradient") else states[name]
        bad.update(name for name in states if states[name] == "nan")
    return list(states.items())


def _states_left(session: Session, mark: Event, names: list[str]) -> list[tuple[str, str]]:
    """Return the states behind a forgotten stretch, as far as `tensor_map` tells them."""
    left = session.tape.names_at(mark.t).get("tensor_map") or {}
    states = []
    for name in names:
        value = left.get(name)
        array = value[0] if isinstance(value, tuple) and value else value
        state = "pending" if name not in left else "done" if _is_sound(array) else "nan"
        states.append((name, state))
    return states


def _begin_of(session: Session, end: Event) -> int:
    for t in range(end.t - 1, -1, -1):
        other = session.tape[t]
        if other.depth == end.depth and other.kind == end.kind and other.ph == BEGIN:
            return t
    return end.t


def _names_of_calls(session: Session, event: Event) -> list[str]:
    if event.act != "build" and session.model is not None:
        of_model = _of_model(session.model)
        if of_model:
            return of_model
    found: list[str] = []
    for other in session.tape[: event.t + 1]:
        if other.kind == "build" and other.ph == BEGIN:
            found = []
        elif other.kind == "layer.init":
            found.append(other.name)
    return found


def _of_model(model: Any) -> list[str]:
    try:
        return [call.id for call in quietly(calls_in, model)]
    except (KerascopeError, AttributeError):
        return []  # a subclassed model that was not called yet has no graph


def _put_states(states: dict[str, str], event: Event) -> None:
    """Change the states by what an event tells."""
    if event.kind == "function" and event.ph == BEGIN:
        fed = value_of_event(event, "tensor_map") or {}
        states.update((key, "done") for key in fed if key in states)
        return
    if event.kind == "node.create" and event.ph != BEGIN:
        name = _NODE.sub("", event.name)
        if states.get(name) == "pending":
            states[name] = "done"
        return
    if event.kind == "op" and any(delta.name == "error" for delta in event.deltas):
        states.update((name, "failed") for name in states if states[name] == "current")
        return
    if event.kind not in ("node", "layer.call", "map.visit", "grad.node"):
        return
    name = _NODE.sub("", event.name)
    if name not in states:
        return
    if event.ph == BEGIN:
        states[name] = "current"
    elif any(delta.name == "error" for delta in event.deltas):
        states[name] = "failed"
    elif not _is_sound(value_of_event(event, "result")):
        states[name] = "nan"
    else:
        is_gradient = event.kind == "grad.node" or event.phase == "backward"
        states[name] = "gradient" if is_gradient else "done"


def _is_sound(value: Any) -> bool:
    if isinstance(value, Statistics):
        return value.is_sound
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f":
        return bool(np.isfinite(value).all())
    return True
