"""Draw a segment with branches: its boxes are in ranks, which are rows or columns.

Each box is in a rank after those of the boxes that feed it. The layout of graphs (`viz/layout/`)
orders the boxes of each rank for few crossings and places them near their neighbours. An arrow that
passes a rank has its own place in this rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kerascope.viz.figure.marks import Page, arrow
from kerascope.viz.figure.pieces import GAP, Piece, layer_box, on_page
from kerascope.viz.figure.reading import Reading
from kerascope.viz.figure.segments import Segment, Unit
from kerascope.viz.layout.levels import BEND, BOX, Level, Route
from kerascope.viz.layout.order import order_rows
from kerascope.viz.layout.places import GAPS, place_level
from kerascope.viz.layout.places import Shape as ItemSize
from kerascope.viz.sheet import Point, Shape

BETWEEN = 6.0  # points between two boxes of a rank
SCALE = 2 * GAPS[BOX] / BETWEEN  # units of the layout in a point
STEP = GAP + 2  # between ranks


def ranks_of(reading: Reading, unit: Unit, segment: Segment, page: Page, down: bool) -> Piece:
    """Return the piece that draws a segment with branches, a part of a model.

    Its boxes are in ranks: rows, or columns if the figure runs to the right. Each box is in a rank
    after those of the boxes that feed it. All arrows between the boxes are drawn.
    """
    inside = {part.node.id: part for part in segment.parts}
    rank = _rank_of(reading, inside)
    boxes = [layer_box(unit, part, page, plain=len(inside) > 6) for part in inside.values()]
    fed = [one for one in inside if any(s not in inside for s in reading.sources[one])]
    if fed == [one for one in inside if rank[one] == 0] and len(fed) == 1:
        fed = []  # the arrow that arrives leads to it
    level = Level("", rows=[[] for _ in range(max(rank.values()) + 1 + bool(fed))])
    level.depths = [*range(len(level.rows))]
    items = {one: level.add_to_row(BOX, rank[one] + bool(fed)) for one in inside}
    if fed:
        door = level.add_to_row(BEND, 0)  # where the arrow that arrives branches
        for one in fed:
            _connect(level, door, items[one])
    for one in inside:
        for source in reading.sources[one]:
            if source in inside:
                _connect(level, items[source], items[one])
    return _piece(level, boxes, down, bool(fed))


def _rank_of(reading: Reading, inside: Iterable[str]) -> dict[str, int]:
    """Return the rank (row) of each part: the length of the longest path to it."""
    parts = [*inside]
    rank = reading.depths(parts)
    for one in reversed(parts):  # a part without sources moves to the rank before its first target
        later = [rank[target] for target in reading.targets[one] if target in rank]
        if later and not reading.sources[one]:
            rank[one] = min(later) - 1
    return rank


def _connect(level: Level, source: int, target: int) -> None:
    passed = range(level.row_of[source] + 1, level.row_of[target])
    stops = [source, *(level.add_to_row(BEND, row) for row in passed), target]
    level.routes.append(Route(len(level.routes), stops))


def _piece(level: Level, boxes: list[Piece], down: bool, leads: bool) -> Piece:
    """Return the piece of a segment whose boxes and arrows are the items and routes of `level`."""
    order_rows(level)
    sizes = [on_page(down, box.width, box.height) for box in boxes]
    sizes += [(0.0, 0.0)] * (len(level.kinds) - len(boxes))
    shapes = [ItemSize(across * SCALE, along * SCALE, {}) for across, along in sizes]
    middle = [place / SCALE for place in place_level(level, shapes).middle]
    width = _center(middle, level, sizes)
    spans, top = [], 0.0
    for row in level.rows:
        spans.append((top, top + max(sizes[item][1] for item in row)))
        top = spans[-1][1] + STEP
    marks: list[Shape] = [
        arrow(*(on_page(down, *point) for point in _path(route, level, middle, sizes, spans)))
        for route in level.routes
    ]
    for item, (box, (across, along)) in enumerate(zip(boxes, sizes, strict=False)):
        begin, end = spans[level.row_of[item]]
        marks += box.at(*on_page(down, middle[item] - across / 2, (begin + end - along) / 2))
    exit, length = None, spans[-1][1]
    if down and len(level.rows[-1]) == 1:
        exit = (width + sizes[level.rows[-1][0]][0]) / 2, sum(spans[-1]) / 2
    return Piece(*on_page(down, width, length), marks, exit=exit, leads=leads)


def _center(middle: list[float], level: Level, sizes: list[Point]) -> float:
    """Move all boxes so that the leftmost begins at 0, and return their total width.

    A single box in the first or the last row is centred, because arrows from outside meet the
    segment there.
    """
    alone = [row[0] for row in (level.rows[0], level.rows[-1]) if len(row) == 1]
    others = [item for item in range(len(middle)) if item not in alone]
    low = min((middle[item] - sizes[item][0] / 2 for item in others), default=0.0)
    high = max((middle[item] + sizes[item][0] / 2 for item in others), default=0.0)
    width = max([high - low, *(sizes[item][0] for item in alone)])
    for item in range(len(middle)):
        middle[item] += (width - low - high) / 2
    for item in alone:
        middle[item] = width / 2
    return width


def _path(
    route: Route,
    level: Level,
    middle: list[float],
    sizes: list[Point],
    spans: list[tuple[float, float]],
) -> Iterator[Point]:
    """Yield the points of an arrow, which turns only between ranks, so that it crosses no box."""
    first, last = route.stops[0], route.stops[-1]
    for item in route.stops:
        x, (begin, end) = middle[item], spans[level.row_of[item]]
        margin = round((end - begin - sizes[item][1]) / 2, 3)
        if level.kinds[item] == BEND:
            yield from dict.fromkeys(((x, begin), (x, end)))
        elif item == first:
            yield from dict.fromkeys(((x, end - margin), (x, end)))
        elif item == last:
            yield from ((x, begin), (x, begin + margin - 0.6))[0 if margin else 1 :]
