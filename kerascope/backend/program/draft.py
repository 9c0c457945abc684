"""A draft: all that is known of a program while it is being written."""

from __future__ import annotations

from collections.abc import Sequence

from kerascope.backend.program.checked import check_plan
from kerascope.backend.program.flat_text import FlatText, Homes, settled
from kerascope.backend.program.memory import Memory
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.source import Source
from kerascope.backend.program.stack_places import places_for_stacks, runs_of


class Draft:
    """Writes a program from its plan.

    Of a draft the program keeps the code and the arrays alone. Who asks what became of each step,
    or where the time goes, gets another draft, which says the same.

    Parameters
    ----------
    plan : Plan
    homes : dict
        Where the variables of the function lie; filled.
    name : str
        Of the function.

    Attributes
    ----------
    plan : Plan
    memory : Memory
    source : Source
    name : str
    n_bytes : int
        How much memory is planned.
    """

    def __init__(self, plan: Plan, homes: Homes, name: str) -> None:
        self.plan = plan
        self.name = name
        computed = plan.slots_in_planned_memory
        flats: list[FlatText] = []
        placed: set[int] = set()
        for group in plan.groups:
            constants = plan.bound.constants
            flat = FlatText(group, homes, computed, self._shape_of, placed, constants)
            placed.update(flat.places)
            flats.append(flat)
        for commit in plan.commits.values():
            if commit.variable.is_lent:
                settled(homes, [commit.variable])  # a home that all programs know
        places = {slot: v.room for v, slot in plan.slot_of.items()}
        for flat in flats:
            places.update(flat.places)
        kept = _slots_read_at_the_end(plan, flats)
        stacked = places_for_stacks(plan, places, kept)
        places.update(stacked)
        self.memory = Memory(plan.bound, plan.writings, kept, places)
        runs = runs_of(plan, self.memory)
        check_plan(plan, self.memory, runs, kept)
        self.source = Source(plan, self.memory, flats, runs, name)
        apart = {id(array): array.nbytes for array in stacked.values()}  # some slots share a place
        self.n_bytes = self.memory.n_bytes + self.source.n_bytes + sum(apart.values())

    def _shape_of(self, slot: int) -> tuple[int, ...]:
        return self.plan.bound.facts[slot].spec.shape


def _slots_read_at_the_end(plan: Plan, flats: Sequence[FlatText]) -> list[int]:
    """Return the slots that are read after the last line: returned, written, or asked about."""
    return [
        *plan.outputs,
        *(commit.new_slot for commit in plan.commits.values()),
        *(slot for flat in flats for _, slot in flat.copies),
        *plan.scalars_of_groups,
        *plan.conditions_at_the_end,
    ]
