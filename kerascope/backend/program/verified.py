"""Verified programs: every call also interprets the steps, and both must agree bit for bit.

`K.function(..., verify=True)` uses verified programs; KERASCOPE_VERIFY=1 does so for all functions.
If the results differ, the error names the first step whose result differs, and every variable keeps
its value. All NaN count as equal. The first call with arrays of some shapes is only interpreted.
Every other call takes more than twice the usual time, and ops with side effects, such as
`print_tensor`, run twice. Program and steps use the same compiled loops, so each loop is also
checked by itself at every call: see `loops/run.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.program.bound import Line
from kerascope.backend.program.checks import are_same, checked_loops, differing, own_failure
from kerascope.backend.program.custom_ops import is_builtin, is_pure
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.emit import compiled, function_of
from kerascope.backend.program.program import Program
from kerascope.backend.schedule import Schedule, is_needed, perform_on
from kerascope.backend.variables import ReadMode, Variable
from kerascope.errors import VerificationError

REPORT = "__report"  # names in programs, made from tensor names, never begin like this


class VerifiedProgram(Program):
    """A program that is compared with its interpreted steps at each call."""

    _draft: Draft

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """Compute the outputs and write the new values, if program and steps give equal results.

        Raises
        ------
        VerificationError
            The results of program and steps differ. No variable was changed.
        """
        run = super().__call__
        with LOCKS.steps:  # no other thread writes between the two
            since, agrees, self.state.has_written = LOCKS.writes, False, False
            before = {v: v.get_value() for v in self._variables}
            with checked_loops():
                expected = stepped(self._schedule, arrays)
            try:
                outputs = run(arrays)
                difference = self._difference(outputs, expected, before)
                # An op or a signal handler may also have written: then do not compare.
                agrees = difference is None or LOCKS.writes != since + self.writes
            except Exception as error:
                if self.state.has_written:
                    _restore(before)
                failure = own_failure(lambda: run(arrays), error)
                raise VerificationError(
                    f"{self.name}: the program fails, but its steps do not "
                    f"({type(failure).__name__}: {failure}). No variable was changed. Please "
                    f"report this, with `function.source` and the arrays."
                ) from failure
            finally:
                if not agrees and self.state.has_written:
                    _restore(before)
            if not agrees and difference is not None:
                raise self._error(difference, arrays, expected)
            return outputs

    def _write(self) -> Draft:
        self._draft = super()._write()
        return self._draft

    def _difference(
        self, outputs: Sequence[Any], expected: Sequence[Any], before: dict[Variable, np.ndarray]
    ) -> tuple[str, Any, Any] | None:
        """Return the name of the first result that differs, with both values; None if all agree."""
        slots = self._schedule.results
        for number, output in enumerate(outputs):
            if not are_same(output, expected[slots[number]]):
                return f"output {number}", output, expected[slots[number]]
        followers = self._schedule.guards_of_followers
        for v, slot in zip(self._variables, slots[len(outputs) :], strict=True):
            is_written = v not in followers or is_needed(followers[v], expected)
            wanted = expected[slot] if is_written else before[v]
            if not are_same(v.room, wanted):
                return f"the new value of '{v.name}'", v.get_value(), wanted
        return None

    def _error(
        self, result: tuple[str, Any, Any], arrays: Sequence[np.ndarray], expected: Sequence[Any]
    ) -> VerificationError:
        """Return the error that names the first step whose result differs."""
        found = FirstDifference(self._draft, expected)
        found.look(arrays)
        if found.line is None:
            where, got, wanted = result
            step = None
            note = "Each single step agrees. "
        else:
            step = found.line.step.apply
            where, got, wanted = f"'{step.name}' = {step!r}", found.got, found.wanted
            note = "" if is_builtin(step.op) or is_pure(step.op) else _IMPURE_OP
        return VerificationError(
            f"{self.name}: the program and its steps differ in {where}: {in_words(got, wanted)}. "
            f"{note}No variable was changed. Please report this, with `function.source` and the "
            f"arrays. K.function(..., rewrites=()) may avoid the error.",
            step=step,
            got=np.array(got),
            expected=np.array(wanted),
        )


_IMPURE_OP = (
    "It is a custom op that does not declare is_pure = True. If it gives other numbers each "
    "time, its function cannot be verified. "
)


def stepped(schedule: Schedule, arrays: Sequence[np.ndarray]) -> list[Any]:
    """Perform all steps that a call needs, and return the values of all slots.

    No variable is written; its slot contains the value before the call.
    """
    values = schedule.start(arrays, ReadMode.COPIED)
    for step in schedule.steps:
        if not step.guards or is_needed(step.guards, values):
            perform_on(step, values)
    return values


def _restore(before: dict[Variable, np.ndarray]) -> None:
    set_values([(v, array) for v, array in before.items() if not are_same(v.room, array)])


def in_words(got: Any, wanted: Any) -> str:
    """Return a message with the first place where two values differ, and what each contains there.

    Examples
    --------
    >>> in_words(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    'at (1,) the program has 2.0, the steps have 3.0 (1 of 2 numbers differ)'
    """
    x, y = np.asarray(got), np.asarray(wanted)
    if x.dtype != y.dtype or x.shape != y.shape:
        return f"the program has {x.dtype} {x.shape}, the steps have {y.dtype} {y.shape}"
    if not x.ndim:
        return f"the program has {x}, the steps have {y}"
    places = np.flatnonzero(differing(x, y))
    first = tuple(int(i) for i in np.unravel_index(places[0], x.shape))
    return (
        f"at {first} the program has {x[first]}, the steps have {y[first]} "
        f"({len(places)} of {x.size} numbers differ)"
    )


class FirstDifference:
    """Runs the lines of a program again, to find the first one whose result differs.

    Parameters
    ----------
    draft : Draft
        The draft of the program that ran, with the same arrays.
    expected : list
        The value of each slot after the interpreted steps.

    Attributes
    ----------
    line : Line or None
        The first line whose result differs, or None.
    got, wanted : array
        The result of that line, and the result of the interpreted step.
    """

    def __init__(self, draft: Draft, expected: Sequence[Any]) -> None:
        self.draft = draft
        self.expected = expected
        self.line: Line | None = None
        self.got: Any = None
        self.wanted: Any = None

    def look(self, arrays: Sequence[np.ndarray]) -> None:
        """Run the program's lines on these inputs; record the first difference from the steps.

        Raises
        ------
        VerificationError
            A line failed before a difference was found.
        """
        try:
            self._observed()(*arrays)
        except Exception as error:
            if self.line is None:
                raise VerificationError(
                    f"{self.draft.name}: the program and its steps differ, and its lines cannot be "
                    f"checked one by one ({error}). No variable was changed."
                ) from error

    def _observed(self) -> Callable[..., None]:
        """Return the program, with a comparison after each statement that computes a line.

        It does not write new values into variables.
        """
        source = self.draft.source
        function = function_of(source.text)
        body: list[ast.stmt] = []
        for statement in function.body:
            positions = source.positions_of(statement)
            if positions:
                body += [statement, *map(self._look_at, positions)]
        function.body = body or [ast.Pass()]
        return compiled(function, "verified", {**source.scope, REPORT: self._report})

    def _look_at(self, position: int) -> ast.stmt:
        """Return a statement that passes the results of the line at `position` to `_report`."""
        line = self.draft.plan.bound.lines[position]
        arrays, names = self.draft.memory.arrays, self.draft.source.names
        values = ", ".join(
            "None" if slot in arrays or slot not in names else names[slot] for slot in line.outputs
        )
        return ast.parse(f"{REPORT}({position}, ({values},))").body[0]

    def _report(self, position: int, values: Sequence[Any]) -> None:
        line = self.draft.plan.bound.lines[position]
        for slot, value in zip(line.outputs, values, strict=True):
            if self.line is not None or slot >= len(self.expected):
                return  # found already, or a slot without a step
            wanted = self.expected[slot]
            got = self.draft.memory.arrays.get(slot, value)
            if wanted is not None and got is not None and not are_same(got, wanted):
                self.line, self.got, self.wanted = line, np.array(got), np.array(wanted)
