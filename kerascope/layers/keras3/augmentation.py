"""Layers of Keras 3 that change images, most of them at random and in training only.

Like the layers in `images`, random layers return images unchanged when a model predicts. In
training, random layers with a simple formula change the images. All other random layers are derived
from `_UntrainedImages`. They raise an error in training, because training on unchanged images would
give a different model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from inspect import Parameter
from textwrap import wrap
from typing import Any, ClassVar

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.windows import sizes_along_axes
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import positive_int
from kerascope.layers.keras3.images import Factor, _RandomImages, _with_pixel_axes
from kerascope.layers.opaque import uncomputable
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.image import (
    FILL_MODES,
    INTERPOLATIONS,
    affine_transform,
    channels_last,
    hsv_to_rgb,
    one_of,
    rgb_to_grayscale,
    rgb_to_hsv,
)

__all__ = [
    "AugMix",
    "AutoContrast",
    "RandAugment",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomCrop",
    "RandomElasticTransform",
    "RandomErasing",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHue",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterization",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "Solarization",
]


def rescaled(images: Tensor, before: Any, after: Any) -> Tensor:
    """Return images with pixels rescaled from the range `before` to the range `after`."""
    share = (images - float(before[0])) / float(before[1] - before[0])
    return share * float(after[1] - after[0]) + float(after[0])


def sorted_pair(where: str, pair: Any) -> list[Any]:
    """Return a pair of numbers in ascending order; raise ArgumentError unless they differ."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or pair[0] == pair[1]:
        raise ArgumentError(f"{where}: expected two numbers, such as (0, 255), got {pair!r}.")
    return sorted(pair)


# --- colors ---------------------------------------------------------------------------------------


class _Colors(_RandomImages):
    """Base class of layers that have a random factor for each image and a range of pixel values."""

    lowest: ClassVar[float | None] = None  # of the factor, if one number is given; None is -number

    def __init__(
        self,
        factor: Factor,
        value_range: Any = (0, 255),
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.factor = self.check_factor(factor, low=self.lowest)
        self.value_range = sorted_pair(f"{self.label}: value_range", value_range)


class RandomHue(_Colors):
    """Shifts the hue of each image's colors in either direction, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : float or pair of float
        Limits from 0 to 1; one number f means (0, f). For each image a number x is drawn between
        the limits, and the hue is shifted by x / 2 of the color circle.
    value_range : pair of float
        Range of the pixels.
    data_format : {"channels_last", "channels_first"}, optional
        Default `K.image_data_format()`.
    seed : int, optional
        Makes the random numbers repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The factor is outside 0 to 1.

    Examples
    --------
    With factor 1, the hue is shifted by half of the color circle, from red to cyan:

    >>> import numpy as np
    >>> red = np.array([[[[255.0, 0.0, 0.0]]]])
    >>> RandomHue((1.0, 1.0))(red).ravel().tolist()
    [0.0, 255.0, 255.0]
    """

    factor_range = (0.0, 1.0)
    lowest = 0

    def change(self, images: Tensor) -> Tensor:
        """Return the images with shifted hues."""
        is_back = self.draw(images, (0.0, 1.0)) > 0.5
        turned = self.draw(images, self.factor) * 0.5
        turned = K.expand_dims(ops.where(is_back, -turned, turned), -1)
        colors = rgb_to_hsv(rescaled(images, self.value_range, (0, 1)), "channels_last")
        hue = colors[..., 0] + turned
        hue = ops.where(hue > 1.0, hue - 1.0, hue)
        hue = ops.where(hue < 0.0, hue + 1.0, hue)
        found = hsv_to_rgb(K.stack([hue, colors[..., 1], colors[..., 2]], axis=-1), "channels_last")
        return rescaled(K.clip(found, 0.0, 1.0), (0, 1), self.value_range)


class RandomSaturation(_Colors):
    """Multiplies the saturation of each image's colors, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : float or pair of float
        Limits; one number f means (-f, f). For each image a number x is drawn between the limits,
        and the saturation is multiplied by x / (1 - x), so that 0.5 changes nothing.
    value_range, data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    >>> import numpy as np
    >>> pink = np.array([[[[200.0, 100.0, 100.0]]]])
    >>> RandomSaturation((0.0, 0.0))(pink).ravel().round().tolist()  # no color left
    [200.0, 200.0, 200.0]
    >>> RandomSaturation((0.5, 0.5))(pink).ravel().round().tolist()  # unchanged
    [200.0, 100.0, 100.0]
    """

    def change(self, images: Tensor) -> Tensor:
        """Return the images with paler or stronger colors."""
        drawn = self.draw(images, self.factor)
        times = K.expand_dims(drawn / (1.0 - drawn + 1e-7), -1)
        colors = rgb_to_hsv(images, "channels_last")
        saturation = K.clip(colors[..., 1] * times, *self.value_range)
        stronger = K.stack([colors[..., 0], saturation, colors[..., 2]], axis=-1)
        return hsv_to_rgb(stronger, "channels_last")


class RandomColorDegeneration(_Colors):
    """Mixes each image with its grayscale version, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : float or pair of float
        Limits; one number f means (-f, f). The fraction of gray is drawn between the limits.
    value_range, data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    >>> import numpy as np
    >>> red = np.array([[[[255.0, 0.0, 0.0]]]])
    >>> RandomColorDegeneration((1.0, 1.0))(red).ravel().round().tolist()  # all gray
    [76.0, 76.0, 76.0]
    >>> RandomColorDegeneration((0.5, 0.5))(red).ravel().round().tolist()  # half of it
    [166.0, 38.0, 38.0]
    """

    def change(self, images: Tensor) -> Tensor:
        """Return the images mixed with their grayscale versions."""
        share = _with_pixel_axes(self.draw(images, self.factor))
        gray = rgb_to_grayscale(images, "channels_last")
        return K.clip(images + share * (gray - images), *self.value_range)


class RandomSharpness(_Colors):
    """Blurs or sharpens each image, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : float or pair of float
        Limits from 0 to 1; one number f means (0, f). For each image a number is drawn between the
        limits: 0 blurs the image, 0.5 leaves the image unchanged, 1 sharpens it.
    value_range, data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    With factor 0, a pixel gives an equal part of its value to each of its neighbours:

    >>> import numpy as np
    >>> image = np.zeros((1, 3, 3, 1))
    >>> image[0, 1, 1, 0] = 13.0
    >>> RandomSharpness((0.0, 0.0))(image)[0, :, :, 0].round().tolist()
    [[1.0, 1.0, 1.0], [1.0, 5.0, 1.0], [1.0, 1.0, 1.0]]
    """

    factor_range = (0.0, 1.0)
    lowest = 0

    def change(self, images: Tensor) -> Tensor:
        """Return the images, blurred or sharpened."""
        times = _with_pixel_axes(self.draw(images, self.factor)) * 2.0
        channels = images.shape[-1]
        if channels is None:
            raise ShapeError(
                f"{self.label}: the number of channels of {images.shape} is not known. Give the "
                f"Input that size.",
                subject=self,
            )
        window = np.full((3, 3, channels, 1), 1 / 13, self.dtype)
        window[1, 1] = 5 / 13
        kernel = K.constant(window, images.dtype)
        smooth = K.depthwise_conv2d(images, kernel, padding="same", data_format="channels_last")
        return K.clip(images + (1.0 - times) * (smooth - images), *self.value_range)


class RandomPosterization(_Colors):
    """Keeps only the first bits of each pixel, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : int or pair of int
        Limits from 1 to 8; one number n means (1, n). The number of bits is drawn between the
        limits, without the upper limit unless both are equal.
    value_range, data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    Two bits leave the four values 0, 64, 128 and 192:

    >>> import numpy as np
    >>> pixels = np.array([10.0, 100.0, 150.0, 250.0]).reshape(1, 1, 4, 1)
    >>> RandomPosterization((2, 2))(pixels).ravel().tolist()
    [0.0, 64.0, 128.0, 192.0]
    """

    factor_range = (1, 8)
    lowest = 1

    def change(self, images: Tensor) -> Tensor:
        """Return the images with fewer colors."""
        least, most = self.factor
        bits = K.clip(ops.floor(self.draw(images, self.factor)), least, max(least, most - 1))
        step = _with_pixel_axes(K.exp(K.round(8.0 - bits) * float(np.log(2.0))))
        step = K.round(step)  # a power of two, without rounding errors of exp
        pixels = ops.floor(rescaled(images, self.value_range, (0, 255)))
        return rescaled(ops.floor(pixels / step) * step, (0, 255), self.value_range)


class RandomInvert(_RandomImages):
    """Inverts some images: a pixel becomes the upper end of the range minus its value.

    Parameters
    ----------
    factor : float or pair of float
        Limits from 0 to 1; one number f means (0, f). The probability of inverting an image is
        drawn between the limits.
    value_range, seed, data_format, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    >>> import numpy as np
    >>> pixels = np.array([0.0, 55.0, 255.0]).reshape(1, 1, 3, 1)
    >>> RandomInvert((1.0, 1.0))(pixels).ravel().tolist()
    [255.0, 200.0, 0.0]
    """

    factor_range = (0.0, 1.0)

    def __init__(
        self,
        factor: Factor = 1.0,
        value_range: Any = (0, 255),
        seed: int | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.factor = self.check_factor(factor, low=0)
        self.value_range = tuple(sorted_pair(f"{self.label}: value_range", value_range))

    def change(self, images: Tensor) -> Tensor:
        """Return the images, some of them inverted."""
        chance = self.draw(images, self.factor)
        is_inverted = _with_pixel_axes(self.draw(images, (0.0, 1.0)) < chance)
        return ops.where(is_inverted, float(self.value_range[1]) - images, images)


class RandomGrayscale(_RandomImages):
    """Makes some images gray, like Keras 3's layer of this name.

    Parameters
    ----------
    factor : float
        The probability that an image becomes gray, from 0 to 1.
    data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    >>> import numpy as np
    >>> red = np.array([[[[255.0, 0.0, 0.0]]]])
    >>> RandomGrayscale(factor=1.0)(red).ravel().round().tolist()
    [76.0, 76.0, 76.0]
    """

    factor_range = (0.0, 1.0)

    def __init__(
        self,
        factor: float = 0.5,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.check_factor((factor, factor))
        self.factor = factor

    def change(self, images: Tensor) -> Tensor:
        """Return the images, some of them gray."""
        is_gray = _with_pixel_axes(self.draw(images, (0.0, 1.0)) < self.factor)
        return ops.where(is_gray, rgb_to_grayscale(images, "channels_last"), images)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; without `seed` if it is None, as in Keras 3."""
        config = super().get_config()
        if self.seed is None:
            del config["seed"]
        return config


class Solarization(_RandomImages):
    """Inverts pixels that are not below a threshold, like Keras 3's layer of this name.

    Parameters
    ----------
    addition_factor, threshold_factor : float or pair of float
        Numbers from 0 to 1; one number f means (0, f). For each image an offset and a threshold are
        drawn, on a scale from 0 to 255: each is between the first number of its pair and 255 times
        the second. The offset is added to the pixels before they are compared with the threshold.
    value_range, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    Here the threshold is between 0.5 and 127.5, so the dark pixel is kept:

    >>> import numpy as np
    >>> pixels = np.array([0.0, 200.0]).reshape(1, 1, 2, 1)
    >>> Solarization(threshold_factor=(0.5, 0.5))(pixels).ravel().tolist()
    [0.0, 55.0]
    """

    factor_range = (0.0, 1.0)

    def __init__(
        self,
        addition_factor: Factor = 0.0,
        threshold_factor: Factor = 0.0,
        value_range: Any = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, **kwargs)
        self.addition_factor = self.check_factor(addition_factor, "addition_factor", 0)
        self.threshold_factor = self.check_factor(threshold_factor, "threshold_factor", 0)
        self.value_range = sorted_pair(f"{self.label}: value_range", value_range)

    def change(self, images: Tensor) -> Tensor:
        """Return the images with their bright pixels inverted."""
        added, threshold = (
            _with_pixel_axes(self.draw(images, (low, high * 255.0)))
            for low, high in (self.addition_factor, self.threshold_factor)
        )
        pixels = K.clip(rescaled(images, self.value_range, (0, 255)) + added, 0.0, 255.0)
        pixels = ops.where(pixels < threshold, pixels, 255.0 - pixels)
        return rescaled(pixels, (0, 255), self.value_range)


class AutoContrast(Layer):
    """Stretches each channel of each image over the whole range, in training and prediction.

    This is `keras.layers.AutoContrast` of Keras 3. A channel with equal pixels stays unchanged.

    Parameters
    ----------
    value_range : pair of float
        Range of the pixels.
    data_format : {"channels_last"}, optional
        "channels_first" is not supported, because Keras 3 stretches such images along wrong axes.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `data_format` is "channels_first".

    Examples
    --------
    >>> import numpy as np
    >>> pixels = np.array([50.0, 100.0, 150.0]).reshape(1, 1, 3, 1)
    >>> AutoContrast()(pixels).ravel().tolist()
    [0.0, 127.5, 255.0]
    """

    def __init__(
        self, value_range: Any = (0, 255), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.value_range = sorted_pair(f"{self.label}: value_range", value_range)
        self.data_format = K.normalize_data_format(data_format)
        if self.data_format != "channels_last":
            raise ArgumentError(
                f"{self.label}: expected data_format 'channels_last', got 'channels_first'. "
                f"Permute((2, 3, 1)) the images first."
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Return the images with full contrast."""
        images, back = channels_last(K.cast(inputs, self.dtype), self.data_format, self.label)
        pixels = rescaled(images, self.value_range, (0, 255))
        low, high = K.min(pixels, axis=[1, 2], keepdims=True), K.max(pixels, [1, 2], keepdims=True)
        is_flat = high <= low
        scale = 255.0 / ops.where(is_flat, K.ones_like(low), high - low)
        found = K.clip((pixels - low) * scale, 0.0, 255.0)
        found = rescaled(found, (0, 255), self.value_range)
        return back(ops.where(is_flat, images, found))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the input's shape."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, including the `data_format` that is used."""
        return {**super().get_config(), "data_format": self.data_format}


class RandomShear(_RandomImages):
    """Shears each image about its first corner, like Keras 3's layer of this name.

    Parameters
    ----------
    x_factor, y_factor : float or pair of float
        Limits from -1 to 1; one number f means (-f, f). For each image two numbers are drawn: by
        how many columns each row is shifted against the next row, and by how many rows each column
        is shifted against the next column. With probability 1/2, the signs of both numbers are
        changed.
    interpolation : {"bilinear", "nearest"}
        How values between pixels are computed.
    fill_mode : {"reflect", "constant", "wrap", "nearest", "mirror"}
        How pixels outside the image are filled.
    fill_value : float
        Value for "constant".
    data_format, seed, **kwargs : object
        As for `RandomHue`.

    Examples
    --------
    Each row is shifted by one column against the row above it, here to the right:

    >>> import numpy as np
    >>> image = np.arange(1.0, 10.0).reshape(1, 3, 3, 1)
    >>> RandomShear((1.0, 1.0), fill_mode="constant", seed=1)(image)[0, :, :, 0].tolist()
    [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 7.0]]
    """

    factor_range = (-1.0, 1.0)

    def __init__(
        self,
        x_factor: Factor = 0.0,
        y_factor: Factor = 0.0,
        interpolation: str = "bilinear",
        fill_mode: str = "reflect",
        fill_value: float = 0.0,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(seed, data_format, **kwargs)
        self.x_factor = self.check_factor(x_factor, "x_factor")
        self.y_factor = self.check_factor(y_factor, "y_factor")
        self.interpolation = one_of(
            f"{self.label}: interpolation", interpolation, INTERPOLATIONS[:2]
        )
        self.fill_mode = one_of(f"{self.label}: fill_mode", fill_mode, FILL_MODES)
        self.fill_value = fill_value

    def change(self, images: Tensor) -> Tensor:
        """Return the sheared images."""
        is_back = self.draw(images, (0.0, 1.0)) > 0.5
        along_y, along_x = (self.draw(images, f) for f in (self.y_factor, self.x_factor))
        x, y = (ops.where(is_back, -factor, factor) for factor in (along_x, along_y))
        zero, one = K.zeros_like(x), K.ones_like(x)
        transform = K.concatenate([one, x, zero, y, one, zero, zero, zero], axis=1)
        return affine_transform(
            images, transform, self.interpolation, self.fill_mode, self.fill_value, "channels_last"
        )


# --- in prediction only ---------------------------------------------------------------------------


class _UntrainedImages(_RandomImages):
    """Base class of layers that return images unchanged in prediction and refuse training."""

    kernel_size: tuple[int, ...]

    def change(self, images: Tensor) -> Tensor:
        """Return a tensor whose computation raises an error, since training is not supported.

        Raises
        ------
        NotYetError
            The layer is called on arrays in training.
        """
        words = (
            f"{self.label}: kerascope supports this layer in prediction only, where images pass "
            f"unchanged. Use training=False, or prepare the data with NumPy before fit."
        )
        return uncomputable(self, images, words)

    def check_sizes(self) -> None:
        """Raise an error if `height`, `width` or `kernel_size` is not a positive int."""
        for word, value in list(vars(self).items()):
            if word in ("height", "width"):
                positive_int(value, f"{self.label}: {word}")
            elif word == "kernel_size":
                self.kernel_size = sizes_along_axes(value, 2, f"{self.label}: kernel_size")


def _untrained(
    call: str, does: str, signature: Callable[..., None], ranges: Sequence[str] = ("factor",)
) -> type[_UntrainedImages]:
    """Return the class of a Keras 3 layer that is supported in prediction only.

    Parameters
    ----------
    call, does : str
        A call of the class, which gives its name and the example of its docstring, and the
        beginning of that docstring.
    signature : callable
        A function with the arguments of the constructor.
    ranges : sequence of str
        Names of the arguments that are one number or a pair: see `_RandomImages.check_factor`.
    """
    name = call.partition("(")[0]
    own = list(inspect.signature(signature).parameters.values())
    parameters = inspect.Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *own])

    def construct(self: _UntrainedImages, *args: Any, **kwargs: Any) -> None:
        bound = parameters.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        of_layer = given.pop("kwargs")
        _RandomImages.__init__(self, given.pop("seed"), given.pop("data_format"), **of_layer)
        for word, value in list(given.items())[1:]:
            setattr(self, word, self.check_factor(value, word, 0) if word in ranges else value)
        self.check_sizes()

    construct.__name__, construct.__qualname__ = "__init__", f"{name}.__init__"
    construct.__signature__ = parameters  # type: ignore[attr-defined]
    listed = "\n    ".join(wrap(f"{', '.join(p.name for p in own[:-1])} : object", 96))
    members = {
        "__init__": construct,
        "__module__": __name__,
        "__doc__": _DOCUMENTED.format(does=does, name=name, call=call, listed=listed),
    }
    return type(name, (_UntrainedImages,), members)


_DOCUMENTED = """{does}; supported in prediction only.

    Parameters
    ----------
    {listed}
        As for `keras.layers.{name}` of Keras 3; they have no effect in prediction.
    **kwargs
        As for `Layer`.

    Raises
    ------
    NotYetError
        The layer is used in training.

    Examples
    --------
    In prediction, images pass unchanged:

    >>> import numpy as np
    >>> images = np.arange(48.0).reshape(1, 4, 4, 3)
    >>> bool(({call}(images, training=False) == images).all())
    True
    """

_PIXELS = (0, 255)

RandomColorJitter = _untrained(
    "RandomColorJitter(hue_factor=0.2)",
    "Changes brightness, contrast, saturation and hue",
    lambda value_range=_PIXELS, brightness_factor=None, contrast_factor=None,
    saturation_factor=None, hue_factor=None, seed=None, data_format=None, **kwargs: None,
)  # fmt: skip
RandomErasing = _untrained(
    "RandomErasing(scale=(0.1, 0.3))",
    "Fills a part of each image",
    lambda factor=1.0, scale=(0.02, 0.33), fill_value=None, value_range=_PIXELS, seed=None,
    data_format=None, **kwargs: None,
    ("factor", "scale"),
)  # fmt: skip
RandomGaussianBlur = _untrained(
    "RandomGaussianBlur(kernel_size=5)",
    "Blurs images",
    lambda factor=1.0, kernel_size=3, sigma=1.0, value_range=_PIXELS, data_format=None, seed=None,
    **kwargs: None,
    ("factor", "sigma"),
)  # fmt: skip
RandomPerspective = _untrained(
    "RandomPerspective(scale=0.2)",
    "Changes the perspective of images",
    lambda factor=1.0, scale=1.0, interpolation="bilinear", fill_value=0.0, seed=None,
    data_format=None, **kwargs: None,
)  # fmt: skip
RandomElasticTransform = _untrained(
    "RandomElasticTransform(factor=0.5, scale=0.5)",
    "Moves pixels by smooth random distances",
    lambda factor=1.0, scale=1.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0,
    value_range=_PIXELS, seed=None, data_format=None, **kwargs: None,
    ("factor", "scale"),
)  # fmt: skip
RandAugment = _untrained(
    "RandAugment(num_ops=3)",
    "Applies augmentations that are chosen at random",
    lambda value_range=_PIXELS, num_ops=2, factor=0.5, interpolation="bilinear", seed=None,
    data_format=None, **kwargs: None,
)  # fmt: skip
AugMix = _untrained(
    "AugMix(num_chains=2)",
    "Mixes images that went through chains of augmentations",
    lambda value_range=_PIXELS, num_chains=3, chain_depth=3, factor=0.3, alpha=1.0, all_ops=True,
    interpolation="bilinear", seed=None, data_format=None, **kwargs: None,
)  # fmt: skip
# Keras 3.15 returns whole images in prediction, although it states the new size.
RandomCrop = _untrained(
    "RandomCrop(2, 2)",
    "Cuts a part out of the images of a batch",
    lambda height, width, seed=None, data_format=None, **kwargs: None,
)  # fmt: skip
