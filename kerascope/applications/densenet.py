"""DenseNet121, 169 and 201: every layer of a block sees the outputs of all layers before it.

References
----------
.. [1] G. Huang, Z. Liu, L. van der Maaten, K. Q. Weinberger, "Densely connected convolutional
   networks", 2016.
"""

from __future__ import annotations

from functools import partial

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.configurable import by_name
from kerascope.engine.model import Model

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("torch")

GROWTH = 32  # channels that each layer of a block adds
_normalized = partial(parts.normalized, epsilon=1.001e-5)
_convolved = partial(parts.convolved, use_bias=False)


def DenseNet121(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 121 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _densenet("densenet121", (6, 12, 24, 16), **by_name(locals()))


def DenseNet169(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 169 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _densenet("densenet169", (6, 12, 32, 32), **by_name(locals()))


def DenseNet201(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 201 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _densenet("densenet201", (6, 12, 48, 32), **by_name(locals()))


def _densenet(
    name: str,
    blocks: tuple[int, ...],
    include_top: bool,
    weights: parts.Weights,
    input_tensor: Tensor | None,
    input_shape: parts.ImageShape,
    pooling: str | None,
    classes: int,
) -> Model:
    parts.check_weights(name, weights)
    inputs = parts.images(
        name, input_shape, input_tensor, size=224, smallest=32, include_top=include_top
    )
    x = _convolved(layers.ZeroPadding2D(3)(inputs), 64, 7, strides=2, name="conv1_conv")
    x = parts.relu(_normalized(x, "conv1_bn"), "conv1_relu")
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(layers.ZeroPadding2D(1)(x))
    for stack, count in enumerate(blocks, start=2):
        for index in range(1, count + 1):
            x = _joined(x, f"conv{stack}_block{index}")
        if stack < len(blocks) + 1:
            x = _halved(x, f"pool{stack}")
    x = parts.relu(_normalized(x, "bn"), "relu")
    return parts.finished(inputs, parts.ending(x, include_top, classes, pooling), name, weights)


def _joined(x: Tensor, name: str) -> Tensor:
    """Return x with `GROWTH` channels appended, which two convolutions compute from x."""
    y = parts.relu(_normalized(x, f"{name}_0_bn"), f"{name}_0_relu")
    y = _convolved(y, 4 * GROWTH, 1, name=f"{name}_1_conv")
    y = parts.relu(_normalized(y, f"{name}_1_bn"), f"{name}_1_relu")
    y = _convolved(y, GROWTH, 3, padding="same", name=f"{name}_2_conv")
    return layers.Concatenate(axis=parts.channel_axis(), name=f"{name}_concat")([x, y])


def _halved(x: Tensor, name: str) -> Tensor:
    """Return a tensor computed from x with half the channels, height and width."""
    x = parts.relu(_normalized(x, f"{name}_bn"), f"{name}_relu")
    x = _convolved(x, parts.channels_of(x) // 2, 1, name=f"{name}_conv")
    return layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)
