"""Initializers by their statistics: the formulas of Keras's documentation, and the real Keras 3."""

import math

import numpy as np
import pytest
from keras_reference import keras

from kerascope import initializers

pytestmark = pytest.mark.usefixtures("answers")

SHAPES = [(300, 200), (3, 3, 40, 80), (5, 60, 100)]

# name, scale, which fan, is it uniform
SCALED = [
    ("glorot_uniform", 1.0, "avg", True),
    ("glorot_normal", 1.0, "avg", False),
    ("he_uniform", 2.0, "in", True),
    ("he_normal", 2.0, "in", False),
    ("lecun_uniform", 1.0, "in", True),
    ("lecun_normal", 1.0, "in", False),
]


def fan(kind, shape):
    field = math.prod(shape[:-2])
    fans = {"in": field * shape[-2], "out": field * shape[-1]}
    return {**fans, "avg": (fans["in"] + fans["out"]) / 2}[kind]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "scale", "kind", "uniform"), SCALED)
def test_scaled_initializer_has_the_documented_spread(name, scale, kind, uniform, shape):
    stddev = math.sqrt(scale / fan(kind, shape))
    values = initializers.get(name)(shape)
    assert values.std() == pytest.approx(stddev, rel=0.02)
    assert abs(values.mean()) < 5 * stddev / math.sqrt(values.size)
    bound = math.sqrt(3) * stddev if uniform else 2 * stddev / 0.87962566103423978
    assert 0.99 * bound < abs(values).max() <= bound * (1 + 1e-6)


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg"])
@pytest.mark.parametrize("distribution", ["uniform", "truncated_normal", "untruncated_normal"])
def test_variance_scaling_spreads_like_keras_3(mode, distribution):
    shape = (3, 3, 20, 60)
    arguments = {"scale": 1.7, "mode": mode, "distribution": distribution, "seed": 1}
    ours = initializers.VarianceScaling(**arguments)(shape)
    real = keras.initializers.VarianceScaling(**arguments)(shape)
    assert ours.std() == pytest.approx(float(keras.ops.std(real)), rel=0.04)
    if distribution != "untruncated_normal":
        assert abs(ours).max() == pytest.approx(float(keras.ops.max(abs(real))), rel=0.01)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("RandomNormal", {"mean": 0.5, "stddev": 0.1}),
        ("RandomUniform", {"minval": -0.2, "maxval": 0.4}),
        ("TruncatedNormal", {"mean": 0.5, "stddev": 0.1}),
    ],
)
def test_random_initializer_spreads_like_keras_3(name, options):
    ours = getattr(initializers, name)(**options, seed=2)((200, 300))
    real = getattr(keras.initializers, name)(**options, seed=2)((200, 300))
    assert ours.mean() == pytest.approx(float(keras.ops.mean(real)), abs=0.005)
    assert ours.std() == pytest.approx(float(keras.ops.std(real)), rel=0.02)


@pytest.mark.parametrize(
    ("name", "options"),
    [("Zeros", {}), ("Ones", {}), ("Constant", {"value": 3.0}), ("Identity", {"gain": 2.0})],
)
def test_fixed_initializer_equals_keras_3(name, options):
    ours = getattr(initializers, name)(**options)((4, 4))
    assert np.array_equal(ours, np.asarray(getattr(keras.initializers, name)(**options)((4, 4))))


@pytest.mark.parametrize(
    "name", [name for name, *_ in SCALED] + ["orthogonal", "identity", "zeros"]
)
def test_configuration_written_by_keras_3_is_read(name):
    config = keras.initializers.serialize(keras.initializers.get(name))
    assert initializers.get(config)((4, 4)).shape == (4, 4)
    assert type(initializers.get(config)) is type(initializers.get(name))
