"""What BatchNormalization promises beyond the contract: statistics, updates, phases."""

import re

import numpy as np
import pytest

import kerascope as ks
from kerascope import backend as K
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers import BatchNormalization, Dense, Input
from kerascope.models import Sequential
from kerascope.spellings import override_dialect

rng = np.random.default_rng(0)


def test_r05_it_has_two_trainable_weights_and_two_moving_statistics():
    layer = BatchNormalization(name="bn")
    layer(Input((3,)))
    assert [w.name for w in layer.trainable_weights] == ["bn/gamma", "bn/beta"]
    assert [w.name for w in layer.non_trainable_weights] == ["bn/moving_mean", "bn/moving_variance"]
    assert layer.weights == layer.trainable_weights + layer.non_trainable_weights


def test_r07_updates_belong_to_the_call_that_made_them():
    layer = BatchNormalization()
    x, y = Input((3,)), Input((3,))
    layer(x)
    assert len(layer.updates) == 2
    layer(y)
    assert len(layer.updates) == 4
    assert len(layer.get_updates_for(x)) == 2
    assert layer.get_updates_for(x) + layer.get_updates_for(y) == layer.updates
    assert layer.get_updates_for(None) == []


def test_updates_move_the_statistics_by_the_momentum():
    layer = BatchNormalization(momentum=0.9)
    x = Input((2,))
    y = layer(x)
    array = rng.normal(3.0, 2.0, (50, 2)).astype("float32")
    f = K.function([x, K.learning_phase()], [y], updates=layer.updates)
    normalized = f([array, 1])[0]
    np.testing.assert_allclose(normalized.mean(axis=0), [0, 0], atol=1e-5)
    np.testing.assert_allclose(normalized.var(axis=0), [1, 1], atol=1e-2)
    _, _, mean, variance = layer.get_weights()
    np.testing.assert_allclose(mean, 0.1 * array.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(variance, 0.9 + 0.1 * array.var(axis=0) * 50 / 48.999, rtol=1e-5)


def test_test_phase_uses_the_moving_statistics():
    layer = BatchNormalization(epsilon=0.0)
    x = Input((1,))
    y = layer(x)
    layer.set_weights([np.array(w) for w in ([2.0], [1.0], [10.0], [4.0])])
    assert K.function([x, K.learning_phase()], [y])([np.array([[14.0]]), 0])[0].item() == 5.0


def test_on_arrays_the_statistics_move_at_once_in_training_only():
    layer = BatchNormalization(momentum=0.5)
    array = np.array([[2.0], [4.0]])
    for training in (None, False, 0):
        layer(array, training=training)
        assert [w.tolist() for w in layer.get_weights()[2:]] == [[0.0], [1.0]]
    np.testing.assert_allclose(layer(array, training=True), [[-1.0], [1.0]], atol=1e-3)
    np.testing.assert_allclose(layer.get_weights()[2:], [[1.5], [0.5 + 1 / 0.999]], rtol=1e-6)
    layer(array, training=1)
    np.testing.assert_allclose(layer.get_weights()[2:], [[2.25], [0.25 + 1.5 / 0.999]], rtol=1e-6)
    assert layer.updates == []


def test_training_false_makes_no_updates_in_a_graph():
    layer = BatchNormalization()
    y = layer(Input((3,)), training=False)
    assert layer.updates == []
    assert not y._uses_learning_phase


def test_frozen_layer_has_no_updates():
    layer = BatchNormalization()
    x = Input((3,))
    layer(x)
    layer.trainable = False
    assert layer.updates == []
    assert layer.get_updates_for(x) == []
    assert len(layer.non_trainable_weights) == 4


def test_it_needs_the_size_of_its_axis_only():
    assert BatchNormalization(axis=1)(Input((3, None, None))).shape == (None, 3, None, None)
    with pytest.raises(ShapeError, match=r"expected a known size of axis -1"):
        BatchNormalization()(Input((3, None)))


def test_other_number_of_features_is_refused():
    layer = BatchNormalization(name="bn")
    layer(Input((3,)))
    with pytest.raises(ShapeError, match="BatchNormalization 'bn': .* with size 3 on axis 1"):
        layer(Input((4,)))


def test_axis_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="BatchNormalization 'bn': axis: expected .*, got 3"):
        BatchNormalization(axis=3, name="bn")(Input((3,)))


def test_gradient_flows_through_the_statistics_of_the_batch():
    x = Input((2,))
    y = BatchNormalization()(Dense(2)(x))
    # The sum of a normalised batch is always 0, so nothing can change it.
    gradient = K.gradients(K.sum(y), [x])
    f = K.function([x, K.learning_phase()], gradient)
    np.testing.assert_allclose(f([rng.normal(size=(8, 2)), 1])[0], np.zeros((8, 2)), atol=1e-5)


def test_keras_1_keywords_are_translated_and_there_are_three_modes():
    with pytest.warns(SpellingWarning) as warned:
        layer = BatchNormalization(mode=0, beta_init="one", gamma_init="zero")
    assert len(warned) == 3
    assert (layer.beta_initializer.get_config(), type(layer.gamma_initializer).__name__) == (
        {},
        "Zeros",
    )
    with pytest.raises(ArgumentError, match="expected mode 0 .each feature.*, got 3"):
        BatchNormalization(mode=3)


# --- the moving variance: Keras 2.2.4 corrects it, 1.2 and 3 do not -------------------------------


def moving_by_hand(dialect, batches, axis=-1, momentum=0.9, epsilon=1e-3):
    """Return both averages after training on some batches, as the dialect's Keras defines them."""
    mean, variance = 0.0, 1.0
    for batch in np.asarray(batches, "float64"):
        rows = np.moveaxis(batch, axis, -1).reshape(-1, batch.shape[axis])
        n = len(rows)
        middle = rows.sum(axis=0) / n
        spread = ((rows - middle) ** 2).sum(axis=0) / n
        if dialect == "2.2":
            spread = spread * n / (n - 1 - epsilon)
        mean = momentum * mean + (1 - momentum) * middle
        variance = momentum * variance + (1 - momentum) * spread
    return mean, variance


@pytest.fixture(params=["1.2", "2.2", "3"])
def dialect(request, monkeypatch):
    monkeypatch.setattr(ks.config, "dialect", request.param)
    return request.param


@pytest.mark.parametrize("is_known", [False, True], ids=["any_batch", "known_batch"])
@pytest.mark.parametrize(
    ("shape", "axis", "epsilon"),
    [
        ((8, 3), -1, 1e-3),
        ((2, 3), -1, 1e-3),
        ((1, 3), -1, 1e-3),  # n = 1: the variance is 0, and -1000 times that too
        ((1, 3), -1, 0.5),
        ((33, 3), 1, 0.0),
        ((2, 3, 4), -1, 0.2),
        ((2, 3, 4), 1, 1e-3),
        ((1, 5, 2, 3), 1, 1e-3),
        ((4, 1, 1, 3), -1, 1e-5),
    ],
)
def test_the_moving_variance_is_that_of_the_dialect(dialect, shape, axis, epsilon, is_known):
    batches = rng.normal(2.0, 3.0, (4, *shape))
    layer = BatchNormalization(axis=axis, momentum=0.9, epsilon=epsilon)
    model = Sequential([layer])
    model.build(shape if is_known else (None, *shape[1:]))
    model.compile("sgd", "mse")
    for batch in batches:
        model.train_on_batch(batch, np.zeros(shape))
    mean, variance = moving_by_hand(dialect, batches, axis, epsilon=epsilon)
    np.testing.assert_allclose(K.get_value(layer.moving_mean), mean, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(K.get_value(layer.moving_variance), variance, rtol=2e-5)
    gamma, beta = layer.get_weights()[:2]
    along = [-1 if a == axis % len(shape) else 1 for a in range(len(shape))]
    mean, variance, gamma, beta = (np.reshape(v, along) for v in (mean, variance, gamma, beta))
    expected = gamma * (batches[0] - mean) / np.sqrt(variance + epsilon) + beta
    np.testing.assert_allclose(model.predict(batches[0]), expected, rtol=1e-4, atol=1e-5)


def test_batches_of_other_sizes_are_corrected_each_by_its_own():
    layer = BatchNormalization(momentum=0.5)
    model = Sequential([layer])
    model.build((None, 2))
    model.compile("sgd", "mse")
    expected = np.ones(2)
    for n in (2, 7, 2, 2, 2, 100, 1, 7):  # programs of one size that was there are used again
        batch = rng.normal(size=(n, 2))
        model.train_on_batch(batch, batch)
        expected = 0.5 * expected + 0.5 * batch.var(axis=0) * n / (n - 1.001)
    np.testing.assert_allclose(K.get_value(layer.moving_variance), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_correction_is_exact_in_every_float_type(dtype):
    layer, x = BatchNormalization(momentum=0.0, dtype=dtype), Input((1,), dtype=dtype)
    y = layer(x)
    f = K.function([x, K.learning_phase()], [y], updates=layer.updates)
    for n in (2, 8, 70_000):  # float16 ends at 65504
        f([np.tile(np.array([[-1.0], [1.0]], dtype), (n // 2, 1)), 1])
        variance = layer.get_weights()[3]
        assert variance.dtype == dtype
        np.testing.assert_allclose(variance, [n / (n - 1.001)], rtol=4 * np.finfo(dtype).eps)


def test_one_value_and_no_epsilon_give_nan_as_zero_by_zero_does():
    layer = BatchNormalization(momentum=0.5, epsilon=0.0)
    layer(np.array([[2.0]]), training=True)
    assert np.isnan(layer.get_weights()[3]).all()


def test_with_a_mask_only_the_values_that_count_are_counted():
    with override_dialect(ends_masks=True):  # as in a model from a file of Keras 3
        layer = BatchNormalization(momentum=0.5)
    x, mask = Input((3, 2)), K.placeholder((None, 3), dtype="bool")
    y = layer(x, mask=mask)
    f = K.function([x, mask, K.learning_phase()], [y], updates=layer.updates)
    array, kept = rng.normal(size=(2, 3, 2)), np.array([[1, 1, 0], [1, 0, 1]], bool)
    f([array, kept, 1])
    expected = 0.5 + 0.5 * array[kept].var(axis=0) * 4 / 2.999
    np.testing.assert_allclose(layer.get_weights()[3], expected, rtol=1e-5)


def test_the_correction_costs_a_training_step_one_product():
    model = Sequential([BatchNormalization(input_shape=(3,))])
    model.compile("sgd", "mse")
    for _ in range(3):
        model.train_on_batch(np.ones((8, 3)), np.ones((8, 3)))
    source = model.train_function.source
    assert re.search(r"np.multiply\(\w+, c_1_143\d*, \w+\)", source)  # 8 / 6.999, known beforehand
    assert "count" not in source
