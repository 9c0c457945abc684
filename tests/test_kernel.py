"""The kernel: the files that explain how Keras works hold nothing that a reader has to skip.

docs/architecture.md lists them. Recording, undoing a failed call, limits, resuming, dialects and
locks are written elsewhere, and reach these files through few doors. Two checks hold that: which
words a kernel file contains, and what it imports. Each exception carries its reason. When one is
gone, its row has to go as well, so the number of exceptions only falls.

The checks are pure functions over sources, so that the tests can show that each of them can fail.
"""

import ast
import importlib
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest
from test_floor_plan import ROOT, imported_files, module_name, package_sources, row_of

from kerascope import user_frames
from kerascope.backend.function import Function
from kerascope.trace.event_writer import line_of_use

# docs/architecture.md lists them in the order in which to read them.
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
KERNEL = re.findall(r"^\d+\. `([\w/]+)\.py`", PAGE, re.MULTILINE)

# --- words ----------------------------------------------------------------------------------------

# A concern that is not the lesson, and the words by which a file names it. When one is renamed, its
# new name belongs here. Of a name in code each part counts: `undo` in `undo_call`. "Keras 3" in a
# comment or a docstring is not among them: a kernel file says what each Keras calls a thing.
CONCERNS = {
    "lock": "lock locks locked locking",
    "budget": "budget budgets limits count_op count_layer count_call",
    "undo": "undo undoes undone undoing transaction transactions rolled_back tried_out",
    "record": "journal journals unrecorded unheard alarms",
    "resume": "resumption resume_point resume_points",
    "provenance": "provenance",
    "keras 3": "keras_3 keras3",
    "ranks": "heed heeds heeding heeded any_rank",
    "dialect": "dialect dialects dialect_options",
}
CONCERN_OF = {word: concern for concern, words in CONCERNS.items() for word in words.split()}
ONLY_IN_CODE = {"keras_3", "keras3"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Named(NamedTuple):
    """A line of a kernel file that names a concern."""

    line: int
    concern: str
    in_code: bool  # or in a comment or docstring


def concerns_in(source: str) -> list[Named]:
    """Return the lines of a source that name a concern. Messages to the user do not count."""
    found = set()
    for line, text, in_code in texts_of(source):
        parts = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower())
        for word in (*parts, *map("_".join, pairwise(parts))):
            if word in CONCERN_OF and (in_code or word not in ONLY_IN_CODE):
                found.add(Named(line, CONCERN_OF[word], in_code))
    return sorted(found)


def texts_of(source: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, text, whether it is code) of each name, comment and line of a docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines = source.splitlines()[docstring.lineno - 1 : docstring.end_lineno]
            yield from ((n, text, False) for n, text in enumerate(lines, docstring.lineno))
    depth_of_text = 0  # from Python 3.12 on, the names in an f-string are tokens
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        depth_of_text += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if kind == "COMMENT" or (kind == "NAME" and not depth_of_text):
            yield token.start[0], token.string, kind == "NAME"


class Exceptions(NamedTuple):
    """Lines of a kernel file that may name a concern, and why."""

    file: str
    concern: str
    in_code: int  # so many lines
    in_words: int  # and so many lines of comments and docstrings
    reason: str


EXCEPTIONS = [
    Exceptions("backend/graph.py", "budget", 2, 0, "every op is made here, so it is counted here"),
    Exceptions("engine/base_layer.py", "budget", 2, 0, "every layer is made here"),
    Exceptions("engine/base_layer.py", "keras 3", 2, 0, "one of the classes Layer is made of"),
    Exceptions("engine/network.py", "keras 3", 1, 0, "calls the layers of a cut model again"),
    Exceptions("engine/compiling.py", "ranks", 1, 1, "a field that the loops read"),
    Exceptions("engine/model.py", "keras 3", 2, 0, "one of the classes Model is made of"),
    Exceptions("engine/model.py", "dialect", 2, 0, "one line: how numbers are returned"),
]
MOST_LINES_OF_CODE = 12  # of all kernel files; it only falls


def unexpected_words(sources: dict[str, str], exceptions: list[Exceptions]) -> list[str]:
    """Return what differs between the lines that name a concern and those that may."""
    complaints = []
    allowed = {(one.file, one.concern): one for one in exceptions}
    for file, source in sources.items():
        named = concerns_in(source)
        for concern in CONCERNS:
            of_concern = [one for one in named if one.concern == concern]
            counts = Counter(one.in_code for one in of_concern)
            row = allowed.pop((file, concern), Exceptions(file, concern, 0, 0, ""))
            if (counts[True], counts[False]) != (row.in_code, row.in_words):
                lines = ", ".join(str(one.line) for one in of_concern)
                complaints.append(
                    f"{file}: {counts[True]} lines of code and {counts[False]} of words name "
                    f"{concern!r} ({lines}); {row.in_code} and {row.in_words} may. Move what is "
                    f"not the lesson behind a door, or mend the row in EXCEPTIONS."
                )
    return complaints + [f"{file}: no kernel file" for file, _ in allowed]


# --- imports --------------------------------------------------------------------------------------

# Where a kernel file hands on what is not the lesson.
DOORS = {
    "engine/policies/": "what holds around a call: undoing, errors, costs, calls inside calls",
    "engine/rules.py": "what a call does in each dialect",
    "engine/compile_rules.py": "what compiling does in each dialect",
    "engine/keras1/": "Keras 1's map of a graph, and its names for a layer",
    "engine/keras3/": "what Keras 3 has beside: phases, own losses, cut models",
    "engine/layer_": "the other classes that Layer is made of",
    "engine/course.py": "which batches the loop sees",
    "engine/run.py": "the facts of a run, for callbacks that store it",
    "engine/pickling.py": "a model as plain data",
    "backend/branches.py": "sums of gradients where a switch chooses",
    "backend/atomic.py": "variables are written all together",
    "backend/eager.py": "numbers in place of symbols",
    "backend/function_checks.py": "whether arrays and updates fit",
    "backend/update_order.py": "updates that several calls add follow each other",
    "backend/engines/__init__.py": "which library computes a function",
    "backend/program/dispatch.py": "a function's program",
    "backend/program/inspecting.py": "what looks into a function",
    "backend/program/custom_ops.py": "which declarations of a custom op are trusted",
}
# Parts that a kernel file uses as it uses Python's own library, by their names.
HELPERS = [
    "backend/arrays.py",
    "backend/dtypes.py",
    "backend/needs.py",
    "backend/op_hints.py",
    "backend/operators.py",
    "backend/variables.py",
    "backend/shapes.py",
    "backend/scopes.py",
    "backend/state.py",
    "backend/float_settings.py",
    "backend/ops/",
    "engine/arguments.py",
    "engine/binding.py",
    "engine/feeding.py",
    "engine/feeds.py",
    "engine/input_layer.py",
    "engine/input_spec.py",
    "engine/known_batches.py",
    "engine/metric_names.py",
    "engine/network_config.py",
    "engine/node_ids.py",
    "engine/outputs.py",
    "engine/summary.py",
    "engine/training_data.py",
]


def unexpected_imports(sources: dict[str, str]) -> list[str]:
    """Return what the kernel files import beside each other, rows 0 and 2, doors and helpers."""
    allowed = (*(f"{name}.py" for name in KERNEL), *DOORS, *HELPERS)
    return [
        f"{file}:{line}: imports {target}"
        for file in kernel_files(sources)
        for target, line in imported_files(file, sources)
        if row_of(target) not in (0, 2) and not target.startswith(allowed)
    ]


def unused_doors(sources: dict[str, str]) -> list[str]:
    """Return the doors and helpers that no kernel file imports."""
    used = [target for file in kernel_files(sources) for target, _ in imported_files(file, sources)]
    return [start for start in (*DOORS, *HELPERS) if not any(t.startswith(start) for t in used)]


def kernel_files(sources: dict[str, str]) -> dict[str, str]:
    return {f"{name}.py": sources[f"{name}.py"] for name in KERNEL if f"{name}.py" in sources}


def test_kernel_files_hold_no_more_side_concerns_than_they_may() -> None:
    assert unexpected_words(kernel_files(package_sources()), EXCEPTIONS) == []
    assert all(row.reason for row in EXCEPTIONS)
    assert sum(row.in_code for row in EXCEPTIONS) <= MOST_LINES_OF_CODE


def test_kernel_files_import_each_other_helpers_and_doors() -> None:
    sources = package_sources()
    assert len(kernel_files(sources)) == len(KERNEL) == 13
    assert unexpected_imports(sources) == []
    assert unused_doors(sources) == []


def test_the_lengths_of_the_kernel_files_are_printed() -> None:
    """Print how many lines hold a name in code; `pytest -s` shows it. No length is enforced."""
    for file, source in kernel_files(package_sources()).items():
        print(f"{len({line for line, _, in_code in texts_of(source) if in_code}):5} {file}")


# --- each check can fail --------------------------------------------------------------------------

PLANTED = '''"""A file: see the journal."""
from kerascope.limits import current_budget


def undo_call(f):  # in dialect "3" it does nothing
    """Return what Keras 3 calls so."""
    LOCKS.steps, keras_3, clock = f(f"{f.steps}: no lock here, no undo"), 3, "no lock"
'''


def test_planted_words_are_caught() -> None:
    assert concerns_in(PLANTED) == [
        Named(1, "record", False),
        Named(2, "budget", True),
        Named(5, "dialect", False),
        Named(5, "undo", True),
        Named(7, "keras 3", True),
        Named(7, "lock", True),
    ]
    plain = {"stage.py": "x = 1\n"}
    (complaint,) = unexpected_words({"stage.py": "lock = 1\n"}, [])
    assert "stage.py: 1 lines of code and 0 of words name 'lock' (1); 0 and 0 may" in complaint
    (complaint,) = unexpected_words(plain, [Exceptions("stage.py", "lock", 1, 0, "why")])
    assert "0 lines of code and 0 of words name 'lock' (); 1 and 0 may" in complaint
    gone = unexpected_words(plain, [Exceptions("engine/gone.py", "lock", 1, 0, "why")])
    assert gone == ["engine/gone.py: no kernel file"]


@pytest.mark.parametrize(
    "words",
    [
        "from kerascope.backend.program.commit import VariableWrites",
        "from .program import commit",
        "import kerascope.backend.program.commit",
        "if TYPE_CHECKING:\n    from kerascope.backend.program.commit import VariableWrites",
    ],
)
def test_a_planted_import_is_caught(words: str) -> None:
    sources = package_sources()
    planted = {**sources, "backend/graph.py": f"{sources['backend/graph.py']}\n{words}\n"}
    (complaint,) = unexpected_imports(planted)
    assert complaint.endswith(": imports backend/program/commit.py")


# --- marks in the source --------------------------------------------------------------------------


def boundary_functions() -> list[tuple[str, str]]:
    """Return (file, name) of each function that is decorated with `boundary`."""
    return [
        (file, node.name)
        for file, source in package_sources().items()
        if "@boundary" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(one) == "boundary" for one in node.decorator_list)
    ]


def test_every_function_that_is_given_work_ends_the_frames_of_an_op() -> None:
    marked = boundary_functions()
    assert {file for file, _ in marked} >= {
        "stage.py",
        "backend/gradient.py",
        "engine/calling.py",
        "engine/compiling.py",
        "optimizers/base.py",
    }
    for file, _ in marked:
        path = importlib.import_module(module_name(file)).__file__
        assert path is not None
        assert user_frames.owner_of_file(path) == user_frames.BOUNDARY, file
        assert path not in user_frames._ours, f"{file} was asked for before it was marked"


def pairs_of_use() -> list[tuple[str, str, str]]:
    """Return (module, function, what it uses) for each line of the source that is looked for."""
    return [
        (module_name(file), *map(ast.unparse, node.args[:2]))
        for file, source in package_sources().items()
        if "_of_use(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("line_of_use", "place_of_use")
        and ast.unparse(node.args[0]) != "function"  # handed on by `place_of_use` itself
    ]


def test_every_line_that_an_event_tells_is_found() -> None:
    pairs = pairs_of_use()
    assert len(pairs) >= 7
    for module, function, used in pairs:
        names = vars(importlib.import_module(module))
        inside = eval(function, names)
        assert line_of_use(inside, eval(used, names)) > inside.__code__.co_firstlineno
    with pytest.raises(LookupError, match="Function._events does not use line_of_use"):
        line_of_use(Function._events, line_of_use)
