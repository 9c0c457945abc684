"""Dialect 2.2's numbers by hand, in plain NumPy, as Keras 2.2.4 defines them.

Elsewhere: each optimizer's steps in `optimizer_reference.py`, each loss's formula where nothing is
cut off in `test_losses.py`, the moving averages in `layers/test_normalization.py`. Here: where a
loss cuts off, what masks and sample weights do to losses and metrics, and how wide the initializers
draw.
"""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import initializers, losses
from kerascope.layers import Activation, Input, Masking
from kerascope.models import Model
from kerascope.settings import config

EPSILON = 1e-7


@pytest.fixture(autouse=True)
def _dialect_2(monkeypatch):
    monkeypatch.setattr(config, "dialect", "2.2")


# --- where losses cut off -------------------------------------------------------------------------

# Rows of targets and predictions at the ends of what the loss is made for, and beyond them.
NUMBERS = np.array([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]]), np.array([[0.5, -3.0, 2.0], [0.0, 7.0, 3]])
SHARES = np.array([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]), np.array([[0.0, 0.4, 2.0], [1.0, 0.0, 3.0]])


def inside(p):
    return np.clip(p, EPSILON, 1 - EPSILON)


def percentages(y, p):
    return 100 * np.mean(abs((y - p) / np.maximum(abs(y), EPSILON)), axis=-1)


def logarithms(y, p):
    y, p = np.maximum(y, EPSILON), np.maximum(p, EPSILON)
    return np.mean((np.log(p + 1) - np.log(y + 1)) ** 2, axis=-1)


def divergence(y, p):
    y, p = np.clip(y, EPSILON, 1), np.clip(p, EPSILON, 1)
    return np.sum(y * np.log(y / p), axis=-1)


def crossentropy(y, p):
    p = p / p.sum(axis=-1, keepdims=True)  # shares that do not add up to 1 are scaled first
    return -np.sum(y * np.log(inside(p)), axis=-1)


def binary(y, p):
    return -np.mean(y * np.log(inside(p)) + (1 - y) * np.log(1 - inside(p)), axis=-1)


ENDS = {
    "mean_absolute_percentage_error": (NUMBERS, percentages),
    "mean_squared_logarithmic_error": (NUMBERS, logarithms),
    "kullback_leibler_divergence": (SHARES, divergence),
    "categorical_crossentropy": (SHARES, crossentropy),
    "binary_crossentropy": (SHARES, binary),
    "poisson": (SHARES, lambda y, p: np.mean(p - y * np.log(p + EPSILON), axis=-1)),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_loss_cuts_off_where_keras_2_does(name, monkeypatch):
    monkeypatch.setattr(config, "floatx", "float64")
    (y_true, y_pred), formula = ENDS[name]
    result = K.eval(losses.get(name)(K.constant(y_true), K.constant(y_pred)))
    np.testing.assert_allclose(result, formula(y_true, y_pred), rtol=1e-6, atol=1e-9)


# --- masks and sample weights ---------------------------------------------------------------------


def total(scores, mask=None, weights=None):
    """Return the number that Keras 2 makes of a score for each time step of each sample."""
    if mask is not None:
        scores = scores * mask / mask.mean()
    if weights is not None:
        if weights.ndim < scores.ndim:
            scores = scores.mean(axis=-1)
        scores = scores * weights / (weights != 0).mean()
    return scores.mean()


ROWS = {
    "mse": lambda y, p: np.mean((y - p) ** 2, axis=-1),
    "mae": lambda y, p: np.mean(abs(y - p), axis=-1),
    "logcosh": lambda y, p: np.mean(np.log(np.cosh(y - p)), axis=-1),
}
WEIGHTS = {
    "none": None,
    "each_sample": np.array([0.5, 0.0, 2.0, 1.0]),
    "each_step": np.array([[1.0, 2, 0], [0, 0, 0], [0.3, 1, 1], [3, 1, 0.1]]),
}


@pytest.mark.parametrize("has_mask", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ROWS)
def test_masks_and_sample_weights_count_as_in_keras_2(name, weights, has_mask):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 3, 2))
    mask = np.array([[1.0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    x = x * mask[..., None]
    inputs = Input((3, 2))
    outputs = Activation("linear")(Masking()(inputs) if has_mask else inputs)
    model = Model(inputs, outputs)
    given = WEIGHTS[weights]
    mode = "temporal" if weights == "each_step" else None
    model.compile("sgd", name, ["mae"], sample_weight_mode=mode, weighted_metrics=["mse"])
    results = model.evaluate(x, y, sample_weight=given, verbose=0)
    kept = mask if has_mask else None
    expected = [
        total(ROWS[name](y, x), kept, given),
        total(ROWS["mae"](y, x), kept),  # metrics heed the mask, and no weights
        total(ROWS["mse"](y, x), kept, given),
    ]
    np.testing.assert_allclose(results, expected, rtol=1e-5)


# --- how wide initializers draw -------------------------------------------------------------------

FAN_IN, FAN_OUT = 300, 500
CUT = 0.87962566103423978  # deviation of a normal distribution of which two deviations are kept

VARIANCES = {
    "glorot_uniform": 2 / (FAN_IN + FAN_OUT),
    "glorot_normal": 2 / (FAN_IN + FAN_OUT),
    "he_uniform": 2 / FAN_IN,
    "he_normal": 2 / FAN_IN,
    "lecun_uniform": 1 / FAN_IN,
    "lecun_normal": 1 / FAN_IN,
    "random_normal": 0.05**2,
    "random_uniform": 0.05**2 / 3,
    "truncated_normal": (0.05 * CUT) ** 2,
    "orthogonal": 1 / FAN_OUT,
}


@pytest.mark.parametrize("name", VARIANCES)
def test_an_initializer_draws_with_the_variance_of_keras_2(name):
    initializer = initializers.deserialize({"class_name": name, "config": {"seed": 3}})
    numbers = initializer((FAN_IN, FAN_OUT), dtype="float64")
    deviation = np.sqrt(VARIANCES[name])
    assert abs(numbers.mean()) < 0.02 * deviation
    np.testing.assert_allclose(numbers.std(), deviation, rtol=0.01)
    if "uniform" in name:
        assert abs(numbers).max() <= np.sqrt(3) * deviation
    elif name not in ("random_normal", "orthogonal"):
        assert abs(numbers).max() <= 2 * deviation / CUT
