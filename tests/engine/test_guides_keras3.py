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
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6, err_msg=where)
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


SCRIPTS = [
    callbacks_that_tell_everything,
    stopping_early_in_each_loop,
    least_loss_and_rates,
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_tells_what_it_tells_in_keras_3(script):
    same(script(ours), answer(script, keras))
