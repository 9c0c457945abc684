"""docs/onnx.md and docs/jax.md say what is true: their sessions print what they show."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.live
@pytest.mark.parametrize(("page", "library"), [("onnx.md", "onnx"), ("jax.md", "jax")])
def test_the_session_prints_what_the_page_says(page, library):
    pytest.importorskip(library)
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    session = doctest.DocTestParser().get_doctest("".join(blocks), {}, page, page, 0)
    assert len(session.examples) > 5
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(session, out=failures.append)
    assert not failures, "".join(failures)
