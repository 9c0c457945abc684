"""Commands that show where we are in source: where, up, down, list, longlist, source."""

from __future__ import annotations

import linecache
import re
import sys

from kerascope.debugger.places import (
    frames_of_program,
    function_around,
    path_of,
    pdb_lines,
    places_of_failure,
    shown_file,
    source_line,
    walked,
    where_of,
)
from kerascope.debugger.rendering import label, text_of_value
from kerascope.debugger.shell import Shell, number_in
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, Event, Where
from kerascope.trace.history import begin_of
from kerascope.trace.stepper import Reason, Stop

AROUND = 5  # lines before and after the current one


class SourceCommands(Shell):
    """Commands that show source and the spans around."""

    level = 0  # how many spans up from the innermost

    def show(self, stop: Stop) -> None:
        """Stand at a stop, in the innermost span."""
        self.level = 0
        super().show(stop)

    def spans(self) -> list[Event]:
        """Return the spans around, outermost first, and the event itself."""
        event = self.session.stepper.event
        if event is None:
            return []
        spans = self.session.tape.spans_at(event.t)
        if self.session.frame_at(self.stop) is not None:
            return spans  # the event is over; what is around goes on
        return spans if event.ph == BEGIN else [*spans, event]

    def here(self) -> Event:
        """Return the span that was chosen with up and down.

        Raises
        ------
        ArgumentError
            Nothing has happened yet, or all is over.
        """
        spans = self.spans()
        if not spans:
            raise ArgumentError("here is no event; `s` goes to the next, `rs` to the last.")
        return spans[len(spans) - 1 - self.level]

    def do_where(self, words: str) -> None:
        """Show the spans around, with the line of the engine and that of the user.

        Usage: w[here]
        Example: w
        """
        spans = self.spans()
        here = self.place_of_program()
        callers, called = self._places_around()
        for caller in callers:
            self._say_place(caller)
        if not spans and here is None and not callers:
            self.here()
        width = max((len(label(span)) for span in spans), default=0)
        for place, span in enumerate(spans):
            is_chosen = here is None and place == len(spans) - 1 - self.level
            self.say_line(_line_of_span(span, is_chosen, width))
        for caller in called:
            self._say_place(caller)
        if here is not None:
            for line in pdb_lines(here, ""):
                self.say(line)

    def _say_place(self, place: Where) -> None:
        said = f"  {shown_file(place.file)}({place.line}){place.function}()"
        self.say_line(f"{said}  {source_line(place.file, place.line)}")

    def _places_around(self) -> tuple[list[Where], list[Where]]:
        """Return the program's own lines around the spans, and those inside of them.

        They are there only in the present, and where the program has failed.
        """
        session, now = self.session, self.session.stepper.now
        if session.is_over:
            failed_at = session.time_of_failure() if session.has_failed else None
            is_here = self.stop is not None and self.stop.reason is Reason.END
            is_here = now >= failed_at if failed_at is not None else is_here
            return places_of_failure(session) if session.has_failed and is_here else ([], [])
        if now < len(session.tape) - 1:
            return [], []
        here = session.frame_at(self.stop)
        frames = frames_of_program(session, sys._getframe())
        return [where_of(frame) for frame in frames if frame is not here], []

    def do_up(self, words: str) -> None:
        """Look at the span around.

        Usage: u[p] [n]
        Example: u
        """
        n = number_in(words, "up")
        self.here()
        if self.level + 1 >= len(self.spans()):
            raise ArgumentError("up: this is the outermost span.")
        self.level = min(self.level + n, len(self.spans()) - 1)
        self.say_line(_line_of_span(self.here(), True))

    def do_down(self, words: str) -> None:
        """Look at the span inside again.

        Usage: d[own] [n]
        Example: d
        """
        n = number_in(words, "down")
        self.here()
        if self.level == 0:
            raise ArgumentError("down: this is the innermost span.")
        self.level = max(self.level - n, 0)
        self.say_line(_line_of_span(self.here(), True))

    def do_args(self, words: str) -> None:
        """Print the names with which the span around began.

        Usage: a[rgs]
        Example: a
        """
        event = self._begin_of_span()
        if event is None or not event.deltas:
            self.say("no names came with the begin of this span")
            return
        for delta in event.deltas:
            key = "" if delta.key is None else f"[{delta.key}]"
            self.say(f"{delta.name}{key} = {text_of_value(delta.value)}")

    def _begin_of_span(self) -> Event | None:
        event = self.here()
        if event.ph == END:
            return begin_of(event, self.session.tape)
        spans = self.session.tape.spans_at(event.t)
        return event if event.ph == BEGIN else spans[-1] if spans else None

    def do_list(self, words: str) -> None:
        """Show source around the line at which we stand, or other lines of the same file.

        Usage: l[ist] [user | LINE | FIRST, LAST]
        `l user` shows the line of the script that made the layer.
        Example: l
        """
        if words == "user":
            self._list_user()
            return
        asked = re.fullmatch(r"(\d+)\s*(?:,\s*(\d+))?", words)
        if words not in ("", ".") and not asked:
            raise ArgumentError(f"list: got {words!r}; expected nothing, `user`, 10 or 1,5.")
        where = self.place_of_program() or walked(self.here().where)
        if not where.file:
            raise ArgumentError("list: this span has no line of source.")
        middle = int(asked[1]) if asked else where.line
        first, last = middle - AROUND, middle + AROUND
        if asked and asked[2]:
            first, last = middle, int(asked[2])
            last = first + last if last < first else last  # as in pdb: so many lines more
        self._say_lines(path_of(where.file), where.line, first, last)

    def do_longlist(self, words: str) -> None:
        """Show the whole function of the engine that is being walked through.

        Usage: ll, longlist
        Example: ll
        """
        where = self.place_of_program() or walked(self.here().where)
        if not where.file:
            raise ArgumentError("ll: this span has no line of source.")
        text = "".join(linecache.getlines(path_of(where.file)))
        first, last = function_around(text, where.line) or (1, text.count("\n") + 1)
        self._say_lines(path_of(where.file), where.line, first, last)

    def _list_user(self) -> None:
        for span in reversed(self.spans()):
            where = span.where
            if where.user_line:
                self._say_made_at(where)
                return
        raise ArgumentError("list: no line of the script made what is here.")

    def do_source(self, words: str) -> None:
        """Show the line of the script that made a layer.

        Usage: source NAME
        Example: source dense_2
        """
        if not words:
            raise ArgumentError("source: of which layer? For example `source dense_2`.")
        made = {event.name: event for event in self.session.tape.filter(kind="layer.init")}
        if words not in made:
            raise ArgumentError(f"source: unknown layer {words!r}. {did_you_mean(words, made)}")
        where = made[words].where
        if not where.user_line:
            raise ArgumentError(f"source: it is not known which line made {words!r}.")
        self._say_made_at(where)

    def _say_made_at(self, where: Where) -> None:
        line = where.user_line
        self.say(f"{shown_file(where.user_file)}:")
        self._say_lines(where.user_file, line, line - AROUND, line + AROUND)

    def _say_lines(self, file: str, current: int, first: int, last: int) -> None:
        lines = linecache.getlines(file)
        if not lines:
            raise ArgumentError(f"list: the source of {shown_file(file)} is not to be found.")
        if first > len(lines):
            raise ArgumentError(f"list: {shown_file(file)} has {len(lines)} lines.")
        for number in range(max(first, 1), min(last, len(lines)) + 1):
            mark = "->" if number == current else "  "
            line = f"{number:4d} {mark} {lines[number - 1].rstrip()}".rstrip()
            self.say(self.page.cut(line) if self.is_terminal else line)

    do_a = do_args
    do_w = do_bt = do_where
    do_u = do_up
    do_d = do_down
    do_l = do_list
    do_ll = do_longlist


def _line_of_span(span: Event, is_chosen: bool, width: int = 0) -> str:
    where = span.where
    engine = f"{shown_file(where.file)}({where.line}){where.function}()" if where.file else ""
    user = f"{shown_file(where.user_file)}:{where.user_line}" if where.user_line else ""
    made = f"  {user}  {source_line(where.user_file, where.user_line)}" if user else ""
    return f"{'>' if is_chosen else ' '} {label(span):<{width}}  {engine}{made}".rstrip()
