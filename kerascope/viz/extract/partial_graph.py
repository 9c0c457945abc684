"""A partial graph: boxes for the calls that some tensors were made by, with or without a model.

The failure pictures are drawn with it. A model's graph comes from its own map (`nodes.py`);
here there is no model yet, only tensors and the calls that made them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.engine.node_ids import clean, free_id
from kerascope.viz.extract.layer_facts import (
    CallFacts,
    WeightBook,
    layer_attributes,
    shapes_text,
    tensor_attributes,
)
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.kinds import kind_of

Makers = Mapping[Tensor, Node]


class End(NamedTuple):
    """Where an arrow begins: a box, and which of its outputs."""

    box: str
    number: int


def ordered_calls(
    tensors: Iterable[Tensor], makers: Makers, begin: Container[Tensor] = ()
) -> list[Node]:
    """Return the calls that made these tensors, each after those that it needs.

    Parameters
    ----------
    tensors : iterable of Tensor
    makers : mapping of Tensor to Node
    begin : container of Tensor
        Where to stop: what these were made from is not asked for.
    """
    finished: dict[Node, None] = {}
    in_progress: dict[Node, Iterator[Tensor]] = {}
    for tensor in tensors:
        waiting: list[Tensor] = [tensor]
        while waiting or in_progress:
            if waiting:
                x = waiting.pop()
                node = makers.get(x)
                if node is not None and node not in finished and node not in in_progress:
                    needs = [] if node.is_input or x in begin else node.input_tensors
                    in_progress[node] = iter(needs)
                continue
            node, rest = next(reversed(in_progress.items()))
            following = next(rest, None)
            if following is None:
                del in_progress[node]
                finished[node] = None
            else:
                waiting.append(following)
    return list(finished)


class PartialGraph:
    """Collects boxes, arrows and frames for calls.

    Parameters
    ----------
    makers : mapping of Tensor to Node
        The call that made each tensor.
    """

    def __init__(self, makers: Makers) -> None:
        self.makers = makers
        self.boxes: dict[str, GraphNode] = {}
        self.groups: list[GraphGroup] = []
        self.edges: list[GraphEdge] = []
        self.ids: dict[Node, str] = {}
        self._taken: dict[str, None] = {}
        self._tensor_boxes: dict[Tensor, str] = {}
        self._weights = WeightBook()

    def add_calls(
        self, nodes: Sequence[Node], group: str = "", failing: Layer | None = None
    ) -> None:
        """Add a box for each call, and the arrows to it; a call that failed counts as the last."""
        calls: dict[Layer, list[Node]] = {}
        for node in nodes:
            calls.setdefault(node.outbound_layer, []).append(node)
        for layer, made in calls.items():
            made.sort(key=lambda node: node.node_index)
            count = len(made) + (layer is failing)
            for number, node in enumerate(made):
                box_id = self.free_id(call_name(layer, number, count, group))
                self.ids[node] = box_id
                inputs = [] if node.is_input else node.input_tensors
                dtype = str(node.output_tensors[0].dtype)
                shapes = [x.shape for x in inputs], [y.shape for y in node.output_tensors]
                self.add_box(box_id, layer, CallFacts(*shapes, dtype, number, count), group)
        self.boxes = {
            **{name: box for name, box in self.boxes.items() if box.group != group},
            **{self.ids[node]: self.boxes[self.ids[node]] for node in nodes},
        }
        for node in nodes:
            if not node.is_input:
                self.add_edges(node.input_tensors, self.ids[node], group)

    def add_box(self, box_id: str, layer: Layer, facts: CallFacts, group: str = "") -> None:
        """Add the box of one call."""
        attrs = {
            **layer_attributes(layer),
            **facts.attributes,
            **self._weights.enter(layer, box_id),
        }
        self.boxes[box_id] = GraphNode(box_id, clean(layer.name), kind_of(layer), group, 0, attrs)

    def add_edges(
        self, tensors: Sequence[Tensor], target: str, group: str, state: str = ""
    ) -> None:
        """Add the arrows to a box, one for each tensor."""
        for operand, tensor in enumerate(tensors):
            if tensor in self.makers and self.makers[tensor] not in self.ids:
                continue  # what lies before the given inputs is not drawn
            source = self.end_of(tensor, group)
            attrs: dict[str, Attribute] = {
                "operand": operand,
                "output": source.number,
                "shape": shapes_text([tensor.shape]),
                "dtype": str(tensor.dtype),
                **({"state": state} if state else {}),
            }
            self.edges.append(GraphEdge(source.box, target, "", attrs))

    def end_of(self, tensor: Tensor, group: str) -> End:
        """Return where a tensor comes from; one that no layer made gets a box of its own."""
        node = self.makers.get(tensor)
        if node is not None and node in self.ids:
            return End(self.ids[node], node.output_tensors.index(tensor))
        if tensor not in self._tensor_boxes:
            name = clean(tensor.name or "constant")
            box_id = self.free_id(f"{group}/{name}" if group else name)
            self._tensor_boxes[tensor] = box_id
            self.boxes[box_id] = GraphNode(
                box_id, name, "tensor", group, 0, tensor_attributes(tensor)
            )
            self.add_edges(self._drawn_sources(tensor), box_id, group)
        return End(self._tensor_boxes[tensor], 0)

    def mark(self, box_id: str, **attrs: Attribute) -> None:
        """Write attributes on a box."""
        box = self.boxes[box_id]
        self.boxes[box_id] = replace(box, attrs={**box.attrs, **attrs})

    def free_id(self, wanted: str) -> str:
        """Return this id, or one near it, that nothing else has and nothing else will get."""
        box_id = free_id(wanted, self._taken)
        self._taken[box_id] = None
        return box_id

    def finished(self, name: str, attrs: Mapping[str, Attribute]) -> Graph:
        """Return the graph; the depth of a box is its longest path to an end, frame by frame."""
        depths = self._depths()
        nodes = [replace(box, depth=depths[name]) for name, box in self.boxes.items()]
        nodes.sort(key=lambda box: -box.depth)
        parameters = sum(int(box.attrs["parameters"]) for box in nodes)
        whole = {"level": "node", "parameters": parameters, **attrs}
        return Graph(clean(name), tuple(nodes), tuple(self.edges), tuple(self.groups), whole)

    def _drawn_sources(self, tensor: Tensor) -> list[Tensor]:
        """Return the tensors with a box that a bare tensor was computed from."""
        sources: dict[Tensor, None] = {}
        seen: set[Tensor] = set()
        waiting = [tensor]
        while waiting:
            x = waiting.pop()
            if x in seen:
                continue
            seen.add(x)
            maker = self.makers.get(x)
            if maker is not None and maker in self.ids:
                sources[x] = None
            elif x.owner is not None:
                waiting.extend(reversed(x.owner.inputs))
        return list(sources)

    def _depths(self) -> dict[str, int]:
        users: dict[str, list[str]] = {name: [] for name in self.boxes}
        missing = dict.fromkeys(self.boxes, 0)  # arrows out of a box whose target has no depth yet
        for edge in self.edges:
            users[edge.target].append(edge.source)
            missing[edge.source] += 1
        depths = dict.fromkeys(self.boxes, 0)
        ready = [name for name, count in missing.items() if not count]
        while ready:
            target = ready.pop()
            for source in users[target]:
                is_inside = self.boxes[source].group == self.boxes[target].group
                depths[source] = max(depths[source], depths[target] * is_inside + 1)
                missing[source] -= 1
                if not missing[source]:
                    ready.append(source)
        return depths


def call_name(layer: Layer, number: int, count: int, group: str = "") -> str:
    """Return what a call is named after: its layer, which call of it, and the frame around."""
    name = layer.name if count == 1 else f"{layer.name}@{number}"
    return f"{group}/{name}" if group else name
