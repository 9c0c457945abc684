"""What a page must know of frames before anybody closes them: their boxes, and the arrows' ends.

`collapsed` says what a closed frame looks like. A page opens and closes frames itself, so Python
asks for every frame beforehand: all frames of one nesting are closed at once, outer ones first, so
a graph is collapsed as often as its frames are nested, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kerascope.viz.collapse.collapsed import collapsed, kind_of_group
from kerascope.viz.collapse.levels import nesting_of
from kerascope.viz.graph import Graph, GraphEdge, GraphNode

# An attribute that tells arrows apart while a graph is collapsed.
_NUMBER = "arrow number"


@dataclass
class ClosedFrames:
    """The frames of a graph, each as the box that it is when closed.

    Attributes
    ----------
    boxes : dict of str to GraphNode
        By the ids of the groups.
    outputs, operands : dict of (int, str) to int
        Which output, or input, of a closed frame an arrow is; by the arrow's number and the group.
    """

    boxes: dict[str, GraphNode] = field(default_factory=dict)
    outputs: dict[tuple[int, str], int] = field(default_factory=dict)
    operands: dict[tuple[int, str], int] = field(default_factory=dict)


def closed_frames(graph: Graph) -> ClosedFrames:
    """Return what each group of a graph is when it is closed.

    Parameters
    ----------
    graph : Graph

    Examples
    --------
    >>> from kerascope.viz.graph import GraphGroup
    >>> boxes = GraphNode("x", "x", "input", depth=1), GraphNode("m/h", "h", "dense", "m")
    >>> graph = Graph("g", boxes, (GraphEdge("x", "m/h"),), (GraphGroup("m", "encoder"),))
    >>> frames = closed_frames(graph)
    >>> frames.boxes["m"].attrs["members"], frames.operands
    (1, {(0, 'm'): 0})
    """
    frames = ClosedFrames()
    numbered = tuple(
        replace(edge, attrs={**edge.attrs, _NUMBER: number})
        for number, edge in enumerate(graph.edges)
    )
    tagged = replace(graph, edges=numbered)
    nesting = nesting_of(graph)
    for depth in range(1, 1 + max(nesting.values())):
        closed = [group.id for group in graph.groups if nesting[group.id] == depth]
        _close(tagged, closed, frames)
    for group in graph.groups:
        if group.id not in frames.boxes:  # it holds nothing, or only tensors used elsewhere too
            attrs = {key: value for key, value in group.attrs.items() if key != "kind"}
            kind = "model" if kind_of_group(group) == "call" else "block"
            box = GraphNode(group.id, group.label, kind, group.parent, group.depth, attrs)
            frames.boxes[group.id] = box
    return frames


def _close(graph: Graph, closed: list[str], frames: ClosedFrames) -> None:
    """Close some groups that do not lie in each other, and note what is seen then."""
    known = dict.fromkeys(closed)
    small = collapsed(graph, closed)
    frames.boxes.update((node.id, node) for node in small.nodes if node.id in known)
    by_number: dict[int, GraphEdge] = {}
    by_tensor: dict[tuple[object, ...], GraphEdge] = {}
    for edge in small.edges:
        number = int(edge.attrs[_NUMBER])
        by_number[number] = edge
        original = graph.edges[number]
        by_tensor[(original.source, original.attrs.get("output"), edge.target)] = edge
    around = _frame_of_each_box(graph, known)
    for number, original in enumerate(graph.edges):
        target = around[original.target] or original.target
        tensor = original.source, original.attrs.get("output"), target
        seen = by_number.get(number) or by_tensor.get(tensor)
        if seen is not None and seen.source in known:
            frames.outputs[number, seen.source] = int(seen.attrs["output"])
        if seen is not None and seen.target in known:
            frames.operands[number, seen.target] = int(seen.attrs["operand"])


def _frame_of_each_box(graph: Graph, closed: dict[str, None]) -> dict[str, str]:
    """Return the closed group that each box lies in, "" for none."""
    frame = {"": ""}
    for group in graph.groups:
        frame[group.id] = group.id if group.id in closed else frame[group.parent]
    return {node.id: frame[node.group] for node in graph.nodes}
