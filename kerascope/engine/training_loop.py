"""The loops over epochs and batches: fit, evaluate and predict.

`fit_events` is the loop of training. For every batch it calls the train function, which computes
the loss and writes the new weights, and it notifies the callbacks before and after. No layer is
called here and no graph is walked, because that was done once, before the loop. Batches that need
no events are trained on in `course.py`, with the same results.

The loop yields an event before and after each epoch and batch, and the function's stage in between,
so that an observer or a debugger can stop there. A `Course` decides which epochs and batches are
trained, and a feed supplies the arrays (`feeds.py`).

Keras 1 calls these loops `_fit_loop`, `_test_loop` and `_predict_loop`, Keras 2 `fit_loop`,
`test_loop` and `predict_loop` in `engine/training_arrays.py`. Lesson: chapter 15.
"""

from __future__ import annotations

from collections.abc import Container, Generator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.function import Function
from kerascope.callbacks import CallbackList, History, Progbar
from kerascope.callbacks.recording import RunningMeans, in_order
from kerascope.engine.arguments import packed, to_list
from kerascope.engine.course import Course, number_of_epochs, validation_epochs
from kerascope.engine.feeding import FitOptions
from kerascope.engine.outputs import Rows
from kerascope.engine.run import Run
from kerascope.stage import is_watched


class EpochBegun(NamedTuple):
    """Event: an epoch begins."""

    epoch: int


class BatchBegun(NamedTuple):
    """Event: a training step begins on the inputs, targets, weights and phase in `ins_batch`."""

    epoch: int
    batch_index: int
    size: int
    ins_batch: list[Any]


class BatchEnded(NamedTuple):
    """Event: the training step on a batch ended. `outs` contains the loss and the metrics."""

    epoch: int
    batch_index: int
    outs: list[Any]


class EpochEnded(NamedTuple):
    """Event: an epoch ended. `logs` contains its mean loss and metrics, and those of validation."""

    epoch: int
    logs: dict[str, Any]


def train_events(
    model: Any, feed: Any, val_feed: Any, callbacks: Any, options: FitOptions, emit_events: bool
) -> Generator[Any, Any, History]:
    """Make a model's functions and run the training loop, for `fit` and `fit_generator`."""
    where = f"{model.label}: fit"
    epochs = number_of_epochs(options.epochs, where)
    val_epochs = validation_epochs(options.validation_freq, epochs, where)
    if val_feed:
        model._refuse_uncalled_methods("test_function")
    f = yield model.train_function_stage()
    val_f = model._make_test_function() if val_feed else None
    callbacks = callbacks_of_fit(
        model, callbacks, feed, val_feed, feed.batch_size, epochs, options.verbose
    )
    first = options.initial_epoch
    with ExitStack() as endings:
        feeds = {"training": feed} | ({"validation": val_feed} if val_feed else {})
        run = Run(model, f, callbacks.callbacks, feeds, first, endings)
        callbacks.set_run(run)
        yield from fit_events(
            model, f, feed, callbacks, epochs=epochs, initial_epoch=first, val_f=val_f,
            val_feed=val_feed, val_epochs=val_epochs, emit_events=emit_events, run=run,
        )  # fmt: skip
    return model.history


def callbacks_of_fit(
    model: Any,
    callbacks: Any,
    feed: Any,
    val_feed: Any,
    batch_size: int | None,
    epochs: int,
    verbose: int,
    names: list[str] | None = None,
) -> CallbackList:
    """Return the callback list of a `fit`, with model and parameters set, and its new `History`."""
    labels = model.metrics_names
    model.history = History()
    return CallbackList.for_training(
        callbacks,
        model=model,
        params={
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": feed.steps,
            "samples": feed.samples,
            "verbose": verbose,
            "do_validation": val_feed is not None,
            "metrics": names or labels + ([f"val_{label}" for label in labels] if val_feed else []),
        },
        history=model.history,
        count_mode="samples" if feed.samples else "steps",
        validation_data=getattr(val_feed, "ins", None),
    )


def fit_events(
    model: Any,
    f: Function,
    feed: Any,
    callbacks: CallbackList,
    *,
    epochs: int,
    initial_epoch: int = 0,
    val_f: Function | None = None,
    val_feed: Any = None,
    val_epochs: Container[int] | None = None,
    emit_events: bool = True,
    run: Run | None = None,
) -> Generator[Any, Any, None]:
    """Train; yield events around each epoch and batch, and the function's stage in between.

    After each epoch in `val_epochs` (None means all), the validation data are evaluated. With
    `emit_events=False`, or if the observer runs batches itself, the `Course` may train on some
    batches itself, without events.
    """
    out_labels = model.metrics_names
    course = Course(model, f, feed, callbacks, emit_events, run, val_epochs)
    model.stop_training = False
    callbacks.on_train_begin()
    epoch_logs: dict[str, Any] = {}
    for epoch in course.epochs(range(initial_epoch, epochs)):
        callbacks.on_epoch_begin(epoch)
        batches = course.begin_epoch(epoch)
        yield EpochBegun(epoch)
        epoch_logs = {}  # filled by the first callback, BaseLogger
        # The iterator itself trains on batches that need no events (`FastPath`).
        for batch_index, (size, ins_batch) in batches:
            batch_logs = {"batch": batch_index, "size": size}
            callbacks.on_batch_begin(batch_index, batch_logs)
            yield BatchBegun(epoch, batch_index, size, ins_batch)
            # This line trains. Without observers the stage runs without events.
            outs = yield f.stage(ins_batch)
            course.check_loss(outs[0], epoch, batch_index)
            batch_logs.update(zip(out_labels, outs, strict=True))
            callbacks.on_batch_end(batch_index, batch_logs)
            yield BatchEnded(epoch, batch_index, outs)
            if model.stop_training:
                break
        if val_f is not None and course.is_validated(epoch):
            val_outs = yield from evaluate_events(val_f, val_feed, model, 0, emit_events, callbacks)
            epoch_logs.update((f"val_{k}", o) for k, o in zip(out_labels, val_outs, strict=True))
        callbacks.on_epoch_end(epoch, epoch_logs)
        yield EpochEnded(epoch, epoch_logs)
        if model.stop_training:
            break
    callbacks.on_train_end(course.last_logs(epoch_logs))


def evaluate_events(
    f: Function,
    feed: Any,
    model: Any,
    verbose: int = 0,
    emit_events: bool = True,
    callbacks: Any = None,
) -> Generator[Any, Any, list[Any]]:
    """Run a test function on all batches of a feed; return the means, weighted by batch size.

    Metrics with a state are reset first, and their last results are returned. With
    `emit_events=False` and without an observer, batches run without events.
    """
    called = _callback_list(callbacks, model, feed, verbose)
    begin, end = called.hooks("on_test_batch_begin"), called.hooks("on_test_batch_end")
    labels, stateful = model.metrics_names, model.stateful_metric_names
    bar = Progbar(feed.samples or feed.steps, verbose=verbose, stateful_metrics=stateful)
    means = RunningMeans(stateful)
    model.reset_metrics()
    model.stop_evaluating = False
    called.tell("on_test_begin", {})
    seen = 0
    for step, (size, ins_batch) in enumerate(feed.epoch()):
        for hook in begin:
            hook(step, {})
        outs = (yield f.stage(ins_batch)) if emit_events or is_watched() else f(ins_batch)
        for label, out in zip(labels, outs, strict=True):
            means.add(label, out, size)
        seen += size
        if verbose:
            bar.update(seen if feed.samples else step + 1, list(zip(labels, outs, strict=True)))
        for hook in end:
            hook(step, in_order(means.results()))
        if model.stop_evaluating:
            break
    called.tell("on_test_end", in_order(means.results()))
    return [means.result(label) for label in labels]


def _callback_list(callbacks: Any, model: Any, feed: Any, verbose: int) -> CallbackList:
    """Return the callback list of an evaluation or prediction; inside `fit`, that of `fit`."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    made = CallbackList(callbacks)
    made.set_model(model)
    made.set_params({"verbose": verbose, "epochs": 1, "steps": feed.steps})
    return made


def predict_events(
    f: Function,
    feed: Any,
    verbose: int = 0,
    emit_events: bool = True,
    model: Any = None,
    callbacks: Any = None,
) -> Generator[Any, Any, list[np.ndarray]]:
    """Run a predict function on all batches of a feed; return its outputs, joined by samples.

    With `emit_events=False` and without an observer, batches run without events.
    """
    bar = Progbar(feed.samples or feed.steps, verbose=verbose)
    rows = Rows(feed.samples)
    called = _callback_list(callbacks, model, feed, verbose)
    begin, end = called.hooks("on_predict_batch_begin"), called.hooks("on_predict_batch_end")
    if model is not None:
        model.stop_predicting = False
    called.tell("on_predict_begin", {})
    seen = 0
    for step, (size, ins_batch) in enumerate(feed.epoch()):
        for hook in begin:
            hook(step, {})
        outs = (yield f.stage(ins_batch)) if emit_events or is_watched() else f(ins_batch)
        rows.add(to_list(outs), seen, size)
        seen += size
        if verbose:
            bar.update(seen if feed.samples else step + 1, [])
        for hook in end:
            hook(step, {"outputs": packed(model._output_structure, to_list(outs))})
        if getattr(model, "stop_predicting", False):
            break
    called.tell("on_predict_end", {})
    return [x[:seen] for x in rows.joined()] if end else rows.joined()
