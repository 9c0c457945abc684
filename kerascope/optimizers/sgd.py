"""Stochastic gradient descent, with momentum as an option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.optimizers.base import (
    Constraints,
    Pair,
    ParameterUpdate,
    Updates,
    accepts_spellings,
    constrained,
    naming,
)
from kerascope.optimizers.decaying import DecayingOptimizer


class SGD(DecayingOptimizer):
    """Go down the gradient; with momentum, keep part of the last step's velocity.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    momentum : float
        Share of the velocity that is kept.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    nesterov : bool
        Whether to look one step of the velocity ahead.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    v = momentum * m - lr * g;  p becomes p + v, with Nesterov p + momentum * v - lr * g.
    Slots: `m`, the velocity.

    References
    ----------
    1. Sutskever, Martens, Dahl, Hinton: On the Importance of Initialization and Momentum in Deep
       Learning, ICML 2013.

    Examples
    --------
    >>> p = K.variable(3.0)
    >>> f = K.function([], [], updates=SGD(lr=0.1).get_updates(K.square(p), [p]))
    >>> f([]), round(float(K.get_value(p)), 6)
    ([], 2.4)
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.01,
        momentum: float = 0.0,
        decay: float = 0.0,
        nesterov: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.momentum = self._hyperparameter("momentum", momentum)
        self.nesterov = bool(nesterov)

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        moments = self._make_slots("momentum", params)
        updates: list[Pair] = []
        for p, g, m in zip(params, grads, moments, strict=True):
            with naming(p):
                v = self.momentum * m - lr * g
                new_p = p + (self.momentum * v - lr * g if self.nesterov else v)
                new_p = constrained(constraints, p, new_p)
            pairs = (K.update(m, v), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep(moments, updates)
