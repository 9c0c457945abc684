"""What is recorded while a graph is mapped: visits, marks, depths.

A `Node`'s visit is a span from the moment at which the walk reaches it until all that it needs has
been visited: the open visits are the `nodes_in_progress`. Lessons: chapters 8 and 9.
"""

from __future__ import annotations

from typing import Any

from kerascope.engine.graph_map import DepthAssigned, NodeFinished, NodeSkipped, NodeVisited
from kerascope.engine.node import Node
from kerascope.trace.events import Delta
from kerascope.trace.hearer import Hearer, name_is
from kerascope.trace.snapshots import REMOVED

AT_A_VISIT = ("tensor", "layer", "node", "node_index", "depth", "current_depth", "mark")


class WalkHearer(Hearer):
    """The walk from the outputs back: each Node is visited, marked, finished."""

    builds = True

    def started(self) -> None:
        """Begin with nothing found."""
        graph_map = self.stage.names["graph_map"]
        self._is_old = graph_map.flavour == "1"
        containers: dict[str, Any] = {
            "seen_nodes": [],
            "nodes_in_decreasing_depth": [],
            "layer_indices": {},
        }
        own: dict[str, Any] = {"nodes_depths": {}, "layers_depths": {}} if self._is_old else {
            "nodes_in_progress": {}
        }  # fmt: skip
        deltas = [name_is(name, value) for name, value in {**containers, **own}.items()]
        self._seen: set[str] = set()
        self._finished = 0
        self.begin("build_map", "build_map", *deltas)

    def event(self, event: Any) -> None:
        """Tell of one node."""
        names = self.stage.names
        describer = self.recorder.describer
        node = event.node
        made_at = node.outbound_layer.made_at
        now = [name_is(n, describer.snapshot(names[n])) for n in AT_A_VISIT if n in names]
        now = [delta._replace(value=self._mark(node, delta)) for delta in now]
        if isinstance(event, NodeVisited):
            found = self._visited(node, names)
            self.begin("map.visit", node.name, *now, *found, made_at=made_at)
            self._tell_marks(node, found, made_at)
        elif isinstance(event, NodeSkipped):
            self.tell("map.skip", node.name, *now, made_at=made_at)
        elif isinstance(event, NodeFinished):
            ordered = names["graph_map"].nodes_in_decreasing_depth
            if len(ordered) > self._finished:
                self._finished = len(ordered)
                place = Delta("nodes_in_decreasing_depth", len(ordered) - 1, describer.ref(node))
                now.append(place)
            if not self._is_old:
                now.append(Delta("nodes_in_progress", node.name, REMOVED))
            self.recorder.end(tuple(now), self.recorder.where(self.stage, made_at))

    def _mark(self, node: Node, delta: Delta) -> Any:
        """Return a name's value; Keras 1's marks hold an id, here the node's name."""
        return delta.value if delta.name != "mark" else str(delta.value).replace(
            str(id(node)), node.name
        )  # fmt: skip

    def _visited(self, node: Node, names: dict[str, Any]) -> list[Delta]:
        graph_map, layer = names["graph_map"], node.outbound_layer
        found = [Delta("layer_indices", layer.name, graph_map.layer_indices[layer])]
        if not self._is_old:
            return [*found, Delta("nodes_in_progress", node.name, True)]
        found.append(Delta("nodes_depths", node.name, graph_map.nodes_depths[node]))
        found.append(Delta("layers_depths", layer.name, graph_map.layers_depths[layer]))
        mark = f"{node.name}-{names['depth']}"
        if mark not in self._seen:
            found.append(Delta("seen_nodes", len(self._seen), mark))
            self._seen.add(mark)
        return found

    def _tell_marks(self, node: Node, found: list[Delta], made_at: Any) -> None:
        kinds = {"seen_nodes": "map.mark", "nodes_in_progress": "map.mark",
                 "nodes_depths": "map.depth"}  # fmt: skip
        for delta in found:
            if delta.name in kinds:
                name = delta.value if delta.name == "seen_nodes" else node.name
                self.tell(kinds[delta.name], name, delta, made_at=made_at)


class DepthHearer(Hearer):
    """Each node gets its depth: the longest path to an output."""

    builds = True

    def started(self) -> None:
        """Begin with what the walk found."""
        snapshot = self.recorder.describer.snapshot
        graph_map = self.stage.names["graph_map"]
        ordered = name_is(
            "nodes_in_decreasing_depth", snapshot(graph_map.nodes_in_decreasing_depth)
        )
        empty = (name_is("nodes_depths", {}), name_is("layers_depths", {}))
        self.begin("depth_sort", "depth_sort", ordered, *empty)

    def event(self, event: Any) -> None:
        """Tell of one node."""
        if not isinstance(event, DepthAssigned):
            return
        node, layer = event.node, event.node.outbound_layer
        nodes_depths = self.stage.names["nodes_depths"]
        parents = dict.fromkeys(node.parent_nodes)
        self.tell(
            "map.depth",
            node.name,
            name_is("node", self.recorder.describer.ref(node)),
            name_is("depth", event.depth),
            Delta("nodes_depths", node.name, event.depth),
            Delta("layers_depths", layer.name, event.depth),
            *(Delta("nodes_depths", parent.name, nodes_depths[parent]) for parent in parents),
            made_at=layer.made_at,
        )


class CheckHearer(Hearer):
    """The nodes stand in rows by their depth; every tensor can be computed from the inputs."""

    builds = True

    def started(self) -> None:
        """Tell the rows."""
        names = self.stage.names
        graph_map, snapshot = names["graph_map"], self.recorder.describer.snapshot
        rows = snapshot(graph_map.nodes_by_depth)
        self.begin(
            "check_graph",
            "check_graph",
            name_is("nodes_depths", snapshot(graph_map.nodes_depths)),
            name_is("layers_depths", snapshot(graph_map.layers_depths)),
            name_is("nodes_by_depth", rows),
            name_is("layers_by_depth", snapshot(graph_map.layers_by_depth)),
            name_is("depth_keys", list(rows)),
            name_is("layers_with_complete_input", []),
        )
        self._complete = 0
        for depth, nodes in graph_map.nodes_by_depth.items():
            for node in nodes:
                row = Delta("nodes_by_depth", depth, rows[depth])
                self.tell("depth.put", node.name, row, made_at=node.outbound_layer.made_at)

    def event(self, event: Any) -> None:
        """Tell that the calls of one depth can be computed."""
        names = self.stage.names
        complete = names["layers_with_complete_input"]
        new = range(self._complete, len(complete))
        self._complete = len(complete)
        depth = names["graph_map"].nodes_depths[event[0]]
        nodes = name_is("nodes", self.recorder.describer.snapshot(event))
        added = [Delta("layers_with_complete_input", i, complete[i]) for i in new]
        self.tell("check.depth", f"depth {depth}", nodes, *added)
