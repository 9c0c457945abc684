"""Metrics over all samples: F1, intersection over union, root of the mean square, mean, sum."""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError, ShapeError
from kerascope.losses.classes import quotient
from kerascope.metrics.classes import Metric, sum_and_weight, weights_like
from kerascope.metrics.functions import registry


@registry.alias("root_mean_squared_error")
class RootMeanSquaredError(Metric):
    """Root of the mean square of p - y over all samples.

    Examples
    --------
    >>> import numpy as np
    >>> RootMeanSquaredError()(np.array([[0.0], [0.0]]), np.array([[1.0], [7.0]]))
    5.0
    """

    def build(self, y_pred: Tensor) -> None:
        """Make the sum of squares and their count."""
        self.add_variable((), "total")
        self.add_variable((), "count")

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sum of squares and their count."""
        return sum_and_weight(K.square(y_pred - y_true), weights)

    def result_of(self, state: list[Any]) -> Tensor:
        """Return the root of the mean."""
        return K.sqrt(quotient(state[0], state[1]))


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
        classes = K.int_shape(y_pred)[-1]
        if classes is None or K.ndim(y_pred) != 2:
            raise ShapeError(
                f"{type(self).__name__}: predictions of shape {K.int_shape(y_pred)}; expected "
                f"(batch, classes)."
            )
        for word in ("true_positives", "false_positives", "false_negatives"):
            self.add_variable((classes,), word)

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

    def result_of(self, state: list[Any]) -> Tensor:
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
        self.add_variable((self.num_classes, self.num_classes), "total_confusion_matrix")

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

    def result_of(self, state: list[Any]) -> Tensor:
        """Return the mean over the classes that occur."""
        (counts,) = state
        both = K.sum(counts * K.eye(self.num_classes), axis=0)
        either = K.sum(counts, axis=0) + K.sum(counts, axis=1) - both
        occurs = K.cast(K.greater(either, 0.0), K.floatx())
        return quotient(K.sum(quotient(both, either)), K.sum(occurs))


class _OfValues(Metric):
    """Base of the two metrics of numbers, which know no targets: `metric.update_state(values)`."""

    def update_state(self, y_true: Any, y_pred: Any = None, sample_weight: Any = None) -> None:
        """Take numbers into account; the second argument is their weight, as in Keras 3."""
        weight = y_pred if sample_weight is None else sample_weight
        super().update_state(y_true, y_true, weight)

    def __call__(self, y_true: Any, y_pred: Any = None, sample_weight: Any = None) -> Any:
        """Take numbers into account and return the result so far.

        Raises
        ------
        ArgumentError
            They are tensors: `compile` calls metrics with targets and predictions.
        """
        if isinstance(y_true, Tensor):
            raise ArgumentError(
                f"{type(self).__name__}: is a metric of numbers, with update_state(values), and "
                f"knows no targets; expected another one in compile, such as 'mae'."
            )
        self.update_state(y_true, y_pred, sample_weight)
        return self.result()

    def build(self, y_pred: Tensor) -> None:
        """Make the sum and the count."""
        self.add_variable((), "total")
        self.add_variable((), "count")

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sum of the numbers and their count."""
        return sum_and_weight(K.cast(y_true, K.floatx()), weights)


class Mean(_OfValues):
    """Mean of numbers: `metric.update_state([1, 3])`, `metric.result()`."""

    def result_of(self, state: list[Any]) -> Tensor:
        """Return the mean."""
        return quotient(state[0], state[1])


class Sum(_OfValues):
    """Sum of numbers."""

    def result_of(self, state: list[Any]) -> Tensor:
        """Return the sum."""
        return K.identity(state[0])
