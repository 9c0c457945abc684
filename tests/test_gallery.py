"""docs/gallery shows what its lines draw today."""

import importlib.util
import re
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
PAGE = (GALLERY / "README.md").read_text(encoding="utf-8")


@cache
def drawn(shown):
    return MAKE.drawn(shown).svg


@pytest.mark.parametrize("shown", MAKE.PICTURES, ids=lambda shown: shown.file)
def test_the_lines_on_the_page_draw_the_picture_beside_them(shown):
    kept = (GALLERY / shown.file).read_text(encoding="utf-8")
    assert kept == drawn(shown), f"{shown.file}: run python3 dev.py gallery, and look"
    assert f"```python\n{shown.code}```\n" in PAGE


def test_the_page_has_eleven_pictures_and_no_other_file_lies_there():
    files = {path.name for path in GALLERY.glob("*.svg")}
    assert set(re.findall(r'<img src="([^"]+)"', PAGE)) == files
    assert len(files) == 11
    assert all(int(width) > 100 for width in re.findall(r'<img [^>]*width="(\d+)"', PAGE))
    assert MAKE.page({shown.file: drawn(shown) for shown in MAKE.PICTURES}) == PAGE
