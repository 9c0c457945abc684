"""From a `Graph` and its layout to DOT that says where everything lies.

`neato -n2` (`render(source, format, engine="positions")`) draws it as it stands, so PNG and PDF
look like our own SVG, and no graph is too large for them. Graphviz measures in points from the
lower left corner upward; our layout, from the upper left corner downward.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.exports.to_dot import (
    arrow_attributes,
    arrow_label,
    attribute_list,
    axis_name,
    box_attributes,
    box_label,
    caption_label,
    defaults,
    dot_names,
    frame_attributes,
    group_label,
    quoted,
)
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import Path, Placed, Point, Rect

POINTS_PER_INCH = 72.0
# Graphviz draws the head between the end of the line and the tip: 10 points times `arrowsize`.
HEAD_LENGTH = 6.0
FRAME_TITLE_HEIGHT = 34.0
FRAME_TITLE_INDENT = 8.0
BORDER = 1.0
FRAME_GAP = 4.0  # Graphviz draws further frames outside the first


def to_dot_with_positions(graph: Graph, options: PictureOptions, placed: Placed) -> str:
    """Return a graph as DOT text with the places of our own layout.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions
    placed : Placed
        What `layout.arrange.arrange` returned for this graph and these options.

    Returns
    -------
    str

    Notes
    -----
    A line of cubic Bezier curves is the list of its points; `e,x,y` before them is the tip of the
    arrow, from which the line's end keeps the length of the head.
    """
    return "\n".join([*_PlacedDotWriter(graph, options, placed).lines(), ""])


class _PlacedDotWriter:
    def __init__(self, graph: Graph, options: PictureOptions, placed: Placed) -> None:
        self.graph, self.options, self.placed = graph, options, placed
        self.frames = dot_names(group.id for group in graph.groups)
        ids = (node.id for node in graph.nodes)
        self.names = dot_names(ids, {axis_name(depth) for depth in placed.depths})
        self.members: dict[str, list[GraphNode]] = {}
        self.inner: dict[str, list[GraphGroup]] = {}
        for node in graph.nodes:
            self.members.setdefault(node.group, []).append(node)
        for group in graph.groups:
            self.inner.setdefault(group.parent, []).append(group)

    def lines(self) -> Iterator[str]:
        yield f"digraph {quoted(self.graph.name)} {{"
        yield from defaults(self.graph, self.options)
        yield f"  graph {attribute_list(self.whole())}"
        yield from self.depths()
        yield from self.contents("", "  ")
        # An arrow is drawn over those before it, labels too: those that have one come last.
        arrows = sorted(enumerate(self.graph.edges), key=lambda arrow: bool(arrow[1].label))
        for number, edge in arrows:
            yield self.arrow(edge, number, self.placed.paths[number])
        yield "}"

    def whole(self) -> dict[str, str]:
        """Return the size of the picture and the place of its caption."""
        caption = self.placed.caption
        size = caption.width, caption.height
        return {
            "pad": "0.19",  # the margin of our own pictures; Graphviz cuts its own at the boxes
            "notranslate": "true",
            "outputorder": "nodesfirst",
            "bb": f"0,0,{_number(self.placed.width)},{_number(self.placed.height)}",
            "label": caption_label(self.graph, self.options, size),
            "lp": self.point(caption.middle),
        }

    def depths(self) -> Iterator[str]:
        for depth, rect in self.placed.depths.items():
            own = {"shape": "plaintext", "fontsize": "10", "label": f"depth {depth}"}
            own |= {"fontcolor": self.options.palette.quiet_text, "id": f"depth-{depth}"}
            own |= self.rectangle(rect)
            yield f"  {quoted(axis_name(depth))} {attribute_list(own)}"

    def contents(self, group: str, indent: str) -> Iterator[str]:
        """Yield what lies directly in a group: its boxes, then the frames inside it."""
        for node in self.members.get(group, []):
            rect, name = self.placed.boxes[node.id], self.names[node.id]
            attributes = box_attributes(node, name, self.options)
            frames = FRAME_GAP * (int(attributes.get("peripheries", 1)) - 1)
            rect = Rect(
                *(rect.x + frames, rect.y + frames),
                *(rect.width - 2 * frames, rect.height - 2 * frames),
            )
            attributes |= self.rectangle(rect)
            inside = rect.width - 2 * BORDER, rect.height - 2 * BORDER
            attributes["label"] = box_label(node, self.options, inside)
            yield f"{indent}{quoted(name)} {attribute_list(attributes)}"
        for inner in self.inner.get(group, []):
            yield f"{indent}subgraph {quoted('cluster ' + self.frames[inner.id])} {{"
            yield f"{indent}  graph {attribute_list(self.frame(inner))}"
            yield from self.contents(inner.id, indent + "  ")
            yield f"{indent}}}"

    def frame(self, group: GraphGroup) -> dict[str, str]:
        rect = self.placed.frames[group.id]
        width = rect.width - 2 * FRAME_TITLE_INDENT
        title = Rect(rect.x + FRAME_TITLE_INDENT, rect.y + 4, width, FRAME_TITLE_HEIGHT)
        left, lower = self.point((rect.x, rect.bottom)), self.point((rect.right, rect.y))
        return {
            **frame_attributes(group, self.frames[group.id], self.options),
            "label": group_label(group, self.options, (title.width, title.height)),
            "bb": f"{left},{lower}",
            "lp": self.point(title.middle),
        }

    def arrow(self, edge: GraphEdge, number: int, path: Path) -> str:
        attributes = arrow_attributes(edge, number, self.options)
        line = shortened_line(path.points, HEAD_LENGTH)
        points = " ".join(map(self.point, line))
        attributes["pos"] = f"e,{self.point(path.points[-1])} {points}"
        if "label" in attributes:
            label = self.placed.edge_labels.get(number)
            middle = path.points[len(path.points) // 2] if label is None else label.middle
            attributes["lp"] = self.point(middle)
            attributes["label"] = arrow_label(attributes["label"], self.options)
        ends = f"{quoted(self.names[edge.source])} -> {quoted(self.names[edge.target])}"
        return f"  {ends} {attribute_list(attributes)}"

    # --- places ---

    def rectangle(self, rect: Rect) -> dict[str, str]:
        return {
            "pos": self.point(rect.middle),
            "width": f"{rect.width / POINTS_PER_INCH:.4f}",
            "height": f"{rect.height / POINTS_PER_INCH:.4f}",
            "fixedsize": "shape",  # "true" complains of text that its fonts make a little wider
        }

    def point(self, point: Point) -> str:
        return f"{_number(point[0])},{_number(self.placed.height - point[1])}"


def shortened_line(points: tuple[Point, ...], by: float) -> tuple[Point, ...]:
    """Return a line whose end is moved back, in the direction in which it arrives.

    Examples
    --------
    >>> shortened_line(((0.0, 0.0), (0.0, 5.0), (0.0, 15.0), (0.0, 20.0)), 6.0)
    ((0.0, 0.0), (0.0, 5.0), (0.0, 9.0), (0.0, 14.0))
    """
    (x, y), control = points[-1], points[-2]
    start = next((p for p in points[-2::-1] if p != points[-1]), None)
    if start is None:
        return points
    length = hypot(x - start[0], y - start[1])
    step = min(by, hypot(x - points[-4][0], y - points[-4][1]) / 2)
    back_x, back_y = (x - start[0]) / length * step, (y - start[1]) / length * step
    moved = (control[0] - back_x, control[1] - back_y), (x - back_x, y - back_y)
    return (*points[:-2], *moved)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
