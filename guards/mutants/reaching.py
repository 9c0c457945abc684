"""Which tests reach which mutants: the tests run once, with a probe in front of each mutated line.

A test that never comes to a line cannot tell what stands there, so a mutant meets only the tests
that reach it. The probes stand in the byte code alone (in `__pycache__`, marked so that Python does
not compare it with the source): the sources, their lines and what tests read of them stay as they
are. A probe asks pytest's variable for the running test, which other processes inherit.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import sys
from pathlib import Path

from guards.mutants.choosing import Mutant

PROBE = '''"""Notes which test came to which mutant: written by guards/mutants."""

import os

_SEEN = set()


def reached(number):
    """Note, once in each process, that the running test came here."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if (number, test) not in _SEEN:
        _SEEN.add((number, test))
        with open({path!r}, "a", encoding="utf-8") as out:
            out.write(f"{{number}}\\t{{test}}\\n")
'''
NAME = "kerascope_mutants_probe"
UNCHECKED = 1  # the flags of a byte code file whose source Python does not look at (PEP 552)


def plant(root: Path, mutants: list[Mutant], notes: Path, beside: Path) -> list[Path]:
    """Put probes into the byte code of a copied checkout; return the files with probes.

    Parameters
    ----------
    root : Path
        The copy.
    mutants : list of Mutant
        Each is named by its place in the list.
    notes : Path
        Where the probes write.
    beside : Path
        A folder of the tests' `sys.path`.
    """
    (beside / f"{NAME}.py").write_text(PROBE.format(path=str(notes)), encoding="utf-8")
    planted = []
    for name in sorted({mutant.path for mutant in mutants}):
        path = root / name
        source = path.read_bytes()
        wanted: dict[int, list[int]] = {}
        for number, mutant in enumerate(mutants):
            if mutant.path == name:
                wanted.setdefault(mutant.edit.statement, []).append(number)
        code = compile(with_probes(source.decode(), wanted), str(path), "exec")
        file = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
        file.parent.mkdir(exist_ok=True)
        head = importlib.util.MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little")
        file.write_bytes(head + importlib.util.source_hash(source) + marshal.dumps(code))
        planted.append(file)
    return planted


def with_probes(source: str, wanted: dict[int, list[int]]) -> ast.Module:
    """Return a module whose statements on the wanted lines have probes in front of them."""
    tree = ast.parse(source)
    left = dict(wanted)
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                body[:] = [part for old in body for part in (*probes(old, left), old)]
    return ast.fix_missing_locations(tree)


def probes(statement: ast.stmt, left: dict[int, list[int]]) -> list[ast.stmt]:
    """Return the probes that belong in front of a statement, and take them off the list."""
    made = []
    for number in left.pop(statement.lineno, []):
        call = ast.parse(f"__import__({NAME!r}).reached({number})").body[0]
        for part in ast.walk(call):
            ast.copy_location(part, statement)
        made.append(call)
    return made


def read(notes: Path, tests: list[str]) -> dict[int, set[str]]:
    r"""Return the tests that reached each mutant.

    What runs in the setup of a test may be shared by its whole file, so it counts for all tests
    there; what runs outside of all tests (at an import) counts for all.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> notes = Path(folder.name, "notes")
    >>> _ = notes.write_text("0\ta.py::x (call)\n1\ta.py::x (setup)\n2\t\n")
    >>> for number, found in read(notes, ["a.py::x", "a.py::y", "b.py::z"]).items():
    ...     print(number, sorted(found))
    0 ['a.py::x']
    1 ['a.py::x', 'a.py::y']
    2 ['a.py::x', 'a.py::y', 'b.py::z']
    >>> folder.cleanup()
    """
    by_file: dict[str, set[str]] = {}
    for test in tests:
        by_file.setdefault(test.split("::")[0], set()).add(test)
    found: dict[int, set[str]] = {}
    for line in notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []:
        number, _, running = line.partition("\t")
        test, _, phase = running.rpartition(" ")
        own = found.setdefault(int(number), set())
        if not running:
            own.update(tests)
        elif phase == "(call)":
            own.add(test)
        else:
            own.update(by_file.get(test.split("::")[0], ()))
    known = set(tests)
    return {number: own & known for number, own in sorted(found.items())}
