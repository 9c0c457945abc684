"""The graph of a network that writes its own `call`.

Such a network has no graph until it has seen data through `fit` or `predict`. After a mere
`net(array)` or `net.build(shape)` only the shape of its input is known. Then its `call` is run once
on fresh Inputs of that shape; what it leaves behind in the layers is taken back, and copies of the
layers, which share their weights, keep the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.calling import fresh_names, tried_out
from kerascope.engine.compiled_network import CompiledNetwork
from kerascope.engine.graph_map import map_graph
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.node import KerasHistory, Node
from kerascope.engine.node_ids import free_id
from kerascope.engine.sequential import Sequential
from kerascope.errors import GraphError
from kerascope.layers.operations import Operation


def graph_model_of(model: Network) -> Network | None:
    """Return a network with a graph that shows what a model computes.

    Parameters
    ----------
    model : Network

    Returns
    -------
    Network or None
        The model itself if it has a graph. Else one of the same name, whose layers share their
        names and weights with the model's. None if nothing says what shape its input has.

    Raises
    ------
    GraphError
        Its `call` cannot be run on symbols.

    Examples
    --------
    >>> from kerascope.engine.model import Model
    >>> from kerascope.layers import Dense
    >>> class Small(Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.head = Dense(2, name="head")
    ...     def call(self, inputs):
    ...         return self.head(inputs)
    >>> small = Small()
    >>> graph_model_of(small) is None
    True
    >>> _ = small(np.zeros((1, 4)))
    >>> [layer.name for layer in graph_model_of(small).layers], small.head.inbound_nodes
    (['input_1', 'head'], [])
    """
    if model.outputs:
        return model
    shapes = _known_shapes(model)
    return None if shapes is None else graph_model_on(model, shapes)


def graph_model_on(model: Network, shapes: list[Shape]) -> Network | None:
    """Return the graph that a model's own `call` makes on Inputs of these shapes.

    Raises
    ------
    GraphError
        The `call` cannot be run on symbols.
    """
    if not isinstance(model, CompiledNetwork) or not _writes_its_own_call(model):
        return None
    with nothing_changes(model), fresh_names(), tried_out(model):
        try:
            model._build_on(shapes)
            inputs, outputs = list(model.inputs), list(model.outputs)
            nodes = map_graph(inputs, outputs).nodes_in_decreasing_depth
        except Exception as error:
            remedy = "" if "K.switch" in str(error) else " Choose by K.switch instead of `if`."
            raise GraphError(
                f"{model.label}: cannot be drawn, because its call needs numbers, or fails for "
                f"another reason, on symbols of the shapes {shapes}. "
                f"{type(error).__name__}: {error}{remedy}",
                subject=model,
            ) from error
        nodes = list(dict.fromkeys([*nodes, *(x._keras_history.node for x in inputs)]))
        copies = {layer: _copy(layer) for layer in dict.fromkeys(n.outbound_layer for n in nodes)}
    _hand_over(nodes, copies)
    _name_apart(list(copies.values()))
    return Model(inputs, outputs, name=model.name)


def _writes_its_own_call(model: Network) -> bool:
    return not isinstance(model, Sequential) and type(model).call is not Network.call


def _known_shapes(model: Network) -> list[Shape] | None:
    """Return the input shapes that a call or `build` has told, with any number of samples."""
    shape: Any = model._shape_of_build
    if shape is None and model.inbound_nodes:
        shape = model.inbound_nodes[0].input_shapes
    if not shape:
        return None
    shapes = shape if isinstance(shape[0], (list, tuple)) else [shape]
    return [(None, *one[1:]) for one in shapes]


# --- leaving no trace -----------------------------------------------------------------------------


@contextmanager
def nothing_changes(model: Network) -> Iterator[None]:
    """Put back what calls in the `with` block change beside a layer's books.

    That is NumPy's generator, the calls that layers know of, and attributes that a `call` sets.
    """
    numbers = np.random.get_state()  # noqa: NPY002
    layers = _all_layers(model)
    attributes = {layer: dict(vars(layer)) for layer in layers if layer.built}
    calls = [(list_, list(list_)) for x in layers for list_ in (x.inbound_nodes, x.outbound_nodes)]
    try:
        yield
    finally:
        np.random.set_state(numbers)  # noqa: NPY002
        for layer, before in attributes.items():
            vars(layer).clear()
            vars(layer).update(before)
        for list_, before_list in calls:
            list_[:] = before_list


def _all_layers(model: Network) -> list[Layer]:
    found: dict[Layer, None] = {}
    waiting: list[Layer] = [model]
    while waiting:
        layer = waiting.pop()
        if layer not in found:
            found[layer] = None
            waiting.extend(layer._sublayers)
    return list(found)


# --- copies that keep the graph -------------------------------------------------------------------


def _copy(layer: Layer) -> Layer:
    """Return a layer with the same weights and books, but without calls."""
    twin: Layer = object.__new__(type(layer))
    vars(twin).update(layer._snapshot())
    births = [] if isinstance(layer, InputLayer) else layer.inbound_nodes
    twin.inbound_nodes = [node for node in births if node.begins]
    twin.outbound_nodes = []
    return twin


def _hand_over(nodes: list[Node], copies: dict[Layer, Layer]) -> None:
    """Let calls be those of the copies: nodes, histories and outbound nodes."""
    for node in sorted(nodes, key=lambda node: node.node_index):
        layer, index = node.outbound_layer, node.node_index
        twin = copies[layer]
        node.outbound_layer, node.node_index = twin, len(twin.inbound_nodes)
        twin.inbound_nodes.append(node)
        for tensor_index, tensor in enumerate(node.output_tensors):
            history = tensor._keras_history
            if history.layer is layer and history.node_index == index:
                tensor._keras_history = KerasHistory(twin, node.node_index, tensor_index)
    for node in nodes:
        for source in dict.fromkeys(node.inbound_layers):
            if source is not None:
                source.outbound_nodes.append(node)


def _name_apart(layers: list[Layer]) -> None:
    """Give Inputs and operations, which nobody named, names that no other layer has."""
    nameless = [layer for layer in layers if isinstance(layer, (InputLayer, Operation))]
    taken = {layer.name for layer in layers if layer not in nameless}
    for layer in nameless:
        layer.name = free_id(layer.name, taken)
        taken.add(layer.name)
