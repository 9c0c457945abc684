"""Write a graph as one HTML file, in which readers open frames, search boxes and see details.

Python measures the texts and orders the rows. The scripts of the page (`viewer/`) compute the rest
of the layout, as `layout/` does, each time a frame opens or closes.

The module contains the page, its style and its data, then the constants that the scripts need for
the layout, such as the distance between two rows, and then the boxes of closed frames.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from kerascope.engine.node_ids import clean
from kerascope.printable import printable_json, printable_lines
from kerascope.viz.boxes import BoxText, PictureOptions, caption_lines, group_text, one_line
from kerascope.viz.collapse.collapsed import BUNDLES, check_groups, collapsed, kind_of_group
from kerascope.viz.collapse.view import closed_by_default
from kerascope.viz.exports import page, to_svg
from kerascope.viz.exports.to_svg import style_sheet
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.layout import arrange, ladder, measures, order, places
from kerascope.viz.layout.ladder import is_ladder
from kerascope.viz.layout.levels import (
    BEND,
    BOX,
    ENTRY,
    EXIT,
    FRAME,
    LONGEST_SPAN,
    MOST_BENDS_PER_ITEM,
    TITLE,
    Level,
)
from kerascope.viz.layout.measures import SLACK, caption_size, measure, text_width, title_size
from kerascope.viz.layout.order import ordered_levels
from kerascope.viz.nesting import hiding_of, nesting_of
from kerascope.viz.theme import PALETTES, STATES, STYLES, style_of


@dataclass(frozen=True)
class ReservedSpace:
    """Space that a picture reserves for texts which the page draws into it later.

    Attributes
    ----------
    widened : callable
        A function from a box to a copy with placeholder text, whose size is measured.
    left_out : str
        A line of the placeholder text that is not drawn.
    between_rows : float or None
        The distance between the rows of a ladder; None for the default.
    least : float
        The minimum distance between the rows of pictures that are not ladders.
    beside : float
        The padding at the right side of the picture.
    value_width : float
        The width reserved for a value in a cell of a ladder.
    """

    widened: Callable[[GraphNode], GraphNode]
    left_out: str = ""
    between_rows: float | None = None
    least: float = 0.0
    beside: float = 0.0
    value_width: float = 0.0


def to_html(
    graph: Graph, options: PictureOptions | None = None, *, closed: Collection[str] | None = None
) -> str:
    """Return a graph as an HTML page in one file.

    Parameters
    ----------
    graph : Graph
        A graph with all its frames; `collapse.blocks.with_blocks` adds more.
    options : PictureOptions, optional
    closed : collection of str, optional
        Ids of the frames that are closed when the page opens; by default `closed_by_default`.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        `closed` names a frame that does not exist.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphEdge, GraphNode
    >>> boxes = GraphNode("a", "a", "input", depth=1), GraphNode("b", "b", "dense")
    >>> page = to_html(Graph("pair", boxes, (GraphEdge("a", "b"),)))
    >>> page.splitlines()[0], "<title>pair</title>" in page
    ('<!DOCTYPE html>', True)
    """
    options = options or PictureOptions()
    if closed is None:
        closed = closed_by_default(graph)
    data, style = data_and_style(graph, options, closed)
    theme = "dark" if options.theme == "dark" else "light"
    colors = (page.color_rules(name, page.colors(options.palette_of(name))) for name in PALETTES)
    name = graph.name or "graph"
    drawn = (
        f'<svg id="picture" class="graph kerascope {theme}" role="group" '
        f'aria-label="{_escaped(f"{name}: {len(graph.nodes)} boxes")}"></svg>\n'
    )
    without = "This page draws its picture with JavaScript, which is disabled here."
    return page.page(
        title=_escaped(name),
        kind="viewer",
        heading=f'<h1 class="unseen">{_escaped(name)}</h1>',
        theme=theme,
        style="".join([*colors, style, page.part("viewer.css")]),
        body=f'<section class="side">\n{page.side(0, drawn, "Graph")}{page.panel(0, "Details")}'
        f"</section>\n<noscript><p>{without}</p></noscript>",
        data=as_script(data),
        script=f'(() => {{\n"use strict";\n{page.scripts(is_ladder(graph))}'
        f"{page.lean(page.part('start.js'))}}})();\n",
    )


def data_and_style(
    graph: Graph,
    options: PictureOptions,
    closed: Collection[str],
    reserved: ReservedSpace | None = None,
) -> tuple[dict[str, Any], str]:
    """Return the data of a graph for the page, as JSON values, and the CSS rules of its picture.

    Parameters
    ----------
    graph : Graph
        A graph with all its frames.
    options : PictureOptions
    closed : collection of str
        Ids of the frames that are closed at first.
    reserved : ReservedSpace, optional
        Space for texts that the page draws later.

    Raises
    ------
    ArgumentError
        `closed` names a frame that does not exist.
    """
    check_groups(graph, closed, "to_html")
    frames = closed_frames(graph)
    found = _Data(graph, options, frames, reserved).result(dict.fromkeys(closed))
    return found, _picture_styles(graph, options, frames)


def _escaped(text: str) -> str:
    return escape(one_line(clean(text)), quote=True)


# --- style ----------------------------------------------------------------------------------------


def _picture_styles(graph: Graph, options: PictureOptions, frames: ClosedFrames) -> str:
    """Return the CSS rules of the picture in both themes, for all kinds and states in the graph."""
    boxes = (*graph.nodes, *frames.boxes.values())
    kinds = dict.fromkeys(box.kind for box in boxes if box.kind in STYLES)
    states = dict.fromkeys(str(box.attrs.get("state", "")) for box in boxes)
    looks = dict.fromkeys(
        (str(edge.attrs.get("role", "")), str(edge.attrs.get("state", ""))) for edge in graph.edges
    )
    kinds["layer"] = None  # the look of unknown kinds
    nodes = [GraphNode(f"kind {kind}", "", kind) for kind in kinds]
    nodes += [GraphNode(f"state {one}", "", "layer", attrs={"state": one}) for one in states]
    ends = nodes[0].id, nodes[-1].id
    edges = [GraphEdge(*ends, "", {"role": role, "state": state}) for role, state in looks]
    if any("share" in box.attrs for box in graph.nodes):
        nodes.append(GraphNode("bar", "", "layer", attrs={"share": 0.0}))
    attrs: dict[str, Attribute] = {"ladder": True} if is_ladder(graph) else {}
    seen = Graph(graph.name, tuple(nodes), tuple(edges), (), attrs)
    themes = {theme: replace(options, theme=theme) for theme in PALETTES}
    return "\n".join(style_sheet(seen, own, theme) for theme, own in themes.items())


# --- the data of a graph as compact JSON, which `viewer/graph.js` reads ---------------------------
#
# Texts, box texts, sizes and attribute sets are stored once, in tables, and referred to by number.
# The rows of every level are ordered already, so the page only computes positions.

IN_A_LANE, BESIDE = 1, 2  # kinds of routes that do not run from row to row


def as_script(data: Mapping[str, Any]) -> str:
    """Return data as JSON that is safe inside a script element: no text can close the element.

    Examples
    --------
    >>> "</script>" in as_script({"name": "</script>"})
    False
    """
    text = printable_json(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    return text.replace("<", "\\u003c")


class _Table:
    """A table that stores equal items once and assigns an index to each item."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.numbers: dict[Hashable, int] = {}

    def add(self, key: Hashable, item: Any) -> int:
        """Return the index of the item with this key. Add the item if the key is new."""
        if key not in self.numbers:
            self.numbers[key] = len(self.items)
            self.items.append(item)
        return self.numbers[key]


class _Data:
    """Converts a graph to the JSON data from which the page draws it.

    Parameters
    ----------
    graph : Graph
        A graph with all its frames.
    options : PictureOptions
    frames : ClosedFrames
        The frames as closed boxes.
    reserved : ReservedSpace, optional
        Space for texts that the page draws later.
    """

    def __init__(
        self,
        graph: Graph,
        options: PictureOptions,
        frames: ClosedFrames,
        reserved: ReservedSpace | None = None,
    ) -> None:
        self.graph = graph
        self.reserved = reserved
        self.options = options
        self.sideways = replace(options, rankdir="LR")
        self.downward = replace(options, rankdir="TB")
        self.frames = frames
        self.group_numbers = {"": -1} | {group.id: i for i, group in enumerate(graph.groups)}
        # Groups and boxes are numbered separately, because a group may have the id of a box.
        self.box_numbers = {node.id: i for i, node in enumerate(graph.nodes)}
        self.strings, self.texts, self.sizes = _Table(), _Table(), _Table()
        self.attributes, self.kinds = _Table(), _Table()
        self.units: list[int] = []

    def result(self, closed: Collection[str]) -> dict[str, Any]:
        """Return all data of the page. `closed` holds the ids of the frames that start closed."""
        graph = self.graph
        closed_boxes = [self.frames.boxes[group.id] for group in graph.groups]
        # The page itself computes the rows of a ladder.
        levels = {} if is_ladder(graph) else ordered_levels(graph)
        wide, high = caption_size(graph)
        found = {
            "name": printable_lines(graph.name),
            "rankdir": "TB" if is_ladder(graph) else self.options.rankdir,
            "isLadder": is_ladder(graph),
            "measured": [self.drawn(text) for text in _ladder_texts(graph)],
            "theme": "light" if self.options.theme == "print" else self.options.theme,
            "depthRanks": self.options.depth_ranks,
            "depthStrip": arrange.depth_strip(levels[""]) if levels else 0.0,
            "caption": [self.drawn(line) for line in caption_lines(graph)],
            "captionSize": [wide, high],
            "layout": layout_constants(self.reserved),
            "room": self.reserved_lengths(),
            "states": {name: state.word or name for name, state in STATES.items()},
            "boxes": [self.box(node) for node in (*graph.nodes, *closed_boxes)],
            "groups": [self.group(number) for number in range(len(graph.groups))],
            "edges": [self.edge(number, edge) for number, edge in enumerate(graph.edges)],
            "levels": [self.level(level) for level in levels.values()],
            "families": self.families(),
            "closed": [i for i, group in enumerate(graph.groups) if group.id in closed],
        }
        tables = {
            "strings": self.strings.items,
            "units": self.units,
            "texts": self.texts.items,
            "sizes": self.sizes.items,
            "attributes": self.attributes.items,
            "kinds": self.kinds.items,
        }
        return found | tables

    # --- texts and attributes ---------------------------------------------------------------------

    def string(self, text: str) -> int:
        """Return the index of a text in the table of strings."""
        if text not in self.strings.numbers:
            self.units.append(0)
            return self.strings.add(text, printable_lines(text))
        return self.strings.numbers[text]

    def drawn(self, text: str) -> int:
        """Return the index of a text that the page draws, and store the width of the text."""
        number = self.string(text)
        self.units[number] = round(text_width(text, 1000.0 / SLACK))
        return number

    def attribute_set(self, attrs: Mapping[str, Attribute], label: str = "") -> int:
        """Return the index of a set of attributes in the page's data, adding the set if it is new.

        Empty values, and a `layer` that equals `label`, are omitted.
        """
        pairs: list[Any] = []
        for key, value in attrs.items():
            if value != "" and (key != "layer" or value != label):
                pairs.append(self.string(key))
                pairs.append(self.string(value) if isinstance(value, str) else [_plain(value)])
        return self.attributes.add(repr(pairs), pairs)

    def reserved_lengths(self) -> dict[str, float]:
        """Return the distances and widths reserved for later texts, by name; {} if none are."""
        kept = self.reserved
        if kept is None:
            return {}
        return {"least": kept.least, "beside": kept.beside, "valueWidth": kept.value_width}

    def words(self, text: BoxText) -> int:
        left_out = self.reserved.left_out if self.reserved else ""
        lines = [line for line in text.lines if not left_out or line != left_out]
        parts = [lines, text.marks, text.inputs, text.outputs]
        while parts and not parts[-1]:
            parts.pop()
        numbers = [[self.drawn(line) for line in lines] for lines in parts]
        return self.texts.add(repr(numbers), numbers)

    def kind(self, name: str) -> int:
        style = style_of(name)
        name = name if name in STYLES else "layer"
        row = [name, self.drawn(style.sign), style.corners, style.frames]
        return self.kinds.add(name, row)

    # --- boxes, frames, arrows --------------------------------------------------------------------

    def box(self, node: GraphNode) -> list[Any]:
        wide = self.reserved.widened(node) if self.reserved else node
        if "line" in node.attrs:
            down = side = ladder.cell_measure(wide, self.downward)
        else:
            down = side = measure(wide, self.downward)
        if down.is_line:
            pass
        elif any(int(node.attrs.get(key, 0)) > 1 for key in ("input_count", "output_count")):
            side = measure(wide, self.sideways)
        size = [down.width, down.height]
        if [side.width, side.height] != size or any(side.margins):
            size += [side.width, side.height, side.margins[0], side.margins[2]]
        size = [round(length, 2) for length in size]
        return [
            self.string(node.id),
            self.drawn(down.text.title),
            self.string(node.label),
            self.kind(node.kind),
            self.group_numbers[node.group],
            node.depth,
            self.words(down.text),
            self.sizes.add(repr(size), size),
            self.attribute_set(node.attrs, node.label),
        ]

    def group(self, number: int) -> list[Any]:
        group = self.graph.groups[number]
        name, detail = group_text(group)
        is_call, is_bundle = kind_of_group(group) == "call", kind_of_group(group) in BUNDLES
        sizes = title_size(group)
        return [self.drawn(name), self.drawn(detail), *sizes, int(is_call), int(is_bundle)]

    def families(self) -> list[list[int]]:
        """Return the sets of frames that open and close together, as for a block of a ladder."""
        found: dict[str, list[int]] = {}
        for number, group in enumerate(self.graph.groups):
            found.setdefault(str(group.attrs.get("twin", group.id)), []).append(number)
        return [family for family in found.values() if len(family) > 1]

    def edge(self, number: int, edge: GraphEdge) -> list[Any]:
        row = [
            self.box_numbers[edge.source],
            self.box_numbers[edge.target],
            self.attribute_set(edge.attrs),
            self.drawn(edge.label),
        ]
        tails = self._ports(number, edge.source, self.frames.outputs)
        heads = self._ports(number, edge.target, self.frames.operands)
        return [*row, tails, heads] if tails or heads else row

    def _ports(self, number: int, box: str, ports: Mapping[tuple[int, str], int]) -> list[int]:
        """Return where an arrow meets the frames around a box, if these frames are closed.

        For each frame with an entry in `ports`, the list contains the number of the frame, followed
        by the index of the input or output at which the arrow meets it. The innermost frame is
        first.
        """
        found = []
        around = self.graph.nodes[self.box_numbers[box]].group
        while around:
            if (number, around) in ports:
                found += [self.group_numbers[around], ports[number, around]]
            around = self.graph.groups[self.group_numbers[around]].parent
        return found

    def level(self, level: Level) -> list[Any]:
        things = []
        for kind, name, edge in zip(level.kinds, level.names, level.edges, strict=True):
            if kind == BOX:
                things.append(self.box_numbers[name])
            elif kind == FRAME:
                things.append(len(self.graph.nodes) + self.group_numbers[name])
            else:
                things.append(edge)
        routes = []
        for route in level.routes:
            way = BESIDE if route.beside else IN_A_LANE if route.lane >= 0 else 0
            routes.append([route.edge, way, route.place, int(route.turned), *route.stops])
        kinds = "".join(LETTERS[kind] for kind in level.kinds)
        return [self.group_numbers[level.group], kinds, things, level.rows, level.depths, routes]


def _plain(value: Attribute) -> Attribute:
    """Return an attribute as a JSON value; infinite numbers and NaN become text."""
    is_odd = isinstance(value, float) and value - value != 0
    return str(value) if is_odd else value


# --- the distances of the layout, which are defined only in `layout/` -----------------------------

# The kinds of items, as one letter each.
LETTERS = {BOX: "b", FRAME: "f", ENTRY: "e", EXIT: "x", BEND: "d", TITLE: "t"}


def layout_constants(reserved: ReservedSpace | None = None) -> dict[str, Any]:
    """Return every number that `viewer/` needs to compute the same positions as `layout/`."""
    between = reserved.between_rows if reserved else None
    return {
        "gaps": {LETTERS[kind]: gap for kind, gap in places.GAPS.items()},
        "rowGap": places.ROW_GAP,
        "doorGap": places.DOOR_GAP,
        "widestRowGap": places.WIDEST_ROW_GAP,
        "steepness": places.STEEPNESS,
        "laneWidth": places.LANE_WIDTH,
        "rounds": places.ROUNDS,
        "straight": [places.STRAIGHT[bends] for bends in range(3)],
        "indifferent": places.INDIFFERENT,
        "strandRounds": places.STRAND_ROUNDS,
        "swing": arrange.SWING,
        "turn": arrange.TURN,
        "margin": arrange.MARGIN,
        "framePadding": arrange.FRAME_PADDING,
        "bendWidth": arrange.BEND_WIDTH,
        "doorWidth": arrange.DOOR_WIDTH,
        "depthSize": arrange.DEPTH_SIZE,
        "captionGap": arrange.CAPTION_GAP,
        "labelSize": arrange.LABEL_SIZE,
        "labelHeight": arrange.LABEL_HEIGHT,
        "titleSize": measures.TITLE_SIZE,
        "lineSize": measures.LINE_SIZE,
        "cellSize": measures.CELL_SIZE,
        "captionSize": measures.CAPTION_SIZE,
        "frameSize": measures.FRAME_SIZE,
        "titleHeight": measures.TITLE_HEIGHT,
        "lineHeight": measures.LINE_HEIGHT,
        "cellHeight": measures.CELL_HEIGHT,
        "captionHeight": measures.CAPTION_HEIGHT,
        "paddingY": measures.PADDING_Y,
        "signGap": measures.SIGN_GAP,
        "sheet": to_svg.SHEET,
        "mostSheets": to_svg.MOST_SHEETS,
        "fold": to_svg.FOLD,
        "rounding": to_svg.ROUND,
        "bold": measures.BOLD,
        "slack": measures.SLACK,
        "ladder": {**ladder_constants(), **({} if between is None else {"rowGap": between})},
    }


def ladder_constants() -> dict[str, Any]:
    """Return every number and text that `viewer/` needs to draw the ladder of `layout.ladder`."""
    return {
        "headSize": ladder.HEAD_SIZE,
        "nameSize": ladder.NAME_SIZE,
        "smallSize": ladder.SMALL_SIZE,
        "header": ladder.HEADER,
        "rowGap": ladder.ROW_GAP,
        "stripGap": ladder.STRIP_GAP,
        "cardHead": ladder.CARD_HEAD,
        "cellHeight": ladder.CELL_HEIGHT,
        "wire": ladder.WIRE,
        "cardPadding": ladder.CARD_PADDING,
        "cellGap": ladder.CELL_GAP,
        "cellPadding": ladder.CELL_PADDING,
        "leastCell": ladder.LEAST_CELL,
        "markWidth": ladder.MARK_WIDTH,
        "viasBeside": ladder.VIAS_BESIDE,
        "gutter": ladder.GUTTER,
        "lane": ladder.LANE,
        "leastBetween": ladder.LEAST_BETWEEN,
        "thinnest": ladder.THINNEST,
        "widest": ladder.WIDEST,
        "leastWidth": measures.LEAST_WIDTH,
        "orderRounds": order.ROUNDS,
        "manyItems": order.MANY_ITEMS,
        "portShare": order.PORT_SHARE,
        "longestSpan": LONGEST_SPAN,
        "mostBends": MOST_BENDS_PER_ITEM,
        **_LADDER_WORDS,
        "columnNotes": ladder.COLUMN_NOTES,
    }


_LADDER_WORDS = {
    "forwardHead": ladder.FORWARD_HEAD,
    "backwardHead": ladder.BACKWARD_HEAD,
    "newHead": ladder.NEW_HEAD,
    "viaHead": ladder.VIA_HEAD,
    "reads": ladder.READS,
    "byTheBatch": ladder.BY_THE_BATCH,
    "ofItself": ladder.OF_ITSELF,
    "gradientSign": style_of("gradient").sign,
    "updateSign": style_of("update").sign,
}


def _ladder_texts(graph: Graph) -> list[str]:
    """Return the texts of a ladder outside its boxes, which must be measured for the page."""
    if not is_ladder(graph):
        return []
    homes = [str(node.attrs.get("beside", "")) for node in graph.nodes]
    calls = [f"@{name.rpartition('@')[2]}" for name in homes if "@" in name]
    columns = [str(node.attrs["column"]) for node in graph.nodes if "column" in node.attrs]
    calls_in_a_row = sum(node.attrs.get("rail") == "forward" for node in graph.nodes)
    depths = [f"depth {depth}" for depth in range(calls_in_a_row)]
    fixed = [*_LADDER_WORDS.values(), *ladder.COLUMN_NOTES.values()]
    return [*dict.fromkeys([*fixed, *columns, *calls, *depths])]


# --- closed frames as boxes -----------------------------------------------------------------------
#
# `collapsed` computes the box of a closed frame. The page opens and closes frames itself, so Python
# computes the boxes of all frames beforehand. All frames of one nesting depth are closed at once,
# outer ones first, so a graph is collapsed once per depth.

# An attribute that identifies arrows while a graph is collapsed.
_NUMBER = "arrow number"


@dataclass
class ClosedFrames:
    """The boxes that represent the frames of a graph when they are closed.

    Attributes
    ----------
    boxes : dict of str to GraphNode
        The closed boxes by the ids of the frames.
    outputs, operands : dict of (int, str) to int
        The index of the output of a closed frame at which an arrow starts, or of the input at which
        it ends, by (index of the arrow, id of the frame).
    """

    boxes: dict[str, GraphNode] = field(default_factory=dict)
    outputs: dict[tuple[int, str], int] = field(default_factory=dict)
    operands: dict[tuple[int, str], int] = field(default_factory=dict)


def closed_frames(graph: Graph) -> ClosedFrames:
    """Return the box of each frame when closed, and the inputs and outputs at which arrows meet it.

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
        if group.id not in frames.boxes:  # empty, or all boxes are tensors used elsewhere
            attrs = {key: value for key, value in group.attrs.items() if key != "kind"}
            kind = "model" if kind_of_group(group) == "call" else "block"
            box = GraphNode(group.id, group.label, kind, group.parent, group.depth, attrs)
            frames.boxes[group.id] = box
    return frames


def _close(graph: Graph, closed: list[str], frames: ClosedFrames) -> None:
    """Close frames that are not inside each other; store their boxes and ends in `frames`.

    The ends are the inputs and outputs at which arrows meet the closed frames.
    """
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
    hiding = hiding_of(graph, known)
    around = {node.id: hiding[node.group] for node in graph.nodes}
    for number, original in enumerate(graph.edges):
        target = around[original.target] or original.target
        tensor = original.source, original.attrs.get("output"), target
        seen = by_number.get(number) or by_tensor.get(tensor)
        if seen is not None and seen.source in known and "output" in seen.attrs:
            frames.outputs[number, seen.source] = int(seen.attrs["output"])
        if seen is not None and seen.target in known and "operand" in seen.attrs:
            frames.operands[number, seen.target] = int(seen.attrs["operand"])
