"""`check --json`: the verdicts as data, for teachers and for editors.

The schema, `kerascope-learn-check/1`::

    {"schema": "kerascope-learn-check/1",
     "folders": [                      one for each student
       {"folder": "class/ann",         as it was given
        "passed": 1, "failed": 1, "not_attempted": 22,
        "exercises": [                 in the order of the course
          {"id": "01/count_parameters",
           "chapter": "01-the-whole",
           "name": "count_parameters",
           "facts": ["R01", "R21"],
           "file": "class/ann/01-the-whole/count_parameters.py",
           "verdict": "FAIL",          or "PASS", or "NOT ATTEMPTED"
           "message": {"en": "expected ...", "zh": "..."},
           "checks": 3,                demands that were met
           "line": 12,                 in the student's file, or null
           "details": "Traceback ..."  or ""
          }]}]}

Numbers are added to the schema's name when a key changes its meaning or goes; keys may be added.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kerascope.learn.catalog import Exercise
from kerascope.learn.verdicts import Outcome, Verdict
from kerascope.learn.workbook import FOLDER

SCHEMA = "kerascope-learn-check/1"
Checked = list[tuple[Exercise, Path, Outcome]]


def report(folders: list[tuple[Path, Checked]]) -> dict[str, Any]:
    """Return the verdicts of some students as data.

    Examples
    --------
    >>> report([])
    {'schema': 'kerascope-learn-check/1', 'folders': []}
    """
    return {"schema": SCHEMA, "folders": [_of_folder(*folder) for folder in folders]}


def counts(checked: Checked) -> dict[Verdict, int]:
    """Return how often each verdict was given, in the order PASS, FAIL, NOT ATTEMPTED."""
    verdicts = [outcome.verdict for _, _, outcome in checked]
    return {v: verdicts.count(v) for v in (Verdict.PASS, Verdict.FAIL, Verdict.NOT_ATTEMPTED)}


def folders_of_class(folder: Path) -> list[Path]:
    """Return the workbooks of a class, by the names of the students' folders."""
    students = sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    return [workbook_in(student) for student in students]


def workbook_in(folder: Path) -> Path:
    """Return the workbook in a student's folder, or the folder if it is one itself."""
    inner = folder / FOLDER
    return inner if inner.is_dir() else folder


def _of_folder(folder: Path, checked: Checked) -> dict[str, Any]:
    number = counts(checked)
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
