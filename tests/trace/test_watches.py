import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_trees import event, in_order

from kerascope.errors import ArgumentError
from kerascope.trace.breakpoints import NOTHING, Unknown, Watches
from kerascope.trace.events import Delta
from kerascope.trace.stepper import Reason, Recording, Stepper
from kerascope.trace.tape_store import Tape


def stepper_on(*events):
    return Stepper(Recording(Tape(in_order(*events))))


def changes(stepper):
    """(t, old, new) of all changes on the way to the end, and that they are found back again."""
    there, back = [], []
    while (stop := stepper.continue_()).reason != Reason.END:
        there += [(stop.t, repr(change.old), repr(change.new)) for change in stop.changes]
    while (stop := stepper.continue_back()).reason != Reason.BEGIN:
        back += [(stop.t, repr(change.old), repr(change.new)) for change in stop.changes]
    assert back == there[::-1]
    return there


def update(name, old, new):
    deltas = {"old": np.array(old, float), "new": np.array(new, float)}
    return event(kind="update.apply", name=name, deltas=deltas)


def test_a_weight_is_told_with_old_new_and_relative_change():
    stepper = stepper_on(update("a_W", [2, 0], [1, 0]), update("b", [1], [2]), update("a_W", 1, 1))
    stepper.watches.add("weight:*_W")
    stop = stepper.continue_()
    (change,) = stop.changes
    assert (stop.t, change.name, change.relative) == (0, "a_W", 0.5)
    assert (change.old.tolist(), change.new.tolist()) == ([2, 0], [1, 0])
    assert stepper.continue_().reason == Reason.END


def test_a_watch_of_weights_may_have_a_condition():
    stepper = stepper_on(update("w", 100, 101), update("w", 101, 150))
    stepper.watches.add("weight:w, relative > 0.1")
    assert stepper.continue_().t == 1


def test_a_weight_that_is_set_from_outside_is_told_too():
    deltas = (Delta("weights", "v", 1.0), Delta("weights", "w", 3.0), Delta("old", None, 2.0))
    stepper = stepper_on(event(kind="weight.set", grain="detail", name="w", deltas=deltas))
    stepper.watches.add("weight:w")
    assert changes(stepper) == [(0, "2.0", "3.0")]


def test_a_container_tells_the_keys_that_came_and_went():
    stepper = stepper_on(
        event(ph="B", deltas={"tensor_map": {"input": 1}}),
        event(depth=1, deltas=(Delta("tensor_map", "dense", 2),)),
        event(depth=1, deltas={"tensor_map": {"dense": 2}}),
        event(ph="E"),
    )
    stepper.watches.add("tensor_map")
    stops = [stepper.continue_() for _ in range(3)]
    assert [stop.changes[0].added for stop in stops] == [(), ("dense",), ()]
    assert [stop.changes[0].removed for stop in stops] == [(), (), ("input",)]
    assert stops[0].changes[0].old is NOTHING


def test_values_are_compared_by_what_they_hold():
    values = [np.ones(2), np.ones(2), np.array([1, np.nan]), np.array([1, np.nan]), 3]
    begin = event(ph="B", deltas={"g": None})
    stepper = stepper_on(begin, *(event(depth=1, deltas={"g": value}) for value in values))
    stepper.watches.add("g")
    assert [t for t, _, _ in changes(stepper)] == [0, 1, 3, 5]


@given(st.lists(st.sampled_from([("x", 1), ("x", 2), ("y", 1), ("y", 2)]), max_size=8))
def test_a_watch_stops_where_its_value_is_new_forward_and_backward(given_values):
    begin = event(ph="B", deltas={"x": 0, "y": 0})
    stepper = stepper_on(begin, *(event(depth=1, deltas={k: v}) for k, v in given_values))
    stepper.watches.add("(x, x + y)")
    expected, names = [], {"x": 0, "y": 0}
    for t, (name, value) in enumerate(given_values, 1):
        if names[name] != value:
            expected.append(t)
        names[name] = value
    assert [t for t, _, _ in changes(stepper)] == [0, *expected]


def test_what_has_no_value_yet_is_no_error():
    stepper = stepper_on(event(), event(ph="B", deltas={"x": {}}), event(depth=1, deltas={"y": 1}))
    stepper.watches.add("x['k']")
    assert changes(stepper) == [(1, "<no value yet>", "<KeyError: 'k'>")]
    assert Unknown("a b") == Unknown("a b")


def test_a_condition_that_raises_stops_with_its_error():
    stepper = stepper_on(event(ph="B", deltas={"x": 1}))
    stepper.watches.add("x, nobody")
    assert stepper.continue_().changes[0].error == "NameError: name 'nobody' is not defined"


def test_numbers_are_shared_with_breakpoints():
    stepper = stepper_on(event())
    assert stepper.breakpoints.add("*").number == 1
    assert stepper.watches.add("t").number == 2
    assert stepper.breakpoints.add("*").number == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a Python expression"),
        ("x +", "not a Python expression"),
        ("x, y, z", "got 3"),
        ("x, )", "not a Python expression"),
        ("weight:", "add a name after"),
        ("live", "live is of type object"),
    ],
)
def test_a_watch_that_makes_no_sense_is_not_made(text, said):
    watches = Watches()
    with pytest.raises(ArgumentError) as raised:
        watches.add(text, lambda expression: {"live": object()})
    assert said in str(raised.value)
    assert len(watches) == 0


def test_a_watch_that_is_not_enabled_says_nothing():
    stepper = stepper_on(update("w", 1, 2), update("w", 2, 3))
    stepper.watches.add("weight:w, relative < 9")
    stepper.watches.set_enabled(False, 1)
    assert changes(stepper) == []
    stepper.watches.set_enabled(True)
    assert [t for t, _, _ in changes(stepper)] == [0, 1]
    (watch,) = stepper.watches
    assert (watch.text, watch.condition.text) == ("weight:w", "relative < 9")
    assert (watch.enabled, watch.hits, watch.first) == (True, 4, NOTHING)


def test_watches_are_removed_by_number_or_all():
    watches = Watches()
    watches.add("a")
    watches.add("max(b, c), b > 1", lambda expression: {"b": 1, "c": 2})
    assert [(watch.text, watch.first) for watch in watches] == [("a", NOTHING), ("max(b, c)", 2)]
    with pytest.raises(ArgumentError, match="there is no watch 5. Use one of: 1, 2"):
        watches.clear(1, 5)
    assert [watch.number for watch in watches.clear(1)] == [1]
    assert len(watches.clear()) == 1


@given(st.text(max_size=20))
def test_any_text_is_a_watch_or_an_argument_error(text):
    watches = Watches()
    try:
        watches.add(text)
    except ArgumentError:
        assert len(watches) == 0
