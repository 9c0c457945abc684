"""Batches that nobody waits in: little is kept of each, and all is told when it is asked for.

To step through a batch takes many times as long as to compute it. So while nobody waits for
anything inside (`continue` without a breakpoint), the program of the train function runs, and only
this is kept of a batch: its number and size, its loss and metrics, what was set in variables from
outside before it, and its rows, if the feed cannot give them again. Now and then the variables are
copied: a checkpoint.

On the tape stands one event for such a stretch of batches, of the kind "unlooked". Whoever asks for
a time in it gets the events of that batch: from the checkpoint before it the program runs again up
to it, and then it is stepped through with a recorder of its own. How many events a call has is
known from one that was heard, so their times are those that they would have had; and the outputs
have to be those that were kept, bit for bit. The living variables have their numbers back then, in
the same arrays, so no program is written again.

The model for this is rr: record little, and execute again what is looked at.
"""

from __future__ import annotations

import functools
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import LOCKS, at_once, set_values
from kerascope.backend.constants import are_known_ones
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.function import Function
from kerascope.backend.graph import Variable
from kerascope.backend.schedule import slots_of
from kerascope.engine.training_loop import HeardInstead, fit_events
from kerascope.errors import ArgumentError
from kerascope.stage import observing
from kerascope.trace.event_writer import EventWriter, Span, named, place_of
from kerascope.trace.events import BEGIN, INSTANT, UNLOOKED, Delta, Event
from kerascope.trace.snapshots import same
from kerascope.trace.statistics import figure

HELD = 64 * 2**20  # bytes of checkpoints, and as many of rows
APART = 64  # batches, at least, between two checkpoints
MOST_APART = 4096
SHARE = 0.02  # of the time of training may go into checkpoints
SET = ("detail", "weight.set")
EVENTS_AROUND = 4  # begin and end of a batch, and of its callbacks

Values = dict[Variable, np.ndarray]


# --- what is kept, and what stands for it on the tape ---------------------------------------------


class Row(NamedTuple):
    """What is kept of one batch.

    Attributes
    ----------
    number, size : int
        Its number in the epoch, and of how many samples it is.
    outs : list
        The loss and the metrics.
    rows : list of array or None
        What was fed, if the feed cannot give it again; None if it can, or if it was dropped.
    was_set : dict of Variable to array
        What was written since the batch before, by somebody else.
    told : dict of Variable to (array or None)
        Of which of them a recorder tells that they were set; and what it had told before, where
        that is not what they were after the batch before.
    """

    number: int
    size: int
    outs: list[Any]
    rows: list[Any] | None
    was_set: Values
    told: dict[Variable, np.ndarray | None]


@dataclass(eq=False)
class Stretch:
    """Batches of one epoch, one after the other, of which nobody heard.

    Attributes
    ----------
    journal : Journal
    first : int
        The place of its first batch among the journal's rows.
    spans : list of Span
        Those that are open around it.
    act, phase : str
        Around it.
    callbacks : list of str
        What is told of them after each batch.
    rows_again : callable or None
        Returns what was fed for the number of a batch, if the feed can say it again.
    starts : list of int
        When each batch begins; at the end, when the last one has ended.
    """

    journal: Journal
    first: int
    spans: list[Span]
    act: str
    phase: str
    callbacks: list[str]
    rows_again: Callable[[int], list[Any]] | None = None
    starts: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def mark_of(self, t: int) -> Event:
        """Return the event that stands for the batch at a time."""
        place = bisect_right(self.starts, t) - 1
        return self.mark(place, place + 1)

    def counts(self, begin: int, end: int) -> Counter[tuple[str, str]]:
        """Return how many events of each grain and kind some batches have; spans count once."""
        rows = self.journal.rows[self.first + begin : self.first + end]
        one = Counter(
            (e.grain, e.kind) for e in self.journal.events_of(self, begin) if e.ph != BEGIN
        )
        one.pop(SET, None)
        counts = Counter({what: number * len(rows) for what, number in one.items()})
        is_told = [sum(old is not _UNKNOWN for old in row.told.values()) for row in rows]
        return counts + Counter({SET: sum(is_told)})

    def mark(self, begin: int, end: int) -> Event:
        """Return the event that stands for some of the batches."""
        first, last = self.starts[begin], self.starts[end] - 1
        deltas = (Delta("first", None, first), Delta("batches", None, (self, begin, end)))
        facts = (self.act, self.phase, UNLOOKED, INSTANT, len(self.spans), "act")
        return Event(last, *facts, f"t={first} to {last}", deltas=deltas)


def looked_into(mark: Event, t: int) -> list[Event]:
    """Return what comes in the place of a mark when one of its times is asked for.

    That are the events of the batch at that time, and marks for what lies before and after it.
    """
    stretch, begin, end = mark.deltas[1].value
    place = bisect_right(stretch.starts, t) - 1
    events = stretch.journal.events_of(stretch, place)
    before = [stretch.mark(begin, place)] if begin < place else []
    after = [stretch.mark(place + 1, end)] if place + 1 < end else []
    return [*before, *events, *after]


# --- the journal of one function ------------------------------------------------------------------


class Journal:
    """The batches of one train function of which nobody heard.

    Parameters
    ----------
    recorder : EventWriter
        Which hears what else happens; it has the journals of all functions.
    function : Function
    events_of_a_call : int
        How many its call has, as one that was heard has told.

    Attributes
    ----------
    events_of_a_call : int
    goes_on : bool
        Whether the next batch may be unheard, too. A signal handler may set it.
    rows : list of Row
    """

    def __init__(self, recorder: EventWriter, function: Function, events_of_a_call: int) -> None:
        self.recorder = recorder
        self.function = function
        self.goes_on = True
        self.rows: list[Row] = []
        self.events_of_a_call = events_of_a_call
        variables = [v for _, v in function.schedule.variables]
        variables += [update.variable for update in function.updates]
        self._variables = list(dict.fromkeys(variables))
        self._ids = frozenset(map(id, self._variables))
        self._compute = functools.partial(with_float_settings, function._compute)
        self.call = self._take
        self._stretches: list[Stretch] = []
        self._until = 0.0
        self._batch = (0, 0)
        self._checkpoints: dict[int, list[np.ndarray]] = {}  # by the row before which it was made
        self._breaks: set[int] = set()  # rows before which the function was heard
        self._next_checkpoint = 0
        self._began = 0.0
        self._size = sum(v.room.nbytes for v in self._variables)
        self._held = 0  # bytes of rows
        self._is_in_step = False  # whether nothing was heard since the last row
        self._has_handed = False  # whether others may ask what was set since then
        self._writes = -1  # how often variables had been written then
        self._was_set: set[Variable] = set()  # and which of ours since then

    # --- batches come -----------------------------------------------------------------------------

    def begin(self, stretch: Stretch, feed: Any, until: float) -> None:
        """Take the batches of a stretch, which a feed gives, up to a time."""
        self._stretches.append(stretch)
        self._feed = feed
        for other in self.recorder.journals.values():
            if other is not self and not self._ids.isdisjoint(other._ids):
                other.hand_over(lends=False)
        self._until, self.goes_on = until, True
        if self._held > HELD:
            self._drop_rows()

    def quietly(self, numbered: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches of an epoch with their numbers, as long as they may be unheard."""
        stretch = self._stretches[-1]
        for number, (size, fed) in numbered:
            if not len(stretch):  # an epoch draws its order when its first batch is asked for
                stretch.rows_again = self._feed.batches_again()
            self._batch = number, size
            yield number, (size, fed)
            if not self.goes_on:
                return

    def _take(self, fed: list[Any]) -> Any:
        """Compute what the train function computes, and take note of it.

        Raises
        ------
        HeardInstead
            It cannot be computed, and nothing was written: whoever hears the batch hears why.
        """
        rows, stretch = self.rows, self._stretches[-1]
        was_set: Values = {}
        told: dict[Variable, np.ndarray | None] = {}
        if not self._is_in_step:
            told = self._begin_after_a_break()
        elif self._writes != LOCKS.writes:
            was_set, told = self._note_sets()
        if len(rows) >= self._next_checkpoint:
            self._make_checkpoint()
        kept = None if stretch.rows_again is not None else self._copied(fed)
        try:
            outs = self._compute(fed)
        except Exception:
            number, size = self._batch
            raise HeardInstead((number, (size, fed))) from None
        rows.append(Row(*self._batch, outs, kept, was_set, told))
        self._writes = LOCKS.writes
        events = EVENTS_AROUND + self.events_of_a_call + len(stretch.callbacks)
        end = stretch.starts[-1] + events + sum(old is not _UNKNOWN for old in told.values())
        stretch.starts.append(end)
        if end + events > self._until:
            self.goes_on = False
        return outs

    def _begin_after_a_break(self) -> dict[Variable, np.ndarray | None]:
        """Begin with a checkpoint; return what was set since something was heard."""
        memory, n = self.recorder.memory, len(self.rows)
        told: dict[Variable, np.ndarray | None] = {}
        for v in self._variables:
            owner = memory.handed_over.pop(v, None)
            if memory.values.get(v) is not v.room:
                told[v] = memory.values.get(v, _UNKNOWN)
            elif owner is not None and v in owner.set_since():
                told[v] = owner.last_values()[v]
        self._is_in_step, self._has_handed = True, False
        self._was_set.clear()
        self._breaks.add(n)
        self._next_checkpoint = n
        return told

    def _note_sets(self) -> tuple[Values, dict[Variable, np.ndarray | None]]:
        """Return what was set since the last row."""
        changed = [v for v in self._variables if v in self.set_since()]
        self._was_set.clear()
        return {v: v.get_value() for v in changed}, dict.fromkeys(changed)

    def set_since(self) -> set[Variable]:
        """Return which variables somebody else has written since the last row."""
        if self._writes != LOCKS.writes and (self._is_in_step or self._has_handed):
            changed = LOCKS.changed(self._ids, self._writes)
            self._was_set.update(v for v in self._variables if id(v) in changed)
            self._writes = LOCKS.writes
        return self._was_set

    def last_values(self) -> Values:
        """Return what the variables were after the last row."""
        return self._values_around(len(self.rows) - 1, is_after=True)

    def _make_checkpoint(self) -> None:
        """Copy the variables, and say when that is done again."""
        now, n = time.perf_counter(), len(self.rows)
        since = n - max(self._checkpoints, default=n)
        per_batch = (now - self._began) / since if since and n not in self._breaks else 1e-3
        self._checkpoints[n] = [v.get_value() for v in self._variables]
        self._began = time.perf_counter()
        apart = int((self._began - now) / (SHARE * per_batch))
        self._next_checkpoint = n + min(max(APART, apart), MOST_APART)
        if len(self._checkpoints) * self._size > HELD and len(self._checkpoints) > 2:
            self._thin_out()

    def _thin_out(self) -> None:
        """Drop every second checkpoint but for the latest, so that older ones lie farther apart.

        If only such are left before which something was heard, the oldest go.
        """
        *older, _ = sorted(self._checkpoints)
        between = [n for n in older if n not in self._breaks]
        for n in between[::2] or older[: len(older) // 2]:
            del self._checkpoints[n]

    def _copied(self, fed: list[Any]) -> list[Any]:
        """Return copies of what was fed, which somebody else may write into afterwards."""
        copies = [
            np.array(x) if isinstance(x, np.ndarray) and not are_known_ones(x) else x for x in fed
        ]
        self._held += sum(map(_bytes_of, copies))
        return copies

    def _drop_rows(self) -> None:
        """Drop what was fed for the older half of the batches."""
        with_rows = [n for n, row in enumerate(self.rows) if row.rows is not None]
        for n in with_rows[: len(with_rows) // 2 + 1]:
            row = self.rows[n]
            self._held -= sum(map(_bytes_of, row.rows or ()))
            self.rows[n] = row._replace(rows=None)

    def hand_over(self, lends: bool = True) -> None:
        """Say to the recorder's memory what the variables are: something else is told.

        Parameters
        ----------
        lends : bool
            Whether they are heard, so that their arrays are kept. If not, who wants to know later
            whether they were set has to ask this journal.
        """
        memory = self.recorder.memory
        own = self._variables
        if not self._is_in_step:
            own = [v for v, owner in memory.handed_over.items() if owner is self]
            if not lends or not own:
                return
        changed = self.set_since().intersection(own)
        then = self.last_values() if changed else {}
        self._is_in_step, self._has_handed = False, not lends
        for v in own:
            if v in changed:
                memory.values[v] = then[v]
            else:
                memory.values[v] = v.get_value(borrow=True) if lends else v.room
            if lends:
                memory.handed_over.pop(v, None)
            else:
                memory.handed_over[v] = self

    # --- a batch is executed again ----------------------------------------------------------------

    def events_of(self, stretch: Stretch, place: int) -> list[Event]:
        """Return the events of a batch.

        Raises
        ------
        ArgumentError
            What it takes is not kept any more, or something else comes out now.
        """
        n = stretch.first + place
        row = self.rows[n]
        fed, then = self._fed(stretch, n), self._values_around(n, is_after=False)
        again = self._recorder_at(stretch, stretch.starts[place])
        again.memory.values.update(then)
        if row.told:
            after_last = {} if n in self._breaks else self._values_around(n - 1, is_after=True)
            for v, old in row.told.items():
                if old is _UNKNOWN:
                    again.memory.values.pop(v)
                else:
                    again.memory.values[v] = after_last[v] if old is None else old
        with _rooms(then):
            Context().run(self._tell, again, stretch, row, fed)
        events = list(again.tape._events.kept)
        expected = stretch.starts[place + 1] - stretch.starts[place]
        if len(events) != expected:
            raise ArgumentError(
                f"{self._label(row)}: executed again it has {len(events)} events; expected "
                f"{expected}. Please report this."
            )
        return events

    def _recorder_at(self, stretch: Stretch, t: int) -> EventWriter:
        """Return a recorder that goes on where a batch began."""
        recorder = self.recorder
        again = type(recorder)(recorder.level, history=None)
        again.memory = recorder.memory.beside()
        again.memory._twin_values = recorder.memory._twin_values
        again.describer = again.memory.describer
        again.go_on_at(t, stretch.spans, stretch.act, stretch.phase)
        return again

    def _tell(self, again: EventWriter, stretch: Stretch, row: Row, fed: list[Any]) -> None:
        """Let a recorder hear of a batch what it would have heard in the loop."""
        memory = again.memory
        rows = [memory.copied(x) for x in fed]
        names = {"batch_index": row.number, "size": row.size, "ins_batch": rows}
        begun = place_of(fit_events, "yield BatchBegun(", None)
        called = place_of(fit_events, "yield f.stage(", None)
        again.begin("batch", f"batch {row.number}", begun, named(**names))
        with observing(again):
            outs = self.function.stage(fed).run()
        if not same(list(outs), list(row.outs)):
            raise ArgumentError(
                f"{self._label(row)}: executed again its loss is {_loss(outs)}, and it was "
                f"{_loss(row.outs)}. Something has changed that is not recorded: the data in "
                "place, what an op of your own keeps, or the number of threads."
            )
        again.begin("callbacks", "on_batch_end", called)
        for name in stretch.callbacks:
            again.tell("callback", name, called)
        again.end()
        results = tuple(memory.payload(x) for x in outs)
        again.end(named(outs=results, result=results))

    def _label(self, row: Row) -> str:
        return f"batch {row.number}"

    def _fed(self, stretch: Stretch, n: int) -> list[Any]:
        """Return what was fed to a row."""
        row = self.rows[n]
        if stretch.rows_again is not None:
            return stretch.rows_again(row.number)
        if row.rows is None:
            raise ArgumentError(
                f"{self._label(row)}: its rows are gone. The feed cannot give them again, and of "
                f"what was fed only the last {HELD:,} bytes are kept."
            )
        return list(row.rows)

    def _stretch_of(self, n: int) -> Stretch:
        return self._stretches[bisect_right(self._stretches, n, key=lambda s: s.first) - 1]

    def _values_around(self, n: int, is_after: bool) -> Values:
        """Return what the variables were before the call of a row, or after it.

        The program runs on the living variables, which get back what they had.
        """
        start = max((place for place in self._checkpoints if place <= n), default=-1)
        if start < 0 or any(start < place <= n for place in self._breaks):
            raise ArgumentError(
                f"{self._label(self.rows[n])}: no weights are kept from which it could be executed "
                "again: the checkpoints would take too much."
            )
        if start == n and not is_after:
            return dict(zip(self._variables, map(np.copy, self._checkpoints[n]), strict=True))
        feeds = [self._fed(self._stretch_of(k), k) for k in range(start, n + is_after)]
        journals = self.recorder.journals.values()
        for journal in journals:
            journal.set_since()
        with LOCKS.steps, _numbers_kept(self._variables):
            set_values(zip(self._variables, self._checkpoints[start], strict=True))
            for k, fed in enumerate(feeds, start):
                if k > start:
                    set_values(self.rows[k].was_set.items())
                Context().run(self._compute, fed)
            if not is_after:
                set_values(self.rows[n].was_set.items())
            found = {v: v.get_value() for v in self._variables}
        for journal in journals:
            journal._writes = LOCKS.writes
        return found


_UNKNOWN: Any = object()  # a recorder has never told what a variable is


def _bytes_of(x: Any) -> int:
    return x.nbytes if isinstance(x, np.ndarray) else 0


def _loss(outs: list[Any]) -> str:
    return figure(outs[0]) if outs else "nothing"


def may_be_unheard(function: Function) -> bool:
    """Tell whether all calls of a function have equally many events.

    It is not so if a number that is computed decides what is needed.
    """
    schedule = function.schedule
    guards = [step.guards for step in schedule.steps]
    guards.extend(schedule.guards_of_followers.values())
    return all(slot < len(schedule.inputs) for slot in slots_of(guards))


@contextmanager
def _numbers_kept(variables: list[Variable]) -> Iterator[None]:
    """Give variables their arrays and numbers back behind the block."""
    before = [(v, v.room, v.is_lent, v._is_shared, v.get_value()) for v in variables]
    try:
        yield
    finally:
        for v, room, is_lent, is_shared, numbers in before:
            if not is_lent:  # a lent array is not written by anybody
                room[...] = numbers
            at_once(v._calls_to_have(room, is_shared=is_shared))


@contextmanager
def _rooms(values: Values) -> Iterator[None]:
    """Let variables have other arrays inside the block, and their own again behind it."""
    with LOCKS.steps:
        before = [(v, v.room, v._is_shared) for v in values]
        try:
            at_once([c for v, x in values.items() for c in v._calls_to_have(x, is_shared=True)])
            yield
        finally:
            own = [v._calls_to_have(x, is_shared=is_shared) for v, x, is_shared in before]
            at_once([call for calls in own for call in calls])
