"""The figures of many small arrays, found together in a few calls of NumPy.

What a recorder keeps of an array that is small costs more in calls of NumPy than in numbers. So the
arrays of one call of a function wait for each other, and one `reduceat` finds the least element of
each. Their `Statistics` exist at once; the figures come when the call is over, or when somebody
reads one of them. Until then the arrays are held, and no longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from kerascope.trace.statistics import (
    TINY,
    Awaited,
    Statistics,
    figures_with_care,
    kind_of,
    kind_of_shape,
    without_noise,
)

MOST_ELEMENTS = 2**16  # in arrays that wait together
_new = Statistics.__new__
_set_source = Awaited.source.__set__  # type: ignore[attr-defined]
_set_place = Awaited.place.__set__  # type: ignore[attr-defined]


class Batch:
    """Arrays that wait, and their figures afterwards.

    Attributes
    ----------
    size : int
        Number of elements that wait.
    is_closed : bool
        Whether the figures are there and the arrays are not.
    """

    __slots__ = ("_arrays", "_careful", "_figures", "_kinds", "is_closed", "size")

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._kinds: list[tuple[Any, tuple[int, ...]]] = []
        self._careful: dict[int, tuple[Any, ...]] = {}
        self._figures: tuple[np.ndarray, ...] = ()
        self.is_closed = False
        self.size = 0

    def take(self, array: np.ndarray) -> Statistics:
        """Return the figures, to come, of an array that is not empty."""
        found = _new(Statistics)
        _set_source(found, self)
        _set_place(found, len(self._arrays))
        self._arrays.append(array)
        self.size += array.size
        return found

    def row(self, place: int) -> tuple[Any, ...]:
        """Return what `Statistics` is made of, with six digits: more than anybody reads."""
        if not self.is_closed:
            self.close()
        if place in self._careful:
            return _shortened(self._careful[place])
        squares, low, sum_, high = (float(column[place]) for column in self._figures)
        dtype, shape = self._kinds[place]
        mean = without_noise(sum_ / math.prod(shape), max(-low, high))
        return _shortened((kind_of_shape(dtype, shape), math.sqrt(squares), low, mean, high, 0, 0))

    def close(self) -> None:
        """Find all figures, and hold the arrays no more."""
        arrays = self._arrays
        self._kinds = [(array.dtype, array.shape) for array in arrays]
        ends = np.cumsum([array.size for array in arrays])
        starts = [0, *ends[:-1].tolist()]
        with np.errstate(all="ignore"):
            values = np.concatenate(arrays, axis=None, dtype=np.float64, casting="unsafe")
            squares = np.add.reduceat(values * values, starts)
            low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
            self._figures = (squares, low, np.add.reduceat(values, starts), high)
            # If the sum of squares is finite, every number is.
            for i in np.flatnonzero(~((squares > TINY) & (squares < math.inf))).tolist():
                dtype, shape = self._kinds[i]
                own = values[starts[i] : ends[i]]
                self._careful[i] = figures_with_care(kind_of_shape(dtype, shape), own)
        self._arrays = []
        self.is_closed = True


class Figures:
    """The figures of arrays that nobody writes into, of each once.

    One array comes many times: from an op, as a gradient, as a new value, as a weight.

    Attributes
    ----------
    may_wait : bool
        Whether nobody can write into arrays before `settle` is called.
    """

    def __init__(self) -> None:
        self.may_wait = False
        self._batch = Batch()
        self._known: dict[int, Statistics] = {}  # by ids of arrays that are held here meanwhile
        self._held: list[np.ndarray] = []

    def of(self, array: np.ndarray) -> Statistics:
        """Return the figures of an array, which come when they are read."""
        known = self._known.get(id(array))
        if known is not None:
            return known
        if not self.may_wait:
            return short_statistics_of(array)
        size = array.size
        batch = self._batch
        if batch.size + size > MOST_ELEMENTS or batch.is_closed:
            self._close()
            batch = self._batch
        if not 0 < size < MOST_ELEMENTS:
            return short_statistics_of(array)
        found = self._known[id(array)] = batch.take(array)
        return found

    def settle(self, kept: Iterable[np.ndarray] = ()) -> None:
        """Find the figures of all arrays that wait: from now on somebody may write into them.

        Parameters
        ----------
        kept : iterable of np.ndarray
            Those that will come again and into which nobody writes.
        """
        self.may_wait = False
        held = list(kept)
        known = {id(array): self._known[id(array)] for array in held if id(array) in self._known}
        self._close()
        self._known, self._held = known, held

    def _close(self) -> None:
        if self._batch.size and not self._batch.is_closed:
            self._batch.close()
        self._batch = Batch()
        self._known, self._held = {}, []


def short_statistics_of(array: np.ndarray) -> Statistics:
    """Return the figures of one array with six digits.

    Examples
    --------
    >>> short_statistics_of(np.array([1.0, 2.0])).norm
    2.23607
    """
    if not array.size:
        values = np.zeros(0)
        return Statistics(*figures_with_care(kind_of(array), values))
    batch = Batch()
    found = batch.take(array)
    batch.close()
    return found


def _shortened(facts: tuple[Any, ...]) -> tuple[Any, ...]:
    kind, *figures, nans, infinities = facts
    if figures[0] is None:
        return facts
    norm, low, mean, high = map(float, ("{:.6g} {:.6g} {:.6g} {:.6g}".format(*figures)).split())
    return (kind, norm, low, mean, high, nans, infinities)
