"""A stage: a piece of work that you can finish in one go, or walk through event by event.

Building a graph's map, running it, sweeping gradients, fitting a model: each is written once, as a
generator that yields small events and returns its result. `Stage` drives it::

    Stage("gradients", backpropagate(loss, wrt)).run()          # drain it: what K.gradients does
    for event in Stage("gradients", backpropagate(loss, wrt)):  # walk it, one event at a time
        ...
    with observing(my_observer):                                # watch every stage that runs in
    here
        model.fit(x, y)

A stage may start another one by yielding it and receives its result as the value of that `yield`.
Whoever walks may step *into* it (iterate it) or *over* it (ask for the next event): a stage that
nobody iterated is drained.

Nobody pays for what nobody watches: there is no `if tracing` in the engine. The rule for events:
the engine yields references to what exists; an observer copies what it wants to keep. The names of
a paused stage are those of its source: `stage.names["tensor_map"]` is the local variable that the
reader sees in `engine/network.py`.

The model for this is httpx's authentication flow: one generator, two drivers.
"""

from __future__ import annotations

import functools
import io
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from enum import Enum
from types import FrameType
from typing import Any


class Mark(Enum):
    """What an observer hears of a stage beside its events."""

    started = "started"
    finished = "finished"
    failed = "failed"


Observer = Callable[["Stage", Any], None]


class _Watch(io.BytesIO):
    """Observers, and a file in memory that is open as long as they listen; it is never written.

    `with` closes a file by a call into C, before which no interrupt is heard: so no observer is
    left on. A `with` that is left without that lets go of the watch, and a weak reference tells.
    """

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        super().__init__()
        self.observers = observers

    def __enter__(self) -> None:  # type: ignore[override]
        try:
            _is_any_open()
            _watches.set((*_watches.get(), weakref.ref(self)))
        except BaseException:  # then nobody calls `__exit__`
            self.close()
            raise


_watches: ContextVar[tuple[weakref.ref[_Watch], ...]] = ContextVar("watches", default=())


def observing(*observers: Observer) -> AbstractContextManager[None]:
    """Call each observer as `observer(stage, event)` for every event of every stage run inside.

    Parameters
    ----------
    *observers : callable
        Receives the stage and one of its events, or a `Mark` when the stage starts, finishes or
        fails.

    Examples
    --------
    >>> def count_to(n):
    ...     for i in range(n):
    ...         yield i
    ...     return "done"
    >>> heard = []
    >>> with observing(lambda stage, event: heard.append(event)):
    ...     Stage("count", count_to(2)).run()
    'done'
    >>> heard
    [<Mark.started: 'started'>, 0, 1, <Mark.finished: 'finished'>]
    """
    return _Watch(observers)


class HeardInstead(Exception):
    """A call of which nobody was to hear has to be done once more, and be heard; `args` has it."""


class Stage:
    """Drives one generator of events.

    Parameters
    ----------
    name : str
        What the work is called: "map_graph", "gradients", "function", "fit".
    events : generator
        Yields events or other stages; its return value is the result.
    subject : object, optional
        What is worked on: the layer, model, function or optimizer.
    shortcut : callable, optional
        A faster road to the same result, taken when nobody watches.
    around : callable, optional
        Calls what makes the work advance, `around(advance)`: what holds meanwhile, and not while
        the work is paused.

    Attributes
    ----------
    result : object
        What the generator returned; None before the end.
    done : bool
        True when the generator has returned.
    is_drained : bool
        True when it is run to its end at once: nobody but observers hears of its events.
    """

    # A stage is made for every batch, so what it begins with stands here.
    result: Any = None
    done: bool = False
    is_drained: bool = False
    _started: bool = False
    _inner: Stage | None = None
    _error: BaseException | None = None

    def __init__(
        self,
        name: str,
        events: Generator[Any, Any, Any],
        subject: Any = None,
        shortcut: Callable[[], Any] | None = None,
        around: Callable[[Callable[[], Any]], Any] | None = None,
    ) -> None:
        self.name = name
        self.subject = subject
        self._events = events
        self._shortcut = shortcut
        self._around = around

    def __repr__(self) -> str:
        state = "done" if self.done else "started" if self._started else "new"
        return f"<Stage {self.name} {state}>"

    def __iter__(self) -> Iterator[Any]:
        """Walk: yield each event; an inner stage that the walker left alone is drained."""
        while not self.done:
            if self._error is not None:
                raise self._error
            try:
                event = self._advance()
            except StopIteration as stop:
                self.result, self.done = stop.value, True
                return
            except BaseException as error:
                self._error = error
                raise
            self._inner = event if isinstance(event, Stage) else None
            yield event

    def _advance(self) -> Any:
        """Resume the work, handing it the result, or the error, of the stage it last yielded."""
        self._started = True
        inner, self._inner = self._inner, None
        resume: Callable[[], Any] = functools.partial(next, self._events)
        if inner is not None:
            try:
                resume = functools.partial(self._events.send, inner.run())
            except Exception as error:
                resume = functools.partial(self._events.throw, error)
        return resume() if self._around is None else self._around(resume)

    def run(self) -> Any:
        """Drain: run to the end, telling the observers, and return the result.

        A stage that was walked part of the way is finished; one that is done returns its result
        again, and one that failed raises its error again.
        """
        if self.done:
            return self.result
        if self._shortcut is not None and not self._started:
            shortcut = self._unheard_call() if is_watched() else self._shortcut
            if shortcut is not None:
                try:
                    return self._take(shortcut)
                except HeardInstead:
                    self._started, self._error = False, None
        self._tell(Mark.started)
        try:
            self._drain()
        except BaseException:
            self._tell(Mark.failed)
            raise
        self._tell(Mark.finished)
        return self.result

    def _drain(self) -> None:
        """Go on to the end as a walk does, in fewer steps where nothing is entered at each."""
        if self._started or self._around is not None:
            for event in self:
                self._tell(event)
            return
        self._started = self.is_drained = True
        resume: Callable[[Any], Any] = self._events.send
        answer: Any = None
        while True:
            try:
                event = resume(answer)
            except StopIteration as stop:
                self.result, self.done = stop.value, True
                return
            except BaseException as error:
                self._error = error
                raise
            inner = self._inner = event if isinstance(event, Stage) else None
            resume, answer = self._events.send, None
            if _watches.get():  # somebody may begin to listen while the work is under way
                self._tell(event)
            if inner is not None:
                self._inner = None
                try:
                    answer = inner.run()
                except Exception as error:
                    resume, answer = self._events.throw, error
                except BaseException as error:
                    self._error = error
                    raise

    def _unheard_call(self) -> Callable[[], Any] | None:
        """Return what the only observer has to compute a call as a whole, if it need not hear it.

        That is a method `unheard_call`, which is given the function and what is fed to it.
        """
        ask = getattr(only_observer(), "unheard_call", None)
        if ask is None or "inputs" not in (given := self.names):
            return None
        call: Callable[[], Any] | None = ask(self.subject, given["inputs"])
        return call

    def _take(self, shortcut: Callable[[], Any]) -> Any:
        self._started = True
        try:
            self.result = shortcut()
        except BaseException as error:
            self._error = error
            raise
        self.done = True
        return self.result

    def walk(self) -> Iterator[tuple[Stage, Any]]:
        """Yield `(stage, event)` for every event of this stage and of all that it starts.

        An inner stage is itself the event by which its parent announces it.
        """
        stack: list[tuple[Stage, Iterator[Any]]] = [(self, iter(self))]
        while stack:
            stage, events = stack[-1]
            try:
                event = next(events)
            except StopIteration:
                stack.pop()
                continue
            yield stage, event
            if isinstance(event, Stage) and not event.done:
                stack.append((event, iter(event)))

    @property
    def frame(self) -> FrameType | None:
        """The paused frame of the work, innermost generator first; None when the stage is done."""
        generator: Any = self._events
        while getattr(generator.gi_yieldfrom, "gi_frame", None) is not None:
            generator = generator.gi_yieldfrom
        return generator.gi_frame

    @property
    def names(self) -> dict[str, Any]:
        """The local variables of the paused work, by the names of its source; live: do not keep."""
        frame = self.frame
        return dict(frame.f_locals) if frame is not None else {}

    @property
    def where(self) -> tuple[str, int] | None:
        """(file, line) of the source at which the work is paused; None when the stage is done."""
        frame = self.frame
        return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None

    def _tell(self, event: Any) -> None:
        for reference in _watches.get():
            watch = reference()
            if watch is not None and not watch.closed:
                for observer in watch.observers:
                    observer(self, event)


def is_watched() -> bool:
    """Tell whether any observer listens: a compiled road may be taken only if none does."""
    return bool(_watches.get()) and _is_any_open()


def only_observer() -> Observer | None:
    """Return the observer that listens, if it is the only one."""
    watches = [watch for watch in (ref() for ref in _watches.get()) if watch is not None]
    observers = [one for watch in watches if not watch.closed for one in watch.observers]
    return observers[0] if len(observers) == 1 else None


def _is_any_open() -> bool:
    """Drop the watches that are over; tell whether one is left."""
    references = _watches.get()
    pairs = [(reference, reference()) for reference in references]
    still = tuple(ref for ref, watch in pairs if watch is not None and not watch.closed)
    if len(still) < len(references):
        _watches.set(still)
    return bool(still)
