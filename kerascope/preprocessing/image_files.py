"""Convert images between arrays, PIL images and files.

Only these functions need PIL (the package "pillow"): `pip install 'kerascope[image]'`.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kerascope.backend.ops.windows import sizes_along_axes
from kerascope.errors import ArgumentError, MissingToolError, SpellingWarning, UnavailableError
from kerascope.registry import did_you_mean
from kerascope.settings import config

COLOR_MODES = {"grayscale": ("L", 1), "rgb": ("RGB", 3), "rgba": ("RGBA", 4)}
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
EXTENSIONS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")


def pil_image(where: str, instead: str = "Arrays of pixels do not need it.") -> ModuleType:
    """Import and return the module `PIL.Image`.

    Raises
    ------
    MissingToolError
        PIL is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingToolError(
            f"{where}: image files need PIL. Install it: pip install 'kerascope[image]'. {instead}"
        ) from error
    return Image


def checked_data_format(data_format: str | None, where: str) -> str:
    """Return "channels_last" or "channels_first"; None means `config.image_data_format`.

    Raises
    ------
    ArgumentError
        The data format is unknown.
    """
    layouts = {"tf": "channels_last", "th": "channels_first"}
    chosen = config.image_data_format if data_format is None else data_format
    chosen = layouts.get(chosen, chosen)
    if chosen not in layouts.values():
        raise ArgumentError(
            f"{where}: expected data_format 'channels_last' or 'channels_first', got "
            f"{data_format!r}. {did_you_mean(str(chosen), layouts.values())}".rstrip()
        )
    return chosen


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: DTypeLike | None = None
) -> Any:
    """Return an array of pixels as a PIL image.

    Parameters
    ----------
    x : array_like, shape (rows, columns, channels) or (channels, rows, columns)
        1, 3 or 4 channels.
    data_format : {"channels_last", "channels_first"}, optional
    scale : bool
        Whether to scale the values to the range from 0 to 255.
    dtype : dtype, optional
        Dtype of the computation.

    Raises
    ------
    ArgumentError
        The array does not have 3 axes, or does not have 1, 3 or 4 channels.
    MissingToolError
        PIL is not installed.
    """
    image = pil_image("array_to_img")
    pixels = np.asarray(x, dtype=config.floatx if dtype is None else dtype)
    layout = checked_data_format(data_format, "array_to_img")
    if pixels.ndim != 3:
        raise ArgumentError(f"array_to_img: expected 3 axes, got shape {pixels.shape}.")
    if layout == "channels_first":
        pixels = pixels.transpose(1, 2, 0)
    if scale:
        pixels = pixels - min(float(pixels.min()), 0.0)
        highest = float(pixels.max())
        pixels = pixels / highest * 255 if highest else pixels
    channels = pixels.shape[2]
    if channels not in (1, 3, 4):
        raise ArgumentError(
            f"array_to_img: expected 1, 3 or 4 channels, got {channels} ({layout}). "
            "Is it the other data_format?"
        )
    small = pixels.astype("uint8")
    return image.fromarray(small[:, :, 0] if channels == 1 else small)


def img_to_array(
    img: Any, data_format: str | None = None, dtype: DTypeLike | None = None
) -> np.ndarray:
    """Return a PIL image (or an array) as an array with 3 axes.

    Parameters
    ----------
    img : PIL image, or array_like with 2 or 3 axes
    data_format : {"channels_last", "channels_first"}, optional
        Data format of the result.
    dtype : dtype, optional
        Default: `config.floatx`.

    Raises
    ------
    ArgumentError
        The image does not have 2 or 3 axes.

    Examples
    --------
    >>> img_to_array(np.zeros((4, 5))).shape
    (4, 5, 1)
    """
    layout = checked_data_format(data_format, "img_to_array")
    pixels = np.array(img, dtype=config.floatx if dtype is None else dtype)
    if pixels.ndim not in (2, 3):
        raise ArgumentError(f"img_to_array: expected 2 or 3 axes, got shape {pixels.shape}.")
    if pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
    return pixels.transpose(2, 0, 1) if layout == "channels_first" else pixels


def load_img(
    path: str | os.PathLike[str],
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
) -> Any:
    """Read an image file; return a PIL image.

    Parameters
    ----------
    path : path
    grayscale : bool
        The older spelling of `color_mode="grayscale"`.
    color_mode : {"rgb", "rgba", "grayscale"}
        The mode to which the image is converted.
    target_size : (int, int), optional
        Height and width to which the image is resized.
    interpolation : {"nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"}
        The method of resizing.

    Raises
    ------
    ArgumentError
        The mode or the interpolation is unknown.
    UnavailableError
        The file cannot be read, or is not an image.
    MissingToolError
        PIL is not installed.
    """
    image = pil_image("load_img")
    if grayscale:
        message = "load_img: grayscale is an old spelling. Use color_mode='grayscale'."
        warnings.warn(message, SpellingWarning, stacklevel=2)
        color_mode = "grayscale"
    mode, _ = checked_color_mode(color_mode, "load_img")
    if interpolation not in INTERPOLATIONS:
        raise ArgumentError(
            f"load_img: unknown interpolation {interpolation!r}. "
            f"{did_you_mean(str(interpolation), INTERPOLATIONS)}"
            f"Use one of: {', '.join(INTERPOLATIONS)}."
        )
    if target_size is not None:
        where = "load_img: target_size (height, width)"
        height, width = sizes_along_axes(target_size, 2, where)
    try:
        with image.open(path) as file:
            loaded = file.convert(mode)
    except (OSError, ValueError) as error:
        what = f"load_img: cannot read {os.fspath(path)!r}"
        raise UnavailableError(f"{what}: {error.args[-1]}.") from error
    if target_size is None or loaded.size == (width, height):
        return loaded
    resampling = getattr(image.Resampling, interpolation.upper())
    return loaded.resize((width, height), resampling)


def checked_color_mode(color_mode: str, where: str) -> tuple[str, int]:
    """Return PIL's name of a color mode, and its number of channels.

    Raises
    ------
    ArgumentError
        The mode is unknown.
    """
    if color_mode not in COLOR_MODES:
        raise ArgumentError(
            f"{where}: expected color_mode 'rgb', 'rgba' or 'grayscale', got {color_mode!r}."
        )
    return COLOR_MODES[color_mode]


def save_img(
    path: str | os.PathLike[str],
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array of pixels into an image file.

    Parameters
    ----------
    path : path
    x : array_like, 3 axes
    data_format, scale
        See `array_to_img`.
    file_format : str, optional
        Format of the file. By default the extension of `path` decides.
    **kwargs
        Further arguments of PIL's `save`.
    """
    img = array_to_img(x, data_format=data_format, scale=scale)
    ending = (file_format or Path(path).suffix.lstrip(".")).lower()
    if img.mode == "RGBA" and ending in ("jpg", "jpeg"):
        warnings.warn("save_img: JPEG has no transparency, so it is lost.", stacklevel=2)
        img = img.convert("RGB")
    try:
        img.save(path, format="jpeg" if file_format == "jpg" else file_format, **kwargs)
    except OSError as error:
        raise UnavailableError(f"save_img: cannot write {os.fspath(path)!r}: {error}") from error


def list_pictures(
    directory: str | os.PathLike[str], ext: str | tuple[str, ...] = "jpg|jpeg|bmp|png|ppm|tif|tiff"
) -> list[str]:
    """Return the sorted paths of the image files in a folder and all its subfolders.

    Parameters
    ----------
    directory : path
        The folder.
    ext : str or tuple of str
        Extensions of the files; in a string separated by "|".
    """
    endings = ext.split("|") if isinstance(ext, str) else ext
    pattern = re.compile(rf".*\.({'|'.join(re.escape(end.lstrip('.')) for end in endings)})", re.I)
    found = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(directory)
        for name in names
        if pattern.fullmatch(name)
    ]
    return sorted(found)
