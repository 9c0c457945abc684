"""The base of all commands: what reads a line, runs it, says what comes out, and survives.

There is one way in, `onecmd(line)`, for a terminal, a pipe, `-c` and a notebook. A command is a
method `do_NAME(self, words)` of a mixin. It prints with `self.say`, reports a mistake of the user
by raising ArgumentError, and moves in time with `return self.move(order)`.
"""

from __future__ import annotations

import cmd
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any

from rich.console import Console

from kerascope.debugger.names import names_at_stop
from kerascope.debugger.session import Quitting, Restarting, Session
from kerascope.errors import KerascopeError
from kerascope.trace.expressions import told
from kerascope.trace.stepper import Stepper
from kerascope.trace.stops import Stop

try:
    import readline
except ImportError:  # on Windows there is none
    readline = None  # type: ignore[assignment]

PROMPT = "(Kdb) "
WIDTH = 100  # of what is no terminal
DELIMITERS = " \t\n,:()[]{}='\"+*!<>"
NAMED = ("layer.init", "op.create", "weight.create", "op")  # events whose names can be completed


class Shell(cmd.Cmd):
    """Reads lines and runs commands.

    Parameters
    ----------
    stdin, stdout : file, optional

    Attributes
    ----------
    session : Session
        What is debugged; must be set before the first command.
    stop : Stop or None
        Where we stand.
    is_terminal : bool
        Whether a person types; else each command is echoed after its prompt.
    """

    prompt = PROMPT

    def __init__(self, stdin: IO[str] | None = None, stdout: IO[str] | None = None) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.session: Session
        self.stop: Stop | None = None
        self.own_names: dict[str, Any] = {}  # what the user assigned at the prompt
        self.is_terminal = _is_terminal(self.stdin) and _is_terminal(self.stdout)
        self._order: Callable[[Stepper], Stop | None] | None = None
        self._has_order = False
        self._is_reading = False
        self._is_still_here = False  # an order made no sense

    # --- saying -----------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Columns to write in."""
        return shutil.get_terminal_size().columns if self.is_terminal else WIDTH

    @property
    def ascii_only(self) -> bool:
        """Whether the output knows no signs beyond ASCII."""
        encoding = getattr(self.stdout, "encoding", None) or "utf-8"
        return not encoding.lower().startswith("utf")

    def say(self, what: Any = "") -> None:
        """Print a text as it is, or what rich can render, in our width."""
        if isinstance(what, str):
            print(what, file=self.stdout)
            return
        color = "auto" if self.is_terminal else None
        console = Console(
            file=self.stdout,
            width=self.width,
            color_system=color,  # type: ignore[arg-type]
            force_terminal=self.is_terminal,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            safe_box=self.ascii_only,
        )
        console.print(what)

    def names(self) -> dict[str, Any]:
        """Return the names that an expression may use here."""
        return names_at_stop(self.session, self.stop, self.own_names)

    # --- moving -----------------------------------------------------------------------------------

    def move(self, order: Callable[[Stepper], Stop | None] | None) -> bool:
        """Leave the prompt with an order for the stepper; None lets the program run on alone.

        Return what a command returns that moves. Where nothing runs, the order is done at once.
        """
        if self.session.is_over and not self._is_reading:
            if order is not None:
                stop = order(self.session.stepper)
                if stop is not None:
                    self.show(stop)
            return False
        self._order = None if order is None else partial(self._careful, order)
        self._has_order = True
        return True

    def _careful(self, order: Callable[[Stepper], Stop | None], stepper: Stepper) -> Stop | None:
        """Do an order; if it makes no sense, say so and stay. The program shall not hear of it."""
        try:
            return order(stepper)
        except KerascopeError as error:
            self.say(f"*** {error}")
        self._is_still_here = True
        return self.stop

    def show(self, stop: Stop) -> None:
        """Stand at a stop and print it."""
        self.stop = stop

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop and read commands until one moves; the prompt of a session."""
        if not self._is_still_here:
            self.show(stop)
        self._is_still_here = self._has_order = False
        self._is_reading = True
        try:
            with self._completing():
                while not self._has_order:
                    self._run_next_line()
        finally:
            self._is_reading = False
        return self._order

    def _run_next_line(self) -> None:
        try:
            line = self.read()
        except KeyboardInterrupt:
            self.say("\n--KeyboardInterrupt--")
            return
        self.onecmd(line)

    @contextmanager
    def _completing(self) -> Iterator[None]:
        """Let the tab key complete commands and names while a person types."""
        if not self.is_terminal or readline is None:
            yield
            return
        before = readline.get_completer(), readline.get_completer_delims()
        readline.set_completer(self.complete)  # type: ignore[arg-type]
        readline.set_completer_delims(DELIMITERS)
        readline.parse_and_bind("tab: complete")
        try:
            yield
        finally:
            readline.set_completer(before[0])
            readline.set_completer_delims(before[1])

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """Return commands and names that begin with a text: a line may be Python."""
        commands = super().completenames(text, *ignored)
        return [*commands, *self.completedefault(text, text, 0, len(text))]

    def completedefault(self, text: str, line: str, begidx: int, endidx: int) -> list[str]:
        """Return names of Python, layers and tensors that begin with a text."""
        events = self.session.tape[:]
        told_of = (event.name for event in events if event.kind in NAMED)
        names = dict.fromkeys([*self.names(), *told_of])
        return sorted(name for name in names if name.startswith(text))

    # --- reading ----------------------------------------------------------------------------------

    def read(self) -> str:
        """Return the next line: of those that wait, or what is typed."""
        if self.cmdqueue:
            line = self.cmdqueue.pop(0)
            print(f"{self.prompt}{line}", file=self.stdout)
            return line
        if self.is_terminal:
            try:
                return input(self.prompt)
            except EOFError:
                print(file=self.stdout)
                return "EOF"
        self.stdout.write(self.prompt)
        self.stdout.flush()
        line = self.stdin.readline()
        if not line:
            print(file=self.stdout)
            return "EOF"
        line = line.rstrip("\r\n")
        print(line, file=self.stdout)
        return line

    # --- running a line ---------------------------------------------------------------------------

    def onecmd(self, line: str) -> bool:
        """Run one line. A mistake, or a crash, is told in a line that begins with ***."""
        try:
            with self.session.paused():
                return bool(super().onecmd(self.precmd(line)))
        except (Quitting, Restarting):
            raise
        except KerascopeError as error:
            self.say(f"*** {error}")
        except KeyboardInterrupt:
            self.say("--KeyboardInterrupt--")
        except BrokenPipeError:
            raise
        except (Exception, SystemExit) as error:
            self.say(f"*** {told(error)}")
        return False


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
