"""The base of the initializers, and those that draw nothing: zeros, ones, constant, identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import checked_dtype
from kerascope.configured import Configured
from kerascope.errors import ShapeError
from kerascope.settings import config

Shape = Sequence[int]


class Initializer(Configured):
    """Base of the initializers."""

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the first values of a weight.

        Parameters
        ----------
        shape : tuple of int
        dtype : str, optional
            Default `floatx()`.

        Returns
        -------
        np.ndarray
            Of this shape and dtype; a fresh array.
        """
        raise NotImplementedError(f"initializer {type(self).__name__} does not define __call__")


def as_array(values: Any, dtype: str | None) -> np.ndarray:
    """Return values as an array of `dtype`, by default `floatx()`."""
    return np.asarray(values, dtype=checked_dtype(dtype or config.floatx))


class Zeros(Initializer):
    """All numbers 0."""

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return zeros."""
        return as_array(np.zeros(tuple(shape)), dtype)


class Ones(Initializer):
    """All numbers 1."""

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return ones."""
        return as_array(np.ones(tuple(shape)), dtype)


class Constant(Initializer):
    """All numbers equal to `value`.

    Parameters
    ----------
    value : float or array_like
        An array is broadcast to the weight's shape.
    """

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the repeated value."""
        return as_array(np.broadcast_to(self.value, tuple(shape)).copy(), dtype)


class Identity(Initializer):
    """A matrix with `gain` on its diagonal and 0 elsewhere.

    Parameters
    ----------
    gain : float

    Raises
    ------
    ShapeError
        The weight is no matrix.
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the matrix; `shape` has two axes."""
        if len(shape) != 2:
            raise ShapeError(
                f"initializer Identity: weight has shape {tuple(shape)}; expected 2 axes."
            )
        return as_array(self.gain * np.eye(shape[0], shape[1]), dtype)
