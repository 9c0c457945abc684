"""fit, evaluate, predict and their kin for batches and generators."""

from itertools import chain

import h5py
import numpy as np
import pytest

from kerascope import Input, K, Model, Sequential, callbacks, optimizers
from kerascope.compat.private_names import fit_loop
from kerascope.engine.training_loop import BatchBegun
from kerascope.errors import KerascopeWarning
from kerascope.layers import (
    Add,
    BatchNormalization,
    Concatenate,
    Dense,
    Dropout,
    Embedding,
    Flatten,
)
from kerascope.settings import config
from kerascope.utils import Sequence


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


X, Y = numbers(50, 4), numbers(50, 1, seed=1)


def small(optimizer="sgd", **kwargs):
    model = Sequential([Dense(1, input_shape=(4,), kernel_initializer="ones", name="only")])
    model.compile(optimizer, "mse", **kwargs)
    return model


def two_in_two_out(optimizer="sgd"):
    a, b = Input((4,), name="a"), Input((2,), name="b")
    h = Concatenate()([Dense(3)(a), b])
    model = Model([a, b], [Dense(1, name="y")(h), Dense(2, name="z")(h)])
    model.compile(optimizer, "mse")
    return model


class Told(callbacks.Callback):
    """Writes down what it hears."""

    def __init__(self):
        super().__init__()
        self.epochs, self.batches, self.logs = [], [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.epochs.append(epoch)

    def on_batch_end(self, batch, logs=None):
        self.batches.append((batch, int(logs["size"])))

    def on_epoch_end(self, epoch, logs=None):
        self.logs.append(dict(logs))


class Batches(Sequence):
    """The rows of X in batches of ten."""

    def __init__(self, **kwargs):
        self.seen, self.ended = [], 0

    def __len__(self):
        return 5

    def __getitem__(self, index):
        self.seen.append(index)
        return X[10 * index : 10 * index + 10], Y[10 * index : 10 * index + 10]

    def on_epoch_end(self):
        self.ended += 1


def endless(*arrays, size=10):
    at = 0
    while True:
        yield tuple(array[at : at + size] for array in arrays)
        at = (at + size) % len(arrays[0])


# --- fit ------------------------------------------------------------------------------------------


def test_a_step_of_sgd_is_the_step_computed_by_hand():
    model = small(optimizers.SGD(lr=0.1))
    kernel, bias = model.get_weights()
    slope = 2 * (X @ kernel + bias - Y) / len(X)
    model.fit(X, Y, batch_size=50, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], kernel - 0.1 * X.T @ slope, rtol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], bias - 0.1 * slope.sum(axis=0), rtol=1e-4)


def test_fit_goes_through_all_samples_in_batches_of_32_and_a_rest():
    told = Told()
    small().fit(X, Y, epochs=2, callbacks=[told], verbose=0)
    assert told.epochs == [0, 1]
    assert told.batches == [(0, 32), (1, 18)] * 2


def test_the_loss_of_an_epoch_is_the_mean_over_its_samples():
    model = small(optimizers.SGD(lr=0.0))
    history = model.fit(X, Y, verbose=0).history
    assert history["loss"][0] == pytest.approx(np.mean((model.predict(X) - Y) ** 2), rel=1e-5)


def test_the_history_has_an_entry_for_each_epoch_and_is_kept_by_the_model():
    model = small(metrics=["mae"])
    history = model.fit(X, Y, epochs=3, validation_split=0.2, verbose=0)
    assert model.history is history
    assert history.epoch == [0, 1, 2]
    assert {name: len(values) for name, values in history.history.items()} == dict.fromkeys(
        ["val_loss", "val_mean_absolute_error", "loss", "mean_absolute_error"], 3
    )


def test_initial_epoch_goes_on_with_an_earlier_run():
    told = Told()
    model = small()
    history = model.fit(X, Y, epochs=5, initial_epoch=3, callbacks=[told], verbose=0)
    assert told.epochs == history.epoch == [3, 4]


def test_steps_per_epoch_feeds_the_same_arrays_again():
    told = Told()
    small().fit(X, Y, steps_per_epoch=3, callbacks=[told], verbose=0)
    assert told.batches == [(0, 50), (1, 50), (2, 50)]


def test_inputs_that_are_variables_need_no_data_but_steps():
    x = Input(tensor=K.variable(X))
    model = Model(x, Dense(1)(x))
    model.compile("sgd", "mse", target_tensors=K.constant(Y))
    losses = model.fit(epochs=3, steps_per_epoch=2, verbose=0, sample_weight=None).history["loss"]
    assert losses[2] < losses[0]
    with pytest.raises(ValueError, match="Pass steps_per_epoch"):
        model.fit(verbose=0)


@pytest.mark.parametrize("x", [X, X.astype("float64"), X.tolist(), [X], {"only_input": X}])
def test_x_can_come_in_many_forms(x):
    model = small()
    model.fit(x, Y[:, 0], verbose=0)
    reference = small()
    np.random.seed(0)
    reference.fit(X, Y, verbose=0, shuffle=False)
    model = small()
    model.fit(x, Y[:, 0].tolist(), verbose=0, shuffle=False)
    np.testing.assert_array_equal(model.get_weights()[0], reference.get_weights()[0])


def test_several_inputs_and_outputs_as_lists_and_as_dicts():
    b, z = numbers(50, 2, seed=2), numbers(50, 2, seed=3)
    by_list, by_dict = two_in_two_out(), two_in_two_out()
    by_dict.set_weights(by_list.get_weights())
    first = by_list.fit([X, b], [Y, z], shuffle=False, verbose=0).history
    second = by_dict.fit({"b": b, "a": X}, {"z": z, "y": Y}, shuffle=False, verbose=0).history
    assert first == second
    assert set(first) == {"loss", "y_loss", "z_loss"}
    np.testing.assert_allclose(
        by_list.evaluate([X, b], [Y, z], verbose=0),
        by_dict.evaluate({"a": X, "b": b}, [Y, z], verbose=0),
    )
    y, predicted = by_list.predict([X, b])
    assert (y.shape, predicted.shape) == ((50, 1), (50, 2))


def test_sample_weights_of_several_outputs_come_as_a_list_or_a_dict():
    b, z, w = numbers(50, 2, seed=2), numbers(50, 2, seed=3), np.arange(50.0)
    model = two_in_two_out()
    plain = model.evaluate([X, b], [Y, z], verbose=0)
    listed = model.evaluate([X, b], [Y, z], sample_weight=[w, None], batch_size=50, verbose=0)
    named = model.evaluate([X, b], [Y, z], sample_weight={"y": w}, batch_size=50, verbose=0)
    assert listed == named
    assert listed[1] != pytest.approx(plain[1])
    assert listed[2] == pytest.approx(plain[2])


# --- validation -----------------------------------------------------------------------------------


def test_a_validation_split_takes_the_end_and_never_trains_on_it():
    model, reference = small(), small()
    history = model.fit(X, Y, validation_split=0.2, shuffle=False, verbose=0).history
    reference.fit(X[:40], Y[:40], shuffle=False, verbose=0)
    np.testing.assert_array_equal(model.get_weights()[0], reference.get_weights()[0])
    assert history["val_loss"][0] == pytest.approx(
        model.evaluate(X[40:], Y[40:], verbose=0), rel=1e-6
    )


@pytest.mark.parametrize("with_weights", [False, True])
def test_validation_data_is_evaluated_after_each_epoch(with_weights):
    held = (numbers(20, 4, seed=5), numbers(20, 1, seed=6))
    weights = (np.arange(20.0),) if with_weights else ()
    model = small()
    history = model.fit(X, Y, epochs=2, validation_data=(*held, *weights), verbose=0).history
    expected = model.evaluate(*held, sample_weight=weights[0] if weights else None, verbose=0)
    assert history["val_loss"][-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("by_generator", [False, True])
def test_chosen_epochs_are_validated_and_callbacks_wait_for_them(by_generator, tmp_path):
    model = small()
    asked = [
        callbacks.EarlyStopping(patience=9),
        callbacks.ReduceLROnPlateau(),
        callbacks.ModelCheckpoint(tmp_path / "best.h5", save_best_only=True),
        callbacks.CSVLogger(tmp_path / "log.csv"),
    ]
    arguments = {"validation_data": (X, Y), "validation_freq": [2, 5], "verbose": 0}
    arguments |= {"validation_batch_size": 30, "epochs": 5, "callbacks": asked}
    told = model.fit(*[Batches()] if by_generator else [X, Y], **arguments).history
    assert [len(told["loss"]), len(told["val_loss"])] == [5, 2]
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "epoch,loss,lr,val_loss"
    assert ["NA" in line for line in lines[1:]] == [True, False, True, True, False]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", None, True, ["a"], [0], [1, 1.5], [True]])
def test_a_validation_freq_that_is_no_number_of_epochs(wrong):
    with pytest.raises(ValueError, match=r"validation_freq: expected a whole number >= 1, or"):
        small().fit(X, Y, validation_data=(X, Y), validation_freq=wrong, verbose=0)


def test_validation_changes_nothing():
    plain, validated = small("adam"), small("adam")
    plain.fit(X, Y, shuffle=False, epochs=2, verbose=0)
    validated.fit(X, Y, shuffle=False, epochs=2, validation_data=(X, Y), verbose=0)
    np.testing.assert_array_equal(plain.get_weights()[0], validated.get_weights()[0])


# --- weights of samples and classes ---------------------------------------------------------------


def test_a_sample_of_weight_zero_is_as_good_as_absent():
    kept = np.arange(50) % 2 == 0
    weighted, reference = small(), small()
    weighted.fit(X, Y, batch_size=50, sample_weight=kept.astype(float), shuffle=False, verbose=0)
    reference.fit(X[kept], Y[kept], batch_size=50, shuffle=False, verbose=0)
    np.testing.assert_allclose(weighted.get_weights()[0], reference.get_weights()[0], rtol=1e-5)


@pytest.mark.parametrize("one_hot", [False, True])
def test_class_weights_are_sample_weights_by_class(one_hot):
    labels = np.arange(50) % 3
    y = np.eye(3)[labels] if one_hot else labels
    loss = "categorical_crossentropy" if one_hot else "sparse_categorical_crossentropy"
    models = []
    for _ in range(2):
        np.random.seed(3)
        models.append(Sequential([Dense(3, activation="softmax", input_shape=(4,))]))
        models[-1].compile("sgd", loss)
    weight = {0: 1.0, 1: 5.0, 2: 0.5}
    models[0].fit(X, y, class_weight=weight, shuffle=False, verbose=0)
    models[1].fit(X, y, sample_weight=[weight[c] for c in labels], shuffle=False, verbose=0)
    np.testing.assert_array_equal(models[0].get_weights()[0], models[1].get_weights()[0])


@pytest.mark.parametrize("dialect", ["1.2", "2.2"])
def test_weights_of_samples_win_over_those_of_classes_with_a_warning(monkeypatch, dialect):
    monkeypatch.setattr(config, "dialect", dialect)
    labels, weights = np.arange(50.0) % 2, np.linspace(0.0, 2.0, 50)
    model = small(optimizers.SGD(lr=0.0))
    expected = model.train_on_batch(X, labels, sample_weight=weights)
    both = {"sample_weight": weights, "class_weight": {0: 3.0, 1: 0.5}}
    with pytest.warns(KerascopeWarning, match="class_weight is ignored, as in Keras 2"):
        assert model.train_on_batch(X, labels, **both) == expected
    with pytest.warns(KerascopeWarning, match="class_weight is ignored, as in Keras 2"):
        fitted = model.fit(X, labels, batch_size=50, epochs=1, verbose=0, shuffle=False, **both)
    np.testing.assert_allclose(fitted.history["loss"], expected, rtol=1e-6)


def test_weights_of_samples_and_of_classes_together_are_refused_in_keras_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    model = small()
    before = model.get_weights()
    for method in (model.train_on_batch, model.fit):
        with pytest.raises(ValueError, match="both are given. Leave one out"):
            method(X, Y > 0, sample_weight=np.ones(50), class_weight={0: 3.0, 1: 0.5})
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


# --- order and randomness -------------------------------------------------------------------------


def fed_order(shuffle, epochs=2, x=None, y=None, seed=0):
    """Return the numbers of the rows in the order of feeding, batch by batch."""
    np.random.seed(seed)
    y = np.arange(50.0)[:, None] if y is None else y
    stage = small(optimizers.SGD(lr=0.0)).fit_stage(
        X if x is None else x, y, batch_size=16, epochs=epochs, shuffle=shuffle, verbose=0
    )
    return [
        event.ins_batch[1][:, 0].astype(int).tolist()
        for event in stage
        if isinstance(event, BatchBegun)
    ]


def test_without_shuffle_the_rows_keep_their_order():
    assert list(chain(*fed_order(False))) == [*range(50), *range(50)]


def test_shuffle_orders_the_rows_anew_for_each_epoch():
    order = list(chain(*fed_order(True)))
    first, second = order[:50], order[50:]
    assert first != second
    assert sorted(first) == sorted(second) == list(range(50)) != first


def test_shuffle_batch_keeps_the_rows_of_a_batch_together():
    batches = fed_order("batch", epochs=3)
    assert all(batch == list(range(batch[0], batch[0] + len(batch))) for batch in batches)
    starts = [batch[0] for batch in batches]
    assert sorted(starts[:4]) == [0, 16, 32, 48]
    assert starts[:4] != starts[4:8] or starts[4:8] != starts[8:]
    assert starts[3] == starts[7] == 48  # the smaller one stays last


def test_hdf5_data_are_read_batch_by_batch(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"], file["y"], file["flat"] = X, np.arange(50.0)[:, None], np.arange(50.0)
        batches = fed_order("batch", epochs=1, x=file["x"], y=file["y"])
        assert sorted(chain(*batches)) == list(range(50))
        model = small()
        model.fit(file["x"], file["flat"], shuffle="batch", verbose=0)
        np.testing.assert_array_equal(model.predict(file["x"]), model.predict(X))
        with pytest.raises(TypeError, match='If using HDF5 input data, pass shuffle="batch"'):
            model.fit(file["x"], file["y"], verbose=0)


def test_a_run_can_be_repeated_with_a_seed():
    def run():
        np.random.seed(7)
        model = Sequential([Dense(8, input_shape=(4,)), Dropout(0.5), Dense(1)])
        model.compile("adam", "mse")
        history = model.fit(X, Y, epochs=3, verbose=0).history["loss"]
        return history, model.get_weights()

    (first, weights), (second, same) = run(), run()
    assert first == second
    for a, b in zip(weights, same, strict=True):
        np.testing.assert_array_equal(a, b)


# --- evaluate, predict, one batch -----------------------------------------------------------------


def test_evaluate_is_the_mean_over_samples_whatever_the_batch_size():
    model = small(metrics=["mae"])
    results = [model.evaluate(X, Y, batch_size=size, verbose=0) for size in (1, 7, 32, 50, 100)]
    for result in results:
        np.testing.assert_allclose(result, results[0], rtol=1e-5)
    assert len(results[0]) == 2


def test_predict_joins_the_batches():
    model = small()
    np.testing.assert_allclose(
        model.predict(X, batch_size=7), model.predict(X, batch_size=50), rtol=1e-6
    )
    assert model.predict(X[:1]).shape == (1, 1)


def test_a_batch_is_trained_tested_and_predicted_by_itself():
    model = small(metrics=["mae"])
    tested = model.test_on_batch(X, Y)
    trained = model.train_on_batch(X, Y)
    np.testing.assert_allclose(tested, trained, rtol=1e-6)  # the loss is that before the update
    assert model.test_on_batch(X, Y)[0] < tested[0]
    np.testing.assert_array_equal(model.predict_on_batch(X), model.predict(X, batch_size=50))
    assert model.train_on_batch(X, Y, sample_weight=np.ones(50))[0] > 0
    assert model.optimizer.iterations.get_value() == 2


def test_an_evaluation_of_an_uncompiled_model_is_refused_but_a_prediction_is_not():
    model = Sequential([Dense(1, input_shape=(4,))])
    assert model.predict(X).shape == (50, 1)
    with pytest.raises(RuntimeError, match="You must compile a model"):
        model.evaluate(X, Y)


# --- generators -----------------------------------------------------------------------------------


def test_a_generator_trains_like_the_arrays():
    by_arrays, by_generator = small(), small()
    first = by_arrays.fit(X, Y, batch_size=10, epochs=2, shuffle=False, verbose=0)
    second = by_generator.fit_generator(endless(X, Y), steps_per_epoch=5, epochs=2, verbose=0)
    np.testing.assert_allclose(first.history["loss"], second.history["loss"], rtol=1e-6)
    np.testing.assert_array_equal(by_arrays.get_weights()[0], by_generator.get_weights()[0])


def test_a_generator_can_bring_sample_weights():
    weights = np.arange(50.0)
    by_arrays, by_generator = small(), small()
    by_arrays.fit(X, Y, 10, sample_weight=weights, shuffle=False, verbose=0)
    by_generator.fit_generator(endless(X, Y, weights), 5, verbose=0)
    np.testing.assert_array_equal(by_arrays.get_weights()[0], by_generator.get_weights()[0])


def test_a_sequence_knows_its_length_is_shuffled_and_told_of_the_end():
    batches = Batches()
    small().fit_generator(batches, epochs=3, verbose=0)
    epochs = [batches.seen[5 * i : 5 * i + 5] for i in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(5))] * 3
    assert len({tuple(epoch) for epoch in epochs}) > 1
    assert batches.ended == 3
    in_order = Batches()
    small().fit_generator(in_order, shuffle=False, verbose=0)
    assert in_order.seen == list(range(5))


@pytest.mark.parametrize(
    "validation", [lambda: (X, Y), lambda: endless(X, Y), Batches, lambda: (X, Y, np.ones(50))]
)
def test_a_generator_can_be_validated_on_arrays_a_generator_or_a_sequence(validation):
    model = small()
    history = model.fit_generator(
        endless(X, Y), 5, epochs=2, validation_data=validation(), validation_steps=5, verbose=0
    ).history
    assert history["val_loss"][-1] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-5)


def test_evaluate_and_predict_from_a_generator_and_a_sequence():
    model = small(metrics=["mae"])
    expected = model.evaluate(X, Y, verbose=0)
    np.testing.assert_allclose(
        model.evaluate_generator(endless(X, Y), steps=5), expected, rtol=1e-5
    )
    np.testing.assert_allclose(model.evaluate_generator(Batches()), expected, rtol=1e-5)
    np.testing.assert_allclose(model.predict_generator(Batches()), model.predict(X), rtol=1e-5)
    only_x = (x for x in [X[:20], X[20:]])
    np.testing.assert_allclose(model.predict_generator(only_x, 2), model.predict(X), rtol=1e-5)


def test_a_generator_builds_a_deferred_model():
    model = Sequential([Dense(3), Dense(1)])
    model.compile("sgd", "mse")
    model.fit_generator(endless(X, Y), 5, verbose=0)
    assert model.input_shape == (None, 4)
    other = Sequential([Dense(3)])
    assert other.predict_generator(Batches()).shape == (50, 3)


def test_a_generator_that_ends_too_early_is_told_after_how_many_batches():
    with pytest.raises(ValueError, match=r"ended after 2 of 5 batches of the epoch"):
        small().fit_generator(((X, Y) for _ in range(2)), 5, verbose=0)
    with pytest.raises(ValueError, match="the number of batches in an epoch is unknown"):
        small().fit_generator(endless(X, Y), verbose=0)
    with pytest.raises(ValueError, match=r"expected a tuple \(x, y\)"):
        small().fit_generator(iter([X]), 1, verbose=0)


# --- callbacks ------------------------------------------------------------------------------------


def test_early_stopping_stops():
    model = small(optimizers.SGD(lr=0.0))
    stop = callbacks.EarlyStopping(monitor="loss", patience=2)
    history = model.fit(X, Y, epochs=20, shuffle=False, callbacks=[stop], verbose=0)
    assert len(history.epoch) == 3


def test_a_callback_can_stop_after_a_batch():
    told = Told()
    stop = callbacks.LambdaCallback(
        on_batch_end=lambda batch, logs: setattr(told.model, "stop_training", batch == 1)
    )
    small().fit(X, Y, batch_size=10, epochs=3, callbacks=[told, stop], verbose=0)
    assert told.batches == [(0, 10), (1, 10)]
    assert len(told.logs) == 1


def test_a_schedule_sets_the_learning_rate_of_the_next_epoch():
    model, told = small(), Told()
    model.fit(
        X, Y, epochs=3, verbose=0,
        callbacks=[callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)), told],
    )  # fmt: skip
    assert model.optimizer.lr.get_value() == pytest.approx(0.1 / 3)


def test_the_learning_rate_is_reduced_on_a_plateau():
    model = small(optimizers.SGD(lr=1e-12))
    reduce = callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=1.0)
    model.fit(X, Y, epochs=4, callbacks=[reduce], verbose=0, shuffle=False)
    assert model.optimizer.lr.get_value() < 0.9e-12


def test_a_lambda_callback_hears_of_everything():
    heard = []
    hooks = ["epoch_begin", "epoch_end", "batch_begin", "batch_end"]
    listening = {f"on_{h}": lambda index, logs, h=h: heard.append(h) for h in hooks}
    listening |= {f"on_train_{h}": lambda logs, h=h: heard.append(h) for h in ("begin", "end")}
    small().fit(X, Y, batch_size=50, callbacks=[callbacks.LambdaCallback(**listening)], verbose=0)
    assert heard == ["begin", "epoch_begin", "batch_begin", "batch_end", "epoch_end", "end"]


# --- layers that behave differently in training ---------------------------------------------------


def test_a_frozen_layer_stays_as_it_is():
    model = Sequential([Dense(3, input_shape=(4,), trainable=False), Dense(1)])
    model.compile("adam", "mse")
    before = model.get_weights()
    model.fit(X, Y, epochs=2, verbose=0)
    after = model.get_weights()
    np.testing.assert_array_equal(before[0], after[0])
    assert abs(before[2] - after[2]).max() > 0


def test_batch_normalization_uses_the_batch_in_fit_and_the_averages_elsewhere():
    model = Sequential([BatchNormalization(momentum=0.5, input_shape=(4,))])
    model.compile(optimizers.SGD(lr=0.0), "mse")
    shifted = 3 + 2 * X
    np.testing.assert_allclose(model.predict(shifted), shifted / np.sqrt(1.001), rtol=1e-5)
    model.fit(shifted, X, batch_size=50, verbose=0)
    mean, variance = model.get_weights()[2:]
    np.testing.assert_allclose(mean, 0.5 * shifted.mean(axis=0), rtol=1e-4)
    corrected = shifted.var(axis=0) * 50 / 48.999
    np.testing.assert_allclose(variance, 0.5 + 0.5 * corrected, rtol=1e-4)
    model.evaluate(shifted, X, verbose=0)
    model.predict(shifted)
    np.testing.assert_array_equal(model.get_weights()[2], mean)
    expected = (shifted - mean) / np.sqrt(variance + 1e-3)
    np.testing.assert_allclose(model.predict(shifted), expected, rtol=1e-4, atol=1e-4)


def test_dropout_drops_in_fit_only():
    model = Sequential([Dropout(0.5, input_shape=(4,))])
    model.compile("sgd", "mse")
    ones = np.ones((50, 4), "float32")
    np.testing.assert_array_equal(model.predict(ones), ones)
    assert model.evaluate(ones, ones, verbose=0) == 0
    assert model.train_on_batch(ones, ones) > 0
    assert model.test_on_batch(ones, ones) == 0


def test_a_frozen_batch_normalization_keeps_its_averages():
    model = Sequential([BatchNormalization(input_shape=(4,), trainable=False), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(3 + X, Y, verbose=0)
    np.testing.assert_array_equal(model.get_weights()[2], np.zeros(4))


def test_a_shared_embedding_learns_from_both_its_calls():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    shared = Embedding(6, 3, name="words")
    joined = Add()([Flatten()(shared(a)), Flatten()(shared(b))])
    model = Model([a, b], Dense(1)(joined))
    model.compile("sgd", "mse")
    before = shared.get_weights()[0]
    model.train_on_batch([np.zeros((5, 2)), np.full((5, 2), 4)], numbers(5, 1))
    moved = abs(shared.get_weights()[0] - before).max(axis=1) > 0
    assert moved.tolist() == [True, False, False, False, True, False]


def test_training_learns():
    np.random.seed(1)
    x = numbers(300, 2)
    y = (x[:, 0] * x[:, 1] > 0).astype("float32")
    model = Sequential(
        [Dense(16, activation="tanh", input_shape=(2,)), Dense(1, activation="sigmoid")]
    )
    model.compile(optimizers.Adam(lr=0.05), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, epochs=30, verbose=0).history
    assert history["acc"][-1] > 0.95
    assert history["loss"][-1] < 0.3 < history["loss"][0]


def test_numbers_come_by_name_if_asked():
    model = Sequential([Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = np.ones((8, 4)), np.ones((8, 1))
    told = model.evaluate(x, y, verbose=0, return_dict=True)
    assert list(told) == model.metrics_names
    assert list(told.values()) == model.evaluate(x, y, verbose=0)
    assert model.test_on_batch(x, y, return_dict=True).keys() == told.keys()
    batches = ((x, y) for _ in range(2))
    assert model.evaluate(batches, steps=2, verbose=0, return_dict=True).keys() == told.keys()
    assert model.train_on_batch(x, y, return_dict=True).keys() == told.keys()


def test_callbacks_of_fit_loop_see_the_validation_data_as_those_of_fit_do():
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    model._make_train_function()
    model._make_test_function()
    x, y, weights = np.ones((4, 2)), np.ones((4, 1)), np.ones(4)
    callback = callbacks.Callback()
    held = [2 * x, y, weights]
    fit_loop(
        model, model.train_function, [x, y, weights], batch_size=2, epochs=1, verbose=0,
        callbacks=[callback], val_f=model.test_function, val_ins=held,
    )  # fmt: skip
    np.testing.assert_array_equal(callback.validation_data[0], 2 * x)
