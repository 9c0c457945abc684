"""What a call of a train function tells of models that are less plain than a chain."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.atomic import replace_arrays
from kerascope.backend.function import Function
from kerascope.backend.graph import Op
from kerascope.backend.schedule import Schedule
from kerascope.layers import Dense, Dropout, Input, concatenate
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace import training_info
from kerascope.trace.event_writer import line_of_use
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.tape import trace


def test_a_nested_model_ends_with_all_its_outputs():
    x = Input((4,))
    inner = Model(x, [Dense(2)(x), Dense(3)(x)], name="inner")
    y = Input((4,))
    model = Model(y, Dense(1)(concatenate(inner(y))))
    model.compile("sgd", "mse")
    with trace(model) as tape:
        model.train_on_batch(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"))
    (end,) = [e for e in tape.filter("node", "inner", ph="E") if e.phase == "forward"]
    ((name, _, results),) = end.deltas
    assert name == "result"
    assert [result.shape for result in results] == [(8, 2), (8, 3)]


def test_losses_that_were_added_alone_are_a_phase():
    x = Input((4,))
    z = Dense(2, name="z")(x)
    y = Dense(4, name="y")(z)
    model = Model(x, y)
    model.add_loss(K.mean(K.square(y - x)) + K.mean(K.square(z)))
    with trace() as tape:
        model.compile("sgd")
        model.fit(np.ones((8, 4), "float32"), epochs=1, verbose=0)
    phases = [e.kind for e in tape if e.grain == "phase" and e.ph == "B" and e.act == "function"]
    assert phases[-5:] == ["forward", "loss", "backward", "update", "commit"]
    inside = {e.name for e in tape.filter("op", phase="loss", ph="E")}
    assert "y/dot" not in inside
    assert len(inside) == 6


def test_after_a_commit_the_origin_of_a_weight_is_its_own_update():
    x = Input((4,))
    model = Model(x, Dense(1, name="b")(Dense(2, name="a")(x)))
    model.compile("sgd", "mse")
    with trace(model) as tape:
        model.train_on_batch(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"))
    for name in ("a/kernel", "a/bias", "b/kernel", "b/bias"):
        event = tape.origin(name)
        assert (event.kind, event.name) == ("update.apply", name)


def test_of_many_calls_only_the_last_twins_are_kept(monkeypatch):
    monkeypatch.setattr(training_info, "MOST_CALLS_OF_TWINS", 3)
    kept = []
    started = FunctionRecorder.started
    monkeypatch.setattr(
        FunctionRecorder,
        "started",
        lambda self: (started(self), kept.append(len(self.recorder.memory._twin_values)))[0],
    )
    x = Input((4,))
    drop = Dropout(0.5)
    model = Model(x, Dense(1)(concatenate([drop(x), drop(x)])))
    model.compile("sgd", "mse")
    recorder = Recorder()
    recorder.know(model)
    with observing(recorder):
        for _ in range(6):
            model.train_on_batch(np.ones((8, 4), "float32"), np.ones((8, 1), "float32"))
    assert kept == [1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("used", [Op.perform, Schedule.start, replace_arrays])
def test_the_lines_that_events_tell_are_found(used):
    assert line_of_use(Function._events, used) > Function._events.__code__.co_firstlineno
