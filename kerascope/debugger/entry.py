"""Ways into the debugger from a program: `set_trace`, `pm`, the callback `Debugger`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from kerascope.callbacks.base import Callback
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.errors import ArgumentError
from kerascope.stage import is_watched, observing
from kerascope.trace.stepper import ask
from kerascope.trace.tape import Tape, last_tape, trace

__all__ = ["Debugger", "pm", "replay", "set_trace", "trace"]


def set_trace() -> None:
    """Open the debugger at the calling line, and observe the models from this line on.

    If the program is already being debugged, it stops at once. Under `kerascope debug`,
    `breakpoint()` calls this function. Elsewhere, `breakpoint()` calls this function if the
    environment has PYTHONBREAKPOINT=kerascope.set_trace.

    Notes
    -----
    The tape starts at the calling line. An epoch that is already running is not on the tape, but
    the later function calls of this epoch are.

    Examples
    --------
    The call in the last line waits for commands, so it is not run as a test:

    >>> import kerascope as ks
    >>> def scores_of(model, x):
    ...     ks.set_trace()
    ...     return model.predict(x)
    >>> scores_of(model, x)  # doctest: +SKIP
    > example.py(3)scores_of()
    -> ks.set_trace()
    (Kdb) p x.shape
    (1, 3)
    (Kdb) b scores
    Breakpoint 1 at scores
    (Kdb) c
    """
    session = Session.current
    if session is not None and _is_active(session):
        session.ask_at(sys._getframe(1))
        return
    begin(sys._getframe(1))


@contextmanager
def handling_breakpoints() -> Iterator[None]:
    """Let `breakpoint()` open this debugger during a `with` block.

    If PYTHONBREAKPOINT is set, do nothing.
    """
    if os.environ.get("PYTHONBREAKPOINT"):
        yield
        return
    before, sys.breakpointhook = sys.breakpointhook, set_trace
    try:
        yield
    finally:
        sys.breakpointhook = before


def _print_quit_on_one_line() -> None:
    """Install an exception hook that prints one line, not a traceback, after `q`."""
    before = sys.excepthook
    if getattr(before, "says_quit", False):
        return

    def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, Quitting):
            print("The debugger was quit; the program ends here.", file=sys.stderr)
        else:
            before(kind, error, trace)

    say.says_quit = True  # type: ignore[attr-defined]
    sys.excepthook = say


def _is_active(session: Session) -> bool:
    """Return whether a session still observes a program; if it does not, end the session.

    A session can lose its observers in a notebook, because observers belong to the context of a
    cell, and the kernel runs each cell in a new context.
    """
    if not session.is_over and not is_watched():
        leave(session)
    return not session.is_over


def leave(session: Session) -> None:
    """End a session: stop observing and stop asking for commands."""
    if session.driver is not None:
        session.driver.detached = True
    with suppress(ValueError):  # the context in which the session started to observe has ended
        session.watching.close()
    session.end()


def begin(frame: FrameType) -> Session:
    """Open the debugger at the line of a frame, and return the session.

    The session observes the program up to its end.
    """
    session = _new_session({**frame.f_globals, **frame.f_locals})
    session.observe()
    session.ask_at(frame)
    return session


def _new_session(names: dict[str, Any] | None = None) -> Session:
    """Return a session for a program that is already running, without observing it yet."""
    debugger = ModelDebugger()
    session = debugger.session = Session.current = Session(debugger.ask, names=names)
    session.began_inside = True
    _print_quit_on_one_line()
    return session


def pm(tape: Tape | None = None) -> None:
    """Look at a recorded run after its end.

    The debugger starts where the run failed; if it did not fail, after the last event.

    Parameters
    ----------
    tape : Tape, optional
        The tape of `with kerascope.trace() as tape:`; by default, the last tape of a trace or of
        the debugger.

    Raises
    ------
    ArgumentError
        Nothing was recorded.

    Examples
    --------
    >>> import io
    >>> from contextlib import suppress
    >>> from unittest.mock import patch
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Embedding(10, 2, input_length=1, name="words")])
    >>> with suppress(ValueError), ks.trace() as tape:
    ...     model.predict([[10]])
    >>> with patch("sys.stdin", io.StringIO("q")):  # as if you typed q at the prompt
    ...     ks.pm(tape)
    > ...
       predict > predict_function > forward > depth 0 > words > gather          t=...
       kerascope/backend/ops/indexing.py:...  indices = np.asarray(indices)
    --Return-- op words/gather -> DataError: gather: expected indices from 0 to 9, got 10.
    (Kdb) q
    """
    tape = _last_recorded() if tape is None else tape
    if tape is None or not len(tape):
        raise ArgumentError(
            "pm: nothing was recorded. Run the failing code inside `with kerascope.trace() as "
            "tape:` and call kerascope.pm(tape)."
        )
    replay(tape, at_failure=True)


def _last_recorded() -> Tape | None:
    session, tape = Session.current, last_tape()
    if session is None or session.recorded_before is not tape:
        return tape  # `trace` was used after the session
    return session.tape


def replay(tape: Tape, at_failure: bool = False, commands: Iterable[str] = ()) -> None:
    """Open the debugger on a tape, without running a program.

    Parameters
    ----------
    tape : Tape
    at_failure : bool
        Whether to start where the program failed, or after the last event if it did not fail. By
        default, start at the first event.
    commands : iterable of str
        Commands to run first.
    """
    debugger = ModelDebugger()
    debugger.cmdqueue = list(commands)
    session = debugger.session = Session(debugger.ask, tape=tape)
    stepper = session.stepper
    failed_at = session.time_of_failure() if at_failure else None
    first = failed_at if failed_at is not None else len(tape) if at_failure else 0
    with suppress(Quitting):
        ask(stepper, stepper.goto(first), debugger.ask)


class Debugger(Callback):
    """Callback that opens the debugger when `fit` begins, and closes it when `fit` ends.

    Examples
    --------
    >>> from kerascope.debugger.entry import Debugger
    >>> callbacks = [Debugger()]  # for model.fit(x, y, callbacks=callbacks)
    """

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the prompt when `fit` begins, and start to observe its events."""
        session = Session.current
        if session is not None and _is_active(session):
            session.stepper.interrupt()
            return
        session = self._session = _new_session()
        session.model = self.model
        if session.recorder is not None:
            session.recorder.know(self.model)
        session.watching.enter_context(observing(session))
        session.ask_first()

    def on_train_end(self, logs: Any = None) -> None:
        """Stop observing when `fit` ends, and end the session."""
        if self._session is not None:
            self._session.watching.close()
            self._session.end()
