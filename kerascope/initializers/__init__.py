"""Initializers: the first values of a weight.

A layer passes an initializer to `add_weight`, which calls it with the weight's shape. The
initializer returns a NumPy array (in Keras a tensor, which a backend must evaluate first). So you
can look at the first values without a graph::

    >>> GlorotUniform(seed=1)((2, 3)).shape
    (2, 3)

Any function of a shape that returns an array or a tensor can be used as an initializer. Keras 1
calls this module `initializations`.

Random initializers with a `seed` return the same array at each call. Without a `seed`, each call
takes a new seed from the backend, which draws the seed from NumPy's global generator. So
`np.random.seed(0)` at the top of a script makes the script repeatable.

The file `classes` contains the initializers; this file looks them up by name.
"""

# ruff: noqa: F403, F405 (each module's __all__ says which names it has)

from __future__ import annotations

from typing import Any

from kerascope.initializers import classes
from kerascope.initializers.classes import *
from kerascope.missing_names import answer_missing_names
from kerascope.registry import Registry

__all__ = [
    *classes.__all__,
    "IdentityInitializer",
    "OrthogonalInitializer",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "one",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "zero",
    "zeros",
]

# Keras's lowercase names are the same classes.
zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
identity = Identity
orthogonal = Orthogonal
glorot_uniform = GlorotUniform
glorot_normal = GlorotNormal
he_uniform = HeUniform
he_normal = HeNormal
lecun_uniform = LecunUniform
lecun_normal = LecunNormal
variance_scaling = VarianceScaling
IdentityInitializer = Identity
OrthogonalInitializer = Orthogonal

_registry = Registry("initializer")
for _name in __all__:
    _class = globals().get(_name)
    if isinstance(_class, type) and _class is not Initializer:
        _registry.register(_class, _name)

get = _registry.get
deserialize = _registry.deserialize


def serialize(initializer: Any) -> Any:
    """Return an initializer's class name and configuration; for a function, its name."""
    return _registry.serialize(initializer)


answer_missing_names(__name__)
