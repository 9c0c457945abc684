"""Messages between two threads: the debugged program, and the app that draws the screen.

The app sends lines and requests to the program, which waits for them while it is stopped. The
program sends text, views and completions; the app is notified, and takes all news at once.
"""

from __future__ import annotations

import io
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from rich.text import Text

from kerascope.debugger.commands import END_OF_INPUT


class Size(NamedTuple):
    """The columns and rows of a pane that are available for text."""

    width: int
    height: int


class View(NamedTuple):
    """The content of the screen at a stop.

    Attributes
    ----------
    place : str
        The enclosing spans, as a path.
    time : str
        The position on the tape, as text.
    panes : dict of str to Text
        The content of each pane by name.
    graph_row : int or None
        The row of the graph with the current layer.
    """

    place: str
    time: str
    panes: dict[str, Text]
    graph_row: int | None


class Refresh(NamedTuple):
    """A request to show the panes again, because their sizes have changed."""


class Interrupt(NamedTuple):
    """A request to interrupt: Ctrl-C was pressed while the program waits for a line."""


class CompletionRequest(NamedTuple):
    """A request for completions of a line."""

    line: str


class Completions(NamedTuple):
    """The completions of a line, for the word that begins at `start`."""

    line: str
    start: int
    words: list[str]


class News(NamedTuple):
    """The messages from the program since the last call of `take`, and the present prompt."""

    text: str
    view: View | None
    completed: Completions | None
    asking: str | None
    is_over: bool


Request = str | Refresh | Interrupt | CompletionRequest


class Bridge:
    """The messages between the program's thread and the app, in both directions.

    Attributes
    ----------
    notify : callable
        Called in the program's thread when `take` has new messages for the app.
    sizes : dict of str to Size
        Columns and rows of each pane; the app sets them.
    asking : str or None
        The prompt, while the program waits for a line.
    is_detached : bool
        Whether the program continues without the screen.
    is_over : bool
        Whether the program's thread sends nothing more.
    """

    def __init__(self) -> None:
        self.notify: Callable[[], Any] = lambda: None
        self.sizes: dict[str, Size] = {}
        self.asking: str | None = None
        self.is_detached = False
        self.is_over = False
        self._requests: deque[Request] = deque()
        self._changed = threading.Condition()
        self._text: list[str] = []
        self._late: list[str] = []  # written after detaching, before the screen was closed
        self._screen_left = False
        self._view: View | None = None
        self._completed: Completions | None = None
        self._is_notified = False

    # --- in the app's thread ----------------------------------------------------------------------

    def send(self, request: Request) -> None:
        """Put a line or a request into the queue, which the program's thread reads in order."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def take(self) -> News:
        """Return the messages from the program since the last call of this method."""
        with self._changed:
            news = News("".join(self._text), self._view, self._completed, self.asking, self.is_over)
            self._text.clear()
            self._view = self._completed = None
            self._is_notified = False
        return news

    def leave_screen(self) -> str:
        """Let further output go to the terminal, because the screen is closed.

        Return the output that was printed after detaching, while the screen was still open.
        """
        with self._changed:
            self._screen_left = True
            return "".join(self._late)

    def wait_until_asking(self) -> None:
        """Wait until the program has handled all sent lines and waits for a line, or has ended.

        The method blocks. Only tests may call it, because the app's thread must keep drawing.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.is_over or self.is_idle)

    @property
    def is_idle(self) -> bool:
        """Whether the program waits for a line, and the queue contains no line or request."""
        return self.asking is not None and not self._requests

    # --- in the program's thread ------------------------------------------------------------------

    def request(self, prompt: str, look: Callable[[], View] | None = None) -> Request:
        """Return the next line or request, and wait for it if necessary.

        Parameters
        ----------
        prompt : str
        look : callable, optional
            Computes the content of the panes. It is called only before waiting. So when many lines
            are sent together, the panes are not computed for each of them.
        """
        view = look() if look is not None and not self._requests else None
        with self._changed:
            if not self._requests:
                self._view = view
                self.asking = prompt
                self._tell()
                self._changed.wait_for(lambda: bool(self._requests))
            self.asking = None
            self._tell()
            return self._requests.popleft()

    def write(self, text: str) -> bool:
        """Show a text in the transcript; return False if the screen is closed."""
        with self._changed:
            if self._screen_left:
                return False
            if self.is_detached:
                self._late.append(text)
            else:
                self._text.append(text)
                self._tell()
        return True

    def complete(self, completed: Completions) -> None:
        """Store the completions that the app requested, for its next call of `take`."""
        with self._changed:
            self._completed = completed

    def detach(self) -> None:
        """Notify the app that the program continues without the screen."""
        with self._changed:
            self.is_detached = self.is_over = True
            self._tell()

    def finish(self) -> None:
        """Notify the app that the program has ended."""
        with self._changed:
            self.is_over = True
            self._tell()

    def _tell(self) -> None:
        self._changed.notify_all()
        if not self._is_notified:
            self._is_notified = True
            self.notify()


class ScreenWriter(io.TextIOBase):
    """A file that writes to the transcript, or to the terminal when the screen is closed.

    Parameters
    ----------
    bridge : Bridge
    terminal : file
    """

    def __init__(self, bridge: Bridge, terminal: IO[str]) -> None:
        super().__init__()
        self._bridge = bridge
        self._terminal = terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the terminal."""
        return getattr(self._terminal, "encoding", None) or "utf-8"

    def writable(self) -> bool:
        """Return True, because text can always be written."""
        return True

    def write(self, text: str) -> int:
        """Write a text to the transcript, or to the terminal when the screen is closed."""
        if not self._bridge.write(text):
            self._terminal.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the terminal if the program has detached; the screen needs no flushing."""
        if self._bridge.is_detached and not self.closed:
            self._terminal.flush()


class ScreenReader(io.TextIOBase):
    """A file with the lines typed at the prompt: for `input()`, and for Python's own debugger.

    Parameters
    ----------
    bridge : Bridge
    interrupt : callable
        Called when Ctrl-C is pressed while the reader waits for a line.
    """

    encoding = "utf-8"

    def __init__(self, bridge: Bridge, interrupt: Callable[[], Any]) -> None:
        super().__init__()
        self._bridge = bridge
        self._interrupt = interrupt

    def readable(self) -> bool:
        """Return True, because lines can be read."""
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        """Return the next line typed at the prompt; "" at the end of input."""
        if self._bridge.is_detached:
            return sys.__stdin__.readline() if sys.__stdin__ is not None else ""
        while True:
            found = self._bridge.request("")
            if isinstance(found, Interrupt):
                self._interrupt()
            elif isinstance(found, str):
                self._bridge.write("\n" if found == END_OF_INPUT else f"{found}\n")
                return "" if found == END_OF_INPUT else f"{found}\n"
