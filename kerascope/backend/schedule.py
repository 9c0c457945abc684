"""The schedule of a function: which ops to perform, in which order, and where each array lies.

Every tensor of the function gets a *slot*, a place in one list of arrays. A step performs one op:
it takes arrays from its input slots and puts the result into its output slots. The order and the
slots are fixed once, when the function is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Apply, Constant, Placeholder, Tensor, Variable
from kerascope.backend.locks import LOCKS
from kerascope.backend.needs import ALWAYS, NEVER, Need, known_before, needs_of, simplified
from kerascope.backend.phases import Phase, in_phases, phases_of
from kerascope.backend.program.foreign import is_ours, on_read_only
from kerascope.backend.traversal import applies_in_order
from kerascope.errors import ArgumentError, DisconnectedGraphError

Guards = tuple[tuple[tuple[int, bool], ...], ...]


def is_needed(guards: Guards, values: Sequence[Any]) -> bool:
    """Tell whether all of some conjunction holds, by the values of their conditions."""
    for conjunction in guards:
        for slot, wanted in conjunction:
            if bool(values[slot]) is not wanted:
                break
        else:
            return True
    return False


class Reading(Enum):
    """Which array of a variable a call computes with."""

    BORROWED = "its own, which is lent and never changes: somebody may keep it"
    COPIED = "a copy: another thread may write the variable"
    IN_PLACE = "its own, which nobody writes and nobody keeps"


def read(variable: Variable, reading: Reading) -> np.ndarray:
    """Return the array of a variable."""
    if reading is Reading.IN_PLACE:
        return variable.room
    return variable.get_value(borrow=reading is Reading.BORROWED)


class Step(NamedTuple):
    """One op of the schedule.

    Attributes
    ----------
    apply : Apply
        The call in the op graph.
    inputs, outputs : tuple of int
        Slots.
    last_uses : tuple of int
        Slots that no later step reads: their arrays are let go.
    guards : tuple
        When the step is needed: any of these conjunctions, each of pairs (slot of a condition, what
        it must be). Empty: always.
    phase : Phase
    """

    apply: Apply
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    last_uses: tuple[int, ...]
    guards: Guards = ()
    phase: Phase = Phase.FORWARD

    @property
    def perform(self) -> Callable[..., Any]:
        """The op's `perform`."""
        return self.apply.op.perform

    def __repr__(self) -> str:
        return repr(self.apply)


class ForeignStep(Step):
    """A step of somebody else's op: it cannot write into the arrays that it is given."""

    __slots__ = ()

    @property
    def perform(self) -> Callable[..., Any]:
        """The op's `perform`, on read-only views."""
        return on_read_only(self.apply.op)


class Schedule:
    """Steps and slots for computing `results` from `inputs`.

    Parameters
    ----------
    inputs : list of Tensor
        Fed at each call. Any tensor can be fed; what computes it is then left out.
    results : list of Tensor
        Outputs and new values of variables.
    followers : dict of Variable to Tensor, optional
        New values of variables that change only if a step has read them.
    n_outputs : int, optional
        How many of the results are outputs; the others are new values. By default all.

    Attributes
    ----------
    steps : list of Step
    slots : dict of Tensor to int
    variables : list of (int, Variable)
        Read at the start of each call.
    guards_of_followers : dict of Variable to Guards
        When a follower is to be written: if any of the conjunctions holds; with none, never.

    Raises
    ------
    DisconnectedGraphError
        A result needs a placeholder that is not among the inputs.
    ArgumentError
        An input is given twice.
    """

    def __init__(
        self,
        inputs: Sequence[Tensor],
        results: Sequence[Tensor],
        followers: Mapping[Variable, Tensor] = MappingProxyType({}),
        n_outputs: int | None = None,
    ) -> None:
        self.inputs = list(inputs)
        self.n_outputs = len(results) if n_outputs is None else n_outputs
        if len(set(self.inputs)) != len(self.inputs):
            raise ArgumentError(f"function: an input is given twice: {self.inputs}. Leave one out.")
        self.slots: dict[Tensor, int] = {}
        for tensor in inputs:
            self._slot(tensor)
        self.variables: list[tuple[int, Variable]] = []
        self.fixed: list[tuple[int, np.ndarray]] = []
        applies = applies_in_order(results, fed=inputs)
        phases = phases_of(applies, results[: self.n_outputs])
        applies = in_phases(applies, phases)
        for apply in applies:
            for x in apply.inputs:
                self._admit(x, apply)
            for y in apply.outputs:
                self._slot(y)
        for tensor in results:
            self._admit(tensor, None)
        self.results = [self.slots[tensor] for tensor in results]
        self.guards_of_followers = self._guard_followers(followers, applies, results)
        needs = needs_of(applies, results)
        applies = [apply for apply in applies if needs[apply] != NEVER]
        self.steps = self._with_last_uses(applies, self._guards(applies, needs), phases)

    def _slot(self, tensor: Tensor) -> int:
        return self.slots.setdefault(tensor, len(self.slots))

    def _admit(self, tensor: Tensor, apply: Apply | None) -> None:
        """Give a slot to a tensor that is read, and find out where its array will come from."""
        if tensor in self.slots:
            return
        if isinstance(tensor, Variable):
            self.variables.append((self._slot(tensor), tensor))
        elif isinstance(tensor, Constant):
            self.fixed.append((self._slot(tensor), tensor.value))
        elif isinstance(tensor, Placeholder) and tensor.default is not None:
            self.fixed.append((self._slot(tensor), np.asarray(tensor.default, tensor.dtype)))
        else:
            needed_by = f"{apply!r}" if apply is not None else "an output"
            listed = ", ".join(x.name for x in self.inputs) or "none"
            raise DisconnectedGraphError(
                f"function: '{tensor.name}' is needed by {needed_by} but is not fed; "
                f"inputs are: {listed}. Add it to the inputs.",
                subject=tensor,
            )

    def _guards(self, applies: Sequence[Apply], needs: Mapping[Apply, Need]) -> list[Guards]:
        """Return the guards of each step, by conditions that are known when it is reached."""
        positions = {apply: position for position, apply in enumerate(applies)}
        known = [
            known_before(needs[apply], position, positions) for apply, position in positions.items()
        ]
        return [() if need == ALWAYS else self._in_slots(need) for need in known]

    def _in_slots(self, need: Need) -> Guards:
        listed = [
            tuple(sorted((self.slots[x], wanted) for x, wanted in conjunction))
            for conjunction in need
        ]
        return tuple(sorted(listed))

    def _guard_followers(
        self,
        followers: Mapping[Variable, Tensor],
        applies: Sequence[Apply],
        results: Iterable[Tensor],
    ) -> dict[Variable, Guards]:
        """Return when each follower is written: when a step that reads its variable is needed."""
        own = set(followers.values())
        needs = needs_of(applies, [tensor for tensor in results if tensor not in own])
        read: dict[Variable, Need] = dict.fromkeys(followers, NEVER)
        for apply in applies:
            for x in apply.inputs:
                if isinstance(x, Variable) and x in read:
                    read[x] |= needs[apply]
        return {v: self._in_slots(simplified(need)) for v, need in read.items()}

    def _with_last_uses(
        self,
        applies: Sequence[Apply],
        guards: Sequence[Guards],
        phases: Mapping[Apply, Phase],
    ) -> list[Step]:
        kept = set(self.results)
        kept.update(_slots_of(self.guards_of_followers.values()))
        steps: list[Step] = []
        equal: dict[tuple[int, ...], tuple[int, ...]] = {}  # one for all, for there are very many
        for apply, own in zip(reversed(applies), reversed(guards), strict=True):
            inputs = tuple(self.slots[x] for x in apply.inputs)
            outputs = tuple(self.slots[y] for y in apply.outputs)
            used = dict.fromkeys((*inputs, *outputs, *_slots_of([own])))
            last = tuple(slot for slot in used if slot not in kept)
            kept.update(last)
            inputs, outputs, last = (equal.setdefault(x, x) for x in (inputs, outputs, last))
            kind = Step if is_ours(type(apply.op)) else ForeignStep
            steps.append(kind(apply, inputs, outputs, last, own, phases[apply]))
        steps.reverse()
        return steps

    def start(self, arrays: Sequence[np.ndarray], reading: Reading = Reading.BORROWED) -> list[Any]:
        """Return the slots at the start of a call: inputs, constants and variables filled in."""
        values: list[Any] = [None] * len(self.slots)
        values[: len(arrays)] = arrays
        for slot, array in self.fixed:
            values[slot] = array
        # All variables are those of one step.
        with LOCKS.steps if reading is Reading.BORROWED else LOCKS.writing:
            for slot, variable in self.variables:
                values[slot] = read(variable, reading)
        return values

    def foreign(self, values: list[Any]) -> set[int]:
        """Return the ids of the arrays that belong to callers, variables and constants."""
        ids = {id(values[slot]) for slot in range(len(self.inputs))}
        ids.update(id(values[slot]) for slot, _ in self.variables)
        ids.update(id(array) for _, array in self.fixed)
        return ids


def _slots_of(several: Iterable[Guards]) -> Iterator[int]:
    for guards in several:
        for conjunction in guards:
            for slot, _ in conjunction:
                yield slot
