"""Gradient norms in pictures: the size of the gradient at each call and of each layer's weights.

Gradients that vanish or explode on their way back through a deep model are the most common reason
why it does not learn. Here they are shown box by box. The level "gradient" shows the gradient *as a
graph* instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.function import Function
from kerascope.backend.gradient import gradients
from kerascope.backend.graph import Tensor
from kerascope.engine.feeding import training_arrays
from kerascope.engine.model import Model
from kerascope.engine.node_ids import call_ids
from kerascope.errors import DtypeError
from kerascope.trace.statistics import norm_of
from kerascope.viz.boxes import caption_with
from kerascope.viz.extract.gradients import restoring_updates
from kerascope.viz.extract.networks import layers_by_path
from kerascope.viz.graph import Attribute, Graph
from kerascope.viz.overlays import marking
from kerascope.viz.theme import HEATS

Name = TypeVar("Name", str, tuple[str, str])
VANISHING = 1e-7  # share of the largest norm below which a gradient is called vanishing


# --- in a graph -----------------------------------------------------------------------------------


def with_gradient_norms(
    graph: Graph, norms: Mapping[str, float], weights: Mapping[str, float] | None = None
) -> Graph:
    """Return the graph with the norm of the gradient that arrives at each call.

    Parameters
    ----------
    graph : Graph
    norms : mapping of str to float
        Norms by the ids of calls, as returned by `gradient_norms_of`.
    weights : mapping of str to float, optional
        Norms by the paths of layers, as returned by `gradient_norms_of`. They are shown on a
        separate line.

    Returns
    -------
    Graph
        Boxes get the line "‖grad‖ 1.2e-03", the attributes `gradient_norm` (and
        `weight_gradient_norm`) and `heat`, and the state "gradient". A norm below 1e-7 of the
        largest one is called vanishing. A box whose norm is not finite has the state "nan".

    Raises
    ------
    ArgumentError
        The graph has no box for one of the ids.

    Examples
    --------
    >>> from kerascope.viz.graph import GraphNode
    >>> graph = Graph("one", (GraphNode("a", "a", "dense"),), ())
    >>> with_gradient_norms(graph, {"a": 0.00123}).node("a").attrs["detail"]
    '‖grad‖ 1.2e-03'
    """
    known = marking.known_ids(graph)
    shown = {
        marking.display_id(graph, call_id, "gradient norms", known): norm
        for call_id, norm in norms.items()
    }
    paths = marking.paths_of_boxes(graph)
    of_weights = {box: weights[path] for box, path in paths.items() if path in (weights or {})}  # type: ignore[index]
    details: dict[str, list[str]] = {}
    marks: dict[str, dict[str, Attribute]] = {}
    for key, words, found in (
        ("gradient_norm", "‖grad‖", shown),
        ("weight_gradient_norm", "‖weight grad‖", of_weights),
    ):
        greatest = max(filter(np.isfinite, found.values()), default=0.0)
        for box_id, norm in found.items():
            verdict = _verdict(norm, greatest)
            number = f"{norm:.1e}" if norm else "0"
            details.setdefault(box_id, []).append(
                " · ".join(filter(None, [f"{words} {number}", verdict]))
            )
            marks.setdefault(box_id, {}).update(_attributes(key, norm, verdict))
            if key == "gradient_norm" and np.isfinite(norm):
                marks[box_id]["heat"] = heat_of_norm(norm, greatest)
    marked = marking.with_attributes(marking.with_details(graph, details), marks)
    if not shown:
        return marked
    words = "A box is one step paler for each power of ten below the largest gradient"
    return replace(marked, attrs={**marked.attrs, "caption": caption_with(marked.attrs, words)})


def heat_of_norm(norm: float, greatest: float) -> str:
    """Return the heat of a norm: one step of `theme.HEATS` less per power of ten below the largest.

    Examples
    --------
    >>> heat_of_norm(2.0, 2.0), heat_of_norm(0.1, 2.0), heat_of_norm(0.0, 2.0)
    ('heat5', 'heat4', 'heat0')
    """
    if not norm:
        return HEATS[0]
    steps = math.floor(math.log10(greatest / norm) + 1e-9)
    return HEATS[max(len(HEATS) - 1 - steps, 0)]


def _verdict(norm: float, greatest: float) -> str:
    if not np.isfinite(norm):
        return "not finite"
    return "vanishing" if norm < VANISHING * greatest else ""


def _attributes(key: str, norm: float, verdict: str) -> dict[str, Attribute]:
    if not np.isfinite(norm):
        return marking.mark("nan", "gradient not finite")
    rounded: dict[str, Attribute] = {key: float(f"{norm:.3e}")}
    if key != "gradient_norm":
        return rounded
    return rounded | marking.mark("gradient", f"gradient {verdict}" if verdict else "")


# --- from a model ---------------------------------------------------------------------------------


def gradient_norms_of(model: Any, x: Any, y: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Return the gradient norms for a batch: at each call, and of each layer's weights.

    Parameters
    ----------
    model : Model
        A compiled model.
    x, y : array_like, list of array_like, or dict by name
        A batch, as for `model.train_on_batch`.

    Returns
    -------
    dict of str to float
        The norm at the output of each call, by the call's id. Calls that do not affect the loss, or
        affect it only through an operation without a derivative, are left out.
    dict of str to float
        The norm for the trainable weights of each layer, by the layer's path: its name, or
        `encoder/wide` inside a nested model. The norm for a nested model is over all its weights.

    Raises
    ------
    NotCompiledError
        The model has no loss.
    DataError
        The arrays do not fit the model.

    Notes
    -----
    The L2 norm  ‖d loss / d output‖ = sqrt(sum of squares)  is over the whole batch and all outputs
    of the call, in the training phase: dropout is active, with the random numbers of the next
    training step. All norms come from one reverse sweep. The model does not change: no weight, seed
    or name.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(1, kernel_initializer="ones", name="sum")(inputs))
    >>> model.compile("sgd", "mse")
    >>> calls, layers = gradient_norms_of(model, np.ones((1, 3)), np.zeros((1, 1)))
    >>> calls["sum"], round(layers["sum"], 4)
    (6.0, 12.0)
    """
    _require_model(model)
    model._make_ready(x, to_train=True)
    groups: dict[tuple[str, str], Any] = {
        ("call", name): node.output_tensors for node, name in call_ids(model).items()
    }
    groups |= {
        ("layer", path): layer.trainable_weights for path, layer in layers_by_path(model).items()
    }
    norms = _norms(model, x, y, groups, "gradient norms")
    calls, layers = (
        {name: norm for (kind, name), norm in norms.items() if kind == wanted}
        for wanted in ("call", "layer")
    )
    return calls, layers


def _require_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise DtypeError(
            f"gradient norms: expected a compiled model, got {type(model).__name__} {model!r:.60}."
        )


def _norms(
    model: Model, x: Any, y: Any, groups: Mapping[Name, Any], where: str
) -> dict[Name, float]:
    """Return the norm of the gradient of the loss for each list of tensors, from one sweep."""
    arrays = training_arrays(model, x, y, None, None, 1.0, where)
    tensors: list[Tensor] = [t for group in groups.values() for t in group if is_float(t.dtype)]
    tensors = list(dict.fromkeys(tensors))
    found = dict(zip(tensors, gradients(model.total_loss, tensors), strict=True))
    wanted = {t: gradient for t, gradient in found.items() if gradient is not None}
    function = Function(model._inputs_with_targets, list(wanted.values()), name=where)
    with restoring_updates(function), np.errstate(all="ignore"):
        norms = dict(zip(wanted, map(norm_of, function(arrays)), strict=True))
    return {
        name: norm_of([norms[t] for t in group if t in norms])
        for name, group in groups.items()
        if any(t in norms for t in group)
    }
