"""Commands that move in time: forward, backward, or to any event.

The first part finds the event that produced a name, for the command `origin`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kerascope.debugger.commands import command
from kerascope.debugger.evaluating import LIVES_IN
from kerascope.debugger.places import users_line
from kerascope.debugger.rendering import sentence, span_labels
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell, number_in
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event
from kerascope.trace.history import OF_THE_OUTPUT, runs_of, value_of_event
from kerascope.trace.selectors import (
    ACTS,
    FUNCTIONS,
    PHASES,
    BatchAddress,
    parse_address,
)
from kerascope.trace.stepper import Reason, Stop
from kerascope.trace.tape_store import Tape

# --- which event produced a name ------------------------------------------------------------------
# `out` is not a name on the tape: it is the output of the event at the stop, as `p out` shows it.
# All other names are looked up on the tape, backward from the stop.


def origin_at(session: Session, name: str, t: int | None) -> Event | None:
    """Return the event that produced a name's value at a stop, or None if this event is unknown.

    Raises
    ------
    ArgumentError
        The name is one of the Keras source, and no event has produced its value so far.
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
    """Return the last event up to time `t` that assigned a name of the Keras source.

    An event that is only called `name`, such as the call of a layer with this name, does not count.
    Return None if no event assigned the name, or if the tape may have dropped the event.
    """
    for event in tape.back(t):
        if event.kind == FORGOTTEN:
            return None
        if _gives(event, name):
            return event
    return None


def _origin_of_output(tape: Tape, event: Event, name: str) -> Event:
    """Return the innermost event that has the output of `event`, which may be `event` itself."""
    value = value_of_event(event, *OF_THE_OUTPUT)
    if value is None or event.ph == BEGIN:
        raise ArgumentError(
            f"origin: {name!r} is None here: the span has not ended. `r` goes to its end."
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
    """Return the target of `until` as (network depth or phase, time).

    The item that the target does not give is None. Without a target, both items are None.
    """
    if not words:
        return None, None
    if words.startswith("t=") and words[2:].strip().isdigit():
        return None, int(words[2:])
    if words.removeprefix("depth").strip().isdigit():
        return int(words.removeprefix("depth")), None
    if words.removeprefix("phase").strip() in (*PHASES, *ACTS):
        return words.removeprefix("phase").strip(), None
    if words.isidentifier():
        return words, None  # the stepper's error lists the phases
    raise ArgumentError(
        f"{command}: expected nothing, a network depth (`{command} 2`), a phase (`{command} "
        f"backward`) or a time (`{command} t=61`), got {words!r}. For other targets: `tbreak "
        f"{words}`, then `{'rc' if command == 'ru' else 'c'}`."
    )


@dataclass
class AwaitedTime:
    """The future time that `goto` continues to; None if no `goto` is under way."""

    t: int | None = None


# --- forward --------------------------------------------------------------------------------------


@command("step", "s", group="forward", moves=True)
def step(debugger: Shell, words: str) -> bool:
    """Go to the next event of the current grain (`set grain op` makes it finer).

    Usage: s[tep] [n]
    Example: s 3
    """
    n = number_in(words, "step")
    return debugger.move(lambda stepper: stepper.step(n))


@command("stepi", "si", group="forward", moves=True)
def stepi(debugger: Shell, words: str) -> bool:
    """Go to the next event of any grain, including the finest.

    Usage: stepi [n]
    Example: stepi
    """
    n = number_in(words, "stepi")
    return debugger.move(lambda stepper: stepper.stepi(n))


@command("next", "n", group="forward", moves=True)
def next_(debugger: Shell, words: str) -> bool:
    """Go to the next event, skipping those inside this one; at most to the enclosing span's end.

    Usage: n[ext] [n]
    Example: n
    """
    n = number_in(words, "next")
    return debugger.move(lambda stepper: stepper.next(n))


@command("until", "unt", group="forward", moves=True, completes=(*PHASES, *ACTS, *FUNCTIONS))
def until(debugger: Shell, words: str) -> bool:
    """Continue to the next network depth, or to a phase, act, function or time.

    Usage: unt[il] [depth | phase | act | function | t=T]
    Example: unt backward
    """
    target, t = target_in(words, "until")
    return debugger.move(lambda stepper: stepper.until(target, t=t))


@command("return", "r", group="forward", takes_words=False, moves=True)
def return_(debugger: Shell, words: str) -> bool:
    """Go to the end of the enclosing span, and show the span's result.

    Usage: r[eturn]
    Example: r
    """
    return debugger.move(lambda stepper: stepper.return_())


@command("continue", "c", "cont", group="forward", takes_words=False, moves=True)
def continue_(debugger: Shell, words: str) -> bool:
    """Continue to the next breakpoint, caught condition or watched change.

    Usage: c[ont[inue]]
    Example: c
    """
    return debugger.move(lambda stepper: stepper.continue_())


# --- backward -------------------------------------------------------------------------------------


@command("rs", group="backward", moves=True)
def rs(debugger: Shell, words: str) -> bool:
    """Step backward. The tape is read, and Python is not run again.

    Usage: rs [n]
    Example: rs
    """
    n, session = number_in(words, "rs"), debugger.session
    if n == 1 and session.frame_at(debugger.stop) is not None and len(session.tape):
        return debugger.move(lambda stepper: stepper.goto(stepper.now))
    return debugger.move(lambda stepper: stepper.step_back(n))


@command("rn", group="backward", moves=True)
def rn(debugger: Shell, words: str) -> bool:
    """Go back to the previous event, skipping the events inside it.

    Usage: rn [n]
    Example: rn
    """
    n = number_in(words, "rn")
    return debugger.move(lambda stepper: stepper.next_back(n))


@command("ru", group="backward", moves=True, completes=(*PHASES, *ACTS, *FUNCTIONS))
def ru(debugger: Shell, words: str) -> bool:
    """Go back to another network depth, or to a phase or time.

    Usage: ru [depth | phase | t=T]
    Example: ru forward
    """
    target, t = target_in(words, "ru")
    return debugger.move(lambda stepper: stepper.until_back(target, t=t))


@command("rr", group="backward", takes_words=False, moves=True)
def rr(debugger: Shell, words: str) -> bool:
    """Go back to the start of the enclosing span.

    Usage: rr
    Example: rr
    """
    return debugger.move(lambda stepper: stepper.return_back())


@command("rc", group="backward", takes_words=False, moves=True)
def rc(debugger: Shell, words: str) -> bool:
    """Go back to the last breakpoint, caught condition or watched change.

    Usage: rc
    Example: rc
    """
    return debugger.move(lambda stepper: stepper.continue_back())


# --- anywhere -------------------------------------------------------------------------------------


def _times(debugger: Shell, text: str, *places: Any) -> list[str]:
    """Return the completions of `text` for `goto`: times at which an act or a phase begins."""
    tape = debugger.session.tape
    begins = (e.t for e in tape if e.ph == BEGIN and e.grain in ("act", "phase"))
    return [str(t) for t in begins if str(t).startswith(text)]


@command("goto", group="in time", moves=True, completes=_times)
def goto(debugger: Shell, words: str) -> bool:
    """Go to a time, past or future, or to the start of a batch or an epoch.

    Usage: goto T | goto [fit N] [epoch N] [batch N] [of MODEL]
    Example: goto 61

    Batches and epochs count from 0 and fits from 1, as in `info batches`. `goto batch 17` goes to
    batch 17 of the current model and epoch; outside of all epochs, of the nearest epoch.
    `goto batch 17 of D` chooses one of several models.
    """
    text = words.removeprefix("t=").strip()
    address = parse_address(" ".join(text.split()), "goto")
    if address is not None:
        t = time_of_batch(debugger, address)
        return debugger.move(lambda stepper: stepper.goto(t))
    if not text.isdigit():
        raise ArgumentError(
            "goto: expected a time, for example `goto 61`, or a batch, `goto batch 17`, `goto "
            "epoch 2 batch 17`, `goto batch 17 of D` or `goto fit 1 epoch 2 batch 17 of D`, got "
            f"{words!r}."
        )
    is_to_come = int(text) >= len(debugger.session.tape)
    debugger.state(AwaitedTime).t = int(text) if is_to_come else None
    return debugger.move(lambda stepper: stepper.goto(int(text)))


def time_of_batch(debugger: Shell, address: BatchAddress, command: str = "goto") -> int:
    """Return the time at which a batch begins; for an epoch, the time of its first batch.

    If several batches match, prefer those of the model that is trained at the current time, then
    the nearest one.
    """
    tape, here = debugger.session.tape, debugger.session.stepper.now
    every = list(tape.batches())
    if not every:
        raise ArgumentError(f"{command}: `fit` has trained on no batch up to here.")
    batches = [one for one in every if address.model in ("", one.model)]
    if not batches:
        models = dict.fromkeys(one.model for one in every)
        near = did_you_mean(address.model, models)
        raise ArgumentError(
            f"{command}: there is no batch of a model {address.model!r}. {near}"
            f"Models with batches: {', '.join(models)}."
        )
    if address.fit is not None:
        fits = runs_of(tape, len(tape)).fits
        begun = fits[address.fit - 1 : address.fit]
        batches = [one for one in batches if [one.fit] == begun]
        if not batches:
            whose = f" of {address.model}" if address.model else ""
            raise ArgumentError(
                f"{command} fit {address.fit}: this fit has no batch{whose}. Fits so far: "
                f"{len(fits)}, counted from 1."
            )
    epoch, number = address.epoch, address.batch or 0
    last = max((one for one in every if one.t <= here), default=every[0])
    if epoch is None:
        is_elsewhere = address.fit is not None and last not in batches
        before = [one for one in batches if one.t <= here and not is_elsewhere]
        epoch = (before[-1] if before else batches[0]).epoch
    found = [one for one in batches if (one.epoch, one.number) == (epoch, number)]
    if not found:
        own = [one.number for one in batches if one.epoch == epoch]
        epochs = max(one.epoch for one in batches)
        there = (
            f"epoch {epoch} has had batches 0 to {max(own)}"
            if own
            else (f"there have been epochs 0 to {epochs}")
        )
        asked = f"batch {number}" if own else f"epoch {epoch}"
        raise ArgumentError(f"{command} {asked}: {there}.")
    return min(found, key=lambda one: (one.model != last.model, abs(one.t - here))).t


def say_never_came(debugger: Shell, stop: Stop) -> None:
    """Print a message if the time that `goto` waited for was never reached."""
    found = debugger.state(AwaitedTime)
    awaited, found.t = found.t, None
    if awaited is not None and stop.reason is Reason.END:
        last = len(debugger.session.tape) - 1
        debugger.say(f"t={awaited} never came: the last event is t={last}")


@command("when", group="in time", takes_words=False)
def when(debugger: Shell, words: str) -> None:
    """Show the current time: the event, its timeline and its enclosing spans.

    Usage: when
    Example: when
    """
    event, count = debugger.session.stepper.event, len(debugger.session.tape)
    if event is None:
        place = "before the first event" if not count or debugger.session.stepper.now < 1 else ""
        debugger.say(place or f"after the last event; there are {count}")
        return
    more = "" if debugger.session.is_over else " so far"
    timeline = debugger.session.timelines.current.number
    debugger.say(f"t={event.t} of {count} events{more}, timeline {timeline}")
    debugger.say_text("   " + " > ".join(span_labels(debugger.session, event)))


@command("origin", group="in time")
def origin(debugger: Shell, words: str) -> None:
    """Show which event produced a name, a tensor or a weight.

    Usage: origin NAME
    Example: origin dense_2/out
    """
    if not words:
        raise ArgumentError("origin: expected a name. For example: `origin total_loss`.")
    t = debugger.stop.t if debugger.stop is not None else None
    event = origin_at(debugger.session, words, t)
    if event is None:
        raise ArgumentError(f"origin: nothing has produced {words!r} up to here.")
    debugger.say(f"t={event.t}  {' > '.join(span_labels(debugger.session, event))}")
    debugger.say(f"   {sentence(event)}")
    line = users_line(event.where)
    if line:
        debugger.say_line(f"   {line}")
