"""UpSampling: images, sequences and volumes made larger by whole factors, without weights."""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.convolution_shapes import sizes_along_axes
from kerascope.backend.ops.resizing import INTERPOLATIONS
from kerascope.backend.shapes import Shape
from kerascope.errors import ArgumentError
from kerascope.layers.arguments import positive_int
from kerascope.layers.spatial import _Spatial


class _UpSampling(_Spatial):
    """What the layers of this file have in common: a factor for each axis of places."""

    size: Any

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with its axes of places multiplied by `size`."""
        sizes = list(input_shape)
        factors = sizes_along_axes(self.size, self.spatial_axes, f"{self.label}: size")
        for axis, factor in enumerate(factors, start=self.first_axis):
            size = sizes[axis]
            sizes[axis] = None if size is None else size * factor
        return tuple(sizes)


class UpSampling1D(_UpSampling):
    """Each time step several times in a row.

    Parameters
    ----------
    size : int
        How often.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, steps, features), output (batch, steps * size, features).

    Examples
    --------
    >>> import numpy as np
    >>> UpSampling1D(2)(np.array([[[1.0], [2.0]]])).ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    spatial_axes = 1

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__("channels_last", **kwargs)
        self.size = positive_int(size, f"{self.label}: size")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the repeated steps."""
        return K.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_UpSampling):
    """Images with more rows and columns, by whole factors.

    Parameters
    ----------
    size : int or tuple of 2 int
        Factors of rows and columns.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    interpolation : {"nearest", "bilinear"}
        "nearest" repeats each place; "bilinear" draws straight lines between the centres of
        places, as Keras 3 does.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The interpolation is another one.

    Examples
    --------
    >>> import numpy as np
    >>> UpSampling2D((1, 2))(np.array([[[[1.0], [2.0]]]]))[0, :, :, 0].tolist()
    [[1.0, 1.0, 2.0, 2.0]]
    """

    spatial_axes = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = sizes_along_axes(size, 2, f"{self.label}: size")
        if interpolation not in INTERPOLATIONS:
            raise ArgumentError(
                f"{self.label}: interpolation {interpolation!r}; expected 'nearest' or 'bilinear'.",
                subject=self,
            )
        self.interpolation = interpolation

    def call(self, inputs: Tensor) -> Tensor:
        """Return the larger images."""
        rows, columns = self.size
        return K.resize_images(inputs, rows, columns, self.data_format, self.interpolation)


class UpSampling3D(_UpSampling):
    """Each place of volumes repeated along three axes.

    Parameters
    ----------
    size : int or tuple of 3 int
        How often along each axis.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.
    """

    spatial_axes = 3

    def __init__(
        self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = sizes_along_axes(size, 3, f"{self.label}: size")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the larger volumes."""
        depth, rows, columns = self.size
        return K.resize_volumes(inputs, depth, rows, columns, self.data_format)
