"""A worker tells its controller all that somebody could want to know, and no more."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CONFTEST = """
import reported

def pytest_configure(config):
    reported.install(config)

def pytest_runtest_logreport(report):
    if hasattr(report, "node"):  # in the controller
        with open("told", "a") as file:
            print(report.nodeid.partition("::")[2], report.when, report.outcome, file=file)
"""
TESTS = """
import warnings
import pytest

@pytest.fixture
def fails_at_the_end():
    yield
    raise ValueError("at the end")

@pytest.fixture
def fails():
    raise ValueError("at the beginning")

@pytest.fixture
def prints():
    print("of the fixture")

@pytest.fixture
def tells(request):
    yield
    request.node.user_properties.append(("some", "thing"))

def test_passes(): ...
def test_fails(): assert [1] == [2]
def test_fails_at_the_end(fails_at_the_end): ...
def test_fails_at_the_beginning(fails): ...
def test_is_skipped(): pytest.skip("for a reason")
@pytest.mark.xfail
def test_is_expected_to_fail(): raise ValueError("expected")
def test_prints(prints): ...
def test_tells(tells): ...
def test_warns(): warnings.warn("be warned")
"""
BRIEF = {  # what is told of the tests above
    ("test_passes", "call", "passed"),
    ("test_fails", "call", "failed"),
    ("test_fails_at_the_end", "call", "passed"),
    ("test_fails_at_the_end", "teardown", "failed"),
    ("test_fails_at_the_beginning", "setup", "failed"),
    ("test_is_skipped", "call", "skipped"),
    ("test_is_expected_to_fail", "call", "skipped"),
    ("test_prints", "setup", "passed"),
    ("test_prints", "call", "passed"),
    ("test_prints", "teardown", "passed"),
    ("test_tells", "call", "passed"),
    ("test_tells", "teardown", "passed"),
    ("test_warns", "call", "passed"),
}
SUMMARY = "1 failed, 5 passed, 1 skipped, 1 xfailed, 1 warning, 2 errors"


def told(folder: Path, *options: str) -> tuple[Counter[tuple[str, ...]], str]:
    """Run the tests of a project in a worker; return what the controller was told, and the end."""
    own = Path(__file__).with_name("reported.py").read_text(encoding="utf-8")
    (folder / "reported.py").write_text(own, encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_some.py").write_text(TESTS, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist"]
    # Other plugins take long to import.
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [*words, "-n", "1", *options, str(folder)],
        cwd=folder,
        env=alone,
        capture_output=True,
        encoding="utf-8",
    )
    lines = (folder / "told").read_text(encoding="utf-8").splitlines()
    return Counter(tuple(line.split()) for line in lines), done.stdout


@pytest.mark.process
def test_what_passed_is_told_once_and_all_else_is_told(tmp_path):
    reports, said = told(tmp_path)
    assert reports == Counter(BRIEF)
    assert SUMMARY in said
    for part in ("assert [1] == [2]", "at the beginning", "at the end", "be warned"):
        assert part in said


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("option", ["-v", "--durations=0", "--junitxml=some.xml", "--maxfail=9"])
def test_who_asks_for_more_is_told_every_phase(tmp_path, option):
    reports, said = told(tmp_path, option)
    assert set(BRIEF) < set(reports)
    assert {("test_passes", when, "passed") for when in ("setup", "teardown")} < set(reports)
    assert SUMMARY in said
