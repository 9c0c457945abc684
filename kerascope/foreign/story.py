"""What a watched script does, told line by line: `kerascope trace --live`, and its alarms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import numpy as np

from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.records import Record
from kerascope.trace.snapshots import LayerRef
from kerascope.trace.statistics import Statistics, figure, statistics_of

PHASES = {"forward": "forward", "loss": "loss", "backward": "backward", "update": "update"}
_TOLD = ("forward", "loss", "backward", "update")
_SECTIONS = ("fit", "evaluate", "predict")


class LiveStory:
    """Hears the events of a `TapeWriter` and tells them as records; see `kerascope.trace.records`.

    Parameters
    ----------
    tell : callable
        Is given each `Record`.
    batches : int
        How many are told in full; of the others a line each.

    Attributes
    ----------
    alarms : list of Record
        The first call, gradient or weight of each batch that is not finite.
    batch : str
        The last one that began: "batch 3".
    count : int
        Of batches.
    """

    def __init__(self, tell: Callable[[Record], Any], batches: int = 1) -> None:
        self.alarms: list[Record] = []
        self.batch = ""
        self.count = 0
        self._tell = tell
        self._batches = batches
        self._spans: list[Event] = []
        self._is_alarmed = False
        self._has_line = False  # the batch that runs

    @property
    def _is_whole(self) -> bool:
        return self.count <= self._batches

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if event.ph == BEGIN:
            self._begin(event)
            self._spans.append(event)
        elif event.ph == END and self._spans:
            self._end(self._spans.pop(), event)

    def _begin(self, event: Event) -> None:
        if event.kind in _SECTIONS:
            is_inside = any(span.kind in _SECTIONS for span in self._spans)  # as validation is
            self._tell(Record("fit", "section", int(is_inside), event.name, ("watched",)))
        elif event.kind == "epoch":
            self._tell(Record("fit", "epoch", 1, event.name, ()))
        elif event.kind == "batch":
            self.batch, self._is_alarmed, self._has_line = event.name, False, False
            self.count += 1
            if self._is_whole:
                self._tell_batch(value_of_event(event, "size"))
        elif event.kind in _TOLD and self._is_whole:
            self._tell(Record(PHASES[event.kind], "begin", 2, event.name, _place(event)))
        elif event.kind == "node" and _is_frame(event) and self._is_whole:
            layer = value_of_event(event, "layer")
            self._tell(Record("forward", "begin", self._depth, event.name, (layer.kind,)))

    def _tell_batch(self, size: int | None = None) -> None:
        """Begin to tell of the batch that runs; of a size that nobody knows it has none."""
        if self.batch and not self._has_line:
            self._has_line = True
            cells = (f"{size} samples",) if size else ()
            self._tell(Record("fit", "batch", 1, self.batch, cells))

    def _end(self, begin: Event, event: Event) -> None:
        error = value_of_event(event, "error")
        if error is not None and begin.kind in ("node", "forward", "backward"):
            self._tell(
                Record("forward", "failed", self._depth, begin.name, (str(error),), alarm=True)
            )
        if begin.kind == "batch":
            outs = value_of_event(event, "outs") or ()
            cells, alarm = tuple(map(_figure, outs)), not all(map(_is_finite, outs))
            if not self._has_line:
                self._tell(Record("fit", "batch", 1, begin.name, cells, alarm=alarm))
            elif cells:
                self._tell(Record("loss", "loss", 2, "loss", cells, alarm=alarm))
        elif begin.kind in ("node", "update.param") and not _is_frame(begin):
            self._value(begin, event)

    @property
    def _depth(self) -> int:
        return 3 + sum(span.kind == "node" for span in self._spans)

    def _value(self, begin: Event, event: Event) -> None:
        """Tell what a call gave, a gradient, or the new value of a weight."""
        result = value_of_event(event, "result")
        figures = [one for one in map(_statistics, _all(result)) if one is not None]
        layer = value_of_event(begin, "layer")
        kind = layer.kind if isinstance(layer, LayerRef) else "parameter"
        is_sound = all(one.is_sound for one in figures)
        cells = (kind, *(cell for one in figures for cell in one.cells))
        phase = begin.phase if begin.phase in PHASES else "forward"
        if not is_sound and not self._is_alarmed:
            self._is_alarmed = True
            self._tell_batch()  # what is wrong stands below its batch
            first = Record(phase, "not_finite", self._depth, begin.name, (*cells, *_place(begin)),
                           {"batch": self.batch}, alarm=True)  # fmt: skip
            self.alarms.append(first)
            self._tell(first)
        elif self._is_whole:
            place = _place(begin) if phase == "forward" else ()
            self._tell(Record(phase, "layer", self._depth, begin.name, (*cells, *place),
                              alarm=not is_sound))  # fmt: skip


def _is_frame(event: Event) -> bool:
    return event.kind == "node" and event.phase == "forward" and not value_of_event(event, "kind")


def _all(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _statistics(value: Any) -> Statistics | None:
    if isinstance(value, Statistics):
        return value
    is_array = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub"
    return statistics_of(value) if is_array else None


def _figure(value: Any) -> str:
    """Return a loss or a metric in words: "0.25", "nan", "-inf"."""
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "fiub":
        return figure(array)
    found = _statistics(value if isinstance(value, Statistics) else array)
    return str(value) if found is None else found.cells[-1]


def _is_finite(value: Any) -> bool:
    found = _statistics(value if isinstance(value, Statistics) else np.asarray(value))
    return found is None or found.is_sound


def _place(event: Event) -> tuple[str, ...]:
    where = event.where
    return (f"{PurePath(where.user_file).name}:{where.user_line}",) if where.user_file else ()
