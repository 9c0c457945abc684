"""A stage: work that runs to its end in one go, or that you walk through event by event.

Mapping a graph, running a graph, computing gradients, fitting a model: each kind of work is written
once, as a generator that yields small events and returns its result. `Stage` drives the generator::

    Stage("gradients", backpropagate(loss, wrt)).run()          # run it: what K.gradients does
    for event in Stage("gradients", backpropagate(loss, wrt)):  # walk it, one event at a time
        ...
    with observing(my_observer):            # observe every stage that runs in the block
        model.fit(x, y)

A stage starts another one by yielding it, and receives its result as the value of that `yield`.
When you walk, you step *into* an inner stage by iterating it, or *over* it by taking the next
event: then it is run.

An active observer receives the events of every stage that is run; a stage that you walk shows its
events only to you. Without observers, `Stage.run` discards the events, or takes the stage's
`shortcut`, which computes the same result faster and makes no events. Code that runs often, such as
a function, the training loop and the model, checks `is_watched()` and makes a stage only if there
is an observer. Events refer to live objects, so an observer must copy the values that it keeps. A
paused stage shows the variables of its source:
`stage.names["tensor_map"]` is the local variable that you see in `engine/network.py`.

Keras has nothing similar. The library httpx writes its authentication in this way: one generator
with two drivers, for ordinary and for asynchronous code. Lessons: chapters 2, 8, 10
and 15 walk through stages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial
from types import FrameType
from typing import Any

from kerascope.scoped import Scoped
from kerascope.user_frames import boundary


class Mark(Enum):
    """Notifications to observers that are not events: a stage started, finished or failed.

    Examples
    --------
    >>> stage = Stage("count", (n for n in [1, 2]))
    >>> with observing(lambda stage, event: print(event)):
    ...     stage.run()
    Mark.started
    1
    2
    Mark.finished
    """

    started = "started"
    finished = "finished"
    failed = "failed"


Observer = Callable[["Stage", Any], None]
_observers = Scoped("observers")


def observing(*observers: Observer) -> AbstractContextManager[None]:
    """Call each observer as `observer(stage, event)` for all events in the `with` block.

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
    """Return whether any observer is active."""
    return bool(_observers.open.get()) and bool(_observers.values())


class Runner:
    """Runs a stage to its end without observers.

    Examples
    --------
    >>> def add():
    ...     yield "1 + 2"
    ...     return 3
    >>> Runner().run(Stage("add", add()))
    3
    """

    def run(self, stage: Stage) -> Any:
        """Run a stage that is not done: by its shortcut if possible, otherwise event by event."""
        if stage.shortcut is None or stage.is_started:
            return stage.drain()
        return stage.take(stage.shortcut)


class WatchedRunner(Runner):
    """Runs a stage to its end if there are observers, which receive every event.

    Examples
    --------
    >>> events = []
    >>> with observing(lambda stage, event: events.append(event)):
    ...     WatchedRunner().run(Stage("count", (n for n in [1])))
    >>> events
    [<Mark.started: 'started'>, 1, <Mark.finished: 'finished'>]
    """

    def run(self, stage: Stage) -> Any:
        """Run the stage to its end; notify the observers when it starts, finishes or fails."""
        _notify(stage, Mark.started)
        try:
            result = stage.drain()
        except BaseException:
            _notify(stage, Mark.failed)
            raise
        _notify(stage, Mark.finished)
        return result


_UNWATCHED, _WATCHED = Runner(), WatchedRunner()


def current_runner() -> Runner:
    """Return the `Runner` that `Stage.run` uses now.

    If there is a single observer with its own runner, this is the observer's runner. Otherwise it
    is a runner that notifies all observers, or without observers the plain runner.
    """
    if not is_watched():
        return _UNWATCHED
    observers = [one for several in _observers.values() for one in several]
    own: Runner | None = getattr(observers[0], "runner", None) if len(observers) == 1 else None
    return own or _WATCHED


def _notify(stage: Stage, event: Any) -> None:
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
        The layer, model, function or optimizer that the work is for.
    shortcut : callable, optional
        Computes the same result faster, without events; a runner may call it instead.
    around : callable, optional
        Called as `around(advance)` each time that the work advances. It applies settings that must
        not stay in force while the work is paused, such as a function's NumPy float settings.

    Attributes
    ----------
    result : object
        What the generator returned; None before the end.
    done : bool
        True when the generator has returned.
    is_started : bool
        True after the first event.
    is_drained : bool
        True if the stage was run from its start, so that only observers receive its events.

    Examples
    --------
    >>> def count_to(n):
    ...     for i in range(n):
    ...         yield i
    ...     return "done"
    >>> stage = Stage("count", count_to(2))
    >>> list(stage), stage.result
    ([0, 1], 'done')
    """

    # Stages are made for every batch. Defaults in the class make that quick.
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
        """Yield each event. An inner stage that was not walked is run before the next event."""
        while True:
            event = self._advance()
            if self.done:
                return
            yield event

    def _advance(self) -> Any:
        """Resume the work until it yields the next event or returns; on return, `done` is true.

        If the last event was a stage, the work receives the result or the error of that stage.
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

        A stage that was walked in part is finished. A stage that is done returns its result again,
        and a stage that failed raises its error again.
        """
        return self.result if self.done else current_runner().run(self)

    @boundary
    def drain(self) -> Any:
        """Run the work to its end, pass each event to the observers, and return the result."""
        self.is_drained = not self.is_started
        while True:
            event = self._advance()
            if self.done:
                return self.result
            if _observers.open.get():  # an observer may be added while the work is under way
                _notify(self, event)

    def take(self, shortcut: Callable[[], Any]) -> Any:
        """Call `shortcut`, which does the stage's work without events, and store its result."""
        self.is_started = True
        try:
            self.result = shortcut()
        except BaseException as error:
            self._error = error
            raise
        self.done = True
        return self.result

    def begin_again(self) -> None:
        """Reset the stage after `take` failed, so that it can run with events instead."""
        self.is_started, self._error = False, None

    def walk(self) -> Iterator[tuple[Stage, Any]]:
        """Yield `(stage, event)` for every event of this stage and of all stages that it starts.

        An inner stage is itself an event of the outer one, just before its own events.
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
        """The paused frame of the work, in the innermost generator; None when the stage is done."""
        generator: Any = self._events
        while getattr(generator.gi_yieldfrom, "gi_frame", None) is not None:
            generator = generator.gi_yieldfrom
        return generator.gi_frame

    @property
    def names(self) -> dict[str, Any]:
        """The live local variables of the paused work, by name. Copy values that you keep."""
        frame = self.frame
        return dict(frame.f_locals) if frame is not None else {}

    @property
    def where(self) -> tuple[str, int] | None:
        """(file, line) of the source at which the work is paused; None when the stage is done."""
        frame = self.frame
        return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
