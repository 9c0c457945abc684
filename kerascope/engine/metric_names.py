"""Finds the function of a metric by its name, and the name of a metric in the logs."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Any

from kerascope import losses, metrics
from kerascope.backend.graph import Tensor
from kerascope.engine.arguments import distinct_names
from kerascope.losses.classes import takes_class_numbers, wants_targets_like_predictions
from kerascope.metrics.functions import accuracy_by_shapes
from kerascope.spellings import dialect_options


def is_of_a_user(function: Any) -> bool:
    """Return whether a function was written by the user, and not by kerascope.

    One reason to check: a metric that the user wrote may return a dict, as in Keras 1.
    """
    return isfunction(function) and not str(function.__module__).startswith("kerascope.")


def resolve_metric(metric: Any, loss: Any, output: Tensor) -> tuple[str, Any]:
    """Return a metric's name in the logs, and its function."""
    keeps_word = dialect_options().metrics_keep_words and isinstance(metric, str)
    if metric in ("accuracy", "acc"):
        return metric if keeps_word else "acc", _accuracy(loss, output)
    if metric in ("crossentropy", "ce"):
        return metric, _crossentropy(loss, output)
    function = metrics.get(metric)
    own_name = getattr(function, "name", type(function).__name__)
    if isinstance(function, losses.Loss) and not keeps_word:
        return own_name, function
    return metric if keeps_word else getattr(function, "__name__", own_name), function


def key_in_logs(taken: list[str], name: str, output_name: str, weights: Any) -> str:
    """Return the key of a metric in the logs, such as `dense_2_weighted_acc`.

    Parameters
    ----------
    taken : list of str
        The keys of the metrics before this one. If the key is among them, a number is appended.
    name, output_name : str
        The name of the metric, and the name of its output, which is empty for a single output.
    weights : Tensor or None
        The sample weights, if the metric is weighted.
    """
    before = f"{output_name}_" if output_name else ""
    is_free = f"{before}{name}" not in taken
    is_plain = weights is None or (dialect_options().metrics_keep_words and is_free)
    key = f"{before}{name}" if is_plain else f"{before}weighted_{name}"
    return distinct_names([*taken, key])[-1]


def _accuracy(loss: Any, output: Tensor) -> Callable[..., Tensor]:
    """Return the accuracy that fits an output and its loss.

    For an output with one unit, and in Keras 2 for binary_crossentropy, the accuracy rounds the
    output. Otherwise it compares the position of the largest entry of the output with the label: a
    class number if the loss takes class numbers, otherwise the position of the largest entry of the
    label. In Keras 3 a loss written by the user may take both kinds of labels, and the shape of the
    data decides which of them it gets.
    """
    if _is_binary(loss, output):
        return metrics.binary_accuracy
    if takes_class_numbers(loss):
        return metrics.sparse_categorical_accuracy
    if dialect_options().accuracy_by_shapes and not wants_targets_like_predictions(loss):
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
    return is_binary_loss and not dialect_options().accuracy_by_shapes
