"""Models from configurations alone: dicts, JSON, YAML, of Keras 1, 2 and 3.

Which Keras wrote a configuration is seen from its form. The weights of the model are fresh, unless
the caller goes on to read them.
"""

from __future__ import annotations

import json
from typing import Any

from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ConfigError, KerascopeError, MissingToolError, UnknownNameError
from kerascope.registry import custom_object_scope
from kerascope.saving.byte_code import decode_functions, refuse_byte_code
from kerascope.saving.keras3_reading import from_keras_3
from kerascope.saving.keras3_table import ACTIVATIONS
from kerascope.saving.limits import LARGEST_CONFIG
from kerascope.saving.old_configs import is_from_keras_1, today
from kerascope.saving.postponed import KNOWN_WHILE_LOADING, Allowance, postponed, put_back
from kerascope.saving.safe_json import check_depth
from kerascope.spellings import changed_habits

__all__ = ["model_from_config", "model_from_json", "model_from_yaml"]

# What a damaged configuration makes a constructor raise, beside our own errors.
_DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,  # byte code of a trusted file uses a global variable that is not here
    RecursionError,
    TypeError,
    ValueError,
)


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model from `{"class_name": ..., "config": model.get_config()}`; its weights are fresh.

    Parameters
    ----------
    config : dict
        Of Keras 1, 2 or 3.
    custom_objects : dict, optional
        Your own classes and functions, by name.

    Raises
    ------
    ConfigError
        It is no such dict.
    UnknownNameError
        It names a layer class that is not known; pass it in `custom_objects`.
    """
    if not isinstance(config, dict) or "class_name" not in config:
        raise ConfigError(
            f"model_from_config: expected a dict with 'class_name' and 'config', got "
            f"{type(config).__name__}{' without them' if isinstance(config, dict) else ''}. "
            f"model.to_json() and model_from_json keep both."
        )
    with custom_object_scope(custom_objects or {}):
        return model_of(config, "model_from_config")


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model from what `model.to_json()` returned, here or in Keras; its weights are fresh.

    Raises
    ------
    ConfigError
        The text is no JSON, or no model.
    UnknownNameError
        It names a layer class that is not known; pass it in `custom_objects`.
    """
    try:
        config = json.loads(json_string)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"model_from_json: the text is no JSON ({error}).") from None
    return model_from_config(config, custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model from what `model.to_yaml()` returned; its weights are fresh.

    Only plain data is read: a tag that would make a Python object is refused.

    Raises
    ------
    ConfigError
        The text is no YAML, or no model.
    MissingToolError
        It is no JSON either, and PyYAML is not installed.
    """
    try:
        config = json.loads(yaml_string)  # all JSON is YAML, and `to_yaml` writes no more
    except (ValueError, RecursionError):
        config = _parsed(yaml_string)
    return model_from_config(config, custom_objects)


def _parsed(text: str) -> Any:
    try:
        import yaml  # few people read YAML, and it takes long to import
    except ImportError:
        raise MissingToolError(
            "model_from_yaml: needs PyYAML, which is not installed. `pip install pyyaml`, or use "
            "model_from_json."
        ) from None

    if len(text) > LARGEST_CONFIG:
        raise ConfigError(f"model_from_yaml: {len(text)} characters; at most {LARGEST_CONFIG}.")
    try:
        return yaml.safe_load(_without_tuples(text))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).replace("\n", " ")
        raise ConfigError(f"model_from_yaml: the text is no plain YAML ({reason}).") from None


def _without_tuples(text: str) -> str:
    """Let Keras 2's `!!python/tuple` be a plain list; every other Python tag stays and fails."""
    return text.replace("!!python/tuple", "")


def is_from_keras_3(config: Any) -> bool:
    """Tell whether a configuration has Keras 3's form, or that of tf.keras, which is near to it."""
    if isinstance(config, list):
        return any(is_from_keras_3(item) for item in config)
    if not isinstance(config, dict):
        return False
    if config.get("class_name") == "Functional" or {"module", "registered_name"} <= config.keys():
        return True
    inner = config.get("config")
    if config.get("class_name") == "InputLayer":
        return isinstance(inner, dict) and "ragged" in inner
    return isinstance(inner, dict) and is_from_keras_3(inner.get("layers"))


def model_of(
    config: Any, where: str, *, safe_mode: bool = True, allowance: Allowance | None = None
) -> Any:
    """Make a model from a configuration of Keras 1, 2 or 3.

    Parameters
    ----------
    config : object
        As JSON gives it.
    where : str
        What the file is called in an error.
    safe_mode : bool
        False decodes functions that stand in the file as byte code. Calling the model then runs
        whatever the author of the file wrote.
    allowance : Allowance, optional
        The weights are read next: how many numbers there are.

    Raises
    ------
    ConfigError
        The configuration makes no model.
    UnknownNameError
        It names a class or function that is not known.
    """
    try:
        check_depth(config, where)
        if not safe_mode:
            decode_functions(config)
        refuse_byte_code(config, safe_mode)
        # What a configuration of Keras 1 or 2 leaves out is as in Keras 2.
        habits: dict[str, Any] = (
            {"ends_masks": True} if is_from_keras_3(config) else {"defaults": {}}
        )
        with custom_object_scope(KNOWN_WHILE_LOADING), changed_habits(**habits):
            translated = _in_our_form(config)
            if allowance is not None:
                translated = postponed(translated, allowance)
            model = layer_registry.deserialize(translated)
    except KerascopeError as error:
        hint = " Pass your own classes and functions in custom_objects={'name': ...}."
        is_unknown = isinstance(error, UnknownNameError) and "custom_objects" not in str(error)
        named = "" if str(error).startswith(where) else f"{where}: "
        error.args = (f"{named}{error}{hint if is_unknown else ''}",)
        raise
    except _DAMAGED as error:
        raise ConfigError(
            f"{where}: its configuration makes no model ({type(error).__name__}: {error})."
        ) from error
    if not hasattr(model, "get_weights"):
        raise ConfigError(f"{where}: holds no model, but {type(model).__name__}.")
    put_back(model)
    return model


def _in_our_form(config: Any) -> Any:
    if is_from_keras_3(config):
        return from_keras_3(config if _names_batch_shape(config) else _slope_of_keras_2(config))
    if is_from_keras_1(config):
        return today(config)
    return config


def _names_batch_shape(value: Any) -> bool:
    """Tell whether inputs have a `batch_shape`, as in Keras 3; in tf.keras it has its old name."""
    if isinstance(value, list):
        return any(_names_batch_shape(item) for item in value)
    if not isinstance(value, dict):
        return False
    return "batch_shape" in value or any(_names_batch_shape(item) for item in value.values())


def _slope_of_keras_2(value: Any, key: str = "") -> Any:
    """Return a configuration of tf.keras 2, whose hard_sigmoid is Keras 2's, in Keras 3's words."""
    if isinstance(value, list):
        return [_slope_of_keras_2(item) for item in value]
    if isinstance(value, dict):
        return {name: _slope_of_keras_2(item, name) for name, item in value.items()}
    is_it = value == "hard_sigmoid" and key.endswith("activation")
    return ACTIVATIONS["hard_sigmoid"] if is_it else value
