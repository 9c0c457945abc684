"""Cases of the layers of convolution for test_contract.py."""

import numpy as np
from layer_contract import LayerCase

from kerascope.layers import (
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    DepthwiseConv1D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
)

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.normal(size=shape)


STEPS, IMAGES, VOLUMES = floats(2, 5, 2), floats(2, 4, 3, 2), floats(1, 3, 2, 3, 2)
FIRST = floats(2, 2, 4, 3)  # images with the channels first


CASES = [
    LayerCase(lambda: Conv1D(3, 2), [STEPS]),
    LayerCase(lambda: Conv1D(2, 3, padding="causal", dilation_rate=2, activation="tanh"), [STEPS]),
    LayerCase(lambda: Conv1D(2, 2, 2, "same", data_format="channels_first"), [STEPS]),
    LayerCase(lambda: Conv1D(4, 2, groups=2, use_bias=False), [STEPS]),
    LayerCase(lambda: Conv2D(3, 2), [IMAGES]),
    LayerCase(
        lambda: Conv2D(
            2,
            (3, 2),
            strides=(2, 1),
            padding="same",
            activation="sigmoid",
            kernel_initializer="he_normal",
            bias_initializer="ones",
            kernel_regularizer="l2",
            bias_regularizer="l1",
            activity_regularizer="l2",
            kernel_constraint="max_norm",
            bias_constraint="non_neg",
        ),
        [IMAGES],
    ),
    LayerCase(lambda: Conv2D(2, 2, dilation_rate=(2, 1), use_bias=False), [IMAGES]),
    LayerCase(lambda: Conv2D(2, 2, data_format="channels_first", padding="full"), [FIRST]),
    LayerCase(lambda: Conv2D(4, (1, 2), groups=2), [IMAGES]),
    LayerCase(lambda: Conv3D(2, 2), [VOLUMES]),
    LayerCase(
        lambda: Conv3D(2, (2, 1, 2), (1, 1, 2), "same", data_format="channels_first"),
        [floats(1, 2, 3, 2, 3)],
    ),
    LayerCase(lambda: Conv1DTranspose(2, 3, 2), [STEPS]),
    LayerCase(
        lambda: Conv1DTranspose(2, 3, 3, "same", output_padding=1, data_format="channels_first"),
        [STEPS],
    ),
    LayerCase(lambda: Conv2DTranspose(2, 3), [IMAGES]),
    LayerCase(
        lambda: Conv2DTranspose(3, (2, 3), strides=2, padding="same", activation="tanh"), [IMAGES]
    ),
    LayerCase(
        lambda: Conv2DTranspose(2, 3, strides=(2, 3), output_padding=(1, 2), use_bias=False),
        [IMAGES],
    ),
    LayerCase(
        lambda: Conv2DTranspose(2, 2, data_format="channels_first", dilation_rate=2), [FIRST]
    ),
    LayerCase(lambda: Conv3DTranspose(2, 2, strides=(1, 2, 1)), [VOLUMES]),
    LayerCase(
        lambda: Conv3DTranspose(1, 2, padding="same", data_format="channels_first"),
        [floats(1, 2, 3, 2, 3)],
    ),
    LayerCase(lambda: DepthwiseConv1D(2, depth_multiplier=2), [STEPS]),
    LayerCase(lambda: DepthwiseConv1D(2, 2, "same", data_format="channels_first"), [STEPS]),
    LayerCase(lambda: DepthwiseConv2D(2), [IMAGES]),
    LayerCase(
        lambda: DepthwiseConv2D((3, 2), (2, 2), "same", 2, activation="tanh", use_bias=False),
        [IMAGES],
    ),
    LayerCase(
        lambda: DepthwiseConv2D(
            2,
            data_format="channels_first",
            depthwise_regularizer="l2",
            depthwise_constraint="max_norm",
            dilation_rate=2,
        ),
        [FIRST],
    ),
    LayerCase(lambda: SeparableConv1D(3, 2, depth_multiplier=2), [STEPS]),
    LayerCase(
        lambda: SeparableConv1D(
            2, 2, 1, "causal", "channels_first", pointwise_initializer="ones", activation="tanh"
        ),
        [STEPS],
    ),
    LayerCase(lambda: SeparableConv2D(3, 2), [IMAGES]),
    LayerCase(
        lambda: SeparableConv2D(
            3,
            (2, 3),
            strides=2,
            padding="same",
            depth_multiplier=2,
            use_bias=False,
            depthwise_regularizer="l2",
            pointwise_regularizer="l1",
            pointwise_constraint="max_norm",
        ),
        [IMAGES],
    ),
    LayerCase(
        lambda: SeparableConv2D(2, 2, data_format="channels_first", dilation_rate=2), [FIRST]
    ),
]
