"""Callbacks that change the learning rate of the optimizer while the model is trained."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.backend import state as K
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.monitor import Monitor, say
from kerascope.errors import ArgumentError, DtypeError
from kerascope.registry import did_you_mean
from kerascope.spellings import translate


def _learning_rate_of(model: Any, where: str) -> Any:
    """Return the variable that holds the learning rate."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or not hasattr(optimizer, "lr"):
        raise ArgumentError(
            f"{where}: the optimizer has no learning rate; expected an attribute 'lr', "
            f"got {type(optimizer).__name__}. Use an optimizer such as SGD.",
            subject=optimizer,
        )
    return optimizer.lr


@registry.register
class LearningRateScheduler(Callback):
    """Sets the learning rate at the beginning of each epoch.

    Parameters
    ----------
    schedule : callable
        Called as `schedule(epoch, lr)`, with the epoch from 0 and the rate of now, or, if it takes
        one argument, as `schedule(epoch)`. Returns the new rate.
    verbose : {0, 1}
        1 tells the new rate.

    Notes
    -----
    Writes the rate as "lr" into the logs of the epoch.

    Raises
    ------
    DtypeError
        `schedule` cannot be called, or what it returned is no number.

    Examples
    --------
    >>> halve = LearningRateScheduler(lambda epoch, lr: lr / 2)
    >>> halve_by_epoch = LearningRateScheduler(lambda epoch: 0.1 * 0.5**epoch)
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        if not callable(schedule):
            raise DtypeError(
                f"LearningRateScheduler: schedule cannot be called; expected a function "
                f"(epoch, lr) -> lr, got {type(schedule).__name__}."
            )
        self.schedule = schedule
        self.verbose = verbose
        self._wants_rate = _takes_two_arguments(schedule)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Ask the schedule and set the rate."""
        variable = _learning_rate_of(self.model, "LearningRateScheduler")
        old_rate = float(K.get_value(variable))
        rate: Any = self.schedule(epoch, old_rate) if self._wants_rate else self.schedule(epoch)
        if isinstance(rate, bool) or not isinstance(rate, numbers.Real):
            raise DtypeError(
                f"LearningRateScheduler: the schedule's result for epoch {epoch} is no number; "
                f"expected a float, got {rate!r}."
            )
        K.set_value(variable, rate)
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is {float(rate):g}.")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the rate into the logs."""
        if logs is not None:
            logs["lr"] = float(K.get_value(self.model.optimizer.lr))


def _takes_two_arguments(function: Callable[..., Any]) -> bool:
    """Tell whether `function(epoch, lr)` is a possible call; no if nobody knows."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return False
    try:
        signature.bind(0, 0.1)
    except TypeError:
        return False
    return True


@registry.register
class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when the watched figure no longer gets better.

    Parameters
    ----------
    monitor : str
        Key of the logs; `acc` and `accuracy` are the same.
    factor : float
        The new rate is the old one times this; below 1.
    patience : int
        After how many epochs in a row without progress it acts; 0 is the same as 1.
    verbose : {0, 1}
        1 tells the new rate.
    mode : {"auto", "min", "max"}
        Whether less or more is better.
    min_delta : float
        A smaller change is none.
    cooldown : int
        Epochs to wait after a reduction before counting again.
    min_lr : float
        The rate never falls below.
    **kwargs
        Keras's older word for `min_delta`: `epsilon`.

    Notes
    -----
    Writes the rate as "lr" into the logs of the epoch.

    Raises
    ------
    ArgumentError
        `factor` is 1 or more, there is no such mode, or an argument is unknown.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ) -> None:
        options = translate("ReduceLROnPlateau", kwargs)
        min_delta = options.pop("min_delta", min_delta)
        for name in options:
            hint = did_you_mean(name, inspect.signature(ReduceLROnPlateau).parameters)
            raise ArgumentError(f"ReduceLROnPlateau: no argument {name!r}. {hint}".rstrip())
        if not 0 <= factor < 1:
            raise ArgumentError(
                f"ReduceLROnPlateau: bad factor; expected at least 0 and less than 1, "
                f"got {factor}. The new rate is the old one times the factor."
            )
        self._monitor = Monitor(monitor, mode, "ReduceLROnPlateau", min_delta)
        self.monitor = monitor
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.min_delta = min_delta
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._start()

    def _start(self) -> None:
        self.best = self._monitor.worst
        self.wait = 0
        self.cooldown_counter = 0

    def in_cooldown(self) -> bool:
        """Tell whether a reduction was so recent that nothing is counted."""
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Forget an earlier run."""
        self._start()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Look at the figure of one epoch."""
        logs = {} if logs is None else logs
        variable = _learning_rate_of(self.model, "ReduceLROnPlateau")
        current = self._monitor.value(logs, self.params)
        logs["lr"] = float(K.get_value(variable))
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._monitor.is_better(current, self.best):
            self.best = current
            self.wait = 0
            return
        if self.in_cooldown():
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._reduce(epoch, variable)

    def _reduce(self, epoch: int, variable: Any) -> None:
        """Lower the rate; a rate that is at `min_lr`, as far as its type can tell, stays."""
        old_rate = np.asarray(K.get_value(variable))
        new_rate = max(float(old_rate) * self.factor, self.min_lr)
        if np.asarray(new_rate, dtype=old_rate.dtype) >= old_rate:
            return
        K.set_value(variable, new_rate)
        self.cooldown_counter = self.cooldown
        self.wait = 0
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is lowered to {new_rate:g}.")
