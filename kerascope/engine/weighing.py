"""How the numbers that a loss or metric gives become one, with weights of samples and a mask."""

from __future__ import annotations

from collections.abc import Callable
from operator import truediv
from typing import Any

from kerascope import losses
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.comparison import not_equal
from kerascope.backend.ops.reduction import mean
from kerascope.errors import ArgumentError, DtypeError
from kerascope.losses.classes import quotient
from kerascope.spellings import habits


def weighted_masked_objective(fn: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a scalar version of a loss (or metric) that heeds sample weights and a mask.

    Notes
    -----
    With losses l_i, weights w_i and n of the weights different from zero:  sum(w_i l_i) / n. A mask
    m_i divides by the share of samples that it keeps. In dialect "3" n counts all weights. A loss
    object (`losses.Loss`) says itself how its numbers become one.
    """
    if isinstance(fn, losses.Loss):
        if fn.reduction in (None, "none"):
            raise ArgumentError(
                f"compile: loss {type(fn).__name__} has reduction={fn.reduction!r}; "
                f"expected one that gives a single number, such as 'sum_over_batch_size'."
            )
        return fn.weighted

    def weighted(
        y_true: Tensor, y_pred: Tensor, weights: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        score = scores_of(fn, y_true, y_pred)
        if mask is not None:
            mask = cast(mask, score.dtype)
            share = quotient if habits().counts_zero_weights else truediv
            score = share(score * mask, mean(mask))
        if weights is not None:
            score = (
                mean(score, axis=list(range(weights.ndim, score.ndim)))
                if score.ndim > weights.ndim
                else score
            )
            score = score * weights
            if not habits().counts_zero_weights:
                score = score / mean(cast(not_equal(weights, 0), score.dtype))
        return mean(score)

    return weighted


def scores_of(fn: Callable[..., Any], y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return the numbers that a loss or metric gives, before they become one."""
    score = fn(y_true, y_pred)
    if not hasattr(score, "ndim"):
        raise DtypeError(
            f"{getattr(fn, '__name__', type(fn).__name__)}: returned {score!r}; expected a "
            "tensor of losses or metric values. End the function with `return ...`."
        )
    return score
