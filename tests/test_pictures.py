"""tests/pictures is what `python3 dev.py gallery` draws today."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest

SHEET = Path(__file__).with_name("pictures")


def load():
    spec = importlib.util.spec_from_file_location("pictures_make", SHEET / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = load()
SECTIONS = MAKE.sections()


@cache
def drawn(title):
    return list(SECTIONS[title]())


@pytest.mark.parametrize("title", SECTIONS)
def test_the_pictures_are_as_they_are_drawn_today(title):
    assert drawn(title)
    for picture in drawn(title):
        kept = (SHEET / picture.file).read_text(encoding="utf-8")
        assert kept == picture.drawing.svg, f"{picture.file}: run python3 dev.py gallery, and look"


def test_the_page_shows_every_picture_and_no_other_file_lies_there():
    page = (SHEET / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in SHEET.glob("*.svg")}
    assert {line.split('"')[1] for line in page.splitlines() if line.startswith("<img")} == files
    assert len(files) > 100


def test_the_page_is_as_it_is_written_today():
    parts = {title: drawn(title) for title in SECTIONS}
    assert (SHEET / "README.md").read_text(encoding="utf-8") == MAKE.page(parts)
