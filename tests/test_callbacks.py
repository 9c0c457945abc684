"""Callbacks, told by hand what `fit` would tell them, about a stand-in for a model."""

import csv
import json
import math
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest

from kerascope import callbacks as cb
from kerascope import display
from kerascope.backend import state as K
from kerascope.callbacks.tensorboard import crc32c, masked_crc
from kerascope.errors import (
    ArgumentError,
    DtypeError,
    KerascopeWarning,
    SpellingWarning,
    UnknownNameError,
)
from kerascope.layers import Dense
from kerascope.models import Sequential


class StandInModel:
    """What callbacks may ask of a model, and a record of what they did."""

    def __init__(self, lr=0.1, stateful=()):
        self.stop_training = False
        self.optimizer = SimpleNamespace(lr=K.variable(lr, name="lr"))
        self.stateful_metric_names = list(stateful)
        self.weights = [np.zeros(2)]
        self.saved = []

    def get_weights(self):
        return [array.copy() for array in self.weights]

    def set_weights(self, weights):
        self.weights = weights

    def save(self, path, overwrite=True):
        self.saved.append(("model", path))
        Path(path).write_text("model", encoding="utf-8")

    def save_weights(self, path, overwrite=True):
        self.saved.append(("weights", path))
        Path(path).write_text("weights", encoding="utf-8")


def train(callback, epoch_logs, model=None):
    """Tell a callback of one run until it stops the model; return how many epochs that was."""
    model = model or StandInModel()
    callback.set_model(model)
    callback.on_train_begin()
    for epoch, logs in enumerate(epoch_logs):
        callback.on_epoch_begin(epoch)
        model.weights = [np.full(2, float(epoch))]
        callback.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    callback.on_train_end()
    return epoch + 1


def val_losses(*values):
    return [{"val_loss": value} for value in values]


def fit(callbacks=(), *, batches, val=None, epochs=1, verbose=0, model=None, **options):
    """Run `CallbackList.for_training` over the same batches in every epoch; return the history."""
    metrics = [name for name in batches[0] if name not in ("batch", "size")]
    params = {
        "metrics": metrics + list(val or {}),
        "verbose": verbose,
        "epochs": epochs,
        "samples": sum(logs["size"] for logs in batches),
        "steps": len(batches),
    }
    history = cb.History()
    told = cb.CallbackList.for_training(
        list(callbacks), model=model or StandInModel(), params=params, history=history, **options
    )
    told.on_train_begin()
    for epoch in range(epochs):
        told.on_epoch_begin(epoch)
        for index, logs in enumerate(batches):
            told.on_batch_begin(index, {"batch": index, "size": logs["size"]})
            told.on_batch_end(index, dict(logs))
        told.on_epoch_end(epoch, dict(val or {}))
    told.on_train_end()
    return history


TWO_BATCHES = [{"size": 3, "loss": 1.0, "acc": 1.0}, {"size": 1, "loss": 5.0, "acc": 0.0}]


# --- the list -------------------------------------------------------------------------------------


class Recorder(cb.Callback):
    def __init__(self, name, heard):
        self.name, self.heard = name, heard

    def on_epoch_end(self, epoch, logs=None):
        self.heard.append((self.name, epoch))


def test_callbacks_are_told_in_the_order_of_the_list():
    heard = []
    told = cb.CallbackList([Recorder("a", heard), Recorder("b", heard)])
    told.append(Recorder("c", heard))
    told.on_epoch_end(4)
    assert heard == [("a", 4), ("b", 4), ("c", 4)]


def test_the_list_of_fit_starts_with_averages_and_ends_with_history():
    own = cb.TerminateOnNaN()
    model = StandInModel()
    told = cb.CallbackList.for_training([own], model=model, params={"verbose": 1})
    kinds = [type(callback) for callback in told.callbacks]
    assert kinds == [cb.BaseLogger, cb.ProgbarLogger, cb.TerminateOnNaN, cb.History]
    assert own.model is model


def test_without_verbose_there_is_no_progress():
    told = cb.CallbackList.for_training(None, model=StandInModel(), params={"verbose": 0})
    assert [type(callback) for callback in told.callbacks] == [cb.BaseLogger, cb.History]


def test_params_can_be_read_by_the_names_of_keras_1():
    own = cb.Callback()
    cb.CallbackList([own]).set_params({"epochs": 7, "samples": 50, "metrics": ["loss"]})
    assert own.params["epochs"] == own.params["nb_epoch"] == 7
    assert own.params["samples"] == own.params["nb_sample"] == 50


def test_an_object_with_the_hooks_is_a_callback_whatever_its_class():
    class Duck:
        def __init__(self):
            self.batches = []

        def hook(self, *arguments):
            pass

        set_params = set_model = on_train_begin = on_train_end = hook
        on_epoch_begin = on_epoch_end = on_batch_begin = hook

        def on_batch_end(self, batch, logs):
            self.batches.append(batch)

    duck = Duck()
    told = cb.CallbackList([duck])
    told.on_batch_begin(3)
    told.on_batch_end(3)
    assert duck.batches == [3]


def test_one_callback_needs_no_list():
    one = cb.History()
    assert cb.checked_callbacks(one) == [one]
    assert cb.checked_callbacks(None) == []


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([cb.History(), "x"], r"callbacks\[1\]: expected a callback, .* got str\. Inherit"),
        ([cb.History], r"callbacks\[0\]: expected an instance, .* Write History\(\)\."),
        (
            [print],
            r"callbacks\[0\]: expected a callback, .* got builtin.*LambdaCallback\(on_epoch_end",
        ),
        ([None], r"callbacks\[0\]: .* got NoneType"),
        ([dict], r"callbacks\[0\]: .* got the class dict"),
        ("EarlyStopping", r"callbacks: expected a list of callbacks, got str"),
        (7, r"callbacks: expected a list of callbacks, got int"),
    ],
)
def test_what_is_no_callback_is_refused_with_its_place_and_type(bad, words):
    with pytest.raises(DtypeError, match=words):
        cb.CallbackList(bad)


def test_a_half_callback_is_told_what_it_lacks():
    half = SimpleNamespace(**dict.fromkeys(("set_params", "set_model", "on_train_begin"), print))
    with pytest.raises(DtypeError, match="It lacks on_train_end, on_epoch_begin"):
        cb.CallbackList([half])


def test_a_bad_callback_is_found_before_a_good_one_is_told_anything():
    heard = []
    good = cb.LambdaCallback(on_train_begin=heard.append)
    good.set_model = heard.append
    with pytest.raises(DtypeError, match=r"callbacks\[1\]"):
        cb.CallbackList.for_training([good, 5], model=StandInModel(), params={"verbose": 1})
    assert heard == []


def test_a_refused_append_leaves_the_list_as_it_was():
    told = cb.CallbackList([cb.History()])
    with pytest.raises(DtypeError, match=r"callbacks\[1\]"):
        told.append("no")
    assert len(told.callbacks) == 1


def test_a_batch_calls_only_those_who_wrote_the_hook():
    calls = []
    silent, loud = cb.History(), cb.LambdaCallback(on_batch_end=lambda *a: calls.append(a))
    told = cb.CallbackList([silent, loud])
    empty = cb.Callback.on_batch_end
    told.on_batch_end(0, {"loss": 1.0})
    assert calls == [(0, {"loss": 1.0})]
    assert silent.on_batch_end.__func__ is empty
    assert len(told._batch_end_hooks) == 1
    assert told._batch_begin_hooks == []


def test_a_hook_that_is_assigned_in_training_is_heard_from_the_next_epoch_on():
    calls = []
    late = cb.Callback()
    told = cb.CallbackList([late])
    told.on_batch_end(0)
    late.on_batch_end = lambda batch, logs: calls.append(batch)
    told.on_epoch_begin(1)
    told.on_batch_end(5)
    assert calls == [5]


def test_what_one_callback_writes_into_the_logs_the_caller_and_the_next_ones_read():
    writer = cb.LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(extra=epoch))
    history = cb.History()
    logs = {}
    cb.CallbackList([writer, history]).on_epoch_end(2, logs)
    assert logs == {"extra": 2}
    assert history.history == {"extra": [2]}


# --- averages and history -------------------------------------------------------------------------


def test_the_epochs_loss_is_weighted_by_the_size_of_the_batches():
    history = fit(batches=TWO_BATCHES, val={"val_loss": 9.0}, epochs=2)
    assert history.history == {"val_loss": [9.0, 9.0], "loss": [2.0, 2.0], "acc": [0.75, 0.75]}
    assert history.epoch == [0, 1]


def test_of_a_stateful_metric_the_last_value_counts():
    history = fit(batches=TWO_BATCHES, model=StandInModel(stateful=["acc"]))
    assert history.history == {"loss": [2.0], "acc": [0.0]}


def test_float32_losses_are_summed_in_float64():
    batches = [{"size": 1, "loss": np.float32(0.1)}] * 100_000
    (loss,) = fit(batches=batches).history["loss"]
    assert type(loss) is float
    assert loss == pytest.approx(float(np.float32(0.1)), rel=1e-9)


def test_history_starts_empty_with_each_run():
    history = cb.History()
    assert train(history, [{"loss": 1.0}]) == 1
    assert train(history, [{"loss": 2.0}]) == 1
    assert history.history == {"loss": [2.0]}


# --- functions ------------------------------------------------------------------------------------


def test_lambda_callback_calls_its_functions_and_keeps_its_attributes():
    heard = []
    callback = cb.LambdaCallback(
        on_train_begin=lambda logs: heard.append("train"),
        on_batch_begin=lambda batch, logs: heard.append(batch),
        tag="mine",
    )
    told = cb.CallbackList([callback])
    told.on_train_begin()
    told.on_batch_begin(8)
    told.on_epoch_end(0)
    assert heard == ["train", 8]
    assert callback.tag == "mine"


def test_lambda_callback_refuses_an_unknown_hook_and_what_is_no_function():
    with pytest.raises(
        ArgumentError, match=r"unknown hook 'on_epoch_ends'.*Did you mean 'on_epoch_end'"
    ):
        cb.LambdaCallback(on_epoch_ends=print)
    with pytest.raises(DtypeError, match=r"on_epoch_end: expected a function, got int"):
        cb.LambdaCallback(on_epoch_end=3)


# --- stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [math.nan, math.inf, np.float32("nan")])
def test_terminate_on_nan_stops_at_a_loss_that_is_no_number(loss, capsys):
    callback = cb.TerminateOnNaN()
    callback.set_model(StandInModel())
    callback.on_batch_end(0, {"loss": 1.0})
    assert not callback.model.stop_training
    callback.on_batch_end(4, {"loss": loss})
    assert callback.model.stop_training
    assert capsys.readouterr().out == f"Batch 4: the loss is {float(loss)}; training ends.\n"


def test_early_stopping_waits_for_patience_epochs_without_progress():
    callback = cb.EarlyStopping(patience=2)
    assert train(callback, val_losses(5, 4, 4.5, 3, 3, 3, 1)) == 6
    assert (callback.best, callback.stopped_epoch) == (3, 5)


def test_early_stopping_never_stops_while_it_gets_better():
    callback = cb.EarlyStopping()
    assert train(callback, val_losses(5, 4, 3)) == 3
    assert not callback.model.stop_training


def test_a_change_up_to_min_delta_is_no_progress():
    assert train(cb.EarlyStopping(min_delta=0.5), val_losses(5, 4.5, 1)) == 2
    assert train(cb.EarlyStopping(min_delta=-0.5), val_losses(5, 4.4, 4.0, 1)) == 3


@pytest.mark.parametrize(("mode", "epochs"), [("auto", 3), ("max", 3), ("min", 2)])
def test_of_an_accuracy_more_is_better_unless_told_otherwise(mode, epochs):
    logs = [{"val_acc": value} for value in (0.1, 0.2, 0.15, 0.3)]
    assert train(cb.EarlyStopping("val_acc", mode=mode), logs) == epochs


def test_nan_is_never_progress():
    assert train(cb.EarlyStopping(), val_losses(math.nan, 1)) == 1
    assert train(cb.EarlyStopping(), [{"val_loss": np.float32("inf")}, {"val_loss": 1}]) == 1


def test_a_baseline_that_is_not_surpassed_stops_training():
    assert train(cb.EarlyStopping(baseline=1.0, patience=3), val_losses(5, 4, 3, 2, 0)) == 3
    assert train(cb.EarlyStopping(baseline=1.0, patience=3), val_losses(5, 4, 0.5, 2, 2, 2, 0)) == 6


def test_the_weights_of_the_best_epoch_are_restored():
    model = StandInModel()
    train(cb.EarlyStopping(patience=2, restore_best_weights=True), val_losses(5, 1, 2, 3, 0), model)
    np.testing.assert_array_equal(model.weights[0], [1.0, 1.0])


def test_the_best_weights_are_restored_though_the_baseline_was_never_surpassed():
    model = StandInModel()
    callback = cb.EarlyStopping(baseline=0.1, patience=3, restore_best_weights=True)
    assert train(callback, val_losses(5, 1, 2, 0), model) == 3
    np.testing.assert_array_equal(model.weights[0], [1.0, 1.0])


def test_without_an_early_end_the_last_weights_stay():
    model = StandInModel()
    train(cb.EarlyStopping(patience=5, restore_best_weights=True), val_losses(1, 2), model)
    np.testing.assert_array_equal(model.weights[0], [1.0, 1.0])


def test_early_stopping_can_be_used_for_a_second_run():
    callback = cb.EarlyStopping()
    assert train(callback, val_losses(1, 2)) == 2
    assert train(callback, val_losses(9, 8, 7)) == 3


def test_early_stopping_tells_when_verbose(capsys):
    train(cb.EarlyStopping(verbose=1), val_losses(1, 2))
    assert capsys.readouterr().out == "Epoch 2: training ended early.\n"
    train(cb.EarlyStopping(), val_losses(1, 2))
    assert capsys.readouterr().out == ""


# --- the watched figure ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("monitor", "key"),
    [("val_acc", "val_accuracy"), ("val_accuracy", "val_acc"), ("out_acc", "out_accuracy")],
)
def test_both_spellings_of_accuracy_are_found(monitor, key):
    assert train(cb.EarlyStopping(monitor), [{key: 0.5}, {key: 0.4}]) == 2


def test_a_missing_figure_warns_with_the_nearest_name_and_trains_on():
    with pytest.warns(KerascopeWarning, match="'val_los' is not in the logs.*mean 'val_loss'"):
        assert train(cb.EarlyStopping("val_los"), val_losses(1)) == 1


def test_a_missing_validation_is_named_as_the_cause():
    with pytest.warns(KerascopeWarning, match="Give fit validation_data"):
        train(cb.EarlyStopping(), [{"loss": 1.0}])


@pytest.mark.parametrize("kind", [cb.EarlyStopping, cb.ReduceLROnPlateau])
def test_an_unknown_mode_is_refused(kind):
    with pytest.raises(
        ArgumentError, match=f"{kind.__name__}: expected mode .* got 'maxi'.*mean 'max'"
    ):
        kind(mode="maxi")


# --- learning rate --------------------------------------------------------------------------------


def test_the_schedule_sets_the_rate_and_the_logs_have_it():
    model = StandInModel(lr=0.5)
    logs = [{}, {}]
    train(cb.LearningRateScheduler(lambda epoch, lr: lr / 2), logs, model)
    assert K.get_value(model.optimizer.lr) == 0.125
    assert logs == [{"lr": 0.25}, {"lr": 0.125}]


def test_a_schedule_may_ask_for_the_epoch_only():
    logs = [{}, {}, {}]
    train(cb.LearningRateScheduler([4.0, 2.0, 1.0].__getitem__), logs)
    assert [entry["lr"] for entry in logs] == [4.0, 2.0, 1.0]


def test_an_error_inside_a_schedule_is_not_taken_for_a_missing_argument():
    def schedule(epoch, lr):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        train(cb.LearningRateScheduler(schedule), [{}])


def test_a_schedule_that_returns_no_number_changes_nothing():
    model = StandInModel(lr=0.5)
    with pytest.raises(DtypeError, match="expected a float .* for epoch 0, got None"):
        train(cb.LearningRateScheduler(lambda epoch: None), [{}], model)
    assert K.get_value(model.optimizer.lr) == 0.5


def test_an_optimizer_without_a_rate_is_named():
    model = StandInModel()
    model.optimizer = object()
    with pytest.raises(ArgumentError, match="with a learning rate 'lr', got object"):
        train(cb.LearningRateScheduler(lambda epoch: 0.1), [{}], model)


def rates(callback, *values, lr=1.0):
    logs = val_losses(*values)
    model = StandInModel(lr=lr)
    train(callback, logs, model)
    return [entry["lr"] for entry in logs[1:]] + [float(K.get_value(model.optimizer.lr))]


def test_a_plateau_lowers_the_rate_after_patience_epochs():
    assert rates(cb.ReduceLROnPlateau(factor=0.5, patience=2), 5, 5, 5, 5, 5) == [
        1,
        1,
        0.5,
        0.5,
        0.25,
    ]


def test_progress_starts_the_count_again():
    assert rates(cb.ReduceLROnPlateau(factor=0.5, patience=2), 5, 5, 4, 4, 3) == [1] * 5


def test_nothing_is_counted_in_the_cooldown():
    callback = cb.ReduceLROnPlateau(factor=0.5, patience=1, cooldown=2)
    assert rates(callback, 5, 5, 5, 5, 5) == [1, 0.5, 0.5, 0.25, 0.25]


def test_the_rate_stops_at_min_lr_and_is_not_lowered_in_words_only(capsys):
    callback = cb.ReduceLROnPlateau(factor=0.1, patience=1, min_lr=0.3, verbose=1)
    assert rates(callback, 5, 5, 5, 5)[-1] == float(np.float32(0.3))
    assert capsys.readouterr().out == "Epoch 2: the learning rate is lowered to 0.3.\n"


def test_a_rate_below_min_lr_is_not_raised():
    assert rates(cb.ReduceLROnPlateau(patience=1, min_lr=0.5), 5, 5, 5, lr=0.25)[-1] == 0.25


def test_the_older_word_for_min_delta_is_understood():
    with pytest.warns(SpellingWarning, match="'min_delta'"):
        callback = cb.ReduceLROnPlateau(epsilon=0.25)
    assert callback.min_delta == 0.25


def test_reduce_on_plateau_refuses_a_factor_of_one_and_unknown_arguments():
    with pytest.raises(ArgumentError, match=r"expected a factor .* got 1\.0"):
        cb.ReduceLROnPlateau(factor=1.0)
    with pytest.raises(
        ArgumentError, match=r"unknown argument 'patients'. Did you mean 'patience'"
    ):
        cb.ReduceLROnPlateau(patients=3)


# --- files ----------------------------------------------------------------------------------------


def test_a_checkpoint_is_written_every_epoch_under_a_name_with_epoch_and_figures(tmp_path):
    model = StandInModel()
    pattern = tmp_path / "runs" / "{epoch:02d}-{val_loss:.2f}.h5"
    train(cb.ModelCheckpoint(pattern), val_losses(0.5, 0.25), model)
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert names == ["01-0.50.h5", "02-0.25.h5"]
    assert [kind for kind, _ in model.saved] == ["model", "model"]


def test_only_the_best_is_saved_and_only_its_weights(tmp_path, capsys):
    model = StandInModel()
    callback = cb.ModelCheckpoint(
        str(tmp_path / "{epoch}.h5"), save_best_only=True, save_weights_only=True, verbose=1
    )
    train(callback, val_losses(3, 4, 2), model)
    assert model.saved == [("weights", str(tmp_path / f"{epoch}.h5")) for epoch in (1, 3)]
    assert capsys.readouterr().out.splitlines() == [
        f"Epoch 1: the model was saved to {tmp_path / '1.h5'}.",
        "Epoch 2: val_loss is not better than 3.00000.",
        f"Epoch 3: the model was saved to {tmp_path / '3.h5'}.",
    ]


def test_a_checkpoint_of_every_second_epoch(tmp_path):
    model = StandInModel()
    train(cb.ModelCheckpoint(tmp_path / "{epoch}", period=2), val_losses(1, 1, 1, 1, 1), model)
    assert [Path(path).name for _, path in model.saved] == ["2", "4"]


def test_a_save_that_failed_does_not_count_as_the_best(tmp_path):
    model = StandInModel()
    callback = cb.ModelCheckpoint(tmp_path / "{val_los}", save_best_only=True)
    with pytest.raises(ArgumentError, match=r"unknown field 'val_los'.*Did you mean 'val_loss'"):
        train(callback, val_losses(1), model)
    assert callback.best == math.inf
    assert model.saved == []


def test_a_file_named_after_the_validation_waits_for_it(tmp_path):
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2)), np.ones((4, 1))
    saved = cb.ModelCheckpoint(tmp_path / "{epoch}-{val_loss:.0f}.h5", save_weights_only=True)
    arguments = {"validation_data": (x, 0 * y), "epochs": 5, "verbose": 0, "callbacks": [saved]}
    model.fit(x, y, validation_freq=2, **arguments)
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["2", "4"]
    saved.period = 4  # the fourth epoch has no validation, the fifth has
    model.fit(x, y, validation_freq=[1, 5], **arguments)
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["2", "4", "5"]
    with pytest.raises(ArgumentError, match="unknown field 'val_loss'"):
        model.fit(x, y, epochs=4, verbose=0, callbacks=[saved])


def test_a_callback_that_is_driven_by_hand_needs_no_params():
    callback = cb.EarlyStopping("loss", patience=1)
    callback.set_params(None)
    assert train(callback, [{"loss": 1.0}, {"loss": 2.0}, {"loss": 3.0}]) < 4
    with pytest.warns(KerascopeWarning, match="'loss' is not in the logs"):
        callback.on_epoch_end(0, {})


def test_a_pattern_may_use_either_spelling_of_accuracy():
    callback = cb.ModelCheckpoint("{val_acc:.1f}")
    assert callback.path_of(0, {"val_accuracy": 0.5}) == "0.5"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"filepath": "a{epoch"}, "bad pattern"),
        ({"filepath": "a{}.h5"}, "expected fields with names"),
        ({"filepath": "a", "period": 0}, "expected a number of epochs as period"),
        ({"filepath": "a", "mode": "best"}, "got 'best'"),
        ({"filepath": "a", "save_freq": 100}, "expected save_freq='epoch', got 100"),
    ],
)
def test_a_bad_checkpoint_is_refused_before_training(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        cb.ModelCheckpoint(**arguments)


def test_a_figure_that_cannot_be_written_as_the_pattern_says_is_explained():
    with pytest.raises(ArgumentError, match=r"cannot fill the pattern '\{loss:d\}'"):
        cb.ModelCheckpoint("{loss:d}").path_of(0, {"loss": 0.5})


def read(path, separator=","):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def test_a_csv_file_has_a_header_and_a_line_per_epoch(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("an older run\n", encoding="utf-8")
    train(cb.CSVLogger(path), [{"loss": 0.5, "acc": 1.0}, {"loss": np.float32(0.25), "acc": 0.0}])
    assert path.read_bytes() == b"epoch,acc,loss\n0,1.0,0.5\n1,0.0,0.25\n"


def test_the_lines_of_finished_epochs_are_there_though_training_failed(tmp_path):
    callback = cb.CSVLogger(tmp_path / "log.csv", separator=";")
    callback.on_train_begin()
    callback.on_epoch_end(0, {"loss": 0.5})
    assert read(tmp_path / "log.csv", ";") == [["epoch", "loss"], ["0", "0.5"]]


def test_appending_goes_on_with_the_columns_of_the_file(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss,acc\n0,0.5,1.0\n", encoding="utf-8")
    train(cb.CSVLogger(path, append=True), [{"acc": 0.75, "loss": 0.25}])
    assert read(path) == [["epoch", "loss", "acc"], ["0", "0.5", "1.0"], ["0", "0.25", "0.75"]]


def test_appending_to_nothing_writes_the_header(tmp_path):
    train(cb.CSVLogger(tmp_path / "log.csv", append=True), [{"loss": 0.25}])
    assert read(tmp_path / "log.csv") == [["epoch", "loss"], ["0", "0.25"]]


def test_appending_to_another_kind_of_file_leaves_it_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"notes\.txt: to append, expected"):
        train(cb.CSVLogger(path, append=True), [{"loss": 0.25}])
    assert path.read_text(encoding="utf-8") == "dear diary\n"


def test_missing_values_are_na_and_arrays_stand_in_brackets(tmp_path):
    path = tmp_path / "log.csv"
    train(cb.CSVLogger(path), [{"loss": 1.0, "rates": np.array([0.5, 0.25])}, {"loss": 2.0}])
    assert read(path)[1:] == [["0", "1.0", "[0.5, 0.25]"], ["1", "2.0", "NA"]]


def test_a_figure_without_a_column_warns(tmp_path):
    with pytest.warns(KerascopeWarning, match=r"log\.csv has no column for val_loss"):
        train(cb.CSVLogger(tmp_path / "log.csv"), [{"loss": 1.0}, {"loss": 1.0, "val_loss": 2.0}])


# --- progress -------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch):
    """Everything that is drawn at the edge as "progress"."""
    seen = []
    monkeypatch.setitem(display._renderers, "progress", seen.append)
    return seen


@pytest.fixture
def _nobody_draws(monkeypatch):
    monkeypatch.delitem(display._renderers, "progress", raising=False)


@pytest.mark.usefixtures("_nobody_draws")
@pytest.mark.parametrize("verbose", [1, 2])
def test_plain_progress_is_two_lines_per_epoch_with_the_figures_of_history(verbose, capsys):
    fit(batches=TWO_BATCHES, val={"val_loss": 1e-4}, epochs=2, verbose=verbose)
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 1/2",
        "4/4 - loss: 2.0000 - acc: 0.7500 - val_loss: 1.0000e-04",
        "Epoch 2/2",
        "4/4 - loss: 2.0000 - acc: 0.7500 - val_loss: 1.0000e-04",
    ]


def test_verbose_0_is_silent(capsys, drawn):
    fit(batches=TWO_BATCHES, verbose=0)
    bar = cb.Progbar(2, verbose=0)
    bar.update(2)
    assert (drawn, capsys.readouterr().out) == ([], "")


def test_verbose_2_writes_lines_also_where_bars_are_drawn(capsys, drawn):
    fit(batches=TWO_BATCHES, verbose=2)
    assert drawn == []
    assert capsys.readouterr().out == "Epoch 1/1\n4/4 - loss: 2.0000 - acc: 0.7500\n"


def test_a_drawer_gets_the_start_each_batch_and_the_end(drawn):
    fit(batches=TWO_BATCHES, val={"val_loss": 7.0}, verbose=1)
    assert [(p.moment, p.seen, p.target, p.logs) for p in drawn] == [
        ("started", 0, 4, {}),
        ("running", 3, 4, {"loss": 1.0, "acc": 1.0}),
        ("finished", 4, 4, {"loss": 2.0, "acc": 0.75, "val_loss": 7.0}),
    ]
    assert {p.title for p in drawn} == {"Epoch 1/1"}


def test_progress_counts_steps_where_samples_are_unknown(drawn):
    fit(batches=TWO_BATCHES, verbose=1, count_mode="steps")
    assert [(p.seen, p.target) for p in drawn] == [(0, 2), (1, 2), (2, 2)]
    with pytest.raises(ArgumentError, match="expected count_mode .* got 'rows'"):
        cb.ProgbarLogger("rows")


@pytest.mark.usefixtures("_nobody_draws")
def test_an_epoch_that_was_cut_short_says_how_far_it_came(capsys):
    logger = cb.ProgbarLogger()
    logger.set_params({"samples": 100, "epochs": 1, "metrics": ["loss"], "verbose": 1})
    logger.on_epoch_begin(0)
    logger.on_batch_end(0, {"size": 32, "loss": 1.0})
    logger.on_epoch_end(0, {})
    assert capsys.readouterr().out == "Epoch 1/1\n 32/100 - loss: 1.0000\n"


@pytest.mark.usefixtures("_nobody_draws")
def test_a_progbar_averages_what_comes_and_ends_at_its_target(capsys):
    bar = cb.Progbar(10, stateful_metrics=["total"])
    bar.update(2, [("loss", 5.0), ("total", 1)])
    bar.add(8, [("loss", 0.0), ("total", 7)])
    bar.update(10)
    assert capsys.readouterr().out == "10/10 - loss: 1.0000 - total: 7.0000\n"


@pytest.mark.usefixtures("_nobody_draws")
def test_a_progbar_without_a_target_ends_when_it_is_told(capsys):
    bar = cb.Progbar(None)
    bar.update(3)
    assert capsys.readouterr().out == ""
    bar.finish()
    assert capsys.readouterr().out == "3\n"


def test_a_drawn_moment_does_not_change_later(drawn):
    bar = cb.Progbar(3)
    bar.update(1, [("loss", 1.0)])
    bar.update(2, [("loss", 3.0)])
    assert [p.logs for p in drawn[1:]] == [{"loss": 1.0}, {"loss": 2.0}]


# --- names ----------------------------------------------------------------------------------------


def test_callbacks_are_known_by_name():
    assert isinstance(cb.get("EarlyStopping"), cb.EarlyStopping)
    made = cb.get({"class_name": "EarlyStopping", "config": {"patience": 3}})
    assert made.patience == 3
    assert cb.get(made) is made
    with pytest.raises(UnknownNameError, match="Did you mean 'ModelCheckpoint'"):
        cb.get("ModelCheckpoints")


def test_callbacks_of_keras_3_that_are_not_here_say_what_to_use():
    with pytest.raises(AttributeError, match="SwapEMAWeights: .* does not yet"):
        _ = cb.SwapEMAWeights
    with pytest.raises(AttributeError, match="Did you mean 'EarlyStopping'"):
        _ = cb.EarlyStoping


# --- the arrays of the validation -----------------------------------------------------------------


def compiled():
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    return model


def test_callbacks_see_the_arrays_of_the_validation():
    x, y = np.arange(20.0, dtype="float32").reshape(10, 2), np.ones((10, 1), "float32")
    seen = cb.Callback()
    compiled().fit(x, y, validation_split=0.3, callbacks=[seen], verbose=0)
    inputs, targets, weights = seen.validation_data[:3]
    np.testing.assert_array_equal(inputs, x[7:])
    np.testing.assert_array_equal(targets, y[7:])
    assert weights.shape == (3,)

    def endless():
        while True:
            yield x, y

    compiled().fit_generator(endless(), 1, validation_data=(x, y), callbacks=[seen], verbose=0)
    np.testing.assert_array_equal(seen.validation_data[0], x)
    compiled().fit(x, y, callbacks=[seen], verbose=0)
    assert seen.validation_data is None


def test_the_list_takes_keras_2s_queue_length():
    assert cb.CallbackList([], 5).queue_length == 5


# --- RemoteMonitor --------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.heard.append((self.path, self.headers, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.heard = []
        server.root = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


LOGS = {"loss": np.float32(0.5), "rates": np.array([1.0, 2.0]), "acc": 1}


def test_figures_are_sent_as_a_form(server):
    callback = cb.RemoteMonitor(server.root, headers={"X-Key": "secret"})
    callback.on_epoch_end(3, LOGS)
    ((path, headers, body),) = server.heard
    assert path == "/publish/epoch/end/"
    assert headers["X-Key"] == "secret"
    (text,) = parse_qs(body)["data"]
    assert json.loads(text) == {"epoch": 3, "loss": 0.5, "rates": [1.0, 2.0], "acc": 1}


def test_figures_are_sent_as_json(server):
    callback = cb.RemoteMonitor(server.root, path="/here", send_as_json=True)
    callback.on_epoch_end(0, {"loss": 0.25})
    ((path, headers, body),) = server.heard
    assert (path, headers["Content-Type"]) == ("/here", "application/json")
    assert json.loads(body) == {"epoch": 0, "loss": 0.25}


@pytest.mark.parametrize("root", ["http://127.0.0.1:9", "no address"])
def test_training_goes_on_if_nobody_answers(root):
    with pytest.warns(KerascopeWarning, match="epoch 1 could not be sent to .* Training continues"):
        train(cb.RemoteMonitor(root), [{"loss": 0.5}])


# --- TensorBoard ----------------------------------------------------------------------------------


def varint(data, place):
    number = shift = 0
    while True:
        number |= (data[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if data[place - 1] < 0x80:
            return number, place


def fields(data):
    """Yield (number of the field, value) of a message of protocol buffers."""
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        if key & 7 == 0:
            value, place = varint(data, place)
        elif key & 7 == 2:
            length, place = varint(data, place)
            value, place = data[place : place + length], place + length
        else:
            kind, size = {1: ("<d", 8), 5: ("<f", 4)}[key & 7]
            (value,) = struct.unpack(kind, data[place : place + size])
            place += size
        yield key >> 3, value


def events_in(folder):
    """Return (step, figures) for each event of the only file in a folder, checksums checked."""
    (path,) = Path(folder).iterdir()
    assert path.name.startswith("events.out.tfevents.")
    data, place, events = path.read_bytes(), 0, []
    while place < len(data):
        (length,) = struct.unpack("<Q", data[place : place + 8])
        content = data[place + 12 : place + 12 + length]
        assert data[place + 8 : place + 12] == masked_crc(data[place : place + 8])
        assert data[place + 12 + length : place + 16 + length] == masked_crc(content)
        events.append(dict(fields(content)))
        place += 16 + length
    assert events[0][3] == b"brain.Event:2"
    found = []
    for event in events[1:]:
        values = [dict(fields(value)) for _, value in fields(event[5])]
        found.append((event.get(2, 0), {value[1].decode(): value[2] for value in values}))
    return found


def test_the_figures_of_epochs_are_written(tmp_path):
    folder = tmp_path / "logs" / "first"
    logs = [{"loss": np.float32(0.5), "val_acc": 1.0}, {"loss": 0.25, "val_acc": 0.5}]
    train(cb.TensorBoard(folder), logs)
    assert events_in(folder) == [
        (0, {"loss": 0.5, "val_acc": 1.0}),
        (1, {"loss": 0.25, "val_acc": 0.5}),
    ]


@pytest.mark.parametrize(
    ("update_freq", "steps"),
    [("batch", [3, 4, 4, 7, 8, 8]), (4, [4, 4, 8, 8]), (5, [4, 7, 8]), (9, [4, 8])],
)
def test_the_figures_of_batches_are_written_by_the_samples_seen(tmp_path, update_freq, steps):
    callback = cb.TensorBoard(tmp_path, update_freq=update_freq)
    fit([callback], batches=TWO_BATCHES, epochs=2)
    events = events_in(tmp_path)
    assert [step for step, _ in events] == steps
    assert all(figures.keys() == {"loss", "acc"} for _, figures in events)


def test_two_runs_have_two_files(tmp_path):
    callback = cb.TensorBoard(tmp_path)
    train(callback, [{"loss": 0.5}])
    train(callback, [{"loss": 0.5}])
    assert len(list(tmp_path.iterdir())) == 2


def test_a_model_writes_its_figures(tmp_path):
    x, y = np.ones((8, 2)), np.ones((8, 1))
    history = compiled().fit(x, y, epochs=3, callbacks=[cb.TensorBoard(tmp_path)], verbose=0)
    losses = [figures["loss"] for _, figures in events_in(tmp_path)]
    np.testing.assert_allclose(losses, history.history["loss"], rtol=1e-6)


@pytest.mark.parametrize(
    "asked",
    [{"histogram_freq": 1}, {"write_grads": True}, {"write_images": True}, {"embeddings_freq": 2}],
    ids=str,
)
def test_what_is_not_written_is_said(asked):
    with pytest.warns(KerascopeWarning, match=f"TensorBoard: .* Not written: {next(iter(asked))}"):
        cb.TensorBoard(**asked)


@pytest.mark.parametrize("update_freq", ["epochs", 0, -1])
def test_a_bad_frequency_is_refused(update_freq):
    with pytest.raises(
        ArgumentError, match="expected update_freq 'epoch', 'batch' or a number of samples"
    ):
        cb.TensorBoard(update_freq=update_freq)


def test_the_checksum_is_castagnolis():
    # Test vectors of RFC 3720, appendix B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


def test_csv_logger_makes_the_folders_that_are_missing(tmp_path):
    logger = cb.CSVLogger(tmp_path / "runs" / "first" / "log.csv")
    logger.on_train_begin()
    logger.on_epoch_end(0, {"loss": 0.5})
    assert logger.filename.read_text() == "epoch,loss\n0,0.5\n"


@pytest.mark.parametrize("pattern", ["{epoch.year}.h5", "{loss[0]}.h5", "{sizes[7]}.h5"])
def test_a_pattern_that_cannot_be_filled_is_answered(pattern):
    callback = cb.ModelCheckpoint(pattern)
    with pytest.raises(ArgumentError, match="cannot fill the pattern"):
        callback.path_of(0, {"loss": 0.5, "sizes": [1]})


def test_remote_monitor_sends_whatever_the_logs_hold():
    callback = cb.RemoteMonitor("http://localhost:1")
    with pytest.warns(KerascopeWarning, match="could not be sent .* Training continues"):
        callback.on_epoch_end(0, {"all": [np.float32(1)], "what": object()})


def test_hooks_of_keras_3s_names_are_told_and_may_call_the_others():
    told = []

    class Newer(cb.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            told.append(("begin", batch))

        def on_train_batch_end(self, batch, logs=None):
            super().on_train_batch_end(batch, logs)
            told.append(("end", batch, sorted(logs)))

        def on_batch_end(self, batch, logs=None):
            told.append(("older end", batch))

    callbacks = cb.CallbackList([Newer()])
    callbacks.on_train_begin()
    callbacks.on_batch_begin(3)
    callbacks.on_batch_end(3, {"loss": 0.5})
    assert told == [("begin", 3), ("older end", 3), ("end", 3, ["loss"])]
