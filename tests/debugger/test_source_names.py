"""The commands of the walk-through documents work as they are printed, at the stops they mean."""

import numpy as np
import pytest
from piped import answers, fit_toy, piped, session_of

from kerascope import config
from kerascope.layers import Dense, Input
from kerascope.models import Model, Sequential


def said(text, command, time=0):
    return answers(text, command)[time]


def test_self_is_whose_method_is_walked_through():
    layers = piped(fit_toy, "b build:d2", "c", "p self.name", "p self is layer")
    assert said(layers, "p self.name") == ["'d2'"]
    text = piped(
        fit_toy, "unt compile", "r", "p self.loss_functions", "unt make_train_function",
        "p self is model", "unt get_updates", "p self is model.optimizer", "unt forward",
        "p self is model", "s 2", "p self",
    )  # fmt: skip
    assert said(text, "p self.loss_functions") == ["[<function mean_squared_error>]"]
    assert said(text, "p self is model") == said(text, "p self is model", 1) == ["True"]
    assert said(text, "p self is model.optimizer") == ["True"]
    assert "Dense" in said(text, "p self")[0]


def test_inputs_are_those_of_the_train_function_before_and_after_it_is_made():
    for go in (["unt make_train_function"], ["unt _make_train_function", "r"]):
        text = piped(fit_toy, *go, "p inputs", "p e.name")
        assert said(text, "p inputs") == [
            "[x, last_target, last_sample_weights, keras_learning_phase]"
        ]
        assert said(text, "p e.name") == ["'make_train_function'"]


def test_v_and_new_v_are_the_two_of_an_update_pair():
    text = piped(
        fit_toy, "tbreak event:update.pair d1/kernel", "c", "p v", "p new_v", "p nv is new_v",
        "p v._keras_shape", "tbreak event:update.apply d1/kernel", "c", "p v", "p new_v is new",
    )  # fmt: skip
    assert said(text, "p v") == said(text, "p v", 1) == ["d1/kernel"]
    assert said(text, "p new_v")[0].startswith("update/d1/kernel/")
    assert said(text, "p nv is new_v") == ["True"]
    assert said(text, "p v._keras_shape") == ["(3, 8)"]


def test_a_name_that_lives_elsewhere_says_where():
    text = piped(fit_toy, "unt forward", "p new_v")
    assert "It lives in event:update.pair and event:update.apply." in said(text, "p new_v")[0]


@pytest.mark.parametrize("name", ["make_train_function", "train_function", "predict_function"])
def test_until_goes_to_a_function_of_the_model_and_back(name):
    def program():
        fit_toy().predict(np.ones((2, 3)))

    text = piped(program, f"unt {name}", "p e.name, e.ph", "c", f"ru {name}", "p e.name, e.ph")
    assert said(text, "p e.name, e.ph") == said(text, "p e.name, e.ph", 1) == [f"('{name}', 'B')"]


# --- what a person types --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("set grain ", ["act", "phase", "node", "op", "detail"]),
        ("set grain p", ["phase"]),
        ("b phase:comm", ["commit"]),
        ("tbreak event:map.s", ["map.skip"]),
        ("b d2:", ["bwd", "fwd", "ret"]),
        ("b run:d2:r", ["ret"]),
        ("b run:d", ["d1", "d2", "depth", "drop"]),
        ("b tensor:lo", ["loss", "loss/multiply"]),
        ("b weight:last/", ["last/bias", "last/kernel"]),
        ("unt make_", ["make_train_function"]),
        ("b dep", ["depth"]),
    ],
)
def test_the_tab_key_completes_what_comes_behind(line, found):
    session, _ = session_of(fit_toy, "unt backward")
    debugger = session.prompt.__self__
    words, begin = line.rpartition(" ")[2], len(line.rpartition(" ")[0]) + 1
    if ":" in words:
        begin = len(line.rpartition(":")[0]) + 1
    completed = debugger.completions(line[begin:], line, begin, len(line))
    wanted = [x for x in found if x != "depth" or "run:" not in line]
    assert [x for x in completed if x in wanted] == sorted(wanted, key=completed.index)
    assert all(x.startswith(line[begin:]) for x in completed)


def test_goto_completes_times_at_which_phases_begin():
    session, _ = session_of(fit_toy, "unt backward")
    times = session.prompt.__self__.completions("", "goto ", 5, 5)
    begun = {e.t for e in session.tape if e.kind == "forward" and e.ph == "B"}
    assert begun <= {int(t) for t in times}


def test_figures_are_kept_where_a_line_has_no_room_for_both():
    def program():
        x = Input(shape=(3,), name="an_input")
        model = Model(x, Dense(4, name="a_layer_with_a_name_that_takes_most_of_the_line_" * 2)(x))
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 3)), np.ones((4, 4)), verbose=0, epochs=1)

    text = piped(program, "tbreak run:a_layer*:ret", "c")
    lines = said(text, "c")
    place = next(i for i, line in enumerate(lines) if line.startswith("--Return--"))
    assert lines[place + 1].startswith("   -> f32[4,4] |x|=")
    assert "max=" in lines[place + 1]


def test_a_name_of_one_s_own_says_that_it_hides_the_model_s():
    text = piped(
        fit_toy, "tbreak event:update.param", "c", "!g = 3", "!g = 4", "!mine = 3", "p g", "!del g",
        "p norm(g) > 0",
    )  # fmt: skip
    assert said(text, "!g = 3") == ["g is yours from here on; `!del g` shows the model's again"]
    assert said(text, "!g = 4") == said(text, "!mine = 3") == said(text, "!del g") == []
    assert said(text, "p g") == ["4"]
    assert said(text, "p norm(g) > 0")[0] in ("True", "bool[] 1")


def test_clear_in_a_pipe_takes_an_answer_and_no_command():
    text = piped(
        fit_toy, "b d1", "clear", "y", "b", "b d1", "clear", "n", "b d2", "clear", "p 1 + 1"
    )
    assert text.count("Deleted breakpoint") == 3
    assert answers(text, "p 1 + 1") == [["2"]]


def test_self_is_the_network_that_is_being_mapped_also_when_one_looks_back():
    text = piped(
        fit_toy, "unt build_map", "p self, self.name", "p len(self.inputs)", "unt check_graph",
        "unt compile", "ru build_map", "p self is model",
    )  # fmt: skip
    assert said(text, "p self, self.name") == ["(<Model toy>, 'toy')"]
    assert said(text, "p len(self.inputs)") == ["1"]
    assert said(text, "p self is model") == ["True"]


def test_of_a_model_in_a_model_self_is_the_one_that_is_mapped():
    def program():
        inner = fit_toy()
        x = Input(shape=(3,), name="other")
        Model(x, inner(x), name="outer")

    text = piped(program, "unt build_map", "p self.name", "tbreak build_map", "c", "p self.name")
    assert said(text, "p self.name") == ["'toy'"]
    assert said(text, "p self.name", 1) == ["'outer'"]


@pytest.mark.parametrize("dialect", ["1.2", "2.2"])
def test_a_visit_of_the_walk_has_the_names_that_it_began_with_when_it_ends(monkeypatch, dialect):
    monkeypatch.setattr(config, "dialect", dialect)
    asked = "p layer.name, tensor.name, node_index, tensor_index"
    text = piped(fit_toy, "unt build_map", "s 3", asked, "r", asked)
    assert said(text, asked) == said(text, asked, 1) == ["('sum', 'sum/add', 0, 0)"]


# --- phases by their bare names -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("backward", "phase:backward"),
        ("fit:ret", "phase:fit:ret"),
        ("run:loss", "run:phase:loss"),
        ("_make_train_function", "event:function make_train_function"),
        ("build_map_of_graph", "phase:build_map"),
        ("get_gradients", "phase:gradients"),
        ("run:_fit_loop", "run:phase:epoch"),
    ],
)
def test_a_breakpoint_at_a_phase_needs_no_prefix(word, meant):
    text = piped(fit_toy, "unt callbacks", f"b {word}", "rc", "c", "c")
    assert said(text, f"b {word}")[0] == f"Breakpoint 1 at {meant}"
    assert "no such" not in text
    assert f"breakpoint 1 hit: {meant}" in text


def test_a_layer_that_is_called_like_a_phase_comes_first():
    def program():
        model = Sequential([Dense(2, input_shape=(3,), name="commit")])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0, epochs=1)

    text = piped(program, "unt fit", "b commit", "c", "p e.kind")
    assert said(text, "b commit")[0] == "Breakpoint 1 at commit"
    assert said(text, "p e.kind") == ["'node'"]
