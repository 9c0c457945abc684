"""Numbers that would be wrong without a word: ranks, weights, masks, decay, given statistics."""

import numpy as np
import pytest

import kerascope as ks
from kerascope import backend as K
from kerascope import losses, metrics, optimizers
from kerascope.callbacks import LearningRateScheduler
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers import Attention, Dense, Embedding, Input, Normalization, TimeDistributed
from kerascope.models import Model, Sequential

RNG = np.random.default_rng(8)
TARGETS = (RNG.random(9) > 0.5).astype("float32")
PREDICTIONS = RNG.random((9, 1)).astype("float32")
WEIGHTS = RNG.random(9).astype("float32")


# --- targets (n,) beside predictions (n, 1) -------------------------------------------------------


@pytest.mark.parametrize("shape", [(9,), (9, 1)])
def test_a_loss_object_compares_each_target_with_its_own_prediction(shape):
    expected = np.mean((TARGETS - PREDICTIONS[:, 0]) ** 2)
    loss = losses.MeanSquaredError()(TARGETS.reshape(shape), PREDICTIONS)
    np.testing.assert_allclose(K.eval(loss), expected, rtol=1e-5)
    loss = losses.MeanSquaredError()(TARGETS.reshape(9, 1), PREDICTIONS[:, 0])
    np.testing.assert_allclose(K.eval(loss), expected, rtol=1e-5)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("of_targets", [(9,), (9, 1)])
@pytest.mark.parametrize("of_predictions", [(9,), (9, 1)])
def test_a_metric_compares_each_target_with_its_own_prediction(of_targets, of_predictions, weights):
    y, p = TARGETS, PREDICTIONS[:, 0]
    given = y.reshape(of_targets), p.reshape(of_predictions), weights
    expected = {
        "BinaryAccuracy": np.average(y == (p > 0.5), weights=weights),
        "MeanAbsoluteError": np.average(abs(y - p), weights=weights),
        "RootMeanSquaredError": np.average((y - p) ** 2, weights=weights) ** 0.5,
    }
    for name, number in expected.items():
        metric = getattr(metrics, name)()
        metric.update_state(*given)
        assert metric.result() == pytest.approx(number, rel=1e-5), name


# --- weights and masks ----------------------------------------------------------------------------


def test_mean_with_sample_weight_divides_by_the_weights_that_a_mask_keeps():
    x = Input((4,))
    h = Embedding(5, 3, mask_zero=True)(x)
    model = Model(x, TimeDistributed(Dense(2))(h))
    model.compile("sgd", losses.MeanSquaredError(reduction="mean_with_sample_weight"))
    x, y, w = RNG.integers(0, 5, (6, 4)), RNG.normal(size=(6, 4, 2)), RNG.random(6)
    scores = np.mean((model.predict(x) - y) ** 2, axis=-1)
    for weights in (None, w):
        kept = (x != 0) * (np.ones(6) if weights is None else weights)[:, np.newaxis]
        loss = model.evaluate(x, y, sample_weight=weights, verbose=0)
        assert loss == pytest.approx(np.sum(scores * kept) / np.sum(kept), rel=1e-5)


@pytest.mark.parametrize("samples", [4, 6])  # with as many samples as times it did not even fail
def test_a_weighted_metric_with_a_state_heeds_a_mask_and_weights_of_samples(samples):
    x = Input((4,))
    h = Embedding(5, 3, mask_zero=True)(x)
    model = Model(x, TimeDistributed(Dense(1, activation="sigmoid"))(h))
    model.compile("sgd", "mse", weighted_metrics=[metrics.Recall(thresholds=0.51)])
    x = RNG.integers(0, 5, (samples, 4))
    y = np.ones((samples, 4, 1))
    w = RNG.random(samples)
    kept = (x != 0) * w[:, np.newaxis]
    found = model.predict(x)[..., 0] > 0.51
    _, recall = model.evaluate(x, y, sample_weight=w, verbose=0, batch_size=4)
    assert recall == pytest.approx(np.sum(kept * found) / np.sum(kept), rel=1e-5)


@pytest.mark.parametrize("name", ["Mean", "Sum"])
def test_a_metric_of_numbers_is_refused_by_compile(name):
    model = Sequential([Dense(1, input_shape=(2,))])
    with pytest.raises(ArgumentError, match=f"{name}: averages values.*'mae'"):
        model.compile("sgd", "mse", metrics=[getattr(metrics, name)()])


# --- optimizers -----------------------------------------------------------------------------------


def one_step(optimizer, start=3.0, slope=0.0):
    p = K.variable(start)
    K.function([], [], updates=optimizer.get_updates(p * slope, [p]))([])
    return float(K.get_value(p))


@pytest.mark.parametrize("name", ["SGD", "RMSprop", "Adagrad", "Adam", "Adamax", "Nadam", "Lion"])
def test_weight_decay_takes_a_share_of_every_parameter(name):
    optimizer = getattr(optimizers, name)(lr=0.1, weight_decay=0.5)
    assert one_step(optimizer) == pytest.approx(3.0 * (1 - 0.1 * 0.5))


def test_ftrl_begins_its_step_where_the_decay_leaves_the_parameter():
    assert (
        one_step(optimizers.Ftrl(lr=0.1, weight_decay=0.5)) == 0.0
    )  # no gradient: nothing to keep
    plain = one_step(optimizers.Ftrl(lr=0.1), start=3.0 * 0.95, slope=2.0)
    decayed = one_step(optimizers.Ftrl(lr=0.1, weight_decay=0.5), slope=2.0)
    assert decayed == pytest.approx(plain, rel=1e-6)


def test_nadam_follows_a_schedule():
    schedule = optimizers.schedules.PiecewiseConstantDecay([10], [0.2, 0.1])
    assert one_step(optimizers.Nadam(schedule), slope=1.0) == one_step(
        optimizers.Nadam(0.2), slope=1.0
    )


def test_a_callback_that_sets_the_rate_of_a_schedule_says_that_it_cannot():
    optimizer = optimizers.SGD(optimizers.schedules.ExponentialDecay(0.1, 10, 0.5))
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile(optimizer, "mse")
    with pytest.raises(ArgumentError, match="follows ExponentialDecay.*with a number"):
        model.fit(np.ones((4, 2)), np.ones(4), callbacks=[LearningRateScheduler(lambda _: 0.5)])
    with pytest.raises(ArgumentError, match="follows ExponentialDecay"):
        K.set_value(optimizer.lr, 0.3)
    assert float(K.get_value(optimizer.lr)) == pytest.approx(0.1)


# --- layers and ops -------------------------------------------------------------------------------


def test_given_statistics_belong_to_the_axes_that_they_are_for():
    x = RNG.normal(size=(2, 3, 3))
    mean, variance = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0])
    found = Normalization(axis=1, mean=mean, variance=variance)(x)
    expected = (x - mean[:, np.newaxis]) / np.sqrt(variance)[:, np.newaxis]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    back = Normalization(axis=1, mean=mean, variance=variance, invert=True)(found)
    np.testing.assert_allclose(back, x, rtol=1e-5, atol=1e-6)


def test_given_statistics_of_other_sizes_are_refused():
    with pytest.raises(ShapeError, match=r"expected variance with shape \(3,\).*, got \(2,\)"):
        Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0])(np.ones((5, 3)))


def test_attention_on_a_single_tensor_says_that_it_wants_a_list():
    with pytest.raises(ArgumentError, match=r"expected a list \[query, value\].*a single tensor"):
        Attention()(Input((4, 5)))


def test_the_exact_gelu_and_the_error_function_are_among_the_ops():
    x = np.array([-1.0, 0.0, 2.0])
    erf = [-0.8427007929, 0.0, 0.9953222650]
    np.testing.assert_allclose(ks.ops.erf(x), erf, rtol=1e-5)
    np.testing.assert_allclose(
        ks.ops.gelu(x, approximate=False), [-0.1586552539, 0.0, 1.9544997361], rtol=1e-5
    )


def test_ops_near_zero_lose_no_digits():
    x = np.array([1e-8, 1e-4, 2.0], dtype="float32")
    np.testing.assert_allclose(ks.ops.expm1(x), np.expm1(x), rtol=1e-6)
    np.testing.assert_allclose(ks.ops.sinh(x), np.sinh(x), rtol=1e-6)


def test_normalize_of_the_ops_heeds_its_epsilon():
    x = np.array([[3e-3, 4e-3]], dtype="float32")
    np.testing.assert_allclose(ks.ops.normalize(x), [[0.6, 0.8]], rtol=1e-5)
    np.testing.assert_allclose(ks.ops.normalize(x, epsilon=0.1), x / 0.1, rtol=1e-5)
    np.testing.assert_allclose(ks.ops.normalize(x * 1e-4), [[0.6, 0.8]], rtol=1e-5)


def test_axes_of_the_ops_may_be_several_or_new():
    x = RNG.normal(size=(2, 3, 4)).astype("float32")
    np.testing.assert_array_equal(
        ks.ops.moveaxis(x, (0, 1), (-1, 0)), np.moveaxis(x, (0, 1), (-1, 0))
    )
    np.testing.assert_array_equal(ks.ops.moveaxis(x, 0, -1), np.moveaxis(x, 0, -1))
    np.testing.assert_array_equal(ks.ops.tile(x, (2, 1, 1, 3)), np.tile(x, (2, 1, 1, 3)))
