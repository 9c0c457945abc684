"""Batches of which nobody heard are told, when somebody asks, as if all had been heard."""

import contextlib
import itertools

import numpy as np
import pytest
from unheard_programs import (
    PROGRAMS,
    Whole,
    X,
    Y,
    debugged,
    from_a_generator_that_fills_its_buffers_anew,
    marks_of,
    plain,
    with_schedules_and_set_weights,
)

from kerascope import backend as K
from kerascope.backend.program.program import Program
from kerascope.callbacks import Callback, LambdaCallback
from kerascope.debugger.session import Session
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.stage import observing
from kerascope.trace import journal as journals
from kerascope.trace.events import BEGIN, FORGOTTEN, SKIPPED
from kerascope.trace.recorder import Recorder
from kerascope.trace.snapshots import same
from kerascope.trace.stepper import Reason
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape
from kerascope.utils import set_random_seed


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_tape_is_that_of_a_session_that_heard_all(program):
    heard, session = debugged(program, Whole), debugged(program)
    assert not marks_of(heard)
    assert marks_of(session)
    assert len(session.tape) == len(heard.tape)
    assert session.tape.counts() == heard.tape.counts()
    wrong = [
        (one.t, one.kind, one.name)
        for one, other in zip(heard.tape.whole(), session.tape.whole(), strict=True)
        if not all(map(same, one, other))
    ]
    assert not wrong


@pytest.mark.parametrize("program", PROGRAMS[2:5:2] + PROGRAMS[9:11], ids=lambda p: p.__name__)
def test_weights_have_at_every_time_the_names_and_numbers_of_then(program):
    heard, session = debugged(program, Whole), debugged(program)
    times = [*range(0, len(heard.tape), 97), len(heard.tape) - 1]
    for t in [*times[::-3], *times]:
        mine, theirs = session.tape.names_at(t), heard.tape.names_at(t)
        assert same(mine.get("weights"), theirs.get("weights")), t


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("program", PROGRAMS[7:13:2], ids=lambda p: p.__name__)
def test_whatever_time_is_asked_for_in_whatever_order_the_names_are_those_of_then(program, seed):
    heard, session = debugged(program, Whole), debugged(program)
    for t in np.random.default_rng(seed).integers(0, len(heard.tape), 12).tolist():
        assert all(map(same, session.tape[t], heard.tape[t]))
        assert same(session.tape.names_at(t), heard.tape.names_at(t))
        mine, theirs = session.tape.spans_at(t), heard.tape.spans_at(t)
        assert [e.t for e in mine] == [e.t for e in theirs]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_to_look_back_changes_no_weight_and_writes_no_program(program):
    session = debugged(program)
    functions = list(session.recorder.journal._infos)
    variables = list(session.recorder.journal._variables.values())
    before = [v.get_value() for v in variables]
    rooms = [v.room for v in variables]
    programs = [p for f in functions for p in f.programs]
    for mark in marks_of(session):
        session.tape.names_at((mark.t + int(mark.deltas[0].value)) // 2)
    assert all(
        x.tobytes() == v.get_value().tobytes() for x, v in zip(before, variables, strict=True)
    )
    assert all(room is v.room for room, v in zip(rooms, variables, strict=True))
    assert [p for f in functions for p in f.programs] == programs


def test_few_checkpoints_and_folded_batches_tell_the_same(monkeypatch):
    heard = debugged(with_schedules_and_set_weights, Whole)
    monkeypatch.setattr(journals, "APART", 3)
    monkeypatch.setattr(journals, "MOST_APART", 3)
    monkeypatch.setattr(journals, "HELD", 400)
    monkeypatch.setattr("kerascope.trace.tape_store.MOST_LOOKED_AT", 2)
    session = debugged(with_schedules_and_set_weights)
    begins = [e.t for e in heard.tape if e.kind == "batch" and e.ph == BEGIN]
    for t in (*begins[::-2], *begins[::3]):
        assert all(map(same, session.tape[t + 5], heard.tape[t + 5]))
    assert len(session.tape._events.kept) < len(heard.tape) / 3


def test_rows_beyond_the_budget_are_gone_and_that_is_said(monkeypatch):
    monkeypatch.setattr(journals, "HELD", 100)
    session = debugged(from_a_generator_that_fills_its_buffers_anew)
    first = int(marks_of(session)[0].deltas[0].value)
    with pytest.raises(ValueError, match="the inputs are gone"):
        session.tape.names_at(first)


def test_data_that_were_changed_in_place_are_told_not_used():
    rows = X.copy()

    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")
        model.fit(rows, Y, batch_size=8, epochs=3, verbose=0)

    session = debugged(program)
    rows += 1
    with pytest.raises(ValueError, match=r"the data were changed in place"):
        session.tape.names_at(marks_of(session)[-1].t)


def test_a_batch_that_fails_is_heard():
    class Trap(Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.layers[0].bias.room.flags.writeable = True

    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")
        bad = np.array([*range(39), 999])

        def batches():
            for start in range(0, 40, 8):
                rows = X[start : start + 8]
                yield (rows if bad[start + 7] < 900 else rows[:, :4]), Y[start : start + 8]

        with contextlib.suppress(ValueError):
            model.fit_generator(batches(), steps_per_epoch=5, epochs=1, verbose=0)

    heard, session = debugged(program, Whole), debugged(program)
    mine, theirs = session.tape.whole(), heard.tape.whole()
    assert [e[:8] for e in mine] == [e[:8] for e in theirs]


@pytest.mark.parametrize("t", [900, 1500])
def test_the_program_waits_at_a_time_in_the_midst_of_batches(t):
    stops = [lambda stepper: stepper.continue_(), lambda stepper: stepper.goto(t)]
    seen = []

    def note(stepper):
        seen.append((stepper.now, len(stepper.tape)))
        return stepper.continue_()

    debugged(plain, stops=[stops[1], note])
    assert seen == [(t, t + 1)]


def test_ctrl_c_stops_in_the_batch_that_comes_next():
    seen = []

    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")

        def batches():
            for n in itertools.count():
                if n == 23:
                    session.interrupt()
                yield X[:8], Y[:8]

        model.fit_generator(batches(), steps_per_epoch=30, epochs=1, verbose=0, max_queue_size=1)

    def ask(stop):
        seen.append(stop)
        return None if stop.reason is Reason.END else lambda stepper: stepper.continue_()

    session = Session(ask)
    session.run(program)
    assert session.error is None
    interrupted = [stop for stop in seen if stop.reason is Reason.INTERRUPT]
    assert len(interrupted) == 1
    assert interrupted[0].event.kind == "batch"


def test_a_long_run_takes_little_and_any_batch_of_it_is_at_hand():
    def program():
        model = Sequential([Dense(4, input_shape=(5,)), Dense(1)])
        model.compile("sgd", "mse")
        model.fit(X, Y, batch_size=8, epochs=400, verbose=0)

    session = debugged(program)
    begins = [e for e in session.tape.filter(kind="epoch", name="epoch 177") if e.ph == BEGIN]
    session.stepper.goto(begins[0].t + 60)
    assert session.tape.spans_at(session.stepper.now)[1].name == "epoch 177"
    assert not any(e.kind == FORGOTTEN for e in session.tape)
    assert session.tape.held < 30 * 2**20


def test_what_many_others_write_is_not_taken_for_what_is_set_here():
    def program():
        others = [K.variable(0.0) for _ in range(1200)]
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")

        def write(epoch, logs=None):
            for v in others[200 * epoch :][:200]:
                K.set_value(v, 1.0)

        for v in others:
            K.set_value(v, 2.0)
        model.fit(
            X, Y, batch_size=8, epochs=6, verbose=0, callbacks=[LambdaCallback(on_epoch_end=write)]
        )

    heard, session = debugged(program, Whole), debugged(program)
    assert marks_of(session)
    assert session.tape.counts() == heard.tape.counts()


def test_a_file_has_what_can_be_had_and_says_where_something_is_forgotten(monkeypatch, tmp_path):
    monkeypatch.setattr(journals, "HELD", 700)
    session = debugged(from_a_generator_that_fills_its_buffers_anew)
    session.tape.save(tmp_path / "tape.jsonl")
    read = Tape.load(tmp_path / "tape.jsonl")
    assert len(read) == len(session.tape)
    assert {e.kind for e in read} >= {"batch", FORGOTTEN}
    assert SKIPPED not in {e.kind for e in read}


BREAKPOINTS = [
    "batch 3",
    "batch 0:ret",
    "epoch 1",
    "epoch 0:ret",
    "dense_2",
    "event:callback",
    "phase:callbacks",
    "event:weight.set",
    "weight:lr",
    "train_step.py:3",
    "layer.init",
    "op:no_such",
    "batch 2, batch_index == 2 and epoch == 1",
    "loss > 100",
]


@pytest.mark.parametrize("selector", BREAKPOINTS)
def test_breakpoints_stop_where_they_would_if_all_were_heard(selector):
    def stops_of(kind):
        stops = []

        def ask(stop):
            stops.append((stop.t, stop.reason))
            return None if stop.reason is Reason.END else lambda stepper: stepper.continue_()

        set_random_seed(7)
        K.clear_session()
        session = kind(ask)
        session.stepper.breakpoints.add(selector)
        session.run(with_schedules_and_set_weights)
        assert session.error is None
        back = []
        stepper = session.stepper
        stepper.goto(len(session.tape))
        while len(back) < 8 and (not back or back[-1][1] is not Reason.BEGIN):
            stop = stepper.continue_back()
            back.append((stop.t, stop.reason))
        return stops, back, session

    heard, unheard = stops_of(Whole), stops_of(Session)
    assert unheard[2].tape.counts() == heard[2].tape.counts()
    assert unheard[0] == heard[0]
    assert unheard[1] == heard[1]
    if selector in ("batch 3", "epoch 1", "op:no_such", "train_step.py:3"):
        assert marks_of(unheard[2]) or len(unheard[2].tape._events.kept) < len(heard[2].tape)


def test_what_a_callback_raises_after_an_unheard_batch_is_told_where_it_was_raised():
    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")

        def fail(batch, logs=None):
            if batch == 3:
                raise ArithmeticError("enough")

        heard = [LambdaCallback(on_batch_end=fail)]
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=heard)

    heard, session = debugged(program, Whole), debugged(program)
    assert isinstance(session.error, ArithmeticError)
    mine, theirs = session.tape.whole(), heard.tape.whole()
    assert [e[:8] for e in mine] == [e[:8] for e in theirs]
    assert session.time_of_failure() == heard.time_of_failure()
    assert marks_of(session)


def test_what_was_fed_keeps_to_the_budget_inside_of_one_stretch(monkeypatch):
    monkeypatch.setattr(journals, "HELD", 20_000)

    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")
        for _ in range(200):
            model.train_on_batch(X, Y)

    session = debugged(program)
    assert session.recorder.journal._held <= 20_000
    last = marks_of(session)[-1]
    assert session.tape[last.t].t == last.t


@pytest.mark.parametrize("at", [2, 7, 12])
def test_ctrl_c_in_a_callback_stops_at_the_next_event(at):
    def stopped(kind):
        count = itertools.count()

        def press(batch, logs=None):
            if next(count) == at:
                session.interrupt()

        def program():
            set_random_seed(7)
            K.clear_session()
            model = Sequential([Dense(1, input_shape=(5,))])
            model.compile("sgd", "mse")
            heard = [LambdaCallback(on_batch_end=press)]
            model.fit(X, Y, batch_size=8, epochs=3, verbose=0, callbacks=heard)

        def ask(stop):
            stops.append((stop.t, stop.reason, stop.event and stop.event[:8]))
            return None if stop.reason is Reason.END else lambda stepper: stepper.continue_()

        stops = []
        session = kind(ask)
        session.run(program)
        assert session.error is None
        return stops

    assert stopped(Session) == stopped(Whole)


def test_after_a_call_that_was_heard_no_program_is_written_again(monkeypatch):
    written = []
    write = Program._write
    monkeypatch.setattr(Program, "_write", lambda self: (written.append(self), write(self))[1])

    def program():
        model = Sequential([Dense(4, activation="relu", input_shape=(5,)), Dense(1)])
        model.compile("adam", "mse")
        model.fit(X, Y, batch_size=8, epochs=4, verbose=0)
        model.predict(X, batch_size=8)
        model.fit(X, Y, batch_size=8, epochs=4, verbose=0)

    stops = [lambda s: (s.breakpoints.add("batch 3"), s.continue_())[1]]
    session = debugged(program, stops=stops)
    heard = [e for e in session.tape if e.kind == "function" and e.ph == BEGIN]
    assert len(heard) > 8
    assert len(marks_of(session)) > 8
    assert len(written) == 2  # of training, and of prediction


# --- `with trace()` -------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_trace_tells_what_it_would_have_told_if_it_had_heard_all(program):
    def traced(watch):
        set_random_seed(7)
        K.clear_session()
        with watch() as tape:
            program()
        return tape

    @contextlib.contextmanager
    def hearing():
        recorder = Recorder()
        with observing(recorder):
            yield recorder.tape
        recorder.close()

    tape, expected = traced(trace), traced(hearing)
    marks = [event for event in tape._events if event.kind == SKIPPED]
    assert marks
    assert len(tape) == len(expected)
    t = marks[-1].t - 5
    assert tape[t].kind == expected[t].kind
    assert tape == expected
    assert not [event for event in tape if event.kind == SKIPPED]


def test_who_reads_a_trace_in_a_callback_reads_all_that_was_done():
    lengths = []

    def read(batch, logs):
        lengths.append(len(tape))
        assert tape[len(tape) - 1].kind in ("callback", "callbacks")

    with trace() as tape:
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[LambdaCallback(on_batch_end=read)])
    assert len(lengths) == 5
    assert lengths == sorted(set(lengths))
    ends = [event.t for event in tape.filter(kind="batch", ph="E")]
    assert all(length <= end for length, end in zip(lengths, ends, strict=True))
