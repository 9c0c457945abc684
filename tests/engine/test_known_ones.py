"""Weights of samples that nobody gave are known ones: every loop profits, and nobody notices."""

import numpy as np
import pytest
from small_model import LABELS, ROWS, small_model

from kerascope.backend.constants import MOST_ELEMENTS, is_constant_ones, ones_of
from kerascope.callbacks import Callback, LambdaCallback
from kerascope.compat.private_names import standardize_weights
from kerascope.engine.feeds import ArrayFeed
from kerascope.settings import config


def weights_fed(function, work):
    """Return the weights of samples of each call of a function while `work` runs."""
    fed, programs = [], function._programs

    def listen(arrays):
        fed.append(arrays[2])
        return programs(arrays)

    function._programs = listen
    try:
        work()
    finally:
        function._programs = programs
    return fed


def are_all_known(weights):
    return bool(weights) and all(is_constant_ones(array) for array in weights)


# --- what they are --------------------------------------------------------------------------------


def test_rows_of_known_ones_are_known_and_other_ones_are_not():
    ones = ones_of((6, 4))
    assert is_constant_ones(ones[2:5])
    assert not is_constant_ones(np.ones((6, 4), "float32"))
    assert not is_constant_ones(ones.copy())
    assert not is_constant_ones(ones * 2)


def test_an_array_of_another_type_over_the_same_memory_is_not_known():
    assert not is_constant_ones(ones_of((6,)).view("int32"))
    assert not is_constant_ones(np.ones(3, "int8"))


def test_ones_stay_known_however_many_shapes_come_after_them():
    first = ones_of((7,))
    for size in range(1, 1000):
        ones_of((size,))
    assert is_constant_ones(first)


def test_nobody_can_make_known_ones_writable():
    ones = ones_of((3,))
    with pytest.raises(ValueError, match="WRITEABLE"):
        ones.flags.writeable = True


def test_more_ones_than_are_kept_are_ones_all_the_same():
    many = ones_of((2, MOST_ELEMENTS))
    assert many.shape == (2, MOST_ELEMENTS)
    assert (many == 1).all()
    assert not is_constant_ones(many)


# --- who uses them --------------------------------------------------------------------------------


def test_evaluate_feeds_known_ones():
    model = small_model()
    model.evaluate(ROWS, LABELS, verbose=0)
    work = lambda: model.evaluate(ROWS, LABELS, verbose=0)  # noqa: E731
    weights = weights_fed(model.test_function, work)
    assert [len(array) for array in weights] == [32, 18]
    assert are_all_known(weights)


def test_single_batches_are_fed_with_known_ones_from_the_first_on():
    model = small_model()
    model.train_on_batch(ROWS, LABELS)
    model.test_on_batch(ROWS, LABELS)
    for size in (20, 20, 30):
        x, y = ROWS[:size], LABELS[:size]
        for function, work in (
            (model.train_function, model.train_on_batch),
            (model.test_function, model.test_on_batch),
        ):
            assert are_all_known(weights_fed(function, lambda work=work, x=x, y=y: work(x, y)))


@pytest.mark.parametrize("held_out", [{"validation_split": 0.4}, {"validation_data": None}])
@pytest.mark.parametrize("callbacks", [[], [LambdaCallback(on_batch_end=lambda batch, logs: 0)]])
def test_fit_and_its_validation_feed_known_ones(held_out, callbacks):
    if "validation_data" in held_out:
        held_out = {"validation_data": (ROWS, LABELS)}
    model = small_model()
    settings = {"epochs": 2, "verbose": 0, "callbacks": callbacks, **held_out}
    model.fit(ROWS, LABELS, **settings)
    for function in (model.train_function, model.test_function):
        work = lambda: model.fit(ROWS, LABELS, **settings)  # noqa: E731
        assert are_all_known(weights_fed(function, work))


def test_the_validation_of_a_generator_feeds_known_ones():
    model = small_model()

    def batches():
        while True:
            yield ROWS[:10], LABELS[:10]

    settings = {"steps_per_epoch": 2, "verbose": 0, "validation_data": (ROWS, LABELS)}
    model.fit_generator(batches(), **settings)
    work = lambda: model.fit_generator(batches(), **settings)  # noqa: E731
    assert are_all_known(weights_fed(model.train_function, work))
    assert are_all_known(weights_fed(model.test_function, work))


def test_batches_of_more_samples_than_are_known_at_once_are_fed_with_known_ones():
    size = MOST_ELEMENTS + 100
    weights = ones_of((size,))
    feed = ArrayFeed([np.zeros((size, 2)), weights], 1000)
    feed.first_weight = 1
    assert are_all_known([arrays[1] for _, arrays in feed.epoch()])


def test_weights_that_were_given_are_fed_as_they_were_given():
    model = small_model()
    given = np.linspace(0.5, 1.5, 50).astype("float32")
    model.evaluate(ROWS, LABELS, verbose=0)
    work = lambda: model.evaluate(ROWS, LABELS, sample_weight=given, verbose=0)  # noqa: E731
    np.testing.assert_array_equal(np.concatenate(weights_fed(model.test_function, work)), given)


def test_known_ones_and_given_ones_say_the_same():
    model = small_model()
    ones = np.ones(50)
    plain = [model.evaluate(ROWS, LABELS, verbose=0) for _ in range(4)]
    weighted = [model.evaluate(ROWS, LABELS, sample_weight=ones, verbose=0) for _ in range(4)]
    assert plain == weighted == [plain[0]] * 4


def test_in_another_float_type_there_are_other_ones():
    before = config.floatx
    try:
        config.floatx = "float64"
        model = small_model()
        model.evaluate(ROWS, LABELS, verbose=0)
        work = lambda: model.evaluate(ROWS, LABELS, verbose=0)  # noqa: E731
        weights = weights_fed(model.test_function, work)
        assert {array.dtype for array in weights} == {np.dtype("float64")}
        assert are_all_known(weights)
    finally:
        config.floatx = before


# --- who must not notice --------------------------------------------------------------------------


@pytest.mark.parametrize("held_out", [{"validation_split": 0.4}, {"validation_data": None}])
def test_a_callback_may_write_to_the_weights_of_the_validation_and_they_count(held_out):
    if "validation_data" in held_out:
        held_out = {"validation_data": (ROWS, LABELS)}

    class Doubles(Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.losses = [*getattr(self, "losses", []), logs["val_loss"]]
            self.validation_data[2][:] *= 2

    model, doubles = small_model(), Doubles()
    model.optimizer.lr = 0.0
    model.fit(ROWS, LABELS, epochs=3, verbose=0, callbacks=[doubles], **held_out)
    first = doubles.losses[0]
    np.testing.assert_allclose(doubles.losses, [first, 2 * first, 4 * first], rtol=1e-6)
    model.fit(ROWS, LABELS, verbose=0, callbacks=[doubles], **held_out)
    assert doubles.losses[-1] == pytest.approx(first, rel=1e-6)  # nobody else's ones were written


def test_what_keras_calls_standardized_may_be_written_to():
    model = small_model()
    for weights in (
        model._standardize_user_data(ROWS, LABELS)[2][0],
        standardize_weights(LABELS),
    ):
        weights[:] = 5
    assert (ones_of((50,)) == 1).all()
