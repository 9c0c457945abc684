"""The door to the files: what `model.save` needs of `kerascope.saving`, found when it is used.

Reading a model means making layers, which this row does not know; so the functions that write and
read files stand in the package `kerascope.saving`, one row higher, which enters them here. Keras 2
keeps all of them in this module: `from keras.engine.saving import load_model` works.
"""

from __future__ import annotations

from typing import Any

from kerascope.registry import Registry

KERAS_VERSION = "2.2.4"

file_functions = Registry("function of keras.engine.saving", home="kerascope.saving")


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return file_functions.lookup(name)
    except ValueError as error:
        raise AttributeError(str(error)) from None
