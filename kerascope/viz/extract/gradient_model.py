"""The forward pass of a compiled model as boxes: calls, weights, targets and the parts of the loss.

`compile` adds up the total loss from a term for each output and the penalties of the layers. Each
gets a box, with the weight of its output on the edge where that is not 1.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Constant, Tensor, Variable
from kerascope.backend.traversal import applies_in_order
from kerascope.configured import plain
from kerascope.engine.network import Network
from kerascope.engine.node_ids import CallInModel, calls_in, free_id
from kerascope.errors import DtypeError, NotBuiltError, NotCompiledError
from kerascope.trace.statistics import figure
from kerascope.viz.extract.gradient_forward import Forward, tensor_edge, tensor_facts
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.graph import Attribute, GraphEdge


class TermOfLoss(NamedTuple):
    """The loss of one output.

    Attributes
    ----------
    output_name : str
    function : object
    weight : float
    loss : Tensor
    """

    output_name: str
    function: Any
    weight: float
    loss: Tensor


def require_compiled(model: Any, where: str) -> None:
    """Raise unless a model has a graph and a loss.

    Raises
    ------
    DtypeError
        It is no model.
    NotCompiledError
        It has no loss.
    NotBuiltError
        It has been compiled, but its input shape is not known.
    """
    if not isinstance(model, Network):
        raise DtypeError(f"{where}: expected a compiled model, got {type(model).__name__}.")
    if not getattr(model, "is_compiled", False):
        raise NotCompiledError(
            f"{where}: {model.label} has no loss, so there is nothing to differentiate; expected a "
            f"compiled model. Compile it first: model.compile('sgd', 'mse').",
            subject=model,
        )
    if not model.outputs or getattr(model, "total_loss", None) is None:
        raise NotBuiltError(
            f"{where}: {model.label} has no graph of layers yet, since its input shape is not "
            f"known. Give the first layer an input_shape, or train on a batch first.",
            subject=model,
        )


def forward_of_model(model: Any, weights: Sequence[Variable]) -> Forward:
    """Return the calls of a compiled model, these of its weights, its targets and its losses."""
    forward = Forward(model.total_loss)
    graph = node_graph(model)
    forward.boxes.update((box.id, box) for box in graph.nodes)
    forward.edges.extend(graph.edges)
    calls = calls_in(model)
    _enter_calls(forward, calls, graph.edges)
    trained = set(model._collected_trainable_weights)
    for weight in dict.fromkeys(weights):
        is_trained = weight in trained
        told: dict[str, Attribute] = {} if is_trained else {"detail": "not trained"}
        forward.add_leaf(weight, "variable", trainable=is_trained, **told)
    for target in model.targets:
        if not isinstance(target, Constant):
            forward.add_leaf(target, class_name="target")
    _enter_losses(forward, model)
    _add_missing_edges(forward, [*model.outputs, model.total_loss])
    return forward


# --- calls ----------------------------------------------------------------------------------------


def _enter_calls(
    forward: Forward, calls: Sequence[CallInModel], edges: Iterable[GraphEdge]
) -> None:
    """Say which op belongs to which call.

    Deepest first, so what two calls share belongs to the one that is computed first.
    """
    made = {y for call in calls for y in call.node.output_tensors}
    strays = {(edge.target, edge.attrs.get("operand")): edge.source for edge in edges}
    for call in calls:
        node = call.node
        if len(node.output_tensors) > 1:
            forward.numbers.update((y, i) for i, y in enumerate(node.output_tensors))
        if node.is_input:
            forward.leaves.update((y, call.id) for y in node.output_tensors)
            continue
        for operand, x in enumerate(node.input_tensors):
            if x._keras_history is None and forward.home(x) is None:
                _enter_stray(forward, x, strays[call.id, operand], made)
        own = [y for y in node.output_tensors if y not in node.input_tensors]
        _enter(forward, call.id, own, made)


def _enter_stray(forward: Forward, x: Tensor, box_id: str, made: set[Tensor]) -> None:
    """Enter a tensor that no layer made; it has a box in the node view."""
    if x.owner is None:
        forward.leaves[x] = box_id
    else:
        _enter(forward, box_id, [x], made)


def _enter(
    forward: Forward, box_id: str, tensors: Sequence[Tensor], made: Container[Tensor] = ()
) -> list[Apply]:
    """Give a box the ops that its tensors need and that belong to none; return these.

    The walk back ends at ops that belong to another box, and at the tensors `made` by calls.
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
    """Take apart the total loss of a compiled model: a term for each trained output, and penalties.

    Both are empty for a total that was not put together by `compile`.
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
    """Tell whether `compile` made a tensor with this op when it added up the total."""
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
    if forward.home(forward.loss) is not None:  # a penalty alone is the total
        return
    box_id = forward.add_box("loss", "total loss", "loss", tensor_facts(forward.loss))
    if not _enter(forward, box_id, [forward.loss]):
        forward.leaves[forward.loss] = box_id
    for source, weight in weights_of_terms.items():
        if weight != 1.0:
            told = f"\u00d7 {figure(weight)}"
            forward.edges.append(GraphEdge(source, box_id, told, {"loss_weight": weight}))


def _facts_of_loss(loss: Tensor, function: Any) -> dict[str, Attribute]:
    name = getattr(function, "__name__", None) or type(function).__name__
    return {**tensor_facts(loss), "class_name": name}


def _enter_penalty(forward: Forward, penalty: Tensor) -> None:
    """Give a penalty a box, named after what it is on; one that a call made itself gets none."""
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
    """Add the edges that no call has as input: of weights, of losses, of what calls share."""
    known = {(edge.source, edge.target) for edge in forward.edges}
    for apply in applies_in_order(ends):
        target = forward.homes.get(apply)
        for x in apply.inputs:
            source = forward.home(x)
            if source is None or target is None or source == target or (source, target) in known:
                continue
            known.add((source, target))
            forward.edges.append(tensor_edge(source, target, x))
