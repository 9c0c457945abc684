"""What watching costs, counted and not timed; times are in benchmarks/watching.py."""

import numpy as np
from effort import calls_of

from kerascope import stage
from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.stage import Stage, observing
from kerascope.trace.conditions import Catches, Condition
from kerascope.trace.events import BEGIN
from kerascope.trace.history import Landmarks
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape import trace
from kerascope.trace.tape_memory import Budget
from kerascope.trace.training_info import Memory


def chain(length):
    """Return the train function of a chain, called once, and what it is called with."""
    x = y = Input((4,))
    for _ in range(length):
        y = Dense(4, activation="tanh")(y)
    model = Model(x, y)
    model.compile("sgd", "mse")
    rows = np.ones((2, 4), "float32")
    model.train_on_batch(rows, rows)
    return model, rows


def asked(work):
    """Return how often anything of `stage.py` is called, the question for observers among it."""
    return calls_of(work, stage.__file__)


def test_off_nothing_is_asked_per_op():
    counts = []
    for length in (2, 20):
        model, rows = chain(length)
        function = model.train_function
        given = [rows, rows, np.ones(2, "float32")][: len(function.inputs)]
        counts.append(asked(lambda function=function, given=given: function(given)))
    assert counts[0] == counts[1] <= 2


def test_off_no_stage_is_made_and_on_it_is_heard():
    model, rows = chain(3)
    heard = []
    with observing(lambda stage, event: heard.append(event)):
        model.train_on_batch(rows, rows)
    ops = len(model.train_function.schedule.steps)
    assert len(heard) > ops > 10
    made = []
    before = Stage.__init__
    Stage.__init__ = lambda *args, **kwargs: made.append(1) or before(*args, **kwargs)
    try:
        function = model.train_function
        function([rows, rows, np.ones(2, "float32")][: len(function.inputs)])
    finally:
        Stage.__init__ = before
    assert made == []


def test_the_figures_of_an_array_are_computed_once_in_a_call():
    memory = Memory(statistics_only=True)
    memory.figures.may_wait = True
    array = np.arange(6.0)
    first = memory.payload(array)
    assert memory.payload(array) is first
    memory.figures.settle([array])
    assert memory.payload(array) is first
    assert first.max == 5.0
    memory.figures.settle()
    written = memory.copied(array)  # of what somebody may write into they are not kept
    array[0] = 100.0
    assert memory.copied(array) != written


def test_conditions_read_each_event_once(monkeypatch):
    model, rows = chain(2)
    with trace(model) as tape:
        for _ in range(6):
            model.train_on_batch(rows, rows)
    noted = []
    note = Landmarks._note
    monkeypatch.setattr(
        Landmarks, "_note", lambda self, event: noted.append(event.t) or note(self, event)
    )
    catches = Catches()
    catches.add("stuck<0, stuck>1000, vanishing<0, exploding>1e30, ratio>1e9")
    for event in tape:
        assert catches.findings(event, tape) == []
    assert len(noted) == len(set(noted)) <= len(tape)


def test_at_a_begin_only_what_a_function_is_fed_is_looked_at():
    model, rows = chain(2)
    with trace(model) as tape:
        model.train_on_batch(rows * np.nan, rows)
    catches = Catches()
    catches.add("nan")
    found = [event for event in tape if catches.findings(event, tape)]
    assert [(event.kind, event.ph) for event in found] == [("function", BEGIN)]


def test_one_look_at_an_array_answers_nan_and_inf(monkeypatch):
    model, rows = chain(2)
    with trace(model) as tape:
        model.train_on_batch(rows, rows)
    catches = Catches()
    catches.add("nan, inf")
    looked = []
    monkeypatch.setattr(Condition, "find", lambda self, event, events: looked.append(event))
    for event in tape:
        catches.findings(event, tape)
    assert len(looked) < len(tape) / 4


def test_a_large_array_is_counted_at_once():
    x = Input((512,))
    model = Model(x, Dense(1)(Dense(1024)(x)))
    model.compile("sgd", "mse")
    rows = np.ones((1024, 512), "float32")
    model.train_on_batch(rows, rows[:, :1])
    recorder = Recorder(history=8 * 2**20)
    recorder.know(model)
    held = []

    def listen(event):
        budget = Budget(None)
        budget.take(recorder.tape._events.kept)
        held.append(budget.bytes)

    recorder.listeners.append(listen)
    with observing(recorder):
        model.train_on_batch(rows, rows[:, :1])
    assert max(held) <= 20 * 2**20
    assert recorder.tape.held <= 8 * 2**20
