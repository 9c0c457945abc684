"""Plans: what a movement stops at, as pure data.

`step`, `next`, `until`, `return` and `continue` differ in nothing but this question: does the
movement end at this event? The stepper asks it of every event that passes, whether the program runs
or the tape is read, forward or backward. So there is one rule for all of them.

The rule for grains: an event of a finer grain than the plan's is passed over. The rule for depths:
`next` is answered from the place of the line that calls, so it goes over the span that begins
there, to its sibling, or to the end of the span around both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from sys import maxsize

from kerascope.trace.events import BEGIN, END, GRAINS, Event
from kerascope.trace.selectors import network_depth_of

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

    def after(self, event: Event) -> Plan:
        """Return the plan that is left when one of several stops was met."""
        return replace(self, count=self.count - 1)


@dataclass(frozen=True)
class Step(Plan):
    """Any event that is not finer than the grain of rank `rank`."""

    rank: int = len(GRAINS)

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


@dataclass(frozen=True)
class GoTo(UntilTime):
    """A jump to a time, past all that would stop elsewhere."""


@dataclass(frozen=True)
class UntilPhase(Plan):
    """The begin of a phase or an act."""

    phase: str = ""

    def is_met_by(self, event: Event) -> bool:
        """Return whether the movement ends at an event."""
        return event.kind == self.phase and event.ph != END and event.grain in GRAINS[:2]


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
