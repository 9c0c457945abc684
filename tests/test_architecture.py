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


def chapters_of(text):
    """Return the chapters in "chapters 8, 9 and 11" or "chapters 8 to 11"."""
    first, to, last = re.fullmatch(r"(\d+)(?:( to )(\d+))?.*", text, re.DOTALL).groups()
    return set(range(int(first), int(last) + 1)) if to else set(map(int, re.findall(r"\d+", text)))


@pytest.mark.parametrize(
    ("path", "chapters"),
    re.findall(r"^\d+\. `([\w/]+\.py)`: .*?\(chapters? ([^)]*)\)", PAGE, flags=re.MULTILINE),
)
def test_the_chapters_of_a_kernel_file_are_those_of_its_docstring(path, chapters):
    text = (ROOT / "kerascope" / path).read_text(encoding="utf-8").split('"""')[1]
    lessons = re.search(r"Lessons?: chapters? ([^.]*)\.", text)[1]
    assert chapters_of(chapters) == chapters_of(re.sub(r"\([^)]*\)", "", lessons))
