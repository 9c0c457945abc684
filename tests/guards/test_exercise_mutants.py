"""Mutants of the solutions of the course: which there are, and that the checkers notice them."""

import pytest

from guards.mutants import exercises
from guards.mutants.exercises import LEAST, MOST_EQUIVALENT, drawn, equivalents, steps, verdicts
from guards.mutants.judging import CAN_FORK, Answer, Judge, Judged, afresh
from guards.mutants.steps import steps_of
from kerascope.learn.exercises import all_exercises

COURSE = {exercise.id: exercise for exercise in all_exercises()}
needs_fork = pytest.mark.skipif(not CAN_FORK, reason="a new Python for each of so many takes long")


def mutants_of(source):
    return {edit.mutated(source) for edit in steps_of(source)}


@pytest.mark.parametrize(
    ("source", "mutant"),
    [
        ("a = 3\n", "a = 2\n"),
        ("a = 3\n", "a = 4\n"),
        ("a = 'hit'\n", "a = ''\n"),
        ("a = [1, b]\n", "a = [b, 1]\n"),
        ("a = [1, b]\n", "a = [1]\n"),
        ("a = f(b, 1)\n", "a = f(1, b)\n"),
        ("a = min(b)\n", "a = max(b)\n"),
        ("a = b[0]\n", "a = b[1]\n"),
        ("a = b < c\n", "a = b <= c\n"),
        ("a = b < c\n", "a = b > c\n"),
        ("a = b - c\n", "a = b + c\n"),
        ("a = dict(b)\n", "a = b\n"),
        ("a = b.copy()\n", "a = b\n"),
        ("a = b and c\n", "a = b\n"),
        ("a = b is c\n", "a = b == c\n"),
        ("a = [b for b in c if b]\n", "a = [b for b in c if True]\n"),
        ("a = [b for b in c]\n", "a = [b for b in list(c)[1:]]\n"),
        ("def f(a=1): return a\n", "def f(a=2): return a\n"),
        ("def f():\n    return 1\n", "def f():\n    pass\n"),
        ("def f():\n    a = 1\n    a = 2\n", "def f():\n    a = 1\n    pass\n"),
        ("for a in b: f(a)\n", "for a in list(b)[:-1]: f(a)\n"),
        ("class A:\n    def f(self): g(self)\n", "class A:\n    def f(self): pass\n"),
    ],
)
def test_a_step_of_this_kind_is_made(source, mutant):
    assert mutant in mutants_of(source)


def test_what_means_the_same_by_its_form_is_no_step():
    source = "def f(a, b):\n    if a is None:\n        return None\n    return max(a, b)\n"
    mutants = mutants_of(source)
    assert not any("a == None" in one or "max(b, a)" in one for one in mutants)
    assert source.replace("return None", "pass") not in mutants
    assert source not in mutants


def test_the_same_source_has_the_same_steps_each_one_once():
    source = COURSE["08/count_visits"].solution.read_text(encoding="utf-8")
    found = [edit.mutated(source) for edit in steps_of(source)]
    assert found == [edit.mutated(source) for edit in steps_of(source)]
    assert len(found) == len(set(found)) > 40


@pytest.mark.slow
@needs_fork
def test_mutants_that_are_drawn_fail_or_are_known_to_be_right():
    found = verdicts(drawn(len(COURSE), seed=20))
    assert len({step.exercise.id for step, _ in found}) == len(COURSE)
    assert [step.told() for step in exercises.survivors(found)] == []
    assert sum(not verdict.passes for _, verdict in found) > 55


@pytest.mark.slow
def test_each_reason_is_about_a_mutant():
    known = equivalents()
    listed = {key_of(step) for step in steps(COURSE[name] for name in dict.fromkeys(
        name for name, _ in known))}  # fmt: skip
    assert [key for key in known if key not in listed] == []
    assert all(reason.endswith(".") for reason in known.values())


def key_of(step):
    return step.exercise.id, step.change


def test_a_reason_without_its_mutant_is_a_complaint(monkeypatch):
    exercise = COURSE["06/is_among"]
    (step, *_) = steps([exercise])
    monkeypatch.setattr(exercises, "equivalents", lambda: {(exercise.id, "a => b"): "why"})
    told = exercises.stale_reasons([(step, Judged(False, "no"))])
    assert told == ["equivalents.toml: 06/is_among: no mutant that passes: a => b"]


def test_the_table_counts_by_chapter_and_knows_when_it_is_too_few(monkeypatch):
    exercise = COURSE["08/count_visits"]
    some = steps([exercise])[:40]
    said = [Judged(number < 5, "") for number in range(40)]
    monkeypatch.setattr(exercises, "equivalents", lambda: {key_of(some[0]): "why"})
    chapter, whole = exercises.table(list(zip(some, said, strict=True)))
    assert chapter == ("08", 40, 35, 1)
    assert whole[1:] == chapter[1:]
    assert (chapter.left, chapter.is_enough) == (4, False)
    assert "too few" in exercises.printed([chapter])
    assert chapter._replace(killed=39).is_enough
    assert not chapter._replace(killed=35, equivalent=5).is_enough  # too many are excused


@needs_fork
def test_an_answer_is_judged_as_a_students_file_is():
    exercise = COURSE["01/count_parameters"]
    solution = exercise.solution.read_text(encoding="utf-8")
    judge = Judge()
    for source in (solution, solution.replace("+ units", "")):
        assert judge.ask(Answer(exercise, source)) == afresh(Answer(exercise, source))
    judge.close()


@needs_fork
@pytest.mark.parametrize(
    "source",
    [
        "def parameters(sizes):\n    while True:\n        pass\n",
        "import os\nos._exit(0)\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    ],
)
def test_an_answer_that_never_ends_or_dies_has_a_verdict_and_the_next_one_too(source):
    exercise = COURSE["01/count_parameters"]
    judge = Judge(seconds=1)
    found = judge.ask(Answer(exercise, source))
    assert (found.passes, found.said.startswith("the process ended")) == (False, True)
    assert judge.ask(Answer(exercise, exercise.solution.read_text(encoding="utf-8"))).passes
    judge.close()


@needs_fork
@pytest.mark.slow
def test_every_mutant_of_every_solution_fails_or_is_known_to_be_right():
    found = verdicts(steps(COURSE.values()), jobs=2)
    rows = exercises.table(found)
    assert len(rows) == 1 + len({exercise.chapter for exercise in COURSE.values()})
    for row in rows:
        assert row.rate >= LEAST, row
        assert row.share <= MOST_EQUIVALENT, row
    assert [step.told() for step in exercises.survivors(found)] == []
    assert exercises.stale_reasons(found) == []  # a reason is about a mutant that passes
