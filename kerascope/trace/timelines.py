"""Timelines: the histories of a session after changes to its past, and how calls run again.

If the debugger's command `set` changes a value at an earlier time, it forks a new timeline and
keeps the old one. The classes before `Call` store the timelines. The functions after `Call` run
calls again.

A call of a function depends only on its inputs and on the values of the variables that it reads,
including the draw counts of random ops. The tape contains both. So any recorded call can run again
with the same result, bit for bit, or with an array that is changed during the call. Afterwards the
variables of the program have their previous values. No observer of the program is notified.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import replace_arrays
from kerascope.backend.function import Function
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError
from kerascope.nested_values import found_in, replaced
from kerascope.stage import observing
from kerascope.trace.events import BEGIN, END, Delta, Event
from kerascope.trace.function_plan import (
    FunctionPlan,
    fitted,
    name_of,
    slot_of,
    slots_in_update,
    tensor_of,
)
from kerascope.trace.history import begin_of
from kerascope.trace.journal import UNKNOWN, Journal
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.snapshots import same
from kerascope.trace.tape_memory import describe_mark, without_arrays
from kerascope.trace.tape_names import OVERRIDDEN
from kerascope.trace.tape_store import Difference, Tape, both_whole, difference

MOST_RECALLED = 2**31  # maximum bytes for a call that runs again to restore its arrays


class Override(NamedTuple):
    """A change by the command `set`: its time, the name, the new value, and the command's text."""

    t: int
    name: str
    value: Any
    text: str = ""


@dataclass(frozen=True, eq=False)
class Timeline:
    """One history of a session.

    Attributes
    ----------
    number : int
        The number, from 1. Timeline 1 is the program's own history.
    tape : Tape
    parent : Timeline or None
        The timeline from which it was forked.
    forked_at : int or None
        The first time of the timeline's own events. Earlier events are shared with the parent.
    overrides : tuple of Override
        The changes in this timeline, and those of its parents before `forked_at`.
    fork : Fork or None
        Computes the events after the changed call (see `forks.py`).
    """

    number: int
    tape: Tape
    parent: Timeline | None = None
    forked_at: int | None = None
    overrides: tuple[Override, ...] = ()
    fork: Any = None


class Timelines:
    """All timelines of a session, and the timeline that the debugger shows.

    Parameters
    ----------
    tape : Tape
        The tape of the first timeline.

    Attributes
    ----------
    current : Timeline
        The timeline that the debugger shows.

    Examples
    --------
    >>> timelines = Timelines(Tape())
    >>> timelines.fork(0, [Override(0, "dense_2/out", 0.0)], Tape()).number
    2
    >>> timelines.switch(1).number, len(timelines)
    (1, 2)
    """

    def __init__(self, tape: Tape) -> None:
        self._timelines = [Timeline(1, tape)]
        self.current = self._timelines[0]

    def __iter__(self) -> Iterator[Timeline]:
        return iter(self._timelines)

    def __len__(self) -> int:
        return len(self._timelines)

    def get(self, number: int, where: str = "timeline") -> Timeline:
        """Return the timeline that has the given number; the first timeline has number 1.

        Raises
        ------
        ArgumentError
            No timeline has this number.
        """
        if not 1 <= number <= len(self):
            there = "there is only 1" if len(self) == 1 else f"there are 1 to {len(self)}"
            raise ArgumentError(f"{where}: no timeline {number}; {there}. `set` makes a new one.")
        return self._timelines[number - 1]

    def fork(
        self, t: int, overrides: list[Override] | tuple[Override, ...], tape: Tape, fork: Any = None
    ) -> Timeline:
        """Fork the current timeline at time `t`, and switch to the new timeline.

        Parameters
        ----------
        t : int
            The first time of the new timeline's own events.
        overrides : sequence of Override
            The changes. Without changes, the same history is computed again.
        tape : Tape
            The tape of the new timeline, which begins with the shared past.
        fork : Fork, optional
            Computes the events after the changed call.

        Raises
        ------
        ArgumentError
            The current timeline has no event at this time.
        """
        parent = self.current
        last = len(parent.tape)
        if not 0 <= t <= last:
            raise ArgumentError(f"set: timeline {parent.number} has no t={t}; it ends at {last}.")
        inherited = tuple(override for override in parent.overrides if override.t < t)
        made = Timeline(len(self) + 1, tape, parent, t, (*inherited, *overrides), fork)
        self._timelines.append(made)
        self.current = made
        return made

    def complete(self, tape: Tape, fork: Any = None) -> Timeline:
        """Replace the tape of the current timeline by `tape`, which does not have the new change.

        This is for a change in a paused call: the program continues with the change and writes its
        events on the old tape. `tape` has the same call, repeated without the change. If the call
        cannot be repeated, `tape` ends with the events so far.
        """
        made = replace(self.current, tape=tape, fork=fork)
        self._timelines[made.number - 1] = self.current = made
        return made

    def switch(self, number: int) -> Timeline:
        """Switch to the timeline that has the given number, and return it."""
        self.current = self.get(number)
        return self.current

    def difference(
        self, one: int, other: int, times: tuple[int, int] | None = None
    ) -> TimelineDifference:
        """Compare two timelines up to the end of the shorter one, or in the range `times`.

        A forked timeline may end with the call that was computed again. Later events of the
        timeline that it is compared with do not count as differences.
        """
        tapes = self.get(one, "diff").tape, self.get(other, "diff").tape
        if times is not None:
            mine, theirs = ([tape[t] for t in range(*times)] for tape in tapes)
            return TimelineDifference(one, other, difference(mine, theirs))
        last = min(map(len, tapes))
        return TimelineDifference(one, other, difference(*both_whole(*tapes, last)))


class TimelineDifference(NamedTuple):
    """The differences between two timelines, which `diff 1 2` prints.

    Attributes
    ----------
    one, other : int
        The numbers of the timelines.
    found : Difference
    """

    one: int
    other: int
    found: Difference

    def __bool__(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        if not self:
            return f"timelines {self.one} and {self.other} are the same"
        differ, of_all = self.found.counts.get("op", (0, 0))
        words = [f"first difference {self.found.name} t={self.found.t}"]
        words.append(f"{differ} of {of_all} ops differ")
        words += [f"{name} {_text(a)} -> {_text(b)}" for name, (a, b) in self.found.last.items()]
        return "; ".join(words)


def _text(value: Any) -> str:
    """Return a number with four decimals; for other values, their `repr`."""
    if isinstance(value, int | float | np.number | np.ndarray) and np.size(value) == 1:
        return f"{float(np.asarray(value).item()):.4f}"
    return repr(value)


# --- a call of a function on a tape ---------------------------------------------------------------


class Call(NamedTuple):
    """A recorded call of a function.

    Attributes
    ----------
    function : Function
    plan : FunctionPlan
    begin, first_op : int
        The times of the call's start and of its first op; the same if the call has no ops.
    """

    function: Function
    plan: FunctionPlan
    begin: int
    first_op: int


def call_at(recorder: Recorder, tape: Tape, t: int, where: str = "set") -> Call:
    """Return the innermost function call that contains time `t`, if its function still exists.

    Raises
    ------
    ArgumentError
        No function call is open at this time, or its function was deleted.
    """
    there = 0 <= t < len(tape)
    spans = tape.spans_at(t) if there else []
    begun = begin_of(tape[t], tape) if there and tape[t].ph == END else None
    for span in reversed([*spans, *([begun] if begun else [])]):
        if span.kind == "function" and tape[span.t].t != span.t:
            raise ArgumentError(f"{where}: {describe_mark(tape[span.t])}.")
        inside = list(_inside(tape, span.t)) if span.kind == "function" else []
        ops = [event for event in inside if event.kind == "op" and event.ph == BEGIN]
        function = _function_of(recorder, span, {op.name for op in ops})
        if function is not None:
            first = ops[0].t if ops else span.t
            return Call(function, recorder.memory.plans[function], span.t, first)
    raise ArgumentError(
        f"{where}: at t={t} no function is being called, so no tensor has a value. Go into a "
        "call (b phase:forward, then c), or into an earlier one (goto batch 3, then s)."
    )


def _function_of(recorder: Recorder, span: Event, ops: set[str]) -> Function | None:
    """Return the live function that has a span's name and ops with the names `ops`, or None."""
    if span.kind != "function":
        return None
    paused = [h.function for h in recorder.observers if isinstance(h, FunctionRecorder)]
    known = [*reversed(paused), *reversed(list(recorder.memory.plans))]
    for function in known:
        plan = recorder.memory.plans.get(function)
        if function.name == span.name and plan and ops <= {step.name for step in plan.steps}:
            return function
    return None


def _inside(tape: Tape, begin: int) -> Iterator[Event]:
    """Yield the events inside the span that begins at time `begin`, and the end of the span."""
    depth = tape[begin].depth
    for t in range(begin + 1, len(tape)):
        yield tape[t]
        if tape[t].depth <= depth:
            return


# --- overriding an array of a paused call ---------------------------------------------------------


def override(recorder: Recorder, name: str, value: Any) -> tuple[np.ndarray, np.ndarray]:
    """Replace an array in the call that is paused at the last event; return old and new array.

    The event then has the new array. A variable that the call does not write keeps the value after
    the call, as if it were set between two calls.

    Raises
    ------
    ArgumentError
        No call is paused, the call has no such name, or its array is not in use at the moment.
    """
    event = recorder.tape[-1]
    observer = recorder.observers[-1] if recorder.observers else None
    if not isinstance(observer, FunctionRecorder):
        raise ArgumentError("set: no function is paused here. Go into one: b phase:forward, c.")
    plan = observer.plan
    slot = slot_of(plan, name, event)
    tensor = tensor_of(plan, slot)
    variable = tensor if isinstance(tensor, Variable) else None
    is_at_begin = not (observer._is_paused or observer._is_committed)
    is_written = variable in observer.old and not (is_at_begin or observer._is_committed)
    old = _at_begin(observer, slot) if is_at_begin else observer.current(slot)
    is_in_force = is_at_begin or (
        old is not None and (variable is None or _is_read_later(observer, slot, event))
    )
    if variable is not None and old is None and not is_written:
        old = variable.get_value(borrow=True)
    if old is None or (is_written and not is_in_force):
        raise ArgumentError(_why_not_set(name_of(plan, slot), observer, slot, event))
    new = fitted(value, tensor, old)
    observer.was_overridden = True
    if variable is not None and not is_written:
        variable.commit(new)
        recorder.memory.values[variable] = new = variable.get_value(borrow=True)
        if variable in observer.old and is_at_begin:
            observer.old[variable] = new
        if variable in observer._written:  # the commit has not recorded the variable yet
            observer._written[variable] = Delta("weights", variable.name, new)
    if is_at_begin:
        _begin_with(observer, slot, new)
    elif is_in_force:
        observer.override(slot, new)
    further = _deltas_of(plan, slot, new, recorder.tape.names_at(event.t), event)
    recorder.tape.amend(patched(event, old, new, further))
    return old, new


def _at_begin(call: FunctionRecorder, slot: int) -> Any:
    """Return the array of an input or variable of a call that has computed nothing yet."""
    return call._copies[slot] if slot in call._copies else call._values[slot]


def _begin_with(call: FunctionRecorder, slot: int, array: np.ndarray) -> None:
    """Replace the array of an input or variable of a call that has computed nothing yet."""
    call.override(slot, array)
    if slot < len(call.function.inputs):
        arrays = [call._copies[own] for own in range(len(call.function.inputs))]
        # The stage has not run yet, so its work can begin again. The caller's list is unchanged.
        call.stage._events = call.function._events(arrays)


def _is_read_later(call: FunctionRecorder, slot: int, event: Event) -> bool:
    """Return whether a slot is read by a later op, or has an output or a variable's new value."""
    begin = call._index + (event.kind == "op" and event.ph == END)
    is_result = slot in call.function.schedule.results
    return is_result or any(slot in p.step.inputs for p in call.plan.steps[begin:])


def _why_not_set(name: str, call: FunctionRecorder, slot: int, event: Event) -> str:
    """Return the error message for an array of a paused call that cannot be set at an event."""
    where = f"set: {name} has no array at t={event.t}:"
    if any(slot in planned.step.outputs for planned in call.plan.steps[call._index :]):
        return f"{where} it is not computed yet. Stop at its end: tbreak tensor:{name}:ret."
    if isinstance(tensor_of(call.plan, slot), Variable):
        return (
            f"{where} this call has read it, and writes its new value at the commit. Set it "
            "after that (r), or before the next call: tbreak phase:forward."
        )
    return f"{where} nothing reads it later. Stop where it is computed: tbreak tensor:{name}:ret."


def patched(event: Event, old: Any, new: np.ndarray, further: tuple[Delta, ...] = ()) -> Event:
    """Return an event in which array `new` replaces array `old`.

    The deltas in `further` are added, except deltas whose name and key the event has already.
    """

    def changed(value: Any) -> Any:
        return replaced(value, (np.ndarray, np.generic), lambda x: new if x is old else x)

    deltas = tuple(Delta(d.name, d.key, changed(d.value)) for d in event.deltas)
    taken = {delta[:2] for delta in deltas}
    if event.ph != BEGIN and any(_has(delta.value, new) for delta in deltas):
        taken.update(delta[:2] for delta in further if delta.name == OVERRIDDEN)
    further = tuple(delta for delta in further if delta[:2] not in taken)
    return event._replace(deltas=(*deltas, *further))


def _has(value: Any, array: np.ndarray) -> bool:
    return any(found is array for found in found_in(value, np.ndarray))


def _deltas_of(
    plan: FunctionPlan, slot: int, array: np.ndarray, names: Mapping[str, Any], event: Event
) -> tuple[Delta, ...]:
    """Return the deltas that set all names of a slot at an event to a new array."""
    tensor, tensor_map = tensor_of(plan, slot), names.get("tensor_map", {})
    found: list[Delta] = []
    key = plan.keys.get(tensor)
    if key is not None:
        found.append(Delta("tensor_map", key, (array, tensor_map.get(key, (None, None))[1])))
    if isinstance(tensor, Variable):
        found.append(Delta("weights", tensor.name, array))
        optimizer = getattr(plan.facts.model, "optimizer", None) if plan.facts is not None else None
        if "lr" in names and getattr(optimizer, "lr", None) is tensor:
            found.append(Delta("lr", None, array))
    brings = [one for p in plan.steps for one in p.brings if p.step.outputs[one[2]] == slot]
    for name, own_key, _ in brings:
        if name == "mask" and own_key in tensor_map:
            found.append(Delta("tensor_map", own_key, (tensor_map[own_key][0], array)))
        elif name not in ("mask", "tensor_map"):
            found.append(Delta(name, own_key, array))
    in_update = slots_in_update(plan, event)
    found += [Delta(name, None, array) for name in in_update if in_update[name] == slot]
    by_key = [delta for delta in found if delta.key is not None]
    alone = [delta for delta in found if delta.key is None and delta.name in names]
    return (*by_key, Delta(OVERRIDDEN, name_of(plan, slot), array), *alone)


# --- restoring arrays from a call that runs again -------------------------------------------------


def restored(
    recorder: Recorder,
    tape: Tape,
    t: int,
    where: str = "p",
    overrides: Sequence[Override] = (),
    rows_of: Callable[[int], Journal] | None = None,
) -> Tape:
    """Run the function call at time `t` again, to get arrays that the tape has as statistics.

    The call runs from its initial values, which are kept longer than computed arrays. Its events
    are compared with those of the tape. All names and statistics must be the same.

    Parameters
    ----------
    recorder : Recorder
        The recorder of the program.
    tape : Tape
    t : int
    where : str
        The name of the command in error messages.
    overrides : sequence of Override
        The changes of this timeline. Changes inside the call are repeated.
    rows_of : callable, optional
        Takes the start time of a call and returns the journal with its initial values. By default
        the recorder's journal is used.

    Returns
    -------
    Tape
        `restored(...).names_at(t)` has arrays where `tape.names_at(t)` has statistics.

    Raises
    ------
    ArgumentError
        No call is open at `t`, its initial values are no longer kept, or the events of the second
        run differ from those on the tape.
    """
    call = call_at(recorder, tape, t, where)
    last = max((event.t for event in _inside(tape, call.begin)), default=call.begin)
    own = [o for o in overrides if call.begin <= o.t <= last]
    journal = None if rows_of is None else rows_of(call.begin)
    again: Tape = rerun_recorded(
        recorder, tape, call, own, where, journal, history_of_call(tape, call)
    ).tape
    for event in _inside(again, call.begin):
        if event.t >= len(tape):
            break
        old = tape[event.t]
        facts = old[:8] == event[:8] and len(old.deltas) == len(event.deltas)
        if not facts or not all(map(_is_the_same, old.deltas, event.deltas)):
            raise ArgumentError(
                f"{where}: the call at t={call.begin} was run again, but {event.name} differs at "
                f"t={event.t}, so its arrays are not shown. Something has changed that is not on "
                "the tape."
            )
    return again


def history_of_call(tape: Tape, call: Call) -> int | None:
    """Return the limit in bytes for a temporary tape that keeps all arrays of a call.

    This is the limit of `tape`, or a higher limit of at most 2 GB if the arrays need it. It is None
    if `tape` has no limit.
    """
    if tape.history is None:
        return None
    outs = [y for planned in call.plan.steps for y in planned.step.apply.outputs]
    rows = max((np.shape(x)[0] for x in tape.names_at(call.begin).get("inputs", ())
                if np.ndim(x) > 0), default=1)  # fmt: skip
    size = sum(
        math.prod(rows if n is None else n for n in x.shape) * np.dtype(x.dtype).itemsize
        for x in (*outs, *variables_of(call.function))
    )
    return max(tape.history, min(3 * size, MOST_RECALLED))


def _is_the_same(old: Delta, again: Delta) -> bool:
    if old.name == "error":
        return again.name == "error"
    return old[:2] == again[:2] and same(without_arrays(old.value), without_arrays(again.value))


def initial_values(
    recorder: Recorder, tape: Tape, call: Call, where: str
) -> tuple[list[Any], dict[Variable, np.ndarray]]:
    """Return the inputs of a call, and the values of its variables at its start.

    Raises
    ------
    ArgumentError
        The tape no longer has the inputs or the values of the variables.
    """
    inputs = list(tape.names_at(call.begin).get("inputs", ()))
    journal = recorder.journal if recorder.tape is tape else None
    values, _ = _values_of(recorder, tape, call, where, journal)
    if len(inputs) != len(call.function.inputs) or not all(_is_array(x) for x in inputs):
        raise ArgumentError(_arrays_gone(call.begin, where))
    return inputs, values


# --- running a call again -------------------------------------------------------------------------


def rerun(
    recorder: Recorder,
    tape: Tape,
    call: Call,
    overrides: Sequence[Override] = (),
    where: str = "set",
) -> Tape:
    """Run a call again. Return its tape, which begins with the events before the call.

    See `rerun_recorded`.
    """
    return rerun_recorded(recorder, tape, call, overrides, where).tape


def rerun_recorded(
    recorder: Recorder,
    tape: Tape,
    call: Call,
    overrides: Sequence[Override] = (),
    where: str = "set",
    journal: Journal | None = None,
    history: int | None = 0,
) -> Recorder:
    """Run a call again. Return its recorder; the tape begins with the events before the call.

    Parameters
    ----------
    recorder : Recorder
        The recorder of the program.
    tape : Tape
        A tape with at least the start of the call.
    call : Call
    overrides : sequence of Override
        The changes, in the order of their times. Without changes, the events are the same as
        before.
    where : str
        The name of the command in error messages.
    journal : Journal, optional
        The journal with the initial values of the call. By default, the recorder's journal is used
        if `tape` is the recorder's tape; otherwise no journal.
    history : int or None
        The limit of the new tape in bytes, None for unlimited, or 0 for the limit of `tape`. If it
        is not 0, the values of the function's variables are added to the event before the call.

    Raises
    ------
    ArgumentError
        The inputs or initial values of the call are no longer kept, or an override cannot be set
        in the call.
    """
    if journal is None and recorder.tape is tape:
        journal = recorder.journal
    inputs = list(tape.names_at(call.begin).get("inputs", ()))
    if journal is not None and not all(map(_is_array, inputs)):
        n = journal.row_of_call(call.function, call.begin)
        with suppress(ArgumentError):
            inputs = inputs if n is None else journal.fed_to(journal.place_of(n)[0], n)
    values, known = _values_of(recorder, tape, call, where, journal)
    waiting = sorted(overrides, key=lambda o: o.t)
    if len(inputs) != len(call.function.inputs) or not all(_is_array(x) for x in inputs):
        raise ArgumentError(_arrays_gone(call.begin, where))
    again = recorder.scratch_recorder(tape.history if history == 0 else history)
    again.memory.copy_twins(recorder.memory, call.begin)
    again.memory.values.update(known)
    again.continue_from(tape, call.begin)
    if history != 0 and call.begin:  # the tape may drop earlier calls, which have the weights
        last = again.tape[call.begin - 1]
        weights = tuple(Delta("weights", v.name, x) for v, x in values.items())
        again.tape.amend(last._replace(deltas=(*last.deltas, *weights)))
    began = tape[call.begin].where
    again.script_line = (began.user_file, began.user_line)

    def listen(event: Event) -> None:
        while waiting and waiting[0].t <= event.t:
            o = waiting.pop(0)
            override(again, o.name, o.value)

    again.listeners.append(listen)
    with recorder.journal.unobserved(), _with_values(values):
        Context().run(_run, again, call.function, inputs)
    return again


def _run(recorder: Recorder, function: Function, inputs: list[Any]) -> None:
    with observing(recorder):
        function.stage(inputs).run()


def _values_of(
    recorder: Recorder, tape: Tape, call: Call, where: str, journal: Journal | None
) -> tuple[dict[Variable, np.ndarray], dict[Variable, np.ndarray]]:
    """Return the values of a function's variables at the start of a call, and those last recorded.

    They come from a journal if possible, because the tape stores values by name, and two variables
    may have the same name.
    """
    n = None if journal is None else journal.row_of_call(call.function, call.begin)
    if journal is not None and n is not None:
        with suppress(ArgumentError):
            then, known = journal.known_before(n)
            return then, known
    paused = next((o for o in recorder.observers if _is_of(o, call)), None)
    counts = Counter(v.name for v in recorder.memory.values)
    if paused is not None and not paused.was_overridden:
        variables = variables_of(call.function)
        if any(counts[v.name] > 1 for v in variables):
            then = {v: paused.old.get(v, v.get_value(borrow=True)) for v in variables}
            known = {**then, **{v: x for v, x in paused.seen.items() if x is not UNKNOWN}}
            return then, {v: x for v, x in known.items() if paused.seen.get(v) is not UNKNOWN}
    return _values_by_name(recorder, tape, call, where)


def _is_of(observer: Any, call: Call) -> bool:
    """Return whether an observer is recording the given call at the moment."""
    return isinstance(observer, FunctionRecorder) and observer.began_at == call.begin


def variables_of(function: Function) -> list[Variable]:
    """Return the variables that a function reads or writes."""
    variables = [v for _, v in function.schedule.variables]
    return list(dict.fromkeys([*variables, *(update.variable for update in function.updates)]))


def _values_by_name(
    recorder: Recorder, tape: Tape, call: Call, where: str
) -> tuple[dict[Variable, np.ndarray], dict[Variable, np.ndarray]]:
    memory = recorder.memory
    weights = tape.names_at(call.begin).get("weights", {})
    values = {v: weights.get(v.name) for v in variables_of(call.function)}
    twins = dict.fromkeys(memory.twins(call.function))
    if twins:
        kept = memory.twin_values(call.function, call.begin)
        if not kept:
            raise ArgumentError(_same_name(call, where))
        values.update(kept)
    if not all(_is_array(value) for value in values.values()):
        raise ArgumentError(_arrays_gone(call.begin, where))
    # Scalar arrays became plain numbers, but variables need arrays.
    then = {v: np.asarray(value) for v, value in values.items() if value is not None}
    before = tape.names_at(call.begin - 1).get("weights", {}) if call.begin else {}
    known = {
        v: x if v in twins or before[v.name] is weights.get(v.name) else before[v.name]
        for v, x in then.items()
        if v.name in before
    }
    return then, known


def _same_name(call: Call, where: str) -> str:
    return (
        f"{where}: two variables of {call.function.name} have the same name, so the tape cannot "
        "distinguish them, and their values are kept only for the last calls. Give their layers "
        "different names."
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _arrays_gone(t: int, where: str) -> str:
    return (
        f"{where}: the call at t={t} cannot be run again, because only statistics of its arrays "
        "are left. Keep more: set history 1GB."
    )


@contextmanager
def _with_values(values: dict[Variable, np.ndarray]) -> Iterator[None]:
    """Return a context manager that sets variables to `values`, and restores the old values."""
    before = {variable: variable.get_value(borrow=True) for variable in values}
    try:
        replace_arrays((variable, np.asarray(array)) for variable, array in values.items())
        yield
    finally:
        replace_arrays(before.items())
