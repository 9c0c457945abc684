"""Training without waste: the quick ways do the same as the careful ones, and are quick."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from effort import calls_of

from kerascope import backend as K
from kerascope import optimizers
from kerascope.backend.constants import is_constant_ones, ones_of
from kerascope.callbacks import Callback, LambdaCallback
from kerascope.engine.feeds import ArrayFeed
from kerascope.engine.input_layer import Input
from kerascope.engine.model import Model
from kerascope.engine.outputs import Rows
from kerascope.engine.training_loop import BatchBegun, BatchEnded, EpochEnded
from kerascope.errors import DataError, KerascopeWarning, NumericsWarning, ShapeError
from kerascope.layers import Dense, Dropout
from kerascope.models import Sequential
from kerascope.settings import config
from kerascope.stage import observing

ROWS = np.random.default_rng(1).random((50, 4)).astype("float32")
LABELS = (ROWS.sum(axis=1, keepdims=True) > 2).astype("float32")


def small_model(optimizer="rmsprop", *, dropout=False):
    np.random.seed(3)
    layers = [Dense(8, activation="relu", input_shape=(4,))]
    layers += [Dropout(0.5)] if dropout else []
    model = Sequential([*layers, Dense(1, activation="sigmoid")])
    model.compile(optimizer, "binary_crossentropy", metrics=["mae"])
    return model


def same_weights(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.get_weights(), b.get_weights(), strict=True))


# --- single batches -------------------------------------------------------------------------------


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("shape", [(32, 1), (32,)])
def test_known_batches_train_as_checked_ones_do(shape, dropout):
    x, y = ROWS[:32], LABELS[:32].reshape(shape)
    quick, careful = small_model(dropout=dropout), small_model(dropout=dropout)
    ones = np.ones(32)
    for _ in range(5):
        assert quick.train_on_batch(x, y) == careful.train_on_batch(x, y, sample_weight=ones)
        assert quick.test_on_batch(x, y) == careful.test_on_batch(x, y, sample_weight=ones)
    assert same_weights(quick, careful)
    assert "train_function" in quick._known_batches
    assert "train_function" not in careful._known_batches


def test_a_known_batch_costs_few_calls():
    model = small_model()
    x, y = ROWS[:32], LABELS[:32]
    for _ in range(4):
        model.train_on_batch(x, y)
        model.test_on_batch(x, y)
        model.predict_on_batch(x)
        model.predict(x)
    arrays = [x, y, np.ones(32, "float32")]
    step = calls_of(lambda: model.train_function(arrays))
    assert calls_of(lambda: model.train_on_batch(x, y)) - step < 40
    step = calls_of(lambda: model.test_function(arrays))
    assert calls_of(lambda: model.test_on_batch(x, y)) - step < 40
    step = calls_of(lambda: model.predict_function([x]))
    assert calls_of(lambda: model.predict(x)) - step < 60


def test_numbers_that_were_changed_in_place_count():
    x, y = ROWS[:32].copy(), LABELS[:32].copy()
    model = small_model()
    first = model.test_on_batch(x, y)
    assert model.test_on_batch(x, y) == first
    y[:] = 1 - y
    assert model.test_on_batch(x, y) != first
    x[:] = np.nan
    assert np.isnan(model.test_on_batch(x, y)[0])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            ROWS[:32, :3],
            LABELS[:32],
            r"x for 'dense_1_input': expected .*got \(32, 3\)",
        ),
        (ROWS[:32], LABELS[:31], "x has 32, y has 31"),
        (ROWS[:32], np.ones((32, 2)), "loss binary_crossentropy: expected targets of the shape"),
        (ROWS[:32].reshape(32, 2, 2), LABELS[:32], "with 2 axes .*, got 3"),
        (ROWS[:0], LABELS[:0], "got an empty data set"),
    ],
)
def test_bad_batches_after_good_ones_are_still_refused(x, y, message):
    K.reset_uids()
    model = small_model()
    for _ in range(3):
        model.train_on_batch(ROWS[:32], LABELS[:32])
    before = model.get_weights()
    for _ in range(2):
        with pytest.raises(DataError, match=message):
            model.train_on_batch(x, y)
    assert all(map(np.array_equal, before, model.get_weights()))


def test_lists_of_arrays_are_known_apart_from_arrays():
    a, b = Input((4,), name="a"), Input((2,), name="b")
    model = Model([a, b], [Dense(1, name="p")(a), Dense(2, name="q")(b)])
    model.compile("sgd", "mse")
    x, y = [ROWS, ROWS[:, :2]], [LABELS, ROWS[:, 2:]]
    ones = np.ones(50)
    first = model.test_on_batch(x, y, sample_weight=[ones, ones])
    assert [model.test_on_batch(x, y) for _ in range(3)] == [first] * 3
    with pytest.raises(DataError, match="got 2|got 1|got one array"):
        model.test_on_batch(x, [LABELS])
    with pytest.raises(DataError, match="x for 'a'"):
        model.test_on_batch(x[::-1], y)
    np.testing.assert_array_equal(model.predict_on_batch(x)[1], model.predict(x)[1])


def test_compile_forgets_what_was_known():
    model = small_model()
    for _ in range(2):
        model.train_on_batch(ROWS, LABELS)
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(DataError, match="same number"):
        model.train_on_batch(ROWS, LABELS[:3])
    model.compile("sgd", "mse", sample_weight_mode=None)
    assert np.ndim(model.train_on_batch(ROWS, LABELS)) == 0
    model.compile("sgd", "mse", metrics=["mae"])
    assert len(model.train_on_batch(ROWS, LABELS)) == 2


def test_a_changed_trainable_warns_at_every_batch():
    model = small_model()
    for _ in range(2):
        model.train_on_batch(ROWS, LABELS)
    model.layers[0].trainable = False
    for _ in range(3):
        with pytest.warns(KerascopeWarning, match="Discrepancy between trainable weights"):
            model.train_on_batch(ROWS, LABELS)
    model.layers[0].trainable = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.train_on_batch(ROWS, LABELS)


def test_the_learning_phase_is_that_of_now():
    model = small_model(dropout=True)
    for _ in range(2):
        model.test_on_batch(ROWS, LABELS)
    without_dropout = model.test_on_batch(ROWS, LABELS)
    assert model.test_on_batch(ROWS, LABELS) == without_dropout
    with K.learning_phase_scope(1):
        assert model.test_on_batch(ROWS, LABELS) != without_dropout
    assert model.test_on_batch(ROWS, LABELS) == without_dropout


def test_ones_are_of_todays_float_type_and_safe():
    assert is_constant_ones(ones_of((3,)))
    with pytest.raises(ValueError, match="read-only"):
        ones_of((3,))[0] = 2
    before = config.floatx
    try:
        config.floatx = "float64"
        assert ones_of((3,)).dtype == "float64"
    finally:
        config.floatx = before
    assert ones_of((3,)).dtype == before


# --- fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [True, False, "batch"])
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_is_the_same_whether_somebody_looks_or_not(shuffle, weighted):
    histories, models = [], []
    for look in (None, "observer", "walk", "callback"):
        model = small_model()
        np.random.seed(5)
        weights = ROWS[:, 0] if weighted else None
        settings = {"epochs": 3, "verbose": 0, "shuffle": shuffle, "sample_weight": weights}
        if look == "callback":
            settings["callbacks"] = [LambdaCallback(on_batch_end=lambda batch, logs: None)]
        stage = model.fit_stage(ROWS, LABELS, **settings)
        if look == "observer":
            with observing(lambda stage, event: None):
                history = stage.run()
        elif look == "walk":
            list(stage)
            history = stage.result
        else:
            history = stage.run()
        histories.append(history.history)
        models.append(model)
    assert histories == [histories[0]] * 4
    assert all(same_weights(models[0], model) for model in models)


def test_an_observer_that_comes_when_training_begins_hears_every_batch():
    heard = []

    class Attach(Callback):
        def on_train_begin(self, logs=None):
            self.watching = observing(lambda stage, event: heard.append(type(event)))
            self.watching.__enter__()

        def on_train_end(self, logs=None):
            self.watching.__exit__(None, None, None)

    small_model().fit(ROWS, LABELS, epochs=3, verbose=0, callbacks=[Attach()])
    counts = [heard.count(kind) for kind in (BatchBegun, BatchEnded, EpochEnded)]
    assert counts == [6, 6, 3]


def test_a_callback_that_gets_a_hook_later_hears_of_batches():
    heard = []

    class Later(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                self.on_batch_end = lambda batch, logs: heard.append((batch, logs["size"]))

    small_model().fit(ROWS, LABELS, epochs=3, verbose=0, callbacks=[Later()])
    assert heard == [(0, 32), (1, 18)] * 2


def test_a_loss_that_is_no_number_is_told_once_also_if_nobody_looks():
    model = small_model(optimizers.SGD(lr=0.1))
    with pytest.warns(NumericsWarning, match="became nan in epoch 0, batch 0") as told:
        model.fit(ROWS * np.nan, LABELS, epochs=3, verbose=0)
    assert len(told) == 1


def test_batches_cost_few_calls_if_nobody_looks():
    model = small_model()
    x, y = np.tile(ROWS, (64, 1)), np.tile(LABELS, (64, 1))
    arrays = [x[:32], y[:32], np.ones(32, "float32")]
    model.fit(x, y, epochs=2, verbose=0)

    def calls_of_epochs(epochs):
        return calls_of(lambda: model.fit(x, y, epochs=epochs, verbose=0))

    step = calls_of(lambda: model.train_function(arrays))
    beside = (calls_of_epochs(2) - calls_of_epochs(1)) / 100 - step
    assert beside < 45


def test_shuffled_batches_of_one_size_share_a_buffer_and_are_right():
    feed = ArrayFeed([ROWS, LABELS], 16, shuffle=True)
    buffers, seen = set(), []
    for size, (x, y) in feed.epoch(kept=False):
        buffers.add((size, x.ctypes.data))
        seen.append(np.hstack([x, y]))
        assert not np.shares_memory(x, ROWS)
    assert len(buffers) == 2
    rows = np.concatenate(seen)
    order = np.lexsort(rows.T)
    everything = np.hstack([ROWS, LABELS])
    np.testing.assert_array_equal(rows[order], everything[np.lexsort(everything.T)])


def test_batches_in_order_are_views():
    feed = ArrayFeed([ROWS, LABELS], 16)
    assert all(np.shares_memory(x, ROWS) for _, (x, _) in feed.epoch())


def test_rows_edited_while_training_are_read_as_they_are():
    x = ROWS.copy()
    seen = []
    model = small_model()

    def spoil(epoch, logs):
        seen.append(logs["loss"])
        x[:] = np.nan

    with pytest.warns(NumericsWarning):
        model.fit(x, LABELS, epochs=2, verbose=0, callbacks=[LambdaCallback(on_epoch_end=spoil)])
    assert np.isfinite(seen[0])
    assert np.isnan(seen[1])


# --- predict and evaluate -------------------------------------------------------------------------


def test_predictions_in_batches_are_those_of_all_rows_and_belong_to_the_caller():
    model = small_model()
    whole = model.predict(ROWS, batch_size=50)
    for size in (1, 7, 32, 64):
        np.testing.assert_allclose(model.predict(ROWS, batch_size=size), whole, rtol=1e-6)
    kept = whole.copy()
    model.predict(1 - ROWS, batch_size=50)
    np.testing.assert_array_equal(whole, kept)
    whole[:] = 0
    np.testing.assert_array_equal(model.predict(ROWS, batch_size=50), kept)


def test_evaluate_is_the_same_at_every_call_and_weighted_by_size():
    model = small_model()
    told = [model.evaluate(ROWS, LABELS, verbose=0) for _ in range(4)]
    assert told == [told[0]] * 4
    parts = [
        model.test_on_batch(ROWS[:32], LABELS[:32]),
        model.test_on_batch(ROWS[32:], LABELS[32:]),
    ]
    loss = (float(parts[0][0]) * 32 + float(parts[1][0]) * 18) / 50
    assert told[0][0] == loss


def test_rows_are_joined_whatever_their_shapes():
    rows = Rows(4)
    rows.add([np.ones((3, 2)), np.zeros((3, 1))], 0, 3)
    rows.add([np.ones((1, 2)), np.zeros((1, 1))], 3, 1)
    assert [x.shape for x in rows.joined()] == [(4, 2), (4, 1)]
    rows = Rows(4)
    rows.add([np.full((3, 2), 5.0)], 0, 3)
    rows.add([np.full((4, 2), 7.0)], 3, 1)  # more rows than samples
    np.testing.assert_array_equal(rows.joined()[0][:, 0], [5, 5, 5, 7, 7, 7, 7])
    rows = Rows(4)  # an epoch that ends with the batch that reaches so many
    rows.add([np.full((3, 2), 5.0)], 0, 3)
    rows.add([np.full((3, 2), 7.0)], 3, 3)
    np.testing.assert_array_equal(rows.joined()[0][:, 0], [5, 5, 5, 7, 7, 7])
    rows = Rows(None)
    rows.add([np.ones((3, 2))], 0, 3)
    rows.add([np.ones((3, 2))], 3, 3)
    assert rows.joined()[0].shape == (6, 2)


# --- functions ------------------------------------------------------------------------------------


def test_arrays_that_fit_are_taken_as_they_are_and_others_are_converted():
    x = K.placeholder((None, 3), dtype="float32")
    f = K.function([x], [x * 2])
    fitting = np.arange(6, dtype="float32").reshape(2, 3)
    assert f._arrays([fitting])[0] is fitting
    for other in (fitting.astype("float64"), fitting.tolist(), np.asfortranarray(fitting)):
        for _ in range(3):
            np.testing.assert_array_equal(f([other])[0], fitting * 2)
    for _ in range(2):
        with pytest.raises(ShapeError, match=r"array of shape \(None, 3\), got \(3, 2\)"):
            f([fitting.reshape(3, 2)])
    np.testing.assert_array_equal(fitting, np.arange(6).reshape(2, 3))


def test_a_call_leaves_numpys_own_warnings_as_they_were():
    x = K.placeholder((2,))
    f = K.function([x], [K.log(x)])
    before = np.geterr()
    for _ in range(3):
        assert np.isneginf(f([np.zeros(2, "float32")])[0]).all()
    assert np.geterr() == before


def test_compile_frees_the_earlier_train_function():
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    earlier = weakref.ref(model.train_function)
    model.compile("sgd", "mse")
    gc.collect()
    assert earlier() is None
