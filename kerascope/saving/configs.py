"""Models from configurations alone: dicts, JSON, YAML, of Keras 1, 2 and 3.

Which Keras wrote a configuration is seen from its form. The weights of the model are fresh, unless
the caller goes on to read them. Functions as byte code are refused, unless the file is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kerascope import backend as K
from kerascope.engine.builders import Builder, built_by, current_builder
from kerascope.engine.pickling import byte_code_in, function_of
from kerascope.errors import (
    ConfigError,
    KerascopeError,
    NotHereError,
    UnavailableError,
    UnknownNameError,
)
from kerascope.limits import USUAL, Budget, Limits, building, current_budget
from kerascope.nested_values import dicts_in
from kerascope.registry import custom_object_scope, did_you_mean, get_custom_objects
from kerascope.saving.keras3_reading import from_keras_3
from kerascope.saving.keras3_table import ACTIVATIONS
from kerascope.saving.older_keras import is_from_keras_1, today
from kerascope.saving.opaque_reading import LenientBuilder
from kerascope.saving.opaque_shapes import saved_shapes
from kerascope.saving.untrusted import (
    LARGEST_CONFIG,
    check_values,
    parts_of,
    read_json,
    read_yaml,
)
from kerascope.spellings import override_dialect

TO_LOOK = " To look at it as it is: opaque=True."
_ATTEMPTS = 4  # to make a model whose layers fit their weights, or are opaque

T = TypeVar("T")

__all__ = ["model_from_config", "model_from_json", "model_from_text_file", "model_from_yaml"]


# --- functions as byte code: refused, unless the caller trusts the file ---------------------------
# Keras writes the function of `Lambda(lambda x: ...)` as marshalled byte code. Whoever loads it
# gives the author of the file the right to run anything on this machine, as soon as the model is
# called; and damaged byte code can end the whole process. So it is decoded only with
# `safe_mode=False`, which is for files of your own. (Byte code also fits one version of Python
# only.)


ARGUMENTS = ("function", "output_shape", "mask")


def lambda_entries(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configuration of each Lambda layer that has byte code."""
    for entry in dicts_in(config):
        inner: Any = entry.get("config")
        is_lambda = entry.get("class_name") == "Lambda" and isinstance(inner, dict)
        if is_lambda and any(byte_code_in(inner, argument) for argument in ARGUMENTS):
            yield inner


def refuse_byte_code(config: Any, safe_mode: bool) -> None:
    """Raise ConfigError if a Lambda's function is byte code and nothing stands in its place."""
    for entry in lambda_entries(config) if safe_mode else ():
        name = entry.get("name")
        if byte_code_in(entry, "function") and name not in get_custom_objects():
            raise ConfigError(
                f"Lambda '{name}': its function was written as the byte code of a lambda, which "
                f"is not run: it could do anything. Pass custom_objects={{{name!r}: function}}; "
                f"or, if you trust the file, load_model(..., safe_mode=False)."
            )


def decode_functions(config: Any) -> None:
    """Put functions in the place of byte code, except where a custom object has the layer's name.

    Only for a file that is trusted: see the top of this module.

    Raises
    ------
    ConfigError
        The byte code cannot be read: as a rule, another version of Python wrote it.
    """
    for entry in lambda_entries(config):
        name = entry.get("name")
        names = {"K": K, "np": np, **get_custom_objects()}
        for argument in ARGUMENTS:
            code = byte_code_in(entry, argument)
            if code is None or (argument == "function" and name in get_custom_objects()):
                continue
            where = f"Lambda '{name}': its {argument}"
            entry[argument] = function_of(code, names, where)


# --- models ---------------------------------------------------------------------------------------


# What a damaged configuration makes a constructor raise, beside our own errors.
DAMAGED = (
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
        Of Keras 1, 2 or 3. It is taken for your own: no limits hold, as they do for texts.
    custom_objects : dict, optional
        Your own classes and functions, by name.

    Raises
    ------
    ConfigError
        It is no such dict.
    UnknownNameError
        It names a layer class that is not known; pass it in `custom_objects`.
    """
    return _model_of_dict(config, "model_from_config", custom_objects)


def _model_of_dict(
    config: Any,
    where: str,
    custom_objects: dict[str, Any] | None,
    builder: Builder | None = None,
) -> Any:
    if not isinstance(config, dict) or "class_name" not in config:
        raise ConfigError(
            f"{where}: expected a dict with 'class_name' and 'config', got "
            f"{type(config).__name__}{' without them' if isinstance(config, dict) else ''}. "
            f"model.to_json() and model_from_json keep both."
        )
    check_values(config, where)
    with custom_object_scope(custom_objects or {}):
        return model_of(config, where, builder=builder)


def model_from_json(
    json_string: str,
    custom_objects: dict[str, Any] | None = None,
    *,
    limits: Limits | None = USUAL,
    opaque: bool = False,
) -> Any:
    """Make a model from what `model.to_json()` returned, here or in Keras; its weights are fresh.

    Parameters
    ----------
    json_string : str
    custom_objects : dict, optional
        Your own classes and functions, by name.
    limits : Limits or None
        What building the model may take: see `kerascope.limits`. None: whatever it takes.
    opaque : bool
        True opens the text whatever layers are in it; see `load_model`.

    Raises
    ------
    ConfigError
        The text is no JSON, or no model, or the model is beyond the limits.
    UnknownNameError
        It names a layer class that is not known; pass it in `custom_objects`.
    """
    config = read_json(json_string, "model_from_json", limits)
    return _model_of_text(config, "model_from_json", custom_objects, limits, opaque)


def model_from_yaml(
    yaml_string: str,
    custom_objects: dict[str, Any] | None = None,
    *,
    limits: Limits | None = USUAL,
    opaque: bool = False,
) -> Any:
    """Make a model from what `model.to_yaml()` returned; its weights are fresh.

    Only plain data is read: a tag that would make a Python object is refused, and an alias.

    Parameters
    ----------
    yaml_string : str
    custom_objects : dict, optional
        Your own classes and functions, by name.
    limits : Limits or None
        What building the model may take: see `kerascope.limits`. None: whatever it takes.
    opaque : bool
        True opens the text whatever layers are in it; see `load_model`.

    Raises
    ------
    ConfigError
        The text is no YAML, or no model, or the model is beyond the limits.
    MissingToolError
        It is no JSON either, and PyYAML is not installed.
    """
    config = read_yaml(yaml_string, "model_from_yaml", limits)
    return _model_of_text(config, "model_from_yaml", custom_objects, limits, opaque)


def model_from_text_file(
    path: Path,
    custom_objects: dict[str, Any] | None = None,
    *,
    limits: Limits | None = USUAL,
    opaque: bool = False,
) -> Any:
    """Make a model from a file with what `model.to_json()` or `to_yaml()` returned.

    Parameters
    ----------
    path : Path
        One that ends in .json is JSON, any other YAML.
    custom_objects, limits, opaque : optional
        As for `model_from_json`.

    Raises
    ------
    UnavailableError
        There is no such file, or it cannot be read.
    ConfigError, UnknownNameError, MissingToolError
        As for `model_from_json` and `model_from_yaml`.
    """
    where = f"'{path}'"
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(-1 if limits is None else LARGEST_CONFIG + 1)
    except FileNotFoundError:
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, beside)
        raise UnavailableError(f"there is no file {where}. {hint}".rstrip()) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is no text in UTF-8.") from None
    except OSError as error:
        raise UnavailableError(f"{where} cannot be read ({error.strerror}).") from None
    read = read_json if path.suffix.lower() == ".json" else read_yaml
    return _model_of_text(read(text, where, limits), where, custom_objects, limits, opaque)


def _model_of_text(
    config: Any,
    where: str,
    custom_objects: dict[str, Any] | None,
    limits: Limits | None,
    opaque: bool,
) -> Any:
    builder = LenientBuilder() if opaque else None
    with building(Budget(limits, where)):
        return _model_of_dict(config, where, custom_objects, builder)


def is_from_keras_3(config: Any) -> bool:
    """Return whether a configuration has the form of Keras 3, or the similar one of tf.keras."""
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
    config: Any, where: str, *, safe_mode: bool = True, builder: Builder | None = None
) -> Any:
    """Make a model from a configuration of Keras 1, 2 or 3.

    Parameters
    ----------
    config : object
        As JSON gives it.
    where : str
        The name of the file in messages.
    safe_mode : bool
        False decodes functions that the file contains as byte code. Calling the model then runs
        code that the author of the file wrote.
    builder : Builder, optional
        Makes the layers; the one in `opaque_reading` accepts unknown layers.

    Raises
    ------
    ConfigError
        The configuration is not one of a model.
    UnknownNameError
        The configuration contains the name of an unknown class or function.
    """
    try:
        budget = current_budget()
        if budget is not None:
            budget.check_parts(parts_of(config), "all that it names")
        if not safe_mode:
            decode_functions(config)
        if builder is None:
            refuse_byte_code(config, safe_mode)
        # What a configuration of Keras 1 or 2 leaves out is as in Keras 2.
        options: dict[str, Any] = (
            {"ends_masks": True} if is_from_keras_3(config) else {"defaults": {}}
        )
        with override_dialect(**options), built_by(builder or current_builder()) as chosen:
            model = chosen.make_model(_in_our_form(config))
    except KerascopeError as error:
        hint = " Pass your own classes and functions in custom_objects={'name': ...}."
        is_unknown = isinstance(error, UnknownNameError) and "custom_objects" not in str(error)
        named = "" if str(error).startswith(where) else f"{where}: "
        is_not_here = builder is None and isinstance(error, (UnknownNameError, NotHereError))
        to_look = TO_LOOK if is_not_here else ""
        error.args = (f"{named}{error}{hint if is_unknown else ''}{to_look}",)
        raise
    except OverflowError as error:
        raise ConfigError(
            f"{where}: its configuration makes no model: a number in it is too large, or infinite "
            f"({error})."
        ) from None
    except DAMAGED as error:
        raise ConfigError(
            f"{where}: its configuration makes no model ({type(error).__name__}: {error})."
        ) from error
    if not hasattr(model, "get_weights"):
        raise ConfigError(f"{where}: holds no model, but {type(model).__name__}.")
    return model


def fitting_model(
    config: Any, where: str, safe_mode: bool, fill: Callable[[Any], tuple[T, dict[str, str]]]
) -> tuple[Any, T]:
    """Make a model of which each layer fits its weights in a file, or is opaque.

    Parameters
    ----------
    config, where, safe_mode
        As for `model_of`.
    fill : callable
        Reads the weights for a model. Returns them, and why those of some layers do not fit, by the
        names of the layers.

    Returns
    -------
    model : Model
    weights : object
        What `fill` returned for it.
    """
    forced: dict[str, str] = {}
    shapes: dict[str, list[Any]] = {}
    for _ in range(_ATTEMPTS):
        builder = LenientBuilder(forced, shapes)
        model = model_of(config, where, safe_mode=safe_mode, builder=builder)
        weights, misfits = fill(model)
        found = saved_shapes(model)
        if not misfits.keys() - forced.keys() and found.keys() <= shapes.keys():
            break
        forced.update(misfits)
        shapes.update(found)
    return model, weights


def _in_our_form(config: Any) -> Any:
    if is_from_keras_3(config):
        # The shape of inputs has its old name in tf.keras.
        is_new = any("batch_shape" in one for one in dicts_in(config))
        return from_keras_3(config if is_new else _slope_of_keras_2(config))
    if is_from_keras_1(config):
        return today(config)
    return config


def _slope_of_keras_2(value: Any, key: str = "") -> Any:
    """Return a configuration of tf.keras 2, whose hard_sigmoid is Keras 2's, in Keras 3's words."""
    if isinstance(value, list):
        return [_slope_of_keras_2(item) for item in value]
    if isinstance(value, dict):
        return {name: _slope_of_keras_2(item, name) for name, item in value.items()}
    is_it = value == "hard_sigmoid" and key.endswith("activation")
    return ACTIVATIONS["hard_sigmoid"] if is_it else value
