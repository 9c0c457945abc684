"""A fork runs on as its parent did, but for what was changed in it."""

import numpy as np
import pytest
from thinned import thinned
from unheard_programs import (
    PROGRAMS,
    Whole,
    debugged,
    what_is_set_before_a_call_that_fails,
)

from kerascope import backend as K
from kerascope.debugger.session import Session
from kerascope.trace.events import BEGIN, END
from kerascope.trace.forks import OF_THE_PARENT, Fork, begin_of_call
from kerascope.trace.snapshots import same
from kerascope.trace.stepper import Reason
from kerascope.trace.timelines import call_at, rerun_recorded, variables_of
from kerascope.utils import set_random_seed

DECIDING = (
    "with_schedules_and_set_weights",
    "of_calls_on_batches",  # it sets the weights of a layer to twice theirs
)
KINDS = [Session, pytest.param(Whole, marks=pytest.mark.slow)]
SOUND = [program for program in PROGRAMS if program is not what_is_set_before_a_call_that_fails]
SOME = thinned(SOUND, lambda program: "program")


def fork_between(session, t):
    """Return a fork that leaves a session's history behind an event, with nothing changed."""
    again = session.recorder.scratch_recorder(None)
    again.memory.copy_twins(session.recorder.memory, t)
    again.continue_from(session.tape, t + 1)
    return Fork(again, session.recorder.journal, session.tape, t + 1)


def fork_of_call(session, n, overrides=()):
    """Return a fork that begins with the call of a row, which is run again."""
    recorder, tape = session.recorder, session.tape
    _, first, end = recorder.journal.place_of(n)
    call = call_at(recorder, tape, begin_of_call(tape, first, end))
    again = rerun_recorded(recorder, tape, call, overrides)
    return Fork(again, recorder.journal, tape, call.begin, call)


def living(session):
    variables = list(session.recorder.journal._variables.values())
    return {v: (v.room, v.get_value().tobytes()) for v in variables}


def assert_is_the_same(session, fork, first):
    """Compare outputs, final variables, and the whole tape with those of the parent."""
    assert not fork.why
    mine, theirs = fork.journal.rows, session.recorder.journal.rows
    assert len(mine) == len(theirs)
    for one, other in zip(mine[first:], theirs[first:], strict=True):
        assert same(one.outs, other.outs)
    assert all(row.is_same for row in fork.losses())
    tape, again = session.tape, fork.recorder.tape
    assert len(tape) == len(again)
    wrong = [
        (one.t, one.kind, one.name)
        for one, other in zip(tape.whole(), again.whole(), strict=True)
        if not all(map(same, without_results(one), without_results(other)))
    ]
    assert not wrong


def without_results(event):
    if event.ph == END and event.grain in ("act", "phase") and event.kind != "batch":
        deltas = tuple(d for d in event.deltas if d.name not in OF_THE_PARENT)
        return event._replace(deltas=deltas)
    return event


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", SOME, ids=lambda p: p.__name__)
def test_a_fork_without_a_change_is_its_parent_bit_for_bit(program, kind):
    session = debugged(program, kind)
    before, rows = living(session), len(session.recorder.journal.rows)
    n = int(np.random.default_rng(rows).integers(1, rows - 1))
    fork = fork_of_call(session, n)
    fork.run_on()
    assert_is_the_same(session, fork, n)
    last = {v: np.frombuffer(bits, v.dtype) for v, (_, bits) in before.items()}
    was_set_behind = session.recorder.journal._pending
    for v, x in fork._values.items():
        assert v in was_set_behind or same(x.ravel(), last[v]), v.name
    after = living(session)
    assert all(after[v][0] is room and after[v][1] == bits for v, (room, bits) in before.items())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", SOME, ids=lambda p: p.__name__)
def test_so_is_one_that_leaves_between_two_calls_and_runs_on_in_steps(program, kind):
    session = debugged(program, kind)
    rng = np.random.default_rng(len(session.tape))
    calls = [e for e in session.tape.filter(kind="function", ph=BEGIN) if e.act == "function"]
    calls = [e.t for e in calls if any(d.name == "feed_names" for d in e.deltas)]
    t = int(rng.choice(calls[1:-1])) - 1
    fork = fork_between(session, t)
    while fork.run_on(int(rng.integers(1, 4))):
        pass
    fork.run_on()
    assert_is_the_same(session, fork, fork.first)


def test_a_call_that_failed_is_passed_over():
    session = debugged(what_is_set_before_a_call_that_fails)
    fork = fork_of_call(session, 1)
    fork.run_on()
    rows = session.recorder.journal.rows
    assert [row.outs for row in fork.journal.rows] == [row.outs for row in rows]
    assert len(rows) == 5
    assert fork.repeated == {"variable": 1}


# --- a change is what it would have been ----------------------------------------------------------


STEADY = [p for p in SOUND if p.__name__ not in DECIDING]


def halved(program, k, number):
    """Return a session in which a variable is halved by the program itself behind call k."""
    session = Whole(lambda stop: None if stop.reason is Reason.END else go_on)
    calls = []

    def listen(event):
        if is_end_of_call(event):
            calls.append(event)
            if len(calls) == k:
                variable = list(session.recorder.journal._variables.values())[number]
                variable.set_value(variable.get_value() / 2)

    session.recorder.listeners.append(listen)
    set_random_seed(7)
    K.clear_session()
    session.run(program)
    return session


def is_end_of_call(event):
    is_call = event.kind == "function" and event.ph == END and event.name != "make_train_function"
    return is_call and any(d.name == "outputs" for d in event.deltas)


def go_on(stepper):
    return stepper.continue_()


@pytest.mark.parametrize("program", STEADY, ids=lambda p: p.__name__)
def test_a_fork_with_another_weight_is_what_the_program_makes_of_it(program):
    session = debugged(program)
    journal = session.recorder.journal
    k = len(journal.rows) // 3
    written = {v for row in journal.rows for v in row.was_set}
    functions = [run.function for run in journal._runs[:k]]
    known = {v for f in functions for v in variables_of(f)} - written
    variables = list(journal._variables.values())
    number = next(i for i, v in enumerate(variables) if v in known and v.name.endswith("kernel"))
    variable = variables[number]
    expected = halved(program, k, number)
    theirs = list(expected.recorder.journal._variables.values())[number]
    assert (theirs.name, theirs.shape) == (variable.name, variable.shape)
    ends = [event.t for event in session.tape.whole() if is_end_of_call(event)]
    fork = fork_between(session, ends[k - 1])
    fork.override(variable, journal.values_before(k)[variable] / 2)
    fork.run_on()
    mine, others = fork.journal.rows, expected.recorder.journal.rows
    assert len(mine) == len(others) == len(journal.rows)
    assert all(same(one.outs, other.outs) for one, other in zip(mine, others, strict=True))
    assert not all(same(a.outs, b.outs) for a, b in zip(mine, journal.rows, strict=True))
    assert same(fork._values[variable], theirs.get_value())
