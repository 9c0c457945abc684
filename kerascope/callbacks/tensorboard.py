"""Losses and metrics for TensorBoard, written without TensorFlow.

An event file is a sequence of records. A record consists of the length of its content, the content,
and a checksum of each. The content is an `Event` of Google's protocol buffers. Only a few of its
fields are written: the time, the step, and the names with their values.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.errors import ArgumentError
from kerascope.user_frames import warn

_NOT_WRITTEN = ("histogram_freq", "write_grads", "write_images", "embeddings_freq")
_NOT_FIGURES = ("batch", "size")


@registry.register
class TensorBoard(Callback):
    """Writes the loss and metrics to an event file. `tensorboard --logdir=./logs` shows it.

    Parameters
    ----------
    log_dir : path
        The folder of the file.
    update_freq : {"epoch", "batch"} or int
        Write after each epoch, after each batch, or after this number of samples.
    histogram_freq, write_grads, write_images, embeddings_freq
        Not supported. A warning says so.
    batch_size, write_graph, embeddings_layer_names, embeddings_metadata, embeddings_data
        These have no effect. There is no TensorFlow graph to write; `kerascope.draw(model)` shows
        the model.

    Attributes
    ----------
    writer : EventFile or None
        The file. It is created when training begins.

    Raises
    ------
    ArgumentError
        `update_freq` is not valid.

    Warns
    -----
    KerascopeWarning
        An argument requests output that is not supported.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     board = TensorBoard(folder)
    ...     board.on_train_begin()
    ...     board.on_epoch_end(0, {"loss": 0.5})
    ...     [path.name for path in Path(folder).iterdir()]
    ['events.out.tfevents...']
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
                "TensorBoard: only losses and metrics are written. For weights, use "
                "model.get_weights(), for the graph kerascope.draw(model). Not written: "
                f"{', '.join(refused)}."
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
        """Create a new event file. The count of samples continues from the previous `fit`."""
        self.writer = EventFile(self.log_dir)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Write the logs of a batch, if `update_freq` requires it."""
        if self.update_freq == "epoch":
            return
        logs = {} if logs is None else logs
        self.samples_seen += logs.get("size", 1)
        if self.samples_seen - self.samples_seen_at_last_write >= int(self.update_freq):
            self._write(logs, self.samples_seen)
            self.samples_seen_at_last_write = self.samples_seen

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write the logs of an epoch."""
        self._write(logs or {}, epoch if self.update_freq == "epoch" else self.samples_seen)

    def get_state(self) -> dict[str, Any] | None:
        """Return the name and length of the event file, for a backup; None before it is created."""
        if self.writer is None:
            return None
        return {"name": self.writer.path.name, "length": self.writer.path.stat().st_size}

    def set_state(self, state: dict[str, Any] | None) -> None:
        """Continue the event file that a backup names, after truncating it to the stored length.

        If this file does not exist, continue with a new file.
        """
        if state is None or self.writer is None:
            return
        path = self.writer.path.with_name(Path(state["name"]).name)
        if path.is_file() and path != self.writer.path and is_event_file(path):
            self.writer.path.unlink(missing_ok=True)
            self.writer.path = path
            os.truncate(path, min(state["length"], path.stat().st_size))

    def on_train_end(self, _: Logs | None = None) -> None:
        """Close the file."""
        self.writer = None

    def _write(self, logs: Logs, step: int) -> None:
        if self.writer is None:  # an epoch ended, although training did not begin
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
        f"TensorBoard: expected update_freq 'epoch', 'batch' or a number of samples, got "
        f"{update_freq!r}."
    )


# --- event files ----------------------------------------------------------------------------------

_NAME = "events.out.tfevents."
_VERSION = "brain.Event:2"
_POLYNOMIAL = 0x82F63B78  # Castagnoli's polynomial, with its bits in reverse order
_MASK = 0xA282EAD8
_VARINT, _BYTES = 0, 2  # wire types: how the value of a field is written
_DOUBLE, _FLOAT = 1, 5


def _crc_row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_CRC_TABLE = tuple(_crc_row(byte) for byte in range(256))


def crc32c(content: bytes) -> int:
    """Return the CRC-32C checksum (Castagnoli) of bytes.

    Examples
    --------
    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(content: bytes) -> bytes:
    """Return the checksum of a record: the CRC-32C rotated by 15 bits, plus a constant."""
    crc = crc32c(content)
    turned = crc >> 15 | crc << 17
    return struct.pack("<I", (turned + _MASK) & 0xFFFFFFFF)


def record(content: bytes) -> bytes:
    """Return the bytes of one record of an event file."""
    length = struct.pack("<Q", len(content))
    return length + masked_crc(length) + content + masked_crc(content)


def _varint(number: int) -> bytes:
    """Return a whole number as a varint: groups of 7 bits, lowest first."""
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _field(number: int, kind: int, value: bytes) -> bytes:
    length = _varint(len(value)) if kind == _BYTES else b""
    return _varint(number << 3 | kind) + length + value


def version_event(wall_time: float) -> bytes:
    """Return the bytes of the first event of every file, which contains the version."""
    return _field(1, _DOUBLE, struct.pack("<d", wall_time)) + _field(3, _BYTES, _VERSION.encode())


def scalar_event(wall_time: float, step: int, scalars: Mapping[str, float]) -> bytes:
    """Return the bytes of an event that contains the values of scalars at a step."""
    values = b"".join(
        _field(
            1,
            _BYTES,
            _field(1, _BYTES, name.encode()) + _field(2, _FLOAT, struct.pack("<f", value)),
        )
        for name, value in scalars.items()
    )
    return (
        _field(1, _DOUBLE, struct.pack("<d", wall_time))
        + _field(2, _VARINT, _varint(step))
        + _field(5, _BYTES, values)
    )


def is_event_file(path: Path) -> bool:
    """Return whether the name and the first bytes of a file are those of an event file.

    Examples
    --------
    >>> is_event_file(Path("notes.txt"))
    False
    """
    if not path.name.startswith(_NAME):
        return False
    with path.open("rb") as file:
        return _VERSION.encode() in file.read(64)


class EventFile:
    """A new event file for scalars.

    Parameters
    ----------
    folder : path
        The folder of the file. It is created if it does not exist.

    Attributes
    ----------
    path : Path
        The file. Each event is written to it at once.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        import socket  # imported here, because only this class needs it

        now = time.time()
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = f"{_NAME}{int(now):010d}.{socket.gethostname()}.{os.getpid()}"
        self.path = _unused(Path(folder), name)
        self._append(version_event(now))

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Write the values of scalars at a step."""
        self._append(scalar_event(time.time(), step, scalars))

    def _append(self, event: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(record(event))


def _unused(folder: Path, name: str) -> Path:
    """Return the path of a new file; a number is appended to the name if it already exists."""
    path, number = folder / name, 1
    while path.exists():
        path, number = folder / f"{name}.{number}", number + 1
    return path
