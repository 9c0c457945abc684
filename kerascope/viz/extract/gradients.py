"""The gradient level: forward and backward pass in one picture, on the same rows.

Beside the box of every tensor on a way from `wrt` to the loss stands the box of its gradient, with
`attrs["beside"]`. The edges of the backward pass have the role "gradient" and go up, from the
gradients of what a box makes to the gradients of what it reads. Where a tensor has several users,
each sends a contribution, and the box beside the tensor is their sum: so a fork of the forward pass
is a sum of the backward pass, and a shared weight gets a contribution from every call.

Forward boxes lie at even depths, contributions between them at odd ones. (A call that makes one of
its outputs from another sends a contribution to itself; the edge to that goes a row down.) With
data the boxes carry the numbers, which are those of `K.gradients`.

Lesson: chapter 13.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.engine.node_ids import clean, free_id
from kerascope.errors import DtypeError
from kerascope.trace.records import counted
from kerascope.viz.extract.gradient_forward import (
    Forward,
    forward_of_tensors,
    tensor_facts,
    with_depths,
)
from kerascope.viz.extract.gradient_model import forward_of_model, require_compiled
from kerascope.viz.extract.gradient_numbers import computed, fed_model, fed_tensors, figures
from kerascope.viz.extract.gradient_sweep import Backward, Contribution, backward_of
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode


class GradientPicture(NamedTuple):
    """A graph, and the tensors whose numbers its boxes can carry.

    Attributes
    ----------
    graph : Graph
    tensors : dict of str to Tensor
        By the id of the box of a gradient, a contribution or a sum.
    """

    graph: Graph
    tensors: dict[str, Tensor]


# --- of tensors -----------------------------------------------------------------------------------


def gradient_graph(
    loss: Tensor,
    wrt: Tensor | Sequence[Tensor],
    *,
    feed: Mapping[Tensor, Any] | None = None,
    name: str = "gradients",
    where: str = "gradient_graph",
) -> Graph:
    """Return the ops between some tensors and a loss, each with its gradient beside it.

    Parameters
    ----------
    loss : Tensor of floats
    wrt : Tensor or list of Tensor
        Variables, placeholders, or tensors between.
    feed : dict of Tensor to array_like, optional
        Values of the placeholders; then the gradients carry numbers.
    name : str
        Of the graph.
    where : str
        Who asks, for the messages.

    Raises
    ------
    DtypeError
        `wrt` holds something else than tensors.
    GradientError
        The loss is not a tensor of floats.
    DisconnectedGraphError
        A placeholder that the gradients need is not in `feed`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.variable(3.0, name="x")
    >>> graph = gradient_graph(x * x, x, feed={})
    >>> for node in graph.nodes:
    ...     print(node.id, "|", node.label, "|", node.attrs.get("detail") or "-")
    x | x | -
    grad:x | d loss / d x | 6
    grad:x#1 | contribution 1 (from multiply) | 3
    grad:x#2 | contribution 2 (from multiply) | 3
    multiply | multiply | -
    grad:multiply | d loss / d multiply | 1
    """
    picture = _picture_of_tensors(loss, wrt, name, where)
    if feed is None:
        return picture.graph
    return _with_numbers(picture.graph, computed(picture.tensors, *fed_tensors(feed, where)))


def gradient_values(
    loss: Tensor, wrt: Tensor | Sequence[Tensor], feed: Mapping[Tensor, Any]
) -> dict[str, np.ndarray]:
    """Return the arrays of the gradients, contributions and sums of `gradient_graph`, by id."""
    where = "gradient_values"
    picture = _picture_of_tensors(loss, wrt, "gradients", where)
    return computed(picture.tensors, *fed_tensors(feed, where))


def _picture_of_tensors(
    loss: Tensor, wrt: Tensor | Sequence[Tensor], name: str, where: str
) -> GradientPicture:
    loss = as_tensor(loss)
    listed = [wrt] if isinstance(wrt, Tensor) else wrt
    if not isinstance(listed, (list, tuple)) or not all(isinstance(x, Tensor) for x in listed):
        raise DtypeError(
            f"{where}: wrt is {wrt!r:.80}; expected a tensor or a list of tensors, such as "
            f"layer.trainable_weights."
        )
    listed = list(dict.fromkeys(listed))
    return _picture(forward_of_tensors(loss, listed), listed, name)


# --- of a model -----------------------------------------------------------------------------------


def gradient_graph_of_model(
    model: Any,
    *,
    data: Any = None,
    training: bool = False,
    where: str = "gradient_graph_of_model",
) -> Graph:
    """Return the calls of a compiled model, each with its gradient beside it.

    Every trainable weight has a box of its own above its calls. What a call sends to a tensor is
    the sum of what its ops send.

    Parameters
    ----------
    model : Model
        Compiled, with a graph of layers.
    data : tuple (x, y) or (x, y, sample_weight), optional
        A batch as for `train_on_batch`; then the gradients carry numbers. Nothing is trained.
    training : bool
        Whether dropout and the like behave as in training when numbers are computed.
    where : str
        Who asks, for the messages.

    Raises
    ------
    NotCompiledError, NotBuiltError
        There is no loss, or no graph, yet.
    DataError
        The data do not fit the model.
    """
    picture = _picture_of_model(model, where)
    if data is None:
        return picture.graph
    inputs, arrays = fed_model(model, data, training, where)
    return _with_numbers(picture.graph, computed(picture.tensors, inputs, arrays))


def gradient_values_of_model(
    model: Any, data: Any, *, training: bool = False
) -> dict[str, np.ndarray]:
    """Return the arrays of the gradients of `gradient_graph_of_model`, by the ids of its boxes."""
    where = "gradient_values_of_model"
    picture = _picture_of_model(model, where)
    inputs, arrays = fed_model(model, data, training, where)
    return computed(picture.tensors, inputs, arrays)


def _picture_of_model(model: Any, where: str) -> GradientPicture:
    require_compiled(model, where)
    weights = list(dict.fromkeys(model._collected_trainable_weights))
    hidden = "sample weights" if model.sample_weights else ""
    return _picture(forward_of_model(model, weights), weights, clean(model.name), hidden)


# --- the picture ----------------------------------------------------------------------------------


def _picture(
    forward: Forward, wrt: Sequence[Tensor], name: str, hidden: str = ""
) -> GradientPicture:
    backward = backward_of(forward, wrt)
    for box_id in backward.stopped:
        forward.mark(box_id, detail="the gradient stops here")
    boxes = {
        box.id: GraphNode(box.id, box.label, box.kind, box.group, 2 * box.depth, box.attrs)
        for box in with_depths(forward.boxes.values(), forward.edges, [forward.loss_id]).values()
    }
    drawing = _Drawing(forward, backward, boxes)
    for x in backward.gradients:
        drawing.add_gradient(x)
    caption = drawing.caption(wrt) + (f". Not shown: {hidden}" if hidden else "")
    attrs: dict[str, Attribute] = {"level": "gradient", "caption": caption}
    edges = (*forward.edges, *drawing.edges)
    return GradientPicture(Graph(name, drawing.nodes, edges, (), attrs), drawing.tensors)


class _Drawing:
    """Puts the boxes of the backward pass beside those of the forward pass."""

    def __init__(self, forward: Forward, backward: Backward, boxes: dict[str, GraphNode]) -> None:
        self.forward = forward
        self.backward = backward
        self.boxes = boxes
        self.edges: list[GraphEdge] = []
        self.tensors: dict[str, Tensor] = {}
        self.added: list[GraphNode] = []
        self._counts = Counter(self._home(x) for x in backward.gradients)
        self._words = {x: self._word(x) for x in backward.gradients}
        self._taken = dict.fromkeys(boxes)
        self._ids: dict[Tensor, str] = {}
        for x, word in self._words.items():
            self._ids[x] = self._new_id(f"grad:{word}")

    def _new_id(self, wanted: str) -> str:
        box_id = free_id(wanted, self._taken)
        self._taken[box_id] = None
        return box_id

    def _word(self, x: Tensor) -> str:
        """Return what a tensor is called: its box, and which of several outputs it is."""
        home = self._home(x)
        if x in self.forward.numbers:
            return f"{home}:{self.forward.numbers[x]}"
        is_output = x._keras_history is not None or self._counts[home] == 1
        return home if is_output else f"{home}:{x.name.rpartition('/')[2]}"

    def _home(self, x: Tensor) -> str:
        home = self.forward.home(x)
        assert home is not None
        return home

    def add_gradient(self, x: Tensor) -> None:
        """Add the gradient of one tensor, with its contributions if there are several."""
        home, box_id = self.boxes[self._home(x)], self._ids[x]
        uses = self.backward.contributions.get(x, [])
        kind = "sum" if len(uses) > 1 else "gradient"
        attrs = {**tensor_facts(x), "beside": home.id}
        if x is self.forward.loss:
            attrs["detail"] = "ones" if x.ndim else "1"
        label = f"d loss / d {self._words[x]}"
        self.added.append(GraphNode(box_id, label, kind, home.group, home.depth, attrs))
        self.tensors[box_id] = self.backward.gradients[x]
        if len(uses) == 1:
            self._add_edges(uses[0], box_id)
        for number, use in enumerate(uses, start=1) if len(uses) > 1 else ():
            self._add_contribution(x, number, use)

    def _add_contribution(self, x: Tensor, number: int, use: Contribution) -> None:
        home, sum_id = self.boxes[self._home(x)], self._ids[x]
        box_id = self._new_id(f"{sum_id}#{number}")
        label = f"contribution {number} (from {use.consumer})"
        facts = tensor_facts(x)
        self.added.append(GraphNode(box_id, label, "gradient", home.group, home.depth - 1, facts))
        self.tensors[box_id] = use.total
        self._add_edges(use, box_id)
        self.edges.append(_gradient_edge(box_id, sum_id, x))

    def _add_edges(self, use: Contribution, target: str) -> None:
        for y in use.senders:
            self.edges.append(_gradient_edge(self._ids[y], target, y))

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """All boxes, deepest first, each gradient right after what it is the gradient of."""
        beside: dict[str, list[GraphNode]] = {}
        between: list[GraphNode] = []
        for box in self.added:
            if "beside" in box.attrs:
                beside.setdefault(str(box.attrs["beside"]), []).append(box)
            else:
                between.append(box)
        ordered = [one for box in self.boxes.values() for one in (box, *beside.get(box.id, ()))]
        return tuple(sorted([*ordered, *between], key=lambda box: -box.depth))

    def caption(self, wrt: Sequence[Tensor]) -> str:
        """Return what is in the picture, and which tensors get no gradient."""
        sums = sum(box.kind == "sum" for box in self.added)
        gradients = len(self._ids)
        text = counted(gradients, "gradient")
        if sums:
            text += f", {sums} of them {'sums' if sums > 1 else 'a sum'} of contributions"
        without = [self._home(x) for x in wrt if x not in self.backward.gradients]
        if not wrt:
            return f"{text}. There is no weight to train"
        return f"{text}. No gradient for {', '.join(without)}" if without else text


def _gradient_edge(source: str, target: str, x: Tensor) -> GraphEdge:
    facts = {"role": "gradient", "shape": tensor_facts(x)["output_shapes"], "dtype": str(x.dtype)}
    return GraphEdge(source, target, "", facts)


def _with_numbers(graph: Graph, values: Mapping[str, np.ndarray]) -> Graph:
    nodes = tuple(
        GraphNode(
            *(box.id, box.label, box.kind, box.group, box.depth),
            {**box.attrs, **figures(values[box.id])} if box.id in values else box.attrs,
        )
        for box in graph.nodes
    )
    return Graph(graph.name, nodes, graph.edges, graph.groups, graph.attrs)
