"""Xception: an extreme form of Inception, with separable convolutions.

References
----------
.. [1] F. Chollet, "Xception: deep learning with depthwise separable convolutions", 2016.
"""

from __future__ import annotations

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.engine.model import Model

__all__ = ["Xception", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("tf")


def Xception(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the Xception network; arguments and errors as for `vgg.VGG16`.

    Images are 299 by 299 by default, and at least 71.
    """
    parts.check_weights("xception", weights)
    inputs = parts.images(
        "xception", input_shape, input_tensor, size=299, smallest=71, include_top=include_top
    )
    x = parts.convolved(inputs, 32, 3, strides=2, use_bias=False, name="block1_conv1")
    x = parts.relu(parts.normalized(x, "block1_conv1_bn"), "block1_conv1_act")
    x = parts.convolved(x, 64, 3, use_bias=False, name="block1_conv2")
    x = parts.relu(parts.normalized(x, "block1_conv2_bn"), "block1_conv2_act")
    for block, filters in ((2, 128), (3, 256), (4, 728)):
        x = _halving_block(x, (filters, filters), block, begins_with_relu=block > 2)
    for block in range(5, 13):
        x = _even_block(x, block)
    x = _halving_block(x, (728, 1024), 13, begins_with_relu=True)
    for index, filters in ((1, 1536), (2, 2048)):
        x = _separated(x, filters, f"block14_sepconv{index}")
        x = parts.relu(x, f"block14_sepconv{index}_act")
    outputs = parts.ending(x, include_top, classes, pooling)
    return parts.finished(inputs, outputs, "xception", weights)


def _separated(x: Tensor, filters: int, name: str) -> Tensor:
    layer = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)
    return parts.normalized(layer(x), f"{name}_bn")


def _halving_block(
    x: Tensor, filters: tuple[int, int], block: int, *, begins_with_relu: bool
) -> Tensor:
    shortcut = parts.convolved(x, filters[1], 1, strides=2, padding="same", use_bias=False)
    shortcut = parts.normalized(shortcut)
    if begins_with_relu:
        x = parts.relu(x, f"block{block}_sepconv1_act")
    x = _separated(x, filters[0], f"block{block}_sepconv1")
    x = parts.relu(x, f"block{block}_sepconv2_act")
    x = _separated(x, filters[1], f"block{block}_sepconv2")
    x = layers.MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
    return layers.Add()([x, shortcut])


def _even_block(x: Tensor, block: int) -> Tensor:
    shortcut = x
    for index in (1, 2, 3):
        x = parts.relu(x, f"block{block}_sepconv{index}_act")
        x = _separated(x, 728, f"block{block}_sepconv{index}")
    return layers.Add()([x, shortcut])
