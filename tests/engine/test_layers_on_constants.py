"""What a layer computes from its weights stays a symbol, whatever it was called on.

Siblings that this catches: constants from NumPy, `K` and `keras.ops`; layers behind layers on
constants; nested models and layers with statistics; a loss, a metric and a compiled function that
call a layer on numbers. (In the `build` of a layer numbers are numbers: it runs once.)
"""

import numpy as np
import pytest

from kerascope import K, Model, Sequential, draw, layers
from kerascope.backend.eager import compiled
from kerascope.layers.ops import keras_ops
from kerascope.settings import config

DIALECTS = ["2.2", "3"]
X = np.random.default_rng(0).uniform(-1, 1, (4, 3))
Y = np.random.default_rng(1).uniform(-1, 1, (4, 3))


class OnConstant(Model):
    """A model of two paths, one of which begins at numbers."""

    def __init__(self, path, *inner):
        super().__init__(name="model")
        self.path, self.inner = path, list(inner)
        self.out = layers.Dense(3, name="out")

    def call(self, inputs, training=None):
        self.told = training
        return self.out(inputs) + self.path(*self.inner)


def two_layers(a, b):
    return b(keras_ops.OPERATIONS["Relu"][1](a(np.ones((1, 3)))))


def summed(dense):
    return K.sum(dense(K.constant(np.ones((1, 3)))))


def counted(embedding):
    return embedding(np.arange(3) % 2)[:1]


def with_statistics(model):
    return K.mean(model(np.arange(6.0).reshape(2, 3)), 0)


def with_attention(attention):
    sequence = K.constant(np.ones((1, 2, 3)))
    return attention(sequence, sequence)[:, 0]


MODELS = {
    "dense": lambda: OnConstant(summed, layers.Dense(4)),
    "embedding": lambda: OnConstant(counted, layers.Embedding(2, 3)),
    "two layers": lambda: OnConstant(two_layers, layers.Dense(3), layers.Dense(3)),
    "attention": lambda: OnConstant(with_attention, layers.MultiHeadAttention(1, 2)),
    "nested": lambda: OnConstant(
        with_statistics, Sequential([layers.Dense(3), layers.LayerNormalization()])
    ),
}


@pytest.fixture(params=DIALECTS)
def dialect(request, monkeypatch):
    monkeypatch.setattr(config, "dialect", request.param)
    monkeypatch.setattr(config, "floatx", "float64")
    return request.param


@pytest.mark.parametrize("name", MODELS)
def test_every_weight_is_trained_and_predictions_follow_it(dialect, name):
    model = MODELS[name]()
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    rng = np.random.default_rng(2)
    for _ in range(2):  # stepped, then as a program
        model.set_weights([rng.uniform(0.1, 1, w.shape) for w in model.get_weights()])
        np.testing.assert_allclose(model.predict(X), model(X), rtol=1e-12)
    before = model.get_weights()
    model.train_on_batch(X, Y)
    after = model.get_weights()
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        slope = central_difference(model, before, place)
        np.testing.assert_allclose((old - new).sum() / 0.01, slope, rtol=1e-5, atol=1e-8)


def central_difference(model, weights, place):
    """Return d loss / d t for all numbers of a weight moved by t."""
    losses = []
    for move in (1e-5, -1e-5):
        model.set_weights([w + move * (i == place) for i, w in enumerate(weights)])
        losses.append(np.mean((model(X) - Y) ** 2))
    return (losses[0] - losses[1]) / 2e-5


def test_statistics_of_a_layer_on_a_constant_are_updated(dialect):
    norm = layers.BatchNormalization(momentum=0.5)

    def path(inner):
        return K.mean(inner(np.arange(6.0).reshape(2, 3), training=model.told), 0)

    model = OnConstant(path, Sequential([norm]))
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    np.testing.assert_allclose(norm.get_weights()[2], np.arange(6.0).reshape(2, 3).mean(0) / 2)


def test_a_picture_shows_the_layer_and_the_constant(dialect):
    model = MODELS["embedding"]()
    model.build((None, 3))
    model.predict(X)
    text = str(draw(model))
    assert "Embedding" in text
    assert "constant[3]" in text
    assert any(node.startswith("embedding") for node in model.node_ids)


def test_a_loss_and_a_metric_follow_the_weights_of_a_layer_that_they_call(dialect):
    dense = layers.Dense(1)
    dense(np.ones((1, 2)))

    def loss(y_true, y_pred):
        return K.mean(K.square(y_pred - y_true)) + K.sum(dense(np.ones((1, 2))))

    def metric(y_true, y_pred):
        return K.mean(y_pred) * 0 + K.sum(dense(np.ones((1, 2))))

    model = Sequential([layers.Dense(3, input_shape=(3,))])
    model.compile("sgd", loss, metrics=[metric])
    for value in (1.0, 5.0):
        dense.set_weights([np.full((2, 1), value), np.zeros(1)])
        total, seen = model.evaluate(X, Y, verbose=0)
        assert seen == pytest.approx(2 * value)
        assert total == pytest.approx(np.mean((model(X) - Y) ** 2) + 2 * value)
    assert not dense.inbound_nodes


def test_a_compiled_function_follows_the_weights_of_a_layer_that_it_calls(dialect):
    dense = layers.Dense(1, use_bias=False)
    dense(np.ones((1, 2)))

    @compiled
    def function(x):
        return x + dense(np.ones((1, 2)))

    for value in (1.0, 5.0):
        dense.set_weights([np.full((2, 1), value)])
        assert function(np.zeros((1, 1)))[0, 0] == pytest.approx(2 * value)


def test_in_the_build_of_a_layer_numbers_are_numbers(dialect):
    class Outer(layers.Layer):
        def build(self, input_shape):
            self.inner = layers.BatchNormalization()
            self.first = np.asarray(self.inner(np.ones((2, 3))))
            super().build(input_shape)

        def call(self, inputs, training=None):
            return self.inner(inputs) + self.first[:1]

    class Around(Model):
        def __init__(self):
            super().__init__()
            self.outer = Outer()

        def call(self, inputs, training=None):
            return self.outer(inputs, training=training)

    model = Around()
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    assert len(model.updates) == 2
