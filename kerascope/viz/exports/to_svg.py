"""Convert a graph and its layout to a sheet, and to SVG: the default picture.

Every box is a `Group` with a tooltip and a label for screen readers; boxes are in topological
order. In SVG, `data-id` contains the id of a box, and `data-source` and `data-target` contain the
ends of an arrow. Colours are CSS classes with rules, so that one file can be light or dark. PDF,
PNG and TikZ are drawn from the same marks and rules.

The module contains the sheet, the captions, frames and arrows, the boxes, and the rules.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kerascope.viz.boxes import (
    PictureOptions,
    caption_lines,
    description_of,
    group_text,
    reading_order,
    tooltip,
)
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import DEPTH_SIZE, LABEL_SIZE, Path, Placed, Rect, Stroke
from kerascope.viz.layout.ladder import CELL_PADDING, MARK_WIDTH, is_ladder, layout_of
from kerascope.viz.layout.measures import (
    CAPTION_HEIGHT,
    CAPTION_SIZE,
    CELL_SIZE,
    FRAME_SIZE,
    LEAST_WIDTH,
    LINE_HEIGHT,
    LINE_SIZE,
    PADDING_Y,
    SIGN_GAP,
    TITLE_HEIGHT,
    TITLE_SIZE,
    Measure,
    text_width,
)
from kerascope.viz.sheet import WHEN_POINTED, Group, Ink, Label, Line, Mark, Point, Rectangle, Sheet
from kerascope.viz.theme import FONT, HEATS, STATES, Palette, Style, mixed, style_of
from kerascope.viz.writers.svg import css, svg_of_sheet


def to_svg(graph: Graph, options: PictureOptions | None = None) -> str:
    """Return a graph as SVG text.

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
    return svg_of_sheet(graph_sheet(graph, options, *layout_of(graph, options)))


def graph_sheet(
    graph: Graph, options: PictureOptions, placed: Placed, measures: Mapping[str, Measure]
) -> Sheet:
    """Return the sheet of a graph from its layout."""
    if is_ladder(graph):
        options = replace(options, rankdir="TB")
    inks, dark_inks = inks_of(graph, options)
    name = f"{graph.name or 'graph'}: {len(graph.nodes)} boxes, {len(graph.edges)} arrows"
    return Sheet(
        placed.width,
        placed.height,
        tuple(marks_of(graph, options, placed, measures)),
        title=graph.name,
        description=". ".join(filter(None, [name, str(graph.attrs.get("caption", ""))])),
        unit=1.0,
        ground="" if options.is_transparent else options.palette.background,
        kind=options.scope,
        inks=tuple(inks),
        dark_inks=tuple(dark_inks),
        heads=head_looks(graph),
        label=name,
        font=options.font,
    )


def marks_of(
    graph: Graph, options: PictureOptions, placed: Placed, measures: Mapping[str, Measure]
) -> Iterator[Mark]:
    """Yield the marks of a picture from its layout, from back to front."""
    yield from _caption(graph, placed)
    yield from _depths(placed)
    framed = [group for group in graph.groups if group.id in placed.frames]
    for group in framed:
        yield _frame(placed.frames[group.id], group)
    lines = [
        Group("", (_stroke(graph, one),), edges=one.edges)
        for one in placed.strokes
        if _is_line(one)
    ]
    if not placed.strokes:
        lines = [
            Group("", (_edge(edge, path),), edges=(place,))
            for place, (edge, path) in enumerate(zip(graph.edges, placed.paths, strict=True))
        ]
    yield Group("edges", tuple(lines))
    for group in framed:
        yield from _frame_title(placed.frames[group.id], group)
    yield from _edge_labels(graph, placed)
    yield from placed.words
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    usual = PictureOptions(rankdir=options.rankdir, depth_ranks=options.depth_ranks)
    for node in reading_order(graph):
        own = sources.get(node.id, [])
        rect, measure = placed.boxes[node.id], measures[node.id]
        yield _box(node, rect, measure, options, own, says_as_usual=options == usual)
    for one in placed.strokes:
        if one.is_mark:
            yield _mark(graph, one)
    yield from _pointed(graph, placed)


def _label(look: str, x: float, y: float, text: str, size: float, *, bold: bool = False) -> Mark:
    return Label(x, y, text, size, bold=bold, look=look)


def _rect(look: str, rect: Rect, **more: Any) -> Mark:
    return Rectangle(rect.x, rect.y, rect.width, rect.height, look=look, **more)


# --- around the boxes -----------------------------------------------------------------------------


def _caption(graph: Graph, placed: Placed) -> Iterator[Mark]:
    title, *lines = caption_lines(graph)
    x, y = placed.caption.x, placed.caption.y
    if title:
        yield _label("caption", x, y + CAPTION_SIZE, title, CAPTION_SIZE, bold=True)
    for row, line in enumerate(lines):
        bottom = y + CAPTION_HEIGHT + row * LINE_HEIGHT + LINE_SIZE
        yield _label("quiet", x, bottom, line, LINE_SIZE)


def _depths(placed: Placed) -> Iterator[Mark]:
    for depth, rect in placed.depths.items():
        x, y = rect.x, rect.y + rect.height / 2 + DEPTH_SIZE * 0.35
        yield _label("depth", x, y, f"depth {depth}", DEPTH_SIZE)


def _frame(rect: Rect, group: GraphGroup) -> Mark:
    card = "card" if group.attrs.get("kind") == "card" else ""
    look = " ".join(filter(None, ["frame", card, _state_class(group)]))
    return _rect(look, rect, corner=8, data={"id": group.id})


def _frame_title(rect: Rect, group: GraphGroup) -> Iterator[Mark]:
    name, detail = group_text(group)
    x, y = rect.x + 11, rect.y + 6 + FRAME_SIZE
    if group.attrs.get("rail"):  # the title does not fit inside the frame
        if not group.parent:
            yield _label("quiet", rect.x + 4, rect.y - 3, name, CELL_SIZE)
        return
    if group.attrs.get("kind") == "card":
        yield _label("title", x, y - 2, name, FRAME_SIZE, bold=True)
        x += text_width(name, FRAME_SIZE, True) + 10
        yield _label("quiet", x, y - 2, detail, LINE_SIZE)
        return
    yield _label("title", x, y, name, FRAME_SIZE, bold=True)
    if detail:
        yield _label("quiet", x, y + LINE_HEIGHT, detail, LINE_SIZE)


# --- arrows ---------------------------------------------------------------------------------------


def _edge_class(edge: GraphEdge) -> str:
    words = ["edge", str(edge.attrs.get("role", "")), _state_class(edge)]
    return " ".join(filter(None, words))


def _state_class(part: GraphEdge | GraphNode | GraphGroup) -> str:
    state = str(part.attrs.get("state", ""))
    return f"is-{state}" if state else ""


def _head_of(edge: GraphEdge) -> str:
    return _state_class(edge) or str(edge.attrs.get("role", "")) or "plain"


def head_looks(graph: Graph) -> tuple[str, ...]:
    """Return the looks (CSS classes) of the arrow heads in a graph."""
    looks = dict.fromkeys(_head_of(edge) for edge in graph.edges)
    if is_ladder(graph):
        looks |= {"plain": None, "gradient": None}
    return tuple(look for look in looks if look.replace("-", "").isalpha())


def _edge(edge: GraphEdge, path: Path) -> Mark:
    return Line(
        path.points,
        line_width=0,
        look=_edge_class(edge),
        curved=True,
        head=_head_of(edge),
        data={"source": edge.source, "target": edge.target},
        tooltip=_edge_words(edge),
    )


# --- lines that represent several arrows ----------------------------------------------------------


def _is_line(stroke: Stroke) -> bool:
    return not stroke.is_mark and not stroke.when_pointed


def _stroke(graph: Graph, stroke: Stroke, more: str = "") -> Mark:
    """Return the line that draws one or several arrows; several are listed in `data-edges`."""
    edge = graph.edges[stroke.edges[0]]
    look = _state_class(edge) or stroke.look or "plain"
    nothing = "nothing" if stroke.width == 0 else ""
    return Line(
        stroke.path.points,
        look=" ".join(filter(None, ["edge", stroke.look, nothing, _state_class(edge), more])),
        curved=True,
        head="" if nothing else look,
        line_width=stroke.width or 0,
        data=_ends(graph, stroke),
        tooltip=_stroke_words(graph, stroke),
    )


def _ends(graph: Graph, stroke: Stroke) -> dict[str, str]:
    edges = [graph.edges[number] for number in stroke.edges]
    ends = {"source": edges[0].source, "target": edges[0].target}
    pairs = json.dumps([[edge.source, edge.target] for edge in edges], ensure_ascii=False)
    return ends if len(edges) == 1 else {**ends, "edges": pairs}


def _stroke_words(graph: Graph, stroke: Stroke) -> str:
    return "; ".join(_edge_words(graph.edges[number]) for number in stroke.edges)


def _mark(graph: Graph, stroke: Stroke) -> Mark:
    """Return the mark that replaces the arrows between a variable and its new value by a symbol."""
    sign = _label("sign", *stroke.path.points[0], style_of("update").sign, TITLE_SIZE)
    data, tooltip = _ends(graph, stroke), _stroke_words(graph, stroke)
    return Group("k-update rewritten", (sign,), data, tooltip=tooltip, edges=stroke.edges)


def _pointed(graph: Graph, placed: Placed) -> Iterator[Mark]:
    """Yield the arrows that are visible only while the pointer is on the box they lead to."""
    for stroke in placed.strokes:
        if stroke.when_pointed:
            rect = placed.boxes[graph.edges[stroke.edges[0]].target]
            line = _stroke(graph, stroke, "when-pointed")
            yield Group(WHEN_POINTED, (_rect("spot", rect), line))


def _edge_words(edge: GraphEdge) -> str:
    shape = edge.attrs.get("shape", "")
    words = f"{edge.source} to {edge.target}"
    return f"{words}: {shape}" if shape else words


def _edge_labels(graph: Graph, placed: Placed) -> Iterator[Mark]:
    for edge_number, rect in placed.edge_labels.items():
        yield _rect("ground", rect)
        yield _label(
            "quiet", rect.x + 2, rect.y + LABEL_SIZE, graph.edges[edge_number].label, LABEL_SIZE
        )


# --- boxes ----------------------------------------------------------------------------------------


def _box(
    node: GraphNode,
    rect: Rect,
    measure: Measure,
    options: PictureOptions,
    sources: list[str],
    *,
    says_as_usual: bool,
) -> Mark:
    heat = str(node.attrs.get("heat", ""))
    look = " ".join(filter(None, ["box", f"k-{node.kind}", _state_class(node), heat]))
    text = measure.text if says_as_usual and not measure.is_line else None
    return Group(
        look,
        tuple(box_marks(node, rect, measure, options)),
        {"id": node.id},
        description_of(node, sources, text),
        tooltip(node, options),
        box=node.id,
    )


# --- one box: its outline, its text, the cells of its inputs and outputs --------------------------

ROUND = {"round": 6.0, "square": 0.0, "note": 0.0}
FOLD = 8.0
SHEET = 3.5  # offset between the sheets of a box with several copies
MOST_SHEETS = 2


def box_marks(
    node: GraphNode, rect: Rect, measure: Measure, options: PictureOptions
) -> Iterator[Mark]:
    """Yield the marks of a box, from back to front."""
    style = style_of(node.kind)
    if measure.is_line and rect.width < LEAST_WIDTH:  # an update: a sign in the slot's box
        yield _outline(rect, style, 0.0, "spot")
        return
    sheets = min(int(node.attrs.get("copies", 1)) - 1, MOST_SHEETS)
    for sheet in range(sheets, 0, -1):
        moved = Rect(rect.x + SHEET * sheet, rect.y + SHEET * sheet, rect.width, rect.height)
        yield _outline(moved, style, 0.0, "line")
    yield _outline(rect, style, 0.0, "line")
    for frame in range(1, style.frames):
        yield _outline(rect, style, 3.0 * frame, "line inner")
    if measure.is_line:
        yield from _words_in_line(node, rect, measure)
        return
    yield from _words(rect, measure, 3.0 * (style.frames - 1))
    yield from _cells(rect, measure, options.rankdir)


def _outline(rect: Rect, style: Style, inset: float, kind: str) -> Mark:
    x, y = rect.x + inset, rect.y + inset
    width, height = rect.width - 2 * inset, rect.height - 2 * inset
    if style.corners == "note":
        right, bottom = x + width, y + height
        fold, corner = (right - FOLD, y), (right, y + FOLD)
        outline = ((x, y), fold, corner, (right, bottom), (x, bottom))
        inner = ((fold, (right - FOLD, y + FOLD), corner),)
        return Line(outline, line_width=0, look=kind, closed=True, more=inner)
    radius = ROUND.get(style.corners, height / 2)
    rounding = max(radius - inset / 2, 0) if radius else 0.0
    return _rect(kind, Rect(x, y, width, height), corner=rounding)


def _words(rect: Rect, measure: Measure, inset: float) -> Iterator[Mark]:
    left, above, right, below = measure.margins
    middle = rect.x + left + (rect.width - left - right) / 2
    text = measure.text
    lines = len(text.lines) + len(text.marks)
    needed = TITLE_HEIGHT + lines * LINE_HEIGHT + 2 * (PADDING_Y + inset)
    spare = rect.height - above - below - needed
    y = rect.y + above + PADDING_Y + inset + spare / 2 + TITLE_SIZE
    sign = text_width(text.sign, TITLE_SIZE)
    title = text_width(text.title, TITLE_SIZE, True)
    x = middle - (sign + SIGN_GAP + title) / 2
    yield _label("sign", x, y, text.sign, TITLE_SIZE)
    yield _label("title", x + sign + SIGN_GAP, y, text.title, TITLE_SIZE, bold=True)
    y += TITLE_HEIGHT - TITLE_SIZE + LINE_SIZE
    for line in text.lines:
        x = middle - text_width(line, LINE_SIZE) / 2
        yield _label("quiet", x, y, line, LINE_SIZE)
        y += LINE_HEIGHT
    for mark in text.marks:
        x = middle - text_width(mark, LINE_SIZE, True) / 2
        yield _label("mark", x, y, mark, LINE_SIZE, bold=True)
        y += LINE_HEIGHT


def _words_in_line(node: GraphNode, rect: Rect, measure: Measure) -> Iterator[Mark]:
    """Yield the text of a one-line box: its title at the left, its other lines at the right."""
    y = rect.y + rect.height / 2 + FRAME_SIZE * 0.36
    if "share" in node.attrs:
        inner = rect.width - 4 * CELL_PADDING
        x, width = rect.x + 2 * CELL_PADDING, inner * float(node.attrs["share"])
        for look, length in (("bar-ground", inner), ("bar", width)):
            yield _rect(look, Rect(x, rect.bottom - 5, length, 3))
        y -= 2
    text = measure.text
    x = rect.x + CELL_PADDING + 3
    yield _label("sign", x, y, text.sign, FRAME_SIZE)
    x += text_width(text.sign, FRAME_SIZE) + SIGN_GAP
    yield _label("title", x, y, text.title, FRAME_SIZE, bold=True)
    right = rect.right - CELL_PADDING - (MARK_WIDTH if node.kind in ("variable", "slot") else 0.0)
    for line in reversed(text.lines):
        right -= text_width(line, LINE_SIZE)
        yield _label("quiet", right, y, line, LINE_SIZE)
        right -= CELL_PADDING


def _cells(rect: Rect, measure: Measure, rankdir: str) -> Iterator[Mark]:
    """Yield the cells for several inputs or outputs, at the sides where arrows end and start."""
    left, above, right, below = measure.margins
    inputs, outputs = measure.text.inputs, measure.text.outputs
    if inputs and rankdir == "LR":
        yield from _column(inputs, rect, rect.x, left, rect.x + left)
    elif inputs:
        yield from _row(inputs, rect, rect.y, above, rect.y + above)
    if outputs and rankdir == "LR":
        yield from _column(outputs, rect, rect.right - right, right, rect.right - right)
    elif outputs:
        yield from _row(outputs, rect, rect.bottom - below, below, rect.bottom - below)


def _row(
    cells: tuple[str, ...], rect: Rect, top: float, height: float, border: float
) -> Iterator[Mark]:
    wide = rect.width / len(cells)
    starts = [rect.x + wide * i for i in range(1, len(cells))]
    bars = [((x, top), (x, top + height)) for x in starts]
    middles = [(rect.x + wide * (i + 0.5), top + height / 2) for i in range(len(cells))]
    yield from _drawn_cells(cells, [((rect.x, border), (rect.right, border)), *bars], middles)


def _column(
    cells: tuple[str, ...], rect: Rect, left: float, width: float, border: float
) -> Iterator[Mark]:
    high = rect.height / len(cells)
    starts = [rect.y + high * i for i in range(1, len(cells))]
    bars = [((left, y), (left + width, y)) for y in starts]
    middles = [(left + width / 2, rect.y + high * (i + 0.5)) for i in range(len(cells))]
    yield from _drawn_cells(cells, [((border, rect.y), (border, rect.bottom)), *bars], middles)


def _drawn_cells(
    cells: tuple[str, ...], lines: list[tuple[Point, ...]], middles: list[tuple[float, float]]
) -> Iterator[Mark]:
    yield Line(lines[0], line_width=0, look="cells", more=tuple(lines[1:]))
    for cell, (x, y) in zip(cells, middles, strict=True):
        left = x - text_width(cell, CELL_SIZE) / 2
        yield _label("cell", left, y + CELL_SIZE * 0.36, cell, CELL_SIZE)


# --- the rules: one class for each kind of box, light and dark ------------------------------------
#
# In SVG every rule begins with the classes of its picture. Pictures with the same theme in a page
# share their rules. Rules for a state are more specific than rules for a kind, in any order.

_SIZES = (
    Ink(".caption", more=f"font-size:{CAPTION_SIZE}px;font-weight:bold"),
    Ink(".title,.sign", more=f"font-size:{TITLE_SIZE}px"),
    Ink(".title,.mark", more="font-weight:bold"),
    Ink(".frame~.title", more=f"font-size:{FRAME_SIZE}px"),
    Ink(".cell", more=f"font-size:{CELL_SIZE}px"),
    Ink(".depth", more=f"font-size:{DEPTH_SIZE}px"),
    Ink(".line", line_width="1.2"),
    Ink(".line.inner", "none", line_width="1"),
    Ink(".cells", "none", line_width=".8"),
    Ink(".frame", line_width="1.1", dashes="5 3"),
    Ink(".edge", "none", line_width="1.2"),
    Ink(".edge.gradient", dashes="6 3"),
    Ink(".edge.update", line_width="1.6", dashes="2 3"),
)

# In a ladder, position and colour distinguish the lines, and a card has a solid frame.
_LADDER = (
    Ink(".edge.gradient", line_width="1.4", dashes="none"),
    Ink(".edge.nothing", dashes="2 4"),
    Ink(".frame.card", dashes="none"),
    Ink(".box .title,.box .sign", more=f"font-size:{FRAME_SIZE}px"),
    Ink(".spot", "none", "none", more="pointer-events:all"),
    Ink(".when-pointed", more="visibility:hidden"),
    Ink(".asked:hover .when-pointed", more="visibility:visible"),
)


def style_sheet(graph: Graph, options: PictureOptions, scope: str = "") -> str:
    """Return the CSS rules of a graph's picture.

    They apply inside elements with the CSS class `scope`, by default the picture's own class.
    """
    return css(*inks_of(graph, options), scope or options.scope)


def inks_of(graph: Graph, options: PictureOptions) -> tuple[list[Ink], list[Ink]]:
    """Return the colour rules of a graph's picture, and those added if the system is dark."""
    kinds = {node.kind: style_of(node.kind) for node in graph.nodes}
    letters = f"font-family:{FONT};font-size:{LINE_SIZE}px;white-space:pre"
    sizes = [Ink("text", more=letters), *_SIZES, *(_LADDER if is_ladder(graph) else ())]
    if options.font != FONT:
        sizes.append(Ink("text", more=f"font-family:{options.font}"))
    inks = [*sizes, *_shapes(graph, kinds), *_colours(graph, kinds, options.palette)]
    is_auto = options.theme == "auto"
    return inks, [*_colours(graph, kinds, options.palette_of("dark"))] if is_auto else []


def _states(graph: Graph, known: Container[str] = STATES) -> list[str]:
    parts: list[GraphNode | GraphEdge | GraphGroup] = [*graph.nodes, *graph.edges, *graph.groups]
    found = dict.fromkeys(str(part.attrs.get("state", "")) for part in parts)
    return [state for state in found if state in known]


def _shapes(graph: Graph, styles: Mapping[str, Style]) -> Iterator[Ink]:
    for kind, style in styles.items():
        if style.heavy:
            yield Ink(f".k-{kind} .line", line_width="2")
        if style.dashed:
            yield Ink(f".k-{kind} .line", dashes="5 3")
    if any(edge.attrs.get("role") == "bundle" for edge in graph.edges):
        yield Ink(".edge.bundle", line_width="3.6")
    for name in _states(graph):
        state = STATES[name]
        width, dashes = 2.4 if state.heavy else 1.2, "5 3" if state.dashed else "none"
        framed = f".box.is-{name} .line,.frame.is-{name}"
        yield Ink(framed, line_width=f"{width:g}", dashes=dashes)
        yield Ink(f".edge.is-{name}", line_width=f"{max(width - 0.4, 1.2):g}", dashes=dashes)


def _colours(graph: Graph, kinds: Mapping[str, Style], palette: Palette) -> Iterator[Ink]:
    yield Ink(".ground", palette.background)
    yield Ink(".title,.caption", palette.text)
    yield Ink(".quiet,.cell,.depth", palette.quiet_text)
    yield Ink(".mark", palette.text)
    yield Ink(".frame", palette.group_fill, palette.group_line)
    yield Ink(".edge", line=palette.edge)
    yield Ink(".head", palette.edge)
    has_bars = any("share" in node.attrs for node in graph.nodes)
    for kind in kinds:
        fill, line, sign = palette.box(palette.hue_of(kind))
        yield Ink(f".k-{kind} .line", fill, line)
        yield Ink(f".k-{kind} .inner", "none")
        yield Ink(f".k-{kind} .sign", sign)
        if has_bars:
            yield Ink(f".k-{kind} .bar-ground", mixed(fill, palette.group_line, 0.25))
            yield Ink(f".k-{kind} .bar", line)
        yield Ink(f".k-{kind} .cells", line=line)
    for role, hue in (("gradient", "purple"), ("update", "green")):
        if is_ladder(graph):
            yield Ink(f".word.{role}", palette.sign(hue))
            yield Ink(".edge.gradient.nothing", line=palette.quiet_text)
        if any(edge.attrs.get("role") == role for edge in graph.edges):
            yield Ink(f".edge.{role}", line=palette.line(hue))
            yield Ink(f".head.{role}", palette.line(hue))
    for name in _states(graph):
        mark = palette.mark(STATES[name].hue)
        yield Ink(f".box.is-{name} .line,.frame.is-{name}", line=mark)
        yield Ink(f".edge.is-{name}", line=mark)
        yield Ink(f".head.is-{name}", mark)
    for name in _states(graph, HEATS):
        box = f".box.is-{name}"
        yield Ink(f"{box} .line", palette.heat(name), palette.quiet_text)
        yield Ink(f"{box} .inner", "none")
        yield Ink(f"{box} .sign", palette.text)
    for name in dict.fromkeys(str(node.attrs["heat"]) for node in graph.nodes
                              if node.attrs.get("heat") in HEATS):  # fmt: skip
        yield Ink(f".box.{name} .line:not(.inner)", palette.heat(name))
        yield Ink(f".box.{name} .sign", palette.text)
