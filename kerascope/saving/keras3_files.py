"""Keras 3's files: whole models in `.keras` archives, and `.weights.h5`.

An archive is a zip file with three members: `metadata.json`, `config.json` and `model.weights.h5`.
The last contains the weights, and the state of the optimizer under `optimizer/vars`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from kerascope.backend.state import batch_set_value
from kerascope.engine.base_layer import layers_within
from kerascope.errors import ConfigError, DataError, KerascopeError
from kerascope.files import replacing
from kerascope.layers.opaque import opaque_layers
from kerascope.limits import Budget, Limits, building
from kerascope.saving import hdf5_files, keras3_weights, opaque_files
from kerascope.saving.configs import fitting_model, model_of
from kerascope.saving.keras3_compile import (
    compile_from_keras_3,
    compile_to_keras_3,
    state_from_keras_3,
    state_to_keras_3,
)
from kerascope.saving.keras3_reading import RECURRENT
from kerascope.saving.keras3_writing import check_masks, facts_of, to_keras_3
from kerascope.saving.untrusted import (
    FREE_SIZE,
    GREATEST_RATIO,
    LARGEST_CONFIG,
    MOST_MEMBERS,
    read_json,
)
from kerascope.user_frames import warn

# --- archives -------------------------------------------------------------------------------------
# Nothing is unpacked to the disk. Before a member is read, the list of members is checked: their
# names, their declared sizes and their compression ratios. A member is read in pieces, so that a
# member that is longer than declared is detected early.


_PIECE = 2**20
_LINK = 0o120000  # the type bits of a symbolic link in a Unix mode
_MADE_ON = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that equal models give equal files


def write_archive(path: Any, members: Mapping[str, bytes]) -> None:
    """Write a zip file with these members, which are not compressed, as in Keras.

    Parameters
    ----------
    path : str or Path
    members : dict of str to bytes
    """
    import zipfile  # imported here, because only saving needs it

    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _MADE_ON), content)


@contextmanager
def reading_archive(path: Any, where: str) -> Iterator[Archive]:
    """Open a zip file for reading, after a check of its list of members.

    Parameters
    ----------
    path : str or Path
    where : str
        The name of the file in messages.

    Raises
    ------
    ConfigError
        The file is not a zip file, is damaged, or has members that a model cannot have.
    """
    import zipfile

    damaged = (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)
    try:
        with zipfile.ZipFile(path) as opened:
            _check_members(opened.infolist(), where)
            yield Archive(opened, where)
    except KerascopeError:
        raise
    except damaged as error:
        hdf5_files.check_system(error, where)
        raise ConfigError(f"{where}: expected a whole .keras file ({error}).") from None


def _check_members(members: list[Any], where: str) -> None:
    names = [member.filename for member in members]
    if len(names) > MOST_MEMBERS:
        raise ConfigError(f"{where}: expected at most {MOST_MEMBERS} members, got {len(names)}.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{where}: has two members called {twice!r}.")
    for member in members:
        name = member.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise ConfigError(f"{where}: its member {name!r} leads out of the archive.")
        if (member.external_attr >> 16) & 0o170000 == _LINK:
            raise ConfigError(f"{where}: its member {name!r} is a link to another file.")
        if member.flag_bits & 1:
            raise ConfigError(f"{where}: its member {name!r} is encrypted.")
        size, stored = member.file_size, member.compress_size
        if size > FREE_SIZE and size > GREATEST_RATIO * stored:
            raise ConfigError(
                f"{where}: its member {name!r} would expand from {stored} to {size} bytes. The "
                f"file is damaged or malicious."
            )


class Archive:
    """An open .keras archive, whose list of members was checked before."""

    def __init__(self, opened: Any, where: str) -> None:
        self._opened = opened
        self._where = where
        self.names: list[str] = opened.namelist()

    def text(self, name: str) -> bytes:
        """Return the text of a member of the archive that contains JSON.

        Raises
        ------
        ConfigError
            The member does not exist, is damaged, or is too long.
        """
        return self._read(name, LARGEST_CONFIG)

    def file(self, name: str) -> io.BytesIO:
        """Return a member of the archive as a file in memory."""
        return io.BytesIO(self._read(name, None))

    def _read(self, name: str, most: int | None) -> bytes:
        if name not in self.names:
            known = ", ".join(self.names[:8]) or "nothing"
            raise ConfigError(f"{self._where}: expected a member {name!r}, got: {known}.")
        size = self._opened.getinfo(name).file_size
        if most is not None and size > most:
            raise ConfigError(
                f"{self._where}: {name!r}: expected at most {most} bytes, got {size}."
            )
        pieces: list[bytes] = []
        read = 0
        with self._opened.open(name) as member:
            while piece := member.read(_PIECE):
                read += len(piece)
                if read > size:
                    raise ConfigError(f"{self._where}: {name!r} is longer than declared.")
                pieces.append(piece)
        if read != size:
            raise ConfigError(f"{self._where}: {name!r} is shorter than declared.")
        return b"".join(pieces)


# --- whole models ---------------------------------------------------------------------------------


# The version of Keras with this format.
KERAS_3_VERSION = "3.15.1"
NEWEST_KNOWN = 3

METADATA, CONFIG, WEIGHTS = "metadata.json", "config.json", "model.weights.h5"


# --- writing --------------------------------------------------------------------------------------


def save_keras_model(model: Any, filepath: Any, overwrite: bool, include_optimizer: bool) -> None:
    """Write a whole model as a .keras archive."""
    is_trained = include_optimizer and model.total_loss is not None
    config = keras_3_config(model)
    config["compile_config"] = compile_to_keras_3(model) if is_trained else {}
    kept = opaque_files.kept_file(model, "archive")
    config = config if kept is None else kept.restored(config)
    date = datetime.now().strftime("%Y-%m-%d@%H:%M:%S")
    metadata = {"keras_version": KERAS_3_VERSION, "date_saved": date}
    members = {
        **({} if kept is None else kept.members),
        METADATA: json.dumps(metadata).encode(),
        CONFIG: json.dumps(config).encode(),
        WEIGHTS: _weights_file(model, with_state=is_trained),
    }
    with replacing(filepath, overwrite=overwrite) as unfinished:
        write_archive(unfinished, members)


def keras_3_config(model: Any) -> dict[str, Any]:
    """Return the configuration of a model in Keras 3's format.

    Raises
    ------
    NoCounterpartError
        Keras 3 cannot express a layer or an argument, or could not load the model again because of
        its rules for masks.
    """
    check_masks(model)
    entry = {"class_name": type(model).__name__, "config": model.get_config()}
    config = to_keras_3(entry, facts_of(model))
    if config["class_name"] == "Sequential" and model.inputs:
        config["build_config"] = {"input_shape": list(model.inputs[0].shape)}
    return config


def _weights_file(model: Any, with_state: bool) -> bytes:
    content = io.BytesIO()
    with hdf5_files.writing_hdf5(content) as file:
        _write(file, model, with_state)
    return content.getvalue()


def _write(file: Any, model: Any, with_state: bool) -> None:
    keras3_weights.write_weights_of(file, model)
    state = state_to_keras_3(model) if with_state else []
    if state:
        group = file.create_group("optimizer/vars")
        group.attrs["name"] = type(model.optimizer).__name__.lower()
        for number, array in enumerate(state):
            group.create_dataset(str(number), data=array)
    opaque_files.write_rest(file, model, bool(state))


def save_keras_weights(model: Any, filepath: Any, overwrite: bool) -> None:
    """Write the weights, and the optimizer's state if there is one, to a .weights.h5 file."""
    with (
        replacing(filepath, overwrite=overwrite) as unfinished,
        hdf5_files.writing_hdf5(unfinished) as file,
    ):
        _write(file, model, with_state=model.total_loss is not None)


# --- reading --------------------------------------------------------------------------------------


def load_keras_model(
    filepath: Any, compile: bool, safe_mode: bool, limits: Limits | None, opaque: bool = False
) -> Any:
    """Read a whole model from a .keras archive; see `saving_api.load_model`."""
    where = hdf5_files.name_of(filepath)
    with reading_archive(filepath, where) as archive:
        _check_version(archive, where)
        config = read_json(archive.text(CONFIG), where, limits)
        weights = archive.file(WEIGHTS)
        members = (
            opaque_files.further_members(archive, (METADATA, CONFIG, WEIGHTS), where)
            if opaque
            else {}
        )
    with (
        hdf5_files.reading_hdf5(weights, where, with_attributes=opaque) as file,
        building(Budget(limits, where, in_file=lambda: _numbers_of_weights(file))),
    ):
        if opaque:
            return opened(config, file, where, compile, safe_mode, members)
        return model_from(config, file, where, compile, safe_mode)


def model_from(
    config: Any, file: Any, where: str, compile: bool = True, safe_mode: bool = True
) -> Any:
    """Make a model from a configuration and its weights.

    Parameters
    ----------
    config : dict
        The configuration of the whole model, in Keras 3's format.
    file : h5py.File
        The weights and the state of the optimizer, in the layout of an archive.
    where : str
        The name of the file in messages.
    compile, safe_mode : bool
        As for `load_model`.
    """
    orders = keras3_weights.orders_in(config)
    model = model_of(config, where, safe_mode=safe_mode)
    _check_has_weights(file, model, where)
    batch_set_value(keras3_weights.read_weights_of(file, model, where, orders))
    _warn_of_masks_that_keras_drops(model, where)
    _compile_again(model, config, file, where, orders, compile)
    return model


def _warn_of_masks_that_keras_drops(model: Any, where: str) -> None:
    """Warn about each recurrent layer that is called with a mask and an initial state.

    Keras 3 passes masks only to calls with one tensor argument, so it would ignore this mask.
    """
    for layer in layers_within(model):
        if type(layer).__name__ in RECURRENT and any(
            "initial_state" in node.arguments
            and "mask" not in node.arguments
            and node.input_masks[0] is not None
            for node in layer.inbound_nodes
        ):
            warn(
                f"{where}: {layer.label} has a mask and an initial state. Keras 3 drops the mask "
                f"of such a call; kerascope applies it, so the results differ on masked steps. See "
                f"docs/keras.md."
            )


def _compile_again(
    model: Any, config: Any, file: Any, where: str, orders: dict[str, list[str]], compile: bool
) -> None:
    training = config.get("compile_config")
    if compile and training and model.outputs:
        compile_from_keras_3(model, training, where)
        _restore_state(model, file, where, orders)


def opened(
    config: Any,
    file: Any,
    where: str,
    compile: bool = True,
    safe_mode: bool = True,
    members: Mapping[str, bytes] | None = None,
) -> Any:
    """Make a model as `model_from` does, with opaque layers in place of unknown layers.

    Parameters
    ----------
    config, file, where, compile, safe_mode
        As for `model_from`.
    members : dict of str to bytes, optional
        The other members of the archive. Saving the model writes them again.
    """
    orders = keras3_weights.orders_in(config)

    def fill(model: Any) -> tuple[opaque_files.Filling, dict[str, str]]:
        opaque_files.hold_layers_of(file, model)
        opaque_files.name_folders(file, model)
        filling = opaque_files.fill(file, model, where, orders)
        return filling, filling.misfits

    model, filling = fitting_model(config, where, safe_mode, fill)
    batch_set_value(filling.pairs)
    if not opaque_layers(model):
        try:
            _compile_again(model, config, file, where, orders, compile)
        except KerascopeError as error:
            warn(f"{where}: the model is not compiled: {error}")
    try:
        written = keras_3_config(model)
    except KerascopeError:
        written = None
    model._kept_file = opaque_files.KeptFile(config, written, filling.rest, dict(members or {}))
    return model


def _check_version(archive: Any, where: str) -> None:
    """Raise ConfigError if a newer version of Keras wrote the archive."""
    if METADATA not in archive.names:
        return
    metadata = read_json(archive.text(METADATA), where)
    version = str(metadata.get("keras_version", "")) if isinstance(metadata, dict) else ""
    number = version.split(".")[0]
    if number.isdigit() and int(number) > NEWEST_KNOWN:
        raise ConfigError(
            f"{where}: expected a file of Keras {NEWEST_KNOWN} or older, got Keras {version}. "
            f"Save it with an older version, or use a newer kerascope."
        )


def _numbers_of_weights(file: Any) -> int:
    return hdf5_files.numbers_in(file, without="optimizer")


def _check_has_weights(file: Any, model: Any, where: str) -> None:
    """Raise DataError if the file has weights, but the model has none before its first call."""
    if not model.built and not model.weights and _numbers_of_weights(file):
        raise DataError(
            f"{where} has weights, but {model.label} has none before its first call. Create it "
            f"in code, call it once, and load them: model.load_weights({where})."
        )


def _restore_state(model: Any, file: Any, where: str, orders: dict[str, list[str]]) -> None:
    group = file.get("optimizer/vars")
    if group is None or model.total_loss is None:
        return
    arrays = [hdf5_files.array_of(group, str(number), None, where) for number in range(len(group))]
    state_from_keras_3(model, arrays, where, orders)


def is_keras_3_weights(file: Any) -> bool:
    """Return whether an open HDF5 file has weights in Keras 3's layout."""
    return "layer_names" not in file.attrs and any(
        name in file for name in ("layers", "_layer_checkpoint_dependencies", "vars")
    )


def load_keras_weights(
    model: Any, filepath: Any, by_name: bool, skip_mismatch: bool, is_archive: bool
) -> None:
    """Read weights from a .weights.h5 file or a .keras archive.

    Raises
    ------
    DataError
        The weights do not fit the model. No weight was changed.
    """
    where = hdf5_files.name_of(filepath)
    if by_name:
        raise ConfigError(
            f"{where}: expected by_name=False, because Keras 3's files store layers by class and "
            f"order, not by name."
        )
    source, orders = filepath, {}
    if is_archive:
        with reading_archive(filepath, where) as archive:
            orders = keras3_weights.orders_in(read_json(archive.text(CONFIG), where))
            source = archive.file(WEIGHTS)
    with hdf5_files.reading_hdf5(source, where, with_attributes=False) as file:
        _check_has_weights(file, model, where)
        if not skip_mismatch:
            _check_count(file, model, where)
        batch_set_value(keras3_weights.read_weights_of(file, model, where, orders, skip_mismatch))


def _check_count(file: Any, model: Any, where: str) -> None:
    if "layers" not in file or not model.outputs:
        return
    own = {
        path.split("/")[1]
        for path, _, _ in keras3_weights.folders(model)
        if path.startswith("layers/")
    }
    saved = len(file["layers"])
    if saved != len(own):
        raise DataError(f"{where}: layers: expected {len(own)}, as in {model.label}, got {saved}.")
