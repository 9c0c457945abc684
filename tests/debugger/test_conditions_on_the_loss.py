"""`b loss > 1000`: programs run at their own speed, and stop in the batches that meet it."""

import pytest
from piped import answers, piped
from unheard_programs import PROGRAMS, Whole, X, Y, debugged, marks_of

from kerascope import backend as K
from kerascope.backend import variables
from kerascope.backend.graph import Op
from kerascope.debugger.session import Session
from kerascope.layers import Dense, Lambda
from kerascope.models import Sequential
from kerascope.trace.stepper import Reason
from kerascope.utils import set_random_seed

SOME = "loss * 1e4 % 5 < 1.5"  # as good as drawn at random


class Asked:
    """Goes on at each stop, and keeps where it was; conditions are set before the first event."""

    def __init__(self, *conditions):
        self.conditions = conditions
        self.stops = []
        self.has_begun = False

    def __call__(self, kind):
        asked = self

        class Told(kind):
            def __init__(self, ask):
                super().__init__(asked.ask)

        return Told

    def ask(self, stop):
        if stop.reason is Reason.END:
            return None
        if not self.has_begun:
            return self.begin
        self.stops.append((stop.t, stop.event.name, stop.event.deltas))
        return lambda stepper: stepper.continue_()

    def begin(self, stepper):
        self.has_begun = True
        for condition in self.conditions:
            stepper.breakpoints.add(condition)
        return stepper.continue_()


def stops_of(program, kind, *conditions):
    asked = Asked(*conditions)
    session = debugged(program, asked(kind))
    variables = session.recorder.journal._variables.values()
    values = sorted((v.name, v.get_value().tobytes()) for v in variables)
    return asked.stops, values, session


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_it_stops_where_it_would_if_all_were_heard_and_leaves_the_same_behind(program):
    stops, values, _ = stops_of(program, Session, SOME)
    as_heard, *_ = stops_of(program, Whole, SOME)
    assert [stop[:2] for stop in stops] == [stop[:2] for stop in as_heard]
    assert repr(stops) == repr(as_heard)
    if values:
        _, plain, _ = stops_of(program, Session)
        assert values == plain


def fit(epochs=4):
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), Dense(1)])
    model.compile("adam", "mse")
    model.fit(X, Y, batch_size=8, epochs=epochs, verbose=0)


@pytest.mark.parametrize("condition", ["loss > 1e9", "total_loss > 1e9", "np.isnan(loss)"])
def test_batches_that_do_not_meet_it_are_not_heard(condition):
    *_, session = stops_of(fit, Session, condition)
    (_, plain) = stops_of(fit, Session)[0], stops_of(fit, Session)[2]
    assert [mark.t for mark in marks_of(session)] == [mark.t for mark in marks_of(plain)]


def test_nothing_is_lent_for_it_so_the_program_is_not_written_again(monkeypatch):
    lend, lent, counts = variables.lend, [], []
    monkeypatch.setattr(variables, "lend", lambda v: (lent.append(v), lend(v))[1])
    for conditions in ((), ("loss > 1e9",)):
        lent.clear()
        stops_of(lambda: fit(epochs=12), Session, *conditions)
        counts.append(len(lent))
    assert counts[0] == counts[1]


def test_the_ways_back_and_on_through_the_past_stop_there_too():
    (hits, *_) = stops_of(fit, Session, SOME)
    times = [t for t, *_ in hits]
    assert len(times) > 3
    commands = ["c", f"b {SOME}", *["rc"] * 3, *["c"] * 2]
    text = piped(lambda: seeded(fit), *commands)
    back = [time_in(lines) for lines in answers(text, "rc")]
    assert back == times[:-4:-1]
    assert [time_in(lines) for lines in answers(text, "c")[1:]] == times[-2:]


def seeded(program):
    set_random_seed(7)
    K.clear_session()
    program()


def time_in(lines):
    return int(next(line.split("t=")[1] for line in lines if "t=" in line))


def test_hits_that_are_ignored_count_and_a_temporary_one_stops_once():
    (hits, *_) = stops_of(fit, Session, SOME)
    text = piped(lambda: seeded(fit), f"b {SOME}", "ignore 1 2", "c", "info breaks")
    assert time_in(answers(text, "c")[0]) == hits[2][0]
    assert "already hit 3 times" in "".join(answers(text, "info breaks")[0])
    text = piped(lambda: seeded(fit), f"tbreak {SOME}", "c", "c")
    assert "the program has ended" in "".join(answers(text, "c")[1])


def test_a_condition_that_fails_stops_and_says_why():
    text = piped(lambda: seeded(fit), "b loss > missing", "c")
    assert any("missing" in line for line in answers(text, "c")[0])
    text = piped(lambda: seeded(fit), "b loss[3] > 1", "c")
    assert any(line.startswith("*** condition:") for line in answers(text, "c")[0])


class Counting(Op):
    """Gives what it gets, and counts how often it is performed."""

    performed = 0

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        Counting.performed += 1
        return x

    def grad(self, inputs, outputs, output_grads):
        return output_grads


def test_an_op_that_may_do_something_else_too_is_performed_once_a_batch():
    def program():
        model = Sequential([Dense(4, input_shape=(5,)), Lambda(Counting()), Dense(1)])
        model.compile("sgd", "mse")
        Counting.performed = 0
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)

    stops, *_ = stops_of(program, Whole, "loss > -1")
    assert len(stops) == Counting.performed == 10
    stops, *_ = stops_of(program, Session, "loss > -1")
    assert len(stops) == Counting.performed == 10


def test_the_loss_is_that_of_the_run_whatever_the_script_calls_loss():
    names = {"loss": "mse"}

    def program():
        model = Sequential([Dense(1, input_shape=(5,))])
        model.compile("sgd", "mse")
        for scale in (1, 1, 1000, 1):
            names["loss"] = float(model.train_on_batch(X * scale, Y))

    asked = Asked("loss > 10000")

    class Named(Session):
        def __init__(self, ask):
            super().__init__(asked.ask, names=names)

    debugged(program, Named)
    assert len(asked.stops) == 2  # the weights are spoilt from there on
    assert names["loss"] > 0
    assert asked.stops[0][1] == "loss/multiply"
