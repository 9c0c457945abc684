"""A session at which nobody sits: it goes on by itself, and what it says is its result.

It stands where else the prompt stands: it is asked at each stop, and gives the order to step or to
run on. `--step-all`, `--until` and `--format` of the command line are its orders.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.outputs import at_grain, lines_of_tape, page_of_session, page_of_stops
from kerascope.debugger.pictures import picture_of
from kerascope.debugger.session import Session
from kerascope.debugger.until import Until
from kerascope.errors import ArgumentError
from kerascope.trace.events import Event
from kerascope.trace.stepper import Reason, Stepper, Stop

FORMATS = ("text", "md", "jsonl", "html", "svg")
OF_STOPS = ("text", "md")  # the others show what was recorded
LAST_STOP = "last stop"  # no format of the command line: of the text the last stop alone
NOTHING = "it built no model; expected a program that calls layers."
DONE, FAILED, USAGE, FOUND, INTERRUPTED = 0, 1, 2, 3, 130


class Ended(BaseException):
    """Nothing more is wanted; it goes through the program, past its `except Exception`."""


class Wanted(NamedTuple):
    """What shall be written.

    Attributes
    ----------
    form : str
        One of FORMATS, or LAST_STOP.
    grain : str or None
        The finest of the stops, or of the recorded events; None for the usual one.
    until : Until or None
        Where it ends; None for the end of the program.
    conditions : set of str
        With which of the caught conditions it ends.
    commands : sequence of str
        That are done before the first event.
    title : str
        Of a page.
    """

    form: str = "text"
    grain: str | None = None
    until: Until | None = None
    conditions: Collection[str] = ()
    commands: Sequence[str] = ()
    title: str = ""


class Unattended:
    """Answers at the stops of a session in the place of a person.

    Parameters
    ----------
    wanted : Wanted
    out : file, optional
        Where the result goes.

    Attributes
    ----------
    debugger : ModelDebugger
        Shows the stops and does the commands; its `session` must be set.
    code : int
        Exit code.
    """

    def __init__(self, wanted: Wanted, out: IO[str] | None = None) -> None:
        self.wanted = wanted
        self.out: IO[str] = out or sys.stdout
        says = {"text": self.out, LAST_STOP: self.out, "md": io.StringIO()}
        self.debugger = ModelDebugger(io.StringIO(), says.get(wanted.form, sys.stderr))
        if not self.is_for_programs:
            with suppress(AttributeError, ValueError):
                self.debugger.is_terminal = self.out.isatty()
        self.code = DONE
        self._has_gone = False  # who read our output
        self._ended_at: int | None = None  # the events behind tell only that we ended it

    @property
    def is_for_programs(self) -> bool:
        """Whether nothing else may come between the lines of the result."""
        return self.wanted.form not in ("text", LAST_STOP)

    # --- in the place of a person -----------------------------------------------------------------

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Return the next order.

        Raises
        ------
        Ended
            No more is wanted.
        """
        try:
            return self._order_at(stop)
        except BrokenPipeError:
            self._has_gone = True
            raise Ended from None

    def _order_at(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        if stop.reason is Reason.BEGIN:
            self._begin()
            return self._go
        if stop.reason is Reason.SET_TRACE:
            return self._go  # nobody is there who could be asked
        if stop.reason is Reason.END:
            self._end()
            return None
        found = any(finding.condition in self.wanted.conditions for finding in stop.findings)
        until = self.wanted.until
        is_reached = until is not None and until.is_reached_by(stop)
        if self.wanted.form in OF_STOPS or found or (is_reached and self.wanted.form == LAST_STOP):
            self.debugger.show(stop)
        if found:
            self.code = FOUND
        elif stop.reason is Reason.INTERRUPT:
            self.code = INTERRUPTED
        elif not is_reached:
            return self._go
        self._ended_at = stop.t + 1
        raise Ended

    def _begin(self) -> None:
        self.debugger.session.stepper.grain = self.wanted.grain or "node"
        self.debugger.cmdqueue = list(self.wanted.commands)
        while self.debugger.cmdqueue:
            self.debugger.onecmd(self.debugger.read())

    def _go(self, stepper: Stepper) -> Stop | None:
        until = self.wanted.until
        if until is not None:
            until.arm(stepper)
        if self.wanted.form in OF_STOPS:
            return stepper.step()
        return stepper.continue_() if until is None else until.go(stepper)

    def _end(self) -> None:
        session = self.debugger.session
        failure = session.failure_to_show()
        if failure is not None:
            self.debugger.say_traceback(failure.text.rstrip())
        missed = "" if self.wanted.until is None else self.wanted.until.why_missed(session)
        if missed:
            self.code = USAGE
            print(f"kerascope: {missed}", file=sys.stderr)
        if session.has_failed:
            self.code = FAILED
        elif not len(session.tape) and not missed and self.wanted.form != "svg":
            print(f"kerascope: {self.wanted.title}: {NOTHING}", file=sys.stderr)

    # --- the result -------------------------------------------------------------------------------

    def write(self) -> None:
        """Write what is still to be written.

        Raises
        ------
        BrokenPipeError
            Nobody reads it any more.
        ArgumentError
            There is no model to be drawn.
        """
        if self._has_gone:
            raise BrokenPipeError
        if self.code == USAGE:
            return  # what --until names never came: the error says all
        writer = {"md": self._page, "jsonl": self._lines, "html": self._html, "svg": self._svg}
        if self.wanted.form not in writer:
            return
        text = writer[self.wanted.form]()
        buffer: Any = getattr(self.out, "buffer", None)
        if buffer is None:
            self.out.write(text)
        else:  # whatever the locale is: a page says that it is UTF-8
            self.out.flush()
            errors = "surrogatepass" if self.wanted.form == "jsonl" else "replace"
            buffer.write(text.encode("utf-8", errors))
            buffer.flush()

    def _page(self) -> str:
        grain = self.wanted.grain or "node"
        upto = "" if self.wanted.until is None else f" up to `{self.wanted.until.text}`"
        stops: Any = self.debugger.stdout
        return page_of_stops(self.wanted.title, f"Every {grain} stop{upto}.", stops.getvalue())

    def _lines(self) -> str:
        return lines_of_tape(self._events())

    def _html(self) -> str:
        return page_of_session(self._session, self._events())

    def _events(self) -> list[Event]:
        events: list[Event] = self._session.tape[: self._ended_at]
        return events if self.wanted.grain is None else list(at_grain(events, self.wanted.grain))

    def _svg(self) -> str:
        if not len(self._session.tape):
            raise ArgumentError(f"--format svg: {self.wanted.title}: {NOTHING}")
        return picture_of(self._session, with_numbers=True).svg.rstrip("\n") + "\n"

    @property
    def _session(self) -> Session:
        return self.debugger.session
