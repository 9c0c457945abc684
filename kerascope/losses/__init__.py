"""Losses: how far the predictions are from the targets, one number for each sample.

`model.compile(loss="mse")` looks a loss up by its name with `get`. A loss takes targets and
predictions of equal shape (batch, ..., features), and averages or sums over the last axis only. So
the result has shape (batch, ...). The model multiplies these numbers by the sample weights and
takes the mean. Keras 1 calls this module `objectives`.

Files: `functions`, `classes` (losses as objects with arguments, as in Keras 3), and `structured`
(losses that compare areas, samples with each other, or sequences).
"""

# ruff: noqa: F403, F405 (each module's __all__ says which names it has)

from __future__ import annotations

from typing import Any

from kerascope.losses import classes, functions, structured
from kerascope.losses.classes import *
from kerascope.losses.functions import *
from kerascope.losses.functions import ALIASES, categorical_generalized_cross_entropy, registry
from kerascope.losses.structured import *
from kerascope.missing_names import answer_missing_names

__all__ = [
    *classes.__all__,
    *functions.__all__,
    *structured.__all__,
    "ALIASES",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "categorical_generalized_cross_entropy",
    "cosine",
    "cosine_similarity",
    "deserialize",
    "get",
    "kl_divergence",
    "kld",
    "log_cosh",
    "mae",
    "mape",
    "mse",
    "msle",
    "serialize",
]

_registry = registry

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity
log_cosh = logcosh


def serialize(loss: Any) -> Any:
    """Return the name of a loss function; for a loss object, its class name and configuration."""
    return _registry.serialize(loss)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Return a loss from its name or from its class name and configuration.

    Raises
    ------
    UnknownNameError
        No loss has this name. The message suggests the most similar name.
    ConfigError
        The configuration has an argument that the loss does not take.

    Examples
    --------
    >>> deserialize({"class_name": "Huber", "config": {"delta": 0.5}}).delta
    0.5
    """
    return _registry.deserialize(name, custom_objects)


def get(identifier: Any) -> Any:
    """Return the loss for a name or a configuration.

    A function, a loss object or None is returned unchanged.

    Raises
    ------
    UnknownNameError
        No loss has this name. The message suggests the most similar name.

    Examples
    --------
    >>> get("mse").__name__
    'mean_squared_error'
    """
    return deserialize(identifier)


answer_missing_names(__name__)
