"""Feeds: batches from arrays in memory, from generators and Sequences, or from workers.

A feed yields the batches of one epoch as pairs (number of samples, arrays for the function). The
loops in `training_loop` use every kind of feed in the same way. A Sequence returns batches by
number, in an order that is drawn for each pass. An iterator returns only the next batch.

A feed can continue in the middle of an epoch that a feed in another process began. `place` returns
the state for this, such as the seed of the row order, and `go_to` sets it. The loop itself counts
the completed batches of the epoch.

Keras has this in `engine/training_arrays.py` and `training_generator.py`. Lesson: chapter 15.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import operator
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.constants import is_constant_ones, ones_of
from kerascope.backend.ops.random import fresh_seed
from kerascope.engine.arguments import named_arguments
from kerascope.engine.workers import WorkerPool, numbers_of_a_pass
from kerascope.errors import ArgumentError, DataError, DtypeError, SpellingWarning
from kerascope.settings import config
from kerascope.spellings import SAMPLE_COUNTS, dialect_options
from kerascope.user_frames import warn

# --- arrays in memory -----------------------------------------------------------------------------


Batch = tuple[int, list[Any]]
USUAL_BATCH_SIZE = 32
_ROWS_LOOKED_AT = 32


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """Return (start, end) of the rows in each batch; the last batch may be smaller.

    Examples
    --------
    >>> make_batches(50, 32)
    [(0, 32), (32, 50)]
    """
    return [(start, min(size, start + batch_size)) for start in range(0, size, batch_size)]


def batch_shuffle(index_array: np.ndarray, batch_size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the row indices with the batches in a new order; a smaller last batch stays last."""
    whole = len(index_array) // batch_size * batch_size
    batches = index_array[:whole].reshape(-1, batch_size)
    return np.concatenate([rng.permutation(batches).reshape(-1), index_array[whole:]])


def checked_steps(steps: Any) -> int:
    """Return the number of steps as an int. A fraction such as `len(x) / 32` is rounded up.

    Raises
    ------
    ArgumentError
        `steps` is not a finite number > 0.
    """
    is_real = isinstance(steps, (float, np.floating)) and np.isfinite(steps) and steps > 0
    if not is_real and (not isinstance(steps, (int, np.integer)) or steps < 1):
        raise ArgumentError(f"steps: expected a number of batches >= 1, got {steps!r}.")
    return math.ceil(steps)


def slice_arrays(arrays: list[Any], start_or_ids: Any, end: int | None = None) -> list[Any]:
    """Return the same rows of each array, from a start to `end` or at a list of indices."""
    if end is not None:
        return [a[start_or_ids:end] for a in arrays]
    return [a[start_or_ids] for a in arrays]


def checksums(arrays: list[Any]) -> list[int]:
    """Return a checksum of each array, computed from a sample of the rows if the array is long.

    Arrays of equal length are sampled at the same rows. Arrays in a file are read row by row. The
    checksum of an array of objects is 0.

    Examples
    --------
    >>> x = np.arange(6.0)
    >>> checksums([x, x]) == checksums([x, x.copy()]), checksums([x]) == checksums([x[::-1]])
    (True, False)
    """
    return [_checksum(array) for array in arrays]


def _checksum(array: Any) -> int:
    total, length = 0, int(array.shape[0])
    for place in np.unique(np.linspace(0, length - 1, _ROWS_LOOKED_AT).astype(int)):
        row = np.ascontiguousarray(array[int(place)])
        if row.dtype.hasobject:
            return 0
        total = zlib.crc32(row.tobytes(), total)
    return total


class Feed:
    """Base class of feeds, which yield the batches of an epoch and can continue a stopped epoch.

    Attributes
    ----------
    samples, steps : int or None
        The number of samples and of batches in an epoch; None if unknown.
    batch_size : int or None
        Samples in a batch; None if this number is not fixed.
    """

    samples: Any = None
    batch_size: Any = None
    steps: Any = None
    goes_on = False

    def epoch(self, kept: bool = True, done: int = 0) -> Iterator[Batch]:
        """Yield (number of samples, arrays) for each batch of an epoch; skip the first `done`."""
        raise NotImplementedError(f"{type(self).__name__}: write the method epoch.")

    def batches_again(self) -> Callable[[int], list[Any]] | None:
        """Return a function from batch numbers in this epoch to arrays, or None.

        The function can be called at any time. None means that the feed cannot repeat batches, so
        callers must copy the arrays that they need later.
        """
        return None

    def facts(self) -> dict[str, Any]:
        """Return properties of the data that must be the same if another run continues this one."""
        return {"samples": self.samples, "steps": self.steps}

    def place(self) -> dict[str, Any]:
        """Return the state from which a feed in another process can continue, as plain data."""
        return {}

    def go_to(self, place: dict[str, Any]) -> None:
        """Set the state that `place()` of another process's feed returned."""


class ArrayFeed(Feed):
    """A feed with the batches of arrays that are in memory, or in a file that can be sliced.

    Parameters
    ----------
    ins : list
        Arrays of equal length: inputs, targets, sample weights. A float at the end is the learning
        phase and is passed with each batch.
    batch_size : int
    shuffle : {True, False, "batch"}
        Whether each pass has a new order. "batch" keeps the rows of a batch together, for HDF5.
    steps : int, optional
        Batches in an epoch; by default all batches of the arrays.

    Attributes
    ----------
    goes_on : bool
        Whether an epoch continues where the last one ended, if an epoch has fewer steps than the
        arrays have batches. Otherwise every epoch begins with the first batch.
    first_weight : int
        The index of the first array of sample weights. Weights that are all 1 are replaced by
        shared arrays of ones. The weights must not change while the feed is in use.

    Raises
    ------
    ArgumentError
        The batch size is not a positive whole number, or `shuffle` is none of the three values.
    """

    def __init__(
        self, ins: list[Any], batch_size: int, shuffle: bool | str = False, steps: int | None = None
    ) -> None:
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ArgumentError(f"batch_size: expected a whole number >= 1, got {batch_size!r}.")
        if shuffle not in (True, False, "batch"):
            raise ArgumentError(f"shuffle: expected True, False or 'batch', got {shuffle!r}.")
        self.flags = [ins[-1]] if ins and isinstance(ins[-1], float) else []
        self.arrays = ins[: len(ins) - len(self.flags)]
        self.batch_size = int(batch_size)
        self.shuffle = shuffle
        self._rows = int(self.arrays[0].shape[0])
        self._batches = make_batches(self._rows, self.batch_size)
        self._begins = 0  # the number of this epoch's first batch
        self.steps = len(self._batches) if steps is None else checked_steps(steps)
        self.samples = min(self._rows, self.steps * self.batch_size)
        self.first_weight = len(self.arrays)
        self._fetchers: dict[int, list[Callable[[np.ndarray], Any]]] = {}
        self._order_seed: int | None = None  # the seed of this epoch's order

    def facts(self) -> dict[str, Any]:
        """Return properties of the arrays that must be the same if another run continues this one.

        Examples are the number of samples and the batch size.
        """
        shapes = [[str(array.dtype), *map(int, array.shape[1:])] for array in self.arrays]
        sizes = {"samples": self.samples, "batch_size": self.batch_size}
        kinds = {"shuffle": self.shuffle, "arrays": shapes}
        return {**sizes, **kinds, "checksum of some rows of array": checksums(self.arrays)}

    def place(self) -> dict[str, Any]:
        """Return the seed of this pass's row order, and the number of this epoch's first batch."""
        return {"order_seed": self._order_seed, "begins": self._begins}

    def go_to(self, place: dict[str, Any]) -> None:
        """Set the row order and first batch that `place()` of another process's feed returned."""
        seed = place["order_seed"]
        self._order_seed = None if seed is None else operator.index(seed)
        self._begins = operator.index(place.get("begins", 0))

    @property
    def ins(self) -> list[Any]:
        """The complete arrays, followed by the learning phase if it was passed."""
        return self.arrays + self.flags

    def epoch(self, kept: bool = True, done: int = 0) -> Iterator[Batch]:
        """Yield (number of samples, arrays) for each batch of one epoch.

        Parameters
        ----------
        kept : bool
            Whether the caller may keep the arrays. If not, shuffled rows are in buffers, which the
            next batch of the same size overwrites. Rows that are not shuffled are views of the
            data.
        done : int
            Number of batches to skip because they are done already, in the order set by `go_to`.
        """
        if self.shuffle and not done and not self._begins:
            self._order_seed = fresh_seed()
        index_array = _order(self.shuffle, self._rows, self.batch_size, self._order_seed)
        is_shuffled = index_array is not None
        # For rows in buffers, `_fetcher` returns the shared ones.
        ones = self._ones_among_weights(is_shuffled) if kept or not is_shuffled else []
        batches = self._batches[self._begins : self._begins + self.steps]
        for start, end in batches[done:]:
            if index_array is None:
                rows = slice_arrays(self.arrays, start, end)
            else:
                rows = self._shuffled(index_array[start:end], kept)
            for number in ones:
                rows[number] = ones_of(rows[number].shape)
            yield end - start, rows + self.flags
        if len(batches) < self.steps:
            warn(
                f"The arrays contain {len(self._batches)} batches, and the epoch of {self.steps} "
                f"ended after {len(batches)}, as in Keras 3. Leave out steps_per_epoch (or steps)."
            )
        if self.goes_on:
            self._begins = (self._begins + len(batches)) % len(self._batches)

    def batches_again(self) -> Callable[[int], list[Any]] | None:
        """Return a function from batch numbers to arrays; None if an array is not in memory."""
        if any(type(array) is not np.ndarray for array in self.arrays):
            return None
        order = copy(self)  # a feed that keeps the seed of this epoch
        order._fetchers = {}
        return order._batch

    def samples_of(self, number: int) -> np.ndarray:
        """Return the row indices of the batch with this number in the current epoch."""
        start, end = self._batches[self._begins + number]
        order = _order_again(self.shuffle, self._rows, self.batch_size, self._order_seed)
        return np.arange(start, end) if order is None else order[start:end]

    def _batch(self, number: int) -> list[Any]:
        """Return the arrays of a batch, by its number in this epoch, and the learning phase."""
        start, end = self._batches[self._begins + number]
        order = _order_again(self.shuffle, self._rows, self.batch_size, self._order_seed)
        ids = slice(start, end) if order is None else order[start:end]
        rows = [array[ids] for array in self.arrays]
        for place in self._ones_among_weights(order is not None):
            rows[place] = ones_of(rows[place].shape)
        return rows + self.flags

    def _ones_among_weights(self, is_shuffled: bool) -> list[int]:
        """Return the indices of sample weight arrays that shared arrays of ones replace.

        These arrays contain only ones. They are checked in each epoch, because the caller may have
        changed them between epochs.
        """
        return [
            number
            for number, array in enumerate(self.arrays[self.first_weight :], self.first_weight)
            if (is_shuffled if is_constant_ones(array) else _are_ones(array))
        ]

    def _shuffled(self, batch_ids: np.ndarray, kept: bool) -> list[Any]:
        """Return the rows of each array at these indices, in reused buffers if `kept` is False."""
        try:
            return slice_arrays(self.arrays, batch_ids) if kept else self._gather(batch_ids)
        except TypeError as error:
            raise TypeError(
                'TypeError while preparing batch. If using HDF5 input data, pass shuffle="batch".'
            ) from error

    def _gather(self, batch_ids: np.ndarray) -> list[Any]:
        """Return the rows of each array at these indices, in reused buffers if possible."""
        size = len(batch_ids)
        fetchers = self._fetchers.get(size)
        if fetchers is None:
            fetchers = self._fetchers[size] = [
                _fetcher(array, size, may_be_ones=number >= self.first_weight)
                for number, array in enumerate(self.arrays)
            ]
        return [fetch(batch_ids) for fetch in fetchers]


def _order(shuffle: bool | str, rows: int, batch_size: int, seed: Any) -> np.ndarray | None:
    """Return the indices of all rows in the order of an epoch; None if they are not shuffled."""
    if not shuffle:
        return None
    rng = np.random.default_rng(seed)
    if shuffle == "batch":
        return batch_shuffle(np.arange(rows), batch_size, rng)
    return rng.permutation(rows)


_order_again = functools.lru_cache(maxsize=1)(_order)  # for repeated requests within one epoch


def _are_ones(array: Any) -> bool:
    """Return whether this is a NumPy array of type `floatx()` that contains only ones."""
    is_float = type(array) is np.ndarray and array.dtype == config.floatx
    return is_float and (is_constant_ones(array) or bool((array == 1).all()))


def _fetcher(array: Any, size: int, *, may_be_ones: bool) -> Callable[[np.ndarray], Any]:
    """Return a function that maps `size` row indices to these rows of an array.

    Rows of an array in memory are copied into a buffer, which the next call overwrites.
    """
    if type(array) is not np.ndarray or array.dtype.hasobject:
        return lambda batch_ids: array[batch_ids]
    if may_be_ones and _are_ones(array):
        ones = ones_of((size, *array.shape[1:]))
        return lambda batch_ids: ones
    room = np.empty((size, *array.shape[1:]), array.dtype)
    # All indices are valid; NumPy writes directly into the buffer only in mode "clip".
    return lambda batch_ids: array.take(batch_ids, 0, room, "clip")


class StepFeed(Feed):
    """A feed with the same arrays in each step, or no arrays if the model reads only variables."""

    def __init__(self, ins: list[Any], steps: int) -> None:
        self.ins = ins
        self.steps = checked_steps(steps)

    def facts(self) -> dict[str, Any]:
        """Return the number of steps and the arrays' checksums.

        They must be the same if another run continues this one.
        """
        arrays = [array for array in self.ins if not isinstance(array, float)]
        return {**super().facts(), "checksum of some rows of array": checksums(arrays)}

    def epoch(self, kept: bool = True, done: int = 0) -> Iterator[Batch]:
        """Yield (number of samples, arrays), the same arrays for each step."""
        size = int(self.ins[0].shape[0]) if self.ins and not isinstance(self.ins[0], float) else 1
        for _ in range(done, self.steps):
            yield size, self.ins

    def batches_again(self) -> Callable[[int], list[Any]] | None:
        """Return a function that returns the feed's arrays for every batch number."""
        return lambda number: self.ins


def feed_of(ins: list[Any], batch_size: int | None, steps: int | None, shuffle: bool | str) -> Any:
    """Return a feed of arrays.

    Without `steps`, it has batches of `batch_size` rows, by default 32. With `steps`, each step
    uses all rows. In dialect "3" each step uses one batch instead, and by default the batches are
    so large that the steps together contain all rows.

    Raises
    ------
    ArgumentError
        There are no arrays (the model reads variables) and no number of steps is given. Or both
        steps and batch size are given, in another dialect than "3".
    """
    has_arrays = bool(ins) and not isinstance(ins[0], float)
    if has_arrays and (steps is None or dialect_options().steps_are_batches):
        if batch_size is None:
            samples = int(ins[0].shape[0])
            batch_size = USUAL_BATCH_SIZE if steps is None else -(-samples // checked_steps(steps))
        return ArrayFeed(ins, batch_size, shuffle, steps)
    if has_arrays and batch_size is not None:
        raise ArgumentError(
            f"Expected batch_size or steps, got batch_size={batch_size!r} and steps={steps!r}: "
            "each step uses all of the arrays. For batches leave out steps_per_epoch (or steps)."
        )
    if steps is None:
        raise ArgumentError(
            "There are no arrays to count batches of. Pass steps_per_epoch (or steps)."
        )
    return StepFeed(ins, steps)


# --- generators, iterators and Sequences ----------------------------------------------------------


def iterator_of(source: Any) -> Iterator[Any]:
    """Return an iterator over the batches of a source.

    Raises
    ------
    DtypeError
        The source is not iterable, for example a generator function that was not called.
    """
    if hasattr(source, "__next__"):
        return source
    try:
        return iter(source)
    except TypeError:
        remedy = " Call it: generator()." if callable(source) else ""
        raise DtypeError(
            f"Expected a generator, an iterator or a Sequence, got {type(source).__name__}.{remedy}"
        ) from None


class WithFirst:
    """An iterator over all batches of a source whose first batch was already read.

    Parameters
    ----------
    first : object
        The first batch.
    rest : iterator
        The source of the batches after the first.
    """

    def __init__(self, first: Any, rest: Iterator[Any]) -> None:
        self.rest = rest
        self._waiting = [first]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._waiting.pop() if self._waiting else next(self.rest)


def read_first(source: Any) -> tuple[Any, Any]:
    """Read the first batch. Return the batch, and a source that still yields all batches.

    Raises
    ------
    DataError
        The source has no batches.
    """
    if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        return source[numbers_of_a_pass(source, shuffle=False)[0]], source
    batches = iterator_of(source)
    try:
        first = next(batches)
    except StopIteration:
        message = "generator: expected at least one batch, got none."
        raise DataError(message) from None
    return first, WithFirst(first, batches)


class SampleCount(int):
    """The length of an epoch as a number of samples, as in Keras 1, and not of batches."""


class GeneratorFeed(Feed):
    """A feed with the batches of a generator or a `Sequence`.

    If an epoch has fewer steps than a Sequence has batches, the next epoch continues with the batch
    after the last one that was read.

    Parameters
    ----------
    source : generator, iterator or Sequence
        Yields `x`, `(x, y)` or `(x, y, sample_weight)`. A Sequence has a length and can be indexed.
    steps : int, optional
        Batches in an epoch; needed unless the source has a length. A `SampleCount` ends the epoch
        with the batch that reaches this number of samples. In dialect "3" `steps` may be missing.
        Then an epoch reads a generator to its end, and there can be only one epoch.
    standardize : callable
        Converts an item of the source to the function's arrays.
    shuffle : bool
        Whether each epoch reads a Sequence's batches in a new order.

    Attributes
    ----------
    source : Sequence or iterator
        The source of the batches.
    is_sequence : bool
        Whether the source is a `Sequence`, which returns batches by number.
    has_workers : bool
        Whether workers make batches in advance.

    Raises
    ------
    ArgumentError
        `steps` is missing, the source has no length, and the dialect is not "3".
    """

    has_workers = False

    def __init__(
        self,
        source: Any,
        steps: int | None,
        standardize: Callable[[Any], list[Any]],
        shuffle: bool = False,
    ) -> None:
        self.is_sequence = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if steps is None and self.is_sequence:
            steps = len(numbers_of_a_pass(source, shuffle=False))
        self._is_read_once = steps is None and dialect_options().steps_are_batches
        if steps is None and not self._is_read_once:
            raise ArgumentError(
                "A generator has no length, so the number of batches in an epoch is unknown. Pass "
                "steps_per_epoch=... (or steps=...), or use a Sequence, which has a length."
            )
        counted = None if steps is None else checked_steps(steps)
        self.samples = counted if isinstance(steps, SampleCount) else None
        self.steps = None if isinstance(steps, SampleCount) else counted
        self.standardize = standardize
        self.shuffle = shuffle
        self._iterator = None if self.is_sequence else iterator_of(source)
        self.source: Any = source if self.is_sequence else self._iterator
        if isinstance(source, WithFirst):
            self.source = source.rest
        self._left: deque[int] | None = None  # remaining batches of a pass over a Sequence
        self._seen = 0  # samples in this epoch so far
        self._drawn = 0  # batches read from an iterator in all epochs

    def facts(self) -> dict[str, Any]:
        """Return the source's length and settings, which a continued run must have too."""
        length = len(self.source) if self.is_sequence else None
        kind = {"from": type(self.source).__name__, "length": length, "shuffle": self.shuffle}
        return {**super().facts(), **kind}

    def place(self) -> dict[str, Any]:
        """Return the state from which a feed in another process can continue, as plain data.

        It contains the numbers of a Sequence's batches that remain in this pass, the number of
        samples read in this epoch, and the number of batches read from an iterator in all epochs.
        """
        left = None if self._left is None else list(self._left)
        return {"left": left, "seen": self._seen, "drawn": self._drawn}

    def go_to(self, place: dict[str, Any]) -> None:
        """Set the state that `place()` of another process's feed returned; read no batches yet."""
        if isinstance(self._iterator, WithFirst):
            self._iterator = iterator_of(self.source)
        left = place["left"]
        self._left = None if left is None else deque(map(operator.index, left))
        self._seen, self._drawn = place["seen"], place["drawn"]

    @property
    def is_fresh(self) -> bool:
        """Whether the position in the source is known.

        It is unknown if items were read from a generator, except the first batch (`WithFirst`).
        """
        is_known = isinstance(self._iterator, WithFirst) or not inspect.isgenerator(self.source)
        return is_known or inspect.getgeneratorstate(self.source) == inspect.GEN_CREATED

    def read_forward(self, place: dict[str, Any]) -> None:
        """Skip the batches of an iterator that a stopped run in another process has already read.

        Raises
        ------
        DataError
            The iterator ends before these batches are skipped.
        """
        assert self._iterator is not None
        wanted = place["drawn"]
        for given in range(wanted):
            try:
                next(self._iterator)
            except StopIteration:
                raise DataError(
                    f"generator: expected the {wanted} batches of the interrupted run, got {given}."
                ) from None
        self._seen, self._drawn = place["seen"], wanted

    def epoch(self, kept: bool = True, done: int = 0) -> Iterator[Batch]:
        """Yield (number of samples, arrays) for each step of one epoch."""
        if not done:
            self._seen = 0
        items = () if done and self._is_over() else self._items(done)
        for item in items:
            ins = self.standardize(item)
            size = int(ins[0].shape[0]) if ins else 1
            self._seen += size
            yield size, ins
            if self._is_over():
                break
        self._end_pass()

    def _is_over(self) -> bool:
        """Return whether the epoch has all samples of its `SampleCount`; False without one."""
        return self.samples is not None and self._seen >= self.samples

    def _steps(self, done: int) -> Iterable[int]:
        return itertools.count(done) if self.steps is None else range(done, self.steps)

    def _of_steps(self) -> str:
        return "" if self.steps is None else f" of {self.steps}"

    def _batches(self, numbers: Iterator[int]) -> Iterator[Any]:
        """Return an iterator over the Sequence's batches with these numbers."""
        return (self.source[number] for number in numbers)

    def _end_pass(self) -> None:
        """Call a Sequence's `on_epoch_end` if each of its batches was read once in this pass."""
        if self._left is not None and not self._left:
            self._left = None
            if hasattr(self.source, "on_epoch_end"):
                self.source.on_epoch_end()

    def _begin_pass(self) -> None:
        """Call a Sequence's `on_epoch_begin`, and draw the order of its batches."""
        if hasattr(self.source, "on_epoch_begin"):
            self.source.on_epoch_begin()
        self._left = deque(numbers_of_a_pass(self.source, self.shuffle))

    def _numbered_items(self, done: int) -> Iterator[Any]:
        """Yield a Sequence's batches for one epoch, beginning where the last epoch ended."""
        wanted = None if self.steps is None else self.steps - done
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

    def _items(self, done: int) -> Iterator[Any]:
        if self.is_sequence:
            yield from self._numbered_items(done)
            return
        assert self._iterator is not None
        for step in self._steps(done):
            try:
                item = next(self._iterator)
            except StopIteration:
                if self._is_read_once and step:
                    return
                if self._is_read_once:
                    raise DataError(
                        f"The generator ended after {self._drawn} batches and can be read only "
                        f"once. For several epochs pass a Sequence, or an endless generator and "
                        f"steps_per_epoch={self._drawn or '...'}."
                    ) from None
                fewer = f", or pass steps_per_epoch={step}" if step else ""
                raise DataError(
                    f"The generator ended after {step}{self._of_steps()} batches of the epoch. "
                    f"Make it endless with `while True:`{fewer}."
                ) from None
            self._drawn += 1
            yield item


def split_item(item: Any, *, with_targets: bool) -> tuple[Any, Any, Any]:
    """Return x, y and sample weights of a generator's item; None for each that it lacks.

    If `with_targets` is False, an item that is not a tuple is x.

    Raises
    ------
    DataError
        The item must have targets, and is not a tuple such as `(x, y)` or `(x, y, sample_weight)`.
    """
    if isinstance(item, tuple) and len(item) in (1, 2, 3):
        x, y, sample_weight = (*item, None, None)[:3]
        return x, y, sample_weight
    if not with_targets:
        return item, None, None
    size = f" of length {len(item)}" if isinstance(item, (tuple, list)) else ""
    raise DataError(
        f"generator: expected a tuple (x, y) or (x, y, sample_weight), got "
        f"{type(item).__name__}{size}."
    )


# --- batches made by workers ----------------------------------------------------------------------


class WorkerOptions(NamedTuple):
    """Keras's three arguments for the threads or processes that make batches.

    Attributes
    ----------
    max_queue_size : int
        Number of batches that are made in advance.
    workers : int or None
        Number of workers. With 0, the loop makes the batches itself. None means 1 with
        `use_multiprocessing`, otherwise 0.
    use_multiprocessing : bool
        Whether workers are processes; otherwise threads.
    """

    max_queue_size: int = 10
    workers: int | None = None
    use_multiprocessing: bool = False

    @property
    def number(self) -> int:
        """The number of workers.

        Raises
        ------
        ArgumentError
            `workers` is negative, or not a whole number.
        """
        number = int(self.use_multiprocessing) if self.workers is None else self.workers
        if not isinstance(number, (int, np.integer)) or number < 0:
            raise ArgumentError(f"workers: expected a whole number >= 0, got {number!r}.")
        return int(number)


class WorkerFeed(GeneratorFeed):
    """A `GeneratorFeed` whose workers make batches in advance, in the order of the source."""

    has_workers = True

    def __init__(
        self,
        source: Any,
        steps: int | None,
        standardize: Callable[[Any], list[Any]],
        shuffle: bool,
        workers: WorkerOptions,
    ) -> None:
        super().__init__(source, steps, standardize, shuffle)
        batches = source if self.is_sequence else self._iterator
        self._pool = WorkerPool(
            batches, workers.number, workers.max_queue_size, workers.use_multiprocessing
        )
        if not self.is_sequence:
            self._iterator = self._pool.made(itertools.count())

    def _begin_pass(self) -> None:
        super()._begin_pass()
        self._pool.renew()  # `on_epoch_end` or a callback may have changed the Sequence

    def _batches(self, numbers: Iterator[int]) -> Iterator[Any]:
        return self._pool.made(numbers)

    def go_to(self, place: dict[str, Any]) -> None:
        """Set the state that `place()` of another process's feed returned, and renew the workers.

        See `WorkerPool.renew`.
        """
        super().go_to(place)
        self._pool.renew()

    def end(self) -> None:
        """End the workers."""
        self._pool.end()


def _options_for(source: Any, workers: WorkerOptions) -> WorkerOptions:
    """Return the worker options that were passed to `fit`, or otherwise the Sequence's own."""
    number = getattr(source, "workers", 1)
    processes = bool(getattr(source, "use_multiprocessing", False))
    if workers != WorkerOptions() or (number == 1 and not processes):
        return workers
    return WorkerOptions(
        getattr(source, "max_queue_size", workers.max_queue_size), number, processes
    )


@contextmanager
def generator_feed(
    source: Any,
    steps: int | None,
    standardize: Callable[[Any], list[Any]],
    shuffle: bool,
    workers: WorkerOptions,
) -> Iterator[GeneratorFeed]:
    """Inside the `with` block, provide a feed of a generator or Sequence; then end its workers."""
    workers = _options_for(source, workers)
    if not workers.number:
        yield GeneratorFeed(source, steps, standardize, shuffle)
        return
    feed = WorkerFeed(source, steps, standardize, shuffle, workers)
    try:
        yield feed
    finally:
        feed.end()


def makes_batches(x: Any) -> bool:
    """Return whether `x` is a generator or a `Sequence` of batches, not data such as arrays."""
    if type(x) is np.ndarray:  # the usual case, checked first because it is fast
        return False
    is_sequence = all(hasattr(x, name) for name in ("__getitem__", "__len__", "on_epoch_end"))
    return inspect.isgenerator(x) or hasattr(x, "__next__") or is_sequence


def generator_arguments(
    method: str, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], WorkerOptions]:
    """Return a method's arguments by Keras 2's names, and the options for its workers."""
    counts = {old: kwargs.pop(old) for old in SAMPLE_COUNTS if old in kwargs}
    given = named_arguments(method, names, args, kwargs, method)
    if dialect_options().counts_samples:
        counts |= {
            old: given[SAMPLE_COUNTS[old]]
            for old in SAMPLE_COUNTS
            if SAMPLE_COUNTS[old] in names[: len(args)] and given[SAMPLE_COUNTS[old]] is not None
        }
    for old, count in counts.items():
        new = SAMPLE_COUNTS[old]
        warn(f"{method}: {old!r} counts samples, but {new!r} counts batches.", SpellingWarning)
        given[new] = SampleCount(count)
    return given, WorkerOptions(
        **{name: given.pop(name) for name in WorkerOptions._fields if name in given}
    )
