"""What the layers on sequences, images and volumes have in common.

Convolution, pooling, padding, cropping and upsampling all work on the axes of places: one for the
steps of a sequence, two for the rows and columns of an image, three for a volume. Where they lie is
told by `data_format`. All of them check their input's axes here; `_Spatial` is the base of those
without weights, and `convolving.py` has that of the others.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.ops.convolution_shapes import is_whole
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError, ShapeError

_PLACES = {1: "steps", 2: "rows, columns", 3: "depth, rows, columns"}
_EXAMPLE = {1: "steps", 2: "28, 28", 3: "16, 28, 28"}

Pairs = tuple[tuple[int, int], ...]


def pairs_along_axes(value: Any, count: int, where: str) -> Pairs:
    """Return for each of `count` axes how much is meant before and after.

    Parameters
    ----------
    value : int, or tuple of int, or tuple of tuples of 2 int
        One number for all edges; one for both edges of each axis; or (before, after) for each axis,
        which Keras 1 also wrote without the inner brackets.
    count : int
    where : str
        For the message.

    Raises
    ------
    ArgumentError
        It is nothing of that, or a number is not whole or below 0.

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
    """Return the pairs that are meant, unchecked."""
    if isinstance(value, Integral):
        return [(value, value)] * count
    items = list(value)
    if len(items) == 2 * count and all(isinstance(item, Integral) for item in items):
        return list(zip(items[::2], items[1::2], strict=True))
    return [(item, item) if isinstance(item, Integral) else item for item in items]


def check_spatial_axes(layer: Layer, input_shape: Shape, count: int, data_format: str) -> None:
    """Check that an input has a batch, channels and `count` axes of places.

    Raises
    ------
    ShapeError
        It has more or fewer axes; the text tells how to give it those that it lacks.
    """
    if len(input_shape) == count + 2:
        return
    channels_first = data_format == "channels_first"
    layout = f"channels, {_PLACES[count]}" if channels_first else f"{_PLACES[count]}, channels"
    missing = count + 2 - len(input_shape)
    raise ShapeError(
        f"{layer.label}: input has {len(input_shape)} axes {input_shape}; expected {count + 2}: "
        f"(batch, {layout}). {_remedy(missing, count, channels_first)}",
        subject=layer,
    )


def _remedy(missing: int, count: int, channels_first: bool) -> str:
    """Return what to do about an input that lacks so many axes."""
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


class _Spatial(Layer):
    """A layer on `spatial_axes` axes of places, which stand before or behind the channels."""

    spatial_axes: ClassVar[int]

    def __init__(self, data_format: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = K.normalize_data_format(data_format)

    @property
    def first_axis(self) -> int:
        """The first axis of places."""
        return 1 if self.data_format == "channels_last" else 2

    def build(self, input_shape: Shape) -> None:
        """Check that the input has the right axes, and that they are long enough.

        Raises
        ------
        ShapeError
            It has more or fewer axes, or one is too short.
        """
        check_spatial_axes(self, input_shape, self.spatial_axes, self.data_format)
        self.compute_output_shape(input_shape)
        self.input_spec = InputSpec(ndim=self.spatial_axes + 2)
        self.built = True
