"""The graph of one step of a loop, cut out of the surrounding graph.

A step function is an ordinary function of tensors. Called on placeholders it makes a graph, which
may use tensors from outside: weights, constants, results of other ops. The ops that depend on the
placeholders of the step are copied to an `InnerGraph`. Each outside tensor that they read is
replaced by a placeholder and becomes an input of the loop. So work that is the same at each step is
done once, outside the loop, and gradients reach the weights.
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


# --- random numbers inside a loop: different ones at each step ------------------------------------
#
# A random op is a pure function of its count of draws. The count does not change during a call, so
# the number of the step is mixed into it. The reverse loop, which computes the gradient, mixes in
# the same number at the same step, and so draws the same random numbers as the forward loop.


FACTOR = 6364136223846793005  # Knuth's constant for MMIX; it spreads neighbouring counts


class StepNumbers(Op):
    """The numbers 0, 1, 2, ... of the steps of a loop over the sequence `x`."""

    def infer_shape(self, x: Tensor) -> Shape:
        return x.shape[:1]

    def infer_dtype(self, x: Tensor) -> str:
        return "int64"

    def perform(self, x: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.arange(len(x), dtype="int64")


class StepDraws(Op):
    """The count of draws for a random op at one step of a loop.

    It is computed from the count for the whole loop and the number of the step.
    """

    def infer_shape(self, draws: Tensor, step: Tensor) -> Shape:
        return ()

    def infer_dtype(self, draws: Tensor, step: Tensor) -> str:
        return "int64"

    def perform(self, draws: np.ndarray, step: np.ndarray) -> np.int64:
        return np.int64((int(draws) * FACTOR + int(step) + 1) % 2**63)


def counts_of_draws(applies):
    """Return the variables that count the draws of random ops among `applies`."""
    found = (x for apply in applies for x in apply.inputs)
    counts = [x for x in found if isinstance(x, Variable) and x.default_update is not None]
    return list(dict.fromkeys(counts))


# --- the cut --------------------------------------------------------------------------------------


class Results(NamedTuple):
    """The results of one step of a loop.

    Attributes
    ----------
    outputs : tuple of Tensor
        The tensors that the loop returns for every step.
    new_states : tuple of Tensor
        The states for the next step.
    terms : tuple of Tensor
        The tensors that the loop adds up over the steps.
    """

    outputs: tuple[Tensor, ...] = ()
    new_states: tuple[Tensor, ...] = ()
    terms: tuple[Tensor, ...] = ()

    def all(self) -> list[Tensor]:
        """Return outputs, new states and terms in one list."""
        return [*self.outputs, *self.new_states, *self.terms]

    def mapped(self, function: Callable[[Tensor], Tensor]) -> Results:
        """Return the results with `function` applied to each tensor."""
        return Results(*(tuple(function(x) for x in part) for part in self))


@dataclass(frozen=True, eq=False, repr=False)
class InnerGraph:
    """The graph of one step of a loop, from placeholders to results.

    Attributes
    ----------
    sequences : tuple of Placeholder
        The slice of each sequence at this step.
    states : tuple of Placeholder
        The states before this step.
    others : tuple of Placeholder
        Inputs that are the same at each step: tensors from outside of the loop.
    results : Results
        What the step computes from the placeholders.
    """

    sequences: tuple[Placeholder, ...]
    states: tuple[Placeholder, ...]
    others: tuple[Placeholder, ...]
    results: Results

    @property
    def inputs(self) -> list[Placeholder]:
        """All placeholders, in the order of the loop's inputs."""
        return [*self.sequences, *self.states, *self.others]

    @cached_property
    def applies(self) -> list[Apply]:
        """The calls of ops, in an order in which each can be computed."""
        return applies_in_order(self.results.all(), fed=self.inputs)

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule that performs one step."""
        return Schedule(self.inputs, self.results.all())

    @cached_property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Indices of the inputs whose values are never read, only their shapes.

        States are never among them, because a loop of 0 steps returns their values.
        """
        read = {*self.results.all(), *self.states}
        for apply in reversed(self.applies):
            op = apply.op
            if op.needs_only_shapes or (op.is_pure and read.isdisjoint(apply.outputs)):
                continue
            read.update(op.numbers_read(apply.inputs))
        return frozenset(number for number, x in enumerate(self.inputs) if x not in read)

    def with_outputs(self, further: Iterable[Tensor]) -> InnerGraph:
        """Return a copy of this graph that also has the tensors `further` as outputs."""
        outputs = (*self.results.outputs, *further)
        return replace(self, results=self.results._replace(outputs=outputs))

    def __repr__(self) -> str:
        return f"<inner graph of {len(self.applies)} ops>"

    def without_unused_sequences(self) -> InnerGraph:
        """Return this graph without unused sequences; one remains, to count the steps."""
        read = {x for apply in self.applies for x in apply.inputs}.union(self.results.all())
        used = tuple(x for x in self.sequences if x in read)
        return replace(self, sequences=used or self.sequences[:1])

    def fitted(self, inputs: Sequence[Tensor]) -> InnerGraph:
        """Return this graph for loop inputs of other shapes or dtypes.

        Parameters
        ----------
        inputs : list of Tensor
            The inputs of the loop: whole sequences (time, ...), initial states, other tensors.

        Returns
        -------
        InnerGraph
            A copy on new placeholders. If no shape or dtype differs, this graph itself.
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
    """Copy an `Apply` with other inputs; return the pairs (old output, new output)."""
    with root_scope(apply.scope):
        copy = Apply(apply.op, inputs, apply.name)
    copy.frames = apply.frames
    return zip(apply.outputs, copy.outputs, strict=True)


def _renamed(applies: Iterable[Apply], results: Results, names: dict[Tensor, Tensor]) -> Results:
    """Return the results of a step after its inputs were replaced.

    `names` maps each replaced tensor to its new tensor. Each `Apply` that depends on a replaced
    tensor is copied, and its outputs are added to `names`.
    """
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
    """Cut the graph of a step out of the surrounding graph.

    Parameters
    ----------
    sequences, states : list of Placeholder
        The inputs that differ from step to step.
    results : Results
        The results of the step, computed from these inputs.
    replaced : dict of Tensor to Tensor
        Tensors outside of the step, and the tensors to use instead of them.
    kept : dict of Tensor to Placeholder
        Tensors whose values a sequence contains, and the placeholder for a slice of the sequence.
        These tensors are not computed again.

    Returns
    -------
    (InnerGraph, list of Tensor)
        The graph, and the outside tensors for its `others`, in the same order.
    """
    inside: dict[Tensor, Tensor] = {x: x for x in (*sequences, *states)}
    inside.update(kept)
    outside = dict(replaced)
    placeholders: dict[Tensor, Placeholder] = {}

    def inner_tensor(x: Tensor) -> Tensor:
        if x in inside:
            return inside[x]
        x = outside.get(x, x)
        if isinstance(x, Constant):
            return x
        if x not in placeholders:
            placeholders[x] = _placeholder_like(x)
        return placeholders[x]

    for apply in applies_in_order(results.all(), fed=[*inside, *outside]):
        if any(x in inside for x in apply.inputs):
            inside.update(_copy(apply, [inner_tensor(x) for x in apply.inputs]))
        elif any(x in outside for x in apply.inputs):
            outside.update(_copy(apply, [outside.get(x, x) for x in apply.inputs]))
    results = results.mapped(inner_tensor)
    inner = InnerGraph(tuple(sequences), tuple(states), tuple(placeholders.values()), results)
    return inner, list(placeholders)


def _placeholder_like(x: Tensor) -> Placeholder:
    placeholder = Placeholder(x.shape, x.dtype, x.name)
    placeholder._uses_learning_phase = x._uses_learning_phase
    return placeholder


def trace_step(
    step: Callable[..., Any], sequences: Sequence[Tensor], states: Sequence[Tensor]
) -> tuple[InnerGraph, list[Tensor]]:
    """Call a step function on placeholders and cut out the resulting graph.

    Parameters
    ----------
    step : callable
        Takes (list of slices, list of states), returns (list of outputs, list of new states).
    sequences : list of Tensor, shapes (time, ...)
    states : list of Tensor
        Initial states.

    Returns
    -------
    (InnerGraph, list of Tensor)
        The graph, and all inputs of the loop in the order of the graph's `inputs`.
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
