"""What people ask of a run that goes wrong, and how many keys each answer takes: at most 35.

The questions and their commands stand in docs/debugging.md; each row is executed as it stands.
Each line costs one key more than it has characters. The answer is checked against what is so.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from piped import answers, piped

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.layers import LSTM, Add, Dense, Input, Lambda, SimpleRNN
from kerascope.models import Model, Sequential
from kerascope.trace.tape import trace
from kerascope.utils import set_random_seed

MOST_KEYS, MOST_TRIES = 35, 2
pytestmark = pytest.mark.filterwarnings("ignore:fit. the loss became")


PAGE = Path(__file__).resolve().parents[2] / "docs" / "debugging.md"


def tables_of(page):
    """Return the cells of the rows of each table of a page."""
    tables, rows = [], []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
        elif rows:
            tables, rows = [*tables, rows[2:]], []
    return tables


QUESTIONS, OTHER_TRIES = tables_of(PAGE)
COMMANDS = {question: re.findall("`([^`]+)`", commands) for question, commands, *_ in QUESTIONS}
CHECKS = {}


def keys_of(lines):
    return sum(len(line) + 1 for line in lines)


def asked(program, *lines):
    """Return what each line says, in order; no question takes more than 35 keys."""
    keys = keys_of(lines)
    assert keys <= MOST_KEYS, f"{keys} keys: {lines}"
    return said_by(program, *lines)


def said_by(program, *lines):
    text = piped(program, *lines)
    times = dict.fromkeys(lines, 0)
    said = []
    for line in lines:
        said.append(answers(text, line)[times[line]])
        times[line] += 1
    return said


def answers_to(question):
    """Let a function check the answer to a question of the page.

    It is given what runs a program under the commands of the page and returns what each says.
    """

    def mark(check):
        CHECKS[question] = check
        return check

    return mark


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
    K.set_value(model.optimizer.lr, 1e-4)
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


def fit_lstm_too_far():
    """An LSTM without bounds; its state grows by a factor of a thousand in each step."""
    begin()
    options = {"activation": "linear", "recurrent_activation": "linear"}
    model = Sequential([LSTM(1, input_shape=(10, 1), name="lstm", **options)])
    # In, forget, cell, out: the state of each step is 1 + 1e5 times the one before, about.
    bias = np.array([1, 1e5, 1, 1e-5], "float32")
    kernel, recurrent = np.zeros((1, 4)), np.zeros((1, 4))
    model.layers[0].set_weights([kernel, recurrent, bias])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 10, 1)), np.ones((4, 1)), epochs=1, verbose=0)


class Square(Op):
    """x * x, whose gradient is a number times x; right is 2."""

    def __init__(self, factor):
        self.factor = factor

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x * x

    def grad(self, inputs, outputs, output_grads):
        return [self.factor * inputs[0] * output_grads[0]]


def fit_own_square(factor):
    rows = begin()
    x = Input(shape=(3,), name="x")
    own = Lambda(Square(factor), name="own")(Dense(4, name="below")(x))
    model = Model(x, Dense(1, name="last")(own))
    model.compile("sgd", "mse")
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


# --- the questions of the page --------------------------------------------------------------------


@pytest.mark.parametrize("question", COMMANDS)
def test_a_question_of_the_page_is_answered(question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CHECKS[question](lambda program: asked(program, *COMMANDS[question]))


def test_the_page_counts_the_keys_and_names_few_tries():
    for question, _, keys, tries in QUESTIONS:
        assert keys_of(COMMANDS[question]) == int(keys) <= MOST_KEYS, question
        assert int(tries) <= MOST_TRIES, question
    assert [*CHECKS] == [*COMMANDS]


@answers_to("Where does the first NaN come from, and which line of my code makes it?")
def the_first_nan(ask):
    _, stop = ask(fit_a_log)
    (caught,) = [line for line in stop if line.startswith("caught nan: logs/log: ")]
    assert caught.endswith("none went in")
    assert "test_questions.py(" in stop[0]
    assert stop[1].startswith("-> logs = Lambda(K.log")


@answers_to("In which row, and in which sample of my data?")
def the_sample_of_the_nan(ask):
    _, stop, values = ask(fit_one_bad_sample)
    assert stop[-1].startswith(f"   row 1 of batch 3 = sample {BAD}; ")
    assert values[0] == f"row 1 of batch 3 = sample {BAD}"
    assert " -1." in values[1]


@answers_to("In which batch did the loss jump?")
def the_jump(ask):
    _, table = ask(lambda: fit_plain(outlier=12))
    jumped = [line.lstrip(">~ ").split() for line in table if " x" in line]
    assert [row[2] for row in jumped][:1] == ["12"]


@answers_to("Stop when the loss exceeds 1000")
def the_loss_that_exceeds(ask):
    _, stop = ask(lambda: fit_plain(outlier=12))
    assert any("batch 12" in line for line in stop)
    assert stop[-1] == "breakpoint 1 hit: loss > 1000"


@answers_to("What changed between batch 10 and 11?")
def the_change_between_batches(ask):
    _, table = ask(lambda: fit_plain(outlier=11))
    rows = rows_by_name(table)
    assert float(rows["x"].split()[2]) > 100 * float(rows["x"].split()[1])
    assert "<-" in "".join(table)
    assert {"activations", "gradients", "weights", "hidden/kernel"} <= {*rows}


@answers_to("What if this activation were zero?")
def an_activation_of_zero(ask):
    *_, told = ask(fit_plain)
    (loss,) = [line for line in told if line.strip().startswith("loss ")]
    before, after = loss.split()[1], loss.split()[3]
    rows = begin()[12:16]
    bias = 0  # of `last`: it is as good as 0 after three batches
    assert float(after) == pytest.approx(np.mean((rows[:, :1] - bias) ** 2), rel=0.1)
    assert before != after


@answers_to("What if the input were clipped?")
def an_input_that_is_clipped(ask):
    *_, told = ask(lambda: fit_plain(outlier=3))
    (loss,) = [line for line in told if line.strip().startswith("loss ")]
    assert float(loss.split()[3]) < float(loss.split()[1]) / 100


@answers_to("A tenth of the learning rate from batch 10 to the end, with both curves")
def a_tenth_of_the_rate(ask):
    *_, table = ask(fit_plain)
    assert table[0] == "timeline 2: 10 calls computed, with the inputs of timeline 1"
    assert [len(line.split()[1]) for line in table[2:4]] == [10, 10]
    rows = [line.strip("> ").split() for line in table[6:]]
    assert [row[1] for row in rows] == [str(number) for number in range(10, 20)]
    assert [row[2] == row[3] for row in rows] == [True, *[False] * 9]
    slower = []

    def really():
        model, data, wanted = small_model()
        slower.append(losses_with_a_slower_rate(model, data, wanted))

    piped(really, "c")
    assert [float(row[3]) for row in rows] == pytest.approx(slower[0], rel=1e-3)


def small_model():
    rows = begin()
    x = Input(shape=(3,), name="x")
    model = Model(x, Dense(1, name="last")(Dense(8, "relu", name="hidden")(x)))
    model.compile("sgd", "mse")
    return model, rows, rows[:, :1].copy()


def losses_with_a_slower_rate(model, rows, wanted):
    """Return the losses of the last ten of twenty batches, all of them fed one by one."""
    losses = []
    for batch in range(20):
        if batch == 10:
            K.set_value(model.optimizer.lr, np.float32(0.01) / 10)
        place = slice(4 * batch, 4 * batch + 4)
        losses.append(float(model.train_on_batch(rows[place], wanted[place])))
    return losses[10:]


@answers_to("Which layers get no gradient, or one of zero?")
def the_gradients_of_zero(ask):
    _, table = ask(lambda: fit_blocked(lambda z: K.relu(z - 1e6)))
    rows = rows_by_name(table)
    for weight in ("below/kernel", "below/bias", "above/kernel"):
        assert "|x|=0 " in rows[weight]
    assert "|x|=0 " not in rows["above/bias"]


@answers_to("What does the second call of a layer compute?")
def the_second_call(ask):
    *_, stop = ask(fit_shared)
    assert stop[-1] == "breakpoint 1 hit: run:enc@1"
    assert "--Call-- node enc@1" in stop


@answers_to("What does the fifth call of a layer compute?")
def the_fifth_time(ask):
    *_, stop = ask(fit_plain)
    assert any("batch 4 >" in line for line in stop)


@answers_to("What does each call of a shared layer add to its gradient?")
def the_terms_of_a_gradient(ask):
    _, table = ask(fit_shared)
    row = rows_by_name(table)["enc/kernel"]
    first, second = (float(row.partition(f"enc@{n} ")[2].split()[0]) for n in (0, 1))
    assert second == pytest.approx(10 * first, rel=1e-2)  # its rows are ten times as large


def record_with_another_rate():
    with trace(statistics_only=True) as tape:
        fit_plain(rate=0.02)
    tape.save("a.jsonl")


@answers_to("How do two runs differ?")
def two_runs(ask):
    record_with_another_rate()
    _, told = ask(fit_plain)
    assert told[1].split() == ["here:", "lr", "f32[]", "0.01"]
    (apart,) = [line for line in told if line.startswith("first apart")]
    assert "epoch 0 batch 1" in apart
    assert float(rows_by_name(told)["hidden"].split()[-1]) > 0


@answers_to("In which time step does my LSTM become infinite?")
def the_time_step(ask):
    _, stop = ask(fit_lstm_too_far)
    (step,) = [line for line in stop if line.startswith("   first in step ")]
    assert step.startswith("   first in step 8 of 10")  # 1e40 is too large for float32


@answers_to("What if this layer had its output of another run?")
def an_activation_of_another_run(ask):
    said_by(lambda: fit_plain(rate=0.5), "c", "record a.jsonl")
    *_, told = ask(fit_plain)
    assert any(line.startswith("overridden hidden/relu") for line in told)
    (loss,) = [line for line in told if line.strip().startswith("loss ")]
    assert loss.split()[1] != loss.split()[3]


@answers_to("Is the gradient of my own op right?")
def the_gradient_of_an_own_op(ask):
    for factor, is_right in ((2, True), (3, False)):
        *_, told = ask(lambda factor=factor: fit_own_square(factor))
        wrong = [line for line in told if line.startswith("wrong is the gradient of ")]
        assert ("they agree" in told) is is_right
        assert [" square" in line or "own" in line for line in wrong] == [True] * (not is_right)


@answers_to("Which weight moves most?")
def the_weight_that_moves_most(ask):
    _, table = ask(fit_plain)
    rows = rows_by_name(table)
    for weight in ("hidden/kernel", "hidden/bias", "last/kernel", "last/bias"):
        assert float(rows[weight].split()[-1]) > 0


@answers_to("How did this weight change over the run?")
def the_course_of_a_weight(ask):
    *_, table = ask(fit_plain)
    assert len([line for line in table if line[:2] == "0 "]) == 20


@answers_to("What happens inside one time step?")
def the_inside_of_a_step(ask):
    _, stop = ask(fit_lstm)
    assert "lstm/scan: step 7 of 10 (0 to 9)" in stop


@answers_to("Is the run reproducible, bit for bit?")
def nothing_changed(ask):
    *_, told = ask(fit_plain)
    assert told[0].startswith("timeline 2: 17 calls computed")
    assert "they are the same bit for bit" in told


# --- other first tries ----------------------------------------------------------------------------


@pytest.mark.parametrize("row", OTHER_TRIES, ids=lambda row: row[0].replace("`", ""))
def test_another_first_try_says_what_to_type_then(row):
    commands, _, then = (re.findall("`([^`]+)`", cell) for cell in row)
    *_, told = said_by(fit_plain, *commands)
    assert then[0] in "\n".join(told)


# --- more questions -------------------------------------------------------------------------------


def test_which_layers_get_no_gradient_at_all_and_where_it_stops():
    (failed,) = asked(lambda: fit_blocked(K.sign), "c")
    (error,) = [line for line in failed if line.startswith("kerascope.errors.GradientError")]
    assert "'below/kernel' gets no gradient" in error
    assert "It stops at 'blocked/sign'" in error


def test_how_did_the_loss_go():
    _, table = asked(lambda: fit_plain(outlier=19), "c", "plot loss")
    assert table[-1].startswith("loss")
    assert max(table[1:-1], key=lambda line: line.count("█")).split()[1] == "19"


def test_the_first_call_of_a_shared_layer():
    *_, stop, name = asked(fit_shared, "b run:enc@0", "c", "p e.name")
    assert name == ["'enc@0'"]
    assert stop[-1] == "breakpoint 1 hit: run:enc@0"


def test_in_which_time_step_does_it_become_infinite():
    _, stop = asked(fit_rnn, "catch inf", "c")
    assert any(line.startswith("   first in step 7 of 10") for line in stop)


def test_how_large_were_weights_gradients_and_steps_in_each_batch():
    _, (header, *lines) = asked(fit_plain, "c", "info batches")
    assert header.split()[-4:] == ["|W|", "|g|", "|dW|/|W|", "dead"]
    assert len([line for line in lines if "t=" in line]) == 20
