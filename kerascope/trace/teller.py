"""The base of the tellers: one teller follows one stage from its start to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kerascope.stage import Stage
from kerascope.trace.records import Record

if TYPE_CHECKING:
    from kerascope.trace.story import Story


class Teller:
    """Hears the events of one stage and tells records; this one is silent.

    Parameters
    ----------
    story : Story
        Whom to tell.
    stage : Stage

    Attributes
    ----------
    phase : str
        Phase of the records.
    """

    phase = "call"

    def __init__(self, story: Story, stage: Stage) -> None:
        self.story = story
        self.stage = stage
        self._begun = False

    def started(self) -> None:
        """Hear that the stage starts."""

    def event(self, event: Any) -> None:
        """Hear an event."""

    def finished(self) -> None:
        """Hear that the stage has its result."""

    def failed(self) -> None:
        """Hear that the stage raised."""

    # --- for the tellers --------------------------------------------------------------------------

    def section(self, name: str, *cells: str) -> None:
        """Open this teller's section; if another came between, say that it goes on."""
        words = ("goes on",) if self._begun else cells
        self._begun = True
        self.story.section(self, Record(self.phase, "section", 0, name, words))

    def tell(
        self,
        kind: str,
        depth: int,
        name: str,
        *cells: str,
        phase: str | None = None,
        alarm: bool = False,
        **facts: Any,
    ) -> None:
        """Tell one record."""
        self.story.tell(Record(phase or self.phase, kind, depth, name, cells, facts, alarm))

    def enclosing(self, kind: type[Any]) -> Any:
        """Return the innermost teller around this one of a kind, or None."""
        return next((t for t in reversed(self.story.tellers) if isinstance(t, kind)), None)

    def number_around(self, kind: type[Teller]) -> int:
        """Return how many tellers of a kind are around this one, itself included."""
        return sum(isinstance(teller, kind) for teller in self.story.tellers)
