"""A canvas of characters: lines that know whose they are, and words.

A line is kept as the directions in which it leaves each cell, so the right corner or branch comes
out by itself, and a cell where two different lines meet is a crossing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from rich.cells import cell_len

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_CHARACTERS = " │││─╯╮┤─╰╭├─┴┬╋"
_PLAIN = " |||-'.|-'.|-'.*"
_BROKEN = {"│": "╎", "─": "╌"}


@dataclass(slots=True)
class Cell:
    """What stands in one cell.

    Attributes
    ----------
    lines : dict of line to int
        For each line that passes, the directions in which it leaves.
    broken : bool
        Whether the line is drawn as dashes.
    word : str
        A character of a word, a box or an arrow's head, which hides lines.
    style : str
        For rich.
    """

    lines: dict[Hashable, int] = field(default_factory=dict)
    broken: bool = False
    word: str | None = None
    style: str = ""

    def character(self, ascii_only: bool) -> str:
        """Return what is shown."""
        if self.word is not None:
            return self.word
        if len(self.lines) > 1:
            return "+" if ascii_only else "┼"
        mask = next(iter(self.lines.values()), 0)
        if ascii_only:
            return ":" if self.broken and mask in (1, 2, 3) else _PLAIN[mask]
        shown = _CHARACTERS[mask]
        return _BROKEN.get(shown, shown) if self.broken else shown


class Canvas:
    """Cells by (column, line); it grows as it is drawn on."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}

    def vertical(self, line: Hashable, x: int, top: int, bottom: int, broken: bool = False) -> None:
        """Draw a line through the middles of the cells from `top` to `bottom`, both included."""
        for y in range(top, bottom + 1):
            mask = (UP if y > top else 0) | (DOWN if y < bottom else 0)
            self.join(line, x, y, mask, broken)

    def horizontal(self, line: Hashable, y: int, left: int, right: int, broken: bool) -> None:
        """Draw a line through the middles of the cells from `left` to `right`."""
        for x in range(left, right + 1):
            mask = (LEFT if x > left else 0) | (RIGHT if x < right else 0)
            self.join(line, x, y, mask, broken)

    def join(self, line: Hashable, x: int, y: int, mask: int, broken: bool = False) -> None:
        """Let a line leave a cell in these directions too."""
        cell = self.cells.setdefault((x, y), Cell())
        cell.lines[line] = cell.lines.get(line, 0) | mask
        cell.broken = broken

    def write(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write a word; characters that are two cells wide take two."""
        for character in text:
            width = cell_len(character)
            if not width and (x - 1, y) in self.cells:
                before = self.cells[x - 1, y]
                before.word = (before.word or "") + character
                continue
            self.cells[x, y] = Cell(word=character, style=style)
            for step in range(1, width):
                self.cells[x + step, y] = Cell(word="", style=style)
            x += width

    def is_free(self, x: int, y: int, width: int) -> bool:
        """Tell whether nothing stands in some cells beside each other."""
        return not any((x + step, y) in self.cells for step in range(width))

    def paste(self, other: Canvas, x: int, y: int) -> None:
        """Draw another canvas on this one, moved."""
        for (column, line), cell in other.cells.items():
            self.cells[column + x, line + y] = cell

    def lines(self, ascii_only: bool) -> list[list[tuple[str, str]]]:
        """Return what is shown, line by line, as (character, style)."""
        height = 1 + max((y for _, y in self.cells), default=-1)
        shown: list[list[tuple[str, str]]] = [[] for _ in range(height)]
        for x, y in sorted(self.cells):
            row = shown[y]
            row.extend((" ", "") for _ in range(x - len(row)))
            cell = self.cells[x, y]
            row.append((cell.character(ascii_only), cell.style))
        return shown
