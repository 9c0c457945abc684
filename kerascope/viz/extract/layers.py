"""From a model to the neutral `Graph`: the layer view, as Keras's `plot_model` draws it.

One box per layer, so which call is which cannot be seen; the caption says what is hidden. The truth
is the node view, in `nodes.py`.
"""

from __future__ import annotations

from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node_ids import CallInModel, calls_in, clean, free_id
from kerascope.trace.records import counted
from kerascope.viz.extract.layer_facts import (
    WeightBook,
    facts_of,
    layer_attributes,
    output_names,
    parts_of_wrapper,
    tensor_attributes,
    with_output,
    wrapped_attributes,
)
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.kinds import kind_of

# More names than these are counted in the caption.
MOST_NAMES = 3


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
        shared layers, parallel edges, what runs inside nested models and wrappers.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
    >>> layer_graph(Network(x, shared(shared(x)))).attrs["caption"]
    '1 layer, 0 parameters. Not shown: shared is called 2 times (also on its own output)'
    """
    calls = calls_in(model)
    by_layer: dict[Layer, list[CallInModel]] = {}
    for call in calls:
        by_layer.setdefault(call.node.outbound_layer, []).append(call)
    weights = WeightBook()
    boxes: dict[Layer | Tensor, GraphNode] = {}
    taken: dict[str, None] = {}
    for layer, own_calls in by_layer.items():
        box_id = free_id(layer.name, taken)
        taken[box_id] = None
        attrs = _attributes_of_all_calls(layer, own_calls) | weights.enter(layer, box_id)
        depth = own_calls[0].depth
        boxes[layer] = GraphNode(box_id, clean(layer.name), kind_of(layer), "", depth, attrs)
    for name, layer in zip(output_names(model), model.output_layers, strict=True):
        boxes[layer] = with_output(boxes[layer], name)
    edges = _merged_edges(calls, boxes, taken)
    parameters = sum(int(box.attrs["parameters"]) for box in boxes.values())
    attrs = {
        "level": "layer",
        "parameters": parameters,
        "caption": _caption(by_layer, boxes, edges, parameters),
    }
    return Graph(clean(model.name), tuple(boxes.values()), tuple(edges), (), attrs)


def _attributes_of_all_calls(layer: Layer, calls: list[CallInModel]) -> dict[str, Attribute]:
    """Return the attributes of a layer's box; shapes that differ between calls are all listed."""
    every = [facts_of(call).attributes for call in calls]
    attrs = {**layer_attributes(layer), **every[0], **wrapped_attributes(layer)}
    for key in ("call", "input_count", "output_count"):
        del attrs[key]
    for key in ("input_shapes", "output_shapes"):
        attrs[key] = " or ".join(dict.fromkeys(str(one[key]) for one in every))
    return attrs


def _merged_edges(
    calls: list[CallInModel], boxes: dict[Layer | Tensor, GraphNode], taken: dict[str, None]
) -> list[GraphEdge]:
    """Count the connections between layers; a tensor that no layer made gets a box too."""
    connections: dict[tuple[str, str], int] = {}
    for call in calls:
        node = call.node
        for tensor in [] if node.is_input else node.input_tensors:
            history = tensor._keras_history
            source = history.layer if history else tensor
            if source not in boxes:
                name = clean(tensor.name or "constant")
                box_id = free_id(name, taken)
                taken[box_id] = None
                attrs = tensor_attributes(tensor)
                boxes[source] = GraphNode(box_id, name, "tensor", "", call.depth + 1, attrs)
            pair = boxes[source].id, boxes[node.outbound_layer].id
            connections[pair] = connections.get(pair, 0) + 1
    return [
        GraphEdge(*pair, f"\u00d7{count}" if count > 1 else "", {"connections": count})
        for pair, count in connections.items()
    ]


# --- the caption ----------------------------------------------------------------------------------


def _caption(
    calls: dict[Layer, list[CallInModel]],
    boxes: dict[Layer | Tensor, GraphNode],
    edges: list[GraphEdge],
    parameters: int,
) -> str:
    layers = [layer for layer in calls if boxes[layer].kind != "input"]
    hidden = [*_shared(layers, calls, boxes, edges)]
    merged = [edge for edge in edges if edge.label]
    hidden += [f"{counted(len(merged), 'arrow')} for several tensors"] if merged else []
    around = [
        boxes[layer].label
        for layer in layers
        if isinstance(layer, Network) or parts_of_wrapper(layer)
    ]
    hidden += [f"what runs inside {_names(around)}"] if around else []
    text = f"{counted(len(layers), 'layer')}, {counted(parameters, 'parameter')}"
    return f"{text}. Not shown: {', '.join(hidden)}" if hidden else text


def _shared(
    layers: list[Layer],
    calls: dict[Layer, list[CallInModel]],
    boxes: dict[Layer | Tensor, GraphNode],
    edges: list[GraphEdge],
) -> list[str]:
    """Return a clause for every layer that is called several times."""
    loops = {edge.source for edge in edges if edge.source == edge.target}
    return [
        f"{boxes[layer].label} is called {len(calls[layer])} times"
        + (" (also on its own output)" if boxes[layer].id in loops else "")
        for layer in layers
        if len(calls[layer]) > 1
    ]


def _names(names: list[str]) -> str:
    if len(names) > MOST_NAMES:
        return f"{len(names)} layers"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
