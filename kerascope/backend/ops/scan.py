"""Scan: a loop as one op of the graph; its parameter is the graph of one step.

It is modelled on Theano's `scan` and TensorFlow's `while_loop`. The inputs of the loop are
sequences, whose first axis is time, initial states, and other tensors, which are the same at each
step. The loop computes

- for each output of the step, the sequence of its values;
- for each state, its history (the values *before* each step) and its last value;
- for each term of the step, the sum over all steps.

`K.rnn`, `K.foldl`, `K.foldr` and `K.map_fn` make such loops. The gradient needs the histories, and
the gradients of weights are sums over the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.gradient import sweep
from kerascope.backend.graph import EAGER, Op, Placeholder, applies_in_order
from kerascope.backend.ops.broadcasting import FullLike, zeros_like
from kerascope.backend.ops.elementwise import add
from kerascope.backend.ops.scan_graph import InnerGraph, Results, cut_out, trace_step
from kerascope.backend.program.loops import compiled_loop, perform_loop, run_loop, step_specs
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.types import Gradients, Kernel, Shape, Size, Specs, Tensor, Tensors
from kerascope.errors import ShapeError

__all__ = ["scan"]


# --- the gradient of a loop is a loop that runs the other way -------------------------------------
#
# Let one step compute (output, new state, term) = f(slice, state, others). The reverse loop carries
# d loss / d state from the last step to the first. Each of its steps gets the inputs of the forward
# step (this is why the states before each step are kept) and adds up
#
#     d loss / d slice  = d output  * df/d slice + d new state * df/d slice + ...
#     d loss / d state  = ... passed to the previous step
#     d loss / d others = ... summed over the steps
#
# Outputs of the forward step are not computed again; `kept_for_gradient` returns the tensors that
# should be outputs for this reason. The derivatives of f come from the reverse sweep of
# `gradient.py` over the graph of one step. The result is again the graph of one step, so second
# derivatives work in the same way.


class Loop(NamedTuple):
    """The results of a loop, or the gradients of these results, in four lists.

    Attributes
    ----------
    outputs : list of Tensor, shapes (time, ...)
        The outputs of each step.
    histories : list of Tensor, shapes (time, ...)
        The states before each step.
    last_states : list of Tensor
        The states after the last step.
    sums : list of Tensor
        The sum of each term of the step over all steps.
    """

    outputs: list[Tensor]
    histories: list[Tensor]
    last_states: list[Tensor]
    sums: list[Tensor]

    @classmethod
    def of(cls, inner: InnerGraph, tensors: Sequence[Tensor]) -> Loop:
        """Return the outputs of a `Scan`, or their gradients in the same order, as a `Loop`."""
        rest = iter(tensors)
        counts = (len(inner.results.outputs), len(inner.states), len(inner.states))
        outputs, before, after = ([next(rest) for _ in range(count)] for count in counts)
        return cls(outputs, before, after, list(rest))


class ReverseLoop(NamedTuple):
    """The loop that computes the gradients of a forward loop.

    Attributes
    ----------
    inner : InnerGraph
        One step of the reverse loop.
    inputs : list of Tensor
        The inputs of the reverse loop: sequences, initial states and other tensors.
    receivers : Results
        The inputs of the forward step whose gradients the reverse loop computes. `outputs` contains
        slices of sequences, whose gradients are outputs of the reverse loop. `new_states` contains
        states, whose gradients are its last states. `terms` contains other inputs, whose gradients
        are its sums.
    """

    inner: InnerGraph
    inputs: list[Tensor]
    receivers: Results


def reverse_loop(
    inner: InnerGraph, inputs: Sequence[Tensor], given: Loop, grads: Loop
) -> ReverseLoop | None:
    """Return the loop that computes the gradients of a forward loop.

    Parameters
    ----------
    inner : InnerGraph
        One step of the forward loop.
    inputs : list of Tensor
        The inputs of the forward loop: sequences, initial states and other tensors.
    given : Loop
        The results of the forward loop.
    grads : Loop
        The gradients of the loss with respect to these results.

    Returns
    -------
    ReverseLoop or None
        None if all gradients in `grads` are zero.
    """
    if all(_is_zero(grad) for part in grads for grad in part):
        return None
    sequences: dict[Placeholder, Tensor] = dict(zip(inner.sequences, inputs, strict=False))
    sequences.update(zip(inner.states, given.histories, strict=True))
    kept: dict[Tensor, Placeholder] = {}
    for y, whole in zip(inner.results.outputs, given.outputs, strict=True):
        if y.owner is not None and y not in kept:
            kept[y] = _slice_of(whole, sequences)
    seeds: dict[Tensor, Tensor] = {}
    carried = _carried_states(inner, grads, seeds)
    _seed_results(inner, grads, seeds, sequences)
    for _ in sweep(seeds, [x for x in inner.inputs if is_float(x.dtype)]):
        pass
    for x, grad in zip(inner.states, grads.histories, strict=True):
        if x in carried and not _is_zero(grad):
            _add_to(seeds, x, _slice_of(grad, sequences))
    receivers = Results(
        tuple(x for x in inner.sequences if x in seeds),
        tuple(carried),
        tuple(x for x in inner.others if x in seeds),
    )
    results = receivers.mapped(lambda x: seeds[x] if x in seeds else zeros_like(x))
    actual_others = inputs[len(inner.sequences) + len(inner.states) :]
    replaced: dict[Tensor, Tensor] = dict(zip(inner.others, actual_others, strict=True))
    states = [place for place, _ in carried.values()]
    reverse, others = cut_out(list(sequences), states, results, replaced, kept)
    reverse = reverse.without_unused_sequences()
    used = [sequences[x] for x in reverse.sequences]
    return ReverseLoop(
        reverse, [*used, *(last for _, last in carried.values()), *others], receivers
    )


def kept_for_gradient(inner: InnerGraph) -> list[Tensor]:
    """Return the tensors that the gradient of a loop's step reads, except outputs of the step."""
    results = [*inner.results.outputs, *inner.results.new_states]
    seeds: dict[Tensor, Tensor] = {
        y: Placeholder(y.shape, y.dtype, f"{y.name}/gradient") for y in results if is_float(y.dtype)
    }
    own = {y for apply in inner.applies for y in apply.outputs}
    fed = [*inner.inputs, *seeds.values()]
    for _ in sweep(seeds, [x for x in inner.inputs if is_float(x.dtype)]):
        pass
    found: dict[Tensor, None] = {}
    for apply in applies_in_order([seeds[x] for x in inner.inputs if x in seeds], fed=fed):
        if own.isdisjoint(apply.outputs):
            read = apply.op.numbers_read(apply.inputs)
            found.update((_seen_through(x), None) for x in read)
    return [x for x in found if x in own and x not in inner.results.outputs]


def _seen_through(x: Tensor) -> Tensor:
    """Return the tensor that `x` is a view of; if it is not a view, `x` itself."""
    while x.owner is not None and x.owner.op.is_view:
        x = x.owner.inputs[0]
    return x


def _seed_results(inner, grads, seeds, sequences):
    """Add the gradients of a step's outputs and terms to `seeds`, with which the sweep begins."""
    for y, grad in zip(inner.results.outputs, grads.outputs, strict=True):
        if is_float(y.dtype) and not _is_zero(grad):
            _add_to(seeds, y, _slice_of(grad, sequences))
    for y, grad in zip(inner.results.terms, grads.sums, strict=True):
        if is_float(y.dtype) and not _is_zero(grad):
            _add_to(seeds, y, grad)


def _carried_states(inner, grads, seeds):
    """Return, for each float state of a loop, a placeholder and the gradient of its last value.

    The placeholder is for the gradient of the state in one step of the reverse loop. It is added to
    `seeds` as the gradient of the step's new state.
    """
    carried = {}
    states = zip(inner.states, inner.results.new_states, grads.last_states, strict=True)
    for x, new, last in states:
        if is_float(x.dtype):
            place = Placeholder(x.shape, x.dtype, f"{x.name}/gradient")
            carried[x] = (place, last)
            _add_to(seeds, new, place)
    return carried


def _slice_of(sequence, sequences):
    """Return a placeholder for one step's slice of a sequence, and add it to `sequences`."""
    place = Placeholder(sequence.shape[1:], sequence.dtype, sequence.name)
    sequences[place] = sequence
    return place


def _add_to(grads, x, term):
    grads[x] = add(grads[x], term) if x in grads else term


def _is_zero(tensor: Tensor) -> bool:
    """Return whether a gradient is a constant 0, as that of a result that the loss does not use."""
    op = tensor.owner.op if tensor.owner is not None else None
    return isinstance(op, FullLike) and op.value == 0


# --- the op ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Scan(Op):
    """A loop over the entries along the first axis of sequences, as one op.

    Attributes
    ----------
    inner : InnerGraph
        The graph of one step. Two `Scan` ops are equal only if they share this object.
    backwards : bool
        Whether the last step is performed first. The order of the outputs remains that of the
        sequences.
    least_steps : int
        The smallest number of steps. A run with fewer steps raises an error.
    """

    inner: InnerGraph
    backwards: bool = False
    least_steps: int = 0

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """The total number of outputs, histories, last states and sums."""
        results = self.inner.results
        return len(results.outputs) + 2 * len(results.new_states) + len(results.terms)

    def __repr__(self) -> str:
        inner = self.inner
        facts = [
            f"{len(inner.applies)} ops",
            f"{len(inner.sequences)} sequences",
            f"{len(inner.states)} states",
            *(["backwards"] if self.backwards else []),
        ]
        return f"Scan({', '.join(facts)})"

    @property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Indices of the inputs whose values are never read, only their shapes."""
        return self.inner.inputs_read_by_shape

    def infer_shape(self, *inputs: Tensor) -> Any:
        inner = self.inner.fitted(inputs)
        steps = _number_of_steps(inputs[: len(inner.sequences)])
        states = [x.shape for x in inner.states]
        shapes = [
            *((steps, *y.shape) for y in inner.results.outputs),
            *((steps, *shape) for shape in states),
            *states,
            *(y.shape for y in inner.results.terms),
        ]
        return _one_or_all(shapes)

    def infer_dtype(self, *inputs: Tensor) -> Any:
        inner = self.inner.fitted(inputs)
        states = [x.dtype for x in inner.states]
        outputs, terms = inner.results.outputs, inner.results.terms
        dtypes = [*(y.dtype for y in outputs), *states, *states, *(y.dtype for y in terms)]
        return _one_or_all(dtypes)

    def may_share(self, inputs, outputs):
        """Return (output, input) pairs that share memory.

        If the loop has 0 steps, each last state is the initial state. Otherwise the list is empty.
        """
        if inputs[0].shape[0] > 0:
            return ()
        n_outputs, n_states = len(self.inner.results.outputs), len(self.inner.states)
        first_input, first_output = len(self.inner.sequences), n_outputs + n_states
        return [(first_output + k, first_input + k) for k in range(n_states)]

    def perform(self, *arrays: np.ndarray) -> Any:
        results = perform_loop(self.inner, arrays, self.backwards, self.least_steps)
        return _one_or_all(results)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return self._written(inputs, None)

    def _written(self, inputs: Specs, wanted: Sequence[int] | None) -> Kernel:
        """Return the loop's compiled program for inputs of these shapes; None if it has none."""
        if inputs[0].shape[0] < max(self.least_steps, 1):
            return None
        n = len(self.inner.sequences)
        if any(x.shape[:1] != inputs[0].shape[:1] for x in inputs[:n]):
            return None
        return compiled_loop(self.inner, step_specs(n, inputs), self.backwards, wanted)

    def leaner(self, wanted: Sequence[int]) -> PartOfScan:
        return PartOfScan(self.inner, self.backwards, self.least_steps, tuple(wanted))

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        inner = self.inner.fitted(inputs)
        given, grads = Loop.of(inner, outputs), Loop.of(inner, output_grads)
        reverse = reverse_loop(inner, inputs, given, grads)
        if reverse is None:
            return [None] * len(inputs)
        results = Scan(reverse.inner, not self.backwards)(*reverse.inputs)
        results = [results] if isinstance(results, Tensor) else results
        sent = Loop.of(reverse.inner, results)
        receivers = reverse.receivers
        terms = dict(zip(receivers.outputs, sent.outputs, strict=True))
        terms.update(zip(receivers.new_states, sent.last_states, strict=True))
        terms.update(zip(receivers.terms, sent.sums, strict=True))
        return [terms.get(x) for x in inner.inputs]


@dataclass(frozen=True, repr=False)
class PartOfScan(Scan):
    """A `Scan` that computes only some of its results; compiled functions use it.

    Attributes
    ----------
    wanted : tuple of int
        Indices of the results that are read.
    """

    wanted: tuple[int, ...] = ()

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Number of results that are read."""
        return len(self.wanted)

    def _chosen(self, facts):
        several = facts if super().n_outputs > 1 else (facts,)
        return _one_or_all([several[number] for number in self.wanted])

    def infer_shape(self, *inputs: Tensor) -> Any:
        return self._chosen(super().infer_shape(*inputs))

    def infer_dtype(self, *inputs: Tensor) -> Any:
        return self._chosen(super().infer_dtype(*inputs))

    def may_share(self, inputs, outputs):
        shared = super().may_share(inputs, outputs)
        return [(self.wanted.index(y), x) for y, x in shared if y in self.wanted]

    def perform(self, *arrays: np.ndarray) -> Any:
        return self._chosen(super().perform(*arrays))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return self._written(inputs, self.wanted)


@dataclass(frozen=True, repr=False)
class ScanOnce(Scan):
    """A loop for one run in eager mode; it is interpreted, because compiling would take longer."""

    def perform(self, *arrays: np.ndarray) -> Any:
        return _one_or_all(run_loop(self.inner, arrays, self.backwards, self.least_steps))


def _one_or_all(facts):
    """Return the item of a list of length 1, otherwise all items as a tuple."""
    return facts[0] if len(facts) == 1 else tuple(facts)


def _number_of_steps(sequences: Tensors) -> Size:
    """Return the common size of the first axis of the sequences; None if it is unknown."""
    steps: Shape = (None,)
    for x in sequences:
        merged = merge_shapes(steps, x.shape[:1])
        if merged is None:
            listed = ", ".join(f"'{x.name}' {x.shape}" for x in sequences)
            raise ShapeError(f"scan: expected equal first axes, got {listed}.", subject=x)
        steps = merged
    return steps[0]


def scan(step, sequences, initial_states, *, backwards=False, least_steps=0, keeps=False):
    """Apply a step to each entry along the first axis of sequences, as one op.

    Parameters
    ----------
    step : callable
        Takes (list of slices, list of states), returns (list of outputs, list of new states).
    sequences : list of Tensor, shapes (time, ...)
        At least one sequence.
    initial_states : list of Tensor
    backwards : bool
        Whether to begin with the last entry.
    least_steps : int
        The smallest number of steps. A run with fewer steps raises an error.
    keeps : bool
        Whether the loop stores all tensors that its gradient needs. Otherwise the gradient computes
        them again.

    Returns
    -------
    (list of Tensor, list of Tensor)
        For each output the values of all steps, shape (time, ...); and the last states.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> def step(slices, states):
    ...     total = states[0] + slices[0]
    ...     return [total], [total]
    >>> outputs, states = scan(step, [K.constant([1, 2, 3])], [K.constant(0)])
    >>> K.eval(outputs[0]).tolist(), float(K.eval(states[0]))
    ([1.0, 3.0, 6.0], 6.0)
    """
    inner, inputs = trace_step(step, sequences, initial_states)
    n_outputs = len(inner.results.outputs)
    is_eager = EAGER.get() is not None
    if keeps and not is_eager:
        inner = inner.with_outputs(kept_for_gradient(inner))
    kind = ScanOnce if is_eager else Scan
    results = kind(inner, backwards, least_steps)(*inputs)
    results = [results] if isinstance(results, Tensor) else results
    given = Loop.of(inner, results)
    return given.outputs[:n_outputs], given.last_states
