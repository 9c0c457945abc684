"""From tensors to the neutral `Graph`, op by op: what computes them, down to the last constant.

One box for every call of an op (an `Apply`), one for every placeholder, variable and constant, and
one arrow for every input of every call. Frames show which call of which layer an op belongs to: see
`op_frames.py`. What the boxes say is listed in `op_facts.py`.

A loop (`Scan`) is a frame that holds the ops of one step. An arrow from outside ends at the
placeholder that stands for it inside: one step's part of a sequence, the state before the step,
what is the same at each step. What the loop gives leaves from the box that computes it in one step;
the history of a state leaves from the state itself. An arrow with the role "update" leads from each
new state back to the state before the next step.

Depth is counted among the boxes and frames that lie directly in one frame: 0 for those that no
other needs, else one more than that of the deepest that needs it. Arrows with a role do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor
from kerascope.backend.traversal import applies_in_order
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError
from kerascope.trace.records import counted
from kerascope.viz.extract.op_view import OpView
from kerascope.viz.graph import Graph


def op_graph(results: Any, *, name: str = "ops", fed: Iterable[Tensor] = ()) -> Graph:
    """Return the graph of the ops that compute tensors.

    Parameters
    ----------
    results : Tensor or list of (Tensor or None)
        What to compute; None, which `K.gradients` may give, is left out.
    name : str
        Title of the graph.
    fed : iterable of Tensor, optional
        Tensors that are given: how they are computed is not shown. They are drawn in any case.

    Returns
    -------
    Graph
        Level "op". Its edges have the attributes `operand`, `output`, `shape` and `dtype`.

    Raises
    ------
    DtypeError
        Something is no tensor.
    ArgumentError
        There is no tensor at all.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(3,), name="x")
    >>> graph = op_graph(K.exp(x) + x)
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('x', 'exp'), ('exp', 'add'), ('x', 'add')]
    """
    tensors = [x for x in to_list(results) if x is not None]
    for x in tensors:
        if not isinstance(x, Tensor):
            remedy = " Use op_graph_of_model(model)." if isinstance(x, Network) else ""
            raise DtypeError(f"op_graph: expected tensors, got {type(x).__name__}.{remedy}")
    if not tensors:
        raise ArgumentError("op_graph: no tensor came; expected a tensor or a list of them.")
    view = OpView(tensors, list(fed))
    view.mark_results(tensors)
    return view.graph(name)


def op_graph_of_layer(layer: Layer, call: int = 0, *, where: str = "op_graph_of_layer") -> Graph:
    """Return the ops inside one layer, from the inputs to the outputs of one call.

    Parameters
    ----------
    layer : Layer
    call : int
        Which of its calls on symbols: the place in `layer.inbound_nodes`.
    where : str
        Who asks, for the messages.

    Raises
    ------
    NotBuiltError
        It was never called on symbols, so it has made no ops.
    ArgumentError
        There is no such call.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.layers import Dense
    >>> x, dense = Input(shape=(4,), name="x"), Dense(3, name="dense")
    >>> y = dense(x)
    >>> [box.id for box in op_graph_of_layer(dense).nodes if box.kind == "op"]
    ['dense/dot', 'dense/add']
    """
    if not isinstance(layer, Layer):
        raise DtypeError(f"{where}: expected a layer, got {type(layer).__name__}.")
    nodes = layer.inbound_nodes
    if not nodes:
        raise NotBuiltError(
            f"{where}: {layer.label} was never called on symbols and so has no ops; "
            f"expected a layer of a model. Call it on Input(shape=...) first.",
            subject=layer,
        )
    if not 0 <= call < len(nodes):
        raise ArgumentError(
            f"{where}: {layer.label} was called {counted(len(nodes), 'time')}; expected "
            f"call from 0 to {len(nodes) - 1}, got {call}.",
            subject=layer,
        )
    node = nodes[call]
    fed = dict.fromkeys(x for x in node.input_tensors)
    read = {x for apply in applies_in_order(node.output_tensors, fed) for x in apply.inputs}
    fed.update(dict.fromkeys(x for x in node.input_masks if x in read))
    name = layer.name if len(nodes) == 1 else f"{layer.name}@{call}"
    return op_graph(node.output_tensors, name=name, fed=[x for x in fed if x is not None])


def op_graph_of_model(model: Network) -> Graph:
    """Return the ops of a whole model, from its inputs to its outputs.

    Parameters
    ----------
    model : Network
        With a graph of layers.

    Raises
    ------
    DtypeError, NotBuiltError
        It is no model, or has no graph.

    Examples
    --------
    >>> from kerascope.engine.input_layer import Input
    >>> from kerascope.engine.model import Model
    >>> from kerascope.layers import Dense
    >>> x, shared = Input(shape=(4,), name="x"), Dense(4, name="shared")
    >>> [frame.id for frame in op_graph_of_model(Model(x, shared(shared(x)))).groups]
    ['shared@0', 'shared@1']
    """
    if not isinstance(model, Network):
        raise DtypeError(f"op_graph_of_model: expected a model, got {type(model).__name__}.")
    if not model.outputs:
        raise NotBuiltError(
            f"op_graph_of_model: {model.label} has no graph of layers; expected a built model. "
            f"Wrap it: x = Input(...), Model(x, model(x)).",
            subject=model,
        )
    return op_graph(model.outputs, name=model.name, fed=model.inputs)


def op_graph_of_function(function: Any) -> Graph:
    """Return the ops of a function of `K.function`: its outputs, and its updates.

    Parameters
    ----------
    function : Function

    Returns
    -------
    Graph
        Each update is a box that the new value goes into, and from which an edge with the role
        "update" leads to the variable.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> w = K.variable(2.0, name="w")
    >>> graph = op_graph_of_function(K.function([], [w ** 2], updates=[(w, 0.8 * w)]))
    >>> [(e.source, e.target) for e in graph.edges if e.attrs.get("role") == "update"]
    [('w/update', 'w')]
    """
    if not isinstance(function, Function):
        got = type(function).__name__
        raise DtypeError(f"op_graph_of_function: expected what K.function returns, got {got}.")
    new_values = [update.new_value for update in function.updates]
    view = OpView([*function.outputs, *new_values], function.inputs)
    for update in function.updates:
        view.add_update(update.variable, update.new_value)
    view.mark_results(function.outputs)
    return view.graph(function.name)
