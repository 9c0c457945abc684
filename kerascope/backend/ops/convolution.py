"""Convolutions: one op for one, two and three axes, with strides, dilation and groups.

A convolution is linear in the input and in the kernel, so its two gradients are linear maps too.
The gradients of these maps can again be written with the same three ops:

- `Convolve(x, kernel)`;
- `ConvolveBack(g, kernel, sizes)`: the gradient with respect to the input. Used by itself it is the
  transposed convolution, which enlarges an image;
- `ConvolutionKernelGradient(x, g, sizes)`: the gradient with respect to the kernel.

All three need the channels last. For "channels_first" the graph contains transpositions before and
after. `convolution_kernels.py` computes the arrays. Theano has the same three ops: `AbstractConv`,
`AbstractConv_gradInputs` and `AbstractConv_gradWeights`.

Depthwise, separable, transposed and locally connected convolutions follow below.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from kerascope.backend.graph import ShapeOfLast, as_tensor, parametric
from kerascope.backend.ops import convolution_kernels as kernels
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.indexing import known_values, shape
from kerascope.backend.ops.into_memory import IntoMemory
from kerascope.backend.ops.linalg import BatchDot
from kerascope.backend.ops.shaping import permute_dimensions, reshape, shape_vector
from kerascope.backend.ops.windows import (
    PADDINGS,
    Sizes,
    checked_padding,
    conv_output_length,
    normalize_data_format,
    places_of_cells,
    pooled_shape,
    sizes_along_axes,
)
from kerascope.backend.shapes import merge_shapes, product
from kerascope.backend.types import Gradients, Kernel, Shape, Specs, Tensor, TensorLike, Tensors
from kerascope.errors import ShapeError

__all__ = [
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "depthwise_conv1d",
    "depthwise_conv2d",
    "local_conv1d",
    "local_conv2d",
    "separable_conv1d",
    "separable_conv2d",
]


@parametric
class Convolution(IntoMemory):
    """Base class of convolutions and their gradients: how a kernel moves over the input.

    Attributes
    ----------
    strides : tuple of int
        Step of the kernel along each axis.
    padding : {"valid", "same", "causal", "full"}
        Zeros around the input; see `windows.py`.
    dilation_rate : tuple of int
        Distance between neighbouring positions of the kernel.
    groups : int
        Number of groups into which the channels and the filters are split. Each group of filters
        reads only its own channels.
    """

    strides: tuple[int, ...]
    padding: str
    dilation_rate: tuple[int, ...]
    groups: int = 1

    ways: ClassVar[tuple[Any, Any]]  # makers of the routine; the second for one channel per group

    @property
    def axes(self):
        """Number of axes along which the kernel moves."""
        return len(self.strides)

    def output_sizes(self, sizes, kernel_sizes):
        """Return the output size along each axis, None if unknown."""
        return tuple(
            conv_output_length(n, k, self.padding, step, apart)
            for n, k, step, apart in zip(
                sizes, kernel_sizes, self.strides, self.dilation_rate, strict=True
            )
        )

    def plan(self, sizes, kernel_sizes):
        """Return the `ConvolutionPlan` for an input and a kernel of these sizes."""
        return kernels.plan(
            tuple(sizes), tuple(kernel_sizes), self.strides, self.padding, self.dilation_rate
        )

    def made(self, sizes, shape, kernel_shape, dtype):
        """Return a function (out, *inputs) that computes this op for inputs of these shapes."""
        way = self.ways[self.groups > 1 and kernel_shape[-2] == 1]
        return way(shape, kernel_shape, dtype, self.plan(sizes, kernel_shape[:-2]), self.groups)

    def output_shape(self, x_shape, kernel_shape, subject):
        """Return the shape of the convolution of an input with a kernel.

        Raises
        ------
        ShapeError
            The kernel does not fit the input.
        """
        where = f"{self.name}: input {x_shape} and kernel {kernel_shape}"
        if not len(x_shape) == len(kernel_shape) == self.axes + 2:
            raise ShapeError(f"{where} must have {self.axes + 2} axes each.", subject=subject)
        channels, inside, filters = x_shape[-1], kernel_shape[-2], kernel_shape[-1]
        if None not in (channels, inside) and channels != inside * self.groups:
            raise ShapeError(
                f"{where}: the kernel expected {inside * self.groups} channels, got {channels}. "
                f"Check data_format.",
                subject=subject,
            )
        if filters is not None and filters % self.groups:
            raise ShapeError(
                f"{where}: expected a multiple of {self.groups} filters, because there are "
                f"{self.groups} groups, got {filters}.",
                subject=subject,
            )
        sizes = self.output_sizes(x_shape[1:-1], kernel_shape[:-2])
        if any(size is not None and size < 1 for size in sizes) and self.padding == "valid":
            raise ShapeError(
                f"{where}: the kernel is larger than the input. Use a larger input, a smaller "
                f"kernel, or padding='same'.",
                subject=subject,
            )
        return (x_shape[0], *sizes, filters)


class Convolve(Convolution):
    """For each filter, the sum of `x * kernel` over the kernel's positions and channels."""

    ways = kernels.convolve_into, kernels.convolve_channels_into

    def infer_shape(self, x: Tensor, kernel: Tensor) -> Shape:
        return self.output_shape(x.shape, kernel.shape, x)

    def perform(self, x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        plan = self.plan(x.shape[1:-1], kernel.shape[:-2])
        out = np.empty((len(x), *plan.output_sizes, kernel.shape[-1]), x.dtype)
        self.made(x.shape[1:-1], x.shape, kernel.shape, x.dtype)(out, x, kernel)
        return out

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        (x_shape, dtype), (kernel_shape, _) = inputs
        return self.made(x_shape[1:-1], x_shape, kernel_shape, dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, kernel = inputs
        g = output_grads[0]
        return [
            ConvolveBack(**self.parameters)(g, kernel, shape(x)),
            ConvolutionKernelGradient(**self.parameters)(x, g, shape(kernel)),
        ]


class ConvolveBack(Convolution):
    """The gradient of a convolution with respect to its input, which has shape `sizes`.

    `g` is the output gradient of the convolution.
    """

    ways = kernels.convolve_back_into, kernels.convolve_channels_back_into

    def infer_shape(self, g: Tensor, kernel: Tensor, sizes: Tensor) -> Shape:
        if g.ndim != self.axes + 2 or kernel.ndim != self.axes + 2:
            raise ShapeError(
                f"{self.name}: expected an input and a kernel with {self.axes + 2} axes each, got "
                f"{g.shape} and {kernel.shape}.",
                subject=g,
            )
        known = known_values(sizes)
        inside = kernel.shape[-2]
        channels = None if inside is None else inside * self.groups
        said = merge_shapes((g.shape[0], *(None,) * self.axes, channels), known or ())
        if said is None or not merge_shapes(g.shape, self.output_shape(said, kernel.shape, g)):
            raise ShapeError(
                f"{self.name}: an input of shape {g.shape} and a kernel of shape {kernel.shape} do "
                f"not give an output of shape {known}, because a convolution of that output would "
                f"not have the shape of the input. Check output_shape, strides and padding.",
                subject=g,
            )
        return said

    def perform(self, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        shape_there = tuple(int(size) for size in sizes)
        plan = self.plan(shape_there[1:-1], kernel.shape[:-2])
        if (len(g), *plan.output_sizes) != (shape_there[0], *g.shape[1:-1]):
            raise ShapeError(
                f"{self.name}: expected an input of sizes {plan.output_sizes} for an output of "
                f"shape {shape_there}, got shape {g.shape}."
            )
        out = np.empty(shape_there, g.dtype)
        self.made(shape_there[1:-1], g.shape, kernel.shape, g.dtype)(out, g, kernel, sizes)
        return out

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        (g_shape, dtype), (kernel_shape, _), _ = inputs
        shape_there = outputs[0].shape
        plan = self.plan(shape_there[1:-1], kernel_shape[:-2])
        if (g_shape[0], *plan.output_sizes) != (shape_there[0], *g_shape[1:-1]):
            return None  # `perform` raises
        return self.made(shape_there[1:-1], g_shape, kernel_shape, dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        kernel, g = inputs[1], output_grads[0]
        return [
            Convolve(**self.parameters)(g, kernel),
            ConvolutionKernelGradient(**self.parameters)(g, inputs[0], shape(kernel)),
            None,
        ]


class ConvolutionKernelGradient(Convolution):
    """The gradient of a convolution of `x` with respect to its kernel, which has shape `sizes`.

    `g` is the output gradient of the convolution.
    """

    ways = kernels.kernel_gradient_into, kernels.channels_kernel_gradient_into

    def infer_shape(self, x: Tensor, g: Tensor, sizes: Tensor) -> Shape:
        return known_values(sizes)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        x_shape, dtype = inputs[0]
        return self.made(x_shape[1:-1], x_shape, outputs[0].shape, dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, g, _ = inputs
        as_kernel = output_grads[0]
        return [
            ConvolveBack(**self.parameters)(g, as_kernel, shape(x)),
            Convolve(**self.parameters)(x, as_kernel),
            None,
        ]


# --- the functions --------------------------------------------------------------------------------


def channels_last(x: Tensor, data_format: str) -> Tensor:
    """Return `x`, whose layout is `data_format`, with the channels transposed to the last axis."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, *range(2, x.ndim), 1))


def channels_back(x: Tensor, data_format: str) -> Tensor:
    """Return `x`, whose last axis is the channels, transposed to the layout `data_format`."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def tensors_for(where: str, axes: int, x: TensorLike, *kernels: TensorLike) -> list[Tensor]:
    """Return an input and its kernels as float tensors, each with `axes` + 2 axes.

    Raises
    ------
    ShapeError
        The input or a kernel does not have `axes` + 2 axes.
    """
    tensors = promoted(floating(x), *kernels)
    for what, tensor in zip(("x", "kernel", "pointwise_kernel"), tensors, strict=False):
        if tensor.ndim != axes + 2:
            ends = "batch and channels" if what == "x" else "input channels and filters"
            raise ShapeError(
                f"{where}: expected {what} with {axes + 2} axes ({ends}, and {axes} for sizes), "
                f"got {tensor.shape}.",
                subject=tensor,
            )
    return tensors


class Moves(NamedTuple):
    """The arguments that say how a kernel moves over an input in a call of a convolution."""

    strides: Sizes
    padding: str
    data_format: str | None
    dilation_rate: Sizes


def convolution(where, axes, x, kernel, moves, groups=1):
    """Return the convolution of `x` along `axes` axes, for conv1d, conv2d and conv3d.

    Parameters
    ----------
    where : str
        Name of the called function, for messages.
    axes : int
    x, kernel : Tensor
    moves : Moves
        Strides, padding, data format and dilation.
    groups : int
        The kernel has shape (sizes, channels // groups, filters).
    """
    data_format = normalize_data_format(moves.data_format)
    x, kernel = tensors_for(where, axes, x, kernel)
    op = Convolve(
        sizes_along_axes(moves.strides, axes, f"{where}: strides"),
        checked_padding(moves.padding, where, PADDINGS),
        sizes_along_axes(moves.dilation_rate, axes, f"{where}: dilation_rate"),
        sizes_along_axes(groups, 1, f"{where}: groups")[0],
    )
    return channels_back(op(channels_last(x, data_format), kernel), data_format)


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1, groups=1):
    """Return the convolution along one axis, such as time.

    Parameters
    ----------
    x : Tensor, shape (batch, steps, channels)
        (batch, channels, steps) with "channels_first".
    kernel : Tensor, shape (size, channels // groups, filters)
    strides : int
        Step of the kernel.
    padding : {"valid", "same", "causal", "full"}
        "causal" puts zeros only in front, so that no output depends on a later input.
    data_format : {"channels_last", "channels_first"}, optional
    dilation_rate : int
        Distance between neighbouring positions of the kernel.
    groups : int
        Number of groups that channels and filters are split into.

    Returns
    -------
    Tensor, shape (batch, new steps, filters)

    Notes
    -----
    y[b, t, f] = sum over i and c of x[b, t * strides + i * dilation_rate - z, c] * kernel[i, c, f],
    where z is the number of zeros in front.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.reshape(K.constant([1.0, 2.0, 4.0]), (1, 3, 1))
    >>> difference = K.reshape(K.constant([-1.0, 1.0]), (2, 1, 1))
    >>> K.eval(K.flatten(K.conv1d(x, difference))).tolist()
    [1.0, 2.0]
    """
    moves = Moves(strides, padding, data_format, dilation_rate)
    return convolution("K.conv1d", 1, x, kernel, moves, groups)


def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Sizes = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = (1, 1),
    groups: int = 1,
) -> Tensor:
    """Return the convolution of images.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels)
        (batch, channels, rows, columns) with "channels_first".
    kernel : Tensor, shape (kernel rows, kernel columns, channels // groups, filters)
        In this order with either data format.
    strides : int or tuple of 2 int
    padding : {"valid", "same", "causal", "full"}
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    dilation_rate : int or tuple of 2 int
    groups : int
        Number of groups that channels and filters are split into.

    Returns
    -------
    Tensor, shape (batch, new rows, new columns, filters)

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, kernel = K.placeholder((None, 28, 28, 1)), K.placeholder((3, 3, 1, 32))
    >>> K.conv2d(x, kernel).shape, K.conv2d(x, kernel, strides=2, padding="same").shape
    ((None, 26, 26, 32), (None, 14, 14, 32))
    """
    moves = Moves(strides, padding, data_format, dilation_rate)
    return convolution("K.conv2d", 2, x, kernel, moves, groups)


def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Sizes = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = (1, 1, 1),
    groups: int = 1,
) -> Tensor:
    """Return the convolution of volumes, such as films.

    Parameters
    ----------
    x : Tensor, shape (batch, a, b, c, channels)
    kernel : Tensor, shape (size of a, of b, of c, channels // groups, filters)
    strides, padding, data_format, dilation_rate, groups
        As for `conv2d`.

    Returns
    -------
    Tensor, shape (batch, new a, new b, new c, filters)
    """
    moves = Moves(strides, padding, data_format, dilation_rate)
    return convolution("K.conv3d", 3, x, kernel, moves, groups)


# --- depthwise: each channel has its own filters; separable: then the channels are mixed ----------
#
# A separable convolution has far fewer weights than a full one: 3 * 3 * c + c * f instead of
# 3 * 3 * c * f. MobileNet and Xception are built from it.


def depthwise(where, axes, x, kernel, moves):
    """Return the convolution of each channel with its own filters, along `axes` axes.

    It is computed as a grouped convolution with one group for each channel.
    """
    x, kernel = tensors_for(where, axes, x, kernel)
    if None in kernel.shape:
        raise ShapeError(
            f"{where}: expected a kernel of known sizes, got {kernel.shape}.", subject=kernel
        )
    *sizes, channels, multiplier = kernel.shape
    grouped = reshape(kernel, (*sizes, 1, channels * multiplier))
    return convolution(where, axes, x, grouped, moves, channels)


def depthwise_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """Return the convolution of each channel with its own filters, along one axis.

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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return depthwise("K.depthwise_conv1d", 1, x, depthwise_kernel, moves)


def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Sizes = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = (1, 1),
) -> Tensor:
    """Return the convolution of each channel of images with its own filters.

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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return depthwise("K.depthwise_conv2d", 2, x, depthwise_kernel, moves)


def separable(where, axes, x, kernel, mix, moves):
    """Convolve each channel of `x` with `kernel`, then all channels with `mix`, of size 1."""
    x, kernel, mix = tensors_for(where, axes, x, kernel, mix)
    if any(size not in (1, None) for size in mix.shape[:-2]):
        raise ShapeError(
            f"{where}: expected a pointwise_kernel of size 1 along each axis, got {mix.shape}.",
            subject=mix,
        )
    apart = depthwise(where, axes, x, kernel, moves)
    return convolution(where, axes, apart, mix, Moves(1, "valid", moves.data_format, 1))


def separable_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """Return a separable convolution along one axis: depthwise, then with a kernel of size 1.

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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return separable("K.separable_conv1d", 1, x, depthwise_kernel, pointwise_kernel, moves)


def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Sizes = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = (1, 1),
) -> Tensor:
    """Return a separable convolution of images: depthwise, then with a kernel of size 1.

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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return separable("K.separable_conv2d", 2, x, depthwise_kernel, pointwise_kernel, moves)


# --- transposed: from a small image to a large one ------------------------------------------------
#
# A transposed convolution computes the gradient of a convolution with respect to its input.
# "Deconvolution" is an older, misleading name for it. The kernel is that of the convolution, so
# the filters come before the input channels: (sizes, filters, channels).


def transposed(where, axes, x, kernel, output_shape, moves):
    """Return the transposed convolution of `x` along `axes` axes."""
    data_format = normalize_data_format(moves.data_format)
    x, kernel = tensors_for(where, axes, x, kernel)
    op = ConvolveBack(
        sizes_along_axes(moves.strides, axes, f"{where}: strides"),
        checked_padding(moves.padding, where),
        sizes_along_axes(moves.dilation_rate, axes, f"{where}: dilation_rate"),
    )
    sizes = output_sizes(where, x, output_shape, data_format)
    return channels_back(op(channels_last(x, data_format), kernel, sizes), data_format)


def output_sizes(where, x, output_shape, data_format):
    """Return `output_shape` as a vector, channels last; the batch size of `x` replaces None.

    Raises
    ------
    ShapeError
        `output_shape` does not have as many sizes as `x` has axes, or a size other than the batch
        is None.
    """
    if isinstance(output_shape, Tensor):
        count = output_shape.shape[0] if output_shape.ndim == 1 else None
        sizes = [output_shape[i] for i in range(count or 0)]
    else:
        sizes = list(output_shape)
    if len(sizes) != x.ndim:
        raise ShapeError(
            f"{where}: expected an output_shape of {x.ndim} sizes, as x has, got {output_shape}.",
            subject=x,
        )
    if any(size is None for size in sizes[1:]):
        raise ShapeError(
            f"{where}: expected an output_shape in which only the batch may be None, got "
            f"{tuple(sizes)}.",
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
        The shape of the result; None means the batch size of `x`.
    strides, padding, data_format, dilation_rate
        As for `conv1d`.

    Returns
    -------
    Tensor, shape `output_shape`
    """
    moves = Moves(strides, padding, data_format, dilation_rate)
    return transposed("K.conv1d_transpose", 1, x, kernel, output_shape, moves)


def conv2d_transpose(
    x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """Return the transposed convolution of images.

    Parameters
    ----------
    x : Tensor, shape (batch, rows, columns, channels)
    kernel : Tensor, shape (kernel rows, kernel columns, filters, channels)
    output_shape : tuple of int, None or scalar int Tensor; or int Tensor, shape (4,)
        Shape of the result, batch included, in the layout of `data_format`. The batch may be None.
    strides, padding, data_format, dilation_rate
        As for the `conv2d` that goes from the result to `x`.

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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return transposed("K.conv2d_transpose", 2, x, kernel, output_shape, moves)


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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return transposed("K.conv3d_transpose", 3, x, kernel, output_shape, moves)


# --- locally connected: a different kernel at each place ------------------------------------------
#
# `Patches` lays out each window of the input as a row. Then each place needs the product of two
# matrices, rows by kernel. `BatchDot` computes them with the places as its batch.


@parametric
class PatchOp(IntoMemory):
    """Base class of ops on all windows of sequences or images, which have the channels last."""

    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]

    def patches_shape(self, shape):
        """Return the shape (batch, windows..., cells of a window, channels) of the windows."""
        windows = pooled_shape(shape, self.kernel_size, self.strides, "valid", 1, self.name)
        return (*windows[:-1], product(self.kernel_size), shape[-1])

    def places(self, shape):
        """Yield (index of the cell, slices of the input) for each cell of a window.

        The slices select this cell of all windows at once.
        """
        found = places_of_cells(shape[1:-1], self.kernel_size, self.strides, "valid", 1)
        return enumerate(place.cells for place in found)


class Patches(PatchOp):
    """All windows of `x`. The cells of a window, row by row, form the last axis but one."""

    def infer_shape(self, x: Tensor) -> Shape:
        return self.patches_shape(x.shape)

    def compute(self, out: np.ndarray, x: np.ndarray) -> None:
        """Copy the cells of all windows from `x` to `out`."""
        for number, cells in self.places(x.shape):
            out[..., number, :] = x[cells]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumPatches(self.kernel_size, self.strides)(output_grads[0], inputs[0])]


class SumPatches(ShapeOfLast, PatchOp):
    """The gradient of `Patches`: zeros with the shape of `like`, to which the windows are added.

    Each window is added at its position in `like`.
    """

    def compute(self, out: np.ndarray, patches: np.ndarray, like: np.ndarray) -> None:
        """Set `out` to zeros, and add each cell of all windows where it is in the input."""
        out.fill(0)
        for number, cells in self.places(like.shape):
            out[cells] += patches[..., number, :]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Patches(self.kernel_size, self.strides)(output_grads[0]), None]


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """Return a locally connected convolution of sequences: each window has its own kernel.

    Parameters
    ----------
    inputs : Tensor, shape (batch, steps, channels) or (batch, channels, steps)
    kernel : Tensor, shape (windows, kernel_size * channels, filters)
        The middle axis is ordered by cell of the window, then by channel. With "channels_first" it
        is ordered by channel, then by cell.
    kernel_size : int or tuple of 1 int
    strides : int or tuple of 1 int
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, windows, filters) or (batch, filters, windows)

    Raises
    ------
    ShapeError
        The kernel does not fit the number or the size of the windows.
    """
    return _local("K.local_conv1d", 1, inputs, kernel, kernel_size, strides, data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """Return a locally connected convolution of images: each window has its own kernel.

    Parameters
    ----------
    inputs : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    kernel : Tensor, shape (windows, kernel_size[0] * kernel_size[1] * channels, filters)
        The windows are in row-major order. The middle axis is ordered by cell of the window, then
        by channel. With "channels_first" it is ordered by channel, then by cell.
    kernel_size, strides : tuple of 2 int
    output_shape : tuple of 2 int
        Number of rows and columns of windows.
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, rows, columns, filters) or (batch, filters, rows, columns)

    Raises
    ------
    ShapeError
        The kernel or `output_shape` does not fit the number or the size of the windows.
    """
    return _local(
        "K.local_conv2d", 2, inputs, kernel, kernel_size, strides, data_format, output_shape
    )


def _local(where, axes, inputs, kernel, kernel_size, strides, data_format, output_shape=None):
    kernel_size = sizes_along_axes(kernel_size, axes, f"{where}: kernel_size")
    strides = sizes_along_axes(strides, axes, f"{where}: strides")
    inputs, kernel = promoted(inputs, kernel)
    ndim = axes + 2
    if inputs.ndim != ndim or kernel.ndim != 3:
        raise ShapeError(
            f"{where}: expected inputs with {ndim} axes and a kernel with 3, got {inputs.shape} "
            f"and {kernel.shape}.",
            subject=inputs,
        )
    data_format = normalize_data_format(data_format)
    channels_first = data_format == "channels_first"
    inputs = channels_last(inputs, data_format)
    patches = Patches(kernel_size, strides)(inputs)
    windows = patches.shape[1:-2]
    filters = kernel.shape[-1]
    cells = (*range(ndim, ndim - 2, -1),) if channels_first else (ndim - 1, ndim)
    by_window = permute_dimensions(patches, (*range(1, ndim - 1), 0, *cells))
    wanted = (product(windows), product(patches.shape[-2:]), filters)
    given = kernel.shape[:1] if output_shape is None else tuple(output_shape)
    if merge_shapes(windows, given) is None:
        raise ShapeError(
            f"{where}: expected output_shape {windows} for windows of size {kernel_size}, strides "
            f"{strides}, in inputs of shape {inputs.shape}, got {given}.",
            subject=inputs,
        )
    if merge_shapes(kernel.shape, wanted) is None:
        raise ShapeError(
            f"{where}: expected a kernel of shape {wanted} for {windows} windows, got "
            f"{kernel.shape}.",
            subject=kernel,
        )
    rows = reshape(by_window, (kernel.shape[0], -1, kernel.shape[1]))
    products = BatchDot((2,), (1,))(rows, kernel)
    output = reshape(products, (*given, -1, filters))
    places = range(len(given))
    if channels_first:
        return permute_dimensions(output, (ndim - 2, ndim - 1, *places))
    return permute_dimensions(output, (ndim - 2, *places, ndim - 1))
