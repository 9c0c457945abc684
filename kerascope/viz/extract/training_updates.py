"""What a train step writes, and what each new value is computed from.

The pairs `(v, new_v)` are those that the optimizer gives the train function. It is asked for them
once more here, and put back as it was: the slots of a model that is being trained stay its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor, Variable, as_tensor
from kerascope.optimizers import ParameterUpdate
from kerascope.stage import Mark, Stage, observing


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
