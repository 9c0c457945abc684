"""The overlays that `draw` was asked for: values, a moment of a run, gradients, highlights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError
from kerascope.viz.extract.gradient_model import require_compiled
from kerascope.viz.extract.subjects import model_with_graph
from kerascope.viz.graph import Graph
from kerascope.viz.overlays.gradient_norms import gradient_norms_of, with_gradient_norms
from kerascope.viz.overlays.marking import highlighted
from kerascope.viz.overlays.values import at_step, values_of, with_values


def marked(
    graph: Graph, subject: Any, values: Any, at: int | None, gradients: Any, highlight: Any
) -> Graph:
    """Return the graph with all that the arguments of `draw` ask to be marked.

    Raises
    ------
    ArgumentError
        They do not fit what is drawn.
    """
    if values is not None:
        graph = _with_values(graph, subject, values, at)
    elif at is not None:
        raise ArgumentError(f"draw: at={at!r} is a step of a run; expected values=... with it.")
    if gradients is not None:
        graph = _with_gradients(graph, subject, gradients)
    return graph if highlight is None else highlighted(graph, _names(highlight))


def as_names(given: Any) -> Any:
    """Return what was given with the name of each layer for the layer."""
    if isinstance(given, Layer):
        return given.name
    if isinstance(given, (list, tuple)):
        return [as_names(one) for one in given]
    return given


def _names(highlight: Any) -> Any:
    names = as_names(highlight)
    listed = [names] if isinstance(names, str) else names
    if isinstance(listed, (list, set, frozenset)) and all(isinstance(x, str) for x in listed):
        return names
    raise ArgumentError(
        f"draw: highlight expected ids or names of boxes, or layers; got {highlight!r:.80}."
    )


def _require_calls(subject: Any, graph: Graph, what: str) -> None:
    if not isinstance(subject, Network) or graph.attrs.get("level") != "node":
        raise ArgumentError(
            f"draw: {what} stands on the calls of a model; expected a model at level 'node', got "
            f"{type(subject).__name__} at level {graph.attrs.get('level', '?')!r}."
        )


def _with_values(graph: Graph, subject: Any, values: Any, at: int | None) -> Graph:
    if isinstance(subject, Graph):
        if not isinstance(values, Mapping):
            raise ArgumentError(
                "draw: values of a Graph are a dict from the ids of its boxes to arrays; "
                f"got {type(values).__name__}."
            )
        found: Any = dict(values)
    else:
        _require_calls(subject, graph, "values=")
        found = values_of(model_with_graph(subject), values, nested=True)
    return with_values(graph, found) if at is None else at_step(graph, found, at)


def _with_gradients(graph: Graph, subject: Any, gradients: Any) -> Graph:
    _require_calls(subject, graph, "gradients=")
    if not isinstance(gradients, (tuple, list)) or len(gradients) != 2:
        raise ArgumentError(
            f"draw: gradients expected a batch (x, y); got {type(gradients).__name__}."
        )
    require_compiled(subject, "draw: gradients=")
    return with_gradient_norms(graph, *gradient_norms_of(subject, *gradients))
