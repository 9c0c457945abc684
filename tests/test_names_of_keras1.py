"""What Keras 1 has beside its layers: metrics, initializations, helpers, counts of samples.

That they compute what Keras 1.2.2 computes is told by tests/compat/test_old_keras.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import metrics, regularizers
from kerascope.compat import keras_imports
from kerascope.errors import ArgumentError, UnavailableError
from kerascope.layers import Dense, Input
from kerascope.models import Model, Sequential
from kerascope.settings import config
from kerascope.wrappers.scikit_learn import KerasClassifier

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


@pytest.fixture
def dialect() -> Iterator[Any]:
    before = config.dialect
    yield lambda name: setattr(config, "dialect", name)
    config.dialect = before


def small(**options: Any) -> Model:
    model = Sequential([Dense(2, input_dim=3)])
    model.compile("sgd", "mse", **options)
    return model


def test_precision_is_of_a_batch_in_keras_1_and_of_all_batches_elsewhere(dialect: Any) -> None:
    dialect("1.2")
    assert metrics.get("precision") is metrics.precision
    dialect("2.2")
    assert isinstance(metrics.get("precision"), metrics.Precision)
    with pytest.raises(ArgumentError, match="beta of at least 0, got -1"):
        metrics.fbeta_score(K.ones((2, 2)), K.ones((2, 2)), beta=-1)


def test_each_number_of_a_metrics_dict_has_a_name_of_its_own_and_the_function_runs_once() -> None:
    calls = []

    def extremes(y_true: Any, y_pred: Any) -> dict[str, Any]:
        calls.append(1)
        return {"least": K.min(y_pred), "most": K.max(y_pred)}

    model = small(metrics=[extremes, "mae"])
    assert (len(calls), model.metrics_names) == (
        1,
        ["loss", "least", "most", "mean_absolute_error"],
    )
    x = np.random.RandomState(0).normal(size=(6, 3))
    logs = dict(zip(model.metrics_names, model.test_on_batch(x, np.zeros((6, 2))), strict=True))
    outputs = model.predict(x)
    assert np.isclose(logs["least"], outputs.min())
    assert np.isclose(logs["most"], outputs.max())


def test_the_names_in_a_metrics_dict_are_told_apart_by_the_outputs() -> None:
    x = Input((3,))
    model = Model(x, [Dense(1, name="a")(x), Dense(1, name="b")(x)])
    model.compile("sgd", "mse", metrics=[lambda y, p: {"mean": K.mean(p)}])
    assert model.metrics_names[3:] == ["a_mean", "b_mean"]


def test_an_initializer_with_a_name_is_told_that_of_the_weight() -> None:
    told = []

    def mine(shape: Any, name: str) -> Any:
        told.append(name)
        return np.full(shape, 2.0)

    layer = Dense(2, input_dim=3, kernel_initializer=mine, name="dense")
    Sequential([layer])
    assert told == ["dense/kernel"]
    assert (layer.get_weights()[0] == 2).all()


def test_a_count_after_a_generator_counts_samples_in_dialect_1(dialect: Any) -> None:
    def batches() -> Iterator[Any]:
        while True:
            yield np.ones((4, 3)), np.ones((4, 2))

    for name, rows in (("1.2", 8), ("2.2", 32)):
        dialect(name)
        model = small()
        assert len(model.predict_generator(batches(), 8)) == rows
        model.fit_generator(batches(), 8, 1, verbose=0)
        assert K.get_value(model.optimizer.iterations) == (8 // 4 if name == "1.2" else 8)


def test_nb_epoch_of_a_wrapper_gives_way_to_that_of_its_fit() -> None:
    def build() -> Model:
        model = Sequential([Dense(2, input_dim=3, activation="softmax")])
        model.compile("sgd", "categorical_crossentropy")
        return model

    made = KerasClassifier(build, nb_epoch=3, verbose=0)
    x, y = np.zeros((4, 3)), np.array([0, 1, 0, 1])
    assert len(made.fit(x, y).epoch) == 3
    assert len(made.fit(x, y, nb_epoch=2).epoch) == 2
    assert len(made.fit(x, y, epochs=1).epoch) == 1


def test_the_penalty_of_the_eigenvalue_regularizer_is_the_greatest_singular_value() -> None:
    matrix = np.diag([5.0, 2.0, 1.0])
    penalty = K.eval(regularizers.EigenvalueRegularizer(0.5)(K.constant(matrix)))
    assert np.isclose(penalty, 2.5)
    assert regularizers.get({"class_name": "EigenvalueRegularizer", "config": {"k": 0.5}}).k == 0.5


def test_a_star_imports_what_loads_late_too() -> None:
    space: dict[str, Any] = {}
    with keras_imports():
        exec("from keras.layers import *", space)
    assert space["Highway"](input_dim=3).batch_input_shape == (None, 3)


def test_an_array_is_saved_and_loaded(tmp_path: Any) -> None:
    with keras_imports():
        from keras.utils.io_utils import load_array, save_array
    array = np.random.RandomState(0).normal(size=(3, 4))
    save_array(array, str(tmp_path / "a.h5"))
    assert np.array_equal(load_array(str(tmp_path / "a.h5")), array)
    with pytest.raises(UnavailableError, match="load_array"):
        load_array(str(tmp_path / "b.h5"))


def test_a_layout_that_there_is_not_is_refused() -> None:
    with keras_imports():
        from keras.initializations import get_fans
        from keras.utils.np_utils import convert_kernel
    for work in (
        lambda: convert_kernel(np.zeros((2, 2, 1, 1)), "ft"),
        lambda: get_fans((2, 2, 1, 1), "ft"),
        lambda: K.atrous_conv2d(K.ones((1, 3, 3, 1)), K.ones((2, 2, 1, 1)), dim_ordering="ft"),
        lambda: K.set_legacy_weight_ordering("no"),
    ):
        with pytest.raises(ArgumentError, match="expected"):
            work()
    assert K.legacy_weight_ordering() is False
    assert K.int_shape(K.atrous_conv2d(K.ones((1, 5, 5, 1)), K.ones((2, 2, 1, 3)), 2)) == (
        1,
        3,
        3,
        3,
    )
