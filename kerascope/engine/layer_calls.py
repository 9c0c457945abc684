"""The inputs and outputs of a layer's only call, or of its call with a given index."""

from __future__ import annotations

from typing import Any

from kerascope.engine.arguments import unpack_singleton
from kerascope.engine.node import Node
from kerascope.errors import ArgumentError, IllDefinedError


class LayerCalls:
    """The part of `Layer` that returns the tensors of its calls; each call is a Node."""

    name: str
    label: Any
    inbound_nodes: list[Node]
    outbound_nodes: list[Node]

    @property
    def _inbound_nodes(self) -> list[Node]:
        return self.inbound_nodes

    @property
    def _outbound_nodes(self) -> list[Node]:
        return self.outbound_nodes

    def _at_node(self, node_index: int, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise IllDefinedError(
                f"{self.label}: the layer has never been called and thus has no defined {what}.",
                subject=self,
            )
        if not -len(self.inbound_nodes) <= node_index < len(self.inbound_nodes):
            raise ArgumentError(
                f"{self.label}: asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self.inbound_nodes)} inbound nodes.",
                subject=self,
            )
        return unpack_singleton(getattr(self.inbound_nodes[node_index], attribute))

    def _at_only_node(self, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise IllDefinedError(
                f"Layer {self.name} has never been called and thus has no defined {what}.",
                subject=self,
            )
        if len(self.inbound_nodes) == 1:
            return self._at_node(0, attribute, what)
        values = [getattr(node, attribute) for node in self.inbound_nodes]
        if what.endswith("shape") and all(value == values[0] for value in values):
            return unpack_singleton(values[0])
        method = what.replace(" ", "_")
        raise IllDefinedError(
            f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer {what}" is '
            f"ill-defined. Use get_{method}_at(node_index) instead.",
            subject=self,
        )

    def get_input_at(self, node_index: int) -> Any:
        """Return the input tensor (or list of them) of the call with this index."""
        return self._at_node(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """Return the output tensor (or list of them) of the call with this index."""
        return self._at_node(node_index, "output_tensors", "output")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Return the input mask (or list of them) of the call with this index."""
        return self._at_node(node_index, "input_masks", "input mask")

    def get_output_mask_at(self, node_index: int) -> Any:
        """Return the output mask (or list of them) of the call with this index."""
        return self._at_node(node_index, "output_masks", "output mask")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Return the input shape (or list of them) of the call with this index."""
        return self._at_node(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Return the output shape (or list of them) of the call with this index."""
        return self._at_node(node_index, "output_shapes", "output shape")

    @property
    def input(self) -> Any:
        """The input tensor of the layer's only call; raises if there are several calls or none."""
        return self._at_only_node("input_tensors", "input")

    @property
    def output(self) -> Any:
        """The output tensor of the layer's only call; raises if there are several calls or none."""
        return self._at_only_node("output_tensors", "output")

    @property
    def input_mask(self) -> Any:
        """The input mask of the layer's only call; raises if there are several calls or none."""
        return self._at_only_node("input_masks", "input mask")

    @property
    def output_mask(self) -> Any:
        """The output mask of the layer's only call; raises if there are several calls or none."""
        return self._at_only_node("output_masks", "output mask")

    @property
    def input_shape(self) -> Any:
        """The input shape that all calls of the layer have; raises if the shapes differ."""
        return self._at_only_node("input_shapes", "input shape")

    @property
    def output_shape(self) -> Any:
        """The output shape that all calls of the layer have; raises if the shapes differ."""
        return self._at_only_node("output_shapes", "output shape")
