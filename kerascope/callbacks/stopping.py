"""Callbacks that end training before its last epoch: they set `model.stop_training`."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.monitor import Monitor, say


@registry.register
class TerminateOnNaN(Callback):
    """Ends training as soon as the loss of a batch is NaN or infinite.

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

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Look at the loss of one batch."""
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
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
        than the baseline or not.

    Attributes
    ----------
    best : float
        Best value so far.
    wait : int
        Epochs since the last progress.
    stopped_epoch : int
        The epoch, from 0, in which training was ended; 0 if it was not.

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
    ) -> None:
        self._monitor = Monitor(monitor, mode, "EarlyStopping", min_delta)
        self.monitor = monitor
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.mode = mode
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
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
        if current is None:
            return
        progress = self._monitor.is_better(current, self.best)
        if progress:
            self.best = current
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
        if progress and self._surpasses_baseline(current):
            self.wait = 0
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._stop(epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Tell that training ended early."""
        if self._stopped and self.verbose > 0:
            say(f"Epoch {self.stopped_epoch + 1}: training ended early.")

    def _surpasses_baseline(self, current: float) -> bool:
        return self.baseline is None or self._monitor.is_better(current, self.baseline)

    def _stop(self, epoch: int) -> None:
        self.stopped_epoch = epoch
        self._stopped = True
        self.model.stop_training = True
        if self.best_weights is None:
            return
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the weights of the best epoch are restored.")
        self.model.set_weights(self.best_weights)
