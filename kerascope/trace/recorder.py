"""Recorder: an observer that writes what the stages of the engine record on a tape, as `Event`s.

::

    recorder = Recorder()
    recorder.listeners.append(print)          # hears each event as soon as it exists
    with observing(recorder):
        model.fit(x, y)
    recorder.close()
    recorder.tape.names_at(61)["tensor_map"]

Each kind of stage has a `StageRecorder`, which knows the stage's events and the names in its
source: those of building (`recorder_build.py`), of compiling (`recorder_compile.py`), of a call of
a function (`recorder_function.py`), and here those of the runs over epochs and batches. The clock
and the spans are in `event_writer.py`.

A "B" is told before the thing happens wherever the order is known beforehand: for stages, for the
ops of a function (the schedule lists them), for the layer calls of a graph run (by depth). So a
listener that blocks there stops the program in front of the op, and may put other arrays into the
slots (`recorder.stage.names["values"]`). When the engine says that an op is done, its "E" comes
with the value, and then the next "B". What the engine records only when it is over (a layer's
`build`, an epoch's last callbacks, the sweep through one layer) has "B" and "E" one after the
other.

A span that fails, or is abandoned, still ends: its "E" has the name `error`. So a tape is balanced
when the recorder is closed, whatever happened.

What the engine does not record and so is on no tape: calls of layers inside another layer's `call`
while symbols are built (of a function's ops the scopes record them, see `function_plan.py`), a
callback's own begin and end, and `set_value` itself (`weight.set` is told at the next call of a
function that reads the variable).

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
    """Writes events on a tape.

    Parameters
    ----------
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain that is told; the names that finer events would bring come with the next
        event that is told.
    statistics_only : bool
        Keep the figures of arrays and not their numbers.
    history : int or None
        How many bytes the tape keeps, of events and arrays.

    Attributes
    ----------
    tape : Tape
    listeners : list of callable
        Each is called with each event; it may block, and it may raise, which stops the program.
    when_settled : callable or None
        Called when calls of which nobody heard were put on the tape.
    run : UnrecordedRun or None
        Of calls that are under way, of which it does not hear.
    stage : Stage or None
        The stage that had the last event: its `names` are the live ones, and its `frame` the
        paused one.

    Raises
    ------
    ArgumentError
        There is no such level.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.journal = Journal(self)
        self.open_run: UnrecordedRun | None = None
        self.when_settled: Callable[[], None] | None = None
        self._around: dict[tuple[str, ...], list[Event]] = {}  # by the callbacks that hear
        self.tape.expand_mark = expand_mark

    def __call__(self, stage: Stage, event: Any) -> None:
        """Hear an event of a stage; what `observing` calls."""
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
        """End all spans that are open still; call it when the watching is over."""
        self.settle()
        super().close()

    # --- calls of which it need not hear ----------------------------------------------------------

    def sample_of(self, function: Function, callbacks: Any = None) -> list[Event]:
        """Return the events of a call that was heard, and of a batch around it; [] if none is kept.

        Those around it have only what can be said of all batches.
        """
        _, count, began = self.memory.lengths.get(function, (None, 0, 0))
        events: list[Event] = self.tape[began : began + count] if count else []
        if len(events) != count or any(event.kind in MARKS for event in events):
            return []
        if callbacks is not None:
            events += self._around_a_call(names_of_callbacks(callbacks, "on_batch_end"))
        return events

    def _around_a_call(self, callbacks: list[str]) -> list[Event]:
        """Return the events of a batch besides those of the call in it."""
        known = tuple(callbacks)
        if known not in self._around:
            again = self.scratch_recorder(None)
            again.record_batch(0, 0, [], list, callbacks)
            self._around[known] = list(again.tape)
        return self._around[known]

    def scratch_recorder(self, history: int | None) -> Recorder:
        """Return a recorder that knows the same, but no values, and has a tape of its own."""
        again = type(self)(self.level, history=history)
        again.memory = self.memory.without_values()
        again.describer = again.memory.describer
        return again

    def feed_of(self, epoch: int, batch: int) -> Any:
        """Return what gave a batch, with the order of its epoch; None if that is not known.

        Parameters
        ----------
        epoch, batch : int
            The times when the two began.
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
        """Tell a whole batch, as the loop would; `call` records what is inside, and returns it."""
        called = place_of_use(fit_events, Function.stage)
        self.begin_batch(number, size, fed, place_of_use(fit_events, BatchBegun))
        outs = call()
        self.begin_callbacks("on_batch_end", callbacks, called)
        self.end_batch(outs)

    def batches_of(self, function: Function, feed: Any, callbacks: Any, passage: Passage) -> Any:
        """Return what takes the next batches of a `fit` without hearing of them, up to a time.

        None if it has to hear of the next one: where the events of a call cannot be counted
        beforehand, or something is told at each batch that is known only when it is heard.
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
        """Return what computes a call of a function without hearing of it, or None as above."""
        if self.open_run is not None and self.open_run.is_in_batch:
            self.settle()
        fit = self.observers[-1] if self.observers else None
        if isinstance(fit, FitRecorder) and fit.batch is not None:
            return None
        run = self.open_run
        if passage.but and self._number_of_call(function) in passage.but:
            return None
        if run is not None and run.function is function and run.callbacks is None:
            if not run.journal.goes_on or not _are_arrays(fed):
                return None
        else:
            run = self._begin_run(function, None, passage) if _are_arrays(fed) else None
        return None if run is None else partial(run.journal.take, run, fed)

    def _number_of_call(self, function: Function) -> int:
        """Return how many training calls of its model have come before; -1 if it is none."""
        facts = self.memory.facts(function)
        if self.spans or facts is None or function.name != "train_function":
            return -1
        name, run, t = str(facts.model.name), self.open_run, self.tape.next_time
        untold = len(run) if run is not None and run.trains == name else 0
        return runs_of(self.tape, t).number(name, t) + untold

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
        """Put what stands for the calls on the tape; the next event comes behind them.

        If callbacks hear just now of the end of a batch, it is told as far as it has come.
        """
        run, self.open_run = self.open_run, None
        if run is None:
            return
        run.journal.goes_on = False
        events: list[Event] = []
        if (run.is_in_batch or run.records_end) and len(run):
            with suppress(ArgumentError):
                events = run.journal.events_of(run, len(run) - 1)
                run.starts.pop()
        if len(run):
            self.tape.append(run.mark(0, len(run)))
        if events:
            self._stand_in_callbacks(run, events)
        if self.when_settled is not None:
            self.when_settled()

    def _stand_in_callbacks(self, run: UnrecordedRun, events: list[Event]) -> None:
        """Tell a batch up to where its callbacks hear of its end."""
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
        """Tell that the callbacks of an unheard batch are done, and the batch with them."""
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
        except BaseException as error:  # a listener stopped the program: the stage will say nothing
            self._fail(observer, error)
            raise

    def _open_act(self, observer: StageRecorder) -> None:
        """Open the act "build" if a stage of it begins at the top; close it if another does."""
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
        """Close all spans of a stage that failed, even if a listener raises meanwhile."""
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

    # --- what else it knows -----------------------------------------------------------------------

    def know(self, model: Any) -> None:
        """Take note of a model whose functions are made already and may be called by themselves."""
        self.memory.know(model)

    def live(self, t: int, name: str) -> Any:
        """Return the living object for which a name stands at a time; None if it is gone.

        Parameters
        ----------
        t : int
        name : str
            A name at that time, or the own name of a tensor, node or layer.
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
        """Put another array in the place of one that the paused function has computed.

        A listener may call it. It is told as the event "override".
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
    """The loop over epochs and batches.

    Attributes
    ----------
    batch : int or None
        The number of the batch that is heard.
    callbacks_call_nothing : bool
        Whether in the batches that were heard nothing was told while callbacks heard of their ends.
    """

    batch: int | None = None
    callbacks_call_nothing = False
    _epoch_began_at = -1
    _told_at_end = 0  # how many events there were when the last batch's callbacks began

    def started(self) -> None:
        """Begin."""
        model = self.stage.subject
        self.memory.know(model)
        self._has_begun = False
        self.begin("fit", model.name, model=self.ref(model))

    def event(self, event: Any) -> None:
        """Tell of an epoch or a batch."""
        memory = self.memory
        if isinstance(event, EpochBegun):
            hooks = ["on_epoch_begin"] if self._has_begun else ["on_train_begin", "on_epoch_begin"]
            self._has_begun, self._epoch_began_at = True, self.recorder.tape.next_time
            # A subclassed model has its metrics only now: its graph was made of the data.
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
            self.callbacks_call_nothing = self.recorder.tape.next_time == self._told_at_end
            self.batch = None
            self.recorder.end_batch(event.outs)
        elif isinstance(event, EpochEnded):
            self._begin_callbacks("on_epoch_end")
            self.end()
            logs = {name: memory.copied(x) for name, x in event.logs.items()}
            self.end(epoch_logs=logs, result=logs)

    def _note_order(self) -> None:
        """Take note of the order in which the rows of this epoch come, which the feed has drawn."""
        feeds, feed = self.recorder.feeds, self.stage.names.get("feed")
        if self._epoch_began_at not in feeds and isinstance(feed, Feed):
            feeds[self._epoch_began_at] = getattr(feed.batches_again(), "__self__", None)

    def function_returned(self, function: Function) -> None:
        """Hear that a function has returned: after the train function come the callbacks."""
        is_its_own = self.recorder.spans[-1][0] == "batch"  # and not called by a callback
        if is_its_own and function is self.stage.subject.train_function:
            self._begin_callbacks("on_batch_end")
            self._told_at_end = self.recorder.tape.next_time

    def _begin_callbacks(self, *hooks: str) -> None:
        names = names_of_callbacks(self.stage.names.get("callbacks"), *hooks)
        self.recorder.begin_callbacks(hooks[-1], names, self.recorder.where(self.stage))


def _gives_its_loss(plan: FunctionPlan) -> bool:
    """Tell whether the first that comes out of a function is the loss of its model."""
    outputs = plan.function.outputs
    loss = plan.facts.losses.get("total_loss") if plan.facts is not None else None
    return bool(outputs) and outputs[0] is loss


def names_of_callbacks(callbacks: Any, *hooks: str) -> list[str]:
    """Return which callbacks of a list hear of some moments."""
    return [
        f"{type(callback).__name__}.{hook}"
        for hook in hooks
        for callback in getattr(callbacks, "callbacks", ())
        if getattr(getattr(callback, hook), "__func__", None) is not getattr(Callback, hook)
    ]


class CallRecorder(StageRecorder):
    """evaluate, predict, and a layer or model that is called on arrays."""

    def started(self) -> None:
        """Begin; a call on arrays brings its inputs."""
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
        """Tell of weights that were made."""
        if isinstance(event, LayerBuilt):
            record_built(self, event, event.layer.made_at)

    def finished(self) -> None:
        """End with what came out."""
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
