"""The class of layer classes: what happens around every layer's constructor.

It does three things, so that no layer has to: it understands the old keywords of Keras 1
(`Dense(output_dim=64)`), it remembers the constructor's arguments for `get_config`, and it notes
the line of the script that made the layer.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from kerascope.callers import line_outside_the_package
from kerascope.configured import constructor_parameters
from kerascope.engine.layer_config import constructor_defaults, constructor_keywords
from kerascope.errors import DtypeError
from kerascope.not_yet import words_for
from kerascope.registry import Registry
from kerascope.spellings import ATTRIBUTES, translate

_HOME = "kerascope.layers"

layer_registry = Registry("layer", home=_HOME, words_for=partial(words_for, _HOME))


class LayerType(type):
    """Metaclass of `Layer`.

    Every layer class is entered in `layer_registry`, by which configurations find it; not so one
    that begins with an underscore, or is only a part of `Model` (`_is_part = True`).
    """

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        known = layer_registry._objects.get(name)
        is_taken = known is not None and known.__module__.startswith("kerascope.")
        if not is_taken and not name.startswith("_") and not namespace.get("_is_part", False):
            layer_registry.register(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer: translate old keywords, note the arguments and the line, run `__init__`."""
        keywords = _translated(cls, kwargs)
        new: Any = object.__new__
        layer = new(cls)
        layer._arguments = _bound(cls, args, keywords)
        layer.made_at = line_outside_the_package()
        layer.__init__(*args, **keywords)
        if "inbound_nodes" not in vars(layer):
            raise DtypeError(
                f"{cls.__name__}: its __init__ did not call that of Layer. "
                f"Begin it with super().__init__(**kwargs)."
            )
        return layer


def _translated(cls: type, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Rename old keywords, except those that the class itself takes."""
    own = constructor_keywords(cls)
    old = {name: value for name, value in kwargs.items() if name not in own}
    for base in cls.__mro__:
        old = translate(cls.__name__, old, base.__name__)
    kept = {name: value for name, value in kwargs.items() if name in own}
    if not old.keys() & kept.keys():
        return {**kept, **old}
    return translate(cls.__name__, kwargs)  # both spellings of one argument: let it say so


def _bound(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments by name, defaults included."""
    names = constructor_parameters(cls)
    bound = dict(constructor_defaults(cls))
    bound.update(zip(names, args, strict=False))
    bound.update({name: value for name, value in kwargs.items() if name in names})
    return bound


class OldName:
    """An attribute under the name that Keras 1 gave it: `layer.W` is `layer.kernel`.

    It has no `__set__`, so a layer of your own may still store a `self.W`.
    """

    def __init__(self, new: str) -> None:
        self.new = new

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if self.new not in vars(instance):
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute {self.new!r}"
            )
        return vars(instance)[self.new]


class OldNames:
    """Mixin that gives a class every attribute of `spellings.ATTRIBUTES` under its old name."""


for _old, _new in ATTRIBUTES.items():
    setattr(OldNames, _old, OldName(_new))
