"""Who makes and calls the layers of a model that is read from a file.

By default that is plain: a layer that cannot be made or called raises, and nothing is read. A
reader that shall open every file puts a `Builder` of its own here, which lets an opaque layer stand
in for such a layer: see `saving.opaque_reading`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from kerascope.engine.binding import Call
from kerascope.engine.layer_type import layer_registry
from kerascope.spellings import dialect_options, override_dialect

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer

Entry = dict[str, Any]


class Builder:
    """Makes layers from the entries of a configuration, and calls them.

    Attributes
    ----------
    is_lenient : bool
        Whether something else may stand in for a layer.
    """

    is_lenient = False

    def calls_in_graph(self, config: Entry) -> dict[str, list[Any]]:
        """Return what a graph of Keras 3 says of the calls of its layers, by their names."""
        return {}

    def calls_in_line(self, entries: list[Any]) -> list[list[Any]]:
        """Return what a Sequential of Keras 3 says of the calls of its layers."""
        return [[] for _ in entries]

    def whole(self, entry: Entry) -> Any:
        """Return the model of a whole configuration."""
        return self.made(entry)

    def made(self, entry: Entry) -> Any:
        """Return the layer of an entry."""
        return layer_registry.deserialize(entry)

    def called(self, layer: Layer, call: Call) -> Layer:
        """Call a layer of a graph; return it, or what stood in for it."""
        layer(call.inputs, **call.arguments)
        return layer

    def added(self, model: Any, layer: Layer) -> None:
        """Add a layer to a Sequential."""
        model.add(layer)


_builder: ContextVar[Builder] = ContextVar("builder", default=Builder())  # noqa: B039 (no state)

current_builder = _builder.get


@contextmanager
def built_by(builder: Builder) -> Iterator[Builder]:
    """Let a builder make all layers inside the `with` block."""
    token = _builder.set(builder)
    try:
        yield builder
    finally:
        _builder.reset(token)


def made(entry: Entry) -> Any:
    """Return the layer of `{"class_name", "config"}`."""
    with override_dialect(ends_masks=bool(entry.get("ends_masks", dialect_options().ends_masks))):
        return _builder.get().made(entry)


def mask_rules(layer: Layer) -> Entry:
    """Return what a layer's entry says beside its configuration: whose rules it has for masks.

    A layer from a file of Keras 3 keeps Keras 3's rules in every dialect, so its copy needs them
    too. The entry of a layer that no mask reaches, or that has Keras 2's rules, says nothing.
    """
    is_masked = any(mask is not None for node in layer.inbound_nodes for mask in node.input_masks)
    needs_it = is_masked and (layer._ends_masks or dialect_options().ends_masks)
    return {"ends_masks": layer._ends_masks} if needs_it else {}


def called(layers: dict[str, Layer], name: str, call: Call) -> None:
    """Call a layer of a graph, for which another may come to stand."""
    layers[name] = _builder.get().called(layers[name], call)


def added(model: Any, layer: Layer) -> None:
    """Add a layer to a Sequential."""
    _builder.get().added(model, layer)
