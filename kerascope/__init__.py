"""kerascope: the instrument with which people see inside a neural network library.

A complete Keras-style engine on NumPy whose every stage can be walked, drawn and tested. `import
kerascope as keras` runs a Keras script; `ks.draw(model)` draws its graph; `ks.walk(model, x)` goes
through a forward pass event by event.

The rows of the package, each importing only from those above it:

0. errors, settings, spellings, stage, registry, edge, not_yet
1. backend (`K`): the op graph, its gradients, functions
2. activations, initializers, regularizers, constraints, losses, metrics, optimizers, callbacks
3. engine: layers, nodes, networks, models
4. layers, datasets, utils
5. trace: walking and recording
6. viz: pictures and tables
7. the command line
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from kerascope import (
    activations,
    backend,
    callbacks,
    constraints,
    edge,
    engine,
    initializers,
    layers,
    losses,
    metrics,
    models,
    not_yet,
    optimizers,
    regularizers,
)
from kerascope.backend.compiled import compiled
from kerascope.compat import answer_missing_modules, enter_old_modules
from kerascope.engine.input_layer import Input
from kerascope.engine.node import Node
from kerascope.models import Container, Functional, Model, Network, Sequential
from kerascope.registry import custom_object_scope
from kerascope.settings import config
from kerascope.stage import Stage, observing

__version__ = "0.1.0"

# What takes long to import comes when it is used: rich and networkx behind the pictures, HTTP and
# archives behind the data sets.
_LAZY = {
    "Drawing": "kerascope.viz.drawing",
    "draw": "kerascope.viz.drawing",
    "to_networkx": "kerascope.viz.to_networkx",
    "walk": "kerascope.trace.walking",
}
_LAZY_MODULES = ("datasets", "utils")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _LAZY_MODULES:
        return importlib.import_module(f"kerascope.{name}")
    raise not_yet.missing("kerascope", name, __all__)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _renderer(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports the real renderer when it is first called."""
    return lambda *args, **kwargs: getattr(importlib.import_module(module), name)(*args, **kwargs)


edge.register("progress", _renderer("kerascope.viz.progress", "show_progress"))
edge.register("message", _renderer("kerascope.viz.progress", "show_message"))
edge.register("summary", _renderer("kerascope.viz.tables", "print_summary"))

enter_old_modules()
answer_missing_modules()
K = backend
objectives, initializations = losses, initializers

__all__ = [
    "Container",
    "Drawing",
    "Functional",
    "Input",
    "K",
    "Model",
    "Network",
    "Node",
    "Sequential",
    "Stage",
    "activations",
    "backend",
    "callbacks",
    "compiled",
    "config",
    "constraints",
    "custom_object_scope",
    "datasets",
    "draw",
    "engine",
    "initializations",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "objectives",
    "observing",
    "optimizers",
    "regularizers",
    "to_networkx",
    "utils",
    "walk",
]
