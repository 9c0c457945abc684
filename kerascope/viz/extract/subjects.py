"""The graph of a subject at a level; `draw` and `to_networkx` both start with it.

==========  =======================================================================================
`layer`     of a model: one box per layer
`node`      of a model: one box per call of a layer (the default)
`op`        of a model, a layer, tensors or a `K.function`: one box per op
`gradient`  of a compiled model, or of a loss with respect to tensors: forward and backward
`training`  of a compiled model: loss, gradients, slots and updates
==========  =======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import Input
from kerascope.engine.network import Network
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError
from kerascope.layers.opaque import Opaque
from kerascope.registry import did_you_mean
from kerascope.unsupported import got_instead
from kerascope.viz.extract.failure import failure_graph
from kerascope.viz.extract.gradients import gradient_graph
from kerascope.viz.extract.ladder import gradient_ladder
from kerascope.viz.extract.layers import layer_graph
from kerascope.viz.extract.networks import graph_model_of
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.extract.ops import (
    op_graph,
    op_graph_of_function,
    op_graph_of_layer,
    op_graph_of_model,
)
from kerascope.viz.extract.training import training_graph
from kerascope.viz.graph import Graph

LEVELS = ("layer", "node", "op", "gradient", "training")


def graph_of(
    subject: Any,
    level: str | None = None,
    expand_nested: bool = False,
    where: str = "draw",
    *,
    wrt: Any = None,
    data: Any = None,
) -> Graph:
    """Return the neutral graph of a model, a layer, tensors, a function or an error.

    Parameters
    ----------
    subject : model, layer, tensor, list of tensors, K.function, exception or Graph
        An exception raised by calling a layer, or by `Model(...)`, gives the part of the graph
        built before the error. A Graph is returned unchanged.
    level : {"layer", "node", "op", "gradient", "training"}, optional
        Default: "node" for a model, "op" for a layer, tensors and functions.
    expand_nested : bool
        Show the contents of nested models (at levels "node", "gradient" and "training") and of
        wrappers (at level "node").
    where : str
        The name of the calling function, for error messages.
    wrt : Tensor or list of Tensor, optional
        At level "gradient" of a loss: the tensors to differentiate with respect to.
    data : optional
        At level "gradient": the data for the numbers. `(x, y)` for a model, a dict from
        placeholders to arrays for a loss.

    Raises
    ------
    DtypeError
        `subject` cannot be drawn as a graph.
    NotBuiltError, NotCompiledError
        The model has no loss, or no graph yet. A Sequential with an unknown input shape has no
        graph, and neither has a model with its own `call` that was never called.
    ArgumentError
        The level does not exist, or the subject does not have it.
    """
    if level is not None and level not in LEVELS:
        hint = did_you_mean(str(level), LEVELS)
        raise ArgumentError(
            f"{where}: unknown level {level!r}. {hint}Use one of: {', '.join(LEVELS)}."
        )
    if isinstance(subject, Graph):
        return subject
    if isinstance(subject, BaseException):
        return failure_graph(subject)
    if isinstance(subject, Network):
        return _of_model(subject, level or "node", expand_nested, where, data)
    if _is_tensors(subject):
        return _of_tensors(subject, level or "op", where, wrt, data)
    _require_op_level(subject, level, where)
    if isinstance(subject, Layer):
        return op_graph_of_layer(subject, where=where)
    return op_graph_of_function(subject)


def model_with_graph(model: Network, where: str = "draw") -> Network:
    """Return a model with a graph of layers: the model, or a traced copy of a subclassed model.

    Raises
    ------
    NotBuiltError
        The model has no graph yet.
    """
    if model.outputs:
        return model
    if isinstance(model, Opaque):
        return _around_opaque(model)
    if isinstance(model, Sequential):
        remedy = "Give its first layer an input_shape, or call model.build(input_shape)."
    else:
        found = graph_model_of(model)
        if found is not None:
            return found
        remedy = "Call it on a batch first, or wrap it: x = Input(...), Model(x, model(x))."
    raise NotBuiltError(
        f"{where}: {model.label} has no graph of layers yet. {remedy}", subject=model
    )


def _around_opaque(model: Any) -> Network:
    """Return a model with one layer, an opaque one, for a file with a model of unknown class."""
    shapes = model.input_shapes_in_file
    inputs = [Input(batch_shape=shape, name=f"input_{n}") for n, shape in enumerate(shapes, 1)]
    return Network(inputs, model(inputs if len(inputs) > 1 else inputs[0]), name=model.name)


def _of_model(model: Network, level: str, expand_nested: bool, where: str, data: Any) -> Graph:
    with_graph = model_with_graph(model, where)
    if level == "gradient":
        return gradient_ladder(model, data=data, nested=expand_nested, where=where)
    if level == "training":
        return training_graph(model, nested=expand_nested, where=where)
    model = with_graph
    if level == "op":
        return op_graph_of_model(model)
    if level == "node":
        return node_graph(model, expand_nested=expand_nested)
    if expand_nested:
        raise ArgumentError(
            f"{where}: level 'layer' cannot show nested models, because it has one box per "
            f"layer. Use level='node'."
        )
    return layer_graph(model)


def _is_tensors(subject: Any) -> bool:
    if isinstance(subject, Tensor):
        return True
    if not isinstance(subject, (list, tuple)) or not subject:
        return False
    is_listed = all(isinstance(x, Tensor) or x is None for x in subject)
    return is_listed and any(isinstance(x, Tensor) for x in subject)


def _of_tensors(
    subject: Tensor | Sequence[Tensor | None], level: str, where: str, wrt: Any, data: Any
) -> Graph:
    if level == "op" and wrt is None:
        return op_graph(subject)
    if level not in ("op", "gradient"):
        raise ArgumentError(
            f"{where}: expected level 'op' or 'gradient' for tensors, got {level!r}. "
            f"Draw the model instead."
        )
    if wrt is None or not isinstance(subject, Tensor):
        raise ArgumentError(
            f"{where}: expected one loss and wrt=..., the tensors to differentiate it with respect "
            f"to, for level 'gradient', got {subject!r:.80} and wrt={wrt!r:.40}."
        )
    return gradient_graph(subject, wrt, feed=data, where=where)


def check_subject(subject: Any, where: str) -> None:
    """Raise an error if a subject cannot be drawn as a graph.

    Raises
    ------
    DtypeError
        The subject is not a model, a layer, a tensor, a `K.function` or an error.
    """
    if isinstance(subject, (Graph, BaseException, Layer, Function)) or _is_tensors(subject):
        return
    raise DtypeError(
        f"{where}: expected a model (Model, Sequential or Network), a layer, a tensor, a "
        f"K.function or an error raised by building one, "
        f"{got_instead(subject, f'ks.{where.partition(chr(58))[0]}(model)')}"
    )


def _require_op_level(subject: Any, level: str | None, where: str) -> None:
    check_subject(subject, where)
    if level not in (None, "op"):
        what = "a layer" if isinstance(subject, Layer) else "a function"
        raise ArgumentError(
            f"{where}: expected level 'op' for {what}, got {level!r}. Use level='op', or "
            f"draw the model."
        )
