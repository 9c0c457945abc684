"""effort.py counts what it says: it is itself a measure that other tests rely on."""

import sys

from effort import calls_of, growth, lines_run


def each(size):
    total = 0
    for number in range(size):
        total += number
    return total


def each_pair(size):
    for _ in range(size):
        each(size)


def test_lines_are_counted_and_not_seconds():
    assert lines_run(lambda: each(10)) < lines_run(lambda: each(20))
    assert lines_run(lambda: each(50)) == lines_run(lambda: each(50))


def test_a_square_is_told_from_a_proportion():
    assert 1.5 < growth(each, 100) < 2.5
    assert 3.5 < growth(each_pair, 30) < 4.5
    assert 7 < growth(each, 100, times=8) < 9


def test_calls_can_be_those_of_one_file():
    assert calls_of(lambda: each_pair(3), __file__) == 1 + 1 + 3
    assert calls_of(lambda: each_pair(3)) > calls_of(lambda: each_pair(3), __file__)
    assert calls_of(lambda: each_pair(3), "other.py") == 0


def test_who_listened_before_listens_again():
    def listen(*told):
        pass

    before = sys.getprofile()
    sys.setprofile(listen)
    try:
        calls_of(lambda: each(3))
        assert sys.getprofile() is listen
    finally:
        sys.setprofile(before)


def test_who_traced_before_traces_again():
    before = sys.gettrace()
    lines_run(lambda: each(3))
    assert sys.gettrace() is before
