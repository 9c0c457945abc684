"""The steps of a loop, such as an LSTM or `K.foldl`, computed again from its recorded inputs.

A loop is one op with one event. Its steps are computed again, op by op, from the op's recorded
inputs, so nothing is recorded for them beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.program.loops import number_of_steps, perform_step
from kerascope.engine.node_ids import free_id
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import begin_of, value_of_event
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import call_at, restored


@dataclass(frozen=True)
class LoopAt:
    """A loop that was executed: the name of its event, its op and the recorded inputs."""

    name: str
    op: Scan
    arrays: Sequence[Any]

    @property
    def count(self) -> int:
        """The number of steps of the loop."""
        sequences = self.arrays[: len(self.op.inner.sequences)]
        return number_of_steps(sequences, self.op.least_steps)


class LoopStep(NamedTuple):
    """One step of a loop, with the arrays that it used and computed.

    Attributes
    ----------
    number : int
        The index of the step's entries in the sequences. A backward loop begins with the last.
    given : dict of str to array
        The inputs of the step: its entries of the sequences, and the states before the step.
    made : dict of str to (str, array)
        The arrays that the ops inside the step computed: tensor name -> (name of the op, array).
    states : dict of str to array
        The states after the step.
    """

    number: int
    given: dict[str, Any]
    made: dict[str, tuple[str, Any]]
    states: dict[str, Any]

    @property
    def spoilt(self) -> str:
        """The name of the first tensor in the step that is not finite.

        "" if all tensors are finite, or if an input of the step is not.
        """
        if not all(map(_is_finite, self.given.values())):
            return ""
        return next((name for name, (_, x) in self.made.items() if not _is_finite(x)), "")


def _is_finite(array: Any) -> bool:
    return np.asarray(array).dtype.kind not in "fc" or bool(np.isfinite(array).all())


def loop_at(recorder: Recorder | None, tape: Tape, t: int, name: str = "") -> LoopAt:
    """Return the loop at time `t`, or the last loop before it in the same function call.

    Parameters
    ----------
    recorder : Recorder or None
        The recorder of the program.
    tape : Tape
    t : int
    name : str
        The name of the loop's layer or op. "" finds a loop of any name.

    Raises
    ------
    ArgumentError
        No such loop has been executed before `t`, or its inputs are no longer recorded.
    """
    if recorder is None:
        raise ArgumentError("steps: the steps of a loop need its model, which is not here.")
    call = call_at(recorder, tape, t, "steps")
    loops = {
        planned.name: planned.step.apply.op
        for planned in call.plan.steps
        if isinstance(planned.step.apply.op, Scan)
    }
    for event in tape.back(t):
        if event.t < call.begin:
            break
        op = loops.get(event.name) if event.kind == "op" else None
        if op is not None and _is_meant(event, name):
            return LoopAt(event.name, op, _given(recorder, tape, event))
    asked = f"of {name!r} " if name else ""
    known = ", ".join(loops) or "none; unrolled loops are ops of their own"
    raise ArgumentError(
        f"steps: no loop {asked}has been performed up to here in {call.function.name}. "
        f"Loops in it: {known}."
    )


def _is_meant(event: Event, name: str) -> bool:
    own = event.name.removeprefix("gradients/")
    return name in ("", event.name, own, *own.split("/")[:-1])


def _given(recorder: Recorder, tape: Tape, event: Event) -> Sequence[Any]:
    begin = begin_of(event, tape) if event.ph == END else event
    arrays = None if begin is None else value_of_event(begin, "inputs")
    if begin is not None and not _are_arrays(arrays):
        arrays = value_of_event(restored(recorder, tape, begin.t, "steps")[begin.t], "inputs")
    if not _are_arrays(arrays):
        raise ArgumentError(f"steps: the inputs of {event.name} are no longer known.")
    return arrays


def _are_arrays(given: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(given, tuple) and all(isinstance(x, np.ndarray | np.generic) for x in given)


def steps_of(loop: LoopAt) -> Iterator[LoopStep]:
    """Yield the steps of a loop in order of execution."""
    inner = loop.op.inner
    n, m = len(inner.sequences), len(inner.sequences) + len(inner.states)
    n_outputs = len(inner.results.outputs)
    values = inner.schedule.start(list(loop.arrays))
    states = list(loop.arrays[n:m])
    names = _names_of(inner)
    order = range(loop.count)
    for step in reversed(order) if loop.op.backwards else order:
        values[:n] = [x[step] for x in loop.arrays[:n]]
        values[n:m] = states
        before = dict(zip(names.given, [*values[:n], *states], strict=True))
        with np.errstate(all="ignore"):
            results = perform_step(inner, values)
        states = [np.array(x) for x in results[n_outputs : n_outputs + m - n]]
        made = {
            names.made[y]: (done.apply.op.name, values[slot])
            for done in inner.schedule.steps
            for y, slot in zip(done.apply.outputs, done.outputs, strict=True)
        }
        yield LoopStep(step, before, made, dict(zip(names.given[n:], states, strict=True)))


class _Names(NamedTuple):
    given: list[str]
    made: dict[Tensor, str]


def _names_of(inner: InnerGraph) -> _Names:
    """Return distinct names for the tensors of a loop's step, without their common prefix."""
    taken: dict[str, None] = {}

    def own(x: Tensor) -> str:
        name = free_id(x.name.rpartition("step/")[2], taken)
        taken[name] = None
        return name

    given = [own(x) for x in (*inner.sequences, *inner.states)]
    made = {y: own(y) for done in inner.schedule.steps for y in done.apply.outputs}
    return _Names(given, made)


def is_loop(event: Event) -> bool:
    """Return whether an event ends an op whose name contains "scan", which may be a loop."""
    op = value_of_event(event, "op")
    return event.kind == "op" and event.ph != BEGIN and isinstance(op, str) and "scan" in op
