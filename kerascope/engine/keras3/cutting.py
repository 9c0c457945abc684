"""Models whose layers are called again when the model is made.

`Model(m.get_layer("h2").input, m.output)` cuts a model out of another one. Keras 1 and 2 raise an
error if the outputs need more than the given inputs. Keras 3 replaces each input with a new Input,
and calls the layers after it again. `cut_out` does this.

If a layer assigns to a variable and is called twice in a graph, the graph does not define the order
of the calls. So when a model is made, `outputs_in_order` calls the layers again, in the order in
which the model runs them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.update_order import assigned_by_several_calls
from kerascope.engine.arguments import listed
from kerascope.engine.base_layer import Layer
from kerascope.engine.binding import Call
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.layer_losses import only_of_call
from kerascope.engine.node import Node
from kerascope.engine.policies.assigned import calls_in_order
from kerascope.spellings import dialect_options


def cut_out(inputs: list[Tensor], outputs: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Replace inputs that are outputs of layers by new Inputs; return the inputs and outputs.

    In other dialects than "3", or if the outputs need further inputs, return them unchanged.
    """
    tensors = [*inputs, *outputs]
    if not dialect_options().wraps_operations or not all(_is_of_a_layer(x) for x in tensors):
        return inputs, outputs
    cut = [x for x in inputs if not isinstance(x._keras_history.layer, InputLayer)]
    nodes = _nodes_between(inputs, outputs) if cut else []
    if not nodes or any(node.is_input for node in nodes):
        return inputs, outputs
    new = {x: Input(batch_shape=x.shape, dtype=x.dtype) for x in cut}
    for node in nodes:
        if any(x in new for x in node.input_tensors):
            _call_again(node, new)
    return [new.get(x, x) for x in inputs], [new.get(y, y) for y in outputs]


def outputs_in_order(network: Layer, nodes: Iterable[Node], outputs: list[Tensor]) -> list[Tensor]:
    """Repeat a model's calls so that each reads the values that earlier calls assign to variables.

    Return the new outputs. If no two calls assign to the same variable, return `outputs` unchanged.
    """
    nodes = [node for node in nodes if not node.is_input]
    updates: list[Any] = []
    for node in nodes:
        if node.outbound_layer._assigns:
            with only_of_call(node.input_tensors):
                updates += node.outbound_layer._updates.of(node.input_tensors)
    if assigned_by_several_calls(updates) is None:
        return outputs
    new: dict[Tensor, Tensor] = {}
    with calls_in_order(network, outputs):
        for node in nodes:
            _call_again(node, new)
    return [new.get(y, y) for y in outputs]


def _call_again(node: Node, new: dict[Tensor, Tensor]) -> None:
    """Repeat a call on new inputs, and add its outputs to `new`, a dict from old to new tensors."""
    call = Call([new.get(x, x) for x in node.input_tensors], node.arguments)
    found, _ = listed(node.outbound_layer(call.inputs, **call.arguments))
    new.update(zip(node.output_tensors, found, strict=True))


def _is_of_a_layer(x: object) -> bool:
    return isinstance(x, Tensor) and x._keras_history is not None


def _nodes_between(inputs: Collection[Tensor], outputs: Iterable[Tensor]) -> list[Node]:
    """Return the calls between inputs and outputs, each after the calls that it depends on."""
    given, seen, ordered = set(inputs), set[Node](), list[Node]()
    stack: list[tuple[Node | None, Iterable[Tensor]]] = [(None, iter(outputs))]
    while stack:
        node, tensors = stack[-1]
        for x in tensors:
            maker = x._keras_history.node
            if x not in given and maker not in seen:
                seen.add(maker)
                stack.append((maker, iter(maker.traced_inputs)))
                break
        else:
            stack.pop()
            if node is not None:
                ordered.append(node)
    return ordered
