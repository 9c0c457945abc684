"""Recording how models are built: layer calls, new Nodes, networks called on symbolic tensors.

The mapping of the graph is recorded as well: visits of Nodes, their marks as seen or in progress,
and their depths. The visit of a `Node` is a span: the walk reaches the Node, then visits all Nodes
that it depends on, and leaves it. The open visits are the `nodes_in_progress`.

Lessons: chapters 6, 8, 9 and 10.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Constant, Tensor, applies_in_order
from kerascope.engine.base_layer import Layer
from kerascope.engine.calling import LayerBuilt
from kerascope.engine.graph_map import DepthAssigned, NodeFinished, NodeSkipped, NodeVisited
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.layer_type import LayerType
from kerascope.engine.network import InputFed, NodeComputed
from kerascope.engine.node import Node, NodeCreated
from kerascope.engine.node_ids import call_ids
from kerascope.trace.event_writer import StageRecorder, named, place_of_use
from kerascope.trace.events import Delta, Where
from kerascope.trace.op_places import place_of_op
from kerascope.trace.snapshots import REMOVED
from kerascope.trace.training_info import ids_of_calls, keys_by_node
from kerascope.user_frames import line_outside_the_package


class IgnoredStage(StageRecorder):
    """Records nothing of a stage that only starts other stages. The other stages are recorded."""

    builds = True

    def started(self) -> None:
        """Record nothing, because only the inner stages are recorded."""

    def event(self, event: Any) -> None:
        """Record nothing, because only the inner stages are recorded."""


class LayerCallRecorder(StageRecorder):
    """Records the call of a layer on symbolic tensors: the new weights, ops and Node."""

    builds = True

    def first_made_at(self) -> tuple[str, int] | None:
        """Return the script's line that made the first new layer of this call, or None."""
        seen = self.memory.seen_layers
        layers = (*(node.outbound_layer for node in self._given()), self.stage.subject)
        return next((layer.made_at for layer in layers if layer not in seen), None)

    def started(self) -> None:
        """Record the layers that are new in the layer call, and then the start of the call."""
        self.called_at = line_outside_the_package()
        layer = self.stage.subject
        for node in self._given():
            self._introduce(node.outbound_layer, node)
        self._introduce(layer)
        inputs = [self.ref(x) for x in self._inputs()]
        made_at = self.called_at
        self.begin("layer.call", layer.name, layer=self.ref(layer), inputs=inputs, made_at=made_at)

    def event(self, event: Any) -> None:
        """Record the weights of a layer that was built, or the ops and Node of the call."""
        if isinstance(event, LayerBuilt):
            record_built(self, event, self.called_at)
        elif isinstance(event, NodeCreated):
            self._record_ops(event.node)
            self._record_node(event.node, self.recorder.where(self.stage, self.called_at))

    def finished(self) -> None:
        """Record the end of the layer call with its outputs."""
        result = self.stage.result
        if isinstance(result, Node):
            result = result.output_tensors[0]
        self.end_all(result=self.memory.describer.snapshot(result))

    def _inputs(self) -> list[Tensor]:
        names = self.stage.names
        call, apply = names.get("call"), names.get("apply")
        return call.tensors if call is not None else apply.inputs if apply is not None else []

    def _given(self) -> list[Node]:
        """Return the Nodes of those inputs of the call that come from an InputLayer."""
        histories = [x._keras_history for x in self._inputs() if x._keras_history is not None]
        return [history.node for history in histories if isinstance(history.layer, InputLayer)]

    def _introduce(self, layer: Any, node: Node | None = None) -> None:
        """Record "layer.init" when a layer is first seen, because making layers has no stage."""
        if layer in self.memory.seen_layers:
            return
        self.memory.seen_layers.add(layer)
        where = place_of_use(LayerType.__call__, Layer.__init__, layer.made_at)
        self.recorder.record("layer.init", layer.name, where, named(layer=self.ref(layer)))
        if node is not None:
            begun = place_of_use(InputLayer.__init__, Node, layer.made_at)
            self._record_node(node, begun)

    def _record_ops(self, node: Node) -> None:
        seen = self.memory.recorded_ops
        for apply in applies_in_order(node.output_tensors, fed=node.input_tensors):
            if apply.outputs[0] in seen:
                continue
            seen.add(apply.outputs[0])
            made = tuple(self.ref(y) for y in apply.outputs)
            result = made[0] if len(made) == 1 else made
            op = apply.op.name
            where = self.recorder.where(self.stage, self.called_at)
            if apply.frames:  # otherwise the layer was made at a line of the engine
                where = where._replace(made=place_of_op(where, apply).made)
            self.recorder.record("op.create", apply.name, where, named(op=op, result=result))

    def _record_node(self, node: Node, where: Where) -> None:
        key, outputs = self.memory.describer.key, [self.ref(y) for y in node.output_tensors]
        histories = (
            Delta("_keras_history", key(y), (h.layer.name, h.node_index, h.tensor_index))
            for y in node.output_tensors
            if (h := y._keras_history) is not None
        )
        names = named(node=self.ref(node), node_index=node.node_index, outputs=outputs)
        calls = [x._keras_history and x._keras_history.node.name for x in node.input_tensors]
        inputs = [
            [x.name, str(x.shape), call] for x, call in zip(node.input_tensors, calls, strict=True)
        ]
        self.recorder.record(
            "node.create", node.name, where, (*names, *histories), {"inputs": inputs}
        )


def record_built(observer: StageRecorder, event: LayerBuilt, line: tuple[str, int] | None) -> None:
    """Record the weights that a layer has made, with the script's line that built the layer."""
    recorder, layer = observer.recorder, event.layer
    memory = recorder.memory
    where = recorder.where(observer.stage, line)
    arrays = {w: memory.payload(w.get_value(borrow=True)) for w in event.weights}
    memory.values.update((w, w.get_value(borrow=True)) for w in event.weights)
    shape = named(input_shape=memory.describer.snapshot(event.input_shape))
    created = tuple(Delta("weights", w.name, arrays[w]) for w in event.weights)
    facts = {
        "weights": {own_word(w.name, layer.name): list(w.shape) for w in event.weights},
        "parameters": layer.count_params(),
    }
    recorder.begin("layer.build", layer.name, where, (*shape, *created), facts)
    for w, delta in zip(event.weights, created, strict=True):
        recorder.record("weight.create", w.name, where, (delta,))
    recorder.end()


def own_word(weight: str, layer: str) -> str:
    """Return a weight's name without the name of its layer: "kernel"."""
    return weight.removeprefix(f"{layer}/").removeprefix(f"{layer}_")


class RunRecorder(StageRecorder):
    """Records a network that runs on new symbolic tensors, its layers in order of decreasing depth.

    Each layer call adds its outputs to the `tensor_map`.

    The order is known, so each layer call is recorded before it happens.
    """

    builds = True

    def started(self) -> None:
        """Record the start of the run, with a `tensor_map` that contains only the inputs."""
        network = self.stage.subject
        self._ids = call_ids(network)  # this may map the graph, which is recorded too
        self.keys = keys_by_node(self._ids)
        self._coming = [
            (depth, node)
            for depth, nodes in network.nodes_by_depth.items()
            for node in nodes
            if not node.is_input
        ]
        self._coming.reverse()
        self._fed = 0
        self._depth: int | None = None
        rows = {d: [self.ref(n) for n in nodes] for d, nodes in network.nodes_by_depth.items()}
        self.begin(
            "run_internal_graph",
            network.name,
            network=self.ref(network),
            nodes_by_depth=rows,
            depth_keys=list(rows),
            tensor_map={},
        )

    def event(self, event: Any) -> None:
        """Record a new entry of `tensor_map`, and begin the next layer call."""
        if isinstance(event, InputFed):
            entry = Delta("tensor_map", self.keys[event.tensor], self._entry(event.tensor))
            self.record("tmap.set", entry.key, entry, facts={"tensor": event.tensor.name})
            self._fed += 1
        elif isinstance(event, NodeComputed):
            self._end_node(event)
        if self._fed == len(self.stage.subject.inputs):
            self._begin_node()

    def _entry(self, tensor: Tensor) -> tuple[Any, Any]:
        computed, mask = self.stage.names["tensor_map"][tensor]
        return self._value(computed), None if mask is None else self._value(mask)

    def _value(self, tensor: Tensor) -> Any:
        if isinstance(tensor, Constant):
            return self.memory.copied(tensor.value)
        return self.ref(tensor)

    def _begin_node(self) -> None:
        if not self._coming:
            if self._depth is not None:
                self._depth = None
                self.end()
            return
        depth, node = self._coming.pop()
        layer = node.outbound_layer
        if depth != self._depth:
            if self._depth is not None:
                self.end()
            self._depth = depth
            self.begin("depth", f"depth {depth}", depth=depth)
        tensor_map = self.stage.names["tensor_map"]
        data = [self._entry(x) for x in node.input_tensors if x in tensor_map]
        self.begin(
            self._kind(),
            self._ids[node],
            depth=depth,
            node=self.ref(node),
            layer=self.ref(layer),
            computed_data=data,
            made_at=layer.made_at,
        )
        for x in node.input_tensors:
            if x in tensor_map:
                self.record("tmap.get", self.keys[x], made_at=layer.made_at)

    def _kind(self) -> str:
        numbers = self.observers[0].stage.name == "eager_call"
        return "node" if numbers else "layer.call"

    def _end_node(self, event: NodeComputed) -> None:
        outputs = event.node.output_tensors
        entries = [Delta("tensor_map", self.keys[y], self._entry(y)) for y in outputs]
        computed = [self._value(x) for x in event.computed_tensors]
        made_at = event.node.outbound_layer.made_at
        self.recorder.note(*entries)
        for entry, y in zip(entries, outputs, strict=True):
            self.record("tmap.set", entry.key, entry, made_at=made_at, facts={"tensor": y.name})
        values = [entry.value[0] for entry in entries]
        result = values[0] if len(values) == 1 else tuple(values)
        names = named(computed_tensors=computed, output_tensors=values, result=result)
        self.recorder.end(names, self.recorder.where(self.stage, made_at))

    def finished(self) -> None:
        """Record the end of the network's run, with its outputs."""
        outputs, _, _ = self.stage.result
        self.end_all(result=tuple(self._value(y) for y in outputs))


# --- the map of the graph -------------------------------------------------------------------------


AT_A_VISIT = ("tensor", "layer", "node", "node_index", "depth", "current_depth", "mark")


class MapRecorder(StageRecorder):
    """Records one of the three steps that map a graph: the walk, the depths or the check."""

    builds = True

    def begin_map(self, **names: Any) -> None:
        """Record that the walk of a graph, the computation of its depths or its check begins.

        If the graph belongs to a network already, the network is recorded too.
        """
        around = [one.stage for one in self.observers if isinstance(one, IgnoredStage)]
        network = around[-1].subject if around else None
        whose = {} if network is None else {"network": self.ref(network)}
        self.begin(self.stage.name, self.stage.name, **whose, **names)


class WalkRecorder(MapRecorder):
    """Records the walk back from the outputs, which visits, marks and finishes each Node."""

    def started(self) -> None:
        """Record the start of the walk through the graph, with empty results."""
        self._is_old = "marks" in self.stage.names  # as the walk of Keras 1 has them
        own = ("nodes_depths", "layers_depths") if self._is_old else ("nodes_in_progress",)
        empty: dict[str, Any] = {"seen_nodes": [], "nodes_in_decreasing_depth": []}
        empty.update((name, {}) for name in ("layer_indices", *own))
        self._seen: set[str] = set()
        self._visits: list[dict[str, Any]] = []
        self._finished = 0
        self.begin_map(**empty)

    def event(self, event: Any) -> None:
        """Record that a Node is visited, skipped, marked as seen or in progress, or finished."""
        names, node = self.stage.names, event.node
        made_at = node.outbound_layer.made_at
        now = [*named(**self._names_at(event))]
        if isinstance(event, NodeVisited):
            found = self._visited(node, names)
            self.begin("map.visit", node.name, *now, *found, made_at=made_at)
            self._record_marks(node, found, made_at)
        elif isinstance(event, NodeSkipped):
            self.record("map.skip", node.name, *now, made_at=made_at)
        elif isinstance(event, NodeFinished):
            ordered = names["nodes_in_decreasing_depth"]
            if len(ordered) > self._finished:
                self._finished = len(ordered)
                place = len(ordered) - 1
                now.append(Delta("nodes_in_decreasing_depth", place, self.ref(node)))
            if not self._is_old:
                now.append(Delta("nodes_in_progress", node.name, REMOVED))
            self.recorder.end(tuple(now), self.recorder.where(self.stage, made_at))

    def _names_at(self, event: Any) -> dict[str, Any]:
        """Return the local names while a Node is visited, as in the recursive walk of Keras."""
        if isinstance(event, NodeFinished):
            return self._visits.pop()
        names, snapshot, node = self.stage.names, self.memory.describer.snapshot, event.node
        kept = {name: names[name] for name in AT_A_VISIT if name in names}
        if isinstance(event, NodeVisited):
            kept["tensor_index"] = event.tensor._keras_history.tensor_index
        if "mark" in kept:  # in Keras 1 an id, here the node's name
            kept["mark"] = str(kept["mark"]).replace(str(id(node)), node.name)
        described = {name: snapshot(value) for name, value in kept.items()}
        if isinstance(event, NodeVisited):
            self._visits.append(described)
        return described

    def _visited(self, node: Node, names: dict[str, Any]) -> list[Delta]:
        layer = node.outbound_layer
        found = [Delta("layer_indices", layer.name, names["layer_indices"][layer])]
        if not self._is_old:
            return [*found, Delta("nodes_in_progress", node.name, True)]
        found.append(Delta("nodes_depths", node.name, names["nodes_depths"][node]))
        found.append(Delta("layers_depths", layer.name, names["layers_depths"][layer]))
        mark = f"{node.name}-{names['depth']}"
        if mark not in self._seen:
            found.append(Delta("seen_nodes", len(self._seen), mark))
            self._seen.add(mark)
        return found

    def _record_marks(self, node: Node, found: list[Delta], made_at: Any) -> None:
        kinds = {"seen_nodes": "map.mark", "nodes_in_progress": "map.mark",
                 "nodes_depths": "map.depth"}  # fmt: skip
        for delta in found:
            if delta.name in kinds:
                name = delta.value if delta.name == "seen_nodes" else node.name
                self.record(kinds[delta.name], name, delta, made_at=made_at)


class DepthRecorder(MapRecorder):
    """Records how each node gets its depth: the longest path to an output."""

    def started(self) -> None:
        """Record the start of the computation of the depths, with the visited Nodes."""
        ordered = [self.ref(n) for n in self.stage.names["graph_map"].nodes_in_decreasing_depth]
        self.begin_map(nodes_in_decreasing_depth=ordered, nodes_depths={}, layers_depths={})

    def event(self, event: Any) -> None:
        """Record the depth of a Node."""
        if not isinstance(event, DepthAssigned):
            return
        node, layer = event.node, event.node.outbound_layer
        nodes_depths = self.stage.names["nodes_depths"]
        parents = dict.fromkeys(node.parent_nodes)
        self.record(
            "map.depth",
            node.name,
            Delta("nodes_depths", node.name, event.depth),
            Delta("layers_depths", layer.name, event.depth),
            *(Delta("nodes_depths", parent.name, nodes_depths[parent]) for parent in parents),
            node=self.ref(node),
            depth=event.depth,
            made_at=layer.made_at,
        )


class CheckRecorder(MapRecorder):
    """Records the order of the Nodes by depth, and the check that the inputs reach every tensor."""

    def started(self) -> None:
        """Record the start of the graph's check, with the Nodes of each depth."""
        graph_map, snapshot = self.stage.names["graph_map"], self.memory.describer.snapshot
        rows = snapshot(graph_map.nodes_by_depth)
        self.begin_map(
            nodes_depths=snapshot(graph_map.nodes_depths),
            layers_depths=snapshot(graph_map.layers_depths),
            nodes_by_depth=rows,
            layers_by_depth=snapshot(graph_map.layers_by_depth),
            depth_keys=list(rows),
            layers_with_complete_input=[],
        )
        self._complete = 0
        self._map, self._inputs = graph_map, self.stage.names["inputs"]
        for depth, nodes in graph_map.nodes_by_depth.items():
            for node in nodes:
                row = Delta("nodes_by_depth", depth, rows[depth])
                self.record("depth.put", node.name, row, made_at=node.outbound_layer.made_at)

    def event(self, event: Any) -> None:
        """Record that the check has found that all calls of a depth can be computed."""
        names = self.stage.names
        complete = names["layers_with_complete_input"]
        new = range(self._complete, len(complete))
        self._complete = len(complete)
        depth = names["graph_map"].nodes_depths[event[0]]
        added = [Delta("layers_with_complete_input", i, complete[i]) for i in new]
        nodes = self.memory.describer.snapshot(event)
        self.record("check.depth", f"depth {depth}", *added, nodes=nodes)

    def finished(self) -> None:
        """Record the end of the graph's check, with the ids of all calls."""
        graph_map = self._map
        facts: dict[str, Any] = {
            "calls": {n.name: i for n, i in ids_of_calls(self._inputs, graph_map).items()},
            "visits": graph_map.visits,
        }
        if graph_map.flavour == "1":
            facts["seen_nodes"] = [
                mark.replace(str(id(node)), node.name)
                for mark in graph_map.seen_nodes
                for node in graph_map.nodes_depths
                if mark.startswith(f"{id(node)}-")
            ]
        self.end_all(facts=facts)
