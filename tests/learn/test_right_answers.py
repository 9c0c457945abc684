"""Right answers in other styles than the solution's: a checker looks at what they do, not how."""

import ast
import random
from collections import Counter
from pathlib import Path

import pytest

from guards.mutants.judging import CAN_FORK, Answer, Judge
from kerascope.learn.exercises import all_exercises

EXERCISES = {exercise.name: exercise for exercise in all_exercises()}
FOLDER = Path(__file__).parent / "right"
ANSWERS = sorted(FOLDER.glob("*.py"))
AT_LEAST = 3


def exercise_of(path):
    return EXERCISES[path.stem.partition("__")[0]]


def program(path):
    return ast.dump(ast.parse(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def judge():
    """One process that judges all of them: a hundredth of a second each."""
    made = Judge()
    yield made
    made.close()


def one_each():
    """Return all answers; one for every other exercise is quick, as in `test_wrong_answers`."""
    drawn = {
        random.Random(name).choice([path for path in ANSWERS if exercise_of(path).name == name])
        for name in list(EXERCISES)[::2]
    }
    return [
        pytest.param(path, id=path.stem, marks=[] if path in drawn else pytest.mark.slow)
        for path in ANSWERS
    ]


@pytest.mark.skipif(not CAN_FORK, reason="a new Python for each of so many takes long")
@pytest.mark.parametrize("path", one_each())
def test_a_right_answer_in_another_style_passes(judge, path):
    exercise = exercise_of(path)
    found = judge.ask(Answer(exercise, path.read_text(encoding="utf-8")))
    assert found.passes, found.said


def test_every_exercise_has_some_each_of_them_another_program():
    number = Counter(exercise_of(path).name for path in ANSWERS)
    assert {name for name in EXERCISES if number[name] < AT_LEAST} == set()
    for exercise in EXERCISES.values():
        own = [path for path in ANSWERS if exercise_of(path) is exercise]
        assert len({program(path) for path in (*own, exercise.solution)}) == len(own) + 1
