"""A session without a prompt: the program runs, and the printed stops or a file are the result.

`--until SEL` ends it at the first event that a selector matches.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from kerascope.debugger.files import at_grain, lines_of_tape, page_of_session, page_of_stops
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Session
from kerascope.debugger.stopping import known_names
from kerascope.debugger.tables import picture_of
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.trace.breakpoints import Breakpoint, Breakpoints, ConditionSelector
from kerascope.trace.events import Event
from kerascope.trace.selectors import ACTS, PHASES, parse_selector
from kerascope.trace.stepper import Reason, Stepper, Stop

# --- `--until SEL`: run to the first event that a selector matches --------------------------------


class Until:
    """The event up to which a program, or a tape, runs without a prompt.

    Parameters
    ----------
    text : str
        An argument of `tbreak` (`dense_2:bwd`, `batch 17`, `dense_2, has_nan(out)`) or of `until`
        (`backward`, `2`, `t=61`).

    Raises
    ------
    ArgumentError
        The text is neither an argument of `tbreak` nor one of `until`.

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
            Breakpoints().add(self.selector, temporary=True)  # raises now if the text is wrong

    def go(self, stepper: Stepper) -> Stop | None:
        """Move the stepper to the event of this `Until`, and return the stop there."""
        self.arm(stepper)
        return stepper.continue_() if self.t is None else stepper.until(t=self.t)

    def arm(self, stepper: Stepper) -> None:
        """Set a breakpoint at the event of this `Until`, unless the event is given by its time."""
        if self._made is None and self.t is None:
            self._made = stepper.breakpoints.add(self.selector, temporary=True)

    def is_reached_by(self, stop: Stop) -> bool:
        """Return whether a stop is at this `Until`'s event; for `t=61`, at time 61 or later."""
        if stop.reason in (Reason.BEGIN, Reason.END):
            return False
        return stop.breakpoint is self._made if self.t is None else stop.t >= self.t

    def why_missed(self, session: Session) -> str:
        """Return why an ended program never reached the event of this `Until`; "" if it did."""
        why = self._why_missed(session)
        self.was_missed = bool(why)
        return why

    def _why_missed(self, session: Session) -> str:
        events = len(session.tape)
        if self.t is not None:
            return "" if self.t < events else f"--until {self.text}: there were {events} events."
        breakpoints = session.stepper.breakpoints
        if self._made is None or self._made not in list(breakpoints):
            return ""
        breakpoints.clear(self._made.number)
        if isinstance(self._made.selector, ConditionSelector):
            return f"--until {self.text}: the condition held at none of the {events} events."
        try:
            parse_selector(self.selector.partition(",")[0], known_names(session), "--until")
        except ArgumentError as error:
            return str(error)
        return f"--until {self.text}: it matches none of the {events} events."


def _selector_of(text: str) -> str:
    """Return the selector for a text, which may name a phase or a depth without its prefix.

    "backward" becomes "phase:backward", as for the command `until`. Other texts are unchanged.
    """
    if text in (*PHASES, *ACTS):
        return f"phase:{text}"
    return f"depth {text}" if text.isdigit() else text


# --- the session ----------------------------------------------------------------------------------


FORMATS = ("text", "md", "jsonl", "html", "svg")
OF_STOPS = ("text", "md")  # the other formats show the recording
LAST_STOP = "last stop"  # not a format of the command line: only the last stop, as text
NOTHING = "expected a program that calls layers, but it built no model."
DONE, FAILED, USAGE, FOUND, INTERRUPTED = 0, 1, 2, 3, 130


class ResultComplete(BaseException):
    """Raised to end the program when the session's output is complete.

    `except Exception` in the program does not catch this exception.
    """


class Goal(NamedTuple):
    """The goal of an unattended session: its output, and where it ends.

    Attributes
    ----------
    form : str
        "text", "md", "jsonl", "html" or "svg"; "last stop" for only the last stop, as text; "" if
        there is a prompt, and nothing is written.
    grain : str or None
        The finest grain of the stops or recorded events; None for the default.
    until : Until or None
        Where the session ends; None for the end of the program.
    conditions : set of str
        The caught conditions that end the session.
    commands : sequence of str
        Commands to run before the first event.
    title : str
        The name of the script or tape, as the title of a page and in messages.
    """

    form: str = "text"
    grain: str | None = None
    until: Until | None = None
    conditions: Collection[str] = ()
    commands: Sequence[str] = ()
    title: str = ""


class Unattended:
    """Decides at each stop of a session how the stepper moves, in place of a person at a prompt.

    Parameters
    ----------
    wanted : Goal
    out : file, optional
        The file for the result; by default, standard output.

    Attributes
    ----------
    debugger : ModelDebugger
        Shows the stops and runs the commands. Callers must set its `session`.
    code : int
        The exit code of the session.
    """

    def __init__(self, wanted: Goal, out: IO[str] | None = None) -> None:
        self.wanted = wanted
        self.out: IO[str] = out or sys.stdout
        says = {"text": self.out, LAST_STOP: self.out, "md": io.StringIO()}
        self.debugger = ModelDebugger(io.StringIO(), says.get(wanted.form, sys.stderr))
        self.debugger.is_unattended = True
        if not self.is_for_programs:
            with suppress(AttributeError, ValueError):
                self.debugger.is_terminal = self.out.isatty()
        self.code = DONE
        self._reader_closed = False  # the reader of the output
        self._ended_at: int | None = None  # later events only record the end of the session

    @property
    def is_for_programs(self) -> bool:
        """Whether a program will read the result, so that no other text may be printed into it."""
        return self.wanted.form not in ("text", LAST_STOP)

    # --- in the place of a person -----------------------------------------------------------------

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Return the function that moves the stepper on from a stop; None at the end.

        Raises
        ------
        ResultComplete
            The result is complete, so the program need not continue.
        """
        try:
            return self._order_at(stop)
        except BrokenPipeError:
            self._reader_closed = True
            raise ResultComplete from None

    def _order_at(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        if stop.reason is Reason.BEGIN:
            self._begin()
            return self._go
        if stop.reason is Reason.SET_TRACE:
            return self._go  # nothing can be typed
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
        raise ResultComplete

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
            print(f"kerascope: {self.wanted.title}: {self._nothing()}", file=sys.stderr)
        elif words := session.words_of_unseen():
            print(f"kerascope: {self.wanted.title}: {words}", file=sys.stderr)

    # --- the result -------------------------------------------------------------------------------

    def write(self) -> None:
        """Write the rest of the result: all that was not printed at the stops.

        Raises
        ------
        BrokenPipeError
            The reader of the output has closed the pipe.
        NotBuiltError
            The format is "html" or "svg", and the program built no model.
        """
        if self._reader_closed:
            raise BrokenPipeError
        if self.code == USAGE:
            return  # --until was never reached, and the error was printed
        writer = {"md": self._page, "jsonl": self._lines, "html": self._html, "svg": self._svg}
        if self.wanted.form not in writer:
            return
        text = writer[self.wanted.form]()
        buffer: Any = getattr(self.out, "buffer", None)
        if buffer is None:
            self.out.write(text)
        else:  # UTF-8 in any locale, because pages declare it
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
        events = self._events()
        if not events:
            raise NotBuiltError(f"--format html: {self.wanted.title}: {self._nothing()}")
        return page_of_session(self._session, events, self.wanted.title)

    def _events(self) -> list[Event]:
        events: list[Event] = self._session.tape.whole()[: self._ended_at]
        return events if self.wanted.grain is None else list(at_grain(events, self.wanted.grain))

    def _svg(self) -> str:
        if not len(self._session.tape):
            raise NotBuiltError(f"--format svg: {self.wanted.title}: {self._nothing()}")
        return picture_of(self._session).svg.rstrip("\n") + "\n"

    def _nothing(self) -> str:
        return f"{NOTHING} {self._session.words_of_unseen()}".rstrip()

    @property
    def _session(self) -> Session:
        return self.debugger.session
