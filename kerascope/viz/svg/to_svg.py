"""From a graph and its layout to an SVG: our own writer, the default picture.

No font is embedded and no program is needed. Colours are CSS classes, so that one file is light or
dark as the reader's system wants it. Every box has a tooltip and a label for screen readers, and
boxes come in the order of the data's flow. The boxes' ids stand in `data-id`, an arrow's ends in
`data-source` and `data-target`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kerascope.viz.boxes import PictureOptions, caption_lines, group_text
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import DEPTH_SIZE, arrange
from kerascope.viz.layout.edge_labels import LABEL_SIZE
from kerascope.viz.layout.measures import (
    CAPTION_HEIGHT,
    CAPTION_SIZE,
    FRAME_SIZE,
    LINE_HEIGHT,
    LINE_SIZE,
    Measure,
)
from kerascope.viz.layout.placed import Path, Placed, Rect
from kerascope.viz.svg.boxes import box_parts
from kerascope.viz.svg.elements import attribute, element, number, text_element
from kerascope.viz.svg.style import style_sheet
from kerascope.viz.words import described, reading_order, tooltip


def to_svg(graph: Graph, options: PictureOptions | None = None) -> str:
    """Return a graph as an SVG text.

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
    >>> svg = to_svg(Graph("pair", boxes, (GraphEdge("a", "b"),)))
    >>> svg.count('class="box '), svg.count('class="edge"')
    (2, 1)
    """
    options = options or PictureOptions()
    placed, measures = arrange(graph, options)
    return svg_of(graph, options, placed, measures)


def svg_of(
    graph: Graph, options: PictureOptions, placed: Placed, measures: Mapping[str, Measure]
) -> str:
    """Return the SVG of a graph whose layout is known."""
    theme = options.theme
    size = f"{number(placed.width)} {number(placed.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kerascope {theme}" '
        f'width="{number(placed.width)}" height="{number(placed.height)}" '
        f'viewBox="0 0 {size}" role="group" aria-label={attribute(_title(graph))}>',
        element("title", graph.name),
        element("desc", _description(graph)),
        f"<style>{style_sheet(graph, theme)}</style>",
        _heads(graph, theme),
        '<rect class="ground" width="100%" height="100%"/>',
        *_caption(graph, placed),
        *_depths(placed),
    ]
    lines += [_frame(placed.frames[group.id], group) for group in graph.groups]
    lines.append('<g class="edges">')
    lines += [
        _edge(edge, path, theme) for edge, path in zip(graph.edges, placed.paths, strict=True)
    ]
    lines.append("</g>")
    lines += [
        line for group in graph.groups for line in _frame_title(placed.frames[group.id], group)
    ]
    lines += _edge_labels(graph, placed)
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    for node in reading_order(graph):
        rect = placed.boxes[node.id]
        lines += _box(node, rect, measures[node.id], options, sources.get(node.id, []))
    return "\n".join([*lines, "</svg>", ""])


# --- around the boxes -----------------------------------------------------------------------------


def _title(graph: Graph) -> str:
    return f"{graph.name or 'graph'}: {len(graph.nodes)} boxes, {len(graph.edges)} arrows"


def _description(graph: Graph) -> str:
    return ". ".join(filter(None, [_title(graph), str(graph.attrs.get("caption", ""))]))


def _caption(graph: Graph, placed: Placed) -> Iterator[str]:
    title, *lines = caption_lines(graph)
    x, y = placed.caption.x, placed.caption.y
    if title:
        yield text_element("caption", x, y + CAPTION_SIZE, title, CAPTION_SIZE, bold=True)
    for row, line in enumerate(lines):
        bottom = y + CAPTION_HEIGHT + row * LINE_HEIGHT + LINE_SIZE
        yield text_element("quiet", x, bottom, line, LINE_SIZE)


def _depths(placed: Placed) -> Iterator[str]:
    for depth, rect in placed.depths.items():
        x, y = rect.x, rect.y + rect.height / 2 + DEPTH_SIZE * 0.35
        yield text_element("depth", x, y, f"depth {depth}", DEPTH_SIZE)


def _frame(rect: Rect, group: GraphGroup) -> str:
    words = " ".join(filter(None, ["frame", _state_class(group)]))
    return (
        f'<rect class="{words}" data-id={attribute(group.id)} x="{number(rect.x)}" '
        f'y="{number(rect.y)}" width="{number(rect.width)}" height="{number(rect.height)}" '
        f'rx="8"/>'
    )


def _frame_title(rect: Rect, group: GraphGroup) -> Iterator[str]:
    name, detail = group_text(group)
    x, y = rect.x + 11, rect.y + 6 + FRAME_SIZE
    yield text_element("title", x, y, name, FRAME_SIZE, bold=True)
    if detail:
        yield text_element("quiet", x, y + LINE_HEIGHT, detail, LINE_SIZE)


# --- arrows ---------------------------------------------------------------------------------------


def _edge_class(edge: GraphEdge) -> str:
    words = ["edge", str(edge.attrs.get("role", "")), _state_class(edge)]
    return " ".join(filter(None, words))


def _state_class(part: GraphEdge | GraphNode | GraphGroup) -> str:
    state = str(part.attrs.get("state", ""))
    return f"is-{state}" if state else ""


def _head_of(edge: GraphEdge) -> str:
    return _state_class(edge) or str(edge.attrs.get("role", "")) or "plain"


def _heads(graph: Graph, theme: str) -> str:
    """Return one arrow head for each look of an arrow."""
    looks = dict.fromkeys(_head_of(edge) for edge in graph.edges)
    shape = '<path d="M0,0.6L8,4L0,7.4Z"/>'
    markers = [
        f'<marker id="kerascope-{theme}-{look}" class="head {look}" viewBox="0 0 8 8" refX="7.6" '
        f'refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" '
        f'orient="auto">{shape}</marker>'
        for look in looks
        if look.replace("-", "").isalpha()
    ]
    return f"<defs>{''.join(markers)}</defs>"


def _edge(edge: GraphEdge, path: Path, theme: str) -> str:
    return (
        f'<path class="{_edge_class(edge)}" d="{path_data(path)}" '
        f'marker-end="url(#kerascope-{theme}-{_head_of(edge)})" '
        f"data-source={attribute(edge.source)} data-target={attribute(edge.target)}>"
        f"{element('title', _edge_words(edge))}</path>"
    )


def path_data(path: Path) -> str:
    """Return a path in SVG's words; straight pieces are lines.

    Examples
    --------
    >>> path_data(Path(((0, 0), (0, 1), (0, 2), (0, 3), (0, 5), (2, 5), (2, 7))))
    'M0,0L0,3C0,5 2,5 2,7'
    """
    points = [f"{number(x)},{number(y)}" for x, y in path.points]
    parts = ["M" + points[0]]
    for i in range(0, len(points) - 1, 3):
        xs, ys = zip(*path.points[i : i + 4], strict=True)
        if len(set(xs)) == 1 or len(set(ys)) == 1:
            parts.append("L" + points[i + 3])
        else:
            parts.append("C" + " ".join(points[i + 1 : i + 4]))
    return "".join(parts)


def _edge_words(edge: GraphEdge) -> str:
    shape = edge.attrs.get("shape", "")
    words = f"{edge.source} to {edge.target}"
    return f"{words}: {shape}" if shape else words


def _edge_labels(graph: Graph, placed: Placed) -> Iterator[str]:
    for edge_number, rect in placed.edge_labels.items():
        x, y = rect.x + 2, rect.y + LABEL_SIZE
        yield (
            f'<rect class="ground" x="{number(rect.x)}" y="{number(rect.y)}" '
            f'width="{number(rect.width)}" height="{number(rect.height)}"/>'
        )
        yield text_element("quiet", x, y, graph.edges[edge_number].label, LABEL_SIZE)


# --- boxes ----------------------------------------------------------------------------------------


def _box(
    node: GraphNode, rect: Rect, measure: Measure, options: PictureOptions, sources: list[str]
) -> Iterator[str]:
    words = " ".join(filter(None, ["box", f"k-{node.kind}", _state_class(node)]))
    label = attribute(described(node, sources))
    yield f'<g class="{words}" role="img" data-id={attribute(node.id)} aria-label={label}>'
    yield element("title", tooltip(node))
    yield from box_parts(node, rect, measure, options)
    yield "</g>"
