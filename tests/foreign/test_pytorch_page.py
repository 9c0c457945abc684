"""docs/pytorch.md says what is true: its session prints what it shows, and so does its script."""

import doctest
import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kerascope.cli import main

pytestmark = pytest.mark.live
PAGE = Path(__file__).resolve().parents[2] / "docs" / "pytorch.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_session_prints_what_the_page_says():
    blocks = [block for block in BLOCKS if block.startswith(">>>")]
    session = doctest.DocTestParser().get_doctest("".join(blocks), {}, PAGE.name, PAGE.name, 0)
    assert len(session.examples) > 10
    failures: list[str] = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=options, verbose=False)
    runner.run(session, out=failures.append)
    assert not failures, "".join(failures)


def test_the_script_ends_where_the_page_says(tmp_path, monkeypatch, capsys):
    [script] = [block for block in BLOCKS if block.startswith("# train.py\n")]
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(script.partition("\n")[2], encoding="utf-8")
    runpy.run_path("train.py", run_name="__main__")
    [shown] = re.findall(r"```console\n(.*?)```", TEXT, flags=re.DOTALL)
    line, _, told = shown.partition("\n")
    assert line.startswith("$ kerascope replay")
    words = ["replay", "-c", "catch nan,inf", "-c", "c", "-c", "q", "loop.jsonl"]
    assert main(words) == 0
    assert capsys.readouterr().out == told
