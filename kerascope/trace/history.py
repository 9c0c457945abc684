"""Reading events and looking back: starts of spans, and the events that conditions need.

A history is anything that returns events by time, such as a tape. Conditions need the starts of
calls and the arrivals of gradients and losses. Each event is read once for these (`Landmarks`), so
the cost of looking back does not grow with the history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from sys import maxsize
from typing import Any, Protocol

from kerascope.trace.events import BEGIN, END, FORGOTTEN, SKIPPED, Event, first_time

OF_THE_OUTPUT = ("out", "result")


def value_of_event(event: Event, *names: str) -> Any:
    """Return the value of the first of the given names that the event has; otherwise None."""
    deltas = event.deltas
    if deltas:
        for wanted in names:
            for name, key, value in deltas:
                if name == wanted and key is None:
                    return value
    return None


class History(Protocol):
    """A sequence of events, indexed by time."""

    def __getitem__(self, t: int, /) -> Event: ...


def begin_of(event: Event, events: History) -> Event | None:
    """Return the start of the span that `event` ends; None if the history has no such event."""
    for earlier in before(events, event.t, inside=event.depth):
        if earlier.kind == FORGOTTEN:  # the mark still has the spans that were open
            spans: list[Event] = next(d.value for d in earlier.deltas if d.name == "spans")
            if event.depth < len(spans):
                return spans[event.depth]
        if earlier.depth <= event.depth:
            return earlier if earlier.ph == BEGIN else None
    return None


def value_of_span(event: Event, events: History, name: str) -> Any:
    """Return the value of a name at an event, or else at the start of the span that ends there."""
    value = value_of_event(event, name)
    if value is None and event.ph == END:
        begin = begin_of(event, events)
        value = value_of_event(begin, name) if begin else None
    return value


def before(events: History, t: int, inside: int = maxsize) -> Iterator[Event]:
    """Yield the events before time `t`, the last first. A mark replaces forgotten events.

    A batch that ran without events is skipped if more than `inside` spans are open around it.
    Otherwise it is executed again to obtain its events.
    """
    while t > 0:
        event = event_or_mark(events, t - 1)
        t = first_time(event)
        if event.kind != SKIPPED:
            yield event
        elif event.depth <= inside:
            t = event.t
            event = events[t]
            yield event


def event_or_mark(events: History, t: int) -> Event:
    """Return the event at time `t`; for a batch that ran without events, the mark of the batch."""
    get = getattr(events, "told", None)
    return events[t] if get is None else get(t)


# --- landmarks ------------------------------------------------------------------------------------


class Landmarks:
    """The times of calls, backward passes, gradients and losses in a history.

    Attributes
    ----------
    calls, backwards : list of int
        Times at which function calls and backward passes begin.
    gradients, losses : list of int
        Times of events with the names `grads` and `total_loss`.

    Examples
    --------
    >>> import kerascope as ks
    >>> x = ks.K.placeholder((), name="x")
    >>> square = ks.K.function([x], [x * x])
    >>> with ks.trace() as tape:
    ...     results = [square([2.0]), square([3.0])]
    >>> [tape[t].kind for t in landmarks_of(tape, len(tape)).calls]
    ['function', 'function']
    """

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.backwards: list[int] = []
        self.gradients: list[int] = []
        self.losses: list[int] = []
        self._next = 0

    def read(self, events: History, t: int) -> None:
        """Read the events before time `t`; store the times of fits, batches and other landmarks."""
        while self._next < t:
            event = event_or_mark(events, self._next)
            if event.kind == SKIPPED and events[event.t]:  # executes only the last batch again
                event = event_or_mark(events, self._next)
            if event.kind != SKIPPED:
                self._note(event)
            self._next = event.t + 1  # after the run, if it is a mark

    def _note(self, event: Event) -> None:
        if event.ph == BEGIN:
            if event.kind == "function":
                self.calls.append(event.t)
            elif event.kind == "backward":
                self.backwards.append(event.t)
        for name, _, _ in event.deltas:
            if name == "grads":
                if not self.gradients or self.gradients[-1] != event.t:
                    self.gradients.append(event.t)
            elif name == "total_loss" and event.ph != BEGIN:
                self.losses.append(event.t)


def landmarks_of(events: History, t: int) -> Landmarks:
    """Return the landmarks of a history, such as the times of fits and batches.

    They cover at least the events before time `t`.
    """
    found: Landmarks = getattr(events, "landmarks", None) or Landmarks()
    found.read(events, t)
    return found


class TrainingRuns:
    """The times at which training begins: of each `fit`, and of each training call outside of one.

    Attributes
    ----------
    fits : list of int
        The times at which calls of `fit` begin.
    calls : dict of str to list of int
        The times of the training calls, by the name of the model.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,))], name="small")
    >>> model.compile("sgd", "mse")
    >>> with ks.trace() as tape:
    ...     history = model.fit([[1.0, 2.0]], [[3.0]], verbose=0)
    ...     loss = model.train_on_batch([[1.0, 2.0]], [[3.0]])
    >>> runs = runs_of(tape, len(tape))
    >>> len(runs.fits), runs.number("small", len(tape))
    (1, 1)
    """

    def __init__(self) -> None:
        self.fits: list[int] = []
        self.calls: dict[str, list[int]] = {}
        self._next = 0

    def read(self, events: History, t: int) -> None:
        """Read the events before time `t` and store the times of the training runs among them.

        No batch is executed again.
        """
        while self._next < t:
            event = event_or_mark(events, self._next)
            if event.kind == SKIPPED:
                run, first, end = event.deltas[1].value
                starts = run.starts[first:end] if run.trains else ()
                new = [start for start in starts if start >= self._next]
                self.calls.setdefault(run.trains, []).extend(new)
            elif is_training_call(event) and event.ph == BEGIN:
                self.calls.setdefault(name_of_model(event), []).append(event.t)
            elif event.kind == "fit" and event.ph == BEGIN:
                self.fits.append(event.t)
            self._next = event.t + 1

    def number(self, model: str, t: int) -> int:
        """Return how many training calls of a model, outside of `fit`, begin before time `t`."""
        return bisect_left(self.calls.get(model, ()), t)


def runs_of(events: History, t: int) -> TrainingRuns:
    """Return the times of the training runs in a history, at least of those before time `t`."""
    found: TrainingRuns = getattr(events, "training_runs", None) or TrainingRuns()
    found.read(events, t)
    return found


def is_training_call(event: Event) -> bool:
    """Return whether an event begins or ends a call of a train function outside of any `fit`."""
    return event.kind == "function" and event.name == "train_function" and event.depth == 0


def name_of_model(event: Event) -> str:
    """Return the name of the model that an event contains; "" if it contains no model."""
    return str(getattr(value_of_event(event, "model"), "name", ""))


def model_of_fit(event: Event) -> str:
    """Return the name of the model that a `fit` event is about.

    Events of models of other libraries have the name "fit NAME".
    """
    return event.name.removeprefix("fit ")


def last_before(times: list[int], t: int) -> int | None:
    """Return the last of the given times before time `t`; None if there is none."""
    place = bisect_left(times, t)
    return times[place - 1] if place else None
