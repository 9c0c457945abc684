"""Numbers of arrays that have fallen to figures: they are computed again, or it is told why not."""

import numpy as np
import pytest
from piped import answers, piped

from kerascope.debugger.rendering import sentence
from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.trace import tape_memory
from kerascope.trace.events import FORGOTTEN
from kerascope.trace.tape import trace


def trained(batches=10):
    x = Input((64,), name="x")
    y = Dense(64, activation="relu", kernel_initializer="ones", name="d1")(x)
    model = Model(x, Dense(64, kernel_initializer="ones", name="d2")(y))
    model.compile("adam", "mse")
    rows = np.random.default_rng(0).normal(size=(32 * batches, 64)).astype("float32")
    model.fit(rows, rows, epochs=1, verbose=0, shuffle=False)


BACK = ("unt t=2700", "b phase:loss", *["rc"] * 5)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ('tensor_map["d1"][0].shape', "(32, 64)"),
        ('tensor_map["d1"][0][0, :2].size', "2"),
    ],
)
def test_numbers_that_fell_are_computed_again(expression, told):
    text = piped(trained, "set history 3MB", *BACK, f"p {expression}")
    assert told in text.splitlines()


def test_why_numbers_cannot_be_had_is_told():
    heard = "b weight:none"  # what is not heard can be executed again, whatever falls
    text = piped(
        trained, heard, "set history 1KB", *BACK, "p tensor_map", 'p tensor_map["d1"][0].sum()'
    )
    assert "only statistics of it are kept: the call at t=" in text
    assert "*** p: the call at t=" in text


def test_a_forgotten_stretch_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(tape_memory, "LEAST_FOR_EVENTS", 200_000)
    with trace(history=300_000) as tape:
        trained()
    mark = next(event for event in tape if event.kind == FORGOTTEN)
    assert sentence(mark).endswith("To keep more, begin with `set history 1GB`")
    assert "spans" not in sentence(mark)


# --- on a timeline on which something was set -----------------------------------------------------

LOOKS = ("d1[0, :3]", "d1/kernel[0, :3]", 'grads["d2/kernel"][0, :3]', "d2/kernel/m[0, :3]")


@pytest.mark.parametrize(
    "there",
    [
        ("goto batch 3", "tbreak run:d1:ret", "c", "set d1 = d1 * 0.5"),
        ("goto batch 3", "tbreak run:d1:ret", "c", "set d1 = d1 * 0.5", "rerun", "goto batch 5"),
        ("goto batch 3", "set lr = 0.5", "rerun", "goto batch 5"),
    ],
    ids=["the call", "a later one", "set between calls"],
)
def test_behind_a_set_numbers_that_fell_are_computed_again_with_what_was_set(there):
    def shown(*history):
        looks = [f"p ({look}).tolist()" for look in LOOKS]
        text = piped(trained, *history, "c", *there, "unt update", *looks)
        return [answers(text, look)[0] for look in looks]

    assert shown("set history 200KB") == shown()
    assert all(len(lines) == 1 and lines[0].startswith("[") for lines in shown())


def test_behind_a_set_of_the_program_itself_too():
    def shown(*history):
        set_live = ("tbreak run:d1:ret", "c", "set d1 = d1 * 0.5", "tbreak batch 5", "c")
        looks = [f"p ({look}).tolist()" for look in LOOKS]
        text = piped(trained, *history, *set_live, "goto batch 0", "unt update", *looks)
        return [answers(text, look)[0] for look in looks]

    assert shown("set history 200KB") == shown()
    assert all(len(lines) == 1 and lines[0].startswith("[") for lines in shown())
