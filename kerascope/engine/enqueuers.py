"""Keras's enqueuers: batches that threads or processes make ahead of time.

`fit_generator(..., workers=4)` does this by itself; a script that reads batches without a model
uses an enqueuer. The workers are in `workers.py`. Keras keeps these in `keras.utils.data_utils`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from kerascope.engine.generator_feed import numbers_of_a_pass
from kerascope.engine.workers import Crew
from kerascope.errors import WorkerError


class SequenceEnqueuer:
    """Base of enqueuers: start workers, get batches, stop.

    Parameters
    ----------
    sequence : Sequence or iterator
        Makes the batches.
    use_multiprocessing : bool
        Processes instead of threads.

    Examples
    --------
    >>> enqueuer = OrderedEnqueuer([10, 20, 30])
    >>> enqueuer.start(workers=2)
    >>> batches = enqueuer.get()
    >>> [next(batches) for _ in range(4)]
    [10, 20, 30, 10]
    >>> enqueuer.stop()
    """

    random_seed: int | None = None

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self._crew: Crew | None = None

    def is_running(self) -> bool:
        """Tell whether there are workers."""
        return self._crew is not None

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Start workers.

        Parameters
        ----------
        workers : int
            How many.
        max_queue_size : int
            How many batches are made ahead.

        Raises
        ------
        WorkerError
            They run already.
        """
        if self._crew is not None:
            raise WorkerError(f"{type(self).__name__}: it runs already. stop() it first.")
        self._crew = Crew(
            self.sequence, workers, max_queue_size, self.use_multiprocessing, self.random_seed
        )

    def stop(self, timeout: float | None = None) -> None:
        """End the workers; batches that were made ahead are lost.

        A process is ended whatever it does. A thread finishes the batch that it is making; after
        `timeout` seconds (5 by default) it is left to itself and makes no other.
        """
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.end(timeout)

    def get(self) -> Iterator[Any]:
        """Return an iterator over batches, in order.

        Raises
        ------
        WorkerError
            There are no workers.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define get")

    def _running(self) -> Crew:
        if self._crew is None:
            raise WorkerError(f"{type(self).__name__}: it does not run; call start() first.")
        return self._crew


class OrderedEnqueuer(SequenceEnqueuer):
    """Batches of a `Sequence`, pass after pass, in order, made by several workers.

    Parameters
    ----------
    sequence : Sequence
        Or anything with a length and numbered items.
    use_multiprocessing : bool
        Processes instead of threads.
    shuffle : bool
        Read the batches in another order in each pass.

    Notes
    -----
    Between two passes `sequence.on_epoch_end()` is called in the main process; the worker processes
    then get a copy of the sequence as it is after it.
    """

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def get(self) -> Iterator[Any]:
        """Return an endless iterator over the batches; `stop` ends it.

        Raises
        ------
        WorkerError
            There are no workers.
        DataError
            When it is read: the sequence is empty.
        """
        return self._passes(self._running())

    def _passes(self, crew: Crew) -> Iterator[Any]:
        while self._crew is crew:
            yield from crew.made(numbers_of_a_pass(self.sequence, self.shuffle))
            if self._crew is crew and hasattr(self.sequence, "on_epoch_end"):
                self.sequence.on_epoch_end()
                crew.renew()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator, made ahead.

    Parameters
    ----------
    sequence : generator or iterator
    use_multiprocessing : bool
        Processes instead of threads: then the iterator must be an object that can be pickled, which
        a generator function's is not, and each process has its own copy of it.
    wait_time : float, optional
        Keras's older argument; nothing waits here.
    random_seed : int, optional
        With processes: process i starts with NumPy's global generator seeded by `random_seed + i`.

    Notes
    -----
    A generator makes one batch after the other, so one thread asks it, however many `workers` there
    are, and the batches come in its order. Only a `Sequence` gains by several.
    """

    def __init__(
        self,
        sequence: Any,
        use_multiprocessing: bool = False,
        wait_time: float | None = None,
        random_seed: int | None = None,
    ) -> None:
        super().__init__(_only_an_iterator(sequence), use_multiprocessing)
        self.wait_time = wait_time
        self.random_seed = random_seed

    def get(self) -> Iterator[Any]:
        """Return an iterator over the batches; it ends with the generator, or when stopped."""
        return self._running().made(itertools.count())


class _OneByOne:
    """An iterator, whatever else it can do: its batches are not asked for by number."""

    def __init__(self, batches: Any) -> None:
        self.batches = iter(batches)

    def __next__(self) -> Any:
        return next(self.batches)


def _only_an_iterator(source: Any) -> Any:
    """Return the source as something that can only be asked for the next batch."""
    is_plain = hasattr(source, "__next__") and not hasattr(source, "__getitem__")
    return source if is_plain else _OneByOne(source)


# --- for pools of one's own -----------------------------------------------------------------------

_shared: dict[Any, Any] = {}


def init_pool(seqs: dict[Any, Any]) -> None:
    """Make sequences known in this process under their keys: the initializer of a pool."""
    _shared.clear()
    _shared.update(seqs)


def get_index(uid: Any, i: int) -> Any:
    """Return batch `i` of the sequence that `init_pool` made known as `uid`.

    Examples
    --------
    >>> init_pool({0: ["a", "b"]})
    >>> get_index(0, 1)
    'b'
    """
    return _shared[uid][i]


def init_pool_generator(gens: dict[Any, Any], random_seed: int | None = None) -> None:
    """Make generators known in this process, and seed NumPy's global generator."""
    init_pool(gens)
    if random_seed is not None:
        np.random.seed(random_seed)  # noqa: NPY002 (what scripts draw from)


def next_sample(uid: Any) -> Any:
    """Return the next batch of the generator that `init_pool_generator` made known as `uid`.

    Examples
    --------
    >>> init_pool_generator({7: iter("xyz")})
    >>> next_sample(7), next_sample(7)
    ('x', 'y')
    """
    return next(_shared[uid])
