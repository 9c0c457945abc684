"""Where batches come from: arrays in memory, or a generator.

A feed answers one question, "the batches of one epoch, please", with pairs (number of samples,
arrays for the function). The loops in `training_loop` do not know which kind they have.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kerascope.backend.known_ones import are_known_ones, ones_of
from kerascope.backend.ops.random import fresh_seed
from kerascope.engine.nesting import to_list
from kerascope.errors import ArgumentError, DataError, DtypeError
from kerascope.settings import config

Batch = tuple[int, list[Any]]
USUAL_BATCH_SIZE = 32


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """Return (start, end) of each batch; the last one may be smaller.

    Examples
    --------
    >>> make_batches(50, 32)
    [(0, 32), (32, 50)]
    """
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def batch_shuffle(index_array: np.ndarray, batch_size: int, rng: np.random.Generator) -> np.ndarray:
    """Shuffle whole batches, each of which stays together; a smaller last one stays last."""
    whole = len(index_array) // batch_size * batch_size
    batches = index_array[:whole].reshape(-1, batch_size)
    return np.concatenate([rng.permutation(batches).reshape(-1), index_array[whole:]])


def checked_steps(steps: Any) -> int:
    """Return a number of steps as an int.

    Raises
    ------
    ArgumentError
        It is no whole number above 0.
    """
    if not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ArgumentError(f"steps: {steps!r}; expected a whole number of batches >= 1.")
    return int(steps)


def slice_arrays(arrays: list[Any], start_or_ids: Any, end: int | None = None) -> list[Any]:
    """Return the same rows of each array: `start` to `end`, or a list of ids."""
    if end is not None:
        return [a[start_or_ids:end] for a in arrays]
    return [a[start_or_ids] for a in arrays]


def numbers_of_a_pass(sequence: Any, shuffle: bool) -> list[int]:
    """Return the numbers of a Sequence's batches, each once, in the order of one pass.

    Raises
    ------
    DataError
        There is none: whoever waits for a batch would wait for ever.

    Examples
    --------
    >>> numbers_of_a_pass(["a", "b"], shuffle=False)
    [0, 1]
    """
    order = np.arange(len(sequence))
    if not order.size:
        raise DataError(
            f"the Sequence is empty; expected at least one batch, got a {type(sequence).__name__} "
            "of length 0."
        )
    if shuffle:
        order = np.random.default_rng(fresh_seed()).permutation(order)
    numbers: list[int] = order.tolist()
    return numbers


class ArrayFeed:
    """Batches of arrays that lie in memory (or in a file that can be sliced).

    Parameters
    ----------
    ins : list
        Arrays of equal length: inputs, targets, sample weights. A float at the end is the flag of
        the learning phase, which is handed on whole.
    batch_size : int
    shuffle : {True, False, "batch"}
        Anew for each epoch; "batch" keeps the rows of a batch together, as HDF5 needs it.

    Attributes
    ----------
    first_weight : int
        From which array on they are weights of samples. Most are ones: then known ones are fed in
        their place. What they are shuffled with must not change while there is a feed.

    Raises
    ------
    ArgumentError
        The batch size is no positive whole number, or `shuffle` is something else.
    """

    def __init__(self, ins: list[Any], batch_size: int, shuffle: bool | str = False) -> None:
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ArgumentError(f"batch_size is {batch_size!r}; expected a whole number >= 1.")
        if shuffle not in (True, False, "batch"):
            raise ArgumentError(f"shuffle is {shuffle!r}; expected True, False or 'batch'.")
        self.flags = [ins[-1]] if ins and isinstance(ins[-1], float) else []
        self.arrays = ins[: len(ins) - len(self.flags)]
        self.batch_size = int(batch_size)
        self.shuffle = shuffle
        self.samples = int(self.arrays[0].shape[0])
        self.steps = -(-self.samples // self.batch_size)
        self.first_weight = len(self.arrays)
        self._batches = make_batches(self.samples, self.batch_size)
        self._fetchers: dict[int, list[Callable[[np.ndarray], Any]]] = {}

    @property
    def ins(self) -> list[Any]:
        """All rows of all arrays, and the flag."""
        return self.arrays + self.flags

    def epoch(self, kept: bool = True) -> Iterator[Batch]:
        """Yield (size, arrays) for each batch of one epoch.

        Parameters
        ----------
        kept : bool
            Whether somebody may keep the arrays. If not, those of shuffled rows are buffers, which
            the next batch of the same size fills anew. In order they are views of the data.
        """
        index_array = self._index_array()
        is_shuffled = index_array is not None
        # Where rows come in buffers, one of these holds known ones already.
        ones = self._ones_among_weights(is_shuffled) if kept or not is_shuffled else []
        for start, end in self._batches:
            if index_array is None:
                rows = slice_arrays(self.arrays, start, end)
            else:
                rows = self._shuffled(index_array[start:end], kept)
            for number in ones:
                rows[number] = ones_of(rows[number].shape)
            yield end - start, rows + self.flags

    def _ones_among_weights(self, is_shuffled: bool) -> list[int]:
        """Return the numbers of the arrays whose rows are ones, but not known ones by themselves.

        They are looked at for each epoch, since somebody may have changed them.
        """
        return [
            number
            for number, array in enumerate(self.arrays[self.first_weight :], self.first_weight)
            if (is_shuffled if are_known_ones(array) else _are_ones(array))
        ]

    def _shuffled(self, batch_ids: np.ndarray, kept: bool) -> list[Any]:
        """Return the rows of these numbers of each array."""
        try:
            return slice_arrays(self.arrays, batch_ids) if kept else self._gather(batch_ids)
        except TypeError as error:
            raise TypeError(
                'TypeError while preparing batch. If using HDF5 input data, pass shuffle="batch".'
            ) from error

    def _gather(self, batch_ids: np.ndarray) -> list[Any]:
        """Return these rows of each array: in a buffer, where that can be done."""
        size = len(batch_ids)
        fetchers = self._fetchers.get(size)
        if fetchers is None:
            fetchers = self._fetchers[size] = [
                _fetcher(array, size, may_be_ones=number >= self.first_weight)
                for number, array in enumerate(self.arrays)
            ]
        return [fetch(batch_ids) for fetch in fetchers]

    def _index_array(self) -> np.ndarray | None:
        if not self.shuffle:
            return None
        rng = np.random.default_rng(fresh_seed())
        if self.shuffle == "batch":
            return batch_shuffle(np.arange(self.samples), self.batch_size, rng)
        return rng.permutation(self.samples)


def _are_ones(array: Any) -> bool:
    """Tell whether an array is what `ones_of` would give."""
    is_float = type(array) is np.ndarray and array.dtype == config.floatx
    return is_float and (are_known_ones(array) or bool((array == 1).all()))


def _fetcher(array: Any, size: int, *, may_be_ones: bool) -> Callable[[np.ndarray], Any]:
    """Return a function that gives `size` rows of an array by their numbers."""
    if type(array) is not np.ndarray or array.dtype.hasobject:
        return lambda batch_ids: array[batch_ids]
    if may_be_ones and _are_ones(array):
        ones = ones_of((size, *array.shape[1:]))
        return lambda batch_ids: ones
    room = np.empty((size, *array.shape[1:]), array.dtype)
    # Every number is that of a row; only with "clip" does NumPy write into the buffer at once.
    return lambda batch_ids: array.take(batch_ids, 0, room, "clip")


class StepFeed:
    """The same arrays (or none: the model reads variables) a number of times."""

    samples = None

    def __init__(self, ins: list[Any], steps: int) -> None:
        self.ins = ins
        self.steps = checked_steps(steps)

    def epoch(self, kept: bool = True) -> Iterator[Batch]:
        """Yield the arrays once for each step."""
        size = int(self.ins[0].shape[0]) if self.ins and not isinstance(self.ins[0], float) else 1
        for _ in range(self.steps):
            yield size, self.ins


def iterator_of(source: Any) -> Iterator[Any]:
    """Return what gives one batch after the other.

    Raises
    ------
    DtypeError
        The source cannot do that, as a function that nobody called.
    """
    if hasattr(source, "__next__"):
        iterator: Iterator[Any] = source
        return iterator
    try:
        return iter(source)
    except TypeError:
        remedy = " Call it, if it makes one: generator()." if callable(source) else ""
        raise DtypeError(
            f"the generator is a {type(source).__name__}; expected a generator, an iterator or a "
            f"Sequence.{remedy}"
        ) from None


class SampleCount(int):
    """A number of samples where a number of batches is expected: how Keras 1 measures an epoch."""


class GeneratorFeed:
    """Batches that a generator or a `Sequence` makes.

    An epoch of fewer steps than a Sequence has batches goes on in the next epoch where it ended.

    Parameters
    ----------
    source : generator, iterator or Sequence
        Yields `x`, `(x, y)` or `(x, y, sample_weight)`. A Sequence has a length and can be indexed.
    steps : int, optional
        Batches in an epoch; needed unless the source has a length. A `SampleCount` ends the epoch
        with the batch that reaches so many samples.
    standardize : callable
        Turns what the source yields into the function's arrays.
    shuffle : bool
        Read a Sequence's batches in another order each epoch.

    Raises
    ------
    ArgumentError
        The number of steps is not known.
    """

    def __init__(
        self,
        source: Any,
        steps: int | None,
        standardize: Callable[[Any], list[Any]],
        shuffle: bool = False,
    ) -> None:
        self.source = source
        self.is_sequence = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if steps is None and self.is_sequence:
            steps = len(numbers_of_a_pass(source, shuffle=False))
        if steps is None:
            raise ArgumentError(
                "a generator does not tell how many batches make an epoch; expected "
                "steps_per_epoch=... (or steps=...), or a Sequence, which has a length."
            )
        counted = checked_steps(steps)
        self.samples = counted if isinstance(steps, SampleCount) else None
        self.steps = None if isinstance(steps, SampleCount) else counted
        self.standardize = standardize
        self.shuffle = shuffle
        self._iterator = None if self.is_sequence else iterator_of(source)
        self._left: deque[int] | None = None  # batches left of a pass over a Sequence

    def epoch(self, kept: bool = True) -> Iterator[Batch]:
        """Yield (size, arrays) for each step of one epoch."""
        seen = 0
        for item in self._items():
            ins = self.standardize(item)
            size = int(ins[0].shape[0]) if ins else 1
            yield size, ins
            seen += size
            if self.samples is not None and seen >= self.samples:
                break
        self._end_pass()

    def _steps(self) -> Iterable[int]:
        return itertools.count() if self.steps is None else range(self.steps)

    def _of_steps(self) -> str:
        return "" if self.steps is None else f" of {self.steps}"

    def _batches(self, numbers: Iterator[int]) -> Iterator[Any]:
        """Yield the Sequence's batches of these numbers."""
        return (self.source[number] for number in numbers)

    def _end_pass(self) -> None:
        """Tell a Sequence that each of its batches was read once, if that is so."""
        if self._left is not None and not self._left:
            self._left = None
            if hasattr(self.source, "on_epoch_end"):
                self.source.on_epoch_end()

    def _begin_pass(self) -> None:
        """Note which batches of a Sequence are to be read, in their order."""
        self._left = deque(numbers_of_a_pass(self.source, self.shuffle))

    def _numbered_items(self) -> Iterator[Any]:
        """Yield a Sequence's batches for one epoch, going on where the last epoch ended."""
        wanted = self.steps
        while wanted is None or wanted > 0:
            self._end_pass()
            if self._left is None:
                self._begin_pass()
            assert self._left is not None
            part = list(itertools.islice(self._left, wanted))
            for batch in self._batches(iter(part)):
                self._left.popleft()
                yield batch
            wanted = None if wanted is None else wanted - len(part)

    def _items(self) -> Iterator[Any]:
        if self.is_sequence:
            yield from self._numbered_items()
            return
        assert self._iterator is not None
        for step in self._steps():
            try:
                yield next(self._iterator)
            except StopIteration:
                fewer = f", or steps_per_epoch={step}" if step else ""
                raise DataError(
                    f"the generator ended after {step}{self._of_steps()} batches of the epoch; "
                    f"expected one that goes on for ever, by `while True:`{fewer}."
                ) from None


def split_item(item: Any, *, with_targets: bool) -> tuple[Any, Any, Any]:
    """Take apart what a generator yielded: x, y and sample weights.

    Raises
    ------
    DataError
        It is no tuple `(x, y)` or `(x, y, sample_weight)`.
    """
    if isinstance(item, tuple) and len(item) in (2, 3):
        return item[0], item[1], (item[2] if len(item) == 3 else None)
    if not with_targets:
        return item, None, None
    raise DataError(
        f"generator: expected a tuple (x, y) or (x, y, sample_weight); got {type(item).__name__} "
        f"of length {len(to_list(item))}."
    )


def feed_of(ins: list[Any], batch_size: int | None, steps: int | None, shuffle: bool | str) -> Any:
    """Return a feed of arrays, in batches of 32 unless said otherwise.

    Raises
    ------
    ArgumentError
        There are no arrays (the model reads variables) and the number of steps is not given.
    """
    has_arrays = bool(ins) and not isinstance(ins[0], float)
    if has_arrays and steps is None:
        return ArrayFeed(ins, USUAL_BATCH_SIZE if batch_size is None else batch_size, shuffle)
    if steps is None:
        raise ArgumentError(
            "no arrays tell how many batches there are; expected steps_per_epoch (or steps)."
        )
    return StepFeed(ins, steps)
