"""`kerascope learn` as a student and as a teacher type it."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from waiting import LONG

from kerascope.cli import main
from kerascope.learn import commands
from kerascope.learn.exercises import all_exercises

ROOT = Path(__file__).resolve().parents[2]

EXERCISES = all_exercises()
FIRST, SECOND, THIRD = EXERCISES[:3]
OTHERS = sum(e.chapter == FIRST.chapter for e in EXERCISES) - 1
FOLDER = Path("kerascope-exercises")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def learn(capsys):
    """Type `kerascope learn ...`; return the exit code and what was written."""

    def typed(*words):
        code = main(["learn", *map(str, words), "--time-limit", "60"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed


def file_of(exercise, folder=FOLDER):
    return folder / exercise.folder.name / f"{exercise.name}.py"


def answer(exercise, folder=FOLDER):
    file_of(exercise, folder).write_bytes(exercise.solution.read_bytes())


def answer_wrongly(exercise, folder=FOLDER):
    file_of(exercise, folder).write_bytes(exercise.wrong_answers[0].read_bytes())


def test_the_first_word_typed_copies_the_exercises_and_shows_the_first(learn):
    code, out, err = learn()
    assert (code, err) == (0, "")
    assert f"{len(EXERCISES)} exercises were copied to kerascope-exercises" in out
    assert FIRST.task.en in out
    assert f"write in      {file_of(FIRST)}" in out
    assert "check it      kerascope learn check\n" in out
    assert file_of(FIRST).read_text(encoding="utf-8") == FIRST.stub.read_text(encoding="utf-8")
    assert "(the course begins with chapter 0: kerascope learn read 0)" in out
    assert "were copied" not in learn()[1]


def test_in_a_folder_without_exercises_it_is_asked_whether_one_has_begun_elsewhere(learn):
    assert "begun in another folder" in learn("check")[1]
    file_of(FIRST).unlink()
    out = learn("check")[1]
    assert "1 exercise was copied to kerascope-exercises" in out
    assert "another folder" not in out


def test_the_way_from_a_stub_to_the_next_exercise(learn):
    learn()
    code, out, _ = learn("check")
    assert code == 5
    assert "NOT ATTEMPTED  write your answer in place of `...` (line 13)" in out
    assert str(file_of(FIRST)) in out
    answer_wrongly(FIRST)
    code, out, _ = learn("check")
    assert code == 1
    assert "FAIL  expected parameters([20, 64]) to be 1,344, yours is " in out
    answer(FIRST)
    code, out, _ = learn("check")
    assert code == 0
    assert "PASS  (" in out
    assert FIRST.seen.en in out
    assert f"compare: kerascope learn solution {FIRST.name}\n" in out
    assert f"next: {SECOND.id}" in out
    assert SECOND.task.en in learn()[1]


@pytest.mark.parametrize("start", ["", "./"])
def test_a_file_that_is_not_the_workbooks_is_not_taken_for_it(learn, start):
    name = f"{FIRST.name}.py"
    learn()
    Path(name).write_bytes(FIRST.solution.read_bytes())
    code, out, err = learn("check", start + name)
    assert (code, out) == (2, "")
    assert f", got {start}{name}. Copy yours there" in err
    assert str(file_of(FIRST)) in err
    answer(FIRST)
    assert learn("check", FIRST.name)[0] == 0
    assert learn("check", file_of(FIRST))[0] == 0


def test_a_file_is_known_from_within_its_chapter(learn, monkeypatch):
    learn()
    answer(FIRST)
    monkeypatch.chdir(file_of(FIRST).parent)
    assert learn("check", f"{FIRST.name}.py")[0] == 0


def test_the_same_way_in_chinese_which_is_remembered(learn):
    assert FIRST.task.zh in learn("--lang", "zh")[1]
    answer_wrongly(FIRST)
    code, out, _ = learn("check")
    assert code == 1
    assert "未通过  parameters([20, 64]) 应为 1,344，你的是 " in out
    answer(FIRST)
    assert "通过" in learn("check")[1]
    assert SECOND.task.zh in file_of(SECOND).read_text(encoding="utf-8")
    assert SECOND.task.en in learn("--lang", "en")[1]
    assert SECOND.task.en in learn()[1]


def test_the_terminals_language_is_the_first_one(learn, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert FIRST.task.zh in learn()[1]


def test_the_list_shows_what_is_done(learn):
    learn()
    answer(FIRST)
    answer_wrongly(SECOND)
    assert learn("check", FIRST.name, SECOND.name)[0] == 1
    file_of(SECOND).write_text("pass\n")
    lines = learn("list")[1].splitlines()
    assert lines[0].split()[:2] == ["PASS", FIRST.id]
    assert lines[1].split()[:3] == [">", "FAIL*", SECOND.id]
    assert lines[2].split()[0] == THIRD.id
    assert f"1 of {len(EXERCISES)} exercises passed" in lines
    assert len(learn("list", "5")[1].splitlines()) < len(lines)


def test_hints_come_one_by_one_and_the_last_stays(learn):
    for number in (*range(1, len(FIRST.hints) + 1), len(FIRST.hints)):
        _, out, _ = learn("hint")
        assert ("shows a solution" in out) == (number == len(FIRST.hints))
        assert f"hint {number} of {len(FIRST.hints)}:\n{FIRST.hints[number - 1].en}" in out
    assert f"kerascope learn solution {FIRST.name} shows" in out


def test_reset_keeps_what_was_written(learn):
    learn()
    answer(FIRST)
    _, out, _ = learn("reset", FIRST.name)
    assert "kept in" in out
    assert (
        file_of(FIRST).with_name(f"{FIRST.name}.py.bak1").read_bytes()
        == FIRST.solution.read_bytes()
    )
    assert "kept in" not in learn("reset", FIRST.name)[1]


@pytest.mark.slow
def test_a_solution_is_shown_after_an_attempt(learn):
    learn()
    for _ in range(2):
        code, out, _ = learn("solution", THIRD.name)
        assert code == 5
        assert out.startswith("The solution is shown after an attempt of your own: ")
        assert f"check it with kerascope learn check {THIRD.name}.\n" in out
        learn("check", THIRD.name)  # still the stub, so no attempt
    assert "先自己试一试" in learn("solution", THIRD.name, "--lang", "zh")[1]
    answer_wrongly(THIRD)
    learn("check", THIRD.name, "--lang", "en")
    written = file_of(THIRD).read_text(encoding="utf-8")
    _, out, _ = learn("solution", THIRD.name)
    assert THIRD.solution.read_text(encoding="utf-8") in out
    assert out.startswith(f"# {THIRD.id}: one way to do it\n")
    compile(out, "kept.py", "exec")
    assert file_of(THIRD).read_text(encoding="utf-8") == written


@pytest.mark.slow
def test_a_file_is_run_as_it_is(capfd):
    main(["learn"])
    file_of(FIRST).write_text("print('numbers:', 1 + 1)\nraise SystemExit(7)\n")
    assert main(["learn", "run"]) == 7
    assert "numbers: 2\n" in capfd.readouterr().out
    file_of(FIRST).write_text("while True: pass\n")
    assert main(["learn", "run", "--time-limit", "1"]) == 124
    assert "nothing was printed" not in capfd.readouterr().out
    file_of(FIRST).write_text("import math\nn = 2\n\n\ndef double(x):\n    return n * x\n")
    assert main(["learn", "run"]) == 0
    assert "nothing was printed: the file defines double" in capfd.readouterr().out


def test_an_exercise_by_its_name_tells_the_commands_for_it(learn):
    _, out, _ = learn(THIRD.name)
    assert THIRD.task.en in out
    assert f"kerascope learn check {THIRD.name}\n" in out
    _, out, _ = learn("--folder", "my work")
    assert "kerascope learn check --folder 'my work'\n" in out


def test_all_exercises_passed_is_said(learn, monkeypatch):
    learn()
    book = json.loads((FOLDER / ".kerascope-learn.json").read_text())
    done = {"verdict": "PASS", "hints": 0, "written": ""}
    book["exercises"] = {e.id: done for e in EXERCISES}
    (FOLDER / ".kerascope-learn.json").write_text(json.dumps(book))
    for words in ((), ("check",), ("watch",), ("hint",)):
        code, out, _ = learn(*words)
        assert code == 0
        assert "You have passed every exercise" in out


def test_watching_checks_again_when_the_file_changes(learn, monkeypatch):
    learn()

    def changes(path):
        answer_wrongly(FIRST)
        yield
        answer(FIRST)
        yield
        raise KeyboardInterrupt

    def then_interrupted(path):
        if FIRST.name in str(path):
            return changes(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "changes_of", then_interrupted)
    code, out, err = learn("watch")
    assert (code, err) == (0, "")
    places = [out.index(word) for word in ("watching", "FAIL  ", "PASS  ", f"\n{SECOND.id} ")]
    assert places == sorted(places)


def test_a_change_of_a_file_is_seen(tmp_path):
    path = tmp_path / "file.py"
    path.write_text("one")
    changes = commands.changes_of(path, wait=0.0)
    first_look = commands._state(path)
    path.write_text("three")
    assert commands._state(path) != first_look
    path.unlink()
    assert commands._state(path) is None
    changes.close()


def test_a_chapter_is_read_through_the_lessons(learn, monkeypatch):
    reading = ModuleType("kerascope.lessons.reading")
    reading.chapter_pages = lambda word, language, width, color, at, tutorials, asks: [
        [f"{word} {language} {width} {color}"]
    ]
    monkeypatch.setitem(sys.modules, "kerascope.lessons.reading", reading)
    assert learn("read", "7") == (0, "7 en 80 False\n", "")
    assert learn("read", "7", "--lang", "zh")[1] == "7 zh 80 False\n"
    assert learn("read")[1] == f"{FIRST.chapter} en 80 False\n"


@pytest.mark.parametrize(("language", "word"), [("en", "debugger"), ("zh", "调试器")])
def test_the_first_chapter_can_be_read_in_a_pipe(learn, language, word):
    code, out, err = learn("read", "0", "--lang", language)
    assert (code, err) == (0, "")
    assert word in out


def test_a_chapter_that_is_not_there_is_said(learn):
    code, out, err = learn("read", "99")
    assert (code, out) == (2, "")
    assert "No chapter '99'" in err


def test_an_installation_without_chapters_says_so(learn, monkeypatch):
    monkeypatch.setitem(sys.modules, "kerascope.lessons.reading", None)
    code, _, err = learn("read", "7")
    assert code == 1
    assert "chapter 7 cannot be read: the chapters are not in this installation" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chekc"], "unknown action or exercise 'chekc'. Did you mean 'check'?"),
        (["count_parameter"], "Did you mean 'count_parameters'?"),
        (
            ["check", "cont_parameters"],
            "unknown exercise 'cont_parameters'. Did you mean 'count_para",
        ),
        (["check", "99"], "unknown exercise '99'"),
        (["--lang", "fr"], "invalid choice: 'fr'"),
        (["--lnag", "zh"], "Did you mean '--lang'?"),
        (["hint", "5"], "expected one exercise, got call_twice, two_graphs"),
        (["check", "--all", "5"], "expected --all or '5', got both."),
        (["list", "--json"], "--json belongs to `kerascope learn check`"),
        (["list", "--jobs", "2"], "--jobs belongs to `kerascope learn check`"),
        (["check", "--csv", "nowhere/marks.csv"], "the folder 'nowhere' does not exist"),
        (["check", "--jobs", "0"], "--jobs"),
        (["check", "--class", "nowhere"], "there is no folder 'nowhere'"),
        (["check", "--class", "."], "'.' contains no student's folder"),
        (["check", "--json", "--folder", "nowhere"], "there is no folder 'nowhere'"),
        (["check", "--class", ".", "--folder", "a"], "expected --class or --folder, got both."),
        (["read", "1", "2"], "expected one chapter"),
        (["check", "--time-limit", "-1"], "expected seconds above 0"),
        (["check", "--time-limit", "soon"], "expected seconds above 0, at most 3600, got soon"),
    ],
)
def test_wrong_usage_is_explained_and_writes_nothing(words, message, capsys):
    assert main(["learn", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert list(Path().iterdir()) == []


def test_help_shows_the_words_that_a_student_needs(capsys):
    assert main(["learn", "--help"]) == 0
    out = capsys.readouterr().out
    for word in (
        "list",
        "read",
        "run",
        "check",
        "hint",
        "reset",
        "solution",
        "watch",
        "exit codes",
    ):
        assert word in out


# --- teachers -------------------------------------------------------------------------------------


@pytest.fixture
def a_class(learn):
    """Ann's folder is a workbook, Bob's holds one; Ann solved the first, Bob failed."""
    ann, bob = Path("class/ann"), Path("class/bob/kerascope-exercises")
    for folder in (ann, bob):
        learn("--folder", folder)
    answer(FIRST, ann)
    answer_wrongly(FIRST, bob)
    return ann, bob


def state_of(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_work_of_a_class_is_one_json_object(learn, a_class):
    before = state_of(Path("class"))
    code, out, err = learn("check", "--json", "--class", "class", FIRST.chapter)
    assert (code, err) == (1, "")
    data = json.loads(out)
    assert data["schema"] == "kerascope-learn-check/1"
    ann, bob = data["folders"]
    assert [one["folder"] for one in (ann, bob)] == [path.as_posix() for path in a_class]
    assert (ann["passed"], ann["failed"]) == (1, 0)
    assert (bob["passed"], bob["failed"]) == (0, 1)
    first = bob["exercises"][0]
    assert first.keys() == {
        "id", "chapter", "name", "facts", "file", "verdict", "message", "checks", "line", "details",
    }  # fmt: skip
    assert (first["id"], first["verdict"]) == (FIRST.id, "FAIL")
    assert first["message"]["en"].startswith("expected ")
    assert "你的是" in first["message"]["zh"]
    assert first["file"] == file_of(FIRST, a_class[1]).as_posix()
    assert [one["verdict"] for one in ann["exercises"]] == ["PASS", *["NOT ATTEMPTED"] * OTHERS]
    assert state_of(Path("class")) == before


@pytest.mark.slow
def test_the_work_of_a_class_is_a_table(learn, a_class):
    code, out, err = learn("check", "1", "2", "--class", "class")
    assert (code, err) == (1, "")
    others = sum(e.chapter in ("01", "02") for e in EXERCISES) - 1
    assert [line.split() for line in out.splitlines()[:4]] == [
        ["student", "01", "02", "PASS", "FAIL", "NOT", "ATTEMPTED"],
        ["(exercises)", str(OTHERS + 1), str(others - OTHERS)],
        ["ann", "1", ".", "1", "0", str(others)],
        ["bob", ".", ".", "0", "1", str(others)],
    ]
    code, out, _ = learn("check", FIRST.name, "--folder", "class/ann", "--folder", "class/bob")
    assert [line.split() for line in out.splitlines()] == [
        ["student", FIRST.name, "PASS", "FAIL", "NOT", "ATTEMPTED"],
        ["ann", "PASS", "1", "0", "0"],
        ["bob", "FAIL", "0", "1", "0"],
    ]
    out = learn("check", FIRST.name, "--class", "class", "--lang", "zh")[1]
    assert [line.split() for line in out.splitlines()] == [
        ["学生", FIRST.name, "通过", "未通过", "未作答"],
        ["ann", "通过", "1", "0", "0"],
        ["bob", "未通过", "0", "1", "0"],
    ]
    code, out, _ = learn("check", FIRST.name, "--folder", "class/ann", "--json")
    assert (code, json.loads(out)["folders"][0]["passed"]) == (0, 1)


def test_all_exercises_are_checked_at_once(learn, a_class):
    code, out, _ = learn("check", "--all", "--folder", "class/ann")
    assert code == 5
    assert out.splitlines()[-1] == f"1 PASS, 0 FAIL, {len(EXERCISES) - 1} NOT ATTEMPTED"
    code, out, _ = learn("check", "--all", "--json", "--folder", "class/ann")
    assert code == 5
    assert [one["id"] for one in json.loads(out)["folders"][0]["exercises"]] == [
        e.id for e in EXERCISES
    ]


def test_a_narrow_terminal_breaks_no_word(tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    text = b""
    with (
        open(ours, "rb", buffering=0) as terminal,
        open(theirs, "wb", buffering=0) as side,
        subprocess.Popen(
            [sys.executable, "-m", "kerascope", "learn"],
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "50", "TERM": "xterm", "PYTHONPATH": str(ROOT)},
        ) as process,
    ):
        side.close()
        try:
            with suppress(OSError):  # the other side was closed
                while piece := terminal.read(4096):
                    text += piece
            assert process.wait(LONG) == 0
        finally:
            process.kill()
    lines = text.decode().splitlines()
    assert max(map(len, lines)) <= 50
    assert "Its argument holds the size of the input, then the units" in " ".join(
        " ".join(lines).split()
    )


def test_who_begins_with_a_later_chapter_goes_on_there(learn):
    fourth = EXERCISES[3]
    learn()
    answer(fourth)
    out = learn("check", fourth.name)[1]
    fifth = EXERCISES[4]
    assert f"next: {fifth.id}  {fifth.title.en}  (kerascope learn {fifth.name})" in out
    assert f"check it      kerascope learn check {fifth.name}\n" in learn(fifth.name)[1]


@pytest.mark.slow
def test_every_line_that_is_printed_for_another_folder_can_be_typed(learn):
    folder = Path("ann lee")
    given = " --folder 'ann lee'"
    out = learn("--folder", folder)[1]
    assert f"kerascope learn read 0{given})" in out
    assert f"kerascope learn check{given}\n" in out
    assert f"kerascope learn hint{given}\n" in out
    assert f"the chapter   kerascope learn read 1{given}\n" in out
    assert out.rstrip().endswith(f"what the documents say: kerascope learn read A{given}")
    for _ in FIRST.hints:
        out = learn("hint", "--folder", folder)[1]
    assert f"kerascope learn solution {FIRST.name}{given} shows a solution" in out
    answer(FIRST, folder)
    out = learn("check", "--folder", folder)[1]
    assert f"compare: kerascope learn solution {FIRST.name}{given}\n" in out
    assert f"{SECOND.id}  {SECOND.title.en}  (kerascope learn{given})" in out
    assert f"kerascope learn 1{given}\n" in learn("read", "1", "--folder", folder)[1]
    assert f"`kerascope learn list{given}` shows" in learn("foo", "--folder", folder)[2]
    assert f"`kerascope learn list{given}` shows" in learn("check", "foo", "--folder", folder)[2]
    assert not FOLDER.exists()


@pytest.mark.slow
def test_without_a_folder_no_line_names_one(learn):
    learn()
    for _ in FIRST.hints:
        out = learn("hint")[1]
    answer(FIRST)
    out += learn("check")[1] + learn("read", "1")[1] + learn("foo")[2]
    assert "--folder" not in out
