"""A session: a program that runs under observation, and the debugger's state for it.

::

    the program --stages--> recorder --events--> driver --stops--> prompt (the front)
                               |                    |
                              tape <--- reads --- stepper

The recorder is paused while a prompt is open, because code that the user evaluates there is not
part of the debugged program.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, NamedTuple

from kerascope.backend.function import Function
from kerascope.debugger.unseen import UnseenModels
from kerascope.engine.network import Network
from kerascope.import_hook import OWN_ENGINE, when_imported
from kerascope.stage import Mark, Stage, observing
from kerascope.trace.events import END, NOWHERE
from kerascope.trace.recorder import Recorder
from kerascope.trace.stepper import (
    LiveDriver,
    Passage,
    Prompt,
    Reason,
    Recording,
    Running,
    Stepper,
    Stop,
    ask,
)
from kerascope.trace.tape import last_tape
from kerascope.trace.tape_store import Tape
from kerascope.trace.timelines import Timelines
from kerascope.unrecorded import UnrecordedRunner

ADAPTER, WRITER = "kerascope.foreign.own_engine", "kerascope.foreign.writer"  # loaded for it
INTERRUPTED = (
    b"\n--- it stops at the next event; Ctrl-C again raises KeyboardInterrupt in the script\n"
)


class Quitting(BaseException):
    """Raised when the user quits. `except Exception` in the program does not catch it."""


class Restarting(BaseException):
    """Raised when the user restarts the program from its beginning."""


class Failure(NamedTuple):
    """The failure of a program: the time of the innermost failed event, and a traceback."""

    t: int | None
    text: str


class Session:
    """The debugging of one program or tape: the recorder, the stepper and the prompt.

    Parameters
    ----------
    prompt : callable
        Called with each `Stop`. Returns a function that moves the stepper, or None to make no more
        stops.
    tape : Tape, optional
        A recorded tape; no program runs then.
    script : Path, optional
        The user's script.
    names : dict, optional
        The script's global variables, as a live dict.

    Attributes
    ----------
    recorder : Recorder or None
        None for a recorded tape.
    stepper : Stepper
    driver : LiveDriver or None
        None for a recorded tape.
    timelines : Timelines
    model : Model or None
        The live model whose call or `fit` encloses the stop; otherwise the model of the last
        event that has one.
    started_at : Where
        The line of the program where the session began, unless it began at the script's start.
    watching : ExitStack
        The stack of context managers that observe the program. Closing it ends the observation.
    functions : dict of str to Function
        The functions called so far by name; of several with one name, the last.
    error : BaseException or None
        The exception that ended the program.
    began_inside : bool
        Whether the program itself began the session, as `set_trace` does.
    unseen : UnseenModels
        Finds models that were trained in threads that cannot be observed.
    hint : callable
        Returns advice for a session that recorded nothing, or "".
    recorded_before : Tape or None
        The last tape of `trace` when this session began.
    """

    current: ClassVar[Session | None] = None

    def __init__(
        self,
        prompt: Prompt,
        tape: Tape | None = None,
        script: Path | None = None,
        names: dict[str, Any] | None = None,
    ) -> None:
        self.prompt = prompt
        self.recorded_before = last_tape()
        self.script = script
        self.script_names = {} if names is None else names
        self.recorder: Recorder | None = None
        self.driver: LiveDriver | None = None
        self._model: Any = None
        self.error: BaseException | None = None
        self.started_at = NOWHERE
        self.began_inside = False
        self._program_stop: tuple[Stop, FrameType] | None = None
        self.watching = ExitStack()
        self.unseen = UnseenModels()
        self.hint: Callable[[], str] = str
        self.functions: dict[str, Function] = {}
        self._is_paused = False
        self._was_interrupted_at = -1
        self._has_shown_failure = False
        self.traceback_of: Callable[[BaseException], str] = _traceback
        self.when_fit_begins: Callable[[Any], None] | None = None  # called with the callbacks
        self._fit: Stage | None = None
        if tape is None:
            self.recorder = Recorder()
            self.recorder.journal.covers_recorded_calls = True
            self.stepper = Stepper(Running(self.recorder.tape))
            self.driver = LiveDriver(self.stepper, self._ask)
            self.recorder.listeners.append(self.driver)
            self.recorder.when_settled = self._when_settled
        else:
            self.stepper = Stepper(Recording(tape))
        self.timelines = Timelines(self.tape)

    @property
    def tape(self) -> Tape:
        """The tape of the current timeline."""
        tape: Any = self.stepper.tape
        return tape

    @property
    def model(self) -> Any:
        """The model of the present stop, or None if there is none.

        At an earlier stop to which the user went back, it is the model of that stop, if the script
        still has it, and otherwise the model that the script uses now.
        """
        t, tape, recorder, found = self.stepper.now, self.tape, self.recorder, None
        is_present = recorder is None or (tape is recorder.tape and t == len(tape) - 1)
        if recorder is not None and not is_present and 0 <= t < len(tape) and tape[t].t == t:
            found = recorder.describer.live(tape.names_at(t).get("model"))
        return self._model if found is None else found

    @model.setter
    def model(self, model: Any) -> None:
        self._model = model

    @property
    def is_over(self) -> bool:
        """Whether no more events can come: the program has ended, or a recorded tape is shown."""
        return self.stepper.source.ended

    @property
    def is_detached(self) -> bool:
        """Whether the program runs on without observation, as after the command `detach`."""
        return self.driver is not None and self.driver.detached

    @property
    def has_exited(self) -> bool:
        """Whether the program ended by `sys.exit`."""
        return isinstance(self.error, SystemExit)

    @property
    def has_failed(self) -> bool:
        """Whether an exception ended the program."""
        return self.error is not None and not self.has_exited

    def keep_from(self, before: Session | None) -> None:
        """Take over the settings of the session before a restart.

        These are its breakpoints, watches, caught conditions and grain.
        """
        if before is not None:
            self.stepper.breakpoints = before.stepper.breakpoints
            self.stepper.watches = before.stepper.watches
            self.stepper.catches = before.stepper.catches
            self.stepper.grain = before.stepper.grain

    # --- running ----------------------------------------------------------------------------------

    def __call__(self, stage: Stage, event: Any) -> None:
        """Record an event of a stage, and update the current model and the known functions.

        `observing` calls this for each event.
        """
        if self._is_paused or self.recorder is None or self.is_detached:
            return
        if isinstance(stage.subject, Network):
            if stage.name != "map_graph":  # this network has no graph yet
                self._model = stage.subject
        elif isinstance(stage.subject, Function):
            self.functions[stage.subject.name] = stage.subject
            facts = self.recorder.memory.facts(stage.subject) if event is Mark.started else None
            self._model = self._model if facts is None else facts.model
        if self.when_fit_begins is not None and event is Mark.started:
            if stage.name == "fit":
                self._fit = stage
            elif stage.name == "make_train_function" and self._fit is not None:
                self.when_fit_begins(
                    self._fit.names.get("callbacks")
                )  # `fit` has not made its list yet
        self.recorder(stage, event)

    def observe(self) -> None:
        """Observe the models of kerascope, and those of a student's own engine."""
        self.watching.enter_context(observing(self))
        self.watching.enter_context(when_imported([OWN_ENGINE], self._observe_own_engine))

    def _observe_own_engine(self, name: str) -> None:
        """Observe a student's own engine, which the program has imported."""
        adapter, writers = import_module(ADAPTER), import_module(WRITER)
        writer = writers.TapeWriter("all", events=self.recorder)
        writer.is_paused = lambda: self._is_paused
        self.watching.enter_context(writer)
        self.watching.enter_context(adapter.watching(writer))

    @property
    def runner(self) -> UnrecordedRunner | None:
        """The object that runs stages, if there is no other observer; some run without events."""
        return UnrecordedRunner(self)

    def unrecorded_batches(self, function: Function, feed: Any, callbacks: Any) -> Any:
        """Return an object that trains on the next batches without events, or None.

        None means that the program may have to stop in one of them, so their events are needed.
        """
        passage = self._passage(function, callbacks)
        if self.recorder is None or passage is None:
            return None
        return self.recorder.batches_of(function, feed, callbacks, passage)

    def unrecorded_call(self, function: Function, fed: Any) -> Any:
        """Return a function that computes a call without events, or None.

        None means that the program may have to stop in the call, so its events are needed.
        """
        passage = self._passage(function)
        if self.recorder is None or passage is None:
            return None
        return self.recorder.call_of(function, fed, passage)

    def _passage(self, function: Function, callbacks: Any = None) -> Passage | None:
        """Return the limits within which the next calls of a function may run without events.

        Return None if the calls may not run without events, or if nothing is recorded at the
        moment.
        """
        recorder, stepper = self.recorder, self.stepper
        if self._is_paused or recorder is None or self.is_detached:
            return None
        if stepper.tape is not recorder.tape:
            return None
        sample = partial(recorder.sample_of, function, callbacks)
        return stepper.may_pass(len(recorder.spans), sample)

    def settle(self) -> None:
        """Append to the tape a mark for the calls that ran without events, if there are any."""
        if self.recorder is not None:
            self.recorder.settle()

    def _when_settled(self) -> None:
        """Move the stepper past the events that were just appended to the tape, without a stop."""
        if self.recorder is not None and self.stepper.tape is self.recorder.tape:
            self.stepper.pass_settled()

    def run(self, program: Callable[[], Any], stop_first: bool = True) -> None:
        """Run a program under observation, and open the prompt once more at its end.

        Parameters
        ----------
        program : callable
        stop_first : bool
            Whether to open the prompt before the first event.

        Raises
        ------
        Quitting, Restarting
            The user ends or restarts the program. An exception of the program is kept in `error`.
        """
        if self.driver is None or self.recorder is None:
            raise RuntimeError("run: this session has a recorded tape, so it cannot run a program.")
        Session.current = self
        try:
            with self._interruptible(), self.watching:
                self.observe()
                self.watching.enter_context(self.unseen.noting_threads())
                if stop_first:
                    self.ask_first()
                program()
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            self.error = error
        except BaseException:
            self._is_paused = True  # the program's `finally` blocks are not recorded
            raise
        self.end()

    def ask_first(self) -> None:
        """Open the prompt before the first event."""
        if self.driver is not None:
            first = Stop(-1, Reason.BEGIN, None)
            self.driver.detached = ask(self.stepper, first, self._ask)

    def ask_at(self, frame: FrameType) -> None:
        """Open the prompt at a line of the program, between two events, as `set_trace` does."""
        if self.driver is None or self._is_paused:
            return
        self.settle()
        stop = Stop(self.stepper.now, Reason.SET_TRACE, None)
        self._program_stop = stop, frame
        try:
            self.driver.detached = ask(self.stepper, stop, self._ask)
        finally:
            self._program_stop = None

    def frame_at(self, stop: Stop | None) -> FrameType | None:
        """Return the program's frame at a stop of `set_trace`; None for a stop at an event."""
        standing = self._program_stop
        return standing[1] if standing is not None and standing[0] is stop else None

    def end(self) -> None:
        """Close the recorder of a program that has ended, and open the prompt once more."""
        if self.recorder is not None and self.driver is not None and not self.is_over:
            self.settle()
            self.recorder.close()
            self.driver.finish()

    def time_of_failure(self) -> int | None:
        """Return the time at which the innermost failed span ended; None if no span failed."""
        found = None
        for event in reversed(self.tape[:]):
            if event.ph != END:
                break
            if any(delta.name == "error" for delta in event.deltas):
                found = event.t
        return found

    def words_of_unseen(self) -> str:
        """Return why models of an ended program are not on the tape; "" if no reason is known."""
        words = self.unseen.words(self.recorder)
        return words if words or len(self.tape) else self.hint()

    def failure_to_show(self) -> Failure | None:
        """Return the failure of the program, or None if the program has not failed.

        Later calls of this method return None, because a failure is shown once.
        """
        if self.error is None or self.has_exited or self._has_shown_failure:
            return None
        self._has_shown_failure = True
        text = self.traceback_of(self.error)
        return Failure(self.time_of_failure(), text)

    def _ask(self, stop: Stop) -> Any:
        self.settle()
        if stop.findings and self.recorder is not None:
            self.recorder.journal.reset_false_alarms()
        try:
            with self.paused():
                order = self.prompt(stop)
        except (Quitting, Restarting):
            self._is_paused = True  # the rest of the program is not debugged
            self.watching.close()
            raise
        if order is None:
            self.watching.close()  # no more stops: the program runs at full speed
        return order

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the recorder inside a `with` block."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """During a `with` block, let Ctrl-C stop the program at its next event.

        If Ctrl-C is pressed again before this event, the program ends.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._handle_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Request a stop at the first event after Ctrl-C.

        Print a line about the request, because the next event may come late.
        """
        self.interrupt()
        with suppress(AttributeError, OSError, ValueError):
            # `os.write`, because a print that the signal interrupts must not be entered again.
            os.write(sys.__stderr__.fileno(), INTERRUPTED)  # type: ignore[union-attr]

    def interrupt(self) -> None:
        """Stop at the next event, as Ctrl-C does.

        Raises
        ------
        KeyboardInterrupt
            A prompt is open, the program is not observed, or no event came since the last call.
        """
        if self._is_paused or self.is_detached or self._was_interrupted_at == len(self.tape):
            raise KeyboardInterrupt
        self._was_interrupted_at = len(self.tape)
        self.stepper.interrupt()
        if self.recorder is not None:
            self.recorder.journal.may_continue = False
            run = self.recorder.open_run
            if run is not None and run.is_in_batch and len(run):
                run.records_end = True


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
