"""The README says what is true: its sessions run, its files exist, its commands are known."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from kerascope import applications, layers
from kerascope import backend as K
from kerascope.cli.commands import parse
from kerascope.errors import NotYetAttributeError

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

NUMBERS = {20: "Twenty", 21: "Twenty-one", 22: "Twenty-two"}


def test_every_session_prints_what_the_readme_says():
    K.clear_session()
    parser = doctest.DocTestParser()
    sessions = "".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
    test = parser.get_doctest(sessions, {}, "README.md", "README.md", 0)
    assert len(test.examples) > 15
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def named_files() -> list[str]:
    linked = re.findall(r"\]\(([^)#:]+)\)", README)
    quoted = re.findall(r"`((?:kerascope|examples|docs|tutorials)/[\w/.]+)`", README)
    in_commands = re.findall(r"(examples/\w+\.py|dev\.py)", README)
    return sorted({*linked, *quoted, *in_commands})


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
    said = README.split("## What is not here yet")[1]
    names = re.findall(r"`([A-Z]\w+)`", said)
    assert len(names) > 1
    for name in names:
        with pytest.raises(NotYetAttributeError):
            getattr(layers, name)
    for family in ("EfficientNet", "ConvNeXt", "NASNet", "MobileNetV3"):
        assert family in said
        assert not any(name.startswith(family) for name in dir(applications))
