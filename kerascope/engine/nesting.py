"""Small tools for arguments: "a tensor or a list of tensors", and arguments by place or by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.spellings import translate


def to_list(x: Any) -> list[Any]:
    """Return a list or tuple as a list, None as an empty one, anything else as a list of one."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def unpack_singleton(items: list[Any]) -> Any:
    """Return the only element of a list of one, else the list."""
    return items[0] if len(items) == 1 else items


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return the names, each made distinct from those before it by a number.

    Examples
    --------
    >>> distinct_names(["acc", "acc", "loss"])
    ['acc', 'acc_1', 'loss']
    """
    distinct: dict[str, None] = {}
    for name in names:
        candidate, number = name, 1
        while candidate in distinct:
            candidate, number = f"{name}_{number}", number + 1
        distinct[candidate] = None
    return list(distinct)


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Tell whether a function has a parameter of this name (not merely `**kwargs`)."""
    function = getattr(function, "__func__", function)
    try:
        return name in _known_parameters(function)
    except TypeError:  # an object that cannot be hashed
        return name in _parameters(function)


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(p.name for p in parameters if p.kind is not p.VAR_KEYWORD)


_known_parameters = lru_cache(maxsize=4096)(_parameters)


def named_arguments(
    method: str, names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any], where: str
) -> dict[str, Any]:
    """Return the arguments of a method of Keras by today's names, old ones translated.

    Raises
    ------
    ArgumentError
        There are too many, one is given twice, or one has no such name.
    """
    if len(args) > len(names):
        raise ArgumentError(f"{where}: got {len(args)} arguments by place; expected {len(names)}.")
    given = dict(zip(names, args, strict=False))
    for name, value in translate(method, kwargs).items():
        if name not in names:
            raise ArgumentError(f"{where}: unknown argument {name!r}. {did_you_mean(name, names)}")
        if name in given:
            raise ArgumentError(f"{where}: {name!r} is given by place and by name. Leave one out.")
        given[name] = value
    return given
