"""The builder that makes and calls layers when a model is read from a file.

The default builder raises if a layer cannot be made or called. A lenient reader sets another
`Builder`, which replaces such a layer by an opaque one: see `saving.opaque_reading`.
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
    """Makes layers from the entries of a configuration, and calls the layers.

    Attributes
    ----------
    is_lenient : bool
        Whether an opaque layer may replace a layer that cannot be made or called.
    """

    is_lenient = False

    def calls_in_graph(self, config: Entry) -> dict[str, list[Any]]:
        """Return the calls of each layer of a Keras 3 graph, by layer name, for opaque layers.

        This builder makes no opaque layers, so the dict is empty. See `LenientBuilder`.
        """
        return {}

    def calls_in_line(self, entries: list[Any]) -> list[list[Any]]:
        """Return a list of the calls of each layer of a Keras 3 Sequential, for opaque layers.

        This builder makes no opaque layers, so each list is empty. See `LenientBuilder`.
        """
        return [[] for _ in entries]

    def make_model(self, entry: Entry) -> Any:
        """Make a model from its complete configuration, `{"class_name", "config"}`."""
        return self.make_layer(entry)

    def make_layer(self, entry: Entry) -> Any:
        """Make a layer from its configuration, `{"class_name", "config"}`."""
        return layer_registry.deserialize(entry)

    def call_layer(self, layer: Layer, call: Call) -> Layer:
        """Call a layer of a graph, and return it. Subclasses may return an opaque layer instead."""
        layer(call.inputs, **call.arguments)
        return layer

    def add_layer(self, model: Any, layer: Layer) -> None:
        """Add a layer to a Sequential."""
        model.add(layer)


_builder: ContextVar[Builder] = ContextVar("builder", default=Builder())  # noqa: B039 (no state)

current_builder = _builder.get


@contextmanager
def built_by(builder: Builder) -> Iterator[Builder]:
    """Make all layers inside the `with` block with this builder."""
    token = _builder.set(builder)
    try:
        yield builder
    finally:
        _builder.reset(token)


def make_layer(entry: Entry) -> Any:
    """Make the layer of `{"class_name", "config"}` with the current builder."""
    with override_dialect(ends_masks=bool(entry.get("ends_masks", dialect_options().ends_masks))):
        return _builder.get().make_layer(entry)


def mask_rules(layer: Layer) -> Entry:
    """Return `{"ends_masks": ...}` for a layer's configuration: whether the layer drops masks.

    A layer from a file of Keras 3 drops masks in any dialect, and so must a copy of the layer. The
    dict is empty if no mask reaches the layer, or if the layer has Keras 2's rules.
    """
    is_masked = any(mask is not None for node in layer.inbound_nodes for mask in node.input_masks)
    needs_it = is_masked and (layer._ends_masks or dialect_options().ends_masks)
    return {"ends_masks": layer._ends_masks} if needs_it else {}


def call_layer(layers: dict[str, Layer], name: str, call: Call) -> None:
    """Call a layer of a graph with the current builder, which may replace the layer."""
    layers[name] = _builder.get().call_layer(layers[name], call)


def add_layer(model: Any, layer: Layer) -> None:
    """Add a layer to a Sequential with the current builder, which may replace the layer."""
    _builder.get().add_layer(model, layer)
