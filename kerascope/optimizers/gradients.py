"""Gradients on their way into an optimizer: a check that none is missing, and clipping."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from kerascope import backend as K
from kerascope.backend.gradient import blocking_ops
from kerascope.backend.graph import Tensor, Variable, applies_between
from kerascope.errors import GradientError


def clip_norm(g: Tensor, c: float, n: Tensor) -> Tensor:
    """Return `g` times `c / n` if the norm `n` is greater than `c`, else `g`; 0 means no bound.

    Examples
    --------
    >>> K.eval(clip_norm(K.constant([3.0, 4.0]), 1.0, K.constant(5.0))).round(2).tolist()
    [0.6..., 0.8...]
    """
    return g * (c / K.maximum(n, c)) if c > 0 else g


def clipped(
    grads: Sequence[Tensor], clipnorm: float | None, clipvalue: float | None
) -> list[Tensor]:
    """Return gradients whose common norm is at most `clipnorm`, then each cut at `clipvalue`."""
    grads = list(grads)
    if clipnorm and grads:
        squares = [K.sum(K.square(g)) for g in grads]
        norm = K.sqrt(functools.reduce(lambda total, square: total + square, squares))
        grads = [clip_norm(g, clipnorm, norm) for g in grads]
    if clipvalue:
        grads = [K.clip(g, -clipvalue, clipvalue) for g in grads]
    return grads


def all_present(
    loss: Tensor, params: Sequence[Variable], grads: Sequence[Tensor | None]
) -> list[Tensor]:
    """Return the gradients; if one is None, raise a GradientError that says why."""
    present = []
    for p, g in zip(params, grads, strict=True):
        if g is None:
            raise _no_gradient(loss, p)
        present.append(g)
    return present


def _no_gradient(loss: Tensor, p: Variable) -> GradientError:
    """Return the error for a parameter without gradient; it says what stands in the way."""
    blocks = blocking_ops(loss, p)
    if blocks:
        listed = ", ".join(f"'{apply.name}' = {apply!r}" for apply in blocks)
        reason = f"It stops at {listed}. Use an op that has a derivative."
    elif applies_between([p], [loss]):
        reason = "It enters an op only as an argument for which there is no derivative."
    else:
        reason = (
            "The loss does not depend on it. Use it in the loss, or freeze it (trainable=False)."
        )
    return GradientError(
        f"get_gradients: parameter '{p.name}' gets no gradient from the loss '{loss.name}'. "
        f"An operation has `None` for gradient. {reason}",
        subject=blocks[0] if blocks else p,
    )
