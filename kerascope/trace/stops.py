"""A stop: when and where the stepper stopped, and why. What a debugger shows is all in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kerascope.trace.breakpoints import Breakpoint
from kerascope.trace.conditions import Finding
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.watches import Change


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
