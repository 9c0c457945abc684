"""The same run on NumPy and on JAX, and how far apart two states of a model are.

The distance of two arrays is the norm of their difference, divided by the norm of the wanted one.
"""

import numpy as np

from kerascope import backend as K
from kerascope.settings import config

NEAR = {"float64": 1e-12, "float32": 5e-6}


def on_each_engine(run, dtype="float64"):
    """Call `run` on NumPy and on JAX, from the same random state; return both results."""
    results = []
    try:
        config.floatx = dtype
        for engine in ("numpy", "jax"):
            start(engine)
            results.append(run())
    finally:
        config.engine, config.floatx = "numpy", "float32"
    return results


def start(engine):
    """Begin anew, as a script does: initializers and random layers take seeds from NumPy."""
    K.clear_session()
    K.set_engine(engine)
    np.random.seed(2)


def state_of(model):
    """Return the weights, the optimizer's slots and the states of layers as arrays, by name."""
    slots = zip(model.optimizer.weights, model.optimizer.get_weights(), strict=True)
    found = {f"optimizer/{v.name}": array for v, array in slots}
    found |= {v.name: v.get_value() for v in model.weights}
    for variable, _ in model.state_updates:
        found[f"state/{variable.name}"] = variable.get_value()
    return found


def distance(found, wanted):
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return np.inf
    difference = np.linalg.norm(np.asarray(found, "float64") - wanted)
    return difference / np.linalg.norm(np.asarray(wanted, "float64")) if difference else 0.0


def assert_same(found, wanted, near, exceptions=()):
    """Assert that arrays are near those of the same name; names with an exception may differ."""
    assert found.keys() == wanted.keys()
    far = {name: distance(found[name], wanted[name]) for name in wanted}
    far = {name: d for name, d in far.items() if not d <= near}
    assert {name for name in far if not any(part in name for part in exceptions)} == set(), far


def assert_compiled(function, times=1):
    """Assert that JAX computed a function, and how often it was compiled."""
    programs = function.jax_programs
    assert (programs.refused, programs.compilations) == (None, times)
