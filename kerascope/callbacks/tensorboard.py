"""The figures of a run for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.event_file import EventFile, is_event_file
from kerascope.callers import warn
from kerascope.errors import ArgumentError

_NOT_WRITTEN = ("histogram_freq", "write_grads", "write_images", "embeddings_freq")
_NOT_FIGURES = ("batch", "size")


@registry.register
class TensorBoard(Callback):
    """Writes loss and metrics into an event file that `tensorboard --logdir=./logs` shows.

    Parameters
    ----------
    log_dir : path
        Folder of the file.
    update_freq : {"epoch", "batch"} or int
        When: after each epoch, after each batch, or after so many samples.
    histogram_freq, write_grads, write_images, embeddings_freq
        Not written: a warning says so.
    batch_size, write_graph, embeddings_layer_names, embeddings_metadata, embeddings_data
        Accepted. There is no TensorFlow graph on NumPy: `kerascope.draw(model)` shows the model.

    Attributes
    ----------
    writer : EventFile or None
        The file; made when training begins.

    Raises
    ------
    ArgumentError
        There is no such `update_freq`.

    Warns
    -----
    KerascopeWarning
        Something is asked for that is not written.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: str | int = "epoch",
    ) -> None:
        wishes = (histogram_freq, write_grads, write_images, embeddings_freq)
        refused = [name for name, wish in zip(_NOT_WRITTEN, wishes, strict=True) if wish]
        if refused:
            warn(
                f"TensorBoard: {', '.join(refused)}: not written; only losses and metrics are. "
                "Look at weights with model.get_weights(), at the model with kerascope.draw(model)."
            )
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = _checked_frequency(update_freq)
        self.writer: EventFile | None = None
        self.samples_seen = 0
        self.samples_seen_at_last_write = 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Begin a new file; counting goes on where an earlier run ended."""
        self.writer = EventFile(self.log_dir)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Write the figures of a batch, if it is time."""
        if self.update_freq == "epoch":
            return
        logs = {} if logs is None else logs
        self.samples_seen += logs.get("size", 1)
        if self.samples_seen - self.samples_seen_at_last_write >= int(self.update_freq):
            self._write(logs, self.samples_seen)
            self.samples_seen_at_last_write = self.samples_seen

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the figures of an epoch."""
        self._write(logs or {}, epoch if self.update_freq == "epoch" else self.samples_seen)

    def get_state(self) -> dict[str, Any] | None:
        """Return the file and its length, for a run that goes on from a backup."""
        if self.writer is None:
            return None
        return {"name": self.writer.path.name, "length": self.writer.path.stat().st_size}

    def set_state(self, state: dict[str, Any] | None) -> None:
        """Go on with the file of then, as long as it was; with a new one if it is not there."""
        if state is None or self.writer is None:
            return
        path = self.writer.path.with_name(Path(state["name"]).name)
        if path.is_file() and path != self.writer.path and is_event_file(path):
            self.writer.path.unlink(missing_ok=True)
            self.writer.path = path
            os.truncate(path, min(state["length"], path.stat().st_size))

    def on_train_end(self, _: Logs | None = None) -> None:
        """Let go of the file."""
        self.writer = None

    def _write(self, logs: Mapping[str, Any], step: int) -> None:
        if self.writer is None:  # told of an epoch without a beginning
            self.writer = EventFile(self.log_dir)
        figures = {
            name: float(value)
            for name, value in logs.items()
            if name not in _NOT_FIGURES and np.ndim(value) == 0
        }
        self.writer.write(int(step), figures)


def _checked_frequency(update_freq: str | int) -> str | int:
    if update_freq == "batch":
        return 1
    if update_freq == "epoch" or (isinstance(update_freq, int) and update_freq > 0):
        return update_freq
    raise ArgumentError(
        f"TensorBoard: update_freq is {update_freq!r}; expected 'epoch', 'batch' or a number of "
        "samples."
    )
