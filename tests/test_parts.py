"""A run of the slow tests takes a quarter of them, and those of the change."""

from pathlib import Path

import pytest
from parts import MANY, changed_since, chosen, part_of

ROOT = Path(__file__).resolve().parents[1]
NAMES = [
    f"tests/{folder}/test_some.py::test_row[{row}]"
    for folder in ("engine", "viz", "viz/figure", "saving", "trace", "layers")
    for row in range(200)
]


def taken(part, changed=()):
    return {name for name, yes in zip(NAMES, chosen(NAMES, part, 4, changed), strict=True) if yes}


def test_each_test_is_in_one_part_and_the_parts_are_alike():
    parts = [taken(part) for part in (1, 2, 3, 4)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(NAMES)
    assert all(0.2 < len(part) / len(NAMES) < 0.3 for part in parts)


def test_a_name_stays_in_its_part():
    assert [part_of(name, 4) for name in ("a", "b", "tests/test_a.py::test[1]")] == [4, 2, 1]


@pytest.mark.parametrize("file", ["kerascope/viz/draw.py", "tests/viz/figure/test_some.py"])
def test_the_tests_of_a_changed_folder_are_taken_whole(file):
    of_folder = {name for name in NAMES if name.startswith("tests/viz/")}
    assert taken(3, [file]) == taken(3) | of_folder


def test_documents_and_helpers_add_nothing():
    assert taken(1, ["docs/tour.md", "tests/zoo.py", "kerascope/viewer.js", "dev.py"]) == taken(1)


def test_a_change_of_many_folders_adds_nothing():
    files = [f"kerascope/{name}/a.py" for name in ("engine", "viz", "saving", "trace", "layers")]
    assert taken(4, files[:MANY]) > taken(4)
    assert taken(4, files) == taken(4)


def test_a_revision_that_git_does_not_know_is_named():
    with pytest.raises(pytest.UsageError, match="--since no-such-revision: "):
        changed_since("no-such-revision", ROOT)
