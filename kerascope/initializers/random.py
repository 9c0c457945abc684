"""Initializers that draw numbers of a given spread: normal, uniform, truncated, orthogonal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kerascope.backend.graph import checked_dtype
from kerascope.backend.ops.random import fresh_seed
from kerascope.errors import ShapeError
from kerascope.initializers.fixed import Initializer, Shape, as_array
from kerascope.limits import current_budget
from kerascope.settings import config

PIECE = 65_536


class RandomInitializer(Initializer):
    """An initializer that draws numbers."""

    seed: int | None

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(fresh_seed() if self.seed is None else self.seed)


def drawn_in_pieces(
    draw: Callable[[int], np.ndarray], shape: Shape, dtype: str | None
) -> np.ndarray:
    """Return an array of numbers that `draw(number)` gives, `PIECE` of them at a time.

    They are drawn in float64. The hundred million weights of a VGG16 would take a gigabyte so, were
    they drawn at once.
    """
    result = np.empty(tuple(shape), checked_dtype(dtype or config.floatx))
    flat = result.reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        piece[:] = draw(piece.size)
    return result


class RandomNormal(RandomInitializer):
    """Numbers from a normal distribution.

    Parameters
    ----------
    mean, stddev : float
    seed : int, optional
        The same seed gives the same array at each call.
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return normal numbers."""
        normal = self._generator().normal
        return drawn_in_pieces(lambda n: normal(self.mean, self.stddev, n), shape, dtype)


class RandomUniform(RandomInitializer):
    """Numbers spread evenly from `minval` to `maxval`.

    Parameters
    ----------
    minval, maxval : float
    seed : int, optional
        The same seed gives the same array at each call.
    """

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return uniform numbers."""
        uniform = self._generator().uniform
        return drawn_in_pieces(lambda n: uniform(self.minval, self.maxval, n), shape, dtype)


class TruncatedNormal(RandomInitializer):
    """Numbers from a normal distribution; those beyond two standard deviations are drawn again.

    Parameters
    ----------
    mean, stddev : float
        Of the distribution before it is cut off.
    seed : int, optional
        The same seed gives the same array at each call.
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return numbers in `mean` plus or minus two `stddev`."""
        generator = self._generator()

        def draw(number: int) -> np.ndarray:
            return self.mean + self.stddev * truncated_standard_normal(generator, number)

        return drawn_in_pieces(draw, shape, dtype)


def truncated_standard_normal(generator: np.random.Generator, number: int) -> np.ndarray:
    """Return normal numbers between -2 and 2."""
    values = np.asarray(generator.standard_normal(number))
    outside = np.abs(values) > 2
    while outside.any():
        values[outside] = generator.standard_normal(int(outside.sum()))
        outside = np.abs(values) > 2
    return values


class Orthogonal(RandomInitializer):
    """A random matrix with orthonormal rows or columns, whichever are fewer.

    Parameters
    ----------
    gain : float
        Factor of all numbers.
    seed : int, optional
        The same seed gives the same array at each call.

    Raises
    ------
    ShapeError
        The weight has fewer than two axes.

    Notes
    -----
    A weight of more than two axes is taken as a matrix of its last axis against all others. The
    matrix is the Q of the QR decomposition of normal numbers, with signs chosen so that R has a
    positive diagonal: only so are all orthogonal matrices equally likely.

    References
    ----------
    1. Saxe, McClelland, Ganguli: Exact Solutions to the Nonlinear Dynamics of Learning in Deep
       Linear Neural Networks, 2013.
    2. Mezzadri: How to Generate Random Matrices from the Classical Compact Groups, 2007.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain = gain
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the matrix; `shape` has at least two axes."""
        if len(shape) < 2:
            raise ShapeError(
                f"initializer Orthogonal: weight has shape {tuple(shape)}; "
                f"expected at least 2 axes."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        budget = current_budget()
        if budget is not None:
            budget.take_factorization(rows, columns)
        tall = self._generator().standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(tall)
        q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
        matrix = q if rows >= columns else q.T
        return as_array(self.gain * matrix.reshape(tuple(shape)), dtype)
