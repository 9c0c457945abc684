"""`draw(model, diff=...)`: graphs, and the weights of one graph at two times."""

import numpy as np
import pytest
from zoo import ZOO

import kerascope as ks
from kerascope.errors import ArgumentError, DtypeError


@pytest.fixture(name="model")
def diamond():
    return ZOO["diamond"]()


def states(drawing):
    return {node.id: node.attrs.get("state", "") for node in drawing.graph.nodes}


def test_the_arrays_of_an_earlier_time_show_which_weights_moved(model):
    before = model.get_weights()
    model.get_layer("left").set_weights([w + 1 for w in before[:2]])
    drawing = ks.draw(model, diff=before)
    assert states(drawing) == {"x": "", "left": "changed", "right": "", "sum": ""}
    assert "The weights of 1 box changed" in drawing.graph.attrs["caption"]
    assert drawing.graph.node("right").attrs["detail"] == "weights unchanged"


def test_two_models_with_one_graph_are_compared_by_their_weights(model, tmp_path):
    model.save(tmp_path / "before.keras")
    before = ks.models.load_model(tmp_path / "before.keras")
    assert set(states(ks.draw(model, diff=before)).values()) == {""}
    model.set_weights([2 * w + 1 for w in model.get_weights()])
    assert states(ks.draw(model, diff=before))["left"] == "changed"
    assert states(ks.draw(model, diff=before, level="layer"))["right"] == "changed"


def test_where_the_graph_has_changed_that_is_what_counts(model):
    x = ks.Input((8,), name="x")
    left = ks.layers.Dense(5, name="left")(x)
    right = ks.layers.Dense(5, activation="tanh", name="right")(x)
    other = ks.Model(x, ks.layers.Add(name="sum")([left, right]), name="diamond")
    drawing = ks.draw(other, diff=model)
    assert "weights" not in drawing.graph.node("left").attrs["note"]
    assert states(drawing)["left"] == "changed"


@pytest.mark.parametrize(
    ("level", "before", "error", "words"),
    [
        ("node", [np.ones(3)], ArgumentError, "expected 4 arrays, got 1"),
        ("node", 3, DtypeError, "draw: diff: expected a model"),
        (
            "op",
            [np.ones(3)],
            ArgumentError,
            "at level 'node' or 'layer' for diff=weights, got Model at level 'op'",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(level, before, error, words, model):
    with pytest.raises(error, match=words):
        ks.draw(model, level=level, diff=before)
