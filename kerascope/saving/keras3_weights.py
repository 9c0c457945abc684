"""Weights in Keras 3's layout: folders that correspond to the nesting of layers.

Every layer has a folder `vars` with its own numbered weights, and a folder for each inner layer
with the name of its attribute: `cell`, `forward_layer`. For layers in a list, such as the `layers`
of a model, the folder is named after the class with a count: `dense`, `dense_1`. It does not
contain the name of the layer. So a model's layers must be sorted as Keras 3 sorts them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.variables import Variable
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.network import Network
from kerascope.engine.sequential import Sequential
from kerascope.errors import DataError
from kerascope.layers.opaque import Opaque
from kerascope.layers.ops.operation import Operation
from kerascope.nested_values import dicts_in
from kerascope.saving.hdf5_files import array_of, as_bfloat16, group_of
from kerascope.saving.keras3_table import FOLDERS, NAMES_OF_FOLDERS
from kerascope.user_frames import warn

# --- names of folders -----------------------------------------------------------------------------


def folder_name(class_name: str) -> str:
    """Convert the name of a class to lower case with underscores, as Keras 3 does.

    Examples
    --------
    >>> [folder_name(name) for name in ("Conv2D", "PReLU", "BatchNormalization", "LSTM")]
    ['conv2d', 'p_re_lu', 'batch_normalization', 'lstm']
    """
    name = re.sub(r"\W+", "", class_name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def folder_names(class_names: Sequence[str]) -> list[str]:
    """Return a distinct folder name for each layer of a list, from the names of their classes.

    Examples
    --------
    >>> folder_names(["Dense", "Dropout", "Dense"])
    ['dense', 'dropout', 'dense_1']
    """
    counts: Counter[str] = Counter()
    names = []
    for class_name in class_names:
        name = folder_name(class_name)
        names.append(f"{name}_{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names


def orders_in(config: object) -> dict[str, list[str]]:
    """Return, by the name of each graph network, its layers' names in the order of the file.

    Parameters
    ----------
    config : object
        The parsed JSON of a configuration of Keras 3.
    """
    found: dict[str, list[str]] = {}
    for network in dicts_in(config):
        layers, name = network.get("layers"), network.get("name")
        if isinstance(layers, list) and isinstance(name, str) and "output_layers" in network:
            found[name] = [str(x.get("name")) for x in layers if isinstance(x, dict)]
    return found


# --- folders --------------------------------------------------------------------------------------


Orders = dict[str, list[str]]

# Keras 2.13 to 2.15 wrote this name where Keras 3 writes "layers".
OLDER_LAYERS = "_layer_checkpoint_dependencies"
_BOOKS = ("inbound_nodes", "outbound_nodes", "_held_layers")


class Folder(NamedTuple):
    """A layer and its folder, which is an HDF5 group, in a file of weights.

    Attributes
    ----------
    path : str
        The path in the file, such as "layers/bidirectional/forward_layer/cell"; "" for the model.
    layer : Layer
    own_weights : list of Variable
        The weights in this folder: first the trainable, then the non-trainable weights. The weights
        of inner layers are in other folders.
    """

    path: str
    layer: Layer
    own_weights: list[Variable]


def folders(layer: Layer, orders: Orders | None = None) -> Iterator[Folder]:
    """Yield the folders of a layer and of all layers inside it. Each layer occurs once.

    Parameters
    ----------
    layer : Layer
        Usually a model.
    orders : dict of str to list of str, optional
        Name of a network -> names of its layers in the order of the file's configuration. By
        default the layers are in the order of the model.
    """
    seen: set[Layer] = set()
    waiting = [("", layer)]
    while waiting:
        path, current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        yield from _own_folders(path, current)
        inside = _inner_folders(current, orders or {})
        waiting.extend((_joined(path, name), inner) for name, inner in reversed(inside))


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _own_folders(path: str, layer: Layer) -> Iterator[Folder]:
    """Yield the folders of a layer's own weights.

    There are several if Keras 3 has some of these weights in inner layers.
    """
    own = [*layer._trainable_weights, *layer._non_trainable_weights]
    names = FOLDERS.get(type(layer).__name__, {})
    by_folder: dict[str, list[Variable]] = {}
    for w in own if names else []:
        word = w.name[len(layer.name) + 1 :].split("/")[0]
        by_folder.setdefault(names[word], []).append(w)
    yield Folder(path, layer, [] if names else own)
    for name, weights in by_folder.items():
        yield Folder(_joined(path, name), layer, weights)


def _inner_folders(layer: Layer, orders: Orders) -> list[tuple[str, Layer]]:
    """Return (folder name, layer) for each inner layer of a layer.

    They are sorted by the attribute that contains them, such as a network's `layers`. If a layer
    occurs twice, the first folder is used.
    """
    parts: dict[str, Any] = {}
    is_network = isinstance(layer, Network)
    held = layer.held if isinstance(layer, Opaque) else {}
    inside = set(layer._sublayers)
    if not inside and not held:
        return []
    for attribute, value in [*vars(layer).items(), *held.items()]:
        if attribute not in _BOOKS and not (is_network and attribute.startswith("_")):
            parts[attribute] = value
    if isinstance(layer, Network) and not held:
        is_graph = layer.outputs and _is_graph(layer)
        parts["layers"] = layers_in_order(layer, orders) if is_graph else layer._sublayers
    found: list[tuple[str, Layer]] = []
    for attribute in sorted(parts):
        value = parts[attribute]
        if isinstance(value, Layer) and value in inside:
            found.append((attribute, value))
        elif isinstance(value, (list, tuple)):
            found += _in_folder(attribute, [item for item in value if isinstance(item, Layer)])
    return found


def _is_graph(network: Network) -> bool:
    return type(network).call is Network.call


def _in_folder(name: str, layers: list[Layer]) -> list[tuple[str, Layer]]:
    classes = [_class_of(layer) for layer in layers]
    return [
        (f"{name}/{folder}", layer)
        for folder, layer in zip(folder_names(classes), layers, strict=True)
    ]


def _class_of(layer: Layer) -> str:
    if isinstance(layer, Opaque):
        return layer.folder_name or layer.class_name
    return NAMES_OF_FOLDERS.get(type(layer).__name__, type(layer).__name__)


def layers_in_order(network: Network, orders: Orders | None = None) -> list[Layer]:
    """Return the layers of a network in Keras 3's order, without operations.

    For a graph of layers, this is the order of names that `orders` has for the network. If it has
    none, the layers are sorted by decreasing depth.
    """
    if isinstance(network, Sequential):
        return network.flattened_layers
    layers = [layer for layer in network.layers if not _is_operation(layer)]
    unused = [x._keras_history.layer for x in network.inputs]
    layers += [x for x in unused if x not in layers and isinstance(x, InputLayer)]
    order = (orders or {}).get(network.name, [])
    by_name = {layer.name: layer for layer in layers}
    if set(by_name) <= set(order):
        return [by_name[name] for name in order if name in by_name]
    return layers


def _is_operation(layer: Layer) -> bool:
    return isinstance(layer, Operation) or (isinstance(layer, Opaque) and layer.is_operation)


def trained_in_order(layer: Layer, orders: Orders | None = None) -> list[Variable]:
    """Return the trainable weights of a model in the order of Keras 3's optimizers."""
    if not (isinstance(layer, Network) and layer.outputs and _is_graph(layer)):
        return list(layer.trainable_weights)
    if not layer.trainable:
        return []
    found = [w for x in layers_in_order(layer, orders) for w in trained_in_order(x, orders)]
    return list(dict.fromkeys(found))


def listed_weights(layer: Layer) -> list[Variable]:
    """Return a layer's weights in the order of Keras 3's .h5 files: trainable weights first.

    Among the trainable weights, and among the others, a layer's own weights come before those of
    its inner layers, and the inner layers are in their order in the file.
    """
    weights = list(dict.fromkeys(_weights_by_layer(layer)))
    trained = set(layer.trainable_weights)
    return [w for w in weights if w in trained] + [w for w in weights if w not in trained]


def _weights_by_layer(layer: Layer) -> Iterator[Variable]:
    yield from layer._trainable_weights
    yield from layer._non_trainable_weights
    is_graph = isinstance(layer, Network) and layer.outputs and _is_graph(layer)
    for inner in layers_in_order(layer) if is_graph else layer._sublayers:  # type: ignore[arg-type]
        yield from _weights_by_layer(inner)


# --- writing --------------------------------------------------------------------------------------


def write_weights_of(file: Any, model: Layer) -> None:
    """Write all weights of a model into an empty HDF5 file."""
    for path, layer, own_weights in folders(model):
        group = file.require_group(_joined(path, "vars"))
        group.attrs["name"] = layer.name
        if isinstance(layer, Opaque):
            for place, w in layer.placed_weights().items():
                data = as_bfloat16(w.room) if place in layer.in_bfloat16 else w.room
                file.create_dataset(_joined(path, place), data=data)
            continue
        for number, w in enumerate(own_weights):
            group.create_dataset(str(number), data=w.room)


# --- reading --------------------------------------------------------------------------------------


def read_weights_of(
    file: Any, model: Layer, where: str, orders: Orders | None = None, skip_mismatch: bool = False
) -> list[tuple[Variable, np.ndarray]]:
    """Return (weight, its array in an HDF5 file) for all weights of a model; change no weight.

    Parameters
    ----------
    file : h5py.File
    model : Layer
    where : str
        The name of the file in messages.
    orders : dict, optional
        As for `folders`.
    skip_mismatch : bool
        Skip layers whose weights do not fit, with a warning.

    Raises
    ------
    DataError
        A weight is missing or has another shape.
    """
    pairs: list[tuple[Variable, np.ndarray]] = []
    for folder in folders(model, orders):
        try:
            pairs += read_folder(file, folder, where)
        except DataError as error:
            if not skip_mismatch:
                raise
            warn(f"skipped: {error}")
    return pairs


def read_folder(file: Any, folder: Folder, where: str) -> list[tuple[Variable, np.ndarray]]:
    """Return (weight, its array in the file) for the weights of one folder.

    Raises
    ------
    DataError
        A weight is missing or has another shape.
    """
    own = folder.own_weights
    paths = [_joined(folder.path, "vars")]
    paths.append(paths[0].replace("layers/", f"{OLDER_LAYERS}/"))
    group = group_of(file, paths[0]) or group_of(file, paths[1])
    label = f"{where}: {folder.layer.label}"
    if not own:
        if not folder.layer.built and group is not None and len(group):
            raise DataError(
                f"{label}: {paths[0]!r} has {len(group)} weights, but the layer has none before "
                f"its first call. Call the model so that it uses the layer, then load them."
            )
        return []
    if group is None:
        raise DataError(f"{label}: expected {len(own)} weights in {paths[0]!r}, got no folder.")
    if len(group) != len(own):
        raise DataError(
            f"{label}: {paths[0]!r}: expected {len(own)} weights of shapes "
            f"{[w.shape for w in own]}, got {len(group)}."
        )
    arrays = [array_of(group, str(number), w.shape, label) for number, w in enumerate(own)]
    return list(zip(own, arrays, strict=True))
