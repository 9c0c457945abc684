"""Layers of convolution against the real Keras 3: same weights, same data, outputs, gradients."""

import runpy
from pathlib import Path

import pytest
from keras_reference import generator, keras

from kerascope import layers

pytestmark = pytest.mark.usefixtures("answers")

compare = runpy.run_path(str(Path(__file__).with_name("test_layers_keras3.py")))["compare"]

rng = generator(5)

STEPS, IMAGES, VOLUMES = (2, 9, 4), (2, 8, 7, 4), (2, 5, 6, 4, 2)


def floats(*shape):
    return rng.normal(size=shape).astype("float32")


def agree(name, shape, **arguments):
    compare(name, arguments, [floats(*shape)], rtol=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [
        {"filters": 3, "kernel_size": 3},
        {"filters": 3, "kernel_size": 4, "padding": "same", "strides": 2},
        {"filters": 3, "kernel_size": 3, "padding": "causal", "dilation_rate": 2},
        {"filters": 4, "kernel_size": 3, "groups": 2, "activation": "relu"},
        {"filters": 3, "kernel_size": 3, "data_format": "channels_first", "padding": "same"},
    ],
)
def test_conv1d_agrees(arguments):
    agree("Conv1D", STEPS, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 3, "activation": "relu"},
        {"kernel_size": (3, 2), "padding": "same"},
        {"kernel_size": (3, 4), "padding": "same", "strides": (2, 3), "use_bias": False},
        {"kernel_size": 1, "strides": 2, "padding": "same"},
        {"kernel_size": 3, "dilation_rate": (1, 2), "padding": "same"},
        {"kernel_size": 3, "groups": 2},
        {"kernel_size": 3, "padding": "same", "data_format": "channels_first"},
    ],
)
def test_conv2d_agrees(arguments):
    agree("Conv2D", IMAGES, filters=4, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": (3, 2, 1), "padding": "same", "strides": (2, 1, 2)},
        {"kernel_size": 2, "data_format": "channels_first"},
    ],
)
def test_conv3d_agrees(arguments):
    agree("Conv3D", VOLUMES, filters=2, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 3, "strides": 2},
        {"kernel_size": 2, "strides": 3},
        {"kernel_size": (3, 4), "strides": (2, 3), "padding": "same"},
        {"kernel_size": 4, "strides": 2, "padding": "same", "use_bias": False},
        {"kernel_size": 3, "strides": (2, 3), "output_padding": (1, 2)},
        {"kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 0},
        {"kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
        {"kernel_size": 4, "strides": 3, "padding": "same", "output_padding": 2},
        {"kernel_size": 3, "dilation_rate": 2},
        {"kernel_size": 3, "strides": 2, "padding": "same", "data_format": "channels_first"},
    ],
)
def test_conv2d_transpose_agrees(arguments):
    agree("Conv2DTranspose", IMAGES, filters=3, **arguments)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    ("name", "shape"), [("Conv1DTranspose", STEPS), ("Conv3DTranspose", VOLUMES)]
)
def test_other_transposed_convolutions_agree(name, shape, padding):
    agree(name, shape, filters=2, kernel_size=3, strides=2, padding=padding)


@pytest.mark.parametrize(
    ("name", "shape", "arguments"),
    [
        ("DepthwiseConv1D", STEPS, {"kernel_size": 3, "depth_multiplier": 2, "strides": 2}),
        ("DepthwiseConv2D", IMAGES, {"kernel_size": 3, "depth_multiplier": 2, "padding": "same"}),
        ("DepthwiseConv2D", IMAGES, {"kernel_size": 3, "strides": 2, "padding": "same"}),
        ("DepthwiseConv2D", IMAGES, {"kernel_size": 2, "dilation_rate": 2}),
        ("DepthwiseConv2D", IMAGES, {"kernel_size": 2, "data_format": "channels_first"}),
        ("SeparableConv1D", STEPS, {"filters": 3, "kernel_size": 3, "dilation_rate": 2}),
        ("SeparableConv2D", IMAGES, {"filters": 3, "kernel_size": 3, "activation": "relu"}),
        (
            "SeparableConv2D",
            IMAGES,
            {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same"},
        ),
        (
            "SeparableConv2D",
            IMAGES,
            {"filters": 3, "kernel_size": (2, 3), "depth_multiplier": 2, "use_bias": False},
        ),
    ],
)
def test_depthwise_and_separable_convolutions_agree(name, shape, arguments):
    agree(name, shape, **arguments)


CONFIGURED = {
    "Conv1D": {"filters": 2, "kernel_size": 3},
    "Conv2D": {"filters": 2, "kernel_size": 3},
    "Conv3D": {"filters": 2, "kernel_size": 3},
    "Conv1DTranspose": {"filters": 2, "kernel_size": 3},
    "Conv2DTranspose": {"filters": 2, "kernel_size": 3},
    "Conv3DTranspose": {"filters": 2, "kernel_size": 3},
    "DepthwiseConv1D": {"kernel_size": 3},
    "DepthwiseConv2D": {"kernel_size": 3},
    "SeparableConv1D": {"filters": 2, "kernel_size": 3},
    "SeparableConv2D": {"filters": 2, "kernel_size": 3},
}


@pytest.mark.parametrize("name", CONFIGURED)
def test_configurations_name_the_same_arguments(name):
    mine = getattr(layers, name)(**CONFIGURED[name]).get_config()
    real = getattr(keras.layers, name)(**CONFIGURED[name]).get_config()
    assert set(real) - {"lora_rank", "lora_alpha", "quantization_config"} == set(mine)
    for argument in ("kernel_size", "strides", "padding", "data_format", "use_bias"):
        ours, theirs = mine[argument], real[argument]
        assert ours == (list(theirs) if isinstance(theirs, tuple) else theirs)
