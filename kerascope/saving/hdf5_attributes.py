"""Lists of names in HDF5 attributes, which hold 64 KB each: longer lists are cut into pieces.

Keras writes `layer_names` as one attribute where it fits, else as `layer_names0`, `layer_names1`,
and so on. Names are stored as UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.errors import ConfigError

__all__ = ["load_attributes_from_hdf5_group", "save_attributes_to_hdf5_group"]

LARGEST_ATTRIBUTE = 64_512  # bytes: HDF5's 64 KB for an object's header, without its own facts


def save_attributes_to_hdf5_group(group: Any, name: str, data: Sequence[bytes | str]) -> None:
    """Write a list of names to an attribute, or to several if it is too long for one.

    Parameters
    ----------
    group : h5py.Group
    name : str
        Of the attribute: "layer_names", "weight_names".
    data : list of bytes or str

    Raises
    ------
    ConfigError
        A single name is too long.
    """
    names = [item.encode() if isinstance(item, str) else bytes(item) for item in data]
    longest = max((len(item) for item in names), default=0)
    if longest > LARGEST_ATTRIBUTE:
        raise ConfigError(
            f"cannot write {name!r} to HDF5: a name has {longest} bytes; expected at most "
            f"{LARGEST_ATTRIBUTE}. Give it a shorter name."
        )
    if longest * len(names) <= LARGEST_ATTRIBUTE:
        group.attrs[name] = names
        return
    step = LARGEST_ATTRIBUTE // longest
    for piece, start in enumerate(range(0, len(names), step)):
        group.attrs[f"{name}{piece}"] = names[start : start + step]


def load_attributes_from_hdf5_group(group: Any, name: str) -> list[str]:
    """Return a list of names that was written by `save_attributes_to_hdf5_group`, or by Keras.

    Parameters
    ----------
    group : h5py.Group
    name : str

    Returns
    -------
    list of str
        Empty if there is no such attribute.
    """
    if name in group.attrs:
        return _as_text(group.attrs[name])
    names: list[str] = []
    piece = 0
    while f"{name}{piece}" in group.attrs:
        names += _as_text(group.attrs[f"{name}{piece}"])
        piece += 1
    return names


def has_attribute(group: Any, name: str) -> bool:
    """Tell whether a list of names is there, whole or in pieces."""
    return name in group.attrs or f"{name}0" in group.attrs


def _as_text(values: Any) -> list[str]:
    """Return names as str; an empty list comes back from HDF5 as an array of floats."""
    items = np.atleast_1d(np.asarray(values)).ravel().tolist()
    return [item.decode() if isinstance(item, bytes) else str(item) for item in items]
