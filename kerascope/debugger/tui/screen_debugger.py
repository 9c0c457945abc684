"""The debugger of the full-screen interface, with the commands of the plain prompt.

The panes show the output of its commands at a stop, computed in the program's thread.
"""

from __future__ import annotations

import io
import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import IO, Any

from rich.syntax import Syntax
from rich.text import Text

from kerascope.debugger.commands import END_OF_INPUT
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.looking import chosen_span, spans_around
from kerascope.debugger.pictures import picture_of
from kerascope.debugger.places import is_of_an_op, path_of, users_place, with_code
from kerascope.debugger.rendering import span_labels
from kerascope.debugger.shell import DELIMITERS
from kerascope.debugger.tables import info
from kerascope.debugger.tui.bridge import (
    Bridge,
    CompletionRequest,
    Completions,
    Interrupt,
    ScreenReader,
    ScreenWriter,
    Size,
    View,
)
from kerascope.errors import KerascopeError
from kerascope.trace.events import Event
from kerascope.trace.expressions import error_text
from kerascope.trace.stepper import Stepper, Stop
from kerascope.viz.exports.to_text import text_drawing
from kerascope.viz.theme import STATES

# --- what the panes show --------------------------------------------------------------------------


TABLES = ("tensors", "grads", "updates", "weights")
CURRENT_LINE = "bold reverse"


def view_of(debugger: ScreenDebugger, sizes: dict[str, Size]) -> View:
    """Return the content of the screen at the current stop.

    An error in a pane is shown in that pane, because the screen must never end the program.
    """
    event = debugger.session.stepper.event
    place, time = _place_of(debugger, event)
    panes = {"source": lambda size: _engine_source(debugger, size)}
    panes["script"] = lambda size: _user_source(debugger, size)
    panes["graph"] = lambda size: _graph(debugger, size)
    for name in TABLES:
        panes[name] = lambda size, table=name: _table(debugger, table, size)  # type: ignore[misc]
    shown = {}
    for name, draw in panes.items():
        try:
            shown[name] = draw(sizes.get(name, Size(76, 12)))
        except KerascopeError as error:
            shown[name] = Text(_without_command(str(error)), style="dim")
        except Exception as error:
            shown[name] = Text(f"*** {error_text(error)}", style="red")
    return View(place, time, shown, _row_of_current(shown["graph"], debugger.ascii_only))


def _place_of(debugger: ScreenDebugger, event: Event | None) -> tuple[str, str]:
    count = len(debugger.session.tape)
    if event is None:
        where = "before the first event" if debugger.session.stepper.now < 0 else "at the end"
        return where, f"{count} events" if count else ""
    number = debugger.session.timelines.current.number
    timeline = f"  timeline {number}" if number > 1 else ""
    return " > ".join(span_labels(debugger.session, event)), f"t={event.t} of {count}{timeline}"


def _without_command(words: str) -> str:
    """Return an error's text without the name of the command whose output the pane shows."""
    command, _, rest = words.partition(": ")
    return rest if command in ("list", "draw", "info") else words


# --- source ---------------------------------------------------------------------------------------


def _engine_source(debugger: ScreenDebugger, size: Size) -> Text:
    """Return the engine's source around the current line, as `l` does, in the pane's height.

    At an op, the upper half shows the user's line, and the lower half the code of the op.
    """
    event = debugger.session.stepper.event
    where = None if event is None else chosen_span(debugger).where
    if where is None or not where.file:
        return _user_source(debugger, size)
    if not is_of_an_op(where):
        return source_text(path_of(where.file), where.line, size.height)
    user, code, above = users_place(where), with_code(where), (size.height + 1) // 2
    shown = source_text(user.file, user.line, above)
    shown.append("\n")
    return shown.append_text(source_text(path_of(code.file), code.line, size.height - above))


def _user_source(debugger: ScreenDebugger, size: Size) -> Text:
    """Return the script's lines around the line that made the current layer.

    If no layer is current, return the first lines of the script.
    """
    for span in reversed(spans_around(debugger)):
        if span.where.user_line:
            return source_text(span.where.user_file, span.where.user_line, size.height)
    script = debugger.session.script
    if script is None:
        return Text("no line of the script made this layer", style="dim")
    return source_text(str(script), 0, size.height)


def source_text(file: str, current: int, height: int) -> Text:
    """Return numbered lines of a file around the current one, which is marked as in `l`."""
    lines = _coloured_lines(file, tuple(linecache.getlines(file)))
    if not lines:
        return Text(f"the source of {file} was not found", style="dim")
    first = max(min(current - height // 2, len(lines) - height + 1), 1)
    shown = []
    for number in range(first, min(first + height, len(lines) + 1)):
        mark = "->" if number == current else "  "
        line = Text(f"{number:4d} {mark} ", style="" if number == current else "dim")
        line.append_text(lines[number - 1])
        if number == current:
            line.stylize(CURRENT_LINE)
        line.rstrip()
        shown.append(line)
    return Text("\n", no_wrap=True, overflow="crop", end="").join(shown)


@lru_cache(maxsize=32)
def _coloured_lines(file: str, lines: tuple[str, ...]) -> list[Text]:
    """Return a file's lines with syntax colours.

    The file is highlighted as a whole, because a string can span several lines.
    """
    code = Syntax("", "python", theme="ansi_dark").highlight("".join(lines))
    return list(code.split("\n"))[: len(lines)]


# --- graph and tables -----------------------------------------------------------------------------


def _graph(debugger: ScreenDebugger, size: Size) -> Text:
    """Return the drawing of the graph; if it is higher than the pane, with smaller boxes."""
    picture = picture_of(debugger.session)
    terse = replace(picture.options, show_shapes=False, show_layer_activations=False)
    for options in (picture.options, terse):
        drawing = text_drawing(
            picture.graph, options, width=size.width, ascii_only=debugger.ascii_only
        )
        if drawing.plain.count("\n") < size.height:
            break
    return drawing


def _row_of_current(drawing: Text, ascii_only: bool) -> int | None:
    """Return the index of the drawing's row with the current layer; None if no row shows it."""
    state = STATES["current"]
    sign = f"{state.plain if ascii_only else state.glyph} "
    rows = drawing.plain.split("\n")
    return next((number for number, row in enumerate(rows) if sign in row), None)


def _table(debugger: ScreenDebugger, table: str, size: Size) -> Text:
    """Return the text that `info` prints for a table, in the width of the pane."""
    said = io.StringIO()
    with debugger.saying_to(said, size.width):
        info(debugger, table)
    text = Text(said.getvalue().rstrip("\n"), no_wrap=True, overflow="crop")
    first_line = text.plain.partition("\n")[0]
    text.stylize("dim", 0, len(first_line))
    return text


# --- the debugger ---------------------------------------------------------------------------------


LEAST_WIDTH = 40


class ScreenDebugger(ModelDebugger):
    """The debugger whose lines come from a bridge; it updates the panes before it waits.

    Parameters
    ----------
    bridge : Bridge
    """

    def __init__(self, bridge: Bridge) -> None:
        terminal = sys.stdout
        reader: Any = ScreenReader(bridge, self.interrupt)
        writer: Any = ScreenWriter(bridge, terminal)
        super().__init__(reader, writer)
        self.bridge = bridge
        self.is_terminal = False  # no colours and no readline, because the app provides both
        self._pane_width: int | None = None
        self._encoding = getattr(terminal, "encoding", None) or "utf-8"

    @property
    def width(self) -> int:
        """The columns of the transcript, or of the pane whose content is being computed."""
        if self._pane_width is not None:
            return self._pane_width
        size = self.bridge.sizes.get("log")
        return max(size.width, LEAST_WIDTH) if size is not None else super().width

    @property
    def ascii_only(self) -> bool:
        """Whether the terminal can only show ASCII characters."""
        return not self._encoding.lower().startswith("utf")

    @contextmanager
    def saying_to(self, file: IO[str], width: int) -> Iterator[None]:
        """Make `say` write lines of `width` characters to a file inside a `with` block."""
        before = self.stdout, self._pane_width
        self.stdout, self._pane_width = file, width
        try:
            yield
        finally:
            self.stdout, self._pane_width = before

    # --- lines ------------------------------------------------------------------------------------

    def read(self) -> str:
        """Return the next line, a queued one or one from the screen, echoed after its prompt."""
        if self.cmdqueue:
            return super().read()
        while True:
            found = self.bridge.request(self.prompt, self.look)
            if isinstance(found, Interrupt):
                raise KeyboardInterrupt
            if isinstance(found, CompletionRequest):
                self.bridge.complete(self.completed(found.line))
            elif isinstance(found, str):
                echo = "" if found == END_OF_INPUT else found
                print(f"{self.prompt}{echo}", file=self.stdout)
                return found

    def look(self) -> View:
        """Return the content of the panes; the recorder is paused while it is computed."""
        with self.session.paused():
            return view_of(self, dict(self.bridge.sizes))

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop, read lines until a command chooses a movement, and return this movement.

        A movement is a function that moves the stepper and returns its next stop.

        If the command `detach` was typed, return None and notify the screen.
        """
        order = super().ask(stop)
        if order is None:
            self.bridge.detach()
        return order

    # --- completion -------------------------------------------------------------------------------

    def completed(self, line: str) -> Completions:
        """Return the completions of a line, as the tab key does at the plain prompt."""
        start = len(line)
        while start and line[start - 1] not in DELIMITERS:
            start -= 1
        text = line[start:]
        try:
            with self.session.paused():
                found = list(dict.fromkeys(self.completions(text, line, start, len(line))))
        except Exception:  # an attribute that raises has no completions
            found = []
        return Completions(line, start, found)

    # --- Ctrl-C -----------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop the program at its next event, as Ctrl-C does; a second call ends it.

        Raises
        ------
        KeyboardInterrupt
            No event has come since the first call, or a command is running.
        """
        self.session.interrupt()


def thread_interrupted(thread: threading.Thread) -> bool:
    """Raise KeyboardInterrupt in another thread, when that thread next runs Python code.

    Return whether the thread is running.
    """
    import ctypes

    if thread.ident is None:
        return False
    name = ctypes.c_ulong(thread.ident)
    error = ctypes.py_object(KeyboardInterrupt)
    return bool(ctypes.pythonapi.PyThreadState_SetAsyncExc(name, error))
