"""docs/program.md is what `python3 dev.py gallery` writes today."""

import importlib.util
from pathlib import Path

import kerascope as ks

DOCS = Path(__file__).resolve().parents[1] / "docs"
SCREEN = 50  # lines


def load():
    spec = importlib.util.spec_from_file_location("program_page", DOCS / "program_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_and_its_picture_are_as_they_are_made_today():
    make = load()
    model = make.trained()
    assert (DOCS / "program.md").read_text(encoding="utf-8") == make.page(model)
    picture = ks.draw(model, level="training").svg
    assert (DOCS / "program.svg").read_text(encoding="utf-8") == picture


def test_the_program_of_the_example_fits_on_two_screens():
    lines = load().trained().train_function.source.splitlines()
    assert len(lines) <= 2 * SCREEN
    calls = [line for line in lines if "np." in line]
    assert len(calls) > 0.8 * len([line for line in lines if line.strip()[:1] not in ("#", "")])
