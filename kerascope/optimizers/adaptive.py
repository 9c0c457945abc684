"""Adam, Adamax and Nadam: a moving mean of the gradient, divided by a moving size of it.

Both start at 0, which is corrected for by powers of their decay rates.
"""

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


class Adam(DecayingOptimizer):
    """Mean of the gradient over the root of its mean square.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1, beta_2 : float
        Share of the old mean, and of the old mean square, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    amsgrad : bool
        Whether to divide by the greatest mean square so far instead of the last one.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    At step t, counted from 1: m = beta_1 * m + (1 - beta_1) * g;  v = beta_2 * v + (1 - beta_2) *
    g^2;
    lr_t = lr * sqrt(1 - beta_2^t) / (1 - beta_1^t);  p = p - lr_t * m / (sqrt(v) + epsilon).
    Slots: `m` of all parameters, then `v`, then with amsgrad the greatest `v`.

    References
    ----------
    1. Kingma, Ba: Adam, a Method for Stochastic Optimization, ICLR 2015.
    2. Reddi, Kale, Kumar: On the Convergence of Adam and Beyond, ICLR 2018.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.beta_1 = self._hyperparameter("beta_1", beta_1)
        self.beta_2 = self._hyperparameter("beta_2", beta_2)
        self.epsilon = K.epsilon() if epsilon is None else epsilon
        self.amsgrad = bool(amsgrad)

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr, t = self._rate(), self._time()
        lr_t = lr * (K.sqrt(1.0 - K.pow(self.beta_2, t)) / (1.0 - K.pow(self.beta_1, t)))
        means = self._make_slots("m", params)
        squares = self._make_slots("v", params)
        greatest = self._make_slots("v_max", params) if self.amsgrad else []
        updates: list[Pair] = []
        for i, (p, g, m, v) in enumerate(zip(params, grads, means, squares, strict=True)):
            with naming(p):
                new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
                new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
                size = K.maximum(greatest[i], new_v) if self.amsgrad else new_v
                new_p = p - lr_t * new_m / (K.sqrt(size) + self.epsilon)
                new_p = constrained(constraints, p, new_p)
            pairs = [K.update(m, new_m), K.update(v, new_v), K.update(p, new_p)]
            if self.amsgrad:
                pairs.insert(2, K.update(greatest[i], size))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, tuple(pairs))
        return self._keep([*means, *squares, *greatest], updates)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the numbers in `weights`.

        Keras 2 stores third slots, which it does not use, even without amsgrad; they are left out.
        """
        per_parameter = (len(self.weights) - 1) // 2
        if not self.amsgrad and len(weights) == 1 + 3 * per_parameter:
            weights = list(weights)[: len(self.weights)]
        super().set_weights(weights)


class Adamax(DecayingOptimizer):
    """Adam with the greatest recent gradient in place of the root mean square.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    beta_1, beta_2 : float
        Share of the old mean, and of the old size, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    At step t, counted from 1: m = beta_1 * m + (1 - beta_1) * g;  u = max(beta_2 * u, |g|);
    p = p - lr / (1 - beta_1^t) * m / (u + epsilon).
    Slots: `m` of all parameters, then `u`.

    References
    ----------
    1. Kingma, Ba: Adam, a Method for Stochastic Optimization, ICLR 2015, section 7.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.beta_1 = self._hyperparameter("beta_1", beta_1)
        self.beta_2 = self._hyperparameter("beta_2", beta_2)
        self.epsilon = K.epsilon() if epsilon is None else epsilon

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr, t = self._rate(), self._time()
        lr_t = lr / (1.0 - K.pow(self.beta_1, t))
        means = self._make_slots("m", params)
        sizes = self._make_slots("u", params)
        updates: list[Pair] = []
        for p, g, m, u in zip(params, grads, means, sizes, strict=True):
            with naming(p):
                new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
                new_u = K.maximum(self.beta_2 * u, K.abs(g))
                new_p = p - lr_t * new_m / (new_u + self.epsilon)
                new_p = constrained(constraints, p, new_p)
            pairs = (K.update(m, new_m), K.update(u, new_u), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep([*means, *sizes], updates)


class Nadam(DecayingOptimizer):
    """Adam with Nesterov's momentum, which is warmed up over the first steps.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    beta_1, beta_2 : float
        Share of the old mean, and of the old mean square, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    schedule_decay : float
        How fast the momentum reaches beta_1. In dialect "3" the default is 1.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    At step t, counted from 1: mu_t = beta_1 * (1 - 0.96^(t * schedule_decay) / 2), and s is the
    product of all mu so far;
    m = beta_1 * m + (1 - beta_1) * g;  v = beta_2 * v + (1 - beta_2) * g^2;
    mean = (1 - mu_t) * g / (1 - s) + mu_(t+1) * m / (1 - s * mu_(t+1));
    p = p - lr * mean / (sqrt(v / (1 - beta_2^t)) + epsilon).
    Slots: `s`, which starts at 1, then `m` of all parameters, then `v`. In Keras 3 schedule_decay
    is 1.

    References
    ----------
    1. Dozat: Incorporating Nesterov Momentum into Adam, 2015.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, 0.0, **kwargs)
        self.beta_1 = self._hyperparameter("beta_1", beta_1)
        self.beta_2 = self._hyperparameter("beta_2", beta_2)
        self.epsilon = K.epsilon() if epsilon is None else epsilon
        self.schedule_decay = schedule_decay

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr, t = self._rate(), self._time()
        mu, next_mu = self._momentum_at(t), self._momentum_at(t + 1)
        s = K.variable(1.0, name="momentum_schedule")
        new_s = s * mu
        means = self._make_slots("m", params)
        squares = self._make_slots("v", params)
        updates: list[Pair] = [K.update(s, new_s)]
        for p, g, m, v in zip(params, grads, means, squares, strict=True):
            with naming(p):
                new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
                new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
                mean = (1.0 - mu) * g / (1.0 - new_s) + next_mu * new_m / (1.0 - new_s * next_mu)
                size = K.sqrt(new_v / (1.0 - K.pow(self.beta_2, t)))
                new_p = constrained(constraints, p, p - lr * mean / (size + self.epsilon))
            pairs = (K.update(m, new_m), K.update(v, new_v), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep([s, *means, *squares], updates)

    def _momentum_at(self, t: Tensor) -> Tensor:
        return self.beta_1 * (1.0 - 0.5 * K.pow(0.96, t * self.schedule_decay))
