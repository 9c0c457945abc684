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
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return bool((x == y).all())
    whole = f"u{x.itemsize}"  # while a function computes, 1e-45 equals 0
    differing = x.reshape(-1).view(whole) != y.reshape(-1).view(whole)
    return not (differing & ~(np.isnan(x) & np.isnan(y)).reshape(-1)).any()
