"""Commands that change a run: `set`, `rerun`, `unset`, `timeline`, `diff`.

`set NAME = EXPR` gives a tensor another array from this time on. If the program is paused at this
time, it continues with that array on a new timeline, and the old timeline is completed by a copy of
the call without the change. If the time is in the past, the function call runs again on a new
timeline, up to its end, and the program is not changed; `rerun` continues the new timeline up to
the end of the old one. Either way both histories are kept: `diff 1 2`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.backend.variables import Variable
from kerascope.debugger.commands import command
from kerascope.debugger.evaluating import NamesAtStop, value_of
from kerascope.debugger.rendering import entry_that_differs, short_text
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import END, GRAINS, Delta, Event
from kerascope.trace.forks import Fork, TrainCall, begin_of_call, end_of_call, next_row
from kerascope.trace.function_plan import fitted, name_of, slot_of, slots_by_name, tensor_of
from kerascope.trace.history import OF_THE_OUTPUT
from kerascope.trace.journal import Journal
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.records import listed
from kerascope.trace.stepper import Recording
from kerascope.trace.tape_memory import LEAST_FOR_EVENTS
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import (
    Call,
    Override,
    Timeline,
    call_at,
    override,
    rerun_recorded,
    variables_of,
)

SETTINGS = ("grain", "history")
# A name does not end with an operator: the * of "x *= 2" is not part of it.
ASSIGNED = r"(?P<name>[^=]*?[^=\s/*+\-])\s*(?P<sign>\*\*|//|[-+*/])?=(?!=)\s*(?P<value>.+)"
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
OTHER = "kerascope.debugger.other"
LOSSES = "kerascope.debugger.losses"
RUN = "kerascope.debugger.run_table"
TAPES = (".jsonl", ".npz")  # as `record` writes them


@dataclass
class OtherRuns:
    """The recording of the running program, and the run that `other` compares with.

    Attributes
    ----------
    live : Recording or None
        The recording of the running program, if another timeline is the current one; otherwise
        None.
    run : tuple of Tape and str, or None
        The run that the command `other` chose, and its label.
    """

    live: Recording | None = None
    run: tuple[Tape, str] | None = None


class SetBetweenCalls(list[tuple[Variable, np.ndarray, int, int]]):
    """Weights that `set` changed in the running program between two function calls.

    The items are (variable, old value, time of the change, number of journal rows at that time).
    """


# --- set ------------------------------------------------------------------------------------------


def _settable(debugger: Shell, text: str, line: str, begin: int, end: int) -> list[str]:
    """Return the completions of `set`: tensor names and settings, or grains after `set grain`."""
    before_it = line[:begin].split()
    if before_it[1:] == ["grain"]:
        return [grain for grain in GRAINS if grain.startswith(text)]
    settings = [word for word in (*SETTINGS, "again") if word.startswith(text)]
    names = debugger.names_like(text)
    return [*(settings if len(before_it) == 1 else []), *names]


@command("set", group="what if", completes=_settable)
def set_(debugger: Shell, words: str) -> None:
    """Give a tensor another array from this time on, or run the call again without a change.

    Usage: set NAME = EXPR | set again | set grain GRAIN | set history SIZE
    Example: set out = np.zeros_like(out)

    NAME is `out` (the output of this step), a tensor (dense_2/out), a layer (its output), x (the
    model's input), a weight, or grads["dense_2/kernel"]; on the right side it is the old value.
    A variable that the call does not write itself, such as lr, keeps the new value in later
    calls. In the past this starts a new timeline, and the program is not touched. `set again`
    starts one without a change: the result must be the same bit for bit. `set X = other` takes
    X from the same call of another timeline or run (help other), `set X = other.Y * 2` takes
    another tensor. `set grain op` chooses how fine the steps of s and n are, and `set history
    1GB` how many bytes of events and arrays are kept.
    """
    setting, _, value = words.partition(" ")
    if setting in SETTINGS and not value.lstrip().startswith("="):
        _set_setting(debugger, setting, value.strip())
        return
    if words.strip() == "again":
        _change(debugger, None, "again")
        return
    found = re.fullmatch(ASSIGNED, words.strip(), re.DOTALL)
    if found is None:
        near = did_you_mean(setting, (*SETTINGS, "again")) if "=" not in words else ""
        raise ArgumentError(
            f"set: expected NAME = EXPR, got {words.strip()!r}. {near}For example: "
            "`set out = np.zeros_like(out)`."
        )
    name, text = found["name"].removesuffix(":out"), found["value"]
    if found["sign"]:  # as in `lr /= 10`
        value = text if re.fullmatch(r"[\w.]+", text) else f"({text})"
        text = f"{name} {found['sign']} {value}"
    called = name
    name = _go_to_value(debugger, name)
    if re.match(r"other\b", text) or Path(text).suffix in TAPES:
        new, text = _from_other(debugger, name, text)
    else:
        new = value_of(text, _names_for_set(debugger, name, called), "set")
    _change(debugger, Override(_here(debugger).t, name, new, f"{name} = {text}"), name)


def _names_for_set(debugger: Shell, name: str, called: str = "") -> NamesAtStop:
    """Return the names for the right side of `set NAME = ...`, where NAME has its old value.

    A layer can have the same name as a symbol in the script, or as the script's array of all
    data. The name then means the layer's output. `called` is the name as typed, such as x for
    the model's input.
    """
    names = debugger.names()
    is_script_s = name in names and names[name] is debugger.session.script_names.get(name)
    is_number = isinstance(names.get(name), np.ndarray | np.generic | int | float)
    is_number = is_number and not is_script_s
    if called not in ("", name):
        names.update({called: names.find(name)})
    if len(_variables(debugger, name)) > 1 and not _is_live(debugger) and not _is_in_call(debugger):
        variable, n = _variable(debugger, "set", name), _next_row(debugger)
        if variable is not None:
            names.update({name: _journal(debugger).values_before(n)[variable]})
        return names
    if name.isidentifier() and not is_number:
        array = names.find(name)
        names.update({} if array is None else {name: array})
    return names


def _set_setting(debugger: Shell, setting: str, value: str) -> None:
    if setting == "grain":
        if value:
            debugger.session.stepper.grain = value
        debugger.say(f"grain {debugger.session.stepper.grain}")
        return
    tape = debugger.session.tape
    if value:
        tape.history = bytes_of(value)
    limit = "no limit" if tape.history is None else f"{tape.history:,} bytes"
    least = ""
    if tape.history is not None and tape.held > tape.history:
        least = f" (events always get at least {LEAST_FOR_EVENTS:,} bytes)"
    debugger.say_text(f"history {limit}, of events and arrays; {tape.held:,} are held{least}")


def _here(debugger: Shell, command: str = "set") -> Event:
    event = debugger.session.stepper.event
    if event is None:
        raise ArgumentError(f"{command}: needs an event. `rs` goes back to the last one.")
    return event


def _go_to_value(debugger: Shell, name: str) -> str:
    """Go to the time at which a tensor is computed, and return the name of the tensor.

    The time is in the current function call; between two calls, in the next call.

    Stay at the current time if the tensor is already computed, if it is a variable between two
    calls, or if the program is paused at this time. The returned name differs from `name` only for
    x, the model's input.
    """
    event, tape = _here(debugger), debugger.session.tape
    if debugger.session.recorder is None or name in OF_THE_OUTPUT:
        return name
    recorder = _recorder(debugger, "set")
    call = _call_around(recorder, tape, event.t)
    if call is None and (_is_live(debugger) or _variables(debugger, name)):
        return name
    here = event if call is not None else None
    call = call or _next_call(debugger, "set", event.t)
    name = _input_meant(call, name)
    if _is_live(debugger):
        return name
    slot = slot_of(call.plan, name, here or tape[call.begin])
    ops = {p.name for p in call.plan.steps if slot in p.step.outputs}
    inside = tape[call.begin : end_of_call(tape, call.begin)]
    came = (e.t for e in inside if e.kind == "op" and e.ph == END and e.name in ops)
    t = max(next(came, call.begin), event.t)
    if t > event.t:
        debugger.stop = debugger.session.stepper.goto(t)
        debugger.say(f"   {name} comes at t={t}")
    return name


def _next_call(debugger: Shell, command: str, t: int) -> Call:
    """Return the first function call at or after a time; run a fork up to it if necessary."""
    tape, journal = debugger.session.tape, _journal(debugger)
    n, fork = next_row(journal, tape, t), debugger.session.timelines.current.fork
    if n >= len(journal.rows) and fork is not None:
        fork.run_on(1)  # the fork runs up to that call
    if n >= len(journal.rows):
        raise ArgumentError(f"{command}: no function was called after t={t}.")
    _, first, end = journal.place_of(n)
    begin = begin_of_call(tape, max(first, t), end)
    return call_at(_recorder(debugger, command), tape, begin, command)


def _next_row(debugger: Shell) -> int:
    return next_row(_journal(debugger), debugger.session.tape, _here(debugger).t)


def _is_in_call(debugger: Shell) -> bool:
    tape, t = debugger.session.tape, _here(debugger).t
    return _call_around(_recorder(debugger, "set"), tape, t) is not None


def _journal(debugger: Shell) -> Journal:
    """Return the journal of the current timeline; raise if the timeline was read from a file."""
    fork, recorder = debugger.session.timelines.current.fork, _recorder(debugger, "set")
    if recorder.tape is not debugger.session.tape:
        raise ArgumentError("set: this timeline is a tape read from a file. Nothing can run on it.")
    journal: Journal = recorder.journal if fork is None else fork.journal
    return journal


def _history(debugger: Shell, recorder: Recorder) -> Journal | Fork:
    """Return the fork or journal with the calls that a new timeline repeats.

    This is the fork of the current timeline, or the journal of the program if it has no fork.
    """
    current: Fork | None = debugger.session.timelines.current.fork
    return recorder.journal if current is None else current


def _variables(debugger: Shell, name: str) -> list[Variable]:
    recorder = debugger.session.recorder
    return [v for v in recorder.memory.values if v.name == name] if recorder else []


def _is_live(debugger: Shell) -> bool:
    """Return whether the program is paused at the current event."""
    recorder, tape = debugger.session.recorder, debugger.session.tape
    is_of_program = recorder is not None and tape is recorder.tape
    return is_of_program and is_running(debugger) and _here(debugger).t == len(tape) - 1


def _recorder(debugger: Shell, command: str) -> Recorder:
    """Return the recorder with which calls of the current timeline can be run again.

    Raises
    ------
    ArgumentError
        The tape was read from a file, so its model cannot be run again.
    """
    fork = debugger.session.timelines.current.fork
    recorder = debugger.session.recorder if fork is None else fork.recorder
    if recorder is None:
        raise ArgumentError(
            f"{command}: this tape was read from a file. The model is not here to be run again."
        )
    return recorder


def _change(debugger: Shell, change: Override | None, name: str) -> None:
    """Apply a change by `set` to the program if it is paused at the current event.

    Otherwise apply the change on a new timeline.
    """
    event, recorder = _here(debugger), _recorder(debugger, "set")
    tape, is_live = debugger.session.tape, _is_live(debugger)
    if is_live and change is not None and _set_weight(debugger, recorder, change):
        return
    if not is_live and _call_around(recorder, tape, event.t) is None:
        known = None if change is None else _variable(debugger, "set", change.name)
        if change is None or known is not None:
            _change_between(debugger, recorder, change, known)
            return
    is_between = _call_around(recorder, tape, event.t) is None
    if is_live and change is not None and is_between and name not in OF_THE_OUTPUT:
        raise ArgumentError(_no_value_yet(debugger, name))
    call = call_at(recorder, tape, event.t)
    shown, slot = "", -1
    if change is not None:
        slot = slot_of(call.plan, name, event)
        shown = name_of(call.plan, slot)
        change = change._replace(name=shown)
    if is_live and change is not None:
        made = _change_live(debugger, recorder, call, change)
    else:
        made = _fork(debugger, recorder, call, change)
    readers = _readers(tape, call, slot, event.t) if shown else []
    variable = tensor_of(call.plan, slot) if shown else None
    before = "overridden " + shown + (" @" if debugger.ascii_only else " ◆") if shown else "again"
    _say_made(debugger, made, before)
    _say_loss(debugger, made)
    if readers:
        names = listed(readers, 3)
        debugger.say(f"   already read by {names}; only later ops read the new one")
    is_written = any(variable is update.variable for update in call.function.updates)
    if isinstance(variable, Variable) and made.tape is recorder.tape and not is_written:
        debugger.say(f"   {variable.name} stays {short_text(variable.get_value())} in later calls")
    if is_running(debugger) and made.tape is not recorder.tape:
        live = next(x.number for x in debugger.session.timelines if x.tape is recorder.tape)
        debugger.say(f"   the program waits: `timeline {live}` goes back to it")


def _no_value_yet(debugger: Shell, name: str) -> str:
    """Return the message for `set` of a tensor that has no value before the next call."""
    is_fed = name in getattr(debugger.session.model, "input_names", ())
    place = "b phase:forward" if is_fed else f"tbreak run:{name}:ret"
    return (
        f"set: {name} has no value here, between two calls. Stop where it has one: {place}, then "
        "c. Or go back to an earlier batch: goto batch 3."
    )


def _say_loss(debugger: Shell, made: Timeline) -> None:
    """Print the batch's loss without and with the change, if the changed call ran to its end."""
    losses: list[TrainCall] = []
    if made.fork is not None:
        with suppress(ArgumentError):
            made.fork.begin()
            losses = made.fork.losses()
    for one in losses[:1]:
        pair = " -> ".join(import_module(LOSSES).distinct_figures(one))
        debugger.say(f"   loss {pair} in this batch; `rerun` continues it")


def _say_made(debugger: Shell, made: Timeline, before: str) -> None:
    """Print the text `before`, then the number and the first time of a new timeline."""
    parent = made.parent.number if made.parent else 1
    t = _here(debugger).t
    debugger.say(f"{before}  timeline {made.number} starts at t={t}, timeline {parent} kept")


def _change_between(
    debugger: Shell, recorder: Recorder, change: Override | None, variable: Variable | None
) -> None:
    """Start a new timeline between two calls, with another value of a variable."""
    t, tape = _here(debugger).t, debugger.session.tape
    _next_call(debugger, "set", t + 1)
    again = recorder.scratch_recorder(tape.history)
    again.memory.copy_twins(recorder.memory, t)
    again.continue_from(tape, t + 1)
    fork = Fork(again, _history(debugger, recorder), tape, t + 1)
    changes, word = _changes_at(debugger, t), "again"
    if change is not None and variable is not None:
        array = fitted(change.value, variable, variable.get_value(borrow=True))
        fork.override(variable, array)
        event = again.tape[t]
        new_delta = Delta("weights", variable.name, array)
        again.tape.amend(event._replace(deltas=(*event.deltas, new_delta)))
        changes.append(change)
        word = f"overridden {variable.name}" + (" @" if debugger.ascii_only else " ◆")
    made = debugger.session.timelines.fork(t, changes, again.tape, fork)
    _switch_to(debugger, made, t)
    _say_made(debugger, made, word)
    debugger.say("   it has not run yet: `rerun` runs it, `rerun 50` over 50 batches")


def _variable(debugger: Shell, command: str, name: str) -> Variable | None:
    """Return the variable with this name, or None. Raise if several variables have this name."""
    known = _variables(debugger, name)
    if len(known) > 1 and not _is_live(debugger):
        function = _next_call(debugger, command, _here(debugger).t).function
        known = [v for v in known if v in variables_of(function)]
    if len(known) > 1:
        raise ArgumentError(
            f"{command}: {len(known)} variables have the name {name!r}. Set it in a call that "
            "reads the one you mean, `b run:phase:forward` then c; or write "
            f"`!K.set_value(model.optimizer.{name}, ...)` with the model's own name."
        )
    return known[0] if known else None


def call_here(debugger: Shell, command: str) -> tuple[Recorder, Call]:
    """Return the recorder, and the function call around the current time.

    Between two function calls, the second result is the next call.
    """
    recorder, t = _recorder(debugger, command), _here(debugger, command).t
    call = _call_around(recorder, debugger.session.tape, t)
    return recorder, call or _next_call(debugger, command, t)


def is_running(debugger: Shell) -> bool:
    """Return whether the session has a program that has not ended."""
    source, live = debugger.session.stepper.source, debugger.state(OtherRuns).live
    on_own = debugger.session.recorder and source.tape is not debugger.session.recorder.tape
    source = live if on_own and live is not None else source
    return not source.ended


def _set_weight(debugger: Shell, recorder: Recorder, change: Override) -> bool:
    """Change a weight between two function calls, and return whether it was changed.

    Inside a call, or if no variable has the name, change nothing and return False.
    """
    spans = recorder.tape.spans_at(change.t)
    if any(span.kind == "function" for span in spans):
        return False
    weight = _variable(debugger, "set", change.name)
    if weight is None:
        return False
    old = weight.get_value(borrow=True)
    before = weight, old, change.t, len(recorder.journal.rows)
    _write_between_calls(debugger, weight, fitted(change.value, weight, old), change.t)
    debugger.state(SetBetweenCalls).append(before)
    return True


def _write_between_calls(debugger: Shell, weight: Variable, array: np.ndarray, t: int) -> None:
    """Write a weight between two calls, and record the new value in the event at time `t`."""
    weight.commit(array)
    tape = debugger.session.tape
    event, new_delta = tape[t], Delta("weights", weight.name, array)
    deltas = tuple(delta for delta in event.deltas if delta[:2] != new_delta[:2])
    tape.amend(event._replace(deltas=(*deltas, new_delta)))
    debugger.say(f"{weight.name} is {short_text(array)} from the next call on")


def _change_live(debugger: Shell, recorder: Recorder, call: Call, change: Override) -> Timeline:
    """Put the new array into the paused call, and return the timeline on which the call continues.

    A copy of the call without the change completes the old timeline.
    """
    timelines, tape = debugger.session.timelines, recorder.tape
    until_now: list[Event] = list(tape)
    # Earlier changes at this event have already taken effect, and cannot be undone.
    held = _changes_at(debugger, change.t)
    fork: Fork | None = None
    try:
        again = rerun_recorded(recorder, tape, call, [*_earlier(debugger, call, change.t), *held])
        old, fork = again.tape, Fork(again, recorder.journal, tape, call.begin, call)
    except ArgumentError:
        old = Tape(until_now, tape.history)  # too little is kept to compute the rest
    override(recorder, change.name, change.value)
    timelines.complete(old, fork)
    return timelines.fork(change.t, [*held, change], tape)


def _fork(debugger: Shell, recorder: Recorder, call: Call, change: Override | None) -> Timeline:
    """Run a call again, with the change, on a new timeline; make this timeline the current one."""
    t, tape = _here(debugger).t, debugger.session.tape
    changes = [*_changes_at(debugger, t), *([] if change is None else [change])]
    again = rerun_recorded(recorder, tape, call, [*_earlier(debugger, call, t), *changes])
    fork = None
    if tape is recorder.tape:  # and not a tape read from a file
        fork = Fork(again, _history(debugger, recorder), tape, call.begin, call)
    for one in changes:
        tensor = tensor_of(call.plan, slot_of(call.plan, one.name, _here(debugger)))
        if fork is not None and isinstance(tensor, Variable):
            fork.silence(tensor)
    made = debugger.session.timelines.fork(t, changes, again.tape, fork)
    _switch_to(debugger, made, t)
    return made


def _earlier(debugger: Shell, call: Call, t: int) -> list[Override]:
    """Return the current timeline's overrides at times inside of `call` and before `t`."""
    current = debugger.session.timelines.current
    return [change for change in current.overrides if call.begin <= change.t < t]


def _changes_at(debugger: Shell, t: int) -> list[Override]:
    """Return the overrides of the current timeline at time `t`."""
    return [change for change in debugger.session.timelines.current.overrides if change.t == t]


def _switch_to(debugger: Shell, timeline: Timeline, t: int) -> None:
    stepper, recorder = debugger.session.stepper, debugger.session.recorder
    elsewhere = debugger.state(OtherRuns)
    if recorder is not None and stepper.tape is recorder.tape:
        elsewhere.live = stepper.source
    is_live = recorder is not None and timeline.tape is recorder.tape
    live = elsewhere.live if is_live else None
    source = Recording(timeline.tape) if live is None else live
    stop = stepper.switch(source, max(min(t, len(timeline.tape) - 1), 0))
    if stop is not None:
        debugger.stop = stop


@command("unset", group="what if", takes_words=False)
def unset(debugger: Shell, words: str) -> None:
    """Undo the last change: go to the timeline without it.

    Usage: unset
    Example: unset

    A program that has continued with a change cannot be taken back: its timeline stays, and you
    see the copy that ran without the change. A weight that was set between two calls gets its
    old value back if no call has begun since.
    """
    if _unset_between_calls(debugger):
        return
    current = debugger.session.timelines.current
    if current.parent is None or current.forked_at is None:
        raise ArgumentError("unset: nothing was changed on this timeline.")
    go_to(debugger, debugger.session.timelines.get(current.parent.number), current.forked_at)


def _unset_between_calls(debugger: Shell) -> bool:
    """Undo the last change of a weight between two calls, and return whether one was undone.

    Return False if no weight was changed in this way, or if a later change started a timeline.

    Raises
    ------
    ArgumentError
        A function call has begun since the change.
    """
    recorder, current = debugger.session.recorder, debugger.session.timelines.current
    made = debugger.state(SetBetweenCalls)
    if not made or recorder is None or current.tape is not recorder.tape:
        return False
    weight, old, t, row = made[-1]
    if current.forked_at is not None and current.forked_at > t:
        return False
    is_in_call = any(isinstance(o, FunctionRecorder) for o in recorder.observers)
    if is_in_call or len(recorder.journal.rows) > row:
        raise ArgumentError(
            f"unset: {weight.name} was set at t={t}, and the program has continued with it. "
            f"`set {weight.name} = ...` changes it from here on (it was {short_text(old)}); to see "
            f"what another value would have given: `goto {t}`, set it there, `rerun`."
        )
    made.pop()
    _write_between_calls(debugger, weight, old, t)
    return True


# --- rerun ----------------------------------------------------------------------------------------


@command("rerun", group="what if", completes=("fit",))
def rerun(debugger: Shell, words: str) -> None:
    """Run the timeline that `set` made, for some batches or to the end of the old timeline.

    Usage: rerun [n | fit]
    Example: rerun 50

    The losses of both runs are printed side by side. `rerun` runs up to the end of the old
    timeline, `rerun 50` over 50 batches, `rerun fit` to the end of this `fit`; repeat it to
    continue. The batches are those of the old run. Values that callbacks or the script wrote
    into variables are written again, except for the variable that you set. Callbacks are not
    called, so they make no new decisions. The program and its weights are not touched. If
    `set again` made the timeline, both runs must be the same bit for bit.
    """
    word, current = words.strip(), debugger.session.timelines.current
    if word and word != "fit" and not (word.isdigit() and int(word)):
        raise ArgumentError(
            f"rerun: expected nothing, a number of batches (`rerun 50`) or `fit`, got {word!r}."
        )
    fork: Fork | None = current.fork
    if fork is None:
        raise ArgumentError(
            "rerun: nothing was changed on this timeline. Go to a batch and change something "
            "there: goto batch 10, set lr = lr / 10, rerun."
        )
    count = fork.run_on(int(word) if word.isdigit() else None, to_end_of_fit=word == "fit")
    _say_rerun(debugger, fork, count)


def _say_rerun(debugger: Shell, fork: Fork, count: int) -> None:
    timelines = debugger.session.timelines
    first = next(one.number for one in timelines if one.tape is fork.parent_tape)
    own = timelines.current.number
    calls = "call" if count == 1 else "calls"
    debugger.say(f"timeline {own}: {count:,} {calls} computed, with the inputs of timeline {first}")
    made_here = timelines.current.overrides
    later = [o for o in timelines.get(first).overrides if o not in made_here]
    for line in [*_notes(fork, first), *_later_changes(later, first)]:
        debugger.say_text(f"   {line}")
    _say_losses(debugger, fork, first, own)


def _say_losses(debugger: Shell, fork: Fork, first: int, own: int) -> None:
    losses = fork.losses()
    if losses:
        lines = import_module(LOSSES).lines_of_losses(losses, (first, own), debugger.ascii_only)
        for line in lines:
            debugger.say_line(line)


# --- other ----------------------------------------------------------------------------------------


@command("other", group="what if")
def other(debugger: Shell, words: str) -> None:
    """Choose the other run for comparisons; its arrays in this call are `other.NAME`.

    Usage: other [N | FILE]
    Example: other t.jsonl

    N is a timeline, FILE a tape that `record` wrote in another run; the default is the timeline
    from which this one branched off. `set dense_1 = other` takes the output of dense_1 from the
    same call of that run (same batch, epoch and fit). `p other.dense_1 - dense_1` compares.
    """
    word, elsewhere = words.strip(), debugger.state(OtherRuns)
    if word.isdigit():
        named = debugger.session.timelines.get(int(word), "other")
        elsewhere.run = named.tape, f"timeline {word}"
    elif word:
        elsewhere.run = _tape_of(word), word
    debugger.say(f"other: {_other_run(debugger)[1]}")


def _other_run(debugger: Shell) -> tuple[Tape, str]:
    """Return the tape and the label of the other run: the chosen one, or the parent timeline.

    Raises
    ------
    ArgumentError
        No run was chosen with `other`, and the session has only one timeline.
    """
    current, timelines = debugger.session.timelines.current, debugger.session.timelines
    named = debugger.state(OtherRuns).run
    if named is not None and named[0] is not debugger.session.tape:
        return named
    one = current.parent or (timelines.get(2) if len(timelines) == 2 else None)
    if one is None:
        raise ArgumentError(
            "other: expected a timeline or the file of a tape: other 2, other t.jsonl."
        )
    return one.tape, f"timeline {one.number}"


def _other_here(debugger: Shell) -> Any:
    """Return the arrays of another run for the current function call; between calls, for the next.

    The other run was chosen by the command `other`; by default, it is the parent timeline.
    """
    module, (tape, label) = import_module(OTHER), _other_run(debugger)
    fork = debugger.session.timelines.current.fork
    # A fork that has not run yet has no next call; its parent has the same call.
    tapes = [debugger.session.tape] if fork is None else [debugger.session.tape, fork.parent_tape]
    key = partial(module.key_of_call, tapes, debugger.session.stepper.now)
    return module.Other(tape, label, key)


def _from_other(debugger: Shell, name: str, text: str) -> tuple[Any, str]:
    """Return a tensor's new value from another run, and the text of its expression for messages."""
    if Path(text).suffix in TAPES:
        debugger.state(OtherRuns).run, text = (_tape_of(text), text), "other"
    other, named = _other_here(debugger), _here(debugger).name if name in OF_THE_OUTPUT else name
    if text == "other":
        new = other[named]
        text = f"other.{named}"
    else:
        names = _names_for_set(debugger, name)
        names["other"] = other
        new = value_of(text, names, "set")
    here = debugger.names().find(named)
    if np.shape(new) and here is not None and np.shape(new) != np.shape(here):
        raise ArgumentError(
            f"set: {named} has shape {np.shape(here)} here, and {text} has {np.shape(new)} in "
            f"{other!r}. Both runs need batches of the same size."
        )
    return new, f"{text} of {other!r}"


def with_other(debugger: Shell, names: NamesAtStop) -> NamesAtStop:
    """Add the name `other` to the names of a stop, if another run exists; return the names."""
    if "other" not in names:
        with suppress(ArgumentError):
            names["other"] = _other_here(debugger)
    return names


# --- timelines ------------------------------------------------------------------------------------


@command("timeline", group="in time")
def timeline(debugger: Shell, words: str) -> None:
    """List the timelines, or go to a timeline.

    Usage: timeline [n]
    Example: timeline 1

    A running program records its events on one timeline. To continue the program with `c`, go
    to that timeline first.
    """
    timelines, recorder = debugger.session.timelines, debugger.session.recorder
    if not words.strip():
        for one in timelines:
            sign = "*" if one is timelines.current else " "
            is_live = recorder is not None and one.tape is recorder.tape
            words = f"{sign} {one.number}  {len(one.tape)} events"
            if one.parent is not None:
                words += f", from {one.parent.number} at t={one.forked_at}"
            words += ", the program's" if is_live and is_running(debugger) else ""
            debugger.say(words + "".join(f"\n     set {o.text or o.name}" for o in one.overrides))
        return
    if not words.strip().isdigit():
        raise ArgumentError(f"timeline: expected a number (timeline 1), got {words!r}.")
    t = debugger.stop.t if debugger.stop is not None else 0
    go_to(debugger, timelines.get(int(words)), t)


def go_to(debugger: Shell, timeline: Timeline, t: int) -> None:
    """Make a timeline the current one, go to time `t` on it, and show the stop."""
    _switch_to(debugger, timeline, t)
    debugger.session.timelines.switch(timeline.number)
    if debugger.stop is not None:
        debugger.show(debugger.stop)


@command("diff", group="in time")
def diff(debugger: Shell, words: str) -> None:
    """Show how two batches, two timelines or two runs differ.

    Usage: diff batch A B | diff N M | diff FILE
    Example: diff batch 10 11

    For two batches (`diff epoch 0 batch 3 epoch 1 batch 3`): activations, gradients and weights.
    For two timelines by number, or for this run and a tape that `record` wrote: the first
    difference, and how many ops differ.
    """
    run = import_module(RUN)
    if Path(words).suffix in TAPES:
        run.say_difference_of_runs(debugger, words.strip())
    elif both := run.batches_named(debugger, words):
        run.say_contrast(debugger, *both)
    else:
        _say_difference_of_timelines(debugger, words)


def _say_difference_of_timelines(debugger: Shell, words: str) -> None:
    numbers = words.replace(",", " ").split()
    if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
        raise ArgumentError(
            "diff: expected two timelines, `diff 1 2`, or two batches, `diff batch 10 11`, "
            f"`diff epoch 0 batch 3 epoch 1 batch 3`, `diff batch 10 11 of D`, got {words!r}."
        )
    one, other = (debugger.session.timelines.get(int(n), "diff") for n in numbers)
    pair = next((p for p in ((one, other), (other, one)) if _was_continued(*p)), None)
    # For calls that `rerun` added, the losses are compared; comparing all their ops would be slow.
    times = None if pair is None else (pair[1].forked_at or 0, pair[1].fork.end_of_first)
    found = debugger.session.timelines.difference(one.number, other.number, times)
    debugger.say(str(found) + (" in its first call" if times and found else ""))
    last = min(len(one.tape), len(other.tape)) - 1
    if not found and times is None and len(one.tape) != len(other.tape):
        debugger.say(f"   up to t={last}, where the shorter one ends")
    if found:
        entry, *values = entry_that_differs(*found.found.values)
        for timeline, value in zip((one, other), values, strict=True):
            debugger.say(f"   {timeline.number}: {entry}{short_text(value)}")
    if pair is not None:
        _say_losses(debugger, pair[1].fork, pair[0].number, pair[1].number)


def _was_continued(parent: Timeline, made: Timeline) -> bool:
    """Return whether a timeline branched off another one and was continued by `rerun`."""
    fork: Fork | None = made.fork
    return fork is not None and fork.parent_tape is parent.tape and fork.has_run


def _notes(fork: Fork, first: int) -> list[str]:
    """Return notes for `diff`: which values a fork set again or did not set, and why it ended."""
    lines = []
    if fork.repeated:
        times = [f"{name} {n}x" for name, n in fork.repeated.most_common()]
        lines.append(
            f"callbacks and the script do not run again; what they wrote in timeline {first} is "
            f"written again: {listed(times, 4)}"
        )
    if fork.silenced:
        times = [f"{name} {n}x" for name, n in fork.silenced.most_common()]
        lines.append(f"left out, because you set it here: {listed(times, 4)}")
    if fork.why:
        lines.append(f"it ends here: {fork.why}")
    return lines


def _later_changes(later: list[Override], first: int) -> list[str]:
    """Return a list with a note about changes that only timeline `first` of a comparison has.

    `later` are these changes. They were made after the other timeline had branched off. If there
    are none, the list is empty.
    """
    if not later:
        return []
    texts = [f"set {o.text or o.name}" for o in later]
    return [f"changes made later in timeline {first} are not made here: {listed(texts, 3)}"]


def _tape_of(file: str) -> Tape:
    tape: Tape = import_module(OTHER).tape_of_file(Path(file))
    return tape


def _call_around(recorder: Recorder, tape: Tape, t: int) -> Call | None:
    """Return the function call that contains time `t`; None between two calls."""
    spans = [*tape.spans_at(t), *([tape[t]] if tape[t].ph == END else [])]
    if not any(span.kind == "function" and span.act == "function" for span in spans):
        return None
    return call_at(recorder, tape, t)


def _input_meant(call: Call, name: str) -> str:
    """Return the name of the model's only input for "x"; otherwise return the name unchanged.

    "x" is unchanged, too, if a tensor of the call is named x.
    """
    facts = call.plan.facts
    inputs = [] if facts is None else facts.model.inputs
    if name != "x" or len(inputs) != 1 or name in slots_by_name(call.plan):
        return name
    return str(inputs[0].name) if inputs[0] in call.plan.slots else name


def _readers(tape: Tape, call: Call, slot: int, t: int) -> list[str]:
    """Return the names of the ops of a call that had read a slot by time `t`."""
    names = {planned.name for planned in call.plan.steps if slot in planned.step.inputs}
    past: list[Event] = tape[call.begin : t + 1]
    return [e.name for e in past if e.kind == "op" and e.ph == END and e.name in names]


def bytes_of(text: str) -> int | None:
    """Return the number of bytes that a size such as "256MB" means; None for "none".

    Raises
    ------
    ArgumentError
        The text is not a size.

    Examples
    --------
    >>> bytes_of("256MB"), bytes_of("none")
    (268435456, None)
    """
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"(\d+)\s*([KMG]?B?)", text.strip().upper())
    unit = found[2] if found else ""
    unit = unit + "B" if unit and not unit.endswith("B") else unit
    if found is None or unit not in UNITS:
        raise ArgumentError(f"set history: expected a size (256MB, 1GB or none), got {text!r}.")
    return int(found[1]) * UNITS[unit]
