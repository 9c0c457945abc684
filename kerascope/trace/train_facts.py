"""What the tensors of a train function stand for: which layer's output, which loss, whose gradient.

A train function is one list of ops; nothing in it says "this is dense_1's output". The model's
graph says it (an output tensor of a Node is what enters `tensor_map`), and so do the events of
compile, of the gradient sweep and of the optimizer, which are gathered here while they pass.
"""

from __future__ import annotations

from contextvars import Context
from types import SimpleNamespace
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Tensor, Variable, applies_between, applies_in_order
from kerascope.engine.compiling import LossTerm
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids, clean
from kerascope.optimizers.base import ParameterUpdate


class Place(NamedTuple):
    """Where a tensor lies in the model's graph."""

    node: Node
    depth: int


class Arrival(NamedTuple):
    """A complete gradient: d loss / d `wrt` is `gradient`; `is_weight` tells weights apart."""

    wrt: Tensor
    gradient: Tensor
    is_weight: bool


def quietly(function: Any, *arguments: Any) -> Any:
    """Call a function with no observers around: what the story itself asks is no news."""
    return Context().run(function, *arguments)


def graph_map_of(model: Any) -> GraphMap:
    """Return the map of a model's graph; of a subclassed model, that between its tensors."""
    if model._is_graph_network:
        return quietly(getattr, model, "graph_map")
    return quietly(map_graph, model.inputs, model.outputs)


def ids_of_calls(inputs: list[Tensor], graph_map: GraphMap) -> dict[Node, str]:
    """Return the ids of the calls in a graph for which there is no model, or not yet."""
    graph: Any = SimpleNamespace(inputs=inputs, graph_map=graph_map)
    return call_ids(graph)


class TrainFacts:
    """What is known of one train function and the model that it trains.

    Parameters
    ----------
    model : Model
        A compiled model.
    loss_terms : list of LossTerm
        As `compile` told them; empty if nobody listened then.

    Attributes
    ----------
    places : dict of Tensor to Place
        Outputs of the model's nodes, by falling depth.
    ids : dict of Node to str
        The id of each call, as in the summary and in pictures: "dense_1", "shared@1".
    calls : dict of Apply to Place
        The ops of each node.
    losses, metrics : dict of str to Tensor
        By name, the total loss last.
    output_names : list of str
        What the train function returns: the total loss, the losses of several outputs, metrics.
    arrivals : list of Arrival
        As the sweep and the optimizer told them; see `arrivals_in_order`.
    updates : list of ParameterUpdate
        In the order of the parameters.
    reached_at : dict of Tensor to int
        How many ops had been swept when the last contribution to a gradient was made.
    """

    def __init__(self, model: Any, loss_terms: list[LossTerm]) -> None:
        self.model = model
        self.arrivals: list[Arrival] = []
        self.updates: list[ParameterUpdate] = []
        self.reached_at: dict[Tensor, int] = {}
        self.places: dict[Tensor, Place] = {}
        self.calls: dict[Apply, Place] = {}
        graph_map = graph_map_of(model)
        self.ids = ids_of_calls(model.inputs, graph_map)
        for depth, nodes in graph_map.nodes_by_depth.items():
            for node in nodes:
                self._place(node, depth)
        # Ops that no input reaches (BatchNormalization has some) are told from their scope.
        self._only_calls = {
            place.node.outbound_layer.name: place
            for place in self.places.values()
            if self.ids[place.node] == clean(place.node.outbound_layer.name)
        }
        self.losses = {f"{term.output_name}_loss": term.loss for term in loss_terms}
        self.losses["total_loss"] = model.total_loss
        self.output_names = ["total_loss", *model.metrics_names[1:]]
        named = zip(model.metrics_names[1:], model.metrics_tensors, strict=True)
        self.metrics = {name: x for name, x in named if name not in self.losses}

    def _place(self, node: Node, depth: int) -> None:
        place = Place(node, depth)
        self.places.update(dict.fromkeys(node.output_tensors, place))
        if not node.is_input:
            inside = set(applies_in_order(node.output_tensors, fed=node.input_tensors))
            applies = applies_between(node.input_tensors, node.output_tensors)
            self.calls.update((apply, place) for apply in applies if apply in inside)

    def label(self, apply: Apply) -> str:
        """Return whose op it is: a call's ("shared@1"), or the scope's in which it was made."""
        place = self.calls.get(apply) or self._only_calls.get(apply.scope.name)
        return self.ids[place.node] if place else apply.scope.name or apply.op.name

    def name_of(self, tensor: Tensor) -> str:
        """Return a tensor's name; two calls of a layer are told apart: "shared/add (shared@1)"."""
        place = self.places.get(tensor)
        if place is None or self._only_calls.get(place.node.outbound_layer.name) is place:
            return tensor.name
        return f"{tensor.name} ({self.ids[place.node]})"

    def arrivals_in_order(self) -> list[Arrival]:
        """Return the gradients from the loss back; a layer's weights before the layer below it."""
        last = len(self.calls) + len(self.reached_at)
        return sorted(
            self.arrivals,
            key=lambda arrival: (self.reached_at.get(arrival.wrt, last), not arrival.is_weight),
        )

    def role(self, variable: Variable) -> str:
        """Return what an updated variable is: "parameter", "slot", "iterations" or "state"."""
        if any(update.param is variable for update in self.updates):
            return "parameter"
        if any(variable in (v for v, _ in update.pairs) for update in self.updates):
            return "slot"
        optimizer = self.model.optimizer
        if variable is getattr(optimizer, "iterations", None):
            return "iterations"
        return "parameter" if variable in self.model._collected_trainable_weights else "state"
