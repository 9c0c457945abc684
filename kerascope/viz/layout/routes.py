"""The way of each arrow through a level, as points of a smooth line.

A point is (across, along). A line goes straight down beside the boxes of a row and swings across
only in the gaps between rows, where nothing else lies.
"""

from __future__ import annotations

from itertools import pairwise

from kerascope.viz.layout.levels import ENTRY, EXIT, Level, Route
from kerascope.viz.layout.places import Places, Shape, end_of

Point = tuple[float, float]
SWING = 0.5  # where between two rows the curve bends
TURN = 24.0  # how far an arrow that goes back swings out, less than a gap


def route_points(
    level: Level, shapes: list[Shape], places: Places, route: Route, reach: dict[int, Point]
) -> list[Point]:
    """Return the points of a route: the first, then three for each curve.

    Parameters
    ----------
    reach : dict of int to (float, float)
        Where each box or frame begins and ends along; boxes may be lower than their row.
    """
    first, last = route.stops[0], route.stops[-1]
    start = places.middle[first] + end_of(level, shapes, first, route.edge, route.tail, EXIT)
    end = places.middle[last] + end_of(level, shapes, last, route.edge, route.head, ENTRY)
    if route.beside:
        return _straight_beside(shapes, places, first, last, reach)
    line = _Line((start, reach[first][1]))
    line.straight_to(places.bottoms[level.row_of[first]])
    if route.lane < 0:
        for upper, lower in pairwise(route.stops):
            across = end if lower == last else places.middle[lower]
            row = level.row_of[lower]
            line.swing_to(across, places.bottoms[level.row_of[upper]], places.tops[row])
            if lower != last:
                line.straight_to(places.bottoms[row])
    else:
        _along_the_lane(line, level, places, route, end)
    line.straight_to(reach[last][0])
    return line.points


def _straight_beside(
    shapes: list[Shape], places: Places, first: int, last: int, reach: dict[int, Point]
) -> list[Point]:
    """Return the straight line from the side of a box to the side of the one beside it."""
    sign = 1.0 if places.middle[first] < places.middle[last] else -1.0
    top = max(reach[first][0], reach[last][0])
    bottom = min(reach[first][1], reach[last][1])
    along = (top + bottom) / 2
    start = places.middle[first] + sign * shapes[first].across / 2
    end = places.middle[last] - sign * shapes[last].across / 2
    third = (end - start) / 3
    return [(start, along), (start + third, along), (end - third, along), (end, along)]


def _along_the_lane(line: _Line, level: Level, places: Places, route: Route, end: float) -> None:
    """Go out into the lane, along it, and back to where the arrow ends."""
    lane = places.lanes[route.lane]
    row, last_row = level.row_of[route.stops[0]], level.row_of[route.stops[-1]]
    bottom, top = places.bottoms[row], places.tops[last_row]
    if last_row > row + 1:
        line.swing_to(lane, bottom, places.tops[row + 1])
        line.straight_to(places.bottoms[last_row - 1])
        line.swing_to(end, places.bottoms[last_row - 1], top)
        return
    line.turn_to(lane, bottom, bottom + TURN)
    line.straight_to(top)
    line.turn_to(end, top, top - TURN)


class _Line:
    """A line that grows at its end."""

    def __init__(self, start: Point) -> None:
        self.points = [start]

    def straight_to(self, along: float) -> None:
        across, before = self.points[-1]
        if abs(along - before) < 0.01:
            return
        if len(self.points) >= 4 and self._is_straight():
            before = self.points[-4][1]
            del self.points[-3:]
        third = (along - before) / 3
        self.points += [(across, before + third), (across, along - third), (across, along)]

    def _is_straight(self) -> bool:
        return len({across for across, _ in self.points[-4:]}) == 1

    def swing_to(self, across: float, top: float, bottom: float) -> None:
        before, _ = self.points[-1]
        if abs(across - before) < 0.05:
            self.straight_to(bottom)
            return
        bend = (bottom - top) * SWING
        self.points += [(before, top + bend), (across, bottom - bend), (across, bottom)]

    def turn_to(self, across: float, along: float, out: float) -> None:
        before, _ = self.points[-1]
        self.points += [(before, out), (across, out), (across, along)]
