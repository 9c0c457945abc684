"""Metrics as objects: they have arguments, and a state that is updated with each batch.

There are two kinds of metrics. A `MeanMetric` consists of a function and its arguments. In the
dialects before "3", `model.compile` uses only the function of a `MeanMetric`, and the model
averages the function's values over an epoch. The other metrics (`stateful.py`), such as `Recall`,
are not means of values of batches. They keep sums in variables. A call of such a metric returns the
result *after* the batch. Its `updates` are then the pairs (variable, new value), which the train
function and the test function write. Training resets these metrics before each epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Self

import numpy as np

from kerascope import backend as K
from kerascope import initializers, losses
from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.eager import assigning, eager_mode, value_of
from kerascope.backend.graph import ASSIGNED, Tensor, TensorLike, as_tensor, graph_mode, is_eager
from kerascope.backend.variables import Variable
from kerascope.configurable import Configured, configured_names, plain
from kerascope.errors import ArgumentError, GraphError
from kerascope.limits import current_budget
from kerascope.losses import functions as loss_functions
from kerascope.losses.classes import FunctionWithArguments, of_equal_rank, quotient, snake_case
from kerascope.metrics import functions
from kerascope.metrics.functions import registry
from kerascope.nested_values import found_in, replaced
from kerascope.spellings import override_dialect

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanMetric",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "PearsonCorrelation",
    "Poisson",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SquaredHinge",
    "TopKCategoricalAccuracy",
]

Method = Callable[..., Any]

ADVICE = (
    "Create variables with self.add_weight(name='total'). Define update_state(y_true, y_pred, "
    "sample_weight=None), which assigns to them, and result()."
)


def as_one_step(method: Method) -> Method:
    """Decorate a metric's method so that it returns numbers, and assigns its variables at the end.

    If another decorated method calls this method, or while a graph is built, the caller writes the
    assignments instead.
    """

    @wraps(method)
    def step(self: Metric, *args: Any, **kwargs: Any) -> Any:
        if ASSIGNED.get() is not None:
            return method(self, *args, **kwargs)
        with LOCKS.steps, eager_mode(), assigning() as assigned:
            found = replaced(method(self, *args, **kwargs), Tensor, value_of)
            set_values([(variable, value_of(new)) for variable, new in assigned.items()])
        return found

    return step


class Metric(Configured):
    """Base class of metrics that are objects, also of your own metrics, as in Keras 3.

    The constructor creates variables with `add_weight`. `update_state` changes them with `assign`,
    `assign_add` and `assign_sub`. `result` returns a number or a dict of numbers.

    On arrays everything is computed at once, and assignments are written when the method returns.
    In a model each method runs once, on symbolic tensors, and its assignments become update pairs,
    which are written together with the weights of a training step. So only variables are state:
    Python values, such as a list that a method appends to, are not updated with each batch.

    Parameters
    ----------
    name : str, optional
        Key in the logs. Default: the name of the class in snake case.
    dtype : str, optional
        The dtype of the metric's variables. Default `K.floatx()`.

    Attributes
    ----------
    stateful : bool
        Whether a model keeps the metric's state from batch to batch.
    updates : list of (Variable, Tensor)
        Variables and their new values after the last call on tensors.

    Examples
    --------
    >>> class Largest(Metric):
    ...     def __init__(self, name="largest", **kwargs):
    ...         super().__init__(name=name, **kwargs)
    ...         self.largest = self.add_weight(name="largest")
    ...
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.largest.assign(K.maximum(self.largest, K.max(y_pred)))
    ...
    ...     def result(self):
    ...         return self.largest
    >>> metric = Largest()
    >>> metric.update_state([0.0, 0.0], [2.0, 5.0])
    >>> float(metric.result())
    5.0
    """

    stateful = True
    waits_for_predictions = True  # whether `build` needs the shape of the predictions

    def __init_subclass__(cls) -> None:
        for name in ("update_state", "result", "reset_state"):
            if name in vars(cls):
                setattr(cls, name, as_one_step(vars(cls)[name]))
                cls.stateful = cls.stateful or not cls.__module__.startswith("kerascope.")

    def __init__(self, name: str | None = None, dtype: str | None = None) -> None:
        self.name = name or snake_case(type(self).__name__)
        self.dtype = dtype or K.floatx()
        self._made: list[Variable] = []
        self._state: list[Variable] = []  # variables created by `build`
        self.updates: list[tuple[Variable, Tensor]] = []

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any = "zeros",
        dtype: str | None = None,
        aggregation: str | None = None,
        name: str | None = None,
    ) -> Variable:
        """Create a variable of the state. `aggregation`, from Keras 3, is ignored."""
        budget = current_budget()
        if budget is not None:
            budget.take_numbers(tuple(shape), f"a state {name!r} of the metric {self.name!r}")
        first = initializers.get(initializer or "zeros")(tuple(shape))
        with eager_mode():
            first = value_of(first)
        variable = K.variable(first, dtype or self.dtype, f"{self.name}/{name or 'variable'}")
        self._made.append(variable)
        return variable

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = "zeros",
        dtype: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Variable:
        """Create a variable of the state; the name may come first, as in Keras 2."""
        if isinstance(shape, str):
            shape, name = kwargs.pop("shape", ()), shape
        return self.add_variable(shape, initializer, dtype, kwargs.get("aggregation"), name)

    @property
    def variables(self) -> list[Variable]:
        """The variables of this metric and of metrics that are its attributes."""
        if not self.waits_for_predictions:
            self._build(None)
        held = [value for name, value in vars(self).items() if name != "updates"]
        inner = [v for metric in found_in(held, Metric) for v in metric.variables]
        return list(dict.fromkeys([*self._made, *found_in(held, Variable), *inner]))

    # --- for the metrics of this package ----------------------------------------------------------

    def build(self, y_pred: Tensor) -> None:
        """Create the variables; called at first use, when the shape of predictions is known."""

    def _build(self, y_pred: Tensor | None) -> None:
        if not self._state:
            before = list(self._made)
            self.build(y_pred)  # type: ignore[arg-type]
            self._state = self._made[len(before) :]

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the number that a batch adds to each variable, in the order of the variables."""
        raise NotImplementedError(f"{type(self).__name__} does not define update_state. {ADVICE}")

    def result_of(self, state: list[Tensor]) -> Any:
        """Return the result of the metric, computed from the values `state` of its variables."""
        raise NotImplementedError(f"{type(self).__name__} does not define result. {ADVICE}")

    # --- use --------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the state with a batch and return the result so far.

        On arrays the state changes at once. On tensors nothing is written, and `updates` contains
        the new values.

        Raises
        ------
        GraphError
            `update_state` or `result` set an attribute to a tensor, or changed a Python number. In
            a graph this would happen once, and not for each batch.
        """
        is_numbers = is_eager() or not found_in((args, kwargs), Tensor)
        if is_numbers or ASSIGNED.get() is not None:
            self.update_state(*args, **kwargs)
            return self.result()
        before = dict(vars(self))
        with graph_mode(), assigning() as assigned:
            self.update_state(*args, **kwargs)
            result = replaced(self.result(), Variable, lambda v: assigned.get(v, v))
        for name, new in vars(self).items():
            old = before.get(name)
            is_count = type(new) in (int, float) and type(old) in (int, float)
            is_symbol = any(not isinstance(x, Variable) for x in found_in([new], Tensor))
            if new is not old and name != "updates" and (is_count or is_symbol):
                vars(self).clear()
                vars(self).update(before)
                raise GraphError(
                    f"Metric {self.name!r} sets self.{name}, which a model would do once, not for "
                    f"each batch. Create self.{name} = self.add_weight() and assign to it.",
                    subject=self,
                )
        self.updates = list(assigned.items())
        return result

    @as_one_step
    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Update the state with a batch."""
        y_pred = as_tensor(y_pred)
        y_true, y_pred = of_equal_rank(as_tensor(y_true, like=y_pred), y_pred)
        weights = None if sample_weight is None else as_tensor(sample_weight)
        self._build(y_pred)
        self._grow(self.increments(y_true, y_pred, weights))

    def _grow(self, increments: list[Tensor]) -> None:
        for variable, by in zip(self._state, increments, strict=True):
            variable.assign_add(K.cast(by, variable.dtype))

    @as_one_step
    def result(self) -> Any:
        """Return the metric for all batches since the last reset: a number, or an array."""
        if not self.waits_for_predictions:
            self._build(None)
        elif not self._state and type(self).build is not Metric.build:
            raise ArgumentError(
                f"Metric {self.name!r} has no result yet, because its variables depend on the "
                "shape of the predictions. Call update_state first.",
                subject=self,
            )
        return self.result_of(list(self._state))

    @as_one_step
    def reset_state(self) -> None:
        """Reset the state to the one before the first batch."""
        for variable, zeros in self._resets():
            variable.assign(zeros)

    def _resets(self) -> list[tuple[Variable, np.ndarray]]:
        """Return each variable and the value that `reset_state` gives it."""
        return [(v, np.zeros_like(v.room)) for v in self.variables]

    def reset_states(self) -> None:
        """Reset the state, under Keras 2's name of `reset_state`."""
        self.reset_state()

    # --- Keras 3's functions of the state ---------------------------------------------------------

    def _with_state(self, values: Sequence[Any], method: Method, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(self.variables, map(as_tensor, map(value_of, values)), strict=True))
        with LOCKS.steps, eager_mode(), assigning(given) as assigned:
            found = replaced(method(*args, **kwargs), Tensor, value_of)
            return found, [value_of(assigned[variable]) for variable in given]

    def stateless_update_state(
        self, metric_variables: Sequence[Any], *args: Any, **kwargs: Any
    ) -> list[Any]:
        """Return the values of the variables after `update_state`, without writing them."""
        return self._with_state(metric_variables, self.update_state, *args, **kwargs)[1]

    def stateless_result(self, metric_variables: Sequence[Any]) -> Any:
        """Return the result for given values of the variables."""
        return self._with_state(metric_variables, self.result)[0]

    def stateless_reset_state(self) -> list[Any]:
        """Return the values of the variables after `reset_state`, without writing them."""
        return self._with_state(self.variables, self.reset_state)[1]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        own = configured_names(type(self))
        config = {name: plain(getattr(self, name)) for name in own if hasattr(self, name)}
        usual = (None, K.floatx())
        return {k: value for k, value in config.items() if k != "dtype" or value not in usual}


class SumAndCount(Metric):
    """Base class of metrics that keep a weighted sum of numbers and the sum of the weights."""

    waits_for_predictions = False

    def build(self, y_pred: Tensor) -> None:
        """Create the variables `total` and `count` for the two sums."""
        self.add_weight(name="total")
        self.add_weight(name="count")


class MeanMetric(FunctionWithArguments, SumAndCount):
    """Base of metrics that report the mean of a function of targets and predictions.

    Examples
    --------
    A subclass sets `function`, which returns a number for each sample:

    >>> class Bias(MeanMetric):
    ...     function = lambda y_true, y_pred: K.mean(y_pred - y_true, axis=-1)
    >>> metric = Bias()
    >>> float(metric([[1.0], [1.0]], [[2.0], [4.0]]))
    2.0
    >>> metric.name
    'bias'
    """

    stateful = False

    def per_sample(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return one number for each sample, or for each of its time steps or positions."""
        with override_dialect(averaged_metrics="none"):
            return self._compute(y_true, y_pred)

    def increments(self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None) -> list[Tensor]:
        """Return the weighted sum of the batch's numbers and the sum of their weights."""
        if weights is not None and weights.ndim == y_pred.ndim == 1:  # each number is a sample
            y_true, y_pred = K.expand_dims(y_true, -1), K.expand_dims(y_pred, -1)
        scores = self.per_sample(y_true, y_pred)
        return sum_and_weight(scores, weights if scores.ndim else None)

    def result_of(self, state: list[Tensor]) -> Tensor:
        """Return the mean, the quotient of the two sums."""
        return quotient(state[0], state[1])


class MeanMetricWrapper(MeanMetric):
    """The mean of your own function of targets and predictions.

    Parameters
    ----------
    fn : callable
        Takes targets and predictions, and returns a number for each sample.
    name, dtype : str, optional
        As for `Metric`.
    **kwargs
        Passed to `fn`.

    Examples
    --------
    >>> far = MeanMetricWrapper(lambda y, p, limit: K.abs(p - y) > limit, name="far", limit=1.0)
    >>> float(far([[0.0], [0.0]], [[0.5], [2.0]]))
    0.5
    """

    def __init__(
        self, fn: Method, name: str | None = None, dtype: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name, dtype)
        self.fn = fn
        self._options = kwargs

    def per_sample(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the function's result, cast to the metric's dtype."""
        with override_dialect(averaged_metrics="none"):
            return K.cast(self.fn(y_true, y_pred, **self._options), self.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; a registered function is given by its name."""
        config = {**super().get_config(), **self._options}
        return config | ({"fn": registry.serialize(self.fn)} if "fn" in config else {})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create a metric from a configuration that `get_config` returned."""
        fn = {"fn": registry.get(config["fn"])} if "fn" in config else {}
        return super().from_config({**config, **fn})


def sum_and_weight(scores: Tensor, weights: Tensor | None) -> list[Tensor]:
    """Return the weighted sum of a batch's numbers and the sum of their weights, as in Keras 3.

    Parameters
    ----------
    scores : Tensor, shape (batch, ...)
        The numbers of the samples. A single number counts once, regardless of the batch size.
    weights : Tensor, optional
        Shape (batch,) for one weight per sample, or (batch, steps).

    Raises
    ------
    ArgumentError
        The weights have more axes than the scores.

    Notes
    -----
    The weight of a sample is 1, or the mean of the weights of its time steps.
    """
    if weights is None:
        samples = _mean_from(scores, 1)
        return [K.sum(samples), K.sum(K.ones_like(samples))]
    scores, weights = _align_weights(scores, K.cast(weights, scores.dtype))
    scores = _mean_from(scores, weights.ndim)
    weights = weights * K.ones_like(scores)
    return [K.sum(_mean_from(scores * weights, 1)), K.sum(_mean_from(weights, 1))]


def _mean_from(x: Tensor, axis: int) -> Tensor:
    """Return the mean over `axis` and all axes after it."""
    return K.mean(x, axis=list(range(axis, x.ndim))) if x.ndim > axis else x


def _align_weights(scores: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores and weights, without a last axis of size 1 that only one of them has."""
    scores, weights = of_equal_rank(scores, weights)
    if weights.ndim == scores.ndim + 1 > 1:
        weights = K.squeeze(weights, -1)
    if weights.ndim > scores.ndim:
        raise ArgumentError(
            f"Metric: expected sample weights with at most {scores.ndim} axes, as many as the "
            f"values have, got {weights.ndim}. Give one weight for each sample, for example."
        )
    return scores, weights


def weights_like(x: Tensor, weights: Tensor | None) -> Tensor:
    """Return sample weights broadcast to the shape of `x`; ones if `weights` is None."""
    ones = K.ones_like(x)
    if weights is None:
        return ones
    if weights.ndim == x.ndim + 1:
        weights = K.squeeze(weights, -1)
    while weights.ndim < x.ndim:
        weights = K.expand_dims(weights, -1)
    return K.cast(weights, x.dtype) * ones


# --- the means of Keras 3 -------------------------------------------------------------------------
# Each also takes `name`, the key in the logs, and `dtype`: see `Metric`.


def _accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return K.mean(K.cast(K.equal(y_true, y_pred), K.floatx()), axis=-1)


def _binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float) -> Tensor:
    decided = K.cast(K.greater(y_pred, threshold), K.floatx())
    return K.mean(K.cast(K.equal(y_true, decided), K.floatx()), axis=-1)


def _sparse_top_k(y_true: Tensor, y_pred: Tensor, k: int, from_sorted_ids: bool) -> Tensor:
    if from_sorted_ids:
        raise ArgumentError(
            "SparseTopKCategoricalAccuracy: from_sorted_ids=True is not supported. Give scores."
        )
    return functions.sparse_top_k_categorical_accuracy(y_true, y_pred, k)


def _cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int) -> Tensor:
    return -loss_functions.cosine_proximity(y_true, y_pred, axis)


@registry.register
class Accuracy(MeanMetric):
    """Share of predictions that equal their targets.

    Examples
    --------
    >>> float(Accuracy()([[1], [2], [3], [4]], [[1], [2], [3], [0]]))
    0.75
    """

    function = _accuracy


@registry.register
class BinaryAccuracy(MeanMetric):
    """Share of right predictions: those above `threshold` count as 1, others as 0.

    Examples
    --------
    The prediction 0.6 of the second sample is wrong for the threshold 0.5, and right for 0.7:

    >>> y, p = [[1.0], [0.0], [1.0], [0.0]], [[0.9], [0.6], [0.8], [0.1]]
    >>> float(BinaryAccuracy()(y, p)), float(BinaryAccuracy(threshold=0.7)(y, p))
    (0.75, 1.0)
    """

    function = _binary_accuracy

    def __init__(
        self, name: str | None = None, dtype: str | None = None, threshold: float = 0.5
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.register
class CategoricalAccuracy(MeanMetric):
    """Share of samples whose right class has the greatest prediction; targets are one-hot.

    Examples
    --------
    The greatest prediction decides, even if it is below 0.5. Here the first sample is right:

    >>> y, p = [[0, 1, 0], [1, 0, 0]], [[0.3, 0.4, 0.3], [0.2, 0.5, 0.3]]
    >>> float(CategoricalAccuracy()(y, p))
    0.5
    """

    function = functions.categorical_accuracy


@registry.register
class SparseCategoricalAccuracy(MeanMetric):
    """Share of samples whose right class has the greatest prediction; targets are class numbers.

    Examples
    --------
    Only the first sample is right. With the weights 3 and 1, the accuracy is 3 / 4:

    >>> y, p = [2, 0], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]
    >>> float(SparseCategoricalAccuracy()(y, p))
    0.5
    >>> float(SparseCategoricalAccuracy()(y, p, sample_weight=[3.0, 1.0]))
    0.75
    """

    function = functions.sparse_categorical_accuracy


@registry.register
class TopKCategoricalAccuracy(MeanMetric):
    """Share of samples whose right class is among the `k` greatest predictions.

    Examples
    --------
    The right class has the second greatest prediction:

    >>> y, p = [[1, 0, 0, 0]], [[0.3, 0.4, 0.2, 0.1]]
    >>> [float(TopKCategoricalAccuracy(k)(y, p)) for k in (1, 2)]
    [0.0, 1.0]
    """

    function = functions.top_k_categorical_accuracy

    def __init__(self, k: int = 5, name: str | None = None, dtype: str | None = None) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.register
class SparseTopKCategoricalAccuracy(MeanMetric):
    """`TopKCategoricalAccuracy` for class numbers.

    Examples
    --------
    Classes 0 and 1 have the 2 greatest predictions, so the samples of class 2 are wrong:

    >>> y, p = [0, 1, 2, 2], [[0.5, 0.3, 0.2]] * 4
    >>> float(SparseTopKCategoricalAccuracy(k=2)(y, p))
    0.5
    """

    function = _sparse_top_k

    def __init__(
        self,
        k: int = 5,
        name: str | None = None,
        dtype: str | None = None,
        from_sorted_ids: bool = False,
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.register
class MeanSquaredError(MeanMetric):
    """Mean squared error: the mean of (p - y)^2 for targets y and predictions p.

    Examples
    --------
    Each call adds a batch, and returns the mean over all samples so far, 16 / 1 and then 16 / 4:

    >>> metric = MeanSquaredError()
    >>> float(metric([[0.0]], [[4.0]]))
    16.0
    >>> float(metric([[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]))
    4.0
    """

    function = losses.mean_squared_error


@registry.register
class MeanAbsoluteError(MeanMetric):
    """Mean absolute error: the mean of `|p - y|` for targets y and predictions p.

    Examples
    --------
    The errors are 1 and 3. `fit` calls `reset_state` before each epoch:

    >>> metric = MeanAbsoluteError()
    >>> float(metric([[1.0], [5.0]], [[2.0], [2.0]]))
    2.0
    >>> metric.reset_state()
    >>> float(metric.result())
    0.0
    """

    function = losses.mean_absolute_error


@registry.register
class MeanAbsolutePercentageError(MeanMetric):
    """Mean absolute error in percent of the targets y: the mean of `100 |p - y| / |y|`.

    Examples
    --------
    The errors are 10 percent of 100, and 25 percent of 200:

    >>> round(float(MeanAbsolutePercentageError()([[100.0], [200.0]], [[110.0], [150.0]])), 2)
    17.5
    """

    function = losses.mean_absolute_percentage_error


@registry.register
class MeanSquaredLogarithmicError(MeanMetric):
    """Mean of (log(1 + p) - log(1 + y))^2 for targets y and predictions p.

    Examples
    --------
    The logarithms of 1 + y = 10 and 1 + p = 100 differ by log(10) = 2.3026, squared 5.3019:

    >>> round(float(MeanSquaredLogarithmicError()([[9.0]], [[99.0]])), 4)
    5.3019
    """

    function = losses.mean_squared_logarithmic_error


@registry.register
class CategoricalHinge(MeanMetric):
    """Mean of max(1 + greatest p of a wrong class - p of the right class, 0) for predictions p.

    Examples
    --------
    The greatest prediction of a wrong class is 2, and that of the right class is 1: 1 + 2 - 1.

    >>> float(CategoricalHinge()([[0.0, 1.0, 0.0]], [[2.0, 1.0, 0.5]]))
    2.0
    """

    function = losses.categorical_hinge


@registry.register
class Hinge(MeanMetric):
    """Mean of max(1 - y p, 0) for predictions p; targets y are -1 and 1, where 0 counts as -1.

    Examples
    --------
    The predictions are 0, 0.5 and 1.5 short of the margins 1, 1 and -1, where -1 is written as 0:

    >>> round(float(Hinge()([[1.0], [1.0], [0.0]], [[3.0], [0.5], [0.5]])), 4)
    0.6667
    """

    function = loss_functions.hinge_of_bits


@registry.register
class SquaredHinge(MeanMetric):
    """Mean of max(1 - y p, 0)^2 for predictions p; targets y are -1 and 1, where 0 counts as -1.

    Examples
    --------
    The predictions are 1 and 3 short of the margins 1 and -1, so this is the mean of 1 and 9:

    >>> float(SquaredHinge()([[1.0], [-1.0]], [[0.0], [2.0]]))
    5.0
    """

    function = loss_functions.squared_hinge_of_bits


@registry.register
class KLDivergence(MeanMetric):
    """Mean Kullback-Leibler divergence, sum y log(y / p), of targets y and predictions p.

    Examples
    --------
    The right class is certain, and its predicted probability is 1/4, so the divergence is log(4):

    >>> round(float(KLDivergence()([[1.0, 0.0]], [[0.25, 0.75]])), 4)
    1.3863
    """

    function = losses.kullback_leibler_divergence


@registry.register
class Poisson(MeanMetric):
    """Mean Poisson loss, p - y log(p), of targets y and predictions p.

    Examples
    --------
    If the count is 0, the result is the predicted mean. If both are 1, it is 1 - log(1):

    >>> [round(float(Poisson()([[y]], [[p]])), 4) for y, p in ((0.0, 3.0), (1.0, 1.0))]
    [3.0, 1.0]
    """

    function = losses.poisson


@registry.alias("log_cosh_error")
class LogCoshError(MeanMetric):
    """Mean of log(cosh(p - y)) for targets y and predictions p.

    Examples
    --------
    For a large error x the result is near `|x| - log(2)`. The key in the logs is "logcosh":

    >>> metric = LogCoshError()
    >>> metric.name, round(float(metric([[0.0]], [[-20.0]])), 4)
    ('logcosh', 19.3069)
    """

    function = losses.logcosh

    def __init__(self, name: str = "logcosh", dtype: str | None = None) -> None:
        super().__init__(name, dtype)


@registry.alias("cosine_similarity")
class CosineSimilarity(MeanMetric):
    """Cosine of the angle between targets and predictions, which is 1 for equal directions.

    Examples
    --------
    Unlike the loss of the same name, the metric is 1 for equal directions:

    >>> y, p = [[3.0, 4.0]], [[6.0, 8.0]]
    >>> round(float(CosineSimilarity()(y, p)), 4), round(float(losses.CosineSimilarity()(y, p)), 4)
    (1.0, -1.0)
    """

    function = _cosine_similarity

    def __init__(self, name: str | None = None, dtype: str | None = None, axis: int = -1) -> None:
        super().__init__(name, dtype)
        self._store(locals())


class _Correlation(MeanMetric):
    """Base class of the correlations, which compare targets and predictions along `axis`."""

    def __init__(
        self, name: str | None = None, dtype: str | None = None, axis: functions.Axes = -1
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.alias("pearson_correlation")
class PearsonCorrelation(_Correlation):
    """Mean of `pearson_correlation` over all axes except `axis`.

    Examples
    --------
    The predictions rise with the targets in the first case, and fall in the second:

    >>> y = [[1.0, 2.0, 3.0]]
    >>> [round(float(PearsonCorrelation()(y, [p])), 4) for p in ([10, 20, 30], [-1, -2, -3])]
    [1.0, -1.0]
    """

    function = functions.pearson_correlation


@registry.alias("concordance_correlation")
class ConcordanceCorrelation(_Correlation):
    """Mean of `concordance_correlation` over all axes except `axis`.

    Examples
    --------
    Predictions that are all too large by 1 have the correlation 1, but do not agree. The covariance
    and both variances are 2/3, so the result is (2 * 2/3) / (2/3 + 2/3 + 1^2) = 4/7:

    >>> y, p = [[1.0, 2.0, 3.0]], [[2.0, 3.0, 4.0]]
    >>> round(float(ConcordanceCorrelation()(y, p)), 4), round(float(PearsonCorrelation()(y, p)), 4)
    (0.5714, 1.0)
    """

    function = functions.concordance_correlation


@registry.alias("bce", "BCE")
class BinaryCrossentropy(MeanMetric):
    """Mean of -y log(p) - (1 - y) log(1 - p) for targets y and probabilities p.

    Examples
    --------
    The right answers have the probabilities 1/2 and 1/4, so this is the mean of log(2) and log(4):

    >>> round(float(BinaryCrossentropy()([[1.0], [0.0]], [[0.5], [0.75]])), 4)
    1.0397
    """

    function = loss_functions.binary_crossentropy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.register
class CategoricalCrossentropy(MeanMetric):
    """Mean of -log p, where p is the probability of the right class; targets are one-hot.

    Examples
    --------
    If all scores are equal, each of 4 classes has the probability 1/4, and the result is log(4):

    >>> metric = CategoricalCrossentropy(from_logits=True)
    >>> round(float(metric([[0, 0, 1, 0]], [[7.0, 7.0, 7.0, 7.0]])), 4)
    1.3863
    """

    function = loss_functions.categorical_crossentropy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())


@registry.register
class SparseCategoricalCrossentropy(MeanMetric):
    """Mean of -log p, where p is the probability of the right class; targets are class numbers.

    Examples
    --------
    The exponential of the result is the perplexity of a language model. The right words have the
    probabilities 1/2 and 1/8, whose geometric mean is 1/4:

    >>> metric = SparseCategoricalCrossentropy()
    >>> round(float(np.exp(metric([0, 1], [[0.5, 0.5], [0.875, 0.125]]))), 3)
    4.0
    """

    function = loss_functions.sparse_categorical_crossentropy

    def __init__(
        self,
        name: str | None = None,
        dtype: str | None = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(name, dtype)
        self._store(locals())
