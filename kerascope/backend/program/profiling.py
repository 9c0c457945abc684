"""The profiler: time and memory of a function, measured line by line in its program.

The program itself is measured, on real arrays, in many calls. Before each call the variables get
their values back. So every call computes the same numbers, profiling trains nothing, and the random
state is unchanged. The time of a line is the median over all calls, without the cost of reading the
clock.

This module prints nothing; `viz.profile` makes tables and pictures of its result.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.engines import programs_of_engine
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.graph import Op
from kerascope.backend.program.bound import Line
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.emit import Kind, compiled, function_of
from kerascope.backend.program.flat import SCOPE, Group
from kerascope.backend.program.program import Program
from kerascope.backend.program.source import Source
from kerascope.backend.provenance import short_line
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError

if TYPE_CHECKING:
    from kerascope.backend.function import Function

__all__ = ["Measured", "MeasuredLine", "made_up_inputs", "measure", "timed"]

Result = TypeVar("Result")


# --- a program with a clock between its statements, and one that calls nothing --------------------
#
# The text of a program is straight-line Python, so it can be measured statement by statement. A
# copy of it reads a clock before the first statement and after each one, and returns the readings
# instead of the outputs. The atomic write is measured in the same way: the statements of
# `new_values` replace the call of `write()`. A second copy looks up the same names but calls
# nothing: its time is what Python needs to go from line to line.


Clock = Callable[[], int]  # in nanoseconds

CLOCK = "__clock"  # names in programs, made from tensor names, never begin like this
READING = "__reading_"
NOTHING = "__nothing"
TRIALS = 200  # consecutive readings, to measure the cost of a reading

# Accepts any arguments and does almost nothing. It is written in C, like the calls it replaces.
nothing = "".format


def statements_of(source: Source) -> list[ast.stmt]:
    """Return the statements of a program without its `return`."""
    *body, _ = function_of(source.text).body
    if ast.unparse(body[-1]) != "write()":
        return body
    return [*body[:-1], *function_of(source.text, "new_values").body]


def with_clock(source: Source, clock: Clock) -> Callable[..., tuple[int, ...]]:
    """Return the program as a function that returns clock readings before and after each statement.

    Parameters
    ----------
    source : Source
    clock : callable
        Returns nanoseconds.
    """
    function = function_of(source.text)
    function.body = _with_readings(statements_of(source))
    return compiled(function, "measured", {**source.scope, CLOCK: clock})


def cost_of(clock: Clock) -> float:
    """Return the cost of one clock reading in nanoseconds: the median of some trials.

    Examples
    --------
    >>> from itertools import count
    >>> cost_of(count(0, 5).__next__)
    5.0
    """
    function = function_of("def trial(): pass")
    function.body = _with_readings([ast.Pass() for _ in range(TRIALS)])
    readings = compiled(function, "measured", {CLOCK: clock})()
    return float(median(differences(readings)))


def differences(readings: Sequence[int]) -> list[int]:
    """Return the differences between successive readings of the clock.

    Examples
    --------
    >>> differences([3, 5, 9])
    [2, 4]
    """
    return [after - before for before, after in itertools.pairwise(readings)]


def without_calls(source: Source) -> Callable[..., Any]:
    """Return the program as a function that looks up all names but calls no NumPy functions."""
    function = function_of(source.text)
    idle = _Idle(source.scope)
    function.body = [idle.visit(statement) for statement in statements_of(source)]
    return compiled(function, "measured", {**source.scope, NOTHING: nothing})


class _Idle(ast.NodeTransformer):
    """Replaces each call `f(x)` in a program by `nothing(f, x)`, which computes nothing.

    So arrays are not computed, and their methods and attributes (`x.reshape(2, 3)`, `x.T`) are
    replaced by `x`.
    """

    def __init__(self, scope: Container[str]) -> None:
        self.scope = scope

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        # The replacement returns one object: assign it to each of the names.
        targets = target.elts if isinstance(target, ast.Tuple) else node.targets
        return ast.Assign(list(targets), node.value)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_known = isinstance(root, ast.Name) and root.id in self.scope
        return node if is_known else self.visit(root)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(NOTHING, ast.Load()), [node.func, *node.args], node.keywords)


def _with_readings(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements with clock readings between them, and a `return` of all readings."""
    names = [f"{READING}{number}" for number in range(len(statements) + 1)]
    read = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Call(ast.Name(CLOCK, ast.Load()), [], []))
        for name in names
    ]
    body: list[ast.stmt] = [read[0]]
    for statement, after in zip(statements, read[1:], strict=True):
        body += [statement, after]
    listed: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    return [*body, ast.Return(ast.Tuple(listed, ast.Load()))]


# --- the op, layer, phase and memory of each line -------------------------------------------------
#
# A statement of the text is an op, the loop that updates many weights at once, the write of a new
# value, or the return of the outputs. Together they are the whole call, so the times of all phases,
# of all layers and of all ops have the same sum.


PHASES = ("forward", "loss", "metrics", "backward", "update", "return")
OPTIMIZER = "optimizer"  # the layer of ops that belong to none


@dataclass(frozen=True)
class MeasuredLine:
    """One op of a program, with its cost in each call.

    Attributes
    ----------
    op : str
        `dot`; or `update` (a weight's share of a loop over many weights), `commit` (the write of a
        new value), `copy`, `return`.
    name : str
        The name of the result: `dense_1/dot`.
    phase : str
        One of `PHASES`.
    scope, layer : str
        The scope of the op, and the layer that it belongs to; "" for none.
    seconds : float
        The time in each call.
    line : int
        The number of the line in the program's text, from 1.
    inputs, outputs : tuple of Spec
        Shapes and dtypes; those that are unknown are omitted.
    n_bytes : int
        The size of the results.
    memory : str
        How the results get their memory: "own", "again: dense_1/dot" (reused from that array),
        "beside its kind" (in one array with similar results, such as all gradients), "each call"
        (allocated), "view", "in place"; or "".
    definition : Op or None
        The op as an object; None for an update, a write, a copy or a return.
    made_at : str
        The user's line that made the op or its layer, such as "train.py:11".
    """

    op: str
    name: str
    phase: str
    scope: str
    layer: str
    seconds: float
    line: int
    inputs: tuple[Spec, ...] = ()
    outputs: tuple[Spec, ...] = ()
    n_bytes: int = 0
    memory: str = ""
    definition: Op | None = None
    made_at: str = ""

    @property
    def traffic(self) -> int:
        """The number of bytes that the op reads and writes; 0 for a view."""
        if self.memory == "view":
            return 0
        return sum(spec.n_bytes for spec in (*self.inputs, *self.outputs))


def layer_of(scope: str) -> str:
    """Return the layer to which the ops in a scope belong.

    Examples
    --------
    >>> layer_of("gradients/encoder/dense_1"), layer_of("update/dense_1/kernel")
    ('encoder/dense_1', 'dense_1')
    >>> layer_of("dense_2_loss"), layer_of("dense_1/weight_regularizer")
    ('dense_2_loss', 'dense_1')
    """
    parts = scope.split("/")
    if parts[0] == "update":
        return "/".join(parts[1:-1])
    while parts and parts[0] in ("gradients", "clip"):
        parts.pop(0)
    if len(parts) > 1 and parts[-1] in ("weight_regularizer", "activity_regularizer", "step"):
        parts.pop()
    return "/".join(parts)


def lines_of(draft: Draft, seconds: Sequence[float]) -> Iterator[MeasuredLine]:
    """Yield a `MeasuredLine` for each statement of a program; several for a group or a stack.

    Parameters
    ----------
    draft : Draft
        The draft of the program.
    seconds : list of float
        The time of each statement of its text.
    """
    yield from _LineReader(draft).lines(seconds)


class _LineReader:
    """Makes the `MeasuredLine`s of a program: relates the statements of its text to its plan."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.source = draft.source
        self.bound = draft.plan.bound
        self.tensors = {slot: x.name for x, slot in self.bound.schedule.slots.items()}
        known = [*self.bound.facts, *self.tensors, *draft.plan.slot_of.values()]
        names = self.source.names
        self.slots = {names[slot]: slot for slot in known if slot in names}
        self.variables = {slot: v for v, slot in draft.plan.slot_of.items()}
        steps = self.bound.schedule.steps
        self.has_optimizer = any(step.apply.scope.name.startswith(SCOPE) for step in steps)

    def lines(self, seconds: Sequence[float]) -> Iterator[MeasuredLine]:
        """Yield a `MeasuredLine` for each op, weight update and other statement of the program."""
        groups = dict(zip(self.source.group_lines, self.draft.plan.groups, strict=True))
        for statement, time in zip(statements_of(self.source), seconds, strict=True):
            positions = self.source.positions_of(statement)
            if positions:
                for position in positions:
                    yield self._of_op(position, time / len(positions))
            elif statement.lineno in groups:
                yield from self._of_group(groups[statement.lineno], statement, time)
            else:
                yield self._of_end(statement, time)

    def _layer(self, scope: str, phase: str) -> str:
        layer = layer_of(scope)
        return OPTIMIZER if not layer and phase == "update" and self.has_optimizer else layer

    # --- ops --------------------------------------------------------------------------------------

    def _of_op(self, position: int, time: float) -> MeasuredLine:
        line = self.bound.lines[position]
        scope = line.step.apply.scope.name
        phase = line.step.phase.word
        outputs = self._specs(line.outputs)
        is_view = self._kind(position) is Kind.VIEW
        return MeasuredLine(
            op=line.op.name,
            name=line.step.apply.name,
            phase=phase,
            scope=scope,
            layer=self._layer(scope, phase),
            seconds=time,
            line=self.source.line_numbers[position],
            inputs=self._specs(line.inputs),
            outputs=outputs,
            n_bytes=0 if is_view else sum(spec.n_bytes for spec in outputs),
            memory=self._memory(position, line),
            definition=line.op,
            made_at=short_line(line.step.apply),
        )

    def _kind(self, position: int) -> Kind:
        return self.draft.plan.writings[position].kind

    def _specs(self, slots: Sequence[int]) -> tuple[Spec, ...]:
        facts = [self.bound.facts.get(slot) or self.bound.recorded.get(slot) for slot in slots]
        return tuple(fact.spec for fact in facts if fact is not None)

    def _memory(self, position: int, line: Line) -> str:
        kind = self._kind(position)
        if kind is not Kind.CALL:
            return "view" if kind is Kind.VIEW else "each call"
        memory = self.draft.memory
        if line.outputs[0] in memory.places:
            return "beside its kind"
        origin = memory.origin.get(line.outputs[0])
        if origin is None:
            return "own"
        return f"again: {self.tensors.get(origin, '?')}"

    # --- the end ----------------------------------------------------------------------------------

    def _of_group(self, group: Group, loop: ast.stmt, time: float) -> Iterator[MeasuredLine]:
        """Yield a `MeasuredLine` for each weight of a group.

        It contains the weight's share of the time of `loop`, which updates the whole group.
        """
        sizes = [self._specs(part.roles[:1])[0] for part in group.parts]
        total = sum(spec.n_bytes for spec in sizes) or 1
        for part, spec in zip(group.parts, sizes, strict=True):
            scope = part.lines[0].step.apply.scope.name
            written = [self._specs([part.roles[role]])[0] for role in part.targets.values()]
            yield MeasuredLine(
                op="update",
                name=scope,
                phase="update",
                scope=scope,
                layer=self._layer(scope, "update"),
                seconds=time * spec.n_bytes / total,
                line=loop.lineno,
                inputs=self._specs(part.roles),
                outputs=tuple(written),
                memory="in place",
                made_at=short_line(part.lines[0].step.apply),
            )

    def _of_end(self, statement: ast.stmt, time: float) -> MeasuredLine:
        """Return the `MeasuredLine` of a statement without an op: a return, a write or a copy."""
        words = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
        slots = [self.slots[word] for word in words if word in self.slots]
        if isinstance(statement, ast.Assign) and "outputs" in words:
            specs = self._specs(self.draft.plan.outputs)
            size = sum(spec.n_bytes for spec in specs)
            return MeasuredLine(
                "return", "return", "return", "", "", time, statement.lineno,
                specs, specs, size, "each call",
            )  # fmt: skip
        written = next((self.variables[slot] for slot in slots if slot in self.variables), None)
        if written is not None:
            return self._of_commit(written, statement, time)
        maker = self.bound.makers.get(slots[-1]) if slots else None
        scope = maker.step.apply.scope.name if maker is not None else ""
        specs = self._specs(slots[-1:])
        return MeasuredLine(
            "copy", self.tensors.get(slots[-1], "") if slots else "", "update", scope,
            self._layer(scope, "update"), time, statement.lineno, specs, specs,
        )  # fmt: skip

    def _of_commit(self, variable: Variable, statement: ast.stmt, time: float) -> MeasuredLine:
        scope = f"{SCOPE}{variable.name}"
        spec = Spec(variable.room.shape, variable.room.dtype)
        layer = self._layer(scope, "update")
        return MeasuredLine(
            "commit", variable.name, "update", scope, layer, time, statement.lineno,
            (spec,), (spec,), memory="in place",
        )  # fmt: skip


# --- measuring ------------------------------------------------------------------------------------


FEWEST, MOST = 5, 1000  # calls, unless `repeats` is given
NANO = 1e-9
# Errors of lines that need a result which the copy without calls has not computed.
NOT_COMPUTED = (AttributeError, TypeError, ValueError)


@dataclass(frozen=True)
class Measured:
    """The cost of a function's calls.

    Attributes
    ----------
    name : str
        The name of the function.
    lines : tuple of MeasuredLine
        The lines in the order of the program.
    calls : int
        The number of measured calls.
    whole : float
        The median time of a call without clock readings, in seconds.
    python : float or None
        Seconds per call that Python takes to go from line to line; None if unknown.
    inputs : tuple of tuple of int
        The shapes of the input arrays.
    are_made_up : bool
        Whether the input arrays were generated because none were given.
    planned : int
        The size in bytes of the memory that is planned once for all calls.
    is_on_jax : bool
        Whether JAX computes the function when it is not measured.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder((2, 3))
    >>> measured = measure(K.function([x], [K.exp(x)]), [np.ones((2, 3))], repeats=3)
    >>> measured.calls, measured.inputs, measured.needed, [line.op for line in measured.lines]
    (3, ((2, 3),), 48, ['exp', 'return'])
    """

    name: str
    lines: tuple[MeasuredLine, ...]
    calls: int
    whole: float
    python: float | None
    inputs: tuple[tuple[int, ...], ...]
    are_made_up: bool
    planned: int
    is_on_jax: bool = False

    @property
    def seconds(self) -> float:
        """The sum of the times of all lines."""
        return sum(line.seconds for line in self.lines)

    @property
    def needed(self) -> int:
        """The size of all results in bytes: what a call would need without reused memory."""
        return sum(line.n_bytes for line in self.lines)


def measure(
    function: Function,
    inputs: Sequence[Any] | None = None,
    *,
    repeats: int | None = None,
    seconds: float = 1.0,
    clock: Clock = perf_counter_ns,
) -> Measured:
    """Measure the calls of a function; its variables keep their values.

    Parameters
    ----------
    function : Function
    inputs : list of array_like, optional
        As for a call; by default generated numbers, in the shapes of the newest program.
    repeats : int, optional
        The number of calls; by default as many as fit into `seconds`, from 5 to 1,000.
    seconds : float
        The time for all calls, if `repeats` is not given.
    clock : callable
        Returns nanoseconds.

    Raises
    ------
    ArgumentError
        No inputs were given and the function has no program yet, or it cannot be compiled.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, w = K.placeholder((2, 3)), K.variable([1.0])
    >>> f = K.function([x], [K.sum(K.exp(x))], updates=[(w, 2 * w)])
    >>> measured = measure(f, [np.ones((2, 3))], repeats=3)
    >>> [line.op for line in measured.lines], K.get_value(w).tolist()
    (['exp', 'sum', 'multiply', 'return', 'commit'], [1.0])
    """
    if repeats is not None and (not isinstance(repeats, int) or repeats < 1):
        raise ArgumentError(f"profile: expected 1 or more calls as repeats, got {repeats!r}.")
    are_made_up = inputs is None
    if inputs is None:
        inputs = made_up_inputs(_last_program(function))
    arrays = function._arrays(inputs)
    options = (are_made_up, repeats, seconds, clock)
    return with_float_settings(_measured, function, arrays, *options)


def _measured(
    function: Function,
    arrays: Sequence[np.ndarray],
    are_made_up: bool,
    repeats: int | None,
    seconds: float,
    clock: Clock,
) -> Measured:
    with LOCKS.steps, _restored_variables(function) as restore, _without_printing(function):
        program = _program_for(function, arrays, restore)
        program(arrays)  # moves its variables; from here on the program does not change
        draft = program.draft()

        LOCKS.calls += 1
        try:
            restore()
            times = _times(draft.source, arrays, restore, repeats, seconds, clock)
        finally:
            LOCKS.calls -= 1
    return Measured(
        name=function.name,
        lines=tuple(lines_of(draft, times.of_statements)),
        calls=times.calls,
        whole=times.whole,
        python=times.python,
        inputs=tuple(array.shape for array in arrays),
        are_made_up=are_made_up,
        planned=program.n_bytes,
        is_on_jax=programs_of_engine(function) is not function._programs,
    )


def made_up_inputs(program: Program) -> list[np.ndarray]:
    """Return inputs for a program: random floats from 0 to 1, zeros for other dtypes.

    Conditions, and sample weights that are all 1, keep the values for which the program was made.
    """
    rng = np.random.default_rng(0)
    trial = program.trial
    arrays = []
    for slot, spec in enumerate(trial.specs):
        if slot in trial.numbers:  # a condition, or constant ones
            arrays.append(trial.numbers[slot])
        elif spec.dtype.kind == "f":
            arrays.append(rng.random(spec.shape).astype(spec.dtype))
        else:
            arrays.append(np.zeros(spec.shape, spec.dtype))
    return arrays


# --- the program ----------------------------------------------------------------------------------


def _last_program(function: Function) -> Program:
    if not function.programs:
        raise ArgumentError(
            f"{function.name}: there is nothing to profile yet. Call it twice first, or give "
            f"inputs: function.profile([x, y]), one array for each of {function.inputs}."
        )
    return function.programs[-1]


def _program_for(
    function: Function, arrays: Sequence[np.ndarray], restore: Callable[[], None]
) -> Program:
    """Return the program for these arrays; if there is none yet, call the function to make it."""
    for _ in range(4):
        program = function._programs.program_for(arrays)
        if program is not None:
            return program
        function._programs(arrays)
        restore()
    raise ArgumentError(
        f"{function.name}: no program to profile. With {len(function.schedule.steps):,} ops the "
        f"function is too long to be compiled."
    )


@contextmanager
def _restored_variables(function: Function) -> Iterator[Callable[[], None]]:
    """Return a context manager with a function that restores the variables that a call writes.

    The variables are also restored when the context ends.
    """
    kept: list[tuple[Variable, np.ndarray]] = [
        (update.variable, update.variable.get_value()) for update in function.updates
    ]

    def restore() -> None:
        set_values(kept)

    try:
        yield restore
    finally:
        restore()


@contextmanager
def _without_printing(function: Function) -> Iterator[None]:
    """Return a context manager that discards the output of ops that print in each call."""
    if all(step.apply.op.is_pure for step in function.schedule.steps):
        yield
        return
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


# --- the measured loop ----------------------------------------------------------------------------


def timed(clock: Clock, call: Callable[..., Result], *arguments: Any) -> tuple[int, Result]:
    """Return the time of a call in nanoseconds, and the result of the call."""
    start = clock()
    result = call(*arguments)
    return clock() - start, result


class _Times(NamedTuple):
    """Median times of a program over the measured calls, in seconds.

    Attributes
    ----------
    calls : int
        The number of measured calls.
    of_statements : list of float
        The time of each statement.
    whole : float
        The time of a call without clock readings.
    python : float or None
        The time of a call that calls no NumPy functions; None if such a call fails.
    """

    calls: int
    of_statements: list[float]
    whole: float
    python: float | None


def _times(
    source: Source,
    arrays: Sequence[np.ndarray],
    restore: Callable[[], None],
    repeats: int | None,
    seconds: float,
    clock: Clock,
) -> _Times:
    """Return median times of many calls of a program.

    Three kinds of calls are measured: with clock readings, without them, and without calling the
    NumPy functions.
    """
    measured, plain, idle = (
        with_clock(source, clock), source.scope[source.name], without_calls(source)
    )  # fmt: skip
    cost = cost_of(clock)

    def one_round() -> tuple[list[int], int, int | None]:
        of_statements = differences(measured(*arrays))
        restore()
        whole, _ = timed(clock, plain, *arrays)
        restore()
        try:
            return of_statements, whole, timed(clock, idle, *arrays)[0]
        except NOT_COMPUTED:
            return of_statements, whole, None

    def median_of(times: Sequence[int]) -> float:
        return max(median(times) - cost, 0) * NANO

    _, whole, python = one_round()  # this call also warms up
    took = (2 * whole + (python or 0)) * NANO
    calls = repeats or int(min(max(seconds / max(took, 1e-9), FEWEST), MOST))
    statements, wholes, idles = zip(*(one_round() for _ in range(calls)), strict=True)
    median_whole = median_of(wholes)
    return _Times(
        calls,
        [median_of(times) for times in zip(*statements, strict=True)],
        median_whole,
        None if None in idles else min(median_of(idles), median_whole),
    )
