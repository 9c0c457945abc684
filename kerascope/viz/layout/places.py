"""The positions of the items of a frame level: within each row, and of the rows.

`across` is the coordinate within a row, `along` the one from row to row. In a picture from top to
bottom they are x and y; from left to right they are y and x.

Ideally, every item is straight below (or above) its neighbours. The rows are placed one after the
other, down and up a few times. Each row minimizes the weighted squares of the distances from these
ideal positions, under the condition that no two items touch. This problem has an exact solution in
linear time: items that would touch are pooled into a block, which takes the mean of its members'
ideal positions.
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
STEEPNESS = 0.07  # a gap between rows grows by this share of its widest step across
LANE_WIDTH = 11.0
ROUNDS = 3
STRAIGHT = {0: 1.0, 1: 3.0, 2: 12.0}  # weight of a straight piece, by its number of bends
INDIFFERENT = 1e-3


@dataclass(slots=True)
class Shape:
    """The size of an item and, for a frame, the positions of its doors.

    Attributes
    ----------
    across, along : float
        The size within the row, and the size from row to row.
    doors : dict of (str, int) to float
        Distances from the item's middle, by ("entry" or "exit", index of the arrow).
    """

    across: float
    along: float
    doors: dict[tuple[str, int], float]


@dataclass(slots=True)
class Places:
    """The positions of the items of a frame level.

    "Across" is the coordinate within a row, "along" the one from row to row.

    Attributes
    ----------
    middle : list of float
        The middle of each item, across.
    tops, bottoms : list of float
        The first and last position of each row, along.
    lanes : list of float
        The position of each lane, across.
    across, along : float
        The size of the whole frame level.
    """

    middle: list[float]
    tops: list[float]
    bottoms: list[float]
    lanes: list[float]
    across: float
    along: float


def place_level(level: Level, shapes: list[Shape]) -> Places:
    """Return the positions of the items of a frame level, whose upper left corner is (0, 0)."""
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
    """Return where an arrow meets an item, as the distance from the item's middle."""
    if level.kinds[item] == FRAME:
        return shapes[item].doors.get((kind, edge), 0.0)
    return share * shapes[item].across


# --- across ---------------------------------------------------------------------------------------


def _middles(level: Level, shapes: list[Shape], segments: list[RoutePiece]) -> list[float]:
    """Return the coordinate of the middle of each item within its row."""
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
            _relax_row(row, space, middle, above)
        for row, space in reversed(rows[:-1]):
            _relax_row(row, space, middle, below)
    return straighten(level, ties, spaces, middle)


Wish = tuple[int, float, float]  # another item, the ideal distance from that item, the weight


def _ties(level: Level, shapes: list[Shape], segments: list[RoutePiece]) -> list[Tie]:
    """Return a `Tie` for each piece of a route between two rows; ties make pieces straight."""
    ties = []
    for one in segments:
        leaves = end_of(level, shapes, one.upper, one.edge, one.leaves, EXIT)
        arrives = end_of(level, shapes, one.lower, one.edge, one.arrives, ENTRY)
        weight = STRAIGHT[(level.kinds[one.upper] == BEND) + (level.kinds[one.lower] == BEND)]
        ties.append(Tie(one.upper, one.lower, leaves - arrives, weight))
    return ties


def _spaces(level: Level, shapes: list[Shape], row: list[int]) -> list[float]:
    """Return the minimum distance of each item's middle from that of the item before it."""
    if not row:
        return []
    reach = [shapes[item].across / 2 + GAPS[level.kinds[item]] for item in row]
    return [0.0, *(one + other for one, other in pairwise(reach))]


def _relax_row(
    row: list[int], space: list[float], middle: list[float], wishes: list[list[Wish]]
) -> None:
    """Move the items of a row as close as possible to their ideal positions, in place."""
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
    """Return the positions that keep the minimum distances and are closest to the wanted ones.

    Notes
    -----
    Minimizes ``sum w_i (p_i - wanted_i)^2`` subject to ``p_i - p_(i-1) >= space_i``. After
    subtracting the cumulative spaces, this is an isotonic regression.
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
    """Return the positions where each row begins and ends.

    The gap below a row is larger if an arrow moves far to the side there.
    """
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
        if None in level.depths[row : row + 2]:  # doors are near the boxes
            gap = min(gap, DOOR_GAP + STEEPNESS * steps[row])
        place += height + gap
    return tops, bottoms


def _goes_above(level: Level) -> bool:
    """Return whether a lane ends at the first row, so that its arrow arrives from above."""
    return any(r.lane >= 0 and level.row_of[r.stops[-1]] == 0 for r in level.routes)


def _goes_below(level: Level) -> bool:
    """Return whether a lane begins at the last row, so that its arrow runs below that row."""
    end = len(level.rows) - 1
    return any(r.lane >= 0 and level.row_of[r.stops[0]] == end for r in level.routes)


# --- strands: items straight below each other, which move together --------------------------------
#
# A chain of boxes, or a long arrow, should be a straight line. Pieces of routes that should be
# straight are joined into strands; of two that would cross, only one is straight [1]_. A strand
# moves towards its neighbours as far as the strands to its left and right allow. One solution
# pushes strands to the right where they are too close, another pushes them to the left. Both
# satisfy every minimum distance, and so does their mean, which is used.
#
# References
# ----------
# .. [1] Brandes, U. and Koepf, B. (2002). Fast and simple horizontal coordinate assignment. Graph
#    Drawing, LNCS 2265. (The idea of vertical alignments; not its way of compacting them.)

STRAND_ROUNDS = 8


class Tie(NamedTuple):
    """A piece of a route that is straight if its lower item is `shift` right of its upper item."""

    upper: int
    lower: int
    shift: float
    weight: float


def straighten(
    level: Level, ties: Sequence[Tie], spaces: Sequence[list[float]], middle: list[float]
) -> list[float]:
    """Return the middles of all items, moved so that the items of a strand are in a straight line.

    Parameters
    ----------
    level : Level
    ties : sequence of Tie
    spaces : sequence of list of float
        For each row, the minimum distance of each item's middle from that of the item before it.
    middle : list of float
        The middles before straightening.
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


# --- the straight pieces --------------------------------------------------------------------------


def _straight(level: Level, ties: Sequence[Tie]) -> tuple[list[Tie], set[int]]:
    """Return the ties to make straight, which do not cross, and the items with side inputs.

    A `Tie` is a piece of a route between two rows. Side inputs are inputs such as weights and
    constants; see `_main_inputs`.
    """
    kinds = level.kinds
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for tie in ties:
        below.setdefault(tie.upper, []).append(tie.lower)
        above.setdefault(tie.lower, []).append(tie.upper)
    main = {lower: _main_inputs(uppers, above, kinds) for lower, uppers in above.items()}
    have_sides = {lower for lower, uppers in above.items() if len(main[lower]) < len(uppers)}
    gaps: list[list[Tie]] = [[] for _ in level.rows]
    for tie in ties:
        leads = _is_main(tie.lower, below[tie.upper], kinds)
        uppers = main[tie.lower]
        if leads and tie.upper in uppers and _is_main(tie.upper, uppers, kinds):
            gaps[level.row_of[tie.upper]].append(tie)
    number = {item: i for row in level.rows for i, item in enumerate(row)}
    return [tie for gap in gaps for tie in _without_crossings(gap, number, kinds)], have_sides


def _main_inputs(uppers: list[int], above: dict[int, list[int]], kinds: list[str]) -> list[int]:
    """Return the inputs of an item without its side inputs, such as weights and constants.

    Side inputs are boxes without inputs. If an item has only side inputs, all count as main inputs.
    """
    main = [upper for upper in uppers if kinds[upper] != BOX or upper in above]
    return main or uppers


def _is_main(item: int, others: list[int], kinds: list[str]) -> bool:
    """Return whether `item` is the main item of `others`, a list that contains it.

    It is if the list has no further item, or if it has two items and only `item` is not a bend.
    """
    if len(others) == 1:
        return True
    boxes = [other for other in others if kinds[other] != BEND]
    return len(others) == 2 and boxes == [item]


def _without_crossings(gap: list[Tie], number: dict[int, int], kinds: list[str]) -> list[Tie]:
    kept: list[Tie] = []
    for tie in sorted(gap, key=lambda tie: (number[tie.upper], number[tie.lower])):
        while kept and _cross(kept[-1], tie, number) and _rank(tie, kinds) > _rank(kept[-1], kinds):
            kept.pop()
        if not kept or not _cross(kept[-1], tie, number):
            kept.append(tie)
    return kept


def _cross(one: Tie, other: Tie, number: dict[int, int]) -> bool:
    return one.upper == other.upper or number[other.lower] <= number[one.lower]


def _rank(tie: Tie, kinds: list[str]) -> int:
    """Return the priority of making a piece of a route straight: how many bends it connects."""
    return (kinds[tie.upper] == BEND) + (kinds[tie.lower] == BEND)


def _strands(
    level: Level, straight: Sequence[Tie], have_sides: set[int]
) -> tuple[list[int], list[float]]:
    """Return the strand (straight line of items) of each item, and its offset from that line."""
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
                # Boxes are aligned by their middles, whichever input the arrow ends at. Otherwise
                # a chain of additions would become a staircase. This also holds for inputs of
                # items with side inputs.
                are_boxes = level.kinds[tie.upper] == level.kinds[item] == BOX
                is_below = are_boxes or item in have_sides
                strand_of[item] = strand_of[tie.upper]
                offset[item] = offset[tie.upper] + (0.0 if is_below else tie.shift)
    return strand_of, offset


# --- positions of strands -------------------------------------------------------------------------

Bound = tuple[int, float]  # another strand, the minimum distance to it


def _bounds(
    level: Level, spaces: Sequence[list[float]], strand_of: list[int], offset: list[float]
) -> list[list[Bound]]:
    """Return, for each strand (straight line of items), pairs (strand to its right, distance).

    The distance is the minimum one.
    """
    least: list[dict[int, float]] = [{} for _ in range(1 + max(strand_of))]
    for row, space in zip(level.rows, spaces, strict=True):
        for (left, right), gap in zip(pairwise(row), space[1:], strict=True):
            one, other = strand_of[left], strand_of[right]
            distance = gap + offset[left] - offset[right]
            least[one][other] = max(least[one].get(other, distance), distance)
    return [list(bounds.items()) for bounds in least]


def _from_left(bounds: list[list[Bound]], count: int) -> list[int]:
    """Return the indices of strands (straight lines of items) from left to right."""
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
    """Return positions as near to `wanted` as the minimum distances between neighbours allow.

    Each position is that of a strand, a straight line of items through several rows.
    """
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
    """Return the next position of each strand: halfway to where its ties would be straight.

    A strand is a straight line of items, and a `Tie` a piece of a route between two rows. Strands
    without ties to other strands do not move.
    """
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
