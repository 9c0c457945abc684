"""Nested models on the ladder: opened, each call of one is a frame on both rails."""

import json
import re

import numpy as np
import pytest
from holding import holds_for
from ladders import LADDERS, check_arrows, check_cards, compiled
from strategies import build, recipes
from zoo import THINNED_ZOO

import kerascope as ks
from kerascope.layers import (
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Dense,
    Dot,
    Dropout,
    Embedding,
    Input,
)
from kerascope.models import Model, Sequential
from kerascope.viz.extract.training import training_graph


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def encoder() -> Model:
    x = Input((4,), name="raw")
    h = Dense(5, activation="relu", name="d1")(x)
    return Model(x, Add(name="skip")([Dense(5, name="d2")(h), h]), name="enc")


def siamese() -> Model:
    one, other, enc = Input((4,), name="one"), Input((4,), name="other"), encoder()
    model = Model([one, other], Dot(1, name="near")([enc(one), enc(other)]), name="siamese")
    model.compile("sgd", "mse")
    return model


def flat(nested: Model) -> Model:
    """The same net without a nested model, of the same layers."""
    enc = nested.get_layer("enc")
    d1, d2 = enc.get_layer("d1"), enc.get_layer("d2")
    one, other = Input((4,), name="one"), Input((4,), name="other")
    ends = []
    for x in (one, other):
        h = d1(x)
        ends.append(enc.get_layer("skip")([d2(h), h]))
    model = Model([one, other], Dot(1, name="near")(ends), name="flat")
    model.compile("sgd", "mse")
    return model


def deep(rate: float = 0.5) -> Model:
    """A nested model in a nested model, with state, noise, slots and two outputs."""
    x = Input((3,), name="x0")
    inner = Sequential([Dense(4, name="wide"), BatchNormalization(name="norm")], name="inner")
    h = Dropout(rate, name="drop")(inner(x))
    outer = Model(x, [Activation("tanh", name="act")(h), Dense(2, name="side")(h)], name="outer")
    x = Input((3,), name="x")
    a, b = outer(x)
    model = Model(x, Dense(1, name="end")(Concatenate(name="both")([a, b])), name="deep")
    model.compile("adam", "mse")
    return model


def numbers_of(graph):
    return {
        node.id: node.attrs["gradient_norm"]
        for node in graph.nodes
        if "gradient_norm" in node.attrs
    }


# --- what is drawn --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
@pytest.mark.parametrize("level", LADDERS)
def test_opened_ladders_are_drawn_whole_and_no_arrow_crosses_a_card(level, name):
    for most in (None, 20):
        drawing = ks.draw(compiled(name), level=level, expand="all", most=most)
        check_arrows(drawing)
        check_cards(drawing)


@holds_for(recipes(max_steps=8), few=4, many=40)
def test_random_models_are_drawn_whole_however_much_is_open(recipe):
    model = build(recipe)
    model.compile("adam", "mse")
    for expand in (0, 1, "all"):
        drawing = ks.draw(model, level="training", expand=expand)
        check_arrows(drawing)
        check_cards(drawing)


def test_a_model_that_is_called_twice_has_two_frames_on_each_rail_and_its_cards_once():
    graph = ks.draw(siamese(), level="training", expand="all").graph
    kinds = {group.id: group.attrs["kind"] for group in graph.groups}
    assert [one for one, kind in kinds.items() if kind == "call"] == ["enc@0", "enc@1"]
    assert [one for one, kind in kinds.items() if kind == "gradients"] == [
        "grad:enc@0", "grad:enc@1"
    ]  # fmt: skip
    assert [group.label for group in graph.groups if group.attrs["kind"] == "card"] == [
        "enc/d1", "enc/d2"
    ]  # fmt: skip
    for part, home in (("", "enc@0"), ("grad:", "grad:enc@0")):
        inside = [node.id for node in graph.nodes if node.group == home]
        assert inside == [f"{part}enc@0/d1", f"{part}enc@0/d2", f"{part}enc@0/skip"]
    vias = [node.attrs["short"] for node in graph.nodes if node.attrs.get("line") == "d1/kernel"
            and node.attrs["column"] == "via"]  # fmt: skip
    assert vias == ["via enc@0/d1", "via enc@1/d1"]


def test_what_is_not_named_stays_closed_and_is_one_box_on_each_rail():
    model = siamese()
    boxes = {node.id for node in ks.draw(model, level="gradient", expand="enc@1").graph.nodes}
    assert {"enc@0", "grad:enc@0", "enc@1/d1", "grad:enc@1/d1"} <= boxes
    assert not {"enc@1", "enc@0/d1", "grad:enc@0/d1"} & boxes
    assert {node.id for node in ks.draw(model, level="gradient").graph.nodes} >= {"enc@0", "enc@1"}


def test_frames_lie_in_frames_and_the_inputs_of_nested_models_have_no_boxes():
    graph = ks.draw(deep(), level="training", expand="all").graph
    frames = {group.id: group.parent for group in graph.groups if group.attrs["kind"] == "call"}
    assert frames == {"outer": "", "outer/inner": "outer"}
    rail = [node.id for node in graph.nodes if node.attrs.get("rail") == "forward"]
    assert sorted(rail) == [
        "both", "end", "outer/act", "outer/drop", "outer/inner/norm", "outer/inner/wide",
        "outer/side", "x",
    ]  # fmt: skip
    assert graph.node("outer/inner/wide").label == "outer/inner/wide"
    operands = {
        (edge.source, edge.attrs["operand"]) for edge in graph.edges
        if edge.target == "both" and "operand" in edge.attrs
    }  # fmt: skip
    assert operands == {("outer/act", 0), ("outer/side", 1)}


def test_layers_of_one_name_in_two_models_have_a_card_each():
    def block(name):
        x = Input((4,))
        return Model(x, Dense(4, name="same")(x), name=name)

    x = Input((4,), name="x")
    model = Model(x, block("right")(block("left")(x)), name="two")
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="training", expand="all").graph
    cards = [group.label for group in graph.groups if group.attrs["kind"] == "card"]
    assert cards == ["left/same", "right/same"]


def test_a_network_whose_call_is_code_stays_one_box():
    graph = ks.draw(compiled("subclassed_inside"), level="gradient", expand="all").graph
    assert {"block@0", "block@1", "grad:block@0"} <= {node.id for node in graph.nodes}


def test_a_nested_model_of_tokens_with_a_mask_is_opened():
    tokens = Input((3,), dtype="int32")
    inner = Model(tokens, Embedding(5, 4, mask_zero=True, name="table")(tokens), name="words")
    x = Input((3,), dtype="int32", name="x")
    model = Model(x, Dense(2, name="end")(inner(x)), name="masked")
    model.compile("sgd", "mse")
    graph = ks.draw(model, level="gradient", expand="all").graph
    assert graph.node("grad:words/table").attrs["beside"] == "words/table"


# --- numbers --------------------------------------------------------------------------------------


def test_each_call_inside_has_the_gradient_that_it_has_in_the_same_net_without_nesting(rng):
    model = siamese()
    same = flat(model)
    batch = [rng.normal(size=(6, 4)) for _ in range(2)], rng.normal(size=(6, 1))
    drawn = {"level": "gradient", "expand": "all", "most": None, "gradients": batch}
    opened = numbers_of(ks.draw(model, **drawn).graph)
    plain = numbers_of(ks.draw(same, **drawn).graph)
    for call in (0, 1):
        for layer in ("d1", "d2", "skip"):
            name = f"grad:enc@{call}/{layer}"
            assert opened[name] == pytest.approx(plain[f"grad:{layer}@{call}"]), name
    for weight in ("d1/kernel", "d1/bias", "d2/kernel", "d2/bias"):
        assert opened[f"grad:{weight}"] == pytest.approx(plain[f"grad:{weight}"])
        for number in (1, 2):
            part = f"grad:{weight}#{number}"
            assert opened[part] == pytest.approx(plain[part])


@pytest.mark.parametrize("make", [siamese, lambda: deep(rate=0)], ids=["siamese", "deep"])
def test_opening_changes_no_number_of_a_weight_and_nothing_of_the_model(make, rng):
    model = make()
    before = model.get_weights()
    x = [rng.normal(size=(6, *one.shape[1:])) for one in model.inputs]
    x, y = x if len(x) > 1 else x[0], rng.normal(size=(6, 1))
    closed = ks.draw(model, level="training", most=None, gradients=(x, y)).graph
    opened = ks.draw(model, level="training", expand="all", gradients=(x, y)).graph
    cells = {node.id: node.attrs for node in closed.nodes if "line" in node.attrs}
    found = {node.id: node.attrs for node in opened.nodes if "line" in node.attrs}
    assert cells.keys() == found.keys()
    for one, attrs in cells.items():
        for key in ("gradient_norm", "norm", "change"):
            assert (key in attrs) == (key in found[one])
            if key in attrs:
                assert attrs[key] == pytest.approx(found[one][key])
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_weight_has_one_line_whether_nested_models_are_open_or_closed(name):
    model = compiled(name)
    lines = [
        sorted(node.id for node in training_graph(model, nested=nested).nodes
               if node.attrs.get("column") == "weight")
        for nested in (False, True)
    ]  # fmt: skip
    assert lines[0] == lines[1]
    assert len(lines[0]) == len({id(weight) for weight in model.weights})


def read_by_two(name, size=3):
    given = ks.Input((size,), name=f"{name}_in")
    one, other = (ks.layers.Dense(size, name=f"{name}_{word}")(given) for word in "pq")
    return ks.Model(given, ks.layers.Add(name=f"{name}_sum")([one, other]), name=name)


@pytest.mark.parametrize("level", ["training", "gradient"])
@pytest.mark.parametrize("expand", ["first", "second", "third"])
def test_a_closed_model_beside_an_open_one_has_one_arrow_from_each_tensor(level, expand):
    """However many of its layers read it: on a ladder a model has no input of its own inside."""
    x = ks.Input((3,), name="x")
    h = read_by_two("third")(read_by_two("second")(read_by_two("first")(x)))
    model = ks.Model(x, ks.layers.Dense(1, name="scores")(h), name="three")
    model.compile("sgd", "mse")
    shown = ks.draw(model, level=level, expand=expand).view.shown
    closed = {"first", "second", "third"} - {expand}
    arrows = [edge for edge in shown.edges if edge.target in closed and "operand" in edge.attrs]
    assert len(arrows) == len(closed)
    assert all("connections" not in edge.attrs for edge in arrows)
    assert all(edge.attrs["operand"] == 0 for edge in arrows)


# --- in the page, where frames can be opened ------------------------------------------------------


def page_of(drawing):
    """Return the ids of the boxes, of the frames, and of those that are closed at first."""
    data = json.loads(re.search(r'id="data">\n(.*?)</script>', drawing.html, re.DOTALL)[1])
    names = [data["strings"][row[0]] for row in data["boxes"]]
    frames = names[len(names) - len(data["groups"]) :]
    return set(names) - set(frames), set(frames), {frames[number] for number in data["closed"]}


@pytest.mark.parametrize("level", LADDERS)
def test_a_page_can_open_nested_models_though_nobody_asked_for_it(level):
    for make, models in ((siamese, {"enc@0", "enc@1"}), (deep, {"outer", "outer/inner"})):
        drawing = ks.draw(make(), level=level)
        assert models.isdisjoint(group.id for group in drawing.whole.groups)  # the picture is flat
        boxes, frames, closed = page_of(drawing)
        assert models <= closed <= frames
        opened_by_hand = ks.draw(make(), level=level, expand="all").graph
        assert boxes == {node.id for node in opened_by_hand.nodes}


def test_what_a_page_can_open_has_its_numbers(rng):
    model, x, y = deep(rate=0), rng.normal(size=(6, 3)), rng.normal(size=(6, 1))
    weights = model.get_weights()
    page = ks.draw(model, level="training", gradients=(x, y)).html
    data = json.loads(re.search(r'id="data">\n(.*?)</script>', page, re.DOTALL)[1])
    strings = data["strings"]
    rows = {strings[row[0]]: data["attributes"][row[8]] for row in data["boxes"]}
    told = {
        name: pairs[2 * [strings[key] for key in pairs[::2]].index("gradient_norm") + 1][0]
        for name, pairs in rows.items()
        if "gradient_norm" in [strings[key] for key in pairs[::2]]
    }
    opened = ks.draw(model, level="training", gradients=(x, y), expand="all").graph
    wanted = numbers_of(opened)
    assert wanted
    assert {name: told[name] for name in wanted} == pytest.approx(wanted)
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
