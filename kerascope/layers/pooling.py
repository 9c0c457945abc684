"""Pooling layers: each window of neighbours becomes its maximum or its mean.

After a convolution, pooling makes the image smaller and less sensitive to small shifts. The global
pooling layers pool over all positions at once, after the last convolution of a network: the output
is (batch, channels), whatever the size of the image.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.pooling import PADDINGS
from kerascope.backend.ops.windows import checked_padding, pooled_shape, sizes_along_axes
from kerascope.backend.shapes import Shape, reduced_shape
from kerascope.layers.arguments import Sizes
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


# --- windows --------------------------------------------------------------------------------------

_POOL = {1: K.pool1d, 2: K.pool2d, 3: K.pool3d}


class _Pooling(_Spatial):
    """Base class of the pooling layers that move a window over the input."""

    mode: ClassVar[str]

    def __init__(
        self,
        pool_size: Sizes,
        strides: Sizes | None,
        padding: str,
        data_format: str | None,
        **kwargs: Any,
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
        """Return the input's shape with the number of windows along each spatial axis.

        Raises
        ------
        ShapeError
            With padding "valid", a window is larger than the input.
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
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _Pooling3D(_Pooling):
    spatial_axes = 3

    def __init__(
        self,
        pool_size: Sizes = (2, 2, 2),
        strides: Sizes | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling1D(_Pooling1D):
    """The maximum of each window of time steps.

    Parameters
    ----------
    pool_size : int
        Steps of a window.
    strides : int, optional
        Distance from one window to the next; None is `pool_size`.
    padding : {"valid", "same"}
        "valid": windows stay inside the input. "same": one window for every `strides` steps;
        windows may extend beyond the ends.
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

    If a window extends beyond an end, the mean is taken over the steps inside.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[[1.0], [3.0], [5.0]]])
    >>> AveragePooling1D(2)(x).ravel().tolist()
    [2.0]
    >>> AveragePooling1D(2, padding="same")(x).ravel().tolist()
    [2.0, 5.0]
    """

    mode = "avg"


class MaxPooling2D(_Pooling2D):
    """The maximum of each window of an image, channel by channel.

    Parameters
    ----------
    pool_size : int or tuple of 2 int
        Rows and columns of a window.
    strides : int or tuple of 2 int, optional
        Distance from one window to the next; None is `pool_size`.
    padding : {"valid", "same"}
        "valid": windows stay inside the image; rows and columns that fill no window are ignored.
        "same": one window for every `strides` pixels; windows may extend beyond the edges.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: a window is larger than the image, with padding "valid".

    Notes
    -----
    From n rows, "valid" makes (n - pool_size) // strides + 1 and "same" makes n / strides, rounded
    up. The gradient flows to the position of the maximum, or to the first of several equal ones.

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

    If a window extends beyond an edge, the mean is taken over the pixels inside.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> AveragePooling2D()(image)[0, :, :, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """

    mode = "avg"


class MaxPooling3D(_Pooling3D):
    """The maximum of each window of a volume; `MaxPooling2D` with one more axis.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.arange(16.0).reshape(1, 2, 2, 4, 1)
    >>> MaxPooling3D()(volume).ravel().tolist()
    [13.0, 15.0]
    """

    mode = "max"


class AveragePooling3D(_Pooling3D):
    """The mean of each window of a volume; `AveragePooling2D` with one more axis.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.arange(8.0).reshape(1, 2, 2, 2, 1)
    >>> AveragePooling3D()(volume).ravel().tolist()
    [3.5]
    """

    mode = "avg"


# --- all positions at once ------------------------------------------------------------------------


class _GlobalPooling(_Spatial):
    """Base class of pooling over all positions; a subclass defines `_reduce`: mean or maximum."""

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.keepdims = bool(keepdims)

    @property
    def _axes(self) -> tuple[int, ...]:
        """The indices of the spatial axes of the input."""
        return tuple(range(self.first_axis, self.first_axis + self.spatial_axes))

    def _reduce(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must define _reduce(inputs).")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the maximum or the mean over the spatial axes."""
        return self._reduce(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape (batch, channels); with `keepdims`, the spatial axes have size 1."""
        return reduced_shape(input_shape, self._axes, keepdims=self.keepdims)


class _GlobalMaxPooling(_GlobalPooling):
    def _reduce(self, inputs: Tensor) -> Tensor:
        return K.max(inputs, self._axes, keepdims=self.keepdims)


class _GlobalAveragePooling(_GlobalPooling):
    def _reduce(self, inputs: Tensor) -> Tensor:
        return K.mean(inputs, self._axes, keepdims=self.keepdims)


class GlobalMaxPooling1D(_GlobalMaxPooling):
    """The maximum of each feature over all time steps.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    keepdims : bool
        Whether the axis of steps is kept, with size 1.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> GlobalMaxPooling1D()(np.array([[[1.0, 9.0], [3.0, 2.0]]])).tolist()
    [[3.0, 9.0]]
    """

    spatial_axes = 1

    def __init__(
        self, data_format: str | None = "channels_last", keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, keepdims, **kwargs)


class GlobalAveragePooling1D(_GlobalAveragePooling):
    """The mean of each feature over all time steps that are not masked.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    keepdims : bool
        Whether the axis of steps is kept, with size 1.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Without a mask, output = sum_t x_t / steps; with a mask m, output = sum_t m_t x_t / sum_t m_t.
    If all steps of a sample are masked, the output of this sample is nan.

    Examples
    --------
    >>> import numpy as np
    >>> GlobalAveragePooling1D()(np.array([[[1.0, 9.0], [3.0, 2.0]]])).tolist()
    [[2.0, 5.5]]
    """

    spatial_axes = 1

    def __init__(
        self, data_format: str | None = "channels_last", keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the mean over the unmasked steps."""
        if mask is None:
            return self._reduce(inputs)
        steps, features = self.first_axis, 3 - self.first_axis
        counts = K.expand_dims(K.cast(mask, K.dtype(inputs)), features)
        total = K.sum(inputs * counts, steps, keepdims=self.keepdims)
        return total / K.sum(counts, steps, keepdims=self.keepdims)

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> None:
        """Return None, because the output has no time steps that could be masked."""
        return None


class GlobalMaxPooling2D(_GlobalMaxPooling):
    """The maximum of each channel of an image.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    keepdims : bool
        Whether the axes of rows and columns are kept, with size 1.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.array([[[[1.0, 9.0], [4.0, 2.0]], [[3.0, 5.0], [0.0, 7.0]]]])
    >>> GlobalMaxPooling2D()(image).tolist()
    [[4.0, 9.0]]
    """

    spatial_axes = 2


class GlobalAveragePooling2D(_GlobalAveragePooling):
    """The mean of each channel of an image.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    keepdims : bool
        Whether the axes of rows and columns are kept, with size 1.
    **kwargs
        As for `Layer`.

    References
    ----------
    1. Lin, Chen, Yan: Network in Network, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> GlobalAveragePooling2D()(np.ones((5, 8, 8, 3))).shape
    (5, 3)
    """

    spatial_axes = 2


class GlobalMaxPooling3D(_GlobalMaxPooling):
    """The maximum of each channel of a volume; `GlobalMaxPooling2D` with one more axis.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.arange(16.0).reshape(1, 2, 2, 2, 2)
    >>> GlobalMaxPooling3D()(volume).tolist()
    [[14.0, 15.0]]
    """

    spatial_axes = 3


class GlobalAveragePooling3D(_GlobalAveragePooling):
    """The mean of each channel of a volume; `GlobalAveragePooling2D` with one more axis.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.arange(16.0).reshape(1, 2, 2, 2, 2)
    >>> GlobalAveragePooling3D()(volume).tolist()
    [[7.0, 8.0]]
    """

    spatial_axes = 3


# --- short names ----------------------------------------------------------------------------------

MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalAvgPool1D = GlobalMaxPooling1D, GlobalAveragePooling1D
GlobalMaxPool2D, GlobalAvgPool2D = GlobalMaxPooling2D, GlobalAveragePooling2D
GlobalMaxPool3D, GlobalAvgPool3D = GlobalMaxPooling3D, GlobalAveragePooling3D
