"""What scripts of Keras 2 count on; the numbers are what Keras 2.2.4 on Theano 1.0.5 answers."""

from __future__ import annotations

import numpy as np
import pytest

from kerascope import K, config
from kerascope.applications import imagenet_utils
from kerascope.compat import keras_imports
from kerascope.errors import ShapeError
from kerascope.initializers import Identity
from kerascope.layers import GRU, LSTM, RNN, Input, Layer, ReLU
from kerascope.models import Model

X = np.array([-7.0, -3.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 5.5, 6.0], "float32")


@pytest.mark.parametrize(
    ("alpha", "max_value", "threshold", "expected"),
    [
        (0.0, None, 1.0, [0, 0, 0, 0, 0, 0, 2, 3, 5.5, 6]),
        (0.0, None, -0.8, [0, 0, -0.5, 0, 0.5, 1, 2, 3, 5.5, 6]),
        (0.0, 5.0, -0.8, [0, 0, 0, 0, 0.5, 1, 2, 3, 5, 5]),
        (0.1, 5.0, -0.8, [-0.62, -0.22, 0, 0, 0.5, 1, 2, 3, 5, 5]),
        (0.2, 6.0, 1.0, [-1.6, -0.8, -0.3, -0.2, -0.1, 0, 2, 3, 5.5, 6]),
        (-0.1, 0.0, 0.0, [0.7, 0.3, 0.05, 0, 0, 0, 0, 0, 0, 0]),
        (2.0, -1.0, 0.0, [-15, -7, -2, -1, -1, -1, -1, -1, -1, -1]),
        (2.0, 5.0, 4.0, [-22, -14, -9, -8, -7, -6, -4, -2, 5, 5]),
    ],
)
def test_relu_with_thresholds_slopes_and_ceilings(alpha, max_value, threshold, expected):
    x = K.variable(X)
    y = K.relu(x, alpha, max_value, threshold)
    np.testing.assert_allclose(K.eval(y), expected, atol=1e-6)
    step = 1e-2
    ups, downs = (
        K.eval(K.relu(K.variable(X + d), alpha, max_value, threshold)) for d in (step, -step)
    )
    slopes = (ups.astype("float64") - downs) / (2 * step)
    corners = [
        abs(X - c) < 2 * step for c in (0, threshold, 99 if max_value is None else max_value)
    ]
    smooth = ~np.logical_or.reduce(corners)
    found = K.eval(K.gradients(K.sum(y), [x])[0])
    np.testing.assert_allclose(found[smooth], slopes[smooth], atol=1e-3)


def test_the_program_of_relu_computes_what_its_steps_do():
    for arguments in [(0.1, 5.0, -0.8), (0.0, None, 1.0), (-0.1, 0.0, 0.0), (2.0, None, 0.0)]:
        x = K.placeholder((10,))
        y = K.relu(x, *arguments)
        run = K.function([x], [y, K.gradients(K.sum(y), [x])[0]], verify=True)
        for _ in range(3):  # the third runs as a program
            out, _ = run([X])
        assert np.array_equal(out, K.eval(K.relu(K.variable(X), *arguments)))


def test_the_layer_relu_is_0_at_its_threshold():
    x = Input((10,))
    y = Model(x, ReLU(threshold=3.0)(x)).predict(X[np.newaxis])
    assert y[0].tolist() == [0] * 8 + [5.5, 6]


def test_identity_gives_each_gate_a_matrix_of_its_own(monkeypatch):
    for layer, gates in ((LSTM(2, recurrent_initializer="identity"), 4), (GRU(2), 3)):
        layer.cell.recurrent_initializer = Identity(gain=2.0)
        layer.build((None, 3, 5))
        kernel = K.get_value(layer.cell.recurrent_kernel)
        assert np.array_equal(kernel, np.tile(2.0 * np.eye(2), gates))
    assert np.array_equal(Identity()((4, 2)), np.tile(np.eye(2), (2, 1)))
    with pytest.raises(ShapeError, match="longer side is a multiple of the shorter"):
        Identity()((5, 8))
    monkeypatch.setattr(config, "dialect", "3")
    assert np.array_equal(Identity()((2, 4)), np.eye(2, 4))


class CellWithConstant(Layer):
    """The cell of Keras's own tests: `build` gets the shapes of the step and of the constant."""

    units = state_size = 4

    def build(self, input_shape):
        if not isinstance(input_shape, list):
            raise TypeError("expects constants shape")
        self.shapes = [input_shape, constant_shape] = input_shape
        self.kernel = self.add_weight("kernel", (input_shape[-1], 4), initializer="ones")
        self.recurrent = self.add_weight("recurrent", (4, 4), initializer="identity")
        self.constant = self.add_weight("constant", (constant_shape[-1], 4), initializer="ones")
        self.built = True

    def call(self, inputs, states, constants):
        y = 0.1 * K.dot(inputs, self.kernel) + 0.5 * K.dot(states[0], self.recurrent)
        y += 0.1 * K.dot(constants[0], self.constant)
        return y, [y]


def test_a_cell_is_built_with_the_shapes_of_its_constants():
    cell, x, constant = CellWithConstant(), Input((None, 5)), Input((3,))
    outputs = [RNN(cell)(x, constants=constant), RNN(CellWithConstant())(x, constants=[constant])]
    assert cell.shapes == [(None, 5), (None, 3)]
    steps = np.arange(30).reshape(2, 3, 5).astype("float32") / 30
    found = Model([x, constant], outputs).predict([steps, [[1, 2, 3], [4, 5, 6]]])
    for output in found:
        np.testing.assert_allclose(output[:, 0], [1.316667, 3.329167], atol=1e-5)


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
def test_images_of_floats_are_prepared_in_place(mode):
    images = np.random.default_rng(0).uniform(0, 255, (2, 3, 3, 3))
    for dtype in ("float64", "float32"):
        given = images.astype(dtype)
        ready = imagenet_utils.preprocess_input(given, mode=mode)
        assert np.shares_memory(ready, given)
        # From blue to red is a view; what was given stays from red to blue.
        np.testing.assert_array_equal(ready, given[..., ::-1] if mode == "caffe" else given)
        assert ready.dtype == dtype
        assert abs(ready).max() < 255
    whole = images.astype(int)
    before = whole.copy()
    assert imagenet_utils.preprocess_input(whole, mode=mode).dtype == "float32"
    assert np.array_equal(whole, before)


def test_names_of_keras_2_are_where_its_scripts_import_them():
    with keras_imports():
        from keras.engine import get_source_inputs
        from keras.engine.network import Network
        from keras.engine.network import get_source_inputs as same
        from keras.utils.io_utils import H5Dict, h5dict

        assert get_source_inputs is same
        assert issubclass(Model, Network)
        assert h5dict is H5Dict


@pytest.mark.parametrize("name", ["keras.nothing", "keras.layer", "keras.layers.Dense"])
def test_a_module_that_is_missing_is_a_module_not_found(name):
    with keras_imports(), pytest.raises(ModuleNotFoundError):
        __import__(name)


def test_a_misspelt_name_still_says_which_one_is_meant():
    with keras_imports(), pytest.raises(ImportError, match="Did you mean 'Dense'"):
        from keras.layers import Dens  # noqa: F401
