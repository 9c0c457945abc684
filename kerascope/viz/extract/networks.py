"""Graphs for drawing networks that have no suitable graph of their own.

A network with its own `call` has no graph until `fit` or `predict` has seen data. After
`net(array)` or `net.build(shape)` it has none yet, but the shape of its input is known. Then
`graph_model_of` runs its `call` once on new Inputs of that shape, and undoes the changes that this
makes to the layers. The graph belongs to copies of the layers, which share the layers' weights.
`nested_run` does the same for a nested model, with the shapes of one of its calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor, graph_mode
from kerascope.backend.shapes import Shape
from kerascope.backend.state import fresh_names, placeholder
from kerascope.engine.arguments import listed_shapes, listed_with_structure
from kerascope.engine.base_layer import Layer, layers_within
from kerascope.engine.graph_map import map_graph
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.model import Model
from kerascope.engine.network import InputFed, Network, NodeComputed
from kerascope.engine.node import KerasHistory, Node
from kerascope.engine.node_ids import clean, free_id
from kerascope.engine.policies.undo import rolled_back
from kerascope.engine.sequential import Sequential
from kerascope.errors import GraphError, KerascopeError
from kerascope.layers.ops.operation import Operation
from kerascope.viz.extract.layers import CallFacts


def graph_model_of(model: Network) -> Network | None:
    """Return a network whose graph shows the computation of a model.

    Parameters
    ----------
    model : Network

    Returns
    -------
    Network or None
        The model itself if it has a graph. Otherwise a network of the same name whose layers share
        names and weights with the model's. None if the input shape is unknown.

    Raises
    ------
    GraphError
        The model's `call` cannot be run on symbolic tensors.

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
    shapes, structure = _known_shapes(model)
    return graph_model_on(model, shapes, structure) if shapes else None


def graph_of_call(layer: Layer, shapes: list[Shape] | None = None) -> Network | None:
    """Return a network with the graph of a model's or layer's own `call`.

    This function is registered in `kerascope.display` under the name "graph".

    Parameters
    ----------
    layer : Layer
    shapes : list of tuple, optional
        The shapes of the layer's inputs. For a model, the default is the shapes of its first call.

    Returns
    -------
    Network or None
        None if the `call` is kerascope's own, if it needs numbers or further arguments, or if the
        input shapes are unknown.
    """
    if type(layer).call.__module__.partition(".")[0] == "kerascope":
        return None
    try:
        if shapes is None:
            return graph_model_of(layer) if isinstance(layer, Network) else None
        return graph_model_on(layer if isinstance(layer, Model) else _ModelOfLayer(layer), shapes)
    except GraphError:
        return None


class _ModelOfLayer(Model):
    """A model that runs the `call` of a layer, so that its graph contains the inner layers."""

    def __init__(self, layer: Layer) -> None:
        super().__init__(name=layer.name)
        self.opened = layer

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the outputs of the wrapped layer's `call`."""
        return self.opened.call(inputs)


def graph_model_on(model: Network, shapes: list[Shape], structure: Any = None) -> Network | None:
    """Return the graph that a model's own `call` makes on Inputs of the given shapes.

    If the call takes a dict of inputs, `structure` has the index of a shape in place of each input;
    see `listed_with_structure`.

    Raises
    ------
    GraphError
        The `call` cannot be run on symbolic tensors.
    """
    if not isinstance(model, Model) or not _writes_its_own_call(model):
        return None
    with without_side_effects(model), fresh_names(), rolled_back(model):
        try:
            model._build_on(shapes, structure)
            inputs, outputs = list(model.inputs), list(model.outputs)
            nodes = map_graph(inputs, outputs).nodes_in_decreasing_depth
        except Exception as error:
            remedy = "" if "K.switch" in str(error) else " Use K.switch instead of `if`."
            raise GraphError(
                f"{model.label}: cannot be drawn, because its call fails on symbolic tensors of "
                f"the shapes {shapes}; it may need numbers. "
                f"{type(error).__name__}: {error}{remedy}",
                subject=model,
            ) from error
        nodes = list(dict.fromkeys([*nodes, *(x._keras_history.node for x in inputs)]))
        copies = {layer: _copy(layer) for layer in dict.fromkeys(n.outbound_layer for n in nodes)}
    _move_calls(nodes, copies)
    _make_names_unique(list(copies.values()))
    return Model(inputs, outputs, name=model.name)


def _writes_its_own_call(model: Network) -> bool:
    return not isinstance(model, Sequential) and type(model).call is not Network.call


def _known_shapes(model: Network) -> tuple[list[Shape], Any]:
    """Return a model's input shapes, from `build` or its first call, and their structure.

    The batch size of each shape is None. If the inputs are a dict, the structure is the dict with
    the index of the shape in place of each input; otherwise it is None.
    """
    shape: Any = model._shape_of_build
    if shape is None and model.inbound_nodes:
        shape = model.inbound_nodes[0].input_shapes
    if not shape:
        return [], None
    structure = listed_with_structure(_marks(shape))[0] if isinstance(shape, dict) else None
    return [(None, *one[1:]) for one in listed_shapes(shape)], structure


def _marks(shape: Any) -> Any:
    """Return the structure of nested shapes, with a string in place of each shape."""
    if isinstance(shape, dict):
        return {name: _marks(one) for name, one in shape.items()}
    if shape and isinstance(shape[0], (list, tuple)):
        return [_marks(one) for one in shape]
    return "shape"


def layers_by_path(model: Network) -> dict[str, Layer]:
    """Return the layers of a model, also inside nested models, by path (`encoder/wide`)."""
    found: dict[str, Layer] = {}
    waiting = [(clean(layer.name), layer) for layer in reversed(model.layers)]
    while waiting:
        path, layer = waiting.pop()
        found[path] = layer
        wrapped = getattr(layer, "wrapped", [])
        inner = layer.layers if isinstance(layer, Network) else wrapped
        waiting += [(f"{path}/{clean(x.name)}", x) for x in reversed(inner) if isinstance(x, Layer)]
    return found


# --- undoing changes ------------------------------------------------------------------------------


@contextmanager
def without_side_effects(model: Network) -> Iterator[None]:
    """Undo, at the end of a `with` block, side effects of calls, but not changes of variables.

    These are draws from NumPy's random generator, the Nodes that layers record, and attributes
    that a `call` sets.
    """
    numbers = np.random.get_state()  # noqa: NPY002
    layers = layers_within(model)
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


# --- copies that keep the graph -------------------------------------------------------------------


def _copy(layer: Layer) -> Layer:
    """Return a layer with the same weights and state, but without calls."""
    twin: Layer = object.__new__(type(layer))
    vars(twin).update(layer._snapshot())
    births = [] if isinstance(layer, InputLayer) else layer.inbound_nodes
    twin.inbound_nodes = [node for node in births if node.begins]
    twin.outbound_nodes = []
    return twin


def _move_calls(nodes: list[Node], copies: dict[Layer, Layer]) -> None:
    """Move Nodes to the copies of their layers; update tensor histories and outbound nodes."""
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


def _make_names_unique(layers: list[Layer]) -> None:
    """Rename Inputs and operations, whose names are generated, if another layer has that name."""
    nameless = [layer for layer in layers if isinstance(layer, (InputLayer, Operation))]
    taken = {layer.name for layer in layers if layer not in nameless}
    for layer in nameless:
        layer.name = free_id(layer.name, taken)
        taken.add(layer.name)


# --- one call of a nested model -------------------------------------------------------------------
#
# A graph network runs the same graph in every call, but its graph has the shapes of its own inputs.
# A call on other input shapes has other shapes throughout. A network with its own `call` has a
# graph only after it has seen data; before that, its `call` is run once to get one.


@dataclass(frozen=True)
class NestedRun:
    """A nested network and the shapes of its tensors in one of its calls.

    Parameters
    ----------
    network : Network
    shapes : mapping of Tensor to Shape
        Shapes in this call, if they differ from the tensors' own shapes.
    """

    network: Network
    shapes: Mapping[Tensor, Shape] = field(default_factory=dict)

    def shape_of(self, tensor: Tensor) -> Shape:
        """Return the shape that a tensor of the network has in this call."""
        return self.shapes.get(tensor, tensor.shape)


def nested_run(network: Network, facts: CallFacts) -> NestedRun | None:
    """Return the graph that a call of a nested network computes, with the shapes of that call.

    Returns
    -------
    NestedRun or None
        None if the graph is unknown, or if the call has more inputs or outputs than the network.
    """
    shapes = [shape for shape in facts.inputs if shape is not None]
    all_known = len(shapes) == len(facts.inputs)
    if not network._is_graph_network and all_known and shapes != _own_shapes(network):
        try:
            found = graph_model_on(network, shapes)
        except GraphError:  # its call needs numbers or further arguments
            return None
        return _fitting(NestedRun(found), facts) if found is not None else None
    if not network.outputs:
        return None
    run = NestedRun(network)
    if _fitting(run, facts) and all_known and shapes != _own_shapes(network):
        run = NestedRun(network, _shapes_for(network, shapes))
    return _fitting(run, facts)


def _own_shapes(network: Network) -> list[Shape]:
    return [tuple(x.shape) for x in network.inputs]


def _fitting(run: NestedRun, facts: CallFacts) -> NestedRun | None:
    """Return `run` if its network has as many inputs and outputs as the call, otherwise None."""
    network = run.network
    fits = (len(network.inputs), len(network.outputs)) == (len(facts.inputs), len(facts.outputs))
    return run if fits else None


def _shapes_for(network: Network, shapes: list[Shape]) -> dict[Tensor, Shape]:
    """Run a graph on placeholders of the given shapes and return the shapes of its tensors."""
    found: dict[Tensor, Shape] = {}
    try:
        with without_side_effects(network), graph_mode(), rolled_back(network):
            inputs = [
                placeholder(shape, dtype=x.dtype)
                for shape, x in zip(shapes, network.inputs, strict=True)
            ]
            for event in network.run_stage(inputs):
                if isinstance(event, InputFed):
                    found[event.tensor] = event.computed.shape
                elif isinstance(event, NodeComputed):
                    computed = zip(event.node.output_tensors, event.output_tensors, strict=True)
                    found.update({x: y.shape for x, y in computed})
    except KerascopeError:  # a shape does not fit: keep the graph's own shapes
        return {}
    return found
