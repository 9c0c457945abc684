"""The guard of the wheel sees a file that is missing, and a command that does not work.

The guard itself builds and installs, so it is a command of its own: `python -m guards.wheel`.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from guards import wheel
from guards.wheel import BAD, GOOD, NOT_TRIED, Use
from kerascope.cli import commands

PROGRAMS = Path(sys.executable).parent
WANTED = wheel.files_of_checkout()
INFORMATION = [
    f"kerascope-1.0.dist-info/{name}"
    for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
]


# --- files ----------------------------------------------------------------------------------------


def test_a_wheel_with_all_files_is_whole() -> None:
    assert wheel.complaints_about_files([*WANTED, *INFORMATION], WANTED) == []


@pytest.mark.parametrize(
    "name",
    [
        "kerascope/py.typed",
        "kerascope/datasets/digits.csv.gz",
        "kerascope/viz/exports/viewer/graph.js",
        "kerascope/viz/exports/viewer/page.html",
        "kerascope/lessons/page/page.css",
        "kerascope/player/page/player.js",
        "kerascope/tutorials/glossary.toml",
        "kerascope/tutorials/00-tools/lesson.zh.md",
        "kerascope/tutorials/examples/digits.py",
        "kerascope/engine/network.py",
    ],
)
def test_a_file_that_is_missing_in_the_wheel_is_seen(name: str) -> None:
    assert name in WANTED
    names = [*(WANTED - {name}), *INFORMATION]
    assert wheel.complaints_about_files(names, WANTED) == [f"missing in the wheel: {name}"]


def test_what_does_not_belong_in_the_wheel_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "kerascope-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (*WANTED, *INFORMATION[:-1], "tests/zoo.py", "kerascope/__pycache__/a.pyc"):
            archive.writestr(name, "")
    assert wheel.complaints_about_files(wheel.names_in(path), WANTED) == [
        "does not belong in the wheel: kerascope/__pycache__/a.pyc",
        "does not belong in the wheel: tests/zoo.py",
        "missing in the wheel: .dist-info/licenses/LICENSE",
    ]


def test_the_files_of_a_checkout_are_found_where_the_wheel_has_them(tmp_path: Path) -> None:
    for name in (
        *("kerascope/a.py", "kerascope/page/a.css", "kerascope/__pycache__/a.pyc", "tests/a.py"),
        *("tutorials/01/lesson.md", "examples/a.py", "examples/.DS_Store", "README.md"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    assert wheel.files_of_checkout(tmp_path) == {
        *("kerascope/a.py", "kerascope/page/a.css"),
        *("kerascope/tutorials/01/lesson.md", "kerascope/tutorials/examples/a.py"),
    }


def test_a_source_distribution_has_the_files_of_the_repository_and_no_others() -> None:
    wanted = ["kerascope/__init__.py", "docs/tour.md", ".ci/run"]
    names = [f"kerascope-1.0/{name}" for name in (*wanted, "PKG-INFO")]
    assert wheel.complaints_about_sdist(names, wanted) == []
    assert wheel.complaints_about_sdist([*names[1:], "kerascope-1.0/out/a.svg"], wanted) == [
        "missing in the sdist: kerascope/__init__.py",
        "does not belong in the sdist: out/a.svg",
    ]


def test_the_files_of_the_repository_are_those_that_git_does_not_ignore(tmp_path: Path) -> None:
    assert wheel.files_of_repository(tmp_path) == []
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for name in ("a.py", "out/a.svg", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("out\n", encoding="utf-8")
    assert sorted(wheel.files_of_repository(tmp_path)) == [".gitignore", "a.py"]


def test_the_tests_that_run_in_the_source_distribution_exist() -> None:
    assert all((wheel.ROOT / name).exists() for name in wheel.TESTS)


def test_the_folders_are_those_that_the_project_puts_into_its_wheel() -> None:
    project = tomllib.loads((wheel.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    target = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {name: name for name in target["packages"]} | target["force-include"] == wheel.FOLDERS


def test_the_modules_of_all_extras_are_to_be_absent() -> None:
    extras = wheel.modules_of_extras()
    assert {"keras", "jax", "pytest", "textual", "scipy", "sklearn", "PIL", "IPython"} <= set(
        extras
    )
    assert not {"kerascope", "numpy", "networkx", "rich", "h5py"} & set(extras)


# --- uses -----------------------------------------------------------------------------------------


def test_every_command_is_tried_and_the_console_script_too() -> None:
    tried = {use.words[1] for use in wheel.uses() if use.words[0] == "kerascope"}
    assert set(commands.COMMANDS) <= tried
    assert {"--version", "--help"} <= tried


def test_a_use_is_judged_by_its_exit_code_its_words_and_its_files(tmp_path: Path) -> None:
    use = Use(("kerascope",), says=("ab+c", "d"), code=3, writes=(("a.svg", b"<svg"),))
    assert use.judge(0, "Traceback", tmp_path) == "exit code 0, expected 3:\nTraceback"
    assert use.judge(3, "abbc", tmp_path) == "it does not say 'd':\nabbc"
    assert use.judge(3, "abbc d", tmp_path) == "it did not write a.svg"
    (tmp_path / "a.svg").write_bytes(b"no picture")
    assert use.judge(3, "abbc d", tmp_path) == "a.svg begins with b'no picture', expected b'<svg'"
    (tmp_path / "a.svg").write_bytes(b"<svg></svg>")
    assert use.judge(3, "abbc d", tmp_path) is None


@pytest.mark.process
def test_each_use_gets_its_input_and_a_line_and_failures_are_counted(tmp_path, capsys) -> None:
    echo = "import pathlib; print(input()); pathlib.Path('written').write_text('x')"
    uses = [
        wheel.python(echo, typed="heard\n", says=("^heard",), writes=(("written", b"x"),)),
        wheel.python("import os; assert 'PYTHONPATH' not in os.environ; 1 / 0"),
        Use(("no-such-program",)),
    ]
    assert wheel.try_uses(PROGRAMS, tmp_path, uses) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok     python -c import pathlib")
    assert lines[1].startswith("FAILED python -c import os")
    assert any("ZeroDivisionError" in line for line in lines)
    assert any(line.startswith("FAILED no-such-program") for line in lines)


def test_nothing_of_the_developers_settings_reaches_the_user(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "here")
    monkeypatch.setenv("KERASCOPE_DIALECT", "3")
    told = wheel.variables(tmp_path)
    assert not {"PYTHONPATH", "KERASCOPE_DIALECT"} & told.keys()
    assert told["HOME"] == str(tmp_path)


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("wrong", "code", "said"), [(0, GOOD, "whole"), (2, BAD, "2 complaints")])
def test_the_exit_code_says_whether_anything_was_wrong(wrong, code, said, capsys) -> None:
    folders = []

    def guarded(folder: Path, path: Path | None) -> int:
        folders.append(folder)
        return wrong

    assert wheel.main([], guarded) == code
    assert said in capsys.readouterr().out
    assert not folders[0].exists()


def test_a_wheel_that_cannot_be_built_is_neither_good_nor_bad(capsys) -> None:
    def guarded(folder: Path, path: Path | None) -> int:
        raise wheel.NotTried("the wheel cannot be built:\nno network")

    assert wheel.main([], guarded) == NOT_TRIED
    assert "no network" in capsys.readouterr().err


def test_a_wheel_that_is_not_there_and_a_folder_that_is_are_refused(tmp_path, capsys) -> None:
    for words in (["--wheel", str(tmp_path / "no.whl")], ["--keep", str(tmp_path)]):
        with pytest.raises(SystemExit) as caught:
            wheel.main(words, lambda folder, path: 0)
        assert caught.value.code == NOT_TRIED
    said = capsys.readouterr().err
    assert "Found no file" in said
    assert "--keep needs a new folder" in said
