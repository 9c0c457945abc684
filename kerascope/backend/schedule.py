"""The schedule of a function: the order of its ops, and a slot for each array.

Every tensor of the function gets a *slot*, an index in one list of arrays. A step performs one op:
it reads the arrays in its input slots and stores the result in its output slots. The order and the
slots are fixed once, when the function is made. Theano's linkers and TensorFlow's sessions do the
same.

Not every op is performed in every call. `K.switch(condition, x, y)` with a scalar condition uses
one of its branches, and ops that only the other branch needs are not computed in this call: in test
mode Dropout draws nothing and BatchNormalization takes no statistics. A step stores these
conditions as its guards; `needs.py` derives them.

The order is that of the phases of a training step (`in_phases`): forward, loss, metrics, then
backward, then the update. A depth-first search from the results would compute one weight's
gradient, then its new value, then the next weight's gradient. The numbers would be the same, but
textbooks explain backpropagation phase by phase, and many small new values can be computed together
only if they follow each other.

Lessons: chapters 11 (the steps of a function) and 14 (update tuples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Apply, Constant, Placeholder, Tensor, applies_in_order
from kerascope.backend.needs import ALWAYS, NEVER, Need, known_before, needs_of, simplified
from kerascope.backend.program.custom_ops import is_builtin_class, on_read_only
from kerascope.backend.variables import ReadMode, Variable, read_together
from kerascope.errors import ArgumentError, DisconnectedGraphError

# --- the phases of a training step ----------------------------------------------------------------


class Phase(IntEnum):
    """A phase of a training step; phases with smaller numbers run first.

    Examples
    --------
    >>> Phase.LOSS < Phase.CLIP, Phase.LOSS.word, Phase.CLIP.word
    (True, 'loss', 'backward')
    """

    FORWARD = 0
    LOSS = 1
    METRICS = 2
    BACKWARD = 3
    CLIP = 4
    UPDATE = 5

    @property
    def word(self) -> str:
        """The name of the phase in events, where clipping is part of the backward phase."""
        return "backward" if self is Phase.CLIP else self.name.lower()


PHASE_OF_SCOPE = {
    "gradients": Phase.BACKWARD,
    "clip": Phase.CLIP,
    "update": Phase.UPDATE,
    "loss": Phase.LOSS,
}


def phase_of_scope(scope: str) -> Phase:
    """Return the phase of the ops in a scope, from its name; by default the forward phase.

    Examples
    --------
    >>> phase_of_scope("dense_1"), phase_of_scope("dense_1_loss"), phase_of_scope("gradients/x")
    (<Phase.FORWARD: 0>, <Phase.LOSS: 1>, <Phase.BACKWARD: 3>)
    """
    outer = _outer(scope)
    if outer in PHASE_OF_SCOPE:
        return PHASE_OF_SCOPE[outer]
    if outer.endswith("_metrics"):
        return Phase.METRICS
    is_loss = outer.endswith("_loss") or "_regularizer" in scope
    return Phase.LOSS if is_loss else Phase.FORWARD


def phases_of(applies: Sequence[Apply], outputs: Iterable[Tensor]) -> dict[Apply, Phase]:
    """Return the phase of each call. A call is never in an earlier phase than its inputs.

    Calls that only new values need belong to the update phase, such as those of a layer's moving
    averages. Gradients keep their own phase, although only new values need them.

    Parameters
    ----------
    applies : list of Apply
        In order of computation.
    outputs : list of Tensor
        The outputs of the function.
    """
    needed = {tensor.owner for tensor in outputs}
    own: dict[Apply, Phase] = {}
    for apply in reversed(applies):
        own[apply] = phase_of_scope(apply.scope.name)
        if apply in needed or own[apply] in (Phase.BACKWARD, Phase.CLIP):
            needed.update(x.owner for x in apply.inputs)
        else:
            own[apply] = Phase.UPDATE
    phases: dict[Apply, Phase] = {}
    for apply in applies:
        before = [phases[x.owner] for x in apply.inputs if x.owner in phases]
        phases[apply] = max([own[apply], *before])
    return phases


def in_phases(applies: Sequence[Apply], phases: dict[Apply, Phase]) -> list[Apply]:
    """Return the calls sorted by phase; each call still comes after the calls that it needs.

    The backward phase starts with all gradients of the last layer. Inside the other phases the
    order is unchanged.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> from kerascope.backend.graph import applies_in_order
    >>> x, y = K.variable(1.0), K.variable(2.0)
    >>> loss = K.square(x * y)
    >>> slopes = K.gradients(loss, [x, y])
    >>> with K.name_scope("update"):
    ...     moved = [v - g for v, g in zip([x, y], slopes)]
    >>> applies = applies_in_order([loss, *moved])
    >>> order = in_phases(applies, phases_of(applies, [loss]))
    >>> [apply.scope.name.partition("/")[0] or apply.op.name for apply in order]
    ['multiply', 'square', 'gradients', ..., 'gradients', 'update', 'update']
    """
    parts: dict[Phase, list[Apply]] = {phase: [] for phase in Phase}
    for apply in applies:
        parts[phases[apply]].append(apply)
    before = [*parts[Phase.FORWARD], *parts[Phase.LOSS], *parts[Phase.METRICS]]
    parts[Phase.BACKWARD] = _last_first(parts[Phase.BACKWARD], before)
    return [apply for part in parts.values() for apply in part]


def _last_first(applies: Sequence[Apply], before: Sequence[Apply]) -> list[Apply]:
    """Return the calls of the backward phase, those of the last layer first.

    The order is built from its end: the next call is one whose readers are all placed already. Of
    several such calls, one of the first layer is taken. Inside a layer, and without layers, the
    order is that of a depth-first search.

    Examples
    --------
    The gradient of `second`'s variable comes last in a depth-first search. Here it comes before
    the gradients of `first`:

    >>> from kerascope import backend as K
    >>> from kerascope.backend.graph import applies_in_order
    >>> x, v, w = K.variable(1.0), K.variable(2.0), K.variable(3.0)
    >>> with K.name_scope("first"):
    ...     hidden = K.exp(x * v)
    >>> with K.name_scope("second"):
    ...     y = K.square(hidden * w)
    >>> forward = applies_in_order([y])
    >>> found = applies_in_order(K.gradients(y, [v, w]))
    >>> backward = [apply for apply in found if apply not in forward]
    >>> [apply.scope.name.partition("/")[2] for apply in backward]
    ['', 'second', 'second', 'second', 'first', 'first', 'second']
    >>> [apply.scope.name.partition("/")[2] for apply in _last_first(backward, forward)]
    ['', 'second', 'second', 'second', 'second', 'first', 'first']
    """
    place = {_outer(apply.scope.name): position for position, apply in enumerate(before)}
    found = {apply: number for number, apply in enumerate(_searched(applies))}
    makers = {apply: {x.owner for x in apply.inputs if x.owner in found} for apply in found}
    n_readers = Counter(maker for several in makers.values() for maker in several)

    def rank(apply: Apply) -> tuple[int, int, Apply]:
        swept = apply.scope.name.removeprefix("gradients").removeprefix("/")
        return place.get(_outer(swept), len(before)), -found[apply], apply

    ready = [rank(apply) for apply in found if not n_readers[apply]]
    heapify(ready)
    ordered = []
    while ready:
        *_, apply = heappop(ready)
        ordered.append(apply)
        for maker in makers[apply]:
            n_readers[maker] -= 1
            if not n_readers[maker]:
                heappush(ready, rank(maker))
    return ordered[::-1]


def _outer(scope: str) -> str:
    return scope.partition("/")[0]


def _searched(applies: Sequence[Apply]) -> list[Apply]:
    """Return calls in the order of a depth-first search that starts at the last result."""
    own = set(applies)
    read = {x for apply in applies for x in apply.inputs}
    fed = [x for x in read if x.owner not in own]
    results = [y for apply in reversed(applies) for y in apply.outputs if y not in read]
    return applies_in_order(results, fed)


# --- slots and steps ------------------------------------------------------------------------------


Guards = tuple[tuple[tuple[int, bool], ...], ...]


def is_needed(guards: Guards, values: Sequence[Any]) -> bool:
    """Return whether all conditions of at least one conjunction in `guards` hold.

    A step that is needed in every call has no guards, and is not checked with this function.
    """
    for conjunction in guards:
        for slot, wanted in conjunction:
            if bool(values[slot]) is not wanted:
                break
        else:
            return True
    return False


class Step(NamedTuple):
    """One op of the schedule.

    Attributes
    ----------
    apply : Apply
        The call in the op graph.
    inputs, outputs : tuple of int
        Slots.
    last_uses : tuple of int
        Slots that no later step reads; their arrays are freed after this step.
    guards : tuple
        The step is needed if any of these conjunctions holds. Each consists of pairs (slot of a
        condition, value it must have). An empty tuple means that the step is always needed.
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
        """The method `perform` of the step's op."""
        return self.apply.op.perform

    def __repr__(self) -> str:
        return repr(self.apply)


class CustomStep(Step):
    """A step of a custom op, one from outside kerascope: its input arrays are read-only."""

    __slots__ = ()

    @property
    def perform(self) -> Callable[..., Any]:
        """A function that calls the `perform` of the step's op on read-only views of the inputs."""
        return on_read_only(self.apply.op)


def perform_on(step: Step, values: list[Any]) -> None:
    """Perform a step on the arrays in its input slots, and store its results."""
    result = step.perform(*[values[slot] for slot in step.inputs])
    several = (result,) if len(step.outputs) == 1 else result
    for slot, array in zip(step.outputs, several, strict=True):
        values[slot] = array


class Schedule:
    """Steps and slots for computing `results` from `inputs`.

    Parameters
    ----------
    inputs : list of Tensor
        Tensors whose arrays are given at each call. An input may be the output of an op, and then
        this op is not performed.
    results : list of Tensor
        The outputs, then the new values of variables.
    followers : dict of Variable to Tensor, optional
        New values of variables that are written only if a step has read the variable, such as
        the number of draws of a Dropout. Other updates are always written.
    n_outputs : int, optional
        How many of the results are outputs; the others are new values. By default all.

    Attributes
    ----------
    steps : list of Step
    slots : dict of Tensor to int
        The slot of each tensor.
    variables : list of (int, Variable)
        The slots of variables, which are read at the start of each call.
    guards_of_followers : dict of Variable to Guards
        A variable in `followers` gets its new value if all conditions of one conjunction hold,
        and never if it has no conjunction.

    Raises
    ------
    DisconnectedGraphError
        A result needs a placeholder that is not among the inputs.
    ArgumentError
        An input is given twice.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope import backend as K
    >>> x = K.placeholder((2,))
    >>> schedule = Schedule([x], [K.square(x) + 1.0])
    >>> values = schedule.start([np.array([1.0, 2.0])])
    >>> for step in schedule.steps:
    ...     perform_on(step, values)
    >>> [step.apply.op.name for step in schedule.steps], values[schedule.results[0]].tolist()
    (['square', 'add'], [2.0, 5.0])
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
        """Give a slot to a tensor that is read, and record where its array comes from.

        The array is that of a variable or a constant, or the default value of a placeholder. Raise
        DisconnectedGraphError for a placeholder that has no default value and is not an input.
        """
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
                f"function: '{tensor.name}' is needed by {needed_by} but is not fed. "
                f"Add it to the inputs, which are: {listed}.",
                subject=tensor,
            )

    def _guards(self, applies: Sequence[Apply], needs: Mapping[Apply, Need]) -> list[Guards]:
        """Return the guards of each step, with only the conditions computed before the step."""
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
        """Return the guards of each default update: those of the ops that read its variable.

        A default update counts, for example, the draws of a random op: its variable gets the new
        value only in calls that read the variable.
        """
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
        kept.update(slots_of(self.guards_of_followers.values()))
        steps: list[Step] = []
        equal: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal tuples share memory
        for apply, own in zip(reversed(applies), reversed(guards), strict=True):
            inputs = tuple(self.slots[x] for x in apply.inputs)
            outputs = tuple(self.slots[y] for y in apply.outputs)
            used = dict.fromkeys((*inputs, *outputs, *slots_of([own])))
            last = tuple(slot for slot in used if slot not in kept)
            kept.update(last)
            inputs, outputs, last = (equal.setdefault(x, x) for x in (inputs, outputs, last))
            kind = Step if is_builtin_class(type(apply.op)) else CustomStep
            steps.append(kind(apply, inputs, outputs, last, own, phases[apply]))
        steps.reverse()
        return steps

    def start(self, arrays: Sequence[np.ndarray], reading: ReadMode = ReadMode.SHARED) -> list[Any]:
        """Return the arrays of all slots at the start of a call; None for slots yet to compute."""
        values: list[Any] = [None] * len(self.slots)
        values[: len(arrays)] = arrays
        for slot, array in self.fixed:
            values[slot] = array
        read_together(self.variables, reading, values)
        return values

    def borrowed(self, values: list[Any], reading: ReadMode) -> dict[int, Any]:
        """Return the arrays that callers, variables and constants own, by their ids.

        The dict keeps the arrays alive, so that no new array gets one of these ids.
        """
        found = [values[slot] for slot in range(len(self.inputs))]
        if reading is not ReadMode.COPIED:
            found += [values[slot] for slot, _ in self.variables]
        found += [array for _, array in self.fixed]
        return {id(array): array for array in found}


def slots_of(several: Iterable[Guards]) -> Iterator[int]:
    """Yield the slots of all conditions in these guards."""
    for guards in several:
        for conjunction in guards:
            for slot, _ in conjunction:
                yield slot
