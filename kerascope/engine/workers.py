"""Threads and processes that make batches ahead of time, in a fixed order.

A `WorkerPool` of n workers requests batch i from worker i modulo n, and receives the batches in the
same order. So the batches keep their order, even if some workers are slow. Threads and processes
have the same methods: `send`, `receive`, `stop`, `join`.

`fit_generator(..., workers=4)` uses a pool (`feeds.py`). A script that reads batches without a
model uses an enqueuer. Keras keeps these in `keras.utils.data_utils`.
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
from kerascope.errors import ArgumentError, DataError, DtypeError, WorkerError
from kerascope.settings import SETTINGS, config
from kerascope.user_frames import warn

Source = Any  # a Sequence, used as `source[task]`, or an iterator, used as `next(source)`

JOIN_SECONDS = 5.0

# The greatest number of tasks sent to a process. With more, both pipes could be full: then the
# process would wait for the script to read answers, and the script to write the next task.
TASKS_IN_PIPE = 32

# The name of worker processes, by which a new process recognizes that it is one.
PROCESS_NAME = "kerascope batches"

# The exit code of a worker process that imports the script and reaches the call that started it.
# `SystemExit` prints nothing, because the process that waits for the worker reports the error.
CAME_AGAIN = 79
_RESOURCE_TRACKER = "multiprocessing.resource_tracker"  # on POSIX systems


class Answer(NamedTuple):
    """A worker's answer to a request: a batch, or an error with its traceback."""

    batch: Any = None
    error: BaseException | None = None
    trace: str = ""


def is_numbered(source: Source) -> bool:
    """Return whether a source returns batches by number, not only the next batch."""
    return hasattr(source, "__getitem__")


def numbers_of_a_pass(sequence: Any, shuffle: bool) -> list[int]:
    """Return the numbers of a Sequence's batches, each once, in the order of one pass.

    Raises
    ------
    DataError
        The Sequence is empty.

    Examples
    --------
    >>> numbers_of_a_pass(["a", "b"], shuffle=False)
    [0, 1]
    """
    order = np.arange(len(sequence))
    if not order.size:
        raise DataError(
            f"The Sequence is empty: expected at least one batch, got a {type(sequence).__name__} "
            "of length 0."
        )
    if shuffle:
        order = np.random.default_rng(fresh_seed()).permutation(order)
    return order.tolist()


def answer(source: Source, task: int) -> Answer:
    """Return batch number `task` of a Sequence, or the next batch of an iterator.

    If making the batch raises an error, return the error with its traceback instead.
    """
    try:
        return Answer(source[task] if is_numbered(source) else next(source))
    except BaseException as error:
        return Answer(error=error, trace=traceback.format_exc())


# --- a thread -------------------------------------------------------------------------------------


class ThreadWorker:
    """A worker that makes batches in a thread."""

    word = "thread"

    def __init__(self, source: Source) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._source = source
        self._ended = False
        # A daemon, so that Python can end even if a generator never returns.
        self._thread = threading.Thread(target=self._work, daemon=True, name="batches")
        self._thread.start()

    def _work(self) -> None:
        for task in iter(self._tasks.get, None):
            if self._ended:
                return
            self._answers.put(answer(self._source, task))

    def send(self, task: int) -> None:
        """Request the batch number `task` of a Sequence, or the next batch of an iterator."""
        self._tasks.put(task)

    def receive(self) -> Answer:
        """Wait for the batch or error that was requested first, and return it."""
        return self._answers.get()

    def stop(self) -> None:
        """Let the thread end after its current batch."""
        self._ended = True
        self._tasks.put(None)

    def join(self, timeout: float) -> None:
        """Wait until the thread has ended, at most `timeout` seconds."""
        self._thread.join(timeout)


# --- a process ------------------------------------------------------------------------------------


def start_method() -> str:
    """Return how processes are started: "fork", "spawn" or "forkserver".

    A call of `multiprocessing.set_start_method` in the script decides. By default processes are
    forked on Linux, as Keras's scripts expect, and spawned elsewhere, because libraries of macOS
    may crash after a fork, and Windows has no fork.
    """
    import multiprocessing  # imported here, because most runs need no processes

    usual = "fork" if sys.platform == "linux" else "spawn"
    return multiprocessing.get_start_method(allow_none=True) or usual


class Start(NamedTuple):
    """The settings and random states that are passed to a new worker process.

    Attributes
    ----------
    number : int
        Number of processes that the pool started before this process.
    random_seed : int or None
        Seed for NumPy's global generator.
    settings : dict
        The settings of `kerascope.config`, which a new Python process would not have.
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
        """Return the settings and random states that the next worker process starts from."""
        settings = {name: getattr(config, name) for name in SETTINGS}
        state = np.random.get_state()  # noqa: NPY002 (what scripts draw from)
        return Start(number, random_seed, settings, random.getstate(), state)

    def take_over(self) -> None:
        """Set these settings and random states in the current process.

        The first process continues the global random generators as the script would. The other
        processes are seeded, so that they draw other random numbers.
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
    """A worker that makes batches in a process, from its own copy of the source.

    A forked process has all objects of the script, including generators, and the script needs no
    `if __name__ == "__main__":`. Otherwise a new Python process imports the script, and receives
    the source by `write`.

    Parameters
    ----------
    source : Sequence or iterator
        The source of the batches.
    start : Start
        The settings and random states with which the process begins.
    before : list of ProcessWorker
        Workers that run already, whose connections a forked process must close.
    """

    word = "process"

    def __init__(self, source: Source, start: Start, before: list[ProcessWorker]) -> None:
        import multiprocessing

        self._method = start_method()
        context: Any = multiprocessing.get_context(self._method)
        self._connection, theirs = context.Pipe()
        self._later: deque[int] = deque()  # tasks that are not sent yet
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
        """Request the batch number `task` of a Sequence, or the next batch of an iterator."""
        self._later.append(task)
        self._write_tasks()

    def _write_tasks(self) -> None:
        while self._later and self._unanswered < TASKS_IN_PIPE:
            self.write(pickle.dumps(("task", self._later.popleft())))
            self._unanswered += 1

    def write(self, message: bytes) -> None:
        """Send a message to the process: the number of a batch, or the source of the batches."""
        with suppress(OSError):  # the process has ended: `receive` raises the error
            self._connection.send_bytes(message)

    def receive(self) -> Answer:
        """Wait for the batch or error that was requested first, and return it."""
        try:
            received: Answer = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            self._process.join(JOIN_SECONDS)
            raise ended_by_itself(self._process.exitcode, self._method) from None
        self._unanswered -= 1
        self._write_tasks()
        return received

    def stop(self) -> None:
        """Terminate the process."""
        self._process.terminate()  # first, or it would report the closed connection
        self._connection.close()

    def join(self, timeout: float) -> None:
        """Wait until the process has ended. After the timeout, kill the process."""
        self._process.join(timeout)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


@contextmanager
def _interrupt_waits(method: str) -> Iterator[None]:
    """Block Ctrl-C (SIGINT) while a process is started. The new process inherits the block.

    Otherwise Ctrl-C would stop a process that is still starting, with a traceback. Later the
    process ignores Ctrl-C (`work_in_process`).
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    if method != "fork":
        import_module(_RESOURCE_TRACKER).ensure_running()  # starting it would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended_by_itself(exit_code: int | None, method: str) -> WorkerError:
    """Return the error for a process that ended before it returned its batch.

    Examples
    --------
    >>> print(ended_by_itself(-9, "fork"))
    A worker process ended by itself (exit code -9) without a batch. It was killed, perhaps for lack
    of memory. Or leave out use_multiprocessing: threads share one memory.
    """
    threads = "Or leave out use_multiprocessing: threads"
    if exit_code == CAME_AGAIN:
        return WorkerError(
            "use_multiprocessing: the script starts its work while it is imported. Put the work "
            f"under `if __name__ == '__main__':`, because each process that is started by {method} "
            "(as on Windows and macOS) imports the script first. "
            f"{threads} need no such line."
        )
    said = f"A worker process ended by itself (exit code {exit_code}) without a batch."
    if exit_code == -9:
        return WorkerError(
            f"{said} It was killed, perhaps for lack of memory. {threads} share one memory."
        )
    if method == "fork":
        return WorkerError(f"{said} See what it printed last. {threads} show their errors here.")
    return WorkerError(
        f"{said} See what it printed last. A process that is started by {method} imports the "
        "script first: that must be a file, with its work under `if __name__ == '__main__':`. "
        f"{threads} need neither."
    )


def pickled(message: Any) -> bytes:
    """Return a message as bytes for another process.

    Raises
    ------
    DtypeError
        The message contains an object that cannot be pickled, such as a generator.
    """
    try:
        return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise DtypeError(
            f"use_multiprocessing: the {type(message[1]).__name__} cannot be sent to another "
            f"process ({error}). Use a Sequence whose attributes can be pickled (no lambda, no "
            "open file) and whose class is defined at the top level of a file. Or use threads: "
            "leave out use_multiprocessing."
        ) from error


def work_in_process(
    connection: Any, start: Start, source: Source = None, inherited: Iterable[Any] = ()
) -> None:
    """Make batches in a worker process and send them, until the connection is closed.

    A forked process receives the source as an argument. It closes the pipe ends of other processes,
    because otherwise it could not detect that the script has ended.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the main process handles Ctrl-C
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupt_waits`
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not the script's handler
    for other in inherited:
        other.close()
    start.take_over()
    unread: Answer | None = None
    # If the script has ended, errors of the connection cannot be reported.
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
    """Return the error that a process sends if it cannot unpickle the source of its batches."""
    words = (
        f"use_multiprocessing: the source cannot be read in its process ({type(error).__name__}: "
        f"{error}). Its class must be importable there: from a .py file, not from a notebook or an "
        "interactive session, and not under `if __name__ == '__main__':`. Or use threads: leave "
        "out use_multiprocessing."
    )
    return Answer(error=WorkerError(words), trace=traceback.format_exc())


def _pickled_answer(made: Answer) -> bytes:
    try:
        message = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
        if made.error is not None:
            pickle.loads(message)  # some errors can be pickled but not unpickled
        return message
    except Exception as error:
        why = made.error if made.error is not None else error
        words = f"a batch could not be sent from its process: {type(why).__name__}: {why}"
        return pickle.dumps(Answer(error=WorkerError(words), trace=made.trace))


def _leave_if_one_of_ours() -> None:
    """Exit the program if this is a worker process that is still importing the user's script.

    A script that starts workers outside of `if __name__ == "__main__":` would otherwise start them
    again in each worker process. (During the import the process has no parent process yet.)
    """
    import multiprocessing

    named = multiprocessing.current_process().name.startswith(PROCESS_NAME)
    if named and multiprocessing.parent_process() is None:
        raise SystemExit(CAME_AGAIN)


# --- pools of workers -----------------------------------------------------------------------------


class WorkerPool:
    """Workers that make batches, which are received in the order of the requests.

    Parameters
    ----------
    source : Sequence or iterator
        An iterator is used by only one thread, because it cannot make two batches at once.
    workers : int
        Number of workers, at least 1.
    max_queue_size : int
        Number of batches that are made in advance.
    use_multiprocessing : bool
        Whether workers are processes; otherwise threads.
    random_seed : int, optional
        Process i starts with NumPy's global generator seeded by `random_seed + i`.

    Raises
    ------
    ArgumentError
        `workers` or `max_queue_size` is not a whole number >= 1.
    DtypeError
        The source cannot be sent to a process that is not forked. All processes are ended.

    Warns
    -----
    KerascopeWarning
        Several processes have copies of the same generator.
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
                raise ArgumentError(f"{name}: expected a whole number >= 1, got {value!r}.")
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
        """Start the worker processes. They get the source of batches by fork or in a message."""
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
            for worker in self._workers if not forks else ():  # after all have been started
                worker.write(self._sent)
        except BaseException:  # including Ctrl-C
            self.end()
            raise

    def made(self, tasks: Iterable[int]) -> Iterator[Any]:
        """Yield the batches with these numbers, in order, until an iterator is exhausted.

        Up to `max_queue_size` batches are requested in advance. An error of a worker
        is raised by this method, with a note that contains the worker's traceback.
        """
        self._drop_the_rest()
        for task in tasks:
            if not self._workers:  # `end` was called meanwhile
                return
            worker = next(self._turns)
            worker.send(task)
            self._waiting.append((task, worker))
            if len(self._waiting) >= self.max_queue_size:
                yield from self._next_batch()
        while self._waiting:
            yield from self._next_batch()

    def _next_batch(self) -> Iterator[Any]:
        """Yield the batch that was requested first; yield nothing if the source is exhausted.

        A `StopIteration` of a Sequence is an error, because a Sequence has a length.
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
        """Discard the batches that workers made in advance and that are not needed any more."""
        while self._waiting:
            _, worker = self._waiting.popleft()
            worker.receive()

    def renew(self) -> None:
        """Send the source of the batches to the worker processes again, if it has changed.

        If the source cannot be sent, new processes are forked instead. Threads share the source.
        """
        if not self._processes:
            return
        self._drop_the_rest()
        if self._sent is None:  # it cannot be sent, so fork again, as Keras does
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
        """End all workers. Batches that were made in advance are lost."""
        self._waiting.clear()
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()
        deadline = time.monotonic() + (JOIN_SECONDS if timeout is None else timeout)
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))


# --- Keras's enqueuers ----------------------------------------------------------------------------


class SequenceEnqueuer:
    """Base of Keras's enqueuers, which start workers and return their batches.

    Parameters
    ----------
    sequence : Sequence or iterator
        The source of the batches.
    use_multiprocessing : bool
        Whether workers are processes; for the requirements see `Model.fit_generator`.

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
        """Return whether workers are running."""
        return self._pool is not None

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Start workers.

        Parameters
        ----------
        workers : int
            Number of workers.
        max_queue_size : int
            Number of batches that are made in advance.

        Raises
        ------
        WorkerError
            The workers are running already.
        """
        if self._pool is not None:
            raise WorkerError(f"{type(self).__name__}: it runs already. Call stop() first.")
        self._pool = WorkerPool(
            self.sequence, workers, max_queue_size, self.use_multiprocessing, self.random_seed
        )

    def stop(self, timeout: float | None = None) -> None:
        """End the workers. Batches that were made in advance are lost.

        A process is terminated. A thread finishes its current batch; `stop` waits for it at most
        `timeout` seconds (5 by default).
        """
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.end(timeout)

    def get(self) -> Iterator[Any]:
        """Return an iterator over batches, in order.

        Raises
        ------
        WorkerError
            The workers are not running.
        """
        raise NotImplementedError(f"{type(self).__name__}: write the method get.")

    def _running(self) -> WorkerPool:
        if self._pool is None:
            raise WorkerError(f"{type(self).__name__}: it does not run. Call start() first.")
        return self._pool


class OrderedEnqueuer(SequenceEnqueuer):
    """An enqueuer whose workers make the batches of a `Sequence`, in order and in endless passes.

    Parameters
    ----------
    sequence : Sequence
        A `Sequence`, or another object with a length and items by number.
    use_multiprocessing : bool
        Whether workers are processes; otherwise threads.
    shuffle : bool
        Whether each pass reads the batches in a new order.

    Notes
    -----
    Between two passes `sequence.on_epoch_end()` is called in the main process. Then the worker
    processes receive a new copy of the sequence.

    Examples
    --------
    With `shuffle`, each pass returns all batches, in an order of its own:

    >>> enqueuer = OrderedEnqueuer([10, 20, 30], shuffle=True)
    >>> enqueuer.start(workers=2)
    >>> batches = enqueuer.get()
    >>> [sorted(next(batches) for _ in range(3)) for _ in range(2)]
    [[10, 20, 30], [10, 20, 30]]
    >>> enqueuer.stop()
    """

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def get(self) -> Iterator[Any]:
        """Return an endless iterator over the batches; `stop` ends the iterator.

        Raises
        ------
        WorkerError
            The workers are not running.
        DataError
            The sequence is empty; raised when the iterator is first used.
        """
        return self._passes(self._running())

    def _passes(self, pool: WorkerPool) -> Iterator[Any]:
        while self._pool is pool:
            yield from pool.made(numbers_of_a_pass(self.sequence, self.shuffle))
            if self._pool is pool and hasattr(self.sequence, "on_epoch_end"):
                self.sequence.on_epoch_end()
                pool.renew()


class GeneratorEnqueuer(SequenceEnqueuer):
    """An enqueuer that makes the batches of a generator in advance.

    Parameters
    ----------
    sequence : generator or iterator
        The source of the batches.
    use_multiprocessing : bool
        Whether workers are processes, each with its own copy of the iterator. If they are not
        forked (see `Model.fit_generator`), the iterator must be an object that can be pickled,
        which a generator is not.
    wait_time : float, optional
        An argument of older versions of Keras; ignored.
    random_seed : int, optional
        With processes: process i starts with NumPy's global generator seeded by `random_seed + i`.

    Notes
    -----
    A generator makes one batch after the other, so only one thread is used, whatever the number of
    `workers`, and the batches keep their order. Several workers are useful only for a `Sequence`.

    Examples
    --------
    >>> enqueuer = GeneratorEnqueuer(n * n for n in range(3))
    >>> enqueuer.start(max_queue_size=2)
    >>> list(enqueuer.get())
    [0, 1, 4]
    >>> enqueuer.stop()
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
        """Return an iterator over the batches, until the generator or the enqueuer ends."""
        return self._running().made(itertools.count())


class _OneByOne:
    """A wrapper of a source of batches, which returns batches only in order, not by number."""

    def __init__(self, batches: Any) -> None:
        self.batches = iter(batches)

    def __next__(self) -> Any:
        return next(self.batches)


def _only_an_iterator(source: Any) -> Any:
    """Return a source of batches as an object that returns only the next batch."""
    is_plain = hasattr(source, "__next__") and not hasattr(source, "__getitem__")
    return source if is_plain else _OneByOne(source)


# --- for user-defined pools -----------------------------------------------------------------------

_shared: dict[Any, Any] = {}


def init_pool(seqs: dict[Any, Any]) -> None:
    """Register sequences by their keys in this process, as the initializer of a process pool."""
    _shared.clear()
    _shared.update(seqs)


def get_index(uid: Any, i: int) -> Any:
    """Return batch `i` of the sequence that `init_pool` registered as `uid`.

    Examples
    --------
    >>> init_pool({0: ["a", "b"]})
    >>> get_index(0, 1)
    'b'
    """
    return _shared[uid][i]


def init_pool_generator(gens: dict[Any, Any], random_seed: int | None = None) -> None:
    """Register generators by their keys in this process, and seed NumPy's global generator."""
    init_pool(gens)
    if random_seed is not None:
        np.random.seed(random_seed)  # noqa: NPY002 (what scripts draw from)


def next_sample(uid: Any) -> Any:
    """Return the next batch of the generator that `init_pool_generator` registered as `uid`.

    Examples
    --------
    >>> init_pool_generator({7: iter("xyz")})
    >>> next_sample(7), next_sample(7)
    ('x', 'y')
    """
    return next(_shared[uid])
