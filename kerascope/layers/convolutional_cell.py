"""ConvLSTM2DCell: an LSTMCell whose two products are convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution_shapes import (
    checked_padding,
    conv_output_length,
    sizes_along_axes,
)
from kerascope.backend.shapes import Shape, Size
from kerascope.errors import ShapeError
from kerascope.layers.arguments import positive_int
from kerascope.layers.gates import NO_MASKS, DropoutMasks, factors_for
from kerascope.layers.kernel_parts import KernelType
from kerascope.layers.lstm import LSTMCell
from kerascope.layers.recurrent_arguments import first_shape
from kerascope.layers.time_steps import joined_steps, parted_steps
from kerascope.spellings import default_by_dialect


class ConvLSTM2DCell(LSTMCell, metaclass=KernelType):
    """One time step of a ConvLSTM2D.

    Parameters
    ----------
    filters : int
        Number of channels of the output and of the memory.
    kernel_size : int or tuple of int
        Rows and columns of the kernels.
    strides, padding, data_format, dilation_rate : object
        Of the convolution of the input, as for `Conv2D`; that of the state has strides 1 and
        padding "same".
    activation, recurrent_activation : str or callable
        As for `LSTMCell`, as is all that follows.
    use_bias, unit_forget_bias : bool
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
    dropout, recurrent_dropout : float
    **kwargs
        As for `Layer`.

    Notes
    -----
    The formulas of `LSTMCell` with conv(x, kernel) in place of dot(x, kernel). `kernel` has the
    shape (rows, columns, channels, 4 * filters), `recurrent_kernel` (rows, columns, filters, 4 *
    filters).
    """

    kernel_axes = 2

    @default_by_dialect
    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self.filters = positive_int(filters, f"{type(self).__name__}: filters")
        super().__init__(
            filters,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            **kwargs,
        )
        self.kernel_size = sizes_along_axes(kernel_size, 2, f"{self.label}: kernel_size")
        self.strides = sizes_along_axes(strides, 2, f"{self.label}: strides")
        self.padding = checked_padding(padding, self.label, ("valid", "same"))
        self.data_format = K.normalize_data_format(data_format)
        self.dilation_rate = sizes_along_axes(dilation_rate, 2, f"{self.label}: dilation_rate")

        self.channel_axis = -3 if self.data_format == "channels_first" else -1

    def build(self, input_shape: Any) -> None:
        """Make `kernel`, `recurrent_kernel` and `bias` for images (batch, ...) of this shape.

        Raises
        ------
        ShapeError
            The number of channels is not known, or the images are smaller than the kernel.
        """
        input_shape = first_shape(input_shape)
        channels = input_shape[self.channel_axis]
        sizes = self.shape_of_state(input_shape)
        if channels is None or any(size is not None and size < 1 for size in sizes):
            raise ShapeError(
                f"{self.label}: images have shape {input_shape[1:]}; expected a known number of "
                f"channels ({self.data_format}) and at least {self.kernel_size} places.",
                subject=self,
            )
        super().build((input_shape[0], channels))

    def kernel_shape(self, channels: Size) -> Shape:
        """Return the shape of a kernel for inputs with so many channels."""
        return (*self.kernel_size, channels, self.gates * self.units)

    def shape_of_state(self, input_shape: Shape) -> Shape:
        """Return the shape of a sample of a state, for images (batch, ...) of this shape."""
        is_first = self.channel_axis == -3
        places = input_shape[2:] if is_first else input_shape[1:3]
        sizes = [
            conv_output_length(
                size, self.kernel_size[i], self.padding, self.strides[i], self.dilation_rate[i]
            )
            for i, size in enumerate(places)
        ]
        return (self.units, *sizes) if is_first else (*sizes, self.units)

    # --- the two products -------------------------------------------------------------------------

    def project_inputs(self, inputs: Tensor, masks: DropoutMasks = NO_MASKS) -> Tensor:
        """Return conv(inputs, kernel) + bias, for the images of one time step or of all."""
        if inputs.ndim == 4:
            return self._projected(inputs, masks.inputs)
        factors = factors_for(inputs, masks.inputs)
        if factors is not None:  # they must be as many as the images
            factors = [joined_steps(factor + K.zeros_like(inputs)) for factor in factors]
        return parted_steps(self._projected(joined_steps(inputs), factors), like=inputs)

    def _projected(self, images: Tensor, factors: list[Tensor] | None) -> Tensor:
        projected = self.product(images, self.kernel, factors, self.convolved)
        return K.bias_add(projected, self.bias, self.data_format) if self.use_bias else projected

    def convolved(self, images: Tensor, kernel: Tensor) -> Tensor:
        """Return the convolution of the inputs."""
        return K.conv2d(
            images, kernel, self.strides, self.padding, self.data_format, self.dilation_rate
        )

    def convolved_state(self, state: Tensor, kernel: Tensor) -> Tensor:
        """Return the convolution of a state, which keeps its size."""
        return K.conv2d(state, kernel, 1, "same", self.data_format)

    def product(
        self,
        x: Tensor,
        kernel: Tensor,
        factors: list[Tensor] | None,
        multiply: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Return the convolution of a state, or the one that is given; see `GatedCell`."""
        return super().product(x, kernel, factors, multiply or self.convolved_state)

    def zero_state(self, inputs: Tensor) -> Tensor:
        """Return zeros of a state's shape, for images of one time step."""
        channels = inputs.shape[self.channel_axis]
        shape: Any = (*self.kernel_size, channels, self.units)
        kernel = K.zeros(shape, dtype=K.dtype(inputs))
        return self.convolved(K.zeros_like(inputs), kernel)
