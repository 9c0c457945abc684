"""kerascope: see inside a neural-network library.

kerascope is a complete Keras-style engine on NumPy. Every stage of its work can be drawn, stepped
through and tested. `import kerascope as keras` runs a Keras script, `ks.draw(model)` draws its
graph, and `ks.walk(model, x)` yields the steps of a forward pass.

The rows of the package, each importing only from the rows above it:

0. errors, settings, spellings, stage, registry, display, missing_names
1. backend (`K`): the op graph, its gradients, functions
2. activations, initializers, regularizers, constraints, losses, metrics, optimizers, callbacks
3. engine: layers, nodes, networks, models
4. layers, datasets, utils
5. trace: recording and stepping
6. viz: pictures and tables
7. compat (`import keras`), models of other libraries, and the command line

`import kerascope` imports nothing of rows 1 to 7. Each part is imported at its first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kerascope import display, missing_names
from kerascope.compat.finder import find_old_modules
from kerascope.registry import custom_object_scope
from kerascope.settings import config
from kerascope.stage import Stage, observing

if TYPE_CHECKING:  # for type checkers and editors; Python uses `__getattr__` below
    from kerascope import (
        activations,
        backend,
        callbacks,
        compat,
        constraints,
        datasets,
        engine,
        initializers,
        layers,
        losses,
        metrics,
        models,
        optimizers,
        regularizers,
        trace,
        utils,
    )
    from kerascope import backend as K
    from kerascope import initializers as initializations
    from kerascope import losses as objectives
    from kerascope.backend.eager import compiled
    from kerascope.comparing.comparison import compare
    from kerascope.debugger.entry import Debugger, pm, set_trace
    from kerascope.engine.base_layer import Layer
    from kerascope.engine.input_layer import Input
    from kerascope.engine.node import Node
    from kerascope.foreign import summary
    from kerascope.foreign.keras_models.converting import from_keras, to_keras
    from kerascope.models import Container, Functional, Model, Network, Sequential
    from kerascope.player.playing import play
    from kerascope.trace.walking import walk
    from kerascope.viz.draw import draw
    from kerascope.viz.drawing import Drawing
    from kerascope.viz.exports.to_networkx import from_networkx, to_networkx
    from kerascope.viz.exports.to_tree import to_tree
    from kerascope.viz.profile import profile
    from kerascope.viz.tensors.show import show

__version__ = "0.3.0"

# Name -> the module that defines it.
_HOMES = {
    "Container": "kerascope.models",
    "Debugger": "kerascope.debugger.entry",
    "Drawing": "kerascope.viz.drawing",
    "Functional": "kerascope.models",
    "Input": "kerascope.engine.input_layer",
    "Layer": "kerascope.engine.base_layer",
    "Model": "kerascope.models",
    "Network": "kerascope.models",
    "Node": "kerascope.engine.node",
    "Sequential": "kerascope.models",
    "compare": "kerascope.comparing.comparison",
    "compiled": "kerascope.backend.eager",
    "draw": "kerascope.viz.draw",
    "from_keras": "kerascope.foreign.keras_models.converting",
    "from_networkx": "kerascope.viz.exports.to_networkx",
    "pm": "kerascope.debugger.entry",
    "play": "kerascope.player.playing",
    "profile": "kerascope.viz.profile",
    "set_trace": "kerascope.debugger.entry",
    "show": "kerascope.viz.tensors.show",
    "summary": "kerascope.foreign",
    "to_keras": "kerascope.foreign.keras_models.converting",
    "to_networkx": "kerascope.viz.exports.to_networkx",
    "to_tree": "kerascope.viz.exports.to_tree",
    "walk": "kerascope.trace.walking",
}
# By the import finder.
_OLD_AND_NEW = ("distribution", "initializations", "objectives", "ops", "random", "saving")
_MODULES = (
    *("activations", "applications", "backend", "callbacks", "compat", "constraints", "datasets"),
    *("engine", "initializers", "layers", "losses", "metrics", "models", "optimizers"),
    *("preprocessing", "regularizers", "trace", "utils", "wrappers", *_OLD_AND_NEW),
)


def __getattr__(name: str) -> Any:
    if name == "K":
        found: Any = importlib.import_module(f"{__name__}.backend")
    elif name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _MODULES and missing_names.words_for(__name__, name) is None:
        found = importlib.import_module(f"{__name__}.{name}")
    else:
        raise missing_names.missing(__name__, name, __all__)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _renderer(module: str, name: str) -> Callable[..., Any]:
    """Return a function that, when called, imports the function `name` of `module` and calls it."""
    return lambda *args, **kwargs: getattr(importlib.import_module(module), name)(*args, **kwargs)


display.register("progress", _renderer("kerascope.viz.progress", "show_progress"))
display.register("message", _renderer("kerascope.viz.progress", "show_message"))
display.register("summary", _renderer("kerascope.viz.tables", "print_summary"))
display.register("graph", _renderer("kerascope.viz.extract.networks", "graph_of_call"))
display.register("explanation", _renderer("kerascope.viz.tables", "ExplanationTable"))
display.register("drawing", _renderer("kerascope.viz.draw", "draw"))
display.register("profile", _renderer("kerascope.viz.profile", "profile"))
_TRAINING_CURVES = "kerascope.viz.tensors.training_curves"
display.register("history", _renderer(_TRAINING_CURVES, "plot_history"))
display.register("tape_curves", _renderer(_TRAINING_CURVES, "plot_tape"))
display.register("gradient_flow", _renderer(_TRAINING_CURVES, "gradient_flow"))
_FOREIGN = "kerascope.foreign"
display.register("drawable", _renderer(_FOREIGN, "drawable"))
display.register("walk", _renderer(_FOREIGN, "steps"))
display.register("tracing", _renderer(_FOREIGN, "tracing"))
display.register("tape", _renderer("kerascope.player.playing", "html_of_tape"))

# `%load_ext kerascope` in a notebook
load_ipython_extension = _renderer("kerascope.debugger.notebook", "load_ipython_extension")
unload_ipython_extension = _renderer("kerascope.debugger.notebook", "unload_ipython_extension")

find_old_modules()

__all__ = [
    "Container",
    "Debugger",
    "Drawing",
    "Functional",
    "Input",
    "K",
    "Layer",
    "Model",
    "Network",
    "Node",
    "Sequential",
    "Stage",
    "activations",
    "backend",
    "callbacks",
    "compare",
    "compat",
    "compiled",
    "config",
    "constraints",
    "custom_object_scope",
    "datasets",
    "draw",
    "engine",
    "from_keras",
    "from_networkx",
    "initializations",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "objectives",
    "observing",
    "optimizers",
    "play",
    "pm",
    "profile",
    "regularizers",
    "set_trace",
    "show",
    "summary",
    "to_keras",
    "to_networkx",
    "to_tree",
    "trace",
    "utils",
    "walk",
]
