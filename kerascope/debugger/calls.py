"""The states of a model's layer calls at a time, which each stop prints as a row of symbols."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.debugger.session import Session
from kerascope.engine.node_ids import calls_in, layer_of
from kerascope.errors import KerascopeError
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event
from kerascope.trace.history import before, begin_of, value_of_event
from kerascope.trace.statistics import Statistics
from kerascope.trace.training_info import without_observers

FUNCTION, INNER_RUN = "function", "run_internal_graph"
RUNS = (FUNCTION, INNER_RUN, "gradients", "build_map", "build")
BATCH_BEGINS = ("batch", BEGIN)


def calls_at(session: Session, event: Event) -> list[tuple[str, str]]:
    """Return (name, state) for each layer call of the current model at an event, inputs first.

    The states are keys of `theme.STATES`: done, current, pending, nan, gradient or failed.
    """
    names = _names_of_calls(session, event)
    states = dict(_states(session, _run_around(session, event), names, event))
    run = _inner_run(session, event)
    if run is not None:
        rows = value_of_event(run, "nodes_by_depth") or {}
        inside = {node.layer for nodes in rows.values() for node in nodes}
        found = _states(session, run, [name for name in names if name in inside], event)
        states.update(found)
    return list(states.items())


def calls_in_picture(session: Session, event: Event) -> list[tuple[str, str]]:
    """Return (name, state) for each layer call of the session's model, to draw the model.

    While the session's model is being built into an outer model, `calls_at` returns the calls of
    the outer model instead.
    """
    run = _inner_run(session, event)
    if run is None or run.name != session.model.name:
        return calls_at(session, event)
    return _states(session, run, calls_of(session.model), event)


def _inner_run(session: Session, event: Event) -> Event | None:
    """Return the start of the span in which a model's graph runs to build an outer model.

    Return None if the event is not in such a span.
    """
    if event.act != "build":
        return None
    spans = [span for span in session.tape.spans_at(event.t) if span.kind == INNER_RUN]
    if event.ph == END and event.kind == INNER_RUN:
        return begin_of(event, session.tape)
    return spans[-1] if spans else None


def _states(
    session: Session, run: Event | None, names: list[str], event: Event
) -> list[tuple[str, str]]:
    """Return (name, state) for the calls in `names` at `event`.

    The states come from the events since the start of the span `run`.
    """
    if run is None or not names:
        return []
    states = dict.fromkeys(names, "done" if run.kind == "gradients" else "pending")
    begin = begin_of(run, session.tape) if run.ph == END else run
    t = event.t if begin is None else begin.t
    bad: set[str] = set()  # a call that output a NaN stays "nan" until the function's next call
    while t <= event.t:
        other = session.tape[t]
        t = other.t + 1  # the time after a FORGOTTEN event is behind all events that were dropped
        if other.kind == FORGOTTEN:
            states = _states_after_gap(session, other, names)
        _update_states(states, other)
        for name in bad & states.keys():
            states[name] = "nan" if states[name] in ("done", "gradient") else states[name]
        bad.update(name for name in states if states[name] == "nan")
    return list(states.items())


def _run_around(session: Session, event: Event) -> Event | None:
    """Return the event after which the states of the layer calls begin, or None.

    It is the start of the innermost span around `event` in which a model runs or is built. Inside a
    batch but outside of such a span, as in its callbacks, it is the end of the function call of the
    batch.
    """
    spans = session.tape.spans_at(event.t)
    if event.ph == END:
        spans = [*spans, event]
    # A model that is built into another runs inside the call of one layer: see `_inner_run`.
    runs = [s for s in spans if s.kind in RUNS and (s.act, s.kind) != ("build", INNER_RUN)]
    if runs:
        return runs[-1]
    if not any(span.kind == "batch" for span in spans) or (event.kind, event.ph) == BATCH_BEGINS:
        return None
    for other in before(session.tape, event.t):
        if other.kind in (FUNCTION, "batch", FORGOTTEN):
            return other if other.kind == FUNCTION else None
    return None


def _states_after_gap(session: Session, mark: Event, names: list[str]) -> dict[str, str]:
    """Return the state of each layer call at a mark of forgotten events.

    They are derived from the outputs and gradients among the names at this time.
    """
    left = session.tape.names_at(mark.t)
    values, gradients = left.get("tensor_map") or {}, left.get("grads") or {}
    states = {}
    for name in names:
        value = values.get(name)
        array = value[0] if isinstance(value, tuple) and value else value
        state = "pending" if name not in values else "done" if _is_sound(array) else "nan"
        is_swept = name in gradients and mark.phase != "backward"
        of_weights = f"{name.partition('@')[0]}/"  # weight gradients follow those of the layer
        if state == "done" and (is_swept or any(key.startswith(of_weights) for key in gradients)):
            state = "gradient"
        states[name] = state
    for span in session.tape.spans_at(mark.t):
        _update_states(states, span)
    return states


def _names_of_calls(session: Session, event: Event) -> list[str]:
    if event.act != "build" and session.model is not None:
        of_model = calls_of(session.model)
        if of_model:
            return of_model
    found: list[str] = []
    for other in session.tape[: event.t + 1]:
        if other.kind == "build" and other.ph == BEGIN:
            found = []
        elif other.kind == "layer.init":
            found.append(other.name)
    return found


def calls_of(model: Any) -> list[str]:
    """Return the names of the layer calls of a model; an empty list if it has no graph."""
    try:
        return [call.id for call in without_observers(calls_in, model)]
    except (KerascopeError, AttributeError):
        return []  # a subclassed model has no graph before its first call


def _update_states(states: dict[str, str], event: Event) -> None:
    """Update the states of the layer calls by one event, which may begin or end a call."""
    if event.kind == "function" and event.ph == BEGIN:
        fed = value_of_event(event, "tensor_map") or {}
        states.update((key, "done") for key in fed if key in states)
        return
    if event.kind in ("node.create", "tmap.set") and event.ph != BEGIN:
        name = layer_of(event.name)
        if states.get(name) == "pending":
            states[name] = "done"
        return
    if event.kind == "op" and any(delta.name == "error" for delta in event.deltas):
        states.update((name, "failed") for name in states if states[name] == "current")
        return
    if event.kind not in ("node", "layer.call", "map.visit", "grad.node"):
        return
    name = layer_of(event.name)
    name = name if name in states else name.partition("@")[0]
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
