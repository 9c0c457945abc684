"""The stepper: a position in time and its movements. Its design follows Python's `bdb`.

The stepper never prints. It is at an event. A verb (`step`, `next`, ...) makes a *plan*, and then
the stepper passes events one by one. At each event it calls `should_stop`: does a breakpoint hit,
does a caught condition hold, has a watched value changed, does the plan end here? The check is the
same when the tape is read and when the program runs, forward and backward::

    past                      now                 end of the tape
    |--- read backward ---|   ^   |--- read on ---|--- the program runs on --->

A verb returns a `Stop`. If the program must run but has called the stepper itself (`LiveDriver`),
the verb returns None. The plan is kept, and the program must continue.

At the start of a span (`--Call--`) the position is both the calling line and the called code:
`next` goes over the span, `step` into it, and `return` to its end.

`step`, `next`, `until`, `return` and `continue` differ only in their plan, which decides whether
the movement ends at an event. Events of a finer grain than the plan's are passed over. `next`
counts from the calling line, so it goes over the span that begins there, to its next sibling or to
the end of the enclosing span.

Two drivers can move a stepper: a running program, and a tape. At each stop, the driver calls a
*prompt* with the `Stop`. It returns an *order*, a function that takes the stepper and calls one of
its verbs, or None to receive no more stops. So the same orders make the same stops with
`LiveDriver` and with `replay`.
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
    batches_to_stop_in,
    loss_conditions,
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
    """Why the stepper stopped: at an event, a line of the program, or an end of the history."""

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
    """A stop of the stepper, with its reason.

    Attributes
    ----------
    t : int
        The time; -1 before the first event.
    reason : Reason
        The reason. If several apply, the first in the order breakpoint, catch, watch, step.
    event : Event or None
        The event; the last event at the end of history, and None before the first event.
    breakpoint : Breakpoint or None
        The breakpoint that was hit.
    findings : tuple of Finding
        The problems that caught conditions found.
    changes : tuple of Change
        The changes of watched values.
    error : str
        The error that the breakpoint's condition raised; "" if it raised none.
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
        """The word of pdb: "--Call--" at the start of a span, "--Return--" at its end; else ""."""
        words = {BEGIN: "--Call--", END: "--Return--"}
        return words.get(self.event.ph, "") if self.event else ""


# --- plans ----------------------------------------------------------------------------------------


RANKS = {grain: rank for rank, grain in enumerate(GRAINS)}


@dataclass(frozen=True)
class Plan:
    """The condition that ends a movement. This base class is the plan of `continue`: it never ends.

    Attributes
    ----------
    backward : bool
        Whether the movement goes back in time.
    count : int
        The number of stops until the movement ends; only the last one is shown.
    """

    backward: bool = False
    count: int = 1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event; a plan of this class never ends."""
        return False

    def earliest_hit(self, depth: int) -> float:
        """Return the last time to which calls at a span depth may be skipped.

        Calls may be skipped if the plan cannot end in them. For a backward movement, return the
        first time from which they may be skipped. This plan ends nowhere, so the result is inf, or
        -inf for a backward movement.
        """
        return -inf if self.backward else inf

    def after(self, event: Event) -> Plan:
        """Return the plan after a stop at an event: the movement ends one stop earlier."""
        return replace(self, count=self.count - 1)


def _unless(is_met: bool, plan: Plan) -> float:
    """Return the result of `Plan.earliest_hit` for a plan that can end in all calls or in none.

    If `is_met`, the plan can end in the calls, so none may be skipped; otherwise all may be
    skipped.
    """
    return -inf if is_met != plan.backward else inf


@dataclass(frozen=True)
class Step(Plan):
    """The plan of `step`: the movement ends at the next event that is not finer than `rank`.

    `rank` is the index of a grain in `GRAINS`, from "act" (0), the coarsest, to "detail".
    """

    rank: int = len(GRAINS)

    def earliest_hit(self, depth: int) -> float:
        """Return the limit that lets no call be skipped, because a step may end in any call."""
        return _unless(True, self)

    def is_met_by(self, event: Event) -> bool:
        """Return whether the step ends at an event: its grain is not finer than the plan's."""
        return RANKS[event.grain] <= self.rank


@dataclass(frozen=True)
class Next(Step):
    """The plan of `next`: the movement ends at the next event at span depth `depth`.

    If there is none in the enclosing span, it ends at the end of that span.

    Backward, the movement ends at the previous event at this depth, or at the start of the
    enclosing span.
    """

    depth: int = 0

    def is_met_by(self, event: Event) -> bool:
        """Return whether the event ends the movement.

        This is the next event at this depth, or the end of the enclosing span; backward, the start
        of that span.
        """
        if RANKS[event.grain] > self.rank:
            return False
        if self.backward:
            return event.ph != END and event.depth <= self.depth
        return event.depth < self.depth or (event.depth == self.depth and event.ph != END)

    def earliest_hit(self, depth: int) -> float:
        """Return the last time to which calls at a span depth may be skipped.

        All calls deeper than `self.depth` may be skipped, because the movement cannot end in them.
        None of the other calls may.
        """
        return _unless(depth <= self.depth, self)

    def after(self, event: Event) -> Plan:
        """Return the plan for the remaining repetitions of `next`, from the stop at `event`."""
        return replace(next_from(event, self.rank, self.backward), count=self.count - 1)


def next_from(event: Event | None, rank: int, backward: bool = False) -> Next:
    """Return the plan, which ends a movement, for the command `next` at an event.

    Before the first event, the plan ends at any event.

    Backward from the end of a span, the plan ends at the last event inside the span.
    """
    if event is None:
        return Next(backward, rank=rank, depth=0 if backward else maxsize)
    inside = backward and event.ph == END
    return Next(backward, rank=rank, depth=event.depth + inside)


@dataclass(frozen=True)
class Return(Plan):
    """The plan of `return`: the movement ends at the end of the span at depth `depth`.

    A backward movement ends at the start of this span.
    """

    depth: int = -1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the event ends the span of this plan; backward, whether it begins it."""
        return event.ph == (BEGIN if self.backward else END) and event.depth <= self.depth

    def earliest_hit(self, depth: int) -> float:
        """Return the last time to which calls at a span depth may be skipped.

        All calls deeper than `self.depth` may be skipped, because the movement cannot end in them.
        None of the other calls may.
        """
        return _unless(depth <= self.depth, self)


def return_from(event: Event | None, rank: int, backward: bool = False) -> Plan:
    """Return the plan of `return` from an event: to the end of the span that contains the event.

    At the start of a span, `return` goes to the end of this span, as in pdb at `--Call--`. At the
    end of a span, `return` acts as `next`, as in pdb at `--Return--`. Backward, start and end are
    exchanged.
    """
    if event is None:
        return Return(backward)
    if event.ph == END and not backward:
        return next_from(event, rank)
    own = event.ph == (END if backward else BEGIN)
    return Return(backward, depth=event.depth if own else event.depth - 1)


@dataclass(frozen=True)
class UntilTime(Plan):
    """The plan of `until` with a time: the movement ends at the first event at or after `t`.

    Backward, it ends at the last event at or before `t`.
    """

    t: int = 0

    def is_met_by(self, event: Event) -> bool:
        """Return whether the event is at or after time `t`; backward, at or before time `t`."""
        return event.t <= self.t if self.backward else event.t >= self.t

    def earliest_hit(self, depth: int) -> float:
        """Return the time to which calls may be skipped: `t - 1`; backward, `t + 1`."""
        return self.t + 1 if self.backward else self.t - 1


@dataclass(frozen=True)
class GoTo(UntilTime):
    """The plan of `goto`: breakpoints, caught conditions and watches do not stop the movement."""


@dataclass(frozen=True)
class UntilPhase(Plan):
    """The plan of `until` with a name: it ends at the start of this phase, act or function."""

    phase: str = ""

    def is_met_by(self, event: Event) -> bool:
        """Return whether the event is the start of the phase, act or function call."""
        if self.phase in FUNCTIONS:
            return event.kind == "function" and event.ph != END and event.name == self.phase
        return event.kind == self.phase and event.ph != END and event.grain in GRAINS[:2]

    def earliest_hit(self, depth: int) -> float:
        """Return the limit that allows no skipped calls, because any call may contain the phase."""
        return _unless(True, self)


@dataclass(frozen=True)
class UntilDepth(Plan):
    """The plan of `until` with a network depth: ends at an event of depth `wanted`.

    If `wanted` is None, the movement ends at any network depth except `left`.

    Attributes
    ----------
    wanted, left : int or None
        The network depth to stop at, and the network depth at which the movement began.
    around : int
        The span depth of the phase in which the movement began; -1 if it began outside of phases.
        The movement ends at the end of this phase at the latest, as pdb's `until` does when the
        function returns.
    """

    wanted: int | None = None
    left: int | None = None
    around: int = -1

    def is_met_by(self, event: Event) -> bool:
        """Return whether the event has the wanted network depth, or ends the enclosing phase."""
        if event.depth <= self.around and event.ph == (BEGIN if self.backward else END):
            return True
        if event.ph == END:
            return False
        depth = network_depth_of(event)
        if self.wanted is not None:
            return depth == self.wanted
        return depth is not None and depth != self.left

    def earliest_hit(self, depth: int) -> float:
        """Return the time of the next event: any call may contain the wanted depth of Nodes."""
        return _unless(True, self)


# --- sources of events ----------------------------------------------------------------------------


class Events(History, Protocol):
    """The interface of a tape that the stepper uses."""

    def __len__(self) -> int: ...

    def names_at(self, t: int) -> Mapping[str, Any]:
        """Return the names of the tape at time `t`, with their values."""


@dataclass
class Recording:
    """A source of events that the stepper moves along: a tape, which may still grow.

    Attributes
    ----------
    tape : Events
        The events so far; the event at time t has index t.
    ended : bool
        Whether the tape is complete.
    """

    tape: Events
    ended: bool = True


@dataclass
class Running(Recording):
    """The events of a running program, which calls a `LiveDriver` after each new event."""

    ended: bool = False


# --- the stepper ----------------------------------------------------------------------------------


CONTINUE = Plan()


class Passage(NamedTuple):
    """The limits within which a movement may skip calls without executing them again.

    Attributes
    ----------
    until : float
        The last time that may be skipped; backward, the first time.
    but : frozenset of int
        The numbers of the batches that the movement must not skip.
    catching : frozenset of str
        The values ("nan", "inf") that must not appear in skipped calls.
    losses : tuple of Expression
        Conditions that the losses of skipped calls must not meet.
    """

    until: float
    but: frozenset[int] = frozenset()
    catching: frozenset[str] = frozenset()
    losses: tuple[Expression, ...] = ()

    def meets(self, outs: Any) -> bool:
        """Return whether the loss in a call's outputs may meet one of the conditions `losses`."""
        loss = outs[0] if isinstance(outs, (list, tuple)) else outs
        return any(condition.may_hold_for(loss) for condition in self.losses)


class Stepper:
    """A position among the events of a tape, with methods that move the position.

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
        The condition that ends the current movement; the plan `CONTINUE` between movements.
    extra_names : mapping
        Additional names for expressions, such as `model` and `K`, besides those of the tape and
        the event.

    Notes
    -----
    Besides the events there are two positions: the start of history, before the first event, and
    the end of history, after the last event of an ended program. So a step back from the end of
    history goes to the last event.
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

    # --- the position -----------------------------------------------------------------------------

    @property
    def grain(self) -> str:
        """The finest grain that `step` and `next` stop at."""
        return self._grain

    @grain.setter
    def grain(self, grain: str) -> None:
        if grain not in GRAINS:
            near = did_you_mean(grain, GRAINS)
            raise ArgumentError(f"grain: got {grain!r}. {near}Use one of: {', '.join(GRAINS)}.")
        self._grain = grain

    @property
    def tape(self) -> Events:
        """The tape that the stepper moves along, with the events so far."""
        return self.source.tape

    @property
    def now(self) -> int:
        """The time of the current event; at the end of history the last time, at the start -1."""
        return min(max(self._place, 0), len(self.tape) - 1)

    @property
    def event(self) -> Event | None:
        """The current event; None at the start and the end of history."""
        return self.tape[self._place] if 0 <= self._place < len(self.tape) else None

    def names(self, t: int | None = None) -> dict[str, Any]:
        """Return the names that an expression may use at time `t`, by default the current time."""
        t = self.now if t is None else t
        if not 0 <= t < len(self.tape):
            return {**self.extra_names, **names_of_event(None)}
        event = self.tape[t]
        names = {**self.extra_names, **self.tape.names_at(t), **names_of_event(event)}
        if "model" in self.extra_names:
            names["model"] = self.extra_names["model"]  # not its description
        names["ins"] = value_of_span(event, self.tape, "inputs")
        return names

    def names_for(self, expression: Expression, t: int) -> dict[str, Any]:
        """Return the names that an expression may use at time `t`, with their values.

        The names of the tape are left out if the expression uses only the event.

        The dict also has the arrays of tensors that the expression names.
        """
        if expression.is_of_the_event:
            return names_of_event(self.tape[t] if 0 <= t < len(self.tape) else None)
        return self._with_tensors(expression, self.names(t), t)

    def names_to_watch(self, expression: Expression, t: int) -> dict[str, Any]:
        """Return the names for a watched expression at time `t`.

        They are those of `names_for`, but during a commit `weights` has the new value of a weight
        only from the event on that writes this weight.
        """
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
        """Return `names` together with the arrays of the tensors that an expression names."""

        def find(name: str) -> Any:
            return value_named(self.tape, name, t, weights)

        asked = expression.names.intersection(LOSS_NAMES)
        loss = find(LOSS_NAMES[0]) if asked else None
        if loss is not None:  # the loss, not a variable `loss` of the script
            names = {**names, **dict.fromkeys(asked, loss)}
        return {**names, **values_named(expression.text, expression.names, names, find)}

    # --- forward ----------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Stop | None:
        """Go to the n-th next event that is not finer than the current grain."""
        return self._move(Step(count=_checked("step", n), rank=RANKS[self.grain]))

    def stepi(self, n: int = 1) -> Stop | None:
        """Go to the n-th next event, whatever its grain."""
        return self._move(Step(count=_checked("stepi", n)))

    def next(self, n: int = 1) -> Stop | None:
        """Go to the n-th next sibling of the current event, or to the end of the enclosing span."""
        return self._move(self._next(n, backward=False))

    def until(self, target: int | str | None = None, *, t: int | None = None) -> Stop | None:
        """Continue to a network depth, a phase or a time; by default, to another network depth.

        Parameters
        ----------
        target : int, str or None
            A network depth, or the name of a phase or an act.
        t : int, optional
            A time, instead of `target`.

        Notes
        -----
        A movement to a network depth also stops at the end of the enclosing phase.
        """
        return self._move(self._until(target, t, backward=False))

    def return_(self) -> Stop | None:
        """Go to the end of the enclosing span; at the start of a span, to its end."""
        return self._move(return_from(self.event, RANKS[self.grain]))

    def continue_(self) -> Stop | None:
        """Continue to the next breakpoint, caught condition or watched change."""
        return self._move(CONTINUE)

    # --- backward ---------------------------------------------------------------------------------

    def step_back(self, n: int = 1) -> Stop:
        """Go to the n-th previous event that is not finer than the current grain."""
        return self._back(Step(True, _checked("rs", n), rank=RANKS[self.grain]))

    def next_back(self, n: int = 1) -> Stop:
        """Go to the n-th previous sibling of the event, or to the start of the enclosing span.

        From the end of a span, the first stop is the last event inside the span.
        """
        return self._back(self._next(n, backward=True))

    def until_back(self, target: int | str | None = None, *, t: int | None = None) -> Stop:
        """Go back to a network depth, a phase or a time; by default, to another network depth."""
        return self._back(self._until(target, t, backward=True))

    def return_back(self) -> Stop:
        """Go to the start of the enclosing span; at the end of a span, to its start."""
        return self._back(return_from(self.event, RANKS[self.grain], backward=True))

    def continue_back(self) -> Stop:
        """Go back to the previous breakpoint, caught condition or watched change."""
        return self._back(Plan(backward=True))

    # --- anywhere ---------------------------------------------------------------------------------

    def goto(self, t: int) -> Stop | None:
        """Move to time `t` without stopping at breakpoints.

        If the program has ended and `t` is after its last event, move to the end of history. If the
        program must run to reach `t`, return None.

        Raises
        ------
        ArgumentError
            The time is negative, or the tape no longer has its event.
        """
        if t < 0:
            raise ArgumentError(f"goto: expected a time, 0 or later, got t={t}.")
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
        """Request a stop at the next event, for Ctrl-C. Signal handlers may call this method."""
        self._interrupted = True

    def switch(self, source: Recording, t: int) -> Stop | None:
        """Move along another source of events, such as another timeline's tape; go to time `t`."""
        self.source = source
        return self.goto(t)

    # --- moving -----------------------------------------------------------------------------------

    def resume(self) -> Stop | None:
        """Continue with the current plan. Return the next stop; None if more events are needed."""
        source = self.source
        tape = source.tape
        while self._place + 1 < len(tape):
            event = event_or_mark(tape, self._place + 1)
            if event.kind == SKIPPED:
                if self._passed(event):
                    continue
                event = tape[self._place + 1]
            self._place = event.t  # for the mark of forgotten events, their last time
            stop = self.should_stop(event)
            if stop is not None:
                return stop
        return self._at_end() if source.ended else None

    def may_pass(self, depth: int, sample: Callable[[], Sequence[Event]]) -> Passage:
        """Return the limits within which calls can be skipped because no stop can occur in them.

        Parameters
        ----------
        depth : int
            The span depth of the calls.
        sample : callable
            Returns the events of one of the calls. It is called only if breakpoints are enabled.
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
            losses = loss_conditions(self.breakpoints, events, self._names_that_change())
            others = [one for one in self.breakpoints if one.number not in losses]
            numbers = batches_to_stop_in(others, events, self.tape) if events else None
        if numbers is None:
            return nothing
        return Passage(self.plan.earliest_hit(depth), numbers, catching, tuple(losses.values()))

    def _names_that_change(self) -> set[str]:
        """Return the names in `extra_names` whose values the script or the user may change."""
        return {*self.extra_names} - {*names_of_event(None), *LOSS_NAMES}

    def _passed(self, mark: Event) -> bool:
        """Move past the calls of a mark in which no stop can occur.

        Return whether the position moved.
        """
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
        """Move to the end of the tape, past the mark of skipped calls that was just appended."""
        self._place = len(self.source.tape) - 1

    def passes(self, event: Event) -> bool:
        """Move to a new event if a quick check rules out a stop; return whether the position moved.

        A quick check is possible during `continue` without breakpoints and watches. The result
        False means that the event needs a full check.
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
        """Return the stop at an event; None if the movement continues.

        This method is called once for each event of a movement, live or on the tape, forward or
        backward.
        """
        if self._interrupted:
            self._interrupted = False
            return self._stop(Reason.INTERRUPT, event)
        if event.kind == FORGOTTEN:  # forgotten events cannot be checked, so movements stop there
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
        """Return the stop that a breakpoint, caught condition or watch causes at an event.

        Return None if none of them stops there.
        """
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
            except ArgumentError:  # the call cannot be executed again: show its mark
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
                    f"until: unknown phase {target!r}. {near}Use a network depth, nothing, "
                    f"a phase ({', '.join(PHASES)}), an act ({', '.join(ACTS)}), or a function "
                    f"({', '.join(FUNCTIONS)})."
                )
            return UntilPhase(backward, phase=phase)
        around = self._phase_around(backward)
        if target is not None:
            return UntilDepth(backward, wanted=target, around=around)
        return UntilDepth(backward, left=self._network_depth(), around=around)

    def _network_depth(self) -> int | None:
        """Return the last network depth that an event has, up to the current position.

        If no event has a network depth, return None.
        """
        for event in before(self.tape, min(self._place + 1, len(self.tape))):
            depth = network_depth_of(event)
            if depth is not None:
                return depth
        return None

    def _phase_around(self, backward: bool) -> int:
        """Return the span depth of the innermost phase around the current event; -1 without one."""
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
        raise ArgumentError(f"{verb}: expected a number of times, 1 or more, got {n}.")
    return n


# --- drivers --------------------------------------------------------------------------------------


Order = Callable[[Stepper], Stop | None]
Prompt = Callable[[Stop], Order | None]


class LiveDriver:
    """Connects a running program with the prompt of a stepper.

    The recorder calls the driver after it has appended an event. At a stop the program waits until
    the prompt returns an order that needs new events from the program. Orders that move only among
    recorded events are carried out while the program waits.

    Parameters
    ----------
    stepper : Stepper
        A stepper on a source of class `Running`.
    prompt : callable
        Takes a `Stop` and returns an order. An exception that it raises passes through the program
        and ends it, as `quit` does in pdb.

    Attributes
    ----------
    detached : bool
        Whether the prompt returned None or raised. The program then continues without stops.
    """

    def __init__(self, stepper: Stepper, prompt: Prompt) -> None:
        self.stepper = stepper
        self.prompt = prompt
        self.detached = False
        self._is_asking = False

    def __call__(self, event: Event) -> None:
        """Continue the movement to the new last event of the tape; call the prompt at a stop."""
        if self.detached or self._is_asking:
            return  # expressions at the prompt cause no stops
        if not self.stepper.passes(event):
            self._ask_from(self.stepper.resume())

    def finish(self) -> None:
        """Mark the tape as complete, and call the prompt with a stop at the end of history."""
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
            self.detached = True  # no stops while an error passes through the program
            raise
        finally:
            self._is_asking = False


def ask(stepper: Stepper, stop: Stop | None, prompt: Prompt) -> bool:
    """Call the prompt at each stop, and then the function that it returns, which moves the stepper.

    Return True if the prompt returned None. Return False if the movement needs new events from the
    program.
    """
    while stop is not None:
        order = prompt(stop)
        if order is None:
            return True
        stop = order(stepper)
    return False


def replay(stepper: Stepper, prompt: Prompt) -> None:
    """Step to the first event of a complete tape, then move as the prompt decides at each stop."""
    ask(stepper, stepper.step(), prompt)
