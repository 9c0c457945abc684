import numpy as np
import pytest
from recorded import assert_balanced, regression

from kerascope import backend as K
from kerascope.errors import ArgumentError, ShapeError
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder


def overridden(work, at, change):
    """Run with a listener that calls `change(recorder)` at the end of the op `at`."""
    recorder = Recorder()

    def listen(event):
        if (event.kind, event.name, event.ph) == ("op", at, "E"):
            change(recorder)

    recorder.listeners.append(listen)
    with observing(recorder):
        result = work()
    recorder.close()
    assert_balanced(recorder.tape)
    return recorder.tape, result


@pytest.mark.parametrize("name", ["hidden", "hidden/relu"])
def test_an_override_goes_on_through_the_call_and_is_on_the_tape(name):
    model = regression("sgd")
    x, y = np.ones((2, 3)), np.ones((2, 1))
    model.train_on_batch(x, y)
    zeros = np.zeros((2, 4))
    tape, _ = overridden(
        lambda: model.fit(x, y, verbose=0), "hidden/relu", lambda r: r.override(name, zeros)
    )
    told = tape.filter(kind="override")[0]
    names = tape.names_at(told.t)
    np.testing.assert_array_equal(names["tensor_map"]["hidden"][0], zeros)
    assert names["tensor_map"]["hidden"][0].dtype == "float32"
    after = next(e for e in tape[told.t :] if e.kind == "op" and e.ph == "B")
    np.testing.assert_array_equal(tape.names_at(after.t)["inputs"][0], zeros)
    end = next(e for e in tape[told.t :] if e.kind == "commit")
    names = tape.names_at(end.t)
    normed = names["tensor_map"]["norm"][0]  # zeros become beta
    np.testing.assert_allclose(normed, np.tile(names["weights"]["norm/beta"], (2, 1)), atol=1e-6)


def test_an_input_may_be_overridden_while_it_is_needed():
    x = K.placeholder((2,), name="x")
    f = K.function([x], [K.exp(x) + x])
    tape, outputs = overridden(
        lambda: f([np.zeros(2)]), "exp", lambda r: r.override("x", [5.0, 6.0])
    )
    np.testing.assert_array_equal(outputs[0], [6.0, 7.0])
    added = tape.filter(kind="op", name="add", ph="B")[0]
    np.testing.assert_array_equal(tape.names_at(added.t)["inputs"][1], [5.0, 6.0])


def test_overriding_with_the_same_array_changes_no_bit():
    model, twin = regression(), regression()
    twin.set_weights(model.get_weights())
    x, y = np.ones((2, 3)), np.ones((2, 1))
    same = overridden(
        lambda: model.train_on_batch(x, y),
        "hidden/relu",
        lambda r: r.override("hidden/relu", r.tape[len(r.tape) - 1].deltas[1].value),
    )[1]
    assert same == twin.train_on_batch(x, y)


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("ex", 0, ArgumentError, "Did you mean 'exp'"),
        ("exp", [1.0], ShapeError, r"expected shape \(2,\), got \(1,\)"),
        ("add", [1.0, 2.0], ArgumentError, "has no array now"),
    ],
)
def test_what_cannot_be_overridden_says_why(name, value, error, words):
    x = K.placeholder((2,), name="x")
    f = K.function([x], [K.exp(x) + x])
    caught = []

    def change(recorder):
        with pytest.raises(error, match=words):
            recorder.override(name, value)
        caught.append(True)

    _, outputs = overridden(lambda: f([np.zeros(2)]), "exp", change)
    assert caught
    np.testing.assert_array_equal(outputs[0], [1.0, 1.0])


def test_there_must_be_a_call_that_has_begun():
    with pytest.raises(ArgumentError, match="no function is being called now"):
        Recorder().override("x", 0)
