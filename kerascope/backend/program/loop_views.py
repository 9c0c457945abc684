"""The views that the text of a loop goes through: one tuple for each step, or for some steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Spec
from kerascope.backend.program.loop_calls import GIVEN, STEP, with_time
from kerascope.backend.program.loop_places import MOVING, Home, room, sequences_of
from kerascope.backend.program.loop_text import LoopText


class LoopViews:
    """Makes the arguments of a loop, and owns the arrays of all steps that nobody gives it.

    Parameters
    ----------
    text : LoopText
    """

    def __init__(self, text: LoopText) -> None:
        self.text = text
        self._rooms: dict[int, np.ndarray] = {}
        self._spare: dict[int, list[np.ndarray]] = {}
        self._n_steps = -1

    def __call__(self, outs: list[np.ndarray], ins: list[np.ndarray]) -> tuple[Any, ...]:
        """Return the arguments of the loop for these arrays."""
        layout = self.text.step.layout
        n_steps = len(ins[0])
        if n_steps != self._n_steps:
            self._rooms, self._n_steps = {}, n_steps
        wholes: dict[int, np.ndarray] = {x: ins[x] for x in range(layout.sequences)}
        own_outs = dict(zip(self.text.outs, outs, strict=True))
        for number, slot in enumerate(self.text.results[: layout.outputs]):
            if self.text.step.place_of[slot] == STEP and number in own_outs:
                wholes.setdefault(slot, own_outs[number])
        each: dict[int, Sequence[Any]] = {}
        self._fill_wholes(wholes, n_steps)
        for slot, array in wholes.items():
            each[slot] = sequences_of(array)
        for k, slot in enumerate(self.text.results[layout.outputs :]):
            start = ins[layout.sequences + k]
            if slot in self.text.handed:
                each[slot] = self._handed(k, own_outs, n_steps)
            after = each[slot]
            each[layout.sequences + k] = (
                [*after[1:], start] if self.text.is_backwards else [start, *after[:-1]]
            )
        self._fill_steps(each)
        steps: list[Any] = list(zip(*[each[x] for x in self.text.in_steps], strict=True))
        order = -1 if self.text.is_backwards else 1
        loop = self._blocks(wholes, n_steps, steps) if self.text.has_blocks else steps
        firsts = {-1 - k: ins[layout.sequences + k] for k in range(layout.states)}
        named = [firsts[x] if x in firsts else wholes[x] for x in self.text.whole_names]
        fixed = [ins[x] for x in self.text.fixed]
        return (loop[::order], *outs, *fixed, *named)

    def forget(self) -> None:
        """Let go of the arrays of all steps."""
        self._rooms, self._n_steps = {}, -1

    def _fill_wholes(self, wholes: dict[int, np.ndarray], n_steps: int) -> None:
        """Add the arrays of all steps that belong to the loop, and the views of those."""
        for call in self.text.step.calls:
            slot = call.outputs[0]
            if (
                self.text.places.homes[slot] != Home.WHOLE
                or slot in wholes
                or slot in self.text.handed
                or slot in self.text.places.inside
            ):
                continue
            if call.op.is_view:
                if self.text.step.place_of[slot] == GIVEN:
                    source = wholes[call.inputs[0]]
                    wholes[slot] = with_time(call.op).perform(
                        *self.text.places.stand_ins(call, source)
                    )
                continue
            if slot not in self._rooms:
                shape, dtype = self.text.step.specs[slot]
                self._rooms[slot] = room(Spec((n_steps, *shape), dtype))
            wholes[slot] = self._rooms[slot]

    def _handed(self, k: int, outs: dict[int, np.ndarray], n_steps: int) -> list[np.ndarray]:
        """Return where each step computes a new state: its history, or two places in turn."""
        layout = self.text.step.layout
        slot = self.text.results[layout.outputs + k]
        if slot not in self._spare:
            self._spare[slot] = [room(self.text.step.specs[slot]) for _ in range(3)]
        *pair, last = self._spare[slot]
        history = outs.get(layout.outputs + k)
        end = outs.get(layout.outputs + layout.states + k, last)
        before = (pair * n_steps)[:n_steps] if history is None else sequences_of(history)
        return [end, *before[:-1]] if self.text.is_backwards else [*before[1:], end]

    def _fill_steps(self, each: dict[int, Sequence[Any]]) -> None:
        """Add what lies inside of other arrays at each step: parts and views."""
        calls = {call.outputs[0]: call for call in self.text.step.calls}
        n_steps = self._n_steps

        def fill(slot: int) -> None:
            if slot in each or self.text.places.homes[slot] not in MOVING:
                return
            call: Any = calls[slot]
            if self.text.places.homes[slot] == Home.BLOCK and not call.op.is_view:
                array = self.text.places.arrays[slot]
                each[slot] = [array[t % len(array), ...] for t in range(n_steps)]
                return
            if slot in self.text.places.inside:
                outer, number = self.text.places.inside[slot]
                fill(outer)
                join: Any = calls[outer].op
                each[slot] = [join.part(array, number) for array in each[outer]]
            elif call.op.is_view:
                fill(call.inputs[0])
                each[slot] = [
                    call.op.perform(*self.text.places.stand_ins(call, array))
                    for array in each[call.inputs[0]]
                ]

        for slot in self.text.in_steps:
            fill(slot)

    def _blocks(
        self, wholes: dict[int, np.ndarray], n_steps: int, steps: list[Any]
    ) -> list[tuple[Any, ...]]:
        size = self.text.places.block
        calls = {call.outputs[0]: call for call in self.text.step.calls}
        blocks = []
        order = -1 if self.text.is_backwards else 1
        for start in range(0, n_steps, size):
            stop = min(start + size, n_steps)
            views: dict[int, Any] = {}
            for slot in self.text.in_blocks:
                if slot in wholes:
                    views[slot] = wholes[slot][start:stop]
                elif calls[slot].op.is_view:
                    source = views[calls[slot].inputs[0]]
                    views[slot] = with_time(calls[slot].op).perform(source)
                else:
                    views[slot] = self.text.places.arrays[slot][: stop - start]
            own = [views[slot] for slot in self.text.in_blocks]
            if self.text.has_steps:
                own.append(steps[start:stop][::order])
            blocks.append(tuple(own))
        return blocks
