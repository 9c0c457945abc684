"""Layers of convolution: a small kernel moves over a sequence, an image or a volume.

At each place the kernel sees a few neighbours only, and everywhere it is the same kernel: that is
what makes a convolution so much smaller than a `Dense`. This file has Conv1D, Conv2D and Conv3D,
and by import the rest of Keras's `layers.convolutional`: the transposed ones (`transposed.py`), the
depthwise and separable ones, what makes images larger or smaller without weights
(`padding.py`), and the pooling layers, which Keras 1 scripts import from here.

Lesson: the chapter on images.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.engine.layer_type import layer_registry
from kerascope.layers.convolving import _Convolution
from kerascope.layers.depthwise import DepthwiseConv1D, DepthwiseConv2D
from kerascope.layers.padding import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from kerascope.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from kerascope.layers.separable import SeparableConv1D, SeparableConv2D
from kerascope.layers.transposed import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

__all__ = [
    "AtrousConvolution1D",
    "AtrousConvolution2D",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
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
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "Deconvolution2D",
    "Deconvolution3D",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]


class Conv1D(_Convolution):
    """A convolution along one axis, such as time.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int
        How many neighbouring steps the kernel sees.
    strides : int
        Its step.
    padding : {"valid", "same", "causal", "full"}
        "valid" takes only places where the kernel lies inside the input; "same" and "causal" keep
        the length (at strides 1), "causal" with all zeros in front, so that no output sees a later
        input; "full" takes every place where the two overlap.
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, channels) or (batch, channels, steps).
    dilation_rate : int
        Distance between the steps that the kernel sees; above 1 only with strides 1.
    activation, use_bias, kernel_initializer, ..., bias_constraint
        As for `Dense`.
    groups : int
        Channels and filters are split into so many groups; each group of filters sees only its own
        channels.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A number is no whole number above 0, or strides and dilation_rate are both above 1.
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
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
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
        groups: int = 1,
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
            groups,
            **kwargs,
        )


class Conv2D(_Convolution):
    """A convolution of images.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size : int or tuple of 2 int
        Rows and columns that the kernel covers.
    strides : int or tuple of 2 int
        Its step along rows and columns.
    padding : {"valid", "same", "full"}
        "valid" takes only places where the kernel lies inside the image; "same" keeps the size (at
        strides 1) with zeros around the image; "full" takes every place where the two overlap.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    dilation_rate : int or tuple of 2 int
        Distance between the places that the kernel sees; above 1 only with strides 1.
    activation, use_bias, kernel_initializer, ..., bias_constraint
        As for `Dense`.
    groups : int
        Channels and filters are split into so many groups; each group of filters sees only its own
        channels.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        A number is no whole number above 0, or strides and dilation_rate are both above 1.
    ShapeError
        At the first call: the input has no channel axis, or is smaller than the kernel.

    Notes
    -----
    `kernel` has shape (rows, columns, channels // groups, filters) with either data format, `bias`
    (filters,). Of n rows, n - kernel + 1 come out with "valid", n with "same", n + kernel - 1 with
    "full"; that divided by the stride and rounded up.

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
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
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
        groups: int = 1,
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
            groups,
            **kwargs,
        )


class Conv3D(_Convolution):
    """A convolution of volumes, such as films; `Conv2D` with one axis more.

    Parameters
    ----------
    filters : int
        Number of output channels.
    kernel_size, strides, dilation_rate : int or tuple of 3 int
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
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        groups: int = 1,
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
            groups,
            **kwargs,
        )


Convolution1D = AtrousConvolution1D = Conv1D
Convolution2D = AtrousConvolution2D = Conv2D
Convolution3D = Conv3D
Convolution1DTranspose = Conv1DTranspose
Convolution2DTranspose = Deconvolution2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D

# Under these names they stand in the configurations that Keras 1 wrote.
layer_registry.register(Conv1D, "Convolution1D", "AtrousConvolution1D")
layer_registry.register(Conv2D, "Convolution2D", "AtrousConvolution2D")
layer_registry.register(Conv3D, "Convolution3D")
layer_registry.register(Conv2DTranspose, "Convolution2DTranspose", "Deconvolution2D")
layer_registry.register(Conv3DTranspose, "Convolution3DTranspose", "Deconvolution3D")
layer_registry.register(SeparableConv1D, "SeparableConvolution1D")
layer_registry.register(SeparableConv2D, "SeparableConvolution2D")
