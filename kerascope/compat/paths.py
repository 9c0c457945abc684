"""The table of paths: for each module of Keras, the modules of kerascope that have its names.

A path is written without its root: `layers.core` is `keras.layers.core`, `tensorflow.keras.layers.
core` and `kerascope.layers.core`. A path that is not in the table is the kerascope module with the
same path, if it exists. So a new module under Keras's own name needs no entry.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

PACKAGE = "kerascope"

# Every layer can be imported from every module of Keras's layers.
_FILES_OF_LAYERS = (
    *("advanced_activations", "convolutional", "convolutional_recurrent", "core"),
    *("cudnn_recurrent", "embeddings", "local", "noise", "normalization", "pooling", "recurrent"),
    "wrappers",
)

# Root package that scripts import -> the path of Keras inside it.
ROOTS: dict[str, str] = {"keras": "", "tensorflow": "keras", "tf_keras": ""}

# Path -> our modules. A name is taken from the first module that has it. `module:group` means only
# the names in a group, which is an object with attributes in that module.
MOVED: dict[str, str] = {
    "": "compat.top_level",
    # Keras 1
    "objectives": "losses",
    "initializations": "initializers.keras1 initializers",
    "engine.topology": """engine.node engine.base_layer engine.input_layer engine.network
        engine.input_spec layers.merge utils.layer_utils
        compat.private_names:topology engine""",
    "engine": "engine layers.merge utils.layer_utils",
    "engine.merge": "layers.merge",
    "engine.topology.merge": "layers.merge",
    "engine.training": "engine.model models compat.private_names:training",
    "legacy": "compat",
    "legacy.interfaces": "compat.interfaces",
    "legacy.layers": "layers",
    "utils.visualize_util": "utils.vis_utils",
    # Keras 2
    "engine.network": "engine.network utils.layer_utils",
    **{f"layers.{name}": f"layers.{name} layers" for name in _FILES_OF_LAYERS},
    "applications.mobilenet_v2": "applications.mobilenet",
    "applications.mobilenetv2": "applications.mobilenet",
    "applications.audio_conv_utils": "applications.keras1",
    "applications.inception_v3": "applications.inception_v3 applications.keras1",
    "applications.music_tagger_crnn": "applications.keras1",
    "applications.resnet50": "applications.resnet applications.keras1",
    "applications.vgg16": "applications.vgg",
    "applications.vgg19": "applications.vgg",
    "backend.common": "backend utils.conv_utils",
    "backend.load_backend": "backend",
    "backend.numpy_backend": "backend",
    "backend.tensorflow_backend": "backend",
    "backend.theano_backend": "backend",
    "engine.base_layer": "engine.base_layer engine.input_spec engine.node",
    "engine.saving": "saving models",
    "engine.container": "engine.network",
    "engine.training_arrays": "compat.private_names:loops engine.model",
    "engine.training_generator": "compat.private_names:loops engine.model",
    "engine.training_utils": "compat.private_names:training_utils",
    "utils.multi_gpu_utils": "utils",
    # Keras 3
    "config": "compat.keras_config",
    "distribution": "backend.engines.distribution",
    "dtype_policies": "compat.keras_dtype_policies",
    "mixed_precision": "compat.keras_dtype_policies",
    "ops": "layers.ops.keras_ops",
    "ops.image": "layers.ops.image",
    "ops.linalg": "layers.ops.keras_ops",
    "ops.nn": "layers.ops.keras_ops",
    "ops.numpy": "layers.ops.keras_ops",
    "random": "compat.keras_random",
    "saving": "saving utils.generic_utils",
    "tree": "compat.keras_tree",
}

# Paths that are a function in Keras 1 and a module in Keras 2 -> the module with the function.
FUNCTIONS_OF_KERAS_1 = dict.fromkeys(
    ("engine.merge", "engine.topology.merge", "layers.merge"), "layers.merge"
)

# Modules of version 0.1 that its documents and pickles name -> where their names are now. They can
# be imported for one more version, with a DeprecationWarning.
MOVED_INSIDE: dict[str, str] = {
    "backend.phases": "backend.schedule",
    "backend.program.programs": "backend.program.dispatch",
    "backend.tensor": "backend.graph backend.variables",
    "backend.traversal": "backend.graph",
    "callbacks.stopping": "callbacks.monitor",
    "callers": "user_frames",
    "compat.keras_ops_numbers": "layers.ops.keras_ops",
    "compat.keras_ops_shapes": "layers.ops.keras_ops",
    "configured": "configurable",
    "edge": "display",
    "engine.compiled_network": "engine.model",
    "engine.keras_loops": "compat.private_names:loops",
    "engine.nesting": "engine.arguments",
    "engine.network_config": "engine.network",
    "engine.per_input": "engine.layer_losses",
    "engine.running": "engine.network",
    "initializers.fixed": "initializers.classes",
    "initializers.scaling": "initializers.classes",
    "layers.merging": "layers.merge",
    "layers.operations": "layers.ops.operation",
    "lessons.facts": "lessons.checking",
    "lessons.notebook_cells": "lessons.notebook",
    "lessons.places": "lessons",
    "metrics.named": "metrics.classes",
    "not_yet": "missing_names",
    "optimizers.accumulating": "optimizers.update_rules",
    "optimizers.sgd": "optimizers.update_rules",
}


@cache
def sources_of(path: str) -> tuple[str, ...]:
    """Return the full names of kerascope modules for a path; empty if the path is unknown.

    Examples
    --------
    >>> sources_of("objectives")
    ('kerascope.losses',)
    >>> sources_of("layers")
    ('kerascope.layers',)
    >>> sources_of("layer")
    ()
    """
    named = MOVED.get(path, MOVED_INSIDE.get(path, path)).split()
    return tuple(f"{PACKAGE}.{name}" for name in named if _module_exists(name.partition(":")[0]))


def import_source(source: str) -> Any:
    """Import and return a source of names: a module, or a group of names in a module."""
    name, _, share = source.partition(":")
    module = import_module(name)
    return getattr(module, share) if share else module


def _module_exists(path: str) -> bool:
    """Return whether kerascope has a module, without importing it."""
    full_name = f"{PACKAGE}.{path}"
    if full_name in sys.modules:
        return True
    if path.split(".")[0] in ("cli", "demo", "trace", "viz", "__main__"):
        return False
    parent, _, _ = full_name.rpartition(".")
    if parent != PACKAGE and not _module_exists(parent.removeprefix(f"{PACKAGE}.")):
        return False
    folders = getattr(import_module(parent), "__path__", [])
    spec = PathFinder.find_spec(full_name, folders)
    return spec is not None and spec.origin is not None  # an empty folder has no origin


def known_paths() -> set[str]:
    """Return all paths in the table, their parents, and the modules of kerascope loaded so far."""
    own = {name.removeprefix(f"{PACKAGE}.") for name in sys.modules if name.startswith(PACKAGE)}
    paths = {*MOVED, *own, "layers", "models", "callbacks", "datasets", "preprocessing"}
    paths |= {"applications", "wrappers", "utils", "optimizers", "regularizers", "constraints"}
    paths |= {path.rpartition(".")[0] for path in paths}
    return {path for path in paths if path and path != PACKAGE}
