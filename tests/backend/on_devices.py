"""Trains models on simulated devices and prints, as JSON, how far they are from NumPy's.

`test_distribution.py` runs this program, because the number of devices is fixed when JAX starts::

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python on_devices.py ...

    W2,GPT 2,8        train on 2 and on 8 devices
    W2,GPT layout     divide an Embedding and a Dense over a mesh of 2 x 2
    W2,GPT PORT:K     be process K of two, with two devices each
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

import engine_runs
import numpy as np
import test_engine_models as models

from kerascope import backend as K
from kerascope import distribution
from kerascope.layers import Dense, GaussianNoise, Input
from kerascope.models import Model, Sequential, load_model
from kerascope.settings import config

models.ROWS = 16
LAYOUTS = {
    "GPT": {"embedding_1/embeddings": ("model", None), "dense_1/kernel": (None, "model")},
    "W2": {"dense_1/kernel": (None, "model"), "dense_2/kernel": ("model", "batch")},
}


def case(name):
    """Return how the model is made, its batches, and the weights that may differ.

    The last bias of W4 stays near 0, because its steps cancel each other: relative to its norm of
    1e-4, the rounding of float32 is large.
    """
    make, draw, exceptions = next(x for key, x in models.MODELS.items() if key.startswith(name))
    is_small = name == "W4" and config.floatx == "float32"
    return make, draw, (*exceptions, *["dense_1/bias"] * is_small)


def trained(name, engine, devices=None, moved=0):
    """Return a model after ten steps, and the losses."""
    K.clear_session()
    K.set_engine(engine)
    np.random.seed(2)
    make, draw, _ = case(name)
    models.DRAW = np.random.default_rng(3)
    model = make()
    if devices:
        model.compile(model.optimizer.__class__(), model.loss, engine="jax", devices=devices)
    else:
        model.compile(model.optimizer.__class__(), model.loss)
    model.weights[0].set_value(model.weights[0].get_value() + moved)
    losses = [np.atleast_1d(model.train_on_batch(*draw()))[0] for _ in range(models.STEPS)]
    return model, np.array(losses)


def distance(name, found, wanted):
    """Return the greatest distance of two training runs, the known exceptions left out."""
    states = [engine_runs.state_of(model) for model, _ in (found, wanted)]
    exceptions = case(name)[2]
    far = {
        key: engine_runs.distance(states[0][key], states[1][key])
        for key in states[1]
        if not any(part in key for part in exceptions)
    }
    return float(max(*far.values(), engine_runs.distance(found[1], wanted[1])))


def layout(name):
    """Return the distribution that divides weights of a model over a mesh of 2 x 2 devices."""
    mesh = distribution.DeviceMesh((2, 2), ["batch", "model"], distribution.list_devices()[:4])
    found = distribution.LayoutMap(mesh)
    for key, axes in LAYOUTS[name].items():
        found[key] = axes
    return distribution.ModelParallel(layout_map=found)


def facts_of(name, model):
    """Return facts about a model with divided weights: what can be read, saved, and exchanged."""
    parts = {
        v.path: v.state.content[0][v.state.index[v]].addressable_shards[0].data.shape
        for v in model.weights
        if any(v.path == key for key in LAYOUTS[name])
    }
    path = Path(tempfile.mkdtemp(), "model.keras")
    model.save(path)
    pairs = zip(
        load_model(path, {"positions": models.positions}).get_weights(),
        model.get_weights(),
        strict=True,
    )
    return {
        "parts": parts,
        "shapes": {v.path: v.shape for v in model.weights if v.path in parts},
        "is saved": all(np.array_equal(x, y) for x, y in pairs),
        "collectives": sum(model.train_function.explain().collectives.values()),
    }


def warning_of_noise():
    """Return the warning for a model whose random numbers NumPy draws."""
    model = Sequential([GaussianNoise(0.1, input_shape=(3,)), Dense(1)])
    model.compile("sgd", "mse", engine="jax", devices=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))
    return [str(one.message) for one in caught]


def warnings_of_a_shared_layer():
    """Return the warnings of two models on two devices, and of a third with a layer of both."""
    shared, x = Dense(2), Input((3,))
    towers = [Model(x, Dense(1)(shared(x))) for _ in range(2)]
    data = np.ones((4, 3)), np.ones((4, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number, tower in enumerate(towers):
            tower.compile("sgd", "mse", engine="jax", devices=[f"cpu:{number}"])
            tower.train_on_batch(*data)
        both = Model(x, [tower.output for tower in towers])
        both.compile("sgd", "mse", engine="jax")
        both.train_on_batch(data[0], [data[1]] * 2)
    return [str(one.message) for one in caught]


def main():
    names, where = sys.argv[1].split(","), sys.argv[2]
    found = {}
    if ":" not in where:
        found["warnings"] = warning_of_noise() + warnings_of_a_shared_layer()
    if ":" in where:
        port, _, process = where.partition(":")
        distribution.initialize(f"localhost:{port}", 2, int(process))
        found["devices"] = len(distribution.list_devices())
    for dtype in ("float64", "float32"):
        config.floatx = dtype
        for name in names:
            wanted = trained(name, "numpy")
            if where == "layout" or ":" in where:
                K.set_engine("jax")
                distribution.set_distribution(layout(name))
                own = int(where[-1]) if ":" in where else 0
                one = trained(name, "jax", moved=own)  # process 0 decides
                found[f"{name} layout {dtype}"] = distance(name, one, wanted)
                if dtype == "float64":
                    found[f"{name} facts"] = facts_of(name, one[0])
                distribution.set_distribution(None)
            else:
                for devices in map(int, where.split(",")):
                    one = trained(name, "numpy", devices)
                    found[f"{name} {devices} {dtype}"] = distance(name, one, wanted)
                    found[f"{name} {devices} collectives"] = (
                        one[0].train_function.explain().collectives
                    )
            if ":" in where:
                K.set_engine("jax")
                distribution.set_distribution(distribution.DataParallel())
                found[f"{name} data {dtype}"] = distance(name, trained(name, "jax"), wanted)
                distribution.set_distribution(None)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
