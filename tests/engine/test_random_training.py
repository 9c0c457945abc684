"""Random models are trained ten steps as the real Keras 3 trains them.

A seed names a model and how it is trained (random_training.py); Keras's losses, and a few numbers
of each weight and each prediction, are stored. A difference in how anything is trained fails: a
call whose update is lost, a layer that is computed once and kept, a penalty that counts twice, a
phase that a layer does not hear of, a callback that acts one epoch late. The default set takes the
first models. `KERASCOPE_TRAINED="208:300"` asks live for others, where this runs as a program too.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_reference import answer, keras, real_keras

sys.path.insert(0, str(Path(__file__).parent))
from random_training import spec_of, trained

import kerascope
from kerascope import backend as K
from kerascope import config
from kerascope.errors import KerascopeError

STORED, BY_DEFAULT = 208, 40
# Keras itself refuses these, most of them because its SimpleRNN mixes types.
REFUSED = frozenset([18, 28, 79, 83, 96, 117, 161, 176])


def of_keras(keras: Any, seed: int, checksum: int) -> dict[str, Any]:
    """Return what Keras computes; the checksum says of which description."""
    jax = __import__("jax")
    spec = spec_of(seed)
    kind = "float64" if spec["float64"] else "float32"
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)  # else compiling takes twice as long
    keras.config.set_floatx(kind)
    keras.config.set_dtype_policy(kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return packed(trained(keras, spec))
    except (ValueError, TypeError) as error:
        return {"refused": f"{type(error).__name__}: {str(error)[:60]}"}
    finally:
        jax.config.update("jax_enable_x64", False)
        jax.config.update("jax_disable_most_optimizations", False)
        keras.config.set_floatx("float32")
        keras.config.set_dtype_policy("float32")


def packed(found: dict[str, Any]) -> dict[str, Any]:
    """Return losses by name, and all sketches in one array."""
    losses = {name: np.array(values, "float32") for name, values in found["losses"].items()}
    parts = ("before", "weights", "after", "between")
    sketches = [sketch for part in parts for sketch in found[part]]
    return {"losses": losses, "sketches": np.array(sketches, "float32")}


def checksum(seed: int) -> int:
    return zlib.crc32(json.dumps(spec_of(seed)).encode())


def check(seed: int, theirs: dict[str, Any]) -> None:
    """Train here, and compare."""
    if "refused" in theirs:
        assert seed >= STORED, f"{seed}: Keras refuses: {theirs['refused']}"
        return
    spec = spec_of(seed)
    config.floatx = "float64" if spec["float64"] else "float32"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = packed(trained(kerascope, spec))
    assert ours["losses"].keys() == theirs["losses"].keys()
    for name, values in theirs["losses"].items():
        found = ours["losses"][name]
        assert found.shape == values.shape, f"{seed}: {name}: {len(found)} for {len(values)}"
        assert np.array_equal(np.isnan(found), np.isnan(values)), f"{seed}: {name}: nan"
        found, values = np.nan_to_num(found), np.nan_to_num(values)
        apart = abs(found - values) / np.maximum(abs(values), 1e-2)
        assert apart.max() <= 1e-5, f"{seed}: {name} is {apart.max():.2g} apart"
    rows, others = theirs["sketches"], ours["sketches"]
    assert rows.shape == others.shape, f"{seed}: {others.shape} for {rows.shape}"
    assert np.array_equal(np.isnan(others), np.isnan(rows)), f"{seed}: nan"
    others, rows = np.nan_to_num(others), np.nan_to_num(rows)
    apart = abs(others - rows).max(1) / np.maximum(rows[:, 1], 1e-2)
    assert apart.max() <= 1e-4, f"{seed}: row {apart.argmax()} is {apart.max():.2g} apart"


@pytest.fixture(autouse=True)
def in_dialect_3() -> Any:
    before = config.dialect, config.floatx
    config.dialect = "3"
    K.clear_session()
    yield
    config.dialect, config.floatx = before


@pytest.mark.usefixtures("answers")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=[pytest.mark.slow] if seed >= BY_DEFAULT else [])
        for seed in sorted({*range(STORED)} - REFUSED)
    ],
)
def test_a_random_model_is_trained_as_keras_trains_it(seed):
    check(seed, answer(of_keras, keras, seed, checksum(seed)))


# Wrong numbers of earlier editions: where to put them back, and what stands there instead.
CALLING, FUNCTION = "kerascope.engine.calling", "kerascope.backend.function"
MODEL_GRAPH = "kerascope.engine.policies.model_graph"
FAULTS = {
    "a layer on a constant is computed once": [
        (MODEL_GRAPH, "model_being_made", lambda: None),
        (CALLING, "is_making_graph", lambda: False),
    ],
    "only the first call updates statistics": [(FUNCTION, "chained", list)],
    "an unbuilt Sequential inside a layer": [(CALLING, "outside_calls", nullcontext)],
}


def is_apart(seed: int, right: dict[str, Any]) -> bool:
    """Return whether a model is trained otherwise than rightly."""
    try:
        check(seed, right)
    except (AssertionError, KerascopeError):
        return True
    return False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_was_there_is_found_by_the_first_sixty_models(fault, monkeypatch):
    for seed in sorted({*range(60)} - REFUSED):
        spec = spec_of(seed)
        config.floatx = "float64" if spec["float64"] else "float32"
        right = packed(trained(kerascope, spec))
        assert not is_apart(seed, right)
        with monkeypatch.context() as patch:
            for module, name, value in FAULTS[fault]:
                patch.setattr(importlib.import_module(module), name, value)
            if is_apart(seed, right):
                return
    pytest.fail(f"no model finds it: {fault}")


def asked() -> range:
    first, end = os.environ.get("KERASCOPE_TRAINED", "208:210").split(":")
    return range(int(first), int(end))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", asked())
def test_any_random_model_is_trained_as_keras_trains_it(seed):
    check(seed, of_keras(real_keras(), seed, checksum(seed)))


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    config.dialect = "3"
    for seed in asked():
        try:
            check(seed, of_keras(real_keras(), seed, checksum(seed)))
        except Exception as error:
            print(seed, f"{type(error).__name__} {str(error)[:300]}", flush=True)
