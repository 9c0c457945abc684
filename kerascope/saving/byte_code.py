"""Functions that a file holds as byte code: refused, unless the caller trusts the file.

Keras writes the function of `Lambda(lambda x: ...)` as marshalled byte code. Whoever loads it gives
the author of the file the right to run anything on this machine, as soon as the model is called;
and damaged byte code can end the whole process. So it is decoded only with `safe_mode=False`, which
is for files of your own. (Byte code also fits one version of Python only.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.engine.pickling import byte_code_in, function_of
from kerascope.errors import ConfigError
from kerascope.registry import get_custom_objects

ARGUMENTS = ("function", "output_shape", "mask")


def lambda_entries(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configuration of each Lambda layer that has byte code."""
    waiting = [config]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            inner: Any = value.get("config")
            is_lambda = value.get("class_name") == "Lambda" and isinstance(inner, dict)
            if is_lambda and any(byte_code_in(inner, argument) for argument in ARGUMENTS):
                yield inner
            waiting.extend(value.values())


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
