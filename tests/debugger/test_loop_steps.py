"""Time steps of a loop: which of them spoils it, and what each op inside one gives."""

from functools import partial

import numpy as np
import pytest
from piped import answers, piped, session_of

from kerascope import backend as K
from kerascope.layers import (
    GRU,
    LSTM,
    Bidirectional,
    Dense,
    Input,
    Lambda,
    SimpleRNN,
    TimeDistributed,
)
from kerascope.models import Model, Sequential
from kerascope.trace.loop_steps import loop_at, steps_of
from kerascope.trace.tape import trace

STEPS = 10
ROWS = np.random.default_rng(0).normal(size=(4, STEPS, 3)).astype("float32")


def fit(layer, rows=ROWS, growth=None):
    """Train a layer that gives one vector for each sequence."""
    K.clear_session()
    x = Input(shape=rows.shape[1:], name="x")
    out = layer(x)
    model = Model(x, Dense(1, name="last")(out))
    if growth is not None:
        kernel, recurrent, bias = layer.get_weights()
        layer.set_weights([np.ones_like(kernel), growth * np.eye(len(recurrent)), bias])
    model.compile("sgd", "mse")
    model.fit(rows, np.ones((len(rows), 1)), epochs=1, verbose=0)


def fit_that_grows():
    """A state that is a million times as large after each step: 1e6 ** 7 is beyond float32."""
    fit(SimpleRNN(2, activation="linear", name="rnn"), np.ones((4, STEPS, 1)), 1e6)


def said(text, command, time=0):
    return answers(text, command)[time]


@pytest.mark.filterwarnings("ignore:fit. the loss became nan")
def test_the_step_in_which_it_becomes_infinite_is_told_where_it_is_caught():
    text = piped(fit_that_grows, "catch inf", "c", "info steps", "info steps 7")
    stop = said(text, "c")
    assert stop[-2].startswith("   first in step 7 of 10 (0 to 9), at ")
    rows = {line.split()[0]: line for line in said(text, "info steps")}
    assert "Inf!" in rows["7"]
    assert "<-" in rows["7"]
    assert "Inf!" not in rows["6"]
    assert "<-" not in rows["8"]
    inside = said(text, "info steps 7")
    (first,) = [line for line in inside if line.endswith("<-")]
    assert first.split()[0] == stop[-2].rpartition("at ")[2]


LAYERS = {
    "simple": lambda: SimpleRNN(2, name="rnn"),
    "gru": lambda: GRU(2, name="rnn"),
    "lstm": lambda: LSTM(2, name="rnn"),
    "backwards": lambda: LSTM(2, name="rnn", go_backwards=True),
    "stateless map": lambda: Lambda(lambda x: K.map_fn(lambda row: K.sum(row, 0), x), name="rnn"),
    "fold": lambda: Lambda(
        lambda x: K.foldl(lambda acc, row: acc + row, K.permute_dimensions(x, (1, 0, 2))),
        name="rnn",
    ),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_the_steps_end_where_the_loop_ends(kind):
    session, _ = session_of(lambda: fit(LAYERS[kind]()), "b weight:none", "c")
    tape = session.tape
    (end,) = [e for e in tape if e.name.startswith("rnn/scan") and e.ph == "E"]
    loop = loop_at(session.recorder, tape, end.t)
    steps = list(steps_of(loop))
    assert [step.number for step in steps] == list(range(loop.count))
    results = next(d.value for d in end.deltas if d.name == "result")
    results = results if isinstance(results, tuple) else (results,)
    last = [*steps[-1].states.values()] or [x for _, x in steps[-1].made.values()][-1:]
    for state in last:
        assert any(
            np.allclose(state, x if x.shape == state.shape else x[-1], rtol=1e-5)
            for x in results
            if x.shape[-state.ndim :] == state.shape
        ), kind


def test_a_breakpoint_at_a_step_shows_what_is_inside():
    text = piped(lambda: fit(LSTM(2, name="rnn")), "b rnn step 7", "c", "c")
    stop = said(text, "c")
    place = stop.index("breakpoint 1 hit: rnn step 7")
    assert stop[place + 1] == "rnn/scan: step 7 of 10 (0 to 9)"
    assert stop[place + 2].split() == ["in", "step", "op", "value"]
    assert {line.split()[0] for line in stop[place + 3 :]} >= {"input", "state", "dot", "tanh"}
    assert "has ended" in said(text, "c", 1)[0]  # the gradient's loop is another


def test_a_breakpoint_at_a_step_of_the_gradient():
    text = piped(lambda: fit(LSTM(2, name="rnn")), "b rnn step 7:bwd", "c")
    assert "gradients/rnn/scan: step 7 of 10 (0 to 9)" in said(text, "c")


@pytest.mark.parametrize("name", ["both", "forward_rnn", "backward_rnn"])
def test_the_layers_of_a_wrapper_have_their_own_steps_and_spans(name):
    wrapped = lambda: fit(Bidirectional(LSTM(2, name="rnn"), name="both"))  # noqa: E731
    text = piped(wrapped, f"b {name} step 2", "c", f"b run:{name}", "rc", "p e.kind, e.ph")
    own = "forward_rnn" if name == "both" else name
    assert f"both/{own}/scan: step 2 of 10 (0 to 9)" in said(text, "c")
    assert said(text, "p e.kind, e.ph") == ["('node', 'B')"]


def test_the_layer_inside_of_time_distributed_has_a_span():
    def program():
        K.clear_session()
        layers = [TimeDistributed(Dense(2, name="each"), input_shape=(5, 3), name="all")]
        model = Sequential([*layers, LSTM(1)])
        model.compile("sgd", "mse")
        model.fit(ROWS[:, :5], np.ones((4, 1)), epochs=1, verbose=0)

    text = piped(program, "b run:each", "c", "p e.name, layer.units")
    assert said(text, "p e.name, layer.units") == ["('each', 2)"]


def test_of_a_long_loop_its_ends_and_the_spoilt_step_are_shown():
    rows = np.ones((2, 100, 1))
    rnn = partial(SimpleRNN, 2, activation="linear", name="rnn")
    text = piped(lambda: fit(rnn(), rows, 3.0), "catch inf", "c", "info steps")
    lines = said(text, "info steps")
    numbers = [int(line.split()[0]) for line in lines[2:-1]]
    (spoilt,) = [int(line.split()[0]) for line in lines if "<-" in line]
    assert spoilt == 81  # 3 ** 82 / 2 is above the greatest number of float32
    assert {0, 80, 81, 82, 99} <= set(numbers)
    assert len(numbers) <= 24
    assert lines[-1] == f"{100 - len(numbers)} more between them; `info steps 7` shows one"


def test_of_figures_alone_the_call_is_run_again_or_it_is_told_why_not():
    def program():
        K.clear_session()
        model = Sequential([LSTM(16, input_shape=(20, 16), name="rnn"), Dense(1)])
        model.compile("sgd", "mse")
        rows = np.random.default_rng(0).normal(size=(160, 20, 16))
        model.fit(rows, np.ones((160, 1)), batch_size=16, epochs=1, verbose=0)

    for budget, told in (("4MB", "rnn/scan: 20 steps; sizes after each"), ("1KB", "*** steps:")):
        back = [*["c"] * 10, *["rc"] * 4, "info steps"]
        text = piped(program, f"set history {budget}", "b op:scan, e.phase == 'forward'", *back)
        assert said(text, "info steps")[0].startswith(told), budget


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("10", "rnn/scan has steps 0 to 9"),
        ("last 3", "no loop of 'last' has been performed up to here"),
        ("3 4 5", "expected nothing, a step (7), a layer"),
    ],
)
def test_what_is_not_there_is_told(words, told):
    text = piped(lambda: fit(LSTM(2, name="rnn")), "unt backward", f"info steps {words}")
    (line,) = said(text, f"info steps {words}")
    assert line.startswith("*** ")
    assert told in line


def test_before_any_call_and_without_a_loop_that_is_said():
    text = piped(lambda: fit(LSTM(2, name="rnn")), "unt compile", "info steps")
    assert said(text, "info steps")[0].startswith("*** steps: at t=")
    text = piped(lambda: fit(LSTM(2, unroll=True)), "unt backward", "info steps")
    assert "unrolled loops are ops of their own" in said(text, "info steps")[0]


def test_a_tape_without_its_model_says_so(tmp_path):
    from kerascope.debugger.front import ModelDebugger
    from kerascope.debugger.session import Session
    from kerascope.debugger.tables import info

    with trace() as tape:
        fit(LSTM(2, name="rnn"))
    debugger = ModelDebugger()
    debugger.session = Session(debugger.ask, tape=tape)
    with pytest.raises(Exception, match="its model, which is not here"):
        info(debugger, "steps")


@pytest.mark.parametrize("text", ["rnn step", "rnn step x", "rnn step -1", "nobody step 2"])
def test_a_breakpoint_at_no_step_is_refused(text):
    program = lambda: fit(LSTM(2, name="rnn"))  # noqa: E731
    assert said(piped(program, "c", f"b {text}"), f"b {text}")[0].startswith("*** break: ")
