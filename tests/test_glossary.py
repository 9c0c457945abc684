"""docs/glossary.md: its code names exist, each term has one row, and retired names are gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kerascope"
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE, flags=re.MULTILINE)
TERMS = [term for term, _ in ROWS if term not in ("term", "not")]
CODE = sorted(set(re.findall(r"`([\w/]+\.py):(\w+)`", PAGE)))
RETIRED = re.findall(r"^\| ([A-Z]\w+) \| [a-z]", PAGE.split("## Words that are not used")[1], re.M)


def names_defined(path: Path) -> set[str]:
    """Return the names of the classes and functions that a module defines."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_the_page_has_terms_and_code() -> None:
    assert len(TERMS) > 50
    assert len(CODE) > 25
    assert len(RETIRED) > 3


@pytest.mark.parametrize(("file", "name"), CODE)
def test_each_code_name_exists(file: str, name: str) -> None:
    assert name in names_defined(PACKAGE / file)


def test_each_term_has_one_row() -> None:
    terms = [part.strip() for term in TERMS for part in term.split(",")]
    assert sorted(terms) == sorted(set(terms))


def test_retired_names_are_not_defined() -> None:
    defined = {name for path in PACKAGE.rglob("*.py") for name in names_defined(path)}
    assert defined & set(RETIRED) == set()
