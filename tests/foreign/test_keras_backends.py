"""Keras on PyTorch and on TensorFlow, each in a process of its own."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("keras_on_another_backend.py")


@pytest.mark.live
@pytest.mark.process
@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_what_holds_on_jax_holds_on_another_backend(backend):
    for package in ("keras", backend):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    run = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"},
        cwd=SCRIPT.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines()[-1] == f"all of it holds on {backend}"
