"""A program: the NumPy code that a function became for arrays of certain shapes."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.flat_text import Homes
from kerascope.backend.program.loop import LoopProgram
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.shown import hide, show
from kerascope.backend.program.source import Source
from kerascope.backend.program.trial import Trial
from kerascope.backend.schedule import Schedule
from kerascope.backend.subnormals import FLUSHED
from kerascope.backend.tensor import LENDING

_numbers = itertools.count(1)


class Program:
    """Straight-line code for one function and one set of input shapes.

    Parameters
    ----------
    schedule : Schedule
    variables : list of Variable
        Those that a call writes, in the order of the schedule's results.
    trial : Trial
    homes : dict
        Where the variables of the function lie; shared by its programs.
    name : str
        Of the function.
    rewrites : list of str, optional
        Names of the rules that may be used; by default all.

    Attributes
    ----------
    trial : Trial
        For which inputs it is.
    text : str
    n_bytes : int
        How much memory it has planned.
    """

    def __init__(
        self,
        schedule: Schedule,
        variables: Sequence[Variable],
        trial: Trial,
        homes: Homes,
        name: str,
        rewrites: Sequence[str] | None = None,
    ) -> None:
        self.trial = trial
        self.name = name
        self._schedule = schedule
        self._variables = variables
        self._homes = homes
        self._rewrites = rewrites
        self._moves = -1
        self._file = f"<kerascope {name} {next(_numbers)}>"
        # Of each variable where it lies, and whether it is written.
        self._rooms: list[tuple[Variable, np.ndarray, bool]]
        self._writes: bool
        self._run: Callable[..., list[Any]]
        self._write()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute the outputs and write the new values; the arrays have the program's shapes."""
        if not self._writes:
            if Variable.moves != self._moves:
                self._settle()
            return self._run(*arrays)
        # Nobody may borrow an array while it is written.
        with LENDING:
            if Variable.moves != self._moves:
                self._settle()
            outputs = self._run(*arrays)
            if Variable.moves != self._moves:
                self._write_again()
            return outputs

    @property
    def listing(self) -> str:
        """The text of the program, and below it those of the loops that it calls.

        A loop is given views of the arrays that stand in its call: those of blocks of steps, those
        of each step, and whole ones.
        """
        loops = [
            f"\n\n# the loop of {name}\n{loop.source.replace('def loop(', f'def {name}_loop(', 1)}"
            for name, loop in self._run.__globals__.items()
            if isinstance(loop, LoopProgram)
        ]
        return "".join([self.text, *loops])

    def has_begun_to_write(self, error: BaseException) -> bool:
        """Tell whether an error came when some variables had got their new values already."""
        frames = traceback.walk_tb(error.__traceback__)
        lines = [number for frame, number in frames if frame.f_code.co_filename == self._file]
        return bool(lines) and lines[0] >= self._first_writing_line

    def draft(self) -> Draft:
        """Write the program once more, and return all that is known while it is written."""
        with np.errstate(all="ignore"), FLUSHED, LENDING:  # constants are computed, as in a call
            return self._write()

    def _settle(self) -> None:
        """Bring the variables home that were moved; where that cannot be, write the program anew.

        Another function that writes the same variables has them in an array of its own.
        """
        while self._moves != Variable.moves:
            self._moves = Variable.moves
            self._bring_home()

    def _bring_home(self) -> None:
        for v, room, is_written in self._rooms:
            if v.room is room and not (is_written and v.is_lent):
                continue
            if not (is_written and room.flags.writeable) or v.room is room:
                self._write()
                break
            v.move_to(room)

    def _write_again(self) -> None:
        """Give the variables their new values where an op moved them by calling a function.

        A count of draws that was not to be written loses what that function gave it.
        """
        for v, room, is_written in self._rooms:
            if is_written and v.room is not room:
                v.set_value(room)

    def _write(self) -> Draft:
        arrays, facts = self.trial.arrays, self.trial.facts
        plan = Plan(self._schedule, self._variables, arrays, facts, self._rewrites)
        draft = Draft(plan, self._homes, self.name)
        self._rooms = [(v, v.room, v in plan.written) for v in plan.slot_of]
        self._writes = bool(plan.written)
        self.n_bytes = draft.n_bytes
        self._compile(draft.source)
        return draft

    def _compile(self, source: Source) -> None:
        self.text = source.text
        self._first_writing_line = source.first_writing_line
        code = compile(source.text, self._file, "exec")
        # As for a file on disk: a debugger shows the lines, and a traceback too.
        show(self._file, source.text, _Lines(source.text))
        exec(code, source.scope)
        self._run = source.scope[source.name]

    def __del__(self) -> None:
        hide(getattr(self, "_file", ""))


class _Lines(Sequence[str]):
    """The lines of a text, which is cut when somebody looks: that is seldom, and lines are many."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __len__(self) -> int:
        return len(self._cut())

    def __getitem__(self, index: Any) -> Any:
        return self._cut()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cut())

    def _cut(self) -> list[str]:
        return self._text.splitlines(keepends=True)
