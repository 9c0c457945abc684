"""Operations of `keras.ops.image`, on images (rows, columns, channels) or batches of them.

Resizing multiplies by a matrix for each axis. Affine transforms and coordinate maps read the pixels
at computed positions (`_read_at`). All of these operations have gradients.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, TensorLike, as_tensor
from kerascope.backend.ops import mathematics as m
from kerascope.backend.ops.elementwise import floating
from kerascope.errors import ArgumentError, NotYetError, ShapeError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.numpy import pad
from kerascope.layers.ops.rows import IMAGE, public, row
from kerascope.limits import current_budget

_OTHERS = {*globals()}  # names that are not operations

INTERPOLATIONS = ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5")
FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def one_of(what: str, value: Any, known: Sequence[Any]) -> Any:
    """Return `value`, or raise ArgumentError if it is not in `known`."""
    if value not in known:
        names = ", ".join(map(repr, known))
        raise ArgumentError(f"keras.ops.image: unknown {what} {value!r}. Use one of {names}.")
    return value


def channels_last(images: Tensor, data_format: str | None, what: str) -> tuple[Tensor, Any]:
    """Return images as a batch with channels last, and a function that restores the original axes.

    Raises
    ------
    ShapeError
        The tensor is neither one image nor a batch of images.
    """
    if images.ndim not in (3, 4):
        raise ShapeError(
            f"{what}: expected an image (rows, columns, channels) or a batch of images, got shape "
            f"{images.shape}. With 'channels_first' the channels come before the rows."
        )
    is_first = K.normalize_data_format(data_format) == "channels_first"
    is_single = images.ndim == 3
    batch = K.expand_dims(images, 0) if is_single else images
    batch = K.permute_dimensions(batch, (0, 2, 3, 1)) if is_first else batch

    def back(x: Tensor) -> Tensor:
        x = K.permute_dimensions(x, (0, 3, 1, 2)) if is_first else x
        return x[0] if is_single else x

    return batch, back


def _sizes(images: Tensor, what: str) -> tuple[int, int]:
    """Return the numbers of rows and columns of a batch of images.

    Raises
    ------
    ShapeError
        The number of rows or the number of columns is unknown.
    """
    height, width = images.shape[1:3]
    if height is None or width is None:
        raise ShapeError(
            f"{what}: expected known numbers of rows and columns, got {images.shape}. Give the "
            f"Input these sizes."
        )
    return height, width


def _in_type_of(x: Tensor, images: Tensor, rounded: Callable[[Any], Any]) -> Tensor:
    """Return `x`; if the images' dtype is an integer dtype, round, clip and cast `x` to it."""
    if "int" not in images.dtype:
        return x
    limits = np.iinfo(images.dtype)
    return K.cast(K.clip(rounded(x), float(limits.min), float(limits.max)), images.dtype)


def _rounded(x: Tensor) -> Tensor:
    """Return the nearest whole numbers; halves are rounded away from zero."""
    return K.sign(x) * m.Floor()(K.abs(x) + 0.5)


# --- resizing -------------------------------------------------------------------------------------


def _lanczos(x: np.ndarray, radius: float) -> np.ndarray:
    return np.where(x > radius, 0.0, np.sinc(x) * np.sinc(x / radius))


def _cubic(x: np.ndarray) -> np.ndarray:
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


# The weight of a pixel by its distance. Cubic: Keys, "Cubic convolution interpolation", 1981.
_KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bilinear": lambda x: np.maximum(0.0, 1.0 - x),
    "bicubic": _cubic,
    "lanczos3": lambda x: _lanczos(x, 3.0),
    "lanczos5": lambda x: _lanczos(x, 5.0),
}


def _weights(old: int, new: int, method: str, antialias: bool) -> np.ndarray:
    """Return the matrix of shape (old, new) that resizes an axis from `old` to `new` pixels."""
    _count((old, new), "a matrix that resizes")
    if method == "nearest":
        places = np.floor((np.arange(new) + 0.5) * old / new).astype(int)
        return (np.arange(old)[:, None] == places).astype("float32")
    step = old / new
    distance = np.abs((np.arange(new) + 0.5) * step - 0.5 - np.arange(old)[:, None])
    counts = _KERNELS[method](distance / (max(step, 1.0) if antialias else 1.0))
    return (counts / counts.sum(0)).astype("float32")


def _count(shape: tuple[int, ...], what: str) -> None:
    """Subtract a constant's size from the memory budget of a model that is loaded from a file.

    If no such model is being loaded, nothing happens.
    """
    budget = current_budget()
    if budget is not None:
        budget.take_constant(shape, what)


@row(IMAGE)
def resize(
    images: TensorLike,
    size: Any,
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Any:
    """Return images resized to `size`, which is (rows, columns)."""
    one_of("interpolation", interpolation, INTERPOLATIONS)
    one_of("fill_mode", fill_mode, ("constant",))
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ArgumentError("resize: use either crop_to_aspect_ratio or pad_to_aspect_ratio.")
    images = as_tensor(images)
    x, back = channels_last(floating(images), data_format, "resize")
    height, width = _sizes(x, "resize")
    new_height, new_width = size
    wanted = int(width * new_height / new_width), int(height * new_width / new_height)
    if crop_to_aspect_ratio:
        rows, columns = min(height, wanted[0]) or height, min(width, wanted[1]) or width
        top, left = (height - rows) // 2, (width - columns) // 2
        x = x[:, top : top + rows, left : left + columns]
    elif pad_to_aspect_ratio:
        border = [
            max(0, (new - old) // 2) for new, old in zip(wanted, (height, width), strict=True)
        ]
        x = _padded(x, [(n, n) for n in border], fill_value)
    height, width = _sizes(x, "resize")
    down = K.constant(_weights(height, new_height, interpolation, antialias), x.dtype)
    across = K.constant(_weights(width, new_width, interpolation, antialias), x.dtype)
    return _in_type_of(back(K.einsum("bhwc,hy,wx->byxc", x, down, across)), images, K.round)


def _padded(x: Tensor, border: list[tuple[int, int]], fill_value: float) -> Tensor:
    """Return images with borders of `fill_value`; `border` has (before, after) for each axis."""
    if not any(n for pair in border for n in pair):
        return x
    return pad(x, [(0, 0), *border, (0, 0)], constant_values=fill_value)


def _missing(
    sizes: tuple[int, int], before: Any, after: Any, target: Any, sign: int
) -> list[tuple[int, int]]:
    """Return for each axis the numbers of pixels (before, after) to add to it or to cut off it.

    A missing number is computed from the target size. `sign` is 1 to add pixels, -1 to remove them.
    """
    found = []
    for size, first, last, whole in zip(sizes, before, after, target, strict=True):
        if sum(x is not None for x in (first, last, whole)) != 2:
            raise ArgumentError(
                f"keras.ops.image: expected exactly two of the sizes before, after and target for "
                f"each axis, got {first}, {last} and {whole}."
            )
        if whole is not None:
            rest = sign * (whole - size)
            first = rest - last if first is None else first
            last = rest - first
        if min(first, last) < 0:
            raise ArgumentError(f"keras.ops.image: size {size} cannot become {whole}.")
        found.append((first, last))
    return found


@row(IMAGE)
def pad_images(
    images: TensorLike,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """Return images with zeros around them.

    For each axis, give two of three numbers: the padding before, the padding after, and the target
    size.
    """
    x, back = channels_last(as_tensor(images), data_format, "pad_images")
    before, after = (top_padding, left_padding), (bottom_padding, right_padding)
    target = (target_height, target_width)
    return back(_padded(x, _missing(_sizes(x, "pad_images"), before, after, target, 1), 0))


@row(IMAGE)
def crop_images(
    images: TensorLike,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """Return images without their borders.

    For each axis, give two of three numbers: the cropping before, the cropping after, and the
    target size.
    """
    x, back = channels_last(as_tensor(images), data_format, "crop_images")
    before, after = (top_cropping, left_cropping), (bottom_cropping, right_cropping)
    height, width = _sizes(x, "crop_images")
    target = (target_height, target_width)
    (top, bottom), (left, right) = _missing((height, width), before, after, target, -1)
    return back(x[:, top : height - bottom, left : width - right])


# --- reading pixels at computed places ------------------------------------------------------------


def _inside(places: Tensor, size: int, fill_mode: str) -> Tensor:
    """Return positions along an axis, moved into the image according to `fill_mode`."""
    if fill_mode in ("constant", "nearest"):
        return K.clip(places, 0.0, size - 1.0)
    period = float({"wrap": size, "reflect": 2 * size, "mirror": max(2 * size - 2, 1)}[fill_mode])
    places = places - period * m.Floor()(places / period)
    if fill_mode == "wrap":
        return places
    return K.minimum(places, period - (1.0 if fill_mode == "reflect" else 0.0) - places)


def _read_at(
    entries: Tensor,
    sizes: Sequence[int],
    places: Sequence[Tensor],
    start: Any,
    order: int,
    fill_mode: str,
    fill_value: Any,
) -> Tensor:
    """Return the values of grids, such as images, at positions that need not be whole numbers.

    Parameters
    ----------
    entries : Tensor, shape (all, ...)
        The entries of all grids, one grid after the other.
    sizes : list of int
        Sizes of the axes of a grid; all grids have the same sizes.
    places : list of Tensor
        For each axis of the grid, the coordinates of the positions. The tensors have equal shapes.
    start : Tensor or int
        For each position, the index of the first entry of its grid.
    order : {0, 1}
        0 takes the nearest entry, 1 interpolates linearly.
    """
    if order == 0:
        corners: Any = [[(_rounded(x), None)] for x in places]
    else:
        below = [m.Floor()(x) for x in places]
        corners = [
            [(low, 1.0 - (x - low)), (low + 1.0, x - low)]
            for x, low in zip(places, below, strict=True)
        ]
    further = entries.ndim - 1

    def spread(x: Tensor) -> Tensor:
        for _ in range(further):
            x = K.expand_dims(x, -1)
        return x

    total: Any = None
    for corner in itertools.product(*corners):
        index, share = start, None
        valid: Any = None
        for (place, part), size in zip(corner, sizes, strict=True):
            index = index * size + K.cast(_inside(place, size, fill_mode), "int32")
            share = part if share is None or part is None else share * part
            is_in = K.cast(K.equal(K.clip(place, 0.0, size - 1.0), place), entries.dtype)
            valid = is_in if valid is None else valid * is_in
        found = K.gather(entries, index)
        if fill_mode == "constant":
            valid = spread(valid)
            found = found * valid + fill_value * (1.0 - valid)
        found = found if share is None else found * spread(share)
        total = found if total is None else total + found
    return total


@row(IMAGE)
def map_coordinates(
    inputs: TensorLike,
    coordinates: Any,
    order: int,
    fill_mode: str = "constant",
    fill_value: float = 0,
) -> Any:
    """Return the values of `inputs` at coordinates, which have a row for each axis.

    Order 0 takes the nearest entry, order 1 interpolates linearly.
    """
    one_of("order", order, (0, 1))
    one_of("fill_mode", fill_mode, FILL_MODES)
    given, places = as_tensor(inputs), floating(coordinates)
    if None in given.shape or places.shape[0] != given.ndim:
        raise ShapeError(
            f"map_coordinates: expected inputs of known sizes and a row of coordinates for each "
            f"axis, got shapes {given.shape} and {places.shape}."
        )
    entries = K.reshape(floating(given), (-1,))
    along = [places[i] for i in range(given.ndim)]
    read = _read_at(entries, given.shape, along, 0, order, fill_mode, fill_value)  # type: ignore[arg-type]
    return _in_type_of(read, given, _rounded)


@row(IMAGE)
def affine_transform(
    images: TensorLike,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    """Return images transformed by a projective map, such as a rotation.

    Pixel (x, y) of the result is read at ((a x + b y + c) / k, (d x + e y + f) / k), where k is
    g x + h y + 1. `transform` contains the numbers a to h, once for all images or once for each
    image.
    """
    images = as_tensor(images)
    one_of("interpolation", interpolation, ("bilinear", "nearest"))
    x, back = channels_last(floating(images), data_format, "affine_transform")
    numbers = K.reshape(floating(transform), (-1, 8))
    read = _transformed(x, numbers, interpolation, fill_mode, fill_value)
    return _in_type_of(back(read), images, _rounded)


def _transformed(x: Tensor, numbers: Tensor, interpolation: str, fill: str, value: Any) -> Tensor:
    one_of("fill_mode", fill, FILL_MODES)
    height, width = _sizes(x, "affine_transform")
    rows, columns = np.divmod(np.arange(height * width, dtype="float32"), np.float32(width))
    a, b, c, d, e, f, g, h = (numbers[:, i : i + 1] for i in range(8))
    scale = g * columns + h * rows + 1.0
    across = (a * columns + b * rows + c) / scale
    down = (d * columns + e * rows + f) / scale
    number = ops.shape(x)[0]
    start = K.expand_dims(ops.arange(number, dtype="int32"), -1)
    entries = K.reshape(x, (-1, x.shape[-1]))
    order = int(interpolation == "bilinear")
    # One transform for all images is broadcast to a transform for each image.
    down, across = (place + K.cast(start * 0, x.dtype) for place in (down, across))
    read = _read_at(entries, (height, width), (down, across), start, order, fill, value)
    return K.reshape(read, (-1, height, width, x.shape[-1]))


# --- colours --------------------------------------------------------------------------------------


def _colours(images: TensorLike, data_format: str | None, what: str) -> tuple[list[Tensor], Any]:
    x, back = channels_last(as_tensor(images), data_format, what)
    if x.shape[-1] != 3:
        raise ShapeError(f"{what}: expected images with 3 channels, got {x.shape}.")
    return [x[..., i : i + 1] for i in range(3)], back


@row(IMAGE, "RGBToGrayscale")
def rgb_to_grayscale(images: TensorLike, data_format: str | None = None) -> Any:
    """Return grey images: 0.2989 red + 0.5870 green + 0.1140 blue."""
    images = as_tensor(images)
    (red, green, blue), back = _colours(floating(images), data_format, "rgb_to_grayscale")
    grey = back(0.2989 * red + 0.5870 * green + 0.1140 * blue)
    return K.cast(grey, images.dtype)


@row(IMAGE, "RGBToHSV")
def rgb_to_hsv(images: TensorLike, data_format: str | None = None) -> Any:
    """Return the hue, saturation and value of each pixel, each between 0 and 1."""
    (red, green, blue), back = _colours(images, data_format, "rgb_to_hsv")
    value = K.maximum(K.maximum(red, green), blue)
    span = value - K.minimum(K.minimum(red, green), blue)
    saturation = ops.where(value > 0, span / ops.where(value > 0, value, 1.0), 0.0)
    unit = 1.0 / ops.where(span > 0, span, 1.0) / 6.0
    hue = ops.where(
        K.equal(value, red),
        (green - blue) * unit,
        ops.where(K.equal(value, green), (blue - red) * unit + 2 / 6, (red - green) * unit + 4 / 6),
    )
    hue = ops.where(span > 0, hue + K.cast(hue < 0, hue.dtype), 0.0)
    return back(K.concatenate([hue, saturation, value], axis=-1))


@row(IMAGE, "HSVToRGB")
def hsv_to_rgb(images: TensorLike, data_format: str | None = None) -> Any:
    """Return the red, green and blue of pixels given as hue, saturation and value."""
    (hue, saturation, value), back = _colours(images, data_format, "hsv_to_rgb")
    turned = hue * 6.0
    red = K.clip(K.abs(turned - 3.0) - 1.0, 0.0, 1.0)
    green = K.clip(2.0 - K.abs(turned - 2.0), 0.0, 1.0)
    blue = K.clip(2.0 - K.abs(turned - 4.0), 0.0, 1.0)
    parts = [((x - 1.0) * saturation + 1.0) * value for x in (red, green, blue)]
    return back(K.concatenate(parts, axis=-1))


# --- patches --------------------------------------------------------------------------------------


@row(IMAGE)
def extract_patches(
    images: TensorLike,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Return images in which the channels of each pixel are all pixels of one window."""
    x, back = channels_last(floating(images), data_format, "extract_patches")
    window = (size, size) if isinstance(size, int) else tuple(size)
    if len(window) != 2:
        raise NotYetError(f"extract_patches: expected two sizes (for images), got {size!r}.")
    steps = window if strides is None else strides
    channels: Any = x.shape[-1]
    pixels = math.prod(window) * channels
    _count((pixels, pixels), "a kernel that picks")
    pick = K.constant(np.eye(pixels).reshape(*window, channels, pixels), x.dtype)
    return back(ops.conv(x, pick, steps, padding, "channels_last", dilation_rate))


__all__ = public(globals(), _OTHERS | {"channels_last", "one_of"})
