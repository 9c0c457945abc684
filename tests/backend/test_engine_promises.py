"""What training promises holds on JAX too: callbacks, saving, resuming, errors, interrupts."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import backup_scenarios
import numpy as np
import pytest
from engine_runs import assert_compiled, assert_same, on_each_engine, start, state_of
from interrupts import Moments, interrupted, moments_of

from kerascope import Sequential, callbacks, layers, optimizers
from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.backend.ops.indexing import Gather
from kerascope.errors import DataError
from kerascope.layers.keras3.local_contrast import ContrastLimitedAdaptiveHistogramEqualization
from kerascope.layers.ops import keras_ops as ops
from kerascope.models import load_model
from kerascope.settings import config

jax = pytest.importorskip("jax", reason="the extra `jax` is not installed")
JaxPrograms = pytest.importorskip("kerascope.backend.engines.functions").JaxPrograms
lowering = pytest.importorskip("kerascope.backend.engines.lowering")
pytestmark = pytest.mark.live

NEAR = 1e-12
TESTS = Path(__file__).resolve().parents[1]
DRAW = np.random.default_rng(4)
X, Y = DRAW.normal(size=(22, 5)), np.eye(3)[DRAW.integers(0, 3, 22)]


@pytest.fixture(autouse=True)
def _numpy_afterwards():
    yield
    config.engine = "numpy"
    config.floatx = "float32"


def dense(optimizer="adam", noise=0, **options):
    """Return a compiled model; the draws of its noise are made by NumPy within the program."""
    first = [layers.GaussianNoise(noise, input_shape=(5,))] if noise else []
    model = Sequential(
        [
            *first,
            layers.Dense(6, activation="relu", input_shape=(5,)),
            layers.Dropout(0.3),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"], **options)
    return model


def fitted(model, given, epochs=3, x=X, y=Y):
    """Train in batches of 8, so that the last one has 6 rows; return the logs."""
    return model.fit(
        x, y, batch_size=8, epochs=epochs, verbose=0, validation_data=(X, Y), callbacks=given
    ).history


def assert_same_logs(found, wanted):
    assert found.keys() == wanted.keys()
    for name, numbers in wanted.items():
        np.testing.assert_allclose(found[name], numbers, rtol=NEAR, err_msg=name)


# --- callbacks ------------------------------------------------------------------------------------


class Interference(callbacks.Callback):
    """Reads and sets weights and the learning rate during training, and predicts with NumPy."""

    def on_train_begin(self, logs=None):
        self.seen = []
        self.with_numpy = K.function([self.model.input], self.model.output, engine="numpy")

    def on_batch_end(self, batch, logs=None):
        rate = self.model.optimizer.lr
        self.seen.append([float(np.sum(w)) for w in self.model.get_weights()])
        K.set_value(rate, K.get_value(rate) * 0.97)
        if batch == 1:
            self.model.set_weights([w * 0.9 for w in self.model.get_weights()])

    def on_epoch_end(self, epoch, logs=None):
        predicted = self.model.predict(X)
        np.testing.assert_allclose(self.with_numpy([X]), predicted, rtol=NEAR)
        self.seen.append(predicted[0].tolist())


def test_callbacks_may_read_and_set_weights_and_rates(tmp_path):
    def run():
        model, own = dense(), Interference()
        path = tmp_path / config.engine
        given = [
            own,
            callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1, min_delta=1.0),
            callbacks.ModelCheckpoint(f"{path}-{{epoch}}.h5", save_weights_only=True),
        ]
        logs = fitted(model, given)
        return model, own.seen, logs, str(path)

    (wanted, wanted_seen, wanted_logs, one), (found, seen, logs, other) = on_each_engine(run)
    assert_same_logs(logs, wanted_logs)
    assert len(wanted_logs["lr"]) == 3
    assert_same(state_of(found), state_of(wanted), NEAR)
    for row, wanted_row in zip(seen, wanted_seen, strict=True):
        np.testing.assert_allclose(row, wanted_row, rtol=NEAR)
    assert_compiled(found.train_function, 2)  # batches of 8 and of 6
    for epoch in (1, 3):
        for model, path in ((wanted, one), (found, other)):
            model.load_weights(f"{path}-{epoch}.h5")
        assert_same(state_of(found), state_of(wanted), NEAR)


def test_early_stopping_brings_the_best_weights_back(tmp_path):
    def run():
        model, best = dense(optimizers.SGD(0.1)), str(tmp_path / f"{config.engine}.h5")
        stop = callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True)
        given = [
            stop,
            callbacks.LearningRateScheduler(lambda epoch: 0.1 * 4**epoch),
            callbacks.ModelCheckpoint(best, save_best_only=True, save_weights_only=True),
        ]
        logs = fitted(model, given, epochs=20)
        kept = model.get_weights()
        model.load_weights(best)
        for w, v in zip(kept, model.get_weights(), strict=True):
            np.testing.assert_array_equal(w, v)
        return model, stop.stopped_epoch, logs

    (wanted, last, wanted_logs), (found, found_last, logs) = on_each_engine(run)
    assert 0 < last == found_last < 19
    assert_same_logs(logs, wanted_logs)
    assert_same(state_of(found), state_of(wanted), NEAR)


@pytest.mark.filterwarnings("ignore:fit. the loss became nan")
def test_nan_ends_training_at_the_same_batch():
    targets = Y.copy()
    targets[12] = np.nan

    def run():
        model = dense()
        model.fit(
            *(X, targets),
            batch_size=8,
            epochs=3,
            verbose=0,
            shuffle=False,
            callbacks=[callbacks.TerminateOnNaN()],
        )
        return model

    wanted, found = on_each_engine(run)
    assert int(K.get_value(found.optimizer.iterations)) == 2
    assert found.stop_training
    after = state_of(found)
    for name, array in state_of(wanted).items():
        np.testing.assert_allclose(after[name], array, rtol=NEAR, err_msg=name)  # NaN included


# --- saving, copying, resuming --------------------------------------------------------------------


@pytest.mark.parametrize("file", ["m.keras", "m.h5", "m.weights.h5"])
def test_training_that_goes_on_from_a_file_equals_training_without_a_pause(file, tmp_path):
    path = str(tmp_path / file)
    of_weights = "weights" in file  # such a file has no slots of the optimizer

    def make():
        start("jax")
        model = Sequential(
            [
                layers.Dense(6, activation="relu", input_shape=(5,)),
                layers.BatchNormalization(),
                layers.Dense(3),
            ]
        )
        model.compile("sgd" if of_weights else "adam", "mse")
        return model

    whole = make()
    for _ in range(4):
        whole.train_on_batch(X, Y)
    paused = make()
    for _ in range(2):
        paused.train_on_batch(X, Y)
    if of_weights:
        paused.save_weights(path)
        other = make()
        other.train_on_batch(X, Y)
        other.load_weights(path)
    else:
        paused.save(path)
        K.clear_session()
        other = load_model(path)
    for _ in range(2):
        other.train_on_batch(X, Y)
        paused.train_on_batch(X, Y)
    for model in (other, paused):
        for w, v in zip(model.get_weights(), whole.get_weights(), strict=True):
            np.testing.assert_array_equal(w, v)
    assert_compiled(other.train_function)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "pickle"],
)
def test_a_copy_keeps_the_engine_of_compile_and_trains_on_its_own(copied):
    start("numpy")
    model = dense("sgd", engine="jax")
    model.train_on_batch(X, Y)
    other = copied(model)
    assert other.engine == "jax"
    before = model.get_weights()
    other.train_on_batch(X, Y)
    assert_compiled(other.train_function)
    for w, v in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(w, v)


def child(folder, kill=None):
    """Train in a process of its own on JAX, with backups; return how it ended."""
    words = ["arrays", str(folder), json.dumps(kill), json.dumps({"save_freq": 2})]
    return subprocess.run(
        [sys.executable, str(TESTS / "backup_scenarios.py"), *words],
        env={**os.environ, "KERASCOPE_ENGINE": "jax"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_run_that_is_killed_in_an_epoch_ends_as_one_that_is_not(tmp_path):
    folder, other = tmp_path / "killed", tmp_path / "whole"
    folder.mkdir()
    other.mkdir()
    assert child(folder, ["between", 9, 6, "on_batch_end"]).returncode == -signal.SIGKILL
    assert list((folder / "backup").iterdir())
    resumed = child(folder)
    assert resumed.returncode == 0, resumed.stderr
    start("jax")
    whole = backup_scenarios.run("arrays", other)
    assert whole["engine"] == "'jax'"
    assert json.loads((folder / "result.json").read_text("utf-8")) == whole


def test_the_import_of_jax_draws_no_random_numbers():
    code = (
        "import sys, numpy as np; from kerascope import backend as K; np.random.seed(0);"
        "assert 'jax' not in sys.modules; K.set_engine('jax'); print(np.random.rand())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    np.random.seed(0)
    assert float(done.stdout) == np.random.rand()


# --- errors ---------------------------------------------------------------------------------------


class Rooted(Op):
    """A user's op that refuses negative numbers."""

    is_pure = True

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        if (x < 0).any():
            raise ValueError("a number is negative")
        return np.sqrt(x)

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / (2 * outputs[0])]


def letters():
    """Return a model, three good batches in one, and its inputs with a letter it does not know."""
    model = Sequential([layers.Embedding(5, 3, input_length=4), layers.LSTM(2), layers.Dense(1)])
    x = np.arange(24 * 4).reshape(24, 4) % 5
    bad = x.copy()
    bad[11, 2] = 7
    return model, "mse", (x, np.ones(24)), (bad, np.ones(24))


def labels():
    model = Sequential([layers.Dense(3, activation="softmax", input_shape=(4,))])
    x, y = np.ones((24, 4)), np.arange(24)[:, None] % 3
    return model, "sparse_categorical_crossentropy", (x, y), (x, np.where(y == 2, 3, y))


def roots():
    model = Sequential([layers.Lambda(Rooted(), input_shape=(4,)), layers.Dense(1)])
    x = np.linspace(1, 2, 24 * 4).reshape(24, 4)
    return model, "mse", (x, np.ones(24)), (np.where(x > 1.6, -x, x), np.ones(24))


@pytest.mark.parametrize("make", [letters, labels, roots])
def test_a_refused_value_raises_the_same_error_in_fit_after_the_same_steps(make):
    def run():
        model, loss, good, bad = make()
        model.compile("adam", loss)
        options = {"batch_size": 8, "verbose": 0, "shuffle": False}
        model.fit(*good, **options)
        with pytest.raises(Exception) as raised:  # noqa: PT011 (compared below)
            model.fit(*bad, **options)
        after = state_of(model)
        model.fit(*good, **options)
        error = raised.value
        return model, after, (type(error), str(error), getattr(error, "__notes__", []))

    (wanted, after, error), (found, found_after, found_error) = on_each_engine(run)
    assert found_error == error
    assert any("its layer was made at" in note or "compiled at" in note for note in error[2])
    assert_same(found_after, after, NEAR)
    assert_same(state_of(found), state_of(wanted), NEAR)
    assert_compiled(found.train_function)


def test_the_condition_of_a_loop_may_refuse_values():
    first, table = K.placeholder((), dtype="int32"), K.variable(np.arange(5.0))

    def run():
        (last,) = ops.while_loop(lambda n: K.gather(table, n) < 3, lambda n: (n + 1,), (first,))
        f = K.function([first], last)
        with pytest.raises(DataError) as raised:
            f([np.array(7)])
        return f, int(f([np.array(0)])), str(raised.value)

    (_, wanted, error), (f, found, found_error) = on_each_engine(run, "float32")
    assert (found, found_error) == (wanted, error) == (3, error)
    assert_compiled(f)


class Half(Op):
    """A user's op that promises another shape than it returns."""

    is_pure = True

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x[: len(x) // 2]


def test_an_op_with_a_wrong_shape_does_what_it_does_on_numpy():
    x = K.placeholder((4,))
    wanted, found = on_each_engine(
        lambda: K.function([x], Half()(x) + 1)([np.arange(4.0)]), "float32"
    )
    np.testing.assert_array_equal(found, wanted)


OPEN = {
    "sizes that do not fit": (lambda x, y: x + y, [np.ones((2, 3)), np.ones((4, 3))]),
    "rows of an empty table": (
        lambda x, y: K.gather(x, K.cast(y, "int32")),
        [np.ones((0, 3)), np.ones((0, 2))],
    ),
    "a loop without steps": (lambda x, y: K.foldl(lambda a, b: a + b, x, y), [np.ones((0, 3))] * 2),
    "branches of different shapes": (
        lambda x, y: K.switch(K.sum(x) > 0, x, K.exp(y)),
        [np.ones((1, 3)), np.ones((2, 3))],
    ),
}


@pytest.mark.filterwarnings("ignore:.*NumPy computes it, not JAX. A branch of a switch")
@pytest.mark.parametrize("name", OPEN)
def test_open_sizes_give_or_raise_the_same(name):
    build, arrays = OPEN[name]

    def run():
        inputs = [K.placeholder((None, None)) for _ in arrays]
        try:
            return K.function(inputs, build(*inputs))(arrays)
        except Exception as error:
            return type(error), str(error), error.__notes__

    wanted, found = on_each_engine(run, "float32")
    if isinstance(wanted, tuple):
        assert found == wanted
    else:
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_where_jax_itself_fails_numpy_computes_and_a_warning_says_so(monkeypatch):
    def broken(op, *arrays):
        raise TypeError("no such thing")

    start("jax")
    monkeypatch.setitem(lowering.RULES, Gather, broken)
    w = K.variable(np.zeros(3))
    f = K.function([], K.gather(w, np.array([1])), updates=[(w, w + 1)], name="broken")
    with pytest.warns(RuntimeWarning, match="broken: JAX failed .TypeError: no such thing.. NumPy"):
        assert f([]).tolist() == [0]
    assert f([]).tolist() == [1]
    assert "no such thing" in f.jax_programs.refused


def test_an_op_of_a_layer_is_computed_by_numpy_inside_the_program():
    x = K.placeholder((None, 5, 4, 3))
    images = DRAW.uniform(size=(2, 5, 4, 3))

    def run():
        layer = ContrastLimitedAdaptiveHistogramEqualization(value_range=(0, 1))
        f = K.function([x], layer(x) * 2)
        return f, f([images])

    (_, wanted), (f, found) = on_each_engine(run, "float32")
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert_compiled(f)


def test_what_is_computed_only_once_is_not_compiled(monkeypatch):
    def fail(*arguments):
        raise AssertionError("JAX compiles")

    start("jax")
    monkeypatch.setattr(JaxPrograms, "_trace", fail)
    v = K.variable([1.0, 2.0])
    assert K.eval(K.sum(v * 2)) == 6
    assert K.get_value(v.assign_add([1.0, 1.0])).tolist() == [2, 3]
    assert layers.Dense(3)(X).shape == (22, 3)


# --- interrupts -----------------------------------------------------------------------------------


def test_what_the_handler_of_a_signal_sets_at_any_moment_is_what_is_trained():
    start("jax")
    v, w = K.variable(np.zeros(2)), K.variable(np.zeros(2))
    f = K.function([], [v, w], updates=[(v, v + 1), (w, w + 1)])

    def prepare():
        K.batch_set_value([(v, v.get_value()), (w, w.get_value())])

    def handle():
        w.set_value([100.0, 100.0])

    f([])
    prepare()
    for moment in range(1, moments_of(lambda: f([])) + 1):
        prepare()
        with Moments(moment, does=handle):
            f([])
        after = [v.get_value(), w.get_value()]
        np.testing.assert_array_equal(f([]), after)
        np.testing.assert_array_equal([v.get_value(), w.get_value()], np.add(after, 1))


@pytest.mark.parametrize("how", ["next step", "weights set before"])
def test_a_step_interrupted_at_any_moment_is_done_wholly_or_not_at_all(how):
    x, y = X[:8], Y[:8]
    start("jax")
    model = dense()
    start("jax")
    twin, steps = dense(), 0

    def prepare():
        if how == "weights set before":  # the variables move to the device again
            model.set_weights(model.get_weights())

    def step():
        model.train_on_batch(x, y)

    step()
    step()
    prepare()
    for moment in range(1, moments_of(step) + 1):
        prepare()
        before = int(K.get_value(model.optimizer.iterations))
        assert interrupted(step, moment, KeyboardInterrupt)
        after = int(K.get_value(model.optimizer.iterations))
        assert after - before in (0, 1)
        while steps < after:
            twin.train_on_batch(x, y)
            steps += 1
        assert_same(state_of(model), state_of(twin), 0)
    assert_compiled(model.train_function)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timer")
@pytest.mark.parametrize(("noise", "times"), [(0, 300), (0.1, 60)], ids=["dense", "noise"])
def test_an_interrupted_fit_has_done_whole_steps(noise, times):
    x, y = X[:8], Y[:8]
    start("jax")
    model = dense(noise=noise)
    model.train_on_batch(x, y)
    start("jax")
    twin, steps = dense(noise=noise), 0  # the same training, without interrupts
    draw = np.random.default_rng(5)
    hits, distinct = 0, set()

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while hits < times:
            try:
                # It repeats, because JAX ignores an interrupt in its own callback of the garbage
                # collector.
                signal.setitimer(signal.ITIMER_REAL, float(draw.uniform(1e-5, 6e-3)), 0.1)
                model.fit(x, y, batch_size=8, epochs=10**6, verbose=0, shuffle=False)
            except KeyboardInterrupt:
                hits += 1
                signal.setitimer(signal.ITIMER_REAL, 0)
            while steps < int(K.get_value(model.optimizer.iterations)):
                twin.train_on_batch(x, y)
                steps += 1
            distinct.add(steps)
            assert_same(state_of(model), state_of(twin), 0)
            assert not jax.config.jax_enable_x64  # other users of JAX keep 32 bits
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(distinct) > times / 20
    assert_compiled(model.train_function)
