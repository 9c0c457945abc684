"""Sizes and ends that only a run knows, in `keras.ops`: inside a layer, on symbols and on arrays.

Each row would find a function that hands such a tensor to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kerascope import Input, K, Model, layers, models
from kerascope.errors import DtypeError
from kerascope.layers.ops import keras_ops as ops
from kerascope.settings import config

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32")


@pytest.fixture(autouse=True)
def _dialect_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "dialect", "3")


class Calling(layers.Layer):
    """Calls a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


ROWS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "zeros": (lambda x: x + ops.zeros((ops.shape(x)[0], 3)), X),
    "ones": (lambda x: x + ops.ones((ops.shape(x)[0], 1)), X + 1),
    "ones of a type": (lambda x: x + ops.ones((*ops.shape(x)[:1], 3), "int32"), X + 1),
    "full": (lambda x: x + ops.full((ops.shape(x)[0], 3), 2.0), X + 2),
    "full of a tensor": (lambda x: x + ops.full((ops.shape(x)[0], 3), ops.max(x)), X + 6),
    "empty": (lambda x: ops.shape(ops.empty((ops.shape(x)[0], 3)))[0] * x, 2 * X),
    "eye": (lambda x: ops.matmul(ops.eye(ops.shape(x)[0]), x), X),
    "identity": (lambda x: ops.matmul(ops.identity(ops.shape(x)[0]), x), X),
    "tri": (lambda x: ops.matmul(ops.tri(ops.shape(x)[0]), x), np.cumsum(X, 0)),
    "repeat": (lambda x: x + ops.repeat(X[:1], ops.shape(x)[0], axis=0), X + X[:1]),
    "repeat all": (lambda x: ops.repeat(x, ops.shape(x)[0], axis=-1)[:, :3], X[:, [0, 0, 1]]),
    "linspace": (
        lambda x: x + ops.linspace(ops.log(1.0), ops.log(1000.0), 3),
        X + np.linspace(0, np.log(1000), 3, dtype="float32"),
    ),
    "linspace of x": (
        lambda x: x + ops.linspace(ops.min(x), ops.max(x), 3),
        np.add(X, [1, 3.5, 6]),
    ),
    "one_hot": (
        lambda x: x + ops.one_hot(ops.zeros(ops.shape(x)[:1], "int32"), 3),
        np.add(X, [1, 0, 0]),
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_size_may_be_known_at_run_time_only(row: str) -> None:
    function, expected = ROWS[row]
    x = Input((3,))
    for found in (Model(x, Calling(function)(x)).predict(X, verbose=0), Calling(function)(X)):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
        assert np.asarray(found).dtype == np.float32


def test_the_losses_of_a_layer_are_numbers_after_a_call_on_arrays() -> None:
    class Activity(layers.Layer):
        def call(self, inputs: Any) -> Any:
            self.add_loss(ops.sum(inputs))
            return inputs

    layer = layers.Dense(2, kernel_regularizer="l2")
    layer(X)
    assert float(layer.losses[0]) == pytest.approx(0.01 * (layer.get_weights()[0] ** 2).sum())
    layer = Activity()
    layer(X)
    assert float(layer.losses[0]) == int(layer.losses[0]) == 21
    with pytest.raises(DtypeError, match=r"float\(\) needs a number, and a symbolic tensor has"):
        float(K.sum(Input((3,))))


@pytest.mark.parametrize("name", ["square", "relu"])
def test_a_lambda_of_an_operation_comes_back_from_a_file(name: str, tmp_path: Any) -> None:
    """Keras 3 writes the name alone, `square`, which it cannot read itself."""
    x = Input((3,))
    model = Model(x, layers.Lambda(getattr(ops, name))(x))
    model.save(tmp_path / "model.keras")
    again = models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))


def test_a_function_of_your_own_goes_before_the_operation_of_its_name(tmp_path: Any) -> None:
    def square(x: Any) -> Any:
        return x + 1

    x = Input((3,))
    Model(x, layers.Lambda(square)(x)).save(tmp_path / "model.keras")
    again = models.load_model(tmp_path / "model.keras", custom_objects={"square": square})
    np.testing.assert_array_equal(again.predict(X, verbose=0), X + 1)
