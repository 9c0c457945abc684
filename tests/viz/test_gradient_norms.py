import numpy as np
import pytest
from zoo import ZOO

from kerascope import backend as K
from kerascope.backend import state
from kerascope.backend.graph import leaves
from kerascope.backend.variables import Variable
from kerascope.engine.model import Model
from kerascope.errors import ArgumentError, DataError, DtypeError, NotCompiledError
from kerascope.layers import Dense, Dropout, Embedding, Flatten, Input
from kerascope.viz.exports.to_svg import to_svg
from kerascope.viz.extract.networks import layers_by_path
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphNode
from kerascope.viz.overlays.gradient_norms import (
    gradient_norms_of,
    with_gradient_norms,
)
from kerascope.viz.theme import PALETTES


def compiled(name):
    model = ZOO[name]()
    model.compile("sgd", "mse")
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(3, *t.shape[1:])) for t in model.inputs]
    y = [rng.normal(size=(3, *t.shape[1:])) for t in model.outputs]
    return model, x, y


def test_norms_are_those_of_finite_differences():
    x = Input((3,), name="x")
    h = Dense(4, activation="tanh", name="h")(x)
    model = Model(x, Dense(2, name="y")(h))
    model.compile("sgd", "mse")
    given, labels = np.random.default_rng(1).normal(size=(2, 3)), np.zeros((2, 2))
    norm = gradient_norms_of(model, given, labels)[0]["x"]
    slopes = []
    for place in np.ndindex(given.shape):
        losses = []
        for step in (1e-2, -1e-2):
            moved = given.copy()
            moved[place] += step
            losses.append(float(model.test_on_batch(moved, labels)))
        slopes.append((losses[0] - losses[1]) / 2e-2)
    assert norm == pytest.approx(np.linalg.norm(slopes), rel=1e-2)


def test_a_shared_layer_has_a_norm_for_each_call():
    model, x, y = compiled("shared_layer")
    norms, _ = gradient_norms_of(model, x, y)
    assert {"shared@0", "shared@1"} <= norms.keys()
    assert norms["shared@0"] != norms["shared@1"]


def test_weight_gradients_are_those_of_the_graph():
    model, x, y = compiled("siamese")
    _, norms = gradient_norms_of(model, x, y)
    assert list(norms) == ["encoder", "encoder/wide", "encoder/code", "same"]
    together = np.hypot(norms["encoder/wide"], norms["encoder/code"])
    assert norms["encoder"] == pytest.approx(together)
    layer = model.layers[-1]
    found = K.gradients(model.total_loss, layer.trainable_weights)
    feeds = [*model.inputs, *model.targets, *model.sample_weights]
    numbers = K.function(feeds, found)([*x, *y, np.ones(3)])
    assert norms["same"] == pytest.approx(np.sqrt(sum((n**2).sum() for n in numbers)))


def test_layers_are_found_by_their_paths():
    paths = layers_by_path(ZOO["nested_in_nested"]())
    assert "middle/inner/wide" in paths
    assert paths["middle/inner/wide"].name == "wide"


def test_nothing_in_the_model_changes():
    x = Input((6,), name="x")
    model = Model(x, Dense(1, name="y")(Dropout(0.5, name="drop")(Dense(8, name="h")(x))))
    model.compile("rmsprop", "mse")
    given, labels = np.ones((4, 6)), np.zeros((4, 1))
    variables = [v for v in leaves([model.total_loss]) if isinstance(v, Variable)]
    before = [np.array(v.get_value()) for v in variables]
    names = dict(state._state.uids)
    draws = np.random.get_state()[1].tolist()
    nodes = [len(layer.inbound_nodes) for layer in model.layers]
    first = gradient_norms_of(model, given, labels)
    assert gradient_norms_of(model, given, labels) == first  # the same numbers are drawn again
    for variable, value in zip(variables, before, strict=True):
        np.testing.assert_array_equal(variable.get_value(), value)
    assert dict(state._state.uids) == names
    assert np.random.get_state()[1].tolist() == draws
    assert [len(layer.inbound_nodes) for layer in model.layers] == nodes
    assert any(v.default_update is not None for v in variables)  # there were counts to put back


def test_what_the_loss_does_not_depend_on_is_left_out():
    words = Input((3,), dtype="int32", name="words")
    model = Model(words, Dense(1)(Flatten()(Embedding(5, 2, name="table")(words))))
    model.compile("sgd", "mse")
    norms, _ = gradient_norms_of(model, np.array([[0, 1, 2]]), np.ones((1, 1)))
    assert "words" not in norms
    assert norms["table"] > 0


def test_what_is_needed_is_asked_for():
    with pytest.raises(NotCompiledError):
        gradient_norms_of(ZOO["chain"](), np.ones((1, 20)), np.ones((1, 10)))
    with pytest.raises(DtypeError, match="expected a compiled model, got int"):
        gradient_norms_of(3, 1, 2)
    model, x, _ = compiled("chain")
    with pytest.raises(DataError):
        gradient_norms_of(model, x, np.ones((1, 3)))


# --- in a graph -----------------------------------------------------------------------------------


def test_boxes_say_their_norms():
    model, x, y = compiled("siamese")
    graph = graph_of(model, expand_nested=True)
    norms, weights = gradient_norms_of(model, x, y)
    marked = with_gradient_norms(graph, norms, weights)
    attrs = marked.node("same").attrs
    assert attrs["detail"].split("\n")[0] == f"‖grad‖ {norms['same']:.1e}"
    assert attrs["detail"].split("\n")[1] == f"‖weight grad‖ {weights['same']:.1e}"
    assert attrs["state"] == "gradient"
    assert attrs["gradient_norm"] == pytest.approx(norms["same"], rel=1e-3)
    assert marked.groups[0].attrs["state"] == "gradient"
    assert "‖weight grad‖" in marked.node("encoder@1/wide").attrs["detail"]


def test_vanishing_and_broken_gradients_are_told_in_words():
    nodes = tuple(GraphNode(name, name, "dense") for name in "abcd")
    norms = {"a": 2.0, "b": 1e-8, "c": float("nan"), "d": 0.0}
    graph = with_gradient_norms(Graph("g", nodes, ()), norms)
    assert graph.node("a").attrs == {
        "detail": "‖grad‖ 2.0e+00",
        "gradient_norm": 2.0,
        "heat": "heat5",
        "state": "gradient",
    }
    assert graph.node("b").attrs["detail"] == "‖grad‖ 1.0e-08 · vanishing"
    assert graph.node("b").attrs["note"] == "gradient vanishing"
    assert graph.node("c").attrs["state"] == "nan"
    assert "gradient_norm" not in graph.node("c").attrs  # JSON has no NaN
    assert graph.node("d").attrs["detail"] == "‖grad‖ 0 · vanishing"


def test_a_box_is_paler_for_each_power_of_ten_and_the_picture_says_so():
    names = "abcde"
    nodes = tuple(GraphNode(name, name, "dense") for name in names)
    norms = dict(zip(names, (3.0, 0.3, 0.02, 2.9e-6, 0.0), strict=True))
    graph = with_gradient_norms(Graph("g", nodes, ()), norms)
    heats = [str(graph.node(name).attrs["heat"]) for name in names]
    assert heats == ["heat5", "heat4", "heat3", "heat0", "heat0"]
    svg = to_svg(graph)
    for heat in set(heats):
        assert PALETTES["light"].heat(heat) in svg
        assert PALETTES["dark"].heat(heat) in svg
    assert "one step paler for each power of ten" in svg
    assert all(f"{norm:.1e}" in svg for norm in (3.0, 0.3, 0.02))  # never by the colour alone


def test_a_norm_of_an_unknown_box_is_refused():
    with pytest.raises(ArgumentError, match="no box 'z'"):
        with_gradient_norms(Graph("g", (GraphNode("a", "a", "dense"),), ()), {"z": 1.0})
