"""A Network: a graph of layers that can be run again on other inputs, so it is a layer too."""

from my_engine.graph_map import map_graph
from my_engine.layer import Layer


class Network(Layer):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name)
        self.built = True
        self.inputs = inputs if isinstance(inputs, list) else [inputs]
        self.outputs = outputs if isinstance(outputs, list) else [outputs]
        self.graph_map = map_graph(self.inputs, self.outputs)
        self.nodes_by_depth = self.graph_map.nodes_by_depth
        self.layers = self.graph_map.layers
        self.trainable_weights = [w for layer in self.layers for w in layer.trainable_weights]

    def call(self, inputs):
        return self.run_internal_graph(inputs if isinstance(inputs, list) else [inputs])[0]

    def run_internal_graph(self, inputs):
        known = dict(zip(self.inputs, inputs, strict=True))

        def compute(tensor):
            if tensor not in known:
                layer, node_index, _ = tensor._keras_history
                given = [compute(x) for x in layer.inbound_nodes[node_index].input_tensors]
                known[tensor] = layer.call(given if len(given) > 1 else given[0])
            return known[tensor]

        return [compute(x) for x in self.outputs]
