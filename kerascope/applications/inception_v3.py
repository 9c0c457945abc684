"""Inception V3: blocks whose branches look at an image through windows of several sizes.

A 7x7 window is replaced by a 1x7 and a 7x1 window, and a 5x5 window by two 3x3 windows.

References
----------
.. [1] C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens, Z. Wojna, "Rethinking the Inception
   architecture for computer vision", 2015.
"""

from __future__ import annotations

from typing import Any

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.engine.model import Model

__all__ = ["InceptionV3", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("tf")


def InceptionV3(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 48 layers of convolutions; arguments and errors as for `vgg.VGG16`.

    Images are 299 by 299 by default, and at least 75.
    """
    parts.check_weights("inception_v3", weights)
    inputs = parts.images(
        "inception_v3", input_shape, input_tensor, size=299, smallest=75, include_top=include_top
    )
    x = _seen(inputs, 32, 3, strides=2, padding="valid")
    x = _seen(x, 32, 3, padding="valid")
    x = layers.MaxPooling2D(3, strides=2)(_seen(x, 64, 3))
    x = _seen(x, 80, 1, padding="valid")
    x = layers.MaxPooling2D(3, strides=2)(_seen(x, 192, 3, padding="valid"))
    for index, pool_filters in enumerate((32, 64, 64)):
        x = _windows_of_5(x, pool_filters, f"mixed{index}")
    x = _halved_after_5(x, "mixed3")
    for index, filters in enumerate((128, 160, 160, 192), start=4):
        x = _windows_of_7(x, filters, f"mixed{index}")
    x = _halved_after_7(x, "mixed8")
    for index in (0, 1):
        x = _spread_windows(x, index, f"mixed{9 + index}")
    outputs = parts.ending(x, include_top, classes, pooling)
    return parts.finished(inputs, outputs, "inception_v3", weights)


def _seen(x: Tensor, filters: int, window: Any, strides: int = 1, padding: str = "same") -> Tensor:
    """Return x after a convolution without bias, a normalization and a relu."""
    y = parts.convolved(x, filters, window, strides=strides, padding=padding, use_bias=False)
    return parts.relu(parts.normalized(y, scale=False))


def _seen_through(x: Tensor, filters: int, *windows: Any) -> Tensor:
    for window in windows:
        x = _seen(x, filters, window)
    return x


def _mean_of_3(x: Tensor) -> Any:
    return layers.AveragePooling2D(3, strides=1, padding="same")(x)


def _side_by_side(branches: list[Tensor], name: str | None = None) -> Tensor:
    return layers.Concatenate(axis=parts.channel_axis(), name=name)(branches)


def _windows_of_5(x: Tensor, pool_filters: int, name: str) -> Tensor:
    one = _seen(x, 64, 1)
    five = _seen(_seen(x, 48, 1), 64, 5)
    double = _seen_through(_seen(x, 64, 1), 96, 3, 3)
    mean = _seen(_mean_of_3(x), pool_filters, 1)
    return _side_by_side([one, five, double, mean], name)


def _halved_after_5(x: Tensor, name: str) -> Tensor:
    three = _seen(x, 384, 3, strides=2, padding="valid")
    double = _seen(_seen(x, 64, 1), 96, 3)
    double = _seen(double, 96, 3, strides=2, padding="valid")
    return _side_by_side([three, double, layers.MaxPooling2D(3, strides=2)(x)], name)


def _windows_of_7(x: Tensor, filters: int, name: str) -> Tensor:
    wide, high = (1, 7), (7, 1)
    one = _seen(x, 192, 1)
    seven = _seen(_seen_through(x, filters, 1, wide), 192, high)
    double = _seen(_seen_through(x, filters, 1, high, wide, high), 192, wide)
    mean = _seen(_mean_of_3(x), 192, 1)
    return _side_by_side([one, seven, double, mean], name)


def _halved_after_7(x: Tensor, name: str) -> Tensor:
    three = _seen(_seen(x, 192, 1), 320, 3, strides=2, padding="valid")
    seven = _seen_through(x, 192, 1, (1, 7), (7, 1))
    seven = _seen(seven, 192, 3, strides=2, padding="valid")
    return _side_by_side([three, seven, layers.MaxPooling2D(3, strides=2)(x)], name)


def _spread_windows(x: Tensor, index: int, name: str) -> Tensor:
    one = _seen(x, 320, 1)
    three = _seen(x, 384, 1)
    three = _side_by_side([_seen(three, 384, (1, 3)), _seen(three, 384, (3, 1))], f"mixed9_{index}")
    double = _seen(_seen(x, 448, 1), 384, 3)
    double = _side_by_side([_seen(double, 384, (1, 3)), _seen(double, 384, (3, 1))])
    mean = _seen(_mean_of_3(x), 192, 1)
    return _side_by_side([one, three, double, mean], name)
