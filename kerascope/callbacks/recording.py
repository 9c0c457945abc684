"""Callbacks that record the logs of a run: averages, history, a CSV file, a server."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerascope import display
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.files import write_whole
from kerascope.printable import printable
from kerascope.spellings import dialect_options

# --- running means of an epoch --------------------------------------------------------------------


class RunningMeans:
    r"""Weighted running means of named quantities. For a stateful metric, the last value is kept.

    Parameters
    ----------
    stateful_metrics : iterable of str, optional
        The names of metrics that compute their own averages.

    Notes
    -----
    After values :math:`v_i` with weights :math:`w_i` the mean is
    :math:`\sum_i w_i v_i / \sum_i w_i`. The weight of a batch is its number of samples.

    Examples
    --------
    >>> means = RunningMeans()
    >>> means.add("loss", 1.0, weight=3)
    >>> means.add("loss", 5.0, weight=1)
    >>> means.result("loss")
    2.0
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        self.stateful_metrics = frozenset(stateful_metrics or ())
        self._totals: dict[str, Any] = {}
        self._weights: dict[str, float] = {}

    def restart(self) -> None:
        """Reset all means."""
        self._totals.clear()
        self._weights.clear()

    def add(self, name: str, value: Any, weight: float) -> None:
        """Add a value of one quantity, with its weight."""
        if name in self.stateful_metrics:
            self._totals[name], self._weights[name] = as_number(value), 1
            return
        number = float(value) if isinstance(value, np.floating) else as_number(value)
        self._totals[name] = self._totals.get(name, 0.0) + number * weight
        self._weights[name] = self._weights.get(name, 0) + weight

    def add_all(self, names: Iterable[str], values: Iterable[Any], weight: float) -> None:
        """Add a value of each quantity, all with the same weight."""
        for name, value in zip(names, values, strict=True):
            self.add(name, value, weight)

    def result(self, name: str) -> Any:
        """Return the mean of one quantity so far.

        Raises
        ------
        KeyError
            The quantity has no value yet.
        """
        return self._totals[name] / max(self._weights[name], 1)

    def get_state(self) -> dict[str, Any]:
        """Return the sums and the weights of all quantities, for a backup."""
        return {"totals": dict(self._totals), "weights": dict(self._weights)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore the sums and the weights that `get_state` returned."""
        self._totals, self._weights = dict(state["totals"]), dict(state["weights"])

    def results(self) -> dict[str, Any]:
        """Return all means, in the order in which the names were first added."""
        return {name: self.result(name) for name in self._totals}


def in_order(logs: dict[str, Any]) -> dict[str, Any]:
    """Sort logs by name in dialect "3". In other dialects, return them unchanged."""
    return dict(sorted(logs.items())) if dialect_options().logs_so_far else logs


def as_number(value: Any) -> Any:
    """Return a scalar as a Python float, and an array as float64.

    Over a long epoch, sums of float32 values would lose digits.
    """
    if isinstance(value, (float, int, np.number)):
        return float(value)
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


@registry.register
class BaseLogger(Callback):
    """Writes the means over an epoch into its logs. In `fit`, it is always the first callback.

    Parameters
    ----------
    stateful_metrics : iterable of str, optional
        The names of metrics that compute their own averages. Their last value is used.

    Notes
    -----
    The weight of a batch is its number of samples, `logs["size"]`, so that a smaller last batch
    has less weight.

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
        """The names of metrics that compute their own averages."""
        return self._means.stateful_metrics

    @property
    def means(self) -> RunningMeans:
        """The means of the loss and metrics over the epoch so far."""
        return self._means

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Reset the means."""
        self._means.restart()

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Add the values in the logs of one batch to the means."""
        logs = {} if logs is None else logs
        size = logs.get("size", 1)
        for name in self.params.get("metrics", ()):
            if name in logs:
                self._means.add(name, logs[name], size)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the means into the logs of the epoch."""
        if logs is not None:
            figures = in_order({**logs, **self._means.results()})
            logs.clear()
            logs.update(figures)

    def get_state(self) -> Any:
        """Return the sums and weights from which the means are computed, for a backup."""
        return self._means.get_state()

    def set_state(self, state: Any) -> None:
        """Restore the sums and weights that `get_state` returned."""
        self._means.set_state(state)


# --- the history ----------------------------------------------------------------------------------


@registry.register
class History(Callback):
    """Stores the logs of every epoch. `fit` returns it.

    Attributes
    ----------
    epoch : list of int
        The numbers of the epochs, from 0.
    history : dict of str to list
        The values of each loss and metric, one per epoch.

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
        """Delete the logs of an earlier run."""
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Store the logs of one epoch."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def plot(self, *names: str, **options: Any) -> Any:
        """Draw the losses and metrics over the epochs. Curves of the validation are dashed.

        Parameters
        ----------
        *names : str
            The curves to draw, such as "loss" or "acc". Default: all curves.
        **options
            `log=True` for a logarithmic axis; `title`; `theme` ("auto", "light", "dark"). To draw
            with matplotlib (the extra `plot`): its axes as `ax=...`, or `backend="matplotlib"`.

        Returns
        -------
        Picture
            It is displayed in a notebook and in a terminal. `.save("curves.svg")` writes it as
            .svg, .png, .pdf, .html or .txt. With matplotlib, its Figure or the given axes.

        Raises
        ------
        ArgumentError
            There is no curve of this name, or there was no epoch yet.

        Examples
        --------
        >>> history = History()
        >>> history.on_epoch_end(0, {"loss": 2.0, "val_loss": 3.0})
        >>> history.on_epoch_end(1, {"loss": 1.0, "val_loss": 2.5})
        >>> history.plot()
        <Picture of training: loss: at the end loss 1, val_loss 2.5. Save it with ...>
        """
        return display.show("history", self, names=names, **options)


# --- a CSV file -----------------------------------------------------------------------------------

NOT_AVAILABLE = "NA"


@registry.register
class CSVLogger(Callback):
    """Writes one line per epoch to a CSV file.

    Parameters
    ----------
    filename : str or path
        The file. It is overwritten unless `append`. Missing folders are created.
    separator : str
        The character between the columns.
    append : bool
        Append to an existing file, with its columns.

    Notes
    -----
    The columns are "epoch" and the sorted names of the logs in the first epoch. Missing values are
    written as NA. The file is opened and closed at each epoch, so that it contains all finished
    epochs if training fails. If a run continues from a backup (`BackupAndRestore`), the file gets
    the lines that it had when the backup was written.

    Raises
    ------
    ArgumentError
        The separator is not one character.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     logger = CSVLogger(Path(folder, "log.csv"))
    ...     logger.on_train_begin()
    ...     logger.on_epoch_end(0, {"loss": 0.5, "acc": 0.75})
    ...     print(logger.filename.read_text(), end="")
    epoch,acc,loss
    0,0.75,0.5
    """

    def __init__(
        self, filename: str | os.PathLike[str], separator: str = ",", append: bool = False
    ) -> None:
        if not isinstance(separator, str) or len(separator) != 1:
            raise ArgumentError(
                f"CSVLogger: expected one character as separator, got {separator!r}."
            )
        self.filename = Path(filename)
        self.separator = separator
        self.append = append
        self.keys: list[str] | None = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Create the file; with `append`, read the columns of an existing file instead."""
        self.keys = self._existing_keys() if self.append else None
        if self.keys is None:
            self.filename.parent.mkdir(parents=True, exist_ok=True)
            self.filename.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the line of an epoch. In a new file, write the header first."""
        logs = {} if logs is None else logs
        if self.keys is None:
            self.keys = sorted({*logs, *self.params.get("metrics", ())})
            self._write(["epoch", *self.keys])
        left_out = sorted(set(logs) - set(self.keys))
        if left_out:
            warnings.warn(
                printable(
                    f"CSVLogger: {self.filename.name} has no column for {', '.join(left_out)}. Its "
                    f"columns are: epoch, {', '.join(self.keys)}."
                ),
                KerascopeWarning,
                stacklevel=2,
            )
        self._write([epoch, *(_csv_value(logs.get(key, NOT_AVAILABLE)) for key in self.keys)])

    def get_state(self) -> bytes:
        """Return the content of the file, for a backup."""
        return self.filename.read_bytes() if self.filename.exists() else b""

    def set_state(self, state: bytes) -> None:
        """Restore the content of the file that `get_state` returned."""
        write_whole(self.filename, state)

    def _existing_keys(self) -> list[str] | None:
        """Return the columns of an existing file after "epoch", or None if the file is empty."""
        if not self.filename.exists():
            return None
        with self.filename.open(encoding="utf-8", newline="") as file:
            header = next(csv.reader(file, delimiter=self.separator), None)
        if header is None:
            return None
        if header[0] != "epoch":
            raise ArgumentError(
                f"CSVLogger: {self.filename.name}: to append, expected a first column 'epoch', got "
                f"{header[0]!r}. Choose another file, or the separator of this file."
            )
        return header[1:]

    def _write(self, row: list[Any]) -> None:
        with self.filename.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=self.separator, lineterminator="\n").writerow(row)


def _csv_value(value: Any) -> str:
    """Return the text of a cell. Arrays and lists are written as "[0.5, 0.25]"."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return str(value)
    return "[" + ", ".join(str(item) for item in np.asarray(value).tolist()) + "]"


# --- a server -------------------------------------------------------------------------------------

TIMEOUT_SECONDS = 10


@registry.register
class RemoteMonitor(Callback):
    """Sends the logs of each epoch to a server in an HTTP POST request.

    Parameters
    ----------
    root : str
        The address of the server.
    path : str
        The path on the server. The logs are sent to `root + path`.
    field : str
        The form field that contains the logs as JSON. Not used with `send_as_json`.
    headers : dict, optional
        More HTTP headers.
    send_as_json : bool
        Send JSON instead of a form.

    Notes
    -----
    Training continues if the server does not respond.

    Warns
    -----
    KerascopeWarning
        The logs could not be sent.

    Examples
    --------
    The request for the first epoch, with a stand-in for the server:

    >>> from unittest import mock
    >>> monitor = RemoteMonitor("http://localhost:9000", send_as_json=True)
    >>> with mock.patch("urllib.request.urlopen") as urlopen:
    ...     monitor.on_epoch_end(0, {"loss": 0.5})
    >>> request = urlopen.call_args.args[0]
    >>> request.full_url, request.data
    ('http://localhost:9000/publish/epoch/end/', b'{"epoch": 0, "loss": 0.5}')
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: Mapping[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Send the logs of one epoch."""
        problem = self._send(json.dumps({"epoch": epoch, **(logs or {})}, default=_plain))
        if problem is not None:
            warnings.warn(
                f"RemoteMonitor: the logs of epoch {epoch + 1} could not be sent to "
                f"{self.root + self.path}: {problem}. Training continues.",
                KerascopeWarning,
                stacklevel=2,
            )

    def _send(self, text: str) -> Exception | None:
        """Send a text to the server. Return the exception if this fails, otherwise None."""
        # Imported here, because the HTTP modules are slow to import and rarely needed.
        from http.client import HTTPException
        from urllib.parse import urlencode
        from urllib.request import Request, urlopen

        body, kind = text, "application/json"
        if not self.send_as_json:
            body, kind = urlencode({self.field: text}), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **(self.headers or {})}
        try:
            request = Request(self.root + self.path, data=body.encode(), headers=headers)
            with urlopen(request, timeout=TIMEOUT_SECONDS):
                return None
        except (OSError, ValueError, HTTPException) as error:
            return error


def _plain(value: Any) -> Any:
    """Convert a NumPy value for JSON, and any other value to text."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)
