"""From a graph and its layout to an SVG: our own writer, the default picture.

No font is embedded and no program is needed. Colours are CSS classes, so that one file is light or
dark as the reader's system wants it. Every box has a tooltip and a label for screen readers, and
boxes come in the order of the data's flow. The boxes' ids stand in `data-id`, an arrow's ends in
`data-source` and `data-target`.

Below come the picture, one box and the style sheet.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import cache
from html import escape
from typing import NamedTuple

from kerascope.printable import printable_lines
from kerascope.viz.boxes import (
    PictureOptions,
    caption_lines,
    described,
    group_text,
    reading_order,
    tooltip,
)
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.layout.arrange import (
    DEPTH_SIZE,
    LABEL_SIZE,
    Path,
    Placed,
    Rect,
    Stroke,
    Words,
)
from kerascope.viz.layout.ladder import CELL_PADDING, MARK_WIDTH, arranged, is_ladder
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
from kerascope.viz.theme import (
    FONT,
    HEATS,
    STATES,
    Palette,
    Style,
    style_of,
)
from kerascope.viz.writers.svg_syntax import attribute, element, number, path_data


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
    placed, measures = arranged(graph, options)
    return svg_of(graph, options, placed, measures)


def svg_of(
    graph: Graph, options: PictureOptions, placed: Placed, measures: Mapping[str, Measure]
) -> str:
    """Return the SVG of a graph whose layout is known."""
    if is_ladder(graph):
        options = replace(options, rankdir="TB")
    theme = options.scope
    size = f"{number(placed.width)} {number(placed.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="kerascope {theme}" '
        f'width="{number(placed.width)}" height="{number(placed.height)}" '
        f'viewBox="0 0 {size}" role="group" aria-label={attribute(_title(graph))}>',
        element("title", graph.name),
        element("desc", _description(graph)),
        f"<style>{style_sheet(graph, options)}</style>",
        arrow_heads(graph, theme),
        *([] if options.is_transparent else [GROUND]),
        *(part.text for part in parts_of(graph, options, placed, measures)),
    ]
    return printable_lines("\n".join([*lines, "</svg>", ""]))


GROUND = '<rect class="ground" width="100%" height="100%"/>'


class Part(NamedTuple):
    """A piece of a picture: its elements, and the box or the arrows (by their numbers) it draws."""

    text: str
    box: str = ""
    edges: tuple[int, ...] = ()


def parts_of(
    graph: Graph, options: PictureOptions, placed: Placed, measures: Mapping[str, Measure]
) -> Iterator[Part]:
    """Yield all pieces of a picture whose layout is known, those behind first."""
    theme = options.scope
    yield from map(Part, _caption(graph, placed))
    yield from map(Part, _depths(placed))
    framed = [group for group in graph.groups if group.id in placed.frames]
    for group in framed:
        yield Part(_frame(placed.frames[group.id], group))
    yield Part('<g class="edges">')
    if placed.strokes:
        for one in placed.strokes:
            if _is_line(one):
                yield Part(_stroke(graph, one, theme), edges=one.edges)
    else:
        for place, (edge, path) in enumerate(zip(graph.edges, placed.paths, strict=True)):
            yield Part(_edge(edge, path, theme), edges=(place,))
    yield Part("</g>")
    for group in framed:
        yield from map(Part, _frame_title(placed.frames[group.id], group))
    yield from map(Part, _edge_labels(graph, placed))
    for words in placed.words:
        yield Part(text_element(_look(words), words.x, words.y, words.text, words.size))
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    usual = PictureOptions(rankdir=options.rankdir, depth_ranks=options.depth_ranks)
    for node in reading_order(graph):
        own = sources.get(node.id, [])
        rect, measure = placed.boxes[node.id], measures[node.id]
        lines = _box(node, rect, measure, options, own, says_as_usual=options == usual)
        yield Part("\n".join(lines), box=node.id)
    for one in placed.strokes:
        if one.is_mark:
            yield Part(_mark(graph, one), edges=one.edges)
    yield from map(Part, _pointed(graph, placed, theme))


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
    card = "card" if group.attrs.get("kind") == "card" else ""
    words = " ".join(filter(None, ["frame", card, _state_class(group)]))
    return (
        f'<rect class="{words}" data-id={attribute(group.id)} x="{number(rect.x)}" '
        f'y="{number(rect.y)}" width="{number(rect.width)}" height="{number(rect.height)}" '
        f'rx="8"/>'
    )


def _frame_title(rect: Rect, group: GraphGroup) -> Iterator[str]:
    name, detail = group_text(group)
    x, y = rect.x + 11, rect.y + 6 + FRAME_SIZE
    if group.attrs.get("rail"):  # the boxes leave no room inside
        if not group.parent:
            yield text_element("quiet", rect.x + 4, rect.y - 3, name, CELL_SIZE)
        return
    if group.attrs.get("kind") == "card":
        yield text_element("title", x, y - 2, name, FRAME_SIZE, bold=True)
        x += text_width(name, FRAME_SIZE, True) + 10
        yield text_element("quiet", x, y - 2, detail, LINE_SIZE)
        return
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


def arrow_heads(graph: Graph, theme: str) -> str:
    """Return one arrow head for each look of an arrow."""
    looks = dict.fromkeys(_head_of(edge) for edge in graph.edges)
    if is_ladder(graph):
        looks |= {"plain": None, "gradient": None}
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
        f'<path class="{_edge_class(edge)}" d="{path_data(path.points)}" '
        f'marker-end="url(#kerascope-{theme}-{_head_of(edge)})" '
        f"data-source={attribute(edge.source)} data-target={attribute(edge.target)}>"
        f"{element('title', _edge_words(edge))}</path>"
    )


# --- lines that stand for several arrows ----------------------------------------------------------


def _is_line(stroke: Stroke) -> bool:
    return not stroke.is_mark and not stroke.when_pointed


def _stroke(graph: Graph, stroke: Stroke, theme: str, more: str = "") -> str:
    """Return one line; `data-edges` names all arrows that it stands for, as pairs in JSON."""
    edge = graph.edges[stroke.edges[0]]
    look = _state_class(edge) or stroke.look or "plain"
    nothing = "nothing" if stroke.width == 0 else ""
    words = " ".join(filter(None, ["edge", stroke.look, nothing, _state_class(edge), more]))
    head = "" if nothing else f'marker-end="url(#kerascope-{theme}-{look})" '
    width = f'style="stroke-width:{number(stroke.width)}px" ' if stroke.width else ""
    drawn = path_data(stroke.path.points)
    return (
        f'<path class="{words}" d="{drawn}" {head}{width}{_ends(graph, stroke)}>'
        f"{element('title', _stroke_words(graph, stroke))}</path>"
    )


def _ends(graph: Graph, stroke: Stroke) -> str:
    edges = [graph.edges[number] for number in stroke.edges]
    first = f"data-source={attribute(edges[0].source)} data-target={attribute(edges[0].target)}"
    if len(edges) == 1:
        return first
    pairs = json.dumps([[edge.source, edge.target] for edge in edges], ensure_ascii=False)
    return f"{first} data-edges={attribute(pairs)}"


def _stroke_words(graph: Graph, stroke: Stroke) -> str:
    return "; ".join(_edge_words(graph.edges[number]) for number in stroke.edges)


def _mark(graph: Graph, stroke: Stroke) -> str:
    """Return the sign that stands for the arrows between a variable and its new value."""
    x, y = stroke.path.points[0]
    sign = style_of("update").sign
    return (
        f'<g class="k-update rewritten" {_ends(graph, stroke)}>'
        f"{element('title', _stroke_words(graph, stroke))}"
        f"{text_element('sign', x, y, sign, TITLE_SIZE)}</g>"
    )


def _pointed(graph: Graph, placed: Placed, theme: str) -> Iterator[str]:
    """Yield what is seen only while its target is pointed at, after a place to point at."""
    for stroke in placed.strokes:
        if stroke.when_pointed:
            rect = placed.boxes[graph.edges[stroke.edges[0]].target]
            yield (
                f'<g class="asked"><rect class="spot" x="{number(rect.x)}" y="{number(rect.y)}" '
                f'width="{number(rect.width)}" height="{number(rect.height)}"/>'
                f"{_stroke(graph, stroke, theme, 'when-pointed')}</g>"
            )


def _look(words: Words) -> str:
    return words.look if words.look in ("title", "quiet") else f"word {words.look}"


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
    node: GraphNode,
    rect: Rect,
    measure: Measure,
    options: PictureOptions,
    sources: list[str],
    *,
    says_as_usual: bool,
) -> Iterator[str]:
    heat = str(node.attrs.get("heat", ""))
    words = " ".join(filter(None, ["box", f"k-{node.kind}", _state_class(node), heat]))
    text = measure.text if says_as_usual and not measure.is_line else None
    label = attribute(described(node, sources, text))
    yield f'<g class="{words}" role="img" data-id={attribute(node.id)} aria-label={label}>'
    yield element("title", tooltip(node, options))
    yield from box_parts(node, rect, measure, options)
    yield "</g>"


# --- one box: its outline, its words, the cells of its inputs and outputs -------------------------

ROUND = {"round": 6.0, "square": 0.0, "note": 0.0}
FOLD = 8.0
SHEET = 3.5  # how far the sheets of several copies stand out
MOST_SHEETS = 2


def box_parts(
    node: GraphNode, rect: Rect, measure: Measure, options: PictureOptions
) -> Iterator[str]:
    """Yield the elements of a box, those behind first."""
    style = style_of(node.kind)
    if measure.is_line and rect.width < LEAST_WIDTH:  # the mark in a slot says it
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


def _outline(rect: Rect, style: Style, inset: float, kind: str) -> str:
    x, y = rect.x + inset, rect.y + inset
    width, height = rect.width - 2 * inset, rect.height - 2 * inset
    if style.corners == "note":
        right, bottom = x + width, y + height
        fold = f"{number(right - FOLD)},{number(y)}"
        corner = f"{number(right)},{number(y + FOLD)}"
        return (
            f'<path class="{kind}" d="M{number(x)},{number(y)}L{fold}L{corner}'
            f'V{number(bottom)}H{number(x)}ZM{fold}V{number(y + FOLD)}H{number(right)}"/>'
        )
    radius = ROUND.get(style.corners, height / 2)
    rounded = f' rx="{number(max(radius - inset / 2, 0))}"' if radius else ""
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
        f'height="{number(height)}"{rounded}/>'
    )


def _words(rect: Rect, measure: Measure, inset: float) -> Iterator[str]:
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
    yield text_element("sign", x, y, text.sign, TITLE_SIZE)
    yield text_element("title", x + sign + SIGN_GAP, y, text.title, TITLE_SIZE, bold=True)
    y += TITLE_HEIGHT - TITLE_SIZE + LINE_SIZE
    for line in text.lines:
        x = middle - text_width(line, LINE_SIZE) / 2
        yield text_element("quiet", x, y, line, LINE_SIZE)
        y += LINE_HEIGHT
    for mark in text.marks:
        x = middle - text_width(mark, LINE_SIZE, True) / 2
        yield text_element("mark", x, y, mark, LINE_SIZE, bold=True)
        y += LINE_HEIGHT


def _words_in_line(node: GraphNode, rect: Rect, measure: Measure) -> Iterator[str]:
    """Yield the title at the left, and at the right what else is said, before the mark if any."""
    y = rect.y + rect.height / 2 + FRAME_SIZE * 0.36
    if "share" in node.attrs:
        room = rect.width - 4 * CELL_PADDING
        x, width = rect.x + 2 * CELL_PADDING, room * float(node.attrs["share"])
        for look, length in (("bar-ground", room), ("bar", width)):
            yield (
                f'<rect class="{look}" x="{number(x)}" y="{number(rect.bottom - 5)}" '
                f'width="{number(length)}" height="3"/>'
            )
        y -= 2
    text = measure.text
    x = rect.x + CELL_PADDING + 3
    yield text_element("sign", x, y, text.sign, FRAME_SIZE)
    x += text_width(text.sign, FRAME_SIZE) + SIGN_GAP
    yield text_element("title", x, y, text.title, FRAME_SIZE, bold=True)
    right = rect.right - CELL_PADDING - (MARK_WIDTH if node.kind in ("variable", "slot") else 0.0)
    for line in reversed(text.lines):
        right -= text_width(line, LINE_SIZE)
        yield text_element("quiet", right, y, line, LINE_SIZE)
        right -= CELL_PADDING


def _cells(rect: Rect, measure: Measure, rankdir: str) -> Iterator[str]:
    """Yield the cells along the sides at which arrows arrive and leave."""
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
) -> Iterator[str]:
    wide = rect.width / len(cells)
    line = f"M{number(rect.x)},{number(border)}H{number(rect.right)}"
    starts = [rect.x + wide * i for i in range(1, len(cells))]
    bars = [f"M{number(x)},{number(top)}v{number(height)}" for x in starts]
    middles = [(rect.x + wide * (i + 0.5), top + height / 2) for i in range(len(cells))]
    yield from _drawn_cells(cells, [line, *bars], middles)


def _column(
    cells: tuple[str, ...], rect: Rect, left: float, width: float, border: float
) -> Iterator[str]:
    high = rect.height / len(cells)
    line = f"M{number(border)},{number(rect.y)}V{number(rect.bottom)}"
    starts = [rect.y + high * i for i in range(1, len(cells))]
    bars = [f"M{number(left)},{number(y)}h{number(width)}" for y in starts]
    middles = [(left + width / 2, rect.y + high * (i + 0.5)) for i in range(len(cells))]
    yield from _drawn_cells(cells, [line, *bars], middles)


def _drawn_cells(
    cells: tuple[str, ...], lines: list[str], middles: list[tuple[float, float]]
) -> Iterator[str]:
    yield f'<path class="cells" d="{"".join(lines)}"/>'
    for cell, (x, y) in zip(cells, middles, strict=True):
        left = x - text_width(cell, CELL_SIZE) / 2
        yield text_element("cell", left, y + CELL_SIZE * 0.36, cell, CELL_SIZE)


# --- the style sheet: one class for each kind of box, light and dark ------------------------------
#
# Every rule begins with the classes of its picture. Pictures of one theme in one page have the same
# rules; those for a state are more specific than those for a kind, whatever their order.

_SIZES = f"""\
text{{font-family:{FONT};font-size:{LINE_SIZE}px;white-space:pre}}
.caption{{font-size:{CAPTION_SIZE}px;font-weight:bold}}
.title,.sign{{font-size:{TITLE_SIZE}px}}
.title,.mark{{font-weight:bold}}
.frame~.title{{font-size:{FRAME_SIZE}px}}
.cell{{font-size:{CELL_SIZE}px}}
.depth{{font-size:{DEPTH_SIZE}px}}
.line{{stroke-width:1.2}}
.line.inner{{fill:none;stroke-width:1}}
.cells{{fill:none;stroke-width:.8}}
.frame{{stroke-width:1.1;stroke-dasharray:5 3}}
.edge{{fill:none;stroke-width:1.2}}
.edge.gradient{{stroke-dasharray:6 3}}
.edge.update{{stroke-dasharray:2 3;stroke-width:1.6}}"""


# A ladder's lines are told apart by place and colour; a card is no dashed frame.
_LADDER = f"""\
.edge.gradient{{stroke-dasharray:none;stroke-width:1.4}}
.edge.nothing{{stroke-dasharray:2 4}}
.frame.card{{stroke-dasharray:none}}
.box .title,.box .sign{{font-size:{FRAME_SIZE}px}}
.spot{{fill:none;stroke:none;pointer-events:all}}
.when-pointed{{visibility:hidden}}
.asked:hover .when-pointed{{visibility:visible}}"""


def style_sheet(graph: Graph, options: PictureOptions, scope: str = "") -> str:
    """Return the rules that a graph's picture needs; `scope` is its class, if it is another."""
    scope = scope or options.scope
    kinds = {node.kind: style_of(node.kind) for node in graph.nodes}
    sizes = _SIZES.split("\n") + (_LADDER.split("\n") if is_ladder(graph) else [])
    if options.font != FONT:
        sizes.append(f"text{{font-family:{options.font}}}")
    rules = [*sizes, *_shapes(graph, kinds), *_colours(graph, kinds, options.palette)]
    scoped = [_scoped(rule, scope) for rule in rules]
    if options.theme == "auto":
        dark = _colours(graph, kinds, options.palette_of("dark"))
        rules_of_dark = "".join(_scoped(rule, scope) for rule in dark)
        scoped.append(f"@media (prefers-color-scheme:dark){{{rules_of_dark}}}")
    return "\n".join(scoped)


@cache
def _scoped(rule: str, scope: str) -> str:
    selectors, _, rest = rule.partition("{")
    scoped = ",".join(f".kerascope.{scope} {selector}" for selector in selectors.split(","))
    return f"{scoped}{{{rest}"


def _states(graph: Graph, known: Container[str] = STATES) -> list[str]:
    parts: list[GraphNode | GraphEdge | GraphGroup] = [*graph.nodes, *graph.edges, *graph.groups]
    found = dict.fromkeys(str(part.attrs.get("state", "")) for part in parts)
    return [state for state in found if state in known]


def _shapes(graph: Graph, styles: Mapping[str, Style]) -> Iterator[str]:
    for kind, style in styles.items():
        if style.heavy:
            yield f".k-{kind} .line{{stroke-width:2}}"
        if style.dashed:
            yield f".k-{kind} .line{{stroke-dasharray:5 3}}"
    if any(edge.attrs.get("role") == "bundle" for edge in graph.edges):
        yield ".edge.bundle{stroke-width:3.6}"
    for name in _states(graph):
        state = STATES[name]
        width = 2.4 if state.heavy else 1.2
        dashes = "stroke-dasharray:5 3" if state.dashed else "stroke-dasharray:none"
        yield f".box.is-{name} .line,.frame.is-{name}{{stroke-width:{width};{dashes}}}"
        yield f".edge.is-{name}{{stroke-width:{max(width - 0.4, 1.2):g};{dashes}}}"


def _colours(graph: Graph, kinds: Mapping[str, Style], palette: Palette) -> Iterator[str]:
    yield f".ground{{fill:{palette.background}}}"
    yield f".title,.caption{{fill:{palette.text}}}"
    yield f".quiet,.cell,.depth{{fill:{palette.quiet_text}}}"
    yield f".mark{{fill:{palette.text}}}"
    yield f".frame{{fill:{palette.group_fill};stroke:{palette.group_line}}}"
    yield f".edge{{stroke:{palette.edge}}}"
    yield f".head{{fill:{palette.edge}}}"
    has_bars = any("share" in node.attrs for node in graph.nodes)
    if has_bars:
        yield f".bar-ground{{fill:{palette.group_line};opacity:.25}}"
    for kind in kinds:
        fill, line, sign = palette.box(palette.hue_of(kind))
        yield f".k-{kind} .line{{fill:{fill};stroke:{line}}}"
        yield f".k-{kind} .inner{{fill:none}}"
        yield f".k-{kind} .sign{{fill:{sign}}}"
        if has_bars:
            yield f".k-{kind} .bar{{fill:{line}}}"
        yield f".k-{kind} .cells{{stroke:{line}}}"
    for role, hue in (("gradient", "purple"), ("update", "green")):
        if is_ladder(graph):
            yield f".word.{role}{{fill:{palette.sign(hue)}}}"
            yield f".edge.gradient.nothing{{stroke:{palette.quiet_text}}}"
        if any(edge.attrs.get("role") == role for edge in graph.edges):
            yield f".edge.{role}{{stroke:{palette.line(hue)}}}"
            yield f".head.{role}{{fill:{palette.line(hue)}}}"
    for name in _states(graph):
        mark = palette.mark(STATES[name].hue)
        yield f".box.is-{name} .line,.frame.is-{name}{{stroke:{mark}}}"
        yield f".edge.is-{name}{{stroke:{mark}}}"
        yield f".head.is-{name}{{fill:{mark}}}"
    for name in _states(graph, HEATS):
        box = f".box.is-{name}"
        yield f"{box} .line{{fill:{palette.heat(name)};stroke:{palette.quiet_text}}}"
        yield f"{box} .inner{{fill:none}}"
        yield f"{box} .sign{{fill:{palette.text}}}"
    for name in dict.fromkeys(str(node.attrs["heat"]) for node in graph.nodes
                              if node.attrs.get("heat") in HEATS):  # fmt: skip
        yield f".box.{name} .line:not(.inner){{fill:{palette.heat(name)}}}"
        yield f".box.{name} .sign{{fill:{palette.text}}}"


def text_element(
    kind: str, x: float, y: float, text: str, size: float, *, bold: bool = False
) -> str:
    """Return a line of text that begins at (x, y), pinned to the width that was computed for it."""
    width = text_width(text, size, True) if bold else text_width(text, size)  # as measured before
    pinned = f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"' if text else ""
    return (
        f'<text class="{kind}" x="{number(x)}" y="{number(y)}"{pinned}>'
        f"{escape(text, quote=False)}</text>"
    )
