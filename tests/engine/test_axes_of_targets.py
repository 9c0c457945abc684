"""Labels of shape (samples,) in losses and metrics of the user's own.

In dialect "3" these get them as they are, else as a column; keras3_scripts/labels_without_axis.py
compares the numbers with Keras 3.
"""

import pickle
import warnings

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import KerascopeWarning
from kerascope.layers import Dense
from kerascope.models import Sequential, load_model
from kerascope.settings import config


@pytest.fixture(autouse=True)
def dialect():
    yield
    config.dialect = "2.2"


RANKS: list[int] = []
FLAT = np.array([0, 1, 2, 1])


def ranks(y_true, y_pred):
    RANKS.append(len(y_true.shape))
    return K.mean(K.abs(y_pred), -1)


def classifier(dialect, **how):
    config.dialect = dialect
    model = Sequential([Dense(3, activation="softmax", input_shape=(2,))])
    model.compile(**{"optimizer": "sgd", "loss": "sparse_categorical_crossentropy", **how})
    RANKS.clear()
    return model


@pytest.mark.parametrize(("dialect", "rank"), [("3", 1), ("2.2", 2)])
def test_a_metric_gets_labels_with_the_axes_of_the_data_in_dialect_3(dialect, rank):
    model = classifier(dialect, metrics=[ranks])
    model.fit(np.ones((4, 2)), FLAT, verbose=0)
    assert set(RANKS) == ({rank} if dialect == "3" else set())  # in 2.2 compile has said it


def test_validation_and_later_data_with_other_axes_are_warned_of_and_taken_like_the_first():
    model = classifier("3", metrics=[ranks])
    x = np.ones((4, 2))
    with pytest.warns(KerascopeWarning, match="validation_data: the targets of 'dense"):
        model.fit(x, FLAT, validation_data=(x, FLAT[:, None]), verbose=0)
    slots = model.optimizer.get_weights()
    with pytest.warns(KerascopeWarning, match="evaluate: the targets of 'dense.*compile the model"):
        column = model.evaluate(x, FLAT[:, None], verbose=0)
    assert column == model.evaluate(x, FLAT, verbose=0)
    assert set(RANKS) == {1}
    for now, before in zip(model.optimizer.get_weights(), slots, strict=True):
        np.testing.assert_array_equal(now, before)  # nothing began anew


def test_before_it_is_trained_a_model_heeds_the_axes_of_each_data():
    model = classifier("3", metrics=[ranks])
    for labels, rank in ((FLAT, 1), (FLAT[:, None], 2), (FLAT, 1)):
        RANKS.clear()
        model.evaluate(np.ones((4, 2)), labels, verbose=0)
        assert set(RANKS) == {rank}


def test_losses_and_metrics_of_keras_are_not_compiled_again_for_the_axes_of_labels():
    model = classifier("3", metrics=["accuracy"])
    target = model.targets[0]
    model.fit(np.ones((4, 2)), FLAT, verbose=0)
    model.evaluate(np.ones((4, 2)), FLAT[:, None], verbose=0)
    assert model.targets[0] is target


def test_a_loss_that_takes_labels_of_no_rank_tells_its_own_error():
    def broken(y_true, y_pred):
        raise ValueError("never works")

    with pytest.raises(ValueError, match="never works"):
        classifier("3", loss=broken)


@pytest.mark.parametrize("way", ["keras", "h5", "pickle"])
def test_a_model_from_a_file_heeds_the_axes_and_goes_on_where_it_was(way, tmp_path):
    x = np.random.default_rng(0).normal(size=(4, 2))
    model = classifier("3", optimizer="adam", metrics=[ranks])
    model.fit(x, FLAT, verbose=0)
    if way == "pickle":
        twin = pickle.loads(pickle.dumps(model))
    else:
        model.save(tmp_path / f"m.{way}")
        twin = load_model(tmp_path / f"m.{way}", custom_objects={"ranks": ranks})
    RANKS.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = (m.fit(x, FLAT, epochs=2, verbose=0, shuffle=False) for m in (model, twin))
    assert RANKS == [1]
    assert one.history == other.history
    for mine, its in zip(model.optimizer.get_weights(), twin.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, its)
