"""The arrays of a batch (weights, gradients and activations), gathered from its events.

A batch that was not recorded in detail is executed again to get its events (see `journal.py`). The
tape does not change. A table of a few batches therefore costs only those batches.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend import image_data_format
from kerascope.trace.events import BEGIN, END, FORGOTTEN, SKIPPED, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.statistics import norm
from kerascope.trace.tape_store import Tape


class EventsOfBatch(NamedTuple):
    """The events of a batch, and whether the batch was executed again to obtain them.

    If the tape no longer has the events, and the batch is not executed again, `events` is empty.
    """

    events: list[Event]
    is_again: bool


@dataclass(frozen=True)
class BatchValues:
    """The arrays of one batch by name. `Statistics` replace arrays that the tape has dropped.

    Attributes
    ----------
    weights : dict of str to (object, object)
        For each trained weight, its values before and after the batch.
    gradients : dict of str to object
        The gradients that the optimizer gets, by the name of the weight.
    activations : dict of str to object
        The inputs and outputs of the layers, by their keys in `tensor_map`.
    dead, units : int
        The number of ReLU units that are 0 for the whole batch, and the number of all ReLU units.
    """

    weights: Mapping[str, tuple[Any, Any]]
    gradients: Mapping[str, Any]
    activations: Mapping[str, Any]
    dead: int = 0
    units: int = 0

    @property
    def weight_norm(self) -> float:
        """The norm of all trained weights after the batch; NaN if nothing was trained."""
        return norm([new for _, new in self.weights.values()])

    @property
    def gradient_norm(self) -> float:
        """The norm of all gradients of the batch."""
        return norm([*self.gradients.values()])

    @property
    def change(self) -> float:
        """The norm of the update divided by the norm of the weights; NaN if an array is missing."""
        pairs = [*self.weights.values()]
        if not pairs or not all(isinstance(x, np.ndarray | np.number) for p in pairs for x in p):
            return math.nan
        added = norm([np.subtract(new, old, dtype="float64") for old, new in pairs])
        before = norm([old for old, _ in pairs])
        return added / before if before else float(added > 0)


def events_of_batch(tape: Tape, t: int) -> EventsOfBatch:
    """Return the events of the batch that begins at time `t`.

    Raises
    ------
    ArgumentError
        The batch cannot be executed again. The message has the reason.
    """
    first = tape.told(t)
    if first.kind == SKIPPED:
        run, _, _ = first.deltas[1].value
        place = bisect_right(run.starts, t) - 1
        return EventsOfBatch(run.journal.events_of(run, place), True)
    events: list[Event] = []
    is_again, around = tape.is_again(first.t), math.inf
    while t < len(tape):
        event = tape.told(t)
        t = event.t + 1
        if event.kind == FORGOTTEN:
            break
        if event.depth > around:  # a callback may train another model, or this one
            continue
        around = event.depth if event.kind == "callbacks" and event.ph == BEGIN else math.inf
        if event.kind == SKIPPED:  # only the call has no events, as on a forked timeline
            run, begin, end = event.deltas[1].value
            for place in range(begin, end):
                events += run.journal.events_of(run, place)
            is_again = True
        events.append(event)
        if event.kind == first.kind and event.ph == END and event.depth == first.depth:
            return EventsOfBatch(events, is_again)
    return EventsOfBatch([], False)


def values_of_batch(events: Iterable[Event]) -> BatchValues:
    """Collect the weights, gradients and activations of a batch from its events."""
    weights: dict[str, tuple[Any, Any]] = {}
    gradients: dict[str, Any] = {}
    activations: dict[str, Any] = {}
    dead = units = 0
    op = None
    for event in events:
        if event.kind == "update.param" and event.ph == BEGIN:
            gradients[event.name] = value_of_event(event, "g")
        elif event.kind == "update.apply" and event.name in gradients:
            weights[event.name] = value_of_event(event, "old"), value_of_event(event, "new")
        elif event.kind == "op" and event.phase == "forward":
            op = value_of_event(event, "op") or op  # recorded when the layer's call starts or ends
            if event.ph == END and op == "relu":
                silent, all_of_it = _dead_of(value_of_event(event, "result"))
                dead, units = dead + silent, units + all_of_it
        for name, key, value in event.deltas:
            if name == "tensor_map":
                entries = value.items() if key is None else ((key, value),)
                activations.update((str(k), x[0]) for k, x in entries if isinstance(x, tuple))
    return BatchValues(weights, gradients, activations, dead, units)


def _dead_of(array: Any) -> tuple[int, int]:
    """Return how many units of an output are 0 for the whole batch, and how many it has.

    A unit is an index of the last axis. With channels-first images, it is a channel.

    Examples
    --------
    >>> _dead_of(np.array([[0.0, 1.0], [0.0, 0.0]]))
    (1, 2)
    """
    if not isinstance(array, np.ndarray) or array.ndim < 2:
        return 0, 0
    is_first = array.ndim > 3 and image_data_format() == "channels_first"
    own = 1 if is_first else array.ndim - 1
    has_life = array.any(axis=tuple(axis for axis in range(array.ndim) if axis != own))
    return int(has_life.size - np.count_nonzero(has_life)), int(has_life.size)
