"""Random models go to the real Keras 3 and come from it, and are trained on from the file.

A seed names a model (random_models.py). `[stored]` runs those whose answers are kept; the others
ask live: KERASCOPE_MODELS="0:90" says which.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_reference import answer, keras, real_keras

sys.path.insert(0, str(Path(__file__).parent))
from random_models import (
    Draw,
    Library,
    arrays_for,
    as_list,
    build,
    shaken,
    targets_for,
    train,
)

import kerascope
from kerascope import config, layers
from kerascope.compat import keras_ops
from kerascope.models import load_model
from kerascope.saving.keras3_weights import listed_weights

OURS = Library(layers, kerascope.Model, kerascope.Sequential, kerascope.Input, keras_ops)


def spec_of(seed: int) -> dict[str, Any]:
    before = config.dialect
    config.dialect = "3"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return json.loads(json.dumps(Draw(seed, OURS).draw()))
    finally:
        config.dialect = before


def of_keras(keras: Any, spec: Any, path: Path, old_path: Path) -> dict[str, Any]:
    """Let Keras build a model, write it, and train it; return what it computes."""
    warnings.simplefilter("ignore")
    spec = json.loads(spec)
    library = Library(keras.layers, keras.Model, keras.Sequential, keras.Input, keras.ops)
    x = arrays_for(spec)
    try:
        model = build(spec, library)
        model(x if len(x) > 1 else x[0], training=False)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {str(error)[:80]}"}
    reset(model, spec)
    model.set_weights(shaken(spec, model.get_weights()))
    name, options = spec["loss"]
    loss = getattr(keras.losses, name)(**options)
    optimizer = getattr(keras.optimizers, spec["optimizer"][0])(**spec["optimizer"][1])
    model.compile(optimizer, dict.fromkeys(spec["names"], loss) if spec.get("names") else loss,
                  metrics=None if spec.get("names") else each_of(spec), jit_compile=False,
                  run_eagerly=True)  # fmt: skip
    outputs = as_list(model(x if len(x) > 1 else x[0], training=False))
    reset(model, spec)
    model.save(path)
    model.save(old_path)
    try:
        keras.models.load_model(old_path, compile=False)
        reads_h5 = True
    except Exception:
        reads_h5 = False
    losses = train(model, spec, x, targets_for(spec, outputs))
    return {"outputs": outputs, "losses": losses, "reads_h5": reads_h5,
            "trained": {layer.name: listed(layer) for layer in model.layers}}  # fmt: skip


def each_of(spec: Any) -> Any:
    return [list(spec["metrics"]) for _ in spec["outputs"]] if spec["metrics"] else None


def reset(model: Any, spec: Any) -> None:
    if spec.get("stateful"):
        for layer in model.layers:
            if getattr(layer, "stateful", False) and hasattr(layer, "reset_states"):
                layer.reset_states()
            elif getattr(layer, "stateful", False) and hasattr(layer, "reset_state"):
                layer.reset_state()


def read_by_keras(keras: Any, spec: Any, path: Path) -> list[np.ndarray]:
    """Return what Keras predicts with a model from a file."""
    warnings.simplefilter("ignore")
    spec = json.loads(spec)
    model = keras.models.load_model(path, compile=False)
    x = arrays_for(spec)
    return as_list(model(x if len(x) > 1 else x[0], training=False))


def near(found: Any, expected: Any, share: float, what: str) -> float:
    """Return the largest difference, as a share of the largest number; fail if it is too large."""
    scale = max([float(abs(np.asarray(y)).max(initial=0)) for y in expected] + [1e-3])
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other), f"{what}: {np.shape(one)} for {np.shape(other)}"
        assert np.array_equal(np.isnan(one), np.isnan(other)), f"{what}: nan"
        worst = max(worst, float(np.nanmax(abs(np.asarray(one) - other), initial=0)))
    assert worst <= share * scale, f"{what}: {worst / scale:.2g} of the largest"
    return worst / scale


def check(seed: int, ask: Any, keras: Any, folder: Path) -> dict[str, Any]:
    """Send a model both ways; return what was measured."""
    spec = spec_of(seed)
    text = json.dumps(spec)
    paths = folder / "theirs.keras", folder / "theirs.h5"
    theirs = ask(of_keras, keras, text, *paths)
    if "refused" in theirs:
        return theirs
    config.dialect = "3"
    x = arrays_for(spec)
    measured: dict[str, Any] = {}

    def predicted(model: Any) -> list[np.ndarray]:
        found = as_list(model.predict(x, batch_size=len(x[0])))
        reset(model, spec)
        return found

    for ending in ("keras", "h5"):
        ours = load_model(folder / f"theirs.{ending}", compile=False)
        measured[f"from_{ending}"] = near(
            predicted(ours), theirs["outputs"], 1e-5, f"{seed}: Keras writes .{ending}, we read"
        )
        if ending == "keras":
            ours.save(folder / "ours.keras")
            ours.save(folder / "ours.h5")
    for ending in ("keras", "h5"):
        path = folder / f"ours.{ending}"
        near(predicted(load_model(path)), theirs["outputs"], 1e-5, f"{seed}: we, we, .{ending}")
        if ending == "h5" and not theirs["reads_h5"]:
            continue
        measured[f"to_{ending}"] = near(
            ask(read_by_keras, keras, text, path),
            theirs["outputs"], 1e-5, f"{seed}: we write .{ending}, Keras reads",
        )  # fmt: skip
    ours = load_model(folder / "theirs.keras")
    if spec["stateful"]:
        return measured  # the states of training are not compared yet
    losses = train(ours, spec, x, targets_for(spec, theirs["outputs"]))
    near([losses], [theirs["losses"]], 1e-4, f"{seed}: losses of ten steps")
    own = {layer.name for layer in ours.layers}
    names = [name for name in theirs["trained"] if name in own]  # unused inputs are none here
    measured["trained"] = near(
        [w.get_value() for name in names for w in listed_weights(ours.get_layer(name))],
        [w for name in names for w in theirs["trained"][name]],
        1e-4, f"{seed}: weights after ten steps",
    )  # fmt: skip
    return measured


def listed(layer: Any) -> list[np.ndarray]:
    return [np.asarray(w) for w in [*layer.trainable_weights, *layer.non_trainable_weights]]


STORED = range(20)


@pytest.fixture(autouse=True)
def in_dialect_3() -> Any:
    config.dialect = "3"
    yield
    config.dialect = "2.2"


@pytest.mark.usefixtures("answers")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", STORED)
def test_a_random_model_goes_to_keras_and_comes_from_it(seed, tmp_path):
    check(seed, answer, keras, tmp_path)


def asked() -> range:
    first, end = os.environ.get("KERASCOPE_MODELS", "0:90").split(":")
    return range(int(first), int(end))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", asked())
def test_any_random_model_goes_to_keras_and_comes_from_it(seed, tmp_path):
    def ask(function, *args):
        return function(*args)

    check(seed, ask, real_keras(), tmp_path)


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    warnings.simplefilter("ignore")
    for seed in asked():
        with tempfile.TemporaryDirectory() as made:
            try:
                found = check(seed, lambda f, *a: f(*a), real_keras(), Path(made))
            except Exception as error:
                found = f"FAILED {type(error).__name__} {str(error)[:400]}".replace("\n", " ")
        print(seed, found, flush=True)
