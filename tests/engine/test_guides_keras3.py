"""Scripts as the guides of Keras 3 have them: what they tell here and with the real Keras, on jax.

Each is a function of the module `keras`, which is run unchanged with both; it sets the first
weights, and returns its numbers.
"""

import importlib

import numpy as np
import pytest
from keras_reference import answer, keras

from kerascope import config
from kerascope.compat import keras_imports
from kerascope.errors import ShapeError

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]

with keras_imports():
    ours = importlib.import_module("keras")

X = np.random.default_rng(0).normal(size=(10, 4)).astype("float32")
Y = X[:, :1] * 2 - X[:, 1:2]


@pytest.fixture(autouse=True)
def _dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def plain(told):
    if isinstance(told, dict):
        return {key: plain(value) for key, value in told.items()}
    if isinstance(told, (list, tuple)):
        return [plain(one) for one in told]
    return told if isinstance(told, (str, bool, type(None))) else np.asarray(told, "float64")


def same(found, wanted, where=""):
    """Compare nested numbers to five digits, and the order of names."""
    if isinstance(wanted, dict):
        assert list(found) == list(wanted), where
        for key in wanted:
            same(found[key], wanted[key], f"{where}[{key!r}]")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for i, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
            same(mine, theirs, f"{where}[{i}]")
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5, err_msg=where)
    else:
        assert found == wanted, where


def values(size, *shape):
    """Return first weights that both get."""
    return (np.sin(np.arange(np.prod(shape))) * size).reshape(shape).astype("float32")


def small_model(keras, **compiled):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.set_weights([values(1.0, 4, 1), np.zeros(1)])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compiled})
    return model


# --- callbacks ------------------------------------------------------------------------------------


def callbacks_that_tell_everything(keras):
    told = []

    def hook(name):
        return lambda self, *args, **logs: told.append([name, *args, *logs.values()])

    hooks = [f"on_{what}_{when}" for what in ("train", "test", "predict", "epoch", "train_batch",
             "test_batch", "predict_batch") for when in ("begin", "end")]  # fmt: skip
    everything = type("Everything", (keras.callbacks.Callback,), {n: hook(n) for n in hooks})()
    model = small_model(keras, metrics=["mae", keras.metrics.AUC(name="auc")])
    bits = (Y > 0).astype("float32")
    options = {"batch_size": 4, "verbose": 0, "callbacks": [everything]}
    rest = (X[:7], bits[:7])
    model.fit(X, bits, epochs=2, shuffle=False, validation_data=rest, **options)
    told.append(model.evaluate(X, bits, **options))
    told.append(model.evaluate(X, bits, return_dict=True, **options))
    told.append(model.predict(X, **options))
    return plain(told)


def stopping_early_in_each_loop(keras):
    class Stopper(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

        def on_test_batch_end(self, batch, logs=None):
            self.model.stop_evaluating = batch == 1

        def on_predict_batch_end(self, batch, logs=None):
            self.model.stop_predicting = batch == 1

    model = small_model(keras)
    options = {"batch_size": 3, "verbose": 0, "callbacks": [Stopper()]}
    history = model.fit(X, Y, shuffle=False, epochs=3, **options).history
    return plain([history, model.evaluate(X, Y, **options), model.predict(X, **options)])


def least_loss_and_rates(keras):
    """Write callbacks as the guide does: stop at the least loss, set the rate, keep a history."""

    class AtLeastLoss(keras.callbacks.Callback):
        def __init__(self, patience=0):
            super().__init__()
            self.patience = patience
            self.best_weights = None

        def on_train_begin(self, logs=None):
            self.wait, self.stopped_epoch, self.best = 0, 0, np.inf

        def on_epoch_end(self, epoch, logs=None):
            current = logs.get("loss")
            if np.less(current, self.best):
                self.best, self.wait, self.best_weights = current, 0, self.model.get_weights()
            else:
                self.wait += 1
                if self.wait >= self.patience:
                    self.stopped_epoch = epoch
                    self.model.stop_training = True
                    self.model.set_weights(self.best_weights)

    class Rates(keras.callbacks.Callback):
        def __init__(self, schedule):
            super().__init__()
            self.schedule, self.seen = schedule, []

        def on_epoch_begin(self, epoch, logs=None):
            rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
            self.model.optimizer.learning_rate = self.schedule(epoch, rate)
            self.seen.append(float(self.model.optimizer.learning_rate))

    losses = []
    batch_loss = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: losses.append(logs["loss"]),
        on_test_end=lambda logs: losses.append(logs["loss"]),
    )
    stop, rates = AtLeastLoss(), Rates(lambda epoch, rate: 1.2 if epoch == 3 else rate)
    model = small_model(keras)
    told = [stop, rates, batch_loss]
    model.fit(X, Y, epochs=9, batch_size=4, verbose=0, shuffle=False, callbacks=told)
    model.evaluate(X, Y, verbose=0, callbacks=[batch_loss])
    return plain([losses, rates.seen, stop.stopped_epoch, stop.best, model.get_weights()])


# --- layers with a state --------------------------------------------------------------------------


def sums_in_a_layer(keras):
    """Hold a state that the call of a layer assigns to: on arrays, in a model, in each loop."""
    ops = keras.ops

    class ComputeSum(keras.layers.Layer):
        def __init__(self, input_dim):
            super().__init__()
            self.total = self.add_weight(
                initializer="zeros", shape=(input_dim,), trainable=False, name="total"
            )
            self.calls = keras.Variable(0, dtype="int32", trainable=False, name="calls")

        def call(self, inputs):
            self.calls.assign_add(1)
            self.total.assign_add(ops.sum(inputs, axis=0))
            return inputs + self.total * 0.1

    layer = ComputeSum(4)
    told = [layer(X), layer(X), layer.total.numpy(), int(layer.calls)]
    told += [len(layer.weights), len(layer.trainable_variables), len(layer.variables)]
    inner = ComputeSum(4)
    model = keras.Sequential([keras.Input((4,)), inner, keras.layers.Dense(1)])
    model.layers[1].set_weights([values(0.5, 4, 1), np.zeros(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    for run in (
        lambda: model.fit(X, Y, batch_size=5, epochs=2, verbose=0, shuffle=False).history,
        lambda: model.evaluate(X, Y, batch_size=5, verbose=0),
        lambda: model.predict(X, batch_size=5, verbose=0),
        lambda: model.predict_on_batch(X[:3]),
        lambda: model(X[:2]),
    ):
        told += [run(), inner.total.numpy(), int(inner.calls)]
    inner.trainable = False
    told += [model.predict(X, verbose=0), inner.total.numpy(), model.get_weights()]
    return plain(told)


def normalizing_by_moving_statistics(keras):
    """Write a BatchNormalization: the call asks whether it is training, and assigns then."""
    ops = keras.ops

    class Norm(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.scale = keras.Variable(np.ones(4), name="scale")
            self.seen = [keras.Variable(1.0, trainable=False, name="seen")]

        def build(self, input_shape):
            self.mean = self.add_weight(
                shape=(input_shape[-1],), initializer="zeros", trainable=False, name="mean"
            )

        def call(self, inputs, training=False):
            if training:
                mean = ops.mean(inputs, axis=0)
                self.mean.assign(0.9 * self.mean + 0.1 * mean)
                self.seen[0].assign_add(1.0)
            else:
                mean = self.mean
            return (inputs - mean) * self.scale / self.seen[0]

    class Around(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.norm = Norm()
            self.last = keras.Variable(0.0, trainable=False)

        def build(self, input_shape):
            self.norm.build(input_shape)

        def call(self, inputs):
            outputs = self.norm(inputs)
            self.last.assign(ops.sum(self.norm.mean))
            return outputs

    around = Around()
    model = keras.Sequential([keras.Input((4,)), around, keras.layers.Dense(1)])
    model.layers[1].set_weights([values(0.5, 4, 1), np.zeros(1)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    history = model.fit(X, Y, batch_size=5, epochs=3, verbose=0, shuffle=False).history
    state = [around.norm.mean.numpy(), float(around.norm.seen[0]), float(around.last)]
    told = [history, state, model.evaluate(X, Y, verbose=0), model.predict(X, verbose=0)]
    told += [around.norm(X, training=True), around.norm.mean.numpy(), around(X), float(around.last)]
    return plain([*told, around.norm.scale.numpy(), len(model.trainable_variables)])


def numbers_of_variables(keras):
    """Do sums with variables by hand: a line is fitted by steps that are written out."""
    ops = keras.ops
    w = keras.Variable(np.zeros((4, 1)), name="w")
    b = keras.Variable(0.0, name="b")
    losses = []
    for _ in range(4):
        error = ops.matmul(X, w) + b - Y
        losses.append(float(ops.mean(ops.square(error))))
        w.assign_sub(0.1 * 2 * ops.matmul(ops.transpose(X), error) / len(X))
        b.assign(b - 0.1 * 2 * ops.mean(error))
    told = [losses, w.numpy(), float(b), w[0] * 2, 1 - b, -w, abs(w), (w @ w[:1]), b**2, b > 0]
    told += [ops.convert_to_numpy(w), np.asarray(w), w.value, w.shape, w.dtype, w.name, w.path]
    ones = keras.Variable(initializer="ones", shape=(2,), dtype="int32", trainable=False)
    sevens = keras.Variable(lambda shape, dtype: np.full(shape, 7, dtype), shape=(2,))
    return plain([*told, ones.numpy(), ones.trainable, sevens.value, repr(ones), np.ones(2) * ones])


# --- other parts of one's own, and optimizers -----------------------------------------------------


def parts_of_ones_own(keras):
    """Write a schedule, a loss, a regularizer, an initializer and layers in layers."""
    ops = keras.ops

    class Falling(keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, first):
            self.first = first

        def __call__(self, step):
            return self.first / (ops.cast(step, "float32") + 1)

    class Careful(keras.losses.Loss):
        def __init__(self, limit=1.0, name="careful"):
            super().__init__(name=name)
            self.limit = limit

        def call(self, y_true, y_pred):
            e = ops.abs(y_true - y_pred)
            return ops.where(e < self.limit, 0.5 * e * e, self.limit * (e - 0.5 * self.limit))

    class Sparse(keras.regularizers.Regularizer):
        def __call__(self, x):
            return 0.1 * ops.sum(ops.abs(x))

    class Positive(keras.constraints.Constraint):
        def __call__(self, w):
            return w * ops.cast(ops.greater_equal(w, 0.0), w.dtype)

    class Rising(keras.initializers.Initializer):
        def __call__(self, shape, dtype=None, **kwargs):
            numbers = ops.arange(1, 1 + int(np.prod(shape)))  # the slope of |x| at 0 is jax's own
            return ops.cast(ops.reshape(numbers, shape), dtype) * 0.1

    class Linear(keras.layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.units = units

        def build(self, input_shape):
            options = {"initializer": Rising(), "trainable": True}
            bound = keras.constraints.MaxNorm(1.0)
            shape = (input_shape[-1], self.units)
            self.w = self.add_weight(shape=shape, constraint=bound, **options)
            self.b = self.add_weight(shape=(self.units,), regularizer=Sparse(), **options)

        def call(self, inputs):
            return ops.matmul(inputs, self.w) + self.b

    class Block(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.parts = [Linear(3), Linear(2)]

        def build(self, input_shape):
            self.parts[0].build(input_shape)
            self.parts[1].build((None, 3))

        def call(self, inputs):
            hidden = ops.relu(self.parts[0](inputs))
            self.add_loss(0.01 * ops.mean(hidden))
            return self.parts[1](hidden)

    i = keras.Input((4,))
    last = keras.layers.Dense(1, kernel_initializer=Rising(), kernel_constraint=Positive())
    model = keras.Model(i, last(Block()(i)))
    rate = keras.optimizers.Adam(Falling(0.1))
    model.compile(rate, loss=Careful(0.5), metrics=[keras.metrics.RootMeanSquaredError()])
    history = model.fit(X, Y, batch_size=4, epochs=3, shuffle=False, verbose=0).history
    told = [history, model.evaluate(X, Y, verbose=0), float(rate.learning_rate)]
    told += [int(rate.iterations.numpy()), len(model.layers[1].weights), model.get_weights()]
    features = keras.Model(model.input, [layer.output for layer in model.layers[1:]])
    return plain([*told, features(X[:2]), features.predict(X[:2], verbose=0)])


def calls_without_a_state(keras):
    """Call a layer and a model with given weights; their own stay as they are."""
    layer = keras.layers.BatchNormalization(momentum=0.5)
    layer.build((None, 4))
    model = keras.Sequential([keras.Input((4,)), layer, keras.layers.Dense(1)])
    model.layers[1].set_weights([values(0.5, 4, 1), np.zeros(1)])
    told = []
    for one in (layer, model):
        trained = [v.numpy() + 0.5 for v in one.trainable_variables]
        others = [v.numpy() + 0.25 for v in one.non_trainable_variables]
        for training in (False, True):
            outputs, others = one.stateless_call(trained, others, X, training=training)
            told += [outputs, list(others[:2])]
    return plain([*told, model.get_weights()])


def steps_of_optimizers(keras):
    """Take four steps by each, and tell the losses."""
    o = keras.optimizers
    told = []
    for optimizer in (
        o.Lamb(0.1, weight_decay=0.01, clipnorm=0.3),
        o.RMSprop(0.1, momentum=0.9),
        o.RMSprop(0.1, momentum=0.5, centered=True, rho=0.8),
        o.Muon(0.1),
        o.Muon(0.1, nesterov=False, rms_rate=None, weight_decay=0.3, adam_lr_ratio=0.5),
        o.Muon(0.1, exclude_layers=["Out/"], momentum=0.5, ns_steps=2, clipnorm=1.0),
        o.Muon(0.1, weight_decay=None, adam_weight_decay=0.3),
    ):
        parts = [keras.layers.Dense(3), keras.layers.Dense(5), keras.layers.Dense(1, name="Out")]
        model = keras.Sequential([keras.Input((4,)), *parts])
        shapes = [w.shape for w in model.get_weights()]
        model.set_weights([values(0.5, *shape) for shape in shapes])
        model.compile(optimizer, "mse")
        told.append([model.train_on_batch(X, Y) for _ in range(4)])
    return plain(told)


def test_a_layer_that_assigns_reads_what_its_call_before_assigned_in_one_model():
    class Count(ours.layers.Layer):
        def __init__(self):
            super().__init__()
            self.count = ours.Variable(0.0, trainable=False)

        def call(self, inputs):
            self.count.assign_add(1.0)
            return inputs * self.count

    layer = Count()
    i = ours.Input((4,))
    model = ours.Model(i, layer(layer(i)))
    model.compile("sgd", "mse")
    counted = 0
    for run in (model.predict, lambda x: model.fit(x, x, verbose=0), model.predict):
        found = run(X)
        if isinstance(found, np.ndarray):
            np.testing.assert_allclose(found, X * (counted + 1) * (counted + 2), rtol=1e-5)
        counted += 2
        assert float(layer.count) == counted


def test_a_call_on_numbers_that_fails_writes_nothing():
    class Failing(ours.layers.Layer):
        def __init__(self):
            super().__init__()
            self.count = ours.Variable(0.0, trainable=False)

        def call(self, inputs):
            self.count.assign_add(1.0)
            assert float(self.count) == 1.0
            return inputs if len(inputs.shape) == 2 else inputs + np.ones((3, 7, 9))

    layer = Failing()
    with pytest.raises(ShapeError):
        layer(np.ones((2, 3, 4)))
    assert float(layer.count) == 0.0
    layer(X)
    assert float(layer.count) == 1.0


SCRIPTS = [
    parts_of_ones_own,
    calls_without_a_state,
    steps_of_optimizers,
    sums_in_a_layer,
    normalizing_by_moving_statistics,
    numbers_of_variables,
    callbacks_that_tell_everything,
    stopping_early_in_each_loop,
    least_loss_and_rates,
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_tells_what_it_tells_in_keras_3(script):
    same(script(ours), answer(script, keras))
