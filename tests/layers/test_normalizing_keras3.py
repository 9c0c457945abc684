"""LayerNormalization and its kin against the real Keras 3: same weights, outputs and gradients."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from keras_reference import keras

from kerascope import layers

pytestmark = pytest.mark.usefixtures("answers")

_helpers = runpy.run_path(str(Path(__file__).with_name("test_layers_keras3.py")))
compare, floats = _helpers["compare"], _helpers["floats"]

SHAPES = {2: (4, 6), 3: (4, 3, 6), 4: (2, 3, 4, 6)}


@pytest.mark.parametrize(
    ("ndim", "arguments"),
    [
        (2, {}),
        (3, {"epsilon": 0.1}),
        (3, {"axis": 1, "center": False}),
        (4, {"axis": [1, 2, 3]}),
        (4, {"axis": (1, 3), "scale": False}),
    ],
)
def test_layer_normalization_agrees(ndim, arguments):
    compare("LayerNormalization", arguments, [3 * floats(*SHAPES[ndim]) + 1])


@pytest.mark.parametrize(
    ("ndim", "arguments"),
    [
        (2, {"groups": 3}),
        (3, {"groups": 2, "epsilon": 0.1, "scale": False}),
        (4, {"groups": 1}),
        (4, {"groups": -1, "center": False}),
        (4, {"groups": 3, "axis": 1}),
    ],
)
def test_group_normalization_agrees(ndim, arguments):
    compare("GroupNormalization", arguments, [3 * floats(*SHAPES[ndim]) + 1])


@pytest.mark.parametrize("axis", [-1, [1, 2]])
def test_unit_normalization_agrees(axis):
    compare("UnitNormalization", {"axis": axis}, [floats(*SHAPES[3])])


@pytest.mark.parametrize("arguments", [{}, {"axis": (1, 2), "epsilon": 0.1}])
def test_rms_normalization_agrees(arguments):
    compare("RMSNormalization", arguments, [floats(*SHAPES[3])])


@pytest.mark.parametrize(
    "arguments", [{"scale": 0.1, "offset": -2.0}, {"scale": [1, 2, 3, 4, 5, 6]}]
)
def test_rescaling_agrees(arguments):
    compare("Rescaling", arguments, [floats(*SHAPES[3])])


@pytest.mark.parametrize("axis", [-1, (1, 2), None])
@pytest.mark.parametrize("invert", [False, True])
def test_normalization_adapts_as_in_keras_3(axis, invert):
    data, x = 3 * floats(20, 3, 4) + 1, floats(2, 3, 4)
    ours, real = (home.Normalization(axis=axis, invert=invert) for home in (layers, keras.layers))
    ours.adapt(data)
    real.adapt(data)
    np.testing.assert_allclose(ours(x), np.asarray(real(x)), rtol=1e-4, atol=1e-5)
    assert [w.shape for w in ours.get_weights()][:2] == [w.shape for w in real.variables][:2]
    for found, wanted in ((ours.mean, real.mean), (ours.variance, real.variance)):
        np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-4, atol=1e-5)
        assert found.shape == np.asarray(wanted).shape
    assert ours.get_config()["mean"] is real.get_config()["mean"] is None


def test_normalization_with_given_numbers_agrees():
    compare("Normalization", {"mean": [1.0, 2.0], "variance": [4.0, 9.0]}, [floats(3, 2)])
