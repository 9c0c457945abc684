"""The classes of initializers: those that draw nothing, and those that draw numbers.

`Initializer` is the base. Then constants, random numbers of a given spread, and spreads that follow
from the number of inputs and outputs of a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerascope.backend.dtypes import checked_dtype
from kerascope.backend.ops.random import fresh_seed
from kerascope.configurable import Configured
from kerascope.errors import ArgumentError, ShapeError
from kerascope.limits import current_budget
from kerascope.settings import config
from kerascope.spellings import dialect_options

__all__ = [
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "LecunNormal",
    "LecunUniform",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "compute_fans",
]

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
        The weight is no matrix; or, in dialect "2.2", neither side is a multiple of the other.

    Notes
    -----
    In dialect "2.2" a matrix that is not square consists of square ones side by side, as in Keras
    2.2.4: so each gate of a recurrent layer has its own.
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the matrix; `shape` has two axes."""
        if len(shape) != 2:
            raise ShapeError(
                f"initializer Identity: weight has shape {tuple(shape)}; expected 2 axes."
            )
        if not dialect_options().repeats_identity:
            return as_array(self.gain * np.eye(shape[0], shape[1]), dtype)
        short, long = sorted(shape)
        if short and long % short:
            raise ShapeError(
                f"initializer Identity: weight has shape {tuple(shape)}; expected the long side to "
                f"be a multiple of the short one."
            )
        one = self.gain * np.eye(short)
        times = [side // short if short else 1 for side in shape]
        return as_array(np.tile(one, times).reshape(shape), dtype)


# --- random numbers of a given spread -------------------------------------------------------------

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


# --- a spread by the number of inputs and outputs -------------------------------------------------

# Standard deviation of a standard normal distribution that is cut off at -2 and 2.
TRUNCATED_STDDEV = 0.87962566103423978

_MODES: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
}

# Each draws numbers of mean 0 and variance 1.
_DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda g, number: truncated_standard_normal(g, number) / TRUNCATED_STDDEV,
    "truncated_normal": lambda g, number: truncated_standard_normal(g, number) / TRUNCATED_STDDEV,
    "untruncated_normal": lambda g, number: g.standard_normal(number),
    "uniform": lambda g, number: g.uniform(-math.sqrt(3), math.sqrt(3), number),
}


class VarianceScaling(RandomInitializer):
    """Random numbers whose variance is `scale / n`, where n counts inputs, outputs or both.

    Parameters
    ----------
    scale : float, positive
    mode : {"fan_in", "fan_out", "fan_avg"}
        What n is: inputs of a unit, units that an input feeds, or the mean of both.
    distribution : {"normal", "uniform"}
        "normal" is cut off at two standard deviations ("truncated_normal" means the same);
        "untruncated_normal" is not.
    seed : int, optional
        The same seed gives the same array at each call.

    Notes
    -----
    normal: stddev = sqrt(scale / n) after cutting off. uniform: limit = sqrt(3 * scale / n), so
    from -limit to limit.

    References
    ----------
    1. Glorot, Bengio: Understanding the Difficulty of Training Deep Feedforward Neural Networks,
       AISTATS 2010.
    2. He, Zhang, Ren, Sun: Delving Deep into Rectifiers, ICCV 2015.
    3. LeCun, Bottou, Orr, Müller: Efficient Backprop, 1998.

    Examples
    --------
    >>> limit = (3.0 / 100) ** 0.5
    >>> values = VarianceScaling(1.0, "fan_in", "uniform", seed=0)((100, 50))
    >>> bool(abs(values).max() <= limit)
    True
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "normal",
        seed: int | None = None,
    ) -> None:
        if not scale > 0:
            raise ArgumentError(f"VarianceScaling: scale is {scale!r}; expected a positive number.")
        self.scale = scale
        self.mode = _one_of("mode", mode, _MODES)
        self.distribution = _one_of("distribution", distribution, _DISTRIBUTIONS)
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return the numbers."""
        n = max(1.0, _MODES[self.mode](*compute_fans(shape)))
        generator, factor = self._generator(), math.sqrt(self.scale / n)
        standard = _DISTRIBUTIONS[self.distribution]
        return drawn_in_pieces(lambda number: factor * standard(generator, number), shape, dtype)


def _one_of(argument: str, value: str, choices: dict[str, Any]) -> str:
    if str(value).lower() in choices:
        return str(value).lower()
    listed = ", ".join(map(repr, choices))
    raise ArgumentError(
        f"VarianceScaling: unknown {argument}; expected one of {listed}, got {value!r}."
    )


def compute_fans(shape: Shape) -> tuple[float, float]:
    """Return how many inputs a unit has and how many units an input feeds.

    Parameters
    ----------
    shape : tuple of int
        (inputs, units), or (kernel sizes..., input channels, filters) of a convolution of one to
        three dimensions.
        For any other shape both are taken as the root of the number of elements.

    Examples
    --------
    >>> compute_fans((20, 64)), compute_fans((3, 3, 16, 32)), compute_fans((9,))
    ((20, 64), (144, 288), (3.0, 3.0))
    """
    if not 2 <= len(shape) <= 5:
        side = math.sqrt(math.prod(shape))
        return side, side
    receptive_field = math.prod(shape[:-2])
    return receptive_field * shape[-2], receptive_field * shape[-1]


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (inputs + outputs), also called Xavier; most layers take it."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal with variance 2 / (inputs + outputs)."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "normal", seed)


class HeUniform(VarianceScaling):
    """Uniform with variance 2 / inputs, made for `relu`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed)


class HeNormal(VarianceScaling):
    """Truncated normal with variance 2 / inputs, made for `relu`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "normal", seed)


class LecunUniform(VarianceScaling):
    """Uniform with variance 1 / inputs."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    """Truncated normal with variance 1 / inputs, made for `selu`."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "normal", seed)
