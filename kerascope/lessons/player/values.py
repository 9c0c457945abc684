"""What the player says of a value: one line for a table, and more for who looks closer.

A small array is shown whole, a larger one by its figures and a corner. All numbers have at most
four digits, so that a stored player is the same on another machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kerascope.trace.snapshots import TensorRef
from kerascope.trace.statistics import Statistics, figure, kind_of, statistics_of

WHOLE = 12  # numbers of an array that is shown whole
CORNER = 3  # rows and columns of a larger one
LONGEST = 90  # characters of a line in a table


class Shown(NamedTuple):
    """A value as text.

    Attributes
    ----------
    short : str
        One line.
    full : str
        What a closer look shows; empty if it is no more than `short`.
    """

    short: str
    full: str = ""


def shown_value(value: Any) -> Shown:
    r"""Return a value as text.

    Examples
    --------
    >>> shown_value(np.array([[0.0, 1.5], [2.0, 3.0]], "float32"))
    Shown(short='f32[2,2] |x|=3.905', full='f32[2,2]\n[[  0 1.5]\n [  2   3]]')
    >>> shown_value(("dense_1", None))
    Shown(short="('dense_1', None)", full='')
    """
    if isinstance(value, tuple) and len(value) == 2 and value[1] is None and _is_tensor(value[0]):
        value = value[0]  # in tensor_map: a tensor, and that it has no mask
    if _is_numbers(value):
        return _shown_array(np.asarray(value))
    if isinstance(value, Statistics):
        return Shown(" ".join(value.short_cells), "\n".join(value.cells))
    text = _in_a_line(value)
    return Shown(text) if len(text) <= LONGEST else Shown(f"{text[: LONGEST - 1]}…", text)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "fiub"


def _is_tensor(value: Any) -> bool:
    return _is_numbers(value) or isinstance(value, (TensorRef, Statistics))


def _in_a_line(value: Any) -> str:
    """Return a value on one line; of arrays within it only type and shape."""
    if _is_numbers(value):
        return kind_of(value) if np.ndim(value) else figure(value)
    if isinstance(value, Statistics):
        return value.kind
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_in_a_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        words = ", ".join(_in_a_line(item) for item in value)
        return f"[{words}]" if isinstance(value, list) else f"({words})"
    return repr(value) if isinstance(value, str) else str(value)


def _shown_array(array: np.ndarray) -> Shown:
    figures = statistics_of(array)
    short = " ".join(figures.short_cells)
    if not array.ndim:
        return Shown(short)
    if array.size <= WHOLE:
        return Shown(short, f"{kind_of(array)}\n{_grid(array)}")
    corner = array[tuple([0] * max(array.ndim - 2, 0))][tuple([slice(CORNER)] * min(array.ndim, 2))]
    before = "".join("0, " for _ in range(array.ndim - 2))
    place = ", ".join(f":{min(size, CORNER)}" for size in array.shape[-2:])
    return Shown(short, "\n".join([*figures.cells, f"[{before}{place}] =", _grid(corner)]))


def _grid(array: np.ndarray) -> str:
    """Return all numbers of an array, in columns."""
    words = [figure(number) for number in np.asarray(array, "float64").ravel()]
    wide = max(map(len, words), default=0)
    padded = np.array([word.rjust(wide) for word in words], dtype=object).reshape(array.shape)
    return _nested(padded, "")


def _nested(words: np.ndarray, indent: str) -> str:
    if words.ndim == 1:
        return f"[{' '.join(words)}]"
    rows = [_nested(row, f"{indent} ") for row in words]
    return "[" + f"\n{indent} ".join(rows) + "]"
