"""Batches that a generator, an iterator or a `Sequence` makes.

A Sequence is asked for batches by their numbers, in an order that is drawn for each pass; an
iterator only for the next one.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kerascope.backend.ops.random import fresh_seed
from kerascope.engine.feeds import Batch, Feed, checked_steps
from kerascope.engine.nesting import to_list
from kerascope.errors import ArgumentError, DataError, DtypeError


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


class WithFirst:
    """An iterator of which one batch was read already, to learn the shapes: it gives that again.

    Parameters
    ----------
    first : object
        The batch.
    rest : iterator
    """

    def __init__(self, first: Any, rest: Iterator[Any]) -> None:
        self.rest = rest
        self._waiting = [first]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._waiting.pop() if self._waiting else next(self.rest)


class SampleCount(int):
    """A number of samples where a number of batches is expected: how Keras 1 measures an epoch."""


class GeneratorFeed(Feed):
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

    Attributes
    ----------
    source : Sequence or iterator
        What is asked for batches.
    is_sequence : bool
        Whether it is asked by number.
    has_workers : bool
        Whether batches are made ahead.

    Raises
    ------
    ArgumentError
        The number of steps is not known.
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
        self.source: Any = source if self.is_sequence else self._iterator
        if isinstance(source, WithFirst):
            self.source = source.rest
        self._left: deque[int] | None = None  # batches left of a pass over a Sequence
        self._seen = 0  # samples of this epoch
        self._drawn = 0  # batches that an iterator gave, in all epochs

    def facts(self) -> dict[str, Any]:
        """Return what must not differ between two runs on the same data, as plain data."""
        length = len(self.source) if self.is_sequence else None
        kind = {"from": type(self.source).__name__, "length": length, "shuffle": self.shuffle}
        return {**super().facts(), **kind}

    def place(self) -> dict[str, Any]:
        """Return what is left of a pass, and how many samples and batches were there before."""
        left = None if self._left is None else list(self._left)
        return {"left": left, "seen": self._seen, "drawn": self._drawn}

    def go_to(self, place: dict[str, Any]) -> None:
        """Go to where a feed of another process was; its source is there already."""
        if isinstance(self._iterator, WithFirst):
            self._iterator = iterator_of(self.source)
        left = place["left"]
        self._left = None if left is None else deque(map(operator.index, left))
        self._seen, self._drawn = place["seen"], place["drawn"]

    @property
    def is_fresh(self) -> bool:
        """False if a generator was asked for batches before, so that nobody knows its place."""
        is_known = isinstance(self._iterator, WithFirst) or not inspect.isgenerator(self.source)
        return is_known or inspect.getgeneratorstate(self.source) == inspect.GEN_CREATED

    def read_forward(self, place: dict[str, Any]) -> None:
        """Ask an iterator for the batches that another process had, and drop them.

        Raises
        ------
        DataError
            It ended before.
        """
        assert self._iterator is not None
        wanted = place["drawn"]
        for given in range(wanted):
            try:
                next(self._iterator)
            except StopIteration:
                raise DataError(
                    f"the generator ended after {given} batches; expected the {wanted} of the run "
                    "that goes on."
                ) from None
        self._seen, self._drawn = place["seen"], wanted

    def epoch(self, kept: bool = True, done: int = 0) -> Iterator[Batch]:
        """Yield (size, arrays) for each step of one epoch."""
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
        """Tell whether the epoch has as many samples as were asked for."""
        return self.samples is not None and self._seen >= self.samples

    def _steps(self, done: int) -> Iterable[int]:
        return itertools.count(done) if self.steps is None else range(done, self.steps)

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

    def _numbered_items(self, done: int) -> Iterator[Any]:
        """Yield a Sequence's batches for one epoch, going on where the last epoch ended."""
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
                fewer = f", or steps_per_epoch={step}" if step else ""
                raise DataError(
                    f"the generator ended after {step}{self._of_steps()} batches of the epoch; "
                    f"expected one that goes on for ever, by `while True:`{fewer}."
                ) from None
            self._drawn += 1
            yield item


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
