"""Shared parts of the architectures: inputs, outputs and building blocks.

Each architecture is a function that returns a Model. Models and layers have Keras's names, so that
weights can be exchanged by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.engine.input_layer import Input
from kerascope.engine.model import Model
from kerascope.engine.node import get_source_inputs
from kerascope.errors import ArgumentError, ShapeError, UnavailableError
from kerascope.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    GlobalAveragePooling2D,
    GlobalMaxPooling2D,
)
from kerascope.layers.arguments import Sizes

Weights = str | PathLike[str] | None  # a file of weights; None for fresh weights
ImageShape = Sequence[int | None] | None


def images(
    where: str,
    input_shape: ImageShape,
    input_tensor: Tensor | None,
    *,
    size: int,
    smallest: int,
    include_top: bool,
    flexible: bool = True,
) -> Tensor:
    """Return the input tensor of a network for images.

    Parameters
    ----------
    where : str
        The architecture's name, for errors.
    input_shape : tuple, optional
        Shape of an image in the data format `K.image_data_format()`.
    input_tensor : Tensor, optional
        A tensor to use in place of a new one, from `Input` or a layer.
    size, smallest : int
        The default height and width, and the smallest for which every layer has an output.
    include_top : bool
        Whether the network has a classifier.
    flexible : bool
        False if the classifier's weights depend on the size, as with Flatten before Dense.

    Raises
    ------
    ShapeError
        If the shape is not a shape of images, is too small, or lacks a size that the classifier
        requires.
    """
    if input_tensor is not None:
        input_shape = input_tensor.shape[1:]
    elif input_shape is None:
        sides = (size, size) if include_top else (None, None)
        input_shape = (3, *sides) if K.image_data_format() == "channels_first" else (*sides, 3)
    _check_size(where, tuple(input_shape), smallest)
    if include_top and not flexible and None in input_shape:
        raise ShapeError(
            f"{where}: expected known sizes for include_top=True, got images of shape "
            f"{tuple(input_shape)}. Pass include_top=False."
        )
    if input_tensor is None:
        input_tensor = Input(shape=tuple(input_shape))
    elif not K.is_keras_tensor(input_tensor):
        input_tensor = Input(tensor=input_tensor)
    return input_tensor


def _check_size(where: str, shape: tuple[int | None, ...], smallest: int) -> None:
    sides = shape[1:] if K.image_data_format() == "channels_first" else shape[:-1]
    if len(shape) != 3 or any(n is not None and n < smallest for n in sides):
        raise ShapeError(
            f"{where}: expected a height and a width of at least {smallest}, and channels, in the "
            f"layout {K.image_data_format()!r}, got {shape}."
        )


def channel_axis() -> int:
    """Return the axis of the channels, counting the batch axis."""
    return 1 if K.image_data_format() == "channels_first" else 3


def channels_of(x: Tensor) -> int:
    """Return the number of channels of a tensor of images."""
    return int(x.shape[channel_axis()] or 0)


def normalized(x: Tensor, name: str | None = None, **kwargs: Any) -> Tensor:
    """Return the output of a new BatchNormalization of a tensor's channels."""
    layer = BatchNormalization(axis=channel_axis(), name=name, **kwargs)
    return layer(x)


def relu(x: Tensor, name: str | None = None) -> Tensor:
    """Return the output of a new relu layer for a tensor."""
    return Activation("relu", name=name)(x)


def convolved(x: Tensor, filters: int, kernel_size: Sizes, **kwargs: Any) -> Tensor:
    """Return the output of a new convolution layer for a tensor."""
    return Conv2D(filters, kernel_size, **kwargs)(x)


def ending(
    x: Tensor, include_top: bool, classes: int, pooling: str | None, activation: Any = "softmax"
) -> Tensor:
    """Return class probabilities, or without the classifier, features after the pooling.

    Raises
    ------
    ArgumentError
        If `pooling` is not None, "avg" or "max".
    """
    if include_top:
        pooled = GlobalAveragePooling2D(name="avg_pool")(x)
        return Dense(classes, activation=activation, name="predictions")(pooled)
    return pooled_features(x, pooling)


def pooled_features(x: Tensor, pooling: str | None) -> Tensor:
    """Return the feature maps for `pooling=None`, their means for "avg", or maxima for "max"."""
    layers = {"avg": GlobalAveragePooling2D, "max": GlobalMaxPooling2D}
    if pooling is None:
        return x
    if pooling not in layers:
        raise ArgumentError(f"pooling: expected None, 'avg' or 'max', got {pooling!r}.")
    return layers[pooling]()(x)


def finished(inputs: Tensor, outputs: Tensor, name: str, weights: Weights) -> Model:
    """Return the model. If `weights` is a path, load the weights from this file.

    Raises
    ------
    UnavailableError
        If `weights` is "imagenet", or a file that does not exist.
    """
    check_weights(name, weights)
    sources = get_source_inputs(inputs)
    model = Model(sources[0] if len(sources) == 1 else sources, outputs, name=name)
    if weights is not None:
        model.load_weights(weights)
    return model


def check_weights(name: str, weights: Weights) -> None:
    """Raise UnavailableError if `weights` requests trained weights. Call it before the building."""
    if weights == "imagenet":
        raise UnavailableError(
            f"{name}: weights='imagenet', the default as in Keras, are not part of kerascope and "
            f"are not fetched. Pass weights=None for fresh ones, or the path of a file of weights "
            f"that you have."
        )
