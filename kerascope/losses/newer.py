"""Loss functions that came with Keras 3, or that take arguments there which Keras 2's have not.

Like the others they return one number for each sample; `CosineSimilarity`, `Huber` and so on in
`classes` hold their arguments.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import normalize_axis
from kerascope.losses.functions import hinge, margin_of, registry, signs_of_bits, squared_hinge


@registry.register
def huber(y_true: Tensor, y_pred: Tensor, delta: float = 1.0) -> Tensor:
    """Return mean (p - y)^2 / 2 over the last axis, but straight lines beyond `delta`.

    Notes
    -----
    With e = |p - y|: e^2 / 2 where e <= delta, else delta * (e - delta / 2).
    """
    error = K.abs(y_pred - y_true)
    near = K.minimum(error, delta)
    return K.mean(near * (error - 0.5 * near), axis=-1)


@registry.register
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
    """Return the binary crossentropy with small weights for what is predicted well already.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., features)
        Zeros and ones.
    y_pred : Tensor, shape (batch, ..., features)
        Probabilities, or with `from_logits` what a sigmoid would turn into them.
    apply_class_balancing : bool
        Whether ones count `alpha` times and zeros 1 - alpha times.
    alpha, gamma : float
        Gamma 0 is the plain crossentropy.
    from_logits : bool
    label_smoothing : float
        Moves targets towards 1/2.
    axis : int
        Over which axis the mean is taken.

    Notes
    -----
    mean (1 - q)^gamma * -log q, where q is the probability given to the right answer.

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


@registry.register
def categorical_focal_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the crossentropy with small weights for what is predicted well already.

    Parameters
    ----------
    y_true : Tensor, shape (batch, ..., classes)
        One-hot targets.
    y_pred : Tensor, shape (batch, ..., classes)
        Probabilities, or with `from_logits` what a softmax would turn into them.
    alpha : float or list of float
        Factor, or one for each class.
    gamma : float
    from_logits : bool
    label_smoothing : float
        Moves targets towards equal shares.
    axis : int
        Where the classes lie.

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


def categorical_crossentropy_with_options(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the crossentropy, of logits too, and with targets moved towards equal shares."""
    y_true = _smoothed(y_true, label_smoothing, _classes(y_pred, axis))
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy_with_options(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Return the mean binary crossentropy, of logits too, and with targets moved towards 1/2."""
    y_true = _smoothed(y_true, label_smoothing, 2)
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=axis)


def sparse_categorical_crossentropy_with_options(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Tensor:
    """Return -log p of the right class, of logits too; 0 where the class is `ignore_class`."""
    counts = counted_classes(y_true, y_pred, ignore_class, axis)
    if counts is None:
        return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)
    y_true = _class_numbers(y_true, y_pred, axis)
    kept = y_true * K.cast(counts, K.dtype(y_true))  # an ignored class becomes a valid one, 0
    y_pred = K.switch(K.expand_dims(counts, axis), y_pred, K.zeros_like(y_pred))  # NaN too
    loss = K.sparse_categorical_crossentropy(kept, y_pred, from_logits=from_logits, axis=axis)
    return loss * K.cast(counts, K.dtype(loss))


def counted_classes(
    y_true: Tensor, y_pred: Tensor, ignore_class: int | None, axis: int = -1
) -> Tensor | None:
    """Return where the class is another one than `ignore_class`; None if no class is ignored."""
    if ignore_class is None:
        return None
    return K.not_equal(_class_numbers(y_true, y_pred, axis), ignore_class)


def _class_numbers(y_true: Tensor, y_pred: Tensor, axis: int) -> Tensor:
    return K.squeeze(y_true, axis) if K.ndim(y_true) == K.ndim(y_pred) else y_true


def cosine_similarity_along(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """Return minus the cosine of the angle between y and p along an axis."""
    y_true, y_pred = K.l2_normalize(y_true, axis=axis), K.l2_normalize(y_pred, axis=axis)
    return -K.sum(y_true * y_pred, axis=axis)


def hinge_of_bits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0); targets are -1 and 1, or 0 and 1, which means the same."""
    return hinge(signs_of_bits(y_true), y_pred)


def squared_hinge_of_bits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return mean max(1 - y p, 0)^2; targets are -1 and 1, or 0 and 1, which means the same."""
    return squared_hinge(signs_of_bits(y_true), y_pred)


def _smoothed(y_true: Tensor, label_smoothing: float, classes: Any) -> Tensor:
    if not label_smoothing:
        return y_true
    return y_true * (1.0 - label_smoothing) + label_smoothing / classes


def _classes(y_pred: Tensor, axis: int) -> Any:
    return K.int_shape(y_pred)[normalize_axis(axis, K.ndim(y_pred), "loss")]
