"""Opening HDF5 files that may come from anywhere.

HDF5 can do more than hold arrays: a link may lead into another file, an array may be declared a
thousand times larger than what is stored. `reading_hdf5` goes through the whole file once, before
anybody reads a number of it, and refuses what a file of weights never has. `array_of` then reads
one array, if it has the shape that is expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ConfigError, DataError, KerascopeError, UnavailableError
from kerascope.files import comes_from_the_system
from kerascope.saving.hdf5_texts import bytes_of, check_texts
from kerascope.saving.limits import (
    DEEPEST_GROUP,
    FREE_SIZE,
    GREATEST_RATIO,
    MOST_OBJECTS,
)

SIGNATURE = b"\x89HDF\r\n\x1a\n"


@contextmanager
def writing_hdf5(path: Any) -> Iterator[Any]:
    """Open a new HDF5 file; `files.replacing` sees to what happens if that fails."""
    import h5py  # takes as long to import as all of kerascope, and most sessions save nothing

    with h5py.File(path, "w") as file:
        yield file


@contextmanager
def reading_hdf5(source: Any, where: str) -> Iterator[Any]:
    """Open an HDF5 file for reading, after a look at all that is in it.

    Parameters
    ----------
    source : str, Path, or binary file
    where : str
        What the file is called in an error.

    Raises
    ------
    UnavailableError
        There is no such file.
    ConfigError
        It is no HDF5 file, is damaged, or holds what no file of weights has.
    """
    import h5py

    if not hasattr(source, "read") and not Path(source).is_file():
        raise UnavailableError(f"there is no file {where}; expected an HDF5 file.")
    try:
        with h5py.File(source, "r") as file:
            names = check_members(file, where)
            with bytes_of(source) as content:
                check_texts(content, names, where)
            yield file
    except KerascopeError:
        raise
    except (OSError, RuntimeError, KeyError, UnicodeDecodeError) as error:
        check_system(error, where)
        raise ConfigError(f"{where} is no whole HDF5 file ({_first_line(error)}).") from None


def check_system(error: BaseException, where: str) -> None:
    """Raise UnavailableError if an error says nothing of the file, but of who holds or sends it."""
    if comes_from_the_system(error):
        raise UnavailableError(
            f"{where} cannot be read: {type(error).__name__}: {error}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip("'\"").split("\n")[0][:200]


def check_members(file: Any, where: str) -> set[str]:
    """Raise ConfigError if a file holds what no file of weights has.

    Parameters
    ----------
    file : h5py.File
    where : str

    Returns
    -------
    set of str
        The names of the attributes that hold texts.
    """
    texts: set[str] = set()
    waiting: list[tuple[Any, int]] = [(file, 0)]
    seen = 0
    while waiting:
        group, depth = waiting.pop()
        texts |= _check_attributes(group, where)
        for name in group:
            seen += 1
            if seen > MOST_OBJECTS or depth > DEEPEST_GROUP:
                raise ConfigError(
                    f"{where}: has too many groups inside each other; expected at most "
                    f"{MOST_OBJECTS} objects, {DEEPEST_GROUP} deep."
                )
            member = _member(group, name, where)
            if hasattr(member, "keys"):
                waiting.append((member, depth + 1))
            else:
                _check_array(member, where)
    return texts


def _member(group: Any, name: str, where: str) -> Any:
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ConfigError(
            f"{where}: {group.name}/{name} is a link to another place or file; expected an array "
            f"or a group."
        )
    member = group[name]
    if not isinstance(member, (h5py.Group, h5py.Dataset)):
        raise ConfigError(f"{where}: {group.name}/{name} is neither an array nor a group.")
    return member


def _check_array(array: Any, where: str) -> None:
    if array.is_virtual or array.external:
        raise ConfigError(f"{where}: {array.name} has its numbers in another file.")
    if array.shape is None or array.dtype.kind not in "fiubSV":
        raise ConfigError(f"{where}: {array.name} holds {array.dtype}; expected numbers.")
    numbers_in_piece = int(np.prod(array.chunks or (), dtype=object))
    declared = max(array.size, numbers_in_piece) * array.dtype.itemsize
    _check_size(declared, array.id.get_storage_size(), array.name, where)


def _check_attributes(group: Any, where: str) -> set[str]:
    """Return the names of the attributes that hold texts of any length."""
    import h5py

    texts: set[str] = set()
    for name in group.attrs:
        attribute = group.attrs.get_id(name)
        dtype = attribute.dtype
        is_text = h5py.check_string_dtype(dtype) is not None
        if dtype.kind not in "fiubSU" and not is_text:
            raise ConfigError(f"{where}: the attribute {name!r} holds {dtype}; expected text.")
        size = int(np.prod(attribute.shape, dtype=object)) * dtype.itemsize
        if size > FREE_SIZE:  # HDF5 has no answer for an empty attribute
            _check_size(size, attribute.get_storage_size(), f"attribute {name!r}", where)
        if dtype.kind == "O":
            texts.add(name)
    return texts


def _check_size(declared: int, stored: int, what: str, where: str) -> None:
    if declared > FREE_SIZE and declared > GREATEST_RATIO * stored:
        raise ConfigError(
            f"{where}: {what} says that it has {declared} bytes, of which {stored} are stored; "
            f"the file is damaged or a trap."
        )


def array_of(group: Any, name: str, shape: tuple[int | None, ...] | None, where: str) -> np.ndarray:
    """Return an array of a file.

    Parameters
    ----------
    group : h5py.Group
    name : str
    shape : tuple of int or None
        What is expected; None takes any.
    where : str

    Raises
    ------
    DataError
        There is no such array, or it has another shape, or holds no numbers.
    """
    found = group.get(name)
    if found is None or hasattr(found, "keys"):
        raise DataError(f"{where}: has no array {name!r} in {group.name!r}.")
    if found.dtype.kind not in "fiub" and found.dtype.itemsize != 2:  # 2 bytes: bfloat16
        raise DataError(f"{where}: {found.name!r} holds {found.dtype}; expected numbers.")
    if shape is not None and tuple(found.shape) != tuple(shape):
        is_of_gru = "GRU" in where and (2, *shape) == tuple(found.shape)
        hint = " Was it written with reset_after=True, Keras 3's default?" if is_of_gru else ""
        raise DataError(
            f"{where}: {found.name!r} has shape {tuple(found.shape)}; expected {tuple(shape)}."
            f"{hint}"
        )
    return as_numbers(np.asarray(found))


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Return an array of numbers; bfloat16, which HDF5 has as 2 raw bytes, becomes float32."""
    if array.dtype.kind != "V":
        return array
    return (array.view("uint16").astype("uint32") << 16).view("float32")
