"""The verdicts on a whole class: as a table, as CSV for spreadsheets, and as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from kerascope.learn.exercises import FOLDER, Exercise
from kerascope.learn.verdicts import Outcome, Text, Verdict, counts

Checked = list[tuple[Exercise, Path, Outcome]]
Results = list[tuple[Path, Checked]]  # for each student the workbook and the verdicts


# --- the students ---------------------------------------------------------------------------------


def folders_of_class(folder: Path) -> list[Path]:
    """Return the workbook folder of each student in a class, sorted by name."""
    students = sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    return [workbook_in(student) for student in students]


def workbook_in(folder: Path) -> Path:
    """Return the workbook inside a student's folder; without one, return the folder itself."""
    inner = folder / FOLDER
    return inner if inner.is_dir() else folder


def students_of(results: Results) -> list[str]:
    """Return the students' names: the names of their folders, or the paths if names are equal.

    Examples
    --------
    >>> students_of([(Path("class/ann/kerascope-exercises"), []), (Path("class/bob"), [])])
    ['ann', 'bob']
    """
    owners = [folder.parent if folder.name == FOLDER else folder for folder, _ in results]
    names = [owner.resolve().name for owner in owners]
    return names if len(set(names)) == len(names) else [owner.as_posix() for owner in owners]


# --- the table and the CSV file -------------------------------------------------------------------


STUDENT = Text("student", "学生")
EXERCISES = Text("(exercises)", "（练习数）")
PER_CHAPTER = Text("Below each chapter: exercises passed.", "各章下方为已通过的练习数。")


def class_table(results: Results, language: str) -> str:
    """Return a table with a row for each student and the counts of the verdicts at its end.

    The columns are the exercises if they are of one chapter. Otherwise they are the chapters, with
    the number of exercises passed.
    """
    exercises = [exercise for exercise, _, _ in results[0][1]]
    chapters = list(dict.fromkeys(exercise.chapter for exercise in exercises))
    is_one, columns = len(chapters) == 1, [e.name for e in exercises]
    totals = [verdict.text.within(language) for verdict in Verdict]
    rows = [[STUDENT.within(language), *(columns if is_one else chapters), *totals]]
    if not is_one:
        numbers = _per_chapter(exercises, chapters)
        rows.append([EXERCISES.within(language), *numbers, "", "", ""])
    for student, (_, checked) in zip(students_of(results), results, strict=True):
        outcomes = [outcome for _, _, outcome in checked]
        words = [outcome.verdict.text.within(language) for outcome in outcomes]
        passed = [e for e, _, outcome in checked if outcome.verdict is Verdict.PASS]
        cells = words if is_one else _per_chapter(passed, chapters)
        rows.append([student, *cells, *map(str, counts(outcomes).values())])
    return _aligned(rows) + ("" if is_one else f"\n{PER_CHAPTER.within(language)}")


def _per_chapter(exercises: Sequence[Exercise], chapters: Sequence[str]) -> list[str]:
    """Return how many of the exercises belong to each chapter; "." means 0."""
    numbers = [sum(exercise.chapter == one for exercise in exercises) for one in chapters]
    return [str(number or ".") for number in numbers]


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines: the first column to the left, the others to the right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        line = first + " " * (widths[0] - cell_len(first))
        for word, width in zip(others, widths[1:], strict=True):
            line += " " * (width + 1 - cell_len(word)) + word
        lines.append(line.rstrip())
    return "\n".join(lines)


def class_csv(results: Results, language: str) -> str:
    """Return a CSV table with a row for each student and exercise."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(("student", "exercise", "verdict", "message", "line"))
    for student, (_, checked) in zip(students_of(results), results, strict=True):
        for exercise, _, outcome in checked:
            message = outcome.message.within(language)
            line = "" if outcome.line is None else outcome.line
            table.writerow((student, exercise.id, outcome.verdict.value, message, line))
    return text.getvalue()


# --- `check --json`: the verdicts as data, for teachers and for editors ---------------------------
# The schema, `kerascope-learn-check/1`::
#
#     {"schema": "kerascope-learn-check/1",
#      "folders": [                      one for each student
#        {"folder": "class/ann",         as given on the command line
#         "passed": 1, "failed": 1, "not_attempted": 22,
#         "exercises": [                 in the order of the course
#           {"id": "01/count_parameters",
#            "chapter": "01-the-whole",
#            "name": "count_parameters",
#            "facts": ["R01", "R21"],
#            "file": "class/ann/01-the-whole/count_parameters.py",
#            "verdict": "FAIL",          or "PASS", or "NOT ATTEMPTED"
#            "message": {"en": "expected ...", "zh": "..."},
#            "checks": 3,                requirements that were met
#            "line": 12,                 in the student's file, or null
#            "details": "Traceback ..."  or ""
#           }]}]}
#
# The number in the schema's name rises when a key changes its meaning or is removed. New keys may
# be added under the same number.


SCHEMA = "kerascope-learn-check/1"


def class_json(results: Results) -> dict[str, Any]:
    """Return the verdicts of several students as JSON data of the schema in `SCHEMA`.

    Examples
    --------
    >>> class_json([])
    {'schema': 'kerascope-learn-check/1', 'folders': []}
    """
    return {"schema": SCHEMA, "folders": [_of_folder(*one) for one in results]}


def _of_folder(folder: Path, checked: Checked) -> dict[str, Any]:
    number = counts(outcome for _, _, outcome in checked)
    return {
        "folder": folder.as_posix(),
        "passed": number[Verdict.PASS],
        "failed": number[Verdict.FAIL],
        "not_attempted": number[Verdict.NOT_ATTEMPTED],
        "exercises": [_of_exercise(*one) for one in checked],
    }


def _of_exercise(exercise: Exercise, path: Path, outcome: Outcome) -> dict[str, Any]:
    return {
        "id": exercise.id,
        "chapter": exercise.folder.name,
        "name": exercise.name,
        "facts": list(exercise.facts),
        "file": path.as_posix(),
        **outcome.as_json(),
    }
