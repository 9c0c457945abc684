"""The order of the items in each row, with few crossings. The result is deterministic.

Every row is sorted by the barycentres of its items' neighbours in the row above, from top to
bottom, and then in the row below, from bottom to top. This is repeated a few times, and the order
with the fewest crossings is kept. For boxes with several inputs, the positions of the inputs along
the side count too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from kerascope.viz.graph import Graph
from kerascope.viz.layout.levels import BOX, ENTRY, EXIT, FRAME, TITLE, Level, levels_of

ROUNDS = 6
MANY_ITEMS = 3000  # above this, crossings are not counted and there are only two rounds
PORT_SHARE = 0.8


@dataclass(slots=True, eq=False)
class RoutePiece:
    """The piece of a route (a part of an arrow) between two consecutive rows.

    Attributes
    ----------
    edge : int
        The arrow's index in the graph's `edges`.
    upper, lower : int
        The items that the piece connects.
    leaves, arrives : float
        Where the piece leaves the upper item and where it arrives at the lower item, from -0.5 to
        0.5 of the item's width.
    """

    edge: int
    upper: int
    lower: int
    leaves: float
    arrives: float


def ordered_levels(graph: Graph) -> dict[str, Level]:
    """Return the frame levels of a graph after ordering their rows, inner frames first.

    The order around a frame depends on the doors of the frame, where arrows cross its border.
    """
    levels = levels_of(graph)
    doors: dict[tuple[str, str, int], float] = {}
    for group, level in levels.items():
        for route in level.routes:
            first, last = route.stops[0], route.stops[-1]
            if level.kinds[first] == FRAME:
                route.tail = doors[level.names[first], EXIT, route.edge]
            if level.kinds[last] == FRAME:
                route.head = doors[level.names[last], ENTRY, route.edge]
        order_rows(level)
        for kind in (ENTRY, EXIT):
            row = level.rows[0 if kind == ENTRY else -1] if level.rows else []
            own = [item for item in row if level.kinds[item] == kind]
            for number, item in enumerate(own):
                doors[group, kind, level.edges[item]] = (number + 0.5) / len(own) - 0.5
    return levels


def order_rows(level: Level) -> None:
    """Order the items of every row of a frame level, in place, so that few arrows cross."""
    segments = segments_of(level)
    above: list[list[RoutePiece]] = [[] for _ in level.kinds]
    below: list[list[RoutePiece]] = [[] for _ in level.kinds]
    for segment in segments:
        above[segment.lower].append(segment)
        below[segment.upper].append(segment)
    is_large = len(level.kinds) > MANY_ITEMS
    place = _places(level)
    _pair_up(level, place)
    best, fewest = [list(row) for row in level.rows], _crossings(level, segments, place, is_large)
    for _ in range(2 if is_large else ROUNDS):
        if fewest == 0:
            break
        for row in level.rows[1:]:
            _sort(level, row, above, place, downward=True)
        for row in reversed(level.rows[:-1]):
            _sort(level, row, below, place, downward=False)
        _pair_up(level, place)
        crossings = _crossings(level, segments, place, is_large)
        if crossings < fewest or is_large:
            best, fewest = [list(row) for row in level.rows], crossings
    level.rows = best
    _find_neighbours(level)


def segments_of(level: Level) -> list[RoutePiece]:
    """Return each piece of a route between two rows; skip routes in lanes and inside one row."""
    found = []
    for route in level.routes:
        if route.lane >= 0 or route.beside:
            continue
        last = len(route.stops) - 2
        for number, (upper, lower) in enumerate(pairwise(route.stops)):
            leaves = route.tail if number == 0 else 0.0
            arrives = route.head if number == last else 0.0
            found.append(RoutePiece(route.edge, upper, lower, leaves, arrives))
    return found


def _places(level: Level) -> list[float]:
    """Return the position of each item in its row, as a number of items from the middle."""
    place = [0.0] * len(level.kinds)
    for row in level.rows:
        _number(row, place)
    return place


def _number(row: list[int], place: list[float]) -> None:
    middle = (len(row) - 1) / 2
    for number, item in enumerate(row):
        place[item] = number - middle


def _sort(
    level: Level, row: list[int], near: list[list[RoutePiece]], place: list[float], downward: bool
) -> None:
    """Sort a row by the mean position of each item's neighbours in the row above or below.

    Items without neighbours there keep their position.
    """
    if len(row) < 2:
        return
    keys: dict[int, float] = {}
    for item in row:
        total = 0.0
        for segment in near[item]:
            other, port = (
                (segment.upper, segment.leaves) if downward else (segment.lower, segment.arrives)
            )
            own = segment.arrives if downward else segment.leaves
            total += place[other] + PORT_SHARE * (port - own)
        keys[item] = total / len(near[item]) if near[item] else place[item]
    row.sort(key=lambda item: (level.kinds[item] != TITLE, keys[item]))
    _number(row, place)


def _pair_up(level: Level, place: list[float]) -> None:
    """Move every item that has a partner in its row immediately to the right of this partner.

    The partner of an item is the one in `level.partners`.
    """
    if not level.partners:
        return
    for row in level.rows:
        followers: dict[int, list[int]] = {}
        for item in row:
            partner = level.partners.get(item)
            if partner is not None and level.row_of[partner] == level.row_of[item]:
                followers.setdefault(partner, []).append(item)
        if followers:
            moved = {item for items in followers.values() for item in items}
            waiting = [item for item in reversed(row) if item not in moved]
            row.clear()
            while waiting:
                item = waiting.pop()
                row.append(item)
                waiting.extend(reversed(followers.pop(item, [])))
            for items in followers.values():  # partners of each other, so no item comes first
                row.extend(items)
            _number(row, place)


def _crossings(
    level: Level, segments: list[RoutePiece], place: list[float], is_large: bool
) -> float:
    """Return the number of crossings of arrows in a frame level.

    It is infinity if the level is large, because counting would take too long.
    """
    if is_large:
        return float("inf")
    gaps: list[list[tuple[float, float]]] = [[] for _ in level.rows]
    for segment in segments:
        ends = (
            place[segment.upper] + PORT_SHARE * segment.leaves,
            place[segment.lower] + PORT_SHARE * segment.arrives,
        )
        gaps[level.row_of[segment.upper]].append(ends)
    return sum(map(_inversions, gaps))


def _inversions(pairs: list[tuple[float, float]]) -> int:
    """Return how often two pairs (a, b) have one order by `a` and the opposite order by `b`."""
    pairs.sort()
    ranks = {end: rank for rank, end in enumerate(sorted({end for _, end in pairs}), start=1)}
    tree = [0] * (len(ranks) + 1)  # a Fenwick tree: the number of ends so far at each rank
    found = 0
    for seen, (_, end) in enumerate(pairs):
        rank = ranks[end]
        at_most, i = 0, rank
        while i:
            at_most += tree[i]
            i &= i - 1
        found += seen - at_most
        i = rank
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return found


def _find_neighbours(level: Level) -> None:
    """Replace a route in a lane by a straight line if it joins two neighbouring boxes of a row."""
    beside = {frozenset(pair) for row in level.rows for pair in pairwise(row)}
    for route in level.routes:
        ends = frozenset((route.stops[0], route.stops[-1]))
        is_plain = all(level.kinds[item] == BOX for item in ends)
        if route.lane >= 0 and is_plain and ends in beside:
            route.beside, route.lane = True, -1
            beside.discard(ends)
