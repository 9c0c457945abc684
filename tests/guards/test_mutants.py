"""The guard of mutants: which there are, which tests reach them, what becomes of them."""

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from guards.mutants import command, reaching, running
from guards.mutants.choosing import Edit, Mutant, chosen, edits_of, is_mutant
from guards.mutants.running import Known, Outcome, Place, batches

ROOT = Path(__file__).resolve().parents[2]


def mutants_of(body: str) -> set[str]:
    """What the last line of a function's body may become."""
    source = "def function(a, b, c, items):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    return {
        edit.mutated(source).splitlines()[edit.line - 1].strip()
        for edit in edits_of(source)
        if edit.line == len(source.splitlines()) and is_mutant(edit, source)
    }


# --- which mutants there are ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "mutant"),
    [
        ("return a < b", "return a <= b"),
        ("return a <= b < c", "return a <= b <= c"),
        ("return a == b", "return a != b"),
        ("return a is not b", "return a is b"),
        ("return a not in items", "return a in items"),
        ("return a + b", "return a - b"),
        ("return a * b", "return a / b"),
        ("return (a) // (b)", "return (a) / (b)"),
        ("a += b", "a -= b"),
        ("return a and b", "return a or b"),
        ("return a or b or c", "return a or b and c"),
        ("return not a", "return a"),
        ("return -a", "return a"),
        ("return 0", "return 1"),
        ("return a * 0.5", "return a * 1.5"),
        ("return a(True)", "return a(False)"),
        ('return items["key"]', "return items['key_']"),
        ("return a", "return None"),
        ("if a: b()", "if not (a): b()"),
        ("return a if b else c", "return a if not (b) else c"),
        ("return [x for x in items if a]", "return [x for x in items if not (a)]"),
        ("return a(b, c)", "return a(c, b)"),
        ("return a(b, key=c)", "return a(b)"),
        ("return a(key=b, other=c)", "return a(other=c)"),
        ("items.append(a)", "pass"),
        ("a.b = c", "pass"),
        ("raise a", "pass"),
        ("return items[a:b]", "return items[(a) + 1:b]"),
        ("return items[:b]", "return items[:(b) + 1]"),
        ("return 'ü' + a(b, c)", "return 'ü' + a(c, b)"),
    ],
)
def test_a_line_becomes_its_mutant(line, mutant):
    assert mutant in mutants_of(line)


@pytest.mark.parametrize(
    "line",
    [
        '"""Return the sum of a + b, or None."""',
        "assert a < b",
        "import math",
        "a: dict[0, 1]",
        "x = y = a",
        "return",
        "...",
        "return cast('key', )",
    ],
)
def test_what_does_not_run_or_fails_anywhere_is_left_alone(line):
    assert mutants_of(line) <= {"return None"}


def test_of_a_raise_only_the_whole_goes_and_not_its_words():
    assert mutants_of('raise ValueError("key" + a, 1 + 1)') == {"pass"}


def test_formatted_text_warnings_and_strict_stay():
    assert mutants_of('a.b = f"{a + 1} is {b < c}"') == {"pass"}
    assert mutants_of("a.b.warn(a + 1)") == {"pass"}
    assert mutants_of("return zip(a, b, strict=True)") == {
        "return None",
        "return zip(b, a, strict=True)",
    }


def test_only_the_bodies_of_functions_are_changed():
    source = (
        "import typing\nLIMIT = 1 + 2\n__all__ = ['key']\n"
        "if typing.TYPE_CHECKING:\n    def hidden(): return 1\n"
        "class Layer:\n    size: int = 1\n"
        "    def __repr__(self): return 'key' + 'word'\n"
        "    def call(self, x=0):\n"
        "        return x + 1\n"
    )
    assert {edit.line for edit in edits_of(source)} == {10}


def test_most_edits_of_a_real_file_are_mutants():
    source = (ROOT / "kerascope" / "stage.py").read_text(encoding="utf-8")
    edits = edits_of(source)
    assert len(edits) > 50
    assert sum(is_mutant(edit, source) for edit in edits) > 0.95 * len(edits)


def test_the_same_seed_draws_the_same_mutants_and_a_larger_number_only_adds():
    drawn = chosen(ROOT, ["kerascope/engine/node.py"], 12, seed=1)
    assert len({mutant.edit.line for mutant in drawn}) == 12
    assert {mutant.path for mutant in drawn} == {"kerascope/engine/node.py"}
    assert chosen(ROOT, ["kerascope/engine/node.py"], 5, seed=1) == drawn[:5]
    assert chosen(ROOT, ["kerascope/engine/node.py"], 12, seed=2) != drawn
    assert all(mutant.before != mutant.after for mutant in drawn)


# --- which tests reach them -----------------------------------------------------------------------


def test_probes_note_who_comes_and_change_nothing_else(monkeypatch):
    source = "def sign(x):\n    if x < 0:\n        return -1\n    elif x > 0:\n        return 1\n"
    came = []
    probe = types.ModuleType(reaching.NAME)
    probe.reached = came.append
    monkeypatch.setitem(sys.modules, reaching.NAME, probe)
    scope = {}
    tree = reaching.with_probes(source, {3: [0], 4: [1, 2], 5: [3]})
    exec(compile(tree, "sign", "exec"), scope)
    assert scope["sign"](-5) == -1
    assert came == [0]
    assert scope["sign"](5) == 1
    assert came == [0, 1, 2, 3]
    lines = {line for _, _, line in scope["sign"].__code__.co_lines() if line}
    assert lines <= set(range(1, 6))


def test_notes_of_other_processes_count_for_the_test_that_started_them(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("0\ta.py::x[a b] (call)\n0\tgone.py::y (call)\n", encoding="utf-8")
    assert reaching.read(notes, ["a.py::x[a b]", "a.py::z"]) == {0: {"a.py::x[a b]"}}
    assert reaching.read(tmp_path / "none.txt", ["a.py::x"]) == {}


# --- running --------------------------------------------------------------------------------------


def mutant_of(path: str, line: int = 1) -> Mutant:
    return Mutant(path, Edit(line, 0, 1, "", "constant", line), "before", "after")


def test_likely_and_quick_tests_come_first_and_large_files_last(tmp_path):
    (tmp_path / "test_other.py").write_text("import numpy\n")
    (tmp_path / "test_node.py").write_text("import numpy\n")
    (tmp_path / "test_keras.py").write_text("import keras\n")
    seconds = {
        "test_other.py::quick": 0.1,
        "test_node.py::fits": 0.5,
        "test_other.py::long": 20.0,
        "test_other.py::longest": 60.0,
        "test_keras.py::quick": 0.1,
    }
    assert batches(mutant_of("kerascope/node.py"), set(seconds), seconds, tmp_path) == [
        ["test_node.py::fits", "test_other.py::quick"],
        ["test_other.py::long"],
        ["test_other.py::longest", "test_keras.py::quick"],
    ]
    assert batches(mutant_of("kerascope/node.py"), set(), seconds, tmp_path) == []


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (0, Outcome(False)),
        (1, Outcome(True, "a.py::x")),
        (None, Outcome(True, "a.py::x")),
    ],
)
def test_a_failure_or_a_hang_kills(code, outcome, tmp_path, monkeypatch):
    place = Place(tmp_path, [])
    limits = []

    def pytest_in_the_copy(files, tests, limit, *words):
        limits.append(limit)
        said = "failed" if outcome.killed else "passed"
        place.report.write_text(json.dumps(["a.py::x", said, 0.1]) + "\n")
        return code

    monkeypatch.setattr(place, "pytest", pytest_in_the_copy)
    assert place.outcome(["a.py::x"], Known(seconds={"a.py::x": 3.0})) == outcome
    assert limits == [running.LEAST_LIMIT + 3 * running.TIMES]


def test_a_hang_before_any_report_is_told_from_a_broken_import(tmp_path, monkeypatch):
    place = Place(tmp_path, [])
    known = Known(seconds={"a.py::x": 0.1})
    monkeypatch.setattr(place, "pytest", lambda *_: None)
    assert place.outcome(["a.py::x"], known) == Outcome(True, "the time limit")
    monkeypatch.setattr(place, "pytest", lambda *_: 2)
    assert place.outcome(["a.py::x"], known) == Outcome(True, "the collection")


def test_a_run_that_takes_too_long_is_ended_with_all_it_started():
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
    )
    running.end(process)
    assert process.returncode not in (None, 0)


@pytest.fixture
def small_checkout(tmp_path) -> Path:
    """A kerascope of one file whose first function is tested well, the second badly, the third not.

    The second and the third are alike: only that a test comes by tells them apart.
    """
    root = tmp_path / "checkout"
    (root / "kerascope").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "kerascope" / "__init__.py").write_text('"""Small."""\n')
    (root / "kerascope" / "small.py").write_text(
        "def well(x):\n    return x + 1\n\n\n"
        "def badly(x):\n    return x + 2\n\n\n"
        "def never(x):\n    return x + 2\n"
    )
    (root / "tests" / "test_small.py").write_text(
        "from kerascope.small import badly, well\n\n\n"
        "def test_well():\n    assert well(1) == 2\n\n\n"
        "def test_badly():\n    badly(1)\n\n\n"
        "def test_fails_anyway():\n    badly(1)\n    assert False\n"
    )
    (root / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n'
    )
    return root


@pytest.mark.process
def test_a_tested_line_kills_its_mutant_and_others_do_not(small_checkout, tmp_path, capsys):
    file = tmp_path / "mutants.json"
    words = ["small.py", "--of", str(small_checkout), "--number", "9", "--jobs", "1"]
    assert command.main([*words, "--json", str(file), "--least", "50"]) == 1
    table = json.loads(file.read_text(encoding="utf-8"))
    by_line = {row["line"]: (row["outcome"], row["by"]) for row in table["mutants"]}
    assert by_line == {
        2: ("killed", "tests/test_small.py::test_well"),
        6: ("survived", ""),
        10: ("not reached", ""),
    }
    assert table["failing_without"] == ["tests/test_small.py::test_fails_anyway"]
    assert table["rate"] == pytest.approx(100 / 3)
    printed = capsys.readouterr().out
    assert "33.3 % of 3 mutants killed" in printed
    assert (small_checkout / "kerascope" / "small.py").read_text().count("+") == 3
    assert len(command.survivors(file)) == 2


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("killed", "code"), [(9, 0), (17, 0), (16, 1)])
def test_the_exit_code_says_whether_enough_were_killed(killed, code, monkeypatch, capsys):
    row = {"path": "a.py", "line": 1, "what": "key", "before": "x", "after": "y", "reached_by": 3}
    number = 10 if killed == 9 else 20
    rows = [row | {"outcome": "killed", "by": "test"}] * killed
    rows += [row | {"outcome": "survived", "by": ""}] * (number - killed)
    monkeypatch.setattr(command, "asked", lambda found, folder: rows)
    assert command.main(["engine"]) == code
    printed = capsys.readouterr().out
    assert (
        printed.count("SURVIVED 3 tests that reach the line\n    - x\n    + y") == number - killed
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no_such_folder", "--of", str(ROOT)], "there is no kerascope/no_such_folder"),
        (["engine", "--of", "no-such-revision"], "nor a revision"),
    ],
)
def test_what_cannot_be_asked_ends_with_code_2(words, says, monkeypatch, capsys):
    if "no_such_folder" in words:
        monkeypatch.setattr(command, "copied", lambda word, folder: Path(word))
    assert command.main(words) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["engine", "--number", "0"], ["engine", "--jobs", "0"]])
def test_a_command_line_without_sense_ends_with_code_2(words):
    with pytest.raises(SystemExit) as end:
        command.options(words)
    assert end.value.code == 2


def test_a_folder_s_own_tests_are_those_of_its_name_and_its_examples():
    assert command.own_tests(ROOT, ["engine"]) == ["tests/engine", "kerascope/engine"]
    assert command.own_tests(ROOT, ["stage.py"]) == ["tests/test_stage.py"]
