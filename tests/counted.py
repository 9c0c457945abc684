"""How many tests there are of each kind, so that none goes missing unnoticed.

A test that is no longer collected (a file renamed, a list of cases that came out empty, a marker
that swallows a folder) fails nowhere. So `collected.json` holds, for each marker, how many tests
were collected when it was written; a whole run (`--whole`, which `dev.py` gives when nobody chose
tests) fails when it collects fewer. `--write-counts` writes the file anew.

Files of tests that need a library which not everybody has (`pytest.importorskip`, the doctests of
`kerascope/foreign`) are skipped whole where it is not installed: so theirs are written down file by
file, and are not missed there.

Where they are installed and the run takes no test of such a file, it is not collected either:
importing PyTorch, JAX and Keras for it takes each worker ten seconds.

With xdist the workers collect: each hands its counts to the controller, which compares.
"""

import json
import os
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

WRITTEN = Path(__file__).with_name("collected.json")
MARKERS = ("process", "browser", "live", "slow")
LEFT_OUT = ("live", "slow")  # of the default set, see addopts in pyproject.toml

OF_FILES = "of files that need a library"

_found = pytest.StashKey[Counter[str]]()
_of_files = pytest.StashKey[dict[str, dict[str, int]]]()
_skipped = pytest.StashKey[list[str]]()


def count(marks_of_tests: Iterable[set[str]]) -> Counter[str]:
    """Return how many tests have each marker, and how many are in the default set."""
    counts = Counter[str]({"default": 0} | dict.fromkeys(MARKERS, 0))
    for marks in marks_of_tests:
        counts.update(marks & set(MARKERS))
        counts["default"] += marks.isdisjoint(LEFT_OUT)
    return counts


def missing(
    found: Mapping[str, int], written: Mapping[str, Any], skipped: Collection[str] = ()
) -> list[str]:
    """Return a line for each kind of which fewer tests were found than are written down.

    Parameters
    ----------
    found : mapping of str to int
        How many there are of each kind.
    written : mapping
        What `collected.json` holds.
    skipped : collection of str
        Files that were skipped whole; what is written down of each is not missed.
    """
    kinds = dict(written)
    of_files = kinds.pop(OF_FILES, {})
    for file in set(skipped):
        for kind, number in of_files.get(file, {}).items():
            kinds[kind] -= number
    return [
        f"{kind}: {found.get(kind, 0)} tests collected, {least} are written down"
        for kind, least in kinds.items()
        if found.get(kind, 0) < least
    ]


def may_be_skipped_whole(file: str, text: str) -> bool:
    """Tell whether a file of tests may be skipped because a library is missing."""
    return file.startswith("kerascope/foreign/") or "importorskip(" in text


def of_files(
    root: Path, tests: Iterable[tuple[pytest.Item, set[str]]]
) -> dict[str, dict[str, int]]:
    """Return the counts of each file that may be skipped whole."""
    marks_of_files: dict[str, list[set[str]]] = {}
    for item, marks in tests:
        marks_of_files.setdefault(item.nodeid.partition("::")[0], []).append(marks)
    return {
        file: dict(+count(marks))  # without what is 0
        for file, marks in sorted(marks_of_files.items())
        if may_be_skipped_whole(file, (root / file).read_text(encoding="utf-8"))
    }


def left_out_whole(written: Mapping[str, Any]) -> frozenset[str]:
    """Return the files that need a library and of which the default set takes no test."""
    return frozenset(
        file for file, kinds in written.get(OF_FILES, {}).items() if not kinds.get("default")
    )


@cache
def files_left_out_whole() -> frozenset[str]:
    """Return `left_out_whole` of what is written down."""
    return left_out_whole(json.loads(WRITTEN.read_text(encoding="utf-8")))


# --- pytest's hooks; tests/conftest.py registers them ---------------------------------------------


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file of live tests when the run takes no live tests."""
    is_default = config.getoption("markexpr") == "not live and not slow"
    if not is_default or config.getoption("write_counts") or collection_path.suffix != ".py":
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    if file not in files_left_out_whole():
        return None
    config.stash.setdefault(_skipped, []).append(file)
    return True


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to count when somebody has named files: theirs are not all.

    Raises
    ------
    pytest.UsageError
    """
    asked = config.getoption("whole") or config.getoption("write_counts")
    is_worker = hasattr(config, "workerinput")  # it is given what its controller collects
    if asked and not is_worker and config.args_source is pytest.Config.ArgsSource.ARGS:
        raise pytest.UsageError("--whole and --write-counts are for all tests; name no files")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("counted")
    group.addoption("--whole", action="store_true", help="fail if tests have gone missing")
    group.addoption("--write-counts", action="store_true", help="write tests/collected.json anew")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Remember a file that was skipped whole."""
    report = yield
    if report.skipped:
        collector.config.stash.setdefault(_skipped, []).append(collector.nodeid)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count all tests, before `-m` takes some away; files with tests in a browser come first.

    Neighbours go to the same worker: so one browser is started, by one of them. The other tests of
    these files come along: what a file makes once for all its tests would be made again for them.
    """
    marks = [(item, {mark.name for mark in item.iter_markers()}) for item in items]
    counts = count(names for _, names in marks)
    config.stash[_found] = counts
    if config.getoption("write_counts"):
        config.stash[_of_files] = of_files(config.rootpath, marks)
    if hasattr(config, "workeroutput"):
        config.workeroutput["counts"] = dict(counts)
        config.workeroutput["skipped"] = config.stash.get(_skipped, [])
        found_in = config.stash.get(_of_files, {}).items()
        config.workeroutput["of_files"] = {file: dict(kinds) for file, kinds in found_in}
    in_browser = {item.path for item, names in marks if "browser" in names}
    items.sort(key=lambda item: item.path not in in_browser)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the counts of a worker that has ended; all workers collect the same."""
    counts = getattr(node, "workeroutput", {}).get("counts")
    if counts is not None:
        node.config.stash[_found] = Counter(counts)
        node.config.stash[_skipped] = node.workeroutput["skipped"]
        node.config.stash[_of_files] = node.workeroutput["of_files"]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the counts down, or fail if there are fewer than were written down."""
    config = session.config
    found = config.stash.get(_found, None)
    if found is None or hasattr(config, "workerinput"):
        return
    skipped = config.stash.get(_skipped, [])
    if config.getoption("write_counts"):
        if skipped:
            raise pytest.UsageError(
                f"counts cannot be written: {', '.join(sorted(set(skipped)))} "
                f"could not be collected, for want of a library. "
                f"Install the extra `live` (python3 dev.py rest does)."
            )
        text = json.dumps({**found, OF_FILES: config.stash[_of_files]}, indent=1)
        WRITTEN.write_text(text + "\n", encoding="utf-8")
    elif config.getoption("whole") and os.name != "nt":  # where some modules test nothing
        lines = missing(found, json.loads(WRITTEN.read_text(encoding="utf-8")), skipped)
        if lines:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            reporter = config.pluginmanager.get_plugin("terminalreporter")
            reporter.write_line("")
            for line in lines:
                reporter.write_line(f"FAILED tests have gone missing: {line}", red=True)
