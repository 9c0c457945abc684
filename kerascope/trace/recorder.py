"""Recorder: an observer that writes what the stages of the engine tell on a tape, as `Event`s.

::

    recorder = Recorder()
    recorder.listeners.append(print)          # hears each event as soon as it exists
    with observing(recorder):
        model.fit(x, y)
    recorder.close()
    recorder.tape.names_at(61)["tensor_map"]

Each kind of stage has a hearer (`recorder_build.py`, `recorder_compile.py`, `recorder_run.py`,
`recorder_function.py`), which knows the stage's events and the names in its source; this file keeps
the clock and the spans.

A "B" is told before the thing happens wherever the order is known beforehand: for stages, for the
ops of a function (the schedule lists them), for the layer calls of a graph run (by depth). So a
listener that blocks there stops the program in front of the op, and may put other arrays into the
slots (`recorder.stage.names["values"]`). When the engine says that an op is done, its "E" comes
with the value, and then the next "B". What the engine tells only when it is over (a layer's
`build`, an epoch's last callbacks, the sweep through one layer) has "B" and "E" one after the
other.

A span that fails, or is abandoned, still ends: its "E" has the name `error`. So a tape is balanced
when the recorder is closed, whatever happened.

What the engine does not tell and so is on no tape: calls of layers inside another layer's `call`
while symbols are built (of a function's ops the scopes tell them, see `function_plan.py`), a
callback's own begin and end, and `set_value` itself (`weight.set` is told at the next call of a
function that reads the variable).

Lesson: chapter 12.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kerascope.callers import line_outside_the_package
from kerascope.errors import ArgumentError
from kerascope.stage import Mark, Stage
from kerascope.trace.events import (
    BEGIN,
    END,
    GRAIN_OF,
    GRAINS,
    INSTANT,
    Delta,
    Event,
    Where,
    new_event,
)
from kerascope.trace.hearer import Hearer
from kerascope.trace.recorder_function import FunctionHearer
from kerascope.trace.recorder_memory import Memory
from kerascope.trace.recorder_override import override
from kerascope.trace.recorder_stages import hearer_of
from kerascope.trace.recorder_where import place_in_script, place_of_failure, where_of
from kerascope.trace.snapshots import error_ref
from kerascope.trace.tape_names import OF_THE_END
from kerascope.trace.tape_store import HISTORY, Tape

UNKNOWN = {BEGIN: "phase", INSTANT: "detail"}  # grains of what a stage of the user's own tells
_RANKS = {grain: rank for rank, grain in enumerate(GRAINS)}
Listener = Callable[[Event], Any]


# An open span: kind, name, where, grain, whether it was told; the act and the phase around it.
Span = tuple[str, str, Where, str, bool, str, str]


class Recorder:
    """Writes events on a tape.

    Parameters
    ----------
    level : {"detail", "op", "node", "phase", "act"}
        The finest grain that is told; the names that finer events would bring come with the next
        event that is told.
    statistics_only : bool
        Keep the figures of arrays and not their numbers.
    history : int or None
        How many bytes the tape keeps, of events and arrays.

    Attributes
    ----------
    tape : Tape
    listeners : list of callable
        Each is called with each event; it may block, and it may raise, which stops the program.
    stage : Stage or None
        The stage that told the last event: its `names` are the live ones, and its `frame` the
        paused one.

    Raises
    ------
    ArgumentError
        There is no such level.
    """

    def __init__(
        self,
        level: str = "detail",
        *,
        statistics_only: bool = False,
        history: int | None = HISTORY,
    ) -> None:
        if level not in GRAINS:
            raise ArgumentError(f"Recorder: level: expected one of {GRAINS}, got {level!r}.")
        self.level = level
        self.tape = Tape(history=history)
        self.listeners: list[Listener] = []
        self.stage: Stage | None = None
        self.memory = Memory(statistics_only)
        self.describer = self.memory.describer
        self.tape.live = self.describer.live
        self.hearers: list[Hearer] = []
        self.spans: list[Span] = []
        self.script_line: tuple[str, int] | None = None  # that began what is now run again
        self._act = self._phase = ""
        self._depth = 0
        self._append = self.tape.append
        self._told = self.tape._events  # says what time it is: an interrupt leaves no gap
        self._waiting: list[Delta] = []  # of events that are too fine to be told
        finest = _RANKS[level]
        self._grains = {k: (grain, _RANKS[grain] <= finest) for k, grain in GRAIN_OF.items()}
        self._unknown = {ph: (grain, _RANKS[grain] <= finest) for ph, grain in UNKNOWN.items()}

    # --- hearing ----------------------------------------------------------------------------------

    def __call__(self, stage: Stage, event: Any) -> None:
        """Hear an event of a stage; what `observing` calls."""
        self.stage = stage
        if event.__class__ is not Mark:
            hearers = self.hearers
            if hearers and hearers[-1].stage is stage and event.__class__ is not Stage:
                hearers[-1].event(event)
        elif event is Mark.started:
            self._start(stage)
        else:
            self._leave(stage, event)

    def _start(self, stage: Stage) -> None:
        kind = hearer_of(stage)
        hearer = kind(self, stage)
        self.hearers.append(hearer)
        try:
            self._open_act(hearer)
            hearer.level_of_spans = len(self.spans)
            hearer.started()
        except BaseException as error:  # a listener stopped the program: the stage will say nothing
            self._give_up(hearer, error)
            raise

    def _open_act(self, hearer: Hearer) -> None:
        """Open the act "build" if a stage of it begins at the top; close it if another does."""
        if hearer.builds and not self.spans:
            self.begin("build", "build", place_in_script(hearer.first_made_at()))
        elif not hearer.builds and len(self.spans) == 1 and self.spans[0][0] == "build":
            self.end(where=place_in_script(None))

    def _leave(self, stage: Stage, mark: Mark) -> None:
        if all(hearer.stage is not stage for hearer in self.hearers):
            return
        while self.hearers[-1].stage is not stage:
            self._give_up(self.hearers[-1], None)
        hearer = self.hearers[-1]
        if mark is Mark.finished:
            hearer.finished()
            self.hearers.remove(hearer)
        else:
            self._give_up(hearer, sys.exc_info()[1])

    def _give_up(self, hearer: Hearer, error: BaseException | None) -> None:
        """Close all spans of a hearer whose stage failed, even if a listener raises meanwhile."""
        self.memory.figures.settle()
        self.hearers.remove(hearer)
        raised: BaseException | None = None
        while len(self.spans) > hearer.level_of_spans:
            try:
                where = place_of_failure(self.spans[-1][2], error)
                self.end((Delta("error", None, error_ref(error)),), where)
            except BaseException as new:
                raised = new
        if raised is not None:
            raise raised

    def close(self) -> None:
        """End all spans that are open still; call it when the watching is over."""
        while self.spans:
            self.end()

    def go_on_from(self, tape: Tape, t: int) -> None:
        """Take over the events before a time, and tell from there what comes next."""
        for event in tape[:t]:
            self._append(event)
        for span in tape.spans_at(t - 1) if t else ():
            around = (self._act, self._phase)
            self.spans.append((span.kind, span.name, span.where, span.grain, True, *around))
            self._enter(span.kind, span.grain)
        self._depth = len(self.spans)

    def know(self, model: Any) -> None:
        """Take note of a model whose functions are made already and may be called by themselves."""
        self.memory.know(model)

    def live(self, t: int, name: str) -> Any:
        """Return the living object for which a name stands at a time; None if it is gone.

        Parameters
        ----------
        t : int
        name : str
            A name at that time, or the own name of a tensor, node or layer.
        """
        names = self.tape.names_at(t)
        if name in names:
            return self.describer.live(names[name])
        for event in reversed(self.tape[: t + 1]):
            for delta in event.deltas:
                if getattr(delta.value, "name", None) == name:
                    return self.describer.live(delta.value)
        return None

    def override(self, name: str, value: Any) -> None:
        """Put another array in the place of one that the paused function has computed.

        See `recorder_override.py`; a listener may call it. It is told as the event "override".
        """
        hearer = self.hearers[-1] if self.hearers else None
        if not isinstance(hearer, FunctionHearer):
            raise ArgumentError(f"set {name}: no function is being called now.")
        override(hearer, name, value)

    # --- telling: what the hearers call -----------------------------------------------------------

    def begin(self, kind: str, name: str, where: Where, deltas: tuple[Delta, ...] = ()) -> None:
        """Tell the begin of a span."""
        grain, is_told = self._grains.get(kind) or self._unknown[BEGIN]
        self.spans.append((kind, name, where, grain, is_told, self._act, self._phase))
        if grain != "op":
            self._enter(kind, grain)
        if not is_told:
            self._waiting.extend(delta for delta in deltas if delta.key is not None)
            return
        depth = self._depth
        self._depth = depth + 1
        self._tell(kind, BEGIN, depth, grain, name, where, deltas)

    def _enter(self, kind: str, grain: str) -> None:
        if grain == "phase":
            self._phase = kind
        elif grain == "act":
            self._act, self._phase = kind, ""

    def end(self, deltas: tuple[Delta, ...] = (), where: Where | None = None) -> None:
        """Tell the end of the innermost span."""
        kind, name, where_it_began, grain, is_told, act, phase = self.spans.pop()
        if is_told:
            self._depth -= 1
            try:
                where = where_it_began if where is None else where
                self._tell(kind, END, self._depth, grain, name, where, deltas)
            finally:
                self._act, self._phase = act, phase
        else:
            self._act, self._phase = act, phase
            self._waiting.extend(delta for delta in deltas if delta.name not in OF_THE_END)

    def tell(self, kind: str, name: str, where: Where, deltas: tuple[Delta, ...] = ()) -> None:
        """Tell what takes no time."""
        grain, is_told = self._grains.get(kind) or self._unknown[INSTANT]
        if is_told:
            self._tell(kind, INSTANT, self._depth, grain, name, where, deltas)
        else:
            self._waiting.extend(deltas)

    def _tell(
        self,
        kind: str,
        ph: str,
        depth: int,
        grain: str,
        name: str,
        where: Where,
        deltas: tuple[Delta, ...],
    ) -> None:
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._told.kept) + self._told.lost
        event = new_event((t, self._act, self._phase, kind, ph, depth, grain, name, where, deltas))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def begin_op(self, name: str, where: Where, deltas: tuple[Delta, ...]) -> None:
        """Tell the begin of an op: as `begin`, in fewer steps, for ops are most of what is told."""
        act, phase, depth = self._act, self._phase, self._depth
        self.spans.append(("op", name, where, "op", True, act, phase))
        self._depth = depth + 1
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._told.kept) + self._told.lost
        event = new_event((t, act, phase, "op", BEGIN, depth, "op", name, where, deltas))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def end_op(self, where: Where, deltas: tuple[Delta, ...]) -> None:
        """Tell the end of the op that was begun last."""
        _, name, _, _, _, act, phase = self.spans.pop()
        self._depth = depth = self._depth - 1
        if self._waiting:
            deltas = self._with_waiting(deltas)
        t = len(self._told.kept) + self._told.lost
        event = new_event((t, act, phase, "op", END, depth, "op", name, where, deltas))
        self._append(event)
        for listener in self.listeners:
            listener(event)

    def _with_waiting(self, deltas: tuple[Delta, ...]) -> tuple[Delta, ...]:
        deltas = (*self._waiting, *deltas)
        self._waiting.clear()
        return deltas

    def tells(self, kind: str) -> bool:
        """Return whether the level is fine enough for events of this kind."""
        return self._grains[kind][1]

    def note(self, *deltas: Delta) -> None:
        """Let these deltas come with the next event, whichever it is."""
        self._waiting.extend(deltas)

    def where(self, stage: Stage, made_at: tuple[str, int] | None = None) -> Where:
        """Return the line at which a stage is paused, and the script's line that has led here.

        That is the one which made or called a layer, or which began all that is going on.
        """
        return where_of(stage, made_at or self.began_at())

    def began_at(self) -> tuple[str, int] | None:
        """Return the script's line that begins something; None inside of what it has begun."""
        if all(span[0] == "build" for span in self.spans):
            return self.script_line or line_outside_the_package()
        return None
