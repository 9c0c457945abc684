"""Metrics over all samples of an epoch: precision, recall, AUC, F1, intersection over union, sums.

None of them is a mean of what the batches give: each keeps sums or counts in variables, from which
the result is computed. The first ones count decisions: how many predictions above a threshold are
right (true positives), and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Mean",
    "MeanIoU",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "Sum",
    "TrueNegatives",
    "TruePositives",
]

# --- decisions ------------------------------------------------------------------------------------


def _counts(
    y_true: Tensor, y_pred: Tensor, weights: Tensor | None, thresholds: Sequence[float]
) -> list[Tensor]:
    """Return tp, fp, tn and fn of a batch, one number for each threshold."""
    weight = K.reshape(weights_like(y_pred, weights), (-1, 1))
    is_true = K.reshape(K.cast(K.greater(K.cast(y_true, y_pred.dtype), 0.5), y_pred.dtype), (-1, 1))
    bounds = K.constant(np.array(thresholds), dtype=y_pred.dtype)
    is_yes = K.cast(K.greater(K.reshape(y_pred, (-1, 1)), bounds), y_pred.dtype)
    right, wrong = weight * is_true, weight * (1.0 - is_true)
    yes, no = is_yes, 1.0 - is_yes
    return [K.sum(side * answer, axis=0) for side, answer in
            ((right, yes), (wrong, yes), (wrong, no), (right, no))]  # fmt: skip


class _Counting(Metric):
    """Base: keeps the four counts for each threshold."""

    waits_for_predictions = False

    def __init__(self, thresholds: Any, name: str | None = None, dtype: str | None = None) -> None:
        super().__init__(name, dtype)
        self.thresholds = thresholds
        self.class_id: int | None = None

    @property
    def _bounds(self) -> list[float]:
        """The thresholds as a list."""
        given = 0.5 if self.thresholds is None else self.thresholds
        return list(np.atleast_1d(np.asarray(given, dtype=float)))

    def build(self, y_pred: Tensor) -> None:
        """Make the four counts."""
        for word in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
            self.add_weight((len(self._bounds),), name=word)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the four counts of a batch."""
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        bounds, even = self._bounds, np.linspace(0, 1, len(self._bounds))
        if len(bounds) > 2 and np.allclose(bounds, even, atol=1e-6):  # as Keras 3 has it
            y_pred = K.clip(y_pred, 0.0, 1.0)
        return _counts(y_true, y_pred, weights, bounds)

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the metric, one number for each threshold."""
        raise NotImplementedError(f"{type(self).__name__} does not define from_counts")

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the metric: a number for one threshold, a vector for several."""
        result = self.from_counts(*state)
        return result[0] if len(self._bounds) == 1 else result


class _OfDecisions(_Counting):
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
                f"{type(self).__name__}: top_k={top_k!r} does not exist here; give thresholds."
            )
        self.top_k = None
        self.class_id = class_id


@registry.alias("precision")
class Precision(_OfDecisions):
    """Share of right ones among the predicted positives: tp / (tp + fp).

    Parameters
    ----------
    thresholds : float or list of float, optional
        A prediction above it is a "yes". Default 0.5.
    top_k : None
        Keras 3's; not here.
    class_id : int, optional
        Looks at one column of the predictions only.
    name, dtype : str, optional
        As for `Metric`.

    Examples
    --------
    >>> float(Precision()(np.array([0.0, 1.0, 1.0]), np.array([0.9, 0.8, 0.3])))
    0.5
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tp / (tp + fp)."""
        return quotient(tp, tp + fp)


@registry.alias("recall")
class Recall(_OfDecisions):
    """Share of found ones among the positives: tp / (tp + fn).

    Parameters
    ----------
    thresholds, top_k, class_id, name, dtype
        As for `Precision`.
    """

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tp / (tp + fn)."""
        return quotient(tp, tp + fn)


class _OneCount(_Counting):
    def __init__(
        self, thresholds: Any = None, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(thresholds, name, dtype)


@registry.alias("true_positives")
class TruePositives(_OneCount):
    """Number of positives that were predicted."""

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tp."""
        return K.identity(tp)


@registry.alias("false_positives")
class FalsePositives(_OneCount):
    """Number of negatives that were predicted to be positives."""

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return fp."""
        return K.identity(fp)


@registry.alias("true_negatives")
class TrueNegatives(_OneCount):
    """Number of negatives that were predicted."""

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return tn."""
        return K.identity(tn)


@registry.alias("false_negatives")
class FalseNegatives(_OneCount):
    """Number of positives that were predicted to be negatives."""

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return fn."""
        return K.identity(fn)


@registry.alias("auc")
class AUC(_Counting):
    """Area under the curve that a falling threshold draws.

    Parameters
    ----------
    num_thresholds : int
        Points of the curve.
    curve : {"ROC", "PR"}
        Recall over the share of false alarms, or precision over recall.
    summation_method : {"interpolation"}
        Keras 3's other methods are not here.
    name, dtype : str, optional
        As for `Metric`.
    thresholds : list of float, optional
        Given instead of their number.
    multi_label, num_labels, label_weights : None
        Keras 3's; not here.
    from_logits : bool
        Whether predictions are what a sigmoid would turn into probabilities.

    Notes
    -----
    ROC: trapezoids. PR: between two points the true positives are interpolated, not the precision
    [1].

    References
    ----------
    1. Davis, Goadrich: The Relationship Between Precision-Recall and ROC Curves, ICML 2006.
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
                "AUC: multi_label, num_labels and label_weights do not exist here; take one AUC "
                "for each label, on outputs of their own."
            )
        if curve not in ("ROC", "PR") or summation_method != "interpolation":
            raise ArgumentError(
                f"AUC: curve {curve!r} with summation_method {summation_method!r}; expected 'ROC' "
                f"or 'PR' with 'interpolation'."
            )
        if num_thresholds < 2:
            raise ArgumentError(f"AUC: num_thresholds is {num_thresholds!r}; expected at least 2.")
        budget = current_budget()
        if budget is not None:
            budget.take_numbers((num_thresholds,), "thresholds of an AUC")
        self.num_thresholds = num_thresholds
        self.curve = curve
        self.summation_method = summation_method
        self.multi_label, self.num_labels, self.label_weights = False, None, None
        self.from_logits = bool(from_logits)

    @property
    def _bounds(self) -> list[float]:
        """The thresholds, with one below 0 and one above 1."""
        steps = self.num_thresholds - 1
        inner = self.thresholds or [i / steps for i in range(1, steps)]
        return [-1e-7, *inner, 1.0 + 1e-7]

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the four counts of a batch."""
        y_pred = K.sigmoid(y_pred) if self.from_logits else y_pred
        return super().increments(y_true, y_pred, weights)

    def from_counts(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """Return the area."""
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
        """Return the area."""
        return self.from_counts(*state)


# --- scores of classes ----------------------------------------------------------------------------


@registry.alias("f_beta_score")
class FBetaScore(Metric):
    """Weighted harmonic mean of precision and recall, of each class or averaged.

    Parameters
    ----------
    average : {None, "micro", "macro", "weighted"}
        None gives a number for each class; "micro" counts all classes together, "macro" takes the
        mean of the classes, "weighted" weights it by their sizes.
    beta : float
        Recall counts beta times as much as precision.
    threshold : float, optional
        A prediction above it is a "yes"; by default the greatest of a sample is.
    name, dtype : str, optional
        As for `Metric`.

    Notes
    -----
    (1 + beta^2) * tp / ((1 + beta^2) * tp + fp + beta^2 * fn)
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
                f"{type(self).__name__}: average {average!r}; expected None, 'micro', 'macro' or "
                f"'weighted'."
            )
        self.average = average
        self.beta = float(beta)
        self.threshold = threshold

    def build(self, y_pred: Tensor) -> None:
        """Make tp, fp and fn: one number for each class."""
        classes = y_pred.shape[-1] if y_pred.ndim == 2 else None
        if classes is None:
            raise ShapeError(
                f"{type(self).__name__}: predictions of shape {y_pred.shape}; expected "
                f"(batch, classes)."
            )
        for word in ("true_positives", "false_positives", "false_negatives"):
            self.add_weight((classes,), name=word)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return tp, fp and fn of a batch."""
        if self.threshold is None:
            is_yes = K.greater_equal(y_pred, K.max(y_pred, axis=-1, keepdims=True))
        else:
            is_yes = K.greater(y_pred, self.threshold)
        yes = K.cast(is_yes, y_pred.dtype)
        y_true, weight = K.cast(y_true, y_pred.dtype), weights_like(y_pred, weights)
        parts = (yes * y_true, yes * (1.0 - y_true), (1.0 - yes) * y_true)
        return [K.sum(part * weight, axis=0) for part in parts]

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the score."""
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
    """Harmonic mean of precision and recall: `FBetaScore` with beta 1."""

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = "f1_score",
        dtype: str | None = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)


@registry.register
class MeanIoU(Metric):
    """Intersection over union of predicted and true places of a class, mean over the classes.

    Parameters
    ----------
    num_classes : int
    name, dtype : str, optional
        As for `Metric`.
    ignore_class : int, optional
        Places of this true class do not count.
    sparse_y_true, sparse_y_pred : bool
        Whether these are class numbers; else the greatest entry along `axis` is the class.
    axis : int

    Notes
    -----
    With the counts c_ij of places of class i that were predicted to be j:
    c_ii / (sum_j c_ij + sum_j c_ji - c_ii), mean over the classes that occur.
    """

    waits_for_predictions = False

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
        super().__init__(name, dtype)
        self.ignore_class = ignore_class
        self.axis = int(axis)
        self.num_classes = int(num_classes)
        self.sparse_y_true = bool(sparse_y_true)
        self.sparse_y_pred = bool(sparse_y_pred)

    def build(self, y_pred: Tensor) -> None:
        """Make the counts c."""
        self.add_weight((self.num_classes, self.num_classes), name="total_confusion_matrix")

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the counts of a batch."""
        true = y_true if self.sparse_y_true else K.argmax(y_true, axis=self.axis)
        predicted = y_pred if self.sparse_y_pred else K.argmax(y_pred, axis=self.axis)
        weight = weights_like(K.cast(true, K.floatx()), weights)
        if self.ignore_class is not None:
            counts = K.not_equal(true, self.ignore_class)
            weight = weight * K.cast(counts, K.floatx())
            true = true * K.cast(counts, K.dtype(true))  # an ignored class becomes a valid one, 0
        weight = K.reshape(weight, (-1, 1))
        rows = K.transpose(self._one_hot(true) * weight)
        return [K.dot(rows, self._one_hot(predicted))]

    def _one_hot(self, classes: Tensor) -> Tensor:
        flat = K.reshape(K.cast(classes, "int64"), (-1,))
        return K.cast(K.one_hot(flat, self.num_classes), K.floatx())

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean over the classes that occur."""
        (counts,) = state
        both = K.sum(counts * K.eye(self.num_classes), axis=0)
        either = K.sum(counts, axis=0) + K.sum(counts, axis=1) - both
        occurs = K.cast(K.greater(either, 0.0), K.floatx())
        return quotient(K.sum(quotient(both, either)), K.sum(occurs))


# --- sums and means -------------------------------------------------------------------------------


@registry.alias("root_mean_squared_error")
class RootMeanSquaredError(SumAndCount):
    """Root of the mean square of p - y over all samples.

    Examples
    --------
    >>> import numpy as np
    >>> float(RootMeanSquaredError()(np.array([[0.0], [0.0]]), np.array([[1.0], [7.0]])))
    5.0
    """

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sum of squares and their count."""
        return sum_and_weight(K.square(y_pred - y_true), weights)

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the root of the mean."""
        return K.sqrt(quotient(state[0], state[1]))


class _OfValues(SumAndCount):
    """Base of the two metrics of numbers, which know no targets: `metric.update_state(values)`."""

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> None:
        """Take numbers into account, with their weights."""
        weights = None if sample_weight is None else as_tensor(sample_weight)
        self._build(None)
        grown = sum_and_weight(K.cast(as_tensor(values), K.floatx()), weights)
        self._grow(grown[: len(self._state)])


class Mean(_OfValues):
    """Mean of numbers: `metric.update_state([1, 3])`, `metric.result()`."""

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean."""
        return quotient(state[0], state[1])


class Sum(_OfValues):
    """Sum of numbers."""

    def build(self, y_pred: Tensor) -> None:
        """Make the sum alone."""
        self.add_weight(name="total")

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the sum."""
        return K.identity(state[0])
