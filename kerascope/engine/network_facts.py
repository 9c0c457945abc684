"""What a network knows about its own graph: depths, input and output layers, names."""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.nesting import distinct_names
from kerascope.engine.node import Node
from kerascope.engine.node_ids import calls_in
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
        self._names_of_inputs: list[str] | None = None
        self._names_of_outputs: list[str] | None = None
        self._shape_of_build: Any = None

    def build(self, input_shape: Any = None) -> None:
        """Note for which inputs the network is made; its layers make their weights themselves."""
        self._shape_of_build = input_shape
        self.built = True

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
        """The name of each input: the keys of a dict of arrays.

        The model was told it in a dict, whose keys come sorted; else it is that of the layer.
        """
        if self._names_of_inputs is not None:
            return list(self._names_of_inputs)
        return [layer.name for layer in self.input_layers]

    def names_for(self, data: Any) -> list[str]:
        """Return the name of each input in `data`: the layers' names, if a dict has just these."""
        own = [layer.name for layer in self.input_layers]
        has_own = isinstance(data, dict) and data.keys() == set(own)
        return own if has_own and set(own) != set(self.input_names) else self.input_names

    @property
    def output_names(self) -> list[str]:
        """The name of each output: the keys of a dict of targets or losses.

        The model was told it in a dict, whose keys come sorted; else it is that of the layer.
        """
        if self._names_of_outputs is not None:
            return list(self._names_of_outputs)
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

    @property
    def node_ids(self) -> dict[str, Node]:
        """The nodes of the graph by the ids that pictures, tables and exports give them."""
        return {call.id: call.node for call in calls_in(self)}

    def node(self, node_id: str) -> Node:
        """Return one call by its id in pictures, tables and exports.

        Parameters
        ----------
        node_id : str
            "dense_1" for a layer that is called once, "shared@0", "shared@1" for the calls of one
            that is called several times; "encoder@1/dense_1" for a call inside a nested model. (All
            calls of a nested model run the same nodes.)

        Raises
        ------
        ArgumentError
            There is none; a near miss is suggested.

        Examples
        --------
        >>> from kerascope.engine.input_layer import Input
        >>> from kerascope.engine.model import Model
        >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
        >>> Model(x, shared(shared(x))).node("shared@1").node_index
        1
        """
        ids = self.node_ids
        if node_id in ids:
            return ids[node_id]
        hint = did_you_mean(str(node_id), ids)
        for outer, node in ids.items():
            if not str(node_id).startswith(f"{outer}/"):
                continue
            rest = str(node_id).removeprefix(f"{outer}/")
            for path, network in _networks_inside(node.outbound_layer).items():
                if rest.startswith(path):
                    return network.node(rest.removeprefix(path))
            hint = f"What {node.outbound_layer.label} calls inside makes no node. "
        raise ArgumentError(
            f"{self.label}: there is no call {node_id!r}. {hint}Calls: {', '.join(ids)}.",
            subject=self,
        )


def _networks_inside(layer: Any) -> dict[str, NetworkFacts]:
    """Return the networks with a graph in a layer, by what stands before the ids of their calls.

    That is nothing for the layer itself, and the names of the layers around it inside a wrapper.
    """
    if isinstance(layer, NetworkFacts):
        return {"": layer} if layer.outputs else {}
    return {
        f"{wrapped.name}/{path}": network
        for wrapped in getattr(layer, "wrapped", [])
        for path, network in _networks_inside(wrapped).items()
    }
