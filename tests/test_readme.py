"""The README and the tour say what is true: sessions run, files exist, commands are known."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest

from kerascope import applications, layers
from kerascope import backend as K
from kerascope.cli.commands import parse
from kerascope.errors import NotYetAttributeError

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
PAGES = {"README.md": README, "docs/tour.md": TOUR}

NUMBERS = dict(
    enumerate(
        ["Twenty", "Twenty-one", "Twenty-two", "Twenty-three", "Twenty-four", "Twenty-five"], 20
    )
)


@pytest.mark.parametrize(("page", "least"), [("README.md", 6), ("docs/tour.md", 15)])
def test_every_session_prints_what_the_page_says(page, least):
    K.clear_session()
    parser = doctest.DocTestParser()
    sessions = "".join(re.findall(r"```python\n(.*?)```", PAGES[page], flags=re.DOTALL))
    test = parser.get_doctest(sessions, {}, page, page, 0)
    assert len(test.examples) > least
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def named_files() -> list[str]:
    found = set()
    for page, text in PAGES.items():
        links = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'src="([^"]+)"', text)
        found.update(os.path.normpath(Path(page).parent / link) for link in links)
        found.update(re.findall(r"`((?:kerascope|examples|docs|tutorials)/[\w/.]+)`", text))
        found.update(re.findall(r"(examples/\w+\.py|dev\.py)", text))
    return sorted(found)


@pytest.mark.parametrize("name", named_files())
def test_every_file_that_the_readme_names_exists(name):
    assert (ROOT / name).exists()


def test_the_readme_names_files():
    assert len(named_files()) > 8


def test_the_readme_counts_the_chapters_and_names_their_commands():
    chapters = [folder for folder in (ROOT / "tutorials").iterdir() if folder.is_dir()]
    assert f"{NUMBERS[len(chapters)]} chapters" in README
    for words in ("learn", "learn read 0", "learn check", "lessons html -o pages"):
        assert parse(words.split()).command == words.split()[0]
        assert re.search(rf"^kerascope {words}  +#", README, flags=re.MULTILINE), words


def test_what_is_said_to_be_missing_is_missing():
    said = TOUR.split("## Not available yet")[1]
    names = re.findall(r"`([A-Z]\w+)`", said)
    assert len(names) > 1
    for name in names:
        with pytest.raises(NotYetAttributeError):
            getattr(layers, name)
    for family in ("EfficientNet", "ConvNeXt", "NASNet", "MobileNetV3"):
        assert family in said
        assert not any(name.startswith(family) for name in dir(applications))


def test_the_readme_is_one_screen_and_leads_to_the_tour():
    assert len(README.splitlines()) < 80
    assert "docs/tour.md" in README
