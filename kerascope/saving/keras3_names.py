"""How Keras 3 names the folders of layers in a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence


def folder_name(class_name: str) -> str:
    """Return a class's name in small letters with underscores, as Keras 3 writes it.

    Examples
    --------
    >>> [folder_name(name) for name in ("Conv2D", "PReLU", "BatchNormalization", "LSTM")]
    ['conv2d', 'p_re_lu', 'batch_normalization', 'lstm']
    """
    name = re.sub(r"\W+", "", class_name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def folder_names(class_names: Sequence[str]) -> list[str]:
    """Return a distinct name for each of a list of layers.

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
    """Return the names of the layers of every network in a configuration, in its order.

    Parameters
    ----------
    config : object
        A configuration of Keras 3, as JSON gives it.
    """
    found: dict[str, list[str]] = {}
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        if not isinstance(value, dict):
            continue
        waiting.extend(value.values())
        layers, name = value.get("layers"), value.get("name")
        if isinstance(layers, list) and isinstance(name, str) and "output_layers" in value:
            found[name] = [str(x.get("name")) for x in layers if isinstance(x, dict)]
    return found
