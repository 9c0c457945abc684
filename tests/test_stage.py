import contextlib
import weakref

import pytest
from interrupts import Interrupt, interrupted, moments_of

from kerascope.stage import Mark, Stage, is_watched, observing


def count_to(n):
    yield from range(n)
    return f"counted to {n}"


def outer(log):
    answer = yield Stage("inner", count_to(2))
    log.append(answer)
    yield "between"
    try:
        yield Stage("broken", failing())
    except ValueError as error:
        log.append(str(error))
    return "outer done"


def failing():
    yield "start"
    raise ValueError("broken inside")


def test_running_drains_and_returns_the_result():
    stage = Stage("count", count_to(3), subject="me")
    assert not stage.done
    assert stage.run() == "counted to 3"
    assert (stage.done, stage.result, stage.subject) == (True, "counted to 3", "me")
    assert stage.run() == "counted to 3"


def test_walking_yields_the_events_and_leaves_the_result():
    stage = Stage("count", count_to(3))
    assert list(stage) == [0, 1, 2]
    assert stage.result == "counted to 3"
    assert list(stage) == []


def test_a_stage_that_was_walked_part_of_the_way_can_be_finished():
    stage = Stage("count", count_to(3))
    assert next(iter(stage)) == 0
    assert stage.run() == "counted to 3"


def test_a_stage_prints_how_far_it_is():
    stage = Stage("count", count_to(1))
    assert repr(stage) == "<Stage count new>"
    next(iter(stage))
    assert repr(stage) == "<Stage count started>"
    stage.run()
    assert repr(stage) == "<Stage count done>"


def test_an_inner_stage_that_was_left_alone_is_drained_and_its_result_handed_back():
    log = []
    events = list(Stage("outer", outer(log)))
    assert [getattr(event, "name", event) for event in events] == ["inner", "between", "broken"]
    assert log == ["counted to 2", "broken inside"]


def test_a_walker_may_step_into_an_inner_stage():
    log, seen = [], []
    for event in Stage("outer", outer(log)):
        if isinstance(event, Stage) and event.name == "inner":
            seen = list(event)
    assert seen == [0, 1]
    assert log[0] == "counted to 2"


def test_a_walker_may_leave_an_inner_stage_in_the_middle():
    log = []
    for event in Stage("outer", outer(log)):
        if isinstance(event, Stage) and event.name == "inner":
            next(iter(event))
    assert log[0] == "counted to 2"


def test_walk_shows_inner_events_with_their_stage():
    def two_levels():
        yield "before"
        yield Stage("inner", count_to(2))
        yield "after"

    shown = [(s.name, getattr(e, "name", e)) for s, e in Stage("outer", two_levels()).walk()]
    assert shown == [
        ("outer", "before"),
        ("outer", "inner"),
        ("inner", 0),
        ("inner", 1),
        ("outer", "after"),
    ]


def test_observers_hear_every_stage_and_its_marks():
    heard = []
    with observing(lambda stage, event: heard.append((stage.name, event))):
        Stage("outer", outer([])).run()
    assert [(name, event) for name, event in heard if not isinstance(event, Stage)] == [
        ("outer", Mark.started),
        ("inner", Mark.started),
        ("inner", 0),
        ("inner", 1),
        ("inner", Mark.finished),
        ("outer", "between"),
        ("broken", Mark.started),
        ("broken", "start"),
        ("broken", Mark.failed),
        ("outer", Mark.finished),
    ]


def test_observers_add_up_and_are_gone_after_their_block():
    first, second = [], []
    with observing(lambda stage, event: first.append(event)):
        with observing(lambda stage, event: second.append(event)):
            assert is_watched()
            Stage("count", count_to(1)).run()
        Stage("count", count_to(1)).run()
    assert not is_watched()
    assert (len(first), len(second)) == (6, 3)


def test_no_interrupt_leaves_an_observer_on():
    kept = []

    def watch():
        try:
            with observing(lambda stage, event: None):
                pass
        except Interrupt as error:
            kept.append(error)  # as a terminal does: what its frames hold stays alive
            raise

    anywhere = {"where": ("stage.py", "scoped.py"), "also": (contextlib.__file__,)}
    n = moments_of(watch, **anywhere)
    assert n
    for moment in range(1, n + 1):
        at = interrupted(watch, moment, **anywhere)
        assert at is not None
        assert not is_watched(), at


def test_an_observer_that_nobody_waits_for_any_more_is_not_kept_alive():
    class Observer:
        def __call__(self, stage, event):
            pass

    observer = Observer()
    told = weakref.ref(observer)
    with observing(observer):
        del observer
        assert told() is not None
    assert told() is None


def test_a_failure_leaves_the_stage_not_done():
    stage = Stage("broken", failing())
    with pytest.raises(ValueError, match="broken inside"):
        stage.run()
    assert not stage.done


def test_names_of_a_paused_stage_are_those_of_its_source():
    def work():
        tensor_map = {"x": 1}
        yield "paused"
        tensor_map["y"] = 2
        yield "again"

    stage = Stage("work", work())
    events = iter(stage)
    next(events)
    assert stage.names == {"tensor_map": {"x": 1}}
    path, line = stage.where
    assert path == __file__
    next(events)
    assert stage.where[1] == line + 2
    assert list(events) == []
    assert (stage.names, stage.where, stage.frame) == ({}, None, None)


def test_names_are_those_of_the_innermost_generator():
    def helper():
        inner_name = "here"
        yield inner_name

    def work():
        outer_name = "there"
        yield from helper()
        return outer_name

    stage = Stage("work", work())
    next(iter(stage))
    assert stage.names == {"inner_name": "here"}
