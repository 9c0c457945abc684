"""Metrics as objects: with arguments, and with a state that grows from batch to batch.

Two kinds. A `MeanMetric` is a function and its arguments; in `model.compile` it works like the
function, and the means over an epoch are taken as for any function. The others (`stateful.py`),
such as the share of found positives in all (`Recall`), are no mean of numbers of batches: they keep
sums in variables. Their call gives the result *after* the batch and, in `updates`, the pairs
(variable, new value), which the train function and the test function write. Training resets them
before each epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from kerascope import backend as K
from kerascope import losses
from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Tensor, TensorLike, Variable, as_tensor
from kerascope.configured import Configured, names_beside
from kerascope.errors import ArgumentError, NotYetAttributeError
from kerascope.limits import current_budget
from kerascope.losses import functions as loss_functions
from kerascope.losses.classes import of_equal_rank, quotient, snake_case
from kerascope.metrics import functions
from kerascope.metrics.functions import registry

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanMetric",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "Poisson",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SquaredHinge",
    "TopKCategoricalAccuracy",
]

HOW = (
    "A metric of your own writes here, in the place of Keras 3's add_weight, update_state and "
    "result: build(y_pred), which makes each variable, self.add_variable((), 'total'); "
    "increments(y_true, y_pred, weights), which returns a list of how much each of them grows; "
    "and result_of(state), which returns the metric for a list of their values."
)


class Metric(Configured):
    """Base of the metrics that are objects.

    A subclass writes `build`, which makes the variables, `increments`, which says by how much each
    of them grows, and `result_of`. Keras 3's `update_state` cannot be written here: its `assign`
    would have to become part of a graph.

    Parameters
    ----------
    name : str, optional
        Key in the logs; default that of the class.
    dtype : str, optional
        As Keras 3 has it; the sums are kept in `K.floatx()`.

    Attributes
    ----------
    stateful : bool
        Whether the state goes on from batch to batch inside a model.
    updates : list of (Variable, Tensor)
        What the last call on tensors wants to be written.
    """

    stateful = True

    def __init__(self, name: str | None = None, dtype: str | None = None) -> None:
        self.name = name or snake_case(type(self).__name__)
        self.dtype = dtype
        self.variables: list[Variable] = []
        self.updates: list[tuple[Variable, Tensor]] = []

    def add_variable(self, shape: Sequence[int], name: str) -> Variable:
        """Make a variable of zeros."""
        budget = current_budget()
        if budget is not None:
            budget.take_numbers(tuple(shape), f"a state {name!r} of the metric {self.name!r}")
        variable = K.zeros(tuple(shape), name=f"{self.name}/{name}")
        self.variables.append(variable)
        return variable

    # --- what a metric of your own writes ---------------------------------------------------------

    def build(self, y_pred: Tensor) -> None:
        """Make the variables; called at the first use, when the shape of predictions is known."""

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return by how much a batch makes each variable grow."""
        raise NotImplementedError(f"{type(self).__name__} does not define increments. {HOW}")

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the metric for these values of the variables."""
        raise NotImplementedError(f"{type(self).__name__} does not define result_of. {HOW}")

    def add_weight(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Say what to write for Keras 3's `add_weight`.

        Raises
        ------
        NotYetError
            Always.
        """
        raise NotYetAttributeError(f"{type(self).__name__} calls add_weight. {HOW}")

    # --- use --------------------------------------------------------------------------------------

    def __call__(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        """Take a batch into account and return the result so far.

        On tensors nothing is written: see `updates`. On arrays the state changes at once.
        """
        if not isinstance(y_pred, Tensor):
            self.update_state(y_true, y_pred, sample_weight)
            return self.result()
        self.updates = self._pairs(y_true, y_pred, sample_weight)
        return self.result_of([new_value for _, new_value in self.updates])

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch of arrays into account."""
        with LOCKS.steps, eager_mode():
            pairs = self._pairs(y_true, y_pred, sample_weight)
            set_values([(variable, value_of(new_value)) for variable, new_value in pairs])

    def _pairs(
        self, y_true: TensorLike, y_pred: TensorLike, weights: TensorLike | None
    ) -> list[tuple[Variable, Tensor]]:
        y_pred = as_tensor(y_pred)
        y_true, y_pred = of_equal_rank(as_tensor(y_true, like=y_pred), y_pred)
        weights = None if weights is None else as_tensor(weights)
        if not self.variables:
            self.build(y_pred)
        return self._grown(self.increments(y_true, y_pred, weights))

    def _grown(self, increments: list[Tensor]) -> list[tuple[Variable, Tensor]]:
        pairs = zip(self.variables, increments, strict=True)
        return [(variable, variable + K.cast(by, variable.dtype)) for variable, by in pairs]

    def result(self) -> Any:
        """Return the metric for all batches since the last reset: a number, or an array."""
        with eager_mode():
            result = np.asarray(value_of(self.result_of(list(self.variables))))
        return float(result) if result.ndim == 0 else result

    def reset_state(self) -> None:
        """Forget all batches."""
        set_values(self._resets())

    def _resets(self) -> list[tuple[Variable, np.ndarray]]:
        """Return what each variable becomes when all batches are forgotten."""
        return [(v, np.zeros_like(v.room)) for v in self.variables]

    def reset_states(self) -> None:
        """Forget all batches: Keras 2's name of `reset_state`."""
        self.reset_state()

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        config = super().get_config()
        return {key: value for key, value in config.items() if (key, value) != ("dtype", None)}


class SumAndCount(Metric):
    """Base of those that keep a sum of numbers, and how many (or how heavy) they are."""

    def build(self, y_pred: Tensor) -> None:
        """Make the sum of the numbers and their count."""
        self.add_variable((), "total")
        self.add_variable((), "count")


class MeanMetric(SumAndCount):
    """A function of targets and predictions, the mean of which is reported."""

    stateful = False
    function: ClassVar[Callable[..., Tensor]]

    def per_sample(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return one number for each sample (or each place in it)."""
        own = [n for n in names_beside(type(self), "function") if n not in ("name", "dtype")]
        options = {name: getattr(self, name) for name in own}
        return type(self).function(y_true, y_pred, **options)

    def __call__(
        self, y_true: Any, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        """Return the samples' numbers for tensors; for arrays the mean of all batches so far."""
        if isinstance(y_pred, Tensor):
            return self.per_sample(y_true, y_pred)
        return super().__call__(y_true, y_pred, sample_weight)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the sum of the batch's numbers, and how many (or how heavy) they are."""
        if weights is not None and weights.ndim == y_pred.ndim == 1:  # each number is a sample
            y_true, y_pred = K.expand_dims(y_true, -1), K.expand_dims(y_pred, -1)
        return sum_and_weight(self.per_sample(y_true, y_pred), weights)

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean."""
        return quotient(state[0], state[1])

    def after(self, scores: Tensor, weights: Tensor | None) -> Tensor:
        """Return the mean after a batch of which the numbers are known; see `updates`."""
        if not self.variables:
            self.build(scores)
        self.updates = self._grown(sum_and_weight(scores, weights))
        return self.result_of([new_value for _, new_value in self.updates])


def sum_and_weight(scores: Tensor, weights: Tensor | None) -> list[Tensor]:
    """Return by how much a batch makes a mean's sum grow, and its count: as in Keras 3.

    Parameters
    ----------
    scores : Tensor, shape (batch, ...)
        Or a single number, which counts once, however large the batch is.
    weights : Tensor, optional
        Shape (batch,) for one weight each, or (batch, steps).

    Raises
    ------
    ArgumentError
        The weights have more axes than the numbers.

    Notes
    -----
    A sample counts as one, or as the mean of its weights, however many steps it has.
    """
    if weights is None:
        samples = _mean_from(scores, 1)
        return [K.sum(samples), K.sum(K.ones_like(samples))]
    scores, weights = _matched(scores, K.cast(weights, scores.dtype))
    scores = _mean_from(scores, weights.ndim)
    weights = weights * K.ones_like(scores)
    return [K.sum(_mean_from(scores * weights, 1)), K.sum(_mean_from(weights, 1))]


def _mean_from(x: Tensor, axis: int) -> Tensor:
    """Return the mean over all axes from one on."""
    return K.mean(x, axis=list(range(axis, x.ndim))) if x.ndim > axis else x


def _matched(scores: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return numbers and their weights; an axis of size 1 that only one of them has goes."""
    scores, weights = of_equal_rank(scores, weights)
    if weights.ndim == scores.ndim + 1 > 1:
        weights = K.squeeze(weights, -1)
    if weights.ndim > scores.ndim:
        raise ArgumentError(
            f"metric: weights with {weights.ndim} axes for numbers with {scores.ndim}; expected "
            "as many or fewer, such as one weight for each sample."
        )
    return scores, weights


def weights_like(x: Tensor, weights: Tensor | None) -> Tensor:
    """Return the sample weights with the shape of `x`; ones if there are none."""
    ones = K.ones_like(x)
    if weights is None:
        return ones
    if weights.ndim == x.ndim + 1:
        weights = K.squeeze(weights, -1)
    while weights.ndim < x.ndim:
        weights = K.expand_dims(weights, -1)
    return K.cast(weights, x.dtype) * ones


# --- the means of Keras 3 -------------------------------------------------------------------------
# Each takes also `name`, the key in the logs, and `dtype`: see `Metric`.


def _accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return K.mean(K.cast(K.equal(y_true, y_pred), K.floatx()), axis=-1)


def _binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float) -> Tensor:
    decided = K.cast(K.greater(y_pred, threshold), K.floatx())
    return K.mean(K.cast(K.equal(y_true, decided), K.floatx()), axis=-1)


def _sparse_top_k(y_true: Tensor, y_pred: Tensor, k: int, from_sorted_ids: bool) -> Tensor:
    if from_sorted_ids:
        raise ArgumentError(
            "SparseTopKCategoricalAccuracy: from_sorted_ids=True does not exist here; give scores."
        )
    return functions.sparse_top_k_categorical_accuracy(y_true, y_pred, k)


def _cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int) -> Tensor:
    return -loss_functions.cosine_similarity_along(y_true, y_pred, axis)


@registry.register
class Accuracy(MeanMetric):
    """Share of predictions that equal their targets."""

    function = _accuracy


@registry.register
class BinaryAccuracy(MeanMetric):
    """Share of probabilities on the right side of `threshold`."""

    function = _binary_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold


@registry.register
class CategoricalAccuracy(MeanMetric):
    """`categorical_accuracy` as an object."""

    function = functions.categorical_accuracy


@registry.register
class SparseCategoricalAccuracy(MeanMetric):
    """`sparse_categorical_accuracy` as an object."""

    function = functions.sparse_categorical_accuracy


@registry.register
class TopKCategoricalAccuracy(MeanMetric):
    """Share of samples whose class is among the `k` greatest predictions."""

    function = functions.top_k_categorical_accuracy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        k: int = 5,
    ) -> None:
        super().__init__(name, dtype)
        self.k = k


@registry.register
class SparseTopKCategoricalAccuracy(MeanMetric):
    """`TopKCategoricalAccuracy` for class numbers."""

    function = _sparse_top_k

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        k: int = 5,
        from_sorted_ids: bool = False,
    ) -> None:
        super().__init__(name, dtype)
        self.k = k
        self.from_sorted_ids = from_sorted_ids


@registry.register
class MeanSquaredError(MeanMetric):
    """`mean_squared_error` as an object."""

    function = losses.mean_squared_error


@registry.register
class MeanAbsoluteError(MeanMetric):
    """`mean_absolute_error` as an object."""

    function = losses.mean_absolute_error


@registry.register
class MeanAbsolutePercentageError(MeanMetric):
    """`mean_absolute_percentage_error` as an object."""

    function = losses.mean_absolute_percentage_error


@registry.register
class MeanSquaredLogarithmicError(MeanMetric):
    """`mean_squared_logarithmic_error` as an object."""

    function = losses.mean_squared_logarithmic_error


@registry.register
class CategoricalHinge(MeanMetric):
    """`categorical_hinge` as an object."""

    function = losses.categorical_hinge


@registry.register
class Hinge(MeanMetric):
    """`hinge_of_bits` as an object."""

    function = loss_functions.hinge_of_bits


@registry.register
class SquaredHinge(MeanMetric):
    """`squared_hinge_of_bits` as an object."""

    function = loss_functions.squared_hinge_of_bits


@registry.register
class KLDivergence(MeanMetric):
    """`kullback_leibler_divergence` as an object."""

    function = losses.kullback_leibler_divergence


@registry.register
class Poisson(MeanMetric):
    """`poisson` as an object."""

    function = losses.poisson


@registry.alias("log_cosh_error")
class LogCoshError(MeanMetric):
    """`logcosh` as an object."""

    function = losses.logcosh

    def __init__(
        self,
        name: str = "logcosh",
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, dtype)


@registry.alias("cosine_similarity")
class CosineSimilarity(MeanMetric):
    """Cosine of the angle between targets and predictions: 1 if they point the same way."""

    function = _cosine_similarity

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.axis = axis


@registry.alias("bce", "BCE")
class BinaryCrossentropy(MeanMetric):
    """`binary_crossentropy` as an object."""

    function = loss_functions.binary_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing


@registry.register
class CategoricalCrossentropy(MeanMetric):
    """`categorical_crossentropy` as an object."""

    function = loss_functions.categorical_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.label_smoothing = label_smoothing
        self.axis = axis


@registry.register
class SparseCategoricalCrossentropy(MeanMetric):
    """`sparse_categorical_crossentropy` as an object."""

    function = loss_functions.sparse_categorical_crossentropy_with_options

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self.from_logits = from_logits
        self.ignore_class = ignore_class
        self.axis = axis
