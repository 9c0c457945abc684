"""What a network knows about its own graph: depths, input and output layers, names."""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.nesting import distinct_names
from kerascope.engine.node import Node
from kerascope.errors import ArgumentError, NotBuiltError
from kerascope.registry import did_you_mean


class NetworkFacts(Layer):
    """The part of `Network` that reads its `graph_map`, `inputs` and `outputs`."""

    _is_part = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self._is_graph_network = False
        self._graph_map: GraphMap | None = None

    @property
    def graph_map(self) -> GraphMap:
        """What the walk from the outputs to the inputs finds; see `engine.graph_map`.

        Raises
        ------
        NotBuiltError
            The network has no inputs yet.
        """
        if not self.outputs:
            raise NotBuiltError(
                f"{self.label}: has no graph yet. Give the first layer an input_shape, or call "
                "build(input_shape).",
                subject=self,
            )
        if self._graph_map is None:
            self._graph_map = map_graph(self.inputs, self.outputs)
        return self._graph_map

    @property
    def layers(self) -> list[Layer]:
        """The layers by falling depth; of a subclassed network, those among its attributes."""
        return self.graph_map.layers if self._is_graph_network else super()._sublayers

    @property
    def _sublayers(self) -> list[Layer]:
        return self.layers

    @property
    def seen_nodes(self) -> list[str]:
        """The marks "id-depth" that Keras 1's algorithm leaves on this graph."""
        return map_graph(self.inputs, self.outputs, flavour="1").seen_nodes

    @property
    def nodes_by_depth(self) -> dict[int, list[Node]]:
        """The nodes of the graph grouped by depth, deepest first."""
        return self.graph_map.nodes_by_depth

    @property
    def layers_by_depth(self) -> dict[int, list[Layer]]:
        """The layers of the graph grouped by depth, deepest first."""
        return self.graph_map.layers_by_depth

    @property
    def network_nodes(self) -> list[str]:
        """The key of each node of the graph: `dense_1_ib-0`."""
        return self.graph_map.network_nodes

    container_nodes = network_nodes
    _network_nodes = network_nodes
    _nodes_by_depth = nodes_by_depth
    _layers_by_depth = layers_by_depth

    @property
    def input_layers(self) -> list[Layer]:
        """The layer that each input comes from."""
        return [x._keras_history.layer for x in self.inputs]

    @property
    def input_layers_node_indices(self) -> list[int]:
        """Which call of its layer made each input."""
        return [x._keras_history.node_index for x in self.inputs]

    @property
    def input_layers_tensor_indices(self) -> list[int]:
        """Which output of that call each input is."""
        return [x._keras_history.tensor_index for x in self.inputs]

    @property
    def output_layers(self) -> list[Layer]:
        """The layer that each output comes from."""
        return [x._keras_history.layer for x in self.outputs]

    @property
    def output_layers_node_indices(self) -> list[int]:
        """Which call of its layer made each output."""
        return [x._keras_history.node_index for x in self.outputs]

    @property
    def output_layers_tensor_indices(self) -> list[int]:
        """Which output of that call each output is."""
        return [x._keras_history.tensor_index for x in self.outputs]

    @property
    def input_names(self) -> list[str]:
        """The name of each input layer: the keys of a dict of arrays."""
        return [layer.name for layer in self.input_layers]

    @property
    def output_names(self) -> list[str]:
        """The name of each output layer: the keys of a dict of targets or losses."""
        return distinct_names([layer.name for layer in self.output_layers])

    @property
    def internal_output_shapes(self) -> list[Shape]:
        """The shape of each output."""
        return [x.shape for x in self.outputs]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer by its name or its index in `layers`.

        Raises
        ------
        ArgumentError
            There is none; a near miss is suggested.
        """
        if index is not None:
            if not -len(self.layers) <= index < len(self.layers):
                raise ArgumentError(
                    f"{self.label}: was asked for layer {index}, but has only {len(self.layers)} "
                    "layers."
                )
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        known = [layer.name for layer in self.layers]
        if name is None:
            raise ArgumentError(f"{self.label}: get_layer: expected a name or an index.")
        raise ArgumentError(
            f"{self.label}: No such layer: {name!r}. {did_you_mean(str(name), known)}Layers: "
            f"{', '.join(known)}."
        )
