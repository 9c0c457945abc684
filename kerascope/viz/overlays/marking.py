"""Marks: functions that return a Graph with marked boxes.

An overlay never adds or removes boxes or arrows. It sets the attributes `detail`, `state` and
`note`, which every renderer supports (see `graph.py`). So one overlay works for all formats, and
several can be combined::

    highlighted(with_values(node_graph(model), values_of(model, x)), "encoder*")

Boxes are identified by their ids. An overlay is applied to the graph from an extractor. Pictures
that hide boxes are made from the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TypeVar

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import below, items_of
from kerascope.viz.theme import STATES

Item = TypeVar("Item", GraphNode, GraphGroup)

_CALL_NUMBER = re.compile(r"@\d+$")


# --- any mark -------------------------------------------------------------------------------------


def with_attributes(
    graph: Graph, attributes: Mapping[str, Mapping[str, Attribute]], where: str = "with_attributes"
) -> Graph:
    """Return the graph with additional attributes on the named boxes and frames.

    Parameters
    ----------
    graph : Graph
    attributes : mapping of str to mapping
        The attributes by the id of a box or frame. They replace attributes with the same name.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    ArgumentError
        The graph has no box or frame with one of these ids.

    Examples
    --------
    >>> graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    >>> with_attributes(graph, {"a": {"detail": "by Ada"}}).node("a").attrs
    {'detail': 'by Ada'}
    """
    _check_ids(graph, attributes, where)
    nodes, groups = _marked(graph.nodes, attributes), _marked(graph.groups, attributes)
    return replace(graph, nodes=nodes, groups=groups)


def with_details(
    graph: Graph, details: Mapping[str, str | Iterable[str]], where: str = "with_details"
) -> Graph:
    """Return the graph with additional lines of text in the named boxes and frames.

    Parameters
    ----------
    graph : Graph
    details : mapping of str to (str or iterable of str)
        The text, or its lines, by the id of a box or frame. It is added below existing details.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    ArgumentError
        The graph has no box or frame with one of these ids.
    """
    _check_ids(graph, details, where)
    marks: dict[str, dict[str, Attribute]] = {}
    for item in items_of(graph):
        more = details.get(item.id, "")
        text = more if isinstance(more, str) else "\n".join(more)
        if text:
            marks[item.id] = {"detail": detail_of(item, text)}
    return with_attributes(graph, marks, where)


def detail_of(item: GraphNode | GraphGroup, more: str) -> str:
    """Return the details of a box with further lines below. For a frame, all are on one line."""
    separator = " · " if isinstance(item, GraphGroup) else "\n"
    more = more.replace("\n", separator)
    return separator.join(filter(None, (str(item.attrs.get("detail", "")), more)))


def with_states(
    graph: Graph,
    states: Mapping[str, str],
    notes: Mapping[str, str] | None = None,
    where: str = "with_states",
) -> Graph:
    """Return the graph with states set on the named boxes and frames.

    Parameters
    ----------
    graph : Graph
    states : mapping of str to str
        A key of `theme.STATES` by the id of a box or frame; "" removes the state.
    notes : mapping of str to str, optional
        The text next to the state, by id. It replaces the default text of the state.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    ArgumentError
        The graph has no such box or frame, or the state does not exist.

    Examples
    --------
    >>> graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    >>> with_states(graph, {"a": "failed"}, {"a": "too small"}).node("a").attrs
    {'state': 'failed', 'note': 'too small'}
    """
    notes = notes or {}
    for box_id, state in states.items():
        if state and state not in STATES:
            raise ArgumentError(
                f"{where}: unknown state {state!r} of {box_id!r}. {did_you_mean(state, STATES)}"
                f"Use one of: {', '.join(STATES)}."
            )
    marks = {box_id: mark(state, notes.get(box_id, "")) for box_id, state in states.items()}
    for box_id, note in notes.items():
        marks.setdefault(box_id, {"note": note})
    return with_attributes(_without_notes(graph, states), marks, where)


def mark(state: str, note: str = "") -> dict[str, Attribute]:
    """Return the attributes that mark a box: a state and, unless it is empty, a note."""
    return {"state": state, "note": note} if note else {"state": state}


# --- highlight ------------------------------------------------------------------------------------


def highlighted(graph: Graph, names: str | Iterable[str]) -> Graph:
    """Return the graph with the named boxes highlighted.

    Parameters
    ----------
    graph : Graph
    names : str or iterable of str
        The id of a box, the name of a layer (all its calls), or a pattern with `*` and `?`. If a
        nested model is drawn as a frame, all its contents are highlighted, too.

    Raises
    ------
    ArgumentError
        A name or pattern matches nothing.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    found = dict.fromkeys(x for name in wanted for x in ids_matching(graph, name, "highlight"))
    inside = _inside(graph, found)
    return with_states(graph, dict.fromkeys([*found, *inside], "highlight"), where="highlight")


def ids_matching(graph: Graph, name: str, where: str = "highlight") -> list[str]:
    """Return the ids of the boxes and frames that match an id, a label, or a pattern.

    Raises
    ------
    ArgumentError
        Nothing matches.
    """
    items = items_of(graph)
    tests: list[Callable[[GraphNode | GraphGroup], bool]] = [
        lambda item: item.id == name,
        lambda item: item.label == name,
        lambda item: fnmatchcase(item.id, name) or fnmatchcase(item.label, name),
    ]
    for fits in tests:
        found = [item.id for item in items if fits(item)]
        if found:
            return found
    known = list(dict.fromkeys([*(x.label for x in items), *(x.id for x in items)]))
    raise ArgumentError(_unknown_text(graph, where, name, known))


# --- progress -------------------------------------------------------------------------------------


def with_progress(graph: Graph, done: Iterable[str], current: str | None = None) -> Graph:
    """Return the graph at one moment of a forward pass, with the finished calls marked.

    Parameters
    ----------
    graph : Graph
    done : iterable of str
        Ids of the finished calls. The id of a frame includes all calls inside it.
    current : str, optional
        Id of the call that is being computed.

    Returns
    -------
    Graph
        Boxes are "done", "current" or "pending". Arrows into done boxes are "done", others
        "pending". A box with the state "nan" keeps it when it is done.

    Raises
    ------
    ArgumentError
        The graph has no box for one of the ids.

    Notes
    -----
    If a nested model is drawn as one box, the box is current, not done, while a call inside the
    model is computed. In the layer view, a box is done when all calls of its layer are.
    """
    counts = _counts_of_boxes(graph, done)
    states: dict[str, str] = {}
    now = None if current is None else display_id(graph, current, "with_progress")
    inside = _inside(graph, [box_id for box_id in counts if box_id])
    for item in items_of(graph):
        needed = int(item.attrs.get("calls", 1)) if "call" not in item.attrs else 1
        is_done = counts.get(item.id, 0) >= needed or item.id in inside
        states[item.id] = "done" if is_done else "pending"
    for box_id in [] if now is None else [now, *_around(graph, now)]:
        states[box_id] = "current"
    broken = {x.id for x in items_of(graph) if x.attrs.get("state") == "nan"}
    notes = {box_id: "current, not finite" for box_id in broken if states[box_id] == "current"}
    states |= {box_id: "nan" for box_id in states if box_id in broken and states[box_id] == "done"}
    marked = with_states(graph, states, notes, where="with_progress")
    arrived = {box_id for box_id, state in states.items() if state in ("done", "nan")}
    edges = [edge_with(e, "done" if e.target in arrived else "pending") for e in graph.edges]
    return replace(marked, edges=tuple(edges))


def edge_with(edge: GraphEdge, state: str, note: str = "") -> GraphEdge:
    """Return an arrow with a state and, unless it is empty, a note."""
    # `replace` takes five times as long, and a large picture has 100,000 arrows.
    return GraphEdge(edge.source, edge.target, edge.label, {**edge.attrs, **mark(state, note)})


def display_id(graph: Graph, call_id: str, where: str, known: Iterable[str] | None = None) -> str:
    """Return the id of the box that shows the call with the given id.

    Usually this is the box with the call's id. In the layer view it is the box of the layer. For a
    call inside a nested model that is drawn as one box, it is the box of the model.

    Raises
    ------
    ArgumentError
        No box shows the call.
    """
    boxes = known if known is not None else known_ids(graph)
    candidate = call_id
    while candidate:
        for one in (candidate, _CALL_NUMBER.sub("", candidate)):
            if one in boxes:
                return one
        candidate = candidate.rpartition("/")[0]
    raise ArgumentError(_unknown_text(graph, where, call_id, list(boxes)))


# --- ids, paths and frames ------------------------------------------------------------------------


def known_ids(graph: Graph) -> dict[str, None]:
    """Return the ids of all boxes and frames of a graph."""
    return dict.fromkeys(item.id for item in items_of(graph))


def paths_of_boxes(graph: Graph) -> dict[str, str]:
    """Return the path of each box's layer: `encoder/wide` for every call of this layer."""
    paths = {"": ""}
    for group in graph.groups:
        paths[group.id] = below(paths[group.parent], group.label)
    return {
        **{group.id: paths[group.id] for group in graph.groups},
        **{node.id: below(paths[node.group], node.label) for node in graph.nodes},
    }


def _counts_of_boxes(graph: Graph, calls: Iterable[str]) -> dict[str, int]:
    """Return how many finished calls each box shows. Calls inside a closed frame do not count."""
    known = known_ids(graph)
    counts: dict[str, int] = {}
    for call_id in dict.fromkeys(calls):
        box_id = display_id(graph, call_id, "with_progress", known)
        if box_id in (call_id, _CALL_NUMBER.sub("", call_id)):
            counts[box_id] = counts.get(box_id, 0) + 1
    return counts


def _inside(graph: Graph, frames: Iterable[str]) -> dict[str, None]:
    """Return the ids of all boxes and frames inside the given frames."""
    wanted = set(frames)
    inside = dict.fromkeys(group.id for group in graph.groups if group.id in wanted)
    for group in graph.groups:  # outer groups come first
        if group.parent in inside:
            inside[group.id] = None
    return inside | dict.fromkeys(node.id for node in graph.nodes if node.group in inside)


def _around(graph: Graph, box_id: str) -> list[str]:
    """Return the frames around a box or frame, innermost first."""
    parents = {group.id: group.parent for group in graph.groups}
    frame = parents.get(box_id) or next((n.group for n in graph.nodes if n.id == box_id), "")
    frames = []
    while frame:
        frames.append(frame)
        frame = parents[frame]
    return frames


def _marked(
    items: tuple[Item, ...], marks: Mapping[str, Mapping[str, Attribute]]
) -> tuple[Item, ...]:
    return tuple(
        replace(item, attrs={**item.attrs, **marks[item.id]}) if marks.get(item.id) else item
        for item in items
    )


def _without_notes(graph: Graph, ids: Mapping[str, str]) -> Graph:
    """Return the graph without the notes of the given boxes and frames."""

    def cleared(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(
            replace(x, attrs={k: v for k, v in x.attrs.items() if k != "note"})
            if x.id in ids and "note" in x.attrs
            else x
            for x in items
        )

    return replace(graph, nodes=cleared(graph.nodes), groups=cleared(graph.groups))


def _check_ids(graph: Graph, ids: Iterable[str], where: str) -> None:
    known = known_ids(graph)
    for one in ids:
        if one not in known:
            raise ArgumentError(_unknown_text(graph, where, one, list(known)))


def _unknown_text(graph: Graph, where: str, name: str, known: list[str]) -> str:
    few = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    return (
        f"{where}: Graph {graph.name!r} has no box {name!r}. {did_you_mean(str(name), known)}"
        f"Use one of: {few}."
    )
