"""Small tools for "a tensor or a list of tensors", which half of Keras's arguments are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any


def to_list(x: Any) -> list[Any]:
    """Return a list or tuple as a list, None as an empty one, anything else as a list of one."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def unpack_singleton(items: list[Any]) -> Any:
    """Return the only element of a list of one, else the list."""
    return items[0] if len(items) == 1 else items


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Tell whether a function has a parameter of this name (not merely `**kwargs`)."""
    return name in _parameters(getattr(function, "__func__", function))


@lru_cache(maxsize=4096)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)
