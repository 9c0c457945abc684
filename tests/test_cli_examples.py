"""`kerascope examples`: the scripts of the course, copied to a folder of one's own."""

import os
import stat
from pathlib import Path

import pytest

from kerascope.cli import main
from kerascope.lessons import examples_folder

NAMES = sorted(path.name for path in examples_folder().glob("*.py"))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def examples(capsys, *words, code=0):
    assert main(["examples", *words]) == code
    captured = capsys.readouterr()
    return captured.out if code == 0 else captured.err


def test_they_are_copied_whole_and_can_be_run(capsys):
    said = examples(capsys)
    assert said == (
        f"{len(NAMES)} examples copied to examples\n"
        f"start with: kerascope run {Path('examples', 'example.py')}\n"
    )
    assert sorted(path.name for path in Path("examples").iterdir()) == NAMES
    for name in NAMES:
        assert Path("examples", name).read_bytes() == (examples_folder() / name).read_bytes()
    mode = Path("examples", "example.py").stat().st_mode
    assert mode & stat.S_IWUSR
    assert main(["run", "examples/fixed_example.py"]) == 0
    assert "epoch   1" in capsys.readouterr().out


@pytest.mark.parametrize("folder", [".", "a/b"])
def test_they_go_to_the_folder_that_is_named(folder, capsys):
    assert f"{len(NAMES)} examples copied to {folder}\n" in examples(capsys, folder)
    assert Path(folder, "example.py").is_file()


def test_the_second_time_nothing_is_copied_but_what_is_missing(capsys):
    examples(capsys)
    assert examples(capsys) == f"{len(NAMES)} examples already in examples\n"
    Path("examples", NAMES[0]).unlink()
    assert examples(capsys).splitlines()[:2] == [
        "1 example copied to examples",
        f"{len(NAMES) - 1} examples already in examples",
    ]


def test_a_changed_file_is_kept_unless_forced(capsys):
    examples(capsys)
    own = Path("examples", "example.py")
    own.write_text("mine = 1\n", encoding="utf-8")
    said = examples(capsys)
    assert said.splitlines()[-1] == "kept your own files: example.py (--force overwrites them)"
    assert own.read_text(encoding="utf-8") == "mine = 1\n"
    assert "1 example copied" in examples(capsys, "--force")
    assert own.read_bytes() == (examples_folder() / "example.py").read_bytes()


def test_a_list_copies_nothing(capsys):
    lines = examples(capsys, "--list").splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line.split()) > 3 for line in lines)
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("digits.py", "examples: expected a folder, got the name of an example 'digits.py'"),
        ("file", "examples: expected a folder, got the file 'file'"),
        ("file/inside", "examples: cannot make the folder 'file/inside'"),
    ],
)
def test_what_is_no_folder_is_refused(folder, message, capsys):
    Path("file").write_text("", encoding="utf-8")
    assert message in examples(capsys, folder, code=2)
