"""The names of the package `keras`: those of `kerascope`, and names that only Keras 3 has."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from kerascope.settings import config

PACKAGE = "kerascope"

# Dialect -> the value of `keras.__version__`, the version of Keras that it follows.
VERSIONS = {"1.2": "1.2.2", "2.2": "2.2.4", "3": "3.0.0"}

# Name in Keras 3 -> our module and the name in it.
_NAMES = {
    "Initializer": ("initializers", "Initializer"),
    "DTypePolicy": ("compat.keras_dtype_policies", "DTypePolicy"),
    "FloatDTypePolicy": ("compat.keras_dtype_policies", "DTypePolicy"),
    "Function": ("compat.keras_classes", "Function"),
    "InputSpec": ("engine.input_spec", "InputSpec"),
    "KerasTensor": ("backend", "Tensor"),
    "Loss": ("losses", "Loss"),
    "Metric": ("metrics", "Metric"),
    "Operation": ("compat.keras_classes", "Operation"),
    "Optimizer": ("optimizers", "Optimizer"),
    "Regularizer": ("regularizers", "Regularizer"),
    "Variable": ("compat.keras_classes", "Variable"),
    "name_scope": ("backend", "name_scope"),
}


def version() -> str:
    """Return the version of Keras that the dialect follows.

    Examples
    --------
    >>> version()
    '2.2.4'
    """
    return VERSIONS[config.dialect]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version()
    if name == "__all__":
        return [*sys.modules[PACKAGE].__all__, *_NAMES, "version"]
    if name in _NAMES:
        module, own = _NAMES[name]
        return getattr(import_module(f"{PACKAGE}.{module}"), own)
    return getattr(sys.modules[PACKAGE], name)
