"""Commands that look: at values, at source, and those that lead aside.

`p`, `pp`, `pv`, `whatis`, `display`, `args`, `retval` and Python itself; `alias`, the stdlib
debugger, a Python prompt; `where`, `up`, `down`, `list`, `longlist`, `source`.
"""

from __future__ import annotations

import code
import linecache
import pdb
import pprint
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from rich.cells import cell_len

from kerascope.debugger.evaluating import (
    EXITS,
    LIVES_IN,
    deleted_by,
    probe,
    run_statement,
    value_of,
    value_with_numbers,
)
from kerascope.debugger.places import (
    frames_of_failure,
    frames_of_program,
    function_around,
    is_of_an_op,
    path_of,
    pdb_lines,
    places_of_failure,
    shown_file,
    source_line,
    users_place,
    walked,
    where_of,
    with_code,
)
from kerascope.debugger.rendering import call_label, text_of_value
from kerascope.debugger.shell import Shell, number_in
from kerascope.errors import ArgumentError
from kerascope.nested import replaced
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, Event, Where
from kerascope.trace.expressions import told
from kerascope.trace.history import begin_of
from kerascope.trace.snapshots import REFS, Describer, same
from kerascope.trace.statistics import Statistics, kind_of
from kerascope.trace.stepper import Reason, Stop

SAMPLES = "kerascope.debugger.samples"  # read when a row is asked for
WENT = {"ins": "went in", "out": "came out"}
FEW_NUMBERS = 12  # of an array; p shows them all
MOST_NUMBERS = 100  # of an array; pp shows that many
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass
class Display:
    """An expression that is shown at each stop where it has another value."""

    text: str
    last: Any = None
    is_new: bool = True


class LookingCommands(Shell):
    """Commands that look at values."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.displays: dict[str, Display] = {}

    # --- print ------------------------------------------------------------------------------------

    def do_p(self, words: str) -> None:
        """Print the value of a Python expression; an array by its figures first.

        Usage: p EXPR
        Example: p tensor_map["dense_1"]
        """
        value = self._value_of(words, "p")
        if value is None and words.strip() in ("ins", "out"):
            self.say(f"None: the tape has no array that {WENT[words.strip()]} here")
            return
        self.say_value(value)

    def _value_of(self, words: str, command: str) -> Any:
        """Return a value with numbers; where only figures are left, say why."""
        value, why = value_with_numbers(self.session, words, self.names(), self.own_names, command)
        if why:
            self.say(f"only figures are left of it: {why}")
        return value

    def say_value(self, value: Any) -> None:
        """Print a value as `p` does; a person gets what has no room on one line on several."""
        text = without_addresses(text_of_value(value), value)
        if (
            self.is_terminal
            and cell_len(text) > self.width
            and isinstance(value, list | tuple | dict)
        ):
            text = self._on_several_lines(value)
        self.say(text)
        is_array = isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub"
        if is_array and value.size <= FEW_NUMBERS:
            self.say(numbers_of(value, self.width))

    def do_row(self, words: str) -> None:
        """Print what one row of the batch was fed with, and which sample of the data it is.

        Usage: row [N]
        Without N: the row in which a number is spoilt here, or else the one with the largest loss.
        Example: row 3
        """
        import_module(SAMPLES).say_row(self, words)

    def do_pp(self, words: str) -> None:
        """Print a value on several lines; of an array its numbers too.

        Usage: pp EXPR
        Example: pp nodes_by_depth
        """
        value = self._value_of(words, "pp")
        if isinstance(value, np.ndarray):
            self.say(text_of_value(value))
            self.say(numbers_of(value, self.width))
            return
        self.say(self._on_several_lines(value))

    def _on_several_lines(self, value: Any) -> str:
        told = replaced(value, np.ndarray, lambda array: _Text(text_of_value(array)))
        text = pprint.pformat(told, width=self.width, sort_dicts=False)
        return without_addresses(text, value)

    def do_pv(self, words: str) -> None:
        """Print the value of a symbolic tensor on the last batch that was fed.

        Usage: pv EXPR
        The weights are those of the stop. Nothing of it is recorded.
        Example: pv model.output
        """
        value = self._value_of(words, "pv")
        t = self.stop.t if self.stop is not None else -1
        self.say_value(probe(self.session, value, t, self.say_text))

    def do_whatis(self, words: str) -> None:
        """Tell what kind of thing a value is.

        Usage: whatis EXPR
        Example: whatis tensor
        """
        value = value_of(words, self.names(), "whatis")
        if isinstance(value, np.ndarray | np.generic):
            self.say(f"array {kind_of(value)}")
        elif isinstance(value, Statistics):
            self.say(f"figures of an array {value.kind}; its numbers were not kept")
        elif isinstance(value, REFS):
            self.say(f"{value!r}, as the tape describes it")
        elif isinstance(value, list | tuple | dict | set):
            self.say(f"{type(value).__name__} of {len(value)}")
        else:
            self.say(f"{type(value)}")

    def do_statement(self, words: str) -> None:
        """Run Python over the names at the stop; what it assigns is kept for you.

        Usage: !statement
        The names of the model itself are not changed by it: that is what `set` is for. A name of
        yours hides the model's; `!del NAME` shows that again.
        Example: !total = sum(w.size for w in model.get_weights())
        """
        if not words:
            raise ArgumentError("!: which statement? For example `!x = 3`.")
        made = run_statement(words, self.names(), self.say_value, self.stdout)
        hidden = [name for name in made if self._is_of_the_model(name)]
        self.own_names.update(made)
        for name in deleted_by(words):
            self.own_names.pop(name, None)
        for name in hidden:
            self.say(f"{name} is yours from here on; `!del {name}` shows the model's again")

    def _is_of_the_model(self, name: str) -> bool:
        """Return whether a name that the user assigns hides one of the model's until then."""
        if name in self.own_names:
            return False
        event = self.session.stepper.event
        told = self.session.tape.names_at(event.t) if event is not None else {}
        return name in told or any(name in names.split() for names in LIVES_IN.values())

    # --- display ----------------------------------------------------------------------------------

    def do_display(self, words: str) -> None:
        """Print an expression at each stop where its content is another.

        Usage: display [EXPR]
        Without EXPR: list what is displayed.
        Example: display list(tensor_map)
        """
        if not words:
            for display in self.displays.values():
                self.say(f"display {display.text}: {_shown(display.last)}")
            if not self.displays:
                self.say("nothing is displayed; for example `display list(tensor_map)`")
            return
        compile(words, "<stdin>", "eval")
        display = self.displays[words] = Display(words)
        self._show_display(display)

    def do_undisplay(self, words: str) -> None:
        """Display it no longer; without EXPR nothing.

        Usage: undisplay [EXPR]
        Example: undisplay list(tensor_map)
        """
        if not words:
            self.displays.clear()
        elif self.displays.pop(words, None) is None:
            listed = "; ".join(self.displays) or "nothing"
            raise ArgumentError(f"undisplay: {words!r} is not displayed. Displayed: {listed}.")

    def show_displays(self) -> None:
        """Print what has another value than at the last stop."""
        for display in self.displays.values():
            self._show_display(display)

    def _show_display(self, display: Display) -> None:
        try:
            value = Describer().snapshot(value_of(display.text, self.names(), "display"))
        except NameError:
            value = "(no such name here)"
        except Exception as error:
            value = f"({told(error)})"
        if display.is_new:
            self.say(f"display {display.text}: {_shown(value)}")
        elif not same(value, display.last):
            line = f"display {display.text}: {_shown(value)}"
            old = f"  [old: {_shown(display.last)}]"
            self.say(line + old if len(line + old) <= self.width else line)
        display.last, display.is_new = value, False

    def do_retval(self, words: str) -> None:
        """Print the value of the span that ends here.

        Usage: retval
        Example: retval
        """
        names = self.names()
        event = self.session.stepper.event
        if event is None or not any(delta.name == "result" for delta in event.deltas):
            raise ArgumentError("retval: nothing ends here with a value. `r` goes to the end.")
        self.say_value(names["result"])

    do_rv = do_retval


class _Text(str):
    """A text that shows itself without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> str:
    if isinstance(value, str) and value.startswith("("):
        return value
    return without_addresses(text_of_value(value), value)


def numbers_of(array: np.ndarray, width: int) -> str:
    r"""Return an array's numbers as Python writes them; of a large one, those at its edges.

    Examples
    --------
    >>> numbers_of(np.zeros((2, 2), "float32"), 80)
    'array([[0., 0.],\n       [0., 0.]], dtype=float32)'
    """
    text = np.array2string(
        array, max_line_width=width, separator=", ", prefix="array(", threshold=MOST_NUMBERS
    )
    is_plain = array.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool))
    return f"array({text})" if is_plain else f"array({text}, dtype={array.dtype})"


def without_addresses(text: str, value: Any) -> str:
    """Return a value's text without addresses of memory: they are others in each process.

    Examples
    --------
    >>> without_addresses("<function relu at 0x7f0012345678>", None)
    '<function relu>'
    """
    return text if isinstance(value, str) else _ADDRESS.sub("", text)


# --- alias, the stdlib debugger, a Python prompt --------------------------------------------------


class AsideCommands(Shell):
    """Commands that lead aside."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.aliases: dict[str, str] = {}

    def do_interact(self, words: str) -> None:
        """Open a Python prompt over the names at the stop; Ctrl-D or exit() comes back.

        Usage: interact
        Example: interact
        """
        console = code.InteractiveConsole({**EXITS, **self.names()})
        if not self.is_terminal:
            console.raw_input = self._line_of_python  # type: ignore[method-assign]
        out = self.stdout
        with suppress(SystemExit), redirect_stdout(out), redirect_stderr(out), _python_prompts():
            console.interact(banner="*interactive*", exitmsg="")

    def _line_of_python(self, prompt: str = "") -> str:
        line = self.read_with(prompt)
        if line == "EOF":
            raise EOFError
        return line

    def do_pdb(self, words: str) -> None:
        """Hand the engine's paused frame to Python's own debugger; its `q` or `c` comes back.

        Usage: pdb
        After a failure it begins in the frame that failed; `u` goes to those that called it.
        Example: pdb
        """
        session = self.session
        failed = frames_of_failure(session)
        stage = session.recorder.stage if session.recorder is not None else None
        frame = None if stage is None else stage.frame
        is_present = not session.is_over and session.stepper.now == len(session.tape) - 1
        if failed is None and (frame is None or not is_present):
            raise ArgumentError("pdb: nothing runs here; go to the present: `goto` the last event.")
        debugger = pdb.Pdb(stdin=self.stdin, stdout=self.stdout, nosigint=True, readrc=False)
        debugger.use_rawinput = self.reads_by_input
        debugger.reset()
        # It stops nowhere else: no trace function was set.
        debugger.interaction(None if failed else frame, failed)

    def do_alias(self, words: str) -> None:
        """Give a command line a short name; %1, %2, ... and %* stand for the words behind it.

        Usage: alias [NAME [COMMAND]]
        Example: alias fin p np.isfinite(%1).all()
        """
        name, _, line = words.partition(" ")
        if not name:
            for known in sorted(self.aliases):
                self.say(f"{known} = {self.aliases[known]}")
        elif line.strip():
            self.aliases[name] = line.strip()
        elif name in self.aliases:
            self.say(f"{name} = {self.aliases[name]}")
        else:
            raise ArgumentError(f"alias: {name!r} is none; for example `alias {name} p out`.")

    def do_unalias(self, words: str) -> None:
        """Forget an alias.

        Usage: unalias NAME
        Example: unalias fin
        """
        if self.aliases.pop(words.strip(), None) is None:
            listed = ", ".join(sorted(self.aliases)) or "none"
            raise ArgumentError(f"unalias: {words.strip()!r} is no alias; there are: {listed}.")

    def precmd(self, line: str) -> str:
        """Return the line for which an alias stands."""
        seen: set[str] = set()
        while (words := line.split()) and words[0] in self.aliases and words[0] not in seen:
            seen.add(words[0])
            line = _filled(self.aliases[words[0]], words[1:])
        return line


def _filled(line: str, words: list[str]) -> str:
    """Return a line in which words stand for %1, %2, ... and all of them for %*.

    Examples
    --------
    >>> _filled("p %1 + %2, [%*]", ["a", "b"])
    'p a + b, [a b]'
    """

    def word(found: re.Match[str]) -> str:
        if found[1] == "*":
            return " ".join(words)
        number = int(found[1])
        if number > len(words):
            raise ArgumentError(f"alias: {line!r} asks for {number} words; got {len(words)}.")
        return words[number - 1]

    return re.sub(r"%([1-9*])", word, line)


@contextmanager
def _python_prompts() -> Iterator[None]:
    """Let Python's prompts be its own ones: IPython changes them for all."""
    before = {name: getattr(sys, name) for name in ("ps1", "ps2") if hasattr(sys, name)}
    sys.ps1, sys.ps2 = ">>> ", "... "
    try:
        yield
    finally:
        for name in ("ps1", "ps2"):
            delattr(sys, name)
        vars(sys).update(before)


# --- where we are in source -----------------------------------------------------------------------

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
        labels = [call_label(self.session, span) for span in spans]
        width = max(map(len, labels), default=0)
        for place, span in enumerate(spans):
            is_chosen = here is None and place == len(spans) - 1 - self.level
            self.say_line(_line_of_span(span, is_chosen, labels[place].ljust(width)))
        if here is None and spans:
            self._say_makers(spans[-1].where)
        for caller in called:
            self._say_place(caller)
        if here is not None:
            for line in pdb_lines(here, ""):
                self.say(line)

    def _say_makers(self, where: Where) -> None:
        """Say which lines of the user's made the op that is computed, the outermost first."""
        made = where.made
        if made is None or not (made.made_by or made.called_from):
            return
        user = users_place(where)
        own = made.made_by or ((user.file, user.line, user.function),)
        lines = list(dict.fromkeys([*made.called_from[::-1], *own[::-1]]))
        if len(lines) == 1 and not made.made_by:
            return  # it stands beside the span already
        title = f"made by (gradient of {made.gradient_of})" if made.gradient_of else "made by"
        self.say(f"  {title}:")
        for line in lines:
            self._say_place(Where(*line))

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
        self._say_chosen()

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
        self._say_chosen()

    def _say_chosen(self) -> None:
        """Print the chosen span and, as pdb does, the line of source below it."""
        span = self.here()
        self.say_line(_line_of_span(span, True, call_label(self.session, span)))
        where = walked(span.where)
        source = source_line(where.file, where.line)
        if source:
            self.say_line(f"-> {source}")

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
        `l user` shows the line of the script that made the layer. At an op, its own code stands
        below the line that made it.
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
        code = with_code(self.here().where) if self.spans() and not asked else where
        if (code.file, code.line) != (where.file, where.line) and is_of_an_op(self.here().where):
            self.say(f"{shown_file(code.file)}:")
            self._say_lines(path_of(code.file), code.line, code.line - 2, code.line + 2)

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


def _line_of_span(span: Event, is_chosen: bool, told: str) -> str:
    where = with_code(span.where)
    engine = f"{shown_file(where.file)}({where.line}){where.function}()" if where.file else ""
    user = f"{shown_file(where.user_file)}:{where.user_line}" if where.user_line else ""
    made = f"  {user}  {source_line(where.user_file, where.user_line)}" if user else ""
    return f"{'>' if is_chosen else ' '} {told}  {engine}{made}".rstrip()
