"""Numbers in the event files that TensorBoard reads, written without TensorFlow.

An event file is a row of records. A record is the length of its content, the content and a checksum
for each of the two; the content is an `Event` of Google's protocol buffers, of which only a few
fields are needed here: the time, the step, and names with their numbers.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path

_NAME = "events.out.tfevents."
_VERSION = "brain.Event:2"
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, mirrored
_MASK = 0xA282EAD8
_VARINT, _BYTES = 0, 2  # how a field's value is written
_DOUBLE, _FLOAT = 1, 5


def _crc_row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_CRC_TABLE = tuple(_crc_row(byte) for byte in range(256))


def crc32c(content: bytes) -> int:
    """Return Castagnoli's checksum of some bytes.

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
    """Return the checksum as records have it: turned by 15 bits, with a number added."""
    crc = crc32c(content)
    turned = crc >> 15 | crc << 17
    return struct.pack("<I", (turned + _MASK) & 0xFFFFFFFF)


def record(content: bytes) -> bytes:
    """Return one record of an event file."""
    length = struct.pack("<Q", len(content))
    return length + masked_crc(length) + content + masked_crc(content)


def _varint(number: int) -> bytes:
    """Return a whole number in groups of 7 bits, the lowest first."""
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _field(number: int, kind: int, value: bytes) -> bytes:
    length = _varint(len(value)) if kind == _BYTES else b""
    return _varint(number << 3 | kind) + length + value


def version_event(wall_time: float) -> bytes:
    """Return the event that every file begins with."""
    return _field(1, _DOUBLE, struct.pack("<d", wall_time)) + _field(3, _BYTES, _VERSION.encode())


def scalar_event(wall_time: float, step: int, scalars: Mapping[str, float]) -> bytes:
    """Return the event that says which values some names have at a step."""
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
    """Tell whether a file is called and begins as ours do.

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
    """A new event file in a folder, for numbers.

    Parameters
    ----------
    folder : path
        Made if it is not there.

    Attributes
    ----------
    path : Path
        The file. Each event is in it as soon as it was written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        import socket  # not worth loading for runs without an event file

        now = time.time()
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = f"{_NAME}{int(now):010d}.{socket.gethostname()}.{os.getpid()}"
        self.path = _unused(Path(folder), name)
        self._append(version_event(now))

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Add values at a step."""
        self._append(scalar_event(time.time(), step, scalars))

    def _append(self, event: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(record(event))


def _unused(folder: Path, name: str) -> Path:
    """Return a path that is no file yet: two runs may begin in the same second."""
    path, number = folder / name, 1
    while path.exists():
        path, number = folder / f"{name}.{number}", number + 1
    return path
