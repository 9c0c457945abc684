"""`keras.initializations` of Keras 1: functions of a shape that return a variable.

Scripts of Keras 1 wrote `init=lambda shape, name=None: initializations.normal(shape, scale=0.01,
name=name)` for what is an initializer object today. Each function also takes `dim_ordering`, which
says whether the channels of a kernel come first ("th") or last ("tf").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kerascope.backend import Variable, variable
from kerascope.errors import ArgumentError
from kerascope.initializers import get as initializer_of
from kerascope.initializers.classes import (
    Identity,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    Zeros,
    compute_fans,
)

__all__ = [
    "get",
    "get_fans",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_uniform",
    "normal",
    "one",
    "orthogonal",
    "uniform",
    "zero",
]

Shape = tuple[int, ...]


def get(identifier: Any) -> Any:
    """Return the initialization function with this name: `f(shape, name=..., dim_ordering=...)`.

    For a name that Keras 1 did not have, the function uses the current initializer. An argument
    that is not a string is returned unchanged. Layers of Keras 1 store the function
    (`self.init = initializations.get(init)`), call it (`self.W = self.init((3, 4), name="W")`), and
    save its name (`self.init.__name__`).

    Raises
    ------
    UnknownNameError
        No initializer has this name.

    Examples
    --------
    >>> get("he_normal").__name__, get("zero")((2,), name="b").name
    ('he_normal', 'b')
    """
    if not isinstance(identifier, str):
        return identifier
    return _FUNCTIONS.get(identifier) or initializer_of(identifier)


def uniform(
    shape: Shape, scale: float = 0.05, name: str | None = None, dim_ordering: str = "th"
) -> Variable:
    """Return a variable of uniformly distributed numbers between -scale and scale."""
    return variable(RandomUniform(-scale, scale)(shape), name=name)


def normal(
    shape: Shape, scale: float = 0.05, name: str | None = None, dim_ordering: str = "th"
) -> Variable:
    """Return a variable of normal numbers with mean 0 and standard deviation `scale`."""
    return variable(RandomNormal(0.0, scale)(shape), name=name)


def lecun_uniform(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of uniform numbers between -s and s, where s = sqrt(3 / fan_in)."""
    fan_in, _ = get_fans(shape, dim_ordering)
    return uniform(shape, float(np.sqrt(3.0 / fan_in)), name)


def glorot_normal(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of normal numbers with stddev sqrt(2 / (fan_in + fan_out))."""
    return normal(shape, float(np.sqrt(2.0 / sum(get_fans(shape, dim_ordering)))), name)


def glorot_uniform(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of uniform numbers in [-s, s], where s = sqrt(6 / (fan_in + fan_out))."""
    return uniform(shape, float(np.sqrt(6.0 / sum(get_fans(shape, dim_ordering)))), name)


def he_normal(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of normal numbers with stddev sqrt(2 / fan_in)."""
    fan_in, _ = get_fans(shape, dim_ordering)
    return normal(shape, float(np.sqrt(2.0 / fan_in)), name)


def he_uniform(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of uniform numbers between -s and s, where s = sqrt(6 / fan_in)."""
    fan_in, _ = get_fans(shape, dim_ordering)
    return uniform(shape, float(np.sqrt(6.0 / fan_in)), name)


def orthogonal(
    shape: Shape, scale: float = 1.1, name: str | None = None, dim_ordering: str = "th"
) -> Variable:
    """Return a variable whose rows or columns are orthogonal and of length `scale`."""
    return variable(Orthogonal(gain=scale)(shape), name=name)


def identity(
    shape: Shape, scale: float = 1, name: str | None = None, dim_ordering: str = "th"
) -> Variable:
    """Return a square variable with `scale` on its diagonal."""
    return variable(Identity(gain=scale)(shape), name=name)


def zero(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of zeros."""
    return variable(Zeros()(shape), name=name)


def one(shape: Shape, name: str | None = None, dim_ordering: str = "th") -> Variable:
    """Return a variable of ones."""
    return variable(Ones()(shape), name=name)


def get_fans(shape: Shape, dim_ordering: str = "th") -> tuple[float, float]:
    """Return, for a weight's shape, the inputs of a neuron and the neurons that an input feeds.

    Examples
    --------
    >>> get_fans((4, 5)), get_fans((3, 3, 2, 8), "tf")
    ((4, 5), (18, 72))
    """
    sizes = tuple(shape)
    if len(sizes) == 3:  # not a convolution kernel in Keras 1
        return compute_fans((math.prod(sizes),))
    if len(sizes) in (4, 5):
        if dim_ordering not in ("th", "tf"):
            raise ArgumentError(
                f"get_fans: expected 'th' or 'tf', got dim_ordering {dim_ordering!r}."
            )
        if dim_ordering == "th":
            sizes = (*sizes[2:], sizes[1], sizes[0])
    return compute_fans(sizes)


_FUNCTIONS = {
    function.__name__: function
    for function in (
        uniform,
        normal,
        lecun_uniform,
        glorot_normal,
        glorot_uniform,
        he_normal,
        he_uniform,
        orthogonal,
        identity,
        zero,
        one,
    )
}
