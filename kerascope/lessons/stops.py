"""Source lines in outputs: stored by function and statement, shown with the line number.

Line numbers in kerascope's files change with every edit. So outputs are stored with the function
and the statement instead, and pages are built with the current number of the line:

    printed, and on a page                     stored
    > kerascope/engine/node.py(93)__init__()   > kerascope/engine/node.py(N)__init__()
    -> self.layer = layer                      -> self.layer = layer
    Breakpoint 1 at kerascope/layers/a.py:88   Breakpoint 1 at kerascope/layers/a.py:Dense.build
    map.visit  kerascope/a.py(20)walk()        map.visit  kerascope/a.py(«yield node»)walk()

A stop is followed by its statement, so N means "the line of that statement". Elsewhere the
statement itself replaces the number, or «def» if the function has not started yet. If the same
statement occurs more than once in functions of that name, a number selects one: N2. Stored
functions and statements are compared exactly.
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


class FunctionLines(NamedTuple):
    """A function in a file: its name, and the lines of its start, `def`, body and end."""

    name: str
    first: int
    define: int
    body: int
    last: int


def name_places(text: str) -> str:
    r"""Return an output in its stored form, without line numbers of kerascope's files.

    Each line number is replaced as in the table of this module: by N if the statement of the line
    follows in the output, otherwise by the function or the statement.

    Examples
    --------
    >>> line = source_of("kerascope/learn/verdicts.py").first_line_of("Text.within")
    >>> print(name_places(f"Breakpoint 1 at kerascope/learn/verdicts.py:{line}"))
    Breakpoint 1 at kerascope/learn/verdicts.py:Text.within
    """
    lines = text.split("\n")
    return "\n".join(
        PRINTED.sub(partial(_name, after=after), line)
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def number_places(text: str) -> str:
    r"""Return a stored output with the current line numbers of kerascope's files.

    In a stored output, an N, a function or a statement is in the place of each number (see
    `name_places`). If the function or statement no longer exists, the text is not changed.

    Examples
    --------
    >>> stored = "> kerascope/learn/verdicts.py(N)as_json()\n-> return {'en': self.en}"
    >>> number_places(stored) == stored  # the statement does not exist
    True
    >>> where = "kerascope/learn/verdicts.py(N)within()"
    >>> stored = f"> {where}\n-> def within(self, language: str) -> str:"
    >>> name_places(number_places(stored)) == stored, "(N)" in number_places(stored)
    (True, False)
    """
    lines = text.split("\n")
    return "\n".join(
        NAMED.sub(_numbered_name, ROW.sub(_numbered_row, _numbered_stop(line, after)))
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def _name(found: re.Match[str], after: str) -> str:
    """Return the stored form of one match of `PRINTED`, a file of kerascope with a line number.

    `after` is the line of the output that follows; a debugger prints the statement there.
    """
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
    """Return the stored form of a breakpoint's line: its function, and its statement if needed.

    For the first line of a function's body, the function alone is enough.
    """
    function = source.function_at(line)
    is_only = source.first_line_of(function.name) == function.first  # a setter has a getter's name
    if is_only and function.first <= line <= function.body:
        return function.name
    words = source.words(line)
    return f"{function.name}«{words}»{_which(source.lines_in(function.name, words), line)}"


def _which(lines: list[int], line: int) -> str:
    """Return the suffix that distinguishes equal lines: "" for the first, "2" for the second."""
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


# Chapters are checked in threads, and Python 3.11 confuses the depths of two syntax trees that are
# built at the same time.
_PARSING = threading.Lock()


class Source:
    """The lines and functions of a source file of kerascope."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        with _PARSING:
            self.functions = list(_functions(ast.parse(text), ""))

    def words(self, line: int) -> str:
        """Return the stripped text of a line, counted from 1; "" outside of the file."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def lines_of(self, function: str, words: str) -> list[int]:
        """Return the numbers of the lines with this statement in all functions of this name.

        The name is simple, such as `build`. If no function has the name, as with `<module>` and
        `<lambda>`, the whole file is searched.
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
        """Return the numbers of the lines with this statement in the function of this name.

        The name is qualified, such as `Dense.build`.
        """
        ranges = [one for one in self.functions if one.name == name]
        return [
            line
            for one in ranges or [FunctionLines(name, 1, 1, 1, len(self.lines))]
            for line in range(one.first, one.last + 1)
            if self.words(line) == words
        ]

    def function_at(self, line: int) -> FunctionLines:
        """Return the innermost function around a line; outside of functions, `<module>`."""
        around = [one for one in self.functions if one.first <= line <= one.last]
        return max(around, key=lambda one: one.first, default=FunctionLines("<module>", 0, 0, 0, 0))

    def first_line_of(self, name: str) -> int | None:
        """Return the first line of a function with its decorators; None without such a function."""
        return next((one.first for one in self.functions if one.name == name), None)


@cache
def source_of(file: str) -> Source:
    """Return the `Source` of a file of kerascope; an empty one if the file does not exist."""
    path = package_folder().parent / file
    return Source(path.read_text(encoding="utf-8") if path.is_file() else "")


def _functions(tree: ast.AST, before: str) -> Iterator[FunctionLines]:
    for node in ast.iter_child_nodes(tree):
        name = getattr(node, "name", "")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min(part.lineno for part in (node, *node.decorator_list))
            has_text = ast.get_docstring(node) is not None and len(node.body) > 1
            body = node.body[1 if has_text else 0]
            last = node.end_lineno or first
            yield FunctionLines(f"{before}{name}", first, node.lineno, body.lineno, last)
        inner = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        yield from _functions(node, f"{before}{name}." if inner else before)
