"""Callbacks that watch a figure of the logs and act when it gets better, or no longer does.

`Monitor` knows whether the figure is there and whether it got better. EarlyStopping ends training,
ReduceLROnPlateau and LearningRateScheduler change the learning rate, ModelCheckpoint saves the
model.
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

# Words of Keras 3's metrics of which more is better, and less; from the names of their classes, or
# from their own, without "_" and in lower case. The short ones are whole parts of a name.
GROWS_IN_KERAS_3 = (
    *("acc", "auc", "concordancecorrelation", "cosinesimilarity", "f1score", "fbetascore", "iou"),
    *("pearsoncorrelation", "precision", "r2score", "recall", "sensitivityatspecificity"),
    "specificityatsensitivity",
)
FALLS_IN_KERAS_3 = ("loss", "error", "crossentropy", "hinge", "divergence", "logcosh", "poisson")
FALLS_BY_SHORT_NAME = {"mse", "mae", "mape", "msle", "rmse", "bce", "cce", "ce", "kld"}


def say(text: str) -> None:
    """Tell a person what a callback with `verbose=1` did."""
    display.show("message", printable_lines(text))


def other_accuracy(name: str) -> str | None:
    """Return the other spelling of an accuracy's name, None if it is no accuracy.

    The dialect decides whether logs have `acc` or `accuracy`; a monitor accepts both.

    Examples
    --------
    >>> other_accuracy("val_acc"), other_accuracy("accuracy"), other_accuracy("loss")
    ('val_accuracy', 'acc', None)
    """
    prefix, separator, word = name.rpartition("_")
    swapped = {"acc": "accuracy", "accuracy": "acc"}.get(word)
    return swapped and prefix + separator + swapped


def find(name: str, logs: Logs) -> Any:
    """Return the value called `name`, under either spelling of accuracy; None if missing."""
    if name in logs:
        return logs[name]
    return logs.get(other_accuracy(name) or name)


def is_awaited(name: str, logs: Logs, params: Params | None) -> bool:
    """Tell whether logs lack what the `params` of the run promise: nothing was validated."""
    promised = dict.fromkeys((params or {}).get("metrics", ()), 0)
    return find(name, logs) is None and find(name, promised) is not None


@dataclass(frozen=True)
class Monitor:
    """Which figure is watched, and which way is better.

    Parameters
    ----------
    name : str
        Key of the logs: "val_loss".
    mode : {"auto", "min", "max"}
        Whether less or more is better; "auto": more, if the name speaks of accuracy or F-measure.
        In dialect "3" the class of the metric decides, so that more of an AUC is better; of a
        metric that Keras 3 does not know the mode has to be said.
    where : str
        The callback, for messages.
    min_delta : float
        A smaller change is none.

    Raises
    ------
    ArgumentError
        There is no such mode.

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
                f"{self.where}: no mode {self.mode!r}; expected 'auto', 'min' or 'max'. "
                f"{did_you_mean(str(self.mode), MODES)}".rstrip()
            )

    def grows_in(self, model: Any) -> bool:
        """Return whether more of the figure is better."""
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
            f"{self.where}: whether more or less of {self.name!r} is better is not known; expected "
            "mode='max' or mode='min'."
        )

    @property
    def worst(self) -> float | None:
        """The value that every other one is better than; None: the first one is the best so far."""
        if dialect_options().monitors_as_keras_3:
            return None
        return float("-inf") if self.grows_in(None) else float("inf")

    def is_better(self, value: float, than: float | None, model: Any = None) -> bool:
        """Return whether `value` is better by more than `min_delta`; NaN never is."""
        grows = self.grows_in(model)
        if than is None:
            return True
        gain = float(value) - float(than)
        return (gain if grows else -gain) > abs(self.min_delta)

    def value(self, logs: Logs | None, params: Params | None) -> Any:
        """Return the watched figure; None, with a warning, if the logs do not have it.

        There is no warning for what the `params` of the run promise: after some epochs nothing is
        validated if `fit` was given `validation_freq`.

        Warns
        -----
        KerascopeWarning
            The figure is missing.
        """
        logs = logs or {}
        found = find(self.name, logs)
        if found is None and not is_awaited(self.name, logs, params):
            known = printable(", ".join(sorted(logs))) or "nothing"
            warnings.warn(
                f"{self.where}: {self.name!r} is not in the logs, so nothing is done; expected one "
                f"of their names, which are {known}. {self._remedy(logs)}".rstrip(),
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
        """Look at the loss of one batch."""
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise NonFiniteLossError(
                f"TerminateOnNaN: the loss of batch {batch} is {float(loss)}; expected a finite "
                "number. Try a smaller learning rate, clipnorm=1.0, or look for NaN in the data."
            )
        self.model.stop_training = True
        say(f"Batch {batch}: the loss is {float(loss)}; training ends.")


@registry.register
class EarlyStopping(Callback):
    """Ends training when the watched figure no longer gets better.

    Parameters
    ----------
    monitor : str
        Key of the logs; `acc` and `accuracy` are the same.
    min_delta : float
        A smaller change is none.
    patience : int
        After how many epochs in a row without progress it acts; 0 is the same as 1.
    verbose : {0, 1}
        1 tells when training ends.
    mode : {"auto", "min", "max"}
        Whether less or more is better.
    baseline : float, optional
        What must be surpassed to count as progress.
    restore_best_weights : bool
        When training is ended early, give the model the weights of its best epoch, be it better
        than the baseline or not. In dialect "3" also when training ends after its last epoch.
    start_from_epoch : int
        The first epoch, from 0, whose figure counts.

    Attributes
    ----------
    best : float
        Best value so far.
    wait : int
        Epochs since the last progress.
    stopped_epoch : int
        The epoch, from 0, in which training was ended; 0 if it was not.

    Notes
    -----
    In dialect "3" training is never ended in its first epoch, nor in one with progress, the first
    figure is the best so far, even if it is NaN, and weights are restored when training ends.

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
        """Return the watched figure; None, with a warning, if it is missing."""
        return self._monitor.value(logs, self.params)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Forget an earlier run."""
        self._start()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Look at the figure of one epoch."""
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        progress = self._monitor.is_better(current, self.best, self.model)
        if progress:
            self.best = current
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
        if progress and self._surpasses_baseline(current):
            self.wait = 0
            return
        self.wait += 1
        goes_on = dialect_options().monitors_as_keras_3 and (progress or epoch == 0)
        if self.wait >= self.patience and not goes_on:
            self._stop(epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Report that training ended early; in dialect "3", restore the best weights."""
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
        Called as `schedule(epoch, lr)`, with the epoch from 0 and the rate of now, or, if it takes
        one argument, as `schedule(epoch)`. Returns the new rate.
    verbose : {0, 1}
        1 tells the new rate.

    Notes
    -----
    Writes the rate as "lr" (in dialect "3" as "learning_rate") into the logs of the epoch.

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
            logs[_rate_in_logs()] = float(K.get_value(self.model.optimizer.lr))


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
    Writes the rate as "lr" (in dialect "3" as "learning_rate") into the logs of the epoch.

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


def _rate_in_logs() -> str:
    return "learning_rate" if dialect_options().logs_so_far else "lr"


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


# --- saving the model -----------------------------------------------------------------------------


@registry.register
class ModelCheckpoint(Callback):
    """Saves the model at the end of an epoch.

    Parameters
    ----------
    filepath : str or path
        Where to save. May have fields: `{epoch:02d}`, from 1, and every name in the logs, as in
        `weights.{epoch:02d}-{val_loss:.2f}.h5`. Missing folders are made.
    monitor : str
        Key of the logs; `acc` and `accuracy` are the same. Read only if `save_best_only`.
    verbose : {0, 1}
        1 tells what was saved, and why not.
    save_best_only : bool
        Save only when the watched figure is better than ever before.
    save_weights_only : bool
        Call `model.save_weights` instead of `model.save`.
    mode : {"auto", "min", "max"}
        Whether less or more is better.
    period : int
        Epochs between two saves.
    save_freq : {"epoch"}
        Keras 3's word; only "epoch" is possible.
    initial_value_threshold : float, optional
        What the first saved figure has to be better than.

    Attributes
    ----------
    best : float
        Best value so far. It is kept when training goes on with another `fit`.

    Raises
    ------
    ArgumentError
        A bad pattern, mode, period or frequency.

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
                f"ModelCheckpoint: bad period; expected a number of epochs, got {period!r}."
            )
        if save_freq != "epoch":
            raise ArgumentError(
                f"ModelCheckpoint: cannot save in the middle of an epoch; expected save_freq "
                f"'epoch', got {save_freq!r}. To save every n epochs give period=n."
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
        """Return the file's name for one epoch, counted from 0.

        Raises
        ------
        ArgumentError
            The pattern has a field that is not in the logs, or that cannot be written so.
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
        """Save, if it is time.

        If the file's name speaks of the validation, an epoch without one (`validation_freq`) is
        passed over in silence, and the next epoch that has one is saved.
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
        """Write the file; `model.save` replaces an older one only when the new one is complete."""
        path = self.path_of(epoch, logs)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        save = self.model.save_weights if self.save_weights_only else self.model.save
        save(path, overwrite=True)
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the model was saved to {path}.")


class _Fields(dict[str, Any]):
    """What a file name's pattern may speak of; both spellings of an accuracy are found."""

    def __missing__(self, name: str) -> Any:
        value = find(name, self)
        if value is None:
            raise ArgumentError(
                f"ModelCheckpoint: the pattern of the file's name has an unknown field {name!r}; "
                f"expected one of {', '.join(sorted(self))}. {did_you_mean(name, self)}".rstrip()
            )
        return value


def _fields(pattern: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]


def _checked_pattern(pattern: str) -> str:
    """Return `pattern`; raise ArgumentError now, not after an epoch, if its braces are wrong."""
    try:
        fields = _fields(pattern)
    except ValueError as error:
        raise ArgumentError(
            f"ModelCheckpoint: bad pattern {pattern!r}: {error}. "
            f"Write a brace twice to mean itself."
        ) from error
    if any(field == "" or field.isdigit() for field in fields):
        raise ArgumentError(
            f"ModelCheckpoint: a field without a name in the pattern {pattern!r}; "
            f"expected names as in {{epoch:02d}}."
        )
    return pattern
