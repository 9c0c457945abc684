"""A schedule bound to the shapes of its inputs: the ops that remain to be computed.

Binding visits the steps once, in order. It decides branches whose conditions are known, infers the
shape of each array, and lets the rules of `rules.py` remove ops that are not needed for these
shapes. Every result stays the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.constants import defaults_to_ones, is_constant_ones
from kerascope.backend.graph import Constant, Op, Tensor
from kerascope.backend.program.custom_ops import is_builtin, is_pure, trusted
from kerascope.backend.schedule import Guards, Schedule, Step, slots_of
from kerascope.errors import KerascopeError

# --- facts from one interpreted run: shapes, dtypes, shared memory --------------------------------


class Fact(NamedTuple):
    """The shape, dtype and memory layout of the array in a slot.

    Attributes
    ----------
    spec : Spec
        The shape and dtype of the array.
    strides : tuple of int
        The strides of the array that `perform` returned.
    shares : tuple of int
        The input slots of the step whose memory the array may share.
    """

    spec: Spec
    strides: tuple[int, ...]
    shares: tuple[int, ...] = ()


Facts = dict[int, Fact]


def record_facts(facts: Facts, step: Step, values: Sequence[Any]) -> None:
    """Record the shape, dtype and memory layout of each result of a step, just after it.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> function = K.function([], [K.transpose(K.variable([[1.0, 2.0]]))])
    >>> facts = {}
    >>> values = []
    >>> for step in function._events([], values):
    ...     record_facts(facts, step, values)
    >>> [(fact.spec.shape, fact.strides) for fact in facts.values()]
    [((2, 1), (4, 8))]
    """
    for slot in step.outputs:
        facts[slot] = fact_of(values[slot], step.inputs, values)


def fact_of(value: Any, inputs: Sequence[int] = (), values: Sequence[Any] = ()) -> Fact:
    """Return the `Fact` about an array: its shape, dtype, strides and shared memory.

    The array was computed from the slots `inputs`, whose arrays are in `values`. The `Fact` lists
    those slots whose memory the array may share. A NumPy scalar shares none, but an array without
    axes may be a view of an input.
    """
    array = np.asarray(value)
    shares = [
        slot
        for slot in dict.fromkeys(inputs)
        if array is value and np.may_share_memory(array, values[slot])
    ]
    return Fact(Spec(array.shape, array.dtype), array.strides, tuple(shares))


class Trial:
    """The `Fact`s that one interpreted run records about its arrays, to compile a program.

    They are stored with the program, which needs them to be compiled again or explained. To save
    memory, equal facts are stored once, and most inputs are reduced to their shape and dtype.

    Parameters
    ----------
    arrays : list of array
        The inputs of the run.
    numbers : dict of int to array
        By slot, the inputs whose values matter, such as conditions. Their arrays must not be
        modified.
    facts : dict of int to Fact
        The `Fact` about the array in each slot.

    Attributes
    ----------
    specs : list of Spec
        The shapes and dtypes of the inputs.
    numbers : dict of int to array
        As given.

    Examples
    --------
    >>> trial = Trial([np.ones(3), np.array(True)], {1: np.array(True)}, {2: fact_of(np.ones(3))})
    >>> [array.shape for array in trial.arrays], trial.facts[2].strides
    ([(3,), ()], (8,))
    """

    __slots__ = ("_facts", "numbers", "specs")

    def __init__(
        self, arrays: Sequence[np.ndarray], numbers: dict[int, np.ndarray], facts: Facts
    ) -> None:
        self.specs = [Spec(array.shape, array.dtype) for array in arrays]
        self.numbers = numbers
        equal: dict[Any, Any] = {}

        def one(fact: Fact | None) -> Fact | None:
            return None if fact is None else Fact(*[equal.setdefault(x, x) for x in fact])

        listed = [one(facts.get(slot)) for slot in range(max(facts, default=-1) + 1)]
        self._facts = tuple([equal.setdefault(fact, fact) for fact in listed])

    @property
    def facts(self) -> Facts:
        """A dict from each slot to a `Fact`, the shape, dtype and memory layout of its array."""
        return {slot: fact for slot, fact in enumerate(self._facts) if fact is not None}

    @property
    def arrays(self) -> list[np.ndarray]:
        """The inputs; those whose values do not matter are replaced by arrays of zeros."""
        dummy_arrays = map(dummy_array, self.specs)
        return [self.numbers.get(slot, array) for slot, array in enumerate(dummy_arrays)]


def dummy_array(spec: Spec) -> np.ndarray:
    """Return an array of zeros with this shape and dtype that takes almost no memory."""
    return np.broadcast_to(np.zeros((), spec.dtype), spec.shape)


def is_dense(fact: Fact) -> bool:
    """Return whether an array fills its memory without gaps, with any order of its axes."""
    expected = fact.spec.dtype.itemsize
    axes = [(s, n) for s, n in zip(fact.strides, fact.spec.shape, strict=True) if n != 1]
    for stride, size in sorted(axes):
        if stride != expected:
            return False
        expected *= size
    return True


def is_in_order(fact: Fact) -> bool:
    """Return whether an array is contiguous in C order, row by row."""
    expected = fact.spec.dtype.itemsize
    for stride, size in zip(reversed(fact.strides), reversed(fact.spec.shape), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


# --- the schedule, bound --------------------------------------------------------------------------


Rule = Callable[["Bound", "Line"], str | None]


def may_share(bound: Bound, line: Line, slot: int) -> list[int]:
    """Return the input slots with which an output of a line may share memory.

    Built-in ops declare it for arrays of known shapes. A custom op may share with any input.
    """
    specs = [bound.spec(x) for x in (*line.inputs, *line.outputs)]
    sure = [spec for spec in specs if spec is not None]
    if not is_builtin(line.op):
        return line.inputs
    if len(sure) < len(specs):
        return line.inputs[:1] if line.op.is_view else line.op.numbers_read(line.inputs)
    n = len(line.inputs)
    number = line.outputs.index(slot)
    return [line.inputs[x] for y, x in line.op.may_share(sure[:n], sure[n:]) if y == number]


class Line:
    """One op of a program: it reads arrays from slots and fills others.

    Attributes
    ----------
    step : Step
        The step of the schedule to which the line belongs.
    op : Op
    inputs : list of int
        The input slots. If a rewrite rule (`rules.py`) has put another slot in place of an input,
        this is the other slot.
    outputs : tuple of int
        The slots of the results.
    guards : Guards
        The conditions under which the op is needed, if they are known only at run time.
    """

    __slots__ = ("guards", "inputs", "op", "outputs", "step")

    def __init__(self, step: Step, inputs: list[int], guards: Guards) -> None:
        self.step = step
        self.op: Op = trusted(step.apply.op)
        self.inputs = inputs
        self.outputs = step.outputs
        self.guards = guards


class Bound:
    """A schedule for inputs of certain shapes: the lines to compute, and a `Fact` about each slot.

    Parameters
    ----------
    schedule : Schedule
    arrays : list of array
        The inputs. Their values are read only for conditions and for sample weights that are all 1.
    facts : dict of int to Fact
        The `Fact`s of an interpreted run with such inputs, by slot.
    rules : sequence of callable
        `rule(bound, line)` returns its name if it has removed the line.

    Attributes
    ----------
    lines : list of Line
    facts : dict of int to Fact
        The `Fact`s about slots whose shapes follow from those of the inputs.
    constants : dict of int to array
        The arrays of the slots that are constant, by slot.
    truths : dict of int to bool
        For each input that is a condition, whether the condition holds.
    makers : dict of int to Line
        The line that computes each slot.
    removed : list of (Step, str)
        The steps without a line, each with the reason.
    """

    def __init__(
        self, schedule: Schedule, arrays: Sequence[Any], facts: Facts, rules: Sequence[Rule]
    ) -> None:
        self.schedule = schedule
        self.recorded = facts
        self.facts: Facts = {}
        self.constants: dict[int, np.ndarray] = {}
        self.lines: list[Line] = []
        self.makers: dict[int, Line] = {}
        self.removed: list[tuple[Step, str]] = []
        self._same: dict[int, int] = {}
        self.truths: dict[int, bool] = {}
        # Steps of the other branch can be removed only if the switch is removed, too.
        self._chooses = any(getattr(rule, "__name__", "") == "choose_branch" for rule in rules)
        self._numbers: dict[Any, int] = {}
        self._tensors: dict[int | Spec, Tensor] = {}
        self._n_slots = len(schedule.slots)
        self._add_inputs(arrays)
        for step in schedule.steps:
            self._bind(step, rules)
        self._drop_unused()

    def _add_inputs(self, arrays: Sequence[Any]) -> None:
        conditions = conditions_of(self.schedule)
        for slot, array in enumerate(arrays):
            self.facts[slot] = fact_of(array)
            if slot in conditions:
                self.truths[slot] = bool(array)
            if defaults_to_ones(self.schedule.inputs[slot]) and is_constant_ones(array):
                self._set_constant(slot, array)
        for slot, variable in self.schedule.variables:
            self.facts[slot] = fact_of(variable.room)
        for slot, array in self.schedule.fixed:
            self._set_constant(slot, array)

    def _set_constant(self, slot: int, array: Any) -> None:
        """Record a constant; scalars with equal values share one slot."""
        array = np.asarray(array)
        if 0 in array.strides:
            array = np.ascontiguousarray(array)  # make a broadcast array real
        self.constants[slot] = array
        if array.size == 1 and slot >= len(self.schedule.inputs):
            first = self._numbers.setdefault((array.dtype, array.shape, array.tobytes()), slot)
            if first != slot:
                self._same[slot] = first
        self.facts[slot] = fact_of(array)

    # --- binding a step ---------------------------------------------------------------------------

    def _bind(self, step: Step, rules: Sequence[Rule]) -> None:
        guards = self.open_guards(step.guards)
        if guards is None:
            self.removed.append((step, "branch not taken"))
            return
        line = Line(step, [self.same(slot) for slot in step.inputs], guards)
        self._infer(line)
        for rule in rules:
            name = rule(self, line)
            if name is not None:
                self.removed.append((step, name))
                return
        self.lines.append(line)
        self.makers.update(dict.fromkeys(line.outputs, line))

    def open_guards(self, guards: Guards) -> Guards | None:
        """Return the guards of a step without the conditions whose truth is known.

        None if the step is never needed.
        """
        if not guards:
            return ()
        left = []
        for conjunction in guards:
            own = [(self.same(slot), wanted) for slot, wanted in conjunction]
            known = [(slot, wanted) for slot, wanted in own if self.truth(slot) is not None]
            if all(self.truth(slot) is wanted for slot, wanted in known):
                left.append(tuple(pair for pair in own if pair not in known))
        if not left:
            return None
        return () if () in left else tuple(left)

    def _infer(self, line: Line) -> None:
        """Record a `Fact` about each output of a line, if its shape follows from the inputs."""
        if any(slot not in self.facts for slot in line.inputs):
            return
        tensors = [self._tensor(slot) for slot in line.inputs]
        try:
            shapes = line.op.infer_shape(*tensors)
        except KerascopeError:
            return
        several = (shapes,) if line.op.n_outputs == 1 else shapes
        for slot, shape in zip(line.outputs, several, strict=True):
            fact = self.recorded.get(slot)
            if fact is not None and tuple(shape) == fact.spec.shape:
                shares = tuple(self.same(share) for share in fact.shares)
                self.facts[slot] = fact._replace(shares=shares)

    def _tensor(self, slot: int) -> Tensor:
        """Return a tensor with the shape and dtype of a slot, for `infer_shape`."""
        spec = self.facts[slot].spec
        counts = slot in self.constants and spec.dtype.kind in "iub"  # such as a target shape
        key = slot if counts else spec
        if key not in self._tensors:
            self._tensors[key] = (
                Constant(self.constants[slot])
                if counts
                else Tensor(spec.shape, spec.dtype.name, "bound")
            )
        return self._tensors[key]

    # --- what the rules use -----------------------------------------------------------------------

    def same(self, slot: int) -> int:
        """Return the slot that replaces this one; without a replacement, the slot itself."""
        while slot in self._same:
            slot = self._same[slot]
        return slot

    def truth(self, slot: int) -> bool | None:
        """Return whether the condition in a slot holds, or None if this is unknown.

        It is always None in a program whose conditional branches are all kept. Only the truth of a
        condition is recorded, not the value of its array.
        """
        if not self._chooses:
            return None
        if slot in self.constants:
            return bool(self.constants[slot])
        return self.truths.get(slot)

    def replace(self, line: Line, slot: int) -> None:
        """Replace the only output of a line by another slot with the same content."""
        self._same[line.outputs[0]] = slot

    def fix(self, line: Line, arrays: Iterable[Any]) -> None:
        """Record that the outputs of a line are these constant arrays."""
        for slot, array in zip(line.outputs, arrays, strict=True):
            self._set_constant(slot, array)

    def new_constant(self, array: np.ndarray) -> int:
        """Return the slot of a new constant, or that of an equal constant scalar."""
        slot = self.new_slot()
        self._set_constant(slot, array)
        return self.same(slot)

    def new_slot(self) -> int:
        """Return a new slot, which belongs to no tensor of the schedule."""
        self._n_slots += 1
        return self._n_slots - 1

    def spec(self, slot: int) -> Spec | None:
        """Return the shape and dtype of a slot, or None if they are unknown."""
        fact = self.facts.get(slot)
        return None if fact is None else fact.spec

    def has(self, slot: int) -> bool:
        """Return whether a slot gets an array; slots of branches that are never taken do not."""
        return slot in self.facts or slot in self.makers

    # --- the end ----------------------------------------------------------------------------------

    @property
    def results(self) -> list[int]:
        """The slots of the function's outputs and new values."""
        return [self.same(slot) for slot in self.schedule.results]

    def _drop_unused(self) -> None:
        used = set(self.results)
        used.update(map(self.same, slots_of(self.schedule.guards_of_followers.values())))
        kept = []
        for line in reversed(self.lines):
            can_go = is_pure(line.op) and not line.op.may_refuse
            if can_go and used.isdisjoint(line.outputs):
                self.removed.append((line.step, "not used any more"))
                continue
            used.update(line.inputs)
            used.update(slots_of([line.guards]))
            _drop_outputs(line, used)
            kept.append(line)
        self.lines = kept[::-1]


def _drop_outputs(line: Line, used: set[int]) -> None:
    """Restrict a line to the outputs that are used, if its op allows it."""
    wanted = [number for number, slot in enumerate(line.outputs) if slot in used]
    if len(wanted) < len(line.outputs):
        leaner = line.op.leaner(wanted)
        if leaner is not None:
            line.op = leaner
            line.outputs = tuple(line.outputs[number] for number in wanted)


def conditions_of(schedule: Schedule) -> set[int]:
    """Return the slots of those inputs of the function that are conditions of guards."""
    several = [step.guards for step in schedule.steps]
    several.extend(schedule.guards_of_followers.values())
    return {slot for slot in slots_of(several) if slot < len(schedule.inputs)}
