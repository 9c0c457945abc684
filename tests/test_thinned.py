"""The default set has some of each kind of a table's rows, and the whole run all of them."""

from pathlib import Path

import pytest
from thinned import EVERY, leave_out, thinned

ROOT = Path(__file__).resolve().parents[1]


def test_the_first_of_each_kind_and_every_third_after_it_are_in_the_default_set():
    rows = ["a1", "a2", "b1", "a3", "c1", "a4", "b2", "a5", "a6", "a7"]
    found = thinned(rows, kind=lambda row: row[0])
    assert [one.values[0] for one in found] == rows
    slow = [one.values[0] for one in found if [mark.name for mark in one.marks] == ["slow"]]
    assert slow == ["a2", "a3", "b2", "a5", "a6"]
    assert all(not one.marks for one in found if one.values[0] not in slow)


class Item:
    """As much of a test as is looked at."""

    def __init__(self, nodeid, *marks):
        self.nodeid, self.marks = nodeid, list(marks)

    def get_closest_marker(self, name):
        return name if name in self.marks else None

    def add_marker(self, mark):
        self.marks.append(mark.name)


def test_of_a_test_whose_rows_are_alike_the_first_and_every_so_manieth_are_taken(monkeypatch):
    monkeypatch.setitem(EVERY, "a.py", {"test": 3})
    rows = [Item(f"a.py::test[{n}]", *(["live"] if n == 1 else [])) for n in range(8)]
    others = [Item("a.py::test_other[0]"), Item("a.py::test_other[1]")]
    leave_out([*rows, *others])
    assert [row.nodeid[11] for row in rows if not row.marks] == ["0", "4", "7"]
    assert rows[1].marks == ["live"]
    assert not any(other.marks for other in others)


@pytest.mark.parametrize("file", EVERY)
def test_each_test_that_is_thinned_is_there(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [name for name in EVERY[file] if f"def {name}(" not in text] == []
