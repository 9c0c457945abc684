"""docs/keras.md says what is true: its session prints what it shows."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "keras.md"

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("always::kerascope.errors.KerascopeWarning"),
]


def test_the_session_prints_what_the_page_says(keras, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves a tape
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    session = doctest.DocTestParser().get_doctest("".join(blocks), {}, PAGE.name, PAGE.name, 0)
    assert len(session.examples) > 25
    failures: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(session, out=failures.append)
    assert not failures, "".join(failures)
