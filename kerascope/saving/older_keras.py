"""Convert configurations and weights of older versions of Keras to the current format.

This module also converts current configurations to the names of Keras 2, for files that Keras 2
reads. `kerascope.spellings` contains arguments that only changed their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kerascope.engine.base_layer import Layer
from kerascope.engine.layer_type import constructor_keywords, layer_registry
from kerascope.engine.network import Network
from kerascope.errors import ConfigError, UnknownNameError
from kerascope.spellings import CONVOLUTION, KEYWORDS, RECURRENT, VALUES

__all__ = ["preprocess_weights_for_loading"]


# --- configurations of Keras 1 --------------------------------------------------------------------


Config = dict[str, Any]

# Keras 1's class -> the current class.
CLASSES: dict[str, str] = {
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D",
    "Deconvolution2D": "Conv2DTranspose",
    "SeparableConvolution2D": "SeparableConv2D",
}

# Keras 1's arguments -> the current arguments, for every class.
WORDS: dict[str, str] = {
    **CONVOLUTION,
    **RECURRENT,
    "subsample_length": "strides",
    "filter_length": "kernel_size",
    "pool_length": "pool_size",
    "stride": "strides",
    "sigma": "stddev",
    "length": "size",
}
WORDS_OF: dict[str, dict[str, str]] = {
    "GaussianDropout": {"p": "rate"},
    "UpSampling1D": {"length": "size"},
    "RepeatVector": {},
}

# Arguments that only Keras 1 uses.
LEFT_OUT = ("consume_less", "input_dim", "input_length", "forget_bias_init", "activity_regularizer")

# Arguments of every layer that no constructor lists.
ALWAYS_KNOWN = ("name", "trainable", "dtype", "batch_input_shape", "input_shape")

MERGE_MODES: dict[str, str] = {
    "sum": "Add",
    "mul": "Multiply",
    "ave": "Average",
    "max": "Maximum",
    "concat": "Concatenate",
    "dot": "Dot",
    "cos": "Dot",
}


def is_from_keras_1(config: Any) -> bool:
    """Return whether a configuration was written by Keras 1.x."""
    if not isinstance(config, dict):
        return False
    version = config.get("keras_version")
    if isinstance(version, str):
        return version.startswith(("1.", "0."))
    return any(_has_old_words(entry) for entry in _entries(config))


def _has_old_words(entry: Config) -> bool:
    config = entry.get("config")
    if entry.get("class_name") in {*CLASSES, "Merge"}:
        return True
    old = {"init", "border_mode", "output_dim", "W_regularizer", "nb_filter", "consume_less", "p"}
    found = old & config.keys() if isinstance(config, dict) else set()
    try:
        own = constructor_keywords(layer_registry.lookup(str(entry.get("class_name"))))
    except UnknownNameError:
        return False
    # Some current classes have such arguments too: Embedding has output_dim.
    return bool(found - own)


def _entries(config: Config) -> Iterator[Config]:
    inner = config.get("config")
    layers = inner.get("layers", []) if isinstance(inner, dict) else inner
    for entry in layers if isinstance(layers, list) else []:
        if isinstance(entry, dict):
            yield entry
            yield from _entries(entry)


def with_current_names(entry: Config) -> Config:
    """Return the configuration of a layer or model of Keras 1 with the current names.

    Parameters
    ----------
    entry : dict
        `{"class_name", "config"}`, in a graph also "name" and "inbound_nodes".

    Raises
    ------
    ConfigError
        A Merge has a function as its mode.

    Examples
    --------
    >>> old = {"class_name": "Dense", "config": {"output_dim": 3, "init": "uniform"}}
    >>> with_current_names(old)["config"]
    {'units': 3, 'kernel_initializer': 'uniform'}
    """
    class_name, config = entry["class_name"], entry.get("config")
    if class_name == "Sequential":
        layers = config if isinstance(config, list) else (config or {}).get("layers", [])
        rest = config if isinstance(config, dict) else {}
        config = {**rest, "layers": [with_current_names(layer) for layer in layers]}
    elif isinstance(config, dict) and "output_layers" in config:
        config = {**config, "layers": [with_current_names(layer) for layer in config["layers"]]}
    elif class_name == "Merge":
        branches = (config or {}).get("layers")
        class_name, config = _merge(config or {})
        if branches:  # the models that a Merge joins at the start of a Sequential
            entry = {**entry, "branches": [with_current_names(model) for model in branches]}
    else:
        config = _arguments(class_name, dict(config or {}))
        class_name = CLASSES.get(class_name, class_name)
    kept = {k: v for k, v in entry.items() if k not in ("class_name", "config", "keras_version")}
    return {**kept, "class_name": class_name, "config": config}


# --- arguments ------------------------------------------------------------------------------------


def _arguments(class_name: str, config: Config) -> Config:
    words = {**WORDS, **_spellings(class_name), **WORDS_OF.get(class_name, {})}
    own = constructor_keywords(layer_registry.lookup(CLASSES.get(class_name, class_name)))
    config = _sizes_together(class_name, config)
    translated: Config = {}
    for key, value in config.items():
        if key in LEFT_OUT and (value is None or key == "consume_less"):
            continue
        is_shape = key in ("input_dim", "input_length") and "batch_input_shape" in config
        if is_shape and class_name != "Embedding":
            continue
        name = key if key in own else words.get(key, key)
        if name not in own and name not in ALWAYS_KNOWN and not value:
            continue  # an option that no longer exists and is off: omit it
        known = VALUES.get(key, {})
        value = known.get(value, value) if isinstance(value, str) else value
        translated[name] = _value(name, value)
    return translated


def _spellings(class_name: str) -> dict[str, str]:
    """Return a dict from old to current names of a class's arguments, with those of its bases."""
    name = CLASSES.get(class_name, class_name)
    cls = layer_registry.lookup(name)
    tables = [KEYWORDS.get(base.__name__, {}) for base in reversed(cls.__mro__)]
    return {old: new for table in [KEYWORDS["Layer"], *tables] for old, new in table.items()}


def _sizes_together(class_name: str, config: Config) -> Config:
    """Replace `nb_row` and `nb_col`, or `kernel_dim1` to `kernel_dim3`, by one `kernel_size`."""
    config = dict(config)
    for parts in (("nb_row", "nb_col"), ("kernel_dim1", "kernel_dim2", "kernel_dim3")):
        if all(part in config for part in parts):
            config["kernel_size"] = [config.pop(part) for part in parts]
    if class_name == "Deconvolution2D":
        config.pop("output_shape", None)
    return config


def _value(name: str, value: Any) -> Any:
    if isinstance(value, dict) and "name" in value and "class_name" not in value:
        return _flat_object(value)
    if isinstance(value, dict) and "class_name" in value:
        return with_current_names(value)
    return value


def _flat_object(value: Config) -> Config:
    """Return an object in Keras 1's form, `{"name": "MaxNorm", "m": 2}`, in the current form."""
    config = {key: item for key, item in value.items() if key != "name"}
    is_penalty = value["name"] in ("WeightRegularizer", "ActivityRegularizer", "L1L2Regularizer")
    class_name = "L1L2" if is_penalty else value["name"]
    if "m" in config:
        config["max_value"] = config.pop("m")
    config.pop("k", None)
    return {"class_name": class_name, "config": config}


def _merge(config: Config) -> tuple[str, Config]:
    """Return the class name and the arguments of the current layer for a Merge with this mode."""
    mode = config.get("mode", "sum")
    if config.get("mode_type", "raw") != "raw" or mode not in MERGE_MODES:
        raise ConfigError(
            f"Merge {config.get('name', '')!r}: its mode is a function, {str(mode)[:40]!r}, which "
            f"a file cannot contain. Use one of: {', '.join(MERGE_MODES)}."
        )
    arguments: Config = {"name": config["name"]} if "name" in config else {}
    if mode == "concat":
        arguments["axis"] = config.get("concat_axis", -1)
    if mode in ("dot", "cos"):
        axes = config.get("dot_axes", -1)
        arguments |= {"axes": _dot_axes(axes), "normalize": mode == "cos"}
    return MERGE_MODES[mode], arguments


def _dot_axes(axes: Any) -> Any:
    """Return `dot_axes` as one list, which Keras 1 wrote as `[1, 2]` or as `[[1], [2]]`."""
    if isinstance(axes, list):
        return [axis[0] if isinstance(axis, list) else axis for axis in axes]
    return axes


# --- configurations for Keras 2 -------------------------------------------------------------------

# Class -> arguments that Keras 2.2.4 does not have, with the value that can be omitted.
UNKNOWN_TO_KERAS_2: dict[str, Config] = {
    **{f"Conv{n}D": {"groups": 1} for n in (1, 2, 3)},
    **{
        f"Global{kind}Pooling{n}D": {"keepdims": False}
        for kind in ("Max", "Average")
        for n in (1, 2, 3)
    },
    "Conv3DTranspose": {"dilation_rate": [1, 1, 1]},
    "GaussianDropout": {"seed": None},
    "GaussianNoise": {"seed": None},
    "ZeroPadding1D": {"data_format": "channels_last"},
}

# Our class -> the equivalent class of Keras 2.2.4, and its arguments.
_SCALED = {"Glorot": (1.0, "fan_avg"), "He": (2.0, "fan_in"), "Lecun": (1.0, "fan_in")}
CLASSES_OF_KERAS_2: dict[str, tuple[str, Config]] = {
    "L1": ("L1L2", {"l1": 0.0, "l2": 0.0}),
    "L2": ("L1L2", {"l1": 0.0, "l2": 0.0}),
    **{
        f"{name}{kind}": (
            "VarianceScaling",
            {"scale": scale, "mode": mode, "distribution": kind.lower(), "seed": None},
        )
        for name, (scale, mode) in _SCALED.items()
        for kind in ("Uniform", "Normal")
    },
}


def for_keras_2(value: Any) -> Any:
    """Convert a configuration to the names and arguments of Keras 2.2.4.

    An argument that Keras 2.2.4 does not have is omitted if its value changes nothing. Classes and
    other arguments without a counterpart are kept.

    Examples
    --------
    >>> for_keras_2({"class_name": "L2", "config": {"l2": 0.5}})
    {'class_name': 'L1L2', 'config': {'l1': 0.0, 'l2': 0.5}}
    """
    if type(value) in (list, tuple):
        return type(value)([for_keras_2(item) for item in value])
    if type(value) is not dict:
        return value
    value = {key: for_keras_2(item) for key, item in value.items()}
    name, config = value.get("class_name"), value.get("config")
    if not isinstance(name, str) or not isinstance(config, dict):
        return value
    class_name, defaults = CLASSES_OF_KERAS_2.get(name, (name, {}))
    unknown = UNKNOWN_TO_KERAS_2.get(name, {})
    needed = {k: v for k, v in config.items() if k not in unknown or v != unknown[k]}
    return {**value, "class_name": class_name, "config": {**defaults, **needed}}


# --- weights of Keras 1 and early Keras 2 ---------------------------------------------------------
# Keras 1 stored convolution kernels with their axes in another order, and the gates of recurrent
# layers as separate arrays. With Theano, which computes true convolutions, Keras 1 and 2 stored
# flipped kernels. Every rule here is a function from a list of arrays to a list of arrays.


Arrays = list[np.ndarray]


def preprocess_weights_for_loading(
    layer: Any,
    weights: list[np.ndarray],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
    reshape: bool = False,
) -> list[np.ndarray]:
    """Convert saved weights to the current format of a layer.

    Parameters
    ----------
    layer : Layer
        The layer that gets the weights.
    weights : list of np.ndarray
        The arrays of the file.
    original_keras_version : str, optional
        The version of Keras that wrote them. None, as in the oldest files, means Keras 1.
    original_backend : str, optional
        The backend that wrote them. With "theano", kernels of convolutions are flipped.
    reshape : bool
        Reshape an array to the expected shape if it has the same number of elements.

    Returns
    -------
    list of np.ndarray
        The converted arrays. Arrays of layers without a rule for conversion are unchanged.
    """
    arrays = [np.asarray(array) for array in weights]
    inner = _parts(layer)
    if inner is not None:
        arrays = _part_by_part(inner, arrays, original_keras_version, original_backend, reshape)
    elif (original_keras_version or "1").startswith("1"):
        rule = RULES_OF_KERAS_1.get(type(layer).__name__)
        arrays = rule(layer, arrays, original_backend) if rule is not None else arrays
    if inner is None and original_backend == "theano":
        arrays = _unflipped(layer, arrays)
    expected = [w.shape for w in layer.weights]
    if inner is None and len(arrays) == len(expected):
        arrays = [
            _fitting(array, shape, reshape) for array, shape in zip(arrays, expected, strict=True)
        ]
    return arrays


def _fitting(array: np.ndarray, shape: tuple[int, ...], reshape: bool) -> np.ndarray:
    """Reshape an array to `shape` if the shapes differ only in axes of size 1.

    With `reshape`, an equal number of elements is enough. Otherwise return the array unchanged.
    """
    if array.shape == tuple(shape) or array.size != np.prod(shape, dtype=int):
        return array
    is_same_line = [n for n in array.shape if n != 1] == [n for n in shape if n != 1]
    return array.reshape(shape) if reshape or is_same_line else array


# --- layers with inner layers ---------------------------------------------------------------------


def _parts(layer: Any) -> list[Any] | None:
    """Return the inner layers of a network, a Bidirectional or a TimeDistributed.

    Return None for all other layers, because not all their weights belong to inner layers.
    """
    if isinstance(layer, Network):
        layers = getattr(layer, "flattened_layers", layer.layers)
        return [inner for inner in layers if inner.weights]
    if type(layer).__name__ == "Bidirectional":
        return [layer.forward_layer, layer.backward_layer]
    return [layer.layer] if type(layer).__name__ == "TimeDistributed" else None


def _part_by_part(
    parts: list[Any], arrays: Arrays, version: str | None, backend: str | None, reshape: bool
) -> Arrays:
    """Split a layer's list of arrays among its inner layers, and convert the arrays of each.

    Arrays of Keras 2 or 3 are returned unchanged, except with Theano as the backend. They need no
    conversion, and they are not grouped by layer, because the trainable weights come first.
    """
    if version is not None and not version.startswith("1") and backend != "theano":
        return arrays
    treated: Arrays = []
    rest = list(arrays)
    is_even = len({type(part) for part in parts}) == 1
    for number, part in enumerate(parts):
        remaining = len(parts) - number
        share = len(rest) // remaining if is_even else len(part.weights)
        treated += preprocess_weights_for_loading(part, rest[:share], version, backend, reshape)
        rest = rest[share:]
    return [*treated, *rest]


# --- rules of Keras 1 -----------------------------------------------------------------------------


def _convolution_1d(layer: Any, arrays: Arrays, backend: str | None) -> Arrays:
    """Convert the kernel of a Conv1D, which Keras 1 stored as a Conv2D of width 1."""
    kernel, *rest = arrays
    if kernel.ndim != 4:
        return arrays
    length, filters = layer.kernel_size[0], layer.filters
    if kernel.shape[:2] == (length, 1) and kernel.shape[3] == filters:
        return [kernel[:, 0], *rest]
    if kernel.shape[0] == filters and kernel.shape[2:] == (length, 1):  # Theano's order
        return [np.transpose(kernel, (2, 3, 1, 0))[:, 0], *rest]
    return arrays


def _convolution(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Transpose a kernel (filters, channels, *size) to (*size, channels, filters) if necessary."""
    kernel, *rest = arrays
    return [_filters_last(layer, kernel, tuple(layer.weights[0].shape)), *rest]


def _filters_last(layer: Any, kernel: np.ndarray, expected: Any) -> np.ndarray:
    filters_first = getattr(layer, "data_format", None) == "channels_first"
    if kernel.shape != expected or filters_first:
        turned = np.transpose(kernel, (*range(2, kernel.ndim), 1, 0))
        return turned if turned.shape == expected else kernel
    return kernel


def _unflipped(layer: Any, arrays: Arrays) -> Arrays:
    """Flip convolution kernels along the spatial axes, because Theano stored them flipped."""
    count = FLIPPED_BY_THEANO.get(type(layer).__name__, 0)
    turned = [np.flip(kernel, tuple(range(kernel.ndim - 2))) for kernel in arrays[:count]]
    return [*turned, *arrays[count:]]


def _transposed_convolution(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Reorder the axes of a transposed convolution's kernel, whose order differs in Keras 1."""
    kernel, *rest = arrays
    expected = tuple(layer.weights[0].shape)
    for order in ((2, 3, 0, 1), (2, 3, 1, 0), (0, 1, 3, 2)):
        turned = np.transpose(kernel, order)
        if kernel.shape != expected and turned.shape == expected:
            kernel = turned
    return [kernel, *rest]


def _lstm(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Join the kernel, recurrent kernel and bias of the gates i, c, f, o of an LSTM to 3 arrays."""
    return _joined_gates(arrays, kept="icfo", wanted="ifco")


def _conv_lstm(layer: Any, arrays: Arrays, backend: str | None) -> Arrays:
    """Join the 12 arrays of a ConvLSTM2D to 3, as in `_lstm`. Kernels may have filters first."""
    if len(arrays) != 12:
        return arrays
    turned: Arrays = []
    for number, array in enumerate(arrays):
        channels = layer.weights[number % 3].shape[-2] if number % 3 < 2 else 0
        shape = (*layer.kernel_size, channels, layer.filters)
        turned.append(array if number % 3 == 2 else _filters_last(layer, array, shape))
    return _joined_gates(turned, kept="icfo", wanted="ifco")


def _gru(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Join the kernel, recurrent kernel and bias of the gates z, r, h of a GRU to 3 arrays."""
    return _joined_gates(arrays, kept="zrh", wanted="zrh")


def _joined_gates(arrays: Arrays, kept: str, wanted: str) -> Arrays:
    if len(arrays) != 3 * len(kept):
        return arrays
    starts = [3 * kept.index(gate) for gate in wanted]
    return [np.concatenate([arrays[start + part] for start in starts], -1) for part in range(3)]


RULES_OF_KERAS_1 = {
    "Conv1D": _convolution_1d,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "Conv2DTranspose": _transposed_convolution,
    "ConvLSTM2D": _conv_lstm,
    "LSTM": _lstm,
    "GRU": _gru,
}

# Class -> the number of its first arrays that are kernels of convolutions.
FLIPPED_BY_THEANO = {"Conv1D": 1, "Conv2D": 1, "Conv3D": 1, "Conv2DTranspose": 1, "ConvLSTM2D": 2}
