"""Pictures of the model at a stop: which layer calls are done, are current, or returned NaN.

If the model is not built yet, or does not exist any more, its graph is drawn from the tape.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kerascope.debugger.calls import calls_at, calls_in_picture
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell
from kerascope.engine.node_ids import layer_of
from kerascope.errors import ArgumentError
from kerascope.foreign.from_tape import calls_on_tape
from kerascope.foreign.from_tape import states_on_tape as states_of_calls
from kerascope.foreign.graphs import ON_TAPE, graph_of_calls
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.training_info import without_observers
from kerascope.viz.drawing import Drawing
from kerascope.viz.exports.to_text import text_drawing, to_text
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.subjects import model_with_graph
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.kinds import KIND_OF_CLASS
from kerascope.viz.nesting import longest_paths
from kerascope.viz.overlays.marking import known_ids, with_progress, with_states
from kerascope.viz.overlays.values import with_values

END_OF_FIT = 100  # events that may follow the last call: callbacks, the ends of spans

# --- the graph of layer calls on a tape -----------------------------------------------------------


def graph_of_tape(events: list[Event]) -> Graph:
    """Return the graph of the layer calls on a tape, for use when the model does not exist.

    If a `build_map` is on the tape, the graph has only the calls of the model that it built.

    Raises
    ------
    ArgumentError
        No layer was called, or two tensors have the same name, so the connections are ambiguous.
    """
    calls, frames = calls_on_tape(events)
    if calls:
        return graph_of_calls("model", calls, frames, library=ON_TAPE)
    created = [event for event in events if event.kind == "node.create"]
    mapped = _mapped(events)
    created = [event for event in created if not mapped or event.name in mapped]
    if not created:
        raise ArgumentError("draw: no layer has been called yet. Continue until one is: `s`.")
    counts = Counter(layer_of(event.name) for event in created)
    seen: Counter[str] = Counter()
    ids: dict[str, str] = {}
    makers: dict[str, str] = {}
    for event in created:
        layer = layer_of(event.name)
        ids[event.name] = layer if counts[layer] == 1 else f"{layer}@{seen[layer]}"
        seen[layer] += 1
        for tensor in value_of_event(event, "outputs") or ():
            if tensor.name in makers:
                raise ArgumentError(
                    f"draw: two tensors are named {tensor.name}, so the connections cannot be read "
                    "from the tape alone. Draw while the model exists: continue until it is built."
                )
            makers[tensor.name] = ids[event.name]
    edges = [
        GraphEdge(makers[tensor.name], ids[event.name])
        for event in created
        for tensor in _inputs(events, event)
        if tensor.name in makers
    ]
    depths = longest_paths([*ids.values()], [(edge.source, edge.target) for edge in edges])
    nodes = [
        GraphNode(box, layer_of(name), _kind(events, name), depth=depths[box])
        for name, box in ids.items()
    ]
    nodes.sort(key=lambda node: -node.depth)
    return Graph("the calls so far" if not mapped else "the model", tuple(nodes), tuple(edges))


def states_on_tape(session: Session, event: Event, graph: Graph) -> dict[str, str]:
    """Return the state of each box of `graph_of_tape` at an event, by the id of the box."""
    calls = dict(calls_at(session, event))
    states = {node.id: calls.get(node.id) or calls.get(node.label, "") for node in graph.nodes}
    return {name: state for name, state in states.items() if state}


def _mapped(events: list[Event]) -> set[str]:
    """Return the names of the nodes that the last `build_map` of a model visited."""
    starts = [event.t for event in events if event.kind == "build_map" and event.ph == BEGIN]
    since = events[starts[-1] :] if starts else []
    return {event.name for event in since if event.kind == "map.visit" and event.ph == END}


def _call(events: list[Event], created: Event) -> Event | None:
    """Return the start of the layer call that created a Node; None if the tape does not have it."""
    layer = layer_of(created.name)
    for event in reversed(events[: created.t]):
        if event.kind in ("layer.call", "layer.init") and event.name == layer:
            return event
    return None


def _inputs(events: list[Event], created: Event) -> list[Any]:
    call = _call(events, created)
    inputs = value_of_event(call, "inputs") if call is not None else None
    return [x for x in inputs or () if hasattr(x, "name")]


def _kind(events: list[Event], name: str) -> str:
    created = next(e for e in events if e.kind == "node.create" and e.name == name)
    call = _call(events, created)
    layer = value_of_event(call, "layer") if call is not None else None
    return KIND_OF_CLASS.get(getattr(layer, "kind", ""), "layer")


# --- the picture at a stop ------------------------------------------------------------------------


def picture_of(session: Session, with_numbers: bool = False) -> Drawing:
    """Return the picture of the model at the current time.

    Parameters
    ----------
    session : Session
    with_numbers : bool
        Whether each box shows the output values of its layer call.

    Raises
    ------
    ArgumentError
        The tape has no event yet.
    """
    return Drawing(graph_at(session, with_numbers))


def graph_at(session: Session, with_numbers: bool = False) -> Graph:
    """Return the model's graph at the current time, with the state of each layer call."""
    if not len(session.tape):
        raise ArgumentError("draw: nothing has happened yet. `s` goes to the first event.")
    event = _event_to_draw(session)
    if session.model is None or not getattr(session.model, "outputs", None):
        events = session.tape[: event.t + 1]
        graph = graph_of_tape(events)
        is_foreign = "library" in graph.attrs
        found = states_of_calls(events) if is_foreign else states_on_tape(session, event, graph)
        states = {name: state for name, state in found.items() if name in known_ids(graph)}
    else:
        graph = without_observers(lambda: node_graph(model_with_graph(session.model, "draw")))
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


def _event_to_draw(session: Session) -> Event:
    """Return the event for which the states of the layer calls are drawn.

    At the end of the run this is the end of the last function call, otherwise the current event.
    """
    tape, now = session.tape, session.stepper.now
    event: Event = tape[now]
    if session.stepper.source.ended and now == len(tape) - 1:
        last = (tape[t] for t in range(now, max(now - END_OF_FIT, -1), -1))
        return next((e for e in last if e.kind == e.act == "function" and e.ph == END), event)
    return event


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
    """Return the names of the layer calls in which `set` changed a tensor up to an event."""
    names = []
    for change in session.timelines.current.overrides:
        if change.t <= event.t and change.t < len(session.tape):
            spans = [*session.tape.spans_at(change.t), session.tape[change.t]]
            names += [span.name for span in spans if span.kind == "node"]
    return names


def say_picture(shell: Shell) -> None:
    """Print the picture at a stop as text, with colours in a terminal."""
    picture = picture_of(shell.session)
    draw = text_drawing if shell.is_terminal else to_text
    options = {"width": shell.width, "ascii_only": shell.ascii_only}
    shell.say(draw(picture.graph, picture.options, **options))  # type: ignore[arg-type]
