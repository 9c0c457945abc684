"""The forward pass as boxes, and the box that each op belongs to.

The gradient level and the training level both start from it. For a model, every call is one box,
however many ops it makes: the ops between the inputs and the outputs of a call belong to it. For a
graph of tensors, every op is a box. A nested model copies its graph when it is called. If the
nested model is opened, each call inside it is a box that contains the copies of the call's ops.

The module contains graphs of tensors first, then compiled models and their losses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Constant, Tensor, applies_between, applies_in_order
from kerascope.backend.variables import Variable
from kerascope.configurable import plain
from kerascope.engine.model import Model
from kerascope.engine.node_ids import CallInModel, calls_in, clean, free_id
from kerascope.errors import DtypeError, NotBuiltError, NotCompiledError
from kerascope.trace.statistics import figure
from kerascope.viz.extract.layers import shapes_text
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.op_facts import kind_of_leaf, op_attributes
from kerascope.viz.extract.op_frames import copies_of
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import FreeIds, longest_paths


@dataclass
class Forward:
    """Boxes and arrows of the forward pass, from the inputs and weights to the loss.

    Attributes
    ----------
    loss : Tensor
    boxes : dict of str to GraphNode
        The boxes by id. Their depths are set at the end, by `with_depths`.
    edges : list of GraphEdge
    homes : dict of Apply to str
        The box of each op.
    leaves : dict of Tensor to str
        The box of each tensor that has its own box: a variable, a placeholder.
    numbers : dict of Tensor to int
        The output index of a tensor, for boxes with several outputs.
    counts_uses : bool
        Whether each argument of an op counts as a use: x * x uses x twice. If False, a box uses a
        tensor once, however many of its ops read it.
    frames : dict of str to GraphGroup
        The calls of opened nested models, by id.
    frame_of : dict of str to str
        The frame around each box in these calls.
    """

    loss: Tensor
    boxes: dict[str, GraphNode] = field(default_factory=dict)
    edges: list[GraphEdge] = field(default_factory=list)
    homes: dict[Apply, str] = field(default_factory=dict)
    leaves: dict[Tensor, str] = field(default_factory=dict)
    numbers: dict[Tensor, int] = field(default_factory=dict)
    counts_uses: bool = False
    frames: dict[str, GraphGroup] = field(default_factory=dict)
    frame_of: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._free_id = FreeIds(self.boxes).take

    def home(self, tensor: Tensor) -> str | None:
        """Return the id of the box that makes a tensor, or None if the tensor is not drawn."""
        if tensor in self.leaves:
            return self.leaves[tensor]
        return None if tensor.owner is None else self.homes.get(tensor.owner)

    @property
    def loss_id(self) -> str:
        """The id of the box that computes the loss."""
        found = self.home(self.loss)
        assert found is not None
        return found

    def add_box(
        self, wanted: str, label: str, kind: str, attrs: dict[str, Attribute] | None = None
    ) -> str:
        """Add a box and return its id."""
        box_id = self._free_id(wanted)
        self.boxes[box_id] = GraphNode(box_id, clean(label), kind, "", 0, attrs or {})
        return box_id

    def add_leaf(self, tensor: Tensor, kind: str = "", **attrs: Attribute) -> str:
        """Add a box for a tensor unless it has one already, and return the id of its box."""
        found = self.home(tensor)
        if found is None:
            name = tensor.name or "constant"
            facts = {**tensor_facts(tensor), **attrs}
            found = self.leaves[tensor] = self.add_box(
                name, name, kind or kind_of_leaf(tensor, "tensor"), facts
            )
        return found

    def path_of(self, box_id: str) -> tuple[str, ...]:
        """Return the names of the nested models around a box, outermost first."""
        names: list[str] = []
        frame = self.frame_of.get(box_id, "")
        while frame:
            names.insert(0, self.frames[frame].label)
            frame = self.frames[frame].parent
        return tuple(names)

    def mark(self, box_id: str, **attrs: Attribute) -> None:
        """Set attributes of a box; its other attributes stay unchanged."""
        box = self.boxes[box_id]
        self.boxes[box_id] = dataclasses.replace(box, attrs={**box.attrs, **attrs})


def tensor_facts(tensor: Tensor) -> dict[str, Attribute]:
    """Return the shape and dtype of a tensor as attributes of its box."""
    return {"output_shapes": shapes_text([tensor.shape]), "dtype": str(tensor.dtype)}


def tensor_edge(source: str, target: str, tensor: Tensor, **attrs: Attribute) -> GraphEdge:
    """Return the arrow for a tensor from one box to another, with its shape and dtype."""
    facts: dict[str, Attribute] = {"shape": shapes_text([tensor.shape]), "dtype": str(tensor.dtype)}
    return GraphEdge(source, target, "", {**attrs, **facts})


# --- op by op -------------------------------------------------------------------------------------


def forward_of_tensors(loss: Tensor, wrt: Sequence[Tensor]) -> Forward:
    """Return the ops between `wrt` and the loss, and the other inputs of these ops.

    The other inputs are drawn unless they are constants. If ops outside this range compute such an
    input, only the input is drawn, without these ops.
    """
    forward = Forward(loss, counts_uses=True)
    between = applies_between(wrt, [loss])
    drawn = set(between)
    for x in dict.fromkeys(wrt):
        if x.owner not in drawn:
            forward.add_leaf(x)
    for apply in between:
        for x in apply.inputs:
            if x.owner not in drawn and not isinstance(x, Constant):
                forward.add_leaf(x)
        kind = "loss" if loss in apply.outputs else "op"
        box_id = forward.homes[apply] = forward.add_box(
            apply.name, apply.name, kind, op_attributes(apply)
        )
        if len(apply.outputs) > 1:
            forward.numbers.update((y, i) for i, y in enumerate(apply.outputs))
        for operand, x in enumerate(apply.inputs):
            source = forward.home(x)
            if source is not None:
                edge = tensor_edge(source, box_id, x, operand=operand, output=x.index)
                forward.edges.append(edge)
    forward.add_leaf(loss, "loss")
    return forward


# --- rows -----------------------------------------------------------------------------------------


def with_depths(
    boxes: Iterable[GraphNode], edges: Sequence[GraphEdge], ends: Iterable[str]
) -> dict[str, GraphNode]:
    """Return the boxes with their depths, deepest first.

    The depth is the length of the longest path from a box to one of the `ends`, so a variable is
    one row above its deepest user. A box that leads to none of the `ends`, such as an output
    without a loss, is placed one row below its inputs, not at the bottom.
    """
    by_id = {box.id: box for box in boxes}
    depths = longest_paths(list(by_id), [(edge.source, edge.target) for edge in edges])
    sources: dict[str, list[str]] = {one: [] for one in by_id}
    readers: dict[str, list[str]] = {one: [] for one in by_id}
    for edge in edges:
        sources[edge.target].append(edge.source)
        readers[edge.source].append(edge.target)
    leading = _ancestors(ends, sources)
    others = sorted((one for one in by_id if one not in leading), key=lambda one: -depths[one])
    for one in others:
        above = [depths[x] for x in sources[one] if x in leading or sources[x]]
        if sources[one]:
            depths[one] = min(above) - 1 if above else max(depths.values()) - 1
    for one in others:
        if not sources[one]:
            depths[one] = max([depths[reader] + 1 for reader in readers[one]], default=0)
    lowest = min(depths.values(), default=0)
    placed = [dataclasses.replace(box, depth=depths[box.id] - lowest) for box in by_id.values()]
    placed.sort(key=lambda box: -box.depth)
    return {box.id: box for box in placed}


def _ancestors(ends: Iterable[str], sources: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the given boxes and all boxes from which arrows lead to them."""
    found: set[str] = set()
    stack = list(ends)
    while stack:
        one = stack.pop()
        if one not in found:
            found.add(one)
            stack.extend(sources[one])
    return found


# --- compiled models: calls, weights, targets and parts of the loss ------------------------------
#
# `compile` computes the total loss as the sum of a term for each output and the penalties of the
# layers. Each of them is a box. The arrow of a term shows its loss weight unless it is 1.


class TermOfLoss(NamedTuple):
    """The term of the total loss that belongs to one output of the model.

    Attributes
    ----------
    output_name : str
    function : object
        The loss function.
    weight : float
        The factor of the loss in the total loss.
    loss : Tensor
        The loss of the output, without this factor.
    """

    output_name: str
    function: Any
    weight: float
    loss: Tensor


def require_compiled(model: Any, where: str) -> None:
    """Raise unless a model has a graph and a loss.

    If the layers changed since `compile`, the graph and the loss are built again.

    Raises
    ------
    DtypeError
        The value is not a model.
    NotCompiledError
        The model has no loss.
    NotBuiltError
        The model is compiled, but its input shape is unknown.
    """
    if not isinstance(model, Model):
        raise DtypeError(f"{where}: expected a compiled model, got {type(model).__name__}.")
    if not model.is_compiled:
        raise NotCompiledError(
            f"{where}: {model.label} has no loss, so there is nothing to differentiate. Compile "
            f"it first: model.compile('sgd', 'mse').",
            subject=model,
        )
    if not model.outputs:
        raise NotBuiltError(
            f"{where}: {model.label} has no graph of layers yet, because its input shape is "
            f"unknown. Give the first layer an input_shape, or train on a batch first.",
            subject=model,
        )
    model._make_ready(None, to_train=True)  # a Sequential may have changed since compile


def forward_of_model(model: Any, weights: Sequence[Variable], nested: bool = False) -> Forward:
    """Return the forward pass of a compiled model: calls, weights, targets and losses.

    With `nested`, the calls inside a nested model are drawn instead of the call of the model, if it
    is known which op belongs to which of them. The nested model's own input layers get no boxes.
    """
    calls = _Calls(model, nested)
    graph = _without(node_graph(model, expand_nested=calls.opened), calls.passed)
    boxes = {box.id: dataclasses.replace(box, group="") for box in graph.nodes}
    forward = Forward(model.total_loss, boxes, [*graph.edges])
    forward.frames = {group.id: group for group in graph.groups}
    forward.frame_of = {box.id: box.group for box in graph.nodes if box.group}
    for one in forward.frame_of:
        label = "/".join([*forward.path_of(one), boxes[one].label])
        boxes[one] = dataclasses.replace(boxes[one], label=label)
    _enter_calls(forward, calls.drawn, graph.edges)
    trained = set(model._collected_trainable_weights)
    for weight in dict.fromkeys(weights):
        is_trained = weight in trained
        notes: dict[str, Attribute] = {} if is_trained else {"detail": "not trained"}
        forward.add_leaf(weight, "variable", trainable=is_trained, **notes)
    for target in model.targets:
        if not isinstance(target, Constant):
            forward.add_leaf(target, class_name="target")
    _enter_losses(forward, model)
    _add_missing_edges(forward, [*model.outputs, model.total_loss])
    return forward


# --- calls ----------------------------------------------------------------------------------------


class DrawnCall(NamedTuple):
    """A call that is drawn as a box, with the tensors of this model that it reads and returns.

    Attributes
    ----------
    id : str
    inputs : list of Tensor
    outputs : dict of Tensor to int
        The outputs with their indices. Inside a nested model, only the outputs that are used.
    is_input : bool
        Whether the call is that of an input layer.
    """

    id: str
    inputs: list[Tensor]
    outputs: dict[Tensor, int]
    is_input: bool


class _Calls:
    """The calls of a model. With `nested`, calls of nested models are replaced by the calls inside.

    Attributes
    ----------
    drawn : list of DrawnCall
        In the order in which they are computed.
    opened : dict of str to None
        The ids of the calls of nested models that are replaced by the calls inside.
    passed : dict of str to None
        The ids of the input layers inside these calls, which get no boxes.
    """

    def __init__(self, model: Any, nested: bool) -> None:
        self.drawn: list[DrawnCall] = []
        self.opened: dict[str, None] = {}
        self.passed: dict[str, None] = {}
        self._nested = nested
        self._add(model, "", {})

    def _add(self, network: Any, prefix: str, copies: Mapping[Tensor, Tensor]) -> None:
        for call in calls_in(network):
            node, box_id = call.node, prefix + call.id
            if prefix and node.is_input:
                self.passed[box_id] = None
                continue
            inputs = [copies.get(x, x) for x in node.input_tensors]
            given = enumerate(node.output_tensors)
            outputs = {copies.get(y, y): i for i, y in given if not prefix or y in copies}
            inside = self._inside(call, inputs, outputs, copies)
            if inside:
                self.opened[box_id] = None
                self._add(node.outbound_layer, f"{box_id}/", inside)
            else:
                self.drawn.append(DrawnCall(box_id, inputs, outputs, node.is_input))

    def _inside(
        self,
        call: CallInModel,
        inputs: Sequence[Tensor],
        outputs: Iterable[Tensor],
        copies: Mapping[Tensor, Tensor],
    ) -> dict[Tensor, Tensor]:
        """Map a nested model's own tensors to the tensors of a call; {} for an unopened call."""
        node = call.node
        layer: Any = node.outbound_layer
        if not self._nested or node.begins:
            return {}
        masks = [copies.get(mask, mask) for mask in node.input_masks if mask is not None]
        made = copies_of(layer, [*inputs, *masks], [*outputs])
        if not made:
            return {}
        found = dict(zip(layer.inputs, inputs, strict=True))
        for original, copy in made.items():
            found.update(zip(original.outputs, copy.outputs, strict=True))
        is_passed_on = any(y in layer.inputs or y not in found for y in layer.outputs)
        return {} if is_passed_on else found


def _without(graph: Graph, passed: Container[str]) -> Graph:
    """Return a graph without the input layers `passed`; arrows through them are joined."""
    fed = {edge.target: edge for edge in graph.edges if edge.target in passed}

    def around(edge: GraphEdge) -> GraphEdge:
        first = edge
        while first.source in fed:
            first = fed[first.source]
        if first is edge:
            return edge
        attrs = {key: value for key, value in edge.attrs.items() if key != "leaves_as"}
        attrs["output"] = first.attrs.get("output", 0)
        if "leaves_as" in first.attrs:
            attrs["leaves_as"] = first.attrs["leaves_as"]
        return dataclasses.replace(edge, source=first.source, attrs=attrs)

    nodes = tuple(node for node in graph.nodes if node.id not in passed)
    edges = tuple(around(edge) for edge in graph.edges if edge.target not in passed)
    return dataclasses.replace(graph, nodes=nodes, edges=edges)


def _enter_calls(forward: Forward, calls: Sequence[DrawnCall], edges: Iterable[GraphEdge]) -> None:
    """Record in `forward` which op belongs to which call.

    Calls are taken in computation order, so an op shared by two calls belongs to the earlier one.
    """
    made = {y for call in calls for y in call.outputs}
    strays = {(edge.target, edge.attrs.get("operand")): edge.source for edge in edges}
    for call in calls:
        if len(call.outputs) > 1:
            forward.numbers.update(call.outputs)
        if call.is_input:
            forward.leaves.update((y, call.id) for y in call.outputs)
            continue
        for operand, x in enumerate(call.inputs):
            if x._keras_history is None and forward.home(x) is None:
                _enter_stray(forward, x, strays[call.id, operand], made)
        own = [y for y in call.outputs if y not in call.inputs]
        _enter(forward, call.id, own, made)


def _enter_stray(forward: Forward, x: Tensor, box_id: str, made: set[Tensor]) -> None:
    """Assign the ops behind a tensor that no layer made to the tensor's own box."""
    if x.owner is None:
        forward.leaves[x] = box_id
    else:
        _enter(forward, box_id, [x], made)


def _enter(
    forward: Forward, box_id: str, tensors: Sequence[Tensor], made: Container[Tensor] = ()
) -> list[Apply]:
    """Assign the ops that compute some tensors to a box, and return the assigned ops.

    The search goes backwards from the tensors. It stops at ops that already have a box, and at the
    tensors `made` by calls.
    """
    new: list[Apply] = []
    stack = list(tensors)
    while stack:
        owner = stack.pop().owner
        if owner is not None and owner not in forward.homes:
            forward.homes[owner] = box_id
            new.append(owner)
            stack.extend(x for x in owner.inputs if x not in made)
    return new


# --- losses ---------------------------------------------------------------------------------------


def terms_of_loss(model: Any) -> tuple[list[TermOfLoss], list[Tensor]]:
    """Split a compiled model's total loss into a term for each trained output, and penalties.

    The lists of terms and of penalties are empty if the total loss was not built by `compile`.
    """
    parts: list[Tensor] = []
    rest = model.total_loss
    while _is_made_by(rest, "add"):
        rest, last = rest.owner.inputs
        parts.append(last)
    parts = [rest, *reversed(parts)]
    count = len(model.trained)
    weighted, penalties = parts[:count], parts[count:]
    if len(weighted) < count or not all(_is_made_by(x, "multiply") for x in weighted):
        return [], []
    terms = [
        TermOfLoss(
            model.output_names[i],
            model.loss_functions[i],
            plain(model.loss_weights_list[i]),
            x.owner.inputs[0],  # type: ignore[union-attr]
        )
        for i, x in zip(model.trained, weighted, strict=True)
    ]
    return terms, penalties


def _is_made_by(x: Tensor, op: str) -> bool:
    """Return whether `compile` made this tensor with this op while adding up the total loss."""
    owner = x.owner
    return owner is not None and owner.op.name == op and owner.scope.name.endswith("loss")


def _enter_losses(forward: Forward, model: Any) -> None:
    terms, penalties = terms_of_loss(model)
    weights_of_terms: dict[str, float] = {}
    for term in terms:
        name = f"{term.output_name}_loss"
        box_id = forward.add_box(name, name, "loss", _facts_of_loss(term.loss, term.function))
        _enter(forward, box_id, [term.loss])
        weights_of_terms[box_id] = term.weight
    for penalty in penalties:
        _enter_penalty(forward, penalty)
    if forward.home(forward.loss) is not None:  # the total is a single penalty
        return
    box_id = forward.add_box("loss", "total loss", "loss", tensor_facts(forward.loss))
    if not _enter(forward, box_id, [forward.loss]):
        forward.leaves[forward.loss] = box_id
    for source, weight in weights_of_terms.items():
        if weight != 1.0:
            label = f"\u00d7 {figure(weight)}"
            forward.edges.append(GraphEdge(source, box_id, label, {"loss_weight": weight}))


def _facts_of_loss(loss: Tensor, function: Any) -> dict[str, Attribute]:
    name = getattr(function, "__name__", None) or type(function).__name__
    return {**tensor_facts(loss), "class_name": name}


def _enter_penalty(forward: Forward, penalty: Tensor) -> None:
    """Add a box for a penalty, named after the tensor that the penalty depends on.

    A penalty whose ops already belong to a call gets no box.
    """
    if penalty.owner is None or penalty.owner in forward.homes:
        return
    wanted = free_id("penalty", forward.boxes)
    own = _enter(forward, wanted, [penalty])
    read = [forward.home(x) for apply in own for x in apply.inputs]
    on = next((found for found in read if found not in (None, wanted)), penalty.name)
    facts: dict[str, Attribute] = {**tensor_facts(penalty), "class_name": "penalty"}
    box_id = forward.add_box(f"penalty:{on}", f"penalty on {on}", "loss", facts)
    forward.homes.update(dict.fromkeys(own, box_id))


def _add_missing_edges(forward: Forward, ends: Sequence[Tensor]) -> None:
    """Add the arrows that the level "node" does not have, such as those from weights."""
    known = {(edge.source, edge.target) for edge in forward.edges}
    for apply in applies_in_order(ends):
        target = forward.homes.get(apply)
        for x in apply.inputs:
            source = forward.home(x)
            if source is None or target is None or source == target or (source, target) in known:
                continue
            known.add((source, target))
            forward.edges.append(tensor_edge(source, target, x))
