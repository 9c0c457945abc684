"""Reading JSON that may come from anywhere: a limit on its size, and errors that name the file."""

from __future__ import annotations

import json
from typing import Any

from kerascope.errors import ConfigError
from kerascope.saving.limits import DEEPEST_CONFIG, LARGEST_CONFIG


def read_json(text: Any, where: str) -> Any:
    """Return what a text of JSON says.

    Parameters
    ----------
    text : str or bytes
    where : str
        What the file is called in an error.

    Raises
    ------
    ConfigError
        It is no JSON, too long, or nested too deeply.
    """
    if not isinstance(text, (str, bytes)):
        raise ConfigError(f"{where}: expected a text of JSON, got {type(text).__name__}.")
    if len(text) > LARGEST_CONFIG:
        raise ConfigError(f"{where}: its JSON has {len(text)} bytes; at most {LARGEST_CONFIG}.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: its configuration is no JSON ({error}).") from None
    check_depth(value, where)
    return value


def check_depth(value: Any, where: str) -> None:
    """Raise ConfigError if lists and dicts stand too deep inside each other."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST_CONFIG:
            raise ConfigError(f"{where}: its configuration is nested too deeply.")
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
