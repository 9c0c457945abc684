"""The forward pass as boxes, and which op belongs to which box.

The gradient and the training level both begin here. Of a model every call is a box, however many
ops it makes: an op belongs to the call between whose input and output tensors it lies. Of a graph
of tensors every op is a box of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kerascope.backend.graph import Apply, Constant, Placeholder, Tensor, Variable
from kerascope.backend.traversal import applies_between
from kerascope.engine.node_ids import clean
from kerascope.viz.depths import longest_paths
from kerascope.viz.extract.layer_facts import shapes_text
from kerascope.viz.extract.op_facts import op_attributes
from kerascope.viz.graph import Attribute, GraphEdge, GraphNode


@dataclass
class Forward:
    """Boxes from the inputs and weights to the loss.

    Attributes
    ----------
    loss : Tensor
    boxes : dict of str to GraphNode
        By id; their depths are given at the end, by `with_depths`.
    edges : list of GraphEdge
    homes : dict of Apply to str
        The box of each op.
    leaves : dict of Tensor to str
        The box of each tensor that is one itself: a variable, a placeholder.
    numbers : dict of Tensor to int
        Which output of its box a tensor is, where the box has several.
    counts_uses : bool
        Whether each argument of an op is a use of its own: x * x uses x twice. If not, a box uses a
        tensor once, however many of its ops read it.
    """

    loss: Tensor
    boxes: dict[str, GraphNode] = field(default_factory=dict)
    edges: list[GraphEdge] = field(default_factory=list)
    homes: dict[Apply, str] = field(default_factory=dict)
    leaves: dict[Tensor, str] = field(default_factory=dict)
    numbers: dict[Tensor, int] = field(default_factory=dict)
    counts_uses: bool = False
    _given: dict[str, int] = field(default_factory=dict, repr=False)

    def home(self, tensor: Tensor) -> str | None:
        """Return the id of the box that makes a tensor; None for what is not drawn."""
        if tensor in self.leaves:
            return self.leaves[tensor]
        return None if tensor.owner is None else self.homes.get(tensor.owner)

    @property
    def loss_id(self) -> str:
        """The box that makes the loss."""
        found = self.home(self.loss)
        assert found is not None
        return found

    def add_box(
        self, wanted: str, label: str, kind: str, attrs: dict[str, Attribute] | None = None
    ) -> str:
        """Add a box; return its id."""
        name = clean(wanted)
        number = self._given.get(name, 0) + 1  # many ops may have one name: count on from the last
        box_id = name if number == 1 else f"{name}~{number}"
        while box_id in self.boxes:
            number += 1
            box_id = f"{name}~{number}"
        self._given[name] = number
        self.boxes[box_id] = GraphNode(box_id, clean(label), kind, "", 0, attrs or {})
        return box_id

    def add_leaf(self, tensor: Tensor, kind: str = "", **attrs: Attribute) -> str:
        """Give a tensor a box of its own, unless it has a box already; return its id."""
        found = self.home(tensor)
        if found is None:
            name = tensor.name or "constant"
            facts = {**tensor_facts(tensor), **attrs}
            found = self.leaves[tensor] = self.add_box(name, name, kind or leaf_kind(tensor), facts)
        return found

    def mark(self, box_id: str, **attrs: Attribute) -> None:
        """Write attributes on a box."""
        box = self.boxes[box_id]
        self.boxes[box_id] = dataclasses.replace(box, attrs={**box.attrs, **attrs})


def tensor_facts(tensor: Tensor) -> dict[str, Attribute]:
    """Return shape and type of a tensor as attributes of its box."""
    return {"output_shapes": shapes_text([tensor.shape]), "dtype": str(tensor.dtype)}


def leaf_kind(tensor: Tensor) -> str:
    """Return the kind of box of a tensor that no drawn op makes."""
    kinds = {Variable: "variable", Placeholder: "placeholder", Constant: "constant"}
    return next((kind for cls, kind in kinds.items() if isinstance(tensor, cls)), "tensor")


def tensor_edge(source: str, target: str, tensor: Tensor, **attrs: Attribute) -> GraphEdge:
    """Return the edge along which a tensor flows."""
    facts: dict[str, Attribute] = {"shape": shapes_text([tensor.shape]), "dtype": str(tensor.dtype)}
    return GraphEdge(source, target, "", {**attrs, **facts})


# --- op by op -------------------------------------------------------------------------------------


def forward_of_tensors(loss: Tensor, wrt: Sequence[Tensor]) -> Forward:
    """Return the ops between `wrt` and the loss, and what else these read.

    Of what else they read, variables, placeholders and results of other ops are drawn, but not
    where those results come from; constants are not.
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
    """Return the boxes with the longest path to an end as depth, deepest first.

    So a variable lies one row above its deepest user. What leads to none of the `ends`, such as an
    output without a loss, does not sink to the bottom: it lies one row below what it reads.
    """
    by_id = {box.id: box for box in boxes}
    depths = longest_paths(list(by_id), [(edge.source, edge.target) for edge in edges])
    sources: dict[str, list[str]] = {one: [] for one in by_id}
    readers: dict[str, list[str]] = {one: [] for one in by_id}
    for edge in edges:
        sources[edge.target].append(edge.source)
        readers[edge.source].append(edge.target)
    leading = _ancestors(ends, sources)
    aside = sorted((one for one in by_id if one not in leading), key=lambda one: -depths[one])
    for one in aside:
        above = [depths[x] for x in sources[one] if x in leading or sources[x]]
        if sources[one]:
            depths[one] = min(above) - 1 if above else max(depths.values()) - 1
    for one in aside:
        if not sources[one]:
            depths[one] = max([depths[reader] + 1 for reader in readers[one]], default=0)
    lowest = min(depths.values(), default=0)
    placed = [dataclasses.replace(box, depth=depths[box.id] - lowest) for box in by_id.values()]
    placed.sort(key=lambda box: -box.depth)
    return {box.id: box for box in placed}


def _ancestors(ends: Iterable[str], sources: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the boxes that lead to an end, and the ends."""
    found: set[str] = set()
    stack = list(ends)
    while stack:
        one = stack.pop()
        if one not in found:
            found.add(one)
            stack.extend(sources[one])
    return found
