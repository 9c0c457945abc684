"""The README says what is true: its sessions run, its files exist, its commands are known."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from kerascope import backend as K

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


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
    quoted = re.findall(r"`((?:kerascope|examples|docs)/[\w/.]+)`", README)
    in_commands = re.findall(r"(examples/\w+\.py|dev\.py)", README)
    return sorted({*linked, *quoted, *in_commands})


@pytest.mark.parametrize("name", named_files())
def test_every_file_that_the_readme_names_exists(name):
    assert (ROOT / name).exists()


def test_the_readme_names_files():
    assert len(named_files()) > 8
