"""Whole models and weights in HDF5 files (.h5, .hdf5), laid out as Keras 2 does.

The file has the weights under `model_weights`, the configuration as JSON in the attribute
`model_config`, and what `compile` was told in `training_config`, with the optimizer's state in
`optimizer_weights`. Keras 3 still writes this layout, with its own configuration inside.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope import losses, metrics, optimizers
from kerascope.backend.graph import Variable
from kerascope.callers import warn
from kerascope.configured import plain
from kerascope.engine.saving import KERAS_VERSION
from kerascope.errors import ConfigError
from kerascope.files import replacing
from kerascope.limits import Budget, Limits, building
from kerascope.saving.configs import is_from_keras_3, model_of
from kerascope.saving.hdf5_files import reading_hdf5, writing_hdf5
from kerascope.saving.hdf5_weights import (
    arrays_of,
    in_order_of,
    layers_of,
    layers_to_write,
    load_weights_from_hdf5_group,
    load_weights_from_hdf5_group_by_name,
    write_layers,
    write_weights,
)
from kerascope.saving.keras3_compile import compile_from_keras_3, compile_to_keras_3
from kerascope.saving.keras3_files import KERAS_3_VERSION, keras_3_config
from kerascope.saving.keras3_names import orders_in
from kerascope.saving.keras3_optimizers import state_from_keras_3, state_to_keras_3
from kerascope.saving.keras3_table import ACTIVATIONS
from kerascope.saving.keras3_weights import Orders, listed_weights
from kerascope.saving.keras3_writing import NoCounterpartError
from kerascope.saving.safe_json import read_json
from kerascope.spellings import changed_habits, habits

Config = dict[str, Any]

# --- writing --------------------------------------------------------------------------------------


class _Content(NamedTuple):
    """What stands in a file, in the words of Keras 2 or 3."""

    version: str
    config: Config
    training: Config | None
    layers: dict[str, list[Variable]]
    state: Sequence[Variable | np.ndarray]


def save_hdf5_model(model: Any, filepath: Any, overwrite: bool, include_optimizer: bool) -> None:
    """Write a whole model, in dialect "3" so that Keras 3 can read it."""
    content = _content(model, include_optimizer and model.total_loss is not None)
    config = json.dumps(content.config)
    training = None if content.training is None else json.dumps(content.training)
    with replacing(filepath, overwrite=overwrite) as unfinished, writing_hdf5(unfinished) as file:
        file.attrs["keras_version"] = content.version.encode()
        file.attrs["backend"] = b"kerascope"
        file.attrs["model_config"] = config.encode()
        write_layers(file.create_group("model_weights"), content.layers, content.version)
        if training is not None:
            file.attrs["training_config"] = training.encode()
        if training is not None and content.state:
            write_weights(file.create_group("optimizer_weights"), content.state)


def save_hdf5_weights(model: Any, filepath: Any, overwrite: bool) -> None:
    """Write the weights alone."""
    is_of_keras_3 = habits().hdf5_of_keras_3
    layers = _listed(model) if is_of_keras_3 else _weights(model)
    version = KERAS_3_VERSION if is_of_keras_3 else KERAS_VERSION
    with replacing(filepath, overwrite=overwrite) as unfinished, writing_hdf5(unfinished) as file:
        write_layers(file, layers, version)


def _listed(model: Any) -> dict[str, list[Variable]]:
    return {layer.name: listed_weights(layer) for layer in layers_to_write(model)}


def _weights(model: Any) -> dict[str, list[Variable]]:
    return {layer.name: layer.weights for layer in layers_to_write(model)}


def written_config(model: Any) -> tuple[str, Config]:
    """Return a model's configuration for .h5 and JSON, and the version of Keras whose form it has.

    It is Keras 3's where that is wanted and can say it all.
    """
    config = {"class_name": type(model).__name__, "config": model.get_config()}
    is_wanted = habits().hdf5_of_keras_3 or _has_words_of_keras_3(config)
    if is_wanted and not _calls_with_training(config):
        try:
            return KERAS_3_VERSION, keras_3_config(model)
        except NoCounterpartError:
            pass  # then nobody but us can read it
    return KERAS_VERSION, config


def _content(model: Any, is_trained: bool) -> _Content:
    version, config = written_config(model)
    if version == KERAS_3_VERSION:
        try:
            return _content_of_keras_3(model, config, is_trained)
        except NoCounterpartError:
            config = {"class_name": type(model).__name__, "config": model.get_config()}
    training = training_config(model) if is_trained else None
    has_state = is_trained and model.train_function is not None
    state = model.optimizer.weights if has_state else []
    return _Content(KERAS_VERSION, config, training, _weights(model), state)


def _content_of_keras_3(model: Any, config: Config, is_trained: bool) -> _Content:
    training, state = None, []
    if is_trained:
        training = compile_to_keras_3(model)
        training["optimizer_config"] = training.pop("optimizer")
        state = state_to_keras_3(model)
    return _Content(KERAS_3_VERSION, config, training, _listed(model), state)


def _has_words_of_keras_3(value: Any, key: str = "") -> bool:
    """Tell whether a configuration names an activation that only Keras 3 has a name for."""
    if isinstance(value, dict):
        return any(_has_words_of_keras_3(item, name) for name, item in value.items())
    if isinstance(value, list):
        return any(_has_words_of_keras_3(item, key) for item in value)
    return key.endswith("activation") and isinstance(ACTIVATIONS.get(value), str)


def _calls_with_training(value: Any) -> bool:
    """Tell whether a layer is called with training=True or False, which Keras 3 does not keep."""
    if isinstance(value, dict):
        return value.get("training") is not None or any(map(_calls_with_training, value.values()))
    return isinstance(value, list) and any(map(_calls_with_training, value))


def training_config(model: Any) -> dict[str, Any]:
    """Return what `compile` was told, ready for JSON.

    Raises
    ------
    ConfigError
        A loss or metric has no name.
    """
    return {
        "optimizer_config": optimizers.serialize(model.optimizer),
        "loss": named(model.loss, losses.serialize),
        "metrics": named(model.metrics, metrics.serialize),
        "weighted_metrics": named(model.weighted_metrics, metrics.serialize),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": plain(model.loss_weights),
    }


def named(value: Any, serialize: Any) -> Any:
    """Return losses or metrics, in lists and dicts too, by their names."""
    if isinstance(value, dict) and "class_name" not in value:
        return {key: named(one, serialize) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [named(one, serialize) for one in value]
    return value if value is None or isinstance(value, (str, dict)) else serialize(value)


# --- reading --------------------------------------------------------------------------------------


def load_hdf5_model(filepath: Any, compile: bool, safe_mode: bool, limits: Limits | None) -> Any:
    """Read a whole model; `doors.load_model` says what can go wrong."""
    where = repr(str(filepath))
    with reading_hdf5(filepath, where) as file:
        if "model_config" not in file.attrs:
            raise ConfigError(
                f"{where} holds no configuration of a model: it is a file of weights alone. Build "
                f"the model first, then read it by model.load_weights({where})."
            )
        config = read_json(file.attrs["model_config"], where, limits)
        if "model_weights" not in file:
            raise ConfigError(f"{where} holds no weights; expected the group 'model_weights'.")
        group = file["model_weights"]
        with building(Budget(limits, where, in_file=_count(group))):
            model = model_of(config, where, safe_mode=safe_mode)
            load_weights_from_hdf5_group(group, in_order_of(group, layers_of(model)))
            if compile and "training_config" in file.attrs:
                training = read_json(file.attrs["training_config"], where, limits)
                orders = orders_in(config) if is_from_keras_3(config) else None
                _compile_again(model, training, file, where, orders)
    return model


def _count(group: Any) -> int:
    """Return how many numbers there are in the arrays of a group."""
    sizes: list[int] = []
    group.visititems(lambda name, item: sizes.append(getattr(item, "size", 0)))
    return sum(sizes)


def _compile_again(model: Any, training: Any, file: Any, where: str, orders: Orders | None) -> None:
    """Compile a model; `orders` are None if Keras 1 or 2 wrote the file."""
    if orders is not None:
        compile_from_keras_3(model, training, where)
    else:
        _compile_from_keras_2(model, training)
    if "optimizer_weights" not in file or not model.outputs:
        return
    model._make_train_function()
    arrays = arrays_of(file["optimizer_weights"], where)
    if orders is not None:
        state_from_keras_3(model, arrays, where, orders)
        return
    try:
        model.optimizer.set_weights(arrays)
    except ValueError as error:
        warn(f"load_model: the optimizer begins afresh; its saved state does not fit ({error})")


def _compile_from_keras_2(model: Any, training: dict[str, Any]) -> None:
    with changed_habits(defaults={}, optimizer_flavour="2"):
        optimizer = optimizers.deserialize(training["optimizer_config"])
    model.compile(
        optimizer=optimizer,
        loss=training["loss"],
        metrics=training.get("metrics"),
        loss_weights=training.get("loss_weights"),
        sample_weight_mode=training.get("sample_weight_mode"),
        weighted_metrics=training.get("weighted_metrics"),
    )


def load_hdf5_weights(
    model: Any, filepath: Any, by_name: bool, skip_mismatch: bool, reshape: bool
) -> None:
    """Read weights from a file of weights, or of a whole model, in Keras 2's layout."""
    with reading_hdf5(filepath, repr(str(filepath))) as file:
        group = file.get("model_weights", file)
        if by_name:
            load_weights_from_hdf5_group_by_name(group, layers_of(model), skip_mismatch, reshape)
        else:
            load_weights_from_hdf5_group(group, layers_of(model), reshape)
