"""From a model to the neutral `Graph`: the layer view, like Keras's `plot_model`.

The layer view has one box per layer, so individual calls cannot be seen. The caption says what is
hidden. The complete graph is the node view, in `nodes.py`.

The module contains the layer view first, then the attributes of boxes for layers and calls, which
both views use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from kerascope.backend import Tensor, Variable
from kerascope.backend.provenance import short_place
from kerascope.backend.shapes import UNKNOWN, Shape
from kerascope.backend.state import count_params
from kerascope.engine.base_layer import Layer, snake_case
from kerascope.engine.network import Network
from kerascope.engine.node_ids import CallInModel, calls_in, clean
from kerascope.layers.opaque import Opaque
from kerascope.layers.ops.forms import OWN
from kerascope.layers.ops.operation import Operation
from kerascope.layers.recurrent import RNN, LayerOfCell
from kerascope.layers.recurrent_cells import StackedRNNCells
from kerascope.layers.wrappers import Wrapper
from kerascope.trace.records import counted
from kerascope.viz.extract.settings import settings_of
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.kinds import kind_of
from kerascope.viz.nesting import FreeIds

MOST_NAMES = 3  # layers named in the caption; more are only counted
MOST_PARTS = 8  # inner layers named in the box of a wrapper


def layer_graph(model: Network) -> Graph:
    """Return the graph of layers: one box per layer, one arrow per connected pair of layers.

    Parameters
    ----------
    model : Network
        A graph network.

    Returns
    -------
    Graph
        An edge's `connections` is the number of tensors it represents; if there are several, the
        label shows the number. The caption (`attrs["caption"]`) lists what this view hides:
        repeated calls of shared layers, parallel arrows, and the contents of nested models and
        wrappers.

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
    view = GraphBuilder()
    ids: dict[Layer, str] = {}
    for layer, own_calls in by_layer.items():
        box_id = ids[layer] = view.free_id(layer.name)
        attrs = _attributes_of_all_calls(layer, own_calls) | view.weights.enter(layer, box_id)
        depth = own_calls[0].depth
        facts = ("", depth, attrs, short_place(layer.made_at))
        view.boxes[box_id] = GraphNode(box_id, clean(layer.name), kind_of(layer), *facts)
    view.mark_outputs(ids[layer] for layer in model.output_layers)
    edges = _merged_edges(calls, ids, view)
    boxes = {layer: view.boxes[box_id] for layer, box_id in ids.items()}
    parameters = sum(int(box.attrs["parameters"]) for box in view.boxes.values())
    attrs = {
        "level": "layer",
        "parameters": parameters,
        "caption": _caption(by_layer, boxes, edges, parameters),
    }
    return Graph(clean(model.name), tuple(view.boxes.values()), tuple(edges), (), attrs)


def _attributes_of_all_calls(layer: Layer, calls: list[CallInModel]) -> dict[str, Attribute]:
    """Return the attributes of a layer's box. Shapes that differ between calls are all listed."""
    every = [facts_of(call).attributes for call in calls]
    attrs = {**layer_attributes(layer), **every[0], **wrapped_attributes(layer)}
    for key in ("call", "input_count", "output_count"):
        del attrs[key]
    for key in ("input_shapes", "output_shapes"):
        attrs[key] = " or ".join(dict.fromkeys(str(one[key]) for one in every))
    return attrs


def _merged_edges(
    calls: list[CallInModel], ids: dict[Layer, str], view: GraphBuilder
) -> list[GraphEdge]:
    """Return one arrow per connected pair of layers, with the number of tensors between them.

    A tensor that no layer made gets a box.
    """
    connections: dict[tuple[str, str], int] = {}
    for call in calls:
        node = call.node
        for tensor in [] if node.is_input else node.input_tensors:
            history = tensor._keras_history
            if history is None:
                source = view.tensor_box(tensor, "", call.depth + 1)
            else:
                source = ids[history.layer]
            pair = source, ids[node.outbound_layer]
            connections[pair] = connections.get(pair, 0) + 1
    return [
        GraphEdge(*pair, f"\u00d7{count}" if count > 1 else "", {"connections": count})
        for pair, count in connections.items()
    ]


# --- the caption ----------------------------------------------------------------------------------


def _caption(
    calls: dict[Layer, list[CallInModel]],
    boxes: dict[Layer, GraphNode],
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
    boxes: dict[Layer, GraphNode],
    edges: list[GraphEdge],
) -> list[str]:
    """Return a clause of the caption for each layer that is called several times."""
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


# --- collecting boxes and arrows, for any view ----------------------------------------------------


class End(NamedTuple):
    """One end of an arrow: a box, and the index of an output or input of this box.

    `leaves_as` holds the output index of each expanded call that the arrow leaves, innermost first.
    """

    box: str
    number: int
    leaves_as: tuple[int, ...] = ()


class GraphBuilder:
    """Collects the boxes of a graph and the arrows between these boxes."""

    def __init__(self) -> None:
        self.boxes: dict[str, GraphNode] = {}
        self.edges: list[GraphEdge] = []
        self.tensor_boxes: dict[Tensor, str] = {}
        self.weights = WeightRegistry()
        self.free_id = FreeIds().take

    def attributes_of(self, layer: Layer, facts: CallFacts, box_id: str) -> dict[str, Attribute]:
        """Return the attributes of the box for one call, and register the layer's weights."""
        return {**layer_attributes(layer), **facts.attributes, **self.weights.enter(layer, box_id)}

    def tensor_box(self, tensor: Tensor, group: str, depth: int, prefix: str = "") -> str:
        """Return the id of the box of a tensor that no layer made. Such a tensor has one box."""
        if tensor not in self.tensor_boxes:
            name = clean(tensor.name or "constant")
            box_id = self.free_id(prefix + name)
            attrs = tensor_attributes(tensor)
            self.boxes[box_id] = GraphNode(box_id, name, "tensor", group, depth, attrs)
            self.tensor_boxes[tensor] = box_id
        return self.tensor_boxes[tensor]

    def add_edge(
        self,
        source: End,
        target: End,
        shape: Shape | None,
        dtype: str,
        label: str = "",
        **more: Attribute,
    ) -> None:
        """Add the arrow of one tensor between two boxes."""
        attrs: dict[str, Attribute] = {
            "operand": target.number,
            "output": source.number,
            "shape": shapes_text([shape]),
            "dtype": dtype,
            **more,
        }
        if source.leaves_as:
            attrs["leaves_as"] = ", ".join(map(str, source.leaves_as))
        self.edges.append(GraphEdge(source.box, target.box, label, attrs))

    def mark(self, box_id: str, **attrs: Attribute) -> None:
        """Set attributes of a box; its other attributes stay unchanged."""
        box = self.boxes[box_id]
        self.boxes[box_id] = dataclasses.replace(box, attrs={**box.attrs, **attrs})

    def mark_outputs(self, box_ids: Iterable[str]) -> None:
        """Label boxes with the model outputs they compute. `box_ids` has one id per output."""
        ids = list(box_ids)
        for number, box_id in enumerate(ids):
            name = "output" if len(ids) == 1 else f"output {number}"
            before = self.boxes[box_id].attrs["outputs"]
            self.mark(box_id, outputs=f"{before}, {name}" if before else name)


# --- attributes of a box: its layer and its call --------------------------------------------------
#
# Boxes of the node view have these attributes. Boxes of the layer view have all of them except
# `call`, `input_count` and `output_count`, which belong to one call. Exports to networkx, GraphML
# and JSON use the same names:
#
# ==================  ==============================================================================
# `layer`             name of the layer
# `class_name`        its class; of an operation between layers "Operation: add"
# `activation`        name of its activation; "" if it is linear or missing
# `call`, `calls`     number of this call (from 0), and number of calls of the layer in its model
# `input_shapes`      shapes of the input tensors, as text; several are joined by "; "
# `output_shapes`     shapes of the output tensors, likewise
# `input_count`       number of input tensors
# `output_count`      number of output tensors
# `dtype`             type of the first output
# `parameters`        parameters not counted in an earlier box; they add up to the model's number
# `shared_with`       id of the first box with the same weights; "" for that box itself
# `trainable`         whether training changes the layer
# `settings`          the main settings in a few words; missing if there are none
# `config`            all arguments that differ from their defaults; missing if there are none
# `outputs`           model outputs computed here: "output", "output 1"; "" for none
# `detail`            the layers inside a wrapper, if they are not drawn
# ==================  ==============================================================================
#
# Shapes are "" if they are unknown, for example inside a user's own wrapper.


class WeightRegistry:
    """Counts each weight once and stores the first box that has the weight."""

    def __init__(self) -> None:
        self._counted: set[Variable] = set()
        self._first_boxes: dict[tuple[Variable, ...], str] = {}

    def enter(self, layer: Any, box_id: str) -> dict[str, Attribute]:
        """Register the weights of a box; return its attributes `parameters` and `shared_with`."""
        weights = _weights_of(layer)
        if not weights:
            return {"parameters": 0, "shared_with": ""}
        shared_with = self._first_boxes.setdefault(weights, box_id)
        new = [w for w in weights if w not in self._counted]
        self._counted.update(new)
        return {
            "parameters": sum(int(count_params(w)) for w in new),
            "shared_with": "" if shared_with == box_id else shared_with,
        }

    def has_more(self, layer: Any) -> bool:
        """Return whether a layer has weights that are not counted yet."""
        return any(w not in self._counted for w in _weights_of(layer))


def _weights_of(layer: Any) -> tuple[Variable, ...]:
    """Return the distinct weights of a layer, or of a cell of any class."""
    if isinstance(layer, Layer) and _has_usual_weights(type(layer)) and not layer._sublayers:
        return (*layer._trainable_weights, *layer._non_trainable_weights)
    return tuple(dict.fromkeys(getattr(layer, "weights", ())))


@cache
def _has_usual_weights(cls: type[Layer]) -> bool:
    """Return whether layers of this class use the default `weights` properties.

    If so, all its weights are in its lists of trainable and of non-trainable weights, and in its
    inner layers.
    """
    names = ("weights", "trainable_weights", "non_trainable_weights")
    return all(getattr(cls, name) is getattr(Layer, name) for name in names)


class CallFacts(NamedTuple):
    """The shapes and dtype of one call of a layer, and the number of the call.

    Attributes
    ----------
    inputs, outputs : sequence of (Shape or None)
        Shapes, one for each tensor; None if unknown.
    dtype : str
        The dtype of the first output.
    call, calls : int
        The number of this call, from 0, and the number of calls of the layer in its model.
    """

    inputs: Sequence[Shape | None]
    outputs: Sequence[Shape | None]
    dtype: str
    call: int = 0
    calls: int = 1

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes of the box that differ between calls: shapes, dtype and call number."""
        return {
            "call": self.call,
            "calls": self.calls,
            "input_count": len(self.inputs),
            "output_count": len(self.outputs),
            "input_shapes": shapes_text(self.inputs),
            "output_shapes": shapes_text(self.outputs),
            "dtype": self.dtype,
            "outputs": "",
        }


def facts_of(
    call: CallInModel, shape_of: Callable[[Tensor], Shape] = attrgetter("shape")
) -> CallFacts:
    """Return the shapes, the dtype and the index of a call. An InputLayer has no input shapes."""
    node = call.node
    return CallFacts(
        [] if node.is_input else [shape_of(x) for x in node.input_tensors],
        [shape_of(x) for x in node.output_tensors],
        str(node.output_tensors[0].dtype),
        call.call,
        call.calls,
    )


def layer_attributes(layer: Layer) -> dict[str, Attribute]:
    """Return the attributes of a box that are the same for every call of the layer."""
    return {
        "layer": clean(layer.name),
        "class_name": _class_name(layer),
        "activation": _activation(layer),
        "trainable": bool(layer.trainable),
        **settings_of(layer),
    }


def parts_of_wrapper(layer: Layer) -> list[Any]:
    """Return the layers, or cells of any class, inside a wrapper or an RNN; [] for other layers."""
    if isinstance(layer, Wrapper):
        return layer.wrapped
    if isinstance(layer, RNN) and not isinstance(layer, LayerOfCell):
        return layer.cell.cells if isinstance(layer.cell, StackedRNNCells) else [layer.cell]
    return []


def wrapped_attributes(layer: Layer) -> dict[str, Attribute]:
    """Return the attribute `detail` for the box of a closed wrapper or of an opaque layer.

    It contains the names of the inner layers, and "opaque" for a layer that cannot run. For other
    layers, return {}.
    """
    parts = parts_of_wrapper(layer) or (layer.layers_inside if isinstance(layer, Opaque) else [])
    names = [getattr(part, "label", type(part).__name__) for part in parts[:MOST_PARTS]]
    if len(parts) > MOST_PARTS:
        names.append(f"{len(parts) - MOST_PARTS} more")
    details = [f"around {clean(' and '.join(names))}"] if names else []
    if layer._why_it_cannot_run is not None:
        details.append("opaque")
    return {"detail": "\n".join(details)} if details else {}


def tensor_attributes(tensor: Tensor) -> dict[str, Attribute]:
    """Return the attributes of a box for a tensor that no layer made."""
    facts = CallFacts([], [tensor.shape], str(tensor.dtype))
    return attributes_without_layer(type(tensor).__name__, facts)


def attributes_without_layer(class_name: str, facts: CallFacts) -> dict[str, Attribute]:
    """Return the attributes of a box that belongs to no layer, such as an operation."""
    return {
        **{"layer": "", "class_name": class_name, "activation": "", "trainable": False},
        **facts.attributes,
        **{"parameters": 0, "shared_with": ""},
    }


def shapes_text(shapes: Iterable[Shape | None]) -> str:
    """Return shapes as text.

    The text is "" if any shape is None; an unknown shape in a file is "?".

    Examples
    --------
    >>> shapes_text([(None, 4), (None, 2, 3)])
    '(None, 4); (None, 2, 3)'
    """
    known = ["" if shape is None else _shape_text(shape) for shape in shapes]
    return "; ".join(known) if all(known) else ""


def _shape_text(shape: Shape) -> str:
    return str(shape) if shape is UNKNOWN else str(tuple(shape))


def _class_name(layer: Layer) -> str:
    name = type(layer).__name__
    if not isinstance(layer, Operation):
        return name
    return f"{name}: {clean(snake_case(layer.operation.removeprefix(OWN)))}"


def _activation(layer: Layer) -> str:
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", None) or (
        type(activation).__name__ if activation else ""
    )
    return "" if name == "linear" else clean(name)
