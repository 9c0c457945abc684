"""Losses: how far the predictions are from the targets, one number for each sample.

`model.compile(loss="mse")` finds them by name through `get`. Each takes a tensor of targets and one
of predictions, of equal shape (batch, ..., features), and averages or sums over the last axis only:
the result has shape (batch, ...). The model weights these numbers by the sample weights and takes
their mean. Keras 1 calls this module `objectives`.

Files: `functions`, and `classes` (losses as objects with arguments, as in Keras 3).
"""

from __future__ import annotations

from typing import Any

from kerascope.losses.classes import (
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    Loss,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    plain_function,
)
from kerascope.losses.functions import (
    ALIASES,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    cosine_proximity,
    hinge,
    huber,
    kullback_leibler_divergence,
    logcosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    registry,
    sparse_categorical_crossentropy,
    squared_hinge,
)

__all__ = [
    "ALIASES",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "cosine",
    "cosine_proximity",
    "cosine_similarity",
    "deserialize",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "kullback_leibler_divergence",
    "log_cosh",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "plain_function",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
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
    """Return the name of a loss, or its class name and configuration."""
    return _registry.serialize(loss)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Return a loss from its name or from its class name and configuration.

    Raises
    ------
    UnknownNameError
        No loss has this name; the message suggests the nearest one.
    ConfigError
        The configuration has an argument that the loss does not know.

    Examples
    --------
    >>> deserialize({"class_name": "Huber", "config": {"delta": 0.5}}).delta
    0.5
    """
    return _registry.deserialize(name, custom_objects)


def get(identifier: Any) -> Any:
    """Return a loss by name, configuration, function or object; None is None.

    Raises
    ------
    UnknownNameError
        No loss has this name; the message suggests the nearest one.

    Examples
    --------
    >>> get("mse").__name__
    'mean_squared_error'
    """
    return deserialize(identifier)
