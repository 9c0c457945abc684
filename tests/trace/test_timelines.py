import numpy as np
import pytest
from span_trees import event, in_order

from kerascope.errors import ArgumentError
from kerascope.trace.stepper import Recording, Stepper
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import Override, Timelines


def tape_of(*numbers, loss=0.5):
    ops = [
        event(ph=ph, name=f"op_{i}", deltas={"result": np.array([x])} if ph == "E" else {})
        for i, x in enumerate(numbers)
        for ph in "BE"
    ]
    return Tape(in_order(*ops, event(kind="loss", deltas={"total_loss": np.float32(loss)})))


def test_a_fork_keeps_its_parent_and_inherits_what_was_changed_before():
    timelines = Timelines(tape_of(1, 2, 3))
    second = timelines.fork(3, [Override(3, "op_1", 9, "op_1 = 9")], tape_of(1, 9, 3))
    third = timelines.fork(5, [Override(5, "op_2", 0)], tape_of(1, 9, 0))
    timelines.switch(2)
    fourth = timelines.fork(3, [], tape_of(1, 2, 3))
    assert (second.parent.number, third.parent.number, fourth.parent.number) == (1, 2, 2)
    assert [o.name for o in third.overrides] == ["op_1", "op_2"]
    assert fourth.overrides == ()  # the change at t=3 is undone by a fork at t=3
    assert [one.forked_at for one in timelines] == [None, 3, 5, 3]
    assert timelines.current is fourth


def test_the_first_difference_is_found_by_name_and_content():
    timelines = Timelines(tape_of(1, 2, 3, loss=0.518))
    timelines.fork(3, [], tape_of(1, 9, 4, loss=0.4978))
    found = timelines.difference(1, 2)
    assert str(found) == (
        "first difference op_1 t=3; 2 of 3 ops differ; total_loss 0.5180 -> 0.4978"
    )
    assert found


def test_the_same_history_has_no_difference():
    timelines = Timelines(tape_of(1, float("nan")))
    timelines.fork(1, [], tape_of(1, float("nan")))
    assert not timelines.difference(1, 2)
    assert str(timelines.difference(2, 1)) == "timelines 2 and 1 are the same"


def test_a_stepper_goes_from_timeline_to_timeline_at_the_same_time():
    timelines = Timelines(tape_of(1, 2))
    timelines.fork(3, [], tape_of(1, 9))
    stepper = Stepper(Recording(timelines.get(1).tape))
    stepper.goto(3)
    assert stepper.names()["out"] == 2
    stepper.switch(Recording(timelines.current.tape), 3)
    assert (stepper.now, stepper.names()["out"]) == (3, 9)


def test_what_is_not_there_is_refused():
    timelines = Timelines(tape_of(1))
    for number in (0, 2):
        with pytest.raises(ArgumentError, match="there is only 1"):
            timelines.switch(number)
    with pytest.raises(ArgumentError, match="diff: no timeline 2"):
        timelines.difference(1, 2)
    with pytest.raises(ArgumentError, match="has no t=9; it ends at"):
        timelines.fork(9, [], Tape())
    timelines.fork(1, [], Tape())
    with pytest.raises(ArgumentError, match="there are 1 to 2"):
        timelines.switch(3)
    assert timelines.current.number == 2
