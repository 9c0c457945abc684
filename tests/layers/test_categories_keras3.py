"""Discretization and CategoryEncoding against the real Keras 3."""

import numpy as np
import pytest
from keras_reference import generator, keras, live_needs

from kerascope import layers
from kerascope.errors import RefusedError
from kerascope.models import Model, load_model

pytestmark = pytest.mark.usefixtures("answers")

rng = generator(17)
MODES = ["one_hot", "multi_hot", "count"]
CATEGORIES = [[0, 1, 9], [[0], [3]], [[0, 1], [3, 3]], [[[0, 1], [1, 2]]], 2]


def agree(ours, theirs):
    theirs = np.asarray(theirs)
    assert (ours.dtype.kind, ours.shape) == (theirs.dtype.kind, theirs.shape)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", range(len(CATEGORIES)))
def test_categories_are_marked_as_in_keras_3(mode, number):
    x = np.array(CATEGORIES[number])
    ours, theirs = (home.CategoryEncoding(4, output_mode=mode) for home in (layers, keras.layers))
    agree(ours(x), theirs(x))
    config = theirs.get_config()
    assert [config[key] for key in ("num_tokens", "output_mode")] == [4, mode]
    assert type(ours).from_config(config).output_mode == mode


def test_counted_categories_may_weigh_differently(keras):
    x, weights = np.array([[0, 1], [3, 3]]), np.array([[0.1, 0.2], [0.3, 0.4]], "float32")
    ours, theirs = (
        home.CategoryEncoding(4, output_mode="count") for home in (layers, keras.layers)
    )
    agree(ours(x, count_weights=weights), theirs(x, count_weights=weights))


@pytest.mark.parametrize("mode", ["int", *MODES])
def test_numbers_fall_into_intervals_as_in_keras_3(mode):
    x = np.array([[-1.0, 0.0], [0.5, 3.0]], "float32")
    borders = [0.0, 1.0, 2.0]
    ours, theirs = (
        home.Discretization(borders, output_mode=mode) for home in (layers, keras.layers)
    )
    agree(ours(x), theirs(x))
    known = theirs.get_config()
    assert {key: ours.get_config()[key] for key in known if key != "name"} == {
        key: value for key, value in known.items() if key != "name"
    }


@pytest.mark.parametrize(
    ("size", "bins", "epsilon"),
    [(1000, 4, 0.01), (1000, 3, 0.03), (255, 5, 0.1), (33, 4, 0.1), (7, 3, 0.01), (100, 4, 0.01)],
)
def test_borders_are_taken_from_data_as_in_keras_3(size, bins, epsilon):
    live_needs("tensorflow")
    for data in (np.arange(float(size)), rng.normal(size=(size, 2))):
        ours, theirs = (
            home.Discretization(num_bins=bins, epsilon=epsilon) for home in (layers, keras.layers)
        )
        ours.adapt(data)
        theirs.adapt(data)
        np.testing.assert_allclose(
            ours.bin_boundaries, list(theirs.bin_boundaries), rtol=1e-4, atol=1e-4
        )


@pytest.mark.filterwarnings("ignore:__array__")
def test_both_work_inside_a_model_and_in_its_file(keras, tmp_path):
    inputs = layers.Input((2,))
    bins = layers.Discretization(num_bins=3)
    bins.adapt(np.arange(10.0))
    outputs = layers.CategoryEncoding(3)(bins(inputs))
    model = Model(inputs, layers.Dense(2)(outputs))
    x = np.array([[1.0, 9.0], [5.0, 4.0]], "float32")
    path = tmp_path / "model.keras"
    model.save(path)
    theirs = keras.models.load_model(path)
    for found in (load_model(path).predict(x), np.asarray(theirs(x))):
        np.testing.assert_allclose(model.predict(x), found, rtol=1e-5)
    back = tmp_path / "back.keras"
    theirs.save(back)
    np.testing.assert_array_equal(load_model(back).predict(x), model.predict(x))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layers.CategoryEncoding(), "whole number above 0"),
        (lambda: layers.CategoryEncoding(3, "ones"), "output_mode 'ones'"),
        (lambda: layers.CategoryEncoding(3, sparse=True), "sparse"),
        (lambda: layers.CategoryEncoding(3)(np.zeros((2, 3, 1))), "longer than 1"),
        (lambda: layers.Discretization(), "expected either bin_boundaries or num_bins"),
        (lambda: layers.Discretization(num_bins=3)(np.zeros(2)), "no boundaries yet"),
        (lambda: layers.Discretization([1.0]).adapt(np.zeros(2)), "bin_boundaries were given"),
    ],
)
def test_what_cannot_be_sorted_is_said(make, words):
    with pytest.raises((ValueError, RefusedError), match=words):
        make()
