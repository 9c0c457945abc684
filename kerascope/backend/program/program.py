"""A program: the NumPy code of a function for inputs of certain shapes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import LOCKS
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.program.alarms import Alarms
from kerascope.backend.program.bound import Trial
from kerascope.backend.program.commit import State, VariableWrites, recorded_calls
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.emit import hide, show
from kerascope.backend.program.flat import Homes
from kerascope.backend.program.loops import LoopProgram
from kerascope.backend.program.plan import Plan
from kerascope.backend.schedule import Schedule
from kerascope.backend.variables import Variable

_numbers = itertools.count(1)


class Code(NamedTuple):
    """The compiled code of a program.

    Attributes
    ----------
    run : callable
        Computes the outputs from the inputs, and writes the new values.
    rooms : list of (Variable, array, bool)
        For each variable, its array and whether it is written.
    text : str
        The text of the program.
    n_bytes : int
        The size of the planned memory.
    """

    run: Callable[..., list[Any]]
    rooms: list[tuple[Variable, np.ndarray, bool]]
    text: str
    n_bytes: int


class Program:
    """Compiled straight-line code for one function and one set of input shapes.

    Parameters
    ----------
    schedule : Schedule
    variables : list of Variable
        The variables that a call writes, in the order of the schedule's results.
    trial : Trial
    homes : dict
        The flat arrays of the function's variables, shared by its programs.
    name : str
        The name of the function.
    rewrites : list of str, optional
        The names of the rules to use; by default all.

    Attributes
    ----------
    trial : Trial
        The inputs for which the program is made.
    writes : bool
        Whether the program writes any variable.
    state : State
        What the program shares with the callable that writes its new values.
    """

    writes: bool

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
        self._file = f"<kerascope {name} {next(_numbers)}>"
        self.state = State()
        self._code: Code
        self._guarded: tuple[Code, Alarms, Code] | None = None
        self._write()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute the outputs and write the new values; the arrays must have the program's shapes.

        If the program writes variables, the caller must hold `LOCKS.steps`.
        """
        state = self.state
        state.has_written = False
        if not self.writes:
            if state.moves != LOCKS.moves:
                self._settle()
            return self._code.run(*arrays)
        LOCKS.calls += 1  # before the check of the moves: from here on, borrowers get a copy
        try:
            if state.moves != LOCKS.moves:
                self._settle()
            return self._code.run(*arrays)
        finally:
            LOCKS.calls -= 1

    @property
    def listing(self) -> str:
        """The text of the program, and below it the texts of the loops that it calls.

        The arguments of a loop are the whole arrays in its call, or views of these arrays for each
        block of steps or for each step.
        """
        scope: dict[str, Any] = self._code.run.__globals__  # type: ignore[attr-defined]
        loops = [
            f"\n\n# the loop of {name}\n{loop.source.replace('def loop(', f'def {name}_loop(', 1)}"
            for name, loop in scope.items()
            if isinstance(loop, LoopProgram)
        ]
        return "".join([self.text, *loops])

    @property
    def text(self) -> str:
        """The text of the program."""
        return self._code.text

    @property
    def n_bytes(self) -> int:
        """The size of the planned memory."""
        return self._code.n_bytes

    def draft(self) -> Draft:
        """Compile the program again, and return the `Draft` with its plan and text."""
        with LOCKS.steps:
            return with_float_settings(self._write)  # constants are computed, as in a call

    def begin_guarded(self, alarms: Alarms) -> tuple[Code, Code]:
        """Switch to guarded code, which also checks for infinite and NaN numbers.

        Return the program's own code and the guarded code. The caller must hold `LOCKS.steps`.
        """
        if self.state.moves != LOCKS.moves:
            self._settle()
        own = self._code
        if self._guarded is None or self._guarded[:2] != (own, alarms):
            guarded = own._replace(run=alarms.guarded(own.run, own.text))
            self._guarded = own, alarms, guarded
        self._code = self._guarded[2]
        return own, self._code

    def end_guarded(self, own: Code, guarded: Code) -> bool:
        """Switch from guarded code, which checks for infinity and NaN, back to the program's own.

        Do nothing and return False if the program was recompiled meanwhile.
        """
        if self._code is not guarded:
            return False  # it was compiled again
        self._code = own
        return True

    def _settle(self) -> None:
        """Move variables back to the program's arrays; if that is impossible, recompile it.

        Another function that writes the same variables has its own flat arrays for them, to which
        it may have moved the variables. This is repeated until no variable has moved meanwhile.
        """
        with LOCKS.steps:
            while self.state.moves != (moves := LOCKS.moves):
                self._bring_home()
                self.state.moves = moves

    def _bring_home(self) -> None:
        for v, room, is_written in self._code.rooms:
            if v.room is room and not (is_written and v.is_lent):
                continue
            if not (is_written and room.flags.writeable) or v.room is room:
                self._write()
                break
            v.move_to(room)

    def _write(self) -> Draft:
        arrays, facts = self.trial.arrays, self.trial.facts
        plan = Plan(self._schedule, self._variables, arrays, facts, self._rewrites)
        draft = Draft(plan, self._homes, self.name)
        self.writes = bool(plan.written)  # never changes
        rooms = [(v, v.room, v in plan.written) for v in plan.slot_of]
        self._code = self._compiled(draft, rooms)  # one assignment, so never half of it
        return draft

    def _compiled(self, draft: Draft, rooms: list[tuple[Variable, np.ndarray, bool]]) -> Code:
        source, scope = draft.source, draft.source.scope
        code = compile(source.text, self._file, "exec")
        # Debuggers and tracebacks show the lines as for a file on disk.
        show(self._file, source.text, _Lines(source.text))
        exec(code, scope)
        if draft.plan.written:
            written = [(v, room) for v, room, is_written in rooms if is_written]
            calls = recorded_calls(scope["new_values"], scope)
            scope["write"] = VariableWrites(calls, written, self.state)
        return Code(scope[source.name], rooms, source.text, draft.n_bytes)

    def __del__(self) -> None:
        hide(getattr(self, "_file", ""))


class _Lines(Sequence[str]):
    """The lines of a program text. It is split into lines only when they are read."""

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
