"""Layers that resize and crop images, and layers that change images at random in training.

All of them consist of K functions, so they work on arrays and inside a model. Called on arrays, a
random layer changes the images unless `training=False`, as in Keras 3. Inside a model, the layer
changes images only in training. Random layers return floats; in Keras, some random layers keep the
dtype of the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, is_eager
from kerascope.backend.shapes import Shape
from kerascope.backend.state import phase_is_open
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError
from kerascope.layers.arguments import Training, positive_int
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.image import (
    FILL_MODES,
    INTERPOLATIONS,
    affine_transform,
    channels_last,
    crop_images,
    one_of,
    resize,
)
from kerascope.settings import config

__all__ = [
    "CenterCrop",
    "RandomBrightness",
    "RandomContrast",
    "RandomFlip",
    "RandomRotation",
    "RandomTranslation",
    "RandomZoom",
    "Resizing",
]

Factor = float | Sequence[float]


# --- a size ---------------------------------------------------------------------------------------


class _OfSize(Layer):
    """Base class of layers whose output images have a given number of rows and columns."""

    def __init__(
        self, height: int, width: int, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.height = positive_int(height, f"{self.label}: height")
        self.width = positive_int(width, f"{self.label}: width")
        self.data_format = K.normalize_data_format(data_format)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with `height` rows and `width` columns."""
        if self.data_format == "channels_first":
            return (*input_shape[:-2], self.height, self.width)
        return (*input_shape[:-3], self.height, self.width, input_shape[-1])


class Resizing(_OfSize):
    """Resizes images to a given height and width.

    Parameters
    ----------
    height, width : int
        Size of the output.
    interpolation : {"bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"}
        How values between pixels are computed.
    crop_to_aspect_ratio, pad_to_aspect_ratio : bool
        Whether the middle of the image is cut out, or a border is added, so that the image is not
        distorted.
    fill_mode : {"constant"}
        How the border is filled; "constant" means with `fill_value`.
    fill_value : float
        Value of the border.
    antialias : bool
        Whether a smaller image is computed from means of pixels.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> Resizing(2, 2)(np.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0].tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """

    def __init__(
        self,
        height: int,
        width: int,
        interpolation: str = "bilinear",
        crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: bool = False,
        fill_mode: str = "constant",
        fill_value: float = 0.0,
        antialias: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(height, width, data_format, **kwargs)
        self.interpolation = one_of(f"{self.label}: interpolation", interpolation, INTERPOLATIONS)
        self.crop_to_aspect_ratio = bool(crop_to_aspect_ratio)
        self.pad_to_aspect_ratio = bool(pad_to_aspect_ratio)
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.antialias = bool(antialias)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the images in the new size. Integer images keep their dtype."""
        images = inputs if "int" in inputs.dtype else K.cast(inputs, self.dtype)
        return resize(
            images, (self.height, self.width), self.interpolation, self.antialias,
            self.crop_to_aspect_ratio, self.pad_to_aspect_ratio, self.fill_mode, self.fill_value,
            self.data_format,
        )  # fmt: skip


class CenterCrop(_OfSize):
    """Cuts out the middle of images; images that are too small are first enlarged.

    Parameters
    ----------
    height, width : int
        Size of the output.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The size of the images is not known.

    Examples
    --------
    >>> import numpy as np
    >>> CenterCrop(1, 2)(np.arange(12.0).reshape(1, 3, 4, 1)).ravel().tolist()
    [5.0, 6.0]
    """

    def call(self, inputs: Tensor) -> Tensor:
        """Return the middle of the images."""
        x = K.cast(inputs, self.dtype)
        is_first = self.data_format == "channels_first"
        height, width = x.shape[-2:] if is_first else x.shape[-3:-1]
        if height is not None and width is not None:
            top, left = (height - self.height) // 2, (width - self.width) // 2
            if min(top, left) < 0 or self.height > height or self.width > width:
                size = (self.height, self.width)
                return resize(x, size, crop_to_aspect_ratio=True, data_format=self.data_format)
        else:
            top = left = 0  # crop_images raises the error
        return crop_images(
            x, top, left, target_height=self.height, target_width=self.width,
            data_format=self.data_format,
        )  # fmt: skip


# --- at random ------------------------------------------------------------------------------------


class _RandomImages(Layer):
    """Base class of layers that change images in training; a subclass defines `change`."""

    factor_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def __init__(
        self, seed: int | None = None, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.data_format = K.normalize_data_format(data_format)
        self._draws = 0
        self.supports_masking = True

    def check_factor(self, factor: Any, word: str = "factor", low: float | None = None) -> Any:
        """Return a factor as a pair of limits; for one number f, (-f, f) or, with `low`, (low, f).

        Raises
        ------
        ArgumentError
            A limit is outside the layer's `factor_range`.
        """
        if isinstance(factor, (list, tuple)):
            pair = tuple(factor)
        else:
            pair = (low, factor) if low is not None else (-abs(factor), abs(factor))
        least, most = self.factor_range
        if len(pair) != 2 or not least <= min(pair) <= max(pair) <= most:
            raise ArgumentError(
                f"{self.label}: expected {word} as one or two numbers from {least} to {most}, got "
                f"{factor!r}."
            )
        return (min(pair), max(pair))

    def draw(self, images: Tensor, pair: Sequence[float]) -> Tensor:
        """Return a random number between the limits for each image, of shape (batch, 1).

        With a seed, the sequence of numbers that successive calls draw is repeatable.
        """
        self._draws += 1
        seed = None if self.seed is None else (self.seed * 1009 + self._draws) % 2**31
        low, high = pair
        return K.random_uniform((ops.shape(images)[0], 1), low, high, images.dtype, seed)

    def change(self, images: Tensor) -> Tensor:
        """Return randomly changed images, for a batch of images with channels last."""
        raise NotImplementedError(f"{type(self).__name__} must define change(images).")

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        """Return the images, with random changes in training."""
        if phase_is_open():
            training = True
        if not is_eager():
            self._draws = 0  # so that a model made again draws the same numbers
        inputs = K.cast(inputs, self.dtype)
        images, back = channels_last(inputs, self.data_format, self.label)
        return K.in_train_phase(lambda: back(self.change(images)), inputs, training)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, including the `data_format` that is used."""
        return {**super().get_config(), "data_format": self.data_format}


def _with_pixel_axes(numbers: Tensor) -> Tensor:
    """Return numbers of shape (batch, 1), reshaped to (batch, 1, 1, 1)."""
    return K.expand_dims(K.expand_dims(numbers, -1), -1)


class RandomFlip(_RandomImages):
    """Flips each image with probability 1/2.

    Parameters
    ----------
    mode : {"horizontal_and_vertical", "horizontal", "vertical"}
        "horizontal" exchanges left and right, "vertical" turns upside down, and
        "horizontal_and_vertical" does each of these with probability 1/2.
    seed : int, optional
        Makes the random choices repeatable.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    Of four equal images, three are flipped here:

    >>> import numpy as np
    >>> images = np.array([[[[1.0], [2.0]]]] * 4)
    >>> RandomFlip("horizontal", seed=1)(images).reshape(4, 2).tolist()
    [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]]
    >>> RandomFlip("horizontal")(images, training=False).reshape(4, 2).tolist()
    [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    """

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        modes = ("horizontal_and_vertical", "horizontal", "vertical")
        self.mode = one_of(f"{self.label}: mode", mode, modes)

    def change(self, images: Tensor) -> Tensor:
        """Return the images, some of them flipped."""
        for word, axis in (("horizontal", 2), ("vertical", 1)):
            if word in self.mode:
                is_kept = _with_pixel_axes(self.draw(images, (0.0, 1.0))) < 0.5
                images = ops.where(is_kept, images, K.reverse(images, axis))
        return images


class RandomBrightness(_RandomImages):
    """Makes each image brighter or darker by a random amount.

    Parameters
    ----------
    factor : float or pair of float
        Limits; one number f means (-f, f). For each image a fraction of the range is drawn between
        the limits and added.
    value_range : pair of float
        Range of the pixels, before and after.
    seed : int, optional
        Makes the random amounts repeatable.
    **kwargs
        As for `Layer`; `data_format` too.

    Examples
    --------
    With factor 0.2, a fifth of 255 is added:

    >>> import numpy as np
    >>> pixels = np.array([0.0, 100.0, 250.0]).reshape(1, 1, 3, 1)
    >>> RandomBrightness((0.2, 0.2))(pixels).ravel().round().tolist()
    [51.0, 151.0, 255.0]
    """

    def __init__(
        self, factor: Factor, value_range: Any = (0, 255), seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = self.check_factor(factor)
        self.value_range = list(value_range)

    def change(self, images: Tensor) -> Tensor:
        """Return the images, with a random number added to all pixels of each image."""
        low, high = self.value_range
        added = _with_pixel_axes(self.draw(images, self.factor)) * float(high - low)
        return K.clip(images + added, low, high)


class RandomContrast(_RandomImages):
    """Multiplies the difference of each pixel from its channel's mean by a random number.

    Parameters
    ----------
    factor : float or pair of float
        A pair (a, b) gives random numbers between 1 - a and 1 + b; one number b gives random
        numbers between 1 and 1 + b.
    value_range : pair of float
        Range of the pixels, before and after.
    seed : int, optional
        Makes the random numbers repeatable.
    **kwargs
        As for `Layer`; `data_format` too.

    Examples
    --------
    The pixels move away from their mean, which stays the same:

    >>> import numpy as np
    >>> pixels = np.array([100.0, 200.0]).reshape(1, 1, 2, 1)
    >>> darker, brighter = RandomContrast(0.5, seed=1)(pixels).ravel().tolist()
    >>> darker < 100.0, brighter > 200.0, round((darker + brighter) / 2)
    (True, True, 150)
    """

    factor_range = (0.0, 1.0)

    def __init__(
        self, factor: Factor, value_range: Any = (0, 255), seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(seed, **kwargs)
        self.factor = self.check_factor(factor, low=0)
        self.value_range = tuple(value_range)

    def change(self, images: Tensor) -> Tensor:
        """Return the images, each with a random contrast."""
        less, more = self.factor
        contrast = _with_pixel_axes(self.draw(images, (1.0 - less, 1.0 + more)))
        mean = K.mean(images, axis=[1, 2], keepdims=True)
        return K.clip((images - mean) * contrast + mean, *self.value_range)


class _Moved(_RandomImages):
    """Base class of layers that read each pixel at another position of the image."""

    def __init__(
        self,
        fill_mode: str,
        interpolation: str,
        seed: int | None,
        fill_value: float,
        data_format: str | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.fill_mode = one_of(f"{self.label}: fill_mode", fill_mode, FILL_MODES)
        known = INTERPOLATIONS[:2]
        self.interpolation = one_of(f"{self.label}: interpolation", interpolation, known)
        self.fill_value = fill_value

    def coefficients(self, images: Tensor) -> list[Any]:
        """Return a, b, c, d, e, f: pixel (x, y) is read at (a x + b y + c, d x + e y + f).

        Positions are relative to the middle of the image.
        """
        raise NotImplementedError(f"{type(self).__name__} must define coefficients(images).")

    def change(self, images: Tensor) -> Tensor:
        """Return the images, each pixel read at the position that `coefficients` determine."""
        height, width = ops.shape(images)[1:3]
        x, y = ((K.cast(size, images.dtype) - 1.0) * 0.5 for size in (width, height))
        a, b, c, d, e, f = self.coefficients(images)
        zero = K.zeros_like(images[:, 0, 0, :1])
        numbers = [a, b, x - a * x - b * y + c, d, e, y - d * x - e * y + f, 0.0, 0.0]
        transform = K.concatenate([zero + number for number in numbers], axis=1)
        return affine_transform(
            images, transform, self.interpolation, self.fill_mode, self.fill_value, "channels_last"
        )


class RandomRotation(_Moved):
    """Rotates each image about its middle.

    Parameters
    ----------
    factor : float or pair of float
        Limits of the angle, as fractions of a full turn; one number f means (-f, f).
    fill_mode : {"reflect", "constant", "wrap", "nearest", "mirror"}
        How pixels outside the image are filled; "mirror" does not repeat the border.
    interpolation : {"bilinear", "nearest"}
        How values between pixels are computed.
    seed : int, optional
        Makes the random numbers repeatable.
    fill_value : float
        Value for "constant".
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The size of the images is not known.

    Examples
    --------
    With factor 0.25, the image is rotated by a quarter of a turn, counterclockwise:

    >>> import numpy as np
    >>> image = np.array([[1.0, 2.0], [3.0, 4.0]]).reshape(1, 2, 2, 1)
    >>> RandomRotation((0.25, 0.25))(image)[0, :, :, 0].round().tolist()
    [[2.0, 4.0], [1.0, 3.0]]
    """

    def __init__(
        self,
        factor: Factor,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.factor = self.check_factor(factor)

    def coefficients(self, images: Tensor) -> list[Any]:
        """Return the coefficients a to f, see `_Moved`, for a random rotation of each image."""
        angle = self.draw(images, self.factor) * (2.0 * math.pi)
        cosine, sine = K.cos(angle), K.sin(angle)
        return [cosine, -sine, 0.0, sine, cosine, 0.0]


class _MovedByTwo(_Moved):
    """Base class of layers with one random factor for the rows and one for the columns."""

    def __init__(
        self,
        height_factor: Factor,
        width_factor: Any = None,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, **kwargs)
        self.height_factor: Any = height_factor
        self.width_factor: Any = width_factor
        self._rows = self.check_factor(height_factor, "height_factor")
        columns = height_factor if width_factor is None else width_factor
        self._columns = self.check_factor(columns, "width_factor")


class RandomZoom(_MovedByTwo):
    """Zooms each image: a factor of 0.2 shows 20 % more rows and columns.

    Parameters
    ----------
    height_factor : float or pair of float
        Limits; one number f means (-f, f). A number drawn between the limits is added to 1.
    width_factor : float or pair of float, optional
        Limits for the columns. By default, rows and columns use the same random number.
    fill_mode, interpolation, seed, fill_value, data_format : object
        As for `RandomRotation`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    With factor -0.5, half of the rows and columns remain, and fill the image:

    >>> import numpy as np
    >>> image = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> RandomZoom((-0.5, -0.5), interpolation="nearest")(image)[0, :, :, 0].tolist()
    [[5.0, 5.0, 6.0, 6.0], [5.0, 5.0, 6.0, 6.0], [9.0, 9.0, 10.0, 10.0], [9.0, 9.0, 10.0, 10.0]]
    """

    def coefficients(self, images: Tensor) -> list[Any]:
        """Return the coefficients a to f, see `_Moved`, for a random zoom of each image."""
        rows = 1.0 + self.draw(images, self._rows)
        same = self.width_factor is None
        columns = rows if same else 1.0 + self.draw(images, self._columns)
        return [columns, 0.0, 0.0, 0.0, rows, 0.0]


class RandomTranslation(_MovedByTwo):
    """Shifts each image by random fractions of its height and width.

    Parameters
    ----------
    height_factor, width_factor : float or pair of float
        Limits of the shift down and to the right, as fractions of the size; one number f means
        (-f, f).
    fill_mode, interpolation, seed, fill_value, data_format : object
        As for `RandomRotation`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    With factor 0.5 for the height, the image is shifted down by half of its rows:

    >>> import numpy as np
    >>> image = np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1, 1)
    >>> RandomTranslation((0.5, 0.5), 0.0, fill_mode="constant")(image).ravel().tolist()
    [0.0, 0.0, 1.0, 2.0]
    """

    def coefficients(self, images: Tensor) -> list[Any]:
        """Return the coefficients a to f, see `_Moved`, for a random shift of each image."""
        height, width = (K.cast(size, images.dtype) for size in ops.shape(images)[1:3])
        down = self.draw(images, self._rows) * height
        right = self.draw(images, self._columns) * width
        return [1.0, 0.0, -right, 0.0, 1.0, -down]


# --- a function, which is also in `preprocessing.image`, as in Keras 3 ----------------------------


def smart_resize(
    x: Any,
    size: Sequence[int],
    interpolation: str = "bilinear",
    data_format: str = "channels_last",
    **kwargs: Any,
) -> np.ndarray:
    """Return resized images, with borders cut off first so that the image is not distorted.

    Parameters
    ----------
    x : array_like, shape (height, width, channels) or (samples, height, width, channels)
        An image or a batch of images; with "channels_first", the channels come before the height.
    size : (height, width)
        Size of the resized images.
    interpolation : {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"}
        How values between pixels are computed.
    data_format : {"channels_last", "channels_first"}
        Position of the channel axis.
    **kwargs
        `backend_module` of Keras, which has no effect here.

    Returns
    -------
    array, of dtype `K.floatx()`; with "nearest" of the dtype of `x`

    Raises
    ------
    ArgumentError
        `size` is not a pair, or an argument is unknown.
    ShapeError
        `x` does not contain images.

    Examples
    --------
    >>> smart_resize(np.arange(6.0).reshape(1, 6, 1), (2, 2)).shape
    (2, 2, 1)
    """
    kwargs.pop("backend_module", None)
    if kwargs or len(size) != 2:
        raise ArgumentError(f"smart_resize: expected size=(h, w), got {kwargs or f'{size=}'}.")
    pictures = np.asarray(x, None if interpolation == "nearest" else config.floatx)
    options: Any = {"crop_to_aspect_ratio": True, "data_format": data_format}
    return resize(pictures, tuple(size), interpolation, **options)
