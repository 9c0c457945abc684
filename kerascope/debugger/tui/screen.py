"""Runs a program under the full-screen debugger in two threads, and restores the terminal."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from kerascope.debugger.tui.app import DebuggerApp
from kerascope.debugger.tui.bridge import Bridge
from kerascope.debugger.tui.screen_debugger import ScreenDebugger
from kerascope.errors import ArgumentError

DONE = 0
SIGNAL = "signal"  # the name of the function that is replaced
STACK = 64 * 2**20  # bytes, because threads get less than the main thread on some systems


class Program:
    """Runs the debugged program in a separate thread.

    Parameters
    ----------
    debug : callable
        Called with the debugger; runs the program and returns the exit code.
    debugger : ScreenDebugger

    Attributes
    ----------
    code : int
        The exit code that `debug` returned.
    error : BaseException or None
        The exception that `debug` raised.
    """

    def __init__(self, debug: Callable[[ScreenDebugger], int], debugger: ScreenDebugger) -> None:
        self.code = DONE
        self.error: BaseException | None = None
        self._debug = debug
        self._debugger = debugger
        # A daemon: a program that never reaches an event again must not keep the process alive.
        self.thread = threading.Thread(target=self._run, name="program", daemon=True)

    def start(self) -> threading.Thread:
        """Start the thread that runs the program, and return the thread."""
        before = threading.stack_size(STACK)
        try:
            self.thread.start()
        finally:
            threading.stack_size(before)
        return self.thread

    def _run(self) -> None:
        debugger = self._debugger
        try:
            with _streams(debugger), _explaining_signal_errors():
                self.code = self._debug(debugger)
        except BaseException as error:
            self.error = error
        finally:
            debugger.bridge.finish()

    def result(self) -> int:
        """Return the exit code, or raise the program's exception."""
        if self.error is not None:
            raise self.error
        return self.code


@contextmanager
def _streams(debugger: ScreenDebugger) -> Iterator[None]:
    """Redirect printing to the screen, and `input()` to the prompt, inside a `with` block."""
    before = sys.stdin, sys.stdout, sys.stderr
    ours = debugger.stdin, debugger.stdout, debugger.stdout
    sys.stdin, sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        if (sys.stdin, sys.stdout, sys.stderr) == ours:
            sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _explaining_signal_errors() -> Iterator[None]:
    """Make `signal.signal` explain, inside a `with` block, why it fails in the program's thread.

    Python accepts signal handlers only in the main thread, which draws the screen.
    """
    plain = signal.signal

    def answer(number: int, handler: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            return plain(number, handler)
        raise ArgumentError(
            f"signal.signal({signal.Signals(number).name}): the full screen runs the program in a "
            f"thread of its own, but Python accepts signal handlers only in the main thread. "
            f"Debug it without --tui."
        )

    setattr(signal, SIGNAL, answer)
    try:
        yield
    finally:
        setattr(signal, SIGNAL, plain)


def on_screen(debug: Callable[[ScreenDebugger], int]) -> int:
    """Debug on the full screen and return the exit code.

    Parameters
    ----------
    debug : callable
        Called with the debugger, in a separate thread; returns the exit code.

    Raises
    ------
    BaseException
        The exception that `debug` raised.
    """
    streams = sys.stdin, sys.stdout, sys.stderr
    bridge = Bridge()
    debugger = ScreenDebugger(bridge)
    program = Program(debug, debugger)
    app = DebuggerApp(debugger, program.start)
    # Textual restores stdout shortly before it closes the screen. A detached program must not print
    # in between, because that text would be cleared.
    sys.stdout = debugger.stdout
    try:
        with _signals(app):
            app.run()
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        late = bridge.leave_screen()
        sys.stdout.write(late)
        sys.stdout.flush()
    if app.return_code:
        return app.return_code
    if not bridge.is_over:  # the screen was left while the program ran
        return DONE
    program.thread.join()
    if not bridge.is_detached:
        sys.stderr.write(_end_of_traceback(debugger))
    return program.result()


def _end_of_traceback(debugger: ScreenDebugger) -> str:
    """Return the end of the failed program's traceback, to print after the screen is closed."""
    session = debugger.session
    if session.error is None or not session.has_failed:
        return ""
    before, place, rest = session.traceback_of(session.error).rpartition("\n  File ")
    return f"{place[1:]}{rest}" if before else rest


@contextmanager
def _signals(app: DebuggerApp) -> Iterator[None]:
    """Restore the terminal also on SIGTERM; make SIGINT act as Ctrl-C."""

    def end(number: int, frame: FrameType | None) -> None:
        app.soon(partial(app.exit, return_code=128 + number))

    def interrupt(number: int, frame: FrameType | None) -> None:
        app.soon(app.action_interrupt)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers: dict[int, Callable[[int, FrameType | None], None]]
    handlers = {signal.SIGTERM: end, signal.SIGINT: interrupt}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
