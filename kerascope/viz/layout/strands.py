"""Strands: items that stand straight below each other, moved as one.

A chain of boxes, or a long arrow, looks right only as a straight line. Pieces of routes that shall
be straight are joined to strands; two that would cross are not both straight [1]_. A strand goes
where its neighbours want it, as far as the strands to its left and right allow: it is pushed from
the left, and from the right, and stands in the middle between the two. Both satisfy every least
distance, so their mean does too.

References
----------
.. [1] Brandes, U. and Koepf, B. (2002). Fast and simple horizontal coordinate assignment. Graph
   Drawing, LNCS 2265. (The idea of vertical alignments; not its way of compacting them.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kerascope.viz.layout.levels import BEND, BOX, Level

ROUNDS = 8


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
    strand_of, offset = _strands(level, _straight(level, ties))
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
    for _ in range(ROUNDS):
        wanted = _wanted(ties, strand_of, offset, place)
        place = _pushed(wanted, bounds, order)
    return [place[strand] + offset[item] for item, strand in enumerate(strand_of)]


# --- which pieces are straight --------------------------------------------------------------------


def _straight(level: Level, ties: Sequence[Tie]) -> list[Tie]:
    """Return the ties that shall be straight; in no gap between rows do two of them cross."""
    kinds = level.kinds
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for tie in ties:
        below.setdefault(tie.upper, []).append(tie.lower)
        above.setdefault(tie.lower, []).append(tie.upper)
    gaps: list[list[Tie]] = [[] for _ in level.rows]
    for tie in ties:
        leads = _is_main(tie.lower, below[tie.upper], kinds)
        if leads and _is_main(tie.upper, above[tie.lower], kinds):
            gaps[level.row_of[tie.upper]].append(tie)
    number = {item: i for row in level.rows for i, item in enumerate(row)}
    return [tie for gap in gaps for tie in _without_crossings(gap, number, kinds)]


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


def _strands(level: Level, straight: Sequence[Tie]) -> tuple[list[int], list[float]]:
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
                # additions would else become a staircase.
                boxes = level.kinds[tie.upper] == level.kinds[item] == BOX
                strand_of[item] = strand_of[tie.upper]
                offset[item] = offset[tie.upper] + (0.0 if boxes else tie.shift)
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
