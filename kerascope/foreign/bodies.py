"""The walk through a graph of ONNX or JAX that records its calls, with or without numbers.

A `Body` is a graph of steps. A `Step` is a node of ONNX or an equation of JAX. It may contain
bodies: the function that it calls, the branches of a condition, or the body of a loop.
`onnx_bodies.py` and `jax_bodies.py` create them.

A `Walk` records a call for each step. Without an `Evaluator` nothing is computed: the walk records
every branch, and one iteration of each loop. With an `Evaluator` each step is computed, and the
walk records the branch that is taken and each iteration. `onnx_walk.py` and `jax_walk.py` are its
subclasses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain, count, islice, repeat
from typing import Any, NamedTuple, Protocol

import numpy as np

from kerascope.foreign.records import Line, Setting, Value
from kerascope.foreign.scopes import Scopes
from kerascope.foreign.writer import TapeWriter

ABSENT = "absent"  # dtype of an omitted input or output
NOTHING: Mapping[Any, Any] = {}
Each = tuple[int, bool]  # the axis over which a loop iterates, and whether backwards

# --- graphs and steps -----------------------------------------------------------------------------


class ArrayType(NamedTuple):
    """The shape and the dtype of a value, as known before the graph runs.

    Attributes
    ----------
    shape : tuple of (int, str or None), or None
        A size that varies is a name or None. None in place of the tuple means that the rank is
        unknown.
    dtype : str
        "" if it is unknown.
    """

    shape: tuple[int | str | None, ...] | None = None
    dtype: str = ""

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The shape with None for each size that varies; () if the rank is unknown."""
        return tuple(size if isinstance(size, int) else None for size in self.shape or ())


class Step(NamedTuple):
    """One operation of a graph to walk through: a node of ONNX or an equation of JAX.

    Attributes
    ----------
    source : NodeProto or JaxprEqn
    name : str
        Unique in the file or function.
    op : str
        Name of the operator or primitive, or of the function that it calls.
    inputs, outputs : tuple
        Keys of the values: names in ONNX, variables or literals in JAX.
    bodies : mapping of str to Body
        The graphs that the step contains. The key is "" for a called function, otherwise "body",
        "test", "branch0", or the attribute of the node.
    scopes : tuple of str
        Names of the enclosing frames that are modules or scopes, the outermost first.
    line : (str, int, str), optional
        File, line and function of the user's code.
    kind, settings, parameters, arguments
        Only for ONNX, where the file determines them: the kind of the box, its settings, its
        weights (role -> key), and the keys of its other inputs, including those that the graphs
        inside it read.
    """

    source: Any
    name: str
    op: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    bodies: Mapping[str, Body] = NOTHING
    scopes: tuple[str, ...] = ()
    line: Line | None = None
    kind: str = "function"
    settings: Mapping[str, Setting] = NOTHING
    parameters: Mapping[str, str] = NOTHING
    arguments: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the step calls a function whose only step has the same name."""
        return "" in self.bodies and [one.name for one in self.bodies[""].steps] == [self.name]


class Body(NamedTuple):
    """A graph to walk through: that of a file or a function, or one inside a step, as in a loop.

    Attributes
    ----------
    name : str
        The name of the graph or function.
    inputs, outputs : tuple
        Keys of the input and output values: names in ONNX, variables or literals in JAX.
    constants : mapping
        Arrays of the file or function by key. Several keys may share an array.
    steps : tuple of Step
        The operations, in the order of the file or function.
    source : ClosedJaxpr, or mapping of str to int
        The JAX function, or the opsets of the ONNX graph.
    types : mapping of str to ArrayType
        Types of the values. Only for ONNX, where they may be incomplete; JAX variables have types.
    boxes : tuple of str
        Only for ONNX: the names of the constants that are drawn as boxes.
    classes : mapping of str to str
        Classes of the modules that are frames, by the names of the frames, if known.
    """

    name: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    constants: Mapping[Any, Any]
    steps: tuple[Step, ...]
    source: Any
    types: Mapping[str, ArrayType] = NOTHING
    boxes: tuple[str, ...] = ()
    classes: Mapping[str, str] = NOTHING


class StepNames:
    """Makes the names of steps unique by numbers: the second `add` is `add_1` if `first` is 1."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.taken: set[str] = set()

    def free(self, wanted: str) -> str:
        """Return and reserve a name for a step. A number is appended if another step has it."""
        name, number = wanted, self.first
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name


# --- the walk -------------------------------------------------------------------------------------


class WalkedValue(NamedTuple):
    """A value of a graph during a walk: the recorded value with its array and its origin.

    Attributes
    ----------
    value : Value
        The value for the `TapeWriter`.
    array : array, optional
        None if nothing is computed.
    role : str
        The name of the array if this value is an array of the model, even after a reshape. "" for
        other values. The key of the value is not enough, because JAX passes arrays into functions
        under other variables.
    origin : Value, optional
        The array of the model before any reshaping. None for other values.
    words : str
        The number of a literal as text. "" for other values.
    """

    value: Value
    array: Any = None
    role: str = ""
    origin: Value | None = None
    words: str = ""

    @property
    def flows(self) -> bool:
        """Whether an arrow is drawn for this value: it is neither a weight nor a literal."""
        return not self.role and not self.words


Values = Sequence[WalkedValue]


class Visit(NamedTuple):
    """A step that the walk has reached: its body, its inputs, and all earlier values by key."""

    step: Step
    body: Body
    operands: Values
    known: Mapping[Any, WalkedValue]


class Evaluator(Protocol):
    """Computes the steps of a walk with arrays of the module `numpy`: NumPy or jax.numpy."""

    numpy: Any

    def compute(self, visit: Visit) -> Iterable[Any]:
        """Return the outputs of a step without graphs, but not those that the step omits."""

    def value_of(self, token: int, array: Any) -> Value:
        """Return an array as a `Value` with this token, which a `TapeWriter` can record."""

    def branch(self, condition: Any, branches: Sequence[str]) -> str:
        """Return the name of the branch that a condition selects."""


class Loop(NamedTuple):
    """The description of a loop, which runs its body once for each iteration.

    The inputs of the body are the constants, the states, and a slice of each array in `rows`. Its
    outputs are the new states, then outputs that are stacked over the iterations.

    Attributes
    ----------
    body : Body
    states : sequence of WalkedValue
        The states before the first iteration.
    rows : sequence of WalkedValue
        The arrays from which each iteration gets one slice.
    axes : sequence of (int, bool)
        For each array in `rows`: the axis along which it is sliced, and whether the loop begins
        with the last slice.
    stacks : sequence of (int, bool)
        For each stacked output: the axis of the iterations, and whether the last iteration comes
        first.
    constants : sequence of WalkedValue
        The inputs of the body that are the same in every iteration.
    turns : int, optional
        Maximum number of iterations, if known before the first.
    is_counted : bool
        Whether two more inputs of the body precede the states: the iteration number and a
        condition. Such a body returns a condition before the states.
    limits : sequence of WalkedValue
        The maximum number of iterations and the first condition of a counted loop, unless omitted.
    test : Body, optional
        A body that computes before each iteration whether the loop continues.
    test_constants : sequence of WalkedValue
        The inputs of `test` before the states.
    """

    body: Body
    states: Values
    rows: Values = ()
    axes: Sequence[Each] = ()
    stacks: Sequence[Each] = ()
    constants: Values = ()
    turns: int | None = None
    is_counted: bool = False
    limits: Values = ()
    test: Body | None = None
    test_constants: Values = ()


Scanned = list[Values]  # for each iteration, its outputs besides the states


class Walk:
    """Records a call for each step of a body, with or without computing it.

    Parameters
    ----------
    writer : TapeWriter
    evaluator : Evaluator, optional
        None means that nothing is computed.

    Attributes
    ----------
    unknown : set of int
        Tokens of values whose rank is unknown.
    most_turns : int or None
        Maximum number of iterations of a loop that are recorded. None means no limit.
    """

    most_turns: int | None = None

    def __init__(self, writer: TapeWriter, evaluator: Evaluator | None = None) -> None:
        self.writer = writer
        self.evaluator = evaluator
        self.unknown: set[int] = set()
        self.tokens = count()

    def walk(
        self, body: Body, given: Values, outer: Mapping[Any, WalkedValue] = NOTHING
    ) -> list[WalkedValue]:
        """Record the calls of a body, a graph of a file or function, and return its outputs.

        Parameters
        ----------
        body : Body
        given : sequence of WalkedValue
            The inputs of the body.
        outer : mapping to WalkedValue
            The values of the enclosing graphs, which the body may read.
        """
        known = {**outer, **dict(zip(body.inputs, given, strict=True))}
        self.enter_constants(body, known)
        with Scopes(self.writer, body.classes) as scopes:
            for step in body.steps:
                scopes.move(step.scopes)
                operands = [self.read(key, known) for key in step.inputs]
                outputs = self._step(Visit(step, body, operands, known))
                known.update(zip(step.outputs, outputs, strict=False))
        return [self.read(key, known) for key in body.outputs]

    def _step(self, visit: Visit) -> list[WalkedValue]:
        step, operands = visit.step, visit.operands
        if not step.bodies:
            return self.leaf(visit)
        if step.is_whole:
            return self.walk(step.bodies[""], operands)
        with self._frame(step, step.name, step.op):
            if "" in step.bodies:
                return self.walk(step.bodies[""], operands)
            loop = self.loop_of(visit)
            return self._branches(visit) if loop is None else self._loop(visit, loop)

    def _frame(self, step: Step, name: str, op: str) -> AbstractContextManager[Any]:
        return self.writer.span("node", name, op=op, line=step.line)

    def call(
        self, step: Step, name: str, inputs: Values, outputs: Values, kind: str, **changes: Any
    ) -> None:
        """Record a step as a call. Inputs that are arrays of the model become its parameters."""
        weights: dict[str, Value] = {}
        for one in inputs:
            if one.origin is not None:
                short = one.role.rpartition(".")[2]
                weights[one.role if short in weights else short] = one.origin
        read = [one.value for one in inputs if one.flows]
        made = [one.value for one in outputs if one.value.dtype != ABSENT]
        facts = {"settings": step.settings, "parameters": weights, **changes}
        self.writer.call(name, read, made, op=step.op, kind=kind, line=step.line, **facts)

    def write_constant(self, body: Body, name: str, value: Value, **facts: Any) -> None:
        """Record a constant of a graph (`Body`) as a separate box."""
        name = f"{body.name}.{name}" if body.name else name
        self.writer.call(name, [], [value], op="Constant", kind="constant", **facts)

    # --- branches and loops -----------------------------------------------------------------------

    def _branches(self, visit: Visit) -> list[WalkedValue]:
        step, body, (condition, *given), known = visit
        keys = [*step.bodies]
        if self.evaluator is not None:
            keys = [self.evaluator.branch(condition.array, keys)]
        results = []
        for inner in (step.bodies[key] for key in keys):
            with self._frame(step, inner.name, "branch"):
                results.append(self.walk(inner, given, known))
        among = zip(*results, strict=True)
        outputs = self._passed([one[0] for one in among], body, step.outputs)
        inputs = [condition, *chain.from_iterable(results)]
        self.call(step, f"{step.name}.result", inputs, outputs, "merge")
        return outputs

    def _loop(self, visit: Visit, loop: Loop) -> list[WalkedValue]:
        step, body, known = visit.step, visit.body, visit.known
        inner, states, limits = loop.body, [*loop.states], [*loop.limits]
        scanned: Scanned = []
        turns = count() if loop.turns is None else range(loop.turns)
        for turn in islice(turns, self.most_turns if self.evaluator is not None else 1):
            if loop.test is not None:
                with self._frame(step, loop.test.name, "test"):
                    limits = self.walk(loop.test, [*loop.test_constants, *states], known)
                if not self._is_true(limits):
                    break
            with self._frame(step, inner.name, "turn"):
                start = self._start(step, loop, limits, states, turn)
                ends = self.walk(inner, [*loop.constants, *start], known)
                if loop.test is not None and limits[0].value.shape:
                    ends = self._kept(step, inner, limits, ends, start)
            if loop.is_counted:
                limits, ends = ends[:1], ends[1:]
            scanned.append(ends[len(states) :])
            states = ends[: len(states)]
            if loop.is_counted and not self._is_true(limits):
                break
        written = [*limits, *states, *chain.from_iterable(scanned)]
        states, scanned, settings = self.rest(step, loop, states, scanned)
        outputs = self._passed(states, body, step.outputs)
        outputs += self._stacks(visit, loop, scanned)
        self.call(step, f"{step.name}.result", written, outputs, "merge", settings=settings)
        return outputs

    def _is_true(self, limits: Values) -> bool:
        return self.evaluator is None or bool(self.evaluator.numpy.any(limits[0].array))

    def _start(
        self, step: Step, loop: Loop, limits: Values, states: Values, turn: int
    ) -> list[WalkedValue]:
        """Return the inputs of a loop's body for an iteration; record a call that makes them.

        If an input of the call is a literal, such as an initial state, the box shows its number.
        """
        inner, keys = loop.body, loop.body.inputs[len(loop.constants) :]
        inputs, start = [*limits, *states, *loop.rows], []
        if loop.is_counted:
            counted = (np.asarray(turn, np.int64), np.asarray(True))
            start = [self.made(inner, *pair) for pair in zip(keys[:2], counted, strict=True)]
            keys = keys[2:]
        start += self._passed(states, inner, keys)
        for rows, each, key in zip(loop.rows, loop.axes, keys[len(states) :], strict=True):
            array = self.evaluator and piece_of(rows.array, each, turn)
            start.append(self.made(inner, key, array))
        settings = dict(step.settings)
        if any(one.words for one in inputs):
            settings[""] = ", ".join(one.words or "x" for one in inputs)
        self.call(step, f"{inner.name}.start", inputs, start, "shaping", settings=settings)
        return start

    def _kept(
        self, step: Step, body: Body, limits: Values, ends: Values, start: Values
    ) -> list[WalkedValue]:
        """Return a loop's states after an iteration whose test has one result for each sample.

        A sample keeps its old states if the result of its test is false.
        """
        kept, (condition,) = [], limits
        for key, new, old in zip(body.outputs, ends, start, strict=True):
            arrays = condition.array, new.array, old.array
            array = self.evaluator and selected(self.evaluator.numpy, *arrays)
            kept.append(self.made(body, key, array))
        self.call(step, f"{body.name}.kept", [*limits, *ends, *start], kept, "merge")
        return kept

    def _stacks(self, visit: Visit, loop: Loop, scanned: Scanned) -> list[WalkedValue]:
        """Return the loop's stacked outputs, which contain one item for each iteration."""
        number = len(loop.states)
        inner = loop.body.outputs[number + loop.is_counted :]
        outputs = []
        for place, key in enumerate(visit.step.outputs[number:]):
            pieces = [turn[place].array for turn in scanned]
            of_one, each = self.type_of(loop.body, inner[place]), loop.stacks[place]
            array = self.evaluator and stacked(self.evaluator.numpy, pieces, each, of_one)
            outputs.append(self.made(visit.body, key, array))
        return outputs

    # --- values -----------------------------------------------------------------------------------

    def computed(self, visit: Visit) -> list[WalkedValue]:
        """Return the outputs of a step without bodies, with arrays if there is an evaluator."""
        body, keys = visit.body, visit.step.outputs
        arrays = repeat(None) if self.evaluator is None else iter(self.evaluator.compute(visit))
        return [self.made(body, key, next(arrays)) if key else self.absent() for key in keys]

    def made(self, body: Body, key: Any, array: Any) -> WalkedValue:
        """Return a new value with this array, or with only a type if nothing is computed.

        The body declares this type for `key`.
        """
        if self.evaluator is None:
            return self.declared(self.type_of(body, key))
        return self.given(array)

    def given(self, array: Any) -> WalkedValue:
        """Return a value with a new token for a computed array."""
        assert self.evaluator is not None
        return WalkedValue(self.evaluator.value_of(next(self.tokens), array), array)

    def declared(self, known: ArrayType) -> WalkedValue:
        """Return a value with a new token and a type, but without an array."""
        token = next(self.tokens)
        if known.shape is None:
            self.unknown.add(token)
        return WalkedValue(Value(token, known.sizes, known.dtype))

    def absent(self) -> WalkedValue:
        """Return a value that represents an omitted input or output of a step."""
        return WalkedValue(Value(next(self.tokens), (), ABSENT))

    def _passed(self, values: Values, body: Body, keys: Sequence[Any]) -> list[WalkedValue]:
        """Return the values that are passed into or out of a body: the same arrays with new tokens.

        Without arrays, a new value has the type that the body declares for its key. If the body
        declares no shape, the new value has the shape of the old value.
        """
        if self.evaluator is not None:
            return [self.given(one.array) for one, _ in zip(values, keys, strict=False)]
        passed = []
        for (before, *_), key in zip(values, keys, strict=False):
            known = self.type_of(body, key)
            if known.shape is None and before.token not in self.unknown:
                known = ArrayType(before.shape, known.dtype or before.dtype)
            passed.append(self.declared(known))
        return passed

    # --- overridden for each library --------------------------------------------------------------

    def leaf(self, visit: Visit) -> list[WalkedValue]:
        """Record a step without a `Body` (an inner graph), and return its outputs."""
        raise NotImplementedError

    def loop_of(self, visit: Visit) -> Loop | None:
        """Return the `Loop` of a step with graphs; None if it is a condition with branches."""
        raise NotImplementedError

    def enter_constants(self, body: Body, known: dict[Any, WalkedValue]) -> None:
        """Add a body's constants to the dict `known`, and record those that are drawn as boxes."""
        raise NotImplementedError

    def read(self, key: Any, known: Mapping[Any, WalkedValue]) -> WalkedValue:
        """Return the value of a key, which is a name in ONNX, and a variable or literal in JAX."""
        return known[key]

    def type_of(self, body: Body, key: Any) -> ArrayType:
        """Return the dtype and shape that a body declares for the value with this key."""
        return body.types.get(key, ArrayType())

    def rest(
        self, step: Step, loop: Loop, states: list[WalkedValue], scanned: Scanned
    ) -> tuple[list[WalkedValue], Scanned, Mapping[str, Setting]]:
        """Compute the iterations of a loop that are not recorded.

        Return the states after the last iteration, a list with the stacked outputs of each
        iteration, and the settings that the box of the loop shows.
        """
        return states, scanned, step.settings


# --- arrays of any library ------------------------------------------------------------------------


def selected(numpy: Any, condition: Any, new: Any, old: Any) -> Any:
    """Return an array with each row of `new` where the condition is true, otherwise of `old`."""
    ones = (1,) * (new.ndim - condition.ndim)
    return numpy.where(condition.reshape(condition.shape + ones), new, old)


def stacked(numpy: Any, pieces: Sequence[Any], each: Each, of_one: ArrayType) -> Any:
    """Return the arrays of all iterations of a loop, stacked; an empty array without iterations."""
    axis, is_backwards = each
    if not pieces:
        sizes = [size or 0 for size in of_one.sizes]
        sizes.insert(axis if axis >= 0 else len(sizes) + 1 + axis, 0)
        return numpy.zeros(sizes, of_one.dtype or "float32")
    return numpy.stack(pieces[::-1] if is_backwards else pieces, axis=axis)


def piece_of(array: Any, each: Each, turn: int) -> Any:
    """Return the slice of an array that one iteration of a loop gets."""
    axis, is_backwards = each
    return array[(slice(None),) * (axis % array.ndim) + (-1 - turn if is_backwards else turn,)]
