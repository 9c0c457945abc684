"""The training of a live model of Keras is recorded in the user's own loop."""

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ArgumentError, KerascopeWarning

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


@pytest.fixture
def data(rng):
    x = rng.normal(size=(10, 3)).astype("float32")
    return x, x.sum(1)


def net(keras, *between):
    keras.utils.set_random_seed(3)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(4, name="a"), *between, layers.Dense(1, name="b")],
        name="net",
    )
    model.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
    return model


def events(tape, kind, mark="B"):
    return [event for event in tape if event.kind == kind and event.ph == mark]


def told_at(event):
    return {delta.name: delta.value for delta in event.deltas}


def test_epochs_and_batches_have_their_logs(keras, data):
    model = net(keras, keras.layers.Dropout(0.5))
    with ks.trace(model) as tape:
        history = model.fit(*data, batch_size=4, epochs=2, verbose=0)
    assert [event.name for event in events(tape, "epoch")] == ["epoch 0", "epoch 1"]
    assert [event.name for event in events(tape, "batch")] == ["batch 0", "batch 1", "batch 2"] * 2
    assert [told_at(event)["size"] for event in events(tape, "batch")] == [4, 4, 2] * 2
    logs = [told_at(event)["logs"] for event in events(tape, "epoch", "E")]
    assert [one["loss"] for one in logs] == pytest.approx(history.history["loss"])
    # In Keras the logs of a batch are the means of the epoch so far.
    last = told_at(events(tape, "batch", "E")[-1])
    assert last["logs"]["mae"] == pytest.approx(logs[1]["mae"])
    assert last["outs"] == (last["logs"]["loss"], last["logs"]["mae"])


def test_being_recorded_changes_nothing(keras, data):
    told = []
    for is_recorded in (False, True):
        model = net(keras, keras.layers.BatchNormalization(), keras.layers.Dropout(0.5, seed=1))
        if is_recorded:
            with ks.trace(model):
                history = model.fit(*data, batch_size=4, epochs=2, verbose=0)
        else:
            history = model.fit(*data, batch_size=4, epochs=2, verbose=0)
        told.append((history.history["loss"], model.get_weights()))
    assert told[0][0] == told[1][0]
    for a, b in zip(told[0][1], told[1][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_are_told_with_their_gradients_and_new_values(keras, data):
    model = net(keras, keras.layers.Dropout(0.5))
    with ks.trace(model, statistics_only=False) as tape:
        model.train_on_batch(*data)
    begun, ended = events(tape, "update.param"), events(tape, "update.param", "E")
    assert list(tape.names_at(ended[0].t)["grads"]) == [v.path for v in model.trainable_variables]
    assert [event.name for event in begun] == [v.path for v in model.trainable_variables]
    for variable, begin, end in zip(model.trainable_variables, begun, ended, strict=True):
        old, gradient = told_at(begin)["p"], told_at(begin)["g"]
        new = told_at(end)["new_p"]
        np.testing.assert_array_equal(new, np.asarray(variable.value))
        np.testing.assert_allclose(new, old - 0.05 * gradient, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("is_dynamic", [True, False])
def test_gradients_are_those_of_the_loss_without_the_factor_of_mixed_precision(
    keras, data, is_dynamic
):
    """A LossScaleOptimizer changes its factor during training."""

    def run(is_scaled):
        model, optimizer = net(keras), keras.optimizers.SGD(0.05)
        if is_scaled and is_dynamic:
            options = {"initial_scale": 1024.0, "dynamic_growth_steps": 1}
            optimizer = keras.optimizers.LossScaleOptimizer(optimizer, **options)
        elif is_scaled:
            optimizer = keras.optimizers.SGD(0.05, loss_scale_factor=1024.0)
        model.compile(optimizer, "mse")
        with ks.trace(model, statistics_only=False) as tape:
            model.fit(*data, batch_size=5, verbose=0, shuffle=False)
        deltas = [delta for event in tape for delta in event.deltas]
        return [
            *(delta.value for delta in deltas if delta.name == "g"),
            *(delta.value for delta in deltas if delta.name == "grads" and delta.key),
        ]

    scaled, plain = run(True), run(False)
    assert len(plain) == 2 * 2 * 4
    for a, b in zip(scaled, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_callbacks_of_the_user_go_on(keras, data):
    seen = []

    class Mine(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(batch)

    model = net(keras)
    with ks.trace(model):
        model.fit(*data, batch_size=4, verbose=0, callbacks=Mine())
        model.fit(*data, 4, 1, 0, [Mine()])
    assert seen == [0, 1, 2] * 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_everything_is_put_back_also_after_an_error(keras, data, error):
    class Mine(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise error("no")

    model = net(keras)
    model.fit(*data, verbose=0)
    before, step = type(model).fit, model.train_function
    with pytest.raises(error), ks.trace(model) as tape:
        model.fit(*data, verbose=0, callbacks=[Mine()])
    assert model.fit.__func__ is before
    assert model.train_function is step
    assert not {"fit", "make_train_function"} & vars(model).keys()
    assert [event.kind for event in tape][-1] == "fit"


def log_of(keras):
    class Boom(keras.layers.Layer):
        def call(self, x):
            return keras.ops.log(x)

    return Boom(name="boom")


def test_a_loss_that_is_no_number_is_told_with_the_first_layer(keras, data):
    model = net(keras, log_of(keras))
    words = r"net: epoch 0, batch 0: loss is nan; the first .* is that of 'boom' \(Boom\)"
    with ks.trace(model) as tape, pytest.warns(KerascopeWarning, match=words) as warned:
        model.fit(*data, batch_size=4, verbose=0)
    assert len(warned) == 1  # the batches that follow have it from this one
    assert warned[0].filename == __file__
    again = [event for event in events(tape, "function") if "again" in event.name]
    assert [event.name for event in again] == ["forward pass of batch 0 again"]
    calls = [event.name for event in events(tape, "node") if event.t > again[0].t]
    assert calls[:4] == ["input_layer", "a", "boom", "b"]


def test_a_loss_that_is_no_number_may_come_from_elsewhere(keras, data):
    x, y = data
    broken = x.copy()
    broken[5] = np.nan
    model = net(keras)
    with ks.trace(model), pytest.warns(KerascopeWarning, match=r"batch 1: .*of the batch itself"):
        model.fit(broken, y, batch_size=4, shuffle=False, verbose=0)
    model = net(keras)
    model.get_layer("b").kernel.assign(np.full((4, 1), np.inf))
    with (
        ks.trace(model),
        pytest.warns(KerascopeWarning, match=r"net: batch 0: .*weight net/b/kernel was not finite"),
    ):
        model.train_on_batch(x, y)
    model = net(keras)
    model.compile("sgd", lambda y, p: keras.ops.mean(keras.ops.log(p * 0 - 1)))
    with ks.trace(model), pytest.warns(KerascopeWarning, match="the loss itself is the first"):
        model.train_on_batch(x, y)


def test_a_call_of_the_model_is_a_batch_by_itself_and_what_runs_outside_it_is_nobodys(keras, data):
    x, y = data
    model = net(keras)
    with ks.trace(model) as tape:
        for _ in range(2):
            keras.ops.mean((model(x)[:, 0] - y) ** 2)
    assert [event.name for event in events(tape, "batch")] == ["batch 0", "batch 1"]
    calls = [event.name for event in events(tape, "node")]
    assert calls == ["input_layer", "a", "b"] * 2


def test_evaluation_counts_its_own_batches(keras, data):
    model = net(keras)
    with ks.trace(model) as tape:
        model.fit(*data, batch_size=5, verbose=0, validation_data=data)
        model.train_on_batch(*data)
        model.predict(data[0], verbose=0)
    assert [event.name for event in events(tape, "batch")] == ["batch 0", "batch 1", "batch 2"]
    assert [event.name for event in tape if event.kind in ("evaluate", "predict")] == [
        *("evaluate net", "evaluate net", "predict net", "predict net"),
    ]


def test_only_models_train(keras):
    with (
        pytest.raises(ArgumentError, match=r"expected a keras\.Model.*got Dense"),
        ks.trace(keras.layers.Dense(2)),
    ):
        pass
