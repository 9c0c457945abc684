"""docs/porting.md says what is true: its sessions print what it shows."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "porting.md"


def failures_of(pattern):
    blocks = re.findall(
        rf"```{pattern}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    session = doctest.DocTestParser().get_doctest("".join(blocks), {}, PAGE.name, PAGE.name, 0)
    assert len(session.examples) > 10
    failures = []
    doctest.DocTestRunner(verbose=False).run(session, out=failures.append)
    return "".join(failures)


def test_the_session_prints_what_the_page_says():
    assert not failures_of("python")


@pytest.mark.live
def test_the_session_with_pytorch_prints_what_the_page_says():
    pytest.importorskip("torch")
    assert not failures_of("python(?: torch)?")
