"""From a model to the neutral `Graph`: the node view, which is the truth.

One box for every call, one arrow for every input tensor of every call. With `expand_nested` a call
of a nested model or of a wrapper is a frame that holds what runs inside.
"""

from __future__ import annotations

from typing import NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import CallInModel, calls_in, clean, free_id
from kerascope.trace.records import counted
from kerascope.viz.extract.inside import Inside, Part, inside_of
from kerascope.viz.extract.layer_facts import (
    CallFacts,
    WeightBook,
    facts_of,
    layer_attributes,
    output_names,
    shapes_text,
    tensor_attributes,
    with_output,
    wrapped_attributes,
)
from kerascope.viz.extract.nested import NestedRun, nested_run
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import kind_of


class End(NamedTuple):
    """Where an arrow begins or ends: a box, and which of its outputs or inputs.

    `leaves_as` says which output of each expanded call around the box this is, inner calls first.
    """

    box: str
    number: int
    leaves_as: tuple[int, ...] = ()


class CallEnds(NamedTuple):
    """Where the inputs of a call arrive and where its outputs leave.

    A plain call is one box. An expanded nested model takes in at its own inputs' boxes and gives
    out at its outputs'.
    """

    inputs: list[End]
    outputs: list[End]


class Spot(NamedTuple):
    """Where a box or a frame lies: its id, the frame around it, its depth in there."""

    id: str
    group: str
    depth: int


def node_graph(model: Network, *, expand_nested: bool = False) -> Graph:
    """Return the graph of calls: one box per call, one edge per input tensor.

    Parameters
    ----------
    model : Network
        A network with a graph.
    expand_nested : bool
        Draw each call of a nested model, and of a wrapper, as a group that holds what runs inside,
        instead of as one box.

    Returns
    -------
    Graph
        Its edges have the attributes `operand` (which input of the target), `output` (which output
        of the source), `shape`, `dtype` and, where they leave frames, `leaves_as` (which output of
        each of those calls, inner ones first); those of its boxes are listed in `layer_facts.py`.
        Its groups have these too, and `kind` "call".

    Notes
    -----
    The number of edges is the sum of `len(node.input_tensors)` over the calls of the model; with
    `expand_nested`, over the calls of every expanded model too, for each of its calls, and beside
    these the arrows between the parts of expanded wrappers (`inside.py`): four for a Bidirectional,
    two if it does not merge; one less than there are cells for an RNN; none for any other.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
    >>> graph = node_graph(Network(x, shared(shared(x)), name="twice"))
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('x', 'shared@0'), ('shared@0', 'shared@1')]
    """
    view = _NodeView(expand_nested)
    ends = view.add_model(NestedRun(model), prefix="", group="")
    view.mark_outputs(model, ends)
    calls = [node for node in ends if not node.is_input]
    layers = dict.fromkeys(node.outbound_layer for node in calls)
    parameters = sum(int(box.attrs["parameters"]) for box in view.boxes.values())
    caption = (
        f"{counted(len(calls), 'call')} of {counted(len(layers), 'layer')}, "
        f"{counted(parameters, 'parameter')}"
    )
    attrs: dict[str, Attribute] = {"level": "node", "parameters": parameters, "caption": caption}
    return Graph(
        clean(model.name),
        tuple(view.boxes.values()),
        tuple(view.edges),
        tuple(view.groups.values()),
        attrs,
    )


class _NodeView:
    """Collects the boxes, edges and groups of a node view, model by model."""

    def __init__(self, expand_nested: bool) -> None:
        self.expand_nested = expand_nested
        self.boxes: dict[str, GraphNode] = {}
        self.edges: list[GraphEdge] = []
        self.groups: dict[str, GraphGroup] = {}
        self._taken: dict[str, None] = {}
        self._weights = WeightBook()
        self._tensor_boxes: dict[Tensor, str] = {}

    def add_model(self, run: NestedRun, prefix: str, group: str) -> dict[Node, CallEnds]:
        """Add all calls of a model, then the edges between them; return the ends of each call."""
        ends: dict[Node, CallEnds] = {}
        calls = calls_in(run.network)
        # All ids before anything inside: a layer named "a/b" keeps its id beside a model "a".
        spots = [Spot(self._free_id(prefix + call.id), group, call.depth) for call in calls]
        for call, spot in zip(calls, spots, strict=True):
            ends[call.node] = self._add_call(call, spot, run)
        for call in calls:
            if not call.node.is_input:
                self._add_edges(call, ends, run, group)
        return ends

    def mark_outputs(self, model: Network, ends: dict[Node, CallEnds]) -> None:
        """Write on the boxes which outputs of the model they give."""
        names = output_names(model)
        for name, (box_id, *_) in zip(names, _ends_of(model.outputs, ends), strict=True):
            self.boxes[box_id] = with_output(self.boxes[box_id], name)

    # --- calls ------------------------------------------------------------------------------------

    def _add_call(self, call: CallInModel, spot: Spot, run: NestedRun) -> CallEnds:
        ends = self._add_layer(call.node.outbound_layer, facts_of(call, run.shape_of), spot)
        if call.node.is_input:  # nothing arrives; as the first box of a nested model something does
            return CallEnds([End(spot.id, 0)], ends.outputs)
        return ends

    def _add_layer(self, layer: Layer, facts: CallFacts, spot: Spot) -> CallEnds:
        """Add one call of a layer: a frame with what runs inside, or one box."""
        if self.expand_nested and isinstance(layer, Network):
            run = nested_run(layer, facts)
            if run is not None:
                self._add_group(layer, facts, spot)
                inner = self.add_model(run, f"{spot.id}/", spot.id)
                self._add_own_weights(layer, spot)
                network = run.network
                outputs = _leaving(_ends_of(network.outputs, inner))
                return CallEnds(_ends_of(network.inputs, inner), outputs)
        inside = inside_of(layer, facts) if self.expand_nested else None
        if inside is not None:
            self._add_group(layer, facts, spot)
            ends = self._add_inside(layer, inside, spot)
            self._add_own_weights(layer, spot)
            return ends
        attrs = layer_attributes(layer)
        attrs.update(facts.attributes)
        attrs.update(wrapped_attributes(layer))
        attrs.update(self._weights.enter(layer, spot.id))
        return self._add_box(spot, str(attrs["layer"]), kind_of(layer), attrs, facts)

    def _add_group(self, layer: Layer, facts: CallFacts, spot: Spot) -> None:
        attrs = {**layer_attributes(layer), **facts.attributes, "kind": "call"}
        del attrs["outputs"]
        self.groups[spot.id] = GraphGroup(spot.id, clean(layer.name), spot.group, spot.depth, attrs)

    def _add_inside(self, layer: Layer, inside: Inside, spot: Spot) -> CallEnds:
        """Add the parts of a wrapper and the arrows between them."""
        ends = []
        for part in inside.parts:
            inner = Spot(self._free_id(f"{spot.id}/{part.name}"), spot.id, part.depth)
            if isinstance(part.layer, Layer):
                ends.append(self._add_layer(part.layer, part.facts, inner))
            else:
                ends.append(self._add_part(layer, part, inner))
        for link in inside.links:
            source = ends[link.source.part].outputs[link.source.number]
            target = ends[link.target.part].inputs[link.target.number]
            self._add_edge(source, target, link.shape, inside.parts[0].facts.dtype)
        return CallEnds(
            [ends[place.part].inputs[place.number] for place in inside.inputs],
            _leaving([ends[place.part].outputs[place.number] for place in inside.outputs]),
        )

    def _add_part(self, layer: Layer, part: Part, spot: Spot) -> CallEnds:
        """Add a box for what is no layer: a cell of any class, or work of the wrapper itself."""
        attrs: dict[str, Attribute] = {
            "layer": clean(layer.name),
            "class_name": part.class_name,
            "activation": "",
            "trainable": bool(layer.trainable),
            **part.facts.attributes,
            **self._weights.enter(part.layer, spot.id),
        }
        return self._add_box(spot, clean(part.name), part.kind, attrs, part.facts)

    def _add_own_weights(self, layer: Layer, spot: Spot) -> None:
        """Add a box for weights of an expanded layer that belong to nothing inside it."""
        if not self._weights.has_more(layer):
            return
        spot = Spot(self._free_id(f"{spot.id}/own_weights"), spot.id, 0)
        facts = CallFacts([], [], layer.dtype)
        attrs = {
            **layer_attributes(layer),
            **facts.attributes,
            **self._weights.enter(layer, spot.id),
            "class_name": "Variable",
        }
        self._add_box(spot, "own weights", "variable", attrs, facts)

    def _add_box(
        self, spot: Spot, label: str, kind: str, attrs: dict[str, Attribute], facts: CallFacts
    ) -> CallEnds:
        self.boxes[spot.id] = GraphNode(spot.id, label, kind, spot.group, spot.depth, attrs)
        inputs = [End(spot.id, i) for i in range(len(facts.inputs))]
        return CallEnds(inputs, [End(spot.id, i) for i in range(len(facts.outputs))])

    # --- edges ------------------------------------------------------------------------------------

    def _add_edges(
        self, call: CallInModel, ends: dict[Node, CallEnds], run: NestedRun, group: str
    ) -> None:
        for tensor, target in zip(call.node.input_tensors, ends[call.node].inputs, strict=True):
            history = tensor._keras_history
            if history is None:
                source = End(self._tensor_box(tensor, group, call.depth + 1), 0)
            else:
                source = ends[history.node].outputs[history.tensor_index]
            self._add_edge(source, target, run.shape_of(tensor), str(tensor.dtype))

    def _add_edge(self, source: End, target: End, shape: Shape | None, dtype: str) -> None:
        attrs: dict[str, Attribute] = {
            "operand": target.number,
            "output": source.number,
            "shape": shapes_text([shape]),
            "dtype": dtype,
        }
        if source.leaves_as:
            attrs["leaves_as"] = ", ".join(map(str, source.leaves_as))
        self.edges.append(GraphEdge(source.box, target.box, "", attrs))

    def _tensor_box(self, tensor: Tensor, group: str, depth: int) -> str:
        """Return the id of the box of a tensor that no layer made; it is drawn once."""
        if tensor not in self._tensor_boxes:
            name = clean(tensor.name or "constant")
            box_id = self._free_id(name)
            attrs = tensor_attributes(tensor)
            self.boxes[box_id] = GraphNode(box_id, name, "tensor", group, depth, attrs)
            self._tensor_boxes[tensor] = box_id
        return self._tensor_boxes[tensor]

    def _free_id(self, wanted: str) -> str:
        box_id = free_id(wanted, self._taken)
        self._taken[box_id] = None
        return box_id


def _ends_of(tensors: list[Tensor], ends: dict[Node, CallEnds]) -> list[End]:
    """Return the ends at which tensors leave their calls."""
    histories = [x._keras_history for x in tensors]
    return [ends[history.node].outputs[history.tensor_index] for history in histories]


def _leaving(ends: list[End]) -> list[End]:
    """Return the ends inside an expanded call as the outputs of that call."""
    return [End(end.box, end.number, (*end.leaves_as, number)) for number, end in enumerate(ends)]
