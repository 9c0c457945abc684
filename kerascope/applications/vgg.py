"""VGG16 and VGG19: blocks of 3x3 convolutions, one after the other.

References
----------
.. [1] K. Simonyan, A. Zisserman, "Very deep convolutional networks for large-scale image
   recognition", 2014.
"""

from __future__ import annotations

from kerascope import layers
from kerascope.applications import parts
from kerascope.applications.imagenet_utils import decode_predictions, preprocessor
from kerascope.backend.graph import Tensor
from kerascope.configurable import by_name
from kerascope.engine.model import Model

__all__ = ["VGG16", "VGG19", "decode_predictions", "preprocess_input"]

preprocess_input = preprocessor("caffe")


def VGG16(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 16 layers with weights.

    Parameters
    ----------
    include_top : bool
        Whether to include the classifier.
    weights : None or path
        None for fresh weights, or a file of weights. The default is Keras's, "imagenet", which
        raises an error, so that a script does not continue with random weights by mistake.
    input_tensor : Tensor, optional
        Images, from `Input` or a layer.
    input_shape : tuple, optional
        Shape of an image; by default (224, 224, 3).
    pooling : {None, "avg", "max"}
        The outputs without the classifier: feature maps for None, or their means or maxima.
    classes : int

    Returns
    -------
    Model

    Raises
    ------
    UnavailableError
        If `weights` is "imagenet" or a missing file.
    ShapeError
        If the images are too small.
    """
    return _vgg("vgg16", (2, 2, 3, 3, 3), **by_name(locals()))


def VGG19(
    include_top: bool = True,
    weights: parts.Weights = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: parts.ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
) -> Model:
    """Return the network of 19 layers with weights; arguments as for `VGG16`."""
    return _vgg("vgg19", (2, 2, 4, 4, 4), **by_name(locals()))


def _vgg(
    name: str,
    convolutions: tuple[int, ...],
    include_top: bool,
    weights: parts.Weights,
    input_tensor: Tensor | None,
    input_shape: parts.ImageShape,
    pooling: str | None,
    classes: int,
) -> Model:
    parts.check_weights(name, weights)
    inputs = x = parts.images(
        name, input_shape, input_tensor, size=224, smallest=32, include_top=include_top,
        flexible=False,
    )  # fmt: skip
    for block, (count, filters) in enumerate(
        zip(convolutions, (64, 128, 256, 512, 512), strict=True), start=1
    ):
        for index in range(1, count + 1):
            x = parts.convolved(
                x, filters, 3, activation="relu", padding="same", name=f"block{block}_conv{index}"
            )
        x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if include_top:
        x = layers.Flatten(name="flatten")(x)
        x = layers.Dense(4096, activation="relu", name="fc1")(x)
        x = layers.Dense(4096, activation="relu", name="fc2")(x)
        x = layers.Dense(classes, activation="softmax", name="predictions")(x)
    else:
        x = parts.pooled_features(x, pooling)
    return parts.finished(inputs, x, name, weights)
