"""The four functions that models call, which choose the form of a file by its ending.

| ending | form |
|---|---|
| `.keras` | Keras 3's archive: `keras3_files` |
| `.weights.h5` | Keras 3's weights: `keras3_files` |
| `.h5`, `.hdf5` | Keras 2's HDF5: `hdf5_models`; Keras 3 writes and reads it too |
| any other | the same HDF5, as Keras 1 and 2 do; Keras 3 refuses it |

In place of a name an `h5py.File`, a group in one, or a binary file may be given, which get HDF5.
When reading, a file's first bytes count more than its name.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kerascope.backend.atomic import LOCKS
from kerascope.errors import ConfigError, KerascopeError, UnavailableError
from kerascope.files import why_missing
from kerascope.limits import USUAL, Limits
from kerascope.registry import custom_object_scope, did_you_mean
from kerascope.saving.configs import DAMAGED
from kerascope.saving.hdf5_files import SIGNATURE, is_open, name_of, reading_hdf5
from kerascope.saving.hdf5_models import (
    load_hdf5_model,
    load_hdf5_weights,
    save_hdf5_model,
    save_hdf5_weights,
)
from kerascope.saving.keras3_files import (
    is_keras_3_weights,
    load_keras_model,
    load_keras_weights,
    save_keras_model,
    save_keras_weights,
)
from kerascope.spellings import dialect_options

__all__ = ["load_model", "load_weights", "save_model", "save_weights"]

HDF5_ENDINGS = (".h5", ".hdf5")
KERAS_ENDING = ".keras"
KERAS_WEIGHTS_ENDING = ".weights.h5"
ARCHIVE_SIGNATURE = b"PK\x03\x04"

# What other tools write -> what to do. The first bytes or the ending tell.
_OTHERS: dict[str, str] = {
    ".pb": "It is a graph of TensorFlow. Load it there and save the model as .keras or .h5.",
    ".tflite": "It is a model for TensorFlow Lite. Look for the .keras or .h5 it was made from.",
    ".onnx": "It is an ONNX model: ks.draw, ks.summary and ks.compare take its path. Save it as "
    ".keras or .h5 where it was made with Keras.",
    ".pth": "It is a file of PyTorch. Build the model here and set its weights.",
    ".pt": "It is a file of PyTorch. Build the model here and set its weights.",
    ".pkl": "It is a pickle, which can run code when it is read. Save the model as .keras.",
    ".json": "It holds no weights. Read it with model_from_json.",
    ".yaml": "It holds no weights. Read it with model_from_yaml.",
    ".npz": "It holds arrays. Build the model and give them to model.set_weights.",
    ".ckpt": "It is a checkpoint of TensorFlow. Load it there and save the model as .keras.",
}


# --- writing --------------------------------------------------------------------------------------


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write a model: its configuration, weights, and the optimizer with its state.

    All of them belong to one step: who trains the model in another thread waits meanwhile.

    Parameters
    ----------
    model : Model
        A graph of layers.
    filepath : str, Path, h5py.Group, or binary file
        A name that ends in .keras has the form of Keras 3, any other that of Keras 1 and 2; in
        dialect "3" that is one in .h5 or .hdf5.
    overwrite : bool
        False refuses to replace a file.
    include_optimizer : bool
        False leaves out what is only needed to go on training.

    Raises
    ------
    ConfigError
        Something in the model has no configuration, or the ending says no form.
    """
    if str(filepath).endswith(KERAS_WEIGHTS_ENDING):
        raise ConfigError(
            f"save: {str(filepath)!r} ends in {KERAS_WEIGHTS_ENDING}, which is for weights alone. "
            f"Use model.save_weights, or a name that ends in {KERAS_ENDING}."
        )
    form: Callable[..., None] = _writer(filepath, save_keras_model, save_hdf5_model)
    with LOCKS.steps:
        form(model, filepath, overwrite, include_optimizer)


def save_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights of a model, all of one step (see `save_model`).

    Parameters
    ----------
    model : Model
    filepath : str, Path, h5py.Group, or binary file
        A name that ends in .weights.h5 has the form of Keras 3, any other that of Keras 1 and 2; in
        dialect "3" that is one in .h5 or .hdf5.
    overwrite : bool
        False refuses to replace a file.

    Raises
    ------
    ConfigError
        The ending says no form.
    """
    if str(filepath).endswith(KERAS_ENDING):
        raise ConfigError(
            f"save_weights: {str(filepath)!r} ends in {KERAS_ENDING}, which is for whole models. "
            f"Use model.save, or a name that ends in {KERAS_WEIGHTS_ENDING}."
        )
    if str(filepath).endswith(KERAS_WEIGHTS_ENDING):
        form: Callable[..., None] = save_keras_weights
    else:
        form = _writer(filepath, save_hdf5_weights, save_hdf5_weights)
    with LOCKS.steps:
        form(model, filepath, overwrite)


def _writer(filepath: Any, keras: Callable[..., None], hdf5: Callable[..., None]) -> Any:
    if is_open(filepath):
        return hdf5
    ending = Path(filepath).suffix.lower()
    if ending == KERAS_ENDING:
        return keras
    if ending in HDF5_ENDINGS or not dialect_options().endings_say_form:
        return hdf5
    raise ConfigError(
        f"save: cannot write {str(filepath)!r}; expected a name that ends in .keras, .h5 or .hdf5."
    )


# --- reading --------------------------------------------------------------------------------------


def load_model(
    filepath: Any,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
    *,
    limits: Limits | None = USUAL,
    opaque: bool = False,
) -> Any:
    """Read a model: its graph, its weights, and what it takes to go on training.

    Parameters
    ----------
    filepath : str, Path, h5py.Group, or binary file
        A .keras archive, or an HDF5 file, written here or by Keras 1, 2 or 3. Of a stream of bytes
        the rest is read.
    custom_objects : dict, optional
        Your own classes and functions, by name.
    compile : bool
        Compile the model as it was, with the state of its optimizer.
    safe_mode : bool
        True never runs code from the file. False decodes the byte code of Lambda layers: only for
        a file whose author you trust, since it can do anything that you can.
    limits : Limits or None
        What building the model may take beyond the weights in the file: see `kerascope.limits`.
        None: whatever it takes.
    opaque : bool
        True opens a file whatever layers are in it. One that is not known here, or cannot do what
        the file says, becomes an opaque layer: it is drawn, summed up and saved as it is in the
        file, but not run. A model with such layers is not compiled.

    Raises
    ------
    UnavailableError
        There is no such file.
    ConfigError
        It is no file of a model, is damaged, or asks for what has no counterpart here.
    DataError
        The weights do not fit the configuration.
    UnknownNameError
        It names a class or function that is not known; pass it in `custom_objects`.
    """
    filepath = _rewindable(filepath)
    kind = _kind_of(filepath)
    with custom_object_scope(custom_objects or {}):
        try:
            if kind == "archive":
                return load_keras_model(filepath, compile, safe_mode, limits, opaque)
            return load_hdf5_model(filepath, compile, safe_mode, limits, opaque)
        except KerascopeError as error:
            if name_of(filepath).strip("'") not in str(error):
                error.args = (f"{name_of(filepath)}: {error}",)
            raise
        except (*DAMAGED, OSError) as error:
            raise ConfigError(
                f"{name_of(filepath)} cannot be read ({type(error).__name__}: {error})."
            ) from error


def load_weights(
    model: Any,
    filepath: Any,
    by_name: bool = False,
    skip_mismatch: bool = False,
    reshape: bool = False,
) -> None:
    """Read weights into a model: layer by layer in order, or by the layers' names.

    Parameters
    ----------
    model : Model
    filepath : str, Path, h5py.Group, or binary file
        A file of weights, or of a whole model, in any of the forms.
    by_name : bool
        Layers that the file does not name keep their weights. Only .h5 files of Keras 1 and 2 have
        the names.
    skip_mismatch : bool
        Leave a layer alone whose weights have other shapes.
    reshape : bool
        Take an array of another shape too, if it has as many numbers.

    Raises
    ------
    DataError
        The file's weights do not fit the model's. No weight was changed.
    """
    filepath = _rewindable(filepath)
    kind = _kind_of(filepath)
    if kind == "archive":
        load_keras_weights(model, filepath, by_name, skip_mismatch, is_archive=True)
        return
    with reading_hdf5(filepath, name_of(filepath)) as file:
        is_keras_3 = is_keras_3_weights(file)
    if is_keras_3:
        load_keras_weights(model, filepath, by_name, skip_mismatch, is_archive=False)
    else:
        load_hdf5_weights(model, filepath, by_name, skip_mismatch, reshape)


def _rewindable(filepath: Any) -> Any:
    """Return the rest of a stream of bytes as a file in memory; what is no stream, as it is."""
    if not hasattr(filepath, "read") or isinstance(filepath, io.BytesIO):
        return filepath
    return io.BytesIO(filepath.read())


def _kind_of(filepath: Any) -> str:
    """Return "archive" or "hdf5", or say what the file is and what to do.

    Raises
    ------
    UnavailableError
        There is no such file.
    ConfigError
        It is a file of another kind.
    """
    if hasattr(filepath, "create_group"):
        return "hdf5"
    if is_open(filepath):
        return "archive" if filepath.getbuffer()[:4] == ARCHIVE_SIGNATURE else "hdf5"
    path = Path(filepath)
    missing = why_missing(path, _near_name)
    if missing:
        raise UnavailableError(missing)
    if path.is_dir():
        raise ConfigError(_words_for_folder(path))
    with path.open("rb") as file:
        start = file.read(512)
        file.seek(0)
    remedy = _OTHERS.get(path.suffix.lower())
    if start.startswith(SIGNATURE):
        return "hdf5"
    if start.startswith(ARCHIVE_SIGNATURE) and (remedy is None):
        return "archive"
    if remedy is not None:
        raise ConfigError(f"{str(path)!r} is no file of Keras. {remedy}")
    if path.suffix.lower() == KERAS_ENDING:
        raise ConfigError(
            f"{str(path)!r} is no whole .keras file: it does not begin like one. "
            f"{_words_for_start(start)}"
        )
    raise ConfigError(
        f"{str(path)!r} is no whole HDF5 file and no .keras archive. {_words_for_start(start)}"
    )


def _words_for_start(start: bytes) -> str:
    if not start:
        return "It is empty."
    if start.startswith(b"version https://git-lfs"):
        return "It is a pointer of Git LFS; fetch the file itself with `git lfs pull`."
    if start.lstrip()[:1] == b"<":
        return "It is a web page; the download went wrong."
    return "It is damaged, or something else."


def _words_for_folder(path: Path) -> str:
    if (path / "saved_model.pb").exists():
        return (
            f"{str(path)!r} is a SavedModel of TensorFlow. Load it there with "
            f"tf.keras.models.load_model and save the model as .keras or .h5."
        )
    if (path / "config.json").exists():
        return f"{str(path)!r} is an unpacked .keras file; pack its members into a zip again."
    return f"{str(path)!r} is a folder; expected a .keras or .h5 file."


def _near_name(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r} either."
    names = [entry.name for entry in folder.iterdir() if entry.is_file()][:1000]
    return did_you_mean(path.name, names)
