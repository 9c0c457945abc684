"""The callbacks that watch a figure do in dialect "3" what those of Keras 3 do.

Random figures, with NaN and infinities among them, and random arguments are given to each callback
here and there. The test compares everything a callback leaves behind: in which epoch it ended
training, the weights at the end, the learning rate of each epoch, the epochs that were saved. A
difference in any of them, also one at the end of training alone, fails it. The last test trains a
real model, and compares what each callback is told at the end.
"""

import json
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope as ks
from kerascope import callbacks as cb
from kerascope import config, metrics
from kerascope.errors import NonFiniteLossError

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


class StandInModel:
    """What these callbacks may ask of a model of either library."""

    def __init__(self, rate):
        self.stop_training = False
        self.optimizer = rate
        self.metrics = []
        self.weights = [np.zeros(1)]
        self.saved = []

    def get_weights(self):
        return [array.copy() for array in self.weights]

    def set_weights(self, weights):
        self.weights = weights

    def save(self, path, overwrite=True):
        self.saved.append(path)


def driven(library, text):
    """Return what a callback did to a model in some epochs."""
    name, options, figures = json.loads(text)
    is_ours = library is ks
    options = {"monitor": "val_loss", **options}
    if name == "ModelCheckpoint":
        options["filepath"] = "{epoch}.keras"
    callback = getattr(library.callbacks, name)(**options)
    rate = SimpleNamespace(lr=ks.K.variable(1.0)) if is_ours else SimpleNamespace(learning_rate=1.0)
    model = StandInModel(rate)
    callback.set_model(model)
    callback.set_params({})
    rates = []
    callback.on_train_begin()
    for epoch, figure in enumerate(figures):
        callback.on_epoch_begin(epoch)
        model.weights = [np.full(1, float(epoch))]
        callback.on_epoch_end(epoch, {"val_loss": figure})
        rates.append(float(ks.K.get_value(rate.lr)) if is_ours else float(rate.learning_rate))
        if model.stop_training:
            break
    callback.on_train_end()
    found = [len(rates), float(model.weights[0][0]), rates, model.saved]
    return [*found, callback.best, getattr(callback, "stopped_epoch", None)]


def cases(number):
    """Draw a callback, its arguments and the figures of some epochs."""
    rng = np.random.default_rng(number)

    def one_of(*values):
        return values[rng.integers(len(values))]

    figures = [round(float(x), 2) for x in rng.choice(np.arange(0, 5, 0.5), size=8)]
    for at in rng.integers(0, 12, size=2):
        if at < 8 and rng.random() < 0.5:
            figures[at] = one_of(math.nan, math.inf, -math.inf)
    name = one_of("EarlyStopping", "EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint")
    options = {"mode": one_of("auto", "min", "max")}
    if name == "ModelCheckpoint":
        options |= {"save_best_only": True, "initial_value_threshold": one_of(None, 2.0)}
    else:
        options |= {"patience": one_of(0, 1, 2, 9), "min_delta": one_of(0, 0, 1.0, -0.5)}
    if name == "EarlyStopping":
        options |= {"restore_best_weights": one_of(True, False), "baseline": one_of(None, 1.0)}
        options |= {"start_from_epoch": one_of(0, 0, 2)}
    if name == "ReduceLROnPlateau":
        options |= {"cooldown": one_of(0, 2), "min_lr": one_of(0, 0.02)}
    return json.dumps([name, options, figures])


def of_keras(keras, texts):
    return json.dumps([driven(keras, text) for text in texts])


def test_on_random_figures_each_does_what_that_of_keras_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [cases(number) for number in range(200)]
    expected = json.loads(answer(of_keras, keras, texts))
    for text, theirs in zip(texts, expected, strict=True):
        ours = json.loads(json.dumps(driven(ks, text)))
        assert repr(ours) == repr(theirs) or all(map(alike, ours, theirs)), text


def alike(one, other):
    if isinstance(one, (list, float, int)):
        return np.allclose(one, other, rtol=1e-6, equal_nan=True) if one != other else True
    return one == other


ARGUMENTS = {
    **{"IoU": (2, [0]), "MeanIoU": (2,), "OneHotIoU": (2, [0]), "OneHotMeanIoU": (2,)},
    **dict.fromkeys(("PrecisionAtRecall", "RecallAtPrecision"), (0.5,)),
    **dict.fromkeys(("SensitivityAtSpecificity", "SpecificityAtSensitivity"), (0.5,)),
}


def directions(keras):
    """Return in which direction each metric gets better."""
    found = {}
    for name in dir(keras.metrics):
        kind = getattr(keras.metrics, name)
        if isinstance(kind, type) and name != "MeanMetricWrapper":
            found[name] = getattr(kind(*ARGUMENTS.get(name, ())), "_direction", None)
    return found


def best_of(model, name):
    """Return which of two figures a callback takes for the better one."""
    stopping = cb.EarlyStopping(f"val_{name}")
    stopping.set_model(model)
    stopping.on_train_begin()
    for epoch, value in enumerate([1.0, 2.0]):
        stopping.on_epoch_end(epoch, {f"val_{name}": value})
    return stopping.best


def test_the_class_of_a_metric_says_which_way_is_better_whatever_its_name():
    expected = {name: way for name, way in answer(directions, keras).items() if way}
    here = {name: way for name, way in expected.items() if hasattr(metrics, name)}
    assert len(here) > 30
    for name, way in here.items():
        metric = getattr(metrics, name)(*ARGUMENTS.get(name, ()), name="mine")
        model = StandInModel(None)
        model.stateful_metrics = {"mine": metric}
        assert best_of(model, "mine") == (2.0 if way == "up" else 1.0), name


@pytest.mark.parametrize("given", ["metrics", "weighted_metrics"])
def test_a_metric_that_is_given_by_a_short_name_gets_better_in_its_own_direction(given):
    ways = {"acc": 2.0, "accuracy": 2.0, "binary_accuracy": 2.0, "cosine_similarity": 2.0}
    ways |= dict.fromkeys(("mse", "MAE", "bce", "hinge", "kl_divergence", "log_cosh"), 1.0)
    model = ks.Sequential([ks.layers.Dense(1, activation="sigmoid", input_shape=(2,))])
    model.compile("sgd", "mse", **{given: list(ways)})
    assert {name: best_of(model, name) for name in (*ways, "loss")} == {**ways, "loss": 1.0}


@pytest.mark.parametrize("metric", [metrics.Mean("score"), metrics.TruePositives(name="score")])
def test_of_a_metric_that_keras_does_not_know_the_direction_has_to_be_said(metric):
    model = StandInModel(None)
    model.stateful_metrics = {"score": metric}
    for name in ("score", "f1"):
        with pytest.raises(ValueError, match=f"unknown whether a larger 'val_{name}' is better"):
            best_of(model, name)


X = np.arange(8.0).reshape(4, 2)
Y = X.sum(1, keepdims=True) * 3
RATES = [0.01, 0.01, 0.5, 0.5]


def trained(library):
    """Return the weights, and the logs at the end, of a model whose best epoch is the second."""
    ends = []
    model = library.Sequential(
        [library.Input((2,)), library.layers.Dense(1, kernel_initializer="ones")]
    )
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(
        X, Y, epochs=4, verbose=0, validation_data=(X, Y),
        callbacks=[
            library.callbacks.LearningRateScheduler(lambda epoch: RATES[epoch]),
            library.callbacks.EarlyStopping(patience=9, restore_best_weights=True),
            library.callbacks.LambdaCallback(on_train_end=ends.append),
        ],
    )  # fmt: skip
    return [np.asarray(w) for w in model.get_weights()], {k: float(v) for k, v in ends[0].items()}


def test_a_model_ends_with_the_weights_of_its_best_epoch_and_all_hear_the_same_logs():
    weights, logs = trained(ks)
    their_weights, their_logs = answer(trained, keras)
    for ours, theirs in zip(weights, their_weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert logs == pytest.approx(their_logs, rel=1e-4)


def stopping(library):
    """Return a callback that stops training in the middle of its second epoch."""

    class Stop(library.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.epoch = epoch

        def on_train_batch_end(self, batch, logs=None):
            if (self.epoch, batch) == (1, 0):
                self.model.stop_training = True

    return Stop()


def stopped(library):
    """Return the history of a run that ends in the middle of an epoch."""
    model = library.Sequential(
        [library.Input((2,)), library.layers.Dense(1, kernel_initializer="ones")]
    )
    model.compile("sgd", "mse", metrics=["mae"])
    return model.fit(
        X, Y, batch_size=2, epochs=4, shuffle=False, verbose=0, validation_data=(X, Y),
        callbacks=[stopping(library)],
    ).history  # fmt: skip


def test_an_epoch_that_a_callback_stops_is_validated():
    ours, theirs = stopped(ks), answer(stopped, keras)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_allclose(values, theirs[name], rtol=1e-4, err_msg=name)


def losing(library):
    """Return what is raised when a loss becomes infinite, and who heard that training ended."""
    ends = []
    model = library.Sequential([library.Input((2,)), library.layers.Dense(1)])
    model.compile(library.optimizers.SGD(1e30), "mse")
    ending = library.callbacks.LambdaCallback(on_train_end=ends.append)
    try:
        model.fit(
            X * 1e10, Y, epochs=9, verbose=0,
            callbacks=[library.callbacks.TerminateOnNaN(raise_error=True), ending],
        )  # fmt: skip
    except RuntimeError as error:
        return [isinstance(error, NonFiniteLossError) or "NaN or Inf" in str(error), len(ends)]


def test_a_loss_that_is_not_finite_ends_training_by_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert losing(ks) == answer(losing, keras) == [True, 0]
