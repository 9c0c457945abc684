"""Preprocessing of images for the architectures, and decoding of predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError, UnavailableError
from kerascope.settings import config

# Mean and deviation of ImageNet's images for red, green and blue.
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
MEAN_IN_256 = (123.68, 116.779, 103.939)


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Convert images with values from 0 to 255 to the input range of an architecture.

    Parameters
    ----------
    x : np.ndarray or Tensor, shape (batch, rows, columns, 3) or (rows, columns, 3)
        Red, green, blue. An array of floats is modified in place, as in Keras.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    mode : {"caffe", "tf", "torch"}
        "caffe": blue, green, red, minus the mean of each colour. "tf": from -1 to 1. "torch": from
        0 to 1, minus the mean of each colour, divided by its standard deviation.

    Returns
    -------
    np.ndarray or Tensor
        The converted images, of the same shape. If `x` is an array of floats, the result is `x`
        itself, or for "caffe" a view of `x` with the colours reversed.

    Raises
    ------
    ArgumentError
        If the mode or data format is unknown, or there are not three colours.

    Examples
    --------
    >>> white = np.full((1, 2, 2, 3), 255.0)
    >>> preprocess_input(white, mode="tf")[0, 0, 0].tolist()
    [1.0, 1.0, 1.0]
    """
    if mode not in ("caffe", "tf", "torch"):
        raise ArgumentError(f"preprocess_input: expected 'caffe', 'tf' or 'torch', got {mode!r}.")
    first = K.normalize_data_format(data_format) == "channels_first"
    if not isinstance(x, Tensor):
        x = np.asarray(x)
        x = x if np.issubdtype(x.dtype, np.floating) else x.astype(config.floatx)
    axis = (1 if len(x.shape) == 4 else 0) if first else len(x.shape) - 1
    if x.shape[axis] != 3:
        raise ArgumentError(
            f"preprocess_input: expected three colours on axis {axis} for "
            f"{'channels_first' if first else 'channels_last'!r}, got shape {tuple(x.shape)}."
        )
    along = [1] * len(x.shape)
    along[axis] = 3
    if mode == "tf":
        ready = x / 127.5 - 1.0
    elif mode == "torch":
        ready = (x / 255.0 - _row(MEAN, along)) / _row(DEVIATION, along)
    else:
        ready = x - _row(MEAN_IN_256, along)
    if not isinstance(x, Tensor) and x.flags.writeable:
        x[...] = ready
        ready = x
    if mode != "caffe":
        return ready
    return K.reverse(ready, axis) if isinstance(ready, Tensor) else np.flip(ready, axis)


def _row(numbers: tuple[float, ...], shape: list[int]) -> Any:
    return np.array(numbers, config.floatx).reshape(shape)


def preprocessor(mode: str) -> Callable[..., Any]:
    """Return `preprocess_input` with a fixed `mode`, for architectures that expect this mode."""

    def preprocess(x: Any, data_format: str | None = None) -> Any:
        return preprocess_input(x, data_format, mode)

    preprocess.__name__ = "preprocess_input"
    preprocess.__doc__ = f"Return `imagenet_utils.preprocess_input(x, data_format, {mode!r})`."
    return preprocess


def decode_predictions(preds: Any, top: int = 5) -> Any:
    """Raise an error, because kerascope does not include the names of ImageNet's classes.

    Raises
    ------
    UnavailableError
        Always. The message says how to get the class numbers.
    """
    raise UnavailableError(
        "decode_predictions: the names of ImageNet's 1,000 classes are not part of kerascope. "
        f"np.argsort(preds)[:, ::-1][:, :{top}] gives the {top} best classes as numbers."
    )
