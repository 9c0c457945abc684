"""Pooling over all places at once: one number is left of each channel.

They end the convolutions of a network: whatever the size of the image, (batch, channels) comes out.
`layers/pooling.py` collects them, as Keras does.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, reduced_shape
from kerascope.layers.spatial import _Spatial


class _GlobalPooling(_Spatial):
    """What the layers of this file have in common; `_reduce` is `K.max` or `K.mean`."""

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.keepdims = bool(keepdims)

    @property
    def _axes(self) -> tuple[int, ...]:
        """The axes of places."""
        return tuple(range(self.first_axis, self.first_axis + self.spatial_axes))

    def _reduce(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define _reduce")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs without their axes of places."""
        return self._reduce(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, channels); with `keepdims` the axes of places have size 1."""
        return reduced_shape(input_shape, self._axes, keepdims=self.keepdims)


class _GlobalMaxPooling(_GlobalPooling):
    def _reduce(self, inputs: Tensor) -> Tensor:
        return K.max(inputs, self._axes, keepdims=self.keepdims)


class _GlobalAveragePooling(_GlobalPooling):
    def _reduce(self, inputs: Tensor) -> Tensor:
        return K.mean(inputs, self._axes, keepdims=self.keepdims)


class GlobalMaxPooling1D(_GlobalMaxPooling):
    """The greatest number of each feature over all time steps.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    keepdims : bool
        Whether the axis of steps stays, with size 1.
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
    """The mean of each feature over all time steps, or over those that a mask lets count.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    keepdims : bool
        Whether the axis of steps stays, with size 1.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Without a mask output = sum_t x_t / steps, with a mask sum_t m_t x_t / sum_t m_t. A sample of
    which no step counts has no mean: it comes out as nan.

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
        """Return the mean over the steps that count."""
        if mask is None:
            return self._reduce(inputs)
        steps, features = self.first_axis, 3 - self.first_axis
        counts = K.expand_dims(K.cast(mask, K.dtype(inputs)), features)
        total = K.sum(inputs * counts, steps, keepdims=self.keepdims)
        return total / K.sum(counts, steps, keepdims=self.keepdims)

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> None:
        """Return None: there are no steps any more that a mask could speak of."""
        return None


class GlobalMaxPooling2D(_GlobalMaxPooling):
    """The greatest number of each channel of an image.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    keepdims : bool
        Whether the axes of rows and columns stay, with size 1.
    **kwargs
        As for `Layer`.
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
        Whether the axes of rows and columns stay, with size 1.
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
    """The greatest number of each channel of a volume; `GlobalMaxPooling2D` with an axis more."""

    spatial_axes = 3


class GlobalAveragePooling3D(_GlobalAveragePooling):
    """The mean of each channel of a volume; `GlobalAveragePooling2D` with one axis more."""

    spatial_axes = 3
