"""Plausible wrong answers to every exercise: each has to fail, with a message about what it does.

The answers are in `wrong_answers.toml`: another axis, off by one, sharing forgotten, only the first
input or output, a value that was kept, the wrong side of a boundary. Mutants of the solutions
(tests/guards/test_exercise_mutants.py) differ by one step; these differ by one misunderstanding. A
checker that tries one example lets some of them pass, so each checker draws its cases.
"""

import ast
import random
import tomllib
from pathlib import Path

import pytest

from guards.mutants.judging import CAN_FORK, Answer, Judge
from kerascope.learn.exercises import all_exercises

EXERCISES = {exercise.id: exercise for exercise in all_exercises()}
ENTRIES = tomllib.loads(Path(__file__).with_name("wrong_answers.toml").read_text(encoding="utf-8"))
AT_LEAST = 3
# Mistakes in the entry itself: nothing is shown of the checker by an answer that cannot run.
BROKEN = ("NameError", "ImportError", "is not Python", "the process ended", "no solution holds")


def source_of(name, entry):
    """Return the whole answer."""
    source = entry.get("source") or EXERCISES[name].solution.read_text(encoding="utf-8")
    for old, new in entry.get("changes", []):
        if old not in source:
            return f"raise ImportError({f'no solution holds {old}'!r})"
        source = source.replace(old, new)
    return source


@pytest.fixture(scope="module")
def judge():
    made = Judge()
    yield made
    made.close()


def one_each():
    """Return all answers; one for every other exercise is quick, as in `test_right_answers`."""
    quick = list(EXERCISES)[1::2]
    for name, entries in ENTRIES.items():
        drawn = random.Random(name).choice(entries) if name in quick else None
        for entry in entries:
            marks = [] if entry is drawn else pytest.mark.slow
            yield pytest.param(name, entry, id=f"{name}-{entry['how']}", marks=marks)


@pytest.mark.skipif(not CAN_FORK, reason="a new Python for each of so many takes long")
@pytest.mark.parametrize(("name", "entry"), list(one_each()))
def test_a_wrong_answer_fails_with_a_message_about_what_it_does(judge, name, entry):
    found = judge.ask(Answer(EXERCISES[name], source_of(name, entry)))
    assert not found.passes, entry["how"]
    assert not any(word in found.said for word in BROKEN), found.said
    assert entry.get("says", "") in found.said


def test_every_exercise_has_some_each_of_them_another_program():
    assert ENTRIES.keys() == EXERCISES.keys()
    for name, entries in ENTRIES.items():
        programs = {ast.dump(ast.parse(source_of(name, entry))) for entry in entries}
        assert len(programs) == len(entries) >= AT_LEAST, name
