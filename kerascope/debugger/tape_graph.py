"""The graph of calls as a tape tells it: where no model is built yet, or none lives any more."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from kerascope.debugger.calls import calls_at
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.kinds import KIND_OF_CLASS

NODE = re.compile(r"_ib-\d+$")


def graph_of_tape(events: list[Event]) -> Graph:
    """Return the calls of layers of which events tell; of a model that was mapped, its own.

    Raises
    ------
    ArgumentError
        There are none; or two tensors have one name, so that it is not known which goes where.
    """
    created = [event for event in events if event.kind == "node.create"]
    mapped = _mapped(events)
    created = [event for event in created if not mapped or event.name in mapped]
    if not created:
        raise ArgumentError("draw: no layer has been called yet; go on until one is.")
    counts = Counter(NODE.sub("", event.name) for event in created)
    seen: Counter[str] = Counter()
    ids: dict[str, str] = {}
    makers: dict[str, str] = {}
    for event in created:
        layer = NODE.sub("", event.name)
        ids[event.name] = layer if counts[layer] == 1 else f"{layer}@{seen[layer]}"
        seen[layer] += 1
        for tensor in value_of_event(event, "outputs") or ():
            if tensor.name in makers:
                raise ArgumentError(
                    f"draw: two tensors are named {tensor.name}, so the tape alone cannot tell "
                    "which goes where. Draw while the model lives: go on until it is built."
                )
            makers[tensor.name] = ids[event.name]
    edges = [
        GraphEdge(makers[tensor.name], ids[event.name])
        for event in created
        for tensor in _inputs(events, event)
        if tensor.name in makers
    ]
    depths = _depths(list(ids.values()), edges)
    nodes = [
        GraphNode(box, NODE.sub("", name), _kind(events, name), depth=depths[box])
        for name, box in ids.items()
    ]
    nodes.sort(key=lambda node: -node.depth)
    return Graph("the calls so far" if not mapped else "the model", tuple(nodes), tuple(edges))


def states_on_tape(session: Session, event: Event, graph: Graph) -> dict[str, str]:
    """Return the states of the boxes of such a graph."""
    told = dict(calls_at(session, event))
    states = {node.id: told.get(node.id) or told.get(node.label, "") for node in graph.nodes}
    return {name: state for name, state in states.items() if state}


def _mapped(events: list[Event]) -> set[str]:
    """Return the names of the nodes that the last map of a model has met."""
    starts = [event.t for event in events if event.kind == "build_map" and event.ph == BEGIN]
    since = events[starts[-1] :] if starts else []
    return {event.name for event in since if event.kind == "map.visit" and event.ph == END}


def _call(events: list[Event], created: Event) -> Event | None:
    """Return the begin of the call in which a node was created."""
    layer = NODE.sub("", created.name)
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


def _depths(boxes: list[str], edges: list[GraphEdge]) -> dict[str, int]:
    """Return the longest path from each box to an end; later calls never feed earlier ones."""
    depths = dict.fromkeys(boxes, 0)
    for box in reversed(boxes):
        for edge in edges:
            if edge.source == box:
                depths[box] = max(depths[box], depths[edge.target] + 1)
    return depths
