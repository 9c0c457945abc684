"""Batches of a generator or a `Sequence` that workers make ahead of the training loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from kerascope.engine.generator_feed import GeneratorFeed
from kerascope.engine.workers import Crew
from kerascope.errors import ArgumentError


class Hands(NamedTuple):
    """Who makes the batches: Keras's three arguments.

    Attributes
    ----------
    max_queue_size : int
        How many batches are made ahead.
    workers : int or None
        0 and None: nobody but the loop itself. With `use_multiprocessing` None means 1.
    use_multiprocessing : bool
        Processes instead of threads.
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
            It is negative, or no whole number.
        """
        number = int(self.use_multiprocessing) if self.workers is None else self.workers
        if not isinstance(number, (int, np.integer)) or number < 0:
            raise ArgumentError(f"workers is {number!r}; expected a whole number >= 0.")
        return int(number)


class WorkerFeed(GeneratorFeed):
    """A `GeneratorFeed` whose batches are made ahead; they come in the same order."""

    has_workers = True

    def __init__(
        self,
        source: Any,
        steps: int | None,
        standardize: Callable[[Any], list[Any]],
        shuffle: bool,
        hands: Hands,
    ) -> None:
        super().__init__(source, steps, standardize, shuffle)
        batches = source if self.is_sequence else self._iterator
        self._crew = Crew(batches, hands.number, hands.max_queue_size, hands.use_multiprocessing)
        if not self.is_sequence:
            self._iterator = self._crew.made(itertools.count())

    def _begin_pass(self) -> None:
        super()._begin_pass()
        self._crew.renew()  # `on_epoch_end` or a callback may have changed the Sequence

    def _batches(self, numbers: Iterator[int]) -> Iterator[Any]:
        return self._crew.made(numbers)

    def go_to(self, place: dict[str, Any]) -> None:
        """Go to where a feed of another process was; its source is there already."""
        super().go_to(place)
        self._crew.renew()

    def end(self) -> None:
        """End the workers."""
        self._crew.end()


def _hands_for(source: Any, hands: Hands) -> Hands:
    """Return who makes the batches; if `fit` was not told, a Sequence may say so itself."""
    workers = getattr(source, "workers", 1)
    if hands != Hands() or workers == 1:
        return hands
    return Hands(
        getattr(source, "max_queue_size", hands.max_queue_size),
        workers,
        bool(getattr(source, "use_multiprocessing", False)),
    )


@contextmanager
def generator_feed(
    source: Any,
    steps: int | None,
    standardize: Callable[[Any], list[Any]],
    shuffle: bool,
    hands: Hands,
) -> Iterator[GeneratorFeed]:
    """Give a feed of batches; its workers, if there are any, end with the block."""
    hands = _hands_for(source, hands)
    if not hands.number:
        yield GeneratorFeed(source, steps, standardize, shuffle)
        return
    feed = WorkerFeed(source, steps, standardize, shuffle, hands)
    try:
        yield feed
    finally:
        feed.end()
