"""From a `Graph` to DOT, the language of Graphviz.

Boxes of one depth stand in one row (`rank=same`). A box with several inputs has a cell for each
along its upper side, one with several outputs along its lower side, so parallel arrows stay apart
and say which operand they are. The text is the same at every run. `render.py` makes pictures of it;
the boxes' texts are written in `dot_labels.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from kerascope.viz import theme
from kerascope.viz.boxes import PictureOptions, has_ports
from kerascope.viz.dot_labels import box_label, caption_label, group_label
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
    options = options or PictureOptions()
    lines = [f"digraph {quoted(graph.name)} {{", *_defaults(graph, options)]
    if options.depth_ranks:
        lines += _depth_axis(graph, options)
    lines += _boxes(graph, "", options, "  ")
    if options.depth_ranks:
        lines += _depth_rows(graph)
    boxes = {node.id: node for node in graph.nodes}
    lines += [_edge(edge, i, boxes, options) for i, edge in enumerate(graph.edges)]
    return "\n".join([*lines, "}", ""])


def _defaults(graph: Graph, options: PictureOptions) -> Iterator[str]:
    picture: dict[str, str] = {
        "rankdir": options.rankdir,
        "newrank": "true",
        "bgcolor": options.palette.background,
        "pad": "0.2",
        "nodesep": "0.35",
        "ranksep": "0.42" if options.rankdir == "TB" else "0.6",
        "fontname": theme.FONT,
        "fontcolor": options.palette.text,
        "labelloc": "t",
        "label": caption_label(graph, options),
        "tooltip": graph.name,
    }
    if len(graph.nodes) > MANY_BOXES:
        picture |= {"nslimit": "1", "nslimit1": "1"}
    box = {
        "fontname": theme.FONT,
        "fontcolor": options.palette.text,
        "margin": "0",
        "penwidth": "1.1",
    }
    arrow = {
        "fontname": theme.FONT,
        "fontsize": "10",
        "fontcolor": options.palette.quiet_text,
        "color": options.palette.edge,
        "arrowsize": "0.6",
    }
    yield f"  graph {_attributes(picture)}"
    yield f"  node {_attributes(box)}"
    yield f"  edge {_attributes(arrow)}"


# --- boxes ----------------------------------------------------------------------------------------


def _boxes(graph: Graph, group: str, options: PictureOptions, indent: str) -> Iterator[str]:
    """Yield what lies directly in a group: its boxes row by row, then the groups inside it."""
    for row in graph.rows(group).values():
        yield from (indent + _box(node, options) for node in row)
        yield from _same_rank((node.id for node in row), indent)
    for inner in graph.groups:
        if inner.parent == group:
            yield f"{indent}subgraph {quoted('cluster ' + inner.id)} {{"
            yield f"{indent}  graph {_attributes(_group_attributes(inner, options))}"
            yield from _boxes(graph, inner.id, options, indent + "  ")
            yield f"{indent}}}"


def _box(node: GraphNode, options: PictureOptions) -> str:
    style = theme.style_of(node.kind)
    attributes = {
        "id": f"node-{node.id}",
        "label": box_label(node, options),
        "shape": "note" if style.corners == "note" else "box",
        "style": _outline(style),
        "fillcolor": options.palette.fill(style.hue),
        "color": options.palette.line(style.hue),
        "tooltip": _tooltip(node),
    }
    if style.frames > 1:
        attributes["peripheries"] = str(style.frames)
    return f"{quoted(node.id)} {_attributes(attributes)}"


def _outline(style: theme.Style) -> str:
    words = ["filled", "rounded" if style.corners in ("round", "oval") else ""]
    words += ["bold" if style.heavy else "", "dashed" if style.dashed else ""]
    return ",".join(filter(None, words))


def _tooltip(node: GraphNode) -> str:
    class_name = node.attrs.get("class_name", node.kind)
    shapes = f"{node.attrs.get('input_shapes', '')} to {node.attrs.get('output_shapes', '')}"
    return f"{node.id}: {class_name}, depth {node.depth}, {shapes.removeprefix(' ')}"


def _group_attributes(group: GraphGroup, options: PictureOptions) -> dict[str, str]:
    return {
        "label": group_label(group, options),
        "labeljust": "l",
        "style": "rounded,filled,dashed",
        "fillcolor": options.palette.group_fill,
        "color": options.palette.group_line,
        "margin": "12",
        "id": f"group-{group.id}",
        "tooltip": f"{group.id}: one call of {group.label}",
    }


# --- depths at the side ---------------------------------------------------------------------------


def _depth_axis(graph: Graph, options: PictureOptions) -> Iterator[str]:
    """Yield a column of texts, one per row; they come first, so dot sets them left."""
    attributes = {"shape": "plaintext", "fontsize": "10", "fontcolor": options.palette.quiet_text}
    depths = list(_rows_with_groups(graph))
    for depth in depths:
        own = {**attributes, "label": f"depth {depth}", "id": f"depth-{depth}", "group": "depths"}
        yield f"  {quoted(_axis_name(depth))} {_attributes(own)}"
    for upper, lower in itertools.pairwise(depths):
        names = f"{quoted(_axis_name(upper))} -> {quoted(_axis_name(lower))}"
        yield f"  {names} {_attributes({'style': 'invis', 'weight': '100'})}"


def _depth_rows(graph: Graph) -> Iterator[str]:
    for depth, row in _rows_with_groups(graph).items():
        yield from _same_rank([_axis_name(depth), *row], "  ")


def _rows_with_groups(graph: Graph) -> dict[int, list[str]]:
    """Return the ids in each row; an expanded model is there with its own deepest boxes."""
    rows = {depth: [node.id for node in row] for depth, row in graph.rows().items()}
    for group in graph.groups:
        if not group.parent:
            rows.setdefault(group.depth, []).extend(_first_boxes(graph, group.id))
    return dict(sorted(rows.items(), reverse=True))


def _first_boxes(graph: Graph, group: str) -> list[str]:
    """Return the boxes in the first row of a group, or of the groups that it begins with."""
    rows = graph.rows(group)
    inner = [one for one in graph.groups if one.parent == group]
    depth = max([*rows, *(one.depth for one in inner)], default=0)
    first = [node.id for node in rows.get(depth, [])]
    return first or [
        box for one in inner if one.depth == depth for box in _first_boxes(graph, one.id)
    ]


def _same_rank(ids: Iterable[str], indent: str) -> Iterator[str]:
    names = [quoted(one) for one in ids]
    if len(names) > 1:
        yield f"{indent}{{ rank=same; {'; '.join(names)} }}"


def _axis_name(depth: int) -> str:
    return f"depth axis {depth}"


# --- arrows ---------------------------------------------------------------------------------------


def _edge(
    edge: GraphEdge, number: int, boxes: Mapping[str, GraphNode], options: PictureOptions
) -> str:
    source, target = boxes[edge.source], boxes[edge.target]
    attributes = {"id": f"edge-{number}"}
    if edge.label:
        attributes["label"] = f" {edge.label} "
    if source.group == target.group and source.depth <= target.depth:
        attributes["constraint"] = "false"  # back to a shared layer: the rows stay as they are
        return f"  {quoted(source.id)} -> {quoted(target.id)} {_attributes(attributes)}"
    leaves, enters = ("s", "n") if options.rankdir == "TB" else ("e", "w")
    tail, head = quoted(source.id), quoted(target.id)
    if "output" in edge.attrs and has_ports(source, "outputs"):
        tail += f":o{edge.attrs['output']}:{leaves}"
    if "operand" in edge.attrs and has_ports(target, "inputs"):
        head += f":i{edge.attrs['operand']}:{enters}"
    return f"  {tail} -> {head} {_attributes(attributes)}"


# --- text -----------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    r"""Return text as a DOT string.

    Examples
    --------
    >>> print(quoted('say "a\\b"'))
    "say \"a\\b\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _attributes(attributes: Mapping[str, str]) -> str:
    texts = [
        f"{key}={value if key == 'label' and value.startswith('<<') else quoted(value)}"
        for key, value in attributes.items()
    ]
    return f"[{' '.join(texts)}]"
