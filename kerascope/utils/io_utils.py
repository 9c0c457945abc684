"""Reading and writing HDF5 files piece by piece: Keras's `keras.utils.io_utils`.

h5py is imported when a file is opened, not before.
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
    """A data set in an HDF5 file that stands for an array: `fit` reads it batch by batch.

    Parameters
    ----------
    datapath : path
    dataset : str
        Name of the data set in the file.
    start, end : int
        Which of its rows; by default all.
    normalizer : callable, optional
        Called on every piece that is read.

    Raises
    ------
    UnavailableError
        There is no such file.
    DataError
        The file has no such data set.

    Notes
    -----
    Train with `shuffle="batch"`: HDF5 reads rows in rising order only.
    """

    def __init__(
        self,
        datapath: str | PathLike[str],
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        file = _opened(datapath, "r", "HDF5Matrix")
        if dataset not in file:
            known = ", ".join(map(repr, file)) or "none"
            raise DataError(
                f"HDF5Matrix: '{fspath(datapath)}' has no data set {dataset!r}; it has {known}."
            )
        self.data = file[dataset]
        self.start = start
        self.end = int(self.data.shape[0]) if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        """Return rows: by a number, a slice, or a list of numbers.

        Raises
        ------
        IndexError
            A row is outside of `start` and `end`.
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
            raise IndexError(f"HDF5Matrix: rows {first} to {last}; expected 0 to {len(self) - 1}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """Type of the numbers."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.data.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(np.prod(self.shape))


def ask_to_proceed_with_overwrite(filepath: str | PathLike[str]) -> bool:
    """Ask in the terminal whether a file may be written over, and return the answer."""
    answer = ""
    while answer not in ("y", "n"):
        question = f"'{fspath(filepath)}' is there already. Write over it? [y/n] "
        answer = input(question).strip().lower()
    return answer == "y"


class H5Dict:
    """An HDF5 file, or a group in one, as a dict of arrays, texts and further dicts.

    Parameters
    ----------
    path : path, h5py.Group or dict
        Where to; a dict keeps everything in memory.
    mode : {"a", "r", "r+", "w", "w-"}
        As for `h5py.File`.

    Raises
    ------
    UnavailableError
        The file cannot be opened.

    Notes
    -----
    Arrays become data sets; numbers, texts and lists of texts become attributes. Asking for a name
    that is not there makes a group of that name, unless the file is only read.

    Examples
    --------
    >>> memory = H5Dict({})
    >>> memory["layer"]["kernel"] = np.eye(2)
    >>> list(memory), memory["layer"]["kernel"].shape
    (['layer'], (2, 2))
    """

    def __init__(self, path: Any, mode: str = "a") -> None:
        self._is_file = isinstance(path, (str, PathLike))
        self.data: Any = _opened(path, mode, "H5Dict") if self._is_file else path
        self.read_only = mode == "r"

    @property
    def _attributes(self) -> Any:
        return getattr(self.data, "attrs", {})

    def __setitem__(self, name: str, value: Any) -> None:
        if self.read_only:
            raise ArgumentError(f"H5Dict: cannot set {name!r}; the file is opened to be read.")
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
        """Close the file; a group or a dict is left as it is."""
        if self._is_file:
            self.data.close()

    def update(self, *args: Any) -> None:
        """Set all names of dicts."""
        for names in args:
            for name in names:
                self[name] = names[name]

    def get(self, key: str, default: Any = None) -> Any:
        """Return what has a name, or `default`; makes no group."""
        if key not in self:
            return default
        return self[key]

    def __enter__(self) -> H5Dict:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


h5dict = H5Dict  # Keras 2.2's first spelling of it


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


def _opened(path: str | PathLike[str], mode: str, where: str) -> Any:
    """Return an open HDF5 file.

    Raises
    ------
    UnavailableError
        It cannot be opened.
    """
    import h5py  # takes long to import

    try:
        return h5py.File(path, mode)
    except OSError as error:
        raise UnavailableError(f"{where}: cannot open '{fspath(path)}' ({error}).") from None


def enable_interactive_logging() -> None:
    """Do nothing: how progress is shown depends on the terminal and on `verbose`."""


disable_interactive_logging = enable_interactive_logging


def is_interactive_logging_enabled() -> bool:
    """Return True: progress is shown, never logged; `verbose=0` shows none."""
    return True


_OF_KERAS_1 = """save_array load_array"""

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), PRIVATE_NAMES))
