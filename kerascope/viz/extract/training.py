"""The training level: one train step as a picture, from the inputs to the new weights.

From top to bottom: inputs, weights and calls; a loss for each output, penalties, the total loss;
the gradient of every trained weight; the optimizer's slots; and a box for every pair `(v, new_v)`
that the step writes, with edges from all that the new value is computed from. The edge from there
back up to the variable has the role "update".

Below come the picture, then what a step writes.

Lesson: chapter 14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor, Variable, as_tensor, leaves
from kerascope.engine.node_ids import clean
from kerascope.optimizers import ParameterUpdate
from kerascope.stage import Mark, Stage, observing
from kerascope.trace.records import counted
from kerascope.trace.statistics import figure
from kerascope.viz.extract.forward import (
    Forward,
    forward_of_model,
    require_compiled,
    tensor_edge,
    tensor_facts,
    with_depths,
)
from kerascope.viz.graph import Attribute, Graph, GraphEdge


def training_graph(model: Any, *, where: str = "training_graph") -> Graph:
    """Return one train step of a compiled model.

    Parameters
    ----------
    model : Model
        Compiled, with a graph of layers. It is not changed.
    where : str
        Who asks, for the messages.

    Returns
    -------
    Graph
        A box of kind "update" has the attribute `by`: "optimizer" for a pair of
        `optimizer.get_updates`, "model" for the count of steps, "layer" for what a layer writes
        itself, such as moving averages. What metrics remember is not drawn.

    Raises
    ------
    NotCompiledError, NotBuiltError
        There is no loss, or no graph, yet.
    GradientError
        A weight gets no gradient, so the model cannot be trained.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.models import Model
    >>> x = Input((3,), name="x")
    >>> model = Model(x, Dense(1, use_bias=False, name="line")(x), name="small")
    >>> model.compile("sgd", "mse")
    >>> graph = training_graph(model)
    >>> for edge in graph.edges:
    ...     if edge.attrs.get("role") == "update":
    ...         print(edge.source, "->", edge.target)
    update:line/kernel/momentum -> slot:line/kernel/momentum
    update:line/kernel -> line/kernel
    update:iterations -> slot:iterations
    """
    require_compiled(model, where)
    step = step_of(model)
    written = dict.fromkeys(pair.variable for pair in step.pairs)
    forward = forward_of_model(model, [*step.parameters, *model.weights])
    picture = _Picture(forward, step)
    picture.add_gradients()
    picture.add_variables(model.optimizer, written)
    picture.add_updates()
    boxes = with_depths(picture.used_boxes(), forward.edges, picture.ends)
    attrs: dict[str, Attribute] = {"level": "training", "caption": picture.caption(model)}
    edges = (*forward.edges, *picture.update_edges)
    return Graph(clean(model.name), tuple(boxes.values()), edges, (), attrs)


class _Picture:
    """Adds to a forward pass what training adds."""

    def __init__(self, forward: Forward, step: Step) -> None:
        self.forward = forward
        self.step = step
        self.update_edges: list[GraphEdge] = []
        self._gradient_boxes: dict[Tensor, list[str]] = {}
        self._own_gradient: dict[Variable, str] = {}
        self._update_boxes: dict[Tensor, str] = {}
        self._added: list[str] = []

    def add_gradients(self) -> None:
        """Add the gradient of every trained weight, below the loss."""
        for parameter, gradient in self.step.gradients.items():
            name = self.forward.home(parameter)
            facts = tensor_facts(parameter)
            box_id = self._add(f"grad:{name}", f"d loss / d {name}", "gradient", facts)
            self._gradient_boxes.setdefault(gradient, []).append(box_id)
            self._own_gradient[parameter] = box_id
            self.forward.edges.append(tensor_edge(self.forward.loss_id, box_id, self.forward.loss))

    def add_variables(self, optimizer: Any, written: dict[Variable, None]) -> None:
        """Add the slots and the count of steps; then the hyperparameters that are variables."""
        for variable in dict.fromkeys([*self.step.slots, *written]):
            if self.forward.home(variable) is None:
                self._add_variable(variable, f"slot:{variable.name}", "slot")
        for value in vars(optimizer).values():
            if isinstance(value, Variable) and self.forward.home(value) is None:
                number = value.get_value()
                told = {"class_name": "hyperparameter"}
                if number.ndim == 0:
                    told["detail"] = figure(number)
                self._add_variable(value, value.name, "variable", **told)

    def add_updates(self) -> None:
        """Add a box for every pair, with edges from its sources and to its variable."""
        for pair in self.step.pairs:
            name = pair.variable.name
            facts = {**tensor_facts(pair.variable), "by": pair.by}
            box_id = self._add(f"update:{name}", f"{name} \u2190 new", "update", facts)
            self._update_boxes.setdefault(pair.new_value, box_id)
            self.update_edges.append(
                GraphEdge(box_id, self.forward.leaves[pair.variable], "", {"role": "update"})
            )
        for pair, edge in zip(self.step.pairs, self.update_edges, strict=True):
            for source, x in sources_of(pair.new_value, self._boxes_for(pair)).items():
                self.forward.edges.append(tensor_edge(source, edge.source, x))

    def _boxes_for(self, pair: Pair) -> Any:
        """Return where the walk back from the new value of a pair ends."""

        def boxes_at(x: Tensor) -> list[str]:
            gradients = self._gradient_boxes.get(x)
            if gradients:
                owner = pair.parameter
                own = None if owner is None else self._own_gradient.get(owner)
                return gradients if own is None or own not in gradients else [own]
            if x is not pair.new_value and x in self._update_boxes:
                return [self._update_boxes[x]]
            if isinstance(x, Variable) and self.forward.home(x) is None:
                self._add_variable(x, x.name, "variable")
            found = self.forward.home(x)
            return [] if found is None else [found]

        return boxes_at

    def _add(self, wanted: str, label: str, kind: str, facts: dict[str, Attribute]) -> str:
        box_id = self.forward.add_box(wanted, label, kind, facts)
        self._added.append(box_id)
        return box_id

    def _add_variable(self, variable: Variable, wanted: str, kind: str, **told: Attribute) -> None:
        facts = {**tensor_facts(variable), **told}
        self.forward.leaves[variable] = self._add(wanted, variable.name, kind, facts)

    @property
    def ends(self) -> list[str]:
        """The loss, and all that is written."""
        return [self.forward.loss_id, *self._update_boxes.values()]

    def used_boxes(self) -> list[Any]:
        """Return the boxes without the variables that neither the step nor the graph reads."""
        ends = {one for edge in self.forward.edges for one in (edge.source, edge.target)}
        ends.update(edge.target for edge in self.update_edges)
        idle = [
            b.id for b in self.forward.boxes.values() if b.kind == "variable" and b.id not in ends
        ]
        return [box for box in self.forward.boxes.values() if box.id not in idle]

    def caption(self, model: Any) -> str:
        """Return how many pairs there are, and whose."""
        counts = {
            by: sum(pair.by == by for pair in self.step.pairs) for by in ("optimizer", "layer")
        }
        name = type(model.optimizer).__name__
        text = f"{counted(counts['optimizer'], 'update')} by {name}, and the count of steps"
        if counts["layer"]:
            text += f", {counts['layer']} by layers"
        if not self.step.parameters:
            text += ". There is no weight to train"
        hidden = ["sample weights"] if model.sample_weights else []
        hidden += ["states of metrics"] if model.metrics_updates else []
        if any(getattr(x, "default_update", None) is not None for x in leaves([model.total_loss])):
            hidden.append("counts of random draws")
        return f"{text}. Not shown: {', '.join(hidden)}" if hidden else text


# --- what a step writes ---------------------------------------------------------------------------
#
# The pairs `(v, new_v)` are those that the optimizer gives the train function. It is asked for them
# once more here, and put back as it was: the slots of a model that is being trained stay its own.


class Pair(NamedTuple):
    """A variable, its new value, and who wants it: "optimizer", "model" or "layer".

    `parameter` is the weight to which a slot belongs (of a weight itself: the weight), where the
    optimizer tells.
    """

    variable: Variable
    new_value: Tensor
    by: str
    parameter: Variable | None = None


@dataclass
class Step:
    """One train step of a model.

    Attributes
    ----------
    parameters : list of Variable
        The weights that are trained.
    gradients : dict of Variable to Tensor
        As the optimizer uses them: clipped, if it clips.
    slots : list of Variable
        The optimizer's own state.
    pairs : list of Pair
        The optimizer's first, then the count of steps, then those of layers.
    """

    parameters: list[Variable]
    gradients: dict[Variable, Tensor] = field(default_factory=dict)
    slots: list[Variable] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


def step_of(model: Any) -> Step:
    """Return what a train step of a compiled model does.

    Raises
    ------
    GradientError
        A weight gets no gradient; the message says why. `fit` would raise the same.
    """
    optimizer = model.optimizer
    step = Step(list(model._collected_trainable_weights))
    with _unchanged(optimizer):
        given, owners = _ask(optimizer, model.total_loss, step)
        step.slots = [v for v in optimizer.weights if v is not optimizer.iterations]
    # The first pair of a variable wins, as in `K.function`: layers come first there.
    layers = dict(reversed([(v, new) for v, new in model.updates]))
    wanted = [(v, new, "optimizer") for v, new in given]
    wanted.append((optimizer.iterations, optimizer.iterations + 1, "model"))
    wanted = [(v, new, by) for v, new, by in wanted if v not in layers]
    wanted += [(v, new, "layer") for v, new in reversed(layers.items())]
    seen: dict[Variable, None] = {}
    for v, new, by in wanted:
        if v not in seen:
            seen[v] = None
            step.pairs.append(Pair(v, as_tensor(new, like=v), by, owners.get(v)))
    return step


@contextmanager
def _unchanged(optimizer: Any) -> Iterator[None]:
    """Put an optimizer's attributes back as they were."""
    before = dict(vars(optimizer))
    try:
        yield
    finally:
        vars(optimizer).clear()
        vars(optimizer).update(before)


def _ask(optimizer: Any, loss: Tensor, step: Step) -> tuple[list[Any], dict[Variable, Variable]]:
    """Return the optimizer's pairs and the parameter of each; enter the gradients.

    An optimizer that is written in Keras 2's way announces nothing. It asks for gradients all the
    same, and these are heard.
    """
    owners: dict[Variable, Variable] = {}
    swept: list[Any] = []

    def hear(stage: Stage, event: Any) -> None:
        if stage.name == "gradients" and event is Mark.finished:
            swept.append(stage.result)

    inner: list[Stage] = []
    stage = optimizer.updates_stage(loss, step.parameters)
    with observing(hear):
        for _, event in stage.walk():
            if isinstance(event, ParameterUpdate):
                owners.update((v, event.param) for v, _ in event.pairs)
                step.gradients[event.param] = event.gradient
            elif isinstance(event, Stage):
                inner.append(event)
    if not step.gradients:
        results = [one.result for one in inner if one.name == "gradients"] + swept
        for result in results:
            if isinstance(result, list) and len(result) == len(step.parameters):
                pairs = zip(step.parameters, result, strict=True)
                step.gradients.update((p, g) for p, g in pairs if isinstance(g, Tensor))
    return list(stage.result), owners


def sources_of(new_value: Tensor, boxes_at: Callable[[Tensor], Sequence[str]]) -> dict[str, Tensor]:
    """Return the boxes from which a new value is computed, and the tensor that each gives.

    Parameters
    ----------
    new_value : Tensor
    boxes_at : callable
        From a tensor to the boxes that stand for it; where there are some, the walk back ends.
    """
    found: dict[str, Tensor] = {}
    stack, seen = [new_value], {new_value}
    while stack:
        x = stack.pop()
        boxes = boxes_at(x)
        found.update((box, x) for box in boxes if box not in found)
        if not boxes and x.owner is not None:
            new = [y for y in dict.fromkeys(x.owner.inputs) if y not in seen]
            seen.update(new)
            stack.extend(reversed(new))
    return found
