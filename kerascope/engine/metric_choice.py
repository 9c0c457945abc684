"""Which function a metric's name means for an output and its loss, and what the logs call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope import losses, metrics
from kerascope.backend.graph import Tensor
from kerascope.losses.classes import wants_targets_like_predictions
from kerascope.metrics.functions import accuracy_by_shapes
from kerascope.spellings import habits


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

    Rounding for one unit, and in Keras 2 for binary_crossentropy; the index of the label for
    sparse_categorical_crossentropy; else the largest entry. In dialect "3" a loss of somebody else
    may take targets of either shape: then that of the data decides.
    """
    if _is_binary(loss, output):
        return metrics.binary_accuracy
    if losses.plain_function(loss) is losses.sparse_categorical_crossentropy:
        return metrics.sparse_categorical_accuracy
    if habits().accuracy_by_shapes and not wants_targets_like_predictions(loss):
        return accuracy_by_shapes
    return metrics.categorical_accuracy


def _crossentropy(loss: Any, output: Tensor) -> Callable[..., Tensor]:
    if _is_binary(loss, output):
        return metrics.binary_crossentropy
    if losses.plain_function(loss) is losses.sparse_categorical_crossentropy:
        return metrics.sparse_categorical_crossentropy
    return metrics.categorical_crossentropy


def _is_binary(loss: Any, output: Tensor) -> bool:
    if output.shape[-1] == 1:
        return True
    is_binary_loss = losses.plain_function(loss) is losses.binary_crossentropy
    return is_binary_loss and not habits().accuracy_by_shapes


def key_in_logs(taken: list[str], name: str, output_name: str, weights: Any) -> str:
    """Return the key of a metric in the logs, with that of its output and `weighted_` in front."""
    before = f"{output_name}_" if output_name else ""
    is_free = f"{before}{name}" not in taken
    is_plain = weights is None or (habits().metrics_keep_words and is_free)
    return f"{before}{name}" if is_plain else f"{before}weighted_{name}"
