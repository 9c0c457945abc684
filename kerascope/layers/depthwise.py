"""Convolutions of each channel by itself. In Keras they stand in `layers.convolutional`.

`_Depthwise` makes and uses the kernels; the separable layers in `separable.py` begin with it too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Size
from kerascope.layers.arguments import positive_int
from kerascope.layers.convolving import _Sliding

__all__ = ["DepthwiseConv1D", "DepthwiseConv2D"]


class _Depthwise(_Sliding):
    """A convolution with `depth_multiplier` kernels for each channel."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        *args: Any,
        depth_multiplier: int,
        depthwise_initializer: Any,
        depthwise_regularizer: Any,
        depthwise_constraint: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.depth_multiplier = positive_int(depth_multiplier, f"{self.label}: depth_multiplier")
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.depthwise_regularizer = regularizers.get(depthwise_regularizer)
        self.depthwise_constraint = constraints.get(depthwise_constraint)

    def make_kernels(self, channels: int) -> None:
        """Make `depthwise_kernel`."""
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the convolution of each channel."""
        return type(self).function(
            inputs,
            self.depthwise_kernel,
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )

    def output_channels(self, channels: Size) -> Size:
        """Return depth_multiplier for each channel."""
        return None if channels is None else channels * self.depth_multiplier


class DepthwiseConv1D(_Depthwise):
    """A convolution of each channel by itself, along one axis.

    Parameters
    ----------
    kernel_size, strides, dilation_rate : int
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
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        dilation_rate: Any = 1,
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
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )


class DepthwiseConv2D(_Depthwise):
    """A convolution of each channel of images by itself.

    Parameters
    ----------
    kernel_size : int or tuple of 2 int
    strides : int or tuple of 2 int
    padding : {"valid", "same"}
    depth_multiplier : int
        Number of output channels for each input channel.
    data_format, activation, use_bias
        As for `Conv2D`.
    depthwise_initializer, depthwise_regularizer, depthwise_constraint
        For `depthwise_kernel`.
    bias_initializer, bias_regularizer, activity_regularizer, bias_constraint
        As for `Dense`.
    dilation_rate : int or tuple of 2 int
        As for `Conv2D`; Keras 3 has it, Keras 2 had not.
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
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        dilation_rate: Any = (1, 1),
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
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
