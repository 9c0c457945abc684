"""The check of a plan: nothing is read before it is made, nor after something else lies there.

The planner decides where everything lies. Here that is looked at once more, from what the ops
declare and from the addresses that came out, and from nothing that the planner has found out on its
way. A program whose plan does not hold is not run: `Programs` says so, and its function is stepped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from kerascope.backend.program.bound import Line, may_share
from kerascope.backend.program.foreign import is_own
from kerascope.backend.program.kernels import Kind
from kerascope.backend.program.memory import Memory
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.stack_places import Run
from kerascope.errors import VerificationError


class Holding:
    """What lies at a place: the numbers of a slot, from the line that makes them on.

    Attributes
    ----------
    slot : int
    start : int
        Its first byte.
    made : int
        At which line; those of a run are done at once, when the first one is. -1: it is a
        variable's, and stays.
    read, reader : int
        When it was read last, and by which line; -1 for two lines of one run.
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
    """Raise unless the plan of a program holds.

    Parameters
    ----------
    plan : Plan
    memory : Memory
    runs : dict of int to Run
        Lines that are done at once, by the position of the first.
    read_at_the_end : iterable of int
        Slots.

    Raises
    ------
    VerificationError
        It does not; the message says where.
    """
    check = _Check(plan, memory)
    done_at = {at: first for first, run in runs.items() for at in _positions(first, run)}
    for position, line in enumerate(plan.bound.lines):
        check.go_through(position, done_at.get(position, position), line)
    for slot in read_at_the_end:
        for one in check.places.get(slot, ()):
            if check.holding[one.start] is not one:
                check.refuse(plan.bound.makers[one.slot], "is written over, though it is returned")
    check.look_at_neighbours()


def _positions(first: int, run: Run) -> range:
    return range(first, first + len(run.lines))


class _Check:
    """Goes through the lines once.

    Attributes
    ----------
    holding : dict of int to Holding
        What lies at each place, by its first byte.
    places : dict of int to list of Holding
        Where the array of a slot may lie.
    ends : dict of int to int
        Where each place ends, by its first byte.
    """

    def __init__(self, plan: Plan, memory: Memory) -> None:
        self.bound = plan.bound
        self.writings = plan.writings
        self.arrays = memory.arrays
        self.holding: dict[int, Holding] = {}
        self.places: dict[int, Sequence[Holding]] = {}
        self.ends: dict[int, int] = {}
        for slot in plan.slot_of.values():
            self._begin(slot, -1, None)

    def _begin(self, slot: int, when: int, line: Line | None, position: int = -1) -> None:
        """Let a slot lie where its array does."""
        array = self.arrays[slot]
        start: int = array.__array_interface__["data"][0]
        one = Holding(slot, start, when)
        self.places[slot] = (one,)
        before = self.holding.get(start)
        if line is not None and before is not None and (before.read >= when or before.made < 0):
            self._check_lies_over(one, before, line, position)
        self.holding[start] = one
        end = start + array.nbytes
        if end > self.ends.get(start, 0):
            self.ends[start] = end

    def go_through(self, position: int, when: int, line: Line) -> None:
        """Look at what a line reads and where its results lie."""
        op, places = line.op, self.places
        read = op.numbers_read(line.inputs) if op.inputs_read_by_shape else line.inputs
        if line.guards:
            read = [*read, *(slot for conjunction in line.guards for slot, _ in conjunction)]
        for slot in read:
            for one in places.get(slot, ()):
                if self.holding[one.start] is not one:
                    self.refuse(line, "reads what something else lies over")
                if one.made >= when:
                    self.refuse(line, "reads what is not computed yet")
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
        """Refuse what shared memory in the run before, and does not say so."""
        fact = self.bound.facts.get(slot)
        if fact is not None and not shared_in(fact.shares, shared) and is_own(line.op):
            self.refuse(line, "lies in memory of an input, and does not declare it")

    def _check_lies_over(self, one: Holding, before: Holding, line: Line, position: int) -> None:
        """Refuse to write over what is read at once, but element by element by the line itself."""
        facts = self.bound.facts
        was, will = facts.get(before.slot), facts[one.slot]
        is_alike = was is not None and (was.spec, was.strides) == (will.spec, will.strides)
        may_overwrite = is_alike and self.writings[position].can_overwrite
        is_sole = 0 <= before.made < one.made and before.reader == position
        if not (may_overwrite and is_sole):
            self.refuse(line, "is written over what is read at the same time")

    def look_at_neighbours(self) -> None:
        """Refuse places that begin in the middle of others."""
        starts = sorted(start for start, end in self.ends.items() if start < end)
        for start, after in itertools.pairwise(starts):
            if self.ends[start] > after:
                line = self.bound.makers[self.holding[after].slot]
                self.refuse(line, "lies in the middle of something else")

    def refuse(self, line: Line, what: str) -> None:
        """Raise."""
        apply = line.step.apply
        raise VerificationError(f"'{apply.name}' = {apply!r} {what}", step=apply)


def shared_in(some: Iterable[int], all_of: Sequence[int]) -> bool:
    """Tell whether some things are all among others."""
    return all(one in all_of for one in some)
