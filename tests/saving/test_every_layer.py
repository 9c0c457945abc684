"""Every layer, with every case of its contract, goes to Keras 3 and comes back in a file.

The rows are those of tests/layers/cases_*.py: a layer that is added there is tested here too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from keras_reference import keras
from layer_contract import LayerCase, inputs_for, shake_weights, unpacked
from thinned import thinned

from kerascope import config
from kerascope.errors import ConfigError
from kerascope.models import Model, load_model
from kerascope.registry import custom_object_scope
from kerascope.saving.keras3_table import NOT_IN_KERAS_3, UNKNOWN_THERE

pytestmark = pytest.mark.usefixtures("answers")

# Cells stand inside an RNN, and Wrapper is the base of wrappers: nobody calls them in a graph.
NEVER_ALONE = (
    "SimpleRNNCell",
    "GRUCell",
    "LSTMCell",
    "StackedRNNCells",
    "ConvLSTM2DCell",
    "Wrapper",
)


def all_cases() -> list[LayerCase]:
    cases = []
    for path in sorted((Path(__file__).parents[1] / "layers").glob("cases_*.py")):
        spec = util.spec_from_file_location(f"saving_{path.stem}", path)
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    return cases


CASES = [case for case in all_cases() if case.name not in NEVER_ALONE]
each_case = pytest.mark.parametrize(
    "case", thinned(CASES, lambda case: case.name), ids=[case.name for case in CASES]
)


def model_of(case: LayerCase) -> tuple[Model, list[np.ndarray]]:
    arrays = [a.astype("float32") if a.dtype.kind == "f" else a for a in case.arrays]
    inputs = inputs_for(arrays)
    layer = case.make()
    model = Model(inputs, layer(unpacked(inputs)))
    shake_weights(layer)
    return model, arrays


@each_case
def test_layer_goes_to_keras_3_and_back(case: LayerCase, tmp_path: Path) -> None:
    model, arrays = model_of(case)
    path = tmp_path / "model.keras"
    if case.name in NOT_IN_KERAS_3 or "full" in padding_of(case) or is_causal(case):
        with pytest.raises(ConfigError, match="Keras 3 has no such layer|Keras 3 does not have"):
            model.save(path)
        assert list(tmp_path.iterdir()) == []
        return
    model.save(path)
    expected = [np.asarray(y) for y in as_list(model.predict(arrays, batch_size=len(arrays[0])))]
    with custom_object_scope(case.custom_objects):
        twin = load_model(path)
    for a, b in zip(
        expected, as_list(twin.predict(arrays, batch_size=len(arrays[0]))), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    if case.custom_objects or _fails_in_keras_3(case):
        return
    theirs = keras.models.load_model(path)
    for a, b in zip(expected, as_list(theirs(unpacked(arrays), training=False)), strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=2e-4, atol=2e-5)


@each_case
def test_in_dialect_3_an_h5_file_goes_to_keras_3_and_back(case: LayerCase, tmp_path: Path) -> None:
    model, arrays = model_of(case)
    path = tmp_path / "model.h5"
    expected = [np.asarray(y) for y in as_list(model.predict(arrays, batch_size=len(arrays[0])))]
    with in_dialect_3():
        model.save(path)
        model.save_weights(tmp_path / "weights.h5")
    with custom_object_scope(case.custom_objects):
        twin = load_model(path)
    model.load_weights(tmp_path / "weights.h5")
    for read in (twin, model):
        found = as_list(read.predict(arrays, batch_size=len(arrays[0])))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    if case.name in NOT_IN_KERAS_3 or "full" in padding_of(case) or is_causal(case):
        return
    if case.custom_objects or _fails_in_keras_3(case):
        return
    theirs = keras.models.load_model(path)
    for a, b in zip(expected, as_list(theirs(unpacked(arrays), training=False)), strict=True):
        np.testing.assert_allclose(a, np.asarray(b), rtol=2e-4, atol=2e-5)


@contextmanager
def in_dialect_3() -> Iterator[None]:
    config.dialect = "3"
    try:
        yield
    finally:
        config.dialect = "2.2"


def padding_of(case: LayerCase) -> str:
    return str(case.make().get_config().get("padding"))


def is_causal(case: LayerCase) -> bool:
    """Tell whether a layer is causal that Keras 3 cannot make so."""
    return case.name in UNKNOWN_THERE and "causal" in padding_of(case)


def _fails_in_keras_3(case: LayerCase) -> bool:
    """Tell whether Keras 3.15 on jax cannot run its own layer: values unlike the keys in size."""
    options = case.make().get_config()
    return case.name == "MultiHeadAttention" and options["value_dim"] != options["key_dim"]


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
