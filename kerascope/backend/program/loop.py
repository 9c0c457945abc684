"""The program of a loop: NumPy code for the op Scan.

The loop of `ops/scan_run.py` goes through the schedule of one step again and again, and every op
makes a new array. Here the step is written down once, as the schedule of a function is, with all
memory given before: what is the same at each step first; then the loop, which goes through blocks
of some steps, does at once what it can do for all of a block, and the rest step by step; then what
is left to do when all steps are there. A block is so short that its arrays stay in the cache.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Spec
from kerascope.backend.locks import Owned
from kerascope.backend.outside import own_failure
from kerascope.backend.program.loop_calls import Layout, StepCalls, can_be_written
from kerascope.backend.program.loop_plan import LoopPlan
from kerascope.backend.program.loop_text import LoopText
from kerascope.backend.program.loop_views import LoopViews
from kerascope.backend.program.shown import hide, show
from kerascope.backend.schedule import Schedule

_numbers = itertools.count(1)


class LoopProgram(Owned):
    """The code of a loop, for steps of certain shapes and any number of them.

    Parameters
    ----------
    step : StepCalls
    is_backwards : bool
    wanted : collection of int, optional
        The results that are to be computed; by default all.

    Attributes
    ----------
    plan : LoopPlan
    text : LoopText
    source : str
    """

    def __init__(
        self, step: StepCalls, is_backwards: bool, wanted: Collection[int] | None = None
    ) -> None:
        super().__init__()
        self.file = f"<kerascope loop {next(_numbers)}>"
        self.plan = LoopPlan(step, is_backwards, wanted)
        self.text = LoopText(self.plan)
        self.source = self.text.source
        self._known: list[Any] = []
        self._arguments: tuple[Any, ...] = ()
        self._views = LoopViews(self.text)
        code = compile(self.source, self.file, "exec")
        show(self.file, self.source, self.source.splitlines(keepends=True))
        scope = dict(self.text.scope)
        exec(code, scope)
        self._run: Callable[..., None] = scope["loop"]

    def __del__(self) -> None:
        hide(self.file)

    def __call__(self, outputs: Any, *inputs: Any) -> None:
        """Compute the loop into given arrays; there is at least one step.

        Its memory is there once: who calls knows that no other call is under way.
        """
        several = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)
        given = [*several, *inputs]
        are_known = len(given) == len(self._known) and all(
            a is b for a, b in zip(given, self._known, strict=True)
        )
        if not are_known:
            arrays = [np.asarray(x) for x in inputs]
            self._known = []
            self._arguments = self._views(several, arrays)
            self._known = given
        self._run(*self._arguments)

    def forget(self) -> None:
        """Let go of the arrays of the last call, and of those that hold all steps."""
        self._known, self._arguments = [], ()
        self._views.forget()


def loop_program(
    schedule: Schedule,
    layout: Layout,
    inputs: Sequence[Spec],
    is_backwards: bool,
    rewrites: bool = True,
    wanted: Collection[int] | None = None,
) -> LoopProgram | None:
    """Return the program of a loop; None if it has to be interpreted.

    Parameters
    ----------
    schedule : Schedule
        Of one step.
    layout : Layout
    inputs : list of Spec
        Of one step: slices of the sequences, states, others.
    is_backwards : bool
    rewrites : bool
        Whether the rules of `loop_rules.py` are applied.
    wanted : collection of int, optional
        The results that are to be computed; by default all.
    """
    if not layout.sequences or not can_be_written(schedule):
        return None
    write = functools.partial(StepCalls, schedule, layout, inputs, rewrites)
    try:
        step = write()
    except Exception as error:  # a step that fails on zeros is told of when it fails on numbers
        own_failure(write, error)
        return None
    return LoopProgram(step, is_backwards, wanted) if step.is_whole else None
