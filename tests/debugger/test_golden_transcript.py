"""A whole session over examples/example.py, as a person reads it; the same in every process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"


def without_engine_lines(text):
    """Return a transcript in which an edit above a line of the engine changes nothing."""
    return re.sub(r"(kerascope/[\w/]+\.py)\(\d+\)", r"\1(..)", text)


def session_over_the_example(seed):
    words = ["-m", "kerascope", "debug", "-x", "tests/golden/debug_example_commands.txt"]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", *words, "examples/example.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    return without_engine_lines(run.stdout)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_session_is_the_golden_one_in_every_process(seed):
    expected = (GOLDEN / "debug_example.txt").read_text(encoding="utf-8")
    assert session_over_the_example(seed) == expected
