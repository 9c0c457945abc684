"""The records of training and calls for `kerascope trace`, and the observer that makes them.

::

    records = []
    with reporting(RunReport(records.append)):
        model.fit(x, y)

`reporting` records the block on a tape that keeps no events. Each record appears as soon as its
event is made. The first batches of a train function are shown in full, by a `BatchReport`. Later
batches, and calls that are shown in one line, run as compiled programs without events.

Lesson: chapter 14 (update tuples, and a batch in full).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.function import Function
from kerascope.engine.arguments import to_list
from kerascope.stage import observing
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.recorder import FitRecorder, Recorder
from kerascope.trace.records import counted, listed
from kerascope.trace.report import (
    MAKING,
    RUNS,
    RunReport,
    are_finite,
    emit_train_function,
    figures_of,
    line_of,
    own_name,
    reports,
)
from kerascope.trace.run_state import RunSpan, first_of
from kerascope.trace.statistics import Statistics, figure, norm_of
from kerascope.trace.tape import TracingObserver
from kerascope.trace.tape_store import Tape
from kerascope.unrecorded import RepeatWithEvents

HEADINGS = {
    "forward": "by falling depth; what enters tensor_map",
    "loss": "of this batch, with the old weights",
    "backward": "d total_loss / d x, from the loss back",
    "update": "every new_v is computed before any is written",
    "commit": "v <- new_v",
}

# --- training -------------------------------------------------------------------------------------


@reports("epoch", BEGIN)
def _epoch(report: RunReport, event: Event, _: Any) -> None:
    report.fit_section()
    report.epochs.append(Counter())


@reports("batch", BEGIN)
def _batch(report: RunReport, event: Event, _: Any) -> None:
    fit, epoch = report.state.around("fit"), report.state.around("epoch")
    if fit is None or epoch is None:
        return
    is_shown = report.shows_next(fit.name)
    report.count_batch(is_shown)
    if is_shown:
        report.fit_section()
        size, number = value_of_event(event, "size"), value_of_event(event, "batch_index")
        report.emit("fit", "batch", 1, f"{epoch.name}, batch {number}", counted(size, "sample"),
                    size=size)  # fmt: skip


@reports("batch", END)
def _batch_done(report: RunReport, event: Event, span: RunSpan) -> None:
    epoch = report.state.around("epoch")
    if epoch is not None and report.epochs and report.shows_batch:
        names = epoch.facts.get("metrics", ())
        report.figures("outs", 2, "outs", zip(names, value_of_event(event, "outs"), strict=False))


@reports("epoch", END)
def _epoch_done(report: RunReport, event: Event, span: RunSpan) -> None:
    report.fit_section()
    batches = report.epochs.pop()
    words = counted(batches.total(), "batch")
    words += (
        f", {batches[False]} not shown" if all(batches[shown] for shown in (True, False)) else ""
    )
    logs = value_of_event(event, "epoch_logs") or {}
    report.figures("epoch", 1, span.begin.name, logs.items(), words)


# --- calls ----------------------------------------------------------------------------------------


@reports("function", BEGIN)
def _function(report: RunReport, event: Event, span: RunSpan) -> None:
    if event.name == MAKING:
        name = f"{MAKING} {value_of_event(event, 'model').name}"
        report.section(event.t, MAKING, name, "symbols only: nothing is computed")
    model = event.facts.get("trains")
    if model is not None and report.shows_next(model):
        if not report.state.is_inside("fit"):
            name = f"train_on_batch {model}"
            report.section(name, "fit", name, "one batch, without fit")
        report.batch = BatchReport(report, span)
    report.calls[str(model)] += 1


@reports("function", END)
def _function_done(report: RunReport, event: Event, span: RunSpan) -> None:
    begin = span.begin
    if begin.name == MAKING:
        emit_train_function(report, event, begin)
    elif report.batch is not None and report.batch.span is span:
        report.batch.end()
        report.batch = None
    elif report.state.is_inside("function", *RUNS):
        return
    elif begin.facts.get("is_eager"):
        _emit_call(report, f"{event.name}(array)", event)
    else:
        outputs = value_of_event(event, "outputs") or ()
        report.function_called(event.name, begin.facts, outputs)


@reports("evaluate", END)
@reports("predict", END)
def _run_done(report: RunReport, event: Event, span: RunSpan) -> None:
    if not report.state.is_inside("function", *RUNS):
        names = span.begin.facts.get("metrics", ())
        _emit_call(report, f"{event.name}.{event.kind}", event, names)


def _emit_call(report: RunReport, name: str, event: Event, metrics: Iterable[str] = ()) -> None:
    """Emit a record with the results of a call.

    With `metrics`, the names of the results, each result is shown as "name=value". Otherwise its
    statistics are shown.
    """
    result = value_of_event(event, "result")
    results = list(result) if isinstance(result, tuple) else [result]
    words = [f"{key}={figure(x)}" for key, x in zip(metrics, results, strict=False)]
    found = [figures_of(x) for x in results]
    report.call(name, words or [" ".join(x.cells) for x in found], all(x.is_sound for x in found))


# --- a batch in full ------------------------------------------------------------------------------


class BatchReport:
    """Reports a call of a train function in full. Each record appears when its value is computed.

    Parameters
    ----------
    report : RunReport
    span : RunSpan
        The span of the call.
    """

    def __init__(self, report: RunReport, span: RunSpan) -> None:
        self.report, self.span, self.facts = report, span, span.begin.facts
        roles = self.facts.get("roles", {})
        self.roles = {name: role for role, names in roles.items() for name in names}
        self._phase = ""
        self._names: dict[str, str] = {}  # shown tensors, by key of `tensor_map`
        self._changes: list[Callable[[], None]] = []  # records of new values until "update"
        self._alarms: list[Callable[[], None]] = []
        self._is_sound = True
        begin = span.begin
        ops = counted(self.facts.get("ops", 0), "op")
        words = f"outs = f(ins_batch): {ops}, no layer is called"
        report.emit("forward", "begin", 2, begin.name, words)
        names, arrays = value_of_event(begin, "feed_names"), value_of_event(begin, "inputs")
        fed = dict(zip(names or (), arrays or (), strict=False))
        for name, array in fed.items():
            kind = "tensor" if name in report.state.values else "fed"
            report.array("forward", kind, 3, name, array, tensor=name)
        own = {*self.facts.get("reads", ()), *self.roles}
        for name, array in report.state.weights.items():
            if name in own or name.rpartition("/")[0] in self.roles:
                fed[name] = array
        brought = [name for name, array in fed.items() if not are_finite([array])]
        if brought:
            self._alarm("NaN or Inf", "not made here: it came with", listed(brought))

    def _alarm(self, name: str, *words: str, **facts: Any) -> None:
        """Store a record about a NaN or infinity, to emit it before those of updates."""
        emit = partial(self.report.emit, "forward", "not_finite", 2, name, *words, alarm=True)
        self._alarms.append(partial(emit, **facts))

    def begin(self, phase: str) -> None:
        """Emit the heading of a phase, unless this phase is the current one."""
        if phase != self._phase:
            self._phase = phase
            if phase in ("update", "commit"):
                _emit_all(self._alarms)
            self.report.emit(phase, "begin", 2, phase, HEADINGS.get(phase, ""))

    def depth(self, depth: int) -> None:
        """Emit the heading of a depth of the network, in the forward pass."""
        self.begin("forward")
        self.report.emit("forward", "depth", 3, f"depth {depth}", at=depth)

    def op(self, event: Event, begin: Event) -> None:
        """Emit a record for each of an op's outputs that has a name in the model."""
        result = value_of_event(event, "result")
        expression = begin.facts.get("expression", own_name(event.name))
        if self.report.level == "op":
            self._emit_op(event, expression, first_of(result))
        self._look_for_nan(event, begin, expression, result)
        for name, key, array in event.deltas:
            if name == "tensor_map" and key is not None:
                self._tensor(str(key), first_of(array), event)
            elif name == "total_loss" or (name == "loss_list" and key is not None):
                self._scalar("loss", key or name, array, event)
            elif name == "metrics" and key is not None:
                self._scalar("metrics", key, array, event)
            elif name == "grads" and key is not None:
                self._gradient(key, array, event)
            elif name == "updates" and key is not None:
                self._new_value(key, array, event)

    def _emit_op(self, event: Event, expression: str, array: Any) -> None:
        self.begin(event.phase)
        found = figures_of(array)
        depth, words = 3 + self.report.state.is_inside("depth"), expression.partition(" -> ")[0]
        self.report.emit(event.phase, "op", depth, own_name(event.name), words, *found.short_cells,
                         alarm=not found.is_sound)  # fmt: skip

    def _look_for_nan(self, event: Event, begin: Event, expression: str, result: Any) -> None:
        if not self._is_sound or are_finite(result if isinstance(result, tuple) else [result]):
            return
        if are_finite(value_of_event(begin, "inputs") or ()):
            self._is_sound = False
            place, made = line_of(event.where), event.where.made
            if made is not None and place:
                is_own = not made.role and made.function not in ("", "<module>")
                place += f" in {made.function}" if is_own else ""
                place += f" ({made.words})" if made.words else ""
            words = ("made from finite numbers by", expression, *filter(None, [place]))
            self._alarm("first NaN or Inf", *words, **figures_of(first_of(result)).facts)

    def _tensor(self, key: str, array: Any, event: Event) -> None:
        if key not in self._names and event.phase == "forward":
            name = self.facts.get("tensors", {}).get(key, own_name(event.name))
            self._names[key] = name
            self.begin("forward")
            self.report.array("forward", "tensor", 4, name, array, tensor=name.partition(" ")[0])

    def _scalar(self, phase: str, name: str, array: Any, event: Event) -> None:
        self.begin(phase)
        self.report.array(phase, phase, 3, name, array, tensor=own_name(event.name))

    def _gradient(self, key: str, array: Any, event: Event) -> None:
        self.begin("backward")
        is_weight = key in self.roles
        name = key if is_weight else self._names.get(key, key)
        is_dead = is_weight and figures_of(array).norm == 0
        words = ("all 0: learns nothing",) if is_dead else ()
        kind = "weight_gradient" if is_weight else "gradient"
        self.report.array("backward", kind, 3, name, array, *words, tensor=own_name(event.name))

    def _new_value(self, name: str, array: Any, event: Event) -> None:
        """Make the record of a variable's change, and emit it once the phase "update" has begun."""
        old = self.report.state.weights.get(name)
        if isinstance(old, Statistics) or np.asarray(array).dtype.kind not in "f" or old is None:
            return
        with np.errstate(all="ignore"):
            change = norm_of(np.asarray(array, "float64") - old)
        size, role = norm_of(old), self.roles.get(name, "slot")
        share = (f"{figure(100 * change / size)} % of |v|",) if size else ()
        words = (role, f"|new_v - v|={figure(change)}", *share)
        row = partial(self.report.emit, "update", "new_value", 3, name, *words, change=change,
                      alarm=not np.isfinite(change))  # fmt: skip
        self._changes.append(row)
        if event.phase == "update":
            self._emit_changes()

    def _emit_changes(self) -> None:
        if self._changes:
            self.begin("update")
            _emit_all(self._changes)

    def commit(self, event: Event) -> None:
        """Emit a record of a variable that is written, with its old and its new value."""
        self._emit_changes()
        self.begin("commit")
        old, new = value_of_event(event, "old"), value_of_event(event, "new")
        facts: dict[str, Any] = {}
        if isinstance(new, Statistics):
            facts = {"old_norm": old.norm, "new_norm": new.norm}
            words = f"|v|={figure(old.norm or 0)} -> {figure(new.norm or 0)}"
        elif np.ndim(new) == 0:
            words = f"{figure(old)} -> {figure(new)}"
        else:
            facts = {"old_norm": norm_of(old), "new_norm": norm_of(new)}
            words = f"|v|={figure(facts['old_norm'])} -> {figure(facts['new_norm'])}"
            words += "  unchanged" if np.array_equal(old, new) else ""
        self.report.emit("commit", "commit", 3, event.name, words, alarm=not are_finite([new]),
                         **facts)  # fmt: skip

    def end(self) -> None:
        """Emit the records that are kept for the phase "update", if the call has no such phase."""
        self._emit_changes()
        _emit_all(self._alarms)


def _emit_all(waiting: list[Callable[[], None]]) -> None:
    for emit in waiting:
        emit()
    waiting.clear()


@reports("depth", BEGIN)
def _depth_begun(report: RunReport, event: Event, _: Any) -> None:
    if report.batch is not None and event.phase == "forward":
        report.batch.depth(value_of_event(event, "depth"))


@reports("op", END)
def _op(report: RunReport, event: Event, span: RunSpan) -> None:
    if report.batch is not None:
        report.batch.op(event, span.begin)


@reports("update.apply")
def _commit(report: RunReport, event: Event, _: Any) -> None:
    if report.batch is not None:
        report.batch.commit(event)


# --- reporting a run ------------------------------------------------------------------------------


class Clock(Tape):
    """A tape that only counts events."""

    def append(self, event: Event) -> None:
        """Count an event without storing it."""
        self._events.lost = event.t + 1


@contextmanager
def reporting(report: RunReport) -> Iterator[None]:
    """Write the records of everything that runs inside the `with` block to a report."""
    observer = _Reporting(report)
    try:
        with observing(observer):
            yield
    finally:
        observer.recorder.close()
        report.close()


class _Reporting(TracingObserver):
    """Observes a run for a report. Only calls that the report shows in full run with events."""

    def __init__(self, report: RunReport) -> None:
        super().__init__(Recorder(tape=Clock(history=None)))
        self.report = report
        self.recorder.listeners.append(report)

    def unrecorded_batches(self, function: Function, feed: Any, callbacks: Any) -> Any:
        """Return an object that trains on the next batches without events, or None.

        None means that the next batch is shown in full.
        """
        observers = self.recorder.observers
        fit = observers[-1] if observers else None
        if not isinstance(fit, FitRecorder) or fit.batch is not None or not fit.stage.is_drained:
            return None
        model = fit.stage.subject
        if function is not model.train_function or self.report.shows_next(model.name):
            return None
        return CountedBatches(function, self.report)

    def unrecorded_call(self, function: Function, fed: Any) -> Any:
        """Return a function that computes a call without events; None to show the call in full."""
        names = [y.name for y in function.outputs]
        trains = function.name == "train_function"
        known = self.recorder.memory.facts(function) if trains else None
        if known is not None:
            if self.report.shows_next(str(known.model.name)):
                return None
            names = known.output_names
        compute = partial(with_float_settings, function._compute, fed)
        facts = {"outputs": names, "updates": len(function.updates)}
        return partial(self._call, function.name, compute, facts)

    def _call(self, name: str, compute: Callable[[], Any], facts: Mapping[str, Any]) -> Any:
        try:
            outs = compute()
        except Exception:
            raise RepeatWithEvents from None
        if not self.report.state.is_inside("function", *RUNS):
            self.report.function_called(name, facts, to_list(outs))
        return outs


class CountedBatches:
    """Trains on the batches of `fit` without events, and counts them.

    Parameters
    ----------
    function : Function
    report : RunReport
    """

    def __init__(self, function: Function, report: RunReport) -> None:
        self._compute = partial(with_float_settings, function._compute)
        self._report = report
        self._batch: Any = None

    def without_events(self, numbered: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches of an epoch with their numbers; none of them is recorded."""
        for self._batch in numbered:
            yield self._batch

    def call(self, fed: list[Any]) -> Any:
        """Train on a batch without events, and count the batch.

        Raises
        ------
        RepeatWithEvents
            The call failed. Repeated with events, the call shows where the error is.
        """
        try:
            outs = self._compute(fed)
        except Exception:
            raise RepeatWithEvents(self._batch) from None
        self._report.count_batch()
        return outs
