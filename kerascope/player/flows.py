"""The values on the arrows of a player's picture: outputs of calls, and gradients.

The output of a call is shown on the arrows from its box, and so is the gradient of the output, in
the backward direction. A few numbers are shown as text, and up to 64 as coloured cells. Larger
arrays are small images: the first feature maps of the first sample, or a matrix. Arrays with more
axes are shown by their norm.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kerascope.trace.events import BEGIN, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.statistics import Statistics, figure, statistics_of
from kerascope.viz.roles import color_of
from kerascope.viz.tensors.scales import MINUS_INF, NAN, PLUS_INF, roles_of
from kerascope.viz.tensors.small_images import small_image

FORWARD, GRADIENT, ATTENTION = range(3)  # directions of a value
FEW = 4  # numbers that are shown as text
SOME, MOST_COLUMNS = 64, 16  # numbers that are shown as cells without text, with outlines
LEVELS = "zyxwvutsr0123456789"  # levels of a cell, from -9 to 9
MIDDLE = LEVELS.index("0")
MOST_MAPS = 4  # maps of an image; always the first ones, so that they can be followed
SIDE = 32  # the most rows and columns of an image; larger ones are thinned (a single row: SOME)
# The characters for the levels of an image, from 0 to 250, and for NaN, Inf and -Inf.
SHADES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
ODD_SHADES = {NAN: "!", PLUS_INF: "+", MINUS_INF: "-"}
LAST_LEVEL = 250
CHANGE = "\u0394"  # the last item of a specification if the value is a change
LOSS = "loss"  # id of the box for the loss
RUNNING = ("forward", "loss", "backward", "update", "commit")  # phases that compute arrays

Spec = list[Any]


class Flows:
    """The values on the arrows of a picture. `feed` updates the values with the next event.

    Parameters
    ----------
    boxes : container of str
        The ids of the boxes of the picture.

    Attributes
    ----------
    now : dict of (str, int) to list
        How to show each value, as `spec_of` returns it, by box and direction (0 is forward). The
        attention maps of a call have the direction 2.

    Examples
    --------
    >>> from kerascope.trace.events import Delta
    >>> flows = Flows({"d": None})
    >>> value = [Delta("tensor_map", "d", np.array([[1.0, 0.0]]))]
    >>> flows.feed(Event(0, "function", "forward", "op", "E", 3, "op", "d/dot", deltas=value))
    >>> flows.now
    {('d', 0): [1.0, 'c', '1', '0']}
    """

    def __init__(self, boxes: Container[str]) -> None:
        self.now: dict[tuple[str, int], Spec] = {}
        self._boxes = boxes
        self._calls: list[str] = []  # names of the open calls
        self._attends = False  # whether the last call that began is one of an attention layer

    def feed(self, event: Event) -> None:
        """Update the values on the arrows with the next event."""
        if event.kind == "function" and event.ph == BEGIN:
            self.now.clear()
            self._calls.clear()
        if event.kind == "node" and event.phase == "forward":
            self._call(event)
        if event.kind == "op" and event.phase == "forward" and self._attends and self._calls:
            self._attention(event)
        runs = event.phase in RUNNING and event.act not in ("build", "compile")
        for delta in event.deltas:
            if delta.name == "tensor_map" and isinstance(delta.value, dict):
                for key, value in delta.value.items():  # the inputs
                    self._put(key, FORWARD, value, is_input=True)
            elif delta.name == "tensor_map" and delta.key is not None:
                self._put(str(delta.key), FORWARD, delta.value)
            elif delta.name == "total_loss":
                self._put(LOSS, FORWARD, delta.value)
            elif delta.name == "grads" and delta.key is not None and runs:
                self._put(str(delta.key), GRADIENT, delta.value)

    def _call(self, event: Event) -> None:
        """Add the output of a call in a nested model. Events of `tensor_map` do not contain it."""
        if event.ph == BEGIN:
            self._calls.append(event.name)
            self._attends = "Attention" in str(value_of_event(event, "layer"))
        elif self._calls:
            path = "/".join(self._calls)
            self._calls.pop()
            if self._calls:
                self._put(path, FORWARD, value_of_event(event, "result"))

    def _attention(self, event: Event) -> None:
        """Add the attention maps of a call: the result of its softmax, with a map for each head."""
        maps = value_of_event(event, "result")
        if value_of_event(event, "op") == "softmax" and np.ndim(maps) in (3, 4):
            self._put("/".join(self._calls), ATTENTION, maps)

    def _put(self, key: str, way: int, value: Any, *, is_input: bool = False) -> None:
        box = self.box_of(key)
        if isinstance(value, tuple) and value:
            value = value[0]  # the second item is its mask
        kind = "attention" if way == ATTENTION else self._kind_of(box, is_input)
        spec = spec_of(value, kind) if box else []
        if spec:
            self.now[box, way] = spec

    def _kind_of(self, box: str, is_input: bool) -> str:
        """Return the kind of the values of a box, for `spec_of`."""
        return "input" if is_input else ""

    def box_of(self, key: str) -> str:
        """Return the box whose output has this key in `tensor_map`, or "" if there is none."""
        for name in (key, key.rpartition(":")[0]):
            if name in self._boxes:
                return name
        return ""


def spec_of(value: Any, kind: str = "") -> Spec:
    """Return how to show a value: its norm, a letter for the form, and the data of the form.

    "c" shows the numbers as text. "h" shows coloured cells; its data are the number of columns and
    a character for each cell. "i" shows images; its data are the shape, "g" for grey images or "d"
    for colours around zero, the number of columns, and for each image a character for each cell.
    "b" shows only the norm; its data are the shape. After the data, `CHANGE` means that the value
    is a change. The list is empty if the value is not an array of numbers.

    Parameters
    ----------
    value : object
    kind : {"", "input", "weight", "attention"}
        An array of a call has one row for each sample. An input with one or three channels is a
        grey image. A weight has no samples. Attention has a map for each head.

    Examples
    --------
    >>> spec_of(np.array([3.0, -4.0])), spec_of(np.zeros((8, 8, 2, 2, 2))), spec_of("text")
    ([5.0, 'c', '3', '-4'], [0.0, 'b', '(8, 8, 2, 2, 2)'], [])
    >>> spec_of(np.array([[1.0, -1.0, 0.5], [0.0, 0.0, 0.0]]))
    [1.5, 'h', 3, '9z4000']
    >>> spec_of(np.eye(9))[:5]
    [3.0, 'i', '(9, 9)', 'd', 9]
    """
    if isinstance(value, Statistics):
        shape = value.kind.partition("[")[2].rstrip("]")
        return [_size(value), "b", f"({shape.replace(',', ', ')})"]
    if (
        not isinstance(value, (np.ndarray, np.generic))
        or np.asarray(value).dtype.kind not in "fiub"
    ):
        return []
    array = np.asarray(value)
    size = _size(statistics_of(array))
    if array.size <= FEW:
        return [size, "c", *(figure(number) for number in array.ravel().tolist())]
    columns = array.shape[-1] if array.ndim > 1 else array.size
    is_small = array.size <= SOME and columns <= MOST_COLUMNS
    if is_small and size is not None and array.ndim < 4:
        return [size, "h", columns, _cells(array)]
    maps = weight_maps(array) if kind == "weight" else maps_of(array, kind == "attention")
    if not len(maps):
        return [size, "b", str(array.shape)]
    is_picture = kind == "input" and array.ndim == 4 and len(maps) in (1, 3)
    if is_picture:
        maps = maps.mean(axis=0, keepdims=True)
    side = SIDE if maps[0].shape[0] > 1 else SOME
    images = [small_image(one, is_picture=is_picture, side=side) for one in maps[:MOST_MAPS]]
    letter, columns = "g" if is_picture else "d", images[0].levels.shape[1]
    return [size, "i", str(array.shape), letter, columns, *(_shades(one.levels) for one in images)]


def maps_of(array: np.ndarray, are_heads: bool = False) -> np.ndarray:
    """Return the matrices that show an array of a call: shape (maps, rows, columns).

    They are the feature maps of the first sample, its attention maps if the second axis is that of
    the heads, or one matrix. There are none if the array has more than four axes.
    """
    if not array.size or array.ndim > 4:
        return np.empty((0, 0, 0))
    if array.ndim < 3:
        return array.reshape(1, -1, array.shape[-1])
    first = array[0]
    if array.ndim == 3:
        return first[None]
    if are_heads:
        return first
    if first[..., 0].size == 1:  # a map for each channel, of one number
        return array.reshape(1, len(array), -1)
    is_channels_first = first.shape[1] == first.shape[2] != first.shape[0]
    return first if is_channels_first else np.moveaxis(first, -1, 0)


def weight_maps(array: np.ndarray) -> np.ndarray:
    """Return the matrices that show a weight: the filters of a convolution, or one wide matrix."""
    if not array.size or array.ndim > 4:
        return np.empty((0, 0, 0))
    if array.ndim == 4 and array[..., 0, 0].size > 1:
        return np.moveaxis(array[:, :, 0, :], -1, 0)  # of the first input channel
    matrix = array.reshape(-1, array.shape[-1])
    return (matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T)[None]


def _shades(levels: np.ndarray) -> str:
    """Return the levels of an image as text, with a character of `SHADES` for each cell.

    Examples
    --------
    >>> _shades(np.array([[0, 125, 250, NAN]])), levels_of("0V_!", 4).tolist()
    ('0V_!', [[0, 125, 250, 251]])
    """
    last = len(SHADES) - 1
    shades = [*SHADES, *ODD_SHADES.values()]
    found = np.rint(levels / LAST_LEVEL * last).astype(int)
    for place, level in enumerate(ODD_SHADES):
        found[levels == level] = last + 1 + place
    return "".join(shades[one] for one in found.ravel().tolist())


def shade_colors(theme: str) -> dict[str, list[str]]:
    """Return the colours of the characters of images, by the letter of their scale."""
    levels = [*np.linspace(0, LAST_LEVEL, len(SHADES)).round().astype(int), *ODD_SHADES]
    roles = {letter: roles_of(letter) for letter in ("d", "g")}
    return {letter: [color_of(own[i], theme) for i in levels] for letter, own in roles.items()}


def levels_of(text: str, columns: int) -> np.ndarray:
    """Return the levels of an image from its text (see `spec_of`), as rows and columns."""
    last = len(SHADES) - 1
    known = {shade: round(i * LAST_LEVEL / last) for i, shade in enumerate(SHADES)}
    known |= {shade: level for level, shade in ODD_SHADES.items()}
    return np.array([known[one] for one in text], "uint8").reshape(-1, columns)


def _size(found: Statistics) -> float | None:
    """Return a norm, or None if the norm is not finite."""
    return float(figure(found.norm)) if found.norm is not None and found.is_sound else None


def _cells(array: np.ndarray) -> str:
    numbers = array.astype("float64").ravel()
    most = float(np.abs(numbers).max(initial=0.0)) or 1.0
    # A number other than 0 never has the level 0.
    far = np.sign(numbers) * np.maximum(np.ceil(np.abs(numbers) / most * 9 - 0.5), numbers != 0)
    return "".join(LEVELS[MIDDLE + int(level)] for level in far)
