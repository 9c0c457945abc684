"""The values on the arrows of a player's picture: outputs of calls, and gradients.

The output of a call is shown on the arrows from its box, and so is the gradient of the output, in
the backward direction. A few numbers are shown as text, up to 64 as coloured cells, and larger
arrays by their norm.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from kerascope.trace.events import BEGIN, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.statistics import Statistics, figure, statistics_of

FORWARD, GRADIENT = range(2)  # directions of a value
FEW = 4  # numbers that are shown as text
SOME = 64  # numbers that are shown as cells without text
LEVELS = "zyxwvutsr0123456789"  # levels of a cell, from -9 to 9
MIDDLE = LEVELS.index("0")
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
        How to show each value, as `spec_of` returns it, by box and direction (0 is forward).

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

    def feed(self, event: Event) -> None:
        """Update the values on the arrows with the next event."""
        if event.kind == "function" and event.ph == BEGIN:
            self.now.clear()
            self._calls.clear()
        if event.kind == "node" and event.phase == "forward":
            self._call(event)
        runs = event.phase in RUNNING and event.act not in ("build", "compile")
        for delta in event.deltas:
            if delta.name == "tensor_map" and isinstance(delta.value, dict):
                for key, value in delta.value.items():
                    self._put(key, FORWARD, value)
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
        elif self._calls:
            path = "/".join(self._calls)
            self._calls.pop()
            if self._calls:
                self._put(path, FORWARD, value_of_event(event, "result"))

    def _put(self, key: str, way: int, value: Any) -> None:
        box = self.box_of(key)
        if isinstance(value, tuple) and value:
            value = value[0]  # the second item is its mask
        spec = spec_of(value)
        if box and spec:
            self.now[box, way] = spec

    def box_of(self, key: str) -> str:
        """Return the box whose output has this key in `tensor_map`, or "" if there is none."""
        for name in (key, key.rpartition(":")[0]):
            if name in self._boxes:
                return name
        return ""


def spec_of(value: Any) -> Spec:
    """Return how to show a value: its norm, a letter for the form, and the data of the form.

    "c" shows the numbers as text. "h" shows coloured cells; its data are the number of columns and
    a character for each cell. "b" shows only the norm; its data are the shape, and "\u0394" if the
    norm is that of a change. The list is empty if the value is not an array of numbers.

    Examples
    --------
    >>> spec_of(np.array([3.0, -4.0])), spec_of(np.zeros((32, 20))), spec_of("text")
    ([5.0, 'c', '3', '-4'], [0.0, 'b', '(32, 20)'], [])
    >>> spec_of(np.array([[1.0, -1.0, 0.5], [0.0, 0.0, 0.0]]))
    [1.5, 'h', 3, '9z4000']
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
    if array.size <= SOME and size is not None:
        columns = array.shape[-1] if array.ndim > 1 else array.size
        return [size, "h", columns, _cells(array)]
    return [size, "b", str(array.shape)]


def _size(found: Statistics) -> float | None:
    """Return a norm, or None if the norm is not finite."""
    return float(figure(found.norm)) if found.norm is not None and found.is_sound else None


def _cells(array: np.ndarray) -> str:
    numbers = array.astype("float64").ravel()
    most = float(np.abs(numbers).max(initial=0.0)) or 1.0
    # A number other than 0 never has the level 0.
    far = np.sign(numbers) * np.maximum(np.ceil(np.abs(numbers) / most * 9 - 0.5), numbers != 0)
    return "".join(LEVELS[MIDDLE + int(level)] for level in far)
