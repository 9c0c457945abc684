"""Pooling, padding, stretching, noise and activation layers against the real Keras 3."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import layers
from tests.layers.test_layers_keras3 import compare

pytestmark = pytest.mark.usefixtures("answers")

rng = generator(12)


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def ties(*shape):
    """Only three different numbers, so that most windows have several maxima."""
    return rng.integers(-1, 2, shape).astype("float32")


SHAPES = {1: (2, 7, 3), 2: (2, 6, 7, 3), 3: (2, 4, 5, 6, 2)}


@pytest.mark.parametrize("numbers", [floats, ties])
@pytest.mark.parametrize(
    ("axes", "arguments"),
    [
        (1, {}),
        (1, {"pool_size": 3, "strides": 1, "padding": "same"}),
        (2, {}),
        (2, {"pool_size": 3, "strides": 2, "padding": "same"}),
        (2, {"pool_size": (2, 3), "strides": (1, 2)}),
        (2, {"pool_size": 2, "strides": 3, "padding": "same", "data_format": "channels_first"}),
        (3, {"pool_size": 2, "strides": (1, 2, 2), "padding": "same"}),
    ],
)
def test_max_pooling_agrees_in_outputs_and_in_the_choice_among_equal_maxima(
    numbers, axes, arguments
):
    compare(f"MaxPooling{axes}D", arguments, [numbers(*SHAPES[axes])])


@pytest.mark.parametrize(
    ("axes", "arguments"),
    [
        (1, {"pool_size": 2}),
        (1, {"pool_size": 4, "strides": 3, "padding": "same"}),
        (2, {"pool_size": 2}),
        (2, {"pool_size": (3, 2), "strides": 1, "padding": "same"}),
        (2, {"pool_size": 4, "strides": 3, "padding": "same"}),
        (2, {"pool_size": (1, 3), "strides": (2, 1), "data_format": "channels_first"}),
        (3, {"pool_size": 2}),
        (3, {"pool_size": 3, "strides": 2, "padding": "same"}),
    ],
)
def test_average_pooling_agrees(axes, arguments):
    compare(f"AveragePooling{axes}D", arguments, [floats(*SHAPES[axes])])


@pytest.mark.parametrize("name", ["GlobalMaxPooling", "GlobalAveragePooling"])
@pytest.mark.parametrize(
    ("axes", "arguments"),
    [(1, {}), (2, {"keepdims": True}), (2, {"data_format": "channels_first"}), (3, {})],
)
def test_global_pooling_agrees(name, axes, arguments):
    compare(f"{name}{axes}D", arguments, [floats(*SHAPES[axes])])


def test_global_average_over_the_steps_that_count_agrees():
    x, mask = floats(3, 4, 2), np.array([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]], bool)
    mine = layers.GlobalAveragePooling1D()(x, mask=mask)
    theirs = keras.layers.GlobalAveragePooling1D()(x, mask=mask)
    np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-6)
    np.testing.assert_allclose(mine[0], x[0, :2].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ZeroPadding1D", {"padding": (2, 1)}),
        ("ZeroPadding1D", {"padding": 1, "data_format": "channels_first"}),
        ("ZeroPadding2D", {"padding": 2}),
        ("ZeroPadding2D", {"padding": ((1, 0), (2, 3)), "data_format": "channels_first"}),
        ("ZeroPadding3D", {"padding": (1, 0, 2)}),
        ("Cropping1D", {"cropping": (2, 0)}),
        ("Cropping2D", {"cropping": (1, 2)}),
        ("Cropping2D", {"cropping": ((1, 0), (0, 2)), "data_format": "channels_first"}),
        ("Cropping3D", {"cropping": ((1, 0), (0, 2), (0, 0))}),
        ("UpSampling1D", {"size": 3}),
        ("UpSampling2D", {"size": (2, 3)}),
        ("UpSampling2D", {"size": 2, "interpolation": "bilinear"}),
        ("UpSampling2D", {"size": (3, 4), "interpolation": "bilinear"}),
        ("UpSampling2D", {"size": 3, "data_format": "channels_first"}),
        ("UpSampling3D", {"size": (1, 2, 2)}),
    ],
)
def test_layer_that_changes_the_size_agrees(name, arguments):
    compare(name, arguments, [floats(*SHAPES[int(name[-2])])])


@pytest.mark.parametrize(
    ("name", "arguments", "keras_arguments"),
    [
        ("LeakyReLU", {}, {}),
        ("LeakyReLU", {"alpha": 0.1}, {"negative_slope": 0.1}),
        ("PReLU", {}, None),
        ("PReLU", {"shared_axes": [1]}, None),
        ("ELU", {}, None),
        ("ELU", {"alpha": 0.4}, None),
        ("Softmax", {"axis": 1}, None),
        ("ReLU", {}, None),
        ("ReLU", {"max_value": 1.0, "negative_slope": 0.2, "threshold": 0.3}, None),
    ],
)
def test_activation_layer_agrees(name, arguments, keras_arguments):
    compare(name, arguments, [floats(3, 5, 4)], keras_arguments=keras_arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("GaussianNoise", {"stddev": 0.7}), ("GaussianDropout", {"rate": 0.3})],
)
def test_noise_is_as_strong_as_that_of_keras(name, arguments):
    x = np.full((400, 100), 2.0, "float32")
    mine = getattr(layers, name)(**arguments, seed=1)(x, training=True)
    theirs = getattr(keras.layers, name)(**arguments, seed=1)(x, training=True)
    assert abs(mine.mean() - float(keras.ops.mean(theirs))) < 0.03
    assert mine.std() == pytest.approx(float(keras.ops.std(theirs)), rel=0.02)


@pytest.mark.parametrize("noise_shape", [None, (None, 1)])
def test_alpha_dropout_gives_the_two_values_of_keras(noise_shape):
    x = np.full((400, 100), 2.0, "float32")
    found = []
    for module in (layers, keras.layers):
        shape = None if noise_shape is None else (400, 1)
        layer = module.AlphaDropout(0.4, noise_shape=shape, seed=1)
        output = np.asarray(layer(x, training=True))
        values = np.unique(output.round(4))
        assert len(values) == 2
        assert abs((output < output.mean()).mean() - 0.4) < (0.02 if shape is None else 0.1)
        found.append(values)
    np.testing.assert_allclose(*found, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "arguments", "renamed"),
    [
        ("MaxPooling1D", {}, {}),
        ("AveragePooling2D", {"pool_size": 2, "padding": "same"}, {}),
        ("GlobalMaxPooling2D", {}, {}),
        ("ZeroPadding1D", {"padding": (0, 2)}, {}),
        ("ZeroPadding2D", {"padding": 2}, {}),
        ("Cropping1D", {"cropping": 1}, {}),
        ("UpSampling1D", {}, {}),
        ("UpSampling2D", {}, {}),
        ("UpSampling3D", {}, {}),
        ("LeakyReLU", {}, {"negative_slope": "alpha"}),
        ("PReLU", {}, {}),
        ("ReLU", {}, {}),
        ("GaussianNoise", {"stddev": 0.1}, {}),
        ("AlphaDropout", {"rate": 0.1}, {}),
    ],
)
def test_configurations_name_the_same_arguments_and_each_reads_the_other(name, arguments, renamed):
    mine = getattr(layers, name)(**arguments)
    real = getattr(keras.layers, name)(**arguments)
    own, theirs = mine.get_config(), real.get_config()
    assert {renamed.get(key, key) for key in theirs} - set(own) == set()
    known = {key: value for key, value in theirs.items() if key not in ("dtype", "quantization")}
    plain = {k: v for k, v in known.items() if not isinstance(v, dict) or "module" not in v}
    again = type(mine)(**plain)
    for key, value in own.items():
        if key not in ("name", "dtype"):
            assert again.get_config()[key] == value, key
