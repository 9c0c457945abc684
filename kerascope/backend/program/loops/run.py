"""Run loops, by the compiled program of a loop or by an interpreter, and check the results.

The interpreter repeats the schedule of one step, with buffers for the results. Work that is needed
once is done before: the schedule is made, sequences are stored contiguously, and buffers for all
steps are allocated after the first step, when their shapes are known. Between two steps only the
results are copied into their buffers. An output that is also a state shares its buffer.

The program (`program.py`) is compiled at the first run with arrays of some shapes. Compiled and
interpreted functions both use it, so they give the same bits. The interpreter runs the loops that
cannot be compiled: loops without steps, with branches, or with ops that print or draw random
numbers.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from kerascope.backend.arrays import Spec
from kerascope.backend.atomic import WITHOUT_WAITING
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.program.alarms import current_alarms
from kerascope.backend.program.checks import ARE_CHECKED, are_same, checked_loops, own_failure
from kerascope.backend.program.loops.calls import Layout
from kerascope.backend.program.loops.program import LoopProgram, loop_program
from kerascope.backend.schedule import is_needed, perform_on
from kerascope.errors import DataError, ShapeError, VerificationError


def run_loop(
    inner: InnerGraph, arrays: Sequence[Any], backwards: bool, least_steps: int
) -> list[Any]:
    """Run a loop with the interpreter.

    Parameters
    ----------
    inner : InnerGraph
        The graph of one step.
    arrays : sequence of array
        Sequences (time, ...), initial states, and arrays that are the same in each step.
    backwards : bool
        Whether the loop starts with the last step.
    least_steps : int
        The smallest number of steps that is allowed.

    Returns
    -------
    list of array
        Sequences of the outputs, histories of the states, last states, sums of the terms.

    Raises
    ------
    DataError
        The sequences differ in length, or are shorter than `least_steps`.
    ShapeError
        A step changes the shape of a state.
    """
    n, m = len(inner.sequences), len(inner.sequences) + len(inner.states)
    sequences = [np.ascontiguousarray(x) if np.ndim(x) > 1 else x for x in arrays[:n]]
    n_steps = number_of_steps(sequences, least_steps)
    values = inner.schedule.start(arrays)
    if n_steps == 0:
        return _without_steps(inner, values, sequences, arrays[n:m])
    buffers = _Buffers(inner, n_steps, backwards)
    states = list(arrays[n:m])
    for step in range(n_steps - 1, -1, -1) if backwards else range(n_steps):
        values[:n] = [x[step] for x in sequences]
        values[n:m] = states
        try:
            results = perform_step(inner, values)
            states = buffers.keep(step, states, results)
        except Exception as error:
            error.add_note(f"In step {step} of {n_steps} of a loop over {_names(inner)}.")
            raise
    return buffers.whole()


def perform_step(inner: InnerGraph, values: list[Any]) -> list[Any]:
    """Perform the schedule of one step on the slots `values`, and return the step's results."""
    alarms = current_alarms()
    for step in inner.schedule.steps:
        if not step.guards or is_needed(step.guards, values):
            perform_on(step, values)
            if alarms is not None:
                alarms.inspect_step(step, values)
    return [values[slot] for slot in inner.schedule.results]


class _Buffers:
    """Stores the results of all steps of a loop, in buffers allocated after the first step.

    The buffer of a state has one place more than there are steps, for the initial value.
    """

    def __init__(self, inner: InnerGraph, n_steps: int, backwards: bool) -> None:
        self.inner = inner
        self.n_steps = n_steps
        self.backwards = backwards
        self.outputs: list[Any] = []
        self.states: list[Any] = []
        self.sums: list[Any] = []
        new_states = {y: index for index, y in enumerate(inner.results.new_states)}
        # An output that is also a new state shares the buffer of that state.
        self.shared = [new_states.get(y) for y in inner.results.outputs]

    def keep(self, step: int, states: list[Any], results: list[Any]) -> list[Any]:
        """Store the results of a step in buffers; return its new states as parts of the buffers."""
        n_outputs, n_states = len(self.shared), len(states)
        outputs, terms = results[:n_outputs], results[n_outputs + n_states :]
        if not (self.outputs or self.states or self.sums):
            self._allocate(outputs, states, terms)
        else:
            for total, term in zip(self.sums, terms, strict=True):
                np.add(total, term, out=total)
        for buffer, y in zip(self.outputs, outputs, strict=True):
            if buffer is not None:
                buffer[step] = y
        after = step if self.backwards else step + 1
        new_states = results[n_outputs : n_outputs + n_states]
        for buffer, old, new in zip(self.states, states, new_states, strict=True):
            if np.shape(new) != np.shape(old):
                raise ShapeError(
                    f"A state of a loop must keep its shape: expected {np.shape(old)}, "
                    f"got {np.shape(new)}."
                )
            buffer[after] = new
        return [buffer[after] for buffer in self.states]

    def _allocate(self, outputs: list[Any], states: list[Any], terms: list[Any]) -> None:
        def room(n: int, like: Any) -> np.ndarray:
            return np.empty((n, *np.shape(like)), np.asarray(like).dtype)

        self.outputs = [
            room(self.n_steps, y) if index is None else None
            for y, index in zip(outputs, self.shared, strict=True)
        ]
        self.states = [room(self.n_steps + 1, state) for state in states]
        for buffer, state in zip(self.states, states, strict=True):
            buffer[self.n_steps if self.backwards else 0] = state
        self.sums = [np.array(term) for term in terms]

    def whole(self) -> list[Any]:
        """Return all results of the loop, from the buffers."""
        first, last = slice(None, -1), slice(1, None)
        before, after, end = (last, first, 0) if self.backwards else (first, last, -1)
        return [
            *(
                buffer if index is None else self.states[index][after]
                for buffer, index in zip(self.outputs, self.shared, strict=True)
            ),
            *(buffer[before] for buffer in self.states),
            *(buffer[end] for buffer in self.states),
            *self.sums,
        ]


def number_of_steps(sequences: Sequence[Any], least_steps: int) -> int:
    """Return the number of steps; DataError if the sequences are too short or differ in length."""
    counts = sorted({len(x) for x in sequences})
    if len(counts) > 1:
        raise DataError(f"scan: expected sequences of equal length, got {counts} steps.")
    if counts[0] < least_steps:
        raise DataError(f"scan: expected at least {least_steps} steps, got {counts[0]}.")
    return counts[0]


def _without_steps(
    inner: InnerGraph, values: list[Any], sequences: Sequence[Any], states: Sequence[Any]
) -> list[Any]:
    """Return the results of a loop without steps; their shapes come from one step on zeros."""
    values[: len(sequences)] = [np.zeros(x.shape[1:], x.dtype) for x in sequences]
    values[len(sequences) : len(sequences) + len(states)] = states
    results = perform_step(inner, values)
    n = len(inner.results.outputs)
    terms = results[n + len(states) :]
    return [
        *(np.zeros((0, *np.shape(y)), np.asarray(y).dtype) for y in results[:n]),
        *(np.zeros((0, *np.shape(state)), np.asarray(state).dtype) for state in states),
        *states,
        *(np.zeros_like(term) for term in terms),
    ]


def _names(inner: InnerGraph) -> str:
    return ", ".join(map(repr, inner.sequences))


# --- checking a loop against its interpreter ------------------------------------------------------
#
# Compiled and interpreted functions use the same loop program, so comparing them does not reveal an
# error in it. Inside `checked_loops()` (`backend/program/checks.py`) each loop is checked
# separately: each step is interpreted with the inputs of that step, including the states that the
# loop has stored. So rounding errors do not grow from step to step, and the first wrong step is
# known.
#
# If the loop computes the same sums and products in the same order, every bit must agree. The rules
# of `calls.py` change the order. Then an element may differ by `ROUNDINGS` units in the last place
# of the largest element of its array. In steps that cancel or compare nearly equal numbers, it may
# differ by `PERTURBATIONS` times the change of the result when the step's inputs change in the last
# place. Elements must be finite, infinite (with the same sign) or NaN in both results.


ROUNDINGS = 32
PERTURBATIONS = 16
N_TRIALS = 4

Compute = Callable[[InnerGraph, Sequence[Any]], list[Any]]


class Difference(Exception):
    """Raised if a result of a loop differs from that of its interpreter.

    Attributes
    ----------
    tensor : Tensor
        The tensor in the graph of the step whose value differs.
    where : str
        The step of the loop, such as "in step 3 of 10", or "in the sum over 10 steps".
    got, wanted : array
        The value from the loop program, and the value from the interpreter.
    """

    def __init__(self, tensor: Tensor, where: str, got: Any, wanted: Any) -> None:
        super().__init__(tensor, where)
        self.tensor = tensor
        self.where = where
        self.got = np.array(got)
        self.wanted = np.array(wanted)


def check_loop(
    inner: InnerGraph,
    arrays: Sequence[Any],
    results: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
    compute: Compute,
) -> None:
    """Compare the results of a loop program with those of the interpreter.

    Parameters
    ----------
    inner : InnerGraph
        The graph of one step.
    arrays : sequence of array
        The inputs of the loop.
    results : sequence of array
        All results of the loop.
    backwards : bool
        Whether the loop starts with the last step.
    is_exact : callable
        Returns whether the program computes all sums and products in the order of the graph, so
        that its results must be equal bit for bit.
    compute : callable
        Compiles and runs another loop; used after a difference to get the results of all ops.

    Raises
    ------
    VerificationError
        The results differ by more than another order of roundings explains.
    """
    try:
        _compare(inner, arrays, results, backwards, is_exact)
    except Difference as found:
        first = _first_inside(inner, arrays, backwards, is_exact, compute, found)
        raise _error(inner, first) from None


def _first_inside(
    inner: InnerGraph,
    arrays: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
    compute: Compute,
    found: Difference,
) -> Difference:
    """Return the difference at the first op of a step whose result is wrong.

    For this the loop is run again with the results of all ops. If that shows no difference or is
    impossible, return `found`, a difference in the results of the loop.
    """
    everything = tuple(y for apply in inner.applies for y in apply.outputs)
    whole = InnerGraph(
        inner.sequences, inner.states, inner.others, inner.results._replace(outputs=everything)
    )
    try:
        _compare(whole, arrays, compute(whole, arrays), backwards, is_exact)
    except Difference as first:
        return first
    except Exception:  # the larger loop cannot be compiled
        return found
    return found


def _error(inner: InnerGraph, found: Difference) -> VerificationError:
    maker = found.tensor.owner
    op = "" if maker is None else f" = {maker!r}"
    return VerificationError(
        f"The compiled loop over {_names_of(inner)} and its interpreter differ in "
        f"'{found.tensor.name}'{op}, {found.where}: the loop has {_shortly(found.got)}, "
        f"its interpreter has {_shortly(found.wanted)}. No variable was changed. Please report "
        f"this, with the arrays.",
        step=maker,
        got=found.got,
        expected=found.wanted,
    )


def failed(inner: InnerGraph, failure: Exception) -> VerificationError:
    """Return the error to raise if a loop's program fails, but computing it op by op does not."""
    return VerificationError(
        f"The compiled loop over {_names_of(inner)} fails, but its interpreter does not "
        f"({type(failure).__name__}: {failure}). No variable was changed. Please report this, "
        f"with the arrays."
    )


def _names_of(inner: InnerGraph) -> str:
    return ", ".join(f"'{x.name}'" for x in inner.sequences)


def _shortly(array: np.ndarray) -> str:
    return np.array2string(array, threshold=8, edgeitems=2).replace("\n", "")


# --- comparing step by step -----------------------------------------------------------------------


def _compare(
    inner: InnerGraph,
    arrays: Sequence[Any],
    results: Sequence[Any],
    backwards: bool,
    is_exact: Callable[[], bool],
) -> None:
    """Raise a `Difference` for the first result of a loop that differs from its interpreter's."""
    n, m = len(inner.sequences), len(inner.sequences) + len(inner.states)
    n_outputs, n_states = len(inner.results.outputs), len(inner.states)
    sequences = arrays[:n]  # not copied: NumPy's order of summation depends on the layout
    outputs, histories = results[:n_outputs], results[n_outputs:][:n_states]
    last = results[n_outputs + n_states :][:n_states]
    n_steps = len(sequences[0])
    order = range(n_steps)[::-1] if backwards else range(n_steps)
    for x, first, history in zip(inner.states, arrays[n:m], histories, strict=True):
        if not are_same(history[order[0]], first):
            raise Difference(x, f"before step {order[0]}", history[order[0]], first)
    tensors = [*inner.results.outputs, *inner.results.new_states]
    starts = []
    sums: list[Any] = []
    for step, following in zip(order, [*order[1:], None], strict=True):
        start = [*(x[step] for x in sequences), *(x[step] for x in histories), *arrays[m:]]
        starts.append(start)
        wanted = _stepped(inner, start)
        after = last if following is None else [history[following] for history in histories]
        got = [*(y[step] for y in outputs), *after]
        judge = _Judge(inner, [start], f"in step {step} of {n_steps}", is_exact)
        for number, (tensor, array) in enumerate(zip(tensors, got, strict=True)):
            judge(number, tensor, array, wanted[number])
        sums = _added(sums, wanted[len(got) :])
    judge = _Judge(inner, starts, f"in the sum over {n_steps} steps", is_exact)
    given = results[n_outputs + 2 * n_states :]
    for number, (tensor, array) in enumerate(zip(inner.results.terms, given, strict=True)):
        judge(len(tensors) + number, tensor, array, sums[number])


def _stepped(inner: InnerGraph, start: Sequence[Any]) -> list[Any]:
    values = inner.schedule.start(start)
    return perform_step(inner, values)


def _added(sums: list[Any], terms: Sequence[Any]) -> list[Any]:
    """Add the terms of a step to their sums in place; the first step's terms are copied."""
    if not sums:
        return [np.array(term) for term in terms]
    for total, term in zip(sums, terms, strict=True):
        np.add(total, term, out=total)
    return sums


class _Judge:
    """Compares results with those of the interpreter, with a tolerance if sums have another order.

    Parameters
    ----------
    inner : InnerGraph
        The graph of one step.
    starts : list
        The inputs of the steps from which the result is computed: several for a sum.
    where : str
        The step of the loop, as in `Difference`.
    is_exact : callable
        As for `check_loop`.
    """

    def __init__(
        self,
        inner: InnerGraph,
        starts: Sequence[Sequence[Any]],
        where: str,
        is_exact: Callable[[], bool],
    ) -> None:
        self.inner = inner
        self.starts = starts
        self.where = where
        self.is_exact = is_exact

    def __call__(self, number: int, tensor: Tensor, got: Any, wanted: Any) -> None:
        """Raise a Difference if the result number `number` differs by more than the tolerance."""
        if are_same(got, wanted):
            return
        x, y = np.asarray(got), np.asarray(wanted)
        is_near = (
            x.dtype == y.dtype
            and x.shape == y.shape
            and not self.is_exact()
            and (_are_near(x, y) or self._explained_by_inputs(number, x, y))
        )
        if not is_near:
            raise Difference(tensor, self.where, got, wanted)

    def _explained_by_inputs(self, number: int, got: np.ndarray, wanted: np.ndarray) -> bool:
        """Return whether rounding in the inputs of the steps explains the difference of a result.

        For this the steps are repeated with inputs that are changed by their rounding errors.
        """
        moved = np.zeros(wanted.shape)
        is_free = np.zeros(wanted.shape, bool)
        for seed in range(N_TRIALS):
            rng = np.random.default_rng(seed)
            sums: list[Any] = []
            for start in self.starts:
                result = _stepped(self.inner, [_perturbed(x, rng) for x in start])[number]
                sums = _added(sums, [result])
            other = np.asarray(sums[0])
            is_free |= ~_is_alike(other, wanted)
            moved = np.fmax(moved, _distance(other, wanted))
        allowed = PERTURBATIONS * moved + _rounding(wanted)
        return bool(
            (is_free | (_is_alike(got, wanted) & (_distance(got, wanted) <= allowed))).all()
        )


def _are_near(got: np.ndarray, wanted: np.ndarray) -> bool:
    is_alike = _is_alike(got, wanted)
    return bool((is_alike & (_distance(got, wanted) <= _rounding(wanted))).all())


def _is_alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where the elements of two arrays are both finite, both NaN, or the same infinity."""
    if x.dtype.kind != "f":
        return np.ones(x.shape, bool)
    return (np.isfinite(x) & np.isfinite(y)) | (np.isnan(x) & np.isnan(y)) | (x == y)


def _distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the absolute differences of two arrays; 0 where an element is not finite."""
    one, other = x.astype("float64"), y.astype("float64")
    is_finite = np.isfinite(one) & np.isfinite(other)
    return np.abs(np.where(is_finite, one, 0) - np.where(is_finite, other, 0))


def _rounding(array: np.ndarray) -> float:
    """Return the tolerance for an array whose sums and products were reordered; 0 for integers."""
    if array.dtype.kind != "f" or not array.size:
        return 0.0
    largest = float(np.abs(np.where(np.isfinite(array), array, 0)).max())
    unit = np.finfo(array.dtype)
    return ROUNDINGS * (float(unit.eps) * largest + float(unit.tiny))


def _perturbed(x: Any, rng: np.random.Generator) -> Any:
    """Return an array with each float changed by its rounding error, up or down at random."""
    array = np.asarray(x)
    if array.dtype.kind != "f":
        return x
    signs = rng.choice([-1.0, 1.0], array.shape)
    return array * (1 + signs * np.finfo(array.dtype).eps).astype(array.dtype)


# --- by program or by interpreter -----------------------------------------------------------------


MOST_PROGRAMS = 8  # for one loop

# The programs of each loop, by the shapes of a step and the direction; None: interpreted.
_programs: weakref.WeakKeyDictionary[InnerGraph, dict[Any, LoopProgram | None]]
_programs = weakref.WeakKeyDictionary()

# Whether a program has every sum and product in the order of the graph.
_exact: weakref.WeakKeyDictionary[LoopProgram, bool] = weakref.WeakKeyDictionary()


def perform_loop(
    inner: InnerGraph, arrays: Sequence[Any], backwards: bool, least_steps: int
) -> list[Any]:
    """Run a loop by its compiled program if possible; arguments as for `run_loop`."""
    n = len(inner.sequences)
    n_steps = number_of_steps(arrays[:n], least_steps)
    if n_steps == 0:
        return run_loop(inner, arrays, backwards, least_steps)
    inputs = [np.asarray(x) for x in arrays]
    steps = step_specs(n, [Spec(x.shape, x.dtype) for x in inputs])
    kept = _programs.setdefault(inner, {})
    key = (tuple(steps), backwards)
    program: Any = kept.get(key, _programs)  # other threads may remove it
    if program is _programs:
        program = compiled_loop(inner, steps, backwards)
        for old in list(kept)[: len(kept) + 1 - MOST_PROGRAMS]:
            kept.pop(old, None)
        kept[key] = program
    if program is None:
        return run_loop(inner, arrays, backwards, least_steps)
    lock = program.lock
    taken = False
    try:
        (taken,) = map(lock.acquire, WITHOUT_WAITING)
        if not taken:  # another thread is using it
            program = compiled_loop(inner, steps, backwards)
            assert program is not None
        outputs = [np.empty(*spec) for spec in _results(program, n_steps)]
        compute = functools.partial(program, outputs, *inputs)
        try:
            compute()
        except Exception as error:  # the interpreter fails again, and names the op
            failure = own_failure(compute, error)
            interpreted = run_loop(inner, arrays, backwards, least_steps)
            if ARE_CHECKED.get():
                raise failed(inner, failure) from failure
            return interpreted
        program.forget()
        if ARE_CHECKED.get():
            _check(program, inner, inputs, outputs, backwards)
        return outputs
    finally:
        if taken:
            lock.release()


def _check(
    program: LoopProgram,
    inner: InnerGraph,
    inputs: list[np.ndarray],
    outputs: list[np.ndarray],
    backwards: bool,
) -> None:
    """Compare the results of a loop program with the interpreter's; raise if they differ."""
    n = len(inner.sequences)
    steps = step_specs(n, [Spec(x.shape, x.dtype) for x in inputs])

    def is_exact() -> bool:
        if program not in _exact:
            plain = loop_program(inner.schedule, layout_of(inner), steps, backwards, rewrites=False)
            _exact[program] = plain is not None and plain.source == program.source
        return _exact[program]

    def compute(other: InnerGraph, arrays: Sequence[Any]) -> list[Any]:
        with checked_loops(False):
            return perform_loop(other, arrays, backwards, 0)

    check_loop(inner, inputs, outputs, backwards, is_exact, compute)


def compiled_loop(
    inner: InnerGraph,
    steps: list[Spec],
    backwards: bool,
    wanted: Collection[int] | None = None,
) -> LoopProgram | None:
    """Return the program of a loop for steps of these shapes, or None if it is interpreted.

    `wanted` contains the indices of the results to compute; by default all are computed.
    """
    return loop_program(inner.schedule, layout_of(inner), steps, backwards, wanted=wanted)


def layout_of(inner: InnerGraph) -> Layout:
    """Return how many inputs and results of each kind a step has."""
    return Layout(len(inner.sequences), len(inner.states), len(inner.results.outputs))


def step_specs(n_sequences: int, inputs: Sequence[Spec]) -> list[Spec]:
    """Return shape and dtype of each input of one step, from those of the loop's inputs."""
    slices = [Spec(x.shape[1:], x.dtype) for x in inputs[:n_sequences]]
    return [*slices, *inputs[n_sequences:]]


def _results(program: LoopProgram, n_steps: int) -> list[Spec]:
    """Return shape and dtype of each result of a loop with this number of steps."""
    specs, layout = program.plan.specs_of_results, program.plan.step.layout
    first_term = layout.outputs + layout.states
    states = specs[layout.outputs : first_term]
    whole = [Spec((n_steps, *x.shape), x.dtype) for x in specs[:first_term]]
    return [*whole, *states, *specs[first_term:]]
