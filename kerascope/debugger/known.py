"""The names that exist in a session, so that a misspelt one is found and not waited for."""

from __future__ import annotations

from kerascope.debugger.calls import calls_of
from kerascope.debugger.session import Session
from kerascope.trace.events import Event
from kerascope.trace.selectors import (
    FORWARD_KINDS,
    NOTHING_KNOWN,
    OP_KINDS,
    WEIGHT_KINDS,
    KnownNames,
    op_name,
)


def known_names(session: Session) -> KnownNames:
    """Return all names of layers, ops, tensors and weights, once they can be known.

    Before a function was called, models may still be built: then nothing is known for certain.
    """
    is_all = session.is_over or any(event.kind == "batch" for event in _events(session))
    return names_so_far(session) if is_all else NOTHING_KNOWN


def _events(session: Session) -> list[Event]:
    return list(session.recorder.tape if session.recorder else session.tape)


def names_so_far(session: Session) -> KnownNames:
    """Return the names that exist up to now; others may still come."""
    layers: dict[str, None] = {}
    ops: dict[str, None] = {}
    tensors: dict[str, None] = {}
    weights: dict[str, None] = {}
    for event in _events(session):
        if event.kind in OP_KINDS:
            tensors[event.name] = None
            ops[op_name(event)] = None
        elif event.kind in WEIGHT_KINDS:
            weights[event.name] = None
        elif event.kind in FORWARD_KINDS or event.kind == "layer.init":
            layers[event.name] = None
    if session.model is not None:
        layers.update(dict.fromkeys(calls_of(session.model)))
    if session.recorder is not None:
        for plan in session.recorder.memory.plans.values():
            tensors.update((planned.name, None) for planned in plan.steps)
            ops.update((planned.step.apply.op.name, None) for planned in plan.steps)
    return KnownNames(tuple(layers), tuple(ops), tuple(tensors), tuple(weights))
