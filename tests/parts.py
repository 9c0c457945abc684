"""Which slow and live tests one run takes: a quarter, and the tests of what a change touches.

All of them take most of an hour. So `dev.py rest` runs one part of four, and each commit takes
another one: `--part 2/4` keeps the tests whose names hash to 2. `--since REV` keeps, besides, the
tests of every folder in which a file has changed since that revision, but not if these are more
than `MANY` folders: that would be nearly all tests. `dev.py rest --all` runs them all; it is for
the commit that ends a piece of work.

The hash is that of a test's whole name, rows of a table included, so the parts take nearly the same
time, and a test stays in its part for as long as it keeps its name.
"""

import re
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

MANY = 3


def part_of(name: str, parts: int) -> int:
    """Return the part, from 1, to which a test belongs.

    Parameters
    ----------
    name : str
        The name that pytest prints: file, test, row.
    parts : int
        The number of parts.

    Returns
    -------
    int
    """
    return zlib.crc32(name.encode()) % parts + 1


def pattern_of(file: str) -> str | None:
    """Return a pattern for the tests of the folder in which a file lies, or None.

    Parameters
    ----------
    file : str
        Path from the project's root.

    Returns
    -------
    str or None
        A regular expression for the start of a test's name. None for files without tests of their
        own, such as documents.

    Examples
    --------
    >>> pattern_of("kerascope/viz/layout/ladder.py"), pattern_of("tests/viz/test_curves.py")
    ('tests/(viz/|test_viz)', 'tests/(viz/|test_viz)')
    >>> pattern_of("kerascope/limits.py")
    'tests/(limits/|test_limits)'
    >>> pattern_of("tests/test_moving.py")
    'tests/test_moving\\\\.py'
    >>> pattern_of("docs/tour.md")
    """
    folders = PurePosixPath(file).parts
    if folders[0] not in ("kerascope", "tests") or not file.endswith(".py"):
        return None
    if folders[0] == "tests" and len(folders) == 2:
        return re.escape(file) if folders[1].startswith("test_") else None
    name = re.escape(PurePosixPath(folders[1]).stem)
    return f"tests/({name}/|test_{name})"


def changed_since(revision: str, root: Path) -> list[str]:
    """Return the files that have changed since a revision, with what is not committed yet.

    Raises
    ------
    pytest.UsageError
        If git does not know the revision.
    """
    command = ["git", "diff", "--name-only", revision]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise pytest.UsageError(f"--since {revision}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def chosen(names: Iterable[str], part: int, parts: int, changed: Iterable[str]) -> list[bool]:
    """Return, for each test, whether a run of one part takes it.

    Parameters
    ----------
    names : iterable of str
        The tests.
    part, parts : int
        The part of this run, from 1, and the number of parts.
    changed : iterable of str
        The files of the change. The tests of their folders are taken whatever their part is,
        unless there are more than `MANY` folders.
    """
    patterns = {pattern for file in changed if (pattern := pattern_of(file))}
    if len(patterns) > MANY:
        patterns.clear()
    touched = re.compile("|".join(sorted(patterns)) or "(?!)")
    return [part_of(name, parts) == part or bool(touched.match(name)) for name in names]


# --- pytest's hooks; tests/conftest.py registers them ---------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("parts")
    group.addoption("--part", metavar="K/N", help="run only the tests of part K of N")
    group.addoption(
        "--since", metavar="REV", help="with --part: also the tests of the folders changed since"
    )


def part_asked(config: pytest.Config) -> tuple[int, int] | None:
    """Return the part and the number of parts, or None if all tests are wanted.

    Raises
    ------
    pytest.UsageError
    """
    text = config.getoption("part")
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise pytest.UsageError(f"--part: expected K/N with K from 1 to N, got {text!r}")
    return int(found[1]), int(found[2])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of the other parts, after all have been counted."""
    asked = part_asked(config)
    if asked is None:
        return
    revision = config.getoption("since")
    changed = changed_since(revision, config.rootpath) if revision else []
    takes = chosen([item.nodeid for item in items], *asked, changed)
    left_out = [item for item, taken in zip(items, takes, strict=True) if not taken]
    items[:] = [item for item, taken in zip(items, takes, strict=True) if taken]
    config.hook.pytest_deselected(items=left_out)
