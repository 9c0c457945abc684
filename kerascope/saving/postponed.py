"""Making layers whose weights are about to be read: first values would be work for nothing.

The configuration of a file says how each weight was initialized. While the layers are made again,
an initializer is replaced by a `Postponed` one, which gives zeros. That is faster, and it is where
a trap is caught: a file of 3 KB whose configuration asks for a Dense of 10^9 units is refused
before the memory is taken, since its weights cannot be in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import initializers
from kerascope.engine.base_layer import Layer
from kerascope.errors import ConfigError
from kerascope.saving.limits import SPARE_NUMBERS


class Allowance:
    """How many numbers the weights of a model may still have.

    Parameters
    ----------
    numbers : int
        How many the file holds.
    where : str
        What the file is called in an error.
    """

    def __init__(self, numbers: int, where: str) -> None:
        self.in_file = numbers
        self.left = numbers + SPARE_NUMBERS
        self.where = where

    def take(self, shape: tuple[int, ...]) -> None:
        """Raise ConfigError if a weight of this shape cannot be in the file."""
        self.left -= int(np.prod(shape, dtype=object))
        if self.left < 0:
            raise ConfigError(
                f"{self.where}: its configuration asks for a weight of shape {tuple(shape)}, but "
                f"its weights are only {self.in_file} numbers; the two do not belong together."
            )


class Postponed(initializers.Initializer):
    """Gives zeros in place of another initializer, as long as the allowance lasts."""

    def __init__(self, original: Any, allowance: Allowance) -> None:
        self.original = original
        self.allowance = allowance

    def __call__(self, shape: Any, dtype: str | None = None) -> np.ndarray:
        """Return zeros of this shape."""
        self.allowance.take(tuple(shape))
        return np.zeros(shape, dtype=dtype or "float32")


# A layer that makes a twin of another from its configuration finds the class by this name.
KNOWN_WHILE_LOADING: dict[str, Any] = {Postponed.__name__: Postponed}


def postponed(config: Any, allowance: Allowance) -> Any:
    """Return a configuration in which every initializer is a `Postponed` one.

    Parameters
    ----------
    config : object
        As JSON gives it.
    allowance : Allowance
    """
    if isinstance(config, list):
        return [postponed(item, allowance) for item in config]
    if not isinstance(config, dict):
        return config
    changed = {}
    for key, value in config.items():
        if key.endswith("_initializer") and value is not None:
            changed[key] = Postponed(initializers.get(value), allowance)
        else:
            changed[key] = postponed(value, allowance)
    return changed


def put_back(layer: Layer) -> None:
    """Give a layer, and all layers inside it, their own initializers again."""
    waiting: list[Any] = [layer]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, (list, tuple)):
            waiting.extend(one)
        elif isinstance(one, Layer):
            for values in (vars(one), one._arguments):
                for name, value in values.items():
                    if isinstance(value, Postponed):
                        values[name] = value.original
            waiting.extend(vars(one).values())
            waiting.extend(one._sublayers)
