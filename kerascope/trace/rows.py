"""Rows of a batch and samples of the data: which rows have a NaN, and the loss of each row.

The first axis of the inputs is that of the batch: each index on it is a row, which has one sample.
`tensors_with_rows` follows this axis through ops that do not combine rows: elementwise ops,
products with a weight, reductions over other axes. Any other op is performed again on the batch
with the rows in another order. If the output is reordered in the same way along an axis, this is
the axis of the rows. Otherwise no row is reported. The feed stores which sample is in which row,
even after shuffling, unless the data come from a generator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Apply, Placeholder, Tensor, applies_between
from kerascope.backend.ops import (
    broadcasting,
    control,
    convolution,
    elementwise,
    indexing,
    joining,
    linalg,
    nn,
    pooling,
    random,
    reduction,
    shaping,
)
from kerascope.backend.program.custom_ops import is_builtin, is_pure
from kerascope.backend.schedule import Step
from kerascope.backend.shapes import product
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.function_plan import FunctionPlan
from kerascope.trace.history import value_of_event
from kerascope.trace.tape_store import Tape

ELEMENTWISE = (broadcasting.Elementwise, broadcasting.Cast, control.Where, elementwise.Erf)
REDUCTIONS = (reduction.Reduction, reduction.CountOver, broadcasting.Sum)
WITH_AXES = (shaping.ExpandDims, shaping.Squeeze)
FORWARD_ONLY_FIRST = (convolution.Convolve, linalg.Dot)  # rows multiplied by a weight
POOLS = (pooling.MaxPool, pooling.AveragePool)


# --- following the first axis ---------------------------------------------------------------------


def tensors_with_rows(plan: FunctionPlan) -> set[Tensor]:
    """Return the tensors whose first axis is certainly the axis of the rows of the batch.

    The set is empty for functions without a model, because their inputs need not be batches.
    """
    if plan.facts is None:
        return set()
    known: set[Tensor] = set()
    known.update(
        x for x in plan.function.inputs if isinstance(x, Placeholder) and _may_have_rows(x)
    )
    for planned in plan.steps:
        apply = planned.step.apply
        is_drawn = isinstance(apply.op, random.RandomOp) and _may_have_rows(apply.outputs[0])
        if is_drawn or (len(apply.outputs) == 1 and _keeps_rows(apply, known)):
            known.update(apply.outputs)
    return known


def _may_have_rows(x: Tensor) -> bool:
    return x.ndim > 0 and x.shape[0] is None


def _keeps_rows(apply: Apply, known: set[Tensor]) -> bool:
    """Return whether row i of an op's output depends only on row i of its inputs."""
    op, inputs, out = apply.op, apply.inputs, apply.outputs[0]
    own = [x in known for x in inputs]
    if not any(own) or not out.ndim:
        return False
    if isinstance(op, (nn.Softmax, nn.LogSoftmax)):
        return op.axis % out.ndim != 0
    if isinstance(op, ELEMENTWISE):
        return _are_aligned(inputs, own, out)
    if isinstance(op, control.Switch):
        return own == [False, True, True] and not inputs[0].ndim
    if isinstance(op, FORWARD_ONLY_FIRST):
        return own == [True, False] and inputs[0].ndim > 1
    if isinstance(op, REDUCTIONS):
        return own[0] and op.axes is not None and 0 not in op.axes
    if isinstance(op, WITH_AXES):
        return 0 not in op.axes
    return _moves_rows(op, inputs, own, out)


def _moves_rows(op: Any, inputs: list[Tensor], own: list[bool], out: Tensor) -> bool:
    """Return whether an op that moves or sums values keeps each row at its index of the first axis.

    `own` has, for each input, whether its first axis is the axis of the rows.
    """
    if isinstance(op, broadcasting.SumTo):
        return all(own) and inputs[0].ndim == inputs[1].ndim
    if isinstance(op, broadcasting.BroadcastLike):
        is_plain = None not in inputs[0].shape
        return own[1] and (is_plain or (own[0] and 0 not in (op.axes or ())))
    if isinstance(op, joining.Concatenate):
        return all(own) and op.axis % out.ndim != 0
    if isinstance(op, shaping.Transpose):
        return op.pattern[0] == 0
    if isinstance(op, indexing.Gather):
        return own == [False, True]
    if isinstance(op, shaping.Reshaping):
        rests = inputs[0].shape[1:], out.shape[1:]
        are_known = not any(None in rest for rest in rests)
        return own[0] and are_known and product(rests[0]) == product(rests[1])
    return isinstance(op, POOLS) and own[0]


def _are_aligned(inputs: list[Tensor], own: list[bool], out: Tensor) -> bool:
    """Return whether broadcasting keeps the rows on the first axis of the output."""
    return all(
        x.ndim == out.ndim if has_rows else x.ndim < out.ndim or x.shape[0] == 1
        for x, has_rows in zip(inputs, own, strict=True)
    )


# --- a batch, its rows and its samples ------------------------------------------------------------


class BatchAt(NamedTuple):
    """The batch of `fit` at a time of a tape, with the sample in each of its rows.

    Attributes
    ----------
    begin : Event
        The start of the batch's span.
    number, size : int
        The number of the batch in its epoch, and the number of its rows.
    call : Event or None
        The start of the call of the train function.
    samples : array of int or None
        The index of each row's sample in the data; None if the feed does not have it.
    """

    begin: Event
    number: int
    size: int
    call: Event | None
    samples: np.ndarray | None

    def words(self, rows: list[int]) -> str:
        """Return the text "row 8 of batch 17 = sample 552" for a row of the batch."""
        first = rows[0]
        if len(rows) == self.size > 1:
            return f"all {self.size} rows of batch {self.number}"
        text = f"row {first} of batch {self.number}"
        if len(rows) > 1:
            more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
            listed = ", ".join(map(str, rows[:4]))
            text = f"rows {listed}{more} of batch {self.number}; row {first}"
            return text + (f" = sample {self.samples[first]}" if self.samples is not None else "")
        return text + (f" = sample {self.samples[first]}" if self.samples is not None else "")


def batch_at(recorder: Any, tape: Tape, t: int) -> BatchAt | None:
    """Return the batch of `fit` that contains time `t`; None outside of batches."""
    if not 0 <= t < len(tape):
        return None
    event = tape[t]
    spans = [*tape.spans_at(t), *([event] if event.ph == BEGIN else [])]
    begin = next((span for span in reversed(spans) if span.kind == "batch"), None)
    if begin is None:
        return None
    number, size = value_of_event(begin, "batch_index"), value_of_event(begin, "size")
    following = (tape[place] for place in range(begin.t + 1, min(begin.t + 12, len(tape))))
    call = next((e for e in following if e.kind == "function" and e.ph == BEGIN), None)
    epoch = next((span for span in reversed(spans) if span.kind == "epoch"), None)
    feed: Any = None if recorder is None or epoch is None else recorder.feed_of(epoch.t, begin.t)
    samples = feed.samples_of(number) if hasattr(feed, "samples_of") else None
    return BatchAt(begin, number, size, call, samples)


def spoilt_rows(recorder: Any, tape: Tape, event: Event) -> tuple[BatchAt, list[int]] | None:
    """Return the batch of an event, and the rows in which values of the event are not finite.

    The values are the output of an op, or the inputs at the start of a call. If all rows are finite
    or the rows cannot be determined, return None.
    """
    batch = batch_at(recorder, tape, event.t)
    plan = _plan_of(recorder, batch)
    if batch is None or plan is None:
        return None
    arrays: list[tuple[Any, int]] = []
    if batch.call is not None and batch.call.t == event.t:
        arrays = [(array, 0) for array in value_of_event(event, "inputs") or ()]
    elif event.kind == "op" and event.ph == END:
        out = next((p.step.apply.outputs[0] for p in plan.steps if p.name == event.name), None)
        axis = _axes_of_rows(plan, tape, batch, event).get(out)
        arrays = [] if axis is None else [(value_of_event(event, "result"), axis)]
    is_spoilt = np.zeros(batch.size, bool)
    for array, axis in arrays:
        if isinstance(array, np.ndarray) and array.ndim and not array.shape[axis] % batch.size:
            by_row = np.moveaxis(~np.isfinite(array), axis, 0)
            is_spoilt |= by_row.reshape(batch.size, -1).any(axis=1)
    rows = [int(row) for row in np.flatnonzero(is_spoilt)]
    return (batch, rows) if rows else None


def _axes_of_rows(plan: FunctionPlan, tape: Tape, batch: BatchAt, event: Event) -> dict[Any, int]:
    """Return, for the ops of a call up to that of an event, the axis of the rows in each output.

    Tensors whose axis cannot be determined are left out.
    """
    axes: dict[Any, int] = dict.fromkeys(tensors_with_rows(plan), 0)
    steps = {planned.name: planned.step for planned in plan.steps}
    begun: Any = None
    for other in tape[batch.begin.t : event.t + 1]:
        if other.kind != "op" or other.name not in steps:
            continue
        step = steps[other.name]
        own = [axes.get(x) for x in step.apply.inputs]
        if other.ph == BEGIN:
            begun = value_of_event(other, "inputs")
        elif set(own) != {None} and not axes.keys() >= set(step.apply.outputs):
            outs = _list_of(value_of_event(other, "result"))
            found = _axes_kept(step, _list_of(begun), own, outs, batch.size)
            pairs = zip(step.apply.outputs, found, strict=False)
            axes.update((out, axis) for out, axis in pairs if axis is not None)
    return axes


def _axes_kept(
    step: Step, inputs: list[Any], axes: list[int | None], outs: list[Any], size: int
) -> list[int | None]:
    """Return the axis of the rows in each output of an op; None for outputs without this axis.

    The result is an empty list if the op cannot be performed again with the same result. An axis
    may combine the rows with other axes, for example after time steps were flattened.
    """
    op = step.apply.op
    is_sure = (is_builtin(op) or is_pure(op)) and not isinstance(op, random.RandomOp)
    if not is_sure or not all(isinstance(x, np.ndarray | np.generic) for x in (*inputs, *outs)):
        return []
    pairs = zip(inputs, axes, strict=True)
    turned = [x if axis is None else _turned(x, axis, size) for x, axis in pairs]
    with np.errstate(all="ignore"):
        again = _list_of(step.perform(*turned))
        return [
            next((i for i in range(np.ndim(x)) if _is_turned(y, x, i, size)), None)
            for x, y in zip(outs, again, strict=True)
        ]


def _turned(x: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Return an array whose rows are moved by one position, the last row to the first."""
    return np.roll(x, x.shape[axis] // size, axis)


def _is_turned(again: np.ndarray, x: np.ndarray, axis: int, size: int) -> bool:
    if not size or x.shape[axis] % size:
        return False
    noise = 1e-5 * float(np.max(np.abs(x), initial=0, where=np.isfinite(x)))
    return np.allclose(again, _turned(x, axis, size), rtol=1e-3, atol=noise, equal_nan=True)


def _list_of(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def losses_by_row(recorder: Any, tape: Tape, t: int) -> tuple[BatchAt, np.ndarray] | None:
    """Return the loss of each row of the batch at time `t`, weighted and summed over the outputs.

    Return None if a loss is not computed yet, or does not have one value for each row.
    """
    batch = batch_at(recorder, tape, t)
    plan = _plan_of(recorder, batch)
    if batch is None or plan is None:
        return None
    wanted = _names_of_losses(plan)
    total, found = np.zeros(batch.size), 0
    for place in range(batch.begin.t, t + 1):
        event = tape[place]
        if event.kind == "op" and event.ph == END and event.name in wanted:
            out = value_of_event(event, "result")
            if np.shape(out) != (batch.size,):
                return None
            total, found = total + out, found + 1
    return (batch, total) if wanted and found == len(wanted) else None


def _names_of_losses(plan: FunctionPlan) -> set[str]:
    """For each output of the model, return the name of the last op with a loss for each row."""
    if plan.facts is None:
        return set()
    with_rows = tensors_with_rows(plan)
    loss = plan.facts.losses.get("total_loss")
    between = applies_between(plan.facts.model.outputs, [loss] if loss is not None else [])
    depends = {y for apply in between for y in apply.outputs}
    last: dict[str, str] = {}
    for planned in plan.steps:
        out = planned.step.apply.outputs[0]
        if planned.phase == "loss" and out in with_rows and out.ndim == 1 and out in depends:
            last[planned.step.apply.scope.name] = planned.name
    return set(last.values())


def _plan_of(recorder: Any, batch: BatchAt | None) -> FunctionPlan | None:
    """Return the `FunctionPlan` of the function called in a batch; None if none is recorded."""
    if recorder is None or batch is None or batch.call is None:
        return None
    names = value_of_event(batch.call, "feed_names")
    plans = [
        plan
        for plan in recorder.memory.plans.values()
        if plan.function.name == batch.call.name
        and tuple(x.name for x in plan.function.schedule.inputs) == names
    ]
    return plans[-1] if plans else None
