"""Scripts as the guides of keras.io write them print here, unchanged, what they print with Keras 3.

They stand in `guides_keras3`; what the real Keras 3 prints, on jax, is stored.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from keras_reference import answer

pytestmark = [pytest.mark.usefixtures("answers"), pytest.mark.process]

ROOT = Path(__file__).resolve().parents[1]
GUIDES = sorted(path.name for path in (ROOT / "tests" / "guides_keras3").glob("*.py"))
NUMBER = re.compile(r"-?\b\d+\.?\d*(?:e[-+]?\d+)?")


def printed(name, *by):
    """Run a guide and return what it prints."""
    finished = subprocess.run(
        [sys.executable, *by, str(ROOT / "tests" / "guides_keras3" / name)],
        capture_output=True,
        encoding="utf-8",
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
            "KERAS_BACKEND": "jax",
            "PYTHONUTF8": "1",
        },
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_prints_what_it_prints_with_keras_3(name):
    expected = answer(printed, name)
    found = printed(name, "-m", "kerascope", "run", "--dialect", "3")
    words, numbers = zip(*(told(text) for text in (found, expected)), strict=True)
    assert words[0] == words[1]
    np.testing.assert_allclose(numbers[0], numbers[1], rtol=5e-5, atol=1e-6)


def told(text):
    """Return the words of a text, with `#` for each number, and the numbers."""
    words = re.sub(r"\s+|(?<=#)\.", "", NUMBER.sub("#", text))
    return words, [float(number) for number in NUMBER.findall(text)]
