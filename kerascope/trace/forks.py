"""Forks that continue: the later calls of the original history, computed again after a change.

A change in the past runs one call of a function again (`timelines.py`). A fork can continue from
there. The following calls of the parent history are computed again by their programs, with the
recorded inputs. Before each call, the values that callbacks or the script set in the parent history
are set again. Only variables that the user overrode keep their values, for example a learning rate
that a callback changes in the parent history.
Callbacks are not called, so they make no new decisions, and the script does not run.

The parent's journal contains the inputs and these values, one row for each call. The fork has its
own journal, which shares the earlier rows. So each batch of the fork can be inspected, and another
fork can start there. The live variables are used while the fork runs and get their own values back
afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event
from kerascope.trace.expressions import error_text
from kerascope.trace.history import value_of_event
from kerascope.trace.journal import EMPTY, UNKNOWN, CallRecord, Journal, UnrecordedRun, Values, trim
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import Call

OF_THE_PARENT = ("result", "outs", "epoch_logs")  # results of acts that do not run again
NOT_FOR_TRAINING = ("test_function", "predict_function")


class TrainCall(NamedTuple):
    """A call of a train function with its losses in two histories: a fork and its parent.

    Attributes
    ----------
    model : str
        The name of the model that the function belongs to.
    epoch : str
        The number of the epoch as text, for a batch of `fit`; "" outside of `fit`.
    batch : int
        The number of the batch in its epoch; outside of `fit`, the number of the call.
    first, second : float
        The loss in the parent's history, and the loss in the fork.
    is_same : bool
        Whether all outputs are equal, bit for bit. If a call was computed by NumPy in one history
        and by JAX in the other, the outputs of this call and of later calls only have to be equal
        up to rounding.
    """

    model: str
    epoch: str
    batch: int
    first: float
    second: float
    is_same: bool


class Fork:
    """A history that branches off another one and can continue on its own.

    Parameters
    ----------
    recorder : Recorder
        The recorder of the fork. Its tape contains the history up to the branch point, and the
        changed call if there is one.
    parent : Journal or Fork
        The history from which the fork branches off: the journal of a program, or another fork.
    parent_tape : Tape
        The tape of that history.
    t : int
        The time up to which both histories are the same.
    call : Call, optional
        The call that was run again with the change; None if a variable was set between two calls.

    Attributes
    ----------
    overridden : dict of Variable to array
        The arrays that were set between two calls.
    repeated, silenced : Counter of str
        By the name of a variable, how many times it was set in the parent history by other code
        than the calls, and set in the fork too (`repeated`) or not (`silenced`).
    why : str
        Why the fork cannot continue; "" if it can, or if it has reached the end of its parent.
    """

    def __init__(
        self,
        recorder: Recorder,
        parent: Journal | Fork,
        parent_tape: Tape,
        t: int,
        call: Call | None = None,
    ) -> None:
        self.recorder = recorder
        self._parent = parent
        self.parent_tape = parent_tape
        self.overridden: Values = {}
        self.repeated: Counter[str] = Counter()
        self.silenced: Counter[str] = Counter()
        self.why = ""
        self.first = -1  # the number of the fork's first own row
        self._call = call
        self._at = t
        self._next = t  # the next time in the parent's tape
        self._silent: set[Variable] = set()
        self._unseen: dict[Variable, Any] = {}  # set but not read yet: the value recorded before
        self._values: Values = {}
        self._open: UnrecordedRun | None = None  # the run to which the next call is added
        self._outs: list[Any] | None = None  # the outputs of the open batch

    @property
    def journal(self) -> Journal:
        """The journal of the fork's calls.

        Raises
        ------
        ArgumentError
            The branch point is not known yet.
        """
        self.begin()
        return self.recorder.journal

    @property
    def end_of_first(self) -> int:
        """The time after the end of the first call that the fork computed itself."""
        return self.journal.place_of(self.first)[2]

    @property
    def has_run(self) -> bool:
        """Whether the fork has computed calls after its first one."""
        return self.first >= 0 and len(self.recorder.journal.rows) > self.first + 1

    @property
    def parent(self) -> Journal:
        """The journal of the history from which the fork branches off."""
        return self._parent.journal if isinstance(self._parent, Fork) else self._parent

    def rows_of(self, begin: int) -> Journal:
        """Return the journal that has the initial values of the call beginning at time `begin`."""
        is_changed = self._call is not None and self._call.begin == begin
        return self.parent if is_changed or begin < self._at else self.journal

    # --- how it begins ----------------------------------------------------------------------------

    def override(self, variable: Variable, array: np.ndarray) -> None:
        """Set a variable at the branch point, and skip the parent's later assignments to it."""
        self.overridden[variable] = array
        self._silent.add(variable)

    def silence(self, variable: Variable) -> None:
        """Do not repeat the values that the parent history assigned to a variable between calls."""
        self._silent.add(variable)

    def begin(self) -> None:
        """Find the journal row of the branch point, and the values of all variables there.

        Raises
        ------
        ArgumentError
            The parent has no call after the branch point, or the values of the variables there
            are no longer kept.
        """
        if self.first >= 0:
            return
        call = self._call
        self.first = self._begin_between() if call is None else self._begin_behind(call)

    def _begin_between(self) -> int:
        """Begin the fork between two calls, perhaps inside a batch.

        Return the number of the fork's first own row in the journal.
        """
        n = next_row(self.parent, self.parent_tape, self._next)
        batch = [span for span in self.parent_tape.spans_at(self._next - 1) if span.kind == "batch"]
        of_batch = next_row(self.parent, self.parent_tape, batch[-1].t) if batch else n
        if of_batch < n:
            self._outs = self.parent.rows[of_batch].outs
        values = self._values_before(n)
        self._unseen = {v: values[v] for v in self.overridden if v in values}
        self._values = {**values, **self.overridden}
        self.recorder.journal = self.parent.branch(self.recorder, n)
        return n

    def _values_before(self, n: int) -> Values:
        if n < len(self.parent.rows):
            parent = self._parent
            if isinstance(parent, Fork) and self._set_by_parent(n):
                return parent.parent.values_before(n)
            return self.parent.values_before(n)
        raise ArgumentError("rerun: no function was called after that, so nothing can be computed.")

    def _begin_behind(self, call: Call) -> int:
        """Begin the fork after the changed call; return the number of this call's journal row."""
        rows, recorder, n = self.parent.rows, self.recorder, self.parent.row_at(call.begin)
        if n >= len(rows) or self.parent.place_of(n)[0].function is not call.function:
            raise ArgumentError(
                "rerun: the first timeline has not ended this call, or the call failed there. "
                "Continue it first: `timeline 1`, then `r` or `c`."
            )
        journal = self.parent.branch(recorder, n)
        values = self.parent.values_before(n)
        now = recorder.memory.values
        function = call.function
        own = [
            *(v for _, v in function.schedule.variables),
            *(u.variable for u in function.updates),
        ]
        values.update((v, np.array(now[v])) for v in own if v in now)
        recorder.journal, self._values = journal, values
        self._outs = list(value_of_event(recorder.tape[-1], "outputs") or ())
        times = [call.begin, len(recorder.tape)]
        spans, none = list(recorder.spans), frozenset[str]()
        facts = (spans, recorder._act, recorder._phase, None, 0, none, times)
        row = rows[n]._replace(
            outs=trim(self._outs), fed=None, was_set=EMPTY, seen=EMPTY, engine="numpy"
        )
        journal.note_changed(UnrecordedRun(journal, function, n, *facts), row)
        self._next = end_of_call(self.parent_tape, call.begin)
        return n

    # --- how it continues -------------------------------------------------------------------------

    def run_on(self, batches: int | None = None, to_end_of_fit: bool = False) -> int:
        """Compute the parent's next calls, copy the events between, and return how many calls ran.

        Parameters
        ----------
        batches : int, optional
            The number of calls of train functions; by default all.
        to_end_of_fit : bool
            Whether to stop at the end of the `fit` around the branch point.

        Raises
        ------
        ArgumentError
            The branch point is in no `fit`, or the next call is not known yet.
        """
        if isinstance(self._parent, Fork):  # the parent must have come that far
            self._parent.run_on(batches, to_end_of_fit)
        self.begin()
        limit = self._end_of_fit() if to_end_of_fit else self._limit()
        rows, self.why = self.journal.rows, ""
        done, left = len(rows), inf if batches is None else batches
        with self.journal.lending(self._values):
            try:
                while not self.why and left > 0 and self._repeat_next(limit):
                    left -= self._counts(len(rows) - 1)
                    left -= self._repeat_rest(limit, left)
                if not self.why:
                    self._end_batch(limit) if left <= 0 else self._copy(limit)
            finally:
                self._close()
                self._values = self.journal.values_now()
        return len(rows) - done

    def _end_of_fit(self) -> int:
        """Return the end of the `fit` around the branch point.

        If that `fit` is still open, return the end of its last complete call or batch.
        """
        tape, t = self.parent_tape, self._at - 1
        if t < 0 or not any(span.kind == "fit" for span in tape.spans_at(t)):
            raise ArgumentError("rerun fit: no `fit` is open there. Use `rerun` instead.")
        ends = (e.t + 1 for e in tape if e.kind == "fit" and e.ph == END and e.t >= t)
        return min(next(ends, len(tape)), self._limit())

    def _counts(self, n: int) -> bool:
        return is_for_training(self.parent.place_of(n)[0].function)

    def _limit(self) -> int:
        """Return the length of the parent's tape, without a call or batch that is still open."""
        tape = self.parent_tape
        is_live = self.parent.covers_recorded_calls
        observers = self.parent.recorder.observers if is_live else []
        calls = [o for o in observers if isinstance(o, FunctionRecorder)]
        if not calls:
            return len(tape)
        spans = tape.spans_at(calls[0].began_at)
        batch = next((span for span in spans if span.kind == "batch"), None)
        return calls[0].began_at if batch is None else batch.t

    def _repeat_next(self, limit: int) -> bool:
        """Compute the parent's next call for the fork.

        Return False if the call fails, or if the parent has no further call before time `limit`.
        """
        n = len(self.journal.rows)
        if n >= len(self.parent.rows):
            return False
        theirs, first, end = self.parent.place_of(n)
        if first >= limit:
            return False
        is_split = first < self._next
        if is_split:  # this history begins inside a batch
            first = begin_of_call(self.parent_tape, self._next, end)
            end = end_of_call(self.parent_tape, first)
        if self._next < first:
            self._close()
            self._copy(first)
            if self.why:
                return False
        row = self.parent.rows[n]
        if not self._compute(self._run_like(theirs, is_split), theirs, n, row):
            return False
        self._next = end
        return True

    def _repeat_rest(self, limit: int, left: float) -> int:
        """Compute the remaining calls of the parent's `UnrecordedRun`.

        The parent has no other events between these calls. Return how many of them train a model.
        """
        mine, n, rows = self._open, len(self.journal.rows), self.parent.rows
        theirs, _, end = self.parent.place_of(n - 1)
        if mine is None or self.why or end != self._next:
            return 0
        is_batch, number = is_for_training(theirs.function), 0
        for k in self.parent.rows_from(n - 1)[1:]:
            place = k - theirs.first
            is_over = number >= left or theirs.starts[place] >= limit
            if is_over or not self._compute(mine, theirs, k, rows[k]):
                break
            self._next, number = theirs.starts[place + 1], number + is_batch
        return number

    def _run_like(self, theirs: UnrecordedRun, is_split: bool) -> UnrecordedRun:
        """Return the fork's `UnrecordedRun` for the parent's next call.

        This is the fork's open run if it has the same function, spans, callbacks and feed.
        Otherwise the open run ends and a new one begins. If `is_split`, the fork began inside a
        batch: a new run always begins, and it contains only the call of the batch.
        """
        around = 0 if is_split else theirs.events_around
        callbacks = None if is_split else theirs.callbacks
        mine = self._open
        if mine is not None and not is_split and mine.facts_are_of(theirs):
            return mine
        self._close()
        spans, act, phase = theirs.spans, theirs.act, theirs.phase
        if is_split:
            recorder = self.recorder
            spans, act, phase = list(recorder.spans), recorder._act, recorder._phase
        journal, starts = self.journal, [len(self.recorder.tape)]
        none = frozenset[str]()  # not checked for conditions that are caught
        facts = (spans, act, phase, callbacks, around, none, starts, theirs.batches_again)
        self._open = UnrecordedRun(journal, theirs.function, len(journal.rows), *facts)
        journal.continue_in(self._open)
        return self._open

    def _compute(self, run: UnrecordedRun, theirs: UnrecordedRun, n: int, row: CallRecord) -> bool:
        """Compute the call of a row of the parent's journal; on failure set `why`, return False."""
        sets: Mapping[Variable, np.ndarray] = EMPTY
        seen: Mapping[Variable, Any] = EMPTY
        try:
            fed = self.parent.fed_to(theirs, n)
            if row.was_set or row.seen or self._unseen:
                sets = self._set_as_in(row)
                seen = self._seen_sets(row, run.function, sets)
                self.journal.set(sets)
            outs = self.journal.repeat(run, row, fed, sets, seen)
        except ArgumentError as error:
            self.why = str(error)
        except Exception as error:
            self.why = f"the call fails here: {error_text(error)}"
        if self.why:
            return False
        for v in seen:
            self._unseen.pop(v, None)
        if self._outs is None:
            self._outs = outs
        return True

    def _set_as_in(self, row: CallRecord) -> Values:
        """Return the variables to set before a call of the fork, with values from the parent.

        They are those that the parent's journal row of this call contains. Variables that the user
        overrode are left out and counted in `silenced`; the others are counted in `repeated`.
        """
        for v in row.was_set:
            (self.silenced if v in self._silent else self.repeated)[v.name] += 1
        return {v: x for v, x in row.was_set.items() if v not in self._silent}

    def _seen_sets(self, row: CallRecord, function: Function, sets: Values) -> dict[Variable, Any]:
        """Return `CallRecord.seen` for a call of the fork.

        It maps each variable that was set before the call to the value last recorded for it.
        """
        before = len(self.journal.rows) - 1
        for v in sets:
            is_own = before > self.first
            self._unseen.setdefault(v, before if is_own else row.seen.get(v, v.get_value()))
        left_out = self._silent | self._set_by_parent(before + 1)
        seen = {
            v: old
            for v, old in row.seen.items()
            if v not in left_out or old is UNKNOWN or v in self._unseen
        }
        reads = dict.fromkeys(v for _, v in function.schedule.variables)
        seen.update((v, self._unseen[v]) for v in reads if v in self._unseen and v not in seen)
        seen.update((v, self._unseen[v]) for v in seen if v in self._unseen)
        return {v: row.seen[v] if row.seen.get(v) is UNKNOWN else old for v, old in seen.items()}

    def _set_by_parent(self, n: int) -> set[Variable]:
        """Return the variables that the user set in the parent at row `n`, if the parent is a fork.

        Otherwise return an empty set.
        """
        parent = self._parent
        if isinstance(parent, Fork) and parent.first == n and self._at < parent._at:
            return set(parent.overridden)
        return set()

    # --- between calls
    # -----------------------------------------------------------------------------

    def _close(self) -> None:
        """End the open run of calls without events, and append its mark to the fork's tape."""
        run, self._open = self._open, None
        if run is not None and run.starts[0] < run.starts[-1]:
            self.recorder.tape.append(run.mark(0, len(run)))

    def _end_batch(self, limit: int) -> None:
        """Copy the parent's events up to the end of the open batch, if its call was computed."""
        self._close()
        n, end = len(self.journal.rows), limit
        if n < len(self.parent.rows):
            end = min(limit, max(self.parent.place_of(n)[1], self._next))
        rest = self.parent_tape[self._next : end]
        ends = [event.t for event in rest if event.kind == "batch" and event.ph == END]
        begins = [event.t for event in rest if event.kind == "batch" and event.ph == BEGIN]
        if ends and (not begins or ends[0] < begins[0]):
            self._copy(ends[0] + 1)

    def _copy(self, end: int) -> None:
        """Copy the parent's events before time `end` to the fork's tape.

        Failed calls, and calls of layers on arrays, are left out.
        """
        self._close()
        tape, skipped = self.recorder.tape, -1
        for event in self.parent_tape[self._next : end]:
            self._next = event.t
            if skipped >= 0:
                skipped = -1 if event.depth <= skipped else skipped
                continue
            if event.kind == FORGOTTEN:
                self.why = "what comes next is forgotten in the first timeline"
                return
            if event.kind == "function" and event.ph == BEGIN and event.act == "function":
                names = {delta.name for delta in event.deltas}
                has_failed = "feed_names" in names
                if has_failed and len(self.journal.rows) >= len(self.parent.rows):
                    self.why = f"{event.name} failed here in the first timeline"
                    return
                if has_failed or "layer" in names:  # the script called a layer on arrays
                    skipped = event.depth
                    continue
            tape.append(self._as_here(event)._replace(t=len(tape)))
        self._next = end

    def _as_here(self, event: Event) -> Event:
        """Return an event of the parent for the fork's tape, without results of the parent.

        At the end of a batch, the outputs of the fork's own call replace them.
        """
        if event.kind == "batch" and event.ph == BEGIN:
            self._outs = None
        if event.ph != END or event.grain not in ("act", "phase"):
            return event
        deltas = event.deltas
        if event.kind == "batch" and self._outs is not None:
            own = tuple(self.recorder.memory.payload(x) for x in self._outs)
            return event._replace(
                deltas=tuple(
                    d._replace(value=own) if d.name in ("outs", "result") else d for d in deltas
                )
            )
        return event._replace(deltas=tuple(d for d in deltas if d.name not in OF_THE_PARENT))

    # --- side by side -----------------------------------------------------------------------------

    def losses(self) -> list[TrainCall]:
        """Return the losses of fork and parent for each training call from the branch point on."""
        found, calls, is_by_both = [], Counter[str](), False
        for n, mine in enumerate(self.journal.rows):
            run, _, _ = self.parent.place_of(n)
            theirs = self.parent.rows[n]
            is_by_both = is_by_both or mine.engine != theirs.engine
            if not is_for_training(run.function) or not _has_loss(theirs.outs):
                continue
            model = self._model_of(run.function)
            epoch, batch = _place_in_fit(run, theirs)
            if batch is None:
                batch = calls[model]
                calls[model] += 1
            if n < self.first:
                continue
            pair = float(theirs.outs[0]), float(mine.outs[0])
            if is_by_both:
                is_same = not any(mine.apart(theirs.outs))
            else:
                is_same = _bits(mine.outs) == _bits(theirs.outs)
            found.append(TrainCall(model, epoch, batch, *pair, is_same))
        return found

    def _model_of(self, function: Function) -> str:
        facts = self.recorder.memory.facts(function)
        return str(getattr(facts.model, "name", "")) if facts is not None else function.name


def is_for_training(function: Function) -> bool:
    """Return whether a function trains a model, and does not test or predict."""
    return function.name not in NOT_FOR_TRAINING and bool(function.updates)


def _has_loss(outs: list[Any]) -> bool:
    return (
        bool(outs) and isinstance(outs[0], (np.ndarray, np.generic, float)) and not np.ndim(outs[0])
    )


def _bits(outs: list[Any]) -> list[Any]:
    """Return outputs as bytes, to compare them; all NaN values have the same bytes."""
    return [x if isinstance(x, tuple) else _with_one_nan(np.asarray(x)).tobytes() for x in outs]


def _with_one_nan(array: np.ndarray) -> np.ndarray:
    is_nan = array != array
    return np.where(is_nan, array.dtype.type(np.nan), array) if np.any(is_nan) else array


def _place_in_fit(run: UnrecordedRun, row: CallRecord) -> tuple[str, int | None]:
    """Return the epoch (as text) and the batch number of a call; outside of `fit`, ("", None)."""
    kinds = [kind for kind, *_ in run.spans]
    if "epoch" not in kinds:
        return "", None
    innermost = len(kinds) - kinds[::-1].index("epoch") - 1  # a callback may call `fit` as well
    names = {kind: name.rpartition(" ")[2] for kind, name, *_ in run.spans[innermost:]}
    if "callbacks" in names:
        return "", None
    return names["epoch"], int(names["batch"]) if "batch" in names else row.number


def next_row(journal: Journal, tape: Tape, t: int) -> int:
    """Return the number of the row whose call is the first to begin at or after time `t`."""
    n = journal.row_at(t)
    if n >= len(journal.rows):
        return n
    _, first, end = journal.place_of(n)
    return n if t <= first or t <= begin_of_call(tape, first, end) else n + 1


def begin_of_call(tape: Tape, t: int, end: int) -> int:
    """Return the time at which the first function call between `t` and `end` begins.

    Raises
    ------
    ArgumentError
        No start of a call is on the tape, because only marks are left there.
    """
    for at in range(t, end):
        if tape[at].kind == "function" and tape[at].ph == BEGIN:
            return at
    raise ArgumentError(f"set: the events inside the call after t={t} were not kept.")


def end_of_call(tape: Tape, begin: int) -> int:
    """Return the time after the end of a call; for an open call, the length of the tape."""
    depth, last = tape[begin].depth, len(tape) - 1
    return next((t for t in range(begin + 1, last) if tape[t].depth <= depth), last) + 1
