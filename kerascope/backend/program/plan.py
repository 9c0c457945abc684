"""The plan of a program: its ops, outputs and new values, before memory is assigned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kerascope.backend.program.bound import Bound, Facts, Line
from kerascope.backend.program.emit import Kind, Writing, writing_of
from kerascope.backend.program.flat import Group, find_groups
from kerascope.backend.program.rules import STACK_EQUAL, rules_named
from kerascope.backend.program.stacks import find_stacks, stretch_rows
from kerascope.backend.schedule import Guards, Schedule, slots_of
from kerascope.backend.variables import Variable


class Commit(NamedTuple):
    """A new value that is copied into a variable at the end of a call.

    Attributes
    ----------
    variable : Variable
        The variable that gets the new value.
    new_slot : int
        The slot of the new value.
    guards : Guards
        The conditions under which the value is copied, if they are known only at run time.
    is_at_risk : bool
        Whether another commit may overwrite the value in the slot before it is copied.
    """

    variable: Variable
    new_slot: int
    guards: Guards
    is_at_risk: bool


class Plan:
    """The lines of a program, its outputs and its new values.

    Parameters
    ----------
    schedule : Schedule
    variables : list of Variable
        The variables that a call writes, in the order of the schedule's results.
    arrays : list of array
        Inputs with the shapes for which the program is made.
    facts : dict
        The `Fact`s of an interpreted run with such inputs, by slot.
    rewrites : list of str, optional
        The names of the rules to use; by default all.

    Attributes
    ----------
    bound : Bound
    groups : list of Group
        Weights that are updated together.
    stacks : list of list of Line
        Lines that may be written as one call.
    writings : list of Writing
        How each line of `bound` is written.
    outputs : list of int
        The slots of the outputs.
    commits : dict of int to Commit
        The new values that are copied, by the slot of the variable.
    """

    def __init__(
        self,
        schedule: Schedule,
        variables: Sequence[Variable],
        arrays: Sequence[Any],
        facts: Facts,
        rewrites: Sequence[str] | None = None,
    ) -> None:
        self.bound = bound = Bound(schedule, arrays, facts, rules_named(rewrites))
        n = schedule.n_outputs
        self.outputs = bound.results[:n]
        new_slots = dict(zip(variables, bound.results[n:], strict=True))
        guards = self._open_guards(new_slots)
        always = {v: slot for v, slot in new_slots.items() if guards.get(v) == ()}
        self.groups: list[Group] = find_groups(bound, always, self.outputs)
        self.stacks: list[list[Line]] = []
        if rewrites is None or STACK_EQUAL in rewrites:
            stretch_rows(bound, self.groups)
            self.stacks = find_stacks(bound)
        self.writings: list[Writing] = [writing_of(bound, line) for line in bound.lines]
        together = {v for group in self.groups for v in group.written}
        self.slot_of = self._slots_of_variables(variables)
        computed = self.slots_in_planned_memory
        self.commits = {
            self.slot_of[v]: Commit(v, slot, guards[v], slot not in computed)
            for v, slot in new_slots.items()
            if v in guards and v not in together
        }
        self.written = {*together, *(commit.variable for commit in self.commits.values())}

    def _open_guards(self, new_slots: Mapping[Variable, int]) -> dict[Variable, Guards]:
        """Return, for each variable that may be written, the conditions for writing it.

        They are guards, without the conditions whose truth is already known.
        """
        followers = self.bound.schedule.guards_of_followers
        found: dict[Variable, Guards] = {}
        for v in new_slots:
            if v not in followers:
                found[v] = ()
            elif followers[v]:
                guards = self.bound.open_guards(followers[v])
                if guards is not None:
                    found[v] = guards
        return found

    def _slots_of_variables(self, variables: Sequence[Variable]) -> dict[Variable, int]:
        """Return the slot of each variable; a new slot if it is written but never read."""
        slots = {variable: slot for slot, variable in self.bound.schedule.variables}
        for v in variables:
            if v not in slots:
                slots[v] = self.bound.new_slot()
        return slots

    @property
    def slots_in_planned_memory(self) -> set[int]:
        """The slots that a line computes into planned memory."""
        lines = zip(self.bound.lines, self.writings, strict=True)
        return {x for line, own in lines if own.kind is Kind.CALL for x in line.outputs}

    @property
    def scalars_of_groups(self) -> list[int]:
        """The slots of scalars that the groups read, such as the learning rate."""
        parts = [group.parts[0] for group in self.groups]
        refs = [ref for part in parts for several in part.refs for ref in several]
        return [ref.place for ref in refs if ref.kind == "scalar"]

    @property
    def conditions_at_the_end(self) -> list[int]:
        """The slots of the conditions under which new values are written at the end of a call."""
        return list(slots_of(commit.guards for commit in self.commits.values()))

    def is_at_risk(self, slot: int) -> bool:
        """Return whether the content of a slot may change while the variables are written."""
        is_fed = slot < len(self.bound.schedule.inputs)
        if is_fed or slot in self.bound.constants or slot in self.slots_in_planned_memory:
            return False
        variable = next((v for v, own in self.slot_of.items() if own == slot), None)
        return variable is None or variable in self.written
