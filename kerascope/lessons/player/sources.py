"""The lines of source that a player shows: those of the script, and those of kerascope.

Of a short script all lines are there, else the function around the line. Numbers of lines in
kerascope's own files are written as places, `kerascope/engine/node.py:93`, so that a stored player
still holds when something far above has moved them.
"""

from __future__ import annotations

import ast
import linecache
from textwrap import dedent
from typing import Any

from kerascope.debugger.places import path_of, shown_file

MOST_LINES = 40  # of one piece
AROUND = 8  # lines before and behind, of a longer one


class Sources:
    """Pieces of source, each once.

    Attributes
    ----------
    pieces : list of dict
        Each with its lines and the place of the first one.
    """

    def __init__(self) -> None:
        self.pieces: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._found: dict[tuple[str, int], tuple[int, int] | None] = {}

    def place(self, file: str, line: int) -> tuple[int, int] | None:
        """Return the number of a piece and which of its lines, from 0; None if there is none."""
        if not file or not line:
            return None
        if (file, line) not in self._found:
            self._found[file, line] = self._look_up(file, line)
        return self._found[file, line]

    def _look_up(self, file: str, line: int) -> tuple[int, int] | None:
        lines = linecache.getlines(path_of(file))
        if not 0 < line <= len(lines):
            return None
        first, last = _extent(lines, line)
        if (file, first) not in self._numbers:
            self._numbers[file, first] = len(self.pieces)
            text = dedent("".join(lines[first - 1 : last]))
            lines = text.rstrip("\n").split("\n")
            self.pieces.append({"place": f"{shown_file(file)}:{first}", "lines": lines})
        return self._numbers[file, first], line - first


def _extent(lines: list[str], line: int) -> tuple[int, int]:
    """Return the first and the last line to show around one, counted from 1."""
    if len(lines) <= MOST_LINES:
        return 1, len(lines)
    first, last = _function_around("".join(lines), line) or (1, len(lines))
    if last - first >= MOST_LINES:
        first, last = max(first, line - AROUND), min(last, line + AROUND)
    return first, last


def _function_around(text: str, line: int) -> tuple[int, int] | None:
    """Return the lines of the innermost function around a line."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    found = None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            last = node.end_lineno or node.lineno
            if node.lineno <= line <= last and (found is None or node.lineno >= found[0]):
                found = node.lineno, last
    return found
