"""Learning rates that depend on the number of the step: `Adam(ExponentialDecay(0.1, 100, 0.9))`.

A schedule is a function from the number of the step, counted from 0, to the learning rate. The
number and the rate are tensors, so the rate is computed inside the train function, from the
optimizer's `iterations`. Schedules were introduced by tf.keras.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.configurable import Configured
from kerascope.errors import ArgumentError
from kerascope.registry import Registry

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "deserialize",
    "serialize",
]

_registry = Registry("learning rate schedule")


class LearningRateSchedule(Configured):
    """Base of all schedules. For a schedule of your own, define `__call__(step)`.

    Examples
    --------
    >>> class Warmup(LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return K.minimum(step / 4, 1.0)
    >>> [float(K.eval(Warmup()(K.constant(step)))) for step in (0.0, 1.0, 2.0, 9.0)]
    [0.0, 0.25, 0.5, 1.0]
    """

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : Tensor, scalar, float
            Counted from 0.
        """
        raise NotImplementedError(f"{type(self).__name__}: write the method __call__.")


def _floor(x: Tensor) -> Tensor:
    return K.cast(K.cast(x, "int64"), K.dtype(x))


@_registry.register
class ExponentialDecay(LearningRateSchedule):
    """Exponential decay: over every `decay_steps` steps the rate is multiplied by `decay_rate`.

    Parameters
    ----------
    initial_learning_rate : float
        The rate at step 0.
    decay_steps : int
        Number of steps over which the rate is multiplied by `decay_rate`.
    decay_rate : float
        Factor of the rate over `decay_steps` steps.
    staircase : bool
        Whether the rate changes only every `decay_steps` steps, instead of at each step.
    name : str, optional

    Notes
    -----
    initial_learning_rate * decay_rate^(step / decay_steps)

    Examples
    --------
    >>> round(float(K.eval(ExponentialDecay(0.1, 10, 0.5)(K.constant(20.0)))), 6)
    0.025
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive("ExponentialDecay", decay_steps)
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        times = step / self.decay_steps
        return self.initial_learning_rate * K.pow(
            self.decay_rate, _floor(times) if self.staircase else times
        )


@_registry.register
class InverseTimeDecay(LearningRateSchedule):
    """Inverse decay: the rate is divided by 1 + `decay_rate` * step / `decay_steps`.

    Parameters
    ----------
    initial_learning_rate : float
        The rate at step 0.
    decay_steps : int
        Number of steps over which the divisor grows by `decay_rate`.
    decay_rate : float
        How much the divisor grows over `decay_steps` steps.
    staircase : bool
        Whether the rate changes only every `decay_steps` steps, instead of at each step.
    name : str, optional

    Examples
    --------
    >>> schedule = InverseTimeDecay(1.0, decay_steps=10, decay_rate=1.0)
    >>> [float(K.eval(schedule(K.constant(step)))) for step in (0.0, 10.0, 30.0)]
    [1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive("InverseTimeDecay", decay_steps)
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        times = step / self.decay_steps
        times = _floor(times) if self.staircase else times
        return self.initial_learning_rate / (1.0 + self.decay_rate * times)


@_registry.register
class PiecewiseConstantDecay(LearningRateSchedule):
    """A constant rate up to each boundary, and another constant after it.

    Parameters
    ----------
    boundaries : list of int
        Step numbers in increasing order. At the step of a boundary the rate has not changed yet.
    values : list of float
        The rates: one more than there are boundaries.
    name : str, optional

    Raises
    ------
    ArgumentError
        `values` does not have one item more than `boundaries`.

    Examples
    --------
    >>> schedule = PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> [float(K.eval(schedule(K.constant(step)))) for step in (0.0, 10.0, 11.0, 30.0)]
    [1.0, 1.0, 0.5, 0.25]
    """

    def __init__(
        self, boundaries: Sequence[float], values: Sequence[float], name: str = "PiecewiseConstant"
    ) -> None:
        if len(values) != len(boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseConstantDecay: expected one value more than boundaries, got "
                f"{len(values)} values and {len(boundaries)} boundaries."
            )
        self.boundaries = list(boundaries)
        self.values = list(values)
        self.name = name

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        rate: Any = K.constant(self.values[0])
        for boundary, value, before in zip(
            self.boundaries, self.values[1:], self.values, strict=False
        ):
            rate = rate + K.cast(K.greater(step, boundary), K.floatx()) * (value - before)
        return rate


@_registry.register
class PolynomialDecay(LearningRateSchedule):
    """Polynomial decay to `end_learning_rate` in `decay_steps` steps.

    Parameters
    ----------
    initial_learning_rate : float
        The rate at step 0.
    decay_steps : int
        Number of steps of the decay.
    end_learning_rate : float
        The rate at the end of the decay.
    power : float
        The exponent of the remaining share of steps; 1 is a linear decay.
    cycle : bool
        Whether the decay starts again after its last step, each time with more steps. Otherwise
        the rate stays at `end_learning_rate`.
    name : str, optional

    Notes
    -----
    (initial - end) * (1 - step / decay_steps)^power + end

    Examples
    --------
    >>> schedule = PolynomialDecay(1.0, decay_steps=10, end_learning_rate=0.5)
    >>> [float(K.eval(schedule(K.constant(step)))) for step in (0.0, 5.0, 10.0, 30.0)]
    [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive("PolynomialDecay", decay_steps)
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        steps: Any = float(self.decay_steps)
        if self.cycle:
            rounds = step / steps
            whole = _floor(rounds)
            begun = whole + K.cast(K.less(whole, rounds), K.dtype(rounds))
            steps = steps * K.maximum(begun, 1.0)
        left = 1.0 - K.minimum(step, steps) / steps
        height = self.initial_learning_rate - self.end_learning_rate
        return height * K.pow(left, self.power) + self.end_learning_rate


@_registry.register
class CosineDecay(LearningRateSchedule):
    """Cosine decay, after a linear warmup if `warmup_target` is given.

    Parameters
    ----------
    initial_learning_rate : float
        The rate at step 0. With a `warmup_target`, the warmup begins at this rate, otherwise the
        decay does.
    decay_steps : int
        Number of steps of the decay.
    alpha : float
        The final rate, as a share of the greatest rate.
    name : str, optional
    warmup_target : float, optional
        The rate at the end of the warmup; None means no warmup.
    warmup_steps : int
        Number of steps of the warmup.

    References
    ----------
    1. Loshchilov, Hutter: SGDR, Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    Examples
    --------
    A warmup of four steps, then a decay of ten steps:

    >>> schedule = CosineDecay(0.0, decay_steps=10, warmup_target=1.0, warmup_steps=4)
    >>> [round(float(K.eval(schedule(K.constant(step)))), 3) for step in (0.0, 2.0, 4.0, 9.0, 14.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        alpha: float = 0.0,
        name: str = "CosineDecay",
        warmup_target: float | None = None,
        warmup_steps: int = 0,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = _positive("CosineDecay", decay_steps)
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        if self.warmup_target is None:
            return self._fallen(step, self.initial_learning_rate)
        height = self.warmup_target - self.initial_learning_rate
        risen = height * step / max(self.warmup_steps, 1) + self.initial_learning_rate
        fallen = self._fallen(K.maximum(step - self.warmup_steps, 0.0), self.warmup_target)
        rises = K.cast(K.less(step, self.warmup_steps), K.dtype(fallen))
        return rises * risen + (1.0 - rises) * fallen

    def _fallen(self, step: Tensor, highest: float) -> Tensor:
        share = K.minimum(step, self.decay_steps) / self.decay_steps
        wave = 0.5 * (1.0 + K.cos(share * math.pi))
        return highest * ((1.0 - self.alpha) * wave + self.alpha)


@_registry.register
class CosineDecayRestarts(LearningRateSchedule):
    """Cosine decay that restarts at a high rate again and again.

    Parameters
    ----------
    initial_learning_rate : float
        The rate at step 0.
    first_decay_steps : int
        Number of steps of the first decay.
    t_mul : float
        Number of steps of each decay divided by that of the decay before it; at least 1.
    m_mul : float
        First rate of each decay divided by that of the decay before it.
    alpha : float
        The final rate of each decay, as a share of `initial_learning_rate`.
    name : str, optional

    Raises
    ------
    ArgumentError
        `first_decay_steps` is not above 0, or `t_mul` is below 1: the decays would become shorter
        and shorter, and the rate undefined after some steps.

    References
    ----------
    1. Loshchilov, Hutter: SGDR, Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    Examples
    --------
    The second decay starts after ten steps, at half the rate, and is twice as long:

    >>> schedule = CosineDecayRestarts(1.0, first_decay_steps=10, m_mul=0.5)
    >>> [round(float(K.eval(schedule(K.constant(step)))), 3) for step in (0.0, 10.0, 20.0, 30.0)]
    [1.0, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: int,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        where = "CosineDecayRestarts"
        if not t_mul >= 1:
            raise ArgumentError(f"{where}: t_mul: expected a number >= 1, got {t_mul!r}.")
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = _positive(where, first_decay_steps, "first_decay_steps")
        self.t_mul = t_mul
        self.m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step."""
        times = step / self.first_decay_steps
        if self.t_mul == 1:
            begun = _floor(times)
            share = times - begun
        else:
            growth = self.t_mul - 1.0
            begun = K.round(K.log(1.0 + times * growth) / math.log(self.t_mul))
            too_many = K.less(times, (K.pow(self.t_mul, begun) - 1.0) / growth)
            begun = begun - K.cast(too_many, K.dtype(begun))
            length = K.pow(self.t_mul, begun)
            share = (times - (length - 1.0) / growth) / length
        wave = 0.5 * K.pow(self.m_mul, begun) * (1.0 + K.cos(share * math.pi))
        return self.initial_learning_rate * ((1.0 - self.alpha) * wave + self.alpha)


def _positive(where: str, decay_steps: Any, name: str = "decay_steps") -> Any:
    if not decay_steps > 0:
        raise ArgumentError(f"{where}: {name}: expected a number > 0, got {decay_steps!r}.")
    return decay_steps


def serialize(learning_rate_schedule: Any) -> Any:
    """Return the class name and the configuration of a schedule."""
    return _registry.serialize(learning_rate_schedule)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Return a schedule from its class name and configuration.

    Raises
    ------
    UnknownNameError
        No schedule has this name. The message suggests a similar one.
    """
    return _registry.deserialize(config, custom_objects)
