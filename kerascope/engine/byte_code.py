"""Functions as byte code: how Keras writes a lambda into a configuration.

A function with a name is written by its name. A lambda has none, so its code, the defaults of its
arguments and what it uses of the function around it are written. Running that code is another
matter: see `saving.byte_code`. Byte code fits one version of Python only.
"""

from __future__ import annotations

import base64
import binascii
import marshal
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kerascope.engine.layer_config import is_nameless, serialized
from kerascope.errors import ConfigError


class ByteCode(NamedTuple):
    """A function without its name and its module.

    Attributes
    ----------
    code : str
        Marshalled, in base64.
    defaults, closure : sequence or None
        Values of the arguments that need not be given, and of the variables of the function around.
    """

    code: Any
    defaults: Any = None
    closure: Any = None


def byte_code_of(function: Any, where: str) -> ByteCode:
    """Return a function as byte code; its defaults and closure are the very objects.

    Raises
    ------
    ConfigError
        It is no function in Python, has defaults that Keras has no place for, or uses a variable
        of the function around it that has no value yet.
    """
    if not isinstance(function, types.FunctionType) or function.__kwdefaults__:
        raise ConfigError(
            f"{where} is {function!r}, which cannot be written as byte code; expected a function "
            "without keyword-only defaults. Define it with def, and when loading pass "
            "custom_objects={'its_name': its_name}."
        )
    code = base64.b64encode(marshal.dumps(_without_path(function.__code__))).decode()
    cells = function.__closure__
    try:
        closure = cells and tuple(cell.cell_contents for cell in cells)
    except ValueError:
        raise ConfigError(
            f"{where} uses a variable of the function around it that has no value yet, out of "
            f"{', '.join(function.__code__.co_freevars)}. Set it first."
        ) from None
    return ByteCode(code, function.__defaults__, closure)


def _without_path(code: types.CodeType) -> types.CodeType:
    """Return code that does not say in which file of this machine it was written."""
    constants = (_without_path(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename="<lambda>", co_consts=tuple(constants))


def written_function(function: Any, where: str) -> tuple[Any, str]:
    """Return what Keras 2 writes for a function: its name, or its byte code; and of what kind.

    Raises
    ------
    ConfigError
        It is a lambda that uses objects which a configuration cannot hold.
    """
    if not is_nameless(function):
        return function.__name__, "function"
    code = byte_code_of(function, where)
    return [code.code, *(serialized(part, where) for part in code[1:])], "lambda"


def function_of(code: ByteCode, names: dict[str, Any], where: str) -> Callable[..., Any]:
    """Return the function that byte code stands for; `names` are its global variables.

    Raises
    ------
    ConfigError
        The byte code cannot be read: as a rule, another version of Python wrote it.
    """
    try:
        decoded = marshal.loads(base64.b64decode(code.code))
        if not isinstance(decoded, types.CodeType):
            raise TypeError("it is no code")
        return types.FunctionType(
            decoded,
            names,
            decoded.co_name,
            tuple(code.defaults or ()) or None,
            tuple(types.CellType(value) for value in code.closure or ()) or None,
        )
    except (TypeError, ValueError, EOFError, binascii.Error) as error:
        raise ConfigError(
            f"{where}: its byte code cannot be read ({error}); another version of Python wrote it."
        ) from None


def byte_code_in(config: Mapping[str, Any], argument: str) -> ByteCode | None:
    """Return the byte code that a layer's configuration holds for an argument, if it does."""
    value = config.get(argument)
    if isinstance(value, dict) and value.get("class_name") == "__lambda__":  # Keras 3
        inner = value.get("config") or {}
        return ByteCode(inner.get("code"), inner.get("defaults"), inner.get("closure"))
    is_lambda = config.get(f"{argument}_type") == "lambda"
    if isinstance(value, (list, tuple)) and value and (is_lambda or argument != "output_shape"):
        return ByteCode(*value[:3])  # Keras 1 and 2
    return ByteCode(value) if is_lambda and not callable(value) else None
