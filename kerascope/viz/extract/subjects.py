"""Which graph something has at which level; what `draw` and `to_networkx` both begin with.

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
from kerascope.not_a_model import got_instead
from kerascope.registry import did_you_mean
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
    """Return the neutral graph of something.

    Parameters
    ----------
    subject : model, layer, tensor, list of tensors, K.function, exception or Graph
        An exception is one that a failed call of a layer, or `Model(...)`, raised: it gives the
        graph as far as it was built. A Graph is returned as it is.
    level : {"layer", "node", "op", "gradient", "training"}, optional
        Default: "node" for a model, "op" for what is below.
    expand_nested : bool
        Show what is inside nested models, at levels "node", "gradient" and "training", and inside
        wrappers, at level "node".
    where : str
        Who asks, for the messages.
    wrt : Tensor or list of Tensor, optional
        At level "gradient" of a loss: with respect to what.
    data : optional
        At level "gradient": what the numbers are computed from; `(x, y)` for a model, a dict from
        placeholders to arrays for a loss.

    Raises
    ------
    DtypeError
        `subject` is nothing of which there is a graph.
    NotBuiltError, NotCompiledError
        A model has no graph (yet): a Sequential whose input shape is not known, or a model that
        writes its own `call` and was never called. Or it has no loss.
    ArgumentError
        There is no such level, or this subject does not have it.
    """
    if level is not None and level not in LEVELS:
        hint = did_you_mean(str(level), LEVELS)
        raise ArgumentError(
            f"{where}: unknown level; expected one of {LEVELS}, got {level!r}. {hint}".rstrip()
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
    """Return a model, or what a subclassed one computes, with a graph of layers.

    Raises
    ------
    NotBuiltError
        It has none yet.
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
        f"{where}: {model.label} has no graph of layers; expected a built model. {remedy}",
        subject=model,
    )


def _around_opaque(model: Any) -> Network:
    """Return a model of one layer: one whose class was not known when its file was read."""
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
            f"{where}: the layer view has one box per layer; expected expand_nested=False, "
            f"got True. Use level='node'."
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
            f"{where}: tensors have the levels 'op' and 'gradient'; got {level!r}. "
            f"Draw the model instead."
        )
    if wrt is None or not isinstance(subject, Tensor):
        raise ArgumentError(
            f"{where}: level 'gradient' expected one loss and wrt=..., tensors to differentiate "
            f"it with respect to; got {subject!r:.80} and wrt={wrt!r:.40}."
        )
    return gradient_graph(subject, wrt, feed=data, where=where)


def check_subject(subject: Any, where: str) -> None:
    """Raise an error if there is no graph of something.

    Raises
    ------
    DtypeError
    """
    if isinstance(subject, (Graph, BaseException, Layer, Function)) or _is_tensors(subject):
        return
    raise DtypeError(
        f"{where}: expected a model (Model, Sequential or Network), a layer, a tensor, a "
        f"K.function or an error that came from building one, "
        f"{got_instead(subject, f'ks.{where}(model)')}"
    )


def _require_op_level(subject: Any, level: str | None, where: str) -> None:
    check_subject(subject, where)
    if level not in (None, "op"):
        what = "a layer" if isinstance(subject, Layer) else "a function"
        raise ArgumentError(
            f"{where}: {what} has level 'op' only, got {level!r}. Say level='op', or "
            f"give the model."
        )
