"""Losses as objects that hold their arguments: `Huber(delta=0.5)`, as in Keras 3.

An object does two things that a function does not: it has arguments, which a configuration keeps,
and it reduces the numbers of the samples itself, as its `reduction` says. `model.compile` takes
either.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.configured import Configured, constructor_parameters
from kerascope.errors import ArgumentError
from kerascope.losses.functions import registry, sparse_categorical_crossentropy

_REDUCTIONS = (
    "sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "auto", "none", None,
)  # fmt: skip
_MEANS = ("sum_over_batch_size", "mean", "auto")
_OF_ALL = ("reduction", "name", "dtype")


class Loss(Configured):
    """Base of the losses that are objects; one of your own writes `call(y_true, y_pred)`.

    Parameters
    ----------
    name : str, optional
        Default: that of the class.
    reduction : {"sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "none", None}
        How the numbers of the samples become one. "auto" is the first.
    dtype : str, optional
        Type that targets and predictions are cast to.

    Raises
    ------
    ArgumentError
        There is no such reduction.

    Examples
    --------
    >>> class Squares(Loss):
    ...     def call(self, y_true, y_pred):
    ...         return K.sum(K.square(y_pred - y_true), axis=-1)
    >>> float(K.eval(Squares()(K.constant([[1.0], [2.0]]), K.constant([[3.0], [2.0]]))))
    2.0
    """

    function: ClassVar[Callable[..., Tensor] | None] = None

    def __init__(
        self,
        name: str | None = None,
        reduction: str | None = "sum_over_batch_size",
        dtype: str | None = None,
    ) -> None:
        if reduction not in _REDUCTIONS:
            listed = ", ".join(map(repr, _REDUCTIONS))
            raise ArgumentError(
                f"{type(self).__name__}: reduction {reduction!r}; expected one of {listed}."
            )
        self.reduction = reduction
        self.dtype = dtype
        self.name = name or self.__name__

    @property
    def __name__(self) -> str:
        """The name of the class as that of a function: `mean_squared_error`."""
        return snake_case(type(self).__qualname__.rpartition(".")[2])

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return one number for each sample (or each place in it)."""
        function = type(self).function
        if function is None:
            raise NotImplementedError(f"{type(self).__name__} does not define call")
        names = [n for n in constructor_parameters(type(self)) if n not in _OF_ALL]
        return function(y_true, y_pred, **{name: getattr(self, name) for name in names})

    def counted(self, y_true: Tensor, y_pred: Tensor) -> Tensor | None:
        """Return which of the numbers that `call` gives count as samples; None for all of them."""
        return None

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Return the loss of these predictions, reduced; weights multiply the samples' numbers.

        Parameters
        ----------
        y_true, y_pred : Tensor or array_like
        sample_weight : Tensor or array_like, optional
            One for each sample, or for each of its numbers.
        """
        y_pred = as_tensor(y_pred)
        y_true, y_pred = of_equal_rank(as_tensor(y_true, like=y_pred), y_pred)
        weights = None if sample_weight is None else as_tensor(sample_weight, like=y_pred)
        return self.weighted(y_true, y_pred, weights, None)

    def weighted(
        self, y_true: Tensor, y_pred: Tensor, weights: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """Return the reduced loss that heeds sample weights and a mask.

        Notes
        -----
        With losses l_i of n samples and weights w_i, "sum_over_batch_size" is sum(w_i l_i) / n:
        unlike the losses that are functions, it counts samples of weight 0 too. What a mask, or
        `counted`, leaves out is not among the n; where nothing is left, the loss is 0. Only "sum"
        and None are the numbers as they are.
        """
        if self.dtype is not None:
            y_true, y_pred = K.cast(y_true, self.dtype), K.cast(y_pred, self.dtype)
        scores = self.call(y_true, y_pred)
        factors = []
        for kept in _both(mask, self.counted(y_true, y_pred)):
            kept = K.cast(kept, scores.dtype)
            factors.append(quotient(kept, K.mean(kept)) if self.reduction in _MEANS else kept)
        if weights is not None:
            weights, scores = _spread(K.cast(weights, scores.dtype), scores)
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


def snake_case(name: str) -> str:
    """Return the name of a class as that of a function.

    Examples
    --------
    >>> snake_case("MeanSquaredError"), snake_case("KLDivergence")
    ('mean_squared_error', 'kl_divergence')
    """
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def of_equal_rank(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    """Return targets and predictions with as many axes, where one of size 1 tells them apart.

    Targets of shape (batch,) beside predictions of shape (batch, 1) would be broadcast to (batch,
    batch): every target would be compared with every prediction. The axis of size 1 goes, unless
    only that of the samples would stay: then the other side gets one.

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
    """Return x / y, and 0 where y is 0."""
    is_zero = K.cast(K.equal(y, 0.0), K.dtype(y))
    return x * (1.0 - is_zero) / (y + is_zero)


def _both(mask: Tensor | None, counted: Tensor | None) -> list[Tensor]:
    """Return one mask for those that there are, or none."""
    given = [K.cast(x, "bool") for x in (mask, counted) if x is not None]
    return [functools.reduce(K.logical_and, given)] if given else []


def _spread(weights: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return weights of samples, with the axes of the numbers that they weight, and the numbers."""
    if weights.ndim == scores.ndim + 1:
        weights, scores = of_equal_rank(weights, scores)
    if weights.ndim >= scores.ndim:
        return weights, scores
    while weights.ndim < scores.ndim:
        weights = K.expand_dims(weights, -1)
    return weights * K.ones_like(scores), scores


def plain_function(loss: Any) -> Any:
    """Return the function that a loss object stands for, as far as there is one, else the loss.

    Examples
    --------
    >>> class Huber(Loss): ...
    >>> plain_function(Huber()).__name__
    'huber'
    """
    if not isinstance(loss, Loss):
        return loss
    return dict(registry.items()).get(loss.__name__, loss)


def wants_targets_like_predictions(loss: Any) -> bool:
    """Whether targets must have the shape of the predictions: all losses here but one want that.

    The other takes class numbers; of a loss of somebody else nobody knows.
    """
    function = plain_function(loss)
    is_ours = getattr(function, "__module__", "").startswith("kerascope.losses.")
    return is_ours and function is not sparse_categorical_crossentropy
