"""A stage: a piece of work that you can finish in one go, or walk through event by event.

Building a graph's map, running it, sweeping gradients, fitting a model: each is written once, as a
generator that yields small events and returns its result. `Stage` drives it::

    Stage("gradients", backpropagate(loss, wrt)).run()          # drain it: what K.gradients does
    for event in Stage("gradients", backpropagate(loss, wrt)):  # walk it, one event at a time
        ...
    with observing(my_observer):            # watch every stage that runs in here
        model.fit(x, y)

A stage may start another one by yielding it and receives its result as the value of that `yield`.
Whoever walks may step *into* it (iterate it) or *over* it (ask for the next event): a stage that
nobody iterated is drained.

Nobody pays for what nobody watches: there is no `if tracing` in the engine. How a stage is run to
its end is asked of a `Runner`: without observers it may take a shortcut to the same result. The
rule for events: the engine yields references to what exists; an observer copies what it wants to
keep. The names of a paused stage are those of its source: `stage.names["tensor_map"]` is the local
variable that the reader sees in `engine/network.py`.

The model for this is httpx's authentication flow: one generator, two drivers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial
from types import FrameType
from typing import Any

from kerascope.callers import boundary
from kerascope.scoped import Scoped


class Mark(Enum):
    """What an observer hears of a stage beside its events."""

    started = "started"
    finished = "finished"
    failed = "failed"


Observer = Callable[["Stage", Any], None]
_observers = Scoped("observers")


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
    return _observers.holding(observers)


def is_watched() -> bool:
    """Tell whether any observer listens."""
    return bool(_observers.open.get()) and bool(_observers.values())


class Runner:
    """Runs stages to their end; this one does so while nobody watches."""

    def run(self, stage: Stage) -> Any:
        """Return the result of a stage that is not done."""
        if stage.shortcut is None or stage.is_started:
            return stage.drain()
        return stage.take(stage.shortcut)


class WatchedRunner(Runner):
    """Runs stages while observers listen: every event is made."""

    def run(self, stage: Stage) -> Any:
        """Drain the stage between two marks."""
        _tell(stage, Mark.started)
        try:
            result = stage.drain()
        except BaseException:
            _tell(stage, Mark.failed)
            raise
        _tell(stage, Mark.finished)
        return result


_UNWATCHED, _WATCHED = Runner(), WatchedRunner()


def current_runner() -> Runner:
    """Return who runs stages now: an observer that is alone may bring a `runner` of its own."""
    if not is_watched():
        return _UNWATCHED
    observers = [one for several in _observers.values() for one in several]
    own: Runner | None = getattr(observers[0], "runner", None) if len(observers) == 1 else None
    return own or _WATCHED


def _tell(stage: Stage, event: Any) -> None:
    for several in _observers.values():
        for observer in several:
            observer(stage, event)


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
        A faster road to the same result, which a runner may take.
    around : callable, optional
        Calls what makes the work advance, `around(advance)`: what holds meanwhile, and not while
        the work is paused.

    Attributes
    ----------
    result : object
        What the generator returned; None before the end.
    done : bool
        True when the generator has returned.
    is_started : bool
    is_drained : bool
        True when it is run to its end at once: nobody but observers hears of its events.
    """

    # A stage is made for every batch, so what it begins with stands here.
    result: Any = None
    done: bool = False
    is_drained: bool = False
    is_started: bool = False
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
        self.shortcut = shortcut
        self._around = around

    def __repr__(self) -> str:
        state = "done" if self.done else "started" if self.is_started else "new"
        return f"<Stage {self.name} {state}>"

    def __iter__(self) -> Iterator[Any]:
        """Walk: yield each event; an inner stage that the walker left alone is drained."""
        while True:
            event = self._advance()
            if self.done:
                return
            yield event

    def _advance(self) -> Any:
        """Resume the work until it yields the next event, or returns: then `done` is true.

        If the last event was a stage, the work receives its result, or its error.
        """
        if self.done or self._error is not None:
            if self._error is not None:
                raise self._error
            return None
        self.is_started = True
        resume: Callable[[Any], Any] = self._events.send
        answer: Any = None
        try:
            if self._inner is not None:
                inner, self._inner = self._inner, None
                try:
                    answer = inner.run()
                except Exception as error:
                    resume, answer = self._events.throw, error
            if self._around is None:
                event = resume(answer)
            else:
                event = self._around(partial(resume, answer))
        except StopIteration as stop:
            self.result, self.done = stop.value, True
            return None
        except BaseException as error:
            self._error = error
            raise
        if isinstance(event, Stage):
            self._inner = event
        return event

    def run(self) -> Any:
        """Run to the end, and return the result.

        A stage that was walked part of the way is finished; one that is done returns its result
        again, and one that failed raises its error again.
        """
        return self.result if self.done else current_runner().run(self)

    @boundary
    def drain(self) -> Any:
        """Go on to the end as a walk does, telling the observers, and return the result."""
        self.is_drained = not self.is_started
        while True:
            event = self._advance()
            if self.done:
                return self.result
            if _observers.open.get():  # an observer may be added while the work is under way
                _tell(self, event)

    def take(self, shortcut: Callable[[], Any]) -> Any:
        """Let the result be that of a call, which makes no events."""
        self.is_started = True
        try:
            self.result = shortcut()
        except BaseException as error:
            self._error = error
            raise
        self.done = True
        return self.result

    def begin_again(self) -> None:
        """Forget that a shortcut failed: the work itself has not begun."""
        self.is_started, self._error = False, None

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
