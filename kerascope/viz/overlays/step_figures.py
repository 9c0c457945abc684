"""Sizes on a ladder: the norms of gradients, slots and weight changes for one batch.

Nothing is trained or written: new values are computed without storing them. Sizes are L2 norms over
the whole array. Each box shows a number and, on a card, a bar (`share`). A full bar is the largest
value of its column, or for new values a change of 1 % of the weight's norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.engine.node_ids import clean
from kerascope.trace.statistics import Statistics, figure, norm_of
from kerascope.viz.boxes import caption_with
from kerascope.viz.collapse.ladder_frames import is_nested_call
from kerascope.viz.extract.gradients import compute_values, model_feed
from kerascope.viz.extract.training import StepLadder, ladder_of_step
from kerascope.viz.graph import Attribute, Graph
from kerascope.viz.overlays.marking import with_attributes

FULL_CHANGE = 0.01


def with_step_figures(graph: Graph, model: Any, x: Any, y: Any, where: str = "draw") -> Graph:
    """Return a ladder with the sizes of a batch's gradients and of the step's updates.

    Parameters
    ----------
    graph : Graph
        The graph of a compiled model at level "gradient" or "training".
    model : Model
    x, y : array_like, list of array_like, or dict by name
        A batch, as for `model.train_on_batch`.
    where : str
        The name of the calling function, for error messages.

    Returns
    -------
    Graph
        Boxes get a line of text and an attribute: `gradient_norm` (gradients), `norm` (weights, and
        slots after the step) or `change` (new values: the change relative to the norm of the
        weight, or the norm of the change if the weight is all zero).

    Raises
    ------
    DataError
        The arrays do not fit the model.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.models import Model
    >>> from kerascope.viz.extract.training import training_graph
    >>> inputs = Input((3,), name="x")
    >>> layer = Dense(1, use_bias=False, kernel_initializer="ones", name="sum")
    >>> model = Model(inputs, layer(inputs))
    >>> model.compile("sgd", "mse")
    >>> batch = np.ones((1, 3)), np.zeros((1, 1))
    >>> graph = with_step_figures(training_graph(model), model, *batch)
    >>> [graph.node(f"{one}:sum/kernel").attrs["detail"] for one in ("grad", "update")]
    ['‖∂‖ 10.39', 'Δ 6 % of ‖w‖']
    """
    step = ladder_of_step(model, where, nested=any(map(is_nested_call, graph.groups)))
    tensors: dict[str, Tensor] = {
        one: x for one, x in step.ladder.picture.tensors.items() if one in step.ladder.boxes
    }
    gradients = [*tensors]
    tensors |= {box_id: pair.new_value for pair, box_id in step.drawn}
    tensors["loss of the step"] = step.ladder.forward.loss
    _copy_slots(step, model)
    arrays = compute_values(tensors, *model_feed(model, (x, y), True, where))
    boxes = {**step.slots, **step.lines}
    numbers = StepNumbers(
        float(np.asarray(arrays["loss of the step"]).ravel()[0]),
        {one: arrays[one] for one in gradients if one in arrays},
        {box_id: variable.get_value() for variable, box_id in boxes.items()},
        {boxes[pair.variable]: arrays[box_id] for pair, box_id in step.drawn},
    )
    return with_numbers(graph, numbers, step.ladder.forward.loss_id)


class StepNumbers(NamedTuple):
    """The numbers of one training step: arrays, or `Statistics` of arrays.

    Attributes
    ----------
    loss : float
    gradients : dict of str to array
        Gradients by the ids of their boxes.
    before, after : dict of str to array
        Values of weights and slots by the ids of their boxes. `after` contains only the weights
        and slots that the step updates.
    """

    loss: float
    gradients: Mapping[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def with_numbers(graph: Graph, numbers: StepNumbers, loss_id: str = "loss") -> Graph:
    """Return a ladder with the norms of a step's arrays, as described in `with_step_figures`.

    Parameters
    ----------
    graph : Graph
    numbers : StepNumbers
    loss_id : str
        The id of the box of the total loss.
    """
    known = {node.id: node for node in graph.nodes}
    attributes: dict[str, dict[str, Attribute]] = {loss_id: {"detail": figure(numbers.loss)}}
    for one, gradient in numbers.gradients.items():
        norm = _norm(gradient)
        words = f"\u2016\u2202\u2016 {figure(norm)}"
        attributes[one] = {"gradient_norm": norm, "detail": words}
    for home, value in numbers.before.items():
        if home in known and known[home].kind != "slot":
            norm = _norm(value)
            attributes[home] = {"norm": norm, "detail": f"\u2016w\u2016 {figure(norm)}"}
    for edge in graph.edges:
        if edge.attrs.get("role") == "update" and edge.target in numbers.after:
            old, new = numbers.before[edge.target], numbers.after[edge.target]
            is_slot = known[edge.target].kind == "slot"
            attrs = _of_slot(old, new) if is_slot else _of_weight(old, new)
            attributes[edge.target if is_slot else edge.source] = attrs
    attributes = {one: attrs for one, attrs in attributes.items() if one in known}
    found = with_attributes(graph, _with_shares(graph, attributes))
    words = f"One batch, loss {figure(numbers.loss)}. A full bar is the largest of its column"
    is_training = numbers.after and graph.attrs["level"] == "training"
    words += ", or a change of 1 %" if is_training else ""
    return replace(found, attrs={**found.attrs, "caption": caption_with(found.attrs, words)})


def with_weights(graph: Graph, model: Any) -> Graph:
    """Return a ladder with the norms of a model's weights on its cards."""
    known = {node.id for node in graph.nodes if node.attrs.get("column") == "weight"}
    norms: dict[str, dict[str, Attribute]] = {}
    for weight in model.weights:
        if clean(weight.name) in known:
            norm = _norm(weight.get_value())
            norms[clean(weight.name)] = {"norm": norm, "detail": f"\u2016w\u2016 {figure(norm)}"}
    return with_attributes(graph, norms)


def _copy_slots(step: StepLadder, model: Any) -> None:
    """Copy the present values of the optimizer's slots to the slots of the drawn step, by name."""
    trained = {slot.name: slot for slot in model.optimizer.weights}
    for slot in step.slots:
        own = trained.get(slot.name)
        if own is not None and own is not slot and own.get_value().shape == slot.get_value().shape:
            slot.set_value(own.get_value())


def _norm(value: Any) -> float:
    if isinstance(value, Statistics):
        return float("nan") if value.norm is None else float(value.norm)
    return norm_of(value)


def _of_slot(old: Any, new: Any) -> dict[str, Attribute]:
    norm = _norm(new)
    return {"norm": norm, "detail": f"{figure(_norm(old))} \u2192 {figure(norm)}"}


def _of_weight(old: Any, new: Any) -> dict[str, Attribute]:
    """Return the attributes of the box of a weight's new value: its relative change.

    If only statistics of the arrays are known, return the norm of the new weight instead.
    """
    if isinstance(old, Statistics) or isinstance(new, Statistics):
        return {"norm": _norm(new), "detail": f"\u2016w\u2016 {figure(_norm(new))}"}
    change, size = norm_of(np.asarray(new) - old), norm_of(old)
    if not size:
        return {"change": change, "detail": f"\u0394 {figure(change)} from 0"}
    share = float(change / size)
    percent = figure(float(f"{100 * share:.2g}"))
    return {"change": share, "detail": f"\u0394 {percent} % of \u2016w\u2016"}


def _with_shares(
    graph: Graph, attributes: Mapping[str, Mapping[str, Attribute]]
) -> dict[str, dict[str, Attribute]]:
    """Return the attributes with `share` added: a norm divided by the largest norm in its column.

    The columns of the cards contain gradients, slots and new weights.
    """
    columns: dict[str, dict[str, float]] = {}
    for one, own in attributes.items():
        column = str(graph.node(one).attrs.get("column", ""))
        if column in ("", "weight"):
            continue
        key = (
            "gradient_norm"
            if column in ("via", "gradient")
            else "change"
            if column == "new"
            else "norm"
        )
        group = "gradient" if column == "via" else column
        is_share = key in own and "from 0" not in str(own["detail"])
        if is_share and np.isfinite(float(own[key])):
            columns.setdefault(group, {})[one] = float(own[key])
    found = {one: dict(own) for one, own in attributes.items()}
    for column, numbers in columns.items():
        full = FULL_CHANGE if column == "new" else max(numbers.values()) or 1.0
        for one, value in numbers.items():
            found[one]["share"] = min(value / full, 1.0)
    return found
