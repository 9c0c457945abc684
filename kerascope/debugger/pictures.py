"""The model's graph as it stands at a stop: what is done, what is current, what went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.debugger.calls import calls_in_picture
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell
from kerascope.debugger.tape_graph import graph_of_tape, states_on_tape
from kerascope.errors import ArgumentError
from kerascope.trace.events import Event
from kerascope.trace.train_facts import quietly
from kerascope.viz.drawing import Drawing
from kerascope.viz.exports.to_text import text_drawing, to_text
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.subjects import model_with_graph
from kerascope.viz.graph import Graph
from kerascope.viz.overlays.marking import known_ids, with_progress, with_states
from kerascope.viz.overlays.values import with_values


def picture_of(session: Session, with_numbers: bool = False) -> Drawing:
    """Return the picture of the model at the time where the stepper stands.

    Parameters
    ----------
    session : Session
    with_numbers : bool
        Whether boxes say what came out of them.

    Raises
    ------
    ArgumentError
        Nothing has happened yet.
    """
    return Drawing(graph_at(session, with_numbers))


def graph_at(session: Session, with_numbers: bool = False) -> Graph:
    """Return the model's graph with its states at the time where the stepper stands."""
    if not len(session.tape):
        raise ArgumentError("draw: nothing has happened yet; `s` goes to the first event.")
    event = session.tape[session.stepper.now]
    if session.model is None or not getattr(session.model, "outputs", None):
        graph = graph_of_tape(session.tape[: event.t + 1])
        states = states_on_tape(session, event, graph)
    else:
        graph = quietly(_graph_of, session.model)
        boxes = known_ids(graph)
        states = {name: state for name, state in calls_in_picture(session, event) if name in boxes}
    known = known_ids(graph)
    if with_numbers:
        graph = with_values(graph, _values_at(session, event, known))
    done = [name for name, state in states.items() if state in ("done", "nan", "gradient")]
    current = next((name for name, state in states.items() if state == "current"), None)
    graph = with_progress(graph, done, current)
    marks = {name: state for name, state in states.items() if state in ("nan", "gradient")}
    marks.update((name, "overridden") for name in _overridden(session, event) if name in known)
    return with_states(graph, marks) if marks else graph


def _graph_of(model: Any) -> Graph:
    return node_graph(model_with_graph(model, "draw"))


def _values_at(session: Session, event: Event, known: dict[str, None]) -> dict[str, Any]:
    found = session.tape.names_at(event.t).get("tensor_map") or {}
    values: dict[str, Any] = {}
    for key, value in found.items():
        array = value[0] if isinstance(value, tuple) else value
        name = key if key in known else key.rpartition(":")[0]
        if name in known and isinstance(array, np.ndarray) and array.dtype.kind in "fiub":
            values.setdefault(name, []).append(array)
    return values


def _overridden(session: Session, event: Event) -> list[str]:
    """Return the calls in which a tensor was given another array until now."""
    names = []
    for change in session.timelines.current.overrides:
        if change.t <= event.t and change.t < len(session.tape):
            spans = [*session.tape.spans_at(change.t), session.tape[change.t]]
            names += [span.name for span in spans if span.kind == "node"]
    return names


def say_picture(shell: Shell, picture: Drawing) -> None:
    """Print a picture in characters, with colours in a terminal."""
    draw = text_drawing if shell.is_terminal else to_text
    options = {"width": shell.width, "ascii_only": shell.ascii_only}
    shell.say(draw(picture.graph, picture.options, **options))  # type: ignore[arg-type]
