"""From a model to the neutral `Graph`: the node view, which shows every call.

There is one box for every call, and one arrow for every input tensor of every call. With
`expand_nested`, a call of a nested model or a wrapper is a frame around its contents.

The module contains the node view first, then the contents of wrappers.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.backend.provenance import short_place
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import CallInModel, calls_in, clean
from kerascope.layers.recurrent import RNN
from kerascope.layers.recurrent_cells import size_of_output, sizes_of_states
from kerascope.layers.wrappers import Bidirectional, TimeDistributed, Wrapper
from kerascope.trace.records import counted
from kerascope.viz.extract.layers import (
    CallFacts,
    End,
    GraphBuilder,
    facts_of,
    layer_attributes,
    parts_of_wrapper,
    wrapped_attributes,
)
from kerascope.viz.extract.networks import NestedRun, nested_run
from kerascope.viz.graph import Attribute, Graph, GraphGroup, GraphNode
from kerascope.viz.kinds import kind_of


class CallEnds(NamedTuple):
    """The ends of arrows to the inputs and from the outputs of a call.

    A plain call is one box. In an expanded nested model, arrows end at the boxes of its own inputs
    and start at the boxes that compute its outputs.
    """

    inputs: list[End]
    outputs: list[End]


class BoxPosition(NamedTuple):
    """Position of a box or a frame: its id, the frame around it, and its depth in that frame."""

    id: str
    group: str
    depth: int


def node_graph(model: Network, *, expand_nested: bool | Container[str] = False) -> Graph:
    """Return the graph of calls: one box per call, one arrow per input tensor.

    Parameters
    ----------
    model : Network
        A network with a graph.
    expand_nested : bool or container of str
        True draws each call of a nested model or a wrapper as a frame around its contents. A
        container of ids does so only for the calls of nested models with these ids. Other calls
        are one box each.

    Returns
    -------
    Graph
        Arrows have the attributes `operand` (input index at the target), `output` (output index at
        the source), `shape` and `dtype`. Arrows that leave frames also have `leaves_as` (the output
        index of each expanded call, innermost first). The attributes of boxes are listed in
        `layers.py`. Frames have the attributes of boxes, and `kind` "call".

    Notes
    -----
    The number of arrows is the sum of `len(node.input_tensors)` over the calls of the model. With
    `expand_nested`, the calls of an expanded model are added for each of its calls, and the arrows
    between the parts of expanded wrappers (`contents_of`): four for a Bidirectional, or two if it
    does not merge; one fewer than the number of cells for an RNN; none for other wrappers.

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
    view.mark_outputs(end.box for end in _ends_of(model.outputs, ends))
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


class _NodeView(GraphBuilder):
    """Collects the boxes, arrows and frames of a node view, model by model."""

    def __init__(self, expand_nested: bool | Container[str]) -> None:
        super().__init__()
        self.expand_nested = expand_nested
        self.groups: dict[str, GraphGroup] = {}

    def add_model(self, run: NestedRun, prefix: str, group: str) -> dict[Node, CallEnds]:
        """Add all calls of a model, and the arrows between them.

        Return for each call the ends of arrows to its inputs and from its outputs.
        """
        ends: dict[Node, CallEnds] = {}
        calls = calls_in(run.network)
        # Take all ids before adding inner calls, so a layer "a/b" keeps its id next to a model "a".
        spots = [BoxPosition(self.free_id(prefix + call.id), group, call.depth) for call in calls]
        for call, spot in zip(calls, spots, strict=True):
            ends[call.node] = self._add_call(call, spot, run)
        for call in calls:
            if not call.node.is_input:
                self._add_edges(call, ends, run, group)
        return ends

    # --- calls ------------------------------------------------------------------------------------

    def _add_call(self, call: CallInModel, spot: BoxPosition, run: NestedRun) -> CallEnds:
        ends = self._add_layer(call.node.outbound_layer, facts_of(call, run.shape_of), spot)
        if call.node.is_input:  # has no inputs, except as the first box of a nested model
            return CallEnds([End(spot.id, 0)], ends.outputs)
        return ends

    def _add_layer(self, layer: Layer, facts: CallFacts, spot: BoxPosition) -> CallEnds:
        """Add one call of a layer: a frame around its contents, or one box."""
        is_run = layer._why_it_cannot_run is None
        if isinstance(layer, Network) and is_run and self._is_open(spot.id):
            run = nested_run(layer, facts)
            if run is not None:
                self._add_group(layer, facts, spot)
                inner = self.add_model(run, f"{spot.id}/", spot.id)
                self._add_own_weights(layer, spot)
                network = run.network
                outputs = _leaving(_ends_of(network.outputs, inner))
                return CallEnds(_ends_of(network.inputs, inner), outputs)
        inside = contents_of(layer, facts) if self.expand_nested is True else None
        if inside is not None:
            self._add_group(layer, facts, spot)
            ends = self._add_inside(layer, inside, spot)
            self._add_own_weights(layer, spot)
            return ends
        attrs = layer_attributes(layer)
        attrs.update(facts.attributes)
        attrs.update(wrapped_attributes(layer))
        attrs.update(self.weights.enter(layer, spot.id))
        made_at = short_place(layer.made_at)
        return self._add_box(spot, str(attrs["layer"]), kind_of(layer), attrs, facts, made_at)

    def _is_open(self, call: str) -> bool:
        if isinstance(self.expand_nested, bool):
            return self.expand_nested
        return call in self.expand_nested

    def _add_group(self, layer: Layer, facts: CallFacts, spot: BoxPosition) -> None:
        attrs = {**layer_attributes(layer), **facts.attributes, "kind": "call"}
        del attrs["outputs"]
        self.groups[spot.id] = GraphGroup(spot.id, clean(layer.name), spot.group, spot.depth, attrs)

    def _add_inside(self, layer: Layer, inside: WrapperContents, spot: BoxPosition) -> CallEnds:
        """Add the parts of a wrapper and the arrows between them."""
        ends = []
        for part in inside.parts:
            inner = BoxPosition(self.free_id(f"{spot.id}/{part.name}"), spot.id, part.depth)
            if isinstance(part.layer, Layer):
                ends.append(self._add_layer(part.layer, part.facts, inner))
            else:
                ends.append(self._add_part(layer, part, inner))
        for link in inside.links:
            source = ends[link.source.part].outputs[link.source.number]
            target = ends[link.target.part].inputs[link.target.number]
            self.add_edge(source, target, link.shape, inside.parts[0].facts.dtype)
        return CallEnds(
            [ends[place.part].inputs[place.number] for place in inside.inputs],
            _leaving([ends[place.part].outputs[place.number] for place in inside.outputs]),
        )

    def _add_part(self, layer: Layer, part: WrapperPart, spot: BoxPosition) -> CallEnds:
        """Add a box for a cell of any class, or for a step that the wrapper computes itself."""
        attrs: dict[str, Attribute] = {
            "layer": clean(layer.name),
            "class_name": part.class_name,
            "activation": "",
            "trainable": bool(layer.trainable),
            **part.facts.attributes,
            **self.weights.enter(part.layer, spot.id),
        }
        return self._add_box(spot, clean(part.name), part.kind, attrs, part.facts)

    def _add_own_weights(self, layer: Layer, spot: BoxPosition) -> None:
        """Add a box for the weights that an expanded layer has besides those of inner layers."""
        if not self.weights.has_more(layer):
            return
        spot = BoxPosition(self.free_id(f"{spot.id}/own_weights"), spot.id, 0)
        facts = CallFacts([], [], layer.dtype)
        attrs = {**self.attributes_of(layer, facts, spot.id), "class_name": "Variable"}
        self._add_box(spot, "own weights", "variable", attrs, facts)

    def _add_box(
        self,
        spot: BoxPosition,
        label: str,
        kind: str,
        attrs: dict[str, Attribute],
        facts: CallFacts,
        made_at: str = "",
    ) -> CallEnds:
        own = (spot.group, spot.depth, attrs, made_at)
        self.boxes[spot.id] = GraphNode(spot.id, label, kind, *own)
        inputs = [End(spot.id, i) for i in range(len(facts.inputs))]
        return CallEnds(inputs, [End(spot.id, i) for i in range(len(facts.outputs))])

    # --- arrows -----------------------------------------------------------------------------------

    def _add_edges(
        self, call: CallInModel, ends: dict[Node, CallEnds], run: NestedRun, group: str
    ) -> None:
        for tensor, target in zip(call.node.input_tensors, ends[call.node].inputs, strict=True):
            history = tensor._keras_history
            if history is None:
                source = End(self.tensor_box(tensor, group, call.depth + 1), 0)
            else:
                source = ends[history.node].outputs[history.tensor_index]
            self.add_edge(source, target, run.shape_of(tensor), str(tensor.dtype))


def _ends_of(tensors: list[Tensor], ends: dict[Node, CallEnds]) -> list[End]:
    """Return the ends at which the arrows of tensors start: boxes with output indices."""
    histories = [x._keras_history for x in tensors]
    return [ends[history.node].outputs[history.tensor_index] for history in histories]


def _leaving(ends: list[End]) -> list[End]:
    """Return the ends of the arrows that leave an expanded call.

    `leaves_as` of each end gets the number of the call's output.
    """
    return [End(end.box, end.number, (*end.leaves_as, number)) for number, end in enumerate(ends)]


# --- the contents of wrappers ---------------------------------------------------------------------
#
# A wrapper calls its layers on tensors without a history, so no graph records these calls. Their
# boxes are made from the layers. `TimeDistributed` has one part. `Bidirectional` has its two
# directions, between the input sequence that both read and the merge of their outputs. `RNN` has
# one part for each cell. The cells that LSTM, GRU and SimpleRNN create themselves are not shown.

_MERGES = {"concat": "Concatenate", "sum": "Add", "mul": "Multiply", "ave": "Average"}

Shapes = Sequence[Shape | None]


class WrapperPart(NamedTuple):
    """One box or frame among the contents of a wrapper.

    Attributes
    ----------
    name, class_name, kind : str
        If `kind` is "", the kind of the layer is used.
    layer : object or None
        A layer, or a cell of any class; None for a step that the wrapper computes itself.
    facts : CallFacts
        The shapes and the dtype of the part.
    depth : int
        The length of the longest path from this part to an output of the wrapper.
    """

    name: str
    class_name: str
    kind: str
    layer: Any
    facts: CallFacts
    depth: int = 0


class PartPort(NamedTuple):
    """One input or output of a wrapper's part: the index of the part, then that of the input."""

    part: int
    number: int


class PartLink(NamedTuple):
    """An arrow between two parts of a wrapper, with the shape of its tensor."""

    source: PartPort
    target: PartPort
    shape: Shape | None


class WrapperContents(NamedTuple):
    """The contents of one call of a wrapper: its parts and the arrows between them.

    For each input of the call, `inputs` contains the part that reads the input, and an index into
    the inputs of this part. For each output of the call, `outputs` contains the part that computes
    the output, and an index into the outputs of this part.
    """

    parts: list[WrapperPart]
    links: list[PartLink]
    inputs: list[PartPort]
    outputs: list[PartPort]


def contents_of(layer: Layer, facts: CallFacts) -> WrapperContents | None:
    """Return the contents of one call of a wrapper or an RNN; None for other layers."""
    if isinstance(layer, Bidirectional):
        return _both_directions(layer, facts)
    if isinstance(layer, RNN):
        return _cells(layer, facts) if parts_of_wrapper(layer) else None
    if isinstance(layer, Wrapper) and len(layer.wrapped) == 1:
        return _one_layer(layer, facts)
    return None


# --- one layer ------------------------------------------------------------------------------------


def _one_layer(layer: Wrapper, facts: CallFacts) -> WrapperContents:
    inputs: Shapes = [None] * len(facts.inputs)
    outputs: Shapes = [None] * len(facts.outputs)
    if isinstance(layer, TimeDistributed):
        inputs, outputs = [[_step(shape) for shape in s] for s in (facts.inputs, facts.outputs)]
    elif type(layer).call is Wrapper.call:
        inputs, outputs = facts.inputs, facts.outputs
    part = _part(layer.wrapped[0], inputs, outputs, facts.dtype)
    return WrapperContents(
        [part], [], [PartPort(0, i) for i in range(len(inputs))], _places(0, 0, len(outputs))
    )


def _step(shape: Shape | None) -> Shape | None:
    """Return a shape whose first two axes, samples and time steps, are merged into one."""
    if shape is None or len(shape) < 2:
        return None
    batch = None if shape[0] is None or shape[1] is None else shape[0] * shape[1]
    return (batch, *shape[2:])


# --- both directions ------------------------------------------------------------------------------


def _both_directions(layer: Bidirectional, facts: CallFacts) -> WrapperContents:
    """Return the contents of a Bidirectional: its input, both directions, and the merge if any."""
    sequence = facts.inputs[0]
    directions: list[Any] = layer.wrapped
    number = [len(inner.states) for inner in directions]
    states = _given_states(sum(number), layer._num_constants, facts)
    shared = [0, *range(1 + len(states), len(facts.inputs))]  # the sequence, and constants
    shapes: Shapes = [facts.inputs[i] for i in shared]
    through = CallFacts(shapes, shapes, facts.dtype)
    parts = [WrapperPart("sequence", "both directions", "shaping", None, through, 2)]
    links = []
    for i, inner in enumerate(directions):
        own = [facts.inputs[s] for s in (states[: number[0]], states[number[0] :])[i]]
        ins: Shapes = [shapes[0], *own, *shapes[1:]]
        parts.append(_part(inner, ins, _shapes_from(inner, sequence), facts.dtype, 1))
        links.append(PartLink(PartPort(0, 0), PartPort(i + 1, 0), sequence))
        for k, shape in enumerate(shapes[1:]):
            links.append(PartLink(PartPort(0, k + 1), PartPort(i + 1, len(own) + k + 1), shape))
    inputs = [PartPort(0, 0)]
    for i, count in enumerate(number):
        inputs += _places(i + 1, 1, count) if states else []
    inputs += _places(0, 1, len(shared) - 1)
    outputs = [PartPort(1, 0), PartPort(2, 0)]
    if layer.merge_mode is not None:
        both: Shapes = [part.facts.outputs[0] for part in parts[1:]]
        merged = CallFacts(both, facts.outputs[:1], facts.dtype)
        parts.append(WrapperPart("merge", _MERGES[layer.merge_mode], "merge", None, merged))
        links += [
            PartLink(PartPort(i + 1, 0), PartPort(3, i), shape) for i, shape in enumerate(both)
        ]
        outputs = [PartPort(3, 0)]
    if layer.return_state:
        outputs += _places(1, 1, number[0]) + _places(2, 1, number[1])
    return WrapperContents(parts, links, inputs, outputs)


def _given_states(number: int, constants: int, facts: CallFacts) -> range:
    """Return the range of those inputs of a recurrent call that are initial states."""
    given = len(facts.inputs) - 1 - constants
    return range(1, 1 + number) if given == number else range(1, 1)


def _shapes_from(layer: Any, sequence: Shape | None) -> Shapes:
    """Return the output shapes of a recurrent layer; all are None if they cannot be computed."""
    if sequence is None or not isinstance(layer, RNN):
        return [None] * (1 + len(layer.states) * bool(layer.return_state))
    shapes = layer.compute_output_shape(sequence)
    return [tuple(shape) for shape in (shapes if isinstance(shapes, list) else [shapes])]


# --- cells ----------------------------------------------------------------------------------------


def _cells(layer: RNN, facts: CallFacts) -> WrapperContents:
    """Return the contents of an RNN: one part for every cell, with states in the order of cells."""
    cells = parts_of_wrapper(layer)
    sizes = [sizes_of_states(cell) for cell in cells]
    number = sum(map(len, sizes))
    has_states = bool(_given_states(number, layer._num_constants, facts))
    constants = facts.inputs[1 + number * has_states :]
    sequence, batch = facts.inputs[0], (facts.inputs[0] or (None,))[0]
    step = None if sequence is None else (batch, *sequence[2:])
    parts, links = [], []
    for i, cell in enumerate(cells):
        states: Shapes = [(batch, *size) for size in sizes[i]]
        output = (batch, *size_of_output(cell))
        takes = [step, *(states if has_states else []), *(constants if i == 0 else [])]
        gives = [output, *(states if layer.return_state else [])]
        parts.append(_part(cell, takes, gives, facts.dtype, len(cells) - 1 - i))
        if i:
            links.append(PartLink(PartPort(i - 1, 0), PartPort(i, 0), step))
        step = output
    of_states = [place for i, own in enumerate(sizes) for place in _places(i, 1, len(own))]
    inputs = [PartPort(0, 0), *(of_states if has_states else [])]
    inputs += _places(0, 1 + len(sizes[0]) * has_states, len(constants))
    outputs = [PartPort(len(cells) - 1, 0), *(of_states if layer.return_state else [])]
    return WrapperContents(parts, links, inputs, outputs)


# --- parts ----------------------------------------------------------------------------------------


def _part(layer: Any, inputs: Shapes, outputs: Shapes, dtype: str, depth: int = 0) -> WrapperPart:
    facts = CallFacts(inputs, outputs, dtype)
    class_name = type(layer).__name__
    kind = "" if isinstance(layer, Layer) else "recurrent"  # a cell can be any object
    name = getattr(layer, "name", "") or class_name
    return WrapperPart(name, class_name, kind, layer, facts, depth)


def _places(part: int, first: int, number: int) -> list[PartPort]:
    return [PartPort(part, first + i) for i in range(number)]
