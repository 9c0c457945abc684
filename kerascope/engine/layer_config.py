"""A layer's configuration, derived from its constructor.

Every layer stores each argument of its constructor under its own name, so its configuration is:
read the signature, look the names up. A layer class of your own gets a working `get_config` in the
same way and needs to write none.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope.configured import constructor_parameters, plain
from kerascope.errors import ConfigError

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer

_shares_functions: ContextVar[bool] = ContextVar("shares_functions", default=False)


@contextmanager
def sharing_functions() -> Iterator[None]:
    """Let configurations that stay in this process hold functions as they are, not by name."""
    token = _shares_functions.set(True)
    try:
        yield
    finally:
        _shares_functions.reset(token)


def shares_functions() -> bool:
    """Tell whether a configuration may hold functions as they are."""
    return _shares_functions.get()


def is_nameless(function: Any) -> bool:
    """Tell whether a function has no name by which it could be found again, as a lambda."""
    return getattr(function, "__name__", "<lambda>") == "<lambda>"


@lru_cache(maxsize=1024)
def constructor_defaults(cls: type) -> MappingProxyType[str, Any]:
    """Return the default of each of a constructor's own parameters that has one."""
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    defaults = {name: parameters[name].default for name in constructor_parameters(cls)}
    return MappingProxyType({n: d for n, d in defaults.items() if d is not inspect.Parameter.empty})


@lru_cache(maxsize=1024)
def constructor_keywords(cls: type) -> frozenset[str]:
    """Return every keyword that the constructors of a class and its bases name."""
    return frozenset(name for base in cls.__mro__ for name in constructor_parameters(base))


def derived_config(layer: Layer, *, overridden: bool = False) -> dict[str, Any]:
    """Return the constructor's arguments as they stand now, ready for JSON.

    Parameters
    ----------
    layer : Layer
    overridden : bool
        The class writes a `get_config` of its own, which will see to what cannot be written here.

    Raises
    ------
    ConfigError
        An argument is stored nowhere, or its value cannot be written.
    """
    config = {}
    for name in constructor_parameters(type(layer)):
        if name in ("name", "trainable", "dtype"):
            continue
        if not hasattr(layer, name) and name not in layer._arguments:
            raise ConfigError(
                f"{layer.label}: get_config cannot find the constructor's argument {name!r}; "
                f"expected an attribute of that name. Store it (self.{name} = {name}) or write "
                "get_config.",
                subject=layer,
            )
        value = getattr(layer, name) if hasattr(layer, name) else layer._arguments[name]
        try:
            config[name] = serialized(value, f"{layer.label}: argument {name!r}")
        except ConfigError:
            if not overridden:
                raise
    return config


def serialized(value: Any, where: str) -> Any:
    """Return a value in a form that JSON can hold and the constructor understands again.

    Raises
    ------
    ConfigError
        There is no such form.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value)
    if isinstance(value, (list, tuple)):
        return [serialized(item, where) for item in value]
    if isinstance(value, dict):
        return {key: serialized(item, where) for key, item in value.items()}
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if callable(value) and shares_functions():
        return value
    if callable(value) and not is_nameless(value):
        return value.__name__
    raise ConfigError(
        f"{where}: {value!r} cannot be written in a configuration; "
        f"expected numbers, strings, lists or objects with get_config()."
    )
