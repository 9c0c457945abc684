"""Commands that change what happened: set, unset, timeline, diff.

`set NAME = EXPR` gives a tensor another array from this time on. Where the program is paused at
this very time, it goes on with that array: this is a new timeline, and the old one is finished
aside, as it would have gone on. In the past, the call of the function is run again aside, up to its
end, and the program is not touched. Either way both histories are kept: `diff 1 2`.
"""

from __future__ import annotations

import re

from kerascope.debugger.evaluating import value_of
from kerascope.debugger.rendering import short_text
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import END, Event
from kerascope.trace.function_plan import fitted, name_of, slot_of
from kerascope.trace.recorder import Recorder
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
    rerun,
)

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
        or grads["dense_2/kernel"]. In the past this forks a timeline. `set again` forks one without
        a change: it must be the same bit for bit. `set grain op` says how fine s and n are, and
        `set history 1GB` how many bytes of events and arrays are kept.
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
        new = value_of(found[2], self.names(), "set")
        self._change(Override(self._here().t, found[1], new, f"{found[1]} = {found[2]}"), found[1])

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
        if is_live and change is not None and event.t > call.first_op:
            made = self._change_live(recorder, call, change)
        else:
            made = self._fork(recorder, call, change)
        readers = _readers(tape, call, slot, event.t) if shown else []
        before = "overridden " + shown + (" @" if self.ascii_only else " ◆") if shown else "again"
        parent = made.parent.number if made.parent else 1
        self.say(f"{before}  timeline {made.number} starts at t={event.t}, timeline {parent} kept")
        if readers:
            names = listed(readers, 3)
            self.say(f"   read before by {names}; only what comes later reads the new one")
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
        known = {v.name: v for v in recorder.memory.values}
        if change.name not in known:
            return False
        weight = known[change.name]
        weight.commit(fitted(change.value, weight, weight.get_value(borrow=True)))
        self.say(f"{weight.name} is {short_text(weight.get_value())} from the next call on")
        return True

    def _change_live(self, recorder: Recorder, call: Call, change: Override) -> Timeline:
        """Put the array into the paused call; what would have been is finished aside."""
        timelines, tape = self.session.timelines, recorder.tape
        until_now: list[Event] = list(tape)
        try:
            aside = rerun(recorder, tape, call, self._earlier(call, change.t))
        except ArgumentError:
            aside = Tape(until_now, tape.history)  # too little is left to know what would have been
        override(recorder, change.name, change.value)
        timelines.complete(aside)
        return timelines.fork(change.t, [change], tape)

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
            for timeline, value in zip((one, other), found.found.values, strict=True):
                self.say(f"   {timeline.number}: {short_text(value)}")


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
