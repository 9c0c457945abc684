"""The epochs and batches of one run of the training loop.

Usually the loop goes through all epochs and batches. There are two exceptions. A run that continues
an interrupted run begins in the middle. And if no observer or callback needs the events of a batch,
a `FastPath` trains on the batch without events. This is faster, with the same results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from kerascope.backend.atomic import LOCKS
from kerascope.backend.function import Function
from kerascope.callbacks import CallbackList
from kerascope.engine.run import Run
from kerascope.errors import ArgumentError, NumericsWarning
from kerascope.spellings import dialect_options
from kerascope.stage import current_runner, is_watched
from kerascope.unrecorded import RepeatWithEvents
from kerascope.user_frames import warn

Numbered = Iterator[tuple[int, tuple[int, list[Any]]]]


class Course:
    """The epochs and batches that the loop of one `fit` goes through.

    Parameters
    ----------
    model, f, feed, callbacks, emit_events, run, val_epochs
        As for `fit_events`. `f` is the train function. The validation data are evaluated after the
        epochs in `val_epochs`.
    """

    def __init__(
        self, model: Any, f: Function, feed: Any, callbacks: CallbackList, emit_events: bool,
        run: Run | None, val_epochs: Container[int] | None,
    ) -> None:  # fmt: skip
        self.model, self.f, self.feed, self.callbacks = model, f, feed, callbacks
        self.emit_events = emit_events
        self.losses = LossWatch()
        self.check_loss = self.losses.look
        self._resume_point = None if run is None else run.resume_point
        self._val_epochs = val_epochs
        self._done = 0  # batches of the first epoch

    def epochs(self, wanted: range) -> range:
        """Return the epochs to train: `wanted`, or the rest of them if a stopped run continues."""
        if self._resume_point is not None:
            wanted, self._done = self._resume_point.begin(self.model, wanted.stop)
        return wanted

    def begin_epoch(self, epoch: int) -> Numbered:
        """Begin an epoch; return an iterator over (number, batch) of the batches with events."""
        done, self._done = self._done, 0
        self.model.reset_metrics()
        if self._resume_point is not None and done:
            self._resume_point.restore()
        return self._batches(epoch, done)

    def is_validated(self, epoch: int) -> bool:
        """Return whether the validation data are evaluated after an epoch.

        If `stop_training` is set, they are evaluated only in Keras 3.
        """
        if self.model.stop_training and not dialect_options().trains_as_keras_3:
            return False
        return self._val_epochs is None or epoch in self._val_epochs

    def last_logs(self, epoch_logs: dict[str, Any]) -> dict[str, Any] | None:
        """Return the logs that `on_train_end` receives.

        In Keras 3 they are the logs of the last epoch. In Keras 1 and 2 there are none, and None is
        returned.
        """
        return epoch_logs if dialect_options().logs_so_far else None

    def _batches(self, epoch: int, done: int) -> Numbered:
        fast = FastPath(self, epoch)
        batches = self.feed.epoch(kept=not fast.is_enabled, done=done)
        if done and self.model.stop_training:
            batches.close()
        yield from fast.slow_batches(batches, done)


class FastPath:
    """Trains on batches without events, while no observer or callback needs the events.

    The path is used in two cases. In the first, `fit` runs without observers and without pauses
    between events, and no callback has hooks for batches, except those that `fit` adds to count and
    average. In the second, no callback has a hook for the beginning of a batch, and an observer
    records each batch as a whole in a journal.

    Parameters
    ----------
    course : Course
    epoch : int

    Attributes
    ----------
    is_enabled : bool
        Whether there may be batches without events. If so, the next batch may overwrite the arrays
        of a batch, so observers must not keep them.
    """

    def __init__(self, course: Course, epoch: int) -> None:
        self.course = course
        self.epoch = epoch
        self._is_alone = not course.emit_events and not is_watched()
        self._ask = None if self._is_alone else getattr(current_runner(), "batches", None)
        self.is_enabled = course.callbacks.only_count_batches and self._is_alone
        self.is_enabled |= course.callbacks.needs_batch_end_only and self._ask is not None

    def slow_batches(self, batches: Generator[Any, None, None], done: int) -> Numbered:
        """Yield (number, batch) for batches that must emit events. Train on all other batches."""
        numbered: Numbered = enumerate(batches, done)
        while True:
            batch: Any = None
            if self.is_enabled:
                try:
                    self._train_on(numbered, batches)
                except RepeatWithEvents as failed:
                    (batch,) = failed.args
            batch = batch or next(numbered, None)
            if batch is None:
                return
            yield batch

    def _train_on(self, numbered: Numbered, batches: Generator[Any, None, None]) -> None:
        """Train on the next batches, up to the first batch that must emit events."""
        course, callbacks = self.course, self.course.callbacks
        model, losses = course.model, course.losses
        call: Callable[[list[Any]], Any] = course.f
        if not self._is_alone:
            journal = self._ask(course.f, course.feed, callbacks) if self._ask else None
            if journal is None:
                return
            call, numbered = journal.call, journal.without_events(numbered)
        out_labels = model.metrics_names
        averages = callbacks.averages_of(out_labels)
        for batch_index, (size, ins_batch) in numbered:
            outs = call(ins_batch)
            if not losses.warned and not is_finite(outs[0]):
                losses.look(outs[0], self.epoch, batch_index)
            if averages is not None:
                averages.add_all(out_labels, outs, size)
            else:
                batch_logs = {"batch": batch_index, "size": size}
                batch_logs.update(zip(out_labels, outs, strict=True))
                callbacks.on_batch_end(batch_index, batch_logs)
            if model.stop_training:
                batches.close()  # ends the epoch for the caller too


def number_of_epochs(epochs: Any, where: str) -> int:
    """Return the argument `epochs` of `fit`, checked. The default is 1, or 10 in Keras 1.

    Raises
    ------
    ArgumentError
        `epochs` is negative or not a whole number.
    """
    epochs = dialect_options().epochs if epochs is None else epochs
    if not isinstance(epochs, (int, np.integer)) or epochs < 0:
        raise ArgumentError(f"{where}: epochs: expected a whole number >= 0, got {epochs!r}.")
    return int(epochs)


def validation_epochs(validation_freq: Any, epochs: int, where: str) -> Container[int]:
    """Return the epochs, counted from 0, after which the validation data are evaluated.

    Raises
    ------
    ArgumentError
        `validation_freq` is neither a whole number >= 1 nor a list of such numbers.

    Examples
    --------
    >>> list(validation_epochs(2, 5, "fit"))
    [1, 3]
    """
    if isinstance(validation_freq, np.ndarray):
        validation_freq = validation_freq.tolist()
    if _is_count(validation_freq):
        return range(int(validation_freq) - 1, epochs, int(validation_freq))
    is_list = isinstance(validation_freq, (list, tuple, set, range))
    if is_list and all(map(_is_count, validation_freq)):
        return {number - 1 for number in validation_freq}
    raise ArgumentError(
        f"{where}: validation_freq: expected a whole number >= 1, or a list of epochs such as "
        f"[1, 5], got {validation_freq!r}."
    )


def _is_count(number: Any) -> bool:
    is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    return is_whole and bool(number >= 1)


def one_at_a_time() -> AbstractContextManager[Any]:
    """Return the lock that a thread holds during a training step, so that no other thread trains.

    If an observer is active, return a context manager without a lock.
    """
    return nullcontext() if is_watched() else LOCKS.steps


def call_on_batch(model: Any, function: Function, ins: list[Any]) -> list[Any]:
    """Call a function on one batch. In Keras 3, reset the model's metrics first."""
    if not dialect_options().counts_zero_weights:
        return function(ins)
    with one_at_a_time():
        model.reset_metrics()
        return function(ins)


def is_finite(loss: Any) -> bool:
    """Return whether a loss is finite. For a scalar, `math.isfinite` is ten times faster."""
    if isinstance(loss, (float, np.floating)):
        return math.isfinite(loss)
    return bool(np.isfinite(loss))


class LossWatch:
    """Warns about the first loss of a run that is not finite."""

    def __init__(self) -> None:
        self.warned = False

    def look(self, loss: Any, epoch: int, batch_index: int) -> None:
        """Warn if the loss of this batch is not finite, unless there was a warning before."""
        if self.warned or is_finite(loss):
            return
        self.warned = True
        warn(
            f"fit: the loss became {loss} in epoch {epoch}, batch {batch_index} (both counted from "
            "0). The weights are probably unusable from here on. Try a smaller learning rate or "
            "clipnorm=1.0, or look for NaN in the data.",
            NumericsWarning,
        )
