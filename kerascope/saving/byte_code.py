"""Functions that a file holds as byte code: refused, unless the caller trusts the file.

Keras writes the function of `Lambda(lambda x: ...)` as marshalled byte code. Whoever loads it gives
the author of the file the right to run anything on this machine, as soon as the model is called;
and damaged byte code can end the whole process. So it is decoded only with `safe_mode=False`, which
is for files of your own. (Byte code also fits one version of Python only.)
"""

from __future__ import annotations

import base64
import binascii
import marshal
import types
from collections.abc import Callable, Iterator
from typing import Any

from kerascope import backend as K
from kerascope.errors import ConfigError
from kerascope.registry import get_custom_objects


def lambda_entries(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configuration of each Lambda layer whose function is byte code."""
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            inner = value.get("config")
            if value.get("class_name") == "Lambda" and isinstance(inner, dict) and _code_of(inner):
                yield inner
            waiting.extend(value.values())


def _code_of(config: dict[str, Any]) -> tuple[Any, Any] | None:
    """Return the encoded byte code of a Lambda's function and its defaults, if that is its form."""
    function = config.get("function")
    if isinstance(function, dict) and function.get("class_name") == "__lambda__":
        inner = function.get("config") or {}
        return inner.get("code"), inner.get("defaults")
    if isinstance(function, (list, tuple)) and function:  # Keras 1 and 2: code, defaults, closure
        return function[0], function[1] if len(function) > 1 else None
    if config.get("function_type") == "lambda":
        return function, None
    return None


def refuse_byte_code(config: Any, safe_mode: bool) -> None:
    """Raise ConfigError if a Lambda's function is byte code and nothing stands in its place."""
    for entry in lambda_entries(config) if safe_mode else ():
        name = entry.get("name")
        if name not in get_custom_objects():
            raise ConfigError(
                f"Lambda '{name}': its function was written as the byte code of a lambda, which "
                f"is not run: it could do anything. Pass custom_objects={{{name!r}: function}}; "
                f"or, if you trust the file, safe_mode=False."
            )


def decoded_functions(config: Any) -> dict[str, Callable[..., Any]]:
    """Return the function of each Lambda that is byte code, by the layer's name.

    Only for a file that is trusted: see the top of this module.

    Raises
    ------
    ConfigError
        The byte code cannot be read: as a rule, another version of Python wrote it.
    """
    found: dict[str, Callable[..., Any]] = {}
    for entry in lambda_entries(config):
        name = str(entry.get("name"))
        if name in get_custom_objects():
            continue
        code, defaults = _code_of(entry) or (None, None)
        found[name] = _function(name, code, defaults)
    return found


def _function(name: str, code: Any, defaults: Any) -> Callable[..., Any]:
    try:
        decoded = marshal.loads(base64.b64decode(code))
        if not isinstance(decoded, types.CodeType):
            raise TypeError("it is no code")
    except (TypeError, ValueError, EOFError, binascii.Error) as error:
        raise ConfigError(
            f"Lambda '{name}': its byte code cannot be read ({error}); another version of Python "
            f"wrote it. Pass custom_objects={{{name!r}: function}}."
        ) from None
    names = {"__builtins__": __builtins__, "K": K}
    function = types.FunctionType(decoded, names, name, tuple(defaults or ()) or None)
    return function
