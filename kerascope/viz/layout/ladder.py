"""The layout of a ladder: the forward pass, the gradients, and the cards of weights between them.

The left *rail* contains the calls, in rows by depth. The right rail contains the gradient of each
call's output, in the same row. The *card* of a layer, with its weights, is between them, in the row
of its first call. A line between a rail and a card is a *rung*. Each rail is laid out like any
graph (`order`, `places`), which gives the positions of its boxes and lines across. A row is as high
as its content. If several boxes of a row have rungs, each box gets its own strip of the row, so
that a rung passes below its neighbours.

Between a rail and the cards is a gutter. A rung crosses it in a straight line or, if its card is in
another row, runs along a lane in it. Lines to the losses use lanes, too. No line crosses a card.

The module contains the rows, the cards, and then the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite

from kerascope.viz.boxes import BoxText, PictureOptions, shortened
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.layout.arrange import (
    DEPTH_SIZE,
    MARGIN,
    Path,
    Placed,
    Point,
    Rect,
    Stroke,
    arrange,
    route_points,
)
from kerascope.viz.layout.columns import in_columns
from kerascope.viz.layout.levels import BOX, Level
from kerascope.viz.layout.measures import LINE_SIZE, Measure, caption_size, measure, text_width
from kerascope.viz.layout.order import ordered_levels
from kerascope.viz.layout.places import Places, Shape, place_level
from kerascope.viz.nesting import longest_paths
from kerascope.viz.sheet import Label
from kerascope.viz.theme import style_of

HEAD_SIZE, NAME_SIZE, SMALL_SIZE = 13.0, 12.0, 9.0
HEADER = 40.0  # height of the names of rails and columns, above the first row
ROW_GAP, STRIP_GAP = 22.0, 14.0
CARD_HEAD, CELL_HEIGHT, WIRE = 24.0, 25.0, 5.0
CARD_PADDING, CELL_GAP, CELL_PADDING = 8.0, 12.0, 8.0
LEAST_CELL = 62.0
SIGN_WIDTH, MARK_WIDTH = 17.0, 16.0
VIAS_BESIDE = 4
LONGEST_FIGURE = 32  # characters of the text of a value on a card
GUTTER, LANE = 48.0, 9.0
LEAST_BETWEEN = 150.0
THINNEST, WIDEST = 1.2, 4.5  # widths of arrows of gradients with a known size
# Texts above the rails and the columns, and at lines.
FORWARD_HEAD, BACKWARD_HEAD = "forward \u25be", "\u25b4 backward"
NEW_HEAD, VIA_HEAD = "new value", "via"
COLUMN_NOTES = {
    "weight": "read by the call",
    "gradient": "d loss / d weight",
    "new": "\u21bb written at the end",
}
READS, BY_THE_BATCH, OF_ITSELF = "reads", "by the batch", "d loss / d loss = 1"


@dataclass(frozen=True)
class PlacedCard:
    """A card to be placed: its boxes in drawing order, and the calls that read its weights.

    Attributes
    ----------
    id : str
        Id of the frame, or of the box that represents a closed card.
    lines : list of list of GraphNode
        The boxes of each weight; empty for a closed card.
    calls : list of str
        The calls that read the weights on the card.
    """

    id: str
    lines: list[list[GraphNode]]
    calls: list[str]


@dataclass
class Strip:
    """A horizontal strip of a row of a ladder: calls, their gradients, and cards of weights.

    Attributes
    ----------
    calls : dict of str to list of str
        The gradients of each call.
    cards : list of str
        The ids of the cards.
    is_flat : bool
        Whether all calls are at the same height. Otherwise they are below each other, so that the
        line from one call to its card passes below the other calls.
    top, height : float
    """

    calls: dict[str, list[str]] = field(default_factory=dict)
    cards: list[str] = field(default_factory=list)
    is_flat: bool = False
    top: float = 0.0
    height: float = 0.0


@dataclass
class Rail:
    """One rail of a ladder: its boxes in rows, with their horizontal positions.

    `numbers` are the indices of the rail's arrows in the `edges` of the whole graph.
    """

    level: Level
    places: Places
    shapes: list[Shape]
    numbers: list[int]

    @property
    def width(self) -> float:
        """The width of the rail."""
        return self.places.across


def is_ladder(graph: Graph) -> bool:
    """Return whether a graph is drawn as a ladder: a model's gradients or training step."""
    return bool(graph.attrs.get("ladder"))


def layout_of(graph: Graph, options: PictureOptions) -> tuple[Placed, dict[str, Measure]]:
    """Return the layout of a graph and the sizes of its boxes. A ladder has a layout of its own."""
    if is_ladder(graph):
        return arrange_ladder(graph, options)
    placed, measures = arrange(graph, options)
    if options.wrap:
        placed = in_columns(placed, graph, options.wrap, options.rankdir == "LR")
    return placed, measures


def arrange_ladder(
    graph: Graph, options: PictureOptions, row_gap: float = ROW_GAP
) -> tuple[Placed, dict[str, Measure]]:
    """Return the layout of a ladder, and the texts and sizes of its boxes.

    Parameters
    ----------
    graph : Graph
        A graph of the level "training", or of a model's level "gradient"; closed frames are boxes.
    options : PictureOptions
    row_gap : float
        Distance between two rows; larger than the default to leave space for values on the arrows.
    """
    ladder = _Ladder(graph, replace(options, rankdir="TB"), row_gap)
    ladder.put_rows()
    ladder.draw()  # the first time, to count the lanes that the gutters need
    ladder.widen_gutters()
    ladder.draw()
    return ladder.placed(), ladder.measures


class _Ladder:
    """Computes the positions of all parts of a ladder."""

    def __init__(self, graph: Graph, options: PictureOptions, row_gap: float) -> None:
        self.graph = graph
        self.options = options
        self.row_gap = row_gap
        self.nodes = {node.id: node for node in graph.nodes}
        self.groups = {group.id: group for group in graph.groups}
        self.kind = {node.id: _place_of(node) for node in graph.nodes}
        self.measures = {
            node.id: cell_measure(node, options) if self._is_cell(node) else measure(node, options)
            for node in graph.nodes
        }
        self.cards = self._cards()
        self.columns = self._columns()
        self.card_width = self._card_width()
        self.depths = self._depths()
        self.forward = self._rail("forward")
        self.backward = self._rail("backward")
        self.boxes: dict[str, Rect] = {}
        self.frames: dict[str, Rect] = {}
        self.lanes = {"left": 0, "right": 0}
        self.caption = caption_size(graph)
        norms = (
            self.nodes[x].attrs.get("gradient_norm", 0) for x in self.backward.level.names if x
        )
        self.greatest = max((float(norm) for norm in norms if isfinite(float(norm))), default=0.0)

    def _is_cell(self, node: GraphNode) -> bool:
        return "line" in node.attrs

    # --- the parts --------------------------------------------------------------------------------

    def _cards(self) -> dict[str, PlacedCard]:
        """Return the cards by their ids: first the open cards, then the closed ones."""
        lines: dict[str, dict[str, list[GraphNode]]] = {}
        for node in self.graph.nodes:
            if self._is_cell(node):
                own = lines.setdefault(node.group, {})
                own.setdefault(str(node.attrs["line"]), []).append(node)
        found = {g.id: [*lines[g.id].values()] for g in self.graph.groups if g.id in lines}
        found |= {one: [] for one, kind in self.kind.items() if kind == "card"}
        calls: dict[str, dict[str, None]] = {one: {} for one in found}
        for edge in self.graph.edges:
            card = self.card_at(edge.source)
            if card and self.kind[edge.target] == "forward":
                calls[card][edge.target] = None
        return {one: PlacedCard(one, found[one], [*calls[one]]) for one in found}

    def card_at(self, box: str) -> str:
        """Return the id of the card that a box is on or represents; "" for a box on a rail."""
        kind = self.kind[box]
        return self.nodes[box].group if kind == "cell" else box if kind == "card" else ""

    def _depths(self) -> dict[str, int]:
        """Return the depth of each box on a rail. A gradient has the depth of its call."""
        calls = [one for one, kind in self.kind.items() if kind == "forward"]
        pairs = [
            (edge.source, edge.target)
            for edge in self.graph.edges
            if self.kind[edge.source] == self.kind[edge.target] == "forward"
        ]
        depths = longest_paths(calls, pairs)
        for one, kind in self.kind.items():
            if kind == "backward":
                depths[one] = depths.get(str(self.nodes[one].attrs.get("beside", "")), 0)
        return depths

    def _rail(self, kind: str) -> Rail:
        """Return a rail with its layout. Arrows between gradients are reversed and go down."""
        arriving: dict[str, int] = {}
        numbers, edges = [], []
        for number, edge in enumerate(self.graph.edges):
            if self.kind[edge.source] == self.kind[edge.target] == kind:
                numbers.append(number)
                if kind == "forward":
                    attrs = {k: v for k, v in edge.attrs.items() if k in ("operand", "output")}
                    edges.append(GraphEdge(edge.source, edge.target, "", attrs))
                else:
                    place = arriving[edge.target] = arriving.get(edge.target, -1) + 1
                    edges.append(GraphEdge(edge.target, edge.source, "", {"output": place}))
        nodes = [
            GraphNode(one, "", "", depth=self.depths[one], attrs=_ports(node, arriving.get(one, 0)))
            for one, node in self.nodes.items()
            if self.kind[one] == kind
        ]
        nodes.sort(key=lambda node: -node.depth)
        level = ordered_levels(Graph.trusted("", tuple(nodes), tuple(edges), (), {}))[""]
        shapes = [
            Shape(self.measures[name].width, self.measures[name].height, {})
            if item_kind == BOX
            else Shape(4.0, 0.0, {})
            for item_kind, name in zip(level.kinds, level.names, strict=True)
        ]
        places = place_level(level, shapes) if shapes else Places([], [], [], [], 0.0, 0.0)
        return Rail(level, places, shapes, numbers)

    # --- cards: their columns and sizes -----------------------------------------------------------

    def _columns(self) -> dict[str, float]:
        """Return the columns of all cards with their widths, from left to right."""
        widths: dict[str, float] = {}
        vias = 0
        for card in self.cards.values():
            for line in card.lines:
                vias = max(vias, sum(node.attrs["column"] == "via" for node in line))
                for node in line:
                    column = str(node.attrs["column"])
                    if node.kind != "update" or column == "new":
                        width = max(widths.get(column, LEAST_CELL), self.measures[node.id].width)
                        widths[column] = width
        slots = [one for one in widths if one not in ("weight", "via", "gradient", "new")]
        vias = min(vias, VIAS_BESIDE)
        order = ["weight", *(f"via {i}" for i in range(vias)), "gradient", *slots, "new"]
        own = {one: widths["via" if one.startswith("via ") else one] for one in order
               if one.startswith("via ") or one in widths}  # fmt: skip
        return own

    def _card_width(self) -> float:
        inner = sum(self.columns.values()) + CELL_GAP * max(0, len(self.columns) - 1)
        names = [
            text_width(self.groups[one].label, NAME_SIZE, True)
            + text_width(str(self.groups[one].attrs.get("detail", "")), LINE_SIZE)
            + 24
            for one, card in self.cards.items()
            if card.lines
        ]
        closed = [self.measures[one].width for one, card in self.cards.items() if not card.lines]
        least = LEAST_BETWEEN if self.cards else 60.0
        return max([inner + 2 * CARD_PADDING if inner else 0.0, *names, *closed, least])

    def _card_height(self, card: PlacedCard) -> float:
        if not card.lines:
            return self.measures[card.id].height
        rows = sum(_rows_of(line) for line in card.lines)
        return CARD_HEAD + rows * (CELL_HEIGHT + 2 * WIRE + 2) + 4

    # --- rows -------------------------------------------------------------------------------------

    def put_rows(self) -> None:
        """Compute the top and the height of each row and of its strips."""
        self.strips: dict[int, list[Strip]] = {}
        anchors = {one: self._anchors(card) for one, card in self.cards.items()}
        spare = Strip()
        strip_of: dict[str, Strip] = {"": spare}
        for card, calls in anchors.items():
            strip = next((strip_of[one] for one in calls if one in strip_of), Strip())
            (strip if calls else spare).cards.append(card)
            strip_of.update((one, strip) for one in calls if one not in strip_of)
        for row in self.forward.level.rows:
            for item in row:
                if self._is_box(self.forward, item):
                    call = self.forward.level.names[item]
                    strip = strip_of.setdefault(call, Strip())
                    strip.calls[call] = []
                    strips = self.strips.setdefault(self.depths[call], [])
                    if strip not in strips:
                        strips.append(strip)
        for one in (one for one, kind in self.kind.items() if kind == "backward"):
            home = str(self.nodes[one].attrs.get("beside", ""))
            strip_of.get(home, spare).calls.setdefault(home, []).append(one)
        if spare.cards or spare.calls:
            self.strips.setdefault(min(self.strips, default=0), []).append(spare)
        rungs = {call for card in self.cards.values() for call in card.calls}
        y = MARGIN + self.caption[1] + HEADER
        self.tops: dict[int, float] = {}
        self.bottoms: dict[int, float] = {}
        for depth in sorted(self.strips, reverse=True):
            strips = self.strips[depth]
            if not any(rungs.intersection(s.calls) for s in strips):
                strips = self.strips[depth] = [_joined(strips)]
            self.tops[depth] = y
            for strip in strips:
                strip.top, strip.height = y, self._height(strip)
                y += strip.height + STRIP_GAP
            y -= STRIP_GAP if strips else 0.0
            self.bottoms[depth] = y
            y += self.row_gap + self._swing(depth)
        self.rows_end = y - self.row_gap

    def _is_box(self, rail: Rail, item: int) -> bool:
        return rail.level.kinds[item] == BOX

    def _anchors(self, card: PlacedCard) -> list[str]:
        """Return the calls that decide the row of a card: the deepest that read its weights."""
        deepest = max((self.depths[call] for call in card.calls), default=0)
        return [call for call in card.calls if self.depths[call] == deepest]

    def _height_of(self, strip: Strip, call: str) -> float:
        """Return the height that a call and its gradients need in a strip of the ladder."""
        own = [self.measures[one].height for one in strip.calls[call]]
        height = self.measures[call].height if call in self.measures else 0.0
        if strip.is_flat:
            return max([height, *own])
        return max(height, sum(own) + STRIP_GAP * (len(own) - 1))

    def _height(self, strip: Strip) -> float:
        needed = [self._height_of(strip, call) for call in strip.calls]
        cards = [self._card_height(self.cards[one]) for one in strip.cards]
        stacked = sum(needed) + STRIP_GAP * (len(needed) - 1)
        calls = max(needed, default=0.0) if strip.is_flat else stacked
        return max(calls, sum(cards) + STRIP_GAP * (len(cards) - 1))

    def _swing(self, depth: int) -> float:
        """Return the extra space below a row for arrows that move far to the side below it."""
        steps = [0.0]
        for rail in (self.forward, self.backward):
            level, middle = rail.level, rail.places.middle
            for route in level.routes:
                for upper, lower in pairwise(route.stops):
                    if level.depths[level.row_of[upper]] == depth:
                        steps.append(abs(middle[upper] - middle[lower]))
        return min(0.07 * max(steps), 36.0)

    # --- across -----------------------------------------------------------------------------------

    def widen_gutters(self) -> None:
        """Make the spaces between the rails and the cards as wide as the lines in them need."""
        self.gutters = {side: GUTTER + LANE * count for side, count in self.lanes.items()}

    gutters: Mapping[str, float] = {"left": GUTTER, "right": GUTTER}

    def draw(self) -> None:
        """Compute the positions of all boxes, then those of all lines."""
        below = [self.measures[one].width for one in self._below() if self._is_target(one)]
        strip = max((text_width(f"depth {d}", DEPTH_SIZE) for d in self.strips), default=0.0) + 16
        self.left = MARGIN + (strip if self.options.depth_ranks else 0.0)
        rail = max([self.forward.width, *below, text_width(FORWARD_HEAD, HEAD_SIZE, True)])
        self.rail_width = rail
        self.card_x = self.left + rail + self.gutters["left"]
        self.card_end = self.card_x + self.card_width
        self.loss_x = self.card_x + 12
        self._put_losses()
        self.right_x = max(self.card_end, self.losses_end) + self.gutters["right"]
        self._put_rail(self.forward, self.left + (rail - self.forward.width) / 2)
        self._put_rail(self.backward, self.right_x)
        for strips in self.strips.values():
            for one in strips:
                self._put_strip(one)
        self.lines = _Lines(self)
        self.lines.draw()
        self.lanes = {side: len(taken) for side, taken in self.lines.taken.items()}

    def _put_rail(self, rail: Rail, x: float) -> None:
        for item, name in enumerate(rail.level.names):
            if self._is_box(rail, item):
                size = rail.shapes[item]
                left = x + rail.places.middle[item] - size.across / 2
                self.boxes[name] = Rect(_r(left), 0.0, _r(size.across), _r(size.along))

    def _put_strip(self, strip: Strip) -> None:
        middle = strip.top + strip.height / 2
        needed = {call: self._height_of(strip, call) for call in strip.calls}
        total = sum(needed.values()) + STRIP_GAP * (len(needed) - 1)
        spread = (strip.height - total) / (len(needed) + 1) if total < strip.height else 0.0
        y = strip.top + spread
        for call, gradients in strip.calls.items():
            centre = middle if strip.is_flat else y + needed[call] / 2
            if call in self.boxes:
                self._centre(call, centre)
            heights = [self.measures[one].height for one in gradients]
            top = centre - (sum(heights) + STRIP_GAP * (len(heights) - 1)) / 2
            for one, height in zip(gradients, heights, strict=True):
                self._centre(one, centre if strip.is_flat else top + height / 2)
                top += height + STRIP_GAP
            y += needed[call] + STRIP_GAP + spread
        heights = [self._card_height(self.cards[one]) for one in strip.cards]
        y = middle - (sum(heights) + STRIP_GAP * (len(heights) - 1)) / 2
        for one, height in zip(strip.cards, heights, strict=True):
            self._put_card(
                self.cards[one], Rect(_r(self.card_x), _r(y), _r(self.card_width), height)
            )
            y += height + STRIP_GAP

    def _centre(self, name: str, y: float) -> None:
        rect = self.boxes[name]
        self.boxes[name] = Rect(rect.x, _r(y - rect.height / 2), rect.width, rect.height)

    def _put_card(self, card: PlacedCard, rect: Rect) -> None:
        if not card.lines:
            self.boxes[card.id] = rect
            return
        self.frames[card.id] = rect
        starts: dict[str, float] = {}
        x = rect.x + CARD_PADDING
        for column, width in self.columns.items():
            starts[column] = x
            x += width + CELL_GAP
        y = rect.y + CARD_HEAD
        for line in card.lines:
            vias = 0
            for node in line:
                column, row = str(node.attrs["column"]), 0
                if column == "via":
                    column, row = f"via {vias % VIAS_BESIDE}", vias // VIAS_BESIDE
                    vias += 1
                top = y + WIRE + row * (CELL_HEIGHT + 2 * WIRE + 2)
                width = self.columns[column]
                own = Rect(_r(starts[column]), _r(top), _r(width), CELL_HEIGHT)
                if node.kind == "update" and column != "new":
                    left = own.right - MARK_WIDTH - 4
                    own = Rect(_r(left), _r(top + 5), MARK_WIDTH, CELL_HEIGHT - 10)
                self.boxes[node.id] = own
            y += _rows_of(line) * (CELL_HEIGHT + 2 * WIRE + 2)

    # --- losses -----------------------------------------------------------------------------------

    def _below(self) -> list[str]:
        return [one for one, kind in self.kind.items() if kind == "loss"]

    def _is_target(self, one: str) -> bool:
        return self.nodes[one].kind != "loss"

    def _put_losses(self) -> None:
        """Place the targets below the left rail, and the losses below the cards."""
        below = self._below()
        edges = [
            e for e in self.graph.edges if self.kind[e.source] == self.kind[e.target] == "loss"
        ]
        target_of = {e.target: e.source for e in edges if self._is_target(e.source)}
        losses = [one for one in below if not self._is_target(one)]
        inner = {e.source for e in edges if not self._is_target(e.source)}
        self.total = next((one for one in reversed(losses) if one not in inner), "")
        terms = [one for one in losses if one != self.total]
        top = y = self.rows_end + 12
        placed: dict[str, None] = {}
        widest = 0.0
        for term in terms or [self.total]:
            target = target_of.get(term, "")
            height = max(self.measures[one].height for one in (term, target) if one)
            for one in filter(None, (term, target)):
                size = self.measures[one]
                x = self.loss_x if one == term else self.left + (self.rail_width - size.width) / 2
                if one not in placed:
                    rect = (x, y + (height - size.height) / 2, size.width, size.height)
                    self.boxes[one] = Rect(*map(_r, rect))
                    placed[one] = None
            widest = max(widest, self.measures[term].width)
            y += height + STRIP_GAP
        for one in (one for one in below if one not in placed and one != self.total):
            size = self.measures[one]
            x = self.left + (self.rail_width - size.width) / 2
            self.boxes[one] = Rect(*map(_r, (x, y, size.width, size.height)))
            y += size.height + STRIP_GAP
        if self.total and self.total not in placed:
            size = self.measures[self.total]
            x = max(self.loss_x + widest + 64, self.card_end - size.width - 12)
            middle = (top + y - STRIP_GAP) / 2
            self.boxes[self.total] = Rect(*map(_r, (x, middle - size.height / 2, *_wh(size))))
        self.loss_top = top
        self.end = y - STRIP_GAP
        self.losses_end = self.boxes[self.total].right if self.total else 0.0

    # --- the whole --------------------------------------------------------------------------------

    def placed(self) -> Placed:
        """Return the finished layout of the ladder."""
        backward = max(self.backward.width, text_width(BACKWARD_HEAD, HEAD_SIZE, True))
        width = max(self.right_x + backward, self.left + self.caption[0]) + MARGIN
        paths = [Path(((0.0, 0.0),) * 4)] * len(self.graph.edges)
        for stroke in self.lines.strokes:
            for number in stroke.edges:
                paths[number] = stroke.path
        self.frames.update(self._frames_on_rails())
        depths = {}
        if self.options.depth_ranks:
            depths = {
                depth: Rect(MARGIN, _r(top), self.left - MARGIN, _r(self.bottoms[depth] - top))
                for depth, top in self.tops.items()
            }
        return Placed(
            _r(width), _r(self.end + MARGIN), self.boxes,
            {one: self.frames[one] for one in self.groups if one in self.frames},
            tuple(paths), Rect(MARGIN, MARGIN, _r(width - 2 * MARGIN), self.caption[1]), {}, depths,
            tuple(self.lines.strokes), (*self._heads(), *self.lines.words),
        )  # fmt: skip

    def _frames_on_rails(self) -> dict[str, Rect]:
        """Return the rectangle of each open frame on a rail, by id.

        A frame is left out if its rectangle would overlap a box that does not belong to the frame.
        """
        members: dict[str, list[str]] = {}
        for node in self.graph.nodes:
            around = node.group if self.kind[node.id] in ("forward", "backward") else ""
            while around:
                members.setdefault(around, []).append(node.id)
                around = self.groups[around].parent
        found = {}
        nesting = {group.id: 0 for group in self.graph.groups}
        for group in reversed(self.graph.groups):
            if group.parent:
                nesting[group.parent] = max(nesting[group.parent], nesting[group.id] + 1)
        for name, names in members.items():
            pad = 5.0 + 3.0 * nesting[name]
            rects = [self.boxes[one] for one in names]
            left, top = min(r.x for r in rects) - pad, min(r.y for r in rects) - pad
            right, bottom = max(r.right for r in rects) + pad, max(r.bottom for r in rects) + pad
            rect = Rect(_r(left), _r(top), _r(right - left), _r(bottom - top))
            own = set(names)
            if not any(rect.overlaps(r) for one, r in self.boxes.items() if one not in own):
                found[name] = rect
        return found

    def _heads(self) -> Iterable[Label]:
        """Yield the labels with the names of the rails and of the columns."""
        y = MARGIN + self.caption[1] + 14
        text = FORWARD_HEAD
        middle = self.left + self.rail_width / 2 - text_width(text, HEAD_SIZE, True) / 2
        yield _word(middle, y, text, HEAD_SIZE, "title")
        if self.backward.shapes:
            text = BACKWARD_HEAD
            middle = self.right_x + self.backward.width / 2
            x = max(self.right_x, middle - text_width(text, HEAD_SIZE, True) / 2)
            yield _word(x, y, text, HEAD_SIZE, "gradient")
        x = self.card_x + CARD_PADDING
        for column, width in self.columns.items():
            is_via = column.startswith("via ")
            text = NEW_HEAD if column == "new" else VIA_HEAD if is_via else column
            note = COLUMN_NOTES.get(column, "")
            if column not in ("via 1", "via 2", "via 3"):
                yield _word(x, y, text, NAME_SIZE, "title")
                if 0 < text_width(note, SMALL_SIZE) <= width + CELL_GAP - 2:
                    yield _word(x, y + 12, note, SMALL_SIZE, "quiet")
            x += width + CELL_GAP


def _word(x: float, y: float, text: str, size: float, look: str) -> Label:
    """Return a label at (x, y); `look` is "title", "quiet", or the role of the arrow it names."""
    own = look if look in ("title", "quiet") else f"word {look}"
    return Label(_r(x), y, text, size, bold=look == "title", look=own)


def _r(length: float) -> float:
    return round(length, 2)


def _wh(size: Measure) -> Point:
    return size.width, size.height


def _place_of(node: GraphNode) -> str:
    """Return where a box is drawn: "cell" (on an open card), "card" (closed), or its rail."""
    if "line" in node.attrs:
        return "cell"
    return "card" if node.kind == "card" else str(node.attrs.get("rail", "forward"))


def _ports(node: GraphNode, arriving: int) -> dict[str, Attribute]:
    """Return the attributes of a box on a rail that set its numbers of inputs and outputs."""
    if arriving:
        return {"output_count": arriving + 1}
    wanted = ("input_count", "output_count")
    return {key: node.attrs[key] for key in wanted if key in node.attrs}


def _rows_of(line: Sequence[GraphNode]) -> int:
    vias = sum(node.attrs["column"] == "via" for node in line)
    return max(1, -(-vias // VIAS_BESIDE))


def _joined(strips: Sequence[Strip]) -> Strip:
    calls = {call: own for strip in strips for call, own in strip.calls.items()}
    return Strip(calls, [one for strip in strips for one in strip.cards], is_flat=True)


def cell_measure(node: GraphNode, options: PictureOptions) -> Measure:
    """Return the size of a box on a card, and the text of this box, which is a single line."""
    title = str(node.attrs.get("short", node.label))
    if options.label is not None:
        title = options.label(node).split("\n")[0]
    quiet = []
    if node.attrs.get("detail") and node.attrs["column"] in ("gradient", "new"):
        title = ""  # the line already shows the name of the weight
    if node.kind == "variable" and options.show_shapes:
        quiet.append(str(node.attrs.get("output_shapes", "")))
    detail = " ".join(str(node.attrs.get("detail", "")).split())
    quiet.append(shortened(detail, LONGEST_FIGURE))
    text = BoxText(style_of(node.kind).sign, title, tuple(filter(None, quiet)))
    width = SIGN_WIDTH + text_width(title, NAME_SIZE, True) + 2 * CELL_PADDING
    width += sum(text_width(line, LINE_SIZE) + 8 for line in text.lines)
    width += MARK_WIDTH if node.kind in ("variable", "slot") else 0.0
    return Measure(text, width, CELL_HEIGHT, is_line=True)


# --- lines ----------------------------------------------------------------------------------------


class _Lines:
    """Computes the lines of a ladder. All arrows from a call to a card are drawn as one line."""

    def __init__(self, ladder: _Ladder) -> None:
        self.ladder = ladder
        self.boxes = ladder.boxes
        self.strokes: list[Stroke] = []
        self.words: list[Label] = []
        self.taken: dict[str, list[list[tuple[float, float]]]] = {"left": [], "right": []}
        self._ports_used: dict[tuple[str, str], int] = {}
        self._touched: dict[tuple[str, str], list[float]] = {}  # heights of rungs

    def draw(self) -> None:
        """Compute all lines of the ladder."""
        self._rail(self.ladder.forward, self.ladder.left
                   + (self.ladder.rail_width - self.ladder.forward.width) / 2, False)  # fmt: skip
        self._rail(self.ladder.backward, self.ladder.right_x, True)
        bundles: dict[tuple[str, ...], list[int]] = {}
        kind = self.ladder.kind
        for number, edge in enumerate(self.ladder.graph.edges):
            one, other = kind[edge.source], kind[edge.target]
            if one == other and one in ("forward", "backward"):
                continue
            if "operand_of" in edge.attrs:
                bundles.setdefault(("pointed", edge.source, edge.target), []).append(number)
                continue
            source = self.ladder.card_at(edge.source) or edge.source
            target = self.ladder.card_at(edge.target) or edge.target
            if source == target and one == "cell":
                bundles.setdefault(self._within(edge), []).append(number)
            else:
                bundles.setdefault(("between", source, target), []).append(number)
        for key in bundles:
            self._note_level_rungs(key)
        for key, numbers in bundles.items():
            self._bundle(key, tuple(numbers))

    def _note_level_rungs(self, key: tuple[str, ...]) -> None:
        """Store the height of a straight line from a rail to a card, for other lines to avoid."""
        cards = [one for one in key[1:] if key[0] == "between" and one in self.ladder.cards]
        for card in cards:
            box = key[2] if key[1] == card else key[1]
            kind = self._kind(box)
            if kind in ("forward", "backward"):
                middle = self.boxes[box].y + self.boxes[box].height / 2
                if _is_level(self._card_rect(card), middle):
                    side = "left" if kind == "forward" else "right"
                    self._touched.setdefault((card, side), []).append(middle)

    def _rail(self, rail: Rail, x: float, is_upward: bool) -> None:
        ladder, level = self.ladder, rail.level
        tops = [ladder.tops[d] for d in level.depths if d is not None]
        bottoms = [ladder.bottoms[d] for d in level.depths if d is not None]
        places = replace(rail.places, tops=tops, bottoms=bottoms)
        reach = {
            item: (self.boxes[name].y, self.boxes[name].bottom)
            if level.kinds[item] == BOX
            else (tops[level.row_of[item]], bottoms[level.row_of[item]])
            for item, name in enumerate(level.names)
        }
        for route in level.routes:
            points = route_points(level, rail.shapes, places, route, reach)
            moved = [(_r(a + x), _r(b)) for a, b in points]
            number = rail.numbers[route.edge]
            edge = ladder.graph.edges[number]
            if is_upward != route.turned:
                moved.reverse()
            look = "gradient" if is_upward else ""
            width = self._width(edge) if is_upward else None
            self.strokes.append(Stroke((number,), Path(tuple(moved)), look, width=width))
            if edge.label and is_upward:
                end = moved[-1]
                width = text_width(edge.label, SMALL_SIZE)
                is_from_right = any(at > end[0] + 1 for at, _ in (moved[0], moved[-4]))
                left = end[0] - width - 4 if is_from_right else end[0] + 4
                y = end[1] + 14 + 10 * self._port(edge.target, f"via {is_from_right}")
                self.words.append(_word(left, _r(y), edge.label, SMALL_SIZE, look))

    # --- on a card --------------------------------------------------------------------------------

    def _within(self, edge: GraphEdge) -> tuple[str, ...]:
        """Return the key of an arrow inside a card. Arrows with equal keys have one common line."""
        nodes = self.ladder.nodes
        source, target = nodes[edge.source], nodes[edge.target]
        is_update = edge.attrs.get("role") == "update"
        update = source if is_update else target
        if is_update or (source.kind == "slot" and _same_slot(source, target)):
            return "mark", update.id if update.attrs["column"] != "new" else edge.target
        return "wire", edge.source, edge.target

    def _bundle(self, key: tuple[str, ...], numbers: tuple[int, ...]) -> None:
        if key[0] == "mark":
            rect = self.boxes[key[1]]
            point = _r(rect.right - MARK_WIDTH + 1), _r(rect.y + rect.height / 2 + 4.5)
            if rect.width <= MARK_WIDTH:
                point = _r(rect.x + 1), point[1]
            self.strokes.append(Stroke(numbers, Path((point,) * 4), "update", is_mark=True))
        elif key[0] == "wire":
            self._wire(key[1], key[2], numbers)
        elif key[0] == "pointed":
            self._pointed(key[1], key[2], numbers)
        else:
            self._between(key[1], key[2], numbers)

    def _cell(self, name: str) -> Rect:
        """Return the rectangle of a box on a card; for an update, that of the updated cell."""
        node = self.ladder.nodes[name]
        rect = self.boxes[name]
        if node.kind == "update" and node.attrs["column"] != "new":
            width = self.ladder.columns[str(node.attrs["column"])]
            left = rect.x + MARK_WIDTH + 4 - width
            return Rect(left, rect.y - 5, width, CELL_HEIGHT)
        return rect

    def _wire(self, source: str, target: str, numbers: tuple[int, ...]) -> None:
        """Add a line between two boxes of a card.

        A line from a gradient runs below the boxes, every other line above them.
        """
        one, other = self._cell(source), self._cell(target)
        nodes = self.ladder.nodes
        is_gradient = nodes[source].kind in ("gradient", "sum")
        share = 0.4 if is_gradient else 0.5
        start, end = one.x + one.width * share, other.x + other.width * (1 - share)
        same_line = nodes[source].attrs["line"] == nodes[target].attrs["line"]
        if is_gradient:
            y, to = one.bottom + WIRE - 1, other.bottom + WIRE - 1
            points = [(start, one.bottom), (start, y), (end, y), (end, other.bottom)]
            if abs(y - to) > 1:
                side = end - other.width / 2
                points = [*points[:2], (side, y), (side, to), (end, to), (end, other.bottom)]
        else:
            y, to = one.y - WIRE + 1, other.y - WIRE + 1
            points = [(start, one.y), (start, y), (end, y), (end, other.y)]
            if not same_line:
                side = self.ladder.card_x + 4
                points = [*points[:2], (side, y), (side, to), (end, to), (end, other.y)]
        look = "gradient" if is_gradient else ""
        self.strokes.append(Stroke(numbers, _polyline(points), look))

    # --- between cards, rails and losses ----------------------------------------------------------

    def _lane(self, side: str, y: float, to: float) -> float:
        """Return the x of the nearest free lane next to a rail, for a line between two heights."""
        low, high = sorted((y, to))
        taken = self.taken[side]
        lane = 0
        while lane < len(taken) and any(a < high + 4 and low - 4 < b for a, b in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        ladder = self.ladder
        if side == "left":
            return ladder.left + ladder.rail_width + 14 + LANE * lane
        return ladder.right_x - 14 - LANE * lane

    def _port(self, name: str, side: str) -> int:
        """Count a line at a side of a box, and return how many lines this side had before."""
        number = self._ports_used[name, side] = self._ports_used.get((name, side), -1) + 1
        return number

    def _card_rect(self, card: str) -> Rect:
        return self.ladder.frames.get(card) or self.boxes[card]

    def _between(self, source: str, target: str, numbers: tuple[int, ...]) -> None:
        """Add one line for all arrows between two ends: calls, gradients, cards or losses."""
        kinds = self._kind(source), self._kind(target)
        is_gradient = "backward" in kinds or self._is_gradient(numbers[0])
        look = "gradient" if is_gradient else ""
        if kinds == ("loss", "loss"):
            points = self._among_losses(source, target)
        elif kinds[1] == "loss":
            points = self._to_loss(source, target)
        elif kinds[0] == "loss":
            points = self._from_loss(source, target)
        elif kinds == ("card", "card"):
            points = self._among_cards(source, target)
        elif kinds[0] == "card":
            points = self._rung(source, target)
        else:
            points = self._rung(target, source)[::-1]
        arrives = kinds[1] == "backward"
        width = self._width(self.ladder.graph.edges[numbers[0]]) if arrives else None
        self.strokes.append(Stroke(numbers, _polyline(points), look, width=width))
        self._label(numbers, points, kinds)

    def _width(self, edge: GraphEdge) -> float | None:
        """Return the width of the arrow to a gradient, which grows with the gradient's norm.

        The width is None if the norm is unknown or not finite.
        """
        norm = self.ladder.nodes[edge.target].attrs.get("gradient_norm")
        if norm is None or not isfinite(float(norm)):
            return None
        share = float(norm) / self.ladder.greatest if self.ladder.greatest else 0.0
        return THINNEST + (WIDEST - THINNEST) * share if norm else 0.0

    def _kind(self, name: str) -> str:
        return "card" if name in self.ladder.cards else self.ladder.kind[name]

    def _is_gradient(self, number: int) -> bool:
        return self.ladder.graph.edges[number].attrs.get("role") == "gradient"

    def _rung(self, card: str, box: str) -> list[Point]:
        """Return the points of a line from a card to a box on a rail."""
        side = "right" if self._kind(box) == "backward" else "left"
        rect, own = self._card_rect(card), self.boxes[box]
        used = self._port(box, "card")
        middle = _along_side(own, 9 * used)
        x = rect.x if side == "left" else rect.right
        end = own.right if side == "left" else own.x
        if _is_level(rect, middle):
            return [(x, middle), (end, middle)]
        taken = self._touched.setdefault((card, side), [])
        choices = (rect.y + 11 + 9 * step for step in range(int(rect.height // 9)))
        free = (y for y in choices if all(abs(y - other) >= 8 for other in taken))
        y = min(next(free, rect.bottom - 5), rect.bottom - 5)
        taken.append(y)
        lane = self._lane(side, y, middle)
        return [(x, y), (lane, y), (lane, middle), (end, middle)]

    def _among_losses(self, source: str, target: str) -> list[Point]:
        one, other = self.boxes[source], self.boxes[target]
        y, to = one.y + one.height / 2, other.y + other.height / 2
        if abs(y - to) < other.height / 2 - 4:
            return [(one.right, y), (other.x, y)]
        middle = other.x - 16 if target == self.ladder.total else one.right + 12
        return [(one.right, y), (middle, y), (middle, to), (other.x, to)]

    def _to_loss(self, source: str, target: str) -> list[Point]:
        """Return the points of a line to the side of a loss term or the top of the total loss."""
        other = self.boxes[target]
        if self._kind(source) == "card":
            rect = self._card_rect(source)
            start = rect.x, rect.bottom - 7
        elif self._kind(source) == "forward":
            rect = self.boxes[source]
            start = rect.right, rect.bottom - 7
        else:
            rect = self.boxes[source]
            lane = self._lane("right", rect.bottom - 7, self.ladder.loss_top - 8)
            y = self.ladder.loss_top - 8
            middle = other.x + other.width / 2
            return [(rect.x, rect.bottom - 7), (lane, rect.bottom - 7), (lane, y), (middle, y),
                    (middle, other.y)]  # fmt: skip
        if target == self.ladder.total and other.x > self.ladder.loss_x + 1:
            y, middle = self.ladder.loss_top - 8, other.x + other.width / 2
            lane = self._lane("left", start[1], y)
            return [start, (lane, start[1]), (lane, y), (middle, y), (middle, other.y)]
        y = other.y + 10 + 9 * min(self._port(target, "in"), 2)
        lane = self._lane("left", start[1], y)
        return [start, (lane, start[1]), (lane, y), (other.x, y)]

    def _from_loss(self, source: str, target: str) -> list[Point]:
        """Return the points of a line from a loss to a gradient, a call, or a card of gradients."""
        one = self.boxes[source]
        y = _along_side(one, 7 * self._port(source, "out"))
        if self._kind(target) == "backward":
            other = self.boxes[target]
            rest = [r for name, r in self.boxes.items() if self.ladder.kind[name] == "backward"]
            middle = other.x + other.width / 2
            if not any(r.y > other.bottom and r.x < middle < r.right for r in rest):
                return [(one.right, y), (middle, y), (middle, other.bottom)]
            end = other.x, other.bottom - 7
        elif self._kind(target) == "forward":
            other = self.boxes[target]
            lane = self._lane("left", other.bottom - 7, y)
            return [
                (one.x, y),
                (lane, y),
                (lane, other.bottom - 7),
                (other.right, other.bottom - 7),
            ]
        else:
            rect = self._card_rect(target)
            end = rect.right, rect.bottom - 7
        lane = self._lane("right", end[1], y)
        return [(one.right, y), (lane, y), (lane, end[1]), end]

    def _among_cards(self, source: str, target: str) -> list[Point]:
        one, other = self._card_rect(source), self._card_rect(target)
        y, to = one.bottom - 5, other.y + 5
        lane = self._lane("left", y, to)
        return [(one.x, y), (lane, y), (lane, to), (other.x, to)]

    def _label(self, numbers: tuple[int, ...], points: list[Point], kinds: tuple[str, str]) -> None:
        edge = self.ladder.graph.edges[numbers[0]]
        (x, y), (to, _) = points[:2] if kinds[1] != "card" else points[-2:]
        text, look = edge.label, ""
        if kinds == ("card", "forward"):
            text = READS if self._port(self.ladder.card_at(edge.source), "reads") == 0 else ""
        elif kinds == ("backward", "card"):
            text, look = _which(self.ladder.nodes[edge.source]), "gradient"
        elif kinds == ("forward", "card"):
            text = BY_THE_BATCH
        elif kinds[0] == "loss" and kinds[1] == "backward":
            is_first = self._port(edge.source, "of itself") == 0
            text, look = text or (OF_ITSELF if is_first else ""), "gradient"
        width = text_width(text, SMALL_SIZE)
        if text and width <= abs(to - x) - 6:
            at = x + 6 if kinds[0] == "loss" else (x + to - width) / 2
            if kinds == ("card", "forward"):  # near the card, where no other line crosses
                at = max(at, x - 8 - width)
            elif kinds == ("backward", "card"):
                at = min(at, to + 8)
            elif kinds == ("forward", "card"):
                at = max(at, to - 8 - width)
            y += 9 if kinds == ("forward", "card") else -4
            self.words.append(_word(at, _r(y), text, SMALL_SIZE, look or "quiet"))

    def _pointed(self, source: str, target: str, numbers: tuple[int, ...]) -> None:
        """Add a line from a call's input to a weight gradient.

        It is visible only while the pointer is on the box of the gradient, or on the closed card.
        """
        one, other = self.boxes[source], self.boxes[target]
        y, x = other.y - WIRE + 1, other.x + other.width * 0.3
        lane = self.ladder.left + self.ladder.rail_width + 8
        start = one.y + one.height / 2
        points = [(one.right, start), (lane, start), (lane, y), (x, y), (x, other.y)]
        if self._kind(target) == "card":
            points = [*points[:2], (lane, other.y + 9), (other.x, other.y + 9)]
        self.strokes.append(Stroke(numbers, _polyline(points), "gradient", when_pointed=True))


def _along_side(rect: Rect, below: float) -> float:
    """Return the y of a point at the side of a box, the given distance below the box's middle.

    If the box ends before this distance, the rest of the distance is
    measured from the box's upper end.
    """
    return rect.y + 6 + (rect.height / 2 - 6 + below) % (rect.height - 12)


def _is_level(card: Rect, y: float) -> bool:
    """Return whether a horizontal line at height y from a rail meets the side of a card."""
    return card.y + 4 <= y <= card.bottom - 4


def _same_slot(one: GraphNode, other: GraphNode) -> bool:
    keys = ("line", "column")
    return other.kind == "update" and all(one.attrs[key] == other.attrs[key] for key in keys)


def _which(gradient: GraphNode) -> str:
    """Return the text next to a line from a gradient: the number of the layer's call, as "@1".

    If the layer is called only once, it is the symbol that the boxes of gradients have.
    """
    name = str(gradient.attrs.get("beside", ""))
    return f"@{name.rpartition('@')[2]}" if "@" in name else style_of("gradient").sign


def _polyline(points: Iterable[Point]) -> Path:
    """Return the path of straight lines through points."""
    listed = [(_r(x), _r(y)) for x, y in points]
    found = [listed[0]]
    for (x, y), (to_x, to_y) in pairwise(listed):
        if (x, y) == (to_x, to_y):
            continue
        found += [
            (_r(x + (to_x - x) / 3), _r(y + (to_y - y) / 3)),
            (_r(x + 2 * (to_x - x) / 3), _r(y + 2 * (to_y - y) / 3)),
            (to_x, to_y),
        ]
    return Path(tuple(found))
