"""The order of a program's lines: where lines stand, from where on they can, and new orders."""

from __future__ import annotations

from collections.abc import Mapping

from kerascope.backend.program.bound import Bound, Line


def positions_of_makers(bound: Bound) -> dict[int, int]:
    """Return for each slot that a line makes the position of this line."""
    return {slot: position for position, line in enumerate(bound.lines) for slot in line.outputs}


def positions_of_readers(bound: Bound) -> dict[int, int]:
    """Return for each slot whose memory a line reads the position of the first such line.

    Conditions are read too. A line that makes a view does not read.
    """
    found: dict[int, int] = {}
    for position, line in enumerate(bound.lines):
        read = [] if _is_plain_view(line) else list(line.inputs)
        read.extend(slot for conjunction in line.guards for slot, _ in conjunction)
        for slot in read:
            found.setdefault(origin(bound, slot), position)
    return found


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


def reordered(bound: Bound, made_at: Mapping[int, int], moved: Mapping[int, int]) -> list[Line]:
    """Return the lines in a new order, in which some have moved, and views are where they can be.

    Parameters
    ----------
    bound : Bound
    made_at : dict of int to int
        The position of the line that makes a slot.
    moved : dict of int to int
        From a line's position to its new one.
    """

    def place(position: int) -> tuple[int, int, int]:
        line = bound.lines[position]
        if _is_plain_view(line):
            return made_at.get(origin(bound, line.inputs[0]), position), 1, position
        return moved.get(position, position), 0, position

    return [bound.lines[position] for position in sorted(range(len(bound.lines)), key=place)]
