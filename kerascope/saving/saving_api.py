"""The four functions for saving and loading, which choose the format by the file's ending.

| ending | format |
|---|---|
| `.keras` | Keras 3's archive: `keras3_files` |
| `.weights.h5` | Keras 3's weights: `keras3_files` |
| `.h5`, `.hdf5` | Keras 2's HDF5: `hdf5_models`; Keras 3 writes and reads it too |
| any other | the same HDF5, as in Keras 1 and 2; Keras 3 refuses it |

An `h5py.File`, a group in one, or a binary file is also accepted and uses HDF5. When a file is
read, its first bytes determine the format, not its ending.
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

# Endings of the files of other tools -> what to do with such a file.
_OTHERS: dict[str, str] = {
    ".pb": "It is a graph of TensorFlow. Load it there and save the model as .keras or .h5.",
    ".tflite": "It is a model for TensorFlow Lite. Look for the .keras or .h5 it was made from.",
    ".onnx": "It is an ONNX model: ks.draw, ks.summary and ks.compare take its path. Save it as "
    ".keras or .h5 where it was made with Keras.",
    ".pth": "It is a file of PyTorch. Build the model here and set its weights.",
    ".pt": "It is a file of PyTorch. Build the model here and set its weights.",
    ".pkl": "It is a pickle, which can run code when it is read. Save the model as .keras.",
    ".json": "It contains no weights. Read it with model_from_json.",
    ".yaml": "It contains no weights. Read it with model_from_yaml.",
    ".npz": "It contains arrays. Build the model and give them to model.set_weights.",
    ".ckpt": "It is a checkpoint of TensorFlow. Load it there and save the model as .keras.",
}


# --- writing --------------------------------------------------------------------------------------


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write a model: its configuration, its weights, and the optimizer with its state.

    All values are of the same training step, because a thread that trains the model waits until
    they are written.

    Parameters
    ----------
    model : Model
        A graph of layers.
    filepath : str, Path, h5py.Group, or binary file
        A name that ends in .keras has the format of Keras 3. Other names have the format of Keras 1
        and 2. In dialect "3" these must end in .h5 or .hdf5.
    overwrite : bool
        Whether an existing file may be replaced.
    include_optimizer : bool
        Whether to write the loss and the optimizer, which are needed to continue training.

    Raises
    ------
    ConfigError
        A part of the model has no configuration, or no format has the file's ending.
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
    """Write the weights of a model, all of the same training step (see `save_model`).

    Parameters
    ----------
    model : Model
    filepath : str, Path, h5py.Group, or binary file
        A name that ends in .weights.h5 has the format of Keras 3. Other names have the format of
        Keras 1 and 2. In dialect "3" these must end in .h5 or .hdf5.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ConfigError
        No format has the file's ending.
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
        f"save: expected a name that ends in .keras, .h5 or .hdf5, got {str(filepath)!r}."
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
    """Read a model: its graph, its weights, and the optimizer with its state.

    Parameters
    ----------
    filepath : str, Path, h5py.Group, or binary file
        A .keras archive or an HDF5 file of kerascope or Keras 1, 2 or 3. A stream is read from its
        position to its end.
    custom_objects : dict, optional
        Your own classes and functions, by name.
    compile : bool
        Compile the model as in the file, with the state of its optimizer.
    safe_mode : bool
        With True, no code from the file runs. With False, the byte code of Lambda layers is
        decoded. Use this only if you trust the author of the file, whose code can do anything that
        you can.
    limits : Limits or None
        Limits on building the model, in addition to the weights in the file: see
        `kerascope.limits`. None for no limits.
    opaque : bool
        Whether to open files with any layers. A layer of an unknown class, or with unsupported
        settings, becomes an opaque layer. It can be drawn, summarized and saved as in the file, but
        not run. A model with opaque layers is not compiled.

    Raises
    ------
    UnavailableError
        The file does not exist.
    ConfigError
        The file is not a model file, is damaged, or has settings that are not supported.
    DataError
        The weights do not fit the configuration.
    UnknownNameError
        The file names an unknown class or function. Pass it in `custom_objects`.
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
    """Read weights into a model, by the order of the layers or by their names.

    Parameters
    ----------
    model : Model
    filepath : str, Path, h5py.Group, or binary file
        A file of weights or of a whole model, in any format.
    by_name : bool
        Match layers by name. Layers that are not in the file keep their weights. Only .h5 files of
        Keras 1 and 2 contain the names.
    skip_mismatch : bool
        Skip layers whose weights have other shapes.
    reshape : bool
        Accept arrays of another shape with the same number of elements.

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
    """Read the rest of a stream into a file in memory. Return other arguments unchanged."""
    if not hasattr(filepath, "read") or isinstance(filepath, io.BytesIO):
        return filepath
    return io.BytesIO(filepath.read())


def _kind_of(filepath: Any) -> str:
    """Return the format of a file, "archive" or "hdf5".

    Raises
    ------
    UnavailableError
        The file does not exist.
    ConfigError
        The file has another format. The message says what to do with it.
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
        raise ConfigError(f"{str(path)!r} is not a file of Keras. {remedy}")
    if path.suffix.lower() == KERAS_ENDING:
        raise ConfigError(f"{str(path)!r} is not a complete .keras file. {_words_for_start(start)}")
    raise ConfigError(
        f"{str(path)!r} is not a complete HDF5 file or .keras archive. {_words_for_start(start)}"
    )


def _words_for_start(start: bytes) -> str:
    if not start:
        return "It is empty."
    if start.startswith(b"version https://git-lfs"):
        return "It is a pointer of Git LFS. Fetch the file itself with `git lfs pull`."
    if start.lstrip()[:1] == b"<":
        return "It is a web page. Download the file again."
    return "It is damaged or of another kind."


def _words_for_folder(path: Path) -> str:
    if (path / "saved_model.pb").exists():
        return (
            f"{str(path)!r} is a SavedModel of TensorFlow. Load it there with "
            f"tf.keras.models.load_model and save the model as .keras or .h5."
        )
    if (path / "config.json").exists():
        return f"{str(path)!r} is an unpacked .keras file. Pack its members into a zip again."
    return f"{str(path)!r}: expected a .keras or .h5 file, got a folder."


def _near_name(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"The folder {str(folder)!r} does not exist either."
    names = [entry.name for entry in folder.iterdir() if entry.is_file()][:1000]
    return did_you_mean(path.name, names, cutoff=0.75)
