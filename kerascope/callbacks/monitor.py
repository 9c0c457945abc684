"""Callbacks that watch a loss or metric in the logs and act when it improves or stops improving.

`Monitor` finds the value in the logs and compares it with the best value so far. `EarlyStopping`
ends training, `ReduceLROnPlateau` and `LearningRateScheduler` change the learning rate, and
`ModelCheckpoint` saves the model.
"""

from __future__ import annotations

import inspect
import numbers
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from kerascope import display
from kerascope.backend import state as K
from kerascope.callbacks.base import Callback, Logs, Params, registry
from kerascope.errors import ArgumentError, DtypeError, KerascopeWarning, NonFiniteLossError
from kerascope.printable import printable, printable_lines
from kerascope.registry import did_you_mean
from kerascope.spellings import dialect_options, translate

MODES = ("auto", "min", "max")
GROWS_WHEN_BETTER = ("acc", "fmeasure")

# Words in the names of Keras 3's metrics and their classes, in lower case and without "_", that say
# whether larger or smaller values are better. A short name must be a whole word between "_".
GROWS_IN_KERAS_3 = (
    *("acc", "auc", "concordancecorrelation", "cosinesimilarity", "f1score", "fbetascore", "iou"),
    *("pearsoncorrelation", "precision", "r2score", "recall", "sensitivityatspecificity"),
    "specificityatsensitivity",
)
FALLS_IN_KERAS_3 = ("loss", "error", "crossentropy", "hinge", "divergence", "logcosh", "poisson")
FALLS_BY_SHORT_NAME = {"mse", "mae", "mape", "msle", "rmse", "bce", "cce", "ce", "kld"}


def say(text: str) -> None:
    """Print a message of a callback with `verbose=1` about what it did."""
    display.show("message", printable_lines(text))


def other_accuracy(name: str) -> str | None:
    """Return the other spelling of an accuracy's name, or None for other names.

    The dialect decides whether logs contain `acc` or `accuracy`. Monitors accept both.

    Examples
    --------
    >>> other_accuracy("val_acc"), other_accuracy("accuracy"), other_accuracy("loss")
    ('val_accuracy', 'acc', None)
    """
    prefix, separator, word = name.rpartition("_")
    swapped = {"acc": "accuracy", "accuracy": "acc"}.get(word)
    return swapped and prefix + separator + swapped


def find(name: str, logs: Logs) -> Any:
    """Return the value of `name` in the logs, or None. `acc` and `accuracy` are synonyms."""
    return logs[name] if name in logs else logs.get(other_accuracy(name) or name)


def is_awaited(name: str, logs: Logs, params: Params | None) -> bool:
    """Return whether a metric of the run is missing only because this epoch had no validation."""
    promised = dict.fromkeys((params or {}).get("metrics", ()), 0)
    return find(name, logs) is None and find(name, promised) is not None


@dataclass(frozen=True)
class Monitor:
    """A loss or metric to watch, and whether larger or smaller values are better.

    Parameters
    ----------
    name : str
        The key in the logs: "val_loss".
    mode : {"auto", "min", "max"}
        Whether smaller or larger values are better. With "auto", larger values are better if the
        name contains accuracy or F-measure. In dialect "3" the class of the metric decides, so that
        a larger AUC is better. For a metric that Keras 3 does not have, "auto" is not allowed.
    where : str
        The name of the callback, for messages.
    min_delta : float
        The smallest change that counts as an improvement.

    Raises
    ------
    ArgumentError
        The mode is not valid.

    Examples
    --------
    >>> monitor = Monitor("val_acc", "auto", "EarlyStopping", min_delta=0.1)
    >>> monitor.is_better(0.95, than=0.8), monitor.is_better(0.85, than=0.8)
    (True, False)
    """

    name: str
    mode: str
    where: str
    min_delta: float = 0.0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ArgumentError(
                f"{self.where}: expected mode 'auto', 'min' or 'max', got {self.mode!r}. "
                f"{did_you_mean(str(self.mode), MODES)}".rstrip()
            )

    def grows_in(self, model: Any) -> bool:
        """Return whether larger values of the metric are better."""
        if self.mode != "auto":
            return self.mode == "max"
        if not dialect_options().monitors_as_keras_3:
            return any(word in self.name for word in GROWS_WHEN_BETTER)
        name = self.name.removeprefix("val_")
        kind = type(getattr(model, "stateful_metrics", {}).get(name)).__name__
        for text in (kind.lower(), name.lower()):
            word = text.replace("_", "")
            if any(part in word for part in FALLS_IN_KERAS_3):
                return False
            if not FALLS_BY_SHORT_NAME.isdisjoint(text.split("_")):
                return False
            if any(part in word for part in GROWS_IN_KERAS_3):
                return True
        raise ArgumentError(
            f"{self.where}: it is unknown whether a larger {self.name!r} is better. Give "
            "mode='max' or mode='min'."
        )

    @property
    def worst(self) -> float | None:
        """The worst possible value, with which `best` begins; None in dialect "3".

        In dialect "3" the first value in the logs is the best so far, whatever it is.
        """
        if dialect_options().monitors_as_keras_3:
            return None
        return float("-inf") if self.grows_in(None) else float("inf")

    def is_better(self, value: float, than: float | None, model: Any = None) -> bool:
        """Return whether `value` is better by more than `min_delta`. NaN is never better."""
        grows = self.grows_in(model)
        if than is None:
            return True
        gain = float(value) - float(than)
        return (gain if grows else -gain) > abs(self.min_delta)

    def value(self, logs: Logs | None, params: Params | None) -> Any:
        """Return the watched value from the logs, or None with a warning if it is missing.

        No warning is shown if the value is missing because the epoch had no validation, which can
        happen with the argument `validation_freq` of `fit`.

        Warns
        -----
        KerascopeWarning
            The value is missing.
        """
        logs = logs or {}
        found = find(self.name, logs)
        if found is None and not is_awaited(self.name, logs, params):
            known = printable(", ".join(sorted(logs))) or "nothing"
            warnings.warn(
                f"{self.where}: {self.name!r} is not in the logs, so nothing is done. "
                f"{self._remedy(logs)}".rstrip()
                + f" The logs contain: {known}.",
                KerascopeWarning,
                stacklevel=3,
            )
        return found

    def _remedy(self, logs: Logs) -> str:
        without_validation = self.name.removeprefix("val_")
        if without_validation != self.name and find(without_validation, logs) is not None:
            return "Give fit validation_data or validation_split."
        return did_you_mean(self.name, logs)


# --- ending training before its last epoch --------------------------------------------------------


@registry.register
class TerminateOnNaN(Callback):
    """Ends training as soon as the loss of a batch is NaN or infinite.

    Parameters
    ----------
    raise_error : bool
        Raise NonFiniteLossError instead, so that `fit` ends without `on_train_end`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> callback = TerminateOnNaN()
    >>> callback.set_model(SimpleNamespace(stop_training=False))
    >>> callback.on_batch_end(7, {"loss": float("nan")})
    Batch 7: the loss is nan; training ends.
    >>> callback.model.stop_training
    True
    """

    def __init__(self, raise_error: bool = False) -> None:
        self.raise_error = raise_error

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Stop the training, or raise, if the loss of this batch is NaN or infinite."""
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise NonFiniteLossError(
                f"TerminateOnNaN: expected a finite loss for batch {batch}, got {float(loss)}. "
                "Try a smaller learning rate or clipnorm=1.0, or look for NaN in the data."
            )
        self.model.stop_training = True
        say(f"Batch {batch}: the loss is {float(loss)}; training ends.")


@registry.register
class EarlyStopping(Callback):
    """Ends training when the watched loss or metric no longer improves.

    Parameters
    ----------
    monitor : str
        The key in the logs. `acc` and `accuracy` are the same.
    min_delta : float
        The smallest change that counts as an improvement.
    patience : int
        The number of epochs in a row without improvement after which training ends. 0 means 1.
    verbose : {0, 1}
        With 1, print when training ends.
    mode : {"auto", "min", "max"}
        Whether smaller or larger values are better.
    baseline : float, optional
        A value must be better than the baseline to count as an improvement.
    restore_best_weights : bool
        When training ends early, restore the weights of the best epoch, even if it did not reach
        the baseline. In dialect "3", also restore them after the last epoch.
    start_from_epoch : int
        The first epoch, from 0, that counts.

    Attributes
    ----------
    best : float
        The best value so far.
    wait : int
        The number of epochs since the last improvement.
    stopped_epoch : int
        The epoch, from 0, in which training ended early, or 0.

    Notes
    -----
    In dialect "3", training does not end in the first epoch or in an epoch with an improvement. The
    first value is the best so far, even if it is NaN. Weights are restored when training ends.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> callback = EarlyStopping(patience=1)
    >>> callback.set_model(SimpleNamespace(stop_training=False))
    >>> callback.on_train_begin()
    >>> for epoch, value in enumerate([0.5, 0.4, 0.6]):
    ...     callback.on_epoch_end(epoch, {"val_loss": value})
    >>> callback.model.stop_training, callback.best, callback.stopped_epoch
    (True, 0.4, 2)
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        self._monitor = Monitor(monitor, mode, "EarlyStopping", min_delta)
        self.monitor = monitor
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self._start()

    def _start(self) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self._stopped = False
        self.best = self._monitor.worst
        self.best_weights: list[Any] | None = None

    def get_monitor_value(self, logs: Logs | None) -> Any:
        """Return the watched value, or None with a warning if it is missing."""
        return self._monitor.value(logs, self.params)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Reset the state of an earlier run."""
        self._start()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """End training if the value has not improved for `patience` epochs."""
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        is_better = self._monitor.is_better(current, self.best, self.model)
        if is_better:
            self.best = current
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
        if is_better and self._surpasses_baseline(current):
            self.wait = 0
            return
        self.wait += 1
        continues = dialect_options().monitors_as_keras_3 and (is_better or epoch == 0)
        if self.wait >= self.patience and not continues:
            self._stop(epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Print a message if training ended early. In dialect "3", restore the best weights."""
        if self._stopped and self.verbose > 0:
            say(f"Epoch {self.stopped_epoch + 1}: training ended early.")
        if dialect_options().monitors_as_keras_3:
            self._restore("End of training")

    def _surpasses_baseline(self, current: float) -> bool:
        return self.baseline is None or self._monitor.is_better(current, self.baseline, self.model)

    def _stop(self, epoch: int) -> None:
        self.stopped_epoch = epoch
        self._stopped = True
        self.model.stop_training = True
        if not dialect_options().monitors_as_keras_3:
            self._restore(f"Epoch {epoch + 1}")

    def _restore(self, when: str) -> None:
        if self.best_weights is None:
            return
        if self.verbose > 0:
            say(f"{when}: the weights of the best epoch are restored.")
        self.model.set_weights(self.best_weights)


# --- changing the learning rate -------------------------------------------------------------------


@registry.register
class LearningRateScheduler(Callback):
    """Sets the learning rate at the beginning of each epoch.

    Parameters
    ----------
    schedule : callable
        Called as `schedule(epoch, lr)` with the epoch, from 0, and the current rate, or as
        `schedule(epoch)` if it takes one argument. Returns the new rate.
    verbose : {0, 1}
        With 1, print the new rate.

    Notes
    -----
    The rate is written into the logs of the epoch as "lr", in dialect "3" as "learning_rate".

    Raises
    ------
    DtypeError
        `schedule` is not callable, or did not return a number.

    Examples
    --------
    >>> halve = LearningRateScheduler(lambda epoch, lr: lr / 2)
    >>> halve_by_epoch = LearningRateScheduler(lambda epoch: 0.1 * 0.5**epoch)
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        if not callable(schedule):
            raise DtypeError(
                f"LearningRateScheduler: expected a function (epoch, lr) -> lr as schedule, got "
                f"{type(schedule).__name__}."
            )
        self.schedule = schedule
        self.verbose = verbose
        self._wants_rate = _takes_two_arguments(schedule)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Set the learning rate to the value that the schedule returns."""
        variable = _learning_rate_of(self.model, "LearningRateScheduler")
        old_rate = float(K.get_value(variable))
        rate: Any = self.schedule(epoch, old_rate) if self._wants_rate else self.schedule(epoch)
        if isinstance(rate, bool) or not isinstance(rate, numbers.Real):
            raise DtypeError(
                f"LearningRateScheduler: expected a float from the schedule for epoch {epoch}, "
                f"got {rate!r}."
            )
        K.set_value(variable, rate)
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is {float(rate):g}.")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the learning rate into the logs."""
        if logs is not None:
            logs[_rate_in_logs()] = float(K.get_value(self.model.optimizer.lr))


@registry.register
class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when the watched loss or metric no longer improves.

    Parameters
    ----------
    monitor : str
        The key in the logs. `acc` and `accuracy` are the same.
    factor : float
        The number by which the rate is multiplied, at least 0 and below 1.
    patience : int
        The number of epochs in a row without improvement after which the rate is lowered. 0 means
        1.
    verbose : {0, 1}
        With 1, print the new rate.
    mode : {"auto", "min", "max"}
        Whether smaller or larger values are better.
    min_delta : float
        The smallest change that counts as an improvement.
    cooldown : int
        The number of epochs after a reduction that do not count.
    min_lr : float
        The smallest rate.
    **kwargs
        `epsilon`, the name of `min_delta` in older Keras versions.

    Notes
    -----
    The rate is written into the logs of the epoch as "lr", in dialect "3" as "learning_rate".

    Raises
    ------
    ArgumentError
        `factor` is negative, or 1 or more; the mode is not valid, or an argument is unknown.

    Examples
    --------
    The loss does not improve in the third epoch, so the rate is halved for the fourth:

    >>> from types import SimpleNamespace
    >>> from kerascope.optimizers import SGD
    >>> callback = ReduceLROnPlateau(factor=0.5, patience=1)
    >>> callback.set_model(SimpleNamespace(optimizer=SGD(lr=0.5)))
    >>> for epoch, value in enumerate([4.0, 3.0, 3.0]):
    ...     callback.on_epoch_end(epoch, {"val_loss": value})
    >>> float(K.get_value(callback.model.optimizer.lr))
    0.25
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
            raise ArgumentError(f"ReduceLROnPlateau: unknown argument {name!r}. {hint}".rstrip())
        if not 0 <= factor < 1:
            raise ArgumentError(
                f"ReduceLROnPlateau: expected a factor of at least 0 and less than 1, got {factor}."
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
        """Return whether the rate was reduced so recently that this epoch does not count."""
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Reset the state of an earlier run."""
        self._start()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Lower the learning rate if the value has not improved for `patience` epochs."""
        logs = {} if logs is None else logs
        variable = _learning_rate_of(self.model, "ReduceLROnPlateau")
        current = self._monitor.value(logs, self.params)
        logs[_rate_in_logs()] = float(K.get_value(variable))
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._monitor.is_better(current, self.best, self.model):
            self.best = current
            self.wait = 0
            return
        if self.in_cooldown():
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._reduce(epoch, variable)

    def _reduce(self, epoch: int, variable: Any) -> None:
        """Lower the rate, unless it is at `min_lr` in the precision of its dtype."""
        old_rate = np.asarray(K.get_value(variable))
        new_rate = max(float(old_rate) * self.factor, self.min_lr)
        if np.asarray(new_rate, dtype=old_rate.dtype) >= old_rate:
            return
        K.set_value(variable, new_rate)
        self.cooldown_counter = self.cooldown
        self.wait = 0
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is lowered to {new_rate:g}.")


def _rate_in_logs() -> str:
    return "learning_rate" if dialect_options().logs_so_far else "lr"


def _learning_rate_of(model: Any, where: str) -> Any:
    """Return the variable of the learning rate. Raise if the optimizer has none."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or not hasattr(optimizer, "lr"):
        raise ArgumentError(
            f"{where}: expected an optimizer with a learning rate 'lr', got "
            f"{type(optimizer).__name__}. Use an optimizer such as SGD.",
            subject=optimizer,
        )
    return optimizer.lr


def _takes_two_arguments(function: Callable[..., Any]) -> bool:
    """Return whether `function(epoch, lr)` is a valid call; False if the signature is unknown."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return False
    try:
        signature.bind(0, 0.1)
    except TypeError:
        return False
    return True


# --- saving the model -----------------------------------------------------------------------------


@registry.register
class ModelCheckpoint(Callback):
    """Saves the model at the end of every epoch, or only when a watched value has improved.

    Parameters
    ----------
    filepath : str or path
        The file name. It can contain the fields `{epoch:02d}`, from 1 (in dialect "1.2" from 0),
        and the names in the logs, as in `weights.{epoch:02d}-{val_loss:.2f}.h5`. Missing folders
        are created.
    monitor : str
        The key in the logs, used with `save_best_only`. `acc` and `accuracy` are the same.
    verbose : {0, 1}
        With 1, print whether the model was saved.
    save_best_only : bool
        Save only when the watched value is better than the best value so far.
    save_weights_only : bool
        Call `model.save_weights` instead of `model.save`.
    mode : {"auto", "min", "max"}
        Whether smaller or larger values are better.
    period : int
        The number of epochs between two saves.
    save_freq : {"epoch"}
        Keras 3's argument. Only "epoch" is supported.
    initial_value_threshold : float, optional
        The first saved value must be better than this threshold.

    Attributes
    ----------
    best : float
        The best value so far. A second `fit` keeps it.

    Raises
    ------
    ArgumentError
        The pattern, mode, period or frequency is not valid.

    Examples
    --------
    >>> ModelCheckpoint("weights.{epoch:02d}-{val_loss:.2f}.h5").path_of(0, {"val_loss": 0.123})
    'weights.01-0.12.h5'
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int = 1,
        *,
        save_freq: str = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        self.filepath = _checked_pattern(os.fspath(filepath))
        self._monitor = Monitor(monitor, mode, "ModelCheckpoint")
        if not isinstance(period, int) or period < 1:
            raise ArgumentError(
                f"ModelCheckpoint: expected a number of epochs as period, got {period!r}."
            )
        if save_freq != "epoch":
            raise ArgumentError(
                f"ModelCheckpoint: expected save_freq='epoch', got {save_freq!r}. To save every n "
                f"epochs, give period=n."
            )
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.mode = mode
        self.period = period
        threshold = initial_value_threshold
        self.best = self._monitor.worst if threshold is None else threshold
        self.epochs_since_last_save = 0

    def path_of(self, epoch: int, logs: Logs | None = None) -> str:
        """Return the file name for an epoch, counted from 0.

        Raises
        ------
        ArgumentError
            A field of the pattern is not in the logs, or its value does not fit the format.
        """
        first = 0 if dialect_options().counts_samples else 1
        fields = _Fields({**(logs or {}), "epoch": epoch + first})
        try:
            return self.filepath.format_map(fields)
        except ArgumentError:
            raise
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ArgumentError(
                f"ModelCheckpoint: cannot fill the pattern {self.filepath!r}: {error}."
            ) from error

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Save the model if the period has passed and, with `save_best_only`, the value improved.

        If the file name contains a value of the validation, epochs without validation
        (`validation_freq`) are skipped. The next epoch with validation is saved.
        """
        self.epochs_since_last_save += 1
        waits = any(is_awaited(field, logs or {}, self.params) for field in _fields(self.filepath))
        if self.epochs_since_last_save < self.period or waits:
            return
        self.epochs_since_last_save = 0
        if not self.save_best_only:
            self._save(epoch, logs)
            return
        current = self._monitor.value(logs, self.params)
        if current is None:
            return
        if self._monitor.is_better(current, self.best, self.model):
            self._save(epoch, logs)
            self.best = current
        elif self.verbose > 0:
            say(f"Epoch {epoch + 1}: {self.monitor} is not better than {self.best:.5f}.")

    def _save(self, epoch: int, logs: Logs | None) -> None:
        """Write the file. `model.save` replaces an older file only when the new one is complete."""
        path = self.path_of(epoch, logs)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        save = self.model.save_weights if self.save_weights_only else self.model.save
        save(path, overwrite=True)
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the model was saved to {path}.")


class _Fields(dict[str, Any]):
    """The values in the logs for the fields of a file name. `acc` and `accuracy` are the same."""

    def __missing__(self, name: str) -> Any:
        value = find(name, self)
        if value is None:
            raise ArgumentError(
                f"ModelCheckpoint: the file name has an unknown field {name!r}. "
                f"{did_you_mean(name, self)}Use one of: {', '.join(sorted(self))}."
            )
        return value


def _fields(pattern: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]


def _checked_pattern(pattern: str) -> str:
    """Return the file name pattern. Raise ArgumentError if a field in the pattern is not valid."""
    try:
        fields = _fields(pattern)
    except ValueError as error:
        raise ArgumentError(
            f"ModelCheckpoint: bad pattern {pattern!r}: {error}. "
            f"For a brace in the name, write it twice."
        ) from error
    if any(field == "" or field.isdigit() for field in fields):
        raise ArgumentError(
            f"ModelCheckpoint: expected fields with names, as {{epoch:02d}}, got the pattern "
            f"{pattern!r}."
        )
    return pattern
