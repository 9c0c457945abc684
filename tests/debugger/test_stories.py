"""Five detective stories: what went wrong, found with fewer than fifteen commands each."""

import re
import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from piped import answers, piped

from kerascope import backend as K
from kerascope.initializers import Constant
from kerascope.layers import Concatenate, Dense, Input, Lambda
from kerascope.models import Model, Sequential

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MOST_COMMANDS = 15


def investigate(program, *commands):
    """Return what the debugger says; a story has fewer than fifteen commands."""
    assert len(commands) < MOST_COMMANDS
    return piped(program, *commands)


def said(text, command, time=0):
    return answers(text, command)[time]


def rows(text, command, time=0):
    """Return the words of each line of a table, by the first of them."""
    return {line.split()[0]: line for line in said(text, command, time)}


# --- 1. a NaN is born in a log, two layers before the loss ----------------------------------------


def fit_with_a_log():
    x = Input(shape=(4,), name="x")
    h = Dense(8, activation="relu", kernel_initializer="ones", name="features")(x)
    h = Lambda(lambda z: K.log(z - 1), name="logs")(h)
    h = Dense(4, kernel_initializer="ones", name="mix")(h)
    model = Model(x, Dense(1, kernel_initializer="ones", name="score")(h), name="with_log")
    model.compile("sgd", "mse")
    x = np.arange(32.0).reshape(8, 4) / 32
    model.fit(x, np.ones((8, 1)), epochs=1, shuffle=False, verbose=0)


@pytest.mark.filterwarnings("ignore:fit. the loss became nan")
def test_the_nan_is_found_at_its_producer_and_not_in_the_loss():
    text = investigate(
        fit_with_a_log, "catch nan", "c", "p float(ins[0].min())", "clear nan", "unt backward",
        "p has_nan(total_loss)", "origin logs/log",
    )  # fmt: skip
    stop = said(text, "c")
    assert stop[-2] == "caught nan: logs/log: 16 of 64 NaN in logs/log; none went in"
    assert stop[-1].startswith("   rows 0, 1 of batch 0; row 0 = sample 0; ")
    assert stop[-3].startswith("--Return-- op logs/log = log -> f32[8,8] 16 NaN!")
    assert said(text, "p float(ins[0].min())") == ["-0.8125"]  # a log of something negative
    where, what, line = said(text, "origin logs/log")
    assert where.startswith("t=")
    assert where.endswith("forward > depth 2 > logs > log")
    assert "16 NaN!" in what
    assert "K.log(z - 1)" in line
    assert said(text, "p has_nan(total_loss)") == ["True"]  # where one would have seen it first


# --- 2. a dead ReLU layer -------------------------------------------------------------------------


def fit_with_a_dead_layer():
    model = Sequential(
        [
            Dense(8, "relu", input_shape=(4,), kernel_initializer="ones", name="alive"),
            Dense(8, "relu", bias_initializer=Constant(-1000.0), name="dead"),
            Dense(1, kernel_initializer="ones", name="score"),
        ]
    )
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 4)), np.ones((8, 1)), epochs=1, shuffle=False, verbose=0)


def test_the_dead_layer_is_named_and_so_is_what_it_costs():
    text = investigate(
        fit_with_a_dead_layer, "catch dead", "c", "p float(ins[0].max()) < 0",
        "p float(np.max(model.get_layer('dead').get_weights()[1]))", "unt commit", "info grads",
    )  # fmt: skip
    assert said(text, "c")[-1] == "caught dead: dead/relu: dead/relu is 0 for the whole batch"
    assert said(text, "p float(ins[0].max()) < 0") == ["True"]
    culprit = "p float(np.max(model.get_layer('dead').get_weights()[1]))"
    assert said(text, culprit) == ["-1000.0"]  # the bias
    grads = rows(text, "info grads")
    for below in ("alive/kernel", "alive/bias", "dead/kernel", "dead/bias"):
        assert "|x|=0 " in grads[below], below
    assert "|x|=0 " not in grads["score/bias"]


# --- 3. a gradient that vanishes in a deep chain of sigmoids --------------------------------------


def fit_deep_sigmoids():
    np.random.seed(0)
    chain = [Dense(8, "sigmoid", name=f"s{i}") for i in range(1, 8)]
    first = Dense(8, "sigmoid", input_shape=(4,), name="s0")
    model = Sequential([first, *chain, Dense(1, name="score")])
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 4)), np.ones((8, 1)), epochs=1, shuffle=False, verbose=0)


def test_the_layer_where_the_gradient_vanishes_is_named():
    text = investigate(
        fit_deep_sigmoids, "catch vanishing<1e-3", "c", "info grads", "clear vanishing",
        "b s*:ret, e.phase == 'forward'", "rc", "p float((out * (1 - out)).max()) <= 0.25",
    )  # fmt: skip
    caught = said(text, "c")[-1]
    assert caught.startswith("caught vanishing: gradients/s")
    assert "of the greatest:" in caught
    norms = [
        float(line.split("|x|=")[1].split()[0])
        for name, line in rows(text, "info grads").items()
        if name in ("s7", "s6", "s5", "s4", "s3", "s2")
    ]
    assert len(norms) >= 5
    assert all(below < 0.5 * above for above, below in pairwise(norms))
    # Why: the slope of a sigmoid is never above a quarter.
    assert said(text, "p float((out * (1 - out)).max()) <= 0.25") == ["True"]


# --- 4. softmax over one unit: why nothing moves --------------------------------------------------


def run_example():
    runpy.run_path(str(EXAMPLES / "example.py"))


@pytest.mark.filterwarnings("ignore")
def test_softmax_over_one_unit_is_always_one_and_has_no_gradient():
    text = investigate(
        run_example, "catch stuck<1e-7", "c", "b op:softmax:ret", "rc", "p float(out.min())",
        "p bool((ins[0] == ins[0][0]).all())", "clear stuck", "unt commit", "info grads",
        "set again", "diff 1 2",
    )  # fmt: skip
    assert said(text, "c")[-1].endswith("changed by 0 of itself")
    assert said(text, "p float(out.min())") == ["1.0"]  # whatever goes in
    assert said(text, "p bool((ins[0] == ins[0][0]).all())") == ["False"]
    grads = rows(text, "info grads")
    weights = [
        line for name, line in grads.items() if name.endswith(("/kernel", "/bias", "_W", "_b"))
    ]
    assert len(weights) == 6
    assert all("|x|=0 " in line for line in weights)
    assert said(text, "diff 1 2")[0] == "timelines 1 and 2 are the same"


# --- 5. a shared layer, whose gradient is the sum of two ------------------------------------------


def fit_shared():
    a, b = Input(shape=(2,), name="a"), Input(shape=(2,), name="b")
    shared = Dense(3, kernel_initializer="ones", name="shared")
    both = Concatenate(name="both")([shared(a), shared(b)])
    model = Model([a, b], Dense(1, kernel_initializer="ones", name="score")(both))
    model.compile("sgd", "mse")
    x = [np.ones((4, 2)), np.full((4, 2), 2.0)]
    model.fit(x, np.ones((4, 1)), epochs=1, shuffle=False, verbose=0)


def test_the_gradient_of_a_shared_layer_is_the_sum_of_two():
    text = investigate(
        fit_shared, "b event:grad.accum, e.name == 'shared/kernel'", "c", "c", "clear 1",
        "b op:add:ret, e.phase == 'backward' and out.shape == (2, 3)", "c",
        "p [float(x[0, 0]) for x in ins]", "p float(out[0, 0])", "unt commit",
        "p float(grads['shared/kernel'][0, 0])",
    )  # fmt: skip
    first, second, _ = answers(text, "c")
    assert any(line.strip().startswith("grad.accum shared/kernel:") for line in first)
    assert any("k = 1" in line for line in first)
    assert any("k = 2" in line for line in second)
    parts = [
        float(part) for part in said(text, "p [float(x[0, 0]) for x in ins]")[0][1:-1].split(",")
    ]
    (whole,) = said(text, "p float(out[0, 0])")
    assert len(parts) == 2
    assert min(parts) > 0
    assert sum(parts) == float(whole)
    assert said(text, "p float(grads['shared/kernel'][0, 0])") == [whole]


# --- what if: an output that is 0 in the past -----------------------------------------------------


def test_a_change_in_the_past_makes_a_timeline_and_diff_names_where_it_begins():
    text = investigate(
        fit_shared, "unt commit", "tbreak tensor:both/concatenate:ret", "rc",
        "set out = np.zeros_like(out)", "c", "diff 1 2", "timeline 1", "when", "timeline",
    )  # fmt: skip
    told, *_ = said(text, "set out = np.zeros_like(out)")
    t = int(
        re.fullmatch(r"overridden both/\S+ ◆  timeline 2 starts at t=(\d+), timeline 1 kept", told)[
            1
        ]
    )
    first, before, now = said(text, "diff 1 2")
    found = re.fullmatch(
        r"first difference both/\S+ t=(\d+); (\d+) of (\d+) ops differ; "
        r"total_loss (\S+) -> (\S+)",
        first,
    )
    assert int(found[1]) == t
    assert 0 < int(found[2]) < int(found[3])
    assert float(found[4]) != float(found[5])
    assert (before.split()[0], now.split()[0]) == ("1:", "2:")
    assert now.endswith("|x|=0")
    assert said(text, "when")[0].endswith("timeline 1")
    assert said(text, "timeline")[0].split()[:2] == ["*", "1"]
