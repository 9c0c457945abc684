"""The batches of a run as a table, and the way to each of them."""

import io
from contextlib import suppress

import numpy as np
import pytest
from piped import answers, piped

from kerascope import backend as K
from kerascope.callbacks import LambdaCallback
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.layers import Dense, Input
from kerascope.models import Model, Sequential
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape
from kerascope.utils import set_random_seed

ROWS = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
HEARD = "b weight:none"  # as long as a weight may be set, every batch is heard


def run(epochs=3, outlier=None):
    set_random_seed(1)
    K.clear_session()
    rows = ROWS.copy()
    if outlier is not None:
        rows[4 * outlier : 4 * outlier + 4] = 100
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mae", metrics=["mse"])
    model.fit(rows, rows[:, :1], batch_size=4, epochs=epochs, verbose=0, shuffle=False)


def said(text, command):
    return answers(text, command)[0]


@pytest.mark.parametrize("first", [[], [HEARD]], ids=["unheard", "heard"])
def test_each_batch_has_its_epoch_its_number_its_loss_and_metrics(first):
    text = piped(run, *first, "c", "info batches", "rs", "rs", "rs", "rs", "p total_loss")
    header, *lines = said(text, "info batches")
    names = ["t", "epoch", "batch", "loss", "mean_squared_error", "|W|", "|g|", "|dW|/|W|"]
    assert header.split() == names
    assert lines[0].split()[1:3] == ["0", "0"]
    shown = [line for line in lines if "t=" in line]
    assert any(line.startswith(f"{30 - len(shown)} more between them") for line in lines)
    sign, _, *last = shown[-1].split()
    assert sign[0] == ">"
    assert last[:2] == ["2", "9"]
    loss = float(said(text, "p total_loss")[0].split()[-1])
    assert float(last[2]) == pytest.approx(loss, rel=1e-3)
    assert [line.split()[0] for line in lines[-2:]] == ["loss", "mean_squared_error"]  # courses


def test_the_table_is_the_same_whether_the_batches_were_heard_or_not():
    unheard, heard = (
        said(piped(run, *first, "c", "info batches"), "info batches") for first in ([], [HEARD])
    )
    legend = "~ was executed again for the columns after the metrics"
    assert legend in unheard
    assert not any("~" in line for line in heard)
    plain = [line.replace("~", " ").split() for line in unheard if line != legend]
    assert plain == [line.split() for line in heard]


def test_of_a_long_run_the_batch_in_which_the_loss_jumped_is_shown():
    text = piped(lambda: run(epochs=12, outlier=6), "c", "info batches")
    lines = said(text, "info batches")
    jumped = [line.lstrip(">~ ").split() for line in lines if " x" in line]
    assert jumped
    assert {words[2] for words in jumped} == {"6"}
    assert any("more between them" in line for line in lines)


@pytest.mark.parametrize("first", [[], [HEARD]], ids=["unheard", "heard"])
def test_goto_finds_a_batch_of_an_epoch_and_of_this_one(first):
    goto = "goto epoch 1 batch 7"
    text = piped(run, *first, "c", goto, "goto batch 3", "goto epoch 2", "goto batch 9")
    assert "fit > epoch 1 > batch 7" in "".join(said(text, goto))
    assert "fit > epoch 1 > batch 3" in "".join(said(text, "goto batch 3"))
    assert "fit > epoch 2 > batch 0" in "".join(said(text, "goto epoch 2"))
    assert "fit > epoch 2 > batch 9" in "".join(said(text, "goto batch 9"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("batch 10", "*** goto batch 10: epoch 2 has had batches 0 to 9."),
        ("epoch 3", "*** goto epoch 3: there have been epochs 0 to 2."),
        ("bach 3", "*** goto: expected a time"),
        ("batch -1", "*** goto: expected a number from 0 after 'batch', got '-1'."),
    ],
)
def test_a_batch_that_is_not_there_is_told(words, told):
    assert said(piped(run, "c", f"goto {words}"), f"goto {words}")[0].startswith(told)


def test_before_the_first_batch_that_is_said():
    assert said(piped(run, "goto batch 0"), "goto batch 0") == [
        "*** goto: `fit` has trained on no batch up to here."
    ]
    nothing = ["`fit` has trained on no batch up to here"]
    assert said(piped(run, "info batches"), "info batches") == nothing


def test_steps_back_from_the_end_go_through_batches_that_nobody_heard():
    back = ["rs", "rs", "rs"]
    tapes = [
        piped(run, *first, "c", "goto epoch 1 batch 4", *back, "p total_loss")
        for first in ([], [HEARD])
    ]
    assert answers(tapes[0], "rs") == answers(tapes[1], "rs")
    assert said(tapes[0], "p total_loss") == said(tapes[1], "p total_loss")


# --- figures of batches ---------------------------------------------------------------------------


def run_deep(outlier=None, optimizer="sgd"):
    """A model with a ReLU whose last two of eight units can never come to life."""
    set_random_seed(1)
    K.clear_session()
    rows = ROWS.copy()
    if outlier is not None:
        rows[4 * outlier : 4 * outlier + 4] = 100
    hidden = Dense(8, "relu", input_shape=(3,), name="hidden")
    model = Sequential([hidden, Dense(1, name="last")])
    hidden.set_weights([hidden.get_weights()[0], np.array([0.0] * 6 + [-1e6] * 2)])
    model.compile(optimizer, "mse")
    model.fit(rows, rows[:, :1], batch_size=4, epochs=2, verbose=0, shuffle=False)


def row_of(text, epoch, batch):
    """Return the cells of a batch in `info batches` by the names of their columns."""
    header, *lines = said(text, "info batches")
    cells = [line.lstrip(">~ ").split() for line in lines if "t=" in line]
    (own,) = [row for row in cells if row[1:3] == [str(epoch), str(batch)]]
    return dict(zip(header.split(), own, strict=False))


def test_the_figures_are_those_of_the_events_of_the_batch():
    asked = {
        "|W|": "p norm([weights[k] for k in grads if k in weights])",
        "|g|": "p norm([grads[k] for k in grads if k in weights])",
    }
    ask = ["c", "info batches", "goto epoch 1 batch 2", "b phase:commit:ret", "c", *asked.values()]
    text = piped(run_deep, *ask)
    row = row_of(text, 1, 2)
    for name, command in asked.items():
        assert float(row[name]) == pytest.approx(float(said(text, command)[0]), rel=5e-3)
    rate = 0.01
    before = float(row_of(text, 1, 1)["|W|"])
    assert float(row["|dW|/|W|"]) == pytest.approx(rate * float(row["|g|"]) / before, rel=2e-2)


def test_the_share_of_units_that_were_0_for_the_whole_batch_is_told():
    row = row_of(piped(run_deep, "c", "info batches"), 0, 0)
    assert int(row["dead"]) >= 25  # two of eight, and whatever else these four rows leave at 0


def test_what_was_caught_stands_at_its_batch():
    text = piped(lambda: run_deep(outlier=6), "catch ratio>0.9", "c", "info batches")
    header, *lines = said(text, "info batches")
    caught = [line for line in lines if line.endswith("ratio")]
    assert "caught" in header
    assert len(caught) == 1
    assert caught[0].startswith(">")


def test_a_batch_that_cannot_be_executed_again_says_why_and_has_its_loss():
    def program():
        set_random_seed(1)
        rows = ROWS.copy()
        model = Sequential([Dense(1, input_shape=(3,))])
        model.compile("sgd", "mae")
        model.fit(rows, rows[:, :1], batch_size=4, epochs=2, verbose=0, shuffle=False)
        rows[...] = 7  # in place: nobody hears of it

    text = piped(program, "c", "info batches")
    lines = said(text, "info batches")
    assert any("were changed in place" in line for line in lines)
    assert len([line for line in lines if "t=" in line and "epoch" not in line]) >= 12
    assert row_of(text, 1, 3)["loss"]


def test_a_large_model_is_not_executed_again_for_a_table(monkeypatch):
    monkeypatch.setattr("kerascope.debugger.run_table.MOST_WEIGHTS", 10)
    text = piped(run_deep, "c", "info batches", "goto epoch 1 batch 2", "info batches")
    _, *lines = said(text, "info batches")
    heard = [line for line in lines if "t=" in line and len(line.split()) > 6]
    assert len(heard) == 1
    assert any(line.startswith("the model is large: `goto batch 17`") for line in lines)
    _, *later = answers(text, "info batches")[1]
    (asked,) = [line for line in later if line.startswith(">")]
    assert len(asked.split()) > 6


def test_of_a_tape_of_figures_alone_the_norms_are_known(tmp_path):
    with trace(statistics_only=True) as tape:
        run_deep()
    file = tmp_path / "t.jsonl"
    tape.save(file)
    out = io.StringIO()
    debugger = ModelDebugger(stdin=io.StringIO(), stdout=out)
    debugger.session = Session(debugger.ask, tape=Tape.load(file))
    debugger.onecmd("info batches")
    header, row, *_ = out.getvalue().splitlines()
    assert header.split()[-2:] == ["|W|", "|g|"]
    assert float(row.split()[-1]) > 0


# --- two batches side by side ---------------------------------------------------------------------


def test_what_changed_between_two_batches_stands_side_by_side():
    text = piped(lambda: run_deep(outlier=6), "c", "diff epoch 0 batch 5 6")
    lines = said(text, "diff epoch 0 batch 5 6")
    assert lines[0].split() == ["epoch", "0", "~batch", "5", "~batch", "6"]
    rows = {line.split()[0]: line.split() for line in lines[1:]}
    loss = rows["loss"]
    assert float(loss[3].removeprefix("x")) == pytest.approx(float(loss[2]) / float(loss[1]), 1e-2)
    assert float(loss[2]) > 100 * float(loss[1])
    parts = [line for line in lines if line in ("activations", "gradients", "weights before")]
    assert parts == ["activations", "gradients", "weights before"]
    assert float(rows["hidden_input"][2]) == pytest.approx(100 * 12**0.5, rel=1e-3)
    assert any("<-" in line for line in lines)


def test_weights_of_two_batches_are_compared_entry_by_entry():
    command = "diff epoch 0 batch 0 epoch 1 batch 0"
    kernel = "weights['last/kernel']"
    text = piped(
        run_deep, "c", command, "goto epoch 1 batch 0", "unt forward", f"!new = {kernel}",
        "goto epoch 0 batch 0", "unt forward", f"!old = {kernel}", "p norm(new - old) / norm(old)",
    )  # fmt: skip
    (row,) = [line.split() for line in said(text, command) if "last/kernel" in line][1:]
    change = float(said(text, "p norm(new - old) / norm(old)")[0])
    assert row[3:5] == ["changed", "by"]
    assert float(row[5]) == pytest.approx(change, rel=5e-3)


@pytest.mark.parametrize("words", ["batch 5 99", "epoch 9 batch 1 2", "batch 3", "5"])
def test_batches_that_are_not_there_are_told(words):
    assert said(piped(run_deep, "c", f"diff {words}"), f"diff {words}")[0].startswith("*** diff")


# --- one value over the batches -------------------------------------------------------------------


def test_a_weight_is_plotted_as_it_was_after_each_batch():
    text = piped(
        run_deep, "c", "plot last/kernel", "goto epoch 1 batch 2", "b phase:commit:ret", "c",
        "p norm(weights['last/kernel'])",
    )  # fmt: skip
    _, _, *lines = said(text, "plot last/kernel")
    rows = {tuple(line.split()[:2]): line.split() for line in lines}
    size = float(said(text, "p norm(weights['last/kernel'])")[0])
    assert float(rows["1", "2"][2]) == pytest.approx(size, rel=1e-3)
    assert rows["0", "0"][2] != rows["1", "9"][2]
    assert len(rows["1", "2"][-1]) == 24  # the histogram
    assert lines[-1].startswith("|x|")


def test_gradients_and_activations_and_expressions_can_be_plotted():
    asked = ["grads['last/kernel']", "hidden", "norm(hidden) / norm(last)"]
    text = piped(run_deep, "c", *[f"plot {words}" for words in asked])
    for words in asked:
        lines = said(text, f"plot {words}")
        assert len([line for line in lines if line[:1] in "01"]) >= 20, words


def test_the_loss_is_plotted_without_executing_anything(monkeypatch):
    def refuse(*args):
        raise AssertionError("nothing is to be executed again")

    monkeypatch.setattr("kerascope.trace.journal.Journal.events_of", refuse)
    lines = said(piped(run_deep, "c", "plot loss"), "plot loss")
    assert lines[0].split() == ["epoch", "batch", "loss"]
    assert lines[-1].startswith("loss")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "expected a value"),
        ("nothing", "NameError"),
        ("model", "expected numbers"),
        ("1 +", "plot"),
    ],
)
def test_what_cannot_be_plotted_is_told(words, why):
    command = f"plot {words}".strip()
    (line,) = said(piped(run_deep, "c", command), command)
    assert line.startswith("***")
    assert why in line


def test_whether_something_holds_is_plotted_as_0_and_1():
    text = piped(run_deep, "c", "plot norm(grads) >= 0", "plot loss > 1e9", "plot np.bool_(1)")
    for command, number in (("plot loss > 1e9", "0"), ("plot np.bool_(1)", "1")):
        lines = [line.split() for line in said(text, command) if line[:2] == "0 "]
        assert {line[2] for line in lines} == {number}


def test_before_the_first_batch_nothing_can_be_plotted():
    assert "no batch" in said(piped(run_deep, "plot loss"), "plot loss")[0]


# --- this run and one that was recorded -----------------------------------------------------------


def test_the_same_run_recorded_by_its_figures_alone_is_the_same(tmp_path):
    file = tmp_path / "t.jsonl"
    with trace(statistics_only=True) as tape:
        run_deep()
    tape.save(file)
    text = piped(run_deep, "c", f"diff {file}")
    assert said(text, f"diff {file}") == [f"no difference: {file} has recorded the same"]


def test_another_run_differs_from_its_first_loss_on_and_layer_by_layer(tmp_path):
    file = tmp_path / "t.jsonl"
    with trace(statistics_only=True) as tape:
        run_deep()
    tape.save(file)
    text = piped(lambda: run_deep(outlier=6), "c", f"diff {file}")
    lines = said(text, f"diff {file}")
    assert lines[0].startswith("first difference train_function t=")
    (first,) = [line.split() for line in lines if line.startswith("first apart")]
    assert first[2:6] == ["epoch", "0", "batch", "6"]
    assert float(first[-2]) > 100 * float(first[-1])
    rows = {line.split()[0]: line.split() for line in lines}
    for layer in ("hidden", "last"):
        differ, of_all = int(rows[layer][1]), int(rows[layer][3])
        assert 0 < differ < of_all
        assert float(rows[layer][-1]) > 0


def test_a_run_that_is_not_there_is_told():
    (line,) = said(piped(run_deep, "diff none.jsonl"), "diff none.jsonl")
    assert line == "*** diff: there is no file none.jsonl. `record none.jsonl` writes one."


# --- several models, several runs, and batches of one's own ---------------------------------------


def two_models(losses):
    """A model with two outputs is fitted twice; another is trained batch by batch between."""
    set_random_seed(1)
    K.clear_session()
    x = Input(shape=(3,), name="x")
    symbol = Dense(4, name="symbol")(x)
    outputs = [Dense(1, name="a")(symbol), Dense(1, name="b")(symbol)]
    first = Model(x, outputs, name="first")
    first.compile("sgd", "mse", metrics=["mae"])
    other = Sequential([Dense(1, input_shape=(3,), name="alone")], name="other")
    other.compile("sgd", "mse")
    for _ in range(2):
        first.fit(ROWS[:16], [ROWS[:16, :1]] * 2, batch_size=4, epochs=1, verbose=0, shuffle=False)
        for rows in np.split(ROWS[:12], 3):
            losses.append(other.train_on_batch(rows, rows[:, :1]))
    return first, other


def test_each_model_has_its_own_losses_under_their_names(monkeypatch):
    monkeypatch.setattr("kerascope.debugger.run_table.JUMP", 1e9)  # none is told
    losses = []
    text = piped(lambda: two_models(losses), "c", "info batches")
    header, *lines = said(text, "info batches")
    assert header.split()[:7] == ["t", "fit", "epoch", "batch", "loss", "a_loss", "b_loss"]
    rows = [line.lstrip(">~ ").split() for line in lines if "t=" in line]
    of_first = [row for row in rows if row[2] == "first"]
    of_other = [row for row in rows if row[1] == "other"]
    assert [row[1:5] for row in of_first] == [
        [fit, "first", "0", str(number)] for fit in "12" for number in range(4)
    ]
    for row in of_first:
        assert float(row[5]) == pytest.approx(float(row[6]) + float(row[7]), rel=2e-3)
    assert [row[2] for row in of_other] == list("012345")
    assert [float(row[3]) for row in of_other] == pytest.approx(losses, rel=1e-3)
    assert any(line.startswith("first a_loss") for line in lines)
    assert lines[-1].startswith("other loss")


def test_batches_of_one_s_own_are_gone_to_compared_and_plotted():
    text = piped(
        lambda: two_models([]), "c", "goto batch 4", "p e.name", "diff batch 4 5", "plot loss",
        "plot alone/kernel",
    )  # fmt: skip
    assert said(text, "p e.name") == ["'train_function'"]
    assert any(line.startswith("  alone/kernel") for line in said(text, "diff batch 4 5"))
    assert len([line for line in said(text, "plot loss") if line[:1] == "0"]) == 6
    sizes = [float(line.split()[2]) for line in said(text, "plot alone/kernel")[2:-1]]
    assert len(set(sizes)) > 1


def test_a_symbol_of_the_script_stands_for_its_layer_s_output_in_a_plot():
    def program(space):
        space["symbol"] = two_models([])[0].get_layer("symbol").output

    names = {}
    out = io.StringIO()
    commands = ["c", "goto batch 1 of first", "p type(symbol).__name__", "plot symbol", "q", ""]
    debugger = ModelDebugger(stdin=io.StringIO("\n".join(commands)), stdout=out)
    session = debugger.session = Session(debugger.ask, names=names)
    with suppress(Quitting):
        session.run(lambda: program(names))
    text = out.getvalue()
    assert said(text, "p type(symbol).__name__")[0] != "'ndarray'"
    assert len([line for line in said(text, "plot symbol") if line[:1] == "0"]) == 8


def test_a_timeline_that_was_forked_has_a_table_of_its_own():
    go = ["c", "goto epoch 1 batch 2", "set lr = 0.1", "rerun", "info batches", "diff batch 2 3"]
    text = piped(run_deep, *go, "plot lr", "timeline 1", "info batches")
    rows = [line.lstrip(">~ ").split() for line in said(text, "info batches") if "t=" in line]
    own = [line.lstrip(">~ ").split() for line in answers(text, "info batches")[1] if "t=" in line]
    assert [len(row) for row in rows] == [len(own[0])] * 20
    assert rows[:12] == own[:12]
    changes = [float(row[-3]) / float(first[-3]) for row, first in zip(rows, own, strict=True)]
    assert changes[12] == pytest.approx(10, rel=2e-2)
    assert any("gradients" in line for line in said(text, "diff batch 2 3"))
    rates = [line.split()[2] for line in said(text, "plot lr") if line[:1] in "01"]
    assert rates == ["0.01"] * 12 + ["0.1"] * 8


def fails_from(batch):
    """The loss is NaN from a batch on."""
    rows = ROWS.copy()
    rows[4 * batch] = np.nan
    set_random_seed(1)
    K.clear_session()
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mae")
    model.fit(rows, ROWS[:, :1], batch_size=4, epochs=4, verbose=0, shuffle=False)


@pytest.mark.filterwarnings("ignore:fit. the loss became")
def test_the_batch_in_which_the_loss_became_nan_is_shown_and_is_the_only_one_that_jumps():
    text = piped(lambda: fails_from(7), "c", "info batches")
    header, *lines = said(text, "info batches")
    rows = [line for line in lines if "t=" in line]
    jumps = {tuple(row.lstrip(">~ ").split()[1:3]): row[header.index("jump") :][:5] for row in rows}
    assert len(rows) < 40
    assert [(batch, word) for batch, word in jumps.items() if word.strip()] == [
        (("0", "7"), "nan  ")
    ]


def test_batches_that_cannot_be_executed_again_for_one_reason_are_told_on_one_line():
    def changes():
        rows = ROWS.copy()
        model = Sequential([Dense(1, input_shape=(3,))])
        model.compile("sgd", "mae")
        model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)
        rows += 1

    lines = said(piped(changes, "c", "info batches"), "info batches")
    (why,) = [line for line in lines if "changed in place" in line]
    assert why.startswith("batches 1, 2, 3, ... 9 (9 in all): the data were changed in place")


# --- callbacks that fail, and callbacks that train ------------------------------------------------


def fails_behind_a_batch(epoch=1, batch=3):
    """A callback fails at the end of a batch, whose loss is computed then."""
    set_random_seed(1)
    K.clear_session()
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mae")
    ends = iter(range(100))

    def end(number, logs):
        if next(ends) == epoch * 10 + batch:
            raise KeyError("a callback's own")

    callbacks = [LambdaCallback(on_batch_end=end)]
    model.fit(ROWS, ROWS[:, :1], batch_size=4, epochs=2, verbose=0, callbacks=callbacks)


@pytest.mark.parametrize("first", [[], [HEARD]], ids=["unheard", "heard"])
def test_a_batch_behind_which_a_callback_fails_has_its_loss_and_no_jump(first):
    text = piped(fails_behind_a_batch, *first, "c", "info batches", "goto batch 2", "p total_loss")
    header, *lines = said(text, "info batches")
    row = next(line for line in lines if line.startswith(">")).lstrip(">~ ").split()
    assert row[1:3] == ["1", "3"]
    assert "xinf" not in " ".join(lines)
    assert np.isfinite(float(row[header.split().index("loss")]))


def test_in_a_fork_that_batch_has_its_own_number():
    text = piped(fails_behind_a_batch, "c", "goto batch 1", "set lr = 0", "rerun")
    rows = [line.lstrip("> ").split() for line in said(text, "rerun")]
    numbers = [row[1] for row in rows if len(row) == 4 and row[0] == "1"]
    assert numbers == ["1", "2", "3"]


def trains_in_a_callback(inner_too=True):
    """At the end of some batches another model is fitted, with weights of the same names."""
    set_random_seed(1)
    K.clear_session()
    made = {}
    for name in ("outer", "inner"):
        model = made[name] = Sequential([Dense(1, input_shape=(3,), name="same")], name=name)
        model.compile("sgd", "mae")
    made["inner"].set_weights([np.full((3, 1), 50), np.zeros(1)])

    def end(number, logs):
        if number % 4 == 0 and inner_too:
            made["inner"].fit(ROWS[:8] * 100, ROWS[:8, :1], batch_size=4, epochs=1, verbose=0)

    callbacks = [LambdaCallback(on_batch_end=end)]
    settings = {"batch_size": 4, "epochs": 1, "verbose": 0, "shuffle": False}
    made["outer"].fit(ROWS, ROWS[:, :1], callbacks=callbacks, **settings)


@pytest.mark.parametrize("first", [[], [HEARD]], ids=["unheard", "heard"])
def test_a_batch_in_whose_callback_another_model_is_fitted_has_its_own_figures(first):
    text, alone = (
        piped(lambda inner=inner: trains_in_a_callback(inner), *first, "c", "info batches")
        for inner in (True, False)
    )
    _, *lines = said(text, "info batches")
    rows = [line.lstrip(">~ ").split() for line in lines if "t=" in line]
    times = [int(row[0].removeprefix("t=")) for row in rows]
    assert times == sorted(set(times))
    assert [row[1:5] for row in rows[:4]] == [
        ["1", "outer", "0", "0"], ["2", "inner", "0", "0"], ["2", "inner", "0", "1"],
        ["1", "outer", "0", "1"],
    ]  # fmt: skip
    of_outer = [row[4:] for row in rows if row[2] == "outer"]
    plain = [line.lstrip(">~ ").split() for line in said(alone, "info batches") if "t=" in line]
    assert of_outer == [row[2:] for row in plain]


def test_in_a_fork_the_batches_of_both_have_their_own_numbers():
    text = piped(trains_in_a_callback, "c", "goto 0", "tbreak batch 3", "c", "set lr=0", "rerun")
    rows = [line.lstrip("> ").split()[:3] for line in said(text, "rerun")]
    assert ["inner", "0", "1"] in rows
    assert next(row for row in rows if row[0] == "outer") == ["outer", "0", "3"]


@pytest.mark.filterwarnings("ignore:fit. the loss became")
def test_a_batch_that_has_not_ended_has_its_row_and_what_was_caught_in_it():
    go = ["catch nan", "c", "info batches", "goto batch 7", "plot loss"]
    text = piped(lambda: fails_from(7), *go)
    header, *lines = said(text, "info batches")
    rows = [line for line in lines if "t=" in line]
    assert [row.lstrip(">~ ").split()[2] for row in rows] == [*"01234567"]
    assert rows[-1].startswith(">")
    assert rows[-1].split()[-1] == "nan"
    assert "jump" not in header  # its loss is not known yet
    assert not any(row.startswith(">") or "nan" in row for row in rows[:-1])
    assert "fit > epoch 0 > batch 7" in "".join(said(text, "goto batch 7"))


def test_a_batch_that_has_not_ended_is_neither_plotted_nor_compared():
    go = ["b batch 3", "c", "plot loss", "plot dense_1/kernel", "diff batch 2 3"]
    text = piped(run, *go)
    assert [line[:1] for line in said(text, "plot loss")] == ["e", "0", "0", "0", "l"]
    assert len([line for line in said(text, "plot dense_1/kernel") if line[:1] == "0"]) == 3
    assert said(text, "diff batch 2 3")[0].startswith("*** diff: one of the batches has not ended")


def test_before_the_end_of_the_first_batch_nothing_can_be_plotted():
    text = piped(run, "b batch 0", "c", "plot loss", "info batches", "diff batch 0 0")
    assert said(text, "plot loss") == ["*** plot: `fit` has trained on no batch up to here."]
    assert len(said(text, "info batches")) == 2
