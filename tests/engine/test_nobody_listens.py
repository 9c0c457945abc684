"""What nobody hears of is not made: no logs, no stages, no second check. What is heard is whole."""

import itertools

import numpy as np
import pytest
from small_model import LABELS, ROWS, small_model

from kerascope import display
from kerascope.callbacks import BaseLogger, Callback, CallbackList, History, ProgbarLogger
from kerascope.callbacks.recording import RunningMeans
from kerascope.engine import feeding, training_data
from kerascope.engine.base_layer import Layer
from kerascope.engine.known_batches import KnownBatches
from kerascope.errors import ArgumentError, DataError, KerascopeWarning
from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.stage import Stage, observing
from kerascope.viz.progress import TerminalProgress


def count_calls(monkeypatch, owner, name):
    """Return a list that grows by one with each call of a method."""
    calls, method = [], getattr(owner, name)

    def counted(self, *args, **kwargs):
        calls.append(name)
        return method(self, *args, **kwargs)

    monkeypatch.setattr(owner, name, counted)
    return calls


def names_heard(work):
    """Return the names of the stages that an observer hears of while `work` runs."""
    heard = []
    with observing(lambda stage, event: heard.append(stage.name)):
        work()
    return heard


# --- fit ------------------------------------------------------------------------------------------


def test_fit_makes_no_logs_of_batches_if_only_averages_are_kept(monkeypatch):
    model = small_model()
    told = count_calls(monkeypatch, CallbackList, "on_batch_end")
    model.fit(ROWS, LABELS, epochs=3, verbose=0)
    assert told == []
    model.fit(ROWS, LABELS, epochs=3, verbose=2)
    assert len(told) == 6


@pytest.mark.parametrize("shuffle", [True, False])
def test_averages_are_the_same_with_and_without_logs_of_batches(shuffle, capsys):
    histories = []
    for verbose in (0, 1, 2):
        model = small_model()
        np.random.seed(5)
        settings = {"validation_split": 0.3, "shuffle": shuffle, "verbose": verbose}
        histories.append(model.fit(ROWS, LABELS, epochs=3, **settings).history)
    assert histories == [histories[0]] * 3
    names = model.metrics_names
    assert set(histories[0]) == {*names, *(f"val_{name}" for name in names)}


def test_training_that_is_told_to_stop_from_outside_stops_though_nobody_listens():
    model = small_model()
    model.fit(ROWS, LABELS, verbose=0)
    function, calls = model.train_function, []

    def stops(arrays):
        calls.append(1)
        model.stop_training = model.stop_training or len(calls) == 2
        return programs(arrays)

    programs = function._programs
    function._programs = stops
    model.fit(ROWS, LABELS, batch_size=10, epochs=4, verbose=0)
    assert len(calls) == 2


def test_a_second_fit_does_not_walk_over_the_layers_again(monkeypatch):
    model = small_model()
    for _ in range(2):
        model.fit(ROWS, LABELS, verbose=0)
    walks = count_calls(monkeypatch, Model, "_is_trainable_elsewhere")
    looked = []
    monkeypatch.setattr(
        Layer, "trainable_weights", property(lambda self: looked.append(self) or [])
    )
    model.fit(ROWS, LABELS, verbose=0)
    assert walks == looked == []


def test_a_second_fit_still_warns_of_a_changed_trainable():
    model = small_model()
    for _ in range(2):
        model.fit(ROWS, LABELS, verbose=0)
    model.layers[0].trainable = False
    for _ in range(2):
        with pytest.warns(KerascopeWarning, match="Discrepancy between trainable weights"):
            model.fit(ROWS, LABELS, verbose=0)


def test_batches_of_a_generator_are_checked_once_and_bad_ones_are_still_refused(monkeypatch):
    model = small_model()
    checks = count_calls(monkeypatch, training_data, "data_as_arrays")
    good = itertools.repeat((ROWS[:10], LABELS[:10]))
    model.fit_generator(good, steps_per_epoch=2, epochs=3, verbose=0)
    model.fit_generator(good, steps_per_epoch=2, epochs=3, verbose=0)
    assert len(checks) <= 2
    bad = iter([(ROWS[:10], LABELS[:10]), (ROWS[:10], LABELS[:9])])
    with pytest.raises(DataError, match="x has 10, y has 9"):
        model.fit_generator(bad, steps_per_epoch=2, verbose=0)


# --- progress -------------------------------------------------------------------------------------


@pytest.fixture
def drawn():
    """Register a drawer that keeps what it is given; a clock decides what is due."""

    class Drawer:
        def __init__(self):
            self.moments, self.asked, self.is_open = [], 0, True

        def __call__(self, progress):
            self.moments.append(progress)

        def is_due(self, interval):
            self.asked += 1
            return self.is_open

    drawer, before = Drawer(), display.renderer("progress", None)
    display.register("progress", drawer)
    yield drawer
    display.register("progress", before)


def test_no_figures_are_made_for_a_moment_that_is_not_drawn(drawn, monkeypatch):
    drawn.is_open = False
    results = count_calls(monkeypatch, RunningMeans, "results")
    small_model().fit(ROWS, LABELS, batch_size=5, verbose=1)
    assert drawn.asked == 10
    assert [progress.moment for progress in drawn.moments] == ["started", "finished"]
    assert len(results) == 2  # for the logs of the epoch, and for the last line


def test_figures_of_batches_are_averaged_once_for_the_logs_and_the_bar(drawn, monkeypatch):
    added = count_calls(monkeypatch, RunningMeans, "add")
    history = small_model().fit(ROWS, LABELS, batch_size=20, verbose=1).history
    assert len(added) == 3 * len(history)
    assert drawn.moments[-1].logs == {name: values[0] for name, values in history.items()}
    running = [progress.seen for progress in drawn.moments if progress.moment == "running"]
    assert running == [20, 40]


def test_fit_in_a_terminal_redraws_at_most_ten_times_a_second(monkeypatch):
    seconds = itertools.count(0, 0.02)  # each look at the clock takes a fiftieth of a second

    class Screen:
        def __init__(self):
            self.times = []

    screen, now = Screen(), [0.0]

    def clock():
        now[0] = next(seconds)
        return now[0]

    drawer = TerminalProgress(clock=clock)
    monkeypatch.setattr(drawer, "_draw", lambda line: screen.times.append(now[0]))
    before = display.renderer("progress", None)
    display.register("progress", drawer)
    try:
        small_model().fit(ROWS, LABELS, batch_size=1, verbose=1)
    finally:
        display.register("progress", before)
    gaps = np.diff(screen.times[:-1])
    assert len(screen.times) > 3
    assert gaps.min() >= 0.1


def test_a_progbar_logger_of_ones_own_keeps_its_own_means(capsys):
    logger = ProgbarLogger()
    told = CallbackList([logger])
    told.set_params({"samples": 4, "verbose": 2, "metrics": ["loss"], "epochs": 1})
    told.on_epoch_begin(0)
    told.on_batch_end(0, {"size": 3, "loss": 1.0})
    told.on_batch_end(1, {"size": 1, "loss": 5.0})
    told.on_epoch_end(0, {})
    assert "loss: 2.0000" in capsys.readouterr().out


# --- what the list of callbacks says --------------------------------------------------------------


def test_means_are_lent_only_where_nobody_else_hears_of_batches():
    def lent(callbacks, metrics=("loss",)):
        told = CallbackList(callbacks)
        told.set_params({"metrics": list(metrics)})
        return told.averages_of(["loss"])

    class Hears(Callback):
        def on_batch_end(self, batch, logs=None):
            pass

    class Begins(Callback):
        def on_batch_begin(self, batch, logs=None):
            pass

    logger = BaseLogger()
    assert lent([logger, History()]) is logger.means
    assert lent([logger], ["loss", "val_loss"]) is logger.means
    assert lent([logger, Hears()]) is None
    assert lent([logger, Begins()]) is None
    assert lent([History()]) is None
    assert lent([logger], ["val_loss", "loss"]) is None
    assert lent([logger], ["loss", "size"]) is None


# --- evaluate and predict -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["evaluate", "predict", "fit"])
def test_there_is_no_stage_for_a_batch_unless_somebody_watches(method, monkeypatch):
    model = small_model()
    data = (ROWS,) if method == "predict" else (ROWS, LABELS)
    settings = {"validation_data": data} if method == "fit" else {}

    def work():
        return getattr(model, method)(*data, batch_size=10, verbose=0, **settings)

    work()
    stages = count_calls(monkeypatch, Stage, "__init__")
    work()
    assert len(stages) <= 3
    heard = names_heard(work)
    name = {"evaluate": "test_function", "predict": "predict_function"}.get(method)
    for function in [name] if name else ["train_function", "test_function"]:
        assert heard.count(function) > 2 * 5  # begun and ended, and what is between


def test_an_observer_that_comes_in_the_middle_of_an_evaluation_hears_the_rest():
    model = small_model()
    model.evaluate(ROWS, LABELS, verbose=0)
    heard, watching, calls = [], [], []
    programs = model.test_function._programs

    def attach(arrays):
        calls.append(1)
        if len(calls) == 2:
            watching.append(observing(lambda stage, event: heard.append(stage.name)))
            watching[0].__enter__()
        return programs(arrays)

    model.test_function._programs = attach
    model.evaluate(ROWS, LABELS, batch_size=10, verbose=0)
    watching[0].__exit__(None, None, None)
    assert len(calls) == 2
    assert "test_function" in heard


def test_a_known_batch_is_predicted_without_a_feed(monkeypatch):
    model = small_model()
    expected = model.predict(ROWS[:32])
    feeds = []
    monkeypatch.setattr(feeding, "feed_of", lambda *args: feeds.append(args))
    for size in (None, 32, 100):
        np.testing.assert_array_equal(model.predict(ROWS[:32], batch_size=size), expected)
    assert feeds == []


def test_predict_on_batch_checks_rows_of_one_shape_once(monkeypatch):
    model = small_model()
    checks = count_calls(monkeypatch, training_data, "inputs_as_arrays")
    first = model.predict_on_batch(ROWS)
    np.testing.assert_array_equal(model.predict_on_batch(ROWS), first)
    assert len(checks) == 1


def test_what_predict_refuses_it_refuses_after_predict_on_batch_too():
    a, b = Input((4,)), Input((4,))
    two, one = Model([a, b], [Dense(1)(a), Dense(1)(b)]), small_model()
    for _ in range(2):
        assert one.predict_on_batch(ROWS[:0]).shape == (0, 1)
        with pytest.raises(DataError, match="got an empty data set"):
            one.predict(ROWS[:0])
        assert len(two.predict_on_batch([ROWS, ROWS[:10]])) == 2
        with pytest.raises(DataError, match="different numbers of samples"):
            two.predict([ROWS, ROWS[:10]])


@pytest.mark.parametrize("batch_size", [0, -1, 32.0, "32", True])
def test_a_batch_size_is_looked_at_also_where_the_rows_are_known(batch_size):
    model = small_model()
    if batch_size is True:  # a whole number, as in Python
        assert len(model.predict(ROWS[:3], batch_size=batch_size)) == 3
        return
    for _ in range(2):
        model.predict(ROWS[:32])
        with pytest.raises(ArgumentError, match="batch_size"):
            model.predict(ROWS[:32], batch_size=batch_size)


def test_rows_that_are_too_many_for_one_batch_are_never_taken_for_one():
    x = Input(batch_shape=(10, 4))
    model = Model(x, Dense(1)(x))
    for _ in range(3):
        assert model.predict(ROWS[:30]).shape == (30, 1)
    known = KnownBatches(model.predict_function)
    assert not known.is_one_batch([ROWS[:10]], None)
    known = KnownBatches(small_model()._make_predict_function())
    assert known.is_one_batch([ROWS[:32]], None)
    assert not known.is_one_batch([ROWS[:33]], None)
    assert not known.is_one_batch([ROWS[:33]], 32)
    assert not known.is_one_batch([1.0], None)
