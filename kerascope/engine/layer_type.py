"""The metaclass of `Layer`: what happens when a layer is made, before its `__init__`.

It translates the old keywords of Keras 1 (`Dense(output_dim=64)`), stores the constructor's
arguments for `get_config`, and stores the line of the script that makes the layer.

Every layer stores each argument of its constructor under the argument's name. So `get_config` reads
the signature of the constructor and looks up the names. A layer class of your own gets a working
`get_config` in the same way.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial, wraps
from types import MappingProxyType
from typing import Any

import numpy as np

from kerascope import activations
from kerascope.callers import users_line
from kerascope.configured import configured_names, constructor_parameters, plain
from kerascope.errors import ConfigError, DtypeError
from kerascope.not_yet import words_for
from kerascope.registry import Registry
from kerascope.spellings import in_order_of_keras_1, translate

_HOME = "kerascope.layers"

layer_registry = Registry("layer", home=_HOME, words_for=partial(words_for, _HOME))
activations._registry.further = layer_registry  # a layer may be the activation of another one


class LayerType(type):
    """Metaclass of `Layer`.

    Every layer class is entered in `layer_registry`, where configurations look it up. Exceptions
    are classes whose name begins with an underscore, and parts of `Model` (`_is_part = True`).
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if "build" in namespace and not cls.__module__.startswith("kerascope."):
            cls.build = _and_is_built(namespace["build"])
        known = layer_registry._objects.get(name)
        is_taken = known is not None and known.__module__.startswith("kerascope.")
        if not is_taken and not name.startswith("_") and not namespace.get("_is_part", False):
            layer_registry.register(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer: translate old keywords, store arguments and line, run `__init__`."""
        if args and cls.__module__.startswith("kerascope."):
            by_name = in_order_of_keras_1(cls.__name__, args, kwargs)
            args, kwargs = (args, kwargs) if by_name is None else ((), by_name)
        keywords = _translated(cls, kwargs)
        new: Any = object.__new__
        layer = new(cls)
        layer._arguments = _bound(cls, args, keywords)
        made = users_line(sys._getframe(1))
        layer.made_at, layer._made_on = (None if made is None else made[:2]), made
        layer.__init__(*args, **keywords)
        if "inbound_nodes" not in vars(layer):
            raise DtypeError(
                f"{cls.__name__}: its __init__ did not call that of Layer. "
                f"Begin it with super().__init__(**kwargs)."
            )
        return layer


def _and_is_built(build: Callable[..., None]) -> Callable[..., None]:
    """Return a user's `build` that also sets `built`, however it is called."""

    @wraps(build)
    def building(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        self.built = True

    return building


def _translated(cls: type, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Rename old keywords, except those that the class itself takes."""
    own = constructor_keywords(cls)
    old = {name: value for name, value in kwargs.items() if name not in own}
    for base in cls.__mro__ if old else ():
        old = translate(cls.__name__, old, base.__name__)
    kept = {name: value for name, value in kwargs.items() if name in own}
    if not old.keys() & kept.keys():
        return {**kept, **old}
    return translate(cls.__name__, kwargs)  # both spellings of one argument: raises


def _bound(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments by name, defaults included."""
    names = constructor_parameters(cls)
    bound = dict(constructor_defaults(cls))
    bound.update(zip(names, args, strict=False))
    bound.update({name: kwargs[name] for name in configured_names(cls) if name in kwargs})
    return bound


# --- configurations, derived from the constructor -------------------------------------------------


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
    constructors = [base for base in cls.__mro__ if "__init__" in vars(base)]
    return frozenset(name for base in constructors for name in constructor_parameters(base))


def serialized(value: Any, where: str) -> Any:
    """Return a value in a form that JSON can hold and the constructor accepts.

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
