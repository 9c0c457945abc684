"""Convolutions: one op for one, two and three axes, with strides, dilation and groups.

A convolution is linear in the input and in the kernel, so its two gradients are linear maps of the
same kind, and the gradients of those lead back to the first. Three ops close the circle:

- `Convolve(x, kernel)`;
- `ConvolveBack(g, kernel, sizes)`: the gradient by the input, and by itself the transposed
  convolution, which makes a small image large;
- `ConvolutionKernelGradient(x, g, sizes)`.

All three have the channels last; "channels_first" is a turn of the axes before and after, which the
graph shows. The numbers are made in `convolution_kernels.py`. Theano has the same three as
`AbstractConv`, `AbstractConv_gradInputs` and `AbstractConv_gradWeights`.

After them stand their relatives: depthwise and separable, transposed, and locally connected.
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
    """What the three ops have in common: how the kernel moves.

    Attributes
    ----------
    strides : tuple of int
        Step of the kernel along each axis.
    padding : {"valid", "same", "causal", "full"}
        Zeros around the input; see `windows.py`.
    dilation_rate : tuple of int
        Distance between neighbouring places of the kernel.
    groups : int
        The channels and the filters are split into so many groups; each group of filters sees only
        its own channels.
    """

    strides: tuple[int, ...]
    padding: str
    dilation_rate: tuple[int, ...]
    groups: int = 1

    ways: ClassVar[tuple[Any, Any]]  # what makes the numbers; the second if a group is one channel

    @property
    def axes(self):
        """How many axes the kernel moves along."""
        return len(self.strides)

    def output_sizes(self, sizes, kernel_sizes):
        """Return the sizes of the output, None for those that are not known."""
        return tuple(
            conv_output_length(n, k, self.padding, step, apart)
            for n, k, step, apart in zip(
                sizes, kernel_sizes, self.strides, self.dilation_rate, strict=True
            )
        )

    def plan(self, sizes, kernel_sizes):
        """Return where the kernel moves over an input of these sizes."""
        return kernels.plan(
            tuple(sizes), tuple(kernel_sizes), self.strides, self.padding, self.dilation_rate
        )

    def made(self, sizes, shape, kernel_shape, dtype):
        """Return the function of (out, *inputs) that computes for these shapes."""
        way = self.ways[self.groups > 1 and kernel_shape[-2] == 1]
        return way(shape, kernel_shape, dtype, self.plan(sizes, kernel_shape[:-2]), self.groups)

    def output_shape(self, x_shape, kernel_shape, subject):
        """Return the shape of the convolution, and check that the two fit.

        Raises
        ------
        ShapeError
            They do not.
        """
        where = f"{self.name}: input {x_shape} and kernel {kernel_shape}"
        if not len(x_shape) == len(kernel_shape) == self.axes + 2:
            raise ShapeError(f"{where}; expected {self.axes + 2} axes each.", subject=subject)
        channels, inside, filters = x_shape[-1], kernel_shape[-2], kernel_shape[-1]
        if None not in (channels, inside) and channels != inside * self.groups:
            raise ShapeError(
                f"{where}: the kernel is for {inside * self.groups} channels; got {channels}. "
                f"Check data_format.",
                subject=subject,
            )
        if filters is not None and filters % self.groups:
            raise ShapeError(
                f"{where}: {filters} filters cannot be split into {self.groups} groups.",
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
    """The sum over the kernel's places and channels of `x` times `kernel`, for each filter."""

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
    """What a convolution sends back to an input of shape `sizes` when `g` arrives at its output."""

    ways = kernels.convolve_back_into, kernels.convolve_channels_back_into

    def infer_shape(self, g: Tensor, kernel: Tensor, sizes: Tensor) -> Shape:
        if g.ndim != self.axes + 2 or kernel.ndim != self.axes + 2:
            raise ShapeError(
                f"{self.name}: input {g.shape} and kernel {kernel.shape}; expected "
                f"{self.axes + 2} axes each.",
                subject=g,
            )
        known = known_values(sizes)
        inside = kernel.shape[-2]
        channels = None if inside is None else inside * self.groups
        said = merge_shapes((g.shape[0], *(None,) * self.axes, channels), known or ())
        if said is None or not merge_shapes(g.shape, self.output_shape(said, kernel.shape, g)):
            raise ShapeError(
                f"{self.name}: an input of shape {g.shape} and a kernel of shape {kernel.shape} do "
                f"not give an output of shape {known}: a convolution of that would have another "
                f"shape than the input. Check output_shape, strides and padding.",
                subject=g,
            )
        return said

    def perform(self, g: np.ndarray, kernel: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        shape_there = tuple(int(size) for size in sizes)
        plan = self.plan(shape_there[1:-1], kernel.shape[:-2])
        if (len(g), *plan.output_sizes) != (shape_there[0], *g.shape[1:-1]):
            raise ShapeError(
                f"{self.name}: input {g.shape} does not give an output of shape {shape_there}; a "
                f"convolution of that has sizes {plan.output_sizes}."
            )
        out = np.empty(shape_there, g.dtype)
        self.made(shape_there[1:-1], g.shape, kernel.shape, g.dtype)(out, g, kernel, sizes)
        return out

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        (g_shape, dtype), (kernel_shape, _), _ = inputs
        shape_there = outputs[0].shape
        plan = self.plan(shape_there[1:-1], kernel_shape[:-2])
        if (g_shape[0], *plan.output_sizes) != (shape_there[0], *g_shape[1:-1]):
            return None  # `perform` says so
        return self.made(shape_there[1:-1], g_shape, kernel_shape, dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        kernel, g = inputs[1], output_grads[0]
        return [
            Convolve(**self.parameters)(g, kernel),
            ConvolutionKernelGradient(**self.parameters)(g, inputs[0], shape(kernel)),
            None,
        ]


class ConvolutionKernelGradient(Convolution):
    """What arrives at a kernel of shape `sizes` when `g` arrives at the output for `x`."""

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
    """Return `x` with its channels at the end."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, *range(2, x.ndim), 1))


def channels_back(x: Tensor, data_format: str) -> Tensor:
    """Return a tensor with channels at the end in the layout that was asked for."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def tensors_for(where: str, axes: int, x: TensorLike, *kernels: TensorLike) -> list[Tensor]:
    """Return an input and its kernels as tensors of floats with the right number of axes.

    Raises
    ------
    ShapeError
        One has another number of axes.
    """
    tensors = promoted(floating(x), *kernels)
    for what, tensor in zip(("x", "kernel", "pointwise_kernel"), tensors, strict=False):
        if tensor.ndim != axes + 2:
            ends = "batch and channels" if what == "x" else "input channels and filters"
            raise ShapeError(
                f"{where}: {what} has shape {tensor.shape}; expected {axes + 2} axes: {ends}, and "
                f"{axes} between or before them.",
                subject=tensor,
            )
    return tensors


class Moves(NamedTuple):
    """How a kernel moves over an input, as the functions of `K` are told."""

    strides: Sizes
    padding: str
    data_format: str | None
    dilation_rate: Sizes


def convolution(where, axes, x, kernel, moves, groups=1):
    """Return the convolution of `x` along `axes` axes: what conv1d, conv2d and conv3d do.

    Parameters
    ----------
    where : str
        Name of the function that was called.
    axes : int
    moves : Moves
    groups : int
        For a kernel of shape (sizes, channels // groups, filters).
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
        "causal" puts zeros only in front: no output sees a later input.
    data_format : {"channels_last", "channels_first"}, optional
    dilation_rate : int
        Distance between neighbouring places of the kernel.
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


# --- depthwise: every channel has filters of its own; separable: then a mix of channels -----------
#
# A separable convolution has far fewer weights than a full one: 3 * 3 * c + c * f instead of
# 3 * 3 * c * f. MobileNet and Xception are built from it.


def depthwise(where, axes, x, kernel, moves):
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
    return convolution(where, axes, x, grouped, moves, channels)


def depthwise_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return depthwise("K.depthwise_conv2d", 2, x, depthwise_kernel, moves)


def separable(where, axes, x, kernel, mix, moves):
    """Return a depthwise convolution, then one of size 1 with the kernel `mix`."""
    x, kernel, mix = tensors_for(where, axes, x, kernel, mix)
    if any(size not in (1, None) for size in mix.shape[:-2]):
        raise ShapeError(
            f"{where}: pointwise_kernel has shape {mix.shape}; expected size 1 along each axis.",
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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return separable("K.separable_conv2d", 2, x, depthwise_kernel, pointwise_kernel, moves)


# --- transposed: the way back, from a small image to a large one ----------------------------------
#
# It is what the gradient of a convolution by its input computes, taken as a function of its own;
# "deconvolution" is its older, misleading name. Its kernel is that of the convolution whose way
# back it is, so the filters come before the input channels: (sizes, filters, channels).


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
    moves = Moves(strides, padding, data_format, dilation_rate)
    return transposed("K.conv1d_transpose", 1, x, kernel, output_shape, moves)


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


# --- locally connected: the kernel is another one at each place -----------------------------------
#
# Each window of the input is laid out as a row (`Patches`); what is left is for each place a
# product of two matrices, rows by kernel, which `BatchDot` computes with the places as its batch.


@parametric
class PatchOp(IntoMemory):
    """An op on the windows of images (batch, places..., channels)."""

    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]

    def patches_shape(self, shape):
        """Return (batch, windows..., cells of a window, channels)."""
        windows = pooled_shape(shape, self.kernel_size, self.strides, "valid", 1, self.name)
        return (*windows[:-1], product(self.kernel_size), shape[-1])

    def places(self, shape):
        """Yield for each cell of a window its number and its places in the input."""
        found = places_of_cells(shape[1:-1], self.kernel_size, self.strides, "valid", 1)
        return enumerate(place.cells for place in found)


class Patches(PatchOp):
    """The windows of `x`, each with its cells in one axis, row by row."""

    def infer_shape(self, x: Tensor) -> Shape:
        return self.patches_shape(x.shape)

    def compute(self, out: np.ndarray, x: np.ndarray) -> None:
        """Lay out the windows."""
        for number, cells in self.places(x.shape):
            out[..., number, :] = x[cells]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumPatches(self.kernel_size, self.strides)(output_grads[0], inputs[0])]


class SumPatches(ShapeOfLast, PatchOp):
    """Windows laid back into zeros with the shape of `like`; where they overlap, they add up."""

    def compute(self, out: np.ndarray, patches: np.ndarray, like: np.ndarray) -> None:
        """Add the windows up."""
        out.fill(0)
        for number, cells in self.places(like.shape):
            out[cells] += patches[..., number, :]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [Patches(self.kernel_size, self.strides)(output_grads[0]), None]


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """Return for each window of sequences its product with a kernel of its own.

    Parameters
    ----------
    inputs : Tensor, shape (batch, steps, channels) or (batch, channels, steps)
    kernel : Tensor, shape (windows, kernel_size * channels, filters)
        The middle axis counts cell by cell, in each the channels; with "channels_first" channel
        by channel, in each the cells.
    kernel_size : int or tuple of 1 int
    strides : int or tuple of 1 int
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, windows, filters) or (batch, filters, windows)

    Raises
    ------
    ShapeError
        The kernel has another number of windows, or of numbers in each, than the input.
    """
    return _local("K.local_conv1d", 1, inputs, kernel, kernel_size, strides, data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """Return for each window of images its product with a kernel of its own.

    Parameters
    ----------
    inputs : Tensor, shape (batch, rows, columns, channels) or (batch, channels, rows, columns)
    kernel : Tensor, shape (windows, kernel_size[0] * kernel_size[1] * channels, filters)
        Windows row by row. The middle axis counts cell by cell, in each the channels; with
        "channels_first" channel by channel, in each the cells.
    kernel_size, strides : tuple of 2 int
    output_shape : tuple of 2 int
        Rows and columns of windows.
    data_format : {"channels_last", "channels_first"}, optional

    Returns
    -------
    Tensor, shape (batch, rows, columns, filters) or (batch, filters, rows, columns)

    Raises
    ------
    ShapeError
        The kernel has another number of windows, or of numbers in each, than the input; or
        `output_shape` is wrong.
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
            f"{where}: inputs of shape {inputs.shape}, kernel of shape {kernel.shape}; expected "
            f"{ndim} and 3 axes.",
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
            f"{where}: output_shape is {given}; expected {windows}: the windows of size "
            f"{kernel_size}, strides {strides}, in inputs of shape {inputs.shape}.",
            subject=inputs,
        )
    if merge_shapes(kernel.shape, wanted) is None:
        raise ShapeError(
            f"{where}: kernel of shape {kernel.shape} for {windows} windows; expected {wanted}.",
            subject=kernel,
        )
    rows = reshape(by_window, (kernel.shape[0], -1, kernel.shape[1]))
    products = BatchDot((2,), (1,))(rows, kernel)
    output = reshape(products, (*given, -1, filters))
    places = range(len(given))
    if channels_first:
        return permute_dimensions(output, (ndim - 2, ndim - 1, *places))
    return permute_dimensions(output, (ndim - 2, *places, ndim - 1))
