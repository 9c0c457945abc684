"""Initializers whose spread follows from the number of inputs and outputs of a unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.initializers.fixed import Shape
from kerascope.initializers.random import (
    RandomInitializer,
    drawn_in_pieces,
    truncated_standard_normal,
)

# Standard deviation of a standard normal distribution that is cut off at -2 and 2.
TRUNCATED_STDDEV = 0.87962566103423978


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
