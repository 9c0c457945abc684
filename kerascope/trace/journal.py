"""The journal: it stores little about calls without events, and executes them again when needed.

Stepping through a call of a function takes many times as long as computing it. So if the program
cannot stop inside the call (`continue` without a breakpoint), the compiled program runs. The
journal then keeps one row for the call: its outputs, the variables that other code set before it,
and its inputs if the feed cannot repeat them. Now and then it copies the variables as a
checkpoint. In `fit` a row is a whole batch, with its number and its callbacks.

Consecutive calls of this kind are a *run*. The tape has one event for a run, a mark of kind
"unlooked". When a time inside the run is needed, the mark is expanded: the programs run again from
the checkpoint before this time, and the call itself is stepped through with a new recorder. The
number of events of a call is known from a recorded call, so each event has the time that it would
have had. The outputs must equal the stored outputs, bit for bit. If JAX computed the call, NumPy
computes it again, so the outputs must be equal up to rounding; a warning reports larger
differences. Afterwards the live variables get their values back, in the same arrays, so that no
program is compiled again.

A session also keeps rows for recorded calls, so it can continue from any call with a change
(`forks.py`).

The debugger rr works in the same way: it records little, and executes again what is inspected.
"""

from __future__ import annotations

import functools
import time
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import LOCKS, at_once, set_values
from kerascope.backend.constants import is_constant_ones
from kerascope.backend.engines import programs_of_engine
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.function import Function
from kerascope.backend.program.alarms import Alarm, Alarms
from kerascope.backend.program.custom_ops import is_builtin, is_pure
from kerascope.backend.schedule import slots_of
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError
from kerascope.stage import observing
from kerascope.trace.event_writer import Span
from kerascope.trace.events import BEGIN, INSTANT, SKIPPED, Delta, Event
from kerascope.trace.snapshots import same
from kerascope.trace.statistics import figure
from kerascope.unrecorded import RepeatWithEvents
from kerascope.user_frames import line_outside_the_package, warn

HELD = 64 * 2**20  # bytes of checkpoints, and as many of inputs
APART = 64  # rows, at least, between two checkpoints
MOST_APART = 4096
SHARE = 0.02  # the largest share of the training time that may be spent on checkpoints
SMALL = 1024  # bytes; larger outputs are kept as checksums
SET = ("detail", "weight.set")
GUARDED = "jax guarded"
ROUNDING = {"float64": 1e-10, "float16": 1e-2}  # between engines; 1e-4 for other dtypes
FALSE_ALARMS = 3  # in a row; then all calls of a function are recorded

Values = dict[Variable, np.ndarray]
EMPTY: Mapping[Any, Any] = MappingProxyType({})
UNKNOWN: Any = object()  # the value of a variable that the recorder has never recorded


# --- rows, and the marks of runs on the tape ------------------------------------------------------


class CallRecord(NamedTuple):
    """A row of the journal: what is stored about one call of a function, or one batch of `fit`.

    Attributes
    ----------
    number, size : int
        The number of a batch in its epoch and its number of samples; 0 for calls outside of `fit`.
    outs : list
        The outputs of the call, such as the loss and the metrics. Large arrays are stored as
        checksums.
    fed : list of array or None
        The inputs. None if the feed can repeat them, or if they were dropped to save memory.
    was_set : dict of Variable to array
        The variables that other code than the calls in the journal wrote since the previous row,
        and their values.
    seen : dict of Variable to object
        The variables for which recording this call adds a "weight.set" event. Each is mapped to the
        value that was recorded before: an array; `UNKNOWN` if none was recorded; or an int n if it
        is the value after the call of row n.
    made_at : (str, int) or None
        The file and the line of the script that made the call; None if a stage was already running.
    checksum : int
        A checksum of the inputs if the feed can repeat them, otherwise 0.
    engine : {"numpy", "jax", "jax guarded"}
        The engine that computed the call; "jax guarded" if it also caught NaN or infinite numbers.
    """

    number: int
    size: int
    outs: list[Any]
    fed: list[Any] | None
    was_set: Mapping[Variable, np.ndarray]
    seen: Mapping[Variable, Any]
    made_at: tuple[str, int] | None
    checksum: int = 0
    engine: str = "numpy"

    def apart(self, outs: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield a pair of numbers for each output of the row that differs from that in `outs`.

        The numbers are the first element that differs, in the row and in `outs`. The tolerance
        allows for the different rounding of NumPy and JAX.
        """
        for kept in zip(self.outs, outs, strict=True):
            x, y = (
                np.frombuffer(one[3], one[0]) if isinstance(one, tuple) else one for one in kept
            )
            near = ROUNDING.get(np.asarray(x).dtype.name, 1e-4)
            differ = ~np.isclose(x, y, near, near / 100, equal_nan=True)
            if differ.any():
                yield np.extract(differ, x)[0], np.extract(differ, y)[0]


@dataclass(eq=False)
class UnrecordedRun:
    """Consecutive calls of a function that were computed without events, or one recorded call.

    Attributes
    ----------
    journal : Journal
    function : Function
    first : int
        The number of the run's first row in the journal.
    spans : list of Span
        The spans that are open while the run is computed.
    act, phase : str
        The names of the innermost open act and phase (the coarsest grains of events).
    callbacks : list of str or None
        The callbacks after each batch of `fit`; None for calls outside of `fit`.
    events_around : int
        The number of events that a batch of `fit` has in addition to those of its call: the events
        of the batch itself and of its callbacks.
    catching : frozenset of str
        The kinds of bad numbers ("nan", "inf") that stop the run. So no call of it contains one.
    batches_again : callable or None
        Takes the number of a batch and returns its inputs; None if the feed cannot repeat them.
    starts : list of int
        The start time of each call, followed by the end time of the last one.
    """

    journal: Journal
    function: Function
    first: int
    spans: list[Span]
    act: str
    phase: str
    callbacks: list[str] | None
    events_around: int
    catching: frozenset[str]
    starts: list[int] = field(default_factory=list)
    batches_again: Callable[[int], list[Any]] | None = None
    is_in_batch: bool = False  # the callbacks of the last batch are running
    records_end: bool = False  # the end of that batch must be recorded
    is_open: bool = False  # the last batch is on the tape up to its call

    def __len__(self) -> int:
        return len(self.starts) - 1

    def batches(self, begin: int, end: int) -> Iterator[tuple[int, int, list[Any]]]:
        """Yield start time, number and outputs of the run's batches `begin` to `end` - 1."""
        for place in range(begin, end):
            row = self.journal.rows[self.first + place]
            yield self.starts[place], row.number, row.outs

    @property
    def trains(self) -> str:
        """The name of the model that the run trains outside of `fit`; "" for all other runs."""
        if self.callbacks is not None or self.spans or self.function.name != "train_function":
            return ""
        facts = self.journal.recorder.memory.facts(self.function)
        return "" if facts is None else str(facts.model.name)

    def last_with_sets(self, begin: int, end: int) -> int | None:
        """Return the last of the run's calls `begin` to `end` - 1 before which variables were set.

        Return None if no variable was set before any of these calls.
        """
        rows = self.journal.rows
        return next((p for p in range(end - 1, begin - 1, -1) if rows[self.first + p].seen), None)

    def weights_set(self, begin: int, end: int) -> Iterator[tuple[str, np.ndarray]]:
        """Yield name and value of each variable set before the run's calls `begin` to `end` - 1."""
        for n in range(self.first + begin, self.first + end):
            row = self.journal.rows[n]
            if row.seen:
                values = self.journal.values_before(n)
                yield from ((v.name, values[v]) for v in row.seen)

    def sample(self, place: int) -> list[Event]:
        """Return the events of an example call of the run's function, with the run's callbacks.

        If none is stored yet, the call at index `place` of the run is executed again.
        """
        samples = self.journal.samples
        key = (self.function, *(self.callbacks or ()))
        if key not in samples:
            samples[key] = self.journal.events_of(self, place)
        return samples[key]

    def mark_of(self, t: int) -> Event:
        """Return a mark that represents only the call at time `t`."""
        place = bisect_right(self.starts, t) - 1
        return self.mark(place, place + 1)

    def facts_are_of(self, other: UnrecordedRun) -> bool:
        """Return whether `other` has the function, open spans, callbacks and feed of this run."""
        return (
            self.function is other.function
            and self.spans == other.spans
            and self.callbacks == other.callbacks
            and self.batches_again is other.batches_again
        )

    def counts(self, begin: int, end: int) -> Counter[tuple[str, str]]:
        """Return how many events the run's calls `begin` to `end` - 1 have, by grain and kind."""
        rows = self.journal.rows[self.first + begin : self.first + end]
        one = Counter(
            (e.grain, e.kind) for e in self.journal.events_of(self, begin) if e.ph != BEGIN
        )
        one.pop(SET, None)
        counts = Counter({what: number * len(rows) for what, number in one.items()})
        return counts + Counter({SET: sum(_number_recorded(row.seen) for row in rows)})

    def mark(self, begin: int, end: int) -> Event:
        """Return the mark that represents the run's calls `begin` to `end` - 1 on the tape."""
        first, last = self.starts[begin], self.starts[end] - 1
        deltas = (Delta("first", None, first), Delta("calls", None, (self, begin, end)))
        facts = (self.act, self.phase, SKIPPED, INSTANT, len(self.spans), "act")
        return Event(last, *facts, f"t={first} to {last}", deltas=deltas)


def expand_mark(mark: Event, t: int) -> list[Event]:
    """Return the events that replace a mark when the event at time `t` is needed.

    These are the events of the call that contains `t`, and marks for the calls before and after.
    """
    run, begin, end = mark.deltas[1].value
    place = bisect_right(run.starts, t) - 1
    events = run.journal.events_of(run, place)
    before = [run.mark(begin, place)] if begin < place else []
    after = [run.mark(place + 1, end)] if place + 1 < end else []
    return [*before, *events, *after]


def _number_recorded(seen: Mapping[Variable, Any]) -> int:
    return sum(old is not UNKNOWN for old in seen.values())


# --- the journal ----------------------------------------------------------------------------------


class FunctionInfo:
    """How calls of a function are computed, and which variables they read and write."""

    def __init__(self, function: Function) -> None:
        self.function = function
        ops = [step.apply.op for step in function.schedule.steps]
        # A call that is abandoned in the middle is executed again, so it must be repeatable.
        self.can_be_left = all(is_builtin(op) or is_pure(op) for op in ops)
        self.false_alarms = 0  # in a row
        self.reads = list(dict.fromkeys(v for _, v in function.schedule.variables))
        self.needs = frozenset(self.reads)
        self.writes = [update.variable for update in function.updates]
        self.is_learned = False  # whether checkpoints have the function's variables
        self._rooms: Values = {}  # buffers for copies of the written variables
        self.known_after = -1  # number of breaks when all variables were in `_known`
        self.events = 0  # number of events in a call, without "weight.set"
        guards = [step.guards for step in function.schedule.steps]
        guards.extend(function.schedule.guards_of_followers.values())
        # A computed number may decide which ops run. Then calls have different numbers of events.
        self.is_even = all(slot < len(function.inputs) for slot in slots_of(guards))

    def compute(self, fed: list[Any], engine: str | None = None) -> Any:
        """Compute a call without events.

        `engine` is the engine in a call's journal row: the call is computed in the same way again.
        By default it is computed as any call of the function.
        """
        function = self.function
        if engine is None:
            return with_float_settings(function._compute, fed)
        if engine == GUARDED:
            return Alarms(()).compute(function, fed)[0]
        return with_float_settings(programs_of_engine(function, engine), function._arrays(fed))

    def copied(self) -> list[tuple[Variable, np.ndarray]]:
        """Return a copy of the value of each variable that the function writes.

        The next call of this method writes its copies into the same arrays.
        """
        for v in self.writes:
            now, room = v.room, self._rooms.get(v)
            if room is None:
                room = self._rooms[v] = np.empty_like(now)
            np.copyto(room, now)
        return [*self._rooms.items()]

    @property
    def can_be_caught_in(self) -> bool:
        """Whether calls may run as a program that stops if it computes NaN or infinity.

        False after too many false alarms, or if calls of the function cannot run without events.
        """
        return self.can_be_left and self.false_alarms < FALSE_ALARMS


class Journal:
    """Stores a row for each call without events, and can execute these calls again.

    Parameters
    ----------
    recorder : Recorder
        The recorder of the calls with events.

    Attributes
    ----------
    may_continue : bool
        Whether the next call may also run without events. A signal handler may set it to False.
    rows : list of CallRecord
        The rows in the order of the calls.
    samples : dict of (Function, str, ...) to list of Event
        For a function and the names of the callbacks in `fit`, the events of one call or batch.
    """

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.may_continue = True
        self.rows: list[CallRecord] = []
        self.samples: dict[tuple[Any, ...], list[Event]] = {}
        self._infos: dict[Function, FunctionInfo] = {}
        self._variables: dict[int, Variable] = {}  # all variables by id
        self._runs: list[UnrecordedRun] = []
        self._until = 0.0
        self._alarms: Alarms | None = None
        self._is_met: Callable[[Sequence[Any]], bool] | None = None  # whether to record a call
        self._checkpoints: dict[int, Values] = {}  # by the number of the next row
        self._breaks: list[int] = []  # rows that follow recorded events
        self._next_checkpoint = 0
        self._began = 0.0
        self._held = 0  # bytes of kept inputs
        self._held_then = 0  # their size at the last checkpoint
        self._is_in_step = False  # whether the last call has a row here
        self._writes = -1  # number of writes to variables when the last row was added
        self._was_set: set[Variable] = set()  # variables that were set since the last row
        self._unseen: dict[Variable, int] = {}  # set variables, with the number of rows then
        self._known: set[Variable] = set()  # whose values are in the recorder or in a row
        self.covers_recorded_calls = False  # whether recorded calls have rows too
        self._noted: dict[Variable, np.ndarray] = {}  # arrays that were set, at the last check
        self._pending: Values = {}  # set before a call that is still open
        self._root = self  # the journal of the program itself, not of a fork

    def info(self, function: Function) -> FunctionInfo:
        """Return the `FunctionInfo` of a function; make it when it is first needed."""
        found = self._infos.get(function)
        if found is None:
            found = self._infos[function] = FunctionInfo(function)
        return found

    # --- adding calls -----------------------------------------------------------------------------

    def begin(
        self,
        run: UnrecordedRun,
        until: float,
        is_met: Callable[[Sequence[Any]], bool] | None = None,
    ) -> None:
        """Start a run of calls without events.

        It ends at time `until`, or before a call whose outputs fulfil the condition `is_met`.
        """
        self._runs.append(run)
        self._until, self.may_continue, self._is_met = until, True, is_met
        kinds = frozenset() if self._alarms is None else self._alarms.kinds
        if kinds != run.catching:
            self._alarms = Alarms(run.catching) if run.catching else None
        self._keep_to_budget()

    def take(self, run: UnrecordedRun, fed: list[Any], number: int = 0, size: int = 0) -> Any:
        """Compute a call without events, add its row to the journal, and return its outputs.

        Raises
        ------
        RepeatWithEvents
            The call failed, its outputs fulfil the condition `is_met` of `begin`, or it computed a
            NaN or infinite number at which the run must stop. No variable was changed. The caller
            must repeat the call with events.
        """
        info = self._infos[run.function]
        was_set, seen = EMPTY, EMPTY
        before = None
        if not self._is_unchanged(info):
            before = self._state(info)
            was_set, seen = self._set_since_the_last_row(), self._sets_to_record(info)
        if len(self.rows) >= self._next_checkpoint:
            self._make_checkpoint()
        kept = None if run.batches_again is not None else self._copied(fed)
        checksum = 0 if run.batches_again is None else _checksum(fed)
        made_at = None if run.spans else line_outside_the_package()
        written = None if self._is_met is None else info.copied()
        try:
            if self._alarms is None:
                outs = info.compute(fed)
            else:
                outs = self._guarded(self._alarms, info, fed, was_set, seen)
            if written is not None and self._is_met is not None and self._is_met(outs):
                self._take_back([(v, copy.copy()) for v, copy in written])
                raise Alarm
        except (Exception, Alarm):
            if before is not None:
                self._set_state(before)
            self._held -= sum(map(_bytes_of, kept or ()))
            raise RepeatWithEvents((number, (size, fed))) from None
        if before is not None:
            self._known.update(info.writes)
            info.known_after = len(self._breaks)
        is_by_numpy = programs_of_engine(run.function) is run.function._programs
        engine = "numpy" if is_by_numpy else GUARDED if self._alarms is not None else "jax"
        facts = (kept, was_set, seen, made_at, checksum, engine)
        self.rows.append(CallRecord(number, size, trim(outs), *facts))
        self._writes = LOCKS.writes
        if kept is not None:
            self._keep_to_budget()
        events = run.events_around + info.events
        end = run.starts[-1] + events + (_number_recorded(seen) if seen else 0)
        run.starts.append(end)
        if end + events > self._until:
            self.may_continue = False
        return outs

    def _guarded(
        self,
        alarms: Alarms,
        info: FunctionInfo,
        fed: list[Any],
        was_set: Mapping[Variable, np.ndarray],
        seen: Mapping[Variable, Any],
    ) -> Any:
        """Compute a call; raise `Alarm` at a NaN or infinity that stops the run."""
        is_late = False
        try:
            alarms.inspect([v.room for v in seen])
            outs, is_late = alarms.compute(info.function, fed)
            if is_late:
                raise Alarm
        except Alarm:
            info.false_alarms += 1  # until `reset_false_alarms` is called
            if is_late:
                self._undo(was_set)
            raise
        return outs

    def _undo(self, was_set: Mapping[Variable, np.ndarray]) -> None:
        """Restore all variables to their values before the current call, which has no row yet."""
        n = len(self.rows)
        self._writes = LOCKS.writes
        self.rows.append(CallRecord(0, 0, [], None, was_set, EMPTY, None))
        try:
            values = self.values_before(n)
        finally:
            self.rows.pop()
        self._take_back(values.items())

    def _take_back(self, written: Iterable[tuple[Variable, np.ndarray]]) -> None:
        """Restore the previous values of the variables that the current call wrote.

        `written` has each of these variables with its value before the call.
        """
        self._writes = LOCKS.writes
        with self.unobserved():
            set_values(written)

    def reset_false_alarms(self) -> None:
        """Set the counts of false alarms about NaN or infinity to 0, because an alarm was right."""
        for info in self._infos.values():
            info.false_alarms = 0

    def _is_unchanged(self, info: FunctionInfo) -> bool:
        """Return whether it is certain that no variable was set since the last row.

        If so, `was_set` and `seen` are empty in the row of the next call.
        """
        return (
            self._writes == LOCKS.writes
            and self._is_in_step
            and not self._was_set
            and info.known_after == len(self._breaks)
            and (not self._unseen or info.needs.isdisjoint(self._unseen))
        )

    def _state(self, info: FunctionInfo) -> tuple[Any, ...]:
        """Return a copy of the journal's state, to which it is reset if the next call fails."""
        if not self._is_in_step:
            self._note_sets_between_recorded()
        self._note_sets()
        copies = (dict(self._unseen), set(self._was_set), set(self._known), list(self._breaks))
        values = self.recorder.memory.values
        shared = [v for v in (*info.reads, *info.writes) if values.get(v) is v.room]
        pending = dict(self._pending)
        return (*copies, pending, self._is_in_step, self._next_checkpoint, shared)

    def _set_state(self, state: tuple[Any, ...]) -> None:
        self._unseen, self._was_set, self._known, self._breaks, self._pending, *rest = state
        self._is_in_step, self._next_checkpoint, shared = rest
        self._writes = LOCKS.writes
        self._checkpoints.pop(len(self.rows), None)
        # A program moves its variables to its own arrays.
        self.recorder.memory.values.update((v, v.get_value(borrow=True)) for v in shared)

    def learn(self, function: Function) -> None:
        """Add a function's variables to those that the journal's checkpoints (copies) contain."""
        info = self.info(function)
        if info.is_learned:
            return
        info.is_learned = True
        new = {id(v): v for v in (*info.reads, *info.writes) if id(v) not in self._variables}
        if new:
            self._variables.update(new)
            self._next_checkpoint = len(self.rows)
            values = {v: v.get_value() for v in new.values()}
            for checkpoint in self._checkpoints.values():  # their values did not matter before
                checkpoint.update(values)

    def _set_since_the_last_row(self) -> Values:
        """Return the variables that other code wrote since the last row, and their values."""
        n = len(self.rows)
        if not self._is_in_step:
            self._note_sets_between_recorded()
            self._is_in_step = True
            self._unseen.clear()
            self._was_set.clear()
            self._known.clear()
            self._breaks.append(n)
            self._next_checkpoint = n
            taken, self._pending = self._pending, {}
            return {v: x.copy() for v, x in taken.items()}
        self._note_sets()
        found = {v: v.get_value() for v in self._was_set}
        self._was_set.clear()
        return found

    def _sets_to_record(self, info: FunctionInfo) -> dict[Variable, Any]:
        """Return `CallRecord.seen` for the next call: the variables with a "weight.set" event."""
        seen: dict[Variable, Any] = {}
        values = self.recorder.memory.values
        for v in info.reads:
            if v in self._known:
                n = self._unseen.pop(v, None)
                if n is not None:
                    seen[v] = n - 1
            elif values.get(v) is not v.room:
                seen[v] = values.get(v, UNKNOWN)
                self._unseen.pop(v, None)
        self._known.update(info.reads)
        return seen

    def _make_checkpoint(self) -> None:
        """Copy all variables into a checkpoint, and choose the row at which the next is made."""
        now, n = time.perf_counter(), len(self.rows)
        since = n - max(self._checkpoints, default=n)
        is_after_break = bool(self._breaks) and self._breaks[-1] == n
        per_row = (now - self._began) / since if since and not is_after_break else 1e-3
        made = self._checkpoints[n] = {v: v.get_value() for v in self._variables.values()}
        self._held_then = self._held
        self._began = time.perf_counter()
        apart = int((self._began - now) / (SHARE * per_row))
        self._next_checkpoint = n + min(max(APART, apart), MOST_APART)
        size = sum(x.nbytes for x in made.values())
        if len(self._checkpoints) * size > self._most_held and len(self._checkpoints) > 2:
            self._thin_out()

    def _thin_out(self) -> None:
        """Drop every second copy of the variables (checkpoint), but not the latest one.

        Checkpoints that were made after recorded events are dropped only if there are no others:
        then the older half of them.
        """
        *older, _ = sorted(self._checkpoints)
        between = sorted(set(older).difference(self._breaks))
        for n in between[::2] or older[: len(older) // 2]:
            del self._checkpoints[n]

    def _copied(self, fed: list[Any]) -> list[Any]:
        """Return copies of the inputs of a call, because the caller may write into them later."""
        copies = [
            np.array(x) if isinstance(x, np.ndarray) and not is_constant_ones(x) else x for x in fed
        ]
        self._held += sum(map(_bytes_of, copies))
        return copies

    @property
    def _most_held(self) -> int:
        """The maximum number of bytes for all checkpoints, and also for all stored inputs."""
        limit = self.recorder.tape.history
        return HELD if limit is None else min(HELD, limit)

    def _keep_to_budget(self) -> None:
        """Drop the inputs of older calls if all stored inputs together exceed the maximum.

        Inputs since the last checkpoint are kept, so the last calls can be executed again.
        """
        most = self._most_held
        if self._held - self._held_then > most // 2:
            self._next_checkpoint = len(self.rows)
        if self._held <= most:
            return
        last = max(self._checkpoints, default=0)
        with_rows = [n for n, row in enumerate(self.rows) if row.fed is not None]
        for n in with_rows[: len(with_rows) // 2 + 1]:
            if n < last or self._held > most:
                row = self.rows[n]
                size = sum(map(_bytes_of, row.fed or ()))
                self._held, self._held_then = self._held - size, self._held_then - size
                self.rows[n] = row._replace(fed=None)

    def update_memory(self, function: Function) -> None:
        """Update the recorder's values of variables before the next call with events."""
        updated = (update.variable for update in function.updates)
        read = (v for _, v in function.schedule.variables)
        _leave_homes((*self._variables.values(), *updated, *read))
        if not self._is_in_step:
            return
        self._note_sets()
        values = self.recorder.memory.values
        seen = {n - 1: self._values_around(n - 1, is_after=True)
                for n in set(self._unseen.values())}  # fmt: skip
        self._is_in_step = False
        for v in self._variables.values():
            if v in self._unseen:
                values[v] = seen[self._unseen[v] - 1][v]
                if v not in self._was_set:
                    self._noted[v] = v.get_value(borrow=True)
            elif v in self._known:
                values[v] = v.get_value(borrow=True)

    def _note_sets(self) -> None:
        """Collect the variables set since the last row, for the next row's `was_set` and `seen`."""
        if self._is_in_step and self._writes != LOCKS.writes:
            for place in LOCKS.changed(self._variables, self._writes):
                self._unseen.setdefault(self._variables[place], len(self.rows))
                self._was_set.add(self._variables[place])
            self._writes = LOCKS.writes

    # --- calls with events ------------------------------------------------------------------------

    def begin_recorded(self, function: Function) -> None:
        """Store the variables set before a recorded call. Its row is added when the call ends."""
        self.update_memory(function)
        if not self.covers_recorded_calls:
            return
        self.learn(function)
        self._note_sets_between_recorded()
        # A failed call may have left a checkpoint, and variables may have been set since.
        if self._checkpoints.pop(len(self.rows), None) or len(self.rows) >= self._next_checkpoint:
            self._make_checkpoint()

    def end_recorded(self, run: UnrecordedRun, row: CallRecord, is_changed: bool) -> None:
        """Add the row of a recorded call, if the journal also covers recorded calls.

        Parameters
        ----------
        run : UnrecordedRun
            A run that contains only this call.
        row : CallRecord
            The row, without the variables that were set.
        is_changed : bool
            Whether arrays were replaced during the call, so that it cannot be executed again.
        """
        if not self.covers_recorded_calls:
            return
        self._runs.append(run)
        was_set, self._pending = self._pending, {}
        self.rows.append(row._replace(was_set=was_set))
        self._held += sum(map(_bytes_of, row.fed or ()))
        if is_changed:
            self._breaks.append(len(self.rows))
            self._next_checkpoint = len(self.rows)
        self._keep_to_budget()

    def add_recorded_call(self, run: UnrecordedRun, first: int, end: int) -> None:
        """Add a run for a single recorded call, which follows the last call of `run`.

        The events of the call have the times from `first` up to, but not including, `end`.
        """
        n = run.first + len(run)
        times, none = [first, end], frozenset[str]()
        facts = (run.act, run.phase, None, 0, none, times, run.batches_again)
        self._runs.append(UnrecordedRun(self, run.function, n, run.spans, *facts))

    def _note_sets_between_recorded(self) -> None:
        if not self.covers_recorded_calls:
            return
        values = self.recorder.memory.values
        for v in self._variables.values():
            seen = values.get(v)
            if seen is None or seen is v.room or self._noted.get(v) is v.room:
                continue
            self._pending[v] = self._noted[v] = v.get_value(borrow=True)

    # --- other histories --------------------------------------------------------------------------

    def branch(self, recorder: Any, n: int) -> Journal:
        """Return a journal with the rows before row `n`, for a fork that continues from there."""
        made = Journal(recorder)
        made._root = self._root
        made.rows = self.rows[:n]
        made._infos, made._variables = self._infos, self._variables
        made._runs = [run for run in self._runs if run.first < n]
        made._checkpoints = {k: x for k, x in self._checkpoints.items() if k <= n}
        made._breaks = [k for k in self._breaks if k <= n]
        return made

    def row_at(self, t: int) -> int:
        """Return the number of the row whose call contains time `t`, otherwise of the next row."""
        place = bisect_right(self._runs, t, key=lambda s: s.starts[0]) - 1
        if place < 0:
            return 0
        run = self._runs[place]
        return run.first + min(bisect_right(run.starts, t) - 1, len(run))

    def feed_at(self, t: int) -> Any:
        """Return the feed of the batch at time `t`; None if no feed can repeat this batch."""
        place = bisect_right(self._runs, t, key=lambda s: s.starts[0]) - 1
        run = self._runs[place] if place >= 0 else None
        if run is None or t >= run.starts[-1]:
            return None
        return getattr(run.batches_again, "__self__", None)

    def place_of(self, n: int) -> tuple[UnrecordedRun, int, int]:
        """Return the run of row `n`, and the start and end times of its call or batch."""
        run = self._run_of(n)
        first, end = run.starts[n - run.first : n - run.first + 2]
        return run, first, end

    def called_until(self, n: int) -> set[Function]:
        """Return the functions that were called up to row `n` of the journal."""
        return {run.function for run in self._runs if run.first <= n}

    def rows_from(self, n: int) -> range:
        """Return the numbers of the rows from `n` to the last row of its run."""
        place = bisect_right(self._runs, n, key=lambda s: s.first)
        run = self._runs[place - 1]
        end = run.first + len(run)
        if place < len(self._runs):
            end = min(end, self._runs[place].first)
        return range(n, end)

    def fed_to(self, run: UnrecordedRun, n: int) -> list[Any]:
        """Return the inputs of the call of row `n`, a row of the run `run`.

        Raises
        ------
        ArgumentError
            The inputs were not kept, or their arrays were changed after the call.
        """
        return self._fed(run, n)

    @contextmanager
    def lending(self, values: Values) -> Iterator[None]:
        """Set variables to `values` during a `with` block, then restore their old values."""
        with self.unobserved(), LOCKS.steps, _numbers_kept(list(self._variables.values())):
            set_values(values.items())
            yield

    def set(self, values: Values) -> None:
        """Set variables to these values. Call it only in a block of `lending`, which undoes it."""
        set_values(values.items())

    def values_now(self) -> Values:
        """Return copies of the current values of all variables."""
        return {v: v.get_value() for v in self._variables.values()}

    def note_changed(self, run: UnrecordedRun, row: CallRecord) -> None:
        """Add the row of a call that cannot be executed again.

        This is the call in which a user changed arrays, and with which a fork begins.
        """
        self._runs.append(run)
        self.rows.append(row)
        self._breaks.append(len(self.rows))
        self._next_checkpoint = len(self.rows)

    def continue_in(self, run: UnrecordedRun) -> None:
        """Start a run whose first call begins with the current values of the variables.

        The calls of earlier rows need not lead to these values. So a checkpoint, which is a copy of
        all variables, is made before the first call.
        """
        self._runs.append(run)
        if len(self.rows) not in self._breaks:
            self._breaks.append(len(self.rows))
        self._next_checkpoint = len(self.rows)

    def repeat(
        self,
        run: UnrecordedRun,
        row: CallRecord,
        fed: list[Any],
        was_set: Mapping[Variable, np.ndarray],
        seen: Mapping[Variable, Any],
    ) -> list[Any]:
        """Compute the call of a row of another journal, and add a row for it to this journal.

        The caller must have set the variables to their values at the start of the call.

        Raises
        ------
        Exception
            Any error that the call raises. No row is added.
        """
        if len(self.rows) >= self._next_checkpoint:
            self._make_checkpoint()
        info = self._infos[run.function]
        outs = info.compute(fed, row.engine)
        outs = outs if isinstance(outs, list) else [outs]
        # If the calls of a function may differ, the number of their events is unknown.
        events = info.events if info.is_even else -_number_recorded(seen)
        end = run.starts[-1] + run.events_around + events
        left = (trim(outs), row.fed, was_set, seen, row.made_at, row.checksum, row.engine)
        self.rows.append(CallRecord(row.number, row.size, *left))
        run.starts.append(end + _number_recorded(seen))
        return outs

    # --- executing a call again -------------------------------------------------------------------

    def events_of(self, run: UnrecordedRun, place: int) -> list[Event]:
        """Execute a call again with a recorder, and return its events.

        Raises
        ------
        ArgumentError
            The inputs or weights of the call are no longer kept, or its outputs differ this time.
        """
        n = run.first + place
        row = self.rows[n]
        fed = self._fed(run, n)
        then, known = self.known_before(n)
        again = self._recorder_at(run, run.starts[place])
        again.memory.values.update(known)
        again.script_line = row.made_at
        with self.unobserved(), _rooms(then):
            Context().run(self._record, again, run, row, fed)
        events = list(again.tape._events.kept)
        expected = run.starts[place + 1] - run.starts[place]
        if len(events) != expected:
            raise ArgumentError(
                f"{_label(run, row)}: expected {expected} events when it is executed again, got "
                f"{len(events)}. Please report this."
            )
        return events

    def known_before(self, n: int) -> tuple[Values, Values]:
        """Return the variables' values at the start of a call, and the values last recorded.

        The two differ for variables that were set before the call. If no value of a variable was
        recorded before, the second mapping does not contain the variable.
        """
        info = self._infos[self._run_of(n).function]
        values = self._values_around(n, is_after=False)
        then = {v: values[v] for v in dict.fromkeys((*info.reads, *info.writes))}
        known = dict(then)
        for v, old in self.rows[n].seen.items():
            if old is UNKNOWN:
                known.pop(v)
            elif isinstance(old, int):
                known[v] = self._values_around(old, is_after=True)[v]
            else:
                known[v] = old
        return then, known

    def row_of_call(self, function: Function, begin: int) -> int | None:
        """Return the row number of the function's call that began at time `begin`, or None."""
        n = self.row_at(begin)
        return n if n < len(self.rows) and self._run_of(n).function is function else None

    def _recorder_at(self, run: UnrecordedRun, t: int) -> Any:
        """Return a new recorder whose next event has time `t`, inside the open spans of a run."""
        again = self.recorder.scratch_recorder(None)
        again.memory._twin_values = self.recorder.memory._twin_values
        again.continue_at(t, run.spans, run.act, run.phase)
        return again

    def _record(self, again: Any, run: UnrecordedRun, row: CallRecord, fed: list[Any]) -> None:
        """Execute the call of a row, or its whole batch of `fit`, with the recorder `again`."""
        if run.callbacks is None:
            self._call(again, run, row, fed)
            return
        call = functools.partial(self._call, again, run, row, fed)
        again.record_batch(row.number, row.size, fed, call, run.callbacks)

    def _call(self, again: Any, run: UnrecordedRun, row: CallRecord, fed: list[Any]) -> list[Any]:
        with observing(again):
            outs = run.function.stage(fed).run()
        outs = outs if isinstance(outs, list) else [outs]
        if row.engine != "numpy":
            for by_jax, by_numpy in row.apart(trim(outs)):
                warn(
                    f"{_label(run, row)}: JAX computed {by_jax:.9g}, and NumPy {by_numpy:.9g}. The "
                    "engines differ by more than rounding. Please report this."
                )
        elif not same(trim(outs), row.outs):
            raise ArgumentError(
                f"{_label(run, row)}: expected {_first(row.outs)} when it is executed again, got "
                f"{_first(outs)}. Something has changed that is not recorded: the data in place, "
                "the state of an op of your own, or the number of threads."
            )
        return outs

    def _fed(self, run: UnrecordedRun, n: int) -> list[Any]:
        """Return the inputs of the call of row `n`. Raise if arrays are missing or have changed."""
        row = self.rows[n]
        if run.batches_again is not None:
            fed = run.batches_again(row.number)
            if _checksum(fed) != row.checksum:
                raise ArgumentError(
                    f"{_label(run, row)}: the data were changed in place since then. Call `fit` "
                    "with a copy of them, so that they stay the same."
                )
            return fed
        if row.fed is None:
            raise ArgumentError(
                f"{_label(run, row)}: the inputs are gone. The feed cannot repeat them, and only "
                f"the last {self._most_held:,} bytes of inputs are kept."
            )
        return list(row.fed)

    def _run_of(self, n: int) -> UnrecordedRun:
        return self._runs[bisect_right(self._runs, n, key=lambda s: s.first) - 1]

    def values_before(self, n: int) -> Values:
        """Return the values of the variables before the call of row `n`."""
        return self._values_around(n, is_after=False)

    def _values_around(self, n: int, is_after: bool) -> Values:
        """Return the values of the variables before the call of row `n`; with `is_after`, after it.

        The programs of the calls since the last checkpoint run on the live variables. Afterwards
        the variables get their current values back.
        """
        start = max((place for place in self._checkpoints if place <= n), default=-1)
        if start < 0 or any(start < place <= n for place in self._breaks):
            raise ArgumentError(
                f"{_label(self._run_of(n), self.rows[n])}: it cannot be executed again, because no "
                "weights are kept before it. The checkpoints would need too much memory."
            )
        if start == n and not is_after:
            return {v: x.copy() for v, x in self._checkpoints[n].items()}
        todo: list[tuple[Mapping[Variable, np.ndarray], Callable[[], Any]]] = []
        for k in range(start, n + is_after):
            run = self._run_of(k)
            info = self._infos[run.function]
            row = self.rows[k]
            was_set = row.was_set if k > start else EMPTY
            if info.writes:
                todo.append(
                    (was_set, functools.partial(info.compute, self._fed(run, k), row.engine))
                )
            elif was_set:
                todo.append((was_set, _nothing))
        variables = list(self._variables.values())
        with self.unobserved(), LOCKS.steps, _numbers_kept(variables):
            set_values(self._checkpoints[start].items())
            for was_set, compute in todo:
                set_values(was_set.items())
                Context().run(compute)
            if not is_after:
                set_values(self.rows[n].was_set.items())
            return {v: v.get_value() for v in variables}

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """During a `with` block, do not count writes to variables as writes by other code."""
        root = self._root
        root._note_sets()
        try:
            yield
        finally:
            if root._is_in_step:
                root._writes = LOCKS.writes


class Batches:
    """Yields batches that run without events to the training loop (`engine/training_loop.py`).

    Parameters
    ----------
    journal : Journal
    run : UnrecordedRun
    feed : Feed
        The source of the batches.
    but : frozenset of int
        The numbers of the batches that must be recorded.
    """

    def __init__(
        self, journal: Journal, run: UnrecordedRun, feed: Any, but: frozenset[int] = frozenset()
    ) -> None:
        self._journal = journal
        self._run = run
        self._feed = feed
        self._but = but
        self._number = self._size = 0

    def without_events(self, numbered: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches of an epoch with their numbers, until a batch must be recorded."""
        journal, run = self._journal, self._run
        for number, (size, fed) in numbered:
            # The feed may itself have called a function, which was recorded before the batch.
            if number in self._but or journal.recorder.open_run is not run:
                raise RepeatWithEvents((number, (size, fed)))
            if not len(run):  # the order of the samples in an epoch is drawn with its first batch
                run.batches_again = self._feed.batches_again()
            self._number, self._size = number, size
            yield number, (size, fed)
            run.is_in_batch = False
            if run.records_end:
                journal.recorder.record_end_of_batch(run)
            if not journal.may_continue or journal.recorder.open_run is not run:
                return

    def call(self, fed: list[Any]) -> Any:
        """Compute the call of a batch without events and return its outputs."""
        outs = self._journal.take(self._run, fed, self._number, self._size)
        self._run.is_in_batch = True
        return outs


def _nothing() -> None:
    """Do nothing in place of a call that writes no variable and need not be repeated."""


def _bytes_of(x: Any) -> int:
    return x.nbytes if isinstance(x, np.ndarray) else 0


def _checksum(fed: list[Any]) -> int:
    """Return a checksum of the arrays among the inputs, to detect later changes."""
    found = 0
    for x in fed:
        if x.__class__ is np.ndarray:
            try:
                found = zlib.crc32(x, found)  # type: ignore[arg-type]
            except (ValueError, TypeError, BufferError):  # its dtype or order has no buffer
                found = zlib.crc32(x.tobytes(), found)
    return found


def trim(outs: Any) -> list[Any]:
    """Return the outputs to keep: small ones as copies, large ones as checksums and a sample."""
    outs = outs if isinstance(outs, list) else [outs]
    return [
        (x.dtype.name, zlib.crc32(x.tobytes()), x.shape, x.ravel()[:: x.size // 99 + 1].tobytes())
        if isinstance(x, np.ndarray) and x.nbytes > SMALL
        else np.array(x)  # the caller may write into it
        if isinstance(x, np.ndarray)
        else x
        for x in outs
    ]


def _label(run: UnrecordedRun, row: CallRecord) -> str:
    name = run.function.name
    return f"a call of {name}" if run.callbacks is None else f"batch {row.number}"


def _first(outs: list[Any]) -> str:
    return figure(outs[0]) if outs and np.ndim(outs[0]) == 0 else "other arrays"


def _leave_homes(variables: Iterable[Variable]) -> None:
    """Give variables new arrays, so that a recorder does not borrow the arrays of their programs.

    A program cannot write into borrowed arrays, so it would have to be compiled again.
    """
    for v in variables:
        if not v.is_lent:
            v.move_to(np.empty_like(v.room, order="C"))


@contextmanager
def _numbers_kept(variables: list[Variable]) -> Iterator[None]:
    """Restore the arrays of variables, and the values in them, after a `with` block."""
    before = [(v, v.room, v.is_lent, v._is_shared, v.get_value()) for v in variables]
    try:
        yield
    finally:
        for v, room, is_lent, is_shared, numbers in before:
            if not is_lent:  # nothing writes into a lent array, so no copy is needed
                room[...] = numbers
            at_once(v._calls_to_have(room, is_shared=is_shared))


@contextmanager
def _rooms(values: Values) -> Iterator[None]:
    """During a `with` block, let variables use the arrays in `values` instead of their own."""
    with LOCKS.steps:
        before = [(v, v.room, v._is_shared) for v in values]
        try:
            at_once([c for v, x in values.items() for c in v._calls_to_have(x, is_shared=True)])
            yield
        finally:
            own = [v._calls_to_have(x, is_shared=is_shared) for v, x, is_shared in before]
            at_once([call for calls in own for call in calls])
