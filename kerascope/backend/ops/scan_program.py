"""How the op Scan runs: by the program that its loop became, or interpreted.

The program (`kerascope/backend/program/loop.py`) is written at the first run with arrays of some
shapes. Both roads of a function take it, so they give the same bits. What it cannot do is left to
the interpreter in `scan_run.py`: no steps at all, ops that print or draw random numbers, branches.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Spec
from kerascope.backend.locks import WITHOUT_WAITING
from kerascope.backend.loop_checks import ARE_CHECKED, checked_loops
from kerascope.backend.ops.scan_checked import check_loop, failed
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.ops.scan_run import number_of_steps, run_loop
from kerascope.backend.outside import own_failure
from kerascope.backend.program.loop import LoopProgram, loop_program
from kerascope.backend.program.loop_calls import Layout

MOST_PROGRAMS = 8  # of one loop

# The programs of each loop, by the shapes of a step and the direction; None: it is interpreted.
_programs: weakref.WeakKeyDictionary[InnerGraph, dict[Any, LoopProgram | None]]
_programs = weakref.WeakKeyDictionary()

# Whether a program has every sum and product as it stands in the graph of its step.
_exact: weakref.WeakKeyDictionary[LoopProgram, bool] = weakref.WeakKeyDictionary()


def perform_loop(
    inner: InnerGraph, arrays: Sequence[Any], backwards: bool, least_steps: int
) -> list[Any]:
    """Perform a loop; see `run_loop`."""
    n = len(inner.sequences)
    n_steps = number_of_steps(arrays[:n], least_steps)
    if n_steps == 0:
        return run_loop(inner, arrays, backwards, least_steps)
    inputs = [np.asarray(x) for x in arrays]
    steps = step_specs(n, [Spec(x.shape, x.dtype) for x in inputs])
    kept = _programs.setdefault(inner, {})
    key = (tuple(steps), backwards)
    program: Any = kept.get(key, _programs)  # another thread may take it out at any time
    if program is _programs:
        program = written_loop(inner, steps, backwards)
        for old in list(kept)[: len(kept) + 1 - MOST_PROGRAMS]:
            kept.pop(old, None)
        kept[key] = program
    if program is None:
        return run_loop(inner, arrays, backwards, least_steps)
    lock = program.lock
    taken = False
    try:
        (taken,) = map(lock.acquire, WITHOUT_WAITING)
        if not taken:  # another thread is in it
            program = written_loop(inner, steps, backwards)
            assert program is not None
        outputs = [np.empty(*spec) for spec in _results(program, n_steps)]
        compute = functools.partial(program, outputs, *inputs)
        try:
            compute()
        except Exception as error:  # step by step it fails again, and says where
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
    """Compare what a program has computed with the interpreter."""
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


def written_loop(
    inner: InnerGraph,
    steps: list[Spec],
    backwards: bool,
    wanted: Collection[int] | None = None,
) -> LoopProgram | None:
    """Return the program of a loop for steps of these shapes; None if it has to be interpreted.

    `wanted` are the results that it computes, by number; by default all.
    """
    return loop_program(inner.schedule, layout_of(inner), steps, backwards, wanted=wanted)


def layout_of(inner: InnerGraph) -> Layout:
    """Return how many inputs and results of a step are of which kind."""
    return Layout(len(inner.sequences), len(inner.states), len(inner.results.outputs))


def step_specs(n_sequences: int, inputs: Sequence[Spec]) -> list[Spec]:
    """Return the shapes of the inputs of one step, from those of the inputs of a loop."""
    slices = [Spec(x.shape[1:], x.dtype) for x in inputs[:n_sequences]]
    return [*slices, *inputs[n_sequences:]]


def _results(program: LoopProgram, n_steps: int) -> list[Spec]:
    """Return the shapes of all results."""
    specs, layout = program.plan.specs_of_results, program.plan.step.layout
    first_term = layout.outputs + layout.states
    states = specs[layout.outputs : first_term]
    whole = [Spec((n_steps, *x.shape), x.dtype) for x in specs[:first_term]]
    return [*whole, *states, *specs[first_term:]]
