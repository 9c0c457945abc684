"""Scripts in the style of keras.io print the same numbers here and with the real Keras 3.

Each script in tests/keras3_scripts stands beside what it printed with Keras 3.15.1 on jax. It runs
unchanged by `kerascope run --dialect 3`; `-m live` runs it with the real Keras again.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "keras3_scripts").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def printed(words, tmp_path, **environment):
    """Return what a script prints."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(HERE.parent), **environment},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same(found, script):
    """Hold a text against what is stored, its numbers with a point by their first digits."""
    wanted = script.with_suffix(".txt").read_text("utf-8")
    assert NUMBER.sub("0.0", found) == NUMBER.sub("0.0", wanted)
    for one, other in zip(NUMBER.findall(found), NUMBER.findall(wanted), strict=True):
        assert float(one) == pytest.approx(float(other), rel=2e-4, abs=3e-5), (one, other)


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_a_script_prints_the_numbers_of_keras_3(script, tmp_path):
    words = ["-m", "kerascope", "run", "--dialect", "3", str(script)]
    assert_same(printed(words, tmp_path), script)


@pytest.mark.live
@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_the_real_keras_3_prints_what_is_stored(script, tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("keras")
    assert_same(printed([str(script)], tmp_path, KERAS_BACKEND="jax"), script)
