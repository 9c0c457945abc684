"""The journal is the truth at every time, whatever is typed on the way, and computes nothing."""

import copy
import random

import numpy as np
import pytest
from debugger_programs import fit_with_dropout
from debugger_transcripts import transcript
from holding import holds_for
from hypothesis import strategies as st
from piped import answers, fit_toy, session_of

from kerascope import backend as K
from kerascope.callbacks import LambdaCallback
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout, Embedding, Input
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace.events import Event
from kerascope.trace.recorder import Recorder
from kerascope.trace.snapshots import same
from kerascope.trace.tape import Tape

# --- the names of every time ----------------------------------------------------------------------


def fit_data_that_change():
    """Masks, dropout, a shared layer, states; and a callback that writes into the data."""
    K.clear_session()
    words, x = Input(shape=(4,), name="words"), Input(shape=(3,), name="x")
    read = LSTM(3, name="read")(Embedding(7, 2, mask_zero=True, name="embedded")(words))
    shared = Dense(3, activation="relu", name="shared")
    hidden = BatchNormalization(name="norm")(shared(shared(x)))
    both = Dropout(0.4, seed=5, name="drop")(hidden)
    outputs = Dense(1, name="y")(both), Dense(1, name="z")(read)
    model = Model([words, x], list(outputs), name="mixed")
    model.compile("adam", ["mse", "mae"], metrics=["mae"])
    numbers = np.random.RandomState(2)
    data = [numbers.randint(0, 7, (6, 4)), numbers.normal(size=(6, 3))]
    targets = [np.ones((6, 1)), np.zeros((6, 1))]

    def spoil(batch, logs):
        data[1][:] = -7.0
        targets[0][:] = 9.0
        model.set_weights([w * 2 for w in model.get_weights()])

    callbacks = [LambdaCallback(on_batch_end=spoil)]
    model.fit(data, targets, batch_size=3, epochs=2, shuffle=False, verbose=0, callbacks=callbacks)
    model.predict(data, verbose=0)


@pytest.fixture(scope="module")
def told():
    """A tape, and of every time a deep copy of its names that was taken when it was the present."""
    recorder = Recorder(history=None)
    copies = []

    def listen(event: Event):
        assert event.t == len(copies)
        copies.append(copy.deepcopy(recorder.tape.names_at(event.t)))

    recorder.listeners.append(listen)
    with observing(recorder):
        fit_data_that_change()
    recorder.close()
    return recorder.tape, copies


def assert_same_names(names, expected, t):
    assert names.keys() == expected.keys(), t
    for name, value in expected.items():
        assert same(names[name], value), (t, name)


FEW_AND_ALL = [4, pytest.param(1, marks=pytest.mark.slow)]  # every fourth time, every time


@pytest.mark.parametrize("step", FEW_AND_ALL)
def test_every_time_has_the_names_that_it_had_when_it_was_the_present(told, step):
    tape, copies = told
    times = list(range(len(copies)))
    random.Random(0).shuffle(times)
    assert len(times) > 1000
    for t in times[::step]:
        assert_same_names(tape.names_at(t), copies[t], t)


@pytest.mark.parametrize("step", FEW_AND_ALL)
def test_every_time_of_a_tape_that_is_read_from_a_file_has_them_too(told, step, tmp_path):
    tape, copies = told
    tape.save(tmp_path / "t.jsonl")
    again = Tape.load(tmp_path / "t.jsonl", history=None)
    assert len(again) == len(tape)
    for t in reversed(range(0, len(copies), step)):
        assert_same_names(again.names_at(t), copies[t], t)


# --- looking changes nothing ----------------------------------------------------------------------

LOOKS = """
p model
p list(tensor_map)
p norm(ins[0])
p has_nan(out)
pp weights
pv model.output
pv model.total_loss
display list(tensor_map)
whatis ins
draw
draw term
info tensors
info grads
info updates
info weights
info nodes
info counts
w
u
a
l
retval
origin total_loss
watch weight:*
catch nan, dead
b *, has_nan(out)
p model.predict(np.ones((3, 2)), verbose=0)
p K.get_value(model.layers[0].kernel)
"""
MOVES = "s|s 7|n|r|unt|unt forward|unt backward|unt commit|rs|rs 5|rn|rr|ru forward|stepi 9|goto 20"
LINES = st.lists(st.sampled_from([*LOOKS.split("\n")[1:-1], *MOVES.split("|")]), max_size=12)


def bits(found):
    losses, weights = found
    return [np.float64(loss).tobytes() for loss in losses], [w.tobytes() for w in weights]


@pytest.fixture(scope="module")
def untraced():
    return bits(fit_with_dropout())


@holds_for(few=8, many=60, lines=LINES)
def test_losses_and_weights_are_the_same_bits_whatever_is_looked_at(untraced, lines):
    found = []
    text, session, _ = transcript(
        lambda: found.append(fit_with_dropout()), *lines, *["c"] * 300, "q"
    )
    assert session.error is None, text
    assert bits(found[0]) == untraced
    on_tape = {e.name: e.deltas[0].value for e in session.recorder.tape.filter(kind="update.apply")}
    trained = [
        w for name, w in on_tape.items() if name in ("a/kernel", "a/bias", "b/kernel", "b/bias")
    ]
    assert sorted(w.tobytes() for w in trained) == sorted(untraced[1])


def test_a_replay_has_the_same_bits_and_runs_nothing(untraced, tmp_path):
    _, session, _ = transcript(fit_with_dropout, "c", f"record {tmp_path / 't.jsonl'}", "q")
    tape = Tape.load(tmp_path / "t.jsonl")
    assert tape == session.recorder.tape
    weights = tape.names_at(len(tape) - 1)["weights"]
    trained = [weights[name].tobytes() for name in ("a/kernel", "a/bias", "b/kernel", "b/bias")]
    assert trained == untraced[1]


# --- an override that changes nothing -------------------------------------------------------------


@pytest.mark.parametrize("place", ["d1:ret", "d2:ret", "drop:ret", "op:multiply:ret", "last:ret"])
@pytest.mark.parametrize("way", ["present", "past"])
def test_an_override_by_the_same_value_changes_nothing(place, way):
    there = ["unt forward", f"tbreak {place}", "c"]
    past = ["unt commit", f"tbreak {place}", "rc"]
    _, text = session_of(
        fit_toy, *(there if way == "present" else past), "set out = out.copy()", "c", "diff 1 2"
    )
    assert answers(text, "set out = out.copy()")[0][0].startswith("overridden ")
    assert answers(text, "diff 1 2")[0][0] == "timelines 1 and 2 are the same"
