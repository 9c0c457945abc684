"""`dev.py`, the two commands of the README: everything but the installation itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with dev.py, a project file and a demo that tells what it was given."""
    folder = tmp_path / "a project"
    (folder / "examples").mkdir(parents=True)
    shutil.copy(ROOT / "dev.py", folder)
    (folder / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    script = "import sys\nprint(sys.argv[1:], flush=True)\nsys.exit(int(sys.argv[1]))\n"
    (folder / "examples" / "demo.py").write_text(script, encoding="utf-8")
    return folder


@pytest.fixture
def ready_project(project: Path) -> Path:
    """Return a project whose environment is this very Python, already prepared."""
    python = project / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    if os.name == "nt":
        pytest.skip("needs a symbolic link to the running Python")
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    command = "import dev, json; print(json.dumps(dev.wanted_stamp('dev')))"
    stamp = subprocess.check_output([sys.executable, "-c", command], cwd=project, text=True)
    (project / ".venv" / "kerascope-environment.json").write_text(stamp, encoding="utf-8")
    return project


def dev(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "dev.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def evaluate(folder: Path, expression: str):
    command = [sys.executable, "-c", f"import dev, json; print(json.dumps({expression}))"]
    return json.loads(subprocess.check_output(command, cwd=folder, text=True))


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"], ["help"]])
def test_help_names_both_commands(project, arguments):
    done = dev(project, *arguments)
    assert done.returncode == 0
    assert "dev.py demo" in done.stdout
    assert "dev.py test" in done.stdout


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("tset", "Did you mean 'test'?"),
        ("Demo", "'demo'?"),
        ("xyz", "Known: demo, test, rest, versions, "),
    ],
)
def test_a_misspelt_command_gets_a_suggestion(project, word, answer):
    done = dev(project, word)
    assert done.returncode == 2
    assert answer in done.stderr
    assert not (project / ".venv").exists()


def test_the_demo_gets_its_arguments_and_gives_its_exit_code(ready_project):
    done = dev(ready_project, "demo", "7", "two words")
    assert done.stdout.splitlines()[-1] == "['7', 'two words']"
    assert done.returncode == 7


def test_a_missing_demo_is_named(project):
    (project / "examples" / "demo.py").unlink()
    done = dev(project, "demo")
    assert done.returncode == 1
    assert "demo.py is missing" in done.stderr


def test_a_prepared_environment_is_used_as_it_is(ready_project):
    assert "pip install" not in dev(ready_project, "demo", "0").stdout


def test_an_interrupted_installation_makes_the_environment_unusable(ready_project):
    assert evaluate(ready_project, "dev.environment_works()") is True
    stamp = ready_project / ".venv" / "kerascope-environment.json"
    stamp.write_text('{"installing": "."}', encoding="utf-8")
    assert evaluate(ready_project, "dev.environment_works()") is False


def test_a_half_made_environment_is_not_used(project):
    assert evaluate(project, "dev.environment_works()") is False
    (project / ".venv" / "bin").mkdir(parents=True)
    assert evaluate(project, "dev.environment_works()") is False


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_broken_stamp_counts_as_none(ready_project, text):
    stamp = ready_project / ".venv" / "kerascope-environment.json"
    stamp.write_text(text, encoding="utf-8")
    assert evaluate(ready_project, "dev.read_stamp()") == {}


def test_the_stamp_changes_with_the_project_file_but_not_with_its_line_ends(project):
    first = evaluate(project, "dev.wanted_stamp('')")
    (project / "pyproject.toml").write_bytes(b"[project]\r\n")
    assert evaluate(project, "dev.wanted_stamp('')") == first
    (project / "pyproject.toml").write_bytes(b"[project]\nname = 'x'\n")
    assert evaluate(project, "dev.wanted_stamp('')") != first


def test_pytest_gets_one_worker_per_processor_unless_told_otherwise(project):
    setup = "[setattr(dev, 'usable_processors', lambda: 2), dev.pytest_command({})][1]"
    assert evaluate(project, setup.format(["-x"]))[:3] == ["pytest", "-n", "2"]
    assert evaluate(project, setup.format(["-n0"])) == ["pytest", "-n0"]
    assert "--whole" not in evaluate(project, setup.format(["-x"]))
    assert evaluate(project, setup.format(["--pdb"])) == ["pytest", "--pdb"]


def test_a_run_for_which_nobody_chose_tests_fails_when_tests_are_missing(project):
    assert "--whole" in evaluate(project, "dev.pytest_command([])")


@pytest.mark.parametrize(
    ("had", "wanted", "installed"),
    [
        ("dev", "", None),
        ("live", "dev", None),
        ("dev", "live", "live"),
        ("", "dev", "dev"),
    ],
)
def test_what_is_there_is_enough_for_whoever_wants_less(ready_project, had, wanted, installed):
    lines = [
        f"dev.write_stamp(dev.wanted_stamp({had!r}))",
        "setattr(dev, 'install', lambda extra: asked.append(extra))",
        f"dev.prepare({wanted!r})",
    ]
    asked = evaluate(ready_project, f"[asked := [], {', '.join(lines)}][0]")
    assert asked == ([installed] if installed is not None else [])


def test_a_changed_project_file_renews_all_that_was_there(ready_project):
    (ready_project / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    lines = "setattr(dev, 'install', lambda extra: asked.append(extra)), dev.prepare('')"
    assert evaluate(ready_project, f"[asked := [], {lines}][0]") == ["dev"]


def test_the_other_checks_run_beside_the_tests_and_each_failure_is_named(ready_project):
    """The Python of this project answers as ruff, mypy and pytest would: mypy fails."""
    python = ready_project / ".venv" / "bin" / "python"
    python.write_text(
        '#!/bin/sh\n[ "$1" = -c ] && exit 0\necho "this is $2 $3"\n[ "$2" != mypy ]\n',
        encoding="utf-8",
    )
    done = dev(ready_project, "test", "-n0")
    printed = done.stdout.splitlines()
    assert printed.index("this is pytest -n0") < printed.index("this is ruff check")
    assert "this is mypy" in printed
    assert "[dev] FAILED with code 1: mypy" in printed
    assert not any("FAILED" in line and "mypy" not in line for line in printed)
    assert done.returncode == 1


def test_a_python_without_venv_gets_told_what_to_install(project):
    command = (
        "import dev, importlib.util as util\n"
        "util.find_spec = lambda name: None if name == 'ensurepip' else object()\n"
        "dev.require_venv_module()"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=project, capture_output=True, text=True
    )
    version = "{}.{}".format(*sys.version_info[:2])
    assert f"sudo apt install python{version}-venv" in done.stderr
    assert "no ensurepip module" in done.stderr


def pytest_words(project: Path, words: list[str]) -> str:
    """Return the pytest command that `dev.py rest WORDS` says it runs."""
    code = f"import dev; dev.prepare = dev.run = lambda *words: 0; dev.rest({words!r})"
    return subprocess.check_output([sys.executable, "-c", code], cwd=project, text=True).strip()


@pytest.fixture
def repository(project: Path) -> Path:
    """Return a project of two commits, a day apart, of the same author."""
    for day, name in (("2026-01-01", "a.py"), ("2026-01-02", "b.py")):
        (project / name).write_text("", encoding="utf-8")
        moment = f"{day}T12:00:00"
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        for command in (["init", "-q"], ["add", name], [*who, "commit", "-q", "-m", name]):
            subprocess.run(
                ["git", *command],
                cwd=project,
                check=True,
                env={**os.environ, "GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment},
            )
    return project


def test_rest_takes_the_part_of_its_commit_and_what_changed_since_the_work_before(repository):
    head, before = subprocess.check_output(
        ["git", "rev-list", "HEAD"], cwd=repository, text=True
    ).split()
    part = int(head[:8], 16) % 4 + 1
    assert f"--whole --part {part}/4 --since {before}" in pytest_words(repository, [])


def test_rest_of_all_and_of_tests_that_were_chosen_have_no_part(repository, project):
    assert "--part" not in pytest_words(repository, ["--all"])
    assert "--whole" in pytest_words(repository, ["--all"])
    assert pytest_words(repository, ["tests/viz", "-x"]).endswith("slow' tests/viz -x")


def test_without_git_rest_takes_the_first_part(project):
    assert "--part 1/4" in pytest_words(project, [])
    assert "--since" not in pytest_words(project, [])


def test_the_oldest_libraries_are_those_of_the_project_file():
    command = "import dev; print(*dev.oldest_libraries())"
    words = subprocess.check_output([sys.executable, "-c", command], cwd=ROOT, text=True).split()
    project_file = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [word.partition("==")[0] for word in words] == ["numpy", "networkx", "rich"]
    assert all(f'"{word.replace("==", ">=")}"' in project_file for word in words)
