"""What people ask of a run that goes wrong, and how many keys each answer takes: at most 35.

Each line costs one key more than it has characters. The answer is checked against what is so.
"""

import numpy as np
import pytest
from piped import answers, piped

from kerascope import backend as K
from kerascope.layers import LSTM, Add, Dense, Input, Lambda, SimpleRNN
from kerascope.models import Model, Sequential
from kerascope.trace.tape import trace
from kerascope.utils import set_random_seed

MOST_KEYS = 35
pytestmark = pytest.mark.filterwarnings("ignore:fit. the loss became")


def asked(program, *lines):
    """Return what each line says, in order; no question takes more than 35 keys."""
    keys = sum(len(line) + 1 for line in lines)
    assert keys <= MOST_KEYS, f"{keys} keys: {lines}"
    text = piped(program, *lines)
    times = dict.fromkeys(lines, 0)
    said = []
    for line in lines:
        said.append(answers(text, line)[times[line]])
        times[line] += 1
    return said


def rows_by_name(lines):
    return {line.split()[0]: line for line in lines if line.split()}


# --- programs that go wrong -----------------------------------------------------------------------


def begin():
    set_random_seed(1)
    K.clear_session()
    return np.random.default_rng(0).normal(size=(80, 3)).astype("float32")


def fit_plain(outlier=None, optimizer="sgd", rate=None):
    """Twenty batches of four rows; those of one batch may be a thousand times as large."""
    rows = begin()
    wanted = rows[:, :1].copy()
    if outlier is not None:
        rows[4 * outlier : 4 * outlier + 4] *= 1000
    x = Input(shape=(3,), name="x")
    model = Model(x, Dense(1, name="last")(Dense(8, "relu", name="hidden")(x)))
    model.compile(optimizer, "mse")
    if rate is not None:
        K.set_value(model.optimizer.lr, rate)
    model.fit(rows, wanted, batch_size=4, epochs=1, verbose=0, shuffle=False)


def fit_a_log():
    rows = begin()
    x = Input(shape=(3,), name="x")
    logs = Lambda(K.log, name="logs")(Dense(4, name="features")(x))
    model = Model(x, Dense(1, name="score")(logs))
    model.compile("sgd", "mse")
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


BAD = 13


def fit_one_bad_sample():
    """One sample has a negative number, whose logarithm is none."""
    rows = np.abs(begin()) + 0.1
    rows[BAD, 2] = -1
    x = Input(shape=(3,), name="x")
    model = Model(x, Dense(1, name="score")(Lambda(K.log, name="logs")(x)))
    model.compile("sgd", "mse")
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


def fit_blocked(block):
    """Below `blocked` no gradient arrives."""
    rows = begin()
    x = Input(shape=(3,), name="x")
    below = Dense(4, name="below")(x)
    blocked = Lambda(block, name="blocked")(below)
    model = Model(x, Dense(1, name="above")(blocked))
    model.compile("sgd", "mse")
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


def fit_shared():
    rows = begin()
    a, b = Input(shape=(3,), name="a"), Input(shape=(3,), name="b")
    enc = Dense(3, name="enc")
    model = Model([a, b], Dense(1, name="score")(Add(name="both")([enc(a), enc(b)])))
    model.compile("sgd", "mse")
    model.fit([rows, 10 * rows], rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


def fit_rnn():
    begin()
    model = Sequential([SimpleRNN(2, activation="linear", input_shape=(10, 1), name="rnn")])
    model.layers[0].set_weights([np.ones((1, 2)), 1e6 * np.eye(2), np.zeros(2)])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 10, 1)), np.ones((4, 2)), epochs=1, verbose=0)


def fit_lstm():
    begin()
    model = Sequential([LSTM(2, input_shape=(10, 1), name="lstm"), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 10, 1)), np.ones((4, 1)), epochs=1, verbose=0)


# --- the questions --------------------------------------------------------------------------------


def test_where_does_the_first_nan_come_from_and_which_line_made_it():
    _, stop = asked(fit_a_log, "catch nan", "c")
    (caught,) = [line for line in stop if line.startswith("caught nan: logs/log: ")]
    assert caught.endswith("none went in")
    assert "test_questions.py(" in stop[0]
    assert stop[1].startswith("-> logs = Lambda(K.log")


def test_which_sample_makes_the_nan():
    _, stop, values = asked(fit_one_bad_sample, "catch nan", "c", "row 1")
    assert stop[-1].startswith(f"   row 1 of batch 3 = sample {BAD}; ")
    assert values[1].startswith("x = [")
    assert " -1." in values[1]


def test_in_which_batch_did_the_loss_jump():
    _, table = asked(lambda: fit_plain(outlier=12), "c", "info batches")
    jumped = [line.lstrip(">~ ").split() for line in table if " x" in line]
    assert [row[2] for row in jumped][:1] == ["12"]


def test_how_did_the_loss_go():
    _, table = asked(lambda: fit_plain(outlier=19), "c", "plot loss")
    assert table[-1].startswith("loss")
    assert max(table[1:-1], key=lambda line: line.count("█")).split()[1] == "19"


def test_stop_when_the_loss_exceeds_1000():
    _, stop = asked(lambda: fit_plain(outlier=12), "b loss > 1000", "c")
    assert any("batch 12" in line for line in stop)
    assert stop[-1] == "breakpoint 1 hit: loss > 1000"


def test_what_changed_between_batch_11_and_12():
    _, table = asked(lambda: fit_plain(outlier=12), "c", "diff batch 11 12")
    rows = rows_by_name(table)
    assert float(rows["x"].split()[2]) > 100 * float(rows["x"].split()[1])
    assert "<-" in "".join(table)


def test_what_if_this_activation_were_0():
    *_, told = asked(fit_plain, "c", "ru batch", "set hidden = 0")
    (loss,) = [line for line in told if line.strip().startswith("loss ")]
    before, after = loss.split()[1], loss.split()[3]
    assert before != after


def test_what_if_the_input_were_clipped():
    *_, told = asked(lambda: fit_plain(outlier=19), "c", "ru batch", "set x = x.clip(-5,5)")
    (loss,) = [line for line in told if line.strip().startswith("loss ")]
    assert float(loss.split()[3]) < float(loss.split()[1]) / 100


def test_which_layers_get_a_gradient_of_0():
    dead = lambda: fit_blocked(lambda z: K.relu(z - 1e6))  # noqa: E731
    _, table = asked(dead, "unt update", "info grads")
    rows = rows_by_name(table)
    for weight in ("below/kernel", "below/bias", "above/kernel"):
        assert "|x|=0 " in rows[weight]
    assert "|x|=0 " not in rows["above/bias"]


def test_which_layers_get_no_gradient_at_all_and_where_it_stops():
    (failed,) = asked(lambda: fit_blocked(K.sign), "c")
    (error,) = [line for line in failed if line.startswith("kerascope.errors.GradientError")]
    assert "'below/kernel' gets no gradient" in error
    assert "It stops at 'blocked/sign'" in error


@pytest.mark.parametrize("call", [0, 1])
def test_the_second_call_of_a_layer(call):
    *_, stop, name = asked(fit_shared, f"b run:enc@{call}", "c", "p e.name")
    assert name == [f"'enc@{call}'"]
    assert stop[-1] == f"breakpoint 1 hit: run:enc@{call}"


def test_the_fifth_time_that_a_layer_is_called():
    *_, stop = asked(fit_plain, "b run:hidden", "ignore 1 4", "c")
    assert any("batch 4 >" in line for line in stop)


def test_what_does_each_call_of_a_shared_layer_add_to_its_gradient():
    _, table = asked(fit_shared, "unt update", "info grads")
    row = rows_by_name(table)["enc/kernel"]
    first, second = (float(row.partition(f"enc@{n} ")[2].split()[0]) for n in (0, 1))
    assert second == pytest.approx(10 * first, rel=1e-2)  # its rows are ten times as large


def test_how_do_two_runs_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with trace(statistics_only=True) as tape:
        fit_plain(rate=0.02)
    tape.save("a.jsonl")
    _, told = asked(fit_plain, "c", "diff a.jsonl")
    assert told[1].split() == ["here:", "lr", "f32[]", "0.01"]
    (apart,) = [line for line in told if line.startswith("first apart")]
    assert "epoch 0 batch 1" in apart
    rows = rows_by_name(told)
    assert float(rows["hidden"].split()[-1]) > 0


def test_in_which_time_step_does_it_become_infinite():
    _, stop = asked(fit_rnn, "catch inf", "c")
    assert any(line.startswith("   first in step 7 of 10") for line in stop)


def test_what_is_inside_of_one_time_step():
    _, stop = asked(fit_lstm, "b lstm step 7", "c")
    assert "lstm/scan: step 7 of 10 (0 to 9)" in stop


def test_which_weight_moves_most():
    _, table = asked(fit_plain, "c", "info weights")
    rows = rows_by_name(table)
    for weight in ("hidden/kernel", "hidden/bias", "last/kernel", "last/bias"):
        assert float(rows[weight].split()[-1]) > 0


def test_how_large_were_weights_gradients_and_steps_in_each_batch():
    _, (header, *lines) = asked(fit_plain, "c", "info batches")
    assert header.split()[-4:] == ["|W|", "|g|", "|dW|/|W|", "dead"]
    assert len([line for line in lines if "t=" in line]) == 20


def test_how_did_this_weight_go():
    *_, table = asked(fit_plain, "c", "plot hidden/kernel")
    assert len([line for line in table if line[:2] == "0 "]) == 20
