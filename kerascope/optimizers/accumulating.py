"""RMSprop, Adagrad and Adadelta: a weight's step is divided by the size of its past gradients."""

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


class RMSprop(DecayingOptimizer):
    """Divide the gradient by a moving root mean square of itself.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    rho : float
        Share of the old mean square that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    momentum : float
        Share of the last step that is done again.
    centered : bool
        Whether the square of the mean gradient is taken off the mean square: divided is then by the
        standard deviation of the gradient.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    a = rho * a + (1 - rho) * g^2;  p = p - lr * g / (sqrt(a) + epsilon).
    Slots: `a`, the accumulator. With flavour "3" (see `Optimizer`) epsilon is under the root.
    With `momentum`, m = momentum * m + lr * g / ... is a slot too, and p = p - m. With `centered`,
    b = rho * b + (1 - rho) * g is one, and a - b^2 stands in the place of a.

    References
    ----------
    1. Tieleman, Hinton: Lecture 6.5 of Neural Networks for Machine Learning, 2012.
    """

    _depends_on_flavour = True

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        rho: float = 0.9,
        epsilon: float | None = None,
        decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.rho = self._hyperparameter("rho", rho)
        self.epsilon = K.epsilon() if epsilon is None else epsilon
        self.momentum = momentum
        self.centered = centered

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; what is off is left out, as Keras 2 knows it not."""
        config = super().get_config()
        return {k: v for k, v in config.items() if v or k not in ("momentum", "centered")}

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        accumulators = self._make_slots("accumulator", params)
        momenta = self._make_slots("momentum", params) if self.momentum else []
        averages = self._make_slots("average_gradient", params) if self.centered else []
        updates: list[Pair] = []
        for i, (p, g, a) in enumerate(zip(params, grads, accumulators, strict=True)):
            with naming(p):
                new_a = spread = self.rho * a + (1.0 - self.rho) * K.square(g)
                pairs = [K.update(a, new_a)]
                if averages:
                    mean = self.rho * averages[i] + (1.0 - self.rho) * g
                    pairs.append(K.update(averages[i], mean))
                    spread = new_a - K.square(mean)
                step = lr * g / self._root(spread)
                if momenta:
                    step = self.momentum * momenta[i] + step
                    pairs.append(K.update(momenta[i], step))
                new_p = constrained(constraints, p, p - step)
            pairs.append(K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, tuple(pairs))
        return self._keep([*accumulators, *momenta, *averages], updates)


class Adagrad(DecayingOptimizer):
    """Divide the gradient by the root of the sum of all its squares so far.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    initial_accumulator_value : float
        Where the sums of squares begin. In dialect "3" the default is 0.1.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    a = a + g^2;  p = p - lr * g / (sqrt(a) + epsilon).
    Slots: `a`, the accumulator. With flavour "3" (see `Optimizer`) epsilon is under the root.

    References
    ----------
    1. Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
       Optimization, JMLR 2011.
    """

    _depends_on_flavour = True

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.01,
        epsilon: float | None = None,
        decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.epsilon = K.epsilon() if epsilon is None else epsilon
        self.initial_accumulator_value = initial_accumulator_value

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        accumulators = self._make_slots("accumulator", params, self.initial_accumulator_value)
        updates: list[Pair] = []
        for p, g, a in zip(params, grads, accumulators, strict=True):
            with naming(p):
                new_a = a + K.square(g)
                new_p = p - lr * g / self._root(new_a)
                new_p = constrained(constraints, p, new_p)
            pairs = (K.update(a, new_a), K.update(p, new_p))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep(accumulators, updates)

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters as plain numbers; Keras 2 knows no first value but 0."""
        config = super().get_config()
        if "flavour" not in config and not self.initial_accumulator_value:
            config.pop("initial_accumulator_value", None)
        return config


class Adadelta(DecayingOptimizer):
    """Scale the gradient by the size of past steps over the size of past gradients.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too); the paper has none, which is 1. In dialect
        "3" the default is 0.001.
    rho : float
        Share of the old mean squares that is kept.
    epsilon : float, optional
        Keeps the division finite, and the first steps alive. Default `K.epsilon()`.
    decay : float
        Fall of the learning rate: lr / (1 + decay * t).
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    a = rho * a + (1 - rho) * g^2;  step = g * sqrt(d + epsilon) / sqrt(a + epsilon);  p = p - lr *
    step;
    d = rho * d + (1 - rho) * step^2.
    Slots: `a` of all parameters, the accumulators, then `d` of all parameters, the delta
    accumulators.

    References
    ----------
    1. Zeiler: ADADELTA, an Adaptive Learning Rate Method, 2012.
    """

    @accepts_spellings
    def __init__(
        self,
        lr: float = 1.0,
        rho: float = 0.95,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.rho = self._hyperparameter("rho", rho)
        self.epsilon = K.epsilon() if epsilon is None else epsilon

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        accumulators = self._make_slots("accumulator", params)
        deltas = self._make_slots("delta_accumulator", params)
        updates: list[Pair] = []
        for p, g, a, d in zip(params, grads, accumulators, deltas, strict=True):
            with naming(p):
                new_a = self.rho * a + (1.0 - self.rho) * K.square(g)
                step = g * K.sqrt(d + self.epsilon) / K.sqrt(new_a + self.epsilon)
                new_p = constrained(constraints, p, p - lr * step)
                new_d = self.rho * d + (1.0 - self.rho) * K.square(step)
            pairs = (K.update(a, new_a), K.update(p, new_p), K.update(d, new_d))
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep([*accumulators, *deltas], updates)
