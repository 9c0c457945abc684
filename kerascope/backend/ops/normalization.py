"""Shifting and scaling: biases, batch normalisation, running means.

All of these are made of other ops, so this file has functions only.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import as_tensor
from kerascope.backend.ops.elementwise import floating, maximum, sqrt, square
from kerascope.backend.ops.reduction import mean, sum
from kerascope.backend.ops.shaping import ExpandDims, Squeeze, permute_dimensions
from kerascope.backend.shapes import normalize_axes, normalize_axis
from kerascope.errors import ArgumentError, ShapeError
from kerascope.settings import config

__all__ = [
    "batch_normalization",
    "bias_add",
    "l2_normalize",
    "moving_average_update",
    "normalize_batch_in_training",
    "normalize_data_format",
]


def l2_normalize(x, axis=None):
    """Return `x` divided by its length along `axis`: the root of the sum of its squares."""
    x = floating(x)
    least = np.maximum(1e-12, np.finfo(x.dtype).tiny)
    return x / sqrt(maximum(sum(square(x), axis, keepdims=True), least))


def normalize_data_format(value):
    """Return a layout of images, checked; None means that of the settings.

    Raises
    ------
    ArgumentError
        It is neither "channels_last" nor "channels_first".
    """
    value = config.image_data_format if value is None else str(value).lower()
    if value not in ("channels_last", "channels_first"):
        raise ArgumentError(
            f"data_format: expected 'channels_last' or 'channels_first', got {value!r}."
        )
    return value


def bias_add(x, bias, data_format=None):
    """Return `x` plus a bias for each channel.

    Parameters
    ----------
    x : Tensor, shape (batch, ..., channels) or (batch, channels, ...)
    bias : Tensor, shape (channels,) or (..., channels)
        One number for each channel, or for each place and channel.
    data_format : {"channels_last", "channels_first"}, optional
        Where the channels of `x` lie.
    """
    data_format = normalize_data_format(data_format)
    x, bias = as_tensor(x), as_tensor(bias)
    if bias.ndim not in (1, x.ndim - 1):
        raise ShapeError(
            f"K.bias_add: bias of shape {bias.shape} for x of shape {x.shape}; expected 1 or "
            f"{x.ndim - 1} axes.",
            subject=bias,
        )
    if data_format == "channels_last" or x.ndim < 3:
        return x + bias
    if bias.ndim == 1:
        return x + ExpandDims(tuple(range(1, x.ndim - 1)))(bias)
    return x + permute_dimensions(bias, (bias.ndim - 1, *range(bias.ndim - 1)))


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """Return `x` shifted and scaled by given statistics.

    Parameters
    ----------
    x : Tensor
    mean, var : Tensor
        One number for each feature, or anything that broadcasts against `x`.
    beta, gamma : Tensor or None
        Offset and scale afterwards.
    axis : int
        Where the features lie.
    epsilon : float
        Keeps the division finite.

    Notes
    -----
    gamma (x - mean) / sqrt(var + epsilon) + beta
    """
    x = floating(x)
    axis = normalize_axis(axis, x.ndim, "K.batch_normalization")
    mean, var, beta, gamma = (_along(axis, x, v) for v in (mean, var, beta, gamma))
    scale = 1 / sqrt(var + epsilon) if gamma is None else gamma / sqrt(var + epsilon)
    y = (x - mean) * scale
    return y if beta is None else y + beta


def _along(axis, x, values):
    """Return a vector of one number for each feature so that it lies along `axis` of `x`."""
    if values is None:
        return None
    values = as_tensor(values, like=x)
    if values.ndim != 1 or axis == x.ndim - 1:
        return values
    return ExpandDims(tuple(range(1, x.ndim - axis)))(values)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """Return `x` normalised by its own mean and variance, and these two.

    Parameters
    ----------
    x : Tensor
    gamma, beta : Tensor or None
        Scale and offset, of the shape that is left of `x` without `reduction_axes`.
    reduction_axes : list of int
        Axes over which mean and variance are taken.
    epsilon : float

    Returns
    -------
    tuple of Tensor
        Normalised x, mean, variance.
    """
    x = floating(x)
    axes = normalize_axes(reduction_axes, x.ndim, "K.normalize_batch_in_training")
    center = mean(x, axes, keepdims=True)
    distance = x - center
    spread = mean(square(distance), axes, keepdims=True)
    y = distance * (1 / sqrt(spread + epsilon))
    if gamma is not None:
        y = y * ExpandDims(axes)(gamma)
    if beta is not None:
        y = y + ExpandDims(axes)(beta)
    return y, Squeeze(axes)(center), Squeeze(axes)(spread)


def moving_average_update(variable, value, momentum):
    """Return the pair (variable, new value) that moves a running mean towards `value`.

    Notes
    -----
    new = momentum * old + (1 - momentum) * value
    """
    return variable, variable * momentum + value * (1.0 - momentum)
