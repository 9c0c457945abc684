"""Transposed convolution: the way back of a convolution, from a small image to a large one.

It is what the gradient of a convolution by its input computes, taken as a function of its own;
"deconvolution" is its older, misleading name. Its kernel is that of the convolution whose way back
it is, so the filters come before the input channels: (sizes, filters, channels).
"""

from __future__ import annotations

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.ops.convolution import (
    ConvolveBack,
    channels_back,
    channels_last,
    tensors_for,
)
from kerascope.backend.ops.convolution_shapes import checked_padding, sizes_along_axes
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.backend.ops.shaping import shape_vector
from kerascope.backend.ops.sizes import shape
from kerascope.errors import ShapeError

__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]


def transposed(where, axes, x, kernel, output_shape, strides, padding, data_format, dilation_rate):
    """Return the transposed convolution of `x` along `axes` axes."""
    data_format = normalize_data_format(data_format)
    x, kernel = tensors_for(where, axes, x, kernel)
    op = ConvolveBack(
        sizes_along_axes(strides, axes, f"{where}: strides"),
        checked_padding(padding, where),
        sizes_along_axes(dilation_rate, axes, f"{where}: dilation_rate"),
    )
    sizes = output_sizes(where, x, output_shape, data_format)
    return channels_back(op(channels_last(x, data_format), kernel, sizes), data_format)


def output_sizes(where, x, output_shape, data_format):
    """Return the shape of the output as a vector, channels at the end; None as batch is that of x.

    Raises
    ------
    ShapeError
        It has another number of sizes than `x`, or one but the batch is None.
    """
    if isinstance(output_shape, Tensor):
        count = output_shape.shape[0] if output_shape.ndim == 1 else None
        sizes = [output_shape[i] for i in range(count or 0)]
    else:
        sizes = list(output_shape)
    if len(sizes) != x.ndim:
        raise ShapeError(
            f"{where}: output_shape is {output_shape}; expected {x.ndim} sizes, as x has.",
            subject=x,
        )
    if any(size is None for size in sizes[1:]):
        raise ShapeError(
            f"{where}: output_shape is {tuple(sizes)}; expected numbers or scalar tensors: only "
            f"the batch may be None.",
            subject=x,
        )
    if sizes[0] is None:
        sizes[0] = shape(x)[0]
    if data_format == "channels_first":
        sizes = [sizes[0], *sizes[2:], sizes[1]]
    return as_tensor(shape_vector(sizes))


def conv1d_transpose(
    x, kernel, output_shape, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    """Return the transposed convolution along one axis.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, channels)
    kernel : Tensor, shape (size, filters, channels)
    output_shape : tuple of int, None or scalar int Tensor; or int Tensor, shape (3,)
    strides, padding, data_format, dilation_rate
        As for `conv1d`.

    Returns
    -------
    Tensor, shape `output_shape`
    """
    return transposed(
        "K.conv1d_transpose",
        1,
        x,
        kernel,
        output_shape,
        strides,
        padding,
        data_format,
        dilation_rate,
    )


def conv2d_transpose(
    x,
    kernel,
    output_shape,
    strides=(1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1),
):
    """Return the transposed convolution of images.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels)
    kernel : Tensor, shape (kernel rows, kernel columns, filters, channels)
    output_shape : tuple of int, None or scalar int Tensor; or int Tensor, shape (4,)
        Whole shape of the result, in the layout of `data_format`. The batch may be None.
    strides, padding, data_format, dilation_rate
        As for `conv2d`: those of the convolution whose way back this is.

    Returns
    -------
    Tensor, shape `output_shape`

    Raises
    ------
    ShapeError
        A convolution of an image of shape `output_shape` would not give the shape of `x`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, kernel = K.placeholder((None, 14, 14, 8)), K.placeholder((3, 3, 4, 8))
    >>> K.conv2d_transpose(x, kernel, (None, 28, 28, 4), strides=(2, 2), padding="same").shape
    (None, 28, 28, 4)
    """
    return transposed(
        "K.conv2d_transpose",
        2,
        x,
        kernel,
        output_shape,
        strides,
        padding,
        data_format,
        dilation_rate,
    )


def conv3d_transpose(
    x,
    kernel,
    output_shape,
    strides=(1, 1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1, 1),
):
    """Return the transposed convolution of volumes.

    Parameters
    ----------
    x : Tensor, shape (batch, a, b, c, channels)
    kernel : Tensor, shape (size of a, of b, of c, filters, channels)
    output_shape : tuple of int, None or scalar int Tensor; or int Tensor, shape (5,)
    strides, padding, data_format, dilation_rate
        As for `conv3d`.

    Returns
    -------
    Tensor, shape `output_shape`
    """
    return transposed(
        "K.conv3d_transpose",
        3,
        x,
        kernel,
        output_shape,
        strides,
        padding,
        data_format,
        dilation_rate,
    )
