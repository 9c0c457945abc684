"""Random models go to the real Keras 3 and come from it, and are trained on from the file.

A seed names a model (random_models.py). `[stored]` runs those whose answers are kept; the others
ask live: KERASCOPE_MODELS="0:300" says which, in pytest, and where this file runs as a program,
with PYTHONPATH=tests. Mistakes that were made once are planted again: the models have to find them.
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
    build,
    outputs_of,
    reset,
    shaken,
    targets_for,
    train,
)

import kerascope
from kerascope import config, layers, losses, spellings
from kerascope.layers.ops import keras_ops
from kerascope.models import load_model
from kerascope.saving import hdf5_models, keras3_reading
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
    reset(model)
    model.set_weights(shaken(spec, model.get_weights()))
    name, options = spec["loss"]
    loss = getattr(keras.losses, name)(**options)
    optimizer = getattr(keras.optimizers, spec["optimizer"][0])(**spec["optimizer"][1])
    model.compile(optimizer, dict.fromkeys(spec["names"], loss) if spec.get("names") else loss,
                  metrics=None if spec.get("names") else each_of(spec), jit_compile=False,
                  run_eagerly=True)  # fmt: skip
    outputs = outputs_of(spec, lambda: model(x if len(x) > 1 else x[0], training=False), model)
    model.save(path)
    model.save(old_path)
    try:
        keras.models.load_model(old_path, compile=False)
        reads_h5 = True
    except Exception:
        reads_h5 = False
    found = train(model, spec, x, targets_for(spec, outputs))
    return {"outputs": outputs, "losses": found, "reads_h5": reads_h5,
            "trained": {layer.name: listed(layer) for layer in model.layers}}  # fmt: skip


def each_of(spec: Any) -> Any:
    return [list(spec["metrics"]) for _ in spec["outputs"]] if spec["metrics"] else None


def read_by_keras(keras: Any, spec: Any, path: Path) -> list[np.ndarray]:
    """Return what Keras predicts with a model from a file."""
    warnings.simplefilter("ignore")
    spec = json.loads(spec)
    model = keras.models.load_model(path, compile=False)
    x = arrays_for(spec)
    return outputs_of(spec, lambda: model(x if len(x) > 1 else x[0], training=False), model)


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
        assert seed in REFUSED or seed >= DRAWN, f"{seed}: Keras refuses: {theirs['refused']}"
        return theirs
    config.dialect = "3"
    x = arrays_for(spec)
    measured: dict[str, Any] = {}

    def predicted(model: Any) -> list[np.ndarray]:
        return outputs_of(spec, lambda: model.predict(x, batch_size=len(x[0])), model)

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
    if "rossentropy" in json.dumps(spec["loss"]) and is_at_the_bound(theirs["outputs"]):
        return measured
    ours = load_model(folder / "theirs.keras")
    found = train(ours, spec, x, targets_for(spec, theirs["outputs"]))
    near([found], [theirs["losses"]], 1e-4, f"{seed}: losses of ten steps")
    own = {layer.name for layer in ours.layers}
    names = [name for name in theirs["trained"] if name in own]  # unused inputs are none here
    measured["trained"] = near(
        [w.get_value() for name in names for w in listed_weights(ours.get_layer(name))],
        [w for name in names for w in theirs["trained"][name]],
        1e-4, f"{seed}: weights after ten steps",
    )  # fmt: skip
    return measured


def is_at_the_bound(outputs: list[np.ndarray]) -> bool:
    """Tell whether a share is where losses cut off: its last bit decides if it has a slope."""
    return any(bool(((x > 1 - 4e-7) & (x <= 1)).any()) for x in outputs)


def listed(layer: Any) -> list[np.ndarray]:
    return [np.asarray(w) for w in [*layer.trainable_weights, *layer.non_trainable_weights]]


STORED = range(20)
DRAWN = 300  # of so many seeds it is known which models Keras refuses, each with its own error
REFUSED = frozenset([23, 129, 142, 157, 196, 226, 238, 254, 275])


@pytest.fixture(autouse=True)
def in_dialect_3() -> Any:
    config.dialect = "3"
    yield
    config.dialect = "2.2"


@pytest.mark.usefixtures("answers")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed", [*STORED[:8], *(pytest.param(seed, marks=pytest.mark.slow) for seed in STORED[8:])]
)
def test_a_random_model_goes_to_keras_and_comes_from_it(seed, tmp_path):
    check(seed, answer, keras, tmp_path)


def asked() -> range:
    first, end = os.environ.get("KERASCOPE_MODELS", "20:22").split(":")
    return range(int(first), int(end))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", asked())
def test_any_random_model_goes_to_keras_and_comes_from_it(seed, tmp_path):
    def ask(function, *args):
        return function(*args)

    check(seed, ask, real_keras(), tmp_path)


# --- what the models are to find ------------------------------------------------------------------


def drops_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop all that is called a mask, where any layer makes one: use_causal_mask too."""

    def makes_masks(value: Any) -> bool:
        if isinstance(value, dict):
            own = value.get("mask_zero") or value.get("class_name") == "Masking"
            return bool(own) or makes_masks(list(value.values()))
        return isinstance(value, list) and any(map(makes_masks, value))

    def without(call: Any) -> Any:
        if not isinstance(call, dict):
            return call
        kwargs = call.get("kwargs") or {}
        names = [n for n in kwargs if n == "attention_mask" or not n.endswith("mask")]
        return {**call, "kwargs": {n: kwargs[n] for n in names}}

    def without_masks(entries: Any) -> Any:
        if not makes_masks(entries):
            return entries
        return [{**e, "inbound_nodes": [*map(without, e["inbound_nodes"])]} for e in entries]

    monkeypatch.setattr(keras3_reading, "_without_masks", without_masks)


def writes_words_of_keras_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write .h5 in dialect 3 as in the others: `trainable` and `data_format` in every layer."""
    now = spellings.dialect_options
    older: Any = lambda: now()._replace(hdf5_of_keras_3=False)  # noqa: E731
    monkeypatch.setattr(hdf5_models, "dialect_options", older)
    monkeypatch.setattr(hdf5_models, "_has_words_of_keras_3", lambda config: False)
    monkeypatch.setattr(hdf5_models, "for_keras_2", lambda config: config)  # it came later


def counts_ignored_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide a loss with `ignore_class` by all samples."""
    cls = losses.SparseCategoricalCrossentropy
    monkeypatch.setattr(cls, "counted", losses.Loss.counted)


FAULTS: list[tuple[Any, str, tuple[int, ...]]] = [
    (drops_masks, "Keras writes .keras, we read", (7, 9)),
    (writes_words_of_keras_2, "Could not locate class|Error when deserializing", (1, 6, 16)),
    (counts_ignored_classes, "losses of ten steps", (13, 17)),
]


@pytest.mark.usefixtures("answers")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("plant", "where", "seed"),
    [(plant, where, seed) for plant, where, seeds in FAULTS for seed in seeds],
    ids=[f"{plant.__name__}-{seed}" for plant, _, seeds in FAULTS for seed in seeds],
)
def test_a_mistake_that_was_made_once_is_found(plant, where, seed, tmp_path, monkeypatch):
    plant(monkeypatch)
    with pytest.raises((AssertionError, TypeError), match=where):
        check(seed, answer, keras, tmp_path)


def test_keras_refuses_few_of_the_models():
    assert len(REFUSED) <= DRAWN // 10
    assert not REFUSED & set(STORED)


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
