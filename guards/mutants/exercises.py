"""Tests the checkers of the course against every mutant of every solution.

    python -m guards.mutants --exercises                    all of the course, and the table
    python -m guards.mutants --exercises 08 what_is_missing some chapters or exercises

Every mutant of every solution (`steps.py`) must FAIL, or be listed in `equivalents.toml` with the
reason why it is also a right answer. An entry of that list that is not a mutant any more, or that
fails, is an error.
"""

from __future__ import annotations

import argparse
import random
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from guards.mutants.choosing import Edit
from guards.mutants.judging import Answer, Judged, judged
from guards.mutants.steps import steps_of
from kerascope.learn.exercises import Exercise, all_exercises, find_exercises

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")
LEAST = 95.0  # percent killed, of those that are not equivalent
MOST_EQUIVALENT = 10.0  # percent
FEW = 20  # a chapter with fewer mutants has no percentage to speak of


class Step(NamedTuple):
    """One mutant of the solution of an exercise, with the exercise."""

    exercise: Exercise
    edit: Edit

    @property
    def source(self) -> str:
        """The mutant as a complete answer to the exercise."""
        return self.edit.mutated(self.exercise.solution.read_text(encoding="utf-8"))

    @property
    def change(self) -> str:
        """The old and the new line, by which `equivalents.toml` identifies a mutant."""
        source = self.exercise.solution.read_text(encoding="utf-8")
        lines = [text.splitlines()[self.edit.line - 1].strip() for text in (source, self.source)]
        return " => ".join(lines)

    def told(self) -> str:
        """Return the lines of the report about this mutant."""
        before, _, after = self.change.partition(" => ")
        where = f"{self.exercise.id}:{self.edit.line}  {self.edit.what}"
        return f"{where}\n    - {before}\n    + {after}"


class Row(NamedTuple):
    """The results of the mutants of one chapter, or of all chapters."""

    name: str
    mutants: int
    killed: int
    equivalent: int

    @property
    def left(self) -> int:
        """The number of mutants that pass the checker but are not listed as equivalent."""
        return self.mutants - self.killed - self.equivalent

    @property
    def rate(self) -> float:
        """The percentage of mutants that fail as they should, of those not listed as equivalent.

        Examples
        --------
        >>> Row("05", 42, 38, 2).rate
        95.0
        """
        wrong = self.mutants - self.equivalent
        return 100 * self.killed / wrong if wrong else 100.0

    @property
    def share(self) -> float:
        """The percentage of mutants that are listed as equivalent."""
        return 100 * self.equivalent / self.mutants if self.mutants else 0.0

    @property
    def is_enough(self) -> bool:
        """Whether enough mutants of the chapter fail, and few enough are listed as equivalent."""
        if self.mutants < FEW:
            return True
        return self.rate >= LEAST and self.share <= MOST_EQUIVALENT


def steps(exercises: Iterable[Exercise]) -> list[Step]:
    """Return all mutants of the solutions of these exercises."""
    return [
        Step(exercise, edit)
        for exercise in exercises
        for edit in steps_of(exercise.solution.read_text(encoding="utf-8"))
    ]


def drawn(number: int, seed: int) -> list[Step]:
    """Return random mutants of the course, spread over all exercises."""
    lots = random.Random(seed)
    by_exercise = {e.id: steps([e]) for e in all_exercises()}
    found: list[Step] = []
    while len(found) < number:
        for own in by_exercise.values():
            if own:
                found.append(own.pop(lots.randrange(len(own))))
    return found[:number]


def equivalents() -> dict[tuple[str, str], str]:
    """Return the reasons in `equivalents.toml` why mutants are right, by exercise and change."""
    data = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))
    return {
        (exercise, change): entry["reason"]
        for exercise, entries in data.items()
        for entry in entries
        for change in entry["changes"]
    }


def verdicts(asked: Sequence[Step], jobs: int = 1) -> list[tuple[Step, Judged]]:
    """Return each mutant with the verdict of the checker of its exercise."""
    answers = [Answer(step.exercise, step.source) for step in asked]
    return list(zip(asked, judged(answers, jobs), strict=True))


def table(found: Sequence[tuple[Step, Judged]]) -> list[Row]:
    """Return the results of mutants as rows: one for each chapter, and one for all chapters."""
    known = equivalents()
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for step, verdict in found:
        for name in (step.exercise.chapter, "all"):
            row = counts[name]
            row[0] += 1
            row[1] += not verdict.passes
            row[2] += verdict.passes and (step.exercise.id, step.change) in known
    return [Row(name, *row) for name, row in sorted(counts.items())]


def survivors(found: Sequence[tuple[Step, Judged]]) -> list[Step]:
    """Return the mutants that pass the checker and are not listed as equivalent solutions."""
    known = equivalents()
    return [
        step
        for step, verdict in found
        if verdict.passes and (step.exercise.id, step.change) not in known
    ]


def stale_reasons(found: Sequence[tuple[Step, Judged]]) -> list[str]:
    """Return a line for each mutant listed as right that no longer exists or fails its check."""
    asked = {step.exercise.id for step, _ in found}
    passing = {(step.exercise.id, step.change) for step, verdict in found if verdict.passes}
    return [
        f"equivalents.toml: {name}: no mutant that passes: {change}"
        for name, change in equivalents()
        if name in asked and (name, change) not in passing
    ]


def printed(rows: Iterable[Row]) -> str:
    """Return the table of results as text for the terminal, with a line for each chapter."""
    lines = ["chapter  mutants  killed  equivalent  left   killed %"]
    lines += [
        f"{row.name:<7}{row.mutants:>9}{row.killed:>8}{row.equivalent:>12}{row.left:>6}"
        f"{row.rate:>11.1f}{'' if row.is_enough else '  too few'}"
        for row in rows
    ]
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Run the command; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m guards.mutants --exercises")
    parser.add_argument("names", nargs="*", help="chapters or exercises (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--said", action="store_true", help="say the message of each mutant")
    wanted = parser.parse_args(words)
    course = all_exercises()
    chosen = [e for name in wanted.names for e in find_exercises(course, name)[0]] or course
    found = verdicts(steps(chosen), wanted.jobs)
    for step, verdict in found if wanted.said else []:
        print(f"{step.told()}\n    {'PASS' if verdict.passes else verdict.said}")
    left, stale = survivors(found), stale_reasons(found)
    print("\n".join(["", *(step.told() for step in left), *stale]))
    rows = table(found)
    print(printed(rows))
    return 0 if all(row.is_enough for row in rows) and not stale else 1
