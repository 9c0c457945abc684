"""`keras.random`: Keras 3's random functions, implemented by the random ops of the backend.

Inside a layer, or if a size is known only at run time, the functions return tensors, which draw new
numbers at each call. Otherwise they return arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import as_tensor
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.on_anything import on_anything

__all__ = [
    "SeedGenerator",
    "binomial",
    "categorical",
    "dropout",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


class SeedGenerator:
    """A source of seeds, for the argument `seed` of the functions in `keras.random`.

    Parameters
    ----------
    seed : int, optional
        The first seed. Without it, numbers are drawn from NumPy's global generator.

    Examples
    --------
    >>> seeds = SeedGenerator(5)
    >>> seeds.next(), seeds.next()
    (5, 6)
    >>> one, other = (uniform((2,), seed=SeedGenerator(5)).tolist() for _ in range(2))
    >>> one == other
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self._drawn = 0

    def next(self) -> int | None:
        """Return the next seed, or None if the generator was created without a first seed."""
        self._drawn += 1
        return None if self.seed is None else self.seed + self._drawn - 1


def _seed(seed: Any) -> int | None:
    return seed.next() if isinstance(seed, SeedGenerator) else seed


@on_anything
def normal(
    shape: Sequence[Any],
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: str | None = None,
    seed: Any = None,
) -> Any:
    """Return normally distributed numbers."""
    return K.random_normal(shape, mean, stddev, dtype, _seed(seed))


@on_anything
def truncated_normal(
    shape: Sequence[Any],
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: str | None = None,
    seed: Any = None,
) -> Any:
    """Return normally distributed numbers within two standard deviations of the mean."""
    return K.truncated_normal(shape, mean, stddev, dtype, _seed(seed))


@on_anything
def uniform(
    shape: Sequence[Any],
    minval: Any = 0.0,
    maxval: Any = 1.0,
    dtype: str | None = None,
    seed: Any = None,
) -> Any:
    """Return uniformly distributed numbers, at least minval and below maxval."""
    return K.random_uniform(shape, minval, maxval, dtype, _seed(seed))


@on_anything
def randint(
    shape: Sequence[Any], minval: int, maxval: int, dtype: str = "int32", seed: Any = None
) -> Any:
    """Return random integers, at least minval and below maxval."""
    number = maxval - minval
    drawn = K.random_uniform(shape, 0.0, float(number), None, _seed(seed))
    return K.cast(K.minimum(drawn, number - 1), dtype) + minval  # the cast truncates


@on_anything
def binomial(
    shape: Sequence[Any],
    counts: int,
    probabilities: float,
    dtype: str | None = None,
    seed: Any = None,
) -> Any:
    """Return binomially distributed numbers: how many of `counts` trials succeed."""
    trials = K.random_binomial((*shape, counts), probabilities, dtype, _seed(seed))
    return K.sum(trials, axis=-1)


@on_anything
def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Return the inputs with a fraction `rate` set to zero, and the rest scaled up."""
    return K.dropout(inputs, rate, noise_shape, _seed(seed))


@on_anything
def categorical(
    logits: Any, num_samples: int, dtype: str | None = "int32", seed: Any = None
) -> Any:
    """Return classes drawn from rows of log-probabilities (logits), shape (batch, classes).

    Noise -log(-log(u)) is added to each logit, where u is uniformly distributed. The index of the
    largest sum is then distributed as the classes are (Gumbel's trick). The logits need not be
    normalized.
    """
    logits = K.expand_dims(K.cast(logits, K.floatx()), 1)
    batch, classes = K.shape(logits)[0], logits.shape[-1]
    shares = K.random_uniform((batch, num_samples, classes), K.epsilon(), 1.0, None, _seed(seed))
    return K.cast(K.argmax(logits - K.log(-K.log(shares)), axis=-1), dtype or "int32")


@on_anything
def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """Return a tensor with its slices along an axis in random order."""
    x = as_tensor(x)
    order = ops.argsort(K.random_uniform((ops.shape(x)[axis],), seed=_seed(seed)))
    return ops.take(x, order, axis)
