"""From a `Graph` to DOT, the language of Graphviz.

Boxes of one depth stand in one row (`rank=same`). A box with several inputs has a cell for each
along its upper side, one with several outputs along its lower side, so parallel arrows stay apart
and say which operand they are. The text is the same at every run. `render.py` makes pictures of it;
`labels.py` writes the boxes' texts, `style.py` gives them their looks. Here dot finds the
places; `positions.py` writes the same graph with the places of our own layout.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from kerascope.viz import theme
from kerascope.viz.boxes import PictureOptions, has_ports
from kerascope.viz.dot.labels import caption_label
from kerascope.viz.dot.style import (
    ROLES,
    arrow_attributes,
    attribute_list,
    box_attributes,
    dot_names,
    frame_attributes,
    quoted,
)
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode

# Above this many boxes dot's search for short edges is cut off: it would take minutes.
MANY_BOXES = 150


def to_dot(graph: Graph, options: PictureOptions | None = None) -> str:
    """Return a graph as DOT text.

    Parameters
    ----------
    graph : Graph
    options : PictureOptions, optional

    Returns
    -------
    str

    Examples
    --------
    >>> boxes = (GraphNode("a", "a", "input", depth=1), GraphNode("b", "b", "dense"))
    >>> graph = Graph("pair", boxes, (GraphEdge("a", "b"),))
    >>> [line.strip() for line in to_dot(graph).splitlines() if "->" in line]
    ['"a" -> "b" [id="edge-0"]']
    """
    return "\n".join([*_DotWriter(graph, options or PictureOptions()).lines(), ""])


def defaults(graph: Graph, options: PictureOptions) -> Iterator[str]:
    """Yield what holds for the whole picture, for every box and for every arrow."""
    palette = options.palette
    picture: dict[str, str] = {
        "rankdir": options.rankdir,
        "newrank": "true",
        "bgcolor": palette.background,
        "pad": "0.2",
        "nodesep": "0.35",
        "ranksep": "0.42" if options.rankdir == "TB" else "0.6",
        "fontname": theme.FONT,
        "fontcolor": palette.text,
        "labelloc": "t",
        "label": caption_label(graph, options),
        "tooltip": graph.name,
    }
    if len(graph.nodes) > MANY_BOXES:
        picture |= {"nslimit": "1", "nslimit1": "1"}
    box = {"fontname": theme.FONT, "fontcolor": palette.text, "margin": "0", "penwidth": "1.1"}
    arrow = {
        "fontname": theme.FONT,
        "fontsize": "10",
        "fontcolor": palette.quiet_text,
        "color": palette.edge,
        "arrowsize": "0.6",
    }
    yield f"  graph {attribute_list(picture)}"
    yield f"  node {attribute_list(box)}"
    yield f"  edge {attribute_list(arrow)}"


class _DotWriter:
    """Writes one graph; it sorts the boxes by group and row once, however many groups there are."""

    def __init__(self, graph: Graph, options: PictureOptions) -> None:
        self.graph, self.options = graph, options
        self.boxes = {node.id: node for node in graph.nodes}
        self.rows: dict[str, dict[int, list[GraphNode]]] = {}
        self.inner: dict[str, list[GraphGroup]] = {}
        self.frames = dot_names(group.id for group in graph.groups)
        depths = [node.depth for node in graph.nodes] + [group.depth for group in graph.groups]
        axis = set(map(axis_name, depths))
        self.names = dot_names(self.boxes, axis if options.depth_ranks else ())
        for node in graph.nodes:
            self.rows.setdefault(node.group, {}).setdefault(node.depth, []).append(node)
        for group in graph.groups:
            self.inner.setdefault(group.parent, []).append(group)

    def lines(self) -> Iterator[str]:
        yield f"digraph {quoted(self.graph.name)} {{"
        yield from defaults(self.graph, self.options)
        if self.options.depth_ranks:
            yield from self.depth_axis()
        yield from self.contents("", "  ")
        if self.options.depth_ranks:
            for depth, row in self.rows_with_groups().items():
                yield from _same_rank([axis_name(depth), *row], "  ")
        yield from self.pairs()
        for number, edge in enumerate(self.graph.edges):
            yield self.arrow(edge, number)
        yield "}"

    # --- boxes ---

    def contents(self, group: str, indent: str) -> Iterator[str]:
        """Yield what lies directly in a group: its boxes row by row, then the groups inside it."""
        for _, row in sorted(self.rows.get(group, {}).items(), reverse=True):
            for node in row:
                name = self.names[node.id]
                attributes = box_attributes(node, name, self.options)
                yield f"{indent}{quoted(name)} {attribute_list(attributes)}"
            yield from _same_rank(self.names_of(row), indent)
        for inner in self.inner.get(group, []):
            name = self.frames[inner.id]
            attributes = frame_attributes(inner, name, self.options)
            yield f"{indent}subgraph {quoted('cluster ' + name)} {{"
            yield f"{indent}  graph {attribute_list(attributes)}"
            yield from self.contents(inner.id, indent + "  ")
            yield f"{indent}}}"

    def names_of(self, row: Iterable[GraphNode]) -> list[str]:
        """Return the names of those boxes of a row that stand where their depth says."""
        return [self.names[node.id] for node in row if not self.neighbour(node)]

    def neighbour(self, node: GraphNode) -> str:
        """Return the id of the box that this one stands right of; "" for none."""
        beside = str(node.attrs.get("beside", ""))
        return beside if beside in self.boxes and beside != node.id else ""

    def pairs(self) -> Iterator[str]:
        """Yield rows of two for boxes that stand beside another, with an unseen arrow to order."""
        for node in self.graph.nodes:
            beside = self.neighbour(node)
            if beside:
                left, right = quoted(self.names[beside]), quoted(self.names[node.id])
                yield f"  {{ rank=same; {left} -> {right} [style=invis weight=8] }}"

    # --- depths at the side ---

    def depth_axis(self) -> Iterator[str]:
        """Yield a column of texts, one per row; they come first, so dot sets them left."""
        quiet = self.options.palette.quiet_text
        depths = list(self.rows_with_groups())
        for depth in depths:
            own = {"shape": "plaintext", "fontsize": "10", "fontcolor": quiet}
            own |= {"label": f"depth {depth}", "id": f"depth-{depth}", "group": "depths"}
            yield f"  {quoted(axis_name(depth))} {attribute_list(own)}"
        for upper, lower in itertools.pairwise(depths):
            names = f"{quoted(axis_name(upper))} -> {quoted(axis_name(lower))}"
            yield f"  {names} {attribute_list({'style': 'invis', 'weight': '100'})}"

    def rows_with_groups(self) -> dict[int, list[str]]:
        """Return the names in each row; an expanded model is there with its deepest boxes."""
        rows = {depth: self.names_of(row) for depth, row in self.rows.get("", {}).items()}
        for group in self.inner.get("", []):
            rows.setdefault(group.depth, []).extend(self.first_boxes(group.id))
        return dict(sorted(rows.items(), reverse=True))

    def first_boxes(self, group: str) -> list[str]:
        """Return the boxes in the first row of a group, or of the groups that it begins with."""
        rows, inner = self.rows.get(group, {}), self.inner.get(group, [])
        depth = max([*rows, *(one.depth for one in inner)], default=0)
        first = self.names_of(rows.get(depth, []))
        return first or [
            box for one in inner if one.depth == depth for box in self.first_boxes(one.id)
        ]

    # --- arrows ---

    def arrow(self, edge: GraphEdge, number: int) -> str:
        source, target = self.boxes[edge.source], self.boxes[edge.target]
        attributes = arrow_attributes(edge, number, self.options)
        tail, head = quoted(self.names[source.id]), quoted(self.names[target.id])
        back = source.group == target.group and source.depth <= target.depth
        if back or edge.attrs.get("role") in ROLES:
            # Back to a shared layer, or what flows backward: the rows stay as they are.
            attributes["constraint"] = "false"
            return f"  {tail} -> {head} {attribute_list(attributes)}"
        leaves, enters = ("s", "n") if self.options.rankdir == "TB" else ("e", "w")
        if "output" in edge.attrs and has_ports(source, "outputs"):
            tail += f":o{edge.attrs['output']}:{leaves}"
        if "operand" in edge.attrs and has_ports(target, "inputs"):
            head += f":i{edge.attrs['operand']}:{enters}"
        return f"  {tail} -> {head} {attribute_list(attributes)}"


def _same_rank(names: list[str], indent: str) -> Iterator[str]:
    if len(names) > 1:
        yield f"{indent}{{ rank=same; {'; '.join(map(quoted, names))} }}"


def axis_name(depth: int) -> str:
    """Return what the text beside a row is called in DOT."""
    return f"depth axis {depth}"
