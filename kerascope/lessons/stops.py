"""Places in kerascope's own files: stored by what stands there, shown with the number of the line.

A number of a line is true until somebody adds a line above it. So outputs are stored with what a
reader goes by, the function and the statement, and pages are built with the number that it has now:

    printed, and on a page                     stored
    > kerascope/engine/node.py(93)__init__()   > kerascope/engine/node.py(N)__init__()
    -> self.layer = layer                      -> self.layer = layer
    Breakpoint 1 at kerascope/layers/a.py:88   Breakpoint 1 at kerascope/layers/a.py:Dense.build
    map.visit  kerascope/a.py(20)walk()        map.visit  kerascope/a.py(«yield node»)walk()

A stop is followed by its statement, so N says "the line of that statement"; elsewhere the statement
stands in the place, or «def» where a function has not begun yet. Where the same words stand twice
in functions of that name, a number tells which of them: N2. The stored form says all that there is
to say of a place but the number, and is compared letter for letter.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from kerascope.lessons import package_folder

FILE = r"(?<![\w/.])(?P<file>kerascope/[\w/]+\.py)"
PRINTED = re.compile(FILE + r"(?:\((?P<line>\d+)\)(?P<function>[\w<>]+)\(|:(?P<at>\d+)(?!\w))")
STOP = re.compile(FILE + r"\(N(?P<which>\d*)\)(?P<function>[\w<>]+)\(")
ROW = re.compile(FILE + r"\(«(?P<words>.*?)»(?P<which>\d*)\)(?P<function>[\w<>]+)\(")
NAMED = re.compile(FILE + r":(?P<name>[A-Za-z_<][\w.<>]*)(?:«(?P<words>.*?)»(?P<which>\d*))?")
STATEMENT = "-> "
DEF = "def"


class Function(NamedTuple):
    """A function of a file: its name, and where it begins, is named, has its body, and ends."""

    name: str
    first: int
    define: int
    body: int
    last: int


def named(text: str) -> str:
    r"""Return an output with what stands at each place, in place of the number of its line.

    Examples
    --------
    >>> line = source_of("kerascope/learn/verdicts.py").first_line_of("Text.within")
    >>> print(named(f"Breakpoint 1 at kerascope/learn/verdicts.py:{line}"))
    Breakpoint 1 at kerascope/learn/verdicts.py:Text.within
    """
    lines = text.split("\n")
    return "\n".join(
        PRINTED.sub(partial(_name, after=after), line)
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def numbered(text: str) -> str:
    r"""Return a stored output with the numbers that its lines have now.

    A place that is not there any more stays as it is.

    Examples
    --------
    >>> stored = "> kerascope/learn/verdicts.py(N)as_json()\n-> return {'en': self.en}"
    >>> numbered(stored) == stored  # there is no such statement
    True
    >>> where = "kerascope/learn/verdicts.py(N)within()"
    >>> stored = f"> {where}\n-> def within(self, language: str) -> str:"
    >>> named(numbered(stored)) == stored, "(N)" in numbered(stored)
    (True, False)
    """
    lines = text.split("\n")
    return "\n".join(
        NAMED.sub(_numbered_name, ROW.sub(_numbered_row, _numbered_stop(line, after)))
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def _name(found: re.Match[str], after: str) -> str:
    """Return the stored form of a printed place; `after` is the line below it."""
    source = source_of(found["file"])
    if found["at"]:
        return f"{found['file']}:{_name_of(source, int(found['at']))}"
    line, function = int(found["line"]), found["function"]
    words = source.words(line)
    which = _which(source.lines_of(function, words), line)
    if after.startswith(STATEMENT) and after.removeprefix(STATEMENT).strip() == words:
        return f"{found['file']}(N{which}){function}("
    starts = source.lines_of(function, DEF)
    if line in starts:
        words, which = DEF, _which(starts, line)
    return f"{found['file']}(«{words}»{which}){function}("


def _name_of(source: Source, line: int) -> str:
    """Return what stands on a line, as a breakpoint is named: the function, if it begins there."""
    function = source.function_at(line)
    is_only = source.first_line_of(function.name) == function.first  # a setter has a getter's name
    if is_only and function.first <= line <= function.body:
        return function.name
    words = source.words(line)
    return f"{function.name}«{words}»{_which(source.lines_in(function.name, words), line)}"


def _which(lines: list[int], line: int) -> str:
    """Return which of some lines one is, as it is written: nothing for the first."""
    place = lines.index(line) if line in lines else 0
    return str(place + 1) if place else ""


def _numbered_stop(line: str, after: str) -> str:
    if not after.startswith(STATEMENT):
        return line
    words = after.removeprefix(STATEMENT).strip()
    return STOP.sub(lambda found: _numbered_row(found, words), line)


def _numbered_row(found: re.Match[str], words: str | None = None) -> str:
    source, function = source_of(found["file"]), found["function"]
    lines = source.lines_of(function, found["words"] if words is None else words)
    line = _chosen(lines, found["which"])
    return f"{found['file']}({line}){function}(" if line else found[0]


def _numbered_name(found: re.Match[str]) -> str:
    source = source_of(found["file"])
    if found["words"] is None:
        line = source.first_line_of(found["name"])
    else:
        line = _chosen(source.lines_in(found["name"], found["words"]), found["which"])
    return f"{found['file']}:{line}" if line else found[0]


def _chosen(lines: list[int], which: str | None) -> int | None:
    place = int(which or 1) - 1
    return lines[place] if place < len(lines) else None


# --- files ----------------------------------------------------------------------------------------


# Chapters are checked in threads, and Python 3.11 mixes up how deep two trees are that it makes at
# the same time.
_PARSING = threading.Lock()


class Source:
    """A file of kerascope: its lines, and its functions."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        with _PARSING:
            self.functions = list(_functions(ast.parse(text), ""))

    def words(self, line: int) -> str:
        """Return what stands on a line, counted from 1."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def lines_of(self, function: str, words: str) -> list[int]:
        """Return the lines with these words in functions of a plain name, or in the whole file.

        `<module>` and `<lambda>` are the names of what is no `def`: they may be anywhere.
        """
        ranges = [one for one in self.functions if one.name.rpartition(".")[2] == function]
        if words == DEF:
            return [one.define for one in ranges]
        return [
            line
            for line, text in enumerate(self.lines, 1)
            if text.strip() == words
            and (not ranges or any(one.first <= line <= one.last for one in ranges))
        ]

    def lines_in(self, name: str, words: str) -> list[int]:
        """Return the lines with these words in the function of a qualified name."""
        ranges = [one for one in self.functions if one.name == name]
        return [
            line
            for one in ranges or [Function(name, 1, 1, 1, len(self.lines))]
            for line in range(one.first, one.last + 1)
            if self.words(line) == words
        ]

    def function_at(self, line: int) -> Function:
        """Return the innermost function around a line; `<module>` where there is none."""
        around = [one for one in self.functions if one.first <= line <= one.last]
        return max(around, key=lambda one: one.first, default=Function("<module>", 0, 0, 0, 0))

    def first_line_of(self, name: str) -> int | None:
        """Return where a function of a qualified name begins, with its decorators."""
        return next((one.first for one in self.functions if one.name == name), None)


@cache
def source_of(file: str) -> Source:
    """Return a file of the package by its name; an empty one if it is not there."""
    path = package_folder().parent / file
    return Source(path.read_text(encoding="utf-8") if path.is_file() else "")


def _functions(tree: ast.AST, before: str) -> Iterator[Function]:
    for node in ast.iter_child_nodes(tree):
        name = getattr(node, "name", "")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min(part.lineno for part in (node, *node.decorator_list))
            has_text = ast.get_docstring(node) is not None and len(node.body) > 1
            body = node.body[1 if has_text else 0]
            last = node.end_lineno or first
            yield Function(f"{before}{name}", first, node.lineno, body.lineno, last)
        inner = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        yield from _functions(node, f"{before}{name}." if inner else before)
