"""The gradient level: forward and backward pass in one picture, on the same rows.

Every tensor on a path from `wrt` to the loss has a box, and next to it a box for its gradient, with
`attrs["beside"]`. Arrows of the backward pass have the role "gradient" and point up: from the
gradients of a box's outputs to the gradients of its inputs. If a tensor has several users, each
sends a contribution, and the box next to the tensor is the sum of these contributions. So a fork in
the forward pass is a sum in the backward pass, and a shared weight gets a contribution from every
call.

Forward boxes have even depths, contributions between them odd ones. (A call that makes one of its
outputs from another sends a contribution to itself; that arrow points one row down.) If data are
given, the boxes show numbers, equal to those of `K.gradients`.

Lesson: chapter 13.

The module contains the pictures first, then the reverse sweep they show, then the numbers.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import set_values
from kerascope.backend.branches import Branches, entered, shared, switched
from kerascope.backend.dtypes import is_float
from kerascope.backend.function import Function, function
from kerascope.backend.gradient import Swept, gradient_stage
from kerascope.backend.graph import Apply, Tensor, applies_between, as_tensor
from kerascope.backend.scopes import name_scope, root_scope
from kerascope.backend.state import PHASE
from kerascope.backend.variables import Variable
from kerascope.engine.node_ids import clean
from kerascope.errors import DataError, DtypeError
from kerascope.trace.records import counted
from kerascope.viz.extract.forward import (
    Forward,
    forward_of_model,
    forward_of_tensors,
    require_compiled,
    tensor_facts,
    with_depths,
)
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.nesting import FreeIds
from kerascope.viz.overlays.marking import with_attributes
from kerascope.viz.overlays.values import figures


class GradientPicture(NamedTuple):
    """A gradient graph, and the tensors whose values its boxes can show.

    Attributes
    ----------
    graph : Graph
    tensors : dict of str to Tensor
        Tensors of gradients, contributions and sums, by the ids of their boxes.
    backward : Backward
        The reverse sweep that the graph shows.
    """

    graph: Graph
    tensors: dict[str, Tensor]
    backward: Backward


# --- of tensors -----------------------------------------------------------------------------------


def gradient_graph(
    loss: Tensor,
    wrt: Tensor | Sequence[Tensor],
    *,
    feed: Mapping[Tensor, Any] | None = None,
    name: str = "gradients",
    where: str = "gradient_graph",
) -> Graph:
    """Return the ops between some tensors and a loss, each with its gradient next to it.

    Parameters
    ----------
    loss : Tensor of floats
    wrt : Tensor or list of Tensor
        Variables, placeholders, or intermediate tensors.
    feed : dict of Tensor to array_like, optional
        Values of the placeholders, for which the numbers of the gradients are computed and shown.
    name : str
        The name of the graph.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    DtypeError
        `wrt` contains something other than tensors.
    GradientError
        The loss is not a tensor of floats.
    DisconnectedGraphError
        A placeholder that the gradients need is missing from `feed`.

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
    return _with_numbers(picture.graph, compute_values(picture.tensors, *tensor_feed(feed, where)))


def _picture_of_tensors(
    loss: Tensor, wrt: Tensor | Sequence[Tensor], name: str, where: str
) -> GradientPicture:
    loss = as_tensor(loss)
    listed = [wrt] if isinstance(wrt, Tensor) else wrt
    if not isinstance(listed, (list, tuple)) or not all(isinstance(x, Tensor) for x in listed):
        raise DtypeError(
            f"{where}: expected wrt to be a tensor or a list of tensors, such as "
            f"layer.trainable_weights, got {wrt!r:.80}."
        )
    listed = list(dict.fromkeys(listed))
    return picture_of_sweep(forward_of_tensors(loss, listed), listed, name)


# --- of a model -----------------------------------------------------------------------------------


def sweep_of_model(
    model: Any,
    wrt: Sequence[Variable] | None = None,
    others: Sequence[Variable] = (),
    where: str = "sweep_of_model",
    nested: bool = False,
) -> tuple[Forward, GradientPicture]:
    """Return a compiled model's forward pass, and its gradient graph.

    Every weight has its own box above the calls that use it. A call's contribution to a tensor is
    the sum of the contributions of its ops.

    Parameters
    ----------
    model : Model
        Compiled, with a graph of layers. It is not changed.
    wrt : sequence of Variable, optional
        Default: the trained weights.
    others : sequence of Variable
        Further variables that get boxes.
    where : str
        The name of the calling function, for error messages.
    nested : bool
        Open the calls of nested models.

    Raises
    ------
    NotCompiledError, NotBuiltError
        The model has no loss or no graph yet.
    """
    require_compiled(model, where)
    weights = list(dict.fromkeys(model._collected_trainable_weights if wrt is None else wrt))
    hidden = "sample weights" if model.sample_weights else ""
    forward = forward_of_model(model, [*weights, *others], nested)
    return forward, picture_of_sweep(forward, weights, clean(model.name), hidden)


# --- the picture ----------------------------------------------------------------------------------


def picture_of_sweep(
    forward: Forward, wrt: Sequence[Tensor], name: str, hidden: str = ""
) -> GradientPicture:
    """Return the graph of a forward pass in which each tensor's gradient is next to its box."""
    backward = sweep_backward(forward, wrt)
    for box_id in backward.stopped:
        forward.mark(box_id, detail="the gradient stops here")
    boxes = {
        box.id: replace(box, depth=2 * box.depth)
        for box in with_depths(forward.boxes.values(), forward.edges, [forward.loss_id]).values()
    }
    drawing = _Drawing(forward, backward, boxes)
    for x in backward.gradients:
        drawing.add_gradient(x)
    caption = drawing.caption(wrt) + (f". Not shown: {hidden}" if hidden else "")
    attrs: dict[str, Attribute] = {"level": "gradient", "caption": caption}
    edges = (*forward.edges, *drawing.edges)
    graph = Graph(name, drawing.nodes, edges, (), attrs)
    return GradientPicture(graph, drawing.tensors, backward)


class _Drawing:
    """Places the boxes of the backward pass next to those of the forward pass."""

    def __init__(self, forward: Forward, backward: Backward, boxes: dict[str, GraphNode]) -> None:
        self.forward = forward
        self.backward = backward
        self.boxes = boxes
        self.edges: list[GraphEdge] = []
        self.tensors: dict[str, Tensor] = {}
        self.added: list[GraphNode] = []
        self._counts = Counter(self._home(x) for x in backward.gradients)
        self._reads = Counter(
            (edge.source, edge.attrs.get("output", 0), edge.target) for edge in forward.edges
        )
        self._words = {x: self._word(x) for x in backward.gradients}
        self._new_id = FreeIds(boxes).take
        self._ids: dict[Tensor, str] = {}
        for x, word in self._words.items():
            self._ids[x] = self._new_id(f"grad:{word}")

    def _word(self, x: Tensor) -> str:
        """Return a name for a tensor: its box's id, with the output index if there are several."""
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
        """Add the box of a tensor's gradient and, if it is a sum, the boxes of its terms."""
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
            self._add_edges(x, uses[0], box_id)
        for number, use in enumerate(uses, start=1) if len(uses) > 1 else ():
            self._add_contribution(x, number, use)

    def _add_contribution(self, x: Tensor, number: int, use: Contribution) -> None:
        home, sum_id = self.boxes[self._home(x)], self._ids[x]
        box_id = self._new_id(f"{sum_id}#{number}")
        label = f"contribution {number} (from {use.consumer})"
        facts = {**tensor_facts(x), "via": use.consumer}
        self.added.append(GraphNode(box_id, label, "gradient", home.group, home.depth - 1, facts))
        self.tensors[box_id] = use.total
        self._add_edges(x, use, box_id)
        self.edges.append(_gradient_edge(box_id, sum_id, x))

    def _add_edges(self, x: Tensor, use: Contribution, target: str) -> None:
        """Add the arrows that lead to a contribution.

        If a call reads `x` as several operands, they share one contribution, and its arrows have
        the number of these operands as the attribute `operands`.
        """
        reads = self._reads[self._home(x), self.forward.numbers.get(x, 0), use.consumer]
        several = {"operands": reads} if reads > 1 and not self.forward.counts_uses else {}
        for y in use.senders:
            edge = _gradient_edge(self._ids[y], target, y)
            self.edges.append(replace(edge, attrs={**edge.attrs, **several}))

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """All boxes, deepest first. The gradient of a tensor follows the box of the tensor."""
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
        """Return the caption: the number of gradients, and the tensors that have no gradient."""
        sums = sum(box.kind == "sum" for box in self.added)
        text = counted(len(self._ids), "gradient")
        if sums:
            text += f", {sums} of them {'sums' if sums > 1 else 'a sum'} of contributions"
        without = [self._home(x) for x in wrt if x not in self.backward.gradients]
        if not wrt:
            return f"{text}. No trainable weights"
        return f"{text}. No gradient for {', '.join(without)}" if without else text


def _gradient_edge(source: str, target: str, x: Tensor) -> GraphEdge:
    facts = {"role": "gradient", "shape": tensor_facts(x)["output_shapes"], "dtype": str(x.dtype)}
    return GraphEdge(source, target, "", facts)


def _with_numbers(graph: Graph, values: Mapping[str, np.ndarray]) -> Graph:
    return with_attributes(graph, {box_id: figures(array) for box_id, array in values.items()})


# --- the reverse sweep, box by box ----------------------------------------------------------------
#
# All of this comes from the events of `backend/gradient.py`; nothing is differentiated twice. A
# gradient inside a branch of a switch is valid only if that branch is chosen. As in the engine, a
# gradient that leaves a branch is switched, so each equals the result of `K.gradients`, and the
# contributions to a tensor add up to its gradient.


@dataclass
class Contribution:
    """The contribution of one box to the gradient of one of its inputs.

    Attributes
    ----------
    consumer : str
        The box that sends the contribution.
    operand : int
        The index of the op's argument if each argument counts separately, otherwise 0.
    terms : list of Tensor
        The terms sent by the ops in the box.
    senders : dict of Tensor to None
        The outputs of the box from whose gradients the terms were computed.
    """

    consumer: str
    operand: int
    terms: list[Tensor] = field(default_factory=list)
    senders: dict[Tensor, None] = field(default_factory=dict)

    @property
    def total(self) -> Tensor:
        """The sum of the terms of the contribution, as a symbolic tensor."""
        with root_scope(), name_scope("gradients"):
            return functools.reduce(lambda total, term: total + term, self.terms)


@dataclass
class Backward:
    """The gradients and contributions of one reverse sweep.

    Attributes
    ----------
    gradients : dict of Tensor to Tensor
        d loss / d x of every tensor x that is read outside its box, inputs first.
    contributions : dict of Tensor to list of Contribution
        Contributions to the same tensors, in the order in which the forward pass reads them.
    stopped : list of str
        Boxes that a gradient reaches but does not leave towards `wrt`.
    """

    gradients: dict[Tensor, Tensor]
    contributions: dict[Tensor, list[Contribution]]
    stopped: list[str]


def sweep_backward(forward: Forward, wrt: Sequence[Tensor]) -> Backward:
    """Run the reverse sweep from the loss of a forward pass back to `wrt`."""
    sweep = _Sweep(forward, wrt)
    stage = gradient_stage(forward.loss, list(wrt))
    for event in stage:
        if isinstance(event, Swept):
            sweep.enter(event)
        else:
            sweep.gradients[event.loss] = event.gradient
    sweep.gradients.update(
        (x, found) for x, found in zip(wrt, stage.result, strict=True) if found is not None
    )
    return sweep.backward()


class _Sweep:
    """Collects the gradients of a reverse sweep, and the contributions of which each is the sum."""

    def __init__(self, forward: Forward, wrt: Sequence[Tensor]) -> None:
        self.forward = forward
        self.between = applies_between(wrt, [forward.loss])
        outer = [
            x for apply in self.between for x in apply.inputs if self._is_used_outside(x, apply)
        ]
        dependent = {*wrt, *(y for apply in self.between for y in apply.outputs)}
        drawn = (x for x in [*wrt, *outer, forward.loss] if x in dependent or x is forward.loss)
        self.drawn = dict.fromkeys(drawn)
        self.gradients: dict[Tensor, Tensor] = {}
        self.uses: dict[Tensor, dict[tuple[str, int], Contribution]] = {}
        self.entered: dict[str, bool] = {}  # box -> whether a gradient left it
        self._arrived = {forward.loss}
        self._inside: dict[Tensor, Branches] = {}
        self._senders: dict[Tensor, dict[Tensor, None]] = {}

    def _is_used_outside(self, x: Tensor, apply: Apply) -> bool:
        return self.forward.home(x) not in (None, self.forward.homes[apply])

    def enter(self, event: Swept) -> None:
        """Record the terms that one op adds to the gradients of its inputs."""
        box = self.forward.homes[event.apply]
        outputs = [y for y in event.apply.outputs if y in self._arrived]
        branches = shared([self._inside.get(y, ()) for y in outputs])
        senders: dict[Tensor, None] = {}
        for y, gradient in zip(event.apply.outputs, event.output_grads, strict=True):
            if y in self.drawn and y in self._arrived:
                self.gradients.setdefault(y, _out_of(branches, gradient, y))
                senders[y] = None
            else:
                senders.update(self._senders.get(y, {}))
        self.entered.setdefault(box, False)
        for operand, (x, term) in enumerate(zip(event.apply.inputs, event.terms, strict=True)):
            if term is not None and is_float(x.dtype):
                own = entered(branches, event.apply, operand)
                self._send(box, operand, x, term, own, senders)

    def _send(
        self,
        box: str,
        operand: int,
        x: Tensor,
        term: Tensor,
        branches: Branches,
        senders: dict[Tensor, None],
    ) -> None:
        """Add a term to a box's contribution to the gradient of `x`, if `x` is drawn."""
        self._inside[x] = shared([self._inside.get(x, branches), branches])
        self._arrived.add(x)
        if x not in self.drawn:
            self._senders.setdefault(x, {}).update(senders)
            return
        operand = operand if self.forward.counts_uses else 0
        use = self.uses.setdefault(x, {}).setdefault((box, operand), Contribution(box, operand))
        use.terms.append(_out_of(branches, term, x))
        use.senders.update(senders)
        self.entered[box] = self.entered[box] or self.forward.home(x) != box

    def backward(self) -> Backward:
        """Return the gradients, and the contributions to each, in the order of the forward pass."""
        places = {box: place for place, box in enumerate(self.forward.homes.values())}
        contributions = {
            x: sorted(uses.values(), key=lambda use: (places[use.consumer], use.operand))
            for x, uses in self.uses.items()
        }
        gradients = {x: self.gradients[x] for x in self.drawn if x in self.gradients}
        stopped = [box for box, has_left in self.entered.items() if not has_left]
        return Backward(gradients, contributions, stopped)


def _out_of(branches: Branches, gradient: Tensor, x: Tensor) -> Tensor:
    """Return a gradient with respect to `x` that is computed only if given branches are taken.

    These are branches of conditional ops. If they are not taken, the gradient is zero.
    """
    with root_scope(), name_scope("gradients"):
        return switched(x, gradient, branches)


# --- the numbers of gradients ---------------------------------------------------------------------


@contextmanager
def restoring_updates(function: Function) -> Iterator[None]:
    """When the `with` block ends, restore the variables that a function updates.

    Random ops, for example, count their draws in variables.
    """
    before = [(update.variable, update.variable.get_value()) for update in function.updates]
    try:
        yield
    finally:
        set_values(before)


def compute_values(
    tensors: Mapping[str, Tensor], inputs: Sequence[Tensor], arrays: Sequence[Any]
) -> dict[str, np.ndarray]:
    """Return the values of tensors by id, from a single call, so that all use equal random draws.

    Random ops count their draws in variables. These counts are restored, so that later draws are
    the same as if nothing had been computed. Observers are not notified.
    """
    compute = function(inputs, list(tensors.values()), name="gradients")
    with restoring_updates(compute):
        stage = compute.stage(list(arrays))
        for _ in stage:
            pass
    return {box_id: np.asarray(value) for box_id, value in zip(tensors, stage.result, strict=True)}


def tensor_feed(feed: Mapping[Tensor, Any], where: str) -> tuple[list[Tensor], list[Any]]:
    """Return the keys of `feed`, which are tensors, and its values, which are arrays.

    Raises
    ------
    DtypeError
        `feed` is not a dict from tensors to arrays.
    """
    if not isinstance(feed, Mapping) or not all(isinstance(x, Tensor) for x in feed):
        raise DtypeError(
            f"{where}: expected feed to be a dict from placeholders to arrays, such as "
            f"{{x: np.ones((2, 3))}}, got {feed!r:.80}."
        )
    return list(feed), list(feed.values())


def model_feed(model: Any, data: Any, training: bool, where: str) -> tuple[list[Tensor], list[Any]]:
    """Return the placeholders of a compiled model and the arrays to feed them.

    Parameters
    ----------
    data : tuple (x, y) or (x, y, sample_weight)
        As `train_on_batch` takes it.
    training : bool
        Whether the learning phase is training.
    where : str
        The name of the calling function, for error messages.

    Raises
    ------
    DataError
        The data are not a tuple of this kind, or do not fit the model.
    """
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise DataError(
            f"{where}: expected data to be a tuple (x, y) or (x, y, sample_weight), "
            f"as for train_on_batch, got {type(data).__name__}."
        )
    x, y, weights = model._standardize_user_data(*data, where=where)
    inputs = model._feed_inputs + model._feed_targets + model._feed_sample_weights
    arrays = x + y + weights
    if PHASE not in inputs:
        inputs, arrays = [*inputs, PHASE], [*arrays, float(training)]
    return inputs, arrays
