"""The graph of one step, cut out of the graph around it.

A step function is an ordinary function of tensors. Called on placeholders it makes a piece of
graph, which hangs together with everything that the function knows besides: weights, constants,
what was computed outside. The cut goes between what depends on the placeholders of the step and
what does not. The first part is copied into an `InnerGraph`; where it touched the other one it gets
a placeholder, and the tensor that stood there becomes an input of the loop. So the work that is the
same at every step stays outside the loop, and gradients find their way to the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import (
    Apply,
    Constant,
    Op,
    Placeholder,
    Tensor,
    applies_in_order,
    graph_mode,
)
from kerascope.backend.schedule import Schedule
from kerascope.backend.scopes import current_scope, name_scope, root_scope
from kerascope.backend.shapes import Shape
from kerascope.backend.variables import Variable

__all__ = ["counts_of_draws"]


# --- random numbers inside a loop: other ones at each step ----------------------------------------
#
# A random op is a pure function of its count of draws. In a loop the count stays what it is during
# the whole call, so the number of the step is mixed into it. The reverse loop, which computes the
# gradient, mixes in the same number at the same step: it meets the numbers of the forward one
# again.


_FACTOR = 6364136223846793005  # Knuth's for MMIX: neighbouring counts land far apart


class StepNumbers(Op):
    """0, 1, 2, ...: one number for each step of the sequence `x`."""

    def infer_shape(self, x: Tensor) -> Shape:
        return x.shape[:1]

    def infer_dtype(self, x: Tensor) -> str:
        return "int64"

    def perform(self, x: np.ndarray) -> np.ndarray:
        return np.arange(len(x), dtype="int64")


class StepDraws(Op):
    """A count of draws for one step of a loop, made of the count of the call and the step."""

    def infer_shape(self, draws: Tensor, step: Tensor) -> Shape:
        return ()

    def infer_dtype(self, draws: Tensor, step: Tensor) -> str:
        return "int64"

    def perform(self, draws: np.ndarray, step: np.ndarray) -> np.int64:
        return np.int64((int(draws) * _FACTOR + int(step) + 1) % 2**63)


def counts_of_draws(applies):
    """Return the variables by which random ops among the applies count their draws."""
    found = (x for apply in applies for x in apply.inputs)
    counts = [x for x in found if isinstance(x, Variable) and x.default_update is not None]
    return list(dict.fromkeys(counts))


# --- the cut --------------------------------------------------------------------------------------


class Results(NamedTuple):
    """What one step computes.

    Attributes
    ----------
    outputs : tuple of Tensor
        Kept for every step.
    new_states : tuple of Tensor
        Handed to the next step.
    terms : tuple of Tensor
        Added up over the steps.
    """

    outputs: tuple[Tensor, ...] = ()
    new_states: tuple[Tensor, ...] = ()
    terms: tuple[Tensor, ...] = ()

    def all(self) -> list[Tensor]:
        """Return them in one list."""
        return [*self.outputs, *self.new_states, *self.terms]

    def mapped(self, function: Callable[[Tensor], Tensor]) -> Results:
        """Return the results with `function` applied to each tensor."""
        return Results(*(tuple(function(x) for x in part) for part in self))


@dataclass(frozen=True, eq=False, repr=False)
class InnerGraph:
    """The graph of one step: placeholders at its upper end, what the step computes at its lower.

    Attributes
    ----------
    sequences : tuple of Placeholder
        One step's part of each sequence.
    states : tuple of Placeholder
        What the step before has handed on.
    others : tuple of Placeholder
        The same at each step: they stand for tensors outside.
    results : Results
    """

    sequences: tuple[Placeholder, ...]
    states: tuple[Placeholder, ...]
    others: tuple[Placeholder, ...]
    results: Results

    @property
    def inputs(self) -> list[Placeholder]:
        """All placeholders, in the order in which the loop takes its inputs."""
        return [*self.sequences, *self.states, *self.others]

    @cached_property
    def applies(self) -> list[Apply]:
        """The calls of ops, each after those that it needs."""
        return applies_in_order(self.results.all(), fed=self.inputs)

    @cached_property
    def schedule(self) -> Schedule:
        """Order and slots for performing a step; made once."""
        return Schedule(self.inputs, self.results.all())

    @cached_property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Which inputs, by number, no step reads but for their shape.

        A state is read even where there is no step: it is the last one, too.
        """
        read = {*self.results.all(), *self.states}
        for apply in reversed(self.applies):
            op = apply.op
            if op.needs_only_shapes or (op.is_pure and read.isdisjoint(apply.outputs)):
                continue
            read.update(op.numbers_read(apply.inputs))
        return frozenset(number for number, x in enumerate(self.inputs) if x not in read)

    def with_outputs(self, further: Iterable[Tensor]) -> InnerGraph:
        """Return this graph with further outputs."""
        outputs = (*self.results.outputs, *further)
        return replace(self, results=self.results._replace(outputs=outputs))

    def __repr__(self) -> str:
        return f"<inner graph of {len(self.applies)} ops>"

    def without_unused_sequences(self) -> InnerGraph:
        """Return this graph without the slices that nothing reads; one stays to count the steps."""
        read = {x for apply in self.applies for x in apply.inputs}.union(self.results.all())
        used = tuple(x for x in self.sequences if x in read)
        return replace(self, sequences=used or self.sequences[:1])

    def fitted(self, inputs: Sequence[Tensor]) -> InnerGraph:
        """Return this graph for the inputs of a loop: itself, if shapes and types are its own.

        Parameters
        ----------
        inputs : list of Tensor
            Whole sequences (time, ...), initial states, others.
        """
        n = len(self.sequences)
        shapes = [x.shape[1:] for x in inputs[:n]] + [x.shape for x in inputs[n:]]
        facts = [(shape, x.dtype) for shape, x in zip(shapes, inputs, strict=True)]
        if facts == [(x.shape, x.dtype) for x in self.inputs]:
            return self
        new = [Placeholder(*fact, old.name) for fact, old in zip(facts, self.inputs, strict=True)]
        names: dict[Tensor, Tensor] = dict(zip(self.inputs, new, strict=True))
        results = _renamed(self.applies, self.results, names)
        m = n + len(self.states)
        return InnerGraph(tuple(new[:n]), tuple(new[n:m]), tuple(new[m:]), results)


def _copy(apply: Apply, inputs: list[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """Make the same call on other inputs; return pairs of its old and new outputs."""
    with root_scope(apply.scope):
        copy = Apply(apply.op, inputs, apply.name)
    copy.frames = apply.frames
    return zip(apply.outputs, copy.outputs, strict=True)


def _renamed(applies: Iterable[Apply], results: Results, names: dict[Tensor, Tensor]) -> Results:
    """Return the results when other tensors stand for some, as `names` says; it is filled up."""
    for apply in applies:
        if any(x in names for x in apply.inputs):
            names.update(_copy(apply, [names.get(x, x) for x in apply.inputs]))
    return results.mapped(lambda x: names.get(x, x))


def cut_out(
    sequences: Sequence[Placeholder],
    states: Sequence[Placeholder],
    results: Results,
    replaced: Mapping[Tensor, Tensor] = MappingProxyType({}),
    kept: Mapping[Tensor, Placeholder] = MappingProxyType({}),
) -> tuple[InnerGraph, list[Tensor]]:
    """Cut the graph of a step out of the graph around it.

    Parameters
    ----------
    sequences, states : list of Placeholder
        What differs from step to step.
    results : Results
        What the step has made of them.
    replaced : dict of Tensor to Tensor
        Outside of the cut: which tensor comes into the place of which.
    kept : dict of Tensor to Placeholder
        What is computed already: for each such tensor the slice of a sequence that holds it.

    Returns
    -------
    (InnerGraph, list of Tensor)
        The graph, and the tensors for which its `others` stand.
    """
    inside: dict[Tensor, Tensor] = {x: x for x in (*sequences, *states)}
    inside.update(kept)
    outside = dict(replaced)
    stand_ins: dict[Tensor, Placeholder] = {}

    def admitted(x: Tensor) -> Tensor:
        if x in inside:
            return inside[x]
        x = outside.get(x, x)
        if isinstance(x, Constant):
            return x
        if x not in stand_ins:
            stand_ins[x] = _stand_in(x)
        return stand_ins[x]

    for apply in applies_in_order(results.all(), fed=[*inside, *outside]):
        if any(x in inside for x in apply.inputs):
            inside.update(_copy(apply, [admitted(x) for x in apply.inputs]))
        elif any(x in outside for x in apply.inputs):
            outside.update(_copy(apply, [outside.get(x, x) for x in apply.inputs]))
    results = results.mapped(admitted)
    inner = InnerGraph(tuple(sequences), tuple(states), tuple(stand_ins.values()), results)
    return inner, list(stand_ins)


def _stand_in(x: Tensor) -> Placeholder:
    placeholder = Placeholder(x.shape, x.dtype, x.name)
    placeholder._uses_learning_phase = x._uses_learning_phase
    return placeholder


def trace_step(
    step: Callable[..., Any], sequences: Sequence[Tensor], states: Sequence[Tensor]
) -> tuple[InnerGraph, list[Tensor]]:
    """Call a step function on placeholders of one step and cut out the graph that it makes.

    Parameters
    ----------
    step : callable
        From (list of slices, list of states) to (outputs, new_states), lists too.
    sequences : list of Tensor, shapes (time, ...)
    states : list of Tensor
        Initial states.

    Returns
    -------
    (InnerGraph, list of Tensor)
        The graph, and all inputs of its loop.
    """
    with graph_mode(), name_scope("step"):
        scope = current_scope()
        slices = [Placeholder(x.shape[1:], x.dtype, scope.join("input")) for x in sequences]
        before = [Placeholder(x.shape, x.dtype, scope.join("state")) for x in states]
        outputs, new_states = step(slices, before)
        results = Results(tuple(outputs), tuple(new_states))
        applies = applies_in_order(results.all(), fed=[*slices, *before])
        inside = f"{scope.name}/"
        counts = counts_of_draws([x for x in applies if f"{x.scope.name}/".startswith(inside)])
        if counts:
            number = Placeholder((), "int64", scope.join("number"))
            names: dict[Tensor, Tensor] = {x: StepDraws()(x, number) for x in counts}
            results = _renamed(applies, results, names)
            slices.append(number)
    if counts:
        sequences = [*sequences, StepNumbers()(sequences[0])]
    inner, others = cut_out(slices, before, results)
    return inner, [*sequences, *states, *others]
