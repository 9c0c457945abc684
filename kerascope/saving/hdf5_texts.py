"""How long the texts in an HDF5 file's attributes say that they are, found without reading them.

A text of any length lies in a heap; the attribute itself only holds its length and its place. HDF5
takes memory for as many bytes as that length says, before it looks at the heap: with one damaged
byte, 3 GB. And it walks through a damaged heap without ever coming to an end. So both are looked at
here, in the bytes of the file.

An attribute is stored as a message [1]: version, sizes of the next three parts, name, type, shape,
and then the data, for a text 4 bytes of length, 8 of address and 4 of index.

References
----------
1. The HDF Group: HDF5 File Format Specification, version 3.0, IV.A.2.m "The Attribute Message".
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kerascope.errors import ConfigError

_LENGTH_ADDRESS_INDEX = 16  # bytes of one text
_TYPE_OF_ANY_LENGTH = 9  # class of the type, in the low half of its first byte


@contextmanager
def bytes_of(source: Any) -> Iterator[Any]:
    """Give the bytes of a file, on disk or in memory.

    Parameters
    ----------
    source : str, Path or io.BytesIO
    """
    if isinstance(source, io.BytesIO):
        yield source.getvalue()  # CPython shares the bytes: nothing is copied
        return
    with Path(source).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
        yield m


def check_texts(content: Any, names: set[str], where: str) -> None:
    """Raise ConfigError if a text says that it is longer than its whole file.

    Parameters
    ----------
    content : bytes or mmap
    names : set of str
        Of the attributes that hold texts.
    where : str
        What the file is called in an error.
    """
    for name in names:
        wanted = name.encode() + b"\0"
        place = content.find(wanted)
        while place >= 0:
            for length, address in _texts(content, place, len(wanted)):
                if length <= len(content) and (length == 0 or _is_whole_heap(content, address)):
                    continue
                if length <= len(content):
                    raise ConfigError(f"{where} is no whole HDF5 file: {name!r} is damaged.")
                raise ConfigError(
                    f"{where}: the text {name!r} says that it has {length} bytes, more than "
                    f"the whole file; the file is damaged or a trap."
                )
            place = content.find(wanted, place + 1)


def _texts(content: Any, place: int, name_size: int) -> Iterator[tuple[int, int]]:
    """Yield length and address of the texts of an attribute whose name stands at `place`.

    Nothing is yielded if the bytes before the name do not begin such an attribute.
    """
    for version, bytes_before in ((1, 8), (2, 8), (3, 9)):
        start = place - bytes_before
        if start < 0 or content[start] != version or _number(content, start + 2, 2) != name_size:
            continue
        type_size, shape_size = _number(content, start + 4, 2), _number(content, start + 6, 2)
        step = 8 if version == 1 else 1  # the first version fills every part up to 8 bytes
        type_place = place + _filled(name_size, step)
        shape_place = type_place + _filled(type_size, step)
        data = shape_place + _filled(shape_size, step)
        if data >= len(content) or content[type_place] & 0x0F != _TYPE_OF_ANY_LENGTH:
            continue
        for text in range(_number_of_texts(content, shape_place)):
            start = data + text * _LENGTH_ADDRESS_INDEX
            yield _number(content, start, 4), _number(content, start + 4, 8)


def _is_whole_heap(content: Any, address: int) -> bool:
    """Tell whether a heap of texts can be walked to its end, which HDF5 does without looking.

    A heap has a head of 16 bytes with its size, then objects: 2 bytes of index, 6 of other facts, 8
    of size, and the data. Index 0 is the space that is left, whose size counts its own head.
    """
    end = address + _number(content, address + 8, 8)
    if content[address : address + 4] != b"GCOL" or end > len(content):
        return False
    place = address + 16
    while place + 16 <= end:
        index, size = _number(content, place, 2), _number(content, place + 8, 8)
        step = size if index == 0 else 16 + _filled(size, 8)
        if step < 16 or place + step > end:
            return False
        place += step
    return True


def _number_of_texts(content: Any, shape_place: int) -> int:
    """Return how many elements a shape has: its number of axes, then 8 bytes for each size."""
    version, axes = content[shape_place], content[shape_place + 1]
    first = shape_place + (8 if version == 1 else 4)
    count = 1
    for axis in range(axes):
        count *= _number(content, first + 8 * axis, 8)
    return min(count, len(content) // _LENGTH_ADDRESS_INDEX)


def _number(content: Any, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "little")


def _filled(size: int, step: int) -> int:
    return -(-size // step) * step
