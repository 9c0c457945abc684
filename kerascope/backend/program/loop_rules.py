"""What is rewritten inside a loop: less to do at each step, more before it and after it.

The gradient of a loop is linear in what it hands on from step to step, so most of its step is
products of that with numbers that are known before. The rules gather these:

- (x * a) * b, with a and b known for all steps, is x * (a * b), and a * b is computed before; a or
  b may be one number;
- parts that are put into zeros and added up are written side by side, and what multiplies the
  whole multiplies its parts;
- a sum over the steps of products of matrices is one product of long matrices after the loop.

These change the order of roundings, so results differ in their last bits from those of the loop as
it stands. It runs the same way whether it is stepped or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kerascope.backend.graph import Op, Spec, parametric
from kerascope.backend.ops.broadcasting import Cast
from kerascope.backend.ops.elementwise import Add, Multiply
from kerascope.backend.ops.indexing import GetItem, PutItem, Span
from kerascope.backend.program.loop_calls import STEP, Call, StepCalls


@parametric
class Join(Op):
    """Parts side by side along an axis, zeros where there is none.

    Attributes
    ----------
    axis : int
    bounds : tuple of (int, int)
        From where to where each part lies.
    shape : tuple of int
        Of the whole.
    is_stack : bool
        Whether the parts do not have this axis.
    """

    axis: int
    bounds: tuple[tuple[int, int], ...]
    shape: tuple[int, ...]
    is_stack: bool = False

    def index(self, number: int) -> tuple[Any, ...]:
        """Return where a part lies in the whole; with it, a part of no axes is a view too."""
        start, stop = self.bounds[number]
        place = start if self.is_stack else slice(start, stop)
        return (*(slice(None),) * self.axis, place, ...)

    def part(self, whole: np.ndarray, number: int) -> np.ndarray:
        """Return a part of the whole, as a view."""
        return whole[self.index(number)]

    def getter(self, number: int) -> GetItem:
        """Return the op that takes from an array what lies where a part does."""
        start, stop = self.bounds[number]
        index: list[Any] = [Span()] * len(self.shape)
        index[self.axis] = start if self.is_stack else Span(start, stop)
        return GetItem(tuple(index))

    @property
    def has_gaps(self) -> bool:
        """Tell whether some places belong to no part."""
        return sum(stop - start for start, stop in self.bounds) < self.shape[self.axis]

    def infer_shape(self, *parts: Any) -> Any:
        """Return the shape of the whole."""
        return self.shape

    def perform(self, *parts: Any) -> Any:
        """Return the whole."""
        whole = np.zeros(self.shape, parts[0].dtype)
        for number, part in enumerate(parts):
            whole[self.index(number)] = part
        return whole


class Rewriter:
    """Applies the rules to the calls of a step, in place.

    Parameters
    ----------
    step : StepCalls
    """

    def __init__(self, step: StepCalls) -> None:
        self.step = step
        self.calls: list[Call] = []
        self.makers: dict[int, Call] = {}
        self._seen: dict[Any, int] = {}
        self._same: dict[int, int] = {}
        for call in step.calls:
            call.inputs = [self._same.get(slot, slot) for slot in call.inputs]
            slot = self._rewritten(call)
            if slot is None:
                self._keep(call)
            else:
                self._same[call.outputs[0]] = slot
        step.calls = self.calls
        step.results = [self._same.get(slot, slot) for slot in step.results]

    def _keep(self, call: Call) -> None:
        self.step.sort(call)
        self.calls.append(call)
        self.makers.update(dict.fromkeys(call.outputs, call))

    def _new(self, op: Op, inputs: Sequence[int], spec: Spec) -> int:
        """Return the slot of a call that is made here; of equal ones there is one."""
        if isinstance(op, Multiply) and all(map(self._is_known, inputs)):
            x, a = inputs
            inputs = [x, self._before_cast(a)] if self.step.specs[x].dtype == spec.dtype else inputs
        key = (op, *inputs)
        if key not in self._seen:
            call = Call(op, list(inputs), (self.step.new_slot(spec, STEP),))
            self._keep(call)
            self._seen[key] = call.outputs[0]
        return self._seen[key]

    def _before_cast(self, a: int) -> int:
        """Return the booleans that `a` was: a product with them is that with zeros and ones."""
        maker = self.makers.get(a)
        if maker is not None and isinstance(maker.op, Cast):
            source = maker.inputs[0]
            return source if self.step.specs[source].dtype == bool else a
        if maker is None or not isinstance(maker.op, GetItem):
            return a
        whole = self._before_cast(maker.inputs[0])
        if whole == maker.inputs[0]:
            return a
        return self._new(maker.op, [whole], Spec(self.step.specs[a].shape, np.dtype(bool)))

    def _is_known(self, slot: int) -> bool:
        return self.step.place_of[slot] != STEP

    def _rewritten(self, call: Call) -> int | None:
        """Return the slot that holds what the call would compute; None if it stays."""
        if any(slot not in self.step.specs for slot in (*call.inputs, *call.outputs)):
            return None
        if isinstance(call.op, PutItem):
            return self._joined_alone(call)
        if isinstance(call.op, Add):
            return self._joined(*call.inputs)
        if isinstance(call.op, Multiply):
            x, a = call.inputs
            if self._is_known(x):
                x, a = a, x
            if not self._is_known(x) and self._is_known(a):
                spec = self.step.specs[call.outputs[0]]
                if self.step.specs[x] == spec and self._fits(a, spec):
                    return self._product(x, a)
        return None

    def _fits(self, a: int, spec: Spec) -> bool:
        """Tell whether `a` is an array of this shape, or one number of this type."""
        return self.step.specs[a] in (spec, Spec((), spec.dtype))

    def _product(self, x: int, a: int) -> int:
        """Return x * a, where `a` is known before the loop: of the same shape, or one number."""
        spec = self.step.specs[x]
        maker = self.makers.get(x)
        pair = self._by_known(maker)
        if pair is not None:
            y, b = pair
            wide = max(self.step.specs[a], self.step.specs[b], key=lambda one: len(one.shape))
            return self._new(Multiply(), [y, self._new(Multiply(), [b, a], wide)], spec)
        if maker is not None and isinstance(maker.op, Join) and self._pays_inside(maker, a):
            parts = []
            for number, part in enumerate(maker.inputs):
                factor = a
                if self.step.specs[a] == spec:
                    factor = self._new(maker.op.getter(number), [a], self.step.specs[part])
                parts.append(self._product(part, factor))
            return self._new(maker.op, parts, spec)
        return self._new(Multiply(), [x, a], spec)

    def _by_known(self, maker: Call | None) -> tuple[int, int] | None:
        """Return y and b of a product y * b with b known before the loop; None if it is none."""
        if maker is None or not isinstance(maker.op, Multiply):
            return None
        y, b = maker.inputs
        if self._is_known(y):
            y, b = b, y
        spec = self.step.specs[maker.outputs[0]]
        fits = self.step.specs[y] == spec and self._fits(b, spec)
        return (y, b) if fits and not self._is_known(y) and self._is_known(b) else None

    def _pays_inside(self, join: Call, a: int) -> bool:
        """Tell whether to multiply the parts of a whole: by one number if that costs nothing."""
        if self.step.specs[a].shape:
            return True
        return all(self._by_known(self.makers.get(part)) is not None for part in join.inputs)

    def _joined_alone(self, call: Call) -> int | None:
        x = call.inputs[0]
        shape, dtype = self.step.specs[call.outputs[0]]
        bounds: list[tuple[int, int]] = []
        index = call.op.parameters["index"]
        if self._is_known(x) or None in index or dtype != self.step.specs[x].dtype:
            return None
        for i, n in zip(index, shape, strict=True):
            start, stop, by = slice(*i).indices(n) if isinstance(i, Span) else (i % n, i % n + 1, 1)
            if by != 1 or stop <= start:
                return None
            bounds.append((start, stop))
        cut = [axis for axis, n in enumerate(shape) if bounds[axis] != (0, n)]
        whole = [axis for axis, i in enumerate(index) if not isinstance(i, Span)]
        taken = [n for axis, n in enumerate(shape) if axis not in whole]
        if len(cut) != 1 or not set(whole) <= set(cut):
            return None
        if not whole:
            taken[cut[0]] = bounds[cut[0]][1] - bounds[cut[0]][0]
        if tuple(taken) != self.step.specs[x].shape:
            return None
        op = Join(cut[0], (bounds[cut[0]],), shape, bool(whole))
        return self._new(op, [x], self.step.specs[call.outputs[0]])

    def _joined(self, first: int, second: int) -> int | None:
        """Return the sum of two wholes of which no parts overlap, as one whole."""
        makers = [self.makers.get(slot) for slot in (first, second)]
        ops = [maker.op for maker in makers if maker is not None and isinstance(maker.op, Join)]
        if len(ops) != 2 or replace(ops[0], bounds=()) != replace(ops[1], bounds=()):
            return None
        pairs = [
            (bound, slot)
            for maker in makers
            if maker is not None
            for bound, slot in zip(maker.op.parameters["bounds"], maker.inputs, strict=True)
        ]
        pairs.sort()
        if any(a[0][1] > b[0][0] for a, b in pairwise(pairs)):
            return None
        op = replace(ops[0], bounds=tuple(bound for bound, _ in pairs))
        return self._new(op, [slot for _, slot in pairs], self.step.specs[first])
