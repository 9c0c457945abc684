"""Losses as objects that hold their arguments: `Huber(delta=0.5)`, as in Keras 3.

Unlike a function, a loss object stores its arguments, so that its configuration contains them. It
reduces the losses of the samples to one number, by its `reduction`. `model.compile` accepts both.
`Loss` is the base class; the losses of Keras 3 follow, each wrapping a function with arguments.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.eager import at_once_on_arrays
from kerascope.backend.graph import Tensor, TensorLike, as_tensor
from kerascope.configurable import Configured, by_name, names_beside
from kerascope.errors import ArgumentError
from kerascope.losses import functions
from kerascope.losses.functions import registry

__all__ = [
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "plain_function",
]

_REDUCTIONS = (
    "sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "auto", "none", None,
)  # fmt: skip
_MEANS = ("sum_over_batch_size", "mean", "auto")
_BASE_ARGUMENTS = ("reduction", "name", "dtype")


class FunctionWithArguments(Configured):
    """Base of losses and metrics that compute a function of targets and predictions.

    A subclass sets `function`. Its constructor stores the other arguments of the function.
    """

    function: ClassVar[Callable[..., Tensor] | None] = None

    def _store(self, arguments: dict[str, Any]) -> None:
        """Store a constructor's arguments as attributes, except name, reduction and dtype.

        `arguments` is the `locals()` of the constructor.
        """
        for name, value in by_name(arguments).items():
            if name not in _BASE_ARGUMENTS:
                setattr(self, name, value)

    def _compute(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the function's result with the stored arguments."""
        function = type(self).function
        if function is None:
            raise NotImplementedError(f"{type(self).__name__} does not define call.")
        names = [n for n in names_beside(type(self), "function") if n not in _BASE_ARGUMENTS]
        return function(y_true, y_pred, **{name: getattr(self, name) for name in names})


class Loss(FunctionWithArguments):
    """Base class of losses that are objects; your own subclass defines `call(y_true, y_pred)`.

    Parameters
    ----------
    name : str, optional
        Default: the name of the class in snake case.
    reduction : {"sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "none", None}
        How the losses of the samples become one number. "auto" means "sum_over_batch_size".
    dtype : str, optional
        The dtype to which targets and predictions are cast.

    Raises
    ------
    ArgumentError
        `reduction` is unknown.

    Examples
    --------
    >>> class Squares(Loss):
    ...     def call(self, y_true, y_pred):
    ...         return K.sum(K.square(y_pred - y_true), axis=-1)
    >>> float(K.eval(Squares()(K.constant([[1.0], [2.0]]), K.constant([[3.0], [2.0]]))))
    2.0
    """

    def __init__(
        self,
        name: str | None = None,
        reduction: str | None = "sum_over_batch_size",
        dtype: str | None = None,
    ) -> None:
        if reduction not in _REDUCTIONS:
            listed = ", ".join(map(repr, _REDUCTIONS))
            raise ArgumentError(
                f"{type(self).__name__}: unknown reduction {reduction!r}. Use one of: {listed}."
            )
        self.reduction = reduction
        self.dtype = dtype
        self.name = name or self.__name__

    @property
    def __name__(self) -> str:
        """The class name in snake case, such as `mean_squared_error`."""
        return snake_case(type(self).__qualname__.rpartition(".")[2])

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return one number for each sample, or for each of its time steps or positions."""
        return self._compute(y_true, y_pred)

    def counted(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Return a mask: True for results of `call` that count in the mean. None if all count."""
        return None

    @at_once_on_arrays
    def __call__(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Tensor:
        """Return the reduced loss of these predictions; the weights multiply the samples' losses.

        Parameters
        ----------
        y_true, y_pred : Tensor or array_like
            Targets and predictions.
        sample_weight : Tensor or array_like, optional
            One weight for each sample, or for each number that `call` returns.
        """
        y_pred = as_tensor(y_pred)
        y_true, y_pred = of_equal_rank(as_tensor(y_true, like=y_pred), y_pred)
        weights = None if sample_weight is None else as_tensor(sample_weight, like=y_pred)
        return self.weighted(y_true, y_pred, weights)

    def weighted(
        self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None, mask: Tensor | None = None
    ) -> Tensor:
        """Return the reduced loss, with sample weights and a mask taken into account.

        Notes
        -----
        With losses l_i of n samples and weights w_i, "sum_over_batch_size" is sum(w_i l_i) / n.
        Unlike the mean of a loss that is a function, n includes samples of weight 0. Samples
        that the mask or `counted` excludes are not among the n. If all are excluded, the loss is 0.
        "sum" and None do not divide.
        """
        if self.dtype is not None:
            y_true, y_pred = K.cast(y_true, self.dtype), K.cast(y_pred, self.dtype)
        scores = self.call(y_true, y_pred)
        factors = []
        for kept in _combined_mask(mask, self.counted(y_true, y_pred)):
            kept = K.cast(kept, scores.dtype)
            factors.append(quotient(kept, K.mean(kept)) if self.reduction in _MEANS else kept)
        if weights is not None:
            weights, scores = _broadcast_weights(K.cast(weights, scores.dtype), scores)
            factors.append(weights)
        for factor in factors:
            scores = scores * factor
        if self.reduction in (None, "none"):
            return scores
        if self.reduction == "sum":
            return K.sum(scores)
        if self.reduction == "mean_with_sample_weight" and factors:
            return quotient(K.sum(scores), K.sum(functools.reduce(lambda x, y: x * y, factors)))
        return K.mean(scores)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        config = super().get_config()
        own = {"name": self.name, "reduction": self.reduction}
        config = {**own, **config}
        if config.get("dtype") is None:
            config.pop("dtype", None)
        return config


# --- weights and masks ----------------------------------------------------------------------------


def of_equal_rank(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    """Make the ranks of targets and predictions equal if one has an extra last axis of size 1.

    Otherwise both are returned unchanged. Targets of shape (batch,) and predictions of shape
    (batch, 1) would be broadcast to (batch, batch), which would compare every target with every
    prediction. The axis of size 1 is removed from the tensor that has it. If only the batch axis
    would remain, an axis of size 1 is added to the other tensor instead.

    Examples
    --------
    >>> [x.shape for x in of_equal_rank(K.zeros((5,)), K.zeros((5, 1)))]
    [(5, 1), (5, 1)]
    >>> [x.shape for x in of_equal_rank(K.zeros((5, 2)), K.zeros((5, 2, 1)))]
    [(5, 2), (5, 2)]
    """
    if y_true.ndim == y_pred.ndim + 1:
        return of_equal_rank(y_pred, y_true)[::-1]
    if y_true.ndim != y_pred.ndim - 1 or y_pred.shape[-1] != 1:
        return y_true, y_pred
    if y_true.ndim == 1:
        return K.expand_dims(y_true, -1), y_pred
    return y_true, K.squeeze(y_pred, -1)


def quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return x / y where y is not 0, otherwise 0."""
    is_zero = K.cast(K.equal(y, 0.0), K.dtype(y))
    return x * (1.0 - is_zero) / (y + is_zero)


def _combined_mask(mask: Tensor | None, counted: Tensor | None) -> list[Tensor]:
    """Return a list with the logical and of two masks, or with the only mask that is not None.

    If both masks are None, the list is empty.
    """
    given = [K.cast(x, "bool") for x in (mask, counted) if x is not None]
    return [functools.reduce(K.logical_and, given)] if given else []


def _broadcast_weights(weights: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return sample weights and scores, with the weights broadcast to the shape of the scores."""
    if weights.ndim == scores.ndim + 1:
        weights, scores = of_equal_rank(weights, scores)
    if weights.ndim >= scores.ndim:
        return weights, scores
    while weights.ndim < scores.ndim:
        weights = K.expand_dims(weights, -1)
    return weights * K.ones_like(scores), scores


# --- loss objects and their functions -------------------------------------------------------------


def snake_case(name: str) -> str:
    """Return the name of a loss class in snake case, which is the name of the class's function.

    Examples
    --------
    >>> snake_case("MeanSquaredError"), snake_case("KLDivergence")
    ('mean_squared_error', 'kl_divergence')
    """
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def plain_function(loss: Any) -> Any:
    """Return the function of a loss object; for a metric, the loss function whose mean it computes.

    Other functions, and loss objects without a loss function, are returned unchanged.

    Examples
    --------
    >>> class Huber(Loss): ...
    >>> plain_function(Huber()).__name__
    'huber'
    """
    if not isinstance(loss, Loss):
        return getattr(loss, "averages", loss)
    return type(loss).function or dict(registry.items()).get(loss.__name__, loss)


def takes_class_numbers(loss: Any) -> bool:
    """Return whether the targets of a loss are class numbers instead of one-hot vectors."""
    function = plain_function(loss)
    return any(function is one for one in functions.of_class_numbers)


def wants_targets_like_predictions(loss: Any) -> bool:
    """Return whether a loss needs targets shaped like the predictions; False for a custom loss."""
    is_ours = getattr(plain_function(loss), "__module__", "").startswith("kerascope.losses.")
    return is_ours and not takes_class_numbers(loss)


# --- the losses of Keras 3 ------------------------------------------------------------------------
# Each also takes `reduction`, `name` and `dtype`: see `Loss`.

_MEAN = "sum_over_batch_size"


class _LossWithoutArguments(Loss):
    """Base of losses with only the arguments of `Loss`. `reduction` comes first, as in Keras 3."""

    def __init__(
        self, reduction: str | None = _MEAN, name: str | None = None, dtype: str | None = None
    ) -> None:
        super().__init__(name, reduction, dtype)


@registry.register
class MeanSquaredError(_LossWithoutArguments):
    """The mean squared error as a class: mean (p - y)^2 for targets y and predictions p.

    Examples
    --------
    The errors are 2 and 0 in the first sample, 0 and 4 in the second:

    >>> y, p = [[0.0, 1.0], [3.0, 5.0]], [[2.0, 1.0], [3.0, 1.0]]
    >>> float(MeanSquaredError()(y, p))
    5.0
    >>> K.eval(MeanSquaredError(reduction=None)(y, p)).tolist()
    [2.0, 8.0]
    """

    function = functions.mean_squared_error


@registry.register
class MeanAbsoluteError(_LossWithoutArguments):
    """The mean absolute error as a class: mean `|p - y|` for targets y and predictions p.

    Examples
    --------
    The errors of the two samples are 1 and 3. A sample of weight 0 still counts in the mean:

    >>> y, p = [[1.0], [5.0]], [[2.0], [2.0]]
    >>> float(MeanAbsoluteError()(y, p))
    2.0
    >>> float(MeanAbsoluteError()(y, p, sample_weight=[1.0, 0.0]))
    0.5
    """

    function = functions.mean_absolute_error


@registry.register
class MeanAbsolutePercentageError(_LossWithoutArguments):
    """The mean error in percent as a class: `100 * mean |p - y| / |y|`; targets y, predictions p.

    Examples
    --------
    The same error of 10 is 10 percent of 100, but 50 percent of 20:

    >>> loss = MeanAbsolutePercentageError()
    >>> [round(float(loss([[y]], [[y + 10.0]])), 2) for y in (100.0, 20.0)]
    [10.0, 50.0]
    """

    function = functions.mean_absolute_percentage_error


@registry.register
class MeanSquaredLogarithmicError(_LossWithoutArguments):
    """The mean squared logarithmic error as a class.

    It is mean (log(1 + p) - log(1 + y))^2 for targets y and predictions p.

    Examples
    --------
    If 1 + p is twice 1 + y, the loss is log(2)^2 = 0.4805 for small and for large targets:

    >>> loss = MeanSquaredLogarithmicError()
    >>> [round(float(loss([[y]], [[p]])), 4) for y, p in ((9.0, 19.0), (999.0, 1999.0))]
    [0.4805, 0.4805]
    """

    function = functions.mean_squared_logarithmic_error


@registry.register
class LogCosh(_LossWithoutArguments):
    """The log-cosh loss as a class: mean log(cosh(p - y)) for targets y and predictions p.

    Examples
    --------
    The loss of an error x is near x^2 / 2 if x is small, and near `|x| - log(2)` if x is large:

    >>> loss = LogCosh()
    >>> [round(float(loss([[0.0]], [[x]])), 4) for x in (0.1, 10.0)]
    [0.005, 9.3069]
    """

    function = functions.logcosh


@registry.register
class Hinge(_LossWithoutArguments):
    """The hinge loss as a class: mean max(1 - y p, 0) for targets y and predictions p.

    Targets 0 and 1 count as -1 and 1.

    Examples
    --------
    The first prediction is 0.5 short of the margin 1, the second is beyond the margin -1. The mean
    is 0.5 / 2, and targets 0 and 1 give the same:

    >>> float(Hinge()([[1.0, -1.0]], [[0.5, -2.0]]))
    0.25
    >>> float(Hinge()([[1.0, 0.0]], [[0.5, -2.0]]))
    0.25
    """

    function = functions.hinge_of_bits


@registry.register
class SquaredHinge(_LossWithoutArguments):
    """The squared hinge loss as a class: mean max(1 - y p, 0)^2 for targets y and predictions p.

    Targets 0 and 1 count as -1 and 1.

    Examples
    --------
    The prediction is 2 short of the margin 1. `Hinge` returns this 2, and the squared hinge 4:

    >>> y, p = [[1.0]], [[-1.0]]
    >>> float(SquaredHinge()(y, p)), float(Hinge()(y, p))
    (4.0, 2.0)
    """

    function = functions.squared_hinge_of_bits


@registry.register
class CategoricalHinge(_LossWithoutArguments):
    """The categorical hinge loss as a class, for one-hot targets and predictions p.

    It is max(1 + greatest p of a wrong class - p of the right class, 0).

    Examples
    --------
    The right class must lead by 1. It leads by 0.25 here, then by 2:

    >>> loss = CategoricalHinge()
    >>> float(loss([[0.0, 1.0, 0.0]], [[0.25, 0.5, 0.0]]))
    0.75
    >>> float(loss([[0.0, 1.0, 0.0]], [[1.0, 3.0, 0.5]]))
    0.0
    """

    function = functions.categorical_hinge


@registry.register
class KLDivergence(_LossWithoutArguments):
    """The Kullback-Leibler divergence as a class: sum y log(y / p), targets y, predictions p.

    Examples
    --------
    It is 0 for equal distributions, and differs if targets and predictions are exchanged:

    >>> loss = KLDivergence()
    >>> even, uneven = [[0.5, 0.5]], [[0.25, 0.75]]
    >>> float(loss(even, even))
    0.0
    >>> round(float(loss(even, uneven)), 4), round(float(loss(uneven, even)), 4)
    (0.1438, 0.1308)
    """

    function = functions.kullback_leibler_divergence


@registry.register
class Poisson(_LossWithoutArguments):
    """The Poisson loss as a class: mean (p - y log(p)) for targets y and predictions p.

    Examples
    --------
    For a count of 2, the predicted mean 2 has the smallest loss, 2 - 2 log(2):

    >>> loss = Poisson()
    >>> [round(float(loss([[2.0]], [[p]])), 4) for p in (1.0, 2.0, 4.0)]
    [1.0, 0.6137, 1.2274]
    """

    function = functions.poisson


@registry.register
class Huber(Loss):
    """The loss `huber` as a class: squared errors up to `delta`, and linear for greater errors.

    Examples
    --------
    The loss of an error of 1 is 1 / 2. For an error of 3 it is 1 * (3 - 1 / 2) or 2 * (3 - 1):

    >>> for delta in (1.0, 2.0):
    ...     K.eval(Huber(delta, reduction=None)([[0.0], [0.0]], [[1.0], [3.0]])).tolist()
    [0.5, 2.5]
    [0.5, 4.0]
    """

    function = functions.huber

    def __init__(
        self,
        delta: float = 1.0,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


@registry.register
class CosineSimilarity(Loss):
    """The cosine similarity as a class, with a minus sign, so that it can be minimized.

    It is minus the cosine of the angle between targets and predictions along `axis`.

    Examples
    --------
    Only directions count. These are the same, another, and the opposite direction:

    >>> loss = CosineSimilarity()
    >>> [round(float(loss([[1.0, 0.0]], [p])), 4) for p in ([5.0, 0.0], [3.0, 4.0], [-2.0, 0.0])]
    [-1.0, -0.6, 1.0]
    """

    function = functions.cosine_proximity

    def __init__(
        self,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


class _Crossentropy(Loss):
    """Base of the crossentropies whose targets are probabilities; `label_smoothing` is optional."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


@registry.register
class BinaryCrossentropy(_Crossentropy):
    """The loss `binary_crossentropy` as a class; predictions are probabilities or logits.

    Examples
    --------
    The logit 0 is the probability 1/2. Its loss is log(2) = 0.6931 for both targets:

    >>> round(float(BinaryCrossentropy()([[1.0]], [[0.5]])), 4)
    0.6931
    >>> round(float(BinaryCrossentropy(from_logits=True)([[0.0]], [[0.0]])), 4)
    0.6931
    """

    function = functions.binary_crossentropy


@registry.register
class CategoricalCrossentropy(_Crossentropy):
    """The loss `categorical_crossentropy` as a class.

    Targets are one-hot vectors, predictions are probabilities or logits.

    Examples
    --------
    The right class has the probability 1/2, so the loss is log(2). Label smoothing changes the
    targets to 0.1, 0.8 and 0.1, and the loss to 0.8 log(2) + 0.2 log(4):

    >>> y, p = [[0.0, 1.0, 0.0]], [[0.25, 0.5, 0.25]]
    >>> round(float(CategoricalCrossentropy()(y, p)), 4)
    0.6931
    >>> round(float(CategoricalCrossentropy(label_smoothing=0.3)(y, p)), 4)
    0.8318
    """

    function = functions.categorical_crossentropy


@registry.register
class SparseCategoricalCrossentropy(Loss):
    """The loss `sparse_categorical_crossentropy` as a class.

    Targets are class numbers, predictions are probabilities or logits. Samples of class
    `ignore_class` do not count in the mean.

    Examples
    --------
    The losses of the two samples are log(2) and log(4). The second is of class 0:

    >>> y, p = [1, 0], [[0.5, 0.5], [0.25, 0.75]]
    >>> round(float(SparseCategoricalCrossentropy()(y, p)), 4)
    1.0397
    >>> round(float(SparseCategoricalCrossentropy(ignore_class=0)(y, p)), 4)
    0.6931
    """

    function = functions.sparse_categorical_crossentropy
    ignore_class: int | None
    axis: int

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: str | None = _MEAN,
        axis: int = -1,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())

    def counted(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Return a mask of the samples that are not of class `ignore_class`, for the mean."""
        return functions.counted_classes(y_true, y_pred, self.ignore_class, self.axis)


@registry.register
class BinaryFocalCrossentropy(Loss):
    """The loss `binary_focal_crossentropy` as a class.

    Examples
    --------
    With gamma 2, the crossentropy is multiplied by (1 - 0.5)^2 = 1/4 or (1 - 0.9)^2 = 1/100:

    >>> for gamma in (0.0, 2.0):
    ...     loss = BinaryFocalCrossentropy(gamma=gamma)
    ...     [round(float(loss([[1.0]], [[p]])), 4) for p in (0.5, 0.9)]
    [0.6931, 0.1054]
    [0.1733, 0.0011]
    """

    function = functions.binary_focal_crossentropy

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


@registry.register
class CategoricalFocalCrossentropy(Loss):
    """The loss `categorical_focal_crossentropy` as a class.

    Examples
    --------
    With an alpha for each class, errors in a rare class can cost more, here 3 times as much:

    >>> loss = CategoricalFocalCrossentropy(alpha=[1.0, 3.0])
    >>> [round(float(loss([y], [[0.5, 0.5]])), 4) for y in ([1.0, 0.0], [0.0, 1.0])]
    [0.1733, 0.5199]
    """

    function = functions.categorical_focal_crossentropy

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        self._store(locals())


@registry.register
class CategoricalGeneralizedCrossEntropy(Loss):
    """The loss `categorical_generalized_cross_entropy` as a class; `q` is between 0 and 1.

    Examples
    --------
    If the right class has the probability 1/4, the loss is (1 - 1/2) / (1/2). It cannot exceed
    1 / q, even for the probability 0:

    >>> loss = CategoricalGeneralizedCrossEntropy(q=0.5)
    >>> [round(float(loss([1], [[1.0 - p, p]])), 4) for p in (1.0, 0.25, 0.0)]
    [0.0, 1.0, 2.0]
    """

    function = functions.categorical_generalized_cross_entropy

    def __init__(
        self,
        q: float = 0.5,
        reduction: str | None = _MEAN,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name, reduction, dtype)
        if not 0 < q < 1:
            raise ArgumentError(f"{type(self).__name__}: expected q between 0 and 1, got {q!r}.")
        self.q = q
