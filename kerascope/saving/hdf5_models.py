"""Whole models and weights in HDF5 files (.h5, .hdf5), in the layout of Keras 2.

A file contains the weights in the group `model_weights`, the configuration as JSON in the attribute
`model_config`, the arguments of `compile` in `training_config`, and the optimizer's state in
`optimizer_weights`. Keras 3 still writes this layout, with its own configuration. The first part of
this module reads and writes the weights of layers, also for files without a model. It matches them
with the layers by order or by name. The second part reads and writes whole models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kerascope import losses, metrics, optimizers
from kerascope.backend.state import batch_set_value
from kerascope.backend.variables import Variable
from kerascope.configurable import plain
from kerascope.engine.base_layer import Layer
from kerascope.errors import ConfigError, DataError, KerascopeError
from kerascope.layers.opaque import FileConfig, Opaque, opaque_layers
from kerascope.limits import Budget, Limits, building
from kerascope.nested_values import dicts_in
from kerascope.registry import did_you_mean
from kerascope.saving import hdf5_files, keras3_compile, opaque_files
from kerascope.saving.configs import fitting_model, is_from_keras_3, model_of
from kerascope.saving.keras3_files import KERAS_3_VERSION, keras_3_config
from kerascope.saving.keras3_table import ACTIVATIONS
from kerascope.saving.keras3_weights import Orders, listed_weights, orders_in
from kerascope.saving.keras3_writing import NoCounterpartError
from kerascope.saving.older_keras import (
    for_keras_2,
    is_from_keras_1,
    preprocess_weights_for_loading,
)
from kerascope.saving.untrusted import read_json
from kerascope.spellings import dialect_options, override_dialect
from kerascope.user_frames import warn

__all__ = [
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "save_weights_to_hdf5_group",
]


# --- weights of layers ----------------------------------------------------------------------------
# Every layer has a group with its name, which contains each weight as an array. The attributes
# `layer_names` and `weight_names` store the order. Reading first collects all arrays and then sets
# all weights at once, so that a file that does not fit changes nothing.


Own = list[Variable]
Arrays = list[np.ndarray]
Pairs = list[tuple[Variable, np.ndarray]]

KERAS_VERSION = "2.2.4"  # the version of Keras with this format
# Our kernels have TensorFlow's layout. Keras 2 with Theano flips the kernels of such files.
BACKEND = b"tensorflow"

# Keras 3 adds this entry, for weights of the model itself, at the end of `layer_names`.
OF_THE_MODEL_ITSELF = "top_level_model_weights"


def layers_of(model: Any) -> list[Layer]:
    """Return the layers of a model in the order of .h5 files.

    If a Sequential begins with a Merge, they include the layers of the merged models.
    """
    return list(getattr(model, "flattened_layers", model.layers))


# --- writing --------------------------------------------------------------------------------------


def layers_to_write(model: Any) -> list[Layer]:
    """Return the layers of a model. Raise if a weight of the model is in none of the layers.

    Raises
    ------
    ConfigError
        A weight belongs to no layer, or two layers have the same name. Weights would be lost.
    """
    layers = layers_of(model)
    names = [layer.name for layer in layers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(
            f"save: {model.label}: expected distinct names of layers, got two layers called "
            f"{twice!r}. Rename one, or save the weights as .weights.h5."
        )
    held = {w for layer in layers for w in layer.weights}
    lost = [w.name for w in model.weights if w not in held]
    if lost:
        raise ConfigError(
            f"save: {model.label}: the weight {lost[0]!r} belongs to no layer, so an .h5 file "
            f"cannot contain it. Save the weights as .weights.h5."
        )
    return layers


def save_weights_to_hdf5_group(f: Any, layers: Iterable[Layer]) -> None:
    """Write the weights of layers to a group.

    Parameters
    ----------
    f : h5py.Group
        An empty group or file.
    layers : iterable of Layer
    """
    write_layers(f, {layer.name: layer.weights for layer in layers}, KERAS_VERSION)


def write_layers(
    group: Any,
    weights: dict[str, list[Variable]],
    version: str,
    kept: opaque_files.KeptFile | None = None,
) -> None:
    """Write the weights of layers, given by layer name, in the layout of the Keras `version`.

    The weights of a model that was loaded with opaque layers get the names that they had in the
    file from which it was loaded; `kept` contains these names.
    """
    is_keras_3 = version == KERAS_3_VERSION
    hdf5_files.save_attributes_to_hdf5_group(
        group, "layer_names", _written_names(weights, is_keras_3)
    )
    group.attrs["backend"] = BACKEND
    group.attrs["keras_version"] = version.encode()
    for name, own in weights.items():
        write_weights(group.create_group(name), own, kept, is_keras_3)


def _written_names(names: Iterable[str], as_texts: bool) -> list[Any]:
    """Return names as texts, as Keras 3 writes names, or as bytes, which Keras 2 requires."""
    return [name if as_texts else name.encode() for name in names]


def write_weights(
    group: Any,
    weights: Iterable[Variable | np.ndarray],
    kept: opaque_files.KeptFile | None = None,
    as_texts: bool = False,
) -> None:
    """Write variables and arrays as members of a group, with distinct names.

    The member for a variable has the variable's name. The member for a plain array has its index.
    """
    names: list[str] = []
    for number, w in enumerate(weights):
        name = f"{w.name}:0" if isinstance(w, Variable) else str(number)
        data = w.room if isinstance(w, Variable) else w
        if kept is not None and isinstance(w, Variable):
            name = kept.names.get(w, name)
            data = hdf5_files.as_bfloat16(data) if w in kept.in_bfloat16 else data
        while name in names:
            name = f"{name}_again"
        names.append(name)
        group.create_dataset(name, data=data)
    hdf5_files.save_attributes_to_hdf5_group(group, "weight_names", _written_names(names, as_texts))


# --- reading --------------------------------------------------------------------------------------


def load_weights_from_hdf5_group(f: Any, layers: Iterable[Layer], reshape: bool = False) -> None:
    """Read weights into layers, matched by order. Layers without weights are skipped.

    Parameters
    ----------
    f : h5py.Group
    layers : iterable of Layer
    reshape : bool
        Accept arrays of another shape with the same number of elements.

    Raises
    ------
    ConfigError
        The group contains no weights of layers.
    DataError
        The weights do not fit. No weight was changed.
    """
    where = _called(f)
    saved = {
        name: (group, names)
        for name, group in _groups_of_layers(f, where).items()
        if (names := _weight_names(group))
    }
    own = [(layer, weights) for layer in layers if (weights := layer.weights)]
    if len(saved) != len(own):
        raise DataError(
            f"{where}: expected {len(own)} layers with weights "
            f"({_shown([layer.name for layer, _ in own])}), got {len(saved)} "
            f"({_shown([*saved])}). To load the layers with equal names, pass by_name=True."
        )
    pairs: Pairs = []
    writer = _writer_of(f)
    for (layer, weights), (name, (group, names)) in zip(own, saved.items(), strict=True):
        arrays = _arrays_for(layer, weights, group, names, where)
        pairs += _paired(writer, layer, weights, arrays, f"{where}: layer '{name}'", reshape)
    batch_set_value(pairs)


def load_weights_from_hdf5_group_by_name(
    f: Any, layers: Iterable[Layer], skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Read weights into layers, matched by name. Layers that are not in the file are not changed.

    Parameters
    ----------
    f : h5py.Group
    layers : iterable of Layer
    skip_mismatch : bool
        Skip layers whose weights have other shapes, with a warning.
    reshape : bool
        Accept arrays of another shape with the same number of elements.

    Raises
    ------
    DataError
        Some weights do not fit. No weight was changed.
    """
    where = _called(f)
    known = _groups_of_layers(f, where)
    own = [layer for layer in layers if layer.weights]
    pairs: Pairs = []
    writer = _writer_of(f)
    for layer in own:
        if layer.name not in known:
            continue
        weights, group = layer.weights, known[layer.name]
        arrays = _arrays_for(layer, weights, group, _weight_names(group), where)
        if skip_mismatch and not arrays:
            continue
        try:
            words = f"{where}: layer '{layer.name}'"
            pairs += _paired(writer, layer, weights, arrays, words, reshape)
        except DataError as error:
            if not skip_mismatch:
                raise
            warn(f"skipped: {error}")
    if own and not set(known) & {layer.name for layer in own}:
        hint = did_you_mean(own[0].name, known)
        warn(f"{where}: no layer of the model has a name of the file: {_shown([*known])}. {hint}")
    batch_set_value(pairs)


def in_order_of(group: Any, layers: list[Layer]) -> list[Layer]:
    """Return layers in the file's order; unchanged if the file lacks a layer with weights."""
    names = hdf5_files.load_attributes_from_hdf5_group(group, "layer_names")
    places = {name: place for place, name in enumerate(names)}
    if all(layer.name in places or not layer.weights for layer in layers):
        return sorted(layers, key=lambda layer: places.get(layer.name, 0))
    return layers


def _called(group: Any) -> str:
    name = group.file.filename
    return repr(name.decode() if isinstance(name, bytes) else str(name))


def _groups_of_layers(group: Any, where: str) -> dict[str, Any]:
    """Return the HDF5 group of each layer, by the name of the layer, in the order of the file."""
    if not hdf5_files.has_attribute(group, "layer_names"):
        raise ConfigError(
            f"{where} contains no weights of layers. Expected an attribute layer_names."
        )
    found: dict[str, Any] = {}
    for name in hdf5_files.load_attributes_from_hdf5_group(group, "layer_names"):
        found[name] = hdf5_files.group_of(group, name)
        if found[name] is None:
            raise DataError(f"{where}: has no group for its layer '{name}'.")
    itself = hdf5_files.group_of(group, OF_THE_MODEL_ITSELF)
    if itself is not None and _weight_names(itself):
        found.setdefault(OF_THE_MODEL_ITSELF, itself)
    return found


def _weight_names(group: Any) -> list[str]:
    return hdf5_files.load_attributes_from_hdf5_group(group, "weight_names")


def arrays_of(group: Any, where: str) -> list[np.ndarray]:
    """Return the arrays of a group in the order of its `weight_names`."""
    return _arrays_called(_weight_names(group), group, where)


def _arrays_called(names: list[str], group: Any, where: str) -> list[np.ndarray]:
    return [hdf5_files.array_of(group, name, None, where) for name in names]


def _arrays_for(layer: Layer, own: Own, group: Any, names: list[str], where: str) -> Arrays:
    """Return the arrays of a group in the order of a layer's weights.

    A nested model lists its trainable weights first, so the order depends on which layers were
    frozen when the file was written. If the names in the file agree with those of the layer's
    weights, the arrays are matched by name. Otherwise they are matched by order, as in Keras.

    Warns
    -----
    KerascopeWarning
        The arrays were reordered by name, but they would also fit in the order of the file.
    """
    arrays = _arrays_called(names, group, where)
    order = _order_by_name(names, [w.name for w in own])
    if order != sorted(order) and [a.shape for a in arrays] == [w.shape for w in own]:
        warn(
            f"{where}: the weights of {layer.label} were matched by name. Keras goes by their "
            "order in the file, which is different and also fits. If the layers were created in "
            "another order than before, their automatic names are exchanged. Give them names."
        )
    return [arrays[place] for place in order]


def _order_by_name(saved: list[str], own: list[str]) -> list[int]:
    """Return the index in `saved` of each name in `own`. If the names differ, return 0, 1, 2, ...

    Keras 2 writes ":0" after each name. Keras 3 writes the name of the nested model before each
    name. So if the whole names differ, their last two words (layer and weight) are compared.
    """
    for words in (0, 2):  # 0 means all words
        places = {_last_words(name, words): place for place, name in enumerate(saved)}
        wanted = [_last_words(name, words) for name in own]
        if len(places) == len(saved) == len(own) and places.keys() == set(wanted):
            return [places[name] for name in wanted]
    return list(range(len(saved)))


def _last_words(name: str, count: int) -> str:
    return "/".join(name.removesuffix(":0").split("/")[-count:])


def _paired(
    writer: list[str | None], layer: Layer, own: Own, arrays: Arrays, where: str, reshape: bool
) -> Pairs:
    version, backend = writer
    expected = [w.shape for w in own]
    is_old = not version or version.startswith("1") or backend == "theano"
    if is_old or [a.shape for a in arrays] != expected:
        arrays = preprocess_weights_for_loading(layer, arrays, version or "1", backend, reshape)
    shapes = [a.shape for a in arrays]
    if shapes != expected:
        raise DataError(
            f"{where}: expected weights of shapes {expected} for {layer.label}, got {shapes}."
        )
    return list(zip(own, arrays, strict=True))


def _writer_of(group: Any) -> list[str | None]:
    """Return the version of Keras that wrote an HDF5 group, and its backend; None if not stored."""
    return [_text(group.attrs.get(name)) for name in ("keras_version", "backend")]


def _text(value: Any) -> str | None:
    return value.decode() if isinstance(value, bytes) else value


def _shown(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown


# --- whole models ---------------------------------------------------------------------------------


Config = dict[str, Any]

# --- writing --------------------------------------------------------------------------------------


class _Content(NamedTuple):
    """The contents of a new .h5 file, in the format of the Keras version that `version` names."""

    version: str
    config: Config
    training: Config | None
    layers: dict[str, list[Variable]]
    state: Sequence[Variable | np.ndarray]


def save_hdf5_model(model: Any, filepath: Any, overwrite: bool, include_optimizer: bool) -> None:
    """Write a whole model to a .h5 file. In dialect "3", write it so that Keras 3 can read it."""
    content = _content(model, include_optimizer and model.total_loss is not None)
    kept = opaque_files.kept_file(model, "hdf5") or opaque_files.KeptFile(
        {}, None, opaque_files.Rest()
    )
    config = json.dumps(kept.restored(content.config))
    training = kept.training or None if content.training is None else json.dumps(content.training)
    with hdf5_files.filling_hdf5(filepath, overwrite) as file:
        file.attrs["keras_version"] = content.version.encode()
        file.attrs["backend"] = BACKEND
        file.attrs["model_config"] = config.encode()
        group = file.create_group("model_weights")
        write_layers(group, content.layers, content.version, kept)
        if training is not None:
            file.attrs["training_config"] = training.encode()
        is_keras_3 = content.version == KERAS_3_VERSION
        if training is not None and content.state:
            group = file.create_group("optimizer_weights")
            write_weights(group, content.state, as_texts=is_keras_3)
        elif content.training is None:
            for path, array in kept.rest.arrays.items():
                file.create_dataset(path, data=array)
            for path, attributes in kept.rest.attributes.items():
                file.require_group(path).attrs.update(attributes)


def save_hdf5_weights(model: Any, filepath: Any, overwrite: bool) -> None:
    """Write the weights of a model, without its configuration, to an HDF5 file."""
    is_of_keras_3 = dialect_options().hdf5_of_keras_3
    layers = _listed(model) if is_of_keras_3 else _weights(model)
    version = KERAS_3_VERSION if is_of_keras_3 else KERAS_VERSION
    with hdf5_files.filling_hdf5(filepath, overwrite) as file:
        write_layers(file, layers, version)


def _listed(model: Any) -> dict[str, list[Variable]]:
    return {layer.name: listed_weights(layer) for layer in layers_to_write(model)}


def _weights(model: Any) -> dict[str, list[Variable]]:
    return {layer.name: layer.weights for layer in layers_to_write(model)}


def written_config(model: Any) -> tuple[str, Config]:
    """Return the version of Keras for a new file, and a model's configuration in its format.

    The format of Keras 3 is used if the model or the dialect requires it, and if it can express the
    whole model. Otherwise the format is that of Keras 2.
    """
    config = {"class_name": type(model).__name__, "config": model.get_config()}
    has_its_parts = _has_words_of_keras_3(config) or _is_opaque_3(config)
    is_wanted = has_its_parts or dialect_options().hdf5_of_keras_3
    if is_wanted and not _calls_with_training(config):
        try:
            return KERAS_3_VERSION, keras_3_config(model)
        except NoCounterpartError:
            pass  # then only kerascope can read it
    return KERAS_VERSION, for_keras_2(config)


def _content(model: Any, is_trained: bool) -> _Content:
    version, config = written_config(model)
    if version == KERAS_3_VERSION:
        try:
            return _content_of_keras_3(model, config, is_trained)
        except NoCounterpartError:
            config = {"class_name": type(model).__name__, "config": model.get_config()}
            config = for_keras_2(config)
    training = training_config(model) if is_trained else None
    variables = model.optimizer.weights if is_trained else []  # this can build the function
    state = [] if model.train_function is None else variables
    return _Content(KERAS_VERSION, config, training, _weights(model), state)


def _content_of_keras_3(model: Any, config: Config, is_trained: bool) -> _Content:
    training, state = None, []
    if is_trained:
        training = keras3_compile.compile_to_keras_3(model)
        training["optimizer_config"] = training.pop("optimizer")
        state = keras3_compile.state_to_keras_3(model)
    return _Content(KERAS_3_VERSION, config, training, _listed(model), state)


def _has_words_of_keras_3(value: Any, key: str = "") -> bool:
    """Return whether a configuration has an activation with a name that only Keras 3 has."""
    if isinstance(value, dict):
        return any(_has_words_of_keras_3(item, name) for name, item in value.items())
    if isinstance(value, list):
        return any(_has_words_of_keras_3(item, key) for item in value)
    return key.endswith("activation") and isinstance(ACTIVATIONS.get(value), str)


def _is_opaque_3(value: Any) -> bool:
    """Return whether a configuration contains an opaque layer from a file of Keras 3."""
    return any(isinstance(one, FileConfig) and "module" in one.entry for one in dicts_in(value))


def _calls_with_training(value: Any) -> bool:
    """Return whether a call of a layer has a fixed `training`, which Keras 3 does not save."""
    return any(one.get("training") is not None for one in dicts_in(value))


def training_config(model: Any) -> dict[str, Any]:
    """Return the arguments of `compile` as data for JSON.

    Raises
    ------
    ConfigError
        A loss or metric has no name.
    """
    return {
        "optimizer_config": optimizers.serialize(model.optimizer),
        "loss": keras3_compile.each_of(model.loss, partial(_named, losses)),
        "metrics": keras3_compile.each_of(model.metrics, partial(_named, metrics)),
        "weighted_metrics": keras3_compile.each_of(
            model.weighted_metrics, partial(_named, metrics)
        ),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": plain(model.loss_weights),
    }


def _named(home: Any, value: Any) -> Any:
    return value if isinstance(value, (str, dict)) else home.serialize(value)


# --- reading --------------------------------------------------------------------------------------


def load_hdf5_model(
    filepath: Any, compile: bool, safe_mode: bool, limits: Limits | None, opaque: bool = False
) -> Any:
    """Read a whole model; see `saving_api.load_model`."""
    where = hdf5_files.name_of(filepath)
    with hdf5_files.reading_hdf5(filepath, where) as file:
        if "model_config" not in file.attrs:
            raise ConfigError(
                f"{where} contains only weights, no model configuration. Build the model first, "
                f"then read the weights with model.load_weights({where})."
            )
        config = read_json(file.attrs["model_config"], where, limits)
        if "model_weights" not in file:
            raise ConfigError(f"{where} contains no weights. Expected a group 'model_weights'.")
        group = file["model_weights"]
        with building(Budget(limits, where, in_file=lambda: hdf5_files.numbers_in(group))):
            if opaque:
                return _opened(file, config, where, safe_mode, compile, limits)
            model = model_of(config, where, safe_mode=safe_mode)
            load_weights_from_hdf5_group(group, in_order_of(group, layers_of(model)))
            if compile and "training_config" in file.attrs:
                _compile_again(model, file, where, *_training_of(file, config, where, limits))
    return model


def _opened(
    file: Any, config: Config, where: str, safe_mode: bool, compile: bool, limits: Limits | None
) -> Any:
    """Make the model in a file, with opaque layers in place of unknown ones.

    If all layers are known, the model is compiled as in the file.
    """
    group = file["model_weights"]
    model, (pairs, names) = fitting_model(
        config, where, safe_mode, lambda model: _filled(group, model, where)
    )
    batch_set_value(pairs)
    if compile and "training_config" in file.attrs and not opaque_layers(model):
        training = _training_of(file, config, where, limits)
        try:
            _compile_again(model, file, where, *training)
        except KerascopeError as error:
            warn(f"{where}: the model is not compiled: {error}")
    written = None if is_from_keras_1(config) else written_config(model)[1]
    saved = file.attrs.get("training_config", "")
    model._kept_file = opaque_files.KeptFile(
        config,
        written,
        opaque_files.rest_of(file, "optimizer_weights"),
        training=saved.decode() if isinstance(saved, bytes) else str(saved),
        names=names,
        in_bfloat16={
            layer.placed_weights()[place]
            for layer in opaque_layers(model)
            for place in layer.in_bfloat16
        },
        form="hdf5",
    )
    return model


def _filled(
    group: Any, model: Any, where: str
) -> tuple[tuple[Pairs, dict[Variable, str]], dict[str, str]]:
    """Set the weights of opaque layers from a file, and read the weights of all other layers.

    Return ((pairs, names), misfits): the pairs of weight and array for the other layers, the names
    of all weights in the file, and the reasons why weights do not fit, by the name of the layer.
    """
    pairs: Pairs = []
    names: dict[Variable, str] = {}
    misfits: dict[str, str] = {}
    known = _groups_of_layers(group, where)
    writer = _writer_of(group)
    if isinstance(model, Opaque) and not model.held:
        model.add_inner_layers(
            {
                name: opaque_files.part_of(model, name)
                for name, inside in known.items()
                if _weight_names(inside)
            }
        )
    for layer in layers_of(model):
        if layer.name not in known:
            continue
        own, inside = layer.weights, known[layer.name]
        found = _weight_names(inside)
        hidden = opaque_layers(layer)
        try:
            if hidden:
                arrays = dict(zip(found, _arrays_called(found, inside, where), strict=True))
                halves = {name for name in found if inside[name].dtype.kind == "V"}
                known_names = opaque_files.distribute_arrays(layer, hidden, arrays, halves)
                pairs += [(w, arrays[name]) for w, name in known_names.items()]
                names.update(known_names)
                names.update(
                    (w, name) for one in hidden for name, w in one.placed_weights().items()
                )
                continue
            arrays_in_order = _arrays_for(layer, own, inside, found, where)
            order = _order_by_name(found, [w.name for w in own])
            words = f"{where}: layer '{layer.name}'"
            pairs += _paired(writer, layer, own, arrays_in_order, words, False)
            names.update(zip(own, (found[place] for place in order), strict=True))
        except (DataError, ValueError) as error:
            misfits[layer.name] = str(error).removeprefix(f"{where}: ").rstrip(".")
    return (pairs, names), misfits


def _training_of(
    file: Any, config: Config, where: str, limits: Limits | None
) -> tuple[Any, Orders | None]:
    """Return the arguments of `compile` in a file, and the order of layers in its model.

    The order is None for files of Keras 1 and 2.
    """
    training = read_json(file.attrs["training_config"], where, limits)
    return training, orders_in(config) if is_from_keras_3(config) else None


def _compile_again(model: Any, file: Any, where: str, training: Any, orders: Orders | None) -> None:
    """Compile a model as in the file, and restore the state of the optimizer."""
    if orders is not None:
        keras3_compile.compile_from_keras_3(model, training, where)
    else:
        _compile_from_keras_2(model, training)
    if "optimizer_weights" not in file or not model.outputs:
        return
    arrays = arrays_of(file["optimizer_weights"], where)
    if orders is not None:
        keras3_compile.state_from_keras_3(model, arrays, where, orders)
        return

    def set_slots() -> bool:
        try:
            model.optimizer.set_weights(arrays)
        except ValueError:
            return False
        return True

    counts = [a for a in arrays[:1] if a.shape == ()]
    steps = zip([model.optimizer.iterations], counts, strict=False)
    keras3_compile.restore_when_trained(model, where, steps, set_slots)


def _compile_from_keras_2(model: Any, training: dict[str, Any]) -> None:
    with override_dialect(defaults={}, optimizer_flavour="2"):
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
    with hdf5_files.reading_hdf5(filepath, hdf5_files.name_of(filepath)) as file:
        group = file.get("model_weights", file)
        if by_name:
            load_weights_from_hdf5_group_by_name(group, layers_of(model), skip_mismatch, reshape)
        else:
            load_weights_from_hdf5_group(group, layers_of(model), reshape)
