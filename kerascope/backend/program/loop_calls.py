"""One step of a loop as a list of calls, and what of it can be done before the loop.

A loop is an op whose inside is again a schedule: that of one step. It is bound to shapes like any
other. Then each call is put into one of three places: what is FIXED needs only what is the same at
each step; what is GIVEN needs sequences too, and can be done for some steps at once; only the rest
is left for each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Op, Spec
from kerascope.backend.ops.broadcasting import Cast
from kerascope.backend.ops.elementwise import Clip
from kerascope.backend.ops.indexing import GetItem, Span
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.ops.nn import Sigmoid
from kerascope.backend.ops.shaping import ExpandDims, Reshape, ReshapeLike
from kerascope.backend.program.bound import Bound
from kerascope.backend.program.rules import rules_named
from kerascope.backend.program.trial import Facts, note, stand_in
from kerascope.backend.schedule import Schedule

FIXED, GIVEN, STEP = range(3)
OWN_OPS = "kerascope.backend.ops."


@dataclass(eq=False)
class Call:
    """One op on slots.

    Attributes
    ----------
    op : Op
    inputs : list of int
    outputs : tuple of int
    """

    op: Op
    inputs: list[int]
    outputs: tuple[int, ...]


class Copy(Op):
    """The same numbers in memory of their own."""

    def infer_shape(self, x: Any) -> Any:
        """Return the shape of `x`."""
        return x.shape

    def perform(self, x: Any) -> Any:
        """Return a copy."""
        return np.array(x)

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> str:
        """Return the text of a copy."""
        return "np.copyto({out}, {0})"


class Layout(NamedTuple):
    """How many inputs and results of a step are of which kind, in this order.

    Attributes
    ----------
    sequences, states : int
        Of the inputs; the others are the same at each step.
    outputs : int
        Of the results; so many new states as there are states follow, then the terms.
    """

    sequences: int
    states: int
    outputs: int


class StepCalls:
    """The calls of one step, for inputs of certain shapes.

    Parameters
    ----------
    schedule : Schedule
        Of one step.
    layout : Layout
    inputs : list of Spec
        Of one step: slices of the sequences, states, others.
    rewrites : bool
        Whether numbers may be rounded in another order.

    Attributes
    ----------
    calls : list of Call
        Each after those that it needs.
    specs : dict of int to Spec
    place_of : dict of int to int
        Of each slot: FIXED, GIVEN or STEP.
    constants : dict of int to array
    results : list of int
        Slots of outputs, new states and terms.
    """

    def __init__(
        self, schedule: Schedule, layout: Layout, inputs: Sequence[Spec], rewrites: bool = True
    ) -> None:
        self.schedule = schedule
        self.rewrites = rewrites
        self.layout = layout
        arrays = [np.zeros(*spec) for spec in inputs]
        bound = Bound(schedule, arrays, trial(schedule, arrays), rules_named())
        self.bound = bound
        self.constants = bound.constants
        self.results = bound.results
        self.calls = [
            Call(line.op, [bound.same(slot) for slot in line.inputs], line.outputs)
            for line in bound.lines
        ]
        self.specs: dict[int, Spec] = {slot: fact.spec for slot, fact in bound.facts.items()}
        self.place_of: dict[int, int] = dict.fromkeys(self.constants, FIXED)
        for call in self.calls:
            if isinstance(call.op, ReshapeLike) and call.outputs[0] in self.specs:
                call.op = Reshape(self.specs[call.outputs[0]].shape)
                call.inputs = call.inputs[:1]
            for number in call.op.inputs_read_by_shape:
                call.inputs[number] = self._stand_in(call.inputs[number])
        for slot in range(len(inputs)):
            is_state = layout.sequences <= slot < layout.sequences + layout.states
            self.place_of[slot] = GIVEN if slot < layout.sequences else STEP if is_state else FIXED
        for call in self.calls:
            self.sort(call)

    def _stand_in(self, slot: int) -> int:
        """Return a constant of the shape that a slot has: of some inputs only that counts."""
        if slot not in self.specs:
            return slot
        constant = self.bound.new_constant(stand_in(self.specs[slot]))
        self.specs[constant], self.place_of[constant] = self.specs[slot], FIXED
        return constant

    @property
    def is_whole(self) -> bool:
        """Tell whether all shapes are known, and states keep theirs."""
        slots = {slot for call in self.calls for slot in (*call.inputs, *call.outputs)}
        if not slots.union(self.results) <= self.specs.keys():
            return False
        first = self.layout.sequences
        after = self.results[self.layout.outputs : self.layout.outputs + self.layout.states]
        return all(self.specs[first + k] == self.specs[new] for k, new in enumerate(after))

    def sort(self, call: Call) -> None:
        """Find out where a call belongs."""
        places = [self.place_of[slot] for slot in call.inputs]
        own = max(places, default=FIXED)
        if own == GIVEN and not self._can_be_given(call):
            own = STEP
        self.place_of.update(dict.fromkeys(call.outputs, own))

    def _can_be_given(self, call: Call) -> bool:
        """Tell whether a call can be made for many steps at once, with time as first axis."""
        if len(call.outputs) != 1 or call.outputs[0] not in self.specs:
            return False
        given = [x for x in call.inputs if self.place_of[x] == GIVEN]
        rank = len(self.specs[call.outputs[0]].shape)
        ranks = [len(self.specs[x].shape) for x in given]
        if isinstance(call.op, (GetItem, ExpandDims)):
            return True
        if isinstance(call.op, Dot):
            is_left = self.place_of[call.inputs[1]] == FIXED
            return (
                self.rewrites
                and is_left
                and ranks == [2]
                and len(self.specs[call.inputs[1]].shape) == 2
            )
        is_elementwise = call.op.ufunc is not None or isinstance(call.op, (Sigmoid, Clip, Cast))
        is_narrow = any(self.specs[x].dtype == np.float16 for x in call.inputs)
        return is_elementwise and not is_narrow and all(n == rank for n in ranks)

    def new_slot(self, spec: Spec, place: int) -> int:
        """Return a further slot."""
        slot = self.bound.new_slot()
        self.specs[slot], self.place_of[slot] = spec, place
        return slot

    def read_slots(self) -> set[int]:
        """Return the slots that a call reads."""
        return {slot for call in self.calls for slot in call.inputs}


def with_time(op: Op) -> Op:
    """Return the op that does for arrays of many steps what this one does for one step."""
    if isinstance(op, GetItem):
        return GetItem((Span(), *op.index))
    if isinstance(op, ExpandDims):
        return ExpandDims(tuple(axis + 1 for axis in op.axes))
    return op


def trial(schedule: Schedule, arrays: Sequence[np.ndarray]) -> Facts:
    """Perform a step once, and return what its arrays look like."""
    facts: Facts = {}
    values = schedule.start(arrays)
    with np.errstate(all="ignore"):
        for step in schedule.steps:
            result = step.perform(*[values[slot] for slot in step.inputs])
            several = (result,) if len(step.outputs) == 1 else result
            for slot, array in zip(step.outputs, several, strict=True):
                values[slot] = array
            note(facts, step, values)
    return facts


def can_be_written(schedule: Schedule) -> bool:
    """Tell whether a step may be tried on zeros and written down.

    Not one in which it depends on numbers what is computed, or whose ops do more than compute.
    """
    ops = [step.apply.op for step in schedule.steps]
    are_own = all(type(op).__module__.startswith(OWN_OPS) and op.is_pure for op in ops)
    return are_own and not any(step.guards for step in schedule.steps)
