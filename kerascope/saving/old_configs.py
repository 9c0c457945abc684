"""Configurations of Keras 1.x, brought into today's words: a pure function over data.

The arguments that only changed their names are those of `kerascope.spellings`. What changed more
than that stands here: convolutions had `nb_row` and `nb_col`, regularizers and constraints were
flat (`{"name": "MaxNorm", "m": 2}`), and one layer `Merge` did what seven layers do today.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kerascope.engine.layer_type import constructor_keywords, layer_registry
from kerascope.errors import ConfigError, UnknownNameError
from kerascope.spellings import KEYWORDS, VALUES

Config = dict[str, Any]

# Keras 1's class -> today's.
CLASSES: dict[str, str] = {
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D",
    "Deconvolution2D": "Conv2DTranspose",
    "SeparableConvolution2D": "SeparableConv2D",
}

# What has today's word, whatever the class.
WORDS: dict[str, str] = {
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "subsample_length": "strides",
    "filter_length": "kernel_size",
    "atrous_rate": "dilation_rate",
    "dim_ordering": "data_format",
    "inner_init": "recurrent_initializer",
    "inner_activation": "recurrent_activation",
    "U_regularizer": "recurrent_regularizer",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
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

# Arguments that Keras 1 wrote for itself.
LEFT_OUT = ("consume_less", "input_dim", "input_length", "forget_bias_init", "activity_regularizer")

# Arguments of every layer, which no constructor names.
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
    """Tell whether a configuration was written by Keras 1.x."""
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
    # A class may have such a word today: Embedding has output_dim, and so may a class of your own.
    return bool(found - own)


def _entries(config: Config) -> Iterator[Config]:
    inner = config.get("config")
    layers = inner.get("layers", []) if isinstance(inner, dict) else inner
    for entry in layers if isinstance(layers, list) else []:
        if isinstance(entry, dict):
            yield entry
            yield from _entries(entry)


def today(entry: Config) -> Config:
    """Return the configuration of a layer or model of Keras 1 in today's words.

    Parameters
    ----------
    entry : dict
        `{"class_name", "config"}`; in a graph also "name" and "inbound_nodes".

    Raises
    ------
    ConfigError
        A Merge has a function as its mode.

    Examples
    --------
    >>> old = {"class_name": "Dense", "config": {"output_dim": 3, "init": "uniform"}}
    >>> today(old)["config"]
    {'units': 3, 'kernel_initializer': 'uniform'}
    """
    class_name, config = entry["class_name"], entry.get("config")
    if class_name == "Sequential":
        layers = config if isinstance(config, list) else (config or {}).get("layers", [])
        rest = config if isinstance(config, dict) else {}
        config = {**rest, "layers": [today(layer) for layer in layers]}
    elif isinstance(config, dict) and "output_layers" in config:
        config = {**config, "layers": [today(layer) for layer in config["layers"]]}
    elif class_name == "Merge":
        branches = (config or {}).get("layers")
        class_name, config = _merge(config or {})
        if branches:  # the models that it joins, where it begins a line
            entry = {**entry, "branches": [today(model) for model in branches]}
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
            continue  # an option that is off, and is no more
        known = VALUES.get(key, {})
        value = known.get(value, value) if isinstance(value, str) else value
        translated[name] = _value(name, value)
    return translated


def _spellings(class_name: str) -> dict[str, str]:
    """Return the renamings of `kerascope.spellings` for a class and its bases."""
    name = CLASSES.get(class_name, class_name)
    cls = layer_registry.lookup(name)
    tables = [KEYWORDS.get(base.__name__, {}) for base in reversed(cls.__mro__)]
    return {old: new for table in [KEYWORDS["Layer"], *tables] for old, new in table.items()}


def _sizes_together(class_name: str, config: Config) -> Config:
    """Join `nb_row` and `nb_col`, `kernel_dim1` to 3: they are one argument today."""
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
        return today(value)
    return value


def _flat_object(value: Config) -> Config:
    """Return `{"name": "MaxNorm", "m": 2}` as `{"class_name", "config"}`."""
    config = {key: item for key, item in value.items() if key != "name"}
    class_name = {"WeightRegularizer": "L1L2", "ActivityRegularizer": "L1L2"}.get(
        value["name"], value["name"]
    )
    if "m" in config:
        config["max_value"] = config.pop("m")
    config.pop("k", None)
    return {"class_name": class_name, "config": config}


def _merge(config: Config) -> tuple[str, Config]:
    """Return the layer that does what a Merge of this mode did."""
    mode = config.get("mode", "sum")
    if config.get("mode_type", "raw") != "raw" or mode not in MERGE_MODES:
        raise ConfigError(
            f"Merge {config.get('name', '')!r}: its mode is a function, {str(mode)[:40]!r}, which "
            f"a file cannot hold; expected one of {', '.join(MERGE_MODES)}."
        )
    arguments: Config = {"name": config["name"]} if "name" in config else {}
    if mode == "concat":
        arguments["axis"] = config.get("concat_axis", -1)
    if mode in ("dot", "cos"):
        axes = config.get("dot_axes", -1)
        arguments |= {"axes": _dot_axes(axes), "normalize": mode == "cos"}
    return MERGE_MODES[mode], arguments


def _dot_axes(axes: Any) -> Any:
    """Return `[[1], [2]]`, which Keras 1 also wrote, as `[1, 2]`."""
    if isinstance(axes, list):
        return [axis[0] if isinstance(axis, list) else axis for axis in axes]
    return axes
