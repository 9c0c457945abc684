"""ResNet50, ResNet101 and ResNet152: blocks that add a function of their input to the input.

References
----------
.. [1] K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition", 2015.
"""

from __future__ import annotations

from functools import partial

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.configurable import by_name
from kerascope.engine.model import Model

__all__ = ["ResNet50", "ResNet101", "ResNet152", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("caffe")

_normalized = partial(parts.normalized, epsilon=1.001e-5)


def ResNet50(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 50 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _resnet("resnet50", (3, 4, 6, 3), **by_name(locals()))


def ResNet101(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 101 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _resnet("resnet101", (3, 4, 23, 3), **by_name(locals()))


def ResNet152(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 152 layers with weights; arguments and errors as for `vgg.VGG16`."""
    return _resnet("resnet152", (3, 8, 36, 3), **by_name(locals()))


def _resnet(
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
    x = layers.ZeroPadding2D(3, name="conv1_pad")(inputs)
    x = parts.convolved(x, 64, 7, strides=2, name="conv1_conv")
    x = parts.relu(_normalized(x, "conv1_bn"), "conv1_relu")
    x = layers.ZeroPadding2D(1, name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stack, (count, filters) in enumerate(
        zip(blocks, (64, 128, 256, 512), strict=True), start=2
    ):
        for index in range(1, count + 1):
            strides = 2 if index == 1 and stack > 2 else 1
            prefix = f"conv{stack}_block{index}"
            x = _block(x, filters, strides, prefix, widens=index == 1)
    return parts.finished(inputs, parts.ending(x, include_top, classes, pooling), name, weights)


def _block(x: Tensor, filters: int, strides: int, name: str, *, widens: bool) -> Tensor:
    """Return relu(x + f(x)). If f changes the shape, x is convolved to the new shape."""
    shortcut = x
    if widens:
        shortcut = parts.convolved(x, 4 * filters, 1, strides=strides, name=f"{name}_0_conv")
        shortcut = _normalized(shortcut, f"{name}_0_bn")
    x = parts.convolved(x, filters, 1, strides=strides, name=f"{name}_1_conv")
    x = parts.relu(_normalized(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = parts.convolved(x, filters, 3, padding="same", name=f"{name}_2_conv")
    x = parts.relu(_normalized(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = _normalized(parts.convolved(x, 4 * filters, 1, name=f"{name}_3_conv"), f"{name}_3_bn")
    return parts.relu(layers.Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")
