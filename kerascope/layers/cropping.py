"""Cropping: images, sequences and volumes without their edges."""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.errors import ShapeError
from kerascope.layers.spatial import Pairs, _Spatial, pairs_along_axes


class _Cropping(_Spatial):
    cropping: Any

    @property
    def _pairs(self) -> Pairs:
        return pairs_along_axes(self.cropping, self.spatial_axes, f"{self.label}: cropping")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs without their edges."""
        inside = (slice(before, -after if after else None) for before, after in self._pairs)
        return inputs[(*(slice(None),) * self.first_axis, *inside)]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape without the edges.

        Raises
        ------
        ShapeError
            Nothing would be left.
        """
        sizes = list(input_shape)
        for axis, (before, after) in enumerate(self._pairs, start=self.first_axis):
            size = sizes[axis]
            if size is not None and size <= before + after:
                raise ShapeError(
                    f"{self.label}: cropping {before} + {after} from axis {axis} of {input_shape}; "
                    f"expected to take away less than {size}.",
                    subject=self,
                )
            sizes[axis] = None if size is None else size - before - after
        return tuple(sizes)


class Cropping1D(_Cropping):
    """Takes time steps away at the beginning and at the end.

    Parameters
    ----------
    cropping : int or tuple of 2 int
        How many steps: at both ends, or (first, last).
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: no step would be left.

    Notes
    -----
    Input (batch, steps, features), output (batch, steps - first - last, features).

    Examples
    --------
    >>> import numpy as np
    >>> Cropping1D((1, 0))(np.array([[[1.0], [2.0], [3.0]]])).ravel().tolist()
    [2.0, 3.0]
    """

    spatial_axes = 1

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__("channels_last", **kwargs)
        (self.cropping,) = pairs_along_axes(cropping, 1, f"{self.label}: cropping")


class Cropping2D(_Cropping):
    """Takes the edges of images away.

    Parameters
    ----------
    cropping : int, tuple of 2 int, or tuple of 2 tuples of 2 int
        The same on all sides; (above and below, left and right); or
        ((above, below), (left, right)).
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: nothing would be left.

    Examples
    --------
    >>> import numpy as np
    >>> Cropping2D(((1, 2), (0, 4)))(np.ones((5, 28, 28, 3))).shape
    (5, 25, 24, 3)
    """

    spatial_axes = 2

    def __init__(
        self,
        cropping: Any = ((0, 0), (0, 0)),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs_along_axes(cropping, 2, f"{self.label}: cropping")


class Cropping3D(_Cropping):
    """Takes the edges of volumes away; `Cropping2D` with one axis more.

    Parameters
    ----------
    cropping : int, tuple of 3 int, or tuple of 3 tuples of 2 int
        The same on all sides; on both sides of each axis; or (before, after) for each axis.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.
    """

    spatial_axes = 3

    def __init__(
        self,
        cropping: Any = ((1, 1), (1, 1), (1, 1)),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs_along_axes(cropping, 3, f"{self.label}: cropping")
