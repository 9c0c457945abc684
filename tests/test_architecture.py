"""docs/architecture.md names files and names that are there; its picture is that of today."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def load():
    path = ROOT / "docs" / "architecture_picture.py"
    spec = importlib.util.spec_from_file_location("architecture_picture", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMED = sorted(set(re.findall(r"`([a-z0-9_]+(?:/[a-z0-9_]*)*(?:\.py|/))(?::(\w+))?`", PAGE)))


def test_the_page_names_files():
    assert len(NAMED) > 40


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_the_page_names_is_there(path, name):
    base = ROOT if path.startswith("tests/") else ROOT / "kerascope"
    assert (base / path).exists()
    if name:
        text = (base / path).read_text(encoding="utf-8")
        assert re.search(rf"^(class|def) {name}\b", text, re.MULTILINE)


def test_the_picture_is_that_of_today_and_its_boxes_name_what_is_there():
    made = load()
    assert (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8") == made.picture()
    boxes = {box for arrow in [*made.ARROWS, *made.SEAMS, *made.BEHIND] for box in arrow}
    for path in re.findall(r"\(([a-z_]+(?:/[a-z_]*)*(?:\.py|/))\)", " ".join(boxes)):
        assert (ROOT / "kerascope" / path).exists(), path
