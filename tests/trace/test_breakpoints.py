import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_trees import event

from kerascope.errors import ArgumentError
from kerascope.trace.breakpoints import Breakpoints
from kerascope.trace.expressions import names_of_event


def hit(breakpoints, happening):
    return breakpoints.hit(happening, lambda expression: names_of_event(happening))


def numbers_hit(breakpoints, events):
    found = [hit(breakpoints, happening) for happening in events]
    return [stop and stop.breakpoint.number for stop in found]


def times(n, **facts):
    return [event(t, **facts) for t in range(n)]


def test_the_first_breakpoint_that_is_hit_stops_and_the_others_are_not_asked():
    breakpoints = Breakpoints()
    for text in ("op:dot", "op:x", "*"):
        breakpoints.add(text)
    assert numbers_hit(breakpoints, times(2)) == [2, 2]
    assert [b.hits for b in breakpoints] == [0, 2, 0]


def test_a_temporary_breakpoint_stops_once():
    breakpoints = Breakpoints()
    breakpoints.add("*", temporary=True)
    assert numbers_hit(breakpoints, times(3)) == [1, None, None]
    assert len(breakpoints) == 0


def test_numbers_are_not_used_twice():
    breakpoints = Breakpoints()
    breakpoints.add("*")
    breakpoints.clear(1)
    assert breakpoints.add("*").number == 2


def test_a_disabled_breakpoint_neither_stops_nor_counts():
    breakpoints = Breakpoints()
    breakpoints.add("*")
    breakpoints.set_enabled(False, 1)
    assert numbers_hit(breakpoints, times(2)) == [None, None]
    breakpoints.set_enabled(True)
    assert numbers_hit(breakpoints, times(2)) == [1, 1]
    assert breakpoints.get(1).hits == 2


def test_ignored_hits_are_counted():
    breakpoints = Breakpoints()
    breakpoints.add("*")
    breakpoints.get(1).ignore = 2
    assert numbers_hit(breakpoints, times(4)) == [None, None, 1, 1]
    assert (breakpoints.get(1).hits, breakpoints.get(1).ignore) == (4, 0)


def test_a_condition_decides_and_counts_only_where_it_holds():
    breakpoints = Breakpoints()
    breakpoints.add("*, t % 2 == 1")
    breakpoints.get(1).ignore = 1
    assert numbers_hit(breakpoints, times(5)) == [None, None, None, 1, None]
    assert breakpoints.get(1).hits == 2
    breakpoints.get(1).condition = None
    assert numbers_hit(breakpoints, times(2)) == [1, 1]


def test_a_condition_that_raises_stops_with_its_error_and_a_temporary_one_stays():
    breakpoints = Breakpoints()
    breakpoints.add("*, nobody > 3", temporary=True)
    breakpoints.get(1).ignore = 5
    stop = hit(breakpoints, event())
    assert stop.error == "NameError: name 'nobody' is not defined"
    assert (stop.breakpoint.ignore, len(breakpoints)) == (5, 1)


def test_a_condition_on_the_output_is_asked_where_the_output_is():
    breakpoints = Breakpoints()
    breakpoints.add("op:x, norm(out) > 1")
    breakpoints.add("*, has_nan(out)")
    assert hit(breakpoints, event(ph="B")) is None
    assert hit(breakpoints, event(ph="E", deltas={"result": np.ones(2)})).breakpoint.number == 1
    assert hit(breakpoints, event(ph="E", deltas={"result": [np.ones(1)]})) is None
    bad = {"result": np.array([np.nan])}
    assert hit(breakpoints, event(kind="node", ph="E", deltas=bad)).breakpoint.number == 2


def test_a_comprehension_in_a_condition_sees_the_names():
    breakpoints = Breakpoints()
    breakpoints.add("*, all(norm(x) > t for x in [3, 4])")
    assert numbers_hit(breakpoints, times(5)) == [1, 1, 1, None, None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*,", "a condition is missing"),
        ("*, 1 +", "not a Python expression"),
        ("*, x = 3", "not a Python expression"),
        ("*, " + "(" * 500, "not a Python expression"),
        ("*, 'a\0b'", "not a Python expression"),
        ("phase:comit, t", "Did you mean 'commit'"),
    ],
)
def test_a_breakpoint_that_makes_no_sense_is_not_made(text, said):
    breakpoints = Breakpoints()
    with pytest.raises(ArgumentError, match=said):
        breakpoints.add(text)
    assert breakpoints.add("*").number == 1


def test_a_number_that_is_not_there_is_told_with_those_that_are():
    breakpoints = Breakpoints()
    with pytest.raises(ArgumentError, match="None is set yet"):
        breakpoints.clear(1)
    breakpoints.add("*")

    def enable(*numbers):
        return breakpoints.set_enabled(True, *numbers)

    for verb in (enable, breakpoints.clear, breakpoints.get):
        with pytest.raises(ArgumentError, match="no breakpoint 7. Use one of: 1"):
            verb(7)
    for verb in (enable, breakpoints.clear):
        with pytest.raises(ArgumentError, match="no breakpoint 7"):
            verb(1, 7)
    assert breakpoints.get(1).enabled


@given(st.text(max_size=20))
def test_any_condition_is_one_or_an_argument_error(text):
    breakpoints = Breakpoints()
    try:
        breakpoints.add(f"*, {text}")
    except ArgumentError:
        assert len(breakpoints) == 0
    else:
        assert len(breakpoints) == 1
