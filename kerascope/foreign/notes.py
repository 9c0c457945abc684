"""A queue of notes, from which a `TapeWriter` makes the events of a tape later.

Making the two events of a call takes about as long as observing the call, and many tapes are read
only after the training, or never. So while a model runs, a `TapeWriter` only adds notes to a queue.
A note is a function that writes events, with the function's arguments, which are immutable. The
events and their order are the same as if they were written immediately. Notes become events

- when the tape is read;
- immediately, if there is a listener, or if copies of arrays are kept, because their bytes count
  toward the tape's limit;
- one by one, the oldest first, if the tape has a limit and the notes in the queue take about half
  of its memory.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from kerascope.foreign.records import Call, Frame, Line, Recorded
from kerascope.trace.event_writer import EventWriter, named
from kerascope.trace.events import Delta, Event, Made, Where
from kerascope.trace.snapshots import LayerRef, NodeRef
from kerascope.trace.statistics import Statistics
from kerascope.trace.tape_store import Tape

NOTE_BYTES = 2048  # memory of a note and its contents, roughly
Kept = np.ndarray | Statistics | None


class Notes:
    """A queue of notes, and the tape on which their events are written later.

    Parameters
    ----------
    history : int or None
        How many bytes the tape keeps. None means no limit.
    may_wait : bool
        Whether notes may stay in the queue. If False, each note becomes an event immediately.
    events : EventWriter, optional
        Writes the events, such as the recorder of a debugger's session. The default writes them on
        a new tape.

    Attributes
    ----------
    depth : int
        Number of open spans.

    Examples
    --------
    >>> notes = Notes(history=None, may_wait=True)
    >>> notes.begin("forward", "forward pass", ("train.py", 7, "<module>"), {})
    >>> notes.end({})
    >>> len(notes)
    2
    >>> [(event.ph, event.name, event.where.user_line) for event in notes.tape]
    [('B', 'forward pass', 7), ('E', 'forward pass', 7)]
    >>> len(notes)
    0
    """

    def __init__(
        self, history: int | None, may_wait: bool, events: EventWriter | None = None
    ) -> None:
        self.depth = 0
        self._events = EventWriter(history=history) if events is None else events
        if may_wait:
            self._events.tape.settle = self.write_out
        self._makers: dict[Hashable, str] = {}  # the call that made each value, by token
        self._waiting: deque[tuple[Any, ...]] = deque()  # writers and their arguments
        self._most: float = 0
        if may_wait:
            self._most = float("inf") if history is None else history // 2 // NOTE_BYTES
        self._is_closed = self._is_writing = False

    @property
    def tape(self) -> Tape:
        """The tape with all events. Reading it first writes the events of all queued notes."""
        return self._events.tape

    def __len__(self) -> int:
        return len(self._waiting)

    def listen(self, hear: Callable[[Event], Any]) -> None:
        """Add a listener, which is called with each later event as soon as the event happens."""
        self.write_out()
        self._most = 0
        self._events.listeners.append(hear)

    def leave(self, hear: Callable[[Event], Any]) -> None:
        """Remove a listener."""
        self._events.listeners.remove(hear)

    def close(self) -> None:
        """End all open spans. Notes that are added after this call are dropped."""
        while self.depth:
            self.end({})
        self._is_closed = True

    # --- taking notes -----------------------------------------------------------------------------

    def begin(self, kind: str, name: str, line: Line | None, names: Mapping[str, Any]) -> None:
        """Add a note about the start of a span."""
        self.depth += 1
        self._take(Notes._begin, kind, name, line, names)

    def frame(self, frame: Frame, line: Line | None, names: Mapping[str, Any]) -> None:
        """Add a note about the start of a frame, which is a span that contains calls."""
        self.depth += 1
        self._take(Notes._frame, frame, line, names)

    def end(self, names: Mapping[str, Any]) -> None:
        """Add a note about the end of the innermost span."""
        self.depth -= 1
        self._take(Notes._end, names)

    def instant(self, kind: str, name: str, line: Line | None, names: Mapping[str, Any]) -> None:
        """Add a note about an event without duration."""
        self._take(Notes._instant, kind, name, line, names)

    def call(self, call: Call) -> None:
        """Add a note about a call that has returned."""
        self._take(Notes._call, call)

    def gradient(self, name: str, line: Line | None, kept: Kept) -> None:
        """Add a note about a gradient of the loss."""
        self._take(Notes._gradient, name, line, kept)

    def update(self, name: str, line: Line | None, old: Kept, new: Kept, gradient: Kept) -> None:
        """Add a note about the new value of a parameter."""
        self._take(Notes._update, name, line, old, new, gradient)

    def begin_pass(self) -> None:
        """Add a note about a new pass, whose calls do not read the values of earlier passes."""
        self._take(Notes._begin_pass)

    def _take(self, *note: Any) -> None:
        if self._is_closed:
            return
        self._waiting.append(note)
        if len(self._waiting) > self._most:
            self._shorten(self._most)

    # --- writing them out -------------------------------------------------------------------------

    def write_out(self) -> None:
        """Write the events of all waiting notes."""
        if self._waiting:
            with _interrupts_wait():
                self._shorten(0)
        if self._is_closed and not self._waiting:
            self.tape.settle = None

    def _shorten(self, most: float) -> None:
        """Write the events of the oldest notes until at most `most` notes are waiting."""
        if self._is_writing:  # a listener or the tape reads events meanwhile
            return
        self._is_writing = True
        try:
            while len(self._waiting) > most:
                write, *of = self._waiting.popleft()
                write(self, *of)
        finally:
            self._is_writing = False

    def _begin(self, kind: str, name: str, line: Line | None, names: Mapping[str, Any]) -> None:
        self._events.begin(kind, name, _place(line), named(**names))

    def _frame(self, frame: Frame, line: Line | None, names: Mapping[str, Any]) -> None:
        names = {"layer": _layer(frame.name, frame.op), **names}
        names["node"] = _node(frame.id, frame.id, 0)
        self._begin("node", frame.id, line, names)

    def _end(self, names: Mapping[str, Any]) -> None:
        self._events.end(named(**names))

    def _instant(self, kind: str, name: str, line: Line | None, names: Mapping[str, Any]) -> None:
        self._events.record(kind, name, _place(line), named(**names))

    def _call(self, call: Call) -> None:
        given = _result_of(call.outputs)
        names = {
            "node": _node(call.id, call.name, int(call.id[len(call.name) + 1 :] or 1) - 1),
            "layer": _layer(call.name, call.op),
            "kind": call.kind,
            "inputs": tuple([value.array for value in call.inputs]),
            "parameters": {key: one.array for key, one in call.parameters.items()},
            "sources": tuple([self._makers.get(value.token, "") for value in call.inputs]),
        }
        self._begin("node", call.id, call.line, names)
        self._note_makers(call)
        self._events.end((*named(result=given), Delta("tensor_map", call.id, (given, None))))

    def _begin_pass(self) -> None:
        self._makers.clear()

    def _note_makers(self, call: Call) -> None:
        read = {value.token for value in call.inputs}
        for number, value in enumerate(call.outputs):
            if value.token not in read or value.token not in self._makers:
                self._makers[value.token] = call.id if not number else f"{call.id}[{number}]"

    def _gradient(self, name: str, line: Line | None, kept: Kept) -> None:
        names = {"node": _node(name, name, 0), "layer": _layer(name, "gradient")}
        self._begin("node", name, line, names)
        self._events.end((*named(result=kept), Delta("grads", name, kept)))

    def _update(self, name: str, line: Line | None, old: Kept, new: Kept, gradient: Kept) -> None:
        self._begin("update.param", name, line, {"p": old, "g": gradient})
        self._events.end((*named(new_p=new, result=new), Delta("updates", name, new)))
        deltas = (Delta("weights", name, new), *named(old=old, new=new))
        self._events.record("update.apply", name, _place(line), deltas)


def _result_of(outputs: tuple[Recorded, ...]) -> Any:
    """Return the result of a call: the array of its only output, or a list of all arrays."""
    return outputs[0].array if len(outputs) == 1 else [output.array for output in outputs]


_node = lru_cache(maxsize=4096)(NodeRef)
_layer = lru_cache(maxsize=4096)(LayerRef)


@lru_cache(maxsize=4096)
def _place(line: Line | None) -> Where:
    """Convert a line of code (file, number, function) to the `Where` that an event stores."""
    if line is None:
        return Where()
    file, number, function = line
    return Where("", 0, function, file, number, Made(function=function, made_by=(line,)))


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Delay Ctrl-C in a `with` block, because an interruption could leave a tape incomplete."""
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(handler):
        yield
        return
    pressed: list[Any] = []
    signal.signal(signal.SIGINT, lambda *key: pressed.append(key))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pressed:
        handler(*pressed[0])
