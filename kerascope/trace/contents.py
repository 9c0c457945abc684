"""What is in a value: is it data, is a number missing, how large is it.

Conditions and watches ask these questions; whether two values are the same tells `snapshots.same`.
A value may be an array, a number, a container of them, or the `Statistics` that are left of an
array whose numbers the tape let fall.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kerascope.trace.snapshots import REFS
from kerascope.trace.statistics import Statistics, norm_of, sum_of_squares

NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)
PLAIN = (type(None), str, bytes, Statistics, *NUMBERS, *REFS)
COLLECTIONS = (list, tuple, set, frozenset)


def is_data(value: Any) -> bool:
    """Return whether a value is data: numbers, text, arrays, descriptions, containers of them.

    Examples
    --------
    >>> is_data({"a": [1, np.ones(2)]}), is_data([print])
    (True, False)
    """
    if isinstance(value, PLAIN):
        return True
    if isinstance(value, Mapping):
        return all(is_data(item) for item in value.values())
    return isinstance(value, COLLECTIONS) and all(is_data(item) for item in value)


def parts(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in a value, those in containers too; what else there is is not.

    Examples
    --------
    >>> list(parts({"a": [1.0, "words"], "b": None}))
    [1.0]
    """
    if isinstance(value, np.ndarray | np.generic | Statistics | int | float | complex):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from parts(item)
    elif isinstance(value, COLLECTIONS):
        for item in value:
            yield from parts(item)


def count_nan(value: Any) -> int:
    """Return how many NaN are in a value.

    Examples
    --------
    >>> count_nan([np.array([1.0, np.nan]), float("nan"), None])
    2
    """
    if value.__class__ is np.ndarray and is_finite(value):
        return 0
    return sum(_count(part, np.isnan, "nans") for part in parts(value))


def count_inf(value: Any) -> int:
    """Return how many infinite numbers are in a value."""
    if value.__class__ is np.ndarray and is_finite(value):
        return 0
    return sum(_count(part, np.isinf, "infinities") for part in parts(value))


def is_finite(array: np.ndarray) -> bool:
    """Return whether one look shows that all numbers are finite; False if it takes a closer one.

    If the sum of the squares is finite, so is every number. The sum may overflow without reason.
    """
    kind = array.dtype.kind
    return kind in "iub" or (kind == "f" and math.isfinite(sum_of_squares(array)))


def _count(part: Any, test: Any, field: str) -> int:
    if isinstance(part, Statistics):
        return int(getattr(part, field))
    if isinstance(part, int):
        return 0
    array = np.asarray(part)
    if is_finite(array):
        return 0
    return int(np.count_nonzero(test(array))) if array.dtype.kind in "fc" else 0


def has_nan(value: Any) -> bool:
    """Return whether a NaN is in a value; in None there is none.

    Examples
    --------
    >>> has_nan(np.array([1.0, np.nan])), has_nan(None)
    (True, False)
    """
    return count_nan(value) > 0


def norm(value: Any) -> float:
    """Return the square root of the sum of squares of all that is in a value; of nothing, NaN.

    A symbol has no norm. NaN is neither above nor below a number, so no condition holds there.

    Examples
    --------
    >>> norm([np.array([3.0, 0.0]), 4.0]), norm(None)
    (5.0, nan)
    """
    norms = [_norm(part) for part in parts(value)] or [math.nan]
    return norms[0] if len(norms) == 1 else math.hypot(*norms)


def _norm(part: Any) -> float:
    if isinstance(part, Statistics):
        return math.nan if part.norm is None else part.norm
    array = np.asarray(part)
    return norm_of(np.abs(array) if array.dtype.kind == "c" else array)


def relative_change(old: Any, new: Any) -> float | None:
    """Return ‖new - old‖ / ‖old‖; None where that has no meaning.

    Where all was 0 it is 1 if anything has changed: all that is there is new.

    Examples
    --------
    >>> relative_change(np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    0.5
    >>> relative_change(0.0, 3.0), relative_change(0.0, 0.0), relative_change([1], [1, 2])
    (1.0, 0.0, None)
    """
    numbers = (np.ndarray, np.number, int, float)
    if not (isinstance(old, numbers) and isinstance(new, numbers)):
        return None
    if np.shape(old) != np.shape(new):
        return None
    before = norm_of(old)
    change = norm_of(np.subtract(new, old, dtype="float64"))
    return change / before if before else float(change > 0)
