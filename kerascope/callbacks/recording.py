"""Callbacks that keep the figures of a run: averages of an epoch, the history, a CSV file."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.callbacks.averages import RunningMeans
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.files import replacing
from kerascope.printable import printable

NOT_AVAILABLE = "NA"


@registry.register
class BaseLogger(Callback):
    """Writes the means over the epoch into its logs. `fit` always has one, as the first callback.

    Parameters
    ----------
    stateful_metrics : iterable of str, optional
        Metrics that average for themselves: their last value is taken.

    Notes
    -----
    Each batch counts by its number of samples, `logs["size"]`, so that a short last batch weighs
    less.

    Examples
    --------
    >>> logger = BaseLogger()
    >>> logger.set_params({"metrics": ["loss"]})
    >>> logger.on_epoch_begin(0)
    >>> logger.on_batch_end(0, {"size": 3, "loss": 1.0})
    >>> logger.on_batch_end(1, {"size": 1, "loss": 5.0})
    >>> logs = {}
    >>> logger.on_epoch_end(0, logs)
    >>> logs
    {'loss': 2.0}
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        self._means = RunningMeans(stateful_metrics)

    @property
    def stateful_metrics(self) -> frozenset[str]:
        """Names of the metrics that average for themselves."""
        return self._means.stateful_metrics

    @property
    def means(self) -> RunningMeans:
        """The means of this epoch so far."""
        return self._means

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Start new means."""
        self._means.restart()

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Add the figures of one batch."""
        logs = {} if logs is None else logs
        size = logs.get("size", 1)
        for name in self.params.get("metrics", ()):
            if name in logs:
                self._means.add(name, logs[name], size)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the means into the logs."""
        if logs is not None:
            logs.update(self._means.results())

    def get_state(self) -> Any:
        """Return the sums so far, for a run that goes on from a backup."""
        return self._means.get_state()

    def set_state(self, state: Any) -> None:
        """Go on from sums that `get_state` returned."""
        self._means.set_state(state)


@registry.register
class History(Callback):
    """Keeps the logs of every epoch; `fit` returns one.

    Attributes
    ----------
    epoch : list of int
        Numbers of the epochs, from 0.
    history : dict of str to list
        For each name in the logs its value in every epoch.

    Examples
    --------
    >>> history = History()
    >>> history.on_train_begin()
    >>> history.on_epoch_end(0, {"loss": 0.5})
    >>> history.on_epoch_end(1, {"loss": 0.25})
    >>> history.epoch, history.history
    ([0, 1], {'loss': [0.5, 0.25]})
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Start empty."""
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Keep the figures of one epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


@registry.register
class CSVLogger(Callback):
    """Writes one line per epoch into a CSV file.

    Parameters
    ----------
    filename : str or path
        The file; what was in it is replaced unless `append`. Missing folders are made.
    separator : str
        One character between the columns.
    append : bool
        Go on with an existing file and its columns.

    Notes
    -----
    The columns are "epoch" and the names that logs may have, sorted; the first epoch decides. A
    value that is missing is written as NA. The file is opened and closed at each epoch, so whatever
    happens in training, the lines of the epochs before are there. If the run goes on from a backup
    (`BackupAndRestore`), the file gets the lines that it had when the backup was written.

    Raises
    ------
    ArgumentError
        The separator is not one character.
    """

    def __init__(
        self, filename: str | os.PathLike[str], separator: str = ",", append: bool = False
    ) -> None:
        if not isinstance(separator, str) or len(separator) != 1:
            raise ArgumentError(
                f"CSVLogger: bad separator; expected one character, got {separator!r}."
            )
        self.filename = Path(filename)
        self.separator = separator
        self.append = append
        self.keys: list[str] | None = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Start the file, or read the columns of the one to go on with."""
        self.keys = self._existing_keys() if self.append else None
        if self.keys is None:
            self.filename.parent.mkdir(parents=True, exist_ok=True)
            self.filename.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write one line; before the first one the header."""
        logs = {} if logs is None else logs
        if self.keys is None:
            self.keys = sorted({*logs, *self.params.get("metrics", ())})
            self._write(["epoch", *self.keys])
        left_out = sorted(set(logs) - set(self.keys))
        if left_out:
            warnings.warn(
                printable(
                    f"CSVLogger: {', '.join(left_out)} not written; {self.filename.name} has the "
                    f"columns epoch, {', '.join(self.keys)}."
                ),
                KerascopeWarning,
                stacklevel=2,
            )
        self._write([epoch, *(_csv_value(logs.get(key, NOT_AVAILABLE)) for key in self.keys)])

    def get_state(self) -> bytes:
        """Return what is in the file, for a run that goes on from a backup."""
        return self.filename.read_bytes() if self.filename.exists() else b""

    def set_state(self, state: bytes) -> None:
        """Let the file be what it was when `get_state` was called."""
        with replacing(self.filename) as unfinished:
            unfinished.write_bytes(state)

    def _existing_keys(self) -> list[str] | None:
        """Return the columns after "epoch" of an existing file; None if there is no line in it."""
        if not self.filename.exists():
            return None
        with self.filename.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file, delimiter=self.separator), None)
        if header is None:
            return None
        if header[0] != "epoch":
            raise ArgumentError(
                f"CSVLogger: cannot append to {self.filename.name}; expected a first column "
                f"'epoch', got {header[0]!r}. Choose another file, or the separator that it has."
            )
        return header[1:]

    def _write(self, row: list[Any]) -> None:
        with self.filename.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=self.separator, lineterminator="\n").writerow(row)


def _csv_value(value: Any) -> str:
    """Return one cell: an array or list as "[0.5, 0.25]"."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return str(value)
    return "[" + ", ".join(str(item) for item in np.asarray(value).tolist()) + "]"
