"""`in_columns(placed, ...)`: break a long picture between rows and set it in columns.

Cuts never hit a box or frame, and the columns are about equally high. An arrow across a cut runs
below its column, up between the two columns, and into the next one from above, in its own lane.
Lanes are nested, so that they cross no more often than the arrows did before. A picture from left
to right is cut into bands, one below the other.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from kerascope.viz.graph import Graph
from kerascope.viz.layout.arrange import MARGIN, Path, Placed, Point, Rect, place_edge_labels
from kerascope.viz.layout.measures import caption_size

LANE = 9.0  # distance between lanes
PADDING = 12.0  # between lanes and columns
CORNER = 6.0  # the radius of a lane's corners
SHORTEST = 0.02  # positions are rounded to hundredths
STRAIGHT = 0.1  # smaller differences are rounding errors at joints of an arrow, not bends
MOST_COLUMNS = 40
PAGE = 4 / 3  # width by height that `wrap=True` approaches


def in_columns(placed: Placed, graph: Graph, wrap: int | bool, is_sideways: bool) -> Placed:
    """Return the layout of a picture that is broken into columns.

    Parameters
    ----------
    placed : Placed
        A layout in rows, not a ladder.
    graph : Graph
    wrap : int or bool
        Number of columns, if there are enough rows; True for the number that comes closest to a
        page.
    is_sideways : bool
        Whether the picture runs from left to right; then it is broken into bands.

    Returns
    -------
    Placed
    """
    if wrap is not True:
        return _set(placed, graph, int(wrap), is_sideways)
    best = placed
    for number in range(2, MOST_COLUMNS + 1):
        found = _set(placed, graph, number, is_sideways)
        if _distance_to_page(found) >= _distance_to_page(best):
            break
        best = found
    return best


def _distance_to_page(placed: Placed) -> float:
    return abs(math.log(placed.width / placed.height / PAGE))


def _set(placed: Placed, graph: Graph, number: int, is_sideways: bool) -> Placed:
    picture = _turned(placed) if is_sideways else placed
    cuts = _cuts(_spans([*picture.boxes.values(), *picture.frames.values()]), number)
    if not cuts:
        return placed
    found = _Columns(picture, cuts).placed()
    if is_sideways:
        found = _turned(found)
    labels = place_edge_labels(graph, found.boxes, found.paths)
    left = placed.caption.x
    ends = [found.width - MARGIN, left + caption_size(graph)[0]]
    right = max([*ends, *(rect.right for rect in labels.values())])
    caption = replace(placed.caption, width=round(right - left, 2))
    return replace(found, width=round(right + MARGIN, 2), edge_labels=labels, caption=caption)


def _turned(placed: Placed) -> Placed:
    """Return a picture with x and y exchanged, except in captions and labels."""

    def rects(of: Mapping[Any, Rect]) -> dict[Any, Rect]:
        return {key: Rect(r.y, r.x, r.height, r.width) for key, r in of.items()}

    return replace(
        placed,
        width=placed.height,
        height=placed.width,
        boxes=rects(placed.boxes),
        frames=rects(placed.frames),
        depths=rects(placed.depths),
        paths=tuple(Path(tuple((y, x) for x, y in path.points)) for path in placed.paths),
    )


# --- positions of the cuts ------------------------------------------------------------------------


def _spans(rects: Iterable[Rect]) -> list[Point]:
    """Return the vertical intervals that boxes or frames occupy, from top to bottom.

    Examples
    --------
    >>> _spans([Rect(0, 0, 9, 5), Rect(9, 3, 9, 5), Rect(0, 10, 9, 5)])
    [(0, 8), (10, 15)]
    """
    spans: list[Point] = []
    for top, bottom in sorted((rect.y, rect.bottom) for rect in rects):
        if spans and top < spans[-1][1]:
            spans[-1] = spans[-1][0], max(bottom, spans[-1][1])
        else:
            spans.append((top, bottom))
    return spans


def _cuts(spans: list[Point], number: int) -> list[float]:
    """Return the y coordinates of the cuts that make at most `number` columns of similar height.

    The highest column is as low as possible.

    Examples
    --------
    >>> _cuts([(0, 8), (10, 18), (20, 28), (30, 38)], 2)
    [19.0]
    """
    low = max((bottom - top for top, bottom in spans), default=0.0)
    high = spans[-1][1] - spans[0][0] if spans else 0.0
    while high - low > 0.5:
        middle = (low + high) / 2
        if len(_starts(spans, middle)) <= number:
            high = middle
        else:
            low = middle
    starts = _starts(spans, high)
    return [(spans[start - 1][1] + spans[start][0]) / 2 for start in starts[1:]]


def _starts(spans: list[Point], height: float) -> list[int]:
    """Return the index of the first (top, bottom) of each column, if columns have this height."""
    starts: list[int] = []
    for number, (_, bottom) in enumerate(spans):
        if not starts or bottom - spans[starts[-1]][0] > height:
            starts.append(number)
    return starts


# --- the columns ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """The part of an arrow in one column of a picture that is broken into columns."""

    column: int
    points: list[Point]


@dataclass(slots=True)
class _Crossing:
    """A point where a cut crosses an arrow: its x, the arrow, and the part before it, by index."""

    edge: int
    part: int
    across: float


@dataclass(slots=True)
class _Column:
    """A column of a broken picture: its vertical interval before the break, and its shift."""

    top: float
    bottom: float
    left: float = math.inf
    right: float = -math.inf
    move: Point = (0.0, 0.0)
    crossings: list[_Crossing] = field(default_factory=list)  # to the next column, right ones first

    def moved(self, point: Point) -> Point:
        return point[0] + self.move[0], point[1] + self.move[1]


class _Columns:
    """Computes the layout in columns of a picture that runs from top to bottom."""

    def __init__(self, placed: Placed, cuts: list[float]) -> None:
        self.old = placed
        self.cuts = cuts
        rects = [*placed.boxes.values(), *placed.frames.values()]
        first, last = min(rect.y for rect in rects), max(rect.bottom for rect in rects)
        self.columns = [_Column(*ends) for ends in pairwise([first, *cuts, last])]
        self.parts = [_parts(path.points, cuts) for path in placed.paths]
        for rect in rects:
            self._reach(self._column_of(rect), (rect.x, rect.right))
        for edge, parts in enumerate(self.parts):
            for number, part in enumerate(parts):
                column = self.columns[part.column]
                self._reach(column, [across for across, _ in part.points])
                along = [along for _, along in part.points]
                if part.column == 0:
                    column.top = min(column.top, *along)
                if part.column == len(cuts):
                    column.bottom = max(column.bottom, *along)
                if number + 1 < len(parts):
                    self._note_crossing(edge, number)
        for column in self.columns:
            column.crossings.sort(key=lambda one: -one.across)
        self._move_all()

    def _column_of(self, rect: Rect) -> _Column:
        return self.columns[bisect_right(self.cuts, rect.y + rect.height / 2)]

    def _reach(self, column: _Column, across: Iterable[float]) -> None:
        lengths = list(across)
        column.left = min(column.left, *lengths)
        column.right = max(column.right, *lengths)

    def _note_crossing(self, edge: int, number: int) -> None:
        one, other = self.parts[edge][number : number + 2]
        upper = one.points[-1] if one.column < other.column else other.points[0]
        column = self.columns[min(one.column, other.column)]
        column.crossings.append(_Crossing(edge, number, upper[0]))

    def _move_all(self) -> None:
        """Compute the position of each column; all begin at the same height."""
        most = max(len(column.crossings) for column in self.columns)
        strip = max((rect.width for rect in self.old.depths.values()), default=0.0)
        top = self.columns[0].top + (PADDING + LANE * most if most else 0.0)
        across = self.columns[0].left
        for column in self.columns:
            column.move = round(across - column.left, 2), round(top - column.top, 2)
            lanes = len(column.crossings)
            across += column.right - column.left + 2 * PADDING + LANE * max(lanes - 1, 0) + strip
        self.right = across - 2 * PADDING - strip
        lowest = (c.moved((0, c.bottom))[1] + _depth(len(c.crossings)) for c in self.columns)
        self.bottom = max(lowest)

    def placed(self) -> Placed:
        """Return the layout in columns."""
        depths = {}
        for depth, rect in self.old.depths.items():
            column = self._column_of(rect)
            left, top = column.moved((column.left - rect.width, rect.y))
            depths[depth] = Rect(round(left, 2), round(top, 2), rect.width, rect.height)
        return replace(
            self.old,
            width=round(self.right + MARGIN, 2),
            height=round(self.bottom + MARGIN, 2),
            boxes={name: self._moved(rect) for name, rect in self.old.boxes.items()},
            frames={name: self._moved(rect) for name, rect in self.old.frames.items()},
            paths=self._paths(),
            depths=depths,
        )

    def _moved(self, rect: Rect) -> Rect:
        x, y = self._column_of(rect).moved((rect.x, rect.y))
        return Rect(round(x, 2), round(y, 2), rect.width, rect.height)

    def _paths(self) -> tuple[Path, ...]:
        lanes: dict[tuple[int, int], list[Point]] = {}
        for number, column in enumerate(self.columns):
            for place, one in enumerate(column.crossings):
                lanes[one.edge, one.part] = self._lane(number, place, one)
        found = []
        for edge, parts in enumerate(self.parts):
            points: list[Point] = []
            for number, part in enumerate(parts):
                moved = [self.columns[part.column].moved(point) for point in part.points]
                points += moved[1:] if points else moved
                points += lanes.get((edge, number), [])
            found.append(Path(tuple((round(x, 2), round(y, 2)) for x, y in points)))
        return tuple(found)

    def _lane(self, number: int, place: int, crossing: _Crossing) -> list[Point]:
        """Return the curve that joins two parts of an arrow in neighbouring columns."""
        upper, lower = self.columns[number], self.columns[number + 1]
        one, other = self.parts[crossing.edge][crossing.part : crossing.part + 2]
        is_upward = one.column > other.column
        first, last = (other, one) if is_upward else (one, other)
        start = upper.moved(first.points[0 if is_upward else -1])
        end = lower.moved(last.points[-1 if is_upward else 0])
        below = upper.moved((0, upper.bottom))[1] + PADDING + LANE * place
        above = lower.moved((0, lower.top))[1] - PADDING - LANE * (len(upper.crossings) - 1 - place)
        between = upper.moved((upper.right, 0))[0] + PADDING + LANE * place
        turns = [start, (start[0], below), (between, below), (between, above), (end[0], above), end]
        points = _rounded(turns)
        return points[::-1][1:] if is_upward else points[1:]


def _depth(lanes: int) -> float:
    """Return the space that a number of lanes needs below a column."""
    return PADDING + LANE * (lanes - 1) if lanes else 0.0


# --- arrows ---------------------------------------------------------------------------------------


def _parts(points: tuple[Point, ...], cuts: list[float]) -> list[_Part]:
    """Return the parts of an arrow, one for each column that the arrow passes.

    A cut is a height at which the picture is broken into columns. A vertical curve is divided where
    it crosses a cut. Any other curve that crosses a cut is between two rows, and is dropped.
    """
    parts = [_Part(bisect_right(cuts, points[0][1]), [points[0]])]
    for at in range(0, len(points) - 1, 3):
        curve = points[at : at + 4]
        column = bisect_right(cuts, curve[-1][1])
        reach = [across for across, _ in curve]
        is_straight = max(reach) - min(reach) < STRAIGHT
        while parts[-1].column != column:
            step = 1 if column > parts[-1].column else -1
            cut = cuts[min(parts[-1].column, parts[-1].column + step)]
            start = curve[0][0], cut
            if is_straight:
                parts[-1].points += _straight(parts[-1].points[-1], start)
            parts.append(_Part(parts[-1].column + step, [start if is_straight else curve[-1]]))
        if is_straight:
            parts[-1].points += _straight(parts[-1].points[-1], curve[-1])
        elif parts[-1].points[-1] != curve[-1]:
            parts[-1].points += curve[1:]
    return parts


def _straight(start: Point, end: Point) -> list[Point]:
    """Return a straight line as a curve without its first point; [] if the line is very short."""
    if math.dist(start, end) < SHORTEST:
        return []
    (x0, y0), (x1, y1) = start, end
    return [(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t) for t in (1 / 3, 2 / 3, 1.0)]


def _rounded(turns: list[Point]) -> list[Point]:
    """Return a line through points as curves with rounded corners."""
    points = [turns[0]]
    for before, corner, after in zip(turns, turns[1:], turns[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        come, go = _towards(corner, before, radius), _towards(corner, after, radius)
        points += [*_straight(points[-1], come), corner, corner, go]
    return points + _straight(points[-1], turns[-1])


def _towards(start: Point, end: Point, far: float) -> Point:
    """Return the point at the given distance from one point towards another point."""
    share = far / (math.dist(start, end) or 1.0)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
