"""The metaclass of `Layer`, which runs before the `__init__` of a new layer.

It translates old keywords of Keras 1 (`Dense(output_dim=64)`), and stores the constructor's
arguments for `get_config` and the line of the script that makes the layer.

Each layer stores the arguments of its constructor as attributes of the same names. So `get_config`
can read the names from the constructor's signature. This works for layer classes of your own too.
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
from kerascope.configurable import configured_names, constructor_parameters, plain
from kerascope.errors import ConfigError, DtypeError
from kerascope.missing_names import words_for
from kerascope.registry import Registry
from kerascope.spellings import in_order_of_keras_1, translate
from kerascope.user_frames import users_line

_HOME = "kerascope.layers"

layer_registry = Registry("layer", home=_HOME, words_for=partial(words_for, _HOME))
activations._registry.further = layer_registry  # a layer may be the activation of another one


class LayerType(type):
    """The metaclass of `Layer`, which stores the arguments of each new layer's constructor.

    Each layer class is added to `layer_registry`, where configurations find it by name. Exceptions
    are classes whose name begins with an underscore, and parts of `Model` (`_is_part = True`).
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if "build" in namespace and not cls.__module__.startswith("kerascope."):
            cls.build = _setting_built(namespace["build"])
        known = layer_registry._objects.get(name)
        is_taken = known is not None and known.__module__.startswith("kerascope.")
        if not is_taken and not name.startswith("_") and not namespace.get("_is_part", False):
            layer_registry.register(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer, with old keywords translated; store its arguments and the user's line."""
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


def _setting_built(build: Callable[..., None]) -> Callable[..., None]:
    """Decorate the `build` of a user's layer class so that it also sets the attribute `built`."""

    @wraps(build)
    def building(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        self.built = True

    return building


def _translated(cls: type, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments with Keras 1's names translated.

    A name that the constructor has as a parameter is not translated.
    """
    own = constructor_keywords(cls)
    old = {name: value for name, value in kwargs.items() if name not in own}
    for base in cls.__mro__ if old else ():
        old = translate(cls.__name__, old, base.__name__)
    kept = {name: value for name, value in kwargs.items() if name in own}
    if not old.keys() & kept.keys():
        return {**kept, **old}
    return translate(cls.__name__, kwargs)  # raises if both spellings of an argument are given


def _bound(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that a call of the constructor has, by name, including the defaults."""
    names = constructor_parameters(cls)
    bound = dict(constructor_defaults(cls))
    bound.update(zip(names, args, strict=False))
    bound.update({name: kwargs[name] for name in configured_names(cls) if name in kwargs})
    return bound


# --- configurations, derived from the constructor -------------------------------------------------


_shares_functions: ContextVar[bool] = ContextVar("shares_functions", default=False)


@contextmanager
def sharing_functions() -> Iterator[None]:
    """Inside the `with` block, configurations contain functions instead of their names.

    Such a configuration can be used only in this process.
    """
    token = _shares_functions.set(True)
    try:
        yield
    finally:
        _shares_functions.reset(token)


def shares_functions() -> bool:
    """Return whether configurations now contain functions instead of their names."""
    return _shares_functions.get()


def is_nameless(function: Any) -> bool:
    """Return whether a function, such as a lambda, has no name to look it up by in its module."""
    return getattr(function, "__name__", "<lambda>") == "<lambda>"


@lru_cache(maxsize=1024)
def constructor_defaults(cls: type) -> MappingProxyType[str, Any]:
    """Return the defaults of a constructor's own parameters, by name."""
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    defaults = {name: parameters[name].default for name in constructor_parameters(cls)}
    return MappingProxyType({n: d for n, d in defaults.items() if d is not inspect.Parameter.empty})


@lru_cache(maxsize=1024)
def constructor_keywords(cls: type) -> frozenset[str]:
    """Return the names of all parameters in the constructors of a class and its bases."""
    constructors = [base for base in cls.__mro__ if "__init__" in vars(base)]
    return frozenset(name for base in constructors for name in constructor_parameters(base))


def serialized(value: Any, where: str) -> Any:
    """Convert a value to a form that JSON can contain and the constructor accepts.

    Raises
    ------
    ConfigError
        The value has no form that JSON can contain.
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
        f"{where}: expected numbers, strings, lists or objects with get_config() for a "
        f"configuration, got {value!r}."
    )
