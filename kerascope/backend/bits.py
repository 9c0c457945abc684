"""When two arrays are the same."""

from __future__ import annotations

from typing import Any

import numpy as np


def are_same(one: Any, other: Any) -> bool:
    """Tell whether two arrays have the same type, shape and bits; one NaN is like another.

    Examples
    --------
    >>> are_same(np.array([0.0, np.nan]), np.array([0.0, -np.nan])), are_same(0.0, -0.0)
    (True, False)
    """
    x, y = np.asarray(one), np.asarray(other)
    return x.dtype == y.dtype and x.shape == y.shape and not differing(x, y).any()


def differing(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tell of each number, in a row, whether it differs; types and shapes are the same.

    Examples
    --------
    >>> differing(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]]))
    array([False,  True])
    """
    x, y = x.reshape(-1), y.reshape(-1)
    if x.dtype.kind != "f":
        return np.asarray(x != y)
    whole = f"u{x.itemsize}"  # while a function computes, 1e-45 equals 0
    return np.asarray((x.view(whole) != y.view(whole)) & ~(np.isnan(x) & np.isnan(y)))
