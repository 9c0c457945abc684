"""No weight of a file is left out without a word: neither one too many, nor one too early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerascope import Input, Model, Sequential, layers
from kerascope.errors import DataError, KerascopeWarning

X = np.ones((2, 3), "float32")


def dense(**options: Any) -> Sequential:
    return Sequential([Input((3,)), layers.Dense(3, **options), layers.Dense(2)])


def normalized(**options: Any) -> Sequential:
    return Sequential([Input((3,)), layers.BatchNormalization(**options), layers.Dense(2)])


@pytest.mark.parametrize("name", ["w.weights.h5", "w.keras", "w.h5"])
@pytest.mark.parametrize(
    ("make", "options"),
    [(dense, {"use_bias": False}), (normalized, {"center": False}), (normalized, {"scale": False})],
)
def test_a_layer_with_fewer_weights_than_the_file_has_is_refused(make, options, name, tmp_path):
    model = make()
    (model.save if name.endswith("keras") else model.save_weights)(tmp_path / name)
    other = make(**options)
    before = other.get_weights()
    with pytest.raises(DataError, match="expected"):
        other.load_weights(tmp_path / name)
    for one, was in zip(other.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, was)


@pytest.mark.parametrize("name", ["w.weights.h5", "w.keras"])
def test_what_skip_mismatch_skips_is_told(name, tmp_path):
    model = dense()
    (model.save if name.endswith("keras") else model.save_weights)(tmp_path / name)
    other = dense(use_bias=False)
    kernel = other.get_weights()[0]
    with pytest.warns(KerascopeWarning, match=r"skipped: .*expected 1 weights .* got 2"):
        other.load_weights(tmp_path / name, skip_mismatch=True)
    np.testing.assert_array_equal(other.get_weights()[0], kernel)
    np.testing.assert_array_equal(other.get_weights()[1], model.get_weights()[2])


class Halves(Model):
    """Uses its second half only when it is told to."""

    def __init__(self, both: bool) -> None:
        super().__init__()
        self.first, self.second, self.both = layers.Dense(3), layers.Dense(3), both

    def call(self, x: Any) -> Any:
        return self.second(self.first(x)) if self.both else self.first(x)


@pytest.mark.parametrize("name", ["w.weights.h5", "w.h5"])
def test_weights_for_a_layer_that_was_never_called_are_refused(name, tmp_path):
    whole, half = Halves(both=True), Halves(both=False)
    whole(X), half(X)
    whole.save_weights(tmp_path / name)
    before = half.get_weights()
    with pytest.raises(DataError, match="weights"):
        half.load_weights(tmp_path / name)
    for one, was in zip(half.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, was)
    half.both = True
    half(X)
    half.load_weights(tmp_path / name)
    np.testing.assert_array_equal(half(X), whole(X))
