"""The optimizers: formulas for a parameter's new value, given its gradient.

Each class declares its `slots` and computes one `step`: the new values of a parameter and its
slots. The loop over the parameters is `DecayingOptimizer._updates`, in `base`.

SGD is the first: its step is the gradient, optionally with momentum. RMSprop, Adagrad and Adadelta
divide the gradient by the size of past gradients. Adam and its variants also use a moving mean of
the gradient.
"""

# ruff: noqa: RUF012 (`slots` is read only)

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend import Tensor, Variable
from kerascope.errors import ArgumentError
from kerascope.optimizers.base import (
    Constraints,
    DecayingOptimizer,
    NewValues,
    Pair,
    accepts_spellings,
)

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "Muon",
    "Nadam",
    "RMSprop",
]


class SGD(DecayingOptimizer):
    """Stochastic gradient descent, optionally with momentum.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    momentum : float
        Share of the last step's velocity that is kept.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    nesterov : bool
        Whether to use Nesterov's momentum: the velocity one step ahead.
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

    slots = {"m": "momentum"}

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

    def step(self, p: Tensor, g: Tensor, lr: Tensor, m: Tensor) -> NewValues:
        """Return the new velocity and the new parameter."""
        new_m = self.momentum * m - lr * g
        new_p = p + (self.momentum * new_m - lr * g if self.nesterov else new_m)
        return new_m, new_p


# --- gradients divided by the size of past gradients ----------------------------------------------


class RMSprop(DecayingOptimizer):
    """RMSprop: the gradient divided by its moving root mean square.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    rho : float
        Share of the old mean square that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    momentum : float
        Share of the last step that is added to the next step.
    centered : bool
        Whether to subtract the square of the mean gradient from the mean square. Then the gradient
        is divided by its standard deviation.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    a = rho * a + (1 - rho) * g^2;  p = p - lr * g / (sqrt(a) + epsilon).
    Slots: `a`, the accumulator. With flavour "3" (see `Optimizer`) epsilon is under the root.
    With `momentum` there is also the slot m = momentum * m + lr * g / (sqrt(a) + epsilon), and
    p = p - m. With `centered` there is also the slot b = rho * b + (1 - rho) * g, and a - b^2
    replaces a in the root.

    References
    ----------
    1. Tieleman, Hinton: Lecture 6.5 of Neural Networks for Machine Learning, 2012.

    Examples
    --------
    The first step is lr / sqrt(1 - rho), whatever the size of the gradient:

    >>> p = K.variable([1.0, 1.0])
    >>> RMSprop(lr=0.1, rho=0.75).apply([[100.0, -1.0]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [0.8, 1.2]
    """

    _depends_on_flavour = True
    slots = {"a": "accumulator", "m": "momentum", "b": "average_gradient"}

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
        """Return the constructor's arguments. Omit options that Keras 2 lacks if they are off."""
        config = super().get_config()
        return {k: v for k, v in config.items() if v or k not in ("momentum", "centered")}

    def has_slot(self, word: str, p: Variable) -> bool:
        """Return whether the optimizer keeps the slot `word` for its weights.

        "momentum" needs a `momentum` above 0, and "average_gradient" needs `centered`.
        """
        options = {"momentum": self.momentum, "average_gradient": self.centered}
        return bool(options.get(word, True))

    def step(
        self,
        p: Tensor,
        g: Tensor,
        lr: Tensor,
        a: Tensor,
        m: Tensor | None = None,
        b: Tensor | None = None,
    ) -> NewValues:
        """Return the new values of the parameter's slots and of the parameter itself."""
        new_a = spread = self.rho * a + (1.0 - self.rho) * K.square(g)
        new_slots = [new_a]
        if b is not None:
            new_b = self.rho * b + (1.0 - self.rho) * g
            spread = new_a - K.square(new_b)
        step = lr * g / self._root(spread)
        if m is not None:
            step = self.momentum * m + step
            new_slots.append(step)
        if b is not None:
            new_slots.append(new_b)
        return *new_slots, p - step


class Adagrad(DecayingOptimizer):
    """Adagrad: the gradient divided by the root of the sum of its past squares.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    initial_accumulator_value : float
        First value of the sums of squares. In dialect "3" the default is 0.1.
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

    Examples
    --------
    The second step is 4 / sqrt(3^2 + 4^2) = 0.8, because the first gradient counts too:

    >>> p, optimizer = K.variable(2.0), Adagrad(lr=1.0)
    >>> for gradient in (3.0, 4.0):
    ...     optimizer.apply([gradient], [p])
    ...     print(round(float(p.get_value()), 4))
    1.0
    0.2
    """

    _depends_on_flavour = True
    slots = {"a": "accumulator"}

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

    def step(self, p: Tensor, g: Tensor, lr: Tensor, a: Tensor) -> NewValues:
        """Return the new sum of squares and the new parameter."""
        new_a = a + K.square(g)
        return new_a, p - lr * g / self._root(new_a)

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters, without `initial_accumulator_value` if it is 0 (Keras 2)."""
        config = super().get_config()
        if "flavour" not in config and not self.initial_accumulator_value:
            config.pop("initial_accumulator_value", None)
        return config


class Adadelta(DecayingOptimizer):
    """Adadelta: the gradient times the size of past steps, divided by the size of past gradients.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). The paper has no learning rate, which
        means 1. In dialect "3" the default is 0.001.
    rho : float
        Share of the old mean squares that is kept.
    epsilon : float, optional
        Keeps the division finite, and the first steps above 0. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    a = rho * a + (1 - rho) * g^2;  step = g * sqrt(d + epsilon) / sqrt(a + epsilon);
    p = p - lr * step;  d = rho * d + (1 - rho) * step^2.
    Slots: `a` of all parameters, the accumulators, then `d` of all parameters, the delta
    accumulators.

    References
    ----------
    1. Zeiler: ADADELTA, an Adaptive Learning Rate Method, 2012.

    Examples
    --------
    The first step is sqrt(epsilon / (1 - rho)), whatever the size of the gradient. The next steps
    are longer:

    >>> p, optimizer = K.variable([0.0, 0.0]), Adadelta(rho=0.75, epsilon=1e-6)
    >>> for _ in range(3):
    ...     optimizer.apply([[100.0, 1.0]], [p])
    ...     print([round(x, 4) for x in p.get_value().tolist()])
    [-0.002, -0.002]
    [-0.0041, -0.0041]
    [-0.0064, -0.0064]
    """

    slots = {"a": "accumulator", "d": "delta_accumulator"}

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

    def step(self, p: Tensor, g: Tensor, lr: Tensor, a: Tensor, d: Tensor) -> NewValues:
        """Return the new mean squares of gradients and of steps, and the new parameter."""
        new_a = self.rho * a + (1.0 - self.rho) * K.square(g)
        step = g * K.sqrt(d + self.epsilon) / K.sqrt(new_a + self.epsilon)
        new_p = p - lr * step
        new_d = self.rho * d + (1.0 - self.rho) * K.square(step)
        return new_a, new_d, new_p


# --- moving mean of the gradient, divided by its moving size --------------------------------------
# Both moving means start at 0. Powers of their decay rates correct this.


class Adam(DecayingOptimizer):
    """Adam: the moving mean of the gradient divided by the root of its mean square.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1, beta_2 : float
        Share of the old mean, and of the old mean square, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    amsgrad : bool
        Whether to divide by the greatest mean square so far, not by the current mean square.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    At step t, counted from 1:
    m = beta_1 * m + (1 - beta_1) * g;  v = beta_2 * v + (1 - beta_2) * g^2;
    lr_t = lr * sqrt(1 - beta_2^t) / (1 - beta_1^t);  p = p - lr_t * m / (sqrt(v) + epsilon).
    Slots: `m` of all parameters, then `v`, then with amsgrad the greatest `v`.

    References
    ----------
    1. Kingma, Ba: Adam, a Method for Stochastic Optimization, ICLR 2015.
    2. Reddi, Kale, Kumar: On the Convergence of Adam and Beyond, ICLR 2018.

    Examples
    --------
    The first step is lr, whatever the size of the gradient:

    >>> p = K.variable([1.0, 1.0])
    >>> Adam(lr=0.1).apply([[50.0, -0.02]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [0.9, 1.1]
    """

    slots = {"m": "m", "v": "v", "v_max": "v_max"}

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

    def has_slot(self, word: str, p: Variable) -> bool:
        """Return whether the optimizer keeps the slot `word`; "v_max" needs `amsgrad`."""
        return word != "v_max" or self.amsgrad

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the learning rate, corrected for the start of both moving means at 0."""
        t = self._time()
        return {"lr_t": lr * (K.sqrt(1.0 - K.pow(self.beta_2, t)) / (1.0 - K.pow(self.beta_1, t)))}

    def step(
        self, p: Tensor, g: Tensor, lr_t: Tensor, m: Tensor, v: Tensor, v_max: Tensor | None = None
    ) -> NewValues:
        """Return the new mean and mean square of the gradient, and the new parameter."""
        new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
        new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
        if v_max is None:
            return new_m, new_v, p - lr_t * new_m / (K.sqrt(new_v) + self.epsilon)
        new_v_max = K.maximum(v_max, new_v)
        return new_m, new_v, new_v_max, p - lr_t * new_m / (K.sqrt(new_v_max) + self.epsilon)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the values of `weights`.

        Keras 2 stores unused third slots even without amsgrad; they are ignored.
        """
        per_parameter = (len(self.weights) - 1) // 2
        if not self.amsgrad and len(weights) == 1 + 3 * per_parameter:
            weights = list(weights)[: len(self.weights)]
        super().set_weights(weights)


class Adamax(DecayingOptimizer):
    """Adamax: Adam with the greatest recent gradient instead of the root mean square.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    beta_1, beta_2 : float
        Share of the old mean, and of the old greatest gradient, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    At step t, counted from 1: m = beta_1 * m + (1 - beta_1) * g;  u = max(beta_2 * u, `|g|`);
    p = p - lr / (1 - beta_1^t) * m / (u + epsilon).
    Slots: `m` of all parameters, then `u`.

    References
    ----------
    1. Kingma, Ba: Adam, a Method for Stochastic Optimization, ICLR 2015, section 7.

    Examples
    --------
    The second gradient is divided by max(0.5 * 8, 2), because the first one was greater:

    >>> p, optimizer = K.variable(3.0), Adamax(lr=1.0, beta_1=0.0, beta_2=0.5)
    >>> for gradient in (8.0, 2.0):
    ...     optimizer.apply([gradient], [p])
    ...     print(round(float(p.get_value()), 4))
    2.0
    1.5
    """

    slots = {"m": "m", "u": "u"}

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

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the learning rate, corrected for the start of the moving mean at 0."""
        return {"lr_t": lr / (1.0 - K.pow(self.beta_1, self._time()))}

    def step(self, p: Tensor, g: Tensor, lr_t: Tensor, m: Tensor, u: Tensor) -> NewValues:
        """Return the new mean and greatest size of the gradient, and the new parameter."""
        new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
        new_u = K.maximum(self.beta_2 * u, K.abs(g))
        return new_m, new_u, p - lr_t * new_m / (new_u + self.epsilon)


class Nadam(DecayingOptimizer):
    """Nadam: Adam with Nesterov's momentum, which increases over the first steps.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too). In dialect "3" the default is 0.001.
    beta_1, beta_2 : float
        Share of the old mean, and of the old mean square, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    schedule_decay : float
        How fast the momentum approaches beta_1. In dialect "3" the default is 1.
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

    Examples
    --------
    The first step is longer than Adam's, which is lr, because it looks one step ahead:

    >>> p = K.variable([1.0, 1.0])
    >>> Nadam(lr=0.1).apply([[50.0, -0.02]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [0.8944, 1.1056]
    """

    slots = {"m": "m", "v": "v"}

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

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the momenta of this step and the next step; update the product of all momenta."""
        t = self._time()
        mu, next_mu = self._momentum_at(t), self._momentum_at(t + 1)
        s = K.variable(1.0, name="momentum_schedule")
        updates.append(K.update(s, new_s := s * mu))
        return {"lr": lr, "t": t, "mu": mu, "next_mu": next_mu, "new_s": new_s}

    def step(
        self,
        p: Tensor,
        g: Tensor,
        lr: Tensor,
        t: Tensor,
        mu: Tensor,
        next_mu: Tensor,
        new_s: Tensor,
        m: Tensor,
        v: Tensor,
    ) -> NewValues:
        """Return the new mean and mean square of the gradient, and the new parameter."""
        new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
        new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
        mean = (1.0 - mu) * g / (1.0 - new_s) + next_mu * new_m / (1.0 - new_s * next_mu)
        size = K.sqrt(new_v / (1.0 - K.pow(self.beta_2, t)))
        return new_m, new_v, p - lr * mean / (size + self.epsilon)

    def _momentum_at(self, t: Tensor) -> Tensor:
        return self.beta_1 * (1.0 - 0.5 * K.pow(0.96, t * self.schedule_decay))


# --- optimizers that Keras 2 does not have --------------------------------------------------------


class AdamW(Adam):
    """AdamW: Adam with weight decay that does not enter the gradient.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    weight_decay : float
        Share of each parameter that is subtracted in each step, times the learning rate.
    beta_1, beta_2, epsilon, amsgrad, decay
        As for `Adam`.
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    p becomes p - lr * weight_decay * p - Adam's step. A penalty on the weights (`l2`) would be part
    of the gradient, which Adam divides by its size.

    References
    ----------
    1. Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019.

    Examples
    --------
    Without a gradient, lr * weight_decay * p = 0.1 is subtracted. With a gradient, Adam's first
    step, which is lr, comes in addition:

    >>> p = K.variable([2.0, 2.0])
    >>> AdamW(lr=0.1, weight_decay=0.5).apply([[0.0, 5.0]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [1.9, 1.8]
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
    """Lamb: Adam, but the norm of each step is the norm of its parameter times the rate.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1, beta_2 : float
        Share of the old mean, and of the old mean square, that is kept.
    epsilon : float, optional
        Keeps the division finite. Default `K.epsilon()`.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    weight_decay, clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    With Adam's m and v, corrected for their start at 0, u = m / (sqrt(v) + epsilon) and
    `p = p - lr * |p| / |u| * u`, where `|.|` is the Euclidean norm of the whole array. If one of
    two norms is 0, their quotient is replaced by 1. Slots: `m` and `v`.

    References
    ----------
    1. You et al.: Large Batch Optimization for Deep Learning: Training BERT in 76 Minutes, 2019.

    Examples
    --------
    The norm of the parameter is 5, so that of the step is lr * 5, whatever the gradient:

    >>> p = K.variable([3.0, 4.0])
    >>> Lamb(lr=0.1).apply([[50.0, 0.0]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [2.5, 4.0]
    """

    slots = {"m": "m", "v": "v"}
    slots_by_parameter = True

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

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the learning rate and the number of the step."""
        return {"lr": lr, "t": self._time()}

    def step(self, p: Tensor, g: Tensor, lr: Tensor, t: Tensor, m: Tensor, v: Tensor) -> NewValues:
        """Return the new mean and mean square of the gradient, and the new parameter."""
        new_m = self.beta_1 * m + (1.0 - self.beta_1) * g
        new_v = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
        whole_m = new_m / (1.0 - K.pow(self.beta_1, t))
        whole_v = new_v / (1.0 - K.pow(self.beta_2, t))
        step = whole_m / (K.sqrt(whole_v) + self.epsilon)
        decayed = p * (1.0 - lr * self.weight_decay) if self.weight_decay else p
        return new_m, new_v, p - lr * _ratio(decayed, step) * step


def _ratio(p: Tensor, step: Tensor) -> Tensor:
    """Return the norm of a parameter divided by the norm of its step; 1 if either norm is 0."""
    length, of_step = (K.sqrt(K.sum(K.square(x))) for x in (p, step))
    has_none = K.equal(K.minimum(length, of_step), 0.0)
    return K.switch(has_none, K.ones_like(length), length / K.maximum(of_step, 1e-30))


class Muon(DecayingOptimizer):
    """Muon: orthogonal steps for matrices, which move equally far in all directions.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    adam_beta_1, adam_beta_2, adam_weight_decay, epsilon : float
        Arguments of AdamW, which updates excluded parameters and parameters that are not matrices.
    weight_decay : float
        Share of a matrix that is subtracted in each step, times the learning rate.
    exclude_layers : list of str, optional
        Regular expressions. Parameters whose name matches one of them are updated by AdamW.
    exclude_embeddings : bool
        Whether parameters with "embedding" in their name are excluded too.
    muon_a, muon_b, muon_c : float
        Coefficients of the polynomial that makes a matrix orthogonal.
    adam_lr_ratio : float
        AdamW's learning rate divided by `lr`.
    momentum : float
        Share of the old momentum that is kept.
    ns_steps : int
        Number of times that the polynomial is applied.
    nesterov : bool
        Whether to use Nesterov's momentum: the momentum one step ahead.
    rms_rate : float, optional
        Factor that makes the size of a step comparable to Adam's. None leaves out the factor
        rms_rate * sqrt(longest side).
    clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    m = momentum * m + g; x = g + momentum * m (Nesterov), divided by its length; `ns_steps` times
    x = a x + (b s + c s s) x with s = x times its transpose;
    p = p - lr * rms_rate * sqrt(longest side) * x.
    Slots: `m`, and AdamW's for the other parameters.

    References
    ----------
    1. Jordan et al.: Muon: An Optimizer for Hidden Layers in Neural Networks, 2024.
    2. Liu et al.: Muon is Scalable for LLM Training, 2025.

    Examples
    --------
    A gradient 100 times as large in one direction as in the other gives equal steps in both:

    >>> p = K.variable([[0.0, 0.0], [0.0, 0.0]])
    >>> Muon(lr=0.1, rms_rate=None).apply([[[100.0, 0.0], [0.0, 1.0]]], [p])
    >>> [[round(x, 2) for x in row] for row in p.get_value().tolist()]
    [[-0.07, 0.0], [0.0, -0.07]]
    """

    slots = {"m": "m", "v": "v"}

    @accepts_spellings
    def __init__(
        self,
        lr: float = 0.001,
        adam_beta_1: float = 0.9,
        adam_beta_2: float = 0.999,
        adam_weight_decay: float = 0.004,
        epsilon: float = 1e-7,
        weight_decay: float = 0.004,
        exclude_layers: Sequence[str] | None = None,
        exclude_embeddings: bool = True,
        muon_a: float = 3.4445,
        muon_b: float = -4.775,
        muon_c: float = 2.0315,
        adam_lr_ratio: float = 1.0,
        momentum: float = 0.95,
        ns_steps: int = 5,
        nesterov: bool = True,
        rms_rate: float | None = 0.2,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(lr, decay, **kwargs)
        self.adam_beta_1 = adam_beta_1
        self.adam_beta_2 = adam_beta_2
        self.adam_weight_decay = adam_weight_decay
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.exclude_layers = exclude_layers
        self.exclude_embeddings = exclude_embeddings
        self.muon_a = muon_a
        self.muon_b = muon_b
        self.muon_c = muon_c
        self.adam_lr_ratio = adam_lr_ratio
        self.momentum = momentum
        self.ns_steps = ns_steps
        self.nesterov = nesterov
        self.rms_rate = rms_rate

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        return constraints  # `step` applies the weight decay

    def has_slot(self, word: str, p: Variable) -> bool:
        """Return whether `p` has the slot `word`. Matrices that Muon updates have no `v`."""
        return word != "v" or self._is_for_adam(p)

    def _is_for_adam(self, p: Variable) -> bool:
        excluded = [*(self.exclude_layers or ()), *(["(?i)embedding"] * self.exclude_embeddings)]
        return p.ndim != 2 or any(re.search(one, p.name) for one in excluded)

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the learning rate and the number of the step."""
        return {"lr": lr, "t": self._time()}

    def step(
        self, p: Variable, g: Tensor, lr: Tensor, t: Tensor, m: Tensor, v: Tensor | None = None
    ) -> NewValues:
        """Return the new values of a parameter's slots and of the parameter itself.

        They are computed by AdamW if the parameter has a slot `v`, otherwise by Muon.
        """
        if v is None:
            share, new_m = self.weight_decay or 0.0, self.momentum * m + g
            step = self._orthogonal(g + self.momentum * new_m if self.nesterov else new_m)
            return new_m, p - p * (lr * share) - lr * step
        share, rate = self.adam_weight_decay or 0.0, lr * self.adam_lr_ratio
        rate *= K.sqrt(1.0 - K.pow(self.adam_beta_2, t))
        rate /= 1.0 - K.pow(self.adam_beta_1, t)
        new_m = self.adam_beta_1 * m + (1.0 - self.adam_beta_1) * g
        new_v = self.adam_beta_2 * v + (1.0 - self.adam_beta_2) * K.square(g)
        step = new_m / (K.sqrt(new_v) + self.epsilon)
        return new_m, new_v, p - p * (lr * share) - rate * step

    def _orthogonal(self, g: Tensor) -> Tensor:
        rows, columns = (int(size or 0) for size in g.shape)
        x = K.transpose(g) if rows > columns else g
        x = x / (K.sqrt(K.sum(K.square(x))) + 1e-7)
        for _ in range(self.ns_steps):
            s = K.dot(x, K.transpose(x))
            x = self.muon_a * x + K.dot(self.muon_b * s + self.muon_c * K.dot(s, s), x)
        x = K.transpose(x) if rows > columns else x
        return x if self.rms_rate is None else x * (self.rms_rate * max(rows, columns) ** 0.5)


class Lion(DecayingOptimizer):
    """Lion: a step in the direction of the sign of a moving mean, of equal size for all elements.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    beta_1 : float
        Share of the old mean in the sum whose sign is used.
    beta_2 : float
        Share of the old mean that is kept.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
    weight_decay, clipnorm, clipvalue : float, optional
        See `Optimizer`.

    Notes
    -----
    p = p - lr * sign(beta_1 * m + (1 - beta_1) * g);  m = beta_2 * m + (1 - beta_2) * g.
    Slots: `m`, the momentum.

    References
    ----------
    1. Chen et al.: Symbolic Discovery of Optimization Algorithms, 2023.

    Examples
    --------
    Only the sign of a gradient matters in the first step:

    >>> p = K.variable([1.0, 1.0, 1.0])
    >>> Lion(lr=0.1).apply([[50.0, -0.02, 0.0]], [p])
    >>> [round(x, 4) for x in p.get_value().tolist()]
    [0.9, 1.1, 1.0]
    """

    slots = {"m": "momentum"}

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

    def step(self, p: Tensor, g: Tensor, lr: Tensor, m: Tensor) -> NewValues:
        """Return the new mean of the gradient and the new parameter."""
        direction = K.sign(self.beta_1 * m + (1.0 - self.beta_1) * g)
        return self.beta_2 * m + (1.0 - self.beta_2) * g, p - lr * direction


class Ftrl(DecayingOptimizer):
    """Ftrl (follow the regularized leader), for many features of which few matter.

    Parameters
    ----------
    lr : float
        Learning rate (`learning_rate=` is accepted too).
    learning_rate_power : float
        The rate is multiplied by the sum of squares to the power of this number, which is 0 or
        negative.
    initial_accumulator_value : float
        First value of the sums of squares.
    l1_regularization_strength, l2_regularization_strength : float
        Strengths of the penalties. L1 makes small parameters exactly 0.
    l2_shrinkage_regularization_strength : float
        Strength of an L2 penalty in the gradient only.
    beta : float
        Added to the root of the sum of squares.
    decay : float
        Decay of the learning rate: lr / (1 + decay * t).
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

    Examples
    --------
    A gradient below the L1 strength leaves the parameter at exactly 0:

    >>> p = K.variable([0.0, 0.0])
    >>> optimizer = Ftrl(lr=1.0, initial_accumulator_value=0.0, l1_regularization_strength=1.0)
    >>> optimizer.apply([[-0.5, -4.0]], [p])
    >>> p.get_value().tolist()
    [0.0, 0.75]
    """

    slots = {"n": "accumulator", "z": "linear"}
    slots_by_parameter = True

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
                f"Ftrl: learning_rate_power: expected at most 0, got {learning_rate_power!r}."
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
        """Return the constraints unchanged, because `step` applies the weight decay itself."""
        return constraints

    def _strength(self, value: float) -> float:
        if not value >= 0:
            raise ArgumentError(f"Ftrl: expected numbers >= 0, got {value!r}.")
        return value

    def step(self, p: Tensor, g: Tensor, lr: Tensor, n: Tensor, z: Tensor) -> NewValues:
        """Return the new values of the slots n and z, and of the parameter."""
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        power = -self.learning_rate_power
        start = p * (1.0 - lr * self.weight_decay) if self.weight_decay else p
        shrunk = g + 2.0 * self.l2_shrinkage_regularization_strength * start
        new_n = n + K.square(g)
        change = (K.pow(new_n, power) - K.pow(n, power)) / lr
        new_z = z + shrunk - change * start
        steepness = K.pow(new_n, power) / lr + 2.0 * (l2 + self.beta / (2.0 * lr))
        return new_n, new_z, (K.clip(new_z, -l1, l1) - new_z) / steepness
