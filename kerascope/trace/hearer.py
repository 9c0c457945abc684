"""The base of the hearers: one hearer follows one stage and tells the recorder what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kerascope.stage import Stage
from kerascope.trace.events import Delta, new_delta

if TYPE_CHECKING:
    from kerascope.trace.recorder import Recorder


class Hearer:
    """Follows one stage; this one, for stages of unknown kinds, tells that they begin and end.

    Parameters
    ----------
    recorder : Recorder
    stage : Stage

    Attributes
    ----------
    builds : bool
        Whether the stage belongs to the building of models.
    level_of_spans : int
        Number of spans that were open when the stage started.
    """

    builds = False

    def __init__(self, recorder: Recorder, stage: Stage) -> None:
        self.recorder = recorder
        self.stage = stage
        self.level_of_spans = len(recorder.spans)

    def first_made_at(self) -> tuple[str, int] | None:
        """Return the line of the script that made what is told first; None if it stands there."""
        return None

    def started(self) -> None:
        """Hear that the stage starts: nothing of it has run."""
        name = str(getattr(self.stage.subject, "name", self.stage.name))
        self.begin(self.stage.name, name)

    def event(self, event: Any) -> None:
        """Hear an event."""
        name = str(getattr(event, "name", type(event).__name__))
        self.tell("event", name)

    def finished(self) -> None:
        """Hear that the stage has its result."""
        self.end_all()

    # --- for the hearers --------------------------------------------------------------------------

    def begin(self, kind: str, name: str, *deltas: Delta, made_at: Any = None) -> None:
        """Begin a span at the line where the stage is paused."""
        self.recorder.begin(kind, name, self.recorder.where(self.stage, made_at), deltas)

    def end(self, *deltas: Delta) -> None:
        """End the innermost span."""
        self.recorder.end(deltas)

    def tell(self, kind: str, name: str, *deltas: Delta, made_at: Any = None) -> None:
        """Tell an instant at the line where the stage is paused."""
        self.recorder.tell(kind, name, self.recorder.where(self.stage, made_at), deltas)

    def end_all(self, *deltas: Delta) -> None:
        """End all spans of this hearer; the deltas belong to the outermost."""
        recorder = self.recorder
        while len(recorder.spans) > self.level_of_spans + 1:
            recorder.end()
        if len(recorder.spans) > self.level_of_spans:
            recorder.end(deltas)

    def enclosing(self, kind: type[Any]) -> Any:
        """Return the innermost hearer around this one of a kind, or None."""
        found = [h for h in self.recorder.hearers if isinstance(h, kind) and h is not self]
        return found[-1] if found else None


def name_is(name: str, value: Any) -> Delta:
    """Return the delta that a name is something now."""
    return new_delta((name, None, value))
