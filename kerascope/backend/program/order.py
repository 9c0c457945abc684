"""The order of a program's lines: what may come earlier, and what memory gains by.

A schedule has the gradients of all weights at its end. But they lie in places of their own (see
`flat.py`), and what they are computed from need not be kept for so long: where that is large, the
line moves to where the last of its inputs is made. No result depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kerascope.backend.program.bound import Bound, Line, is_pure

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
    made_at = positions_of_makers(bound)
    last_read: dict[int, int] = {}
    for position, line in enumerate(bound.lines):
        last_read.update({origin(bound, slot): position for slot in line.inputs})
    for slot in bound.results:
        last_read[origin(bound, slot)] = len(bound.lines)
    earlier: dict[int, tuple[int, int]] = {}
    for position, line in enumerate(bound.lines):
        can_move = id(line) not in stay and is_pure(line.op) and not line.guards
        if can_move and set(line.outputs).issubset(placed):
            read = {origin(bound, slot) for slot in line.inputs}
            freed = [slot for slot in read if slot in made_at and last_read[slot] == position]
            specs = [bound.spec(slot) for slot in freed]
            if sum(spec.n_bytes for spec in specs if spec is not None) >= LEAST:
                earlier[position] = ready_at(bound, line, made_at), 2
    if earlier:
        bound.lines = reordered(bound, made_at, earlier)


# --- what may come earlier ------------------------------------------------------------------------


def positions_of_makers(bound: Bound) -> dict[int, int]:
    """Return for each slot that a line makes the position of this line."""
    return {slot: position for position, line in enumerate(bound.lines) for slot in line.outputs}


def ready_at(bound: Bound, line: Line, made_at: Mapping[int, int]) -> int:
    """Return the position after which the inputs of a line are there; -1 if before all lines.

    A view of what is fed is there where its line stands, any other where its array is made.
    """
    sources = ((slot, origin(bound, slot)) for slot in line.inputs)
    return max((made_at.get(x, made_at.get(slot, -1)) for slot, x in sources), default=-1)


def origin(bound: Bound, slot: int) -> int:
    """Return the slot whose memory a slot shows: itself, or that of which it is a view."""
    while True:
        maker = bound.makers.get(slot)
        if maker is None or not _is_plain_view(maker):
            return slot
        slot = maker.inputs[0]


def _is_plain_view(line: Line) -> bool:
    return line.op.is_view and len(line.inputs) == 1 and not line.guards


def reordered(
    bound: Bound, made_at: Mapping[int, int], earlier: Mapping[int, tuple[int, int]]
) -> list[Line]:
    """Return the lines in a new order, in which some are earlier, and views where they can be.

    Parameters
    ----------
    bound : Bound
    made_at : dict of int to int
        The position of the line that makes a slot.
    earlier : dict of int to (int, int)
        From a line's position to its new one: (p, 0) is that of the line at p, (p, 2) after it.
    """

    def place(position: int) -> tuple[int, int, int]:
        line = bound.lines[position]
        if _is_plain_view(line):
            return made_at.get(origin(bound, line.inputs[0]), position), 1, position
        return *earlier.get(position, (position, 0)), position

    return [bound.lines[position] for position in sorted(range(len(bound.lines)), key=place)]
