"""Tests that go missing are noticed, whoever collects them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from counted import OF_FILES, count, missing

HERE = Path(__file__).resolve().parent
NEEDED = "import json\n"


def test_a_test_counts_for_each_of_its_markers_and_for_the_default_set_if_it_is_in_it():
    marks = [set(), {"browser", "parametrize"}, {"slow", "process"}, {"live"}, {"process"}]
    assert count(marks) == {"default": 3, "browser": 1, "process": 2, "live": 1, "slow": 1}


def test_each_kind_with_too_few_tests_is_named():
    written = {"default": 10, "live": 3, "slow": 2}
    assert missing({"default": 11, "live": 3, "slow": 2}, written) == []
    assert missing({"default": 9, "slow": 2}, written) == [
        "default: 9 tests collected, 10 are written down",
        "live: 0 tests collected, 3 are written down",
    ]


def test_tests_of_files_that_were_skipped_whole_are_not_missed_but_all_others_are():
    written = {"default": 10, "live": 3, OF_FILES: {"a.py": {"default": 2, "live": 3}}}
    assert missing({"default": 8}, written, ["a.py", "a.py", "b.py"]) == []
    assert missing({"default": 7}, written, ["a.py"]) == [
        "default: 7 tests collected, 8 are written down"
    ]
    assert len(missing({"default": 8}, written)) == 2


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project of five tests, one slow, two that need a library, and their counts.

    As in this house, one of them is an example in the code, which is not below tests/.
    """
    tests, code = tmp_path / "tests", tmp_path / "kerascope" / "foreign"
    tests.mkdir()
    code.mkdir(parents=True)
    own = (HERE / "counted.py").read_text(encoding="utf-8")
    (tests / "counted.py").write_text(own, encoding="utf-8")
    (tests / "conftest.py").write_text(
        "import counted\n"
        "def pytest_addoption(parser, pluginmanager): pluginmanager.register(counted)\n",
        encoding="utf-8",
    )
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    slow\ntestpaths = tests kerascope\n"
        "addopts = --doctest-modules --doctest-ignore-import-errors\n",
        encoding="utf-8",
    )
    (code / "files.py").write_text(f'"""Read.\n\n>>> 1\n1\n"""\n{NEEDED}', encoding="utf-8")
    text = "import pytest\ndef test_one(): ...\ndef test_two(): ...\n"
    slow = "@pytest.mark.slow\ndef test_three(): ...\n"
    (tests / "test_some.py").write_text(text + slow, encoding="utf-8")
    (tests / "test_library.py").write_text(
        "import pytest\npytest.importorskip('json')\ndef test_four(): ...\n", encoding="utf-8"
    )
    assert pytest_in(tmp_path, "--write-counts").returncode == 0
    return tmp_path


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist",
        *options,
    ]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others take long to import
    return subprocess.run(words, cwd=folder, env=alone, capture_output=True, encoding="utf-8")


@pytest.mark.process
@pytest.mark.slow
def test_workers_write_the_same_counts(project):
    before = (project / "tests" / "collected.json").read_bytes()
    assert json.loads(before)[OF_FILES] == {
        "kerascope/foreign/files.py": {"default": 1},
        "tests/test_library.py": {"default": 1},
    }
    assert pytest_in(project, "--write-counts", "-n", "1").returncode == 0
    assert (project / "tests" / "collected.json").read_bytes() == before


@pytest.mark.process
@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "a worker"])
def test_a_whole_run_fails_when_a_test_has_gone_and_only_then(project, workers):
    assert (
        json.loads((project / "tests" / "collected.json").read_text(encoding="utf-8"))["slow"] == 1
    )
    chosen = ["--whole", "-m", "not slow", *workers]
    done = pytest_in(project, *chosen)
    assert done.returncode == 0, done.stdout
    (project / "tests" / "test_some.py").write_text("def test_one(): ...\n", encoding="utf-8")
    done = pytest_in(project, *chosen)
    assert done.returncode == 1
    assert "3 passed" in done.stdout
    assert "FAILED tests have gone missing: slow: 0 tests collected, 1 are" in done.stdout
    assert "default: 3 tests collected, 4 are written down" in done.stdout


@pytest.mark.process
@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "a worker"])
def test_where_a_library_is_missing_its_tests_are_not_missed(project, workers):
    for name in ("tests/test_library.py", "kerascope/foreign/files.py"):
        file = project / name
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("json", "no_such"), encoding="utf-8")
    done = pytest_in(project, "--whole", "-m", "not slow", *workers)
    assert done.returncode == 0, done.stdout
    before = (project / "tests" / "collected.json").read_bytes()
    done = pytest_in(project, "--write-counts", *workers)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "files.py, tests/test_library.py could not be collected" in done.stdout + done.stderr
    assert (project / "tests" / "collected.json").read_bytes() == before


@pytest.mark.parametrize("option", ["--whole", "--write-counts"])
def test_a_part_is_not_counted_as_if_it_were_all(project, option):
    before = (project / "tests" / "collected.json").read_bytes()
    done = pytest_in(project, option, "tests/test_some.py")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "name no files" in done.stderr
    assert (project / "tests" / "collected.json").read_bytes() == before
