"""A program: the NumPy code that a function became for arrays of certain shapes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import BOUND, LOCKS
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.graph import Variable
from kerascope.backend.program.alarms import Alarms
from kerascope.backend.program.bound import Trial
from kerascope.backend.program.commit import Writing, noted
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.emit import hide, show
from kerascope.backend.program.flat import Homes
from kerascope.backend.program.foreign import is_own, is_pure
from kerascope.backend.program.loop import LoopProgram
from kerascope.backend.program.plan import Plan
from kerascope.backend.schedule import Schedule

_numbers = itertools.count(1)


class Code(NamedTuple):
    """What a program became when it was written last.

    Attributes
    ----------
    run : callable
        Computes the outputs from the inputs, and writes.
    rooms : list of (Variable, array, bool)
        Of each variable where it lies, and whether it is written.
    text : str
    n_bytes : int
    mark : object
        It is in `BOUND` as long as it is known that the variables lie in the rooms.
    """

    run: Callable[..., list[Any]]
    rooms: list[tuple[Variable, np.ndarray, bool]]
    text: str
    n_bytes: int
    mark: object


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
    writes : bool
        Whether it writes any variable.
    has_written : bool
        Whether they may have new values by the last call, also if that was left by an error.
    """

    writes: bool
    has_written = False

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
        self._call = object()
        self._needed = _needed(schedule, variables)
        self._code: Code
        self._guarded: tuple[Code, Alarms, Code] | None = None
        self._write()

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute the outputs and write the new values; the arrays have the program's shapes.

        Of a program that writes the caller holds `LOCKS.steps`.

        Raises
        ------
        Disturbed
            The handler of a signal wrote what the call needs; the call has written nothing.
        """
        if not self.writes:
            if self._code.mark not in BOUND:
                self._settle()
            return self._code.run(*arrays)
        try:
            LOCKS.undisturbed[self._call] = self._needed
            if self._code.mark not in BOUND:
                self._settle()
            return self._code.run(*arrays)
        finally:
            self.has_written = LOCKS.undisturbed.pop(self._call, None) is None

    @property
    def listing(self) -> str:
        """The text of the program, and below it those of the loops that it calls.

        A loop is given views of the arrays that stand in its call: those of blocks of steps, those
        of each step, and whole ones.
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
        """How much memory it has planned."""
        return self._code.n_bytes

    def begin(self) -> None:
        """Note that a call begins, of whoever makes the steps of the program one by one."""
        if self.writes:
            LOCKS.undisturbed[self._call] = self._needed

    def end(self) -> None:
        """Note that such a call is over."""
        LOCKS.undisturbed.pop(self._call, None)

    def draft(self) -> Draft:
        """Write the program once more, and return all that is known while it is written."""
        with LOCKS.steps:
            return with_float_settings(self._write)  # constants are computed, as in a call

    def begin_guarded(self, alarms: Alarms) -> tuple[Code, Code]:
        """Run another code that looks for numbers that are not finite; return both, the own first.

        The caller holds `LOCKS.steps`.
        """
        if self._code.mark not in BOUND:
            self._settle()
        own = self._code
        if self._guarded is None or self._guarded[:2] != (own, alarms):
            guarded = own._replace(run=alarms.guarded(own.run, own.text))
            self._guarded = own, alarms, guarded
        self._code = self._guarded[2]
        return own, self._code

    def end_guarded(self, own: Code, guarded: Code) -> bool:
        """Run the own code again; return whether the other one has run up to here."""
        if self._code is not guarded:
            return False  # it was written once more
        self._code = own
        return True

    def _settle(self) -> None:
        """Bring the variables home that were moved; where that cannot be, write the program anew.

        Another function that writes the same variables has them in an array of its own. Only when
        all are at home, and nothing has moved meanwhile, is that noted.
        """
        with LOCKS.steps:
            while (mark := self._code.mark) not in BOUND:
                BOUND[mark] = None
                try:
                    self._bring_home()
                except BaseException:
                    BOUND.pop(mark, None)
                    raise

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
        self.writes = bool(plan.written)  # the same each time
        rooms = [(v, v.room, v in plan.written) for v in plan.slot_of]
        self._code = self._compiled(draft, rooms)  # all of it at once, or nothing
        return draft

    def _compiled(self, draft: Draft, rooms: list[tuple[Variable, np.ndarray, bool]]) -> Code:
        source, scope = draft.source, draft.source.scope
        code = compile(source.text, self._file, "exec")
        # As for a file on disk: a debugger shows the lines, and a traceback too.
        show(self._file, source.text, _Lines(source.text))
        exec(code, scope)
        mark = object()
        if draft.plan.written:
            written = [(v, room) for v, room, is_written in rooms if is_written]
            calls = noted(scope["new_values"], scope)
            scope["write"] = Writing(calls, written, mark, self._call)
        return Code(scope[source.name], rooms, source.text, draft.n_bytes, mark)

    def __del__(self) -> None:
        if hasattr(self, "_code"):
            BOUND.pop(self._code.mark, None)
        hide(getattr(self, "_file", ""))


def _needed(schedule: Schedule, variables: Sequence[Variable]) -> frozenset[int]:
    """Return the ids of all variables that a call reads or writes.

    None of a schedule with an op that may write them itself: to begin such a call anew would do
    twice what the op does.
    """
    ops = [step.apply.op for step in schedule.steps]
    if not all(is_own(op) or is_pure(op) for op in ops):
        return frozenset()
    return frozenset(map(id, [*variables, *(v for _, v in schedule.variables)]))


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
