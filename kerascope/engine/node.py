"""Node: one call of one layer.

`Dense(3)` makes no Node; `dense(x)` makes one; `dense(y)` makes a second. Layers hold the weights,
Nodes form the graph: S(D(S(x))) calls the layer S twice, but its three Nodes form a chain. So a
graph with a shared layer has no cycle. A call needs its inputs first, so each Node depends only on
older Nodes, and calls can never make a cycle. (A Node is a vertex of the node graph, and it
connects its inbound layers to its own layer.)

A Node stores only what happened: layer, tensors, masks, arguments. Everything else
(`inbound_layers`, `node_indices`, ...) is derived from the `KerasHistory` of its input tensors.

Keras calls it `Node` too: in `engine/topology.py` (1.x) and `engine/base_layer.py` (2.x), where it
stores the derived values in parallel lists, and in `ops/node.py` (3). Lesson: chapter 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.printable import printable
from kerascope.user_frames import users_frames

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class KerasHistory(NamedTuple):
    """The origin of a tensor: it is output `tensor_index` of call `node_index` of `layer`.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> x, layer = Input((3,)), Dense(1, name="dense")
    >>> first, second = layer(x), layer(x)
    >>> history = second._keras_history
    >>> history.layer.name, history.node_index, history.tensor_index, history.node.name
    ('dense', 1, 0, 'dense_ib-1')
    """

    layer: Layer
    node_index: int
    tensor_index: int

    @property
    def node(self) -> Node:
        """The call that made the tensor."""
        return self.layer.inbound_nodes[self.node_index]


class Node:
    """One call of one layer.

    A new Node is appended to the `inbound_nodes` of its layer and to the `outbound_nodes` of each
    layer that its inputs come from; each output tensor receives its `_keras_history`.

    Parameters
    ----------
    outbound_layer : Layer
        The layer that was called.
    input_tensors, output_tensors : list of Tensor
        The inputs and outputs of the call. The only node of an InputLayer has the same tensor in
        both lists.
    input_masks, output_masks : list of (Tensor or None)
        One mask for each tensor.
    arguments : dict, optional
        Further arguments of the call, by name. An `InputPlace` replaces each tensor among them
        that is one of `input_tensors`.
    begins : bool
        Whether the node has no parents: the node of an InputLayer, or the first node of a network,
        which represents the network's own graph and not a call.

    Attributes
    ----------
    node_index : int
        Index among the layer's calls, from 0.
    called_at : Frames
        The lines of the user's code that made the call.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> layer = Dense(1, name="dense")
    >>> a, b = layer(Input((3,), name="a")), layer(Input((3,), name="b"))
    >>> [node.input_tensors for node in layer.inbound_nodes], b._keras_history.node_index
    ([[a], [b]], 1)
    """

    def __init__(
        self,
        outbound_layer: Layer,
        input_tensors: list[Tensor],
        output_tensors: list[Tensor],
        input_masks: list[Tensor | None],
        output_masks: list[Tensor | None],
        arguments: dict[str, Any] | None = None,
        begins: bool = False,
    ) -> None:
        self.outbound_layer = outbound_layer
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.input_masks = input_masks
        self.output_masks = output_masks
        self.arguments = arguments or {}
        self.begins = begins
        self.called_at = users_frames()
        self.node_index = len(outbound_layer.inbound_nodes)
        for layer in dict.fromkeys(self.inbound_layers):
            if layer is not None:
                layer.outbound_nodes.append(self)
        outbound_layer.inbound_nodes.append(self)
        for tensor_index, tensor in enumerate(output_tensors):
            if tensor._keras_history is None:  # outputs of a network have a history already
                tensor._keras_history = KerasHistory(outbound_layer, self.node_index, tensor_index)

    @classmethod
    def create_node(
        cls,
        outbound_layer: Layer,
        inbound_layers: Layer | list[Layer],
        node_indices: list[int] | None = None,
        tensor_indices: list[int] | None = None,
    ) -> Node:
        """Call a layer on the outputs of other layers, as in Keras 1, and return the Node.

        Parameters
        ----------
        outbound_layer : Layer
            The layer to call.
        inbound_layers : Layer or list of Layer
            The layers whose outputs are the inputs of `outbound_layer`.
        node_indices, tensor_indices : list of int, optional
            For each inbound layer, the index of the call and of its output; by default 0.
        """
        layers = inbound_layers if isinstance(inbound_layers, (list, tuple)) else [inbound_layers]
        node_indices = node_indices or [0] * len(layers)
        tensor_indices = tensor_indices or [0] * len(layers)
        tensors = [
            layer.inbound_nodes[node_index].output_tensors[tensor_index]
            for layer, node_index, tensor_index in zip(
                layers, node_indices, tensor_indices, strict=True
            )
        ]
        outbound_layer(tensors[0] if len(tensors) == 1 else tensors)
        return outbound_layer.inbound_nodes[-1]

    @property
    def layer(self) -> Layer:
        """The layer that was called, under a shorter name than Keras's `outbound_layer`."""
        return self.outbound_layer

    @property
    def name(self) -> str:
        """Keras's key of the node, made of the layer's name and the node's index: `dense_1_ib-0`.

        In pictures and tables a call has another id, `dense_1` or `dense_1@0`: see
        `Network.node_ids`.
        """
        return f"{self.outbound_layer.name}_ib-{self.node_index}"

    @property
    def is_input(self) -> bool:
        """Whether this is the node of an InputLayer, whose tensor no call made."""
        return self.begins and self.input_tensors == self.output_tensors

    @property
    def histories(self) -> list[KerasHistory | None]:
        """The history of each input tensor, or None if no layer made it; [] if `begins` is True."""
        return [] if self.begins else [x._keras_history for x in self.input_tensors]

    @property
    def inbound_layers(self) -> list[Layer | None]:
        """The layer that each input tensor comes from."""
        return [history.layer if history else None for history in self.histories]

    @property
    def node_indices(self) -> list[int | None]:
        """For each input tensor, the index of the call that made it among its layer's calls."""
        return [history.node_index if history else None for history in self.histories]

    @property
    def tensor_indices(self) -> list[int | None]:
        """For each input tensor, its index among the outputs of the call that made it."""
        return [history.tensor_index if history else None for history in self.histories]

    @property
    def traced_inputs(self) -> list[Tensor]:
        """The input tensors that layers made; empty for the node of an InputLayer."""
        return [] if self.is_input else [x for x in self.input_tensors if x._keras_history]

    @property
    def parent_nodes(self) -> list[Node]:
        """The calls that made the input tensors."""
        return [history.node for history in self.histories if history]

    @property
    def input_shapes(self) -> list[Shape]:
        """The shape of each input tensor."""
        return [x.shape for x in self.input_tensors]

    @property
    def output_shapes(self) -> list[Shape]:
        """The shape of each output tensor."""
        return [x.shape for x in self.output_tensors]

    def get_config(self) -> dict[str, Any]:
        """Return the node's connections by names and indices."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": [layer.name if layer else None for layer in self.inbound_layers],
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }

    def __repr__(self) -> str:
        return f"<Node {printable(self.name)}: {self.input_tensors} -> {self.output_tensors}>"


def mask_of(x: Tensor) -> Tensor | None:
    """Return the mask of a tensor; None if it has no mask."""
    if x._keras_history is None:
        return x._keras_mask
    layer, node_index, tensor_index = x._keras_history
    return layer.inbound_nodes[node_index].output_masks[tensor_index]


class NodeCreated(NamedTuple):
    """Event: a layer was called on symbolic tensors, and a Node was made for this call."""

    layer: Layer
    node: Node


class NodeVisited(NamedTuple):
    """Event: the walk through a graph reaches a node. `depth` is None if it is assigned later."""

    tensor: Tensor
    node: Node
    depth: int | None


class NodeSkipped(NamedTuple):
    """Event: the walk through a graph reaches a node again after all its inputs were visited."""

    tensor: Tensor
    node: Node


class NodeFinished(NamedTuple):
    """Event: the walk through a graph has visited all nodes that a node needs."""

    node: Node


def get_source_inputs(tensor: Tensor) -> list[Tensor]:
    """Return the tensors of the InputLayers from which a tensor is computed.

    They are in the order in which a depth-first walk from the tensor reaches them.

    Parameters
    ----------
    tensor : Tensor
        A tensor made by `Input` or a layer.
    """
    sources: dict[Tensor, None] = {}
    seen: set[Node] = set()
    stack = [tensor._keras_history.node]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_input:
            sources.update(dict.fromkeys(node.output_tensors))
        stack.extend(reversed(node.parent_nodes))
    return list(sources)
