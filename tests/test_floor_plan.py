"""The floor plan: which file may import which.

Every file of the package has a row. It imports from lower rows, or from its own row without making
a cycle. The checks are pure functions over `{path: source}`, so that the tests at the end can show
that each of them can fail.

An import under `if TYPE_CHECKING:` never runs, so two files of one folder may name each other's
types. It still may not name a type of an upper row, nor make a circle of files of two folders. No
lines are counted: a file holds one concept, whole, and is as long as that must be.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "kerascope"
DRAWING_PACKAGES = {"rich", "networkx", "pygraphviz"}
DRAWING_ROWS = {6, 7}
LONGEST_FUNCTION = 60

# Names below kerascope/: `callbacks` is the file callbacks.py or the folder callbacks/.
FLOOR_PLAN: dict[int, list[str]] = {
    row: names.split()
    for row, names in {
        0: "errors limits printable settings scoped stage unrecorded registry spellings display "
        "files configurable nested_values call_inputs user_frames missing_names unsupported "
        "import_hook",
        1: "backend",
        2: "activations initializers regularizers constraints losses metrics optimizers callbacks",
        3: "engine",
        4: "layers models model_files preprocessing datasets utils wrappers applications saving",
        5: "trace",
        6: "viz",
        7: "__init__ __main__ cli debugger compat lessons learn player foreign comparing",
    }.items()
}

Sources = dict[str, str]  # path below kerascope/ (with forward slashes) -> text
Import = tuple[str, int]  # what is imported, full dotted name; line
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


# --- reading --------------------------------------------------------------------------------------


class Found(NamedTuple):
    """An import, a function or a call in a file, and where it stands."""

    node: ast.AST
    functions: tuple[str, ...]  # the names of those around it, the innermost last
    runs: bool  # it is not below `if TYPE_CHECKING:`


@cache
def found_in(source: str) -> list[Found]:
    """Return what the checks ask of a file. All of them share this one walk."""
    found = []
    waiting = [Found(ast.parse(source), (), True)]
    # Imports and functions are statements; inside expressions are only calls that import.
    held = STRUCTURE if any(name in source for name in IMPORTING) else STATEMENTS
    while waiting:
        one = waiting.pop()
        node, functions, runs = one
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | FunctionNode):
            found.append(one)
        if isinstance(node, FunctionNode):
            functions = (*functions, node.name)
        unchecked = set(node.body) if is_type_checking(node) else set()
        waiting += [
            Found(child, functions, runs and child not in unchecked)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, held)
        ]
    return found


# What can hold an import or a function, and what can hold a call: no names, no constants.
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
STRUCTURE = (
    *STATEMENTS,
    *(ast.expr, ast.arguments, ast.keyword, ast.comprehension, ast.withitem, ast.pattern),
)
IMPORTING = ("import_module", "__import__")  # functions that import


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    )


def row_of(path: str) -> int | None:
    name = path.removesuffix(".py").split("/")[0]
    return next((row for row, names in FLOOR_PLAN.items() if name in names), None)


def module_name(path: str) -> str:
    parts = [PACKAGE, *path.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: str, nodes: Iterable[ast.AST]) -> Iterator[Import]:
    """Yield every import among `nodes` with relative names made absolute.

    `from a import b` yields `a.b`: whether b is a module is decided by who knows the modules.
    """
    package_parts = module_name(path).split(".")
    if not path.endswith("__init__.py"):
        package_parts = package_parts[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package_parts[: len(package_parts) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def imported_files(
    path: str, sources: Sources, *, running: bool = False
) -> Iterator[tuple[str, int]]:
    """Yield (path of the kerascope file, line) for each import of `path`, or those that run."""
    files = files_of_modules(tuple(sources))
    nodes = [one.node for one in found_in(sources[path]) if one.runs or not running]
    for name, line in imports_of(path, nodes):
        if name.split(".")[0] != PACKAGE:
            continue
        while name not in files and "." in name:
            name = name.rpartition(".")[0]
        if name in files:
            yield files[name], line


@cache
def files_of_modules(paths: tuple[str, ...]) -> dict[str, str]:
    return {module_name(path): path for path in paths}


def length_without_docstring(function: FunctionNode) -> int:
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


# --- the checks: each returns its complaints ------------------------------------------------------


def files_without_a_row(sources: Sources) -> list[str]:
    return [f"{path}: has no row in FLOOR_PLAN" for path in sources if row_of(path) is None]


def rows_without_a_file(plan: dict[int, list[str]], sources: Sources) -> list[str]:
    there = {path.removesuffix(".py").split("/")[0] for path in sources}
    return [
        f"row {row}: there is no {name}.py and no folder {name}"
        for row, names in plan.items()
        for name in names
        if name not in there
    ]


def imports_from_upper_rows(sources: Sources) -> list[str]:
    complaints = []
    for path in sources:
        row = row_of(path)
        for target, line in imported_files(path, sources):
            target_row = row_of(target)
            if row is not None and target_row is not None and target_row > row:
                complaints.append(f"{path}:{line}: row {row} imports {target} of row {target_row}")
    return complaints


def import_cycles(sources: Sources) -> list[str]:
    graph = {
        path: {target for target, _ in imported_files(path, sources, running=True)}
        for path in sources
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["import cycle: " + " <- ".join(error.args[1])]
    return []


def circles_across_folders(sources: Sources) -> list[str]:
    graph = nx.DiGraph(
        (path, target) for path in sources for target, _ in imported_files(path, sources)
    )
    circles = [sorted(circle) for circle in nx.strongly_connected_components(graph)]
    return [
        "circle across folders: " + ", ".join(circle)
        for circle in circles
        if len({path.rpartition("/")[0] for path in circle}) > 1
    ]


def imports_inside_functions(sources: Sources) -> list[str]:
    complaints = []
    for path, source in sources.items():
        for node, functions, _ in found_in(source):
            if not functions or isinstance(node, FunctionNode):
                continue
            complaints += [
                f"{path}:{line}: {functions[-1]}() imports {name}"
                for name, line in [*imports_of(path, [node]), *literal_dynamic_imports(node)]
                if name.split(".")[0] in (PACKAGE, "")
            ]
    return complaints


def literal_dynamic_imports(node: ast.AST) -> Iterator[Import]:
    """Yield what `import_module("kerascope.x")` and `__import__("kerascope.x")` import."""
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
        return
    called = ast.unparse(node.func).rpartition(".")[2]
    if called in IMPORTING:
        yield str(node.args[0].value), node.lineno


def drawing_imports_below_row_six(sources: Sources) -> list[str]:
    return [
        f"{path}:{line}: row {row_of(path)} imports {name}"
        for path, source in sources.items()
        if row_of(path) not in DRAWING_ROWS
        for name, line in imports_of(path, [one.node for one in found_in(source)])
        if name.split(".")[0] in DRAWING_PACKAGES
    ]


def too_long_functions(sources: Sources) -> list[str]:
    return [
        f"{path}:{function.lineno}: {function.name}() has {length} lines"
        for path, source in sources.items()
        for function, _, _ in found_in(source)
        if isinstance(function, FunctionNode)
        and (length := length_without_docstring(function)) > LONGEST_FUNCTION
    ]


def names_of_two_classes(sources: Sources) -> list[str]:
    """Return the names that two classes of one top folder have; methods' inner classes are free."""
    homes: dict[tuple[str, str], list[str]] = {}
    for path, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault((path.split("/")[0], node.name), []).append(path)
    return [
        f"{folder}: {len(paths)} classes are called {name}: {', '.join(paths)}"
        for (folder, name), paths in homes.items()
        if len(paths) > 1
    ]


CHECKS: list[Callable[[Sources], list[str]]] = [
    files_without_a_row,
    imports_from_upper_rows,
    import_cycles,
    circles_across_folders,
    imports_inside_functions,
    drawing_imports_below_row_six,
    too_long_functions,
    names_of_two_classes,
]


# --- the package ----------------------------------------------------------------------------------


@cache
def package_sources() -> Sources:
    folder = ROOT / PACKAGE
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.py"))
    }


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_package_has_none_of(check: Callable[[Sources], list[str]]) -> None:
    complaints = check(package_sources())
    assert not complaints, "\n" + "\n".join(complaints)


def test_every_row_names_what_is_there() -> None:
    assert rows_without_a_file(FLOOR_PLAN, package_sources()) == []
    plan = {0: ["errors", "gone"], 1: ["backend"]}
    complaints = rows_without_a_file(plan, {"errors.py": "", "backend/graph.py": ""})
    assert complaints == ["row 0: there is no gone.py and no folder gone"]


def test_the_package_was_really_read() -> None:
    sources = package_sources()
    assert {"errors.py", "datasets/digits.py", "utils/data_utils.py"} <= sources.keys()
    path = "datasets/mnist.py"
    found = {target for target, _ in imported_files(path, sources)}
    assert found == {"datasets/local_files.py"}


# --- each check can fail --------------------------------------------------------------------------

LOWER: Sources = {"__init__.py": "", "errors.py": "class E(Exception): ..."}
LONG_DOCSTRING = '    """Say.\n' + "\n" * LONGEST_FUNCTION + '    """\n'


def function_with_body(lines: int, docstring: str = "") -> str:
    return "def f():\n" + docstring + "    x = 1\n" * lines


GOOD: list[Sources] = [
    {"backend/graph.py": "from kerascope.errors import E"},
    {"backend/graph.py": "from .. import errors", "backend/__init__.py": "from . import graph"},
    {
        "engine/a.py": "from .b import x",
        "engine/b.py": "import kerascope.backend.graph",
        "backend/graph.py": "",
    },
    {
        "engine/a.py": "from . import b",
        "engine/b.py": "import typing\nif typing.TYPE_CHECKING:\n    from .a import x",
    },
    {"viz/text.py": "import rich.table\ndef f():\n    from rich import print"},
    {"engine/a.py": "import pygraphviz_like\nimport kerascopes"},
    {"engine/a.py": "def f():\n    import json\n    open('kerascope')"},
    {"engine/a.py": function_with_body(LONGEST_FUNCTION - 1, LONG_DOCSTRING)},
    {"cli.py": "import kerascope\nfrom kerascope import errors"},
]

BAD: list[tuple[Callable[[Sources], list[str]], Sources, str]] = [
    (files_without_a_row, {"helpers.py": ""}, "helpers.py: has no row"),
    (files_without_a_row, {"backend_extra/x.py": ""}, "backend_extra/x.py: has no row"),
    (
        imports_from_upper_rows,
        {"backend/graph.py": "\nfrom kerascope.engine import node", "engine/node.py": ""},
        "backend/graph.py:2: row 1 imports engine/node.py of row 3",
    ),
    (
        imports_from_upper_rows,
        {"backend/ops/nn.py": "from ...engine.node import Node", "engine/node.py": ""},
        "row 1 imports engine/node.py",
    ),
    (
        imports_from_upper_rows,
        {"backend/__init__.py": "from .. import cli", "cli.py": ""},
        "row 1 imports cli.py of row 7",
    ),
    (
        imports_from_upper_rows,
        {"losses.py": "from kerascope import config"},
        "__init__.py of row 7",
    ),
    (
        imports_from_upper_rows,
        {"losses.py": "if True:\n    import kerascope.layers.core", "layers/core.py": ""},
        "losses.py:2: row 2",
    ),
    (
        import_cycles,
        {"engine/a.py": "from . import b", "engine/b.py": "from kerascope.engine.a import x"},
        "import cycle: engine/",
    ),
    (
        imports_from_upper_rows,
        {"losses.py": "if TYPE_CHECKING:\n    import kerascope.layers.core", "layers/core.py": ""},
        "losses.py:2: row 2",
    ),
    (
        import_cycles,
        {
            "engine/a.py": "from . import b",
            "engine/b.py": "if TYPE_CHECKING:\n    x = 1\nelse:\n    from . import a",
        },
        "import cycle: engine/",
    ),
    (
        imports_inside_functions,
        {"engine/a.py": "class A:\n    def f(self):\n        from kerascope import errors"},
        "engine/a.py:3: f() imports kerascope.errors",
    ),
    (
        imports_inside_functions,
        {"engine/a.py": "async def f():\n    from . import node"},
        "f() imports kerascope.engine.node",
    ),
    (
        imports_inside_functions,
        {"engine/a.py": "def f():\n    importlib.import_module('.node', 'kerascope.engine')"},
        "f() imports .node",
    ),
    (
        drawing_imports_below_row_six,
        {"trace/tape.py": "def f():\n    from rich.table import Table"},
        "trace/tape.py:2: row 5 imports rich.table.Table",
    ),
    (
        drawing_imports_below_row_six,
        {"losses.py": "import networkx as nx"},
        "row 2 imports networkx",
    ),
    (
        circles_across_folders,
        {
            "engine/a.py": "if TYPE_CHECKING:\n    from kerascope.layers.core import Dense",
            "layers/core.py": "from kerascope.engine import a",
        },
        "circle across folders: engine/a.py, layers/core.py",
    ),
    (
        circles_across_folders,
        {
            "viz/a.py": "from kerascope.viz.text import b",
            "viz/text/b.py": "if TYPE_CHECKING:\n    from kerascope.viz.a import x",
        },
        "circle across folders: viz/a.py, viz/text/b.py",
    ),
    (too_long_functions, {"losses.py": function_with_body(LONGEST_FUNCTION)}, "f() has 61 lines"),
    (
        names_of_two_classes,
        {"viz/a.py": "class Part: ...", "viz/text/b.py": "class Part: ..."},
        "viz: 2 classes are called Part: viz/a.py, viz/text/b.py",
    ),
]


@pytest.mark.parametrize("sources", GOOD, ids=range(len(GOOD)))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_sound_package_passes(check: Callable[[Sources], list[str]], sources: Sources) -> None:
    assert check({**LOWER, **sources}) == []


@pytest.mark.parametrize(("check", "sources", "words"), BAD)
def test_a_broken_package_fails(
    check: Callable[[Sources], list[str]], sources: Sources, words: str
) -> None:
    (complaint,) = check({**LOWER, **sources})
    assert words in complaint


def test_every_check_has_a_source_that_fails_it() -> None:
    assert {check.__name__ for check, _, _ in BAD} == {check.__name__ for check in CHECKS}
