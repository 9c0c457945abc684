"""What a picture says in words: tooltips, labels for screen readers, the order of reading."""

from __future__ import annotations

from collections.abc import Sequence

from kerascope.viz.boxes import PictureOptions, box_text, is_repeated
from kerascope.viz.graph import Graph, GraphNode

MOST_SOURCES = 6


def tooltip(node: GraphNode) -> str:
    """Return a box in one line: its id, its class, its depth, what goes in and comes out.

    Examples
    --------
    >>> attrs = {"class_name": "Dense", "output_shapes": "(None, 3)"}
    >>> tooltip(GraphNode("scores", "scores", "dense", depth=0, attrs=attrs))
    'scores: Dense, depth 0, to (None, 3)'
    """
    class_name = node.attrs.get("class_name", node.kind)
    shapes = f"{node.attrs.get('input_shapes', '')} to {node.attrs.get('output_shapes', '')}"
    words = f"{node.id}: {class_name}, depth {node.depth}, {shapes.removeprefix(' ')}"
    return words.removesuffix(", to ")


def described(node: GraphNode, sources: Sequence[str]) -> str:
    """Return what a screen reader says of a box: its words, and where its inputs come from."""
    text = box_text(node, PictureOptions())
    class_name = str(node.attrs.get("class_name", node.kind))
    is_said = class_name in " ".join(text.lines) or is_repeated(class_name, node, text.title)
    first = text.title if is_said else f"{text.title}, {class_name}"
    words = ", ".join([first, *text.lines, *text.marks])
    if not sources:
        return words
    listed = ", ".join(sources[:MOST_SOURCES])
    more = f" and {len(sources) - MOST_SOURCES} more" if len(sources) > MOST_SOURCES else ""
    return f"{words}; from {listed}{more}"


def reading_order(graph: Graph) -> list[GraphNode]:
    """Return the boxes so that each comes after those whose outputs it takes.

    Boxes in a circle come in the graph's own order, at the end.
    """
    number = {node.id: i for i, node in enumerate(graph.nodes)}
    waiting = [0] * len(graph.nodes)
    following: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        waiting[number[edge.target]] += 1
        following[number[edge.source]].append(number[edge.target])
    ready = [i for i in reversed(range(len(waiting))) if not waiting[i]]
    found: dict[int, None] = {}
    while ready:
        i = ready.pop()
        found[i] = None
        for after in reversed(following[i]):
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    rest = [i for i in range(len(graph.nodes)) if i not in found]
    return [graph.nodes[i] for i in [*found, *rest]]
