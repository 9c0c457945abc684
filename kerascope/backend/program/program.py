"""A program: the NumPy code that a function became for arrays of certain shapes."""

from __future__ import annotations

import itertools
import linecache
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.program.flat_text import FlatText, Homes
from kerascope.backend.program.loop import LoopProgram
from kerascope.backend.program.memory import Memory
from kerascope.backend.program.plan import Plan
from kerascope.backend.program.source import Source
from kerascope.backend.tensor import LENDING

_numbers = itertools.count(1)


class Program:
    """Straight-line code for one function and one set of input shapes.

    Parameters
    ----------
    plan : Plan
    homes : dict
        Where the variables of the function lie; shared by its programs.
    name : str
        Of the function.

    Attributes
    ----------
    plan : Plan
    memory : Memory
    source : Source
    """

    def __init__(self, plan: Plan, homes: Homes, name: str) -> None:
        self.plan = plan
        self.name = name
        self._homes = homes
        self._moves = -1
        self._rooms: list[tuple[Variable, np.ndarray]] = []
        self._file = f"<kerascope {name} {next(_numbers)}>"
        self._run: Callable[..., list[Any]]
        self._write()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute the outputs and write the new values; the arrays have the program's shapes."""
        if not self.plan.written:
            if Variable.moves != self._moves:
                self._settle()
            return self._run(*arrays)
        # Nobody may borrow an array while it is written.
        with LENDING:
            if Variable.moves != self._moves:
                self._settle()
            return self._run(*arrays)

    @property
    def listing(self) -> str:
        """The text of the program, and below it those of the loops that it calls.

        A loop is given views of the arrays that stand in its call: those of blocks of steps, those
        of each step, and whole ones.
        """
        loops = [
            f"\n\n# the loop of {name}\n{loop.source.replace('def loop(', f'def {name}_loop(', 1)}"
            for name, loop in self.source.scope.items()
            if isinstance(loop, LoopProgram)
        ]
        return "".join([self.source.text, *loops])

    def has_begun_to_write(self, error: BaseException) -> bool:
        """Tell whether an error came when some variables had got their new values already."""
        frames = traceback.walk_tb(error.__traceback__)
        lines = [number for frame, number in frames if frame.f_code.co_filename == self._file]
        return bool(lines) and lines[0] >= self.source.first_writing_line

    def _settle(self) -> None:
        """Bring the variables home that were moved; where that cannot be, write the program anew.

        Another function that writes the same variables has them in an array of its own.
        """
        while self._moves != Variable.moves:
            self._moves = Variable.moves
            self._bring_home()

    def _bring_home(self) -> None:
        for v, room in self._rooms:
            is_written = v in self.plan.written
            if v.room is room and not (is_written and v.is_lent):
                continue
            if not (is_written and room.flags.writeable) or v.room is room:
                self._write()
                break
            v.move_to(room)

    def _write(self) -> None:
        plan = self.plan
        computed = plan.slots_in_planned_memory
        flats: list[FlatText] = []
        placed: set[int] = set()
        for group in plan.groups:
            flat = FlatText(group, self._homes, computed, self._shape_of, placed)
            placed.update(flat.places)
            flats.append(flat)
        for commit in plan.commits.values():
            if commit.variable.is_lent:
                commit.variable.move_to(np.empty_like(commit.variable.room))
        places = {slot: v.room for v, slot in plan.slot_of.items()}
        for flat in flats:
            places.update(flat.places)
        self._rooms = [(v, v.room) for v in plan.slot_of]
        kept = [*plan.outputs, *(commit.new_slot for commit in plan.commits.values())]
        kept += [slot for flat in flats for _, slot in flat.copies]
        kept += plan.scalars_of_groups
        kept += plan.conditions_at_the_end
        self.memory = Memory(plan.bound, plan.writings, kept, places)
        self.source = Source(plan, self.memory, flats, self.name)
        self._compile()

    def _shape_of(self, slot: int) -> tuple[int, ...]:
        return self.plan.bound.facts[slot].spec.shape

    def _compile(self) -> None:
        text = self.source.text
        code = compile(text, self._file, "exec")
        # As for a file on disk: a debugger shows the lines, and a traceback too.
        linecache.cache[self._file] = (len(text), None, text.splitlines(keepends=True), self._file)
        exec(code, self.source.scope)
        self._run = self.source.scope[self.source.name]

    def __del__(self) -> None:
        linecache.cache.pop(getattr(self, "_file", ""), None)
