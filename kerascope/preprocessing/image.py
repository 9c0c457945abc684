"""Images as arrays: read them, change them at random, make batches.

Keras has all of this in `keras.preprocessing.image`. This file contains the random changes of one
image (rotation, shift, shear, zoom, colors, brightness) and `ImageDataGenerator`, which augments
and standardizes images. Pixels are moved by an affine warp in NumPy, where Keras uses SciPy.
`image_files` uses PIL to read files, and `image_iterators` makes batches.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kerascope.configurable import by_name
from kerascope.errors import ArgumentError, DataError
from kerascope.missing_names import answer_missing_names
from kerascope.preprocessing.image_files import (
    array_to_img,
    checked_data_format,
    img_to_array,
    list_pictures,
    load_img,
    save_img,
)
from kerascope.preprocessing.image_iterators import (
    DataFrameIterator,
    DirectoryIterator,
    Iterator,
    NumpyArrayIterator,
    make_folder_for_pictures,
    warn_of_channels,
)
from kerascope.registry import did_you_mean
from kerascope.settings import config
from kerascope.user_frames import warn

__all__ = [
    "DataFrameIterator",
    "DirectoryIterator",
    "ImageDataGenerator",
    "Iterator",
    "NumpyArrayIterator",
    "apply_affine_transform",
    "apply_brightness_shift",
    "apply_channel_shift",
    "apply_transform",
    "array_to_img",
    "flip_axis",
    "img_to_array",
    "list_pictures",
    "load_img",
    "random_brightness",
    "random_channel_shift",
    "random_rotation",
    "random_shear",
    "random_shift",
    "random_zoom",
    "save_img",
    "transform_matrix_offset_center",
]


# --- random changes of one image ------------------------------------------------------------------


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
    """Rotate an image by a random angle between -`rg` and `rg` degrees.

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
    """Shift an image at random by at most `wrg` times its width and `hrg` times its height."""
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
    """Shear an image by a random angle between -`intensity` and `intensity` degrees."""
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
    """Zoom an image by random factors within `zoom_range`, separately for height and width.

    Raises
    ------
    ArgumentError
        `zoom_range` is not a pair.
    """
    low, high = pair(zoom_range, "random_zoom: zoom_range")
    zx, zy = (1, 1) if low == high == 1 else _draw(low, high, 2)
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(x, 0, 0, 0, 0, zx, zy, *axes, fill_mode, cval)


def apply_channel_shift(x: ArrayLike, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """Add a number to all pixels, and clip them to the original range of the image.

    Examples
    --------
    >>> apply_channel_shift(np.array([[[0.0, 5.0, 10.0]]]), 3).tolist()
    [[[3.0, 8.0, 10.0]]]
    """
    image = np.asarray(x)
    shifted = image + float(intensity)  # bytes would overflow
    return np.clip(shifted, image.min(), image.max()).astype(image.dtype, copy=False)


def random_channel_shift(x: ArrayLike, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """Add a random number between -`intensity_range` and `intensity_range` to all pixels."""
    return apply_channel_shift(x, _draw(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x: ArrayLike, brightness: float) -> np.ndarray:
    """Make an image brighter by a factor above 1, or darker by a factor below 1.

    Parameters
    ----------
    x : array_like
        Pixels from 0 to 255.
    brightness : float
        The factor. Results above 255 become 255.

    Notes
    -----
    Keras 2 first scales the image to the whole range, by converting it with PIL. This is not done
    here.

    Examples
    --------
    >>> apply_brightness_shift(np.array([[[100.0, 200.0]]]), 1.5).tolist()
    [[[150.0, 255.0]]]
    """
    image = np.asarray(x)
    brighter = image * float(brightness)  # bytes would overflow
    return np.clip(brighter, 0, 255).astype(image.dtype, copy=False)


def random_brightness(x: ArrayLike, brightness_range: Sequence[float]) -> np.ndarray:
    """Make an image brighter or darker by a random factor within `brightness_range`.

    Raises
    ------
    ArgumentError
        `brightness_range` is not a pair.
    """
    low, high = pair(brightness_range, "random_brightness: brightness_range")
    return apply_brightness_shift(x, _draw(low, high))


def flip_axis(x: ArrayLike, axis: int) -> np.ndarray:
    """Mirror an image along one axis."""
    return np.flip(x, axis)


def pair(values: Any, where: str) -> tuple[float, float]:
    """Return the lower and upper limit of a range.

    Raises
    ------
    ArgumentError
        The value is not a pair.
    """
    if np.shape(values) != (2,):
        raise ArgumentError(f"{where}: expected two numbers, as in (0.8, 1.2), got {values!r}.")
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
    r"""Rotate, shift, shear and zoom an image about its center; return the new image.

    Parameters
    ----------
    x : array_like, 3 axes
        The image.
    theta : float
        Angle of rotation, in degrees.
    tx, ty : float
        Shift along the axis of the rows and of the columns, in pixels.
    shear : float
        Angle of the shear, in degrees.
    zx, zy : float
        Zoom factors; less than 1 enlarges the image.
    row_axis, col_axis, channel_axis : int
        The positions of the axes.
    fill_mode : {"nearest", "constant", "reflect", "wrap"}
        The pixels outside of the image are its nearest border pixels, `cval`, the mirrored image,
        or the repeated image.
    cval : float
        The value outside of the image for `fill_mode="constant"`.
    order : {0, 1}
        0 uses the nearest pixel, 1 interpolates between four.

    Returns
    -------
    ndarray, shape and dtype of `x`

    Notes
    -----
    The pixel at position :math:`p` comes from position :math:`M (p - c) + c`, where :math:`c` is
    the center and :math:`M` the product of rotation, shift, shear and zoom.

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


def apply_transform(
    x: ArrayLike,
    transform_matrix: ArrayLike,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
) -> np.ndarray:
    """Transform an image by a matrix, with the nearest pixels. A function of Keras 1.

    The new pixel at p is the old pixel at the product of `transform_matrix` and p. For the other
    arguments see `apply_affine_transform`.
    """
    image = np.moveaxis(np.asarray(x), channel_axis, -1)
    matrix = np.asarray(transform_matrix, "float64")
    middle = _shift_by((image.shape[0] - 1) / 2, (image.shape[1] - 1) / 2)
    about = np.linalg.inv(middle) @ matrix @ middle
    return np.moveaxis(warp(image, about, fill_mode, cval, order=0), -1, channel_axis)


def transform_matrix_offset_center(matrix: ArrayLike, x: float, y: float) -> np.ndarray:
    """Return a matrix that acts as `matrix` does, but about the center of an image.

    The image has `x` rows and `y` columns. This is a function of Keras 1.

    Examples
    --------
    >>> transform_matrix_offset_center(np.diag([2.0, 2.0, 1.0]), 4, 6).tolist()
    [[2.0, 0.0, -2.5], [0.0, 2.0, -3.5], [0.0, 0.0, 1.0]]
    """
    middle = _shift_by(x / 2 + 0.5, y / 2 + 0.5)
    return middle @ np.asarray(matrix) @ np.linalg.inv(middle)


def _shift_by(rows: float, columns: float) -> np.ndarray:
    return np.array([[1, 0, rows], [0, 1, columns], [0, 0, 1.0]])


def _matrix(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> np.ndarray:
    """Return the product of rotation, shift, shear and zoom, in homogeneous coordinates."""
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
    """Transform an image (rows, columns, channels) by a matrix about its center.

    Raises
    ------
    ArgumentError
        The fill mode or the order is unknown.
    """
    check_fill_mode(fill_mode, "apply_affine_transform")
    if order not in (0, 1):
        raise ArgumentError(f"apply_affine_transform: expected order 0 or 1, got {order!r}.")
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
    """Raise ArgumentError if the fill mode is unknown."""
    if fill_mode not in FILL_MODES:
        raise ArgumentError(
            f"{where}: unknown fill_mode {fill_mode!r}. "
            f"{did_you_mean(str(fill_mode), FILL_MODES)}Use one of: {', '.join(FILL_MODES)}."
        )


def _sources(matrix: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the column in the old image for each pixel of the new image."""
    middle_row, middle_column = (height - 1) / 2, (width - 1) / 2
    down = np.arange(height)[:, np.newaxis] - middle_row
    across = np.arange(width)[np.newaxis, :] - middle_column
    rows = matrix[0, 0] * down + matrix[0, 1] * across + matrix[0, 2] + middle_row
    columns = matrix[1, 0] * down + matrix[1, 1] * across + matrix[1, 2] + middle_column
    # Rounded, so that rotations by 90 degrees do not leave the image by a rounding error.
    return np.round(rows, 9), np.round(columns, 9)


def _interpolated(
    pixels: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill_mode: str
) -> np.ndarray:
    """Return the pixels at non-integer positions by bilinear interpolation."""
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
    """Return positions along an axis, with positions outside of the image moved into it.

    `fill_mode` decides where they are moved.
    """
    whole = places.astype(np.int64)
    if fill_mode == "wrap":
        return whole % size
    if fill_mode == "reflect":
        folded = whole % (2 * size)
        return np.minimum(folded, 2 * size - 1 - folded)
    return np.clip(whole, 0, size - 1)


# --- generators of augmented images ---------------------------------------------------------------


Range = float | Sequence[float]  # the limits of a random change


class ImageDataGenerator:
    """Makes batches of images, changed at random (augmented) and standardized.

    Parameters
    ----------
    featurewise_center, featurewise_std_normalization : bool
        Subtract the mean of all images; divide by the standard deviation of all images. Call `fit`
        first.
    samplewise_center, samplewise_std_normalization : bool
        Subtract the mean of each image; divide each image by its standard deviation.
    zca_whitening : bool
        Make the pixels uncorrelated. Call `fit` first.
    zca_epsilon : float
        Small number for the whitening, to avoid division by zero.
    rotation_range : float
        Largest angle in degrees.
    width_shift_range, height_shift_range : float, int or 1-D array_like
        Largest shift. A number below 1 is a fraction of the size, an integer is a number of pixels,
        and a list contains the shifts to choose from.
    brightness_range : (float, float), optional
        Smallest and largest factor, for pixels from 0 to 255.
    shear_range : float
        Largest angle in degrees.
    zoom_range : float or (float, float)
        Factors from 1 - zoom_range to 1 + zoom_range, or smallest and largest factor.
    channel_shift_range : float
        Largest number to add to all pixels.
    fill_mode : {"nearest", "constant", "reflect", "wrap"}
        How pixels outside of the image are filled; see `apply_affine_transform`.
    cval : float
        See `apply_affine_transform`.
    horizontal_flip, vertical_flip : bool
        Mirror an image with probability 0.5.
    rescale : float, optional
        Factor for all values.
    preprocessing_function : callable, optional
        Called with each changed image, before it is rescaled.
    data_format : {"channels_last", "channels_first"}, optional
        Position of the channel axis; default `config.image_data_format`.
    validation_split : float
        Fraction of the data for `subset="validation"`.
    dtype : dtype, optional
        Dtype of the batches; default `config.floatx`.

    Attributes
    ----------
    mean, std : ndarray or None
        Mean and standard deviation of each channel over all images; set by `fit`.
    principal_components : ndarray or None
        The matrix that makes pixels uncorrelated; set by `fit`.

    Raises
    ------
    ArgumentError
        An argument is invalid.

    Examples
    --------
    >>> images = ImageDataGenerator(horizontal_flip=True, rescale=1 / 255)
    >>> batches = images.flow(np.ones((10, 8, 8, 3)), np.arange(10), batch_size=4, seed=1)
    >>> x, y = batches[0]
    >>> x.shape, y.shape, len(batches)
    ((4, 8, 8, 3), (4,), 3)
    """

    featurewise_center: bool
    featurewise_std_normalization: bool
    samplewise_center: bool
    samplewise_std_normalization: bool
    zca_whitening: bool
    zca_epsilon: float
    rescale: float | None
    preprocessing_function: Any
    data_format: str
    dtype: np.dtype

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Range = 0.0,
        height_shift_range: Range = 0.0,
        brightness_range: Sequence[float] | None = None,
        shear_range: float = 0.0,
        zoom_range: Range = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[np.ndarray], np.ndarray] | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_fill_mode(fill_mode, "ImageDataGenerator")
        if validation_split and not 0 < validation_split < 1:
            raise ArgumentError(
                "ImageDataGenerator: expected a validation_split between 0 and 1, "
                f"got {validation_split}."
            )
        if brightness_range is not None:
            pair(brightness_range, "ImageDataGenerator: brightness_range")
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.brightness_range = brightness_range
        self.shear_range = shear_range
        self.zoom_range = _zoom_factors(zoom_range)
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = checked_data_format(data_format, "ImageDataGenerator")
        self.dtype = np.dtype(config.floatx if dtype is None else dtype)
        self.validation_split = validation_split
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self._resolve_conflicts()

    def _resolve_conflicts(self) -> None:
        """Change settings that contradict other settings, with a warning for each change."""
        for needing, needed in (
            ("zca_whitening", "featurewise_center"),
            ("featurewise_std_normalization", "featurewise_center"),
            ("samplewise_std_normalization", "samplewise_center"),
        ):
            if getattr(self, needing) and not getattr(self, needed):
                setattr(self, needed, True)
                warn(f"ImageDataGenerator: {needing} needs {needed}=True, so it is set.")
        if self.zca_whitening and self.featurewise_std_normalization:
            self.featurewise_std_normalization = False
            warn("ImageDataGenerator: zca_whitening replaces featurewise_std_normalization.")

    # --- batches ----------------------------------------------------------------------------------

    def flow(
        self,
        x: Any,
        y: ArrayLike | None = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: ArrayLike | None = None,
        seed: int | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Return batches of the images in an array; see `NumpyArrayIterator`."""
        make_folder_for_pictures(save_to_dir)
        return NumpyArrayIterator(**by_name(locals()), **self._iterator_arguments)

    def flow_from_directory(
        self,
        directory: str | os.PathLike[str],
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: list[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Return batches of the images in a folder that contains a folder for each class.

        Parameters
        ----------
        directory : path
            The folder that contains the folders of the classes.
        target_size : (int, int)
            Height and width to which all images are resized.
        color_mode : {"rgb", "rgba", "grayscale"}
            The mode to which the images are converted.
        classes : list of str, optional
            The folders, in the order of the class numbers. Default: all, sorted.
        class_mode : {"categorical", "binary", "sparse", "input", None}
            The targets: one-hot rows, 0.0 and 1.0, class numbers, the images themselves, or none.
        batch_size, shuffle, seed, subset
            See `NumpyArrayIterator`.
        save_to_dir, save_prefix, save_format
            The folder into which each image of a batch is written, the beginning of the file names,
            and the format of the files.
        follow_links : bool
            Whether to follow symbolic links to folders.
        interpolation : str
            See `load_img`.
        """
        make_folder_for_pictures(save_to_dir)
        return DirectoryIterator(**by_name(locals()), **self._iterator_arguments)

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: str | os.PathLike[str],
        x_col: str = "filename",
        y_col: str | list[str] = "class",
        has_ext: bool = True,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: list[Any] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DataFrameIterator:
        """Return batches of the images whose file names are in a table.

        Parameters
        ----------
        dataframe : DataFrame, or dict of str to list
            The table.
        directory : path
            The folder with the files. Rows without a file are skipped.
        x_col : str
            Column with the names of the files.
        y_col : str or list of str
            Column with the targets; several only for `class_mode="other"`.
        has_ext : bool
            Whether the names contain the file extension.
        class_mode : {"categorical", "binary", "sparse", "input", "other", None}
            As for `flow_from_directory`; "other" uses the numbers in the columns.
        target_size, color_mode, classes, batch_size, shuffle, seed, subset, interpolation
            As for `flow_from_directory`.
        save_to_dir, save_prefix, save_format
            The folder into which each image of a batch is written, the beginning of the file names,
            and the format of the files.
        """
        make_folder_for_pictures(save_to_dir)
        return DataFrameIterator(**by_name(locals()), **self._iterator_arguments)

    @property
    def _iterator_arguments(self) -> dict[str, Any]:
        return {"image_data_generator": self, "data_format": self.data_format, "dtype": self.dtype}

    # --- random changes ---------------------------------------------------------------------------

    def get_random_transform(
        self, img_shape: tuple[int, ...], seed: int | None = None
    ) -> dict[str, Any]:
        """Return random parameters for the changes of one image.

        Parameters
        ----------
        img_shape : tuple of int
            Shape of the image.
        seed : int, optional
            Makes the parameters repeatable. By default they are drawn from NumPy's global
            generator.

        Returns
        -------
        dict
            "theta", "tx", "ty", "shear", "zx", "zy", "flip_horizontal", "flip_vertical",
            "channel_shift_intensity", "brightness", for `apply_transform`.
        """
        rng: Any = np.random if seed is None else np.random.RandomState(seed)
        theta = rng.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _shift(rng, self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _shift(rng, self.width_shift_range, img_shape[self.col_axis - 1])
        shear = rng.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        low, high = self.zoom_range
        zx, zy = (1, 1) if low == high == 1 else rng.uniform(low, high, 2)
        flip_horizontal = bool((rng.random_sample() < 0.5) * self.horizontal_flip)
        flip_vertical = bool((rng.random_sample() < 0.5) * self.vertical_flip)
        reach = self.channel_shift_range
        channel_shift = rng.uniform(-reach, reach) if reach else None
        brightness = None if self.brightness_range is None else rng.uniform(*self.brightness_range)
        return {
            "theta": theta,
            "tx": tx,
            "ty": ty,
            "shear": shear,
            "zx": zx,
            "zy": zy,
            "flip_horizontal": flip_horizontal,
            "flip_vertical": flip_vertical,
            "channel_shift_intensity": channel_shift,
            "brightness": brightness,
        }

    def apply_transform(self, x: np.ndarray, transform_parameters: dict[str, Any]) -> np.ndarray:
        """Return an image (3 axes) changed by the parameters that `get_random_transform` returned.

        Missing parameters change nothing, so `apply_transform(x, {"theta": 40})` only rotates.
        """
        given = transform_parameters.get
        rows, columns, channels = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        theta, tx, ty, shear = (given(name, 0) for name in ("theta", "tx", "ty", "shear"))
        zx, zy = given("zx", 1), given("zy", 1)
        axes, fill = (rows, columns, channels), (self.fill_mode, self.cval)
        image = apply_affine_transform(x, theta, tx, ty, shear, zx, zy, *axes, *fill)
        channel_shift, brightness = given("channel_shift_intensity"), given("brightness")
        if channel_shift is not None:
            image = apply_channel_shift(image, channel_shift, channels)
        if given("flip_horizontal"):
            image = flip_axis(image, columns)
        if given("flip_vertical"):
            image = flip_axis(image, rows)
        if brightness is not None:
            image = apply_brightness_shift(image, brightness)
        return image

    def random_transform(self, x: np.ndarray, seed: int | None = None) -> np.ndarray:
        """Return an image (3 axes) changed at random."""
        if np.ndim(x) != 3:
            raise DataError(f"random_transform: expected 3 axes, got shape {np.shape(x)}.")
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    # --- measuring and standardizing --------------------------------------------------------------

    @property
    def channel_axis(self) -> int:
        """The axis of the channels in a batch."""
        return 1 if self.data_format == "channels_first" else 3

    @property
    def row_axis(self) -> int:
        """The axis of the rows in a batch."""
        return 2 if self.data_format == "channels_first" else 1

    @property
    def col_axis(self) -> int:
        """The axis of the columns in a batch."""
        return self.row_axis + 1

    def fit(
        self, x: ArrayLike, augment: bool = False, rounds: int = 1, seed: int | None = None
    ) -> None:
        """Compute the statistics that standardizing needs: mean, deviation, whitening matrix.

        Parameters
        ----------
        x : array_like, 4 axes
            The images.
        augment : bool
            Whether to use images that are changed at random.
        rounds : int
            With `augment`, how often each image is used.
        seed : int, optional
            Makes the changes repeatable.

        Raises
        ------
        DataError
            `x` does not have 4 axes, or is empty.
        """
        images = np.array(x, dtype=self.dtype)
        if images.ndim != 4:
            raise DataError(
                "ImageDataGenerator: fit: expected 4 axes (samples, rows, columns, channels), "
                f"got shape {images.shape}."
            )
        if not len(images):
            raise DataError("ImageDataGenerator: fit: expected at least one image, got none.")
        warn_of_channels(images.shape, self.data_format, "ImageDataGenerator: fit")
        if augment:
            images = self._augmented(images, rounds, seed)
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = images.mean(axis=axes, keepdims=True)[0]
            images = images - self.mean
        if self.featurewise_std_normalization:
            self.std = images.std(axis=axes, keepdims=True)[0]
            images = images / (self.std + config.epsilon)
        if self.zca_whitening:
            self.principal_components = _whitening(images, self.zca_epsilon)

    def _augmented(self, images: np.ndarray, rounds: int, seed: int | None) -> np.ndarray:
        rng: Any = np.random if seed is None else np.random.RandomState(seed)
        return np.array(
            [
                self.random_transform(image, int(rng.randint(2**31 - 1)))
                for _ in range(rounds)
                for image in images
            ],
            dtype=self.dtype,
        )

    def standardize(self, x: Any) -> np.ndarray:
        """Return an image or a batch with standardized values, by the settings of this object.

        The steps are: the preprocessing function, `rescale`, mean and deviation of the image, mean
        and deviation of all images, ZCA. `x` is not changed.

        Warns
        -----
        KerascopeWarning
            A step is skipped, because it needs statistics and `fit` was not called.
        """
        image = x if self.preprocessing_function is None else self.preprocessing_function(x)
        if self.rescale:
            image = image * self.rescale
        if self.samplewise_center:
            image = image - np.mean(image, keepdims=True)
        if self.samplewise_std_normalization:
            image = image / (np.std(image, keepdims=True) + 1e-6)
        if self.featurewise_center and self._is_measured("mean", "featurewise_center"):
            image = image - self.mean
        if self.featurewise_std_normalization and self._is_measured(
            "std", "featurewise_std_normalization"
        ):
            image = image / (self.std + config.epsilon)
        if self.zca_whitening and self._is_measured("principal_components", "zca_whitening"):
            flat = image.reshape(-1, self.principal_components.shape[0])
            image = (flat @ self.principal_components).reshape(image.shape)
        return np.asarray(image)

    def _is_measured(self, attribute: str, wish: str) -> bool:
        if getattr(self, attribute) is not None:
            return True
        warn(
            f"ImageDataGenerator: {wish} is skipped, because it needs statistics of the images. "
            "Call fit(images) first."
        )
        return False


def _zoom_factors(zoom_range: Any) -> tuple[float, float]:
    if np.ndim(zoom_range) == 0:
        return 1 - zoom_range, 1 + zoom_range
    return pair(zoom_range, "ImageDataGenerator: zoom_range")


def _shift(rng: Any, reach: Range, size: int) -> float:
    """Return a random shift in pixels along an axis, for a `width_shift_range`; 0 for range 0."""
    if not np.any(reach):
        return 0
    if isinstance(reach, (float, np.floating)):
        shift = rng.uniform(-reach, reach)
    else:  # an integer means all numbers of pixels below it, a list its own elements
        shift = rng.choice(reach) * rng.choice([-1, 1])
    return float(shift * size if np.max(np.abs(reach)) < 1 else shift)


def _whitening(images: np.ndarray, epsilon: float) -> np.ndarray:
    r"""Return the symmetric matrix that makes the pixels of images uncorrelated.

    For the covariance :math:`\Sigma = U S U^T`, the matrix is
    :math:`U (S + \epsilon)^{-1/2} U^T`.
    """
    flat = images.reshape(len(images), -1)
    covariance = flat.T @ flat / len(flat)
    vectors, values, _ = np.linalg.svd(covariance)
    return (vectors / np.sqrt(values + epsilon)) @ vectors.T


answer_missing_names(__name__, later={"smart_resize": "kerascope.layers.keras3.images"})
