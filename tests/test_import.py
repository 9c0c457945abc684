"""`import kerascope` stays quick: what takes long to load comes when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What a copy of a warm Python has loaded tells nothing.
pytestmark = pytest.mark.process

HEAVY = ["rich", "networkx", "pygraphviz", "h5py", "tarfile", "shutil", "difflib"]


def loaded_by(statement: str) -> set[str]:
    before = "import sys, numpy; before = set(sys.modules)"
    code = f"{before}; {statement}; print(*set(sys.modules) - before)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    return set(result.stdout.split())


def test_the_engine_loads_no_picture_table_archive_or_file_library():
    loaded = loaded_by("import kerascope, kerascope.layers, kerascope.models")
    assert "kerascope.engine.model" in loaded
    assert not loaded & set(HEAVY)


def test_training_loads_nothing_that_reads_or_writes_files_of_models():
    trained = (
        "m = k.models.Sequential([k.layers.Dense(1, input_shape=(2,))]); m.compile('sgd', 'mse')"
    )
    loaded = loaded_by(f"import kerascope as k; {trained}; m.train_on_batch([[1.0, 2.0]], [[1.0]])")
    assert not {name for name in loaded if name.startswith(("kerascope.saving", "sysconfig"))}
    assert "kerascope.saving" in loaded_by("from kerascope.models import load_model")


def test_a_picture_loads_what_it_needs_when_it_is_drawn():
    model = "k.Sequential([k.layers.Dense(1, input_shape=(2,))])"
    assert "networkx" in loaded_by(f"import kerascope as k; k.to_networkx({model})")


def test_a_debugger_draws_and_tells_with_what_comes_at_the_first_picture():
    loaded = loaded_by("import kerascope.cli.debugging, kerascope.debugger.entry")
    pictures = {name for name in loaded if name.startswith("kerascope.viz.")}
    assert pictures <= {"kerascope.viz.formats", "kerascope.viz.theme"}
    assert not {"kerascope.layers", "kerascope.trace.reporting"} & loaded


def test_our_finder_leaves_modules_that_are_there_to_python():
    """As pytest does, which asks every finder for a file that it has found itself."""
    asked = "print(KerasFinder('kerascope').find_spec('kerascope.trace'))"
    code = f"from kerascope.compat.finder import KerasFinder; {asked}"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert result.stdout == "None\n"
