"""Shared arrays of ones, the default sample weights, which a function recognizes.

All of them are read-only views of a few arrays. If an input of a function is such an array, the
function need not read its elements, and can leave out the multiplication. Slices of such an array
are recognized too, so batches of any size share the same few arrays.
"""

from __future__ import annotations

import math

import numpy as np

from kerascope.backend.graph import Placeholder
from kerascope.settings import config

MOST_ELEMENTS = 4096  # in a shared array; larger arrays of ones are made on request
_sources: dict[tuple[np.dtype, int], np.ndarray] = {}  # by dtype and size, a power of two


def ones_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return a read-only array of ones of this shape and the default float type.

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


def is_constant_ones(array: np.ndarray) -> bool:
    """Return whether an array is a view of the shared ones: up to 4096 elements of `ones_of`.

    Examples
    --------
    >>> is_constant_ones(ones_of((3,))), is_constant_ones(ones_of((3,))[1:])
    (True, True)
    >>> is_constant_ones(np.ones(3, "float32"))
    False
    """
    source = array.base
    return type(source) is np.ndarray and _sources.get((array.dtype, source.size)) is source


def _made(size: int, dtype: np.dtype) -> np.ndarray:
    ones = np.ones(size, dtype)
    ones.flags.writeable = False
    return ones


def defaults_to_ones(tensor: object) -> bool:
    """Return whether a tensor is a placeholder whose default is all ones, as sample weights are.

    Examples
    --------
    >>> weights = Placeholder((None,), "float32", "weights", default=np.ones(1))
    >>> defaults_to_ones(weights), defaults_to_ones(Placeholder((None,), "float32", "x"))
    (True, False)
    """
    if not isinstance(tensor, Placeholder) or tensor.default is None:
        return False
    default = np.asarray(tensor.default)
    return default.ndim > 0 and bool((default == 1).all())
