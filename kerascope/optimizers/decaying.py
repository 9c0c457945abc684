"""Optimizers with a learning rate: a number, a number that falls, or a schedule; weight decay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.configured import plain
from kerascope.errors import ArgumentError
from kerascope.optimizers import schedules
from kerascope.optimizers.base import Constraints, Optimizer
from kerascope.optimizers.schedules import LearningRateSchedule


class DecayingOptimizer(Optimizer):
    """An optimizer with a learning rate `lr` that falls with time as `decay` says.

    Notes
    -----
    lr at step t (counted from 0) is lr / (1 + decay * t). A `LearningRateSchedule` in the place of
    the number says itself how it changes; the variable `lr` then holds its first value.
    """

    def __init__(self, lr: Any, decay: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.schedule = _schedule_of(lr)
        if self.schedule is not None:
            lr = K.eval(self.schedule(K.constant(0)))
            self.lr: Variable = _FollowedRate(lr, self.schedule)
        else:
            self.lr = self._hyperparameter("lr", lr)
        self.decay = self._hyperparameter("decay", decay)
        self.initial_decay = plain(self.decay)

    def _fixed(self) -> list[str]:
        """Return what cannot change in the updates: `decay` too, if there was none."""
        return [*super()._fixed(), *([] if self.initial_decay > 0 else ["decay"])]

    def _rate(self) -> Tensor:
        """Return the learning rate of this step; without `decay` it has nothing to do with time."""
        if self.schedule is not None:
            return self.schedule(K.cast(self.iterations, K.floatx()))
        self.initial_decay = plain(self.decay)
        if not self.initial_decay > 0:
            return self.lr
        return self.lr * (1.0 / (1.0 + self.decay * K.cast(self.iterations, K.dtype(self.decay))))

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        """Return what happens to each new value: the share of the old one goes, then constraints.

        A rule that writes `constrained(constraints, p, new_p)` gets both.
        """
        if not self.weight_decay:
            return constraints
        share = self._rate() * self.weight_decay

        def decayed(p: Variable) -> Callable[[Tensor], Tensor]:
            constraint = constraints.get(p, lambda new_p: new_p)
            return lambda new_p: constraint(new_p - p * share)

        return {p: decayed(p) for p in params}

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters as plain numbers, a schedule by its class and arguments."""
        config = super().get_config()
        if self.schedule is not None:
            config["lr"] = {
                "class_name": type(self.schedule).__name__, "config": self.schedule.get_config()
            }  # fmt: skip
        return config


class _FollowedRate(Variable):
    """The variable `lr` of an optimizer with a schedule: nobody reads it, so nobody may set it."""

    __slots__ = ("schedule",)

    def __init__(self, value: Any, schedule: LearningRateSchedule) -> None:
        super().__init__(value, name="lr")
        self.schedule = schedule

    def _checked(self, value: Any) -> NoReturn:
        """Refuse every value.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise ArgumentError(
            f"optimizer: its learning rate follows {self.schedule}, so it cannot be set to "
            f"{value!r}. Make the optimizer with a number to change it by hand or by a callback."
        )


def _schedule_of(lr: Any) -> LearningRateSchedule | None:
    """Return a schedule that was given in the place of the learning rate, or its configuration."""
    if isinstance(lr, dict):
        return schedules.deserialize(lr)
    return lr if isinstance(lr, LearningRateSchedule) else None
