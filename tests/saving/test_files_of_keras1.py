"""Files that the real Keras 1.2.2 on Theano wrote are opened, and predict what they did there.

They are in tests/old_keras/files-1.2.2.zip; files.py beside it says what was written.
"""

import importlib.util
import io
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from kerascope.compat.finder import keras_imports
from kerascope.models import load_model, model_from_json
from kerascope.settings import config
from kerascope.utils.layer_utils import convert_all_kernels_in_model

FOLDER = Path(__file__).parents[1] / "old_keras"
FILES = zipfile.ZipFile(FOLDER / "files-1.2.2.zip")
NAMES = sorted(name[:-4] for name in FILES.namelist() if name.endswith(".npz"))


@pytest.fixture
def written(monkeypatch):
    """Return the module of the models, in Keras 1's dialect, with our layers as Keras's."""
    monkeypatch.setattr(config, "dialect", "1.2")
    with keras_imports():
        spec = importlib.util.spec_from_file_location("files_of_keras1", FOLDER / "files.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_keras_1_predicts_as_there(name, written, tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(FILES.read(f"{name}.h5"))
    with np.load(io.BytesIO(FILES.read(f"{name}.npz"))) as arrays:
        wanted = [arrays[key] for key in sorted(arrays.files)]
    own = written.made(name)
    own.load_weights(path)
    with h5py.File(path, "r") as file:
        text = file.attrs["model_config"]
    by_text = model_from_json(text.decode() if isinstance(text, bytes) else text)
    by_text.load_weights(path)
    for model in (load_model(path), own, by_text):
        convert_all_kernels_in_model(model)  # Theano turns kernels, and Keras 1 does not note it
        found = written.predicted(model)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
