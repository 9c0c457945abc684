"""MobileNet and MobileNetV2: depthwise convolutions, for small machines.

References
----------
.. [1] A. G. Howard and others, "MobileNets: efficient convolutional neural networks for mobile
   vision applications", 2017.
.. [2] M. Sandler, A. Howard, M. Zhu, A. Zhmoginov, L.-C. Chen, "MobileNetV2: inverted residuals
   and linear bottlenecks", 2018.
"""

from __future__ import annotations

from functools import partial

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.engine.model import Model

__all__ = ["MobileNet", "MobileNetV2", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("tf")

_convolved = partial(parts.convolved, padding="same", use_bias=False)
_normalized_v2 = partial(parts.normalized, epsilon=1e-3, momentum=0.999)
_V1_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5,
              (1024, 2), (1024, 1))  # fmt: skip
_V2_BLOCKS = (
    *[(16, 1)], *[(24, 2), (24, 1)], *[(32, 2), (32, 1), (32, 1)],
    *[(64, 2), (64, 1), (64, 1), (64, 1)], *[(96, 1), (96, 1), (96, 1)],
    *[(160, 2), (160, 1), (160, 1)], *[(320, 1)],
)  # fmt: skip


def MobileNet(
    input_shape: parts.ImageShape = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the first MobileNet; other arguments and errors as for `vgg.VGG16`.

    Parameters
    ----------
    alpha : float
        Factor by which the number of channels of every layer is multiplied.
    depth_multiplier : int
        Filters for each channel in the depthwise convolutions.
    dropout : float
        Fraction of the features that is dropped before the classifier.
    """
    parts.check_weights("mobilenet", weights)
    inputs = parts.images(
        "mobilenet", input_shape, input_tensor, size=224, smallest=32, include_top=include_top
    )
    x = _convolved(inputs, int(32 * alpha), 3, strides=2, name="conv1")
    x = _up_to_6(parts.normalized(x, "conv1_bn"), "conv1_relu")
    for number, (filters, strides) in enumerate(_V1_BLOCKS, start=1):
        x = _depthwise(x, strides, depth_multiplier, number)
        x = _convolved(x, int(filters * alpha), 1, name=f"conv_pw_{number}")
        x = _up_to_6(parts.normalized(x, f"conv_pw_{number}_bn"), f"conv_pw_{number}_relu")
    if include_top:
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Reshape((1, 1, int(1024 * alpha)), name="reshape_1")(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = parts.convolved(
            x, classes, 1, padding="same", data_format="channels_last", name="conv_preds"
        )
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation("softmax", name="predictions")(x)
    else:
        x = parts.pooled_features(x, pooling)
    return parts.finished(inputs, x, "mobilenet", weights)


def _depthwise(x: Tensor, strides: int, depth_multiplier: int, number: int) -> Tensor:
    if strides > 1:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    layer = layers.DepthwiseConv2D(
        3,
        padding="same" if strides == 1 else "valid",
        depth_multiplier=depth_multiplier,
        strides=strides,
        use_bias=False,
        name=f"conv_dw_{number}",
    )
    return _up_to_6(parts.normalized(layer(x), f"conv_dw_{number}_bn"), f"conv_dw_{number}_relu")


def _up_to_6(x: Tensor, name: str) -> Tensor:
    return layers.ReLU(6.0, name=name)(x)


def MobileNetV2(
    input_shape: parts.ImageShape = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return MobileNetV2; arguments as for `MobileNet`."""
    parts.check_weights("mobilenetv2", weights)
    inputs = parts.images(
        "mobilenetv2", input_shape, input_tensor, size=224, smallest=32, include_top=include_top
    )
    x = _convolved(inputs, _divisible(32 * alpha), 3, strides=2, name="Conv1")
    x = _up_to_6(_normalized_v2(x, "bn_Conv1"), "Conv1_relu")
    for number, (filters, strides) in enumerate(_V2_BLOCKS):
        x = _inverted_block(x, _divisible(filters * alpha), strides, number)
    last = _divisible(1280 * alpha) if alpha > 1 else 1280
    x = _convolved(x, last, 1, name="Conv_1")
    x = _up_to_6(_normalized_v2(x, "Conv_1_bn"), "out_relu")
    return parts.finished(
        inputs, parts.ending(x, include_top, classes, pooling), "mobilenetv2", weights
    )


def _inverted_block(x: Tensor, filters: int, strides: int, number: int) -> Tensor:
    """Return x after three convolutions: more channels, depthwise, fewer channels.

    The input is added if it has the shape of the output.
    """
    shortcut, channels = x, parts.channels_of(x)
    name = f"block_{number}" if number else "expanded_conv"
    if number:
        x = _convolved(x, 6 * channels, 1, name=f"{name}_expand")
        x = _up_to_6(_normalized_v2(x, f"{name}_expand_BN"), f"{name}_expand_relu")
    if strides == 2:
        x = layers.ZeroPadding2D(_padding_to_halve(x), name=f"{name}_pad")(x)
    layer = layers.DepthwiseConv2D(
        3,
        strides=strides,
        padding="same" if strides == 1 else "valid",
        use_bias=False,
        name=f"{name}_depthwise",
    )
    x = _up_to_6(_normalized_v2(layer(x), f"{name}_depthwise_BN"), f"{name}_depthwise_relu")
    x = _normalized_v2(_convolved(x, filters, 1, name=f"{name}_project"), f"{name}_project_BN")
    if strides == 1 and channels == filters:
        x = layers.Add(name=f"{name}_add")([shortcut, x])
    return x


def _padding_to_halve(x: Tensor) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the padding for a 3x3 window with strides of 2 that halves an image."""
    rows, columns = x.shape[2:4] if parts.channel_axis() == 1 else x.shape[1:3]
    return ((rows or 0) % 2, 1), ((columns or 0) % 2, 1)


def _divisible(channels: float) -> int:
    """Return a number rounded to a multiple of 8 that is at least 0.9 times the number."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near + 8 if near < 0.9 * channels else near
