"""Paths of model files as arguments: `draw("model.keras")`.

`draw`, `walk`, similar functions and the command line open model files here. Paths of ONNX files
are not opened: `kerascope.foreign` reads them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from kerascope.limits import USUAL, Limits
from kerascope.unsupported import MODEL_FILES, TEXT_FILES, WEIGHTS_ALONE

_SAVING = "kerascope.saving"  # loaded when the first file is opened
_CONFIGS = "kerascope.saving.configs"


def is_model_file(subject: Any) -> bool:
    """Return whether a value is the path of a Keras model file, by its extension.

    Examples
    --------
    >>> is_model_file("Net.H5"), is_model_file(Path("net.json")), is_model_file("net.weights.h5")
    (True, True, False)
    """
    if not isinstance(subject, (str, os.PathLike)):
        return False
    name = os.fsdecode(subject).lower()
    return name.endswith((*MODEL_FILES, *TEXT_FILES)) and not name.endswith(WEIGHTS_ALONE)


def opened(
    subject: Any,
    custom_objects: Mapping[str, Any] | None = None,
    *,
    compile: bool = False,
    limits: Limits | None = USUAL,
    opaque: bool = False,
) -> Any:
    """Return the model in a Keras model file; return anything but the path of a file unchanged.

    Parameters
    ----------
    subject : object
        A path or a model. A .keras, .h5 or .hdf5 file gives a model with its weights, a .json,
        .yaml or .yml file a model with fresh weights.
    custom_objects, compile, limits, opaque : optional
        As for `load_model`.

    Raises
    ------
    KerascopeError
        Errors of `load_model` or `model_from_json`.

    Examples
    --------
    >>> opened("model.onnx"), opened(3)
    ('model.onnx', 3)
    """
    if not is_model_file(subject):
        return subject
    path = Path(os.fsdecode(subject))
    known = dict(custom_objects or {})
    if path.suffix.lower() in TEXT_FILES:
        read = import_module(_CONFIGS).model_from_text_file
        return read(path, known, limits=limits, opaque=opaque)
    load = import_module(_SAVING).load_model
    return load(path, known, compile=compile, limits=limits, opaque=opaque)
