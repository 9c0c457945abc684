"""Where the items of a level lie: along their row, and each row below the one before.

`across` counts along a row, `along` from row to row; from top to bottom that is x and y, from left
to right it is y and x.

Every item wants to be straight below (or above) its neighbours. Going down and up the rows a few
times, each row is placed as well as it can be: the wishes, as weighted squares of distances, under
the condition that no two items touch. That problem has an exact solution in linear time: whoever
would touch is pooled into one block, which takes the mean of its members' wishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kerascope.viz.layout.levels import BEND, BOX, ENTRY, EXIT, FRAME, TITLE, Level
from kerascope.viz.layout.order import RoutePiece, segments_of

GAPS = {BOX: 13.0, FRAME: 16.0, BEND: 6.0, ENTRY: 7.0, EXIT: 7.0, TITLE: 8.0}
ROW_GAP = 30.0
WIDEST_ROW_GAP = 90.0
DOOR_GAP = 14.0
STEEPNESS = 0.07  # of the widest step across, what a gap between rows is made higher by
LANE_WIDTH = 11.0
ROUNDS = 3
STRAIGHT = {0: 1.0, 1: 3.0, 2: 12.0}  # how much a piece wants to be straight, by its bends
INDIFFERENT = 1e-3


@dataclass(slots=True)
class Shape:
    """The size of an item, and where the doors of a frame are along it.

    Attributes
    ----------
    across, along : float
    doors : dict of (str, int) to float
        By ("entry" or "exit", the arrow's number): the distance from the item's middle.
    """

    across: float
    along: float
    doors: dict[tuple[str, int], float]


@dataclass(slots=True)
class Places:
    """Where the items of a level lie.

    Attributes
    ----------
    middle : list of float
        Of each item, across.
    tops, bottoms : list of float
        Of each row, along.
    lanes : list of float
        Where each lane is, across.
    across, along : float
        Size of the whole.
    """

    middle: list[float]
    tops: list[float]
    bottoms: list[float]
    lanes: list[float]
    across: float
    along: float


def place_level(level: Level, shapes: list[Shape]) -> Places:
    """Return where the items of a level lie, the nearest corner at (0, 0)."""
    segments = segments_of(level)
    middle = _middles(level, shapes, segments)
    left = min(middle[i] - shape.across / 2 for i, shape in enumerate(shapes))
    middle = [m - left for m in middle]
    right = max(middle[i] + shape.across / 2 for i, shape in enumerate(shapes))
    lanes = 1 + max((route.lane for route in level.routes), default=-1)
    lane_places = [right + LANE_WIDTH * (lane + 1) for lane in range(lanes)]
    tops, bottoms = _rows(level, shapes, segments, middle)
    right = max([right, *(place + LANE_WIDTH / 2 for place in lane_places)])
    along = bottoms[-1] + (ROW_GAP if _goes_below(level) else 0.0)
    return Places(middle, tops, bottoms, lane_places, right, along)


def end_of(
    level: Level, shapes: list[Shape], item: int, edge: int, share: float, kind: str
) -> float:
    """Return where an arrow touches an item: the distance from its middle."""
    if level.kinds[item] == FRAME:
        return shapes[item].doors.get((kind, edge), 0.0)
    return share * shapes[item].across


# --- across ---------------------------------------------------------------------------------------


def _middles(level: Level, shapes: list[Shape], segments: list[RoutePiece]) -> list[float]:
    """Return the middle of each item."""
    ties = _ties(level, shapes, segments)
    above: list[list[Wish]] = [[] for _ in shapes]
    below: list[list[Wish]] = [[] for _ in shapes]
    for upper, lower, shift, weight in ties:
        above[lower].append((upper, shift, weight))
        below[upper].append((lower, -shift, weight))
    middle = [0.0] * len(shapes)
    spaces = [_spaces(level, shapes, row) for row in level.rows]
    rows = list(zip(level.rows, spaces, strict=True))
    for row, space in rows:
        packed = _spread([0.0] * len(row), [1.0] * len(row), space)
        for item, place in zip(row, packed, strict=True):
            middle[item] = place
    for _ in range(ROUNDS):
        for row, space in rows[1:]:
            _settle(row, space, middle, above)
        for row, space in reversed(rows[:-1]):
            _settle(row, space, middle, below)
    return straighten(level, ties, spaces, middle)


Wish = tuple[int, float, float]  # another item, how far from its middle to be, how much


def _ties(level: Level, shapes: list[Shape], segments: list[RoutePiece]) -> list[Tie]:
    """Return how the items above and below each other want to stand."""
    ties = []
    for one in segments:
        leaves = end_of(level, shapes, one.upper, one.edge, one.leaves, EXIT)
        arrives = end_of(level, shapes, one.lower, one.edge, one.arrives, ENTRY)
        weight = STRAIGHT[(level.kinds[one.upper] == BEND) + (level.kinds[one.lower] == BEND)]
        ties.append(Tie(one.upper, one.lower, leaves - arrives, weight))
    return ties


def _spaces(level: Level, shapes: list[Shape], row: list[int]) -> list[float]:
    """Return how far each item's middle must at least be from that of the one before it."""
    if not row:
        return []
    reach = [shapes[item].across / 2 + GAPS[level.kinds[item]] for item in row]
    return [0.0, *(one + other for one, other in pairwise(reach))]


def _settle(
    row: list[int], space: list[float], middle: list[float], wishes: list[list[Wish]]
) -> None:
    """Place a row by what its items wish of their neighbours."""
    wanted, weights = [], []
    for item in row:
        total = weight = 0.0
        for other, distance, share in wishes[item]:
            total += share * (middle[other] + distance)
            weight += share
        if weight:
            wanted.append(total / weight)
            weights.append(weight)
        else:
            wanted.append(middle[item])
            weights.append(INDIFFERENT)
    for item, place in zip(row, _spread(wanted, weights, space), strict=True):
        middle[item] = place


def _spread(wanted: list[float], weights: list[float], space: list[float]) -> list[float]:
    """Return places as near to those wanted as the spaces allow.

    Notes
    -----
    Minimises ``sum w_i (p_i - wanted_i)^2`` under ``p_i - p_(i-1) >= space_i``. With the spaces
    before each item taken off, this is a regression by an increasing sequence.
    """
    if len(wanted) == 1:
        return wanted
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many items
    offset, offsets = 0.0, []
    for want, weight, gap in zip(wanted, weights, space, strict=True):
        offset += gap
        offsets.append(offset)
        mean, count = want - offset, 1
        while blocks and blocks[-1][0] >= mean:
            before, more, number = blocks.pop()
            mean = (mean * weight + before * more) / (weight + more)
            weight += more
            count += number
        blocks.append((mean, weight, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


# --- along ----------------------------------------------------------------------------------------


def _rows(
    level: Level, shapes: list[Shape], segments: list[RoutePiece], middle: list[float]
) -> tuple[list[float], list[float]]:
    """Return where each row begins and ends; gaps are higher where arrows go far across."""
    steps = [0.0] * len(level.rows)
    for segment in segments:
        row = level.row_of[segment.upper]
        steps[row] = max(steps[row], abs(middle[segment.upper] - middle[segment.lower]))
    tops, bottoms = [], []
    place = ROW_GAP if _goes_above(level) else 0.0
    for row, items in enumerate(level.rows):
        height = max((shapes[item].along for item in items), default=0.0)
        tops.append(place)
        bottoms.append(place + height)
        gap = min(ROW_GAP + STEEPNESS * steps[row], WIDEST_ROW_GAP)
        if None in level.depths[row : row + 2]:  # doors lie near the boxes
            gap = min(gap, DOOR_GAP + STEEPNESS * steps[row])
        place += height + gap
    return tops, bottoms


def _goes_above(level: Level) -> bool:
    """Tell whether a lane ends at the first row: its arrow comes from above."""
    return any(r.lane >= 0 and level.row_of[r.stops[-1]] == 0 for r in level.routes)


def _goes_below(level: Level) -> bool:
    """Tell whether a lane begins at the last row."""
    end = len(level.rows) - 1
    return any(r.lane >= 0 and level.row_of[r.stops[0]] == end for r in level.routes)


# --- strands: items that stand straight below each other, moved as one ----------------------------
#
# A chain of boxes, or a long arrow, looks right only as a straight line. Pieces of routes that
# shall be straight are joined to strands; two that would cross are not both straight [1]_. A strand
# goes where its neighbours want it, as far as the strands to its left and right allow: it is pushed
# from the left, and from the right, and stands in the middle between the two. Both satisfy every
# least distance, so their mean does too.
#
# References
# ----------
# .. [1] Brandes, U. and Koepf, B. (2002). Fast and simple horizontal coordinate assignment. Graph
#    Drawing, LNCS 2265. (The idea of vertical alignments; not its way of compacting them.)

STRAND_ROUNDS = 8


class Tie(NamedTuple):
    """A piece of a route: two items, and how far the lower one shall stand right of the upper."""

    upper: int
    lower: int
    shift: float
    weight: float


def straighten(
    level: Level, ties: Sequence[Tie], spaces: Sequence[list[float]], middle: list[float]
) -> list[float]:
    """Return the middles of all items, moved so that strands are straight.

    Parameters
    ----------
    level : Level
    ties : sequence of Tie
    spaces : sequence of list of float
        For each row, the least distance of each item's middle from that of the one before it.
    middle : list of float
        Where the items stand so far.
    """
    strand_of, offset = _strands(level, *_straight(level, ties))
    count = 1 + max(strand_of)
    bounds = _bounds(level, spaces, strand_of, offset)
    order = _from_left(bounds, count)
    members = [0] * count
    wanted = [0.0] * count
    for item, strand in enumerate(strand_of):
        wanted[strand] += middle[item] - offset[item]
        members[strand] += 1
    wanted = [total / number for total, number in zip(wanted, members, strict=True)]
    place = _pushed(wanted, bounds, order)
    for _ in range(STRAND_ROUNDS):
        wanted = _wanted(ties, strand_of, offset, place)
        place = _pushed(wanted, bounds, order)
    return [place[strand] + offset[item] for item, strand in enumerate(strand_of)]


# --- which pieces are straight --------------------------------------------------------------------


def _straight(level: Level, ties: Sequence[Tie]) -> tuple[list[Tie], set[int]]:
    """Return the ties that shall be straight, and the items that have asides.

    In no gap between rows do two of them cross.
    """
    kinds = level.kinds
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for tie in ties:
        below.setdefault(tie.upper, []).append(tie.lower)
        above.setdefault(tie.lower, []).append(tie.upper)
    main = {lower: _without_asides(uppers, above, kinds) for lower, uppers in above.items()}
    have_asides = {lower for lower, uppers in above.items() if len(main[lower]) < len(uppers)}
    gaps: list[list[Tie]] = [[] for _ in level.rows]
    for tie in ties:
        leads = _is_main(tie.lower, below[tie.upper], kinds)
        uppers = main[tie.lower]
        if leads and tie.upper in uppers and _is_main(tie.upper, uppers, kinds):
            gaps[level.row_of[tie.upper]].append(tie)
    number = {item: i for row in level.rows for i, item in enumerate(row)}
    return [tie for gap in gaps for tie in _without_crossings(gap, number, kinds)], have_asides


def _without_asides(uppers: list[int], above: dict[int, list[int]], kinds: list[str]) -> list[int]:
    """Return what an item reads but for weights, constants and the like, which stand at its side.

    Those are boxes that read nothing themselves; where all do, none is left out.
    """
    main = [upper for upper in uppers if kinds[upper] != BOX or upper in above]
    return main or uppers


def _is_main(item: int, others: list[int], kinds: list[str]) -> bool:
    """Tell whether an item is the only neighbour, or the only box beside one passing arrow."""
    if len(others) == 1:
        return True
    boxes = [other for other in others if kinds[other] != BEND]
    return len(others) == 2 and boxes == [item]


def _without_crossings(gap: list[Tie], number: dict[int, int], kinds: list[str]) -> list[Tie]:
    kept: list[Tie] = []
    for tie in sorted(gap, key=lambda tie: (number[tie.upper], number[tie.lower])):
        while kept and _clash(kept[-1], tie, number) and _rank(tie, kinds) > _rank(kept[-1], kinds):
            kept.pop()
        if not kept or not _clash(kept[-1], tie, number):
            kept.append(tie)
    return kept


def _clash(one: Tie, other: Tie, number: dict[int, int]) -> bool:
    return one.upper == other.upper or number[other.lower] <= number[one.lower]


def _rank(tie: Tie, kinds: list[str]) -> int:
    """Return how much a tie deserves to be straight: long arrows most."""
    return (kinds[tie.upper] == BEND) + (kinds[tie.lower] == BEND)


def _strands(
    level: Level, straight: Sequence[Tie], have_asides: set[int]
) -> tuple[list[int], list[float]]:
    """Return the strand of each item, and how far from the strand's own place it stands."""
    upper_of = {tie.lower: tie for tie in straight}
    strand_of = [-1] * len(level.kinds)
    offset = [0.0] * len(level.kinds)
    count = 0
    for row in level.rows:
        for item in row:
            tie = upper_of.get(item)
            if tie is None:
                strand_of[item], count = count, count + 1
            else:
                # Boxes stand middle below middle, whichever input the arrow goes to: a chain of
                # additions would else become a staircase. So does what comes in from above and
                # has a weight beside it.
                are_boxes = level.kinds[tie.upper] == level.kinds[item] == BOX
                is_below = are_boxes or item in have_asides
                strand_of[item] = strand_of[tie.upper]
                offset[item] = offset[tie.upper] + (0.0 if is_below else tie.shift)
    return strand_of, offset


# --- where strands go -----------------------------------------------------------------------------

Bound = tuple[int, float]  # another strand, the least distance


def _bounds(
    level: Level, spaces: Sequence[list[float]], strand_of: list[int], offset: list[float]
) -> list[list[Bound]]:
    """Return for each strand which ones must stand right of it, and how far at least."""
    least: list[dict[int, float]] = [{} for _ in range(1 + max(strand_of))]
    for row, space in zip(level.rows, spaces, strict=True):
        for (left, right), gap in zip(pairwise(row), space[1:], strict=True):
            one, other = strand_of[left], strand_of[right]
            distance = gap + offset[left] - offset[right]
            least[one][other] = max(least[one].get(other, distance), distance)
    return [list(bounds.items()) for bounds in least]


def _from_left(bounds: list[list[Bound]], count: int) -> list[int]:
    """Return the strands so that each comes after all that stand left of it."""
    waiting = [0] * count
    for right_ones in bounds:
        for other, _ in right_ones:
            waiting[other] += 1
    ready = [strand for strand in range(count) if not waiting[strand]]
    order = []
    while ready:
        strand = ready.pop()
        order.append(strand)
        for other, _ in bounds[strand]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    assert len(order) == count, "strands that do not cross have an order"
    return order


def _pushed(wanted: list[float], bounds: list[list[Bound]], order: list[int]) -> list[float]:
    """Return places near those wanted that keep all distances."""
    from_left = list(wanted)
    for strand in order:
        for other, distance in bounds[strand]:
            from_left[other] = max(from_left[other], from_left[strand] + distance)
    from_right = list(wanted)
    for strand in reversed(order):
        for other, distance in bounds[strand]:
            from_right[strand] = min(from_right[strand], from_right[other] - distance)
    return [(one + other) / 2 for one, other in zip(from_left, from_right, strict=True)]


def _wanted(
    ties: Sequence[Tie], strand_of: list[int], offset: list[float], place: list[float]
) -> list[float]:
    """Return where each strand's ties to others want it; one without ties stays."""
    total = [0.0] * len(place)
    weight = [0.0] * len(place)
    for upper, lower, shift, share in ties:
        one, other = strand_of[upper], strand_of[lower]
        if one != other:
            distance = place[other] + offset[lower] - shift - offset[upper]
            total[one] += share * distance
            weight[one] += share
            total[other] += share * (place[one] + offset[upper] + shift - offset[lower])
            weight[other] += share
    return [
        (sum_ / share + before) / 2 if share else before
        for sum_, share, before in zip(total, weight, place, strict=True)
    ]
