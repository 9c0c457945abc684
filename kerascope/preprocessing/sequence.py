"""Pad lists to arrays, make word pairs, and make batches of windows of a time series."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence as ListLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kerascope.backend.ops.windows import is_whole
from kerascope.errors import ArgumentError, ConfigError, DataError
from kerascope.utils.data_utils import Sequence

__all__ = [
    "TimeseriesGenerator",
    "make_sampling_table",
    "pad_sequences",
    "skipgrams",
    "timeseries_generator_from_json",
]


# --- padding --------------------------------------------------------------------------------------


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: DTypeLike = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Pad or truncate lists to one length; return them in one array.

    Parameters
    ----------
    sequences : list of list
        Lists of any lengths. The elements are numbers, or arrays of the same shape.
    maxlen : int, optional
        The length of all results. Default: the length of the longest list.
    dtype : dtype
        Dtype of the result.
    padding : {"pre", "post"}
        Whether to pad a short list at the start or at the end.
    truncating : {"pre", "post"}
        Whether to cut a long list at the start or at the end.
    value : float or str
        The padding value.

    Returns
    -------
    ndarray, shape (len(sequences), maxlen, ...)

    Raises
    ------
    DataError
        `sequences` is not a list of lists, the elements have different shapes, or they cannot be
        converted to `dtype`.
    ArgumentError
        `padding`, `truncating` or `maxlen` is invalid, or `value` is text and `dtype` is not a
        dtype of text.

    Examples
    --------
    >>> pad_sequences([[1, 2, 3], [4]], maxlen=2)
    array([[2, 3],
           [0, 4]], dtype=int32)
    >>> pad_sequences([[1, 2, 3], [4]], padding="post")
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)
    """
    _check_ends(padding, truncating)
    lists = _checked_lists(sequences)
    if isinstance(value, str) and np.dtype(dtype).kind not in "OSU":
        raise ArgumentError(
            f"pad_sequences: expected a dtype of text for value {value!r}, got {np.dtype(dtype)}. "
            f"Give dtype=object."
        )
    length = max(map(len, lists), default=0) if maxlen is None else maxlen
    if not is_whole(length, 0):
        raise ArgumentError(f"pad_sequences: expected maxlen >= 0 (int), got {maxlen!r}.")
    length = int(length)
    arrays = [
        _as_array(_shortened(items, length, truncating), dtype, index)
        for index, items in enumerate(lists)
    ]
    shape = _common_shape([array for array in arrays if len(array)])
    padded = np.full((len(lists), length, *shape), value, dtype=dtype)
    for row, array in zip(padded, arrays, strict=True):
        if not len(array):
            continue
        if padding == "post":
            row[: len(array)] = array
        else:
            row[-len(array) :] = array
    return padded


def _check_ends(padding: str, truncating: str) -> None:
    for name, end in (("truncating", truncating), ("padding", padding)):
        if end not in ("pre", "post"):
            raise ArgumentError(f"pad_sequences: expected {name} 'pre' or 'post', got {end!r}.")


def _checked_lists(sequences: Any) -> list[Any]:
    if not hasattr(sequences, "__len__") or isinstance(sequences, str):
        raise DataError(f"pad_sequences: expected a list of lists, got {type(sequences).__name__}.")
    lists = list(sequences)
    for index, items in enumerate(lists):
        if not hasattr(items, "__len__") or isinstance(items, str):
            raise DataError(
                f"pad_sequences: sequences[{index}]: expected a list of numbers, got {items!r}. "
                "Put a single sequence into a list: [sequence]."
            )
    return lists


def _shortened(items: Any, maxlen: int, truncating: str) -> Any:
    if truncating == "post":
        return items[:maxlen]
    return items[max(len(items) - maxlen, 0) :]


def _as_array(items: Any, dtype: DTypeLike, index: int) -> np.ndarray:
    try:
        return np.asarray(items, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"pad_sequences: sequences[{index}] cannot be an array of {np.dtype(dtype)}: {error}. "
            "Convert words to numbers (see Tokenizer) or give dtype=object. For large numbers give "
            "another dtype."
        ) from error


def _common_shape(arrays: list[np.ndarray]) -> tuple[int, ...]:
    shape = arrays[0].shape[1:] if arrays else ()
    for array in arrays:
        if array.shape[1:] != shape:
            raise DataError(
                f"pad_sequences: expected elements of shape {shape}, as in the first list, "
                f"got {array.shape[1:]}."
            )
    return shape


def _remove_long_seq(maxlen: int, seq: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """Return the sequences shorter than `maxlen`, and their labels."""
    kept = [(items, mark) for items, mark in zip(seq, label, strict=False) if len(items) < maxlen]
    return [items for items, _ in kept], [mark for _, mark in kept]


# --- pairs of words -------------------------------------------------------------------------------

_EULER_GAMMA = 0.577


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray:
    r"""Return the probability to keep a word in `skipgrams`, for each frequency rank.

    Frequent words have small probabilities. The frequencies are not counted, but assumed to follow
    Zipf's law.

    Parameters
    ----------
    size : int
        Number of words.
    sampling_factor : float
        The factor of word2vec. A larger factor keeps more words.

    Returns
    -------
    ndarray, shape (size,), float64
        Element i is the probability of the i-th most frequent word.

    Notes
    -----
    .. math::

        \frac1{f(r)} \approx r (\ln r + \gamma) + \frac12 - \frac1{12 r}, \qquad
        p(r) = \min(1, \sqrt{\text{sampling\_factor} / f(r)})

    Examples
    --------
    >>> make_sampling_table(3).round(5)
    array([0.00315, 0.00315, 0.00548])
    """
    rank = np.arange(size, dtype=np.float64)
    rank[:1] = 1
    inverse_frequency = rank * (np.log(rank) + _EULER_GAMMA) + 0.5 - 1 / (12 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * inverse_frequency))


def skipgrams(
    sequence: ListLike[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Return pairs of neighboring words, and pairs of random words as negative samples.

    Parameters
    ----------
    sequence : list of int
        A text as word numbers; 0 is skipped.
    vocabulary_size : int
        One more than the largest word number.
    window_size : int
        Number of neighbors on each side of a word.
    negative_samples : float
        Number of random pairs for each pair of neighbors; 0 for none.
    shuffle : bool
        Whether to shuffle the pairs.
    categorical : bool
        Whether labels are [0, 1] and [1, 0] instead of 1 and 0.
    sampling_table : array_like, shape (vocabulary_size,), optional
        Probability to use a word; see `make_sampling_table`.
    seed : int, optional
        Makes the result repeatable. By default the seed is drawn from Python's `random`.

    Returns
    -------
    couples : list of [word, other]
    labels : list
        1 if `other` is a neighbor of the word, 0 if it is random.

    Examples
    --------
    >>> skipgrams([1, 2, 3], 4, window_size=1, negative_samples=0, shuffle=False)
    ([[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1])
    """
    generator = random.Random(random.randint(0, 10**7) if seed is None else seed)
    couples: list[list[int]] = []
    for place, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < generator.random():
            continue
        start, end = max(0, place - window_size), place + window_size + 1
        neighbours = [*sequence[start:place], *sequence[place + 1 : end]]
        couples += [[word, other] for other in neighbours if other]
    near, far = ([0, 1], [1, 0]) if categorical else (1, 0)
    count = int(len(couples) * negative_samples)
    words = [word for word, _ in couples]
    generator.shuffle(words)
    drawn = [
        [words[index % len(words)], generator.randint(1, vocabulary_size - 1)]
        for index in range(count)
    ]
    labels: list[Any] = [near] * len(couples) + [far] * count
    couples += drawn
    if shuffle:
        order = list(range(len(couples)))
        generator.shuffle(order)
        couples, labels = [couples[i] for i in order], [labels[i] for i in order]
    return couples, labels


# --- windows of a time series ---------------------------------------------------------------------


class TimeseriesGenerator(Sequence):
    """Batches of windows of a time series, each with the target at the next time step.

    Parameters
    ----------
    data : array_like, shape (time, ...)
        The series.
    targets : array_like, shape (time, ...)
        `targets[t]` is the target of the window that ends at step `t - 1`.
    length : int
        Number of time steps in a window.
    sampling_rate : int
        Use only every `sampling_rate`-th step of a window.
    stride : int
        Number of steps between two windows.
    start_index, end_index : int, optional
        The first and the last time step to use.
    shuffle : bool
        Whether to choose windows at random, by NumPy's global generator, instead of in order.
    reverse : bool
        Whether to reverse the time in each window.
    batch_size : int
        Number of windows in a batch; the last batch may have fewer.

    Raises
    ------
    DataError
        `data` and `targets` have different lengths.
    ArgumentError
        No window fits, or an index is outside of the series.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.arange(6)
    >>> batches = TimeseriesGenerator(series, series, length=3, batch_size=2)
    >>> len(batches)
    2
    >>> x, y = batches[0]
    >>> x.tolist(), y.tolist()
    ([[0, 1, 2], [1, 2, 3]], [3, 4])
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise DataError(
                f"TimeseriesGenerator: expected {len(targets)} steps of data, as many as targets, "
                f"got {len(data)}."
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        self._check()

    def _check(self) -> None:
        for name in ("length", "sampling_rate", "stride", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ArgumentError(
                    f"TimeseriesGenerator: expected {name} >= 1 (int), got {value!r}."
                )
        first = self.start_index - self.length
        if first < 0 or self.end_index >= len(self.data):
            raise ArgumentError(
                f"TimeseriesGenerator: expected steps from 0 to {len(self.data) - 1}, "
                f"got start_index {first} and end_index {self.end_index}."
            )
        if self.start_index > self.end_index:
            raise ArgumentError(
                f"TimeseriesGenerator: expected start_index + length <= end_index, "
                f"got {self.start_index} > {self.end_index}. Give a smaller length."
            )

    def __len__(self) -> int:
        windows = self.end_index - self.start_index + 1
        return -(-windows // (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a batch: windows (batch, length / sampling_rate, ...) and their targets."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"Timeseries: expected a batch < {len(self)}, got {index}.")
        ends = self._window_ends(index % len(self))
        windows = np.array([self._window(end) for end in ends])
        targets = np.array([self.targets[end] for end in ends])
        return (windows[:, ::-1] if self.reverse else windows), targets

    def _window_ends(self, index: int) -> list[int]:
        """Return, for each window of a batch, the index of the time step after the window."""
        if self.shuffle:
            drawn = np.random.randint(  # noqa: NPY002 (the generator that scripts seed)
                self.start_index, self.end_index + 1, size=self.batch_size
            )
            return [int(end) for end in drawn]
        first = self.start_index + self.batch_size * self.stride * index
        stop = min(first + self.batch_size * self.stride, self.end_index + 1)
        return list(range(first, stop, self.stride))

    def _window(self, end: int) -> Any:
        return self.data[end - self.length : end : self.sampling_rate]

    def get_config(self) -> dict[str, Any]:
        """Return the arguments as a dict for JSON, with the series as JSON text.

        Raises
        ------
        ConfigError
            The series contains values that JSON cannot store.
        """
        return {
            "data": _as_json("data", self.data),
            "targets": _as_json("targets", self.targets),
            "length": self.length,
            "sampling_rate": self.sampling_rate,
            "stride": self.stride,
            "start_index": self.start_index - self.length,
            "end_index": self.end_index,
            "shuffle": self.shuffle,
            "reverse": self.reverse,
            "batch_size": self.batch_size,
        }

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON; `timeseries_generator_from_json` reads it."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def _as_json(name: str, values: Any) -> str:
    try:
        return json.dumps(np.asarray(values).tolist())
    except TypeError as error:
        raise ConfigError(f"TimeseriesGenerator: {name} cannot be written as JSON: {error}.") from (
            error
        )


def timeseries_generator_from_json(json_string: str) -> TimeseriesGenerator:
    """Return the generator from the JSON that `TimeseriesGenerator.to_json` returned.

    Raises
    ------
    ConfigError
        The JSON does not describe a generator.

    Examples
    --------
    >>> made = TimeseriesGenerator([1, 2, 3], [1, 2, 3], length=2)
    >>> timeseries_generator_from_json(made.to_json())[0][0].tolist()
    [[1, 2]]
    """
    try:
        config = dict(json.loads(json_string)["config"])
        data = np.array(json.loads(config.pop("data")))
        targets = np.array(json.loads(config.pop("targets")))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"timeseries_generator_from_json: expected the JSON of TimeseriesGenerator.to_json, "
            f"got other text ({type(error).__name__}: {error})."
        ) from error
    return TimeseriesGenerator(data, targets, **config)
