"""What BatchNormalization promises beyond the contract: statistics, updates, phases."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers import BatchNormalization, Dense, Input

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
    np.testing.assert_allclose(variance, 0.9 + 0.1 * array.var(axis=0), rtol=1e-5)


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
    assert [w.tolist() for w in layer.get_weights()[2:]] == [[1.5], [1.0]]
    layer(array, training=1)
    assert [w.tolist() for w in layer.get_weights()[2:]] == [[2.25], [1.0]]
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
    with pytest.raises(ShapeError, match=r"the size of axis -1 of .* is not known"):
        BatchNormalization()(Input((3, None)))


def test_other_number_of_features_is_refused():
    layer = BatchNormalization(name="bn")
    layer(Input((3,)))
    with pytest.raises(ShapeError, match="BatchNormalization 'bn': input has size 4 on axis 1"):
        layer(Input((4,)))


def test_axis_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="BatchNormalization 'bn': axis: no axis 3"):
        BatchNormalization(axis=3, name="bn")(Input((3,)))


def test_gradient_flows_through_the_statistics_of_the_batch():
    x = Input((2,))
    y = BatchNormalization()(Dense(2)(x))
    # The sum of a normalised batch is always 0, so nothing can change it.
    gradient = K.gradients(K.sum(y), [x])
    f = K.function([x, K.learning_phase()], gradient)
    np.testing.assert_allclose(f([rng.normal(size=(8, 2)), 1])[0], np.zeros((8, 2)), atol=1e-5)


def test_keras_1_keywords_are_translated_and_only_mode_0_is_left():
    with pytest.warns(SpellingWarning) as warned:
        layer = BatchNormalization(mode=0, beta_init="one", gamma_init="zero")
    assert len(warned) == 3
    assert (layer.beta_initializer.get_config(), type(layer.gamma_initializer).__name__) == (
        {},
        "Zeros",
    )
    with pytest.raises(ArgumentError, match="mode 2 of Keras 1 exists no more"):
        BatchNormalization(mode=2)
