"""The report of `kerascope trace --live`: lines of text about the events of a watched script.

As in `trace/report.py`, each kind of event has a function.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import numpy as np

from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.records import Record
from kerascope.trace.report import EventHandlers, Reporter, are_finite
from kerascope.trace.run_state import RunSpan
from kerascope.trace.snapshots import LayerRef
from kerascope.trace.statistics import Statistics, figure, statistics_of

PHASES = ("forward", "loss", "backward", "update")
RUNS = ("fit", "evaluate", "predict")

live = EventHandlers()


class LiveStory(Reporter):
    """Turns the events of a `TapeWriter` into the records (lines of text) of a report.

    Parameters
    ----------
    write : callable
        Called with each `Record` of the report.
    batches : int
        Number of batches to show in full. Each later batch gets one line.

    Attributes
    ----------
    alarms : list of Record
        For each batch: the first call, gradient or weight that is not finite.
    batch : str
        Name of the last batch that began, such as "batch 3".
    count : int
        Number of batches so far.
    """

    handlers = live

    def __init__(self, write: Callable[[Record], Any], batches: int = 1) -> None:
        super().__init__(write)
        self.alarms: list[Record] = []
        self.batch = ""
        self.count = 0
        self.batches = batches
        self.is_alarmed = False
        self.has_line = False  # whether the current batch has its line

    @property
    def is_whole(self) -> bool:
        """Whether the current batch is shown in full."""
        return self.count <= self.batches

    @property
    def depth(self) -> int:
        """The nesting level of a call's record: 3, plus the number of frames around the call."""
        return 3 + self.state.depth("node")

    def emit_batch(self, size: int | None = None) -> None:
        """Write the report's line for the current batch, unless it was written already."""
        if self.batch and not self.has_line:
            self.has_line = True
            self.emit("fit", "batch", 1, self.batch, *((f"{size} samples",) if size else ()))


@live("fit", BEGIN)
@live("evaluate", BEGIN)
@live("predict", BEGIN)
def _run(story: LiveStory, event: Event, _: Any) -> None:
    is_inside = sum(map(story.state.depth, RUNS)) > 1  # such as validation inside fit
    story.emit("fit", "section", int(is_inside), event.name, "watched")


@live("epoch", BEGIN)
def _epoch(story: LiveStory, event: Event, _: Any) -> None:
    story.emit("fit", "epoch", 1, event.name)


@live("batch", BEGIN)
def _batch(story: LiveStory, event: Event, _: Any) -> None:
    story.batch, story.is_alarmed, story.has_line = event.name, False, False
    story.count += 1
    if story.is_whole:
        story.emit_batch(value_of_event(event, "size"))


@live("batch", END)
def _batch_done(story: LiveStory, event: Event, span: RunSpan) -> None:
    outs = value_of_event(event, "outs") or ()
    cells, alarm = tuple(map(_figure, outs)), not are_finite(outs)
    if not story.has_line:
        story.emit("fit", "batch", 1, span.begin.name, *cells, alarm=alarm)
    elif cells:
        story.emit("loss", "loss", 2, "loss", *cells, alarm=alarm)


def _phase(story: LiveStory, event: Event, _: Any) -> None:
    if story.is_whole:
        story.emit(event.kind, "begin", 2, event.name, *_place(event))


def _phase_done(story: LiveStory, event: Event, span: RunSpan) -> None:
    error = value_of_event(event, "error")
    if error is not None:
        story.emit("forward", "failed", story.depth, span.begin.name, str(error), alarm=True)


live.update({(phase, BEGIN): _phase for phase in PHASES})
live.update({(phase, END): _phase_done for phase in ("forward", "backward")})


@live("node", BEGIN)
def _call(story: LiveStory, event: Event, _: Any) -> None:
    if story.is_whole and _is_frame(event):
        layer = value_of_event(event, "layer")
        story.emit("forward", "begin", story.depth - 1, event.name, layer.kind)


@live("node", END)
@live("update.param", END)
def _value(story: LiveStory, event: Event, span: RunSpan) -> None:
    """Write the record of a value: a call's output, a gradient, or the new value of a weight."""
    begin = span.begin
    if event.kind == "node":
        _phase_done(story, event, span)
    if _is_frame(begin):
        return
    result, layer = value_of_event(event, "result"), value_of_event(begin, "layer")
    results = result if isinstance(result, list) else [result]
    figures = [one for one in map(_statistics, results) if one is not None]
    kind = layer.kind if isinstance(layer, LayerRef) else "parameter"
    is_sound = all(one.is_sound for one in figures)
    cells = (kind, *(cell for one in figures for cell in one.cells))
    phase = begin.phase if begin.phase in PHASES else "forward"
    if not is_sound and not story.is_alarmed:
        story.is_alarmed = True
        story.emit_batch()  # the alarm is shown below its batch
        first = Record(phase, "not_finite", story.depth, begin.name, (*cells, *_place(begin)),
                       {"batch": story.batch}, alarm=True)  # fmt: skip
        story.alarms.append(first)
        story.write(first)
    elif story.is_whole:
        place = _place(begin) if phase == "forward" else ()
        story.emit(phase, "layer", story.depth, begin.name, *cells, *place, alarm=not is_sound)


def _is_frame(event: Event) -> bool:
    return event.kind == "node" and event.phase == "forward" and not value_of_event(event, "kind")


def _statistics(value: Any) -> Statistics | None:
    if isinstance(value, Statistics):
        return value
    is_array = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub"
    return statistics_of(value) if is_array else None


def _figure(value: Any) -> str:
    """Return a loss or a metric as text, such as "0.25", "nan" or "-inf".

    The value is an array or the statistics of an array, as stored on the tape.
    """
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "fiub":
        return figure(array)
    found = _statistics(value if isinstance(value, Statistics) else array)
    return str(value) if found is None else found.cells[-1]


def _place(event: Event) -> tuple[str, ...]:
    where = event.where
    return (f"{PurePath(where.user_file).name}:{where.user_line}",) if where.user_file else ()
