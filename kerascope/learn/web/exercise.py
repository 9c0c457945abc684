"""The exercises of a chapter as its page shows them: the student's file, hints, verdicts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.files import write_whole
from kerascope.learn import pages
from kerascope.learn.exercises import Exercise, Workbook, hash_of_file
from kerascope.learn.running import SECONDS, check_file
from kerascope.learn.verdicts import LANGUAGES, Text, Verdict
from kerascope.lessons.render_html import inline_html, prose_html

CHANGED = Text(
    en="The file was changed outside of this page, so nothing was overwritten.",
    zh="文件已在本页之外被改动，因此没有覆盖它。",
)
OK, FORBIDDEN, CONFLICT = 200, 403, 409
_writing = threading.Lock()  # nothing may be written between a look at the version and our own text


def state_of(workbook: Workbook, exercise: Exercise) -> dict[str, Any]:
    """Return the task, file, verdict and hints of an exercise as JSON data for its page."""
    path, progress = workbook.path_of(exercise), workbook.progress(exercise)
    below_title = Text(*(words.partition("\n")[2] for words in exercise.task))
    return {
        "name": exercise.name,
        "title": _html(exercise.title, inline_html),
        "task": _html(below_title, prose_html),
        "file": str(path),
        "code": path.read_text(encoding="utf-8", errors="replace") if path.is_file() else "",
        "version": hash_of_file(path),
        "verdict": progress.verdict,
        "hints": [_html(hint, inline_html) for hint in exercise.hints[: progress.hints]],
        "hints_in_all": len(exercise.hints),
    }


def _html(text: Text, render: Callable[[str], str]) -> dict[str, str]:
    return {language: render(text.within(language)) for language in LANGUAGES}


def _check_encoding(path: Path) -> None:
    """Raise if saving the text that the page shows would damage the file."""
    try:
        _ = path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError:
        raise ArgumentError(
            f"'{path}' is not in UTF-8, so this page does not change it. "
            "Save it as UTF-8 in another editor."
        ) from None


def answer(
    workbook: Workbook, exercise: Exercise, action: str, data: dict[str, Any], seconds: float | None
) -> tuple[int, dict[str, Any]]:
    """Do what the student has chosen in the page, and return a status and the exercise.

    Parameters
    ----------
    workbook : Workbook
    exercise : Exercise
    action : str
        "save", "check", "hint", "solution" or "reset"; "" only returns the exercise.
    data : dict
        For "save" and "check", the text of the file in "code", and in "version" the version that
        the page has shown. If the file has another one, it is not overwritten.
    seconds : float or None
        The time limit for the student's file.

    Returns
    -------
    status : int
        200, 409 if the file has changed, or 403 if the student may not see the solution yet.
    data : dict

    Raises
    ------
    ArgumentError
        The file to save is not in UTF-8.
    """
    path = workbook.path_of(exercise)
    more: dict[str, Any] = {}
    if action in ("save", "check"):
        with _writing:
            _check_encoding(path)
            if data["version"] != hash_of_file(path):
                message = {"message": CHANGED.as_json()}
                return CONFLICT, state_of(workbook, exercise) | message
            write_whole(path, data["code"])
    if action == "check":
        outcome = check_file(exercise, path, seconds or SECONDS)
        # The terminal may have changed the progress during the check, so it is read again.
        workbook = Workbook(workbook.folder, workbook.exercises, workbook.language)
        workbook.remember(exercise, outcome)
        seen = pages.seen(exercise) if outcome.verdict is Verdict.PASS else outcome.message
        more["outcome"] = outcome.as_json() | {"printed": outcome.printed, "said": seen.as_json()}
    elif action == "hint":
        workbook.next_hint(exercise)
    elif action == "reset":
        kept = workbook.reset(exercise, workbook.language or "en")
        more["kept"] = str(kept or "")
    elif action == "solution":
        if not workbook.may_see_solution(exercise):
            message = {"message": pages.no_solution_yet(exercise, path).as_json()}
            return FORBIDDEN, state_of(workbook, exercise) | message
        more["solution"] = exercise.solution.read_text(encoding="utf-8")
    return OK, state_of(workbook, exercise) | more
