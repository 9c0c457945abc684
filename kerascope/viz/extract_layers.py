"""From a model to the neutral `Graph`: the node view and the layer view.

`node_graph` is the truth: one box for every call, one arrow for every input tensor of every
call. `layer_graph` draws one box per layer and so hides which call is which; its caption says what.
Keras's `plot_model` draws the layer view only.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids, calls_of_layers, clean, depths_of_calls, free_id
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import kind_of
from kerascope.viz.layer_facts import (
    WeightBook,
    call_attributes,
    layer_attributes,
    shapes_text,
    tensor_attributes,
)


class End(NamedTuple):
    """Where an arrow begins or ends: a box, and which of its outputs or inputs."""

    box: str
    number: int


class CallEnds(NamedTuple):
    """Where the inputs of a call arrive and where its outputs leave.

    A plain call is one box. An expanded nested model takes in at its own inputs' boxes and gives
    out at its outputs'.
    """

    inputs: list[End]
    outputs: list[End]


# --- the node view --------------------------------------------------------------------------------


def node_graph(model: Network, *, expand_nested: bool = False) -> Graph:
    """Return the graph of calls: one box per call, one edge per input tensor.

    Parameters
    ----------
    model : Network
        A graph network.
    expand_nested : bool
        Draw each call of a nested model as a group that holds the model's own calls, instead of as
        one box.

    Returns
    -------
    Graph
        Its edges have the attributes `operand` (which input of the target), `output` (which output
        of the source),
        `shape` and `dtype`; those of its boxes are listed in `layer_facts.py`.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
    >>> graph = node_graph(Network(x, shared(shared(x)), name="twice"))
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('x', 'shared@0'), ('shared@0', 'shared@1')]
    """
    view = _NodeView(expand_nested)
    ends = view.add_model(model, prefix="", group="")
    view.mark_outputs(model, ends)
    calls = [node for node in depths_of_calls(model) if not node.is_input]
    layers = dict.fromkeys(node.outbound_layer for node in calls)
    parameters = sum(int(box.attrs["parameters"]) for box in view.boxes.values())
    caption = (
        f"{_count(len(calls), 'call')} of {_count(len(layers), 'layer')}, "
        f"{_count(parameters, 'parameter')}"
    )
    attrs: dict[str, Attribute] = {"level": "node", "parameters": parameters, "caption": caption}
    return Graph(
        clean(model.name), tuple(view.boxes.values()), tuple(view.edges), tuple(view.groups), attrs
    )


class _NodeView:
    """Collects the boxes, edges and groups of a node view, model by model."""

    def __init__(self, expand_nested: bool) -> None:
        self.expand_nested = expand_nested
        self.boxes: dict[str, GraphNode] = {}
        self.edges: list[GraphEdge] = []
        self.groups: list[GraphGroup] = []
        self._weights = WeightBook()
        self._tensor_boxes: dict[Tensor, str] = {}

    def add_model(self, model: Network, prefix: str, group: str) -> dict[Node, CallEnds]:
        """Add all calls of a model, then the edges between them; return the ends of each call."""
        ids = call_ids(model)
        taken = dict.fromkeys(self.boxes) | dict.fromkeys(one.id for one in self.groups)
        ends: dict[Node, CallEnds] = {}
        calls = calls_of_layers(model)
        numbers = {
            node: (i, len(nodes)) for nodes in calls.values() for i, node in enumerate(nodes)
        }
        depths = depths_of_calls(model)
        for node, depth in depths.items():
            box_id = free_id(prefix + ids[node], taken)
            taken[box_id] = None
            attrs = call_attributes(node, *numbers[node])
            ends[node] = self._add_call(node, depth, box_id, group, attrs)
        for node, depth in depths.items():
            if not node.is_input:
                self._add_edges(node, depth, ends, group)
        return ends

    def _add_call(
        self, node: Node, depth: int, box_id: str, group: str, attrs: dict[str, Attribute]
    ) -> CallEnds:
        layer = node.outbound_layer
        attrs = {**layer_attributes(layer), **attrs}
        if self.expand_nested and isinstance(layer, Network) and layer._is_graph_network:
            self.groups.append(GraphGroup(box_id, clean(layer.name), group, depth, attrs))
            inner = self.add_model(layer, f"{box_id}/", box_id)
            return CallEnds(_ends_of(layer.inputs, inner), _ends_of(layer.outputs, inner))
        attrs |= self._weights.enter(layer, box_id)
        self.boxes[box_id] = GraphNode(
            box_id, clean(layer.name), kind_of(layer), group, depth, attrs
        )
        inputs = [End(box_id, i) for i in range(len(node.input_tensors))]
        return CallEnds(inputs, [End(box_id, i) for i in range(len(node.output_tensors))])

    def _add_edges(self, node: Node, depth: int, ends: dict[Node, CallEnds], group: str) -> None:
        for tensor, target in zip(node.input_tensors, ends[node].inputs, strict=True):
            history = tensor._keras_history
            if history is None:
                source = End(self._tensor_box(tensor, group, depth + 1), 0)
            else:
                source = ends[history.node].outputs[history.tensor_index]
            attrs: dict[str, Attribute] = {
                "operand": target.number,
                "output": source.number,
                "shape": shapes_text([tensor.shape]),
                "dtype": str(tensor.dtype),
            }
            self.edges.append(GraphEdge(source.box, target.box, "", attrs))

    def _tensor_box(self, tensor: Tensor, group: str, depth: int) -> str:
        """Return the id of the box of a tensor that no layer made; it is drawn once."""
        if tensor not in self._tensor_boxes:
            name = clean(tensor.name or "constant")
            box_id = free_id(name, self.boxes.keys() | {one.id for one in self.groups})
            attrs = tensor_attributes(tensor)
            self.boxes[box_id] = GraphNode(box_id, name, "tensor", group, depth, attrs)
            self._tensor_boxes[tensor] = box_id
        return self._tensor_boxes[tensor]

    def mark_outputs(self, model: Network, ends: dict[Node, CallEnds]) -> None:
        """Write on the boxes which outputs of the model they give."""
        names = _output_names(model)
        for name, (box_id, _) in zip(names, _ends_of(model.outputs, ends), strict=True):
            self.boxes[box_id] = _with_output(self.boxes[box_id], name)


def _ends_of(tensors: list[Tensor], ends: dict[Node, CallEnds]) -> list[End]:
    """Return the ends at which tensors leave their calls."""
    histories = [x._keras_history for x in tensors]
    return [ends[history.node].outputs[history.tensor_index] for history in histories]


def _output_names(model: Network) -> list[str]:
    if len(model.outputs) == 1:
        return ["output"]
    return [f"output {number}" for number in range(len(model.outputs))]


def _with_output(box: GraphNode, name: str) -> GraphNode:
    before = str(box.attrs["outputs"])
    return dataclasses.replace(
        box, attrs={**box.attrs, "outputs": f"{before}, {name}" if before else name}
    )


# --- the layer view -------------------------------------------------------------------------------


def layer_graph(model: Network) -> Graph:
    """Return the graph of layers: one box per layer, one edge per connected pair.

    Parameters
    ----------
    model : Network
        A graph network.

    Returns
    -------
    Graph
        An edge's `connections` says how many input tensors it stands for; where there are several,
        its label says so too. The caption (`attrs["caption"]`) says what this view hides: calls of
        shared layers, parallel edges.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
    >>> layer_graph(Network(x, shared(shared(x)))).attrs["caption"]
    '1 layer, 0 parameters. Not shown: shared is called 2 times'
    """
    calls = calls_of_layers(model)
    weights = WeightBook()
    boxes: dict[Layer | Tensor, GraphNode] = {}
    taken: dict[str, None] = {}
    for node, depth in depths_of_calls(model).items():
        layer = node.outbound_layer
        if layer in boxes:
            continue
        box_id = free_id(layer.name, taken)
        taken[box_id] = None
        attrs = _attributes_of_all_calls(layer, calls[layer.name]) | weights.enter(layer, box_id)
        boxes[layer] = GraphNode(box_id, clean(layer.name), kind_of(layer), "", depth, attrs)
    for name, layer in zip(_output_names(model), model.output_layers, strict=True):
        boxes[layer] = _with_output(boxes[layer], name)
    edges = _merged_edges(model, boxes)
    parameters = sum(int(box.attrs["parameters"]) for box in boxes.values())
    attrs = {
        "level": "layer",
        "parameters": parameters,
        "caption": _layer_caption(list(boxes.values()), edges, parameters),
    }
    return Graph(clean(model.name), tuple(boxes.values()), tuple(edges), (), attrs)


def _attributes_of_all_calls(layer: Layer, nodes: list[Node]) -> dict[str, Attribute]:
    """Return the attributes of a layer's box; shapes that differ between calls are all listed."""
    every = [call_attributes(node, 0, len(nodes)) for node in nodes]
    attrs = {**layer_attributes(layer), **every[0]}
    for key in ("call", "input_count", "output_count"):
        del attrs[key]
    for key in ("input_shapes", "output_shapes"):
        attrs[key] = " or ".join(dict.fromkeys(str(one[key]) for one in every))
    return attrs


def _merged_edges(model: Network, boxes: dict[Layer | Tensor, GraphNode]) -> list[GraphEdge]:
    """Count the connections between layers; a tensor that no layer made gets a box too."""
    connections: dict[tuple[str, str], int] = {}
    for node, depth in depths_of_calls(model).items():
        for tensor in [] if node.is_input else node.input_tensors:
            history = tensor._keras_history
            source = history.layer if history else tensor
            if source not in boxes:
                box_id = free_id(tensor.name or "constant", [box.id for box in boxes.values()])
                attrs = tensor_attributes(tensor)
                boxes[source] = GraphNode(box_id, box_id, "tensor", "", depth + 1, attrs)
            pair = boxes[source].id, boxes[node.outbound_layer].id
            connections[pair] = connections.get(pair, 0) + 1
    return [
        GraphEdge(*pair, f"\u00d7{count}" if count > 1 else "", {"connections": count})
        for pair, count in connections.items()
    ]


def _layer_caption(boxes: list[GraphNode], edges: list[GraphEdge], parameters: int) -> str:
    layers = [box for box in boxes if box.kind not in ("input", "tensor")]
    shared = [
        f"{box.label} is called {box.attrs['calls']} times"
        for box in layers
        if box.attrs["calls"] != 1
    ]
    merged = [edge for edge in edges if edge.label]
    parallel = [f"{_count(len(merged), 'arrow')} for several tensors"] if merged else []
    hidden = ", ".join(shared + parallel)
    text = f"{_count(len(layers), 'layer')}, {_count(parameters, 'parameter')}"
    return f"{text}. Not shown: {hidden}" if hidden else text


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
