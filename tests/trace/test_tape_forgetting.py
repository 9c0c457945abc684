"""A tape's memory is bounded, events included: what is kept stays right, what is gone is told."""

import gc
import re
import tracemalloc

import numpy as np
import pytest
from interrupts import interrupted, moments_of

from kerascope.errors import ArgumentError, ConfigError
from kerascope.layers import Dense, Dropout, Input
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace import tape_memory
from kerascope.trace.events import FORGOTTEN, Delta
from kerascope.trace.history import begin_of
from kerascope.trace.recorder import Recorder
from kerascope.trace.snapshots import same
from kerascope.trace.stepper import Reason, Recording, Stepper
from kerascope.trace.tape import trace
from kerascope.trace.tape_memory import is_of_a_run, without_arrays
from kerascope.trace.tape_store import EventList, Tape
from kerascope.trace.timelines import restored

LEAST = 400_000


@pytest.fixture(autouse=True)
def little_is_kept(monkeypatch):
    monkeypatch.setattr(tape_memory, "LEAST_FOR_EVENTS", LEAST)


def trained(batches, history, statistics_only=False, epochs=2):
    """Return a tape on which a small model was built, compiled and trained."""
    with trace(history=history, statistics_only=statistics_only) as tape:
        x = Input((3,), name="x")
        y = Dense(2, activation="tanh", kernel_initializer="ones", name="a")(x)
        model = Model(x, Dense(1, kernel_initializer="ones", name="b")(y), name="small")
        model.compile("sgd", "mse")
        numbers = np.random.default_rng(0).normal(size=(2 * batches, 3)).astype("float32")
        model.fit(numbers, numbers[:, :1], epochs=epochs, batch_size=2, shuffle=False, verbose=0)
    list(tape)  # which has all events from now on, or forgets some
    return tape


@pytest.fixture(scope="module")
def full():
    return trained(30, None)


@pytest.fixture
def short(full):
    return trained(30, 2 * LEAST)


def mark_of_last(tape):
    return [event for event in tape if event.kind == FORGOTTEN][-1]


@pytest.mark.parametrize("statistics_only", [False, True])
@pytest.mark.parametrize(
    ("history", "shorter"),
    [(250_000, 12), pytest.param(2_000_000, 100, marks=pytest.mark.slow)],
)
def test_the_memory_is_bounded_however_long_it_trains(
    history, shorter, statistics_only, monkeypatch
):
    monkeypatch.setattr(tape_memory, "LEAST_FOR_EVENTS", history // 5)
    trained(2, history, statistics_only)
    sizes = []
    for batches in (shorter, 2 * shorter):
        tracemalloc.start()
        tape = trained(batches, history, statistics_only, epochs=1)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert history // 5 < tape._budget.held <= history
        assert 100 < len(list(tape)) < len(tape)
    assert max(sizes) < history


def test_all_times_stay_and_all_that_is_kept_is_right(full, short):
    assert len(short) == len(full)
    for event in short:
        if event.kind == FORGOTTEN:
            continue
        whole = full[event.t]
        assert event[:9] == whole[:9]
        names, expected = short.names_at(event.t), full.names_at(event.t)
        assert list(names) == list(expected)
        assert same(without_arrays(names), without_arrays(expected))
        assert [s.t for s in short.spans_at(event.t)] == [s.t for s in full.spans_at(event.t)]


def test_what_was_built_and_compiled_stays_and_the_end_too(full, short):
    kept = {event.t for event in short}
    assert all(e.t in kept for e in full if e.act in ("build", "compile"))
    assert all(e.t in kept for e in full if e.phase in ("gradients", "get_updates"))
    assert short[-1].t == len(short) - 1


def test_an_end_finds_its_begin_though_that_is_forgotten(full, short):
    (end,) = short.filter(kind="fit", ph="E")
    begin = begin_of(end, short)
    assert begin.kind == "fit"
    assert begin == begin_of(full[end.t], full)


def test_who_asks_for_what_is_forgotten_is_told_so(short):
    mark = mark_of_last(short)
    gone = mark.t - 5
    stepper = Stepper(Recording(short))
    for ask in (lambda: short.names_at(gone), lambda: stepper.goto(gone)):
        with pytest.raises(ArgumentError, match="are forgotten.*set history 1GB"):
            ask()
    with pytest.raises(ArgumentError, match="origin x_unheard_of.*are forgotten"):
        short.origin("x_unheard_of")
    assert short.origin("a/kernel").t > mark.t


def test_the_stepper_stops_in_front_of_what_is_forgotten_and_goes_past_it(short):
    mark = mark_of_last(short)
    stepper = Stepper(Recording(short))
    stepper.goto(mark.t + 2)
    stop = stepper.continue_back()
    assert (stop.t, stop.reason, stop.event) == (mark.t, Reason.FORGOTTEN, mark)
    back = stepper.step_back()
    assert back.t < mark.deltas[0].value
    assert stepper.continue_().t == mark.t
    assert stepper.stepi().t == mark.t + 1


def test_a_walk_back_and_on_meets_each_kept_event_once(short):
    stepper = Stepper(Recording(short), grain="detail")
    stepper.goto(len(short) - 1)
    back = [stepper.now]
    while (stop := stepper.step_back()).reason is not Reason.BEGIN:
        back.append(stop.t)
    assert back[::-1] == [event.t for event in short]


def test_a_shortened_tape_comes_back_from_a_file(short, tmp_path):
    path = tmp_path / "t.jsonl"
    short.save(path)
    loaded = Tape.load(path)
    assert loaded == short
    assert len(loaded) == len(short)
    t = mark_of_last(short).t + 1
    assert same(loaded.names_at(t), short.names_at(t))
    lines = path.read_text().split("\n")
    place = next(i for i, line in enumerate(lines) if '"forgotten"' in line)
    lines[place] = re.sub(r'"t":\d+', '"t":1', lines[place])
    path.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=f"line {place + 1}.*orgotten run"):
        Tape.load(path)


def test_tapes_are_compared_where_both_are_whole(full, short):
    assert not full.diff(Tape(list(full), None))
    again = trained(30, None)
    assert not again.diff(Tape(list(again), None))
    found = full.diff(short)
    assert found.t is None or found.t > mark_of_last(short).t


def test_a_list_of_its_events_is_a_tape_again(short):
    again = Tape(list(short), None)
    assert again == short
    assert [e.t for e in again[again[-1].t - 3 :]] == [e.t for e in short[-4:]]


def test_if_building_alone_is_too_much_the_oldest_of_that_goes():
    with trace(history=2 * LEAST) as tape:
        for _ in range(12):
            x = Input((3,))
            Model(x, Dense(1)(Dense(2)(x)))
    assert len(list(tape)) < len(tape)
    assert tape._budget.held <= 2 * LEAST
    assert tape.names_at(len(tape) - 1) is not None


# --- arrays that fell are computed again ----------------------------------------------------------


def recorded(history, batches=12):
    recorder = Recorder(history=history)
    with observing(recorder):
        x = Input((3,), name="x")
        y = Dropout(0.5, name="drop")(Dense(60, activation="tanh", name="a")(x))
        model = Model(x, Dense(1, name="b")(y), name="small")
        model.compile("adam", "mse")
        numbers = np.random.default_rng(0).normal(size=(128 * batches, 3)).astype("float32")
        model.fit(numbers, numbers[:, :1], epochs=1, batch_size=128, verbose=0)
    recorder.close()
    return recorder, model


def test_fallen_arrays_are_computed_again_and_verified():
    recorder, model = recorded(None)
    whole = Tape(list(recorder.tape), None)
    weights = model.get_weights()
    recorder.tape.history = 5_000_000
    tape, shown, refused = recorder.tape, 0, []
    for event in tape.filter(kind="op", name="a/tanh", ph="E"):
        fallen = tape.names_at(event.t)["result"]
        if isinstance(fallen, np.ndarray):
            continue
        try:
            again = restored(recorder, tape, event.t)
        except ArgumentError as error:
            refused.append(str(error))
            continue
        assert same(again.names_at(event.t)["result"], whole.names_at(event.t)["result"])
        shown += 1
    assert shown >= 2
    assert all("only statistics of its arrays are left" in text for text in refused)
    assert same(weights, model.get_weights())


def test_arrays_that_do_not_come_out_the_same_are_not_shown():
    recorder, _ = recorded(5_000_000)
    tape = recorder.tape
    event = tape.filter(kind="op", name="a/tanh", ph="E")[-1]
    restored(recorder, tape, event.t)
    wrong = without_arrays(np.full((128, 60), 0.5, "float32"))
    deltas = tuple(Delta(d.name, d.key, wrong) if d.name == "result" else d for d in event.deltas)
    tape.amend(event._replace(deltas=deltas))
    with pytest.raises(ArgumentError, match="differs at"):
        restored(recorder, tape, event.t)


@pytest.mark.parametrize("number", [0, 40, 60, 10**6])
def test_an_interrupt_while_events_are_forgotten_leaves_every_time_where_it_is(full, number):
    every = list(full)[:80]

    def filled():
        events = EventList()
        for event in every:
            events.append(event)
        return events

    def forget(events):
        events.forget(min(number, 30), is_of_a_run)
        events.forget(number, is_of_a_run)

    where = ("trace/tape_store.py",)
    n = moments_of(lambda: forget(filled()), where=where) - moments_of(filled, where=where)
    assert n
    for moment in range(1, n + 1):
        events = filled()
        at = interrupted(lambda events=events: forget(events), moment, where=where)
        assert at is not None
        assert len(events) == 80, at
        told = [events[t].t for t in range(80)]
        assert all(x == t or events[t].kind == FORGOTTEN for t, x in enumerate(told)), at
        assert told == sorted(told), at
        events.append(full[80])
        assert events[80] is full[80]
