"""Turning, shifting, shearing and zooming one image: a small affine warp in NumPy.

`image_transforms.py` draws the numbers; here the pixels are moved. Keras leaves this to SciPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

FILL_MODES = ("constant", "nearest", "reflect", "wrap")


def apply_affine_transform(
    x: Any,
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
