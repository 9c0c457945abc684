"""Checks of the exercises themselves, for authors: stub, solution and wrong answers.

`kerascope lessons check --exercises` prints the complaints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kerascope.learn.exercises import Exercise
from kerascope.learn.running import open_places
from kerascope.learn.servers import check_files
from kerascope.learn.verdicts import LANGUAGES, Outcome, Verdict

SECONDS = 60.0  # more than a student has, because an author's machine may be busy


def quoted_messages(path: Path) -> dict[str, str]:
    """Return the messages that the docstring of a wrong answer quotes, by language.

    They are in lines that begin with `en: ` or `zh: `.
    """
    try:
        docstring = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    except (SyntaxError, ValueError):
        return {}
    return dict(re.findall(rf"^({'|'.join(LANGUAGES)}): (.+)$", docstring, flags=re.MULTILINE))


def exercise_complaints(exercises: Sequence[Exercise], jobs: int) -> Iterator[list[str]]:
    """Yield the list of complaints about each exercise; it is empty if everything is right.

    The stub must contain `...`, the solution must pass, and each wrong answer must fail with
    exactly the message that it quotes.
    """
    files = [(e, path) for e in exercises for path in (e.solution, *e.wrong_answers)]
    outcomes = check_files(files, SECONDS, jobs)
    for exercise in exercises:
        complaints = []
        if not open_places(exercise.stub.read_bytes()):
            complaints.append(
                f"{exercise.stub}: expected `...` where the student writes, got none."
            )
        complaints += _of_solution(exercise, next(outcomes))
        for path in exercise.wrong_answers:
            complaints += _of_wrong_answer(exercise, path, next(outcomes))
        yield complaints


def _of_solution(exercise: Exercise, outcome: Outcome) -> list[str]:
    if outcome.verdict is Verdict.PASS:
        return []
    verdict, message = outcome.verdict.value, outcome.message.within(exercise.languages[0])
    return [f"{exercise.solution}: expected the solution to PASS, got {verdict}:\n    {message}"]


def _of_wrong_answer(exercise: Exercise, path: Path, outcome: Outcome) -> list[str]:
    given = outcome.message.as_json()
    if outcome.verdict is not Verdict.FAIL:
        return [f"{path}: expected this wrong answer to FAIL, got {outcome.verdict.value}."]
    quoted = quoted_messages(path)
    if not quoted:
        lines = "\n".join(f"    {name}: {given[name]}" for name in exercise.languages)
        return [
            f"{path}: expected a docstring that quotes the message, in one of these lines:\n{lines}"
        ]
    differing = [name for name in quoted if quoted[name] != given[name]]
    if not differing:
        return []
    lines = "\n".join(f"    - {one}: {quoted[one]}\n    + {one}: {given[one]}" for one in differing)
    return [f"{path}: the message differs (- quoted, + given now):\n{lines}"]
