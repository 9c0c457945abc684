"""What has changed: `draw(model, diff=before)`. Two graphs, or the weights of one at two times.

Between two epochs, say, only the weights have moved. How far is told layer by layer; the same list
of arrays that `model.get_weights()` gives, kept before and after, is all it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, DtypeError
from kerascope.trace.records import counted
from kerascope.trace.statistics import norm_of
from kerascope.viz.boxes import caption_with
from kerascope.viz.extract.networks import layers_by_path
from kerascope.viz.graph import Attribute, Graph, GraphEdge, GraphNode
from kerascope.viz.overlays.diff import diff
from kerascope.viz.overlays.marking import mark, paths_of_boxes, with_attributes, with_details

LEVELS_OF_LAYERS = ("node", "layer")


def compared(
    graph: Graph, subject: Any, before: Any, graph_before: Callable[[Any], Graph]
) -> Graph:
    """Return a graph with what has changed since.

    Parameters
    ----------
    graph : Graph
        Of `subject`.
    subject : object
    before : model, Graph, or list of array_like
        A model or a graph as it was; or the weights of `subject` as `get_weights()` gave them.
    graph_before : callable
        Makes the graph of `before`.

    Notes
    -----
    Of two models with the same graph, as a model after two epochs is, the weights are compared.

    Raises
    ------
    ArgumentError
        The arrays are not the weights of `subject`, or it has none.
    """
    if _are_arrays(before):
        if not isinstance(subject, Network) or graph.attrs.get("level") not in LEVELS_OF_LAYERS:
            raise ArgumentError(
                "draw: diff=weights compares the weights of a model at level 'node' or 'layer'; "
                f"got {type(subject).__name__} at level {graph.attrs.get('level', '?')!r}."
            )
        return _with_weights(graph, subject, before)
    both = diff(graph_before(before), graph)
    parts: list[GraphNode | GraphEdge] = [*both.nodes, *both.edges]
    is_same = not any(part.attrs.get("state") for part in parts)
    if is_same and graph.attrs.get("level") in LEVELS_OF_LAYERS and _fit(subject, before):
        return _with_weights(both, subject, before.get_weights())
    return both


def _are_arrays(before: Any) -> bool:
    return isinstance(before, (list, tuple)) and all(
        isinstance(one, (np.ndarray, np.generic)) for one in before
    )


def _fit(subject: Any, before: Any) -> bool:
    """Tell whether two models have weights of the same shapes."""
    if not (isinstance(subject, Network) and isinstance(before, Network)):
        return False
    return [w.shape for w in subject.weights] == [w.shape for w in before.weights]


def _with_weights(graph: Graph, model: Network, before: Any) -> Graph:
    changes = weight_changes(model, before)
    graph = with_weight_changes(graph, changes)
    moved = sum(box.attrs.get("state") in ("changed", "nan") for box in graph.nodes)
    words = f"The weights of {counted(moved, 'box')} changed" if moved else "No weight changed"
    caption = caption_with(graph.attrs, words)
    return replace(graph, attrs={**graph.attrs, "caption": caption})


# --- the weights of one model at two times --------------------------------------------------------


def weight_changes(
    model: Network, before: Sequence[Any], after: Sequence[Any] | None = None
) -> dict[str, float]:
    """Return how far the weights of each layer have moved, relative to their size.

    Parameters
    ----------
    model : Network
        A built model.
    before, after : list of array_like
        As `model.get_weights()` gave them; `after` is what the model has now if it is left out.

    Returns
    -------
    dict of str to float
        By the path of the layer: its name, or `encoder/wide` inside a nested model. Layers without
        weights are left out. Infinite where the weights were all zero and no longer are.

    Raises
    ------
    DtypeError
        `model` is no model.
    ArgumentError
        The arrays are not those of this model.

    Notes
    -----
    ‖w1 - w0‖ / ‖w0‖, the L2 norms being over all weights of the layer.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> x = Input(shape=(1,), name="x")
    >>> model = Model(x, Dense(1, kernel_initializer="ones", use_bias=False, name="d")(x))
    >>> weight_changes(model, model.get_weights(), [[[1.5]]])
    {'d': 0.5}
    """
    if not isinstance(model, Network):
        raise DtypeError(f"weight_changes: expected a model, got {type(model).__name__}.")
    weights = model._weights_by_layer()  # the order of get_weights
    after = model.get_weights() if after is None else after
    times = [
        _checked(arrays, weights, name) for arrays, name in ((before, "before"), (after, "after"))
    ]
    old, new = (dict(zip(weights, arrays, strict=True)) for arrays in times)
    changes: dict[str, float] = {}
    for path, layer in layers_by_path(model).items():
        own = [w for w in dict.fromkeys(layer.weights) if w in old]
        if own:
            moved = norm_of([norm_of(new[w] - old[w]) for w in own])
            size = norm_of([norm_of(old[w]) for w in own])
            changes[path] = _relative(moved, size)
    return changes


def _relative(moved: float, size: float) -> float:
    if size or not moved or np.isnan(moved):
        return moved / size if size else moved
    return float("inf")


def _checked(arrays: Sequence[Any], weights: Sequence[Any], name: str) -> list[np.ndarray]:
    """Return the arrays in float64 if they fit the weights."""
    found = [np.asarray(array, "float64") for array in arrays]
    wanted, came = [tuple(w.shape) for w in weights], [array.shape for array in found]
    if wanted == came:
        return found
    if len(wanted) != len(came):
        what = f"expected {len(wanted)} arrays, got {len(came)}"
    else:
        i = next(i for i, pair in enumerate(zip(wanted, came, strict=True)) if pair[0] != pair[1])
        what = f"array {i} is of another shape; expected {wanted[i]}, got {came[i]}"
    raise ArgumentError(
        f"weight_changes: {name}: {what}. Give what model.get_weights() of this model gave."
    )


def with_weight_changes(graph: Graph, changes: Mapping[str, float]) -> Graph:
    """Return the graph with how far the weights of each layer have moved.

    Parameters
    ----------
    graph : Graph
    changes : mapping of str to float
        By the path of the layer, as `weight_changes` makes it.

    Returns
    -------
    Graph
        Boxes of layers whose weights moved have the state "changed" and the attribute
        `weight_change`; those whose weights did not move say so.

    Raises
    ------
    ArgumentError
        The graph shows none of these layers.
    """
    boxes = {box: changes[path] for box, path in paths_of_boxes(graph).items() if path in changes}
    if changes and not boxes:
        raise ArgumentError(
            f"with_weight_changes: Graph {graph.name!r} shows none of the layers "
            f"{', '.join(list(changes)[:8])}; expected the graph of the same model."
        )
    marks: dict[str, Mapping[str, Attribute]] = {}
    details = {box: "weights unchanged" for box, change in boxes.items() if change == 0}
    for box, change in boxes.items():
        if np.isnan(change):
            marks[box] = mark("nan", "weights not finite")
        elif np.isinf(change):
            marks[box] = mark("changed", "weights changed from 0")
        elif change:
            note = f"weights changed by {100 * change:.2g} %"
            marks[box] = {**mark("changed", note), "weight_change": float(f"{change:.3e}")}
    return with_attributes(with_details(graph, details), marks)
