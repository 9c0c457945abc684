"""Compare two arrays: whether they agree, in which order of axes, and how far they differ.

The measure is the largest difference relative to the largest element of both arrays, because the
error of a small element may be a rounding error of the large ones. Libraries order axes
differently, so arrays may agree in one of these forms: unchanged, with permuted axes (channels
first and last), without axes of size 1, or, after a flatten, with their features in another order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from kerascope.trace.statistics import Statistics, figure

# Expected rounding errors of a deep model, by the shortest float type in it.
TOLERANCES = {"bfloat16": 1e-1, "float16": 2e-2, "float32": 1e-4, "float64": 1e-9}
MOST_AXES = 5
Index = tuple[int, ...]


class Tolerance(NamedTuple):
    """The largest difference at which two arrays agree, relative to their largest element.

    Attributes
    ----------
    value : float
        The largest relative difference.
    dtype : str
        The float type that the tolerance is for, or "" if the user chose the value.
    """

    value: float
    dtype: str = ""

    @property
    def words(self) -> str:
        """The tolerance and its origin as text, such as "0.0001 (float32)"."""
        return f"{self.value:g} ({self.dtype or 'given'})"


def tolerance_for(dtypes: Iterable[str]) -> Tolerance:
    """Return the tolerance for arrays of these dtypes: that of the shortest float.

    Examples
    --------
    >>> tolerance_for(["float32", "int64", "float16"]).words
    '0.02 (float16)'
    """
    met = set(dtypes)
    for dtype, value in TOLERANCES.items():
        if dtype in met:
            return Tolerance(value, dtype)
    return Tolerance(TOLERANCES["float32"], "float32")


class Difference(NamedTuple):
    """How far two arrays differ, and where the most.

    Attributes
    ----------
    max_abs : float
        The largest difference. It is infinite if the shapes differ, or if an element is finite in
        only one array.
    relative : float
        The largest difference divided by the largest number of both arrays.
    ulp : float or None
        The largest difference in units in the last place of the shorter of the two dtypes.
    place : tuple of int or None
        Index of the largest difference in the first array.
    value_a, value_b : float or None
        The elements of the two arrays at this index.
    differing, size : int
        How many elements differ by more than the tolerance, and how many elements there are.
    """

    max_abs: float
    relative: float
    ulp: float | None = None
    place: Index | None = None
    value_a: float | None = None
    value_b: float | None = None
    differing: int = 0
    size: int = 0


class Agreement(NamedTuple):
    """The result of comparing two arrays.

    Attributes
    ----------
    agrees : bool
    layout : str
        The form in which they were compared: "" if unchanged, "axes (0, 2, 3, 1)", "shape (2, 12)",
        "reordered" for features in another order, or "shapes differ" without a common form.
    difference : Difference
    """

    agrees: bool
    layout: str
    difference: Difference


class Chunk(NamedTuple):
    """The part of a longer array that a shorter array was compared with.

    The longer array, which is `b` if `is_of_b` and otherwise `a`, is split into `parts` equal
    parts. This is part `number`, counted from 0.
    """

    number: int
    parts: int
    is_of_b: bool

    @property
    def words(self) -> str:
        """The part as text for tables, such as "part 2 of 3 of b"."""
        return f"part {self.number + 1} of {self.parts} of {'b' if self.is_of_b else 'a'}"


NO_FORM = Difference(math.inf, math.inf)
PERMUTED = "reordered"
SHAPES_DIFFER = "shapes differ"


# --- statistics in any order ----------------------------------------------------------------------


class Moments(NamedTuple):
    """Statistics of an array that do not depend on the order of its elements, such as the sum."""

    size: int
    not_finite: int
    largest: float
    total: float
    squares: float
    low: float
    high: float

    @property
    def is_distinctive(self) -> bool:
        """Whether another array with the same moments is probably equal to this one.

        It is False if this array is constant.
        """
        return self.size > 1 and self.high - self.low > 1e-6 * self.largest


def moments_of(array: np.ndarray | Statistics) -> Moments:
    """Return the moments of an array, or an estimate if only its recorded statistics are known."""
    if isinstance(array, Statistics):
        size = math.prod(int(n) for n in array.kind.partition("[")[2][:-1].split(",") if n)
        low, high = array.min or 0.0, array.max or 0.0
        largest = max(abs(low), abs(high))
        missing = array.nans + array.infinities
        total = (array.mean or 0.0) * (size - missing)
        return Moments(size, missing, largest, total, (array.norm or 0.0) ** 2, low, high)
    values = as_numbers(array).ravel()
    finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
    if not finite.size:
        return Moments(values.size, values.size, 0.0, 0.0, 0.0, 0.0, 0.0)
    low, high = float(finite.min()), float(finite.max())
    squares = float(finite @ finite)
    missing = values.size - finite.size
    return Moments(
        values.size, missing, max(abs(low), abs(high)), float(finite.sum()), squares, low, high
    )


def could_agree(a: Moments, b: Moments, tolerance: float) -> bool:
    """Return whether two arrays may agree within the tolerance, given their moments."""
    if a.size != b.size or a.not_finite != b.not_finite:
        return False
    room = 2 * tolerance * max(a.largest, b.largest)
    if abs(a.low - b.low) > room or abs(a.high - b.high) > room:
        return False
    return abs(a.total - b.total) <= room * a.size and abs(
        math.sqrt(a.squares) - math.sqrt(b.squares)
    ) <= room * math.sqrt(a.size)


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Return an array as float64."""
    return np.asarray(array, "float64")


# --- comparing ------------------------------------------------------------------------------------


def compared(
    a: np.ndarray, b: np.ndarray, tolerance: float, *, same_layout: bool, any_order: bool = False
) -> Agreement:
    """Compare two arrays in the form (order of axes, or shape) in which they match best.

    Parameters
    ----------
    a, b : np.ndarray
    tolerance : float
        Tolerance relative to the largest number of both arrays.
    same_layout : bool
        Whether arrays of the same shape have the same order of axes.
    any_order : bool
        Whether the arrays also agree if their features are in another order.

    Examples
    --------
    >>> images = np.arange(24.0).reshape(1, 2, 3, 4)
    >>> compared(images, images.transpose(0, 3, 1, 2), 1e-4, same_layout=False).layout
    'axes (0, 2, 3, 1)'
    """
    best = Agreement(False, SHAPES_DIFFER, NO_FORM)
    for layout, other in _forms(a, b, same_layout):
        difference = measured(a, other, tolerance)
        if difference.relative <= tolerance:
            return Agreement(True, layout, difference)
        if difference.relative < best.difference.relative or best.layout == SHAPES_DIFFER:
            best = Agreement(False, layout, difference)
    if any_order and a.size == b.size and a.ndim and b.ndim and a.shape[0] == b.shape[0]:
        rows = [np.sort(as_numbers(x).reshape(x.shape[0], -1), axis=1) for x in (a, b)]
        difference = measured(rows[0], rows[1], tolerance)
        if difference.relative <= tolerance:
            return Agreement(True, PERMUTED, difference)
    return best


def _forms(a: np.ndarray, b: np.ndarray, same_layout: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each transpose or reshape of `b` with the shape of `a`, as (its description, array)."""
    if a.size != b.size:
        return
    if a.shape == b.shape:
        yield "", b
        if same_layout:
            return
    if sorted(a.shape) == sorted(b.shape) and a.ndim <= MOST_AXES:
        for axes in permutations(range(b.ndim)):
            if axes != tuple(range(b.ndim)) and tuple(b.shape[i] for i in axes) == a.shape:
                yield f"axes {axes}", b.transpose(axes)
    elif a.ndim != b.ndim or [n for n in a.shape if n != 1] == [n for n in b.shape if n != 1]:
        yield f"shape {b.shape}", b.reshape(a.shape)


def in_layout(b: np.ndarray, layout: str, a: np.ndarray) -> np.ndarray | None:
    """Return the array `b` in the form that `Agreement.layout` describes, or None if impossible.

    Examples
    --------
    >>> in_layout(np.ones((2, 3)), "axes (1, 0)", np.ones((3, 2))).shape
    (3, 2)
    """
    if layout.startswith("axes"):
        return b.transpose([int(n) for n in re.findall(r"\d+", layout)])
    if layout.startswith("shape ") and b.size == a.size:
        return b.reshape(a.shape)
    return b if not layout and a.shape == b.shape else None


def compared_part(a: np.ndarray, b: np.ndarray, tolerance: float) -> tuple[Agreement, Chunk] | None:
    """Compare an array with the most similar part of a longer one, split along the last axis.

    For example, one layer may project queries, keys and values together.

    Returns
    -------
    Agreement and Chunk, or None
        None if the last axis of neither array is a multiple of that of the other.

    Examples
    --------
    >>> compared_part(np.ones((1, 2)), np.array([[0, 0, 0, 0, 1, 1.0]]), 1e-4)[1]
    Chunk(number=2, parts=3, is_of_b=True)
    """
    if a.ndim != b.ndim or a.ndim < 2 or a.shape[:-1] != b.shape[:-1]:
        return None
    short, long = sorted((a, b), key=lambda one: one.shape[-1])
    parts, rest = divmod(long.shape[-1], max(short.shape[-1], 1))
    if rest or parts < 2:
        return None
    found = []
    for number, piece in enumerate(np.split(long, parts, axis=-1)):
        pair = (a, piece) if long is b else (piece, b)
        found.append((measured(*pair, tolerance), number))
    difference, number = min(found, key=lambda one: one[0].relative)
    part = Chunk(number, parts, long is b)
    return Agreement(difference.relative <= tolerance, part.words, difference), part


def measured(a: np.ndarray, b: np.ndarray, tolerance: float) -> Difference:
    """Return how far two arrays of the same shape differ.

    Examples
    --------
    >>> found = measured(np.float32([1, 2, 4]), np.float32([1, 2.5, 4]), 1e-4)
    >>> found.max_abs, found.relative, found.place, found.differing
    (0.5, 0.125, (1,), 1)
    """
    if not a.size:
        return Difference(0.0, 0.0)
    if a.dtype == b.dtype and np.array_equal(a, b):
        return Difference(0.0, 0.0, 0.0 if a.dtype.kind == "f" else None, size=a.size)
    first, second = as_numbers(a), as_numbers(b)
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.asarray(np.abs(first - second))
    gaps[(first == second) | (np.isnan(first) & np.isnan(second))] = 0.0
    gaps[np.isnan(gaps)] = math.inf
    place = int(gaps.argmax())
    index = tuple(int(i) for i in np.unravel_index(place, gaps.shape))
    largest = max(_largest(first), _largest(second))
    gap, pair = float(gaps[index]), (float(first[index]), float(second[index]))
    relative = gap / largest if largest else gap
    count = int((gaps > tolerance * largest).sum())
    ulp = _ulp(gap, pair, (a.dtype, b.dtype))
    return Difference(gap, relative, ulp, index, *pair, count, gaps.size)


def _largest(values: np.ndarray) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))


def _ulp(gap: float, pair: Sequence[float], dtypes: Sequence[np.dtype[Any]]) -> float | None:
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    if not floats or not math.isfinite(gap):
        return None
    shorter = min(floats, key=lambda dtype: dtype.itemsize)
    with np.errstate(over="ignore"):
        spacing = float(np.spacing(np.abs(np.asarray(pair, shorter)).max()))
    return gap / spacing if math.isfinite(spacing) else None


def compared_figures(a: Moments, b: Moments, tolerance: float) -> Agreement:
    """Compare two arrays by their moments, for tapes that did not keep the arrays.

    Examples
    --------
    >>> first, second = (moments_of(np.array(x)) for x in ([1.0, 2.0], [1.0, 3.0]))
    >>> compared_figures(first, second, 1e-4).agrees
    False
    """
    if a.size != b.size:
        return Agreement(False, SHAPES_DIFFER, NO_FORM)
    largest = max(a.largest, b.largest)
    gap = max(abs(a.low - b.low), abs(a.high - b.high), abs(a.total - b.total) / max(a.size, 1))
    gap = math.inf if a.not_finite != b.not_finite else gap
    relative = gap / largest if largest else gap
    difference = Difference(gap, relative, size=a.size)
    return Agreement(relative <= tolerance, "by their statistics", difference)


def number(value: float | None) -> str:
    """Return a number as text for tables, or "" for None.

    Examples
    --------
    >>> number(0.123456), number(float("inf")), number(None)
    ('0.1235', 'inf', '')
    """
    if value is None:
        return ""
    return figure(value) if math.isfinite(value) else str(value)
