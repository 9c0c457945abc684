"""docs/numbers.md: its code runs, and its pictures are what the code writes."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

TEXT = "{http://www.w3.org/2000/svg}text"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "numbers.md"


@pytest.mark.slow
def test_the_code_of_the_page_makes_its_pictures(tmp_path, monkeypatch):
    text = PAGE.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, str(PAGE), "exec"), names)
    shown = re.findall(r"\]\((numbers/\w+\.svg)\)", text)
    assert len(shown) == 5
    for path in shown:
        made, kept = tmp_path / Path(path).name, PAGE.parent / path
        assert words(made) == words(kept)
    assert (tmp_path / "gradients.svg").is_file()


def words(path):
    """Return the texts of a picture but for numbers, which depend on how a machine rounds."""
    texts = [text.text or "" for text in ElementTree.parse(path).iter(TEXT)]
    return {re.sub(r"-?\d[\d.e+-]*", "#", text) for text in texts}
