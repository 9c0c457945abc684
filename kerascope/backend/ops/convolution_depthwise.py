"""Depthwise convolution: every channel has filters of its own; separable: then a mix of channels.

A separable convolution has far fewer weights than a full one: 3 * 3 * c + c * f instead of
3 * 3 * c * f. MobileNet and Xception are built from it.
"""

from __future__ import annotations

from kerascope.backend.ops.convolution import convolution, tensors_for
from kerascope.backend.ops.shaping import reshape
from kerascope.errors import ShapeError

__all__ = ["depthwise_conv1d", "depthwise_conv2d", "separable_conv1d", "separable_conv2d"]


def depthwise(where, axes, x, kernel, strides, padding, data_format, dilation_rate):
    """Return the convolution of each channel with its own filters, along `axes` axes.

    It is a convolution of as many groups as there are channels.
    """
    x, kernel = tensors_for(where, axes, x, kernel)
    if None in kernel.shape:
        raise ShapeError(
            f"{where}: kernel has shape {kernel.shape}; expected known sizes.", subject=kernel
        )
    *sizes, channels, multiplier = kernel.shape
    grouped = reshape(kernel, (*sizes, 1, channels * multiplier))
    return convolution(
        where, axes, x, grouped, strides, padding, data_format, dilation_rate, channels
    )


def depthwise_conv1d(
    x, depthwise_kernel, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    """Return the convolution of each channel with filters of its own, along one axis.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, channels)
    depthwise_kernel : Tensor, shape (size, channels, multiplier)
    strides, padding, data_format, dilation_rate
        As for `conv1d`.

    Returns
    -------
    Tensor, shape (batch, new steps, channels * multiplier)
    """
    return depthwise(
        "K.depthwise_conv1d",
        1,
        x,
        depthwise_kernel,
        strides,
        padding,
        data_format,
        dilation_rate,
    )


def depthwise_conv2d(
    x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """Return the convolution of each channel with filters of its own.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels)
    depthwise_kernel : Tensor, shape (kernel rows, kernel columns, channels, multiplier)
        `multiplier` filters for each channel.
    strides, padding, data_format, dilation_rate
        As for `conv2d`.

    Returns
    -------
    Tensor, shape (batch, new rows, new columns, channels * multiplier)
        Output channel c * multiplier + m comes from input channel c.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, kernel = K.placeholder((None, 8, 8, 3)), K.placeholder((3, 3, 3, 2))
    >>> K.depthwise_conv2d(x, kernel).shape
    (None, 6, 6, 6)
    """
    return depthwise(
        "K.depthwise_conv2d",
        2,
        x,
        depthwise_kernel,
        strides,
        padding,
        data_format,
        dilation_rate,
    )


def separable(where, axes, x, kernel, mix, strides, padding, data_format, dilation_rate):
    """Return a depthwise convolution, then one of size 1 with the kernel `mix`."""
    x, kernel, mix = tensors_for(where, axes, x, kernel, mix)
    if any(size not in (1, None) for size in mix.shape[:-2]):
        raise ShapeError(
            f"{where}: pointwise_kernel has shape {mix.shape}; expected size 1 along each axis.",
            subject=mix,
        )
    apart = depthwise(where, axes, x, kernel, strides, padding, data_format, dilation_rate)
    return convolution(where, axes, apart, mix, 1, "valid", data_format, 1)


def separable_conv1d(
    x,
    depthwise_kernel,
    pointwise_kernel,
    strides=1,
    padding="valid",
    data_format=None,
    dilation_rate=1,
):
    """Return a depthwise convolution along one axis, whose channels are then mixed.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, channels)
    depthwise_kernel : Tensor, shape (size, channels, multiplier)
    pointwise_kernel : Tensor, shape (1, channels * multiplier, filters)
    strides, padding, data_format, dilation_rate
        As for `conv1d`.

    Returns
    -------
    Tensor, shape (batch, new steps, filters)
    """
    return separable(
        "K.separable_conv1d",
        1,
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides,
        padding,
        data_format,
        dilation_rate,
    )


def separable_conv2d(
    x,
    depthwise_kernel,
    pointwise_kernel,
    strides=(1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1),
):
    """Return a depthwise convolution of images, whose channels are then mixed.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels)
    depthwise_kernel : Tensor, shape (kernel rows, kernel columns, channels, multiplier)
    pointwise_kernel : Tensor, shape (1, 1, channels * multiplier, filters)
    strides, padding, data_format, dilation_rate
        As for `conv2d`.

    Returns
    -------
    Tensor, shape (batch, new rows, new columns, filters)
    """
    return separable(
        "K.separable_conv2d",
        2,
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides,
        padding,
        data_format,
        dilation_rate,
    )
