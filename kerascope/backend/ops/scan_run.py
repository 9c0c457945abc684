"""How a loop is performed: the schedule of one step, again and again, on buffers for the results.

This is the inner loop of every recurrent layer. What can be done once is done before it: the
schedule is made, sequences are laid out step by step in memory, buffers for all steps are
allocated when the first step has told their shapes. Between two steps nothing is copied but the
results into their buffers; an output that is also a state shares its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.backend.schedule import is_needed
from kerascope.errors import DataError, ShapeError


def run_loop(
    inner: InnerGraph, arrays: Sequence[Any], backwards: bool, least_steps: int
) -> list[Any]:
    """Perform a loop.

    Parameters
    ----------
    inner : InnerGraph
        One step.
    arrays : sequence of array
        Sequences (time, ...), initial states, others.
    backwards : bool
        Whether the last step comes first.
    least_steps : int

    Returns
    -------
    list of array
        Sequences of the outputs, histories of the states, last states, sums of the terms.

    Raises
    ------
    DataError
        The sequences differ in length, or there are fewer than `least_steps`.
    ShapeError
        A step changes the shape of a state.
    """
    n, m = len(inner.sequences), len(inner.sequences) + len(inner.states)
    sequences = [np.ascontiguousarray(x) if np.ndim(x) > 1 else x for x in arrays[:n]]
    n_steps = number_of_steps(sequences, least_steps)
    values = inner.schedule.start(arrays)
    if n_steps == 0:
        return _nothing(inner, values, sequences, arrays[n:m])
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
    """Perform the schedule of one step on the slots `values`; return its results."""
    schedule = inner.schedule
    for step in schedule.steps:
        if step.guards and not is_needed(step.guards, values):
            continue
        result = step.perform(*[values[slot] for slot in step.inputs])
        if len(step.outputs) == 1:
            values[step.outputs[0]] = result
        else:
            for slot, array in zip(step.outputs, result, strict=True):
                values[slot] = array
    return [values[slot] for slot in schedule.results]


class _Buffers:
    """The results of all steps, allocated at the first one.

    A state has one place more than there are steps: its history and what follows it.
    """

    def __init__(self, inner: InnerGraph, n_steps: int, backwards: bool) -> None:
        self.inner = inner
        self.n_steps = n_steps
        self.backwards = backwards
        self.outputs: list[Any] = []
        self.states: list[Any] = []
        self.sums: list[Any] = []
        new_states = {y: index for index, y in enumerate(inner.results.new_states)}
        # An output that is a new state as well lies in the buffer of that state.
        self.shared = [new_states.get(y) for y in inner.results.outputs]

    def keep(self, step: int, states: list[Any], results: list[Any]) -> list[Any]:
        """Keep the results of a step and return its new states as they lie in their buffers."""
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
                    f"a state of shape {np.shape(old)} became one of shape {np.shape(new)}; "
                    f"expected that it keeps its shape."
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
        """Return everything that was kept."""
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
    """Return how many steps some sequences have; they must have equally many."""
    counts = sorted({len(x) for x in sequences})
    if len(counts) > 1:
        raise DataError(f"scan: sequences of {counts} steps; expected equally many.")
    if counts[0] < least_steps:
        raise DataError(f"scan: {counts[0]} steps; expected at least {least_steps}.")
    return counts[0]


def _nothing(
    inner: InnerGraph, values: list[Any], sequences: Sequence[Any], states: Sequence[Any]
) -> list[Any]:
    """Return the results of no step at all; one step on zeros tells the shapes."""
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
