"""Read and write HDF5 files in pieces: Keras's `keras.utils.io_utils`.

h5py is imported when a file is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.missing_names import PRIVATE_NAMES, answer_missing_names

__all__ = ["H5Dict", "HDF5Matrix", "ask_to_proceed_with_overwrite", "h5dict"]


class HDF5Matrix:
    """A data set in an HDF5 file, used like an array. `fit` reads it batch by batch.

    Parameters
    ----------
    datapath : path
    dataset : str
        Name of the data set in the file.
    start, end : int
        The first row and the row after the last; by default all rows.
    normalizer : callable, optional
        Applied to all rows that are read.

    Raises
    ------
    UnavailableError
        The file cannot be opened.
    DataError
        The file does not contain the data set.

    Notes
    -----
    Train with `shuffle="batch"`, because HDF5 reads rows only in increasing order.

    Examples
    --------
    Rows 2 to 5 of a file are used like an array of 4 rows:

    >>> import h5py, tempfile
    >>> path = tempfile.mkdtemp() + "/data.h5"
    >>> with h5py.File(path, "w") as file:
    ...     file["x"] = np.arange(10)
    >>> rows = HDF5Matrix(path, "x", start=2, end=6)
    >>> len(rows), rows[:2].tolist(), int(rows[-1])
    (4, [2, 3], 5)
    """

    def __init__(
        self,
        datapath: str | PathLike[str],
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        file = _open_hdf5(datapath, "r", "HDF5Matrix")
        if dataset not in file:
            known = ", ".join(map(repr, file)) or "none"
            raise DataError(
                f"HDF5Matrix: '{fspath(datapath)}' has no data set {dataset!r}. It has: {known}."
            )
        self.data = file[dataset]
        self.start = start
        self.end = int(self.data.shape[0]) if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        """Return the rows for an integer, a slice, or a list of integers.

        Raises
        ------
        IndexError
            A row is not between `start` and `end`.
        """
        rows = self.data[self._rows(key)]
        return rows if self.normalizer is None else self.normalizer(rows)

    def _rows(self, key: Any) -> Any:
        if isinstance(key, slice):
            first, last = key.start or 0, len(self) if key.stop is None else key.stop
            first, last = (len(self) + i if i < 0 else i for i in (first, last))
            self._check(first, last - 1)
            return slice(first + self.start, last + self.start, key.step)
        if isinstance(key, (int, np.integer)):
            row = int(key) + (len(self) if key < 0 else 0)
            self._check(row, row)
            return row + self.start
        rows = np.asarray(key)
        if rows.size:
            self._check(int(rows.min()), int(rows.max()))
        return (rows + self.start).tolist()

    def _check(self, first: int, last: int) -> None:
        if first < 0 or last >= len(self):
            raise IndexError(f"HDF5Matrix: expected rows < {len(self)}, got {first} to {last}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """Dtype of the array."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))


def ask_to_proceed_with_overwrite(filepath: str | PathLike[str]) -> bool:
    """Ask in the terminal whether a file may be overwritten; return whether the answer is yes."""
    answer = ""
    while answer not in ("y", "n"):
        question = f"'{fspath(filepath)}' exists already. Overwrite it? [y/n] "
        answer = input(question).strip().lower()
    return answer == "y"


class H5Dict:
    """An HDF5 file or group, used like a dict of arrays, strings and nested dicts.

    Parameters
    ----------
    path : path, h5py.Group or dict
        The file or group. With a dict, everything is stored in memory.
    mode : {"a", "r", "r+", "w", "w-"}
        The mode of `h5py.File`.

    Raises
    ------
    UnavailableError
        The file cannot be opened.

    Notes
    -----
    Arrays are stored as data sets; numbers, strings and lists of strings as attributes. Reading a
    missing name creates a group of that name, unless the file is read-only.

    Examples
    --------
    >>> memory = H5Dict({})
    >>> memory["layer"]["kernel"] = np.eye(2)
    >>> list(memory), memory["layer"]["kernel"].shape
    (['layer'], (2, 2))
    """

    def __init__(self, path: Any, mode: str = "a") -> None:
        self._is_file = isinstance(path, (str, PathLike))
        self.data: Any = _open_hdf5(path, mode, "H5Dict") if self._is_file else path
        self.read_only = mode == "r"

    @property
    def _attributes(self) -> Any:
        return getattr(self.data, "attrs", {})

    def __setitem__(self, name: str, value: Any) -> None:
        if self.read_only:
            raise ArgumentError(f"H5Dict: cannot set {name!r} with mode 'r'. Open with 'a'.")
        if isinstance(value, Mapping):
            self[name].update(value)
        elif isinstance(self.data, dict):
            self.data[name] = value
        elif isinstance(value, np.ndarray) and value.dtype.kind not in "SU":
            if name in self.data:
                del self.data[name]
            self.data[name] = value
        else:
            self._attributes[name] = _as_attribute(value)

    def __getitem__(self, name: str) -> Any:
        if name in self._attributes:
            return _from_attribute(self._attributes[name])
        if name not in self.data:
            if self.read_only:
                raise KeyError(name)
            group = (
                self.data.setdefault(name, {}) if self._is_dict else self.data.create_group(name)
            )
            return H5Dict(group)
        value = self.data[name]
        if hasattr(value, "keys"):
            return H5Dict(value, "r" if self.read_only else "a")
        return value if self._is_dict else np.asarray(value)

    @property
    def _is_dict(self) -> bool:
        return isinstance(self.data, dict)

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in self._attributes

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def iter(self) -> Iterator[str]:
        """Return an iterator over the names of arrays and groups."""
        return iter(self.data)

    def close(self) -> None:
        """Close the file. A group or a dict is not changed."""
        if self._is_file:
            self.data.close()

    def update(self, *args: Any) -> None:
        """Set the names in one or more dicts to their values, as `dict.update` does."""
        for names in args:
            for name in names:
                self[name] = names[name]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value for a name, or `default` if the name is missing. No group is created."""
        if key not in self:
            return default
        return self[key]

    def __enter__(self) -> H5Dict:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


h5dict = H5Dict  # its first name in Keras 2.2


def _as_attribute(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, (list, tuple, np.ndarray)):
        return np.asarray([_as_attribute(item) for item in value])
    return value


def _from_attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, np.ndarray) and value.dtype.kind in "SO":
        return [_from_attribute(item) for item in value.tolist()]
    return value


def _open_hdf5(path: str | PathLike[str], mode: str, where: str) -> Any:
    """Open an HDF5 file; `where` is the caller's name for messages.

    Raises
    ------
    UnavailableError
        The file cannot be opened.
    """
    import h5py  # takes long to import

    try:
        return h5py.File(path, mode)
    except OSError as error:
        raise UnavailableError(f"{where}: cannot open '{fspath(path)}' ({error}).") from None


def enable_interactive_logging() -> None:
    """Do nothing. The display of progress depends on the terminal and on `verbose`."""


disable_interactive_logging = enable_interactive_logging


def is_interactive_logging_enabled() -> bool:
    """Return True, because progress is shown, not logged. `verbose=0` disables the display."""
    return True


_OF_KERAS_1 = """save_array load_array"""

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), PRIVATE_NAMES))
