"""Metrics of yes-or-no decisions that need counts over all batches: precision, recall, AUC, F1.

tp, fp, tn and fn are the numbers of true positives, false positives, true negatives and false
negatives, one for each threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError
from kerascope.limits import current_budget
from kerascope.losses.classes import quotient
from kerascope.metrics.classes import Metric, weights_like
from kerascope.metrics.functions import registry


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
            self.add_variable((len(self._bounds),), word)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the four counts of a batch."""
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        return _counts(y_true, y_pred, weights, self._bounds)

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
        """Return the metric, one number for each threshold."""
        raise NotImplementedError(f"{type(self).__name__} does not define from_counts")

    def result_of(self, state: list[Any]) -> Tensor:
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
    >>> Precision()(np.array([0.0, 1.0, 1.0]), np.array([0.9, 0.8, 0.3]))
    0.5
    """

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
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

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
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

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
        """Return tp."""
        return K.identity(tp)


@registry.alias("false_positives")
class FalsePositives(_OneCount):
    """Number of negatives that were predicted to be positives."""

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
        """Return fp."""
        return K.identity(fp)


@registry.alias("true_negatives")
class TrueNegatives(_OneCount):
    """Number of negatives that were predicted."""

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
        """Return tn."""
        return K.identity(tn)


@registry.alias("false_negatives")
class FalseNegatives(_OneCount):
    """Number of positives that were predicted to be negatives."""

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
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

    def from_counts(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Tensor:
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

    def result_of(self, state: list[Any]) -> Tensor:
        """Return the area."""
        return self.from_counts(*state)
