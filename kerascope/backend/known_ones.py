"""Arrays of ones that are made once: the weights of samples of which nothing is said.

A function that is given one of them knows its numbers without looking, and can leave out what
multiplies by them.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.tensor import Placeholder
from kerascope.settings import config

MOST_SHAPES = 64
MOST_ELEMENTS = 4096  # of an array that is kept
_kept: dict[tuple[tuple[int, ...], np.dtype], np.ndarray] = {}


def ones_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return ones of the default float type that nobody can write to.

    Examples
    --------
    >>> ones_of((2,)).tolist(), ones_of((2,)) is ones_of((2,))
    ([1.0, 1.0], True)
    """
    key = (shape, np.dtype(config.floatx))
    ones = _kept.get(key)
    if ones is None:
        if len(_kept) >= MOST_SHAPES:
            _kept.clear()
        ones = np.ones(shape, dtype=config.floatx)
        ones.flags.writeable = False
        if ones.size <= MOST_ELEMENTS:
            _kept[key] = ones
    return ones


def are_known_ones(array: np.ndarray) -> bool:
    """Tell whether an array is one that `ones_of` keeps.

    Examples
    --------
    >>> are_known_ones(ones_of((3,))), are_known_ones(np.ones(3, "float32"))
    (True, False)
    """
    return _kept.get((array.shape, array.dtype)) is array


def are_mostly_ones(tensor: object) -> bool:
    """Tell whether a tensor is a placeholder whose default is ones, as that of sample weights.

    Examples
    --------
    >>> weights = Placeholder((None,), "float32", "weights", default=np.ones(1))
    >>> are_mostly_ones(weights), are_mostly_ones(Placeholder((None,), "float32", "x"))
    (True, False)
    """
    if not isinstance(tensor, Placeholder) or tensor.default is None:
        return False
    default = np.asarray(tensor.default)
    return default.ndim > 0 and bool((default == 1).all())
