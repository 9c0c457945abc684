"""Which graph a model has at which level; what `draw` and `to_networkx` both begin with."""

from __future__ import annotations

from typing import Any

from kerascope.engine.network import Network
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError
from kerascope.viz.extract_layers import layer_graph, node_graph
from kerascope.viz.graph import Graph

LEVELS = ("layer", "node")
FUTURE_LEVELS = ("op", "gradient", "training")


def graph_of(
    model: Any, level: str = "node", expand_nested: bool = False, where: str = "draw"
) -> Graph:
    """Return the neutral graph of a model, or the graph itself if it is one already.

    Parameters
    ----------
    model : Network or Graph
    level : {"node", "layer"}
    expand_nested : bool
        Show what is inside nested models; at level "node" only.
    where : str
        Who asks, for the messages.

    Raises
    ------
    DtypeError
        `model` is no model.
    NotBuiltError
        It has no graph (yet): a Sequential whose input shape is not known, or a model that writes
        its own `call`.
    ArgumentError
        There is no such level.
    """
    if level in FUTURE_LEVELS:
        raise ArgumentError(
            f"{where}: level {level!r} does not exist yet; expected one of {LEVELS}."
        )
    if level not in LEVELS:
        raise ArgumentError(f"{where}: unknown level; expected one of {LEVELS}, got {level!r}.")
    if isinstance(model, Graph):
        return model
    _require_graph(model, where)
    if level == "node":
        return node_graph(model, expand_nested=expand_nested)
    if expand_nested:
        raise ArgumentError(
            f"{where}: the layer view has one box per layer; expected expand_nested=False, "
            f"got True. Use level='node'."
        )
    return layer_graph(model)


def _require_graph(model: Any, where: str) -> None:
    if not isinstance(model, Network):
        got = model.__name__ if isinstance(model, type) else f"{type(model).__name__} {model!r:.60}"
        raise DtypeError(f"{where}: expected a model (Model, Sequential or Network), got {got}.")
    if model.outputs:
        return
    if isinstance(model, Sequential):
        remedy = "Give its first layer an input_shape, or call model.build(input_shape)."
    else:
        remedy = "It writes its own call; wrap it: x = Input(...), Model(x, model(x))."
    raise NotBuiltError(
        f"{where}: {model.label} has no graph of layers; expected a built model. {remedy}",
        subject=model,
    )
