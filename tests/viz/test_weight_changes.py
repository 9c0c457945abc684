import numpy as np
import pytest
from zoo import ZOO

from kerascope.errors import ArgumentError, DtypeError
from kerascope.layers import BatchNormalization, Dense, Input
from kerascope.models import Model, clone_model
from kerascope.viz.draw import draw
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.overlays.diff import weight_changes, with_weight_changes


def test_training_moves_the_weights_of_the_picture():
    model = ZOO["siamese"]()
    model.layers[-1].trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch([np.ones((2, 16)), np.zeros((2, 16))], np.ones((2, 1)))
    changes = weight_changes(model, before)
    assert changes["same"] == 0
    assert changes["encoder"] > 0
    graph = with_weight_changes(graph_of(model, expand_nested=True), changes)
    assert graph.node("same").attrs["detail"] == "weights unchanged"
    for box in ("encoder@0/wide", "encoder@1/wide"):
        attrs = graph.node(box).attrs
        assert attrs["state"] == "changed"
        assert attrs["note"].startswith("weights changed by ")
        assert attrs["weight_change"] == pytest.approx(changes["encoder/wide"], rel=1e-3)


@pytest.mark.parametrize("first", [BatchNormalization, Dense])
def test_weights_that_are_not_trained_are_paired_with_their_own_numbers(first):
    inputs = Input((4,))
    begun = first(*[4] if first is Dense else [], name="frozen")(inputs)
    model = Model(inputs, Dense(1, name="d")(BatchNormalization(name="norm")(begun)))
    model.layers[1].trainable = False
    model.compile("sgd", "mse")
    twin = clone_model(model)
    twin.set_weights(model.get_weights())
    before = model.get_weights()
    model.train_on_batch(np.random.RandomState(0).randn(16, 4), np.ones((16, 1)))
    expected = {}
    for layer in model.layers[1:]:
        old = np.concatenate([w.ravel() for w in twin.get_layer(layer.name).get_weights()])
        new = np.concatenate([w.ravel() for w in layer.get_weights()])
        expected[layer.name] = np.linalg.norm(new - old) / np.linalg.norm(old)
    changes = weight_changes(model, before)
    assert changes == pytest.approx(expected, rel=1e-5)
    assert changes["frozen"] == 0
    assert changes["norm"] > 0
    assert "weights unchanged" in str(draw(model, diff=before))
    assert "weights unchanged" in str(draw(model, diff=twin))


def test_the_change_is_relative_to_the_size_before():
    model = ZOO["chain"]()
    before = [np.full(w.shape, 2.0) for w in model.weights]
    after = [np.full(w.shape, 3.0) for w in model.weights]
    assert weight_changes(model, before, after) == {"hidden": 0.5, "scores": 0.5}


def test_weights_that_were_zero_and_weights_that_broke():
    model = ZOO["chain"]()
    zeros = [np.zeros(w.shape) for w in model.weights]
    ones = [np.ones(w.shape) for w in model.weights]
    broken = [ones[0] * np.nan, *ones[1:]]
    graph = with_weight_changes(graph_of(model), weight_changes(model, zeros, broken))
    assert graph.node("hidden").attrs["state"] == "nan"
    assert graph.node("scores").attrs["note"] == "weights changed from 0"
    assert set(weight_changes(model, zeros, zeros).values()) == {0.0}


def test_arrays_of_another_model_are_refused():
    model = ZOO["chain"]()
    with pytest.raises(ArgumentError, match="before: expected 4 arrays, got 1"):
        weight_changes(model, [np.zeros(3)])
    arrays = model.get_weights()
    with pytest.raises(ArgumentError, match=r"after: expected array 1 to have shape \(64,\)"):
        weight_changes(model, arrays, [arrays[0], np.zeros(3), *arrays[2:]])
    with pytest.raises(DtypeError, match="expected a model, got str"):
        weight_changes("m", [])
    with pytest.raises(ArgumentError, match="has none of the layers"):
        with_weight_changes(graph_of(ZOO["diamond"]()), {"hidden": 1.0})
