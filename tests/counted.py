"""How many tests there are of each kind, so that none goes missing unnoticed.

A test that is no longer collected (a file renamed, a list of cases that came out empty, a marker
that swallows a folder) fails nowhere. So `collected.json` holds, for each marker, how many tests
were collected when it was written; a whole run (`--whole`, which `dev.py` gives when nobody chose
tests) fails when it collects fewer. `--write-counts` writes the file anew.

With xdist the workers collect: each hands its counts to the controller, which compares.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

WRITTEN = Path(__file__).with_name("collected.json")
MARKERS = ("process", "browser", "live", "slow")
LEFT_OUT = ("live", "slow")  # of the default set, see addopts in pyproject.toml

_found = pytest.StashKey[Counter[str]]()


def count(marks_of_tests: Iterable[set[str]]) -> Counter[str]:
    """Return how many tests have each marker, and how many are in the default set."""
    counts = Counter[str]({"default": 0} | dict.fromkeys(MARKERS, 0))
    for marks in marks_of_tests:
        counts.update(marks & set(MARKERS))
        counts["default"] += marks.isdisjoint(LEFT_OUT)
    return counts


def missing(found: Mapping[str, int], written: Mapping[str, int]) -> list[str]:
    """Return a line for each kind of which fewer tests were found than are written down."""
    return [
        f"{kind}: {found.get(kind, 0)} tests collected, {least} are written down"
        for kind, least in written.items()
        if found.get(kind, 0) < least
    ]


def refuse_a_part(config: pytest.Config) -> None:
    """Refuse to count when somebody has named files: theirs are not all.

    Raises
    ------
    pytest.UsageError
    """
    asked = config.getoption("whole") or config.getoption("write_counts")
    is_worker = hasattr(config, "workerinput")  # it is given what its controller collects
    if asked and not is_worker and config.args_source is pytest.Config.ArgsSource.ARGS:
        raise pytest.UsageError("--whole and --write-counts are for all tests; name no files")


# --- pytest's hooks; tests/conftest.py imports them -----------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("counted")
    group.addoption("--whole", action="store_true", help="fail if tests have gone missing")
    group.addoption("--write-counts", action="store_true", help="write tests/collected.json anew")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count all tests, before `-m` takes some away; tests in a browser come first.

    Neighbours go to the same worker: so one browser is started, by one of them.
    """
    counts = count({mark.name for mark in item.iter_markers()} for item in items)
    config.stash[_found] = counts
    if hasattr(config, "workeroutput"):
        config.workeroutput["counts"] = dict(counts)
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the counts of a worker that has ended; all workers collect the same."""
    counts = getattr(node, "workeroutput", {}).get("counts")
    if counts is not None:
        node.config.stash[_found] = Counter(counts)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the counts down, or fail if there are fewer than were written down."""
    config = session.config
    found = config.stash.get(_found, None)
    if found is None or hasattr(config, "workerinput"):
        return
    if config.getoption("write_counts"):
        WRITTEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    elif config.getoption("whole") and os.name != "nt":  # where some modules test nothing
        lines = missing(found, json.loads(WRITTEN.read_text(encoding="utf-8")))
        if lines:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            reporter = config.pluginmanager.get_plugin("terminalreporter")
            reporter.write_line("")
            for line in lines:
                reporter.write_line(f"FAILED tests have gone missing: {line}", red=True)
