"""The base of all commands: reads a line, runs it, prints results and errors.

It also parses typed lines and keeps their history.
"""

from __future__ import annotations

import builtins
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial, reduce
from pathlib import Path
from types import BuiltinFunctionType, ModuleType
from typing import IO, Any, TypeVar

from rich.console import Console

from kerascope.debugger.commands import END_OF_INPUT, Registry
from kerascope.debugger.evaluating import NamesAtStop, names_at_stop
from kerascope.debugger.places import first_line, shown_place, where_of
from kerascope.debugger.rendering import Page
from kerascope.debugger.session import Quitting, Restarting, Session
from kerascope.errors import ArgumentError, KerascopeError
from kerascope.printable import printable_lines
from kerascope.trace.events import Where
from kerascope.trace.expressions import error_text
from kerascope.trace.stepper import Stepper, Stop

# --- parsing a typed line -------------------------------------------------------------------------


def number_in(words: str, command: str, default: int = 1) -> int:
    """Return the number of repetitions typed after a command; `default` if nothing was typed.

    Raises
    ------
    ArgumentError
        The words are not a whole number.
    """
    if not words:
        return default
    try:
        return int(words)
    except ValueError:
        raise ArgumentError(
            f"{command}: expected a number of times (`{command} 3`), got {words!r}."
        ) from None


def whole_number(text: str, command: str, what: str) -> int:
    """Return the whole number in a typed text.

    Raises
    ------
    ArgumentError
        The text is not a whole number.
    """
    if not text.strip().isdigit():
        raise ArgumentError(f"{command}: expected {what} (`{command} 1`), got {text.strip()!r}.")
    return int(text)


def split_commands(line: str) -> list[str]:
    """Return the commands that `;;` separates, as in pdb; a `;;` inside quotes does not count.

    Examples
    --------
    >>> split_commands("b dense_1 ;; c;;p ';;'")
    ['b dense_1', 'c', "p ';;'"]
    """
    pieces, quote, begin, place = [], "", 0, 0
    while place < len(line):
        sign = line[place]
        if sign == "\\" and quote:
            place += 1
        elif sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif line.startswith(";;", place) and not quote:
            pieces.append(line[begin:place])
            place += 1
            begin = place + 1
        place += 1
    if not pieces:
        return [line]
    stripped = (piece.strip() for piece in (*pieces, line[begin:]))
    return [piece for piece in stripped if piece]


def parse_line(line: str) -> tuple[str | None, str, str]:
    """Split a typed line. Return the name of its command, the words after the name, and the line.

    For lines such as `s = 3` and `n.shape`, which are Python although `s` and `n` are commands,
    the name is None. For other lines of Python it is the first name in the line, or "" if the line
    does not begin with one. For `!x` the name is "statement", and `?x` is read as `help x`.

    Examples
    --------
    >>> parse_line(" b dense_1 "), parse_line("s = 3"), parse_line("?")
    (('b', 'dense_1', 'b dense_1'), (None, '', 's = 3'), ('help', '', 'help '))
    """
    line = line.strip()
    if line.startswith("!"):
        return "statement", line[1:].strip(), line
    line = f"help {line[1:]}" if line.startswith("?") else line
    name = re.match(r"[A-Za-z0-9_]*", line)[0]  # type: ignore[index]
    words = line[len(name) :].strip()
    if name and words and not words.startswith("=="):
        is_attached = line[len(name)] == words[0]  # `p [1, 2]` prints a list
        if words[0] == "=" or (words[0] in ".[" and is_attached):
            return None, "", line
    return name, words, line


def commands_in(file: str, option: str) -> list[str]:
    """Return the commands in a file, one per line; lines that begin with # are comments.

    Raises
    ------
    ArgumentError
        The file cannot be read. The message begins with the text `option`.
    """
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"{option} {file}: cannot read the commands: {getattr(error, 'strerror', 0) or error}."
        ) from None
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


# --- the history of typed lines, kept between sessions --------------------------------------------
# `readline` has one list of lines for the whole process, and the debugged program may use it too.
# So the debugger's list replaces the program's list while the prompt is open. Errors are ignored:
# a history file that cannot be read or written is treated as missing.


FILE = ".kscope_history"
LONGEST = 1000  # lines that are kept
LARGEST = 1_000_000  # bytes read from the end of the file


class History:
    """The history of typed lines.

    Parameters
    ----------
    readline : module or None
        Python's module `readline`; None on systems without this module.
    path : Path, optional
        The history file; the default is a file in the home directory.

    Attributes
    ----------
    lines : list of str or None
        The typed lines, oldest first; None until the history file is read.
    """

    def __init__(self, readline: ModuleType | None, path: Path | None = None) -> None:
        self.readline = readline
        self.lines: list[str] | None = None
        self._path = path

    @property
    def path(self) -> Path | None:
        """The history file; None if the home directory is unknown."""
        if self._path is None:
            with suppress(RuntimeError):
                return Path.home() / FILE
        return self._path

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the arrow keys show the debugger's own history inside a `with` block."""
        if self.readline is None:
            yield
            return
        theirs = _listed(self.readline)
        _put(self.readline, self._known())
        try:
            yield
        finally:
            _put(self.readline, theirs)

    def _known(self) -> list[str]:
        if self.lines is None:
            self.lines = self._read()
        return self.lines

    def note(self, line: str) -> None:
        """Add a typed line to the history, unless it is blank or repeats the last line."""
        lines = self._known()
        if not line.strip() or not line.isprintable() or lines[-1:] == [line]:
            return
        lines.append(line)
        del lines[:-LONGEST]
        self._write(line)

    def forget_last(self) -> None:
        """Remove the last line from the arrow keys' history, because it answers a question."""
        if self.readline is not None:
            with suppress(ValueError):
                self.readline.remove_history_item(self.readline.get_current_history_length() - 1)

    def _read(self) -> list[str]:
        path = self.path
        with suppress(OSError):
            if path is not None and path.is_file():
                with path.open("rb") as stream:
                    stream.seek(max(path.stat().st_size - LARGEST, 0))
                    text = stream.read().decode("utf-8", "replace")
                lines = [line for line in text.split("\n") if line.strip() and line.isprintable()]
                if len(lines) > LONGEST:
                    self._shorten(path, lines[-LONGEST:])
                return lines[-LONGEST:]
        return []

    def _write(self, line: str) -> None:
        """Append a line to the history file; another session may append lines at the same time."""
        path = self.path
        with suppress(OSError, UnicodeEncodeError):
            if path is not None and (path.is_file() or not path.exists()):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                descriptor = os.open(path, flags, 0o600)  # commands may contain private names
                with os.fdopen(descriptor, "a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")

    @staticmethod
    def _shorten(path: Path, lines: list[str]) -> None:
        with suppress(OSError):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _listed(readline: ModuleType) -> list[str]:
    count = readline.get_current_history_length()
    items = (readline.get_history_item(place) for place in range(1, count + 1))
    return [item for item in items if item is not None]


def _put(readline: ModuleType, lines: list[str]) -> None:
    readline.clear_history()
    for line in lines:
        readline.add_history(line)


# --- the shell ------------------------------------------------------------------------------------


try:
    import readline
except ImportError:  # Windows has no readline
    readline = None  # type: ignore[assignment]

PROMPT = "(Kdb) "
WIDTH = 100  # columns if the output is not a terminal
NO_INPUT = (
    "This notebook runs without input, so commands cannot be typed. Give the commands beforehand: "
    "%%kdb -c 'b dense_1' -c c -c 'p out' -c detach"
)
DELIMITERS = " \t\n,:()[]{}='\"+*!<>"
YES, NO = ("y", "yes"), ("n", "no")
NAMED = ("layer.init", "op.create", "weight.create", "op")  # events whose names can be completed


State = TypeVar("State")


class Shell:
    """The base class of the debuggers, which reads lines and runs commands.

    Parameters
    ----------
    commands : Registry
        The commands that can be typed.
    stdin, stdout : file, optional

    Attributes
    ----------
    prompt : str
    cmdqueue : list of str
        Queued lines; they run before a line is read.
    last_line : str
        The command that an empty line repeats.
    session : Session
        The debugged session; must be set before the first command.
    stop : Stop or None
        The current stop.
    is_terminal : bool
        Whether a person types at a terminal; otherwise each command is echoed after its prompt.
    lacks_input : bool
        Whether input was requested but impossible: in a notebook that runs without input.
    is_unattended : bool
        Whether the session runs without a prompt.
    """

    def __init__(
        self, commands: Registry, stdin: IO[str] | None = None, stdout: IO[str] | None = None
    ) -> None:
        self.commands = commands
        self.stdin: IO[str] = sys.stdin if stdin is None else stdin
        self.stdout: IO[str] = sys.stdout if stdout is None else stdout
        self.prompt = PROMPT
        self.cmdqueue: list[str] = []
        self.last_line = ""
        self.session: Session
        self.stop: Stop | None = None
        self.own_names: dict[str, Any] = {}  # names that the user assigned at the prompt
        self.is_terminal = _is_terminal(self.stdin) and _is_terminal(self.stdout)
        self.history = History(readline)
        self._order: Callable[[Stepper], Stop | None] | None = None
        self._has_order = False
        self._is_reading = False
        self._order_failed = False  # whether an order failed, so that the stop stays
        self.lacks_input = self.is_unattended = False
        self._states: dict[type, Any] = {}
        self._completions: list[str] = []

    def state(self, kind: type[State]) -> State:
        """Return the shell's only object of the class `kind`; the first call creates the object.

        Commands store their state between two calls in objects of this kind.

        Examples
        --------
        >>> shell = Shell(Registry())
        >>> shell.state(list).append(3)
        >>> shell.state(list)
        [3]
        """
        if kind not in self._states:
            self._states[kind] = kind()
        found: State = self._states[kind]
        return found

    # --- printing ---------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """The width of the output in columns."""
        return shutil.get_terminal_size().columns if self.is_terminal else WIDTH

    @property
    def ascii_only(self) -> bool:
        """Whether the output can only show ASCII characters."""
        encoding = getattr(self.stdout, "encoding", None) or "utf-8"
        return not encoding.lower().startswith("utf")

    @property
    def page(self) -> Page:
        """The `Page` of the output: its width and its characters, to which lines are fitted."""
        return Page(self.width, self.ascii_only, self.is_terminal)

    def say_line(self, line: str) -> None:
        """Print a line, cut to the width of the output."""
        self.say(self.page.cut(line))

    def say_text(self, text: str) -> None:
        """Print lines of text; in a terminal, long lines are wrapped at spaces."""
        self.say("\n".join(self.page.wrapped(text)))

    def say_prose(self, text: str) -> None:
        """Print paragraphs of text; in a terminal they are wrapped to its width."""
        self.say("\n".join(self.page.filled(text)))

    def say_traceback(self, text: str) -> None:
        """Print a traceback. In a terminal, its source lines are cut and its message is wrapped."""
        for line in text.split("\n"):
            if line.startswith("  ") and self.is_terminal:
                self.say_line(line)
            else:
                self.say_text(line)

    def say(self, what: Any = "") -> None:
        """Print a text after removing its control characters, or an object that rich can render."""
        if isinstance(what, str):
            print(printable_lines(what), file=self.stdout)
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

    def names(self) -> NamesAtStop:
        """Return the names that an expression may use at the current stop, with their values."""
        return names_at_stop(self.session, self.stop, self.own_names)

    def place_of_program(self) -> Where | None:
        """Return the program's current file and line, at a stop that is not at an event.

        This is the line of `set_trace`, or the first line of a script that has not started. At an
        event, or if the program has ended, return None.
        """
        session = self.session
        frame = session.frame_at(self.stop)
        if frame is not None:
            return where_of(frame)
        if session.is_over or session.stepper.event is not None:
            return None
        if session.started_at.file or session.script is None:
            return session.started_at if session.started_at.file else None
        return Where(str(session.script), first_line(session.script), "<module>")

    def place_of_building(self) -> Where | None:
        """Return the script's file and line for the current event; None to show the engine's line.

        The script's line is shown for ops, and for events without a line of the engine, which are
        the begin and the end of building a model. Other events show their line in the engine.
        """
        event = self.session.stepper.event
        if event is None or (event.where.file and event.where.made is None):
            return None
        return shown_place(event.where)

    # --- moving -----------------------------------------------------------------------------------

    def move(self, order: Callable[[Stepper], Stop | None] | None) -> bool:
        """Store an order for the stepper, and return True to leave the prompt.

        An order is a function that moves the stepper and returns its stop; None detaches the
        program. If no program is running, the order runs at once. Then return False, because the
        prompt stays open.
        """
        if self.session.is_over and not self._is_reading:
            if order is not None:
                stop = order(self.session.stepper)
                if stop is not None:
                    self.show(stop)
            return False
        self._order = None if order is None else partial(self._run_order, order)
        self._has_order = True
        return True

    def _run_order(self, order: Callable[[Stepper], Stop | None], stepper: Stepper) -> Stop | None:
        """Run an order, which is a function that moves the stepper, and return its stop.

        If the order raises, print the error and return the current stop. The program does not
        see the exception.
        """
        try:
            return order(stepper)
        except BrokenPipeError:
            raise
        except Exception as error:
            self.say_error(error)
        self._order_failed = True
        return self.stop

    def show(self, stop: Stop) -> None:
        """Make a stop the current one and print it."""
        self.stop = stop

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop, read commands until one chooses a movement, and return this movement.

        A movement is a function that moves the stepper and returns its next stop. To detach the
        program, return None.
        """
        if not self._order_failed:
            self._show_all(stop)
        self._order_failed = self._has_order = False
        self._is_reading = True
        try:
            with self._completing():
                while not self._has_order:
                    self._run_next_line()
        finally:
            self._is_reading = False
        return self._order

    def _show_all(self, stop: Stop) -> None:
        """Show a stop. An error of showing it is printed, and is not raised in the program."""
        try:
            self.show(stop)
        except KeyboardInterrupt:
            self.say("--KeyboardInterrupt--")
        except BrokenPipeError:
            raise
        except Exception as error:
            self.say_error(error)

    def _run_next_line(self) -> None:
        try:
            line = self.read()
        except KeyboardInterrupt:
            self.say("\n--KeyboardInterrupt--")
            return
        self.onecmd(line)

    @contextmanager
    def _completing(self) -> Iterator[None]:
        """Make the tab key complete commands and names inside a `with` block, in a terminal."""
        if not self.is_terminal or readline is None:
            yield
            return
        before = readline.get_completer(), readline.get_completer_delims()
        readline.set_completer(self.complete)
        readline.set_completer_delims(DELIMITERS)
        readline.parse_and_bind("tab: complete")
        try:
            with self.history.in_place():
                yield
        finally:
            readline.set_completer(before[0])
            readline.set_completer_delims(before[1])

    def complete(self, text: str, state: int) -> str | None:
        """Return the completion number `state` of the word at the cursor; None after the last.

        `readline` calls this with 0, 1, ... until it returns None.
        """
        if state == 0:
            typed = readline.get_line_buffer()
            line = typed.lstrip()
            left = len(typed) - len(line)
            begin, end = readline.get_begidx() - left, readline.get_endidx() - left
            self._completions = self.completions(text, line, begin, end)
        return self._completions[state] if state < len(self._completions) else None

    def completions(self, text: str, line: str, begin: int, end: int) -> list[str]:
        """Return the completions of a text that is in a line from `begin` to `end`.

        At the start of a line, these are commands and names, because a line may be Python.
        """
        if not line[:begin].strip():
            commands = [name for name in self.commands.names if name.startswith(text)]
            return [*commands, *self.names_like(text)]
        command = self.commands.find(parse_line(line)[0])
        completes = None if command is None else command.completes
        if completes is None:
            return self.names_like(text)
        if callable(completes):
            return completes(self, text, line, begin, end)
        return [word for word in completes if word.startswith(text)]

    def names_like(self, text: str) -> list[str]:
        """Return the Python names, attributes, layers and tensors whose names begin with a text."""
        events = self.session.tape[:]
        on_tape = (event.name for event in events if event.kind in NAMED)
        known = self.names()
        names = dict.fromkeys([*known, *on_tape, *_attributes(text, known)])
        return sorted(name for name in names if name.startswith(text))

    # --- reading ----------------------------------------------------------------------------------

    @property
    def reads_by_input(self) -> bool:
        """Whether lines are read by `input()`: in a terminal, and in a notebook.

        A notebook replaces Python's `input`, and has no standard input.
        """
        has_own_input = not isinstance(builtins.input, BuiltinFunctionType)
        return self.is_terminal or (has_own_input and self.stdin is sys.stdin)

    def read(self) -> str:
        """Return the next line: a queued one, or one from the input."""
        if self.cmdqueue:
            line = self.cmdqueue.pop(0)
            print(f"{self.prompt}{line}", file=self.stdout)
            return line
        if self.reads_by_input:
            try:
                return self._typed()
            except EOFError:
                print(file=self.stdout)
            except NotImplementedError:  # raised by a kernel whose client cannot ask for input
                self.lacks_input = True
                if self.last_line == "" or not self.session.is_over:
                    self.say(f"*** {NO_INPUT}")
            return END_OF_INPUT
        self.stdout.write(self.prompt)
        self.stdout.flush()
        line = self._piped()
        if not line:
            print(file=self.stdout)
            return END_OF_INPUT
        line = line.rstrip("\r\n")
        print(line, file=self.stdout)
        return line

    def read_with(self, prompt: str) -> str:
        """Return the next line, read with this prompt instead of the usual one."""
        before, self.prompt = self.prompt, prompt
        try:
            return self.read()
        finally:
            self.prompt = before

    def is_agreed(self, question: str) -> bool:
        """Ask a question, and return whether the answer is yes.

        A pipe may contain no answer. If its next line is neither yes nor no, the answer is yes, and
        the line stays queued as a command.
        """
        is_typed = self.reads_by_input and not self.cmdqueue
        if not (is_typed or self.cmdqueue) and (line := self._piped()):
            self.cmdqueue.append(line.rstrip("\r\n"))
        next_lines = [line.strip().lower() for line in self.cmdqueue[:1]]
        if is_typed or any(line in ("", *YES, *NO) for line in next_lines):
            return self.read_with(question).strip().lower() in YES
        print(f"{question}y", file=self.stdout)
        return True

    def _piped(self) -> str:
        """Return the next line of a pipe; "" at its end, or if it cannot be read."""
        stream: IO[str] | None = self.stdin
        if stream is None:  # the process has no standard input
            return ""
        try:
            return stream.readline()
        except (OSError, ValueError) as error:
            self.say(f"\n*** standard input: {error_text(error)}")
            return ""

    def _typed(self) -> str:
        """Return the next line that a person types at the prompt."""
        line = input(self.prompt)
        if not self.is_terminal:
            return line  # a notebook has no history for the arrow keys
        if self.prompt == PROMPT:
            self.history.note(line)
        elif line:
            self.history.forget_last()
        return line

    # --- running a line ---------------------------------------------------------------------------

    def onecmd(self, line: str) -> bool:
        """Run one line; an error is printed in a line that begins with ***.

        Commands separated by `;;` run one after the other. After a command that moves the program,
        the remaining ones wait for the next stop. Return whether the line leaves the prompt.
        """
        if line.strip() == END_OF_INPUT:
            raise Quitting
        moves = False
        with self._printing_errors():
            line = self.unaliased(line)
            pieces = [line] if line.startswith("alias ") else split_commands(line)
            while pieces and not moves:
                moves = self._run_command(pieces.pop(0))
            self.cmdqueue[:0] = pieces
        return moves

    def unaliased(self, line: str) -> str:
        """Return the line with its alias expanded; this shell has none, so return it unchanged."""
        return line

    def _run_command(self, line: str) -> bool:
        moves = False
        with self._printing_errors(), self.session.paused():
            moves = self._run_parsed(*parse_line(line))
        return moves

    def _run_parsed(self, name: str | None, words: str, line: str) -> bool:
        """Run a command, or a line of Python; an empty line repeats the last one."""
        if not line:
            return bool(self.last_line) and self.onecmd(self.last_line)
        command = self.commands.find(name)
        if command is not None and name is not None:
            command.check_words(name, words)
        self.last_line = line if name is not None else self.last_line
        if line == END_OF_INPUT:
            raise Quitting
        if command is not None:
            return bool(command.function(self, words))
        self.run_python(line)
        return False

    def run_python(self, line: str) -> None:
        """Run a line that is not a command, as Python. Subclasses must implement this."""
        raise NotImplementedError

    @contextmanager
    def _printing_errors(self) -> Iterator[None]:
        """Print an exception raised inside a `with` block, unless it ends the session.

        Exceptions that end the session are raised again.
        """
        try:
            yield
        except (Quitting, Restarting, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            self.say("--KeyboardInterrupt--")
        except (Exception, SystemExit) as error:
            self.say_error(error)

    def say_error(self, error: BaseException) -> None:
        """Print an error, in a line that begins with ***."""
        text = str(error) if isinstance(error, KerascopeError) else error_text(error)
        self.say_text(f"*** {text}")


def _attributes(text: str, names: Mapping[str, Any]) -> list[str]:
    """Return the attributes of the object in a text such as "model.la", as completions.

    Private attributes are completed only after an underscore.
    """
    owner, _, start = text.rpartition(".")
    first, *rest = owner.split(".")
    try:
        found = dir(reduce(getattr, rest, names[first]))
    except Exception:  # the owner cannot be evaluated
        return []
    return [f"{owner}.{name}" for name in found if start[:1] == "_" or name[:1] != "_"]


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
