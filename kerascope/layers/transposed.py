"""Transposed convolutions: from a small image to a large one.

What a convolution with strides makes small, they make large again: the output of `Conv2DTranspose`
has the size that a `Conv2D` of the same arguments would turn into the size of its input. Decoders
and generators are built from them. In Keras they stand in `layers.convolutional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution_shapes import (
    conv_output_length,
    deconv_length,
    sizes_along_axes,
)
from kerascope.backend.shapes import Shape
from kerascope.errors import ArgumentError
from kerascope.layers.convolving import _Convolution

__all__ = ["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"]


class _Transposed(_Convolution):
    """A transposed convolution along `kernel_axes` axes."""

    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")

    def __init__(self, *args: Any, output_padding: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.groups != 1:
            raise ArgumentError(
                f"{self.label}: groups {self.groups}; expected 1: a transposed convolution has no "
                f"groups.",
                subject=self,
            )
        self.output_padding = self._checked_output_padding(output_padding)

    def _checked_output_padding(self, value: Any) -> tuple[int, ...] | None:
        """Return one number for each axis.

        Raises
        ------
        ArgumentError
            One is not below its stride, or no convolution leads back from there.
        """
        if value is None:
            return None
        where = f"{self.label}: output_padding"
        numbers = sizes_along_axes(value, self.kernel_axes, where, least=0)
        if any(number >= step for number, step in zip(numbers, self.strides, strict=True)):
            raise ArgumentError(
                f"{where} {value!r}; expected numbers below the strides {self.strides}.",
                subject=self,
            )
        for axis, number in enumerate(numbers):
            if self._leads_back(axis, number):
                continue
            fitting = [str(n) for n in range(self.strides[axis]) if self._leads_back(axis, n)]
            choice = f"output_padding {' or '.join(fitting)} on axis {axis}, or " if fitting else ""
            raise ArgumentError(
                f"{self.label}: output_padding {value!r} with kernel_size {self.kernel_size}, "
                f"strides {self.strides} and padding '{self.padding}': no convolution leads back "
                f"from an output of that size. Use {choice}None.",
                subject=self,
            )
        return numbers

    def _leads_back(self, axis: int, number: int) -> bool:
        kernel, step = self.kernel_size[axis], self.strides[axis]
        apart, size = self.dilation_rate[axis], 1000
        long = deconv_length(size, step, kernel, self.padding, number, apart)
        return conv_output_length(long, kernel, self.padding, step, apart) == size

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return (sizes, filters, channels): the kernel of the convolution that leads back."""
        return (*self.kernel_size, self.filters, channels)

    def output_length(self, size: Any, axis: int) -> Any:
        """Return the length of the output along an axis, for a known size, None or a tensor."""
        return deconv_length(
            size,
            self.strides[axis],
            self.kernel_size[axis],
            self.padding,
            None if self.output_padding is None else self.output_padding[axis],
            self.dilation_rate[axis],
        )

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the transposed convolution of inputs and kernel."""
        return type(self).function(
            inputs,
            self.kernel,
            self._run_time_shape(inputs),
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )

    def _run_time_shape(self, inputs: Tensor) -> tuple[Any, ...]:
        """Return the output's shape, with tensors for the sizes that only a run will tell."""
        known: Shape = self.compute_output_shape(K.int_shape(inputs))
        first = 2 if self.data_format == "channels_first" else 1
        sizes: list[Any] = list(known)
        for axis in range(self.kernel_axes):
            if sizes[first + axis] is None:
                sizes[first + axis] = self.output_length(K.shape(inputs)[first + axis], axis)
        return tuple(sizes)


class Conv1DTranspose(_Transposed):
    """The transposed convolution along one axis; `Conv2DTranspose` with one axis less.

    Parameters
    ----------
    filters : int
    kernel_size, strides, output_padding, dilation_rate : int
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
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            output_padding=output_padding,
            **kwargs,
        )


class Conv2DTranspose(_Transposed):
    """The transposed convolution of images: makes them larger by the strides.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int or tuple of 2 int
    strides : int or tuple of 2 int
        By how much the image grows.
    padding : {"valid", "same"}
        With "same", n rows become n * strides.
    output_padding : int or tuple of 2 int, optional
        How many rows and columns more than the fewest that are possible come out; less than the
        strides. None takes as many as suit the strides.
    data_format, dilation_rate, activation, ..., bias_constraint, **kwargs
        As for `Conv2D`.

    Notes
    -----
    `kernel` has shape (rows, columns, filters, channels): that of the convolution whose way back
    this is. Without `output_padding` p, n rows become n * strides with "same" and
    n * strides + max(kernel - strides, 0) with "valid"; with it
    (n - 1) * strides + kernel - 2 * half + p, where half is kernel // 2 with "same", else 0.

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
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            output_padding=output_padding,
            **kwargs,
        )


class Conv3DTranspose(_Transposed):
    """The transposed convolution of volumes; `Conv2DTranspose` with one axis more.

    Parameters
    ----------
    filters : int
    kernel_size, strides, output_padding, dilation_rate : int or tuple of 3 int
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
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        dilation_rate: Any = (1, 1, 1),
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            output_padding=output_padding,
            **kwargs,
        )
