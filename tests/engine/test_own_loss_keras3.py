"""`compute_loss`, `optimizer.apply`, the phase inside own models, and what is said of the rest.

Every name of Keras 3's training that is out of scope says so with the way round; those in scope
give what Keras gives. The class behind it: a name of Keras that ends in a raw AttributeError.
"""

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope as ks
from kerascope import config
from kerascope.errors import ArgumentError, KerascopeError, RefusedError

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]

X = np.arange(24.0).reshape(6, 4).astype("float32") / 10
Y = X[:, :1] * 2 - X[:, 1:2]


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def plain_model(library):
    model = library.Sequential(
        [library.Input((4,)), library.layers.Dense(1, kernel_initializer="ones")]
    )
    model.compile(library.optimizers.SGD(0.01), "mse")
    return model


def applied(library):
    """Return weights after three steps by each way of applying gradients."""
    found = []
    for name in ("SGD", "Adam", "RMSprop"):
        model = plain_model(library)
        optimizer = getattr(library.optimizers, name)(learning_rate=0.1, clipnorm=1.0)
        variables = model.trainable_variables
        optimizer.build(variables)
        grads = [np.full((4, 1), 2.0, "float32"), np.full((1,), -1.0, "float32")]
        optimizer.apply(grads)
        optimizer.apply(grads, variables)
        optimizer.apply_gradients(zip(grads, variables, strict=True))
        found += [np.asarray(w) for w in model.get_weights()]
    return found


def test_gradients_from_elsewhere_are_applied_as_in_keras():
    for ours, theirs in zip(applied(ks), answer(applied, keras), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("grads", [[np.ones((4, 1))], [np.ones((4, 1)), None], [1.0, 2.0]])
def test_gradients_that_do_not_fit_write_nothing(grads):
    model = plain_model(ks)
    before = model.get_weights()
    with pytest.raises(ArgumentError, match="gradient"):
        model.optimizer.apply(grads, model.trainable_variables)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def own_model(library, kind):
    ops = library.ops

    class Net(library.Model):
        def __init__(self):
            super().__init__()
            self.out = library.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.out(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            if kind == "more":
                loss = super().compute_loss(x, y, y_pred, sample_weight)
                return loss + 0.1 * ops.sum(ops.square(self.out.kernel))
            return 2 * ops.mean(ops.abs(y - y_pred)) + ops.mean(x) * ops.mean(y_pred)

    return Net()


def trained(library, kind):
    model = own_model(library, kind)
    model.compile(library.optimizers.SGD(0.01), "mse" if kind == "more" else None)
    history = model.fit(X, Y, batch_size=3, epochs=3, shuffle=False, verbose=0).history["loss"]
    return [*map(float, history), float(model.evaluate(X, Y, verbose=0))]


@pytest.mark.parametrize("kind", ["alone", "more"])
def test_an_own_compute_loss_is_trained(kind):
    np.testing.assert_allclose(trained(ks, kind), answer(trained, keras, kind), rtol=1e-5)


def computed(library):
    model = plain_model(library)
    weights = np.arange(6.0).astype("float32")
    predicted = model(X)
    return [float(model.compute_loss(X, Y, predicted)),
            float(model.compute_loss(X, Y, predicted, weights))]  # fmt: skip


def test_compute_loss_of_arrays_is_a_number():
    np.testing.assert_allclose(computed(ks), answer(computed, keras), rtol=1e-5)


def phases(library, tells):
    """Return the losses of training and test of an own model with statistics inside."""

    class Block(library.layers.Layer):
        def __init__(self):
            super().__init__()
            self.norm = library.layers.BatchNormalization()

        def call(self, x, training=None):
            return self.norm(x)

    class Net(library.Model):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.out = library.layers.Dense(1, kernel_initializer="ones")

        def call(self, x, training=None):
            return self.out(self.block(x, training=training) if tells else self.block(x))

    model = Net()
    model.compile(library.optimizers.SGD(0.0), "mse")
    return [float(model.train_on_batch(X, Y)), float(model.evaluate(X, Y, verbose=0))]


@pytest.mark.parametrize("tells", [True, False])
def test_a_layer_knows_of_the_phase_if_call_hands_it_on(tells):
    np.testing.assert_allclose(phases(ks, tells), answer(phases, keras, tells), rtol=1e-5)


def test_a_sequential_that_was_called_on_some_rows_takes_any_number():
    model = ks.Sequential([ks.layers.Dense(1)])
    model(X[:2])
    assert model.predict(X, verbose=0).shape == (6, 1)


def frozen(library):
    first = library.layers.Dense(3, kernel_initializer="ones", kernel_regularizer="l2")
    model = library.Sequential([library.Input((4,)), first, library.layers.Dense(1)])
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    model.set_weights([np.ones(w.shape) for w in model.get_weights()])
    return float(model.evaluate(X, Y, verbose=0))


def test_the_penalty_of_a_frozen_weight_does_not_count():
    assert frozen(ks) == pytest.approx(answer(frozen, keras), rel=1e-5)


def both_ways(library):
    model = library.Sequential([
        library.Input((4, 1)), library.layers.Masking(),
        library.layers.Bidirectional(library.layers.GRU(2, return_sequences=True)),
    ])  # fmt: skip
    rng = np.random.default_rng(0)
    model.set_weights([rng.uniform(-0.5, 0.5, w.shape) for w in model.get_weights()])
    x = X[..., None].copy()
    x[:3, 2:] = 0
    return np.asarray(model.predict(x, verbose=0))


def test_masked_steps_of_a_bidirectional_layer_are_zero():
    np.testing.assert_allclose(both_ways(ks), answer(both_ways, keras), rtol=1e-4, atol=1e-6)


def with_train_step():
    class Net(ks.Model):
        def call(self, x):
            return x

        def train_step(self, data):
            return {}

    model = Net()
    model.compile("sgd", "mse")
    model.fit(X, X, verbose=0)


@pytest.mark.parametrize(
    "attempt",
    [
        with_train_step,
        lambda: plain_model(ks).layers[0].enable_lora(2),
        lambda: plain_model(ks).quantize("int8"),
        lambda: ks.layers.Dense(2, lora_rank=4),
        lambda: ks.layers.Dense(2, dtype="mixed_float16"),
        lambda: ks.layers.Dense(2, dtype="int8_from_float32"),
    ],
)
def test_what_is_out_of_scope_names_the_way_round(attempt):
    with pytest.raises((RefusedError, KerascopeError), match="kerascope run --live"):
        attempt()
