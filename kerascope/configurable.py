"""Objects that can be recreated from the arguments of their constructor.

`get_config` is derived from the constructor's signature for initializers, regularizers, constraints
and optimizers: each argument is stored as an attribute of the same name. Keras writes these methods
in every class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Self

import numpy as np

from kerascope.errors import ConfigError


class Configured:
    """Gives a class `get_config`, `from_config` and a readable `repr`.

    A subclass stores each argument of its constructor as an attribute of the same name.

    Examples
    --------
    >>> class Scale(Configured):
    ...     def __init__(self, factor=2.0):
    ...         self.factor = factor
    >>> Scale(3.0).get_config()
    {'factor': 3.0}
    >>> Scale.from_config({"factor": 4.0})
    Scale(factor=4.0)
    """

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain numbers, strings, lists and booleans.

        Raises
        ------
        ConfigError
            If an argument was not stored under its own name.
        """
        config = {}
        for name in configured_names(type(self)):
            if not hasattr(self, name):
                if name not in constructor_parameters(type(self)):
                    continue
                raise ConfigError(
                    f"{type(self).__name__}: get_config() needs the argument {name!r}, which is "
                    f"not an attribute. Store it as self.{name}, or write get_config() yourself.",
                    subject=self,
                )
            config[name] = plain(getattr(self, name))
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create an object from a configuration of `get_config`.

        Unknown arguments are ignored if they are None, because other versions of Keras store
        their unused options as None.

        Raises
        ------
        ConfigError
            If an unknown argument is not None.
        """
        known = configured_names(cls)
        is_open = takes_any_keyword(cls)  # type: ignore[arg-type]  # a class is hashable
        unknown = [] if is_open else [n for n in config if n not in known]
        for name in unknown:
            if config[name] is not None:
                raise ConfigError(
                    f"{cls.__name__}: unknown argument {name}={config[name]!r}. "
                    f"Use only: {', '.join(known) or 'no arguments'}."
                )
        return made_from(cls, {n: value for n, value in config.items() if n not in unknown})

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self.get_config().items())
        return f"{type(self).__name__}({inner})"


def constructor_parameters(cls: type) -> tuple[str, ...]:
    """Return the names of a constructor's own parameters, without self, *args and **kwargs."""
    return _parameters_after_self(cls.__init__)  # type: ignore[misc]


def configured_names(cls: type) -> tuple[str, ...]:
    """Return the names of the arguments in a class's configuration.

    These are the constructor's own arguments. If a class outside this package passes `**kwargs`
    on, they include the arguments of its base class.
    """
    return _configured_names(cls)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def _configured_names(cls: type) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if "__init__" in vars(base):
            names.update(dict.fromkeys(constructor_parameters(base)))
            if base.__module__.startswith("kerascope.") or not takes_any_keyword(base):
                break
    return tuple(names)


def names_beside(cls: type, attribute: str) -> tuple[str, ...]:
    """Return the argument names of the constructor in the class that defines `attribute`.

    This class is `cls` or one of its base classes.
    """
    base = next(base for base in cls.__mro__ if attribute in vars(base))
    return constructor_parameters(base)


def made_from(cls: type, config: dict[str, Any]) -> Any:
    """Return `cls(**config)`, without arguments that the constructor sets for its base class.

    For example, if `class Relu(Dense)` calls `super().__init__(units, activation="relu",
    **kwargs)`, the configuration inherited from Dense contains an activation, which is left out.
    """
    config = dict(config)
    while True:
        try:
            return cls(**config)
        except TypeError as error:
            found = re.search(r"multiple values for (?:keyword )?argument '(\w+)'", str(error))
            name = found[1] if found else ""
            if name not in config or name in constructor_parameters(cls):
                raise
            del config[name]


@lru_cache(maxsize=1024)
def _parameters_after_self(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return tuple(p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


def by_name(arguments: dict[str, Any], *own: str) -> dict[str, Any]:
    """Return a constructor's `locals()` as keyword arguments for the base class's constructor.

    So the arguments are listed only once, in the signature, where users and editors look for them.

    Parameters
    ----------
    arguments : dict
        `locals()`, before anything is assigned.
    *own : str
        Names to leave out.

    Examples
    --------
    >>> def constructor(self, units, activation="tanh", **kwargs):
    ...     return by_name(locals(), "units")
    >>> constructor(None, 32, name="encoder")
    {'activation': 'tanh', 'name': 'encoder'}
    """
    left_out = ("self", "__class__", "kwargs", *own)
    passed = {name: value for name, value in arguments.items() if name not in left_out}
    return {**passed, **arguments.get("kwargs", {})}


@lru_cache(maxsize=1024)
def takes_any_keyword(cls: Callable[..., Any]) -> bool:
    """Return whether the constructor of a class has `**kwargs`."""
    parameters = inspect.signature(cls).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def plain(value: Any) -> Any:
    """Convert a value for JSON: variables and arrays, also in lists, become plain numbers.

    A float32 becomes the shortest number that reads back as the same float32: 0.01, not
    0.009999999776482582.

    Examples
    --------
    >>> plain(np.float32(0.01)), plain(np.array([1, 2]))
    (0.01, [1, 2])
    """
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        items = [plain(item) for item in value]
        return tuple(items) if type(value) is tuple else items  # named tuples are not converted
    if hasattr(value, "get_value"):
        value = value.get_value()
    if isinstance(value, np.ndarray) and value.ndim:
        return value.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return float(str(value)) if value.dtype.kind == "f" else value.item()
    return value
