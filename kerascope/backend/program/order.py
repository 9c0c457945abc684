"""The order of a program's lines: large gradients are computed as soon as they can be.

A schedule has the gradients of all weights at its end. But they lie in places of their own (see
`flat.py`), and what they are computed from need not be kept for so long: where that is large, the
line moves to where the last of its inputs is made. No result depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from kerascope.backend.program.bound import Bound, Line, is_pure
from kerascope.backend.program.stacks import moved, origin, ready_at

LEAST = 1 << 16  # bytes that are free earlier; below it the order is that of the schedule


def compute_sooner(bound: Bound, placed: Collection[int], stacks: Sequence[Sequence[Line]]) -> None:
    """Move the lines that compute `placed` slots, but for those of stacks, to earlier places.

    Parameters
    ----------
    bound : Bound
    placed : collection of int
        Slots that have places of their own.
    stacks : list of list of Line
    """
    stay = {id(line) for stack in stacks for line in stack}
    made_at = {slot: at for at, line in enumerate(bound.lines) for slot in line.outputs}
    last_read: dict[int, int] = {}
    for position, line in enumerate(bound.lines):
        last_read.update({origin(bound, slot): position for slot in line.inputs})
    for slot in bound.results:
        last_read[origin(bound, slot)] = len(bound.lines)
    places: dict[int, tuple[int, int]] = {}
    for position, line in enumerate(bound.lines):
        can_move = id(line) not in stay and is_pure(line.op) and not line.guards
        if can_move and set(line.outputs).issubset(placed):
            read = {origin(bound, slot) for slot in line.inputs}
            freed = [slot for slot in read if slot in made_at and last_read[slot] == position]
            if sum(_bytes_of(bound, slot) for slot in freed) >= LEAST:
                places[position] = ready_at(bound, line, made_at), 2
    if places:
        bound.lines = moved(bound, made_at, places)


def _bytes_of(bound: Bound, slot: int) -> int:
    spec = bound.spec(slot)
    return 0 if spec is None else math.prod(spec.shape) * spec.dtype.itemsize
