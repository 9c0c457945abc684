"""docs/tapes.md says what is true: its session prints what it shows."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tapes.md"


def test_the_session_prints_what_the_page_says():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    session = doctest.DocTestParser().get_doctest("".join(blocks), {}, PAGE.name, PAGE.name, 0)
    assert len(session.examples) > 10
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(session, out=failures.append)
    assert not failures, "".join(failures)
