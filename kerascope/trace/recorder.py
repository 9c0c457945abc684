"""The recorder: an observer of the engine's stages that writes `Event`s on a tape.

::

    recorder = Recorder()
    recorder.listeners.append(print)          # prints each event at once
    with observing(recorder):
        model.fit(x, y)
    recorder.close()
    recorder.tape.names_at(61)["tensor_map"]

Each kind of stage has a `StageRecorder`, for the stage's events and the names in its
source: for building (`recorder_build.py`), compiling (`recorder_compile.py`) and the call of a
function (`recorder_function.py`), and in this module for the loops over epochs and batches. The
clock and the spans are in `event_writer.py`.

The start of a span, its "B" event, is recorded before the work begins if the order of the work is
known: for stages, for the ops of a function (from the schedule), and for the layer calls of a graph
run (by depth). So a listener that blocks at this event stops the program before the op, and may
change the arrays in the slots
(`recorder.stage.names["values"]`). When the engine reports that an op is done, its "E" with the
value is recorded, and then the next "B". If the engine only reports the end (a layer's `build`, an
epoch's last callbacks, the backward pass through one layer), "B" and "E" follow each other.

If a span fails or is abandoned, its "E" event is recorded as well, with the name `error`. So after
`close` each "B" event on the tape has its "E" event.

The engine does not report some things, so no tape has them: calls of layers inside another layer's
`call` during symbolic building (for a function's ops, the scopes identify them, see
`function_plan.py`), the start and end of single callbacks, and `set_value` itself (`weight.set` is
recorded at the next call of a function that reads the variable).

Lesson: chapter 12.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Constant
from kerascope.callbacks.base import Callback
from kerascope.engine.arguments import to_list
from kerascope.engine.calling import LayerBuilt
from kerascope.engine.feeds import Feed
from kerascope.engine.training_loop import (
    BatchBegun,
    BatchEnded,
    EpochBegun,
    EpochEnded,
    fit_events,
)
from kerascope.errors import ArgumentError
from kerascope.stage import Mark, Stage
from kerascope.trace.event_writer import (
    EventWriter,
    StageRecorder,
    place_in_script,
    place_of_failure,
    place_of_use,
)
from kerascope.trace.events import MARKS, NO_FACTS, Delta, Event
from kerascope.trace.function_plan import FunctionPlan
from kerascope.trace.history import runs_of
from kerascope.trace.journal import Batches, Journal, UnrecordedRun, expand_mark
from kerascope.trace.recorder_build import (
    CheckRecorder,
    DepthRecorder,
    IgnoredStage,
    LayerCallRecorder,
    RunRecorder,
    WalkRecorder,
    record_built,
)
from kerascope.trace.recorder_compile import (
    CompileRecorder,
    GradientsRecorder,
    TrainFunctionRecorder,
    UpdatesRecorder,
)
from kerascope.trace.recorder_function import FunctionRecorder, override
from kerascope.trace.snapshots import error_ref
from kerascope.trace.stepper import Passage


class Recorder(EventWriter):
    """An observer that writes events on a tape.

    Parameters
    ----------
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain to record. The names of finer events are added to the next recorded event.
    statistics_only : bool
        Whether to keep the statistics of arrays instead of their values.
    history : int or None
        The limit of the tape in bytes, for events and arrays; None for unlimited.

    Attributes
    ----------
    tape : Tape
    listeners : list of callable
        Called with each event. A listener may block, and an error that it raises stops the program.
    when_settled : callable or None
        Called after the mark of a run of calls without events is on the tape.
    open_run : UnrecordedRun or None
        The current run of calls without events.
    stage : Stage or None
        The stage that yielded the last event. Its `names` are its live local names, and its `frame`
        is its paused frame.

    Raises
    ------
    ArgumentError
        The level is unknown.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.journal = Journal(self)
        self.open_run: UnrecordedRun | None = None
        self.when_settled: Callable[[], None] | None = None
        self._around: dict[tuple[str, ...], list[Event]] = {}  # by the callbacks that run now
        self.tape.expand_mark = expand_mark

    def __call__(self, stage: Stage, event: Any) -> None:
        """Record an event of a stage; called by the stage, because the recorder is an observer."""
        if self.open_run is not None and not isinstance(event, Stage):
            self.settle()
        self.stage = stage
        if event.__class__ is not Mark:
            observers = self.observers
            if observers and observers[-1].stage is stage and not isinstance(event, Stage):
                observers[-1].event(event)
        elif event is Mark.started:
            self._start(stage)
        else:
            self._leave(stage, event)

    def close(self) -> None:
        """End all open spans; call it when recording is over."""
        self.settle()
        super().close()

    # --- calls without events ---------------------------------------------------------------------

    def sample_of(self, function: Function, callbacks: Any = None) -> list[Event]:
        """Return the events of a function's last recorded call; [] if the tape has them no longer.

        With `callbacks`, events of a batch and its callbacks are added. These have only the values
        that are the same in all batches, and are not on the tape.
        """
        _, count, began = self.memory.lengths.get(function, (None, 0, 0))
        events: list[Event] = self.tape[began : began + count] if count else []
        if len(events) != count or any(event.kind in MARKS for event in events):
            return []
        if callbacks is not None:
            events += self._around_a_call(names_of_callbacks(callbacks, "on_batch_end"))
        return events

    def _around_a_call(self, callbacks: list[str]) -> list[Event]:
        """Return the events that a batch and its callbacks cause, without the call of the function.

        They are recorded for a batch without data, and are not on the tape.
        """
        known = tuple(callbacks)
        if known not in self._around:
            again = self.scratch_recorder(None)
            again.record_batch(0, 0, [], list, callbacks)
            self._around[known] = list(again.tape)
        return self._around[known]

    def scratch_recorder(self, history: int | None) -> Recorder:
        """Return a new recorder with an empty tape and the same registered models and functions."""
        again = type(self)(self.level, history=history)
        again.memory = self.memory.without_values()
        again.describer = again.memory.describer
        return again

    def feed_of(self, epoch: int, batch: int) -> Any:
        """Return the feed of a batch, with the sample order of its epoch; None if not stored.

        Parameters
        ----------
        epoch, batch : int
            The times at which the epoch and the batch began.
        """
        found = self.feeds.get(epoch)
        return self.journal.feed_at(batch) if found is None else found

    def record_batch(
        self,
        number: int,
        size: int,
        fed: list[Any],
        call: Callable[[], list[Any]],
        callbacks: list[str],
    ) -> None:
        """Record a batch of `fit`. `call` records its function call and returns the outputs."""
        called = place_of_use(fit_events, Function.stage)
        self.begin_batch(number, size, fed, place_of_use(fit_events, BatchBegun))
        outs = call()
        self.begin_callbacks("on_batch_end", callbacks, called)
        self.end_batch(outs)

    def batches_of(self, function: Function, feed: Any, callbacks: Any, passage: Passage) -> Any:
        """Return an object that trains on the next batches without events, or None.

        None means that the next batch must be recorded, because the number of events in a call is
        not known yet, or because the callbacks may cause events.
        """
        fit = self.observers[-1] if self.observers else None
        if not isinstance(fit, FitRecorder) or fit.batch is not None or not fit.stage.is_drained:
            return None
        if function is not fit.stage.subject.train_function:
            return None
        if not (callbacks.only_count_batches or fit.callbacks_call_nothing):
            return None
        names = names_of_callbacks(callbacks, "on_batch_end")
        run = self._begin_run(function, names, passage)
        return None if run is None else Batches(self.journal, run, feed, passage.but)

    def call_of(self, function: Function, fed: Any, passage: Passage) -> Any:
        """Return a function that computes a call without events; None if it must be recorded."""
        if self.open_run is not None and self.open_run.is_in_batch:
            self.settle()
        fit = self.observers[-1] if self.observers else None
        if isinstance(fit, FitRecorder) and fit.batch is not None:
            return None
        run = self.open_run
        if passage.but and self._number_of_call(function) in passage.but:
            return None
        if run is not None and run.function is function and run.callbacks is None:
            if not run.journal.may_continue or not _are_arrays(fed):
                return None
        else:
            run = self._begin_run(function, None, passage) if _are_arrays(fed) else None
        return None if run is None else partial(run.journal.take, run, fed)

    def _number_of_call(self, function: Function) -> int:
        """Return the index of a training call of a model outside of `fit`; -1 for other calls."""
        facts = self.memory.facts(function)
        if self.spans or facts is None or function.name != "train_function":
            return -1
        name, run, t = str(facts.model.name), self.open_run, self.tape.next_time
        skipped = len(run) if run is not None and run.trains == name else 0
        return runs_of(self.tape, t).number(name, t) + skipped

    def _begin_run(
        self, function: Function, callbacks: list[str] | None, passage: Passage
    ) -> UnrecordedRun | None:
        last: tuple[FunctionPlan, int, int] | None = self.memory.lengths.get(function)
        if last is None or last[0] is not self.memory.plans.get(function):
            return None
        plan, events, _ = last
        if plan.facts is None and self.memory.facts(function) is not None:
            return None
        if self.level != "detail" or self.memory.statistics_only or self._waiting:
            return None
        if len(self.spans) == 1 and self.spans[0][0] == "build":
            return None
        journal = self.journal
        info = journal.info(function)
        if not info.is_even or (passage.catching and not info.can_be_caught_in):
            return None
        if passage.losses and not (info.can_be_left and _gives_its_loss(plan)):
            return None
        self.settle()
        info.events = events
        around = 0 if callbacks is None else len(self._around_a_call(callbacks))
        facts = (list(self.spans), self._act, self._phase, callbacks, around, passage.catching)
        run = UnrecordedRun(journal, function, len(journal.rows), *facts, [self.tape.next_time])
        if run.starts[0] + events + run.events_around > passage.until:
            return None
        journal.learn(function)
        journal.begin(run, passage.until, passage.meets if passage.losses else None)
        self.open_run = run
        return run

    def settle(self) -> None:
        """End the open run of calls without events, and append its mark to the tape.

        If the callbacks of the last batch are running, the events of this batch up to its callbacks
        are appended after the mark.
        """
        run, self.open_run = self.open_run, None
        if run is None:
            return
        run.journal.may_continue = False
        events: list[Event] = []
        if (run.is_in_batch or run.records_end) and len(run):
            with suppress(ArgumentError):
                events = run.journal.events_of(run, len(run) - 1)
                run.starts.pop()
        if len(run):
            self.tape.append(run.mark(0, len(run)))
        if events:
            self._open_callbacks(run, events)
        if self.when_settled is not None:
            self.when_settled()

    def _open_callbacks(self, run: UnrecordedRun, events: list[Event]) -> None:
        """Append the events of a batch up to the start of its callbacks, whose spans stay open."""
        run.is_open = run.records_end = True
        begins = [event for event in events if event.kind in ("batch", "callbacks")]
        for event in events[: events.index(begins[1]) + 1 + len(run.callbacks or ())]:
            self.tape.append(event)
        begin, end = (
            e.t for e in events if e.kind == "function" and e.depth == begins[0].depth + 1
        )
        run.journal.add_recorded_call(run, begin, end + 1)
        for span in begins[:2]:
            around = (self._act, self._phase)
            self.spans.append((span.kind, span.name, span.where, span.grain, True, *around))
            self._enter(span.kind, span.grain)
        self._depth = len(self.spans)
        fit = next(o for o in reversed(self.observers) if isinstance(o, FitRecorder))
        fit.batch, fit.callbacks_call_nothing = run.journal.rows[-1].number, False

    def record_end_of_batch(self, run: UnrecordedRun) -> None:
        """Record the end of a batch and of its callbacks, if their spans on the tape are open."""
        if self.open_run is run:
            self.settle()
        if not run.is_open:
            return
        run.is_open = False
        fit = next(o for o in reversed(self.observers) if isinstance(o, FitRecorder))
        fit.batch = None
        self.end_batch(run.journal.rows[run.first + len(run)].outs)

    # --- following stages -------------------------------------------------------------------------

    def _observer_of(self, stage: Stage) -> StageRecorder:
        if isinstance(stage.subject, Function):
            return FunctionRecorder(self, stage)
        return RECORDERS.get(stage.name, StageRecorder)(self, stage)

    def _start(self, stage: Stage) -> None:
        observer = self._observer_of(stage)
        self.observers.append(observer)
        try:
            self._open_act(observer)
            observer.level_of_spans = len(self.spans)
            observer.started()
        except BaseException as error:  # a listener stopped the program, so the stage never ends
            self._fail(observer, error)
            raise

    def _open_act(self, observer: StageRecorder) -> None:
        """Open the act "build" before a stage that builds models; close it before other stages."""
        if observer.builds and not self.spans:
            self.begin("build", "build", place_in_script(observer.first_made_at()))
        elif not observer.builds and len(self.spans) == 1 and self.spans[0][0] == "build":
            self.end(where=place_in_script(None))

    def _leave(self, stage: Stage, mark: Mark) -> None:
        if all(observer.stage is not stage for observer in self.observers):
            return
        while self.observers[-1].stage is not stage:
            self._fail(self.observers[-1], None)
        observer = self.observers[-1]
        if mark is Mark.finished:
            observer.finished()
            self.observers.remove(observer)
        else:
            self._fail(observer, sys.exc_info()[1])

    def _fail(self, observer: StageRecorder, error: BaseException | None) -> None:
        """End all spans of a stage that failed, even if `listeners` raise errors meanwhile."""
        self.memory.figures.settle()
        self.observers.remove(observer)
        raised: BaseException | None = None
        while len(self.spans) > observer.level_of_spans:
            try:
                where = place_of_failure(self.spans[-1][2], error)
                self.end((Delta("error", None, error_ref(error)),), where)
            except BaseException as new:
                raised = new
        if raised is not None:
            raise raised

    # --- models and live objects ------------------------------------------------------------------

    def know(self, model: Any) -> None:
        """Register a model whose functions exist already and may be called directly."""
        self.memory.know(model)

    def live(self, t: int, name: str) -> Any:
        """Return the live object of a name at time `t`; None if the object was deleted.

        Parameters
        ----------
        t : int
        name : str
            A name at that time, or the name of a tensor, node or layer.
        """
        names = self.tape.names_at(t)
        if name in names:
            return self.describer.live(names[name])
        for event in self.tape.back(t):
            for delta in event.deltas:
                if getattr(delta.value, "name", None) == name:
                    return self.describer.live(delta.value)
        return None

    def override(self, name: str, value: Any) -> None:
        """Replace the array of a tensor in the paused function call.

        Callables in `listeners` may call this method. The event "override" records the replacement.
        """
        observer = self.observers[-1] if self.observers else None
        if not isinstance(observer, FunctionRecorder):
            raise ArgumentError(f"set {name}: no function is being called now.")
        override(observer, name, value)


def _are_arrays(fed: Any) -> bool:
    return isinstance(fed, (list, tuple)) and all(
        isinstance(x, (np.ndarray, np.generic, float)) for x in fed
    )


# --- runs over epochs and batches -----------------------------------------------------------------


class FitRecorder(StageRecorder):
    """Records `fit`: the loop over epochs and batches.

    Attributes
    ----------
    batch : int or None
        The number of the current batch; None between batches and for batches without events.
    callbacks_call_nothing : bool
        Whether no callback at the end of a recorded batch caused events.
    """

    batch: int | None = None
    callbacks_call_nothing = False
    _epoch_began_at = -1
    _recorded_at_end = 0  # the tape's next time when the callbacks of the last batch began

    def started(self) -> None:
        """Record the start of a `fit`."""
        model = self.stage.subject
        self.memory.know(model)
        self._has_begun = False
        self.begin("fit", model.name, model=self.ref(model))

    def event(self, event: Any) -> None:
        """Record the start or end of an epoch or a batch."""
        memory = self.memory
        if isinstance(event, EpochBegun):
            hooks = ["on_epoch_begin"] if self._has_begun else ["on_train_begin", "on_epoch_begin"]
            self._has_begun, self._epoch_began_at = True, self.recorder.tape.next_time
            # A subclassed model gets its metrics only now, because the data determine its graph.
            facts = {"metrics": list(self.stage.subject.metrics_names)}
            self.begin("epoch", f"epoch {event.epoch}", epoch=event.epoch, facts=facts)
            self._begin_callbacks(*hooks)
            self.end()
        elif isinstance(event, BatchBegun):
            self.batch = event.batch_index
            where = self.recorder.where(self.stage)
            self._note_order()
            self.recorder.begin_batch(event.batch_index, event.size, event.ins_batch, where)
        elif isinstance(event, BatchEnded):
            self.callbacks_call_nothing = self.recorder.tape.next_time == self._recorded_at_end
            self.batch = None
            self.recorder.end_batch(event.outs)
        elif isinstance(event, EpochEnded):
            self._begin_callbacks("on_epoch_end")
            self.end()
            logs = {name: memory.copied(x) for name, x in event.logs.items()}
            self.end(epoch_logs=logs, result=logs)

    def _note_order(self) -> None:
        """Store a feed that repeats the order of samples that `fit` drew for this epoch."""
        feeds, feed = self.recorder.feeds, self.stage.names.get("feed")
        if self._epoch_began_at not in feeds and isinstance(feed, Feed):
            feeds[self._epoch_began_at] = getattr(feed.batches_again(), "__self__", None)

    def function_returned(self, function: Function) -> None:
        """Record the start of the callbacks of a batch, after the call of its train function."""
        is_its_own = self.recorder.spans[-1][0] == "batch"  # otherwise a callback called it
        if is_its_own and function is self.stage.subject.train_function:
            self._begin_callbacks("on_batch_end")
            self._recorded_at_end = self.recorder.tape.next_time

    def _begin_callbacks(self, *hooks: str) -> None:
        names = names_of_callbacks(self.stage.names.get("callbacks"), *hooks)
        self.recorder.begin_callbacks(hooks[-1], names, self.recorder.where(self.stage))


def _gives_its_loss(plan: FunctionPlan) -> bool:
    """Return whether a function returns the total loss of its model as the first output."""
    outputs = plan.function.outputs
    loss = plan.facts.losses.get("total_loss") if plan.facts is not None else None
    return bool(outputs) and outputs[0] is loss


def names_of_callbacks(callbacks: Any, *hooks: str) -> list[str]:
    """Return "Class.hook" for each hook that a callback overrides, in the order of the hooks."""
    return [
        f"{type(callback).__name__}.{hook}"
        for hook in hooks
        for callback in getattr(callbacks, "callbacks", ())
        if getattr(getattr(callback, hook), "__func__", None) is not getattr(Callback, hook)
    ]


class CallRecorder(StageRecorder):
    """Records `evaluate`, `predict`, and a call of a layer or model on arrays."""

    def started(self) -> None:
        """Record the start of the stage; for calls on arrays, with the inputs."""
        subject, memory = self.stage.subject, self.memory
        ref = self.ref(subject)
        if self.stage.name == "eager_call":
            call = self.stage.names["call"]
            inputs = [memory.copied(x.value) for x in call.tensors if isinstance(x, Constant)]
            made_at = self.recorder.began_at() or subject.made_at
            self.begin("function", subject.name, layer=ref, inputs=inputs, made_at=made_at,
                       facts={"is_eager": True})  # fmt: skip
        else:
            memory.know(subject)
            named = self.stage.name == "evaluate"
            names = list(getattr(subject, "metrics_names", ())) if named else []
            facts = {"metrics": names} if named else NO_FACTS
            self.begin(self.stage.name, subject.name, model=ref, facts=facts)

    def event(self, event: Any) -> None:
        """Record the weights of a layer that was built."""
        if isinstance(event, LayerBuilt):
            record_built(self, event, event.layer.made_at)

    def finished(self) -> None:
        """Record the end of the stage with its results."""
        results = tuple(
            self.memory.copied(x if isinstance(x, np.generic) else np.asarray(x))
            for x in to_list(self.stage.result)
        )
        self.end_all(result=results[0] if len(results) == 1 else results)


RECORDERS: dict[str, type[StageRecorder]] = {
    "layer_call": LayerCallRecorder,
    "run_internal_graph": RunRecorder,
    "map_graph": IgnoredStage,
    "build_map": WalkRecorder,
    "depth_sort": DepthRecorder,
    "check_graph": CheckRecorder,
    "compile": CompileRecorder,
    "make_train_function": TrainFunctionRecorder,
    "get_updates": UpdatesRecorder,
    "gradients": GradientsRecorder,
    "fit": FitRecorder,
    "evaluate": CallRecorder,
    "predict": CallRecorder,
    "eager_call": CallRecorder,
}
