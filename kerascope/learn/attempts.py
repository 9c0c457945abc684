"""Has the student written anything? A stub with a new comment is still a stub.

A stub holds `...` where the student shall write. It has not been attempted as long as the program
in it is the same: comments, blank lines, docstrings, imports and printing do not count.
"""

from __future__ import annotations

import ast


def is_attempted(stub: bytes, written: bytes) -> bool:
    r"""Tell whether a student's file is another program than the stub that it began as.

    A file that is no Python has been attempted: nobody breaks it without typing.

    Examples
    --------
    >>> stub = b"def twice(x):\n    return ...\n"
    >>> is_attempted(stub, b"# how?\nimport math\ndef twice(x):\n    print(x)\n    return ...")
    False
    >>> is_attempted(stub, b"def twice(x):\n    return 2 * x\n")
    True
    """
    try:
        tree = ast.parse(written)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return _program(tree) != _program(ast.parse(stub))


def open_places(written: bytes) -> list[int]:
    r"""Return the lines that still hold a `...` to fill; `x[..., 0]` is none.

    Examples
    --------
    >>> open_places(b"a = ...\nb = x[..., 0]\n")
    [1]
    """
    try:
        tree = ast.parse(written)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return sorted(set(_places(tree)))


def only_defines(written: bytes) -> str:
    r"""Return the first function of a file that calls nothing, "" if it has none or does more.

    Examples
    --------
    >>> only_defines(b"import math\ndef twice(x):\n    return 2 * x\n")
    'twice'
    >>> only_defines(b"def twice(x):\n    return 2 * x\n\nprint(twice(3))\n")
    ''
    """
    try:
        tree = ast.parse(written)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return names[0] if names and all(map(_is_definition, tree.body)) else ""


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return not any(isinstance(part, ast.Call) for part in ast.walk(node))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    kinds = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
    return isinstance(node, kinds)


def _places(tree: ast.AST) -> list[int]:
    lines: list[int] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            lines.append(node.lineno)
        children = ast.iter_child_nodes(node)
        waiting.extend([node.value] if isinstance(node, ast.Subscript) else children)
    return lines


class _Bare(ast.NodeTransformer):
    """Leaves out what computes nothing that the checker could see."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_place = isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
        return node if is_place else None


def _program(tree: ast.Module) -> str:
    return ast.dump(_Bare().visit(tree))
