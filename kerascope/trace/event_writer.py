"""Writing events on a tape, with their times and the spans that contain them.

`EventWriter` gives each event its time, its act and phase, and the number of spans around it. An
event that is finer than the recorded level is not written; the next written event gets its names. A
`StageRecorder` follows one stage and calls the writer. `recorder_build.py`, `recorder_compile.py`,
`recorder_function.py` and `recorder.py` define its subclasses, one for each kind of stage. The
functions at the end find the engine's line at which a stage is paused, and the user's line that
made a layer.

Lesson: chapter 12.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from kerascope.backend.function import Function
from kerascope.errors import ArgumentError
from kerascope.stage import Stage
from kerascope.trace.events import (
    BEGIN,
    END,
    GRAIN_OF,
    GRAINS,
    INSTANT,
    NO_FACTS,
    Delta,
    Event,
    Where,
    new_delta,
    new_event,
)
from kerascope.trace.tape_names import OF_THE_END
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.trace.training_info import Memory
from kerascope.user_frames import frame_outside_the_package, line_outside_the_package

UNKNOWN = {BEGIN: "phase", INSTANT: "detail"}  # the grains of events from unknown stages
_RANKS = {grain: rank for rank, grain in enumerate(GRAINS)}
Listener = Callable[[Event], Any]
SomeRecorder = TypeVar("SomeRecorder", bound="StageRecorder")
Deltas = tuple[Delta, ...]
Facts = Mapping[str, Any]


# An open span: kind, name, where, grain, whether it is recorded; the act and phase around it.
Span = tuple[str, str, Where, str, bool, str, str]


class EventWriter:
    """Writes events on a tape, with their times and the spans around them; see `Recorder`.

    Attributes
    ----------
    level : str
        The finest grain to record.
    tape : Tape
    listeners : list of callable
        Called with each event.
    memory : Memory
        The information that the recorder keeps between stages.
    spans : list of Span
        The open spans, the outermost first.
    observers : list of StageRecorder
        The recorders of the running stages, the outermost first.
    stage : Stage or None
        The stage that yielded the last event.
    """

    def __init__(
        self,
        level: str = "detail",
        *,
        statistics_only: bool = False,
        history: int | None = HISTORY,
        tape: Tape | None = None,
    ) -> None:
        if level not in GRAINS:
            raise ArgumentError(f"Recorder: level: expected one of {GRAINS}, got {level!r}.")
        self.level = level
        self.observers: list[Any] = []
        self.stage: Stage | None = None
        self.tape = Tape(history=history) if tape is None else tape
        self.listeners: list[Listener] = []
        self.memory = Memory(statistics_only)
        self.describer = self.memory.describer
        self.tape.live = self.describer.live
        self.spans: list[Span] = []
        self.journal: Any = None  # the record of calls without events
        self.feeds: dict[int, Any] = {}  # by the start of an epoch: its feed
        self.open_run: Any = None  # the current run of calls without events
        self.script_line: tuple[str, int] | None = None  # the caller's line, for calls run again
        self._act = self._phase = ""
        self._depth = 0
        self._append = self.tape.append
        self._event_list = self.tape._events  # its length is the time: an interrupt leaves no gap
        self._waiting: list[Delta] = []  # the deltas of events that are finer than the level
        finest = _RANKS[level]
        self._grains = {k: (grain, _RANKS[grain] <= finest) for k, grain in GRAIN_OF.items()}
        self._unknown = {ph: (grain, _RANKS[grain] <= finest) for ph, grain in UNKNOWN.items()}

    def close(self) -> None:
        """End all open spans; call it when recording is over."""
        while self.spans:
            self.end()

    def continue_from(self, tape: Tape, t: int) -> None:
        """Copy the events of a tape before time `t`, and continue the recording from there."""
        for event in tape[:t]:
            self._append(event)
        for span in tape.spans_at(t - 1) if t else ():
            around = (self._act, self._phase)
            self.spans.append((span.kind, span.name, span.where, span.grain, True, *around))
            self._enter(span.kind, span.grain)
        self._depth = len(self.spans)

    def continue_at(self, t: int, spans: list[Span], act: str, phase: str) -> None:
        """Continue the recording at time `t` of a tape, inside the spans that are open there."""
        self.spans, self._depth = list(spans), len(spans)
        self._act, self._phase = act, phase
        self._event_list.lost = self._event_list._solid_from = t

    # --- recording: called by the observers
    # -----------------------------------------------------------

    def begin(
        self, kind: str, name: str, where: Where, deltas: Deltas = (), facts: Facts = NO_FACTS
    ) -> None:
        """Record the start of a span."""
        grain, is_recorded = self._grains.get(kind) or self._unknown[BEGIN]
        self.spans.append((kind, name, where, grain, is_recorded, self._act, self._phase))
        if grain != "op":
            self._enter(kind, grain)
        if not is_recorded:
            self._waiting.extend(delta for delta in deltas if delta.key is not None)
            return
        depth = self._depth
        self._depth = depth + 1
        self._write(kind, BEGIN, depth, grain, name, where, deltas, facts)

    def _enter(self, kind: str, grain: str) -> None:
        if grain == "phase":
            self._phase = kind
        elif grain == "act":
            self._act, self._phase = kind, ""

    def end(self, deltas: Deltas = (), where: Where | None = None, facts: Facts = NO_FACTS) -> None:
        """Record the end of the innermost span."""
        kind, name, where_it_began, grain, is_recorded, act, phase = self.spans.pop()
        if is_recorded:
            self._depth -= 1
            try:
                where = where_it_began if where is None else where
                self._write(kind, END, self._depth, grain, name, where, deltas, facts)
            finally:
                self._act, self._phase = act, phase
        else:
            self._act, self._phase = act, phase
            self._waiting.extend(delta for delta in deltas if delta.name not in OF_THE_END)

    def record(
        self, kind: str, name: str, where: Where, deltas: Deltas = (), facts: Facts = NO_FACTS
    ) -> None:
        """Record an event that is not a span, such as a value that is set."""
        grain, is_recorded = self._grains.get(kind) or self._unknown[INSTANT]
        if is_recorded:
            self._write(kind, INSTANT, self._depth, grain, name, where, deltas, facts)
        else:
            self._waiting.extend(deltas)

    def _write(
        self, kind: str, ph: str, depth: int, grain: str, name: str, where: Where,
        deltas: Deltas, facts: Facts,
    ) -> None:  # fmt: skip
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._event_list.kept) + self._event_list.lost
        act, phase = self._act, self._phase
        event = new_event((t, act, phase, kind, ph, depth, grain, name, where, deltas, facts))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def begin_batch(self, number: int, size: int, fed: list[Any], where: Where) -> None:
        """Record the start of a batch."""
        names: dict[str, Any] = {"batch_index": number, "size": size}
        if not self.memory.statistics_only:
            names["ins_batch"] = [self.memory.copied(x) for x in fed]
        self.begin("batch", f"batch {number}", where, named(**names))

    def begin_callbacks(self, hook: str, names: list[str], where: Where) -> None:
        """Record that training starts calling a hook, and each of the callbacks with this hook."""
        self.begin("callbacks", hook, where)
        for name in names:
            self.record("callback", name, where)

    def end_batch(self, outs: list[Any]) -> None:
        """Record the end of a batch. If its callbacks are still open, end them first."""
        if self.spans[-1][0] == "callbacks":
            self.end()
        results = tuple(self.memory.payload(x) for x in outs)
        self.end(named(outs=results, result=results))

    def begin_op(self, name: str, where: Where, deltas: Deltas, facts: Facts) -> None:
        """Record the start of an op. This is faster than `begin`, because most events are ops."""
        act, phase, depth = self._act, self._phase, self._depth
        self.spans.append(("op", name, where, "op", True, act, phase))
        self._depth = depth + 1
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._event_list.kept) + self._event_list.lost
        event = new_event((t, act, phase, "op", BEGIN, depth, "op", name, where, deltas, facts))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def end_op(self, where: Where, deltas: Deltas) -> None:
        """Record the end of the op that began last."""
        _, name, _, _, _, act, phase = self.spans.pop()
        self._depth = depth = self._depth - 1
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._event_list.kept) + self._event_list.lost
        event = new_event((t, act, phase, "op", END, depth, "op", name, where, deltas, NO_FACTS))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def _with_waiting(self, deltas: Deltas) -> tuple[Delta, ...]:
        deltas = (*self._waiting, *deltas)
        self._waiting.clear()
        return deltas

    def records(self, kind: str) -> bool:
        """Return whether events of this kind are recorded: whether `level` includes their grain."""
        return self._grains[kind][1]

    def note(self, *deltas: Delta) -> None:
        """Add names with new values (deltas) to the next event that is recorded, of any kind."""
        self._waiting.extend(deltas)

    def where(self, stage: Stage, made_at: tuple[str, int] | None = None) -> Where:
        """Return the line at which a stage is paused, and the script's line that led there.

        The script's line is the one that made or called a layer; otherwise the one that began
        the outermost running stage.
        """
        return where_of(stage, made_at or self.began_at())

    def began_at(self) -> tuple[str, int] | None:
        """Return the script's line that begins a new outermost span; None inside of another span.

        An open span of the act "build" does not count.
        """
        if all(span[0] == "build" for span in self.spans):
            return self.script_line or line_outside_the_package()
        return None


# --- one stage ------------------------------------------------------------------------------------


class StageRecorder:
    """Follows one stage and records its start, its events and its end.

    Parameters
    ----------
    recorder : EventWriter
    stage : Stage

    Attributes
    ----------
    builds : bool
        Whether the stage belongs to the building of models.
    memory : Memory
        The information that the recorder keeps between stages.
    ref : callable
        Returns a description of a tensor, node or layer.
    level_of_spans : int
        Number of open spans when the stage started.
    """

    builds = False

    def __init__(self, recorder: EventWriter, stage: Stage) -> None:
        self.stage = stage
        self.observers = recorder.observers
        self.recorder = recorder
        self.memory = recorder.memory
        self.ref = recorder.describer.ref
        self.level_of_spans = len(recorder.spans)

    def first_made_at(self) -> tuple[str, int] | None:
        """Return the script's line that made the stage's first new layer; None if there is none."""
        return None

    def started(self) -> None:
        """Record the start of the stage, before its first step."""
        name = str(getattr(self.stage.subject, "name", self.stage.name))
        self.begin(self.stage.name, name)

    def event(self, event: Any) -> None:
        """Record an event of the stage."""
        name = str(getattr(event, "name", type(event).__name__))
        self.record("event", name)

    def finished(self) -> None:
        """Record the end of the stage, after its last step."""
        self.end_all()

    def enclosing(self, kind: type[SomeRecorder]) -> SomeRecorder | None:
        """Return the innermost running recorder of class `kind` other than this one, or None."""
        return next(
            (o for o in reversed(self.observers) if isinstance(o, kind) and o is not self), None
        )

    def function_returned(self, function: Function) -> None:
        """React to a function that returned inside the stage; by default, do nothing."""

    # --- recording: `depth=2` is the value of a name, a `Delta` an entry of a container
    # --------------

    def begin(
        self, kind: str, name: str, /, *deltas: Delta, made_at: Any = None,
        facts: Facts = NO_FACTS, **names: Any,
    ) -> None:  # fmt: skip
        """Begin a span at the engine's line where the stage is paused."""
        where = self.recorder.where(self.stage, made_at)
        self.recorder.begin(kind, name, where, (*named(**names), *deltas), facts)

    def end(self, **names: Any) -> None:
        """End the innermost span."""
        self.recorder.end(named(**names))

    def record(
        self, kind: str, name: str, /, *deltas: Delta, made_at: Any = None,
        facts: Facts = NO_FACTS, **names: Any,
    ) -> None:  # fmt: skip
        """Record an event without duration at the engine's line where the stage is paused."""
        where = self.recorder.where(self.stage, made_at)
        self.recorder.record(kind, name, where, (*named(**names), *deltas), facts)

    def end_all(self, *, facts: Facts = NO_FACTS, **names: Any) -> None:
        """End all open spans of this stage, and record `names` at the end of its outermost span."""
        recorder = self.recorder
        while len(recorder.spans) > self.level_of_spans + 1:
            recorder.end()
        if len(recorder.spans) > self.level_of_spans:
            recorder.end(named(**names), facts=facts)


def named(**names: Any) -> tuple[Delta, ...]:
    """Return a delta for each keyword argument, with its name and its value."""
    return tuple([new_delta((name, None, value)) for name, value in names.items()])


# --- where ----------------------------------------------------------------------------------------


_HOME = str(Path(__file__).parents[2])


def where_of(stage: Stage, made_at: tuple[str, int] | None = None) -> Where:
    """Return a `Where` with the line at which a stage is paused, or without one if it has ended."""
    frame = stage.frame
    user = made_at or ("", 0)
    if frame is None:
        return Where(user_file=user[0], user_line=user[1])
    return Where(short(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name, *user)


def place_in_script(made_at: tuple[str, int] | None) -> Where:
    """Return the script's line that made a layer, or else the script's current line.

    `made_at` is the file and the line that made the layer. It is returned if a function that
    contains this line is still being executed.
    """
    innermost = frame = frame_outside_the_package()
    while frame is not None and made_at is not None:
        code = frame.f_code
        if code.co_filename == made_at[0] and made_at[1] in {line for *_, line in code.co_lines()}:
            return Where("", 0, code.co_name, *made_at)
        frame = frame.f_back
    if innermost is None:
        return Where()
    code = innermost.f_code
    return Where("", 0, code.co_name, code.co_filename, innermost.f_lineno)


def place_of_failure(where: Where, error: BaseException | None) -> Where:
    """Return a span's `where` with the line at which an error was raised in the span's function."""
    frames = None if error is None else error.__traceback__
    while frames is not None:
        code = frames.tb_frame.f_code
        if (short(code.co_filename), code.co_name) == (where.file, where.function):
            where = where._replace(line=frames.tb_lineno)
        frames = frames.tb_next
    return where


@cache
def short(path: str) -> str:
    """Return a path in this package as "kerascope/engine/network.py"; other paths unchanged."""
    inside = path.startswith(_HOME + "/kerascope")
    return path[len(_HOME) :].replace("\\", "/").lstrip("/") if inside else path


def place_of_use(function: Any, used: Any, made_at: tuple[str, int] | None = None) -> Where:
    """Return the line at which an engine function uses another function, method or class."""
    code = function.__code__
    line = line_of_use(function, used)
    return Where(short(code.co_filename), line, code.co_name, *(made_at or ("", 0)))


@cache
def line_of_use(function: Any, used: Any) -> int:
    """Return the first line of `function` that names `used`: a function, method or class.

    Raises
    ------
    LookupError
        No line names `used`, because the code has moved. The caller must name the new function.

    Examples
    --------
    >>> from kerascope.backend.schedule import Schedule
    >>> line_of_use(Function._events, Schedule.start) > Function._events.__code__.co_firstlineno
    True
    >>> line_of_use(Function._events, open)
    Traceback (most recent call last):
    LookupError: Function._events does not use open. Name its user.
    """
    for instruction in dis.get_instructions(function):
        is_name = instruction.opname.startswith("LOAD_")
        if is_name and instruction.argval == used.__name__ and instruction.positions is not None:
            line = instruction.positions.lineno
            if line is not None:
                return line
    raise LookupError(f"{function.__qualname__} does not use {used.__qualname__}. Name its user.")


FILE = short(Function._events.__code__.co_filename)  # the engine's file that calls ops
