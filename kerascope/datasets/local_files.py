"""Reading data set files safely, for the loaders of this folder.

Old data sets are pickles (CIFAR) or arrays of Python lists inside .npz files (IMDB, Reuters), which
are pickles, too. An ordinary unpickler runs any code that the file names. `ArrayUnpickler`
only creates arrays and plain containers.
"""

from __future__ import annotations

import gzip
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.spellings import translate
from kerascope.utils.data_utils import cache_folder, get_file

DIGITS_HINT = "kerascope.datasets.digits needs no file."

_UNREADABLE = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(MemoryError, RuntimeError),
    *(pickle.UnpicklingError, zipfile.BadZipFile, zlib.error, struct.error),
)


def find_file(where: str, path: str | Path, origin: str, file_hash: str) -> Path:
    """Return the path of a data set's file.

    Parameters
    ----------
    where : str
        The caller's name for errors: "mnist.load_data".
    path : path
        An absolute path is your own file and is not checked. A relative path is in the cache
        (`~/.keras/datasets`). The file is downloaded if it is missing, and its checksum verified.
    origin, file_hash : str
        URL and checksum of the file.

    Raises
    ------
    UnavailableError
        If the file is missing and cannot be downloaded.
    """
    own = Path(path).expanduser()
    if not own.is_absolute():
        return Path(get_file(str(path), origin, file_hash=file_hash))
    if own.is_file():
        return own
    raise UnavailableError(
        f"{where}: {own} does not exist; it is published at {origin}. "
        f"Put it there, or give a name without a folder to keep it in {cache_folder()}. "
        f"{DIGITS_HINT}"
    )


def unreadable(where: str, path: Path, expected: str, got: object) -> DataError:
    """Return the DataError for a file that is damaged or has an unexpected format."""
    return DataError(
        f"{where}: {path} cannot be read: expected {expected}, got {got}. "
        f"Delete it and fetch it again. {DIGITS_HINT}"
    )


def read_npz(where: str, path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """Return named arrays of an .npz file, in the order of `names`.

    Raises
    ------
    DataError
        If the file is truncated, not an .npz file, lacks a name, or contains other objects.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return [_read_member(archive, name) for name in names]
    except _UNREADABLE as error:
        raise unreadable(
            where, path, f"an .npz file with {', '.join(names)}", _words(error)
        ) from error


def _read_member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read_header(file)
        if dtype.hasobject:
            return np.asarray(ArrayUnpickler(file).load(), dtype=object).reshape(shape)
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def read_idx(where: str, path: Path, axes: int) -> np.ndarray:
    """Return the array of bytes in a gzipped idx file, the format of MNIST.

    Parameters
    ----------
    where : str
        The caller's name for errors.
    path : Path
        The file: two zero bytes, 8 (the type: unsigned bytes), the number of axes, the length of
        each axis as a big-endian 32-bit number, the values.
    axes : int
        The required number of axes.

    Returns
    -------
    ndarray, uint8

    Raises
    ------
    DataError
        If the file is truncated or has a different format.
    """
    try:
        content = gzip.decompress(path.read_bytes())
        zeros, kind, found_axes = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{axes}I", content, 4)
        if (zeros, kind, found_axes) != (0, 8, axes):
            raise ValueError(f"the first bytes {content[:4].hex()}")
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
        return values.reshape(shape).copy()
    except _UNREADABLE as error:
        expected = f"a gzip-packed idx file with {axes} axes"
        raise unreadable(where, path, expected, _words(error)) from error


def read_word_index(where: str, path: Path) -> dict[str, int]:
    """Return the dictionary word -> number of a JSON file.

    Raises
    ------
    DataError
        If the file has different contents.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {word: int(number) for word, number in content.items()}
    except _UNREADABLE as error:
        raise unreadable(where, path, "a JSON dictionary of numbers", _words(error)) from error


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _encode(text: str, encoding: str) -> bytes:
    """Encode a text as bytes; used in place of `_codecs.encode`, which old pickles call."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes written in the encoding {encoding!r}")
    return text.encode("latin1")


# --- pickled dictionaries -------------------------------------------------------------------------

_ARRAY_FUNCTIONS = {
    "_reconstruct": np.empty(0).__reduce__()[0],
    "scalar": np.float64(0).__reduce__()[0],
    "ndarray": np.ndarray,
    "dtype": np.dtype,
    "_frombuffer": np.empty(0).__reduce_ex__(5)[0],
}

_ARRAY_MODULES = {
    "numpy",
    *(
        f"numpy.{core}.{module}"
        for core in ("core", "_core")
        for module in ("multiarray", "numeric")
    ),
}


class ArrayUnpickler(pickle.Unpickler):
    """An unpickler that only creates arrays, numbers, text and plain containers."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the allowed function of this name; refuse all other names."""
        if module in _ARRAY_MODULES and name in _ARRAY_FUNCTIONS:
            return _ARRAY_FUNCTIONS[name]
        if (module, name) == ("_codecs", "encode"):
            return _encode
        raise pickle.UnpicklingError(f"code, {module}.{name}, instead of an array")


def read_pickled_dict(where: str, path: Path) -> dict[bytes, Any]:
    """Return the dictionary in a pickle of Python 2, whose strings become bytes.

    Raises
    ------
    DataError
        If the file is truncated, not a pickled dictionary, or contains code.
    """
    try:
        with path.open("rb") as file:
            return _expect_dict(_load(file))
    except _UNREADABLE as error:
        raise unreadable(where, path, "a pickled dictionary of arrays", _words(error)) from error


def _load(file: IO[bytes]) -> Any:
    return ArrayUnpickler(file, encoding="bytes").load()


def _expect_dict(content: Any) -> dict[bytes, Any]:
    if isinstance(content, dict):
        return {key.encode() if isinstance(key, str) else key: content[key] for key in content}
    raise TypeError(f"a {type(content).__name__}")


# --- samples in the order that Keras's seeds give -------------------------------------------------


def shuffled(
    random_state: np.random.RandomState, x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and labels in one random order.

    Parameters
    ----------
    random_state : numpy.random.RandomState
        The source of the order. With the seed that Keras sets in NumPy's global generator, it gives
        the same order as in Keras. The global generator is not changed.
    x, y : ndarray, shape (samples, ...)
        Samples and labels.

    Returns
    -------
    x, y : ndarray, shape (samples, ...)
        Both in the same new order.

    Examples
    --------
    >>> shuffled(np.random.RandomState(113), np.arange(4), np.array(list("abcd")))
    (array([3, 2, 0, 1]), array(['d', 'c', 'a', 'b'], dtype='<U1'))
    """
    order = random_state.permutation(len(x))
    return x[order], y[order]


def checked_test_split(where: str, test_split: float) -> float:
    """Return `test_split` if 0 <= test_split < 1, otherwise raise ArgumentError."""
    if 0 <= test_split < 1:
        return test_split
    raise ArgumentError(f"{where}: expected 0 <= test_split < 1, got {test_split!r}.")


# --- texts as lists of word numbers ---------------------------------------------------------------
# Preprocessing of the texts of IMDB and Reuters.


@dataclass(frozen=True)
class WordChoice:
    """Which words of texts are kept, and the numbers for the start and for unknown words.

    Attributes
    ----------
    num_words : int or None
        Keep words with a smaller number; None keeps all.
    skip_top : int
        Leave out words with a smaller number, which are the most frequent words.
    maxlen : int or None
        Keep only texts with fewer words, including the start number; None keeps all.
    start_char : int or None
        Number put in front of each text.
    oov_char : int or None
        Number put in place of a word that is left out; None drops the word.
    index_from : int or None
        Added to each word's number, so that `start_char` and `oov_char` are not numbers of words.

    Examples
    --------
    >>> WordChoice(num_words=8).apply_to([1, 4, 9])
    [1, 4, 7, 2]
    """

    num_words: int | None = None
    skip_top: int = 0
    maxlen: int | None = None
    start_char: int | None = 1
    oov_char: int | None = 2
    index_from: int | None = 3

    def apply_to(self, words: Iterable[int]) -> list[int]:
        """Return a text, a list of word numbers, with a start number and only the chosen words.

        `index_from` is added to each number. `oov_char` replaces the words that are left out, if
        it is given.
        """
        start = [] if self.start_char is None else [self.start_char]
        shifted = start + [int(word) + (self.index_from or 0) for word in words]
        if self.oov_char is None:
            return [word for word in shifted if self._keeps(word)]
        return [word if self._keeps(word) else self.oov_char for word in shifted]

    def _keeps(self, word: int) -> bool:
        return word >= self.skip_top and (self.num_words is None or word < self.num_words)

    def is_short_enough(self, words: Iterable[int]) -> bool:
        """Return whether a text with its start number is shorter than `maxlen`."""
        start = 0 if self.start_char is None else 1
        return self.maxlen is None or len(list(words)) + start < self.maxlen


def choose_words(
    where: str, texts: np.ndarray, labels: np.ndarray, choice: WordChoice
) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts that are short enough, with the chosen words, and their labels.

    Parameters
    ----------
    where : str
        The caller's name for errors.
    texts : ndarray, shape (samples,), of lists of int
    labels : ndarray, shape (samples,)
    choice : WordChoice

    Returns
    -------
    texts : ndarray, shape (kept,), of lists of int
    labels : ndarray, shape (kept,)

    Raises
    ------
    DataError
        If every text is too long.
    """
    kept = [number for number, text in enumerate(texts) if choice.is_short_enough(text)]
    if len(texts) and not kept:
        raise DataError(
            f"{where}: expected texts shorter than maxlen, got none below "
            f"{choice.maxlen}. Give a larger maxlen."
        )
    chosen = np.empty(len(kept), dtype=object)  # np.array would need texts of equal lengths
    for place, number in enumerate(kept):
        chosen[place] = choice.apply_to(texts[number])
    return chosen, labels[kept]


def with_old_spelling(where: str, num_words: int | None, old_words: dict[str, Any]) -> int | None:
    """Return `num_words`, or Keras 1's `nb_words` if given. Raise for any other keyword."""
    translated = translate(where, old_words)
    unknown = sorted(translated.keys() - {"num_words"})
    if unknown:
        raise ArgumentError(f"{where}: unknown argument {unknown[0]!r}; see its docstring.")
    return translated.get("num_words", num_words)
