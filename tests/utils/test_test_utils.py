"""Helpers for tests of one's own layers: `keras.utils.test_utils`."""

import numpy as np
import pytest

from kerascope import K, layers
from kerascope.errors import DataError, ShapeError
from kerascope.utils.test_utils import get_test_data, layer_test


def test_the_data_have_the_shapes_that_were_asked_for():
    np.random.seed(0)
    (x, y), (x_test, y_test) = get_test_data(8, 3, (5, 2), num_classes=4)
    assert (x.shape, y.shape, x_test.shape, y_test.shape) == ((8, 5, 2), (8,), (3, 5, 2), (3,))
    assert set(y.tolist()) <= {0, 1, 2, 3}
    (_, y), _ = get_test_data(8, 3, output_shape=(6,), classification=False)
    assert y.shape == (8, 6)


def test_the_data_can_be_learnt_and_are_repeatable():
    drawn = []
    for _ in range(2):
        np.random.seed(1)
        (x, y), _ = get_test_data(400, 1, num_classes=3)
        drawn.append(x)
    np.testing.assert_array_equal(*drawn)
    means = [x[y == label].mean() for label in range(3)]
    np.testing.assert_allclose(means, [0, 1, 2], atol=0.1)


@pytest.mark.parametrize(
    ("layer", "kwargs", "shape"),
    [
        (layers.Dense, {"units": 3}, (2, 4)),
        (layers.Dense, {"units": 3}, (None, None, 4)),
        (layers.Dropout, {"rate": 0.5}, (3, 2)),
        (layers.LSTM, {"units": 3}, (None, 5, 4)),
        (layers.Conv2D, {"filters": 2, "kernel_size": 3}, (3, 6, 5, 2)),
        (layers.BatchNormalization, {}, (4, 3)),
    ],
)
def test_layers_of_keras_pass(layer, kwargs, shape):
    output = layer_test(layer, kwargs, input_shape=shape)
    assert isinstance(output, np.ndarray)


def test_given_data_give_the_expected_output():
    x = np.array([[1.0, -2.0]], "float32")
    layer_test(layers.Activation, {"activation": "relu"}, input_data=x, expected_output=[[1, 0]])
    layer_test(layers.Flatten, input_data=np.ones((2, 3, 2), "float32"), fixed_batch_size=True)
    with pytest.raises(AssertionError):
        layer_test(layers.Activation, {"activation": "relu"}, input_data=x, expected_output=x)


def test_types_are_compared():
    with pytest.raises(AssertionError, match="expected the output dtype int32, got float32"):
        layer_test(
            layers.Embedding,
            {"input_dim": 5, "output_dim": 2},
            input_data=np.ones((2, 3), "int32"),
            input_dtype="int32",
        )
    layer_test(
        layers.Embedding,
        {"input_dim": 5, "output_dim": 2},
        input_data=np.ones((2, 3), "int32"),
        input_dtype="int32",
        expected_output_dtype="float32",
    )


class ForgetsItsArgument(layers.Layer):
    def __init__(self, factor=1.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return inputs * self.factor

    def get_config(self):
        return {"name": self.name}


class LiesAboutItsShape(layers.Layer):
    def call(self, inputs):
        return K.concatenate([inputs, inputs])

    def compute_output_shape(self, input_shape):
        return input_shape


def test_a_layer_that_is_not_its_configuration_fails():
    with pytest.raises(AssertionError):
        layer_test(ForgetsItsArgument, {"factor": 3.0}, input_shape=(2, 3))


def test_a_layer_that_says_a_wrong_shape_fails():
    with pytest.raises(ShapeError, match=r"says \(None, 3\), but call made \(None, 6\)"):
        layer_test(LiesAboutItsShape, input_shape=(2, 3))


def test_some_data_are_needed():
    with pytest.raises(DataError, match="expected input_shape or input_data"):
        layer_test(layers.Dense, {"units": 2})
