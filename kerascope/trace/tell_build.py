"""What is told while a model is built: layers are called, Nodes made, the graph mapped.

Lessons: chapters 6, 8 and 9.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

from kerascope.backend.graph import Constant, Tensor
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.calling import LayerBuilt
from kerascope.engine.graph_map import DepthAssigned, NodeFinished, NodeSkipped, NodeVisited
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.network import InputFed, NodeComputed
from kerascope.engine.node import Node, NodeCreated
from kerascope.trace.records import Record, counted, listed
from kerascope.trace.teller import Teller
from kerascope.trace.train_facts import ids_of_calls


def place_of(layer: Layer) -> str:
    """Return the line of the script that made a layer: "example.py:9"."""
    return f"{Path(layer.made_at[0]).name}:{layer.made_at[1]}" if layer.made_at else ""


def with_shapes(tensors: list[Tensor]) -> str:
    """Return tensors by name and shape: "input_1 (None, 20)".

    Where several have one name, each has the call that made it: "h/tanh of h_ib-1 (None, 20)".
    """
    times = Counter(x.name for x in tensors)
    return listed(f"{_with_call(x, times[x.name])} {x.shape}" for x in tensors)


def _with_call(tensor: Tensor, times: int) -> str:
    history = tensor._keras_history
    return tensor.name if times == 1 or not history else f"{tensor.name} of {history.node.name}"


def own_word(weight: Tensor, layer: Layer) -> str:
    """Return a weight's name without its layer's: "kernel"."""
    return weight.name.removeprefix(f"{layer.name}/").removeprefix(f"{layer.name}_")


class LayerCallTeller(Teller):
    """A layer is called on symbols: weights are made, and a Node records the call."""

    phase = "build"

    def started(self) -> None:
        """Name the layer."""
        depth = self.number_around(LayerCallTeller)
        title = "layers are called on symbols; each call makes a Node"
        self.story.section("build", Record(self.phase, "section", 0, "build", (title,)))
        self._depth = depth
        self._introduced = False

    def event(self, event: Any) -> None:
        """Tell of new weights and of the Node."""
        if isinstance(event, LayerBuilt):
            self.introduce(event.layer)
            self._tell_built(event)
        elif isinstance(event, NodeCreated):
            self.introduce(event.layer)
            self._tell_node(event.node)

    def failed(self) -> None:
        """Name the layer at least, if its call failed before anything could be told."""
        self.introduce(self.stage.subject)

    def introduce(self, layer: Layer) -> None:
        """Name the layer, and the inputs that it is called on, once."""
        if self._introduced:
            return
        self._introduced = True
        self._introduce_inputs(to_list(self.stage.names.get("inputs")))
        kind, place = type(layer).__name__, place_of(layer)
        self.tell("layer", self._depth, layer.name, kind, place, layer=kind, made_at=place)

    def _introduce_inputs(self, tensors: list[Tensor]) -> None:
        """Tell of an InputLayer when its tensor is first used: no call of a layer made its Node."""
        for history in filter(None, (x._keras_history for x in tensors)):
            layer = history.layer
            if not isinstance(layer, InputLayer) or layer in self.story.introduced:
                continue
            self.story.introduced.add(layer)
            shape = str(history.node.output_tensors[0].shape)
            self.tell("input", self._depth, layer.name, "Input", shape, shape=shape)

    def _tell_built(self, event: LayerBuilt) -> None:
        weights = {own_word(w, event.layer): w.shape for w in event.weights}
        words = "  ".join(f"{word} {shape}" for word, shape in weights.items())
        number = event.layer.count_params()
        self.tell(
            "built",
            self._depth + 1,
            "build",
            words or "no weights",
            counted(number, "parameter") if weights else "",
            weights={word: list(shape) for word, shape in weights.items()},
            parameters=number,
        )

    def _tell_node(self, node: Node) -> None:
        inputs, outputs = node.input_tensors, node.output_tensors
        words = f"{with_shapes(inputs)} -> {with_shapes(outputs)}"
        names: dict[str, Any] = {"inputs": [x.name for x in inputs]}
        names["outputs"] = [y.name for y in outputs]
        self.tell("node", self._depth + 1, f"Node {node.name}", words, node=node.name, **names)
        for y in outputs:
            layer, node_index, tensor_index = y._keras_history
            history = (layer.name, node_index, tensor_index)
            words = f"{y.name}: ({', '.join(map(str, history))})"
            self.tell("history", self._depth + 1, "_keras_history", words, history=list(history))


class InnerRunTeller(Teller):
    """A nested model runs on new symbols: `run_internal_graph`, its tensor_map filling."""

    phase = "build"

    def started(self) -> None:
        """Say that it runs, unless it runs on numbers: then the call around it says so."""
        self._depth = self.number_around(LayerCallTeller) + 1
        self._is_told = False

    def event(self, event: Any) -> None:
        """Tell what entered tensor_map."""
        if isinstance(event, InputFed) and not isinstance(event.computed, Constant):
            self._begin()
            self.tell(
                "fed", self._depth + 1, f"tensor_map[{event.tensor.name}]", event.computed.name
            )
        elif isinstance(event, NodeComputed) and self._is_told:
            pairs = zip(event.node.output_tensors, event.output_tensors, strict=True)
            for x, y in pairs:
                self.tell(
                    "computed",
                    self._depth + 1,
                    f"tensor_map[{x.name}]",
                    f"depth {event.depth}",
                    f"{y.name} {y.shape}",
                    depth_in_model=event.depth,
                )

    def _begin(self) -> None:
        if self._is_told:
            return
        self._is_told = True
        caller = self.enclosing(LayerCallTeller)
        if caller is not None:
            caller.introduce(self.stage.subject)
        name = self.stage.subject.name
        self.tell("begin", self._depth, "run_internal_graph", f"{name}'s layers, on new symbols")


class MapTeller(Teller):
    """The graph between inputs and outputs is mapped."""

    phase = "map_graph"

    def started(self) -> None:
        """Open the section; a stage that has finished no longer knows its inputs."""
        self._inputs: list[Tensor] = self.stage.names["inputs"]
        self.section("map_graph", "from the outputs back to the inputs: which Nodes, how deep")

    def finished(self) -> None:
        """Tell what was found: nodes_by_depth."""
        graph_map = self.stage.result
        layers = counted(len(graph_map.layers_depths), "layer")
        nodes = counted(len(graph_map.nodes_depths), "node")
        self.tell("begin", 1, "nodes_by_depth", nodes, layers, counted(graph_map.visits, "visit"))
        ids = ids_of_calls(self._inputs, graph_map)
        for depth, nodes_there in graph_map.nodes_by_depth.items():
            names = [node.name for node in nodes_there]
            words = listed(_with_id(node, ids[node]) for node in nodes_there)
            calls = [ids[node] for node in nodes_there]
            self.tell("depth_row", 2, f"depth {depth}", words, nodes=names, calls=calls)
        if graph_map.flavour == "1":
            marks = [
                mark.replace(str(id(node)), node.name)
                for mark in graph_map.seen_nodes
                for node in graph_map.nodes_depths
                if mark.startswith(f"{id(node)}-")
            ]
            self.tell("seen_nodes", 1, "seen_nodes", listed(marks), "(name for the node's id)")


def _with_id(node: Node, call_id: str) -> str:
    """Return Keras's key of a node, and its id in tables and pictures if it says more."""
    several = call_id != node.outbound_layer.name
    return f"{node.name} ({call_id})" if several else node.name


class MapStepTeller(Teller):
    """One of the three steps of the mapping."""

    phase = "map_graph"
    TITLES: ClassVar[dict[str, str]] = {
        "build_map": "visit each Node, and those that it needs, before it is finished",
        "depth_sort": "the longest path to an output",
        "check_graph": "every tensor can be computed from the inputs",
    }

    def started(self) -> None:
        """Name the step."""
        if self.stage.name != "check_graph":
            self.tell("begin", 1, self.stage.name, self.TITLES[self.stage.name])

    def event(self, event: Any) -> None:
        """Tell of one node."""
        if isinstance(event, NodeVisited):
            mark = (
                ()
                if event.depth is None
                else (
                    f"at depth {event.depth}",
                    "marked in seen_nodes",
                )
            )
            self.tell("visit", 2, event.node.name, "visit", f"for {event.tensor.name}", *mark)
        elif isinstance(event, NodeSkipped):
            self.tell("skip", 2, event.node.name, "skip", f"for {event.tensor.name}: seen before")
        elif isinstance(event, NodeFinished):
            self.tell("finish", 2, event.node.name, "finished")
        elif isinstance(event, DepthAssigned):
            self.tell("depth", 2, event.node.name, f"depth {event.depth}", at=event.depth)

    def finished(self) -> None:
        """Tell that all is connected."""
        if self.stage.name == "check_graph":
            self.tell("begin", 1, "check_graph", self.TITLES["check_graph"])
