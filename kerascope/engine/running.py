"""Running a graph network: one forward pass, node by node by falling depth.

`tensor_map` begins with the inputs. Every node finds its input tensors there, calls its layer, and
enters what comes out under its own output tensors; in the end the network's outputs are found there
too. What is entered are tensors: symbols when a model is called on symbols, numbers when it is
called on arrays.

Lesson: chapter 10.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.calling import Call, run_body
from kerascope.engine.node import Node
from kerascope.engine.undoing import Undoing
from kerascope.errors import ArgumentError, GraphError

if TYPE_CHECKING:
    from kerascope.engine.network import Network


class InputFed(NamedTuple):
    """An input of the network entered `tensor_map`."""

    tensor: Tensor
    computed: Tensor


class NodeComputed(NamedTuple):
    """A layer was called, and its outputs entered `tensor_map`.

    Attributes
    ----------
    node : Node
        Which call of which layer.
    depth : int
        The node's depth in this network.
    computed_tensors : list of Tensor
        What the layer was called on now.
    output_tensors : list of Tensor
        What came out.
    """

    node: Node
    depth: int
    computed_tensors: list[Tensor]
    output_tensors: list[Tensor]


Run = tuple[list[Tensor], list[Tensor | None], list[Shape]]


def run_graph(
    network: Network, inputs: list[Tensor], masks: list[Tensor | None] | None = None
) -> Generator[Any, Any, Run]:
    """Yield `InputFed` and `NodeComputed` events; return output tensors, masks and shapes."""
    if len(inputs) != len(network.inputs):
        raise ArgumentError(
            f"{network.label}: {len(inputs)} inputs came; expected {len(network.inputs)}: "
            f"{network.input_names}.",
            subject=network,
        )
    masks = masks or [None] * len(inputs)
    tensor_map: dict[Tensor, tuple[Tensor, Tensor | None]] = {}
    for x, y, mask in zip(network.inputs, inputs, masks, strict=True):
        tensor_map[x] = (y, mask)
        yield InputFed(x, y)

    for depth, nodes in network.nodes_by_depth.items():
        for node in nodes:
            if node.is_input:
                continue
            computed_data = [_computed(x, tensor_map, node) for x in node.input_tensors]
            computed_tensors = [y for y, _ in computed_data]
            computed_masks = [mask for _, mask in computed_data]
            layer = node.outbound_layer
            call = Call(computed_tensors, node.arguments)
            undoing = Undoing(layer)
            with undoing.if_it_fails():
                output_tensors, output_masks = run_body(layer, call, computed_masks, again=True)
            undoing.keep()
            for x, y, mask in zip(node.output_tensors, output_tensors, output_masks, strict=True):
                tensor_map[x] = (y, mask)
            network.remember_call(layer, computed_tensors, inputs)
            yield NodeComputed(node, depth, computed_tensors, output_tensors)

    outputs = [_output(x, tensor_map) for x in network.outputs]
    return [y for y, _ in outputs], [mask for _, mask in outputs], [y.shape for y, _ in outputs]


def _computed(x: Tensor, tensor_map: dict[Tensor, Any], node: Node) -> tuple[Tensor, Tensor | None]:
    if x in tensor_map:
        return tensor_map[x]
    if x._keras_history is None:  # a constant or variable that the layer was called on
        return x, None
    raise GraphError(f"node {node.name}: its input '{x.name}' has not been computed.", subject=node)


def _output(x: Tensor, tensor_map: dict[Tensor, Any]) -> tuple[Tensor, Tensor | None]:
    if x not in tensor_map:
        raise GraphError(f"Could not compute output {x}", subject=x)
    return tensor_map[x]
