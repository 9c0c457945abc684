"""A Sequential without an Input that a layer or model holds: what it trains belongs to its calls.

Siblings that this catches: made in the constructor or in `build`; with statistics, penalties of
outputs and penalties by `add_loss` without inputs; called once, twice, on a constant; inside a
layer, a wrapper, a subclassed model, another Sequential.
"""

import numpy as np
import pytest

from kerascope import Input, K, Model, Sequential, layers
from kerascope.settings import config

X = np.random.default_rng(0).uniform(-1, 1, (8, 3))


@pytest.fixture(params=["2.2", "3"], autouse=True)
def dialect(request, monkeypatch):
    monkeypatch.setattr(config, "dialect", request.param)
    monkeypatch.setattr(config, "floatx", "float64")
    return request.param


class Penalty(layers.Layer):
    """Adds a loss as Keras 3 does, without saying of which inputs."""

    def call(self, inputs):
        self.add_loss(K.mean(K.square(inputs)))
        return inputs * 1.0


def block():
    return Sequential([
        layers.Dense(3, kernel_initializer="ones", use_bias=False),
        layers.BatchNormalization(momentum=0.5, center=False, scale=False),
        Penalty(),
    ])  # fmt: skip


class Holder(layers.Layer):
    def __init__(self, where="constructor"):
        super().__init__()
        self.where = where
        if where == "constructor":
            self.block = block()

    def build(self, input_shape):
        if self.where == "build":
            self.block = block()
        self.built = True

    def call(self, inputs, training=None):
        return self.block(inputs, training=training)


class Subclassed(Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, inputs, training=None):
        return self.inner(inputs, training=training)


def functional(inner):
    x = Input((3,))
    return Model(x, inner(x))


MODELS = {
    "constructor": lambda: functional(Holder()),
    "build": lambda: functional(Holder("build")),
    "holder in a subclassed model": lambda: Subclassed(Holder()),
    "subclassed": lambda: Subclassed(block()),
    "functional": lambda: functional(block()),
    "sequential": lambda: Sequential([Input((3,))._keras_history.layer, Sequential([block()])]),
    "holder in a Sequential in a holder": lambda: functional(around(Sequential([Holder()]))),
}


def around(inner):
    holder = Holder("nowhere")
    holder.block = inner
    return holder


@pytest.mark.parametrize("name", MODELS)
def test_it_trains_with_its_statistics_and_penalties(name):
    model = MODELS[name]()
    model.compile("sgd", "mse")
    loss = model.train_on_batch(X, X)
    h = np.repeat(X.sum(1, keepdims=True), 3, 1)
    normalized = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-3)
    assert loss == pytest.approx(np.mean((normalized - X) ** 2) + np.mean(normalized**2))
    mean = next(w for w in model.weights if "moving_mean" in w.name)
    np.testing.assert_allclose(K.get_value(mean), h.mean(0) / 2)
    model.predict(X)


def test_a_penalty_of_a_call_that_the_model_does_not_contain_does_not_count():
    penalty, x, other = Penalty(), Input((3,)), Input((3,))
    penalty(other)
    model = Model(x, penalty(x))
    model.compile("sgd", "mse")
    assert model.evaluate(X, X, verbose=0) == pytest.approx(np.mean(X**2))


def test_a_penalty_that_depends_on_no_input_counts_once():
    class OfWeight(layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(name="w", shape=(), initializer="ones")
            self.add_loss(self.w * 2.0)
            self.built = True

        def call(self, inputs):
            return inputs * self.w

    layer, x = OfWeight(), Input((3,))
    model = Model(x, layer(layer(x)))
    model.compile("sgd", "mse")
    assert model.evaluate(X, X, verbose=0) == pytest.approx(2.0)
