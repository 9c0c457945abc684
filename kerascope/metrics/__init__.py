"""Metrics: numbers that are reported while a model is trained, and never differentiated.

Like a loss, a metric takes targets and predictions and returns one number for each sample. The
model reports the mean of these numbers. Every loss can be used as a metric. For
`metrics=["accuracy"]`, `compile` chooses `binary_accuracy`, `categorical_accuracy` or
`sparse_categorical_accuracy`, by the loss and the shape of the output. So the meaning of "accuracy"
depends on the loss. With binary_crossentropy, it counts the right *entries* of one-hot rows, not
the right rows.

Files: `functions` (metrics of Keras 1 and 2), `classes` (metrics as objects, and Keras 3's metrics
that are means), `stateful` (metrics that are not means: precision, recall, AUC and so on).
"""

# ruff: noqa: F403, F405 (each module's __all__ says which names it has)

from __future__ import annotations

from typing import Any

from kerascope.losses import functions as losses
from kerascope.losses.functions import *
from kerascope.metrics import classes, functions, stateful
from kerascope.metrics.classes import *
from kerascope.metrics.functions import *
from kerascope.metrics.functions import averaged, registry
from kerascope.metrics.stateful import *
from kerascope.missing_names import answer_missing_names
from kerascope.spellings import dialect_options

__all__ = [
    *losses.__all__,
    *functions.__all__,
    *classes.__all__,
    *stateful.__all__,
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "cosine",
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

# Losses that Keras 1 has as metrics too, where each returns the mean of the batch.
binary_crossentropy = registry.register(averaged(losses.binary_crossentropy))
categorical_crossentropy = registry.register(averaged(losses.categorical_crossentropy))
cosine_proximity = registry.register(averaged(losses.cosine_proximity))
hinge = registry.register(averaged(losses.hinge))
kullback_leibler_divergence = registry.register(averaged(losses.kullback_leibler_divergence))
mean_absolute_error = registry.register(averaged(losses.mean_absolute_error))
mean_absolute_percentage_error = registry.register(averaged(losses.mean_absolute_percentage_error))
mean_squared_error = registry.register(averaged(losses.mean_squared_error))
mean_squared_logarithmic_error = registry.register(averaged(losses.mean_squared_logarithmic_error))
poisson = registry.register(averaged(losses.poisson))
sparse_categorical_crossentropy = registry.register(
    averaged(losses.sparse_categorical_crossentropy)
)
squared_hinge = registry.register(averaged(losses.squared_hinge))

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
log_cosh = logcosh
cosine = cosine_proximity


def serialize(metric: Any) -> Any:
    """Convert a metric function to its name, and a metric object to {"class_name", "config"}."""
    return _registry.serialize(metric)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Return a metric from its name or from the configuration of a Keras 3 metric.

    Raises
    ------
    UnknownNameError
        No metric has this name; the message suggests the nearest one.
    ConfigError
        The configuration has an argument that the metric does not take.
    """
    return _registry.deserialize(config, custom_objects)


def get(identifier: Any) -> Any:
    """Return the metric for a name or a configuration.

    A function, a metric object and None are returned unchanged.

    Raises
    ------
    UnknownNameError
        No metric has this name; the message suggests the nearest one.

    Examples
    --------
    >>> get("mae").__name__
    'mean_absolute_error'
    """
    if identifier in ("precision", "recall") and dialect_options().metrics_of_batches:
        return precision if identifier == "precision" else recall
    return deserialize(identifier)


answer_missing_names(__name__)
