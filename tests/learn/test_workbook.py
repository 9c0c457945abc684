import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kerascope
from kerascope.errors import UnavailableError
from kerascope.learn.exercises import PROGRESS, Workbook, all_exercises, default_folder
from kerascope.learn.running import check_file
from kerascope.learn.verdicts import LANGUAGES, Outcome, Verdict

EXERCISES = all_exercises()
FIRST, SECOND = EXERCISES[:2]


def test_every_exercise_is_copied_once_and_never_written_over(tmp_path):
    workbook = Workbook(tmp_path / "mine", EXERCISES)
    assert len(workbook.prepare("en")) == len(EXERCISES)
    own = workbook.path_of(FIRST)
    own.write_text("mine\n")
    workbook.path_of(SECOND).unlink()
    assert workbook.prepare("en") == [workbook.path_of(SECOND)]
    assert workbook.prepare("zh") == []
    assert own.read_text() == "mine\n"


@pytest.mark.process
@pytest.mark.parametrize(
    "is_old", [False, True], ids=["new folder", "folder of an earlier edition"]
)
def test_python_alone_runs_an_exercise_that_imports_keras(tmp_path, is_old):
    """As an editor runs it; a file of that name which the student has written stays."""
    workbook = Workbook(tmp_path, EXERCISES)
    workbook.prepare("en")
    exercise = next(e for e in EXERCISES if e.name == "repair_the_model")
    path = workbook.path_of(exercise)
    if is_old:
        path.with_name("keras.py").unlink()
        workbook.prepare("en")
    words = (
        "\n\nimport keras\nfrom keras import backend as K\nprint(keras.__name__, build().loss)\n"
    )
    path.write_text(exercise.solution.read_text(encoding="utf-8") + words, encoding="utf-8")
    root = Path(kerascope.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    ran = subprocess.run(
        [sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (ran.stdout, ran.returncode) == ("keras binary_crossentropy\n", 0), ran.stderr
    assert check_file(exercise, path).verdict is Verdict.PASS
    path.with_name("keras.py").write_text("mine\n")
    workbook.prepare("en")
    assert path.with_name("keras.py").read_text() == "mine\n"


def test_files_as_they_were_given_follow_the_language(tmp_path):
    workbook = Workbook(tmp_path, EXERCISES)
    for language in (*LANGUAGES, "en"):
        workbook.prepare(language)
        text = workbook.path_of(FIRST).read_text(encoding="utf-8")
        assert text == FIRST.stub_in(language)
        assert FIRST.title.within(language) in text


def test_progress_is_kept_by_the_exercises_id(tmp_path):
    workbook = Workbook(tmp_path, EXERCISES)
    workbook.prepare("zh")
    assert workbook.next_exercise() is FIRST
    workbook.path_of(FIRST).write_bytes(FIRST.solution.read_bytes())
    workbook.remember(FIRST, check_file(FIRST, workbook.path_of(FIRST), 60))
    again = Workbook(tmp_path, EXERCISES)
    assert again.language == "zh"
    assert again.is_passed(FIRST)
    assert again.next_exercise() is SECOND
    assert not again.is_changed(FIRST)
    again.path_of(FIRST).write_text("other\n")
    assert again.is_changed(FIRST)
    data = json.loads((tmp_path / PROGRESS).read_text(encoding="utf-8"))
    assert data["schema"] == "kerascope-learn-progress/1"
    assert list(data["exercises"]) == [FIRST.id]


def test_reset_keeps_each_work_under_a_name_of_its_own(tmp_path):
    workbook = Workbook(tmp_path, EXERCISES)
    workbook.prepare("en")
    path = workbook.path_of(FIRST)
    assert workbook.reset(FIRST, "en") is None  # nothing of the student's was there
    for number, words in ((1, "one\n"), (2, "two\n")):
        path.write_text(words)
        workbook.remember(FIRST, Outcome(Verdict.PASS))
        kept = workbook.reset(FIRST, "en")
        assert kept == path.with_name(f"{path.name}.bak{number}")
        assert kept.read_text() == words
        assert path.read_text() == FIRST.stub_in("en")
        assert not workbook.is_passed(FIRST)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"language": 1}', '{"exercises": {"a": 1}}'])
def test_damaged_progress_is_kept_aside_and_said(tmp_path, text):
    (tmp_path / PROGRESS).write_text(text)
    workbook = Workbook(tmp_path, EXERCISES)
    assert "could not be read" in workbook.notice
    assert workbook.next_exercise() is FIRST
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS]  # a teacher only looks
    workbook.prepare("en")
    assert (tmp_path / f"{PROGRESS}.damaged").read_text() == text
    assert json.loads((tmp_path / PROGRESS).read_text())["language"] == "en"
    assert Workbook(tmp_path, EXERCISES).notice == ""


def test_a_folder_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match=r"cannot write .*--folder DIR"):
        Workbook(tmp_path / "file", EXERCISES).prepare("en")


def test_the_workbook_is_found_from_inside(tmp_path):
    assert default_folder(tmp_path).as_posix() == "kerascope-exercises"
    Workbook(tmp_path, EXERCISES).prepare("en")
    assert default_folder(tmp_path).as_posix() == "."
    assert default_folder(tmp_path / "05-node").as_posix() == ".."
