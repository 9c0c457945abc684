"""Random numbers as pure functions of a seed and a count of draws.

The count is a variable that each completed call of a function increases by one (its
`default_update`). So two calls draw different numbers. A call that was abandoned halfway, or
stepped through in a debugger, draws the same numbers when it is repeated.

Without a seed, one is drawn from NumPy's global generator when the op is made. So
`np.random.seed(0)` at the top of a script makes the whole script reproducible.

References
----------
.. [1] J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1,
   2, 3", 2011.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from kerascope.backend.dtypes import checked_dtype, is_float
from kerascope.backend.graph import Apply, Constant, Op, as_tensor, parametric
from kerascope.backend.ops.elementwise import Add
from kerascope.backend.ops.indexing import shape as shape_of
from kerascope.backend.ops.indexing import sizes_from
from kerascope.backend.ops.shaping import shape_vector
from kerascope.backend.scopes import scoped
from kerascope.backend.types import Kernel, Shape, Spec, Specs, Tensor
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError, DtypeError
from kerascope.settings import config

__all__ = [
    "dropout",
    "random_binomial",
    "random_normal",
    "random_normal_variable",
    "random_uniform",
    "random_uniform_variable",
    "truncated_normal",
]


Drawing = Callable[[np.random.Generator, np.ndarray], None]


def fresh_seed():
    """Return a seed drawn from NumPy's global generator, which `np.random.seed` sets."""
    return int(np.random.randint(2**31 - 1))  # noqa: NPY002


@parametric
class RandomOp(Op):
    """Base class of random ops.

    The inputs are the shape of the result, and a count that is greater at each call, so that each
    call draws other numbers.
    """

    seed: int
    dtype: str
    is_pure = False  # two ops with the same inputs are not merged into one

    def infer_shape(self, shape: Tensor, draws: Tensor) -> Shape:
        return sizes_from(shape, f"{self.name}: the shape")

    def infer_dtype(self, shape: Tensor, draws: Tensor) -> str:
        return self.dtype

    def perform(self, shape: np.ndarray, draws: np.ndarray) -> np.ndarray:
        counter = np.array([0, 0, 0, draws], "uint64")
        generator = np.random.Generator(np.random.Philox(key=self.seed, counter=counter))
        return self.draw(generator, tuple(shape))

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Return random numbers of this shape, drawn from a generator."""
        raise NotImplementedError(f"op {type(self).__name__}: define draw().")

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        draw_into = self.drawing(outputs[0])
        if draw_into is None:
            return None
        # Resetting a generator to a count is ten times faster than making a new one.
        source = np.random.Philox(key=self.seed)
        generator, start = np.random.Generator(source), source.state
        counter = start["state"]["counter"]

        def compute(out: np.ndarray, shape: np.ndarray, draws: np.ndarray) -> None:
            counter[3] = draws
            source.state = start
            draw_into(generator, out)

        return compute

    def drawing(self, spec: Spec) -> Drawing | None:
        """Return a function (generator, out) that fills `out` with the numbers of `draw`.

        None, the default, means that compiled functions call `draw` instead.
        """
        return None


def _uniform(generator, shape, dtype):
    """Return uniform numbers in [0, 1).

    For float16 they are multiples of 1/2048, which need no rounding; rounding could give 1.
    """
    if dtype == "float16":
        return (generator.integers(0, 2048, shape, "uint16") / np.float32(2048)).astype(dtype)
    return generator.random(shape, dtype)


def _normal(generator, shape, dtype):
    if dtype == "float16":
        return generator.standard_normal(shape, "float32").astype(dtype)
    return generator.standard_normal(shape, dtype)


def _scaled(
    draw: Callable[..., np.ndarray], dtype: str, factor: float, offset: float
) -> Drawing | None:
    """Return a function that fills an array with draws * factor + offset; None for float16."""

    def draw_into(generator: np.random.Generator, out: np.ndarray) -> None:
        draw(generator, None, out.dtype, out)
        np.multiply(out, factor, out)
        np.add(out, offset, out)

    return None if dtype == "float16" else draw_into


@parametric
class RandomUniform(RandomOp):
    """Uniformly distributed random numbers in [low, high)."""

    low: float
    high: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return _uniform(generator, shape, self.dtype) * (self.high - self.low) + self.low

    def drawing(self, spec: Spec) -> Drawing | None:
        return _scaled(np.random.Generator.random, self.dtype, self.high - self.low, self.low)


@parametric
class RandomNormal(RandomOp):
    """Normally distributed random numbers with this mean and standard deviation."""

    mean: float
    stddev: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return _normal(generator, shape, self.dtype) * self.stddev + self.mean

    def drawing(self, spec: Spec) -> Drawing | None:
        return _scaled(np.random.Generator.standard_normal, self.dtype, self.stddev, self.mean)


@parametric
class TruncatedNormal(RandomOp):
    """Normally distributed random numbers, at most two standard deviations from the mean.

    Numbers that are further away are drawn again.
    """

    mean: float
    stddev: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        z = np.asarray(_normal(generator, shape, self.dtype))
        while (far := np.abs(z) > 2).any():
            z[far] = _normal(generator, (int(far.sum()),), self.dtype)
        return z * self.stddev + self.mean


@parametric
class RandomBinomial(RandomOp):
    """Random numbers that are 1 with probability `p`, otherwise 0."""

    p: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return (generator.random(shape, "float32") < self.p).astype(self.dtype)

    def drawing(self, spec: Spec) -> Drawing | None:
        p = self.p
        other = None if spec.dtype == np.float32 else np.empty(spec.shape, "float32")

        def draw_into(generator: np.random.Generator, out: np.ndarray) -> None:
            uniform = out if other is None else other
            generator.random(None, "float32", uniform)
            np.less(uniform, p, out)

        return draw_into


def _random(op_class, shape, dtype, seed, *parameters):
    """Call a random op with a new variable that counts its draws."""
    op = op_class(_checked_seed(seed), _float_dtype(dtype), *map(float, parameters))
    sizes = shape_vector(shape)
    if not isinstance(sizes, Tensor):
        sizes = Constant(np.array(sizes, "int32"))
    draws = Variable(0, "int64", scoped(f"{op.name}/draws"))
    # Written as an Apply, because in eager mode `draws + 1` would be the number 1, not a graph.
    draws.default_update = Apply(Add(), [draws, Constant(1, "int64")]).outputs[0]
    return op(sizes, draws)


def _checked_seed(seed: int | None) -> int:
    return fresh_seed() if seed is None else operator.index(seed) % 2**64


def _float_dtype(dtype: str | None) -> str:
    dtype = checked_dtype(dtype or config.floatx)
    if not is_float(dtype):
        raise DtypeError(f"random numbers: expected a float dtype, got {dtype!r}.")
    return dtype


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Return uniformly distributed random numbers in [minval, maxval).

    Parameters
    ----------
    shape : tuple of int, or int Tensor of shape (ndim,)
    minval, maxval : float
    dtype : str, optional
        Default `floatx()`.
    seed : int, optional
        Default: drawn from NumPy's global generator.

    Returns
    -------
    Tensor
        New numbers at each call of a function.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> draw = K.function([], [K.random_uniform((3,), seed=1)])
    >>> first, second = draw([])[0], draw([])[0]
    >>> bool((first != second).all()), first.dtype.name
    (True, 'float32')
    """
    return _random(RandomUniform, shape, dtype, seed, minval, maxval)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Return normally distributed random numbers.

    `shape`, `dtype` and `seed` are as for `random_uniform`.
    """
    return _random(RandomNormal, shape, dtype, seed, mean, stddev)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Return normally distributed random numbers, at most 2 * stddev from the mean.

    Numbers that are further away are drawn again. `shape`, `dtype` and `seed` are as for
    `random_uniform`.
    """
    return _random(TruncatedNormal, shape, dtype, seed, mean, stddev)


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Return 1 with probability `p`, otherwise 0, for each element.

    `shape`, `dtype` and `seed` are as for `random_uniform`.
    """
    return _random(RandomBinomial, shape, dtype, seed, p)


def _random_variable(op_class, shape, dtype, name, seed, *parameters):
    op = op_class(_checked_seed(seed), _float_dtype(dtype), *map(float, parameters))
    numbers = op.perform(np.array(shape_vector(shape), "int64"), 0)
    return Variable(numbers, op.dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """Return a variable initialized with uniformly distributed numbers in [low, high)."""
    return _random_variable(RandomUniform, shape, dtype, name, seed, low, high)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """Return a variable initialized with normal numbers of standard deviation `scale`."""
    return _random_variable(RandomNormal, shape, dtype, name, seed, mean, scale)


def dropout(x, level, noise_shape=None, seed=None):
    """Return `x` with a random fraction of its elements set to 0 and the others scaled up.

    Parameters
    ----------
    x : Tensor
    level : float
        Fraction that is dropped, in [0, 1).
    noise_shape : tuple of int or None, optional
        Shape of the random choices, broadcast against `x`. A size of 1 makes the same choice along
        the whole axis; None means the size of `x`.
    seed : int, optional
        Default: drawn from NumPy's global generator.

    Notes
    -----
    y = x * keep / (1 - level), where keep is 1 with probability 1 - level, otherwise 0. So the
    expected value of y is x.
    """
    x = as_tensor(x)
    if not 0 <= level < 1:
        raise ArgumentError(f"K.dropout: expected a level in [0, 1), got {level!r}.")
    if level == 0:
        return x
    keep = random_binomial(_noise_shape(x, noise_shape), 1 - level, x.dtype, seed)
    return x * (keep * (1 / (1 - level)))


def _noise_shape(x, noise_shape):
    if noise_shape is None:
        noise_shape = (None,) * x.ndim
    if isinstance(noise_shape, Tensor):
        return noise_shape
    if len(noise_shape) != x.ndim:
        raise ArgumentError(
            f"K.dropout: expected a noise_shape of {x.ndim} entries for shape {x.shape}, got "
            f"{tuple(noise_shape)}."
        )
    sizes = [own if n is None else n for n, own in zip(noise_shape, x.shape, strict=True)]
    if None not in sizes:
        return tuple(sizes)
    if sizes == list(x.shape):
        return shape_of(x)
    return tuple(shape_of(x)[axis] if n is None else n for axis, n in enumerate(sizes))
