"""Convolutions: one op for one, two and three axes, with strides, dilation and groups.

A convolution is linear in the input and in the kernel, so its two gradients are linear maps of the
same kind, and the gradients of those lead back to the first. Three ops close the circle:

- `Convolve(x, kernel)`;
- `ConvolveBack(g, kernel, sizes)`: the gradient by the input, and by itself the transposed
  convolution, which makes a small image large;
- `ConvolutionKernelGradient(x, g, sizes)`.

All three have the channels last; "channels_first" is a turn of the axes before and after, which the
graph shows. The numbers are made in `convolution_kernels.py`, `convolution_back.py` and
`convolution_channels.py`.

Who calls it: the layers of convolution. Theano has the same three as `AbstractConv`,
`AbstractConv_gradInputs` and `AbstractConv_gradWeights`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kerascope.backend.graph import Op, parametric
from kerascope.backend.ops import convolution_arrays as arrays
from kerascope.backend.ops import convolution_channels as by_channel
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.convolution_back import convolve_back_into
from kerascope.backend.ops.convolution_kernels import convolve_into, kernel_gradient_into
from kerascope.backend.ops.convolution_shapes import (
    PADDINGS,
    checked_padding,
    conv_output_length,
    sizes_along_axes,
)
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.normalization import normalize_data_format
from kerascope.backend.ops.shaping import permute_dimensions
from kerascope.backend.ops.sizes import known_values, shape
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import ShapeError

__all__ = ["conv1d", "conv2d", "conv3d"]


@parametric
class Convolution(Op):
    """What the three ops have in common: how the kernel moves.

    Attributes
    ----------
    strides : tuple of int
        Step of the kernel along each axis.
    padding : {"valid", "same", "causal", "full"}
        Zeros around the input; see `convolution_shapes`.
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
        return arrays.plan(
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

    ways = convolve_into, by_channel.convolve_channels_into

    def infer_shape(self, x, kernel):
        return self.output_shape(x.shape, kernel.shape, x)

    def perform(self, x, kernel):
        plan = self.plan(x.shape[1:-1], kernel.shape[:-2])
        out = np.empty((len(x), *plan.output_sizes, kernel.shape[-1]), x.dtype)
        self.made(x.shape[1:-1], x.shape, kernel.shape, x.dtype)(out, x, kernel)
        return out

    def kernel(self, inputs, outputs):
        (x_shape, dtype), (kernel_shape, _) = inputs
        return self.made(x_shape[1:-1], x_shape, kernel_shape, dtype)

    def grad(self, inputs, outputs, output_grads):
        x, kernel = inputs
        g = output_grads[0]
        return [
            ConvolveBack(**self.parameters)(g, kernel, shape(x)),
            ConvolutionKernelGradient(**self.parameters)(x, g, shape(kernel)),
        ]


class ConvolveBack(Convolution):
    """What a convolution sends back to an input of shape `sizes` when `g` arrives at its output."""

    ways = convolve_back_into, by_channel.convolve_channels_back_into

    def infer_shape(self, g, kernel, sizes):
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
        fits = said and merge_shapes(g.shape, self.output_shape(said, kernel.shape, g))
        if not fits:
            raise ShapeError(
                f"{self.name}: an input of shape {g.shape} and a kernel of shape {kernel.shape} do "
                f"not give an output of shape {known}: a convolution of that would have another "
                f"shape than the input. Check output_shape, strides and padding.",
                subject=g,
            )
        return said

    def perform(self, g, kernel, sizes):
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

    def kernel(self, inputs, outputs):
        (g_shape, dtype), (kernel_shape, _), _ = inputs
        shape_there = outputs[0].shape
        plan = self.plan(shape_there[1:-1], kernel_shape[:-2])
        if (g_shape[0], *plan.output_sizes) != (shape_there[0], *g_shape[1:-1]):
            return None  # `perform` says so
        return self.made(shape_there[1:-1], g_shape, kernel_shape, dtype)

    def grad(self, inputs, outputs, output_grads):
        kernel, g = inputs[1], output_grads[0]
        return [
            Convolve(**self.parameters)(g, kernel),
            ConvolutionKernelGradient(**self.parameters)(g, inputs[0], shape(kernel)),
            None,
        ]


class ConvolutionKernelGradient(Convolution):
    """What arrives at a kernel of shape `sizes` when `g` arrives at the output for `x`."""

    ways = kernel_gradient_into, by_channel.channels_kernel_gradient_into

    def infer_shape(self, x, g, sizes):
        return known_values(sizes)

    def perform(self, x, g, sizes):
        out = np.empty(tuple(int(size) for size in sizes), x.dtype)
        self.made(x.shape[1:-1], x.shape, out.shape, x.dtype)(out, x, g, sizes)
        return out

    def kernel(self, inputs, outputs):
        x_shape, dtype = inputs[0]
        return self.made(x_shape[1:-1], x_shape, outputs[0].shape, dtype)

    def grad(self, inputs, outputs, output_grads):
        x, g, _ = inputs
        as_kernel = output_grads[0]
        return [
            ConvolveBack(**self.parameters)(g, as_kernel, shape(x)),
            Convolve(**self.parameters)(x, as_kernel),
            None,
        ]


# --- the functions --------------------------------------------------------------------------------


def channels_last(x, data_format):
    """Return `x` with its channels at the end."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, *range(2, x.ndim), 1))


def channels_back(x, data_format):
    """Return a tensor with channels at the end in the layout that was asked for."""
    if data_format == "channels_last":
        return x
    return permute_dimensions(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def tensors_for(where, axes, x, *kernels):
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


def convolution(where, axes, x, kernel, strides, padding, data_format, dilation_rate, groups=1):
    """Return the convolution of `x` along `axes` axes: what conv1d, conv2d and conv3d do.

    Parameters
    ----------
    where : str
        Name of the function that was called.
    axes : int
    groups : int
        For a kernel of shape (sizes, channels // groups, filters).
    """
    data_format = normalize_data_format(data_format)
    x, kernel = tensors_for(where, axes, x, kernel)
    op = Convolve(
        sizes_along_axes(strides, axes, f"{where}: strides"),
        checked_padding(padding, where, PADDINGS),
        sizes_along_axes(dilation_rate, axes, f"{where}: dilation_rate"),
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
    return convolution(
        "K.conv1d", 1, x, kernel, strides, padding, data_format, dilation_rate, groups
    )


def conv2d(
    x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1), groups=1
):
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
    return convolution(
        "K.conv2d", 2, x, kernel, strides, padding, data_format, dilation_rate, groups
    )


def conv3d(
    x,
    kernel,
    strides=(1, 1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1, 1),
    groups=1,
):
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
    return convolution(
        "K.conv3d", 3, x, kernel, strides, padding, data_format, dilation_rate, groups
    )
