"""A model cut out of another one: `Model(m.get_layer("h2").input, m.output)`, as in Keras 3.

Keras 1 and 2 refuse inputs in the middle of a graph that needs more than them. Keras 3 makes an
Input in place of each, and calls the layers behind it again, on these. So does this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kerascope.backend.graph import Tensor
from kerascope.engine.arguments import listed
from kerascope.engine.calling import Call
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.node import Node
from kerascope.spellings import habits


def cut_out(inputs: list[Tensor], outputs: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return inputs that are all of `Input`, and the outputs computed from them.

    Without Keras 3's habits, and if the outputs need more inputs, both stay as they are.
    """
    tensors = [*inputs, *outputs]
    if not habits().wraps_operations or not all(_is_of_a_layer(x) for x in tensors):
        return inputs, outputs
    cut = [x for x in inputs if not isinstance(x._keras_history.layer, InputLayer)]
    nodes = _nodes_between(inputs, outputs)
    if not cut or any(node.is_input for node in nodes):
        return inputs, outputs
    new = {x: Input(batch_shape=x.shape, dtype=x.dtype) for x in cut}
    for node in nodes:
        if any(x in new for x in node.input_tensors):
            call = Call([new.get(x, x) for x in node.input_tensors], node.arguments)
            found, _ = listed(node.outbound_layer(call.inputs, **call.arguments))
            new.update(zip(node.output_tensors, found, strict=True))
    return [new.get(x, x) for x in inputs], [new.get(y, y) for y in outputs]


def _is_of_a_layer(x: object) -> bool:
    return isinstance(x, Tensor) and x._keras_history is not None


def _nodes_between(inputs: Collection[Tensor], outputs: Iterable[Tensor]) -> list[Node]:
    """Return the calls between the inputs and the outputs, each after those that it needs."""
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
