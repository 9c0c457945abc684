"""The memory plan of a program: a place for each array, reusing memory that is no longer read.

Every array that a line computes gets a place in one of a few blocks. A block is free again after
the last line that reads it, directly or through views. An elementwise op may write its result over
an input that is not read later. The arrays of a stack are placed at equal distances, so that one
call can process them. At the end the whole plan is checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kerascope.backend.arrays import ALIGNMENT, aligned
from kerascope.backend.program.bound import Bound, Fact, Line, dummy_array, is_in_order, may_share
from kerascope.backend.program.custom_ops import is_builtin
from kerascope.backend.program.emit import Kind, Writing
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.stacks import FEWEST, longest_run, origin, writing_of_stack
from kerascope.backend.schedule import slots_of
from kerascope.errors import VerificationError


class Memory:
    """The arrays of a program, and the memory that each of them uses.

    Parameters
    ----------
    bound : Bound
    writings : list of Writing
        One for each line.
    kept : iterable of int
        Slots that are read after the last line.
    placed : dict of int to array
        Slots that already have an array.

    Attributes
    ----------
    arrays : dict of int to array
        The arrays with a fixed place: constants, results in planned memory, and views of these.
    places : set of int
        The slots in `placed`.
    origin : dict of int to int
        For a computed slot, the earlier slot whose memory it reuses.
    n_bytes : int
        The size of all blocks.
    """

    def __init__(
        self,
        bound: Bound,
        writings: Sequence[Writing],
        kept: Iterable[int],
        placed: dict[int, np.ndarray],
    ) -> None:
        self.bound = bound
        self.arrays: dict[int, np.ndarray] = {**bound.constants, **placed}
        for slot, _ in enumerate(bound.schedule.inputs):
            self.arrays.pop(slot, None)  # inputs differ in each call
        self.origin: dict[int, int] = {}
        self.n_bytes = 0
        self.places = set(placed)
        self._roots: dict[int, set[int]] = {}  # slots whose blocks may contain this slot's array
        self._blocks: dict[int, np.ndarray] = {}
        self._free: dict[int, list[tuple[np.ndarray, int]]] = {}  # by size
        self._find_roots(writings)
        dying = self._last_readers(kept)
        for position, (line, writing) in enumerate(zip(bound.lines, writings, strict=True)):
            self._place(line, writing, dying.get(position, []))

    def _find_roots(self, writings: Sequence[Writing]) -> None:
        for line, writing in zip(self.bound.lines, writings, strict=True):
            for slot in line.outputs:
                if writing.kind is Kind.CALL:
                    self._roots[slot] = {slot}
                elif writing.kind is Kind.VIEW:
                    self._roots[slot] = self._roots.get(line.inputs[0], set())
                else:
                    self._roots[slot] = self._shared(line, slot)

    def _shared(self, line: Line, slot: int) -> set[int]:
        """Return the slots whose memory may contain the result of a line that calls `perform`."""
        shared = may_share(self.bound, line, slot)
        return set().union(*(self._roots.get(x, set()) for x in shared))

    def _last_readers(self, kept: Iterable[int]) -> dict[int, list[int]]:
        """Return, by the position of a line, the slots that are read last by that line.

        Their blocks of memory are free afterwards.
        """
        end = len(self.bound.lines)
        last: dict[int, int] = {}
        for position, line in enumerate(self.bound.lines):
            guards = slots_of([line.guards])
            for slot in (*line.op.numbers_read(line.inputs), *line.outputs, *guards):
                for root in self._roots.get(slot, ()):
                    last[root] = position
        for slot in kept:
            for root in self._roots.get(slot, ()):
                last[root] = end
        dying: dict[int, list[int]] = {}
        for root, position in last.items():
            if root not in self.places:
                dying.setdefault(position, []).append(root)
        return dying

    def _place(self, line: Line, writing: Writing, dying: list[int]) -> None:
        # Without facts from the run, a view may fail to be made: then it is not made in advance.
        is_sure = writing.kind is Kind.VIEW and line.outputs[0] in self.bound.facts
        if is_sure and line.inputs[0] in self.arrays:
            inputs = [self.arrays.get(slot) for slot in line.inputs]
            self.arrays[line.outputs[0]] = self._view(line, inputs)
        if writing.kind is Kind.CALL:
            for slot in line.outputs:
                if slot not in self.places:
                    self._give(slot, line, writing, dying)
        for root in dying:
            if root in self._blocks:
                block = self._blocks[root]
                self._free.setdefault(len(block), []).append((block, root))

    def _view(self, line: Line, inputs: list[np.ndarray | None]) -> np.ndarray:
        """Return the view that a line makes; inputs without an array are replaced by zeros."""
        arrays = [
            dummy_array(self.bound.facts[slot].spec) if array is None else array
            for slot, array in zip(line.inputs, inputs, strict=True)
        ]
        return line.op.perform(*arrays)

    def _give(self, slot: int, line: Line, writing: Writing, dying: list[int]) -> None:
        fact = self.bound.facts[slot]
        if writing.can_overwrite:
            for x in dict.fromkeys(line.inputs):
                if x in dying and self._can_overwrite(x, fact, line):
                    dying.remove(x)
                    self._take(slot, self._blocks[x], fact, x)
                    return
        n_bytes = fact.spec.n_bytes
        size = min((n for n in self._free if n_bytes <= n <= 2 * n_bytes + 1024), default=None)
        if size is None:
            self.n_bytes += n_bytes
            self._take(slot, aligned(max(n_bytes, 1)), fact, None)
            return
        block, before = self._free[size].pop()
        if not self._free[size]:
            del self._free[size]
        self._take(slot, block, fact, before)

    def _can_overwrite(self, x: int, fact: Fact, line: Line) -> bool:
        """Return whether a line may write its result over its input `x`, a slot not read later."""
        own = self.bound.facts.get(x)
        if x not in self._blocks or own is None or self._roots.get(x) != {x}:
            return False
        if (own.spec, own.strides) != (fact.spec, fact.strides):
            return False
        others = (y for y in line.inputs if y != x)
        return all(x not in self._roots.get(y, ()) for y in others)

    def _take(self, slot: int, block: np.ndarray, fact: Fact, before: int | None) -> None:
        self._blocks[slot] = block
        self.arrays[slot] = np.ndarray(*fact.spec, block.data, strides=fact.strides)
        if before is not None:
            self.origin[slot] = before


# --- the arrays of a stack ------------------------------------------------------------------------


Places = dict[int, np.ndarray]


class Run(NamedTuple):
    """Adjacent lines of a program that are written as one call: lines of a stack.

    Attributes
    ----------
    lines : list of Line
        The lines of the stack, in the order of the program.
    writing : Writing
        How the call is written.
    arrays : list of array or None
        Inputs and output of all lines, each with an additional first axis; None for an input
        that all lines share.
    """

    lines: list[Line]
    writing: Writing
    arrays: list[np.ndarray | None]


# --- before the memory is planned -----------------------------------------------------------------


def places_for_stacks(plan: Plan, taken: Mapping[int, np.ndarray], kept: Iterable[int]) -> Places:
    """Return places in memory for the slots that stacks read and write.

    Parameters
    ----------
    plan : Plan
    taken : dict of int to array
        The slots that already have a place.
    kept : iterable of int
        Slots that are read after the last line.
    """
    return _Placing(plan, taken, set(kept)).places


class _Placing:
    """Finds places in memory for the inputs and outputs of each stack.

    A view shares the memory of its origin, the array from which it was made. So places are given to
    origins, in their own shapes.
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
        """Return whether the arrays of an operand are or can be at equal distances in memory.

        This must hold in at least `FEWEST` lines of a stack, so that one call can compute them.
        Arrays without a place in memory can still get places at equal distances.
        """
        if len(set(origins)) == 1 or sum(map(self._has_no_place, origins)) >= FEWEST:
            return True
        placed = [[self.places.get(slot, self.taken.get(slot))] for slot in origins]
        return _longest_regular(placed)[1] >= FEWEST

    def _in_order_of_memory(
        self, origins: Sequence[int], operands: Iterable[Sequence[int]]
    ) -> Iterable[int]:
        """Return an operand's distinct slots, in the order in which another operand is in memory.

        NumPy is slower if one operand ascends in memory and the other descends.
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
        """Return slots that can share one place in memory: `slot` first, a slot with a place last.

        Each slot is computed from the next one in the list, by a line that may write its result
        over this input. The list is empty if this is impossible.
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
        is_planned = x in self.places or self._has_no_place(x)
        if not is_planned or x in self.kept or self.readers[x][-1] is not maker:
            return False
        # A reader that is not a call may have kept a view of it.
        kinds = {self.writing_of[id(reader)].kind for reader in self.readers[x]}
        return kinds == {Kind.CALL} and self.bound.facts[x] == self.bound.facts[maker.outputs[0]]

    def _room(self, slots: Sequence[int]) -> Places:
        """Return arrays for these slots in one new block, at equal distances on cache lines."""
        specs = [self.bound.facts[slot].spec for slot in slots]
        distance = -(-max(spec.n_bytes for spec in specs) // ALIGNMENT) * ALIGNMENT
        block = aligned(distance * len(slots))
        return {
            slot: block[at * distance :][: spec.n_bytes].view(spec.dtype).reshape(spec.shape)
            for at, (slot, spec) in enumerate(zip(slots, specs, strict=True))
        }


# --- after the memory is planned ------------------------------------------------------------------


def runs_of(plan: Plan, memory: Memory) -> dict[int, Run]:
    """Return the runs (lines of a stack that are one call), by the position of the first line."""
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
    """Return, for each operand (the inputs, then the output), its slots in all lines of a stack."""
    return list(zip(*[(*line.inputs, *line.outputs) for line in stack], strict=True))


def _longest_regular(rows: Sequence[Sequence[np.ndarray | None]]) -> tuple[int, int]:
    """Return start and length of the longest run of lines whose arrays are at equal distances.

    Each item of `rows` contains the arrays of one line of a stack.
    """
    return longest_run([_gap(before, after) for before, after in itertools.pairwise(rows)])


def _gap(
    before: Sequence[np.ndarray | None], after: Sequence[np.ndarray | None]
) -> tuple[int, ...] | None:
    """Return the distance in bytes from each array in `before` to the one in `after`.

    Return None if two arrays differ in shape, or are not parts of one larger array. Separate arrays
    may have equal distances by chance, and they do not keep each other alive.
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
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _arrays_of_all(
    first: Sequence[np.ndarray | None], second: Sequence[np.ndarray | None], count: int
) -> list[np.ndarray]:
    """Return, for each operand of a stack, one array with its arrays in all `count` lines.

    The lines are the first axis. `first` and `second` are the arrays of the first two lines, whose
    distance in memory is that of all lines.
    """
    pairs = [
        (one, _address(other) - _address(one))
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    return [as_strided(one, (count, *one.shape), (gap, *one.strides)) for one, gap in pairs]


# --- the check of a plan: nothing is read before it is computed or after it is overwritten --------
#
# The planner decides the place of each array. This check is independent of it: it uses only what
# the ops declare and the addresses of the arrays. If it fails, `Programs` warns, and the function
# is interpreted instead.


class Occupant:
    """The content of a place in memory: the array of a slot, from the line that computes it.

    A run consists of lines of a stack that one NumPy call computes together.

    Attributes
    ----------
    slot : int
        The slot of the array.
    start : int
        The address of the first byte of the place.
    made : int
        The position of the line that computes the array. All lines of a run count as its first
        line. -1 for the array of a variable, which exists before the first line.
    read : int
        The position of the line that reads the array last. All lines of a run count as its first
        line.
    reader : int
        As `read`, but with the position of the line itself in a run; -1 if two lines of a run read
        the array.
    """

    __slots__ = ("made", "read", "reader", "slot", "start")

    def __init__(self, slot: int, start: int, made: int) -> None:
        self.slot = slot
        self.start = start
        self.made = self.read = made
        self.reader = -1


def check_plan(
    plan: Plan, memory: Memory, runs: Mapping[int, Run], read_at_the_end: Iterable[int]
) -> None:
    """Raise if a program's plan of memory is wrong.

    Parameters
    ----------
    plan : Plan
    memory : Memory
    runs : dict of int to Run
        Lines that are computed by one call, by the position of the first.
    read_at_the_end : iterable of int
        Slots that are read after the last line.

    Raises
    ------
    VerificationError
        Arrays overlap, or a line reads or overwrites memory at the wrong time.
    """
    check = _Check(plan, memory)
    done_at = {at: first for first, run in runs.items() for at in _positions(first, run)}
    for position, line in enumerate(plan.bound.lines):
        check.visit(position, done_at.get(position, position), line)
    for slot in read_at_the_end:
        for one in check.places.get(slot, ()):
            if check.occupants[one.start] is not one:
                check.refuse(plan.bound.makers[one.slot], "is overwritten before it is returned")
    check.check_overlaps()


def _positions(first: int, run: Run) -> range:
    return range(first, first + len(run.lines))


class _Check:
    """Visits the lines of a program once, and checks their memory.

    Attributes
    ----------
    occupants : dict of int to Occupant
        The current content of each place, by its first byte.
    places : dict of int to list of Occupant
        The places that may contain the array of a slot.
    ends : dict of int to int
        The end of each place, by its first byte.
    """

    def __init__(self, plan: Plan, memory: Memory) -> None:
        self.bound = plan.bound
        self.writings = plan.writings
        self.arrays = memory.arrays
        self.occupants: dict[int, Occupant] = {}
        self.places: dict[int, Sequence[Occupant]] = {}
        self.ends: dict[int, int] = {}
        for slot in plan.slot_of.values():
            self._begin(slot, -1, None)

    def _begin(self, slot: int, when: int, line: Line | None, position: int = -1) -> None:
        """Record that the array of a slot is written.

        Raise if this overwrites an array that is read later.
        """
        array = self.arrays[slot]
        start = _address(array)
        one = Occupant(slot, start, when)
        self.places[slot] = (one,)
        before = self.occupants.get(start)
        if line is not None and before is not None and (before.read >= when or before.made < 0):
            self._check_overwrite(one, before, line, position)
        self.occupants[start] = one
        end = start + array.nbytes
        if end > self.ends.get(start, 0):
            self.ends[start] = end

    def visit(self, position: int, when: int, line: Line) -> None:
        """Raise VerificationError if a line reads or overwrites memory at the wrong time."""
        op, places = line.op, self.places
        read = op.numbers_read(line.inputs) if op.inputs_read_by_shape else line.inputs
        if line.guards:
            read = [*read, *slots_of([line.guards])]
        for slot in read:
            for one in places.get(slot, ()):
                if self.occupants[one.start] is not one:
                    self.refuse(line, "reads memory that was overwritten")
                if one.made >= when:
                    self.refuse(line, "reads an array that is not computed yet")
                one.reader = position if one.read < when or one.reader == position else -1
                one.read = when
        kind = self.writings[position].kind
        for slot in line.outputs:
            if kind is Kind.CALL:
                self._begin(slot, when, line, position)
            else:
                shared = may_share(self.bound, line, slot)
                self._check_declared(line, slot, shared)
                places[slot] = [one for x in shared for one in places.get(x, ())]

    def _check_declared(self, line: Line, slot: int, shared: Sequence[int]) -> None:
        """Raise if a result shared memory with an input, but its op does not declare this."""
        fact = self.bound.facts.get(slot)
        is_told = fact is None or all(x in shared for x in fact.shares)
        if not is_told and is_builtin(line.op):
            self.refuse(line, "shares memory with an input without declaring it")

    def _check_overwrite(self, one: Occupant, before: Occupant, line: Line, position: int) -> None:
        """Raise if a line overwrites an array that is still read, by this line or others.

        But an elementwise line may overwrite an array that only this line still reads.
        """
        facts = self.bound.facts
        was, will = facts.get(before.slot), facts[one.slot]
        is_alike = was is not None and (was.spec, was.strides) == (will.spec, will.strides)
        may_overwrite = is_alike and self.writings[position].can_overwrite
        is_sole = 0 <= before.made < one.made and before.reader == position
        if not (may_overwrite and is_sole):
            self.refuse(line, "overwrites an array that is read at the same time")

    def check_overlaps(self) -> None:
        """Raise VerificationError if two places in memory overlap in part."""
        starts = sorted(start for start, end in self.ends.items() if start < end)
        for start, after in itertools.pairwise(starts):
            if self.ends[start] > after:
                line = self.bound.makers[self.occupants[after].slot]
                self.refuse(line, "overlaps with another array")

    def refuse(self, line: Line, what: str) -> None:
        """Raise a VerificationError that names the op of a line whose memory is wrong."""
        apply = line.step.apply
        raise VerificationError(f"'{apply.name}' = {apply!r} {what}.", step=apply)
