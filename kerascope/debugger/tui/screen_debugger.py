"""The debugger whose lines come from the screen; its commands are those of the plain front."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.shell import DELIMITERS
from kerascope.debugger.tui.bridge import (
    END_OF_INPUT,
    Bridge,
    Completed,
    Completion,
    Interrupt,
    ScreenReader,
    ScreenWriter,
)
from kerascope.debugger.tui.views import View, view_of
from kerascope.trace.stepper import Stepper, Stop

LEAST_WIDTH = 40


class ScreenDebugger(ModelDebugger):
    """Reads lines from a bridge, and shows the panes before it waits for one.

    Parameters
    ----------
    bridge : Bridge
    """

    def __init__(self, bridge: Bridge) -> None:
        terminal = sys.stdout
        reader = ScreenReader(bridge, self.interrupt)
        super().__init__(reader, ScreenWriter(bridge, terminal))
        self.bridge = bridge
        self.is_terminal = False  # no colours and no readline: the app sees to both
        self._pane_width: int | None = None
        self._encoding = getattr(terminal, "encoding", None) or "utf-8"

    @property
    def width(self) -> int:
        """Columns of the transcript; of a pane, while one is written."""
        if self._pane_width is not None:
            return self._pane_width
        size = self.bridge.sizes.get("log")
        return max(size.width, LEAST_WIDTH) if size is not None else super().width

    @property
    def ascii_only(self) -> bool:
        """Whether the terminal knows no signs beyond ASCII."""
        return not self._encoding.lower().startswith("utf")

    @contextmanager
    def saying_to(self, file: IO[str], width: int) -> Iterator[None]:
        """Let `say` write into a file, in another width, inside the block."""
        before = self.stdout, self._pane_width
        self.stdout, self._pane_width = file, width
        try:
            yield
        finally:
            self.stdout, self._pane_width = before

    # --- lines ------------------------------------------------------------------------------------

    def read(self) -> str:
        """Return the next line: of those that wait, or of the screen; echoed after its prompt."""
        if self.cmdqueue:
            return super().read()
        while True:
            found = self.bridge.request(self.prompt, self.look)
            if isinstance(found, Interrupt):
                raise KeyboardInterrupt
            if isinstance(found, Completion):
                self.bridge.complete(self.completed(found.line))
            elif isinstance(found, str):
                echo = "" if found == END_OF_INPUT else found
                print(f"{self.prompt}{echo}", file=self.stdout)
                return found

    def look(self) -> View:
        """Return what the panes show here; the recorder hears nothing of it."""
        with self.session.paused():
            return view_of(self, dict(self.bridge.sizes))

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop and read lines until one moves; tell the screen if the program detaches."""
        order = super().ask(stop)
        if order is None:
            self.bridge.detach()
        return order

    # --- completion -------------------------------------------------------------------------------

    def completed(self, line: str) -> Completed:
        """Return what could stand at the end of a line, as the tab key does at the plain prompt."""
        start = len(line)
        while start and line[start - 1] not in DELIMITERS:
            start -= 1
        text = line[start:]
        found: Any
        try:
            with self.session.paused():
                complete = self._completer(line, start)
                found = list(dict.fromkeys(complete(text, line, start, len(line))))
        except Exception:  # a name whose reading fails completes to nothing
            found = []
        return Completed(line, start, found)

    def _completer(self, line: str, start: int) -> Callable[..., Any]:
        if not line[:start].strip():
            return self.completenames
        command = self.parseline(line)[0]
        method: Callable[..., Any] = getattr(self, f"complete_{command}", self.completedefault)
        return method

    # --- Ctrl-C -----------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop the program at its next event, as Ctrl-C does; called a second time: end it.

        Raises
        ------
        KeyboardInterrupt
            The second time before an event came, or while a command runs.
        """
        self.session.interrupt()


def thread_interrupted(thread: threading.Thread) -> bool:
    """Raise KeyboardInterrupt in another thread; it comes when that runs Python code again."""
    import ctypes

    if thread.ident is None:
        return False
    name = ctypes.c_ulong(thread.ident)
    error = ctypes.py_object(KeyboardInterrupt)
    return bool(ctypes.pythonapi.PyThreadState_SetAsyncExc(name, error))
