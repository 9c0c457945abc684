"""Losses that compare areas, samples with each other, or sequences.

`dice` and `tversky` measure how much two areas overlap. `circle` measures whether samples are
nearer to those of their own class than to other samples, `ctc` whether a sequence spells a label.
Keras 3 introduced these losses; no metric has their names. Each loss is a function and a class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.ctc import ctc_loss
from kerascope.backend.ops.elementwise import floating
from kerascope.errors import ShapeError
from kerascope.losses.classes import Loss
from kerascope.losses.functions import margin_of, of_class_numbers, registry

__all__ = ["CTC", "Circle", "Dice", "Tversky", "circle", "ctc", "dice", "tversky"]

_MEAN = "sum_over_batch_size"
Axes = int | tuple[int, ...] | list[int] | None


# --- areas ----------------------------------------------------------------------------------------


@registry.register
@at_once_on_arrays
def dice(y_true: Tensor, y_pred: Tensor, axis: Axes = None) -> Tensor:
    """Return 1 - 2 sum(y p) / (sum(y) + sum(p)): 0 if two areas are the same.

    Parameters
    ----------
    y_true, y_pred : Tensor, of equal shape
        How much each pixel or voxel belongs to the area, from 0 to 1.
    axis : int or list of int, optional
        Axes of the sums. Default: all axes, including the batch, which gives a single number.
    """
    y_pred = floating(y_pred)
    y_true = K.cast(y_true, y_pred.dtype)
    both = K.sum(y_true * y_pred, axis=axis)
    sizes = K.sum(y_true, axis=axis) + K.sum(y_pred, axis=axis)
    return 1.0 - 2.0 * both / (sizes + margin_of(y_pred))


@registry.register
@at_once_on_arrays
def tversky(
    y_true: Tensor, y_pred: Tensor, alpha: float = 0.5, beta: float = 0.5, axis: Axes = None
) -> Tensor:
    """Return 1 - tp / (tp + alpha * fn + beta * fp): `dice` with weights for the two errors.

    tp is the sum of the true positives, y p with targets y and predictions p. fn is the sum of the
    false negatives, y (1 - p), and fp of the false positives, (1 - y) p.

    Parameters
    ----------
    y_true, y_pred, axis
        As for `dice`.
    alpha, beta : float
        Weights of false negatives and of false positives. Keras 3 computes it like this, although
        its documentation and the paper say that alpha weights the false positives.

    References
    ----------
    1. Salehi et al.: Tversky Loss Function for Image Segmentation Using 3D Fully Convolutional Deep
       Networks, 2017.
    """
    y_pred = floating(y_pred)
    y_true = K.cast(y_true, y_pred.dtype)
    both = K.sum(y_true * y_pred, axis=axis)
    too_much = K.sum((1.0 - y_true) * y_pred, axis=axis)
    missed = K.sum(y_true * (1.0 - y_pred), axis=axis)
    return 1.0 - both / (both + alpha * missed + beta * too_much + margin_of(y_pred))


@registry.register
class Dice(Loss):
    """The loss `dice` as a class.

    Examples
    --------
    Both areas have 2 pixels, and 1 pixel is in both, so the loss is 1 - 2 * 1 / (2 + 2):

    >>> float(Dice()([[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]))
    0.5
    """

    function = dice

    def __init__(
        self,
        reduction: str | None = _MEAN,
        name: str | None = None,
        axis: Axes = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


@registry.register
class Tversky(Loss):
    """The loss `tversky` as a class.

    Examples
    --------
    With alpha 3, a false negative gives 1 - 1 / (1 + 3), and a false positive 1 - 1 / (1 + 1):

    >>> loss = Tversky(alpha=3.0, beta=1.0)
    >>> round(float(loss([[1.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])), 4)
    0.75
    >>> round(float(loss([[1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0]])), 4)
    0.5
    """

    function = tversky

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: str | None = _MEAN,
        name: str | None = None,
        axis: Axes = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


# --- samples with each other ----------------------------------------------------------------------


@registry.register
@at_once_on_arrays
def circle(
    y_true: Tensor,
    y_pred: Tensor,
    ref_labels: Tensor | None = None,
    ref_embeddings: Tensor | None = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Tensor:
    """Return a loss for each sample, small if the sample is most similar to its own class.

    Parameters
    ----------
    y_true : Tensor, shape (batch,) or (batch, 1)
        Numbers of the classes.
    y_pred : Tensor, shape (batch, features)
        Vectors of length 1, as `UnitNormalization` returns them.
    ref_labels, ref_embeddings : Tensor, optional
        Samples to compare with. Default: the samples of the batch.
    remove_diagonal : bool
        Whether to exclude the comparison of a sample with itself.
    gamma : float
        Scale of the similarities.
    margin : float
        Similarities this close to 1 (same class) or to 0 (different classes) are good enough.

    Returns
    -------
    Tensor, shape (batch,)
        The loss of a sample is 0 if no other sample is of its class, or if all are.

    Raises
    ------
    ShapeError
        The predictions do not have 2 axes.

    Notes
    -----
    log(1 + sum_p exp(-gamma a_p (s_p - 1 + margin)) * sum_n exp(gamma a_n (s_n - margin))), where
    s_p are the scalar products with samples of the same class and s_n with those of other classes,
    both cut to at most 1. The weights are a_p = max(1 + margin - s_p, 0) and
    a_n = max(s_n + margin, 0). In the paper no gradient flows through the weights; in Keras 3 and
    kerascope it does.

    References
    ----------
    1. Sun et al.: Circle Loss, A Unified Perspective of Pair Similarity Optimization, CVPR 2020.
    """
    y_pred = floating(y_pred)
    if y_pred.ndim != 2:
        raise ShapeError(
            "circle: expected predictions of shape (batch, features), one vector for each sample, "
            f"got {y_pred.shape}. Flatten() them first.",
            subject=y_pred,
        )
    vectors = y_pred if ref_embeddings is None else K.cast(ref_embeddings, y_pred.dtype)
    likeness = K.minimum(K.dot(y_pred, K.transpose(vectors)), 1.0)
    same = _same_class(y_true, ref_labels)
    are_compared = _without_diagonal(same) if remove_diagonal and ref_embeddings is None else same
    pull = K.relu(1.0 + margin - likeness) * (1.0 - margin - likeness)
    push = K.relu(likeness + margin) * (likeness - margin)
    # Excluded pairs add exp(m / 2) = 0 with the lowest float m. The half keeps a sum of two finite.
    nothing = K.ones_like(likeness) * 0.5 * float(np.finfo(y_pred.dtype).min)
    pulls = K.logsumexp(K.switch(are_compared, gamma * pull, nothing), axis=1)
    pushes = K.logsumexp(K.switch(same, nothing, gamma * push), axis=1)
    return K.softplus(pulls + pushes)


def _same_class(y_true: Tensor, ref_labels: Any = None) -> Tensor:
    labels = K.reshape(y_true, (-1, 1))
    others = labels if ref_labels is None else K.reshape(ref_labels, (-1, 1))
    return K.equal(labels, K.transpose(others))


def _without_diagonal(same: Tensor) -> Tensor:
    place = K.cumsum(K.ones_like(K.cast(same[:, :1], "int32")), 0)
    return K.logical_and(same, K.not_equal(place, K.transpose(place)))


@registry.register
class Circle(Loss):
    """The loss `circle` as a class; its mean counts samples that share their class with another.

    Examples
    --------
    The first two vectors are equal, and so are the last two. The loss is near 0 if equal vectors
    are of the same class, and large otherwise:

    >>> vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> [round(float(Circle()(classes, vectors)), 1) for classes in ([0, 0, 1, 1], [0, 1, 0, 1])]
    [0.0, 134.4]
    """

    function = circle

    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self.gamma = gamma
        self.margin = margin
        self.remove_diagonal = remove_diagonal

    def counted(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Return a mask of the samples that have a positive partner in the batch.

        Without `remove_diagonal`, every sample has one: itself.
        """
        same = _same_class(y_true)
        return K.any(_without_diagonal(same) if self.remove_diagonal else same, axis=1)


# --- sequences ------------------------------------------------------------------------------------


@registry.register
@at_once_on_arrays
def ctc(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return -log of the probability of all sequences that spell the label, for each sample.

    Parameters
    ----------
    y_true : Tensor, shape (batch, longest label) or (batch, longest label, 1)
        Class numbers from 1 on; shorter labels are padded with zeros.
    y_pred : Tensor, shape (batch, time, classes)
        Logits; class 0 is the blank.

    Returns
    -------
    Tensor, shape (batch,)
        Infinity for a label that is too long for the number of time steps; about 100000 in Keras 3.

    Raises
    ------
    ShapeError
        The targets do not have 2 axes, or the predictions do not have 3.
    """
    if K.ndim(y_true) == 3 and K.int_shape(y_true)[-1] in (1, None):
        y_true = K.squeeze(y_true, -1)  # training adds this axis
    if K.ndim(y_true) != 2 or K.ndim(y_pred) != 3:
        raise ShapeError(
            "ctc: expected targets (batch, longest label) and predictions (batch, time, classes), "
            f"got shapes {K.int_shape(y_true)} and {K.int_shape(y_pred)}.",
            subject=y_pred,
        )
    lengths = K.sum(K.cast(K.not_equal(y_true, 0), "int64"), axis=-1)
    steps = K.zeros_like(lengths) + K.cast(K.shape(y_pred)[1], "int64")
    return ctc_loss(y_true, y_pred, lengths, steps)


@registry.register
class CTC(Loss):
    """The loss `ctc` as a class.

    Examples
    --------
    Two steps with equal scores for the blank (-) and class 1 give four equally probable
    sequences. Three of them spell the label 1: "11", "1-" and "-1". The loss is -log(3/4):

    >>> round(float(CTC()([[1]], [[[0.0, 0.0], [0.0, 0.0]]])), 4)
    0.2877
    """

    function = ctc

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


of_class_numbers.update({circle, ctc})
