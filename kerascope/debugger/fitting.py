"""Lines that fit a width: cut or wrapped, where a wide character takes two columns.

A line that is longer than a terminal is wide goes on in the next row, in the middle of a word, and
what stands below it is no longer where one looks for it. So a person's lines are cut with an
ellipsis, or wrapped at a space. In a pipe nothing is wrapped: a program reads lines.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from kerascope.printable import printable as escaped

DOTS, ELLIPSIS = "...", "…"
INDENT = "    "  # of what goes on in a further row
OWN_LINE = ("Usage: ", "Example: ", " ")  # of a help text; they are not joined to what is above


class Page(NamedTuple):
    """What is written on.

    Attributes
    ----------
    width : int
        Columns.
    ascii_only : bool
        Whether there are no signs beyond ASCII.
    for_person : bool
        Whether it is a terminal, in which long lines would go on in the next row.
    """

    width: int
    ascii_only: bool = False
    for_person: bool = False

    @property
    def ellipsis(self) -> str:
        """What stands where something was cut off."""
        return ELLIPSIS if self.for_person and not self.ascii_only else DOTS

    def cut(self, line: str) -> str:
        """Return a line that is not wider than the page."""
        return cut(line, self.width, self.ellipsis)

    def cut_front(self, begin: str, line: str) -> str:
        """Return a line that is cut behind its begin: the end of a path says more than its begin.

        Examples
        --------
        >>> Page(20, ascii_only=True).cut_front("> ", "kerascope/engine/calling.py(9)call()")
        '> ...ing.py(9)call()'
        """
        line = printable(line)
        if cell_len(begin + line) <= self.width:
            return begin + line
        room = self.width - cell_len(begin) - cell_len(self.ellipsis)
        return cut(begin + self.ellipsis + _taken(line[::-1], max(room, 0))[::-1], self.width, "")

    def wrapped(self, text: str) -> list[str]:
        """Return the lines of a text; for a person they go on at a space, and are indented."""
        lines = text.split("\n")
        if not self.for_person:
            return lines
        return [row for line in lines for row in _rows(printable(line), self.width)]

    def filled(self, text: str) -> list[str]:
        r"""Return the lines of a text in paragraphs; for a person these are filled anew.

        Examples
        --------
        >>> Page(12, for_person=True).filled("one two three\nfour\n\nUsage: x\nExample: y")
        ['one two', 'three four', '', 'Usage: x', 'Example: y']
        """
        lines = text.split("\n")
        if not self.for_person:
            return lines
        joined = lines[:1]
        for line in lines[1:]:
            is_prose = line and joined[-1] and not joined[-1].startswith(OWN_LINE)
            if is_prose and not line.startswith(OWN_LINE):
                joined[-1] += f" {line}"
            else:
                joined.append(line)
        return [row for line in joined for row in _rows(line, self.width, "")]


def columns_of(text: str) -> int:
    """Return how many columns a text takes.

    Examples
    --------
    >>> columns_of("loss"), columns_of("損失")
    (4, 4)
    """
    return cell_len(text)


def padded(text: str, width: int) -> str:
    """Return a text with spaces behind it, up to a width."""
    return text + " " * (width - columns_of(text))


def cut(line: str, width: int, ellipsis: str = DOTS) -> str:
    """Return a line that is not wider than a width.

    Examples
    --------
    >>> cut("dense_1 and dense_2", 10), cut("損失関数", 7, "…")
    ('dense_1...', '損失関…')
    """
    line = printable(line)
    if cell_len(line) <= width:
        return line
    room = width - cell_len(ellipsis)
    return _taken(line, room) + ellipsis if room > 0 else _taken(line, width)


def printable(line: str) -> str:
    r"""Return a line without characters that would move the cursor.

    Examples
    --------
    >>> printable("a\tb"), printable("a\x1b[2J")
    ('a       b', 'a\\x1b[2J')
    """
    return escaped(line.expandtabs())


def _taken(text: str, width: int) -> str:
    """Return as many characters as have room, from the first on."""
    taken = 0
    for place, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:place]
    return text


def _rows(line: str, width: int, indent: str = INDENT) -> list[str]:
    rows = []
    indent = line[: len(line) - len(line.lstrip())] + indent
    indent = indent if len(indent) < width // 2 else ""
    while cell_len(line) > width:
        row = _taken(line, width)
        if not row:
            break
        space = row.rfind(" ", len(indent) + 1) if line[len(row)] != " " else len(row)
        row = row[:space] if space > len(indent) else row
        rows.append(row.rstrip())
        line = indent + line[len(row) :].lstrip()
    return [*rows, line]
