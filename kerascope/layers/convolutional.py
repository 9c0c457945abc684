"""Layers of convolution: a small kernel moves over a sequence, an image or a volume.

At each position the kernel sees only a few neighbours, and the same kernel is used everywhere. So a
convolution has far fewer weights than a `Dense`. `_Sliding` is the base class: it stores sizes,
strides, padding and data format, adds the bias and applies the activation. There are four kinds of
convolutions. Ordinary kernels see all channels. Transposed convolutions enlarge images. Depthwise
kernels see one channel each. Separable convolutions are depthwise and then mix the channels.

As in Keras, the layers without weights that make images larger or smaller (`spatial.py`) and the
pooling layers can be imported from here too.

Lesson: the chapter on images.
"""

# ruff: noqa: F403 (each module's __all__ says which names it has)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops import windows
from kerascope.backend.shapes import Shape, Size
from kerascope.configurable import by_name
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers import pooling, spatial
from kerascope.layers.arguments import Identifier, Sizes, make_weight, positive_int
from kerascope.layers.pooling import *
from kerascope.layers.spatial import *
from kerascope.layers.spatial import KernelType, check_spatial_axes
from kerascope.spellings import dialect_options

__all__ = [
    "AtrousConv1D",
    "AtrousConv2D",
    "AtrousConvolution1D",
    "AtrousConvolution2D",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Convolution1D",
    "Convolution1DTranspose",
    "Convolution2D",
    "Convolution2DTranspose",
    "Convolution3D",
    "Convolution3DTranspose",
    "Deconv2D",
    "Deconvolution2D",
    "Deconvolution3D",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
    *spatial.__all__,
    *(name for name in pooling.__all__ if "Pooling" in name),  # without short names: MaxPool2D
]


class _Sliding(Layer, metaclass=KernelType):
    """Base class of the convolutions: a kernel along `kernel_axes` axes, a bias and an activation.

    A subclass makes its kernels in `make_kernels(channels)`, uses them in `convolve(inputs)`, and
    returns the number of output channels from `output_channels(channels)`. The public classes
    have the signatures that users see, and pass all arguments by name to their base classes, which
    store the arguments.
    """

    kernel_axes: ClassVar[int]
    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")
    function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        *,
        kernel_size: Sizes,
        strides: Sizes,
        padding: str,
        data_format: str | None,
        dilation_rate: Sizes,
        activation: Identifier,
        use_bias: bool,
        bias_initializer: Identifier,
        bias_regularizer: Identifier,
        bias_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        axes, where = self.kernel_axes, self.label
        self.kernel_size = windows.sizes_along_axes(kernel_size, axes, f"{where}: kernel_size")
        self.strides = windows.sizes_along_axes(strides, axes, f"{where}: strides")
        self.padding = windows.checked_padding(padding, where, self.paddings)
        self.data_format = K.normalize_data_format(data_format)
        self.dilation_rate = windows.sizes_along_axes(
            dilation_rate, axes, f"{where}: dilation_rate"
        )
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.bias_initializer = initializers.get(bias_initializer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.bias_constraint = constraints.get(bias_constraint)

    # --- defined by subclasses --------------------------------------------------------------------

    def make_kernels(self, channels: int) -> None:
        """Make the kernels of the layer, which are all weights except the bias."""
        raise NotImplementedError

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution of the inputs, before the bias and the activation."""
        raise NotImplementedError

    def output_channels(self, channels: Size) -> Size:
        """Return the number of output channels for this number of input channels."""
        raise NotImplementedError

    def output_length(self, size: Size, axis: int) -> Size:
        """Return the output length along spatial axis `axis`, for an input of length `size`."""
        return windows.conv_output_length(
            size, self.kernel_size[axis], self.padding, self.strides[axis], self.dilation_rate[axis]
        )

    def _slide(self, *arguments: Any, **options: Any) -> Tensor:
        """Call the K function of this class with the layer's strides, padding, and so on."""
        return type(self).function(
            *arguments,
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
            **options,
        )

    # --- the layer --------------------------------------------------------------------------------

    @property
    def channel_axis(self) -> int:
        """The index of the channel axis, in the input and in the output."""
        return 1 if self.data_format == "channels_first" else self.kernel_axes + 1

    def build(self, input_shape: Shape) -> None:
        """Check the input's shape and make the weights.

        Raises
        ------
        ShapeError
            The number of axes is wrong, the number of channels is unknown, or the input is smaller
            than the kernel.
        """
        check_spatial_axes(self, input_shape, self.kernel_axes, self.data_format)
        channels = input_shape[self.channel_axis]
        if channels is None:
            raise ShapeError(
                f"{self.label}: expected a known number of channels on axis {self.channel_axis} "
                f"({self.data_format}), got an input of shape {input_shape}.",
                subject=self,
            )
        self.compute_output_shape(input_shape)
        self.make_kernels(channels)
        self.bias = None
        if self.use_bias:
            self.bias = make_weight(self, "bias", (self.output_channels(channels),))
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.channel_axis: channels})
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(convolution of inputs and kernel + bias)."""
        self.compute_output_shape(K.int_shape(inputs))  # the error names the layer
        output = self.convolve(inputs)
        if self.use_bias:
            output = K.bias_add(output, self.bias, data_format=self.data_format)
        return self.activation(output)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (batch, lengths..., channels), with axes as in the data format.

        Raises
        ------
        ShapeError
            The kernel is larger than the input.
        """
        first = 2 if self.data_format == "channels_first" else 1
        sizes = input_shape[first : first + self.kernel_axes]
        lengths = tuple(self.output_length(size, axis) for axis, size in enumerate(sizes))
        if any(length is not None and length < 1 for length in lengths):
            raise ShapeError(
                f"{self.label}: a kernel of size {self.kernel_size} is larger than the input "
                f"{input_shape} ({self.data_format}), whose sizes are {sizes}. Use a larger input, "
                f"a smaller kernel, fewer poolings before, or padding='same'.",
                subject=self,
            )
        channels = self.output_channels(input_shape[self.channel_axis])
        if self.data_format == "channels_first":
            return (input_shape[0], channels, *lengths)
        return (input_shape[0], *lengths, channels)


# --- ordinary convolutions ------------------------------------------------------------------------


class _Convolution(_Sliding):
    """Base class of convolutions with `filters` kernels, each over all channels or one group."""

    paddings: ClassVar[tuple[str, ...]] = ("valid", "same", "full")

    def __init__(
        self,
        *,
        filters: int,
        kernel_initializer: Identifier,
        kernel_regularizer: Identifier,
        kernel_constraint: Identifier,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters = positive_int(filters, f"{self.label}: filters")
        self.groups = positive_int(groups, f"{self.label}: groups")
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        if dialect_options().is_strict and max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ArgumentError(
                f"{self.label}: expected strides or dilation_rate to be 1, got strides "
                f"{self.strides} and dilation_rate {self.dilation_rate}.",
                subject=self,
            )
        if self.filters % self.groups:
            raise ArgumentError(
                f"{self.label}: {self.filters} filters cannot be split into {self.groups} groups.",
                subject=self,
            )

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the shape of the kernel for this number of channels.

        Raises
        ------
        ShapeError
            `channels` is not a multiple of `groups`.
        """
        if channels % self.groups:
            raise ShapeError(
                f"{self.label}: {channels} channels cannot be split into {self.groups} groups.",
                subject=self,
            )
        return (*self.kernel_size, channels // self.groups, self.filters)

    def make_kernels(self, channels: int) -> None:
        """Create the weight `kernel`."""
        self.kernel = make_weight(self, "kernel", self.kernel_shape(channels))

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution of inputs and kernel."""
        return self._slide(inputs, self.kernel, groups=self.groups)

    def output_channels(self, channels: Size) -> Size:
        """Return the number of filters."""
        return self.filters


class Conv1D(_Convolution):
    """A convolution along one axis, such as time.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int
        How many neighbouring steps the kernel sees.
    strides : int
        Distance between the kernel's positions.
    padding : {"valid", "same", "causal", "full"}
        "valid" takes only positions where the kernel is inside the input. "same" and "causal" keep
        the length (at strides 1); "causal" puts all zeros in front, so that no output sees a later
        input. "full" takes every position where kernel and input overlap.
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, channels) or (batch, channels, steps).
    dilation_rate : int
        Distance between the steps that the kernel sees.
    activation, use_bias, kernel_initializer, ..., bias_constraint
        As for `Dense`.
    groups : int
        Number of groups of channels and filters; each group of filters sees only its own channels.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A number is not a whole number above 0; or, in dialect "3", strides and dilation_rate are
        both above 1.
    ShapeError
        At the first call: the input has no channel axis, or is smaller than the kernel.

    Notes
    -----
    `kernel` has shape (kernel_size, channels // groups, filters), `bias` (filters,).

    Examples
    --------
    >>> import numpy as np
    >>> Conv1D(4, 3, padding="causal", dilation_rate=2)(np.ones((1, 10, 2))).shape
    (1, 10, 4)
    """

    kernel_axes: ClassVar[int] = 1
    paddings = ("valid", "same", "causal", "full")
    function = staticmethod(K.conv1d)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Sizes = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class Conv2D(_Convolution):
    """A convolution over images.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int or tuple of 2 int
        Rows and columns that the kernel covers.
    strides : int or tuple of 2 int
        Distance between the kernel's positions, along rows and columns.
    padding : {"valid", "same", "full"}
        "valid" takes only positions where the kernel is inside the image. "same" keeps the size (at
        strides 1) with zeros around the image. "full" takes every position where kernel and image
        overlap.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    dilation_rate : int or tuple of 2 int
        Distance between the pixels that the kernel sees.
    activation, use_bias, kernel_initializer, ..., bias_constraint
        As for `Dense`.
    groups : int
        Number of groups of channels and filters; each group of filters sees only its own channels.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A number is not a whole number above 0; or, in dialect "3", strides and dilation_rate are
        both above 1.
    ShapeError
        At the first call: the input has no channel axis, or is smaller than the kernel.

    Notes
    -----
    `kernel` has shape (rows, columns, channels // groups, filters) with either data format, `bias`
    (filters,). From n rows, "valid" makes n - kernel + 1, "same" n, and "full" n + kernel - 1,
    divided by the stride and rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.ones((5, 28, 28, 1))
    >>> Conv2D(32, 3, activation="relu")(images).shape
    (5, 26, 26, 32)
    >>> Conv2D(32, (3, 5), strides=2, padding="same")(images).shape
    (5, 14, 14, 32)
    """

    kernel_axes: ClassVar[int] = 2
    function = staticmethod(K.conv2d)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class Conv3D(_Convolution):
    """A convolution over volumes, such as videos; `Conv2D` with one more axis.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, dilation_rate : int or tuple of 3 int
        As for `Conv2D`, along three axes.
    padding, data_format, activation, ..., groups, **kwargs
        As for `Conv2D`; input (batch, three sizes, channels) or (batch, channels, three sizes).

    Examples
    --------
    >>> import numpy as np
    >>> Conv3D(4, (1, 3, 3))(np.ones((2, 5, 8, 8, 1))).shape
    (2, 5, 6, 6, 4)
    """

    kernel_axes: ClassVar[int] = 3
    function = staticmethod(K.conv3d)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


# --- transposed convolutions ----------------------------------------------------------------------
# They reverse the shrinking of a convolution with strides: a `Conv2D` with the same arguments turns
# the output's size back into the input's size. Decoders and generators are built from them.


class _Transposed(_Convolution):
    """Base class of the transposed convolutions along `kernel_axes` axes."""

    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")

    def __init__(self, *, output_padding: Sizes | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.groups != 1:
            raise ArgumentError(
                f"{self.label}: expected groups 1, got {self.groups}. A transposed convolution has "
                f"no groups.",
                subject=self,
            )
        self.output_padding = self._checked_output_padding(output_padding)

    def _checked_output_padding(self, value: Any) -> tuple[int, ...] | None:
        """Return the output padding of each axis, or None if it is chosen automatically.

        Raises
        ------
        ArgumentError
            An output padding is not below the stride of its axis, or no convolution maps an output
            of the resulting size back to the size of the input.
        """
        if value is None:
            return None
        where = f"{self.label}: output_padding"
        numbers = windows.sizes_along_axes(value, self.kernel_axes, where, least=0)
        if any(number >= step for number, step in zip(numbers, self.strides, strict=True)):
            raise ArgumentError(
                f"{where}: expected numbers below the strides {self.strides}, got {value!r}.",
                subject=self,
            )
        for axis, number in enumerate(numbers):
            if self._leads_back(axis, number):
                continue
            fitting = [str(n) for n in range(self.strides[axis]) if self._leads_back(axis, n)]
            choice = f"output_padding {' or '.join(fitting)} on axis {axis}, or " if fitting else ""
            raise ArgumentError(
                f"{self.label}: output_padding {value!r} with kernel_size {self.kernel_size}, "
                f"strides {self.strides} and padding '{self.padding}': no convolution maps an "
                f"output of that size back to the input. Use {choice}None.",
                subject=self,
            )
        return numbers

    def _leads_back(self, axis: int, number: int) -> bool:
        kernel, step = self.kernel_size[axis], self.strides[axis]
        apart, size = self.dilation_rate[axis], 1000
        long = windows.deconv_length(size, step, kernel, self.padding, number, apart)
        return windows.conv_output_length(long, kernel, self.padding, step, apart) == size

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the kernel's shape: (sizes..., filters, channels)."""
        return (*self.kernel_size, self.filters, channels)

    def output_length(self, size: Any, axis: int) -> Any:
        """Return the output length along spatial axis `axis`, for an input of length `size`.

        Both lengths are ints, None if unknown, or tensors if known only at run time.
        """
        return windows.deconv_length(
            size,
            self.strides[axis],
            self.kernel_size[axis],
            self.padding,
            None if self.output_padding is None else self.output_padding[axis],
            self.dilation_rate[axis],
        )

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the transposed convolution of inputs and kernel."""
        return self._slide(inputs, self.kernel, self._run_time_shape(inputs))

    def _run_time_shape(self, inputs: Tensor) -> tuple[Any, ...]:
        """Return the output's shape, with tensors for sizes that are known only at run time."""
        known: Shape = self.compute_output_shape(K.int_shape(inputs))
        first = 2 if self.data_format == "channels_first" else 1
        sizes: list[Any] = list(known)
        for axis in range(self.kernel_axes):
            if sizes[first + axis] is None:
                sizes[first + axis] = self.output_length(K.shape(inputs)[first + axis], axis)
        return tuple(sizes)


class Conv1DTranspose(_Transposed):
    """The transposed convolution along one axis; `Conv2DTranspose` with one axis fewer.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, output_padding, dilation_rate : int
        As for `Conv2DTranspose`, along one axis.
    padding, data_format, activation, ..., bias_constraint, **kwargs
        As for `Conv2DTranspose`.

    Notes
    -----
    `kernel` has shape (kernel_size, filters, channels).

    Examples
    --------
    >>> import numpy as np
    >>> Conv1DTranspose(3, 3, strides=2)(np.ones((5, 10, 8))).shape
    (5, 21, 3)
    """

    kernel_axes: ClassVar[int] = 1
    function: ClassVar[Callable[..., Tensor]] = staticmethod(K.conv1d_transpose)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        output_padding: Sizes | None = None,
        data_format: str | None = None,
        dilation_rate: Sizes = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class Conv2DTranspose(_Transposed):
    """The transposed convolution of images: enlarges them by the strides.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int or tuple of 2 int
        Rows and columns that the kernel covers.
    strides : int or tuple of 2 int
        Factors by which the image grows.
    padding : {"valid", "same"}
        With "same", n rows become n * strides.
    output_padding : int or tuple of 2 int, optional
        Rows and columns to add to the smallest possible output; fewer than the strides. With None,
        the size of the output follows from the strides: see the notes.
    data_format, dilation_rate, activation, ..., bias_constraint, **kwargs
        As for `Conv2D`.

    Notes
    -----
    `kernel` has shape (rows, columns, filters, channels), as in the convolution from the output
    back to the input. Without `output_padding`, n rows become n * strides with
    "same", and n * strides + max(kernel - strides, 0) with "valid". With `output_padding` p, n rows
    become (n - 1) * strides + kernel - 2 * half + p, where half is kernel // 2 with "same" and 0
    with "valid".

    Examples
    --------
    >>> import numpy as np
    >>> Conv2DTranspose(3, 3, strides=2, padding="same")(np.ones((5, 14, 14, 8))).shape
    (5, 28, 28, 3)
    """

    kernel_axes: ClassVar[int] = 2
    function: ClassVar[Callable[..., Tensor]] = staticmethod(K.conv2d_transpose)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        output_padding: Sizes | None = None,
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1),
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class Conv3DTranspose(_Transposed):
    """The transposed convolution of volumes; `Conv2DTranspose` with one more axis.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, output_padding, dilation_rate : int or tuple of 3 int
        As for `Conv2DTranspose`, along three axes.
    padding, data_format, activation, ..., bias_constraint, **kwargs
        As for `Conv2DTranspose`.

    Notes
    -----
    `kernel` has shape (three sizes, filters, channels).

    Examples
    --------
    >>> import numpy as np
    >>> Conv3DTranspose(2, 2, strides=2)(np.ones((1, 2, 3, 3, 4))).shape
    (1, 4, 6, 6, 2)
    """

    kernel_axes: ClassVar[int] = 3
    function: ClassVar[Callable[..., Tensor]] = staticmethod(K.conv3d_transpose)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: str = "valid",
        output_padding: Sizes | None = None,
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dilation_rate: Sizes = (1, 1, 1),
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


# --- each channel by itself -----------------------------------------------------------------------


class _Depthwise(_Sliding):
    """Base class of the convolutions with `depth_multiplier` kernels for each channel."""

    def __init__(
        self,
        *,
        depth_multiplier: int,
        depthwise_initializer: Identifier,
        depthwise_regularizer: Identifier,
        depthwise_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.depth_multiplier = positive_int(depth_multiplier, f"{self.label}: depth_multiplier")
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)

    def make_kernels(self, channels: int) -> None:
        """Create the weight `depthwise_kernel`."""
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = make_weight(self, "depthwise_kernel", shape, of="depthwise")

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution of each channel with its own kernels."""
        return self._slide(inputs, self.depthwise_kernel)

    def output_channels(self, channels: Size) -> Size:
        """Return the number of channels times `depth_multiplier`."""
        return None if channels is None else channels * self.depth_multiplier


class DepthwiseConv1D(_Depthwise):
    """A separate convolution of each channel, along one axis.

    Parameters
    ----------
    kernel_size, strides, dilation_rate : int
        As for `DepthwiseConv2D`, along one axis.
    padding, depth_multiplier, data_format, activation, ..., bias_constraint, **kwargs
        As for `DepthwiseConv2D`.

    Notes
    -----
    `depthwise_kernel` has shape (kernel_size, channels, depth_multiplier).

    Examples
    --------
    >>> import numpy as np
    >>> DepthwiseConv1D(3, depth_multiplier=2)(np.ones((5, 10, 4))).shape
    (5, 8, 8)
    """

    kernel_axes: ClassVar[int] = 1
    function = staticmethod(K.depthwise_conv1d)

    def __init__(
        self,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dilation_rate: Sizes = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class DepthwiseConv2D(_Depthwise):
    """A separate convolution of each channel of images.

    Parameters
    ----------
    kernel_size, strides : int or tuple of 2 int
        As for `Conv2D`.
    padding : {"valid", "same"}
        As for `Conv2D`.
    depth_multiplier : int
        Number of output channels for each input channel.
    data_format, activation, use_bias
        As for `Conv2D`.
    depthwise_initializer, depthwise_regularizer, depthwise_constraint
        For `depthwise_kernel`.
    bias_initializer, bias_regularizer, activity_regularizer, bias_constraint
        As for `Dense`.
    dilation_rate : int or tuple of 2 int
        As for `Conv2D`. Keras 2 did not have it.
    **kwargs
        As for `Layer`.

    Notes
    -----
    `depthwise_kernel` has shape (rows, columns, channels, depth_multiplier). Output channel
    c * depth_multiplier + m comes from input channel c.

    Examples
    --------
    >>> import numpy as np
    >>> DepthwiseConv2D(3, depth_multiplier=2)(np.ones((5, 8, 8, 4))).shape
    (5, 6, 6, 8)
    """

    kernel_axes: ClassVar[int] = 2
    function = staticmethod(K.depthwise_conv2d)

    def __init__(
        self,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dilation_rate: Sizes = (1, 1),
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


# --- each channel by itself, then a mix of the channels -------------------------------------------
# MobileNet and Xception are built from these: they need far fewer weights than ordinary kernels.


class _Separable(_Depthwise):
    """Base class of depthwise convolutions followed by `filters` weighted sums of the channels."""

    def __init__(
        self,
        *,
        filters: int,
        pointwise_initializer: Identifier,
        pointwise_regularizer: Identifier,
        pointwise_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters = positive_int(filters, f"{self.label}: filters")
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.pointwise_constraint = constraints.get(pointwise_constraint)

    def make_kernels(self, channels: int) -> None:
        """Make `depthwise_kernel` and `pointwise_kernel`."""
        super().make_kernels(channels)
        ones = (1,) * self.kernel_axes
        shape = (*ones, channels * self.depth_multiplier, self.filters)
        self.pointwise_kernel = make_weight(self, "pointwise_kernel", shape, of="pointwise")

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the depthwise convolution, with its channels mixed at each position."""
        return self._slide(inputs, self.depthwise_kernel, self.pointwise_kernel)

    def output_channels(self, channels: Size) -> Size:
        """Return the number of filters."""
        return self.filters


class SeparableConv1D(_Separable):
    """A convolution of each channel along one axis, then a mix of the channels at each step.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, dilation_rate : int
        As for `Conv1D`.
    padding : {"valid", "same", "causal"}
        As for `Conv1D`.
    data_format, depth_multiplier, activation, ..., bias_constraint, **kwargs
        As for `SeparableConv2D`.

    Notes
    -----
    `depthwise_kernel` has shape (kernel_size, channels, depth_multiplier), `pointwise_kernel`
    (1, channels * depth_multiplier, filters).

    Examples
    --------
    >>> import numpy as np
    >>> SeparableConv1D(6, 3)(np.ones((5, 10, 4))).shape
    (5, 8, 6)
    """

    kernel_axes: ClassVar[int] = 1
    paddings = ("valid", "same", "causal")
    function = staticmethod(K.separable_conv1d)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Sizes = 1,
        depth_multiplier: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        pointwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        pointwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        pointwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class SeparableConv2D(_Separable):
    """A separate convolution of each channel of images, then a mix of the channels at each pixel.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, padding, data_format, dilation_rate
        As for `Conv2D`, without "full".
    depth_multiplier : int
        Number of channels of the depthwise convolution for each input channel.
    activation, use_bias
        As for `Conv2D`.
    depthwise_initializer, depthwise_regularizer, depthwise_constraint
        For `depthwise_kernel`.
    pointwise_initializer, pointwise_regularizer, pointwise_constraint
        For `pointwise_kernel`.
    bias_initializer, bias_regularizer, activity_regularizer, bias_constraint
        As for `Dense`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    `depthwise_kernel` has shape (rows, columns, channels, depth_multiplier), `pointwise_kernel`
    (1, 1, channels * depth_multiplier, filters). No activation is applied between the two
    convolutions.

    Examples
    --------
    >>> import numpy as np
    >>> layer = SeparableConv2D(64, 3)
    >>> layer(np.ones((5, 8, 8, 32))).shape, layer.count_params()
    ((5, 6, 6, 64), 2400)
    """

    kernel_axes: ClassVar[int] = 2
    function = staticmethod(K.separable_conv2d)

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1),
        depth_multiplier: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        depthwise_initializer: Identifier = "glorot_uniform",
        pointwise_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        depthwise_regularizer: Identifier = None,
        pointwise_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        depthwise_constraint: Identifier = None,
        pointwise_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


# --- names of Keras 1 -----------------------------------------------------------------------------

Convolution1D = AtrousConvolution1D = AtrousConv1D = Conv1D
Convolution2D = AtrousConvolution2D = AtrousConv2D = Conv2D
Convolution3D = Conv3D
Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D

SeparableConvolution2D = SeparableConv2D

# Configurations written by Keras 1 contain these names.
layer_registry.register(Conv1D, "Convolution1D", "AtrousConvolution1D")

layer_registry.register(Conv2D, "Convolution2D", "AtrousConvolution2D")

layer_registry.register(Conv3D, "Convolution3D")

layer_registry.register(Conv2DTranspose, "Convolution2DTranspose", "Deconvolution2D")

layer_registry.register(Conv3DTranspose, "Convolution3DTranspose", "Deconvolution3D")

layer_registry.register(SeparableConv1D, "SeparableConvolution1D")

layer_registry.register(SeparableConv2D, "SeparableConvolution2D")
