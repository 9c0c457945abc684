"""The weights of layers in an HDF5 group, laid out as Keras 2 does.

Every layer has a group of its name, in which each weight is an array; the attributes `layer_names`
and `weight_names` keep the order. Reading collects everything first and then sets all weights at
once, so a file that does not fit changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kerascope.backend.graph import Variable
from kerascope.backend.state import batch_set_value
from kerascope.callers import warn
from kerascope.engine.base_layer import Layer
from kerascope.engine.saving import KERAS_VERSION
from kerascope.errors import ConfigError, DataError
from kerascope.registry import did_you_mean
from kerascope.saving.hdf5_attributes import (
    has_attribute,
    load_attributes_from_hdf5_group,
    save_attributes_to_hdf5_group,
)
from kerascope.saving.hdf5_files import array_of
from kerascope.saving.old_weights import preprocess_weights_for_loading

__all__ = [
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "save_weights_to_hdf5_group",
]

Pairs = list[tuple[Variable, np.ndarray]]

# Keras 3 adds this entry, for weights of the model itself, at the end of `layer_names`.
OF_THE_MODEL_ITSELF = "top_level_model_weights"


def layers_of(model: Any) -> list[Layer]:
    """Return the layers of a model in the order of its files, those of a first Merge too."""
    return list(getattr(model, "flattened_layers", model.layers))


# --- writing --------------------------------------------------------------------------------------


def layers_to_write(model: Any) -> list[Layer]:
    """Return the layers of a model, which together have all its weights.

    Raises
    ------
    ConfigError
        A weight belongs to no layer, or two layers have the same name: it would be lost.
    """
    layers = layers_of(model)
    names = [layer.name for layer in layers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(
            f"save: {model.label} has two layers called {twice!r}; expected distinct names, by "
            f"which an .h5 file tells them apart. Save the weights as .weights.h5."
        )
    held = {w for layer in layers for w in layer.weights}
    lost = [w.name for w in model.weights if w not in held]
    if lost:
        raise ConfigError(
            f"save: {model.label} has weights that belong to none of its layers, {lost[0]!r} among "
            f"them; an .h5 file holds those of layers. Save the weights as .weights.h5."
        )
    return layers


def save_weights_to_hdf5_group(f: Any, layers: Iterable[Layer]) -> None:
    """Write the weights of layers.

    Parameters
    ----------
    f : h5py.Group
        Empty, or the file itself.
    layers : iterable of Layer
    """
    write_layers(f, {layer.name: layer.weights for layer in layers}, KERAS_VERSION)


def write_layers(group: Any, weights: dict[str, list[Variable]], version: str) -> None:
    """Write the weights of layers by their names, as a version of Keras orders them."""
    save_attributes_to_hdf5_group(group, "layer_names", list(weights))
    group.attrs["backend"] = b"kerascope"
    group.attrs["keras_version"] = version.encode()
    for name, own in weights.items():
        write_weights(group.create_group(name), own)


def write_weights(group: Any, weights: Iterable[Variable | np.ndarray]) -> None:
    """Write variables as arrays of a group, under their own names where these are distinct.

    Arrays that are no variables are called by their number.
    """
    names: list[str] = []
    for number, w in enumerate(weights):
        name = f"{w.name}:0" if isinstance(w, Variable) else str(number)
        while name in names:
            name = f"{name}_again"
        names.append(name)
        group.create_dataset(name, data=w.room if isinstance(w, Variable) else w)
    save_attributes_to_hdf5_group(group, "weight_names", names)


# --- reading --------------------------------------------------------------------------------------


def load_weights_from_hdf5_group(f: Any, layers: Iterable[Layer], reshape: bool = False) -> None:
    """Read weights into layers, in order; layers without weights do not count.

    Parameters
    ----------
    f : h5py.Group
    layers : iterable of Layer
    reshape : bool
        Take an array of another shape too, if it has as many numbers.

    Raises
    ------
    ConfigError
        There are no weights of layers.
    DataError
        They do not fit. No weight was changed.
    """
    where = _called(f)
    saved = [name for name in _layer_names(f, where) if _weight_names(f[name])]
    own = [layer for layer in layers if layer.weights]
    if len(saved) != len(own):
        raise DataError(
            f"{where} has weights for {len(saved)} layers ({_shown(saved)}); "
            f"expected {len(own)}: {_shown([layer.name for layer in own])}. by_name=True takes "
            f"those whose names agree."
        )
    pairs: Pairs = []
    for layer, name in zip(own, saved, strict=True):
        arrays = _arrays_for(layer, f[name], where)
        pairs += _paired(f, layer, arrays, f"{where}: layer '{name}'", reshape)
    batch_set_value(pairs)


def load_weights_from_hdf5_group_by_name(
    f: Any, layers: Iterable[Layer], skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Read weights into the layers that the file names; the others keep theirs.

    Parameters
    ----------
    f : h5py.Group
    layers : iterable of Layer
    skip_mismatch : bool
        Leave a layer alone, with a warning, whose weights have other shapes.
    reshape : bool
        Take an array of another shape too, if it has as many numbers.

    Raises
    ------
    DataError
        Weights do not fit. No weight was changed.
    """
    where = _called(f)
    known = _layer_names(f, where)
    own = [layer for layer in layers if layer.weights]
    pairs: Pairs = []
    for layer in own:
        if layer.name not in known:
            continue
        arrays = _arrays_for(layer, f[layer.name], where)
        if skip_mismatch and not arrays:
            continue
        try:
            pairs += _paired(f, layer, arrays, f"{where}: layer '{layer.name}'", reshape)
        except DataError as error:
            if not skip_mismatch:
                raise
            warn(f"skipped: {error}")
    if own and not set(known) & {layer.name for layer in own}:
        hint = did_you_mean(own[0].name, known)
        warn(f"{where}: no layer of the model has a name of the file: {_shown(known)}. {hint}")
    batch_set_value(pairs)


def in_order_of(group: Any, layers: list[Layer]) -> list[Layer]:
    """Return layers in the order of the file that also said how to make them, by their names."""
    places = {name: place for place, name in enumerate(_layer_names(group, _called(group)))}
    own = [layer for layer in layers if layer.weights]
    if {layer.name for layer in own} <= places.keys():
        return sorted(own, key=lambda layer: places[layer.name])
    return layers


def _called(group: Any) -> str:
    name = group.file.filename
    return repr(name.decode() if isinstance(name, bytes) else str(name))


def _layer_names(group: Any, where: str) -> list[str]:
    if not has_attribute(group, "layer_names"):
        raise ConfigError(f"{where} holds no weights of layers; expected the attribute layer_names")
    names = load_attributes_from_hdf5_group(group, "layer_names")
    for name in names:
        if name not in group or not hasattr(group[name], "keys"):
            raise DataError(f"{where}: has no group for its layer '{name}'.")
    itself = OF_THE_MODEL_ITSELF
    if itself in group and itself not in names and _weight_names(group[itself]):
        names.append(itself)
    return names


def _weight_names(group: Any) -> list[str]:
    return load_attributes_from_hdf5_group(group, "weight_names")


def arrays_of(group: Any, where: str) -> list[np.ndarray]:
    """Return the arrays of a group in the order of its `weight_names`."""
    return [array_of(group, name, None, where) for name in _weight_names(group)]


def _arrays_for(layer: Layer, group: Any, where: str) -> list[np.ndarray]:
    """Return the arrays of a group in the order in which a layer has its weights.

    A nested model lists its trainable weights first, so their order depends on which layers were
    frozen when the file was written. If the file has the names of the layer's own weights, they
    tell which is which; else their order counts, as it always does in Keras.

    Warns
    -----
    KerascopeWarning
        The names say another order, and the arrays would fit in the file's order as well.
    """
    arrays = arrays_of(group, where)
    own = layer.weights
    order = _order_by_name(_weight_names(group), [w.name for w in own])
    if order != sorted(order) and [a.shape for a in arrays] == [w.shape for w in own]:
        warn(
            f"{where}: the weights of {layer.label} were matched by name, and the order in the "
            "file is another, which fits as well and is what Keras goes by. If its layers are "
            "made in another order than when the file was written, their automatic names are "
            "exchanged: give them names."
        )
    return [arrays[place] for place in order]


def _order_by_name(saved: list[str], own: list[str]) -> list[int]:
    """Return the place in `saved` of each of a layer's own names; as they stand if names differ.

    Keras 2 writes ":0" after each name. Keras 3 does not, and writes the nested model's name before
    it: so the last two words, layer and weight, are enough if they tell all weights apart.
    """
    for words in (0, 2):  # 0: all of them
        places = {_last_words(name, words): place for place, name in enumerate(saved)}
        wanted = [_last_words(name, words) for name in own]
        if len(places) == len(saved) == len(own) and places.keys() == set(wanted):
            return [places[name] for name in wanted]
    return list(range(len(saved)))


def _last_words(name: str, count: int) -> str:
    return "/".join(name.removesuffix(":0").split("/")[-count:])


def _paired(group: Any, layer: Layer, arrays: list[np.ndarray], where: str, reshape: bool) -> Pairs:
    version, backend = (_text(group.attrs.get(name)) for name in ("keras_version", "backend"))
    own = layer.weights
    expected = [w.shape for w in own]
    is_old = not version or version.startswith("1") or backend == "theano"
    if is_old or [a.shape for a in arrays] != expected:
        arrays = preprocess_weights_for_loading(layer, arrays, version or "1", backend, reshape)
    shapes = [a.shape for a in arrays]
    if shapes != expected:
        raise DataError(
            f"{where} has weights of shapes {shapes}; expected {expected} for {layer.label}."
        )
    return list(zip(own, arrays, strict=True))


def _text(value: Any) -> str | None:
    return value.decode() if isinstance(value, bytes) else value


def _shown(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return f"{shown}, ..." if len(names) > 12 else shown
