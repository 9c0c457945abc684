"""The batches of a run as a table, and the way to each of them."""

import numpy as np
import pytest
from piped import answers, piped

from kerascope import backend as K
from kerascope.layers import Dense
from kerascope.models import Sequential
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
    assert header.split() == ["t", "epoch", "batch", "jump", "loss", "mean_squared_error"]
    assert lines[0].split()[1:3] == ["0", "0"]
    *_, last, more = lines
    shown = [line for line in lines if "t=" in line]
    assert more.startswith(f"{30 - len(shown)} more between them")
    assert last.split()[:1] + last.split()[2:4] == [">", "2", "9"]
    loss = float(said(text, "p total_loss")[0].split()[-1])
    assert float(last.split()[-2]) == pytest.approx(loss, rel=1e-3)


def test_the_table_is_the_same_whether_the_batches_were_heard_or_not():
    tables = [
        said(piped(run, *first, "c", "info batches"), "info batches") for first in ([], [HEARD])
    ]
    assert tables[0] == tables[1]


def test_of_a_long_run_the_batch_in_which_the_loss_jumped_is_shown():
    text = piped(lambda: run(epochs=12, outlier=6), "c", "info batches")
    lines = said(text, "info batches")
    jumped = [line.split() for line in lines if "x" in line and "epoch" not in line]
    assert jumped
    assert {words[2] for words in jumped if words[0].startswith("t=")} == {"6"}
    assert "more between them" in lines[-1]


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
        ("bach 3", "*** goto: got 'bach 3'; expected a time"),
        ("batch -1", "*** goto: got 'batch -1'; expected a time"),
    ],
)
def test_a_batch_that_is_not_there_is_told(words, told):
    assert said(piped(run, "c", f"goto {words}"), f"goto {words}")[0].startswith(told)


def test_before_the_first_batch_that_is_said():
    assert said(piped(run, "goto batch 0"), "goto batch 0") == [
        "*** goto: there has been no batch of `fit` up to here."
    ]
    nothing = ["there has been no batch of `fit` up to here"]
    assert said(piped(run, "info batches"), "info batches") == nothing


def test_steps_back_from_the_end_go_through_batches_that_nobody_heard():
    back = ["rs", "rs", "rs"]
    tapes = [
        piped(run, *first, "c", "goto epoch 1 batch 4", *back, "p total_loss")
        for first in ([], [HEARD])
    ]
    assert answers(tapes[0], "rs") == answers(tapes[1], "rs")
    assert said(tapes[0], "p total_loss") == said(tapes[1], "p total_loss")
