"""One batch of one model, or of one `fit`, has an address: in `goto`, `b`, `diff` and `info`."""

import numpy as np
import pytest
from piped import answers, piped, session_of

from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.optimizers import SGD
from kerascope.trace.events import SKIPPED


def network(name):
    model = Sequential([Dense(1, input_shape=(2,), name=f"{name}_last")], name=name)
    model.compile(SGD(lr=0.1), "mse")
    return model


X, Y = np.random.RandomState(0).normal(size=(12, 2)), np.ones((12, 1))


def calls_of_two():
    one, other = network("one"), network("other")
    for n in range(5):
        one.train_on_batch(X[n : n + 4], Y[:4])
        one.train_on_batch(X[n + 1 : n + 5], Y[:4])
        other.train_on_batch(X[n : n + 4], Y[:4])


def fits_of_two():
    one, other = network("one"), network("other")
    for model in (one, other, one):
        model.fit(X, Y, batch_size=4, epochs=2, verbose=0, shuffle=False)


def place(answer):
    return next(line for line in answer if " t=" in line).split("   ")[1].strip()


@pytest.mark.parametrize(
    ("address", "call"),
    [("batch 2 of one", "one, call 3"), ("batch 2 of other", "other, call 3"),
     ("batch 7", "one, call 8")],
)  # fmt: skip
def test_a_training_call_is_stopped_at_and_gone_to_by_its_number(address, call):
    text = piped(
        calls_of_two, f"tbreak {address}", "c", "c", f"goto {address}", f"tbreak {address}:ret",
        "c", f"b {address}", "rc",
    )  # fmt: skip
    assert place(answers(text, "c")[0]) == f"train_function of {call}"
    assert place(answers(text, f"goto {address}")[0]) == f"train_function of {call}"
    assert answers(text, "c")[2][-2].startswith("--Return-- function")
    assert place(answers(text, "rc")[0]) == f"train_function of {call}"


def test_goto_without_a_model_stays_with_that_of_here():
    text = piped(calls_of_two, "c", "goto batch 0 of one", "goto batch 4", "goto batch 3 of two")
    assert place(answers(text, "goto batch 4")[0]) == "train_function of one, call 5"
    assert answers(text, "goto batch 3 of two") == [
        ["*** goto: there is no batch of a model 'two'. Models with batches: one, other."]
    ]


@pytest.mark.parametrize(
    "address",
    ["fit 3 epoch 1 batch 2", "fit 3 epoch 0 batch 1", "epoch 1 batch 1 of other", "fit 2",
     "fit 3 epoch 1"],
)  # fmt: skip
def test_a_batch_of_one_fit_is_stopped_at_and_gone_to(address):
    text = piped(fits_of_two, f"b {address}", "c", "when", "clear", "c", f"goto {address}", "when")
    times = [int(answer[0].split()[0].removeprefix("t=")) for answer in answers(text, "when")]
    assert answers(text, "c")[0][-1] == f"breakpoint 1 hit: {address}"
    if "batch" in address:
        assert times[0] == times[1]
    else:  # an epoch and a fit begin before their first batch
        assert times[0] < times[1] < times[0] + (5 if "epoch" in address else 200)


def test_batches_of_two_models_or_two_fits_are_compared():
    commands = ["diff batch 0 1 of other", "diff batch 1 of one batch 2 of one"]
    text = piped(calls_of_two, "c", *commands)
    assert [answers(text, command)[0][0].split() for command in commands] == [
        ["epoch", "0", "batch", "0", "~batch", "1"],
        ["epoch", "0", "~batch", "1", "~batch", "2"],
    ]
    text = piped(fits_of_two, "c", "diff fit 1 batch 0 fit 3 batch 0", "diff fit 7 batch 0 1")
    heads = answers(text, "diff fit 1 batch 0 fit 3 batch 0")[0][0]
    assert "fit 1 " in heads
    assert "fit 3 " in heads
    assert "Fits so far: 3, counted from 1" in answers(text, "diff fit 7 batch 0 1")[0][0]


def test_calls_before_the_one_that_is_meant_are_not_heard():
    def program():
        model = network("one")
        for _ in range(60):
            model.train_on_batch(X[:4], Y[:4])

    session, text = session_of(program, "b batch 50", "c")
    assert place(answers(text, "c")[0]) == "train_function of one, call 51"
    assert any(event.kind == SKIPPED for event in session.tape)
