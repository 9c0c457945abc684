"""`--until SEL`: run to the first event that a selector names."""

from __future__ import annotations

import re

from kerascope.debugger.known import known_names
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.trace.breakpoints import Breakpoint, Breakpoints
from kerascope.trace.selectors import ACTS, PHASES, parse_selector
from kerascope.trace.stepper import Reason, Stepper, Stop


class Until:
    """The event up to which a program, or a tape, runs without asking.

    Parameters
    ----------
    text : str
        What `tbreak` takes (`dense_2:bwd`, `batch 17`, `dense_2, has_nan(out)`) or `until`
        (`backward`, `2`, `t=61`).

    Raises
    ------
    ArgumentError
        The text means nothing.

    Examples
    --------
    >>> Until("backward").selector, Until("2").selector, Until("t=61").t
    ('phase:backward', 'depth 2', 61)
    """

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        time = re.fullmatch(r"t ?= ?([0-9]{1,18})", self.text)
        self.t = int(time[1]) if time else None
        self.selector = "" if time else _selector_of(self.text)
        self._made: Breakpoint | None = None
        self.was_missed = False
        if not time:
            Breakpoints().add(self.selector, temporary=True)  # refuses nonsense at once

    def go(self, stepper: Stepper) -> Stop | None:
        """Run there; an order for the stepper."""
        self.arm(stepper)
        return stepper.continue_() if self.t is None else stepper.until(t=self.t)

    def arm(self, stepper: Stepper) -> None:
        """Let the stepper stop there, whatever else it is asked."""
        if self._made is None and self.t is None:
            self._made = stepper.breakpoints.add(self.selector, temporary=True)

    def is_reached_by(self, stop: Stop) -> bool:
        """Return whether this is the event, or one behind it."""
        if stop.reason in (Reason.BEGIN, Reason.END):
            return False
        return stop.breakpoint is self._made if self.t is None else stop.t >= self.t

    def why_missed(self, session: Session) -> str:
        """Return why it was never reached, though the program has ended; "" if it was."""
        why = self._why_missed(session)
        self.was_missed = bool(why)
        return why

    def _why_missed(self, session: Session) -> str:
        events = len(session.tape)
        if self.t is not None:
            return "" if self.t < events else f"--until {self.text}: there are {events} events."
        breakpoints = session.stepper.breakpoints
        if self._made is None or self._made not in list(breakpoints):
            return ""
        breakpoints.clear(self._made.number)
        try:
            parse_selector(self.selector.partition(",")[0], known_names(session), "--until")
        except ArgumentError as error:
            return str(error)
        return f"--until {self.text}: none of these {events} events is meant by it."


def _selector_of(text: str) -> str:
    """Return the selector for what `until` calls a phase or a depth by its bare name."""
    if text in (*PHASES, *ACTS):
        return f"phase:{text}"
    return f"depth {text}" if text.isdigit() else text
