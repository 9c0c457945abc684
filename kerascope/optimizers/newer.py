"""AdamW, Lamb, Lion and Ftrl: optimizers that came after Keras 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.errors import ArgumentError
from kerascope.optimizers.adaptive import Adam
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


class AdamW(Adam):
    """Adam whose weight decay stands apart from the gradient.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    weight_decay : float
        Share of each parameter that is taken away at a step, times the learning rate.
    beta_1, beta_2, epsilon, amsgrad, decay
        As for `Adam`.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    p becomes p - lr * weight_decay * p - Adam's step. A penalty on the weights (`l2`) would enter
    the gradient, and Adam would divide it by the gradient's size.

    References
    ----------
    1. Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        amsgrad: bool = False,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            lr, beta_1, beta_2, epsilon, decay, amsgrad, weight_decay=weight_decay, **kwargs
        )


class Lamb(DecayingOptimizer):
    """Adam whose step is, for each parameter, as long as the parameter itself times the rate.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1, beta_2 : float
        Shares of the old mean gradient, and of the old mean square, that are kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    weight_decay, clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    With Adam's m and v, each divided by what it still lacks of its full size,
    u = m / (sqrt(v) + epsilon) and p = p - lr * |p| / |u| * u, where |.| is the length of the whole
    parameter; where one of the lengths is 0, their quotient counts as 1. Slots: `m` and `v`.

    References
    ----------
    1. You et al.: Large Batch Optimization for Deep Learning: Training BERT in 76 Minutes, 2019.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
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
        ms, vs = self._make_slots("m", params), self._make_slots("v", params)
        updates: list[Pair] = []
        for p, g, m, v in zip(params, grads, ms, vs, strict=True):
            with naming(p):
                new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
                new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
                whole_m = new_m / (1.0 - K.pow(self.beta_1, t))
                whole_v = new_v / (1.0 - K.pow(self.beta_2, t))
                step = whole_m / (K.sqrt(whole_v) + self.epsilon)
                decayed = p * (1.0 - lr * self.weight_decay) if self.weight_decay else p
                new_p = constrained(constraints, p, p - lr * _ratio(decayed, step) * step)
            pairs = (K.update(m, new_m), K.update(v, new_v), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep([slot for both in zip(ms, vs, strict=True) for slot in both], updates)


def _ratio(p: Tensor, step: Tensor) -> Tensor:
    """Return how much longer a parameter is than its step; 1 if one of them has no length."""
    length, of_step = (K.sqrt(K.sum(K.square(x))) for x in (p, step))
    has_none = K.equal(K.minimum(length, of_step), 0.0)
    return K.switch(has_none, K.ones_like(length), length / K.maximum(of_step, 1e-30))


class Lion(DecayingOptimizer):
    """Step by the sign of a moving mean of the gradient: every number moves equally far.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1 : float
        Share of the old mean in what the sign is taken of.
    beta_2 : float
        Share of the old mean that is kept.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    weight_decay, clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    p = p - lr * sign(beta_1 * m + (1 - beta_1) * g);  m = beta_2 * m + (1 - beta_2) * g.
    Slots: `m`, the momentum.

    References
    ----------
    1. Chen et al.: Symbolic Discovery of Optimization Algorithms, 2023.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.beta_1 = self._hyperparameter("beta_1", beta_1)
        self.beta_2 = self._hyperparameter("beta_2", beta_2)

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        moments = self._make_slots("momentum", params)
        updates: list[Pair] = []
        for p, g, m in zip(params, grads, moments, strict=True):
            with naming(p):
                direction = K.sign(self.beta_1 * m + (1.0 - self.beta_1) * g)
                new_p = constrained(constraints, p, p - lr * direction)
                new_m = self.beta_2 * m + (1.0 - self.beta_2) * g
            pairs = (K.update(m, new_m), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep(moments, updates)


class Ftrl(DecayingOptimizer):
    """Follow the regularised leader: made for many features of which few matter.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    learning_rate_power : float
        How the rate falls with the sum of squares; at most 0.
    initial_accumulator_value : float
        Where the sums of squares begin.
    l1_regularization_strength, l2_regularization_strength : float
        Penalties; the first makes small parameters exactly 0.
    l2_shrinkage_regularization_strength : float
        A penalty that only the gradient feels.
    beta : float
        Added to the root of the sum of squares.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    weight_decay, clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Raises
    ------
    ArgumentError
        A strength is negative, or the power positive.

    Notes
    -----
    n' = n + g^2;  z' = z + g + 2 * shrinkage * p - (n'^-power - n^-power) / lr * p;
    p = -(z' - clip(z', -l1, l1)) / (n'^-power / lr + 2 * (l2 + beta / (2 * lr))).
    Slots: `n` and `z` of each parameter.

    References
    ----------
    1. McMahan et al.: Ad Click Prediction, a View from the Trenches, KDD 2013.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        if learning_rate_power > 0:
            raise ArgumentError(
                f"Ftrl: learning_rate_power is {learning_rate_power!r}; expected at most 0."
            )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = self._strength(initial_accumulator_value)
        self.l1_regularization_strength = self._strength(l1_regularization_strength)
        self.l2_regularization_strength = self._strength(l2_regularization_strength)
        self.l2_shrinkage_regularization_strength = self._strength(
            l2_shrinkage_regularization_strength
        )
        self.beta = self._strength(beta)

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        """Return the constraints: a new value does not begin at the old one, `_updates` decays."""
        return constraints

    def _strength(self, value: float) -> float:
        if not value >= 0:
            raise ArgumentError(f"Ftrl: expected numbers >= 0, got {value!r}.")
        return value

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr, power = self._rate(), -self.learning_rate_power
        squares = self._make_slots("accumulator", params, self.initial_accumulator_value)
        linears = self._make_slots("linear", params)
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        updates: list[Pair] = []
        for p, g, n, z in zip(params, grads, squares, linears, strict=True):
            with naming(p):
                start = p * (1.0 - lr * self.weight_decay) if self.weight_decay else p
                shrunk = g + 2.0 * self.l2_shrinkage_regularization_strength * start
                new_n = n + K.square(g)
                change = (K.pow(new_n, power) - K.pow(n, power)) / lr
                new_z = z + shrunk - change * start
                steepness = K.pow(new_n, power) / lr + 2.0 * (l2 + self.beta / (2.0 * lr))
                new_p = (K.clip(new_z, -l1, l1) - new_z) / steepness
                new_p = constrained(constraints, p, new_p)
            pairs = (K.update(n, new_n), K.update(z, new_z), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        slots = [slot for pair in zip(squares, linears, strict=True) for slot in pair]
        return self._keep(slots, updates)
