"""Separable convolutions: each channel by itself, then a mix of the channels.

In Keras they stand in `layers.convolutional`. MobileNet and Xception are built from them: they need
far fewer weights than ordinary convolutions.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Size
from kerascope.layers.arguments import positive_int
from kerascope.layers.depthwise import _Depthwise

__all__ = ["SeparableConv1D", "SeparableConv2D"]


class _Separable(_Depthwise):
    """A depthwise convolution, then `filters` mixtures of the channels at each place."""

    def __init__(
        self,
        filters: int,
        *args: Any,
        pointwise_initializer: Any,
        pointwise_regularizer: Any,
        pointwise_constraint: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.filters = positive_int(filters, f"{self.label}: filters")
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.pointwise_constraint = constraints.get(pointwise_constraint)

    def make_kernels(self, channels: int) -> None:
        """Make `depthwise_kernel` and `pointwise_kernel`."""
        super().make_kernels(channels)
        ones = (1,) * self.kernel_axes
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel",
            shape=(*ones, channels * self.depth_multiplier, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )

    def convolve(self, inputs: Tensor) -> Tensor:
        """Return the mixed channels of the depthwise convolution."""
        return type(self).function(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=self.strides,
            padding=self.padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )

    def output_channels(self, channels: Size) -> Size:
        """Return the number of filters."""
        return self.filters


class SeparableConv1D(_Separable):
    """A convolution of each channel along one axis, then a mix of the channels.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, dilation_rate : int
    padding : {"valid", "same", "causal"}
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
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
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
            bias_initializer,
            bias_regularizer,
            bias_constraint,
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            pointwise_initializer=pointwise_initializer,
            pointwise_regularizer=pointwise_regularizer,
            pointwise_constraint=pointwise_constraint,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )


class SeparableConv2D(_Separable):
    """A convolution of each channel of images, then a mix of the channels at each place.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, padding, data_format, dilation_rate
        As for `Conv2D`, without "full".
    depth_multiplier : int
        Number of channels between the two steps, for each input channel.
    activation, use_bias
        As for `Conv2D`.
    depthwise_initializer, depthwise_regularizer, depthwise_constraint
        For the kernel of the first step.
    pointwise_initializer, pointwise_regularizer, pointwise_constraint
        For the kernel of the second step.
    bias_initializer, bias_regularizer, activity_regularizer, bias_constraint
        As for `Dense`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    `depthwise_kernel` has shape (rows, columns, channels, depth_multiplier), `pointwise_kernel`
    (1, 1, channels * depth_multiplier, filters). There is no activation between the two steps.

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
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
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
            bias_initializer,
            bias_regularizer,
            bias_constraint,
            depth_multiplier=depth_multiplier,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            pointwise_initializer=pointwise_initializer,
            pointwise_regularizer=pointwise_regularizer,
            pointwise_constraint=pointwise_constraint,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
