"""Histogram equalization in tiles of an image, which raises the contrast of each part.

Keras 3 computes the histograms with a one-hot vector for each pixel. In kerascope one op counts the
pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Op, Tensor
from kerascope.backend.ops.windows import sizes_along_axes
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.layers.keras3.augmentation import rescaled, sorted_pair
from kerascope.layers.ops.image import channels_last

__all__ = ["ContrastLimitedAdaptiveHistogramEqualization"]

LEVELS = 256


class ContrastLimitedAdaptiveHistogramEqualization(Layer):
    """Equalizes the histogram of brightness tile by tile, in training and in prediction.

    Parameters
    ----------
    value_range : pair of float
        Range of the pixels.
    clip_limit : float
        Maximum count of a brightness in a tile, as a multiple of the mean count. The excess is
        spread over all levels of brightness. 0 sets no limit.
    tile_grid_size : int or pair of int
        Number of tiles along the rows and the columns.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Each tile has a curve from old to new brightness; between the centres of tiles the curves are
    interpolated linearly. Each channel is equalized separately. The layer has no gradient.

    References
    ----------
    1. Zuiderveld: Contrast Limited Adaptive Histogram Equalization, Graphics Gems IV, 1994.

    Examples
    --------
    >>> layer = ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 2))
    >>> layer(np.arange(64.0).reshape(1, 8, 8, 1)).shape
    (1, 8, 8, 1)
    """

    def __init__(
        self,
        value_range: Any = (0, 255),
        clip_limit: float = 4.0,
        tile_grid_size: Any = (8, 8),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.value_range = tuple(sorted_pair(f"{self.label}: value_range", value_range))
        self.clip_limit = clip_limit
        where = f"{self.label}: tile_grid_size"
        self.tile_grid_size = sizes_along_axes(tile_grid_size, 2, where)
        self.data_format = K.normalize_data_format(data_format)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the images with equalized contrast."""
        images, back = channels_last(K.cast(inputs, self.dtype), self.data_format, self.label)
        rows, columns = self.tile_grid_size
        even = EqualizedTiles(rows, columns, float(self.clip_limit))
        pixels = even(rescaled(images, self.value_range, (0, 255)))
        return back(rescaled(pixels, (0, 255), self.value_range))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, including the `data_format` that is used."""
        return {**super().get_config(), "data_format": self.data_format}


@dataclass(frozen=True, eq=False)
class EqualizedTiles(Op):
    """The op that equalizes the histogram of each tile of images.

    Parameters
    ----------
    rows, columns : int
        Number of tiles.
    clip_limit : float
        As for `ContrastLimitedAdaptiveHistogramEqualization`.

    Examples
    --------
    A quarter of the pixels is at most 10, half of them at most 20, and so on:

    >>> import numpy as np
    >>> image = np.array([[10.0, 20.0], [30.0, 40.0]]).reshape(1, 2, 2, 1)
    >>> EqualizedTiles(1, 1, clip_limit=0.0).perform(image).ravel().tolist()
    [63.75, 127.5, 191.25, 255.0]
    """

    rows: int
    columns: int
    clip_limit: float

    def infer_shape(self, images: Any) -> Any:
        """Return the images' shape."""
        return images.shape

    def infer_dtype(self, images: Any) -> Any:
        """Return the images' dtype."""
        return images.dtype

    def perform(self, images: np.ndarray) -> np.ndarray:
        """Return equalized images (batch, height, width, channels), with pixels from 0 to 255."""
        batch, height, width, channels = images.shape
        tall, wide = -(-height // self.rows), -(-width // self.columns)
        missing = (tall * self.rows - height, wide * self.columns - width)
        padded = np.pad(images, ((0, 0), (0, missing[0]), (0, missing[1]), (0, 0)), "symmetric")
        levels = np.clip(padded, 0, LEVELS - 1).astype(np.int64)
        tiles = levels.reshape(batch, self.rows, tall, self.columns, wide, channels)
        curves = self._curves(tiles.transpose(0, 1, 3, 5, 2, 4).reshape(-1, tall * wide))
        curves = curves.reshape(batch, self.rows, self.columns, channels, LEVELS)
        curves = np.pad(curves, ((0, 0), (1, 1), (1, 1), (0, 0), (0, 0)), "edge")
        (above, below, down), (left, right, along) = (
            _between(size, number) for size, number in ((tall, self.rows), (wide, self.columns))
        )
        each = np.arange(batch)[:, None, None, None]
        channel = np.arange(channels)

        def read(row: np.ndarray, column: np.ndarray) -> Any:
            row, column = row[:, None, None], column[:, None]
            return curves[each, row, column, channel, levels]

        down, along = down[:, None, None], along[:, None]
        first = read(above, left) * (1 - along) + read(above, right) * along
        second = read(below, left) * (1 - along) + read(below, right) * along
        found: np.ndarray = (first * (1 - down) + second * down)[:, :height, :width]
        return found.astype(images.dtype)

    def _curves(self, tiles: np.ndarray) -> np.ndarray:
        """Return, for each tile, a row: the new brightness of each old brightness from 0 to 255."""
        number, area = tiles.shape
        places = tiles + LEVELS * np.arange(number)[:, None]
        counts = np.bincount(places.ravel(), minlength=LEVELS * number).reshape(number, LEVELS)
        shares = counts.astype(np.float64)
        if self.clip_limit > 0:
            kept = np.minimum(shares, self.clip_limit * area / LEVELS)
            shares = kept + (shares - kept).sum(axis=1, keepdims=True) / LEVELS
        up_to = shares.cumsum(axis=1)
        first = up_to[:, :1]
        rest = area - first
        curves: np.ndarray = (up_to - first) * (LEVELS - 1) / np.where(rest == 0, 1.0, rest)
        return np.clip(curves, 0, LEVELS - 1)


def _between(size: int, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each pixel along an axis, the indices of the tiles before it and after it.

    The third result is the weight of the tile after the pixel, for the interpolation.
    """
    places = (np.arange(size * number) - size / 2) / size + 1
    before = np.floor(places).astype(np.int64)
    behind = np.minimum(before + 1, number + 1)
    return np.maximum(before, 0), behind, places - before
