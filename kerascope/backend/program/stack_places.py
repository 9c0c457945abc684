"""Where the arrays of a stack lie: at equal distances, so that one call can go through them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kerascope.backend.program.bound import Bound, Line
from kerascope.backend.program.kernels import Kind, Writing
from kerascope.backend.program.memory import ALIGNMENT, Memory, aligned
from kerascope.backend.program.order import origin
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.runs import FEWEST, longest_run
from kerascope.backend.program.stacks import writing_of_stack
from kerascope.backend.program.trial import is_in_order

Places = dict[int, np.ndarray]


class Run(NamedTuple):
    """Neighbouring lines of a program that are written as one call.

    Attributes
    ----------
    lines : list of Line
    writing : Writing
    arrays : list of array or None
        Inputs and output of all lines: those of the single lines, with one more axis in front; None
        for what all lines read.
    """

    lines: list[Line]
    writing: Writing
    arrays: list[np.ndarray | None]


# --- before the memory is planned -----------------------------------------------------------------


def places_for_stacks(plan: Plan, taken: Mapping[int, np.ndarray], kept: Iterable[int]) -> Places:
    """Return places for the slots that stacks read and write.

    Parameters
    ----------
    plan : Plan
    taken : dict of int to array
        The places of slots that have one already.
    kept : iterable of int
        Slots that are read after the last line.
    """
    return _Placing(plan, taken, set(kept)).places


class _Placing:
    """Gives places, operand by operand of each stack.

    A view lies where its origin lies. So it is origins that get places, each in its own shape.
    """

    def __init__(self, plan: Plan, taken: Mapping[int, np.ndarray], kept: set[int]) -> None:
        self.bound: Bound = plan.bound
        self.places: Places = {}
        self.taken = taken
        self.kept = {origin(self.bound, slot) for slot in kept}
        self.computed = plan.slots_in_planned_memory
        self.writing_of = dict(zip(map(id, self.bound.lines), plan.writings, strict=True))
        self.readers: dict[int, list[Line]] = {}
        for line in self.bound.lines if plan.stacks else ():
            for slot in line.inputs:
                self.readers.setdefault(origin(self.bound, slot), []).append(line)
        for stack in plan.stacks:
            operands = [[origin(self.bound, x) for x in several] for several in _operands(stack)]
            if all(self._can_be_regular(origins) for origins in operands):
                for origins in operands:
                    self._place(self._in_order_of_memory(origins, operands))

    def _can_be_regular(self, origins: Sequence[int]) -> bool:
        """Tell whether enough of an operand's arrays lie at equal distances, or could."""
        if len(set(origins)) == 1 or sum(map(self._has_no_place, origins)) >= FEWEST:
            return True
        placed = [[self.places.get(slot, self.taken.get(slot))] for slot in origins]
        return _longest_regular(placed)[1] >= FEWEST

    def _in_order_of_memory(
        self, origins: Sequence[int], operands: Iterable[Sequence[int]]
    ) -> Iterable[int]:
        """Return origins, each once, in the order in which another operand of theirs lies already.

        NumPy goes through arrays of which one ascends and one descends with a detour.
        """
        for others in operands:
            places = [self.places.get(other) for other in others]
            known = {x: _address(y) for x, y in zip(origins, places, strict=True) if y is not None}
            if len(known) >= FEWEST:
                return sorted(dict.fromkeys(origins), key=lambda slot: known.get(slot, 0))
        return dict.fromkeys(origins)

    def _place(self, origins: Iterable[int]) -> None:
        waiting = [slot for slot in origins if self._has_no_place(slot)]
        found = [way for way in map(self._way_to_a_place, waiting) if way]
        if len(found) >= FEWEST:
            for *slots, last in found:
                self.places.update(dict.fromkeys(slots, self.places[last]))
        elif len(waiting) >= FEWEST:
            self.places.update(self._room(waiting))

    def _has_no_place(self, slot: int) -> bool:
        if slot not in self.computed or slot in self.taken or slot in self.places:
            return False
        return is_in_order(self.bound.facts[slot])

    def _way_to_a_place(self, slot: int) -> list[int]:
        """Return the slots from this one back to one with a place, if each may lie over the next.

        A line may write over what nobody reads after it.
        """
        way = [slot]
        while way[-1] not in self.places:
            maker = self.bound.makers[way[-1]]
            before = [x for x in maker.inputs if self._dies_with(maker, x)]
            if not before or not self.writing_of[id(maker)].can_overwrite:
                return []
            way.append(next((x for x in before if x in self.places), before[0]))
        return way

    def _dies_with(self, maker: Line, x: int) -> bool:
        is_ours = x in self.places or self._has_no_place(x)
        if not is_ours or x in self.kept or self.readers[x][-1] is not maker:
            return False
        # What is no call may have kept a view of it.
        kinds = {self.writing_of[id(reader)].kind for reader in self.readers[x]}
        return kinds == {Kind.CALL} and self.bound.facts[x] == self.bound.facts[maker.outputs[0]]

    def _room(self, slots: Sequence[int]) -> Places:
        """Return neighbouring places, each in its slot's shape, from the start of a cache line."""
        specs = [self.bound.facts[slot].spec for slot in slots]
        distance = -(-max(spec.n_bytes for spec in specs) // ALIGNMENT) * ALIGNMENT
        block = aligned(distance * len(slots))
        return {
            slot: block[at * distance :][: spec.n_bytes].view(spec.dtype).reshape(spec.shape)
            for at, (slot, spec) in enumerate(zip(slots, specs, strict=True))
        }


# --- afterwards -----------------------------------------------------------------------------------


def runs_of(plan: Plan, memory: Memory) -> dict[int, Run]:
    """Return the runs by the position of their first lines."""
    positions = {id(line): position for position, line in enumerate(plan.bound.lines)}
    runs = {}
    for stack in plan.stacks:
        operands = _operands(stack)
        own = [several for several in operands if len(set(several)) > 1]
        rows = list(zip(*[[memory.arrays.get(x) for x in slots] for slots in own], strict=True))
        start, count = _longest_regular(rows)
        writing = writing_of_stack(plan.bound, stack[start], count) if count >= FEWEST else None
        if writing is not None:
            lines = stack[start : start + count]
            found = iter(_arrays_of_all(rows[start], rows[start + 1], count))
            arrays = [next(found) if len(set(slots)) > 1 else None for slots in operands]
            runs[positions[id(lines[0])]] = Run(lines, writing, arrays)
    return runs


def _operands(stack: Sequence[Line]) -> list[tuple[int, ...]]:
    """Return the slots of each input, and of the output, over all lines."""
    return list(zip(*[(*line.inputs, *line.outputs) for line in stack], strict=True))


def _longest_regular(rows: Sequence[Sequence[np.ndarray | None]]) -> tuple[int, int]:
    """Return start and length of the longest run of rows whose arrays lie at equal distances."""
    return longest_run([_gap(before, after) for before, after in itertools.pairwise(rows)])


def _gap(
    before: Sequence[np.ndarray | None], after: Sequence[np.ndarray | None]
) -> tuple[int, ...] | None:
    """Return how many bytes each array lies after that of the row before; None if it varies.

    Only parts of one array count: others may lie at equal distances by chance, and do not keep each
    other alive.
    """
    gap = []
    for one, other in zip(before, after, strict=True):
        if one is None or other is None or one.ndim == 0 or one.strides != other.strides:
            return None
        is_dense = one.flags.c_contiguous or one.flags.f_contiguous
        if one.shape != other.shape or not is_dense or _owner(one) is not _owner(other):
            return None
        gap.append(_address(other) - _address(one))
    return tuple(gap) if all(gap) else None


def _owner(array: np.ndarray) -> np.ndarray:
    """Return the array whose memory this one shows a part of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _arrays_of_all(
    first: Sequence[np.ndarray | None], second: Sequence[np.ndarray | None], count: int
) -> list[np.ndarray]:
    """Return for each operand an array of all lines' arrays, from those of the first two lines."""
    pairs = [
        (one, _address(other) - _address(one))
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    return [as_strided(one, (count, *one.shape), (gap, *one.strides)) for one, gap in pairs]
