"""The settings of a layer, for its box: "3x3, stride 2, same".

A layer's settings are the arguments of its constructor that differ from their defaults. `settings`
is a short line for the box in everyday terms. `config` is the complete list, written as in a
program.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from kerascope import activations, constraints, initializers, regularizers
from kerascope.backend.state import image_data_format
from kerascope.configurable import configured_names
from kerascope.engine.base_layer import Layer, snake_case
from kerascope.layers.opaque import Opaque
from kerascope.layers.ops.operation import Operation
from kerascope.printable import printable
from kerascope.viz.graph import Attribute

LONGEST = 400  # characters of `config`
LONGEST_VALUE = 60
ABSENT: Any = object()

# Not specific to the layer's class, or shown elsewhere.
NOT_SHOWN = frozenset((
    "batch_input_shape", "dtype", "input_shape", "input_tensor", "name", "trainable", "weights",
))  # fmt: skip
# Shown elsewhere in the box, or hard to say in a short word.
NOT_IN_BOXES = frozenset((
    "activation", "arguments", "batch_size", "bias_axes", "cell", "cells", "class_name",
    "data_format", "fft_length", "filters", "function", "height", "implementation", "input_dim",
    "input_length", "kind", "layer", "layers", "mean", "n", "nb_filter", "node_indices",
    "noise_shape", "operation", "output_dim", "output_shape", "pattern", "seed", "sparse",
    "target_shape", "tensor_indices", "units", "unroll", "value_range", "variables", "variance",
    "vocabulary", "width",
))  # fmt: skip
OBJECTS = {
    "_initializer": initializers.get,
    "_regularizer": regularizers.get,
    "_constraint": constraints.get,
    "activation": activations.get,
}
ENDINGS = (*OBJECTS, "_init", "_tensor")
# Arguments whose default depends on another argument or on a global setting.
FOLLOWING: dict[str, Callable[[Any], Any]] = {
    "data_format": lambda layer: image_data_format(),
    "strides": lambda layer: getattr(layer, "pool_size", None),
    "value_dim": lambda layer: getattr(layer, "key_dim", None),
}
# Shown even if they have their default values.
ALWAYS = frozenset(("cropping", "kernel_size", "num_heads", "pool_size", "rate", "size"))
PLAIN = frozenset((bool, int, float, str))


def settings_of(layer: Layer) -> dict[str, Attribute]:
    """Return the attributes for a layer's settings; {} if all have their defaults.

    Parameters
    ----------
    layer : Layer

    Returns
    -------
    dict of str to str
        `settings`, the line in the box, and `config`, all arguments that differ from their
        defaults.

    Examples
    --------
    >>> from kerascope.layers import Conv2D
    >>> settings_of(Conv2D(8, 3, strides=2, padding="same"))["settings"]
    '3x3, stride 2, same'
    >>> settings_of(Conv2D(8, 3, use_bias=False))["config"]
    'filters=8, kernel_size=(3, 3), use_bias=False'
    """
    words, changed = [], []
    for name, value, is_set in _settings(layer):
        words.append(_words(name, value))
        if is_set:
            changed.append(f"{name}={_written(value)}")
    attrs: dict[str, Attribute] = {}
    if line := ", ".join(filter(None, words)):
        attrs["settings"] = printable(line)
    if changed:
        attrs["config"] = printable(_cut(", ".join(changed), LONGEST))
    return attrs


# --- arguments ------------------------------------------------------------------------------------


def _settings(layer: Layer) -> Iterator[tuple[str, Any, bool]]:
    """Yield the arguments to show: name, value, and whether the value differs from its default."""
    if isinstance(layer, Operation):
        yield from ((name, value, True) for name, value in layer.options.items())
        return
    if isinstance(layer, Opaque):
        config = layer.get_config()
        inner = config.get("config", config)
        for name, value in inner.items() if isinstance(inner, dict) else ():
            if name not in NOT_SHOWN and isinstance(value, (bool, int, float, str, list)):
                yield name, value, True
        return
    values = layer.__dict__
    for name, default in _arguments(type(layer)):
        if name in values:
            value = values[name]
        elif hasattr(Layer, name):  # such as `output_shape`, which has another meaning there
            value = layer.get_config().get(name, ABSENT)
        else:
            value = getattr(layer, name, ABSENT)
        if value is default or value is ABSENT:
            is_set = False
        elif name in FOLLOWING:
            is_set = value != FOLLOWING[name](layer) and not _is_same(value, default)
        else:
            is_set = not _is_same(value, default)
        is_always = name in ALWAYS or (name == "padding" and value.__class__ is tuple)
        if is_set or (is_always and value is not ABSENT):
            yield name, value, is_set


@lru_cache(maxsize=1024)
def _arguments(cls: type[Layer]) -> tuple[tuple[str, Any], ...]:
    """Return the names of a class's arguments with their default values."""
    defaults: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if "__init__" in vars(base):
            parameters = inspect.signature(base.__init__).parameters  # type: ignore[misc]
            defaults.update((name, one.default) for name, one in parameters.items())
    names = [name for name in configured_names(cls) if name not in NOT_SHOWN]
    return tuple((name, _default(name, defaults.get(name, ABSENT))) for name in names)


def _default(name: str, default: Any) -> Any:
    """Return a default value in the form in which a layer stores it."""
    if default is inspect.Parameter.empty:
        return ABSENT
    for ending, get in OBJECTS.items():
        if name.endswith(ending) and (isinstance(default, str) or ending == "activation"):
            with suppress(Exception):  # not one of kerascope's: keep it as it is
                return get(default)
    return default


def _is_same(value: Any, default: Any) -> bool:
    """Return whether a value equals the default, taking 2 and (2, 2) as equal."""
    if value is default:
        return True
    kind = value.__class__
    if kind in PLAIN:
        return bool(value == _alone(default))
    if default is None:
        return kind in (dict, list, tuple) and not value
    if default is ABSENT or kind is np.ndarray:
        return False
    if kind is default.__class__ and kind.__module__.startswith("kerascope."):
        return bool(vars(value) == vars(default))
    return kind in (tuple, list) and bool(_alone(value) == _alone(default))


def _alone(value: Any) -> Any:
    """Return the number that a tuple repeats, such as 2 for (2, 2); other values unchanged."""
    if value.__class__ not in (tuple, list) or not value:
        return value
    first = _alone(value[0])
    return first if all(_alone(other) == first for other in value) else tuple(value)


# --- words ----------------------------------------------------------------------------------------


def _size(word: str) -> Callable[[Any], str]:
    def words(value: Any) -> str:
        numbers = value if isinstance(value, (list, tuple)) else [value]
        text = "x".join(map(str, numbers))
        return f"{word} {text}" if len(numbers) == 1 else text

    return words


def _step(word: str) -> Callable[[Any], str]:
    def words(value: Any) -> str:
        one = _alone(value)
        return f"{word} {'x'.join(map(str, one)) if isinstance(one, tuple) else one}"

    return words


def _sides(word: str) -> Callable[[Any], str]:
    def words(value: Any) -> str:
        one = _alone(value)
        if not isinstance(one, tuple):
            return f"{word} {one}"
        pairs = (side if isinstance(side, (list, tuple)) else [side] for side in one)
        return f"{word} " + ", ".join("-".join(map(str, pair)) for pair in pairs)

    return words


def _count(one: str, many: str = "") -> Callable[[Any], str]:
    return lambda value: f"{value} {one if value == 1 else many or one + 's'}"


WORDS: dict[str, Callable[[Any], str]] = {
    "kernel_size": _size("kernel"),
    "pool_size": _size("window"),
    "size": _size("size"),
    "output_size": _size("size"),
    "strides": _step("stride"),
    "dilation_rate": _step("dilation"),
    "padding": lambda value: value if isinstance(value, str) else _sides("pad")(value),
    "cropping": _sides("crop"),
    "output_padding": _sides("output padding"),
    "groups": _count("group"),
    "num_heads": _count("head"),
    "key_dim": lambda value: f"key {value}",
    "value_dim": lambda value: f"value {value}",
    "depth_multiplier": lambda value: f"{value} for each channel",
    "momentum": lambda value: f"momentum {value:g}",
    "epsilon": lambda value: f"epsilon {value:g}",
}


def _words(name: str, value: Any) -> str:
    """Return the text of a setting in a box; "" if boxes do not show this setting."""
    if name in NOT_IN_BOXES or name.endswith(ENDINGS):
        return ""
    if value is None or (isinstance(value, (str, list, tuple, dict)) and not value):
        return ""
    if name in WORDS:
        with suppress(TypeError, ValueError):  # the name may mean something else in user code
            return _cut(WORDS[name](value))
    text = name.replace("_", " ")
    if value is True:
        return text.removeprefix("use ")
    if value is False:
        return f"no {text.removeprefix('use ')}"
    if isinstance(value, (int, float)):
        return f"{text} {value:g}" if isinstance(value, float) else f"{text} {value}"
    if isinstance(value, str):
        return _cut(f"{text} {value}")
    if isinstance(value, (list, tuple)) and all(isinstance(x, (int, float)) for x in value):
        return _cut(f"{text} {', '.join(map(str, value))}")
    return ""


def _written(value: Any) -> str:
    """Return a value as source code, or the value's type if the source code would be long."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, Layer):
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_written(one) for one in value[:9]) + (", ..." if len(value) > 9 else "")
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        inner = ", ".join(f"{k!r}: {_written(v)}" for k, v in list(value.items())[:9])
        return _cut(f"{{{inner}}}")
    if callable(value) and hasattr(value, "__name__"):
        return repr(value.__name__)
    if type(value).__module__.startswith("kerascope.") and hasattr(value, "get_config"):
        return _cut(_object(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return _cut(repr(value))
    return type(value).__name__


def _object(value: Any) -> str:
    """Return an initializer or similar object as source code, without its default arguments."""
    cls: Any = type(value)
    own = dict(_arguments(cls))
    set_here = {k: v for k, v in value.get_config().items() if not _is_same(v, own.get(k, ABSENT))}
    if not set_here:
        return repr(snake_case(cls.__name__))
    return f"{cls.__name__}({', '.join(f'{k}={_written(v)}' for k, v in set_here.items())})"


def _cut(text: str, longest: int = LONGEST_VALUE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
