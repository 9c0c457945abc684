"""One step of a loop as a list of calls, sorted by how often they have to run.

A loop is an op that contains the schedule of one step, which is bound to shapes like any other.
Each of its calls then gets one of three places: FIXED calls depend only on inputs that are the same
in each step; GIVEN calls depend on sequences too, and can run for several steps at once; STEP calls
remain for each step. Rewrites then reduce the number of STEP calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Op, ShapeOfFirst, parametric
from kerascope.backend.ops.broadcasting import Cast
from kerascope.backend.ops.elementwise import Add, Clip, Multiply
from kerascope.backend.ops.indexing import GetItem, PutItem, Span
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.ops.nn import Sigmoid
from kerascope.backend.ops.shaping import ExpandDims, Reshape, ReshapeLike, Transpose
from kerascope.backend.program.bound import Bound, Facts, dummy_array, record_facts
from kerascope.backend.program.rules import rules_named
from kerascope.backend.schedule import Schedule, perform_on

FIXED, GIVEN, STEP = range(3)
OWN_OPS = "kerascope.backend.ops."


@dataclass(eq=False)
class Call:
    """One op in a step of a loop: it reads arrays from slots and fills others.

    Attributes
    ----------
    op : Op
    inputs : list of int
        The slots of the arrays that the op reads.
    outputs : tuple of int
        The slots of the arrays that the op computes.
    """

    op: Op
    inputs: list[int]
    outputs: tuple[int, ...]


class Copy(ShapeOfFirst):
    """Copies an array into separate memory."""

    def perform(self, x: Any) -> Any:
        """Return a copy of the array."""
        return np.array(x)

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> str:
        """Return, as text, the NumPy call that copies the input into the array `out`."""
        return "np.copyto({out}, {0})"


class Layout(NamedTuple):
    """How many inputs and results of each kind a step of a loop has.

    The inputs are slices of sequences, then states, then arrays that are the same in each step. The
    results are outputs, then one new state for each state, then terms: arrays that the loop adds up
    over all steps.

    Attributes
    ----------
    sequences, states : int
        The numbers of inputs of these kinds.
    outputs : int
        The number of outputs.
    """

    sequences: int
    states: int
    outputs: int


class StepCalls:
    """The calls of one step of a loop, for inputs of certain shapes.

    Parameters
    ----------
    schedule : Schedule
        The schedule of one step.
    layout : Layout
    inputs : list of Spec
        The inputs of one step, in the order of `Layout`.
    rewrites : bool
        Whether rewrites may change the order of roundings.

    Attributes
    ----------
    calls : list of Call
        In order of computation.
    specs : dict of int to Spec
        The shape and dtype of the array in each slot.
    place_of : dict of int to int
        When each slot is computed: before the loop (FIXED), for several steps at once (GIVEN), or
        in each step (STEP).
    constants : dict of int to array
        The arrays of the slots that are constant, by slot.
    results : list of int
        The slots of outputs, new states and terms.
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
                call.inputs[number] = self._placeholder(call.inputs[number])
        for slot in range(len(inputs)):
            is_state = layout.sequences <= slot < layout.sequences + layout.states
            self.place_of[slot] = GIVEN if slot < layout.sequences else STEP if is_state else FIXED
        for call in self.calls:
            self.sort(call)

    def _placeholder(self, slot: int) -> int:
        """Return the slot of a constant that replaces an input whose values are not read."""
        if slot not in self.specs:
            return slot
        constant = self.bound.new_constant(dummy_array(self.specs[slot]))
        self.specs[constant], self.place_of[constant] = self.specs[slot], FIXED
        return constant

    @property
    def is_whole(self) -> bool:
        """Whether all shapes of the step are known, and its states keep their shapes."""
        slots = {slot for call in self.calls for slot in (*call.inputs, *call.outputs)}
        if not slots.union(self.results) <= self.specs.keys():
            return False
        first = self.layout.sequences
        after = self.results[self.layout.outputs : self.layout.outputs + self.layout.states]
        return all(self.specs[first + k] == self.specs[new] for k, new in enumerate(after))

    def sort(self, call: Call) -> None:
        """Record when a call's outputs are computed: FIXED, GIVEN or STEP (see `StepCalls`)."""
        places = [self.place_of[slot] for slot in call.inputs]
        own = max(places, default=FIXED)
        if own == GIVEN and not self._can_be_given(call):
            own = STEP
        self.place_of.update(dict.fromkeys(call.outputs, own))

    def _can_be_given(self, call: Call) -> bool:
        """Return whether a call can run for many steps at once, with time as the first axis."""
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
        """Return a new slot of this shape and dtype.

        `place` says when the slot is computed: FIXED, GIVEN or STEP (see `StepCalls`).
        """
        slot = self.bound.new_slot()
        self.specs[slot], self.place_of[slot] = spec, place
        return slot


def with_time(op: Op) -> Op:
    """Return the op that computes many steps of `op` at once, with time as the first axis."""
    if isinstance(op, GetItem):
        return GetItem((Span(), *op.index))
    if isinstance(op, ExpandDims):
        return ExpandDims(tuple(axis + 1 for axis in op.axes))
    return op


def trial(schedule: Schedule, arrays: Sequence[np.ndarray]) -> Facts:
    """Perform one step of a loop, and return a `Fact` about each of its arrays."""
    facts: Facts = {}
    values = schedule.start(arrays)
    with np.errstate(all="ignore"):
        for step in schedule.steps:
            perform_on(step, values)
            record_facts(facts, step, values)
    return facts


def can_be_compiled(schedule: Schedule) -> bool:
    """Return whether the schedule of a step can be run on zeros and compiled.

    This is impossible with branches, custom ops, or ops with side effects.
    """
    ops = [step.apply.op for step in schedule.steps]
    are_own = all(type(op).__module__.startswith(OWN_OPS) and op.is_pure for op in ops)
    return are_own and not any(step.guards for step in schedule.steps)


# --- rewrites: fewer calls in each step, more before and after the loop ---------------------------
#
# The gradient of a loop is linear in the values that one step passes to the next, so most calls
# of its step multiply these by numbers that are known before the loop. The rules combine such
# calls:
#
# - (x * a) * b, with a and b known for all steps, is x * (a * b), and a * b is computed before the
#   loop; a or b may be a scalar;
# - parts that are put into zeros and added are written next to each other in one array, and a
#   factor of the whole array multiplies its parts;
# - a sum over the steps of matrix products is one product of long matrices after the loop.
#
# These rules change the order of roundings, so results differ in their last bits from those of the
# loop as defined. Compiled and interpreted functions use the same loop program.


@parametric
class Join(Op):
    """Joins arrays, as parts along an axis, to one array with zeros in the gaps.

    Attributes
    ----------
    axis : int
        The axis of the whole array along which the parts follow each other.
    bounds : tuple of (int, int)
        Start and stop of each part.
    shape : tuple of int
        The shape of the whole array.
    is_stack : bool
        Whether the parts lack this axis, so that each part fills one index of it in the whole
        array.
    """

    axis: int
    bounds: tuple[tuple[int, int], ...]
    shape: tuple[int, ...]
    is_stack: bool = False

    def index(self, number: int) -> tuple[Any, ...]:
        """Return the index that selects the part with this number from the whole array.

        It ends with `...`, so that NumPy returns a view even if the part has no axes.
        """
        start, stop = self.bounds[number]
        place = start if self.is_stack else slice(start, stop)
        return (*(slice(None),) * self.axis, place, ...)

    def part(self, whole: np.ndarray, number: int) -> np.ndarray:
        """Return the part with this number, as a view of the whole array."""
        return whole[self.index(number)]

    def getter(self, number: int) -> GetItem:
        """Return the op that takes one part out of an array with the shape of the whole."""
        start, stop = self.bounds[number]
        index: list[Any] = [Span()] * len(self.shape)
        index[self.axis] = start if self.is_stack else Span(start, stop)
        return GetItem(tuple(index))

    @property
    def has_gaps(self) -> bool:
        """Whether the whole array has elements that belong to no part; they are zero."""
        return sum(stop - start for start, stop in self.bounds) < self.shape[self.axis]

    def infer_shape(self, *parts: Any) -> Any:
        """Return the shape of the whole array."""
        return self.shape

    def perform(self, *parts: Any) -> Any:
        """Return the whole array, with the parts at their places."""
        whole = np.zeros(self.shape, parts[0].dtype)
        for number, part in enumerate(parts):
            whole[self.index(number)] = part
        return whole


class Rewriter:
    """Applies the rewrite rules to the calls of a step, in place.

    Parameters
    ----------
    step : StepCalls
    """

    def __init__(self, step: StepCalls) -> None:
        self.step = step
        self.calls: list[Call] = []
        self.makers: dict[int, Call] = {}
        self._seen: dict[Any, int] = {}
        self._same: dict[int, int] = {}
        for call in step.calls:
            call.inputs = [self._same.get(slot, slot) for slot in call.inputs]
            slot = self._rewritten(call)
            if slot is None:
                self._keep(call)
            else:
                self._same[call.outputs[0]] = slot
        step.calls = self.calls
        step.results = [self._same.get(slot, slot) for slot in step.results]

    def _keep(self, call: Call) -> None:
        self.step.sort(call)
        self.calls.append(call)
        self.makers.update(dict.fromkeys(call.outputs, call))

    def _new(self, op: Op, inputs: Sequence[int], spec: Spec) -> int:
        """Return the output slot of a new call, or of an equal call if there is one already."""
        if isinstance(op, Multiply) and all(map(self._is_known, inputs)):
            x, a = inputs
            inputs = [x, self._before_cast(a)] if self.step.specs[x].dtype == spec.dtype else inputs
        key = (op, *inputs)
        if key not in self._seen:
            call = Call(op, list(inputs), (self.step.new_slot(spec, STEP),))
            self._keep(call)
            self._seen[key] = call.outputs[0]
        return self._seen[key]

    def _before_cast(self, a: int) -> int:
        """Return the bool slot from which `a` was cast, or `a` if it was not cast from bools.

        Products with the bools are equal to products with `a`.
        """
        maker = self.makers.get(a)
        if maker is not None and isinstance(maker.op, Cast):
            source = maker.inputs[0]
            return source if self.step.specs[source].dtype == bool else a
        if maker is None or not isinstance(maker.op, GetItem):
            return a
        whole = self._before_cast(maker.inputs[0])
        if whole == maker.inputs[0]:
            return a
        return self._new(maker.op, [whole], Spec(self.step.specs[a].shape, np.dtype(bool)))

    def _is_known(self, slot: int) -> bool:
        return self.step.place_of[slot] != STEP

    def _rewritten(self, call: Call) -> int | None:
        """Return the slot that replaces the result of a call, or None if no rule applies to it."""
        if any(slot not in self.step.specs for slot in (*call.inputs, *call.outputs)):
            return None
        if isinstance(call.op, PutItem):
            return self._joined_alone(call)
        if isinstance(call.op, Add):
            return self._joined(*call.inputs)
        if isinstance(call.op, Multiply):
            x, a = call.inputs
            if self._is_known(x):
                x, a = a, x
            if not self._is_known(x) and self._is_known(a):
                spec = self.step.specs[call.outputs[0]]
                if self.step.specs[x] == spec and self._fits(a, spec):
                    return self._product(x, a)
        return None

    def _fits(self, a: int, spec: Spec) -> bool:
        """Return whether slot `a` has this shape and dtype, or is a scalar of this dtype."""
        return self.step.specs[a] in (spec, Spec((), spec.dtype))

    def _product(self, x: int, a: int) -> int:
        """Return the slot of x * a.

        The array `a` is computed before the loop. It has the shape of x, or is a scalar.
        """
        spec = self.step.specs[x]
        maker = self.makers.get(x)
        pair = self._by_known(maker)
        if pair is not None:
            y, b = pair
            wide = max(self.step.specs[a], self.step.specs[b], key=lambda one: len(one.shape))
            return self._new(Multiply(), [y, self._new(Multiply(), [b, a], wide)], spec)
        if maker is not None and isinstance(maker.op, Join) and self._pays_inside(maker, a):
            parts = []
            for number, part in enumerate(maker.inputs):
                factor = a
                if self.step.specs[a] == spec:
                    factor = self._new(maker.op.getter(number), [a], self.step.specs[part])
                parts.append(self._product(part, factor))
            return self._new(maker.op, parts, spec)
        return self._new(Multiply(), [x, a], spec)

    def _by_known(self, maker: Call | None) -> tuple[int, int] | None:
        """Return the slots y and b if a call computes y * b and b is computed before the loop.

        Return None for any other call.
        """
        if maker is None or not isinstance(maker.op, Multiply):
            return None
        y, b = maker.inputs
        if self._is_known(y):
            y, b = b, y
        spec = self.step.specs[maker.outputs[0]]
        fits = self.step.specs[y] == spec and self._fits(b, spec)
        return (y, b) if fits and not self._is_known(y) and self._is_known(b) else None

    def _pays_inside(self, join: Call, a: int) -> bool:
        """Return whether to multiply the parts of a joined array by `a` instead of the whole array.

        If `a` is not a scalar, this saves time. If it is a scalar, this saves time only if each
        part is itself a product, because one of its factors can then be multiplied by the scalar
        before the loop.
        """
        if self.step.specs[a].shape:
            return True
        return all(self._by_known(self.makers.get(part)) is not None for part in join.inputs)

    def _joined_alone(self, call: Call) -> int | None:
        x = call.inputs[0]
        shape, dtype = self.step.specs[call.outputs[0]]
        bounds: list[tuple[int, int]] = []
        index = call.op.parameters["index"]
        if self._is_known(x) or None in index or dtype != self.step.specs[x].dtype:
            return None
        for i, n in zip(index, shape, strict=True):
            start, stop, by = slice(*i).indices(n) if isinstance(i, Span) else (i % n, i % n + 1, 1)
            if by != 1 or stop <= start:
                return None
            bounds.append((start, stop))
        cut = [axis for axis, n in enumerate(shape) if bounds[axis] != (0, n)]
        whole = [axis for axis, i in enumerate(index) if not isinstance(i, Span)]
        taken = [n for axis, n in enumerate(shape) if axis not in whole]
        if len(cut) != 1 or not set(whole) <= set(cut):
            return None
        if not whole:
            taken[cut[0]] = bounds[cut[0]][1] - bounds[cut[0]][0]
        if tuple(taken) != self.step.specs[x].shape:
            return None
        op = Join(cut[0], (bounds[cut[0]],), shape, bool(whole))
        return self._new(op, [x], self.step.specs[call.outputs[0]])

    def _joined(self, first: int, second: int) -> int | None:
        """Return the slot of one joined array that is the sum of two joined arrays.

        None if an array is not joined, or if parts of both overlap.
        """
        makers = [self.makers.get(slot) for slot in (first, second)]
        ops = [maker.op for maker in makers if maker is not None and isinstance(maker.op, Join)]
        if len(ops) != 2 or replace(ops[0], bounds=()) != replace(ops[1], bounds=()):
            return None
        pairs = [
            (bound, slot)
            for maker in makers
            if maker is not None
            for bound, slot in zip(maker.op.parameters["bounds"], maker.inputs, strict=True)
        ]
        pairs.sort()
        if any(a[0][1] > b[0][0] for a, b in pairwise(pairs)):
            return None
        op = replace(ops[0], bounds=tuple(bound for bound, _ in pairs))
        return self._new(op, [slot for _, slot in pairs], self.step.specs[first])


# --- copies of reshaped, transposed or stored arrays; the numbers do not change -------------------


@parametric
class InShape(Op):
    """A contiguous array viewed in another shape."""

    shape: tuple[int, ...]
    is_view = True

    def infer_shape(self, x: Any) -> Any:
        """Return the new shape."""
        return self.shape

    def perform(self, x: Any) -> Any:
        """Return a view of the array in the new shape."""
        return x.reshape(self.shape)


@parametric
class Reshaped(Op):
    """An array that is computed in one shape and read in another.

    Attributes
    ----------
    before, after : tuple of int
        The shape in which it is computed, and the shape in which it is read.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]

    def part(self, whole: np.ndarray, number: int) -> np.ndarray:
        """Return a contiguous array as a view in the shape `before`."""
        return whole.reshape(self.before)

    def infer_shape(self, x: Any) -> Any:
        """Return the shape in which the array is read."""
        return self.after

    def perform(self, x: Any) -> Any:
        """Return the array in the shape `after`."""
        return np.reshape(x, self.after)


def without_unused(step: StepCalls) -> None:
    """Remove the calls of a step whose results are not read."""
    used = set(step.results)
    kept = []
    for call in reversed(step.calls):
        if not used.isdisjoint(call.outputs):
            used.update(call.inputs)
            kept.append(call)
    step.calls = kept[::-1]


def with_reshaped_views(step: StepCalls, placeable: set[int]) -> None:
    """Turn reshapes of contiguous arrays into views; copy other arrays before reshaping them."""
    views = {call.outputs[0] for call in step.calls if call.op.is_view}
    calls = []
    for call in step.calls:
        if isinstance(call.op, Reshape) and step.place_of[call.outputs[0]] == STEP:
            before, after = step.specs[call.inputs[0]], step.specs[call.outputs[0]].shape
            if call.inputs[0] in placeable - views:
                call.op = InShape(after)
            else:
                copied = step.new_slot(before, STEP)
                calls.append(Call(Copy(), call.inputs, (copied,)))
                call.op, call.inputs = Reshaped(before.shape, after), [copied]
        calls.append(call)
    step.calls = calls


def with_copies(step: StepCalls, placeable: set[int]) -> None:
    """Add a copy for each output or new state of a step that cannot use a given array.

    So each output and each new state has memory of its own.

    Parameters
    ----------
    step : StepCalls
    placeable : set of int
        Slots whose calls can compute into any given array.
    """
    copies: dict[int, int] = {}
    first_term = step.layout.outputs + step.layout.states
    for number, slot in enumerate(step.results[:first_term]):
        is_state = number >= step.layout.outputs
        if step.place_of[slot] != STEP and not is_state:
            continue
        if step.place_of[slot] == STEP and slot in placeable:
            continue
        if slot not in copies:
            copies[slot] = step.new_slot(step.specs[slot], STEP)
            step.calls.append(Call(Copy(), [slot], (copies[slot],)))
        step.results[number] = copies[slot]


def with_dense_copies(step: StepCalls) -> None:
    """Copy transposed arrays that are read more than once into contiguous memory.

    An op on short rows with gaps between them takes longer than the copy.
    """
    readers: dict[int, int] = {}
    for call in step.calls:
        for slot in call.inputs:
            readers[slot] = readers.get(slot, 0) + 1
    calls = []
    for call in step.calls:
        calls.append(call)
        (slot, *_) = call.outputs
        is_turned = isinstance(call.op, Transpose) and step.place_of[slot] == STEP
        if is_turned and readers.get(slot, 0) > 1 and slot not in step.results:
            turned = step.new_slot(step.specs[slot], STEP)
            call.outputs = (turned,)
            calls.append(Call(Copy(), [turned], (slot,)))
    step.calls = calls
