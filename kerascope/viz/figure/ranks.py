"""Branching parts in ranks: each part is drawn after those that feed it, with all arrows between.

An arrow that passes a rank has a lane of its own in it. Boxes and lanes of a rank are ordered for
few crossings and moved near their neighbours in the other ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kerascope.viz.figure.marks import Page, arrow
from kerascope.viz.figure.pieces import GAP, Piece, layer_box, on_page
from kerascope.viz.figure.reading import Reading
from kerascope.viz.figure.segments import Segment, Unit
from kerascope.viz.sheet import Point, Shape

DOOR = "the arrow that arrives"
BETWEEN, LANE = 6.0, 4.0  # distances of boxes, and of the lane of an arrow
SWEEPS = 12


@dataclass(frozen=True)
class Ranks:
    """The places of boxes, across the direction and along it.

    Attributes
    ----------
    boxes : dict of str to Point
        Size of each box, across and along.
    rows : list of list of str
        Boxes and lanes of each rank, in order.
    ways : list of list of str
        Each arrow from its box (or DOOR) over its lanes to its box.
    at : dict of str to float
        Middle of each box and lane, across.
    across, along : float
        The whole size.
    tops, thick : list of float
        Where each rank begins, and its size along the direction.
    """

    boxes: dict[str, Point]
    rows: list[list[str]]
    ways: list[list[str]]
    at: dict[str, float]
    across: float
    along: float
    tops: list[float]
    thick: list[float]

    def corner(self, rank: int, one: str) -> Point:
        """Return where a box begins."""
        across, along = self.boxes[one]
        return self.at[one] - across / 2, self.tops[rank] + (self.thick[rank] - along) / 2

    def path(self, way: list[str]) -> Iterator[Point]:
        """Yield the points of an arrow; it passes wider boxes of a rank before it turns."""
        for one in way:
            if one == DOOR:
                yield self.across / 2, 0.0
                continue
            x, rank = self.at[one], next(i for i, row in enumerate(self.rows) if one in row)
            top, bottom = self.tops[rank], self.tops[rank] + self.thick[rank]
            margin = (self.thick[rank] - self.boxes[one][1]) / 2 if one in self.boxes else 0.0
            if one not in self.boxes:
                yield from ((x, top), (x, bottom))
            elif one == way[0]:
                yield from ((x, bottom - margin), (x, bottom))[: 2 if margin else 1]
            else:
                yield from ((x, top), (x, top + margin - 0.6))[0 if margin else 1 :]


def ranks_of(reading: Reading, unit: Unit, segment: Segment, page: Page, down: bool) -> Piece:
    """Return the parts of a segment that branches and joins."""
    inside = {part.node.id: part for part in segment.parts}
    rank = _rank_of(reading, inside)
    boxes = {one: layer_box(unit, p, page, plain=len(inside) > 6) for one, p in inside.items()}
    fed = [one for one in inside if any(s not in inside for s in reading.sources[one])]
    if fed == [one for one in inside if rank[one] == 0] and len(fed) == 1:
        fed = []  # the arrow that arrives leads to it
    edges = [(DOOR, one) for one in fed]
    edges += [(s, one) for one in inside for s in reading.sources[one] if s in inside]
    sizes = {one: on_page(down, box.width, box.height) for one, box in boxes.items()}
    ranks = _placed(sizes, rank, edges, GAP + 2 if fed else 0.0)
    marks: list[Shape] = [
        arrow(*(on_page(down, *point) for point in ranks.path(way))) for way in ranks.ways
    ]
    for one, box in boxes.items():
        marks += box.at(*on_page(down, *ranks.corner(rank[one], one)))
    exit = None
    if down and len(ranks.rows[-1]) == 1:
        last = boxes[ranks.rows[-1][0]]
        exit = ((ranks.across + last.width) / 2, ranks.along - ranks.thick[-1] / 2)
    size = on_page(down, ranks.across, ranks.along)
    return Piece(*size, marks, exit=exit, leads=bool(fed))


def _placed(
    boxes: dict[str, Point], rank: dict[str, int], edges: list[tuple[str, str]], lead: float
) -> Ranks:
    """Place boxes by their ranks; `lead` is the space before the first."""
    wide = {one: across for one, (across, _) in boxes.items()}
    rows, ways = _lanes(boxes, rank, edges)
    at = _spread_out(rows, ways, wide)
    across = _centered(at, rows, wide)
    thick = [max(boxes[one][1] for one in row if one in boxes) for row in rows]
    tops = [lead]
    for size in thick:
        tops.append(tops[-1] + size + GAP + 2)
    return Ranks(boxes, rows, ways, at, across, tops[-1] - GAP - 2, tops, thick)


def _rank_of(reading: Reading, inside: Iterable[str]) -> dict[str, int]:
    """Return the rank of each part: the length of the longest path to it."""
    parts = [*inside]
    rank = {one: depth - 1 for one, depth in reading.depths(parts).items()}
    for one in reversed(parts):  # a part without sources moves to the rank before its first target
        later = [rank[target] for target in reading.targets[one] if target in rank]
        if later and not reading.sources[one]:
            rank[one] = min(later) - 1
    return rank


def _lanes(
    inside: Iterable[str], rank: Mapping[str, int], edges: Iterable[tuple[str, str]]
) -> tuple[list[list[str]], list[list[str]]]:
    """Return what stands in each rank, lanes too, in an order with few crossings, and the ways."""
    rows: list[list[str]] = [[] for _ in range(max(rank.values()) + 1)]
    for one in inside:
        rows[rank[one]].append(one)
    ways = []
    for source, target in edges:
        passed = range(rank.get(source, -1) + 1, rank[target])
        lanes = [f"> {row} {source} {target}" for row in passed]
        for row, lane in zip(passed, lanes, strict=True):
            rows[row].append(lane)
        ways.append([source, *lanes, target])
    before: dict[str, list[str]] = {}
    for way in ways:
        for one, next_one in pairwise(way):
            before.setdefault(next_one, []).append(one)
    for above, below in pairwise(rows):
        place = {one: float(i) for i, one in enumerate(above)}
        means = {one: mean_of(place, before.get(one, ()), len(place) / 2) for one in below}
        below.sort(key=means.__getitem__)
    return rows, ways


def mean_of(places: Mapping[str, float], ones: Iterable[str], otherwise: float) -> float:
    """Return the mean of the places of those that have one."""
    found = [places[one] for one in ones if one in places]
    return sum(found) / len(found) if found else otherwise


def _spread_out(
    rows: Sequence[Sequence[str]], ways: Iterable[Sequence[str]], wide: Mapping[str, float]
) -> dict[str, float]:
    """Return where the middle of each box and lane lies: near those that it is joined to."""
    joined: dict[str, list[str]] = {}
    for way in ways:
        for one, other in pairwise(way):
            joined.setdefault(one, []).append(other)
            joined.setdefault(other, []).append(one)
    at: dict[str, float] = {}
    for row in rows:
        _set_apart(row, [0.0] * len(row), wide, at)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [mean_of(at, joined.get(one, ()), at[one]) for one in row]
            _set_apart(row, wanted, wide, at)
    return at


def _centered(
    at: dict[str, float], rows: Sequence[Sequence[str]], wide: Mapping[str, float]
) -> float:
    """Move all so that it begins at 0, what comes in and goes out alone to the middle; its size."""
    alone = dict.fromkeys(row[0] for row in (rows[0], rows[-1]) if len(row) == 1)
    others = [one for one in at if one not in alone]
    low = min((at[one] - wide.get(one, 0.0) / 2 for one in others), default=0.0)
    high = max((at[one] + wide.get(one, 0.0) / 2 for one in others), default=0.0)
    across = max([high - low, *(wide[one] for one in alone)])
    for one in at:
        at[one] += (across - low - high) / 2
    at.update(dict.fromkeys(alone, across / 2))
    return across


def _set_apart(
    row: Sequence[str], wanted: Sequence[float], wide: Mapping[str, float], at: dict[str, float]
) -> None:
    """Place a row near what is wanted, in its order and without overlap."""
    gaps = [
        (wide.get(a, 0.0) + wide.get(b, 0.0)) / 2 + (BETWEEN if a in wide and b in wide else LANE)
        for a, b in pairwise(row)
    ]
    placed = list(wanted[:1])
    for want, gap in zip(wanted[1:], gaps, strict=True):
        placed.append(max(want, placed[-1] + gap))
    shift = sum(w - p for w, p in zip(wanted, placed, strict=True)) / len(row)
    for one, place in zip(row, placed, strict=True):
        at[one] = place + shift
