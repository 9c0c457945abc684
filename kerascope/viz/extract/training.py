"""The training level: one training step as a picture, from the inputs to the new weights.

It is the ladder of `ladder.py` with the optimizer added: the slots of each weight on the line of
that weight, and a box for every update `(v, new_v)` of the step, with arrows from the boxes from
which the new value is computed. An arrow with the role "update" leads from this box back to the
variable.

The module contains the picture first, then the updates of a step.

Lesson: chapter 14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor, as_tensor, leaves
from kerascope.backend.update_order import chained
from kerascope.backend.variables import Variable
from kerascope.engine.node_ids import clean
from kerascope.optimizers import ParameterUpdate
from kerascope.stage import Mark, Stage, observing
from kerascope.trace.records import counted
from kerascope.trace.statistics import figure
from kerascope.viz.extract.forward import require_compiled, tensor_edge, tensor_facts
from kerascope.viz.extract.gradients import sweep_of_model
from kerascope.viz.extract.ladder import NEW, Ladder, short_name
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode


def training_graph(model: Any, *, nested: bool = False, where: str = "training_graph") -> Graph:
    """Return one training step of a compiled model as a graph.

    Parameters
    ----------
    model : Model
        Compiled, with a graph of layers. It is not changed.
    nested : bool
        Open the calls of nested models: each is a frame around the calls inside it.
    where : str
        The name of the calling function, for error messages.

    Returns
    -------
    Graph
        A box of kind "update" has the attribute `by`: "optimizer" for an update from
        `optimizer.get_updates`, "layer" for one from a layer, such as a moving average. The caption
        lists the hyperparameters, and updates of variables that belong to no weight, such as the
        step count. States of metrics are not drawn.

    Raises
    ------
    NotCompiledError, NotBuiltError
        The model has no loss or no graph yet.
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
    """
    return ladder_of_step(model, where, nested).graph(model)


def ladder_of_step(model: Any, where: str, nested: bool = False) -> StepLadder:
    """Return the ladder of a training step, with the tensors behind its boxes."""
    require_compiled(model, where)
    step = training_step_of(model)
    forward, picture = sweep_of_model(model, step.parameters, model.weights, where, nested)
    drawing = StepLadder(Ladder(model, forward, picture), step)
    drawing.add_slots()
    drawing.add_updates()
    return drawing


class StepLadder:
    """Adds slots and updates of the optimizer to a ladder.

    Attributes
    ----------
    ladder : Ladder
    lines : dict of Variable to str
        The box of each weight.
    slots : dict of Variable to str
        The box of each slot.
    drawn : list of (UpdatePair, str)
        Each drawn update with the id of the box of its new value.
    without_box : list of str
        Names of variables that are updated but have no box.
    """

    def __init__(self, ladder: Ladder, step: TrainingStep) -> None:
        self.ladder = ladder
        self.forward = ladder.forward
        self.step = step
        self.lines = {v: self.forward.leaves.get(v, "") for v in self._weights()}
        self.owners = self._owners()
        self.slots: dict[Variable, str] = {}
        self.updates: dict[Tensor, str] = {}
        self.drawn: list[tuple[UpdatePair, str]] = []
        self.without_box: list[str] = []
        self._gradients: dict[Tensor, list[str]] = {}
        for parameter, gradient in step.gradients.items():
            found = ladder.gradient_of.get(self.lines[parameter])
            if found is not None:
                self._gradients.setdefault(gradient, []).append(found)

    def graph(self, model: Any) -> Graph:
        """Return the graph of the training step, with its caption."""
        return self.ladder.graph("training", self.caption(model))

    def _weights(self) -> list[Variable]:
        return [v for v, box in self.forward.leaves.items() if box in self.ladder.card_of]  # type: ignore[misc]

    def _owners(self) -> dict[Variable, Variable]:
        """Return the weight to which each slot belongs.

        If the optimizer reports no weight for a slot, the slot belongs to the weight whose gradient
        the slot's new value is computed from, provided there is only one such weight.
        """
        found = {}
        for pair in self.step.pairs:
            if pair.variable in self.lines:
                continue
            if pair.parameter is not None:
                found[pair.variable] = pair.parameter
                continue
            used = sources_of(pair.new_value, lambda x: [v.name for v in self._of_gradient(x)])
            owners = [v for v in self.lines if v.name in used]
            if len(owners) == 1:
                found[pair.variable] = owners[0]
        return {slot: owner for slot, owner in found.items() if self.lines.get(owner)}

    def _of_gradient(self, x: Tensor) -> list[Variable]:
        return [v for v, gradient in self.step.gradients.items() if gradient is x]

    def add_slots(self) -> None:
        """Add the slots of each weight to the weight's line on a card.

        Slots that belong to no weight are listed in `without_box`, for the caption.
        """
        for variable in dict.fromkeys([*self.step.slots, *(p.variable for p in self.step.pairs)]):
            if variable in self.lines:
                continue
            owner = self.owners.get(variable)
            if owner is None:
                self.without_box.append(variable.name)
                continue
            column = short_name(variable.name, owner.name)
            self.slots[variable] = self._add(
                f"slot:{variable.name}", self.lines[owner], column, column, variable, "slot"
            )

    def add_updates(self) -> None:
        """Add a box for the new value of every update, and arrows to this box and the variable."""
        for pair in self.step.pairs:
            v = pair.variable
            home = self.slots.get(v) or self.lines.get(v)
            if not home:
                continue
            line = str(self.ladder.boxes[home].attrs["line"])
            column = str(self.ladder.boxes[home].attrs["column"]) if v in self.slots else NEW
            short = str(self.ladder.boxes[home].attrs["short"])
            box_id = self._add(
                f"update:{v.name}", line, column, short, v, "update", f"{v.name} \u2190 new",
                by=pair.by,
            )  # fmt: skip
            self.updates.setdefault(pair.new_value, box_id)
            self.drawn.append((pair, box_id))
            self.ladder.edges.append(GraphEdge(box_id, home, "", {"role": "update"}))
        for pair, box_id in self.drawn:
            for source, x in sources_of(pair.new_value, self._boxes_for(pair)).items():
                self.ladder.edges.append(tensor_edge(source, box_id, x))

    def _boxes_for(self, pair: UpdatePair) -> Any:
        """Return a function that returns the boxes of a tensor used by an update's new value."""
        own_line = self.lines.get(pair.variable) or self.lines.get(self.owners.get(pair.variable))  # type: ignore[arg-type]

        def boxes_at(x: Tensor) -> list[str]:
            gradients = self._gradients.get(x)
            if gradients:
                own = self.ladder.gradient_of.get(own_line or "")
                return gradients if own is None or own not in gradients else [own]
            if x is not pair.new_value and x in self.updates:
                return [self.updates[x]]
            found = self.slots.get(x) or self.forward.home(x)  # type: ignore[call-overload]
            return [] if found is None else [found]

        return boxes_at

    def _add(
        self,
        wanted: str,
        line: str,
        column: str,
        short: str,
        variable: Variable,
        kind: str,
        label: str = "",
        **more: Attribute,
    ) -> str:
        attrs = {**tensor_facts(variable), **more}
        node = GraphNode("", clean(label or variable.name), kind, attrs=attrs)
        return self.ladder.add_to_line(wanted, line, column, short, node)

    def caption(self, model: Any) -> str:
        """Return the caption: optimizer, hyperparameters, and the number of updates by origin."""
        counts = {by: sum(pair.by == by for pair, _ in self.drawn) for by in ("optimizer", "layer")}
        name = type(model.optimizer).__name__
        text = f"{counted(counts['optimizer'], 'update')} by {name}"
        steps = model.optimizer.iterations.name
        besides = [name for name in self.without_box if name != steps]
        besides += ["the count of steps"] if steps in self.without_box else []
        text += f", and {', '.join(besides)}" if besides else ""
        if counts["layer"]:
            text += f", {counts['layer']} by layers"
        if not self.step.parameters:
            text += ". No trainable weights"
        hidden = ["sample weights"] if model.sample_weights else []
        hidden += ["states of metrics"] if model.metrics_updates else []
        if any(getattr(x, "default_update", None) is not None for x in leaves([model.total_loss])):
            hidden.append("counts of random draws")
        text = f"{_hyperparameters(model.optimizer)}. {text}"
        return f"{text}. Not shown: {', '.join(hidden)}" if hidden else text


def _hyperparameters(optimizer: Any) -> str:
    """Return an optimizer's class and hyperparameters as text; variables come first.

    Examples
    --------
    >>> from kerascope.optimizers import SGD
    >>> _hyperparameters(SGD(0.1, momentum=0.9))
    'SGD · lr 0.1 · momentum 0.9'
    """
    values = {
        name: figure(value.get_value())
        for name, value in vars(optimizer).items()
        if isinstance(value, Variable)
        and value is not getattr(optimizer, "iterations", None)
        and value.get_value().ndim == 0
        and (value.get_value() or name == "lr")
    }
    for name, value in optimizer.get_config().items():
        if isinstance(value, dict) and "class_name" in value:  # a schedule
            values[name] = str(value["class_name"])
        if isinstance(value, (int, float)) and value and name not in values:
            values[name] = "" if value is True else figure(value)
    words = [f"{name} {value}".rstrip() for name, value in values.items()]
    return " · ".join([type(optimizer).__name__, *words])


# --- the updates of a step ------------------------------------------------------------------------
#
# The pairs `(v, new_v)` are those that the optimizer passes to the train function. They are
# computed again here, and the optimizer is restored afterwards, so a model in training keeps its
# slots.


Owners = dict[Variable, Variable]  # from slots to weights


class UpdatePair(NamedTuple):
    """A variable, its new value, and the origin of the update: "optimizer", "model" or "layer".

    `parameter` is the weight that the update belongs to: for the update of a slot, the weight that
    the optimizer reports (None without one); for the update of a weight, that weight.
    """

    variable: Variable
    new_value: Tensor
    by: str
    parameter: Variable | None = None


@dataclass
class TrainingStep:
    """One training step of a model.

    Attributes
    ----------
    parameters : list of Variable
        The trained weights.
    gradients : dict of Variable to Tensor
        As the optimizer uses them, after clipping.
    slots : list of Variable
        State variables of the optimizer.
    pairs : list of UpdatePair
        Updates by the optimizer first, then the step count, then those by layers.
    """

    parameters: list[Variable]
    gradients: dict[Variable, Tensor] = field(default_factory=dict)
    slots: list[Variable] = field(default_factory=list)
    pairs: list[UpdatePair] = field(default_factory=list)


def training_step_of(model: Any) -> TrainingStep:
    """Return the gradients, slots and updates of one training step of a compiled model.

    Raises
    ------
    GradientError
        A weight has no gradient; the message says why. `fit` would raise the same error.
    """
    optimizer = model.optimizer
    step = TrainingStep(list(model._collected_trainable_weights))
    with _unchanged(optimizer):
        given, owners = _pairs(optimizer, model.total_loss, step)
        step.slots = [v for v in optimizer.weights if v is not optimizer.iterations]
    # As in `K.function`, the first update of a variable wins, and those of layers come first.
    layers = dict(reversed(chained(model.updates)))
    wanted = [(v, new, "optimizer") for v, new in given]
    wanted.append((optimizer.iterations, optimizer.iterations + 1, "model"))
    wanted = [(v, new, by) for v, new, by in wanted if v not in layers]
    wanted += [(v, new, "layer") for v, new in reversed(layers.items())]
    seen: dict[Variable, None] = {}
    for v, new, by in wanted:
        if v not in seen:
            seen[v] = None
            step.pairs.append(UpdatePair(v, as_tensor(new, like=v), by, owners.get(v)))
    return step


@contextmanager
def _unchanged(optimizer: Any) -> Iterator[None]:
    """Restore an optimizer's attributes at the end of a `with` block."""
    before = dict(vars(optimizer))
    try:
        yield
    finally:
        vars(optimizer).clear()
        vars(optimizer).update(before)


def _pairs(optimizer: Any, loss: Tensor, step: TrainingStep) -> tuple[list[Any], Owners]:
    """Return the optimizer's updates, each with its weight, and store the gradients in `step`.

    An optimizer written for Keras 2 emits no events of updates. Its gradients are taken from the
    events of the gradient computation instead.
    """
    owners: Owners = {}
    swept: list[Any] = []

    def collect(stage: Stage, event: Any) -> None:
        if stage.name == "gradients" and event is Mark.finished:
            swept.append(stage.result)

    inner: list[Stage] = []
    stage = optimizer.updates_stage(loss, step.parameters)
    with observing(collect):
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
    """Return the boxes from which a new value is computed, and the tensor behind each.

    Parameters
    ----------
    new_value : Tensor
    boxes_at : callable
        Returns the boxes of a tensor. The walk back stops at tensors that have boxes.
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
