"""Following a program: each stage that runs has an observer of its own, from its start to its end.

The recorder (`recorder.py`) and the story (`story.py`) follow a program alike, and differ in what
the observers of their stages tell: events for a tape, or records for a reader.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from kerascope.stage import Mark, Stage

SomeObserver = TypeVar("SomeObserver", bound="StageObserver")


class StageObserver:
    """Follows one stage; this one is silent.

    Parameters
    ----------
    stage : Stage
    observers : list of StageObserver
        Those of all stages that run, the outermost first; this one will be among them.
    """

    def __init__(self, stage: Stage, observers: list[Any]) -> None:
        self.stage = stage
        self.observers = observers

    def started(self) -> None:
        """Hear that the stage starts: nothing of it has run."""

    def event(self, event: Any) -> None:
        """Hear an event."""

    def finished(self) -> None:
        """Hear that the stage has its result."""

    def failed(self) -> None:
        """Hear that the stage raised."""

    def enclosing(self, kind: type[SomeObserver]) -> SomeObserver | None:
        """Return the innermost observer around this one of a kind, or None."""
        return next(
            (o for o in reversed(self.observers) if isinstance(o, kind) and o is not self), None
        )


class ProgramObserver:
    """Gives each stage that runs an observer, and passes on to it what the stage tells.

    Attributes
    ----------
    observers : list of StageObserver
        Of the stages that run, the outermost first.
    stage : Stage or None
        That told something last.
    """

    def __init__(self) -> None:
        self.observers: list[Any] = []
        self.stage: Stage | None = None

    def __call__(self, stage: Stage, event: Any) -> None:
        """Hear an event of a stage; what `observing` calls."""
        self.stage = stage
        if event.__class__ is not Mark:
            observers = self.observers
            if observers and observers[-1].stage is stage and not isinstance(event, Stage):
                observers[-1].event(event)
        elif event is Mark.started:
            self._start(stage)
        else:
            self._leave(stage, event)

    def _observer_of(self, stage: Stage) -> Any:
        return StageObserver(stage, self.observers)

    def _start(self, stage: Stage) -> None:
        observer = self._observer_of(stage)
        self.observers.append(observer)
        observer.started()

    def _leave(self, stage: Stage, mark: Mark) -> None:
        if all(observer.stage is not stage for observer in self.observers):
            return
        while self.observers[-1].stage is not stage:
            self._abandon(self.observers[-1])
        observer = self.observers[-1]
        if mark is Mark.finished:
            observer.finished()
            self.observers.remove(observer)
        else:
            self._fail(observer, sys.exc_info()[1])

    def _abandon(self, observer: Any) -> None:
        """Hear no more of a stage that is left without its end."""
        self.observers.remove(observer)

    def _fail(self, observer: Any, error: BaseException | None) -> None:
        """Hear that a stage has raised; None is told of one that was closed."""
        observer.failed()
        self.observers.remove(observer)
