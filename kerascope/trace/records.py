"""A record: one thing that happened, as plain data. A story is a list of them.

A printer (`viz/story.py`) decides how a record looks; nothing here knows about lines or colours.
Here is also who tells records: a `StoryWriter`, for the whole program, and for each stage a
`StageNarrator`. What they say of each kind of stage is in `story.py` and `story_training.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kerascope.backend.function import Function
from kerascope.engine.compiling import LossTerm
from kerascope.stage import Stage
from kerascope.trace.observers import ProgramObserver, StageObserver
from kerascope.trace.train_facts import TrainFacts

PHASES = (
    "build",
    "map_graph",
    "compile",
    "make_train_function",
    "fit",
    "forward",
    "loss",
    "metrics",
    "backward",
    "update",
    "commit",
    "call",
)


@dataclass(frozen=True)
class Record:
    """One thing that happened.

    Attributes
    ----------
    phase : str
        One of `PHASES`.
    kind : str
        "section" (a new chapter), "begin" (a heading inside one), or what the line is about:
        "layer", "visit", "depth", "pair", "tensor", ...
    depth : int
        How far it is nested: 0 for a section.
    name : str
        Of what it speaks: a layer, a node, a tensor, a variable.
    cells : tuple of str
        What happened, in pieces that belong below those of the records around it.
    facts : mapping
        The same and more as data: strings, numbers, lists of them.
    alarm : bool
        True where a number is NaN or infinite, or something failed.
    """

    phase: str
    kind: str
    depth: int
    name: str
    cells: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    alarm: bool = False

    @property
    def text(self) -> str:
        """What happened, in one string."""
        return "  ".join(cell for cell in self.cells if cell)


def listed(items: Iterable[Any], most: int = 12) -> str:
    """Return names joined by commas; of a long list only the beginning and the end.

    Examples
    --------
    >>> listed("abc"), listed(range(100), most=4)
    ('a, b, c', '0, 1, 2, ... 99 (100 in all)')
    """
    words = [str(item) for item in items]
    if len(words) <= most:
        return ", ".join(words)
    return f"{', '.join(words[: most - 1])}, ... {words[-1]} ({len(words)} in all)"


def counted(number: int, word: str) -> str:
    """Return a number with its word in singular or plural.

    Examples
    --------
    >>> counted(1, "op"), counted(1344, "parameter"), counted(2, "batch"), counted(2, "box")
    ('1 op', '1,344 parameters', '2 batches', '2 boxes')
    """
    ending = "" if number == 1 else "es" if word.endswith(("ch", "x")) else "s"
    return f"{number:,} {word}{ending}"


# --- telling them ---------------------------------------------------------------------------------


class StoryWriter(ProgramObserver):
    """Hands records on; nothing is told twice, and calls that repeat themselves are counted.

    Attributes
    ----------
    level : {"node", "op"}
    batches : int
        How many batches of each train function are shown in full.
    train_facts : dict of Function to TrainFacts
        Of the train functions that were made meanwhile.
    calls_of : dict of Function to int
    loss_terms : dict of Model to list of LossTerm
    introduced : set of Layer
        The input layers that were told.
    """

    def __init__(self, tell: Callable[[Record], Any], level: str, batches: int) -> None:
        super().__init__()
        self.level = level
        self.batches = batches
        self.train_facts: dict[Function, TrainFacts] = {}
        self.calls_of: dict[Function, int] = {}
        self.loss_terms: dict[Any, list[LossTerm]] = {}
        self.introduced: set[Any] = set()
        self._tell = tell
        self._section: StageNarrator | str | None = None
        self._repeated: Record | None = None
        self._repeats = 0

    def tell(self, record: Record) -> None:
        """Hand a record on."""
        self._say_repeats()
        self._tell(record)

    def section(self, owner: StageNarrator | str, record: Record) -> None:
        """Open a section, unless its owner's is open still."""
        if self._section is not owner and self._section != owner:
            self._section = owner
            self.tell(record)

    def brief(self, record: Record) -> None:
        """Hand on the record of a call; if the next ones are of the same kind they are counted."""
        last = self._repeated
        if last is not None and (last.kind, last.name) == (record.kind, record.name):
            self._repeated, self._repeats = record, self._repeats + 1
            return
        self.tell(record)
        self._repeated = record

    def _say_repeats(self) -> None:
        last, repeats = self._repeated, self._repeats
        self._repeated, self._repeats = None, 0
        if last is None or not repeats:
            return
        words = (f"{counted(repeats, 'more call')}; the last:", *last.cells)
        facts = {"calls": repeats, **last.facts}
        self._tell(Record(last.phase, "repeated", last.depth, last.name, words, facts, last.alarm))

    def close(self) -> None:
        """Say what is still to be said; call it when the watching is over."""
        self._say_repeats()


class StageNarrator(StageObserver):
    """Hears the events of one stage and tells records; this one is silent.

    Parameters
    ----------
    story : StoryWriter
        Whom to tell.
    stage : Stage

    Attributes
    ----------
    phase : str
        Phase of the records.
    """

    phase = "call"

    def __init__(self, story: StoryWriter, stage: Stage) -> None:
        super().__init__(stage, story.observers)
        self.story = story
        self._begun = False

    def section(self, name: str, *cells: str) -> None:
        """Open this observer's section; if another came between, say that it goes on."""
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

    def number_around(self, kind: type[StageNarrator]) -> int:
        """Return how many observers of a kind are around this one, itself included."""
        return sum(isinstance(observer, kind) for observer in self.observers)
