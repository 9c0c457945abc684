"""Threads and processes that make batches ahead of time, in a fixed order.

A `Crew` gives task i to worker i modulo their number and reads the results in the same turn. So the
batches come in the order of the tasks, whichever worker is quick or slow, and nothing has to be
sorted. A thread and a process answer to the same words: `send`, `receive`, `stop`, `join`.

`enqueuers.py` builds Keras's enqueuers on it, `training_generator.py` asks for `workers`.
"""

from __future__ import annotations

import itertools
import pickle
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ArgumentError, DtypeError, WorkerError

Source = Any  # a Sequence (it is asked `source[task]`) or an iterator (it is asked `next(source)`)

JOIN_SECONDS = 5.0


class Answer(NamedTuple):
    """What a worker made of one task: a batch, or an error and where it happened."""

    batch: Any = None
    error: BaseException | None = None
    trace: str = ""


def is_numbered(source: Source) -> bool:
    """Tell whether batches are asked for by number; an iterator only knows the next one."""
    return hasattr(source, "__getitem__")


def answer(source: Source, task: int) -> Answer:
    """Make one batch; an error becomes part of the answer."""
    try:
        return Answer(source[task] if is_numbered(source) else next(source))
    except BaseException as error:
        return Answer(error=error, trace=traceback.format_exc())


# --- a thread -------------------------------------------------------------------------------------


class ThreadWorker:
    """A thread that makes batches."""

    word = "thread"

    def __init__(self, source: Source) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._source = source
        self._ended = False
        # A daemon does not keep Python from ending if a generator waits for ever.
        self._thread = threading.Thread(target=self._work, daemon=True, name="batches")
        self._thread.start()

    def _work(self) -> None:
        for task in iter(self._tasks.get, None):
            if self._ended:
                return
            self._answers.put(answer(self._source, task))

    def send(self, task: int) -> None:
        """Give it a task."""
        self._tasks.put(task)

    def receive(self) -> Answer:
        """Wait for the answer to its oldest task."""
        return self._answers.get()

    def stop(self) -> None:
        """Let it finish the batch that it is making, and no other."""
        self._ended = True
        self._tasks.put(None)

    def join(self, timeout: float) -> None:
        """Wait until it has stopped; after the timeout it is left to itself."""
        self._thread.join(timeout)


# --- a process ------------------------------------------------------------------------------------


class ProcessWorker:
    """A process that makes batches; it has its own copy of the source, which is `write`n to it.

    It is spawned, not forked: it starts as a fresh Python, which is the same on every system and
    safe beside the threads of NumPy.
    """

    word = "process"

    def __init__(self, random_seed: int | None) -> None:
        import multiprocessing  # not worth loading for runs without processes

        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, random_seed)
        self._process = context.Process(target=work_in_process, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def send(self, task: int) -> None:
        """Give it a task."""
        self.write(pickle.dumps(("task", task)))

    def write(self, message: bytes) -> None:
        """Send it a message: a task, or the source as it is now."""
        with suppress(OSError):  # it is gone: `receive` will say so
            self._connection.send_bytes(message)

    def receive(self) -> Answer:
        """Wait for the answer to its oldest task."""
        try:
            received: Answer = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            self._process.join(JOIN_SECONDS)
            raise WorkerError(
                f"a worker process ended by itself (exit code {self._process.exitcode}); expected "
                "a batch. A script that asks for processes must start its work under "
                "`if __name__ == '__main__':`, and its Sequence must stand in a file. "
                "Or leave use_multiprocessing out: threads need neither."
            ) from error
        return received

    def stop(self) -> None:
        """End it, whatever it is doing."""
        self._process.terminate()  # first: it would complain of a connection that is gone
        self._connection.close()

    def join(self, timeout: float) -> None:
        """Wait until it has ended; after the timeout nobody asks it any more."""
        self._process.join(timeout)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def pickled(message: Any) -> bytes:
    """Return a message as bytes for another process.

    Raises
    ------
    DtypeError
        Something in it cannot go to another process, a generator for example.
    """
    try:
        return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise DtypeError(
            f"use_multiprocessing: the {type(message[1]).__name__} cannot be sent to another "
            f"process ({error}); expected a Sequence whose attributes can be pickled. "
            "Use threads: leave use_multiprocessing out."
        ) from error


def work_in_process(connection: Any, random_seed: int | None) -> None:
    """Answer tasks until the connection is closed: the whole life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for it
    if random_seed is not None:
        np.random.seed(random_seed)  # noqa: NPY002 (what scripts draw from)
    source: Source = None
    while True:
        try:
            word, content = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        if word == "source":
            source = content
            continue
        connection.send_bytes(_pickled_answer(answer(source, content)))


def _pickled_answer(made: Answer) -> bytes:
    try:
        message = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
        if made.error is not None:
            pickle.loads(message)  # some errors can be written, but not read again
        return message
    except Exception as error:
        why = made.error if made.error is not None else error
        words = f"a batch could not be sent from its process: {type(why).__name__}: {why}"
        return pickle.dumps(Answer(error=WorkerError(words), trace=made.trace))


def _seeds(random_seed: int | None, count: int) -> list[int | None]:
    return [None if random_seed is None else random_seed + number for number in range(count)]


# --- several --------------------------------------------------------------------------------------


class Crew:
    """Workers that make batches, and whose batches come in the order of the tasks.

    Parameters
    ----------
    source : Sequence or iterator
        An iterator is asked by one thread only: it cannot make two batches at once.
    workers : int
        How many, 1 or more.
    max_queue_size : int
        How many batches are asked for ahead of time.
    use_multiprocessing : bool
        Processes instead of threads.
    random_seed : int, optional
        Process i starts with NumPy's global generator seeded by `random_seed + i`.

    Raises
    ------
    ArgumentError
        A number makes no sense.
    DtypeError
        The source cannot go to another process. No process is left.
    """

    def __init__(
        self,
        source: Source,
        workers: int,
        max_queue_size: int,
        use_multiprocessing: bool,
        random_seed: int | None = None,
    ) -> None:
        for name, value in (("workers", workers), ("max_queue_size", max_queue_size)):
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ArgumentError(f"{name} is {value!r}; expected a whole number >= 1.")
        self.max_queue_size = int(max_queue_size)
        self.source = source
        self._waiting: deque[tuple[int, Any]] = deque()
        self._workers: list[Any]
        self._sent: bytes | None = None
        if use_multiprocessing:
            self._sent = pickled(("source", source))
            seeds = _seeds(random_seed, workers)
            self._workers = [ProcessWorker(seed) for seed in seeds]
            for worker in self._workers:  # now that all of them are starting, side by side
                worker.write(self._sent)
        else:
            count = int(workers) if is_numbered(source) else 1
            self._workers = [ThreadWorker(source) for _ in range(count)]
        self._turns = itertools.cycle(self._workers)

    def made(self, tasks: Iterable[int]) -> Iterator[Any]:
        """Yield the batch of each task, in order, until an iterator is exhausted.

        Up to `max_queue_size` batches are asked for ahead. An error of a worker is raised here,
        with a note that says where it happened.
        """
        self._drop_the_rest()
        for task in tasks:
            if not self._workers:  # it was ended meanwhile
                return
            worker = next(self._turns)
            worker.send(task)
            self._waiting.append((task, worker))
            if len(self._waiting) >= self.max_queue_size:
                yield from self._next_batch()
        while self._waiting:
            yield from self._next_batch()

    def _next_batch(self) -> Iterator[Any]:
        """Yield the oldest batch; nothing, and no other, if the iterator was exhausted.

        A `StopIteration` of a Sequence is an error like any other: it has a length.
        """
        task, worker = self._waiting.popleft()
        received = worker.receive()
        if received.error is None:
            yield received.batch
        elif isinstance(received.error, StopIteration) and not is_numbered(self.source):
            self.end()
        else:
            received.error.add_note(
                f"This happened in a worker {worker.word}, at batch {task} of a "
                f"{type(self.source).__name__}:\n{received.trace.rstrip()}"
            )
            raise received.error

    def _drop_the_rest(self) -> None:
        """Throw away what was made ahead for tasks that nobody wants any more."""
        while self._waiting:
            _, worker = self._waiting.popleft()
            worker.receive()

    def renew(self) -> None:
        """Let processes know that the source has changed; threads see it."""
        if self._sent is None:
            return
        self._drop_the_rest()
        message = pickled(("source", self.source))
        if message != self._sent:
            self._sent = message
            for worker in self._workers:
                worker.write(message)

    def end(self, timeout: float | None = None) -> None:
        """End all workers, at once; batches that were made ahead are lost."""
        self._waiting.clear()
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()
        deadline = time.monotonic() + (JOIN_SECONDS if timeout is None else timeout)
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))
