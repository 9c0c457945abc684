"""The ladder: a model's levels "gradient" and "training" as two rails with cards between them."""

import re
import time
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from holding import holds_for
from ladders import (
    LADDERS,
    LEVELS,
    SVG,
    arrows_in,
    arrows_of,
    check_arrows,
    check_cards,
    compiled,
)
from rich.cells import cell_len
from strategies import build, recipes
from zoo import LARGE_ZOO, THINNED_ZOO, fresh_names

import kerascope as ks
from kerascope.engine.model import Model
from kerascope.errors import ArgumentError
from kerascope.layers import LSTM, Add, BatchNormalization, Dense, Input
from kerascope.models import Sequential

# --- models ---------------------------------------------------------------------------------------


def mlp() -> Model:
    with fresh_names():
        model = Sequential([
            Dense(64, activation="relu", input_shape=(20,)),
            Dense(64, activation="relu"),
            Dense(1, activation="sigmoid"),
        ])  # fmt: skip
    model.compile("adam", "binary_crossentropy")
    return model


def lstm() -> Model:
    x = Input((5, 3), name="x")
    model = Model(x, Dense(1, name="out")(LSTM(4, name="lstm")(x)), name="reader")
    model.compile("adam", "mse")
    return model


def gan() -> tuple[Model, Model]:
    """A discriminator, and a generator that is trained through it while it is frozen."""
    x, z = Input((4,), name="x"), Input((2,), name="z")
    judge = Model(
        x, Dense(1, activation="sigmoid", name="verdict")(Dense(8, name="look")(x)), name="judge"
    )
    judge.compile("adam", "binary_crossentropy")
    fake = Dense(4, name="paint")(Dense(8, activation="relu", name="sketch")(z))
    judge.trainable = False
    both = Model(z, judge(fake), name="gan")
    both.compile("adam", "binary_crossentropy")
    return judge, both


def resnet() -> Model:
    model = LARGE_ZOO["resnet50"]()
    model.compile("adam", "categorical_crossentropy")
    return model


def penalized() -> Model:
    x = Input((3,), name="x")
    h = Dense(4, kernel_regularizer="l2", activity_regularizer="l1", name="h")(x)
    model = Model(x, [Dense(1, name="a")(h), Dense(2, name="b")(h)], name="penalized")
    model.compile("adam", "mse", loss_weights=[1, 0.5])
    return model


def many_ends() -> Model:
    x = Input((3,), name="x")
    h = Dense(4, name="h")(x)
    model = Model(x, [Dense(1, name=f"end_{number}")(h) for number in range(7)], name="many_ends")
    model.compile("sgd", "mse")
    return model


def often() -> Model:
    xs = [Input((4,), name=f"x{number}") for number in range(6)]
    shared = Dense(4, name="shared")
    total = shared(Add(name="sum")([shared(x) for x in xs]))
    model = Model(xs, total, name="often")
    model.compile("nadam", "mse")
    return model


# --- what is drawn is what is there ---------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
@pytest.mark.parametrize("level", LEVELS)
def test_at_every_level_the_arrows_of_the_picture_are_those_of_the_graph(level, name):
    check_arrows(ks.draw(compiled(name), level=level))


@pytest.mark.parametrize("name", THINNED_ZOO)
@pytest.mark.parametrize("level", LADDERS)
def test_open_ladders_of_the_zoo_are_drawn_whole_and_no_arrow_crosses_a_card(level, name):
    drawing = ks.draw(compiled(name), level=level, most=None)
    check_arrows(drawing)
    check_cards(drawing)


@pytest.mark.parametrize(
    "make", [mlp, lstm, penalized, often, many_ends, lambda: gan()[0], lambda: gan()[1]]
)
@pytest.mark.parametrize("level", LADDERS)
def test_well_known_models_are_drawn_whole(level, make):
    for most in (None, 60, 12):
        drawing = ks.draw(make(), level=level, most=most)
        check_arrows(drawing)
        check_cards(drawing)


@holds_for(recipes(max_steps=8), few=4, many=40)
def test_random_models_are_drawn_whole(recipe):
    model = build(recipe)
    model.compile("adam", "mse")
    for most in (None, 12):
        drawing = ks.draw(model, level="training", most=most)
        check_arrows(drawing)
        check_cards(drawing)


def test_the_readers_arrows_are_counted_and_not_believed():
    drawing = ks.draw(mlp(), level="training")
    cut = re.sub(r'<path class="edge"[^>]*>.*?</path>', "", drawing.svg, count=1)
    assert arrows_in(cut) != arrows_of(drawing.graph)


# --- sizes ----------------------------------------------------------------------------------------


def test_a_step_of_the_documents_model_fits_a_screen():
    layout = ks.draw(mlp(), level="training").layout
    assert layout.width <= 1280
    assert layout.height <= 800


def test_a_step_of_resnet50_opens_small_and_soon():
    model = resnet()
    try:
        started = time.process_time()
        drawing = ks.draw(model, level="training")
        svg = drawing.svg
        seconds = time.process_time() - started
        assert len(drawing.graph.nodes) <= 60
        assert drawing.layout.width <= 1600
        assert seconds < 3
        assert arrows_in(svg) == arrows_of(drawing.graph)
        check_cards(drawing)
    finally:
        model._forget_compilation()


# --- the edges of the level -----------------------------------------------------------------------


def test_a_gradient_comes_from_that_of_its_call_and_from_the_calls_input():
    graph = ks.draw(mlp(), level="gradient").graph
    arriving = [e for e in graph.edges if e.target == "grad:dense_2/kernel"]
    assert [(e.source, e.attrs.get("operand_of")) for e in arriving] == [
        ("grad:dense_2", None), ("dense_1", "dense_2")
    ]  # fmt: skip


def test_the_bias_of_a_linear_layer_has_a_gradient_that_needs_no_input():
    x = Input((3,), name="x")
    model = Model(x, Dense(1, name="line")(x))
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="gradient").graph
    assert [e.source for e in graph.edges if e.target == "grad:line/bias"] == ["grad:line"]
    assert [e.source for e in graph.edges if e.target == "grad:line/kernel"] == ["grad:line", "x"]


def test_a_shared_layer_has_one_card_to_which_each_call_sends_its_part():
    drawing = ks.draw(compiled("between_calls"), level="training", most=None)
    graph = drawing.graph
    assert [group.label for group in graph.groups].count("S") == 1
    parts = [node for node in graph.nodes if node.attrs.get("column") == "via"]
    kernel = [node.attrs["short"] for node in parts if node.attrs["line"] == "S/kernel"]
    assert kernel == ["via S@0", "via S@1"]
    assert "via S@0" in drawing.svg


def test_what_branches_forward_is_a_sum_backward_with_an_arrow_for_each_branch():
    x = Input((3,), name="x")
    trunk = Dense(3, name="trunk")(x)
    ends = [Dense(1, name="left")(trunk), Dense(1, name="right")(trunk)]
    model = Model(x, ends, name="fork")
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="training").graph
    assert graph.node("grad:trunk").kind == "sum"
    labels = [edge.label for edge in graph.edges if edge.target == "grad:trunk"]
    assert labels == ["via left", "via right"]


def read_twice(name):
    """Return a model in which a call reads a tensor as several operands."""
    x = Input((4, 6), name="x")
    h = Dense(6, name="h")(x)
    if name == "attention":
        y = ks.layers.MultiHeadAttention(2, 3, name="reader")(h, h, h)
    elif name == "merge":
        y = ks.layers.Multiply(name="reader")([h, h])
    elif name == "and elsewhere":
        y = ks.layers.Add(name="last")([ks.layers.Add(name="reader")([h, h]), h])
    else:
        a = Input((4, 6), name="a")
        inner = Model(a, [Dense(6, name="one")(a), Dense(6, name="two")(a)], name="inner")
        first, second = inner(h)
        y = ks.layers.Concatenate(name="reader")([first, second, first])
    return Model(x, Dense(1, name="out")(y), name="model")


@pytest.mark.parametrize("name", ["attention", "merge", "and elsewhere", "nested"])
def test_a_gradient_goes_back_for_each_operand_as_which_a_tensor_is_read(name):
    """For each arrow of the forward pass, also of a call's second output, there is one back."""
    model = read_twice(name)
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="gradient").graph
    of = {node.id: node.attrs["beside"] for node in graph.nodes if "beside" in node.attrs}
    there = Counter(
        (edge.source, edge.target)
        for edge in graph.edges
        if "operand" in edge.attrs and edge.source != "x"
    )
    back = Counter(
        (of[e.target], of[e.source]) for e in graph.edges if {e.source, e.target} <= {*of}
    )
    calls = {node.id for node in graph.nodes if "layer" in node.attrs}
    source, number = {"attention": ("h", 3), "nested": ("inner", 3)}.get(name, ("h", 2))
    assert there[source, "reader"] == back[source, "reader"] == number
    there.pop(("h", "inner"), None)  # each of its outputs has a gradient that goes back
    assert {pair: n for pair, n in back.items() if {*pair} <= calls and pair in there} == there


def test_hyperparameters_are_words_and_no_boxes():
    drawing = ks.draw(mlp(), level="training")
    assert "Adam \u00b7 lr 0.001 \u00b7 beta_1 0.9 \u00b7 beta_2 0.999" in drawing.svg
    names = {node.id for node in drawing.graph.nodes}
    assert not names & {"lr", "beta_1", "beta_2", "slot:iterations"}


def test_moving_averages_have_a_line_and_come_from_the_call():
    x = Input((3,), name="x")
    model = Model(x, BatchNormalization(name="bn")(x))
    model.compile("sgd", "mse")
    drawing = ks.draw(model, level="training")
    assert ("bn", "update:bn/moving_mean") in arrows_in(drawing.svg)
    assert "by the batch" in drawing.svg


# --- closing and opening --------------------------------------------------------------------------


def test_what_is_closed_on_one_rail_is_closed_on_the_other_with_its_cards():
    model = resnet()
    try:
        drawing = ks.draw(model, level="training")
        whole = drawing.whole
        closed = drawing.view.closed
        for group in whole.groups:
            if "twin" in group.attrs:
                assert (group.id in closed) == (group.attrs["twin"] in closed)
        opened = ks.draw(model, level="training", expand="conv2_block1")
        names = {node.id for node in opened.graph.nodes}
        assert {"conv2_block1_1_conv", "grad:conv2_block1_1_conv"} <= names
        assert "card:conv2_block1_1_conv" in names
        check_cards(opened)
        assert arrows_in(opened.svg) == arrows_of(opened.graph)
    finally:
        model._forget_compilation()


def test_most_closes_the_cards_and_a_name_opens_one():
    closed = ks.draw(mlp(), level="training", most=12)
    assert sum(node.kind == "card" for node in closed.graph.nodes) == 3
    opened = ks.draw(mlp(), level="training", most=12, expand="dense_2")
    assert [group.label for group in opened.graph.groups] == ["dense_2"]
    everything = ks.draw(mlp(), level="training", most=12, expand="all")
    assert len(everything.graph.nodes) == len(everything.whole.nodes)


# --- in characters --------------------------------------------------------------------------------


def test_a_terminal_shows_a_row_for_each_call_with_its_weights_and_its_gradient():
    text = ks.draw(mlp(), level="training").text(80)
    assert all(len(line) <= 80 for line in text.splitlines())
    row = next(line for line in text.splitlines() if line.startswith("\u25a0 dense_2"))
    assert re.sub(" +", " ", row) == (
        "\u25a0 dense_2 \u25c6 kernel (64, 64) \u2202 \u25c7 m \u25c7 v \u21bb "
        "\u2202 d loss / d dense_2"
    )
    plain = ks.draw(mlp(), level="gradient").text(80, ascii_only=True)
    assert plain.isascii()
    assert "g d loss / d dense_2" in plain


def test_where_calls_branch_a_terminal_names_what_they_read_and_what_they_sum():
    text = ks.draw(compiled("several_ends"), level="training", most=None).text(120)
    assert "\u2190 reader\n" in re.sub(" +\n", "\n", text)
    assert "\u21e0 via early" in text
    assert "\u21e0 via joined" in text


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_a_ladder_fits_any_terminal_and_names_every_weight(name):
    drawing = ks.draw(compiled(name), level="training", most=None)
    for width in (20, 80, 200):
        text = drawing.text(width)
        assert all(cell_len(line) <= width for line in text.splitlines())
    shorts = {
        str(n.attrs["short"]) for n in drawing.graph.nodes if n.kind == "variable" and n.group
    }
    assert all(short in text for short in shorts)


# --- values ---------------------------------------------------------------------------------------


BATCH = np.linspace(-1, 1, 80).reshape(4, 20), np.ones((4, 1))


def test_with_a_batch_the_gradients_carry_their_numbers():
    drawing = ks.draw(mlp(), level="gradient", values=BATCH)
    assert drawing.graph.node("grad:dense_3/kernel").attrs["detail"]


def test_a_batch_fills_the_cards_with_what_the_step_then_does():
    model = mlp()
    weights = model.get_weights()
    graph = ks.draw(model, level="training", gradients=BATCH).graph
    for one, other in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    names = [w.name for w in model.weights]
    model.train_on_batch(*BATCH)
    for name, before, after in zip(names, weights, model.get_weights(), strict=True):
        change, size = np.linalg.norm(after - before), np.linalg.norm(before)
        told = graph.node(f"update:{name}").attrs["change"]
        assert told == pytest.approx(change / size if size else change, rel=1e-4)
        assert graph.node(name).attrs["norm"] == pytest.approx(size, rel=1e-4)
    slots = {w.name: w for w in model.optimizer.weights}
    for node in graph.nodes:
        if node.kind == "slot":
            norm = np.linalg.norm(slots[node.label].get_value())
            assert node.attrs["norm"] == pytest.approx(norm, rel=1e-3)


def test_the_slots_of_a_trained_model_are_those_that_it_trains_with():
    model = mlp()
    model.train_on_batch(*BATCH)
    slot = next(w for w in model.optimizer.weights if w.name == "dense_1/kernel/m")
    before = float(np.linalg.norm(slot.get_value()))
    graph = ks.draw(model, level="training", gradients=BATCH).graph
    told = str(graph.node("slot:dense_1/kernel/m").attrs["detail"])
    assert float(told.split()[0]) == pytest.approx(before, rel=1e-3)
    assert float(np.linalg.norm(slot.get_value())) == before


def test_bars_compare_down_a_column():
    drawing = ks.draw(mlp(), level="training", gradients=BATCH)
    shares = [
        float(node.attrs["share"])
        for node in drawing.graph.nodes
        if node.attrs.get("column") == "gradient"
    ]
    assert max(shares) == 1.0
    assert all(0 <= share <= 1 for share in shares)
    bars = [e for e in ET.fromstring(drawing.svg).iter(f"{SVG}rect") if e.get("class") == "bar"]
    assert len(bars) == len([n for n in drawing.graph.nodes if "share" in n.attrs])
    check_arrows(drawing)
    check_cards(drawing)


def test_the_way_back_is_as_wide_as_what_flows_and_broken_where_nothing_does():
    x = Input((3,), name="x")
    h = Dense(4, activation="relu", kernel_initializer="zeros", name="dead")(x)
    layer = Dense(1, kernel_initializer="zeros", bias_initializer="ones", name="last")
    model = Model(x, layer(Dense(2, name="middle")(h)))
    model.compile("sgd", "mse")
    svg = ks.draw(model, level="training", gradients=(np.ones((2, 3)), np.zeros((2, 1)))).svg
    lines = {
        (one.get("data-source"), one.get("data-target")): one
        for one in ET.fromstring(svg).iter(f"{SVG}path")
    }
    assert "stroke-width:4.5px" in lines["loss", "grad:last"].get("style")
    dead = lines["grad:last", "grad:middle"]
    assert "nothing" in dead.get("class").split()
    assert dead.get("marker-end") is None


# --- values and tapes fill it ---------------------------------------------------------------------


def small_step():
    model = Sequential([Dense(3, "relu", input_shape=(2,), name="a"), Dense(1, name="b")])
    model.compile("adam", "mse")
    return model, (np.ones((4, 2)), np.ones((4, 1)))


def details(drawing):
    return {node.id: node.attrs.get("detail", "") for node in drawing.graph.nodes}


def test_a_tape_is_drawn_as_the_ladder_of_its_first_step_with_its_numbers():
    model, batch = small_step()
    expected = details(ks.draw(model, level="training", gradients=batch))
    with ks.trace(model) as tape:
        model.train_on_batch(*batch)
        model.train_on_batch(*batch)
    drawing = ks.draw(tape)
    found = details(drawing)
    assert drawing.graph.attrs["level"] == "training"
    for box, words in expected.items():
        if words:
            assert found[box] == words, box
    assert found["b"]  # what the call gave
    assert "One batch, loss" in drawing.graph.attrs["caption"]
    assert details(ks.draw(tape, level="gradient"))["grad:a/kernel"] == expected["grad:a/kernel"]


def test_values_stand_in_the_calls_of_a_ladder_and_weights_tell_their_size():
    model, (x, _) = small_step()
    at_node_level = details(ks.draw(model, values=x))
    found = details(ks.draw(model, level="training", values=x))
    for call in ("a", "b"):
        assert found[call] == at_node_level[call] != ""
    assert found["a/kernel"].startswith("\u2016w\u2016 ")
    assert not found["grad:a"]
    first = details(ks.draw(model, level="training", values=x, at=1))
    assert first["a"]
    assert not first["b"]


def test_a_prediction_on_a_tape_is_drawn_at_level_node():
    model, (x, _) = small_step()
    with ks.trace(model) as tape:
        model.predict(x, verbose=0)
    drawing = ks.draw(tape)
    assert drawing.graph.attrs["level"] == "node"
    assert details(drawing)["b"] == details(ks.draw(model, values=x))["b"]


def test_a_tape_that_cannot_be_drawn_says_why():
    model, batch = small_step()
    with ks.trace(model) as tape:
        pass
    with pytest.raises(ArgumentError, match="no run of a model that still exists"):
        ks.draw(tape)
    with ks.trace(model) as tape:
        model.train_on_batch(*batch)
    with pytest.raises(ArgumentError, match="expected no values or inputs with a tape"):
        ks.draw(tape, values=batch[0])
