"""`docs/adding_a_layer.md` says what is true: done as it says, on a copy, the new layer passes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "adding_a_layer.md").read_text(encoding="utf-8")
CLASS, NAME, ROW = re.findall(r"```(?:python|text)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """Return a copy of the project with the layer in the one file that the page names."""
    root = tmp_path_factory.mktemp("project")
    for name in ("kerascope", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "golden", "data")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    core = root / "kerascope" / "layers" / "core.py"
    text = core.read_text(encoding="utf-8").replace('    "SpatialDropout3D",\n]', "@@]", 1)
    text = text.replace("@@]", f'    "SpatialDropout3D",\n{NAME}]')
    core.write_text(f"{text}\n\n{CLASS}", encoding="utf-8")
    return root


def contract_of(root: Path, *names: str) -> subprocess.CompletedProcess[str]:
    chosen = [f"tests/layers/test_contract.py::{name}" for name in names]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *chosen],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_without_its_row_the_suite_names_the_layer(copied):
    finished = contract_of(copied, "test_every_layer_has_a_case")
    assert finished.returncode == 1
    assert "'Swish'" in finished.stdout


def test_with_its_row_the_layer_keeps_the_contract(copied):
    cases = copied / "tests" / "layers" / "cases_core.py"
    text = cases.read_text(encoding="utf-8")
    text = text.replace("    SpatialDropout3D,\n)", "    SpatialDropout3D,\n    Swish,\n)", 1)
    cases.write_text(text.replace("CASES = [\n", f"CASES = [\n{ROW}", 1), encoding="utf-8")
    names = ("test_every_layer_has_a_case", "test_layer_keeps_the_contract[Swish]")
    finished = contract_of(copied, *names)
    assert finished.returncode == 0, finished.stdout
    assert "2 passed" in finished.stdout
