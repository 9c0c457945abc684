"""The author's gate: every exercise, its stub, its solution and its wrong answers."""

import ast
import io
import re
import tokenize
from collections import Counter

import pytest
from thinned import thinned

from kerascope.learn.authoring import quoted_messages
from kerascope.learn.exercises import all_exercises
from kerascope.learn.running import check_file, open_places
from kerascope.learn.verdicts import LANGUAGES, Verdict
from kerascope.lessons import tutorials_folder
from kerascope.lessons.checking import facts_shown

EXERCISES = all_exercises()
SOME = thinned(EXERCISES, kind=lambda exercise: exercise.chapter)
WRONG = [
    pytest.param(*some.values, path, marks=[pytest.mark.slow] if number else some.marks)
    for some in SOME
    for number, path in enumerate(some.values[0].wrong_answers)
]
SECONDS = 60  # a loaded machine
# Chapters that follow the five documents; the later ones follow papers and manuals.
WITH_FACTS = {place.partition("-")[0] for places in facts_shown().values() for place in places}
CHINESE = re.compile("[\u4e00-\u9fff]")


def of_exercise(exercise):
    return exercise.id


def of_wrong(value):
    return value.id if hasattr(value, "id") else value.stem.partition("__")[2]


@pytest.mark.parametrize("exercise", EXERCISES, ids=of_exercise)
def test_the_stub_is_not_attempted_in_either_language(exercise, tmp_path):
    for language in LANGUAGES:
        path = tmp_path / f"{exercise.name}_{language}.py"
        path.write_text(exercise.stub_in(language), encoding="utf-8")
        assert check_file(exercise, path).verdict is Verdict.NOT_ATTEMPTED, language
        assert open_places(path.read_bytes()), f"the stub ({language}) holds no `...`"


@pytest.mark.parametrize("exercise", SOME, ids=of_exercise)
def test_the_solution_passes(exercise):
    outcome = check_file(exercise, exercise.solution, SECONDS)
    assert outcome.verdict is Verdict.PASS, (outcome.message.en, outcome.details)
    assert outcome.checks >= 2
    assert outcome.printed == ""


@pytest.mark.parametrize(("exercise", "path"), WRONG, ids=of_wrong)
def test_a_wrong_answer_fails_with_exactly_its_own_message(exercise, path):
    outcome = check_file(exercise, path, SECONDS)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.message.as_json() == quoted_messages(path)


@pytest.mark.parametrize("exercise", EXERCISES, ids=of_exercise)
def test_wrong_answers_are_told_apart(exercise):
    messages = [quoted_messages(path) for path in exercise.wrong_answers]
    assert len(messages) >= 2
    for language in LANGUAGES:
        assert len({one[language] for one in messages}) == len(messages)
    for one in messages:
        assert CHINESE.search(one["zh"])
        assert not CHINESE.search(one["en"])


@pytest.mark.parametrize("exercise", EXERCISES, ids=of_exercise)
def test_all_words_are_there_in_both_languages(exercise):
    texts = [exercise.title, exercise.task, exercise.seen, *exercise.hints]
    assert exercise.hints
    for text in texts:
        assert text.en.strip()
        is_code = text in exercise.hints and text.en == text.zh
        assert is_code or CHINESE.search(text.zh), text.zh
        assert not CHINESE.search(text.en), text.en
    assert exercise.facts or exercise.chapter not in WITH_FACTS
    assert all(re.fullmatch(r"[RC]\d\d", number) for number in exercise.facts)


@pytest.mark.parametrize("exercise", EXERCISES, ids=of_exercise)
def test_the_words_of_a_stub_stand_in_its_docstring(exercise):
    """Only the docstring is given in the student's language."""
    source = exercise.stub.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    assert not [token.string for token in tokens if token.type == tokenize.COMMENT]
    inner = list(ast.walk(ast.parse(source)))[1:]
    kinds = (ast.FunctionDef, ast.ClassDef)
    assert not [node.name for node in inner if isinstance(node, kinds) and ast.get_docstring(node)]
    programs = [ast.parse(exercise.stub_in(language)).body[1:] for language in LANGUAGES]
    assert len({"".join(map(ast.dump, program)) for program in programs}) == 1
    assert max(map(len, source.splitlines())) <= 100


def test_names_and_places_are_unique():
    assert len(EXERCISES) >= 60
    assert max(Counter(e.name for e in EXERCISES).values()) == 1
    assert max(Counter((e.chapter, e.number) for e in EXERCISES).values()) == 1


def test_no_file_of_an_exercise_is_left_over():
    """A stub without its TOML, or a wrong answer of nothing, would be tested by nobody."""
    known = set()
    for e in EXERCISES:
        known |= {e.stub, e.stub.with_suffix(".toml"), e.checker, e.solution, *e.wrong_answers}
    folders = ("exercises", "checks", "solutions", "wrong")
    found = {
        path
        for folder in folders
        for path in tutorials_folder().glob(f"*/{folder}/*")
        if path.name != "__pycache__"
    }
    assert found == known
