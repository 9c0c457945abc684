"""Models from configurations without weights: dicts, JSON and YAML of Keras 1, 2 and 3.

The version of Keras that wrote a configuration is inferred from its form. The model gets new
weights, unless the caller reads weights afterwards. Functions in byte code are refused, unless the
caller trusts the file.
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
from kerascope.saving.older_keras import is_from_keras_1, with_current_names
from kerascope.saving.opaque_reading import LenientBuilder
from kerascope.saving.opaque_shapes import saved_shapes
from kerascope.saving.untrusted import LARGEST_CONFIG, check_values, parts_of, read_json, read_yaml
from kerascope.spellings import override_dialect

TO_LOOK = " To look at the model without it: opaque=True."
_ATTEMPTS = 4  # attempts to build a model whose layers fit their weights or are opaque

T = TypeVar("T")

__all__ = ["model_from_config", "model_from_json", "model_from_text_file", "model_from_yaml"]


# --- functions in byte code: refused, unless the caller trusts the file ---------------------------
# Keras writes the function of `Lambda(lambda x: ...)` as marshalled byte code. If it is loaded and
# the model is called, the author of the file can run any code on this machine. Damaged byte code
# can also crash the process. So byte code is decoded only with `safe_mode=False`, for your own
# files. (It also works with only one version of Python.)


ARGUMENTS = ("function", "output_shape", "mask")


def lambda_entries(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configuration of each Lambda layer in `config` that has functions in byte code."""
    for entry in dicts_in(config):
        inner: Any = entry.get("config")
        is_lambda = entry.get("class_name") == "Lambda" and isinstance(inner, dict)
        if is_lambda and any(byte_code_in(inner, argument) for argument in ARGUMENTS):
            yield inner


def refuse_byte_code(config: Any, safe_mode: bool) -> None:
    """In safe mode, raise ConfigError if a Lambda has byte code that no custom object replaces."""
    for entry in lambda_entries(config) if safe_mode else ():
        name = entry.get("name")
        if byte_code_in(entry, "function") and name not in get_custom_objects():
            raise ConfigError(
                f"Lambda '{name}': its function is stored as byte code, which could do anything, "
                f"so it is not run. Pass custom_objects={{{name!r}: function}}. If you trust the "
                f"file, use load_model(..., safe_mode=False)."
            )


def decode_functions(config: Any) -> None:
    """Replace the byte code of Lambda layers by functions.

    A layer's function is not replaced if a custom object has the name of the layer. Call this only
    for trusted files, because a decoded function can run any code.

    Raises
    ------
    ConfigError
        The byte code cannot be read, usually because another version of Python wrote it.
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


# Exceptions of constructors with a damaged configuration, in addition to our own errors.
DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,  # byte code of a trusted file uses an unknown global variable
    RecursionError,
    TypeError,
    ValueError,
)


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model with new weights from `{"class_name": ..., "config": model.get_config()}`.

    Parameters
    ----------
    config : dict
        A configuration of Keras 1, 2 or 3. The limits for texts do not apply, because a dict is
        your own.
    custom_objects : dict, optional
        Your own classes and functions, by name.

    Raises
    ------
    ConfigError
        The dict does not have the keys "class_name" and "config".
    UnknownNameError
        The configuration names an unknown layer class. Pass it in `custom_objects`.
    """
    return _model_of_dict(config, "model_from_config", custom_objects)


def _model_of_dict(
    config: Any, where: str, custom_objects: dict[str, Any] | None, builder: Builder | None = None
) -> Any:
    if not isinstance(config, dict) or "class_name" not in config:
        raise ConfigError(
            f"{where}: expected a dict with 'class_name' and 'config', got "
            f"{type(config).__name__}{' without them' if isinstance(config, dict) else ''}. "
            f"Use model.to_json() and model_from_json, which keep both."
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
    """Make a model with new weights from the result of `model.to_json()`, of kerascope or Keras.

    Parameters
    ----------
    json_string : str
    custom_objects : dict, optional
        Your own classes and functions, by name.
    limits : Limits or None
        Limits on building the model: see `kerascope.limits`. None for no limits.
    opaque : bool
        Whether layers of unknown classes become opaque layers; see `load_model`.

    Raises
    ------
    ConfigError
        The text is not JSON or not a model, or the model exceeds the limits.
    UnknownNameError
        The text names an unknown layer class. Pass it in `custom_objects`.
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
    """Make a model with new weights from the result of `model.to_yaml()`.

    Only plain data is read. Aliases, and tags that create Python objects, are refused.

    Parameters
    ----------
    yaml_string : str
    custom_objects : dict, optional
        Your own classes and functions, by name.
    limits : Limits or None
        Limits on building the model: see `kerascope.limits`. None for no limits.
    opaque : bool
        Whether layers of unknown classes become opaque layers; see `load_model`.

    Raises
    ------
    ConfigError
        The text is not YAML or not a model, or the model exceeds the limits.
    MissingToolError
        The text is not JSON, and PyYAML is not installed.
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
    """Make a model from a file with the result of `model.to_json()` or `model.to_yaml()`.

    Parameters
    ----------
    path : Path
        A file that ends in .json is JSON. Other files are YAML.
    custom_objects, limits, opaque : optional
        As for `model_from_json`.

    Raises
    ------
    UnavailableError
        The file does not exist or cannot be read.
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
        raise UnavailableError(f"{where}: there is no file of this name. {hint}".rstrip()) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{where}: expected a text in UTF-8.") from None
    except OSError as error:
        raise UnavailableError(f"{where} cannot be read: {error.strerror}.") from None
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
    """Return whether a configuration has the form of Keras 3, or the similar form of tf.keras."""
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
        The parsed JSON.
    where : str
        The name of the file in messages.
    safe_mode : bool
        With False, functions in byte code are decoded. Calling the model then runs code of the
        author of the file.
    builder : Builder, optional
        Creates the layers. `LenientBuilder` accepts unknown layers.

    Raises
    ------
    ConfigError
        The configuration does not describe a model.
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
        # Arguments that are missing in a configuration of Keras 1 or 2 have Keras 2's defaults.
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
            f"{where}: its configuration is not valid: a number is too large or infinite ({error})."
        ) from None
    except DAMAGED as error:
        raise ConfigError(
            f"{where}: its configuration is not valid ({type(error).__name__}: {error})."
        ) from error
    if not hasattr(model, "get_weights"):
        raise ConfigError(f"{where}: expected a model, got {type(model).__name__}.")
    return model


def fitting_model(
    config: Any, where: str, safe_mode: bool, fill: Callable[[Any], tuple[T, dict[str, str]]]
) -> tuple[Any, T]:
    """Make a model for the weights in a file. Layers whose weights do not fit become opaque.

    Parameters
    ----------
    config, where, safe_mode
        As for `model_of`.
    fill : callable
        Takes a model and reads its weights. Returns the weights, and a dict from the names of the
        layers whose weights do not fit to the reasons.

    Returns
    -------
    model : Model
    weights : object
        The weights that `fill` returned.
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
        # tf.keras uses the old name of the shape of inputs.
        is_new = any("batch_shape" in one for one in dicts_in(config))
        return from_keras_3(config if is_new else _slope_of_keras_2(config))
    return with_current_names(config) if is_from_keras_1(config) else config


def _slope_of_keras_2(value: Any, key: str = "") -> Any:
    """Replace the activation name "hard_sigmoid" by a form that contains the slope of Keras 2.

    In Keras 3 the name means another slope.
    """
    if isinstance(value, list):
        return [_slope_of_keras_2(item) for item in value]
    if isinstance(value, dict):
        return {name: _slope_of_keras_2(item, name) for name, item in value.items()}
    is_it = value == "hard_sigmoid" and key.endswith("activation")
    return ACTIVATIONS["hard_sigmoid"] if is_it else value
