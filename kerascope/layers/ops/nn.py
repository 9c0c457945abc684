"""More operations of `keras.ops.nn`: see `keras_ops`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope import activations
from kerascope import backend as K
from kerascope.backend.graph import as_tensor
from kerascope.backend.ops import ctc
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import floating, square_root
from kerascope.backend.ops.image import Pad
from kerascope.backend.ops.windows import deconv_length, normalize_data_format
from kerascope.errors import ArgumentError, RefusedError, ShapeError
from kerascope.layers.arguments import Sizes
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.keras_ops import Axes
from kerascope.layers.ops.rows import NN, public, row

_OTHERS = {*globals()}  # names that are not operations


# --- activations ----------------------------------------------------------------------------------

_NAMES = "hard_shrink soft_shrink sparse_plus sparse_sigmoid sparsemax threshold"

globals().update(ops.one_to_one(((NN, activations, None, _NAMES),), row))


@row(NN)
def celu(x: Any, alpha: float = 1.0) -> Any:
    """Return the continuous ELU: x where x is positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    x = floating(x)
    below = K.minimum(x, 0)
    return K.maximum(x, 0) + alpha * ops.expm1(below / alpha)


@row(NN)
def glu(x: Any, axis: int = -1) -> Any:
    """Return the first half of x along an axis times the sigmoid of the second half."""
    first, second = ops.split(floating(x), 2, axis)
    return first * K.sigmoid(second)


@row(NN)
def tanh_shrink(x: Any) -> Any:
    """Return the tanh-shrink activation, x - tanh(x)."""
    x = floating(x)
    return x - K.tanh(x)


@row(NN)
def squareplus(x: Any, b: float = 4) -> Any:
    """Return the squareplus activation, (x + sqrt(x * x + b)) / 2."""
    x = floating(x)
    return (x + square_root(K.square(x) + b)) / 2


# --- multi-hot vectors, normalisation, signal-to-noise ratio --------------------------------------


@row(NN)
def multi_hot(
    inputs: Any,
    num_classes: int | None = None,
    axis: int = -1,
    dtype: str | None = None,
    sparse: bool = False,
    **kwargs: Any,
) -> Any:
    """Return a vector for each row of class numbers: 1 at each class in the row, 0 elsewhere."""
    if sparse:
        raise RefusedError("keras.ops.multi_hot: sparse=True is not supported here.")
    if num_classes is None:
        raise ArgumentError("keras.ops.multi_hot: it needs num_classes.")
    inputs = as_tensor(inputs)
    rows = ops.one_hot(inputs, num_classes, axis, dtype)
    return K.max(rows, 1 if inputs.ndim > 1 else 0)


@row(NN, "RMSNorm")
def rms_normalization(
    x: Any, scale: Any = None, axis: Axes = -1, epsilon: float | None = None
) -> Any:
    """Return x divided by its root mean square along axes, then scaled."""
    x = floating(x)
    epsilon = K.epsilon() if epsilon is None else epsilon
    wide = ops._in_float32(x)
    normal = wide * ops.rsqrt(K.mean(K.square(wide), ops._listed(axis), True) + epsilon)
    return K.cast(normal if scale is None else normal * ops._along(wide, scale, axis), x.dtype)


@row(NN, "PSNR")
def psnr(x1: Any, x2: Any, max_val: float) -> Any:
    """Return the peak signal-to-noise ratio of two images in decibels."""
    x1, x2 = (floating(x) for x in promoted(x1, x2))
    error = K.mean(K.square(x1 - x2))
    return 20 * math.log10(max_val) - 10 * K.log(error) / math.log(10)


# --- space and depth ------------------------------------------------------------------------------


def _channels_last(x: Any, data_format: str | None) -> tuple[Any, bool]:
    x = as_tensor(x)
    is_first = normalize_data_format(data_format) == "channels_first"
    return (ops.moveaxis(x, 1, -1), True) if is_first else (x, False)


def _back(x: Any, is_first: bool) -> Any:
    return ops.moveaxis(x, -1, 1) if is_first else x


@row(NN)
def depth_to_space(x: Any, block_size: int, data_format: str | None = "channels_last") -> Any:
    """Return images in which each group of channels becomes a block of pixels."""
    x, is_first = _channels_last(x, data_format)
    (batch, rows, columns, channels), n = ops.shape(x), block_size
    x = K.reshape(x, [batch, rows, columns, n, n, channels // (n * n)])
    x = K.permute_dimensions(x, (0, 1, 3, 2, 4, 5))
    return _back(K.reshape(x, [batch, rows * n, columns * n, channels // (n * n)]), is_first)


@row(NN)
def space_to_depth(x: Any, block_size: int, data_format: str | None = "channels_last") -> Any:
    """Return images in which each block of pixels becomes a group of channels.

    Raises
    ------
    ArgumentError
        A size of the images, other than the batch size, is unknown.
    """
    x, is_first = _channels_last(x, data_format)
    (batch, rows, columns, channels), n = ops.shape(x), block_size
    if None in x.shape[1:]:
        raise ArgumentError(
            f"keras.ops.space_to_depth: expected known sizes except the batch, got {x.shape}."
        )
    x = K.reshape(x, [batch, rows // n, n, columns // n, n, channels])
    x = K.permute_dimensions(x, (0, 1, 3, 2, 4, 5))
    return _back(K.reshape(x, [batch, rows // n, columns // n, n * n * channels]), is_first)


def _pair(value: Sizes) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


def _starts(size: Any, kernel: int, dilation: int, padding: int, stride: int) -> np.ndarray:
    """Return the indices that each window covers along an axis, of shape (windows, kernel)."""
    if size is None:
        raise ArgumentError("keras.ops.unfold: the sizes of the images must be known.")
    last = size + 2 * padding - dilation * (kernel - 1)
    return np.arange(0, last, stride)[:, None] + dilation * np.arange(kernel)


@row(NN)
def unfold(
    x: Any, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Any:
    """Return the windows of images as columns, as in PyTorch: (batch, entries, windows)."""
    x = as_tensor(x)
    (k, kk), (d, dd), (p, pp), (s, ss) = map(_pair, (kernel_size, dilation, padding, stride))
    padded = Pad(((0, 0), (0, 0), (p, p), (pp, pp)))(x)
    rows, columns = _starts(x.shape[2], k, d, p, s), _starts(x.shape[3], kk, dd, pp, ss)
    x = ops.take(ops.take(padded, rows, 2), columns, 4)  # batch, channels, y, k, x, kk
    x = K.permute_dimensions(x, (0, 1, 3, 5, 2, 4))
    batch, channels = ops.shape(x)[:2]
    return K.reshape(x, [batch, channels * k * kk, len(rows) * len(columns)])


@row(NN)
def fold(
    x: Any,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Any:
    """Return the images for windows given as columns, as in PyTorch. Overlaps are summed."""
    x = floating(x)
    (k, kk), (d, dd), (p, pp), (s, ss) = map(_pair, (kernel_size, dilation, padding, stride))
    height, width = _pair(output_size)
    rows, columns = _starts(height, k, d, p, s), _starts(width, kk, dd, pp, ss)
    batch, depth = ops.shape(x)[:2]
    channels = depth // (k * kk)
    x = K.reshape(x, [batch, channels, k, kk, len(rows), len(columns)])
    x = K.permute_dimensions(x, (4, 2, 5, 3, 0, 1))
    wide = width + 2 * pp
    at = rows[:, :, None, None] * wide + columns
    flat = K.reshape(x, [at.size, batch, channels])
    sums = ops.segment_sum(flat, at.ravel(), (height + 2 * p) * wide)
    image = K.reshape(sums, [height + 2 * p, wide, batch, channels])
    image = image[p : p + height, pp : pp + width]
    return K.permute_dimensions(image, (2, 3, 0, 1))


# --- pooling, convolution -------------------------------------------------------------------------


def _adaptive(x: Any, sizes: Any, data_format: str | None, function: Any) -> Any:
    x, is_first = _channels_last(x, data_format)
    rank = x.ndim - 2
    counts = (sizes,) * rank if isinstance(sizes, int) else tuple(sizes)
    for axis, count in enumerate(counts, start=1):
        size = x.shape[axis]
        if size is None or count is None:
            raise ArgumentError(
                f"keras.ops.adaptive_pool: expected known sizes, got {x.shape} to {sizes}."
            )
        before = (slice(None),) * axis
        parts = [
            function(x[(*before, slice(i * size // count, -(-(i + 1) * size // count)))], axis)
            for i in range(count)
        ]
        x = K.stack(parts, axis)
    return _back(x, is_first)


@row(NN)
def adaptive_average_pool(inputs: Any, output_size: Sizes, data_format: str | None = None) -> Any:
    """Return outputs of size `output_size`: each entry is the mean of one window of the input."""
    return _adaptive(inputs, output_size, data_format, K.mean)


@row(NN)
def adaptive_max_pool(inputs: Any, output_size: Sizes, data_format: str | None = None) -> Any:
    """Return outputs of size `output_size`: each entry is the maximum of one input window."""
    return _adaptive(inputs, output_size, data_format, K.max)


@row(NN)
def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Any:
    """Return a depthwise convolution, then a convolution of size 1 that mixes the channels."""
    kinds = {1: K.separable_conv1d, 2: K.separable_conv2d}
    function = ops._by_rank(inputs, kinds, "separable_conv")
    rank = as_tensor(inputs).ndim - 2
    steps, dilation = ops._each(strides, rank), ops._each(dilation_rate, rank)
    return function(
        inputs, depthwise_kernel, pointwise_kernel, steps, padding, data_format, dilation
    )


@row(NN)
def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Sizes = 1,
    padding: str = "valid",
    output_padding: Sizes | None = None,
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Any:
    """Return the transposed convolution over one, two or three spatial axes."""
    kinds = {1: K.conv1d_transpose, 2: K.conv2d_transpose, 3: K.conv3d_transpose}
    function = ops._by_rank(inputs, kinds, "conv_transpose")
    x, kernel = as_tensor(inputs), as_tensor(kernel)
    rank = x.ndim - 2
    is_first = normalize_data_format(data_format) == "channels_first"
    several: Any = [strides, output_padding, dilation_rate]
    steps, further, dilation = ((v,) * rank if not isinstance(v, (tuple, list)) else v
                                for v in several)  # fmt: skip
    sizes = [
        deconv_length(x.shape[axis + (2 if is_first else 1)], steps[axis], kernel.shape[axis] or 1,
                      padding, further[axis], dilation[axis])
        for axis in range(rank)
    ]  # fmt: skip
    shape = [ops.shape(x)[0], *sizes]
    shape.insert(1 if is_first else rank + 1, kernel.shape[-2])
    apart = [v if rank > 1 else v[0] for v in (tuple(steps), tuple(dilation))]
    return function(x, kernel, tuple(shape), apart[0], padding, data_format, apart[1])


ctc_loss = row(NN, "CTCLoss")(ctc.ctc_loss)


# --- attention ------------------------------------------------------------------------------------


@row(NN)
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Any:
    """Return, for each query, the mean of the values, weighted by the query's similarity to keys.

    Parameters
    ----------
    query : tensor, shape (batch, T, heads, features)
    key, value : tensor, shape (batch, S, heads, features)
        The query may have a multiple of this number of heads.
    bias : tensor, optional
        Added to the products; its shape must broadcast to (batch, heads, T, S).
    mask : tensor of bool, optional
        Queries ignore a value where the mask is false. The shape of the mask must broadcast to
        (batch, heads, T, S).
    scale : float, optional
        Factor of the products; default 1 / sqrt(features).
    is_causal : bool
        Whether a query uses only the values at its own position and before.
    flash_attention : bool, optional
        Ignored; in Keras it selects an algorithm for accelerators.
    attn_logits_soft_cap : float, optional
        Limit c of the scaled products x: each becomes c * tanh(x / c).

    Notes
    -----
    The result is softmax(query @ key.T * scale + bias) @ value. Source: Vaswani et al., "Attention
    is all you need", 2017.
    """
    query, key, value = (floating(x) for x in promoted(query, key, value))
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ShapeError(
            f"keras.ops.dot_product_attention: expected shapes (batch, length, heads, features), "
            f"got {query.shape}, {key.shape} and {value.shape}.",
            subject=query,
        )
    heads, others = query.shape[2], key.shape[2]
    if heads and others and heads != others:
        key, value = (ops.repeat(x, heads // others, axis=2) for x in (key, value))
    features = ops.shape(query)[-1]
    scale = 1.0 / K.sqrt(K.cast(as_tensor(features), query.dtype)) if scale is None else scale
    products = K.einsum("btnh,bsnh->bnts", query, key) * scale
    if attn_logits_soft_cap is not None:
        products = attn_logits_soft_cap * K.tanh(products / attn_logits_soft_cap)
    if bias is not None:
        products = products + bias
    least = as_tensor(0.7 * float(np.finfo(query.dtype).min), like=query)
    if mask is not None:
        products = Where()(K.cast(mask, "bool"), products, least)
    if is_causal:
        rows, columns = (ops.arange(n) for n in ops.shape(products)[-2:])
        before = K.greater_equal(K.expand_dims(as_tensor(rows), 1), as_tensor(columns))
        products = Where()(before, products, least)
    return K.einsum("bnts,bsnh->btnh", K.softmax(products), value)


__all__ = public(globals(), _OTHERS)
