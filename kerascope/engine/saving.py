"""Models and weights in HDF5 files, laid out as Keras 2 does.

A file of weights has a group for each layer, in which every weight is a data set; the attributes
`layer_names` and `weight_names` keep the order. A file of a whole model has these under
`model_weights`, the configuration as JSON in the attribute `model_config`, and what `compile` was
told in `training_config`, with the optimizer's state in `optimizer_weights`. Nothing in a file is
ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope import losses, metrics, optimizers
from kerascope.backend.graph import Variable
from kerascope.backend.state import batch_set_value
from kerascope.callers import warn
from kerascope.engine.base_layer import Layer
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ConfigError, DataError, UnavailableError
from kerascope.files import replacing
from kerascope.registry import custom_object_scope

if TYPE_CHECKING:
    from kerascope.engine.model import Model

KERAS_VERSION = "2.2.4"


# --- writing --------------------------------------------------------------------------------------


def save_model(
    model: Model, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write a model: its configuration, weights, and the optimizer with its state.

    Parameters
    ----------
    model : Model
        A graph of layers.
    filepath : str or Path
        Ends in .h5 or .hdf5.
    overwrite : bool
        False refuses to replace a file.
    include_optimizer : bool
        False leaves out what is only needed to go on training.

    Raises
    ------
    ConfigError
        Something in the model has no configuration, or the file would have another form.
    """
    _check_suffix(filepath)
    config = json.dumps({"class_name": type(model).__name__, "config": model.get_config()})
    training = (
        json.dumps(training_config(model))
        if include_optimizer and model.total_loss is not None
        else None
    )
    with replacing(filepath, overwrite=overwrite) as unfinished, _h5(unfinished, "w") as file:
        file.attrs["keras_version"] = KERAS_VERSION.encode()
        file.attrs["backend"] = b"kerascope"
        file.attrs["model_config"] = config.encode()
        _write_layers(file.create_group("model_weights"), model.layers)
        if training is not None:
            file.attrs["training_config"] = training.encode()
        if training is not None and model.train_function is not None:
            group = file.create_group("optimizer_weights")
            _write_weights(group, model.optimizer.weights)


def save_weights(model: Model, filepath: Any, overwrite: bool = True) -> None:
    """Write the weights of a model, layer by layer."""
    _check_suffix(filepath)
    with replacing(filepath, overwrite=overwrite) as unfinished, _h5(unfinished, "w") as file:
        _write_layers(file, model.layers)


def training_config(model: Model) -> dict[str, Any]:
    """Return what `compile` was told, ready for JSON.

    Raises
    ------
    ConfigError
        A loss or metric has no name.
    """
    return {
        "optimizer_config": optimizers.serialize(model.optimizer),
        "loss": _named(model.loss, losses.serialize),
        "metrics": _named(model.metrics, metrics.serialize),
        "weighted_metrics": _named(model.weighted_metrics, metrics.serialize),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
    }


def _named(value: Any, serialize: Any) -> Any:
    if isinstance(value, dict):
        return {key: _named(one, serialize) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(one, serialize) for one in value]
    return value if value is None or isinstance(value, str) else serialize(value)


def _check_suffix(filepath: Any) -> None:
    if Path(filepath).suffix not in (".h5", ".hdf5"):
        raise ConfigError(
            f"save: cannot write {str(filepath)!r}; expected a name that ends in .h5 or .hdf5. "
            f"Other forms of file are not supported yet."
        )


def _write_layers(group: Any, layers: Iterable[Layer]) -> None:
    layers = list(layers)
    group.attrs["layer_names"] = [layer.name.encode() for layer in layers]
    group.attrs["backend"] = b"kerascope"
    group.attrs["keras_version"] = KERAS_VERSION.encode()
    for layer in layers:
        _write_weights(group.create_group(layer.name), layer.weights)


def _write_weights(group: Any, weights: Iterable[Variable]) -> None:
    names: list[str] = []
    for w in weights:
        name = f"{w.name}:0"
        while name in names:
            name = f"{name}_again"
        names.append(name)
        group.create_dataset(name, data=w.get_value(borrow=True))
    group.attrs["weight_names"] = [name.encode() for name in names]


# --- reading --------------------------------------------------------------------------------------


def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True
) -> Any:
    """Read a model: its graph, its weights, and what it takes to go on training.

    Parameters
    ----------
    filepath : str or Path
    custom_objects : dict, optional
        Your own classes and functions, by name.
    compile : bool
        Compile the model as it was, with the state of its optimizer.

    Raises
    ------
    UnavailableError
        There is no such file.
    ConfigError
        It is no file of a model.
    UnknownNameError
        It names a class or function that is not known; pass it in `custom_objects`.
    """
    with _h5(filepath, "r") as file, custom_object_scope(custom_objects or {}):
        if "model_config" not in file.attrs:
            raise ConfigError(
                f"load_model: {str(filepath)!r} holds no configuration of a model. "
                f"A file of weights alone is read by model.load_weights."
            )
        model = layer_registry.deserialize(_json(file.attrs["model_config"]))
        _read_layers(file["model_weights"], model.layers, str(filepath))
        if compile and "training_config" in file.attrs:
            _compile_again(model, _json(file.attrs["training_config"]))
            if "optimizer_weights" in file:
                model._make_train_function()
                _restore_optimizer(model.optimizer, _arrays(file["optimizer_weights"]))
    return model


def _restore_optimizer(optimizer: Any, arrays: list[np.ndarray]) -> None:
    """Give the optimizer its state back; one that another Keras wrote may have another form."""
    try:
        optimizer.set_weights(arrays)
    except ValueError as error:
        warn(f"load_model: the optimizer begins afresh; its saved state does not fit ({error})")


def _compile_again(model: Model, config: dict[str, Any]) -> None:
    model.compile(
        optimizer=optimizers.deserialize(config["optimizer_config"]),
        loss=config["loss"],
        metrics=config.get("metrics"),
        loss_weights=config.get("loss_weights"),
        sample_weight_mode=config.get("sample_weight_mode"),
        weighted_metrics=config.get("weighted_metrics"),
    )


def load_weights(
    model: Model, filepath: Any, by_name: bool = False, skip_mismatch: bool = False
) -> None:
    """Read weights into a model: layer by layer in order, or by the layers' names.

    Parameters
    ----------
    model : Model
    filepath : str or Path
        A file of weights, or of a whole model.
    by_name : bool
        Layers that the file does not name keep their weights.
    skip_mismatch : bool
        By name only: leave a layer alone whose weights have other shapes.

    Raises
    ------
    DataError
        The file's weights do not fit the model's. No weight was changed.
    """
    with _h5(filepath, "r") as file:
        group = file.get("model_weights", file)
        if by_name:
            _read_layers_by_name(group, model.layers, str(filepath), skip_mismatch)
        else:
            _read_layers(group, model.layers, str(filepath))


def _read_layers(group: Any, layers: Iterable[Layer], where: str) -> None:
    if "layer_names" not in group.attrs:
        raise ConfigError(
            f"{where!r} holds no weights of layers; expected the attribute 'layer_names'."
        )
    saved = [(name, _arrays(group[name])) for name in _names(group, "layer_names")]
    saved = [(name, arrays) for name, arrays in saved if arrays]
    own = [layer for layer in layers if layer.weights]
    if len(saved) != len(own):
        raise DataError(
            f"{where!r} has weights for {len(saved)} layers; expected {len(own)}: "
            f"{', '.join(layer.name for layer in own)}."
        )
    pairs: list[tuple[Variable, np.ndarray]] = []
    for layer, (name, arrays) in zip(own, saved, strict=True):
        pairs += _paired(layer, arrays, f"{where!r}: layer '{name}'")
    batch_set_value(pairs)


def _read_layers_by_name(
    group: Any, layers: Iterable[Layer], where: str, skip_mismatch: bool
) -> None:
    known = set(_names(group, "layer_names"))
    pairs: list[tuple[Variable, np.ndarray]] = []
    for layer in layers:
        if layer.name not in known or not layer.weights:
            continue
        try:
            pairs += _paired(layer, _arrays(group[layer.name]), f"{where!r}: layer '{layer.name}'")
        except DataError:
            if not skip_mismatch:
                raise
    batch_set_value(pairs)


def _paired(
    layer: Layer, arrays: list[np.ndarray], where: str
) -> list[tuple[Variable, np.ndarray]]:
    shapes, expected = [a.shape for a in arrays], [w.shape for w in layer.weights]
    if shapes != expected:
        raise DataError(
            f"{where} has weights of shapes {shapes}; expected {expected} for {layer.label}."
        )
    return list(zip(layer.weights, arrays, strict=True))


def _names(group: Any, attribute: str) -> list[str]:
    return [n.decode() if isinstance(n, bytes) else str(n) for n in group.attrs[attribute]]


def _arrays(group: Any) -> list[np.ndarray]:
    return [np.asarray(group[name]) for name in _names(group, "weight_names")]


def _json(text: Any) -> Any:
    return json.loads(text.decode() if isinstance(text, bytes) else text)


@contextmanager
def _h5(path: Any, mode: str) -> Any:
    """Open an HDF5 file, with errors that say what is wrong with it."""
    import h5py  # takes as long to import as all of kerascope, and most sessions save nothing

    if mode == "r" and not Path(path).is_file():
        raise UnavailableError(
            f"there is no file {str(path)!r}; expected an HDF5 file that was saved before."
        )
    try:
        file = h5py.File(path, mode)
    except OSError as error:
        if mode == "w":
            raise  # `replacing` knows what the file will be called
        raise ConfigError(f"{str(path)!r} is no whole HDF5 file ({error}).") from None
    with file:
        yield file
