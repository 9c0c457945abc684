"""Losses as functions of targets and predictions: one number for each sample.

The losses of Keras 1 and 2 come first, then those that are new in Keras 3. Arguments other than
targets and predictions are those of Keras 3; the classes in `classes.py`, such as `Huber`, store
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from kerascope import backend as K
from kerascope.backend.dtypes import is_float
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import normalize_axis
from kerascope.registry import Registry
from kerascope.spellings import dialect_options

__all__ = [
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "cosine_proximity",
    "hinge",
    "huber",
    "kullback_leibler_divergence",
    "logcosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "poisson",
    "sparse_categorical_crossentropy",
    "squared_hinge",
]

registry = Registry("loss")
Loss = TypeVar("Loss", bound=Callable[..., Tensor])

# Other names of losses: the short names of Keras 1 and 2, and Keras 3's. Metrics share them.
ALIASES: dict[str, tuple[str, ...]] = {
    "mean_squared_error": ("mse", "MSE"),
    "mean_absolute_error": ("mae", "MAE"),
    "mean_absolute_percentage_error": ("mape", "MAPE"),
    "mean_squared_logarithmic_error": ("msle", "MSLE"),
    "logcosh": ("log_cosh",),
    "kullback_leibler_divergence": ("kld", "KLD", "kl_divergence"),
    "cosine_proximity": ("cosine", "cosine_similarity"),
}


def _register(loss: Loss) -> Loss:
    return registry.register(at_once_on_arrays(loss), *ALIASES.get(loss.__name__, ()))


@_register
def mean_squared_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean (p - y)^2 over the last axis.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., features)
        Targets y.
    y_pred : Tensor, shape (batch, ..., features), float
        Predictions p.

    Returns
    -------
    Tensor, shape (batch, ...), float

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y, p = K.constant([[0.0, 1.0]]), K.constant([[2.0, 1.0]])
    >>> K.eval(mean_squared_error(y, p)).tolist()
    [2.0]
    """
    return K.mean(K.square(y_pred - y_true), axis=-1)


@_register
def mean_absolute_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean `|p - y|` over the last axis, for targets y and predictions p."""
    return K.mean(K.abs(y_pred - y_true), axis=-1)


@_register
def mean_absolute_percentage_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return `100 * mean |p - y| / |y|` over the last axis, for targets y and predictions p.

    If `|y|` is smaller than `K.epsilon()`, then `K.epsilon()` is used in its place.
    """
    size = K.clip(K.abs(y_true), margin_of(y_pred), None)
    return 100.0 * K.mean(K.abs((y_true - y_pred) / size), axis=-1)


@_register
def mean_squared_logarithmic_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean (log(1 + p) - log(1 + y))^2 for targets y and predictions p.

    The mean is over the last axis. A y or p below `K.epsilon()` is replaced by it.
    """
    first_log = K.log(K.clip(y_pred, margin_of(y_pred), None) + 1.0)
    second_log = K.log(K.clip(y_true, margin_of(y_pred), None) + 1.0)
    return K.mean(K.square(first_log - second_log), axis=-1)


@_register
def logcosh(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean log(cosh(p - y)) over the last axis, for targets y and predictions p.

    Notes
    -----
    With x = p - y, the loss is close to x^2 / 2 near 0 and to `|x| - log 2` far from 0. The formula
    is x + softplus(-2x) - log 2, because cosh(x) itself overflows in float32 from x = 89 on.
    """
    x = y_pred - y_true
    return K.mean(x + K.softplus(-2.0 * x) - math.log(2.0), axis=-1)


@_register
def hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0) over the last axis, for targets y and predictions p.

    The targets are -1 and 1. In dialect "3" the targets may also be 0 and 1, where 0 means -1.
    """
    y_true = signs_of_bits(y_true) if dialect_options().bits_are_signs else y_true
    return K.mean(K.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


@_register
def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0)^2 over the last axis, for targets y and predictions p.

    The targets are -1 and 1. In dialect "3" the targets may also be 0 and 1, where 0 means -1.
    """
    y_true = signs_of_bits(y_true) if dialect_options().bits_are_signs else y_true
    return K.mean(K.square(K.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


@_register
def categorical_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return max(1 + greatest p of a wrong class - p of the right class, 0) for predictions p.

    The targets are one-hot vectors.
    """
    right = K.sum(y_true * y_pred, axis=-1)
    wrong = K.max((1.0 - y_true) * y_pred, axis=-1)
    return K.maximum(wrong - right + 1.0, 0.0)


@_register
def categorical_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return -sum y log p over the classes, for targets y and predicted probabilities p.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets, or probabilities.
    y_pred : Tensor, shape (batch, ..., classes)
        Probabilities, as `softmax` returns them. They are divided by their sum and kept epsilon
        away from 0 and 1.
    from_logits : bool
        Whether `y_pred` contains logits: the values before `softmax`.
    label_smoothing : float
        Share of the targets that is spread over all classes.
    axis : int
        Axis of the classes.
    """
    y_true = _smoothed(y_true, label_smoothing, _classes(y_pred, axis))
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


@_register
def sparse_categorical_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Tensor:
    """Return -log of the predicted probability of the right class; 0 if it is `ignore_class`.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ...) or (batch, ..., 1)
        Numbers of the classes, counted from 0.
    y_pred : Tensor, shape (batch, ..., classes)
        Probabilities.
    from_logits : bool
        Whether `y_pred` contains logits: the values before `softmax`.
    ignore_class : int, optional
        Samples of this class have the loss 0.
    axis : int
        Axis of the classes.
    """
    counts = counted_classes(y_true, y_pred, ignore_class, axis)
    if counts is None:
        return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)
    y_true = _class_numbers(y_true, y_pred, axis)
    kept = y_true * K.cast(counts, K.dtype(y_true))  # an ignored class becomes a valid class, 0
    y_pred = K.switch(K.expand_dims(counts, axis), y_pred, K.zeros_like(y_pred))  # NaN too
    loss = K.sparse_categorical_crossentropy(kept, y_pred, from_logits=from_logits, axis=axis)
    return loss * K.cast(counts, K.dtype(loss))


@_register
def binary_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the binary crossentropy: mean -(y log p + (1 - y) log(1 - p)) over the last axis.

    y are the targets, and p the predicted probabilities. `y_pred` contains p, as `sigmoid` returns
    them; they are kept epsilon away from 0 and 1. With `from_logits`, `y_pred` contains logits: the
    values before `sigmoid`. `label_smoothing` is the share by which targets move towards 1/2.
    """
    y_true = _smoothed(y_true, label_smoothing, 2)
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=axis)


@_register
def kullback_leibler_divergence(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return sum y log(y / p) over the last axis, for targets y and predictions p.

    Both are clipped to [`K.epsilon()`, 1].
    """
    margin = margin_of(y_pred)
    y_true = K.clip(y_true, margin, 1.0)
    y_pred = K.clip(y_pred, margin, 1.0)
    return K.sum(y_true * (K.log(y_true) - K.log(y_pred)), axis=-1)


@_register
def poisson(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean (p - y log(p + epsilon)) over the last axis, for targets y and predictions p."""
    return K.mean(y_pred - y_true * K.log(y_pred + margin_of(y_pred)), axis=-1)


@_register
def cosine_proximity(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """Return minus the cosine of the angle between targets and predictions along `axis`.

    It is -1 if both point in the same direction. In dialect "1.2" the cosine is divided by the
    number of features, as in Keras 1.
    """
    y_true, y_pred = K.l2_normalize(y_true, axis=axis), K.l2_normalize(y_pred, axis=axis)
    total = K.mean if dialect_options().cosine_is_mean else K.sum
    return -total(y_true * y_pred, axis=axis)


def margin_of(y_pred: Tensor) -> float:
    """Return the smallest number to divide by, or to take the log of, in the predictions' dtype.

    This is `epsilon`, but in float16 at least 0.0005, because 1 / 1e-7 would be infinite.
    """
    dtype = K.dtype(y_pred)
    return max(K.epsilon(), float(np.finfo(dtype if is_float(dtype) else K.floatx()).epsneg))


def signs_of_bits(y_true: Tensor) -> Tensor:
    """Return targets with -1 instead of 0 if all of them are 0 or 1, otherwise unchanged."""
    is_bit = K.equal(y_true * (y_true - 1.0), 0.0)
    are_bits = K.cast(K.all(is_bit), K.dtype(y_true))
    return are_bits * (2.0 * y_true - 1.0) + (1.0 - are_bits) * y_true


# --- of Keras 3 -----------------------------------------------------------------------------------


@_register
def huber(y_true: Tensor, y_pred: Tensor, delta: float = 1.0) -> Tensor:
    """Return the mean Huber loss over the last axis.

    It is half the square of an error up to `delta`, and linear for greater errors.

    Notes
    -----
    The loss for `e = |p - y|`, with the target y and the prediction p, is e^2 / 2 where e <= delta,
    otherwise delta * (e - delta / 2).
    """
    error = K.abs(y_pred - y_true)
    near = K.minimum(error, delta)
    return K.mean(near * (error - 0.5 * near), axis=-1)


@_register
def binary_focal_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the binary crossentropy with small weights for values that are predicted well.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., features)
        Zeros and ones.
    y_pred : Tensor, shape (batch, ..., features)
        Probabilities, or logits with `from_logits`.
    apply_class_balancing : bool
        Whether the loss is multiplied by `alpha` for ones and by 1 - alpha for zeros.
    alpha : float
        See `apply_class_balancing`.
    gamma : float
        How much less the values that are predicted well count. With 0, all count equally.
    from_logits : bool
        Whether `y_pred` contains logits: the values before the sigmoid.
    label_smoothing : float
        Share by which targets move towards 1/2.
    axis : int
        Axis over which the mean is taken.

    Notes
    -----
    mean (1 - q)^gamma * -log q, where q is the predicted probability of the right answer.

    References
    ----------
    1. Lin et al.: Focal Loss for Dense Object Detection, ICCV 2017.
    """
    y_true = _smoothed(y_true, label_smoothing, 2)
    p = K.sigmoid(y_pred) if from_logits else y_pred
    right = y_true * p + (1.0 - y_true) * (1.0 - p)
    loss = K.pow(1.0 - right, gamma) * K.binary_crossentropy(y_true, p)
    if apply_class_balancing:
        loss = loss * (y_true * alpha + (1.0 - y_true) * (1.0 - alpha))
    return K.mean(loss, axis=axis)


@_register
def categorical_focal_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the crossentropy with small weights for classes that are predicted well.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets.
    y_pred : Tensor, shape (batch, ..., classes)
        Probabilities, or logits with `from_logits`.
    alpha : float or list of float
        Factor of the loss, or one factor for each class.
    gamma : float
        How much less the classes that are predicted well count. With 0, all count equally.
    from_logits : bool
        Whether `y_pred` contains logits: the values before the softmax.
    label_smoothing : float
        Share of the targets that is spread over all classes.
    axis : int
        Axis of the classes.

    Notes
    -----
    sum_k alpha (1 - p_k)^gamma * -y_k log p_k
    """
    y_true = _smoothed(y_true, label_smoothing, _classes(y_pred, axis))
    p = K.softmax(y_pred, axis=axis) if from_logits else y_pred
    p = p / K.sum(p, axis=axis, keepdims=True)
    margin = margin_of(p)
    p = K.clip(p, margin, 1.0 - margin)
    weight = K.pow(1.0 - p, gamma) * alpha
    return K.sum(-weight * y_true * K.log(p), axis=axis)


@at_once_on_arrays
def categorical_generalized_cross_entropy(y_true: Tensor, y_pred: Tensor, q: float) -> Tensor:
    """Return (1 - p^q) / q, where p is the predicted probability of the right class.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ...) or (batch, ..., 1)
        Numbers of the classes, counted from 0; p is 0 for a class that does not exist.
    y_pred : Tensor, shape (batch, ..., classes)
        Probabilities.
    q : float
        Near 0 the loss is close to the crossentropy. The nearer `q` is to 1, the less a wrong label
        matters.

    References
    ----------
    1. Zhang, Sabuncu: Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy
       Labels, 2018.
    """
    places = K.expand_dims(K.cast(_class_numbers(y_true, y_pred, -1), "int64"), -1)
    is_right = K.equal(places, K.arange(_classes(y_pred, -1), dtype="int64"))
    right = K.sum(y_pred * K.cast(is_right, K.dtype(y_pred)), axis=-1)
    return (1.0 - K.pow(right, q)) / q


# Losses whose targets are class numbers, one for each sample or (`ctc`) a sequence of them.
of_class_numbers = {sparse_categorical_crossentropy, categorical_generalized_cross_entropy}


def counted_classes(
    y_true: Tensor, y_pred: Tensor, ignore_class: int | None, axis: int = -1
) -> Tensor | None:
    """Return a mask of the targets that are not `ignore_class`; None if no class is ignored."""
    if ignore_class is None:
        return None
    return K.not_equal(_class_numbers(y_true, y_pred, axis), ignore_class)


def hinge_of_bits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0) over the last axis, for targets y and predictions p.

    The targets are -1 and 1, or 0 and 1, where 0 means -1.
    """
    return hinge(signs_of_bits(y_true), y_pred)


def squared_hinge_of_bits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0)^2 over the last axis, for targets y and predictions p.

    The targets are -1 and 1, or 0 and 1, where 0 means -1.
    """
    return squared_hinge(signs_of_bits(y_true), y_pred)


def _class_numbers(y_true: Tensor, y_pred: Tensor, axis: int) -> Tensor:
    return K.squeeze(y_true, axis) if K.ndim(y_true) == K.ndim(y_pred) else y_true


def _smoothed(y_true: Tensor, label_smoothing: float, classes: Any) -> Tensor:
    if not label_smoothing:
        return y_true
    return y_true * (1.0 - label_smoothing) + label_smoothing / classes


def _classes(y_pred: Tensor, axis: int) -> Any:
    return K.int_shape(y_pred)[normalize_axis(axis, K.ndim(y_pred), "loss")]
