"""A program's text with a clock between its statements, and one in which every call does nothing.

The text of a program is straight-line Python. So it can be measured statement by statement: a copy
reads a clock before the first one and after each, keeps the readings in local variables, and
returns them in place of the outputs. What the program writes at once is measured statement by
statement too: those of `new_values` stand in the place of `write()`. A second copy looks up
everything that the first one does, but calls nothing: what it takes is what Python takes to go from
line to line.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Container, Sequence
from statistics import median
from typing import Any

from kerascope.backend.program.source import Source

Clock = Callable[[], int]  # in nanoseconds

CLOCK = "__clock"  # no name in a program begins so: they are made of the names of tensors
READING = "__reading_"
NOTHING = "__nothing"
TRIALS = 200  # consecutive readings from which the clock's own cost is found

# Takes any arguments, does next to nothing, and is written in C, as what it stands for.
nothing = "".format


def statements_of(source: Source) -> list[ast.stmt]:
    """Return the statements of a program but for its `return`."""
    *body, _ = _function(source.text).body
    if ast.unparse(body[-1]) != "write()":
        return body
    return [*body[:-1], *_function(source.text, "new_values").body]


def with_clock(source: Source, clock: Clock) -> Callable[..., tuple[int, ...]]:
    """Return the program as a function that returns the clock's readings: one more than statements.

    Parameters
    ----------
    source : Source
    clock : callable
        Returns nanoseconds.
    """
    function = _function(source.text)
    function.body = _with_readings(statements_of(source))
    return _compiled(function, {**source.scope, CLOCK: clock})


def cost_of(clock: Clock) -> float:
    """Return what one reading of a clock costs, in nanoseconds: the median of some trials.

    Examples
    --------
    >>> from itertools import count
    >>> cost_of(count(0, 5).__next__)
    5.0
    """
    function = _function("def trial(): pass")
    function.body = _with_readings([ast.Pass() for _ in range(TRIALS)])
    readings = _compiled(function, {CLOCK: clock})()
    return float(median(differences(readings)))


def differences(readings: Sequence[int]) -> list[int]:
    """Return what passed between each reading and the next.

    Examples
    --------
    >>> differences([3, 5, 9])
    [2, 4]
    """
    return [after - before for before, after in itertools.pairwise(readings)]


def without_calls(source: Source) -> Callable[..., Any]:
    """Return the program as a function that looks up all names and calls nothing."""
    function = _function(source.text)
    idle = _Idle(source.scope)
    function.body = [idle.visit(statement) for statement in statements_of(source)]
    return _compiled(function, {**source.scope, NOTHING: nothing})


class _Idle(ast.NodeTransformer):
    """Hands the function itself, and its arguments, to what does nothing with them.

    Of a method or attribute of what was not computed (`x.reshape(2, 3)`, `x.T`), `x` stands for it.
    """

    def __init__(self, scope: Container[str]) -> None:
        self.scope = scope

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        # What does nothing returns one thing: it is given to each of several names.
        targets = target.elts if isinstance(target, ast.Tuple) else node.targets
        return ast.Assign(list(targets), node.value)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_known = isinstance(root, ast.Name) and root.id in self.scope
        return node if is_known else self.visit(root)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name(NOTHING, ast.Load()), [node.func, *node.args], node.keywords)


def _function(text: str, name: str | None = None) -> ast.FunctionDef:
    """Return a function of a text: that of a name, or the first."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return next(node for node in functions if name in (None, node.name))


def _with_readings(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements with a reading around each, and all readings at the end."""
    names = [f"{READING}{number}" for number in range(len(statements) + 1)]
    read = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Call(ast.Name(CLOCK, ast.Load()), [], []))
        for name in names
    ]
    body: list[ast.stmt] = [read[0]]
    for statement, after in zip(statements, read[1:], strict=True):
        body += [statement, after]
    listed: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    return [*body, ast.Return(ast.Tuple(listed, ast.Load()))]


def _compiled(function: ast.FunctionDef, scope: dict[str, Any]) -> Callable[..., Any]:
    tree = ast.fix_missing_locations(ast.Module([function], []))
    exec(compile(tree, f"<kerascope {function.name}, measured>", "exec"), scope)
    compiled: Callable[..., Any] = scope[function.name]
    return compiled
