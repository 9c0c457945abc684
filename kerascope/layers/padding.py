"""ZeroPadding, and by import what else changes the size of images without weights.

ZeroPadding adds zeros around images, sequences and volumes, Cropping (`cropping.py`) takes their
edges away, UpSampling (`upsampling.py`) repeats what is in them. In Keras they stand in
`layers/convolutional.py`, from where they can be imported here too.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.layers.cropping import Cropping1D, Cropping2D, Cropping3D
from kerascope.layers.spatial import Pairs, _Spatial, pairs_along_axes
from kerascope.layers.upsampling import UpSampling1D, UpSampling2D, UpSampling3D

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]


class _ZeroPadding(_Spatial):
    padding: Any

    @property
    def _pairs(self) -> Pairs:
        return pairs_along_axes(self.padding, self.spatial_axes, f"{self.label}: padding")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with zeros around them."""
        if self.spatial_axes == 1:
            return K.temporal_padding(inputs, self._pairs[0], self.data_format)
        pad = K.spatial_2d_padding if self.spatial_axes == 2 else K.spatial_3d_padding
        return pad(inputs, self._pairs, self.data_format)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with the zeros counted."""
        sizes = list(input_shape)
        for axis, pair in enumerate(self._pairs, start=self.first_axis):
            size = sizes[axis]
            sizes[axis] = None if size is None else size + sum(pair)
        return tuple(sizes)


class ZeroPadding1D(_ZeroPadding):
    """Adds time steps of zeros before and after.

    Parameters
    ----------
    padding : int or tuple of 2 int
        How many steps: on both sides, or (before, after).
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    **kwargs
        As for `Layer`.

    Notes
    -----
    Of n steps before + n + after come out.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroPadding1D((1, 2))(np.ones((1, 2, 1))).ravel().tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    """

    spatial_axes = 1

    def __init__(
        self, padding: Any = 1, data_format: str | None = "channels_last", **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        (self.padding,) = pairs_along_axes(padding, 1, f"{self.label}: padding")


class ZeroPadding2D(_ZeroPadding):
    """Adds rows and columns of zeros around images.

    Parameters
    ----------
    padding : int, tuple of 2 int, or tuple of 2 tuples of 2 int
        The same on all sides; (above and below, left and right); or
        ((above, below), (left, right)).
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `padding` is not of that form.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroPadding2D(((1, 0), (2, 2)))(np.ones((1, 3, 3, 1))).shape
    (1, 4, 7, 1)
    """

    spatial_axes = 2

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs_along_axes(padding, 2, f"{self.label}: padding")


class ZeroPadding3D(_ZeroPadding):
    """Adds zeros around volumes.

    Parameters
    ----------
    padding : int, tuple of 3 int, or tuple of 3 tuples of 2 int
        The same on all sides; on both sides of each axis; or (before, after) for each axis.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.
    """

    spatial_axes = 3

    def __init__(
        self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs_along_axes(padding, 3, f"{self.label}: padding")
