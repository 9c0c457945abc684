import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from zoo import LARGE_ZOO, ZOO

from kerascope import backend as K
from kerascope.engine.model import Model


@pytest.mark.parametrize("name", ZOO)
def test_a_model_computes_finite_numbers_from_its_inputs(name):
    model = ZOO[name]()
    assert isinstance(model, Model)
    x = [np.ones((2, *tensor.shape[1:])) for tensor in model.inputs]
    outputs = model.predict(x)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    for array, tensor in zip(outputs, model.outputs, strict=True):
        assert array.shape == (2, *tensor.shape[1:])
        assert np.isfinite(array).all()


@pytest.mark.parametrize("name", ZOO)
def test_a_model_has_the_same_names_whatever_was_made_before(name):
    first = ZOO[name]().network_nodes
    K.get_uid("add"), K.get_uid("input")
    assert ZOO[name]().network_nodes == first


@pytest.mark.parametrize("name", LARGE_ZOO)
def test_large_models_are_made_once(name):
    assert LARGE_ZOO[name]() is LARGE_ZOO[name]()


def test_large_models_have_the_sizes_that_are_known():
    assert len(LARGE_ZOO["resnet50"]().layers) == 177
    assert len(LARGE_ZOO["inception_v3"]().layers) == 313


@pytest.mark.process
def test_importing_the_zoo_makes_no_model():
    code = "import zoo; from kerascope import backend as K; print(K.get_uid('input'))"
    folder = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert run.stdout == "1\n"
