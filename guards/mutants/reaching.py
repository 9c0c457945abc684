"""Finds which tests reach which mutants: they run once, with a probe before each mutated line.

A test that never reaches a line cannot detect its mutants, so each mutant runs only with the tests
that reach it. The probes are only in the byte code (in `__pycache__`, marked so that Python does
not compare it with the source). The sources and their line numbers do not change. A probe reads
the running test from pytest's environment variable, which child processes inherit.
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
UNCHECKED = 1  # the flags of an unchecked byte code file (PEP 552)


def plant(root: Path, mutants: list[Mutant], notes: Path, folder: Path) -> list[Path]:
    """Put probes into the byte code of a copied checkout; return the files with probes.

    A probe records which test reaches a mutant's line.

    Parameters
    ----------
    root : Path
        The folder of the copied checkout.
    mutants : list of Mutant
        Probes identify a mutant by its index.
    notes : Path
        The file that the probes write.
    folder : Path
        A folder from which the tests can import. A module that the probes need is written into it.
    """
    (folder / f"{NAME}.py").write_text(PROBE.format(path=str(notes)), encoding="utf-8")
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
    """Return a module's code with a probe before each statement that starts on a wanted line."""
    tree = ast.parse(source)
    left = dict(wanted)
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                body[:] = [part for old in body for part in (*probes(old, left), old)]
    return ast.fix_missing_locations(tree)


def probes(statement: ast.stmt, left: dict[int, list[int]]) -> list[ast.stmt]:
    """Return the calls that record that a test reaches a statement, one for each mutant there.

    `left` maps lines to the numbers of their mutants. The statement's line is removed from it.
    """
    made = []
    for number in left.pop(statement.lineno, []):
        call = ast.parse(f"__import__({NAME!r}).reached({number})").body[0]
        for part in ast.walk(call):
            ast.copy_location(part, statement)
        made.append(call)
    return made


def read(notes: Path, tests: list[str]) -> dict[int, set[str]]:
    r"""Return the tests that reached each mutant, from the file that the probes wrote.

    Lines reached in the setup of a test count for all tests of its file, because fixtures may be
    shared. Lines reached outside tests, for example during an import, count for all tests.

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
