"""Biases of many equal layers, stretched at once to the shape of what they are added to.

To add a row to each row of a small matrix costs NumPy three times what it costs to add a matrix. So
where many layers do it, all their biases are stretched before the first of them, by one copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from kerascope.backend.ops.broadcasting import Stretch
from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.flat import EXACT, Group, starts_of
from kerascope.backend.program.runs import FEWEST, LARGEST, longest_run
from kerascope.backend.program.trial import Fact


def stretch_rows(bound: Bound, groups: Sequence[Group]) -> None:
    """Let lines read stretched rows where a stack of copies can make them.

    Parameters
    ----------
    bound : Bound
    groups : list of Group
        Weights that lie one after the other: only of these the copies can be one call.
    """
    starts = {v: (at, start) for at, v, start in _starts(groups)}
    variables = dict(bound.schedule.variables)
    alike: dict[Any, dict[int, list[tuple[Line, int]]]] = {}  # by what is alike, then by start
    for line in bound.lines:
        for position, slot in enumerate(line.inputs):
            variable = variables.get(slot)
            if variable in starts and _adds_rows(bound, line, slot):
                room, start = starts[variable]
                key = room, bound.spec(slot), bound.spec(line.outputs[0])
                alike.setdefault(key, {}).setdefault(start, []).append((line, position))
    copies = []
    for readers_of in alike.values():
        begins = list(readers_of)
        first, count = longest_run([after - one for one, after in itertools.pairwise(begins)])
        if count >= FEWEST:
            copies += [_stretched(bound, readers_of[x]) for x in begins[first : first + count]]
    bound.lines = [*copies, *bound.lines]


def _starts(groups: Sequence[Group]) -> Iterator[tuple[Any, Any, int]]:
    """Yield for each weight in which array it lies, itself, and at which number it begins."""
    for number, group in enumerate(groups):
        for role, several in group.variables.items():
            *starts, _ = starts_of([v.room.shape for v in several], group.dtype)
            for v, start in zip(several, starts, strict=True):
                yield (number, role), v, start


def _adds_rows(bound: Bound, line: Line, slot: int) -> bool:
    """Tell whether a line computes with a row and each row of a small matrix."""
    row, whole = bound.spec(slot), bound.spec(line.outputs[0])
    if row is None or whole is None or line.op.ufunc not in EXACT or line.guards:
        return False
    is_row = len(whole.shape) == 2 and row.shape == whole.shape[1:] and row.dtype == whole.dtype
    return is_row and whole.shape[0] > 1 and whole.size <= LARGEST


def _stretched(bound: Bound, readers: Sequence[tuple[Line, int]]) -> Line:
    """Return the line that stretches an operand of lines, which read it from now on.

    It has the step of the first one, so a table of all steps has no row for it.
    """
    line, position = readers[0]
    whole = bound.facts[line.outputs[0]].spec
    slot = bound.new_slot()
    copy = Line(line.step, [line.inputs[position]], ())
    copy.op, copy.outputs = Stretch(whole.shape[0]), (slot,)
    size = whole.dtype.itemsize
    bound.facts[slot] = Fact(whole, (whole.shape[1] * size, size))
    bound.makers[slot] = copy
    for reader, place in readers:
        reader.inputs[place] = slot
    return copy
