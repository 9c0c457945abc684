"""Access to the real Keras 3. It is only imported for a Keras model or on request."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.saving.keras3_weights import folder_name

LIBRARY = "keras"
_WALK = "keras.src.saving.saving_lib"  # private, but it determines the paths in Keras's files
OLDEST = 3


def library(where: str) -> ModuleType:
    """Return the module `keras` of the real Keras 3.

    Parameters
    ----------
    where : str
        Name of the caller, for messages.

    Raises
    ------
    MissingToolError
        If Keras or its backend is not installed.
    ArgumentError
        If `import keras` means kerascope in this script, or the version is older than 3.
    """
    try:
        keras = import_module(LIBRARY)
    except ImportError as error:
        raise MissingToolError(
            f"{where}: expected Keras {OLDEST} with a backend, got: {error}. "
            f'Install it: pip install "kerascope[keras]"; KERAS_BACKEND=jax chooses jax.'
        ) from error
    if getattr(keras, "__file__", None) is None or not hasattr(keras, "saving"):
        raise ArgumentError(
            f"{where}: expected the real Keras, but `import keras` means kerascope in this script. "
            f"Run it with python itself, and also write `import kerascope as ks`."
        )
    version = str(keras.__version__)
    if int(version.split(".")[0]) < OLDEST:
        raise ArgumentError(f"{where}: expected Keras {OLDEST} or newer, got {version}.")
    return keras


def parts_of(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the layers of a model, each once, with their paths in Keras's files.

    Parameters
    ----------
    model : keras.Layer
        The model. It comes first, with the path "".
    """
    keras = library("parts_of")
    parts_inside = import_module(_WALK)._walk_saveable
    seen: set[int] = set()
    waiting = [("", model)]
    while waiting:
        path, layer = waiting.pop()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        yield path, layer
        inside: list[tuple[str, Any]] = []
        for name, part in parts_inside(layer):
            if isinstance(part, keras.Layer):
                inside.append((f"{path}/{name}".lstrip("/"), part))
            elif isinstance(part, (list, tuple, dict)):
                inside += _in_container(keras, f"{path}/{name}".lstrip("/"), part)
        waiting += reversed(inside)


def _in_container(keras: ModuleType, path: str, container: Any) -> list[tuple[str, Any]]:
    """Return the layers in a nested list or dict, with their paths in Keras's files."""
    counts: dict[str, int] = {}
    found: list[tuple[str, Any]] = []
    for part in container.values() if isinstance(container, dict) else container:
        is_layer = isinstance(part, keras.Layer)
        if not is_layer and not isinstance(part, (list, tuple, dict)):
            continue
        word = folder_name(type(part).__name__) if is_layer else "container"
        count = counts[word] = counts.get(word, -1) + 1
        name = f"{path}/{word}_{count}" if count else f"{path}/{word}"
        found += [(name, part)] if is_layer else _in_container(keras, name, part)
    return found
