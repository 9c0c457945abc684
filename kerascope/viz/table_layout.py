"""The layout of a table in lines of a given width; `tables` fills its cells.

Nothing is ever left out. The first of these layouts that fits is used:

1. each row in one line;
2. columns side by side, with the words of a cell on several lines, shapes and numbers unbroken;
3. the first cell of a row on a separate line, the other columns below it;
4. the first cell of a row and, below it, titles and values one after the other.

(A table of rich would do this too, but takes ten times as long for a hundred rows.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

BAR = " │ "
INDENT = 2
# A longer name may be broken, so that one long name does not squeeze the other columns.
LONGEST_NAME = 30

Piece = tuple[str, str]  # a text that should not be broken, and its style
Line = list[Piece]


# Replacements for terminals that only have ASCII.
PLAIN_SIGNS = str.maketrans("│─┼└…\u00d7µ█▉▊▋▌▍▎▏", "|-+-~xu########")


class Cell(NamedTuple):
    """A cell of a table: lines of styled texts, indented by the nesting depth `level`."""

    lines: list[Line]
    level: int = 0


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its title, and a cell for each row."""

    title: str
    cells: list[Cell]
    is_number: bool = False
    is_whole: bool = False  # no piece may be broken, not even a long piece

    @cached_property
    def most(self) -> int:
        """The width at which no cell of the column needs more than one line."""
        return max([columns_of(self.title), *(_most(cell) for cell in self.cells)])

    @cached_property
    def least(self) -> int:
        """The smallest width at which no text of the column is broken."""
        limit = None if self.is_whole or self.is_number else LONGEST_NAME
        words = [columns_of(word) for word in self.title.split()]
        return max([*words, *(_least(cell, limit) for cell in self.cells)])


def word(text: str, style: str = "") -> Cell:
    """Return a cell with one line of text in one style; an empty cell for ""."""
    return Cell([[(text, style)]] if text else [])


def text_of(line: Line) -> str:
    """Return the text of a line, without its styles."""
    return "".join(text for text, _ in line)


def segments(lines: Iterable[Line], console: Console, options: ConsoleOptions) -> Iterator[Segment]:
    """Yield lines as rich segments, in ASCII if the console requires it."""
    for line in lines:
        for text, style in line:
            text = text.translate(PLAIN_SIGNS) if options.ascii_only else text
            yield Segment(text, console.get_style(style) if style else None)
        yield Segment.line()


def columns_of(text: str) -> int:
    """Return the width of a text in terminal columns; a Chinese character takes two."""
    return len(text) if text.isascii() else cell_len(text)


def _most(cell: Cell) -> int:
    lines = [columns_of(" ".join([text for text, _ in line])) for line in cell.lines]
    return max(lines, default=0) + INDENT * cell.level


def _least(cell: Cell, limit: int | None) -> int:
    longest = max([columns_of(text) for line in cell.lines for text, _ in line], default=0)
    return (longest if limit is None else min(longest, limit)) + INDENT * cell.level


# --- the four layouts -----------------------------------------------------------------------------


def table_lines(columns: Sequence[Column], width: int) -> list[Line]:
    """Return the lines of a table, none of them wider than `width`."""
    widths = _fitting([column.most for column in columns], columns, width)
    widths = widths or _fitting([column.least for column in columns], columns, width)
    if widths:
        return list(_side_by_side(columns, widths, 0))
    first, *others = columns
    widths = _fitting([column.least for column in others], others, width - INDENT)
    if widths:
        return list(_stacked(first, others, widths, width))
    return list(_records(first, others, width))


def natural_width(columns: Sequence[Column]) -> int:
    """Return the width at which each row takes one line."""
    return sum(column.most for column in columns) + len(BAR) * (len(columns) - 1)


def _fitting(widths: list[int], columns: Sequence[Column], width: int) -> list[int]:
    """Return the widths of columns after adding the spare space, to the left columns first.

    Return [] if the columns do not fit in `width`.
    """
    spare = width - sum(widths) - len(BAR) * (len(columns) - 1)
    if spare < 0:
        return []
    fitting = []
    for column, least in zip(columns, widths, strict=True):
        more = min(spare, max(column.most - least, 0))
        spare -= more
        fitting.append(least + more)
    return fitting


def _side_by_side(columns: Sequence[Column], widths: list[int], indent: int) -> Iterator[Line]:
    yield from _header(columns, widths, indent)
    yield _rule(widths, indent)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield from _row(columns, cells, widths, indent)


def _stacked(
    first: Column, others: Sequence[Column], widths: list[int], width: int
) -> Iterator[Line]:
    yield [(first.title, "bold")]
    yield from _header(others, widths, INDENT)
    yield _rule(widths, INDENT)
    for cell, *cells in zip(first.cells, *(column.cells for column in others), strict=True):
        yield from wrapped(_in_bold(cell), width)
        yield from _row(others, cells, widths, INDENT)


def _records(first: Column, others: Sequence[Column], width: int) -> Iterator[Line]:
    yield [("─" * width, "dim")]
    for cell, *cells in zip(first.cells, *(column.cells for column in others), strict=True):
        yield from wrapped(_in_bold(cell), width)
        facts = [
            (column.title, _in_one_line(cell))
            for column, cell in zip(others, cells, strict=True)
            if cell.lines
        ]
        pieces: Line = []
        for place, (title, value) in enumerate(facts, start=1):
            words = f"{title} {value}" + ("," if place < len(facts) else "")
            fits = columns_of(words) <= width - INDENT
            pieces.extend([(words, "")] if fits else [(title, ""), (words[len(title) + 1 :], "")])
        yield from wrapped(Cell([pieces], 1), width, "  ")


def _in_one_line(cell: Cell) -> str:
    return ", ".join(" ".join(text for text, _ in line) for line in cell.lines)


# --- rows and cells -------------------------------------------------------------------------------


def _header(columns: Sequence[Column], widths: list[int], indent: int) -> Iterator[Line]:
    titles = [Cell([[(word, "bold") for word in column.title.split()]]) for column in columns]
    yield from _row(columns, titles, widths, indent)


def _rule(widths: list[int], indent: int) -> Line:
    return [("─" * indent + "─┼─".join("─" * width for width in widths), "dim")]


def _row(
    columns: Sequence[Column], cells: Sequence[Cell], widths: list[int], indent: int
) -> Iterator[Line]:
    """Yield the lines of one row, as many as its tallest cell has."""
    stacks = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(map(len, stacks))):
        line: Line = [(" " * indent, "")] if indent else []
        for column, stack, width in zip(columns, stacks, widths, strict=True):
            if column is not columns[0]:
                line.append((BAR, "dim"))
            pieces = stack[number] if number < len(stack) else []
            space = (" " * (width - columns_of("".join([text for text, _ in pieces]))), "")
            line.extend([space, *pieces] if column.is_number else [*pieces, space])
        yield _without_trailing_space(line)


def _without_trailing_space(line: Line) -> Line:
    while line and not line[-1][0].strip():
        line.pop()
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else []


def _in_bold(cell: Cell) -> Cell:
    """Return a cell in bold, except for text that has another style."""
    return cell._replace(
        lines=[[(text, style or "bold") for text, style in line] for line in cell.lines]
    )


def wrapped(cell: Cell, width: int, sign: str = "└ ") -> list[Line]:
    """Return a cell as lines of at most `width` columns.

    A cell with a level is indented, and its first line begins with `sign`.
    """
    indent = min(INDENT * cell.level, max(width - 10, 0))
    inner = width - indent
    lines = [one for line in cell.lines for one in _wrapped_line(line, inner)]
    if not indent:
        return lines
    first = " " * max(indent - len(sign), 0) + sign[:indent]
    return [[(" " * indent if place else first, "dim"), *line] for place, line in enumerate(lines)]


def _wrapped_line(line: Line, width: int) -> list[Line]:
    """Break a line of styled texts into lines of at most `width`, if possible between texts."""
    if len(line) == 1 and columns_of(line[0][0]) <= width:
        return [line]
    lines: list[Line] = [[]]
    spare = width
    for text, style in line:
        size = columns_of(text)
        if lines[-1] and size + 1 <= spare:
            lines[-1].append((f" {text}", style))
            spare -= size + 1
            continue
        for part in broken(text, width) if size > width else [text]:
            if lines[-1]:
                lines.append([])
            lines[-1].append((part, style))
            spare = width - columns_of(part)
    return lines


def broken(text: str, width: int) -> list[str]:
    """Break text into parts of at most `width` columns, after a punctuation mark if possible.

    Examples
    --------
    >>> broken("(None, 112, 112, 64)", 12), broken("conv2_block1_conv", 9), broken("日本語", 4)
    (['(None, 112,', '112, 64)'], ['conv2_', 'block1_', 'conv'], ['日本', '語'])
    """
    parts = []
    while columns_of(text) > width:
        end = _end_of_part(text, width)
        parts.append(text[:end].rstrip(" "))
        text = text[end:].lstrip(" ")
    return [*parts, text] if text else parts


def _end_of_part(text: str, width: int) -> int:
    """Return the number of characters in the first part of a broken text, at least one."""
    used = end = 0
    while end < len(text) and used + columns_of(text[end]) <= width:
        used += columns_of(text[end])
        end += 1
    behind_sign = max(text.rfind(sign, 0, end) for sign in " ,_-/.@") + 1
    return behind_sign if behind_sign > end // 3 else max(end, 1)
