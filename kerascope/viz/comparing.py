"""`draw(model, diff=before)`: two graphs, or the weights of one at two times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.trace.records import counted
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.overlays.diff import diff
from kerascope.viz.overlays.weight_changes import weight_changes, with_weight_changes

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
    caption = ". ".join(filter(None, [str(graph.attrs.get("caption", "")), words]))
    return replace(graph, attrs={**graph.attrs, "caption": caption})
