"""Arrays of ones that are known as such: the weights of samples of which nothing is said.

All of them are views of a few arrays that nobody can write to. So a function that is given one
knows its numbers without looking, and can leave out what multiplies by them; rows of known ones are
known ones themselves, however many shapes of batches there are.
"""

from __future__ import annotations

import math

import numpy as np

from kerascope.backend.graph import Placeholder
from kerascope.settings import config

MOST_ELEMENTS = 4096  # of known ones: with more, a function has other work than looking at them
_sources: dict[tuple[np.dtype, int], np.ndarray] = {}  # by type and size, a power of two


def ones_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return ones of the default float type that nobody can write to.

    Examples
    --------
    >>> ones_of((2, 3)).tolist(), ones_of((2, 3)).flags.writeable
    ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], False)
    """
    dtype = np.dtype(config.floatx)
    size = math.prod(shape)
    if size > MOST_ELEMENTS:
        return _made(size, dtype).reshape(shape)
    key = (dtype, 1 << max(size - 1, 0).bit_length())
    source = _sources.get(key)
    if source is None:
        source = _sources.setdefault(key, _made(key[1], dtype))
    return source[:size].reshape(shape)


def are_known_ones(array: np.ndarray) -> bool:
    """Tell whether an array is what `ones_of` gave, or rows of it, unless that were too many.

    Examples
    --------
    >>> are_known_ones(ones_of((3,))), are_known_ones(ones_of((3,))[1:])
    (True, True)
    >>> are_known_ones(np.ones(3, "float32"))
    False
    """
    source = array.base
    return type(source) is np.ndarray and _sources.get((array.dtype, source.size)) is source


def _made(size: int, dtype: np.dtype) -> np.ndarray:
    ones = np.ones(size, dtype)
    ones.flags.writeable = False
    return ones


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
