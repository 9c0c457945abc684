"""Write HDF5 files, and open untrusted ones.

HDF5 files can contain more than arrays. A link can point to another file, and an array can be
declared a thousand times larger than its stored data. `reading_hdf5` checks the whole file before
any number is read, and refuses everything that a file of weights does not need. `array_of` then
reads one array, if it has the expected shape.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, ConfigError, DataError, KerascopeError, UnavailableError
from kerascope.files import comes_from_the_system, replacing
from kerascope.saving.untrusted import DEEPEST_GROUP, FREE_SIZE, GREATEST_RATIO, MOST_OBJECTS

__all__ = ["load_attributes_from_hdf5_group", "save_attributes_to_hdf5_group"]


# --- declared lengths of texts in attributes ------------------------------------------------------
# A text of variable length is in a heap. The attribute contains only its length and address. HDF5
# allocates memory for the declared length before it reads the heap: with one damaged byte, 3 GB.
# In a damaged heap it can loop forever. So both are checked here, in the bytes of the file.
#
# An attribute is stored as a message [1]: version, sizes of the next three parts, name, type, shape
# and data. The data of a text are 4 bytes of length, 8 of address and 4 of index.
#
# References
# ----------
# 1. The HDF Group: HDF5 File Format Specification, version 3.0, IV.A.2.m "The Attribute Message".


_LENGTH_ADDRESS_INDEX = 16  # bytes of one text
_TYPE_OF_ANY_LENGTH = 9  # the class of a type is in the low half of its first byte


@contextmanager
def bytes_of(source: Any) -> Iterator[Any]:
    """Provide the bytes of a file, on disk or in memory, inside the `with` block.

    Parameters
    ----------
    source : str, Path or io.BytesIO
    """
    if isinstance(source, io.BytesIO):
        yield source.getvalue()  # CPython shares the bytes without a copy
        return
    with Path(source).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
        yield m


def check_texts(content: Any, names: set[str], where: str) -> None:
    """Raise ConfigError if the declared length of a text exceeds the length of the file.

    Parameters
    ----------
    content : bytes or mmap
    names : set of str
        The names of the attributes that contain texts.
    where : str
        The name of the file in messages.
    """
    whole_heaps: set[int] = set()  # many texts share one heap
    for name in names:
        wanted = name.encode() + b"\0"
        place = content.find(wanted)
        while place >= 0:
            for length, address in _texts(content, place, len(wanted)):
                if length <= len(content):
                    if length == 0 or address in whole_heaps:
                        continue
                    if _is_whole_heap(content, address):
                        whole_heaps.add(address)
                        continue
                    raise ConfigError(f"{where} is not a complete HDF5 file: {name!r} is damaged.")
                raise ConfigError(
                    f"{where}: the text {name!r} declares {length} bytes, more than the whole "
                    f"file. The file is damaged or malicious."
                )
            place = content.find(wanted, place + 1)


def _texts(content: Any, place: int, name_size: int) -> Iterator[tuple[int, int]]:
    """Yield the length and the address of each text in an HDF5 attribute.

    The name of the attribute begins at byte `place` of the file. Yield nothing if the bytes before
    the name are not the start of an attribute with texts.
    """
    for version, bytes_before in ((1, 8), (2, 8), (3, 9)):
        start = place - bytes_before
        if start < 0 or content[start] != version or _number(content, start + 2, 2) != name_size:
            continue
        type_size, shape_size = _number(content, start + 4, 2), _number(content, start + 6, 2)
        step = 8 if version == 1 else 1  # version 1 pads every part to 8 bytes
        type_place = place + _padded(name_size, step)
        shape_place = type_place + _padded(type_size, step)
        data = shape_place + _padded(shape_size, step)
        if data >= len(content) or content[type_place] & 0x0F != _TYPE_OF_ANY_LENGTH:
            continue
        for text in range(_number_of_texts(content, shape_place)):
            start = data + text * _LENGTH_ADDRESS_INDEX
            yield _number(content, start, 4), _number(content, start + 4, 8)


def _is_whole_heap(content: Any, address: int) -> bool:
    """Return whether a heap of texts is intact, so that HDF5 can iterate over it.

    A heap consists of a header of 16 bytes with its size, and objects. An object has 2 bytes of
    index, 6 bytes of other data, 8 bytes of size, and the data. Index 0 is the free space, whose
    size includes its header.
    """
    end = address + _number(content, address + 8, 8)
    if content[address : address + 4] != b"GCOL" or end > len(content):
        return False
    place = address + 16
    while place + 16 <= end:
        index, size = _number(content, place, 2), _number(content, place + 8, 8)
        step = size if index == 0 else 16 + _padded(size, 8)
        if step < 16 or place + step > end:
            return False
        place += step
    return True


def _number_of_texts(content: Any, shape_place: int) -> int:
    """Return the number of texts of an attribute: the product of the sizes of its shape."""
    version, axes = content[shape_place], content[shape_place + 1]
    first = shape_place + (8 if version == 1 else 4)
    count = 1
    for axis in range(axes):
        count *= _number(content, first + 8 * axis, 8)
    return min(count, len(content) // _LENGTH_ADDRESS_INDEX)


def _number(content: Any, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "little")


def _padded(size: int, step: int) -> int:
    return -(-size // step) * step


# --- opening and checking -------------------------------------------------------------------------


LARGEST_IMAGE = 64 * 2**20  # the greatest size in bytes of a file that is copied to memory
SIGNATURE = b"\x89HDF\r\n\x1a\n"


@contextmanager
def writing_hdf5(path: Any) -> Iterator[Any]:
    """Create an HDF5 file for a `with` block.

    Use it inside `files.replacing`, which removes the incomplete file after an error.
    """
    import h5py  # imported here, because it takes as long to import as all of kerascope

    with h5py.File(path, "w") as file:
        yield file


def is_open(target: Any) -> bool:
    """Return whether `target` is an open HDF5 file, a group of a file, or a stream, not a path."""
    return any(hasattr(target, name) for name in ("create_group", "read", "write"))


def name_of(target: Any) -> str:
    """Return the name of a file for messages.

    Examples
    --------
    >>> name_of("model.h5"), name_of(io.BytesIO())
    ("'model.h5'", 'the binary file')
    """
    if hasattr(target, "create_group"):
        return repr(f"{target.file.filename}{target.name.rstrip('/')}")
    if is_open(target):
        name = getattr(target, "name", None)
        return repr(name) if isinstance(name, str) else "the binary file"
    return repr(str(target))


@contextmanager
def filling_hdf5(target: Any, overwrite: bool) -> Iterator[Any]:
    """Provide an empty HDF5 file to write, and move it to its target if the block succeeds.

    Parameters
    ----------
    target : str, Path, h5py.Group, or binary file
        The file or group to write. Other members of an open group are kept.
    overwrite : bool
        Whether existing contents may be replaced.

    Raises
    ------
    ArgumentError
        The target exists and `overwrite` is False, or an open file is read-only.
    UnavailableError
        The file cannot be written: see `files.replacing`.
    """
    if not is_open(target):
        with replacing(target, overwrite=overwrite) as unfinished, writing_hdf5(unfinished) as file:
            yield file
        return
    content = io.BytesIO()
    with writing_hdf5(content) as file:
        yield file
        if hasattr(target, "create_group"):
            _fill_group(target, file, overwrite)
    if hasattr(target, "write"):
        target.write(content.getvalue())


# The parts of a model in a group, except its layers: members, and prefixes of attributes.
_MEMBERS = ("model_weights", "optimizer_weights")
_ATTRIBUTES = ("model_config", "training_config", "layer_names", "keras_version", "backend")


def _fill_group(group: Any, file: Any, overwrite: bool) -> None:
    """Copy a file into a group, and replace an earlier model or earlier weights."""
    where = name_of(group)
    if group.file.mode == "r":
        raise ArgumentError(
            f"save: {where} is open for reading only. Open it with mode 'r+', 'a' or 'w'."
        )
    members = [name for name in group if name in file or name in _MEMBERS]
    attributes = [name for name in group.attrs if name.rstrip("0123456789") in _ATTRIBUTES]
    if not overwrite and (members or attributes):
        raise ArgumentError(
            f"save: {where} already contains {(members + attributes)[0]!r}. Choose another group, "
            f"or pass overwrite=True."
        )
    for name in members:
        del group[name]
    for name in attributes:
        del group.attrs[name]
    for name in file:
        file.copy(name, group)
    for name, value in file.attrs.items():
        group.attrs[name] = value


@contextmanager
def reading_hdf5(source: Any, where: str, with_attributes: bool = True) -> Iterator[Any]:
    """Open an HDF5 file for reading, after a check of its whole contents.

    Parameters
    ----------
    source : str, Path, h5py.Group, or binary file
        The file or group to read. A group is checked and stays open.
    where : str
        The name of the file in messages.
    with_attributes : bool
        Whether to check the attributes. False is enough if the caller reads only arrays.

    Raises
    ------
    UnavailableError
        The file does not exist.
    ConfigError
        The file is not an HDF5 file, is damaged, or has members that weights do not need.
    """
    import h5py

    if not is_open(source) and not Path(source).is_file():
        raise UnavailableError(f"{where}: expected an HDF5 file, got no file of this name.")
    try:
        if isinstance(source, h5py.Group):  # HDF5 read the texts of this group when it was opened
            check_members(source, where, with_attributes)
            yield source
            return
        with _opened(source) as file:
            names = check_members(file, where, with_attributes)
            with bytes_of(source) as content:
                check_texts(content, names, where)
            yield file
    except KerascopeError:
        raise
    except (OSError, RuntimeError, KeyError, UnicodeDecodeError) as error:
        check_system(error, where)
        raise ConfigError(f"{where}: expected a whole HDF5 file ({_first_line(error)}).") from None


def _opened(source: Any) -> Any:
    """Open a file for reading.

    A small file is first read into memory, because HDF5 would read many small parts of it.
    """
    import h5py

    if isinstance(source, io.BytesIO) and source.getbuffer().nbytes <= LARGEST_IMAGE:
        with suppress(ValueError, OSError):  # the next way to open it has better messages
            return h5py.File(h5py.h5f.open_file_image(source.getvalue()))
    if not is_open(source) and Path(source).stat().st_size <= LARGEST_IMAGE:
        return h5py.File(source, "r", driver="core", backing_store=False)
    return h5py.File(source, "r")


def numbers_in(group: Any, without: str | None = None) -> int:
    """Return the number of elements of all arrays in a group, except in the subgroup `without`."""
    from h5py import h5d, h5o

    arrays: list[bytes] = []
    left_out = None if without is None else without.encode()

    def look_at(name: bytes, info: Any) -> None:
        if info.type == h5o.TYPE_DATASET and name.split(b"/")[0] != left_out:
            arrays.append(name)

    h5o.visit(group.id, look_at, info=True)
    return sum(prod(h5d.open(group.id, name).shape or ()) for name in arrays)


def check_system(error: BaseException, where: str) -> None:
    """Raise UnavailableError if the cause of an error is the system and not the file's contents."""
    if comes_from_the_system(error):
        raise UnavailableError(
            f"{where} cannot be read: {type(error).__name__}: {error}."
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip("'\"").split("\n")[0][:200]


def check_members(file: Any, where: str, with_attributes: bool = True) -> set[str]:
    """Raise ConfigError if a file has members that weights do not need, such as links to files.

    Parameters
    ----------
    file : h5py.File
    where, with_attributes
        As for `reading_hdf5`.

    Returns
    -------
    set of str
        The names of the attributes that contain texts.
    """
    from h5py import h5d, h5g, h5l, h5o

    start = h5g.open(file.id, b".")
    place = file.name.rstrip("/")
    names: list[bytes] = []
    places = {h5o.get_info(start).addr: b""}  # address of each object -> its first path

    def look_at(name: bytes, info: Any) -> str | None:
        """Return an error message about a member of the file, or None if it is allowed.

        An error must not be raised here, because HDF5 calls this function.
        """
        names.append(name)
        first = places.setdefault(info.u, name + b"/")
        is_circle = name.startswith(first)
        if is_circle or len(names) > MOST_OBJECTS or name.count(b"/") > DEEPEST_GROUP:
            return (
                f"expected at most {MOST_OBJECTS} objects in {DEEPEST_GROUP} nested groups, got "
                f"more."
            )
        if info.type != h5l.TYPE_HARD:
            path = f"{place}/{name.decode(errors='replace')}"
            return f"{path}: expected an array or a group, got a link to another place or file."
        return None

    wrong = start.links.visit(look_at, info=True)
    if wrong is not None:
        raise ConfigError(f"{where}: {wrong}")
    groups = set() if with_attributes else {name.rpartition(b"/")[0] for name in names}
    texts = _check_attributes(start, where) if with_attributes else set()
    for name in names:
        if name in groups:
            continue
        member = h5o.open(start, name)
        path = f"{place}/{name.decode(errors='replace')}"
        if isinstance(member, h5d.DatasetID):
            _check_array(member, path, where)
        elif not isinstance(member, h5g.GroupID):
            raise ConfigError(f"{where}: {path} is neither an array nor a group.")
        elif with_attributes:
            texts |= _check_attributes(member, where)
    return texts


def _check_attributes(group: Any, where: str) -> set[str]:
    """Check the attributes of an HDF5 object; return the names of those that contain texts."""
    import h5py

    texts: set[str] = set()
    for number in range(h5py.h5a.get_num_attrs(group)):
        attribute = h5py.h5a.open(group, index=number)
        name, dtype = attribute.name.decode(), attribute.dtype
        if dtype.kind not in "fiubSU" and h5py.check_string_dtype(dtype) is None:
            raise ConfigError(f"{where}: expected text in the attribute {name!r}, got {dtype}.")
        size = prod(attribute.shape or ()) * dtype.itemsize
        if size > FREE_SIZE:  # for an empty attribute, HDF5 cannot return the storage size
            _check_size(size, attribute.get_storage_size(), f"attribute {name!r}", where)
        if dtype.kind == "O":
            texts.add(name)
    return texts


def _check_array(array: Any, path: str, where: str) -> None:
    import h5py

    layout = array.get_create_plist()
    kind = layout.get_layout()
    if kind == h5py.h5d.VIRTUAL or layout.get_external_count():
        raise ConfigError(f"{where}: {path} has its numbers in another file.")
    shape, dtype = array.shape, array.dtype
    if shape is None or dtype.kind not in "fiubSV":
        raise ConfigError(f"{where}: {path}: expected numbers, got {dtype}.")
    pieces = layout.get_chunk() if kind == h5py.h5d.CHUNKED else ()
    declared = max(prod(shape), prod(pieces)) * dtype.itemsize
    _check_size(declared, array.get_storage_size(), path, where)


def _check_size(declared: int, stored: int, what: str, where: str) -> None:
    if declared > FREE_SIZE and declared > GREATEST_RATIO * stored:
        raise ConfigError(
            f"{where}: {what} declares {declared} bytes, but {stored} are stored. The file is "
            f"damaged or malicious."
        )


def group_of(group: Any, name: str) -> Any:
    """Return the subgroup with this name, or None if it does not exist."""
    import h5py

    try:
        return h5py.Group(h5py.h5g.open(group.id, name.encode()))
    except (KeyError, ValueError):
        return None


def array_of(group: Any, name: str, shape: tuple[int | None, ...] | None, where: str) -> np.ndarray:
    """Return the numbers of the array with this name in a group of an HDF5 file.

    Parameters
    ----------
    group : h5py.Group
    name : str
    shape : tuple of int or None
        The expected shape. None accepts any shape.
    where : str
        The name of the file in messages.

    Raises
    ------
    DataError
        The array does not exist, has another shape, or does not contain numbers.
    """
    import h5py

    try:
        found = h5py.h5d.open(group.id, name.encode())
    except KeyError:
        raise DataError(f"{where}: has no array {name!r} in {group.name!r}.") from None
    kind, saved = found.get_type(), found.shape
    dtype = kind.dtype
    if saved is None or (dtype.kind not in "fiub" and dtype.itemsize != 2):  # 2 bytes: bfloat16
        path = f"{group.name.rstrip('/')}/{name}"
        raise DataError(f"{where}: {path!r}: expected numbers, got {dtype}.")
    if shape is not None and saved != tuple(shape):
        path = f"{group.name.rstrip('/')}/{name}"
        is_of_gru = "GRU" in where and (2, *shape) == saved
        hint = " Was it written with reset_after=True, Keras 3's default?" if is_of_gru else ""
        raise DataError(f"{where}: {path!r}: expected shape {tuple(shape)}, got {saved}.{hint}")
    array = np.empty(saved, dtype)
    if array.size:
        found.read(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)
    return as_numbers(array)


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Return an array of numbers. Convert bfloat16, stored as 2 raw bytes, to float32."""
    if array.dtype.kind != "V":
        return array
    return (array.view("uint16").astype("uint32") << 16).view("float32")


def as_bfloat16(array: np.ndarray) -> np.ndarray:
    """Round float32 to bfloat16, which HDF5 stores as 2 raw bytes.

    Examples
    --------
    >>> numbers = np.array([1.0, -2.5, 1.00390625, np.inf, np.nan], "float32")
    >>> as_numbers(as_bfloat16(numbers)).tolist()
    [1.0, -2.5, 1.0, inf, nan]
    """
    bits = np.ascontiguousarray(array, "float32").view("uint32")
    half = np.where((bits >> 16) & 1, 0x8000, 0x7FFF).astype("uint32")  # round half to even
    cut = (bits + np.where(np.isnan(array), 0, half).astype("uint32")) >> 16
    return cut.astype("uint16").view("V2")


# --- lists of names in attributes -----------------------------------------------------------------
# Keras writes `layer_names` as one attribute if it fits, otherwise as `layer_names0`,
# `layer_names1`, and so on. Names are stored as UTF-8.


LARGEST_ATTRIBUTE = 64_512  # bytes: HDF5 limits an object header to 64 KB


def save_attributes_to_hdf5_group(group: Any, name: str, data: Sequence[bytes | str]) -> None:
    """Write a list of names to an attribute, or to several if the list is too long for one.

    Parameters
    ----------
    group : h5py.Group
    name : str
        The name of the attribute, such as "layer_names". For several, a number is appended.
    data : list of bytes or str
        Bytes are stored with a fixed length, as Keras 2 requires, and texts with variable length,
        as in Keras 3.

    Raises
    ------
    ConfigError
        A single name is too long.
    """
    names = [item.encode() if isinstance(item, str) else bytes(item) for item in data]
    form: Any = np.array if data and isinstance(data[0], bytes) else list
    longest = max((len(item) for item in names), default=0)
    if longest > LARGEST_ATTRIBUTE:
        raise ConfigError(
            f"save: {name!r}: expected names of at most {LARGEST_ATTRIBUTE} bytes, got {longest}. "
            f"Use shorter names."
        )
    if longest * len(names) <= LARGEST_ATTRIBUTE:
        group.attrs[name] = form(names)
        return
    step = LARGEST_ATTRIBUTE // longest
    for piece, start in enumerate(range(0, len(names), step)):
        group.attrs[f"{name}{piece}"] = form(names[start : start + step])


def load_attributes_from_hdf5_group(group: Any, name: str) -> list[str]:
    """Return a list of names that `save_attributes_to_hdf5_group` or Keras wrote.

    Parameters
    ----------
    group : h5py.Group
    name : str

    Returns
    -------
    list of str
        An empty list if the attribute does not exist.
    """
    if name in group.attrs:
        return _as_text(group.attrs[name])
    names: list[str] = []
    piece = 0
    while f"{name}{piece}" in group.attrs:
        names += _as_text(group.attrs[f"{name}{piece}"])
        piece += 1
    return names


def has_attribute(group: Any, name: str) -> bool:
    """Return whether a group has a list of names, in one attribute or in several."""
    return name in group.attrs or f"{name}0" in group.attrs


def _as_text(values: Any) -> list[str]:
    """Convert names to str. HDF5 returns an empty list as an array of floats."""
    items = np.atleast_1d(np.asarray(values)).ravel().tolist()
    return [item.decode() if isinstance(item, bytes) else str(item) for item in items]
