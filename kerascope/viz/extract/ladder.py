"""The ladder: a training step as two rails, with a card for each layer between them.

Calls are on the rail "forward", the gradients of their outputs on the rail "backward". Losses and
targets are below both (`attrs["rail"]`). A layer with weights has one card, a frame of kind "card",
however often it is called. A card has one line for each weight. Its boxes name in `line` the weight
they belong to, and in `column` their role: "weight", "via" (the contribution of one call to the
gradient), "gradient", the name of an optimizer slot, or "new". The levels "gradient" and "training"
of a model are this graph; the gradient level has no slots and no new values.

The arrows, for every format:

- call to call, weight to call, call to loss, loss to total loss: as in the forward pass;
- role "gradient": the total loss to gradients, gradients to gradients, the gradient of a call and
  the input of that call (`operand_of` names the call) to the gradients of its weights;
- gradient, slots and weight to the new slots and the new weight;
- role "update": the new value to its variable.

Hyperparameters and state that belongs to no weight, such as the step count, are in the caption.

Lesson: chapter 14.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.engine.node_ids import clean
from kerascope.trace.records import counted
from kerascope.viz.extract.forward import Forward
from kerascope.viz.extract.gradients import (
    GradientPicture,
    compute_values,
    model_feed,
    sweep_of_model,
)
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.nesting import FreeIds, longest_paths
from kerascope.viz.overlays.marking import with_attributes
from kerascope.viz.overlays.values import figures

FORWARD, BACKWARD, LOSS = "forward", "backward", "loss"
WEIGHT, VIA, GRADIENT, NEW = "weight", "via", "gradient", "new"


def gradient_ladder(
    model: Any,
    *,
    data: Any = None,
    training: bool = False,
    nested: bool = False,
    where: str = "gradient_ladder",
) -> Graph:
    """Return the calls of a compiled model and their gradients as a ladder.

    Parameters
    ----------
    model : Model
        Compiled, with a graph of layers. It is not changed.
    data : tuple (x, y) or (x, y, sample_weight), optional
        A batch as for `train_on_batch`, for which the numbers of the gradients are computed and
        shown. Nothing is trained.
    training : bool
        Whether dropout and similar layers behave as in training when numbers are computed.
    nested : bool
        Open the calls of nested models: each is a frame around the calls inside it.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    NotCompiledError, NotBuiltError
        The model has no loss or no graph yet.
    DataError
        The data do not fit the model.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.models import Model
    >>> x = Input((3,), name="x")
    >>> model = Model(x, Dense(1, use_bias=False, name="line")(x), name="small")
    >>> model.compile("sgd", "mse")
    >>> for edge in gradient_ladder(model).edges:
    ...     if edge.attrs.get("role") == "gradient":
    ...         print(edge.source, "->", edge.target)
    grad:line -> grad:line/kernel
    loss -> grad:line
    x -> grad:line/kernel
    """
    forward, picture = sweep_of_model(model, where=where, nested=nested)
    ladder = Ladder(model, forward, picture)
    graph = ladder.graph("gradient", str(picture.graph.attrs["caption"]))
    if data is None:
        return graph
    kept = {one: x for one, x in picture.tensors.items() if one in ladder.boxes}
    values = compute_values(kept, *model_feed(model, data, training, where))
    return with_attributes(graph, {one: figures(array) for one, array in values.items()})


@dataclass
class Card:
    """The card of one layer, with one line for each of its weights.

    Attributes
    ----------
    layer : str
    calls : dict of str to None
        The calls that read its weights.
    weights : list of str
    members : list of str
        The ids of all its boxes, line by line.
    """

    layer: str
    calls: dict[str, None] = field(default_factory=dict)
    weights: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)


class Ladder:
    """The boxes and arrows of a gradient graph, arranged on rails and cards.

    Parameters
    ----------
    model : Model
    forward : Forward
    picture : GradientPicture

    Attributes
    ----------
    boxes : dict of str to GraphNode
    edges : list of GraphEdge
    cards : dict of str to Card
        The cards, by the ids of their frames.
    card_of, gradient_of : dict of str to str
        The card and the gradient of each weight, by the weight's id.
    cells : set of str
        The ids of the boxes on cards.
    """

    def __init__(self, model: Any, forward: Forward, picture: GradientPicture) -> None:
        self.forward = forward
        self.picture = picture
        self.boxes = {box.id: box for box in picture.graph.nodes}
        self.edges: list[GraphEdge] = []
        self.cards: dict[str, Card] = {}
        self.card_of: dict[str, str] = {}
        self.gradient_of: dict[str, str] = {}
        self.cells: set[str] = set()
        self._free_id = FreeIds(self.boxes).take
        self._arriving = set(picture.backward.gradients.values())
        self._make_cards(model)
        self._put_on_rails()
        self._add_edges()
        self._add_operands()

    # --- cards ------------------------------------------------------------------------------------

    def _make_cards(self, model: Any) -> None:
        """Add a line for each weight to the card of its layer.

        A weight of no layer gets a line on the card of the first layer that reads it.
        """
        readers: dict[str, list[str]] = {}
        for edge in self.forward.edges:
            readers.setdefault(edge.source, []).append(edge.target)
        owner = {w: layer.name for layer in reversed(model.layers) for w in layer.weights}
        of_layer: dict[str, str] = {}
        for weight in model.weights:
            box_id = self.forward.leaves.get(weight)
            if box_id is None:
                continue
            calls = [one for one in readers.get(box_id, []) if "layer" in self.boxes[one].attrs]
            name = clean(owner.get(weight, ""))
            own = [one for one in calls if self.boxes[one].attrs["layer"] == name]
            layer = name
            if calls and not own:
                layer = str(self.boxes[calls[0]].attrs["layer"])
                name = "/".join([*self.forward.path_of(calls[0]), layer])
            card = of_layer.get(name)
            if card is None:
                card = of_layer[name] = self._free_id(f"card:{name}")
                self.cards[card] = Card(name)
            self.cards[card].calls.update(dict.fromkeys(calls))
            self.cards[card].weights.append(box_id)
            self.card_of[box_id] = card
            self.put_on_line(box_id, box_id, WEIGHT, short_name(box_id, layer))

    def put_on_line(self, box_id: str, line: str, column: str, short: str) -> None:
        """Move the box `box_id` to a line of a card: the row of the weight `line`."""
        card = self.card_of[line]
        self.cards[card].members.append(box_id)
        self.cells.add(box_id)
        box = self.boxes[box_id]
        attrs = {key: value for key, value in box.attrs.items() if key != "beside"}
        attrs.update({"line": line, "column": column, "short": short})
        self.boxes[box_id] = replace(box, group=card, attrs=attrs)

    def add_to_line(self, wanted: str, line: str, column: str, short: str, node: GraphNode) -> str:
        """Add a new box to the line of a weight on a card and return the id of the box."""
        box_id = self._free_id(wanted)
        self.boxes[box_id] = replace(node, id=box_id)
        self.put_on_line(box_id, line, column, short)
        return box_id

    # --- rails ------------------------------------------------------------------------------------

    def _put_on_rails(self) -> None:
        """Put each box on a rail or a card.

        The gradients of losses get no boxes: their arrows start at the total loss.
        """
        self.replaced: dict[str, str] = {}
        for box in list(self.boxes.values()):
            home = str(box.attrs.get("beside", ""))
            if home in self.card_of:
                line = home
                self.gradient_of[line] = box.id
                short = str(self.boxes[line].attrs["short"])
                self.put_on_line(box.id, line, GRADIENT, short)
            elif home and self.boxes[home].kind == "loss":
                self.replaced[box.id] = self.forward.loss_id
            elif home:
                self._put(box, BACKWARD)
            elif box.id not in self.card_of and box.kind != "gradient":
                is_below = box.kind == "loss" or box.attrs.get("class_name") == "target"
                self._put(box, LOSS if is_below else FORWARD)
        for box_id in self.replaced:
            del self.boxes[box_id]

    def _put(self, box: GraphNode, rail: str) -> None:
        self.boxes[box.id] = replace(box, attrs={**box.attrs, "rail": rail})

    # --- arrows -----------------------------------------------------------------------------------

    def _add_edges(self) -> None:
        """Add the arrows of the reverse sweep: from the gradients to contributions and sums.

        Contributions to a call's output have no boxes: their arrows lead directly to the sum.
        """
        nodes = {box.id: box for box in self.picture.graph.nodes}
        into: dict[str, str] = {}  # contribution -> its sum
        for edge in self.picture.graph.edges:
            if "via" in nodes[edge.source].attrs:
                into[edge.source] = edge.target
        for one, total in into.items():
            line = str(nodes[total].attrs["beside"])
            if line in self.card_of:
                self.put_on_line(one, line, VIA, _via(nodes[one]))
        known: set[tuple[str, str, str]] = set()
        for edge in self.picture.graph.edges:
            source, target, attrs = edge.source, edge.target, dict(edge.attrs)
            label = edge.label
            if into.get(target) in self.boxes and target not in self.cells:
                attrs["via"], label = nodes[target].attrs["via"], _via(nodes[target])
                target = into[target]
            source = self.replaced.get(source, source)
            is_hidden = target not in self.boxes or (target in into and target not in self.cells)
            if is_hidden or (source in into and source not in self.cells):
                continue
            key = source, target, str(attrs.get("via", ""))
            if attrs.get("role") == "gradient":
                if key in known:
                    continue
                known.add(key)
            times = int(attrs.pop("operands", 1))
            self.edges += [GraphEdge(source, target, label, attrs)] * times
        for one in into:
            if one not in self.cells:
                self.boxes.pop(one, None)

    def _add_operands(self) -> None:
        """Add an arrow from an input of a call to each weight gradient computed from this input."""
        inputs: dict[str, dict[str, GraphEdge]] = {}
        for edge in self.forward.edges:
            if edge.source not in self.card_of:
                inputs.setdefault(edge.target, {}).setdefault(edge.source, edge)
        for weight, uses in self.picture.backward.contributions.items():
            line = self.forward.leaves.get(weight, "")
            if line not in self.gradient_of:
                continue
            box_id = self.gradient_of[line]
            vias = [
                one for one in self.cards[self.card_of[line]].members if self._is_via(one, line)
            ]
            targets = vias if len(uses) > 1 else [box_id]
            for use, target in zip(uses, targets, strict=True):
                for source in self._read_by(use.terms, use.consumer, inputs.get(use.consumer, {})):
                    edge = inputs[use.consumer][source]
                    attrs: dict[str, Attribute] = {"role": "gradient", "operand_of": use.consumer}
                    attrs |= {k: v for k, v in edge.attrs.items() if k in ("shape", "dtype")}
                    self.edges.append(GraphEdge(source, target, "", attrs))

    def _is_via(self, box_id: str, line: str) -> bool:
        attrs = self.boxes[box_id].attrs
        return attrs["column"] == VIA and attrs["line"] == line

    def _read_by(
        self, terms: Iterable[Tensor], call: str, sources: Mapping[str, GraphEdge]
    ) -> dict[str, None]:
        """Return the boxes of the inputs that a call's contribution to a gradient is computed from.

        The walk goes back through the ops of the call's backward pass and the call's own ops. It
        stops at incoming gradients and at the outputs of other boxes.
        """
        found: dict[str, None] = {}
        stack = list(terms)
        seen = set(stack)
        while stack:
            x = stack.pop()
            home = self.forward.home(x)
            if home is not None and home != call:
                if home in sources:
                    found[home] = None
                continue
            for y in () if x.owner is None else x.owner.inputs:
                if y not in seen and y not in self._arriving:
                    seen.add(y)
                    stack.append(y)
        return {source: None for source in sources if source in found}

    # --- the graph --------------------------------------------------------------------------------

    def graph(self, level: str, caption: str) -> Graph:
        """Return the finished graph. Each card is one row above its deepest call."""
        groups = []
        for card_id, card in self.cards.items():
            boxes = [self.boxes[one] for one in card.members]
            depths = self._depths_in(card)
            for box in boxes:
                self.boxes[box.id] = replace(box, depth=depths[box.id])
            reading = [self.boxes[one].depth for one in card.calls]
            sizes = [int(self.boxes[one].attrs.get("parameters", 0)) for one in card.calls]
            attrs: dict[str, Attribute] = {
                "kind": "card",
                "class_name": "",
                "of": ", ".join(card.calls),
                "parameters": max(sizes, default=0),
                "detail": _card_note(card, max(sizes, default=0)),
            }
            label = card.layer or "weights"
            groups.append(GraphGroup(card_id, label, "", 1 + max(reading, default=0), attrs))
        cells = [self.boxes[one] for card in self.cards.values() for one in card.members]
        rails = [box for box in self.boxes.values() if "rail" in box.attrs]
        frames = self._frames()
        groups += frames.values()
        rails = [self._in_frame(box, frames) for box in rails]
        nodes = tuple(sorted([*rails, *cells], key=lambda box: -box.depth))
        attrs = {"level": level, "ladder": True, "caption": caption}
        name = self.picture.graph.name
        return Graph(name, nodes, tuple(self.edges), tuple(groups), attrs)

    def _frames(self) -> dict[str, GraphGroup]:
        """Return the frames of nested models, each with the depth of its deepest box."""
        depths: dict[str, list[int]] = {}
        for one, frame in self.forward.frame_of.items():
            while frame:
                depths.setdefault(frame, []).append(self.boxes[one].depth // 2)
                frame = self.forward.frames[frame].parent
        self._lowest = {frame: min(found) for frame, found in depths.items()}
        return {
            one: replace(frame, depth=self._depth_in(frame.parent, max(depths[one])))
            for one, frame in self.forward.frames.items()
        }

    def _depth_in(self, frame: str, depth: int) -> int:
        """Return the depth on the ladder for a depth in the forward pass.

        In the frame of a nested model it is counted from the smallest depth inside the frame.
        Outside of such frames it is doubled.
        """
        return depth - self._lowest[frame] if frame else 2 * depth

    def _in_frame(self, box: GraphNode, frames: Mapping[str, GraphGroup]) -> GraphNode:
        frame = self.forward.frame_of.get(box.id, "")
        if not frame:
            return box
        return replace(box, group=frame, depth=self._depth_in(frame, box.depth // 2))

    def _depths_in(self, card: Card) -> dict[str, int]:
        inside = set(card.members)
        pairs = [
            (edge.source, edge.target)
            for edge in self.edges
            if edge.source in inside and edge.target in inside
            and edge.attrs.get("role") != "update"
        ]  # fmt: skip
        return longest_paths(card.members, pairs)


def _via(contribution: GraphNode) -> str:
    return f"via {contribution.attrs['via']}"


def short_name(name: str, around: str) -> str:
    """Return a variable's name without the prefix of its layer.

    Examples
    --------
    >>> short_name("dense_1/kernel", "dense_1"), short_name("scale", "dense_1")
    ('kernel', 'scale')
    """
    return name.removeprefix(f"{around}/")


def _card_note(card: Card, parameters: int) -> str:
    words = [counted(parameters, "param")] if parameters else []
    words += [f"{len(card.calls)} calls, same weights"] if len(card.calls) > 1 else []
    return " · ".join(words)
