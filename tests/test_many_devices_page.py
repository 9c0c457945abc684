"""docs/many_devices.md says what is true: its session prints what it shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEVICES = "--xla_force_host_platform_device_count=4"
pytestmark = pytest.mark.live


def run(*words: str, devices: str = "") -> str:
    pytest.importorskip("jax", reason="the extra `jax` is not installed")
    flags = f"{devices} --xla_backend_optimization_level=0"
    finished = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "XLA_FLAGS": flags},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.mark.process
def test_the_session_prints_what_the_page_says():
    page = str(ROOT / "docs" / "many_devices.md")
    assert not run("-m", "doctest", "-o", "ELLIPSIS", page, devices=DEVICES)


@pytest.mark.process
def test_the_example_learns_and_says_how_devices_work_together(tmp_path):
    printed = run(str(ROOT / "examples" / "gpt_many_devices.py"), str(tmp_path / "gpt.svg"))
    assert "compiled by XLA for 4 devices" in printed
    assert "2 collectives: 2 all-reduce" in printed
    assert printed.splitlines()[-1] == "100% of the repeated letters are right"
    assert "<svg" in (tmp_path / "gpt.svg").read_text(encoding="utf-8")
