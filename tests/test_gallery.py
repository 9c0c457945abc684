"""docs/gallery is what `python3 dev.py gallery` draws today."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"


def load():
    spec = importlib.util.spec_from_file_location("gallery_make", GALLERY / "make.py")
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
        kept = (GALLERY / picture.file).read_text(encoding="utf-8")
        assert kept == picture.drawing.svg, f"{picture.file}: run python3 dev.py gallery, and look"


def test_the_page_shows_every_picture_and_no_other_file_lies_there():
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in GALLERY.glob("*.svg")}
    assert {line.split('"')[1] for line in page.splitlines() if line.startswith("<img")} == files
    assert len(files) > 100


def test_the_page_is_as_it_is_written_today():
    parts = {title: drawn(title) for title in SECTIONS}
    assert (GALLERY / "README.md").read_text(encoding="utf-8") == MAKE.page(parts)
