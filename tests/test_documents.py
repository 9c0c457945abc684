"""Every number of the documents' facts (R) and claims (C) has its test in `tests/documents`."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("documents")
NUMBERS = [f"R{n:02}" for n in range(1, 51)] + [f"C{n:02}" for n in range(1, 38)]


@cache
def numbered_tests() -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            named = re.match(r"test_([RC]\d\d)_", getattr(function, "name", ""))
            if named and isinstance(function, ast.FunctionDef):
                found.setdefault(named[1], []).append(function)
    return found


@pytest.mark.parametrize("number", NUMBERS)
def test_the_number_has_a_test_that_quotes_it(number: str) -> None:
    tests = numbered_tests().get(number, [])
    assert tests, f"no test is called test_{number}_..."
    for test in tests:
        docstring = ast.get_docstring(test) or ""
        assert re.match(rf"{number}[ ,:]", docstring), f"{test.name}: {docstring!r}"


def test_no_test_has_another_number() -> None:
    assert sorted(numbered_tests()) == sorted(NUMBERS)
