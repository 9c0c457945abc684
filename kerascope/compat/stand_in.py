"""A module that has no file: it stands at a path of Keras and hands out our names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from kerascope.compat.paths import MOVED, PACKAGE, known_paths, sources_of
from kerascope.errors import NotYetAttributeError
from kerascope.not_yet import words_for
from kerascope.registry import did_you_mean

_MISSING = object()


class StandIn(ModuleType):
    """The module `keras.layers`, say, whose names are those of `kerascope.layers`.

    Parameters
    ----------
    name : str
        Full name that the script imports.
    path : str
        The same without its root; see `paths`.
    child : callable
        Returns the stand-in of a path below.
    """

    def __init__(self, name: str, path: str, child: Callable[[str], StandIn]) -> None:
        listed = ", ".join(sources_of(path))
        super().__init__(name, f"{name}, as kerascope has it: the names of {listed}.")
        self.__path__: list[str] = []  # so that Python asks the finder about what is below
        self._path = path
        self._child = child

    @property
    def _sources(self) -> list[ModuleType]:
        return [import_module(source) for source in sources_of(self._path)]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        is_special = name.startswith("__") and name != "__version__"
        value = _MISSING if is_special else self._found(name)
        if value is _MISSING:
            raise missing(self.__name__, self._path, name, self.__dir__())
        if name != "__version__":
            vars(self)[name] = value
        return value

    def _found(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        if path in MOVED and sources_of(path):  # the table wins: `keras.config` is a module
            return self._child(path)
        for source in self._sources:
            value = getattr(source, name, _MISSING)
            if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGE):
                return self._child(path) if sources_of(path) else value
            if value is not _MISSING:
                return value
        return self._child(path) if sources_of(path) else _MISSING

    def __dir__(self) -> list[str]:
        """Return the public names of the modules behind it."""
        names: set[str] = set()
        for source in self._sources:
            listed = getattr(source, "__all__", None)
            names.update(name for name in listed or vars(source) if not name.startswith("_"))
        return sorted(names)


class CallableStandIn(StandIn):
    """A stand-in for a module that can be called: `keras.layers.merge`, in Keras 1 a function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module behind it."""
        source: Any = self._sources[0]
        return source(*args, **kwargs)


def stand_in(name: str, path: str, child: Callable[[str], StandIn]) -> StandIn:
    """Return a new stand-in; a callable one where our module can be called."""
    first = import_module(sources_of(path)[0])
    return (CallableStandIn if callable(first) else StandIn)(name, path, child)


def missing(full_name: str, path: str, name: str, known: list[str]) -> AttributeError:
    """Return the error for a name that a module of Keras does not have here."""
    words = words_for(f"{PACKAGE}.{path}".rstrip("."), name)
    if words is not None:
        error: AttributeError = NotYetAttributeError(words)
    else:
        hint = "" if name.startswith("_") else nearest(path, name, known)
        error = AttributeError(f"module {full_name!r} has no attribute {name!r}. {hint}".rstrip())
    # With an object Python would add a second "Did you mean" of its own to the traceback.
    error.name, error.obj = name, None
    return error


def nearest(path: str, name: str, known: list[str]) -> str:
    """Return "Did you mean 'layers'? " for a near miss of a name or module, else nothing."""
    start = f"{path}." if path else ""
    below = [p.removeprefix(start) for p in known_paths() if p.startswith(start)]
    return did_you_mean(name, [*known, *(p for p in below if "." not in p)])


def forget(names: list[str]) -> dict[str, ModuleType]:
    """Take modules out of `sys.modules` and return them."""
    return {name: sys.modules.pop(name) for name in names}
