"""How the calls of a step lie in memory: what is reshaped, transposed or kept is copied, or not.

Here no number changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.graph import Op, parametric
from kerascope.backend.ops.shaping import Reshape, Transpose
from kerascope.backend.program.loop_calls import STEP, Call, Copy, StepCalls


@parametric
class InShape(Op):
    """The same memory in another shape; it lies row by row."""

    shape: tuple[int, ...]
    is_view = True

    def infer_shape(self, x: Any) -> Any:
        """Return the shape."""
        return self.shape

    def perform(self, x: Any) -> Any:
        """Return a view."""
        return x.reshape(self.shape)


@parametric
class Reshaped(Op):
    """An array that is computed in another shape than the one in which it is read.

    Attributes
    ----------
    before : tuple of int
        The shape in which it is computed.
    after : tuple of int
    """

    before: tuple[int, ...]
    after: tuple[int, ...]

    def part(self, whole: np.ndarray, number: int) -> np.ndarray:
        """Return the same memory in the other shape; it lies row by row."""
        return whole.reshape(self.before)

    def infer_shape(self, x: Any) -> Any:
        """Return the shape in which it is read."""
        return self.after

    def perform(self, x: Any) -> Any:
        """Return the array in the shape in which it is read."""
        return np.reshape(x, self.after)


def without_unused(step: StepCalls) -> None:
    """Take out the calls whose results nobody reads."""
    used = set(step.results)
    kept = []
    for call in reversed(step.calls):
        if not used.isdisjoint(call.outputs):
            used.update(call.inputs)
            kept.append(call)
    step.calls = kept[::-1]


def with_reshaped_views(step: StepCalls, placeable: set[int]) -> None:
    """Let what is reshaped stay where it is, if it lies row by row; else be copied only once."""
    views = {call.outputs[0] for call in step.calls if call.op.is_view}
    calls = []
    for call in step.calls:
        if isinstance(call.op, Reshape) and step.place_of[call.outputs[0]] == STEP:
            before, after = step.specs[call.inputs[0]], step.specs[call.outputs[0]].shape
            if call.inputs[0] in placeable - views:
                call.op = InShape(after)
            else:
                copied = step.new_slot(before, STEP)
                calls.append(Call(Copy(), call.inputs, (copied,)))
                call.op, call.inputs = Reshaped(before.shape, after), [copied]
        calls.append(call)
    step.calls = calls


def with_copies(step: StepCalls, placeable: set[int]) -> None:
    """Let each result that comes from inside the loop be computed into memory of its own.

    Parameters
    ----------
    step : StepCalls
    placeable : set of int
        Slots that can be computed where they are wanted.
    """
    copies: dict[int, int] = {}
    first_term = step.layout.outputs + step.layout.states
    for number, slot in enumerate(step.results[:first_term]):
        is_state = number >= step.layout.outputs
        if step.place_of[slot] != STEP and not is_state:
            continue
        if step.place_of[slot] == STEP and slot in placeable:
            continue
        if slot not in copies:
            copies[slot] = step.new_slot(step.specs[slot], STEP)
            step.calls.append(Call(Copy(), [slot], (copies[slot],)))
        step.results[number] = copies[slot]


def with_dense_copies(step: StepCalls) -> None:
    """Let what is transposed and then read more than once be copied side by side.

    An op on short rows that do not follow each other takes longer than copying them.
    """
    readers: dict[int, int] = {}
    for call in step.calls:
        for slot in call.inputs:
            readers[slot] = readers.get(slot, 0) + 1
    calls = []
    for call in step.calls:
        calls.append(call)
        (slot, *_) = call.outputs
        is_turned = isinstance(call.op, Transpose) and step.place_of[slot] == STEP
        if is_turned and readers.get(slot, 0) > 1 and slot not in step.results:
            turned = step.new_slot(step.specs[slot], STEP)
            call.outputs = (turned,)
            calls.append(Call(Copy(), [turned], (slot,)))
    step.calls = calls
