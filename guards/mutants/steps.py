r"""All mutants of a short program that differ from it in one step, for the solutions of the course.

The engine has many lines, so `choosing.py` draws random mutants. A solution has a few lines that a
learner could write slightly differently, so all mutants are made, of more kinds, also outside
functions, where a learner assigns predictions to names:

- the edits of `choosing.py`: operators, comparisons, conditions, numbers, words, slices, keywords,
  swapped arguments, deleted statements;
- the next and the previous number, the empty text, more operators;
- a condition that is always true or always false; a loop without its first or its last iteration;
- `min` for `max`, `any` for `all` and similar functions (`KIN`); a missing copy;
- two neighbours swapped in a list, a tuple or a call; an element left out.

Examples
--------
>>> source = "answer = [min(a), 3]\n"
>>> for edit in steps_of(source):
...     print(edit.what, "->", edit.mutated(source).strip())
element left out -> answer = [3]
element left out -> answer = [min(a)]
another function -> answer = [max(a), 3]
neighbours swapped -> answer = [3, min(a)]
constant -> answer = [min(a), 2]
constant -> answer = [min(a), 4]
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from guards.mutants.choosing import Edit, Finder, is_mutant

# The same in either order.
SYMMETRIC = {"max", "min", "maximum", "minimum", "equal", "array_equal", "add", "multiply"}
MORE_COMPARISONS = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "is": "==", "is not": "!="}
MORE_ARITHMETIC = {"+": "*", "-": "*", "*": "+", "/": "-", "//": "*", "**": "+"}
KIN = {
    "all": "any",
    "any": "all",
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "reversed": "list",
    "sorted": "list",
    "greater": "greater_equal",
    "ones_like": "zeros_like",
    "zeros": "ones",
    "abs": "square",
    "mean": "sum",
    "sum": "max",
}
COPIES = ("dict", "list", "set", "tuple")


def steps_of(source: str) -> list[Edit]:
    """Return all one-line edits of a short program that make it a different program, in order."""
    found = EveryStep(source).all_of(ast.parse(source))
    edits = {edit for edit in found if is_mutant(edit, source)}
    # Edits with the same result are one mutant.
    mutants = {edit.mutated(source): edit for edit in sorted(edits, key=_place, reverse=True)}
    return sorted(mutants.values(), key=_place)


def _place(edit: Edit) -> tuple[int, int, int, str, str]:
    return edit.line, edit.begin, edit.end, edit.text, edit.what


def is_none(node: ast.expr | None) -> bool:
    """Return whether an expression is `None` or missing."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


class EveryStep(Finder):
    """Finds one-line edits of a short program: more kinds than `Finder`, and on all its lines."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.names: Counter[str] = Counter()

    # --- which code --------------------------------------------------------------------------

    def all_of(self, tree: ast.AST) -> Iterator[Edit]:
        """Yield the one-line edits of a module or a class, also outside of functions."""
        for statement in getattr(tree, "body", []):
            yield from self.in_statement(statement)

    def in_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
        """Yield the one-line edits of a function's defaults and of its body."""
        before, self.names = (
            self.names,
            Counter(
                node.id
                for node in ast.walk(function)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ),
        )
        self.statement = function.lineno
        for default in (*function.args.defaults, *function.args.kw_defaults):
            yield from self.in_part(default)
        for statement in function.body:
            yield from self.in_statement(statement)
        self.names = before

    # --- which changes -----------------------------------------------------------------------

    def of_statement(self, statement: ast.stmt) -> Iterator[Edit]:
        """Yield the one-line edits of a whole statement, such as its deletion."""
        yield from super().of_statement(statement)
        if isinstance(statement, ast.Assign) and self.is_set_elsewhere(statement):
            yield from self.instead(statement, "pass", "statement deleted")
        says_nothing = isinstance(statement, ast.Return) and is_none(statement.value)
        if isinstance(statement, (ast.Continue, ast.Break, ast.Return)) and not says_nothing:
            yield from self.instead(statement, "pass", "statement deleted")
        if isinstance(statement, ast.If):
            yield from self.decided(statement.test)
        if isinstance(statement, ast.For):
            yield from self.rounds(statement.iter)
        if isinstance(statement, ast.AugAssign):
            parts = [statement.target, statement.value]
            yield from self.operators(parts, MORE_ARITHMETIC, "arithmetic")

    def of_expression(self, node: ast.AST) -> Iterator[Edit]:
        """Yield the one-line edits of an expression itself, without those of its parts."""
        yield from super().of_expression(node)
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if not any(map(is_none, node.comparators)):  # `== None` is `is None`
                yield from self.operators(parts, MORE_COMPARISONS, "comparison")
        elif isinstance(node, ast.BinOp):
            yield from self.operators([node.left, node.right], MORE_ARITHMETIC, "arithmetic")
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self.instead(node, self.text(value), "half of a condition")
        elif isinstance(node, ast.IfExp):
            yield from self.decided(node.test)
        elif isinstance(node, ast.comprehension):
            yield from self.rounds(node.iter)
            for test in node.ifs:
                yield from self.decided(test)
        elif isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
            yield from self.swapped(node.elts)
            yield from self.left_out(node, node.elts)
        elif isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper):
                if bound is not None and not isinstance(bound, ast.Constant):
                    yield from self.instead(bound, "", "bound of a slice")

    def of_constant(self, node: ast.Constant) -> Iterator[Edit]:
        """Yield edits of a constant: the next and the previous number; for a text, also ""."""
        yield from super().of_constant(node)
        value = node.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from self.instead(node, repr(value - 1), "constant")
        elif isinstance(value, str):
            yield from self.instead(node, repr(""), "key")

    def of_call(self, node: ast.Call) -> Iterator[Edit]:
        """Yield edits of a call: a related function, no copy of an argument, swapped arguments."""
        name = node.func
        word = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        yield from (
            edit
            for edit in super().of_call(node)
            if not (word in SYMMETRIC and edit.what == "arguments swapped")
        )
        if word in KIN:
            whole = self.text(name)
            yield from self.instead(name, whole[: -len(word)] + KIN[word], "another function")
        if word == "copy" and isinstance(name, ast.Attribute) and not node.args:
            yield from self.instead(node, self.text(name.value), "copy not made")
        if (
            word in COPIES
            and len(node.args) == 1
            and not isinstance(node.args[0], ast.GeneratorExp)
        ):
            yield from self.instead(node, self.text(node.args[0]), "copy not made")
        if word not in SYMMETRIC:
            yield from self.swapped(node.args)

    def is_set_elsewhere(self, statement: ast.Assign) -> bool:
        """Return whether the names that a statement assigns are also assigned elsewhere."""
        names = [part.id for part in statement.targets if isinstance(part, ast.Name)]
        return bool(names) and all(self.names[name] > 1 for name in names)

    def decided(self, test: ast.expr) -> Iterator[Edit]:
        """Yield the edits that make a condition always true and always false."""
        for text in ("True", "False"):
            yield from self.instead(test, text, "condition decided")

    def rounds(self, iterated: ast.expr) -> Iterator[Edit]:
        """Yield the edits that take the first and the last iteration from a loop."""
        if isinstance(iterated, ast.Call) and ast.unparse(iterated.func) == "zip":
            return  # lists in the loop's header have edits of their own
        for cut in ("[1:]", "[:-1]"):
            yield from self.instead(iterated, f"list({self.text(iterated)}){cut}", "loop cut short")

    def swapped(self, parts: list[ast.expr]) -> Iterator[Edit]:
        """Yield edits that swap two neighbouring expressions in a list, a tuple or a call."""
        for first, second in pairwise(parts):
            place = self.between(first, second) if first.lineno == second.lineno else None
            if place is None or self.text(first) == self.text(second):
                continue
            if any(part.lineno != part.end_lineno for part in (first, second)):
                continue
            if any(isinstance(part, ast.Starred) for part in (first, second)):
                continue
            line = first.lineno
            begin, end = (
                self.column(line, first.col_offset),
                self.column(line, second.end_col_offset or 0),
            )
            gap = self.lines[line - 1][slice(*place)]
            text = self.text(second) + gap + self.text(first)
            yield Edit(line, begin, end, text, "neighbours swapped", self.statement)

    def left_out(self, whole: ast.List | ast.Tuple, parts: list[ast.expr]) -> Iterator[Edit]:
        """Yield edits that leave out one element of a list or a tuple."""
        if whole.lineno != whole.end_lineno or (isinstance(whole, ast.Tuple) and len(parts) < 3):
            return
        for place in range(len(parts)):
            kept = ", ".join(self.text(p) for n, p in enumerate(parts) if n != place)
            text = f"[{kept}]" if isinstance(whole, ast.List) else f"({kept})"
            yield from self.instead(whole, text, "element left out")

    def in_part(self, node: object) -> Iterator[Edit]:
        """Yield the one-line edits of a part of a statement. A formatted text is replaced by ""."""
        if isinstance(node, ast.JoinedStr):
            yield from self.instead(node, repr(""), "key")
            return
        yield from super().in_part(node)
