"""Pooling layers: each window of neighbours becomes its maximum or its mean.

Behind a convolution they make the image smaller and forgive small shifts. Those that pool over the
whole image at once stand in `global_pooling.py`; they can be imported here, as in Keras.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution_shapes import checked_padding, sizes_along_axes
from kerascope.backend.ops.pooling import PADDINGS
from kerascope.backend.ops.pooling_windows import pooled_shape
from kerascope.backend.shapes import Shape
from kerascope.layers.global_pooling import (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
)
from kerascope.layers.spatial import _Spatial

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
]

_POOL = {1: K.pool1d, 2: K.pool2d, 3: K.pool3d}


class _Pooling(_Spatial):
    """What the pooling layers have in common."""

    mode: ClassVar[str]

    def __init__(
        self, pool_size: Any, strides: Any, padding: str, data_format: str | None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        where = self.label
        sizes = sizes_along_axes(pool_size, self.spatial_axes, f"{where}: pool_size")
        steps = sizes
        if strides is not None:
            steps = sizes_along_axes(strides, self.spatial_axes, f"{where}: strides")
        self.pool_size = sizes if self.spatial_axes > 1 else sizes[0]
        self.strides = steps if self.spatial_axes > 1 else steps[0]
        self.padding = checked_padding(padding, where, PADDINGS)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the maximum or the mean of each window."""
        pool = _POOL[self.spatial_axes]
        return pool(inputs, self.pool_size, self.strides, self.padding, self.data_format, self.mode)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with the windows counted instead of the places.

        Raises
        ------
        ShapeError
            A window is larger than the input and the padding "valid".
        """
        sizes = sizes_along_axes(self.pool_size, self.spatial_axes, "pool_size")
        steps = sizes_along_axes(self.strides, self.spatial_axes, "strides")
        return pooled_shape(input_shape, sizes, steps, self.padding, self.first_axis, self.label)


class _Pooling1D(_Pooling):
    spatial_axes = 1

    def __init__(
        self,
        pool_size: int = 2,
        strides: int | None = None,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _Pooling2D(_Pooling):
    spatial_axes = 2

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _Pooling3D(_Pooling):
    spatial_axes = 3

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling1D(_Pooling1D):
    """The greatest number of each window of time steps.

    Parameters
    ----------
    pool_size : int
        Steps of a window.
    strides : int, optional
        How far it is from one window to the next; None is `pool_size`.
    padding : {"valid", "same"}
        "valid": windows lie inside. "same": one for each `strides`-th step; they may reach over
        the ends.
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> MaxPooling1D(2)(np.array([[[1.0], [3.0], [2.0], [0.0]]])).ravel().tolist()
    [3.0, 2.0]
    """

    mode = "max"


class AveragePooling1D(_Pooling1D):
    """The mean of each window of time steps; arguments as for `MaxPooling1D`.

    Where a window reaches over an end, the mean is that of the steps inside.
    """

    mode = "avg"


class MaxPooling2D(_Pooling2D):
    """The greatest number of each window of an image, channel by channel.

    Parameters
    ----------
    pool_size : int or tuple of 2 int
        Rows and columns of a window.
    strides : int or tuple of 2 int, optional
        How far it is from one window to the next; None is `pool_size`.
    padding : {"valid", "same"}
        "valid": windows lie inside; what is left at the lower and right edge is not looked at.
        "same": one window for each `strides`-th place; they may reach over the edges.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: a window is larger than the image and the padding "valid".

    Notes
    -----
    Of n rows (n - pool_size) // strides + 1 are left with "valid", n / strides, rounded up, with
    "same". In training the gradient goes to the place where the maximum was found, the first one
    if there are several.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> MaxPooling2D()(image)[0, :, :, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """

    mode = "max"


class AveragePooling2D(_Pooling2D):
    """The mean of each window of an image, channel by channel; arguments as for `MaxPooling2D`.

    Where a window reaches over an edge, the mean is that of the places inside.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> AveragePooling2D()(image)[0, :, :, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """

    mode = "avg"


class MaxPooling3D(_Pooling3D):
    """The greatest number of each window of a volume; `MaxPooling2D` with one axis more."""

    mode = "max"


class AveragePooling3D(_Pooling3D):
    """The mean of each window of a volume; `AveragePooling2D` with one axis more."""

    mode = "avg"


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalAvgPool1D = GlobalMaxPooling1D, GlobalAveragePooling1D
GlobalMaxPool2D, GlobalAvgPool2D = GlobalMaxPooling2D, GlobalAveragePooling2D
GlobalMaxPool3D, GlobalAvgPool3D = GlobalMaxPooling3D, GlobalAveragePooling3D
