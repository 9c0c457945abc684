"""The table of `function.explain()` in a terminal: each step, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from kerascope.backend.program.explanation import Explanation
from kerascope.viz.table_layout import Cell, Column, Line, laid_out, wrapped


class ExplanationTable:
    """What rich prints of an explanation; it fits into the width of the terminal.

    Parameters
    ----------
    explanation : Explanation
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines as pieces of text with a style each."""
        yield from wrapped(Cell([[(self.explanation.title, "bold")]]), width)
        yield from laid_out(self._columns(), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """Yield what rich prints."""
        for line in self.lines(options.max_width):
            for text, style in line:
                yield Segment(text, console.get_style(style) if style else None)
            yield Segment.line()

    def _columns(self) -> list[Column]:
        rows = self.explanation.rows
        return [
            Column("Step", [_cell(row.step) for row in rows]),
            Column("Line", [_cell(str(row.line or "")) for row in rows], is_number=True),
            Column("Result", [_cell(row.result) for row in rows]),
            Column("Written as", [_cell(row.written_as) for row in rows]),
            Column("Memory", [_cell(row.memory) for row in rows]),
        ]


def _cell(text: str) -> Cell:
    return Cell([[(word, "") for word in text.split()]])


def explanation_table(explanation: Explanation) -> ExplanationTable:
    """Return an explanation as a rich renderable; registered at the edge for "explanation"."""
    return ExplanationTable(explanation)
