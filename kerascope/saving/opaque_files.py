"""The contents of a file with opaque layers, stored so that the model can be saved unchanged.

A model that was loaded with `opaque=True` stores three things from its file: the configuration, the
arrays that no layer read (states of random layers and of the optimizer), and other members of the
archive (vocabularies). Saving writes them all again. Changes since loading are also written: all
weights, and each part of the configuration that differs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.variables import Variable
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.network import Network
from kerascope.errors import ConfigError, DataError
from kerascope.layers.opaque import FileEntry, Opaque, opaque_layer, opaque_layers, turn_opaque
from kerascope.layers.wrappers import Wrapper
from kerascope.saving.hdf5_files import array_of
from kerascope.saving.keras3_weights import Folder, Orders, folder_name, folders, read_folder

Config = dict[str, Any]
OPTIMIZER = "optimizer"
MOST_BYTES_OF_MEMBERS = 2**28  # bytes of all other members of an archive

__all__: list[str] = []  # only loading and saving use this module


@dataclass
class Rest:
    """Those contents of a file of weights that belong to no weight of the model.

    Attributes
    ----------
    arrays : dict of str to np.ndarray
        The arrays by their path in the file.
    attributes : dict of str to dict
        The attributes of each group and array by path.
    folders : frozenset of str
        The folders of the model's layers in the file. If the layers of the model change, so that
        it has other folders, these contents are not written again.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()


@dataclass
class KeptFile:
    """The contents of the file from which a model with opaque layers was loaded.

    Attributes
    ----------
    config : dict
        The configuration in the file.
    written : dict or None
        The configuration that kerascope would have written just after loading. None if the file is
        from Keras 1.
    rest : Rest
        The contents that belong to no weight.
    members : dict of str to bytes
        The members of the archive that kerascope does not use.
    training : str
        The attribute `training_config` of an .h5 file.
    names : dict of Variable to str
        The names of the weights in an .h5 file.
    in_bfloat16 : set of Variable
        The weights that are in bfloat16 in an .h5 file.
    form : str
        The format of the file: "archive" or "hdf5".
    """

    config: Config
    written: Config | None
    rest: Rest
    members: dict[str, bytes] = field(default_factory=dict)
    training: str = ""
    names: dict[Variable, str] = field(default_factory=dict)
    in_bfloat16: set[Variable] = field(default_factory=set)
    form: str = "archive"

    def restored(self, config: Config) -> Config:
        """Return the configuration in the file, updated with the model's changes since loading."""
        if self.written is None:
            return config
        unlike = ("compile_config",)
        now, before, raw = (
            {key: value for key, value in one.items() if key not in unlike}
            for one in (config, self.written, self.config)
        )
        result = restored(now, before, raw)
        compiled = config.get("compile_config") or self.config.get("compile_config")
        if compiled is not None:
            result = {**result, "compile_config": compiled}
        return result


def restored(now: Any, before: Any, raw: Any) -> Any:
    """Return a part of the configuration in a file, updated with the changes since loading.

    Parameters
    ----------
    now, before : object
        What kerascope writes for this part now, and would have written just after loading.
    raw : object
        The same part in the file from which the model was loaded.

    Examples
    --------
    >>> restored({"rate": 0.5, "seed": 1}, {"rate": 0.2, "seed": 1}, {"rate": 0.2, "by": "Keras"})
    {'rate': 0.5, 'by': 'Keras'}
    """
    if now == before:
        return raw
    if isinstance(now, dict) and isinstance(before, dict) and isinstance(raw, dict):
        kept = {key: value for key, value in raw.items() if key in now or key not in before}
        changed = {
            key: restored(value, before[key], raw[key]) if key in before and key in raw else value
            for key, value in now.items()
            if key in raw or key not in before or value != before[key]
        }
        return {**kept, **changed}
    lists = isinstance(now, list) and isinstance(before, list) and isinstance(raw, list)
    if lists and len(now) == len(before) == len(raw):
        return [restored(*three) for three in zip(now, before, raw, strict=True)]
    return now


# --- reading weights ------------------------------------------------------------------------------


class Filling(NamedTuple):
    """The weights that were read from a file for a model with opaque layers.

    Attributes
    ----------
    pairs : list of (Variable, np.ndarray)
        The weights to set.
    misfits : dict of str to str
        Names of layers whose weights do not fit -> the reasons.
    rest : Rest
        The contents of the file that belong to no weight.
    """

    pairs: list[tuple[Variable, np.ndarray]]
    misfits: dict[str, str]
    rest: Rest


def name_folders(file: Any, model: Layer) -> None:
    """Set `folder_name` of opaque layers whose folder in a file is not named after the class.

    Keras 3 names a folder after the Python class, which may have another name in the configuration.
    The folder is found by its attribute "name", the name of the layer.
    """
    opaque = opaque_layers(model)
    by_name: dict[str, list[str]] = {}
    for path, item in _items_of(file) if opaque else ():
        if path.endswith("/vars") and isinstance(item.attrs.get("name"), str):
            by_name.setdefault(item.attrs["name"], []).append(path.split("/")[-2])
    for layer in opaque:
        found = by_name.get(layer.name, [])
        if len(found) != 1:
            continue
        without_count = re.sub(r"_\d+$", "", found[0])
        usual = folder_name(layer.class_name)
        if usual not in (found[0], without_count):
            layer.folder_name = without_count


def hold_layers_of(file: Any, model: Layer) -> None:
    """Add opaque layers to a model of an unknown class, for the weights in its file."""
    if not isinstance(model, Opaque) or model.held:
        return
    names: dict[str, str] = {}
    for path, item in _items_of(file):
        folder = path.removesuffix("/vars")
        if folder == path or not hasattr(item, "keys") or folder.startswith(OPTIMIZER):
            continue
        name = item.attrs.get("name", folder)
        if not any(folder.startswith(f"{outer}/") for outer in names):
            names[folder] = name.decode() if isinstance(name, bytes) else str(name)
    model.add_inner_layers({folder: part_of(model, name) for folder, name in names.items()})


def part_of(model: Layer, name: str) -> Any:
    """Return an opaque layer for weights in a file whose configuration lacks their layer."""
    why = f"the file contains its weights but not its class, as a part of {model.label}"
    return opaque_layer(FileEntry({"class_name": "Layer", "config": {"name": name}}, why))


def fill(file: Any, model: Layer, where: str, orders: Orders) -> Filling:
    """Set the weights of opaque layers from a file; return the rest of the file as a `Filling`.

    Parameters
    ----------
    file : h5py.File
    model : Layer
    where : str
        The name of the file in messages.
    orders : dict
        As for `keras3_weights.folders`.
    """
    own = list(folders(model, orders))
    by_path = {folder.path: folder for folder in own}
    below: dict[str, list[str]] = {}
    attributes: dict[str, dict[str, Any]] = {}
    for path, item in _items_of(file):
        attributes[path] = dict(item.attrs)
        if not hasattr(item, "keys"):
            below.setdefault(_folder_of(path, by_path), []).append(path)
    pairs, misfits, read = [], {}, set()
    for folder in own:
        found = [path for path in below.get(folder.path, []) if not path.startswith(OPTIMIZER)]
        if _was_never_built(folder, found):
            _turn(folder.layer)
        if isinstance(folder.layer, Opaque):
            read |= _take(file, folder, found, where)
            continue
        try:
            new = read_folder(file, folder, where)
        except DataError as error:
            misfits[folder.layer.name] = str(error).removeprefix(f"{where}: ").rstrip(".")
            continue
        pairs += new
        begin = f"{folder.path}/vars/" if folder.path else "vars/"
        read.update(f"{begin}{number}" for number in range(len(new)))
    everything = [path for paths in below.values() for path in paths]
    arrays = {path: _as_it_is(file[path]) for path in everything if path not in read}
    return Filling(pairs, misfits, Rest(arrays, attributes, frozenset(by_path)))


def _items_of(file: Any) -> Iterator[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    file.visititems(lambda name, item: found.append((name, item)))
    return iter(found)


def _folder_of(path: str, known: dict[str, Folder]) -> str:
    """Return the innermost folder in `known` that contains the array at `path`; "" if none does."""
    while path:
        path = path.rpartition("/")[0]
        if path in known:
            return path
    return ""


def _was_never_built(folder: Folder, found: list[str]) -> bool:
    """Return whether a layer inside an opaque layer has weights in the file but was never built."""
    layer = folder.layer
    is_plain = not isinstance(layer, (Opaque, Network, InputLayer))
    return is_plain and not layer.built and bool(found) and not layer.inbound_nodes


def _turn(layer: Layer) -> None:
    try:
        config = layer.get_config()
    except ConfigError:
        config = {"name": layer.name}
    entry = {"class_name": type(layer).__name__, "config": config}
    turn_opaque(layer, FileEntry(entry, "its outer layer cannot be run"))


def _take(file: Any, folder: Folder, found: list[str], where: str) -> set[str]:
    """Set an opaque layer's weights to the arrays of numbers in its folder; return their paths."""
    begin = f"{folder.path}/" if folder.path else ""
    arrays, halves = {}, set()
    for path in sorted(found, key=_by_numbers):
        try:
            array = array_of(file, path, None, where)
        except DataError:
            continue
        arrays[path.removeprefix(begin)] = array
        if array.dtype != file[path].dtype:
            halves.add(path.removeprefix(begin))
    folder.layer.take_weights(arrays, halves)  # type: ignore[attr-defined]
    return {f"{begin}{place}" for place in arrays}


def _by_numbers(path: str) -> list[Any]:
    return [(len(word), word) if word.isdigit() else (0, word) for word in path.split("/")]


def _as_it_is(item: Any) -> np.ndarray:
    array = np.empty(item.shape, item.dtype)
    if item.size:
        item.read_direct(array) if item.shape else array.__setitem__((), item[()])
    return array


def rest_of(file: Any, group: str) -> Rest:
    """Return all arrays and attributes of one group of a file, with their paths in the file."""
    rest = Rest()
    inside = file.get(group)
    for path, item in [("", inside), *_items_of(inside)] if hasattr(inside, "keys") else ():
        whole = f"{group}/{path}".rstrip("/")
        if hasattr(item, "keys"):
            rest.attributes[whole] = dict(item.attrs)
        else:
            rest.arrays[whole] = _as_it_is(item)
    return rest


def distribute_arrays(
    layer: Layer,
    hidden: list[Opaque],
    arrays: dict[str, np.ndarray],
    in_bfloat16: Collection[str] = (),
) -> dict[Variable, str]:
    """Distribute the arrays of a layer in an .h5 file among the layer and its opaque inner layers.

    Parameters
    ----------
    layer : Layer
    hidden : list of Opaque
        The opaque layers among the layer and its inner layers. Their weights are set.
    arrays : dict of str to np.ndarray
        The arrays by name. A name begins with the names of its layers.
    in_bfloat16 : collection of str
        The names of the arrays that are in bfloat16 in the file.

    Returns
    -------
    dict of Variable to str
        The weights of known inner layers -> the names of their arrays.

    Raises
    ------
    DataError
        A weight of a known inner layer has no array with its name and shape.
    """
    left = dict(arrays)
    names = {}
    for w in layer.weights:
        words = _last_words(w.name)
        name = next((one for one in left if _last_words(one) == words), None)
        if name is None or left[name].shape != w.shape:
            raise DataError(f"{layer.label}: there is no array of shape {w.shape} called {w.name}.")
        names[w] = name
        del left[name]
    inner_first = sorted(hidden, key=lambda one: one is layer)
    takers = [one for one in inner_first if not isinstance(one, Wrapper)] or inner_first
    rest = takers[-1]  # a wrapper has no weights of its own
    for one in takers:
        own = {
            name: array
            for name, array in left.items()
            if one is rest or one.name in name.split("/")[:-1]
        }
        one.take_weights(own, in_bfloat16)
        left = {name: array for name, array in left.items() if name not in own}
    return names


def _last_words(name: str) -> list[str]:
    return name.removesuffix(":0").split("/")[-2:]


# --- writing --------------------------------------------------------------------------------------


def write_rest(file: Any, model: Layer, with_state: bool) -> None:
    """Write to a new file those contents of a model's original file that belong to no weight.

    Parameters
    ----------
    file : h5py.File
        The new file, with the weights of the model.
    model : Layer
    with_state : bool
        Whether the new file contains the state of the optimizer.
    """
    kept = kept_file(model, "archive")
    if kept is None or kept.rest.folders != {folder.path for folder in folders(model)}:
        return
    for path, array in kept.rest.arrays.items():
        if path not in file and not (with_state and path.startswith(f"{OPTIMIZER}/")):
            file.create_dataset(path, data=array)
    for path, attributes in kept.rest.attributes.items():
        if with_state and path.startswith(OPTIMIZER):
            continue
        item = file[path] if path in file else file.create_group(path)  # an empty group
        item.attrs.update(attributes)


def kept_file(model: Any, form: str) -> KeptFile | None:
    """Return a model's `KeptFile`; None if there is none, or if its format is not `form`."""
    kept: KeptFile | None = vars(model).get("_kept_file")
    return kept if kept is not None and kept.form == form else None


def further_members(archive: Any, own: tuple[str, ...], where: str) -> dict[str, bytes]:
    """Return the members of an archive except those in `own`, which kerascope reads itself.

    Raises
    ------
    ConfigError
        The members are too large to be stored.
    """
    found: dict[str, bytes] = {}
    for name in archive.names:
        if name in own or name.endswith("/"):
            continue
        found[name] = archive.file(name).getvalue()
        if sum(map(len, found.values())) > MOST_BYTES_OF_MEMBERS:
            raise ConfigError(
                f"{where}: expected at most {MOST_BYTES_OF_MEMBERS:,} bytes in members other than: "
                f"{', '.join(own)}."
            )
    return found
