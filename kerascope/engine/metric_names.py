"""Which function a metric's name means, and whose function it is."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Any

from kerascope import losses, metrics
from kerascope.backend.graph import Tensor
from kerascope.losses.classes import takes_class_numbers, wants_targets_like_predictions
from kerascope.metrics.functions import accuracy_by_shapes
from kerascope.spellings import habits


def is_of_a_user(function: Any) -> bool:
    """Tell whether a metric may give a dict of numbers, as a function of a user may in Keras 1."""
    return isfunction(function) and not str(function.__module__).startswith("kerascope.")


def resolve_metric(metric: Any, loss: Any, output: Tensor) -> tuple[str, Any]:
    """Return a metric's name in the logs, and its function."""
    keeps_word = habits().metrics_keep_words and isinstance(metric, str)
    if metric in ("accuracy", "acc"):
        return metric if keeps_word else "acc", _accuracy(loss, output)
    if metric in ("crossentropy", "ce"):
        return metric, _crossentropy(loss, output)
    function = metrics.get(metric)
    own_name = getattr(function, "name", type(function).__name__)
    if isinstance(function, losses.Loss) and not keeps_word:
        return own_name, function
    return metric if keeps_word else getattr(function, "__name__", own_name), function


def _accuracy(loss: Any, output: Tensor) -> Callable[..., Tensor]:
    """Return the accuracy that fits an output and its loss.

    Rounding for one unit, and in Keras 2 for binary_crossentropy; the index of the label for a loss
    that takes class numbers; else the largest entry. In dialect "3" a loss of somebody else
    may take targets of either shape: then that of the data decides.
    """
    if _is_binary(loss, output):
        return metrics.binary_accuracy
    if takes_class_numbers(loss):
        return metrics.sparse_categorical_accuracy
    if habits().accuracy_by_shapes and not wants_targets_like_predictions(loss):
        return accuracy_by_shapes
    return metrics.categorical_accuracy


def _crossentropy(loss: Any, output: Tensor) -> Callable[..., Tensor]:
    if _is_binary(loss, output):
        return metrics.binary_crossentropy
    if takes_class_numbers(loss):
        return metrics.sparse_categorical_crossentropy
    return metrics.categorical_crossentropy


def _is_binary(loss: Any, output: Tensor) -> bool:
    if output.shape[-1] == 1:
        return True
    is_binary_loss = losses.plain_function(loss) is losses.binary_crossentropy
    return is_binary_loss and not habits().accuracy_by_shapes
