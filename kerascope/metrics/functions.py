"""The metrics of Keras 1 and 2: functions of targets and predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.elementwise import floating
from kerascope.errors import ArgumentError
from kerascope.losses import ALIASES
from kerascope.losses import functions as losses
from kerascope.registry import Registry
from kerascope.spellings import dialect_options

__all__ = [
    "binary_accuracy",
    "categorical_accuracy",
    "concordance_correlation",
    "f1score",
    "fbeta_score",
    "fmeasure",
    "fscore",
    "matthews_correlation",
    "pearson_correlation",
    "precision",
    "recall",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]

# `compile` translates these four words into a metric, according to the loss.
registry = Registry("metric", words=("accuracy", "acc", "crossentropy", "ce"))

Metric = Callable[[Tensor, Tensor], Tensor]
Function = TypeVar("Function", bound=Callable[..., Tensor])
Axes = int | tuple[int, ...] | list[int]


def averaged(function: Function) -> Function:
    """Decorate a metric so that it returns the mean of the batch in dialect "1.2"."""

    @wraps(function)
    def metric(*args: Any, **kwargs: Any) -> Any:
        scores = function(*args, **kwargs)
        return K.mean(scores) if dialect_options().averaged_metrics == "all" else scores

    metric.__module__ = "kerascope.metrics"  # where `pickle` finds the metric
    metric.averages = function  # type: ignore[attr-defined]
    return metric  # type: ignore[return-value]


@registry.register
@averaged
@at_once_on_arrays
def binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float = 0.5) -> Tensor:
    """Return the share of entries in the last axis that are right after rounding.

    In dialect "3", return 1 or 0 for each entry instead of the share.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., features)
        Zeros and ones.
    y_pred : Tensor, shape (batch, ..., features), float
        Probabilities.
    threshold : float
        Greater predictions count as 1.

    Returns
    -------
    Tensor, shape (batch, ...), float

    Notes
    -----
    mean(equal(y, round(p))); with another threshold, or in dialect "3", equal(y, p > threshold)

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y, p = K.constant([[1.0, 0.0]]), K.constant([[0.9, 0.8]])
    >>> K.eval(binary_accuracy(y, p)).tolist()
    [0.5]
    """
    each = dialect_options().accuracy_by_shapes
    if threshold == 0.5 and not each:
        return K.mean(K.equal(y_true, K.round(y_pred)), axis=-1)
    are_right = K.equal(y_true, K.cast(K.greater(y_pred, threshold), K.dtype(y_true)))
    return K.cast(are_right, K.floatx()) if each else K.mean(are_right, axis=-1)


@registry.register
@averaged
@at_once_on_arrays
def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return 1 where the right class has the greatest prediction, 0 elsewhere.

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


@registry.register
@averaged
@at_once_on_arrays
def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return 1 where the right class has the greatest prediction, 0 elsewhere.

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


def accuracy_by_shapes(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return `sparse_categorical_accuracy` if the last axis of targets has size 1.

    Otherwise return `categorical_accuracy`. The shape of the data decides, at run time.
    """
    places = K.argmax(y_true, axis=-1)
    classes = K.switch(K.equal(K.shape(y_true)[-1], 1), K.cast(y_true[..., 0], "int64"), places)
    return K.cast(K.equal(classes, K.argmax(y_pred, axis=-1)), K.floatx())


@registry.register
@averaged
@at_once_on_arrays
def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """Return 1 where the right class is among the `k` greatest predictions, 0 elsewhere.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets.
    y_pred : Tensor, shape (batch, ..., classes), float
    k : int
        Number of greatest predictions that are considered.

    Returns
    -------
    Tensor, float
        Shape (batch, ...) in dialect "3". Keras 1 and 2 return the mean over the last of these
        axes: a scalar for predictions of shape (batch, classes).
    """
    return _in_top_k(K.argmax(y_true, axis=-1), y_pred, k)


@registry.register
@averaged
@at_once_on_arrays
def sparse_top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """Return 1 where the right class is among the `k` greatest predictions, 0 elsewhere.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ...) or (batch, ..., 1)
        Numbers of the classes, counted from 0.
    y_pred : Tensor, shape (batch, ..., classes), float
    k : int
        Number of greatest predictions that are considered.

    Returns
    -------
    Tensor, float
        Shape (batch, ...) in dialect "3". Keras 1 and 2 return the mean over the last of these
        axes: a scalar for predictions of shape (batch, classes).
    """
    return _in_top_k(_class_numbers(y_true, y_pred), y_pred, k)


def _class_numbers(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return class numbers, without the last axis if their rank equals the predictions' rank."""
    return K.squeeze(y_true, -1) if K.ndim(y_true) == K.ndim(y_pred) else y_true


def _in_top_k(classes: Tensor, y_pred: Tensor, k: int) -> Tensor:
    """Return 1 where fewer than `k` predictions are greater than that of the right class, else 0.

    In other dialects than "3", return the mean over the last axis. `K.in_top_k` returns the same,
    but only for predictions with two axes.
    """
    one_hot = K.one_hot(K.cast(classes, "int32"), K.int_shape(y_pred)[-1])
    score = K.sum(y_pred * K.cast(one_hot, K.dtype(y_pred)), axis=-1, keepdims=True)
    stronger = K.sum(K.cast(K.greater(y_pred, score), "int32"), axis=-1)
    among = K.cast(K.less(stronger, k), K.floatx())
    return among if dialect_options().averaged_metrics == "none" else K.mean(among, axis=-1)


# --- of Keras 3 -----------------------------------------------------------------------------------


@at_once_on_arrays
def pearson_correlation(y_true: Tensor, y_pred: Tensor, axis: Axes = -1) -> Tensor:
    """Return the correlation of targets and predictions, from -1 to 1.

    The result is NaN where targets or predictions are constant along the axis.

    Parameters
    ----------
    y_true, y_pred : Tensor, of equal shape
    axis : int or list of int
        Axis or axes along which targets and predictions are compared.

    Notes
    -----
    cov(y, p) / (std(y) * std(p))
    """
    y, p = (_centred(x, axis) for x in _floats(y_true, y_pred))
    lengths = K.sqrt(K.sum(K.square(y), axis=axis)) * K.sqrt(K.sum(K.square(p), axis=axis))
    return K.sum(y * p, axis=axis) / lengths


@at_once_on_arrays
def concordance_correlation(y_true: Tensor, y_pred: Tensor, axis: Axes = -1) -> Tensor:
    """Return the agreement of predictions with targets, from -1 to 1, where 1 means equality.

    Parameters
    ----------
    y_true, y_pred, axis
        As for `pearson_correlation`.

    Notes
    -----
    2 cov(y, p) / (var(y) + var(p) + (mean(y) - mean(p))^2 + epsilon)

    References
    ----------
    1. Lin: A Concordance Correlation Coefficient to Evaluate Reproducibility, 1989.
    """
    y_true, y_pred = _floats(y_true, y_pred)
    y, p = (_centred(x, axis) for x in (y_true, y_pred))
    apart = K.square(K.mean(y_true, axis=axis) - K.mean(y_pred, axis=axis))
    spread = K.mean(K.square(y) + K.square(p), axis=axis)
    return 2.0 * K.mean(y * p, axis=axis) / (spread + apart + losses.margin_of(y_pred))


def _floats(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    y_pred = floating(y_pred)
    return K.cast(y_true, y_pred.dtype), y_pred


def _centred(x: Tensor, axis: Axes) -> Tensor:
    return x - K.mean(x, axis=axis, keepdims=True)


# --- losses as metrics ----------------------------------------------------------------------------

for _name in losses.__all__:
    # The loss's other names are not metrics: Keras 3's metric has the opposite sign.
    _aliases = ("cosine",) if _name == "cosine_proximity" else ALIASES.get(_name, ())
    registry.register(getattr(losses, _name), *_aliases)


# --- of Keras 1: one number for a batch, computed from entries rounded to 0 and 1 -----------------


def _rounded(x: Tensor) -> Tensor:
    return K.round(K.clip(x, 0, 1))


def precision(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return the precision of a batch: the share of the entries predicted as 1 with target 1.

    Logs show the mean over the batches; `Precision` counts over all batches.

    Examples
    --------
    >>> y, p = K.constant([[1.0, 0.0, 1.0]]), K.constant([[0.9, 0.8, 0.1]])
    >>> round(float(K.eval(precision(y, p))), 4), round(float(K.eval(recall(y, p))), 4)
    (0.5, 0.5)
    """
    return K.sum(_rounded(y_true * y_pred)) / (K.sum(_rounded(y_pred)) + K.epsilon())


def recall(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return the recall of a batch: the share of the entries with target 1 predicted as 1."""
    return K.sum(_rounded(y_true * y_pred)) / (K.sum(_rounded(y_true)) + K.epsilon())


@registry.register
@at_once_on_arrays
def fbeta_score(y_true: Tensor, y_pred: Tensor, beta: float = 1) -> Tensor:
    """Return the weighted harmonic mean of precision and recall; recall weighs beta times as much.

    Raises
    ------
    ArgumentError
        `beta` is below 0.

    Notes
    -----
    (1 + beta^2) precision recall / (beta^2 precision + recall)
    """
    if beta < 0:
        raise ArgumentError(f"fbeta_score: expected beta of at least 0, got {beta}.")
    p, r, square = precision(y_true, y_pred), recall(y_true, y_pred), beta**2
    return (1 + square) * (p * r) / (square * p + r + K.epsilon())


def fmeasure(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return `fbeta_score` with beta = 1."""
    return fbeta_score(y_true, y_pred)


fscore = f1score = registry.register(fmeasure, "fscore", "f1score")


@registry.register
@at_once_on_arrays
def matthews_correlation(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return Matthews' correlation of rounded targets and predictions of a batch, from -1 to 1.

    References
    ----------
    1. Matthews: Comparison of the predicted and observed secondary structure of T4 phage lysozyme,
       1975.
    """
    y, p = _rounded(y_true), _rounded(y_pred)
    hits, passes = K.sum(y * p), K.sum((1 - y) * (1 - p))
    false_alarms, misses = K.sum((1 - y) * p), K.sum(y * (1 - p))
    positives = (hits + false_alarms) * (hits + misses)
    negatives = (passes + false_alarms) * (passes + misses)
    difference = hits * passes - false_alarms * misses
    return difference / (K.sqrt(positives * negatives) + K.epsilon())
