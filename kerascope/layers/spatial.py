"""Layers without weights for sequences, images and volumes, and checks for all spatial layers.

Convolution, pooling, padding, cropping and upsampling work on the spatial axes: one for the steps
of a sequence, two for the rows and columns of an image, three for a volume. `data_format` states
where these axes are. All of these layers check the axes of their inputs with functions of this
file. `_Spatial` is the base class of the layers without weights. Convolutions are in
`convolutional.py`, pooling layers in `pooling.py`.

Read `_Spatial` first, then ZeroPadding, which adds zeros around images, Cropping, which removes the
borders of images, and UpSampling, which repeats pixels. In Keras these layers are in
`layers.convolutional`, from which kerascope can import them too. The last part of this file
converts Keras 1's arguments of convolution layers to those of Keras 2.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.image import INTERPOLATIONS
from kerascope.backend.ops.windows import is_whole, sizes_along_axes
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import LayerType
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers.arguments import Sizes, positive_int
from kerascope.spellings import dialect_options
from kerascope.user_frames import warn

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]

_PLACES = {1: "steps", 2: "rows, columns", 3: "depth, rows, columns"}
_EXAMPLE = {1: "steps", 2: "28, 28", 3: "16, 28, 28"}
Pairs = tuple[tuple[int, int], ...]


class _Spatial(Layer):
    """Base class of layers with `spatial_axes` spatial axes, before or after the channels."""

    spatial_axes: ClassVar[int]

    def __init__(self, data_format: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = K.normalize_data_format(data_format)

    @property
    def first_axis(self) -> int:
        """The index of the first spatial axis of the input."""
        return 1 if self.data_format == "channels_last" else 2

    def build(self, input_shape: Shape) -> None:
        """Check the number of the input's axes, and that the spatial axes are long enough.

        Raises
        ------
        ShapeError
            The input has a wrong number of axes, or a spatial axis is too short.
        """
        check_spatial_axes(self, input_shape, self.spatial_axes, self.data_format)
        self.compute_output_shape(input_shape)
        self.input_spec = InputSpec(ndim=self.spatial_axes + 2)
        self.built = True


# --- checks of arguments and inputs ---------------------------------------------------------------


def pairs_along_axes(value: Any, count: int, where: str) -> Pairs:
    """Return the numbers (before, after) to add or remove along each of `count` axes.

    Parameters
    ----------
    value : int, or tuple of int, or tuple of tuples of 2 int
        An int for all sides; an int for both sides of each axis; or (before, after) for each axis.
        Keras 1 accepted the last form without the inner brackets too.
    count : int
        Number of axes.
    where : str
        The layer and its argument, for the error message.

    Raises
    ------
    ArgumentError
        The value has none of these forms, or a number is not a whole number or is below 0.

    Examples
    --------
    >>> pairs_along_axes(1, 2, "padding"), pairs_along_axes((1, 2), 2, "padding")
    (((1, 1), (1, 1)), ((1, 1), (2, 2)))
    >>> pairs_along_axes(((1, 2), (0, 3)), 2, "padding")
    ((1, 2), (0, 3))
    """
    try:
        pairs = tuple((before, after) for before, after in _listed(value, count))
    except (TypeError, ValueError):
        pairs = ()
    if len(pairs) != count or not all(is_whole(n, 0) for pair in pairs for n in pair):
        more = f", {count} of them, or {count} pairs (before, after)"
        if count == 1:
            more = " or a pair (before, after)"
        raise ArgumentError(f"{where}: expected a whole number >= 0{more}, got {value!r}.")
    return tuple((int(before), int(after)) for before, after in pairs)


def _listed(value: Any, count: int) -> list[Any]:
    """Return the argument of `pairs_along_axes` as a list of pairs, without checking them."""
    if isinstance(value, Integral):
        return [(value, value)] * count
    if isinstance(value, dict):
        return _from_edges(value, count)
    items = list(value)
    if len(items) == 2 * count and all(isinstance(item, Integral) for item in items):
        return list(zip(items[::2], items[1::2], strict=True))
    return [(item, item) if isinstance(item, Integral) else item for item in items]


# Keras 1's names of the edges, by the number of axes.
_EDGES = {
    1: (("left_pad", "right_pad"),),
    2: (("top_pad", "bottom_pad"), ("left_pad", "right_pad")),
}


def _from_edges(value: dict[str, Any], count: int) -> list[Any]:
    """Return pairs from a dict such as Keras 1's {"left_pad": 1}; a missing key counts as 0."""
    edges = _EDGES.get(count, ())
    if set(value) - {edge for pair in edges for edge in pair}:
        raise ValueError("The keys must be names of edges.")
    return [(value.get(before, 0), value.get(after, 0)) for before, after in edges]


def check_spatial_axes(layer: Layer, input_shape: Shape, count: int, data_format: str) -> None:
    """Check that an input has a batch, channels and `count` spatial axes.

    Raises
    ------
    ShapeError
        The input has a wrong number of axes. The message explains how to add missing axes.
    """
    if len(input_shape) == count + 2:
        return
    channels_first = data_format == "channels_first"
    layout = f"channels, {_PLACES[count]}" if channels_first else f"{_PLACES[count]}, channels"
    missing = count + 2 - len(input_shape)
    raise ShapeError(
        f"{layer.label}: expected an input with {count + 2} axes (batch, {layout}), got "
        f"{len(input_shape)} {input_shape}. {_remedy(missing, count, channels_first)}",
        subject=layer,
    )


def _remedy(missing: int, count: int, channels_first: bool) -> str:
    """Return the end of an error message: advice on how to add the missing axes to an input."""
    if missing == 2:
        both = "x[None, None]" if channels_first else "x[None, ..., None]"
        return f"A single sample needs axes for batch and channels: {both}."
    if missing != 1:
        return "Reshape() it first."
    axis = "x[:, None]" if channels_first else "x[..., None]"
    shape = f"(1, {_EXAMPLE[count]})" if channels_first else f"({_EXAMPLE[count]}, 1)"
    return (
        f"If the channel axis is missing, give it one of size 1: {axis} for arrays, or "
        f"Reshape({shape}). A single sample needs a batch axis: x[None]."
    )


# --- padding --------------------------------------------------------------------------------------


class _ZeroPadding(_Spatial):
    padding: Any

    @property
    def _pairs(self) -> Pairs:
        return pairs_along_axes(self.padding, self.spatial_axes, f"{self.label}: padding")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with zeros around them."""
        if self.spatial_axes == 1:
            return K.temporal_padding(inputs, self._pairs[0], self.data_format)
        pad = K.spatial_2d_padding if self.spatial_axes == 2 else K.spatial_3d_padding
        return pad(inputs, self._pairs, self.data_format)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape, including the zeros."""
        sizes = list(input_shape)
        for axis, pair in enumerate(self._pairs, start=self.first_axis):
            size = sizes[axis]
            sizes[axis] = None if size is None else size + sum(pair)
        return tuple(sizes)


class ZeroPadding1D(_ZeroPadding):
    """Adds time steps of zeros at the beginning and at the end of a sequence.

    Parameters
    ----------
    padding : int or tuple of 2 int
        An int is the number of steps on each side; otherwise (before, after).
    data_format : {"channels_last", "channels_first"}
        Input (batch, steps, features) or (batch, features, steps).
    **kwargs
        As for `Layer`.

    Notes
    -----
    n steps become before + n + after.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroPadding1D((1, 2))(np.ones((1, 2, 1))).ravel().tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    """

    spatial_axes = 1

    def __init__(
        self, padding: Any = 1, data_format: str | None = "channels_last", **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        (self.padding,) = pairs_along_axes(padding, 1, f"{self.label}: padding")


class ZeroPadding2D(_ZeroPadding):
    """Adds rows and columns of zeros around images.

    Parameters
    ----------
    padding : int, tuple of 2 int, or tuple of 2 tuples of 2 int
        An int is the number on each side. A tuple is (above and below, left and right) or
        ((above, below), (left, right)).
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `padding` has none of these forms.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroPadding2D(((1, 0), (2, 2)))(np.ones((1, 3, 3, 1))).shape
    (1, 4, 7, 1)
    """

    spatial_axes = 2

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs_along_axes(padding, 2, f"{self.label}: padding")


class ZeroPadding3D(_ZeroPadding):
    """Adds zeros around volumes.

    Parameters
    ----------
    padding : int, tuple of 3 int, or tuple of 3 tuples of 2 int
        An int is the number on each side. A tuple has an item for each axis: the number on both
        sides, or (before, after).
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroPadding3D(((1, 0), (0, 0), (0, 2)))(np.ones((1, 1, 1, 1, 1)))[0, ..., 0].tolist()
    [[[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]
    """

    spatial_axes = 3

    def __init__(
        self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs_along_axes(padding, 3, f"{self.label}: padding")


# --- cropping -------------------------------------------------------------------------------------


class _Cropping(_Spatial):
    cropping: Any

    @property
    def _pairs(self) -> Pairs:
        return pairs_along_axes(self.cropping, self.spatial_axes, f"{self.label}: cropping")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the cropped inputs."""
        inside = (slice(before, -after if after else None) for before, after in self._pairs)
        return inputs[(*(slice(None),) * self.first_axis, *inside)]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the cropped input.

        Raises
        ------
        ShapeError
            Cropping would leave nothing along an axis.
        """
        sizes = list(input_shape)
        for axis, (before, after) in enumerate(self._pairs, start=self.first_axis):
            size = sizes[axis]
            if size is not None and size <= before + after:
                raise ShapeError(
                    f"{self.label}: expected to crop less than the size {size} of axis {axis} of "
                    f"{input_shape}, got {before} + {after}.",
                    subject=self,
                )
            sizes[axis] = None if size is None else size - before - after
        return tuple(sizes)


class Cropping1D(_Cropping):
    """Removes time steps at the beginning and at the end of a sequence.

    Parameters
    ----------
    cropping : int or tuple of 2 int
        An int is the number of steps at each end; otherwise (at the beginning, at the end).
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: no step would be left.

    Notes
    -----
    Input (batch, steps, features), output (batch, remaining steps, features).

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
    """Cuts rows and columns off the sides of images.

    Parameters
    ----------
    cropping : int, tuple of 2 int, or tuple of 2 tuples of 2 int
        An int is the number on each side. A tuple is (above and below, left and right) or
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
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs_along_axes(cropping, 2, f"{self.label}: cropping")


class Cropping3D(_Cropping):
    """Cuts the sides off volumes; `Cropping2D` with one more axis.

    Parameters
    ----------
    cropping : int, tuple of 3 int, or tuple of 3 tuples of 2 int
        An int is the number on each side. A tuple has an item for each axis: the number on both
        sides, or (before, after).
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.arange(27.0).reshape(1, 3, 3, 3, 1)
    >>> Cropping3D(1)(volume).ravel().tolist()
    [13.0]
    >>> Cropping3D(((2, 0), (0, 2), (0, 0)))(volume).ravel().tolist()
    [18.0, 19.0, 20.0]
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


# --- upsampling -----------------------------------------------------------------------------------


class _UpSampling(_Spatial):
    """Base class of layers that enlarge each spatial axis by a whole factor, `size`."""

    size: Any

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with the sizes of the spatial axes multiplied by `size`."""
        sizes = list(input_shape)
        factors = sizes_along_axes(self.size, self.spatial_axes, f"{self.label}: size")
        for axis, factor in enumerate(factors, start=self.first_axis):
            size = sizes[axis]
            sizes[axis] = None if size is None else size * factor
        return tuple(sizes)


class UpSampling1D(_UpSampling):
    """Repeats each time step `size` times.

    Parameters
    ----------
    size : int
        Number of repetitions.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, steps, features), output (batch, steps * size, features).

    Examples
    --------
    >>> import numpy as np
    >>> UpSampling1D(2)(np.array([[[1.0], [2.0]]])).ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    spatial_axes = 1

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__("channels_last", **kwargs)
        self.size = positive_int(size, f"{self.label}: size")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with each time step repeated."""
        return K.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_UpSampling):
    """Enlarges images by whole factors.

    Parameters
    ----------
    size : int or tuple of 2 int
        Factors of rows and columns.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    interpolation : {"nearest", "bilinear"}
        "nearest" repeats each pixel; "bilinear" interpolates linearly between the centres of
        pixels, as Keras 3 does.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The interpolation is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> UpSampling2D((1, 2))(np.array([[[[1.0], [2.0]]]]))[0, :, :, 0].tolist()
    [[1.0, 1.0, 2.0, 2.0]]
    """

    spatial_axes = 2

    def __init__(
        self,
        size: Sizes = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = sizes_along_axes(size, 2, f"{self.label}: size")
        if interpolation not in INTERPOLATIONS:
            raise ArgumentError(
                f"{self.label}: expected 'nearest' or 'bilinear', got {interpolation!r}.",
                subject=self,
            )
        self.interpolation = interpolation

    def call(self, inputs: Tensor) -> Tensor:
        """Return the larger images."""
        rows, columns = self.size
        return K.resize_images(inputs, rows, columns, self.data_format, self.interpolation)


class UpSampling3D(_UpSampling):
    """Repeats the values of volumes along three axes.

    Parameters
    ----------
    size : int or tuple of 3 int
        Number of repetitions along each axis.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, depth, rows, columns, channels) or with the channels second; default
        `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> UpSampling3D((1, 2, 3))(np.full((1, 1, 1, 1, 1), 7.0))[0, ..., 0].tolist()
    [[[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]]
    """

    spatial_axes = 3

    def __init__(
        self, size: Sizes = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = sizes_along_axes(size, 3, f"{self.label}: size")

    def call(self, inputs: Tensor) -> Tensor:
        """Return the larger volumes."""
        depth, rows, columns = self.size
        return K.resize_volumes(inputs, depth, rows, columns, self.data_format)


# --- Keras 1: the sizes of a kernel one by one ----------------------------------------------------
# `Convolution2D(32, 3, 3)` and `Convolution2D(32, nb_row=3, nb_col=3)` are today's
# `Conv2D(32, kernel_size=(3, 3))`. Old keywords that only changed their name are in
# `kerascope.spellings`. This part converts arguments whose values changed too.

PARTS: dict[int, tuple[str, ...]] = {
    1: (),
    2: ("nb_row", "nb_col"),
    3: ("kernel_dim1", "kernel_dim2", "kernel_dim3"),
}

# Keywords of Keras 2 and 3. If one is given, the number after the kernel size is the stride.
_NEW_WORDS = {
    "bias_initializer",
    "bias_regularizer",
    "data_format",
    "dilation_rate",
    "groups",
    "kernel_initializer",
    "kernel_regularizer",
    "output_padding",
    "padding",
    "strides",
    "use_bias",
}


class KernelType(LayerType):
    """Metaclass of convolutional layers, which also accept Keras 1's arguments for kernel sizes.

    The class attribute `kernel_axes` is the number of axes of the kernel.
    """

    kernel_axes: int

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer from the arguments of any version of Keras; see `LayerType`."""
        args, kwargs = _without_output_shape(cls, args, kwargs)
        parts = PARTS[cls.kernel_axes]
        if any(part in kwargs for part in parts):
            args, kwargs = _from_keywords(cls, args, kwargs)
        elif len(args) > len(parts) > 1 and dialect_options().kernel_in_parts:
            args = _from_numbers(cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def _from_keywords(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return a layer's arguments with Keras 1's `nb_row`, `nb_col` replaced by a `kernel_size`."""
    parts = PARTS[cls.kernel_axes]
    by_place = dict(zip(parts, args[1:], strict=False))
    given = {**by_place, **{part: kwargs[part] for part in parts if part in kwargs}}
    if set(given) != set(parts) or len(args) > len(parts) or "kernel_size" in kwargs:
        got = [*given, *(["kernel_size"] if "kernel_size" in kwargs else [])]
        raise ArgumentError(
            f"{cls.__name__}: expected {' and '.join(parts)}, or kernel_size alone, got "
            f"{' and '.join(got)}."
        )
    kernel_size = tuple(given[part] for part in parts)
    _warn(cls, f"{' and '.join(parts)} are", kernel_size)
    others = {name: value for name, value in kwargs.items() if name not in parts}
    return args[:1], {**others, "kernel_size": kernel_size}


def _from_numbers(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the arguments with positional kernel sizes combined: (32, (3, 3)) for (32, 3, 3).

    `Conv2D(32, 3, 2, padding="same")` is unchanged, since Keras 1 had no keyword `padding`.

    Raises
    ------
    ArgumentError
        The call is ambiguous: the numbers are equal, which suggests the kernel sizes of Keras 1,
        but a keyword of Keras 2 is given, and then the second number would be the strides.
    """
    sizes = args[1 : 1 + cls.kernel_axes]
    if not all(isinstance(size, Integral) for size in sizes):
        return args
    new = sorted(_NEW_WORDS & kwargs.keys())
    if new and len(set(sizes)) > 1 and "strides" not in kwargs:
        return args
    if new:
        raise ArgumentError(
            f"{cls.__name__}: {', '.join(map(str, args[: 1 + cls.kernel_axes]))} together with "
            f"{new[0]}=... may mean a kernel of sizes {sizes}, as in Keras 1, or strides of "
            f"{sizes[1]}. Give kernel_size={sizes}, or strides={sizes[1]}, by name."
        )
    _warn(cls, "one number for each axis is", sizes)
    return (args[0], sizes, *args[1 + cls.kernel_axes :])


def _without_output_shape(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments without `output_shape` of Keras 1's transposed convolutions."""
    if not cls.__name__.endswith("Transpose"):
        return args, kwargs
    place = 1 + cls.kernel_axes
    by_place = len(args) > place and isinstance(args[place], (tuple, list))
    if not by_place and "output_shape" not in kwargs:
        return args, kwargs
    warn(
        f"{cls.__name__}: 'output_shape' is Keras 1's word; today it follows from strides, padding "
        f"and output_padding.",
        SpellingWarning,
    )
    kept = args[:place] + args[place + 1 :] if by_place else args
    return kept, {name: value for name, value in kwargs.items() if name != "output_shape"}


def _warn(cls: KernelType, what: str, kernel_size: tuple[Any, ...]) -> None:
    message = f"{what} Keras 1's way; today it is kernel_size={kernel_size}."
    warn(f"{cls.__name__}: {message}", SpellingWarning)
