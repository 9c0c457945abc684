"""Calls that are run again from the tape: the same bit for bit, and others when that is asked."""

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.errors import ArgumentError
from kerascope.layers import Add, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.stage import observing
from kerascope.trace.function_plan import slots_by_name
from kerascope.trace.recorder import Recorder
from kerascope.trace.snapshots import same
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import Override, call_at, rerun

OF_ONE_NAME = "subclassed_inside"  # two of its variables have one name


def begins(tape):
    """Return when functions that live were called."""
    return [e.t for e in tape if e.kind == "function" and e.ph == "B" and e.act == "function"][1:]


def recorded(model, **settings):
    recorder = Recorder(**settings)
    numbers = np.random.RandomState(0)
    x = [numbers.normal(size=(4, *t.shape[1:])) for t in model.inputs]
    y = [numbers.normal(size=(4, *[size or 4 for size in t.shape[1:]])) for t in model.outputs]
    with observing(recorder):
        model.compile("adam", "mse")
        model.train_on_batch(x, y)
        model.train_on_batch(x, y)
        model.test_on_batch(x, y)
    recorder.close()
    return recorder


def dropout_model():
    return Sequential(
        [
            Dense(6, "relu", input_shape=(3,), kernel_initializer="ones", name="hidden"),
            Dropout(0.5, name="drop"),
            Dense(1, kernel_initializer="ones", name="score"),
        ]
    )


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_without_a_change_every_call_is_the_same_bit_for_bit(name):
    model = ZOO[name]()
    recorder = recorded(model)
    tape, before = recorder.tape, [w.copy() for w in model.get_weights()]
    times = begins(tape)
    assert len(times) == 3
    for t in times:
        again = rerun(recorder, tape, call_at(recorder, tape, t))
        assert again[-1].kind == "function"
        assert again[-1].ph == "E"
        assert Tape(tape[: len(again)]) == again
    assert same(before, model.get_weights())


def test_large_variables_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr("kerascope.trace.training_info.MOST_OF_TWINS", 0)
    recorder = recorded(ZOO[OF_ONE_NAME]())
    with pytest.raises(ArgumentError, match="two variables of train_function have the same name"):
        rerun(recorder, recorder.tape, call_at(recorder, recorder.tape, begins(recorder.tape)[0]))


def test_the_draws_of_a_dropout_that_is_called_twice_are_told_apart():
    a, b, drop = Input(shape=(3,)), Input(shape=(3,)), Dropout(0.5, name="drop")
    once = Dense(3, kernel_initializer="ones", name="once")
    model = Model([a, b], Add(name="sum")([drop(once(drop(a))), drop(b)]))
    recorder = recorded(model)
    for t in begins(recorder.tape):
        again = rerun(recorder, recorder.tape, call_at(recorder, recorder.tape, t))
        assert Tape(recorder.tape[: len(again)]) == again


def test_a_change_is_told_from_its_time_on():
    model = dropout_model()
    recorder = recorded(model)
    tape = recorder.tape
    relu = next(e for e in tape if e.name == "hidden/relu" and e.kind == "op" and e.ph == "E")
    call = call_at(recorder, tape, relu.t)
    again = rerun(recorder, tape, call, [Override(relu.t, "hidden", 0.0)])
    assert Tape(again[: relu.t]) == Tape(tape[: relu.t])
    assert again.diff(tape).name == "hidden/relu"
    names = again.names_at(relu.t)
    assert not names["tensor_map"]["hidden"][0].any()
    assert not names["result"].any()
    assert float(again.names_at(len(again) - 1)["total_loss"]) != float(
        tape.names_at(len(again) - 1)["total_loss"]
    )


def test_inputs_and_weights_are_changed_before_the_first_op():
    recorder = recorded(dropout_model())
    tape = recorder.tape
    call = call_at(recorder, tape, begins(tape)[0])
    changes = [Override(call.begin, "score/kernel", 0), Override(call.begin, "score/bias", 3)]
    again = rerun(recorder, tape, call, changes)
    score = next(e for e in again if e.kind == "node" and e.name == "score" and e.ph == "E")
    (result,) = [d.value for d in score.deltas if d.name == "result"]
    assert (result == 3).all()
    fed = slots_by_name(call.plan)
    (name,) = [x.name for x in call.function.inputs if fed[x.name] == 0]
    zeros = rerun(recorder, tape, call, [Override(call.begin, name, 0)])
    assert not zeros.names_at(call.begin)["inputs"][0].any()


def test_what_cannot_be_changed_changes_nothing():
    model = dropout_model()
    recorder = recorded(model)
    tape, before = recorder.tape, model.get_weights()
    call = call_at(recorder, tape, begins(tape)[0])
    for name, value, words in (
        ("scor", 0, "Did you mean 'score'"),
        ("score", 0, "not computed yet"),
        ("hidden", np.zeros(7), "got shape"),
        ("hidden", "much", "got 'much'"),
    ):
        hidden = next(e for e in tape[call.begin :] if e.name == "hidden" and e.ph == "E")
        with pytest.raises(ArgumentError, match=words):
            rerun(recorder, tape, call, [Override(hidden.t, name, value)])
    assert same(before, model.get_weights())
    with pytest.raises(ArgumentError, match="no function is being called"):
        call_at(recorder, tape, 0)


def test_figures_alone_are_not_enough():
    recorder = recorded(dropout_model(), statistics_only=True)
    call = call_at(recorder, recorder.tape, begins(recorder.tape)[0])
    with pytest.raises(ArgumentError, match="only statistics of its arrays are left"):
        rerun(recorder, recorder.tape, call)


def test_nobody_hears_that_a_call_is_run_again():
    recorder = recorded(dropout_model())
    heard = []
    with observing(lambda stage, event: heard.append(event)):
        rerun(recorder, recorder.tape, call_at(recorder, recorder.tape, begins(recorder.tape)[0]))
    assert heard == []


def test_a_function_of_ones_own_is_run_again():
    x, w = K.placeholder((2,), name="x"), K.variable([1.0, 2.0], name="w")
    function = K.function([x], [x * w], updates=[(w, w + x)], name="mine")
    recorder = Recorder()
    with observing(recorder):
        function([[3.0, 4.0]])
        function([[3.0, 4.0]])
    tape = recorder.tape
    calls = [e.t for e in tape if e.kind == "function" and e.ph == "B"]
    again = rerun(recorder, tape, call_at(recorder, tape, calls[0]), [Override(calls[0], "w", 0)])
    assert again.names_at(len(again) - 1)["outputs"][0].tolist() == [0.0, 0.0]
    assert K.get_value(w).tolist() == [7.0, 10.0]
