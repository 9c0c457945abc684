"""The gradient of a loop is a loop that runs the other way.

Let one step compute (output, new state, term) = f(slice, state, others). The reverse loop carries d
loss / d state from the last step to the first. At each step it is given what the forward step was
given (so the states before each step are kept) and adds up

    d loss / d slice  = d output  * df/d slice + d new state * df/d slice + ...
    d loss / d state  = ... handed on, to the step before
    d loss / d others = ... summed over the steps

What the forward step has given out for every step is not computed again; `kept_for_gradient` says
what it should give out for that. The derivatives of f come from the sweep of `gradient.py` over the
graph of one step. The result is again the graph of one step, so the gradient of the gradient needs
nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kerascope.backend.gradient import sweep
from kerascope.backend.graph import Placeholder, Tensor, is_float
from kerascope.backend.ops.broadcasting import FullLike, zeros_like
from kerascope.backend.ops.elementwise import add
from kerascope.backend.ops.scan_graph import InnerGraph, Results, cut_out
from kerascope.backend.traversal import applies_in_order


class Loop(NamedTuple):
    """The inputs, the outputs or the gradients of a loop, by their meaning.

    Attributes
    ----------
    outputs : list of Tensor, shapes (time, ...)
        What each step gave.
    histories : list of Tensor, shapes (time, ...)
        The states before each step.
    last_states : list of Tensor
        The states after the last step.
    sums : list of Tensor
        What was added up over the steps.
    """

    outputs: list[Tensor]
    histories: list[Tensor]
    last_states: list[Tensor]
    sums: list[Tensor]

    @classmethod
    def of(cls, inner: InnerGraph, tensors: Sequence[Tensor]) -> Loop:
        """Sort what a loop gives, in the order of Scan's outputs."""
        rest = iter(tensors)
        counts = (len(inner.results.outputs), len(inner.states), len(inner.states))
        outputs, before, after = ([next(rest) for _ in range(count)] for count in counts)
        return cls(outputs, before, after, list(rest))


class Reverse(NamedTuple):
    """The reverse loop.

    Attributes
    ----------
    inner : InnerGraph
    inputs : list of Tensor
    receivers : Results
        The tensors of the forward step whose gradients it gives: slices by its outputs, states by
        its last states, others by its sums.
    """

    inner: InnerGraph
    inputs: list[Tensor]
    receivers: Results


def reverse_loop(
    inner: InnerGraph, inputs: Sequence[Tensor], given: Loop, grads: Loop
) -> Reverse | None:
    """Return the loop that computes the gradients of another one.

    Parameters
    ----------
    inner : InnerGraph
        One step of the forward loop.
    inputs : list of Tensor
        Its sequences, initial states and others.
    given : Loop
        What the forward loop gave.
    grads : Loop
        d loss / d each of these.

    Returns
    -------
    Reverse or None
        None where no gradient arrives.
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
    return Reverse(reverse, [*used, *(last for _, last in carried.values()), *others], receivers)


def kept_for_gradient(inner: InnerGraph) -> list[Tensor]:
    """Return what a step computes and its gradient needs again, beyond the results of the step."""
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
    """Return the tensor of which this one is a view."""
    while x.owner is not None and x.owner.op.is_view:
        x = x.owner.inputs[0]
    return x


def _seed_results(inner, grads, seeds, sequences):
    """Enter the gradients that arrive at the outputs and the terms of one step."""
    for y, grad in zip(inner.results.outputs, grads.outputs, strict=True):
        if is_float(y.dtype) and not _is_zero(grad):
            _add_to(seeds, y, _slice_of(grad, sequences))
    for y, grad in zip(inner.results.terms, grads.sums, strict=True):
        if is_float(y.dtype) and not _is_zero(grad):
            _add_to(seeds, y, grad)


def _carried_states(inner, grads, seeds):
    """Return for each state of floats the placeholder of its gradient and the last of these."""
    carried = {}
    states = zip(inner.states, inner.results.new_states, grads.last_states, strict=True)
    for x, new, last in states:
        if is_float(x.dtype):
            place = Placeholder(x.shape, x.dtype, f"{x.name}/gradient")
            carried[x] = (place, last)
            _add_to(seeds, new, place)
    return carried


def _slice_of(sequence, sequences):
    """Return a placeholder for one step's part of a sequence, entered among the others."""
    place = Placeholder(sequence.shape[1:], sequence.dtype, sequence.name)
    sequences[place] = sequence
    return place


def _add_to(grads, x, term):
    grads[x] = add(grads[x], term) if x in grads else term


def _is_zero(tensor):
    """Tell whether a gradient is known to be zero: nobody has used that output."""
    op = tensor.owner.op if tensor.owner is not None else None
    return isinstance(op, FullLike) and op.value == 0
