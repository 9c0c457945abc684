"""The classes of initializers, constant and random.

`Initializer` is the base class. After it come constant values, random numbers of a given spread,
and random numbers whose spread depends on how many inputs and outputs a neuron has.
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
    """Base class of initializers; subclasses define `__call__(shape, dtype)`.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> class Halves(Initializer):
    ...     def __call__(self, shape, dtype=None):
    ...         return np.full(shape, 0.5)
    >>> Dense(1, kernel_initializer=Halves())(np.array([[2.0, 4.0]])).tolist()
    [[3.0]]
    """

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
            A new array of this shape and dtype.
        """
        raise NotImplementedError(f"Initializer {type(self).__name__} does not define __call__.")


def as_array(values: Any, dtype: str | None) -> np.ndarray:
    """Return values as an array of `dtype`, by default `floatx()`."""
    return np.asarray(values, dtype=checked_dtype(dtype or config.floatx))


class Zeros(Initializer):
    """An array of zeros.

    Examples
    --------
    >>> Zeros()((2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of zeros of this shape."""
        return as_array(np.zeros(tuple(shape)), dtype)


class Ones(Initializer):
    """An array of ones.

    Examples
    --------
    >>> Ones()((2, 3)).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of ones of this shape."""
        return as_array(np.ones(tuple(shape)), dtype)


class Constant(Initializer):
    """An array filled with `value`.

    Parameters
    ----------
    value : float or array_like
        An array is broadcast to the weight's shape.

    Examples
    --------
    >>> Constant(0.5)((3,)).tolist()
    [0.5, 0.5, 0.5]
    >>> Constant([1.0, 2.0])((2, 2)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of this shape filled with `value`."""
        return as_array(np.broadcast_to(self.value, tuple(shape)).copy(), dtype)


class Identity(Initializer):
    """A matrix with `gain` on its diagonal and 0 elsewhere.

    Parameters
    ----------
    gain : float
        Value on the diagonal.

    Raises
    ------
    ShapeError
        The weight does not have 2 axes. Or, in dialect "2.2", its longer side is not a multiple of
        the shorter one.

    Notes
    -----
    In dialect "2.2" a matrix that is not square repeats the square identity along its longer side,
    as in Keras 2.2.4. So each gate of a recurrent layer has its own identity.

    Examples
    --------
    >>> Identity(gain=2.0)((3, 3)).tolist()
    [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an identity matrix of this shape, which must have two axes, times `gain`."""
        if len(shape) != 2:
            raise ShapeError(
                f"Initializer Identity: expected a weight with 2 axes, got shape {tuple(shape)}."
            )
        if not dialect_options().repeats_identity:
            return as_array(self.gain * np.eye(shape[0], shape[1]), dtype)
        short, long = sorted(shape)
        if short and long % short:
            raise ShapeError(
                "Initializer Identity: expected a weight whose longer side is a multiple of the "
                f"shorter one, got shape {tuple(shape)}."
            )
        one = self.gain * np.eye(short)
        times = [side // short if short else 1 for side in shape]
        return as_array(np.tile(one, times).reshape(shape), dtype)


# --- random numbers of a given spread -------------------------------------------------------------

CHUNK_SIZE = 65_536


class RandomInitializer(Initializer):
    """Base class of initializers that draw random numbers."""

    seed: int | None

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(fresh_seed() if self.seed is None else self.seed)


def draw_in_chunks(
    draw: Callable[[int], np.ndarray], shape: Shape, dtype: str | None
) -> np.ndarray:
    """Return an array of random numbers, with `draw(n)` called for chunks of n <= `CHUNK_SIZE`.

    The numbers are drawn in float64. If they were drawn all at once, the hundred million weights of
    a VGG16 would take a gigabyte.
    """
    result = np.empty(tuple(shape), checked_dtype(dtype or config.floatx))
    flat = result.reshape(-1)
    for start in range(0, flat.size, CHUNK_SIZE):
        chunk = flat[start : start + CHUNK_SIZE]
        chunk[:] = draw(chunk.size)
    return result


class RandomNormal(RandomInitializer):
    """Random numbers from a normal distribution.

    Parameters
    ----------
    mean, stddev : float
        Mean and standard deviation of the distribution.
    seed : int, optional
        The same seed gives the same array at each call.

    Examples
    --------
    >>> values = RandomNormal(mean=5.0, stddev=0.1, seed=0)((100, 100))
    >>> round(float(values.mean()), 2), round(float(values.std()), 2)
    (5.0, 0.1)
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of normally distributed numbers."""
        normal = self._generator().normal
        return draw_in_chunks(lambda n: normal(self.mean, self.stddev, n), shape, dtype)


class RandomUniform(RandomInitializer):
    """Random numbers spread evenly from `minval` to `maxval`.

    Parameters
    ----------
    minval, maxval : float
        The limits of the numbers.
    seed : int, optional
        The same seed gives the same array at each call.

    Examples
    --------
    >>> values = RandomUniform(2.0, 4.0, seed=0)((100, 100))
    >>> round(float(values.min()), 2), round(float(values.mean()), 1), round(float(values.max()), 2)
    (2.0, 3.0, 4.0)
    """

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None
    ) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of uniformly distributed numbers."""
        uniform = self._generator().uniform
        return draw_in_chunks(lambda n: uniform(self.minval, self.maxval, n), shape, dtype)


class TruncatedNormal(RandomInitializer):
    """Random normal numbers; those beyond two standard deviations are drawn again.

    Parameters
    ----------
    mean, stddev : float
        Parameters of the distribution before it is cut off.
    seed : int, optional
        The same seed gives the same array at each call.

    Examples
    --------
    >>> values = TruncatedNormal(stddev=0.5, seed=0)((100, 100))
    >>> round(float(abs(values).max()), 2)
    1.0
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of numbers between `mean - 2 * stddev` and `mean + 2 * stddev`."""
        generator = self._generator()

        def draw(number: int) -> np.ndarray:
            return self.mean + self.stddev * truncated_standard_normal(generator, number)

        return draw_in_chunks(draw, shape, dtype)


def truncated_standard_normal(generator: np.random.Generator, number: int) -> np.ndarray:
    """Return standard normal numbers between -2 and 2."""
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
        Factor by which the matrix is multiplied.
    seed : int, optional
        The same seed gives the same array at each call.

    Raises
    ------
    ShapeError
        The weight has fewer than two axes.

    Notes
    -----
    A weight with more than two axes is filled from a matrix: its last axis is the columns, and all
    other axes together are the rows. The matrix is the Q of the QR decomposition of normal numbers,
    with signs chosen so that R has a positive diagonal. Only then are all orthogonal matrices
    equally likely.

    References
    ----------
    1. Saxe, McClelland, Ganguli: Exact Solutions to the Nonlinear Dynamics of Learning in Deep
       Linear Neural Networks, 2013.
    2. Mezzadri: How to Generate Random Matrices from the Classical Compact Groups, 2007.

    Examples
    --------
    >>> w = Orthogonal(seed=0)((3, 2))
    >>> np.allclose(w.T @ w, np.eye(2), atol=1e-5)
    True
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain = gain
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an orthogonal matrix as an array of this shape, which has at least two axes."""
        if len(shape) < 2:
            raise ShapeError(
                "Initializer Orthogonal: expected a weight with at least 2 axes, "
                f"got shape {tuple(shape)}."
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

# Each function draws numbers with mean 0 and variance 1.
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
        Numerator of the variance `scale / n`.
    mode : {"fan_in", "fan_out", "fan_avg"}
        What n is: the number of inputs of a unit (neuron), the number of units that an input feeds,
        or the mean of both.
    distribution : {"normal", "truncated_normal", "untruncated_normal", "uniform"}
        "normal" and "truncated_normal" are cut off at two standard deviations;
        "untruncated_normal" is not.
    seed : int, optional
        The same seed gives the same array at each call.

    Notes
    -----
    normal: stddev = sqrt(scale / n) after it is cut off. uniform: from -limit to limit, where
    limit = sqrt(3 * scale / n).

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
            raise ArgumentError(f"VarianceScaling: expected a positive scale, got {scale!r}.")
        self.scale = scale
        self.mode = _one_of("mode", mode, _MODES)
        self.distribution = _one_of("distribution", distribution, _DISTRIBUTIONS)
        self.seed = seed

    def __call__(self, shape: Shape, dtype: str | None = None) -> np.ndarray:
        """Return an array of random numbers with the variance `scale / n`."""
        n = max(1.0, _MODES[self.mode](*compute_fans(shape)))
        generator, factor = self._generator(), math.sqrt(self.scale / n)
        standard = _DISTRIBUTIONS[self.distribution]
        return draw_in_chunks(lambda number: factor * standard(generator, number), shape, dtype)


def _one_of(argument: str, value: str, choices: dict[str, Any]) -> str:
    if str(value).lower() in choices:
        return str(value).lower()
    listed = ", ".join(map(repr, choices))
    raise ArgumentError(f"VarianceScaling: unknown {argument} {value!r}. Use one of: {listed}.")


def compute_fans(shape: Shape) -> tuple[float, float]:
    """Return how many inputs a unit (neuron) has and how many units an input feeds.

    Parameters
    ----------
    shape : tuple of int
        (inputs, units), or (kernel sizes..., input channels, filters) of a convolution with one to
        three dimensions. For any other shape, both results are the square root of the number of
        elements.

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
    """Uniform random numbers with variance 2 / (fan_in + fan_out); the default of most layers.

    `fan_in` counts the inputs of a unit (neuron), and `fan_out` counts the units that an input
    feeds. Also called Xavier initialization.

    Examples
    --------
    The greatest number is sqrt(3 * variance) = sqrt(6 / 150) = 0.2:

    >>> values = GlorotUniform(seed=0)((100, 50))
    >>> round(float(abs(values).max()), 2)
    0.2
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal numbers with variance 2 / (fan_in + fan_out); see `compute_fans`.

    Examples
    --------
    The standard deviation is sqrt(2 / 200) = 0.1:

    >>> values = GlorotNormal(seed=0)((50, 150))
    >>> round(float(values.std()), 2)
    0.1
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "normal", seed)


class HeUniform(VarianceScaling):
    """Uniform random numbers with variance 2 / (inputs of a neuron), made for `relu`.

    Examples
    --------
    The greatest number is sqrt(3 * variance) = sqrt(6 / 150) = 0.2, for any number of neurons:

    >>> [round(float(abs(HeUniform(seed=0)((150, units))).max()), 2) for units in (20, 500)]
    [0.2, 0.2]
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed)


class HeNormal(VarianceScaling):
    """Truncated normal numbers with variance 2 / (inputs of a neuron), made for `relu`.

    Examples
    --------
    The standard deviation is sqrt(2 / 200) = 0.1, for any number of neurons:

    >>> [round(float(HeNormal(seed=0)((200, units)).std()), 2) for units in (20, 500)]
    [0.1, 0.1]
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "normal", seed)


class LecunUniform(VarianceScaling):
    """Uniform random numbers with variance 1 / (inputs of a neuron).

    Examples
    --------
    The greatest number is sqrt(3 * variance) = sqrt(3 / 75) = 0.2, for any number of neurons:

    >>> [round(float(abs(LecunUniform(seed=0)((75, units))).max()), 2) for units in (20, 500)]
    [0.2, 0.2]
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    """Truncated normal numbers with variance 1 / (inputs of a neuron), made for `selu`.

    Examples
    --------
    The standard deviation is sqrt(1 / 100) = 0.1, for any number of neurons:

    >>> [round(float(LecunNormal(seed=0)((100, units)).std()), 2) for units in (20, 500)]
    [0.1, 0.1]
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "normal", seed)
