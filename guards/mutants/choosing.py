r"""Makes the one-line mutants of a file, and chooses some of them at random.

A mutant changes one piece of one line: a sign, a comparison, a number, a key. Only lines in the
bodies of functions are changed. These pieces are never changed:

- docstrings, annotations and code under `if TYPE_CHECKING`, which never run;
- `assert` and `cast`, which are there for mypy;
- the text of a `raise` or a `warn`, and formatted text: a changed word is not a fault of the
  engine. The `raise` itself may be deleted, and its condition negated;
- `__repr__`, `__str__` and similar methods, which only return texts;
- the line of the `def`: defaults are public names, which have their own tests;
- changes that fail always or never: an undefined name, `isinstance(kind, x)`, `strict=`.

Examples
--------
>>> source = "def least(a, b):\n    return a if a < b else b\n"
>>> for edit in edits_of(source):
...     print(edit.line, edit.what, "->", edit.mutated(source).splitlines()[1].strip())
2 return nothing -> return None
2 condition turned round -> return a if not (a < b) else b
2 comparison -> return a if a <= b else b
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is not": "is",
    "is": "is not",
    "not in": "in",
    "in": "not in",
}
ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "/",
    "%": "*",
    "**": "*",
    "@": "+",
    "&": "|",
    "|": "&",
}
OPERATOR = re.compile(r"not\s+in|is\s+not|in|is|//|\*\*|<=|>=|==|!=|and|or|[-+*/%@&|<>]")
TEXTS = ("__repr__", "__str__", "__format__", "_repr_html_", "_repr_svg_", "_repr_mimebundle_")
SAYING = ("warn", "add_note", "cast")
NAMES = (ast.Name, ast.Attribute, ast.Subscript)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Edit:
    """One change of one line of a source, which makes a mutant.

    Attributes
    ----------
    line : int
        The number of the line, from 1.
    begin, end : int
        The range of characters that is replaced.
    text : str
        The replacement.
    what : str
        The kind of the change, such as "comparison".
    statement : int
        The first line of the innermost statement that contains the change.
    """

    line: int
    begin: int
    end: int
    text: str
    what: str
    statement: int

    def mutated(self, source: str) -> str:
        """Return a source, changed by this edit."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.begin] + self.text + line[self.end :]
        return "".join(lines)


@dataclass(frozen=True)
class Mutant:
    """A file with one edit.

    The path is relative to the checkout's root and has slashes. `before` and `after` are the line
    without and with the edit.
    """

    path: str
    edit: Edit
    before: str
    after: str


def edits_of(source: str) -> list[Edit]:
    """Return all one-line edits of a source in order. The results of a few have invalid syntax."""
    edits = set(Finder(source).all_of(ast.parse(source)))
    return sorted(edits, key=lambda edit: (edit.line, edit.begin, edit.end, edit.text))


def is_mutant(edit: Edit, source: str) -> bool:
    """Return whether a source compiles with this edit and has a different syntax tree."""
    try:
        mutated = ast.parse(edit.mutated(source))
        compile(mutated, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return ast.dump(mutated) != _dump_of(source)


@lru_cache(1)
def _dump_of(source: str) -> str:
    """Return the syntax tree of a source as text; all edits of a source are compared with it."""
    return ast.dump(ast.parse(source))


class Finder:
    """Finds the edits of a source: one-line changes in the bodies of its functions."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines()
        self.statement = 0

    # --- which code --------------------------------------------------------------------------

    def all_of(self, tree: ast.AST) -> Iterator[Edit]:
        """Yield the one-line edits in all functions of a module or a class."""
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, FUNCTIONS):
                yield from self.in_function(node)
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            else:
                yield from self.all_of(node)

    def in_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
        """Yield the one-line edits in the body of one function."""
        if function.name not in TEXTS:
            for statement in function.body:
                yield from self.in_statement(statement)

    def in_statement(self, statement: ast.stmt) -> Iterator[Edit]:
        """Yield the one-line edits of a statement and of the code inside it."""
        if isinstance(statement, FUNCTIONS):
            yield from self.in_function(statement)
            return
        if isinstance(statement, ast.ClassDef):
            yield from self.all_of(statement)
            return
        if isinstance(statement, (ast.Assert, ast.Import, ast.ImportFrom)) or is_text(statement):
            return
        self.statement = statement.lineno
        yield from self.of_statement(statement)
        if isinstance(statement, ast.Raise):
            return
        for name, child in ast.iter_fields(statement):
            if name == "annotation":
                continue
            for node in child if isinstance(child, list) else [child]:
                yield from self.in_part(node)
                self.statement = statement.lineno

    def in_part(self, node: object) -> Iterator[Edit]:
        """Yield the one-line edits of a statement's part: an expression or inner statement."""
        if isinstance(node, ast.stmt):
            yield from self.in_statement(node)
        elif isinstance(node, (ast.ExceptHandler, ast.match_case)):
            for inner in node.body:
                yield from self.in_statement(inner)
        elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and says(node)):
            return
        elif isinstance(node, ast.AST):
            yield from self.of_expression(node)
            for child in ast.iter_child_nodes(node):
                if not (isinstance(child, ast.keyword) and child.arg == "strict"):
                    yield from self.in_part(child)

    # --- which changes -----------------------------------------------------------------------

    def of_statement(self, statement: ast.stmt) -> Iterator[Edit]:
        """Yield the one-line edits of a whole statement, such as its deletion."""
        if has_effect(statement):
            yield from self.instead(statement, "pass", "statement deleted")
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield from self.instead(statement.value, "None", "return nothing")
        if isinstance(statement, ast.If):
            yield from self.turned_round(statement.test)
        if isinstance(statement, ast.AugAssign):
            yield from self.operators([statement.target, statement.value], ARITHMETIC, "arithmetic")

    def of_expression(self, node: ast.AST) -> Iterator[Edit]:
        """Yield the one-line edits of an expression itself, without those of its parts."""
        if isinstance(node, ast.Compare):
            yield from self.operators([node.left, *node.comparators], COMPARISONS, "comparison")
        elif isinstance(node, ast.BinOp):
            yield from self.operators([node.left, node.right], ARITHMETIC, "arithmetic")
        elif isinstance(node, ast.BoolOp):
            yield from self.operators(node.values, {"and": "or", "or": "and"}, "and, or")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            yield from self.instead(node, self.text(node.operand), "sign or not dropped")
        elif isinstance(node, ast.Constant):
            yield from self.of_constant(node)
        elif isinstance(node, ast.IfExp):
            yield from self.turned_round(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from self.turned_round(test)
        elif isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper):
                if bound is not None:
                    yield from self.instead(bound, f"({self.text(bound)}) + 1", "bound of a slice")
        elif isinstance(node, ast.Call):
            yield from self.of_call(node)

    def of_constant(self, node: ast.Constant) -> Iterator[Edit]:
        """Yield an edit of a constant: the other boolean, the next number or a different key."""
        value = node.value
        if isinstance(value, bool):
            yield from self.instead(node, str(not value), "constant")
        elif isinstance(value, (int, float)):
            yield from self.instead(node, repr(value + 1), "constant")
        elif isinstance(value, str) and value.isidentifier():
            yield from self.instead(node, repr(value + "_"), "key")

    def of_call(self, node: ast.Call) -> Iterator[Edit]:
        """Yield edits of a call: its first two arguments are swapped, or one keyword is removed."""
        swaps = len(node.args) >= 2 and all(isinstance(a, NAMES) for a in node.args[:2])
        if swaps and ast.unparse(node.func) != "isinstance":
            first, second = node.args[:2]
            between = self.between(first, second)
            if between is not None:
                begin, end = between
                gap = self.lines[first.lineno - 1][begin:end]
                yield Edit(
                    first.lineno,
                    self.column(first.lineno, first.col_offset),
                    self.column(second.lineno, second.end_col_offset or 0),
                    self.text(second) + gap + self.text(first),
                    "arguments swapped",
                    self.statement,
                )
        for keyword in node.keywords:
            if keyword.arg in (None, "strict") or keyword.lineno != keyword.end_lineno:
                continue
            line = self.lines[keyword.lineno - 1]
            begin = self.column(keyword.lineno, keyword.col_offset)
            end = self.column(keyword.lineno, keyword.end_col_offset or 0)
            before, after = line[:begin].rstrip(), line[end:].lstrip()
            if after.startswith(","):
                end = len(line) - len(after[1:].lstrip())
            elif before.endswith(","):
                begin = len(before) - 1
            yield Edit(keyword.lineno, begin, end, "", "keyword dropped", self.statement)

    def turned_round(self, test: ast.expr) -> Iterator[Edit]:
        """Yield the edit that negates a condition: `not (test)` in place of `test`."""
        yield from self.instead(test, f"not ({self.text(test)})", "condition turned round")

    def operators(
        self, parts: list[ast.expr], instead: dict[str, str], what: str
    ) -> Iterator[Edit]:
        """Yield edits that put a different operator between two neighbouring operands."""
        for left, right in pairwise(parts):
            between = self.between(left, right)
            if between is None:
                continue
            begin, end = between
            found = OPERATOR.search(self.lines[left.lineno - 1], begin, end)
            other = instead.get(" ".join(found.group().split())) if found else None
            if found and other:
                yield Edit(
                    left.end_lineno or left.lineno,
                    found.start(),
                    found.end(),
                    other,
                    what,
                    self.statement,
                )

    # --- places ------------------------------------------------------------------------------

    def column(self, line: int, offset: int) -> int:
        """Return a position in a line in characters, from an AST node's position in bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode())

    def between(self, left: ast.expr, right: ast.expr) -> tuple[int, int] | None:
        """Return the range of characters between two expressions; None if not on the same line."""
        if left.lineno != right.end_lineno:
            return None
        line = left.lineno
        return self.column(line, left.end_col_offset or 0), self.column(line, right.col_offset)

    def text(self, node: ast.expr) -> str:
        """Return the source text of an expression that is on one line."""
        line = node.lineno
        begin = self.column(line, node.col_offset)
        return self.lines[line - 1][begin : self.column(line, node.end_col_offset or 0)]

    def instead(self, node: ast.stmt | ast.expr, text: str, what: str) -> Iterator[Edit]:
        """Yield the edit that replaces the text of an AST node; none if it has several lines."""
        line = node.lineno
        if line == node.end_lineno:
            begin = self.column(line, node.col_offset)
            end = self.column(line, node.end_col_offset or 0)
            yield Edit(line, begin, end, text, what, self.statement)


def has_effect(statement: ast.stmt) -> bool:
    """Return whether a function without this statement can run to its end, with another effect."""
    if isinstance(statement, ast.Assign):
        return not any(isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets)
    return isinstance(statement, (ast.Expr, ast.AugAssign, ast.Delete, ast.Raise))


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def says(call: ast.Call) -> bool:
    """Return whether a call only produces a message or informs mypy."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    return name in SAYING


def chosen(root: Path, folders: list[str], number: int, seed: int) -> list[Mutant]:
    """Return random mutants of folders: lines are drawn uniformly, then one edit of each line.

    The same source, number and seed give the same mutants, independent of the tests. The mutants
    for a larger number begin with those for a smaller number.
    """
    by_line: dict[tuple[str, int], list[Edit]] = {}
    sources: dict[str, str] = {}
    for folder in folders:
        place = root / folder
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = path.relative_to(root).as_posix()
            sources[name] = path.read_text(encoding="utf-8")
            for each in edits_of(sources[name]):
                by_line.setdefault((name, each.line), []).append(each)
    lines = sorted(by_line)
    random.Random(seed).shuffle(lines)
    mutants: list[Mutant] = []
    for name, line in lines:
        if len(mutants) == number:
            break
        edit = one_of(by_line[name, line], sources[name], random.Random(f"{seed} {name} {line}"))
        if edit is not None:
            before, after = (
                text.splitlines()[line - 1].strip()
                for text in (sources[name], edit.mutated(sources[name]))
            )
            mutants.append(Mutant(name, edit, before, after))
    return mutants


def one_of(edits: list[Edit], source: str, lots: random.Random) -> Edit | None:
    """Return a random edit of a line: first a kind of edit is drawn, then an edit of this kind.

    Edits that make no mutant, such as those with invalid syntax, are skipped. Return None if no
    edit is left.
    """
    kinds = sorted({edit.what for edit in edits})
    lots.shuffle(kinds)
    for kind in kinds:
        of_kind = [edit for edit in edits if edit.what == kind]
        lots.shuffle(of_kind)
        for edit in of_kind:
            if is_mutant(edit, source):
                return edit
    return None
