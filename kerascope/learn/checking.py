"""A checker: functions marked `@check`, run in the order in which they stand in its file.

The first demand that is not met ends it: a student reads one message at a time. A checker that made
no demand at all has checked nothing, and so lets nobody pass.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerascope.learn.student import Student
from kerascope.learn.texts import Text
from kerascope.learn.verdicts import Outcome, Verdict

Check = Callable[[Student], None]
_MARK = "_is_a_check_of_an_exercise"

NOTHING_CHECKED = Text(
    en="the checker made no demand, so nothing is shown; please tell your teacher",
    zh="检查程序没有检查任何内容，不能算通过；请告诉老师",
)


def check(function: Check) -> Check:
    """Mark a function of a checker: it is called with the student's file.

    Examples
    --------
    >>> @check
    ... def its_answer(student):
    ...     student.same("answer", student.get("answer"), 42)
    """
    setattr(function, _MARK, True)
    return function


def checks_of(path: Path) -> list[Check]:
    """Return the checks in a checker's file."""
    names: dict[str, Any] = runpy.run_path(str(path), run_name=f"checks_of_{path.stem}")
    return [value for value in names.values() if getattr(value, _MARK, False)]


def judge(checks: list[Check], student: Student) -> Outcome:
    """Put a student's file to the checks; return the verdict.

    Whatever the file raises on the way is a FAIL that names its line.

    Examples
    --------
    >>> from types import ModuleType
    >>> judge([], Student(ModuleType("empty"), "empty.py")).verdict
    <Verdict.FAIL: 'FAIL'>
    """
    try:
        for one in checks:
            one(student)
    except Exception as error:
        return student.failure(error).outcome(student.met)
    if student.met == 0:
        return Outcome(Verdict.FAIL, NOTHING_CHECKED)
    return Outcome(Verdict.PASS, checks=student.met)
