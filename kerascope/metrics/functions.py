"""The metrics of Keras 1 and 2: functions of targets and predictions."""

from __future__ import annotations

from collections.abc import Callable

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.losses import ALIASES
from kerascope.losses import functions as losses
from kerascope.registry import Registry

__all__ = [
    "binary_accuracy",
    "categorical_accuracy",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]

# These four are understood by `compile`, which knows the loss.
registry = Registry("metric", words=("accuracy", "acc", "crossentropy", "ce"))

Metric = Callable[[Tensor, Tensor], Tensor]


@registry.register
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


@registry.register
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


@registry.register
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


def accuracy_by_shapes(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return `sparse_categorical_accuracy` for targets of one number, else `categorical_accuracy`.

    Which of the two is seen when the data comes.
    """
    places = K.argmax(y_true, axis=-1)
    classes = K.switch(K.equal(K.shape(y_true)[-1], 1), K.cast(y_true[..., 0], "int64"), places)
    return K.cast(K.equal(classes, K.argmax(y_pred, axis=-1)), K.floatx())


@registry.register
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


@registry.register
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


for _name in losses.__all__:
    # Keras 3's cosine similarity has, as a metric, the other sign.
    _aliases = ("cosine",) if _name == "cosine_proximity" else ALIASES.get(_name, ())
    registry.register(getattr(losses, _name), *_aliases)
