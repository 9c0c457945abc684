"""Metrics over all samples of an epoch: precision, recall, AUC, F1, intersection over union, sums.

These metrics are not means of values of the batches. Each keeps sums or counts in variables, and
computes its result from these variables. The first classes count decisions, such as the predictions
above a threshold that are right (true positives).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, TensorLike, as_tensor
from kerascope.errors import ArgumentError, ShapeError
from kerascope.limits import current_budget
from kerascope.losses.classes import quotient
from kerascope.metrics.classes import Metric, SumAndCount, sum_and_weight, weights_like
from kerascope.metrics.functions import registry

__all__ = [
    "AUC",
    "BinaryIoU",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "IoU",
    "Mean",
    "MeanIoU",
    "OneHotIoU",
    "OneHotMeanIoU",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "Sum",
    "TrueNegatives",
    "TruePositives",
]

# --- decisions ------------------------------------------------------------------------------------


def _counts(
    y_true: Tensor, y_pred: Tensor, weights: Tensor | None, thresholds: Sequence[float]
) -> list[Tensor]:
    """Return how many true and false positives and negatives a batch has, for each threshold."""
    weight = K.reshape(weights_like(y_pred, weights), (-1, 1))
    is_true = K.reshape(K.cast(K.greater(K.cast(y_true, y_pred.dtype), 0.5), y_pred.dtype), (-1, 1))
    bounds = K.constant(np.array(thresholds), dtype=y_pred.dtype)
    is_yes = K.cast(K.greater(K.reshape(y_pred, (-1, 1)), bounds), y_pred.dtype)
    right, wrong = weight * is_true, weight * (1.0 - is_true)
    yes, no = is_yes, 1.0 - is_yes
    return [K.sum(side * answer, axis=0) for side, answer in
            ((right, yes), (wrong, yes), (wrong, no), (right, no))]  # fmt: skip


class _ConfusionMetric(Metric):
    """Base of metrics that count true and false positives and negatives at each threshold."""

    waits_for_predictions = False

    def __init__(self, thresholds: Any, name: str | None = None, dtype: str | None = None) -> None:
        super().__init__(name, dtype)
        self.thresholds = thresholds
        given = np.ravel([] if thresholds is None else thresholds)
        wrong = [float(bound) for bound in given if not 0 <= bound <= 1]
        if wrong:
            raise ArgumentError(
                f"{type(self).__name__}: expected thresholds from 0 to 1, because predictions are "
                f"probabilities, got {wrong[0]}."
            )
        self.class_id: int | None = None

    @property
    def _bounds(self) -> list[float]:
        """The thresholds as a list, which is [0.5] by default."""
        given = 0.5 if self.thresholds is None else self.thresholds
        return list(np.atleast_1d(np.asarray(given, dtype=float)))

    def build(self, y_pred: Tensor) -> None:
        """Create variables for true and false positives and negatives."""
        for word in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
            self.add_weight((len(self._bounds),), name=word)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return a batch's true and false positives and negatives at each threshold."""
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        bounds, even = self._bounds, np.linspace(0, 1, len(self._bounds))
        if len(bounds) > 2 and np.allclose(bounds, even, atol=1e-6):  # as Keras 3 does
            y_pred = K.clip(y_pred, 0.0, 1.0)
        return _counts(y_true, y_pred, weights, bounds)

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the metric at each threshold, from the true and false positives and negatives."""
        raise NotImplementedError(f"{type(self).__name__} does not define from_counts.")

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the metric: a number for one threshold, a vector for several."""
        result = self.from_counts(*state)
        return result[0] if len(self._bounds) == 1 else result


class _RateMetric(_ConfusionMetric):
    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(thresholds, name, dtype)
        if top_k is not None:
            raise ArgumentError(
                f"{type(self).__name__}: top_k={top_k!r} is not supported. Give thresholds."
            )
        self.top_k = None
        self.class_id = class_id


@registry.alias("precision")
class Precision(_RateMetric):
    """Share of true positives among the predicted positives: tp / (tp + fp).

    Parameters
    ----------
    thresholds : float or list of float, optional
        A prediction above the threshold counts as positive. Default 0.5.
    top_k : None
        Keras 3's `top_k` is not supported.
    class_id : int, optional
        Count only this column of the predictions. Default: all columns.
    name, dtype : str, optional
        As for `Metric`.

    Examples
    --------
    >>> float(Precision()(np.array([0.0, 1.0, 1.0]), np.array([0.9, 0.8, 0.3])))
    0.5
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tp / (tp + fp), from the numbers of true and false positives."""
        return quotient(tp, tp + fp)


@registry.alias("recall")
class Recall(_RateMetric):
    """Share of true positives among the actual positives: tp / (tp + fn).

    Parameters
    ----------
    thresholds, top_k, class_id, name, dtype
        As for `Precision`.

    Examples
    --------
    Of 4 positives, 3 are above the threshold 0.5, and 2 above 0.75:

    >>> Recall(thresholds=[0.5, 0.75])([1, 1, 1, 1, 0], [0.9, 0.8, 0.6, 0.1, 0.7]).tolist()
    [0.75, 0.5]
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tp / (tp + fn), from the numbers of true positives and false negatives."""
        return quotient(tp, tp + fn)


class _CountMetric(_ConfusionMetric):
    def __init__(
        self, thresholds: Any = None, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(thresholds, name, dtype)


@registry.alias("true_positives")
class TruePositives(_CountMetric):
    """Number of positives that are predicted as positives.

    Examples
    --------
    >>> float(TruePositives()([0, 1, 1, 1], [0.9, 0.9, 0.8, 0.3]))
    2.0
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the number of true positives at each threshold."""
        return K.identity(tp)


@registry.alias("false_positives")
class FalsePositives(_CountMetric):
    """Number of negatives that are predicted as positives.

    Examples
    --------
    Two negatives are predicted as positives. Their weights 1 and 3 are added:

    >>> float(FalsePositives()([0, 1, 0], [0.9, 0.9, 0.8], sample_weight=[1.0, 1.0, 3.0]))
    4.0
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the number of false positives at each threshold."""
        return K.identity(fp)


@registry.alias("true_negatives")
class TrueNegatives(_CountMetric):
    """Number of negatives that are predicted as negatives.

    Examples
    --------
    Of the 3 negatives, 1 is below the threshold 0.25, and 2 are below 0.75:

    >>> TrueNegatives(thresholds=[0.25, 0.75])([0, 0, 0, 1], [0.1, 0.4, 0.9, 0.2]).tolist()
    [1.0, 2.0]
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the number of true negatives at each threshold."""
        return K.identity(tn)


@registry.alias("false_negatives")
class FalseNegatives(_CountMetric):
    """Number of positives that are predicted as negatives.

    Examples
    --------
    Each of two batches has one false negative, and the metric counts both:

    >>> metric = FalseNegatives()
    >>> float(metric([1, 1], [0.9, 0.2])), float(metric([1, 0], [0.3, 0.3]))
    (1.0, 2.0)
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the number of false negatives at each threshold."""
        return K.identity(fn)


@registry.alias("auc")
class AUC(_ConfusionMetric):
    """Area under the ROC or precision-recall curve, computed at a fixed number of thresholds.

    Parameters
    ----------
    num_thresholds : int
        Number of points of the curve.
    curve : {"ROC", "PR"}
        "ROC": recall over the false-positive rate. "PR": precision over recall.
    summation_method : {"interpolation"}
        Keras 3's other methods are not supported.
    name, dtype : str, optional
        As for `Metric`.
    thresholds : list of float, optional
        Thresholds to use instead of `num_thresholds` evenly spaced ones.
    multi_label, num_labels, label_weights : None
        Keras 3's arguments are not supported.
    from_logits : bool
        Whether predictions are logits, the values before the sigmoid.

    Notes
    -----
    The area under the ROC curve is a sum of trapezoids. Between two points of the precision-recall
    curve, the true positives are interpolated, not the precision [1].

    References
    ----------
    1. Davis, Goadrich: The Relationship Between Precision-Recall and ROC Curves, ICML 2006.

    Examples
    --------
    Of the 4 pairs of a negative and a positive, only 0.4 and 0.35 are in the wrong order, so the
    area is 3/4:

    >>> float(AUC()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.75
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: str | None = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        super().__init__(None if thresholds is None else sorted(thresholds), name, dtype)
        if multi_label or num_labels is not None or label_weights is not None:
            raise ArgumentError(
                "AUC: multi_label, num_labels and label_weights are not supported. Give each label "
                "its own output and its own AUC."
            )
        if curve not in ("ROC", "PR") or summation_method != "interpolation":
            raise ArgumentError(
                "AUC: expected curve 'ROC' or 'PR' and summation_method 'interpolation', got "
                f"{curve!r} and {summation_method!r}."
            )
        _check_thresholds("AUC", num_thresholds, 2)
        self.num_thresholds = num_thresholds
        self.curve = curve
        self.summation_method = summation_method
        self.multi_label, self.num_labels, self.label_weights = False, None, None
        self.from_logits = bool(from_logits)

    @property
    def _bounds(self) -> list[float]:
        """The thresholds, with an additional one below 0 and another above 1."""
        steps = self.num_thresholds - 1
        inner = self.thresholds or [i / steps for i in range(1, steps)]
        return [-1e-7, *inner, 1.0 + 1e-7]

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return a batch's true and false positives and negatives at each threshold."""
        y_pred = K.sigmoid(y_pred) if self.from_logits else y_pred
        return super().increments(y_true, y_pred, weights)

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the area, from the true and false positives and negatives at each threshold."""
        if self.curve == "ROC":
            recall, alarms = quotient(tp, tp + fn), quotient(fp, fp + tn)
            return K.sum((alarms[:-1] - alarms[1:]) * (recall[:-1] + recall[1:]) / 2.0)
        said_yes = tp + fp
        slope = quotient(tp[:-1] - tp[1:], said_yes[:-1] - said_yes[1:])
        start = tp[1:] - slope * said_yes[1:]
        both = K.greater(said_yes[:-1] * said_yes[1:], 0.0)
        ratio = K.switch(both, quotient(said_yes[:-1], said_yes[1:]), K.ones_like(start))
        pieces = slope * (tp[:-1] - tp[1:] + start * K.log(ratio))
        return K.sum(quotient(pieces, tp[1:] + fn[1:]))

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the area under the curve, from the counts in the metric's variables."""
        return self.from_counts(*state)


_RATES = {
    "precision": lambda tp, fp, tn, fn: quotient(tp, tp + fp),
    "recall": lambda tp, fp, tn, fn: quotient(tp, tp + fn),
    "sensitivity": lambda tp, fp, tn, fn: quotient(tp, tp + fn),
    "specificity": lambda tp, fp, tn, fn: quotient(tn, tn + fp),
}


class _BestRate(_ConfusionMetric):
    """Base of metrics that report the best value of one rate while another rate is high enough.

    The result is 0 if the other rate is too low at every threshold.

    Parameters
    ----------
    least : float
        Minimum of the other rate, from 0 to 1, which is the first argument of the derived classes.
    num_thresholds : int
        Number of thresholds, evenly spaced from 0 to 1. A single threshold is 0.5.
    class_id, name, dtype
        As for `Precision`.
    """

    _best: ClassVar[str]
    _bounded: ClassVar[str]

    def __init__(
        self,
        least: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        where = type(self).__name__
        if not 0 <= least <= 1:
            raise ArgumentError(f"{where}: expected {self._bounded} from 0 to 1, got {least!r}.")
        _check_thresholds(where, num_thresholds, 1)
        thresholds = np.linspace(0.0, 1.0, num_thresholds) if num_thresholds > 1 else [0.5]
        super().__init__(list(thresholds), name, dtype)
        setattr(self, self._bounded, least)
        self.num_thresholds = num_thresholds
        self.class_id = class_id

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the best value of the reported rate; 0 if the other rate is too low everywhere."""
        allowed = K.greater_equal(_RATES[self._bounded](*state), getattr(self, self._bounded))
        return K.max(_RATES[self._best](*state) * K.cast(allowed, self.dtype))


@registry.register
class PrecisionAtRecall(_BestRate):
    """Greatest precision at a threshold where the recall is at least `recall`.

    The result is 0 if the recall is lower at every threshold.

    Parameters
    ----------
    recall : float
        Minimum of the recall, from 0 to 1.
    num_thresholds : int
        Number of thresholds to try, evenly spaced from 0 to 1.
    class_id, name, dtype
        As for `Precision`.

    Examples
    --------
    A threshold below 0.4 finds both positives, and 2 of its 3 predicted positives are right. To
    find one of them, a threshold above 0.6 is enough:

    >>> y, p = [0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8]
    >>> [round(float(PrecisionAtRecall(recall)(y, p)), 4) for recall in (1.0, 0.5)]
    [0.6667, 1.0]
    """

    _best, _bounded = "precision", "recall"

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(recall, num_thresholds, class_id, name, dtype)


@registry.register
class RecallAtPrecision(_BestRate):
    """Greatest recall at a threshold where the precision is at least `precision`.

    The result is 0 if the precision is lower at every threshold. The other arguments are those of
    `PrecisionAtRecall`.

    Examples
    --------
    Without a false positive, the recall is 1/3. With one, the precision is 3/4 and the recall 1:

    >>> y, p = [1, 0, 1, 1, 0], [0.9, 0.7, 0.5, 0.3, 0.1]
    >>> [round(float(RecallAtPrecision(precision)(y, p)), 4) for precision in (1.0, 0.75)]
    [0.3333, 1.0]
    """

    _best, _bounded = "recall", "precision"

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(precision, num_thresholds, class_id, name, dtype)


@registry.register
class SensitivityAtSpecificity(_BestRate):
    """Greatest sensitivity at a threshold where the specificity is at least `specificity`.

    Sensitivity is tp / (tp + fn), specificity tn / (tn + fp).

    The result is 0 if the specificity is lower at every threshold. The other arguments are those of
    `PrecisionAtRecall`.

    Examples
    --------
    Of 2 ill and 4 healthy people, a test finds 1 ill person without a false alarm, and both with
    a false alarm for 1 of the 4 healthy people:

    >>> y, p = [1, 1, 0, 0, 0, 0], [0.9, 0.5, 0.7, 0.3, 0.2, 0.1]
    >>> [float(SensitivityAtSpecificity(specificity)(y, p)) for specificity in (1.0, 0.75)]
    [0.5, 1.0]
    """

    _best, _bounded = "sensitivity", "specificity"

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(specificity, num_thresholds, class_id, name, dtype)


@registry.register
class SpecificityAtSensitivity(_BestRate):
    """Greatest specificity at a threshold where the sensitivity is at least `sensitivity`.

    Specificity is tn / (tn + fp), sensitivity tp / (tp + fn).

    The result is 0 if the sensitivity is lower at every threshold. The other arguments are those of
    `PrecisionAtRecall`.

    Examples
    --------
    All 4 positives are above a threshold below 0.3, and so is 1 of the 2 negatives. A threshold of
    0.5 is below 3 of the 4 positives, and below no negative:

    >>> y, p = [1, 1, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.3, 0.4, 0.1]
    >>> [float(SpecificityAtSensitivity(sensitivity)(y, p)) for sensitivity in (1.0, 0.75)]
    [0.5, 1.0]
    """

    _best, _bounded = "specificity", "sensitivity"

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)


def _check_thresholds(where: str, number: int, least: int) -> None:
    if number < least:
        raise ArgumentError(f"{where}: expected num_thresholds >= {least}, got {number!r}.")
    budget = current_budget()
    if budget is not None:
        budget.take_numbers((number,), f"thresholds of {where}")


# --- scores of classes ----------------------------------------------------------------------------


def per_output_shape(metric: Metric, y_pred: Tensor) -> tuple[int]:
    """Return the shape of a variable with one number for each output, which is (outputs,)."""
    outputs = y_pred.shape[-1] if y_pred.ndim == 2 else None
    if outputs is None:
        raise ShapeError(
            f"{type(metric).__name__}: expected predictions of shape (batch, classes), got "
            f"{y_pred.shape}."
        )
    return (outputs,)


@registry.alias("f_beta_score")
class FBetaScore(Metric):
    """Weighted harmonic mean of precision and recall, for each class or averaged.

    Parameters
    ----------
    average : {None, "micro", "macro", "weighted"}
        None returns a number for each class. "micro" counts all classes together, "macro" takes the
        mean over the classes, "weighted" weights this mean by the sizes of the classes.
    beta : float
        Recall weighs beta times as much as precision.
    threshold : float, optional
        A prediction above the threshold counts as positive. Default: only the greatest prediction
        of a sample counts as positive.
    name, dtype : str, optional
        As for `Metric`.

    Notes
    -----
    (1 + beta^2) * tp / ((1 + beta^2) * tp + fp + beta^2 * fn)

    Examples
    --------
    The precision is 1 and the recall 1/2. The more weight recall has, the lower is the score:

    >>> y, p = [[1], [1], [1], [1]], [[0.9], [0.8], [0.2], [0.1]]
    >>> for beta in (0.5, 2.0):
    ...     round(float(FBetaScore("macro", beta, threshold=0.5)(y, p)), 4)
    0.8333
    0.5556
    """

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = "fbeta_score",
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)
        if average not in (None, "micro", "macro", "weighted"):
            raise ArgumentError(
                f"{type(self).__name__}: expected average None, 'micro', 'macro' or 'weighted', "
                f"got {average!r}."
            )
        self.average = average
        self.beta = float(beta)
        self.threshold = threshold

    def build(self, y_pred: Tensor) -> None:
        """Create variables for each class's true positives, false positives and false negatives."""
        shape = per_output_shape(self, y_pred)
        for word in ("true_positives", "false_positives", "false_negatives"):
            self.add_weight(shape, name=word)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return each class's true positives, false positives and false negatives in a batch."""
        if self.threshold is None:
            is_yes = K.greater_equal(y_pred, K.max(y_pred, axis=-1, keepdims=True))
        else:
            is_yes = K.greater(y_pred, self.threshold)
        yes = K.cast(is_yes, y_pred.dtype)
        y_true, weight = K.cast(y_true, y_pred.dtype), weights_like(y_pred, weights)
        parts = (yes * y_true, yes * (1.0 - y_true), (1.0 - yes) * y_true)
        return [K.sum(part * weight, axis=0) for part in parts]

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the score of each class, or the average of the scores."""
        tp, fp, fn = state
        sizes = tp + fn
        if self.average == "micro":
            tp, fp, fn = (K.sum(x) for x in (tp, fp, fn))
        square = self.beta**2
        score = quotient((1.0 + square) * tp, (1.0 + square) * tp + fp + square * fn)
        if self.average == "weighted":
            return K.sum(score * quotient(sizes, K.sum(sizes) + K.zeros_like(sizes)))
        return K.mean(score) if self.average == "macro" else score


@registry.alias("f1_score")
class F1Score(FBetaScore):
    """Harmonic mean of precision and recall: `FBetaScore` with beta 1.

    Examples
    --------
    Class 0 has 1 true positive and 1 false negative, which gives 2 / (2 + 1). Class 1 has 2 true
    positives and 1 false positive, which gives 4 / (4 + 1):

    >>> y, p = [[1, 0], [1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]
    >>> [round(x, 4) for x in F1Score()(y, p).tolist()]
    [0.6667, 0.8]
    >>> round(float(F1Score("macro")(y, p)), 4)
    0.7333
    """

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = "f1_score",
        dtype: str | None = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)


@registry.register
class IoU(Metric):
    """Intersection over union of the predicted and true pixels of a class, mean over classes.

    Parameters
    ----------
    num_classes : int
        Number of classes, which have the numbers from 0 to num_classes - 1.
    target_class_ids : list of int or None
        Classes over which the mean is taken; None for all classes.
    name, dtype : str, optional
        As for `Metric`. With "int32", Keras 3's default, weights are truncated to whole numbers.
    ignore_class : int, optional
        Pixels of this true class do not count.
    sparse_y_true, sparse_y_pred : bool
        Whether targets and predictions are class numbers. Otherwise the class is the index of the
        greatest entry along `axis`.
    axis : int
        The axis of the classes in targets or predictions that are not class numbers.

    Raises
    ------
    ArgumentError
        `target_class_ids` is empty, or contains a class that does not exist.

    Notes
    -----
    With the counts c_ij of pixels of class i that are predicted as class j:
    c_ii / (sum_j c_ij + sum_j c_ji - c_ii), mean over the classes that occur.

    Examples
    --------
    The intersection of the true and predicted pixels of class 1 has 2 pixels, the union 3:

    >>> round(float(IoU(num_classes=2, target_class_ids=[1])([0, 0, 1, 1], [0, 1, 1, 1])), 4)
    0.6667
    """

    waits_for_predictions = False

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int] | None,
        name: str | None = None,
        dtype: str | None = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.ignore_class = ignore_class
        self.axis = int(axis)
        self.num_classes = int(num_classes)
        self.target_class_ids = None if target_class_ids is None else list(target_class_ids)
        self.sparse_y_true = bool(sparse_y_true)
        self.sparse_y_pred = bool(sparse_y_pred)
        if self.target_class_ids is None:
            return
        known = range(-self.num_classes, self.num_classes)
        if not self.target_class_ids or any(n not in known for n in self.target_class_ids):
            raise ArgumentError(
                f"{type(self).__name__}: expected at least one target_class_id, each from 0 to "
                f"{self.num_classes - 1}, got {self.target_class_ids}."
            )

    def build(self, y_pred: Tensor) -> None:
        """Create the variable that contains the confusion matrix."""
        self.add_weight((self.num_classes, self.num_classes), name="total_confusion_matrix")

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the confusion matrix of a batch."""
        true = y_true if self.sparse_y_true else K.argmax(y_true, axis=self.axis)
        predicted = y_pred if self.sparse_y_pred else K.argmax(y_pred, axis=self.axis)
        if weights is not None:
            weights = K.cast(weights, self.dtype)
        weight = weights_like(K.cast(true, K.floatx()), weights)
        if self.ignore_class is not None:
            counts = K.not_equal(true, self.ignore_class)
            weight = weight * K.cast(counts, K.floatx())
            true = true * K.cast(counts, K.dtype(true))  # an ignored class becomes a valid class, 0
        weight = K.reshape(weight, (-1, 1))
        rows = K.transpose(self._one_hot(true) * weight)
        return [K.dot(rows, self._one_hot(predicted))]

    def _one_hot(self, classes: Tensor) -> Tensor:
        flat = K.reshape(K.cast(classes, "int64"), (-1,))
        return K.cast(K.one_hot(flat, self.num_classes), K.floatx())

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean intersection over union of those target classes that occur."""
        counts = K.cast(state[0], K.floatx())
        both = K.sum(counts * K.eye(self.num_classes), axis=0)
        either = K.sum(counts, axis=0) + K.sum(counts, axis=1) - both
        named = self.target_class_ids or range(self.num_classes)
        places = [n % self.num_classes for n in named]
        times = K.constant(np.bincount(places, minlength=self.num_classes))
        occurs = K.cast(K.greater(either, 0.0), K.floatx())
        return quotient(K.sum(times * quotient(both, either)), K.sum(times * occurs))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments with the dtype, because Keras 3's default differs."""
        return {**super().get_config(), "dtype": self.dtype}


@registry.register
class MeanIoU(IoU):
    """`IoU` with the mean over all classes that occur.

    Parameters
    ----------
    num_classes, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis
        As for `IoU`.

    Examples
    --------
    Class 0 has 1/2 and class 1 has 0/1. Class 2 does not occur, so it does not count in the mean:

    >>> float(MeanIoU(num_classes=3)([0, 0], [0, 1]))
    0.25
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: str | None = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes, None, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis
        )


@registry.register
class OneHotIoU(IoU):
    """`IoU` of one-hot targets and of predictions with one score for each class.

    With `sparse_y_pred`, the predictions are class numbers.

    Parameters
    ----------
    num_classes, target_class_ids, name, dtype, ignore_class, sparse_y_pred, axis
        As for `IoU`.

    Examples
    --------
    The greatest scores are those of the classes 2, 1 and 1. For class 1, the intersection has 1
    pixel and the union 2:

    >>> y = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    >>> p = [[0.1, 0.2, 0.7], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]]
    >>> float(OneHotIoU(num_classes=3, target_class_ids=[1])(y, p))
    0.5
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: str | None = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis
        )


@registry.register
class OneHotMeanIoU(MeanIoU):
    """`MeanIoU` of one-hot targets: see `OneHotIoU`.

    Examples
    --------
    The true classes are 0, 1 and 1, the predictions 0, 0 and 1. Both classes have 1/2:

    >>> y, p = [[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
    >>> float(OneHotMeanIoU(num_classes=2)(y, p))
    0.5
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: str | None = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ) -> None:
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)


@registry.alias("binary_io_u")
class BinaryIoU(IoU):
    """`IoU` of two classes; a prediction of at least `threshold` is class 1.

    Parameters
    ----------
    target_class_ids : list of int
        0, 1 or both.
    threshold : float
        The smallest prediction that counts as class 1.
    name, dtype : str, optional
        As for `IoU`.

    Examples
    --------
    In an image of 2 x 2 pixels, the threshold 0.3 gives 3 pixels of class 1, of which 2 are right.
    Class 1 has 2/3, class 0 has 1/2, and their mean is 7/12:

    >>> y, p = [[1, 1], [0, 0]], [[0.9, 0.4], [0.6, 0.1]]
    >>> for classes in ([1], [0], [0, 1]):
    ...     round(float(BinaryIoU(classes, threshold=0.3)(y, p)), 4)
    0.6667
    0.5
    0.5833
    """

    def __init__(
        self,
        target_class_ids: Sequence[int] = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the confusion matrix of a batch."""
        return super().increments(y_true, K.greater_equal(y_pred, self.threshold), weights)


# --- sums and means -------------------------------------------------------------------------------


@registry.alias("root_mean_squared_error")
class RootMeanSquaredError(SumAndCount):
    """Root of the mean squared difference between predictions and targets, over all samples.

    Examples
    --------
    >>> import numpy as np
    >>> float(RootMeanSquaredError()(np.array([[0.0], [0.0]]), np.array([[1.0], [7.0]])))
    5.0
    """

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sum of the squared errors of a batch, and their number."""
        return sum_and_weight(K.square(y_pred - y_true), weights)

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the root of the mean squared error."""
        return K.sqrt(quotient(state[0], state[1]))


@registry.alias("r2_score")
class R2Score(Metric):
    """Coefficient of determination: the share of the targets' variance that is predicted.

    Parameters
    ----------
    class_aggregation : {"uniform_average", "variance_weighted_average", None}
        How the scores of several outputs become one number; None returns a score for each.
    num_regressors : int
        Above 0, the score is adjusted for a model with this number of regressors. As in Keras 3,
        every element of the targets counts as an observation. With too few observations the score
        is not adjusted.
    name, dtype : str, optional
        As for `Metric`.

    Raises
    ------
    ArgumentError
        `class_aggregation` is unknown, or `num_regressors` is negative.
    ShapeError
        The shape of the predictions is not (batch, outputs).

    Notes
    -----
    1 - sum (y - p)^2 / sum (y - mean(y))^2. Where y is constant, the score is 0, or NaN if p is
    equal to y there.

    Examples
    --------
    >>> round(float(R2Score()(np.array([[1.0], [4.0], [3.0]]), np.array([[2.0], [4.0], [4.0]]))), 4)
    0.5714
    """

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = "r2_score",
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)
        if class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise ArgumentError(
                "R2Score: expected class_aggregation None, 'uniform_average' or "
                f"'variance_weighted_average', got {class_aggregation!r}."
            )
        if num_regressors < 0:
            raise ArgumentError(f"R2Score: expected num_regressors >= 0, got {num_regressors}.")
        self.class_aggregation = class_aggregation
        self.num_regressors = num_regressors

    def build(self, y_pred: Tensor) -> None:
        """Create the variables in float64, because the variance is a difference of large sums."""
        shape = per_output_shape(self, y_pred)
        for word in ("squared_sum", "sum", "total_mse", "count"):
            self.add_weight(shape, dtype="float64", name=word)
        self.add_weight(dtype="float64", name="num_samples")

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sums of y², y, (y - p)² and weights, and the number of samples, of a batch."""
        y, p = K.cast(y_true, "float64"), K.cast(y_pred, "float64")
        weight = weights_like(p, weights)
        parts = (weight * y * y, weight * y, weight * K.square(y - p), weight)
        return [*(K.sum(part, axis=0) for part in parts), K.sum(K.ones_like(y))]

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return R2 of each output or their average, adjusted for `num_regressors` above 0."""
        squares, total, residual, count, number = state
        spread = squares - total * quotient(total, count)
        spread = spread * K.cast(K.greater(spread, 1e-12 * squares), "float64")  # less is noise
        share = residual / spread
        score = K.switch(K.equal(spread, 0.0) & K.greater(residual, 0.0), 0.0 * spread, 1.0 - share)
        if self.class_aggregation == "uniform_average":
            score = K.mean(score)
        elif self.class_aggregation is not None:
            score = K.sum(spread * score) / K.sum(spread)
        if self.num_regressors:
            left = number - self.num_regressors - 1.0
            is_enough = K.cast(K.greater(left, 0.0), "float64")
            score = score + is_enough * (score - 1.0) * self.num_regressors * quotient(
                K.ones_like(left), left
            )
        return K.cast(score, self.dtype)


class _ValueMetric(SumAndCount):
    """Base of metrics of numbers without targets, called as `metric.update_state(values)`."""

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> None:
        """Update the state with numbers and their weights."""
        weights = None if sample_weight is None else as_tensor(sample_weight)
        self._build(None)
        grown = sum_and_weight(K.cast(as_tensor(values), K.floatx()), weights)
        self._grow(grown[: len(self._state)])


class Mean(_ValueMetric):
    """Mean of numbers without targets, such as losses of your own training loop.

    Examples
    --------
    The mean of 1 and 3 is 2. After another batch it is the mean of 1, 3 and 8:

    >>> metric = Mean()
    >>> float(metric([1, 3])), float(metric([8]))
    (2.0, 4.0)
    """

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean."""
        return quotient(state[0], state[1])


class Sum(_ValueMetric):
    """Weighted sum of numbers without targets, such as the sizes of the batches.

    Examples
    --------
    The weights multiply the numbers, 1 * 10 + 3 * 1, and batches are added:

    >>> metric = Sum()
    >>> float(metric([1, 3], sample_weight=[10, 1])), float(metric([7]))
    (13.0, 20.0)
    """

    def build(self, y_pred: Tensor) -> None:
        """Create a variable for the sum. Unlike `Mean`, this metric needs no count."""
        self.add_weight(name="total")

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the sum."""
        return K.identity(state[0])
