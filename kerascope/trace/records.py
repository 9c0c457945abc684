"""Records: each is one line of a report, as plain data. A report is a list of records.

`report.py` makes the records from events. `viz/story.py` prints them. A record has no information
about its layout or colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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
    """One line of a report: something that happened in a run.

    Attributes
    ----------
    phase : str
        One of `PHASES`.
    kind : str
        "section" (the heading of a section), "begin" (a heading inside a section), or the subject
        of the line: "layer", "visit", "depth", "pair", "tensor", ...
    depth : int
        The nesting level: 0 for a section.
    name : str
        The layer, node, tensor or variable that the record is about.
    cells : tuple of str
        The text of the line, with one string for each column of a table.
    facts : mapping
        The content of the line as data: strings, numbers, and lists of these. It may contain
        information that is not in `cells`.
    alarm : bool
        Whether the record reports a failure, or a number that is NaN or infinite.
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
        """The cells of the record, joined into one string."""
        return "  ".join(cell for cell in self.cells if cell)


def listed(items: Iterable[Any], most: int = 12) -> str:
    """Return names joined by commas. A long list is shortened in the middle.

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
    """Return a number with a noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "op"), counted(1344, "parameter"), counted(2, "batch"), counted(2, "box")
    ('1 op', '1,344 parameters', '2 batches', '2 boxes')
    """
    ending = "" if number == 1 else "es" if word.endswith(("ch", "x")) else "s"
    return f"{number:,} {word}{ending}"
