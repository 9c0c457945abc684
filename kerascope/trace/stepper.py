"""The stepper: a place in time, and how it moves; what `bdb` is to `pdb`. Nothing is printed here.

The stepper stands at an event. A verb (`step`, `next`, ...) makes a *plan* and then
events pass, one by one. Of each is asked `should_stop`: is it a breakpoint's, does a caught
condition hold, has a watched value changed, is the plan met? It is the same question whether the
tape is read or the program runs, forward and backward::

    past                      now                 end of the tape
    |--- read backward ---|   ^   |--- read on ---|--- the program runs on --->

A verb returns a `Stop`. Where the program cannot be run from here, because it is what called us
(`LiveDriver`), the verb returns None: the plan is kept, and the program must go on.

At the begin of a span (`--Call--`) we stand both at the line that calls and in what is called:
`next` goes over the span, `step` into it, and `return` to its end.

`step`, `next`, `until`, `return` and `continue` differ in nothing but their plan: does the movement
end at this event? An event of a finer grain than the plan's is passed over. `next` is answered from
the place of the line that calls, so it goes over the span that begins there, to its sibling, or to
the end of the span around both.

Two drivers move one stepper: a program that runs, and a tape that is read. Both ask a *prompt* at
each stop. A prompt is given the `Stop` and answers with an *order*: a function that is given the
stepper and calls one of its verbs; or None, to be asked no more. So the same orders make the same
stops, whether they are given to `LiveDriver` or to `replay`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import count
from math import inf
from sys import maxsize
from typing import Any, NamedTuple, Protocol

from kerascope.backend.program.alarms import KINDS
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.breakpoints import (
    Breakpoint,
    Breakpoints,
    Change,
    Watches,
    batches_concerned,
    losses_asked,
)
from kerascope.trace.conditions import Catches, Finding
from kerascope.trace.events import BEGIN, END, FORGOTTEN, GRAINS, SKIPPED, Event, first_time
from kerascope.trace.expressions import (
    Expression,
    names_of_event,
    value_named,
    values_named,
    weights_written,
)
from kerascope.trace.history import History, before, event_or_mark, value_of_span
from kerascope.trace.selectors import (
    ACTS,
    FUNCTIONS,
    LOSS_NAMES,
    PHASES,
    network_depth_of,
    phase_meant,
)
from kerascope.trace.tape_memory import describe_mark

# --- stops ----------------------------------------------------------------------------------------


class Reason(StrEnum):
    """Why it stops."""

    STEP = "step"
    GOTO = "goto"
    BREAKPOINT = "breakpoint"
    CATCH = "catch"
    WATCH = "watch"
    FORGOTTEN = "forgotten"
    INTERRUPT = "interrupt"
    SET_TRACE = "set_trace"
    BEGIN = "begin of history"
    END = "end of history"


@dataclass(frozen=True)
class Stop:
    """A stop.

    Attributes
    ----------
    t : int
        When; -1 before the first event.
    reason : Reason
        The first that holds of breakpoint, catch, watch and step.
    event : Event or None
        Where. At the end of history the last event; at its begin none.
    breakpoint : Breakpoint or None
        That was hit.
    findings : tuple of Finding
        That conditions caught.
    changes : tuple of Change
        Of watched values.
    error : str
        What the breakpoint's condition raised, if it did.
    """

    t: int
    reason: Reason
    event: Event | None
    breakpoint: Breakpoint | None = None
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    error: str = ""

    @property
    def word(self) -> str:
        """What pdb says: "--Call--" at the begin of a span, "--Return--" at its end, else ""."""
        words = {BEGIN: "--Call--", END: "--Return--"}
        return words.get(self.event.ph, "") if self.event else ""


# --- plans ----------------------------------------------------------------------------------------


RANKS = {grain: rank for rank, grain in enumerate(GRAINS)}


@dataclass(frozen=True)
class Plan:
    """What a movement stops at; this one at nothing by itself: `continue`.

    Attributes
    ----------
    backward : bool
        Whether it goes back in time.
    count : int
        How many stops are still to come, the last of which is shown.
    """

    backward: bool = False
    count: int = 1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        return False

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return -inf if self.backward else inf

    def after(self, event: Event) -> Plan:
        """Return the plan that is left when one of several stops was met."""
        return replace(self, count=self.count - 1)


def _unless(is_met: bool, plan: Plan) -> float:
    """Return how far a plan goes on that is met at once, or never, inside of spans."""
    return -inf if is_met != plan.backward else inf


@dataclass(frozen=True)
class Step(Plan):
    """Any event that is not finer than the grain of rank `rank`."""

    rank: int = len(GRAINS)

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return _unless(True, self)

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        return RANKS[event.grain] <= self.rank


@dataclass(frozen=True)
class Next(Step):
    """The next sibling of an event at `depth`, or the end of the span around it.

    Backward: the sibling before it, or the begin of the span around it.
    """

    depth: int = 0

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        if RANKS[event.grain] > self.rank:
            return False
        if self.backward:
            return event.ph != END and event.depth <= self.depth
        return event.depth < self.depth or (event.depth == self.depth and event.ph != END)

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return _unless(depth <= self.depth, self)

    def after(self, event: Event) -> Plan:
        """Return the plan that is left when one of several stops was met."""
        return replace(next_from(event, self.rank, self.backward), count=self.count - 1)


def next_from(event: Event | None, rank: int, backward: bool = False) -> Next:
    """Return the plan of `next` from an event; before all of them it is a step.

    The way back from an end goes to the last line inside of the span that ended.
    """
    if event is None:
        return Next(backward, rank=rank, depth=0 if backward else maxsize)
    inside = backward and event.ph == END
    return Next(backward, rank=rank, depth=event.depth + inside)


@dataclass(frozen=True)
class Return(Plan):
    """The end of a span at `depth`; backward its begin."""

    depth: int = -1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        return event.ph == (BEGIN if self.backward else END) and event.depth <= self.depth

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return _unless(depth <= self.depth, self)


def return_from(event: Event | None, rank: int, backward: bool = False) -> Plan:
    """Return the plan of `return` from an event.

    At the begin of a span `return` ends it, as pdb's does at `--Call--`. At an end it goes on in
    the span around, as pdb's does at `--Return--`.
    """
    if event is None:
        return Return(backward)
    if event.ph == END and not backward:
        return next_from(event, rank)
    own = event.ph == (END if backward else BEGIN)
    return Return(backward, depth=event.depth if own else event.depth - 1)


@dataclass(frozen=True)
class UntilTime(Plan):
    """The first event at time `t` or beyond it."""

    t: int = 0

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        return event.t <= self.t if self.backward else event.t >= self.t

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return self.t + 1 if self.backward else self.t - 1


@dataclass(frozen=True)
class GoTo(UntilTime):
    """A jump to a time, past all that would stop elsewhere."""


@dataclass(frozen=True)
class UntilPhase(Plan):
    """The begin of a phase, of an act or of a model's function."""

    phase: str = ""

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        if self.phase in FUNCTIONS:
            return event.kind == "function" and event.ph != END and event.name == self.phase
        return event.kind == self.phase and event.ph != END and event.grain in GRAINS[:2]

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return _unless(True, self)


@dataclass(frozen=True)
class UntilDepth(Plan):
    """An event at network depth `wanted`, or at any but `left`, of whatever grain.

    Attributes
    ----------
    wanted, left : int or None
        Depths of the network.
    around : int
        Depth, among the spans, of the phase in which it began; -1 for none. It ends there at the
        latest, as pdb's `until` does when the function returns.
    """

    wanted: int | None = None
    left: int | None = None
    around: int = -1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        if event.depth <= self.around and event.ph == (BEGIN if self.backward else END):
            return True
        if event.ph == END:
            return False
        depth = network_depth_of(event)
        if self.wanted is not None:
            return depth == self.wanted
        return depth is not None and depth != self.left

    def earliest_hit(self, depth: int) -> float:
        """Return up to which time it cannot be met inside of spans at a depth."""
        return _unless(True, self)


# --- where events come from -----------------------------------------------------------------------


class Events(History, Protocol):
    """What a tape is to the stepper."""

    def __len__(self) -> int: ...

    def names_at(self, t: int) -> Mapping[str, Any]:
        """Return the names at a time."""


@dataclass
class Recording:
    """Where events come from: a tape that was recorded.

    Attributes
    ----------
    tape : Events
        The events so far; event t has place t.
    ended : bool
        Whether no more can come.
    """

    tape: Events
    ended: bool = True


@dataclass
class Running(Recording):
    """A source that grows by itself: the program runs, and calls a `LiveDriver` at each event."""

    ended: bool = False


# --- the stepper ----------------------------------------------------------------------------------


CONTINUE = Plan()


class Passage(NamedTuple):
    """What a movement may pass.

    Attributes
    ----------
    until : float
        Up to which time; backward from which time on.
    but : frozenset of int
        The numbers of batches that it may not pass.
    catching : frozenset of str
        Numbers ("nan", "inf") that may come into being in nothing of it.
    losses : tuple of Expression
        Conditions that the loss of nothing of it may meet.
    """

    until: float
    but: frozenset[int] = frozenset()
    catching: frozenset[str] = frozenset()
    losses: tuple[Expression, ...] = ()

    def meets(self, outs: Any) -> bool:
        """Return whether what a call gives, its loss first, meets one of the conditions."""
        loss = outs[0] if isinstance(outs, (list, tuple)) else outs
        return any(condition.may_hold_for(loss) for condition in self.losses)


class Stepper:
    """Moves in time.

    Parameters
    ----------
    source : Recording
    grain : str
        The finest grain that `step` and `next` stop at.

    Attributes
    ----------
    breakpoints : Breakpoints
    catches : Catches
    watches : Watches
    plan : Plan
        What the movement under way stops at; `continue` while nothing else is asked.
    extra_names : mapping
        Names for expressions, besides those of the tape and of the event: `model`, `K`.

    Notes
    -----
    Beyond the last event of a program that has ended lies the end of history, and before the first
    event its begin. They are places of their own, so a step back from the end shows the last event.
    """

    def __init__(self, source: Recording, grain: str = "node") -> None:
        self.source = source
        self.grain = grain
        numbers = count(1)
        self.breakpoints = Breakpoints(numbers)
        self.watches = Watches(numbers)
        self.catches = Catches()
        self.plan: Plan = CONTINUE
        self.extra_names: MutableMapping[str, Any] = {}
        self._place = -1  # before the first event
        self._interrupted = False

    # --- where it stands --------------------------------------------------------------------------

    @property
    def grain(self) -> str:
        """The finest grain that `step` and `next` stop at."""
        return self._grain

    @grain.setter
    def grain(self, grain: str) -> None:
        if grain not in GRAINS:
            near = did_you_mean(grain, GRAINS)
            raise ArgumentError(f"grain: got {grain!r}. {near}Expected one of {', '.join(GRAINS)}.")
        self._grain = grain

    @property
    def tape(self) -> Events:
        """The events so far."""
        return self.source.tape

    @property
    def now(self) -> int:
        """The time at which it stands, or last stood; -1 if nothing has happened yet."""
        return min(max(self._place, 0), len(self.tape) - 1)

    @property
    def event(self) -> Event | None:
        """The event at which it stands; None at the begin and the end of history."""
        return self.tape[self._place] if 0 <= self._place < len(self.tape) else None

    def names(self, t: int | None = None) -> dict[str, Any]:
        """Return the names that an expression may use, now or at another time."""
        t = self.now if t is None else t
        if not 0 <= t < len(self.tape):
            return {**self.extra_names, **names_of_event(None)}
        event = self.tape[t]
        names = {**self.extra_names, **self.tape.names_at(t), **names_of_event(event)}
        if "model" in self.extra_names:
            names["model"] = self.extra_names["model"]  # itself, not what the tape tells of it
        names["ins"] = value_of_span(event, self.tape, "inputs")
        return names

    def names_for(self, expression: Expression, t: int) -> dict[str, Any]:
        """Return the names for an expression; to rebuild those of the tape takes time."""
        if expression.is_of_the_event:
            return names_of_event(self.tape[t] if 0 <= t < len(self.tape) else None)
        return self._with_tensors(expression, self.names(t), t)

    def names_to_watch(self, expression: Expression, t: int) -> dict[str, Any]:
        """Return the names for a watch: in a commit one weight changes after another."""
        if expression.is_of_the_event:
            return self.names_for(expression, t)
        names, weights = self.names(t), weights_written(self.tape, t)
        if weights is not None:
            names["weights"] = weights
        return self._with_tensors(expression, names, t, weights)

    def _with_tensors(
        self,
        expression: Expression,
        names: dict[str, Any],
        t: int,
        weights: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return names with the arrays of the tensors that an expression names."""

        def find(name: str) -> Any:
            return value_named(self.tape, name, t, weights)

        asked = expression.names.intersection(LOSS_NAMES)
        loss = find(LOSS_NAMES[0]) if asked else None
        if loss is not None:  # a script may have one too: that of its batch before, or a function
            names = {**names, **dict.fromkeys(asked, loss)}
        return {**names, **values_named(expression.text, expression.names, names, find)}

    # --- forward ----------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Stop | None:
        """Go to the n-th next event of the current grain or a coarser one."""
        return self._move(Step(count=_checked("step", n), rank=RANKS[self.grain]))

    def stepi(self, n: int = 1) -> Stop | None:
        """Go to the n-th next event of any grain."""
        return self._move(Step(count=_checked("stepi", n)))

    def next(self, n: int = 1) -> Stop | None:
        """Go to the n-th next sibling, over what lies inside; or to the end of the span around."""
        return self._move(self._next(n, backward=False))

    def until(self, target: int | str | None = None, *, t: int | None = None) -> Stop | None:
        """Go on until a network depth, a phase or a time; by default to the next network depth.

        Parameters
        ----------
        target : int, str or None
            A network depth, or the name of a phase or an act.
        t : int, optional
            A time, instead.

        Notes
        -----
        It also stops where the phase around ends, if a network depth is looked for.
        """
        return self._move(self._until(target, t, backward=False))

    def return_(self) -> Stop | None:
        """Go to the end of the enclosing span: of the one that begins here, at a begin."""
        return self._move(return_from(self.event, RANKS[self.grain]))

    def continue_(self) -> Stop | None:
        """Go on to the next breakpoint, caught condition or watched change."""
        return self._move(CONTINUE)

    # --- backward ---------------------------------------------------------------------------------

    def step_back(self, n: int = 1) -> Stop:
        """Go to the n-th event before of the current grain or a coarser one."""
        return self._back(Step(True, _checked("rs", n), rank=RANKS[self.grain]))

    def next_back(self, n: int = 1) -> Stop:
        """Go to the n-th sibling before, over what lies inside; or to the begin of the span around.

        At the end of a span, the last of what lies inside comes first.
        """
        return self._back(self._next(n, backward=True))

    def until_back(self, target: int | str | None = None, *, t: int | None = None) -> Stop:
        """Go back until a network depth, a phase or a time."""
        return self._back(self._until(target, t, backward=True))

    def return_back(self) -> Stop:
        """Go to the begin of the enclosing span: of the one that ends here, at an end."""
        return self._back(return_from(self.event, RANKS[self.grain], backward=True))

    def continue_back(self) -> Stop:
        """Go back to the last breakpoint, caught condition or watched change."""
        return self._back(Plan(backward=True))

    # --- anywhere ---------------------------------------------------------------------------------

    def goto(self, t: int) -> Stop | None:
        """Jump to a time, over breakpoints too. A time that never comes is the end of history.

        Raises
        ------
        ArgumentError
            The time is negative, or what happened then is forgotten.
        """
        if t < 0:
            raise ArgumentError(f"goto: got t={t}; expected a time, 0 or later.")
        if t < len(self.tape):
            if self.tape[t].t != t:
                raise ArgumentError(f"goto {t}: {describe_mark(self.tape[t])}.")
            self._place = t
            self.plan = CONTINUE
            return self._stop(Reason.GOTO)
        if self.source.ended:
            return self._at_end()
        self._place = len(self.tape) - 1
        self.plan = GoTo(t=t)
        return None

    def interrupt(self) -> None:
        """Stop at the next event, whatever the plan: Ctrl-C. A signal handler may call this."""
        self._interrupted = True

    def switch(self, source: Recording, t: int) -> Stop | None:
        """Go to another timeline, at a time."""
        self.source = source
        return self.goto(t)

    # --- how it moves -----------------------------------------------------------------------------

    def resume(self) -> Stop | None:
        """Go on with the plan; None if the program must run for that."""
        source = self.source
        tape = source.tape
        while self._place + 1 < len(tape):
            event = event_or_mark(tape, self._place + 1)
            if event.kind == SKIPPED:
                if self._passed(event):
                    continue
                event = tape[self._place + 1]
            self._place = event.t  # of a forgotten run the last time
            stop = self.should_stop(event)
            if stop is not None:
                return stop
        return self._at_end() if source.ended else None

    def may_pass(self, depth: int, sample: Callable[[], Sequence[Event]]) -> Passage:
        """Return what need not be looked into of spans at a depth, because nothing stops there.

        Parameters
        ----------
        depth : int
        sample : callable
            Returns the events of one of them; it is asked if there is a breakpoint.
        """
        nothing = Passage(inf if self.plan.backward else -inf)
        is_watching = any(one.enabled for one in self.watches)
        catching = frozenset(condition.name for condition in self.catches)
        if self._interrupted or is_watching or not catching <= KINDS.keys():
            return nothing
        numbers: frozenset[int] | None = frozenset()
        losses: dict[int, Expression] = {}
        if any(one.enabled for one in self.breakpoints):
            events = sample()
            losses = losses_asked(self.breakpoints, events, self._names_that_change())
            others = [one for one in self.breakpoints if one.number not in losses]
            numbers = batches_concerned(others, events, self.tape) if events else None
        if numbers is None:
            return nothing
        return Passage(self.plan.earliest_hit(depth), numbers, catching, tuple(losses.values()))

    def _names_that_change(self) -> set[str]:
        """Return the names in conditions that are the script's, or the user's own."""
        return {*self.extra_names} - {*names_of_event(None), *LOSS_NAMES}

    def _passed(self, mark: Event) -> bool:
        """Go past what may be passed of calls that nobody looked at; return whether it moved."""
        tape: Any = self.tape
        passage = self.may_pass(mark.depth, partial(tape.sample, mark))
        until, numbers, catching, losses = passage
        if not catching <= tape.caught_in(mark):
            return False
        if losses:
            numbers |= tape.numbers_in(mark, passage.meets)
        if self.plan.backward:
            first = tape.begin_of_rest(mark, self._place, numbers)
            is_passed = until <= first < self._place
            self._place = first if is_passed else self._place
        else:
            last = tape.end_of_rest(mark, self._place + 1, numbers)
            is_passed = self._place < last <= until
            self._place = last if is_passed else self._place
        return is_passed

    def pass_settled(self) -> None:
        """Go past the calls of which nobody has heard and that are told only now."""
        self._place = len(self.source.tape) - 1

    def passes(self, event: Event) -> bool:
        """Go on to an event that has just come, if that is quickly seen to be no stop.

        So it is while the program runs on and only conditions are caught; False says nothing.
        """
        t = event.t
        if self.plan is not CONTINUE or self._interrupted or self._place != t - 1:
            return False
        if len(self.breakpoints) or len(self.watches):
            return False
        is_fed = event.ph != BEGIN or event.kind == "function"
        if is_fed and self.catches.findings(event, self.source.tape):
            return False
        self._place = t
        return True

    def should_stop(self, event: Event) -> Stop | None:
        """Return the stop at an event, or None if the movement goes on.

        Every event that passes is asked once, live, in the tape, forward and backward.
        """
        if self._interrupted:
            self._interrupted = False
            return self._stop(Reason.INTERRUPT, event)
        if event.kind == FORGOTTEN:  # what lies there cannot be asked, so nothing goes past it
            return self._stop(Reason.FORGOTTEN, event)
        plan = self.plan
        is_met = plan is not CONTINUE and plan.is_met_by(event)
        if plan.__class__ is GoTo:
            return self._stop(Reason.GOTO, event) if is_met else None
        if len(self.breakpoints) or len(self.catches) or len(self.watches):
            found = self._found(event)
            if found is not None:
                return found
        if not is_met:
            return None
        if plan.count > 1:
            self.plan = plan.after(event)
            return None
        return self._stop(Reason.STEP, event)

    def _found(self, event: Event) -> Stop | None:
        """Return the stop for all that is looked for besides the plan."""
        tape, hit = self.tape, None
        findings: tuple[Finding, ...] = ()
        changes: tuple[Change, ...] = ()
        if len(self.breakpoints):
            hit = self.breakpoints.hit(event, partial(self.names_for, t=event.t), tape)
        if len(self.catches):
            findings = tuple(self.catches.findings(event, tape))
        if len(self.watches):
            before = partial(self.names_to_watch, t=event.t - 1)
            now = partial(self.names_to_watch, t=event.t)
            changes = tuple(self.watches.changes(event, before, now))
        if hit is not None:
            reason = Reason.BREAKPOINT
        elif findings:
            reason = Reason.CATCH
        elif changes:
            reason = Reason.WATCH
        else:
            return None
        breakpoint, error = hit or (None, "")
        self.plan = CONTINUE
        return Stop(event.t, reason, event, breakpoint, findings, changes, error)

    def _move(self, plan: Plan) -> Stop | None:
        self.plan = plan
        return self.resume()

    def _back(self, plan: Plan) -> Stop:
        self.plan = plan
        while self._place > 0:
            here = self.event
            place = self._place if here is None else first_time(here)
            if place == 0:
                break
            event = event_or_mark(self.tape, place - 1)
            if event.kind == SKIPPED:
                self._place = place
                if self._passed(event):
                    continue
                event = self.tape[place - 1]
            self._place = event.t
            stop = self.should_stop(event)
            if stop is not None:
                return stop
        self._place, self.plan = -1, CONTINUE
        return Stop(-1, Reason.BEGIN, None)

    def _at_end(self) -> Stop:
        self._place = len(self.tape)
        return self._stop(Reason.END)

    def _stop(self, reason: Reason, event: Event | None = None) -> Stop:
        self.plan = CONTINUE
        if event is None and len(self.tape):
            try:
                event = self.tape[self.now]
            except ArgumentError:  # a call cannot be executed again: the stop itself is told
                event = event_or_mark(self.tape, self.now)
        return Stop(self.now if event is None else event.t, reason, event)

    # --- plans that depend on the place -----------------------------------------------------------

    def _next(self, n: int, backward: bool) -> Plan:
        from_here = next_from(self.event, RANKS[self.grain], backward)
        return replace(from_here, count=_checked("rn" if backward else "next", n))

    def _until(self, target: int | str | None, t: int | None, backward: bool) -> Plan:
        if t is not None:
            if t >= self._place if backward else t <= self._place:
                way = "ru: t={} is not before" if backward else "until: t={} is not after"
                raise ArgumentError(f"{way.format(t)} t={self.now}. Jump there: `goto {t}`.")
            return UntilTime(backward, t=t)
        if isinstance(target, str):
            phase = phase_meant(target)
            if phase is None:
                near = did_you_mean(target, (*PHASES, *ACTS, *FUNCTIONS))
                raise ArgumentError(
                    f"until: unknown phase {target!r}. {near}Expected a network depth, nothing, "
                    f"a phase ({', '.join(PHASES)}), an act ({', '.join(ACTS)}), or a function "
                    f"({', '.join(FUNCTIONS)})."
                )
            return UntilPhase(backward, phase=phase)
        around = self._phase_around(backward)
        if target is not None:
            return UntilDepth(backward, wanted=target, around=around)
        return UntilDepth(backward, left=self._network_depth(), around=around)

    def _network_depth(self) -> int | None:
        """Return the network depth at which it stands: the last one that an event told."""
        for event in before(self.tape, min(self._place + 1, len(self.tape))):
            depth = network_depth_of(event)
            if depth is not None:
                return depth
        return None

    def _phase_around(self, backward: bool) -> int:
        """Return the depth of the innermost span of a phase around here; -1 if there is none."""
        here = self.event
        if here is None:
            return -1
        if here.grain == "phase" and here.ph == (END if backward else BEGIN):
            return here.depth
        inside = here.depth
        for event in before(self.tape, here.t, inside - 1):
            if event.depth < inside:
                inside = event.depth
                if event.grain == "phase":
                    return inside
            if not inside:
                return -1
        return -1


def _checked(verb: str, n: int) -> int:
    if n < 1:
        raise ArgumentError(f"{verb}: got {n}; expected how many times, 1 or more.")
    return n


# --- drivers --------------------------------------------------------------------------------------


Order = Callable[[Stepper], Stop | None]
Prompt = Callable[[Stop], Order | None]


class LiveDriver:
    """Stands between a program that runs and a prompt.

    What records the program calls the driver after it has appended an event. Where the stepper
    stops, the program waits until the prompt gives an order for which it must go on. Orders that
    stay in the past are done while it waits.

    Parameters
    ----------
    stepper : Stepper
        On a source of class `Running`.
    prompt : callable
        What it raises goes through the program, as `quit` does in pdb.

    Attributes
    ----------
    detached : bool
        Whether the prompt wants to be asked no more. The program runs on alone.
    """

    def __init__(self, stepper: Stepper, prompt: Prompt) -> None:
        self.stepper = stepper
        self.prompt = prompt
        self.detached = False
        self._is_asking = False

    def __call__(self, event: Event) -> None:
        """Stop at an event that has just been appended to the tape, or let the program go on."""
        if self.detached or self._is_asking:
            return  # what the prompt itself evaluates is not what is debugged
        if not self.stepper.passes(event):
            self._ask_from(self.stepper.resume())

    def finish(self) -> None:
        """Tell that the program has ended: the prompt is asked once more, and can look back."""
        source = self.stepper.source
        if isinstance(source, Running):
            source.ended = True
        if not self.detached:
            self._ask_from(self.stepper.resume())

    def _ask_from(self, stop: Stop | None) -> None:
        self._is_asking = True
        try:
            self.detached = ask(self.stepper, stop, self.prompt)
        except BaseException:
            self.detached = True  # what the program still tells on its way out is not asked about
            raise
        finally:
            self._is_asking = False


def ask(stepper: Stepper, stop: Stop | None, prompt: Prompt) -> bool:
    """Ask for orders until one needs the program; return whether there will be no more orders."""
    while stop is not None:
        order = prompt(stop)
        if order is None:
            return True
        stop = order(stepper)
    return False


def replay(stepper: Stepper, prompt: Prompt) -> None:
    """Ask for orders over a source that needs no program to run: the first stop is a step's."""
    ask(stepper, stepper.step(), prompt)
