"""Metrics: numbers that are reported while a model is trained, and never differentiated.

Each takes targets and predictions like a loss and returns one number for each sample; the model
reports their mean. Every loss can serve as a metric. `metrics=["accuracy"]` is no function of this
file: `compile` looks at the loss and at the shape of the output and takes `binary_accuracy`,
`categorical_accuracy` or `sparse_categorical_accuracy`. So the same word means different things:
under binary_crossentropy it counts right *entries* of a one-hot row, not right rows.

Keras keeps these functions in `keras.metrics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.losses import (
    ALIASES,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    check_neutral,
    cosine_proximity,
    hinge,
    kullback_leibler_divergence,
    logcosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from kerascope.registry import Registry

# These four are understood by `compile`, which knows the loss.
_registry = Registry("metric", words=("accuracy", "acc", "crossentropy", "ce"))

Metric = Callable[[Tensor, Tensor], Tensor]


@_registry.alias("BinaryAccuracy")
def binary_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return the share of entries in the last axis that are right after rounding.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., features)
        Zeros and ones.
    y_pred : Tensor, shape (batch, ..., features), float
        Probabilities; 0.5 is rounded to 0.

    Returns
    -------
    Tensor, shape (batch, ...), float

    Notes
    -----
    mean(equal(y, round(p)))

    Examples
    --------
    >>> y, p = K.constant([[1.0, 0.0]]), K.constant([[0.9, 0.8]])
    >>> K.eval(binary_accuracy(y, p)).tolist()
    [0.5]
    """
    return K.mean(K.equal(y_true, K.round(y_pred)), axis=-1)


@_registry.alias("CategoricalAccuracy")
def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return 1 where the greatest prediction is that of the right class, else 0.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets.
    y_pred : Tensor, shape (batch, ..., classes), float

    Returns
    -------
    Tensor, shape (batch, ...), float
    """
    right = K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1))
    return K.cast(right, K.floatx())


@_registry.alias("SparseCategoricalAccuracy")
def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return 1 where the greatest prediction is that of the right class, else 0.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ...) or (batch, ..., 1)
        Numbers of the classes, counted from 0.
    y_pred : Tensor, shape (batch, ..., classes), float

    Returns
    -------
    Tensor, shape (batch, ...), float
    """
    classes = _class_numbers(y_true, y_pred)
    right = K.equal(classes, K.cast(K.argmax(y_pred, axis=-1), K.dtype(classes)))
    return K.cast(right, K.floatx())


@_registry.alias("TopKCategoricalAccuracy")
def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """Return 1 where the right class is among the `k` greatest predictions, else 0.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets.
    y_pred : Tensor, shape (batch, ..., classes), float
    k : int

    Returns
    -------
    Tensor, shape (batch, ...), float
    """
    return _among_greatest(K.argmax(y_true, axis=-1), y_pred, k)


@_registry.alias("SparseTopKCategoricalAccuracy")
def sparse_top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """Return 1 where the right class is among the `k` greatest predictions, else 0.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ...) or (batch, ..., 1)
        Numbers of the classes, counted from 0.
    y_pred : Tensor, shape (batch, ..., classes), float
    k : int

    Returns
    -------
    Tensor, shape (batch, ...), float
    """
    return _among_greatest(_class_numbers(y_true, y_pred), y_pred, k)


def _class_numbers(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return sparse targets without the last axis of size 1 that they may have."""
    return K.squeeze(y_true, -1) if K.ndim(y_true) == K.ndim(y_pred) else y_true


def _among_greatest(classes: Tensor, y_pred: Tensor, k: int) -> Tensor:
    """Return 1 where fewer than `k` classes are predicted more strongly than the right one.

    `K.in_top_k` says the same for predictions of two axes; this holds for any number of them.
    """
    one_hot = K.one_hot(K.cast(classes, "int32"), K.int_shape(y_pred)[-1])
    score = K.sum(y_pred * K.cast(one_hot, K.dtype(y_pred)), axis=-1, keepdims=True)
    stronger = K.sum(K.cast(K.greater(y_pred, score), "int32"), axis=-1)
    return K.cast(K.less(stronger, k), K.floatx())


for _loss in (
    mean_squared_error,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_logarithmic_error,
    hinge,
    squared_hinge,
    categorical_hinge,
    logcosh,
    categorical_crossentropy,
    sparse_categorical_crossentropy,
    binary_crossentropy,
    kullback_leibler_divergence,
    poisson,
    cosine_proximity,
):
    # Keras 3's cosine similarity has, as a metric, the other sign.
    _names = ("cosine",) if _loss is cosine_proximity else ALIASES[_loss.__name__]
    _registry.register(_loss, *_names)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_proximity

serialize = _registry.serialize


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Metric:
    """Return a metric from its name or from the configuration of a Keras 3 metric.

    Raises
    ------
    UnknownNameError
        No metric has this name; the message suggests the nearest one.
    ConfigError
        The configuration asks for more than the function can do, such as `threshold=0.7`.
    """
    metric = _registry.deserialize(config, custom_objects)
    if isinstance(config, dict) and metric in dict(_registry.items()).values():
        check_neutral(f"metric {metric.__name__!r}", config.get("config") or {})
    return metric


def get(identifier: Any) -> Metric | None:
    """Return a metric by name, configuration or function; None is None.

    Raises
    ------
    UnknownNameError
        No metric has this name; the message suggests the nearest one.

    Examples
    --------
    >>> get("mae").__name__
    'mean_absolute_error'
    """
    return deserialize(identifier)
