"""docs/figures shows what its lines draw today."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest
from thinned import thinned

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"


def load():
    spec = importlib.util.spec_from_file_location("figures_make", FIGURES / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = load()
PAGE = (FIGURES / "README.md").read_text(encoding="utf-8")


@cache
def drawn(shown):
    return MAKE.drawn(shown)


@pytest.mark.parametrize(
    "shown", thinned(MAKE.FIGURES, lambda shown: "figure", every=5), ids=lambda shown: shown.file
)
def test_the_lines_on_the_page_draw_the_figure_beside_them(shown):
    kept = (FIGURES / shown.file).read_text(encoding="utf-8")
    assert kept == drawn(shown).svg, f"{shown.file}: run python3 dev.py gallery, and look"
    assert f"```python\n{shown.code}```\n" in PAGE


@pytest.mark.slow
def test_the_page_is_as_it_is_made_today():
    legends = {shown.file: drawn(shown).legend for shown in MAKE.FIGURES}
    assert MAKE.page(legends) == PAGE
    assert {path.name for path in FIGURES.glob("*.svg")} == set(legends)
