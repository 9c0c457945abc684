"""docs/compatibility.md is what `python3 dev.py gallery` writes today, and says what holds."""

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import pytest
from keras_names import Name, signature

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "compatibility_page", DOCS / "compatibility_page.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_as_it_is_made_today(page: ModuleType) -> None:
    assert (DOCS / "compatibility.md").read_text(encoding="utf-8") == page.page()


@pytest.mark.parametrize("version", ["1.2.2", "2.2.4"])
def test_what_is_the_same_has_a_row_that_is_compared(page: ModuleType, version: str) -> None:
    rows = page.rows_of(version)
    same = [str(name) for name, row in rows.items() if row.kind == page.SAME]
    assert same
    assert set(same) <= page.compared(version)


@pytest.mark.parametrize("version", ["1.2.2", "2.2.4", "3"])
def test_what_is_refused_says_why(page: ModuleType, version: str) -> None:
    for name, row in page.rows_of(version).items():
        if row.kind in (page.REFUSED, page.BUT):
            assert row.words.endswith((".", "`")), (str(name), row.words)


def test_a_name_is_the_same_only_with_equal_arguments(page: ModuleType) -> None:
    kind = inspect.Signature

    def row(arguments: str | kind) -> str:
        told = signature(arguments) if isinstance(arguments, str) else arguments
        with page.keras_imports():
            return page.row_of("2.2.4", Name("keras.activations", "elu", "function", told)).kind

    assert row("(x, alpha=1.0)") == page.SAME
    assert row("(x, alpha=0.5)") == page.BUT
    assert row("(x)") == page.BUT
    assert row("(x, alpha=1.0, more=None)") == page.BUT


def test_a_name_that_no_row_asks_for_is_not_called_the_same(page: ModuleType) -> None:
    name = Name("keras.activations", "elu", "function", signature("(x, alpha=1.0)"))
    page.compared.cache_clear()
    before = page.ask.read_answers
    page.ask.read_answers = lambda path: {}
    try:
        with page.keras_imports():
            assert page.row_of("2.2.4", name).kind == page.HERE_TOO
    finally:
        page.ask.read_answers = before
        page.compared.cache_clear()


def test_an_operation_is_the_same_only_if_no_call_of_it_differs(page: ModuleType) -> None:
    kinds = {str(name): row.kind for name, row in page.rows_of("3").items()}
    assert kinds["keras.ops.sqrt"] == kinds["keras.ops.sum"] == page.SAME
    different = [f"keras.ops.{name}" for name in page.DIFFERENT]
    assert {kinds[name] for name in different} == {page.BUT}
