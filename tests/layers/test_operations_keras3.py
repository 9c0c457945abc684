"""Models with operations between layers: the real Keras 3 makes the same, and reads our files."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import backend as K
from kerascope import layers, models
from kerascope.layers.ops import keras_ops
from kerascope.settings import config

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
rng = generator(0)
ARRAYS = [rng.normal(size=(5, 4)).astype("float32"), rng.normal(size=(5, 3, 4)).astype("float32")]


def arithmetic(layers, ops, a, s):
    r = a + layers.Dense(4, name="dense")(a)
    r = layers.Dense(4, name="dense_1")(1 - r * 2)
    r = abs((-(r / 2)) ** 2 - 0.3)
    return [r, r > 0.1, a * np.array([1.0, 2.0, 3.0, 4.0])]


def shapes(layers, ops, a, s):
    product = s @ ops.transpose(s, (0, 2, 1))
    flat = ops.concatenate([a, ops.reshape(product, (-1, 9))], axis=-1)
    return [
        flat[:, 1:7:2],
        s[:, None, ..., 0],
        layers.Dropout(0.3, name="dropout")(s[:, :, ::-1]),
        ops.stack([a, a], axis=1),
        ops.tile(ops.repeat(ops.flip(a, 1), 2, axis=1), (1, 2)),
        ops.squeeze(ops.expand_dims(a, 1), 1),
    ]


def reductions(layers, ops, a, s):
    mean = ops.expand_dims(ops.mean(s, axis=1), 1) + s
    total = ops.sum(mean, axis=(1, 2), keepdims=True)
    return [
        total,
        ops.max(s, axis=1),
        ops.min(s, axis=-1),
        ops.logsumexp(a, axis=1),
        ops.one_hot(ops.argmax(a, axis=-1), 4),
        ops.cumsum(a, axis=1),
    ]


def functions(layers, ops, a, s):
    w = ops.where(a > 0.0, ops.maximum(a, 0.5), a)
    w = ops.relu(w) + ops.softmax(w) + ops.sigmoid(w) + ops.exp(w) + ops.tanh(w)
    w = ops.log(1 + ops.square(ops.clip(w, 0, 3)))
    w = ops.einsum("abc,ac->ab", s, w)
    return [w, ops.log_softmax(ops.elu(w)), ops.take(w, np.array([0, 2]), axis=1)]


def built(layers, model, ops, function):
    a, s = layers.Input((4,), name="a"), layers.Input((3, 4), name="s")
    return model([a, s], function(layers, ops, a, s))


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    yield
    K.clear_session()


def same(found, expected):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("function", [arithmetic, shapes, reductions, functions])
def test_both_compute_the_same_and_read_each_other(tmp_path, function):
    ours = built(layers, models.Model, keras_ops, function)
    theirs = built(keras.layers, keras.Model, keras.ops, function)
    theirs.set_weights(ours.get_weights())
    expected = theirs.predict(ARRAYS, verbose=0)
    same(ours.predict(ARRAYS), expected)
    ours.save(tmp_path / "ours.keras")
    same(keras.models.load_model(tmp_path / "ours.keras").predict(ARRAYS, verbose=0), expected)
    theirs.save(tmp_path / "theirs.keras")
    again = models.load_model(tmp_path / "theirs.keras")
    same(again.predict(ARRAYS), expected)
    again.save(tmp_path / "again.keras")
    same(keras.models.load_model(tmp_path / "again.keras").predict(ARRAYS, verbose=0), expected)


def test_layers_have_the_names_of_keras_3():
    K.clear_session()
    keras.backend.clear_session()

    def names(layers, model, ops):
        x = layers.Input((4,), name="x")
        y = ops.mean(x + layers.Dense(4)(x), axis=1, keepdims=True)
        y = layers.Dense(4)(1 - y * 2) + x
        return {layer.name for layer in operations_of(model(x, (y / 2)[:, 0]))}

    def operations_of(model):
        return getattr(model, "operations", None) or model.layers

    assert names(layers, models.Model, keras_ops) == names(keras.layers, keras.Model, keras.ops)
