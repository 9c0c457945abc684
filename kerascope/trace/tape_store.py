"""The tape: all events of a session in order, and the names and open spans at any time.

A tape grows only at its end. Its memory is limited (`tape_memory.py`): if the limit is exceeded,
the arrays of the oldest events are replaced by statistics, and if that does not free enough memory,
the oldest events are removed. The times of events never change. The names at the time of any
remaining event (`tape_names.py`) stay correct.

After `Tape`, this module defines the list of events, in which marks may replace events, and the
comparison of two tapes for the debugger's command `diff 1 2`.

Lesson: chapter 12.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from kerascope import display
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, FORGOTTEN, SKIPPED, Event, first_time
from kerascope.trace.history import (
    Landmarks,
    TrainingRuns,
    is_training_call,
    model_of_fit,
    name_of_model,
    runs_of,
    value_of_event,
)
from kerascope.trace.snapshots import same
from kerascope.trace.statistics import Statistics, statistics_of
from kerascope.trace.tape_files import read_events, write_events
from kerascope.trace.tape_memory import Budget, describe_mark, forget, what_to_forget
from kerascope.trace.tape_names import Scopes

HISTORY = 256 * 2**20  # bytes of events and arrays that a tape keeps by default
CHECKPOINT = 256  # the minimum number of events between two saved states of the names
MOST_CHECKPOINTS = 64
MOST_LOOKED_AT = 16  # batches whose events are kept after they were executed again
COUNTED_TOGETHER = 64  # events between two counts of bytes
ROUNDED = 1e-5  # relative precision of statistics
OF_ARRAYS = ("ins_batch", "inputs")  # missing on a tape with statistics only
BY_KEY = ("tensor_map", "weights", "metrics")  # containers whose keys are names of values


class Tape:
    """A list of events that can return the names at every time.

    Parameters
    ----------
    events : iterable of Event, optional
        The first events.
    history : int or None
        The limit in bytes for events and arrays; None for unlimited. Events may take half of the
        limit, but at least 4 MB.

    Attributes
    ----------
    landmarks : Landmarks
        The times of calls, gradients and losses, which conditions look up.
    live : callable
        Takes a description on this tape and returns the object described, or None if that object
        was deleted.
    expands_all : bool
        Whether reading the events executes all calls again that only a mark represents. The reader
        then gets their events instead of the mark.
    settle : callable or None
        Called before the tape is read, to append events of the run that are not on the tape yet.

    Examples
    --------
    >>> from kerascope.trace.events import Delta
    >>> facts = ("build", "build_map", "map.visit")
    >>> one = Event(0, *facts, "B", 0, "node", "a", deltas=(Delta("depth", None, 2),))
    >>> two = Event(1, *facts, "E", 0, "node", "a", deltas=(Delta("depth", None, 3),))
    >>> tape = Tape([one, two])
    >>> len(tape), tape.names_at(0), tape.names_at(1), tape.origin("depth").t
    (2, {'depth': 2}, {'depth': 3}, 1)
    """

    def __init__(self, events: Iterable[Event] = (), history: int | None = HISTORY) -> None:
        self._events = EventList()
        self._counted = Budget(history)
        self._next_to_count = 0  # the index of the next event to count
        self._count_at = COUNTED_TOGETHER - 1  # number of events at which bytes are counted
        self._checkpoints: dict[int, Scopes] = {}
        self._asked = -1
        self._looked_at: dict[int, Any] = {}  # by its start: the run of a batch executed again
        self.landmarks = Landmarks()
        self.training_runs = TrainingRuns()
        self.live: Callable[[Any], Any] = _nothing
        self.expand_mark: Callable[[Event, int], list[Event]] | None = None
        self.expands_all = False
        self.settle: Callable[[], None] | None = None
        for event in events:
            self.append(event)

    # --- a list -----------------------------------------------------------------------------------

    def append(self, event: Event) -> None:
        """Append an event.

        Raises
        ------
        ArgumentError
            The time of the event is not the next time of the tape.
        """
        events = self._events
        number = len(events.kept)
        if event.t == number + events.lost:
            events.kept.append(event)
        else:
            events.append(event)  # the mark of forgotten events, or an error
        if number >= self._count_at:
            self._count()

    def hurry(self) -> None:
        """Check the memory limit at the next event, because the last event may have a large array.

        Usually the limit is checked only after several events.
        """
        self._count_at = 0

    def _count(self) -> None:
        """Count the bytes of new events. If they exceed the budget, reduce the oldest events.

        The oldest events are removed, or their arrays are replaced by statistics.
        """
        kept, budget = self._events.kept, self._counted
        first, self._next_to_count = self._next_to_count, len(kept)
        if budget.limit is not None and budget.take(kept[first:]):
            if budget.has_too_many_events:
                self._forget()
            if budget.has_too_many_arrays:
                self._reduce_arrays()
        self._count_at = len(kept) + COUNTED_TOGETHER - 1

    @property
    def _budget(self) -> Budget:
        """The budget of the tape, in which all events are counted."""
        if self._next_to_count < len(self._events.kept):
            self._count()
        return self._counted

    def _reduce_arrays(self) -> None:
        """Replace arrays of the oldest events by statistics, until the arrays fit the budget."""
        budget, events = self._counted, self._events
        # Checkpoints hold arrays too. Live names are needed only from the last one on.
        self._checkpoints = {t: s for t, s in self._checkpoints.items() if t == self._asked}
        while budget.has_too_many_arrays:
            t = budget.oldest()
            if t is None:
                return
            events.put(budget.with_statistics(events[t]))

    def _forget(self) -> None:
        """Forget the oldest events, until events take at most three quarters of their budget."""
        budget, events = self._counted, self._events
        if events.has_skipped:
            self._expand_last(0, len(self) - 1)
        excess = budget.bytes_of_events - budget.most_for_events * 3 // 4
        number, is_to_go = what_to_forget(events.kept, excess)
        for event in events.kept[:number]:
            if event.kind == FORGOTTEN or is_to_go(event):
                budget.let_go(event)
        budget.take(events.forget(number, is_to_go))
        self._next_to_count = len(events.kept)
        budget.forget_times(lambda t: events[t].t != t or events[t].kind == FORGOTTEN)
        self._checkpoints.clear()
        self._asked = -1
        self.landmarks = Landmarks()

    def amend(self, event: Event) -> None:
        """Replace the event with the time of `event`, because the user changed a value in it."""
        t = event.t
        budget = self._budget
        if budget.limit is not None:
            budget.let_go(self._events[t])
            budget.take([event])
        self._events.put(event)
        self.landmarks = Landmarks()
        self._checkpoints = {old: s for old, s in self._checkpoints.items() if old < t}
        if budget.has_too_many_arrays:
            self._reduce_arrays()

    @property
    def next_time(self) -> int:
        """The time of the next event that will be appended."""
        return len(self._events)

    def __len__(self) -> int:
        if self.settle is not None:
            self.settle()
        return len(self._events)

    def __getitem__(self, t: Any) -> Any:
        if self.settle is not None:
            self.settle()
        if self.expands_all and t.__class__ is slice:
            self._expand_all()
        found = self._events[t]
        if self._events.has_skipped:
            if t.__class__ is slice:
                self._expand_ends(t)
                return self._events[t]
            if found.kind == SKIPPED:
                return self._expand(found, found.t if t < 0 else t)
        return found

    # --- skipped calls --------------------------------------------------------------------------

    def told(self, t: int) -> Event:
        """Return the event at time `t`. If a mark replaces this event, return the mark.

        Unlike `tape[t]`, this does not execute the calls of the mark again.
        """
        return self._events[t]

    def whole(self) -> list[Event]:
        """Return all events. Calls that a mark represents are executed again for their events.

        The calls are executed again from the last to the first, until the budget for events is
        reached. A mark of forgotten events replaces the earlier calls.
        """
        if self.expands_all:
            return list(self)
        looked_at: list[int] = []
        with suppress(ArgumentError):  # the journal no longer has the rows of older calls
            # Counting bytes may execute the calls of a mark again.
            while not self._budget.has_too_many_events and (mark := self._last_skipped()):
                looked_at.append(self._expand_and_keep(mark))
        last_of_each: list[tuple[int, int]] = []
        for mark in [e for e in self._events.kept if e.kind == SKIPPED]:
            if self._events[mark.t] is not mark:
                continue  # it was replaced when other events were forgotten
            with suppress(ArgumentError):
                looked_at.append(self._expand_and_keep(mark))
                last_of_each.append((looked_at[-1], mark.t))
        events = list(self)
        if self._last_skipped():
            times = {t for first, last in last_of_each for t in range(first, last + 1)}
            events = forget(events, lambda e: e.kind == SKIPPED or e.t in times)
        for t in looked_at:
            self._fold(t)
        return events

    def _expand_all(self) -> None:
        """Execute the calls of all marks again, and replace the marks by the recorded events."""
        if not self._events.has_skipped:
            return
        self.expands_all = False  # the loop has to see marks
        try:
            events = self.whole()
        finally:
            self.expands_all = True
        self._events = EventList()
        for event in events:
            self._events.append(event)
        self._counted = Budget(self._counted.limit)
        self._next_to_count = 0
        self._count()
        if self.settle is None:
            self.expand_mark = None  # no more events come, and its journal is large

    def _last_skipped(self) -> Event | None:
        if not self._events.has_skipped:
            return None
        return next((e for e in reversed(self._events.kept) if e.kind == SKIPPED), None)

    def _expand_and_keep(self, mark: Event) -> int:
        """Replace the last call of a mark by its events; return the start time of the call."""
        self._expand(mark, mark.t, folds=False)
        run, _, end = mark.deltas[1].value
        return run.starts[end - 1]

    def counts(self, stop: int | None = None) -> Counter[tuple[str, str]]:
        """Return how many events of each (grain, kind) precede time `stop`; a span counts once."""
        found: Counter[tuple[str, str]] = Counter()
        for event in self[:stop]:
            if event.kind == SKIPPED:
                run, begin, end = event.deltas[1].value
                found.update(run.counts(begin, end))
            elif event.ph != BEGIN:
                found[event.grain, event.kind] += 1
        return found

    def batches(self) -> Iterator[BatchOnTape]:
        """Yield the batches of `fit` and the calls of `train_on_batch`, in order of their start.

        No batch is executed again. If a callback fits another model during a batch, this batch
        precedes those of the other model. The loss of an open batch is None until it is computed.
        """
        fits = [_OpenFit(-1, "")]
        calls: Counter[str] = Counter()
        waiting: list[BatchOnTape] = []  # inside an open batch
        for event in self:
            fit = fits[-1]
            if event.kind == "fit":
                fits = (
                    [*fits, _OpenFit(event.t, model_of_fit(event))]
                    if event.ph == BEGIN
                    else fits[:-1]
                )
            elif event.kind == "epoch" and event.ph == BEGIN:
                fit.epoch = value_of_event(event, "epoch")
            elif event.kind == SKIPPED:
                waiting.extend(_skipped_batches(event, fit, calls))
            elif event.kind == "batch":
                if event.ph == BEGIN:
                    fit.begin_batch(event)
                else:
                    waiting.append(fit.end_batch(event))
            elif event.kind == "function" and event.depth == fit.depth > 0:
                fit.outs = value_of_event(event, "outputs")  # None at its start
            elif is_training_call(event):
                if event.ph == BEGIN:
                    fit.begun = event.t
                else:
                    model = name_of_model(self._events[fit.begun])
                    outs = value_of_event(event, "result")
                    waiting.append(BatchOnTape(fit.begun, 0, calls[model], outs, -1, model))
                    calls[model] += 1
            if waiting and not any(fit.depth for fit in fits):
                yield from sorted(waiting, key=lambda one: one.t)
                waiting.clear()
        waiting.extend(fit.batch() for fit in fits if fit.depth)
        yield from sorted(waiting, key=lambda one: one.t)

    def is_again(self, t: int) -> bool:
        """Return whether the batch that begins at time `t` was executed again for its events."""
        return t in self._looked_at

    def sample(self, mark: Event) -> list[Event]:
        """Return the events of the last call of a mark, as an example of the calls of the mark."""
        run, _, end = mark.deltas[1].value
        return run.sample(end - 1)

    def caught_in(self, mark: Event) -> frozenset[str]:
        """Return the set of those of "nan" and "inf" that certainly occur in no call of a mark."""
        return mark.deltas[1].value[0].catching

    def numbers_in(self, mark: Event, is_met: Callable[[list[Any]], bool]) -> frozenset[int]:
        """Return the numbers of the batches of a mark whose outputs meet the condition `is_met`."""
        return frozenset(number for _, number, outs in self._batches_of(mark) if is_met(outs))

    def _batches_of(self, mark: Event) -> Iterator[tuple[int, int, list[Any]]]:
        """Yield the start time, the number and the outputs of each batch of a mark."""
        run, begin, end = mark.deltas[1].value
        runs = runs_of(self, self.next_time)
        for t, number, outs in run.batches(begin, end):
            yield t, runs.number(run.trains, t) if run.trains else number, outs

    def end_of_rest(self, mark: Event, t: int, but: Container[int]) -> int:
        """Return the last time before the next batch of a mark whose number is in `but`.

        Only batches that begin at time `t` or later are considered. If no number is in `but`,
        return the last time of the mark.
        """
        for begins, number, _ in self._batches_of(mark) if but else ():
            if begins >= t and number in but:
                return begins - 1
        return mark.t

    def begin_of_rest(self, mark: Event, t: int, but: Container[int]) -> int:
        """Return the time at which the rest of a mark begins: after its last batch in `but`.

        `but` contains numbers of batches. Only batches that end by time `t` are considered. If none
        of these is in `but`, return the first time of the mark.
        """
        run, begin, _ = mark.deltas[1].value
        found = first_time(mark)
        for place, (_, number, _) in enumerate(self._batches_of(mark) if but else (), begin):
            if run.starts[place + 1] <= t and number in but:
                found = run.starts[place + 1]
        return found

    def back(self, t: int) -> Iterator[Event]:
        """Yield the events from time `t` back to the first, with only a few calls of each mark.

        Consecutive unrecorded calls of one function produce the same names. So only two kinds of
        these calls are executed again: the last one, and those before which variables were set.
        """
        seen: set[Any] = set()
        while t >= 0:
            event = self._events[t]
            if event.kind == SKIPPED and self.expand_mark is not None:
                run, begin, end = event.deltas[1].value
                place = run.last_with_sets(begin, end) if run in seen else end - 1
                seen.add(run)
                t = first_time(event) - 1
                if place is not None:
                    first, last = run.starts[place], run.starts[place + 1] - 1
                    self._expand(event, first)
                    yield from reversed(self[first : last + 1])
                    t = first - 1
            else:
                yield event
                t = first_time(event) - 1

    def _expand(self, mark: Event, t: int, folds: bool = True) -> Event:
        """Execute the call of a mark at time `t` again, and put its events into the tape.

        Shorter marks remain for the other calls of the mark. Return the event at time `t`. To save
        memory, a call that was executed again earlier may be replaced by a mark, unless `folds` is
        False.
        """
        if self.expand_mark is None:
            return mark
        found = self.expand_mark(mark, t)
        events = self._events
        place = events.replace(mark, found)
        more = len(found) - 1
        if place < self._next_to_count:
            if self._counted.limit is not None:
                self._counted.take(found)
            self._next_to_count += more
        self._count_at += more
        began = next(event.t for event in found if event.kind != SKIPPED)
        self._looked_at[began] = mark.deltas[1].value[0]
        while folds and len(self._looked_at) > MOST_LOOKED_AT:
            self._fold(next(iter(self._looked_at)))
        return events[t]

    def _fold(self, t: int) -> None:
        """Replace the events of the call that begins at time `t` by a mark, to save memory."""
        events = self._events
        own = self._looked_at.pop(t).mark_of(t)
        first, last = events.place(t), events.place(own.t)
        gone = events.kept[first : last + 1]
        if [event.t for event in gone] != list(range(t, own.t + 1)):
            return  # some events are forgotten, or a mark is back
        counted = first < self._next_to_count
        if counted and self._counted.limit is not None:
            for event in gone:
                self._counted.let_go(event)
            self._counted.forget_times(lambda at: t <= at <= own.t)
        events.put_in_place(first, last, [own])
        if counted:
            self._next_to_count -= len(gone) - 1
        self._count_at -= len(gone) - 1

    def _expand_ends(self, times: slice) -> None:
        """Execute the batches again in which a range of times begins or ends.

        Their events replace marks on the tape.
        """
        start, stop, _ = times.indices(len(self))
        if start < stop:
            for t, is_within in ((start, first_time), (stop - 1, _time_of)):
                event = self._events[t]
                if event.kind == SKIPPED and is_within(event) != t:
                    self._expand(event, t)

    def _expand_last(self, begin: int, t: int) -> None:
        """Execute again the last call of each function from time `begin` to `t`; add its events.

        Meanwhile no events are replaced by a mark again, because they may belong to the last call
        of another function.
        """
        events = self._events
        for mark in _last_of_each(events.kept[events.place(begin) : events.place(t) + 1]):
            self._expand(mark, mark.t, folds=False)

    def __iter__(self) -> Iterator[Event]:
        if self.settle is not None:
            self.settle()
        if self.expands_all:
            self._expand_all()
        if self._next_to_count < len(self._events.kept):
            self._count()
        return iter(self._events)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tape):
            return NotImplemented
        mine, theirs = self.whole(), other.whole()
        return len(mine) == len(theirs) and all(map(_same_event, mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Tape: {len(self)} events, {self.bytes:,} bytes of arrays>"

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook; None if no module has registered how to show a tape."""
        return display.show("tape", self, _nothing)

    @property
    def bytes(self) -> int:
        """The number of bytes of arrays in the events. Each array counts once."""
        return self._holding.bytes

    @property
    def held(self) -> int:
        """The approximate number of bytes of events and arrays. It is limited by `history`."""
        return self._holding.held

    @property
    def _holding(self) -> Budget:
        if self.settle is not None:
            self.settle()
        if self.history is not None:
            return self._budget
        budget = Budget(None)  # without a limit nothing was counted
        budget.take(self._events.kept)
        return budget

    @property
    def history(self) -> int | None:
        """The limit in bytes for events and arrays; None for unlimited."""
        return self._counted.limit

    @history.setter
    def history(self, limit: int | None) -> None:
        self._counted = Budget(limit)
        self._next_to_count = 0
        self._checkpoints.clear()
        self._count()

    # --- questions --------------------------------------------------------------------------------

    def filter(
        self,
        kind: str | None = None,
        name: str | None = None,
        act: str | None = None,
        phase: str | None = None,
        grain: str | None = None,
        ph: str | None = None,
    ) -> list[Event]:
        """Return the events whose fields match all patterns: `kind="map.*", name="dense_?"`."""
        asked = {"kind": kind, "name": name, "act": act, "phase": phase, "grain": grain, "ph": ph}
        patterns = [(field, pattern) for field, pattern in asked.items() if pattern is not None]

        def matches(event: Event, has_a_number: bool = False) -> bool:
            return all(
                fnmatchcase(getattr(event, field), pattern)
                for field, pattern in patterns
                if not (has_a_number and field == "name")
            )

        events: Iterable[Event] = self
        for mark in _last_of_each(self):
            one = self.expand_mark(mark, mark.t) if self.expand_mark is not None else ()
            if any(matches(event, event.kind == "batch") for event in one):
                events = self.whole()
                break
        return [event for event in events if event.kind != SKIPPED and matches(event)]

    def names_at(self, t: int) -> dict[str, Any]:
        """Return a dict of the names and values at time `t`.

        Lists and dicts are copies; arrays are not copied.

        Raises
        ------
        ArgumentError
            The tape has no event at this time.
        """
        return self._scopes_at(t).names()

    def spans_at(self, t: int) -> list[Event]:
        """Return the events that began the spans open after an event, the outermost first."""
        return list(self._scopes_at(t).spans)

    def _scopes_at(self, t: int) -> Scopes:
        if not 0 <= t < len(self):
            raise ArgumentError(f"tape: there is no t={t}; it goes from 0 to {len(self) - 1}.")
        if self[t].t != t:
            raise ArgumentError(f"t={t}: {describe_mark(self._events[t])}.")
        times = sorted(self._checkpoints)
        place = bisect_right(times, t)
        begin = times[place - 1] + 1 if place else 0
        scopes = self._checkpoints[begin - 1].copy() if begin else Scopes()
        if self._events.has_skipped:
            self._expand_last(begin, t)
        apart, is_exact = max(CHECKPOINT, len(self) // MOST_CHECKPOINTS), True
        events, first, last = self._events.kept, self._events.place(begin), self._events.place(t)
        marks = self._events.marks_between(first, last)
        for place in range(marks[-1] if marks else first, last + 1):
            if events[place].kind == SKIPPED:  # a later call produces the same names
                is_exact = False
                for name, array in self._weights_set(events[place]):
                    scopes.record_weight(name, array)
                continue
            scopes.feed(events[place])
            if is_exact and place % apart == 0:
                self._remember(events[place].t, scopes)
        self._checkpoints.pop(self._asked, None)  # only the last queried time is kept
        self._asked = t if t not in self._checkpoints else -1
        self._remember(t, scopes)
        return scopes

    @staticmethod
    def _weights_set(mark: Event) -> Iterator[tuple[str, np.ndarray]]:
        run, begin, end = mark.deltas[1].value
        return run.weights_set(begin, end)

    def _remember(self, t: int, scopes: Scopes) -> None:
        if len(self._checkpoints) > 2 * MOST_CHECKPOINTS:
            self._checkpoints.pop(next(iter(self._checkpoints)))
        self._checkpoints[t] = scopes.copy()

    def origin(self, name: str, t: int | None = None) -> Event | None:
        """Return the last event that produced a name, a key of a container, or a tensor.

        Parameters
        ----------
        name : str
            "total_loss", "dense_1" (in `tensor_map`), "dense_1/kernel", or `grads[dense_1/kernel]`.
        t : int, optional
            The latest time to consider; by default the end.

        Returns
        -------
        Event or None
            None if no event produced the name.

        Raises
        ------
        ArgumentError
            No event on the tape produced the name, and earlier events are forgotten.
        """
        last = len(self) - 1 if t is None else min(t, len(self) - 1)
        for event in self.back(last):
            if _produces(event, name):
                return event
            if event.kind == FORGOTTEN:
                raise ArgumentError(f"origin {name}: {describe_mark(event)}.")
        return None

    def diff(self, other: Tape) -> Difference:
        """Compare this tape with `other`: return the first different event and how many differ."""
        return difference(*both_whole(self, other))

    def to_table(self, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
        """Return one row for each event, with values as text, for notebooks."""
        return [_row(event) for event in self.whole()[slice(start, stop)]]

    # --- pictures ---------------------------------------------------------------------------------

    def plot(self, name: str = "loss", figure: str = "|g|", **options: Any) -> Any:
        """Draw a metric or a weight over the batches.

        Parameters
        ----------
        name : str
            "loss", a metric, a weight as "dense_1/kernel", or a pattern for several weights as
            "dense_*/kernel".
        figure : {"`|g|`", "`|w|`", "change", "histogram", "gradient histogram"}
            The figure to draw for a weight: the norm of its gradient, its own norm, its change by a
            batch relative to its norm, or a histogram of its values or of its gradient for each
            batch.
        **options
            `log`: whether the vertical axis is logarithmic (by default chosen from the numbers);
            `most=200`: the maximum number of batches to read; `theme`, `ax` and `backend` as for
            `History.plot`.

        Returns
        -------
        Picture

        Raises
        ------
        ArgumentError
            The tape does not have the name, or has no batch.
        """
        return display.show("tape_curves", self, name=name, figure=figure, **options)

    def gradient_flow(self, **options: Any) -> Any:
        """Draw the norm of each layer's gradient over the batches, one row for each layer.

        Parameters
        ----------
        **options
            `by`: whether a row is for a "layer" or a "weight"; `most=200`: the maximum number of
            batches to read; `theme`: the theme of the picture.

        Returns
        -------
        Picture
            One row for each layer, one column for each batch. Vanishing gradients are fading rows.

        Raises
        ------
        ArgumentError
            The tape contains no training batch, or no gradient.
        """
        return display.show("gradient_flow", self, **options)

    # --- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the events as lines of JSON, and their arrays into a `.npz` file next to it."""
        write_events(self.whole(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], history: int | None = HISTORY) -> Tape:
        """Read a tape that `save` wrote. Nothing in the file is executed.

        Raises
        ------
        ConfigError
            A line is damaged or missing (the message says which), or the arrays belong to another
            tape.
        """
        return cls(read_events(path), history)


class BatchOnTape(NamedTuple):
    """A training batch on a tape: its start, epoch, number in the epoch, loss and metrics.

    `fit` is the start time of the `fit` with the batch, and `model` the model's name. For a call of
    `train_on_batch`, the epoch is 0, `fit` is -1, and the number counts the calls of the model.
    """

    t: int
    epoch: int
    number: int
    outs: tuple[Any, ...] | None
    fit: int = -1
    model: str = ""


@dataclass
class _OpenFit:
    """A `fit` that is open while the batches of a tape are read, with its open batch."""

    t: int
    model: str
    epoch: int = 0
    begun: int = 0
    number: int = 0
    depth: int = 0  # the span depth inside the open batch; 0 without one
    outs: Any = None  # the outputs of the open batch, once computed

    def begin_batch(self, event: Event) -> None:
        self.number = int(event.name.rpartition(" ")[2])
        self.begun, self.depth, self.outs = event.t, event.depth + 1, None

    def end_batch(self, event: Event) -> BatchOnTape:
        """Return the batch that ends at `event`, with its loss even if a callback has failed."""
        outs = value_of_event(event, "outs")
        self.outs, self.depth = self.outs if outs is None else outs, 0
        return self.batch()

    def batch(self) -> BatchOnTape:
        """Return the last batch of the `fit`, with the values on the tape so far."""
        return BatchOnTape(self.begun, self.epoch, self.number, self.outs, self.t, self.model)


def _skipped_batches(mark: Event, fit: _OpenFit, calls: Counter[str]) -> Iterator[BatchOnTape]:
    """Yield the batches of a mark, and count its calls of `train_on_batch` by model in `calls`."""
    run, first, end = mark.deltas[1].value
    if fit.depth and mark.depth == fit.depth:  # the call of a recorded batch
        fit.outs = [*run.batches(first, end)][-1][2]
    elif run.callbacks is not None:
        for t, number, outs in run.batches(first, end):
            yield BatchOnTape(t, fit.epoch, number, tuple(outs), fit.t, fit.model)
    elif run.trains:
        for t, _, outs in run.batches(first, end):
            yield BatchOnTape(t, 0, calls[run.trains], tuple(outs), -1, run.trains)
            calls[run.trains] += 1


def _nothing(what: Any) -> None:
    return None


def _last_of_each(events: Iterable[Event]) -> list[Event]:
    """Return, for each function, the last event of a list that marks its unrecorded calls."""
    marks = [event for event in events if event.kind == SKIPPED]
    return list({mark.deltas[1].value[0].function: mark for mark in marks}.values())


def both_whole(one: Tape, other: Tape, last: int | None = None) -> tuple[list[Event], list[Event]]:
    """Return the events of two tapes before time `last`, to compare them.

    If the tapes have the same marks of unrecorded calls, the marks are left out. Otherwise the
    calls are executed again for their events.
    """
    if _skipped_calls(one) == _skipped_calls(other):
        mine, theirs = one[:last], other[:last]
        return [e for e in mine if e.kind != SKIPPED], [e for e in theirs if e.kind != SKIPPED]
    return one.whole()[:last], other.whole()[:last]


def _skipped_calls(tape: Tape) -> list[Any]:
    return [(event.t, *event.deltas[1].value) for event in tape if event.kind == SKIPPED]


def _time_of(event: Event) -> int:
    return event.t


def _produces(event: Event, name: str) -> bool:
    if event.name == name and event.ph != BEGIN and event.kind not in ("node", "update.apply"):
        return any(delta.name == "result" for delta in event.deltas)
    for delta in event.deltas:
        if delta.key is None:
            if delta.name == name or (isinstance(delta.value, dict) and name in delta.value):
                return True
        elif name == f"{delta.name}[{delta.key}]" or (name == delta.key and delta.name in BY_KEY):
            return True
    return False


def _same_event(one: Event, two: Event) -> bool:
    return all(same(a, b) for a, b in zip(one, two, strict=True))


def _row(event: Event) -> dict[str, Any]:
    where = event.where
    changes = (
        f"{d.name}{'' if d.key is None else f'[{d.key}]'} = {text_of(d.value)}"
        for d in event.deltas
    )
    return {
        "t": event.t,
        "depth": event.depth,
        "ph": event.ph,
        "kind": event.kind,
        "name": event.name,
        "act": event.act,
        "phase": event.phase,
        "engine": f"{where.file}:{where.line}" if where.file else "",
        "user": f"{where.user_file}:{where.user_line}" if where.user_file else "",
        "changes": "; ".join(changes),
    }


def _statistics_text(value: Any) -> str | None:
    if isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "fiub":
        return str(statistics_of(value))
    return None


def text_of(value: Any, own: Callable[[Any], str | None] = _statistics_text) -> str:
    """Return a value as one line of text; by default, with statistics in place of arrays.

    The function `own` returns the text for a value or for an item of a container, or None to use
    the usual text.

    Examples
    --------
    >>> text_of((np.ones(2), None)), text_of("x")
    ('(f64[2] |x|=1.414 min=1 mean=1 max=1, None)', "'x'")
    """
    if (said := own(value)) is not None:
        return said
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(item, own)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        words = ", ".join(text_of(item, own) for item in value)
        return f"[{words}]" if isinstance(value, list) else f"({words})"
    return repr(value) if isinstance(value, str) else str(value)


# --- a list with forgotten runs -------------------------------------------------------------------


class EventList:
    """A list of events, indexed by time, in which a mark may replace several events.

    Attributes
    ----------
    kept : list of Event
        The events and marks in the list.
    lost : int
        The number of times that have no event, because a mark has replaced it.
    """

    def __init__(self) -> None:
        self.kept: list[Event] = []
        self.lost = 0
        self.has_skipped = False
        self._solid_from = 0  # all times from this one on have an event

    def append(self, event: Event) -> None:
        """Append an event, or a mark."""
        kept = self.kept
        if event.t != len(kept) + self.lost:
            self._check_mark(event)
            self.has_skipped = self.has_skipped or event.kind == SKIPPED
            self._solid_from, self.lost = event.t, event.t - len(kept)
        kept.append(event)

    def _check_mark(self, event: Event) -> None:
        expected = len(self)
        if event.kind not in (FORGOTTEN, SKIPPED) or first_time(event) != expected:
            raise ArgumentError(f"tape: expected an event of t={expected}, got one of t={event.t}.")

    def __len__(self) -> int:
        return len(self.kept) + self.lost

    def __iter__(self) -> Iterator[Event]:
        return iter(self.kept)

    def place(self, t: int) -> int:
        """Return the index in `kept` of the event at time `t`, or of the mark that replaces it."""
        return t - self.lost if t >= self._solid_from else bisect_left(self.kept, (t,))

    def __getitem__(self, t: Any) -> Any:
        if t.__class__ is slice:
            return self._between(t)
        if t < 0:
            return self.kept[t]
        return self.kept[t - self.lost if t >= self._solid_from else self.place(t)]

    def _between(self, times: slice) -> list[Event]:
        """Return the events in a range of times, and the marks that represent a part of it."""
        if not self.lost:
            return self.kept[times]
        start, stop, step = times.indices(len(self))
        return self.kept[self.place(start) : self.place(stop)][::step]

    def marks_between(self, first: int, last: int) -> list[int]:
        """Return the indices in `kept` of the marks of forgotten events in a range of indices.

        The range is from `first` to `last`, inclusive.
        """
        if not self.lost or first > self.place(self._solid_from):
            return []
        return [i for i in range(first, last + 1) if self.kept[i].kind == FORGOTTEN]

    def put(self, event: Event) -> None:
        """Put an event in the place of the event that has the same time."""
        self.kept[self.place(event.t)] = event

    def replace(self, mark: Event, events: list[Event]) -> int:
        """Replace a mark by the events that it represents; return the index of the first event."""
        place = self.place(mark.t)
        self.put_in_place(place, place, events)
        return place

    def put_in_place(self, first: int, last: int, events: list[Event]) -> None:
        """Replace the events from index `first` to index `last`, inclusive, by `events`."""
        lost = self.lost + last + 1 - first - len(events)
        solid_from = max(self._solid_from, events[-1].t)
        self.has_skipped = self.has_skipped or any(e.kind == SKIPPED for e in events)
        self.lost, self._solid_from, self.kept[first : last + 1] = lost, solid_from, events

    def forget(self, number: int, is_to_go: Callable[[Event], bool]) -> list[Event]:
        """Replace some of the first `number` events by marks; return all marks of forgotten events.

        The events for which `is_to_go` returns True are replaced.
        """
        beginning = forget(self.kept[:number], is_to_go)
        marks = [event for event in beginning if event.kind == FORGOTTEN]
        lost = self.lost + min(number, len(self.kept)) - len(beginning)
        solid_from = max([self._solid_from, *(mark.t for mark in marks)])
        # No call comes between these assignments, so no interrupt does: all three happen, or none.
        self.lost, self._solid_from, self.kept[:number] = lost, solid_from, beginning
        return marks


# --- differences between two tapes ----------------------------------------------------------------


Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Difference:
    """The differences between two tapes.

    Attributes
    ----------
    name : str
        The name of the first event that differs, for example "dense_2/out"; empty if no event
        differs.
    t : int or None
        The time of this event in the first tape, or in the second tape if the first tape does not
        have the event; None if no event differs.
    values : tuple
        The values of this event in the first and the second tape; None for a tape without it.
    counts : dict of str to (int, int)
        For each kind of event, how many events differ and how many there are. Spans count once.
        Empty if no event differs.
    last : dict of str to tuple
        The last values of `total_loss` in the two tapes; empty if they are equal or missing.
    layers : dict of str to (int, int)
        For each layer, how many of its ops differ and how many it has, including gradients and
        updates.
    """

    name: str = ""
    t: int | None = None
    values: tuple[Any, Any] = (None, None)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    last: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    layers: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.t is not None

    def __str__(self) -> str:
        if self.t is None:
            return "no difference"
        words = [f"first difference {self.name} t={self.t}"]
        words += [f"{n} of {all_} {kind} differ" for kind, (n, all_) in self.counts.items() if n]
        return "; ".join(words)


def difference(first: Sequence[Event], second: Sequence[Event]) -> Difference:
    """Return the first difference between two lists of events, and how many events differ.

    Arrays are compared bit for bit. If one list has only the statistics of an array, statistics are
    compared, up to rounding.
    """
    first, second = _where_both_are_whole(first, second)
    mine, theirs = _numbered(first), _numbered(second)
    differing: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    layers: dict[str, list[int]] = {}
    found: tuple[Event, Any, Any] | None = None
    for key in dict.fromkeys([*mine, *theirs]):
        one, two = mine.get(key), theirs.get(key)
        event: Any = one or two
        counted = event.ph != BEGIN
        totals[event.kind] += counted
        own = layers.setdefault(_layer_of(event), [0, 0]) if event.grain == "op" else [0, 0]
        own[1] += counted
        before, after = _values(one, two)
        if one is not None and two is not None and alike(before, after):
            continue
        differing[event.kind] += counted
        own[0] += counted
        if found is None or event.t < found[0].t:
            found = (event, before, after)
    by_layer = {name: (differ, of_all) for name, (differ, of_all) in layers.items() if of_all}
    if found is None:
        return Difference(layers=by_layer)
    counts = {kind: (differing[kind], totals[kind]) for kind in totals}
    event, before, after = found
    last = _last(first, second)
    return Difference(event.name, event.t, (before, after), counts, last, by_layer)


def _layer_of(event: Event) -> str:
    """Return the layer of an op, of its gradient, or of a weight's update; "" for other events.

    Examples
    --------
    >>> _layer_of(Event(0, "", "", "op", "E", 0, "op", "gradients/dense_1/dot"))
    'dense_1'
    """
    first, _, rest = event.name.partition("/")
    if rest and first in ("gradients", "update"):
        return rest.partition("/")[0]
    return first if rest else ""


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal.

    An array and statistics are equal if the statistics of the array are equal up to rounding.
    """
    if same(one, other):
        return True
    if all(isinstance(x, (np.ndarray, np.generic)) for x in (one, other)):
        return same(np.asarray(one), np.asarray(other))  # one scalar may be an array without axes
    if isinstance(one, Statistics) or isinstance(other, Statistics):
        both = [
            statistics_of(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in (one, other)
        ]
        return all(isinstance(x, Statistics) for x in both) and _same_figures(*both)
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(alike, one, other))
    return False


def _same_figures(one: Statistics, other: Statistics) -> bool:
    """Return whether two `Statistics` are equal up to rounding in sums of different order."""
    if (one.kind, one.nans, one.infinities) != (other.kind, other.nans, other.infinities):
        return False
    both = ((one.norm, other.norm), (one.min, other.min), (one.mean, other.mean),
            (one.max, other.max))  # fmt: skip
    size = max(one.norm or 0.0, other.norm or 0.0)
    return all(_are_near(a, b, ROUNDED * size) for a, b in both)


def _are_near(one: float | None, other: float | None, noise: float) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or math.isclose(one, other, rel_tol=ROUNDED, abs_tol=noise)


def _where_both_are_whole(
    first: Sequence[Event], second: Sequence[Event]
) -> tuple[Sequence[Event], Sequence[Event]]:
    """Return the events of both lists after the last mark of forgotten events in either list."""
    marks = [event.t for event in (*first, *second) if event.kind == FORGOTTEN]
    if not marks:
        return first, second
    last = max(marks)
    return [e for e in first if e.t > last], [e for e in second if e.t > last]


def _numbered(events: Sequence[Event]) -> dict[Key, Event]:
    seen: Counter[tuple[str, str, str]] = Counter()
    found = {}
    for event in events:
        key = (event.kind, event.name, event.ph)
        found[(*key, seen[key])] = event
        seen[key] += 1
    return found


def _values(one: Event | None, two: Event | None) -> tuple[Any, Any]:
    """Return the results of two events, if both have a result; otherwise their deltas.

    For a missing event, None is returned in place of the deltas.
    """
    said = [None if e is None else tuple((d.name, d.key, d.value) for d in e.deltas)
            for e in (one, two)]  # fmt: skip
    if None not in said and len(said[0] or ()) != len(said[1] or ()):
        said = [tuple(d for d in one or () if d[0] not in OF_ARRAYS) for one in said]
    results = [next((v for name, _, v in s or () if name == "result"), None) for s in said]
    if None not in [said[0], said[1]] and not any(r is None for r in results):
        return results[0], results[1]
    return said[0], said[1]


def _last(first: Sequence[Event], second: Sequence[Event]) -> dict[str, tuple[Any, Any]]:
    """Return the last total losses of two lists of events, as {"total_loss": (first, second)}.

    Return {} if the losses are equal, or if a list has none.
    """
    losses = [
        [d.value for e in events for d in e.deltas if d.name == "total_loss"]
        for events in (first, second)
    ]
    mine, theirs = ([x for x in one if x is not None][-1:] for one in losses)
    return {"total_loss": (*mine, *theirs)} if mine and theirs and not same(mine, theirs) else {}
