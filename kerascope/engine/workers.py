"""Threads and processes that make batches ahead of time, in a fixed order.

A `WorkerPool` gives task i to worker i modulo their number and reads the results in the same turn.
So the batches come in the order of the tasks, whichever worker is quick or slow, and nothing has to
be sorted. A thread and a process answer to the same words: `send`, `receive`, `stop`, `join`.

`fit_generator(..., workers=4)` uses a pool by itself (`feeds.py`); a script that reads batches
without a model uses an enqueuer. Keras keeps these in `keras.utils.data_utils`.
"""

from __future__ import annotations

import itertools
import pickle
import random
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.ops.random import fresh_seed
from kerascope.callers import warn
from kerascope.errors import ArgumentError, DataError, DtypeError, WorkerError
from kerascope.settings import SETTINGS, config

Source = Any  # a Sequence (it is asked `source[task]`) or an iterator (it is asked `next(source)`)

JOIN_SECONDS = 5.0

# Tasks that a process has at most. More would fill its pipe while it waits, blocked, for somebody
# to read its answers; and the script, blocked, for room in the pipe.
TASKS_IN_PIPE = 32

# By its name a process knows, before it knows anything else, that it is one of ours.
PROCESS_NAME = "kerascope batches"

# How a process ends that came, while it imported the script, to the call that had started it.
# `SystemExit` is quiet: what there is to say, the process that waits for it says once.
CAME_AGAIN = 79
_RESOURCE_TRACKER = "multiprocessing.resource_tracker"  # of POSIX systems


class Answer(NamedTuple):
    """What a worker made of one task: a batch, or an error and where it happened."""

    batch: Any = None
    error: BaseException | None = None
    trace: str = ""


def is_numbered(source: Source) -> bool:
    """Tell whether batches are asked for by number; an iterator only knows the next one."""
    return hasattr(source, "__getitem__")


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


def start_method() -> str:
    """Return how processes are started: "fork", "spawn" or "forkserver".

    It is what the script told `multiprocessing.set_start_method`. Else Linux forks, which Keras's
    scripts count on there, and others spawn: macOS's own libraries do not bear a fork, and Windows
    has none.
    """
    import multiprocessing  # not worth loading for runs without processes

    usual = "fork" if sys.platform == "linux" else "spawn"
    return multiprocessing.get_start_method(allow_none=True) or usual


class Start(NamedTuple):
    """What a process is given at its birth, so that it goes on as the script would.

    Attributes
    ----------
    number : int
        How many processes of the pool were started before it.
    random_seed : int or None
        For NumPy's global generator.
    settings : dict
        Those of `kerascope.config`: what the script sets is not set in a fresh Python.
    random, numpy_random : tuple, dict
        The states of the global generators of `random` and of NumPy.
    """

    number: int
    random_seed: int | None
    settings: dict[str, Any]
    random: Any
    numpy_random: Any

    @staticmethod
    def now(number: int, random_seed: int | None) -> Start:
        """Return what the next process is given."""
        settings = {name: getattr(config, name) for name in SETTINGS}
        state = np.random.get_state()  # noqa: NPY002 (what scripts draw from)
        return Start(number, random_seed, settings, random.getstate(), state)

    def take_over(self) -> None:
        """Set what it says in this process.

        The first process draws on from the global generators as the script would have done; the
        others must not draw the same.
        """
        for name, value in self.settings.items():
            setattr(config, name, value)
        random.setstate(self.random)
        np.random.set_state(self.numpy_random)  # noqa: NPY002
        seed = self.random_seed
        if self.number:
            random.seed(random.getrandbits(64) + self.number)
            if seed is None:
                seed = (np.random.randint(2**31) + self.number) % 2**32  # noqa: NPY002
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002


class ProcessWorker:
    """A process that makes batches; it has its own copy of the source.

    One that is forked has what the script has, generators too, and the script needs no
    `if __name__ == "__main__":`. Any other starts as a fresh Python that imports the script, and
    the source is `write`n to it.

    Parameters
    ----------
    source : Sequence or iterator
    start : Start
    before : list of ProcessWorker
        Those that run already, whose connections a forked process must not hold.
    """

    word = "process"

    def __init__(self, source: Source, start: Start, before: list[ProcessWorker]) -> None:
        import multiprocessing

        self._method = start_method()
        context: Any = multiprocessing.get_context(self._method)
        self._connection, theirs = context.Pipe()
        self._later: deque[int] = deque()  # tasks that it has not been sent yet
        self._unanswered = 0
        arguments: tuple[Any, ...] = (theirs, start)
        if self._method == "fork":
            arguments += (source, [worker._connection for worker in [*before, self]])
        name = f"{PROCESS_NAME} {start.number}"
        self._process = context.Process(
            target=work_in_process, args=arguments, name=name, daemon=True
        )
        with _interrupt_waits(self._method):
            self._process.start()
        theirs.close()

    def send(self, task: int) -> None:
        """Give it a task."""
        self._later.append(task)
        self._write_tasks()

    def _write_tasks(self) -> None:
        while self._later and self._unanswered < TASKS_IN_PIPE:
            self.write(pickle.dumps(("task", self._later.popleft())))
            self._unanswered += 1

    def write(self, message: bytes) -> None:
        """Send it a message: a task, or the source as it is now."""
        with suppress(OSError):  # it is gone: `receive` will say so
            self._connection.send_bytes(message)

    def receive(self) -> Answer:
        """Wait for the answer to its oldest task."""
        try:
            received: Answer = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            self._process.join(JOIN_SECONDS)
            raise ended_by_itself(self._process.exitcode, self._method) from None
        self._unanswered -= 1
        self._write_tasks()
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


@contextmanager
def _interrupt_waits(method: str) -> Iterator[None]:
    """Let Ctrl-C wait while a process is started, which inherits that.

    Python itself takes a moment to start there. Until it does not hear Ctrl-C any more
    (`work_in_process`), it would die of it with a traceback of its own.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    if method != "fork":
        import_module(_RESOURCE_TRACKER).ensure_running()  # to start it ends the waiting
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended_by_itself(exit_code: int | None, method: str) -> WorkerError:
    """Return the error for a process that ended before it gave a batch, with what is known of it.

    Examples
    --------
    >>> print(ended_by_itself(-9, "fork"))
    a worker process ended by itself (exit code -9); expected a batch. It was killed: by the system,
    if memory ran out. Or leave use_multiprocessing out: threads share one memory.
    """
    threads = "Or leave use_multiprocessing out: threads"
    if exit_code == CAME_AGAIN:
        return WorkerError(
            "use_multiprocessing: the script starts its work while it is imported; expected it "
            f"under `if __name__ == '__main__':`, because each process that is started by {method} "
            "(as on Windows and macOS) imports the script first. Put the work there. "
            f"{threads} need no such line."
        )
    said = f"a worker process ended by itself (exit code {exit_code}); expected a batch."
    if exit_code == -9:
        return WorkerError(
            f"{said} It was killed: by the system, if memory ran out. {threads} share one memory."
        )
    if method == "fork":
        return WorkerError(f"{said} What it printed last may say why. {threads} say it here.")
    return WorkerError(
        f"{said} What it printed last may say why. A process that is started by {method} imports "
        "the script first: that must be a file, with its work under `if __name__ == '__main__':`. "
        f"{threads} need neither."
    )


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
            f"process ({error}); expected a Sequence whose attributes can be pickled (no lambda, "
            "no open file) and whose class stands at the top of a file. "
            "Use threads: leave use_multiprocessing out."
        ) from error


def work_in_process(
    connection: Any, start: Start, source: Source = None, inherited: Iterable[Any] = ()
) -> None:
    """Answer tasks until the connection is closed: the whole life of a worker process.

    A forked one is given the source. It closes the ends of pipes that are not its own, or it would
    not see when the script is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupt_waits`
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what a script does at its end, is not for us
    for other in inherited:
        other.close()
    start.take_over()
    unread: Answer | None = None
    # The script may be gone, without a word: nobody is left who could be told.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            message = connection.recv_bytes()
            try:
                word, content = pickle.loads(message)
            except Exception as error:
                unread = _unread(error)
                continue
            if word == "source":
                source, unread = content, None
            else:
                connection.send_bytes(_pickled_answer(unread or answer(source, content)))


def _unread(error: Exception) -> Answer:
    """Return the answer of a process that cannot read the source."""
    words = (
        f"use_multiprocessing: the source cannot be read in its process ({type(error).__name__}: "
        f"{error}); expected an object whose class can be imported there: one of a .py file, not "
        "of a notebook or an interactive session, and not under `if __name__ == '__main__':`. "
        "Use threads: leave use_multiprocessing out."
    )
    return Answer(error=WorkerError(words), trace=traceback.format_exc())


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


def _leave_if_one_of_ours() -> None:
    """End a process of ours that came here while it imported the script, as nobody meant it.

    It has no parent yet as long as it imports.
    """
    import multiprocessing

    named = multiprocessing.current_process().name.startswith(PROCESS_NAME)
    if named and multiprocessing.parent_process() is None:
        raise SystemExit(CAME_AGAIN)


# --- several --------------------------------------------------------------------------------------


class WorkerPool:
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
        The source cannot go to another process, and it is not forked. No process is left.

    Warns
    -----
    KerascopeWarning
        Several processes have the same generator.
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
        self._workers: list[Any] = []
        self._sent: bytes | None = None
        self._random_seed = random_seed
        self._processes = int(workers) if use_multiprocessing else 0
        self._started = 0
        if use_multiprocessing:
            self._start_processes()
        else:
            count = int(workers) if is_numbered(source) else 1
            self._workers = [ThreadWorker(source) for _ in range(count)]
        self._turns = itertools.cycle(self._workers)

    def _start_processes(self) -> None:
        """Start processes; forked ones need not be sent the source, unless it changes."""
        _leave_if_one_of_ours()
        forks = start_method() == "fork"
        try:
            self._sent = pickled(("source", self.source))
        except DtypeError:
            if not forks:
                raise
        if not is_numbered(self.source) and self._processes > 1:
            warn(
                "use_multiprocessing: each of several processes has its own copy of the generator; "
                "the same data may come more than once. Use a keras.utils.Sequence, or workers=1."
            )
        try:
            for _ in range(self._processes):
                seed = None if self._random_seed is None else self._random_seed + self._started
                start = Start.now(self._started, seed)
                self._workers.append(ProcessWorker(self.source, start, self._workers))
                self._started += 1
            for worker in self._workers if not forks else ():  # when all are starting
                worker.write(self._sent)
        except BaseException:  # Ctrl-C, too
            self.end()
            raise

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
        if not self._processes:
            return
        self._drop_the_rest()
        if self._sent is None:  # it cannot be sent: it is forked again, as Keras does it
            self.end()
            self._start_processes()
            self._turns = itertools.cycle(self._workers)
            return
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


# --- Keras's enqueuers ----------------------------------------------------------------------------


class SequenceEnqueuer:
    """Base of enqueuers: start workers, get batches, stop.

    Parameters
    ----------
    sequence : Sequence or iterator
        Makes the batches.
    use_multiprocessing : bool
        Processes instead of threads. What that asks of a script: `Model.fit_generator`.

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
        self._pool: WorkerPool | None = None

    def is_running(self) -> bool:
        """Tell whether there are workers."""
        return self._pool is not None

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
        if self._pool is not None:
            raise WorkerError(f"{type(self).__name__}: it runs already. stop() it first.")
        self._pool = WorkerPool(
            self.sequence, workers, max_queue_size, self.use_multiprocessing, self.random_seed
        )

    def stop(self, timeout: float | None = None) -> None:
        """End the workers; batches that were made ahead are lost.

        A process is ended whatever it does. A thread finishes the batch that it is making; after
        `timeout` seconds (5 by default) it is left to itself and makes no other.
        """
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.end(timeout)

    def get(self) -> Iterator[Any]:
        """Return an iterator over batches, in order.

        Raises
        ------
        WorkerError
            There are no workers.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define get")

    def _running(self) -> WorkerPool:
        if self._pool is None:
            raise WorkerError(f"{type(self).__name__}: it does not run; call start() first.")
        return self._pool


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

    def _passes(self, pool: WorkerPool) -> Iterator[Any]:
        while self._pool is pool:
            yield from pool.made(numbers_of_a_pass(self.sequence, self.shuffle))
            if self._pool is pool and hasattr(self.sequence, "on_epoch_end"):
                self.sequence.on_epoch_end()
                pool.renew()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator, made ahead.

    Parameters
    ----------
    sequence : generator or iterator
    use_multiprocessing : bool
        Processes instead of threads; each has its own copy of the iterator. Where they are not
        forked (see `Model.fit_generator`) the iterator must be an object that can be pickled, which
        a generator function's is not.
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
