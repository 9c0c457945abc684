"""What all layers of convolution share: how the kernel moves, the bias, the activation.

`_Sliding` knows the places: sizes, strides, padding, layout. `_Convolution` adds the weights of an
ordinary convolution; `transposed.py` and `separable.py` add others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution_shapes import (
    checked_padding,
    conv_output_length,
    sizes_along_axes,
)
from kerascope.backend.shapes import Shape, Size
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import positive_int
from kerascope.layers.kernel_parts import KernelType
from kerascope.layers.spatial import check_spatial_axes


class _Sliding(Layer, metaclass=KernelType):
    """A kernel that moves along `kernel_axes` axes, then a bias and an activation.

    A subclass makes its kernels in `make_kernels(channels)`, uses them in `convolve(inputs)`, and
    says how many channels come out in `output_channels(channels)`.
    """

    kernel_axes: ClassVar[int]
    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")

    def __init__(
        self,
        kernel_size: Any,
        strides: Any,
        padding: str,
        data_format: str | None,
        dilation_rate: Any,
        activation: Any,
        use_bias: bool,
        bias_initializer: Any,
        bias_regularizer: Any,
        bias_constraint: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        axes, where = self.kernel_axes, self.label
        self.kernel_size = sizes_along_axes(kernel_size, axes, f"{where}: kernel_size")
        self.strides = sizes_along_axes(strides, axes, f"{where}: strides")
        self.padding = checked_padding(padding, where, self.paddings)
        self.data_format = K.normalize_data_format(data_format)
        self.dilation_rate = sizes_along_axes(dilation_rate, axes, f"{where}: dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.bias_initializer = initializers.get(bias_initializer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.bias_constraint = constraints.get(bias_constraint)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ArgumentError(
                f"{where}: strides {self.strides} and dilation_rate {self.dilation_rate} are both "
                f"above 1; expected one of them to be 1.",
                subject=self,
            )

    # --- what a subclass says ---------------------------------------------------------------------

    def make_kernels(self, channels: int) -> None:
        """Make the weights but for the bias."""
        raise NotImplementedError

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution, without bias and activation."""
        raise NotImplementedError

    def output_channels(self, channels: Size) -> Size:
        """Return how many channels come out."""
        raise NotImplementedError

    def output_length(self, size: Size, axis: int) -> Size:
        """Return the length of the output along an axis of the kernel, counted from 0."""
        return conv_output_length(
            size,
            self.kernel_size[axis],
            self.padding,
            self.strides[axis],
            self.dilation_rate[axis],
        )

    # --- what a layer does ------------------------------------------------------------------------

    @property
    def channel_axis(self) -> int:
        """Where the channels of the input and the output lie."""
        return 1 if self.data_format == "channels_first" else self.kernel_axes + 1

    def build(self, input_shape: Shape) -> None:
        """Make the weights, after a look at the shape of the input.

        Raises
        ------
        ShapeError
            The input has another number of axes, an unknown number of channels, or is too small.
        """
        check_spatial_axes(self, input_shape, self.kernel_axes, self.data_format)
        channels = input_shape[self.channel_axis]
        if channels is None:
            raise ShapeError(
                f"{self.label}: input {input_shape} has an unknown number of channels; expected a "
                f"number on axis {self.channel_axis} ({self.data_format}).",
                subject=self,
            )
        self.compute_output_shape(input_shape)
        self.make_kernels(channels)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.output_channels(channels),),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
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
        """Return the input's shape with new sizes and channels.

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


class _Convolution(_Sliding):
    """A convolution with `filters` kernels that see all channels, or all of their group."""

    paddings: ClassVar[tuple[str, ...]] = ("valid", "same", "full")
    function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any,
        padding: str,
        data_format: str | None,
        dilation_rate: Any,
        activation: Any,
        use_bias: bool,
        kernel_initializer: Any,
        bias_initializer: Any,
        kernel_regularizer: Any,
        bias_regularizer: Any,
        activity_regularizer: Any,
        kernel_constraint: Any,
        bias_constraint: Any,
        groups: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer,
            bias_regularizer,
            bias_constraint,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
        self.filters = positive_int(filters, f"{self.label}: filters")
        self.groups = positive_int(groups, f"{self.label}: groups")
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        if self.filters % self.groups:
            raise ArgumentError(
                f"{self.label}: {self.filters} filters cannot be split into {self.groups} groups.",
                subject=self,
            )

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the shape of the kernel for so many channels.

        Raises
        ------
        ShapeError
            They cannot be split into groups.
        """
        if channels % self.groups:
            raise ShapeError(
                f"{self.label}: {channels} channels cannot be split into {self.groups} groups.",
                subject=self,
            )
        return (*self.kernel_size, channels // self.groups, self.filters)

    def make_kernels(self, channels: int) -> None:
        """Make `kernel`."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=self.kernel_shape(channels),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution of inputs and kernel."""
        return type(self).function(
            inputs,
            self.kernel,
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
            groups=self.groups,
        )

    def output_channels(self, channels: Size) -> Size:
        """Return the number of filters."""
        return self.filters
