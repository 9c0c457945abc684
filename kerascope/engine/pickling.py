"""Converts models to plain data for `pickle` and `copy.deepcopy`, and functions to byte code.

As in a file, the configuration of a model is written and not its graph. Your own functions and
layer classes are written by reference, as `pickle` does, so they need no `custom_objects`. A copy
in the same process shares the functions.

A configuration contains the name of a function. A lambda has no name, so its byte code, the
defaults of its arguments and its closure are written, as in Keras. Whether such code from a file
may run is decided in `saving.configs`. Byte code works only in the version of Python that compiled
it.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import marshal
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kerascope import optimizers
from kerascope.backend.atomic import LOCKS
from kerascope.engine.base_layer import Layer, layers_within
from kerascope.engine.layer_type import is_nameless, serialized, sharing_functions
from kerascope.errors import ConfigError, NotYetError
from kerascope.registry import custom_object_scope
from kerascope.spellings import override_dialect

# --- a model --------------------------------------------------------------------------------------


def pickle_model(model: Any) -> dict[str, Any]:
    """Return plain data from which the model can be made again, also in another process.

    Raises
    ------
    ConfigError
        A layer has no configuration.
    NotYetError
        A layer is opaque.
    """
    for layer in model._layers_that_cannot_run():
        raise NotYetError(
            f"{layer.label}: an opaque layer can be neither copied nor pickled. Save the model, "
            "and load the file again with opaque=True.",
            subject=layer,
        )
    with LOCKS.steps:  # so that weights and optimizer state belong to the same step
        return _state_of(model)


def _state_of(model: Any) -> dict[str, Any]:
    with sharing_functions():
        config = model.get_config()
    state: dict[str, Any] = {
        "class": type(model),
        "config": _exchanged(config, types.FunctionType, Carried),
        "custom_objects": own_classes(model),
        "weights": model.get_weights() if model.outputs else None,
    }
    if model.is_compiled:
        names = ("loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics")
        waiting = model._waiting_to_compile or vars(model)
        state["compiled"] = {name: waiting[name] for name in names} | {"engine": model.engine}
        state["optimizer"] = optimizers.serialize(model.optimizer)
        numbers = model.optimizer.get_weights()  # this may make the train function
        if model.train_function is not None:
            state["optimizer_weights"] = numbers
    return state


def own_classes(whole: Layer) -> dict[str, type]:
    """Return the user-defined classes in a layer or network, by name."""
    found: dict[str, type] = {}
    for layer in layers_within(whole):
        if not type(layer).__module__.startswith("kerascope."):
            found[type(layer).__name__] = type(layer)
    return found


class Carried:
    """Takes the place of a function in the configuration of a model that is copied or pickled.

    A copy of the model shares the function. A pickle contains a reference to the function if its
    module contains it by name, and otherwise its byte code.
    """

    def __init__(self, function: Any) -> None:
        self.function = function

    def __deepcopy__(self, memo: Any) -> Carried:
        return self

    def __reduce__(self) -> Any:
        module, name = self.function.__module__, self.function.__qualname__
        if getattr(sys.modules.get(module), name, None) is self.function:
            return Carried, (self.function,)
        return _carried, (*byte_code_of(self.function, "pickle: a function of a layer"), module)


def _carried(code: Any, defaults: Any, closure: Any, module: str) -> Carried:
    """Make a function from its byte code in a pickle, with the globals of `module`."""
    names = vars(importlib.import_module(module))
    return Carried(function_of(ByteCode(code, defaults, closure), names, f"pickle: {module}"))


def _exchanged(config: Any, kind: type, exchange: Callable[[Any], Any]) -> Any:
    """Return a configuration in which `exchange(item)` replaces each `item` of the class `kind`."""
    if isinstance(config, dict):
        return {name: _exchanged(value, kind, exchange) for name, value in config.items()}
    if isinstance(config, list):
        return [_exchanged(value, kind, exchange) for value in config]
    return exchange(config) if isinstance(config, kind) else config


def unpickle_model(state: dict[str, Any]) -> Any:
    """Make a model from the data that `pickle_model` returned."""
    with custom_object_scope(state["custom_objects"]):
        config = _exchanged(state["config"], Carried, lambda carried: carried.function)
        model = state["class"].from_config(config)
        if "compiled" in state:
            # Arguments missing from the configuration have Keras 2's defaults in any dialect.
            with override_dialect(defaults={}, optimizer_flavour="2"):
                optimizer = optimizers.deserialize(state["optimizer"])
            model.compile(optimizer, **state["compiled"])
    if state["weights"] is not None:
        model.set_weights([np.array(w) for w in state["weights"]])
    if state.get("optimizer_weights") is not None:
        model._make_train_function()
        model.optimizer.set_weights(state["optimizer_weights"])
    return model


# --- functions as byte code -----------------------------------------------------------------------


class ByteCode(NamedTuple):
    """The byte code of a function, without its name and module.

    Attributes
    ----------
    code : str
        The code object, marshalled, in base64.
    defaults, closure : sequence or None
        Default values of arguments, and values of variables of the enclosing function.
    """

    code: Any
    defaults: Any = None
    closure: Any = None


def byte_code_of(function: Any, where: str) -> ByteCode:
    """Return the byte code, default values and closure of a function; the values are not copied.

    Raises
    ------
    ConfigError
        The object is not a Python function, or the function has keyword-only defaults, or uses a
        variable of the enclosing function that has no value yet.
    """
    if not isinstance(function, types.FunctionType) or function.__kwdefaults__:
        raise ConfigError(
            f"{where}: expected a Python function without keyword-only defaults for byte code, got "
            f"{function!r}. Define it with def, and when loading pass "
            "custom_objects={'its_name': its_name}."
        )
    code = base64.b64encode(marshal.dumps(_without_path(function.__code__))).decode()
    cells = function.__closure__
    try:
        closure = cells and tuple(cell.cell_contents for cell in cells)
    except ValueError:
        raise ConfigError(
            f"{where}: a variable of the enclosing function has no value yet. Set it first. It is "
            f"one of: {', '.join(function.__code__.co_freevars)}."
        ) from None
    return ByteCode(code, function.__defaults__, closure)


def _without_path(code: types.CodeType) -> types.CodeType:
    """Return a code object without the path of its source file."""
    constants = (_without_path(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="<lambda>", co_consts=tuple(constants))


def written_function(function: Any, where: str) -> tuple[Any, str]:
    """Return (name, "function"), or (byte code, "lambda") for a lambda, as in files of Keras 2.

    Raises
    ------
    ConfigError
        The function is a lambda that uses objects that a configuration cannot contain.
    """
    if not is_nameless(function):
        return function.__name__, "function"
    code = byte_code_of(function, where)
    return [code.code, *(serialized(part, where) for part in code[1:])], "lambda"


def function_of(code: ByteCode, names: dict[str, Any], where: str) -> Callable[..., Any]:
    """Make a function from byte code; `names` are its global variables.

    Raises
    ------
    ConfigError
        The byte code cannot be read, usually because another version of Python wrote it.
    """
    try:
        decoded = marshal.loads(base64.b64decode(code.code))
        if not isinstance(decoded, types.CodeType):
            raise TypeError("expected a code object")
        return types.FunctionType(
            decoded,
            names,
            decoded.co_name,
            tuple(code.defaults or ()) or None,
            tuple(types.CellType(value) for value in code.closure or ()) or None,
        )
    except (TypeError, ValueError, EOFError, binascii.Error) as error:
        raise ConfigError(
            f"{where}: the byte code cannot be read ({error}). Another version of Python wrote it."
        ) from None


def byte_code_in(config: Mapping[str, Any], argument: str) -> ByteCode | None:
    """Return the byte code of an argument in a layer's configuration; None if it has none."""
    value = config.get(argument)
    if isinstance(value, dict) and value.get("class_name") == "__lambda__":  # Keras 3
        inner = value.get("config") or {}
        return ByteCode(inner.get("code"), inner.get("defaults"), inner.get("closure"))
    is_lambda = config.get(f"{argument}_type") == "lambda"
    if isinstance(value, (list, tuple)) and value and (is_lambda or argument != "output_shape"):
        return ByteCode(*value[:3])  # Keras 1 and 2
    return ByteCode(value) if is_lambda and not callable(value) else None
