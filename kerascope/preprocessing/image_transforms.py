"""Random changes of one image: turn, shift, shear, zoom, colours, brightness.

The first part draws the numbers; in the second the pixels are moved, by a small affine warp in
NumPy. Keras leaves this to SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

_draw = np.random.uniform


def random_rotation(
    x: ArrayLike,
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
    x: ArrayLike,
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
    x: ArrayLike,
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
    x: ArrayLike,
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


def apply_channel_shift(x: ArrayLike, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number to all pixels; none leaves the range that the image had.

    Examples
    --------
    >>> apply_channel_shift(np.array([[[0.0, 5.0, 10.0]]]), 3).tolist()
    [[[3.0, 8.0, 10.0]]]
    """
    image = np.asarray(x)
    shifted = image + float(intensity)  # bytes would begin again at 0
    return np.clip(shifted, image.min(), image.max()).astype(image.dtype, copy=False)


def random_channel_shift(x: ArrayLike, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number between -`intensity_range` and `intensity_range` to all pixels."""
    return apply_channel_shift(x, _draw(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x: ArrayLike, brightness: float) -> np.ndarray:
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


def random_brightness(x: ArrayLike, brightness_range: Sequence[float]) -> np.ndarray:
    """Make an image brighter or darker by a factor between the two of `brightness_range`.

    Raises
    ------
    ArgumentError
        `brightness_range` is no pair.
    """
    low, high = pair(brightness_range, "random_brightness: brightness_range")
    return apply_brightness_shift(x, _draw(low, high))


def flip_axis(x: ArrayLike, axis: int) -> np.ndarray:
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


# --- moving pixels --------------------------------------------------------------------------------

FILL_MODES = ("constant", "nearest", "reflect", "wrap")


def apply_affine_transform(
    x: ArrayLike,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> np.ndarray:
    r"""Return an image turned, shifted, sheared and zoomed about its middle.

    Parameters
    ----------
    x : array_like, 3 axes
        The image.
    theta : float
        Angle of the turn, in degrees.
    tx, ty : float
        Shift along the rows' and the columns' axis, in pixels.
    shear : float
        Angle of the shear, in degrees.
    zx, zy : float
        Zoom; less than 1 makes things larger.
    row_axis, col_axis, channel_axis : int
        Which axis is which.
    fill_mode : {"nearest", "constant", "reflect", "wrap"}
        What lies outside of the image: its border, `cval`, the image mirrored, the image again.
    cval : float
        See `fill_mode`.
    order : {0, 1}
        0 takes the nearest pixel, 1 interpolates between four.

    Returns
    -------
    ndarray, shape and dtype of `x`

    Notes
    -----
    The pixel at place :math:`p` comes from place :math:`M (p - c) + c`, where :math:`c` is the
    middle and :math:`M` the product of turn, shift, shear and zoom.

    Examples
    --------
    >>> image = np.arange(4.0).reshape(2, 2, 1)
    >>> apply_affine_transform(image, theta=180)[..., 0].round(9).tolist()
    [[3.0, 2.0], [1.0, 0.0]]
    """
    image = np.asarray(x)
    if (theta, tx, ty, shear, zx, zy) == (0, 0, 0, 0, 1, 1):
        return image.copy()
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    axes = (row_axis, col_axis, channel_axis)
    pixels = np.transpose(image, axes)
    warped = warp(pixels, matrix, fill_mode, cval, order)
    return np.transpose(warped, np.argsort(np.mod(axes, 3)))


def _matrix(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> np.ndarray:
    """Return the product of the four moves, in homogeneous coordinates."""
    angle, slant = math.radians(theta), math.radians(shear)
    turn = [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0]]
    moves = [
        np.array([*turn, [0, 0, 1]]),
        np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]]),
        np.array([[1, -math.sin(slant), 0], [0, math.cos(slant), 0], [0, 0, 1]]),
        np.diag([zx, zy, 1]),
    ]
    return moves[0] @ moves[1] @ moves[2] @ moves[3]


def warp(
    pixels: np.ndarray, matrix: np.ndarray, fill_mode: str, cval: float, order: int
) -> np.ndarray:
    """Return an image (rows, columns, channels) seen through a matrix about its middle.

    Raises
    ------
    ArgumentError
        There is no such fill mode or order.
    """
    check_fill_mode(fill_mode, "apply_affine_transform")
    if order not in (0, 1):
        raise ArgumentError(f"apply_affine_transform: order is {order!r}; expected 0 or 1.")
    rows, columns = _sources(matrix, pixels.shape[0], pixels.shape[1])
    outside = (rows < 0) | (rows > pixels.shape[0] - 1)
    outside |= (columns < 0) | (columns > pixels.shape[1] - 1)
    if order == 0:
        rows, columns = np.floor(rows + 0.5), np.floor(columns + 0.5)
    seen = _interpolated(pixels, rows, columns, fill_mode)
    if fill_mode == "constant":
        seen[outside] = cval
    if pixels.dtype.kind in "iu":
        seen = np.rint(seen)
    return seen.astype(pixels.dtype, copy=False)


def check_fill_mode(fill_mode: str, where: str) -> None:
    """Raise ArgumentError if there is no such fill mode."""
    if fill_mode not in FILL_MODES:
        raise ArgumentError(
            f"{where}: fill_mode is {fill_mode!r}; expected one of {', '.join(FILL_MODES)}. "
            f"{did_you_mean(str(fill_mode), FILL_MODES)}"
        )


def _sources(matrix: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each pixel the place, row and column, that it comes from."""
    middle_row, middle_column = (height - 1) / 2, (width - 1) / 2
    down = np.arange(height)[:, np.newaxis] - middle_row
    across = np.arange(width)[np.newaxis, :] - middle_column
    rows = matrix[0, 0] * down + matrix[0, 1] * across + matrix[0, 2] + middle_row
    columns = matrix[1, 0] * down + matrix[1, 1] * across + matrix[1, 2] + middle_column
    # Turns by 90 degrees shall not leave the image by a rounding error.
    return np.round(rows, 9), np.round(columns, 9)


def _interpolated(
    pixels: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill_mode: str
) -> np.ndarray:
    """Return the mean of the four pixels around each place, weighted by nearness."""
    height, width, channels = pixels.shape
    dtype = pixels.dtype if pixels.dtype.kind == "f" else np.dtype(np.float64)
    top, left = np.floor(rows), np.floor(columns)
    below, right = (rows - top).astype(dtype), (columns - left).astype(dtype)
    flat = pixels.reshape(height * width, channels)
    seen = np.zeros((*rows.shape, channels), dtype)
    for row, row_weight in ((top, 1 - below), (top + 1, below)):
        row_starts = _inside(row, height, fill_mode) * width
        for column, column_weight in ((left, 1 - right), (left + 1, right)):
            places = row_starts + _inside(column, width, fill_mode)
            seen += (row_weight * column_weight)[..., np.newaxis] * flat[places]
    return seen


def _inside(places: np.ndarray, size: int, fill_mode: str) -> np.ndarray:
    """Return the place inside the image that stands for each place on an endless plane."""
    whole = places.astype(np.int64)
    if fill_mode == "wrap":
        return whole % size
    if fill_mode == "reflect":
        folded = whole % (2 * size)
        return np.minimum(folded, 2 * size - 1 - folded)
    return np.clip(whole, 0, size - 1)
