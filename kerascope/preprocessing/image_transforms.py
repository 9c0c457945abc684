"""Random changes of one image: turn, shift, shear, zoom, colours, brightness.

Each `random_...` draws from NumPy's global generator, so `np.random.seed` makes it repeatable. An
image is an array with 3 axes; which of them is which, the arguments say. `ImageDataGenerator` does
all of these in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.preprocessing.warping import apply_affine_transform

_draw = np.random.uniform


def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
) -> np.ndarray:
    """Turn an image by an angle between -`rg` and `rg` degrees.

    Examples
    --------
    >>> random_rotation(np.ones((3, 8, 8)), 20).shape
    (3, 8, 8)
    """
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(x, _draw(-rg, rg), 0, 0, 0, 1, 1, *axes, fill_mode, cval)


def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
) -> np.ndarray:
    """Shift an image by at most the shares `wrg` of its width and `hrg` of its height."""
    shape = np.shape(x)
    tx = _draw(-hrg, hrg) * shape[row_axis]
    ty = _draw(-wrg, wrg) * shape[col_axis]
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(x, 0, tx, ty, 0, 1, 1, *axes, fill_mode, cval)


def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
) -> np.ndarray:
    """Shear an image by an angle between -`intensity` and `intensity` degrees."""
    axes = (row_axis, col_axis, channel_axis)
    shear = _draw(-intensity, intensity)
    return apply_affine_transform(x, 0, 0, 0, shear, 1, 1, *axes, fill_mode, cval)


def random_zoom(
    x: Any,
    zoom_range: Sequence[float],
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
) -> np.ndarray:
    """Zoom an image, height and width each by its own factor between the two of `zoom_range`.

    Raises
    ------
    ArgumentError
        `zoom_range` is no pair.
    """
    low, high = pair(zoom_range, "random_zoom: zoom_range")
    zx, zy = (1, 1) if low == high == 1 else _draw(low, high, 2)
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(x, 0, 0, 0, 0, zx, zy, *axes, fill_mode, cval)


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number to all pixels; none leaves the range that the image had.

    Examples
    --------
    >>> apply_channel_shift(np.array([[[0.0, 5.0, 10.0]]]), 3).tolist()
    [[[3.0, 8.0, 10.0]]]
    """
    image = np.asarray(x)
    shifted = image + float(intensity)  # bytes would begin again at 0
    return np.clip(shifted, image.min(), image.max()).astype(image.dtype, copy=False)


def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number between -`intensity_range` and `intensity_range` to all pixels."""
    return apply_channel_shift(x, _draw(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x: Any, brightness: float) -> np.ndarray:
    """Make an image brighter (above 1) or darker (below 1).

    Parameters
    ----------
    x : array_like
        Pixels from 0 to 255.
    brightness : float
        Factor; what gets brighter than 255 becomes 255.

    Notes
    -----
    The image is not stretched to the whole range before, as Keras 2 did by passing it through PIL.

    Examples
    --------
    >>> apply_brightness_shift(np.array([[[100.0, 200.0]]]), 1.5).tolist()
    [[[150.0, 255.0]]]
    """
    image = np.asarray(x)
    brighter = image * float(brightness)  # bytes would begin again at 0
    return np.clip(brighter, 0, 255).astype(image.dtype, copy=False)


def random_brightness(x: Any, brightness_range: Sequence[float]) -> np.ndarray:
    """Make an image brighter or darker by a factor between the two of `brightness_range`.

    Raises
    ------
    ArgumentError
        `brightness_range` is no pair.
    """
    low, high = pair(brightness_range, "random_brightness: brightness_range")
    return apply_brightness_shift(x, _draw(low, high))


def flip_axis(x: Any, axis: int) -> np.ndarray:
    """Mirror an image along one axis."""
    return np.flip(x, axis)


def pair(values: Any, where: str) -> tuple[float, float]:
    """Return the two numbers of a range.

    Raises
    ------
    ArgumentError
        It is no pair.
    """
    if np.shape(values) != (2,):
        raise ArgumentError(f"{where} is {values!r}; expected two numbers, as in (0.8, 1.2).")
    return values[0], values[1]
