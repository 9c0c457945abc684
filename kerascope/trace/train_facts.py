"""What the tensors of a train function stand for: which layer's output, which loss, whose gradient.

A train function is one list of ops; nothing in it says "this is dense_1's output". The model's
graph says it (an output tensor of a Node is what enters `tensor_map`), and so do the events of
compile, of the gradient sweep and of the optimizer, which are gathered here while they pass.
"""

from __future__ import annotations

from collections import Counter
from contextvars import Context
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Tensor, Variable
from kerascope.backend.traversal import applies_between
from kerascope.engine.compiling import LossTerm
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.node import Node
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
    calls : dict of Apply to Place
        The ops of each node.
    losses, metrics : dict of str to Tensor
        By name, the total loss last.
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
        for depth, nodes in graph_map_of(model).nodes_by_depth.items():
            for node in nodes:
                self._place(node, depth)
        # Ops that no input reaches (BatchNormalization has some) are told from their scope.
        counts = Counter(place.node.outbound_layer for place in set(self.places.values()))
        self._only_calls = {
            place.node.outbound_layer.name: place
            for place in self.places.values()
            if counts[place.node.outbound_layer] == 1
        }
        self.losses = {f"{term.output_name}_loss": term.loss for term in loss_terms}
        self.losses["total_loss"] = model.total_loss
        named = zip(model.metrics_names[1:], model.metrics_tensors, strict=True)
        self.metrics = {name: x for name, x in named if name not in self.losses}

    def _place(self, node: Node, depth: int) -> None:
        place = Place(node, depth)
        self.places.update(dict.fromkeys(node.output_tensors, place))
        if not node.is_input:
            applies = applies_between(node.input_tensors, node.output_tensors)
            self.calls.update(dict.fromkeys(applies, place))

    def label(self, apply: Apply) -> str:
        """Return whose op it is: a node's ("dense_1_ib-0"), or the scope's in which it was made."""
        place = self.calls.get(apply) or self._only_calls.get(apply.scope.name)
        return place.node.name if place else apply.scope.name or apply.op.name

    def name_of(self, tensor: Tensor) -> str:
        """Return a tensor's name; two calls of one layer are told apart: "shared/add#1"."""
        place = self.places.get(tensor)
        if place is None or len(place.node.outbound_layer.inbound_nodes) == 1:
            return tensor.name
        return f"{tensor.name}#{place.node.node_index}"

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
