"""What a loop has to do, before it is written down."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from kerascope.backend.program.loop_calls import FIXED, GIVEN, StepCalls
from kerascope.backend.program.loop_forms import (
    with_copies,
    with_dense_copies,
    with_reshaped_views,
    without_unused,
)
from kerascope.backend.program.loop_places import Places, can_be_placed
from kerascope.backend.program.loop_rules import Join, Rewriter
from kerascope.backend.program.loop_terms import Term, terms_of

BLOCK = 1 << 15  # elements of the largest array of a block of steps


class LoopPlan:
    """The calls of a loop, what it gives, and where everything lies.

    Parameters
    ----------
    step : StepCalls
        Rewritten here.
    is_backwards : bool
    wanted : collection of int, optional
        The results of the loop that somebody reads, in the order of Scan's outputs; by default all.

    Attributes
    ----------
    results : list of int
        Slots of the outputs and new states of a step.
    specs_of_results : list of Spec
        Of these and of the terms.
    terms : list of Term
        Those that are wanted.
    handed : set of int
        New states of which nobody reads all steps in one array: each is computed where the next
        step, or the history, has it.
    places : Places
    """

    def __init__(
        self, step: StepCalls, is_backwards: bool, wanted: Collection[int] | None = None
    ) -> None:
        self.step = step
        self.is_backwards = is_backwards
        first_term = step.layout.outputs + step.layout.states
        n_results = len(step.results) + step.layout.states
        self.wanted: Collection[int] = range(n_results) if wanted is None else wanted
        if step.rewrites:
            Rewriter(step)
        without_unused(step)
        with_dense_copies(step)
        with_reshaped_views(step, self._placeable())
        with_copies(step, self._placeable())
        self.results = step.results[:first_term]
        self.specs_of_results = [step.specs[x] for x in step.results]
        terms = enumerate(terms_of(step, first_term, self._placeable()), first_term)
        self.terms: list[Term] = [
            term for number, term in terms if number + step.layout.states in self.wanted
        ]
        n = step.layout.outputs
        outputs = [x for number, x in enumerate(self.results[:n]) if number in self.wanted]
        self._kept = [*outputs, *self.results[n:]]
        step.results = [*self._kept, *(x for term in self.terms for x in term.read)]
        without_unused(step)
        self.handed = self._handed(set(outputs))
        self.places = self._places()

    def _placeable(self) -> set[int]:
        """Return the slots that can be computed where they are wanted."""
        calls = [call for call in self.step.calls if can_be_placed(self.step, call)]
        return {slot for call in calls for slot in call.outputs}

    def _handed(self, outputs: set[int]) -> set[int]:
        states = self.results[self.step.layout.outputs :]
        read = outputs.union(*(term.wholes for term in self.terms))
        for call in self.step.calls:
            if isinstance(call.op, Join) and call.op.has_gaps:
                read.update(call.outputs)
        return {x for x in states if states.count(x) == 1 and x not in read}

    def _places(self) -> Places:
        step = self.step
        summed = {x for term in self.terms for x in term.summed}
        wholes = {x for x in self._kept if step.place_of[x] != FIXED}
        wholes.update(x for term in self.terms for x in term.wholes)
        for call in reversed(step.calls):
            if call.op.is_view and call.outputs[0] in wholes:
                wholes.update(x for x in call.inputs if step.place_of[x] == GIVEN)
        specs = [step.specs[x] for call in step.calls for x in call.outputs]
        largest = max([int(np.prod(spec.shape)) for spec in specs], default=1)
        return Places(step, wholes, max(1, BLOCK // max(largest, 1)), summed)
