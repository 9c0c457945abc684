"""The default set has some of each kind of a table's rows, and the whole run all of them."""

from thinned import thinned


def test_the_first_of_each_kind_and_every_third_after_it_are_in_the_default_set():
    rows = ["a1", "a2", "b1", "a3", "c1", "a4", "b2", "a5", "a6", "a7"]
    found = thinned(rows, kind=lambda row: row[0])
    assert [one.values[0] for one in found] == rows
    slow = [one.values[0] for one in found if [mark.name for mark in one.marks] == ["slow"]]
    assert slow == ["a2", "a3", "b2", "a5", "a6"]
    assert all(not one.marks for one in found if one.values[0] not in slow)
