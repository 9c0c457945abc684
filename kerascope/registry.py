"""Named objects for configurations: activations, losses, layers, and so on.

Each of these groups has one `Registry`. `activations.get`, `activations.serialize` and
`activations.deserialize` are bound methods of the registry of activations. Names are never looked
up in a module's `globals()`, where every import and helper would be a valid "activation".
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any

from kerascope.errors import ArgumentError, ConfigError, UnknownNameError

_everywhere: dict[str, Any] = {}
_custom_objects: ContextVar[dict[str, Any]] = ContextVar("custom_objects", default=_everywhere)


def get_custom_objects() -> dict[str, Any]:
    """Return the dict of your own classes and functions by name, for the whole process.

    Inside a `custom_object_scope`, return the scope's dict, which is discarded at its end.

    Examples
    --------
    >>> from kerascope import activations
    >>> get_custom_objects()["twice"] = lambda x: 2 * x
    >>> activations.get("twice")(21)
    42
    >>> del get_custom_objects()["twice"]
    """
    return _custom_objects.get()


@contextmanager
def custom_object_scope(*objects: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Register your own classes and functions by name inside the `with` block.

    Parameters
    ----------
    *objects : dict
        Maps names to classes or functions. Later dicts take precedence.

    Examples
    --------
    >>> from kerascope.registry import Registry, custom_object_scope
    >>> registry = Registry("activation")
    >>> with custom_object_scope({"twice": lambda x: 2 * x}):
    ...     registry.get("twice")(21)
    42
    """
    merged = dict(_custom_objects.get())
    for mapping in objects:
        merged.update(mapping)
    token = _custom_objects.set(merged)
    try:
        yield merged
    finally:
        _custom_objects.reset(token)


def did_you_mean(name: str, known: Any, cutoff: float = 0.6) -> str:
    """Return "Did you mean 'relu'? " if a known name is similar, otherwise an empty string."""
    close = similar_name(name, known, cutoff)
    return f"Did you mean {close!r}? " if close else ""


def similar_name(name: str, known: Any, cutoff: float = 0.6) -> str:
    """Return the known name that is most similar to a name; "" if none is similar enough."""
    from difflib import get_close_matches  # imported here, because only errors need it

    return "".join(get_close_matches(name, list(known), n=1, cutoff=cutoff))


class Registry:
    """Finds the objects of one kind, such as activations, by their names, and saves them by name.

    Parameters
    ----------
    kind : str
        The name of the kind in errors: "activation", "loss", "layer".
    words : tuple of str
        Names that other code accepts. Errors suggest them, but the registry does not find them.
    home : str, optional
        Module that registers the objects. It is imported at the first missing name.
    words_for : callable, optional
        Returns the message for a name of Keras that kerascope does not have; None for other names.

    Examples
    --------
    >>> registry = Registry("activation")
    >>> @registry.register
    ... def relu(x): ...
    >>> registry.get("rellu")
    Traceback (most recent call last):
        ...
    kerascope.errors.UnknownNameError: Unknown activation 'rellu'. Did you mean 'relu'? Known: relu.
    """

    def __init__(
        self,
        kind: str,
        words: tuple[str, ...] = (),
        home: str | None = None,
        words_for: Callable[[str], str | None] = lambda name: None,
    ) -> None:
        self.kind = kind
        self.words = words
        self.home = home
        self.words_for = words_for
        self.further: Registry | None = None  # has classes that a configuration may name
        self._objects: dict[str, Any] = {}
        self._aliases: dict[str, str] = {}

    def register(self, item: Any, *aliases: str) -> Any:
        """Register a class or function under its own name and these aliases. Also a decorator."""
        self._objects[item.__name__] = item
        self._aliases.update(dict.fromkeys(aliases, item.__name__))
        return item

    def alias(self, *aliases: str) -> Callable[[Any], Any]:
        """Return a decorator that registers an object under its own name and these aliases."""
        return lambda item: self.register(item, *aliases)

    def names(self) -> list[str]:
        """Return the registered names, sorted, without aliases."""
        return sorted(self._objects)

    def items(self) -> list[tuple[str, Any]]:
        """Return (name, object) pairs sorted by name."""
        return sorted(self._objects.items())

    def lookup(self, name: str, custom_objects: dict[str, Any] | None = None) -> Any:
        """Return the object that is called `name`.

        Raises
        ------
        UnknownNameError
            If the name is unknown. The message suggests the most similar name.
        """
        for mapping in (custom_objects or {}, _custom_objects.get(), self._objects):
            if name in mapping:
                return mapping[name]
        if name in self._aliases:
            return self._objects[self._aliases[name]]
        if self.home is not None and self.home not in sys.modules:
            importlib.import_module(self.home)
            return self.lookup(name, custom_objects)
        if self.home is not None and name in dir(sys.modules[self.home]):
            getattr(sys.modules[self.home], name)  # a lazily imported module registers its objects
            if name in self._objects:
                return self._objects[name]
        not_yet = self.words_for(name)
        if not_yet is not None:
            raise UnknownNameError(not_yet)
        known = self.names()
        words = [word for word in self.words if word != name]
        own = [*(custom_objects or {}), *_custom_objects.get()]
        hint = did_you_mean(name, [*words, *known, *self._aliases, *own])
        every = f"Known: {', '.join(known)}." if known else ""
        raise UnknownNameError(f"Unknown {self.kind} {name!r}. {hint}{every}".rstrip())

    def _lookup_saved(self, name: str) -> Any:
        """Return the object for a name in a configuration; errors say how to register a name."""
        try:
            return self.lookup(name)
        except UnknownNameError as error:
            if self.further is not None:
                with suppress(UnknownNameError):
                    return self.further.lookup(name)
            head, known, names = str(error).partition("Known: ")
            own = (
                f"If it is yours, pass the object, or load with custom_objects={{{name!r}: ...}}. "
            )
            raise UnknownNameError(" ".join((head.rstrip(), own + known + names))) from None

    def get(self, identifier: Any) -> Any:
        """Return the object for a name or a configuration; objects and None stay unchanged.

        A class, or the name of a class, gives an instance with default arguments.
        """
        if identifier is None:
            return None
        if isinstance(identifier, dict):
            return self.deserialize(identifier)
        if isinstance(identifier, str):
            found = self.lookup(identifier)
            return found() if inspect.isclass(found) else found
        if inspect.isclass(identifier):
            return identifier()
        if callable(identifier) or hasattr(identifier, "get_config"):
            return identifier
        raise ArgumentError(
            f"{self.kind}: expected a name, a configuration {{'class_name': ..., 'config': "
            f"...}}, a function or an object, got {identifier!r}."
        )

    def serialize(self, item: Any) -> Any:
        """Convert a function or class to its name, any other object to {"class_name", "config"}."""
        if item is None:
            return None
        if hasattr(item, "get_config") and not inspect.isclass(item):
            return {"class_name": type(item).__name__, "config": item.get_config()}
        name = getattr(item, "__name__", None)
        if name is None:
            raise ConfigError(
                f"{self.kind}: {item!r} has neither a name nor get_config(); it cannot be saved."
            )
        return name

    def deserialize(self, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """Return the object for a name or a configuration that `serialize` returned.

        Raises
        ------
        ConfigError
            If the dict has no "class_name".
        UnknownNameError
            If the class or function is unknown. Pass `custom_objects` or use
            `custom_object_scope`.
        """
        if not isinstance(config, (dict, str)):
            return self.get(config)
        with custom_object_scope(custom_objects) if custom_objects else nullcontext():
            if isinstance(config, str):
                self._lookup_saved(config)
                return self.get(config)
            if "class_name" not in config:
                raise ConfigError(
                    f"{self.kind}: expected a configuration {{'class_name': ..., 'config': ...}}, "
                    f"got {config!r}."
                )
            found = self._lookup_saved(config["class_name"])
            if not inspect.isclass(found):
                return found
            arguments = config.get("config") or {}
            if hasattr(found, "from_config"):
                return found.from_config(arguments)
            return found(**arguments)
