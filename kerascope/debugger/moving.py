"""Commands that move in time, forward, backward, anywhere, and that change what happened there.

`origin` goes to the event that produced a name; which that is comes first.

`set NAME = EXPR` gives a tensor another array from this time on. Where the program is paused at
this very time, it goes on with that array: this is a new timeline, and the old one is finished
aside, as it would have gone on. In the past, the call of the function is run again aside, up to its
end, and the program is not touched. Either way both histories are kept: `diff 1 2`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.debugger.evaluating import LIVES_IN, NamesAtStop, value_of
from kerascope.debugger.rendering import entry_that_differs, sentence, short_text, span_labels
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell, completing, number_in
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, GRAINS, Event
from kerascope.trace.function_plan import fitted, name_of, slot_of, tensor_of
from kerascope.trace.history import OF_THE_OUTPUT, value_of_event
from kerascope.trace.recorder import Recorder
from kerascope.trace.records import listed
from kerascope.trace.selectors import ACTS, FUNCTIONS, PHASES
from kerascope.trace.stepper import Reason, Recording, Stop
from kerascope.trace.tape_memory import LEAST_FOR_EVENTS
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import (
    Call,
    Override,
    Timeline,
    call_at,
    override,
    rerun,
)

# --- which event produced a name ------------------------------------------------------------------
# `out` is no name of the tape but that of the event at the stop: what `p out` shows. All other
# names are looked for on the tape, from the stop back.


def origin_at(session: Session, name: str, t: int | None) -> Event | None:
    """Return the event that produced a name, as it is known at a stop; None if none did.

    Raises
    ------
    ArgumentError
        The name is known, and nothing has produced it so far.
    """
    tape = session.tape
    t = len(tape) - 1 if t is None else min(t, len(tape) - 1)
    if t >= 0 and name in OF_THE_OUTPUT:
        return _origin_of_output(tape, tape[t], name)
    if t >= 0 and name in tape.names_at(t):
        made = _last_given(tape, name, t)
        if made is not None:
            return made
    found = tape.origin(name, t)
    is_of_source = any(name in names.split() for names in LIVES_IN.values())
    if is_of_source and (found is None or not _gives(found, name)):
        where = next(scope for scope, names in LIVES_IN.items() if name in names.split())
        raise ArgumentError(
            f"origin: {name!r} has not been computed up to here. It lives in {where}."
        )
    return found


def _gives(event: Event, name: str) -> bool:
    return any(delta.name == name for delta in event.deltas)


def _last_given(tape: Tape, name: str, t: int) -> Event | None:
    """Return the last event that gave a name of the source its value, whatever layers are called.

    Where that is forgotten, the tape itself has to answer.
    """
    for event in tape.back(t):
        if event.kind == FORGOTTEN:
            return None
        if _gives(event, name):
            return event
    return None


def _origin_of_output(tape: Tape, event: Event, name: str) -> Event:
    """Return the innermost event with the value that comes out at an event."""
    value = value_of_event(event, *OF_THE_OUTPUT)
    if value is None or event.ph == BEGIN:
        raise ArgumentError(
            f"origin: {name!r} is None here: nothing has come out yet; `r` goes on."
        )
    found = event
    for earlier in tape.back(event.t):
        if earlier.ph == BEGIN and earlier.depth <= event.depth:
            break
        if earlier.ph == END and _alone(value_of_event(earlier, *OF_THE_OUTPUT)) is _alone(value):
            found = earlier
    return found


def _alone(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


# --- moving in time -------------------------------------------------------------------------------


def target_in(words: str, command: str) -> tuple[int | str | None, int | None]:
    """Return the network depth or phase, and the time, for which `until` looks."""
    if not words:
        return None, None
    if words.startswith("t=") and words[2:].strip().isdigit():
        return None, int(words[2:])
    if words.removeprefix("depth").strip().isdigit():
        return int(words.removeprefix("depth")), None
    if words.removeprefix("phase").strip() in (*PHASES, *ACTS):
        return words.removeprefix("phase").strip(), None
    if words.isidentifier():
        return words, None  # the stepper tells which phases there are
    raise ArgumentError(
        f"{command}: got {words!r}; expected nothing, a network depth (`{command} 2`), a phase "
        f"(`{command} backward`) or a time (`{command} t=61`). To all else: `tbreak {words}`, then "
        f"`{'rc' if command == 'ru' else 'c'}`."
    )


class MovingCommands(Shell):
    """Commands that move in time."""

    _awaited: int | None = None  # the time that `goto` looks for

    # --- forward ----------------------------------------------------------------------------------

    def do_step(self, words: str) -> bool:
        """Go to the next event of the current grain (`set grain op` makes it finer).

        Usage: s[tep] [n]
        Example: s 3
        """
        n = number_in(words, "step")
        return self.move(lambda stepper: stepper.step(n))

    def do_stepi(self, words: str) -> bool:
        """Go to the next event of any grain, the finest details too.

        Usage: stepi [n]
        Example: stepi
        """
        n = number_in(words, "stepi")
        return self.move(lambda stepper: stepper.stepi(n))

    def do_next(self, words: str) -> bool:
        """Go to the next sibling, over all that lies inside; or to the end of the span.

        Usage: n[ext] [n]
        Example: n
        """
        n = number_in(words, "next")
        return self.move(lambda stepper: stepper.next(n))

    def do_until(self, words: str) -> bool:
        """Go on to the next network depth, or to what is named.

        Usage: unt[il] [depth | phase | act | function | t=T]
        Example: unt backward
        """
        target, t = target_in(words, "until")
        return self.move(lambda stepper: stepper.until(target, t=t))

    complete_until = complete_unt = complete_ru = completing(*PHASES, *ACTS, *FUNCTIONS)

    def do_return(self, words: str) -> bool:
        """Go to the end of the enclosing span, and see its value.

        Usage: r[eturn]
        Example: r
        """
        return self.move(lambda stepper: stepper.return_())

    def do_continue(self, words: str) -> bool:
        """Go on to the next breakpoint, caught condition or watched change.

        Usage: c[ont[inue]]
        Example: c
        """
        return self.move(lambda stepper: stepper.continue_())

    # --- backward ---------------------------------------------------------------------------------

    def do_rs(self, words: str) -> bool:
        """Step backward. Python is not run again: the tape is read.

        Usage: rs [n]
        Example: rs
        """
        n = number_in(words, "rs")
        if n == 1 and self.session.frame_at(self.stop) is not None and len(self.session.tape):
            return self.move(lambda stepper: stepper.goto(stepper.now))
        return self.move(lambda stepper: stepper.step_back(n))

    def do_rn(self, words: str) -> bool:
        """Go back to the sibling before, over all that lies inside.

        Usage: rn [n]
        Example: rn
        """
        n = number_in(words, "rn")
        return self.move(lambda stepper: stepper.next_back(n))

    def do_ru(self, words: str) -> bool:
        """Go back until another network depth, or what is named.

        Usage: ru [depth | phase | t=T]
        Example: ru forward
        """
        target, t = target_in(words, "ru")
        return self.move(lambda stepper: stepper.until_back(target, t=t))

    def do_rr(self, words: str) -> bool:
        """Go back to the begin of the enclosing span.

        Usage: rr
        Example: rr
        """
        return self.move(lambda stepper: stepper.return_back())

    def do_rc(self, words: str) -> bool:
        """Go back to the last breakpoint, caught condition or watched change.

        Usage: rc
        Example: rc
        """
        return self.move(lambda stepper: stepper.continue_back())

    # --- anywhere ---------------------------------------------------------------------------------

    def do_goto(self, words: str) -> bool:
        """Jump to a time, past or to come, or to where a batch or an epoch begins.

        Usage: goto T | goto [epoch N] [batch N]
        Example: goto 61

        Batches and epochs count from 0, as `info batches` shows them. `goto batch 17` is that of
        this epoch; before the first and after the last one it is that of the epoch next to here.
        """
        text = words.removeprefix("t=").strip()
        named = re.fullmatch(r"(?:epoch (\d+))? ?(?:batch (\d+))?", text) if text else None
        if named is not None:
            epoch, batch = (None if number is None else int(number) for number in named.groups())
            t = self._time_of(epoch, batch)
            return self.move(lambda stepper: stepper.goto(t))
        if not text.isdigit():
            raise ArgumentError(
                f"goto: got {words!r}; expected a time, for example `goto 61`, or a batch: "
                "`goto batch 17`, `goto epoch 2 batch 17`."
            )
        is_to_come = int(text) >= len(self.session.tape)
        self._awaited = int(text) if is_to_come else None
        return self.move(lambda stepper: stepper.goto(int(text)))

    def _time_of(self, epoch: int | None, batch: int | None) -> int:
        """Return when a batch begins, or the first one of an epoch; of several the nearest."""
        batches, here = list(self.session.tape.batches()), self.session.stepper.now
        if not batches:
            raise ArgumentError("goto: there has been no batch of `fit` up to here.")
        if epoch is None:
            before = [one for one in batches if one.t <= here]
            epoch = (before[-1] if before else batches[0]).epoch
        number = 0 if batch is None else batch
        found = [one.t for one in batches if (one.epoch, one.number) == (epoch, number)]
        if not found:
            own = [one.number for one in batches if one.epoch == epoch]
            epochs = max(one.epoch for one in batches)
            there = (
                f"epoch {epoch} has had batches 0 to {max(own)}"
                if own
                else (f"there have been epochs 0 to {epochs}")
            )
            asked = f"batch {number}" if own else f"epoch {epoch}"
            raise ArgumentError(f"goto {asked}: {there}.")
        return min(found, key=lambda t: abs(t - here))

    def complete_goto(self, text: str, *places: Any) -> list[str]:
        """Return the times at which acts and phases begin."""
        tape = self.session.tape
        begins = (e.t for e in tape if e.ph == BEGIN and e.grain in ("act", "phase"))
        return [str(t) for t in begins if str(t).startswith(text)]

    def say_never_came(self, stop: Stop) -> None:
        """Tell of a time that was to be gone to and never came."""
        awaited, self._awaited = self._awaited, None
        if awaited is not None and stop.reason is Reason.END:
            last = len(self.session.tape) - 1
            self.say(f"t={awaited} never came: the last event is t={last}")

    def do_when(self, words: str) -> None:
        """Tell where in time we are.

        Usage: when
        Example: when
        """
        event, count = self.session.stepper.event, len(self.session.tape)
        if event is None:
            place = "before the first event" if not count or self.session.stepper.now < 1 else ""
            self.say(place or f"after the last event; there are {count}")
            return
        more = "" if self.session.is_over else " so far"
        timeline = self.session.timelines.current.number
        self.say(f"t={event.t} of {count} events{more}, timeline {timeline}")
        self.say_text("   " + " > ".join(span_labels(self.session, event)))

    def do_origin(self, words: str) -> None:
        """Tell which event produced a name, a tensor or a weight.

        Usage: origin NAME
        Example: origin dense_2/out
        """
        if not words:
            raise ArgumentError("origin: which name? For example `origin total_loss`.")
        t = self.stop.t if self.stop is not None else None
        event = origin_at(self.session, words, t)
        if event is None:
            raise ArgumentError(f"origin: nothing has produced {words!r} up to here.")
        self.say(f"t={event.t}  {' > '.join(span_labels(self.session, event))}")
        self.say(f"   {sentence(event)}")

    do_s = do_step
    do_si = do_stepi
    do_n = do_next
    do_unt = do_until
    do_r = do_return
    do_c = do_cont = do_continue


# --- changing what happened: set, unset, timeline, diff -------------------------------------------

SETTINGS = ("grain", "history")
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


class ChangingCommands(Shell):
    """Commands that change what happened."""

    _live: Recording | None = None  # where the program writes, while we are on another timeline

    # --- set --------------------------------------------------------------------------------------

    def do_set(self, words: str) -> None:
        """Give a tensor another array from here on; or run the call again with no change.

        Usage: set NAME = EXPR | set again | set grain GRAIN | set history SIZE
        Example: set out = np.zeros_like(out)

        NAME is `out`, what comes out here; a tensor (dense_2/out), a layer (its output), a weight,
        or grads["dense_2/kernel"]; on the right side it is what it was. A variable that the call
        does not write itself, as lr, stays so in later calls. In the past this forks a timeline,
        and the program is not touched. `set again` forks one without a change: it must be the same
        bit for bit. `set grain op` says how fine s and n are, and `set history 1GB` how many bytes
        of events and arrays are kept.
        """
        setting, _, value = words.partition(" ")
        if setting in SETTINGS and not value.lstrip().startswith("="):
            self._set_setting(setting, value.strip())
            return
        if words.strip() == "again":
            self._change(None, "again")
            return
        found = re.fullmatch(r"([^=]+?)\s*=(?!=)\s*(.+)", words.strip(), re.DOTALL)
        if found is None:
            near = did_you_mean(setting, (*SETTINGS, "again")) if "=" not in words else ""
            raise ArgumentError(
                f"set: got {words.strip()!r}. {near}Expected NAME = EXPR, for example "
                "`set out = np.zeros_like(out)`."
            )
        new = value_of(found[2], self._names_for_set(found[1]), "set")
        self._change(Override(self._here().t, found[1], new, f"{found[1]} = {found[2]}"), found[1])

    def complete_set(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """Return settings, grains, or names of what can be set."""
        before_it = line[:begin].split()
        if before_it[1:] == ["grain"]:
            return [grain for grain in GRAINS if grain.startswith(text)]
        settings = [word for word in (*SETTINGS, "again") if word.startswith(text)]
        names = self.completedefault(text, line, begin, end)
        return [*(settings if len(before_it) == 1 else []), *names]

    def _names_for_set(self, name: str) -> NamesAtStop:
        """Return the names for the right side of `set x = ...`, where `x` is what is replaced.

        A layer's name may be that of a symbol in the script too: there it means the array.
        """
        names = self.names()
        is_number = isinstance(names.get(name), np.ndarray | np.generic | int | float)
        if name.isidentifier() and not is_number:
            array = names.find(name)
            names.update({} if array is None else {name: array})
        return names

    def _set_setting(self, setting: str, value: str) -> None:
        if setting == "grain":
            if value:
                self.session.stepper.grain = value
            self.say(f"grain {self.session.stepper.grain}")
            return
        tape = self.session.tape
        if value:
            tape.history = bytes_of(value)
        limit = "no limit" if tape.history is None else f"{tape.history:,} bytes"
        least = ""
        if tape.history is not None and tape.held > tape.history:
            least = f" (events are kept up to {LEAST_FOR_EVENTS:,} bytes, however small it is)"
        self.say_text(f"history {limit}, of events and arrays; {tape.held:,} are held{least}")

    def _here(self) -> Event:
        event = self.session.stepper.event
        if event is None:
            raise ArgumentError("set: here is no event; `rs` goes back to the last one.")
        return event

    def _recorder(self, command: str) -> Recorder:
        recorder = self.session.recorder
        if recorder is None:
            raise ArgumentError(
                f"{command}: this is a tape that was saved; the model is not here to be run again."
            )
        return recorder

    def _change(self, change: Override | None, name: str) -> None:
        """Go on with another array: live where the program stands here, else on a new timeline."""
        event, recorder = self._here(), self._recorder("set")
        tape = self.session.tape
        is_live = self._is_running() and tape is recorder.tape and event.t == len(tape) - 1
        if is_live and change is not None and self._set_weight(recorder, change):
            return
        call = call_at(recorder, tape, event.t)
        shown, slot = "", -1
        if change is not None:
            slot = slot_of(call.plan, name, event)
            shown = name_of(call.plan, slot)
            change = change._replace(name=shown)
        if is_live and change is not None:
            made = self._change_live(recorder, call, change)
        else:
            made = self._fork(recorder, call, change)
        readers = _readers(tape, call, slot, event.t) if shown else []
        variable = tensor_of(call.plan, slot) if shown else None
        before = "overridden " + shown + (" @" if self.ascii_only else " ◆") if shown else "again"
        parent = made.parent.number if made.parent else 1
        self.say(f"{before}  timeline {made.number} starts at t={event.t}, timeline {parent} kept")
        if readers:
            names = listed(readers, 3)
            self.say(f"   read before by {names}; only what comes later reads the new one")
        is_written = any(variable is update.variable for update in call.function.updates)
        if isinstance(variable, Variable) and made.tape is recorder.tape and not is_written:
            self.say(f"   {variable.name} stays {short_text(variable.get_value())} in later calls")
        if self._is_running() and made.tape is not recorder.tape:
            live = next(x.number for x in self.session.timelines if x.tape is recorder.tape)
            self.say(f"   the program waits: `timeline {live}` goes back to it")

    def _is_running(self) -> bool:
        """Tell whether there is a program that has not ended."""
        source = self.session.stepper.source
        on_own = self.session.recorder and source.tape is not self.session.recorder.tape
        source = self._live if on_own and self._live is not None else source
        return not source.ended

    def _set_weight(self, recorder: Recorder, change: Override) -> bool:
        """Give a weight another value between two calls of functions; False inside of one."""
        spans = recorder.tape.spans_at(change.t)
        if any(span.kind == "function" for span in spans):
            return False
        known = [v for v in recorder.memory.values if v.name == change.name]
        if not known:
            return False
        if len(known) > 1:
            raise ArgumentError(
                f"set: {len(known)} variables have the name {change.name!r}. Set it in a call that "
                "reads the one that is meant, `b run:phase:forward` then c; or write "
                f"`!K.set_value(model.optimizer.{change.name}, ...)` with the model's own name."
            )
        weight = known[0]
        weight.commit(fitted(change.value, weight, weight.get_value(borrow=True)))
        self.say(f"{weight.name} is {short_text(weight.get_value())} from the next call on")
        return True

    def _change_live(self, recorder: Recorder, call: Call, change: Override) -> Timeline:
        """Put the array into the paused call; what would have been is finished aside."""
        timelines, tape = self.session.timelines, recorder.tape
        until_now: list[Event] = list(tape)
        # What was changed at this very event is in force already, and cannot be undone.
        with_it = [other for other in timelines.current.overrides if other.t == change.t]
        try:
            aside = rerun(recorder, tape, call, [*self._earlier(call, change.t), *with_it])
        except ArgumentError:
            aside = Tape(until_now, tape.history)  # too little is left to know what would have been
        override(recorder, change.name, change.value)
        timelines.complete(aside)
        return timelines.fork(change.t, [*with_it, change], tape)

    def _fork(self, recorder: Recorder, call: Call, change: Override | None) -> Timeline:
        """Run the call again on a timeline of its own, and stand on it."""
        t, tape = self._here().t, self.session.tape
        changes = [] if change is None else [change]
        made_tape = rerun(recorder, tape, call, [*self._earlier(call, t), *changes])
        made = self.session.timelines.fork(t, changes, made_tape)
        self._stand_on(made, t)
        return made

    def _earlier(self, call: Call, t: int) -> list[Override]:
        """Return the changes before a time in a call, which hold on the new timeline too."""
        current = self.session.timelines.current
        return [change for change in current.overrides if call.begin <= change.t < t]

    def _stand_on(self, timeline: Timeline, t: int) -> None:
        stepper, recorder = self.session.stepper, self.session.recorder
        if recorder is not None and stepper.tape is recorder.tape:
            self._live = stepper.source
        is_live = recorder is not None and timeline.tape is recorder.tape
        source = self._live if is_live and self._live is not None else Recording(timeline.tape)
        stop = stepper.switch(source, min(t, len(timeline.tape) - 1))
        if stop is not None:
            self.stop = stop

    def do_unset(self, words: str) -> None:
        """Take the last change back: go to the timeline on which it was not made.

        Usage: unset
        Example: unset

        A program that has gone on with a change cannot be called back: its timeline stays, and the
        one without the change is that which was finished aside.
        """
        current = self.session.timelines.current
        if current.parent is None or current.forked_at is None:
            raise ArgumentError("unset: nothing was changed on this timeline.")
        self.go_to(self.session.timelines.get(current.parent.number), current.forked_at)

    # --- timelines --------------------------------------------------------------------------------

    def do_timeline(self, words: str) -> None:
        """List the timelines, or go to one.

        Usage: timeline [n]
        Example: timeline 1

        A program that is running writes on one of them; only from there `c` lets it go on.
        """
        timelines, recorder = self.session.timelines, self.session.recorder
        if not words.strip():
            for one in timelines:
                sign = "*" if one is timelines.current else " "
                is_live = recorder is not None and one.tape is recorder.tape
                words = f"{sign} {one.number}  {len(one.tape)} events"
                if one.parent is not None:
                    words += f", from {one.parent.number} at t={one.forked_at}"
                words += ", the program's" if is_live and self._is_running() else ""
                self.say(words + "".join(f"\n     set {o.text or o.name}" for o in one.overrides))
            return
        if not words.strip().isdigit():
            raise ArgumentError(f"timeline: got {words!r}; expected a number: timeline 1.")
        t = self.stop.t if self.stop is not None else 0
        self.go_to(timelines.get(int(words)), t)

    def go_to(self, timeline: Timeline, t: int) -> None:
        """Stand on a timeline at a time, and show it."""
        self._stand_on(timeline, t)
        self.session.timelines.switch(timeline.number)
        if self.stop is not None:
            self.show(self.stop)

    def do_diff(self, words: str) -> None:
        """Tell the first difference of two timelines, and how many ops differ.

        Usage: diff n m
        Example: diff 1 2
        """
        numbers = words.replace(",", " ").split()
        if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
            raise ArgumentError(f"diff: got {words!r}; expected two timelines: diff 1 2.")
        one, other = (self.session.timelines.get(int(n), "diff") for n in numbers)
        found = self.session.timelines.difference(one.number, other.number)
        self.say(str(found))
        last = min(len(one.tape), len(other.tape)) - 1
        if not found and len(one.tape) != len(other.tape):
            self.say(f"   up to t={last}, where the shorter one ends")
        if found:
            entry, *values = entry_that_differs(*found.found.values)
            for timeline, value in zip((one, other), values, strict=True):
                self.say(f"   {timeline.number}: {entry}{short_text(value)}")


def _readers(tape: Tape, call: Call, slot: int, t: int) -> list[str]:
    """Return the ops of a call that have read a slot until a time."""
    names = {planned.name for planned in call.plan.steps if slot in planned.step.inputs}
    past: list[Event] = tape[call.begin : t + 1]
    return [e.name for e in past if e.kind == "op" and e.ph == END and e.name in names]


def bytes_of(text: str) -> int | None:
    """Return how many bytes "256MB" means; None for "none".

    Raises
    ------
    ArgumentError
        It is no size.

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
        raise ArgumentError(f"set history: got {text!r}; expected a size: 256MB, 1GB, or none.")
    return int(found[1]) * UNITS[unit]
